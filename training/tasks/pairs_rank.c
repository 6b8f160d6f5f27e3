#include "training/tasks/pairs_rank.h"
#include "core/clones.h"
#include "retrieval/evaluate.h"

#include <omp.h>
#include <string.h>

enum { DEPTH = 1000, ROWS = 64 };
enum { MRR, MRR_OWN, MRR_10, RECALL_100 };

// Sums over queries.
struct sums {
    const struct hn_pairs_ranked *r;
    double value[HN_PAIRS_COLUMNS];
    int64_t known;  // queries with complete relevance
    double *gain;   // [documents] scratch
    double *of_own; // [queries] MRR among the documents of the queries
    int32_t *own;   // [documents] number among these, -1: not one of them
};

static enum hn_code open_sums(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                              struct sums *s) {
    *s = (struct sums){.r = r};
    if (!HN_ALLOC(ctx, s->gain, r->documents) || !HN_ALLOC(ctx, s->of_own, r->queries) ||
        !HN_ALLOC(ctx, s->own, r->documents))
        return ctx->code;
    memset(s->own, -1, (size_t)r->documents * sizeof *s->own);
    for (int32_t k = 0; k < r->own; k++)
        s->own[r->own_document[k]] = k;
    return HN_OK;
}

static bool evaluate(struct sums *s, const struct hn_qrels *q, int64_t i, const int32_t *id,
                     int64_t n, int64_t depth, double value[HN_RETRIEVAL_METRICS]) {
    return hn_evaluate_row(q, s->r->query[i], id, n, depth, HN_CONVENTION_ST, s->gain, value);
}

// Of query number i, whose ranking of all documents is id[n].
static void add_ranking(struct sums *s, int64_t i, const int32_t *id, int64_t n) {
    static const struct {
        int column;
        int64_t depth;
        enum hn_retrieval_metric metric;
    } all[] = {{MRR, DEPTH, HN_MRR}, {MRR_10, 10, HN_MRR}, {RECALL_100, 100, HN_RECALL}};
    double v[HN_RETRIEVAL_METRICS];
    for (int k = 0; k < 3; k++) {
        if (evaluate(s, s->r->test, i, id, n, all[k].depth, v))
            s->value[all[k].column] += v[all[k].metric];
        if (s->r->truth->start && evaluate(s, s->r->truth, i, id, n, all[k].depth, v)) {
            s->value[HN_PAIRS_KNOWN + k] += v[all[k].metric];
            s->known += k == 0;
        }
    }
}

// Likewise of documents of the queries.
static void set_own(struct sums *s, int64_t i, const int32_t *id, int64_t n) {
    double v[HN_RETRIEVAL_METRICS];
    s->of_own[i] = evaluate(s, s->r->test, i, id, n, DEPTH, v) ? v[HN_MRR] : 0;
}

static void put_means(struct sums *s, double *value) {
    for (int64_t i = 0; i < s->r->queries; i++)
        s->value[MRR_OWN] += s->of_own[i];
    for (int c = 0; c < HN_PAIRS_COLUMNS; c++)
        value[c] = s->value[c] / (double)(c < HN_PAIRS_KNOWN ? s->r->queries : s->known);
}

// Ranks queries number left[q->rows], or all (NULL), in documents p: own, or all.
static enum hn_code rank_dense(struct hn_context *ctx, struct sums *s, const struct hn_matrix *q,
                               const struct hn_matrix *p, const int32_t *left) {
    int64_t part = hn_ranking_rows(q->rows, p, DEPTH);
    for (int64_t from = 0; from < q->rows; from += part) {
        struct hn_ranking r;
        HN_SCOPE(ctx);
        const struct hn_matrix some = {hn_row(q, from), hn_min(part, q->rows - from), q->cols,
                                       q->stride};
        if (hn_check_stop(ctx) || hn_ranking_run(ctx, &some, p, DEPTH, &r))
            return ctx->code;
        for (int64_t i = 0; i < r.rows; i++) {
            int32_t *id = r.id + i * r.kept;
            int64_t own = 0;
            if (!left)
                add_ranking(s, from + i, id, r.kept);
            for (int64_t k = 0; k < r.kept; k++)
                if (left || s->own[id[k]] >= 0)
                    id[own++] = left ? s->r->own_document[id[k]] : id[k];
            set_own(s, left ? left[from + i] : from + i, id, own);
        }
    }
    return HN_OK;
}

// The ranking of all documents has that of the queries' own down to some position: queries that
// find none of theirs so far are ranked again.
static enum hn_code rank_own(struct hn_context *ctx, struct sums *s, const struct hn_matrix *q,
                             const struct hn_matrix *p) {
    int64_t n = 0;
    HN_SCOPE(ctx);
    int32_t *left = hn_alloc(ctx, q->rows, sizeof *left);
    for (int32_t i = 0; left && i < q->rows; i++)
        if (s->of_own[i] <= 0)
            left[n++] = i;
    float *again = hn_alloc(ctx, n, (size_t)q->cols * sizeof *again);
    float *own = hn_alloc(ctx, s->r->own, (size_t)p->cols * sizeof *own);
    if (!left || !again || !own)
        return ctx->code;
    hn_gather_rows(q, left, n, again);
    hn_gather_rows(p, s->r->own_document, s->r->own, own);
    const struct hn_matrix some = {again, n, q->cols, q->cols};
    const struct hn_matrix of_own = {own, s->r->own, p->cols, p->cols};
    return rank_dense(ctx, s, &some, &of_own, left);
}

enum hn_code hn_pairs_measure(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                              const float *z, int64_t d, double *value) {
    struct sums s;
    const struct hn_matrix q = {z, r->queries, d, d}, p = {z + r->queries * d, r->documents, d, d};
    HN_SCOPE(ctx);
    if (open_sums(ctx, r, &s) || rank_dense(ctx, &s, &q, &p, NULL) || rank_own(ctx, &s, &q, &p))
        return ctx->code;
    put_means(&s, value);
    return HN_OK;
}

// Queries and documents as sparse unit rows, the documents transposed.
struct bags {
    const struct hn_sparse *q, *p_t;
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
static void rank_sparse(const struct sums *s, int64_t i, const struct bags *b, double *score,
                        int32_t *id) {
    const struct hn_pairs_ranked *r = s->r;
    double *own = score + r->documents;
    multiply(b, i, score);
    for (int64_t k = 0; k < r->own; k++)
        own[k] = score[r->own_document[k]];
    memset(id, -1, 2 * DEPTH * sizeof *id);
    rank_judged(r->test, r->query[i], score, r->documents, NULL, id);
    if (r->truth->start)
        rank_judged(r->truth, r->query[i], score, r->documents, NULL, id);
    rank_judged(r->test, r->query[i], own, r->own, s->own, id + DEPTH);
}

enum hn_code hn_pairs_measure_bags(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                                   const struct hn_sparse *q, const struct hn_sparse *p_t,
                                   double *value) {
    struct sums s;
    const struct bags bags = {q, p_t};
    HN_SCOPE(ctx);
    int64_t scores = r->documents + r->own;
    double *score = hn_alloc(ctx, ctx->threads * scores, sizeof *score);
    int32_t *id = hn_alloc(ctx, ROWS * 2 * DEPTH, sizeof *id);
    if (!score || !id || open_sums(ctx, r, &s))
        return ctx->code;
    for (int64_t from = 0; from < r->queries && !hn_check_stop(ctx); from += ROWS) {
        int64_t rows = hn_min(ROWS, r->queries - from);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t i = 0; i < rows; i++)
            rank_sparse(&s, from + i, &bags, score + omp_get_thread_num() * scores,
                        id + i * 2 * DEPTH);
        for (int64_t i = 0; i < rows; i++) {
            add_ranking(&s, from + i, id + i * 2 * DEPTH, DEPTH);
            set_own(&s, from + i, id + (2 * i + 1) * DEPTH, DEPTH);
        }
    }
    put_means(&s, value);
    return hn_check_stop(ctx);
}
