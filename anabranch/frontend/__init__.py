"""From C, bitcode and text to one linked, simplified program."""

from anabranch.frontend.options import FrontendError, FrontendOptions, Program
from anabranch.frontend.program import load_program

__all__ = ["FrontendError", "FrontendOptions", "Program", "load_program"]
