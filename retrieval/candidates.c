// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of candidates in one, and their order by the rows of the queries and passages.
#include "retrieval/candidates.h"

#include <stdlib.h>

struct scored {
    double score; // that orders them
    int32_t id;
    double cosine;
};

static int by_score(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

const int64_t *hn_sources_quota(const struct hn_sources *s) {
    return s && s->quota[0] > 0 ? s->quota : NULL;
}

// Adds the reciprocal ranks of a list of a query; of several passages that become one the best
// counts. own[all of the list]: scratch.
static void fuse_row(const struct hn_pair_scores *list, int64_t q, const int32_t *merged,
                     struct scored *own, struct hn_sources *out, bool *met) {
    enum { CONSTANT = 60 };
    int64_t from = list->start[q], n = list->start[q + 1] - from;
    for (int64_t i = 0; i < n; i++)
        own[i] = (struct scored){.score = list->score[from + i], .id = list->passage[from + i]};
    qsort(own, (size_t)n, sizeof *own, by_score);
    for (int64_t e = out->pair.start[q]; e < out->pair.start[q + 1]; e++)
        met[e] = false;
    for (int64_t i = 0; i < n; i++) {
        int64_t e = hn_qrels_find(&out->pair, q, merged ? merged[own[i].id] : own[i].id);
        out->fused[e] += met[e] ? 0 : 1 / (double)(CONSTANT + i + 1);
        met[e] = true;
    }
}

static enum hn_code fuse_all(struct hn_context *ctx, const struct hn_pair_scores *list,
                             const int32_t *merged, struct hn_sources *out) {
    int64_t queries = out->pair.n, pairs = out->pair.start[queries], longest = 0;
    if (!(out->fused = hn_zalloc(ctx, pairs, sizeof *out->fused)))
        return ctx->code;
    for (int s = 0; s < out->n; s++)
        for (int64_t q = 0; q < queries; q++)
            longest = hn_max(longest, list[s].start[q + 1] - list[s].start[q]);
    HN_SCOPE(ctx);
    struct scored *own = hn_alloc(ctx, longest, sizeof *own);
    bool *met = hn_alloc(ctx, pairs, sizeof *met);
    if (!own || !met)
        return ctx->code;
    for (int s = 0; s < out->n; s++)
        for (int64_t q = 0; q < queries; q++)
            fuse_row(&list[s], q, merged, own, out, met);
    return HN_OK;
}

static enum hn_code unite(struct hn_context *ctx, const struct hn_pair_scores *list,
                          int64_t queries, const int32_t *merged, struct hn_sources *out) {
    int64_t count = 0, k = 0;
    for (int s = 0; s < out->n; s++)
        count += list[s].start[queries];
    struct hn_judgement *pair = hn_alloc(ctx, count, sizeof *pair);
    if (!pair)
        return ctx->code;
    for (int s = 0; s < out->n; s++)
        for (int64_t q = 0; q < queries; q++)
            for (int64_t e = list[s].start[q]; e < list[s].start[q + 1]; e++) {
                int32_t p = list[s].passage[e];
                pair[k++] = (struct hn_judgement){(int32_t)q, merged ? merged[p] : p, 0};
            }
    enum hn_code code = hn_qrels_build(ctx, pair, count, queries, &out->pair);
    for (int64_t s = 0, at = 0; s < out->n && !code; s++)
        for (int64_t e = 0; e < list[s].start[queries]; e++, at++)
            out->pair.grade[hn_qrels_find(&out->pair, pair[at].query, pair[at].passage)] |= 1 << s;
    hn_free(ctx, pair);
    return code;
}

enum hn_code hn_candidates_unite(struct hn_context *ctx, const struct hn_pair_scores *list, int n,
                                 int64_t queries, const int32_t *merged, bool fuse,
                                 struct hn_sources *out) {
    *out = (struct hn_sources){.n = n};
    return unite(ctx, list, queries, merged, out) || (fuse && fuse_all(ctx, list, merged, out))
               ? ctx->code
               : HN_OK;
}

// The cosines of the pairs of queries from .. from + count.
static enum hn_code score_pairs(struct hn_context *ctx, const struct hn_sources *c,
                                const struct hn_retrieval_data *d, int64_t from, int64_t count,
                                double *score) {
    const int64_t *start = c->pair.start + from;
    HN_SCOPE(ctx);
    struct hn_corpus_pair *pair = hn_alloc(ctx, start[count] - start[0], sizeof *pair);
    if (!pair)
        return ctx->code;
    for (int64_t i = 0; i < count; i++)
        for (int64_t e = start[i]; e < start[i + 1]; e++)
            pair[e - start[0]] =
                (struct hn_corpus_pair){(int32_t)(from + i), c->pair.passage[e], e - start[0]};
    return hn_corpus_scores(ctx, d, &d->rows[HN_QUERIES], pair, start[count] - start[0], score);
}

enum hn_code hn_candidates_rank(struct hn_context *ctx, const struct hn_sources *c,
                                const struct hn_retrieval_data *d, int64_t from, int64_t count,
                                int64_t depth, struct hn_ranking *out, int32_t **n) {
    const int64_t *start = c->pair.start + from;
    int64_t longest = 1;
    for (int64_t i = 0; i < count; i++)
        longest = hn_max(longest, start[i + 1] - start[i]);
    *out = (struct hn_ranking){.rows = count, .kept = hn_min(depth, longest)};
    if (!HN_ALLOC_ROWS(ctx, out->id, count, out->kept) ||
        !HN_ALLOC_ROWS(ctx, out->score, count, out->kept) || !HN_ALLOC(ctx, *n, count))
        return ctx->code;
    HN_SCOPE(ctx);
    double *cosine = hn_alloc(ctx, start[count] - start[0], sizeof *cosine);
    struct scored *s = hn_alloc(ctx, start[count] - start[0], sizeof *s);
    if (!cosine || !s || score_pairs(ctx, c, d, from, count, cosine))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < count; i++) {
        int64_t at = start[i] - start[0], all = start[i + 1] - start[i];
        int64_t kept = hn_min(out->kept, all);
        for (int64_t k = at; k < at + all; k++)
            s[k] = (struct scored){c->fused ? c->fused[start[0] + k] : cosine[k],
                                   c->pair.passage[start[0] + k], cosine[k]};
        qsort(s + at, (size_t)all, sizeof *s, by_score);
        for (int64_t k = 0; k < kept; k++) {
            out->id[i * out->kept + k] = s[at + k].id;
            out->score[i * out->kept + k] = s[at + k].cosine;
        }
        (*n)[i] = (int32_t)kept;
    }
    return HN_OK;
}
