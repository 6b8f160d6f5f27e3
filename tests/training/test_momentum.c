// SPDX-License-Identifier: GPL-3.0-or-later
// The momentum encoder's copy and its queue, number by number, as algorithm 1 of He et al. has
// them.
#include "tests/test.h"
#include "training/net/momentum.h"
#include "training/net/net.h"

#include <math.h>
#include <string.h>

enum { IN = 3, OUT = 2, ROWS = 5, STEPS = 7 };

static void test_copy_and_queue(void) {
    struct hn_context ctx;
    struct hn_weights w = {0};
    struct hn_net net;
    struct hn_momentum m;
    hn_context_init(&ctx, 1);
    void *memory = hn_alloc(&ctx, 1, 1);
    hn_own(&ctx, memory);
    hn_net_begin(&net, IN);
    HN_CHECK(&ctx, hn_net_add_head(&ctx, &net, &w, 4, OUT, true));
    int64_t own = w.n_running, n = w.n;
    HN_CHECK(&ctx, hn_momentum_open(&ctx, &w, 0.75, ROWS, OUT, &m));
    HN_CHECK(&ctx, hn_weights_open(&ctx, &w));
    hn_net_init(&net, &w, 3);
    hn_momentum_init(&m, &w, 3);
    CU_ASSERT(own > 0 && m.n == n && m.n_running == own);
    CU_ASSERT_EQUAL(w.n_running, 2 * own + n + ROWS * OUT + 1);
    struct hn_weights copy = hn_momentum_weights(&m, &w);
    CU_ASSERT_EQUAL(memcmp(copy.value, w.value, (size_t)n * sizeof *w.value), 0);
    CU_ASSERT_EQUAL(memcmp(copy.running, w.running, (size_t)own * sizeof *w.running), 0);
    const hn_real *queue = hn_momentum_queue(&m, &w);
    for (int i = 0; i < ROWS; i++)
        CU_ASSERT_DOUBLE_EQUAL(hypot((double)queue[2 * i], (double)queue[2 * i + 1]), 1, 1e-6);
    double wanted = (double)w.value[1];
    hn_real expected[ROWS][OUT], kept = w.running[0];
    memcpy(expected, queue, sizeof expected);
    for (int step = 0; step < STEPS; step++) { // batches of 3 and of 2 go around
        hn_real key[3][OUT];
        int size = step % 2 ? 2 : 3;
        w.value[1] += (hn_real)0.5;
        hn_momentum_follow(&m, &w);
        wanted = 0.75 * wanted + 0.25 * (double)w.value[1];
        CU_ASSERT_DOUBLE_EQUAL((double)copy.value[1], wanted, 1e-5);
        for (int i = 0; i < size; i++) {
            key[i][0] = (hn_real)(10 * step + i);
            key[i][1] = -key[i][0];
        }
        hn_momentum_push(&m, &w, key[0], size);
        int at = step / 2 * 5 + (step % 2 ? 3 : 0); // keys before
        for (int i = 0; i < size; i++)
            memcpy(expected[(at + i) % ROWS], key[i], sizeof key[i]);
        CU_ASSERT_EQUAL(memcmp(queue, expected, sizeof expected), 0);
    }
    CU_ASSERT_EQUAL(w.running[0], kept);
    hn_free(&ctx, memory);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A pass of the copy takes its own parameters and leaves the network's running values alone.
static void test_pass(void) {
    struct hn_context ctx;
    struct hn_weights w = {0};
    struct hn_net net;
    struct hn_momentum m;
    struct hn_tape tape;
    const struct hn_pass pass = {.workers.threads = 1, .training = true};
    hn_real x[4 * IN], first[4 * OUT];
    hn_context_init(&ctx, 1);
    void *memory = hn_alloc(&ctx, 1, 1);
    hn_own(&ctx, memory);
    hn_net_begin(&net, IN);
    HN_CHECK(&ctx, hn_net_add_head(&ctx, &net, &w, 4, OUT, true));
    HN_CHECK(&ctx, hn_momentum_open(&ctx, &w, 1, ROWS, OUT, &m));
    HN_CHECK(&ctx, hn_weights_open(&ctx, &w));
    HN_CHECK(&ctx, hn_tape_open(&ctx, &net, 4, true, &tape));
    hn_net_init(&net, &w, 3);
    hn_momentum_init(&m, &w, 3);
    for (int i = 0; i < 4 * IN; i++)
        x[i] = (hn_real)sin(i + 1);
    struct hn_weights copy = hn_momentum_weights(&m, &w);
    memcpy(first, hn_net_forward(&copy, &tape, &pass, x, 4), sizeof first);
    hn_real *own = hn_alloc(&ctx, m.n_running, sizeof *own);
    memcpy(own, w.running, (size_t)m.n_running * sizeof *own);
    for (int64_t i = 0; i < w.n; i++)
        w.value[i] += (hn_real)sin((double)i);
    hn_momentum_follow(&m, &w); // keeps all of itself
    const hn_real *again = hn_net_forward(&copy, &tape, &pass, x, 4);
    CU_ASSERT_EQUAL(memcmp(first, again, sizeof first), 0);
    CU_ASSERT_EQUAL(memcmp(own, w.running, (size_t)m.n_running * sizeof *own), 0);
    CU_ASSERT(memcmp(first, hn_net_forward(&w, &tape, &pass, x, 4), sizeof first) != 0);
    hn_free(&ctx, memory);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"copy_and_queue", test_copy_and_queue},
                                       {"pass", test_pass}};
HN_TEST_MAIN("momentum", tests)
