// SPDX-License-Identifier: GPL-3.0-or-later
// The results store: tables and arrays in HDF5, schema `hardneg-results` version 1. Results of one
// cell are results like any other; merging is appending. Every file appears whole or not at all.
#pragma once

#include "core/table.h"

struct hn_text_pair {
    char *name, *value;
};

// A results file in memory. Owned; zeroed is empty. Row r of `runs` has histogram
// [r x kinds x bins] and batches [batch_start[r], batch_start[r + 1]).
struct hn_results {
    struct hn_text_pair *attribute; // of the root: argv, config, config_sha256, status ...
    int64_t n_attributes;
    struct hn_text_pair *env; // of /env; written as numbers where the name says so (store_write.c)
    int64_t n_env;
    struct hn_table runs;
    struct hn_table timing; // column `run` is the row of runs
    struct hn_table *table; // [n_tables] written under /tables/<name>, or /<name> for
    int64_t n_tables;       // "snapshots" and "training"
    int64_t kinds, bins;    // of the histogram: HN_PAIR_KINDS kinds (core/pairs.h), 0 = none
    uint64_t *histogram;    // [runs.rows x kinds x bins]
    double bin_lo, bin_hi;
    int64_t *batch_start;                    // [runs.rows + 1] from 0; NULL = no batches kept
    double *batch_fn_ratio, *batch_cos_mean; // [batch_start[runs.rows]]
    // Ids of all batches (--save-batches; NULL: not kept): batches of run r stand at
    // [order_run[r], order_run[r + 1]) of order_split, the ids of batch b at
    // [order_split[b], order_split[b + 1]).
    int64_t *order_run, *order_split; // [runs.rows + 1], [batches + 1], from 0
    int32_t *order_id;                // [order_split[batches]]
    int64_t order_run_capacity, order_split_capacity, order_id_capacity;
    // Capacity that hn_results_append() keeps, in elements; zero where arrays are filled by hand.
    int64_t histogram_capacity, start_capacity, batch_capacity;
    bool no_checksum; // the file read ought to have one: another program has written to it
};

void hn_results_free(struct hn_context *ctx, struct hn_results *r);
// Removes rows and arrays; tables keep their columns, attributes and env their values.
void hn_results_clear(struct hn_context *ctx, struct hn_results *r);
HN_MUST_USE enum hn_code hn_results_set(struct hn_context *ctx, struct hn_results *r,
                                        const char *name,
                                        const char *value); // root attribute, replaced if present
HN_MUST_USE enum hn_code hn_results_set_env(struct hn_context *ctx, struct hn_results *r,
                                            const char *name, const char *value);
void hn_results_drop_env(struct hn_context *ctx, struct hn_results *r, const char *name);
// Sets created (now), status, and what `env` says of the machine.
HN_MUST_USE enum hn_code hn_results_describe(struct hn_context *ctx, struct hn_results *r,
                                             const char *status, const struct hn_results *env);
const char *hn_results_get(const struct hn_results *r, const char *name);     // "" if absent
const char *hn_results_get_env(const struct hn_results *r, const char *name); // "" if absent
// A further table, zeroed and counted; NULL with the message recorded.
struct hn_table *hn_results_add_table(struct hn_context *ctx, struct hn_results *r);
// The further table of that name, made with these columns if missing; NULL: a failure.
struct hn_table *hn_results_need_table(struct hn_context *ctx, struct hn_results *r,
                                       const char *name, const struct hn_column *column, int n);
// A cell with the description of its column.
struct hn_described {
    struct hn_column column;
    struct hn_value value;
};
#define HN_TEXT_CELL(name, what, text)                                                             \
    { {name, HN_COLUMN_TEXT, "", what, HN_NEITHER}, HN_TEXT_VALUE(name, text) }
#define HN_INT_CELL(name, units, what, n)                                                          \
    { {name, HN_COLUMN_INT, units, what, HN_NEITHER}, HN_INT_VALUE(name, (int64_t)(n)) }
#define HN_REAL_CELL(name, units, what, better, x)                                                 \
    { {name, HN_COLUMN_REAL, units, what, better}, HN_REAL_VALUE(name, x) }
enum { HN_DESCRIBED_MAX = 24 };
// Appends a row of n <= HN_DESCRIBED_MAX cells to the further table of that name.
HN_MUST_USE enum hn_code hn_results_add_row(struct hn_context *ctx, struct hn_results *r,
                                            const char *name, const struct hn_described *cell,
                                            int n);
// "runs", or the name of a further table; NULL: there is none.
const struct hn_table *hn_results_table(const struct hn_results *r, const char *name);
// Owner of the rows of a further table: a table of cells, by a column that numbers its rows.
struct hn_row_owner {
    const char *column,
        *table; // "run" of "runs", "snapshot" of "snapshots", "study_row" of "studies"
};
enum hn_row_kind { HN_ROW_RUN, HN_ROW_SNAPSHOT, HN_ROW_STUDY, HN_ROW_KINDS };
extern const struct hn_row_owner hn_row_owners[]; // by kind; ends with a NULL column
const struct hn_row_owner *hn_row_owner(const struct hn_table *t); // NULL: its rows belong to none
// Appends the rows, timings, histograms, batches and tables of `from`; columns of owners are
// shifted. Its ranges of batches need not begin at 0. Attributes and env are taken only where `to`
// has none at all, run_key never. HN_DATA: histograms of different bins. After a failure `to` is
// only good for freeing. Costs time in the size of `from`, not of `to`.
HN_MUST_USE enum hn_code hn_results_append(struct hn_context *ctx, struct hn_results *to,
                                           const struct hn_results *from);
// Appends batches of the single row that `r` (soon) has: size[count], id[count x batch_size].
HN_MUST_USE enum hn_code hn_results_add_batches(struct hn_context *ctx, struct hn_results *r,
                                                int64_t count, const int32_t *size,
                                                const int32_t *id, int64_t batch_size);
// Writes to a temporary name beside `path`, syncs, renames. HN_USAGE: not writable; HN_IO: failed.
// The same content gives the same bytes, a checksum of them (core/files.h) behind them.
HN_MUST_USE enum hn_code hn_results_write(struct hn_context *ctx, const struct hn_results *r,
                                          const char *path);
// True if an HDF5 file stands at `path` that is no results file.
bool hn_results_are_other(struct hn_context *ctx, const char *path);
// HN_DATA: missing, not HDF5, wrong schema or version, a column of wrong length. A child process
// reads the file first: HDF5 1.10 can crash on damaged files.
HN_MUST_USE enum hn_code hn_results_read(struct hn_context *ctx, const char *path,
                                         struct hn_results *out);
// The same without that process.
HN_MUST_USE enum hn_code hn_results_read_own(struct hn_context *ctx, const char *path,
                                             struct hn_results *out);
