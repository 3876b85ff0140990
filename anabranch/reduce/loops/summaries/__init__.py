"""Loops whose body is one step of one position, all rounds at once: nothing is asked inside the loop."""
