"""Bit-vector and floating-point expressions: interned nodes, simplifying constructors, evaluation, text."""

from .arith import add, ashr, bvnot, lshr, mul, neg, shl, sub
from .bits import and_, concat, extract, or_, sext, trunc, xor, zext
from .boolean import bool_and, bool_or, bool_xor, ite, not_
from .compare import eq, ne, sge, sgt, sle, slt, truth, uge, ugt, ule, ult
from .compiled import compile_evaluator
from .count import bitreverse, bswap, ctlz, ctpop, cttz, from_bytes, to_bytes
from .division import sdiv, srem, udiv, urem
from .evaluate import evaluate, substitute
from .node import (
    MASK,
    NODES,
    VARIABLES,
    Expr,
    UndecidedError,
    Value,
    collect,
    forget_memos,
    operands,
    reset,
    undefined,
    var,
    variable,
)
from .operators import install as _install
from .smtlib import short_text, to_smtlib
from .variables import expr_vars, postorder

_install()

__all__ = [
    "MASK",
    "NODES",
    "VARIABLES",
    "Expr",
    "UndecidedError",
    "Value",
    "add",
    "and_",
    "ashr",
    "bitreverse",
    "bool_and",
    "bool_or",
    "bool_xor",
    "bswap",
    "bvnot",
    "collect",
    "compile_evaluator",
    "concat",
    "ctlz",
    "ctpop",
    "cttz",
    "eq",
    "evaluate",
    "expr_vars",
    "extract",
    "forget_memos",
    "from_bytes",
    "ite",
    "lshr",
    "mul",
    "ne",
    "neg",
    "not_",
    "operands",
    "or_",
    "postorder",
    "reset",
    "sdiv",
    "sext",
    "sge",
    "sgt",
    "shl",
    "short_text",
    "sle",
    "slt",
    "srem",
    "sub",
    "substitute",
    "to_bytes",
    "to_smtlib",
    "trunc",
    "truth",
    "udiv",
    "uge",
    "ugt",
    "ule",
    "ult",
    "undefined",
    "urem",
    "var",
    "variable",
    "xor",
    "zext",
]
