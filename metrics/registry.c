#include "metrics/metric.h"
#include "metrics/snapshot_metric.h"
#include "metrics/studies/study.h"

#include <string.h>

extern const struct hn_metric_type hn_metric_fn_ratio, hn_metric_histogram, hn_metric_hardness,
    hn_metric_coverage, hn_metric_gap, hn_metric_loss;

// The one list: job files, `hardneg list` and the tests read it.
const struct hn_metric_type *const hn_metrics[] = {
    &hn_metric_fn_ratio,
    &hn_metric_histogram,
    &hn_metric_hardness,
    &hn_metric_coverage,
    &hn_metric_gap,
    &hn_metric_loss,
    NULL,
};

const struct hn_metric_type *hn_metric_find(const char *name) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

extern const struct hn_snapshot_metric_type hn_snapshot_alignment, hn_snapshot_uniformity,
    hn_snapshot_overlap_view, hn_snapshot_overlap_label, hn_snapshot_global_loss,
    hn_snapshot_knn_acc, hn_snapshot_probe_acc;

// The same for what needs no sampler.
const struct hn_snapshot_metric_type *const hn_snapshot_metrics[] = {
    &hn_snapshot_alignment,    &hn_snapshot_uniformity,
    &hn_snapshot_overlap_view, &hn_snapshot_overlap_label,
    &hn_snapshot_global_loss,  &hn_snapshot_knn_acc,
    &hn_snapshot_probe_acc,    NULL,
};

const struct hn_snapshot_metric_type *hn_snapshot_metric_find(const char *name) {
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

extern const struct hn_study_type hn_study_random_assignments, hn_study_prop1, hn_study_prop2,
    hn_study_prop3, hn_study_staleness, hn_study_purity, hn_study_heatmap,
    hn_study_global_histogram;

// Requested by name.
const struct hn_study_type *const hn_studies[] = {
    &hn_study_random_assignments,
    &hn_study_prop1,
    &hn_study_prop2,
    &hn_study_prop3,
    &hn_study_staleness,
    &hn_study_purity,
    &hn_study_heatmap,
    &hn_study_global_histogram,
    NULL,
};

const struct hn_study_type *hn_study_find(const char *name) {
    for (const struct hn_study_type *const *s = hn_studies; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
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
