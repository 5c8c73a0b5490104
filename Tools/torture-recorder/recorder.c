// Sits between a program and the kernel, preloaded (LD_PRELOAD, Linux only): records every call
// that changes what a disk holds below one directory, in order and with its bytes, so that what a
// loss of power could leave can be put together afterwards. On demand it kills the process at the
// nth such call, or makes that call fail.
//
//   TORTURE_ROOT       the directory; without it nothing happens
//   TORTURE_RECORDING  the file that the calls are appended to; may be absent
//   TORTURE_MARKS      a file whose writes are recorded as marks: what the program says about itself
//
// A counted call creates, writes, truncates, allocates, syncs, renames, links or removes.
// `lock.mdb` is left out: LMDB writes it through a memory map, and recreates it after a start of the
// system. orders.c kills and fails, clock.c shifts the time of day, memory.c refuses memory.
//
// A record is a struct record, the two paths, and the bytes of a write or mark; little-endian.
// Calls of several processes are kept in order by a lock on the recording.

#include "recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
  uint32_t magic;
  uint8_t kind, flags;
  uint16_t path_count, target_count, unused;
  uint32_t process;
  uint64_t inode, offset, count;
};

enum { MAGIC = 0x45525554, DESCRIPTORS = 4096 };

static struct { char *path; uint8_t kind, flags; uint64_t inode; } files[DESCRIPTORS];
static const char *root, *marks;
static size_t root_count;
static int recording = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

long (*kernel)(long, ...);
void find_kernel(void) {
  if (!kernel) kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

int is_watching(void) { return root != 0; }

__attribute__((constructor)) static void begin(void) {
  find_kernel();
  begin_clock();
  begin_memory();
  root = getenv("TORTURE_ROOT");
  if (!root) return;
  root_count = strlen(root);
  marks = getenv("TORTURE_MARKS");
  const char *name = getenv("TORTURE_RECORDING");
  if (name) {
    int fd = kernel(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    recording = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 1000);
    if (fd >= 0) kernel(SYS_close, fd);
  }
  begin_orders();
}

void refuse(const char *call) {
  char text[128];
  int count = snprintf(text, sizeof text, "recorder: %s is not known, so nobody watches it\n", call);
  kernel(SYS_write, 2, text, count);
  _exit(70);
}

// True if calls on a path count.
static int is_ours(const char *path) {
  if (!root || !path || strncmp(path, root, root_count)) return 0;
  if (path[root_count] != '/' && path[root_count]) return 0;
  size_t count = strlen(path);
  return count < 9 || strcmp(path + count - 9, "/lock.mdb");
}

// The path of a name that is looked up from an open directory.
const char *full_path(int directory, const char *path, char *buffer) {
  if (!root || !path || *path == '/' || directory == AT_FDCWD) return path;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  ssize_t count = kernel(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_COUNT - 1);
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
  ssize_t ignored = kernel(SYS_writev, recording, all, used);
  (void)ignored;
  errno = saved;
}

// Calls on descriptors.

static int is_known(int fd, int kind) {
  return fd >= 0 && fd < DESCRIPTORS && files[fd].kind == kind;
}

void forget(int fd) {
  if (fd < 0 || fd >= DESCRIPTORS || !files[fd].kind) return;
  free(files[fd].path);
  memset(&files[fd], 0, sizeof files[fd]);
}

static void remember(int fd, const char *path, int kind, int flags, uint64_t inode) {
  if (fd < 0 || fd >= DESCRIPTORS) return;
  forget(fd);
  files[fd].path = copy_of(path);
  files[fd].kind = kind;
  files[fd].flags = flags;
  files[fd].inode = inode;
}

int is_recording(int fd) { return fd >= 0 && fd == recording; }

int open_any(int directory, const char *name, int flags, mode_t mode) {
  // A directory that names are only looked up in.
  if (flags & O_PATH) return kernel(SYS_openat, directory, name, flags, mode);
  char buffer[PATH_COUNT];
  const char *path = full_path(directory, name, buffer);
  if (marks && path && !strcmp(path, marks)) {
    int fd = kernel(SYS_openat, directory, name, flags, mode);
    remember(fd, path, MARK, 0, 0);
    return fd;
  }
  if (!is_ours(path)) return kernel(SYS_openat, directory, name, flags, mode);
  enter();
  struct stat before;
  int is_new = flags & O_CREAT && kernel(SYS_newfstatat, AT_FDCWD, path, &before, 0) != 0;
  int error = is_new ? count(OPEN, 0, path) : 0;
  int fd = -1;
  if (is_made(error)) fd = kernel(SYS_openat, directory, name, flags, mode);
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
  if (fd >= 0 && reported(error, fd) < 0) {
    forget(fd);
    kernel(SYS_close, fd);
    fd = -1;
    errno = EIO;
  }
  leave();
  return fd;
}

static ssize_t write_through(int fd, struct iovec *bytes, int parts, off_t offset) {
  if (offset < 0) return kernel(SYS_writev, fd, bytes, parts);
  return kernel(SYS_pwritev, fd, bytes, parts, offset, 0);
}

// The first half of some bytes, at least one of them.
static struct iovec half_of(struct iovec *bytes, uint64_t total) {
  size_t half = total / 2 > 0 ? total / 2 : 1;
  return (struct iovec){bytes[0].iov_base, bytes[0].iov_len < half ? bytes[0].iov_len : half};
}

ssize_t write_any(int fd, struct iovec *bytes, int parts, off_t offset) {
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
  int error = count(WRITE, files[fd].flags & SYNCED, files[fd].path);
  struct iovec half;
  if (error == SHORT || is_half()) {
    half = half_of(bytes, total);
    bytes = &half;
    parts = 1;
  }
  ssize_t done = -1;
  if (is_made(error)) done = write_through(fd, bytes, parts, offset);
  it.count = done < 0 ? 0 : done;
  it.flags |= flags_of(error, done);
  note(it, files[fd].path, 0, bytes, parts);
  finish();
  done = reported(error, done);
  leave();
  return done;
}

int sync_any(int fd, long call) {
  if (!is_known(fd, OPEN)) return kernel(call, fd);
  enter();
  int error = count(SYNC, 0, files[fd].path), result = -1;
  if (is_made(error)) result = kernel(call, fd);
  int flags = files[fd].flags | flags_of(error, result);
  note((struct record){.kind = SYNC, .flags = flags, .inode = files[fd].inode}, files[fd].path, 0,
       0, 0);
  finish();
  result = reported(error, result);
  leave();
  return result;
}

int truncate_any(int fd, off_t size) {
  if (!is_known(fd, OPEN)) return kernel(SYS_ftruncate, fd, size);
  enter();
  int error = count(TRUNCATE, 0, files[fd].path), result = -1;
  if (is_made(error)) result = kernel(SYS_ftruncate, fd, size);
  int flags = flags_of(error, result);
  note((struct record){.kind = TRUNCATE, .flags = flags, .inode = files[fd].inode, .count = size},
       files[fd].path, 0, 0, 0);
  finish();
  result = reported(error, result);
  leave();
  return result;
}

// Gives a file disk blocks. One that also changed its size would have to be put together as such.
long allocate_any(int fd, int mode, off_t offset, off_t bytes) {
  if (!is_known(fd, OPEN)) return kernel(SYS_fallocate, fd, mode, offset, bytes);
  if (mode != FALLOC_FL_KEEP_SIZE) refuse("an allocation that changes a file");
  enter();
  int error = count(ALLOCATE, 0, files[fd].path);
  long result = -1;
  if (is_made(error)) result = kernel(SYS_fallocate, fd, mode, offset, bytes);
  note((struct record){.kind = ALLOCATE, .flags = flags_of(error, result),
                       .inode = files[fd].inode}, files[fd].path, 0, 0, 0);
  finish();
  result = reported(error, result);
  leave();
  return result;
}

// Calls on names. `run` makes the call.

static int name_any(int kind, const char *path, const char *target, int (*run)(const char *,
                    const char *, int), int argument) {
  if (!is_ours(path) && !is_ours(target)) return run(path, target, argument);
  enter();
  int error = count(kind, 0, path), result = -1;
  if (is_made(error)) result = run(path, target, argument);
  note((struct record){.kind = kind, .flags = flags_of(error, result)}, path, target, 0, 0);
  finish();
  result = reported(error, result);
  leave();
  return result;
}

static int run_rename(const char *path, const char *target, int flags) {
  return kernel(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, flags);
}

static int run_link(const char *path, const char *target, int argument) {
  return kernel(SYS_linkat, AT_FDCWD, path, AT_FDCWD, target, argument);
}

static int run_unlink(const char *path, const char *target, int flags) {
  (void)target;
  return kernel(SYS_unlinkat, AT_FDCWD, path, flags);
}

static int run_mkdir(const char *path, const char *target, int mode) {
  (void)target;
  return kernel(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename_any(const char *path, const char *target, unsigned flags) {
  if (flags & RENAME_EXCHANGE && (is_ours(path) || is_ours(target))) refuse("an exchange of names");
  return name_any(RENAME, path, target, run_rename, flags);
}

int link_any(const char *path, const char *target, int flags) {
  return name_any(LINK, path, target, run_link, flags);
}

int unlink_any(const char *path, int flags) {
  return name_any(flags & AT_REMOVEDIR ? RMDIR : UNLINK, path, 0, run_unlink, flags);
}

int mkdir_any(const char *path, mode_t mode) { return name_any(MKDIR, path, 0, run_mkdir, mode); }
