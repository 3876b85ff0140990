"""The C library: musl as bitcode, built once on a machine and linked by need."""
