// Images as cached views (recipe A): frozen patch features of CIFAR-10, V augmented views of every
// image, and an encoder that is trained on pairs of them.
//
//   h = ReLU(BatchNorm(x W1));  z = h W2, rows of unit length
//
// Both views of a batch go through batch norm together (2 B rows), as SimCLR's do. A positive pair
// is two different cached views of an image, drawn anew each time it is seen. Evaluation is on the
// clean images: weighted kNN on z and on h, a linear probe on h; before the first step the features
// alone as well, for whatever learns less than they hold.
#include "core/random.h"
#include "training/images/views.h"
#include "training/tasks/image_task.h"

#include <math.h>
#include <string.h>

enum { HIDDEN_LAYER = 2, ROWS = 1024 }; // ReLU's place in the encoder; rows embedded at once

struct params {
    char *data;
    int64_t n, views, dim, hidden, out, data_seed;
    bool batch_norm;
    struct hn_image_probe probe;
};

struct state {
    struct hn_views data;
    struct hn_image_net net;
};

static enum hn_code open_views(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    char *data = hn_task_path(ctx, &task->setting, hn_task_data(task->type, p));
    struct hn_views_spec spec = {.data = data,
                                 .cache = task->setting.cache ? task->setting.cache : ".",
                                 .n = p->n,
                                 .views = p->views,
                                 .dim = p->dim,
                                 .seed = (uint64_t)p->data_seed};
    enum hn_code code = data ? hn_views_open(ctx, &spec, &s->data) : ctx->code;
    hn_free(ctx, data);
    if (!code && task->setting.batch_size > s->data.n)
        code = hn_fail(ctx, HN_DATA, "batch_size %lld: there are %lld images",
                       (long long)task->setting.batch_size, (long long)s->data.n);
    return code;
}

static enum hn_code build(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_net *net = &s->net.encoder;
    struct hn_weights *w = &task->weights;
    const struct hn_layer_spec plain = {0};
    struct hn_layer_spec first = {.out = p->hidden, .bias = !p->batch_norm, .fan_in = true};
    hn_net_begin(net, s->data.p);
    if (hn_net_add(ctx, net, w, &hn_layer_linear, first) ||
        (p->batch_norm && hn_net_add(ctx, net, w, &hn_layer_batch_norm, plain)) ||
        hn_net_add(ctx, net, w, &hn_layer_relu, plain) ||
        hn_net_add(ctx, net, w, &hn_layer_linear,
                   (struct hn_layer_spec){.out = p->out, .bias = true, .fan_in = true}) ||
        hn_net_add(ctx, net, w, &hn_layer_unit, plain))
        return ctx->code;
    return HN_OK;
}

static enum hn_code open_task(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    if (open_views(ctx, task) || build(ctx, task))
        return ctx->code;
    task->n = s->data.n;
    task->n_all = s->data.n + s->data.test;
    task->d = p->out;
    task->batch_size = task->setting.batch_size ? task->setting.batch_size : task->n;
    task->label = s->data.label;
    task->label_name = s->data.n_label_names ? s->data.label_name : NULL;
    task->n_label_names = s->data.n_label_names;
    s->net.hidden = p->hidden;
    s->net.hidden_layer = p->batch_norm ? HIDDEN_LAYER : HIDDEN_LAYER - 1;
    return hn_image_open(ctx, task, &s->net, ROWS);
}

static void init(struct hn_task *task) {
    const struct state *s = task->state;
    hn_net_init(&s->net.encoder, &task->weights, task->setting.seed);
}

static const float *cached(const struct hn_views *v, int64_t image, uint32_t view) {
    return v->view + (image * v->v + view) * v->p;
}

// Two different cached views of each image of the batch.
static void draw_pairs(struct hn_task *task, const struct hn_task_batch *batch) {
    struct state *s = task->state;
    const struct hn_views *v = &s->data;
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, "views.pair", batch->step, 0, 0);
    for (int64_t i = 0; i < batch->n; i++) {
        uint32_t first = hn_stream_below(&stream, (uint32_t)v->v);
        uint32_t second = first;
        if (v->v > 1)
            second = (first + 1 + hn_stream_below(&stream, (uint32_t)v->v - 1)) % (uint32_t)v->v;
        size_t bytes = (size_t)v->p * sizeof(float);
        memcpy(s->net.x + i * v->p, cached(v, batch->id[i], first), bytes);
        memcpy(s->net.x + (batch->n + i) * v->p, cached(v, batch->id[i], second), bytes);
    }
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
    draw_pairs(task, batch);
    hn_image_step(ctx, task, &s->net, batch, loss, z1);
    return HN_OK;
}

// Runs rows x[count x p] through the encoder in evaluation mode; h may be NULL.
static void encode(struct hn_context *ctx, struct hn_task *task, const float *x, int64_t count,
                   float *z, float *h) {
    struct state *s = task->state;
    for (int64_t i = 0; i < count; i += ROWS)
        hn_image_encode(ctx, task, &s->net, x + i * s->data.p, hn_min(ROWS, count - i),
                        z + i * task->d, h ? h + i * s->net.hidden : NULL);
}

// Augmented views for snapshots: two different cached ones of each image, in evaluation mode.
static void encode_views(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                         int64_t count, float *z) {
    struct state *s = task->state;
    const struct hn_views *v = &s->data;
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, "views.embed", at, 0, 0);
    for (int64_t i = 0; i < count; i += ROWS) {
        int64_t rows = hn_min(ROWS, count - i);
        for (int64_t k = 0; k < rows; k++) {
            uint32_t first = hn_stream_below(&stream, (uint32_t)v->v), other = first;
            if (v->v > 1)
                other = (first + 1 + hn_stream_below(&stream, (uint32_t)v->v - 1)) % (uint32_t)v->v;
            memcpy(s->net.x + k * v->p, cached(v, i + k, number == 1 ? first : other),
                   (size_t)v->p * sizeof(float));
        }
        hn_image_encode(ctx, task, &s->net, s->net.x, rows, z + i * task->d, NULL);
    }
}

static enum hn_code embed(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                          int64_t count, float *z) {
    struct state *s = task->state;
    if (number > 0)
        encode_views(ctx, task, number, at, count, z);
    else
        encode(ctx, task, s->data.clean, count, z, NULL);
    return HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    struct state *s = task->state;
    const struct params *p = task->params;
    float *again = hn_alloc(ctx, task->n_all * task->d, sizeof *again);
    if (!again)
        return ctx->code;
    encode(ctx, task, s->data.clean, task->n_all, again, s->net.h); // z is there: only h is wanted
    hn_free(ctx, again);
    if (at == 0 && hn_image_evaluate_features(ctx, task, s->data.clean, s->data.p, p->probe,
                                              value + HN_IMAGE_COLUMNS))
        return ctx->code;
    return hn_image_evaluate(ctx, task, &s->net, z, p->probe, value);
}

static void close_task(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    hn_views_free(ctx, &s->data);
    hn_image_free(ctx, &s->net);
}

#define INT(field, first, least, most, what)                                                       \
    {                                                                                              \
#field, HN_OPTION_INT, offsetof(struct params, field), first, least, most, NULL, what, 0,  \
            NULL                                                                                   \
    }
static const struct hn_option options[] = {
    {.name = "data",
     .kind = HN_OPTION_TEXT,
     .offset = offsetof(struct params, data),
     .help = "folder of CIFAR-10's binary files"},
    INT(n, "10000", 2, 1e9, "training images"),
    INT(views, "14", 1, 1000, "augmented views cached of each image"),
    INT(dim, "512", 1, 2048, "features kept of a view"),
    INT(hidden, "512", 1, 65536, "columns of h"),
    INT(out, "128", 2, 65536, "columns of the embedding z"),
    INT(data_seed, "1", 0, 0x1p53, "seed of patches, views and the choice of images"),
    {.name = "batch_norm",
     .kind = HN_OPTION_BOOL,
     .offset = offsetof(struct params, batch_norm),
     .initial = "true",
     .help = "batch norm before h"},
    HN_IMAGE_PROBE_OPTIONS(struct params),
    {.name = NULL}};

const struct hn_task_type hn_task_views = {
    .name = "views-mlp",
    .summary = "images: a small encoder of cached views as patch features",
    .source = "BS 5.2 and GC 7 on CIFAR-10, made small",
    .note = "the front end is frozen and views are cached: the papers train a ResNet on fresh ones",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .folder = "cifar10",
    .files = hn_image_files,
    .required = HN_IMAGE_REQUIRED,
    .origin = hn_image_origin,
    .columns = hn_image_columns,
    .n_columns = HN_IMAGE_COLUMNS + HN_FEATURE_COLUMNS,
    .objectives =
        1U << HN_OBJECTIVE_NTXENT | 1U << HN_OBJECTIVE_INFONCE | 1U << HN_OBJECTIVE_OTHER_VIEW,
    .open = open_task,
    .init = init,
    .step = step,
    .embed = embed,
    .evaluate = evaluate,
    .close = close_task,
};
