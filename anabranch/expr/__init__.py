"""Bit-vector and floating-point expressions: interned nodes, simplifying constructors, evaluation, text."""

from . import specification  # its entries register themselves
from .arith import add, ashr, lshr, mul, neg, shl, sub
from .bits import and_, or_, xor
from .boolean import bool_and, bool_or, bool_xor, ite, not_
from .casts import concat, extract, sext, trunc, zext
from .compare import eq, ne, sge, sgt, sle, slt, truth, uge, ugt, ule, ult
from .compiled import compile_evaluator
from .count import bitreverse, bswap, byte_parts, ctlz, ctpop, cttz, join_bytes, split_value
from .division import sdiv, srem, udiv, urem
from .evaluate import evaluate, substitute
from .fp import (
    fabs,
    fadd,
    fceil,
    fcmp,
    fcopysign,
    fdiv,
    ffloor,
    ffma,
    fmax,
    fmin,
    fmul,
    fneg,
    fp_convert,
    fp_to_si,
    fp_to_ui,
    frem,
    frint,
    fround,
    fsqrt,
    fsub,
    ftrunc,
    is_nan,
    si_to_fp,
    ui_to_fp,
)
from .node import (
    MASK,
    NODES,
    VARIABLES,
    Expr,
    UndecidedError,
    Value,
    collect,
    forget_memos,
    is_undefined,
    operands,
    reset,
    undefined,
    undefined_bytes,
    var,
    variable,
)
from .operators import install as _install_operators
from .select import Table, select, table
from .smtlib import short_text, to_smtlib
from .tables import lookup
from .variables import expr_vars, postorder

_install_operators()
