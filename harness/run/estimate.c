// SPDX-License-Identifier: GPL-3.0-or-later
// Carrying what trial cells took on to the numbers of the job.
#include "core/text.h"
#include "harness/host/memory.h"
#include "harness/run/estimate_private.h"
#include "harness/run/plan.h"

#include <math.h>

enum { TILE_ROWS = 544 }; // of the sweep's largest tile, which small files do not reach

// Copies of a cell's results that merging holds: tables that double as they grow, a column of them
// old beside new, and one part.
static const double merged = 2.5;

static int64_t whole_bytes(double bytes) {
    return bytes >= 9.2e18 ? INT64_MAX : bytes > 0 ? (int64_t)bytes : 0;
}

int64_t hn_estimate_bytes(const double *at, const int64_t *bytes, int sizes, double n) {
    if (sizes < HN_PROBE_SIZES)
        return bytes[0];
    double y0 = (double)bytes[0], y1 = (double)bytes[1], more = at[1] - at[0];
    double slope = more > 0 ? (y1 - y0) / more : y1 / fmax(1, at[1]);
    return whole_bytes(fmax(fmax(y0, y1), y1 + slope * (n - at[1])));
}

// Seconds of a phase at n. They grow with the power of n that its counter shows; without one a
// build, or what has no sampler, with all pairs of items or with the items, whichever is closer to
// the times. Of what grows with all pairs some grows with the items: lists of neighbours are kept,
// and their pages cleared. Short trials tell the two apart roughly, so that no more than three
// quarters are taken for the latter.
static double phase_seconds(const struct hn_probe_file *file, const struct hn_probe *p,
                            enum hn_probe_phase phase, double n) {
    const double *seconds = p->seconds[phase], *counter = p->counter[phase];
    double all = seconds[file->sizes - 1], pairs = all, power = phase == HN_PROBE_EPOCH;
    if (file->sizes == 1 || p->tried < file->sizes)
        return all;
    double to = (double)p->n[1], more = to / (double)p->n[0];
    if (counter[0] > 0 && counter[1] > 0)
        power = fmax(0, fmin(2, log(counter[1] / counter[0]) / log(more)));
    else if (phase == HN_PROBE_BUILD)
        power = seconds[1] > seconds[0] * more * sqrt(more) ? 2 : 1;
    if (power > 1.5)
        pairs = (all - seconds[0] * more) / (1 - pow(more, 1 - power));
    pairs = fmax(all / 4, fmin(all, pairs));
    return pairs * pow(n / to, power) + (all - pairs) * n / to;
}

struct asked {
    const struct hn_context *ctx;
    const struct hn_plan *plan;
    const struct hn_runner *run;
    struct hn_probe_file *file;
    const struct hn_snapshot_info *info;
    double held; // bytes of results so far
};

// Bytes at the job's number of items, of a probe's `bytes`. cell: of its sampler; NULL: of anything
// else.
static double at_n(const struct asked *a, const struct hn_cell *cell, const struct hn_probe *p,
                   const int64_t *bytes) {
    const struct hn_job *job = a->plan->job;
    const struct hn_job_sampler *s = cell ? &job->sampler[cell->sampler] : NULL;
    double at[HN_PROBE_SIZES], n = (double)a->info->n;
    for (int i = 0; i < a->file->sizes; i++)
        at[i] = (double)p->n[i];
    if (s && s->type->entries) {
        const void *tried = job->sampler[hn_probe_tries(job, cell->sampler)].params;
        for (int i = 0; i < a->file->sizes; i++)
            at[i] = s->type->entries(a->ctx, tried, p->n[i]);
        n = s->type->entries(a->ctx, s->params, a->info->n);
    }
    return (double)hn_estimate_bytes(at, bytes, a->file->sizes, n);
}

// Bytes of what is there beside an item: `matrices` steps, the quantities of all pairs, and tiles.
static double beside_bytes(const struct asked *a, int64_t matrices) {
    double tile = (double)TILE_ROWS * TILE_ROWS * sizeof(float);
    double tiles = a->file->sizes == 1 ? 0 : a->ctx->threads * tile; // as tried
    return (double)matrices * (double)hn_step_bytes(a->info) +
           at_n(a, NULL, &a->file->global, a->file->global.bytes) + tiles;
}

// draws: it is the first of the cells that draw the same.
static void estimate_cell(struct asked *a, const struct hn_cell *cell, const struct hn_probe *p,
                          bool draws, struct hn_estimate_item *out) {
    const struct hn_job *job = a->plan->job;
    const struct hn_sampler_type *type = job->sampler[cell->sampler].type;
    bool stale = type->graph && cell->build_index != cell->step_index;
    double per_epoch =
        fmax(1, p->epoch_batches) * (double)hn_batches_per_epoch(a->info->n, cell->batch_size);
    double batches = job->batches ? (double)job->batches : per_epoch * (double)job->epochs;
    double more = fmax(0, batches - (double)a->file->few);
    bool again = job->timing.reps > 1 || job->timing.warmup > 0;
    double rounds = again ? (double)(job->timing.reps + job->timing.warmup) : 0;
    const double times[] = {rounds + 1 + stale, rounds + ceil(batches / per_epoch),
                            rounds * 16 + batches};
    out->seconds += p->fixed + batches * p->measure;
    for (enum hn_probe_phase k = HN_PROBE_BUILD; k < HN_PROBE_PHASES && draws; k++)
        out->seconds += times[k] * phase_seconds(a->file, p, k, (double)a->info->n);
    a->held += more * p->held_batch_bytes;
    double build = at_n(a, cell, p, p->build_bytes);
    double drawn = at_n(a, cell, p, p->bytes) + fmax(0, more * p->batch_bytes);
    // The steps of a stale graph are both built on.
    out->bytes =
        whole_bytes((stale ? build + drawn : fmax(build, drawn)) + beside_bytes(a, 1 + stale));
}

// A step or a study, whose seeds and steps each take as long as those that were tried.
static void estimate_swept(struct asked *a, const struct hn_item *item, const struct hn_probe *p,
                           struct hn_estimate_item *out) {
    const struct hn_plan_study *cell = item->kind == &hn_item_study ? item->of : NULL;
    unsigned uses = cell ? a->plan->job->study[cell->study].type->uses : 0;
    int64_t series = uses & HN_STUDY_SERIES ? hn_plan_series(a->plan, item->step) : 1;
    double times = uses & HN_STUDY_SEEDS ? (double)a->plan->job->n_seeds : 1;
    if (uses & HN_STUDY_SERIES && a->file->sizes == 1)
        times /= (double)a->info->steps; // a trial of all of them
    times *= (double)series;
    out->seconds = times * phase_seconds(a->file, p, HN_PROBE_BUILD, (double)a->info->n);
    out->bytes = whole_bytes(at_n(a, NULL, p, p->bytes) + beside_bytes(a, series > 1 ? 2 : 1));
    a->held += (double)p->held_bytes * (times - 1);
}

// Adds the work that the items of a step share.
static void add_shared(const struct asked *a, struct hn_estimate_item *out) {
    double n = (double)a->info->n;
    if (a->file->sizes > 0)
        out->seconds += phase_seconds(a->file, &a->file->global, HN_PROBE_BUILD, n) +
                        a->file->load * n / (double)a->file->n[a->file->sizes - 1];
}

static void estimate_item(struct asked *a, const struct hn_item *item, bool draws,
                          struct hn_estimate_item *out) {
    const struct hn_job *job = a->plan->job;
    const struct hn_cell *cell = item->kind == &hn_item_cell ? item->of : NULL;
    const struct hn_probe *p = hn_probe_of(a->file, job, item);
    bool lacking = cell && hn_plan_missing(a->info, job->sampler[cell->sampler].type);
    bool tried = a->file->sizes > 0 && p->tried == a->file->sizes;
    *out = (struct hn_estimate_item){.known = lacking || tried,
                                     .rough = !lacking && tried && p->half,
                                     .bytes = hn_step_bytes(a->info)};
    if (lacking || a->file->sizes == 0)
        return;
    a->held += (double)p->held_bytes;
    if (cell)
        estimate_cell(a, cell, p, draws, out);
    else
        estimate_swept(a, item, p, out);
    if (!tried)
        out->seconds = 0;
}

// All items of a file, in turn: the results of those that the run does not want are merged, too.
static void estimate_data(struct asked *a, int64_t data, struct hn_estimate *e) {
    const struct hn_plan_step *shared = NULL;
    const struct hn_cell *drawn = NULL;
    for (int64_t i = 0; i < a->plan->n_items; i++) {
        const struct hn_item *item = &a->plan->item[a->plan->turn[i]];
        struct hn_estimate_item *out = &e->item[a->plan->turn[i]];
        const struct hn_cell *cell = item->kind == &hn_item_cell ? item->of : NULL;
        if (item->step->data != data)
            continue;
        bool same =
            cell && drawn && hn_plan_shares(a->plan->job) && hn_cell_draws_same(cell, drawn);
        estimate_item(a, item, !same, out);
        if (!hn_run_wants(a->run, item))
            continue;
        drawn = cell;
        if (item->kind != &hn_item_study && item->step != shared) {
            add_shared(a, out);
            shared = item->step;
        }
    }
}

// Adds what is there besides the items, and sums them. All results are kept while cells of a group
// wait for their timing, and once more when merged.
static void sum_up(const struct hn_plan *plan, const struct hn_runner *run, double held,
                   struct hn_estimate *e) {
    int64_t all = whole_bytes(merged * held + (double)e->live);
    for (int64_t i = 0; i < plan->n_items; i++) {
        struct hn_estimate_item *item = &e->item[i];
        if (!hn_run_wants(run, &plan->item[i]))
            continue;
        item->bytes = whole_bytes((double)item->bytes + (double)e->live);
        if (plan->item[i].kind != &hn_item_step)
            item->bytes = hn_max(item->bytes, all);
        e->seconds += item->seconds;
        e->unknown += !item->known;
        e->rough += item->rough;
        if (item->bytes > e->bytes) {
            e->bytes = item->bytes;
            snprintf(e->largest, sizeof e->largest, "%s", hn_item_label(&plan->item[i]).text);
        }
    }
    e->resident = whole_bytes((double)e->resident + (double)e->bytes - (double)e->live);
}

static enum hn_code try_all(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_runner *run, double seconds, struct hn_estimate *out) {
    struct hn_probe_file file;
    struct asked asked = {.ctx = ctx, .plan = plan, .run = run, .file = &file};
    int64_t end = hn_wall_ns() + (int64_t)(seconds * 1e9);
    HN_SCOPE(ctx);
    for (int64_t i = 0; i < plan->n_data; i++) {
        int64_t now = hn_wall_ns(), share = (end - now) / (plan->n_data - i);
        if (hn_probe_file(ctx, plan, i, run && run->parts, now + share, &file))
            return ctx->code;
        asked.info = hn_snapshot_info(plan->data[i].snapshot);
        estimate_data(&asked, i, out);
    }
    sum_up(plan, run, asked.held, out);
    return HN_OK;
}

enum hn_code hn_estimate_make(struct hn_context *ctx, const struct hn_plan *plan,
                              const struct hn_runner *run, double seconds,
                              struct hn_estimate *out) {
    int64_t limit = ctx->memory.limit, peak = atomic_load(&ctx->memory.peak);
    ctx->memory.limit = 0;
    *out = (struct hn_estimate){.live = atomic_load(&ctx->memory.live),
                                .resident = hn_host_resident()};
    out->item = hn_zalloc(ctx, plan->n_items, sizeof *out->item);
    enum hn_code code = out->item ? try_all(ctx, plan, run, seconds, out) : ctx->code;
    ctx->memory.limit = limit;
    atomic_store(&ctx->memory.peak, hn_max(peak, atomic_load(&ctx->memory.live)));
    if (code)
        hn_estimate_free(ctx, out);
    return code;
}

void hn_estimate_free(struct hn_context *ctx, struct hn_estimate *e) {
    hn_free(ctx, e->item);
    *e = (struct hn_estimate){0};
}

struct hn_amount hn_bytes_text(int64_t bytes) {
    struct hn_amount amount;
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    int u = 0;
    for (; value >= 1000 && u < 5; u++)
        value /= 1024;
    snprintf(amount.text, sizeof amount.text, value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit[u]);
    return amount;
}

struct hn_amount hn_seconds_text(double seconds) {
    struct hn_amount amount = hn_clock_text(seconds);
    if (seconds < 0.0995)
        hn_put_text(amount.text, sizeof amount.text, "%.0f ms", seconds * 1e3);
    else if (seconds < 59.95)
        hn_put_text(amount.text, sizeof amount.text, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
    return amount;
}
