// SPDX-License-Identifier: GPL-3.0-or-later
// Judged pairs as sorted rows of queries, searched by bisection.
#include "core/qrels.h"
#include "core/numbers.h"

#include <stdlib.h>

// Pairs in order; of equal ones the later judgement comes last.
static int by_pair(const void *a, const void *b) {
    const struct hn_judgement *x = *(const struct hn_judgement *const *)a;
    const struct hn_judgement *y = *(const struct hn_judgement *const *)b;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->passage != y->passage)
        return x->passage < y->passage ? -1 : 1;
    return (x > y) - (x < y);
}

enum hn_code hn_qrels_build(struct hn_context *ctx, const struct hn_judgement *list, int64_t count,
                            int64_t n, struct hn_qrels *out) {
    int64_t kept = 0;
    *out = (struct hn_qrels){.n = n};
    if (!HN_ZALLOC(ctx, out->start, n + 1) || !HN_ALLOC(ctx, out->passage, count) ||
        !HN_ALLOC(ctx, out->grade, count))
        return ctx->code;
    HN_SCOPE(ctx);
    const struct hn_judgement **sorted = hn_alloc(ctx, count, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < count; i++)
        sorted[i] = &list[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_pair);
    for (int64_t i = 0; i < count; i++) {
        const struct hn_judgement *j = sorted[i], *next = i + 1 < count ? sorted[i + 1] : NULL;
        if (next && next->query == j->query && next->passage == j->passage)
            continue; // a later grade counts
        out->passage[kept] = j->passage;
        out->grade[kept++] = j->grade;
        out->start[j->query + 1] = kept;
    }
    for (int64_t q = 0; q < n; q++)
        out->start[q + 1] = hn_max(out->start[q + 1], out->start[q]);
    return HN_OK;
}

enum hn_code hn_pair_scores_build(struct hn_context *ctx, const struct hn_judgement *list,
                                  int64_t count, int64_t n, const float *score,
                                  struct hn_pair_scores *out) {
    struct hn_qrels q;
    if (hn_qrels_build(ctx, list, count, n, &q))
        return ctx->code;
    int64_t pairs = q.start[n];
    *out = (struct hn_pair_scores){q.start, q.passage, hn_alloc(ctx, pairs, sizeof *out->score)};
    for (int64_t e = 0; out->score && e < pairs; e++)
        out->score[e] = score[q.grade[e]];
    hn_free(ctx, q.grade);
    return out->score ? HN_OK : ctx->code;
}

int64_t hn_qrels_find(const struct hn_qrels *q, int64_t query, int32_t passage) {
    return hn_indices_find(q->passage, q->start[query], q->start[query + 1], passage);
}

bool hn_qrels_any_relevant(const struct hn_qrels *q, int64_t query) {
    for (int64_t e = q->start[query]; e < q->start[query + 1]; e++)
        if (hn_qrels_relevant_at(q, e))
            return true;
    return false;
}

static int by_grade(const void *a, const void *b) {
    const struct hn_judgement *x = a, *y = b;
    return (x->grade > y->grade) - (x->grade < y->grade);
}

// From q with numbers in place of its n queries and its passages; NULL: they stay.
static enum hn_code renumber(struct hn_context *ctx, const struct hn_qrels *q, const int32_t *query,
                             int64_t n, const int32_t *passage, struct hn_qrels *out) {
    int32_t min_grade = q->min_grade;
    int64_t count = q->start[q->n];
    HN_SCOPE(ctx);
    struct hn_judgement *list = hn_alloc(ctx, count, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        for (int64_t e = q->start[i]; e < q->start[i + 1]; e++)
            list[e] = (struct hn_judgement){query ? query[i] : (int32_t)i,
                                            passage ? passage[q->passage[e]] : q->passage[e],
                                            q->grade[e]};
    qsort(list, (size_t)count, sizeof *list, by_grade); // the last of a pair counts: the best
    hn_own(ctx, scope.outer);
    if (hn_qrels_build(ctx, list, count, n, out))
        return ctx->code;
    out->min_grade = min_grade;
    return HN_OK;
}

enum hn_code hn_qrels_merge(struct hn_context *ctx, const struct hn_qrels *q, const int32_t *to,
                            struct hn_qrels *out) {
    return renumber(ctx, q, NULL, q->n, to, out);
}

enum hn_code hn_qrels_share(struct hn_context *ctx, const int32_t *text, int64_t texts,
                            struct hn_qrels *q) {
    struct hn_qrels by_text;
    int64_t total = 0, n = 0;
    HN_SCOPE(ctx);
    if (renumber(ctx, q, text, texts, NULL, &by_text))
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        total += by_text.start[text[i] + 1] - by_text.start[text[i]];
    struct hn_judgement *list = hn_alloc(ctx, total, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < q->n; i++)
        for (int64_t e = by_text.start[text[i]]; e < by_text.start[text[i] + 1]; e++)
            list[n++] = (struct hn_judgement){(int32_t)i, by_text.passage[e], by_text.grade[e]};
    hn_own(ctx, scope.outer);
    if (hn_qrels_build(ctx, list, n, q->n, q))
        return ctx->code;
    q->min_grade = by_text.min_grade;
    return HN_OK;
}

struct hn_qrels_summary hn_qrels_summarize(const struct hn_qrels *q) {
    struct hn_qrels_summary s = {.pairs = q->start[q->n]};
    for (int64_t i = 0; i < q->n; i++) {
        int64_t relevant = 0;
        for (int64_t e = q->start[i]; e < q->start[i + 1]; e++)
            relevant += hn_qrels_relevant_at(q, e);
        s.relevant += relevant;
        s.without += relevant == 0;
        s.max = hn_max(s.max, relevant);
    }
    return s;
}
