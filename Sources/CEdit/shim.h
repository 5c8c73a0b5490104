#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

// Swift cannot call functions with any number of arguments, nor use stdin and stdout as values:
// each of these does one thing with them.

// Takes the user's characters, if they are UTF-8, and those of C otherwise.
static inline EditLine *edit_open(const char *program) {
  setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX < 4) setlocale(LC_CTYPE, "C.UTF-8");
  return el_init(program, stdin, stdout, stderr);
}

static inline void edit_set_owner(EditLine *edit, void *owner) {
  el_set(edit, EL_CLIENTDATA, owner);
}

static inline void *edit_owner(EditLine *edit) {
  void *owner = NULL;
  el_get(edit, EL_CLIENTDATA, &owner);
  return owner;
}

static inline void edit_set_prompt(EditLine *edit, char *(*prompt)(EditLine *)) {
  el_set(edit, EL_PROMPT, prompt);
}

static inline void edit_set_reader(EditLine *edit, int (*read)(EditLine *, wchar_t *)) {
  el_set(edit, EL_GETCFN, read);
}

static inline void edit_set_editor(EditLine *edit, const char *name) {
  el_set(edit, EL_EDITOR, name);
}

// Sets whether the terminal is restored when a signal ends the program.
static inline void edit_set_signals(EditLine *edit, int handled) {
  el_set(edit, EL_SIGNAL, handled);
}

// A terminal's mode while a line is edited, such as "-isig".
static inline void edit_set_mode(EditLine *edit, const char *mode) {
  el_set(edit, EL_SETTY, "-d", mode, NULL);
}

// Sets that mode now; otherwise that waits until a character is read, after the prompt is shown.
static inline void edit_prepare(EditLine *edit) { el_set(edit, EL_PREP_TERM, 1); }

static inline void edit_bind(
    EditLine *edit, const char *key, const char *name, const char *help,
    unsigned char (*function)(EditLine *, int)) {
  el_set(edit, EL_ADDFN, name, help, function);
  el_set(edit, EL_BIND, key, name, NULL);
}

static inline History *edit_history(EditLine *edit, int size) {
  History *lines = history_init();
  HistEvent event;
  if (lines == NULL) return NULL;
  history(lines, &event, H_SETSIZE, size);
  history(lines, &event, H_SETUNIQUE, 1);
  el_set(edit, EL_HIST, history, lines);
  return lines;
}

static inline void edit_remember(History *lines, const char *line) {
  HistEvent event;
  history(lines, &event, H_ENTER, line);
}
