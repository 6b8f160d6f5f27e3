// Weighted nearest-neighbour accuracy: every test item is given the label with the largest sum of
// weights exp(cos / 0.5) among its k = 200 nearest training items (Wu et al. 2018; the temperature
// is that of the published accuracies of the CIFAR-10 series).
//
// Test and training items are those of the file's split; without one, a fifth of the labelled
// items, drawn by seed, is tested. The products are test x training, in a sweep of their own.
#include "core/random.h"
#include "metrics/metric.h"
#include "metrics/snapshot_metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 200, TEST_SHARE = 5, SPLIT_TRAIN = 0, SPLIT_TEST = 2 };
static const double temperature = 0.5;

// Ids of the two parts, and their rows gathered.
struct parts {
    int32_t *id; // [n] training items, then test items
    int64_t train, test;
    float *rows;          // [(train + test) x d]
    int32_t *label_place; // [n] place of an item's label among the distinct ones, -1 = none
    int32_t labels;
};

// Whether the file's split has both parts among the labelled items.
static bool split_serves(const struct hn_snapshot_env *env) {
    bool train = false, test = false;
    for (int64_t i = 0; env->split && i < env->items->n; i++) {
        train |= env->split[i] == SPLIT_TRAIN && env->items->labels[i] >= 0;
        test |= env->split[i] == SPLIT_TEST && env->items->labels[i] >= 0;
    }
    return train && test;
}

static void take_split(const struct hn_snapshot_env *env, struct parts *p) {
    const int32_t *label = env->items->labels;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < env->items->n; i++)
            if (label[i] >= 0 && env->split[i] == (pass == 0 ? SPLIT_TRAIN : SPLIT_TEST)) {
                p->id[p->train + p->test] = (int32_t)i;
                p->train += pass == 0;
                p->test += pass == 1;
            }
}

static void draw_split(const struct hn_snapshot_env *env, struct parts *p) {
    int64_t labelled = 0;
    for (int64_t i = 0; i < env->items->n; i++)
        if (env->items->labels[i] >= 0)
            p->id[labelled++] = (int32_t)i;
    struct hn_stream stream; // the same items at every step of the series
    hn_stream_open(&stream, env->seed, "knn_acc.split", 0, 0, 0);
    hn_stream_shuffle(&stream, p->id, labelled);
    p->test = labelled / TEST_SHARE;
    p->train = labelled - p->test;
}

static enum hn_code gather(struct hn_context *ctx, const struct hn_items *items, struct parts *p) {
    int64_t n = p->train + p->test, size;
    if (!hn_mul(n, items->d, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    p->rows = hn_alloc(ctx, size, sizeof *p->rows);
    if (!p->rows)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        memcpy(p->rows + i * items->d, hn_row(&items->x, p->id[i]),
               (size_t)items->d * sizeof *p->rows);
    return HN_OK;
}

static int compare_labels(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Numbers the distinct labels from 0 in ascending order, so that votes fit a short array however
// large the labels are.
static enum hn_code number_labels(struct hn_context *ctx, const int32_t *label, int64_t n,
                                  struct parts *p) {
    int32_t *sorted = hn_alloc(ctx, n, sizeof *sorted);
    p->label_place = hn_alloc(ctx, n, sizeof *p->label_place);
    if (!sorted || !p->label_place) {
        hn_free(ctx, sorted);
        return ctx->code;
    }
    memcpy(sorted, label, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_labels);
    for (int64_t i = 0; i < n; i++)
        if (sorted[i] >= 0 && (p->labels == 0 || sorted[i] != sorted[p->labels - 1]))
            sorted[p->labels++] = sorted[i];
    for (int64_t i = 0; i < n; i++) {
        const int32_t *found = label[i] < 0 ? NULL
                                            : bsearch(&label[i], sorted, (size_t)p->labels,
                                                      sizeof *sorted, compare_labels);
        p->label_place[i] = found ? (int32_t)(found - sorted) : -1;
    }
    hn_free(ctx, sorted);
    return HN_OK;
}

// The label with the largest vote, the lower one if two are equal.
static int32_t elect(const struct parts *p, const struct hn_topk *near, int64_t row, double *vote) {
    memset(vote, 0, (size_t)p->labels * sizeof *vote);
    for (int64_t k = 0; k < near->kept; k++) {
        int64_t at = row * near->kept + k;
        vote[p->label_place[p->id[near->id[at]]]] += exp((double)near->score[at] / temperature);
    }
    int32_t best = 0;
    for (int32_t l = 1; l < p->labels; l++)
        best = vote[l] > vote[best] ? l : best;
    return best;
}

static enum hn_code classify(struct hn_context *ctx, const struct hn_items *items,
                             const struct parts *p, double *accuracy) {
    struct hn_topk near = {.k = NEIGHBOURS};
    struct hn_sweep sweep = {
        .x = {p->rows + p->train * items->d, p->test, items->d, items->d},
        .y = {p->rows, p->train, items->d, items->d},
    };
    double *vote = hn_alloc(ctx, p->labels, sizeof *vote);
    hn_sweep_add(&sweep, &hn_topk_sink, &near, HN_SIDE_ROWS);
    enum hn_code code = vote ? hn_sweep_run(ctx, &sweep) : HN_MEMORY;
    int64_t right = 0;
    for (int64_t i = 0; code == HN_OK && i < p->test; i++)
        right += elect(p, &near, i, vote) == p->label_place[p->id[p->train + i]];
    *accuracy = (double)right / (double)p->test;
    hn_topk_free(ctx, &near);
    hn_free(ctx, vote);
    return code;
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                           int t, double *value) {
    double *known = state; // the accuracy does not depend on the loss's temperature
    const struct hn_items *items = env->items;
    if (t > 0) {
        *value = *known;
        return HN_OK;
    }
    struct parts p = {.id = hn_alloc(ctx, items->n, sizeof *p.id)};
    enum hn_code code = p.id ? HN_OK : HN_MEMORY;
    if (code == HN_OK) {
        if (split_serves(env))
            take_split(env, &p);
        else
            draw_split(env, &p);
        *known = NAN; // too few labelled items to split
    }
    if (code == HN_OK && p.train > 0 && p.test > 0) {
        code = gather(ctx, items, &p);
        if (code == HN_OK)
            code = number_labels(ctx, items->labels, items->n, &p);
        if (code == HN_OK)
            code = classify(ctx, items, &p, known);
    }
    *value = *known;
    hn_free(ctx, p.id);
    hn_free(ctx, p.rows);
    hn_free(ctx, p.label_place);
    return code;
}

static const struct hn_column columns[] = {
    {"knn_acc", HN_COLUMN_REAL, "1", "weighted 200-nearest-neighbour accuracy on the test items",
     HN_LARGER},
};

const struct hn_snapshot_metric_type hn_snapshot_knn_acc = {
    .name = "knn_acc",
    .family = "neighbours",
    .summary = "weighted nearest-neighbour accuracy, k = 200, weights exp(cos / 0.5)",
    .source = "Wu et al. 2018; used by GC table 4 and BS table 8",
    .needs = HN_METRIC_NEEDS_LABELS,
    .columns = columns,
    .n_columns = 1,
    .state_size = sizeof(double),
    .finish = finish,
};
