// SPDX-License-Identifier: GPL-3.0-or-later
// The metric of `choose`: hardness and false negatives of batches, or a bound on these by a prior.
#include "harness/choose/measured.h"
#include "core/exp.h"
#include "harness/choose/evidence.h"
#include "metrics/pairs.h"

#include <math.h>
#include <string.h>

const char *const hn_goals[] = {"hardness", "p99", "hardest", "lme", NULL};

// True if a pair of this kind counts for hardness.
static bool counts(bool labelled, uint8_t kind) {
    return !labelled || kind == HN_PAIR_TRUE_NEGATIVE;
}

// The pairs of anchor a with the items behind it. Exponentials are of v - 1, so that none
// overflows.
static void count_pairs(bool labelled, const struct hn_pairs *p, int32_t a, double temperature,
                        double *record) {
    struct hn_run run[2];
    (void)hn_pairs_runs(p, a, true, run);
    for (int r = 0; r < 2; r++)
        for (int32_t b = 0; b < run[r].count; b++) {
            float v = run[r].cosine[b];
            uint8_t kind = run[r].kind[b];
            record[HN_MEASURED_COUNTS + hn_cosine_bin(v, HN_HISTOGRAM_BINS)] += 1;
            record[HN_MEASURED_LABELLED] += kind != HN_PAIR_UNLABELLED;
            record[HN_MEASURED_SAME] += kind == HN_PAIR_FALSE_NEGATIVE;
            if (!counts(labelled, kind))
                continue;
            record[HN_MEASURED_HARD + HN_GOAL_MEAN] += (double)v;
            record[HN_MEASURED_HARD + HN_GOAL_LME] += hn_exp(((double)v - 1) / temperature);
            record[HN_MEASURED_COUNTED + HN_GOAL_MEAN] += 1;
        }
}

static void find_hardest(bool labelled, const struct hn_pairs *p, int32_t a, double *record) {
    struct hn_run run[2];
    float high = -INFINITY;
    (void)hn_pairs_runs(p, a, false, run);
    for (int r = 0; r < 2; r++)
        for (int32_t b = 0; b < run[r].count; b++)
            if (counts(labelled, run[r].kind[b]) && run[r].cosine[b] > high)
                high = run[r].cosine[b];
    if (!isfinite(high))
        return;
    record[HN_MEASURED_HARD + HN_GOAL_HARDEST] += (double)high;
    record[HN_MEASURED_COUNTED + HN_GOAL_HARDEST] += 1;
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    (void)self, (void)thread;
    bool labelled = hn_has_relation(env->items);
    for (int32_t a = 0; a < p->n; a++) {
        count_pairs(labelled, p, a, env->temperature, record);
        find_hardest(labelled, p, a, record);
    }
    double pairs = record[HN_MEASURED_COUNTED + HN_GOAL_MEAN];
    if (pairs > 0) {
        record[HN_MEASURED_HARD + HN_GOAL_P99] =
            hn_pairs_percentile(p, labelled, (uint64_t)pairs, 0.99);
        record[HN_MEASURED_COUNTED + HN_GOAL_P99] = 1;
        double *lme = &record[HN_MEASURED_HARD + HN_GOAL_LME];
        *lme = 1 + env->temperature * log(*lme / pairs);
        record[HN_MEASURED_COUNTED + HN_GOAL_LME] = 1;
    }
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)state, (void)value, (void)arrays;
    return env->taker->take(ctx, env->taker->self, record, batches);
}

const struct hn_metric_type hn_measured_metric = {
    .name = "choose",
    .family = "choose",
    .summary = "False negatives and hardness of each batch",
    .source = "docs/guide/choosing.md",
    .record_size = HN_MEASURED_SIZE,
    .batch = batch,
    .finish = finish,
};

// count[i]: the share of the pairs of record[batches] in bins from i on; [HN_HISTOGRAM_BINS] is 0.
static void shares_above(const double *record, int64_t batches, double *above) {
    memset(above, 0, (HN_HISTOGRAM_BINS + 1) * sizeof *above);
    for (int64_t b = 0; b < batches; b++)
        for (int i = 0; i < HN_HISTOGRAM_BINS; i++)
            above[i] += record[b * HN_MEASURED_SIZE + HN_MEASURED_COUNTS + i];
    for (int i = HN_HISTOGRAM_BINS - 1; i >= 0; i--)
        above[i] += above[i + 1];
    double all = above[0];
    for (int i = 0; i <= HN_HISTOGRAM_BINS; i++)
        above[i] /= all;
}

// The probability p that a pair in bins from `low` to `high` shares a class, where it is 1 from
// `high` on, such that `prior` of Uniform's pairs do.
static double step_probability(const double *uniform, double prior, int low, int high) {
    double width = uniform[low] - uniform[high];
    return width > 0 ? (prior - uniform[high]) / width : 0;
}

void hn_measured_shares(const struct hn_measured_pairs *uniform,
                        const struct hn_measured_pairs *sampler, double prior,
                        double share[HN_HISTOGRAM_BINS]) {
    double u[HN_HISTOGRAM_BINS + 1], h[HN_HISTOGRAM_BINS + 1], max = -1, between = 0;
    int best_low = 0, best_high = HN_HISTOGRAM_BINS;
    shares_above(uniform->record, uniform->batches, u);
    shares_above(sampler->record, sampler->batches, h);
    for (int high = HN_HISTOGRAM_BINS; high > 0 && u[high] <= prior; high--)
        for (int low = 0; low < high && u[low] >= prior; low++) {
            double p = step_probability(u, prior, low, high);
            double bound = h[high] + p * (h[low] - h[high]);
            if (bound > max) {
                max = bound;
                between = p;
                best_low = low;
                best_high = high;
            }
        }
    for (int i = 0; i < HN_HISTOGRAM_BINS; i++)
        share[i] = i >= best_high ? 1 : i >= best_low ? between : 0;
}

struct hn_evidence_batch hn_measured_batch(const double *record, enum hn_goal goal,
                                           const double *share) {
    struct hn_evidence_batch out = {.same = record[HN_MEASURED_SAME],
                                    .labelled = record[HN_MEASURED_LABELLED],
                                    .hard = record[HN_MEASURED_HARD + goal],
                                    .counted = record[HN_MEASURED_COUNTED + goal]};
    if (!share)
        return out;
    out.same = out.labelled = 0;
    for (int i = 0; i < HN_HISTOGRAM_BINS; i++) {
        out.same += share[i] * record[HN_MEASURED_COUNTS + i];
        out.labelled += record[HN_MEASURED_COUNTS + i];
    }
    return out;
}
