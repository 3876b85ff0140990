"""Simplifies members of the library: `python -m anabranch.frontend.libc.prepare`, a request on stdin.

The request is JSON, [[bitcode in, bitcode out]...]. Locals are marked and promoted as at the default level of
programs, once for all programs. The answer on stdout is a line of JSON for each: its symbols, or an error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from anabranch.frontend.libc.symbols import read_symbols

LEVEL = 1


def main() -> int:
    from anabranch.frontend import link, passes

    for source, output in json.load(sys.stdin):
        try:
            module = link.load(Path(source), mark=True)
            passes.run_passes(module, LEVEL)
            Path(output).write_bytes(module.as_bitcode())
            answer: object = {"symbols": read_symbols(str(module)).to_json()}
        except (link.ModuleError, RuntimeError) as error:
            answer = {"error": link.one_line(str(error))}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
