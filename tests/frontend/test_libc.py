"""Programs on the real C library. It is built into the user's cache if it is not there yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from anabranch.cli.flags import settings_from_args
from anabranch.cli.settings import SettingsError
from anabranch.environment import MODELS
from anabranch.explore.engine import Exploration
from anabranch.explore.engine import prepare as prepare_exploration
from anabranch.explore.library import LIBRARY_SOURCES
from anabranch.frontend import FrontendError, FrontendOptions, Program, load_program
from anabranch.frontend import build as frontend_build
from anabranch.frontend.cache import default_directory
from anabranch.frontend.libc.build import ensure_library
from anabranch.frontend.libc.models import KERNEL, MODELLED
from anabranch.frontend.libc.sources import SHOWN_ROOT
from anabranch.frontend.libc.store import Library
from anabranch.report.events import Collector
from tests.frontend.kernel import kernel_models

Explore = Callable[..., tuple[Exploration, Collector]]


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(ensure_library(default_directory()))


@pytest.fixture
def load(library: Library, tmp_path: Path) -> Callable[[str], Program]:
    def run(source: str, **options: object) -> Program:
        path = tmp_path / "m.c"
        path.write_text(source)
        settings = FrontendOptions(libc="musl", use_cache=False, **options)  # type: ignore[arg-type]
        return load_program([path], settings)

    return run


@pytest.fixture
def run(load: Callable[..., Program], monkeypatch: pytest.MonkeyPatch) -> Explore:
    """Explore a program given as text, on a small kernel."""
    for name, found in kernel_models().items():
        monkeypatch.setitem(MODELS, name, found)

    def explore(source: str, *flags: str) -> tuple[Exploration, Collector]:
        settings = settings_from_args(["m.c", "--tests", "all", *flags])
        collector = Collector()
        exploration = prepare_exploration(load(source), settings, collector)
        exploration.run()
        return exploration, collector

    return explore


def test_nothing_of_the_machine_is_left_in_the_library(library: Library) -> None:
    names = [name for name in library.symbols if not library.symbols[name].offered <= MODELLED]
    for name, data in zip(names, library.read(names), strict=True):
        text = str(llvm.parse_bitcode(data))
        assert " asm " not in text, name


def test_no_member_mixes_models_with_other_functions(library: Library) -> None:
    """A member taken for the one would bring the other, and it would hide the model."""
    mixed = {n: s.offered & MODELLED for n, s in library.symbols.items() if s.offered & MODELLED}
    mixed = {n: found for n, found in mixed.items() if library.symbols[n].defined - MODELLED}
    reached = {name for symbols in library.symbols.values() for name in symbols.undefined}
    assert not {n for n in mixed if (library.symbols[n].defined - MODELLED) & reached}


def test_all_that_is_missing_is_the_kernel(library: Library) -> None:
    offered = set().union(*(symbols.offered for symbols in library.symbols.values()))
    undefined = set().union(*(symbols.undefined for symbols in library.symbols.values()))
    startup = {"__anabranch_constructors", "__anabranch_destructors", "main", "LLVMFuzzerTestOneInput"}
    assert undefined - offered - MODELLED == KERNEL | startup


def test_only_what_is_reached_is_linked(load: Callable[..., Program]) -> None:
    program = load("int main(void) { return 0; }")
    defined = {function.name for function in program.module.defined_functions()}
    assert program.entry == "__anabranch_start"
    assert {"main", "exit", "_Exit", "__init_tp"} <= defined
    assert "printf" not in defined
    assert len(defined) < 20


def test_printing_flushes_at_the_end_and_in_order(run: Explore) -> None:
    exploration, collector = run(
        """#include <stdio.h>
#include <stdlib.h>
static void leave(void) { printf("leave\\n"); }
__attribute__((constructor)) static void before(void) { printf("before "); }
__attribute__((destructor)) static void after(void) { printf("after"); }
int main(int argc, char **argv) {
    atexit(leave);
    printf("%s %d|%5.2f|%-4s|%x\\n", argv[0], argc, 2.5, "ab", 255);
    putchar('p');
    puts("uts");
    return 7;
}
"""
    )
    assert not exploration.reporter.losses.as_dict()
    assert [(t.exit_code, t.output) for t in collector.tests] == [
        (7, b"before program 1| 2.50|ab  |ff\nputs\nleave\nafter")
    ]


def test_numbers_errors_and_thread_local_variables(run: Explore) -> None:
    _, collector = run(
        """#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __thread int mine = 4;
int main(void) {
    char word[8]; double d; int n;
    n = sscanf("12 0x1p3 word", "%d %lf %7s", &mine, &d, word);
    printf("%d %d %g %s %.3f\\n", n, mine, d, word, exp(1));
    errno = 0;
    n = close(77);
    printf("%d %s %d %Lg %d\\n", n, strerror(errno), LDBL_MANT_DIG, strtold("0.5", 0),
        (int)sizeof(long double));
    setenv("A", "b", 1);
    printf("%s\\n", getenv("A"));
    exit(3);
}
"""
    )
    assert [(t.exit_code, t.output) for t in collector.tests] == [
        (3, b"3 12 8 word 2.718\n-1 Bad file descriptor 64 0.5 16\nb\n")
    ]


def test_symbolic_data_goes_through(run: Explore) -> None:
    _, collector = run(
        """#include <klee/klee.h>
#include <stdio.h>
int main(void) {
    char c; klee_make_symbolic(&c, 1, "c");
    if (c == 'x') fputs("an x\\n", stdout); else printf("%s\\n", c < 0 ? "negative" : "other");
    if (c == 'y') return 1;
    return 0;
}
"""
    )
    assert sorted((t.exit_code or 0, t.output or b"") for t in collector.tests) == [
        (0, b"an x\n"),
        (0, b"negative\n"),
        (0, b"other\n"),
        (1, b"other\n"),
    ]


def test_an_error_in_the_library_is_told_at_each_call(run: Explore) -> None:
    exploration, collector = run(
        """#include <klee/klee.h>
#include <stdio.h>
int main(void) {
    int which; klee_make_symbolic(&which, sizeof which, "which");
    if (which) fputs((char *)8, stdout);
    else fputs((char *)8, stdout);
    return 0;
}
"""
    )
    assert sorted(error.line for error in collector.errors) == [5, 6]
    assert all(error.file.endswith("m.c") and error.function == "main" for error in collector.errors)
    assert collector.errors[0].stack[0].file.startswith(LIBRARY_SOURCES)
    counters = exploration.machine.counters.N
    assert not any(LIBRARY_SOURCES in str(name) for name in exploration.table.report(counters).files)


def test_fuzz_targets_run_on_the_library(run: Explore) -> None:
    _, collector = run(
        """#include <stddef.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (size == 1 && data[0] == 7) printf("seven");
    return 0;
}
""",
        "--max-len",
        "2",
    )
    assert {t.output for t in collector.tests} == {b"", b"seven"}


def test_other_entries_are_refused(load: Callable[..., Program]) -> None:
    with pytest.raises(FrontendError, match="with --libc musl a program starts in main or LLVMFuzzer"):
        load("int f(void) { return 0; }", entry="f")


def test_a_second_start_needs_neither_library_nor_llvm(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.c"
    path.write_text('#include <stdio.h>\nint main(void) { puts("x"); return 0; }\n')
    monkeypatch.setattr(frontend_build, "ensure_library", lambda _: library.path)
    options = FrontendOptions(libc="musl", cache_dir=tmp_path / "cache")
    first = load_program([path], options)
    monkeypatch.setattr(frontend_build, "build_program", None)
    second = load_program([path], options)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert second.ir_text == first.ir_text
    assert second.entry == "__anabranch_start"
    monkeypatch.undo()
    assert not load_program([path], FrontendOptions(cache_dir=tmp_path / "cache")).from_cache


def test_the_flag() -> None:
    assert settings_from_args(["m.c"]).build.libc == "auto"
    assert settings_from_args(["m.c", "--libc", "musl"]).build.libc == "musl"
    with pytest.raises(SettingsError, match="none, musl"):
        settings_from_args(["m.c", "--libc", "glibc"])


def test_both_sides_mean_the_same_directory() -> None:
    assert f"{SHOWN_ROOT}/" == LIBRARY_SOURCES


def test_the_programs_own_definitions_win(run: Explore) -> None:
    """Where a member is needed for something else that it defines, as musl's getopt.c for `optind`."""
    exploration, collector = run(
        """#include <stdio.h>
#include <unistd.h>
int getopt(int argc, char *const argv[], const char *options) { return 10 * optind + opterr; }
char *optarg = "mine";
int main(int argc, char **argv) {
    optind = 3;
    printf("%d %s", getopt(argc, argv, "a"), optarg);
    return 0;
}
"""
    )
    assert not exploration.reporter.losses.as_dict()
    assert [t.output for t in collector.tests] == [b"31 mine"]
