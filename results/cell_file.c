#include "results/cell_file.h"
#include "core/files.h"
#include "results/cell_bytes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".cell"
static const char first_line[] = "hardneg cell 1\n";

const char *hn_cell_file_text(const struct hn_results *cell, const char *column) {
    if (cell->runs.rows > 0)
        return hn_table_text(&cell->runs, 0, column);
    bool other = cell->n_tables > 0 && cell->table[0].rows > 0;
    return other ? hn_table_text(&cell->table[0], 0, column) : "";
}

// Reads <folder>/cells/<name>, of which the head has texts.
static enum hn_code read_head(struct hn_context *ctx, const char *folder, const char *name,
                              struct hn_bytes *bytes, struct hn_cell_head *head) {
    char *path = hn_format(ctx, "%s/cells/%s", folder, name);
    if (!path || hn_bytes_read(ctx, path, first_line, bytes))
        return ctx->code;
    return hn_cell_bytes_take(ctx, (struct hn_cursor){bytes->data, bytes->n}, head, NULL)
               ? hn_fail_in(ctx, "%s", path)
               : HN_OK;
}

static char *name_of(struct hn_context *ctx, const char *run_key) {
    return hn_format(ctx, "%s" SUFFIX, run_key);
}

enum hn_code hn_cell_file_state(struct hn_context *ctx, const char *folder, const char *run_key,
                                struct hn_cell_status *out) {
    struct hn_bytes bytes;
    struct hn_cell_head head;
    *out = (struct hn_cell_status){0};
    HN_SCOPE(ctx);
    char *name = name_of(ctx, run_key);
    enum hn_code code = name ? read_head(ctx, folder, name, &bytes, &head) : HN_MEMORY;
    if (code)
        return code == HN_DATA ? HN_OK : code; // a damaged file is a missing one
    out->present = strcmp(head.run_key, run_key) == 0;
    out->failed = out->present && strcmp(head.status, "failed") == 0;
    out->foreign = out->present && strcmp(head.program, ctx->program) != 0;
    return HN_OK;
}

enum hn_code hn_cell_file_write(struct hn_context *ctx, const char *folder, const char *run_key,
                                const struct hn_results *results) {
    HN_SCOPE(ctx);
    struct hn_bytes bytes = {0};
    char *path = hn_format(ctx, "%s/cells/%s" SUFFIX, folder, run_key);
    const struct hn_cell_head head = {
        hn_cell_file_text(results, "run_key"), hn_cell_file_text(results, "cell_key"),
        hn_cell_file_text(results, "status"), hn_cell_file_text(results, "program")};
    enum hn_code code = path ? hn_cell_bytes_put(ctx, head, results, &bytes) : HN_MEMORY;
    if (!code)
        code = hn_bytes_write(ctx, path, first_line, 0, bytes.data, bytes.n);
    return code == HN_USAGE ? hn_fail_in(ctx, "storing a cell") : code;
}

enum hn_code hn_cell_file_read(struct hn_context *ctx, const char *folder, const char *run_key,
                               struct hn_results *out) {
    struct hn_bytes bytes;
    struct hn_cell_head head;
    memset(out, 0, sizeof *out);
    HN_SCOPE(ctx);
    char *name = name_of(ctx, run_key);
    if (!name || read_head(ctx, folder, name, &bytes, &head))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return hn_cell_bytes_take(ctx, (struct hn_cursor){bytes.data, bytes.n}, &head, out)
               ? hn_fail_in(ctx, "%s/cells/%s", folder, name)
               : HN_OK;
}

enum hn_code hn_cell_files_prepare(struct hn_context *ctx, const char *folder) {
    HN_SCOPE(ctx);
    char *cells = hn_format(ctx, "%s/cells", folder);
    char *probe = cells ? hn_format(ctx, "%s/.writable", cells) : NULL;
    if (!probe || hn_folder_make(ctx, cells))
        return ctx->code;
    FILE *file = fopen(probe, "w");
    if (!file)
        return hn_fail(ctx, HN_USAGE, "%s: cannot be written (%s): give another -o", cells,
                       strerror(errno));
    (void)fclose(file);
    (void)remove(probe);
    hn_temporary_sweep(cells, ""); // of runs that were killed
    hn_temporary_sweep(folder, "");
    return HN_OK;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hn_cell_file_list_has(const struct hn_cell_file_list *list, const char *cell_key) {
    return list->n > 0 &&
           bsearch(&cell_key, list->key, (size_t)list->n, sizeof *list->key, by_text) != NULL;
}

// An incomplete cell file is ignored.
static enum hn_code list_file(struct hn_context *ctx, const char *folder, const char *name,
                              struct hn_cell_file_list *list) {
    const char *dot = strrchr(name, '.');
    if (!dot || strcmp(dot, SUFFIX) != 0)
        return HN_OK;
    struct hn_bytes bytes;
    struct hn_cell_head head;
    HN_SCOPE(ctx);
    enum hn_code code = read_head(ctx, folder, name, &bytes, &head);
    if (code)
        return code == HN_DATA ? HN_OK : code;
    hn_own(ctx, scope.outer);
    if (hn_grow(ctx, &list->key, &list->capacity, list->n + 1, sizeof *list->key) ||
        !(list->key[list->n] = hn_strdup(ctx, head.cell_key)))
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
        code = list_file(ctx, folder, entry->d_name, out);
    if (opened)
        closedir(opened);
    if (out->n > 0)
        qsort(out->key, (size_t)out->n, sizeof *out->key, by_text);
    return code;
}
