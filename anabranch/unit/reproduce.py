"""Whether a harness fails natively as predicted, with clang's checks of addresses and undefined behaviour."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anabranch.environment.failing import renamed
from anabranch.native.flags import ADDRESS_FLAGS, MODULE_FLAGS
from anabranch.native.run import NativeRun, run_native
from anabranch.native.tools import (
    CHECKS_RUNTIMES,
    FRESH_RUNTIME,
    INCLUDE,
    KLEE_RUNTIME,
    LAST_LINE_RUNTIME,
    NativeError,
    checked_library,
    clang_command,
    compiler,
    link,
    run_tool,
    runtime_object,
)
from anabranch.replay.build import undefined_flags, with_address_checks
from anabranch.replay.last_line import VARIABLE, with_last_line
from anabranch.replay.outcome import difference
from anabranch.replay.refusal import load, same_addresses
from anabranch.replay.replay import Predicted
from anabranch.replay.witness import KIND, SIZE, Line, depends_on_fresh_memory, with_witnesses

SECONDS = 10.0
INDEX_FLAGS = ("-fsanitize=array-bounds", "-fno-sanitize-recover=array-bounds")
_NO_PASSES = ("-Xclang", "-disable-llvm-passes", "-emit-llvm")
_TO_TEXT = ("-Wno-override-module", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes", "-S")


@dataclass(frozen=True, slots=True)
class Sources:
    """What a harness is built with: the files beside the one it includes, and how they are compiled."""

    others: tuple[Path, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    no_checks: tuple[str, ...] = ()
    included: Path | None = None
    """The file that the harness includes: its flags are those of the harness."""
    own_flags: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    """Flags of single files, beside those that all have."""

    def failing(self, allocators: Sequence[str]) -> Sources:
        """The sources for a harness that lets these functions fail."""
        return replace(self, defines=(*self.defines, *(f"{name}={renamed(name)}" for name in allocators)))

    @property
    def flags(self) -> list[str]:
        flags = ["-w"]
        for directory in self.include_dirs:
            flags += ["-I", str(directory)]
        flags += [f"-D{define}" for define in self.defines]
        return [*flags, "-idirafter", str(INCLUDE)]

    def flags_of(self, path: Path) -> list[str]:
        """How a file is compiled: the harness, or one of the others."""
        file = path if path in self.others else self.included
        return [*self.flags, *(self.own_flags.get(file, ()) if file is not None else ())]


def fails_at_line(harness: Path, kind: str, line: Line, sources: Sources) -> str | None:
    """Build and run a harness that notes where it is; None if it fails as predicted, and at that line, else
    what happened instead."""
    if kind == KIND:  # what shows this is the values at the line
        return reproduce(harness, kind, line, sources)
    try:
        with tempfile.TemporaryDirectory(prefix="anabranch-unit-") as name:
            scratch = Path(name)
            program, last = _build_noting(harness, scratch, sources, line), scratch / "last"
            last.write_bytes(b"\0")
            environment = {VARIABLE: os.fsencode(last)}
            native = run_native(program, environment=environment, time_limit=SECONDS, cwd=scratch)
            problem = difference(Predicted(1, "error", kind), native)
            if problem is None and last.read_bytes() != b"\1":
                return "fails natively, but not at that line"
            return problem
    except NativeError as error:
        return _not_built(error)


def _not_built(error: NativeError) -> str:
    first = next((s for s in str(error).splitlines() if "error" in s), str(error).splitlines()[0])
    return f"cannot be built: {first.strip()}"


def reproduce(harness: Path, kind: str, line: Line | None, sources: Sources) -> str | None:
    """Build and run a harness; None if it fails as predicted, else what happened instead."""
    try:
        with tempfile.TemporaryDirectory(prefix="anabranch-unit-") as name:
            scratch = Path(name)
            program = _build(harness, scratch, sources)
            native = run_native(program, time_limit=SECONDS, cwd=scratch)
            problem = difference(Predicted(1, "error", kind), native)
            if problem is not None and kind == KIND and line is not None:
                program = _build_witness(harness, scratch, sources, line)
                if _depends(program, scratch):
                    return None
            if problem is not None and kind == "out-of-bounds" and line is not None:
                # What lies beside a constant may be memory like any other: then the index tells.
                program = _build(harness, scratch, sources, INDEX_FLAGS)
                native = run_native(program, time_limit=SECONDS, cwd=scratch)
                if native.check_kind() == "ptr" and b" %d\n" % line[1] in native.stderr:
                    return None
            return problem
    except NativeError as error:
        return _not_built(error)


def _build(harness: Path, scratch: Path, sources: Sources, more: Sequence[str] = ()) -> Path:
    undefined = undefined_flags(sources.checks, sources.no_checks)
    objects = []
    for number, path in enumerate((harness, *sources.others)):
        output = scratch / f"{number}.o"
        flags = [*sources.flags_of(path), "-O0", "-g", *undefined, *ADDRESS_FLAGS, *more]
        if path.suffix in (".bc", ".ll"):
            run_tool([*compiler(), *_TO_TEXT, "-c", str(path), "-o", str(scratch / f"{number}.ll")])
            text = with_address_checks((scratch / f"{number}.ll").read_text(errors="surrogateescape"))
            path = scratch / f"{number}.checked.ll"
            path.write_text(text, errors="surrogateescape")
        run_tool([*clang_command(), *flags, "-c", str(path), "-o", str(output)])
        objects.append(output)
    lazily = [checked_library(), runtime_object(KLEE_RUNTIME)]
    return link([*objects, *map(runtime_object, CHECKS_RUNTIMES)], scratch / "program", lazily)


def _build_noting(harness: Path, scratch: Path, sources: Sources, line: Line) -> Path:
    """The harness with checks, built so that it notes whether it is at a line."""
    undefined = undefined_flags(sources.checks, sources.no_checks)
    objects = []
    for number, path in enumerate((harness, *sources.others)):
        text, output = scratch / f"n{number}.ll", scratch / f"n{number}.o"
        if path.suffix in (".bc", ".ll"):
            command = [*compiler(), *_TO_TEXT, "-c", str(path), "-o", str(text)]
        else:
            flags = [*sources.flags_of(path), "-O0", "-g", *undefined, *ADDRESS_FLAGS, *_NO_PASSES]
            command = [*clang_command(), *flags, "-S", str(path), "-o", str(text)]
        run_tool(command)
        noting = with_last_line(text.read_text(errors="surrogateescape"), line, str(harness))
        text.write_text(with_address_checks(noting), errors="surrogateescape")
        command = [*clang_command(), "-O0", "-Wno-override-module", *ADDRESS_FLAGS]
        run_tool([*command, "-c", str(text), "-o", str(output)])
        objects.append(output)
    lazily = [checked_library(), runtime_object(KLEE_RUNTIME)]
    runtimes = map(runtime_object, (*CHECKS_RUNTIMES, LAST_LINE_RUNTIME))
    return link([*objects, *runtimes], scratch / "noting", lazily)


def _build_witness(harness: Path, scratch: Path, sources: Sources, line: Line) -> Path:
    """The harness built so that the values at a line are recorded and fresh memory is as the run is told."""
    objects = []
    for number, path in enumerate((harness, *sources.others)):
        text, output = scratch / f"w{number}.ll", scratch / f"w{number}.o"
        command = [*compiler(), *sources.flags_of(path), *MODULE_FLAGS, "-S", str(path), "-o", str(text)]
        if path.suffix in (".bc", ".ll"):
            command = [*compiler(), *_TO_TEXT, "-c", str(path), "-o", str(text)]
        run_tool([word for word in command if word != "-c" or path.suffix in (".bc", ".ll")])
        text.write_text(with_witnesses(text.read_text(errors="surrogateescape"), [line]))
        run_tool([*clang_command(), "-O0", "-Wno-override-module", "-c", str(text), "-o", str(output)])
        objects.append(output)
    objects.append(runtime_object(FRESH_RUNTIME))
    return link(objects, scratch / "witness", [runtime_object(KLEE_RUNTIME)])


def _depends(program: Path, scratch: Path) -> bool:
    seen = scratch / "seen"
    load()

    def run(filling: int) -> tuple[NativeRun, bytes]:
        seen.write_bytes(bytes(SIZE))
        environment = {b"ANABRANCH_FRESH": b"%d" % filling, b"ANABRANCH_WITNESS": bytes(seen)}
        native = run_native(
            program, environment=environment, time_limit=SECONDS, cwd=scratch, prepare=same_addresses
        )
        return native, seen.read_bytes()

    return depends_on_fresh_memory(run)


def build_command(harness: str, sources: Sources) -> str:
    """How a person builds and runs a harness: one command, or one for each file if their flags differ."""
    words = ["cc -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"]
    words += [f"-I {directory}" for directory in sources.include_dirs]
    words += [shlex.quote(f"-D{define}") for define in sources.defines]
    compile_, files = " ".join(words), [harness, *map(str, sources.others)]
    own = [sources.own_flags.get(path, ()) for path in (sources.included or Path(), *sources.others)]
    # With other files muldefs, as one of them may have a main of its own.
    link = "-Wl,-z,muldefs " if sources.others else ""
    if len(set(own)) == 1:
        flags = "".join(f"{shlex.quote(flag)} " for flag in own[0])
        return f"{compile_} {flags}{link}{' '.join(files)} && ./a.out"
    steps = [
        " ".join([compile_, *map(shlex.quote, flags), f"-c {file} -o {number}.o"])
        for number, (file, flags) in enumerate(zip(files, own, strict=True))
    ]
    objects = " ".join(f"{number}.o" for number in range(len(files)))
    return " && ".join([*steps, f"{words[0]} {link}{objects}", "./a.out"])


Reproduce = Callable[[Path, str, Line | None, Sources], str | None]
__all__: Sequence[str] = ("Reproduce", "Sources", "build_command", "reproduce")
