// Trainings that entries of the claim files want: their data are found and linked, and every run
// that is not there yet is trained.
#include "core/files.h"
#include "harness/reproduce/reproduce.h"
#include "plots/page/paper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
    size_t used = 0;
    for (int64_t s = first; s < first + n && used < sizeof list; s++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId64,
                                 s > first ? ", " : "", s);
    return hn_format(ctx, "seeds=[%s]", list);
}

static void say_missing(const char *data, const char *wanted, char *why) {
    const struct hn_task_data *known = hn_task_data_find(wanted);
    const char *which = strchr(wanted, '*') ? "a folder that no other row names, " : "the folder ";
    snprintf(why, HN_MESSAGE_MAX, "needs %s%s below --data %.300s: %s", which, wanted, data,
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

struct hn_runner hn_reproduce_runner(const struct hn_reproduce *rep, const struct hn_item *item,
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
    for (int64_t i = 0; i < r->runs.rows && !*why; i++) {
        char label[HN_ITEM_LABEL];
        if (strcmp(hn_table_text(&r->runs, i, "status"), "ok") == 0)
            continue;
        run->item[i].kind->label(&run->item[i], label, sizeof label);
        snprintf(why, HN_MESSAGE_MAX, "a run failed: %.200s: %.300s", label,
                 hn_table_text(&r->runs, i, "error"));
    }
}

// Runs are trained unless they are there, and added to the results; of any data, unless one failed.
static enum hn_code run_plan(struct hn_context *ctx, struct hn_reproduce *rep, const char *data,
                             const struct hn_train_plan *plan, bool any, struct hn_results *out,
                             char *why) {
    struct hn_train_state state = {.data = data, .untrained = &rep->untrained};
    const struct hn_runner run = hn_reproduce_runner(rep, plan->item, plan->n, &state);
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
