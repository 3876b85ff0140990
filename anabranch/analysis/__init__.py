"""Static analyses of functions and modules, shared by all techniques. Pure functions over `anabranch.ir`."""
