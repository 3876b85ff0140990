"""Results of a run on disk: tests, errors, statistics, the execution tree, and the way back."""
