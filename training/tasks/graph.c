// SPDX-License-Identifier: GPL-3.0-or-later
// Graph classification (GraphCL; BS table 15; recipe D): two changed copies of every graph, a GIN
// encoder of three layers, sums over the nodes of a graph.
//
//   m = (A + I) h,  h = BatchNorm(ReLU(Linear(ReLU(Linear m)))),  h0 = attributes, one-hot node
//   labels (or 1) g = sums of h over the nodes, of all layers side by side;  z = Linear(ReLU(Linear
//   g)), unit
//
// Each view of a graph goes through one change, drawn anew every time: nodes dropped, edges
// perturbed, a subgraph, features masked (not where nodes have none). Evaluation is on the
// graphs as they are: an SVM with folds on g. Its value at step 0 is that of an untrained encoder.
//
// Loss jsd is InfoGraph's instead (Sun et al. 2020): the graphs as they are, and every node, its
// layers side by side, against the vectors of its graph and of the others, all through heads of
// their own:
//   T(u, G) = f(h_u) . z_G / tau,  f = Linear(ReLU(Linear h)),  z as above but not of unit length
//
// Our deviation: GraphCL's code changes one of the two copies and leaves the other as it is.
#include "training/tasks/task.h"

#include "training/net/net.h"
#include "training/tasks/evaluate.h"
#include "training/tasks/graph_augment.h"
#include "training/tasks/graph_features.h"

#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 8, INNER_FOLDS = 5, FOLDS = 10 };
enum { SVM, SVM_DEVIATION, COSINE, WL, SVM_FEATURES, SVM_AVERAGED, COLUMNS };
static const double strengths[] = {0.1, 1, 10, 100};

struct params {
    char *data;
    int64_t width, layers, data_seed, wl;
    bool attributes;
};

// Graphs of one view side by side: nodes and what the layers make of them.
struct view {
    struct hn_graph_view one;  // the graph in work
    struct hn_sparse adjacent; // A + I, its own transpose
    int64_t rows, graphs;      // nodes and graphs there are
    int64_t *segment;          // [batch + 1] graph g has the rows segment[g] .. segment[g + 1]
    hn_real *x;                // [capacity x in]
    hn_real *vector;           // [batch x layers * width]
    hn_real *dvector, *dz;
    hn_real *dh, *dx; // [capacity x width]
    struct hn_tape tape[LAYERS_MAX], head;
    struct hn_pass pass;
    // For loss jsd, else NULL: all layers of the nodes side by side, and their graphs.
    hn_real *node, *dnode, *du; // [capacity x layers * width]
    int32_t *graph;             // [capacity]
    struct hn_tape local;
};

struct state {
    struct hn_tudataset data;
    int64_t in;               // columns of h0
    int64_t capacity, degree; // largest numbers of nodes and entries of A + I of a batch
    struct hn_net layer[LAYERS_MAX], head, local; // local: of nodes, loss jsd
    bool info;                                    // loss jsd
    struct view view[2];
    struct hn_loss_work loss;
    float *all;    // [graphs x layers * width] for evaluation
    int32_t *fold; // [graphs]
};

// Folds of the file, or drawn.
static enum hn_code take_folds(struct hn_context *ctx, const struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (!HN_ALLOC(ctx, s->fold, s->data.graphs))
        return ctx->code;
    if (!s->data.fold) {
        s->data.folds = FOLDS;
        return hn_folds_draw(ctx, s->data.label, s->data.graphs, FOLDS, (uint64_t)p->data_seed,
                             s->fold);
    }
    memcpy(s->fold, s->data.fold, (size_t)s->data.graphs * sizeof *s->fold);
    return HN_OK;
}

// Linear, ReLU, linear, as wide as its input.
static enum hn_code add_plain_head(struct hn_context *ctx, struct hn_net *net,
                                   struct hn_weights *w) {
    const struct hn_layer_spec wide = {.out = net->in, .bias = true, .fan_in = true};
    if (hn_net_add(ctx, net, w, &hn_layer_linear, wide) ||
        hn_net_add(ctx, net, w, &hn_layer_relu, (struct hn_layer_spec){0}))
        return ctx->code;
    return hn_net_add(ctx, net, w, &hn_layer_linear, wide);
}

// First biases are random as well: with biases of zero, an untrained encoder of constant features
// is homogeneous, and tells graphs apart less than the recipe's does.
static enum hn_code build(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_weights *w = &task->weights;
    const struct hn_layer_spec plain = {0}, wide = {.out = p->width, .bias = true, .fan_in = true};
    for (int64_t l = 0; l < p->layers; l++) {
        struct hn_net *net = &s->layer[l];
        hn_net_begin(net, l == 0 ? s->in : p->width);
        if (hn_net_add(ctx, net, w, &hn_layer_aggregate, plain) ||
            hn_net_add(ctx, net, w, &hn_layer_linear, wide) ||
            hn_net_add(ctx, net, w, &hn_layer_relu, plain) ||
            hn_net_add(ctx, net, w, &hn_layer_linear, wide) ||
            hn_net_add(ctx, net, w, &hn_layer_relu, plain) ||
            hn_net_add(ctx, net, w, &hn_layer_batch_norm, plain))
            return ctx->code;
    }
    hn_net_begin(&s->head, task->d);
    hn_net_begin(&s->local, task->d);
    if (!s->info)
        return hn_net_add_head(ctx, &s->head, w, task->d, task->d, false);
    return add_plain_head(ctx, &s->head, w) || add_plain_head(ctx, &s->local, w) ? ctx->code
                                                                                 : HN_OK;
}

// A batch may hold one graph several times: at most `batch` times the largest.
static void measure_capacity(struct state *s, int64_t batch) {
    const struct hn_tudataset *d = &s->data;
    int64_t nodes = 0, entries = 0;
    for (int64_t g = 0; g < d->graphs; g++) {
        int64_t n = d->start[g + 1] - d->start[g];
        nodes = hn_max(nodes, n);
        entries =
            hn_max(entries, d->edges.start[d->start[g + 1]] - d->edges.start[d->start[g]] + n);
    }
    s->capacity = batch * nodes;
    s->degree = batch * entries;
}

static enum hn_code open_view(struct hn_context *ctx, struct hn_task *task, struct view *view) {
    const struct params *p = task->params;
    struct state *s = task->state;
    int64_t batch = task->batch_size, whole = p->width * p->layers;
    if (hn_graph_view_open(ctx, &s->data, &view->one) ||
        hn_sparse_open(ctx, s->capacity, s->capacity, s->degree, &view->adjacent) ||
        hn_tape_open(ctx, &s->head, batch, true, &view->head))
        return ctx->code;
    for (int64_t l = 0; l < p->layers; l++)
        if (hn_tape_open(ctx, &s->layer[l], s->capacity, true, &view->tape[l]))
            return ctx->code;
    bool good =
        HN_ALLOC(ctx, view->segment, batch + 1) && HN_ALLOC(ctx, view->x, s->capacity * s->in) &&
        HN_ALLOC(ctx, view->vector, batch * whole) && HN_ALLOC(ctx, view->dvector, batch * whole) &&
        HN_ALLOC(ctx, view->dz, batch * whole) && HN_ALLOC(ctx, view->dh, s->capacity * p->width) &&
        HN_ALLOC(ctx, view->dx, s->capacity * p->width);
    view->pass = (struct hn_pass){.workers = hn_task_workers(ctx, task),
                                  .seed = task->setting.seed,
                                  .mean = &view->adjacent,
                                  .mean_t = &view->adjacent};
    return good ? HN_OK : ctx->code;
}

static enum hn_code open_nodes(struct hn_context *ctx, struct hn_task *task, struct view *view) {
    struct state *s = task->state;
    int64_t size = s->capacity * task->d;
    if (hn_tape_open(ctx, &s->local, s->capacity, true, &view->local))
        return ctx->code;
    bool good = HN_ALLOC(ctx, view->node, size) && HN_ALLOC(ctx, view->dnode, size) &&
                HN_ALLOC(ctx, view->du, size) && HN_ALLOC(ctx, view->graph, s->capacity);
    return good ? HN_OK : ctx->code;
}

static enum hn_code open_graph(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (hn_tudataset_read(ctx, task->path, &s->data) ||
        (p->attributes && hn_tudataset_read_attributes(ctx, task->path, &s->data)) ||
        hn_task_set_items(ctx, task, s->data.graphs, s->data.graphs, p->width * p->layers))
        return ctx->code;
    s->in = hn_max(1, hn_tudataset_features(&s->data));
    s->info = task->setting.loss.objective == HN_OBJECTIVE_JSD;
    if (take_folds(ctx, task) || build(ctx, task))
        return ctx->code;
    task->label = s->data.label;
    task->block = task->batch_size;
    measure_capacity(s, task->batch_size);
    if (!HN_ALLOC(ctx, s->all, task->n * task->d) || open_view(ctx, task, &s->view[0]) ||
        open_view(ctx, task, &s->view[1]))
        return ctx->code;
    if (s->info && open_nodes(ctx, task, &s->view[0]))
        return ctx->code;
    return hn_loss_open(ctx, task->setting.loss.objective, s->info ? s->capacity : task->batch_size,
                        task->batch_size, task->d, &s->loss);
}

static void init(struct hn_task *task) {
    const struct params *p = task->params;
    const struct state *s = task->state;
    for (int64_t l = 0; l < p->layers; l++)
        hn_net_init(&s->layer[l], &task->weights, task->setting.seed);
    hn_net_init(&s->head, &task->weights, task->setting.seed);
    hn_net_init(&s->local, &task->weights, task->setting.seed + 1);
}

// Rows of A + I of the graph in work, from row `first` on, each ascending.
static void add_rows(struct hn_sparse *a, const struct hn_graph_view *one, int64_t first) {
    int64_t *start = a->start + first; // the start of row i + 1 counts up to its position
    int64_t base = start[0];
    for (int32_t i = 0; i < one->n; i++)
        start[i + 1] = 1;
    for (int64_t e = 0; e < one->edges; e++) {
        start[one->from[e] + 1]++;
        start[one->to[e] + 1]++;
    }
    int64_t at = base;
    for (int32_t i = 0; i < one->n; i++) {
        int64_t entries = start[i + 1];
        start[i + 1] = at;
        at += entries;
    }
    for (int32_t i = 0; i < one->n; i++)
        a->index[start[i + 1]++] = (int32_t)(first + i);
    for (int64_t e = 0; e < one->edges; e++) {
        a->index[start[one->from[e] + 1]++] = (int32_t)(first + one->to[e]);
        a->index[start[one->to[e] + 1]++] = (int32_t)(first + one->from[e]);
    }
    for (int32_t i = 0; i < one->n; i++)
        gsl_sort_int(a->index + start[i], 1, (size_t)(start[i + 1] - start[i]));
    for (int64_t k = base; k < at; k++)
        a->value[k] = 1;
}

// Features of the nodes of the graph in work, 1 where there are none.
static void add_features(const struct state *s, struct view *view) {
    hn_real *x = view->x + view->rows * s->in;
    bool known = hn_tudataset_features(&s->data) > 0;
    for (int32_t i = 0; i < view->one.n; i++)
        for (int64_t k = 0; k < s->in; k++) {
            double value = known ? hn_tudataset_feature(&s->data, view->one.node[i], k) : 1;
            x[i * s->in + k] = (hn_real)(view->one.masked[i] ? 0 : value);
        }
}

static void begin_view(struct view *view) {
    view->rows = view->graphs = 0;
    view->segment[0] = 0;
    view->adjacent.start[0] = 0;
}

// Appends a graph, changed by the stream or (NULL) as it is.
static void add_graph(const struct state *s, int64_t graph, struct hn_stream *stream,
                      struct view *view) {
    enum hn_graph_change change =
        stream ? hn_graph_change_draw(stream, hn_tudataset_features(&s->data) > 0) : HN_GRAPH_SAME;
    hn_graph_augment(&s->data, graph, change, stream, &view->one);
    add_rows(&view->adjacent, &view->one, view->rows);
    add_features(s, view);
    view->rows += view->one.n;
    view->segment[++view->graphs] = view->rows;
    view->adjacent.rows = view->adjacent.cols = view->rows;
}

// Columns of layer l of the graphs' vectors: sums over their nodes.
static void pool(const struct view *view, const hn_real *h, int64_t l, int64_t width,
                 int64_t whole) {
    for (int64_t g = 0; g < view->graphs; g++) {
        hn_real *sum = view->vector + g * whole + l * width;
        memset(sum, 0, (size_t)width * sizeof *sum);
        for (int64_t i = view->segment[g]; i < view->segment[g + 1]; i++)
            for (int64_t k = 0; k < width; k++)
                sum[k] += h[i * width + k];
    }
}

// The vectors of the view's graphs, and z.
static hn_real *encode(struct hn_task *task, struct view *view, bool training) {
    const struct params *p = task->params;
    const hn_real *h = view->x;
    view->pass.training = training;
    for (int64_t l = 0; l < p->layers; l++) {
        h = hn_net_forward(&task->weights, &view->tape[l], &view->pass, h, view->rows);
        pool(view, h, l, p->width, task->d);
        for (int64_t i = 0; training && view->node && i < view->rows; i++)
            memcpy(view->node + i * task->d + l * p->width, h + i * p->width,
                   (size_t)p->width * sizeof *h);
    }
    return hn_net_forward(&task->weights, &view->head, &view->pass, view->vector, view->graphs);
}

// From dz to all gradients: those of a layer's rows come from its sums and from the layer above.
static void decode(struct hn_task *task, struct view *view) {
    const struct params *p = task->params;
    const int64_t width = p->width;
    hn_net_backward(&task->weights, &view->head, &view->pass, view->dz, view->dvector);
    for (int64_t l = p->layers - 1; l >= 0; l--) {
        for (int64_t g = 0; g < view->graphs; g++) {
            const hn_real *own = view->dvector + g * task->d + l * width;
            for (int64_t i = view->segment[g]; i < view->segment[g + 1]; i++)
                for (int64_t k = 0; k < width; k++)
                    view->dh[i * width + k] =
                        own[k] + (view->node ? view->dnode[i * task->d + l * width + k] : 0) +
                        (l < p->layers - 1 ? view->dx[i * width + k] : 0);
        }
        hn_net_backward(&task->weights, &view->tape[l], &view->pass, view->dh,
                        l > 0 ? view->dx : NULL);
    }
}

// To rows of unit length, as samplers and evaluations take them.
static void copy_unit(const hn_real *z, int64_t n, int64_t d, float *to) {
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t k = i * d; k < (i + 1) * d; k++)
            square += (double)z[k] * (double)z[k];
        double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t k = i * d; k < (i + 1) * d; k++)
            to[k] = (float)(scale * (double)z[k]);
    }
}

static void step_info(struct hn_context *ctx, struct hn_task *task,
                      const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
    struct view *view = &s->view[0];
    begin_view(view);
    for (int64_t i = 0; i < batch->n; i++) {
        add_graph(s, batch->id[i], NULL, view);
        for (int64_t r = view->segment[i]; r < view->segment[i + 1]; r++)
            view->graph[r] = (int32_t)i;
    }
    const hn_real *z = encode(task, view, true);
    const hn_real *u =
        hn_net_forward(&task->weights, &view->local, &view->pass, view->node, view->rows);
    if (z1)
        copy_unit(z, batch->n, task->d, z1);
    *loss = hn_loss_jsd(hn_task_workers(ctx, task), &batch->loss, view->rows, batch->n, task->d, u,
                        z, view->graph, view->du, view->dz, &s->loss);
    hn_net_backward(&task->weights, &view->local, &view->pass, view->du, view->dnode);
    decode(task, view);
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
    const hn_real *z[2];
    if (s->info) {
        step_info(ctx, task, batch, loss, z1);
        return HN_OK;
    }
    for (int v = 0; v < 2; v++) {
        struct view *view = &s->view[v];
        begin_view(view);
        for (int64_t i = 0; i < batch->n; i++) {
            struct hn_stream stream;
            hn_stream_open(&stream, task->setting.seed, "graph.view", batch->step, v + 1, i);
            add_graph(s, batch->id[i], &stream, view);
        }
        z[v] = encode(task, view, true);
    }
    if (z1)
        memcpy(z1, z[0], (size_t)(batch->n * task->d) * sizeof *z1);
    *loss = hn_loss_pairs(hn_task_workers(ctx, task), &batch->loss, NULL, batch->n, task->d, z[0],
                          z[1], s->view[0].dz, s->view[1].dz, &s->loss);
    decode(task, &s->view[0]);
    decode(task, &s->view[1]);
    return HN_OK;
}

// Clean embeddings, as before an evaluation, leave the graphs' vectors in s->all.
static enum hn_code embed(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                          int64_t first, int64_t graphs, float *z) {
    struct state *s = task->state;
    struct view *view = &s->view[0];
    int64_t size = graphs * task->d;
    (void)ctx;
    begin_view(view);
    for (int64_t g = first; g < first + graphs; g++) {
        struct hn_stream stream;
        hn_stream_open(&stream, task->setting.seed, "graph.embed", at, number, g);
        add_graph(s, g, number > 0 ? &stream : NULL, view);
    }
    const hn_real *out = encode(task, view, false);
    if (s->info)
        copy_unit(out, graphs, task->d, z);
    else
        memcpy(z, out, (size_t)size * sizeof *z);
    if (number == 0)
        memcpy(s->all + first * task->d, view->vector, (size_t)size * sizeof *s->all);
    return HN_OK;
}

static struct hn_svm_probe probe_of(const struct hn_task *task) {
    const struct state *s = task->state;
    return (struct hn_svm_probe){.x = {s->all, task->n, task->d, task->d},
                                 .label = task->label,
                                 .fold = s->fold,
                                 .folds = s->data.folds,
                                 .inner = INNER_FOLDS,
                                 .c = strengths,
                                 .n_c = sizeof strengths / sizeof *strengths,
                                 .seed = task->setting.seed};
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    const struct params *p = task->params;
    const struct state *s = task->state;
    struct hn_svm_probe probe = probe_of(task);
    struct hn_probes all = {task->watch, 0, at > 0 ? 1 : 3 + (p->wl > 0)};
    probe.tell = hn_probes_tell;
    probe.tell_data = &all;
    if (hn_svm_probe_run(ctx, &probe))
        return ctx->code;
    value[SVM] = probe.accuracy;
    value[SVM_DEVIATION] = probe.deviation;
    value[COSINE] = hn_mean_cosine(task->n, task->d, z);
    if (at > 0)
        return HN_OK;
    struct hn_graph_alone alone = {.wl = NAN};
    if (hn_graph_evaluate_alone(ctx, &s->data, &probe, p->wl, &alone))
        return ctx->code;
    value[SVM_FEATURES] = alone.features;
    value[SVM_AVERAGED] = alone.averaged;
    value[WL] = alone.wl;
    return HN_OK;
}

static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct params, data, "data",
                    "folder of NAME_A.txt, NAME_graph_indicator.txt, NAME_graph_labels.txt ...")},
    {HN_INT_OPTION(struct params, width, "width", "32", 1, 4096, "columns of every layer")},
    {HN_INT_OPTION(struct params, layers, "layers", "3", 1, LAYERS_MAX, "layers of the encoder")},
    {HN_INT_OPTION(struct params, data_seed, "data_seed", "1", 0, 1e15,
                   "of the folds, where the data have none")},
    {HN_INT_OPTION(struct params, wl, "wl", "0", 0, 100,
                   "rounds of the Weisfeiler-Lehman kernel that is evaluated beside, at step 0; "
                   "0: none")},
    {HN_BOOL_OPTION(struct params, attributes, "attributes", NULL,
                    "attributes of nodes, of NAME_node_attributes.txt, as features besides")},
    {.name = NULL}};

static const struct hn_column columns[COLUMNS] = {
    [SVM] = {"svm_acc", HN_COLUMN_REAL, "share",
             "accuracy of an SVM on the graphs' vectors, mean over folds", HN_LARGER},
    [SVM_DEVIATION] = {"svm_deviation", HN_COLUMN_REAL, "1", "its deviation over folds",
                       HN_NEITHER},
    [COSINE] = {"pair_cosine", HN_COLUMN_REAL, "cosine", "mean cosine of all pairs of graphs",
                HN_NEITHER},
    [WL] = {"wl_svm_acc", HN_COLUMN_REAL, "share",
            "accuracy of an SVM with the Weisfeiler-Lehman kernel of the graphs alone", HN_LARGER},
    [SVM_FEATURES] = {"features_svm_acc", HN_COLUMN_REAL, "share",
                      "accuracy of an SVM on numbers of nodes of each label, nodes and edges",
                      HN_LARGER},
    [SVM_AVERAGED] = {"averaged_svm_acc", HN_COLUMN_REAL, "share",
                      "accuracy of an SVM on labels, ones and degrees of nodes averaged twice over "
                      "neighbours, summed over the graph",
                      HN_LARGER},
};

static const char *const files[] = {"*_A.txt",
                                    "*_graph_indicator.txt",
                                    "*_graph_labels.txt",
                                    "*_node_labels.txt",
                                    "*_node_attributes.txt",
                                    "*_folds.txt",
                                    NULL};
static const struct hn_task_data data = {
    .folder = "tudataset/MUTAG",
    .folders = {"tudataset/*"},
    .files = files,
    .required = 3,
    .items = "graphs",
    .origin = "NAME_A.txt, NAME_graph_indicator.txt, NAME_graph_labels.txt and what else the data "
              "set has, from https://chrsmrrs.github.io/datasets",
};

const struct hn_task_type hn_graph_task = {
    .name = "graph",
    .summary = "graph classification: two changed copies of every graph, GIN",
    .source = "GraphCL (You et al. 2020); BS 5.3 and table 15",
    .note = "both copies are changed; GraphCL's code changes one",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &data,
    .columns = columns,
    .n_columns = COLUMNS,
    .objectives = HN_OBJECTIVES_PAIRS | 1U << HN_OBJECTIVE_JSD,
    .lists = false,
    .open = open_graph,
    .init = init,
    .step = step,
    .embed = embed,
    .evaluate = evaluate,
};
