"""What the commands under ``bench`` share: native builds, generator, oracles, tables."""
