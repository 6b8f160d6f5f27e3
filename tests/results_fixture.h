// SPDX-License-Identifier: GPL-3.0-or-later
// A results file as a run would leave it, made up: samplers x steps x seeds, for the tests of the
// store and of the figures.
#pragma once

#include "results/store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIXTURE_SAMPLERS = 3, FIXTURE_STEPS = 4, FIXTURE_SEEDS = 2, FIXTURE_BINS = 200 };
enum { FIXTURE_ROWS = FIXTURE_SAMPLERS * FIXTURE_STEPS * FIXTURE_SEEDS };

static inline void fixture_must(enum hn_code code) {
    if (code != HN_OK)
        abort();
}

static inline void fixture_columns(struct hn_context *ctx, struct hn_table *t,
                                   const struct hn_column *column, int n) {
    for (int i = 0; i < n; i++)
        fixture_must(hn_table_add_column(ctx, t, &column[i]));
}

static inline void fixture_runs(struct hn_context *ctx, struct hn_table *t) {
    static const struct hn_column columns[] = {
        {"cell_key", HN_COLUMN_TEXT, "", "hash of data, parameters and seed", HN_NEITHER,
         HN_ROLE_IDENTITY},
        {"dataset", HN_COLUMN_TEXT, "", "snapshot file", HN_NEITHER, HN_ROLE_IDENTITY},
        {"step", HN_COLUMN_INT, "optimizer_step", "training step", HN_NEITHER, HN_ROLE_IDENTITY},
        {"sampler", HN_COLUMN_TEXT, "", "sampler", HN_NEITHER, HN_ROLE_IDENTITY},
        {"params", HN_COLUMN_TEXT, "", "options of the sampler", HN_NEITHER, HN_ROLE_SETTING},
        {"M", HN_COLUMN_REAL, "1", "candidates", HN_NEITHER, HN_ROLE_SETTING},
        {"temperature", HN_COLUMN_REAL, "1", "temperature", HN_NEITHER, HN_ROLE_SETTING},
        {"batch_size", HN_COLUMN_INT, "items", "batch size", HN_NEITHER, HN_ROLE_SETTING},
        {"seed", HN_COLUMN_INT, "1", "seed", HN_NEITHER, HN_ROLE_SETTING},
        {"status", HN_COLUMN_TEXT, "", "status", HN_NEITHER},
        {"note", HN_COLUMN_TEXT, "", "note", HN_NEITHER, HN_ROLE_IDENTITY},
        {"fn_ratio", HN_COLUMN_REAL, "1", "false-negative ratio", HN_SMALLER},
        {"fn_ratio_lo", HN_COLUMN_REAL, "1", "lower end of its interval", HN_NEITHER},
        {"fn_ratio_hi", HN_COLUMN_REAL, "1", "upper end of its interval", HN_NEITHER},
        {"loss_global", HN_COLUMN_REAL, "nat", "global loss", HN_NEITHER},
        {"loss_train", HN_COLUMN_REAL, "nat", "training loss", HN_LARGER},
        {"gap", HN_COLUMN_REAL, "nat", "gap", HN_SMALLER},
        {"n_dot", HN_COLUMN_INT, "1", "inner products", HN_SMALLER},
    };
    fixture_must(hn_table_init(ctx, t, "runs"));
    fixture_columns(ctx, t, columns, (int)(sizeof columns / sizeof columns[0]));
}

// Row `row` of the grid: steps outermost, then samplers, then seeds.
struct fixture_cell {
    int step, sampler, seed;
};

static inline struct fixture_cell fixture_cell(int row) {
    return (struct fixture_cell){row / (FIXTURE_SAMPLERS * FIXTURE_SEEDS),
                                 row / FIXTURE_SEEDS % FIXTURE_SAMPLERS, row % FIXTURE_SEEDS};
}

static inline void fixture_fill_row(struct hn_context *ctx, struct hn_table *t, int row) {
    static const int step[FIXTURE_STEPS] = {0, 100, 400, 1000};
    static const char *const sampler[] = {"uniform", "knn", "batchsampler"};
    static const char *const params[] = {"draw=shuffle", "", "K=100, M=500, alpha=0.2~0.05"};
    struct fixture_cell c = fixture_cell(row);
    int64_t r = t->rows;
    char key[32];
    snprintf(key, sizeof key, "cell-%03d", row);
    double progress = c.step / 3.0, hardness = c.sampler == 0 ? 0 : c.sampler == 1 ? 1 : 0.35;
    double fn = 0.1 + 0.3 * hardness * (0.1 + progress) + 0.001 * c.seed;
    double global = 7.1 - 1.2 * progress, gap = (2.2 - 1.3 * hardness) * (1 - 0.3 * progress);
    fixture_must(hn_table_add_row(ctx, t));
    fixture_must(hn_table_set_text(ctx, t, r, "cell_key", key));
    fixture_must(hn_table_set_text(ctx, t, r, "dataset", "cifar10-simclr.h5"));
    fixture_must(hn_table_set_int(ctx, t, r, "step", step[c.step]));
    fixture_must(hn_table_set_text(ctx, t, r, "sampler", sampler[c.sampler]));
    fixture_must(hn_table_set_text(ctx, t, r, "params", params[c.sampler]));
    fixture_must(hn_table_set_real(ctx, t, r, "M", c.sampler == 2 ? 500 : NAN));
    fixture_must(hn_table_set_real(ctx, t, r, "temperature", 0.5));
    fixture_must(hn_table_set_int(ctx, t, r, "batch_size", 256));
    fixture_must(hn_table_set_int(ctx, t, r, "seed", c.seed + 1));
    fixture_must(hn_table_set_text(ctx, t, r, "status", "ok"));
    fixture_must(
        hn_table_set_text(ctx, t, r, "note", row == 1 ? "α \"quoted\",\nsecond line" : ""));
    fixture_must(hn_table_set_real(ctx, t, r, "fn_ratio", fn));
    fixture_must(hn_table_set_real(ctx, t, r, "fn_ratio_lo", fn - 0.01 * (1 + hardness)));
    fixture_must(hn_table_set_real(ctx, t, r, "fn_ratio_hi", fn + 0.01 * (1 + hardness)));
    fixture_must(hn_table_set_real(ctx, t, r, "loss_global", global));
    fixture_must(hn_table_set_real(ctx, t, r, "loss_train", global - gap));
    fixture_must(hn_table_set_real(ctx, t, r, "gap", gap));
    fixture_must(hn_table_set_int(ctx, t, r, "n_dot", (INT64_C(1) << 53) + 1 + row));
}

// Bell curves, wider and further right for the harder samplers.
static inline void fixture_counts(int row, uint64_t *count) {
    struct fixture_cell c = fixture_cell(row);
    double hardness = c.sampler == 0 ? 0 : c.sampler == 1 ? 1 : 0.35;
    double middle = c.step == 0 ? 0.3 + 0.08 * hardness : 0.55 * hardness;
    double width = c.step == 0 ? 0.08 : 0.25;
    for (int b = 0; b < FIXTURE_BINS; b++) {
        double z = (-1 + (b + 0.5) * 2.0 / FIXTURE_BINS - middle) / width;
        double pairs = 40000 * exp(-0.5 * z * z) * 0.08 / width;
        double share = fmin(0.9, 0.1 + 0.3 * hardness);
        count[0 * FIXTURE_BINS + b] = (uint64_t)(pairs / 200);
        count[1 * FIXTURE_BINS + b] = (uint64_t)(pairs * (1 - share));
        count[2 * FIXTURE_BINS + b] = (uint64_t)(pairs * share);
        count[3 * FIXTURE_BINS + b] = 0;
    }
}

static inline void *fixture_array(struct hn_context *ctx, int64_t n, size_t size) {
    void *p = hn_zalloc(ctx, n, size);
    if (!p)
        abort();
    return p;
}

static inline void fixture_batches(struct hn_context *ctx, struct hn_results *r, int first) {
    int64_t rows = r->runs.rows, at = 0;
    r->batch_start = fixture_array(ctx, rows + 1, sizeof *r->batch_start);
    for (int64_t i = 0; i < rows; i++)
        r->batch_start[i + 1] = r->batch_start[i] + (first + i) % 4;
    r->batch_fn_ratio = fixture_array(ctx, r->batch_start[rows], sizeof(double));
    r->batch_cos_mean = fixture_array(ctx, r->batch_start[rows], sizeof(double));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t b = 0; at < r->batch_start[i + 1]; b++, at++) {
            r->batch_fn_ratio[at] = b == 2 ? NAN : 0.1 + 0.01 * (double)((first + i + b) % 80);
            r->batch_cos_mean[at] = 0.001 * (double)((first + i) % 900) - 0.1 * (double)b;
        }
}

static inline void fixture_timing(struct hn_context *ctx, struct hn_results *r, int first) {
    static const struct hn_column columns[] = {
        {"run", HN_COLUMN_INT, "1", "row of /runs", HN_NEITHER, HN_ROLE_IDENTITY},
        {"phase", HN_COLUMN_TEXT, "", "build or next", HN_NEITHER},
        {"wall_ns", HN_COLUMN_INT, "ns", "wall-clock time", HN_SMALLER, HN_ROLE_MACHINE},
    };
    fixture_must(hn_table_init(ctx, &r->timing, "timing"));
    fixture_columns(ctx, &r->timing, columns, 3);
    for (int64_t i = 0; i < 2 * r->runs.rows; i++) {
        fixture_must(hn_table_add_row(ctx, &r->timing));
        fixture_must(hn_table_set_int(ctx, &r->timing, i, "run", i / 2));
        fixture_must(hn_table_set_text(ctx, &r->timing, i, "phase", i % 2 ? "next" : "build"));
        fixture_must(hn_table_set_int(ctx, &r->timing, i, "wall_ns", 1000 * (2 * first + i)));
    }
}

// A table at the root and one below /tables with keys into both.
static inline void fixture_tables(struct hn_context *ctx, struct hn_results *r, int first) {
    static const struct hn_column loss = {"loss_global", HN_COLUMN_REAL, "nat", "global loss",
                                          HN_NEITHER};
    static const struct hn_column keys[] = {
        {"run", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"snapshot", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY}};
    r->n_tables = 2;
    r->table = fixture_array(ctx, 2, sizeof *r->table);
    fixture_must(hn_table_init(ctx, &r->table[0], "snapshots"));
    fixture_must(hn_table_init(ctx, &r->table[1], "staleness"));
    fixture_columns(ctx, &r->table[0], &loss, 1);
    fixture_columns(ctx, &r->table[1], keys, 2);
    for (int64_t i = 0; i < r->runs.rows; i++) {
        fixture_must(hn_table_add_row(ctx, &r->table[0]));
        fixture_must(hn_table_set_real(ctx, &r->table[0], i, "loss_global", (double)(first + i)));
        fixture_must(hn_table_add_row(ctx, &r->table[1]));
        fixture_must(hn_table_set_int(ctx, &r->table[1], i, "run", i));
        fixture_must(hn_table_set_int(ctx, &r->table[1], i, "snapshot", i));
    }
}

// Rows [first, first + rows) of the grid, as one file. Owned: hn_results_free().
static inline struct hn_results fixture_results(struct hn_context *ctx, int first, int rows) {
    struct hn_results r = {.kinds = 4, .bins = FIXTURE_BINS, .bin_lo = -1, .bin_hi = 1};
    fixture_must(hn_results_set(ctx, &r, "status", "ok"));
    fixture_must(hn_results_set(ctx, &r, "argv", "hardneg run -c job.yaml"));
    fixture_must(hn_results_set(ctx, &r, "config", "version: 1\nsnapshots: [é.h5]\n"));
    fixture_must(hn_results_set_env(ctx, &r, "tool_version", "2.7"));
    fixture_must(hn_results_set_env(ctx, &r, "n_cpu", "16"));
    fixture_must(hn_results_set_env(ctx, &r, "sgemm_gflops", "1234.5"));
    fixture_must(hn_results_set_env(ctx, &r, "git_commit", "1234567"));
    fixture_runs(ctx, &r.runs);
    r.histogram = fixture_array(ctx, (int64_t)rows * 4 * FIXTURE_BINS, sizeof *r.histogram);
    for (int i = 0; i < rows; i++) {
        fixture_fill_row(ctx, &r.runs, first + i);
        fixture_counts(first + i, r.histogram + (int64_t)i * 4 * FIXTURE_BINS);
    }
    fixture_batches(ctx, &r, first);
    fixture_timing(ctx, &r, first);
    fixture_tables(ctx, &r, first);
    return r;
}
