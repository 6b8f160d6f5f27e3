// SPDX-License-Identifier: GPL-3.0-or-later
// The lists of metrics of batches and of snapshots: job files, `hardneg list`, result columns and
// tests read them. A new metric is one file and one line here.
#include "metrics/metric.h"

#include <string.h>

#define METRICS(X)                                                                                 \
    X(fn_ratio)                                                                                    \
    X(duplicates)                                                                                  \
    X(histogram)                                                                                   \
    X(hardness)                                                                                    \
    X(true_hardness)                                                                               \
    X(coverage)                                                                                    \
    X(gap)                                                                                         \
    X(loss)

#define SNAPSHOT_METRICS(X)                                                                        \
    X(alignment)                                                                                   \
    X(uniformity)                                                                                  \
    X(overlap_view)                                                                                \
    X(overlap_label)                                                                               \
    X(global_loss)                                                                                 \
    X(knn_acc)                                                                                     \
    X(probe_acc)

#define DECLARE(name) extern const struct hn_metric_type hn_metric_##name;
#define REFER(name) &hn_metric_##name,
METRICS(DECLARE)
const struct hn_metric_type *const hn_metrics[] = {METRICS(REFER) NULL};

#define DECLARE_SNAPSHOT(name) extern const struct hn_snapshot_metric_type hn_snapshot_##name;
#define REFER_SNAPSHOT(name) &hn_snapshot_##name,
SNAPSHOT_METRICS(DECLARE_SNAPSHOT)
const struct hn_snapshot_metric_type *const hn_snapshot_metrics[] = {
    SNAPSHOT_METRICS(REFER_SNAPSHOT) NULL};

const struct hn_metric_type *hn_metric_find(const char *name) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

const struct hn_snapshot_metric_type *hn_snapshot_metric_find(const char *name) {
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

int hn_measure_columns(const struct hn_metric_type *const *metrics, int n_metrics) {
    int columns = 0;
    for (int i = 0; i < n_metrics; i++)
        columns += metrics[i]->n_columns;
    return columns;
}

unsigned hn_measure_needs(const struct hn_metric_type *const *metrics, int n_metrics) {
    unsigned needs = 0;
    for (int i = 0; i < n_metrics; i++)
        needs |= metrics[i]->needs;
    return needs;
}
