// SPDX-License-Identifier: GPL-3.0-or-later
// InfoGraph's loss against its formula, and its gradients against central differences, in double
// precision (Makefile: obj64).
#include "tests/slopes_fixture.h"
#include "training/net/loss.h"

#include <string.h>

enum { N = 9, D = 4, GRAPHS = 5 };
struct nodes {
    struct hn_context ctx;
    struct hn_loss_spec spec;
    struct hn_loss_work work;
    hn_real u[N * D], g[GRAPHS * D], du[N * D], dg[GRAPHS * D], spare[N * D], spare_g[GRAPHS * D];
};
static const int32_t own[N] = {0, 0, 1, 2, 2, 2, 4, 4, 1}; // no node of graph 3

static double loss(void *self) {
    struct nodes *s = self;
    return hn_loss_jsd((struct hn_workers){2, NULL}, &s->spec, N, GRAPHS, D, s->u, s->g, own,
                       s->spare, s->spare_g, &s->work);
}

static double score(const struct nodes *s, int i, int j) {
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += s->u[i * D + k] * s->g[j * D + k];
    return sum;
}

// As written, term by term.
static double plain(const struct nodes *s, double rate) {
    double sum = 0, tau = s->spec.temperature;
    for (int i = 0; i < N; i++) {
        double weight = 0, mean = 0;
        for (int j = 0; j < GRAPHS; j++)
            if (j != own[i]) {
                weight += exp(rate * score(s, i, j));
                mean += exp(rate * score(s, i, j)) * log(1 + exp(score(s, i, j) / tau));
            }
        sum += log(1 + exp(-score(s, i, own[i]) / tau)) + mean / weight;
    }
    return sum / N;
}

static double largest(const struct nodes *s) {
    double max = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < GRAPHS; j++)
            if (j != own[i])
                max = fmax(max, fabs(score(s, i, j)));
    return max;
}

static void check(double beta, double clip, double tau) {
    static struct nodes s;
    s = (struct nodes){.spec = {.objective = HN_OBJECTIVE_JSD,
                                .weighting = {.beta = beta, .clip = clip},
                                .temperature = tau}};
    hn_context_init(&s.ctx, 2);
    void *memory = hn_alloc(&s.ctx, 1, 1);
    hn_own(&s.ctx, memory);
    fill(s.u, N * D, 60);
    fill(s.g, GRAPHS * D, 61);
    HN_CHECK(&s.ctx, hn_loss_open(&s.ctx, HN_OBJECTIVE_JSD, N, GRAPHS, D, &s.work));
    double value = loss(&s), rate = clip > 0 ? beta * clip / largest(&s) : beta / tau;
    CU_ASSERT_DOUBLE_EQUAL(value, plain(&s, rate), 1e-12);
    memcpy(s.du, s.spare, sizeof s.du);
    memcpy(s.dg, s.spare_g, sizeof s.dg);
    if (clip <= 0) { // else the largest score counts as a constant
        check_slopes("jsd, nodes", loss, &s, s.u, s.du, N * D);
        check_slopes("jsd, graphs", loss, &s, s.g, s.dg, GRAPHS * D);
    }
    hn_free(&s.ctx, memory);
    CU_ASSERT_EQUAL(s.ctx.memory.live, 0);
}

static void test_slopes(void) {
    check(0, 0, 1);
    check(1, 0, 1);
    check(10, 0, 0.5);
    check(2, 2, 1);
}

static const struct hn_test tests[] = {{"slopes", test_slopes}};
HN_TEST_MAIN("jsd_slopes", tests)
