// SPDX-License-Identifier: GPL-3.0-or-later
// The task type: what is trained on what. One constant struct per task, hn_<name>_task, at the end
// of its file, and one line in the list of task.c. A task owns data and networks; the loop owns
// sampler, optimiser and time.
#pragma once

#include "core/digest.h"
#include "core/options/option.h"
#include "core/table.h"
#include "datasets/items.h"
#include "training/net/layer.h"
#include "training/net/loss.h"

// Setting of a run, known to its task before anything is opened.
struct hn_task_setting {
    const char *folder; // of the job file: relative paths of data are against it
    const char *data;   // --data DIR, or NULL
    const char *cache;  // folder for what is made once from the data; NULL: the current one
    uint64_t seed;
    int64_t batch_size; // 0: all items
    struct hn_loss_spec loss;
};

// Told how far an evaluation is; NULL: nobody.
struct hn_task_watch {
    void (*evaluated)(void *data, int64_t done, int64_t of);
    void *data;
};

// Items are what is sampled. Others (test images) may follow them in embeddings and labels.
struct hn_task {
    const struct hn_task_type *type;
    const void *params; // borrowed, filled from type->options
    void *state;        // [type->state_size], zeroed before open
    struct hn_task_setting setting;
    char *path; // of the folder of its data
    struct hn_task_watch watch;

    // Set by open, the first four by hn_task_set_items().
    int64_t n;                     // items that samplers draw from
    int64_t n_all;                 // items with embeddings: n and those kept for evaluation
    int64_t d;                     // columns of the embedding that the loss sees
    int64_t batch_size;            // as in the setting, or n
    const int32_t *label;          // [n_all], -1 = unlabelled
    const int8_t *split;           // [n_all] 0 train, 1 validation, 2 test, -1 none; or NULL
    const char *const *label_name; // [n_label_names] or NULL
    int64_t n_label_names;
    const struct hn_graph *graph;       // of the n items, for `hops`; NULL: none
    const struct hn_features *features; // of the n items, for `ring`; NULL: none
    const struct hn_tuples *tuples;     // the n items as such; NULL: items of another kind
    int64_t block;                      // items embedded at once; 0: all
    void *kept;         // [kept_bytes] what later steps need besides weights, of checkpoints; NULL
    int64_t kept_bytes; // likewise
    _Atomic int64_t flops;     // of the matrix products of steps so far
    struct hn_weights weights; // the task's networks are built on it
};

// One step: a batch of ids, and the negatives of each anchor where the sampler gives them.
struct hn_task_batch {
    const int32_t *id; // [n]
    int64_t n;
    const struct hn_loss_lists *lists; // keys are all items, by id; NULL: the rest of the batch
    int64_t step;                      // of the optimiser, from 0
    double progress;                   // step / steps
    struct hn_loss_spec loss;          // with the weighting parameters of this step
};

// The files that a task reads, all in one folder.
struct hn_task_data {
    const char *folder;       // below --data, where the option `data` is not given
    const char *folders[3];   // patterns of all folders that hold data of this kind: "tudataset/*"
    const char *archive;      // folder that the download unpacks to; NULL: the folder's last name
    const char *const *files; // patterns of names, NULL-terminated. Reproducing a paper, the first
                              // one tells data sets apart: its '*' is the folder's last name
    int required;             // the first so many must be there
    const char *below;        // a folder in it that has some of them: "qrels"; or NULL
    const char *items;        // what samplers draw from: "nodes"
    const char *origin;       // which files these are, and where users get them
    const struct hn_task_data *other; // other files that will do as well; NULL: there are none
};

struct hn_task_type {
    const char *name;
    const char *summary; // one line
    const char *source;  // paper and position
    const char *note;    // where this differs from the paper, "" if nowhere
    const struct hn_option *options;
    size_t params_size, state_size;
    const struct hn_task_data *data;
    const struct hn_column *columns; // of `evaluate`; the first is the accuracy of summaries
    int n_columns;
    int of_data; // so many columns, the last ones, are of data and options alone: step 0 has them
    unsigned objectives; // bit 1 << enum hn_objective for those it can train with
    bool lists;          // whether it takes negatives per anchor

    // Required. Reads data, sets the fields of the task, builds networks on task->weights (not
    // allocated yet: hn_weights_open() follows). Allocations are freed with the state.
    enum hn_code (*open)(struct hn_context *ctx, struct hn_task *task);
    // Optional. Reads the data once before runs do, so that notes about them are said once.
    void (*survey)(struct hn_context *ctx, const char *path);
    // Required. First parameters by setting.seed (hn_net_init of every network).
    void (*init)(struct hn_task *task);
    // Required. Forward, loss, backward: adds to weights.grad (zeroed before) and returns the loss.
    // z1 [n x d], if not NULL, is filled with the embeddings of the batch's first view as trained.
    enum hn_code (*step)(struct hn_context *ctx, struct hn_task *task,
                         const struct hn_task_batch *batch, double *loss, float *z1);
    // Required. Evaluation-mode embeddings z[rows x d], unit rows, of the items from `first` on, a
    // block of hn_task_embed(): clean (view 0), or in augmented view 1 or 2, drawn by step.
    enum hn_code (*embed)(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                          int64_t first, int64_t rows, float *z);
    // Required. value[n_columns] (NaN before): accuracies and the like. z[n_all x d] are the clean
    // evaluation-mode embeddings of now.
    enum hn_code (*evaluate)(struct hn_context *ctx, struct hn_task *task, int64_t step,
                             const float *z, double *value);
    // Required where of_data > 0. value[of_data] (NaN before). The runs of a job share them.
    enum hn_code (*evaluate_data)(struct hn_context *ctx, struct hn_task *task, double *value);
    // Optional. Gives back what is not memory (files, maps); also called after a failed open.
    void (*close)(struct hn_context *ctx, struct hn_task *task);
};

extern const struct hn_task_type *const hn_tasks[]; // NULL-terminated
const struct hn_task_type *hn_task_find(const char *name);

// Workers of steps, whose products are counted.
struct hn_workers hn_task_workers(const struct hn_context *ctx, struct hn_task *task);

// A training pass of a step, without views and inputs.
struct hn_pass hn_task_pass(const struct hn_context *ctx, struct hn_task *task, int64_t step);

// Life cycle: open (also the weights), init, ..., close.
HN_MUST_USE enum hn_code hn_task_open(struct hn_context *ctx, const struct hn_task_type *type,
                                      const void *params, const struct hn_task_setting *setting,
                                      struct hn_task *task);
void hn_task_close(struct hn_context *ctx, struct hn_task *task); // also after a failed open
// Embeddings z[count x d] of the first `count` items, as the type's hook: count <= n_all of clean
// ones, n of views. Blocks come in ascending order. HN_INTERRUPTED between them.
HN_MUST_USE enum hn_code hn_task_embed(struct hn_context *ctx, struct hn_task *task, int view,
                                       int64_t step, int64_t count, float *z);
// For open. Sets n, n_all, d and batch_size. HN_DATA if batches are larger than n.
HN_MUST_USE enum hn_code hn_task_set_items(struct hn_context *ctx, struct hn_task *task, int64_t n,
                                           int64_t n_all, int64_t d);

// The data of tasks. The folder: the option `data` of a task, else the one it declares.
const char *hn_task_folder(const struct hn_task_type *type, const void *params);

// Its path: absolute as written, below --data, or below the job's folder. Owned.
HN_MUST_USE char *hn_task_path(struct hn_context *ctx, const struct hn_task_type *type,
                               const void *params, const struct hn_task_setting *setting);

// SHA-256 of the files that the task reads, in the order of their names; "" where there are none,
// or one cannot be read (opening the task says why).
HN_MUST_USE enum hn_code hn_task_digest(struct hn_context *ctx, const struct hn_task_type *type,
                                        const void *params, const struct hn_task_setting *setting,
                                        char text[HN_DIGEST_TEXT]);

// SHA-256 of one file in the same way; "" for NULL, or where it cannot be read.
HN_MUST_USE enum hn_code hn_task_digest_file(struct hn_context *ctx, const char *path,
                                             char text[HN_DIGEST_TEXT]);

// HN_DATA if a required file is missing, naming folder, files and origin. Says what is remarkable.
HN_MUST_USE enum hn_code hn_task_check_data(struct hn_context *ctx, const struct hn_task_type *type,
                                            const void *params,
                                            const struct hn_task_setting *setting);

// The data declared by a task for a folder of that name ("cora", "tudataset/PROTEINS"), or NULL.
const struct hn_task_data *hn_task_data_find(const char *folder);

// Looks for the data of `folder` below `root`: under that name, its last part, the archive's name,
// or in root itself. *path: owned, NULL if they are nowhere or no task declares them.
HN_MUST_USE enum hn_code hn_task_data_locate(struct hn_context *ctx, const char *root,
                                             const char *folder, char **path);
