// SPDX-License-Identifier: GPL-3.0-or-later
// The certificate with a model's verdicts, by simulation: stopped wherever it speaks, whatever the
// model is; and how many verdicts of people it saves.
#include "core/stats.h"
#include "retrieval/certify_model.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10000 };
static struct hn_context ctx;
static double people[MOST], model[MOST];

struct world {
    int64_t pairs, relevant;
    double sensitivity, specificity;
    bool hard; // a third of the pairs is hard: the relevant ones come from it if it has room, and
               // the model errs there twice as often, elsewhere half as often
};

static int draws(int usual) { return getenv("HN_DRAWS") ? atoi(getenv("HN_DRAWS")) : usual; }

// A world in random order.
static void draw(gsl_rng *rng, const struct world *w) {
    for (int64_t i = 0; i < w->pairs; i++) {
        double often = !w->hard ? 1 : 3 * i < w->pairs ? 2 : .5;
        double wrong = i < w->relevant ? 1 - w->sensitivity : 1 - w->specificity;
        people[i] = i < w->relevant;
        model[i] = (gsl_rng_uniform(rng) < fmin(1, often * wrong)) != (i < w->relevant);
    }
    for (int64_t i = w->pairs - 1; i > 0; i--) {
        int64_t k = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)i + 1);
        double a = people[i], b = model[i];
        people[i] = people[k];
        model[i] = model[k];
        people[k] = a;
        model[k] = b;
    }
}

// What it says at the first number of judged pairs, up to `most`, at which it says anything: once
// the bets have reached their aim it goes on saying so.
static enum hn_certify says(const struct world *w, double limit, int64_t most) {
    const struct hn_double_verdicts v = {people, model, most, w->pairs};
    return hn_certify_by_model(&v, limit);
}

static int64_t pairs_taken(const struct world *w, double limit, int64_t most) {
    int64_t none = 0, some = most + 1;
    while (some - none > 1) {
        int64_t n = (none + some) / 2;
        *(says(w, limit, n) == HN_CERTIFY_OPEN ? &none : &some) = n;
    }
    return some;
}

static const double quality[][2] = {{.7, .7}, {.9, .9}, {.99, .99}, {.7, .99}, {.3, .999}};
enum { QUALITIES = sizeof quality / sizeof *quality };

// A share one pair above the limit is said to be within it, and one at the limit above it, in one
// sequence of twenty at most, at any number of judged pairs. On 8,000: .5 to 4.6 %.
static void test_level(void) {
    static const struct {
        int64_t pairs, relevant, most;
    } at[] = {{2000, 40, 1500}, {400, 80, 300}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int all = draws(250);
    hn_context_init(&ctx, 1);
    for (int k = 0; k < 2; k++)
        for (int q = 0; q < 2 * QUALITIES; q++) {
            struct world w = {at[k].pairs, 0, quality[q / 2][0], quality[q / 2][1], q % 2};
            double limit = (double)at[k].relevant / (double)at[k].pairs;
            int shown = 0, passed = 0;
            for (int i = 0; i < all; i++) {
                w.relevant = at[k].relevant + 1;
                draw(rng, &w);
                shown += says(&w, limit, at[k].most) == HN_CERTIFY_SHOWN;
                w.relevant = at[k].relevant;
                draw(rng, &w);
                passed += says(&w, limit, at[k].most) == HN_CERTIFY_PASSED;
            }
            if (getenv("HN_SHOW"))
                fprintf(stderr, "%lld pairs, limit %.2f, %.2f %.3f%s: %.2f %%, %.2f %%\n",
                        (long long)w.pairs, limit, w.sensitivity, w.specificity,
                        w.hard ? " hard" : "", 100. * shown / all, 100. * passed / all);
            CU_ASSERT(shown <= .05 * all + 3 * sqrt(.05 * .95 * all));
            CU_ASSERT(passed <= .05 * all + 3 * sqrt(.05 * .95 * all));
        }
    gsl_rng_free(rng);
}

// How many pairs people judge, with a model and without (a model that says nothing).
static void test_power(void) {
    static const struct {
        double limit, share, sensitivity, specificity, median;
    } at[] = {{.02, .002, .9, .99, 230},
              {.02, .01, .9, .99, 520},
              {.02, .01, 0, 1, 1100},
              {.05, .02, .95, .99, 140},
              {.02, .04, .9, .99, 240}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int all = draws(60);
    hn_context_init(&ctx, 1);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const struct world w = {MOST, (int64_t)round(MOST * at[k].share), at[k].sensitivity,
                                at[k].specificity, false};
        double taken[10000];
        int right = 0;
        for (int i = 0; i < all; i++) {
            draw(rng, &w);
            taken[i] = (double)pairs_taken(&w, at[k].limit, 3000);
            right += says(&w, at[k].limit, (int64_t)fmin(3000, taken[i])) ==
                     (at[k].share > at[k].limit ? HN_CERTIFY_PASSED : HN_CERTIFY_SHOWN);
        }
        double median = hn_quantile(taken, all, .5);
        if (getenv("HN_SHOW"))
            fprintf(stderr, "limit %g, share %g, %g %g: %.0f pairs, %.0f; right %d of %d\n",
                    at[k].limit, at[k].share, at[k].sensitivity, at[k].specificity, median,
                    hn_quantile(taken, all, .8), right, all);
        CU_ASSERT(median <= at[k].median);
        CU_ASSERT(right >= .9 * all);
    }
    gsl_rng_free(rng);
}

// The interval holds the truth, lies where its ends are shown and nowhere else, and is a point once
// all pairs are judged.
static void test_interval(void) {
    const struct world w = {1000, 50, .9, .97, true};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int all = draws(100), held = 0;
    hn_context_init(&ctx, 1);
    for (int i = 0; i < all; i++) {
        struct hn_double_verdicts v = {people, model, 200, w.pairs};
        draw(rng, &w);
        struct hn_interval x = hn_certified_share_by_model(&v);
        held += x.lo <= .05 && .05 <= x.hi;
        CU_ASSERT(x.lo <= x.mean && x.mean <= x.hi);
        for (int k = 1; k < 40 && i < 10; k++) {
            double limit = (double)(10 * k) / 1000 + .0005;
            enum hn_certify want = limit > x.hi   ? HN_CERTIFY_SHOWN
                                   : limit < x.lo ? HN_CERTIFY_PASSED
                                                  : HN_CERTIFY_OPEN;
            CU_ASSERT_EQUAL(hn_certify_by_model(&v, limit), want);
        }
    }
    CU_ASSERT(held >= .9 * all - 3 * sqrt(.09 * all));
    const struct hn_double_verdicts none = {people, model, 0, 1000},
                                    whole = {people, model, 1000, 1000};
    struct hn_interval x = hn_certified_share_by_model(&none);
    CU_ASSERT(isnan(x.mean) && x.lo == 0 && x.hi == 1);
    x = hn_certified_share_by_model(&whole);
    CU_ASSERT_DOUBLE_EQUAL(x.mean, .05, 1e-9);
    CU_ASSERT(x.lo > .048 && x.hi < .052);
    gsl_rng_free(rng);
}

static const struct hn_test tests[] = {
    {"level", test_level}, {"power", test_power}, {"interval", test_interval}};
HN_TEST_MAIN("certify_model", tests)
