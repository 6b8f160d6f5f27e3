// SPDX-License-Identifier: GPL-3.0-or-later
// Times of two results: can the machines be compared, the noise of the host, the family of tests.
#include "core/rank_tests.h"
#include "core/stats.h"
#include "core/text.h"
#include "results/compare.h"
#include "results/slowdown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 1000 }; // that are named as what would tell

// The samples of one metric on one side, over one or several files; rows are those of the first.
struct side {
    struct hn_time_samples *file; // [n]
    int64_t **owned;              // [n] row of file i that is row r of file 0, -1 if it has none
    const struct hn_results *results; // [n]
    int64_t n;
};

// Costs can be compared between machines of one class that ran as many threads.
static void compare_machines(struct hn_comparison *c) {
    const char *was = hn_results_get_env(c->base, "machine_class");
    const char *is = hn_results_get_env(c->now, "machine_class");
    const char *threads = hn_results_get_env(c->base, "threads");
    c->comparable = false;
    if (!*was || !*is)
        snprintf(c->why_not, sizeof c->why_not, "a file does not say which machine it is from");
    else if (strncmp(was, "mixed", 5) == 0 || strncmp(is, "mixed", 5) == 0)
        snprintf(c->why_not, sizeof c->why_not, "a file holds times of several kinds of machine");
    else if (strcmp(was, is) != 0)
        hn_put_text(c->why_not, sizeof c->why_not, "other kinds of machine: %s and %s", was, is);
    else if (strcmp(threads, hn_results_get_env(c->now, "threads")) != 0)
        hn_put_text(c->why_not, sizeof c->why_not, "other numbers of threads: %s and %s",
                    hn_quote(threads).text, hn_quote(hn_results_get_env(c->now, "threads")).text);
    else
        c->comparable = true;
}

// Change of the machine itself between the two sides, by their calibrations: |ratio - 1|, the
// larger of products and reading. A slowdown within that says nothing about the program.
static enum hn_code machine_change(struct hn_context *ctx, const struct side *base,
                                   const struct side *now, double *change) {
    double was, is;
    *change = 0;
    for (int i = 0; hn_calibrations[i]; i++) {
        if (hn_time_calibration(ctx, base->results, base->n, hn_calibrations[i], &was) ||
            hn_time_calibration(ctx, now->results, now->n, hn_calibrations[i], &is))
            return ctx->code;
        *change = fmax(*change, fmax(was, is) / fmin(was, is) - 1); // a NaN changes nothing
    }
    return HN_OK;
}

// Finds the rows of file 0 in file i.
static enum hn_code find_rows(struct hn_context *ctx, const struct hn_results *r, int64_t i,
                              struct side *s) {
    struct hn_row_match match;
    int64_t rows = r[0].runs.rows;
    if (!HN_ALLOC(ctx, s->owned[i], rows))
        return ctx->code;
    for (int64_t k = 0; k < rows; k++)
        s->owned[i][k] = i == 0 ? k : -1;
    if (i == 0)
        return HN_OK;
    if (hn_row_match(ctx, &r[0].runs, &r[i].runs, NULL, NULL, &match))
        return ctx->code;
    for (int64_t k = 0; k < match.n; k++)
        s->owned[i][match.pair[k].base] = match.pair[k].now;
    return HN_OK;
}

static enum hn_code open_side(struct hn_context *ctx, const struct hn_results *r, int64_t n,
                              enum hn_time_kind kind, const struct hn_comparison *c,
                              struct side *s) {
    *s = (struct side){.results = r,
                       .n = n,
                       .file = hn_zalloc(ctx, n, sizeof *s->file),
                       .owned = hn_zalloc(ctx, n, sizeof *s->owned)};
    if (!s->file || !s->owned)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (hn_time_samples(ctx, &r[i], kind, c->clock, c->unit, &s->file[i]) ||
            find_rows(ctx, r, i, s))
            return ctx->code;
    return HN_OK;
}

// The samples of a row, those of all files together.
static enum hn_code samples_of(struct hn_context *ctx, const struct side *s, int64_t row,
                               struct hn_samples *out) {
    double *value = NULL;
    int64_t kept = 0, capacity = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t r = s->owned[i][row];
        if (r < 0)
            continue;
        int64_t begin = s->file[i].start[r], n = s->file[i].start[r + 1] - begin;
        if (hn_grow(ctx, &value, &capacity, kept + n, sizeof *value))
            return ctx->code;
        memcpy(value + kept, s->file[i].value + begin, (size_t)n * sizeof *value);
        kept += n;
    }
    *out = (struct hn_samples){value, kept};
    return HN_OK;
}

// The host's noise on costs of one size: the 95th percentile of what samples differ by, else 0.
static enum hn_code measure_noise(struct hn_context *ctx, const struct hn_comparison *c,
                                  const struct hn_time_pair *pair, int size, double *noise) {
    double *each = hn_alloc(ctx, 2 * c->n_times, sizeof *each);
    int64_t n = 0;
    if (!each)
        return ctx->code;
    for (int64_t i = 0; i < c->n_times; i++) {
        if (c->time[i].size != size)
            continue;
        if (hn_split_noise(ctx, pair[i].base, &each[n]) ||
            hn_split_noise(ctx, pair[i].now, &each[n + 1]))
            return ctx->code;
        n += 2;
    }
    double found = hn_quantile(each, n, 0.95);
    *noise = isnan(found) ? 0 : found;
    return HN_OK;
}

// One cost of the matched cells, and its samples.
static enum hn_code collect(struct hn_context *ctx, struct hn_comparison *c, enum hn_time_kind kind,
                            const struct side *base, const struct side *now,
                            struct hn_time_pair *pair) {
    for (int64_t i = 0; i < c->match[HN_ROW_RUN].n; i++) {
        int64_t b = c->match[HN_ROW_RUN].pair[i].base, w = c->match[HN_ROW_RUN].pair[i].now;
        struct hn_time_pair p = {.min = 0};
        if (samples_of(ctx, base, b, &p.base) || samples_of(ctx, now, w, &p.now))
            return ctx->code;
        if (p.base.n == 0 || p.now.n == 0)
            continue;
        c->time[c->n_times] = (struct hn_compare_time){.metric = hn_time_columns[kind],
                                                       .base_row = b,
                                                       .now_row = w,
                                                       .n_base = p.base.n,
                                                       .n_now = p.now.n};
        pair[c->n_times++] = p;
    }
    return HN_OK;
}

static const struct hn_gate *gate_of(const struct hn_comparison *c,
                                     const struct hn_compare_options *options, const char *metric) {
    int column = hn_table_find(&c->base->runs, metric);
    return column < 0 ? NULL : hn_compare_gate(options, metric, c->base->runs.column[column].role);
}

static bool enough(const struct hn_compare_time *time) {
    return time->n_base >= HN_COMPARE_FEWEST && time->n_now >= HN_COMPARE_FEWEST;
}

// Which of the costs are gated, and from which slowdown on. Costs that are not gated are
// left out of the family, where they would only reduce the power of the test.
static void set_gates(const struct hn_comparison *c, const struct hn_compare_options *options,
                      struct hn_compare_time *time, struct hn_time_pair *pair) {
    const struct hn_gate *gate = gate_of(c, options, time->metric);
    // Else "none slower" would hold of any program.
    time->noisy = enough(time) && fmax(c->noise[time->size], c->shift) >
                                      fmax(hn_compare_noise_max, gate ? gate->limit : 0);
    time->gated = c->comparable && (gate || options->n_gates == 0);
    time->tested = time->gated && enough(time) && !time->noisy;
    double limit = fmax(gate ? gate->limit : hn_compare_min, options->floor);
    time->limit = (1 + limit) * (1 + c->shift) - 1;
    time->min = pair->min = (1 + fmax(limit, c->noise[time->size])) * (1 + c->shift) - 1;
    pair->min_seconds = c->min_s;
}

// "Not shown to be slower" is not "none slower": that takes an interval that ends within the limit.
static enum hn_code find_unclear(struct hn_context *ctx, struct hn_comparison *c) {
    double *needed = hn_alloc(ctx, c->n_times, sizeof *needed);
    if (!needed)
        return ctx->code;
    for (int64_t i = 0; i < c->n_times; i++) {
        struct hn_compare_time *t = &c->time[i];
        double end = 1 + t->limit, mean = t->ratio.mean;
        t->unclear = t->tested && !t->verdict.slower && !(t->ratio.hi <= end) &&
                     (t->ratio.hi - 1) * t->from > c->min_s;
        if (!t->unclear)
            continue;
        double half = mean < end ? t->ratio.hi - mean : mean - t->ratio.lo;
        double times = half / fabs(end - mean); // narrower by that
        needed[c->times_unclear++] = ceil((double)hn_min(t->n_base, t->n_now) * times * times);
    }
    double median = hn_median(needed, c->times_unclear);
    c->samples_needed = median <= SAMPLES_MAX ? (int64_t)median : 0;
    return HN_OK;
}

static enum hn_code judge(struct hn_context *ctx, struct hn_comparison *c,
                          const struct hn_time_pair *pair) {
    struct hn_time_pair *family = hn_alloc(ctx, c->n_times, sizeof *family);
    struct hn_time_verdict *verdict = hn_alloc(ctx, c->n_times, sizeof *verdict);
    int64_t n = 0;
    if (!family || !verdict)
        return ctx->code;
    for (int64_t i = 0; i < c->n_times; i++)
        if (c->time[i].tested)
            family[n++] = pair[i];
    if (hn_time_gate(ctx, family, n, c->unit, hn_compare_alpha, verdict))
        return ctx->code;
    c->times_tested = n;
    for (int64_t i = 0, k = 0; i < c->n_times; i++) {
        struct hn_compare_time *t = &c->time[i];
        t->verdict = (struct hn_time_verdict){.ratio = NAN, .p = NAN, .holm = NAN};
        if (t->tested)
            t->verdict = verdict[k++];
        c->times_failed += t->verdict.slower;
        if (hn_median_ratio(ctx, pair[i].base, pair[i].now, 0.95, i, &t->ratio))
            return ctx->code;
    }
    return find_unclear(ctx, c);
}

// If noise keeps all gated costs with enough samples from being judged, the whole says so.
static void check_noise(struct hn_comparison *c, double floor) {
    int64_t gated = 0, noisy = 0;
    double max = 0;
    for (int64_t i = 0; i < c->n_times; i++) {
        const struct hn_compare_time *t = &c->time[i];
        gated += t->gated && enough(t);
        noisy += t->gated && t->noisy;
        double own = fmax(floor, c->noise[t->size]);
        max = t->gated ? fmax(max, fmax(c->noise[t->size], c->shift)) : max;
        c->floor = t->tested ? fmax(c->floor, (1 + own) * (1 + c->shift) - 1) : c->floor;
    }
    if (!c->comparable || gated == 0 || noisy < gated)
        return;
    c->comparable = false;
    for (int64_t i = 0; i < c->n_times; i++)
        c->time[i].gated = false;
    snprintf(c->why_not, sizeof c->why_not,
             "the host's noise is %.0f %%: measure on a quiet machine, with more repetitions",
             100 * max);
}

static enum hn_code find_sizes(struct hn_context *ctx, struct hn_comparison *c,
                               const struct hn_time_pair *pair) {
    for (int64_t i = 0; i < c->n_times; i++) {
        struct hn_compare_time *t = &c->time[i];
        if (hn_sample_median(ctx, pair[i].base, &t->from) ||
            hn_sample_median(ctx, pair[i].now, &t->to))
            return ctx->code;
        t->size = hn_time_size(t->from);
    }
    return HN_OK;
}

static enum hn_code gate_all(struct hn_context *ctx, struct hn_comparison *c,
                             const struct hn_compare_options *options, struct hn_time_pair *pair) {
    compare_machines(c);
    if (find_sizes(ctx, c, pair))
        return ctx->code;
    for (int size = 0; size < HN_TIME_SIZES; size++)
        if (measure_noise(ctx, c, pair, size, &c->noise[size]))
            return ctx->code;
    for (int64_t i = 0; i < c->n_times; i++)
        set_gates(c, options, &c->time[i], &pair[i]);
    check_noise(c, options->floor);
    return judge(ctx, c, pair);
}

// The samples are processes where there are several files a side, or both files have several.
// They go by processor time if they have one thread, as what it waits for is the machine's doing;
// more threads can also wait for each other.
static void choose_clock(struct hn_comparison *c, const struct hn_results *base, int64_t n_base,
                         const struct hn_results *now, int64_t n_now, bool rounds) {
    bool processes = rounds || n_base > 1 || n_now > 1 ||
                     (hn_time_has_processes(base) && hn_time_has_processes(now));
    bool processor = hn_time_has_processor(base, n_base) && hn_time_has_processor(now, n_now);
    c->unit = processes ? HN_TIME_PROCESSES : HN_TIME_REPETITIONS;
    c->clock = processes && processor ? HN_CLOCK_PROCESSOR : HN_CLOCK_WALL;
}

enum hn_code hn_compare_times(struct hn_context *ctx, const struct hn_results *base, int64_t n_base,
                              const struct hn_results *now, int64_t n_now,
                              const struct hn_compare_options *options, struct hn_comparison *out) {
    struct side before[HN_TIME_KINDS] = {{0}}, after[HN_TIME_KINDS] = {{0}};
    int64_t max = HN_TIME_KINDS * out->match[HN_ROW_RUN].n;
    out->time = hn_zalloc(ctx, max, sizeof *out->time);
    HN_SCOPE(ctx);
    struct hn_time_pair *pair = hn_zalloc(ctx, max, sizeof *pair);
    if (!out->time || !pair)
        return ctx->code;
    out->min_s = options->rounds ? hn_compare_min_s : hn_compare_min_s_files;
    choose_clock(out, base, n_base, now, n_now, options->rounds);
    for (int k = 0; k < HN_TIME_KINDS; k++)
        if (open_side(ctx, base, n_base, k, out, &before[k]) ||
            open_side(ctx, now, n_now, k, out, &after[k]) ||
            collect(ctx, out, k, &before[k], &after[k], pair))
            return ctx->code;
    // Rounds alternate: a change of the machine falls on both sides.
    if (!options->rounds && machine_change(ctx, &before[0], &after[0], &out->shift))
        return ctx->code;
    return gate_all(ctx, out, options, pair);
}
