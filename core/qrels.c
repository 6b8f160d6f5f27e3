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
