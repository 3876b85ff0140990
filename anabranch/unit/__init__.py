"""One function by itself: any arguments, any state of the program, any answers of what it calls."""
