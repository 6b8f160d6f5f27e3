// SPDX-License-Identifier: GPL-3.0-or-later
// Spearman's correlation of cosines of sentence pairs with their scores.
#include "training/text/scores.h"

#include "core/matrix.h"
#include "core/rank_tests.h"

// Rows whose cosines are taken, dense or sparse.
struct rows {
    const float *z;
    int64_t d;
    const struct hn_sparse *x;
};

static double sparse_dot(const struct hn_sparse *x, int32_t a, int32_t b) {
    int64_t i = x->start[a], j = x->start[b];
    double sum = 0;
    while (i < x->start[a + 1] && j < x->start[b + 1]) {
        int32_t left = x->index[i], right = x->index[j];
        if (left == right)
            sum += (double)x->value[i] * (double)x->value[j];
        i += left <= right;
        j += right <= left;
    }
    return sum;
}

static double cosine(const struct rows *r, const int32_t sentence[2]) {
    if (r->x)
        return sparse_dot(r->x, sentence[0], sentence[1]);
    return hn_dot_exact(r->z + sentence[0] * r->d, r->z + sentence[1] * r->d, r->d);
}

static enum hn_code score_sets(struct hn_context *ctx, const struct hn_sts *sts, int n_sets,
                               const struct rows *rows, double *rho) {
    int64_t max = 0;
    for (int s = 0; s < n_sets; s++)
        max = hn_max(max, sts->set[s].n);
    HN_SCOPE(ctx);
    double *given = hn_alloc(ctx, max, sizeof *given), *own = hn_alloc(ctx, max, sizeof *own);
    if (!given || !own)
        return ctx->code;
    for (int s = 0; s < n_sets; s++) {
        const struct hn_sts_pair *pair = sts->set[s].pair;
        for (int64_t i = 0; i < sts->set[s].n; i++) {
            given[i] = pair[i].score;
            own[i] = cosine(rows, pair[i].sentence);
        }
        if (hn_spearman(ctx, given, own, sts->set[s].n, &rho[s]))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_text_scores(struct hn_context *ctx, const struct hn_sts *sts, int n_sets,
                            const float *z, int64_t d, double *rho) {
    return score_sets(ctx, sts, n_sets, &(struct rows){.z = z, .d = d}, rho);
}

enum hn_code hn_text_scores_sparse(struct hn_context *ctx, const struct hn_sts *sts, int n_sets,
                                   const struct hn_sparse *x, double *rho) {
    return score_sets(ctx, sts, n_sets, &(struct rows){.x = x}, rho);
}
