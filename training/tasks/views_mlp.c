// SPDX-License-Identifier: GPL-3.0-or-later
// Images as cached views (recipe A): frozen patch features of CIFAR-10, V augmented views of every
// image, and an encoder that is trained on pairs of them.
//
//   h = ReLU(BatchNorm(x W1));  z = h W2, rows of unit length
//
// Both views of a batch go through batch norm together (2 B rows), as SimCLR's do. A positive pair
// is two different cached views of an image, drawn anew each time it is seen, or views of two
// images of a class (positives: label). Evaluation is on the clean images: weighted kNN on z and on
// h, a linear probe on h; before the first step the features alone as well, as a baseline.
#include "core/random.h"
#include "training/images/views.h"
#include "training/net/net.h"
#include "training/tasks/image_task.h"
#include "training/tasks/same_class.h"

#include <string.h>

enum { HIDDEN_LAYER = 1, ROWS = 1024 }; // ReLU's position in the encoder; rows embedded at once

struct params {
    struct hn_image_params image; // first
    int64_t views, dim, hidden;
    int positives;
    bool batch_norm;
};

enum { OF_VIEW, OF_LABEL };
static const char *const positives[] = {"view", "label", NULL};

struct state {
    struct hn_image_net net; // first
    struct hn_views data;
    struct hn_same_class same; // with positives: label
    struct hn_stream stream;   // of the views that are embedded
    const float **from;        // of each row at hand, its cached view
};

static const float *cached(const struct hn_views *v, int64_t image, uint32_t view) {
    return v->view + (image * v->v + view) * v->p;
}

// Two different cached views of an image; the same one where there is no other.
static void draw_pair(const struct hn_views *v, struct hn_stream *stream, uint32_t pair[2]) {
    uint32_t all = (uint32_t)v->v;
    pair[0] = pair[1] = hn_stream_below(stream, all);
    if (all > 1)
        pair[1] = (pair[0] + 1 + hn_stream_below(stream, all - 1)) % all;
}

// x[rows x p] of the net from where they are cached.
static void fill(struct state *s, int threads, int64_t rows) {
    int64_t p = s->data.p;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < rows; k++)
        memcpy(s->net.x + k * p, s->from[k], (size_t)p * sizeof(float));
}

static enum hn_code step(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1) {
    struct state *s = task->state;
    const struct params *p = task->params;
    const struct hn_views *v = &s->data;
    struct hn_stream stream, partner;
    hn_stream_open(&stream, task->setting.seed, "views.pair", batch->step, 0, 0);
    hn_stream_open(&partner, task->setting.seed, "views.partner", batch->step, 0, 0);
    for (int64_t i = 0; i < batch->n; i++) {
        int32_t image[2] = {batch->id[i], batch->id[i]};
        uint32_t pair[2];
        if (p->positives == OF_LABEL)
            image[1] = hn_same_class_draw(&s->same, &partner, image[0]);
        draw_pair(v, &stream, pair);
        for (int k = 0; k < 2; k++)
            s->from[k * batch->n + i] = cached(v, image[k], pair[k]);
    }
    fill(s, ctx->threads, 2 * batch->n);
    hn_image_step(ctx, task, batch, loss, z1);
    return HN_OK;
}

// Augmented views are two different cached ones of each image.
static const hn_real *load(struct hn_context *ctx, struct hn_task *task, int view, int64_t at,
                           int64_t first, int64_t rows) {
    struct state *s = task->state;
    const struct hn_views *v = &s->data;
    if (view == 0)
        return v->clean + first * v->p;
    if (first == 0)
        hn_stream_open(&s->stream, task->setting.seed, "views.embed", at, 0, 0);
    for (int64_t k = 0; k < rows; k++) {
        uint32_t pair[2];
        draw_pair(v, &s->stream, pair);
        s->from[k] = cached(v, first + k, pair[view - 1]);
    }
    fill(s, ctx->threads, rows);
    return s->net.x;
}

static enum hn_code open_task(struct hn_context *ctx, struct hn_task *task) {
    const struct params *p = task->params;
    struct state *s = task->state;
    const struct hn_views *v = &s->data;
    struct hn_views_spec spec = {.data = task->path,
                                 .cache = task->setting.cache ? task->setting.cache : ".",
                                 .n = p->image.n,
                                 .views = p->views,
                                 .dim = p->dim,
                                 .seed = (uint64_t)p->image.data_seed};
    if (hn_views_open(ctx, &spec, &s->data) ||
        hn_task_set_items(ctx, task, v->n, v->n + v->test, p->image.out))
        return ctx->code;
    if (p->positives == OF_LABEL && hn_same_class_open(ctx, v->label, v->n, &s->same))
        return ctx->code;
    hn_net_begin(&s->net.encoder, v->p);
    if (hn_net_add_head(ctx, &s->net.encoder, &task->weights, p->hidden, p->image.out,
                        p->batch_norm))
        return ctx->code;
    task->label = v->label;
    s->net.hidden = p->hidden;
    s->net.hidden_layer = HIDDEN_LAYER;
    task->block = ROWS;
    if (!HN_ALLOC(ctx, s->from, hn_max(2 * task->batch_size, ROWS)))
        return ctx->code;
    s->net.load = load;
    s->net.features = v->clean;
    return hn_image_open(ctx, task, &s->net, &v->data);
}

static void close_task(struct hn_context *ctx, struct hn_task *task) {
    struct state *s = task->state;
    hn_views_free(ctx, &s->data);
}

static const struct hn_option options[] = {
    {HN_TEXT_OPTION(struct hn_image_params, data, "data",
                    "folder of binary files of CIFAR-10, CIFAR-100 or STL-10")},
    {HN_INT_OPTION(struct hn_image_params, n, "n", "10000", 2, 1e9, "training images")},
    {HN_INT_OPTION(struct params, views, "views", "14", 1, 1000,
                   "augmented views cached of each image")},
    {HN_INT_OPTION(struct params, dim, "dim", "512", 1, 2048, "features kept of a view")},
    {HN_INT_OPTION(struct params, hidden, "hidden", "512", 1, 65536, "columns of h")},
    {HN_INT_OPTION(struct hn_image_params, out, "out", "128", 2, 65536,
                   "columns of the embedding z")},
    {HN_INT_OPTION(struct hn_image_params, data_seed, "data_seed", "1", 0, 0x1p53,
                   "seed of patches, views and the choice of images")},
    {HN_BOOL_OPTION(struct params, batch_norm, "batch_norm", "true", "batch norm before h")},
    {HN_CHOICE_OPTION(struct params, positives, "positives", "view", positives,
                      "of an image: another of its views, or a view of an image of its class "
                      "(negatives use no labels)")},
    HN_IMAGE_PROBE_OPTIONS,
    HN_IMAGE_MOMENTUM_OPTIONS,
    {.name = NULL}};

const struct hn_task_type hn_views_task = {
    .name = "views-mlp",
    .summary = "images: a small encoder of cached views as patch features",
    .source = "BS 5.2 and GC 7 on CIFAR-10, made small",
    .note = "the front end is frozen and views are cached: the papers train a ResNet on fresh ones",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .data = &hn_image_data,
    .columns = hn_image_columns,
    .n_columns = HN_IMAGE_COLUMNS + HN_FEATURE_COLUMNS,
    .objectives = HN_IMAGE_OBJECTIVES,
    .open = open_task,
    .init = hn_image_init,
    .step = step,
    .embed = hn_image_embed,
    .evaluate = hn_image_evaluate,
    .close = close_task,
};
