// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences on weightings that a page opens with, held against results whose truth is known.
#include "tests/plots/answered.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

// Weightings are judged by the loss on false negatives, clamped ones are not.
static void weightings(void) {
    begin();
    for (int i = 0; i < 9; i++) {
        struct cell c = at("uniform", i % 3, 0.1, 0.5);
        c.weighting = i < 3 ? "none" : "debiased";
        c.tau_plus = i < 3 ? NAN : i < 6 ? 0.05 : 0.1;
        c.loss = i < 3 ? 0.2 : i < 6 ? 0.1 : 0;
        c.clamp = i < 3 ? NAN : i < 6 ? 0.05 : 0.83;
        put(&c);
    }
    char *text = sentences();
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "Less with <b>debiased tau_plus=0.05</b> (-10.00 ± 0 points)"));
    CU_ASSERT_PTR_NULL(strstr(text, "how much builds vary"));
    says(text, "(clamped): <b>debiased tau_plus=0.1</b> (83 % of the anchors).",
         "Not significantly different");
}

// Two seeds show nothing beside weightings with three.
static void weightings_of_two_seeds(void) {
    begin();
    for (int i = 0; i < 8; i++) {
        struct cell c = at("uniform", i % 3, 0.1, 0.5);
        c.weighting = i < 3 ? "none" : "debiased";
        c.tau_plus = i < 3 ? NAN : i < 6 ? 0.05 : 0.1;
        c.loss = i < 3 ? 0.2 : 0.1;
        c.clamp = i < 3 ? NAN : 0;
        put(&c);
    }
    char *text = sentences();
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Less with <b>debiased tau_plus=0.05</b>"));
    says(text, "Not significantly different: <b>debiased tau_plus=0.1</b>", "by means");
}

// A weighting that no seed of none has is named.
static void weightings_without_a_common_seed(void) {
    begin();
    for (int i = 0; i < 5; i++) {
        struct cell c = at("uniform", i < 4 ? i % 2 : 7, 0.1, 0.5);
        c.weighting = i < 2 ? "none" : i < 4 ? "debiased" : "hcl";
        c.loss = i < 2 ? 0.2 : 0.1;
        put(&c);
    }
    says(sentences(), "Not compared, for lack of a seed in common: <b>hcl</b>.", "with <b>hcl");
}

// One seed shows no difference.
static void weightings_of_one_seed(void) {
    begin();
    for (int i = 0; i < 2; i++) {
        struct cell c = at("uniform", 0, 0.1, 0.5);
        c.weighting = i < 1 ? "none" : "hcl";
        c.loss = i < 1 ? 0.2 : 0.1;
        put(&c);
    }
    says(sentences(),
         "1 seed was run, and how much builds vary is not known, so weightings are not",
         "Less with");
}

// Sentences of results drawn from a known truth: which are false?

enum { LESS, MORE, CLAIMS, WEIGHTINGS = 5 };
struct tally {
    int said[CLAIMS], wrong[CLAIMS];
    int pages; // with a false sentence
};

// Debiasing with tau_plus .01 to .05, and what it changes in truth: the share of the loss on false
// negatives.
static void check_page(gsl_rng *random, const double change[WEIGHTINGS], struct tally *t) {
    int wrong = t->wrong[LESS] + t->wrong[MORE];
    begin();
    for (int i = 0; i < (WEIGHTINGS + 1) * 3; i++) {
        struct cell c = at("uniform", i % 3, 0.1, 0.5);
        c.weighting = i < 3 ? "none" : "debiased";
        c.tau_plus = i < 3 ? NAN : 0.01 * (i / 3);
        c.loss = 0.2 + (i < 3 ? 0 : change[i / 3 - 1]) + gsl_ran_gaussian(random, 0.004);
        c.clamp = i < 3 ? NAN : 0;
        put(&c);
    }
    char *text = sentences(), *higher = strstr(text, "More with "),
         *same = strstr(text, "Not significantly different: ");
    for (int i = 0; i < WEIGHTINGS; i++) {
        char name[40];
        snprintf(name, sizeof name, "tau_plus=%g<", 0.01 * (i + 1));
        char *at = strstr(text, name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        if (same && at > same && !(higher && at > higher))
            continue;
        bool more = higher && at > higher;
        t->said[more ? MORE : LESS]++;
        t->wrong[more ? MORE : LESS] += more ? change[i] <= 0 : change[i] >= 0;
    }
    free(text);
    t->pages += t->wrong[LESS] + t->wrong[MORE] > wrong;
}

static struct tally check_pages(const double change[WEIGHTINGS], int pages) {
    struct tally t = {.pages = 0};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (int page = 0; page < pages; page++)
        check_page(random, change, &t);
    gsl_rng_free(random);
    if (getenv("HN_SHOW"))
        fprintf(stderr, "less %d of %d, more %d of %d, pages %d of %d\n", t.wrong[LESS],
                t.said[LESS], t.wrong[MORE], t.said[MORE], t.pages, pages);
    return t;
}

static void rarely_false(void) {
    enum { PAGES = 2000 };
    struct tally t = check_pages((const double[]){0, -0.005, 0.01, -0.03, 0.1}, PAGES);
    for (int i = 0; i < CLAIMS; i++)
        CU_ASSERT(t.said[i] > PAGES / 2 && t.wrong[i] <= 0.05 * t.said[i]);
}

// Five alike: by Bonferroni's correction a page is wrong with probability .05 at most, to three
// standard errors. Each interval for itself, 21 % would be.
static void rarely_by_luck(void) {
    enum { PAGES = 4000 };
    struct tally t = check_pages((const double[WEIGHTINGS]){0}, PAGES);
    CU_ASSERT(t.pages > 0 && t.pages <= 0.05 * PAGES + 3 * sqrt(0.05 * 0.95 * PAGES));
}

// A front of Uniform alone would be a point.
static void no_front(void) {
    begin();
    for (int i = 0; i < 6; i++) {
        struct cell c = at("uniform", i / 2, 0.1, 0.5);
        c.weighting = i % 2 ? "hcl" : "none";
        c.loss = i % 2 ? 0.1 : 0.2;
        put(&c);
    }
    says(opening(), "<p>Weightings on", "class=first");
}

static const struct hn_test tests[] = {
    {"no_front", no_front},
    {"judged", weightings},
    {"one seed", weightings_of_one_seed},
    {"two seeds", weightings_of_two_seeds},
    {"without a common seed", weightings_without_a_common_seed},
    {"rarely_false", rarely_false},
    {"rarely_by_luck", rarely_by_luck},
};
HN_TEST_MAIN("answer_weightings", tests)
