// SPDX-License-Identifier: GPL-3.0-or-later
// Accuracies of node features without an encoder.
#include "training/tasks/evaluate.h"
#include "training/tasks/node_private.h"

#include <math.h>
#include <string.h>

enum { DENSE_MAX = 1 << 28 };

// y = the mean of x over a node and its neighbours.
static void average(const struct hn_graph *g, int64_t p, const float *x, float *y) {
    memcpy(y, x, (size_t)(g->n * p) * sizeof *y);
    for (int64_t v = 0; v < g->n; v++) {
        int64_t from = g->start[v], to = g->start[v + 1];
        for (int64_t e = from; e < to; e++)
            for (int64_t j = 0; j < p; j++)
                y[v * p + j] += x[g->target[e] * p + j];
        for (int64_t j = 0; j < p; j++)
            y[v * p + j] /= (float)(1 + to - from);
    }
}

enum hn_code hn_node_evaluate_alone(struct hn_context *ctx, const struct hn_graph *g,
                                    const struct hn_features *f, const struct hn_evaluation *e,
                                    struct hn_node_alone *out) {
    struct hn_evaluation own = *e;
    int64_t size = f->n * f->p;
    *out = (struct hn_node_alone){NAN, NAN};
    if (size > DENSE_MAX)
        return HN_OK;
    HN_SCOPE(ctx);
    float *x = hn_zalloc(ctx, 2 * size, sizeof *x);
    if (!x)
        return ctx->code;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t k = f->start[i]; k < f->start[i + 1]; k++)
            x[i * f->p + f->index[k]] = f->value[k];
    own.z = x;
    own.d = f->p;
    own.zero_rows = true;
    if (hn_evaluate(ctx, &own, "probe_acc", &out->features))
        return ctx->code;
    average(g, f->p, x, x + size);
    average(g, f->p, x + size, x);
    return hn_evaluate(ctx, &own, "probe_acc", &out->averaged);
}
