// SPDX-License-Identifier: GPL-3.0-or-later
// Features of graphs by averages over neighbours, and their accuracies without an encoder.
#include "training/tasks/graph_features.h"

#include "training/tasks/wl.h"

#include <string.h>

int64_t hn_graph_features_columns(const struct hn_tudataset *data) {
    return hn_tudataset_features(data) + 2;
}

// One column of all nodes.
static void fill(const struct hn_tudataset *data, int64_t column, double *h) {
    const int64_t *start = data->edges.start, features = hn_tudataset_features(data);
    for (int64_t v = 0; v < data->nodes; v++)
        h[v] = column < features    ? hn_tudataset_feature(data, v, column)
               : column == features ? 1
                                    : (double)(start[v + 1] - start[v]);
}

static void average(const struct hn_graph *g, const double *h, double *to) {
    for (int64_t v = 0; v < g->n; v++) {
        double sum = h[v];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            sum += h[g->target[e]];
        to[v] = sum / (double)(1 + g->start[v + 1] - g->start[v]);
    }
}

enum hn_code hn_graph_features(struct hn_context *ctx, const struct hn_tudataset *data, int rounds,
                               float *x) {
    int64_t columns = hn_graph_features_columns(data), n = data->nodes;
    HN_SCOPE(ctx);
    double *h = hn_alloc(ctx, 2 * n, sizeof *h);
    if (!h)
        return ctx->code;
    for (int64_t c = 0; c < columns; c++) {
        fill(data, c, h);
        for (int r = 0; r < rounds; r++) {
            average(&data->edges, h, h + n);
            memcpy(h, h + n, (size_t)n * sizeof *h);
        }
        for (int64_t g = 0; g < data->graphs; g++) {
            double sum = 0;
            for (int64_t v = data->start[g]; v < data->start[g + 1]; v++)
                sum += h[v];
            x[g * columns + c] = (float)sum;
        }
    }
    return HN_OK;
}

void hn_probes_tell(void *data, int64_t done, int64_t of) {
    struct hn_probes *p = data;
    if (p->watch.evaluated)
        p->watch.evaluated(p->watch.data, p->done * of + done, p->of * of);
    p->done += done == of;
}

static enum hn_code evaluate_features(struct hn_context *ctx, const struct hn_tudataset *data,
                                      struct hn_svm_probe probe, int rounds, double *accuracy) {
    int64_t d = hn_graph_features_columns(data);
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, data->graphs * d, sizeof *x);
    if (!x || hn_graph_features(ctx, data, rounds, x))
        return ctx->code;
    probe.x = (struct hn_matrix){x, data->graphs, d, d};
    if (hn_svm_probe_run(ctx, &probe))
        return ctx->code;
    *accuracy = probe.accuracy;
    return HN_OK;
}

static enum hn_code evaluate_wl(struct hn_context *ctx, const struct hn_tudataset *data,
                                struct hn_svm_probe probe, int64_t rounds, double *accuracy) {
    HN_SCOPE(ctx);
    double *kernel = hn_alloc(ctx, data->graphs * data->graphs, sizeof *kernel);
    if (!kernel || hn_wl_kernel(ctx, data, rounds, kernel))
        return ctx->code;
    probe.kernel = kernel;
    probe.x.cols = 0;
    if (hn_svm_probe_run(ctx, &probe))
        return ctx->code;
    *accuracy = probe.accuracy;
    return HN_OK;
}

enum hn_code hn_graph_evaluate_alone(struct hn_context *ctx, const struct hn_tudataset *data,
                                     const struct hn_svm_probe *probe, int64_t wl,
                                     struct hn_graph_alone *out) {
    if (evaluate_features(ctx, data, *probe, 0, &out->features) ||
        evaluate_features(ctx, data, *probe, 2, &out->averaged))
        return ctx->code;
    return wl > 0 ? evaluate_wl(ctx, data, *probe, wl, &out->wl) : HN_OK;
}
