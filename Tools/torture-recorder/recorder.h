// The parts of the recorder know each other by this.

#ifndef RECORDER_H
#define RECORDER_H

#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// None of this is for the program, whose functions may have the same names.
#pragma GCC visibility push(hidden)

// The system call, past the recorder's own `syscall`.
extern long (*kernel)(long, ...);
void find_kernel(void);

enum { PATH_COUNT = 4096 };

enum kind { OPEN = 1, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, RMDIR, MARK, ALLOCATE };
enum flag { CREATED = 1, SYNCED = 2, FAILED = 4, DIRECTORY = 8, COUNTED = 16, DROPPED = 32 };

// The number of counted calls that this process has made.
extern long calls;

// Outcomes of a call that is due to fail in another way than with an error and no effect.
enum { SHORT = -1, LATE = -2, LOST = -3 };

void begin_orders(void);

// Counts a call, which may be the one to die at. Returns the error to fail with, one of the other
// outcomes, or 0.
int count(int kind, int is_synced, const char *path);

// True if the call is made: it may report an error nevertheless.
int is_made(int error);

// True if the process dies in the middle of this call.
int is_half(void);

// The flags of a call with its outcome, for the recording.
int flags_of(int error, long result);

// Ends a call, which may be the one to die at.
void finish(void);

// The result that the program gets of a call that is made.
long reported(int error, long result);

// True if calls are watched at all.
int is_watching(void);

// The path of a name that is looked up from an open directory; `buffer` has PATH_COUNT bytes.
const char *full_path(int directory, const char *path, char *buffer);

// Calls that change files, with what the recorder adds to them.
int open_any(int directory, const char *name, int flags, mode_t mode);
ssize_t write_any(int fd, struct iovec *bytes, int parts, off_t offset);
int sync_any(int fd, long call);
int truncate_any(int fd, off_t size);
long allocate_any(int fd, int mode, off_t offset, off_t count);
int rename_any(const char *path, const char *target, unsigned flags);
int link_any(const char *path, const char *target, int flags);
int unlink_any(const char *path, int flags);
int mkdir_any(const char *path, mode_t mode);
void forget(int fd);
int is_recording(int fd);

// Ends the process, since a call would change files behind the recorder's back.
void refuse(const char *call);

void begin_clock(void);
void begin_memory(void);

// A copy of a text, from the allocator that is never out of memory.
char *copy_of(const char *text);

#pragma GCC visibility pop

#endif
