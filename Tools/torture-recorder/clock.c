// Clocks that jump: the time of day is shifted, by another amount from certain counted calls on.
// The clocks that only run forward are left alone.
//
//   TORTURE_CLOCK      N:SECONDS,N:SECONDS,…: from the Nth counted call on, 0 for the start

#include "recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

enum { JUMPS = 64 };

static struct { long call, seconds; } jumps[JUMPS];
static int jump_count;

void begin_clock(void) {
  const char *rest = getenv("TORTURE_CLOCK");
  while (rest && *rest && jump_count < JUMPS) {
    char *end;
    jumps[jump_count].call = strtol(rest, &end, 10);
    if (*end != ':') return;
    jumps[jump_count++].seconds = strtol(end + 1, &end, 10);
    rest = *end == ',' ? end + 1 : end;
  }
}

static long shift(void) {
  long seconds = 0;
  for (int i = 0; i < jump_count && jumps[i].call <= calls; i++) seconds = jumps[i].seconds;
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*original)(clockid_t, struct timespec *);
  if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = original(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    time->tv_sec += shift();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t *result) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
