// SPDX-License-Identifier: GPL-3.0-or-later
// The epoch that a build arranges is the one that comes next: counted with the build, reported, and
// of the same batches as after another one.
#include "core/sweep/blas.h"
#include "tests/samplers/every_sampler.h"

static bool same_batches(const struct sampled *a, const struct sampled *b) {
    if (a->batches != b->batches)
        return false;
    for (int64_t i = 0; i < a->batches; i++)
        if (a->size[i] != b->size[i] || memcmp(sampled_batch(a, i), sampled_batch(b, i),
                                               (size_t)a->size[i] * sizeof *a->ids) != 0)
            return false;
    return true;
}

static void check_case(struct hn_context *ctx, const struct sampler_case *c,
                       const struct hn_items *items) {
    enum { EPOCH = 3, REPORTS = 16 };
    struct sampled plain, later;
    double reported[2][REPORTS];
    HN_CHECK(ctx, sampled_open(ctx, c->type, c->settings, items, 7, 5, &plain));
    HN_CHECK(ctx, sampled_open(ctx, c->type, c->settings, items, 7, 5, &later));
    later.sampler.first_epoch = EPOCH;
    HN_CHECK(ctx, hn_sampler_build(ctx, &later.sampler, items, items->index));
    CU_ASSERT(!c->type->arrange || later.sampler.arranged == EPOCH);
    struct hn_work before = later.sampler.sampling;
    HN_CHECK(ctx, sampled_epoch(ctx, &later, items, EPOCH));
    CU_ASSERT(!c->type->arrange || later.sampler.sampling.edge == before.edge);
    HN_CHECK(ctx, sampled_epoch(ctx, &plain, items, EPOCH));
    CU_ASSERT(same_batches(&plain, &later));
    CU_ASSERT_FATAL(c->type->n_reports <= REPORTS);
    for (int k = 0; k < 2; k++) { // another epoch changes nothing of it
        if (c->type->report)
            c->type->report(&later.sampler, reported[k]);
        HN_CHECK(ctx, sampled_epoch(ctx, &later, items, 0));
    }
    CU_ASSERT(!c->type->report ||
              memcmp(reported[0], reported[1], (size_t)c->type->n_reports * sizeof(double)) == 0);
    HN_CHECK(ctx, sampled_epoch(ctx, &plain, items, 0));
    CU_ASSERT(same_batches(&plain, &later));
    sampled_close(ctx, &plain);
    sampled_close(ctx, &later);
}

static void test_every_sampler(void) {
    static struct sampler_case cases[CASES_MAX];
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    struct hn_items items = anchored_items(&ctx, N, D, 4, true, 9);
    int n = all_cases(true, true, cases);
    for (int i = 0; i < n; i++)
        check_case(&ctx, &cases[i], &items);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"every sampler", test_every_sampler}};
HN_TEST_MAIN("first_epoch", tests)
