#include "metrics/metric.h"

#include <string.h>

extern const struct hn_metric_type hn_metric_fn_ratio, hn_metric_histogram, hn_metric_hardness,
    hn_metric_coverage, hn_metric_gap;

// The one list: job files, `hardneg list` and the tests read it.
const struct hn_metric_type *const hn_metrics[] = {
    &hn_metric_fn_ratio, &hn_metric_histogram, &hn_metric_hardness,
    &hn_metric_coverage, &hn_metric_gap,       NULL,
};

const struct hn_metric_type *hn_metric_find(const char *name) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
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
