// SPDX-License-Identifier: GPL-3.0-or-later
// Images end to end (recipe B): three convolutions and a head, on views that are augmented anew at
// every step.
//
//   conv 3 x 3, stride 2, pad 1: 3 -> 32 -> 64 -> 128 channels, each with batch norm and ReLU
//   means over 2 x 2 -> h = 512;  linear 256, batch norm, ReLU, linear 128, unit = z
//
// 257,952 parameters. Both views of a batch go through batch norm together (2 B rows). Without
// batch norm, biases stand in its position.
#include "core/random.h"
#include "training/images/augment.h"
#include "training/net/net.h"
#include "training/tasks/image_task.h"

enum { PIXELS = HN_IMAGE_BYTES, SIDE = HN_IMAGE_SIDE, ROWS = 256 };

struct params {
    struct hn_image_params image; // first
    bool batch_norm;
};

struct state {
    struct hn_image_net net; // first
    struct hn_images data;
    int32_t *order; // [n + test] record of an item
    int32_t *label; // [n + test]
};

static enum hn_code open_images(struct hn_context *ctx, struct hn_task *task) {
    const struct hn_image_params *p = task->params;
    struct state *s = task->state;
    if (hn_images_read(ctx, task->path, &s->data))
        return ctx->code;
    if (p->n > s->data.n)
        return hn_fail(ctx, HN_DATA, "n: %lld: there are %lld training images", (long long)p->n,
                       (long long)s->data.n);
    if (hn_task_set_items(ctx, task, p->n, p->n + s->data.test, p->out))
        return ctx->code;
    s->order = hn_image_order(ctx, &s->data, p->n, (uint64_t)p->data_seed, "cnn.order");
    if (!s->order || !HN_ALLOC(ctx, s->label, task->n_all))
        return ctx->code;
    for (int64_t i = 0; i < task->n_all; i++)
        s->label[i] = s->data.label[s->order[i]];
    task->label = s->label;
    return HN_OK;
}

// Convolution, batch norm and ReLU; halves the sides.
static enum hn_code add_block(struct hn_context *ctx, struct hn_net *net, struct hn_weights *w,
                              int64_t side, int64_t channels, int64_t out, bool batch_norm) {
    const struct hn_layer_spec spec = {.out = out,
                                       .height = side,
                                       .width = side,
                                       .channels = channels,
                                       .kernel = 3,
                                       .stride = 2,
                                       .pad = 1,
                                       .bias = !batch_norm,
                                       .fan_in = true};
    if (hn_net_add(ctx, net, w, &hn_layer_convolution, spec))
        return ctx->code;
    return hn_net_add_relu(ctx, net, w, out, batch_norm);
}

static const uint8_t *image_of(const struct state *s, int64_t item) {
    return s->data.image + (int64_t)s->order[item] * HN_IMAGE_BYTES;
}

// One augmented view; `position` tells apart those of a step.
static void augment(const struct hn_task *task, const char *purpose, int64_t step, int64_t position,
                    int64_t item, hn_real *to) {
    struct hn_stream stream;
    hn_stream_open(&stream, task->setting.seed, purpose, step, position, item);
    hn_augment_image(image_of(task->state, item), &stream, to);
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < 2 * batch->n; i++)
        augment(task, "cnn.view", batch->step, i, batch->id[i % batch->n], s->net.x + i * PIXELS);
    hn_image_step(ctx, task, batch, loss, z1);
    return HN_OK;
}

static const hn_real *load(struct hn_context *ctx, struct hn_task *task, int view, int64_t at,
                           int64_t first, int64_t rows) {
    struct state *s = task->state;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < rows; k++) {
        if (view == 0)
            hn_plain_image(image_of(s, first + k), s->net.x + k * PIXELS);
        else
            augment(task, "cnn.embed", at, view, first + k, s->net.x + k * PIXELS);
    }
    return s->net.x;
}

static enum hn_code open_task(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    struct hn_net *net = &s->net.encoder;
    struct hn_weights *w = &task->weights;
    const struct hn_layer_spec pool = {
        .height = SIDE / 8, .width = SIDE / 8, .channels = 128, .kernel = 2};
    hn_net_begin(net, PIXELS);
    if (open_images(ctx, task) || add_block(ctx, net, w, SIDE, 3, 32, p->batch_norm) ||
        add_block(ctx, net, w, SIDE / 2, 32, 64, p->batch_norm) ||
        add_block(ctx, net, w, SIDE / 4, 64, 128, p->batch_norm) ||
        hn_net_add(ctx, net, w, &hn_layer_average_pool, pool))
        return ctx->code;
    s->net.hidden = net->out;
    s->net.hidden_layer = net->n - 1;
    task->block = ROWS;
    s->net.load = load;
    return hn_net_add_head(ctx, net, w, 256, p->image.out, p->batch_norm)
               ? ctx->code
               : hn_image_open(ctx, task, &s->net, &s->data);
}

static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct hn_image_params, data, "data",
                    "folder of binary files of CIFAR-10, CIFAR-100 or STL-10")},
    {HN_INT_OPTION(struct hn_image_params, n, "n", "50000", 2, 1e9, "training images")},
    {HN_INT_OPTION(struct hn_image_params, out, "out", "128", 2, 65536,
                   "columns of the embedding z")},
    {HN_INT_OPTION(struct hn_image_params, data_seed, "data_seed", "1", 0, 0x1p53,
                   "seed of the choice of images")},
    {HN_BOOL_OPTION(struct params, batch_norm, "batch_norm", "true",
                    "batch norm behind every convolution and in the head")},
    HN_IMAGE_PROBE_OPTIONS,
    HN_IMAGE_MOMENTUM_OPTIONS,
    {.name = NULL}};

const struct hn_task_type hn_cnn_task = {
    .name = "cnn",
    .summary = "images: a small convolutional encoder, learned end to end",
    .source = "BS 5.2, GC 7 and HC 5.1 on CIFAR-10, made small",
    .note = "three convolutions instead of a ResNet",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &hn_image_data,
    .columns = hn_image_columns,
    .n_columns = HN_IMAGE_COLUMNS,
    .objectives = HN_IMAGE_OBJECTIVES,
    .open = open_task,
    .init = hn_image_init,
    .step = step,
    .embed = hn_image_embed,
    .evaluate = hn_image_evaluate,
};
