// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of judged documents among all, with ties, and the measures that follow.
#include "training/tasks/pairs_rank.h"
#include "core/clones.h"
#include "retrieval/evaluate.h"
#include "retrieval/ranking.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { DEPTH = 1000, ROWS = 64 };
enum { MRR, MRR_OWN, MRR_10, RECALL_100, TRUE_MRR, TRUE_MRR_10, TRUE_RECALL_100 };

// Scratch for the judged documents of a query.
struct scratch {
    struct hn_position *position;
    double *gain;
};

// Values of queries, and what finds them.
struct values {
    const struct hn_pairs_ranked *r;
    double *value;           // [queries x HN_PAIRS_COLUMNS] NaN: it has none
    int32_t *own;            // [documents] number among those of the queries, -1: not one of them
    struct scratch *scratch; // [threads]
    int64_t depth;           // of rankings: DEPTH and what is left out of them
};

static int64_t count_judged(const struct hn_qrels *q) {
    int64_t max = 0;
    for (int64_t i = 0; q->start && i < q->n; i++)
        max = hn_max(max, q->start[i + 1] - q->start[i]);
    return max;
}

static enum hn_code open_values(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                                struct values *v) {
    int64_t judged = hn_max(count_judged(r->test), count_judged(r->truth));
    *v = (struct values){.r = r, .depth = DEPTH + count_judged(r->self)};
    if (!HN_ALLOC(ctx, v->value, r->queries * HN_PAIRS_COLUMNS) ||
        !HN_ALLOC(ctx, v->own, r->documents) || !HN_ALLOC(ctx, v->scratch, ctx->threads))
        return ctx->code;
    for (int t = 0; t < ctx->threads; t++)
        if (!HN_ALLOC(ctx, v->scratch[t].position, judged) ||
            !HN_ALLOC(ctx, v->scratch[t].gain, 2 * judged))
            return ctx->code;
    for (int64_t k = 0; k < r->queries * HN_PAIRS_COLUMNS; k++)
        v->value[k] = NAN;
    memset(v->own, -1, (size_t)r->documents * sizeof *v->own);
    for (int32_t k = 0; k < r->own; k++)
        v->own[r->own_document[k]] = k;
    return HN_OK;
}

// The ranking of a query: scores of all documents, or the best of some rows in order.
struct ranking {
    int64_t n;             // documents that are ranked
    const int32_t *number; // [documents] of a document among them, -1: it is not; NULL: the same
    const double *score;   // [n]; NULL: by rows
    const float *q;
    const struct hn_matrix *p; // [n]
    const int32_t *id;         // [kept]
    int64_t kept;
    int threads; // that count
};

HN_CLONES
static void count_scores(const double *score, int64_t n, double s, int64_t *above, int64_t *equal) {
    int64_t more = 0, same = 0;
    for (int64_t k = 0; k < n; k++) {
        more += score[k] > s;
        same += score[k] == s;
    }
    *above = more;
    *equal = same;
}

static double score_of(const struct ranking *r, int64_t row) {
    return hn_score(r->q, hn_row(r->p, row), r->p->cols);
}

static void count_rows(const struct ranking *r, double s, int64_t *above, int64_t *equal) {
    int64_t more = 0, same = 0;
#pragma omp parallel for num_threads(r->threads) reduction(+ : more, same)
    for (int64_t k = 0; k < r->n; k++) {
        double other = score_of(r, k);
        more += other > s;
        same += other == s;
    }
    *above = more;
    *equal = same;
}

// Number of the best that score higher than s, or (equal) at least as high.
static int64_t count_best(const struct ranking *r, double s, bool equal) {
    int64_t from = 0, to = r->kept;
    while (from < to) {
        int64_t middle = (from + to) / 2;
        double other = score_of(r, r->id[middle]);
        if (other > s || (equal && other >= s))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// The position of a document; equal = 0: it is beyond the best.
static void find_position(const struct ranking *r, int32_t document, struct hn_position *out) {
    int64_t i = r->number ? r->number[document] : document;
    out->above = out->equal = 0;
    if (i < 0)
        return;
    if (r->score) {
        count_scores(r->score, r->n, r->score[i], &out->above, &out->equal);
        return;
    }
    double s = score_of(r, i), last = score_of(r, r->id[r->kept - 1]);
    if (r->kept == r->n || s > last) {
        out->above = count_best(r, s, false);
        out->equal = count_best(r, s, true) - out->above;
    } else if (s >= last)
        count_rows(r, s, &out->above, &out->equal);
}

static double score_of_document(const struct ranking *r, int32_t document) {
    int64_t i = r->number ? r->number[document] : document;
    return i < 0 ? NAN : r->score ? r->score[i] : score_of(r, i);
}

// Takes the query itself out of what is before a document of score s, or as high. own: of the
// documents of the queries alone.
static void leave_out_self(const struct values *v, const struct hn_qrels *q, int64_t query,
                           double s, bool own, const struct ranking *r,
                           struct hn_position *position) {
    const struct hn_qrels *self = v->r->self;
    for (int64_t e = self->start[query]; e < self->start[query + 1]; e++) {
        double other = score_of_document(r, self->passage[e]);
        if (hn_qrels_relevant(q, query, self->passage[e]) || (own && v->own[self->passage[e]] < 0))
            continue;
        position->above -= other > s;
        position->equal -= other == s;
    }
}

static int64_t find_positions(const struct hn_qrels *q, int64_t query, const struct ranking *r,
                              struct hn_position *position) {
    int64_t from = q->start[query], n = q->start[query + 1] - from;
    for (int64_t k = 0; k < n; k++) {
        position[k].grade = q->grade[from + k];
        position[k].relevant = hn_qrels_relevant_at(q, from + k);
        find_position(r, q->passage[from + k], &position[k]);
    }
    return n;
}

static bool is_self(const struct hn_qrels *self, int64_t query, int32_t document) {
    return self->start && hn_qrels_find(self, query, document) >= 0;
}

// own: among the documents of the queries alone.
static void leave_out_selves(const struct values *v, const struct hn_qrels *q, int64_t query,
                             bool own, const struct ranking *r, struct hn_position *position) {
    int64_t from = q->start[query], n = q->start[query + 1] - from;
    for (int64_t k = 0; v->r->self->start && k < n; k++) {
        int32_t document = q->passage[from + k];
        if (!position[k].relevant && is_self(v->r->self, query, document))
            position[k].equal = 0;
        if (position[k].equal > 0)
            leave_out_self(v, q, query, score_of_document(r, document), own, r, &position[k]);
    }
}

static double evaluate(const struct scratch *s, int64_t n, int64_t depth,
                       enum hn_retrieval_metric metric) {
    double v[HN_RETRIEVAL_METRICS];
    return hn_evaluate_positions(s->position, n, depth, HN_CONVENTION_ST, s->gain, v) ? v[metric]
                                                                                      : NAN;
}

// Among all documents.
static void set_whole(const struct values *v, const struct scratch *s, int64_t i,
                      const struct ranking *r) {
    static const int column[2][3] = {{MRR, MRR_10, RECALL_100},
                                     {TRUE_MRR, TRUE_MRR_10, TRUE_RECALL_100}};
    const struct hn_qrels *by[] = {v->r->test, v->r->truth};
    double *value = v->value + i * HN_PAIRS_COLUMNS;
    for (int k = 0; k < 2; k++) {
        if (!by[k]->start)
            continue;
        int64_t n = find_positions(by[k], v->r->query[i], r, s->position);
        leave_out_selves(v, by[k], v->r->query[i], false, r, s->position);
        value[column[k][0]] = evaluate(s, n, DEPTH, HN_MRR);
        value[column[k][1]] = evaluate(s, n, 10, HN_MRR);
        value[column[k][2]] = evaluate(s, n, 100, HN_RECALL);
    }
}

// Among the documents of the queries.
static void set_own(const struct values *v, const struct scratch *s, int64_t i,
                    const struct ranking *r) {
    int64_t n = find_positions(v->r->test, v->r->query[i], r, s->position);
    leave_out_selves(v, v->r->test, v->r->query[i], true, r, s->position);
    v->value[i * HN_PAIRS_COLUMNS + MRR_OWN] = evaluate(s, n, DEPTH, HN_MRR);
}

static int64_t count_own(const struct values *v, const int32_t *id, int64_t n) {
    int64_t own = 0;
    for (int64_t k = 0; k < n; k++)
        own += v->own[id[k]] >= 0;
    return own;
}

// The same by a ranking of all documents, if the best of the relevant ones is among its best.
static void set_own_of_whole(const struct values *v, const struct scratch *s, int64_t i,
                             const struct ranking *r) {
    const struct hn_qrels *q = v->r->test;
    int64_t n = find_positions(q, v->r->query[i], r, s->position);
    const int32_t *document = q->passage + q->start[v->r->query[i]];
    bool found = false;
    for (int64_t k = 0; k < n; k++) {
        struct hn_position *position = &s->position[k];
        bool whole = position->above + position->equal <= r->kept && v->own[document[k]] >= 0;
        position->equal = whole ? count_own(v, r->id + position->above, position->equal) : 0;
        position->above = count_own(v, r->id, hn_min(position->above, r->kept));
        found = found || (position->equal > 0 && position->relevant);
    }
    leave_out_selves(v, q, v->r->query[i], true, r, s->position);
    if (found)
        v->value[i * HN_PAIRS_COLUMNS + MRR_OWN] = evaluate(s, n, DEPTH, HN_MRR);
}

// Sums in the order of the queries.
static void put_means(const struct values *v, double *value) {
    for (int c = 0; c < HN_PAIRS_COLUMNS; c++) {
        double sum = 0;
        int64_t n = 0;
        for (int64_t i = 0; i < v->r->queries; i++) {
            double x = v->value[i * HN_PAIRS_COLUMNS + c];
            sum += isnan(x) ? 0 : x;
            n += !isnan(x);
        }
        value[c] = sum / (double)n;
    }
}

// Ranks queries number left[q->rows] in documents p of their own, or (NULL) all in all.
static enum hn_code rank_dense(struct hn_context *ctx, const struct values *v,
                               const struct hn_matrix *q, const struct hn_matrix *p,
                               const int32_t *left) {
    int64_t part = hn_ranking_rows(q->rows, p, v->depth);
    for (int64_t from = 0; from < q->rows; from += part) {
        struct hn_ranking best;
        HN_SCOPE(ctx);
        const struct hn_matrix some = {hn_row(q, from), hn_min(part, q->rows - from), q->cols,
                                       q->stride};
        if (hn_check_stop(ctx) || hn_ranking_run(ctx, &some, p, v->depth, &best))
            return ctx->code;
        for (int64_t i = 0; i < best.rows; i++) {
            const struct ranking r = {.n = p->rows,
                                      .number = left ? v->own : NULL,
                                      .q = hn_row(&some, i),
                                      .p = p,
                                      .id = best.id + i * best.kept,
                                      .kept = best.kept,
                                      .threads = ctx->threads};
            if (left) {
                set_own(v, v->scratch, left[from + i], &r);
                continue;
            }
            set_whole(v, v->scratch, from + i, &r);
            set_own_of_whole(v, v->scratch, from + i, &r);
        }
    }
    return HN_OK;
}

// Queries whose own documents are too far down the ranking of all are ranked among these again.
static enum hn_code rank_own(struct hn_context *ctx, const struct values *v,
                             const struct hn_matrix *q, const struct hn_matrix *p) {
    int64_t n = 0;
    HN_SCOPE(ctx);
    int32_t *left = hn_alloc(ctx, q->rows, sizeof *left);
    for (int32_t i = 0; left && i < q->rows; i++)
        if (isnan(v->value[(int64_t)i * HN_PAIRS_COLUMNS + MRR_OWN]))
            left[n++] = i;
    float *again = hn_alloc(ctx, n, (size_t)q->cols * sizeof *again);
    float *own = hn_alloc(ctx, v->r->own, (size_t)p->cols * sizeof *own);
    if (!left || !again || !own)
        return ctx->code;
    hn_gather_rows(q, left, n, again);
    hn_gather_rows(p, v->r->own_document, v->r->own, own);
    const struct hn_matrix some = {again, n, q->cols, q->cols};
    const struct hn_matrix of_own = {own, v->r->own, p->cols, p->cols};
    return rank_dense(ctx, v, &some, &of_own, left);
}

enum hn_code hn_pairs_measure(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                              const float *q, const float *p, int64_t d, double *value) {
    struct values v;
    const struct hn_matrix asked = {q, r->queries, d, d}, among = {p, r->documents, d, d};
    HN_SCOPE(ctx);
    if (open_values(ctx, r, &v) || rank_dense(ctx, &v, &asked, &among, NULL) ||
        rank_own(ctx, &v, &asked, &among))
        return ctx->code;
    put_means(&v, value);
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

// Scores of all documents, then of those of the queries, are in score[documents + own].
static void rank_sparse(const struct values *v, const struct scratch *s, int64_t i,
                        const struct bags *b, double *score) {
    const struct hn_pairs_ranked *r = v->r;
    double *own = score + r->documents;
    const struct ranking all = {.n = r->documents, .score = score},
                         of_own = {.n = r->own, .score = own, .number = v->own};
    multiply(b, i, score);
    for (int64_t k = 0; k < r->own; k++)
        own[k] = score[r->own_document[k]];
    set_whole(v, s, i, &all);
    set_own(v, s, i, &of_own);
}

enum hn_code hn_pairs_measure_bags(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                                   const struct hn_sparse *q, const struct hn_sparse *p_t,
                                   double *value) {
    struct values v;
    const struct bags bags = {q, p_t};
    HN_SCOPE(ctx);
    int64_t scores = r->documents + r->own;
    double *score = hn_alloc(ctx, ctx->threads * scores, sizeof *score);
    if (!score || open_values(ctx, r, &v))
        return ctx->code;
    for (int64_t from = 0; from < r->queries && !hn_check_stop(ctx); from += ROWS) {
        int64_t rows = hn_min(ROWS, r->queries - from);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t i = 0; i < rows; i++)
            rank_sparse(&v, &v.scratch[omp_get_thread_num()], from + i, &bags,
                        score + omp_get_thread_num() * scores);
    }
    put_means(&v, value);
    return hn_check_stop(ctx);
}
