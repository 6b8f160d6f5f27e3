// Carrying what trial cells took on to the numbers of the job.
#include "harness/run/estimate_private.h"

#include <math.h>
#include <unistd.h>

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

// Growth of something that took `value` at the largest size, as the counters grow.
static double grow(const struct hn_probe_file *file, const double *counter, double otherwise,
                   double n) {
    if (file->sizes == 1)
        return 1;
    double from = (double)file->n[0], to = (double)file->n[HN_PROBE_SIZES - 1], power = otherwise;
    if (counter && counter[0] > 0 && counter[HN_PROBE_SIZES - 1] > 0)
        power = log(counter[HN_PROBE_SIZES - 1] / counter[0]) / log(to / from);
    return pow(n / to, fmax(0, fmin(2, power)));
}

// A build of n items: some of it grows with its inner products, and the rest, where these are those
// of all pairs, with the items: lists of neighbours are kept, and their pages cleared. Short trials
// tell the two apart roughly, so that no more than three quarters are taken for the rest.
static double build_seconds(const struct hn_probe_file *file, const struct hn_probe *p, double n) {
    int last = file->sizes - 1;
    double all = p->build.seconds[last], pairs = all;
    if (last > 0 && p->dot_build[0] > 0) {
        double items = (double)file->n[last] / (double)file->n[0];
        double dots = p->dot_build[last] / p->dot_build[0];
        if (dots > items * sqrt(items))
            pairs = (all - p->build.seconds[0] * items) / (1 - items / dots);
    }
    pairs = fmax(all / 4, fmin(all, pairs));
    return pairs * grow(file, p->dot_build, 1, n) + (all - pairs) * n / (double)file->n[last];
}

// Of what is swept: all pairs, if the times say that it is not just every item.
static double grow_swept(const struct hn_probe_file *file, const double *seconds, double n) {
    if (file->sizes == 1)
        return 1;
    int last = HN_PROBE_SIZES - 1;
    double from = (double)file->n[0], to = (double)file->n[last];
    bool pairs = seconds[last] * from > seconds[0] * to * sqrt(to / from);
    return pairs ? n / to * (n / to) : n / to;
}

struct asked {
    const struct hn_context *ctx;
    const struct hn_plan *plan;
    const struct hn_probe_file *file;
    const struct hn_snapshot_info *info;
    const struct hn_job_sampler *sampler; // of the cell
    const struct hn_job_sampler *tried;   // the one that stands for it
    double held;                          // bytes of results so far
};

// Bytes at the job's number of items. sampler: of what that one builds; NULL: of anything else.
static int64_t at_n(const struct asked *a, const struct hn_job_sampler *sampler,
                    const int64_t *bytes) {
    double at[HN_PROBE_SIZES], n = (double)a->info->n;
    for (int i = 0; i < HN_PROBE_SIZES; i++)
        at[i] = (double)a->file->n[i];
    if (sampler && sampler->type->entries) {
        for (int i = 0; i < a->file->sizes; i++)
            at[i] = sampler->type->entries(a->ctx, a->tried->params, a->file->n[i]);
        n = sampler->type->entries(a->ctx, sampler->params, a->info->n);
    }
    return hn_estimate_bytes(at, bytes, a->file->sizes, n);
}

static int64_t tiles_bytes(const struct hn_context *ctx, const struct hn_probe_file *file) {
    if (file->sizes == 1)
        return 0; // as tried
    return hn_bytes_mul(ctx->threads, (int64_t)TILE_ROWS * TILE_ROWS * (int64_t)sizeof(float));
}

// per_epoch: batches.
static double cell_seconds(const struct asked *a, const struct hn_cell *cell,
                           const struct hn_probe *p, double batches, double per_epoch, bool stale) {
    const struct hn_job *job = a->plan->job;
    double n = (double)a->info->n, drawn = 0;
    bool first = cell->temperature <= job->temperature[0] &&
                 cell->temperature >= job->temperature[0] && cell->loss == job->loss[0] &&
                 cell->weighting == 0;
    if (first || !hn_plan_shares(job)) {
        double build = build_seconds(a->file, p, n);
        double epoch = p->epoch * grow(a->file, p->edge, 1, n);
        double next = p->next * grow(a->file, p->dot_batch, 0, n);
        bool again = job->timing.reps > 1 || job->timing.warmup > 0;
        double rounds = again ? (double)(job->timing.reps + job->timing.warmup) : 0;
        drawn = build * (stale ? 2 : 1) + ceil(batches / per_epoch) * epoch + batches * next +
                rounds * (build + epoch + 16 * next);
    }
    return drawn + batches * p->measure + p->fixed + a->file->store;
}

static void estimate_cell(struct asked *a, const struct hn_cell *cell,
                          struct hn_estimate_item *out) {
    const struct hn_job *job = a->plan->job;
    int64_t size = 0;
    while (size < job->n_batch_sizes - 1 && job->batch_size[size] != cell->batch_size)
        size++;
    const struct hn_probe *p = &a->file->probe[cell->sampler * job->n_batch_sizes + size];
    const struct hn_sampler_type *type = job->sampler[cell->sampler].type;
    bool lacking = hn_plan_missing(a->info, type) != NULL;
    a->tried = &job->sampler[p->sampler];
    *out = (struct hn_estimate_item){.known = lacking || (p->known && p->applies),
                                     .seconds = a->file->store};
    a->held += (double)p->held_bytes;
    if (a->file->sizes == 1 && p->known && !p->applies)
        out->known = true; // seen on the file itself
    if (!out->known)
        out->bytes = hn_step_bytes(a->info);
    if (lacking || !p->known || !p->applies || a->file->sizes == 0)
        return;
    bool stale = type->graph && cell->build_index != cell->step_index;
    double per_epoch =
        fmax(1, p->epoch_batches) * (double)hn_batches_per_epoch(a->info->n, cell->batch_size);
    double batches = job->batches ? (double)job->batches : per_epoch * (double)job->epochs;
    double more = fmax(0, batches - (double)a->file->few);
    out->seconds = cell_seconds(a, cell, p, batches, per_epoch, stale);
    a->held += more * p->held_batch_bytes;
    // The cell's tables are there before its sampler; the steps of a stale one are both built on.
    int64_t build = hn_bytes_add(at_n(a, a->sampler, p->build.bytes), p->table_bytes);
    int64_t drawn =
        hn_bytes_add(at_n(a, a->sampler, p->cell_bytes), whole_bytes(more * p->batch_bytes));
    int64_t need = stale ? hn_bytes_add(hn_bytes_add(build, drawn), hn_step_bytes(a->info))
                         : hn_max(build, drawn);
    out->bytes = hn_bytes_add(
        hn_bytes_add(need, hn_step_bytes(a->info)),
        hn_bytes_add(at_n(a, NULL, a->file->global.bytes), tiles_bytes(a->ctx, a->file)));
}

// Estimate of a sweep, with the items of a step, `matrices` of them at a time. times: its
// repetitions.
static void estimate_swept(const struct asked *a, const struct hn_probe_cost *cost, double times,
                           int64_t matrices, struct hn_estimate_item *out) {
    const struct hn_probe_file *file = a->file;
    *out = (struct hn_estimate_item){.known = file->sizes > 0,
                                     .bytes = hn_bytes_mul(hn_step_bytes(a->info), matrices)};
    if (!out->known)
        return;
    out->seconds = cost->seconds[file->sizes - 1] * times *
                   grow_swept(file, cost->seconds, (double)a->info->n);
    out->bytes = hn_bytes_add(out->bytes,
                              hn_bytes_add(at_n(a, NULL, cost->bytes), tiles_bytes(a->ctx, file)));
}

// Adds the work that the items of a step share.
static void add_shared(const struct asked *a, struct hn_estimate_item *out) {
    struct hn_estimate_item shared;
    estimate_swept(a, &a->file->global, 1, 1, &shared);
    if (shared.known)
        out->seconds += shared.seconds +
                        a->file->load * (double)a->info->n / (double)a->file->n[a->file->sizes - 1];
    out->bytes = hn_max(out->bytes, shared.bytes);
}

static void estimate_step(const struct asked *a, struct hn_estimate_item *out) {
    estimate_swept(a, &a->file->step, 1, 1, out);
    out->known = out->known && !a->file->step_late;
    out->seconds = out->known ? out->seconds + a->file->store : 0;
}

// Steps of the series up to that of a study.
static int64_t series_of(const struct hn_plan *plan, const struct hn_plan_study *cell) {
    const struct hn_plan_step *own = &plan->step[cell->step];
    int64_t n = 0;
    for (int64_t i = 0; i < plan->n_steps; i++)
        n += plan->step[i].data == own->data && plan->step[i].step_index <= own->step_index;
    return n;
}

static void estimate_study(struct asked *a, const struct hn_plan_study *cell,
                           struct hn_estimate_item *out) {
    const struct hn_probe_file *file = a->file;
    const struct hn_probe_study *p = &file->study[cell->study];
    unsigned uses = a->plan->job->study[cell->study].type->uses;
    *out = (struct hn_estimate_item){.known = file->sizes > 0 && p->known};
    if (!out->known)
        return;
    int64_t series = uses & HN_STUDY_SERIES ? series_of(a->plan, cell) : 1;
    double tried = uses & HN_STUDY_SERIES ? (double)p->series : 1;
    double times = (double)series / tried;
    if (uses & HN_STUDY_SEEDS)
        times *= (double)a->plan->job->n_seeds;
    a->held += (double)p->held_bytes * times;
    estimate_swept(a, &p->cost, times, series > 1 ? 2 : 1, out);
    out->seconds += p->store * times;
}

static int64_t resident_bytes(void) {
    long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld %lld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

// All items of a file: the results of those that the run does not want are merged, too.
static void estimate_data(struct asked *a, int64_t data, const struct hn_runner *run,
                          struct hn_estimate *e) {
    char label[HN_ITEM_LABEL];
    const struct hn_plan_step *shared = NULL;
    for (int64_t i = 0; i < a->plan->n_items; i++) {
        const struct hn_item *item = &a->plan->item[i];
        const struct hn_cell *cell = item->kind == &hn_item_cell ? item->of : NULL;
        a->sampler = cell ? &a->plan->job->sampler[cell->sampler] : NULL;
        if (item->step->data != data)
            continue;
        if (cell)
            estimate_cell(a, cell, &e->item[i]);
        else if (item->kind == &hn_item_study)
            estimate_study(a, item->of, &e->item[i]);
        else
            estimate_step(a, &e->item[i]);
        if (item->kind != &hn_item_study && item->step != shared &&
            hn_run_wants(run, item, label)) {
            add_shared(a, &e->item[i]);
            shared = item->step;
        }
    }
}

// Adds what is there besides the items, and sums them. All results are kept while cells of a group
// wait for their timing, and once more when merged.
static void sum_up(const struct hn_plan *plan, const struct hn_runner *run, double held,
                   struct hn_estimate *e) {
    int64_t all = hn_bytes_add(whole_bytes(merged * held), e->live);
    char label[HN_ITEM_LABEL];
    for (int64_t i = 0; i < plan->n_items; i++) {
        struct hn_estimate_item *item = &e->item[i];
        if (!hn_run_wants(run, &plan->item[i], label))
            continue;
        item->bytes = hn_bytes_add(item->bytes, e->live);
        if (plan->item[i].kind != &hn_item_step)
            item->bytes = hn_max(item->bytes, all);
        e->seconds += item->seconds;
        e->unknown += !item->known;
        if (item->bytes > e->bytes) {
            e->bytes = item->bytes;
            snprintf(e->largest, sizeof e->largest, "%s", label);
        }
    }
}

static enum hn_code try_all(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_runner *run, struct hn_estimate *out) {
    struct hn_probe_file file;
    struct asked asked = {.ctx = ctx, .plan = plan, .file = &file};
    int64_t end = hn_wall_ns() + HN_ESTIMATE_SECONDS * INT64_C(1000000000);
    HN_SCOPE(ctx);
    for (int64_t i = 0; i < plan->n_data; i++) {
        int64_t now = hn_wall_ns(), share = (end - now) / (plan->n_data - i);
        if (hn_probe_file(ctx, plan, i, run && run->parts, now + share, &file))
            return ctx->code;
        asked.info = hn_snapshot_info(plan->data[i].snapshot);
        estimate_data(&asked, i, run, out);
    }
    sum_up(plan, run, asked.held, out);
    return HN_OK;
}

enum hn_code hn_estimate_make(struct hn_context *ctx, const struct hn_plan *plan,
                              const struct hn_runner *run, struct hn_estimate *out) {
    int64_t limit = ctx->memory.limit, peak = atomic_load(&ctx->memory.peak);
    ctx->memory.limit = 0;
    *out =
        (struct hn_estimate){.live = atomic_load(&ctx->memory.live), .resident = resident_bytes()};
    out->item = hn_zalloc(ctx, plan->n_items, sizeof *out->item);
    enum hn_code code = out->item ? try_all(ctx, plan, run, out) : ctx->code;
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

int hn_bytes_text(int64_t bytes, char *buffer, size_t size) {
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    int u = 0;
    for (; value >= 1000 && u < 5; u++)
        value /= 1024;
    return snprintf(buffer, size, value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit[u]);
}

int hn_seconds_text(double seconds, char *buffer, size_t size) {
    if (seconds < 0.0995)
        return snprintf(buffer, size, "%.0f ms", seconds * 1e3);
    if (seconds < 59.95)
        return snprintf(buffer, size, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
    long long s = (long long)fmin(seconds + 0.5, 9e15);
    if (s < 3600)
        return snprintf(buffer, size, "%lld:%02lld", s / 60, s % 60);
    return snprintf(buffer, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}
