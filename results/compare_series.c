// SPDX-License-Identifier: GPL-3.0-or-later
// Values of NEW for services that follow them over commits: Bencher's metric format (--bmf), and
// the list of github-action-benchmark (--benchmark), where smaller is better.
#include "results/compare_private.h"

#include <math.h>
#include <string.h>

// A value that is gated: of a column of /runs, or a cost with what its ratio leaves uncertain.
struct point {
    const char *cell, *measure, *units;
    enum hn_direction better;
    double value, lo, hi; // lo and hi: NaN, not known
};
typedef void put_point(json_t *all, const struct point *p);

static void put_columns(const struct hn_comparison *c, int64_t row, const char *cell,
                        put_point *put, json_t *all) {
    const struct hn_table *runs = &c->now->runs;
    for (const struct hn_compare_line *line = c->line; line < c->line + c->n_lines; line++) {
        bool there = strcmp(line->table, "runs") == 0 && line->other >= 0 && line->compared > 0;
        if (!there || !line->gated || !hn_compare_has_amount(line))
            continue;
        put(all, &(struct point){cell, line->name, runs->column[line->other].units, line->direction,
                                 hn_table_number(runs, line->other, row), NAN, NAN});
    }
}

static json_t *put_all(const struct hn_comparison *c, put_point *put, json_t *all) {
    const struct hn_table *runs = &c->now->runs;
    for (int64_t row = 0; row < runs->rows; row++)
        if (strcmp(hn_table_text(runs, row, "status"), "ok") == 0)
            put_columns(c, row, hn_row_label(runs, row, c->is_default).text, put, all);
    for (const struct hn_compare_time *t = c->time; t < c->time + c->n_times; t++) {
        double base = t->to / t->ratio.mean;
        put(all, &(struct point){hn_row_label(runs, t->now_row, c->is_default).text, t->metric, "s",
                                 HN_SMALLER, t->to, base * t->ratio.lo, base * t->ratio.hi});
    }
    return all;
}

static void set_real(json_t *object, const char *key, double value) {
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

static void put_bmf(json_t *all, const struct point *p) {
    json_t *cell = hn_json_text(p->cell), *measures = json_object_get(all, json_string_value(cell));
    if (!measures) {
        measures = json_object();
        json_object_set_new(all, json_string_value(cell), measures);
    }
    json_t *value = isfinite(p->value) ? json_object() : NULL;
    if (value) {
        set_real(value, "value", p->value);
        set_real(value, "lower_value", p->lo);
        set_real(value, "upper_value", p->hi);
        json_object_set_new(measures, p->measure, value);
    }
    json_decref(cell);
}

static void put_benchmark(json_t *all, const struct point *p) {
    struct hn_phrase name, range = {""};
    if (!isfinite(p->value) || p->better != HN_SMALLER)
        return;
    hn_put_text(name.text, sizeof name.text, "%s %s", p->measure, p->cell);
    if (isfinite(p->lo) && isfinite(p->hi))
        hn_put_text(range.text, sizeof range.text, "%.3g - %.3g", p->lo, p->hi);
    json_array_append_new(all, json_pack("{s:o, s:o, s:f, s:s}", "name", hn_json_text(name.text),
                                         "unit", hn_json_text(p->units), "value", p->value, "range",
                                         range.text));
}

static enum hn_code print_bmf(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    return hn_json_print(ctx, put_all(c, put_bmf, json_object()), out);
}

static enum hn_code print_benchmark(struct hn_context *ctx, const struct hn_comparison *c,
                                    FILE *out) {
    return hn_json_print(ctx, put_all(c, put_benchmark, json_array()), out);
}

const struct hn_compare_format hn_compare_bmf = {
    .name = "bmf",
    .print = print_bmf,
};
const struct hn_compare_format hn_compare_benchmark = {
    .name = "benchmark",
    .print = print_benchmark,
};
