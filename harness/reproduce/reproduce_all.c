// All trainings that entries of the claim files want, side by side.
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce_train.h"

#include <string.h>

enum { UNTRAINED_ROOM = 4096, JOBS_MAX = 512 };

struct all_runs {
    struct hn_reproduce *rep;
    struct hn_train_job job[JOBS_MAX];
    struct hn_train_plan plan[JOBS_MAX];
    int64_t jobs;
    char *data;           // where the data of all jobs are linked
    struct hn_item *item; // [runs] each once, whichever entries want it
    bool *alone;          // [runs] an entry judges its costs
    int64_t runs;
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

static enum hn_code add_runs(struct hn_context *ctx, struct all_runs *all,
                             const struct hn_train_plan *plan, bool alone) {
    int64_t most = all->runs + plan->n;
    struct hn_item *item = all->item = hn_resize(ctx, all->item, most, sizeof *item);
    bool *flag = all->alone = hn_resize(ctx, all->alone, most, sizeof *flag);
    if (!item || !flag)
        return ctx->code;
    for (int64_t i = 0; i < plan->n; i++) {
        int64_t same = 0;
        while (same < all->runs && strcmp(item[same].run_key, plan->item[i].run_key) != 0)
            same++;
        if (same == all->runs) {
            flag[all->runs] = false;
            item[all->runs++] = plan->item[i];
        }
        flag[same] |= alone;
    }
    return HN_OK;
}

// A job that cannot be read, or has no data, is spoken of when its entry is judged.
static enum hn_code add_job(struct hn_context *ctx, struct all_runs *all,
                            const struct hn_claim_job *job, bool alone) {
    char missing[HN_MESSAGE_MAX] = "";
    int64_t j = all->jobs;
    if (j == JOBS_MAX)
        return HN_OK;
    enum hn_code code = hn_reproduce_job_missing(ctx, all->rep, job, missing);
    if (!code && !*missing)
        code = hn_reproduce_job_open(ctx, all->rep, job, &all->job[j], &all->data);
    if (code || *missing)
        return code == HN_MEMORY || code == HN_INTERRUPTED ? code : HN_OK;
    code = hn_train_plan_make(ctx, &all->job[j], &all->plan[j]);
    all->jobs++;
    return code ? code : add_runs(ctx, all, &all->plan[j], alone);
}

// Runs whose costs are judged are left to their entries.
static enum hn_code list_runs(struct hn_context *ctx, struct all_runs *all,
                              const struct hn_claim_entry *const *entry, int64_t n) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < entry[i]->jobs; j++)
            if (entry[i]->kind == HN_KIND_TRAINING && !entry[i]->missing &&
                add_job(ctx, all, &entry[i]->job[j], judges_costs(entry[i])))
                return ctx->code;
    for (int64_t i = 0; i < all->runs; i++)
        if (!all->alone[i])
            all->item[kept++] = all->item[i];
    all->runs = kept;
    return HN_OK;
}

static enum hn_code train_listed(struct hn_context *ctx, struct all_runs *all) {
    struct hn_reproduce *rep = all->rep;
    struct hn_train_state state = {.data = all->data, .untrained = &rep->untrained};
    struct hn_runner run = hn_reproduce_runner(rep, all->item, all->runs, &state);
    struct hn_run_summary summary;
    run.processes = hn_processes_fit(ctx, all->runs, rep->workers);
    if (run.processes <= 1)
        return HN_OK;
    rep->trained = true;
    return hn_run_items(ctx, &run, &summary);
}

enum hn_code hn_reproduce_train_all(struct hn_context *ctx, struct hn_reproduce *rep,
                                    const struct hn_claim_entry *const *entry, int64_t n) {
    HN_SCOPE(ctx);
    struct all_runs *all = hn_zalloc(ctx, 1, sizeof *all);
    if (!all || hn_untrained_open(ctx, UNTRAINED_ROOM, &rep->untrained))
        return ctx->code;
    all->rep = rep;
    return list_runs(ctx, all, entry, n) || train_listed(ctx, all) ? ctx->code : HN_OK;
}
