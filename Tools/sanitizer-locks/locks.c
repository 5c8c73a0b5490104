// Tells thread sanitizer about Swift's Mutex.
//
// On Linux a Mutex that nobody waits for is taken and released by the program's own code, which the
// sanitizer sees. Waiting and waking is left to the library Synchronization, which it does not: so
// it would take what one thread did before another waited for it as concurrent. This wraps those
// functions, and reports what they do. It is preloaded by `Tools/test --sanitize=thread`.
//
//     unlock, somebody waits ──release──▶ │ mutex │ ──acquire──▶ lock, after waiting
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The sanitizer's; not there in a process that is not checked.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);

static SWIFT void (*real_lock)(uint32_t, SELF void *);
static SWIFT bool (*real_try_lock)(SELF void *);
static SWIFT void (*real_unlock)(SELF void *);

__attribute__((constructor)) static void find(void) {
  *(void **)&real_lock = dlsym(RTLD_NEXT, LOCK);
  *(void **)&real_try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
  *(void **)&real_unlock = dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
  real_lock(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF void *mutex) {
  bool taken = real_try_lock(mutex);
  if (taken && __tsan_acquire) __tsan_acquire(mutex);
  return taken;
}

SWIFT void unlock_slow(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  real_unlock(mutex);
}
