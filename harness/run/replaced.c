// Rows of the folder's results.h5 that are not of a run's items, and that it would replace.
#include "harness/run/runner.h"
#include "results/cell_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Rows that the next results will lack.
struct replaced {
    const struct hn_runner *run;
    const struct hn_item **item; // [run->n] by their keys
    int64_t kept, lost;          // kept: they have a cell file
};

static int by_run_key(const void *a, const void *b) {
    return strcmp((*(const struct hn_item *const *)a)->run_key,
                  (*(const struct hn_item *const *)b)->run_key);
}

static int find_run_key(const void *key, const void *item) {
    return strcmp(key, (*(const struct hn_item *const *)item)->run_key);
}

static enum hn_code sort_items(struct hn_context *ctx, const struct hn_runner *run,
                               struct replaced *r) {
    *r = (struct replaced){.run = run, .item = hn_alloc(ctx, run->n, sizeof(struct hn_item *))};
    for (int64_t i = 0; r->item && i < run->n; i++)
        r->item[i] = &run->item[i];
    if (r->item)
        qsort(r->item, (size_t)run->n, sizeof *r->item, by_run_key);
    return r->item ? HN_OK : ctx->code;
}

static enum hn_code count_replaced(struct hn_context *ctx, struct replaced *r,
                                   const struct hn_table *t) {
    char label[HN_ITEM_LABEL];
    for (int64_t row = 0; t && row < t->rows; row++) {
        const char *key = hn_table_text(t, row, "run_key");
        const struct hn_item *const *item =
            bsearch(key, r->item, (size_t)r->run->n, sizeof *r->item, find_run_key);
        struct hn_cell_status is = {.present = true};
        if ((!item || !hn_run_wants(r->run, *item, label)) &&
            hn_cell_file_state(ctx, r->run->folder, key, &is))
            return ctx->code;
        r->kept += !item && is.present;
        r->lost += !is.present;
    }
    return HN_OK;
}

enum hn_code hn_run_check_folder(struct hn_context *ctx, const struct hn_runner *run, bool force) {
    static const char *const tables[] = {"runs", "snapshots", "studies"};
    struct hn_results old = {0};
    struct replaced r;
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/results.h5", run->folder);
    if (!path || sort_items(ctx, run, &r))
        return ctx->code;
    // An unreadable file holds nothing to lose: cells are files of their own.
    enum hn_code code = HN_OK;
    if (access(path, F_OK) == 0 && hn_results_read(ctx, path, &old) == HN_OK)
        for (int i = 0; i < 3 && !code; i++)
            code = count_replaced(ctx, &r, hn_results_table(&old, tables[i]));
    hn_results_free(ctx, &old);
    if (!code && r.lost > 0 && !force)
        code = hn_fail(ctx, HN_USAGE,
                       "%s holds %" PRId64 " rows that this run does not make and that have no "
                       "file in cells/: they would be lost; give another folder with -o, or "
                       "--force",
                       path, r.lost);
    if (!code && r.kept > 0)
        hn_note(ctx,
                "%s is replaced: %" PRId64 " of its rows are of another job or version; their "
                "files stay in cells/, and their own job collects them again",
                path, r.kept);
    return code;
}
