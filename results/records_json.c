// SPDX-License-Identifier: GPL-3.0-or-later
// Records as a document of JSON.
#include "results/records_private.h"

enum hn_code hn_json_print(struct hn_context *ctx, json_t *document, FILE *out) {
    bool good = document && (json_dumpf(document, out, JSON_INDENT(2)) == 0 || ferror(out));
    json_decref(document);
    if (!good)
        return hn_fail(ctx, HN_MEMORY, "out of memory for the JSON document");
    fputc('\n', out);
    return HN_OK;
}

static enum hn_code print(struct hn_context *ctx, const struct hn_records *t, FILE *out) {
    json_t *rows = t->row ? json_incref(t->row) : json_array();
    for (int64_t row = 0; !t->row && row < t->table->rows; row++)
        json_array_append_new(rows, hn_table_json(t->table, row));
    return hn_json_print(ctx, json_pack("{s:s, s:o}", "table", t->name, "rows", rows), out);
}

const struct hn_record_format hn_records_as_json = {
    .name = "json",
    .help = "a document of JSON",
    .print = print,
};
