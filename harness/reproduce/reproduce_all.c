// All trainings that entries of the claim files want, side by side.
#include "core/files.h"
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce.h"
#include "results/cell_file.h"

#include <string.h>
#include <sys/stat.h>

enum { UNTRAINED_CAPACITY = 4096, JOBS_MAX = 512 };

// All runs that entries of trainings want, each once, whichever of them want it.
struct wanted_runs {
    struct hn_item *item; // [runs]
    bool *alone;          // [runs] an entry judges its costs
    int64_t *first;       // [runs] number of the first entry that wants it,
    int64_t *last;        // [runs] and of the last
    int64_t runs;
    int64_t *of_entry; // [entries] runs of each
    char *data;        // folder of links to the data of all jobs; NULL: there are no jobs
    struct hn_train_job job[JOBS_MAX];
    struct hn_train_plan plan[JOBS_MAX];
    int64_t jobs;
};

static bool of_costs(const struct hn_claim_side *side) {
    const char *const column[] = {side->column, side->with};
    for (int i = 0; i < 2; i++)
        if (column[i] &&
            (strncmp(column[i], "cost_", 5) == 0 || strncmp(column[i], "share_", 6) == 0))
            return true;
    return false;
}

static bool judges_costs(const struct hn_claim_entry *entry) {
    bool found = false;
    for (int64_t i = 0; i < entry->claims; i++)
        found |= of_costs(&entry->claim[i].of) || of_costs(&entry->claim[i].than);
    for (int64_t i = 0; i < entry->levels; i++)
        found |= of_costs(&entry->level[i].of) || of_costs(&entry->level[i].than);
    return found;
}

static enum hn_code add_capacity(struct hn_context *ctx, int64_t n, struct wanted_runs *all) {
    bool good = (all->item = hn_resize(ctx, all->item, n, sizeof *all->item)) &&
                (all->alone = hn_resize(ctx, all->alone, n, sizeof *all->alone)) &&
                (all->first = hn_resize(ctx, all->first, n, sizeof *all->first)) &&
                (all->last = hn_resize(ctx, all->last, n, sizeof *all->last));
    return good ? HN_OK : ctx->code;
}

static enum hn_code add_runs(struct hn_context *ctx, struct wanted_runs *all,
                             const struct hn_train_plan *plan, bool alone, int64_t entry) {
    if (add_capacity(ctx, all->runs + plan->n, all))
        return ctx->code;
    for (int64_t i = 0; i < plan->n; i++) {
        int64_t same = 0;
        while (same < all->runs && strcmp(all->item[same].run_key, plan->item[i].run_key) != 0)
            same++;
        if (same == all->runs) {
            all->alone[same] = false;
            all->first[same] = entry;
            all->last[same] = -1;
            all->item[all->runs++] = plan->item[i];
        }
        all->alone[same] |= alone;
        all->of_entry[entry] += all->last[same] != entry;
        all->last[same] = entry;
    }
    return HN_OK;
}

static enum hn_code add_job(struct hn_context *ctx, const struct hn_reproduce *rep,
                            const struct hn_claim_job *job, bool alone, int64_t entry,
                            struct wanted_runs *all) {
    char missing[HN_MESSAGE_MAX] = "";
    int64_t j = all->jobs;
    if (j == JOBS_MAX)
        return HN_OK;
    enum hn_code code = hn_reproduce_job_missing(ctx, rep, job, missing);
    if (!code && !*missing)
        code = hn_reproduce_job_open(ctx, rep, job, &all->job[j], &all->data);
    if (code || *missing)
        return code == HN_MEMORY || code == HN_INTERRUPTED ? code : HN_OK;
    code = hn_train_plan_make(ctx, &all->job[j], &all->plan[j]);
    all->jobs++;
    return code ? code : add_runs(ctx, all, &all->plan[j], alone, entry);
}

// Into the zeroed *out. Jobs that cannot be read, or have no data, are left out: their entries
// speak of them when they are judged.
static enum hn_code list_runs(struct hn_context *ctx, const struct hn_reproduce *rep,
                              const struct hn_claim_entry *const *entry, int64_t n,
                              struct wanted_runs *out) {
    if (!(out->of_entry = hn_zalloc(ctx, n, sizeof *out->of_entry)))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < entry[i]->jobs; j++)
            if (entry[i]->kind == HN_KIND_TRAINING && !entry[i]->missing &&
                add_job(ctx, rep, &entry[i]->job[j], judges_costs(entry[i]), i, out))
                return ctx->code;
    return HN_OK;
}

// Runs whose costs are judged are left to their entries.
static enum hn_code train_listed(struct hn_context *ctx, struct hn_reproduce *rep,
                                 struct wanted_runs *all) {
    struct hn_train_state state = {.data = all->data, .untrained = &rep->untrained};
    struct hn_run_summary summary;
    int64_t kept = 0;
    for (int64_t i = 0; i < all->runs; i++)
        if (!all->alone[i])
            all->item[kept++] = all->item[i];
    struct hn_runner run = hn_reproduce_runner(rep, all->item, kept, &state);
    run.processes = hn_processes_fit(ctx, kept, rep->workers);
    if (run.processes <= 1)
        return HN_OK;
    rep->trained = true;
    return hn_run_items(ctx, &run, &summary);
}

enum hn_code hn_reproduce_train_all(struct hn_context *ctx, struct hn_reproduce *rep,
                                    const struct hn_claim_entry *const *entry, int64_t n) {
    HN_SCOPE(ctx);
    struct wanted_runs *all = hn_zalloc(ctx, 1, sizeof *all);
    if (!all || hn_untrained_open(ctx, UNTRAINED_CAPACITY, &rep->untrained) ||
        list_runs(ctx, rep, entry, n, all))
        return ctx->code;
    return train_listed(ctx, rep, all);
}

// Estimates of trainings, before they are run: every setting that is left is tried for some steps.

enum { SECONDS_MAX = 120 }; // of all trials

// Runs that the folder lacks.
struct left {
    struct hn_train_plan plan;
    int64_t *entry; // [plan.n] the first that wants it
    struct hn_estimate_item *item;
};

static enum hn_code keep_left(struct hn_context *ctx, const char *folder,
                              const struct wanted_runs *all, struct left *out) {
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
                            struct wanted_runs *all, struct left *left) {
    struct hn_reproduce here = *rep;
    struct stat about;
    bool there = stat(rep->folder, &about) == 0 && S_ISDIR(about.st_mode);
    here.folder = scratch;
    char *data = hn_format(ctx, "%s/data", scratch);
    if (!data || hn_folder_make(ctx, data) || list_runs(ctx, &here, entry, n, all) ||
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
    struct wanted_runs *all = hn_zalloc(ctx, 1, sizeof *all);
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
