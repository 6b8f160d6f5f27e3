// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the settings of a job that are tried, and the numbers of items; and the files of these.
#include "harness/run/estimate_private.h"
#include "harness/run/plan.h"

#include "core/sweep/knn_lists.h"
#include "core/sweep/screen.h"
#include "core/sweep/sinks.h"
#include "datasets/synth.h"

enum {
    SMALL = 6000,          // files up to here are tried themselves
    MIN = 2048,            // items of the smallest synthetic file
    SCREENED = 5120,       // where sweeps of the job are screened, and of MIN are not
    SCREENED_BANDS = 8000, // where bands of rows are
    BATCHES = 4,           // of it, at least
    TRIED_MAX = 1 << 15,   // and of a larger one, for parameters and batches that need many
    VALUES_MAX = 1 << 26,  // of a synthetic file: items times dimensions
    SETTINGS_MAX = 64      // samplers with their options that are tried, or a few more
};

int64_t hn_probe_tries(const struct hn_job *job, int64_t sampler) {
    int64_t stride = (job->n_samplers * job->n_batch_sizes + SETTINGS_MAX - 1) / SETTINGS_MAX;
    while (sampler % stride != 0 && job->sampler[sampler].type == job->sampler[sampler - 1].type)
        sampler--;
    return sampler;
}

static void count_note(void *data, const char *text) {
    (void)text;
    ++*(int *)data;
}

// Things that planning notes of a sampler or a study (the other is NULL) at n items; -1: it refuses
// it.
static int count_notes(struct hn_context *ctx, const struct hn_plan *plan,
                       const struct hn_snapshot_info *info, int64_t n,
                       const struct hn_job_sampler *sampler, const struct hn_job_study *study) {
    int notes = 0;
    bool fits = true;
    const struct hn_notes said = ctx->notes;
    ctx->notes = (struct hn_notes){count_note, &notes};
    if (study && study->type->check)
        fits = !study->type->check(ctx, study->params, n);
    for (int64_t b = 0; sampler && b < plan->job->n_batch_sizes; b++) {
        struct hn_sampler_plan shape =
            hn_plan_sampler_plan(info, (int32_t)plan->job->batch_size[b]);
        shape.n = n;
        shape.hands_over = true;
        enum hn_code code = hn_sampler_check(ctx, sampler->type, sampler->params, &shape);
        fits = fits && (code == HN_OK || code == HN_NOT_APPLICABLE);
    }
    ctx->notes = said;
    ctx->message[0] = '\0';
    return fits ? notes : -1;
}

bool hn_probe_same(struct hn_context *ctx, const struct hn_plan *plan,
                   const struct hn_snapshot_info *info, int64_t n,
                   const struct hn_job_sampler *sampler, const struct hn_job_study *study) {
    int notes = count_notes(ctx, plan, info, info->n, sampler, study);
    return notes >= 0 && notes == count_notes(ctx, plan, info, n, sampler, study);
}

static bool all_same(struct hn_context *ctx, const struct hn_plan *plan,
                     const struct hn_snapshot_info *info, int64_t n) {
    const struct hn_job *job = plan->job;
    bool same = true;
    for (int64_t s = 0; s < job->n_samplers && same; s++)
        same = hn_probe_same(ctx, plan, info, n, &job->sampler[s], NULL);
    for (int64_t s = 0; s < job->n_studies && same; s++)
        same = hn_probe_same(ctx, plan, info, n, NULL, &job->study[s]);
    return same;
}

// True if sweeps of n items may be screened, in bands of rows if memory is short.
static bool may_screen(struct hn_context *ctx, const struct hn_snapshot_info *info, int64_t n) {
    int64_t bands = ctx->memory.mode == HN_MEMORY_ANY ? 1 : HN_KNN_BANDS;
    const struct hn_matrix x = {NULL, n / bands, info->d, info->d}, y = {NULL, n, info->d, info->d};
    const struct hn_screen_kernel *kernel;
    return !hn_screen_choose(ctx, &x, &y, 0, &kernel) && kernel;
}

void hn_probe_choose_sizes(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_snapshot_info *info, struct hn_probe_file *out) {
    int64_t n = MIN;
    for (int64_t b = 0; b < plan->job->n_batch_sizes; b++)
        n = hn_max(n, BATCHES * plan->job->batch_size[b]);
    if (may_screen(ctx, info, info->n) && !may_screen(ctx, info, n))
        n = hn_max(n, ctx->memory.mode == HN_MEMORY_ANY ? SCREENED : SCREENED_BANDS);
    while (n < info->n && n < TRIED_MAX && !all_same(ctx, plan, info, n))
        n *= 2;
    bool fit = true;
    for (int64_t s = 0; s < plan->job->n_samplers; s++)
        fit = fit && count_notes(ctx, plan, info, n, &plan->job->sampler[s], NULL) >= 0;
    if (info->n <= SMALL || (2 * n >= info->n && info->n <= 2 * TRIED_MAX))
        out->sizes = 1;
    else if (fit && n <= TRIED_MAX && 2 * n * info->d <= VALUES_MAX)
        out->sizes = HN_PROBE_SIZES;
    for (int i = 0; i < out->sizes; i++)
        out->n[i] = out->sizes == 1 ? info->n : n << i;
}

enum hn_code hn_probe_write(struct hn_context *ctx, const struct hn_snapshot_info *info, int64_t n,
                            char *path) {
    struct hn_synth synth;
    if (hn_options_init(ctx, hn_synth_options, &synth))
        return ctx->code;
    synth.n = n;
    synth.dim = hn_max(2, info->d);
    // As many items a class as in the file, up to four: labels that are all different stay so.
    int64_t of_class = info->classes > 0 ? hn_max(1, hn_min(4, info->n / info->classes)) : 4;
    synth.classes = hn_max(1, hn_min(info->classes, n / of_class));
    synth.super_classes = hn_min(synth.super_classes, synth.classes);
    synth.steps = 1;
    synth.kappa_from = synth.kappa_to;
    synth.views = info->has_view2 || info->has_positive ? 2 : 1;
    synth.output = path;
    synth.tool_version = NULL; // no options, from here on
    synth.teacher_dim = info->teacher_d;
    synth.groups = info->group != NULL;
    return hn_synth_write(ctx, &synth);
}
