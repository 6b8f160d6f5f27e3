// Metrics that need no sampler: quantities of one step of a series. One constant struct per metric,
// in a file named after its family, listed in registry.c. They declare the sinks they need, so that
// all of them share one sweep over the clean embeddings and one over the two views.
#ifndef HN_METRICS_SNAPSHOT_METRIC_H
#define HN_METRICS_SNAPSHOT_METRIC_H

#include "core/table.h"
#include "metrics/global.h"

struct hn_snapshot_env {
    const struct hn_items *items;
    const int8_t *split;       // [n] 0 train, 2 test (borrowed), or NULL: drawn by seed
    uint64_t seed;             // of what has to be drawn
    double probe_c;            // C of a linear probe; 0: chosen by validation
    const double *temperature; // [n_temperatures]
    int n_temperatures;
    const struct hn_global *global; // [n_temperatures], set before finish(); NULL without positives
};

struct hn_snapshot_metric_type {
    const char *name, *family, *summary, *source;
    unsigned needs; // of enum hn_metric_needs: without, its columns are NaN and the note says why
    const struct hn_column *columns;
    int n_columns;
    size_t state_size;
    bool all_pairs; // its time grows with the square of the number of items

    // Optional. Adds sinks, which live in the zeroed state, to the sweep over X X^T (`within`) and
    // to that over X1 X2^T (`between`, only if there are positives). What they allocate is given
    // back with the state.
    enum hn_code (*plan)(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                         struct hn_sweep *within, struct hn_sweep *between);
    // Required. After the sweeps: value[n_columns] (NaN before) for temperature number t.
    enum hn_code (*finish)(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                           int t, double *value);
};

extern const struct hn_snapshot_metric_type *const hn_snapshot_metrics[]; // NULL-terminated
const struct hn_snapshot_metric_type *hn_snapshot_metric_find(const char *name);

// Measures one step. value[n_temperatures x columns of all metrics]; global[n_temperatures] is
// filled where the items have positives (zeroed otherwise) and belongs to the caller;
// why[HN_MESSAGE_MAX] says what was missing; sweeps and n_dot count the work.
struct hn_snapshot_measured {
    double *value;
    struct hn_global *global;
    char *why;
    int64_t sweeps, n_dot;
};
HN_MUST_USE enum hn_code hn_snapshot_measure(struct hn_context *ctx,
                                             const struct hn_snapshot_metric_type *const *metrics,
                                             int n_metrics, struct hn_snapshot_env *env,
                                             struct hn_snapshot_measured *out);

#endif
