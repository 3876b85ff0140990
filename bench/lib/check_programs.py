"""Programs for `bench.check`, built from Debian's sources by `anabranch cc`: their whole-program bitcode."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from anabranch.frontend.toolchain import toolchain_dir
from bench.lib.coreutils import BuildError, run_step, wrapper_environment
from bench.lib.debian import SourceError, cache_directory, source


@dataclass(frozen=True)
class Program:
    """A source package, the commands that build it, and the program that comes out.

    `{CC}` is the compiler, `{yacc}` a parser generator, which is built from its own package first, and
    `{queue}` a header that musl does not have, from the C library headers of the compiler.
    """

    package: str
    steps: tuple[tuple[str, ...], ...]
    program: str
    sources: tuple[str, ...] = ()
    """Directories of its code, if that is not where the program is."""


PROGRAMS = {
    "byacc": Program("byacc", (("./configure",), ("make",)), "yacc"),
    "spin": Program(
        "spin",
        (
            # spin.y calls functions that it does not declare
            ("make", "-C", "Src", "CC={CC}", "YACC={yacc}",
             "CFLAGS=-O2 -DNXT -g -Wno-implicit-function-declaration", "spin"),
        ),
        "Src/spin",
    ),
    "tree": Program("tree", (("make", "CC={CC}", "CFLAGS=-g -std=c11 -D_FILE_OFFSET_BITS=64"),), "tree"),
    "mini-httpd": Program(
        "mini-httpd",
        (
            ("make", "CC={CC}", "CRYPT_LIB=", "LDFLAGS=", "CFLAGS=-g -D_GNU_SOURCE -include grp.h",
             "mini_httpd"),
        ),
        "mini_httpd",
    ),
    "ed": Program("ed", (("./configure", "CC={CC}", "CFLAGS=-g"), ("make",)), "ed"),
    "jhead": Program("jhead", (("make", "CC={CC}", "CFLAGS=-g"),), "jhead"),
    "dos2unix": Program(
        "dos2unix", (("make", "CC={CC}", "CFLAGS_OS=-g", "ENABLE_NLS=", "dos2unix"),), "dos2unix"
    ),
    "ncompress": Program("ncompress", (("make", "CC={CC}", "CFLAGS=-g", "compress"),), "compress"),
    "units": Program("units", (("./configure",), ("make", "units")), "units"),
    "diffstat": Program("diffstat", (("./configure",), ("make",)), "diffstat"),
    "lighttpd": Program(
        "lighttpd",
        (
            ("install", "-D", "{queue}", "src/sys/queue.h"),
            ("./configure", "--disable-shared", "--enable-static", "--without-pcre2", "--without-zlib",
             "--without-bzip2", "--disable-ipv6"),
            ("make", "-C", "src", "parsers", "versionstamp"),
            ("make", "-C", "src", "lighttpd"),
        ),
        "src/lighttpd",
    ),
    "ldapsearch": Program(
        "openldap",
        (
            ("./configure", "CFLAGS=-g -Wno-implicit-int -Wno-implicit-function-declaration",
             "--disable-shared", "--disable-slapd", "--disable-ipv6", "--without-tls",
             "--without-cyrus-sasl"),
            ("make", "-C", "include"),
            ("make", "-C", "libraries"),
            ("make", "-C", "clients"),
        ),
        "clients/tools/ldapsearch",
        ("clients/tools", "libraries/liblber", "libraries/libldap", "libraries/liblutil"),
    ),
    "sshd": Program(
        "openssh",
        (
            ("./configure", "--without-openssl", "--without-zlib", "--without-pam", "--without-selinux",
             "--with-sandbox=no"),
            ("make", "sshd"),
        ),
        "sshd",
    ),
}  # fmt: skip


def bitcode(name: str) -> Path:
    """The bitcode of a program, built once."""
    described = PROGRAMS[name]
    directory = cache_directory() / "build" / f"check-{described.package}"
    program = directory / described.program
    found = program.with_name(program.name + ".bc")
    if found.exists():
        return found
    try:
        tree = source(described.package)
    except SourceError as error:
        raise BuildError(str(error)) from error
    environment = wrapper_environment()
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(tree, directory, symlinks=True)
    for step in described.steps:
        command = command_of(name, step)
        run_step(step[0], command, directory, environment, directory.with_suffix(".log"))
    if not found.exists():
        raise BuildError(f"{name}: the build made no {found}")
    return found


def command_of(name: str, step: tuple[str, ...]) -> list[str]:
    """A step of the build of a program, with its words filled in."""
    headers = toolchain_dir() / "lib" / "libc" / "include" / "generic-glibc"
    words = {"{CC}": wrapper_environment()["CC"], "{queue}": str(headers / "sys" / "queue.h")}
    if any("{yacc}" in word for word in step):
        words["{yacc}"] = str(bitcode("byacc").with_suffix(""))
    return [_replaced(word, words) for word in step]


def lines_of(name: str) -> int:
    """Lines of C in the directories of the program."""
    described, program = PROGRAMS[name], bitcode(name)
    root = program.parents[len(Path(described.program).parts) - 1]
    directories = [root / source for source in described.sources] or [program.parent]
    files = (file for directory in directories for file in directory.glob("*.[ch]"))
    return sum(len(file.read_text(errors="replace").splitlines()) for file in files)


def _replaced(word: str, words: dict[str, str]) -> str:
    for mark, text in words.items():
        word = word.replace(mark, text)
    return word
