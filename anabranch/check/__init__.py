"""The static checker: structure-preserving symbolic execution and structural abstraction, after Babić's
thesis."""
