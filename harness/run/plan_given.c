// The files of batches that other programs chose: which a cell has.
#include "core/files.h"
#include "datasets/import/given.h"
#include "harness/run/plan.h"
#include "samplers/given.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER = 24, PATH_BYTES = 4096 };

// What the words in braces stand for.
struct word {
    const char *name;
    char text[HN_MESSAGE_MAX];
};

static void fill_words(const struct hn_plan *plan, const struct hn_cell *cell,
                       struct word word[4]) {
    const struct hn_plan_data *data = &plan->data[cell->data];
    const char *dot = strrchr(data->name, '.');
    int length = dot && dot > data->name ? (int)(dot - data->name) : (int)strlen(data->name);
    word[0].name = "step";
    snprintf(word[0].text, NUMBER, "%" PRId64, plan->step[cell->step].number);
    word[1].name = "seed";
    snprintf(word[1].text, NUMBER, "%" PRIu64, cell->seed);
    word[2].name = "batch_size";
    snprintf(word[2].text, NUMBER, "%d", cell->batch_size);
    word[3].name = "dataset";
    hn_put_text(word[3].text, sizeof word[3].text, "%.*s", length, data->name);
}

static enum hn_code put_words(struct hn_context *ctx, const char *file, const struct word word[4],
                              char path[PATH_BYTES]) {
    size_t used = 0;
    for (const char *c = file; *c && used < PATH_BYTES;) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        int k = 0;
        while (
            end && k < 4 &&
            (strncmp(c + 1, word[k].name, (size_t)(end - c - 1)) != 0 || word[k].name[end - c - 1]))
            k++;
        if (end && k == 4)
            return hn_fail(ctx, HN_USAGE,
                           "file: '%s' has %.*s; {step}, {seed}, {batch_size} and {dataset} are "
                           "known",
                           file, (int)(end - c + 1), c);
        if (end)
            used += (size_t)snprintf(path + used, PATH_BYTES - used, "%s", word[k].text);
        else
            path[used++] = *c;
        c = end ? end + 1 : c + 1;
    }
    if (used >= PATH_BYTES)
        return hn_fail(ctx, HN_USAGE, "file: '%.60s...' is too long", file);
    path[used] = '\0';
    return HN_OK;
}

enum hn_code hn_given_find_file(struct hn_context *ctx, const struct hn_plan *plan,
                                struct hn_cell *cell) {
    const struct hn_job *job = plan->job;
    const struct hn_job_sampler *sampler = &job->sampler[cell->sampler];
    const struct hn_given_params *params = hn_given_params_of(sampler->type, sampler->params);
    int64_t points = job->n_samplers * job->n_batch_sizes * job->n_seeds;
    int64_t at = cell - plan->cell - plan->step[cell->step].first_cell;
    char path[PATH_BYTES];
    struct word word[4];
    if (!params || job->trial)
        return HN_OK;
    bool batches = !(sampler->type->flags & HN_SAMPLER_PER_ANCHOR); // anchors differ by seed
    if (batches && job->n_seeds > 1 && !strstr(params->file, "{seed}"))
        return hn_fail(ctx, HN_USAGE,
                       "file: '%s' is one file for %" PRId64 " seeds, whose batches would count as "
                       "often: put {seed} into its name, or give one seed",
                       params->file, job->n_seeds);
    if (at >= points) { // a temperature, loss or weighting before has the same draws
        cell->file = (cell - at + at % points)->file;
        return HN_OK;
    }
    fill_words(plan, cell, word);
    struct hn_given_file *file = hn_zalloc(ctx, 1, sizeof *file);
    if (!file || put_words(ctx, params->file, word, path))
        return ctx->code;
    file->path = hn_path_beside(ctx, job->path, path);
    if (!file->path || hn_given_digest(ctx, file->path, file->sha256))
        return ctx->code;
    cell->file = file;
    // Seeds are innermost: the cell before is of the seed before.
    if (batches && at % job->n_seeds > 0 && strcmp(cell[-1].file->sha256, file->sha256) == 0)
        hn_note_once(
            ctx, "%s: has the batches of %s: seeds that do not differ make intervals too narrow",
            file->path, cell[-1].file->path);
    return HN_OK;
}
