#include "training/tasks/pairs_rank.h"
#include "core/clones.h"
#include "retrieval/evaluate.h"
#include "retrieval/ranking.h"

#include <omp.h>
#include <string.h>

enum { DEPTH = 1000, ROWS = 64 };
enum { MRR, MRR_OWN, MRR_10, RECALL_100 };

// Sums over queries.
struct sums {
    const struct hn_pairs_ranked *r;
    double value[HN_PAIRS_COLUMNS];
    int64_t known; // queries with complete relevance
    double *gain;  // [documents] scratch
};

static bool evaluate(struct sums *s, const struct hn_qrels *q, int64_t i, const int32_t *id,
                     int64_t n, int64_t depth, double value[HN_RETRIEVAL_METRICS]) {
    return hn_evaluate_row(q, s->r->query[i], id, n, depth, HN_CONVENTION_ST, s->gain, value);
}

// Of query number i, whose ranking is id[n]: among the documents of the queries, or all.
static void add_ranking(struct sums *s, int64_t i, const int32_t *id, int64_t n, bool own) {
    static const struct {
        int column;
        int64_t depth;
        enum hn_retrieval_metric metric;
    } all[] = {{MRR, DEPTH, HN_MRR}, {MRR_10, 10, HN_MRR}, {RECALL_100, 100, HN_RECALL}};
    double v[HN_RETRIEVAL_METRICS];
    if (own && evaluate(s, s->r->test, i, id, n, DEPTH, v))
        s->value[MRR_OWN] += v[HN_MRR];
    for (int k = 0; k < 3 && !own; k++) {
        if (evaluate(s, s->r->test, i, id, n, all[k].depth, v))
            s->value[all[k].column] += v[all[k].metric];
        if (s->r->truth->start && evaluate(s, s->r->truth, i, id, n, all[k].depth, v)) {
            s->value[HN_PAIRS_KNOWN + k] += v[all[k].metric];
            s->known += k == 0;
        }
    }
}

static void put_means(const struct sums *s, double *value) {
    for (int c = 0; c < HN_PAIRS_COLUMNS; c++)
        value[c] = s->value[c] / (double)(c < HN_PAIRS_KNOWN ? s->r->queries : s->known);
}

static enum hn_code add_dense(struct hn_context *ctx, struct sums *s, const struct hn_matrix *q,
                              const struct hn_matrix *p, bool own) {
    int64_t part = hn_ranking_rows(q->rows, p, DEPTH);
    for (int64_t from = 0; from < q->rows; from += part) {
        struct hn_ranking r;
        HN_SCOPE(ctx);
        const struct hn_matrix some = {hn_row(q, from), hn_min(part, q->rows - from), q->cols,
                                       q->stride};
        if (hn_check_stop(ctx) || hn_ranking_run(ctx, &some, p, DEPTH, &r))
            return ctx->code;
        for (int64_t k = 0; own && k < r.rows * r.kept; k++)
            r.id[k] = s->r->own_document[r.id[k]];
        for (int64_t i = 0; i < r.rows; i++)
            add_ranking(s, from + i, r.id + i * r.kept, r.kept, own);
    }
    return HN_OK;
}

enum hn_code hn_pairs_measure(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                              const float *z, int64_t d, double *value) {
    struct sums s = {.r = r};
    const struct hn_matrix q = {z, r->queries, d, d}, p = {z + r->queries * d, r->documents, d, d};
    HN_SCOPE(ctx);
    float *own = hn_alloc(ctx, r->own, (size_t)d * sizeof *own);
    s.gain = hn_alloc(ctx, r->documents, sizeof *s.gain);
    if (!own || !s.gain)
        return ctx->code;
    hn_gather_rows(&p, r->own_document, r->own, own);
    const struct hn_matrix of_own = {own, r->own, d, d};
    if (add_dense(ctx, &s, &q, &p, false) || add_dense(ctx, &s, &q, &of_own, true))
        return ctx->code;
    put_means(&s, value);
    return HN_OK;
}

// Queries and documents as sparse unit rows, the documents transposed.
struct bags {
    const struct hn_sparse *q, *p_t;
    int32_t *own; // [documents] number among those of the queries, -1: not one of them
};

static void multiply(const struct bags *b, int64_t row, double *score) {
    const struct hn_sparse *q = b->q, *p_t = b->p_t;
    memset(score, 0, (size_t)p_t->cols * sizeof *score);
    for (int64_t k = q->start[row]; k < q->start[row + 1]; k++) {
        int32_t c = q->index[k];
        for (int64_t e = p_t->start[c]; e < p_t->start[c + 1]; e++)
            score[p_t->index[e]] += (double)q->value[k] * (double)p_t->value[e];
    }
}

// The position of score i: equal ones by the lower number.
HN_CLONES
static int64_t position_of(const double *score, int64_t n, int64_t i) {
    int64_t before = 0;
    for (int64_t k = 0; k < i; k++)
        before += score[k] >= score[i];
    for (int64_t k = i + 1; k < n; k++)
        before += score[k] > score[i];
    return before;
}

// Puts the judged documents of a query to their positions in its ranking id[DEPTH], -1 for others.
// number: of the documents that are ranked; NULL: all.
static void rank_judged(const struct hn_qrels *qrels, int64_t query, const double *score, int64_t n,
                        const int32_t *number, int32_t *id) {
    for (int64_t e = qrels->start[query]; e < qrels->start[query + 1]; e++) {
        int32_t document = qrels->passage[e], i = number ? number[document] : document;
        int64_t position = i < 0 ? DEPTH : position_of(score, n, i);
        if (position < DEPTH)
            id[position] = document;
    }
}

// Cosines with all documents, then with those of the queries, are in score[documents + own].
static void rank_sparse(const struct hn_pairs_ranked *r, int64_t i, const struct bags *b,
                        double *score, int32_t *id) {
    double *own = score + r->documents;
    multiply(b, i, score);
    for (int64_t k = 0; k < r->own; k++)
        own[k] = score[r->own_document[k]];
    memset(id, -1, 2 * DEPTH * sizeof *id);
    rank_judged(r->test, r->query[i], score, r->documents, NULL, id);
    if (r->truth->start)
        rank_judged(r->truth, r->query[i], score, r->documents, NULL, id);
    rank_judged(r->test, r->query[i], own, r->own, b->own, id + DEPTH);
}

static enum hn_code open_bags(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                              struct bags *b) {
    b->own = hn_alloc(ctx, r->documents, sizeof *b->own);
    if (!b->own)
        return ctx->code;
    memset(b->own, -1, (size_t)r->documents * sizeof *b->own);
    for (int32_t k = 0; k < r->own; k++)
        b->own[r->own_document[k]] = k;
    return HN_OK;
}

enum hn_code hn_pairs_measure_bags(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                                   const struct hn_sparse *q, const struct hn_sparse *p_t,
                                   double *value) {
    struct sums s = {.r = r};
    struct bags bags = {.q = q, .p_t = p_t};
    HN_SCOPE(ctx);
    int64_t scores = r->documents + r->own;
    double *score = hn_alloc(ctx, ctx->threads * scores, sizeof *score);
    int32_t *id = hn_alloc(ctx, ROWS * 2 * DEPTH, sizeof *id);
    s.gain = hn_alloc(ctx, r->documents, sizeof *s.gain);
    if (!score || !id || !s.gain || open_bags(ctx, r, &bags))
        return ctx->code;
    for (int64_t from = 0; from < r->queries && !hn_check_stop(ctx); from += ROWS) {
        int64_t rows = hn_min(ROWS, r->queries - from);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t i = 0; i < rows; i++)
            rank_sparse(r, from + i, &bags, score + omp_get_thread_num() * scores,
                        id + i * 2 * DEPTH);
        for (int64_t i = 0; i < 2 * rows; i++)
            add_ranking(&s, from + i / 2, id + i * DEPTH, DEPTH, i % 2);
    }
    put_means(&s, value);
    return hn_check_stop(ctx);
}
