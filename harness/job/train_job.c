// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a training job. Those that mean the same as in jobs of samplers have the same names.
#include "harness/job/train_job.h"
#include "core/digest.h"
#include "core/files.h"
#include "core/options/yaml_file.h"
#include "harness/job/list.h"
#include "harness/job/resolve.h"
#include "training/tasks/task.h"

#include <string.h>

static const char *const all_items[] = {"all", NULL};
static const char *const positives[] = {"inside", "outside", NULL};
static const char *const embeddings[] = {"fresh", "stored", NULL};
static const char *const schedules[] = {"constant", "cosine", "linear", NULL};

#define ADAM(macro, field, name, ...)                                                              \
    .option = {macro(struct hn_job_adam, of_all.field, name, __VA_ARGS__)}
static const struct hn_field adam_fields[] = {
    {HN_REALS_FIELD(struct hn_job_adam, rate, n_rates, "rate",
                    "learning rates: the largest of a "
                    "schedule",
                    .initial = "0.001", .min = 1e-12, .max = 1e38),
     .layout = HN_FLOW_ONE},
    {ADAM(HN_REAL_OPTION, decay, "weight_decay", "0", 0, 1e6, "added to the gradient (L2)")},
    {ADAM(HN_REAL_OPTION, beta1, "beta1", "0.9", 0, 0.999999, "of the first moment")},
    {ADAM(HN_REAL_OPTION, beta2, "beta2", "0.999", 0, 0.999999, "of the second moment")},
    {ADAM(HN_REAL_OPTION, epsilon, "epsilon", "1e-08", 1e-30, 1, "beside the root")},
    {ADAM(HN_INT_OPTION, warmup, "warmup", "0", 0, 1e9, "steps of a linear rise")},
    {ADAM(HN_CHOICE_OPTION, schedule, "schedule", "constant", schedules,
          "of the learning rate after its rise")},
    {0}};
static const struct hn_fields adam = {adam_fields, .size = sizeof(struct hn_job_adam)};

#define SERIES(field, name, help)                                                                  \
    .option = {HN_INT_OPTION(struct hn_run_spec, field, name, "0", 0, 1e9, help)}
static const struct hn_field series_fields[] = {
    {SERIES(snapshot, "every", "steps between snapshots; 0: none")},
    {SERIES(dense_from, "dense_from", "first step of further ones")},
    {SERIES(dense_to, "dense_to", "last step of further ones")},
    {SERIES(dense_every, "dense_every", "steps between these; 0: none")},
    {0}};
static const struct hn_fields series = {series_fields, .size = sizeof(struct hn_run_spec)};

static enum hn_code check(struct hn_context *ctx, const struct hn_yaml *root, void *out) {
    const struct hn_yaml *epochs = hn_yaml_find(root, "epochs"), *bias = hn_yaml_find(root, "bias");
    const struct hn_train_job *job = out;
    bool siglip = false;
    if (!hn_yaml_find(root, "steps") == !epochs)
        return hn_yaml_fail(ctx, epochs ? epochs : root, "give either 'steps' or 'epochs'");
    for (int64_t i = 0; i < job->n_losses; i++)
        siglip |= job->loss[i] == HN_OBJECTIVE_SIGLIP;
    if (bias && !siglip)
        return hn_yaml_fail(ctx, bias, "bias is of loss siglip, which is not trained with");
    return HN_OK;
}

#define NUMBER(macro, field, name, ...)                                                            \
    .option = {macro(struct hn_train_job, field, name, __VA_ARGS__)}
static const struct hn_field job_fields[] = {
    {.option = {HN_TEXT_OPTION(struct hn_train_job, title, "title",
                               "what reports call it; default: the file's name")}},
    {.option = {HN_TEXT_OPTION(struct hn_train_job, teacher, "teacher",
                               "file with rows of another encoder for the task's items")}},
    {.option = {HN_TEXT_OPTION(struct hn_train_job, groups, "groups",
                               "file with a group for each of the task's items")}},
    {HN_GRID_FIELD(struct hn_train_job, task, n_tasks, "task", hn_task_registry, "trained"),
     .required = true, .layout = HN_BLOCK},
    {HN_GRID_FIELD(struct hn_train_job, sampler, n_samplers, "samplers", hn_sampler_registry,
                   "that draw the batches"),
     .required = true, .layout = HN_BLOCK},
    {HN_GRID_FIELD(struct hn_train_job, weighting, n_weightings, "weightings",
                   hn_weighting_registry, "of negatives", .initial = "none"),
     .layout = HN_BLOCK},
    {HN_NAMES_FIELD(struct hn_train_job, loss, n_losses, "loss", hn_objective_registry, "losses",
                    .initial = "ntxent")},
    {HN_REALS_FIELD(struct hn_train_job, temperature, n_temperatures, "temperature", "of the loss",
                    .initial = "0.5", .min = 0.003, .max = 1000)},
    {HN_INTS_FIELD(struct hn_train_job, batch_size, n_batch_sizes, "batch_size", "items in a batch",
                   .min = 2, .max = INT32_MAX, .choices = all_items),
     .required = true},
    {HN_INTS_FIELD(struct hn_train_job, seed, n_seeds, "seeds", "of the random streams",
                   .initial = "1", .max = 0x1p53)},
    {NUMBER(HN_INT_OPTION, version, "version", "1", 1, 1, "version of the job file's layout")},
    {NUMBER(HN_INT_OPTION, run.adam.steps, "steps", NULL, 1, 1e9, "steps of the optimiser")},
    {NUMBER(HN_INT_OPTION, run.epochs, "epochs", NULL, 1, 1e6, "epochs, instead of steps")},
    {NUMBER(HN_BOOL_OPTION, run.drop_last, "drop_last", "false",
            "leave out batches that are short, as the last of an epoch")},
    {NUMBER(HN_INT_OPTION, run.uniform_epochs, "uniform_epochs", "0", 0, 1e6,
            "first epochs, which draw with uniform whatever the sampler")},
    {NUMBER(HN_INT_OPTION, run.rebuild, "rebuild", "0", 0, 1e9,
            "steps between rebuilds of the sampler; 0: as it says itself, else once per epoch")},
    {NUMBER(HN_INT_OPTION, run.evaluate, "evaluate", "0", 0, 1e9,
            "steps between evaluations; 0: first and last only")},
    {NUMBER(HN_INT_OPTION, run.checkpoint, "checkpoint", "100", 0, 1e9,
            "steps between checkpoints; 0: none but on an interrupt")},
    {NUMBER(HN_CHOICE_OPTION, positive, "positive", "inside", positives,
            "whether the positive is in the denominator")},
    {NUMBER(HN_REAL_OPTION, bias, "bias", NULL, -1000, 1000,
            "loss siglip: added to cosine / temperature, the same in all steps (default: -10)")},
    {NUMBER(HN_CHOICE_OPTION, run.embeddings, "embeddings", "fresh", embeddings,
            "what samplers are built on: of now, or as batches left them in training")},
    {NUMBER(HN_BOOL_OPTION, run.expect, "expected_loss", "false",
            "measure the loss of an epoch's batches before it begins; a step then costs twice")},
    {NUMBER(HN_BOOL_OPTION, cosines, "cosines", "false",
            "measure histograms of same-label and different-label cosines")},
    {HN_GROUP_FIELD(struct hn_train_job, adam, "adam", adam)},
    {HN_GROUP_FIELD(struct hn_train_job, run, "snapshots", series)},
    {0}};
static const struct hn_fields fields = {job_fields, .size = sizeof(struct hn_train_job),
                                        .check = check, .max = 100000, .many = "runs"};

// The file that a key names; *path: NULL without one.
static enum hn_code place_file(struct hn_context *ctx, const struct hn_train_job *job,
                               const char *name, const char **path) {
    *path = name ? hn_path_beside(ctx, job->path, name) : NULL;
    return name && !*path ? ctx->code : HN_OK;
}

enum hn_code hn_train_job_read(struct hn_context *ctx, const char *path,
                               const struct hn_text_list *set, struct hn_train_job *job) {
    const char *slash = strrchr(path, '/');
    struct hn_yaml *root;
    struct hn_digest digest;
    *job = (struct hn_train_job){.path = hn_strdup(ctx, path)};
    HN_SCOPE(ctx);
    if (!job->path || hn_yaml_read(ctx, "job file", path, set, &root))
        return ctx->code;
    hn_own(ctx, scope.outer);
    job->folder = hn_format(ctx, "%.*s", slash ? (int)(slash - path) : 0, path);
    if (!job->folder || hn_fields_read(ctx, &fields, root, job) ||
        hn_fields_text(ctx, &fields, job, true, &job->resolved) ||
        place_file(ctx, job, job->teacher, &job->run.teacher) ||
        place_file(ctx, job, job->groups, &job->run.group))
        return hn_failure(ctx);
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, job->resolved);
    hn_digest_end(&digest, job->resolved_sha256);
    return HN_OK;
}

enum hn_code hn_train_job_digest(struct hn_context *ctx, const char *data,
                                 struct hn_train_job *job) {
    const struct hn_task_setting setting = {.folder = job->folder, .data = data};
    if (!HN_ZALLOC(ctx, job->data_sha256, job->n_tasks) ||
        hn_task_digest_file(ctx, job->run.teacher, job->teacher_sha256) ||
        hn_task_digest_file(ctx, job->run.group, job->groups_sha256))
        return ctx->code;
    for (int64_t i = 0; i < job->n_tasks; i++) {
        const struct hn_job_task *own = &job->task[i];
        int64_t same = 0; // a task before it with the same data
        while (same < i && (job->task[same].type != own->type ||
                            strcmp(hn_task_folder(own->type, own->params),
                                   hn_task_folder(own->type, job->task[same].params)) != 0))
            same++;
        if (same < i)
            memcpy(job->data_sha256[i], job->data_sha256[same], sizeof *job->data_sha256);
        else if (hn_task_digest(ctx, own->type, own->params, &setting, job->data_sha256[i]))
            return ctx->code;
    }
    return HN_OK;
}
