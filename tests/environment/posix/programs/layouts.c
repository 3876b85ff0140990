/* Structures that the kernel fills in, read by the C declarations of them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include "kernel.h"

static void show_stat(const char *what, struct stat *s) {
  put_text(what);
  put_text("\n");
  show("mode", s->st_mode);
  show("size", S_ISDIR(s->st_mode) ? 0 : s->st_size);
  show("links", S_ISDIR(s->st_mode) ? 0 : s->st_nlink);
  show("blksize", s->st_blksize);
  show("rdev", s->st_rdev);
  show("same times", s->st_mtim.tv_sec == s->st_ctim.tv_sec);
  show("ino", s->st_ino != 0);
  show("nanoseconds", s->st_mtim.tv_nsec < 1000000000);
}

int main(void) {
  struct stat s, t;
  long fd = CALL3(SYS_open, "f", O_CREAT | O_RDWR, 0640);
  CALL3(SYS_write, fd, "hello", 5);
  show("fstat", CALL2(SYS_fstat, fd, &s));
  show_stat("file", &s);
  show("link", CALL2(SYS_link, "f", "g"));
  show("symlink", CALL2(SYS_symlink, "f", "l"));
  show("lstat", CALL2(SYS_lstat, "l", &t));
  show("link mode", t.st_mode);
  show("link size", t.st_size);
  show("stat", CALL2(SYS_stat, "l", &t));
  show_stat("through the link", &t);
  show("one inode", s.st_ino == t.st_ino && s.st_dev == t.st_dev);
  show("newfstatat", CALL4(SYS_newfstatat, AT_FDCWD, "g", &t, 0));
  show_stat("g", &t);
  show("empty path", CALL4(SYS_newfstatat, fd, "", &t, AT_EMPTY_PATH));
  show("size", t.st_size);

  struct timespec times[2] = {{1000, 7}, {2000, 8}};
  show("utimensat", CALL4(SYS_utimensat, AT_FDCWD, "f", times, 0));
  CALL2(SYS_stat, "f", &t);
  show("atime", t.st_atim.tv_sec);
  show("atime ns", t.st_atim.tv_nsec);
  show("mtime", t.st_mtim.tv_sec);
  show("mtime ns", t.st_mtim.tv_nsec);
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_nsec = 1000000000;
  show("bad time", CALL4(SYS_utimensat, AT_FDCWD, "f", times, 0));

  struct statx {
    unsigned mask, blksize;
    unsigned long attributes;
    unsigned nlink, uid, gid;
    unsigned short mode, pad;
    unsigned long ino, size, blocks, attributes_mask;
    struct { long sec; unsigned nsec; int pad; } atime, btime, ctime, mtime;
    unsigned rdev_major, rdev_minor, dev_major, dev_minor;
    unsigned long spare[14];
  } x;
  show("sizeof statx", sizeof x);
  show("statx", CALL5(SYS_statx, AT_FDCWD, "f", 0, 0x7ff, &x));
  show("mode", x.mode);
  show("size", x.size);
  show("links", x.nlink);
  show("mtime", x.mtime.sec);
  show("mtime ns", x.mtime.nsec);
  show("atime", x.atime.sec);
  show("same inode", x.ino == t.st_ino);
  show("statx null", CALL5(SYS_statx, AT_FDCWD, "/dev/null", 0, 0x7ff, &x));
  show("major", x.rdev_major);
  show("minor", x.rdev_minor);
  CALL2(SYS_stat, "/dev/null", &t);
  show_stat("null", &t);

  CALL2(SYS_mkdir, "d", 0755);
  CALL2(SYS_mkdir, "d/sub", 0700);
  CALL3(SYS_close, CALL3(SYS_open, "d/a-longer-name", O_CREAT | O_WRONLY, 0600), 0, 0);
  CALL2(SYS_symlink, "nowhere", "d/link");
  long dir = CALL3(SYS_open, "d", O_RDONLY | O_DIRECTORY, 0);
  char buffer[1024];
  long n = CALL3(SYS_getdents64, dir, buffer, sizeof buffer);
  long sum = 0, count = 0, kinds = 0;
  for (long at = 0; at < n;) {
    struct dirent *entry = (struct dirent *)(buffer + at);
    count++;
    kinds += entry->d_type;
    for (char *c = entry->d_name; *c; c++) sum += *c;
    sum += entry->d_ino == 0;
    at += entry->d_reclen;
  }
  show("bytes", n);
  show("entries", count);
  show("kinds", kinds);
  show("names", sum);
  show("end", CALL3(SYS_getdents64, dir, buffer, sizeof buffer));
  show("rewind", CALL3(SYS_lseek, dir, 0, SEEK_SET));
  show("too small", CALL3(SYS_getdents64, dir, buffer, 10));
  show("not a directory", CALL3(SYS_getdents64, fd, buffer, sizeof buffer));

  struct utsname u;
  show("uname", CALL1(SYS_uname, &u));
  put_text(u.sysname);
  put_text(u.machine);
  put_text("\n");
  struct rlimit limit = {64, 128}, old;
  show("prlimit", CALL4(SYS_prlimit64, 0, RLIMIT_CORE, 0, &old));
  limit.rlim_max = old.rlim_max;
  limit.rlim_cur = 0;
  show("set", CALL4(SYS_prlimit64, 0, RLIMIT_CORE, &limit, 0));
  show("get", CALL2(SYS_getrlimit, RLIMIT_CORE, &old));
  show("limit", old.rlim_cur);
  struct sysinfo info;
  show("sysinfo", CALL1(SYS_sysinfo, &info));
  show("unit", info.mem_unit);
  show("memory", info.totalram > info.freeram);
  struct statfs fs;
  show("statfs", CALL2(SYS_statfs, ".", &fs));
  show("names", fs.f_namelen);
  show("block", fs.f_bsize);
  struct termios term;
  show("terminal", CALL3(SYS_ioctl, fd, TCGETS, &term));
  struct timespec now, later;
  show("clock", CALL2(SYS_clock_gettime, CLOCK_MONOTONIC, &now));
  CALL2(SYS_clock_gettime, CLOCK_MONOTONIC, &later);
  show("forward", later.tv_sec > now.tv_sec || (later.tv_sec == now.tv_sec && later.tv_nsec > now.tv_nsec));
  struct timeval day;
  show("day", CALL2(SYS_gettimeofday, &day, 0));
  show("after 2020", day.tv_sec > 1577836800 && day.tv_usec < 1000000);
  struct rusage usage;
  show("usage", CALL2(SYS_getrusage, 0, &usage));
  struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } act = {(void *)1, 0, 0, 5}, was;
  show("sigaction", CALL4(SYS_rt_sigaction, 10, &act, &was, 8));
  show("default", (long)was.handler);
  show("again", CALL4(SYS_rt_sigaction, 10, 0, &was, 8));
  show("ignored", (long)was.handler);
  show("mask", was.mask);
  show("kill", CALL4(SYS_rt_sigaction, 9, &act, 0, 8));
  unsigned long mask = 0x200, previous = 7;
  show("block", CALL4(SYS_rt_sigprocmask, 0, &mask, &previous, 8));
  show("previous", previous);
  show("unblock", CALL4(SYS_rt_sigprocmask, 1, &mask, &previous, 8));
  show("previous", previous);
  show("ignored signal", CALL2(SYS_tkill, __syscall0(SYS_gettid), 10));
  return 0;
}
