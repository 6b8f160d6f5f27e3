// A comparison on the terminal.
#include "results/compare_private.h"

#include <inttypes.h>

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    (void)ctx;
    json_t *rows = hn_compare_rows(c);
    fputs(c->said_first, out);
    if (json_array_size(rows) > 0)
        hn_records_print(hn_compare_columns, rows, out);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *note = json_string_value(json_object_get(json_array_get(rows, i), "note"));
        if (note && *note)
            fprintf(out, "%s: %s\n",
                    json_string_value(json_object_get(json_array_get(rows, i), "metric")), note);
    }
    json_decref(rows);
    if (c->times_tested > 0)
        fprintf(out,
                "a slowdown counts beyond the host's noise, %.1f %%, and if its p, corrected for "
                "%" PRId64 " tests, is at most %g\n",
                100 * c->floor, c->times_tested, hn_compare_alpha);
    if (hn_compare_same(c) > 0)
        fprintf(out, "%" PRId64 " columns without a difference\n", hn_compare_same(c));
    hn_compare_print_missing(c, hn_plain_put, out);
    fprintf(out, "%s\n", c->verdict);
    return HN_OK;
}

const struct hn_compare_format hn_compare_text = {
    .name = "text",
    .print = print,
};
