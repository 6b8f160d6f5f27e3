// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison in words: cells without partners, causes, machines.
#include "core/text.h"
#include "results/compare_private.h"
#include "results/programs.h"
#include "results/slowdown.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 5 }; // cells without a partner that are named

const struct hn_table *hn_compare_cells(const struct hn_comparison *c, const char *table) {
    const struct hn_table *rows = hn_results_table(c->base, table);
    for (const struct hn_row_owner *o = hn_row_owners; rows && o->column; o++)
        if (strcmp(table, o->table) == 0)
            return rows;
    const struct hn_row_owner *owner = rows ? hn_row_owner(rows) : NULL;
    const struct hn_table *cells = owner ? hn_results_table(c->base, owner->table) : NULL;
    return cells ? cells : &c->base->runs;
}

struct hn_phrase hn_compare_rule(const struct hn_compare_line *line) {
    struct hn_phrase rule = {"exact"};
    if (!line->gated)
        hn_put_text(rule.text, sizeof rule.text, "not gated");
    else if (line->gate)
        hn_put_text(rule.text, sizeof rule.text, "%s", strchr(line->gate->text, ':') + 1);
    else if (line->role == HN_ROLE_BINNED || line->role == HN_ROLE_QUALITY)
        hn_put_text(rule.text, sizeof rule.text, "to %g",
                    line->role == HN_ROLE_BINNED ? hn_compare_binned : hn_compare_relative);
    return rule;
}

bool hn_compare_has_amount(const struct hn_compare_line *line) {
    return strcmp(line->table, "hist") != 0 && !line->text;
}

struct hn_phrase hn_compare_label(const struct hn_comparison *c, const char *table, int64_t row) {
    const struct hn_table *cells = hn_compare_cells(c, table);
    if (row < 0 || row >= cells->rows)
        return (struct hn_phrase){""};
    return c->by_name ? hn_row_setting_label(cells, row, c->is_default)
                      : hn_row_label(cells, row, c->is_default);
}

struct hn_phrase hn_compare_line_name(const struct hn_compare_line *line) {
    struct hn_phrase name;
    const bool own = strcmp(line->table, "runs") == 0;
    hn_put_text(name.text, sizeof name.text, "%s%s%s", own ? "" : line->table, own ? "" : ".",
                line->name);
    return name;
}

// " batch 17", " NAME" or " row 3" of a cell that has several values; "" of another.
static struct hn_phrase part_of(const struct hn_comparison *c, const struct hn_compare_line *line) {
    struct hn_phrase part = {""};
    const struct hn_table *rows = hn_results_table(c->base, line->table);
    const char *name = line->part >= 0 && rows ? hn_compare_row_name(rows, line->part) : "";
    if (*name)
        hn_put_text(part.text, sizeof part.text, " %s", hn_quote(name).text);
    else if (line->part >= 0)
        hn_put_text(part.text, sizeof part.text, " %s %" PRId64, rows ? "row" : "batch",
                    line->part);
    return part;
}

// " (.0102 -> .0140) SETTING", by name: the change with its interval.
static struct hn_phrase describe_named(const struct hn_comparison *c,
                                       const struct hn_compare_line *line) {
    const struct hn_interval *moved = &line->over.change;
    struct hn_phrase all;
    if (isnan(line->to))
        hn_put_text(all.text, sizeof all.text, "no value");
    else
        hn_put_text(all.text, sizeof all.text, "%+.4g", moved->mean);
    if (!isnan(moved->lo))
        hn_append(all.text, sizeof all.text, " [%+.4g, %+.4g]", moved->lo, moved->hi);
    hn_append(all.text, sizeof all.text, " (%.5g -> %.5g) %s; %s", line->from, line->to,
              hn_compare_label(c, line->table, line->base_row).text,
              hn_counted(line->over.seeds, "seed").text);
    return all;
}

// The change in percent, or the difference where the value was 0.
struct hn_phrase hn_compare_describe(const struct hn_comparison *c,
                                     const struct hn_compare_line *line) {
    const double from = line->from, change = line->to - from;
    struct hn_phrase all = {"differs:"};
    if (c->by_name && !line->text)
        return describe_named(c, line);
    if (hn_compare_has_amount(line)) {
        if (isnan(line->to))
            hn_put_text(all.text, sizeof all.text, "no value");
        else if (fabs(from) > 0 && isfinite(from))
            hn_put_text(all.text, sizeof all.text, "%+.4g %%", 100 * change / fabs(from));
        else
            hn_put_text(all.text, sizeof all.text, "%+.6g", change);
        hn_append(all.text, sizeof all.text, " (%.9g -> %.9g)", from, line->to);
    }
    hn_append(all.text, sizeof all.text, " %s%s",
              hn_compare_label(c, line->table, line->base_row).text, part_of(c, line).text);
    return all;
}

static double percent(double ratio) { return 100 * (ratio - 1); }

struct hn_phrase hn_compare_describe_time(const struct hn_comparison *c,
                                          const struct hn_compare_time *t) {
    struct hn_phrase all;
    hn_put_text(all.text, sizeof all.text, "%+.1f %%", percent(t->ratio.mean));
    if (!isnan(t->ratio.lo))
        hn_append(all.text, sizeof all.text, " [%+.1f, %+.1f]", percent(t->ratio.lo),
                  percent(t->ratio.hi));
    hn_append(all.text, sizeof all.text, " (%.3g s -> %.3g s) %s", t->from, t->to,
              hn_compare_label(c, "runs", t->base_row).text);
    return all;
}

// Something that failed, and by how much, for sorting.
struct failure {
    double worse;
    int64_t index;
};

static int worst_first(const void *a, const void *b) {
    const struct failure *x = a, *y = b;
    if (x->worse > y->worse || x->worse < y->worse)
        return x->worse > y->worse ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// A change as the worst of its line.
static struct hn_compare_line line_with(const struct hn_comparison *c,
                                        const struct hn_compare_change *change) {
    struct hn_compare_line line = c->line[change->line];
    line.from = change->from;
    line.to = change->to;
    line.base_row = change->base_row;
    line.now_row = change->now_row;
    line.part = change->part;
    line.over = change->over;
    return line;
}

// The share by which a change is for the worse; a value that is lost is worst.
static double worse_of(const struct hn_comparison *c, const struct hn_compare_change *change) {
    const struct hn_compare_line *line = &c->line[change->line];
    if (isnan(change->to))
        return INFINITY;
    double worse = hn_gate_worse(line->gate ? line->gate->side : HN_GATE_BOTH, line->direction,
                                 change->from, change->to);
    return hn_compare_share(worse, change->from);
}

// A text on one line, whatever the names in it hold.
static json_t *line_json(struct hn_phrase text) {
    for (char *s = text.text; *s; s++)
        if ((unsigned char)*s < ' ')
            *s = ' ';
    return hn_json_text(text.text);
}

json_t *hn_compare_failures(struct hn_context *ctx, const struct hn_comparison *c, int64_t line) {
    HN_SCOPE(ctx);
    json_t *out = json_array();
    struct failure *f = hn_alloc(ctx, c->n_changes, sizeof *f);
    int64_t n = 0;
    for (int64_t i = 0; f && i < c->n_changes; i++)
        if (c->change[i].failed && c->change[i].line == line)
            f[n++] = (struct failure){worse_of(c, &c->change[i]), i};
    if (f)
        qsort(f, (size_t)n, sizeof *f, worst_first);
    for (int64_t i = 0; i < n; i++) {
        const struct hn_compare_line of = line_with(c, &c->change[f[i].index]);
        json_array_append_new(out, line_json(hn_compare_describe(c, &of)));
    }
    return out;
}

// Names once, in their order.
static void add_once(json_t *names, const char *name) {
    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return;
    json_array_append_new(names, hn_json_text(name));
}

json_t *hn_compare_failed_cells(const struct hn_comparison *c) {
    json_t *by_label = json_object(), *out = json_array();
    size_t max = 0;
    for (int64_t i = 0; i < c->n_changes; i++) {
        const struct hn_compare_line *line = &c->line[c->change[i].line];
        if (!c->change[i].failed)
            continue;
        json_t *name = line_json(hn_compare_label(c, line->table, c->change[i].base_row));
        const char *label = json_string_value(name);
        if (!json_object_get(by_label, label))
            json_object_set_new(by_label, label, json_array());
        json_t *columns = json_object_get(by_label, label);
        json_decref(name);
        add_once(columns, hn_compare_line_name(line).text);
        max = json_array_size(columns) > max ? json_array_size(columns) : max;
    }
    for (size_t n = max; n > 0; n--) {
        const char *label;
        json_t *columns;
        json_object_foreach(by_label, label, columns) {
            if (json_array_size(columns) == n)
                json_array_append_new(out,
                                      json_pack("{s:s, s:O}", "cell", label, "columns", columns));
        }
    }
    json_decref(by_label);
    return out;
}

json_t *hn_compare_slower(struct hn_context *ctx, const struct hn_comparison *c,
                          const char *metric) {
    HN_SCOPE(ctx);
    json_t *out = json_array();
    struct failure *f = hn_alloc(ctx, c->n_times, sizeof *f);
    int64_t n = 0;
    for (int64_t i = 0; f && i < c->n_times; i++)
        if (c->time[i].verdict.slower && strcmp(c->time[i].metric, metric) == 0)
            f[n++] = (struct failure){c->time[i].ratio.mean, i};
    if (f)
        qsort(f, (size_t)n, sizeof *f, worst_first);
    for (int64_t i = 0; i < n && i < HN_COMPARE_CHANGES; i++)
        json_array_append_new(out,
                              hn_json_text(hn_compare_describe_time(c, &c->time[f[i].index]).text));
    return out;
}

struct hn_compare_cost hn_compare_cost(const struct hn_comparison *c, int which) {
    struct hn_compare_cost sum = {.metric = which == 0 ? "cost_s" : "cost_g"};
    for (int64_t i = 0; i < c->n_times; i++) {
        const struct hn_compare_time *one = &c->time[i];
        if (strcmp(one->metric, sum.metric) != 0)
            continue;
        sum.cells++;
        sum.tested += one->tested;
        sum.noisy += one->gated && one->noisy;
        sum.slower += one->verdict.slower;
        bool worse = !sum.worst || (one->verdict.slower && !sum.worst->verdict.slower) ||
                     (one->verdict.slower == sum.worst->verdict.slower &&
                      one->ratio.mean > sum.worst->ratio.mean);
        if (worse)
            sum.worst = one;
    }
    return sum;
}

// Why nothing, or not all, of a metric's times were tested.
static struct hn_phrase describe_untested(const struct hn_comparison *c,
                                          const struct hn_compare_cost *t) {
    struct hn_phrase why = {""};
    if (!c->comparable)
        hn_put_text(why.text, sizeof why.text, "shown, not gated: %s", c->why_not);
    else if (t->tested == 0 && !t->worst->gated)
        hn_put_text(why.text, sizeof why.text, "shown: no gate was given for it");
    else if (t->noisy > 0)
        hn_put_text(why.text, sizeof why.text,
                    "%" PRId64 " of %" PRId64 " are not gated: the host's noise at their size is "
                    "above %.0f %%",
                    t->noisy, t->cells, 100 * hn_compare_noise_max);
    else if (t->tested < t->cells)
        hn_put_text(why.text, sizeof why.text, "%" PRId64 " of %" PRId64 " have fewer than %d %s",
                    t->cells - t->tested, t->cells, HN_COMPARE_FEWEST,
                    c->unit == HN_TIME_PROCESSES
                        ? "processes and are not gated: raise timing.processes, or --rounds of ab"
                        : "repetitions and are not gated: set timing.reps");
    return why;
}

const struct hn_record_column hn_compare_columns[] = {
    {"metric", "metric", .width = -20},
    {"gate", "gate", .width = -12},
    {"values", "values", .width = 6},
    {"differ", "differ", .width = 7},
    {"mark", "", .width = -4},
    {"change", "worst change, and where", .width = -1},
    {.heading = NULL},
};

static json_t *row(const char *metric, const char *gate, int64_t values, int64_t differ,
                   bool failed, bool gated, const char *change, const char *note) {
    return json_pack("{s:o, s:s, s:I, s:I, s:s, s:o, s:o}", "metric", hn_json_text(metric), "gate",
                     gate, "values", (json_int_t)values, "differ", (json_int_t)differ, "mark",
                     failed  ? "FAIL"
                     : gated ? "ok"
                             : "-",
                     "change", hn_json_text(change), "note", hn_json_text(note));
}

static bool any_gated(const struct hn_comparison *c) {
    for (int64_t i = 0; i < c->n_lines; i++)
        if (c->line[i].gate)
            return true;
    return false;
}

// True if a column has a row of its own.
static bool shown(const struct hn_comparison *c, const struct hn_compare_line *line) {
    if (c->by_name) // where there are gates these alone: everything else differs, too
        return line->failed > 0 || (!line->text && line->compared > 0 &&
                                    (any_gated(c) ? line->gated : line->differ > 0));
    bool machine = hn_gate_by_name(line->role) && !line->gate; // differs from run to run
    bool asked = line->gate && strcmp(line->gate->metric, line->name) == 0;
    return (line->differ > 0 && !machine) || (asked && line->compared > 0);
}

json_t *hn_compare_rows(const struct hn_comparison *c) {
    json_t *rows = json_array();
    char rule[64];
    for (const struct hn_compare_line *line = c->line; line < c->line + c->n_lines; line++) {
        if (!shown(c, line))
            continue;
        json_array_append_new(rows,
                              row(hn_compare_line_name(line).text, hn_compare_rule(line).text,
                                  line->compared, line->differ, line->failed > 0, line->gated,
                                  line->differ > 0 ? hn_compare_describe(c, line).text : "", ""));
    }
    for (int which = 0; which < HN_COMPARE_COSTS; which++) {
        struct hn_compare_cost t = hn_compare_cost(c, which);
        if (t.cells == 0 || (c->by_name && !t.worst->gated))
            continue;
        snprintf(rule, sizeof rule, t.tested ? "+%.3g %%" : "not gated", 100 * t.worst->min);
        json_array_append_new(rows, row(t.metric, rule, t.cells, t.slower, t.slower > 0,
                                        t.tested > 0, hn_compare_describe_time(c, t.worst).text,
                                        describe_untested(c, &t).text));
    }
    return rows;
}

int64_t hn_compare_same(const struct hn_comparison *c) {
    int64_t n = 0;
    for (int64_t i = 0; i < c->n_lines; i++)
        n += c->line[i].differ == 0 && !shown(c, &c->line[i]) && c->line[i].compared > 0;
    return n;
}

json_t *hn_compare_missing(const struct hn_comparison *c, bool of_base) {
    json_t *out = json_array();
    for (int kind = 0; kind < HN_ROW_KINDS; kind++) {
        const struct hn_row_match *m = &c->match[kind];
        const struct hn_table *t =
            hn_results_table(of_base ? c->base : c->now, hn_row_owners[kind].table);
        int64_t n = of_base ? m->only_base : m->only_now;
        const int64_t *row_of = of_base ? m->base_row : m->now_row;
        for (int64_t i = 0; t && i < n && json_array_size(out) < HN_COMPARE_CHANGES; i++)
            json_array_append_new(out,
                                  hn_json_text(hn_row_label(t, row_of[i], c->is_default).text));
    }
    return out;
}

const char hn_compare_no_checksum[] = "has no checksum, so another program has written to it: its "
                                      "values may not be those measured";

static struct hn_phrase made(const struct hn_results *r) {
    struct hn_phrase all = {""};
    const char *program = hn_results_get_env(r, "program"),
               *commit = hn_results_get_env(r, "git_commit"),
               *created = hn_results_get(r, "created"),
               *machine = hn_results_get_env(r, "machine_class");
    const bool dirty = strcmp(hn_results_get_env(r, "git_dirty"), "1") == 0;
    hn_put_text(all.text, sizeof all.text, "program %s", *program ? program : "unknown");
    if (*commit && strcmp(commit, "unknown") != 0)
        hn_append(all.text, sizeof all.text, ", commit %.12s%s", commit,
                  dirty ? " with changes" : "");
    if (*created)
        hn_append(all.text, sizeof all.text, ", %s", created);
    if (*machine)
        hn_append(all.text, sizeof all.text, ", on %s", machine);
    return all;
}

int hn_compare_files(const struct hn_comparison *c, struct hn_compare_file out[HN_COMPARE_FILES]) {
    int n = 0;
    if (c->base->n_env > 0)
        out[n++] = (struct hn_compare_file){"BASE", "base", made(c->base), c->base->no_checksum};
    out[n++] = (struct hn_compare_file){"NEW", "new", made(c->now), c->now->no_checksum};
    return n;
}

static void print_labels(const struct hn_comparison *c, bool of_base, hn_put *put, FILE *out) {
    json_t *labels = hn_compare_missing(c, of_base);
    int64_t all = of_base ? c->only_base : c->only_now;
    int64_t shown = c->verbose ? (int64_t)json_array_size(labels) : hn_min(all, NAMED);
    for (int64_t i = 0; i < shown; i++)
        hn_print(out, put, "- %s\n", json_string_value(json_array_get(labels, (size_t)i)));
    if (shown < all)
        fprintf(out, "- and %" PRId64 " more%s\n", all - shown,
                c->verbose ? "" : " (-v names them, and --json)");
    json_decref(labels);
}

void hn_compare_print_missing(const struct hn_comparison *c, hn_put *put, FILE *out) {
    if (c->only_base > 0)
        fprintf(out, "not in NEW: %s of BASE\n", hn_counted(c->only_base, "cell").text);
    print_labels(c, true, put, out);
    if (c->only_now > 0)
        fprintf(out, "not in BASE: %s of NEW\n", hn_counted(c->only_now, "cell").text);
    print_labels(c, false, put, out);
}

void hn_compare_say(struct hn_context *ctx, struct hn_comparison *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *line = hn_vformat(ctx, format, args);
    va_end(args);
    c->said_first = c->said_first && line ? hn_format(ctx, "%s%s", c->said_first, line) : NULL;
}

// The first row of a table with this data set, and of `now` none with these contents, too; -1.
static int64_t find_other(const struct hn_table *now, const char *name, const char *sha256) {
    int64_t other = -1;
    for (int64_t r = now->rows - 1; r >= 0; r--)
        if (strcmp(hn_table_text(now, r, "dataset"), name) == 0) {
            if (strcmp(hn_table_text(now, r, "dataset_sha256"), sha256) == 0)
                return -1;
            other = r;
        }
    return other;
}

// The row of a data set's last step, -1: there is none.
static int64_t last_of(const struct hn_table *t, const char *name) {
    int64_t last = -1;
    for (int64_t r = 0; r < t->rows; r++)
        if (strcmp(hn_table_text(t, r, "dataset"), name) == 0 &&
            (last < 0 || hn_table_real(t, r, "step") > hn_table_real(t, last, "step")))
            last = r;
    return last;
}

// Says which data set of BASE has other contents in NEW: none of its cells is compared, or, by
// name, which checkpoints are.
static void say_data(struct hn_context *ctx, struct hn_comparison *c, int64_t row) {
    const struct hn_table *base = &c->base->runs, *now = &c->now->runs;
    const char *name = hn_table_text(base, row, "dataset");
    int64_t was = last_of(base, name), is = last_of(now, name);
    int64_t other = find_other(now, name, hn_table_text(base, row, "dataset_sha256"));
    if (c->by_name && is >= 0)
        hn_compare_say(ctx, c, "%s: step %.0f of SHA-256 %.12s... against step %.0f of %.12s...\n",
                       hn_quote(name).text, hn_table_real(base, was, "step"),
                       hn_table_text(base, was, "dataset_sha256"), hn_table_real(now, is, "step"),
                       hn_table_text(now, is, "dataset_sha256"));
    else if (!c->by_name && other >= 0)
        hn_compare_say(ctx, c,
                       "%s has other contents in NEW (SHA-256 %.12s...) than in BASE (%.12s...): "
                       "cells of the one are not those of the other. --match name compares a new "
                       "checkpoint with the one before it.\n",
                       hn_quote(name).text, hn_table_text(now, other, "dataset_sha256"),
                       hn_table_text(base, row, "dataset_sha256"));
}

static void say_contents(struct hn_context *ctx, struct hn_comparison *c) {
    const struct hn_table *base = &c->base->runs;
    for (int64_t r = 0; r < base->rows; r++) {
        bool said = false;
        for (int64_t k = 0; k < r && !said; k++)
            said =
                strcmp(hn_table_text(base, k, "dataset"), hn_table_text(base, r, "dataset")) == 0;
        if (!said)
            say_data(ctx, c, r);
    }
}

static void say_versions(struct hn_context *ctx, struct hn_comparison *c) {
    struct hn_results_changes changes;
    int was = hn_results_version(c->base), is = hn_results_version(c->now);
    if (was == is)
        return;
    hn_results_changes(c->base, c->now, &changes);
    if (was && is)
        hn_compare_say(ctx, c,
                       "BASE is of results version %d, NEW of %d. Numbers that changed between:\n",
                       was, is);
    else
        hn_compare_say(
            ctx, c,
            "%s is from before files said their results version, %s of version %d. Numbers that "
            "changed up to there:\n",
            was ? "NEW" : "BASE", was ? "BASE" : "NEW", was ? was : is);
    for (int64_t i = 0; i < changes.n; i++)
        hn_compare_say(ctx, c, "- version %d: %s\n", changes.first[i].version,
                       changes.first[i].what);
    if (c->differ > 0)
        hn_compare_say(
            ctx, c, "Differences may be these changes: make BASE again with the program of NEW.\n");
    else if (c->values > 0)
        hn_compare_say(ctx, c, "None of these changes shows in what is compared here.\n");
}

enum hn_code hn_compare_say_first(struct hn_context *ctx, struct hn_comparison *c) {
    struct hn_programs programs = {0};
    say_versions(ctx, c);
    if (hn_programs_add(ctx, c->now, &programs))
        return ctx->code;
    const struct hn_phrase made = hn_programs_text(&programs);
    if (programs.n > 1)
        hn_compare_say(ctx, c, "NEW holds rows of %" PRId64 " programs: %s.\n", programs.n,
                       made.text);
    else if (programs.n == 1 && *ctx->program && strcmp(made.text, ctx->program) != 0)
        hn_compare_say(ctx, c, "NEW was made by program %s, and this is %s.\n", made.text,
                       ctx->program);
    say_contents(ctx, c);
    return c->said_first ? HN_OK : ctx->code;
}
