// SPDX-License-Identifier: GPL-3.0-or-later
// Lists and graphs of recorded embeddings, with a screen by every kernel of this processor on one,
// two and four threads, against those without: the committed series and the small shared one. All
// steps of other files, which may take hours: HN_SERIES="FILE...".
#include "core/sweep/screen.h"
#include "core/sweep/sinks.h"
#include "datasets/snapshot.h"
#include "samplers/gcbs_threshold.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { K = 100, THREADS_MAX = 4 };
static const double quantile = 0.999;

struct made {
    struct hn_context ctx;
    struct hn_topk top;
    int64_t n_dot;
    struct hn_threshold t;
    struct hn_graph graph;
    struct hn_work work;
};

static void find_lists(const struct hn_items *items, struct made *out) {
    out->top = (struct hn_topk){.k = K, .skip_self = true};
    struct hn_sweep sweep = {.x = items->x, .y = items->x};
    hn_sweep_add(&sweep, &hn_topk_sink, &out->top, HN_SIDE_ROWS);
    HN_CHECK(&out->ctx, hn_sweep_run(&out->ctx, &sweep));
    out->n_dot = sweep.n_dot;
}

static enum hn_code find_threshold(struct hn_context *ctx, struct hn_threshold *t,
                                   struct hn_work *work) {
    enum hn_code code = HN_OK;
    for (int pass = 0; !code; pass++) {
        struct hn_sweep sweep = {0};
        code = hn_threshold_plan(ctx, t, pass, &sweep, work);
        if (code || sweep.n_sinks == 0)
            break;
        code = hn_sweep_run(ctx, &sweep);
    }
    return code;
}

static void find_graph(const struct hn_items *items, struct made *out) {
    bool views = items->x1.data != NULL;
    out->t = (struct hn_threshold){.x = views ? items->x1 : items->x,
                                   .y = views ? items->x2 : items->x,
                                   .quantile = quantile,
                                   .seed = 5,
                                   .margin = HN_THRESHOLD_MARGIN};
    HN_CHECK(&out->ctx, find_threshold(&out->ctx, &out->t, &out->work));
    HN_CHECK(&out->ctx, hn_close_pairs_graph(&out->ctx, &out->t.pairs, items->n, &out->graph));
}

static void make(const struct hn_items *items, const char *screen, int threads, struct made *out) {
    *out = (struct made){0};
    hn_context_init(&out->ctx, threads);
    out->ctx.screen = screen;
    find_lists(items, out);
    find_graph(items, out);
}

static void free_made(struct made *m) {
    hn_topk_free(&m->ctx, &m->top);
    hn_threshold_free(&m->ctx, &m->t);
    hn_graph_free(&m->ctx, &m->graph);
    CU_ASSERT_EQUAL(m->ctx.memory.live, 0);
}

static void check_same(const struct made *a, const struct made *b) {
    size_t listed = (size_t)(a->top.rows * a->top.kept), n = (size_t)a->graph.n;
    CU_ASSERT(a->top.kept == b->top.kept && a->n_dot == b->n_dot);
    CU_ASSERT(!memcmp(a->top.id, b->top.id, listed * sizeof *a->top.id));
    CU_ASSERT(!memcmp(a->top.score, b->top.score, listed * sizeof *a->top.score));
    CU_ASSERT(a->t.count == b->t.count && a->t.passes == b->t.passes);
    CU_ASSERT(!memcmp(&a->t.value, &b->t.value, sizeof a->t.value));
    CU_ASSERT(a->work.dot == b->work.dot);
    CU_ASSERT(!memcmp(a->graph.start, b->graph.start, (n + 1) * sizeof *a->graph.start));
    CU_ASSERT(!memcmp(a->graph.target, b->graph.target,
                      (size_t)hn_graph_edges(&a->graph) * sizeof *a->graph.target));
}

static void check_items(const struct hn_items *items) {
    struct made without, with;
    make(items, "off", 2, &without);
    CU_ASSERT(hn_graph_edges(&without.graph) > 0);
    for (int k = 0; k < HN_SCREEN_KERNELS; k++)
        for (int threads = 1; threads <= THREADS_MAX && hn_screen_kernel(k); threads *= 2) {
            make(items, hn_screen_kernel(k)->name, threads, &with);
            check_same(&without, &with);
            free_made(&with);
        }
    free_made(&without);
}

// Every `stride`-th step, the last one among them.
enum { LAST = 1000 };
static void check_series(const char *path, int64_t stride) {
    struct hn_context ctx;
    struct hn_snapshot *s;
    hn_context_init(&ctx, 2);
    hn_test_entry(path);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    for (int64_t step = hn_snapshot_info(s)->steps - 1; step >= 0; step -= stride) {
        struct hn_items items;
        HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, step, &items));
        check_items(&items);
        hn_items_free(&ctx, &items);
    }
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_committed(void) {
    if (access("datasets/cifar10-mini.h5", R_OK) != 0)
        hn_test_skip("not run from the root of the checkout");
    check_series("datasets/cifar10-mini.h5", 1);
}

static void test_shared(void) {
    char path[512];
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared CIFAR-10 series is not there (HN_SHARED names its folder)");
    check_series(path, LAST);
}

static void test_named(void) {
    const char *named = getenv("HN_SERIES");
    if (!named || !*named)
        hn_test_skip("HN_SERIES names no further files");
    char *paths = strdup(named), *rest = NULL;
    for (char *path = strtok_r(paths, " ", &rest); path; path = strtok_r(NULL, " ", &rest))
        check_series(path, 1);
    free(paths);
}

static const struct hn_test tests[] = {
    {"committed", test_committed}, {"shared", test_shared}, {"named", test_named}};
HN_TEST_MAIN("screen_series", tests)
