// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences on gains in hardness beside the margin below which Uniform is as good.
#include "tests/plots/answered.h"

// A gain that is shown and below the margin is no reason to leave Uniform; where no cosine has room
// for the margin, that is said instead.
static void small_gains(void) {
    static const double none[3] = {0, 0, 0}, gain[3] = {0.004, 0.005, 0.006},
                        high[3] = {0.485, 0.486, 0.487};
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", none, gain);
    says(sentences(),
         "<b>knn</b> is the hardest shown to be within: hardness 0.5050 (+0.0050 ± 0.0025), false "
         "negatives 9.6 % (0.0 ± 0 points); 2.00 ms a batch, build included. Uniform batches will "
         "do: "
         "none within the limit is harder by 0.02.",
         "too uncertain");
    begin();
    put_sampler("uniform", none, high);
    put_sampler("knn", none, high);
    says(sentences(), "No sampler can be harder by 0.02, as no cosine is above 1", "will do");
}

// Of limits nothing is explained where there are none.
static void no_limits(void) {
    struct cell cells[6];
    for (int i = 0; i < 6; i++)
        cells[i] = at(i < 3 ? "uniform" : "knn", i % 3, NAN, i < 3 ? 0.5 : 0.6);
    says(sentences_on(cells, 6), "Without labels nothing is known", "Within a limit");
}

static int count_lines(const char *text) {
    int n = 0;
    for (; (text = strstr(text, "<li>At most ")) != NULL; text++)
        n++;
    return n;
}

// A limit of which the next one says the same has no line; one that two limits share has one line.
static void repeated(void) {
    static const double none[3] = {0, 0, 0}, little[3] = {0.001, 0, 0.002},
                        unsure[3] = {0.03, 0, 0.06}, some[3] = {0.1, 0.101, 0.102},
                        beyond[3] = {0.06, 0.061, 0.062}, open[3] = {0.004, 0.006, 0.005};
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", little, unsure);
    char *text = sentences();
    CU_ASSERT_EQUAL(count_lines(text), 1);
    says(text, "<li>At most 10 points more false negatives: no sampler", "At most 2 ");
    begin(); // seeds depend on the limit, here of one that is harder
    put_sampler("uniform", none, none);
    put_sampler("knn", (const double[]){-0.1, 0.094, 0.004}, some);
    text = sentences();
    CU_ASSERT_EQUAL(count_lines(text), 3);
    free(text);
    margin = 0.05;
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", beyond, some);
    text = sentences();
    CU_ASSERT_EQUAL(count_lines(text), 2);
    says(text, "At most 5 points more false negatives: none; every sampler has more.",
         "At most 2 ");
    begin();
    put_sampler("uniform", none, none);
    put_sampler("knn", open, some);
    text = sentences();
    CU_ASSERT_EQUAL(count_lines(text), 2);
    says(text, "At most 5 points more false negatives: <b>knn</b> is the hardest", "At most 2 ");
    margin = HN_MARGIN;
}

static const struct hn_test tests[] = {
    {"repeated", repeated},
    {"small_gains", small_gains},
    {"no_limits", no_limits},
};
HN_TEST_MAIN("answer_margin", tests)
