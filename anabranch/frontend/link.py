"""Modules read, checked and linked by LLVM. Imported only in the process that runs `worker`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anabranch.frontend.promote import mark_locals

BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_POSITION = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_OPTNONE = re.compile(r"^(attributes #\d+ = \{.*?)\boptnone\b ?(.*)$", re.MULTILINE)


class ModuleError(Exception):
    """A module that cannot be used; the message is one line without the file's name."""


def load(path: Path, mark: bool, keep: Path | None = None) -> Any:
    """Read one module, check it, and mark its locals for promotion if `mark`; `keep`: a file for the text of
    that."""
    data = path.read_bytes()
    if not data.strip():
        raise ModuleError("the file is empty")
    # Types of one name in two modules of a context are renamed: a module that is only read to be marked must
    # leave no trace, or the text that is kept of it would be another one than the next time.
    module = _parse(data, llvm.create_context() if mark else None)
    _check_target(module.triple, module.data_layout)
    try:
        module.verify()
    except RuntimeError as error:
        raise ModuleError(f"invalid LLVM IR: {one_line(str(error))}") from error
    if mark:
        text = _OPTNONE.sub(r"\1\2", mark_locals(str(module)))
        if keep is not None:
            keep.write_text(text)
        module = llvm.parse_assembly(text)
    return module


def load_marked(path: Path) -> Any:
    """A module that `load` has checked and marked before."""
    return llvm.parse_assembly(path.read_text())


def _parse(data: bytes, context: Any) -> Any:
    if data.startswith(BITCODE_MAGIC):
        try:
            return llvm.parse_bitcode(data, context)
        except RuntimeError as error:
            raise ModuleError(f"not valid LLVM bitcode: {one_line(str(error))}") from error
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ModuleError("neither LLVM bitcode nor text") from error
    if "\0" in text:
        raise ModuleError("neither LLVM bitcode nor text")
    try:
        return llvm.parse_assembly(text, context)
    except RuntimeError as error:
        found = _POSITION.search(str(error))
        if found:
            raise ModuleError(f"line {found[1]}, column {found[2]}: {found[3]}") from error
        raise ModuleError(f"not valid LLVM IR: {one_line(str(error))}") from error


def one_line(message: str) -> str:
    """LLVM's message without llvmlite's heading, on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith("parsing error"):
        lines = lines[1:]
    return "; ".join(lines)[:300] or "unknown error"


def _check_target(triple: str, layout: str) -> None:
    if triple and triple.partition("-")[0] not in ("x86_64", "amd64"):
        raise ModuleError(f"compiled for {triple}; only x86_64 programs can be run")
    if layout and (not layout.startswith("e-") or re.search(r"-p(?:0)?:(?!64)", layout)):
        raise ModuleError(f"its data layout '{layout}' is not that of 64-bit x86")


def link(modules: list[Any]) -> Any:
    """One module out of many, linked in pairs, pairs of pairs and so on (one after another is quadratic)."""
    triple, layout = _common_target(modules)
    for module in modules:
        module.triple, module.data_layout = triple, layout
    while len(modules) > 1:
        linked = []
        for left, right in zip(modules[::2], modules[1::2], strict=False):
            try:
                left.link_in(right)
            except RuntimeError as error:
                raise ModuleError(f"cannot link: {one_line(str(error))}") from error
            linked.append(left)
        if len(modules) % 2:
            linked.append(modules[-1])
        modules = linked
    return modules[0]


def _common_target(modules: list[Any]) -> tuple[str, str]:
    for module in modules:
        if module.triple and module.data_layout:
            return module.triple, module.data_layout
    return (
        "x86_64-unknown-linux-musl",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    )
