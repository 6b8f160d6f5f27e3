// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the snapshots that an entry needs, and runs its jobs on them through the runner. All
// entries share one folder of cells: a cell that two of them want is measured once.
#include "harness/reproduce/reproduce.h"
#include "core/classes.h"
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/import.h"
#include "datasets/synth.h"
#include "harness/host/host.h"
#include "harness/reproduce/reproduce_private.h"
#include "harness/run/cells.h"
#include "plots/page/figure.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum hn_code open_file(struct hn_context *ctx, const char *path,
                              struct hn_reproduce_data *out) {
    struct hn_snapshot *s;
    struct hn_classes classes;
    if (hn_snapshot_open(ctx, path, &s))
        return ctx->code;
    char *real = realpath(path, NULL);
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    *out = (struct hn_reproduce_data){.path = hn_strdup(ctx, real ? real : path),
                                      .name = hn_strdup(ctx, hn_base_name(path)),
                                      .info = *info,
                                      .step = hn_alloc(ctx, info->steps, sizeof *out->step)};
    snprintf(out->sha256, sizeof out->sha256, "%s", info->stored_sha256);
    free(real);
    if (out->step)
        memcpy(out->step, info->step, (size_t)info->steps * sizeof *out->step);
    bool read = out->path && out->name && out->step &&
                !hn_classes_find(ctx, info->labels, info->n, &classes);
    if (read)
        out->fn_expected = hn_classes_chance(&classes, info->label_sets);
    hn_snapshot_close(ctx, s);
    return read ? HN_OK : ctx->code;
}

// Adds a file; a file of another kind is skipped with a note.
static enum hn_code add_file(struct hn_context *ctx, struct hn_reproduce *rep, const char *path,
                             bool must) {
    struct hn_reproduce_data data = {0};
    enum hn_code code = open_file(ctx, path, &data);
    if (code == HN_DATA && !must) {
        hn_note(ctx, "left out: %s", ctx->message);
        return HN_OK;
    }
    for (int64_t i = 0; !code && *data.sha256 && i < rep->files; i++)
        if (strcmp(rep->file[i].sha256, data.sha256) == 0) {
            hn_note(ctx, "left out: %s has the contents of %s", path, rep->file[i].path);
            return HN_OK;
        }
    if (code || hn_grow(ctx, &rep->file, &rep->file_capacity, rep->files + 1, sizeof data))
        return ctx->code;
    rep->file[rep->files++] = data;
    return HN_OK;
}

static int wants_file(const struct dirent *entry) { return hn_ends_in(entry->d_name, ".h5"); }

// Imports a folder NAME with NAME.features in it, near the data, so that `ring` has features.
// Removes an earlier import first: it may be of other data, and an import would append to it.
static enum hn_code import_graph(struct hn_context *ctx, struct hn_reproduce *rep) {
    char *output = hn_format(ctx, "%s/data/cora.h5", rep->folder);
    char *version = hn_format(ctx, "hardneg %s", hn_version);
    char *data = hn_format(ctx, "%s/data", rep->folder);
    if (!output || !version || !data)
        return ctx->code;
    const struct hn_import import = {.linqs = rep->graph,
                                     .output = output,
                                     .step = INT64_MIN,
                                     .rows = INT64_MIN,
                                     .skip = INT64_MIN,
                                     .type = HN_FLOAT32};
    int64_t n, d;
    if (hn_folder_make(ctx, data))
        return ctx->code;
    if (unlink(output) != 0 && errno != ENOENT)
        return hn_fail(ctx, HN_USAGE, "%s cannot be replaced: %s", output, strerror(errno));
    if (hn_import(ctx, &import, version, &n, &d))
        return ctx->code;
    return add_file(ctx, rep, output, true);
}

static enum hn_code find_graph(struct hn_context *ctx, struct hn_reproduce *rep) {
    static const char *const beside[] = {"", "/cora", "/../cora"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0] && !rep->graph; i++) {
        char *folder = hn_format(ctx, "%s%s", rep->data, beside[i]);
        char *file = folder ? hn_format(ctx, "%s/cora.features", folder) : NULL;
        if (!file)
            return ctx->code;
        rep->graph = access(file, R_OK) == 0 ? folder : NULL;
    }
    return HN_OK;
}

static bool has_features(const struct hn_reproduce *rep) {
    for (int64_t i = 0; i < rep->files; i++)
        if (rep->file[i].info.has_features)
            return true;
    return false;
}

// Results name a file without its folder.
static bool has_file(const struct hn_reproduce *rep, const char *name) {
    for (int64_t i = 0; i < rep->files; i++)
        if (strcmp(rep->file[i].name, name) == 0)
            return true;
    return false;
}

static enum hn_code add_listed(struct hn_context *ctx, struct hn_reproduce *rep, const char *folder,
                               const char *name) {
    char *path = hn_format(ctx, "%s/%s", folder, name);
    if (!path)
        return ctx->code;
    if (!has_file(rep, name))
        return add_file(ctx, rep, path, false);
    hn_note(ctx, "left out: %s: %s has a file of that name", path, rep->data);
    return HN_OK;
}

static enum hn_code scan_folder(struct hn_context *ctx, struct hn_reproduce *rep,
                                const char *folder) {
    struct dirent **entry;
    int n = scandir(folder, &entry, wants_file, alphasort);
    if (n < 0)
        return hn_fail(ctx, HN_USAGE, "--data %s: cannot be read: %s", folder, strerror(errno));
    enum hn_code code = HN_OK;
    for (int i = 0; i < n; i++) {
        if (!code)
            code = add_listed(ctx, rep, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return code;
}

// The folder's files, those of snapshots/ in it, and Cora.
static enum hn_code scan_data(struct hn_context *ctx, struct hn_reproduce *rep) {
    char *inner = hn_format(ctx, "%s/snapshots", rep->data);
    struct stat about;
    if (!inner || scan_folder(ctx, rep, rep->data) ||
        (stat(inner, &about) == 0 && S_ISDIR(about.st_mode) && scan_folder(ctx, rep, inner)))
        return ctx->code;
    return find_graph(ctx, rep);
}

// True if two files can be encoders of one family: all that a job sees but the values.
static bool alike(const struct hn_reproduce_data *a, const struct hn_reproduce_data *b) {
    const struct hn_snapshot_info *x = &a->info, *y = &b->info;
    return x->n == y->n && x->d == y->d && x->steps == y->steps &&
           memcmp(a->step, b->step, (size_t)x->steps * sizeof *a->step) == 0 &&
           x->has_features == y->has_features && x->has_view2 == y->has_view2 &&
           x->has_positive == y->has_positive;
}

// Numbers the encoders of the folder from 1 on.
static enum hn_code number_encoders(struct hn_context *ctx, struct hn_reproduce *rep) {
    if (rep->files < 2)
        return hn_fail(ctx, HN_USAGE,
                       "--data %s: --replicates wants a folder of at least two snapshot files, "
                       "one of each encoder",
                       rep->data);
    for (int64_t i = 0; i < rep->files; i++) {
        rep->file[i].encoder = i + 1;
        if (!alike(&rep->file[i], &rep->file[0]))
            return hn_fail(ctx, HN_USAGE,
                           "--data %s: %s and %s are not replicates: they differ in items, "
                           "dimensions, steps or contents; keep other files in a folder of their "
                           "own",
                           rep->data, rep->file[0].name, rep->file[i].name);
    }
    return HN_OK;
}

static enum hn_code scan(struct hn_context *ctx, struct hn_reproduce *rep) {
    struct stat about;
    if (rep->scanned)
        return HN_OK;
    bool there = stat(rep->data, &about) == 0;
    if (!there && rep->data_optional) {
        hn_note(ctx, "%s: is not there; --data names a folder of snapshots", rep->data);
        rep->scanned = true;
        return HN_OK;
    }
    if (!there)
        return hn_fail(ctx, HN_USAGE,
                       "--data %s: cannot be opened: %s; give a folder of snapshots, or a snapshot",
                       rep->data, strerror(errno));
    rep->scanned = true;
    enum hn_code code =
        S_ISDIR(about.st_mode) ? scan_data(ctx, rep) : add_file(ctx, rep, rep->data, true);
    return code == HN_OK && rep->replicates ? number_encoders(ctx, rep) : code;
}

static bool fits(const struct hn_snapshot_info *info, const struct hn_claim_job *job) {
    bool views = info->has_view2 || info->has_positive;
    return (!job->labels || info->n - info->unlabelled > 1) && (!job->views || views) &&
           (double)info->steps >= job->steps && (double)info->n >= job->items &&
           job->features == info->has_features;
}

static const struct hn_reproduce_data *pick(const struct hn_reproduce *rep,
                                            const struct hn_claim_job *job) {
    const struct hn_reproduce_data *best = NULL;
    for (int64_t i = 0; i < rep->files; i++) {
        const struct hn_reproduce_data *data = &rep->file[i];
        int64_t now = job->prefer ? data->info.steps : data->info.n;
        int64_t then = best ? job->prefer ? best->info.steps : best->info.n : -1;
        if (fits(&data->info, job) && now > then)
            best = data;
    }
    return best;
}

// "needs a snapshot file with labels, two views of each item, at least 2 steps; DIR has none".
static void say_needs(const struct hn_reproduce *rep, const struct hn_claim_job *job, char *why) {
    const char *before = " with ";
    struct hn_phrase needs = {"needs a snapshot file"};
#define NEED(condition, ...)                                                                       \
    if (condition) {                                                                               \
        hn_append(needs.text, sizeof needs.text, "%s", before);                                    \
        hn_append(needs.text, sizeof needs.text, __VA_ARGS__);                                     \
        before = ", ";                                                                             \
    }
    NEED(job->labels, "labels")
    NEED(job->views, "two views of each item")
    NEED(job->features, "raw features (Cora: a folder cora beside the data)")
    NEED(job->steps > 1, "at least %g steps", job->steps)
    NEED(job->items > 0, "at least %g items", job->items)
#undef NEED
    hn_put_message(why, HN_MESSAGE_MAX, "%s; %s has none", needs.text, rep->data);
}

enum hn_code hn_reproduce_missing(struct hn_context *ctx, struct hn_reproduce *rep,
                                  const struct hn_claim_entry *entry, char *why) {
    *why = '\0';
    if (entry->missing) {
        snprintf(why, HN_MESSAGE_MAX, "%s", entry->missing);
        return HN_OK;
    }
    if (entry->kind == HN_KIND_TRAINING)
        return hn_reproduce_train_missing(ctx, rep, entry, why);
    if (entry->no_encoder)
        return HN_OK;
    if (entry->jobs > 0 && scan(ctx, rep))
        return ctx->code;
    for (int64_t i = 0; i < entry->jobs && !*why; i++)
        if (!pick(rep, &entry->job[i]) && !(entry->job[i].features && rep->graph))
            say_needs(rep, &entry->job[i], why);
    return HN_OK;
}

enum { OVERRIDES = 4 };

// A list of the paths in double quotes: of the file, or of all encoders of its family. NULL with
// the message recorded.
static char *snapshot_list(struct hn_context *ctx, const struct hn_reproduce *rep,
                           const struct hn_reproduce_data *data) {
    char quoted[2 * 4096], *list = hn_format(ctx, "snapshots=[");
    int64_t files = data->encoder ? rep->files : 1;
    for (int64_t i = 0; list && i < files; i++) {
        const struct hn_reproduce_data *file = data->encoder ? &rep->file[i] : data;
        char *to = quoted;
        for (const char *c = file->path; *c && to < quoted + sizeof quoted - 3; c++) {
            if (*c == '"' || *c == '\\')
                *to++ = '\\';
            *to++ = *c;
        }
        *to = '\0';
        list =
            hn_format(ctx, "%s%s\"%s\"", list, list[strlen(list) - 1] == '[' ? "" : ", ", quoted);
    }
    return list ? hn_format(ctx, "%s]", list) : NULL;
}

// Overrides of the job: the snapshots, the seeds, the step, and how many batches.
static enum hn_code overrides(struct hn_context *ctx, const struct hn_reproduce *rep,
                              const struct hn_claim_job *job, const struct hn_reproduce_data *data,
                              int64_t first, int64_t seeds, struct hn_text_list *set) {
    set->item[set->count++] = snapshot_list(ctx, rep, data);
    set->item[set->count++] = hn_reproduce_seed_list(ctx, first, seeds);
    if (job->last_step)
        set->item[set->count++] =
            hn_format(ctx, "steps=[%" PRId64 "]", data->step[data->info.steps - 1]);
    if (rep->effort != HN_EFFORT_USUAL && !job->epoch)
        set->item[set->count++] =
            hn_format(ctx, "batches=%d", rep->effort == HN_EFFORT_FULL ? 300 : 40);
    for (int64_t i = 0; i < set->count; i++)
        if (!set->item[i])
            return ctx->code;
    return HN_OK;
}

static enum hn_code calibrate(struct hn_context *ctx, struct hn_reproduce *rep) {
    if (rep->described)
        return HN_OK;
    if (hn_host_describe(ctx, &rep->env, true))
        return ctx->code;
    rep->sgemm_gflops = atof(hn_results_get_env(&rep->env, "sgemm_gflops"));
    rep->described = true;
    return HN_OK;
}

static enum hn_code run_plan(struct hn_context *ctx, struct hn_reproduce *rep,
                             const struct hn_job *job, struct hn_results *out) {
    struct hn_plan plan = {0};
    struct hn_run_summary summary;
    struct hn_results part;
    struct hn_cell_state state = {.sgemm_gflops = rep->sgemm_gflops};
    if (hn_plan_make(ctx, job, &plan))
        return ctx->code;
    struct hn_runner run = hn_plan_runner(&plan);
    run.folder = rep->folder;
    run.quiet = rep->quiet;
    enum hn_code code = hn_run_cells(ctx, &run, &state, &summary);
    if (code == HN_OK)
        code = hn_run_collect(ctx, &run, &part, &summary);
    if (code == HN_OK) {
        code = hn_results_append(ctx, out, &part);
        hn_results_free(ctx, &part);
    }
    hn_plan_free(ctx, &plan);
    return code;
}

static enum hn_code run_seeds(struct hn_context *ctx, struct hn_reproduce *rep,
                              const struct hn_claim_job *job, const struct hn_reproduce_data *data,
                              int64_t first, int64_t seeds, struct hn_results *out) {
    char *item[OVERRIDES];
    struct hn_text_list set = {item, 0};
    struct hn_job read;
    char *path = hn_reproduce_job(ctx, rep, job->job);
    if (!path || overrides(ctx, rep, job, data, first, seeds, &set) ||
        hn_job_read(ctx, path, NULL, &set, hn_figure_id, &read))
        return ctx->code;
    return run_plan(ctx, rep, &read, out);
}

// Studies know one seed: where a job says so they are run once for each.
static enum hn_code run_job(struct hn_context *ctx, struct hn_reproduce *rep,
                            const struct hn_claim_job *job, const struct hn_reproduce_data *data,
                            struct hn_results *out) {
    int64_t seeds = hn_reproduce_seeds(rep, job, 10);
    if (calibrate(ctx, rep))
        return ctx->code;
    if (!job->each_seed)
        return run_seeds(ctx, rep, job, data, 1, job->one_seed ? 1 : seeds, out);
    for (int64_t s = 1; s <= seeds; s++)
        if (run_seeds(ctx, rep, job, data, s, 1, out))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_dataset(struct hn_context *ctx, const struct hn_reproduce *rep,
                                const struct hn_reproduce_data *data, struct hn_results *out) {
    const struct hn_described cell[] = {
        HN_TEXT_CELL("dataset", "snapshot file", data->name),
        HN_TEXT_CELL("family", "what the file is an encoder of; empty: one of its own",
                     data->encoder ? hn_base_name(rep->data) : ""),
        HN_INT_CELL("encoder", "1", "number of the encoder within its family", data->encoder),
        HN_INT_CELL("items", "items", "items", data->info.n),
        HN_INT_CELL("dims", "1", "dimensions of the embeddings", data->info.d),
        HN_INT_CELL("classes", "1", "distinct labels", data->info.classes),
        HN_INT_CELL("steps", "1", "steps of the series", data->info.steps),
        HN_REAL_CELL("fn_expected", "1", "share of same-label pairs among all labelled pairs",
                     HN_NEITHER, data->fn_expected)};
    if (hn_table_row_with(hn_results_table(out, "datasets"), "dataset", data->name) >= 0)
        return HN_OK;
    return hn_results_add_row(ctx, out, "datasets", cell, (int)(sizeof cell / sizeof cell[0]));
}

static enum hn_code add_datasets(struct hn_context *ctx, const struct hn_reproduce *rep,
                                 const struct hn_reproduce_data *data, struct hn_results *out) {
    if (!data->encoder)
        return add_dataset(ctx, rep, data, out);
    for (int64_t i = 0; i < rep->files; i++)
        if (add_dataset(ctx, rep, &rep->file[i], out))
            return ctx->code;
    return HN_OK;
}

// Claims that rest on no encoder need none: the cells of their job are measured on random points.
static enum hn_code make_points(struct hn_context *ctx, const struct hn_reproduce *rep,
                                struct hn_reproduce_data *out) {
    char *folder = hn_format(ctx, "%s/data", rep->folder);
    struct hn_synth synth = {.tool_version = "hardneg"};
    if (!folder || hn_options_init(ctx, hn_synth_options, &synth) || hn_folder_make(ctx, folder))
        return ctx->code;
    synth.n = 300;
    synth.dim = 8;
    synth.steps = synth.views = 1;
    synth.output = hn_format(ctx, "%s/points.h5", folder);
    synth.force = true;
    return synth.output && !hn_synth_write(ctx, &synth) ? open_file(ctx, synth.output, out)
                                                        : ctx->code;
}

static enum hn_code run_wanted(struct hn_context *ctx, struct hn_reproduce *rep,
                               const struct hn_claim_entry *entry, const struct hn_claim_job *job,
                               struct hn_results *out, char *why) {
    struct hn_reproduce_data points;
    if ((entry->no_encoder && make_points(ctx, rep, &points)) ||
        (job->features && !has_features(rep) && rep->graph && import_graph(ctx, rep)))
        return ctx->code;
    const struct hn_reproduce_data *data = entry->no_encoder ? &points : pick(rep, job);
    if (!data) {
        say_needs(rep, job, why);
        return HN_OK;
    }
    enum hn_code code = run_job(ctx, rep, job, data, out);
    return code ? code : add_datasets(ctx, rep, data, out);
}

enum hn_code hn_reproduce_run(struct hn_context *ctx, struct hn_reproduce *rep,
                              const struct hn_claim_entry *entry, struct hn_results *out,
                              char *why) {
    memset(out, 0, sizeof *out);
    bool trains = entry->kind == HN_KIND_TRAINING && !entry->missing && entry->jobs > 0;
    // Costs are of this machine: those of trainings, and the keys of others hold its class.
    if (hn_reproduce_missing(ctx, rep, entry, why) ||
        ((trains || entry->costs > 0) && calibrate(ctx, rep)))
        return ctx->code;
    enum hn_code code = trains ? hn_reproduce_train(ctx, rep, entry, out, why) : HN_OK;
    for (int64_t i = 0; i < entry->jobs && !trains && !code && !*why; i++)
        code = run_wanted(ctx, rep, entry, &entry->job[i], out, why);
    if (code == HN_USAGE || code == HN_DATA) { // the end of this entry, not of everything
        snprintf(why, HN_MESSAGE_MAX, "%s", ctx->message);
        code = HN_OK;
    }
    for (int64_t i = 0; i < entry->costs && !trains && !code && !*why; i++)
        if (!entry->cost[i].full || rep->effort == HN_EFFORT_FULL)
            code = hn_reproduce_cost(ctx, rep, &entry->cost[i], out);
    if (code)
        hn_results_free(ctx, out);
    return code;
}
