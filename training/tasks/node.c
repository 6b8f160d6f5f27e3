// SPDX-License-Identifier: GPL-3.0-or-later
// Node classification (NS; recipe C): two perturbed views of one graph, an encoder of one to eight
// layers, a loss over all nodes.
//
// Views are those of node_augment.c. Of two layers:
//   H = Ahat ELU(Ahat X W0) W1, rows of unit length;  mlp: without Ahat
// `siamese` adds a predictor (linear, batch norm, ReLU, linear, unit) and averages both directions
// of minus the cosine (NS equation 4); `supervised` a linear classifier of the training nodes.
//
// Our deviation: the printed equation 3 has the logarithm outside of the sum over nodes; taken
// literally it trains worse (77.7 instead of 83.2), and the loss here is the mean of logarithms.
#include "training/tasks/node_private.h"

#include "training/net/net.h"
#include "training/tasks/evaluate.h"

#include <math.h>
#include <string.h>

enum { TRAIN, VALIDATION, TEST }; // of the split
enum { PROBE, DEVIATION, ALIGNMENT, UNIFORMITY, PROBE_FEATURES, PROBE_AVERAGED, COLUMNS };
enum { LAYERS_MAX = 8 };

struct params {
    char *data;
    int encoder;
    int64_t layers, hidden, out;
    double drop_edge, drop_feature;
    bool stop_gradient, batch_norm;
};

// One view of graph and features.
struct view {
    struct hn_node_view of; // its matrices
    struct hn_tape tape, unit, head;
    struct hn_pass pass;
    const hn_real *raw; // [n x out] embeddings before they are made unit, of the tape
    hn_real *draw;      // [n x out] their gradient
    hn_real *dz;        // [n x out]
    hn_real *part;      // [n x out] rows of a batch, then their gradient
    hn_real *dpart;
};

struct state {
    struct hn_linqs data;
    struct hn_node_edges edges;
    float *unit; // features of unit rows, for `ring`
    struct hn_features features;
    int32_t *train_label; // [n] labels of the training nodes, -1 elsewhere
    int32_t classes;
    struct hn_net encoder, to_unit, head; // head: predictor or classifier
    struct view view[2];
    struct hn_loss_work loss;
    float *views; // [2 x n x out] for evaluation
    bool *met;    // [n] nodes of a batch
};

static enum hn_code unit_features(struct hn_context *ctx, struct state *s) {
    const struct hn_linqs *d = &s->data;
    if (!HN_ALLOC(ctx, s->unit, d->start[d->n]))
        return ctx->code;
    for (int64_t i = 0; i < d->n; i++) {
        double square = 0;
        for (int64_t k = d->start[i]; k < d->start[i + 1]; k++)
            square += (double)d->value[k] * (double)d->value[k];
        for (int64_t k = d->start[i]; k < d->start[i + 1]; k++)
            s->unit[k] = (float)((double)d->value[k] / sqrt(square));
    }
    s->features = d->features;
    s->features.value = s->unit;
    return HN_OK;
}

// Labels of training nodes, and the number of classes.
static enum hn_code take_labels(struct hn_context *ctx, struct state *s) {
    const struct hn_linqs *d = &s->data;
    if (!HN_ALLOC(ctx, s->train_label, d->n))
        return ctx->code;
    for (int64_t i = 0; i < d->n; i++) {
        if (d->labels[i] >= 1 << 16)
            return hn_fail(ctx, HN_DATA, "%s: label %d: at most 65536 classes are possible",
                           d->name, d->labels[i]);
        s->classes = d->labels[i] >= s->classes ? d->labels[i] + 1 : s->classes;
        s->train_label[i] = d->split && d->split[i] == TRAIN ? d->labels[i] : -1;
    }
    return HN_OK;
}

static enum hn_code build_encoder(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    const struct params *p = task->params;
    struct hn_net *net = &s->encoder;
    struct hn_weights *w = &task->weights;
    const struct hn_layer_spec plain = {0};
    bool graph = p->encoder != HN_NODE_MLP;
    hn_net_begin(net, s->data.p);
    for (int64_t l = 0; l < p->layers; l++) {
        bool last = l == p->layers - 1;
        const struct hn_layer_type *linear = l == 0 ? &hn_layer_sparse_linear : &hn_layer_linear;
        const struct hn_layer_spec wide = {.out = last ? p->out : p->hidden};
        if (hn_net_add(ctx, net, w, linear, wide) ||
            (graph && hn_net_add(ctx, net, w, &hn_layer_aggregate, plain)) ||
            (!last && hn_net_add(ctx, net, w, &hn_layer_elu, plain)))
            return ctx->code;
    }
    hn_net_begin(&s->to_unit, p->out);
    return hn_net_add(ctx, &s->to_unit, w, &hn_layer_unit, plain);
}

static enum hn_code build_head(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    const struct params *p = task->params;
    struct hn_net *net = &s->head;
    struct hn_weights *w = &task->weights;
    hn_net_begin(net, p->out);
    if (task->setting.loss.objective == HN_OBJECTIVE_SUPERVISED)
        return hn_net_add(ctx, net, w, &hn_layer_linear,
                          (struct hn_layer_spec){.out = s->classes, .bias = true});
    if (task->setting.loss.objective != HN_OBJECTIVE_SIAMESE)
        return HN_OK;
    // Its first weights by the fan in: a predictor that begins small learns faster than the
    // encoder.
    return hn_net_add_head(ctx, net, w, p->hidden, p->out, p->batch_norm);
}

static enum hn_code open_view(struct hn_context *ctx, struct hn_task *task, struct view *view) {
    struct state *s = task->state;
    const struct params *p = task->params;
    int64_t n = s->data.n;
    if (hn_node_view_open(ctx, &s->edges, &view->of) ||
        hn_tape_open(ctx, &s->encoder, n, true, &view->tape) ||
        hn_tape_open(ctx, &s->to_unit, n, true, &view->unit) ||
        (s->head.n > 0 && hn_tape_open(ctx, &s->head, n, true, &view->head)))
        return ctx->code;
    hn_real **const array[] = {&view->draw, &view->dz, &view->part, &view->dpart};
    for (int i = 0; i < 4; i++)
        if (!HN_ALLOC(ctx, *array[i], n * p->out))
            return ctx->code;
    view->pass = (struct hn_pass){.workers = hn_task_workers(ctx, task),
                                  .seed = task->setting.seed,
                                  .input = &view->of.input,
                                  .input_t = &view->of.input_t,
                                  .mean = &view->of.mean,
                                  .mean_t = &view->of.mean_t};
    return HN_OK;
}

static enum hn_code open_node(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (hn_linqs_read(ctx, task->path, &s->data) ||
        hn_task_set_items(ctx, task, s->data.n, s->data.n, p->out) ||
        hn_node_edges_open(ctx, &s->data, &s->edges) || unit_features(ctx, s) ||
        take_labels(ctx, s) || build_encoder(ctx, task) || build_head(ctx, task))
        return ctx->code;
    task->label = s->data.labels;
    task->split = s->data.split;
    task->graph = &s->data.graph;
    task->features = &s->features;
    if (!HN_ALLOC(ctx, s->views, 2 * task->n * p->out) || !HN_ALLOC(ctx, s->met, task->n) ||
        open_view(ctx, task, &s->view[0]) || open_view(ctx, task, &s->view[1]))
        return ctx->code;
    // Anchors with negatives of their own have all nodes as keys.
    return hn_loss_open(ctx, task->setting.loss.objective, task->batch_size, task->n, p->out,
                        &s->loss);
}

// Reads the data once, for its notes; an error fails the runs.
static void survey(struct hn_context *ctx, const char *path) {
    struct hn_linqs data;
    HN_SCOPE(ctx);
    if (hn_linqs_read(ctx, path, &data))
        return;
}

static void init(struct hn_task *task) {
    const struct state *s = task->state;
    hn_net_init(&s->encoder, &task->weights, task->setting.seed);
    hn_net_init(&s->head, &task->weights, task->setting.seed);
}

// Draws view 1 or 2 of a step; view 0 is the graph as it is.
static void draw_view(const struct hn_task *task, int number, const char *purpose, int64_t step,
                      struct view *view) {
    struct state *s = task->state;
    const struct params *p = task->params;
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, purpose, step, number, 0);
    hn_node_augment(&s->edges, (enum hn_node_norm)p->encoder, number > 0 ? p->drop_edge : 0,
                    number > 0 ? p->drop_feature : 0, &stream, &view->of);
    view->pass.step = step;
    view->pass.view = number;
}

static hn_real *encode(struct hn_task *task, struct view *view) {
    view->raw = hn_net_forward(&task->weights, &view->tape, &view->pass, NULL, task->n);
    return hn_net_forward(&task->weights, &view->unit, &view->pass, view->raw, task->n);
}

static void gather(const hn_real *from, const int32_t *id, int64_t n, int64_t d, hn_real *to) {
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * d, from + id[i] * d, (size_t)d * sizeof *to);
}

static void scatter(const hn_real *from, const int32_t *id, int64_t n, int64_t d, int64_t rows,
                    hn_real *to) {
    memset(to, 0, (size_t)(rows * d) * sizeof *to);
    for (int64_t i = 0; i < n; i++) // an item may be drawn twice
        for (int64_t j = 0; j < d; j++)
            to[id[i] * d + j] += from[i * d + j];
}

// Each of the n nodes once: not so if they are drawn with replacement.
static bool has_everyone(struct state *s, const struct hn_task_batch *batch, int64_t n) {
    int64_t met = 0;
    memset(s->met, 0, (size_t)n * sizeof *s->met);
    for (int64_t i = 0; i < batch->n && batch->n == n; i++) {
        met += !s->met[batch->id[i]];
        s->met[batch->id[i]] = true;
    }
    return met == n;
}

// Losses of pairs, over the nodes of the batch; a batch of all nodes needs no gathering, but for a
// guide, which is in the order of the batch.
static double pair_loss(struct hn_context *ctx, struct hn_task *task,
                        const struct hn_task_batch *batch, const hn_real *z1, const hn_real *z2) {
    struct state *s = task->state;
    struct view *v1 = &s->view[0], *v2 = &s->view[1];
    int64_t n = batch->n, d = task->d;
    if (!batch->lists && !batch->loss.guide && has_everyone(s, batch, task->n))
        return hn_loss_pairs(hn_task_workers(ctx, task), &batch->loss, NULL, n, d, z1, z2, v1->dz,
                             v2->dz, &s->loss);
    gather(z1, batch->id, n, d, v1->part);
    double loss;
    if (batch->lists) {
        loss = hn_loss_pairs(hn_task_workers(ctx, task), &batch->loss, batch->lists, n, d, v1->part,
                             z2, v1->dpart, v2->dz, &s->loss);
    } else {
        gather(z2, batch->id, n, d, v2->part);
        loss = hn_loss_pairs(hn_task_workers(ctx, task), &batch->loss, NULL, n, d, v1->part,
                             v2->part, v1->dpart, v2->dpart, &s->loss);
        scatter(v2->dpart, batch->id, n, d, task->n, v2->dz);
    }
    scatter(v1->dpart, batch->id, n, d, task->n, v1->dz);
    return loss;
}

// NS equation 4: half of each direction. Predictions are made of embeddings as they come, and
// compared with unit ones. part: gradients of predictions, dpart: of the embeddings as targets.
static double siamese_loss(struct hn_task *task, const hn_real *z1, const hn_real *z2) {
    struct state *s = task->state;
    const struct params *p = task->params;
    struct view *v[2] = {&s->view[0], &s->view[1]};
    const hn_real *z[2] = {z1, z2};
    int64_t n = task->n, d = task->d;
    double loss = 0;
    for (int i = 0; i < 2; i++) {
        struct view *own = v[i], *other = v[1 - i];
        const hn_real *prediction =
            hn_net_forward(&task->weights, &own->head, &own->pass, own->raw, n);
        loss += 0.5 * hn_loss_siamese(n, d, prediction, z[1 - i], own->part,
                                      p->stop_gradient ? NULL : other->dpart);
    }
    for (int i = 0; i < 2; i++) {
        struct view *own = v[i];
        for (int64_t k = 0; k < n * d; k++)
            own->part[k] *= (hn_real)0.5;
        hn_net_backward(&task->weights, &own->head, &own->pass, own->part, own->draw);
        if (p->stop_gradient)
            continue;
        hn_net_backward(&task->weights, &own->unit, &own->pass, own->dpart, own->part);
        for (int64_t k = 0; k < n * d; k++)
            own->draw[k] += (hn_real)0.5 * own->part[k];
    }
    return loss;
}

// Only the first view is trained on.
static double supervised_loss(struct hn_task *task, const hn_real *z1) {
    struct state *s = task->state;
    struct view *v = &s->view[0];
    const hn_real *logit = hn_net_forward(&task->weights, &v->head, &v->pass, z1, task->n);
    hn_real *gradient = v->head.y[s->head.n - 1]; // overwrites the logits
    double loss = hn_loss_cross_entropy(task->n, s->classes, logit, s->train_label, gradient);
    hn_net_backward(&task->weights, &v->head, &v->pass, gradient, v->dz);
    return loss;
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
    const hn_real *z[2] = {NULL, NULL};
    bool supervised = batch->loss.objective == HN_OBJECTIVE_SUPERVISED;
    const int views = supervised ? 1 : 2;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int i = 0; i < views; i++)
        draw_view(task, i + 1, "node.view", batch->step, &s->view[i]);
    for (int i = 0; i < views; i++) {
        s->view[i].pass.training = true;
        z[i] = encode(task, &s->view[i]);
    }
    if (z1)
        gather(z[0], batch->id, batch->n, task->d, z1);
    if (supervised)
        *loss = supervised_loss(task, z[0]);
    else if (batch->loss.objective == HN_OBJECTIVE_SIAMESE)
        *loss = siamese_loss(task, z[0], z[1]);
    else
        *loss = pair_loss(ctx, task, batch, z[0], z[1]);
    bool siamese = batch->loss.objective == HN_OBJECTIVE_SIAMESE;
    for (int i = 0; i < views; i++) {
        struct view *v = &s->view[i];
        if (!siamese) // its gradients are of raw embeddings already
            hn_net_backward(&task->weights, &v->unit, &v->pass, v->dz, v->draw);
        hn_net_backward(&task->weights, &v->tape, &v->pass, v->draw, NULL);
    }
    return HN_OK;
}

static bool is_zero(const float *x, int64_t d) {
    for (int64_t j = 0; j < d; j++)
        if (x[j] < 0 || x[j] > 0)
            return false;
    return true;
}

// A node that a view left without any feature, its neighbours included, has no direction there: its
// clean embedding is taken. One that has none at all gets the direction (1, ..., 1), which all such
// nodes share. In training it is zero.
static enum hn_code embed(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                          int64_t first, int64_t count, float *z) {
    struct state *s = task->state;
    struct view *view = &s->view[number > 1], *clean = &s->view[number <= 1];
    int64_t d = task->d;
    const hn_real *whole = NULL;
    (void)ctx, (void)first; // a block is all nodes
    draw_view(task, number, "node.embed", at, view);
    view->pass.training = clean->pass.training = false;
    memcpy(z, encode(task, view), (size_t)(count * d) * sizeof *z);
    for (int64_t i = 0; i < count; i++) {
        if (!is_zero(z + i * d, d))
            continue;
        if (number > 0 && !whole) {
            draw_view(task, 0, "node.embed", at, clean);
            whole = encode(task, clean);
        }
        if (number > 0)
            memcpy(z + i * d, whole + i * d, (size_t)d * sizeof *z);
        for (int64_t j = 0; j < d && (number == 0 || is_zero(whole + i * d, d)); j++)
            z[i * d + j] = (float)(1 / sqrt((double)d));
    }
    return HN_OK;
}

// Deviation of the columns of unit rows, mean, times sqrt(d): 1 for vectors spread evenly, 0 for
// collapsed ones (Chen and He 2021, figure 2).
static double deviation(int64_t n, int64_t d, const float *z) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < n; i++)
            mean += (double)z[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++)
            squares += ((double)z[i * d + j] - mean) * ((double)z[i * d + j] - mean);
        sum += sqrt(squares / (double)n);
    }
    return sum / (double)d * sqrt((double)d);
}

// Mean |x1_i - x2_i|^2 (NS 5.2).
static double alignment(const float *x1, const float *x2, int64_t n, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < n * d; k++)
        sum += ((double)x1[k] - (double)x2[k]) * ((double)x1[k] - (double)x2[k]);
    return sum / (double)n;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    struct state *s = task->state;
    int64_t size = task->n * task->d;
    struct hn_evaluation e = {.n = task->n,
                              .d = task->d,
                              .z = z,
                              .label = task->label,
                              .split = task->split,
                              .seed = task->setting.seed};
    value[DEVIATION] = deviation(task->n, task->d, z);
    struct hn_node_alone alone = {NAN, NAN};
    if (at == 0 && hn_node_evaluate_alone(ctx, task->graph, &s->features, &e, &alone))
        return ctx->code;
    value[PROBE_FEATURES] = alone.features;
    value[PROBE_AVERAGED] = alone.averaged;
    if (hn_task_embed(ctx, task, 1, at, task->n, s->views) ||
        hn_task_embed(ctx, task, 2, at, task->n, s->views + size) ||
        hn_normalize_rows(ctx, s->views, 2 * task->n, task->d, "embedding of a view") ||
        hn_evaluate(ctx, &e, "uniformity", &value[UNIFORMITY]))
        return ctx->code;
    value[ALIGNMENT] = alignment(s->views, s->views + size, task->n, task->d);
    return hn_evaluate(ctx, &e, "probe_acc", &value[PROBE]);
}

static const char *const encoders[] = {"mean", "gcn", "mlp", NULL};
static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct params, data, "data",
                    "folder of NAME.features, NAME.edges and NAME.split, or of NAME.content and "
                    "NAME.cites")},
    {HN_CHOICE_OPTION(struct params, encoder, "encoder", "mean", encoders,
                      "how neighbours are gathered: mean pooling, GCN's norm, or not at all")},
    {HN_INT_OPTION(struct params, layers, "layers", "2", 1, LAYERS_MAX, "layers of the encoder")},
    {HN_INT_OPTION(struct params, hidden, "hidden", "512", 1, 65536,
                   "columns of all layers but the last, and of the predictor's")},
    {HN_INT_OPTION(struct params, out, "out", "512", 2, 65536, "columns of the embedding")},
    {HN_REAL_OPTION(struct params, drop_edge, "drop_edge", "0.2", 0, 0.99,
                    "share of edges that a view leaves out")},
    {HN_REAL_OPTION(struct params, drop_feature, "drop_feature", "0.6", 0, 0.99,
                    "share of features that a view leaves out")},
    {HN_BOOL_OPTION(struct params, stop_gradient, "stop_gradient", "true",
                    "loss siamese: targets are constants")},
    {HN_BOOL_OPTION(struct params, batch_norm, "batch_norm", "true",
                    "loss siamese: batch norm in the predictor")},
    {.name = NULL}};

static const struct hn_column columns[COLUMNS] = {
    [PROBE] = {"probe_acc", HN_COLUMN_REAL, "share", "accuracy of a linear probe on the test items",
               HN_LARGER},
    [DEVIATION] = {"deviation", HN_COLUMN_REAL, "1",
                   "deviation of the embedding's columns times sqrt(d): 0 = collapsed", HN_LARGER},
    [ALIGNMENT] = {"alignment", HN_COLUMN_REAL, "1", "mean |x1 - x2|^2 over items", HN_SMALLER},
    [PROBE_FEATURES] = {"features_probe_acc", HN_COLUMN_REAL, "share",
                        "accuracy of a linear probe on the features alone", HN_LARGER},
    [PROBE_AVERAGED] = {"averaged_probe_acc", HN_COLUMN_REAL, "share",
                        "accuracy of a linear probe on the features averaged twice over neighbours",
                        HN_LARGER},
    [UNIFORMITY] = {"uniformity", HN_COLUMN_REAL, "1", "log mean exp(-2 |x_i - x_j|^2) over pairs",
                    HN_SMALLER},
};

static const char *const names[] = {"*.content", "*.cites", "*.split", NULL};
static const struct hn_task_data by_name = {
    .folder = "cora",
    .folders = {"cora", "linqs/*"},
    .files = names,
    .required = 2,
    .items = "nodes",
    .origin = "NAME.content and NAME.cites, from https://linqs.org/datasets",
};
static const char *const files[] = {"*.features", "*.edges", "*.split", NULL};
static const struct hn_task_data data = {
    .folder = "cora",
    .folders = {"cora", "linqs/*"},
    .files = files,
    .required = 2,
    .items = "nodes",
    .origin = "NAME.features, NAME.edges and NAME.split, or NAME.content and NAME.cites, from "
              "https://linqs.org/datasets",
    .other = &by_name,
};

const struct hn_task_type hn_node_task = {
    .name = "node",
    .summary = "node classification: two views of a graph of documents",
    .source = "NS 3 and 4",
    .note = "the loss is the mean of logarithms; the printed equation 3 has the logarithm outside",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &data,
    .columns = columns,
    .n_columns = COLUMNS,
    .objectives = HN_OBJECTIVES_PAIRS | 1U << HN_OBJECTIVE_SIAMESE | 1U << HN_OBJECTIVE_SUPERVISED,
    .lists = true,
    .open = open_node,
    .survey = survey,
    .init = init,
    .step = step,
    .embed = embed,
    .evaluate = evaluate,
};
