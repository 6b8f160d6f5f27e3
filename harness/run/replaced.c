// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the folder's results.h5 that are not of a run's items, and that it would replace.
#include "core/files.h"
#include "core/strings.h"
#include "core/text.h"
#include "harness/run/runner.h"
#include "results/cell_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

// Rows that the next results will lack.
struct replaced {
    const struct hn_runner *run;
    struct hn_strings key; // of its items
    struct hn_string_index index;
    struct hn_cell_store cells; // of the folder
    int64_t kept, lost;         // kept: their cells are there
};

static enum hn_code index_items(struct hn_context *ctx, struct replaced *r) {
    for (int64_t i = 0; i < r->run->n; i++)
        if (hn_strings_add(ctx, &r->key, r->run->item[i].run_key))
            return ctx->code;
    return hn_string_index_open(ctx, &r->key, &r->index);
}

static enum hn_code count_replaced(struct hn_context *ctx, struct replaced *r,
                                   const struct hn_table *t) {
    for (int64_t row = 0; t && row < t->rows; row++) {
        const char *key = hn_table_text(t, row, "run_key");
        int64_t item = hn_string_find(&r->index, key);
        struct hn_cell_status is = {.present = true};
        if ((item < 0 || !hn_run_wants(r->run, &r->run->item[item])) &&
            hn_cell_store_state(ctx, &r->cells, key, &is))
            return ctx->code;
        r->kept += item < 0 && is.present;
        r->lost += !is.present;
    }
    return HN_OK;
}

// Results that cannot be read, as ctx->message says. Beside cells of this run they are made again
// from these; without any, all that they hold may be in them alone.
static enum hn_code check_unreadable(struct hn_context *ctx, struct replaced *r, const char *path) {
    char why[HN_MESSAGE_MAX];
    if (ctx->code == HN_MEMORY || ctx->code == HN_INTERRUPTED)
        return ctx->code;
    hn_put_text(why, sizeof why, "%s", ctx->message);
    for (int64_t i = 0; i < r->run->n; i++) {
        struct hn_cell_status is = {.present = false};
        if (hn_cell_store_state(ctx, &r->cells, r->run->item[i].run_key, &is))
            return ctx->code;
        if (is.present)
            return HN_OK;
    }
    return hn_fail(ctx, HN_USAGE,
                   "%s; no cell of this run has a file beside it in cells/, so that replacing %s "
                   "could lose what it holds: move it, give another folder with -o, or --force",
                   why, hn_base_name(path));
}

enum hn_code hn_run_check_folder(struct hn_context *ctx, const struct hn_runner *run, bool force) {
    static const char *const tables[] = {"runs", "snapshots", "studies"};
    struct hn_results old = {0};
    struct replaced r = {.run = run, .cells = {.folder = run->folder}};
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/results.h5", run->folder);
    if (!path || index_items(ctx, &r))
        return ctx->code;
    if (hn_results_are_other(ctx, path))
        return hn_fail(ctx, HN_USAGE,
                       "%s: is no results file, and would be replaced: move it, or give another "
                       "folder with -o",
                       path);
    enum hn_code code = HN_OK;
    if (access(path, F_OK) == 0 && hn_results_read(ctx, path, &old))
        code = force ? HN_OK : check_unreadable(ctx, &r, path);
    for (int i = 0; i < 3 && !code; i++)
        code = count_replaced(ctx, &r, hn_results_table(&old, tables[i]));
    hn_results_free(ctx, &old);
    hn_cell_store_close(ctx, &r.cells);
    if (!code && r.lost > 0 && !force)
        code = hn_fail(ctx, HN_USAGE,
                       "%s holds %" PRId64 " rows that this run does not make and that have no "
                       "cell in cells/: they would be lost; give another folder with -o, or "
                       "--force",
                       path, r.lost);
    if (!code && r.kept > 0)
        hn_note(ctx,
                "%s will be replaced: %" PRId64 " of its rows are of another job or version; their "
                "cells stay in cells/, and their own job collects them again",
                path, r.kept);
    return code;
}
