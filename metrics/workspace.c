// SPDX-License-Identifier: GPL-3.0-or-later
// The pairs of a batch with their products and kinds, once for all metrics.
#include "metrics/workspace.h"
#include "core/clones.h"
#include "metrics/exp_sums.h"
#include "metrics/pairs.h"

// Cosines of tuples are the products of x1 and x2.
static enum hn_code open_rows(struct hn_context *ctx, const struct hn_items *items, int64_t rows,
                              bool guide, struct hn_workspace *w) {
    if ((!items->tuples && hn_packed_reserve(ctx, rows, items->d, &w->x)) ||
        (hn_has_positive(items) && (hn_packed_reserve(ctx, rows, items->d, &w->x1) ||
                                    hn_packed_reserve(ctx, rows, items->d, &w->x2))) ||
        (guide && hn_packed_reserve(ctx, rows, items->teacher.cols, &w->teacher)))
        return ctx->code;
    return HN_OK;
}

enum hn_code hn_workspace_open(struct hn_context *ctx, const struct hn_metric_env *env,
                               const struct hn_products_wanted *wanted, int settings, int masked,
                               struct hn_workspace *w) {
    int64_t b = env->batch_size;
    bool views = hn_has_positive(env->items), lists = env->capacity > 0;
    int64_t width = lists ? env->capacity : b; // of a row of products
    bool good = (!wanted->guide || HN_ALLOC_ROWS(ctx, w->guide, b, width)) &&
                (!wanted->turned || HN_ALLOC_ROWS(ctx, w->score_t, b, width)) &&
                (!wanted->same[0] || HN_ALLOC_ROWS(ctx, w->same[0], b, width)) &&
                (!wanted->same[1] || HN_ALLOC_ROWS(ctx, w->same[1], b, width)) &&
                (lists || !open_rows(ctx, env->items, b, wanted->guide, w)) &&
                HN_ALLOC_ROWS(ctx, w->kind, b, width) && HN_ALLOC_ROWS(ctx, w->cosine, b, width) &&
                HN_ALLOC_ROWS(ctx, w->score, views ? b : 0, width) &&
                HN_ALLOC_ROWS(ctx, w->negative, lists ? b : 0, width) &&
                HN_ALLOC_ROWS(ctx, w->negative_label, lists ? b : 0, width) &&
                HN_ALLOC(ctx, w->start, b + 1) && HN_ALLOC(ctx, w->positive, b) &&
                HN_ALLOC(ctx, w->id, b) && HN_ALLOC(ctx, w->times, b) &&
                HN_ALLOC(ctx, w->label, b) && HN_ALLOC(ctx, w->labelled, b) &&
                HN_ALLOC(ctx, w->same_label, b) && HN_ZALLOC(ctx, w->position, env->items->n) &&
                (w->sums = hn_exp_sums_open(ctx, b, width, 2 * settings + masked, masked));
    return good ? HN_OK : ctx->code;
}

// The distinct ids of a batch, in order of first draw.
static struct hn_pairs distinct(const struct hn_metric_env *env, const struct hn_workspace *w,
                                int32_t size, const int32_t *ids) {
    const int32_t *labels = env->items->labels;
    int32_t n = 0;
    for (int32_t k = 0; k < size; k++) {
        int32_t *position = &w->position[ids[k]];
        if (*position == 0) {
            w->id[n] = ids[k];
            w->times[n] = 0;
            w->label[n] = labels ? labels[ids[k]] : -1;
            *position = ++n;
        }
        w->times[*position - 1]++;
    }
    for (int32_t a = 0; a < n; a++)
        w->position[w->id[a]] = 0;
    return (struct hn_pairs){.drawn = size,
                             .batch_size = env->batch_size,
                             .n = n,
                             .id = w->id,
                             .times = w->times,
                             .label = w->label,
                             .directed = env->items->tuples != NULL};
}

// The pairs of a batch with negatives per anchor, each negative of an anchor once.
static struct hn_pairs listed(const struct hn_metric_env *env, const struct hn_workspace *w,
                              int32_t size, const int32_t *ids,
                              const struct hn_measure_lists *lists) {
    const int32_t *labels = env->items->labels;
    int64_t at = 0;
    for (int32_t a = 0; a < size; a++) {
        const int32_t *id = lists->negative + a * env->capacity;
        w->id[a] = ids[a];
        w->times[a] = 1;
        w->label[a] = labels ? labels[ids[a]] : -1;
        w->start[a] = at;
        for (int32_t k = 0; k < lists->negatives[a]; k++) {
            if (w->position[id[k]])
                continue;
            w->position[id[k]] = 1;
            w->negative_label[at] = labels ? labels[id[k]] : -1;
            w->negative[at++] = id[k];
        }
        for (int64_t k = w->start[a]; k < at; k++)
            w->position[w->negative[k]] = 0;
    }
    w->start[size] = at;
    return (struct hn_pairs){.drawn = size,
                             .batch_size = env->batch_size,
                             .n = size,
                             .id = w->id,
                             .times = w->times,
                             .label = w->label,
                             .directed = env->items->tuples != NULL,
                             .start = w->start,
                             .negative = w->negative};
}

struct hn_pairs hn_workspace_pairs(const struct hn_metric_env *env, const struct hn_workspace *w,
                                   int32_t size, const int32_t *ids,
                                   const struct hn_measure_lists *lists) {
    return lists ? listed(env, w, size, ids, lists) : distinct(env, w, size, ids);
}

static void multiply(const struct hn_items *items, struct hn_workspace *w, struct hn_pairs *p) {
    int64_t n = p->n;
    if (!items->tuples) {
        hn_packed_gather(&items->x, p->id, n, &w->x);
        hn_packed_multiply_own(&w->x, true, w->cosine);
    }
    p->cosine = items->tuples ? w->score : w->cosine;
    if (!hn_has_positive(items))
        return;
    hn_packed_gather(&items->x1, p->id, n, &w->x1);
    hn_packed_gather(&items->x2, p->id, n, &w->x2);
    hn_packed_multiply_all(&w->x1, &w->x2, w->score);
    for (int64_t a = 0; a < n; a++)
        w->score[a * n + a] =
            (float)hn_dot_exact(hn_row(&w->x1.rows, a), hn_row(&w->x2.rows, a), items->d);
    p->score = w->score;
    if (w->score_t) {
        hn_transpose(w->score, n, n, n, w->score_t, n); // x2_a . x1_b is entry (b, a) of x1 x2^T
        p->score_t = w->score_t;
    }
    if (w->same[0])
        hn_packed_multiply_own(&w->x1, w->score_t, w->same[0]);
    if (w->same[1])
        hn_packed_multiply_own(&w->x2, w->score_t, w->same[1]);
    p->same1 = w->same[0];
    p->same2 = w->same[1];
    if (!w->guide)
        return;
    hn_packed_gather(&items->teacher, p->id, n, &w->teacher);
    hn_packed_multiply_own(&w->teacher, true, w->guide);
    p->guide = w->guide;
}

// Lists of an anchor share few rows with each other: products one by one.
static void multiply_lists(const struct hn_items *items, struct hn_workspace *w,
                           struct hn_pairs *p) {
    const struct hn_matrix *y = hn_negative_rows(items);
    bool views = hn_has_positive(items);
    int64_t d = items->d;
    for (int32_t a = 0; a < p->n; a++)
        for (int64_t k = p->start[a]; k < p->start[a + 1]; k++) {
            int32_t i = p->id[a], j = p->negative[k];
            w->cosine[k] = hn_dot(hn_row(&items->x, i), hn_row(y, j), d);
            if (!views)
                continue;
            w->score[k] = hn_dot(hn_row(&items->x1, i), hn_row(&items->x2, j), d);
            w->score_t[k] = hn_dot(hn_row(&items->x2, i), hn_row(&items->x1, j), d);
            if (w->same[0])
                w->same[0][k] = hn_dot(hn_row(&items->x1, i), hn_row(&items->x1, j), d);
            if (w->same[1])
                w->same[1][k] = hn_dot(hn_row(&items->x2, i), hn_row(&items->x2, j), d);
            if (w->guide)
                w->guide[k] = hn_dot(hn_row(&items->teacher, i), hn_row(&items->teacher, j),
                                     items->teacher.cols);
        }
    p->cosine = w->cosine;
    if (!views)
        return;
    for (int32_t a = 0; a < p->n; a++)
        w->positive[a] =
            (float)hn_dot_exact(hn_row(&items->x1, p->id[a]), hn_row(&items->x2, p->id[a]), d);
    p->score = w->score;
    p->score_t = w->score_t;
    p->positive = w->positive;
    p->same1 = w->same[0];
    p->same2 = w->same[1];
    p->guide = w->guide;
}

HN_CLONES
static int32_t count_kind(const uint8_t *kind, int64_t n, uint8_t wanted) {
    int32_t count = 0;
    for (int64_t j = 0; j < n; j++)
        count += kind[j] == wanted;
    return count;
}

// The kinds of all pairs, once for all metrics.
static void relate(const struct hn_items *items, const struct hn_workspace *w, struct hn_pairs *p) {
    for (int32_t a = 0; a < p->n; a++) {
        int64_t at = p->start ? p->start[a] : (int64_t)a * p->n;
        int64_t n = p->start ? p->start[a + 1] - at : p->n;
        if (items->tuples)
            hn_tuples_kinds(items->tuples, p->id[a], p->start ? p->negative + at : p->id, n,
                            w->kind + at);
        else
            hn_pair_kinds(items->label_sets, p->label[a],
                          p->start ? w->negative_label + at : p->label, n, w->kind + at);
        const uint8_t *kind = w->kind + at;
        int64_t negatives = p->start ? n : n - 1; // all but the anchor
        w->labelled[a] = (int32_t)n - count_kind(kind, n, HN_PAIR_UNLABELLED);
        w->same_label[a] = count_kind(kind, n, HN_PAIR_FALSE_NEGATIVE);
        if (!p->start) {
            w->labelled[a] -= kind[a] != HN_PAIR_UNLABELLED;
            w->same_label[a] -= kind[a] == HN_PAIR_FALSE_NEGATIVE;
        }
        p->unlabelled |= w->labelled[a] < negatives;
    }
    p->kind = w->kind;
    p->labelled = w->labelled;
    p->same = w->same_label;
}

void hn_workspace_fill(const struct hn_items *items, struct hn_workspace *w, struct hn_pairs *p) {
    (p->start ? multiply_lists : multiply)(items, w, p);
    relate(items, w, p);
    hn_exp_sums_begin(w->sums);
    p->sums = w->sums;
}
