// SPDX-License-Identifier: GPL-3.0-or-later
// The metric type: one constant struct per metric, in a file named after its family, listed in
// registry.c. A metric maps every batch to a record of doubles and reduces the records to columns.
#pragma once

#include "core/stats.h"
#include "core/table.h"
#include "datasets/items.h"
#include "metrics/global.h"
#include "metrics/pairs.h"
#include "metrics/weighting.h"

enum hn_metric_needs {
    HN_METRIC_NEEDS_LABELS = 1,      // without, its columns are NaN and the note says `no labels`;
                                     // for batches of tuples relevance takes their place
    HN_METRIC_NEEDS_POSITIVE = 2,    // without, NaN and `no positive`
    HN_METRIC_NEEDS_GLOBAL = 4,      // the sweep over the two views: needs positives too
    HN_METRIC_USES_LABELS = 8,       // without, some of its columns are NaN, with the same note
    HN_METRIC_NEEDS_VIEWS = 16,      // products within a view: needs positives too
    HN_METRIC_NEEDS_UNWEIGHTED = 32, // with a weighting, NaN and `<name>: weighting none only`
    HN_METRIC_NEEDS_CLASSES = 64,    // one label an item; else NaN and `several labels an item`
    HN_METRIC_NEEDS_TUPLES = 128,    // else NaN, without a note
    // Is the same for any temperature; for any loss and weighting.
    HN_METRIC_ANY_TEMPERATURE = 256,
    HN_METRIC_ANY_LOSS = 512,
    HN_METRIC_ANY = HN_METRIC_ANY_TEMPERATURE | HN_METRIC_ANY_LOSS
};

// Takes the records of a metric that is in no registry, which its `finish` hands over.
struct hn_metric_taker {
    void *self; // borrowed
    enum hn_code (*take)(struct hn_context *ctx, void *self, const double *record,
                         int64_t batches); // [batches x record_size]
};

// Environment of a cell's metrics, known when it begins.
struct hn_metric_env {
    const struct hn_items *items;
    int64_t population;             // items that batches are drawn from, of which `items` may be
                                    // those that are in a batch; 0 = items->n
    const struct hn_global *global; // NULL without positives
    double temperature;
    enum hn_loss loss;
    struct hn_weighting_params weighting; // zeroed: weighting none
    int32_t batch_size;
    int64_t capacity; // most negatives of an anchor, 0 = batches of the other shape
    int threads;      // batch() is called by threads 0 .. threads - 1
    int64_t batches;  // of the cell
    // Batches of the first epoch, as the sampler says; 0 = ceil(n / batch_size).
    int64_t epoch_batches;
    const struct hn_metric_taker *taker; // NULL: metrics of the registry alone
};

// Arrays of a cell besides its columns, owned by the cell. Those over batches are always there, NaN
// where nothing was measured; the histogram is NULL unless its metric was requested.
struct hn_cell_arrays {
    int64_t bins;
    uint64_t *histogram; // [HN_PAIR_KINDS x bins], see metrics/histogram.c
    int64_t batches;
    double *batch_fn_ratio; // [batches]
    double *batch_cos_mean; // [batches]
};
enum { HN_HISTOGRAM_BINS = 200 };

struct hn_metric_type {
    const char *name;
    const char *family;  // the file: "relation", "histogram", "hardness", "gap" ...
    const char *summary; // one line
    const char *source;  // paper and position in it
    unsigned needs;
    const struct hn_column *columns; // what finish() fills
    int n_columns;
    int record_size; // doubles per batch
    size_t state_size;

    // Optional. Allocates per-thread scratch (env->threads of it) in the zeroed state, which is
    // freed with it.
    enum hn_code (*open)(struct hn_context *ctx, void *state, const struct hn_metric_env *env);
    // Required. Maps a batch to record[record_size] (zeroed before). Called in parallel: may write
    // only the record and scratch of `thread`, and there only what does not depend on the order
    // of calls (integer counts).
    void (*batch)(void *state, const struct hn_metric_env *env, const struct hn_pairs *pairs,
                  int thread, double *record);
    // Optional. Called for every batch in order, on one thread; ids, times and labels only;
    // kinds and products are NULL.
    void (*visit)(void *state, const struct hn_metric_env *env, const struct hn_pairs *pairs);
    // Required. Reduces record[batches x record_size] to value[n_columns] (NaN before), and fills
    // what arrays it owns.
    enum hn_code (*finish)(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays);
};

// The negatives of batches with negatives per anchor: see hn_measure_anchors().
struct hn_measure_lists {
    const int32_t *negatives, *negative;
};

extern const struct hn_metric_type *const hn_metrics[]; // NULL-terminated
const struct hn_metric_type *hn_metric_find(const char *name);

// Total columns of a set of metrics.
int hn_measure_columns(const struct hn_metric_type *const *metrics, int n_metrics);
// Their needs, or-ed: HN_METRIC_NEEDS_GLOBAL tells whether the sweep over the views is wanted.
unsigned hn_measure_needs(const struct hn_metric_type *const *metrics, int n_metrics);

// Metrics that need no sampler: quantities of one step of a series. One constant struct per metric,
// in a file named after its family, listed in registry.c. They declare the sinks they need, so that
// all of them share one sweep over the clean embeddings and one over the two views.

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

// Training and test items of the measures that classify: those of the file's split, or drawn.

// The labelled items of env->split's parts, if both train and test have some; else a fifth of the
// labelled items, drawn by seed, is tested: the same items at every step of a series and for every
// measure. train = test = 0 if there are too few labelled items.
struct hn_split {
    int32_t *id;         // [n] training items, then test items, then validation items
    int64_t train, test; // their numbers
    int64_t validation;  // 0 where the split is drawn
    int32_t *class_of;   // [n] index of an item's label among the distinct ones, ascending; -1
    int32_t classes;
    float *rows; // [train + test + validation x d] the embeddings of id
};

// Accuracy of a classifier on the test items, for the finish of such a measure: it does not depend
// on the loss's temperature, so the first one's value is kept in *known. NaN without test items.
// Allocations of classify() are freed with the split.
HN_MUST_USE enum hn_code
hn_split_measure(struct hn_context *ctx, const struct hn_snapshot_env *env, int temperature,
                 enum hn_code (*classify)(struct hn_context *ctx, const struct hn_snapshot_env *env,
                                          const struct hn_split *split, double *accuracy),
                 double *known, double *value);
