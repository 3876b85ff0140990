"""Paths to nodes. Symbolic bytes of a path are decided no further than the names that exist ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anabranch.environment.api import Value
from anabranch.environment.bytewise import ByteReader
from anabranch.environment.ops import Condition, both, either, eq, ne
from anabranch.environment.posix import errors as e
from anabranch.environment.posix.filesystem import MAX_NAME, ROOT, Decide, FileSystem
from anabranch.environment.posix.nodes import Content, joined, tidy
from anabranch.expr import Expr

SLASH: Final = 0x2F
SPECIAL: Final = (b".", b"..")
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


@dataclass(slots=True, eq=False)
class Text:
    """The text of a path, read no further than it is asked for: known bytes, then a C string in memory."""

    prefix: Content
    rest: ByteReader | None = None
    offset: int = 0

    def byte(self, index: int) -> Value:
        """A byte of the text; 0 at its end."""
        if index < len(self.prefix):
            return self.prefix[index]
        return 0 if self.rest is None else self.rest[self.offset + index - len(self.prefix)]

    def is_safe(self, index: int) -> bool:
        """Whether a byte can be looked at without knowing that the text reaches it."""
        left = index - len(self.prefix)
        return left < 0 or self.rest is None or self.offset + left < self.rest.room

    def replaced(self, end: int, target: Content) -> Text:
        """The text with other bytes before an index."""
        if end < len(self.prefix):
            return Text(joined(target, self.prefix[end:]), self.rest, self.offset)
        return Text(target, self.rest, self.offset + end - len(self.prefix))

    def is_slash(self, index: int, decide: Decide) -> bool:
        return decide(eq(self.byte(index), SLASH, 8))

    def is_end(self, index: int, decide: Decide) -> bool:
        return decide(eq(self.byte(index), 0, 8))

    def skip(self, index: int, decide: Decide) -> int:
        """The first index from here that is not a slash."""
        while self.is_slash(index, decide):
            index += 1
        return index

    def known_name(self, start: int) -> bytes | None:
        """The component at an index, if it has no symbolic byte and does not end at one."""
        name = bytearray()
        while True:
            byte = self.byte(start + len(name))
            if isinstance(byte, Expr):
                return None
            if byte in (0, SLASH):
                return bytes(name)
            name.append(byte)

    def has_name(self, start: int, name: Content, decide: Decide) -> bool:
        """Decide whether the component at an index is a name."""
        if not self.is_safe(start + len(name)):
            for i, wanted in enumerate(name):
                if not decide(eq(self.byte(start + i), wanted, 8)):
                    return False
            end = self.byte(start + len(name))
            return decide(either(eq(end, 0, 8), eq(end, SLASH, 8)))
        same: Condition = True
        for i, wanted in enumerate(name):
            same = both(same, eq(self.byte(start + i), wanted, 8))
            if same is False:
                return False
        end = self.byte(start + len(name))
        return decide(both(same, either(eq(end, 0, 8), eq(end, SLASH, 8))))

    def whole_name(self, start: int, decide: Decide) -> Content:
        """The component at an index, its end decided; one question tells if it is the last."""
        stop = start
        while not self.is_end(stop, decide):
            stop += 1
        name = tuple(self.byte(i) for i in range(start, stop))
        none: Condition = True
        for byte in name:
            none = both(none, ne(byte, SLASH, 8))
        if decide(none):
            return tidy(name)
        size = 0
        while not self.is_slash(start + size, decide):
            size += 1
        return tidy(name[:size])


def walk(
    fs: FileSystem,
    start: int,
    path: Content | Text,
    decide: Decide,
    follow: bool = True,
    entry: bool = False,
    make: bool = False,
) -> Found:
    """Follow a path from a directory; symbolic links of the last component too, if `follow`.

    A slash at the end asks for a directory, unless the `entry` itself is what the call is about. What is
    not there has a name in the result only if the call may `make` it.
    """
    text = path if isinstance(path, Text) else Text(tidy(path))
    if text.rest is None and len(text.prefix) >= MAX_PATH:
        raise e.Failure(e.ENAMETOOLONG)
    if text.is_end(0, decide):
        raise e.Failure(e.ENOENT)
    at, links, position = start, 0, 0
    if text.is_slash(0, decide):
        at = ROOT
    while True:
        position = text.skip(position, decide)
        if text.is_end(position, decide):
            return Found(fs.nodes[at].parent, b".", at, special=True)
        directory = fs.nodes[at]
        if not directory.is_directory:
            raise e.Failure(e.ENOTDIR)
        fs.check(directory, 1, decide)
        name, child = _next(fs, at, text, position, decide, make)
        end = position + len(name)
        rest = text.skip(end, decide)
        last = text.is_end(rest, decide)
        slash = last and end < rest
        node = fs.nodes[child] if child is not None else None
        if node is not None and node.kind == "link" and (not last or (not entry if slash else follow)):
            links += 1
            if links > MAX_LINKS:
                raise e.Failure(e.ELOOP)
            shortcut = _magic(fs, node.data)
            if shortcut is None:
                text = text.replaced(end, node.data)
                position = 0
                at = ROOT if text.is_slash(0, decide) else at
                continue
            child, node = shortcut, fs.nodes[shortcut]
        if last:
            if slash and not entry and node is not None and not node.is_directory:
                raise e.Failure(e.ENOTDIR)
            return Found(at, name, child, slash, name in SPECIAL if isinstance(name, bytes) else False)
        if child is None:
            raise e.Failure(e.ENOENT)
        at, position = child, rest


def _next(
    fs: FileSystem, at: int, text: Text, position: int, decide: Decide, make: bool
) -> tuple[Content, int | None]:
    """The component at an index, as the directory holds it, and its node."""
    node = fs.nodes[at]
    near = {b".": at, b"..": node.parent}
    known = text.known_name(position)
    if known is not None:
        if len(known) > MAX_NAME:
            raise e.Failure(e.ENAMETOOLONG)
        return (known, near[known]) if known in near else find(fs, at, known, decide)
    for held, number in [*near.items(), *node.names()]:
        if text.has_name(position, held, decide):
            return held, number
    if not make and not text.is_safe(position + MAX_NAME):
        # Whatever it is, it is not there.
        raise e.Failure(e.ENOENT)
    name = text.whole_name(position, decide)
    if len(name) > MAX_NAME:
        raise e.Failure(e.ENAMETOOLONG)
    return name, None


def find(fs: FileSystem, directory: int, name: bytes, decide: Decide) -> tuple[Content, int | None]:
    """An entry of a directory: its name as it is held there, and its node."""
    node = fs.nodes[directory]
    number = node.entries.get(name)
    if number is not None:
        return name, number
    for held, number in node.odd:
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
