// What tasks of images share: their files, an encoder that is trained on two views of every image
// of a batch, their columns and their evaluation.
#ifndef HN_TRAINING_TASKS_IMAGE_TASK_H
#define HN_TRAINING_TASKS_IMAGE_TASK_H

#include "training/tasks/task.h"

// The last two are of tasks whose encoder stands on frozen features, at step 0: the features alone.
enum { HN_IMAGE_COLUMNS = 3, HN_FEATURE_COLUMNS = 2 };
extern const struct hn_column hn_image_columns[HN_IMAGE_COLUMNS + HN_FEATURE_COLUMNS];

// CIFAR-10's files, those that have to be there first, and where users get them.
extern const char *const hn_image_files[];
extern const char hn_image_origin[];
enum { HN_IMAGE_REQUIRED = 2 };

// Of a task's params, under the name `probe`: whether a linear probe is fitted to h, and its C (0:
// chosen by validation). And the two entries of its option table.
struct hn_image_probe {
    bool fit;
    double c;
};
#define HN_IMAGE_PROBE_OPTIONS(params)                                                             \
    {.name = "probe",                                                                              \
     .kind = HN_OPTION_BOOL,                                                                       \
     .offset = offsetof(params, probe.fit),                                                        \
     .initial = "true",                                                                            \
     .help = "fit a linear probe on h, its lengths kept, at every evaluation"},                    \
    {                                                                                              \
        .name = "probe_c", .kind = HN_OPTION_REAL, .offset = offsetof(params, probe.c),            \
        .initial = "0", .max = 1e9,                                                                \
        .help = "C of that probe (0: the best of 1, 10 and 100 by validation; 1e6: without a "     \
                "penalty to speak of)"                                                             \
    }

// An encoder, its head included, and what its passes need.
struct hn_image_net {
    struct hn_net encoder;
    int hidden_layer;          // whose output is h
    int64_t hidden;            // its columns
    struct hn_tape tape, wide; // of training, of embedding
    struct hn_loss_work loss;
    hn_real *x;    // [max(2 batch_size, rows) x encoder.in]
    hn_real *dz;   // [2 batch_size x task->d]
    float *h;      // [task->n_all x hidden]
    int8_t *split; // [task->n_all]
};

// After the encoder is built and the sizes of the task are set: allocates, and sets the split.
// rows: embedded at once.
HN_MUST_USE enum hn_code hn_image_open(struct hn_context *ctx, struct hn_task *task,
                                       struct hn_image_net *net, int64_t rows);
void hn_image_free(struct hn_context *ctx, struct hn_image_net *net); // zeroed is fine
// A task's step once net->x holds the first views of the batch, then the second ones: both go
// through batch norm together.
void hn_image_step(struct hn_context *ctx, struct hn_task *task, struct hn_image_net *net,
                   const struct hn_task_batch *batch, double *loss, float *z1);
// z[rows x task->d], and h[rows x hidden] unless NULL, of x in evaluation mode.
void hn_image_encode(struct hn_context *ctx, struct hn_task *task, struct hn_image_net *net,
                     const hn_real *x, int64_t rows, float *z, float *h);
// value[HN_IMAGE_COLUMNS]: kNN accuracy of z[n_all x d] and of net->h (what stands before the
// head), and that of the probe.
HN_MUST_USE enum hn_code hn_image_evaluate(struct hn_context *ctx, const struct hn_task *task,
                                           const struct hn_image_net *net, const float *z,
                                           struct hn_image_probe probe, double *value);
// value[HN_FEATURE_COLUMNS]: kNN accuracy of feature[n_all x d], and that of the probe.
HN_MUST_USE enum hn_code hn_image_evaluate_features(struct hn_context *ctx,
                                                    const struct hn_task *task,
                                                    const float *feature, int64_t d,
                                                    struct hn_image_probe probe, double *value);

#endif
