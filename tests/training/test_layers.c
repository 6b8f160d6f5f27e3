// SPDX-License-Identifier: GPL-3.0-or-later
// Layers that do not fit what they follow, and sizes that are beyond numbers of 64 bits, are
// refused before anything is allocated for them.
#include "tests/test.h"
#include "training/net/loss.h"
#include "training/net/momentum.h"
#include "training/net/net.h"
#include "training/tasks/untrained.h"

#include <stdio.h>
#include <string.h>

// A layer behind an input of `in` columns. NULL: it fits, and has so many columns out.
#define IMAGE .height = 4, .width = 6, .channels = 2 // 48 columns
static const struct {
    const struct hn_layer_type *type;
    struct hn_layer_spec spec;
    int64_t in, out;
    const char *message;
} layers[] = {
    {&hn_layer_linear, {.out = 3}, 5, 3, NULL},
    {&hn_layer_linear, {.out = 0}, 5, 0, "layer 0 (linear): no columns out"},
    {&hn_layer_dropout, {.rate = 0.5}, 5, 5, NULL},
    {&hn_layer_dropout, {.rate = 1}, 5, 0, "layer 0 (dropout): a rate outside [0, 1)"},
    {&hn_layer_dropout, {.rate = -0.1}, 5, 0, "layer 0 (dropout): a rate outside [0, 1)"},
    {&hn_layer_batch_norm, {.channels = 4}, 8, 8, NULL},
    {&hn_layer_batch_norm,
     {.channels = 3},
     8,
     0,
     "columns that are not a multiple of the channels"},
    {&hn_layer_average_pool, {IMAGE, .kernel = 2}, 48, 12, NULL},
    {&hn_layer_average_pool, {IMAGE, .kernel = 0}, 48, 0, "an image that windows do not fill"},
    {&hn_layer_average_pool, {IMAGE, .kernel = 4}, 48, 0, "an image that windows do not fill"},
    {&hn_layer_average_pool, {IMAGE, .kernel = 3}, 48, 0, "an image that windows do not fill"},
    {&hn_layer_average_pool, {IMAGE, .kernel = 2}, 47, 0, "an image that windows do not fill"},
    {&hn_layer_convolution, {IMAGE, .out = 3, .kernel = 3, .stride = 1, .pad = 1}, 48, 72, NULL},
    {&hn_layer_convolution, {IMAGE, .out = 3, .kernel = 3, .stride = 2}, 48, 6, NULL},
    {&hn_layer_convolution,
     {IMAGE, .out = 3, .kernel = 3, .stride = 1, .fan_in = true},
     48,
     24,
     NULL},
    {&hn_layer_convolution, {IMAGE, .out = 0, .kernel = 3, .stride = 1}, 48, 0, "no channels out"},
    {&hn_layer_convolution, {IMAGE, .out = 3, .kernel = 3}, 48, 0, "an image that does not fit"},
    {&hn_layer_convolution, {IMAGE, .out = 3, .stride = 1}, 48, 0, "an image that does not fit"},
    {&hn_layer_convolution,
     {IMAGE, .out = 3, .kernel = 3, .stride = 1, .pad = -1},
     48,
     0,
     "an image that does not fit"},
    {&hn_layer_convolution,
     {IMAGE, .out = 3, .kernel = 5, .stride = 1},
     48,
     0,
     "an image that does not fit"},
    {&hn_layer_convolution,
     {.height = 6, .width = 4, .channels = 2, .out = 3, .kernel = 5, .stride = 1},
     48,
     0,
     "an image that does not fit"},
    {&hn_layer_convolution,
     {IMAGE, .out = 3, .kernel = 3, .stride = 1},
     49,
     0,
     "layer 0 (convolution): an image that does not fit"},
};

static void test_layers(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct hn_net net;
        struct hn_weights w = {0};
        hn_test_entry(layers[i].type->name);
        hn_net_begin(&net, layers[i].in);
        if (layers[i].message) {
            HN_CHECK_FAILS(&ctx, hn_net_add(&ctx, &net, &w, layers[i].type, layers[i].spec),
                           HN_INTERNAL, layers[i].message);
            CU_ASSERT(net.n == 0 && net.out == layers[i].in && w.n == 0);
        } else {
            HN_CHECK(&ctx, hn_net_add(&ctx, &net, &w, layers[i].type, layers[i].spec));
            CU_ASSERT(net.n == 1 && net.out == layers[i].out);
        }
    }
    struct hn_net net;
    struct hn_weights w = {0};
    hn_net_begin(&net, 3);
    HN_CHECK(&ctx,
             hn_net_add(&ctx, &net, &w, &hn_layer_sparse_linear, (struct hn_layer_spec){.out = 3}));
    HN_CHECK_FAILS(
        &ctx, hn_net_add(&ctx, &net, &w, &hn_layer_sparse_linear, (struct hn_layer_spec){.out = 3}),
        HN_INTERNAL, "layer 1 (sparse-linear): does not stand first");
    while (net.n < HN_NET_LAYERS)
        HN_CHECK(&ctx, hn_net_add_relu(&ctx, &net, &w, 0, false));
    HN_CHECK_FAILS(&ctx, hn_net_add_relu(&ctx, &net, &w, 0, false), HN_INTERNAL,
                   "a network of more than 24 layers");
}

static void test_sizes(void) {
    enum { LARGE = 1 << 30 };
    const int64_t rows = INT64_MAX / 4;
    struct hn_context ctx;
    struct hn_net net;
    struct hn_weights w = {.n = 10};
    struct hn_tape tape = {0};
    struct hn_momentum momentum;
    struct hn_loss_work work;
    struct hn_untrained list;
    hn_context_init(&ctx, 1);
    hn_net_begin(&net, 8);
    HN_CHECK(&ctx, hn_net_add_relu(&ctx, &net, &w, 0, false));
    HN_CHECK_FAILS(&ctx, hn_tape_open(&ctx, &net, rows, true, &tape), HN_MEMORY,
                   "a pass of 2305843009213693951 rows is too large");
    HN_CHECK_FAILS(&ctx, hn_momentum_open(&ctx, &w, 0.9, rows, 8, &momentum), HN_MEMORY,
                   "a queue of 2305843009213693951 keys is too large");
    HN_CHECK_FAILS(&ctx, hn_momentum_open(&ctx, &w, 0.9, INT64_MAX, 1, &momentum), HN_MEMORY,
                   "a queue of 9223372036854775807 keys is too large");
    CU_ASSERT_EQUAL(w.n_running, 0);
    HN_CHECK_FAILS(&ctx,
                   hn_loss_open(&ctx, HN_OBJECTIVE_OTHER_VIEW, LARGE, INT64_MAX / 8, 4, &work),
                   HN_MEMORY, "a batch of 1073741824 items is too large");
    HN_CHECK_FAILS(&ctx,
                   hn_loss_open(&ctx, HN_OBJECTIVE_OTHER_VIEW, LARGE, 1, (int64_t)LARGE * 8, &work),
                   HN_MEMORY, "a batch of 1073741824 items is too large");
    HN_CHECK_FAILS(&ctx, hn_untrained_open(&ctx, INT64_MAX / 8, &list), HN_MEMORY,
                   "a list of 1152921504606846975 accuracies is too long");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"layers", test_layers}, {"sizes", test_sizes}};
HN_TEST_MAIN("layers", tests)
