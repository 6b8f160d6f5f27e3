// The meaning of a job file: which keys there are, what they take, what they default to. Ranges and
// types of numbers stand in option tables, as those of samplers do.
#include "core/files.h"
#include "harness/job/job_private.h"

#include <string.h>

// Every number that stands by itself or in a list. 2^53: what a double, and so JSON, holds exactly.
struct numbers {
    int64_t version, step, batch_size, batches, epochs, seed;
    double temperature;
};
#define NUMBER(name, kind, field, initial, min, max, help)                                         \
    { name, kind, offsetof(struct numbers, field), initial, min, max, NULL, help, 0, NULL }
static const struct hn_option number_options[] = {
    NUMBER("version", HN_OPTION_INT, version, "1", 1, 1, "version of the job file's layout"),
    NUMBER("steps", HN_OPTION_INT, step, NULL, 0, 0x1p53, "steps of the snapshots"),
    NUMBER("batch_size", HN_OPTION_INT, batch_size, NULL, 2, INT32_MAX, "items in a batch"),
    NUMBER("batches", HN_OPTION_INT, batches, "300", 1, 1e9, "batches per cell"),
    NUMBER("epochs", HN_OPTION_INT, epochs, NULL, 1, 1e6, "epochs per cell"),
    NUMBER("seeds", HN_OPTION_INT, seed, "1", 0, 0x1p53, "seeds of the random streams"),
    NUMBER("temperature", HN_OPTION_REAL, temperature, "0.5", 0.003, 1000, "of the loss"),
    {.name = NULL},
};

struct limits {
    int64_t memory;
};
static const struct hn_option limits_options[] = {
    {"memory", HN_OPTION_SIZE, offsetof(struct limits, memory), NULL, 0, 0x1p60, NULL,
     "memory that a run may use", 0, NULL},
    {.name = NULL},
};

#define TIMING(name, kind, initial, min, max, help)                                                \
    { #name, kind, offsetof(struct hn_job_timing, name), initial, min, max, NULL, help, 0, NULL }
const struct hn_option hn_job_timing_options[] = {
    TIMING(reps, HN_OPTION_INT, "1", 1, 10000, "timed repetitions"),
    TIMING(warmup, HN_OPTION_INT, "0", 0, 10000, "repetitions before that are not timed"),
    TIMING(interleave, HN_OPTION_BOOL, "false", 0, 0, "one repetition of each cell in turn"),
    {.name = NULL},
};

// What a value may be, for an error.
static const char *wanted(const struct hn_option *option) {
    switch (option->kind) {
    case HN_OPTION_INT: return "a whole number";
    case HN_OPTION_REAL: return "a number";
    case HN_OPTION_BOOL: return "true or false";
    default: return "a text";
    }
}

enum hn_code hn_job_set(struct hn_context *ctx, const struct hn_option *table, void *params,
                        const struct hn_option *option, const struct hn_yaml *value) {
    if (value->kind != HN_YAML_SCALAR || (value->plain && !value->text[0]))
        return hn_yaml_fail(ctx, value, "'%s' wants %s, not %s", option->name, wanted(option),
                            hn_yaml_kind_name(value));
    bool bare = option->kind == HN_OPTION_INT || option->kind == HN_OPTION_REAL ||
                option->kind == HN_OPTION_BOOL;
    if (bare && !value->plain)
        return hn_yaml_fail(ctx, value, "'%s' wants %s, not a text in quotes", option->name,
                            wanted(option));
    enum hn_code code = hn_options_set(ctx, table, params, option->name, value->text);
    return code == HN_USAGE ? hn_yaml_fail_in(ctx, value) : code;
}

enum hn_code hn_job_items(struct hn_context *ctx, const char *key, const struct hn_yaml *value,
                          const struct hn_yaml **first, int64_t *n) {
    bool list = value->kind == HN_YAML_LIST;
    *first = list ? value->first : value;
    *n = list ? value->count : 1;
    if (*n == 0 || (!list && value->kind == HN_YAML_SCALAR && value->plain && !value->text[0]))
        return hn_yaml_fail(ctx, value, "'%s' is empty", key);
    return HN_OK;
}

static bool is_word(const struct hn_yaml *value, const char *word) {
    return value->kind == HN_YAML_SCALAR && !strcmp(value->text, word);
}

// A list that allows no words but `all` is given a word: it is misspelt.
static enum hn_code check_word(struct hn_context *ctx, const struct hn_yaml *value) {
    struct hn_names names = {.n = 0};
    hn_names_add(&names, "all");
    return value->kind == HN_YAML_SCALAR && hn_suggest(value->text, names.name, names.n)
               ? hn_yaml_fail_unknown(ctx, value, "word", &names)
               : HN_OK;
}

// Reads a number or a list of different ones into an array of the option's 8-byte type (owned).
// NULL value: the default alone. NULL, with the message recorded, for a failure.
static void *read_numbers(struct hn_context *ctx, const char *name, const struct hn_yaml *value,
                          int64_t *n) {
    const struct hn_option *option = hn_options_find(number_options, name);
    const struct hn_yaml *item = NULL;
    struct numbers numbers;
    int64_t count = 1;
    if (hn_options_init(ctx, number_options, &numbers) ||
        (value && hn_job_items(ctx, name, value, &item, &count)))
        return NULL;
    int64_t *bits = hn_alloc(ctx, count, sizeof *bits);
    if (!bits)
        return NULL;
    for (int64_t i = 0; i < count; i++, item = item ? item->next : NULL) {
        if (item && hn_job_set(ctx, number_options, &numbers, option, item))
            goto failed;
        memcpy(&bits[i], (const char *)&numbers + option->offset, sizeof bits[i]);
        for (int64_t j = 0; j < i; j++)
            if (bits[j] == bits[i]) {
                hn_yaml_fail(ctx, item, "%s is given twice in '%s'", item->text, name);
                goto failed;
            }
    }
    *n = count;
    return bits;
failed:
    hn_free(ctx, bits);
    return NULL;
}

// One number, where a list makes no sense.
static enum hn_code read_number(struct hn_context *ctx, const char *name,
                                const struct hn_yaml *value, int64_t *out) {
    const struct hn_option *option = hn_options_find(number_options, name);
    struct numbers numbers;
    if (hn_options_init(ctx, number_options, &numbers) ||
        (value && hn_job_set(ctx, number_options, &numbers, option, value)))
        return ctx->code;
    memcpy(out, (const char *)&numbers + option->offset, sizeof *out);
    return HN_OK;
}

// A mapping of options, such as `timing`. NULL value: the defaults.
enum hn_code hn_job_read_group(struct hn_context *ctx, const char *name,
                               const struct hn_option *table, const struct hn_yaml *value,
                               void *params) {
    if (hn_options_init(ctx, table, params))
        return ctx->code;
    if (!value)
        return HN_OK;
    if (value->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, value, "'%s' wants a mapping, not %s", name,
                            hn_yaml_kind_name(value));
    for (const struct hn_yaml *key = value->first; key; key = key->next->next) {
        const struct hn_option *option = hn_options_find(table, key->text);
        struct hn_names names = {.n = 0};
        for (const struct hn_option *o = table; o->name; o++)
            hn_names_add(&names, o->name);
        if (!option)
            return hn_yaml_fail_unknown(ctx, key, "key", &names);
        if (hn_job_set(ctx, table, params, option, key->next))
            return ctx->code;
    }
    return HN_OK;
}

// What every key's function is given.
struct reader {
    struct hn_context *ctx;
    const struct hn_yaml *root;
    const char *(*figure)(int64_t i); // names of figures; NULL = any
    struct hn_job *job;
};

static enum hn_code read_version(struct reader *r, const struct hn_yaml *value) {
    int64_t version;
    return read_number(r->ctx, "version", value, &version);
}

// `path` as it is to be opened by a process in the current folder.
static char *from_folder_of(struct hn_context *ctx, const char *file, const char *path) {
    int folder = path[0] == '/' ? 0 : (int)(hn_base_name(file) - file);
    return hn_format(ctx, "%.*s%s", folder, file, path);
}

static enum hn_code add_snapshot(struct hn_context *ctx, const struct hn_yaml *item,
                                 struct hn_job *job) {
    if (item->kind != HN_YAML_SCALAR || !item->text[0])
        return hn_yaml_fail(ctx, item, "'snapshots' wants file names, not %s",
                            hn_yaml_kind_name(item));
    int64_t n = job->n_snapshots;
    for (int64_t i = 0; i < n; i++)
        if (!strcmp(job->snapshot_written[i], item->text))
            return hn_yaml_fail(ctx, item, "'%.*s' is given twice in 'snapshots'",
                                hn_yaml_clip(item->text), item->text);
    job->n_snapshots++; // so that what follows is freed
    job->snapshot_written[n] = hn_strdup(ctx, item->text);
    job->snapshot[n] = from_folder_of(ctx, job->path, item->text);
    return job->snapshot_written[n] && job->snapshot[n] ? HN_OK : ctx->code;
}

static enum hn_code read_snapshots(struct reader *r, const struct hn_yaml *value) {
    const struct hn_yaml *item;
    int64_t n;
    if (hn_job_items(r->ctx, "snapshots", value, &item, &n))
        return r->ctx->code;
    r->job->snapshot = hn_zalloc(r->ctx, n, sizeof *r->job->snapshot);
    r->job->snapshot_written = hn_zalloc(r->ctx, n, sizeof *r->job->snapshot_written);
    if (!r->job->snapshot || !r->job->snapshot_written)
        return r->ctx->code;
    for (; n > 0; n--, item = item->next)
        if (add_snapshot(r->ctx, item, r->job))
            return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_steps(struct reader *r, const struct hn_yaml *value) {
    if (!value || is_word(value, "all"))
        return HN_OK;
    if (check_word(r->ctx, value))
        return r->ctx->code;
    r->job->step = read_numbers(r->ctx, "steps", value, &r->job->n_steps);
    return r->job->step ? HN_OK : r->ctx->code;
}

static enum hn_code read_batch_size(struct reader *r, const struct hn_yaml *value) {
    r->job->batch_size = read_numbers(r->ctx, "batch_size", value, &r->job->n_batch_sizes);
    return r->job->batch_size ? HN_OK : r->ctx->code;
}

static enum hn_code read_batches(struct reader *r, const struct hn_yaml *value) {
    if (!value && hn_yaml_find(r->root, "epochs"))
        return HN_OK;
    return read_number(r->ctx, "batches", value, &r->job->batches);
}

static enum hn_code read_epochs(struct reader *r, const struct hn_yaml *value) {
    if (!value)
        return HN_OK;
    const struct hn_yaml *batches = hn_yaml_find(r->root, "batches");
    const struct hn_yaml *epochs = hn_yaml_find(r->root, "epochs");
    if (batches) {
        bool epochs_last = epochs->line > batches->line ||
                           (epochs->line == batches->line && epochs->column > batches->column);
        return hn_yaml_fail(r->ctx, epochs_last ? epochs : batches,
                            "give either 'batches' or 'epochs', not both");
    }
    return read_number(r->ctx, "epochs", value, &r->job->epochs);
}

static enum hn_code read_seeds(struct reader *r, const struct hn_yaml *value) {
    r->job->seed = read_numbers(r->ctx, "seeds", value, &r->job->n_seeds);
    return r->job->seed ? HN_OK : r->ctx->code;
}

static enum hn_code read_samplers(struct reader *r, const struct hn_yaml *value) {
    return hn_job_read_samplers(r->ctx, value, r->job);
}

static enum hn_code add_loss(struct hn_context *ctx, const struct hn_yaml *item,
                             struct hn_job *job) {
    if (item->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, item, "a loss is a name, not %s", hn_yaml_kind_name(item));
    const char *why = hn_ambiguous_loss(item->text);
    if (why)
        return hn_yaml_fail(ctx, item, "%s", why);
    int loss = hn_loss_find(item->text);
    struct hn_names names = {.n = 0};
    for (int i = 0; hn_losses[i].name; i++)
        hn_names_add(&names, hn_losses[i].name);
    if (loss < 0)
        return hn_yaml_fail_unknown(ctx, item, "loss", &names);
    for (int64_t i = 0; i < job->n_losses; i++)
        if ((int)job->loss[i] == loss)
            return hn_yaml_fail(ctx, item, "'%s' is given twice in 'loss'", item->text);
    job->loss[job->n_losses++] = (enum hn_loss)loss;
    return HN_OK;
}

static enum hn_code read_loss(struct reader *r, const struct hn_yaml *value) {
    const struct hn_yaml *item = NULL;
    int64_t n = 1;
    if (value && hn_job_items(r->ctx, "loss", value, &item, &n))
        return r->ctx->code;
    r->job->loss = hn_alloc(r->ctx, n, sizeof *r->job->loss);
    if (!r->job->loss)
        return r->ctx->code;
    if (!value)
        r->job->loss[r->job->n_losses++] = HN_LOSS_NTXENT;
    for (; value && n > 0; n--, item = item->next)
        if (add_loss(r->ctx, item, r->job))
            return r->ctx->code;
    return HN_OK;
}

static enum hn_code read_weightings(struct reader *r, const struct hn_yaml *value) {
    if (value)
        return hn_job_read_weightings(r->ctx, value, r->job);
    struct hn_yaml_origin origin = {"", "default", false};
    struct hn_yaml *none = hn_yaml_new(r->ctx, HN_YAML_SCALAR, origin, "none", 4);
    if (!none)
        return r->ctx->code;
    enum hn_code code = hn_job_read_weightings(r->ctx, none, r->job);
    hn_yaml_free(r->ctx, none);
    return code;
}

static enum hn_code read_temperature(struct reader *r, const struct hn_yaml *value) {
    r->job->temperature = read_numbers(r->ctx, "temperature", value, &r->job->n_temperatures);
    return r->job->temperature ? HN_OK : r->ctx->code;
}

static enum hn_code read_metrics(struct reader *r, const struct hn_yaml *value) {
    return hn_job_read_metrics(r->ctx, value, r->job);
}

static enum hn_code read_timing(struct reader *r, const struct hn_yaml *value) {
    return hn_job_read_group(r->ctx, "timing", hn_job_timing_options, value, &r->job->timing);
}

static enum hn_code read_limits(struct reader *r, const struct hn_yaml *value) {
    struct limits limits;
    if (hn_job_read_group(r->ctx, "limits", limits_options, value, &limits))
        return r->ctx->code;
    r->job->memory_limit = limits.memory;
    return HN_OK;
}

static enum hn_code check_figure(struct reader *r, const struct hn_yaml *item) {
    struct hn_names names = {.n = 0};
    const char *id;
    hn_names_add(&names, "all");
    hn_names_add(&names, "none");
    for (int64_t i = 0; (id = r->figure(i)) != NULL; i++) {
        if (!strcmp(item->text, id))
            return HN_OK;
        hn_names_add(&names, id);
    }
    return hn_yaml_fail_unknown(r->ctx, item, "figure", &names);
}

static enum hn_code add_figure(struct reader *r, const struct hn_yaml *item) {
    struct hn_context *ctx = r->ctx;
    struct hn_job *job = r->job;
    if (item->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, item, "'figures' wants names, not %s", hn_yaml_kind_name(item));
    if (r->figure && check_figure(r, item))
        return ctx->code;
    for (int64_t i = 0; i < job->n_figures; i++)
        if (!strcmp(job->figure[i], item->text))
            return hn_yaml_fail(ctx, item, "'%s' is given twice in 'figures'", item->text);
    char *id = hn_strdup(ctx, item->text);
    if (!id)
        return ctx->code;
    job->figure[job->n_figures++] = id;
    return HN_OK;
}

// Without the key no figures are drawn: gnuplot is needed only by those who ask for them.
static enum hn_code read_figures(struct reader *r, const struct hn_yaml *value) {
    const struct hn_yaml *item;
    int64_t n;
    r->job->figures_all = value && is_word(value, "all");
    if (!value || r->job->figures_all || is_word(value, "none"))
        return HN_OK;
    if (hn_job_items(r->ctx, "figures", value, &item, &n))
        return r->ctx->code;
    r->job->figure = hn_alloc(r->ctx, n, sizeof *r->job->figure);
    if (!r->job->figure)
        return r->ctx->code;
    for (; n > 0; n--, item = item->next)
        if (add_figure(r, item))
            return r->ctx->code;
    return HN_OK;
}

// The keys of a job file. `read` gets NULL for a key that is not there and sets the default.
static const struct job_key {
    const char *name;
    bool required;
    enum hn_code (*read)(struct reader *r, const struct hn_yaml *value);
} keys[] = {
    {"version", false, read_version},
    {"snapshots", true, read_snapshots},
    {"steps", false, read_steps},
    {"batch_size", true, read_batch_size},
    {"batches", false, read_batches},
    {"epochs", false, read_epochs},
    {"seeds", false, read_seeds},
    {"samplers", true, read_samplers},
    {"loss", false, read_loss},
    {"weightings", false, read_weightings},
    {"temperature", false, read_temperature},
    {"metrics", false, read_metrics},
    {"timing", false, read_timing},
    {"limits", false, read_limits},
    {"figures", false, read_figures},
};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static enum hn_code check_keys(struct hn_context *ctx, const struct hn_yaml *root) {
    struct hn_names names = {.n = 0};
    for (int i = 0; i < N_KEYS; i++)
        hn_names_add(&names, keys[i].name);
    for (const struct hn_yaml *key = root->first; key; key = key->next->next) {
        bool known = false;
        for (int i = 0; i < N_KEYS; i++)
            known |= !strcmp(key->text, keys[i].name);
        if (!known)
            return hn_yaml_fail_unknown(ctx, key, "key", &names);
    }
    for (int i = 0; i < N_KEYS; i++)
        if (keys[i].required && !hn_yaml_find(root, keys[i].name))
            return hn_yaml_fail(ctx, root, "the required key '%s' is missing", keys[i].name);
    return HN_OK;
}

// Steps of `all` are counted when the snapshots are known.
static enum hn_code check_cells(struct hn_context *ctx, const struct hn_yaml *root,
                                const struct hn_job *job) {
    const int64_t count[] = {
        job->n_snapshots,    hn_max(job->n_steps, 1), job->n_batch_sizes, job->n_samplers,
        job->n_temperatures, job->n_losses,           job->n_weightings,  job->n_seeds};
    int64_t cells = 1;
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        if (!hn_mul(cells, count[i], &cells) || cells > HN_JOB_CELLS_MAX)
            return hn_yaml_fail(ctx, root, "the job has more than %d cells: split it",
                                HN_JOB_CELLS_MAX);
    return HN_OK;
}

static enum hn_code read_root(struct hn_context *ctx, const struct hn_yaml *root,
                              const char *(*figure)(int64_t i), struct hn_job *job) {
    struct reader r = {ctx, root, figure, job};
    if (check_keys(ctx, root))
        return ctx->code;
    for (int i = 0; i < N_KEYS; i++) {
        const struct hn_yaml *key = hn_yaml_find(root, keys[i].name);
        if (keys[i].read(&r, key ? key->next : NULL))
            return ctx->code;
    }
    return check_cells(ctx, root, job);
}

// `batches` and `epochs` say the same thing: the override of one replaces the other in the file,
// but not another override.
static void drop_counterpart(struct hn_context *ctx, struct hn_yaml *root) {
    const struct hn_yaml *batches = hn_yaml_find(root, "batches");
    const struct hn_yaml *epochs = hn_yaml_find(root, "epochs");
    if (batches && epochs && batches->origin.lines != epochs->origin.lines)
        hn_yaml_remove(ctx, root, batches->origin.lines ? "batches" : "epochs");
}

enum hn_code hn_job_parse_file(struct hn_context *ctx, const char *path,
                               const struct hn_text_list *set, struct hn_yaml **root) {
    if (hn_yaml_read(ctx, "job file", path, root))
        return ctx->code;
    for (int64_t i = 0; set && i < set->count; i++)
        if (hn_yaml_override(ctx, set->item[i], *root))
            return ctx->code;
    drop_counterpart(ctx, *root);
    return HN_OK;
}

enum hn_code hn_job_read(struct hn_context *ctx, const char *path, const struct hn_text_list *set,
                         const char *(*figure)(int64_t i), struct hn_job *out) {
    struct hn_yaml *root = NULL;
    memset(out, 0, sizeof *out);
    out->path = hn_strdup(ctx, path);
    enum hn_code code = out->path ? hn_job_parse_file(ctx, path, set, &root) : hn_failure(ctx);
    if (!code)
        code = read_root(ctx, root, figure, out);
    if (!code)
        code = hn_job_resolve(ctx, out);
    hn_yaml_free(ctx, root);
    if (code) {
        hn_job_free(ctx, out);
        hn_yaml_clean_message(ctx);
    }
    return code;
}

static void free_texts(struct hn_context *ctx, char **text, int64_t n) {
    for (int64_t i = 0; text && i < n; i++)
        hn_free(ctx, text[i]);
    hn_free(ctx, text);
}

void hn_job_free(struct hn_context *ctx, struct hn_job *job) {
    free_texts(ctx, job->snapshot, job->n_snapshots);
    free_texts(ctx, job->snapshot_written, job->n_snapshots);
    free_texts(ctx, job->figure, job->n_figures);
    for (int64_t i = 0; i < job->n_samplers; i++)
        hn_job_sampler_free(ctx, &job->sampler[i]);
    hn_free(ctx, job->sampler);
    for (int64_t i = 0; i < job->n_weightings; i++)
        hn_job_weighting_free(ctx, &job->weighting[i]);
    hn_free(ctx, job->weighting);
    for (int64_t i = 0; i < job->n_studies; i++)
        hn_job_study_free(ctx, &job->study[i]);
    hn_free(ctx, job->study);
    hn_free(ctx, job->loss);
    hn_free(ctx, job->path);
    hn_free(ctx, job->step);
    hn_free(ctx, job->batch_size);
    hn_free(ctx, job->seed);
    hn_free(ctx, job->temperature);
    hn_free(ctx, job->metric);
    hn_free(ctx, job->snapshot_metric);
    hn_free(ctx, job->resolved);
    hn_free(ctx, job->resolved_sha256);
    memset(job, 0, sizeof *job);
}

enum hn_code hn_job_parse_sampler(struct hn_context *ctx, const char *text,
                                  struct hn_job_sampler *out) {
    struct hn_yaml_origin origin = {"sampler ", text, false};
    struct hn_job job = {.n_samplers = 0};
    struct hn_yaml *root;
    memset(out, 0, sizeof *out);
    enum hn_code code = hn_yaml_parse(ctx, text, (int64_t)strlen(text), origin, &root);
    if (!code && !root)
        code = hn_fail(ctx, HN_USAGE, "sampler: a name is missing");
    if (!code)
        code = hn_job_read_samplers(ctx, root, &job);
    if (!code && job.n_samplers != 1)
        code = hn_yaml_fail(ctx, root, "one sampler is wanted, these are %lld",
                            (long long)job.n_samplers);
    if (!code) {
        *out = job.sampler[0];
        job.n_samplers = 0; // moved
    } else {
        hn_yaml_clean_message(ctx);
    }
    hn_yaml_free(ctx, root);
    hn_job_free(ctx, &job);
    return code;
}
