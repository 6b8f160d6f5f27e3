// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics that need no sampler, against naive versions in double and their limits.
#include "core/label_sets.h"
#include "metrics/metric.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 64, TEMPERATURES = 2 };
static const double temperatures[TEMPERATURES] = {0.5, 0.1};

struct outcome {
    double value[TEMPERATURES * VALUES_MAX];
    char why[HN_MESSAGE_MAX];
    int64_t sweeps;
    int columns;
};

static int count_metrics(int *columns) {
    int n = 0;
    *columns = 0;
    for (; hn_snapshot_metrics[n]; n++)
        *columns += hn_snapshot_metrics[n]->n_columns;
    return n;
}

static enum hn_code measure(struct hn_context *ctx, const struct hn_items *items,
                            const int8_t *split, struct outcome *out) {
    struct hn_global global[TEMPERATURES];
    struct hn_snapshot_env env = {.items = items,
                                  .split = split,
                                  .seed = 3,
                                  .temperature = temperatures,
                                  .n_temperatures = TEMPERATURES};
    struct hn_snapshot_measured measured = {.value = out->value, .global = global, .why = out->why};
    int n = count_metrics(&out->columns);
    enum hn_code code = hn_snapshot_measure(ctx, hn_snapshot_metrics, n, &env, &measured);
    out->sweeps = measured.sweeps;
    for (int t = 0; t < TEMPERATURES; t++)
        hn_global_free(ctx, &global[t]);
    return code;
}

// Value of a column at temperature number t.
static double at(const struct outcome *o, int t, const char *name) {
    int place = t * o->columns;
    for (int m = 0; hn_snapshot_metrics[m]; m++)
        for (int c = 0; c < hn_snapshot_metrics[m]->n_columns; c++, place++)
            if (strcmp(hn_snapshot_metrics[m]->columns[c].name, name) == 0)
                return o->value[place];
    CU_FAIL("no such column");
    return NAN;
}

static double dot(const struct hn_matrix *a, int64_t i, const struct hn_matrix *b, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += (double)hn_row(a, i)[k] * (double)hn_row(b, j)[k];
    return sum;
}

static double naive_alignment(const struct hn_items *s) {
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < s->d; k++)
            sum += pow((double)hn_row(&s->x1, i)[k] - (double)hn_row(&s->x2, i)[k], 2);
    return sum / (double)s->n;
}

static double naive_uniformity(const struct hn_items *s) {
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++)
            if (i != j)
                sum += exp(-2 * (2 - 2 * dot(&s->x, i, &s->x, j)));
    return log(sum / (double)(s->n * (s->n - 1)));
}

static double naive_loss(const struct hn_items *s, double tau, bool rows, double *probability) {
    double loss = 0;
    *probability = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0, positive = dot(&s->x1, i, &s->x2, i);
        for (int64_t j = 0; j < s->n; j++)
            sum += exp((rows ? dot(&s->x1, i, &s->x2, j) : dot(&s->x1, j, &s->x2, i)) / tau);
        loss += log(sum) - positive / tau;
        *probability += exp(positive / tau) / sum / (double)s->n;
    }
    return loss / (double)s->n;
}

// Overlap of two sets of cosines, as histograms of 200 bins.
static double naive_overlap(const struct hn_items *s, bool views) {
    double p[200] = {0}, q[200] = {0}, np = 0, nq = 0, sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++) {
            if (i == j && !views)
                continue;
            double c = views ? dot(&s->x1, i, &s->x2, j) : dot(&s->x, i, &s->x, j);
            bool positive = views ? i == j : s->labels[i] == s->labels[j];
            int64_t bin = hn_cosine_bin((float)c, 200);
            p[bin] += positive;
            q[bin] += !positive;
            np += positive;
            nq += !positive;
        }
    for (int b = 0; b < 200; b++)
        sum += fmin(p[b] / np, q[b] / nq);
    return sum;
}

static void test_against_naive(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 211, 24, 5, true, 1);
    struct outcome o;
    HN_CHECK(&ctx, measure(&ctx, &items, NULL, &o));
    CU_ASSERT_STRING_EQUAL(o.why, "");
    CU_ASSERT_EQUAL(o.sweeps, 2); // one over the embeddings, one over the views, for everything
    for (int t = 0; t < TEMPERATURES; t++) {
        double rows, ignored;
        double loss = naive_loss(&items, temperatures[t], true, &rows);
        double other = naive_loss(&items, temperatures[t], false, &ignored);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "loss_global"), loss, 1e-6 * loss);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "loss_global_cols"), other, 1e-6 * other);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "pos_prob_global"), rows, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "mi_bound"), log(211) - loss, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "alignment"), naive_alignment(&items), 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "uniformity"), naive_uniformity(&items), 1e-6);
        // A product at the edge of a bin may fall to either side: one pair of the fewest there are.
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "overlap_view"), naive_overlap(&items, true), 1.0 / 211);
        CU_ASSERT_DOUBLE_EQUAL(at(&o, t, "overlap_label"), naive_overlap(&items, false), 1e-3);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The nearest-neighbour vote, spelt out: all training items sorted by cosine, the first 200 vote.
static double naive_knn(const struct hn_items *s, const int8_t *split) {
    int64_t right = 0, tested = 0;
    bool *used = calloc((size_t)s->n, sizeof *used);
    CU_ASSERT_PTR_NOT_NULL_FATAL(used);
    for (int64_t i = 0; i < s->n; i++) {
        if (split[i] != 2)
            continue;
        double vote[16] = {0};
        memset(used, 0, (size_t)s->n * sizeof *used);
        for (int k = 0; k < 200; k++) {
            int64_t best = -1;
            for (int64_t j = 0; j < s->n; j++)
                if (split[j] == 0 && !used[j] &&
                    (best < 0 || dot(&s->x, i, &s->x, j) > dot(&s->x, i, &s->x, best)))
                    best = j;
            if (best < 0)
                break;
            used[best] = true;
            vote[s->labels[best]] += exp(dot(&s->x, i, &s->x, best) / 0.5);
        }
        int elected = 0;
        for (int l = 1; l < 16; l++)
            elected = vote[l] > vote[elected] ? l : elected;
        right += elected == s->labels[i];
        tested++;
    }
    free(used);
    return (double)right / (double)tested;
}

static void test_knn_accuracy(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 260, 6, 4, false, 2);
    int8_t split[260];
    for (int i = 0; i < 260; i++)
        split[i] = i % 13 == 0 ? 2 : i % 13 == 1 ? 1 : 0;
    struct outcome o;
    HN_CHECK(&ctx, measure(&ctx, &items, split, &o));
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 0, "knn_acc"), naive_knn(&items, split), 1e-12);
    CU_ASSERT_STRING_EQUAL(o.why, "no positive");
    CU_ASSERT(isnan(at(&o, 0, "alignment")) && isnan(at(&o, 1, "loss_global")));
    // Without a split: drawn, the same every time.
    struct outcome drawn, again;
    HN_CHECK(&ctx, measure(&ctx, &items, NULL, &drawn));
    HN_CHECK(&ctx, measure(&ctx, &items, NULL, &again));
    CU_ASSERT(at(&drawn, 0, "knn_acc") > 0.3 && at(&drawn, 0, "knn_acc") <= 1);
    CU_ASSERT_EQUAL(at(&drawn, 0, "knn_acc"), at(&again, 0, "knn_acc"));
    hn_fixture_items_free(&ctx, &items);
}

// A file's split serves though its training items are all of the first class: so is every answer.
static void test_one_class(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 80, 6, 3, false, 2);
    int8_t split[80];
    struct outcome o;
    for (int32_t i = 0; i < 80; i++) {
        split[i] = i % 2 == 0 ? 0 : 2;
        ((int32_t *)items.labels)[i] = i % 8 == 1; // of 40 test items 10
    }
    HN_CHECK(&ctx, measure(&ctx, &items, split, &o));
    CU_ASSERT_EQUAL(at(&o, 0, "knn_acc"), 0.75);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 60, 8, 3, true, 4);
    struct outcome o;
    // All embeddings the same: no distance, no spread, histograms on top of each other.
    for (int64_t i = 1; i < items.n; i++)
        memcpy((float *)items.x.data + i * items.d, items.x.data, 8 * sizeof(float));
    struct hn_items same = items;
    same.x1 = same.x2 = same.x;
    HN_CHECK(&ctx, measure(&ctx, &same, NULL, &o));
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 0, "alignment"), 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 0, "uniformity"), 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 1, "loss_global"), log(60), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 1, "mi_bound"), 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(at(&o, 0, "overlap_label"), 1, 1e-12);
    // No labels at all.
    for (int64_t i = 0; i < same.n; i++)
        ((int32_t *)same.labels)[i] = -1;
    HN_CHECK(&ctx, measure(&ctx, &same, NULL, &o));
    CU_ASSERT_STRING_EQUAL(o.why, "no labels");
    CU_ASSERT(isnan(at(&o, 0, "knn_acc")) && isnan(at(&o, 0, "overlap_label")));
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A probe of classes that have too few items to learn from takes time by their square.
static void test_own_labels(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 120, 8, 3, true, 4);
    struct outcome o;
    for (int share = 1; share <= 3; share++) {
        for (int32_t i = 0; i < 120; i++)
            ((int32_t *)items.labels)[i] = i / share;
        HN_CHECK(&ctx, measure(&ctx, &items, NULL, &o));
        CU_ASSERT_EQUAL(isnan(at(&o, 0, "probe_acc")), share < 3); // of three 2.4 are trained on
        CU_ASSERT(share > 1 || at(&o, 0, "knn_acc") <= 0);
    }
    hn_fixture_items_free(&ctx, &items);
}

static void test_threads(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 500, 16, 5, true, 6);
    struct outcome first, other;
    HN_CHECK(&ctx, measure(&ctx, &items, NULL, &first));
    for (ctx.threads = 2; ctx.threads <= 4; ctx.threads++) {
        HN_CHECK(&ctx, measure(&ctx, &items, NULL, &other));
        CU_ASSERT_EQUAL(memcmp(first.value, other.value,
                               (size_t)(TEMPERATURES * first.columns) * sizeof(double)),
                        0);
    }
    hn_fixture_items_free(&ctx, &items);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 40, 8, 3, true, 7);
    int64_t kept = ctx.memory.live, points = 0;
    struct outcome o;
    enum hn_code code;
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        code = measure(&ctx, &items, NULL, &o);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, kept);
    } while (code != HN_OK && points < 1000);
    CU_ASSERT(points > 10 && points < 1000);
    ctx.memory.fail_at = 0;
    hn_fixture_items_free(&ctx, &items);
}

// Without two items that share a label no product is needed; multi-label items share one of
// several.
static void test_no_pair_of_a_label(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 60, 8, 3, false, 4);
    const struct hn_snapshot_metric_type *const metric[] = {
        hn_snapshot_metric_find("overlap_label")};
    const struct hn_snapshot_env env = {
        .items = &items, .temperature = temperatures, .n_temperatures = 1};
    int64_t start[61];
    int32_t label[61], *own = (int32_t *)items.labels;
    for (int several = 0; several < 2; several++)
        for (int pair = 0; pair < 2; pair++) {
            struct hn_global global[1];
            struct hn_label_sets sets = {0};
            double value[1];
            char why[HN_MESSAGE_MAX];
            struct hn_snapshot_measured out = {.value = value, .global = global, .why = why};
            struct hn_snapshot_env of = env;
            for (int32_t i = 0; i <= 60; i++) {
                start[i] = i;
                label[i] = i;
            }
            start[60] = 61; // the last item has label 60 besides 59
            label[60] = pair ? 3 : 60;
            if (several)
                HN_CHECK(&ctx, hn_label_sets_make(&ctx, 60, start, label, own, &sets));
            for (int32_t i = 0; i < 60 && !several; i++)
                own[i] = pair && i == 7 ? -1 : pair && i == 59 ? 3 : i;
            items.label_sets = several ? &sets : NULL;
            HN_CHECK(&ctx, hn_snapshot_measure(&ctx, metric, 1, &of, &out));
            CU_ASSERT_EQUAL(out.n_dot > 0, pair);
            CU_ASSERT_EQUAL(isfinite(value[0]), pair);
            hn_fixture_label_sets_free(&ctx, &sets);
        }
    items.label_sets = NULL;
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"against naive", test_against_naive},
    {"knn accuracy", test_knn_accuracy},
    {"one class", test_one_class},
    {"limits", test_limits},
    {"own labels", test_own_labels},
    {"no pair of a label", test_no_pair_of_a_label},
    {"threads", test_threads},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("snapshot_metrics", tests)
