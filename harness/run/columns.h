// The columns of the tables of cells: /runs, /snapshots, /tables/studies and /timing.
#ifndef HN_HARNESS_RUN_COLUMNS_H
#define HN_HARNESS_RUN_COLUMNS_H

#include "metrics/metric.h"
#include "metrics/snapshot_metric.h"
#include "samplers/sampler.h"

enum { HN_COLUMNS_MAX = 512 };

enum hn_rows {
    HN_ROWS_RUNS,      // a cell with a sampler
    HN_ROWS_TRAININGS, // /runs of trainings, which has more columns
    HN_ROWS_SNAPSHOTS, // a step and temperature
    HN_ROWS_STUDIES,
    HN_ROWS_TIMING
};

// A table without rows. HN_INTERNAL: two columns have one name.
HN_MUST_USE enum hn_code hn_rows_table(struct hn_context *ctx, enum hn_rows rows,
                                       struct hn_table *out);

// The registries that bring columns, each NULL-terminated.
struct hn_registries {
    const struct hn_sampler_type *const *sampler;
    const struct hn_weighting_type *const *weighting;
    const struct hn_metric_type *const *metric;
    const struct hn_snapshot_metric_type *const *snapshot_metric;
};
// Checks that the names of base columns, options, reports and metrics are distinct; options of the
// same name and kind may be shared. HN_INTERNAL names the entry and the name. NULL: the program's
// own registries.
HN_MUST_USE enum hn_code hn_columns_check(struct hn_context *ctx,
                                          const struct hn_registries *registries);

#endif
