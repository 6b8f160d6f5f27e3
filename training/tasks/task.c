// SPDX-License-Identifier: GPL-3.0-or-later
// The list of tasks, their life cycle, and the files that they declare: whether they are there,
// where they are, and a digest of them, so that results depend on contents, whatever the folder is
// called. A new task is one file and one line here.
#include "training/tasks/task.h"

#include "core/files.h"
#include "training/net/net.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS(X)                                                                                   \
    X(node)                                                                                        \
    X(views)                                                                                       \
    X(cnn)                                                                                         \
    X(graph)                                                                                       \
    X(text)                                                                                        \
    X(pairs)

#define DECLARE(name) extern const struct hn_task_type hn_##name##_task;
#define LIST(name) &hn_##name##_task,

TASKS(DECLARE)

const struct hn_task_type *const hn_tasks[] = {TASKS(LIST) NULL};

const struct hn_task_type *hn_task_find(const char *name) {
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

enum hn_code hn_task_open(struct hn_context *ctx, const struct hn_task_type *type,
                          const void *params, const struct hn_task_setting *setting,
                          struct hn_task *task) {
    *task = (struct hn_task){.type = type, .params = params, .setting = *setting};
    task->state = hn_zalloc(ctx, 1, type->state_size);
    task->path = hn_task_path(ctx, type, params, setting);
    void *outer = hn_own(ctx, task->state);
    enum hn_code code = task->state && task->path ? type->open(ctx, task) : hn_failure(ctx);
    if (!code)
        code = hn_weights_open(ctx, &task->weights);
    hn_own(ctx, outer);
    if (!code)
        type->init(task);
    else
        hn_task_close(ctx, task);
    return code;
}

struct hn_workers hn_task_workers(const struct hn_context *ctx, struct hn_task *task) {
    return (struct hn_workers){ctx->threads, &task->flops};
}

struct hn_pass hn_task_pass(const struct hn_context *ctx, struct hn_task *task, int64_t step) {
    return (struct hn_pass){.workers = hn_task_workers(ctx, task),
                            .training = true,
                            .seed = task->setting.seed,
                            .step = step};
}

enum hn_code hn_task_embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                           int64_t count, float *z) {
    int64_t block = task->block ? task->block : count;
    for (int64_t i = 0; i < count; i += block)
        if (task->type->embed(ctx, task, view, step, i, hn_min(block, count - i),
                              z + i * task->d) ||
            hn_check_stop(ctx))
            return ctx->code;
    return HN_OK;
}

void hn_task_close(struct hn_context *ctx, struct hn_task *task) {
    if (task->state && task->type->close)
        task->type->close(ctx, task);
    hn_free(ctx, task->path);
    hn_free(ctx, task->state);
    *task = (struct hn_task){0};
}

enum hn_code hn_task_set_items(struct hn_context *ctx, struct hn_task *task, int64_t n,
                               int64_t n_all, int64_t d) {
    int64_t batch_size = task->setting.batch_size;
    if (batch_size > n)
        return hn_fail(ctx, HN_DATA, "%s has %lld %s: lower batch_size (%lld)", task->path,
                       (long long)n, task->type->data->items, (long long)batch_size);
    task->n = n;
    task->n_all = n_all;
    task->d = d;
    task->batch_size = batch_size ? batch_size : n;
    return HN_OK;
}

enum { FILES_MAX = 64, NAME = 256, PIECE = 1 << 16 };

struct listing {
    char name[FILES_MAX][NAME];
    int n;
    bool more; // than the capacity
};

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static bool is_like(const char *pattern, const char *name) {
    return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

// True if a folder of that name holds data of this kind.
static bool is_for(const struct hn_task_data *data, const char *folder) {
    for (const char *const *pattern = data->folders; *pattern; pattern++)
        if (is_like(*pattern, folder))
            return true;
    return false;
}

static bool is_read(const struct hn_task_data *data, const char *name) {
    for (const char *const *pattern = data->files; *pattern; pattern++)
        if (is_like(*pattern, name))
            return true;
    return false;
}

// Adds the files of folder/below, whose names then have `below` in front.
static void add_files(const struct hn_task_data *data, const char *folder, const char *below,
                      struct listing *out) {
    char path[PATH_MAX], name[NAME];
    if (snprintf(path, sizeof path, "%s/%s", folder, below) >= (int)sizeof path)
        return;
    DIR *directory = opendir(path);
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *e = NULL; directory && (e = readdir(directory)) != NULL;) {
        int length = snprintf(name, NAME, "%s%s%s", below, *below ? "/" : "", e->d_name);
        if (!is_read(data, length < NAME ? name : e->d_name))
            continue;
        if (out->n == FILES_MAX || length >= NAME)
            out->more = true;
        else
            memcpy(out->name[out->n++], name, (size_t)length + 1);
    }
    if (directory)
        closedir(directory);
}

static void list_files(const struct hn_task_data *data, const char *folder, struct listing *out) {
    out->n = 0;
    out->more = false;
    add_files(data, folder, "", out);
    if (data->below)
        add_files(data, folder, data->below, out);
    qsort(out->name, (size_t)out->n, NAME, by_name);
}

// A required name that no file of the folder has, or NULL.
static const char *missing_name(const struct hn_task_data *data, const struct listing *list) {
    for (int i = 0; i < data->required; i++) {
        bool found = list->more;
        for (int k = 0; k < list->n && !found; k++)
            found = is_like(data->files[i], list->name[k]);
        if (!found)
            return data->files[i];
    }
    return NULL;
}

// The layout of which all that is required is there, and its files; where none is, the one with
// most files there, of equals the one that the folder is named after, or the first.
static const struct hn_task_data *find_layout(const struct hn_task_data *data, const char *folder,
                                              struct listing *list) {
    const struct hn_task_data *best = data;
    int64_t best_fit = 0;
    for (const struct hn_task_data *d = data; d; d = d->other) {
        list_files(d, folder, list);
        if (!missing_name(d, list))
            return d;
        int64_t fit = 2 * list->n + is_for(d, hn_base_name(folder));
        best = fit > best_fit ? d : best;
        best_fit = hn_max(best_fit, fit);
    }
    list_files(best, folder, list);
    return best;
}

// A file's bytes, then its length in 8 bytes, the lowest first: two files never run into each
// other.
static bool add_file(struct hn_digest *digest, const char *path, char piece[PIECE]) {
    int64_t size;
    const char *why;
    FILE *file = hn_file_open(path, &size, &why);
    uint64_t bytes = 0;
    uint8_t length[8];
    size_t n = 1;
    while (file && n > 0) {
        n = fread(piece, 1, PIECE, file);
        hn_digest_add(digest, piece, n);
        bytes += n;
    }
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bytes >> 8 * i);
    hn_digest_add(digest, length, sizeof length);
    bool good = file && !ferror(file);
    if (file)
        fclose(file);
    return good;
}

// "" without a path, or where a file cannot be read.
static enum hn_code digest_files(struct hn_context *ctx, const char *const *path, int n,
                                 char text[HN_DIGEST_TEXT]) {
    struct hn_digest digest;
    HN_SCOPE(ctx);
    char *piece = hn_alloc(ctx, PIECE, 1);
    if (!piece)
        return ctx->code;
    bool good = n > 0;
    hn_digest_begin(&digest);
    for (int i = 0; good && i < n; i++)
        good = path[i] && add_file(&digest, path[i], piece);
    hn_digest_end(&digest, text);
    if (!good)
        text[0] = '\0';
    return HN_OK;
}

enum hn_code hn_task_digest_file(struct hn_context *ctx, const char *path,
                                 char text[HN_DIGEST_TEXT]) {
    return digest_files(ctx, &path, 1, text);
}

const char *hn_task_folder(const struct hn_task_type *type, const void *params) {
    const struct hn_option *o = hn_options_find(type->options, "data");
    char *const *text = o ? (char *const *)(const void *)((const char *)params + o->offset) : NULL;
    return text && *text ? *text : type->data->folder;
}

char *hn_task_path(struct hn_context *ctx, const struct hn_task_type *type, const void *params,
                   const struct hn_task_setting *setting) {
    const char *above = setting->data ? setting->data : setting->folder;
    const char *written = hn_task_folder(type, params);
    if (written[0] == '/' || !above || !above[0])
        return hn_strdup(ctx, written);
    return hn_format(ctx, "%s/%s", above, written);
}

enum hn_code hn_task_digest(struct hn_context *ctx, const struct hn_task_type *type,
                            const void *params, const struct hn_task_setting *setting,
                            char text[HN_DIGEST_TEXT]) {
    text[0] = '\0';
    HN_SCOPE(ctx);
    const char *path[FILES_MAX], *folder = hn_task_path(ctx, type, params, setting);
    struct listing *list = hn_alloc(ctx, 1, sizeof *list);
    if (!folder || !list)
        return ctx->code;
    (void)find_layout(type->data, folder, list);
    for (int i = 0; i < list->n; i++)
        if (!(path[i] = hn_format(ctx, "%s/%s", folder, list->name[i])))
            return ctx->code;
    return digest_files(ctx, path, list->more ? 0 : list->n, text);
}

enum hn_code hn_task_check_data(struct hn_context *ctx, const struct hn_task_type *type,
                                const void *params, const struct hn_task_setting *setting) {
    HN_SCOPE(ctx);
    char *folder = hn_task_path(ctx, type, params, setting);
    struct listing *list = hn_alloc(ctx, 1, sizeof *list);
    if (!folder || !list)
        return ctx->code;
    const struct hn_task_data *data = find_layout(type->data, folder, list);
    const char *missing = missing_name(data, list);
    if (!missing && type->survey)
        type->survey(ctx, folder);
    if (!missing)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "task %s: no %s in the folder %s: put there %s%s", type->name,
                   missing, folder, data->origin,
                   setting->data ? "" : ", or name the folder above it with --data");
}

const struct hn_task_data *hn_task_data_find(const char *folder) {
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++)
        for (const struct hn_task_data *data = (*t)->data; data; data = data->other)
            if (is_for(data, folder))
                return data;
    return NULL;
}

// In one of the usual positions, the first file of a layout.
static enum hn_code locate_layout(struct hn_context *ctx, const struct hn_task_data *data,
                                  const char *root, const char *folder, char **path) {
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    const char *first = data->files[0], *star = strchr(first, '*');
    const char *const below[] = {folder, name, data->archive ? data->archive : name, "."};
    for (size_t i = 0; i < sizeof below / sizeof *below && !*path; i++) {
        char *file =
            hn_format(ctx, "%s/%s/%.*s%s%s", root, below[i], (int)(star ? star - first : 0), first,
                      star ? name : "", star ? star + 1 : first);
        if (!file)
            return ctx->code;
        bool found = access(file, R_OK) == 0;
        hn_free(ctx, file);
        if (found && !(*path = hn_format(ctx, "%s/%s", root, below[i])))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_task_data_locate(struct hn_context *ctx, const char *root, const char *folder,
                                 char **path) {
    *path = NULL;
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++)
        for (const struct hn_task_data *data = (*t)->data; data; data = data->other)
            if (!*path && is_for(data, folder) && locate_layout(ctx, data, root, folder, path))
                return ctx->code;
    return HN_OK;
}
