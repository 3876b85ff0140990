"""Parts of the generator of small symbolic C programs (see bench/lib/generate.py)."""
