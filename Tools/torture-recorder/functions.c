// The functions that the program calls instead of the C library's: all through which it could
// change a file. `unknown-calls` checks that there is no other.

#include "recorder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Descriptors.

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

int mkstemp(char *template) {
  size_t count = strlen(template);
  if (count < 6) return errno = EINVAL, -1;
  for (int attempt = 0; attempt < 100; attempt++) {
    struct timespec now;
    kernel(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    char text[9];
    snprintf(text, sizeof text, "%08lx", (unsigned long)now.tv_nsec * 2654435761u & 0xFFFFFFFF);
    memcpy(template + count - 6, text + 2, 6);
    int fd = open_any(AT_FDCWD, template, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

int close(int fd) {
  if (is_recording(fd)) return 0;
  forget(fd);
  return kernel(SYS_close, fd);
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
ssize_t pwritev64(int fd, const struct iovec *bytes, int parts, off64_t offset) {
  return write_any(fd, (struct iovec *)bytes, parts, offset);
}

int fsync(int fd) { return sync_any(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_any(fd, SYS_fdatasync); }
int ftruncate(int fd, off_t size) { return truncate_any(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_any(fd, size); }
int fallocate(int fd, int mode, off_t offset, off_t count) {
  return allocate_any(fd, mode, offset, count);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t count) {
  return allocate_any(fd, mode, offset, count);
}

// Names.

int rename(const char *path, const char *target) { return rename_any(path, target, 0); }
int renameat(int directory, const char *path, int other, const char *target) {
  char from[PATH_COUNT], to[PATH_COUNT];
  return rename_any(full_path(directory, path, from), full_path(other, target, to), 0);
}
int renameat2(int directory, const char *path, int other, const char *target, unsigned flags) {
  char from[PATH_COUNT], to[PATH_COUNT];
  return rename_any(full_path(directory, path, from), full_path(other, target, to), flags);
}
int link(const char *path, const char *target) { return link_any(path, target, 0); }
int linkat(int directory, const char *path, int other, const char *target, int flags) {
  char from[PATH_COUNT], to[PATH_COUNT];
  return link_any(full_path(directory, path, from), full_path(other, target, to), flags);
}
int unlink(const char *path) { return unlink_any(path, 0); }
int rmdir(const char *path) { return unlink_any(path, AT_REMOVEDIR); }
int unlinkat(int directory, const char *path, int flags) {
  char buffer[PATH_COUNT];
  return unlink_any(full_path(directory, path, buffer), flags);
}
int mkdir(const char *path, mode_t mode) { return mkdir_any(path, mode); }
int mkdirat(int directory, const char *path, mode_t mode) {
  char buffer[PATH_COUNT];
  return mkdir_any(full_path(directory, path, buffer), mode);
}

// System calls by their numbers. Those that change a file and are not known here end the process.

static long openat2_any(int directory, const char *path, const uint64_t *how, size_t size) {
  uint64_t changing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  if (!(how[0] & O_PATH) && how[0] & changing) refuse("openat2");
  return kernel(SYS_openat2, directory, path, how, size);
}

static const struct { long number; const char *name; } unknown[] = {
    {SYS_write, "write"}, {SYS_pwrite64, "pwrite64"}, {SYS_writev, "writev"},
    {SYS_pwritev, "pwritev"}, {SYS_pwritev2, "pwritev2"}, {SYS_openat, "openat"},
    {SYS_ftruncate, "ftruncate"}, {SYS_truncate, "truncate"}, {SYS_renameat, "renameat"},
    {SYS_renameat2, "renameat2"}, {SYS_linkat, "linkat"}, {SYS_symlinkat, "symlinkat"},
    {SYS_unlinkat, "unlinkat"}, {SYS_mkdirat, "mkdirat"}, {SYS_mknodat, "mknodat"},
    {SYS_fsync, "fsync"}, {SYS_fdatasync, "fdatasync"}, {SYS_sync, "sync"},
    {SYS_syncfs, "syncfs"}, {SYS_sync_file_range, "sync_file_range"}, {SYS_msync, "msync"},
    {SYS_copy_file_range, "copy_file_range"}, {SYS_sendfile, "sendfile"},
    {SYS_splice, "splice"}, {SYS_io_uring_setup, "io_uring_setup"}, {SYS_io_submit, "io_submit"},
};

long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  find_kernel();
  if (is_watching()) {
    if (number == SYS_fallocate) return allocate_any(a[0], a[1], a[2], a[3]);
    if (number == SYS_openat2)
      return openat2_any(a[0], (const char *)a[1], (const uint64_t *)a[2], a[3]);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
      if (unknown[i].number == number) refuse(unknown[i].name);
  }
  return kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
