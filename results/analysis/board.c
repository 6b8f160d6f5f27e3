// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the files of a board, and the scores of each entry on each encoder.
#include "results/analysis/board.h"
#include "core/text.h"
#include "results/programs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct hn_hardness hn_board_measures[HN_BOARD_MEASURES] = {
    {"true_mean", "mean cosine of true negatives", "mean cosine", "mean"},
    {"true_lme", "log-mean-exp of true negatives", "log-mean-exp", "lme"},
    {"hard_true_mean", "cosine of the hardest true negative of each anchor", "hardest", "hardest"}};
const double hn_board_budgets[HN_BOARD_BUDGETS] = {0.5, 2, 10};

struct reading {
    struct hn_context *ctx;
    const struct hn_board_file *reference;
    struct hn_board *b;
    const struct hn_table *suite; // of the reference
    int64_t *row;                 // [encoders] of `suite`
    struct hn_overview of_reference;
    struct hn_front_stop *line, *own; // scratch: [settings]
};

static bool is_reference(const struct hn_board_file *f) {
    return strcmp(hn_results_get(f->results, HN_BOARD_ENTRY), HN_BOARD_REFERENCE) == 0;
}

static enum hn_code check_file(struct hn_context *ctx, const struct hn_board_file *f) {
    if (!*hn_results_get(f->results, HN_BOARD_ENTRY) ||
        !*hn_results_get(f->results, HN_BOARD_SHA256) ||
        !hn_results_table(f->results, HN_BOARD_TABLE))
        return hn_fail(ctx, HN_DATA,
                       "%s: is no entry of a board: make one with `hardneg board --suite SUITE "
                       "--entry ENTRY -o FILE`",
                       f->name);
    if (f->results->no_checksum)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no checksum, so another program has changed it since it was "
                       "measured: make the entry again",
                       f->name);
    return HN_OK;
}

static enum hn_code find_reference(struct hn_context *ctx, const struct hn_board_file *file,
                                   int64_t n, const struct hn_board_file **reference) {
    *reference = NULL;
    for (int64_t i = 0; i < n; i++) {
        if (check_file(ctx, &file[i]))
            return ctx->code;
        if (*reference && is_reference(&file[i]))
            return hn_fail(ctx, HN_USAGE, "%s and %s are both the reference: give one",
                           (*reference)->name, file[i].name);
        if (is_reference(&file[i]))
            *reference = &file[i];
    }
    if (*reference)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "no file is the reference of the suite, against which entries are scored: give "
                   "its reference.h5, too");
}

static enum hn_code check_against(struct hn_context *ctx, const struct hn_board_file *f,
                                  const struct hn_board_file *reference) {
    const char *own = hn_results_get(f->results, HN_BOARD_SHA256),
               *other = hn_results_get(reference->results, HN_BOARD_SHA256);
    int version = hn_results_version(f->results), wanted = hn_results_version(reference->results);
    if (strcmp(own, other) != 0)
        return hn_fail(ctx, HN_USAGE,
                       "%s is of another suite (%s, checksum %.12s) than %s (%s, %.12s): entries "
                       "of one suite make a board",
                       f->name, hn_results_get(f->results, HN_BOARD_SUITE), own, reference->name,
                       hn_results_get(reference->results, HN_BOARD_SUITE), other);
    if (version != wanted)
        return hn_fail(ctx, HN_USAGE,
                       "%s was made by version %d of the code that measures, %s by version %d, and "
                       "their numbers may differ: make the older one again",
                       f->name, version, reference->name, wanted);
    return HN_OK;
}

// Kinds kept aside come last, the others in the order of the suite.
static enum hn_code find_kinds(struct reading *a, const struct hn_text_list *only) {
    struct hn_board *b = a->b;
    const struct hn_table *t = a->suite;
    if (!HN_ZALLOC(a->ctx, b->kind, t->rows) || !HN_ALLOC(a->ctx, a->row, t->rows))
        return a->ctx->code;
    for (int kept = 0; kept < 2; kept++)
        for (int64_t i = 0; i < t->rows; i++) {
            const char *name = hn_table_text(t, i, "kind");
            bool counts = !only || only->count == 0;
            for (int64_t k = 0; only && k < only->count; k++)
                counts |= strcmp(only->item[k], name) == 0;
            if (!counts || (hn_table_real(t, i, "kept") > 0) != kept)
                continue;
            if (b->kinds == 0 || strcmp(b->kind[b->kinds - 1].name, name) != 0)
                b->kind[b->kinds++] =
                    (struct hn_board_kind){.name = name, .kept = kept, .first = b->encoders};
            b->kind[b->kinds - 1].encoders++;
            a->row[b->encoders++] = i;
        }
    for (int64_t k = 0; k < b->kinds; k++)
        b->kept += b->kind[k].kept;
    for (int64_t k = 0; only && k < only->count; k++)
        if (hn_table_row_with(t, "kind", only->item[k]) < 0)
            return hn_fail(a->ctx, HN_USAGE, "the suite %s has no kind '%s'", b->suite,
                           hn_quote(only->item[k]).text);
    return HN_OK;
}

static bool is_on(const struct hn_overview *o, int64_t s, const struct hn_table *suite,
                  int64_t row) {
    const struct hn_table *runs = &o->results->runs;
    int64_t cell = o->first[s];
    return strcmp(hn_table_text(runs, cell, "dataset_sha256"),
                  hn_table_text(suite, row, "sha256")) == 0 &&
           hn_table_real(runs, cell, "step") == hn_table_real(suite, row, "step");
}

// Every cell is of an encoder of the suite.
static enum hn_code check_cells(struct hn_context *ctx, const struct hn_overview *o,
                                const struct hn_table *suite, const char *name) {
    for (int64_t s = 0; s < o->settings; s++) {
        bool found = false;
        for (int64_t row = 0; row < suite->rows && !found; row++)
            found = is_on(o, s, suite, row);
        if (!found)
            return hn_fail(ctx, HN_DATA,
                           "%s: has cells of %s, whose checksum is none of the suite's: make the "
                           "entry again with the suite's own encoders",
                           name, hn_table_text(&o->results->runs, o->first[s], "dataset"));
    }
    return HN_OK;
}

// Uniform among the settings of the reference on an encoder, -1 = none.
static int64_t uniform_on(const struct reading *a, int64_t encoder) {
    const struct hn_overview *o = &a->of_reference;
    for (int64_t s = 0; s < o->settings; s++)
        if (is_on(o, s, a->suite, a->row[encoder]) &&
            hn_is_uniform(hn_overview_sampler(o, s),
                          hn_table_text(&o->results->runs, o->first[s], "params")))
            return s;
    return -1;
}

// Stops of the settings on an encoder that have all seeds; how many. Excesses are in points.
static int64_t collect(const struct reading *a, const struct hn_overview *o, int64_t encoder,
                       const char *measure, struct hn_front_stop *stop) {
    int64_t uniform = uniform_on(a, encoder), n = 0;
    double base = uniform < 0 ? NAN : hn_overview_mean(&a->of_reference, uniform, "fn_ratio").mean;
    for (int64_t s = 0; s < o->settings; s++)
        if (is_on(o, s, a->suite, a->row[encoder]) && uniform >= 0 &&
            o->seeds[s] == a->of_reference.seeds[uniform])
            stop[n++] =
                (struct hn_front_stop){{hn_overview_mean(o, s, measure).mean,
                                        100 * (hn_overview_mean(o, s, "fn_ratio").mean - base),
                                        hn_overview_cost(o, s).batch}};
    return n;
}

// Leaves out what costs more than the board's limit; how many stops are left.
static int64_t drop_dear(const struct hn_board *b, struct hn_front_stop *stop, int64_t n) {
    int64_t left = 0;
    if (isinf(b->seconds))
        return n;
    for (int64_t i = 0; i < n; i++)
        if (stop[i].value[HN_FRONT_COST] <= b->seconds)
            stop[left++] = stop[i];
    return left;
}

static bool is_measured(const struct hn_front_stop *stop, int64_t n) {
    bool all = n > 0;
    for (int64_t i = 0; i < n; i++)
        all &= isfinite(stop[i].value[HN_FRONT_HIGH]) && isfinite(stop[i].value[HN_FRONT_LOW]);
    return all;
}

// The excess of the reference at a hardness. Below its setting of the lowest hardness the line is
// mirrored there: a setting that is less hard by so much is as far behind as one that is harder
// would be ahead, so that noise about that hardness cancels. Beyond its hardest, it is that one's.
static double excess_at(const struct hn_front_stop *line, int64_t n, double hard) {
    double easiest = line[0].value[HN_FRONT_HIGH], min = line[0].value[HN_FRONT_LOW];
    if (hard < easiest)
        return 2 * min - excess_at(line, n, 2 * easiest - hard);
    return hard >= line[n - 1].value[HN_FRONT_HIGH]
               ? line[n - 1].value[HN_FRONT_LOW]
               : hn_front_at(line, n, HN_FRONT_HIGH, hard, HN_FRONT_LOW);
}

static double excess_beyond(const struct hn_front_stop *line, int64_t n,
                            const struct hn_front_stop *own, struct hn_board_entry *counts) {
    double hard = own->value[HN_FRONT_HIGH];
    counts->below += hard < line[0].value[HN_FRONT_HIGH];
    counts->beyond += hard > line[n - 1].value[HN_FRONT_HIGH];
    return own->value[HN_FRONT_LOW] - excess_at(line, n, hard);
}

// The hardness that a line attains within a budget.
static double within(const struct hn_front_stop *line, int64_t n, double budget) {
    return budget >= line[n - 1].value[HN_FRONT_LOW]
               ? line[n - 1].value[HN_FRONT_HIGH]
               : hn_front_at(line, n, HN_FRONT_LOW, fmax(budget, line[0].value[HN_FRONT_LOW]),
                             HN_FRONT_HIGH);
}

// The scale of an encoder: the points that the reference adds to Uniform's false negatives, the
// mean over its range of hardness.
static double pays(const struct hn_front_stop *line, int64_t n) {
    double area = 0, range = line[n - 1].value[HN_FRONT_HIGH] - line[0].value[HN_FRONT_HIGH];
    for (int64_t i = 1; i < n; i++)
        area += (line[i].value[HN_FRONT_HIGH] - line[i - 1].value[HN_FRONT_HIGH]) *
                (line[i].value[HN_FRONT_LOW] + line[i - 1].value[HN_FRONT_LOW]) / 2;
    return fmax(HN_BOARD_PAYS_MIN, range > 0 ? area / range : 0);
}

static double *values_of(const struct hn_board *b, int64_t entry, struct hn_board_score of) {
    return b->value +
           ((entry * HN_BOARD_MEASURES + of.measure) * HN_BOARD_SCORES + of.score) * b->encoders;
}

static void forget_values(const struct hn_board *b, int64_t entry) {
    double *value = values_of(b, entry, (struct hn_board_score){0});
    for (int64_t i = 0; i < HN_BOARD_MEASURES * HN_BOARD_SCORES * b->encoders; i++)
        value[i] = NAN;
}

// All scores of an entry by a measure on an encoder. The entry, too, may mix its batches with
// Uniform's, so that a budget below all of its settings is no gap.
static void score(struct reading *a, const struct hn_overview *o, int64_t entry, int measure,
                  int64_t encoder) {
    struct hn_board_entry counts = {0}, *e = &a->b->entry[entry];
    const char *column = hn_board_measures[measure].column;
    int64_t n = collect(a, &a->of_reference, encoder, column, a->line),
            own = collect(a, o, encoder, column, a->own), uniform = -1;
    for (int64_t i = 0; i < n && uniform < 0; i++)
        uniform = a->line[i].value[HN_FRONT_LOW] == 0 ? i : -1;
    if (own != e->settings || uniform < 0 || !is_measured(a->own, own) || !is_measured(a->line, n))
        return;
    int64_t left = drop_dear(a->b, a->own, own);
    counts.dear = own - left;
    a->own[left] = a->line[uniform];
    own = left > 0 ? left : 1;
    n = hn_front_line(a->line, n);
    double sum = 0;
    for (int64_t i = 0; i < own; i++)
        sum += excess_beyond(a->line, n, &a->own[i], &counts);
    if (measure == 0) {
        e->dear += counts.dear;
        e->below += counts.below;
        e->beyond += counts.beyond;
    }
    struct hn_board_score of = {measure, HN_BOARD_EXCESS};
    values_of(a->b, entry, of)[encoder] = sum / (double)own;
    of.score = HN_BOARD_SHARE;
    values_of(a->b, entry, of)[encoder] = 100 * sum / (double)own / pays(a->line, n);
    int64_t length = hn_front_line(a->own, left + 1);
    for (int i = 0; i < HN_BOARD_BUDGETS; i++) {
        of.score = HN_BOARD_GAIN + i;
        values_of(a->b, entry, of)[encoder] =
            within(a->own, length, hn_board_budgets[i]) - within(a->line, n, hn_board_budgets[i]);
    }
}

// Settings of an entry are those that it has on any encoder, and what they cost.
static void describe(const struct hn_overview *o, struct hn_board_entry *e) {
    double sum = 0, n = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        const struct hn_table *runs = &o->results->runs;
        bool first = true;
        for (int64_t k = 0; k < s && first; k++)
            first = strcmp(hn_overview_sampler(o, k), hn_overview_sampler(o, s)) != 0 ||
                    strcmp(hn_table_text(runs, o->first[k], "params"),
                           hn_table_text(runs, o->first[s], "params")) != 0;
        e->settings += first;
        double cost = hn_overview_cost(o, s).batch;
        if (isfinite(cost)) {
            sum += cost;
            n++;
        }
    }
    e->cost = sum / n;
}

bool hn_board_is_dear(const struct hn_board *b, int64_t entry) {
    const struct hn_board_entry *e = &b->entry[entry];
    return e->dear > 0 && e->dear == e->settings * b->encoders;
}

static enum hn_code add_entry(struct reading *a, const struct hn_board_file *f) {
    struct hn_context *ctx = a->ctx;
    const struct hn_results *r = f->results;
    struct hn_board *b = a->b;
    struct hn_overview o;
    HN_SCOPE(ctx);
    struct hn_board_entry *e = &b->entry[b->entries];
    *e = (struct hn_board_entry){.name = hn_results_get(r, HN_BOARD_ENTRY),
                                 .authors = hn_results_get(r, HN_BOARD_AUTHORS),
                                 .chosen_on = hn_results_get(r, HN_BOARD_CHOSEN_ON),
                                 .labels = hn_results_get(r, HN_BOARD_SETTINGS_TEXT),
                                 .file = f->name};
    for (int64_t i = 0; i < b->entries; i++)
        if (strcmp(b->entry[i].name, e->name) == 0)
            return hn_fail(ctx, HN_USAGE,
                           "%s and %s are both of the entry '%s': give one, or give one of them "
                           "another name",
                           b->entry[i].file, f->name, e->name);
    if (hn_overview_make(ctx, r, &o) || check_cells(ctx, &o, a->suite, f->name))
        return ctx->code;
    a->line = hn_alloc(ctx, a->of_reference.settings, sizeof *a->line);
    a->own = hn_alloc(ctx, o.settings + 1, sizeof *a->own);
    if (!a->line || !a->own)
        return ctx->code;
    describe(&o, e);
    for (int m = 0; m < HN_BOARD_MEASURES; m++)
        for (int64_t i = 0; i < b->encoders; i++)
            score(a, &o, b->entries, m, i);
    if (hn_board_is_dear(b, b->entries)) // Uniform everywhere is no score of the entry
        forget_values(b, b->entries);
    b->entries++;
    return HN_OK;
}

static void find_uniform(struct reading *a) {
    struct hn_board *b = a->b;
    for (int64_t k = 0; k < b->kinds; k++) {
        double sum = 0;
        for (int64_t i = 0; i < b->kind[k].encoders; i++) {
            int64_t s = uniform_on(a, b->kind[k].first + i);
            sum += s < 0 ? NAN : hn_overview_mean(&a->of_reference, s, "fn_ratio").mean;
        }
        b->kind[k].uniform = 100 * sum / (double)b->kind[k].encoders;
    }
}

static int by_name(const void *a, const void *b) {
    const struct hn_board_file *const *x = a, *const *y = b;
    return strcmp(hn_results_get((*x)->results, HN_BOARD_ENTRY),
                  hn_results_get((*y)->results, HN_BOARD_ENTRY));
}

// Allocates entries and values, and sorts the files of entries by name.
static enum hn_code reserve(struct reading *a, const struct hn_board_file *file, int64_t n,
                            const struct hn_board_file **sorted) {
    struct hn_board *b = a->b;
    int64_t values = n * HN_BOARD_MEASURES * HN_BOARD_SCORES * b->encoders, entries = 0;
    if (!HN_ZALLOC(a->ctx, b->entry, n) || !HN_ALLOC(a->ctx, b->value, values))
        return a->ctx->code;
    for (int64_t i = 0; i < n; i++)
        forget_values(b, i);
    for (int64_t i = 0; i < n; i++)
        if (&file[i] != a->reference)
            sorted[entries++] = &file[i];
    qsort(sorted, (size_t)entries, sizeof *sorted, by_name);
    return HN_OK;
}

enum hn_code hn_board_read(struct hn_context *ctx, const struct hn_board_file *file, int64_t n,
                           struct hn_board_wish wish, struct hn_board *out) {
    struct reading a = {.ctx = ctx, .b = out};
    *out = (struct hn_board){.seconds = wish.seconds};
    if (find_reference(ctx, file, n, &a.reference))
        return ctx->code;
    const struct hn_results *r = a.reference->results;
    const struct hn_board_file **sorted = hn_alloc(ctx, n, sizeof *sorted);
    a.suite = hn_results_table(r, HN_BOARD_TABLE);
    out->suite = hn_results_get(r, HN_BOARD_SUITE);
    out->sha256 = hn_results_get(r, HN_BOARD_SHA256);
    out->version = hn_results_version(r);
    if (!sorted || find_kinds(&a, wish.kinds) || hn_overview_make(ctx, r, &a.of_reference) ||
        check_cells(ctx, &a.of_reference, a.suite, a.reference->name) ||
        reserve(&a, file, n, sorted))
        return ctx->code;
    find_uniform(&a);
    for (int64_t i = 0; i + 1 < n; i++)
        if (check_against(ctx, sorted[i], a.reference) || add_entry(&a, sorted[i]))
            return ctx->code;
    return HN_OK;
}

struct hn_mean hn_board_on_kind(const struct hn_board *b, int64_t entry, struct hn_board_score of,
                                int64_t kind) {
    const struct hn_board_kind *k = &b->kind[kind];
    const double *value = values_of(b, entry, of) + k->first;
    for (int64_t i = 0; i < k->encoders; i++)
        if (isnan(value[i]))
            return hn_no_mean;
    return hn_values_mean(value, k->encoders, 0);
}
