#include "harness/cli/summary.h"
#include "core/options/option.h"
#include "metrics/weighting.h"
#include "results/records.h"
#include "samplers/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Appends the options of a row that are not at their defaults: "M=500 alpha=0.2".
static void add_options(const struct hn_results *r, int64_t row, const struct hn_option *options,
                        char *text, size_t size) {
    for (const struct hn_option *o = options; o && o->name; o++) {
        char real[64];
        const char *value = real;
        if (hn_table_find(&r->runs, o->name) >= 0 && *hn_table_text(&r->runs, row, o->name))
            value = hn_table_text(&r->runs, row, o->name);
        else
            hn_real_text(hn_table_real(&r->runs, row, o->name), real, sizeof real);
        bool unset = strcmp(value, "nan") == 0;
        if (unset || (o->initial && strcmp(value, o->initial) == 0))
            continue;
        hn_append(text, size, "%s%s=%s", *text ? " " : "", o->name, value);
    }
}

// What sets a row apart: options of its sampler, loss and weighting, where they are not the usual.
static void short_params(const struct hn_results *r, int64_t row, char *text, size_t size) {
    const struct hn_sampler_type *type = hn_sampler_find(hn_table_text(&r->runs, row, "sampler"));
    const char *loss = hn_table_text(&r->runs, row, "loss");
    const struct hn_weighting_type *weighting =
        hn_weighting_find(hn_table_text(&r->runs, row, "weighting"));
    *text = '\0';
    add_options(r, row, type ? type->options : NULL, text, size);
    if (*loss && strcmp(loss, hn_losses[HN_LOSS_NTXENT].name) != 0)
        hn_append(text, size, "%s%s", *text ? " " : "", loss);
    if (!weighting || strcmp(weighting->name, "none") == 0)
        return;
    hn_append(text, size, "%s%s", *text ? " " : "", weighting->name);
    add_options(r, row, weighting->options, text, size);
}

static const struct hn_record_column columns[] = {
    {"step", "step", .width = -5},
    {"sampler", "sampler", .width = -16},
    {"options", "options", .width = -20},
    {"fn_ratio", "fn_ratio", .digits = 4},
    {"half", "+-", .digits = 4},
    {"cos_mean", "cos_mean", .digits = 4},
    {"gap", "gap", .digits = 4},
    {"coverage", "coverage", .digits = 3},
    {"graph_age", "age", .digits = 0},
    {"cost_s", "cost_s", .digits = 1, .scale = 1e6, .unit = " us"},
    {"cost_g", "cost_g", .digits = 1, .scale = 1e3, .unit = " ms"},
    {"error", "", .width = -1},
    {.heading = NULL},
};

static json_t *row_json(const struct hn_results *r, int64_t row) {
    static const char *const measured[] = {"fn_ratio",  "cos_mean", "gap",   "coverage",
                                           "graph_age", "cost_s",   "cost_g"};
    const struct hn_table *t = &r->runs;
    const char *status = hn_table_text(t, row, "status");
    char options[64];
    short_params(r, row, options, sizeof options);
    json_t *json =
        json_pack("{s:I, s:s, s:o}", "step", (json_int_t)hn_table_real(t, row, "step"), "sampler",
                  hn_table_text(t, row, "sampler"), "options", hn_json_text(options));
    if (strcmp(status, "ok") != 0) {
        char error[256];
        snprintf(error, sizeof error, "%s: %s", status, hn_table_text(t, row, "error"));
        json_object_set_new(json, "error", hn_json_text(error));
        return json;
    }
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++)
        json_object_set_new(json, measured[i], hn_json_real(hn_table_real(t, row, measured[i])));
    double half = hn_table_real(t, row, "fn_ratio_hi") - hn_table_real(t, row, "fn_ratio_lo");
    json_object_set_new(json, "half", hn_json_real(half / 2));
    return json;
}

// The columns without the age of graphs where every graph is of its own step.
static void choose_columns(const json_t *rows, struct hn_record_column *chosen) {
    bool aged = false;
    for (size_t i = 0; i < json_array_size(rows); i++)
        aged |= json_real_value(json_object_get(json_array_get(rows, i), "graph_age")) > 0;
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        if (aged || !columns[c].key || strcmp(columns[c].key, "graph_age") != 0)
            *chosen++ = columns[c];
}

void hn_print_summary(const struct hn_results *r) {
    enum { ROWS_MAX = 60 };
    json_t *rows = json_array();
    for (int64_t i = 0; i < hn_min(r->runs.rows, ROWS_MAX); i++)
        json_array_append_new(rows, row_json(r, i));
    struct hn_record_column chosen[sizeof columns / sizeof columns[0]];
    choose_columns(rows, chosen);
    hn_records_print(chosen, rows, stdout);
    json_decref(rows);
    if (r->runs.rows > ROWS_MAX)
        printf("... and %" PRId64 " more rows in the results file\n", r->runs.rows - ROWS_MAX);
}
