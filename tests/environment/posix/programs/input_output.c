/* Descriptors and contents: what each call returns, and what the files hold then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "kernel.h"

static char buffer[256];

static void show_file(const char *name) {
  long fd = CALL3(SYS_open, name, O_RDONLY, 0);
  long n = CALL3(SYS_read, fd, buffer, 255);
  put_text(name);
  put_text(": ");
  for (long i = 0; i < n; i++) {
    char c = buffer[i] ? buffer[i] : '.';
    CALL3(SYS_write, 1, &c, 1);
  }
  put_text("\n");
  show("close", CALL1(SYS_close, fd));
}

int main(void) {
  long fd = CALL3(SYS_open, "f", O_CREAT | O_RDWR | O_EXCL, 0644);
  show("write", CALL3(SYS_write, fd, "0123456789", 10));
  struct iovec out[3] = {{"ab", 2}, {"", 0}, {"cde", 3}};
  show("writev", CALL3(SYS_writev, fd, out, 3));
  show("exists", CALL3(SYS_open, "f", O_CREAT | O_EXCL, 0644));
  show("back", CALL3(SYS_lseek, fd, -6, SEEK_CUR));
  char one[4] = "....", two[8] = "........";
  struct iovec in[2] = {{one, 3}, {two, 8}};
  show("readv", CALL3(SYS_readv, fd, in, 2));
  CALL3(SYS_write, 1, one, 4);
  CALL3(SYS_write, 1, two, 8);
  show(" end", CALL3(SYS_read, fd, buffer, 5));
  show("negative", CALL3(SYS_lseek, fd, -1, SEEK_SET));
  show("whence", CALL3(SYS_lseek, fd, 0, 9));
  show("data", CALL3(SYS_lseek, fd, 99, SEEK_DATA));
  show("gap", CALL3(SYS_lseek, fd, 20, SEEK_SET));
  show("write", CALL3(SYS_write, fd, "!", 1));
  show_file("f");
  show("pwrite", CALL4(SYS_pwrite64, fd, "XY", 2, 4));
  show("offset", CALL3(SYS_lseek, fd, 0, SEEK_CUR));
  show("pread", CALL4(SYS_pread64, fd, buffer, 4, 3));
  CALL3(SYS_write, 1, buffer, 4);
  show(" truncate", CALL2(SYS_ftruncate, fd, 8));
  show_file("f");
  long again = CALL1(SYS_dup, fd);
  show("dup", again - fd);
  CALL3(SYS_lseek, again, 2, SEEK_SET);
  show("shared offset", CALL3(SYS_lseek, fd, 0, SEEK_CUR));
  show("dup2", CALL2(SYS_dup2, fd, 40));
  show("dup2 self", CALL2(SYS_dup2, 40, 40));
  show("dup2 bad", CALL2(SYS_dup2, 99, 99));
  show("dupfd", CALL3(SYS_fcntl, fd, F_DUPFD, 30));
  show("cloexec", CALL3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 30));
  show("getfd", CALL3(SYS_fcntl, 31, F_GETFD, 0));
  show("setfd", CALL3(SYS_fcntl, 31, F_SETFD, 0));
  show("getfd", CALL3(SYS_fcntl, 31, F_GETFD, 0));
  show("getfl", CALL3(SYS_fcntl, fd, F_GETFL, 0) & ~0100000);
  show("append", CALL3(SYS_fcntl, fd, F_SETFL, O_APPEND));
  show("shared flag", CALL3(SYS_fcntl, 40, F_GETFL, 0) & ~0100000);
  show("appended", CALL3(SYS_write, fd, "end", 3));
  show_file("f");
  long only = CALL3(SYS_open, "f", O_WRONLY | O_TRUNC, 0);
  show("write only", CALL3(SYS_read, only, buffer, 1));
  long reading = CALL3(SYS_open, "f", O_RDONLY, 0);
  show("read only", CALL3(SYS_write, reading, "x", 1));
  show("truncate read only", CALL2(SYS_ftruncate, reading, 1));
  show("close", CALL1(SYS_close, only));
  show("closed", CALL1(SYS_close, only));
  show("bad", CALL3(SYS_read, 77, buffer, 1));

  int ends[2];
  show("pipe", CALL1(SYS_pipe, ends));
  show("write", CALL3(SYS_write, ends[1], "pipe!", 5));
  show("read", CALL3(SYS_read, ends[0], buffer, 3));
  struct pollfd ready[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT | POLLIN, 0}};
  show("poll", CALL3(SYS_poll, ready, 2, 0));
  show("in", ready[0].revents);
  show("out", ready[1].revents);
  show("seek", CALL3(SYS_lseek, ends[0], 0, SEEK_SET));
  show("wrong end", CALL3(SYS_read, ends[1], buffer, 3));
  CALL1(SYS_close, ends[1]);
  show("rest", CALL3(SYS_read, ends[0], buffer, 9));
  show("end", CALL3(SYS_read, ends[0], buffer, 9));
  CALL1(SYS_close, ends[0]);
  show("nonblocking", CALL2(SYS_pipe2, ends, O_NONBLOCK));
  show("empty", CALL3(SYS_read, ends[0], buffer, 1));

  long null = CALL3(SYS_open, "/dev/null", O_RDWR, 0);
  show("null write", CALL3(SYS_write, null, "abc", 3));
  show("null read", CALL3(SYS_read, null, buffer, 3));
  show("null seek", CALL3(SYS_lseek, null, 5, SEEK_SET));
  long zero = CALL3(SYS_open, "/dev/zero", O_RDONLY, 0);
  buffer[2] = 'x';
  show("zero", CALL3(SYS_read, zero, buffer, 3));
  show("is zero", buffer[2]);
  show("full", CALL3(SYS_write, CALL3(SYS_open, "/dev/full", O_WRONLY, 0), "a", 1));

  long source = CALL3(SYS_open, "src", O_CREAT | O_RDWR, 0600);
  CALL3(SYS_write, source, "copy me please", 14);
  CALL3(SYS_lseek, source, 0, SEEK_SET);
  long target = CALL3(SYS_open, "dst", O_CREAT | O_WRONLY, 0600);
  long offset = 5;
  show("sendfile", CALL4(SYS_sendfile, target, source, &offset, 2));
  show("offset", offset);
  show("sendfile", CALL4(SYS_sendfile, target, source, 0, 4));
  show_file("dst");
  show("unlink", CALL1(SYS_unlink, "src"));
  show("still there", CALL3(SYS_read, source, buffer, 99));
  show("gone", CALL3(SYS_open, "src", O_RDONLY, 0));
  show("umask", CALL1(SYS_umask, 077));
  CALL1(SYS_close, CALL3(SYS_open, "private", O_CREAT | O_WRONLY, 0666));
  struct stat s;
  CALL2(SYS_stat, "private", &s);
  show("mode", s.st_mode);
  show("access", CALL2(SYS_access, "private", 4));
  show("not executable", CALL2(SYS_access, "private", 1));
  show("chmod", CALL2(SYS_chmod, "private", 0755));
  show("executable", CALL2(SYS_access, "private", 1));
  show("through /dev/stdout", CALL3(SYS_write, CALL3(SYS_open, "/dev/fd", O_PATH, 0), "x", 1) < 0);
  show("chdir", CALL1(SYS_chdir, "private"));
  CALL2(SYS_mkdir, "d", 0700);
  show("chdir", CALL1(SYS_chdir, "d"));
  show("parent", CALL3(SYS_open, "../f", O_RDONLY, 0) > 0);
  show("wait", CALL4(SYS_wait4, -1, 0, 0, 0));
  show("null path", CALL3(SYS_open, 0, O_RDONLY, 0));
  return 7;
}
