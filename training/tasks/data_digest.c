// What a task's data are: a digest of the files that it reads, so that results hang on contents and
// not on the name of a folder.
#include "training/tasks/task.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, NAME = 256, PIECE = 1 << 16 };

struct listing {
    char name[MOST_FILES][NAME];
    int n;
    bool more; // than there is room for
};

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static bool is_like(const char *pattern, const char *name) {
    return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

static bool is_read(const struct hn_task_type *type, const char *name) {
    for (const char *const *pattern = type->files; pattern && *pattern; pattern++)
        if (is_like(*pattern, name))
            return true;
    return false;
}

static void list_files(const struct hn_task_type *type, const char *folder, struct listing *out) {
    DIR *directory = opendir(folder);
    out->n = 0;
    out->more = false;
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *e = NULL; directory && (e = readdir(directory)) != NULL;) {
        if (!is_read(type, e->d_name))
            continue;
        if (out->n == MOST_FILES || strlen(e->d_name) >= NAME)
            out->more = true;
        else
            memcpy(out->name[out->n++], e->d_name, strlen(e->d_name) + 1);
    }
    if (directory)
        closedir(directory);
    qsort(out->name, (size_t)out->n, NAME, by_name);
}

// A file's length stands behind its bytes: two files never run into each other.
static bool add_file(struct hn_digest *digest, const char *path, char piece[PIECE]) {
    FILE *file = fopen(path, "rb");
    int64_t bytes = 0;
    size_t n = 1;
    while (file && n > 0) {
        n = fread(piece, 1, PIECE, file);
        hn_digest_add(digest, piece, n);
        bytes += (int64_t)n;
    }
    hn_digest_add(digest, &bytes, sizeof bytes);
    bool good = file && !ferror(file);
    if (file)
        fclose(file);
    return good;
}

static enum hn_code digest_folder(struct hn_context *ctx, const struct hn_task_type *type,
                                  const char *folder, struct listing *list,
                                  char text[HN_DIGEST_TEXT]) {
    struct hn_digest digest;
    char *piece = hn_alloc(ctx, PIECE, 1);
    if (!piece)
        return ctx->code;
    list_files(type, folder, list);
    bool good = list->n > 0 && !list->more;
    hn_digest_begin(&digest);
    for (int i = 0; good && i < list->n; i++) {
        char *path = hn_format(ctx, "%s/%s", folder, list->name[i]);
        good = path && add_file(&digest, path, piece);
        hn_free(ctx, path);
    }
    hn_digest_end(&digest, text);
    if (!good)
        text[0] = '\0';
    hn_free(ctx, piece);
    return HN_OK;
}

const char *hn_task_data(const struct hn_task_type *type, const void *params) {
    const struct hn_option *o = hn_options_find(type->options, "data");
    char *const *text = o ? (char *const *)(const void *)((const char *)params + o->offset) : NULL;
    return text && *text ? *text : type->folder;
}

enum hn_code hn_task_digest(struct hn_context *ctx, const struct hn_task_type *type,
                            const void *params, const struct hn_task_setting *setting,
                            char text[HN_DIGEST_TEXT]) {
    text[0] = '\0';
    char *folder = hn_task_path(ctx, setting, hn_task_data(type, params));
    struct listing *list = hn_alloc(ctx, 1, sizeof *list);
    enum hn_code code = folder && list ? digest_folder(ctx, type, folder, list, text) : ctx->code;
    hn_free(ctx, folder);
    hn_free(ctx, list);
    return code;
}

// A required name that no file of the folder has, or NULL.
static const char *missing_name(const struct hn_task_type *type, const struct listing *list) {
    for (int i = 0; i < type->required; i++) {
        bool found = list->more;
        for (int k = 0; k < list->n && !found; k++)
            found = is_like(type->files[i], list->name[k]);
        if (!found)
            return type->files[i];
    }
    return NULL;
}

enum hn_code hn_task_check_data(struct hn_context *ctx, const struct hn_task_type *type,
                                const void *params, const struct hn_task_setting *setting) {
    char *folder = hn_task_path(ctx, setting, hn_task_data(type, params));
    struct listing *list = hn_alloc(ctx, 1, sizeof *list);
    enum hn_code code = folder && list ? HN_OK : ctx->code;
    if (!code) {
        list_files(type, folder, list);
        const char *missing = missing_name(type, list);
        if (missing)
            code = hn_fail(ctx, HN_DATA, "task %s: no %s in the folder %s: put there %s%s",
                           type->name, missing, folder, type->origin,
                           setting->data ? "" : ", or name the folder above it with --data");
    }
    hn_free(ctx, folder);
    hn_free(ctx, list);
    return code;
}
