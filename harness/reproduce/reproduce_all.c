// All trainings that entries of the claim files want, side by side.
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce_train.h"
#include "results/cell_file.h"

#include <string.h>

enum { UNTRAINED_ROOM = 4096, JOBS_MAX = 512, RUNS_FIRST = 256 };

struct wanted_run {
    int64_t job, number;
    char key[65];
    bool alone; // an entry judges its costs
};

struct all_runs {
    const struct hn_reproduce *rep;
    struct hn_untrained *untrained;
    int64_t beside;
    struct hn_train_job job[JOBS_MAX];
    char *data[JOBS_MAX];
    int64_t jobs;
    struct wanted_run *run; // [runs]
    int64_t runs, room;
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

// Every run once, whichever entries want it.
static enum hn_code add_run(struct hn_context *ctx, struct all_runs *all, int64_t number,
                            bool alone) {
    struct hn_train_run run;
    hn_train_run_at(&all->job[all->jobs], number, &run);
    for (int64_t i = 0; i < all->runs; i++)
        if (strcmp(all->run[i].key, run.run_key) == 0) {
            all->run[i].alone |= alone;
            return HN_OK;
        }
    if (all->runs == all->room) {
        int64_t room = hn_max(RUNS_FIRST, 2 * all->room);
        struct wanted_run *more = hn_resize(ctx, all->run, room, sizeof *more);
        if (!more)
            return ctx->code;
        all->run = more;
        all->room = room;
    }
    struct wanted_run *own = &all->run[all->runs++];
    *own = (struct wanted_run){.job = all->jobs, .number = number, .alone = alone};
    memcpy(own->key, run.run_key, sizeof own->key);
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
        code = hn_reproduce_job_open(ctx, all->rep, job, &all->job[j], &all->data[j]);
    if (code || *missing)
        return code == HN_MEMORY || code == HN_INTERRUPTED ? code : HN_OK;
    for (int64_t i = 0; i < hn_train_runs(&all->job[j]) && !code; i++)
        code = add_run(ctx, all, i, alone);
    all->jobs++;
    return code;
}

// Only what is to be trained side by side stays in the list.
static enum hn_code drop_others(struct hn_context *ctx, struct all_runs *all) {
    int64_t kept = 0;
    for (int64_t i = 0; i < all->runs; i++) {
        bool present = false, failed = false;
        if (!all->run[i].alone &&
            hn_cell_file_state(ctx, all->rep->folder, all->run[i].key, &present, &failed))
            return ctx->code;
        if (!all->run[i].alone && (!present || failed))
            all->run[kept++] = all->run[i];
    }
    all->runs = kept;
    return HN_OK;
}

static enum hn_code train_one(struct hn_context *ctx, void *data, int64_t item,
                              struct hn_process *worker) {
    const struct all_runs *all = data;
    const struct wanted_run *wanted = &all->run[item];
    const struct hn_train_options options = {.folder = all->rep->folder,
                                             .data = all->data[wanted->job],
                                             .quiet = true,
                                             .untrained = all->untrained,
                                             .worker = worker,
                                             .beside = all->beside};
    struct hn_train_run run;
    hn_train_run_at(&all->job[wanted->job], wanted->number, &run);
    return hn_train_run(ctx, &run, &options);
}

static void name_run(const void *data, int64_t item, char *text, size_t size) {
    const struct all_runs *all = data;
    struct hn_train_run run;
    hn_train_run_at(&all->job[all->run[item].job], all->run[item].number, &run);
    hn_train_label(&run, text, size);
}

static enum hn_code train_listed(struct hn_context *ctx, struct hn_reproduce *rep,
                                 struct all_runs *all) {
    const struct hn_processes side_by_side = {.items = all->runs,
                                              .processes =
                                                  hn_processes_fit(ctx, all->runs, rep->workers),
                                              .quiet = rep->quiet,
                                              .unit = "runs",
                                              .work = train_one,
                                              .name = name_run,
                                              .data = all};
    all->beside = side_by_side.processes - 1;
    if (all->beside == 0)
        return HN_OK;
    rep->trained = true;
    return hn_processes_run(ctx, &side_by_side);
}

enum hn_code hn_reproduce_train_all(struct hn_context *ctx, struct hn_reproduce *rep,
                                    const struct hn_claim_entry *const *entry, int64_t n) {
    struct all_runs *all = hn_zalloc(ctx, 1, sizeof *all);
    if (!all || hn_untrained_open(ctx, UNTRAINED_ROOM, &rep->untrained)) {
        hn_free(ctx, all);
        return ctx->code;
    }
    all->rep = rep;
    all->untrained = &rep->untrained;
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < entry[i]->jobs && !code; j++)
            if (entry[i]->kind == HN_KIND_TRAINING && !entry[i]->missing)
                code = add_job(ctx, all, &entry[i]->job[j], judges_costs(entry[i]));
    if (!code)
        code = drop_others(ctx, all);
    if (!code)
        code = train_listed(ctx, rep, all);
    for (int64_t j = 0; j < all->jobs; j++) {
        hn_train_job_free(ctx, &all->job[j]);
        hn_free(ctx, all->data[j]);
    }
    hn_free(ctx, all->run);
    hn_free(ctx, all);
    return code;
}
