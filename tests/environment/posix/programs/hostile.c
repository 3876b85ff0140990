/* Tries to change the machine that it runs on: files, processes, the network. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include "kernel.h"

#ifndef VICTIM
#define VICTIM "/tmp/victim"
#endif

int main(void) {
#ifndef HARMLESS
  long fd = CALL3(SYS_open, VICTIM, O_RDWR | O_CREAT | O_TRUNC, 0666);
  CALL3(SYS_write, fd, "overwritten", 11);
  CALL3(SYS_open, VICTIM ".new", O_CREAT | O_WRONLY, 0600);
  CALL2(SYS_rename, VICTIM, VICTIM ".moved");
  CALL1(SYS_unlink, VICTIM);
  CALL2(SYS_mkdir, VICTIM ".dir", 0777);
  CALL2(SYS_chmod, VICTIM, 0777);
  CALL2(SYS_truncate, VICTIM, 0);
  CALL2(SYS_symlink, "/", VICTIM ".link");
  if (__syscall0(SYS_fork) == 0) return 1;
  if (__syscall0(SYS_vfork) == 0) return 1;
  char *none[1] = {0};
  CALL3(SYS_execve, "/bin/true", none, none);
  long s = CALL3(SYS_socket, 2, 1, 0);
  char address[16] = {2, 0, 0, 9, 127, 0, 0, 1};
  if (CALL3(SYS_connect, s, address, 16) == 0) return 1;
  if (CALL2(SYS_kill, __syscall0(SYS_getppid), 15) == 0) return 1;
  if (CALL2(SYS_kill, -1, 9) == 0) return 1;
  CALL1(SYS_chdir, "/");
  CALL1(SYS_umask, 0);
  if (CALL1(SYS_reboot, 0) == 0) return 1;
#endif
  return 0;
}
