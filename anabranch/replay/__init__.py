"""Native replay: every test of a run is run as a native program and compared with what was predicted."""
