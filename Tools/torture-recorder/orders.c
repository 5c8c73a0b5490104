// The orders that a process gets: at which of its calls it dies, and which of them fail.
//
//   TORTURE_KILL       N:before, N:half or N:after
//   TORTURE_FAULT      N:KIND:once or on (from then on); a fourth part counts only calls on the
//                      path that it is; with a slash before it, on those that contain it. The
//                      kinds:
//                        EIO, ENOSPC, EINTR   the call is not made, and fails
//                        SHORT                only the first half is written
//                        LATE                 the call does its work, and reports EIO
//                        LOST                 a sync reports EIO, and what it was to make durable
//                                             never will be, whatever later syncs say: what Linux
//                                             makes of pages that it could not write

#include "recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

long calls;
static long kill_at, fault_at, matching;
static enum { BEFORE, HALF, AFTER } kill_when;
static int fault, fault_lasts, interruptions;
static char fault_path[64];
enum { INTERRUPTIONS = 16 };

static int fault_called(const char *name) {
  static const struct { const char *name; int fault; } all[] = {
      {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"SHORT", SHORT}, {"LATE", LATE},
      {"LOST", LOST}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(name, all[i].name)) return all[i].fault;
  refuse(name);
  return 0;
}

void begin_orders(void) {
  char word[16] = "", rest[16] = "";
  const char *wish = getenv("TORTURE_KILL");
  if (wish && sscanf(wish, "%ld:%15s", &kill_at, word) == 2)
    kill_when = *word == 'b' ? BEFORE : *word == 'h' ? HALF : AFTER;
  wish = getenv("TORTURE_FAULT");
  if (wish && sscanf(wish, "%ld:%15[A-Z]:%15[a-z]:%63s", &fault_at, word, rest, fault_path) >= 3) {
    fault_lasts = !strcmp(rest, "on");
    fault = fault_called(word);
  }
}

static void die(void) {
  kernel(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// True if the order is about a path.
static int is_meant(const char *path) {
  if (*fault_path == '/') return strstr(path, fault_path) != NULL;
  size_t count = strlen(path), end = strlen(fault_path);
  return count > end && path[count - end - 1] == '/' && !strcmp(path + count - end, fault_path);
}

// Counts a call, which may be the one to die at. Returns the error to fail with, one of the other
// outcomes, or 0.
int count(int kind, int is_synced, const char *path) {
  calls++;
  if (calls == kill_at && kill_when == BEFORE) die();
  long number = calls;
  if (*fault_path) {
    if (!path || !is_meant(path)) return 0;
    number = ++matching;
  }
  int is_due = fault && (number == fault_at || (fault_lasts && number > fault_at));
  if (!is_due || (fault == SHORT && kind != WRITE)) return 0;
  if (fault == LOST && kind != SYNC && !is_synced) return 0;
  // Nothing is interrupted for ever; whoever tries again may rely on that.
  if (fault == EINTR && ++interruptions > INTERRUPTIONS) return 0;
  return fault;
}

// True if the call is made: it may report an error nevertheless.
int is_made(int error) {
  if (error > 0) errno = error;
  return error <= 0;
}

// The flags of a call with its outcome, for the recording.
int flags_of(int error, long result) {
  return COUNTED | (result < 0 ? FAILED : 0) | (error == LOST ? DROPPED : 0);
}

// The result that the program gets of a call that is made.
long reported(int error, long result) {
  if (error != LATE && error != LOST) return result;
  errno = EIO;
  return -1;
}

int is_half(void) { return calls == kill_at && kill_when == HALF; }

void finish(void) {
  if (calls == kill_at) die();
}
