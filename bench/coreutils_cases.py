"""Ten command lines for each of the twenty utilities, with the files that they read.

A line is as in a shell: words in quotes stay whole, `< NAME` gives standard input; without it that is empty.
No line depends on the time, on the machine or on who runs it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

FILES: dict[str, bytes] = {
    "words": b"apple\nbanana\nbanana\ncherry\napple\n\nfig\n",
    "sorted1": b"a 1\nb 2\nc 3\nd 4\n",
    "sorted2": b"b x\nc y\ne z\n",
    "numbers": b"10\n9\n2\n33\n-4\n0.5\n1e2\n",
    "table": b"one:two:three\nfour:five:six\nseven\n:eight:\n",
    "tabs": b"a\tb\tc\n\td\te\nlong line of words without any tab to fold somewhere\n",
    "binary": bytes(range(0, 256, 5)) + b"\x00\x00\xff\n",
    "unended": b"first\nlast without newline",
    "empty": b"",
    "crlf": b"dos\r\nline\r\n",
    "long": b"".join(b"line %d of a longer file\n" % i for i in range(1, 31)),
    "repeat": b"x\nx\nX\ny\ny\ny\nz\n" + b"\0" * 16 + b"\0" * 16,
}

LINES: dict[str, str] = {
    "echo": r"""
        hello world
        -n no newline
        -e 'a\tb\nc\\d'
        -e '\x41\0102\c hidden'
        -E 'a\tb'
        -neE 'x\ty'
        --help
        --version
        -e '\a\b\f\r\v\e'
        - -- -n ''
        """,
    "cat": r"""
        words
        -n words unended
        -b words
        -s words empty words
        -A binary
        -vET tabs crlf
        - < words
        missing words
        -n - < unended
        -e long
        """,
    "wc": r"""
        words
        -l words long unended
        -w tabs
        -c binary
        -L tabs long
        -m words
        < words
        - words < unended
        missing words
        -lw empty crlf
        """,
    "cut": r"""
        -d: -f2 table
        -d: -f1,3 table
        -c1-3 words
        -b2- words
        -d: -f2- -s table
        --complement -d: -f2 table
        -d: -f1-2 --output-delimiter=+ table
        -f1 tabs
        -c0 words
        -d: -f3-1 table
        """,
    "tr": r"""
        a-z A-Z < words
        -d aeiou < words
        -s 'a-z' < words
        -c 'a-z\n' '*' < table
        '[:lower:]' '[:upper:]' < long
        -ds ae l < long
        -t abc xy < words
        '\000-\037' . < binary
        a
        '[a*3]x' xyz < words
        """,
    "test": r"""
        a = a
        a != a
        5 -gt 3
        -z ''
        -f words
        -d words
        -s empty
        1 -lt 2 -a 2 -lt 1
        '(' a = b ')' -o -n x
        5 -eq five
        """,
    "seq": r"""
        5
        2 7
        1 2 10
        -s , 4
        -w 8 11
        5 -2 1
        -f %05.1f 1 3
        0.5 0.25 1.5
        3 1
        a
        """,
    "sleep": r"""
        0
        0.01
        0 0s 0m 0h 0d
        .001
        0.001s
        x
        1x
        -1

        --help
        """,
    "od": r"""
        binary
        -c words
        -x binary
        -A d -t x1 binary
        -A n -t d2 -N 16 binary
        -j 10 -N 20 -t o1 binary
        -t c -t x1z words
        -v -A x repeat
        -w8 -t u4 binary
        -S 3 binary
        """,
    "paste": r"""
        words numbers
        -d , words numbers
        -s words
        -s -d '+-' numbers
        - - < long
        -d '\t\n' words sorted1 sorted2
        -d '' words numbers
        missing
        -z words
        words - < numbers
        """,
    "basename": r"""
        /usr/lib/name.c
        /usr/lib/name.c .c
        -a /x/y z/w
        -s .h include/stdio.h
        /
        ''
        a//
        -z x/y
        name.c name.c

        """,
    "expr": r"""
        1 + 2
        7 / 2 '*' 3
        7 % 0
        abc : 'a\(.*\)'
        length hello
        substr hello 2 3
        index hello lo
        3 '<' 10
        '' '|' x
        '(' 1 + 2 ')' '&' 0
        """,
    "uniq": r"""
        words
        -c words
        -d repeat
        -u words
        -i repeat
        -f 1 sorted1
        -s 1 -w 1 repeat
        -D repeat
        --group=both words
        missing
        """,
    "comm": r"""
        sorted1 sorted2
        -12 sorted1 sorted2
        -3 sorted1 sorted2
        --output-delimiter=: sorted1 sorted2
        --total sorted1 sorted2
        words sorted1
        --check-order words sorted1
        --nocheck-order words numbers
        - sorted2 < sorted1
        empty sorted1
        """,
    "fold": r"""
        -w 10 tabs
        -s -w 12 tabs
        -b -w 5 tabs
        long
        -w 1 words
        -w 0 words
        -8 long
        -sw 20 - < long
        -w 6 crlf
        missing words
        """,
    "head": r"""
        long
        -n 3 long
        -n -25 long
        -c 20 long
        -c -700 long
        -3 words
        -q -n 1 words numbers
        -v -n 2 words
        -n 2 words missing numbers
        -n 2 < long
        """,
    "sort": r"""
        words
        -r words
        -n numbers
        -u words
        -k 2 sorted1
        -t : -k 2,2 table
        -g numbers
        -c words
        -f -s repeat
        -m sorted1 sorted2
        """,
    "join": r"""
        sorted1 sorted2
        -a 1 sorted1 sorted2
        -v 2 sorted1 sorted2
        -o 1.1,2.2,0 sorted1 sorted2
        -e none -a 1 -a 2 -o 0,1.2,2.2 sorted1 sorted2
        -t ' ' -j 1 sorted1 sorted2
        -i sorted1 sorted2
        --header sorted1 sorted2
        -1 2 -2 2 sorted1 sorted2
        sorted1
        """,
    "pr": r"""
        -t words
        -t -n words
        -2 -t long
        -3 -t -l 10 long
        -t -o 4 words
        -t -m words numbers
        -t -e4 tabs
        -t -d words
        -t -w 30 -3 words
        -h Title -D date -l 20 words
        """,
    "tail": r"""
        long
        -n 3 long
        -n +28 long
        -c 20 long
        -c +600 long
        -3 words
        -q -n 1 words numbers
        -v -n 2 words
        -n 2 < long
        -n 2 words missing
        """,
}


@dataclass(frozen=True)
class Case:
    """One command line: arguments, and the name of the file on standard input."""

    utility: str
    arguments: tuple[str, ...]
    stdin: str | None

    def __str__(self) -> str:
        shown = shlex.join((self.utility, *self.arguments))
        return f"{shown} < {self.stdin}" if self.stdin else shown


def cases_of(utility: str) -> list[Case]:
    """The ten cases of a utility; an empty line is a call without arguments."""
    found = []
    for line in LINES[utility].split("\n")[1:-1]:
        words = shlex.split(line)
        stdin = None
        if "<" in words[:-1] and words[-2] == "<" and "'<'" not in line:
            stdin = words[-1]
            words = words[:-2]
        found.append(Case(utility, tuple(words), stdin))
    return found


UTILITIES = tuple(LINES)
