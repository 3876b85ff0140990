"""Symbolic arguments, files, streams, names and failures, through programs of raw system calls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anabranch.environment.heap import MAY_SUCCEED
from tests.machine.harness import Outcome, run_source

PROGRAMS = Path(__file__).parent / "programs"
HEAD = f"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "{PROGRAMS / "kernel.h"}"
unsigned long strlen(const char *);
"""


def explore(directory: Path, body: str, *options: str) -> Outcome:
    return run_source(directory, HEAD + body, *options)


def codes(outcome: Outcome) -> Counter[int | None]:
    """Exit codes of all paths."""
    assert not outcome.errors()
    assert outcome.result.complete, outcome.losses()
    return Counter(test.exit_code for test in outcome.collector.tests)


def names(outcome: Outcome, number: int = 0) -> list[tuple[str, int]]:
    return [(name, len(data)) for name, data in outcome.collector.tests[number].objects]


def test_arguments_are_those_of_klee(tmp_path: Path) -> None:
    count = "int main(int argc, char **argv) { return argc; }"
    assert codes(explore(tmp_path, count)) == {1: 1}
    assert codes(explore(tmp_path, count, "--", "a", "--sym-arg", "1", "b")) == {4: 1}
    assert codes(explore(tmp_path, count, "--sym-args", "2", "2", "3")) == {3: 1}
    two = explore(tmp_path, count, "--sym-args", "0", "1", "10", "--sym-args", "0", "2", "2")
    assert codes(two) == {1: 1, 2: 2, 3: 2, 4: 1}
    by_code = {test.exit_code: test for test in two.collector.tests}
    assert [(n, len(d)) for n, d in by_code[4].objects] == [
        ("n_args", 4), ("arg00", 11), ("n_args_1", 4), ("arg01", 3), ("arg02", 3)
    ]  # fmt: skip
    assert [(n, len(d)) for n, d in by_code[1].objects] == [("n_args", 4), ("n_args_1", 4)]
    lengths = """
    int main(int argc, char **argv) {
      int total = 0;
      for (int i = 1; i < argc; i++) total += 1 + strlen(argv[i]);
      return argv[argc] == 0 ? total : 99;
    }"""
    # 1 way without arguments, 3 with one, 3 * 3 with two.
    assert codes(explore(tmp_path, lengths, "--sym-args", "0", "2", "2")).total() == 13


def test_the_order_of_inputs_is_that_of_klee(tmp_path: Path) -> None:
    options = [
        "--max-fail",
        "1",
        "--sym-stdout",
        "--sym-stdin",
        "3",
        "--sym-files",
        "2",
        "4",
        "--sym-arg",
        "1",
    ]
    outcome = explore(tmp_path, "int main(void) { return 0; }", *options)
    assert names(outcome) == [
        ("arg00", 2), ("A_data", 4), ("A_data_stat", 144), ("B_data", 4), ("B_data_stat", 144), ("stdin", 3),
        ("stdin_stat", 144), ("read_fail", 4), ("write_fail", 4), ("close_fail", 4), ("ftruncate_fail", 4),
        ("getcwd_fail", 4), ("stdout", 1024), ("stdout_stat", 144),
    ]  # fmt: skip


def test_plain_arguments_name_and_environment(tmp_path: Path) -> None:
    body = """
    int main(int argc, char **argv, char **envp) {
      for (int i = 0; i < argc; i++) { put_text(argv[i]); put_text(";"); }
      for (char **e = envp; *e; e++) { put_text(*e); put_text(";"); }
      return 0;
    }"""
    outcome = explore(tmp_path, body, "--program-name", "tool", "--env", "A=b", "--", "-x", "", "y z")
    assert outcome.collector.tests[0].output == b"tool;-x;;y z;A=b;"
    symbolic = "int main(int c, char **v, char **e) { return e[0][2] == 'q' ? e[0][3] : strlen(e[0]); }"
    found = codes(explore(tmp_path, symbolic, "--sym-env", "N", "2"))
    assert found.total() == 4 and found.keys() >= {2, 3, 4}
    body = """
    char *getenv(const char *);
    int main(void) { return getenv("B") || getenv("AA") ? 9 : getenv("A")[0] + !getenv("S"); }"""
    assert codes(explore(tmp_path, body, "--env", "A=\x01", "--env", "AB=x", "--sym-env", "S", "1")) == {1: 1}


def test_symbolic_files_are_read_and_paths_do_not_see_each_others_writes(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char data[8], seen[8] = {0};
      long fd = CALL3(SYS_open, "A", O_RDWR, 0);
      if (CALL3(SYS_read, fd, data, 8) != 3) return 90;
      long mark = CALL3(SYS_open, "mark", O_CREAT | O_RDWR, 0600);
      if (data[1] == 'x') CALL3(SYS_write, mark, "x", 1);
      else if (data[1] == 'y') {
        CALL3(SYS_write, mark, "yy", 2);
        CALL3(SYS_lseek, fd, 1, 0);
        CALL3(SYS_write, fd, "Z", 1);
      } else CALL1(SYS_unlink, "mark");
      CALL3(SYS_lseek, mark, 0, 0);
      CALL3(SYS_lseek, fd, 0, 0);
      long n = CALL3(SYS_read, mark, seen, 8);
      if (CALL3(SYS_read, fd, data, 8) != 3) return 91;
      CALL3(SYS_write, 1, data, 3);
      return n * 10 + (data[1] == 'Z') + 2 * (CALL2(SYS_access, "mark", 0) == 0);
    }"""
    outcome = explore(tmp_path, body, "--sym-files", "1", "3")
    assert codes(outcome) == {12: 1, 23: 1, 0: 1}
    for test in outcome.collector.tests:
        data = dict(test.objects)["A_data"]
        assert test.output == (data[:1] + b"Z" + data[2:] if data[1:2] == b"y" else data)


def test_metadata_is_what_a_replay_can_make_unless_it_is_free(tmp_path: Path) -> None:
    body = """
    int main(void) {
      struct stat s;
      CALL2(SYS_stat, "A", &s);
      if (s.st_size != 2) return 9;
      if (S_ISDIR(s.st_mode)) return 1;
      if (S_ISCHR(s.st_mode)) return 2;
      if (s.st_nlink != 1) return 3;
      if (s.st_mode & 0100) return 4;
      if (s.st_mtime > 5) return 5;
      return 6;
    }"""
    assert codes(explore(tmp_path, body, "--sym-files", "1", "2")) == {4: 1, 5: 1, 6: 1}
    body = body.replace("if (s.st_size != 2) return 9;", "")
    assert set(codes(explore(tmp_path, body, "--sym-files", "1", "2", "--free-metadata"))) == {
        1,
        2,
        3,
        4,
        5,
        6,
    }


def test_a_file_stays_whatever_its_metadata_says_of_links(tmp_path: Path) -> None:
    """The number of links that is told to the program may be 0; what is there are the names."""
    body = """
    int main(void) {
      struct stat before, after;
      CALL2(SYS_stat, "A", &before);
      long fd = CALL2(SYS_open, "A", O_RDONLY);
      CALL1(SYS_close, fd);
      fd = CALL2(SYS_open, "A", O_RDONLY);
      if (fd < 0) return 1;
      if (CALL2(SYS_link, "A", "other") != 0) return 2;
      CALL2(SYS_stat, "A", &after);
      if (after.st_nlink != before.st_nlink + 1) return 3;
      if (CALL1(SYS_unlink, "A") != 0 || CALL1(SYS_unlink, "other") != 0) return 4;
      CALL2(SYS_fstat, fd, &after);
      if (after.st_nlink != before.st_nlink - 1) return 5;
      CALL1(SYS_close, fd);
      return CALL2(SYS_open, "A", O_RDONLY) == -2 ? 6 : 7;
    }"""
    assert codes(explore(tmp_path, body, "--sym-files", "1", "2")) == {6: 1}
    assert codes(explore(tmp_path, body, "--sym-files", "1", "2", "--free-metadata")) == {6: 1}


def test_standard_streams_are_files_or_pipes(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char c[4];
      CALL3(SYS_read, 0, c, 1);
      if (CALL3(SYS_lseek, 0, 0, SEEK_CUR) == -29) return 1;
      if (CALL3(SYS_ioctl, 1, 0x5401, c) != -25) return 2;
      return CALL3(SYS_read, 0, c, 4) == 2 ? 3 : 4;
    }"""
    assert codes(explore(tmp_path, body, "--sym-stdin", "3", "--sym-stdout")) == {1: 1, 3: 1}
    assert codes(explore(tmp_path, body)) == {4: 1}  # /dev/null


def test_a_symbolic_path_is_compared_with_what_is_there(tmp_path: Path) -> None:
    body = """
    int main(int argc, char **argv) {
      long fd = CALL3(SYS_open, argv[1], O_RDONLY, 0);
      return fd < 0 ? -fd : fd;
    }"""
    outcome = explore(tmp_path, body, "--sym-arg", "3", "--sym-files", "2", "1")
    found = codes(outcome)
    assert set(found) == {2, 3, 20}  # no such file, open, not a directory
    assert found.total() < 40
    opened = {dict(t.objects)["arg00"].split(b"\0")[0] for t in outcome.collector.tests if t.exit_code == 3}
    assert {b"A", b"B", b"."} <= opened
    assert all(path.strip(b"/.") in (b"A", b"B", b"") for path in opened)


def test_files_may_have_symbolic_names(tmp_path: Path) -> None:
    body = """
    int main(int argc, char **argv) {
      char entries[256];
      if (argv[1][0] == 0 || argv[1][0] == '/' || argv[1][0] == '.' || argv[1][0] == 'A') return 0;
      long fd = CALL3(SYS_open, argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600);
      if (fd != 3) return 1;
      long again = CALL3(SYS_open, argv[1], O_RDONLY, 0);
      long other = CALL3(SYS_open, "q", O_RDONLY, 0);
      long dir = CALL3(SYS_open, ".", O_RDONLY, 0);
      long n = CALL3(SYS_getdents64, dir, entries, 256);
      if (entries[n - 24 + 19] != argv[1][0]) return 2;
      CALL1(SYS_unlink, argv[1]);
      return 10 * (again == 4) + (other == 5) + 100 * (CALL2(SYS_access, argv[1], 0) == -2);
    }"""
    outcome = explore(tmp_path, body, "--sym-arg", "1", "--sym-files", "1", "1")
    assert {code: count for code, count in codes(outcome).items() if code} == {110: 1, 111: 1}


def test_failures_on_demand(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char c[2];
      int failed = 0;
      for (int i = 0; i < 3; i++) failed = 2 * failed + (CALL3(SYS_read, 0, c, 1) == -5);
      return failed;
    }"""
    assert codes(explore(tmp_path, body)) == {0: 1}
    once = explore(tmp_path, body, "--max-fail", "1")
    assert codes(once) == {0: 1, 1: 1, 2: 1, 4: 1}
    assert {dict(t.objects)["read_fail"][0] for t in once.collector.tests if t.exit_code == 2} == {2}


def test_unmodelled_calls_are_warned_of_once_and_counted(tmp_path: Path) -> None:
    body = """
    int main(int argc, char **argv) {
      if (argv[1][0]) __syscall0(SYS_fork);
      return __syscall0(SYS_fork) == -38 && CALL3(SYS_socket, 1, 1, 0) == -38 ? 5 : 6;
    }"""
    outcome = explore(tmp_path, body, "--sym-arg", "1")
    assert not outcome.result.complete
    assert outcome.losses() == {"unmodelled system call fork": 3, "unmodelled system call socket": 2}
    assert {test.exit_code for test in outcome.collector.tests} == {5}
    assert sum("fork" in text for text in outcome.collector.warnings) == 1


@pytest.mark.parametrize("size", ["n", "n & 31"])
def test_symbolic_lengths_and_offsets_split_at_the_end_of_the_file(tmp_path: Path, size: str) -> None:
    body = f"""
    int main(int argc, char **argv) {{
      char data[300];
      unsigned char n = argv[1][0];
      long fd = CALL3(SYS_open, "A", O_RDONLY, 0);
      return CALL3(SYS_read, fd, data, {size});
    }}"""
    options = ("--sym-arg", "1", "--sym-files", "1", "4")
    assert codes(explore(tmp_path, body, *options)) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1}
    seek = f"""
    int main(int argc, char **argv) {{
      char data[8];
      unsigned char n = argv[1][0];
      long fd = CALL3(SYS_open, "A", O_RDONLY, 0);
      if (CALL3(SYS_lseek, fd, {size}, SEEK_SET) != ({size})) return 9;
      return CALL3(SYS_read, fd, data, 8);
    }}"""
    # At the end and beyond it there is nothing to read; the end itself is one offset.
    assert codes(explore(tmp_path, seek, *options)) == {0: 2, 1: 1, 2: 1, 3: 1, 4: 1}


def test_host_files_are_copied_in(tmp_path: Path) -> None:
    host = tmp_path / "data.txt"
    host.write_bytes(b"abc")
    body = """
    int main(void) {
      char c[9];
      long fd = CALL3(SYS_open, "data.txt", O_RDWR, 0), other = CALL3(SYS_open, "/etc/x/copy", O_RDONLY, 0);
      CALL3(SYS_write, fd, "Z", 1);
      return 10 * CALL3(SYS_read, fd, c, 9) + CALL3(SYS_read, other, c, 9);
    }"""
    options = ("--file", str(host), "--file", f"{host}:/etc/x/copy")
    assert codes(explore(tmp_path, body, *options)) == {23: 1}
    assert host.read_bytes() == b"abc"


def test_mappings_are_objects_of_their_own(tmp_path: Path) -> None:
    body = """
    #include <sys/mman.h>
    int main(void) {
      char *p = (char *)CALL6(SYS_mmap, 0, 5000, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      p[8191] = 4;
      if (p[0] || CALL1(SYS_brk, 0) != CALL1(SYS_brk, 1 << 20)) return 1;
      char *q = (char *)CALL4(SYS_mremap, p, 8192, 12288, 1);
      long fd = CALL3(SYS_open, "A", O_RDONLY, 0);
      char *f = (char *)CALL6(SYS_mmap, 0, 4096, 1, MAP_PRIVATE, fd, 0);
      if (q[8191] != 4 || q[8192] || f[4095]) return 2;
      CALL2(SYS_munmap, q, 12288);
      return f[0] == 'm' ? q[0] : 3;
    }"""
    outcome = explore(tmp_path, body, "--sym-files", "1", "1")
    assert [kind for kind, _ in outcome.errors()] == ["use-after-free"]
    assert {test.exit_code for test in outcome.collector.tests if test.end == "exit"} == {3}


def test_large_mappings(tmp_path: Path) -> None:
    body = """int main(void) {
      unsigned long gib = 1ul << 30;
      char *p = (char *)CALL6(SYS_mmap, 0, 2 * gib, 3, 0x22, -1, 0);
      p[5] = 1; p[2 * gib - 1] = 2;
      p = (char *)CALL4(SYS_mremap, p, 2 * gib, 3 * gib, 1);
      p[3 * gib - 1] = 3;
      return p[0] + 10 * p[5] + 20 * p[2 * gib - 1] + 30 * p[3 * gib - 1] + p[gib] + p[3 * gib - 2];
    }"""
    outcome = explore(tmp_path, body)
    assert [test.exit_code for test in outcome.collector.tests] == [140]
    assert outcome.result.complete


def test_a_mapping_that_may_succeed_does_not_just_fail(tmp_path: Path) -> None:
    body = """int main(void) {
      return CALL6(SYS_mmap, 0, 1ul << 40, 3, 0x22, -1, 0) == -12;
    }"""
    outcome = explore(tmp_path, body)
    assert [test.exit_code for test in outcome.collector.tests] == [1]
    assert set(outcome.losses()) == {MAY_SUCCEED}


def test_signals_to_oneself(tmp_path: Path) -> None:
    body = "int main(void) { CALL2(SYS_tkill, __syscall0(SYS_gettid), %d); return 3; }"
    assert codes(explore(tmp_path, body % 15)) == {143: 1}
    assert codes(explore(tmp_path, body % 17)) == {3: 1}
    assert [kind for kind, _ in explore(tmp_path, body % 6).errors()] == ["abort"]


def test_a_thread_block_that_points_to_itself(tmp_path: Path) -> None:
    body = """
    unsigned long __get_tp(void);
    int main(void) {
      unsigned long *block = (unsigned long *)__get_tp(), other[4];
      int fine = block[0] == (unsigned long)block && __get_tp() == (unsigned long)block;
      CALL1(SYS_set_thread_area, other);
      return fine + 2 * (__get_tp() == (unsigned long)other);
    }"""
    assert codes(explore(tmp_path, body)) == {3: 1}


SIZED = ("--sym-files", "1", "5", "--sym-stdin", "5", "--sym-file-size", "symbolic")


def test_a_file_of_any_length_is_read_on_one_path(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char buffer[8];
      struct stat status;
      int fd = CALL2(SYS_open, "A", O_RDONLY);
      long n = CALL3(SYS_read, fd, buffer, sizeof buffer);
      if (CALL2(SYS_fstat, fd, &status) || status.st_size != n) return 100;
      if (CALL3(SYS_read, fd, buffer, sizeof buffer)) return 101;
      return n == 0 ? 1 : n == 3 && buffer[2] == 'x' ? 2 : 3;
    }"""
    outcome = explore(tmp_path, body, *SIZED)
    found = codes(outcome)
    assert found[1] == 1 and set(found) <= {1, 2, 3} and found.total() <= 4
    for test in outcome.collector.tests:
        objects = dict(test.objects)
        size = int.from_bytes(objects["A_data_stat"][48:56], "little")
        assert len(objects["A_data"]) == size <= 5


def test_a_file_of_any_length_is_read_in_parts(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char buffer[2];
      int total = 0, n;
      while ((n = CALL3(SYS_read, 0, buffer, 2)) > 0) total += n;
      return total;
    }"""
    outcome = explore(tmp_path, body, *SIZED)
    assert outcome.result.complete and not outcome.errors()
    # By the number of whole parts, with and without a rest: 0, 1 or 2, 3 or 4, 5 bytes.
    assert outcome.result.paths_exit == 4


def test_other_calls_make_the_length_of_a_file_a_number(tmp_path: Path) -> None:
    body = """
    int main(void) {
      int fd = CALL2(SYS_open, "A", O_RDWR);
      return CALL3(SYS_lseek, fd, 0, SEEK_END);
    }"""
    assert codes(explore(tmp_path, body, *SIZED)) == dict.fromkeys(range(6), 1)


def test_a_buffer_that_is_too_short_for_some_lengths(tmp_path: Path) -> None:
    body = """
    int main(void) {
      char buffer[3];
      return CALL3(SYS_read, 0, buffer, 8);
    }"""
    outcome = explore(tmp_path, body, *SIZED)
    assert [kind for kind, _ in outcome.errors()] == ["out-of-bounds"]
    assert outcome.result.complete
