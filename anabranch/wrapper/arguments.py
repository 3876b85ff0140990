"""The command line of a C compiler, sorted into what to compile, how, and what to link in which order."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

# Flags whose value is the next word when it does not stand in the same one.
_JOINED_OR_NEXT = ("-I", "-D", "-U", "-L", "-l", "-o", "-x", "-T", "-u", "-z", "-e", "-F", "-A")
_NEXT = frozenset((
    "-include", "-imacros", "-isystem", "-idirafter", "-iquote", "-iprefix", "-iwithprefix",
    "-iwithprefixbefore", "-isysroot", "--sysroot", "-MF", "-MT", "-MQ", "-MJ", "-Xclang", "-Xlinker",
    "-Xassembler", "-Xpreprocessor", "-arch", "-target", "--param", "-mllvm", "-aux-info", "-framework",
    "-dumpbase", "-soname", "-rpath", "-h", "-Wlinker",
))  # fmt: skip
_LINK_ONLY = frozenset((
    "-shared", "-static", "-static-pie", "-pie", "-no-pie", "-nopie", "-rdynamic", "-nostdlib",
    "-nostartfiles", "-nodefaultlibs", "-nolibc", "-s", "-r", "-static-libgcc", "-shared-libgcc",
    "-symbolic", "-dynamic",
))  # fmt: skip
_LINK_WITH_VALUE = ("-T", "-u", "-z", "-e", "-rpath", "-soname", "-h")
_DEPENDENCY = ("-M", "-MM", "-MD", "-MMD", "-MG", "-MP", "-MV")
_DEPENDENCY_VALUE = ("-MF", "-MT", "-MQ", "-MJ")
_DROPPED = (
    "-flto",
    "-fno-lto",
    "-ffat-lto-objects",
    "-fno-fat-lto-objects",
    "-fwhole-program",
    "-fuse-linker-plugin",
)
"""Objects stay native code, and every one has its bitcode anyway."""

SOURCES = {
    ".c": "c", ".i": "cpp-output", ".s": "assembler", ".S": "assembler-with-cpp", ".sx": "assembler-with-cpp",
    ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".C": "c++", ".ii": "c++-cpp-output", ".m": "objective-c",
    ".bc": "ir", ".ll": "ir",
}  # fmt: skip
WITH_BITCODE = frozenset(("c", "cpp-output", "ir"))


@dataclass(frozen=True, slots=True)
class Source:
    """A file to compile (`-` is standard input) in a language, named as clang's -x does."""

    path: str
    language: str
    forced: bool
    """The language was given with -x, not told by the name."""


@dataclass(slots=True)
class Command:
    """One call of the compiler. `mode` is link, compile (-c), or other (-E, -S, -M, questions: clang's).

    `link` holds sources, objects and linker flags in the order given, which decides what a linker finds.
    """

    words: list[str]
    mode: str = "link"
    output: str | None = None
    sources: list[Source] = field(default_factory=list)
    compile_flags: list[str] = field(default_factory=list)
    dependency_flags: list[str] = field(default_factory=list)
    link: list[Source | str] = field(default_factory=list)
    link_flags: set[str] = field(default_factory=set)

    @property
    def reads_stdin(self) -> bool:
        return any(source.path == "-" for source in self.sources)


def expand_responses(words: Sequence[str], depth: int = 0) -> list[str]:
    """Replace `@file` by the words in it; a name that is no file stays, as GCC has it."""
    found: list[str] = []
    for word in words:
        if word.startswith("@") and depth < 16 and os.path.isfile(word[1:]):
            with open(word[1:], errors="surrogateescape") as file:
                found += expand_responses(shlex.split(file.read(), comments=False), depth + 1)
        else:
            found.append(word)
    return found


def parse(words: Sequence[str]) -> Command:
    """Sort a command line; nothing in it is an error here, clang says what is wrong."""
    command = Command([word for word in expand_responses(words) if not word.startswith(_DROPPED)])
    language: str | None = None
    position, all_words, only_files = 0, command.words, False
    while position < len(all_words):
        word = all_words[position]
        position += 1
        if only_files or not word.startswith("-") or word == "-":
            _add_input(command, word, language)
            continue
        if word == "--":
            only_files = True
            continue
        group = [word]
        if (word in _NEXT or word in _JOINED_OR_NEXT) and position < len(all_words):
            group.append(all_words[position])
            position += 1
        if word.startswith("-x"):
            named = group[-1] if len(group) > 1 else word[2:]
            language = None if named == "none" else named
            continue
        _add_flag(command, group)
    if not command.sources and not command.link:
        command.mode = "other"
    return command


def _add_input(command: Command, word: str, language: str | None) -> None:
    suffix = os.path.splitext(word)[1]
    if word == "-" or language is not None or suffix in SOURCES:
        source = Source(word, language or SOURCES.get(suffix, "c"), language is not None)
        command.sources.append(source)
        command.link.append(source)
    else:
        command.link.append(word)


def _add_flag(command: Command, group: list[str]) -> None:
    word = group[0]
    if word == "-c":
        # -S, -E and -M win over -c wherever they stand
        command.mode = "compile" if command.mode == "link" else command.mode
    elif word in (
        "-E",
        "-S",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-###",
        "--version",
        "-dumpmachine",
        "-dumpversion",
    ) or word.startswith(("-print-", "--print-", "--help")):
        command.mode = "other"
    elif word.startswith("-o"):
        command.output = group[1] if len(group) > 1 else word[2:]
    elif word in _DEPENDENCY or word.startswith(_DEPENDENCY_VALUE) or word.startswith("-Wp,-M"):
        command.dependency_flags += group
    elif word in _LINK_ONLY:
        command.link_flags.add(word)
    elif word.startswith("-Wl,"):
        command.link += word[4:].split(",")
    elif word == "-Xlinker":
        command.link += group[1:]
    elif word in _LINK_WITH_VALUE:
        command.link += group
    elif word.startswith(("-l", "-L")):
        # one word each, so that the order of the list is all there is to keep
        command.link.append("".join(group))
    elif not word.startswith("-fuse-ld="):
        command.compile_flags += group


_NOT_IN_BITCODE = (
    "-O", "-g", "-W", "-pedantic", "-w", "-fPIC", "-fpic", "-fPIE", "-fpie", "-fstack-protector",
    "-fsanitize", "-fprofile", "-fcoverage", "--coverage", "-ftest-coverage", "-fembed-bitcode", "-fplugin",
    "-fcf-protection", "-finstrument", "-fxray", "-fstack-clash", "-pipe", "-save-temps", "-emit-", "-pg",
    "-fno-omit", "-fomit", "-fdiagnostics", "-fcolor", "-v",
)  # fmt: skip


def bitcode_flags(flags: Sequence[str], machine: bool) -> list[str]:
    """The user's flags for the engine's compile: meaning stays, optimisation, checks and warnings go.

    `machine`: keep flags that choose instructions (-mavx2); without them programs take their portable code.
    """
    kept: list[str] = []
    position = 0
    while position < len(flags):
        word = flags[position]
        group = flags[position : position + (2 if word in _NEXT or word in _JOINED_OR_NEXT else 1)]
        position += len(group)
        if word.startswith("-Wp,"):
            kept += group
        elif (
            word.startswith(_NOT_IN_BITCODE)
            or word in ("-Xassembler", "-Wa")
            or (word.startswith("-m") and word != "-mllvm" and not machine)
        ):
            continue
        else:
            kept += group
    return kept
