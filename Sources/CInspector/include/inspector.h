// The files of the inspector's page.

#include <stddef.h>

/// A file: its path in the folder, and what it holds.
typedef struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} cambium_page_file;

/// All files; they live as long as the program.
const cambium_page_file *cambium_page_files(size_t *count);
