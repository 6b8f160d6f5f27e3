// SPDX-License-Identifier: GPL-3.0-or-later
// How often a page that opens with the best within a limit names one that is not, at truths on the
// limit and inside of it.
#include "core/random.h"
#include "tests/plots/answered.h"

#include <math.h>

enum { SETTINGS = 12, OPENINGS = 150 };
static const double limit = 0.02, noise = 0.01;

static double normal(struct hn_stream *s) {
    double u = 1 - hn_stream_uniform(s), v = hn_stream_uniform(s);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

// Uniform, and settings of that excess with noise by seed, of equal hardness.
static void put_all(struct hn_stream *s, double excess, int seeds) {
    for (int k = 0; k <= SETTINGS; k++)
        for (int seed = 0; seed < seeds; seed++) {
            char params[16];
            (void)snprintf(params, sizeof params, "K=%d", k);
            struct cell c =
                at(k ? "knn" : "uniform", seed, 0.1 + (k ? excess + noise * normal(s) : 0),
                   k ? 0.6 + 0.001 * normal(s) : 0.3);
            c.params = k ? params : "";
            put(&c);
        }
}

// Openings of so many that name a setting as within the limit.
static int count_named(double excess, int seeds, int openings) {
    int named = 0;
    for (int i = 0; i < openings; i++) {
        struct hn_stream s;
        hn_stream_open(&s, 1, "opening", seeds, 0, i);
        begin();
        put_all(&s, excess, seeds);
        char *text = sentences(), *line = strstr(text, "<li>At most 2 "),
             *end = line ? strstr(line, "</li>") : NULL;
        CU_ASSERT_FATAL(line && end);
        *end = 0;
        named += strstr(line, "is the hardest shown to be within") != NULL;
        free(text);
    }
    return named;
}

// A setting that is wrongly within is named in 5 % of the openings at most, however many there are
// (150 openings have up to 16 in 99.9 % of cases then); one inside is found.
static void on_the_limit(void) {
    static const int seeds[] = {3, 10};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        int wrong = count_named(limit, seeds[i], OPENINGS);
        printf("%d seeds: %.1f %% of openings name one of %d settings on the limit\n", seeds[i],
               100.0 * wrong / OPENINGS, SETTINGS);
        CU_ASSERT(wrong <= 16);
    }
    CU_ASSERT(count_named(limit - 0.02, 10, 20) > 10);
}

static const struct hn_test tests[] = {
    {"on_the_limit", on_the_limit},
};
HN_TEST_MAIN("answer_truth", tests)
