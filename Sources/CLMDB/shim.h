#include <lmdb.h>

// Asks the processor to load a line of memory, which need not exist, without waiting for it. Swift
// has no name for this.
static inline void cambium_prefetch(const void *address) { __builtin_prefetch(address); }

#ifdef __linux__
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>  // statfs, which Swift's Glibc leaves out
#include <unistd.h>

// The id of the mount that an open file is on, which is given once for as long as the system runs
// (STATX_MNT_ID_UNIQUE, Linux 6.8). Zero where the kernel has only ids that are given again.
// `syscall` is variadic, so Swift cannot call it, and the headers of Debian 12 lack the constant.
static inline uint64_t cambium_unique_mount_id(int descriptor) {
  enum { empty_path = 0x1000, unique_id = 0x4000, id_offset = 0x90 };
  unsigned char status[256] = {0};
  uint32_t mask = 0;
  uint64_t id = 0;
  if (syscall(SYS_statx, descriptor, "", empty_path, unique_id, status) != 0) return 0;
  memcpy(&mask, status, sizeof mask);
  if (mask & unique_id) memcpy(&id, status + id_offset, sizeof id);
  return id;
}

// Gives a file disk blocks for its first bytes and leaves its size and content as they are. Unlike
// posix_fallocate it never writes, so it is safe while other processes have the file mapped.
static inline long cambium_allocate(int descriptor, int64_t bytes) {
  enum { keep_size = 1 };
  return syscall(SYS_fallocate, descriptor, keep_size, (int64_t)0, bytes);
}

// Opens a path of which no part may be a symbolic link (openat2 with RESOLVE_NO_SYMLINKS, Linux
// 5.6), with the flags of open(2). Less than zero where a part is one, or the kernel or a sandbox
// does not have the call.
static inline int cambium_open_without_links(const char *path, uint64_t flags) {
  enum { relative_to_working_directory = -100, no_symlinks = 4, open_how_bytes = 24 };
  uint64_t how[3] = {flags, 0, no_symlinks};
  return (int)syscall(SYS_openat2, relative_to_working_directory, path, how, open_how_bytes);
}

// Makes a file share all blocks of another one (FICLONE: btrfs, XFS, bcachefs and others), so that
// each is copied only where it is written later. `ioctl` is variadic, so Swift cannot call it.
static inline int cambium_clone(int target, int source) {
  enum { clone = 0x40049409 };
  return ioctl(target, clone, source);
}
#endif
