// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of `hardneg bench`: what is timed, on what, and the time at the machine's ceiling.
#pragma once

#include "datasets/items.h"
#include "metrics/global.h"

// Sizes of one row.
struct hn_bench_shape {
    int64_t n, dim, M, K, batch, keep;
    int64_t queries; // over n passages
};

// Data of the kernels.
struct hn_bench {
    struct hn_bench_shape shape;
    struct hn_items items;              // of that shape; views and labels where they are wanted
    struct hn_matrix queries;           // likewise
    struct hn_global global;            // of the items, where a kernel wanted it; n = 0: none
    double gflops, gbs;                 // the ceilings, measured just before
    struct hn_bench_training *training; // a task that is open: kept from one repetition to the next
};

// One repetition; ideal: seconds at the ceiling, NaN where there is none.
struct hn_bench_time {
    double seconds, ideal;
};

enum hn_bench_needs {
    HN_BENCH_NO_ROWS,
    HN_BENCH_ROWS,
    HN_BENCH_VIEWS_TOO,
    HN_BENCH_QUERIES_TOO,
    HN_BENCH_TRAINING
};

struct hn_bench_kernel {
    const char *group, *name;
    enum hn_bench_needs needs;
    double argument; // X Y^T or X X^T, kind of candidates, alpha, temperature, recipe: by `run`
    enum hn_code (*run)(struct hn_context *ctx, struct hn_bench *b, const struct hn_bench_kernel *k,
                        struct hn_bench_time *out);
};
// All kernels, a cell of each metric among them; ended by a NULL name, and of the owner.
HN_MUST_USE enum hn_code hn_bench_list(struct hn_context *ctx, const struct hn_bench_kernel **out);

// Makes b->items of b->shape, as a kernel needs them, unless they are there.
HN_MUST_USE enum hn_code hn_bench_items(struct hn_context *ctx, struct hn_bench *b,
                                        enum hn_bench_needs needs);

// Seconds of inner products at the ceiling.
static inline double hn_bench_flop_seconds(const struct hn_bench *b, int64_t dots) {
    return 2.0 * (double)b->shape.dim * (double)dots / (b->gflops * 1e9);
}

// A step of training by one of these recipes (the kernel's argument), mean over a few; of NODE an
// epoch: forward, loss, backward and update on ctx->threads threads, and the time of its matrix
// products at the ceiling. Sets b->shape. The first call with a recipe writes its data into a
// temporary folder, opens the task and warms up.
enum hn_bench_recipe {
    HN_BENCH_VIEWS,
    HN_BENCH_CNN,
    HN_BENCH_NODE,
    HN_BENCH_GRAPH,
    HN_BENCH_TEXT,
    HN_BENCH_PAIRS
};
HN_MUST_USE enum hn_code hn_bench_training(struct hn_context *ctx, struct hn_bench *b,
                                           const struct hn_bench_kernel *k,
                                           struct hn_bench_time *out);
void hn_bench_training_free(struct hn_context *ctx, struct hn_bench_training *kept); // NULL is fine
