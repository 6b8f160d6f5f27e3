// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of results of other data under the same names: a new checkpoint against the one
// before it. Every value differs, so a gate is held on the mean change over seeds and its interval.
#include "results/compare_private.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

// One column of one setting.
struct test {
    int64_t line;
    struct hn_compare_change change;
    struct hn_interval moved, worse; // the change, and for the worse
    double limit, deviation;
    bool lost; // measured before, missing now
};

struct named {
    struct hn_context *ctx;
    const struct hn_compare_options *options;
    struct hn_comparison *out;
    struct test *test;
    int64_t n, capacity, among; // tests that a gate holds
};

// The pairs pair[n] of one setting, in the order of their seeds.
struct group {
    const struct hn_table *base, *now;
    const struct hn_row_pair *pair;
    int64_t n;
};

static bool is_ok(const struct hn_table *t, int64_t row) {
    return strcmp(hn_table_text(t, row, "status"), "ok") == 0;
}

// On either side of one of the intervals that hold together.
static double tail_of(int64_t among) {
    return hn_compare_named_alpha / 2 / (double)hn_max(among, 1);
}

// Fills a test from values of n seeds.
static void fill(struct test *t, const struct hn_compare_line *line, const double *from,
                 const double *change, int64_t n) {
    double was = hn_mean_interval(from, 1, n, 0.95).mean;
    double moved = hn_mean_interval(change, 1, n, 0.95).mean;
    t->change.from = was;
    t->change.to = was + moved;
    t->change.over = (struct hn_seeds_change){{moved, NAN, NAN}, n};
    t->deviation = n > 1 ? gsl_stats_sd(change, 1, (size_t)n) : 0;
    t->limit =
        hn_compare_limit(line->gate, was) + hn_compare_relative * fabs(was) + hn_compare_absolute;
}

// The test of one column of one setting, unless BASE has no value of it.
static enum hn_code add_test(struct named *w, int64_t line, const struct group *g) {
    const struct hn_compare_line *l = &w->out->line[line];
    HN_SCOPE(w->ctx);
    double *from = hn_alloc(w->ctx, 2 * g->n, sizeof *from), *change = from + g->n;
    int64_t n = 0;
    bool lost = false;
    if (!from)
        return w->ctx->code;
    for (int64_t i = 0; i < g->n; i++) {
        if (!is_ok(g->base, g->pair[i].base) || !is_ok(g->now, g->pair[i].now))
            continue;
        double was = hn_table_real(g->base, g->pair[i].base, l->name);
        double is = l->other < 0 ? NAN : hn_table_real(g->now, g->pair[i].now, l->name);
        lost = lost || (isfinite(was) && !isfinite(is));
        if (isfinite(was) && isfinite(is)) {
            from[n] = was;
            change[n++] = is - was;
        }
    }
    if (n == 0 && !lost)
        return HN_OK;
    struct test t = {.line = line,
                     .lost = lost,
                     .change = {.line = line,
                                .part = -1,
                                .base_row = g->pair[0].base,
                                .now_row = g->pair[0].now,
                                .from = NAN,
                                .to = NAN,
                                .over = {{NAN, NAN, NAN}, 0}},
                     .worse = {NAN, NAN, NAN},
                     .limit = NAN};
    if (n > 0)
        fill(&t, l, from, change, n);
    if (lost)
        t.change.to = NAN;
    hn_own(w->ctx, scope.outer);
    if (hn_grow(w->ctx, &w->test, &w->capacity, w->n + 1, sizeof *w->test))
        return w->ctx->code;
    w->test[w->n++] = t;
    return HN_OK;
}

// True if a column is compared: measurements of quality, and what a gate names or is of its group.
static bool compared(const struct hn_column *column, const struct hn_gate *gate) {
    if (column->kind == HN_COLUMN_TEXT || column->role == HN_ROLE_IDENTITY ||
        column->role == HN_ROLE_SETTING || column->role == HN_ROLE_TIME)
        return false;
    return gate || column->role == HN_ROLE_QUALITY || column->role == HN_ROLE_BINNED;
}

// Cells that ended otherwise, each by itself.
static void add_status(struct named *w, const char *table, const struct group *all) {
    struct hn_comparison *c = w->out;
    struct hn_compare_line *line = &c->line[c->n_lines];
    *line = (struct hn_compare_line){.table = table,
                                     .name = "status",
                                     .column = hn_table_find(all->base, "status"),
                                     .role = HN_ROLE_COUNTER,
                                     .gated = true,
                                     .text = true,
                                     .base_row = -1,
                                     .part = -1,
                                     .now_row = -1};
    for (int64_t i = 0; i < all->n; i++) {
        struct hn_row_pair pair = all->pair[i];
        line->compared++;
        if (strcmp(hn_table_text(all->base, pair.base, "status"),
                   hn_table_text(all->now, pair.now, "status")) == 0)
            continue;
        line->differ++;
        line->failed++;
        c->failed++;
        line->base_row = pair.base;
        line->now_row = pair.now;
    }
    c->n_lines++;
}

static enum hn_code add_columns(struct named *w, const char *table, const struct group *all,
                                const int64_t *setting) {
    struct hn_comparison *c = w->out;
    for (int k = 0; k < all->base->n_columns; k++) {
        const struct hn_column *column = &all->base->column[k];
        bool by_name = strcmp(table, "runs") == 0 || strcmp(table, "snapshots") == 0;
        const struct hn_gate *gate =
            hn_compare_gate(w->options, by_name ? column->name : NULL, column->role);
        if (strcmp(column->name, "status") == 0 || !compared(column, gate))
            continue;
        c->line[c->n_lines] = (struct hn_compare_line){
            .table = table,
            .name = column->name,
            .column = k,
            .other = hn_table_find(all->now, column->name),
            .role = column->role,
            .direction = column->direction,
            .gate = gate,
            .gated = gate != NULL,
            .base_row = -1,
            .part = -1,
            .now_row = -1,
        };
        int64_t line = c->n_lines++;
        for (int64_t first = 0, end; first < all->n; first = end) {
            for (end = first; end < all->n && setting[end] == setting[first]; end++)
                continue;
            struct group g = {all->base, all->now, all->pair + first, end - first};
            if (add_test(w, line, &g))
                return w->ctx->code;
        }
    }
    return HN_OK;
}

// The interval of a change, so that `among` of them hold together (Bonferroni).
static void set_interval(struct test *t, const struct hn_compare_line *line, int64_t among) {
    struct hn_interval *moved = &t->change.over.change;
    const double freedom = (double)(t->change.over.seeds - 1);
    if (freedom > 0) {
        double half =
            gsl_cdf_tdist_Pinv(1 - tail_of(among), freedom) * t->deviation / sqrt(freedom + 1);
        moved->lo = moved->mean - half;
        moved->hi = moved->mean + half;
    }
    enum hn_gate_side side = line->gate ? line->gate->side : HN_GATE_WORSE;
    bool both = side == HN_GATE_BOTH || (side == HN_GATE_WORSE && line->direction == HN_NEITHER);
    // Which way is worse, +1 or -1; of both the way that it went.
    bool down = both ? moved->mean < 0 : hn_gate_worse(side, line->direction, 0, 1) < 0;
    t->worse = down ? (struct hn_interval){-moved->mean, -moved->hi, -moved->lo} : *moved;
}

// Fails what is shown to be beyond its gate: all intervals hold together. The change of one seed
// has none, and counts as it is.
static void judge(struct named *w) {
    w->among = 0;
    for (int64_t i = 0; i < w->n; i++)
        w->among += w->out->line[w->test[i].line].gated;
    for (struct test *t = w->test; t < w->test + w->n; t++) {
        const struct hn_compare_line *line = &w->out->line[t->line];
        set_interval(t, line, line->gated ? w->among : 1);
        double low = isnan(t->worse.lo) ? t->worse.mean : t->worse.lo;
        t->change.failed = line->gated && (t->lost || low > t->limit);
    }
}

// True if a change differs from none.
static bool differs(const struct test *t) {
    const struct hn_interval *moved = &t->change.over.change;
    if (t->lost || t->change.over.seeds < 2)
        return t->lost || fabs(moved->mean) > 0;
    return moved->lo > 0 || moved->hi < 0;
}

// The least number of seeds that tells a test of the unclear ones; 0: unknown, or very many.
static int64_t seeds_of(const struct test *t, int64_t among) {
    enum { MOST = 1000 };
    int64_t n =
        hn_samples_needed(fabs(t->worse.mean - t->limit), t->deviation, tail_of(among), MOST);
    return n < 0 ? 0 : n;
}

// Counts a test in its line, which shows the worst of them: failures before the rest.
static void count(struct hn_comparison *c, const struct test *t) {
    struct hn_compare_line *line = &c->line[t->line];
    const struct hn_compare_change *change = &t->change;
    double share = hn_compare_share(t->lost ? INFINITY : t->worse.mean, change->from);
    bool first = line->base_row < 0, first_failed = change->failed && line->failed == 0;
    line->compared++;
    c->values++;
    line->differ += differs(t);
    c->differ += differs(t);
    line->failed += change->failed;
    c->failed += change->failed;
    if (first || first_failed || (share > line->worst && (change->failed || !line->failed))) {
        line->worst = share;
        line->from = change->from;
        line->to = change->to;
        line->base_row = change->base_row;
        line->now_row = change->now_row;
        line->over = change->over;
    }
}

static enum hn_code conclude(struct named *w) {
    struct hn_comparison *c = w->out;
    HN_SCOPE(w->ctx);
    double *needed = hn_alloc(w->ctx, w->n, sizeof *needed);
    if (!needed)
        return w->ctx->code;
    for (int64_t i = 0; i < w->n; i++) {
        const struct test *t = &w->test[i];
        count(c, t);
        bool unclear = c->line[t->line].gated && !t->change.failed && t->change.over.seeds > 1 &&
                       t->worse.hi > t->limit;
        if (unclear)
            needed[c->unclear++] = seeds_of(t, w->among) ? (double)seeds_of(t, w->among) : INFINITY;
    }
    for (int failed = 1; failed >= 0; failed--) // if there are too many, these are kept
        for (int64_t i = 0; i < w->n && c->n_changes < HN_COMPARE_CHANGES; i++)
            if (w->test[i].change.failed == (failed == 1) && (failed || differs(&w->test[i])))
                c->change[c->n_changes++] = w->test[i].change;
    double half = hn_median(needed, c->unclear); // NaN without any
    c->seeds_needed = isfinite(half) ? (int64_t)half : 0;
    return HN_OK;
}

enum hn_code hn_compare_named(struct hn_context *ctx, const struct hn_compare_options *options,
                              struct hn_comparison *out) {
    static const struct hn_table none = {0};
    struct named w = {.ctx = ctx, .options = options, .out = out};
    for (int kind = 0; kind < HN_ROW_KINDS; kind++) {
        const char *table = hn_row_owners[kind].table;
        const struct hn_table *a = hn_results_table(out->base, table),
                              *b = hn_results_table(out->now, table);
        struct hn_row_match *m = &out->match[kind];
        if (hn_row_match_named(ctx, a ? a : &none, b ? b : &none, options->is_default, m))
            return ctx->code;
        out->matched += m->n;
        out->only_base += m->only_base;
        out->only_now += m->only_now;
        out->settings += m->n ? m->setting[m->n - 1] + 1 : 0;
        struct group all = {a, b, m->pair, m->n};
        if (m->n == 0)
            continue;
        add_status(&w, table, &all);
        if (add_columns(&w, table, &all, m->setting))
            return ctx->code;
    }
    judge(&w);
    return conclude(&w);
}
