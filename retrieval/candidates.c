// Lists of candidates in one, and their order by the rows of the queries and passages.
#include "retrieval/candidates.h"

#include <stdlib.h>

enum hn_code hn_candidates_unite(struct hn_context *ctx, const struct hn_pair_scores *list,
                                 int64_t n, int64_t queries, const int32_t *merged,
                                 struct hn_qrels *out) {
    int64_t count = 0, k = 0;
    for (int64_t s = 0; s < n; s++)
        count += list[s].start[queries];
    struct hn_judgement *pair = hn_alloc(ctx, count, sizeof *pair);
    if (!pair)
        return ctx->code;
    for (int64_t s = 0; s < n; s++)
        for (int64_t q = 0; q < queries; q++)
            for (int64_t e = list[s].start[q]; e < list[s].start[q + 1]; e++) {
                int32_t p = list[s].passage[e];
                pair[k++] = (struct hn_judgement){(int32_t)q, merged ? merged[p] : p, 0};
            }
    enum hn_code code = hn_qrels_build(ctx, pair, count, queries, out);
    for (int64_t s = 0, at = 0; s < n && !code; s++)
        for (int64_t e = 0; e < list[s].start[queries]; e++, at++)
            out->grade[hn_qrels_find(out, pair[at].query, pair[at].passage)] |= 1 << s;
    hn_free(ctx, pair);
    return code;
}

struct scored {
    double score;
    int32_t id;
};

static int by_score(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// passage[all] of a query into s[all], the best first.
static void rank_row(const float *query, const struct hn_matrix *p, const int32_t *passage,
                     int64_t all, struct scored *s) {
    for (int64_t i = 0; i < all; i++)
        s[i] = (struct scored){hn_score(query, hn_row(p, passage[i]), p->cols), passage[i]};
    qsort(s, (size_t)all, sizeof *s, by_score);
}

enum hn_code hn_candidates_rank(struct hn_context *ctx, const struct hn_qrels *c,
                                const struct hn_matrix *q, const struct hn_matrix *p, int64_t from,
                                int64_t count, int64_t depth, struct hn_ranking *out, int32_t **n) {
    const int64_t *start = c->start + from;
    int64_t longest = 1;
    for (int64_t i = 0; i < count; i++)
        longest = hn_max(longest, start[i + 1] - start[i]);
    *out = (struct hn_ranking){.rows = count, .kept = hn_min(depth, longest)};
    if (!HN_ALLOC_ROWS(ctx, out->id, count, out->kept) || !HN_ALLOC(ctx, *n, count))
        return ctx->code;
    HN_SCOPE(ctx);
    struct scored *s = hn_alloc(ctx, start[count] - start[0], sizeof *s);
    if (!s)
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < count; i++) {
        int64_t all = start[i + 1] - start[i], kept = hn_min(out->kept, all);
        struct scored *own = s + (start[i] - start[0]);
        rank_row(hn_row(q, from + i), p, c->passage + start[i], all, own);
        for (int64_t k = 0; k < kept; k++)
            out->id[i * out->kept + k] = own[k].id;
        (*n)[i] = (int32_t)kept;
    }
    return HN_OK;
}
