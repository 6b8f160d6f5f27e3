// SPDX-License-Identifier: GPL-3.0-or-later
// The best passages of queries by a sweep, with equal scores in the order of passages.
#include "retrieval/ranking.h"

#include "core/sweep/knn_lists.h"

#include <math.h>

// Limits of a part: multiplications and candidates, at most, and queries, at least.
static const double max_products = 4e12, max_candidates = 1 << 24;
enum { MIN = 1024 };

int64_t hn_ranking_rows(int64_t queries, const struct hn_matrix *p, int64_t depth) {
    double rows = fmin(max_products / ((double)p->rows * (double)p->cols),
                       max_candidates / (double)hn_min(depth, p->rows));
    return rows >= (double)queries ? queries : hn_min(queries, hn_max(MIN, (int64_t)rows));
}

// The sweep orders by products, of which those above 1, by rounding, are one score here: then the
// lower index comes first. It matters only among passages that are the query itself.
static void order_equal(const float *q, const struct hn_matrix *p, int32_t *id, int64_t kept) {
    int64_t equal = 0;
    while (equal < kept && hn_dot_exact(q, hn_row(p, id[equal]), p->cols) >= 1)
        equal++;
    if (equal == kept &&
        kept < p->rows) { // others may be left out: all that reach 1, from the first
        int64_t found = 0;
        for (int64_t j = 0; j < p->rows && found < kept; j++)
            if (hn_dot_exact(q, hn_row(p, j), p->cols) >= 1)
                id[found++] = (int32_t)j;
        return;
    }
    for (int64_t i = 1; i < equal; i++) {
        int32_t moved = id[i];
        int64_t k = i;
        for (; k > 0 && id[k - 1] > moved; k--)
            id[k] = id[k - 1];
        id[k] = moved;
    }
}

enum hn_code hn_ranking_run(struct hn_context *ctx, const struct hn_matrix *q,
                            const struct hn_matrix *p, int64_t depth, struct hn_ranking *out) {
    struct hn_knn_lists knn = {.x = *q, .y = *p, .k = depth};
    int64_t products;
    *out = (struct hn_ranking){.rows = q->rows};
    if (hn_knn_lists_run(ctx, &knn, &products)) {
        hn_knn_lists_free(ctx, &knn);
        return ctx->code;
    }
    out->kept = knn.kept;
    out->id = knn.id;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < q->rows; i++)
        order_equal(hn_row(q, i), p, out->id + i * out->kept, out->kept);
    return HN_OK;
}
