"""What is a bug: one module a property."""
