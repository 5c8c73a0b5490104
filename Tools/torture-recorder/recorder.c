// Sits between a program and the kernel, preloaded (LD_PRELOAD, Linux only): records every call
// that changes what a disk holds below one directory, in order and with its bytes, so that what a
// loss of power could leave can be put together afterwards. On demand it kills the process at the
// nth such call, or makes that call fail.
//
//   TORTURE_ROOT       the directory; without it nothing happens
//   TORTURE_RECORDING  the file that the calls are appended to; may be absent
//   TORTURE_MARKS      a file whose writes are recorded as marks: what the program says about itself
//   TORTURE_KILL       N:before, N:half or N:after
//   TORTURE_FAULT      N:EIO, ENOSPC, SHORT or EINTR:once or on (from then on)
//
// A counted call creates, writes, truncates, syncs, renames, links or removes. `lock.mdb` is left
// out: LMDB writes it through a memory map, and recreates it after a start of the system.
//
// A record is a struct record, the two paths, and the bytes of a write or mark; little-endian.
// Calls of several processes are kept in order by a lock on the recording.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN = 1, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, RMDIR, MARK };
enum flag { CREATED = 1, SYNCED = 2, FAILED = 4, DIRECTORY = 8, COUNTED = 16 };

struct record {
  uint32_t magic;
  uint8_t kind, flags;
  uint16_t path_count, target_count, unused;
  uint32_t process;
  uint64_t inode, offset, count;
};

enum { MAGIC = 0x45525554, DESCRIPTORS = 4096, INTERRUPTIONS = 16 };

static struct { char *path; uint8_t kind, flags; uint64_t inode; } files[DESCRIPTORS];
static const char *root, *marks;
static size_t root_count;
static int recording = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static long calls, kill_at, fault_at;
static enum { BEFORE, HALF, AFTER } kill_when;
static int fault, fault_lasts, interruptions;
enum { SHORT = -1 };

__attribute__((constructor)) static void begin(void) {
  root = getenv("TORTURE_ROOT");
  if (!root) return;
  root_count = strlen(root);
  marks = getenv("TORTURE_MARKS");
  const char *name = getenv("TORTURE_RECORDING");
  if (name) {
    int fd = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    recording = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 1000);
    if (fd >= 0) syscall(SYS_close, fd);
  }
  char word[16] = "", rest[16] = "";
  const char *wish = getenv("TORTURE_KILL");
  if (wish && sscanf(wish, "%ld:%15s", &kill_at, word) == 2)
    kill_when = *word == 'b' ? BEFORE : *word == 'h' ? HALF : AFTER;
  wish = getenv("TORTURE_FAULT");
  if (wish && sscanf(wish, "%ld:%15[A-Z]:%15s", &fault_at, word, rest) == 3) {
    fault_lasts = !strcmp(rest, "on");
    fault = !strcmp(word, "EIO") ? EIO : !strcmp(word, "ENOSPC") ? ENOSPC
          : !strcmp(word, "EINTR") ? EINTR : SHORT;
  }
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// True if calls on a path count.
static int is_ours(const char *path) {
  if (!root || !path || strncmp(path, root, root_count)) return 0;
  if (path[root_count] != '/' && path[root_count]) return 0;
  size_t count = strlen(path);
  return count < 9 || strcmp(path + count - 9, "/lock.mdb");
}

// The path of a name that is looked up from an open directory.
enum { PATH_COUNT = 4096 };
static const char *full_path(int directory, const char *path, char *buffer) {
  if (!root || !path || *path == '/' || directory == AT_FDCWD) return path;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_COUNT - 1);
  if (count < 0) return path;
  buffer[count] = 0;
  if (!strcmp(path, ".")) return buffer;
  int rest = snprintf(buffer + count, PATH_COUNT - count, "/%s", path);
  return rest < PATH_COUNT - count ? buffer : path;
}

// One call at a time, so that the order on record is the order in which they happened.
static void enter(void) {
  pthread_mutex_lock(&turn);
  if (recording >= 0) flock(recording, LOCK_EX);
}

static void leave(void) {
  int saved = errno;
  if (recording >= 0) flock(recording, LOCK_UN);
  pthread_mutex_unlock(&turn);
  errno = saved;
}

static void note(struct record it, const char *path, const char *target, struct iovec *bytes,
                 int parts) {
  if (recording < 0) return;
  int saved = errno;
  it.magic = MAGIC;
  it.process = getpid();
  it.path_count = path ? strlen(path) : 0;
  it.target_count = target ? strlen(target) : 0;
  struct iovec all[3 + 1024] = {
      {&it, sizeof it}, {(void *)path, it.path_count}, {(void *)target, it.target_count}};
  uint64_t left = it.kind == WRITE || it.kind == MARK ? it.count : 0;
  int used = 3;
  for (int i = 0; i < parts && left > 0; i++) {
    size_t count = bytes[i].iov_len < left ? bytes[i].iov_len : left;
    all[used++] = (struct iovec){bytes[i].iov_base, count};
    left -= count;
  }
  ssize_t ignored = syscall(SYS_writev, recording, all, used);
  (void)ignored;
  errno = saved;
}

// Counts a call, which may be the one to die at. Returns the error to fail with, SHORT, or 0.
static int count(int is_write) {
  calls++;
  if (calls == kill_at && kill_when == BEFORE) die();
  int is_due = fault && (calls == fault_at || (fault_lasts && calls > fault_at));
  if (!is_due || (fault == SHORT && !is_write)) return 0;
  // Nothing is interrupted for ever; whoever tries again may rely on that.
  if (fault == EINTR && ++interruptions > INTERRUPTIONS) return 0;
  return fault;
}

static int is_half(void) { return calls == kill_at && kill_when == HALF; }

static void finish(void) {
  if (calls == kill_at) die();
}

// Calls on descriptors.

static int is_known(int fd, int kind) {
  return fd >= 0 && fd < DESCRIPTORS && files[fd].kind == kind;
}

static void forget(int fd) {
  if (fd < 0 || fd >= DESCRIPTORS || !files[fd].kind) return;
  free(files[fd].path);
  memset(&files[fd], 0, sizeof files[fd]);
}

static void remember(int fd, const char *path, int kind, int flags, uint64_t inode) {
  if (fd < 0 || fd >= DESCRIPTORS) return;
  forget(fd);
  files[fd].path = strdup(path);
  files[fd].kind = kind;
  files[fd].flags = flags;
  files[fd].inode = inode;
}

static int open_any(int directory, const char *name, int flags, mode_t mode) {
  // A directory that names are only looked up in.
  if (flags & O_PATH) return syscall(SYS_openat, directory, name, flags, mode);
  char buffer[PATH_COUNT];
  const char *path = full_path(directory, name, buffer);
  if (marks && path && !strcmp(path, marks)) {
    int fd = syscall(SYS_openat, directory, name, flags, mode);
    remember(fd, path, MARK, 0, 0);
    return fd;
  }
  if (!is_ours(path)) return syscall(SYS_openat, directory, name, flags, mode);
  enter();
  struct stat before;
  int is_new = flags & O_CREAT && syscall(SYS_newfstatat, AT_FDCWD, path, &before, 0) != 0;
  int error = is_new ? count(0) : 0;
  int fd = -1;
  if (error > 0) errno = error;
  else fd = syscall(SYS_openat, directory, name, flags, mode);
  struct stat info;
  if (fd >= 0 && fstat(fd, &info) == 0) {
    int about = (is_new ? CREATED | COUNTED : 0) | (flags & O_DSYNC ? SYNCED : 0) |
                (S_ISDIR(info.st_mode) ? DIRECTORY : 0);
    remember(fd, path, OPEN, about, info.st_ino);
    note((struct record){.kind = OPEN, .flags = about, .inode = info.st_ino}, path, 0, 0, 0);
    if (!is_new && flags & O_TRUNC)
      note((struct record){.kind = TRUNCATE, .inode = info.st_ino}, path, 0, 0, 0);
  } else if (is_new) {
    note((struct record){.kind = OPEN, .flags = FAILED | COUNTED}, path, 0, 0, 0);
  }
  if (is_new) finish();
  leave();
  return fd;
}

static ssize_t write_through(int fd, struct iovec *bytes, int parts, off_t offset) {
  if (offset < 0) return syscall(SYS_writev, fd, bytes, parts);
  return syscall(SYS_pwritev, fd, bytes, parts, offset, 0);
}

// The first half of some bytes, at least one of them.
static struct iovec half_of(struct iovec *bytes, uint64_t total) {
  size_t half = total / 2 > 0 ? total / 2 : 1;
  return (struct iovec){bytes[0].iov_base, bytes[0].iov_len < half ? bytes[0].iov_len : half};
}

static ssize_t write_any(int fd, struct iovec *bytes, int parts, off_t offset) {
  uint64_t total = 0;
  for (int i = 0; i < parts; i++) total += bytes[i].iov_len;
  if (is_known(fd, MARK)) {
    enter();
    note((struct record){.kind = MARK, .count = total}, 0, 0, bytes, parts);
    ssize_t done = write_through(fd, bytes, parts, offset);
    leave();
    return done;
  }
  if (!is_known(fd, OPEN)) return write_through(fd, bytes, parts, offset);
  enter();
  struct record it = {.kind = WRITE, .flags = files[fd].flags | COUNTED, .inode = files[fd].inode};
  struct stat info;
  it.offset = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR);
  if (fcntl(fd, F_GETFL) & O_APPEND && fstat(fd, &info) == 0) it.offset = info.st_size;
  int error = count(1);
  struct iovec half;
  if (error == SHORT || is_half()) {
    half = half_of(bytes, total);
    bytes = &half;
    parts = 1;
  }
  ssize_t done = -1;
  if (error > 0) errno = error;
  else done = write_through(fd, bytes, parts, offset);
  it.count = done < 0 ? 0 : done;
  if (done < 0) it.flags |= FAILED;
  note(it, files[fd].path, 0, bytes, parts);
  finish();
  leave();
  return done;
}

static int sync_any(int fd, long call) {
  if (!is_known(fd, OPEN)) return syscall(call, fd);
  enter();
  int error = count(0), result = -1;
  if (error > 0) errno = error;
  else result = syscall(call, fd);
  int flags = files[fd].flags | COUNTED | (result ? FAILED : 0);
  note((struct record){.kind = SYNC, .flags = flags, .inode = files[fd].inode}, files[fd].path, 0,
       0, 0);
  finish();
  leave();
  return result;
}

static int truncate_any(int fd, off_t size) {
  if (!is_known(fd, OPEN)) return syscall(SYS_ftruncate, fd, size);
  enter();
  int error = count(0), result = -1;
  if (error > 0) errno = error;
  else result = syscall(SYS_ftruncate, fd, size);
  int flags = COUNTED | (result ? FAILED : 0);
  note((struct record){.kind = TRUNCATE, .flags = flags, .inode = files[fd].inode, .count = size},
       files[fd].path, 0, 0, 0);
  finish();
  leave();
  return result;
}

// Calls on names. `run` makes the call.

static int name_any(int kind, const char *path, const char *target, int (*run)(const char *,
                    const char *, int), int argument) {
  if (!is_ours(path) && !is_ours(target)) return run(path, target, argument);
  enter();
  int error = count(0), result = -1;
  if (error > 0) errno = error;
  else result = run(path, target, argument);
  int flags = COUNTED | (result ? FAILED : 0);
  note((struct record){.kind = kind, .flags = flags}, path, target, 0, 0);
  finish();
  leave();
  return result;
}

static int run_rename(const char *path, const char *target, int argument) {
  (void)argument;
  return syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 0);
}

static int run_link(const char *path, const char *target, int argument) {
  return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, target, argument);
}

static int run_unlink(const char *path, const char *target, int flags) {
  (void)target;
  return syscall(SYS_unlinkat, AT_FDCWD, path, flags);
}

static int run_mkdir(const char *path, const char *target, int mode) {
  (void)target;
  return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

// The functions that the program calls instead of the C library's.

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN_CALL(directory)                                   \
  va_list rest;                                                \
  va_start(rest, flags);                                       \
  mode_t mode = mode_of(flags, rest);                          \
  va_end(rest);                                                \
  return open_any(directory, path, flags, mode)

int open(const char *path, int flags, ...) { OPEN_CALL(AT_FDCWD); }
int open64(const char *path, int flags, ...) { OPEN_CALL(AT_FDCWD); }
int openat(int directory, const char *path, int flags, ...) { OPEN_CALL(directory); }
int openat64(int directory, const char *path, int flags, ...) { OPEN_CALL(directory); }
int __open_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) {
  return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd) {
  if (fd == recording && fd >= 0) return 0;
  forget(fd);
  return syscall(SYS_close, fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct iovec all = {(void *)bytes, count};
  return write_any(fd, &all, 1, -1);
}
ssize_t writev(int fd, const struct iovec *bytes, int parts) {
  return write_any(fd, (struct iovec *)bytes, parts, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  struct iovec all = {(void *)bytes, count};
  return write_any(fd, &all, 1, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, offset);
}
ssize_t pwritev(int fd, const struct iovec *bytes, int parts, off_t offset) {
  return write_any(fd, (struct iovec *)bytes, parts, offset);
}

int fsync(int fd) { return sync_any(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_any(fd, SYS_fdatasync); }
int ftruncate(int fd, off_t size) { return truncate_any(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_any(fd, size); }

int rename(const char *path, const char *target) {
  return name_any(RENAME, path, target, run_rename, 0);
}
int renameat(int directory, const char *path, int other, const char *target) {
  char from[PATH_COUNT], to[PATH_COUNT];
  return name_any(RENAME, full_path(directory, path, from), full_path(other, target, to),
                  run_rename, 0);
}
int link(const char *path, const char *target) {
  return name_any(LINK, path, target, run_link, 0);
}
int unlink(const char *path) { return name_any(UNLINK, path, 0, run_unlink, 0); }
int rmdir(const char *path) { return name_any(RMDIR, path, 0, run_unlink, AT_REMOVEDIR); }
int mkdir(const char *path, mode_t mode) { return name_any(MKDIR, path, 0, run_mkdir, mode); }
int unlinkat(int directory, const char *path, int flags) {
  char buffer[PATH_COUNT];
  return name_any(flags & AT_REMOVEDIR ? RMDIR : UNLINK, full_path(directory, path, buffer), 0,
                  run_unlink, flags);
}
int mkdirat(int directory, const char *path, mode_t mode) {
  char buffer[PATH_COUNT];
  return name_any(MKDIR, full_path(directory, path, buffer), 0, run_mkdir, mode);
}
