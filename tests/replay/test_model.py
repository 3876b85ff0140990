"""Natively a program finds the clock, process, system and files of the model."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.cli.main import main
from anabranch.replay.refusal import program, ranges

SHOWS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void show_time(const char *what, const struct timespec *t) {
  printf("%s %lld.%09ld\n", what, (long long)t->tv_sec, t->tv_nsec);
}
static void show_file(const char *what, const struct stat *st) {
  printf("%s %lu %lu %o %lu %u %u %lu %ld %ld %ld\n", what, st->st_dev, st->st_ino, st->st_mode, st->st_nlink,
         st->st_uid, st->st_gid, st->st_rdev, (long)st->st_size, (long)st->st_blksize, (long)st->st_blocks);
  show_time(" access", &st->st_atim);
  show_time(" modified", &st->st_mtim);
  show_time(" changed", &st->st_ctim);
}
static void clocks(void) {
  struct timespec t;
  struct timeval v;
  struct tms used;
  for (int clock = -1; clock < 13; clock++)
    if (clock_gettime(clock, &t)) printf("clock %d: %d\n", clock, errno);
    else show_time("clock", &t);
  printf("%ld\n", (long)time(0));
  gettimeofday(&v, 0);
  printf("%ld %ld %ld\n", (long)v.tv_sec, (long)v.tv_usec, (long)clock());
  printf("%ld\n", (long)times(&used));
  sleep(100);
  usleep(2500000);
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_sec += 30;
  printf("%d\n", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0));
  t.tv_nsec = -1;
  printf("%d\n", nanosleep(&t, 0));
  clock_gettime(CLOCK_REALTIME, &t);
  show_time("later", &t);
  time_t now = time(0);
  fputs(ctime(&now), stdout);
  clock_getres(CLOCK_REALTIME_COARSE, &t);
  show_time("resolution", &t);
}
static void process(void) {
  printf("%d %d %d %d %ld\n", getpid(), getppid(), getpgrp(), getsid(0), syscall(SYS_gettid));
  printf("%d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
  gid_t groups[8];
  printf("%d groups\n", getgroups(8, groups));
  printf("%d %d\n", kill(1, 0), errno);
  printf("%d\n", kill(getpid(), 0));
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%lu %lu\n", limit.rlim_cur, limit.rlim_max);
  struct rusage usage;
  printf("%d %ld\n", getrusage(RUSAGE_SELF, &usage), usage.ru_maxrss);
  printf("%d\n", getpriority(PRIO_PROCESS, 0));
  printf("%ld processors\n", sysconf(_SC_NPROCESSORS_ONLN));
  printf("%d %d\n", fork(), errno);
  printf("%d %d\n", socket(AF_INET, SOCK_STREAM, 0), errno);
  printf("%d %d\n", execl("/nothing", "nothing", (char *)0), errno);
  printf("%d %d\n", execl("/tmp", "tmp", (char *)0), errno);
}
static void machine(void) {
  struct utsname name;
  struct sysinfo info;
  unsigned char bytes[21];
  uname(&name);
  printf("%s %s %s %s %s\n", name.sysname, name.nodename, name.release, name.version, name.machine);
  sysinfo(&info);
  printf("%ld %lu %lu %u\n", info.uptime, info.totalram, info.freeram, info.mem_unit);
  printf("%ld pages\n", sysconf(_SC_PHYS_PAGES));
  for (int i = 0; i < 3; i++) {
    memset(bytes, 0, sizeof bytes);
    printf("%ld", (long)getrandom(bytes, sizeof bytes - i, 0));
    for (unsigned j = 0; j < sizeof bytes; j++) printf(" %d", bytes[j]);
    puts("");
  }
  srand(time(0));
  printf("%d\n", rand());
}
static void files(void) {
  static const char *const names[] = {"/", "/tmp", "/home", "/home/user", ".", "given", "/dev/null", "none"};
  struct stat st;
  char buffer[8];
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (stat(names[i], &st)) printf("%s: %d\n", names[i], errno);
    else show_file(names[i], &st);
  int a = open("A", O_RDONLY), new = open("new", O_CREAT | O_RDWR, 0666);
  if (read(a, buffer, 2) < 0 || write(new, "xyz", 3) < 0) puts("no");
  fstat(a, &st);
  printf("%lu %lu %ld\n", st.st_dev, st.st_ino, (long)st.st_ctim.tv_sec);
  printf("%d\n", st.st_atim.tv_sec == 0xffffffff && st.st_mtim.tv_sec == 0xfffffffe);
  fstat(new, &st);
  show_file("new", &st);
  for (int i = 0; i < 3; i++)
    if (fstat(i, &st)) printf("no %d\n", i);
    else show_file("stream", &st);
  struct timespec times[2] = {{5, 6}, {7, 8}};
  futimens(new, times);
  fstat(new, &st);
  show_file("set", &st);
  chmod("given", 0604);
  stat("given", &st);
  show_file("given", &st);
  puts(getcwd(0, 0));
}
int main(int argc, char **argv) {
  clocks();
  process();
  machine();
  files();
  return argc > 1 && argv[1][0] == 'x';
}
"""


def replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, *words: str) -> dict[str, object]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(source)
    (tmp_path / "given").write_text("some text\n")
    command = ["run", "p.c", "--libc", "musl", "--file", "given", "--tests", "all", "--output-dir", "out"]
    main([*command, "--replay", "-q", *words])
    document: dict[str, object] = json.loads((tmp_path / "out" / "replay.json").read_text())
    return document


def test_all_that_the_model_tells_is_so_natively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = replayed(tmp_path, monkeypatch, SHOWS, "--sym-arg", "1", "--sym-files", "1", "4")
    assert document["tests"] == document["compared"] == 3
    assert document["differ"] == []


def test_ranges_of_numbers() -> None:
    assert ranges([3, 1, 2, 7, 9, 8, 3]) == [(1, 3), (7, 9)]
    assert len(program([0, 1, 5])) == 8 * (4 + 4 * 2 + 1)


def test_calls_that_are_not_modelled_are_refused() -> None:
    code = (
        "from anabranch.replay.refusal import load, refuse_unmodelled\n"
        "import socket, sys\n"
        "load()\n"
        "if not refuse_unmodelled(): sys.exit(77)\n"
        "try: socket.socket()\n"
        "except OSError as error: sys.exit(error.errno)\n"
    )
    socket.socket().close()
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode in (38, 77)
