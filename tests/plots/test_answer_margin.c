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
         "<b>knn</b> is the hardest: hardness 0.505 (+0.0050 ± 0.0025), false "
         "negatives 9.6 % (0.0 ± 0 points); 2 ms a batch. Uniform batches will do: "
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

static const struct hn_test tests[] = {
    {"small_gains", small_gains},
    {"no_limits", no_limits},
};
HN_TEST_MAIN("answer_margin", tests)
