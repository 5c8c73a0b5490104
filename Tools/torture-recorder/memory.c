// Memory that runs out: the nth allocation gives nothing.
//
//   TORTURE_MEMORY     N:libraries, of those that LMDB, zstd and PCRE2 make, which answer with an
//                      error; or N:all, of all, which mostly ends a Swift process
//   TORTURE_TOTALS     a file for the numbers of allocations by those libraries, and of all, that
//                      the process has made when it exits

#include "recorder.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

enum { RANGES = 16 };

static struct { uintptr_t from, to; } ranges[RANGES];
static int range_count;
static atomic_long by_libraries, by_all;
static long refused;
static enum { NOBODY, LIBRARIES, EVERYBODY } whose;
static int counts;

static int add_ranges(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  const char *names[] = {"/liblmdb.", "/libzstd.", "/libpcre2-8."};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!info->dlpi_name || !strstr(info->dlpi_name, names[i])) continue;
    for (int part = 0; part < info->dlpi_phnum && range_count < RANGES; part++) {
      const ElfW(Phdr) *header = &info->dlpi_phdr[part];
      if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
      uintptr_t from = info->dlpi_addr + header->p_vaddr;
      ranges[range_count].from = from;
      ranges[range_count++].to = from + header->p_memsz;
    }
  }
  return 0;
}

void begin_memory(void) {
  const char *wish = getenv("TORTURE_MEMORY");
  char word[16] = "";
  if (wish && sscanf(wish, "%ld:%15s", &refused, word) == 2)
    whose = *word == 'a' ? EVERYBODY : LIBRARIES;
  counts = whose || getenv("TORTURE_TOTALS");
  if (counts) dl_iterate_phdr(add_ranges, 0);
}

__attribute__((destructor)) static void tell_totals(void) {
  const char *name = getenv("TORTURE_TOTALS");
  if (!name || !kernel) return;
  char text[64];
  int count = snprintf(text, sizeof text, "%ld %ld\n", (long)by_libraries, (long)by_all);
  int fd = kernel(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  kernel(SYS_write, fd, text, count);
  kernel(SYS_close, fd);
}

// True if an allocation is the one that gives nothing.
static int is_refused(void *caller) {
  if (!counts) return 0;
  int is_library = 0;
  for (int i = 0; i < range_count; i++)
    is_library |= (uintptr_t)caller - ranges[i].from < ranges[i].to - ranges[i].from;
  long all = ++by_all;
  long own = is_library ? ++by_libraries : 0;
  if (!(whose == EVERYBODY ? all == refused : whose == LIBRARIES && own == refused)) return 0;
  errno = ENOMEM;
  return 1;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t count) { return is_refused(CALLER) ? 0 : __libc_malloc(count); }
void *calloc(size_t count, size_t size) {
  return is_refused(CALLER) ? 0 : __libc_calloc(count, size);
}
void *realloc(void *old, size_t count) {
  return is_refused(CALLER) ? 0 : __libc_realloc(old, count);
}
void *memalign(size_t alignment, size_t count) {
  return is_refused(CALLER) ? 0 : __libc_memalign(alignment, count);
}
void *aligned_alloc(size_t alignment, size_t count) {
  return is_refused(CALLER) ? 0 : __libc_memalign(alignment, count);
}
int posix_memalign(void **result, size_t alignment, size_t count) {
  *result = is_refused(CALLER) ? 0 : __libc_memalign(alignment, count);
  return *result ? 0 : ENOMEM;
}

char *copy_of(const char *text) {
  size_t count = strlen(text) + 1;
  char *copy = __libc_malloc(count);
  return copy ? memcpy(copy, text, count) : 0;
}
