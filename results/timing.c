// Samples of costs in /timing.
#include "results/timing.h"
#include "core/stats.h"
#include "results/rows.h"

#include <math.h>
#include <string.h>

// The timed phases of one run, gone through in their order.
struct phases {
    int64_t builds, seen; // in all; up to here
    double epoch;         // seconds of the latest beginning of an epoch
};

// The sample that row r of /timing adds to a metric, or NaN. A run's first build is that of the
// measuring, and cold: it counts only where nothing was repeated.
static double sample_of(const struct hn_table *t, int64_t r, const char *metric, const char *column,
                        struct phases *p) {
    const char *phase = hn_table_text(t, r, "phase");
    double seconds = hn_table_real(t, r, column) * 1e-9;
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

static void fill_samples(const struct hn_results *r, const char *metric, const char *column,
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
            double value = sample_of(&r->timing, index->row[i], metric, column, &p);
            if (!isnan(value))
                out->value[at++] = value;
        }
    }
    out->start[r->runs.rows] = at;
}

bool hn_time_has_processor(const struct hn_results *r, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (strcmp(hn_results_get_env(&r[i], "threads"), "1") != 0 ||
            hn_table_find(&r[i].timing, "cpu_ns") < 0)
            return false;
    return true;
}

enum hn_code hn_time_samples(struct hn_context *ctx, const struct hn_results *r, const char *metric,
                             enum hn_clock clock, struct hn_time_samples *out) {
    struct hn_row_index index;
    *out = (struct hn_time_samples){.start = hn_alloc(ctx, r->runs.rows + 1, sizeof(int64_t)),
                                    .value = hn_alloc(ctx, r->timing.rows, sizeof(double))};
    HN_SCOPE(ctx);
    if (!out->start || !out->value || hn_row_index(ctx, &r->timing, "run", r->runs.rows, &index))
        return ctx->code;
    fill_samples(r, metric, clock == HN_CLOCK_PROCESSOR ? "cpu_ns" : "wall_ns", &index, out);
    return HN_OK;
}
