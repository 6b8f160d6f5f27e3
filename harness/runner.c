#include "harness/runner.h"
#include "core/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// A cell that waits for its group's timing before it is stored.
struct pending {
    const struct hn_cell *cell;
    struct hn_results results;
};

struct run {
    const struct hn_plan *plan;
    const struct hn_run_options *options;
    struct hn_run_summary *summary;
    struct hn_cell_cache *cache;
    struct hn_progress progress;
    struct pending *pending; // of the group in work
    int64_t n_pending;
};

enum { LABEL_MAX = 512 };

static char *shard_path(struct hn_context *ctx, const char *folder, const struct hn_cell *cell) {
    return hn_format(ctx, "%s/cells/%s.h5", folder, cell->run_key);
}

static bool selected(const struct run *r, const struct hn_cell *cell) {
    if (!r->options->filter)
        return true;
    char label[LABEL_MAX];
    hn_cell_label(r->plan, cell, label, sizeof label);
    return regexec(r->options->filter, label, 0, NULL, 0) == 0;
}

// Whether a whole shard is there; *failed: whether its cell failed.
static enum hn_code shard_state(struct hn_context *ctx, const char *folder,
                                const struct hn_cell *cell, bool *present, bool *failed) {
    *present = *failed = false;
    char *path = shard_path(ctx, folder, cell);
    if (!path)
        return ctx->code;
    struct hn_results shard = {0};
    enum hn_code code = HN_OK;
    if (hn_results_probe(ctx, path)) {
        code = hn_results_read(ctx, path, &shard);
        *present = code == HN_OK && shard.runs.rows == 1 &&
                   strcmp(hn_table_text(&shard.runs, 0, "run_key"), cell->run_key) == 0;
        *failed = *present && strcmp(hn_table_text(&shard.runs, 0, "status"), "failed") == 0;
        if (code == HN_DATA) // a damaged shard is a missing one
            code = HN_OK;
    }
    hn_results_free(ctx, &shard);
    hn_free(ctx, path);
    return code;
}

static enum hn_code needs_run(struct hn_context *ctx, const struct run *r,
                              const struct hn_cell *cell, bool *needed) {
    *needed = false;
    if (!selected(r, cell))
        return HN_OK;
    bool present, failed;
    if (shard_state(ctx, r->options->folder, cell, &present, &failed))
        return ctx->code;
    enum hn_rerun rerun = r->options->rerun;
    *needed = !present || rerun == HN_RERUN_ALL || (rerun == HN_RERUN_FAILED && failed);
    if (r->options->explain) {
        char label[LABEL_MAX];
        hn_cell_label(r->plan, cell, label, sizeof label);
        fprintf(stderr, "%s: %s\n", label,
                !present  ? "to run (no result of these parameters and this code version yet)"
                : *needed ? "to run again, as --rerun asks"
                : failed  ? "skipped: it failed before (--rerun failed tries again)"
                          : "skipped: its result is there");
    }
    return HN_OK;
}

static enum hn_code store(struct hn_context *ctx, const struct run *r, const struct pending *p) {
    char *path = shard_path(ctx, r->options->folder, p->cell);
    if (!path)
        return ctx->code;
    enum hn_code code = hn_results_write(ctx, &p->results, path);
    hn_free(ctx, path);
    return code == HN_USAGE ? hn_fail_in(ctx, "storing a cell") : code;
}

static void count(struct run *r, const struct pending *p) {
    const char *status = hn_table_text(&p->results.runs, 0, "status");
    char label[LABEL_MAX];
    hn_cell_label(r->plan, p->cell, label, sizeof label);
    bool failed = strcmp(status, "failed") == 0;
    r->summary->ran++;
    r->summary->failed += failed;
    r->summary->not_applicable += strcmp(status, "not_applicable") == 0;
    hn_progress_step(&r->progress, failed, label);
    if (failed) {
        hn_progress_clear(&r->progress);
        fprintf(stderr, "failed: %s: %s\n", label, hn_table_text(&p->results.runs, 0, "error"));
    }
}

static void free_pending(struct hn_context *ctx, struct run *r) {
    for (int64_t i = 0; i < r->n_pending; i++)
        hn_results_free(ctx, &r->pending[i].results);
    r->n_pending = 0;
}

// One repetition of every pending cell, in an order of its own, so that a slow spell of the machine
// does not fall on one sampler alone.
static enum hn_code time_round(struct hn_context *ctx, struct run *r, int64_t rep, bool warmup,
                               int64_t *order) {
    int32_t *turn = hn_alloc(ctx, r->n_pending, sizeof *turn);
    if (!turn)
        return ctx->code;
    for (int32_t i = 0; i < r->n_pending; i++)
        turn[i] = i;
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "runner.turn", 0, 0, rep);
    hn_stream_shuffle(&stream, turn, r->n_pending);
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < r->n_pending; i++) {
        struct pending *p = &r->pending[turn[i]];
        code = hn_check_stop(ctx);
        if (code == HN_OK)
            code = hn_cell_time(ctx, r->plan, p->cell, r->cache, rep, warmup, order, &p->results);
    }
    hn_free(ctx, turn);
    return code;
}

// Further repetitions of the pending cells (the first, cold one came with the measuring).
static enum hn_code time_pending(struct hn_context *ctx, struct run *r) {
    const struct hn_job_timing *timing = &r->plan->job->timing;
    int64_t order = 1000000; // after every sample of the measuring
    int64_t rounds = timing->reps > 1 || timing->warmup > 0 ? timing->warmup + timing->reps : 0;
    for (int64_t rep = 0; rep < rounds; rep++)
        if (time_round(ctx, r, rep + 1, rep < timing->warmup, &order))
            return ctx->code;
    for (int64_t i = 0; rounds && i < r->n_pending; i++) {
        struct pending *p = &r->pending[i];
        if (strcmp(hn_table_text(&p->results.runs, 0, "status"), "ok") == 0 &&
            hn_cell_costs(ctx, r->plan, p->cell, r->options, &p->results))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code finish_pending(struct hn_context *ctx, struct run *r) {
    enum hn_code code = time_pending(ctx, r);
    for (int64_t i = 0; code == HN_OK && i < r->n_pending; i++) {
        code = store(ctx, r, &r->pending[i]);
        if (code == HN_OK)
            count(r, &r->pending[i]);
    }
    free_pending(ctx, r);
    return code;
}

static bool same_group(const struct hn_cell *a, const struct hn_cell *b) {
    return a->data == b->data && a->step_index == b->step_index && a->temperature == b->temperature;
}

static enum hn_code run_cell(struct hn_context *ctx, struct run *r, const struct hn_cell *cell) {
    bool interleave = r->plan->job->timing.interleave;
    if (r->n_pending && (!interleave || !same_group(r->pending[0].cell, cell)) &&
        finish_pending(ctx, r))
        return ctx->code;
    char label[LABEL_MAX];
    hn_cell_label(r->plan, cell, label, sizeof label);
    hn_progress_show(&r->progress, label);
    struct pending *p = &r->pending[r->n_pending++];
    p->cell = cell;
    if (hn_cell_run(ctx, r->plan, cell, r->cache, r->options, &p->results))
        return ctx->code;
    return interleave ? HN_OK : finish_pending(ctx, r);
}

static enum hn_code make_folder(struct hn_context *ctx, const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE, "%s: the output folder cannot be made (%s): give another -o",
                   path, strerror(errno));
}

// Removes what killed runs left half-written, "<name>.h5.tmp-...". A shard takes milliseconds to
// write: what is ten minutes old belongs to nobody, on this machine or another.
static void remove_leftovers(const char *cells) {
    DIR *folder = opendir(cells);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat s;
        if (strstr(entry->d_name, ".h5.tmp-") &&
            fstatat(dirfd(folder), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
            s.st_mtime < time(NULL) - 600)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

// Makes the run's folders, parents included, and tries whether cells can be written there.
static enum hn_code prepare_folder(struct hn_context *ctx, const char *folder) {
    char *cells = hn_format(ctx, "%s/cells", folder);
    if (!cells)
        return ctx->code;
    enum hn_code code = HN_OK;
    for (char *slash = strchr(cells + 1, '/'); code == HN_OK && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        code = make_folder(ctx, cells);
        *slash = '/';
    }
    if (code == HN_OK)
        code = make_folder(ctx, cells);
    char *probe = code == HN_OK ? hn_format(ctx, "%s/.writable", cells) : NULL;
    FILE *file = probe ? fopen(probe, "w") : NULL;
    if (file) {
        fclose(file);
        remove(probe);
        remove_leftovers(cells);
    } else if (probe) {
        code = hn_fail(ctx, HN_USAGE, "%s: cannot be written (%s): give another -o", cells,
                       strerror(errno));
    }
    hn_free(ctx, probe);
    hn_free(ctx, cells);
    return code;
}

// Marks which cells are to run; skipped ones are counted as present.
static enum hn_code choose(struct hn_context *ctx, struct run *r, bool *needed) {
    for (int64_t i = 0; i < r->plan->n_cells; i++) {
        if (needs_run(ctx, r, &r->plan->cell[i], &needed[i]))
            return ctx->code;
        bool wanted = selected(r, &r->plan->cell[i]);
        r->summary->wanted += wanted;
        r->summary->present += wanted && !needed[i];
    }
    return HN_OK;
}

enum hn_code hn_run_cells(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_run_options *options, struct hn_run_summary *summary) {
    memset(summary, 0, sizeof *summary);
    struct run r = {.plan = plan, .options = options, .summary = summary};
    bool *needed = NULL;
    enum hn_code code = prepare_folder(ctx, options->folder);
    if (code)
        goto done;
    code = HN_MEMORY;
    needed = hn_zalloc(ctx, plan->n_cells, sizeof *needed);
    r.pending = hn_zalloc(ctx, plan->n_cells, sizeof *r.pending);
    r.cache = hn_cell_cache_open(ctx);
    if (!needed || !r.pending || !r.cache)
        goto done;
    code = choose(ctx, &r, needed);
    if (code)
        goto done;
    hn_progress_begin(&r.progress, summary->wanted, summary->present, options->quiet);
    for (int64_t i = 0; code == HN_OK && i < plan->n_cells; i++) {
        if (!needed[i])
            continue;
        code = hn_check_stop(ctx);
        if (code == HN_OK)
            code = run_cell(ctx, &r, &plan->cell[i]);
    }
    if (code == HN_OK)
        code = finish_pending(ctx, &r);
    hn_progress_end(&r.progress);
done:
    free_pending(ctx, &r);
    hn_cell_cache_close(ctx, r.cache);
    hn_free(ctx, r.pending);
    hn_free(ctx, needed);
    return code;
}

enum hn_code hn_run_collect(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_run_options *options, struct hn_results *out,
                            int64_t *failed) {
    memset(out, 0, sizeof *out);
    *failed = 0;
    struct run r = {.plan = plan, .options = options};
    for (int64_t i = 0; i < plan->n_cells; i++) {
        if (!selected(&r, &plan->cell[i]))
            continue;
        struct hn_results shard = {0};
        char *path = shard_path(ctx, options->folder, &plan->cell[i]);
        enum hn_code code = path ? hn_results_read(ctx, path, &shard) : HN_MEMORY;
        if (code == HN_OK)
            code = hn_results_append(ctx, out, &shard);
        if (code == HN_OK)
            *failed += strcmp(hn_table_text(&shard.runs, 0, "status"), "failed") == 0;
        hn_results_free(ctx, &shard);
        hn_free(ctx, path);
        if (code) {
            hn_results_free(ctx, out);
            return code;
        }
    }
    return HN_OK;
}
