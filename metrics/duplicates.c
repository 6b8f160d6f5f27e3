// SPDX-License-Identifier: GPL-3.0-or-later
// Passages of a batch that have one text (docs/reference/methods.md): each is a false negative of
// the other's tuple, whatever relevance says.
//
//   duplicate_ratio = sum_batches #{(a, b): a != b, passages of one text} / sum_batches #{(a, b): a
//   != b}
#include "metrics/metric.h"

enum { EQUAL, PAIRS, RECORD };

static const struct hn_column columns[] = {
    {"duplicate_ratio", HN_COLUMN_REAL, "share",
     "share of the pairs of a batch whose passages have one text; NaN without passages",
     HN_SMALLER},
};

static void batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                  int thread, double *record) {
    const int32_t *text = env->items->tuples->passage;
    (void)state, (void)thread;
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        record[PAIRS] += (double)hn_pairs_runs(p, a, false, run);
        for (int r = 0; r < 2; r++)
            for (int32_t j = 0; j < run[r].count; j++)
                record[EQUAL] += text[run[r].id[j]] == text[p->id[a]];
    }
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    double equal = 0, pairs = 0;
    (void)ctx, (void)state, (void)env, (void)arrays;
    for (int64_t b = 0; b < batches; b++) {
        equal += record[b * RECORD + EQUAL];
        pairs += record[b * RECORD + PAIRS];
    }
    if (pairs > 0)
        value[0] = equal / pairs;
    return HN_OK;
}

const struct hn_metric_type hn_metric_duplicates = {
    .name = "duplicates",
    .family = "duplicates",
    .summary = "Share of the pairs of a batch of tuples whose passages have one text",
    .source = "docs/reference/methods.md",
    .needs = HN_METRIC_NEEDS_TUPLES | HN_METRIC_ANY,
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
