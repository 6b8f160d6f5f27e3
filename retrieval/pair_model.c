// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the model of which candidates are relevant to judged pairs.
#include "retrieval/pair_model.h"

#include "retrieval/miner.h"
#include "retrieval/population.h"

#include <gsl/gsl_linalg.h>
#include <math.h>

static const double prior[HN_PAIR_TERMS] = {0, 1, 0}, precision[HN_PAIR_TERMS] = {1e-4, 4, 1};

void hn_rank_shares(const int64_t *rank, int64_t labels, double *share, int64_t n) {
    for (int64_t k = 0; k < n; k++)
        share[k] = 0;
    for (int64_t i = 0; i < labels; i++)
        if (rank[i] <= n)
            share[rank[i] - 1] += 1 / (double)labels;
    // Pool adjacent violators: a block that is below its successor is merged with it.
    for (int64_t begin = 0; begin < n;) {
        double sum = 0, best = -1;
        int64_t end = begin;
        for (int64_t k = begin; k < n; k++) {
            sum += share[k];
            double mean = sum / (double)(k + 1 - begin);
            if (mean >= best) {
                best = mean;
                end = k + 1;
            }
        }
        while (begin < end)
            share[begin++] = best;
    }
}

// The rank of a passage among the candidates of a query; INT64_MAX: below all of them.
static int64_t rank_of(const struct hn_population *p, int64_t row, double score, int32_t passage) {
    const struct hn_pool *pool = p->pool;
    int64_t above = 0, others = 0;
    for (int64_t k = row * pool->width; k < (row + 1) * pool->width; k++) {
        others += p->rank[k] > 0;
        above += p->rank[k] > 0 &&
                 (pool->score[k] > score || (pool->score[k] == score && pool->id[k] < passage));
    }
    return above < others ? above + 1 : INT64_MAX;
}

static double deviation_of(const struct hn_population *p) {
    double sum = 0, square = 0, n = (double)p->pairs;
    for (int64_t k = 0; k < p->pool->count * p->pool->width; k++)
        sum += p->rank[k] > 0 ? p->pool->score[k] : 0;
    for (int64_t k = 0; k < p->pool->count * p->pool->width; k++) {
        double off = p->pool->score[k] - sum / n;
        square += p->rank[k] > 0 ? off * off : 0;
    }
    return square > 0 ? sqrt(square / n) : 1;
}

enum hn_code hn_pair_model_open(struct hn_context *ctx, const struct hn_miner *m,
                                const struct hn_population *population, struct hn_pair_model *out) {
    const struct hn_pool *pool = population->pool;
    const struct hn_qrels *q = &m->data.qrels;
    int64_t labels = 0, width = pool->width;
    double mean = 0;
    *out = (struct hn_pair_model){.population = population, .deviation = deviation_of(population)};
    int64_t *rank =
        hn_alloc(ctx, q->start[pool->from + pool->count] - q->start[pool->from], sizeof *rank);
    out->share = hn_alloc(ctx, width, sizeof(double));
    out->log_share = hn_alloc(ctx, width, sizeof(double));
    if (!rank || !out->share || !out->log_share)
        return ctx->code;
    for (int64_t i = 0; i < pool->count; i++)
        for (int64_t e = q->start[pool->from + i]; e < q->start[pool->from + i + 1]; e++)
            if (hn_qrels_relevant_at(q, e)) {
                double s = hn_miner_score(m, HN_BY_MODEL, pool->from + i, q->passage[e]);
                rank[labels++] = rank_of(population, i, s, q->passage[e]);
            }
    hn_rank_shares(rank, labels, out->share, width);
    hn_free(ctx, rank);
    out->positives = (double)labels / (double)pool->count;
    for (int64_t k = 0; k < width; k++) {
        double min = .2 / (double)(labels + 1) / (double)width;
        out->log_share[k] = log(fmax(out->share[k], min));
        mean += out->log_share[k] / (double)width;
    }
    for (int64_t k = 0; k < width; k++)
        out->log_share[k] -= mean;
    return HN_OK;
}

static void terms_of(const struct hn_pair_model *m, int64_t query, int64_t k,
                     double x[HN_PAIR_TERMS]) {
    const struct hn_pool *pool = m->population->pool;
    double gap = (pool->score[k] - pool->positive[query]) / m->deviation;
    x[0] = 1;
    x[1] = m->log_share[m->population->rank[k] - 1];
    x[2] = isnan(gap) ? 0 : fmax(-4, fmin(4, gap));
}

static double logistic(const double *w, const double *x) {
    double eta = w[0] * x[0] + w[1] * x[1] + w[2] * x[2];
    return 1 / (1 + exp(-fmax(-30, fmin(30, eta))));
}

double hn_pair_model_at(const struct hn_pair_model *m, const double *w, struct hn_pair_at at) {
    double x[HN_PAIR_TERMS];
    terms_of(m, at.query, at.query * m->population->pool->width + at.position, x);
    return logistic(w, x);
}

// A step of Newton's method, at most 2 in any term; returns the largest.
static double step(double *gradient, double *hessian, double *w) {
    gsl_matrix_view h = gsl_matrix_view_array(hessian, HN_PAIR_TERMS, HN_PAIR_TERMS);
    gsl_vector_view g = gsl_vector_view_array(gradient, HN_PAIR_TERMS);
    double largest = 0;
    (void)gsl_linalg_cholesky_decomp1(&h.matrix); // the prior makes it positive definite
    (void)gsl_linalg_cholesky_svx(&h.matrix, &g.vector);
    for (int a = 0; a < HN_PAIR_TERMS; a++)
        largest = fmax(largest, fabs(gradient[a]));
    for (int a = 0; a < HN_PAIR_TERMS; a++)
        w[a] += gradient[a] * fmin(1, 2 / fmax(largest, 1e-300));
    return largest;
}

void hn_pair_model_fit(const struct hn_pair_model *m, const struct hn_judged_pair *verdict,
                       int64_t n, const uint8_t *fold, int without, double *w) {
    double relevant = 0, used = 0, along = 0, x[HN_PAIR_TERMS];
    int64_t width = m->population->pool->width;
    for (int64_t i = 0; i < n; i++)
        if (fold[i] != without && verdict[i].rows > 0) {
            terms_of(m, verdict[i].at.query, verdict[i].at.query * width + verdict[i].at.position,
                     x);
            used++;
            relevant += verdict[i].relevant;
            along += x[1];
        }
    w[0] = log((relevant + .5) / (used - relevant + .5)) - along / used;
    w[1] = 1;
    w[2] = 0;
    double moved = 1;
    for (int round = 0; round < 60 && moved > 1e-7; round++) {
        double g[HN_PAIR_TERMS], h[HN_PAIR_TERMS * HN_PAIR_TERMS] = {0};
        for (int a = 0; a < HN_PAIR_TERMS; a++) {
            g[a] = -precision[a] * (w[a] - prior[a]);
            h[a * HN_PAIR_TERMS + a] = precision[a];
        }
        for (int64_t i = 0; i < n; i++) {
            if (fold[i] == without || verdict[i].rows == 0)
                continue;
            terms_of(m, verdict[i].at.query, verdict[i].at.query * width + verdict[i].at.position,
                     x);
            double p = logistic(w, x);
            for (int a = 0; a < HN_PAIR_TERMS; a++) {
                g[a] += x[a] * (verdict[i].relevant - p);
                for (int b = 0; b < HN_PAIR_TERMS; b++)
                    h[a * HN_PAIR_TERMS + b] += x[a] * x[b] * p * (1 - p);
            }
        }
        moved = step(g, h, w);
    }
}

void hn_pair_model_add(const struct hn_context *ctx, const struct hn_pair_model *m, const double *w,
                       double part, double *to) {
    const struct hn_population *p = m->population;
    int64_t width = p->pool->width;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < p->pool->count; i++)
        for (int64_t k = i * width; k < (i + 1) * width; k++) {
            double x[HN_PAIR_TERMS];
            if (p->rank[k] == 0)
                continue;
            terms_of(m, i, k, x);
            to[k] += part * logistic(w, x);
        }
}

void hn_pair_model_ranks(const struct hn_pair_model *m, double *to) {
    const struct hn_population *p = m->population;
    for (int64_t k = 0; k < p->pool->count * p->pool->width; k++)
        if (p->rank[k] > 0)
            to[k] = fmin(1, m->share[p->rank[k] - 1] * m->positives);
}
