/* The machine as the engine's model of the kernel has it: clock, process, system, random bytes, metadata.
 *
 * A static program takes these functions before those of the C library, so that a native run sees the same
 * values as the explored one. The numbers come from the model by macros: MODEL_START (seconds at which the
 * clock starts), MODEL_PID, MODEL_PARENT, MODEL_DEVICE. What is known of files before the program starts is in
 * the file that ANABRANCH_NODES names, a line for each: device, inode, number in the model, times of access,
 * modification and change in nanoseconds; "fd N" stands for the first two of an open stream; "next N" is the number of a new file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SAME(name) __attribute__((alias(#name)))
enum { CLOCKS = 12, BLOCK = 4096 };
static const long SECOND = 1000000000;

static long kernel6(long n, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static long kernel(long n, long a, long b, long c, long d) { return kernel6(n, a, b, c, d, 0, 0); }

static long answer(long result) {
  if (result >= 0) return result;
  errno = (int)-result;
  return -1;
}

/* ---- the clock: a millisecond a look, and what the program sleeps */

static long now = MODEL_START * 1000l;

static int wall(clockid_t clock) { return clock == 0 || clock == 5 || clock == 11; }

static long shown(clockid_t clock) { return wall(clock) ? now : now - MODEL_START * 1000l + 1000; }

int __clock_gettime(clockid_t clock, struct timespec *to) {
  if (clock < 0 || clock >= CLOCKS) return (int)answer(-EINVAL);
  now++;
  to->tv_sec = shown(clock) / 1000;
  to->tv_nsec = shown(clock) % 1000 * 1000000;
  return 0;
}
int clock_gettime(clockid_t clock, struct timespec *to) SAME(__clock_gettime);

int clock_getres(clockid_t clock, struct timespec *to) {
  if (clock < 0 || clock >= CLOCKS) return (int)answer(-EINVAL);
  if (to) *to = (struct timespec){0, 1};
  return 0;
}

int __clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
  (void)left;
  if (clock == CLOCK_THREAD_CPUTIME_ID || clock < 0 || clock >= CLOCKS) return EINVAL;
  if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= SECOND) return EINVAL;
  long seconds = wanted->tv_sec < 1l << 40 ? wanted->tv_sec : 1l << 40;
  long time = seconds * 1000 + wanted->tv_nsec / 1000000;
  if (!(flags & TIMER_ABSTIME)) now += time;
  else if (time > shown(clock)) now += time - shown(clock);
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
    SAME(__clock_nanosleep);

clock_t times(struct tms *to) {
  if (to) memset(to, 0, sizeof *to);
  now++;
  return (now - MODEL_START * 1000l) / 10;
}

/* ---- the process: one, with a parent, and nobody else to be signalled */

pid_t getpid(void) { return MODEL_PID; }
pid_t gettid(void) { return MODEL_PID; }
pid_t getpgrp(void) { return MODEL_PID; }
pid_t getppid(void) { return MODEL_PARENT; }

static pid_t group_of(pid_t pid) { return pid == 0 || pid == MODEL_PID ? MODEL_PID : (pid_t)answer(-ESRCH); }
pid_t getpgid(pid_t pid) { return group_of(pid); }
pid_t getsid(pid_t pid) { return group_of(pid); }

int kill(pid_t pid, int number) {
  if (pid != 0 && pid != MODEL_PID && pid != -MODEL_PID) return (int)answer(-ESRCH);
  return (int)answer(kernel(SYS_kill, kernel(SYS_getpid, 0, 0, 0, 0), number, 0, 0));
}
int killpg(pid_t group, int number) {
  if (group < 0) return (int)answer(-EINVAL);
  return kill(-group, number);
}

/* Another program is not run, as in the model. */
int execve(const char *path, char *const arguments[], char *const environment[]) {
  (void)arguments, (void)environment;
  struct stat st;
  long result = kernel(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0);
  if (result == 0) result = S_ISDIR(st.st_mode) ? -EACCES : kernel(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0);
  return (int)answer(result ? result : -ENOSYS);
}

static long first_user, first_group; /* whoever replays stands for the model's superuser */
uid_t getuid(void) { long id = kernel(SYS_getuid, 0, 0, 0, 0); return id == first_user ? 0 : (uid_t)id; }
uid_t geteuid(void) { long id = kernel(SYS_geteuid, 0, 0, 0, 0); return id == first_user ? 0 : (uid_t)id; }
gid_t getgid(void) { long id = kernel(SYS_getgid, 0, 0, 0, 0); return id == first_group ? 0 : (gid_t)id; }
gid_t getegid(void) { long id = kernel(SYS_getegid, 0, 0, 0, 0); return id == first_group ? 0 : (gid_t)id; }

int getgroups(int room, gid_t *groups) {
  if (room < 0) return (int)answer(-EINVAL);
  if (room > 0) groups[0] = getgid();
  return 1;
}

int getrusage(int who, struct rusage *to) {
  if (who < -1 || who > 1) return (int)answer(-EINVAL);
  memset(to, 0, 144);
  return 0;
}

int getpriority(int which, id_t who) {
  (void)who;
  return which < 0 || which > 2 ? (int)answer(-EINVAL) : 0;
}

/* ---- the system */

int uname(struct utsname *to) {
  *to = (struct utsname){"Linux", "localhost", "6.1.0", "#1 SMP", "x86_64", "(none)"};
  return 0;
}

int __lsysinfo(struct sysinfo *to) {
  *to = (struct sysinfo){
      .uptime = 1000, .totalram = 1ul << 31, .freeram = 1ul << 30, .procs = 1, .mem_unit = 1};
  return 0;
}
int sysinfo(struct sysinfo *to) SAME(__lsysinfo);

/* The generator is splitmix64; each call starts a sequence of its own. */
ssize_t getrandom(void *to, size_t size, unsigned flags) {
  static uint64_t calls;
  uint64_t state = calls++ << 32;
  (void)flags;
  if (size > 1u << 20) size = 1u << 20;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = state += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    word ^= word >> 31;
    memcpy((char *)to + i, &word, size - i < 8 ? size - i : 8);
  }
  return (ssize_t)size;
}

/* ---- metadata: numbers and times as in the model */

static struct node { uint64_t device, inode, number; long access, modified, change; } nodes[256];
static size_t node_count;
static uint64_t next_number = 1000;
static struct timespec began; /* by the clock of the host */

static struct node *node_of(uint64_t device, uint64_t inode) {
  for (size_t i = 0; i < node_count; i++)
    if (nodes[i].device == device && nodes[i].inode == inode) return nodes + i;
  if (node_count == sizeof nodes / sizeof *nodes) return 0;
  nodes[node_count] = (struct node){device, inode, next_number++, 0, 0, 0};
  return nodes + node_count++;
}

/* Times of files come from the host's coarse clock or later, `began` is of the coarse one. Of what existed before, the times of
 * access and modification were set to those of the model; that of the last change cannot be set. */
static long nanoseconds(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }
static struct timespec timespec(long time) { return (struct timespec){time / SECOND, time % SECOND}; }
static int during(const struct timespec *time) {
  struct timespec today;
  kernel(SYS_clock_gettime, CLOCK_REALTIME, (long)&today, 0, 0);
  return nanoseconds(&began) <= nanoseconds(time) && nanoseconds(time) <= nanoseconds(&today);
}
static void shift(struct timespec *time, long before) {
  if (nanoseconds(time) != before && during(time)) *time = timespec(now * 1000000);
}

static void as_modelled(struct stat *st) {
  static const struct timespec start = {MODEL_START, 0};
  struct node *node = node_of(st->st_dev, st->st_ino);
  int known = node && node->access;
  if (st->st_uid == first_user) st->st_uid = 0;
  if (st->st_gid == first_group) st->st_gid = 0;
  if (S_ISDIR(st->st_mode)) st->st_size = BLOCK, st->st_blocks = 8;
  else if (!S_ISREG(st->st_mode)) st->st_blocks = 0;
  st->st_dev = MODEL_DEVICE;
  st->st_blksize = BLOCK;
  if (node) st->st_ino = node->number;
  if (known && !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) {
    st->st_atim = st->st_mtim = st->st_ctim = start;
    return;
  }
  long access = known ? node->access : -1;
  /* reading changes the time of access natively, not in the model */
  if (known && during(&st->st_atim)) st->st_atim = timespec(access);
  if (known && nanoseconds(&st->st_ctim) == node->change) st->st_ctim = start;
  shift(&st->st_atim, access);
  shift(&st->st_mtim, known ? node->modified : -1);
  shift(&st->st_ctim, -1);
}

int __fstatat(int directory, const char *restrict path, struct stat *restrict to, int flags) {
  long result = kernel(SYS_newfstatat, directory, (long)path, (long)to, flags);
  if (result == 0) as_modelled(to);
  return (int)answer(result);
}
int fstatat(int directory, const char *restrict path, struct stat *restrict to, int flags) SAME(__fstatat);

int __fstat(int file, struct stat *to) {
  if (file < 0) return (int)answer(-EBADF);
  long result = kernel(SYS_fstat, file, (long)to, 0, 0);
  if (result == 0) as_modelled(to);
  return (int)answer(result);
}
int fstat(int file, struct stat *to) SAME(__fstat);

int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict to) {
  struct stat st;
  (void)mask;
  if (__fstatat(directory, path, &st, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))) return -1;
  memset(to, 0, sizeof *to);
  to->stx_mask = STATX_BASIC_STATS;
  to->stx_blksize = (uint32_t)st.st_blksize;
  to->stx_nlink = (uint32_t)st.st_nlink;
  to->stx_uid = st.st_uid;
  to->stx_gid = st.st_gid;
  to->stx_mode = (uint16_t)st.st_mode;
  to->stx_ino = st.st_ino;
  to->stx_size = (uint64_t)st.st_size;
  to->stx_blocks = (uint64_t)st.st_blocks;
  to->stx_atime.tv_sec = st.st_atim.tv_sec;
  to->stx_atime.tv_nsec = (uint32_t)st.st_atim.tv_nsec;
  to->stx_mtime.tv_sec = st.st_mtim.tv_sec;
  to->stx_mtime.tv_nsec = (uint32_t)st.st_mtim.tv_nsec;
  to->stx_ctime.tv_sec = st.st_ctim.tv_sec;
  to->stx_ctime.tv_nsec = (uint32_t)st.st_ctim.tv_nsec;
  to->stx_rdev_major = major(st.st_rdev);
  to->stx_rdev_minor = minor(st.st_rdev);
  to->stx_dev_major = major(st.st_dev);
  to->stx_dev_minor = minor(st.st_dev);
  return 0;
}

/* ---- calls by number */

long syscall(long n, ...) {
  long a[6];
  va_list list;
  va_start(list, n);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  switch (n) {
  case SYS_clock_gettime: return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
  case SYS_time: return time((time_t *)a[0]);
  case SYS_getpid: return getpid();
  case SYS_gettid: return gettid();
  case SYS_getppid: return getppid();
  case SYS_getuid: return getuid();
  case SYS_geteuid: return geteuid();
  case SYS_getgid: return getgid();
  case SYS_getegid: return getegid();
  case SYS_kill: return kill((pid_t)a[0], (int)a[1]);
  case SYS_tgkill: return a[1] == MODEL_PID ? kill((pid_t)a[0], (int)a[2]) : answer(-ESRCH);
  case SYS_getrandom: return getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
  case SYS_uname: return uname((struct utsname *)a[0]);
  case SYS_sysinfo: return sysinfo((struct sysinfo *)a[0]);
  case SYS_newfstatat: return fstatat((int)a[0], (const char *)a[1], (struct stat *)a[2], (int)a[3]);
  case SYS_fstat: return fstat((int)a[0], (struct stat *)a[1]);
  }
  return answer(kernel6(n, a[0], a[1], a[2], a[3], a[4], a[5]));
}

static void enter(char *line) {
  struct stat st;
  char *at = line;
  if (!strncmp(line, "next ", 5)) {
    next_number = strtoul(line + 5, 0, 10);
    return;
  }
  if (!strncmp(line, "fd ", 3)) {
    if (kernel(SYS_fstat, strtol(line + 3, &at, 10), (long)&st, 0, 0)) return;
  } else {
    st.st_dev = strtoul(line, &at, 10);
    st.st_ino = strtoul(at, &at, 10);
  }
  struct node *node = node_of(st.st_dev, st.st_ino);
  if (!node || node->access) return;
  node->number = strtoul(at, &at, 10);
  node->access = strtol(at, &at, 10);
  node->modified = strtol(at, &at, 10);
  node->change = strtol(at, &at, 10);
}

__attribute__((constructor(2))) static void start_model(void) {
  static char text[1 << 14];
  const char *name = getenv("ANABRANCH_NODES");
  first_user = kernel(SYS_getuid, 0, 0, 0, 0);
  first_group = kernel(SYS_getgid, 0, 0, 0, 0);
  kernel(SYS_clock_gettime, CLOCK_REALTIME_COARSE, (long)&began, 0, 0);
  if (!name) return;
  int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    for (char *line = text, *end; *line; line = end) {
      end = strchr(line, '\n');
      end = end ? (*end = 0, end + 1) : line + strlen(line);
      enter(line);
    }
  }
  unsetenv("ANABRANCH_NODES");
}
