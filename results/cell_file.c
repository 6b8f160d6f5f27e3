// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of a folder: files of their own, and the pack.
#include "results/cell_file.h"
#include "core/files.h"
#include "results/cell_pack.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".cell"
static const char first_line[] = "hardneg cell 1\n";

// Fewer cells keep their files: those are written once, and can be looked at one by one.
enum { WORTH_PACKING = 256 };

const char *hn_cell_store_text(const struct hn_results *cell, const char *column) {
    if (cell->runs.rows > 0)
        return hn_table_text(&cell->runs, 0, column);
    bool other = cell->n_tables > 0 && cell->table[0].rows > 0;
    return other ? hn_table_text(&cell->table[0], 0, column) : "";
}

static struct hn_cell_head head_of(const struct hn_results *cell) {
    return (struct hn_cell_head){
        hn_cell_store_text(cell, "run_key"), hn_cell_store_text(cell, "cell_key"),
        hn_cell_store_text(cell, "status"), hn_cell_store_text(cell, "program")};
}

// Reads <folder>/cells/<name>. *head has texts of the bytes, *from what comes behind them.
static enum hn_code read_file(struct hn_context *ctx, const char *folder, const char *name,
                              struct hn_cell_head *head, struct hn_cursor *from) {
    struct hn_bytes bytes;
    *head = (struct hn_cell_head){0};
    char *path = hn_format(ctx, "%s/cells/%s", folder, name);
    if (!path || hn_bytes_read(ctx, path, first_line, &bytes))
        return ctx->code;
    *from = (struct hn_cursor){bytes.data, bytes.n};
    return hn_cell_head_take(ctx, from, head) ? hn_fail_in(ctx, "%s", path) : HN_OK;
}

// Results of such a file.
static enum hn_code read_results(struct hn_context *ctx, const char *folder, const char *name,
                                 struct hn_results *out) {
    struct hn_cell_head head;
    struct hn_cursor from;
    memset(out, 0, sizeof *out);
    HN_SCOPE(ctx);
    if (read_file(ctx, folder, name, &head, &from))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return hn_cell_bytes_take(ctx, &from, &from, out) ? hn_fail_in(ctx, "%s/cells/%s", folder, name)
                                                      : HN_OK;
}

static char *pack_path(struct hn_context *ctx, const char *folder) {
    return hn_format(ctx, "%s/cells/packed", folder);
}

// Reads the pack, unless it was read and is the same.
static enum hn_code look_into_pack(struct hn_context *ctx, struct hn_cell_store *cells) {
    HN_SCOPE(ctx);
    char *path = pack_path(ctx, cells->folder);
    if (!path)
        return ctx->code;
    if (cells->pack && hn_cell_pack_is_of(cells->pack, path))
        return HN_OK;
    hn_cell_pack_close(ctx, cells->pack);
    hn_own(ctx, NULL);
    return hn_cell_pack_open(ctx, path, &cells->pack);
}

// A cell has a file of its own, which counts before the pack, or is in that.
struct position {
    bool loose;
    int64_t packed; // -1: it is not there
};

// The texts of a packed cell are owned by the pack. A damaged file
// is a missing one. A pack is there before the files that it holds go: so it is looked at last.
static enum hn_code find(struct hn_context *ctx, struct hn_cell_store *cells, const char *run_key,
                         struct position *at, struct hn_cell_head *head) {
    struct hn_cursor rest;
    *at = (struct position){.packed = -1};
    char *name = hn_format(ctx, "%s" SUFFIX, run_key);
    enum hn_code code = name ? read_file(ctx, cells->folder, name, head, &rest) : ctx->code;
    at->loose = !code && strcmp(head->run_key, run_key) == 0;
    if (at->loose || (code && code != HN_DATA))
        return code;
    if (look_into_pack(ctx, cells))
        return ctx->code;
    at->packed = hn_cell_pack_find(cells->pack, run_key);
    if (at->packed >= 0)
        *head = hn_cell_pack_head(cells->pack, at->packed);
    return HN_OK;
}

// When a file was made, in seconds since 1970; 0: there is none.
static double time_of(const char *path) {
    struct stat is;
    return stat(path, &is) == 0 ? (double)is.st_mtim.tv_sec + 1e-9 * (double)is.st_mtim.tv_nsec : 0;
}

enum hn_code hn_cell_store_state(struct hn_context *ctx, struct hn_cell_store *cells,
                                 const char *run_key, struct hn_cell_status *out) {
    struct hn_cell_head head;
    struct position at;
    *out = (struct hn_cell_status){0};
    HN_SCOPE(ctx);
    if (find(ctx, cells, run_key, &at, &head))
        return ctx->code;
    out->present = at.loose || at.packed >= 0;
    out->failed = out->present && strcmp(head.status, "failed") == 0;
    out->foreign = out->present && strcmp(head.program, ctx->program) != 0;
    char *path = at.loose ? hn_format(ctx, "%s/cells/%s" SUFFIX, cells->folder, run_key) : NULL;
    out->time = path ? time_of(path) : 0;
    return HN_OK;
}

enum hn_code hn_cell_store_write(struct hn_context *ctx, const char *folder, const char *run_key,
                                 const struct hn_results *results) {
    HN_SCOPE(ctx);
    struct hn_bytes bytes = {0};
    char *path = hn_format(ctx, "%s/cells/%s" SUFFIX, folder, run_key);
    enum hn_code code = path ? hn_cell_head_put(ctx, head_of(results), &bytes) : HN_MEMORY;
    if (!code)
        code = hn_cell_bytes_put(ctx, results, &bytes, &bytes);
    if (!code)
        code = hn_bytes_write(ctx, path, first_line, 0, bytes.data, bytes.n);
    return code == HN_USAGE ? hn_fail_in(ctx, "storing a cell") : code;
}

enum hn_code hn_cell_store_read(struct hn_context *ctx, struct hn_cell_store *cells,
                                const char *run_key, const struct hn_results **out) {
    *out = &cells->cell;
    hn_results_free(ctx, &cells->cell);
    HN_SCOPE(ctx);
    char *name = hn_format(ctx, "%s" SUFFIX, run_key);
    if (!name)
        return ctx->code;
    void *outer = hn_own(ctx, NULL);
    enum hn_code code = read_results(ctx, cells->folder, name, &cells->cell);
    hn_own(ctx, outer);
    if (code != HN_DATA)
        return code;
    if (look_into_pack(ctx, cells))
        return ctx->code;
    int64_t packed = hn_cell_pack_find(cells->pack, run_key);
    return packed < 0 ? code : hn_cell_pack_results(ctx, cells->pack, packed, out);
}

enum hn_code hn_cell_store_append(struct hn_context *ctx, struct hn_cell_store *cells,
                                  const char *run_key, struct hn_results *to) {
    const struct hn_results *cell;
    return hn_cell_store_read(ctx, cells, run_key, &cell) ? ctx->code
                                                          : hn_results_append(ctx, to, cell);
}

void hn_cell_store_close(struct hn_context *ctx, struct hn_cell_store *cells) {
    hn_results_free(ctx, &cells->cell);
    hn_cell_pack_close(ctx, cells->pack);
    cells->pack = NULL;
}

enum hn_code hn_cell_store_prepare(struct hn_context *ctx, const char *folder) {
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

// --- Files of a folder ---

// Calls `take` with the name of each cell's own file.
typedef enum hn_code take_fn(struct hn_context *ctx, const char *folder, const char *name,
                             void *data);
static enum hn_code each_file(struct hn_context *ctx, const char *folder, take_fn *take,
                              void *data) {
    char *path = hn_format(ctx, "%s/cells", folder);
    if (!path)
        return ctx->code;
    DIR *opened = opendir(path);
    enum hn_code code = HN_OK;
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; code == HN_OK && opened && (entry = readdir(opened)) != NULL;)
        if (hn_ends_in(entry->d_name, SUFFIX))
            code = take(ctx, folder, entry->d_name, data);
    if (opened)
        closedir(opened);
    hn_free(ctx, path);
    return code;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hn_cell_list_has(const struct hn_cell_list *list, const char *cell_key) {
    return list->n > 0 &&
           bsearch(&cell_key, list->key, (size_t)list->n, sizeof *list->key, by_text) != NULL;
}

static enum hn_code list_key(struct hn_context *ctx, struct hn_cell_list *list, const char *key) {
    if (hn_grow(ctx, &list->key, &list->capacity, list->n + 1, sizeof *list->key) ||
        !(list->key[list->n] = hn_strdup(ctx, key)))
        return ctx->code;
    list->n++;
    return HN_OK;
}

// An incomplete cell file is ignored.
static enum hn_code list_file(struct hn_context *ctx, const char *folder, const char *name,
                              void *data) {
    struct hn_cell_head head;
    struct hn_cursor rest;
    HN_SCOPE(ctx);
    enum hn_code code = read_file(ctx, folder, name, &head, &rest);
    if (code)
        return code == HN_DATA ? HN_OK : code;
    hn_own(ctx, scope.outer);
    return list_key(ctx, data, head.cell_key);
}

enum hn_code hn_cell_store_list(struct hn_context *ctx, struct hn_cell_store *cells,
                                struct hn_cell_list *out) {
    *out = (struct hn_cell_list){0};
    if (each_file(ctx, cells->folder, list_file, out) || look_into_pack(ctx, cells))
        return ctx->code;
    for (int64_t i = 0; i < hn_cell_pack_count(cells->pack); i++)
        if (list_key(ctx, out, hn_cell_pack_head(cells->pack, i).cell_key))
            return ctx->code;
    if (out->n > 0)
        qsort(out->key, (size_t)out->n, sizeof *out->key, by_text);
    return HN_OK;
}

// --- Packing ---

// A file that is in the pack: it goes if it is still that one.
struct packed_file {
    char *path;
    struct stat is;
};
struct packing {
    struct hn_cell_pack *pack;
    struct packed_file *file; // [n]
    int64_t n, capacity;
};

static enum hn_code pack_file(struct hn_context *ctx, const char *folder, const char *name,
                              void *data) {
    struct packing *p = data;
    struct hn_cell_head head;
    struct hn_cursor from;
    struct hn_results cell;
    struct packed_file file = {hn_format(ctx, "%s/cells/%s", folder, name), {0}};
    if (!file.path || hn_grow(ctx, &p->file, &p->capacity, p->n + 1, sizeof *p->file))
        return ctx->code;
    HN_SCOPE(ctx);
    enum hn_code code = stat(file.path, &file.is) ? HN_DATA : HN_OK;
    if (!code)
        code = read_file(ctx, folder, name, &head, &from);
    if (!code)
        code = hn_cell_bytes_take(ctx, &from, &from, &cell);
    if (code) // another process has taken it, or it is damaged, and will be made anew
        return code == HN_DATA ? HN_OK : code;
    p->file[p->n++] = file;
    return hn_cell_pack_add(ctx, p->pack, head, &cell);
}

static enum hn_code count_file(struct hn_context *ctx, const char *folder, const char *name,
                               void *data) {
    (void)ctx, (void)folder, (void)name;
    ++*(int64_t *)data;
    return HN_OK;
}

// The folder is this process's while it packs, so that no pack replaces one that holds more.
static enum hn_code pack_all(struct hn_context *ctx, struct hn_cell_store *cells,
                             const char *path) {
    struct packing p = {0};
    if (look_into_pack(ctx, cells))
        return ctx->code;
    p.pack = cells->pack;
    if (each_file(ctx, cells->folder, pack_file, &p) || hn_cell_pack_write(ctx, p.pack, path))
        return ctx->code;
    for (int64_t i = 0; i < p.n; i++) {
        struct stat now;
        const struct stat *was = &p.file[i].is;
        if (stat(p.file[i].path, &now) == 0 && now.st_ino == was->st_ino &&
            now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
            now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
            (void)unlink(p.file[i].path);
    }
    return HN_OK;
}

void hn_cell_store_pack(struct hn_context *ctx, struct hn_cell_store *cells) {
    int64_t files = 0;
    int folder = -1;
    HN_SCOPE(ctx);
    char *path = pack_path(ctx, cells->folder);
    if (path && !each_file(ctx, cells->folder, count_file, &files) && files >= WORTH_PACKING &&
        !hn_folder_take(ctx, path, &folder) && folder >= 0)
        (void)pack_all(ctx, cells, path);
    hn_folder_free(folder);
    hn_cell_store_close(ctx, cells); // the pack is another one now
}

// --- The plan of a run ---

static char *plan_path(struct hn_context *ctx, const char *folder) {
    return hn_format(ctx, "%s/cells/plan", folder);
}

enum hn_code hn_cell_plan_write(struct hn_context *ctx, const char *folder,
                                const struct hn_results *plan) {
    HN_SCOPE(ctx);
    struct hn_bytes bytes = {0};
    char *path = plan_path(ctx, folder);
    return path && !hn_cell_head_put(ctx, (struct hn_cell_head){"", "", "", ""}, &bytes) &&
                   !hn_cell_bytes_put(ctx, plan, &bytes, &bytes)
               ? hn_bytes_write(ctx, path, first_line, 0, bytes.data, bytes.n)
               : ctx->code;
}

void hn_cell_plan_remove(struct hn_context *ctx, const char *folder) {
    HN_SCOPE(ctx);
    char *path = plan_path(ctx, folder);
    if (path)
        (void)remove(path);
}

bool hn_cell_plan_is_there(const char *folder) {
    char path[PATH_MAX]; // no file has a longer one
    int n = snprintf(path, sizeof path, "%s/cells/plan", folder);
    return n < PATH_MAX && access(path, F_OK) == 0;
}

enum hn_code hn_cell_plan_open(struct hn_context *ctx, const char *folder, struct hn_results *out,
                               double *time) {
    char *path = plan_path(ctx, folder);
    *time = path ? time_of(path) : 0;
    return read_results(ctx, folder, "plan", out);
}

enum hn_code hn_cell_plan_read(struct hn_context *ctx, const char *folder, struct hn_results *out) {
    struct hn_cell_store cells = {.folder = folder};
    int64_t finished = 0;
    enum hn_code code = read_results(ctx, folder, "plan", out);
    for (int64_t i = 0; !code; i++) {
        const struct hn_table *plan = hn_results_table(out, "plan"); // moves as tables are added
        if (!plan || i == plan->rows)
            break;
        const char *key = hn_table_text(plan, i, "run_key");
        struct hn_cell_status is;
        code = hn_cell_store_state(ctx, &cells, key, &is);
        if (!code && is.present)
            code = hn_cell_store_append(ctx, &cells, key, out);
        finished += is.present;
    }
    hn_cell_store_close(ctx, &cells);
    if (!code && finished == 0)
        code = hn_fail(ctx, HN_DATA, "%s: its run has not finished a cell yet", folder);
    if (code)
        hn_results_free(ctx, out);
    return code;
}
