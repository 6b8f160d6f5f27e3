#include "results/cell_file.h"
#include "core/checksum.h"
#include "core/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *shard_path(struct hn_context *ctx, const char *folder, const char *run_key) {
    return hn_format(ctx, "%s/cells/%s.h5", folder, run_key);
}

const char *hn_cell_file_text(const struct hn_results *shard, const char *column) {
    if (shard->runs.rows > 0)
        return hn_table_text(&shard->runs, 0, column);
    bool other = shard->n_tables > 0 && shard->table[0].rows > 0;
    return other ? hn_table_text(&shard->table[0], 0, column) : "";
}

enum hn_code hn_cell_file_state(struct hn_context *ctx, const char *folder, const char *run_key,
                                bool *present, bool *failed) {
    bool unasked;
    failed = failed ? failed : &unasked;
    *present = *failed = false;
    HN_SCOPE(ctx);
    char *path = shard_path(ctx, folder, run_key);
    struct hn_results shard;
    if (!path)
        return ctx->code;
    *present = failed == &unasked && hn_checksum_holds(ctx, path, run_key);
    if (*present || !hn_results_probe(ctx, path))
        return HN_OK;
    enum hn_code code = hn_results_read_own(ctx, path, &shard);
    *present = code == HN_OK && strcmp(hn_cell_file_text(&shard, "run_key"), run_key) == 0;
    *failed = *present && strcmp(hn_cell_file_text(&shard, "status"), "failed") == 0;
    return code == HN_DATA ? HN_OK : code; // a damaged shard is a missing one
}

bool hn_cell_file_is_of(struct hn_context *ctx, const char *folder, const char *run_key,
                        const char *program) {
    HN_SCOPE(ctx);
    char *path = shard_path(ctx, folder, run_key);
    return path && hn_checksum_holds(ctx, path, program);
}

enum hn_code hn_cell_file_write(struct hn_context *ctx, const char *folder, const char *run_key,
                                const struct hn_results *results) {
    HN_SCOPE(ctx);
    char *path = shard_path(ctx, folder, run_key);
    enum hn_code code = path ? hn_results_write_cell(ctx, results, path) : HN_MEMORY;
    return code == HN_USAGE ? hn_fail_in(ctx, "storing a cell") : code;
}

enum hn_code hn_cell_file_read(struct hn_context *ctx, const char *folder, const char *run_key,
                               struct hn_results *out) {
    memset(out, 0, sizeof *out);
    HN_SCOPE(ctx);
    char *path = shard_path(ctx, folder, run_key);
    hn_own(ctx, scope.outer);
    return path ? hn_results_read_own(ctx, path, out) : HN_MEMORY;
}

static enum hn_code make_folder(struct hn_context *ctx, const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE, "%s: the output folder cannot be made (%s): give another -o",
                   path, strerror(errno));
}

enum hn_code hn_cell_files_prepare(struct hn_context *ctx, const char *folder) {
    HN_SCOPE(ctx);
    char *cells = hn_format(ctx, "%s/cells", folder);
    if (!cells)
        return ctx->code;
    enum hn_code code = HN_OK;
    for (char *slash = strchr(cells + 1, '/'); code == HN_OK && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        code = make_folder(ctx, cells);
        *slash = '/';
    }
    if (code == HN_OK)
        code = make_folder(ctx, cells);
    char *probe = code == HN_OK ? hn_format(ctx, "%s/.writable", cells) : NULL;
    FILE *file = probe ? fopen(probe, "w") : NULL;
    if (file) {
        fclose(file);
        remove(probe);
        hn_temporary_sweep(cells, ""); // of runs that were killed
        hn_temporary_sweep(folder, "");
    } else if (code == HN_OK) {
        code = !probe ? ctx->code
                      : hn_fail(ctx, HN_USAGE, "%s: cannot be written (%s): give another -o", cells,
                                strerror(errno));
    }
    return code;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hn_cell_file_list_has(const struct hn_cell_file_list *list, const char *cell_key) {
    return list->n > 0 &&
           bsearch(&cell_key, list->key, (size_t)list->n, sizeof *list->key, by_text) != NULL;
}

// Reads cells/<name>; an incomplete cell file is ignored.
static enum hn_code list_file(struct hn_context *ctx, const char *cells, const char *name,
                              struct hn_cell_file_list *list) {
    size_t length = strlen(name);
    if (length < 3 || strcmp(name + length - 3, ".h5") != 0)
        return HN_OK;
    struct hn_results shard;
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/%s", cells, name);
    enum hn_code code = path ? hn_results_read_own(ctx, path, &shard) : HN_MEMORY;
    if (code)
        return code == HN_DATA ? HN_OK : code;
    hn_own(ctx, scope.outer);
    if (hn_grow(ctx, &list->key, &list->capacity, list->n + 1, sizeof *list->key) ||
        !(list->key[list->n] = hn_strdup(ctx, hn_cell_file_text(&shard, "cell_key"))))
        return ctx->code;
    list->n++;
    return HN_OK;
}

enum hn_code hn_cell_file_list_read(struct hn_context *ctx, const char *folder,
                                    struct hn_cell_file_list *out) {
    *out = (struct hn_cell_file_list){0};
    char *cells = hn_format(ctx, "%s/cells", folder);
    if (!cells)
        return ctx->code;
    DIR *opened = opendir(cells);
    enum hn_code code = HN_OK;
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; code == HN_OK && opened && (entry = readdir(opened)) != NULL;)
        code = list_file(ctx, cells, entry->d_name, out);
    if (opened)
        closedir(opened);
    if (out->n > 0)
        qsort(out->key, (size_t)out->n, sizeof *out->key, by_text);
    return code;
}
