// The entry of libFuzzer, which comes with the compiler, but without a header.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments,
                        int (*target)(const uint8_t *bytes, size_t count));
