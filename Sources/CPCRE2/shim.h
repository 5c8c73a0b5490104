/* The library for 8-bit code units: its functions end in _8. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
