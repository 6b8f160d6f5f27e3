// SPDX-License-Identifier: GPL-3.0-or-later
// Mined negatives against a naive miner, in double.
#include "core/label_sets.h"
#include "tests/sampled.h"

#include <string.h>

enum { N = 40, D = 8, B = 7 };

extern const struct hn_sampler_type hn_mined_sampler;

struct filters {
    const char *settings;
    int r, n, min_rank, max_rank;
    double min_score, max_score, absolute, relative;
    bool no_copies, no_labels;
};

// Whether the naive miner keeps item number `rank` of similarity s, which may share a label.
static bool keeps(const struct filters *f, int rank, double s, double positive, bool same) {
    return rank >= f->min_rank && rank <= f->max_rank && s >= f->min_score && s <= f->max_score &&
           s <= positive - f->absolute && s <= positive - f->relative * fabs(positive) &&
           !(f->no_labels && same) && !(f->no_copies && s >= 0.999999);
}

static bool share_label(const struct hn_items *items, int32_t u, int32_t v) {
    return items->labels && items->labels[u] >= 0 && items->labels[v] >= 0 &&
           hn_same_label(items->label_sets, items->labels[u], items->labels[v]);
}

static void check_mined(struct hn_context *ctx, const struct hn_items *items,
                        const struct filters *f) {
    struct sampled s;
    HN_CHECK(ctx, sampled_open(ctx, &hn_mined_sampler, f->settings, items, B, 5, &s));
    bool draw = strstr(f->settings, "take=draw");
    for (int64_t p = 0; p < sampled_places(&s); p++) {
        int32_t u = sampled_anchor_at(&s, p), kept[N], n = 0;
        bool used[N] = {false};
        if (u < 0)
            continue;
        used[u] = true;
        double positive = 1; // without margins it does not matter
        if (items->x2.data)
            positive = hn_dot_exact(hn_row(&items->x1, u), hn_row(&items->x2, u), D);
        for (int rank = 1; rank <= f->r && rank < N; rank++) {
            int32_t best = -1;
            double high = -INFINITY;
            for (int32_t v = 0; v < N; v++) {
                double c = hn_dot_exact(hn_row(&items->x, u), hn_row(&items->x, v), D);
                if (!used[v] && c > high) {
                    high = c;
                    best = v;
                }
            }
            used[best] = true;
            if (keeps(f, rank, fmin(1, high), positive, share_label(items, u, best)))
                kept[n++] = best;
        }
        CU_ASSERT_EQUAL_FATAL(s.negatives[p], n < f->n ? n : f->n);
        for (int32_t k = 0; k < s.negatives[p]; k++) {
            bool found = false;
            for (int32_t j = 0; j < n; j++)
                found |= kept[j] == sampled_negatives(&s, p)[k];
            CU_ASSERT(found);
            if (!draw)
                CU_ASSERT_EQUAL(sampled_negatives(&s, p)[k], kept[k]);
        }
    }
    sampled_close(ctx, &s);
}

static void test_mined_filters(void) {
    static const struct filters cases[] = {
        {"R=10 n=4", 10, 4, 1, 99, -9, 9, -9, -1e9},
        {"R=100 n=all", 100, 99, 1, 99, -9, 9, -9, -1e9},
        {"R=30 n=5 min_rank=3 max_rank=9", 30, 5, 3, 9, -9, 9, -9, -1e9},
        {"R=30 n=all min_score=0.1 max_score=0.7", 30, 99, 1, 99, 0.1, 0.7, -9, -1e9},
        {"R=30 n=6 absolute_margin=0.3", 30, 6, 1, 99, -9, 9, 0.3, -1e9},
        {"R=30 n=6 relative_margin=0.2 take=draw", 30, 6, 1, 99, -9, 9, -9, 0.2},
        {"R=39 n=all min_rank=2 max_score=0.8 absolute_margin=0.1 relative_margin=0.3", 39, 99, 2,
         99, -9, 0.8, 0.1, 0.3},
    };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 4, views, 7);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct sampled s;
            if (views || !strstr(cases[i].settings, "margin"))
                check_mined(&ctx, &items, &cases[i]);
            else
                HN_CHECK_FAILS(
                    &ctx,
                    sampled_open(&ctx, &hn_mined_sampler, cases[i].settings, &items, B, 1, &s),
                    HN_NOT_APPLICABLE, "second view");
        }
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Items 20 to 24 are copies of items 0 to 4, or nearly. Their cosine is 1, or more by rounding.
static void make_copies(struct hn_items *items) {
    for (int32_t i = 0; i < 5; i++) {
        memcpy((float *)hn_row(&items->x, i + 20), hn_row(&items->x, i), D * sizeof(float));
        ((float *)hn_row(&items->x, i + 20))[1] += (float)i * 1e-8F;
    }
}

static void test_exclusions(void) {
    static const struct filters cases[] = {
        {"R=39 n=all exclude=labels", 39, 99, 1, 99, -9, 9, -9, -1e9, .no_labels = true},
        {"R=12 n=3 exclude=labels min_rank=2", 12, 3, 2, 99, -9, 9, -9, -1e9, .no_labels = true},
        {"R=39 n=all exclude=copies", 39, 99, 1, 99, -9, 9, -9, -1e9, .no_copies = true},
        {"R=39 n=7 exclude=both", 39, 7, 1, 99, -9, 9, -9, -1e9, true, true},
        {"R=39 n=all max_score=1", 39, 99, 1, 99, -9, 1, -9, -1e9},
        {"R=39 n=all exclude=none", 39, 99, 1, 99, -9, 9, -9, -1e9},
    };
    static const int64_t start[N + 1] = {0, 2, 4, 5, 5, 7, 8};
    static const int32_t label[] = {5, 1, 5, 70, 1, 6, 70, 6}; // one and several an item, or none
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int several = 0; several < 2; several++) {
        int64_t starts[N + 1];
        int32_t set[N];
        struct hn_label_sets sets = {0};
        struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 7);
        const int32_t *single = items.labels;
        make_copies(&items);
        for (int i = 0; i <= N; i++)
            starts[i] = i < 6 ? start[i] : 8;
        HN_CHECK(&ctx, hn_label_sets_make(&ctx, N, starts, label, set, &sets));
        if (several) {
            items.labels = set;
            items.label_sets = &sets;
        }
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            check_mined(&ctx, &items, &cases[i]);
        items.labels = NULL;
        struct sampled s;
        HN_CHECK_FAILS(&ctx,
                       sampled_open(&ctx, &hn_mined_sampler, "exclude=labels", &items, B, 1, &s),
                       HN_NOT_APPLICABLE, "excludes labels needs labels");
        items.labels = single;
        items.label_sets = NULL;
        hn_fixture_label_sets_free(&ctx, &sets);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A draw takes every set of survivors with the same probability.
static void test_mined_draws(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 7);
    struct sampled s;
    int64_t count[1 << 6] = {0}, used[20], cells = 0;
    int32_t top[6];
    HN_CHECK(&ctx, sampled_open(&ctx, &hn_mined_sampler, "R=6 n=6", &items, N, 1, &s));
    for (int64_t p = 0; p < N; p++)
        if (s.ids[p] == 0)
            memcpy(top, sampled_negatives(&s, p), sizeof top);
    sampled_close(&ctx, &s);
    HN_CHECK(&ctx, sampled_open(&ctx, &hn_mined_sampler, "R=6 n=3 take=draw", &items, N, 1, &s));
    for (int64_t e = 0; e < 3000; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t p = 0; p < N; p++) {
            int set = 0;
            for (int k = 0; s.ids[p] == 0 && k < 3; k++)
                for (int j = 0; j < 6; j++)
                    set |= (top[j] == sampled_negatives(&s, p)[k]) << j;
            count[set] += set != 0;
        }
    }
    for (int k = 0; k < 64; k++)
        if (__builtin_popcount((unsigned)k) == 3)
            used[cells++] = count[k];
        else
            CU_ASSERT_EQUAL(count[k], 0);
    CU_ASSERT(chi_square_fits(chi_square_equal(used, cells), (double)cells - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static int64_t interval_of(struct hn_context *ctx, const char *settings) {
    const struct hn_sampler_type *type = &hn_mined_sampler;
    void *params = calloc(1, type->params_size);
    HN_CHECK(ctx, sampled_params(ctx, type, settings, params));
    int64_t steps = hn_sampler_interval(type, params);
    free(params);
    return steps;
}

// Two texts of options that mean the same.
static void check_same(struct hn_context *ctx, const struct hn_items *items,
                       const char *const text[2]) {
    struct sampled s[2];
    for (int k = 0; k < 2; k++)
        HN_CHECK(ctx, sampled_open(ctx, &hn_mined_sampler, text[k], items, B, 5, &s[k]));
    CU_ASSERT_EQUAL_FATAL(s[0].capacity, s[1].capacity);
    for (int64_t p = 0; p < sampled_places(&s[0]); p++) {
        CU_ASSERT_EQUAL(s[0].negatives[p], s[1].negatives[p]);
        for (int32_t k = 0; k < s[0].negatives[p]; k++)
            CU_ASSERT_EQUAL(sampled_negatives(&s[0], p)[k], sampled_negatives(&s[1], p)[k]);
    }
    for (int k = 0; k < 2; k++)
        sampled_close(ctx, &s[k]);
}

// NV-Retriever's thresholds are margins, of which another value can be given.
static void test_mined_presets(void) {
    static const char *const same[][2] = {
        {"take=marginpos", "n=4 absolute_margin=0.05"},
        {"take=percpos", "n=4 relative_margin=0.05"},
        {"take=percpos n=7", "n=7 relative_margin=0.05"},
        {"take=marginpos absolute_margin=0.3", "n=4 absolute_margin=0.3"},
        {"take=percpos relative_margin=0.3 R=50", "n=4 relative_margin=0.3 R=50"}};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 300, D, 4, true, 7);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_same(&ctx, &items, same[i]);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// ANCE is a draw: one of the 200 most similar unless something else is said, with ranks that are
// used for 10,000 steps.
static void test_mined_ance(void) {
    static const char *const same[][2] = {{"take=ance", "R=200 n=1 take=draw"},
                                          {"take=ance R=6 n=3", "R=6 n=3 take=draw"},
                                          {"n=2 take=ance", "R=200 n=2 take=draw"}};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 300, D, 4, false, 7);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_same(&ctx, &items, same[i]);
    CU_ASSERT_EQUAL(interval_of(&ctx, "take=ance"), 10000);
    CU_ASSERT_EQUAL(interval_of(&ctx, "take=ance t=50"), 50);
    CU_ASSERT_EQUAL(interval_of(&ctx, "take=draw t=50"), 50);
    CU_ASSERT_EQUAL(interval_of(&ctx, "take=draw"), 0);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Probability that candidate k is among the n drawn, each in proportion to its weight of those
// left.
static double inclusion(const double *weight, int of, int n, int used, int k) {
    double left = 0, sum = 0;
    for (int j = 0; j < of; j++)
        left += used & 1 << j ? 0 : weight[j];
    for (int j = 0; j < of && n > 0; j++)
        if (!(used & 1 << j))
            sum += weight[j] / left * (j == k ? 1 : inclusion(weight, of, n - 1, used | 1 << j, k));
    return sum;
}

// Draws near the positive: shares of the candidates within 4 standard errors of what they should
// be.
static void test_mined_ambiguous(void) {
    enum { R = 5, TAKEN = 2, EPOCHS = 4000 };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 7);
    struct sampled s;
    double weight[R];
    int64_t count[R] = {0};
    int32_t top[R];
    HN_CHECK(&ctx, sampled_open(&ctx, &hn_mined_sampler, "R=5 n=5", &items, N, 1, &s));
    for (int64_t p = 0; p < N; p++)
        if (s.ids[p] == 0)
            memcpy(top, sampled_negatives(&s, p), sizeof top);
    sampled_close(&ctx, &s);
    double positive = hn_dot_exact(hn_row(&items.x1, 0), hn_row(&items.x2, 0), D);
    for (int k = 0; k < R; k++) {
        double off =
            hn_dot_exact(hn_row(&items.x, 0), hn_row(&items.x, top[k]), D) - positive + 0.1;
        weight[k] = exp(-30 * off * off);
    }
    HN_CHECK(&ctx,
             sampled_open(&ctx, &hn_mined_sampler, "R=5 n=2 take=ambiguous sharpness=30 shift=-0.1",
                          &items, N, 1, &s));
    for (int64_t e = 0; e < EPOCHS; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t p = 0; p < N; p++)
            for (int k = 0; s.ids[p] == 0 && k < TAKEN; k++)
                for (int j = 0; j < R; j++)
                    count[j] += top[j] == sampled_negatives(&s, p)[k];
    }
    for (int k = 0; k < R; k++) {
        double share = inclusion(weight, R, TAKEN, 0, k);
        CU_ASSERT_DOUBLE_EQUAL((double)count[k] / EPOCHS, share,
                               4 * sqrt(share * (1 - share) / EPOCHS) + 1e-12);
    }
    CU_ASSERT_EQUAL(count[0] + count[1] + count[2] + count[3] + count[4], EPOCHS * TAKEN);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every candidate ends at one stage, by the label it has.
static void test_attrition(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 7);
    struct sampled s;
    struct hn_table t = {0};
    HN_CHECK(&ctx, sampled_open(&ctx, &hn_mined_sampler,
                                "R=20 n=all min_rank=3 max_score=0.7 absolute_margin=0.1", &items,
                                N, 1, &s));
    HN_CHECK(&ctx, s.sampler.type->table(&ctx, &s.sampler, &t));
    double total = 0, kept[2] = {0};
    CU_ASSERT_EQUAL_FATAL(t.rows, 7);
    for (int64_t r = 0; r < t.rows; r++) {
        double stage = hn_table_real(&t, r, "true_negatives") +
                       hn_table_real(&t, r, "false_negatives") + hn_table_real(&t, r, "unlabelled");
        total += stage;
        if (strcmp(hn_table_text(&t, r, "filter"), "rank") == 0)
            CU_ASSERT(stage >= 2 * N && stage <= 2 * N);
    }
    CU_ASSERT(total >= 20 * N && total <= 20 * N);
    for (int64_t p = 0; p < N; p++)
        for (int32_t k = 0; k < s.negatives[p]; k++)
            kept[items.labels[s.ids[p]] == items.labels[sampled_negatives(&s, p)[k]]] += 1;
    CU_ASSERT(kept[0] > 0 && kept[1] > 0);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 6, "filter"), "kept");
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, 6, "true_negatives"), kept[0], 0);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, 6, "false_negatives"), kept[1], 0);
    hn_table_free(&ctx, &t);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"mined_filters", test_mined_filters}, {"mined_draws", test_mined_draws},
    {"exclusions", test_exclusions},       {"mined_ance", test_mined_ance},
    {"mined_presets", test_mined_presets}, {"mined_ambiguous", test_mined_ambiguous},
    {"attrition", test_attrition},
};
HN_TEST_MAIN("mined", tests)
