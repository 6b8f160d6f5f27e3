// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings that entries of the claim files want: their data are found and linked, and every run
// that is not there yet is trained.
#include "core/files.h"
#include "core/text.h"
#include "harness/host/processes.h"
#include "harness/reproduce/reproduce.h"
#include "harness/reproduce/reproduce_private.h"
#include "harness/run/train.h"
#include "plots/page/paper.h"
#include "results/cell_file.h"
#include "training/tasks/task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *hn_reproduce_job(struct hn_context *ctx, const struct hn_reproduce *rep, const char *job) {
    char name[128];
    snprintf(name, sizeof name, "jobs/%.100s.yaml", job);
    const char *text = hn_paper_text(name);
    if (!text && access(job, R_OK) == 0)
        return hn_strdup(ctx, job);
    if (!text) {
        hn_fail(ctx, HN_USAGE,
                "there is no job '%s': give the path of a job file, or one of "
                "harness/jobs/reproduce",
                job);
        return NULL;
    }
    char *folder = hn_format(ctx, "%s/jobs", rep->folder);
    char *path = folder ? hn_format(ctx, "%s/%s", rep->folder, name) : NULL;
    return path && !hn_folder_make(ctx, folder) && !hn_file_write_text(ctx, path, text) ? path
                                                                                        : NULL;
}

int64_t hn_reproduce_seeds(const struct hn_reproduce *rep, const struct hn_claim_job *job,
                           int64_t full) {
    const double seeds[] = {[HN_EFFORT_USUAL] = job->seeds > 0 ? job->seeds : 5,
                            [HN_EFFORT_QUICK] = job->quick_seeds > 0 ? job->quick_seeds : 3,
                            [HN_EFFORT_FULL] =
                                job->full_seeds > 0 ? job->full_seeds : (double)full};
    return rep->seeds > 0 ? rep->seeds : (int64_t)seeds[rep->effort];
}

char *hn_reproduce_seed_list(struct hn_context *ctx, int64_t first, int64_t n) {
    char list[1024] = "";
    for (int64_t s = first; s < first + n; s++)
        hn_append(list, sizeof list, "%s%" PRId64, s > first ? ", " : "", s);
    return hn_format(ctx, "seeds=[%s]", list);
}

static void say_missing(const char *data, const char *wanted, char *why) {
    const struct hn_task_data *known = hn_task_data_find(wanted);
    const char *which = strchr(wanted, '*') ? "a folder that no other row names, " : "the folder ";
    hn_put_message(why, HN_MESSAGE_MAX, "needs %s%s below --data %s: %s", which, wanted, data,
                   known ? known->origin : "no task declares such data");
}

enum hn_code hn_reproduce_job_missing(struct hn_context *ctx, const struct hn_reproduce *rep,
                                      const struct hn_claim_job *job, char *why) {
    for (int64_t k = 0; k < job->n_data && !*why; k++) {
        char *found;
        if (hn_task_data_locate(ctx, rep->data, job->data[k], &found))
            return ctx->code;
        if (!found)
            say_missing(rep->data, job->data[k], why);
    }
    return HN_OK;
}

// Writes what the first job lacks, if all of them lack something.
enum hn_code hn_reproduce_train_missing(struct hn_context *ctx, const struct hn_reproduce *rep,
                                        const struct hn_claim_entry *entry, char *why) {
    char one[HN_MESSAGE_MAX];
    *why = '\0';
    if (entry->jobs == 0)
        snprintf(why, HN_MESSAGE_MAX, "no training measures it yet");
    for (int64_t i = 0; i < entry->jobs; i++) {
        *one = '\0';
        if (hn_reproduce_job_missing(ctx, rep, &entry->job[i], one))
            return ctx->code;
        if (!*one || i == 0)
            snprintf(why, HN_MESSAGE_MAX, "%s", one);
        if (!*one)
            break;
    }
    return HN_OK;
}

// Links FOLDER/data/WANTED to the data, so that one --data fits every layout.
static enum hn_code link_data(struct hn_context *ctx, const struct hn_reproduce *rep,
                              const char *wanted) {
    char *found;
    if (hn_task_data_locate(ctx, rep->data, wanted, &found))
        return ctx->code;
    char *real = found ? realpath(found, NULL) : NULL;
    char *link = hn_format(ctx, "%s/data/%s", rep->folder, wanted);
    if (!link || !real) {
        free(real);
        return link ? hn_fail(ctx, HN_DATA, "--data %s: %s is no longer there", rep->data, wanted)
                    : ctx->code;
    }
    char *name = strrchr(link, '/');
    *name = '\0';
    enum hn_code code = hn_folder_make(ctx, link);
    *name = '/';
    if (!code && ((unlink(link) && errno != ENOENT) || symlink(real, link)))
        code = hn_fail(ctx, HN_USAGE, "%s cannot be made: %s", link, strerror(errno));
    free(real);
    return code;
}

static void add_all(struct hn_text_list *list, const char **text, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        list->item[list->count++] = (char *)text[i];
}

static enum hn_code read_job(struct hn_context *ctx, const struct hn_reproduce *rep,
                             const struct hn_claim_job *job, struct hn_train_job *out) {
    int64_t max = job->n_set + job->n_quick + job->n_full + 1;
    struct hn_text_list set = {hn_alloc(ctx, max, sizeof *set.item), 0};
    if (!set.item)
        return ctx->code;
    add_all(&set, job->set, job->n_set);
    if (rep->effort == HN_EFFORT_QUICK)
        add_all(&set, job->quick, job->n_quick);
    if (rep->effort == HN_EFFORT_FULL)
        add_all(&set, job->full, job->n_full);
    char *seeds = hn_reproduce_seed_list(ctx, 1, hn_reproduce_seeds(rep, job, 20));
    set.item[set.count++] = seeds;
    char *path = seeds ? hn_reproduce_job(ctx, rep, job->job) : NULL;
    return path ? hn_train_job_read(ctx, path, &set, out) : ctx->code;
}

enum hn_code hn_reproduce_job_open(struct hn_context *ctx, const struct hn_reproduce *rep,
                                   const struct hn_claim_job *job, struct hn_train_job *out,
                                   char **data) {
    for (int64_t i = 0; i < job->n_data; i++)
        if (link_data(ctx, rep, job->data[i]))
            return ctx->code;
    *data = hn_format(ctx, "%s/data", rep->folder);
    if (!*data || read_job(ctx, rep, job, out))
        return ctx->code;
    return job->n_data > 0 ? hn_train_check_data(ctx, out, *data) : HN_OK;
}

// A runner over runs of trainings: those that failed are tried again, once.
static struct hn_runner runner_of(const struct hn_reproduce *rep, const struct hn_item *item,
                                  int64_t n, struct hn_train_state *state) {
    return (struct hn_runner){.item = item,
                              .n = n,
                              .state = state,
                              .rows = HN_ROWS_TRAININGS,
                              .unit = "runs",
                              .folder = rep->folder,
                              .rerun = rep->trained ? HN_RERUN_MISSING : HN_RERUN_FAILED,
                              .quiet = rep->quiet};
}

// *why: of the first run that failed.
static void say_failed(const struct hn_runner *run, const struct hn_results *r, char *why) {
    for (int64_t i = 0; i < r->runs.rows && !*why; i++)
        if (strcmp(hn_table_text(&r->runs, i, "status"), "ok") != 0)
            hn_put_message(why, HN_MESSAGE_MAX, "a run failed: %s: %s",
                           hn_item_label(&run->item[i]).text, hn_table_text(&r->runs, i, "error"));
}

// Runs are trained unless they are there, and added to the results; of any data, unless one failed.
static enum hn_code run_plan(struct hn_context *ctx, struct hn_reproduce *rep, const char *data,
                             const struct hn_train_plan *plan, bool any, struct hn_results *out,
                             char *why) {
    struct hn_train_state state = {.data = data, .untrained = &rep->untrained};
    const struct hn_runner run = runner_of(rep, plan->item, plan->n, &state);
    struct hn_run_summary summary;
    struct hn_results all;
    enum hn_code code = hn_run_items(ctx, &run, &summary);
    if (code == HN_OK)
        code = hn_run_collect(ctx, &run, &all, &summary);
    if (code == HN_OK) {
        say_failed(&run, &all, why);
        if (!any || !*why)
            code = hn_results_append(ctx, out, &all);
        hn_results_free(ctx, &all);
    }
    return code;
}

static enum hn_code run_job(struct hn_context *ctx, struct hn_reproduce *rep,
                            const struct hn_claim_job *job, struct hn_results *out, char *why) {
    struct hn_train_job read;
    struct hn_train_plan plan;
    char *data;
    if (hn_reproduce_job_open(ctx, rep, job, &read, &data) || hn_train_plan_make(ctx, &read, &plan))
        return ctx->code;
    return run_plan(ctx, rep, data, &plan, job->any, out, why);
}

// A job without its data, or of any data and with a run that failed, is left out.
enum hn_code hn_reproduce_train(struct hn_context *ctx, struct hn_reproduce *rep,
                                const struct hn_claim_entry *entry, struct hn_results *out,
                                char *why) {
    char fault[HN_MESSAGE_MAX];
    bool ran = false;
    *why = '\0';
    for (int64_t i = 0; i < entry->jobs && (!ran || !*why); i++) {
        const struct hn_claim_job *job = &entry->job[i];
        *fault = '\0';
        if (hn_reproduce_job_missing(ctx, rep, job, fault))
            return ctx->code;
        bool lacking = *fault;
        enum hn_code code = lacking ? HN_OK : run_job(ctx, rep, job, out, fault);
        if (code && !(job->any && code == HN_DATA))
            return code;
        if (code)
            snprintf(fault, sizeof fault, "%s", ctx->message);
        bool left_out = lacking || (job->any && *fault);
        if (left_out)
            hn_note(ctx, "%s: without %s: %s%s", entry->id, job->any ? job->data[0] : job->job,
                    lacking ? "it " : "", fault);
        if (!left_out || (!ran && !*why))
            snprintf(why, HN_MESSAGE_MAX, "%s", fault);
        ran |= !left_out;
    }
    return HN_OK;
}

enum { UNTRAINED_CAPACITY = 4096, JOBS_MAX = 512 };

// A run that entries of trainings want.
struct wanted_run {
    struct hn_item item;
    bool alone;          // an entry judges its costs
    int64_t first, last; // numbers of the first and the last entry that want it
};

// All of them, each once, whichever entries want it.
struct wanted_runs {
    struct wanted_run *run; // [runs]
    int64_t runs, capacity;
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

static enum hn_code add_runs(struct hn_context *ctx, struct wanted_runs *all,
                             const struct hn_train_plan *plan, bool alone, int64_t entry) {
    if (hn_grow(ctx, &all->run, &all->capacity, all->runs + plan->n, sizeof *all->run))
        return ctx->code;
    for (int64_t i = 0; i < plan->n; i++) {
        struct wanted_run *run = all->run, *end = all->run + all->runs;
        while (run < end && strcmp(run->item.run_key, plan->item[i].run_key) != 0)
            run++;
        if (run == end) {
            *run = (struct wanted_run){.item = plan->item[i], .first = entry, .last = -1};
            all->runs++;
        }
        run->alone |= alone;
        all->of_entry[entry] += run->last != entry;
        run->last = entry;
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
    struct hn_item *item = hn_alloc(ctx, all->runs, sizeof *item);
    if (!item)
        return ctx->code;
    for (int64_t i = 0; i < all->runs; i++)
        if (!all->run[i].alone)
            item[kept++] = all->run[i].item;
    struct hn_runner run = runner_of(rep, item, kept, &state);
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
    if (!HN_ALLOC(ctx, plan->run, all->runs) || !HN_ALLOC(ctx, plan->item, all->runs) ||
        !HN_ALLOC(ctx, out->entry, all->runs) || !HN_ZALLOC(ctx, out->item, all->runs))
        return ctx->code;
    struct hn_cell_store cells = {.folder = folder};
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < all->runs && !code; i++) {
        struct hn_cell_status is;
        const struct wanted_run *wanted = &all->run[i];
        code = hn_cell_store_state(ctx, &cells, wanted->item.run_key, &is);
        if (code || (is.present && !is.failed))
            continue;
        const struct hn_train_run *run = wanted->item.of;
        plan->run[plan->n] = *run;
        plan->item[plan->n] = wanted->item;
        out->entry[plan->n++] = wanted->first;
    }
    hn_cell_store_close(ctx, &cells);
    return code;
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
