// SPDX-License-Identifier: GPL-3.0-or-later
// False negatives: pairs of a batch that share a label (docs/reference/methods.md; BS 5.3).
//
//   fn_ratio = sum_batches #{(a, b): a != b, c_a = c_b} / sum_batches #{(a, b): a != b, both
//   labelled}
//
// over ordered pairs of distinct items; with negatives per anchor, over pairs (anchor, negative).
// Of tuples, pairs whose passage is relevant to the query / all pairs. Check value: for uniform
// batches its expectation is sum_c n_c (n_c - 1) / (N (N - 1)). fn_start looks at the start item of
// a walk only, and says something else: how pure the neighbourhood of the start is, not how pure
// the batch is.
#include "metrics/metric.h"

enum { SAME, LABELLED, START_SHARE, START_COUNT, RECORD };
enum { FN_RATIO, FN_RATIO_LO, FN_RATIO_HI, FN_START, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"fn_ratio", HN_COLUMN_REAL, "share",
     "share of labelled pairs in a batch that share a label; NaN without such pairs", HN_SMALLER},
    {"fn_ratio_lo", HN_COLUMN_REAL, "share",
     "lower end of the 95 % interval of fn_ratio over batches; NaN unless two batches have "
     "labelled pairs",
     HN_SMALLER},
    {"fn_ratio_hi", HN_COLUMN_REAL, "share",
     "upper end of the 95 % interval of fn_ratio over batches; NaN unless two batches have "
     "labelled pairs",
     HN_SMALLER},
    {"fn_start", HN_COLUMN_REAL, "share",
     "share of the other labelled items of a batch with the label of its start item; NaN where no "
     "start item has such others, and for lists of negatives",
     HN_SMALLER},
};

static void batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                  int thread, double *record) {
    (void)state, (void)env, (void)thread;
    for (int32_t a = 0; a < p->n; a++) {
        record[SAME] += p->same[a];
        record[LABELLED] += p->labelled[a];
        // Anchors with negatives of their own have no start item among them.
        if (a == 0 && p->labelled[a] > 0 && !p->start) {
            record[START_SHARE] = (double)p->same[a] / (double)p->labelled[a];
            record[START_COUNT] = 1;
        }
    }
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)env;
    struct hn_interval ratio =
        hn_ratio_interval(record + SAME, record + LABELLED, RECORD, batches, 0.95);
    value[FN_RATIO] = ratio.mean;
    value[FN_RATIO_LO] = ratio.lo < 0 ? 0 : ratio.lo; // of a share; NaN stays
    value[FN_RATIO_HI] = ratio.hi > 1 ? 1 : ratio.hi;
    double share = 0, starts = 0;
    for (int64_t b = 0; b < batches; b++) {
        const double *r = record + b * RECORD;
        share += r[START_SHARE];
        starts += r[START_COUNT];
        if (r[LABELLED] > 0)
            arrays->batch_fn_ratio[b] = r[SAME] / r[LABELLED];
    }
    if (starts > 0)
        value[FN_START] = share / starts;
    return HN_OK;
}

const struct hn_metric_type hn_metric_fn_ratio = {
    .name = "fn_ratio",
    .family = "relation",
    .summary = "False-negative ratio of batches, and the label purity around the start item",
    .source = "BS 5.3, figure 6",
    .needs = HN_METRIC_NEEDS_LABELS | HN_METRIC_ANY,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
