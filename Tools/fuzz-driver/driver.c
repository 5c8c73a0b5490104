// Lets libFuzzer watch only what inputs reach.
//
// The compiler counts in half a million places, each with a byte, and libFuzzer clears and reads all
// of these bytes for each input, which takes longer than most decoders do. So it is not told of them
// when the program begins, but block by block, once an input has changed a byte of the block. The
// linker leads its two calls here (--wrap).

#include "driver.h"

#include <stdbool.h>
#include <stdlib.h>

// The bytes of a block. libFuzzer takes no more than 4,096 blocks.
enum { block_bytes = 512, modules_max = 8 };

// What one module counts in, two words about the code for each byte, and which blocks are watched.
struct module {
  uint8_t *start, *stop;
  const uintptr_t *places;
  bool *watched;
};

static struct module modules[modules_max];
static size_t module_count;

void __real___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __real___sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);
void __wrap___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __wrap___sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

// Both are called by each object file, with the same addresses for all of one module.
void __wrap___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop) {
  if (start == stop || (module_count > 0 && modules[module_count - 1].start == start)) return;
  if (module_count == modules_max) abort();
  size_t blocks = (size_t)(stop - start) / block_bytes + 1;
  modules[module_count++] = (struct module){start, stop, NULL, calloc(blocks, sizeof(bool))};
}

void __wrap___sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) {
  (void)stop;
  if (module_count > 0) modules[module_count - 1].places = start;
}

static bool is_reached(const uint8_t *start, size_t count) {
  uint8_t any = 0;
  for (size_t place = 0; place < count; place++) any |= start[place];
  return any != 0;
}

static void watch_reached(struct module *module) {
  size_t count = (size_t)(module->stop - module->start);
  for (size_t place = 0, block = 0; place < count; place += block_bytes, block++) {
    size_t end = place + block_bytes < count ? place + block_bytes : count;
    if (module->watched[block] || !is_reached(module->start + place, end - place)) continue;
    module->watched[block] = true;
    __real___sanitizer_cov_8bit_counters_init(module->start + place, module->start + end);
    __real___sanitizer_cov_pcs_init(module->places + 2 * place, module->places + 2 * end);
  }
}

// The first inputs, which are those that earlier runs have found, are looked at one by one. Later,
// few reach anything new, and what one reaches another will.
void fuzzer_watch_reached(void) {
  static size_t inputs;
  if (inputs++ > 65536 && inputs % 32 != 0) return;
  for (size_t index = 0; index < module_count; index++) watch_reached(&modules[index]);
}
