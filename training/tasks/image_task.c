// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by image tasks: data, networks, columns of accuracies.
#include "training/tasks/image_task.h"

#include "training/net/net.h"
#include "training/tasks/evaluate.h"

#include <string.h>

enum { KNN_Z, KNN_H, PROBE_H, KNN_FEATURES, PROBE_FEATURES };

const struct hn_column hn_image_columns[HN_IMAGE_COLUMNS + HN_FEATURE_COLUMNS] = {
    [KNN_Z] = {"knn_acc", HN_COLUMN_REAL, "share",
               "weighted 200-nearest-neighbour accuracy of z on the test images", HN_LARGER},
    [KNN_H] = {"knn_h_acc", HN_COLUMN_REAL, "share",
               "weighted 200-nearest-neighbour accuracy of h on the test images", HN_LARGER},
    [PROBE_H] = {"probe_acc", HN_COLUMN_REAL, "share",
                 "accuracy of a linear probe on h, its lengths kept, on the test images",
                 HN_LARGER},
    [KNN_FEATURES] = {"features_knn_acc", HN_COLUMN_REAL, "share",
                      "weighted 200-nearest-neighbour accuracy of the frozen features alone",
                      HN_LARGER},
    [PROBE_FEATURES] = {"features_probe_acc", HN_COLUMN_REAL, "share",
                        "accuracy of a linear probe on the frozen features alone", HN_LARGER},
};

static const char *const stl10_files[] = {"train_X.bin", "train_y.bin",     "test_X.bin",
                                          "test_y.bin",  "unlabeled_X.bin", "class_names.txt",
                                          NULL};
static const struct hn_task_data stl10 = {
    .folder = "stl10",
    .folders = {"stl10"},
    .archive = "stl10_binary",
    .files = stl10_files,
    .required = 4,
    .items = "images",
    .origin = "the files of stl10_binary.tar.gz, from https://cs.stanford.edu/~acoates/stl10",
};
static const char *const cifar100_files[] = {"train.bin", "test.bin", "fine_label_names.txt", NULL};
static const struct hn_task_data cifar100 = {
    .folder = "cifar100",
    .folders = {"cifar100"},
    .archive = "cifar-100-binary",
    .files = cifar100_files,
    .required = 2,
    .items = "images",
    .origin = "train.bin and test.bin of cifar-100-binary.tar.gz, from "
              "https://www.cs.toronto.edu/~kriz/cifar.html",
    .other = &stl10,
};
static const char *const files[] = {"data_batch_1.bin", "test_batch.bin", "data_batch_*.bin",
                                    "batches.meta.txt", NULL};
const struct hn_task_data hn_image_data = {
    .folder = "cifar10",
    .folders = {"cifar10"},
    .archive = "cifar-10-batches-bin",
    .files = files,
    .required = 2,
    .items = "images",
    .origin = "data_batch_1.bin to data_batch_5.bin and test_batch.bin of cifar-10-binary.tar.gz, "
              "from https://www.cs.toronto.edu/~kriz/cifar.html",
    .other = &cifar100,
};

enum hn_code hn_image_open(struct hn_context *ctx, struct hn_task *task, struct hn_image_net *net,
                           const struct hn_images *data) {
    const struct hn_image_params *p = task->params;
    enum hn_objective objective = task->setting.loss.objective;
    int64_t b = task->batch_size, rows = task->block;
    bool queue = objective == HN_OBJECTIVE_QUEUE;
    if (queue && p->queue < b)
        return hn_fail(ctx, HN_USAGE,
                       "a queue of %lld keys is shorter than a batch of %lld: raise queue",
                       (long long)p->queue, (long long)b);
    if (queue &&
        hn_momentum_open(ctx, &task->weights, p->momentum, p->queue, task->d, &net->momentum))
        return ctx->code;
    if (!HN_ALLOC(ctx, net->split, task->n_all) ||
        !HN_ALLOC_ROWS(ctx, net->x, hn_max(2 * b, rows), net->encoder.in) ||
        !HN_ALLOC(ctx, net->dz, 2 * b * task->d) ||
        !HN_ALLOC(ctx, net->h, task->n_all * net->hidden) ||
        hn_tape_open(ctx, &net->encoder, 2 * b, true, &net->tape) ||
        hn_tape_open(ctx, &net->encoder, rows, false, &net->wide))
        return ctx->code;
    for (int64_t i = 0; i < task->n_all; i++)
        net->split[i] = i >= task->n ? 2 : task->label[i] < 0 ? -1 : 0; // test, none, training
    task->split = net->split;
    task->label_name = data->n_label_names ? data->label_name : NULL;
    task->n_label_names = data->n_label_names;
    return hn_loss_open(ctx, objective, b, queue ? p->queue : b, task->d, &net->loss);
}

void hn_image_init(struct hn_task *task) {
    const struct hn_image_net *net = task->state;
    hn_net_init(&net->encoder, &task->weights, task->setting.seed);
    if (net->momentum.rows > 0)
        hn_momentum_init(&net->momentum, &task->weights, task->setting.seed);
}

// He et al. 2020, algorithm 1: keys by the copy, which has followed; queries by the encoder.
static void step_queue(struct hn_task *task, const struct hn_task_batch *batch,
                       const struct hn_pass *pass, double *loss, float *z1) {
    struct hn_image_net *net = task->state;
    struct hn_weights *w = &task->weights;
    int64_t half = batch->n * task->d;
    hn_real *key = net->dz + half;
    hn_momentum_follow(&net->momentum, w);
    struct hn_weights copy = hn_momentum_weights(&net->momentum, w);
    memcpy(key,
           hn_net_forward(&copy, &net->tape, pass, net->x + batch->n * net->encoder.in, batch->n),
           (size_t)half * sizeof *key);
    const hn_real *z = hn_net_forward(w, &net->tape, pass, net->x, batch->n);
    if (z1)
        memcpy(z1, z, (size_t)half * sizeof *z1);
    *loss = hn_loss_queue(pass->workers, &batch->loss, batch->n, task->d, z, key,
                          hn_momentum_queue(&net->momentum, w), net->dz, &net->loss);
    hn_momentum_push(&net->momentum, w, key, batch->n);
    hn_net_backward(w, &net->tape, pass, net->dz, NULL);
}

void hn_image_step(struct hn_context *ctx, struct hn_task *task, const struct hn_task_batch *batch,
                   double *loss, float *z1) {
    struct hn_image_net *net = task->state;
    const struct hn_pass pass = hn_task_pass(ctx, task, batch->step);
    int64_t half = batch->n * task->d;
    if (net->momentum.rows > 0) {
        step_queue(task, batch, &pass, loss, z1);
        return;
    }
    const hn_real *z = hn_net_forward(&task->weights, &net->tape, &pass, net->x, 2 * batch->n);
    if (z1)
        memcpy(z1, z, (size_t)half * sizeof *z1);
    *loss = hn_loss_pairs(pass.workers, &batch->loss, NULL, batch->n, task->d, z, z + half, net->dz,
                          net->dz + half, &net->loss);
    hn_net_backward(&task->weights, &net->tape, &pass, net->dz, NULL);
}

enum hn_code hn_image_embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                            int64_t first, int64_t rows, float *z) {
    struct hn_image_net *net = task->state;
    const struct hn_pass pass = {.workers.threads = ctx->threads};
    const hn_real *x = net->load(ctx, task, view, step, first, rows);
    const hn_real *out = hn_net_forward(&task->weights, &net->wide, &pass, x, rows);
    memcpy(z, out, (size_t)(rows * task->d) * sizeof *z);
    if (view == 0) // for an evaluation
        memcpy(net->h + first * net->hidden, net->wide.y[net->hidden_layer],
               (size_t)(rows * net->hidden) * sizeof *net->h);
    return HN_OK;
}

static enum hn_code evaluate_rows(struct hn_context *ctx, const struct hn_task *task,
                                  const float *rows, int64_t d, bool probe, double *value) {
    const struct hn_image_params *p = task->params;
    const struct hn_evaluation e = {.n = task->n_all,
                                    .d = d,
                                    .z = rows,
                                    .label = task->label,
                                    .split = task->split,
                                    .seed = task->setting.seed,
                                    .probe_c = probe ? p->probe_c : 0,
                                    // linear evaluation takes features as they are (SimCLR)
                                    .keep_lengths = probe};
    if (probe && !p->probe)
        return HN_OK;
    return hn_evaluate(ctx, &e, probe ? "probe_acc" : "knn_acc", value);
}

enum hn_code hn_image_evaluate(struct hn_context *ctx, struct hn_task *task, int64_t step,
                               const float *z, double *value) {
    const struct hn_image_net *net = task->state;
    int64_t in = net->encoder.in;
    if (step == 0 && net->features &&
        (evaluate_rows(ctx, task, net->features, in, false, &value[KNN_FEATURES]) ||
         evaluate_rows(ctx, task, net->features, in, true, &value[PROBE_FEATURES])))
        return ctx->code;
    if (evaluate_rows(ctx, task, z, task->d, false, &value[KNN_Z]) ||
        evaluate_rows(ctx, task, net->h, net->hidden, false, &value[KNN_H]))
        return ctx->code;
    return evaluate_rows(ctx, task, net->h, net->hidden, true, &value[PROBE_H]);
}
