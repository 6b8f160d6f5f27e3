// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of a queue against its formula, and its gradient against central differences, in double
// precision (Makefile: obj64).
#include "tests/slopes_fixture.h"
#include "training/net/loss.h"

#include <string.h>

// Anchors against a queue, which is z2 here, with positives that are constants.
enum { N = 9, D = 5, KEYS = 11 };
struct queued {
    struct hn_context ctx;
    struct hn_loss_spec spec;
    struct hn_loss_work work;
    hn_real z1[N * D], z2[KEYS * D], key[N * D], dz1[N * D], spare[N * D];
};

static double queue_loss(void *self) {
    struct queued *q = self;
    return hn_loss_queue((struct hn_workers){2, NULL}, &q->spec, N, D, q->z1, q->key, q->z2,
                         q->spare, &q->work);
}

// As written: -log of the positive's share, of one anchor after the other.
static double plain_queue(const struct queued *q) {
    double sum = 0, tau = q->spec.temperature;
    for (int i = 0; i < N; i++) {
        double positive = 0, all = 0;
        for (int k = 0; k < D; k++)
            positive += q->z1[i * D + k] * q->key[i * D + k];
        for (int j = 0; j < KEYS; j++) {
            double s = 0;
            for (int k = 0; k < D; k++)
                s += q->z1[i * D + k] * q->z2[j * D + k];
            all += exp(s / tau);
        }
        sum += log(exp(positive / tau) + all) - positive / tau;
    }
    return sum / N;
}

static const struct {
    const char *name;
    struct hn_weighting_params weighting;
} laws[] = {
    {"none", {.clamp = HN_CLAMP_NONE}},
    {"debiased", {.tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl", {.beta = 0.2, .clamp = HN_CLAMP_EACH}},
    {"hcl, debiased", {.beta = 2.5, .tau_plus = 0.05, .clamp = HN_CLAMP_EACH}},
};
enum { LAWS = sizeof laws / sizeof laws[0] };

static void check_queue(struct queued *q, int weighting, bool outside) {
    *q = (struct queued){.spec = {.objective = HN_OBJECTIVE_QUEUE,
                                  .weighting = laws[weighting].weighting,
                                  .temperature = 0.5,
                                  .outside = outside}};
    hn_context_init(&q->ctx, 2);
    void *memory = hn_alloc(&q->ctx, 1, 1);
    hn_own(&q->ctx, memory);
    fill(q->z1, N * D, 50);
    fill(q->z2, KEYS * D, 51);
    fill(q->key, N * D, 52);
    unit_rows(q->z1, N, D);
    unit_rows(q->z2, KEYS, D);
    unit_rows(q->key, N, D);
    HN_CHECK(&q->ctx, hn_loss_open(&q->ctx, HN_OBJECTIVE_QUEUE, N, KEYS, D, &q->work));
    double value = queue_loss(q);
    if (weighting == 0 && !outside)
        CU_ASSERT_DOUBLE_EQUAL(value, plain_queue(q), 1e-12);
    memcpy(q->dz1, q->spare, sizeof q->dz1);
    check_slopes(laws[weighting].name, queue_loss, q, q->z1, q->dz1, N * D);
    hn_free(&q->ctx, memory);
    CU_ASSERT_EQUAL(q->ctx.memory.live, 0);
}

static void test_queue(void) {
    static struct queued q;
    for (int weighting = 0; weighting < LAWS; weighting++)
        for (int outside = 0; outside < 2; outside++)
            check_queue(&q, weighting, outside);
}

static const struct hn_test tests[] = {{"queue", test_queue}};
HN_TEST_MAIN("queue_slopes", tests)
