// The few calls of libIndexStore by which the compiler's index is read. The library comes with each
// Swift toolchain, its header does not. Strings are lent, and end without a zero byte.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *data;
  size_t length;
} indexstore_string_ref_t;

void *indexstore_store_create(const char *path, void **error);
bool indexstore_store_units_apply_f(
    void *store, unsigned sorted, void *context,
    bool (*visit)(void *context, indexstore_string_ref_t unit));

void *indexstore_unit_reader_create(void *store, const char *unit, void **error);
void indexstore_unit_reader_dispose(void *unit);
indexstore_string_ref_t indexstore_unit_reader_get_main_file(void *unit);
void indexstore_unit_reader_get_modification_time(
    void *unit, int64_t *seconds, int64_t *nanoseconds);
bool indexstore_unit_reader_dependencies_apply_f(
    void *unit, void *context, bool (*visit)(void *context, void *dependency));
unsigned indexstore_unit_dependency_get_kind(void *dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_filepath(void *dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_name(void *dependency);

void *indexstore_record_reader_create(void *store, const char *record, void **error);
void indexstore_record_reader_dispose(void *record);
bool indexstore_record_reader_occurrences_apply_f(
    void *record, void *context, bool (*visit)(void *context, void *occurrence));
void *indexstore_occurrence_get_symbol(void *occurrence);
uint64_t indexstore_occurrence_get_roles(void *occurrence);
void indexstore_occurrence_get_line_col(void *occurrence, unsigned *line, unsigned *column);

unsigned indexstore_symbol_get_kind(void *symbol);
unsigned indexstore_symbol_get_subkind(void *symbol);
uint64_t indexstore_symbol_get_properties(void *symbol);
indexstore_string_ref_t indexstore_symbol_get_name(void *symbol);
indexstore_string_ref_t indexstore_symbol_get_usr(void *symbol);
