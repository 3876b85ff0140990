"""Paths to nodes. Symbolic bytes of a path are decided no further than the names that exist ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anabranch.environment.api import Value
from anabranch.environment.ops import Condition, both, eq, ne
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.filesystem import MAX_NAME, ROOT, Decide, FileSystem
from anabranch.environment.posix.nodes import Content, joined, tidy
from anabranch.expr import Expr

SLASH: Final = 0x2F
DOT: Final = 0x2E
MAX_PATH: Final = 4096
MAX_LINKS: Final = 40


@dataclass(frozen=True, slots=True)
class Found:
    """Where a path leads: a name in a directory, and the node behind it, if there is one.

    `name` is the name as the directory holds it; `special` names (`.`, `..`, `/`) cannot be made or removed.
    """

    parent: int
    name: Content
    node: int | None
    slash: bool = False  # the path ends with a slash
    special: bool = False


def walk(
    fs: FileSystem, start: int, path: Content, decide: Decide, follow: bool = True, entry: bool = False
) -> Found:
    """Follow a path from a directory; symbolic links of the last component too, if `follow`.

    A slash at the end asks for a directory, unless the `entry` itself is what the call is about.
    """
    text, at, links = tidy(path), start, 0
    if not text:
        raise e.Failure(e.ENOENT)
    if len(text) >= MAX_PATH:
        raise e.Failure(e.ENAMETOOLONG)
    position = 0
    if _is_slash(text[0], decide):
        at = ROOT
    while True:
        position = _skip(text, position, decide)
        if position == len(text):
            return Found(fs.nodes[at].parent, b".", at, special=True)
        end = _component_end(text, position, decide)
        name = tidy(text[position:end])
        rest = _skip(text, end, decide)
        last = rest == len(text)
        slash = last and end < len(text)
        directory = fs.nodes[at]
        if not directory.is_directory:
            raise e.Failure(e.ENOTDIR)
        fs.check(directory, 1, decide)
        if len(name) > MAX_NAME:
            raise e.Failure(e.ENAMETOOLONG)
        dots = _dots(name, decide)
        child: int | None
        if dots:
            child = at if dots == 1 else directory.parent
        else:
            name, child = find(fs, at, name, decide)
        node = fs.nodes[child] if child is not None else None
        if node is not None and node.kind == "link" and (
            not last or (not entry if slash else follow)
        ):
            links += 1
            if links > MAX_LINKS:
                raise e.Failure(e.ELOOP)
            shortcut = _magic(fs, node.data)
            if shortcut is None:
                text = joined(node.data, text[end:])
                position = 0
                at = ROOT if node.data[:1] == b"/" else at
                continue
            child, node = shortcut, fs.nodes[shortcut]
        if last:
            if slash and not entry and node is not None and not node.is_directory:
                raise e.Failure(e.ENOTDIR)
            return Found(at, name, child, slash, bool(dots))
        if child is None:
            raise e.Failure(e.ENOENT)
        at, position = child, rest


def find(fs: FileSystem, directory: int, name: Content, decide: Decide) -> tuple[Content, int | None]:
    """An entry of a directory: its name as it is held there, and its node."""
    node = fs.nodes[directory]
    if isinstance(name, bytes):
        number = node.entries.get(name)
        if number is not None:
            return name, number
        candidates = list(node.odd)
    else:
        candidates = [*sorted(node.entries.items()), *node.odd]  # type: ignore[list-item]
    for held, number in candidates:
        if len(held) == len(name) and decide(same_text(held, name)):
            return held, number
    return name, None


def same_text(a: Content, b: Content) -> Condition:
    """The condition that two texts of one length are equal."""
    result: Condition = True
    for x, y in zip(a, b, strict=True):
        if not isinstance(x, Expr) and not isinstance(y, Expr) and x != y:
            return False
    for x, y in zip(a, b, strict=True):
        if x is not y:
            result = both(result, eq(x, y, 8))
    return result


def _magic(fs: FileSystem, target: Content) -> int | None:
    """The node behind `/proc/self/fd/N`."""
    prefix = b"/proc/self/fd/"
    if isinstance(target, bytes) and target.startswith(prefix) and target[len(prefix) :].isdigit():
        descriptor = fs.descriptors.get(int(target[len(prefix) :]))
        if descriptor is not None:
            return fs.files[descriptor.file].node
    return None


def _is_slash(byte: Value, decide: Decide) -> bool:
    return decide(eq(byte, SLASH, 8))


def _skip(text: Content, position: int, decide: Decide) -> int:
    while position < len(text) and _is_slash(text[position], decide):
        position += 1
    return position


def _component_end(text: Content, start: int, decide: Decide) -> int:
    if isinstance(text, bytes):
        end = text.find(b"/", start)
        return end if end >= 0 else len(text)
    # One question for the usual case, that there is no slash any more.
    none: Condition = True
    for byte in text[start + 1 :]:
        none = both(none, ne(byte, SLASH, 8))
    if decide(none):
        return len(text)
    end = start + 1
    while end < len(text) and not _is_slash(text[end], decide):
        end += 1
    return end


def _dots(name: Content, decide: Decide) -> int:
    """1 for `.`, 2 for `..`, 0 for any other name."""
    if isinstance(name, bytes):
        return {b".": 1, b"..": 2}.get(name, 0)
    if len(name) <= 2 and decide(same_text(name, b".." if len(name) == 2 else b".")):
        return len(name)
    return 0
