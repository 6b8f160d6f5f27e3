// Trying what processes would share: builds, and what needs no sampler, cut into parts whose files
// one process writes and reads, as `--rows 1/1` does. Everything is cut into few parts, and then
// into twice as many, which tells bytes that every part has from those that are dealt out to parts.
#include "core/files.h"
#include "harness/host/parts.h"
#include "harness/run/estimate_trial_private.h"

#include <math.h>
#include <string.h>

enum { FEW = 4 }; // parts

struct sharing {
    struct hn_trial *t;
    const bool *wanted;
    struct hn_probe_sharing *out;
    struct hn_file_parts parts;
    int pass;   // 0, or 1 with twice the parts
    bool again; // the same with another seed
};

static struct hn_probe_task *find_task(struct hn_context *ctx, struct hn_probe_sharing *out,
                                       int64_t unit, const char *what) {
    for (int64_t i = 0; i < out->n; i++)
        if (out->task[i].unit == unit && strcmp(out->task[i].cut.what, what) == 0)
            return &out->task[i];
    if (hn_grow(ctx, &out->task, &out->capacity, out->n + 1, sizeof *out->task))
        return NULL;
    out->task[out->n] = (struct hn_probe_task){.unit = unit};
    return &out->task[out->n++];
}

static enum hn_code keep(struct hn_context *ctx, const struct sharing *s, int64_t unit,
                         const struct hn_parts_record *record) {
    const struct hn_trial *t = s->t;
    struct hn_probe_task *task = find_task(ctx, s->out, unit, record->cut.what);
    if (!task)
        return ctx->code;
    task->cut = record->cut;
    if (s->again) {
        task->per_seed = task->per_seed || record->computed > 0;
        return HN_OK;
    }
    task->parts[t->place][s->pass] += (double)record->parts;
    task->bytes[t->place][s->pass] += (double)record->bytes;
    if (s->pass > 0)
        return HN_OK;
    task->multiplications[t->place] += record->cut.multiplications;
    if (!t->last)
        return HN_OK;
    task->times++;
    task->fresh += record->computed > 0 ? record->cut.multiplications : 0;
    task->seconds += (double)record->compute_ns * 1e-9;
    return HN_OK;
}

static enum hn_code keep_all(struct hn_context *ctx, struct sharing *s, int64_t unit,
                             enum hn_code code) {
    for (int64_t i = 0; i < s->parts.n_log && !code; i++)
        code = keep(ctx, s, unit, &s->parts.log[i]);
    s->parts.n_log = 0;
    return code;
}

static enum hn_code share_global(struct hn_context *ctx, struct hn_trial *t) {
    const struct hn_global *global;
    struct hn_mark begin = hn_trial_mark(ctx);
    enum hn_code code = hn_cache_global(ctx, &t->small, &t->small.cell[t->step->first_cell],
                                        t->items, t->state.cache, &global);
    t->out->global.bytes[t->place] = hn_trial_peak(ctx, begin);
    return code;
}

static enum hn_code share_study(struct hn_context *ctx, struct hn_trial *t, int64_t study) {
    struct hn_results results = {0};
    const struct hn_plan_study *of = t->small.study;
    while (&t->small.step[of->step] != t->step || of->study != study)
        of++;
    struct hn_mark begin = hn_trial_mark(ctx);
    enum hn_code code =
        hn_trial_item(ctx, t, &hn_item_study, of, of->cell_key, of->run_key, &results);
    t->out->study[study].cost.bytes[t->place] = hn_trial_peak(ctx, begin);
    hn_results_free(ctx, &results);
    return code;
}

// The peak of a cell, whose build's parts are there.
static enum hn_code share_cell(struct hn_context *ctx, struct sharing *s,
                               const struct hn_cell *cell, struct hn_probe *p) {
    struct hn_results results = {0};
    int64_t logged = s->parts.n_log;
    struct hn_mark begin = hn_trial_mark(ctx);
    enum hn_code code =
        hn_trial_item(ctx, s->t, &hn_item_cell, cell, cell->cell_key, cell->run_key, &results);
    p->cell_bytes[s->t->place] = hn_trial_peak(ctx, begin);
    s->parts.n_log = logged;
    hn_results_free(ctx, &results);
    return code;
}

// What failed when it was tried, or is not for these data, is not tried again.
static enum hn_code share_build(struct hn_context *ctx, struct sharing *s, int64_t at) {
    struct hn_trial *t = s->t;
    struct hn_probe *p = &t->out->probe[at];
    struct hn_cell cell = hn_trial_cell(t, p->sampler, at % t->job.n_batch_sizes, 0, 0);
    if (!p->known || !p->applies || !hn_probe_tries(&t->job, at / t->job.n_batch_sizes))
        return HN_OK;
    cell.seed += s->again;
    enum hn_code code = hn_trial_build(ctx, t, &cell, p);
    return code || s->again || s->pass > 0 ? code : share_cell(ctx, s, &cell, p);
}

static enum hn_code share_unit(struct hn_context *ctx, struct sharing *s, int64_t unit) {
    struct hn_trial *t = s->t;
    int64_t builds = HN_UNITS + t->job.n_studies;
    if (unit >= builds)
        return share_build(ctx, s, unit - builds);
    if (unit == HN_UNIT_GLOBAL)
        return hn_trial_needs_global(t) ? share_global(ctx, t) : HN_OK;
    return unit == HN_UNIT_STEP ? hn_trial_step(ctx, t) : share_study(ctx, t, unit - HN_UNITS);
}

static enum hn_code share_units(struct hn_context *ctx, struct sharing *s, int64_t from) {
    const struct hn_job *job = &s->t->job;
    int64_t units = HN_UNITS + job->n_studies + job->n_samplers * job->n_batch_sizes;
    enum hn_code code = HN_OK;
    for (int64_t unit = from; unit < units && !code; unit++)
        if (s->wanted[unit]) {
            code = hn_check_stop(ctx);
            code = code ? code : share_unit(ctx, s, unit);
            code = keep_all(ctx, s, unit, code);
        }
    return code;
}

// What other units found is read, and not computed anew, as in a run.
static enum hn_code one_pass(struct hn_context *ctx, struct sharing *s) {
    struct hn_trial *t = s->t;
    bool whole = t->out->sizes == 1; // cut as it will be
    hn_cell_cache_close(ctx, t->state.cache);
    t->state.cache = hn_cell_cache_open(ctx, false);
    if (!t->state.cache || hn_file_parts_open(ctx, NULL, NULL, &s->parts) ||
        hn_cache_items(ctx, &t->small, 0, t->step->step_index, 0, t->state.cache, &t->items))
        return ctx->code;
    s->parts.folder = t->folder;
    s->parts.logs = true;
    s->parts.parts.count = whole ? 0 : (int64_t)FEW << s->pass;
    hn_file_parts_begin(&s->parts, "a trial");
    ctx->parts = &s->parts.parts;
    s->again = false;
    enum hn_code code = share_units(ctx, s, 0);
    s->again = t->plan->job->n_seeds > 1 && t->place == 0 && s->pass == 0;
    if (!code && s->again)
        code = share_units(ctx, s, HN_UNITS + t->job.n_studies);
    ctx->parts = NULL;
    hn_file_parts_remove(ctx, &s->parts);
    hn_file_parts_close(ctx, &s->parts);
    return code;
}

static enum hn_code share_sizes(struct hn_context *ctx, struct sharing *s) {
    struct hn_trial *t = s->t;
    enum hn_code code = HN_OK;
    for (t->place = 0; t->place < t->out->sizes && !code; t->place++) {
        t->last = t->place == t->out->sizes - 1;
        code = hn_trial_open(ctx, t);
        for (s->pass = 0; s->pass < (t->last && t->place == 0 ? 1 : 2) && !code; s->pass++)
            code = one_pass(ctx, s);
        hn_trial_close(ctx, t);
    }
    return code;
}

static double between(const struct hn_probe_file *f, const int64_t *bytes) {
    double share = (double)(f->n[1] - f->n[0]) / (double)(f->n[2] - f->n[0]);
    return (double)bytes[0] + share * (double)(bytes[2] - bytes[0]);
}

// A part has few rows in a trial, so that its peak of memory grows by whole tiles, and a square
// that is fitted through these steps means nothing. The squared term is taken from the trial
// without parts.
static void bend(const struct hn_probe_file *f, const int64_t *plain, int64_t *shared) {
    shared[1] = (int64_t)fmax(0, between(f, shared) + (double)plain[1] - between(f, plain));
}

static void bend_all(const struct hn_job *job, const struct hn_probe_file *plain,
                     struct hn_probe_file *shared) {
    if (shared->sizes < HN_PROBE_SIZES)
        return;
    bend(shared, plain->global.bytes, shared->global.bytes);
    bend(shared, plain->step.bytes, shared->step.bytes);
    for (int64_t i = 0; i < job->n_studies; i++)
        bend(shared, plain->study[i].cost.bytes, shared->study[i].cost.bytes);
    for (int64_t i = 0; i < job->n_samplers * job->n_batch_sizes; i++) {
        bend(shared, plain->probe[i].build_bytes, shared->probe[i].build_bytes);
        bend(shared, plain->probe[i].cell_bytes, shared->probe[i].cell_bytes);
    }
}

static enum hn_code copy_file(struct hn_context *ctx, const struct hn_job *job,
                              const struct hn_probe_file *from, struct hn_probe_file *to) {
    int64_t probes = job->n_samplers * job->n_batch_sizes;
    *to = *from;
    to->probe = hn_alloc(ctx, probes, sizeof *to->probe);
    to->study = hn_alloc(ctx, job->n_studies, sizeof *to->study);
    if (!to->probe || !to->study)
        return ctx->code;
    memcpy(to->probe, from->probe, (size_t)probes * sizeof *to->probe);
    memcpy(to->study, from->study, (size_t)job->n_studies * sizeof *to->study);
    return HN_OK;
}

enum hn_code hn_probe_share(struct hn_context *ctx, const struct hn_plan *plan, int64_t data,
                            const bool *wanted, int64_t end, struct hn_probe_file *file,
                            struct hn_probe_sharing *out) {
    struct hn_trial t;
    struct hn_probe_file plain;
    struct sharing s = {.t = &t, .wanted = wanted, .out = out};
    *out = (struct hn_probe_sharing){0};
    if (copy_file(ctx, plan->job, file, &plain) || hn_trial_begin(ctx, plan, data, end, file, &t))
        return ctx->code;
    const struct hn_notes said = ctx->notes;
    ctx->notes.to = NULL; // said when the job was planned
    ctx->deadline = end;
    enum hn_code code = share_sizes(ctx, &s);
    bool late = hn_trial_end_share(ctx, &code);
    out->known = !late && file->sizes > 0;
    if (out->known)
        bend_all(plan->job, &plain, file);
    ctx->notes = said;
    hn_scratch_remove(ctx, t.folder);
    return code;
}
