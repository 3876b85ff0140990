"""Loops become one state: execution trees, regular patterns, formulas with a number of rounds."""
