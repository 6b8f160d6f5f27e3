// Times of two results: the samples in /timing, whether the machines can be compared, the noise of
// the host, and the family of tests.
#include "results/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The timed phases of one run, gone through in their order.
struct phases {
    int64_t builds, seen; // in all; up to here
    double epoch;         // seconds of the latest beginning of an epoch
};

// The sample that row r of /timing adds to a metric, or NaN. A run's first build is that of the
// measuring, and cold: it counts only where nothing was repeated.
static double sample_of(const struct hn_table *t, int64_t r, const char *metric, struct phases *p) {
    const char *phase = hn_table_text(t, r, "phase");
    double seconds = hn_table_real(t, r, "wall_ns") * 1e-9;
    bool build = strcmp(phase, "build") == 0, next = strcmp(phase, "next") == 0;
    p->seen += build;
    if (strcmp(phase, "epoch") == 0)
        p->epoch = seconds;
    bool counts = hn_table_real(t, r, "warmup") == 0 && (p->builds <= 1 || p->seen > 1);
    if (!counts || !(seconds > 0))
        return NAN;
    if (strcmp(metric, "cost_g") == 0)
        return build ? seconds : NAN;
    double batches = hn_table_real(t, r, "batches");
    return next && batches > 0 ? seconds / batches + p->epoch : NAN;
}

static void fill_samples(const struct hn_results *r, const char *metric,
                         const struct hn_row_index *index, struct hn_time_samples *out) {
    int64_t at = 0;
    for (int64_t run = 0; run < r->runs.rows; run++) {
        struct phases p = {0};
        // A cost that does not apply (a sampler that builds nothing) has no samples either.
        bool applies = !isnan(hn_table_real(&r->runs, run, metric));
        out->start[run] = at;
        for (int64_t i = index->start[run]; i < index->start[run + 1]; i++)
            p.builds += strcmp(hn_table_text(&r->timing, index->row[i], "phase"), "build") == 0;
        for (int64_t i = index->start[run]; applies && i < index->start[run + 1]; i++) {
            double value = sample_of(&r->timing, index->row[i], metric, &p);
            if (!isnan(value))
                out->value[at++] = value;
        }
    }
    out->start[r->runs.rows] = at;
}

enum hn_code hn_time_samples(struct hn_context *ctx, const struct hn_results *r, const char *metric,
                             struct hn_time_samples *out) {
    struct hn_row_index index;
    *out = (struct hn_time_samples){.start = hn_alloc(ctx, r->runs.rows + 1, sizeof(int64_t)),
                                    .value = hn_alloc(ctx, r->timing.rows, sizeof(double))};
    HN_SCOPE(ctx);
    if (!out->start || !out->value || hn_row_index(ctx, &r->timing, "run", r->runs.rows, &index))
        return ctx->code;
    fill_samples(r, metric, &index, out);
    return HN_OK;
}

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
        snprintf(c->why_not, sizeof c->why_not, "other kinds of machine: %.100s and %.100s", was,
                 is);
    else if (strcmp(threads, hn_results_get_env(c->now, "threads")) != 0)
        snprintf(c->why_not, sizeof c->why_not, "other numbers of threads: %.20s and %.20s",
                 threads, hn_results_get_env(c->now, "threads"));
    else
        c->comparable = true;
}

// Change of the machine itself between the two runs, by the calibration of each: |ratio - 1|, the
// larger of products and reading. A slowdown within that says nothing about the program.
static double machine_change(const struct hn_comparison *c) {
    static const char *const rate[] = {"sgemm_gflops", "read_gbs"};
    double max = 0;
    for (int i = 0; i < 2; i++) {
        double was = atof(hn_results_get_env(c->base, rate[i]));
        double is = atof(hn_results_get_env(c->now, rate[i]));
        if (was > 0 && is > 0)
            max = fmax(max, fabs(fmax(was, is) / fmin(was, is) - 1));
    }
    return max;
}

// The samples of one metric on one side, over one or several files; rows are those of the first.
struct side {
    struct hn_time_samples *file; // [n]
    int64_t **owned;              // [n] row of file i that is row r of file 0, if there are several
    double *median;               // [n], scratch
    int64_t n;
    bool medians; // one sample a file
};

// Finds the rows of file 0 in file i, -1 where they are missing.
static enum hn_code find_rows(struct hn_context *ctx, const struct hn_results *r, int64_t i,
                              struct side *s) {
    struct hn_row_match match;
    int64_t rows = r[0].runs.rows;
    s->owned[i] = hn_alloc(ctx, rows, sizeof *s->owned[i]);
    if (!s->owned[i] || hn_row_match(ctx, &r[0].runs, &r[i].runs, NULL, NULL, &match))
        return ctx->code;
    for (int64_t k = 0; k < rows; k++)
        s->owned[i][k] = -1;
    for (int64_t k = 0; k < match.n; k++)
        s->owned[i][match.pair[k].base] = match.pair[k].now;
    return HN_OK;
}

static enum hn_code open_side(struct hn_context *ctx, const struct hn_results *r, int64_t n,
                              bool medians, const char *metric, struct side *s) {
    *s = (struct side){.n = n,
                       .medians = medians,
                       .file = hn_zalloc(ctx, n, sizeof *s->file),
                       .owned = hn_zalloc(ctx, n, sizeof *s->owned),
                       .median = hn_alloc(ctx, n, sizeof *s->median)};
    if (!s->file || !s->owned || !s->median)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (hn_time_samples(ctx, &r[i], metric, &s->file[i]) ||
            (medians && find_rows(ctx, r, i, s)))
            return ctx->code;
    return HN_OK;
}

// The samples of a row: its repetitions, or the medians of files, into `capacity` of n values.
static struct hn_samples samples_of(struct side *s, int64_t row, double *capacity) {
    const struct hn_time_samples *first = &s->file[0];
    if (!s->medians)
        return (struct hn_samples){first->value + first->start[row],
                                   first->start[row + 1] - first->start[row]};
    int64_t kept = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t r = s->owned[i][row];
        const struct hn_time_samples *file = &s->file[i];
        if (r < 0 || file->start[r + 1] == file->start[r])
            continue;
        // Sorts the samples in place: nothing else goes by their order here.
        capacity[kept++] =
            hn_median(file->value + file->start[r], file->start[r + 1] - file->start[r]);
    }
    return (struct hn_samples){capacity, kept};
}

static const struct hn_column *column_of(const struct hn_table *t, const char *name) {
    int c = hn_table_find(t, name);
    return c < 0 ? NULL : &t->column[c];
}

// The noise of the host as far as the samples show it: the 95th percentile of what they differ from
// themselves.
static enum hn_code measure_noise(struct hn_context *ctx, const struct hn_time_pair *pair,
                                  int64_t n, double *noise) {
    double *each = hn_alloc(ctx, 2 * n, sizeof *each);
    for (int64_t i = 0; each && i < n; i++)
        if (hn_split_noise(ctx, pair[i].base, &each[2 * i]) ||
            hn_split_noise(ctx, pair[i].now, &each[2 * i + 1]))
            return ctx->code;
    *noise = each ? hn_quantile(each, 2 * n, 0.95) : NAN;
    return each ? HN_OK : ctx->code;
}

// The costs of the matched cells of one metric, and their samples.
static void collect(const struct hn_comparison *c, const char *metric, struct side *base,
                    struct side *now, double *capacity, struct hn_compare_time *time,
                    struct hn_time_pair *pair, int64_t *n) {
    for (int64_t i = 0; i < c->runs.n; i++) {
        int64_t b = c->runs.pair[i].base, w = c->runs.pair[i].now;
        struct hn_time_pair p = {.base = samples_of(base, b, capacity)};
        p.now = samples_of(now, w, capacity + base->n);
        capacity += base->n + now->n;
        if (p.base.n == 0 || p.now.n == 0)
            continue;
        time[*n] = (struct hn_compare_time){.metric = metric,
                                            .base_row = b,
                                            .now_row = w,
                                            .n_base = p.base.n,
                                            .n_now = p.now.n,
                                            .from = NAN,
                                            .to = NAN};
        pair[(*n)++] = p;
    }
}

static const struct hn_gate *gate_of(const struct hn_comparison *c,
                                     const struct hn_compare_options *options, const char *metric) {
    const struct hn_column *column = column_of(&c->base->runs, metric);
    return column ? hn_compare_gate(options, column->name, column->role) : NULL;
}

static bool enough(const struct hn_compare_time *time) {
    return time->n_base >= HN_COMPARE_FEWEST && time->n_now >= HN_COMPARE_FEWEST;
}

// Which of the costs are gated, and from which slowdown on. Costs that are not gated are
// left out of the family, where they would only reduce the power of the test.
static void set_gates(const struct hn_comparison *c, const struct hn_compare_options *options,
                      struct hn_compare_time *time, struct hn_time_pair *pair) {
    const struct hn_gate *gate = gate_of(c, options, time->metric);
    time->gated = c->comparable && (gate || options->n_gates == 0);
    time->tested = time->gated && enough(time);
    time->min = fmax(gate ? gate->limit : hn_compare_min, c->floor);
    pair->min = time->min;
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
    if (hn_time_gate(ctx, family, n, hn_compare_alpha, verdict))
        return ctx->code;
    c->times_tested = n;
    for (int64_t i = 0, k = 0; i < c->n_times; i++) {
        struct hn_compare_time *t = &c->time[i];
        t->verdict = (struct hn_time_verdict){.ratio = NAN, .p = NAN, .holm = NAN};
        if (t->tested)
            t->verdict = verdict[k++];
        c->times_failed += t->verdict.slower;
        if (hn_median_ratio(ctx, pair[i].base, pair[i].now, 0.95, i, &t->ratio) ||
            hn_sample_median(ctx, pair[i].base, &t->from) ||
            hn_sample_median(ctx, pair[i].now, &t->to))
            return ctx->code;
    }
    return HN_OK;
}

// Times are not judged if noise exceeds the gates and hn_compare_noise_max: "none slower" would
// then hold of any program. Where there are too few samples to be judged that is the reason.
static void check_noise(struct hn_comparison *c, const struct hn_compare_options *options) {
    const struct hn_gate *gate[] = {gate_of(c, options, "cost_s"), gate_of(c, options, "cost_g")};
    double limit = hn_compare_noise_max;
    for (int i = 0; i < 2; i++)
        limit = gate[i] ? fmax(limit, gate[i]->limit) : limit;
    int64_t judged = 0;
    for (int64_t i = 0; i < c->n_times; i++)
        judged += enough(&c->time[i]);
    if (!c->comparable || c->noise <= limit || judged == 0)
        return;
    c->comparable = false;
    snprintf(c->why_not, sizeof c->why_not,
             "the host's noise is %.0f %%: measure on a quiet machine, with more repetitions",
             100 * c->noise);
}

static enum hn_code gate_all(struct hn_context *ctx, struct hn_comparison *c,
                             const struct hn_compare_options *options, struct hn_time_pair *pair) {
    compare_machines(c);
    if (measure_noise(ctx, pair, c->n_times, &c->noise))
        return ctx->code;
    c->noise = fmax(machine_change(c), isnan(c->noise) ? 0 : c->noise);
    c->floor = fmax(options->floor, c->noise);
    check_noise(c, options);
    for (int64_t i = 0; i < c->n_times; i++)
        set_gates(c, options, &c->time[i], &pair[i]);
    return judge(ctx, c, pair);
}

enum hn_code hn_compare_times(struct hn_context *ctx, const struct hn_results *base, int64_t n_base,
                              const struct hn_results *now, int64_t n_now,
                              const struct hn_compare_options *options, struct hn_comparison *out) {
    static const char *const metric[] = {"cost_s", "cost_g"};
    enum { METRICS = 2 };
    struct side before[METRICS] = {{0}}, after[METRICS] = {{0}};
    int64_t max = METRICS * out->runs.n;
    bool medians = out->rounds = options->rounds || n_base > 1 || n_now > 1;
    out->time = hn_zalloc(ctx, max, sizeof *out->time);
    HN_SCOPE(ctx);
    struct hn_time_pair *pair = hn_alloc(ctx, max, sizeof *pair);
    double *capacity = hn_alloc(ctx, max, (size_t)(n_base + n_now) * sizeof *capacity);
    if (!out->time || !pair || !capacity)
        return ctx->code;
    for (int m = 0; m < METRICS; m++) {
        if (open_side(ctx, base, n_base, medians, metric[m], &before[m]) ||
            open_side(ctx, now, n_now, medians, metric[m], &after[m]))
            return ctx->code;
        collect(out, metric[m], &before[m], &after[m],
                capacity + m * out->runs.n * (n_base + n_now), out->time, pair, &out->n_times);
    }
    return gate_all(ctx, out, options, pair);
}
