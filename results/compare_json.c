// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as a JSON document (docs/reference/compare.md).
#include "core/text.h"
#include "results/compare_private.h"
#include "results/slowdown.h"

static const char *const ends[] = {"pass", "fail", "nothing", "nothing"};

static json_t *file_json(const struct hn_results *r) {
    json_t *file = json_object();
    static const char *const env[] = {"program",     "results_version", "tool_version",
                                      "git_commit",  "machine_class",   "threads",
                                      "sgemm_gflops"};
    static const char *const root[] = {"created", "status", "config_sha256"};
    for (int i = 0; i < 3; i++)
        json_object_set_new(file, root[i], hn_json_text(hn_results_get(r, root[i])));
    for (int i = 0; i < 7; i++)
        json_object_set_new(file, env[i], hn_json_text(hn_results_get_env(r, env[i])));
    return file;
}

// Texts and histograms have none.
static json_t *amount(const struct hn_compare_line *line, double value) {
    return hn_compare_has_amount(line) ? hn_json_real(value) : json_null();
}

static json_t *label_json(const struct hn_comparison *c, const char *table, int64_t row) {
    return hn_json_text(hn_compare_label(c, table, row).text);
}

static json_t *line_json(const struct hn_comparison *c, const struct hn_compare_line *line) {
    json_t *j = json_pack("{s:o, s:o, s:s, s:b, s:I, s:I, s:I}", "table", hn_json_text(line->table),
                          "name", hn_json_text(line->name), "gate", hn_compare_rule(line).text,
                          "gated", line->gated, "compared", (json_int_t)line->compared, "differ",
                          (json_int_t)line->differ, "failed", (json_int_t)line->failed);
    if (line->differ == 0)
        return j;
    json_object_set_new(j, "worst",
                        json_pack("{s:o, s:o, s:o}", "cell",
                                  label_json(c, line->table, line->base_row), "base",
                                  amount(line, line->from), "new", amount(line, line->to)));
    return j;
}

static json_t *change_json(const struct hn_comparison *c, const struct hn_compare_change *change) {
    const struct hn_compare_line *line = &c->line[change->line];
    const char *key = hn_table_text(hn_compare_cells(c, line->table), change->base_row, "cell_key");
    json_t *j = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "table", hn_json_text(line->table),
                          "name", hn_json_text(line->name), "cell",
                          label_json(c, line->table, change->base_row), "cell_key",
                          hn_json_text(c->by_name ? "" : key), "base", amount(line, change->from),
                          "new", amount(line, change->to), "failed", change->failed);
    if (c->by_name)
        json_object_update_new(j, json_pack("{s:o, s:o, s:o, s:I}", "change",
                                            hn_json_real(change->over.change.mean), "change_lo",
                                            hn_json_real(change->over.change.lo), "change_hi",
                                            hn_json_real(change->over.change.hi), "seeds",
                                            (json_int_t)change->over.seeds));
    return j;
}

static json_t *time_json(const struct hn_comparison *c, const struct hn_compare_time *t) {
    const char *key = hn_table_text(&c->base->runs, t->base_row, "cell_key");
    return json_pack(
        "{s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:b}",
        "name", t->metric, "cell", label_json(c, "runs", t->base_row), "cell_key",
        hn_json_text(key), "base_samples", (json_int_t)t->n_base, "new_samples",
        (json_int_t)t->n_now, "base", hn_json_real(t->from), "new", hn_json_real(t->to), "ratio",
        hn_json_real(t->ratio.mean), "ratio_lo", hn_json_real(t->ratio.lo), "ratio_hi",
        hn_json_real(t->ratio.hi), "least", hn_json_real(t->min), "p", hn_json_real(t->verdict.p),
        "p_holm", hn_json_real(t->verdict.holm), "tested", t->tested, "slower", t->verdict.slower,
        "faster", t->verdict.faster, "unclear", t->unclear);
}

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    json_t *lines = json_array(), *changes = json_array(), *times = json_array();
    for (int64_t i = 0; i < c->n_lines; i++)
        if (c->line[i].compared > 0)
            json_array_append_new(lines, line_json(c, &c->line[i]));
    for (int64_t i = 0; i < c->n_changes; i++)
        json_array_append_new(changes, change_json(c, &c->change[i]));
    for (int64_t i = 0; i < c->n_times; i++)
        json_array_append_new(times, time_json(c, &c->time[i]));
    json_t *all = json_pack(
        "{s:s, s:i, s:o, s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:o, s:o}, s:{s:I, s:I, s:I}, s:o, "
        "s:o, "
        "s:{s:b, s:o, s:s, s:s, s:o, s:f, s:I, s:I, s:I, s:I, s:o}}",
        "schema", "hardneg-compare", "schema_version", 1, "said_first", hn_json_text(c->said_first),
        "verdict", ends[c->end], "message", hn_json_text(c->verdict), "base", file_json(c->base),
        "new", file_json(c->now), "cells", "matched", (json_int_t)c->matched, "only_base",
        (json_int_t)c->only_base, "only_new", (json_int_t)c->only_now, "missing",
        hn_compare_missing(c, true), "new", hn_compare_missing(c, false), "values", "compared",
        (json_int_t)c->values, "differ", (json_int_t)c->differ, "failed", (json_int_t)c->failed,
        "columns", lines, "changes", changes, "times", "comparable", c->comparable, "why_not",
        c->comparable ? json_null() : hn_json_text(c->why_not), "samples",
        c->unit == HN_TIME_PROCESSES ? "processes" : "repetitions", "clock",
        c->clock == HN_CLOCK_PROCESSOR ? "processor" : "wall", "noise", hn_json_real(c->floor),
        "alpha", hn_compare_alpha, "tested", (json_int_t)c->times_tested, "slower",
        (json_int_t)c->times_failed, "unclear", (json_int_t)c->times_unclear, "samples_needed",
        (json_int_t)c->samples_needed, "of", times);
    if (c->by_name)
        json_object_set_new(all, "named",
                            json_pack("{s:I, s:I, s:I, s:f}", "settings", (json_int_t)c->settings,
                                      "unclear", (json_int_t)c->unclear, "seeds_needed",
                                      (json_int_t)c->seeds_needed, "alpha",
                                      hn_compare_named_alpha));
    return hn_json_print(ctx, all, out);
}

const struct hn_compare_format hn_compare_json = {
    .name = "json",
    .print = print,
};
