"""The process in which LLVM runs: `python -m anabranch.frontend.worker`, a request on stdin.

LLVM can crash on hostile input, and loading it costs time and memory; neither is to happen in the engine.
The request is JSON: {"modules": [[path, name shown, ready, keep]...], "level": n, "output": path, "library":
path|null, "entry": name|null}. `keep` names a file for the text of a module as it is linked, or is null; a
module that is `ready` is such a text.
The text of the linked module, with what it needs of the library, goes to `output`. The answer on stdout is
JSON, a line an event: {"reading": name}, {"error": message}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def say(**event: str) -> None:
    print(json.dumps(event), flush=True)


def main() -> int:
    request = json.load(sys.stdin)
    # Imported late: a broken installation is then an answer, not a traceback.
    try:
        from anabranch.frontend import link, passes
        from anabranch.frontend.constructors import add_start, call_constructors
        from anabranch.frontend.libc.link import add_library
        from anabranch.frontend.promote import without_marks
    except (ImportError, OSError) as error:
        say(error=f"llvmlite cannot be loaded: {error}")
        return 1
    level = request["level"]
    modules = []
    name = ""
    try:
        for path, name, ready, keep in request["modules"]:
            say(reading=name)
            if ready:
                modules.append(link.load_marked(Path(path)))
            else:
                modules.append(link.load(Path(path), level > 0, None if keep is None else Path(keep)))
        name = ", ".join(module[1] for module in request["modules"])
        say(reading=name)
        if request["library"] is not None:
            modules = add_library(modules, Path(request["library"]))
        module = link.link(modules)
        if request["library"] is None:
            add_start(module, request["entry"])
        passes.run_passes(module, level)
        Path(request["output"]).write_text(without_marks(call_constructors(str(module))))
    except link.ModuleError as error:
        say(error=f"{name}: {error}")
        return 1
    except (RuntimeError, UnicodeError) as error:
        say(error=f"{name}: LLVM refuses it: {link.one_line(str(error))}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
