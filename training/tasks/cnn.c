// Images end to end (recipe B): three convolutions and a head, on views that are augmented anew at
// every step.
//
//   conv 3 x 3, stride 2, pad 1: 3 -> 32 -> 64 -> 128 channels, each with batch norm and ReLU
//   means over 2 x 2 -> h = 512;  linear 256, batch norm, ReLU, linear 128, unit = z
//
// 257,952 parameters. Both views of a batch go through batch norm together (2 B rows).
#include "core/random.h"
#include "datasets/cifar10.h"
#include "training/images/augment.h"
#include "training/tasks/image_task.h"

#include <string.h>

enum { PIXELS = HN_CIFAR10_BYTES, SIDE = HN_CIFAR10_SIDE, ROWS = 256, HIDDEN_LAYER = 9 };

struct params {
    char *data;
    int64_t n, out, data_seed;
    struct hn_image_probe probe;
};

struct state {
    struct hn_cifar10 data;
    int32_t *order; // [n + test] record of an item
    int32_t *label; // [n + test]
    struct hn_image_net net;
};

static enum hn_code read_images(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    char *path = hn_task_path(ctx, &task->setting, hn_task_data(task->type, p));
    enum hn_code code = path ? hn_cifar10_read(ctx, path, &s->data) : ctx->code;
    hn_free(ctx, path);
    if (!code && p->n > s->data.n)
        code = hn_fail(ctx, HN_DATA, "n: %lld: there are %lld training images", (long long)p->n,
                       (long long)s->data.n);
    if (!code && task->setting.batch_size > p->n)
        code = hn_fail(ctx, HN_DATA, "batch_size %lld: there are %lld images",
                       (long long)task->setting.batch_size, (long long)p->n);
    return code;
}

// The first n training records of an order drawn by data_seed, then the test records.
static enum hn_code order_images(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_stream stream;
    s->order = hn_alloc(ctx, s->data.n + s->data.test, sizeof *s->order);
    s->label = hn_alloc(ctx, s->data.n + s->data.test, sizeof *s->label);
    if (!s->order || !s->label)
        return ctx->code;
    for (int64_t i = 0; i < s->data.n; i++)
        s->order[i] = (int32_t)i;
    hn_stream_open(&stream, (uint64_t)p->data_seed, "cnn.order", 0, 0, 0);
    hn_stream_shuffle(&stream, s->order, s->data.n);
    task->n = p->n;
    task->n_all = p->n + s->data.test;
    for (int64_t i = task->n; i < task->n_all; i++)
        s->order[i] = (int32_t)(s->data.n + i - task->n);
    for (int64_t i = 0; i < task->n_all; i++)
        s->label[i] = s->data.label[s->order[i]];
    return HN_OK;
}

// Convolution, batch norm and ReLU; halves the sides.
static enum hn_code add_block(struct hn_context *ctx, struct hn_net *net, struct hn_weights *w,
                              int64_t side, int64_t channels, int64_t out) {
    const struct hn_layer_spec spec = {.out = out,
                                       .height = side,
                                       .width = side,
                                       .channels = channels,
                                       .kernel = 3,
                                       .stride = 2,
                                       .pad = 1,
                                       .fan_in = true};
    if (hn_net_add(ctx, net, w, &hn_layer_convolution, spec) ||
        hn_net_add(ctx, net, w, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = out}) ||
        hn_net_add(ctx, net, w, &hn_layer_relu, (struct hn_layer_spec){0}))
        return ctx->code;
    return HN_OK;
}

static enum hn_code build(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_net *net = &s->net.encoder;
    struct hn_weights *w = &task->weights;
    const struct hn_layer_spec plain = {0};
    const struct hn_layer_spec pool = {
        .height = SIDE / 8, .width = SIDE / 8, .channels = 128, .kernel = 2};
    hn_net_begin(net, PIXELS);
    if (add_block(ctx, net, w, SIDE, 3, 32) || add_block(ctx, net, w, SIDE / 2, 32, 64) ||
        add_block(ctx, net, w, SIDE / 4, 64, 128) ||
        hn_net_add(ctx, net, w, &hn_layer_average_pool, pool))
        return ctx->code;
    s->net.hidden = net->out;
    s->net.hidden_layer = HIDDEN_LAYER;
    if (hn_net_add(ctx, net, w, &hn_layer_linear,
                   (struct hn_layer_spec){.out = 256, .fan_in = true}) ||
        hn_net_add(ctx, net, w, &hn_layer_batch_norm, plain) ||
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
    if (read_images(ctx, task) || order_images(ctx, task) || build(ctx, task))
        return ctx->code;
    task->batch_size = task->setting.batch_size ? task->setting.batch_size : task->n;
    task->d = p->out;
    task->label = s->label;
    task->label_name = s->data.n_label_names ? s->data.label_name : NULL;
    task->n_label_names = s->data.n_label_names;
    return hn_image_open(ctx, task, &s->net, ROWS);
}

static void init(struct hn_task *task) {
    const struct state *s = task->state;
    hn_net_init(&s->net.encoder, &task->weights, task->setting.seed);
}

static const uint8_t *image_of(const struct state *s, int64_t item) {
    return s->data.image + (int64_t)s->order[item] * HN_CIFAR10_BYTES;
}

// One augmented view; `place` tells apart those of a step.
static void augment(const struct hn_task *task, const char *purpose, int64_t step, int64_t place,
                    int64_t item, hn_real *to) {
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, purpose, step, place, item);
    hn_augment_image(image_of(task->state, item), &stream, to);
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < 2 * batch->n; i++)
        augment(task, "cnn.view", batch->step, i, batch->id[i % batch->n], s->net.x + i * PIXELS);
    hn_image_step(ctx, task, &s->net, batch, loss, z1);
    return HN_OK;
}

// Rows of one block of items, plain (view 0) or augmented.
static void load(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                 int64_t first, int64_t rows) {
    struct state *s = task->state;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < rows; k++) {
        if (number == 0)
            hn_plain_image(image_of(s, first + k), s->net.x + k * PIXELS);
        else
            augment(task, "cnn.embed", at, number, first + k, s->net.x + k * PIXELS);
    }
}

// h may be NULL.
static void encode(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                   int64_t count, float *z, float *h) {
    struct state *s = task->state;
    for (int64_t i = 0; i < count; i += ROWS) {
        int64_t rows = hn_min(ROWS, count - i);
        load(ctx, task, number, at, i, rows);
        hn_image_encode(ctx, task, &s->net, s->net.x, rows, z + i * task->d,
                        h ? h + i * s->net.hidden : NULL);
    }
}

static enum hn_code embed(struct hn_context *ctx, struct hn_task *task, int number, int64_t at,
                          int64_t count, float *z) {
    struct state *s = task->state;
    bool all = number == 0 && count == task->n_all; // as before an evaluation, which wants h
    encode(ctx, task, number, at, count, z, all ? s->net.h : NULL);
    return HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_task *task, int64_t at,
                             const float *z, double *value) {
    struct state *s = task->state;
    const struct params *p = task->params;
    (void)at;
    return hn_image_evaluate(ctx, task, &s->net, z, p->probe, value);
}

static void close_task(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    hn_cifar10_free(ctx, &s->data);
    hn_image_free(ctx, &s->net);
    hn_free(ctx, s->order);
    hn_free(ctx, s->label);
}

static const struct hn_option options[] = {{.name = "data",
                                            .kind = HN_OPTION_TEXT,
                                            .offset = offsetof(struct params, data),
                                            .help = "folder of CIFAR-10's binary files"},
                                           {.name = "n",
                                            .kind = HN_OPTION_INT,
                                            .offset = offsetof(struct params, n),
                                            .initial = "50000",
                                            .min = 2,
                                            .max = 1e9,
                                            .help = "training images"},
                                           {.name = "out",
                                            .kind = HN_OPTION_INT,
                                            .offset = offsetof(struct params, out),
                                            .initial = "128",
                                            .min = 2,
                                            .max = 65536,
                                            .help = "columns of the embedding z"},
                                           {.name = "data_seed",
                                            .kind = HN_OPTION_INT,
                                            .offset = offsetof(struct params, data_seed),
                                            .initial = "1",
                                            .max = 0x1p53,
                                            .help = "seed of the choice of images"},
                                           HN_IMAGE_PROBE_OPTIONS(struct params),
                                           {.name = NULL}};

const struct hn_task_type hn_task_cnn = {
    .name = "cnn",
    .summary = "images: a small convolutional encoder, learned end to end",
    .source = "BS 5.2, GC 7 and HC 5.1 on CIFAR-10, made small",
    .note = "three convolutions instead of a ResNet",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .folder = "cifar10",
    .files = hn_image_files,
    .required = HN_IMAGE_REQUIRED,
    .origin = hn_image_origin,
    .columns = hn_image_columns,
    .n_columns = HN_IMAGE_COLUMNS,
    .objectives =
        1U << HN_OBJECTIVE_NTXENT | 1U << HN_OBJECTIVE_INFONCE | 1U << HN_OBJECTIVE_OTHER_VIEW,
    .open = open_task,
    .init = init,
    .step = step,
    .embed = embed,
    .evaluate = evaluate,
    .close = close_task,
};
