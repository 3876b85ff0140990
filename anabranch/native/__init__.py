"""Native programs with nothing but the ziglang wheel: its clang, its lld, its musl."""
