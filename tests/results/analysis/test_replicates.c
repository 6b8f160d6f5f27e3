// SPDX-License-Identifier: GPL-3.0-or-later
// Cells sorted into settings, against a search through all of them.
#include "core/random.h"
#include "results/analysis/replicates.h"
#include "tests/test.h"

#include <math.h>

enum { MAX = 60 };

struct made {
    int64_t setting[MAX], seed[MAX];
};

static int by_setting(const void *of, int64_t a, int64_t b) {
    const struct made *m = of;
    return (int)(m->setting[a] - m->setting[b]);
}

static int by_seed(const void *of, int64_t a, int64_t b) {
    const struct made *m = of;
    return (int)(m->seed[a] - m->seed[b]);
}

// Cells of its setting that come before cell i, by seed and then by number.
static int64_t before(const struct made *m, int64_t n, int64_t i) {
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++)
        count += m->setting[k] == m->setting[i] &&
                 (m->seed[k] < m->seed[i] || (m->seed[k] == m->seed[i] && k < i));
    return count;
}

static void check(struct hn_context *ctx, const struct made *m, int64_t n) {
    struct hn_replicate_sets sets;
    int64_t settings = 0;
    HN_SCOPE(ctx);
    HN_CHECK(ctx, hn_replicates_find(ctx, n, (struct hn_grouping){m, by_setting, by_seed}, &sets));
    for (int64_t i = 0; i < n; i++) {
        int64_t first = 0;
        while (m->setting[first] != m->setting[i])
            first++;
        CU_ASSERT_EQUAL(sets.of[i], first == i ? settings : sets.of[first]);
        settings += first == i;
        CU_ASSERT_FATAL(sets.of[i] < sets.sets);
        struct hn_replicates cells = hn_replicates_at(&sets, sets.of[i]);
        int64_t at = before(m, n, i);
        CU_ASSERT_FATAL(at < cells.n);
        CU_ASSERT_EQUAL(cells.row[at], i);
    }
    CU_ASSERT_EQUAL(sets.sets, settings);
    CU_ASSERT_EQUAL(sets.start[sets.sets], n);
}

static void test_found(void) {
    struct hn_context ctx;
    struct hn_stream stream;
    hn_context_init(&ctx, 1);
    hn_stream_open(&stream, 1, "test.replicates", 0, 0, 0);
    for (int round = 0; round < 200; round++) {
        struct made m;
        int64_t n = hn_stream_below(&stream, MAX + 1);
        uint32_t settings = 1 + hn_stream_below(&stream, 12),
                 seeds = 1 + hn_stream_below(&stream, 6);
        for (int64_t i = 0; i < n; i++) {
            m.setting[i] = hn_stream_below(&stream, settings);
            m.seed[i] = hn_stream_below(&stream, seeds);
        }
        check(&ctx, &m, n);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_over(void) {
    CU_ASSERT(hn_over_of(1) == HN_OVER_BATCHES && hn_over_of(2) == HN_OVER_BATCHES);
    CU_ASSERT(hn_over_of(3) == HN_OVER_SEEDS && hn_over_of(20) == HN_OVER_SEEDS);
}

static const struct hn_test tests[] = {{"cells by setting and seed", test_found},
                                       {"over seeds from three on", test_over}};

HN_TEST_MAIN("replicates", tests)
