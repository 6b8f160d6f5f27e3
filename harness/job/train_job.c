// Job files of trainings: what a task is trained with. Keys that mean the same as in jobs of
// samplers are read the same way.
#include "harness/job/train_job.h"
#include "core/digest.h"
#include "harness/job/job_private.h"
#include "training/tasks/task.h"

#include <stdio.h>
#include <string.h>

static const char *const all_items[] = {"all", NULL};
static const char *const positives[] = {"inside", "outside", NULL};
static const char *const embeddings[] = {"fresh", "stored", NULL};
static const char *const schedules[] = {"constant", "cosine", NULL};

#define NUMBER(name, kind, field, initial, min, max, choices, help)                                \
    {                                                                                              \
        name, kind, offsetof(struct hn_train_numbers, field), initial, min, max, choices, help, 0, \
            NULL                                                                                   \
    }
static const struct hn_option number_options[] = {
    NUMBER("version", HN_OPTION_INT, version, "1", 1, 1, NULL, "version of the job file's layout"),
    NUMBER("steps", HN_OPTION_INT, steps, NULL, 1, 1e9, NULL, "steps of the optimiser"),
    NUMBER("epochs", HN_OPTION_INT, epochs, NULL, 1, 1e6, NULL, "epochs, instead of steps"),
    NUMBER("uniform_epochs", HN_OPTION_INT, uniform_epochs, "0", 0, 1e6, NULL,
           "first epochs, which draw with uniform whatever the sampler"),
    NUMBER("rebuild", HN_OPTION_INT, rebuild, "0", 0, 1e9, NULL,
           "steps between rebuilds of the sampler; 0: as it says itself, else once per epoch"),
    NUMBER("evaluate", HN_OPTION_INT, evaluate, "0", 0, 1e9, NULL,
           "steps between evaluations; 0: first and last only"),
    NUMBER("checkpoint", HN_OPTION_INT, checkpoint, "100", 0, 1e9, NULL,
           "steps between checkpoints; 0: none but on an interrupt"),
    NUMBER("batch_size", HN_OPTION_INT, batch_size, NULL, 2, INT32_MAX, all_items,
           "items in a batch"),
    NUMBER("seeds", HN_OPTION_INT, seed, "1", 0, 0x1p53, NULL, "seeds of the random streams"),
    NUMBER("temperature", HN_OPTION_REAL, temperature, "0.5", 0.003, 1000, NULL, "of the loss"),
    NUMBER("positive", HN_OPTION_CHOICE, positive, "inside", 0, 0, positives,
           "whether the positive is in the denominator"),
    NUMBER("embeddings", HN_OPTION_CHOICE, embeddings, "fresh", 0, 0, embeddings,
           "what samplers are built on: of now, or as batches left them in training"),
    NUMBER("expected_loss", HN_OPTION_BOOL, expected_loss, "false", 0, 0, NULL,
           "measure the loss of an epoch's batches before it begins; a step then costs twice"),
    NUMBER("cosines", HN_OPTION_BOOL, cosines, "false", 0, 0, NULL,
           "measure histograms of same-label and different-label cosines"),
    {.name = NULL},
};

#define ADAM(name, kind, field, initial, min, max, choices, help)                                  \
    {                                                                                              \
        name, kind, offsetof(struct hn_train_schedule, field), initial, min, max, choices, help,   \
            0, NULL                                                                                \
    }
static const struct hn_option adam_options[] = {
    ADAM("rate", HN_OPTION_REAL, rate, "0.001", 1e-12, 1e38, NULL, "largest learning rate"),
    ADAM("weight_decay", HN_OPTION_REAL, decay, "0", 0, 1e6, NULL, "added to the gradient (L2)"),
    ADAM("beta1", HN_OPTION_REAL, beta1, "0.9", 0, 0.999999, NULL, "of the first moment"),
    ADAM("beta2", HN_OPTION_REAL, beta2, "0.999", 0, 0.999999, NULL, "of the second moment"),
    ADAM("epsilon", HN_OPTION_REAL, epsilon, "1e-08", 1e-30, 1, NULL, "beside the root"),
    ADAM("warmup", HN_OPTION_INT, warmup, "0", 0, 1e9, NULL, "steps of a linear rise"),
    ADAM("schedule", HN_OPTION_CHOICE, schedule, "constant", 0, 0, schedules,
         "of the learning rate after its rise"),
    {.name = NULL},
};

#define SERIES(name, initial, help)                                                                \
    {                                                                                              \
#name, HN_OPTION_INT, offsetof(struct hn_train_series, name), initial, 0, 1e9, NULL, help, \
            0, NULL                                                                                \
    }
static const struct hn_option series_options[] = {
    SERIES(every, "0", "steps between snapshots; 0: none"),
    SERIES(dense_from, "0", "first step of further ones"),
    SERIES(dense_to, "0", "last step of further ones"),
    SERIES(dense_every, "0", "steps between these; 0: none"),
    {.name = NULL},
};

static bool task_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_task_type *type = hn_tasks[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}
static bool sampler_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_sampler_type *type = hn_samplers[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}
static enum hn_code sampler_preset(struct hn_context *ctx, const void *type, void *params) {
    return hn_sampler_preset(ctx, type, params);
}
static bool weighting_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_weighting_type *type = hn_weightings[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}
static const struct hn_grid_family tasks = {"task", "tasks", task_type, NULL, NULL};
static const struct hn_grid_family samplers = {"sampler", "samplers", sampler_type, NULL,
                                               sampler_preset};
static const struct hn_grid_family weightings = {"weighting", "weightings", weighting_type,
                                                 hn_ambiguous_loss, NULL};

static const char *const keys[] = {"task", "samplers", "weightings", "loss", "adam", "snapshots"};
enum { KEYS = sizeof keys / sizeof keys[0] };

static bool is_known(const char *name) {
    for (int i = 0; i < KEYS; i++)
        if (!strcmp(keys[i], name))
            return true;
    return hn_options_find(number_options, name) != NULL;
}

static enum hn_code check_keys(struct hn_context *ctx, const struct hn_yaml *root) {
    static const char *const required[] = {"task", "samplers", "batch_size"};
    struct hn_names names = {.n = 0};
    for (int i = 0; i < KEYS; i++)
        hn_names_add(&names, keys[i]);
    for (const struct hn_option *o = number_options; o->name; o++)
        hn_names_add(&names, o->name);
    for (const struct hn_yaml *key = root->first; key; key = key->next->next)
        if (!is_known(key->text))
            return hn_yaml_fail_unknown(ctx, key, "key of a training job", &names);
    for (int i = 0; i < 3; i++)
        if (!hn_yaml_find(root, required[i]))
            return hn_yaml_fail(ctx, root, "the required key '%s' is missing", required[i]);
    const struct hn_yaml *steps = hn_yaml_find(root, "steps"),
                         *epochs = hn_yaml_find(root, "epochs");
    if (!steps == !epochs)
        return hn_yaml_fail(ctx, epochs ? epochs : root, "give either 'steps' or 'epochs'");
    return HN_OK;
}

// One number or a list of different ones, in an array of the option's 8-byte type (owned).
static void *read_list(struct hn_context *ctx, const struct hn_yaml *root, const char *name,
                       struct hn_train_numbers *numbers, int64_t *n) {
    const struct hn_option *option = hn_options_find(number_options, name);
    const struct hn_yaml *key = hn_yaml_find(root, name), *item = NULL;
    int64_t count = 1;
    if (key && hn_job_items(ctx, name, key->next, &item, &count))
        return NULL;
    int64_t *bits = hn_alloc(ctx, count, sizeof *bits);
    for (*n = 0; bits && *n < count; ++*n) {
        enum hn_code code = item ? hn_job_set(ctx, number_options, numbers, option, item) : HN_OK;
        memcpy(&bits[*n], (const char *)numbers + option->offset, sizeof *bits);
        for (int64_t j = 0; j < *n && !code; j++)
            if (bits[j] == bits[*n])
                code = hn_yaml_fail(ctx, item, "%s is given twice in '%s'", item->text, name);
        if (code) {
            hn_free(ctx, bits);
            return NULL;
        }
        item = item ? item->next : NULL;
    }
    return bits;
}

static enum hn_code read_numbers(struct hn_context *ctx, const struct hn_yaml *root,
                                 struct hn_train_job *job) {
    if (hn_options_init(ctx, number_options, &job->number))
        return ctx->code;
    job->temperature = read_list(ctx, root, "temperature", &job->number, &job->n_temperatures);
    if (!job->temperature)
        return ctx->code;
    job->batch_size = read_list(ctx, root, "batch_size", &job->number, &job->n_batch_sizes);
    if (!job->batch_size)
        return ctx->code;
    job->seed = read_list(ctx, root, "seeds", &job->number, &job->n_seeds);
    if (!job->seed)
        return ctx->code;
    for (const struct hn_yaml *key = root->first; key; key = key->next->next) {
        const struct hn_option *option = hn_options_find(number_options, key->text);
        bool list = !strcmp(key->text, "temperature") || !strcmp(key->text, "batch_size") ||
                    !strcmp(key->text, "seeds");
        if (option && !list && hn_job_set(ctx, number_options, &job->number, option, key->next))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code read_losses(struct hn_context *ctx, const struct hn_yaml *root,
                                struct hn_train_job *job) {
    const struct hn_yaml *key = hn_yaml_find(root, "loss"), *item = NULL;
    int64_t n = 1;
    if (key && hn_job_items(ctx, "loss", key->next, &item, &n))
        return ctx->code;
    job->loss = hn_alloc(ctx, n, sizeof *job->loss);
    if (!job->loss)
        return ctx->code;
    struct hn_names names = {.n = 0};
    for (int i = 0; hn_objectives[i].name; i++)
        hn_names_add(&names, hn_objectives[i].name);
    for (; job->n_losses < n; job->n_losses++, item = item ? item->next : NULL) {
        if (item && item->kind != HN_YAML_SCALAR)
            return hn_yaml_fail(ctx, item, "a loss is a name, not %s", hn_yaml_kind_name(item));
        const char *why = item ? hn_ambiguous_loss(item->text) : NULL;
        if (why)
            return hn_yaml_fail(ctx, item, "%s", why);
        int loss = item ? hn_objective_find(item->text) : HN_OBJECTIVE_NTXENT;
        if (loss < 0)
            return hn_yaml_fail_unknown(ctx, item, "loss", &names);
        job->loss[job->n_losses] = (enum hn_objective)loss;
    }
    return HN_OK;
}

static enum hn_code read_grids(struct hn_context *ctx, const struct hn_yaml *root,
                               struct hn_train_job *job) {
    const struct hn_yaml *key = hn_yaml_find(root, "weightings");
    struct hn_yaml_origin origin = {"", "default", false};
    if (hn_grid_read(ctx, &tasks, hn_yaml_find(root, "task")->next, &job->task, &job->n_tasks) ||
        hn_grid_read(ctx, &samplers, hn_yaml_find(root, "samplers")->next, &job->sampler,
                     &job->n_samplers))
        return ctx->code;
    if (key)
        return hn_grid_read(ctx, &weightings, key->next, &job->weighting, &job->n_weightings);
    struct hn_yaml *none = hn_yaml_new(ctx, HN_YAML_SCALAR, origin, "none", 4);
    enum hn_code code =
        none ? hn_grid_read(ctx, &weightings, none, &job->weighting, &job->n_weightings)
             : ctx->code;
    hn_yaml_free(ctx, none);
    return code;
}

static const struct hn_yaml *value_of(const struct hn_yaml *root, const char *name) {
    const struct hn_yaml *key = hn_yaml_find(root, name);
    return key ? key->next : NULL;
}

static enum hn_code check_size(struct hn_context *ctx, const struct hn_yaml *root,
                               const struct hn_train_job *job) {
    const int64_t count[] = {job->n_tasks,        job->n_losses,      job->n_weightings,
                             job->n_temperatures, job->n_batch_sizes, job->n_samplers,
                             job->n_seeds};
    int64_t runs = 1;
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        if (!hn_mul(runs, count[i], &runs) || runs > 100000)
            return hn_yaml_fail(ctx, root, "the job has more than 100000 runs: split it");
    return HN_OK;
}

static enum hn_code read_root(struct hn_context *ctx, const struct hn_yaml *root,
                              struct hn_train_job *job) {
    if (check_keys(ctx, root) || read_numbers(ctx, root, job) || read_losses(ctx, root, job) ||
        read_grids(ctx, root, job) ||
        hn_job_read_group(ctx, "adam", adam_options, value_of(root, "adam"), &job->adam) ||
        hn_job_read_group(ctx, "snapshots", series_options, value_of(root, "snapshots"),
                          &job->series))
        return ctx->code;
    return check_size(ctx, root, job);
}

// Text that grows; NULL after a failure.
static void add(struct hn_context *ctx, char **text, const char *more) {
    char *longer = *text ? hn_format(ctx, "%s%s", *text, more) : NULL;
    hn_free(ctx, *text);
    *text = longer;
}

static void add_quoted(struct hn_context *ctx, char **text, const char *value) {
    char one[3] = "";
    add(ctx, text, "\"");
    for (; *value; value++) {
        snprintf(one, sizeof one, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
        add(ctx, text, one);
    }
    add(ctx, text, "\"");
}

// "{K: 100, M: 500}"
static void add_options(struct hn_context *ctx, char **text, const struct hn_option *table,
                        const void *params) {
    const char *comma = "{";
    for (const struct hn_option *o = table; o->name; o++) {
        int length = hn_option_text(o, params, NULL, 0);
        char *value = length > 0 ? hn_alloc(ctx, length + 1, 1) : NULL;
        if (!value)
            continue;
        hn_option_text(o, params, value, (size_t)length + 1);
        add(ctx, text, comma);
        add(ctx, text, o->name);
        add(ctx, text, ": ");
        if (o->kind == HN_OPTION_TEXT || o->kind == HN_OPTION_SCHEDULE)
            add_quoted(ctx, text, value);
        else
            add(ctx, text, value);
        hn_free(ctx, value);
        comma = ", ";
    }
    add(ctx, text, *comma == '{' ? "{}" : "}");
}

static void add_points(struct hn_context *ctx, char **text, const char *key,
                       const struct hn_grid_point *point, int64_t n) {
    add(ctx, text, key);
    for (int64_t i = 0; i < n; i++) {
        add(ctx, text, "  - ");
        add_quoted(ctx, text, point[i].type.name);
        add(ctx, text, ": ");
        add_options(ctx, text, point[i].type.options, point[i].params);
        add(ctx, text, "\n");
    }
}

static void add_numbers(struct hn_context *ctx, char **text, const struct hn_train_job *job) {
    char number[64];
    add(ctx, text, "temperature: [");
    for (int64_t i = 0; i < job->n_temperatures; i++) {
        hn_real_text(job->temperature[i], number, sizeof number);
        add(ctx, text, i ? ", " : "");
        add(ctx, text, number);
    }
    add(ctx, text, "]\nbatch_size: [");
    for (int64_t i = 0; i < job->n_batch_sizes; i++) {
        snprintf(number, sizeof number, "%lld", (long long)job->batch_size[i]);
        add(ctx, text, i ? ", " : "");
        add(ctx, text, job->batch_size[i] ? number : "all");
    }
    add(ctx, text, "]\nseeds: [");
    for (int64_t i = 0; i < job->n_seeds; i++) {
        snprintf(number, sizeof number, "%s%lld", i ? ", " : "", (long long)job->seed[i]);
        add(ctx, text, number);
    }
    add(ctx, text, "]\n");
    for (const struct hn_option *o = number_options; o->name; o++) {
        bool list = !strcmp(o->name, "temperature") || !strcmp(o->name, "batch_size") ||
                    !strcmp(o->name, "seeds");
        if (list || hn_option_text(o, &job->number, number, sizeof number) <= 0)
            continue;
        add(ctx, text, o->name);
        add(ctx, text, ": ");
        add(ctx, text, number);
        add(ctx, text, "\n");
    }
}

// Read as a job file it gives the same job.
static enum hn_code resolve(struct hn_context *ctx, struct hn_train_job *job) {
    char *text = hn_strdup(ctx, "");
    struct hn_digest digest;
    add_points(ctx, &text, "task:\n", job->task, job->n_tasks);
    add_points(ctx, &text, "samplers:\n", job->sampler, job->n_samplers);
    add_points(ctx, &text, "weightings:\n", job->weighting, job->n_weightings);
    add(ctx, &text, "loss: [");
    for (int64_t i = 0; i < job->n_losses; i++) {
        add(ctx, &text, i ? ", " : "");
        add(ctx, &text, hn_objectives[job->loss[i]].name);
    }
    add(ctx, &text, "]\n");
    add_numbers(ctx, &text, job);
    add(ctx, &text, "adam: ");
    add_options(ctx, &text, adam_options, &job->adam);
    add(ctx, &text, "\nsnapshots: ");
    add_options(ctx, &text, series_options, &job->series);
    add(ctx, &text, "\n");
    job->resolved = text;
    if (!text)
        return HN_MEMORY;
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, text);
    hn_digest_end(&digest, job->resolved_sha256);
    return HN_OK;
}

enum hn_code hn_train_job_read(struct hn_context *ctx, const char *path,
                               const struct hn_text_list *set, struct hn_train_job *out) {
    struct hn_yaml *root = NULL;
    const char *slash = strrchr(path, '/');
    *out = (struct hn_train_job){.n_tasks = 0};
    out->path = hn_strdup(ctx, path);
    out->folder = hn_format(ctx, "%.*s", slash ? (int)(slash - path) : 0, path);
    enum hn_code code =
        out->path && out->folder ? hn_job_parse_file(ctx, path, set, &root) : hn_failure(ctx);
    if (!code)
        code = read_root(ctx, root, out);
    if (!code)
        code = resolve(ctx, out);
    hn_yaml_free(ctx, root);
    if (code) {
        hn_train_job_free(ctx, out);
        hn_yaml_clean_message(ctx);
    }
    return code;
}

enum hn_code hn_train_job_digest(struct hn_context *ctx, const char *data,
                                 struct hn_train_job *job) {
    const struct hn_task_setting setting = {.folder = job->folder, .data = data};
    job->data_sha256 = hn_zalloc(ctx, job->n_tasks, sizeof *job->data_sha256);
    if (!job->data_sha256)
        return ctx->code;
    for (int64_t i = 0; i < job->n_tasks; i++) {
        const struct hn_grid_point *own = &job->task[i];
        int64_t same = 0; // a task before it with the same data
        while (same < i && (job->task[same].type.type != own->type.type ||
                            strcmp(hn_task_folder(own->type.type, own->params),
                                   hn_task_folder(own->type.type, job->task[same].params)) != 0))
            same++;
        if (same < i)
            memcpy(job->data_sha256[i], job->data_sha256[same], sizeof *job->data_sha256);
        else if (hn_task_digest(ctx, own->type.type, own->params, &setting, job->data_sha256[i]))
            return ctx->code;
    }
    return HN_OK;
}

void hn_train_job_free(struct hn_context *ctx, struct hn_train_job *job) {
    hn_free(ctx, job->data_sha256);
    hn_grid_free(ctx, job->task, job->n_tasks);
    hn_grid_free(ctx, job->sampler, job->n_samplers);
    hn_grid_free(ctx, job->weighting, job->n_weightings);
    hn_free(ctx, job->path);
    hn_free(ctx, job->folder);
    hn_free(ctx, job->loss);
    hn_free(ctx, job->temperature);
    hn_free(ctx, job->batch_size);
    hn_free(ctx, job->seed);
    hn_free(ctx, job->resolved);
    *job = (struct hn_train_job){.n_tasks = 0};
}
