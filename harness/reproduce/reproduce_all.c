// All trainings that entries of the claim files want, side by side.
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce.h"

#include <string.h>

enum { UNTRAINED_CAPACITY = 4096 };

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

static enum hn_code add_capacity(struct hn_context *ctx, int64_t n, struct hn_wanted_runs *all) {
    bool good = (all->item = hn_resize(ctx, all->item, n, sizeof *all->item)) &&
                (all->alone = hn_resize(ctx, all->alone, n, sizeof *all->alone)) &&
                (all->first = hn_resize(ctx, all->first, n, sizeof *all->first)) &&
                (all->last = hn_resize(ctx, all->last, n, sizeof *all->last));
    return good ? HN_OK : ctx->code;
}

static enum hn_code add_runs(struct hn_context *ctx, struct hn_wanted_runs *all,
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
                            struct hn_wanted_runs *all) {
    char missing[HN_MESSAGE_MAX] = "";
    int64_t j = all->jobs;
    if (j == HN_REPRODUCE_JOBS_MAX)
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

enum hn_code hn_reproduce_list_runs(struct hn_context *ctx, const struct hn_reproduce *rep,
                                    const struct hn_claim_entry *const *entry, int64_t n,
                                    struct hn_wanted_runs *out) {
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
                                 struct hn_wanted_runs *all) {
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
    struct hn_wanted_runs *all = hn_zalloc(ctx, 1, sizeof *all);
    if (!all || hn_untrained_open(ctx, UNTRAINED_CAPACITY, &rep->untrained) ||
        hn_reproduce_list_runs(ctx, rep, entry, n, all))
        return ctx->code;
    return train_listed(ctx, rep, all);
}
