// SPDX-License-Identifier: GPL-3.0-or-later
// Cells whose batches another program chose.
#include "core/files.h"
#include "core/text.h"
#include "datasets/import/format.h"
#include "datasets/import/given.h"
#include "datasets/import/npy_write.h"
#include "harness/host/child.h"
#include "harness/run/cell_private.h"
#include "harness/run/cells.h"
#include "harness/run/words.h"
#include "results/timing.h"
#include "samplers/given.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Items in their order: what a trial draws, whose times do not depend on which.
static enum hn_code make_up(struct hn_context *ctx, const struct hn_job *job,
                            const struct hn_sampler *s, struct hn_given *out) {
    int64_t n = s->n, longest = hn_sampler_capacity(s->type, s->params, n);
    bool negatives = longest > 0;
    longest = negatives ? longest : s->batch_size;
    out->path = "a trial";
    out->per_epoch = negatives ? n : hn_batches_per_epoch(n, s->batch_size);
    out->lists = negatives ? n : hn_max(out->per_epoch, job->batches);
    if (!HN_ALLOC(ctx, out->start, out->lists + 1) ||
        !HN_ALLOC_ROWS(ctx, out->ids, out->lists, longest))
        return ctx->code;
    for (int64_t l = 0; l <= out->lists; l++)
        out->start[l] = l * longest;
    for (int64_t i = 0; i < out->start[out->lists]; i++)
        out->ids[i] = (int32_t)((negatives ? i / longest + 1 + i % longest : i) % n);
    return HN_OK;
}

// Notes how many items the emptiest epoch of batches holds, if that is not all.
static enum hn_code note_missing(struct hn_context *ctx, struct hn_cell_work *w,
                                 const struct hn_given *g) {
    char text[96];
    int64_t held_min = w->items->n;
    HN_SCOPE(ctx);
    int64_t *seen = hn_zalloc(ctx, w->items->n, sizeof *seen);
    if (!seen)
        return ctx->code;
    for (int64_t e = 0; e < hn_given_epochs(g); e++) {
        int64_t end = hn_min(g->lists, (e + 1) * g->per_epoch), held = 0;
        for (int64_t i = g->start[e * g->per_epoch]; i < g->start[end]; i++) {
            held += seen[g->ids[i]] != e + 1;
            seen[g->ids[i]] = e + 1;
        }
        held_min = hn_min(held_min, held);
    }
    if (held_min == w->items->n)
        return HN_OK;
    snprintf(text, sizeof text, "an epoch holds %" PRId64 " of %s", held_min,
             hn_counted(w->items->n, "item").text);
    hn_own(ctx, scope.outer);
    return hn_cell_add_note(ctx, &w->out->runs, text);
}

static struct hn_given_rules rules_of(const struct hn_cell_work *w) {
    const struct hn_sampler *s = &w->sampler;
    const struct hn_given_params *params = hn_given_params_of(s->type, s->params);
    bool negatives = s->type->flags & HN_SAMPLER_PER_ANCHOR;
    return (struct hn_given_rules){.n = s->n,
                                   .longest = negatives ? params->n : s->batch_size,
                                   .per_epoch = hn_max(0, params->per_epoch),
                                   .negatives = negatives,
                                   .repeats = params->repeats};
}

// Writes an array for the program to a file, and adds the word that stands for its path.
static enum hn_code write_input(struct hn_context *ctx, const struct hn_items *items,
                                const char *folder, const char *name, struct hn_words *words) {
    struct hn_new_file file;
    const struct hn_matrix *rows = strcmp(name, "view2") == 0                     ? &items->x2
                                   : strcmp(name, "view1") == 0 && items->x1.data ? &items->x1
                                                                                  : &items->x;
    char *path = hn_format(ctx, "%s/%s.npy", folder, name);
    if (!path || hn_file_begin(ctx, path, &file))
        return ctx->code;
    hn_words_add(words, name, path);
    if (strcmp(name, "labels") != 0)
        return hn_npy_write_rows(ctx, &file, rows);
    int64_t *label = hn_alloc(ctx, items->n, sizeof *label);
    for (int64_t i = 0; label && i < items->n; i++)
        label[i] = items->labels[i];
    return label ? hn_npy_write(ctx, &file, 1, &items->n, label) : ctx->code;
}

static enum hn_code write_inputs(struct hn_context *ctx, const struct hn_cell_work *w,
                                 const char *folder, struct hn_words *words) {
    const struct hn_job *job = w->plan->job;
    const struct hn_job_sampler *sampler = &job->sampler[w->cell->sampler];
    const struct hn_given_params *params = hn_given_params_of(sampler->type, sampler->params);
    const struct hn_items *items = w->build_items;
    int64_t epochs = hn_job_epochs(job, sampler), batches = hn_job_batches(job, sampler),
            each = hn_batches_per_epoch(w->sampler.n, w->sampler.batch_size);
    const char *out = hn_format(ctx, "%s/out.npy", folder);
    const char *wanted = hn_format(ctx, "%" PRId64, epochs ? epochs : (batches + each - 1) / each);
    if (!out || !wanted || hn_words_of_cell(ctx, w->plan, w->cell, words) ||
        write_input(ctx, items, folder, "embeddings", words))
        return ctx->code;
    hn_words_add(words, "out", out);
    hn_words_add(words, "epochs", wanted);
    for (int64_t i = 0; i < params->needs.count; i++) {
        const char *need = params->needs.item[i];
        if (strcmp(need, "labels") == 0 && (!items->labels || items->label_sets))
            return hn_fail(ctx, HN_NOT_APPLICABLE, "it needs one label of each item");
        if (write_input(ctx, items, folder, need, words))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run_in(struct hn_context *ctx, struct hn_cell_work *w,
                           const struct hn_words *words) {
    const struct hn_sampler *s = &w->sampler;
    const struct hn_given_params *params = hn_given_params_of(s->type, s->params);
    const char *job = w->plan->job->path;
    struct hn_child child = {.seconds = params->timeout};
    struct hn_child_cost cost;
    char **argv = hn_zalloc(ctx, params->run.count + 1, sizeof *argv);
    if (!argv)
        return ctx->code;
    for (int64_t i = 0; i < params->run.count; i++)
        if (!(argv[i] = hn_words_put(ctx, words, "run", params->run.item[i])))
            return ctx->code;
    child.argv = argv;
    child.folder = hn_format(ctx, "%.*s", (int)(hn_base_name(job) - job), job);
    if (!child.folder || hn_child_run(ctx, &child, &cost))
        return ctx->code;
    w->build = (struct hn_stamp){(int64_t)(1e9 * cost.wall), (int64_t)(1e9 * cost.cpu), NAN};
    return HN_OK;
}

static enum hn_code run_command(struct hn_context *ctx, struct hn_cell_work *w,
                                struct hn_given *out) {
    struct hn_words words = {.n = 0};
    struct hn_given_rules rules = rules_of(w);
    rules.title = "its output";
    HN_SCOPE(ctx);
    char *folder = hn_scratch_make(ctx), *path = folder ? realpath(folder, NULL) : NULL;
    const char *file = path ? hn_format(ctx, "%s/out.npy", path) : NULL;
    enum hn_code code = !file                                ? hn_failure(ctx)
                        : write_inputs(ctx, w, path, &words) ? ctx->code
                                                             : run_in(ctx, w, &words);
    if (!code && access(file, F_OK) != 0)
        code = hn_fail(ctx, HN_DATA, "it ended well, and wrote no {out}");
    void *own = hn_own(ctx, scope.outer);
    code = code ? code : hn_given_read(ctx, file, NULL, &rules, out);
    hn_own(ctx, own);
    hn_scratch_remove(ctx, folder);
    free(path);
    return code && code != HN_INTERRUPTED
               ? hn_fail_in(ctx, "%s", hn_sampler_title(w->sampler.type, w->sampler.params))
               : code;
}

enum hn_code hn_given_hand_over(struct hn_context *ctx, struct hn_cell_work *w) {
    struct hn_sampler *s = &w->sampler;
    const struct hn_given_file *file = w->cell->file;
    if (!(s->type->flags & HN_SAMPLER_GIVEN))
        return HN_OK;
    const struct hn_given_rules rules = rules_of(w);
    void *outer = hn_own(ctx, s->state);
    struct hn_given *given = hn_zalloc(ctx, 1, sizeof *given);
    w->build.wall = HN_UNTIMED;
    enum hn_code code = !given       ? ctx->code
                        : !file      ? make_up(ctx, w->plan->job, s, given)
                        : file->path ? hn_given_read(ctx, file->path, file->sha256, &rules, given)
                                     : run_command(ctx, w, given);
    hn_own(ctx, outer);
    s->given = given;
    if (!code && !(s->type->flags & HN_SAMPLER_PER_ANCHOR))
        code = note_missing(ctx, w, given);
    return code;
}

enum hn_code hn_given_set_costs(struct hn_context *ctx, struct hn_cell_work *w) {
    const struct hn_sampler *s = &w->sampler;
    const struct hn_given_params *params = hn_given_params_of(s->type, s->params);
    double batches = (double)hn_batches_per_epoch(s->n, s->batch_size), build = params->cost_g;
    if (!w->cell->file->path &&
        hn_time_median(ctx, &w->out->timing, HN_TIME_BUILD, HN_CLOCK_WALL, &build))
        return ctx->code;
    if (!(s->type->flags & HN_SAMPLER_PER_ANCHOR))
        batches = (double)hn_min(s->given->per_epoch, s->given->lists);
    return HN_TABLE_SET(ctx, &w->out->runs, 0, HN_REAL_VALUE("cost_s", params->cost_s),
                        HN_REAL_VALUE("cost_g", build),
                        HN_REAL_VALUE("cost_g_over_t", build / batches));
}
