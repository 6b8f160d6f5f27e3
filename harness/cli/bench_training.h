// Rows of `hardneg bench` for steps of training: recipes A to D on made-up data of their shapes.
#ifndef HN_HARNESS_CLI_BENCH_TRAINING_H
#define HN_HARNESS_CLI_BENCH_TRAINING_H

#include "core/context.h"

enum hn_bench_recipe { HN_BENCH_VIEWS, HN_BENCH_CNN, HN_BENCH_NODE, HN_BENCH_GRAPH };

struct hn_bench_training; // a task that is open: kept from one repetition to the next

struct hn_bench_step {
    double seconds; // of one step, mean over a few; of `node` a step is an epoch
    double flops;   // of its matrix products
    int64_t n, dim, batch_size;
};

// Forward, loss, backward and update on ctx->threads threads. *kept is NULL at first and belongs to
// the caller. The first call with a recipe writes its data into a temporary folder, opens the task
// and warms up.
HN_MUST_USE enum hn_code hn_bench_training(struct hn_context *ctx, enum hn_bench_recipe recipe,
                                           struct hn_bench_training **kept,
                                           struct hn_bench_step *out);
void hn_bench_training_free(struct hn_context *ctx, struct hn_bench_training *kept); // NULL is fine

#endif
