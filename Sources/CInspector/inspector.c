// The inspector's page, carried in the program itself: so it can be moved anywhere, and no file is
// looked for when it runs. A test compares the table with the folder.

#include "inspector.h"

// Clang knows #embed in each version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../CambiumServer/Inspector/Resources/api.js"
};
static const unsigned char changes_js[] = {
#embed "../CambiumServer/Inspector/Resources/changes.js"
};
static const unsigned char charts_js[] = {
#embed "../CambiumServer/Inspector/Resources/charts.js"
};
static const unsigned char complete_js[] = {
#embed "../CambiumServer/Inspector/Resources/complete.js"
};
static const unsigned char dom_js[] = {
#embed "../CambiumServer/Inspector/Resources/dom.js"
};
static const unsigned char filter_js[] = {
#embed "../CambiumServer/Inspector/Resources/filter.js"
};
static const unsigned char format_js[] = {
#embed "../CambiumServer/Inspector/Resources/format.js"
};
static const unsigned char index_html[] = {
#embed "../CambiumServer/Inspector/Resources/index.html"
};
static const unsigned char keyboard_js[] = {
#embed "../CambiumServer/Inspector/Resources/keyboard.js"
};
static const unsigned char live_js[] = {
#embed "../CambiumServer/Inspector/Resources/live.js"
};
static const unsigned char main_js[] = {
#embed "../CambiumServer/Inspector/Resources/main.js"
};
static const unsigned char pane_js[] = {
#embed "../CambiumServer/Inspector/Resources/pane.js"
};
static const unsigned char querytext_js[] = {
#embed "../CambiumServer/Inspector/Resources/querytext.js"
};
static const unsigned char router_js[] = {
#embed "../CambiumServer/Inspector/Resources/router.js"
};
static const unsigned char slider_js[] = {
#embed "../CambiumServer/Inspector/Resources/slider.js"
};
static const unsigned char store_js[] = {
#embed "../CambiumServer/Inspector/Resources/store.js"
};
static const unsigned char style_css[] = {
#embed "../CambiumServer/Inspector/Resources/style.css"
};
static const unsigned char table_js[] = {
#embed "../CambiumServer/Inspector/Resources/table.js"
};
static const unsigned char treemap_js[] = {
#embed "../CambiumServer/Inspector/Resources/treemap.js"
};
static const unsigned char windowed_js[] = {
#embed "../CambiumServer/Inspector/Resources/windowed.js"
};
static const unsigned char words_js[] = {
#embed "../CambiumServer/Inspector/Resources/words.js"
};
static const unsigned char views_edit_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/edit.js"
};
static const unsigned char views_health_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/health.js"
};
static const unsigned char views_log_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/log.js"
};
static const unsigned char views_query_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/query.js"
};
static const unsigned char views_record_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/record.js"
};
static const unsigned char views_schema_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/schema.js"
};
static const unsigned char views_sizes_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/sizes.js"
};
static const unsigned char views_state_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/state.js"
};
static const unsigned char views_transaction_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/transaction.js"
};
static const unsigned char views_undo_js[] = {
#embed "../CambiumServer/Inspector/Resources/views/undo.js"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const cambium_page_file files[] = {
    FILE("api.js", api_js),
    FILE("changes.js", changes_js),
    FILE("charts.js", charts_js),
    FILE("complete.js", complete_js),
    FILE("dom.js", dom_js),
    FILE("filter.js", filter_js),
    FILE("format.js", format_js),
    FILE("index.html", index_html),
    FILE("keyboard.js", keyboard_js),
    FILE("live.js", live_js),
    FILE("main.js", main_js),
    FILE("pane.js", pane_js),
    FILE("querytext.js", querytext_js),
    FILE("router.js", router_js),
    FILE("slider.js", slider_js),
    FILE("store.js", store_js),
    FILE("style.css", style_css),
    FILE("table.js", table_js),
    FILE("treemap.js", treemap_js),
    FILE("windowed.js", windowed_js),
    FILE("words.js", words_js),
    FILE("views/edit.js", views_edit_js),
    FILE("views/health.js", views_health_js),
    FILE("views/log.js", views_log_js),
    FILE("views/query.js", views_query_js),
    FILE("views/record.js", views_record_js),
    FILE("views/schema.js", views_schema_js),
    FILE("views/sizes.js", views_sizes_js),
    FILE("views/state.js", views_state_js),
    FILE("views/transaction.js", views_transaction_js),
    FILE("views/undo.js", views_undo_js),
};

const cambium_page_file *cambium_page_files(size_t *count) {
  *count = sizeof files / sizeof files[0];
  return files;
}
