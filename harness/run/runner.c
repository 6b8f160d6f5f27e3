// SPDX-License-Identifier: GPL-3.0-or-later
// Runs items, leaves a cell file for each, and collects these into one results file.
#include "harness/run/runner.h"
#include "core/digest.h"
#include "core/files.h"
#include "harness/host/host.h"
#include "harness/host/processes.h"
#include "harness/host/progress.h"
#include "harness/host/ranks.h"
#include "results/cell_file.h"
#include "results/merge.h"
#include "results/timing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 }; // items whose results take some time to be put together

// Items that wait for their group's timing before they are stored.
struct pending {
    const struct hn_item **item; // [n]
    struct hn_results *results;  // [n]
    int64_t n;
};

struct work {
    struct hn_context *ctx; // of this process, for what processes call back
    const struct hn_runner *run;
    struct hn_run_summary *summary;
    struct hn_progress progress;
    int64_t *todo; // [n_todo] items to be run, in turn; DONE afterwards
    int64_t n_todo;
    struct pending pending;
    struct hn_cell_store cells;  // of the folder
    struct hn_cell_list earlier; // results of any version, for HN_RERUN_STALE
    bool fresh;                  // results of other programs are made anew
    int64_t foreign;             // of the wanted items, those with such a result
};

enum { DONE = -1 };

static struct hn_item_env env_of(const struct hn_runner *run) {
    return (struct hn_item_env){.state = run->state,
                                .folder = run->folder,
                                .beside = run->parts ? 0 : hn_ranks_count(run->ranks) - 1,
                                .quiet = run->quiet || run->ranks};
}

// Parts are stretches, so that items of one step, which share work, stay together.
static bool in_part(const struct hn_runner *run, int64_t index) {
    int64_t k = run->shard, n = run->shards, all = run->end_index;
    return n == 0 || (index >= (k - 1) * all / n && index < k * all / n);
}

bool hn_run_wants(const struct hn_runner *run, const struct hn_item *item) {
    return !run ||
           (in_part(run, item->index) &&
            (!run->filter || regexec(run->filter, hn_item_label(item).text, 0, NULL, 0) == 0));
}

// In CI a result says something of the program that was built there, or nothing.
static bool in_ci(void) {
    const char *ci = getenv("CI");
    return ci && (strcmp(ci, "true") == 0 || strcmp(ci, "1") == 0);
}

static const char *why(const struct hn_cell_status *is, bool stale, bool needed) {
    if (is->foreign && needed)
        return "to run again: its result is of another program";
    if (stale)
        return "to run again: its result is of another version, metrics or timing";
    if (!is->present)
        return needed ? "to run (no result of these parameters and this code version yet)"
                      : "left alone: it was never run (--rerun missing does)";
    return needed       ? "to run again, as --rerun asks"
           : is->failed ? "skipped: it failed before (--rerun failed tries again)"
                        : "skipped: its result is there";
}

// *needed: a wanted item has to be run.
static enum hn_code needs_run(struct work *w, const struct hn_item *item, bool *needed) {
    enum hn_rerun rerun = w->run->rerun;
    struct hn_cell_status is;
    if (hn_cell_store_state(w->ctx, &w->cells, item->run_key, &is))
        return w->ctx->code;
    bool stale =
        !is.present && rerun == HN_RERUN_STALE && hn_cell_list_has(&w->earlier, item->cell_key);
    *needed = rerun == HN_RERUN_STALE
                  ? stale
                  : !is.present || rerun == HN_RERUN_ALL || (rerun == HN_RERUN_FAILED && is.failed);
    *needed |= is.foreign && w->fresh;
    w->foreign += is.foreign;
    w->summary->wanted++;
    w->summary->present += is.present && !*needed;
    if (w->run->explain)
        fprintf(stderr, "%s: %s\n", hn_item_label(item).text, why(&is, stale, *needed));
    return HN_OK;
}

// Items are looked at in the order of the results, and kept in the order of their turns.
static enum hn_code choose(struct work *w) {
    const struct hn_runner *run = w->run;
    bool *needed = hn_zalloc(w->ctx, run->n, sizeof *needed);
    enum hn_code code = needed ? HN_OK : w->ctx->code;
    for (int64_t i = 0; i < run->n && code == HN_OK; i++)
        if (hn_run_wants(run, &run->item[i]))
            code = needs_run(w, &run->item[i], &needed[i]);
    for (int64_t i = 0; i < run->n && code == HN_OK; i++) {
        int64_t item = run->turn ? run->turn[i] : i;
        if (needed[item])
            w->todo[w->n_todo++] = item;
    }
    hn_free(w->ctx, needed);
    return code;
}

static void count(struct work *w, const struct hn_item *item, const struct hn_results *results) {
    const char *status = hn_cell_store_text(results, "status");
    bool failed = strcmp(status, "failed") == 0;
    const struct hn_item_label label = hn_item_label(item);
    w->summary->ran += !failed;
    w->summary->failed += failed;
    hn_progress_step(&w->progress, failed, label.text);
    if (hn_ranks_number(w->run->ranks) > 0) // rank 0 speaks
        return;
    if (failed || w->run->verbose)
        hn_progress_clear(&w->progress);
    if (failed)
        fprintf(stderr, "failed: %s: %s\n", label.text, hn_cell_store_text(results, "error"));
    else if (w->run->verbose)
        fprintf(stderr, "done: %s\n", label.text);
}

static void free_pending(struct work *w) {
    for (int64_t i = 0; i < w->pending.n; i++)
        hn_results_free(w->ctx, &w->pending.results[i]);
    w->pending.n = 0;
}

static enum hn_code store_pending(struct work *w) {
    const struct pending *p = &w->pending;
    const struct hn_item_env env = env_of(w->run);
    enum hn_code code = HN_OK;
    if (p->n > 0 && p->item[0]->kind->time)
        code = p->item[0]->kind->time(w->ctx, p->item, p->results, p->n, &env);
    for (int64_t i = 0; i < p->n && code == HN_OK; i++) {
        code = hn_cell_store_write(w->ctx, w->run->folder, p->item[i]->run_key, &p->results[i]);
        if (code == HN_OK)
            count(w, p->item[i], &p->results[i]);
    }
    free_pending(w);
    return code;
}

// True if item number i of the list waits for the next one that is to be run, before `end`.
static bool waits(const struct work *w, int64_t i, int64_t end) {
    const struct hn_item *item = &w->run->item[w->todo[i]], *next;
    do {
        if (++i == end)
            return false;
    } while (w->todo[i] == DONE);
    next = &w->run->item[w->todo[i]];
    return item->kind->together && item->kind == next->kind && item->kind->together(item, next);
}

// Runs an item whose long computations are shared. Another process may have finished it meanwhile;
// and if it waits for others, it is left. Ranks go through all items side by side.
static enum hn_code run_shared(struct work *w, const struct hn_item *item,
                               const struct hn_item_env *env) {
    struct hn_file_parts *parts = w->run->parts;
    struct hn_results results = {0};
    struct hn_cell_status is = {0};
    if (!parts->ranks && w->run->rerun == HN_RERUN_MISSING &&
        hn_cell_store_state(w->ctx, &w->cells, item->run_key, &is))
        return w->ctx->code;
    if (is.present && !(w->fresh && is.foreign)) {
        w->summary->present++;
        return HN_OK;
    }
    hn_file_parts_begin(parts, item->scope);
    w->ctx->parts = &parts->parts;
    enum hn_code code = hn_item_run(w->ctx, item, env, &results);
    w->ctx->parts = NULL;
    code = hn_file_parts_same(w->ctx, parts, item->run_key, code);
    if (!code && hn_ranks_number(parts->ranks) == 0)
        code = hn_cell_store_write(w->ctx, w->run->folder, item->run_key, &results);
    if (!code)
        count(w, item, &results);
    hn_results_free(w->ctx, &results);
    if (code != HN_WAITING)
        return code;
    if (hn_cell_store_state(w->ctx, &w->cells, item->run_key, &is))
        return w->ctx->code;
    w->summary->present += is.present; // another process was quicker
    w->summary->waiting += !is.present;
    return HN_OK;
}

static enum hn_code run_one(struct work *w, int64_t i, int64_t end) {
    const struct hn_item *item = &w->run->item[w->todo[i]];
    struct hn_item_env env = env_of(w->run);
    struct pending *p = &w->pending;
    if (hn_check_stop(w->ctx))
        return w->ctx->code;
    if (!item->kind->shows_progress || env.quiet)
        hn_progress_show(&w->progress, hn_item_label(item).text);
    if (w->run->parts)
        return run_shared(w, item, &env);
    p->item[p->n] = item;
    env.ahead = w->todo + i + 1;
    env.n_ahead = end - i - 1;
    enum hn_code code = hn_item_run(w->ctx, item, &env, &p->results[p->n++]);
    return code || waits(w, i, end) ? code : store_pending(w);
}

// Items begin <= i < end of the list that were not done otherwise.
static enum hn_code run_stretch(struct work *w, int64_t begin, int64_t end) {
    enum hn_code code = HN_OK;
    for (int64_t i = begin; i < end && code == HN_OK; i++)
        if (w->todo[i] != DONE)
            code = run_one(w, i, end);
    return code;
}

// In a process of its own.
static enum hn_code run_beside(struct hn_context *ctx, void *data, int64_t i,
                               struct hn_process *worker) {
    const struct work *w = data;
    const struct hn_item *item = &w->run->item[w->todo[i]];
    struct hn_item_env env = env_of(w->run);
    struct hn_results results = {0};
    env.worker = worker;
    env.beside = w->run->processes - 1;
    bool failed = hn_item_run(ctx, item, &env, &results) ||
                  hn_cell_store_write(ctx, w->run->folder, item->run_key, &results);
    hn_results_free(ctx, &results);
    return failed ? ctx->code : HN_OK;
}

static void name_beside(const void *data, int64_t i, char *text, size_t size) {
    const struct work *w = data;
    const struct hn_item *item = &w->run->item[w->todo[i]];
    item->kind->label(item, text, size);
}

// One whose result cannot be read is run again, alone.
static void beside_done(void *data, int64_t i) {
    struct work *w = data;
    const struct hn_item *item = &w->run->item[w->todo[i]];
    const struct hn_results *results;
    if (hn_cell_store_read(w->ctx, &w->cells, item->run_key, &results) == HN_OK) {
        count(w, item, results);
        w->todo[i] = DONE;
    }
}

static enum hn_code run_side_by_side(struct work *w) {
    const struct hn_processes processes = {.items = w->n_todo,
                                           .processes = w->run->processes,
                                           .quiet = w->run->quiet,
                                           .unit = w->run->unit,
                                           .work = run_beside,
                                           .name = name_beside,
                                           .done = beside_done,
                                           .data = w};
    return hn_processes_run(w->ctx, &processes);
}

// The list is cut into stretches, as items of one step share what is read and computed for it, and
// repetitions are timed in turn: several for each rank, as they do not take the same time.
enum { STRETCHES = 8 };

static void tell_done(struct work *w, int64_t size) {
    for (int64_t unit; (unit = hn_ranks_told(w->run->ranks)) != HN_RANKS_NONE;)
        for (int64_t i = unit * size; i < hn_min((unit + 1) * size, w->n_todo); i++)
            beside_done(w, i);
}

// On rank 0 what other ranks did is told as it comes; what cannot be read of it is left to be done
// again, alone.
static enum hn_code run_over_ranks(struct work *w) {
    struct hn_ranks *ranks = w->run->ranks;
    int64_t size = w->n_todo / ((int64_t)STRETCHES * hn_ranks_count(ranks)) + 1, unit;
    enum hn_code code = hn_ranks_begin(w->ctx, ranks, (w->n_todo + size - 1) / size);
    if (code)
        return code;
    while ((unit = hn_ranks_next(ranks)) != HN_RANKS_NONE) {
        int64_t end = hn_min((unit + 1) * size, w->n_todo);
        code = run_stretch(w, unit * size, end);
        for (int64_t i = unit * size; i < end && !code; i++)
            w->todo[i] = DONE;
        if (code)
            hn_ranks_fail(ranks);
        else
            hn_ranks_done(ranks);
        tell_done(w, size);
    }
    hn_ranks_end(w->ctx, ranks);
    tell_done(w, size);
    return hn_ranks_agree(w->ctx, ranks, code);
}

static enum hn_code run_all(struct work *w) {
    const struct hn_runner *run = w->run;
    bool own = run->n > 0 && run->item[0].kind->shows_progress && !run->ranks;
    bool beside = run->processes > 1 && w->n_todo > 0;
    hn_progress_begin(&w->progress, w->summary->wanted, w->summary->present, run->quiet || own);
    w->progress.unit = run->unit;
    bool dealt = run->ranks && !run->parts;
    enum hn_code code = beside ? run_side_by_side(w) : dealt ? run_over_ranks(w) : HN_OK;
    if (!code && (run->parts || hn_ranks_number(run->ranks) == 0))
        code = run_stretch(w, 0, w->n_todo);
    hn_progress_clear(&w->progress);
    return code;
}

// Every rank has to have planned the same items.
static enum hn_code check_plan(struct work *w) {
    const struct hn_runner *run = w->run;
    char own[HN_DIGEST_TEXT], first[HN_DIGEST_TEXT];
    struct hn_digest digest;
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, w->ctx->program);
    for (int64_t i = 0; i < run->n; i++)
        hn_digest_add_text(&digest, run->item[i].run_key);
    hn_digest_end(&digest, own);
    memcpy(first, own, sizeof first);
    hn_ranks_share(run->ranks, first, sizeof first);
    if (strcmp(own, first) == 0)
        return HN_OK;
    return hn_fail(w->ctx, HN_DATA,
                   "--mpi: rank %d plans other %s than rank 0: all need the same program, job and "
                   "data",
                   hn_ranks_number(run->ranks), run->unit);
}

// That results are not of this program is said with --quiet, too.
static void tell_foreign(const struct work *w) {
    if (w->foreign > 0 && !(w->run->quiet && w->fresh))
        fprintf(stderr,
                "note: %" PRId64 " of %" PRId64 " %s here were made by another program than this "
                "one (%s): %s\n",
                w->foreign, w->summary->wanted, w->run->unit, w->ctx->program,
                w->fresh ? "they are made anew"
                         : "they are kept, and column `program` says which it was; --fresh makes "
                           "them anew, as CI=true does");
}

// Rank 0 looks what is there and what is to be run.
static enum hn_code prepare(struct work *w) {
    const struct hn_runner *run = w->run;
    if (hn_ranks_number(run->ranks) > 0)
        return HN_OK;
    if (hn_cell_store_prepare(w->ctx, run->folder) ||
        (run->rerun == HN_RERUN_STALE && hn_cell_store_list(w->ctx, &w->cells, &w->earlier)))
        return w->ctx->code;
    if (choose(w))
        return w->ctx->code;
    tell_foreign(w);
    if (w->summary->wanted == 0 && run->filter)
        return hn_fail(w->ctx, HN_USAGE, "--filter matches none of the %s: --dry-run lists them",
                       run->unit);
    return HN_OK;
}

static enum hn_code prepare_all(struct work *w) {
    struct hn_ranks *ranks = w->run->ranks;
    if (!ranks)
        return prepare(w);
    if (hn_ranks_agree(w->ctx, ranks, HN_OK) || hn_ranks_agree(w->ctx, ranks, check_plan(w)) ||
        hn_ranks_agree(w->ctx, ranks, prepare(w)))
        return w->ctx->code;
    hn_ranks_share(ranks, &w->n_todo, sizeof w->n_todo);
    hn_ranks_share(ranks, w->todo, w->n_todo * (int64_t)sizeof *w->todo);
    return HN_OK;
}

enum hn_code hn_run_items(struct hn_context *ctx, const struct hn_runner *run,
                          struct hn_run_summary *summary) {
    *summary = (struct hn_run_summary){0};
    struct work w = {.ctx = ctx,
                     .run = run,
                     .summary = summary,
                     .cells = {.folder = run->folder},
                     .fresh = run->fresh || in_ci()};
    hn_host_program(ctx);
    HN_SCOPE(ctx);
    bool ready = HN_ALLOC(ctx, w.todo, run->n) && HN_ALLOC(ctx, w.pending.item, run->n) &&
                 HN_ZALLOC(ctx, w.pending.results, run->n) && !prepare_all(&w);
    hn_own(ctx, scope.outer); // caches outlive the run
    enum hn_code code = ready ? run_all(&w) : ctx->code;
    free_pending(&w);
    hn_cell_store_close(ctx, &w.cells);
    if (!ready)
        return code;
    if (code == HN_INTERRUPTED && run->unit)
        return hn_fail(ctx, code,
                       "interrupted: %" PRId64 " of %" PRId64
                       " %s are kept, and the same command goes on with the rest",
                       summary->present + summary->ran, summary->wanted, run->unit);
    return code;
}

// An item that was not asked for now may be missing: the results hold what of the job is there.
static enum hn_code append(struct hn_context *ctx, const struct hn_runner *run,
                           struct hn_cell_store *cells, const struct hn_item *item,
                           struct hn_results *out, struct hn_run_summary *summary) {
    const struct hn_results *cell;
    struct hn_cell_status is = {.present = true};
    if ((!hn_run_wants(run, item) || run->rerun == HN_RERUN_STALE || run->parts) &&
        hn_cell_store_state(ctx, cells, item->run_key, &is))
        return ctx->code;
    summary->missing += !is.present;
    if (!is.present)
        return HN_OK;
    if (hn_cell_store_read(ctx, cells, item->run_key, &cell) || hn_results_append(ctx, out, cell))
        return ctx->code;
    const char *status = hn_cell_store_text(cell, "status");
    summary->failed += strcmp(status, "failed") == 0;
    summary->not_applicable += strcmp(status, "not_applicable") == 0;
    return HN_OK;
}

enum hn_code hn_run_collect(struct hn_context *ctx, const struct hn_runner *run,
                            struct hn_results *out, struct hn_run_summary *summary) {
    struct hn_progress progress;
    struct hn_cell_store cells = {.folder = run->folder};
    memset(out, 0, sizeof *out);
    summary->failed = summary->not_applicable = summary->missing = 0;
    hn_progress_begin(&progress, run->n, 0, run->quiet || run->n < MANY);
    progress.unit = "results";
    bool tables = !hn_rows_table(ctx, run->rows, &out->runs) &&
                  !hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing);
    enum hn_code code = tables ? HN_OK : ctx->code;
    for (int64_t i = 0; i < run->n && code == HN_OK; i++) {
        code =
            hn_check_stop(ctx) ? ctx->code : append(ctx, run, &cells, &run->item[i], out, summary);
        hn_progress_step(&progress, false, "put into results.h5");
    }
    hn_progress_clear(&progress);
    hn_cell_store_close(ctx, &cells);
    if (code)
        hn_results_free(ctx, out);
    return code;
}

static enum hn_code add_plan(struct hn_context *ctx, const struct hn_runner *run,
                             struct hn_results *results) {
    for (int64_t i = 0; i < run->n; i++)
        if (hn_merge_plan_row(ctx, results, run->item[i].run_key,
                              hn_item_label(&run->item[i]).text))
            return ctx->code;
    return HN_OK;
}

static enum hn_code describe(struct hn_context *ctx, const struct hn_run_record *record,
                             bool complete, struct hn_results *out) {
    const char *file = hn_base_name(record->job), *dot = strrchr(file, '.');
    char *name = hn_format(ctx, "%.*s", dot > file ? (int)(dot - file) : (int)strlen(file), file);
    bool failed = !name ||
                  hn_results_set(ctx, out, "title", record->title ? record->title : name) ||
                  hn_results_set(ctx, out, "argv", record->argv) ||
                  hn_results_set(ctx, out, "config", record->config) ||
                  hn_results_set(ctx, out, "config_sha256", record->config_sha256);
    hn_free(ctx, name);
    if (failed)
        return ctx->code;
    return hn_results_describe(ctx, out, complete ? "complete" : "partial", record->env) ||
                   hn_programs_describe(ctx, out)
               ? ctx->code
               : HN_OK;
}

static enum hn_code write_plan(struct hn_context *ctx, const struct hn_runner *run,
                               const struct hn_run_record *record) {
    struct hn_results plan = {0};
    HN_SCOPE(ctx);
    return hn_cell_store_prepare(ctx, run->folder) || hn_rows_table(ctx, run->rows, &plan.runs) ||
                   hn_rows_table(ctx, HN_ROWS_TIMING, &plan.timing) || add_plan(ctx, run, &plan) ||
                   describe(ctx, record, false, &plan)
               ? ctx->code
               : hn_cell_plan_write(ctx, run->folder, &plan);
}

enum hn_code hn_run_begin(struct hn_context *ctx, const struct hn_runner *run,
                          const struct hn_run_record *record) {
    bool first = hn_ranks_number(run->ranks) == 0;
    return hn_ranks_agree(ctx, run->ranks, first ? write_plan(ctx, run, record) : HN_OK);
}

enum hn_code hn_run_store(struct hn_context *ctx, const struct hn_runner *run,
                          const struct hn_run_record *record, struct hn_results *out,
                          struct hn_run_summary *summary) {
    if (hn_run_collect(ctx, run, out, summary))
        return ctx->code;
    if (hn_time_add(ctx, record->process, record->n_processes, out) ||
        describe(ctx, record, summary->missing == 0, out) ||
        (summary->missing > 0 && add_plan(ctx, run, out)))
        return ctx->code;
    HN_SCOPE(ctx);
    struct hn_cell_store cells = {.folder = run->folder};
    char *path = hn_format(ctx, "%s/results.h5", run->folder);
    if (!path || hn_results_write(ctx, out, path))
        return ctx->code;
    hn_cell_plan_remove(ctx, run->folder);
    hn_cell_store_pack(ctx, &cells);
    return HN_OK;
}

enum hn_code hn_run_parse_filter(struct hn_context *ctx, const char *text, regex_t *filter) {
    int error = regcomp(filter, text, REG_EXTENDED | REG_NOSUB);
    if (!error)
        return HN_OK;
    char reason[256];
    regerror(error, filter, reason, sizeof reason);
    return hn_fail(ctx, HN_USAGE, "--filter '%s': %s", text, reason);
}
