// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg status`: what a run, or the parts of one, have done and have left.
#include "core/files.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/progress.h"
#include "results/cell_file.h"
#include "results/records.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// A run is silent when it has finished no cell for so long: so many times what a cell took, and a
// minute at least.
enum { SILENT_CELLS = 10, SILENT_SECONDS = 60 };

enum state { ENDED, RUNNING, SILENT };
static const char *const state_name[] = {
    [ENDED] = "ended", [RUNNING] = "running", [SILENT] = "silent"};

struct folder {
    char *path;
    enum state state;
    int64_t done, failed; // failed: of those that are done
    double since;         // seconds since it began, or finished its last cell; NaN: it has ended
    double rate;          // cells a second; 0: not running, or none was finished yet
};

// A cell as a folder has it. Parts have the same plan, and each some of the cells.
struct cell {
    const char *key;
    bool done, failed;
};

struct overview {
    struct folder *folder; // [folders]
    int64_t folders, folders_capacity;
    struct cell *cell; // [n]
    int64_t n, capacity;
    int64_t cells, done, failed; // of all folders, each cell once
    double left;                 // seconds; NaN: not known
};

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum hn_code add_cell(struct hn_context *ctx, struct overview *all, struct folder *f,
                             struct cell cell) {
    if (hn_grow(ctx, &all->cell, &all->capacity, all->n + 1, sizeof *all->cell))
        return ctx->code;
    all->cell[all->n++] = cell;
    f->done += cell.done;
    f->failed += cell.failed;
    return HN_OK;
}

// --- A folder ---

static void judge_rate(struct folder *f, double begun, double last, int64_t finished) {
    double time = now(), took = fmax(0, last - begun);
    f->since = fmax(0, time - last);
    double each = finished > 0 ? took / (double)finished : 0;
    f->state = f->since > fmax(SILENT_SECONDS, SILENT_CELLS * each) ? SILENT : RUNNING;
    f->rate = f->state == RUNNING && took > 0 ? (double)finished / took : 0;
}

// A run that goes on, or was broken off: its plan, and the cells that it has finished.
static enum hn_code look_at_plan(struct hn_context *ctx, struct overview *all, struct folder *f) {
    struct hn_results plan;
    struct hn_cell_store cells = {.folder = f->path};
    double begun, last;
    int64_t finished = 0;
    if (hn_cell_plan_open(ctx, f->path, &plan, &begun))
        return ctx->code;
    const struct hn_table *t = hn_results_table(&plan, "plan");
    enum hn_code code = HN_OK;
    last = begun;
    for (int64_t i = 0; t && i < t->rows && !code; i++) {
        struct hn_cell_status is;
        const char *key = hn_table_text(t, i, "run_key");
        code = hn_cell_store_state(ctx, &cells, key, &is);
        if (!code)
            code = add_cell(ctx, all, f, (struct cell){key, is.present, is.failed});
        finished += is.time > begun;
        last = fmax(last, is.time);
    }
    hn_cell_store_close(ctx, &cells);
    judge_rate(f, begun, last, finished);
    return code;
}

static enum hn_code add_rows(struct hn_context *ctx, struct overview *all, struct folder *f,
                             const struct hn_table *t) {
    for (int64_t i = 0; t && i < t->rows; i++) {
        const char *key = hn_table_text(t, i, "run_key");
        bool again = i > 0 && strcmp(hn_table_text(t, i - 1, "run_key"), key) == 0;
        bool failed = strcmp(hn_table_text(t, i, "status"), "failed") == 0;
        if (!again && add_cell(ctx, all, f, (struct cell){key, true, failed}))
            return ctx->code;
    }
    return HN_OK;
}

// Results of a run that has ended: they have a plan where cells are missing.
static enum hn_code look_at_results(struct hn_context *ctx, struct overview *all,
                                    struct folder *f) {
    static const char *const tables[] = {"runs", "snapshots", "studies"};
    struct hn_results r;
    char *path = hn_format(ctx, "%s/results.h5", f->path);
    if (!path || hn_results_read(ctx, path, &r))
        return ctx->code;
    f->state = ENDED;
    f->since = NAN;
    for (int k = 0; k < 3; k++)
        if (add_rows(ctx, all, f, hn_results_table(&r, tables[k])))
            return ctx->code;
    const struct hn_table *plan = hn_results_table(&r, "plan");
    for (int64_t i = 0; plan && i < plan->rows; i++)
        if (add_cell(ctx, all, f, (struct cell){hn_table_text(plan, i, "run_key"), false, false}))
            return ctx->code;
    return HN_OK;
}

static bool is_there(struct hn_context *ctx, const char *folder, const char *name) {
    struct stat is;
    char *path = hn_format(ctx, "%s/%s", folder, name);
    return path && stat(path, &is) == 0;
}

static enum hn_code look(struct hn_context *ctx, struct overview *all, const char *path) {
    struct folder f = {.path = hn_strdup(ctx, path)};
    if (!f.path || (hn_cell_plan_is_there(path) ? look_at_plan : look_at_results)(ctx, all, &f) ||
        hn_grow(ctx, &all->folder, &all->folders_capacity, all->folders + 1, sizeof *all->folder))
        return ctx->code;
    all->folder[all->folders++] = f;
    return HN_OK;
}

static bool is_run(struct hn_context *ctx, const char *path) {
    return hn_cell_plan_is_there(path) || is_there(ctx, path, "results.h5");
}

// The same of a folder that was found, not named: one whose results.h5 is of another kind is told
// of.
static bool is_part(struct hn_context *ctx, const char *path) {
    const char *results = is_run(ctx, path) ? hn_format(ctx, "%s/results.h5", path) : NULL;
    bool other = results && hn_results_are_other(ctx, results);
    if (other)
        hn_note(ctx, "%s is left out: it is no results file", results);
    return results && !other;
}

static int by_path(const void *a, const void *b) {
    return strverscmp(((const struct folder *)a)->path, ((const struct folder *)b)->path);
}

// A folder of a run; or one that has such folders, the parts of an array.
static enum hn_code look_at_argument(struct hn_context *ctx, struct overview *all,
                                     const char *path) {
    if (is_run(ctx, path))
        return look(ctx, all, path);
    int64_t before = all->folders;
    DIR *opened = opendir(path);
    enum hn_code code = HN_OK;
    // cppcheck-suppress readdirCalled ; no other thread reads this folder
    for (struct dirent *entry; !code && opened && (entry = readdir(opened)) != NULL;) {
        char *part = hn_format(ctx, "%s/%s", path, entry->d_name);
        if (part && entry->d_name[0] != '.' && is_part(ctx, part))
            code = look(ctx, all, part);
        code = part && ctx->code != HN_MEMORY ? code : ctx->code;
    }
    if (opened)
        closedir(opened);
    if (!code && all->folders == before)
        return hn_fail(ctx, HN_DATA,
                       "%s: no run was begun here, nor in folders of it: give the folder of -o",
                       path);
    if (all->folders > before)
        qsort(all->folder + before, (size_t)(all->folders - before), sizeof *all->folder, by_path);
    return code;
}

// --- All of them ---

static int by_key(const void *a, const void *b) {
    return strcmp(((const struct cell *)a)->key, ((const struct cell *)b)->key);
}

// A cell that one folder has is done; it has failed if no folder has another result.
static void sum_up(struct overview *all) {
    double rate = 0;
    if (all->n > 0)
        qsort(all->cell, (size_t)all->n, sizeof *all->cell, by_key);
    for (int64_t i = 0, next; i < all->n; i = next) {
        bool done = false, good = false;
        for (next = i; next < all->n && by_key(&all->cell[i], &all->cell[next]) == 0; next++) {
            done |= all->cell[next].done;
            good |= all->cell[next].done && !all->cell[next].failed;
        }
        all->cells++;
        all->done += done;
        all->failed += done && !good;
    }
    for (int64_t i = 0; i < all->folders; i++)
        rate += all->folder[i].rate;
    all->left = all->done == all->cells ? 0
                : rate > 0              ? (double)(all->cells - all->done) / rate
                                        : NAN;
}

static void print(const struct overview *all) {
    printf("%" PRId64 " of %s done", all->done, hn_counted(all->cells, "cell").text);
    if (all->failed > 0)
        printf(", %" PRId64 " of them failed", all->failed);
    if (all->done < all->cells)
        printf(", %" PRId64 " left", all->cells - all->done);
    if (all->left > 0)
        printf(", for about %s", hn_clock_text(all->left).text);
    printf("\n");
    for (int64_t i = 0; i < all->folders; i++) {
        const struct folder *f = &all->folder[i];
        printf("  %s: %" PRId64 " done", f->path, f->done);
        if (f->failed > 0)
            printf(", %" PRId64 " of them failed", f->failed);
        printf("; %s", state_name[f->state]);
        if (f->state == SILENT)
            printf(" for %s: the same command goes on with it", hn_clock_text(f->since).text);
        printf("\n");
    }
}

static json_t *json_of_folder(const struct folder *f) {
    return json_pack("{s:o, s:I, s:I, s:s, s:o, s:o}", "folder", hn_json_text(f->path), "done",
                     (json_int_t)f->done, "failed", (json_int_t)f->failed, "state",
                     state_name[f->state], "seconds_since", hn_json_real(f->since),
                     "cells_per_second", hn_json_real(f->rate));
}

static enum hn_code print_json(struct hn_context *ctx, const struct overview *all) {
    json_t *list = json_array();
    for (int64_t i = 0; i < all->folders; i++)
        json_array_append_new(list, json_of_folder(&all->folder[i]));
    return hn_json_print(ctx,
                         json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:o, s:o}", "schema",
                                   "hardneg-status", "schema_version", 1, "cells",
                                   (json_int_t)all->cells, "done", (json_int_t)all->done, "failed",
                                   (json_int_t)all->failed, "left",
                                   (json_int_t)(all->cells - all->done), "seconds_left",
                                   hn_json_real(all->left), "folders", list),
                         stdout);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    struct overview all = {0};
    for (int i = 0; i < call->n_args; i++)
        if (look_at_argument(ctx, &all, call->args[i]))
            return ctx->code;
    sum_up(&all);
    if (call->json)
        return print_json(ctx, &all);
    print(&all);
    return HN_OK;
}

const struct hn_command hn_cmd_status = {
    .name = "status",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg status DIR...",
    .summary = "what a run, or the parts of an array, have done and have left",
    .details =
        "DIR is the folder of a run (-o), or one with such folders in it: the parts of --shard. "
        "Cells count once, whichever part has them. The time left is that of the runs that go on, "
        "at the rate at which they have finished cells. A run that has finished none for a "
        "minute, and for ten times as long as a cell took, is silent: it was broken off, or is at "
        "a cell that takes longer than others.",
    .examples = "hardneg status results/mine\n"
                "watch hardneg status results/mine",
    .options = hn_no_options,
    .json = true,
    .min_args = 1,
    .max_args = 4096,
    .run = run,
};
