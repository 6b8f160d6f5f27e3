// Estimates of trainings, before they are run: every setting that is left is tried for some steps.
#include "core/files.h"
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce.h"
#include "results/cell_file.h"

#include <sys/stat.h>

enum { SECONDS_MAX = 120 }; // of all trials

// Runs that the folder lacks.
struct left {
    struct hn_train_plan plan;
    int64_t *entry; // [plan.n] the first that wants it
    struct hn_estimate_item *item;
};

static enum hn_code keep_left(struct hn_context *ctx, const char *folder,
                              const struct hn_wanted_runs *all, struct left *out) {
    struct hn_train_plan *plan = &out->plan;
    plan->run = hn_alloc(ctx, all->runs, sizeof *plan->run);
    plan->item = hn_alloc(ctx, all->runs, sizeof *plan->item);
    out->entry = hn_alloc(ctx, all->runs, sizeof *out->entry);
    out->item = hn_zalloc(ctx, all->runs, sizeof *out->item);
    if (!plan->run || !plan->item || !out->entry || !out->item)
        return ctx->code;
    for (int64_t i = 0; i < all->runs; i++) {
        struct hn_cell_status is;
        if (hn_cell_file_state(ctx, folder, all->item[i].run_key, &is))
            return ctx->code;
        if (is.present && !is.failed)
            continue;
        const struct hn_train_run *run = all->item[i].of;
        plan->run[plan->n] = *run;
        plan->item[plan->n] = all->item[i];
        out->entry[plan->n++] = all->first[i];
    }
    return HN_OK;
}

static void add_up(const struct left *left, int64_t entry, struct hn_foreseen *row) {
    for (int64_t i = 0; i < left->plan.n; i++) {
        const struct hn_estimate_item *item = &left->item[i];
        if (left->entry[i] != entry)
            continue;
        row->left++;
        row->unknown += !item->known;
        row->seconds += item->known ? item->seconds : 0;
        row->bytes = hn_max(row->bytes, item->known ? item->bytes : 0);
    }
}

// The data are linked, and the jobs written, in a folder that is removed again.
static enum hn_code try_all(struct hn_context *ctx, const struct hn_reproduce *rep, char *scratch,
                            const struct hn_claim_entry *const *entry, int64_t n,
                            struct hn_wanted_runs *all, struct left *left) {
    struct hn_reproduce here = *rep;
    struct stat about;
    bool there = stat(rep->folder, &about) == 0 && S_ISDIR(about.st_mode);
    here.folder = scratch;
    char *data = hn_format(ctx, "%s/data", scratch);
    if (!data || hn_folder_make(ctx, data) || hn_reproduce_list_runs(ctx, &here, entry, n, all) ||
        keep_left(ctx, rep->folder, all, left))
        return ctx->code;
    const struct hn_train_trials trials = {data, there ? rep->folder : scratch, SECONDS_MAX};
    int threads = ctx->threads;
    if (left->plan.n == 0)
        return HN_OK;
    hn_note(ctx, "to train: %lld of %s; each setting is tried for some steps, for at most %d s",
            (long long)left->plan.n, hn_counted(all->runs, "run").text, SECONDS_MAX);
    // As many as a run will have, beside the others.
    ctx->threads = (int)hn_max(1, threads / hn_processes_fit(ctx, left->plan.n, rep->workers));
    enum hn_code code = hn_train_estimate(ctx, &left->plan, NULL, &trials, left->item);
    ctx->threads = threads;
    return code;
}

enum hn_code hn_reproduce_foresee(struct hn_context *ctx, const struct hn_reproduce *rep,
                                  const struct hn_claim_entry *const *entry, int64_t n,
                                  struct hn_foreseen *row, int64_t *rows) {
    struct left left = {.entry = NULL};
    HN_SCOPE(ctx);
    struct hn_wanted_runs *all = hn_zalloc(ctx, 1, sizeof *all);
    char *scratch = hn_scratch_make(ctx);
    if (!all || !scratch)
        return ctx->code;
    enum hn_code code = try_all(ctx, rep, scratch, entry, n, all, &left);
    hn_scratch_remove(ctx, scratch);
    *rows = 0;
    for (int64_t i = 0; i < n && !code; i++) {
        if (entry[i]->kind != HN_KIND_TRAINING || entry[i]->missing)
            continue;
        struct hn_foreseen *r = &row[(*rows)++];
        *r = (struct hn_foreseen){.entry = entry[i], .runs = all->of_entry[i]};
        r->lacks = r->runs == 0;
        add_up(&left, i, r);
    }
    if (!code && *rows < n)
        hn_note(ctx, "%s without trainings: no estimate", hn_counted(n - *rows, "identifier").text);
    return code;
}
