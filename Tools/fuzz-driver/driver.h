// libFuzzer, which comes with the compiler, but without a header.
#include <stddef.h>
#include <stdint.h>

// Its entry.
int LLVMFuzzerRunDriver(int *count, char ***arguments,
                        int (*target)(const uint8_t *bytes, size_t count));

// Tells it of the parts of the program that inputs have reached; see driver.c. To be called at the
// end of a target, before libFuzzer looks at what the input has reached.
void fuzzer_watch_reached(void);
