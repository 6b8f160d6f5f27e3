// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of costs in /timing.
#include "results/timing.h"
#include "core/stats.h"
#include "core/text.h"
#include "results/rows.h"
#include "results/slowdown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hn_time_columns[HN_TIME_KINDS] = {"cost_s", "cost_g"};

// The timed phases of one run, gone through in their order.
struct phases {
    int64_t builds, seen; // in all; up to here
    double begin; // seconds of the latest beginning of a first epoch, for each of its batches
};

// Seconds of row r of /timing for each of its batches; of a build, of all of it. The processor's
// time holds the reading of that clock, too, and so may be above the wall's.
static double seconds_of(const struct hn_table *t, int64_t r, enum hn_clock clock) {
    double seconds = hn_table_real(t, r, "wall_ns"), batches = hn_table_real(t, r, "batches");
    if (clock == HN_CLOCK_PROCESSOR)
        seconds = fmin(seconds, hn_table_real(t, r, "cpu_ns"));
    return 1e-9 * seconds / (batches > 0 ? batches : 1);
}

// The sample that row r of /timing adds to a cost, or NaN. A run's first build is that of the
// measuring, and cold: it counts only where nothing was repeated. Later epochs may begin with work
// that belongs to the build (GCBS orders anew), so that only the beginning of the first counts.
static double sample_of(const struct hn_table *t, int64_t r, enum hn_time_kind kind,
                        enum hn_clock clock, struct phases *p) {
    const char *phase = hn_table_text(t, r, "phase");
    bool build = strcmp(phase, "build") == 0, next = strcmp(phase, "next") == 0;
    double seconds = seconds_of(t, r, clock);
    p->seen += build;
    if (strcmp(phase, "epoch") == 0 && !(hn_table_real(t, r, "rep") > 0))
        p->begin = seconds;
    bool counts = hn_table_real(t, r, "warmup") == 0 && (p->builds <= 1 || p->seen > 1);
    if (!counts || !(seconds > 0))
        return NAN;
    if (kind == HN_TIME_BUILD)
        return build ? seconds : NAN;
    return next ? seconds + p->begin : NAN;
}

// Rows of /timing that one process made of a run.
struct process {
    const struct hn_table *timing;
    enum hn_time_kind kind;
    enum hn_clock clock;
    const int64_t *row; // [n]; NULL: 0, 1 ..
    int64_t n;
};

static int64_t row_of(const struct process *p, int64_t i) { return p->row ? p->row[i] : i; }

// Appends the samples of a process to value[at ...]; returns where they end.
static int64_t add_samples(const struct process *p, double *value, int64_t at) {
    const struct hn_table *t = p->timing;
    struct phases phases = {0};
    for (int64_t i = 0; i < p->n; i++)
        phases.builds += strcmp(hn_table_text(t, row_of(p, i), "phase"), "build") == 0;
    for (int64_t i = 0; i < p->n; i++) {
        double sample = sample_of(t, row_of(p, i), p->kind, p->clock, &phases);
        if (!isnan(sample))
            value[at++] = sample;
    }
    return at;
}

enum hn_code hn_time_median(struct hn_context *ctx, const struct hn_table *timing,
                            enum hn_time_kind kind, enum hn_clock clock, double *seconds) {
    const struct process only = {timing, kind, clock, NULL, timing->rows};
    HN_SCOPE(ctx);
    double *sample = hn_alloc(ctx, timing->rows, sizeof *sample);
    if (!sample)
        return ctx->code;
    *seconds = hn_median(sample, add_samples(&only, sample, 0));
    return HN_OK;
}

double hn_time_epoch_batches(const struct hn_table *timing) {
    for (int64_t r = 0; r < timing->rows; r++)
        if (strcmp(hn_table_text(timing, r, "phase"), "epoch") == 0)
            return hn_table_real(timing, r, "batches");
    return NAN;
}

// The process that made a row; files from before there were several have no such column.
static double process_of(const struct hn_table *t, int64_t row) {
    double process = hn_table_real(t, row, "process");
    return isnan(process) ? 0 : process;
}

// A run's repetitions in its first process, or the median of each. Returns where they end.
static int64_t fill_run(const struct process *all, enum hn_time_unit unit, double *value,
                        int64_t at) {
    struct process one = *all;
    for (int64_t i = 0; i < all->n; i += one.n) {
        one.row = all->row + i;
        double number = process_of(all->timing, one.row[0]);
        for (one.n = 1; i + one.n < all->n; one.n++)
            if (process_of(all->timing, one.row[one.n]) != number)
                break;
        int64_t end = add_samples(&one, value, at);
        if (unit == HN_TIME_REPETITIONS)
            return end;
        if (end > at) {
            value[at] = hn_median(value + at, end - at);
            at++;
        }
    }
    return at;
}

static void fill_samples(const struct hn_results *r, enum hn_time_kind kind, enum hn_clock clock,
                         enum hn_time_unit unit, const struct hn_row_index *index,
                         struct hn_time_samples *out) {
    int64_t at = 0;
    for (int64_t run = 0; run < r->runs.rows; run++) {
        const int64_t *start = &index->start[run];
        const struct process all = {&r->timing, kind, clock, index->row + start[0],
                                    start[1] - start[0]};
        out->start[run] = at;
        // A cost that does not apply (a sampler that builds nothing) has no samples either.
        if (!isnan(hn_table_real(&r->runs, run, hn_time_columns[kind])))
            at = fill_run(&all, unit, out->value, at);
    }
    out->start[r->runs.rows] = at;
}

bool hn_time_has_processes(const struct hn_results *r) {
    for (int64_t i = 0; i < r->timing.rows; i++)
        if (process_of(&r->timing, i) > 0)
            return true;
    return false;
}

bool hn_time_has_processor(const struct hn_results *r, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (strcmp(hn_results_get_env(&r[i], "threads"), "1") != 0 ||
            hn_table_find(&r[i].timing, "cpu_ns") < 0)
            return false;
    return true;
}

enum hn_code hn_time_samples(struct hn_context *ctx, const struct hn_results *r,
                             enum hn_time_kind kind, enum hn_clock clock, enum hn_time_unit unit,
                             struct hn_time_samples *out) {
    struct hn_row_index index;
    *out = (struct hn_time_samples){.start = hn_alloc(ctx, r->runs.rows + 1, sizeof(int64_t)),
                                    .value = hn_alloc(ctx, r->timing.rows, sizeof(double))};
    HN_SCOPE(ctx);
    if (!out->start || !out->value || hn_row_index(ctx, &r->timing, "run", r->runs.rows, &index))
        return ctx->code;
    fill_samples(r, kind, clock, unit, &index, out);
    return HN_OK;
}

const char *const hn_calibrations[] = {"sgemm_gflops", "read_gbs", NULL};

enum hn_code hn_time_calibration(struct hn_context *ctx, const struct hn_results *r, int64_t n,
                                 const char *rate, double *median) {
    HN_SCOPE(ctx);
    double *each = hn_alloc(ctx, n, sizeof *each);
    int64_t kept = 0;
    for (int64_t i = 0; each && i < n; i++) {
        double value = atof(hn_results_get_env(&r[i], rate));
        if (value > 0)
            each[kept++] = value;
    }
    *median = each && kept > 0 ? hn_median(each, kept) : NAN;
    return each ? HN_OK : ctx->code;
}

static enum hn_code add_run(struct hn_context *ctx, const struct hn_results *from,
                            const struct hn_row_index *index, struct hn_row_pair run,
                            int64_t number, struct hn_table *to) {
    const int64_t *start = &index->start[run.now];
    int64_t first = to->rows;
    if (hn_table_append_rows(ctx, to, &from->timing, index->row + start[0], start[1] - start[0]))
        return ctx->code;
    for (int64_t row = first; row < to->rows; row++)
        if (HN_TABLE_SET(ctx, to, row, HN_INT_VALUE("run", run.base),
                         HN_INT_VALUE("process", number)))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_process(struct hn_context *ctx, const struct hn_results *from,
                                int64_t number, struct hn_results *to) {
    struct hn_row_match match;
    struct hn_row_index index;
    int64_t others = 0;
    HN_SCOPE(ctx);
    if (hn_row_match(ctx, &to->runs, &from->runs, NULL, NULL, &match) ||
        hn_row_index(ctx, &from->timing, "run", from->runs.rows, &index))
        return ctx->code;
    hn_own(ctx, scope.outer);
    for (int64_t i = 0; i < match.n; i++) {
        struct hn_row_pair run = match.pair[i];
        if (strcmp(hn_table_text(&to->runs, run.base, "program"),
                   hn_table_text(&from->runs, run.now, "program")) != 0)
            others++;
        else if (add_run(ctx, from, &index, run, number, &to->timing))
            return ctx->code;
    }
    if (others > 0)
        hn_note(ctx,
                "without times of process %" PRId64 ": %s, as another program made either; --fresh "
                "makes both anew",
                number, hn_counted(others, "cell").text);
    return HN_OK;
}

enum hn_code hn_time_add(struct hn_context *ctx, const struct hn_results *process, int64_t n,
                         struct hn_results *to) {
    for (int64_t i = 1; i < n; i++)
        if (add_process(ctx, &process[i], i, to))
            return ctx->code;
    return HN_OK;
}
