// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks of images: their files, an encoder that is trained on two views of every image of a batch,
// their columns, and the hooks that they share. Their state begins with struct hn_image_net.
#pragma once

#include "datasets/images.h"
#include "training/net/momentum.h"
#include "training/net/net.h"
#include "training/tasks/task.h"

// The last two are of tasks whose encoder reads frozen features, at step 0: the features alone.
enum { HN_IMAGE_COLUMNS = 3, HN_FEATURE_COLUMNS = 2 };
extern const struct hn_column hn_image_columns[HN_IMAGE_COLUMNS + HN_FEATURE_COLUMNS];

extern const struct hn_task_data hn_image_data; // CIFAR-10 and its like

// First members of the params of such a task, and the options of the probe.
struct hn_image_params {
    char *data;
    int64_t n, out, data_seed;
    bool probe;     // whether a linear probe is fitted to h
    double probe_c; // its C; 0: chosen by validation
    // For loss moco:
    int64_t queue;
    double momentum;
};
#define HN_IMAGE_PROBE_OPTIONS                                                                     \
    {HN_BOOL_OPTION(struct hn_image_params, probe, "probe", "true",                                \
                    "fit a linear probe on h, its lengths kept, at every evaluation")},            \
    {                                                                                              \
        HN_REAL_OPTION(struct hn_image_params, probe_c, "probe_c", "0", 0, 1e9,                    \
                       "C of that probe (0: the best of 1, 10 and 100 by validation; 1e6: "        \
                       "without a penalty to speak of)")                                           \
    }
#define HN_IMAGE_MOMENTUM_OPTIONS                                                                  \
    {HN_INT_OPTION(struct hn_image_params, queue, "queue", "4096", 1, HN_MOMENTUM_ROWS_MAX,        \
                   "negatives of loss moco: keys of earlier batches")},                            \
    {                                                                                              \
        HN_REAL_OPTION(struct hn_image_params, momentum, "momentum", "0.99", 0, 1,                 \
                       "of loss moco: share of itself that the encoder of keys keeps in a step")   \
    }
enum {
    HN_IMAGE_OBJECTIVES = HN_OBJECTIVES_PAIRS | 1 << HN_OBJECTIVE_QUEUE | 1 << HN_OBJECTIVE_SUPCON |
                          1 << HN_OBJECTIVE_ATTRACT
};

// An encoder, its head included, and what its passes need.
struct hn_image_net {
    struct hn_net encoder;
    int hidden_layer; // whose output is h
    int64_t hidden;   // its columns
    // Inputs of the encoder for a block of items: clean (view 0), or in augmented view 1 or 2,
    // drawn by step. They may lie in x.
    const hn_real *(*load)(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                           int64_t first, int64_t rows);
    const float *features; // [n_all x encoder.in] frozen ones that are evaluated alone, or NULL
    // The rest is set by hn_image_open().
    struct hn_momentum momentum; // of loss moco; rows = 0: another loss
    struct hn_tape tape, wide;   // of training, of embedding
    struct hn_loss_work loss;
    hn_real *x;    // [max(2 batch_size, task->block) x encoder.in]
    hn_real *dz;   // [2 batch_size x task->d]
    float *h;      // [task->n_all x hidden] of the last clean embedding
    int8_t *split; // [task->n_all]
};

// After the encoder is built and the sizes of the task, its block too, are set: allocates, and sets
// the split and the names of labels, of `data`.
HN_MUST_USE enum hn_code hn_image_open(struct hn_context *ctx, struct hn_task *task,
                                       struct hn_image_net *net, const struct hn_images *data);
// A task's step once net->x holds the first views of the batch, then the second ones: both go
// through batch norm together, but for loss moco, where the second ones go through the copy.
void hn_image_step(struct hn_context *ctx, struct hn_task *task, const struct hn_task_batch *batch,
                   double *loss, float *z1);

// Hooks of the task type. Evaluated are z and h (the representation before the head) of the clean
// images: kNN accuracy of both, and the probe's.
void hn_image_init(struct hn_task *task);
enum hn_code hn_image_embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                            int64_t first, int64_t rows, float *z);
enum hn_code hn_image_evaluate(struct hn_context *ctx, struct hn_task *task, int64_t step,
                               const float *z, double *value);
