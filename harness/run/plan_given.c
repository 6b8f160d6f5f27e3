// SPDX-License-Identifier: GPL-3.0-or-later
// Files and commands of cells whose batches another program chooses, found before the run.
#include "core/files.h"
#include "datasets/import/given.h"
#include "harness/run/plan.h"
#include "harness/run/words.h"
#include "samplers/given.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static bool is_batches(const struct hn_job_sampler *s) {
    return !(s->type->flags & HN_SAMPLER_PER_ANCHOR);
}

static enum hn_code find_file(struct hn_context *ctx, const struct hn_plan *plan,
                              const struct hn_cell *cell, const struct hn_given_params *params,
                              struct hn_given_file *file) {
    const struct hn_job *job = plan->job;
    struct hn_words words = {.n = 0};
    if (is_batches(&job->sampler[cell->sampler]) && job->n_seeds > 1 &&
        !strstr(params->file, "{seed}")) // the anchors of negatives differ by seed
        return hn_fail(ctx, HN_USAGE,
                       "file: '%s' is one file for %" PRId64 " seeds, whose batches would count as "
                       "often: put {seed} into its name, or give one seed",
                       params->file, job->n_seeds);
    if (hn_words_of_cell(ctx, plan, cell, &words))
        return ctx->code;
    const char *path = hn_words_put(ctx, &words, "file", params->file);
    file->path = path ? hn_path_beside(ctx, job->path, path) : NULL;
    return file->path ? hn_given_digest(ctx, file->path, file->sha256) : ctx->code;
}

// Words of a command, to be checked before the run.
static void command_words(const struct hn_given_params *params, struct hn_words *words) {
    static const char *const always[] = {"embeddings", "out", "epochs"};
    for (int i = 0; i < 3; i++)
        hn_words_add(words, always[i], "");
    for (int64_t i = 0; i < params->needs.count; i++)
        hn_words_add(words, params->needs.item[i], "");
}

// The arguments, and, of a command without a version, the contents of the files that they name.
static enum hn_code digest_command(struct hn_context *ctx, const struct hn_plan *plan,
                                   const struct hn_cell *cell, const struct hn_given_params *params,
                                   struct hn_given_file *file) {
    struct hn_words words = {.n = 0};
    struct hn_digest d;
    char contents[HN_DIGEST_TEXT];
    struct stat is;
    HN_SCOPE(ctx);
    if (hn_words_of_cell(ctx, plan, cell, &words))
        return ctx->code;
    command_words(params, &words);
    hn_digest_begin(&d);
    for (int64_t i = 0; i < params->run.count; i++) {
        const char *argument = params->run.item[i];
        const char *path = hn_path_beside(ctx, plan->job->path, argument);
        if (!path || !hn_words_put(ctx, &words, "run", argument))
            return ctx->code;
        hn_digest_add_text(&d, argument);
        if (params->version || stat(path, &is) || !S_ISREG(is.st_mode))
            continue;
        if (hn_given_digest(ctx, path, contents))
            return ctx->code;
        hn_digest_add_text(&d, contents);
    }
    hn_digest_end(&d, file->sha256);
    return HN_OK;
}

// Seeds are innermost: the cell before is of the seed before.
static void note_same(struct hn_context *ctx, const struct hn_plan *plan,
                      const struct hn_cell *cell, int64_t at) {
    const struct hn_given_file *file = cell->file;
    if (!file->path || !is_batches(&plan->job->sampler[cell->sampler]) ||
        at % plan->job->n_seeds == 0 || strcmp(cell[-1].file->sha256, file->sha256) != 0)
        return;
    hn_note_once(ctx,
                 "%s: has the batches of %s: seeds that do not differ make intervals too narrow",
                 file->path, cell[-1].file->path);
}

enum hn_code hn_given_find_file(struct hn_context *ctx, const struct hn_plan *plan,
                                struct hn_cell *cell) {
    const struct hn_job *job = plan->job;
    const struct hn_job_sampler *sampler = &job->sampler[cell->sampler];
    const struct hn_given_params *params = hn_given_params_of(sampler->type, sampler->params);
    int64_t points = job->n_samplers * job->n_batch_sizes * job->n_seeds;
    int64_t at = cell - plan->cell - plan->step[cell->step].first_cell;
    if (!params || job->trial)
        return HN_OK;
    if (at >= points) { // a temperature, loss or weighting before has the same draws
        cell->file = (cell - at + at % points)->file;
        return HN_OK;
    }
    struct hn_given_file *file = hn_zalloc(ctx, 1, sizeof *file);
    if (!file || (params->run.count ? digest_command(ctx, plan, cell, params, file)
                                    : find_file(ctx, plan, cell, params, file)))
        return ctx->code;
    cell->file = file;
    note_same(ctx, plan, cell, at);
    return HN_OK;
}
