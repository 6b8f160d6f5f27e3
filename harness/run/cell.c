// One cell: build the sampler, draw its batches, measure them, and fill one row.
#include "harness/host/host.h"
#include "harness/run/columns.h"
#include "harness/run/runner.h"
#include "samplers/proximity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

// Batches per call of `next`: enough for all threads, few enough to stay in cache.
// Negatives per anchor are many: fewer batches then, PAIRS of them in all or one batch.
enum { CHUNK = 16, PAIRS = 1 << 24 };

// Clocks and counter at one moment, or between two.
struct stamp {
    int64_t wall, cpu;
    double instructions;
};

// Everything that is open while a cell runs.
struct work {
    const struct hn_plan *plan;
    const struct hn_cell *cell;
    const struct hn_items *items;       // judged
    const struct hn_items *build_items; // built on
    const struct hn_global *global;     // NULL: not needed or no positives
    struct hn_sampler sampler;
    struct hn_results *out;
    struct hn_cell_cache *share; // where a sampler may lie that is built; NULL: builds are timed
    struct stamp build;          // what the build took
    bool shared;                 // the build was another cell's
    int64_t *order;              // counts timed samples
    int64_t rep;
    bool warmup;
    const struct hn_instructions *instructions; // NULL: not counted
};

// The counter is read outside the time that is measured, before it begins and after it has ended.
static struct stamp begin_timing(const struct work *w) {
    struct stamp s = {.instructions =
                          w->instructions ? hn_instructions_read(w->instructions) : NAN};
    s.cpu = hn_cpu_ns();
    s.wall = hn_wall_ns();
    return s;
}

static struct stamp since(const struct work *w, struct stamp begun) {
    struct stamp s = {.wall = hn_wall_ns() - begun.wall};
    s.cpu = hn_cpu_ns() - begun.cpu;
    s.instructions =
        w->instructions ? hn_instructions_read(w->instructions) - begun.instructions : NAN;
    return s;
}

static const struct hn_job_weighting *weighting_of(const struct hn_plan *plan,
                                                   const struct hn_cell *cell) {
    return &plan->job->weighting[cell->weighting];
}

static struct hn_weighting_law law_of(const struct hn_plan *plan, const struct hn_cell *cell) {
    const struct hn_job_weighting *w = weighting_of(plan, cell);
    const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[cell->data].snapshot);
    return w->type->law(w->params, info->step[cell->step_index]);
}

static bool wants_global(const struct hn_plan *plan, const struct hn_cell *cell) {
    const struct hn_job *job = plan->job;
    struct hn_weighting_law law = law_of(plan, cell);
    unsigned lacks = hn_is_weighted(&law) ? HN_METRIC_NEEDS_UNWEIGHTED : 0;
    for (int64_t m = 0; m < job->n_metrics; m++)
        if ((job->metric[m]->needs & HN_METRIC_NEEDS_GLOBAL) && !(job->metric[m]->needs & lacks))
            return true;
    return false;
}

static enum hn_code add_sample(struct hn_context *ctx, struct work *w, const char *phase,
                               int64_t rep, int64_t batches, struct stamp took) {
    struct hn_table *t = &w->out->timing;
    if (hn_table_add_row(ctx, t))
        return ctx->code;
    int64_t row = t->rows - 1;
    if (hn_table_set_int(ctx, t, row, "run", 0) || hn_table_set_text(ctx, t, row, "phase", phase) ||
        hn_table_set_int(ctx, t, row, "rep", rep) ||
        hn_table_set_int(ctx, t, row, "order", (*w->order)++) ||
        hn_table_set_int(ctx, t, row, "warmup", w->warmup) ||
        hn_table_set_int(ctx, t, row, "batches", batches) ||
        hn_table_set_int(ctx, t, row, "wall_ns", took.wall) ||
        hn_table_set_int(ctx, t, row, "cpu_ns", took.cpu) ||
        hn_table_set_real(ctx, t, row, "instructions", took.instructions) ||
        hn_table_set_int(ctx, t, row, "shared", w->shared && strcmp(phase, "build") == 0))
        return ctx->code;
    return HN_OK;
}

static enum hn_code open_and_build(struct hn_context *ctx, struct work *w) {
    const struct hn_job_sampler *sampler = &w->plan->job->sampler[w->cell->sampler];
    struct hn_kept_sampler kept;
    w->shared = w->share && hn_cache_take_sampler(ctx, w->share, w->cell, &kept);
    if (w->shared) {
        w->sampler = kept.sampler;
        w->build = (struct stamp){kept.wall_ns, kept.cpu_ns, kept.instructions};
        return add_sample(ctx, w, "build", w->rep, 0, w->build);
    }
    if (hn_sampler_open(ctx, sampler->type, sampler->params, w->items->n, w->cell->batch_size,
                        w->cell->seed, &w->sampler))
        return ctx->code;
    struct stamp begun = begin_timing(w);
    if (hn_sampler_build(ctx, &w->sampler, w->build_items, w->build_items->step))
        return ctx->code;
    w->build = since(w, begun);
    return add_sample(ctx, w, "build", w->rep, 0, w->build);
}

// Kept for the next cell, unless something went wrong.
static void leave_sampler(struct hn_context *ctx, struct work *w, enum hn_code code) {
    struct hn_kept_sampler kept = {w->sampler, w->build.wall, w->build.cpu, w->build.instructions};
    if (w->share && code == HN_OK)
        hn_cache_keep_sampler(ctx, w->share, w->cell, &kept);
    else
        hn_sampler_close(ctx, &w->sampler);
}

static enum hn_code begin_epoch(struct hn_context *ctx, struct work *w, int64_t epoch,
                                int64_t *batches) {
    struct stamp begun = begin_timing(w);
    if (hn_sampler_epoch(ctx, &w->sampler, w->items, epoch, batches))
        return ctx->code;
    return add_sample(ctx, w, "epoch", epoch, *batches, since(w, begun));
}

static enum hn_code draw(struct hn_context *ctx, struct work *w, struct hn_batches *b,
                         int64_t rep) {
    struct stamp begun = begin_timing(w);
    if (hn_sampler_next(ctx, &w->sampler, b))
        return ctx->code;
    return add_sample(ctx, w, "next", rep, b->count, since(w, begun));
}

// Batches of one call of `next`.
static int32_t chunk(const struct hn_batches *b) {
    int64_t pairs = hn_max(1, b->batch_size * b->room);
    return (int32_t)hn_max(1, hn_min(CHUNK, PAIRS / pairs));
}

static enum hn_code measure_drawn(struct hn_context *ctx, struct hn_measure *measure, int64_t epoch,
                                  const struct hn_batches *b) {
    if (b->room == 0)
        return hn_measure_batches(ctx, measure, epoch, b->count, b->size, b->ids);
    const struct hn_measure_lists lists = {b->negatives, b->negative};
    return hn_measure_anchors(ctx, measure, epoch, b->count, b->size, b->ids, lists);
}

// Draws and measures all batches of the cell; measure is opened when the first epoch is known.
static enum hn_code draw_all(struct hn_context *ctx, struct work *w, struct hn_batches *b,
                             struct hn_measure_spec *spec, struct hn_measure **measure) {
    const struct hn_job *job = w->plan->job;
    int64_t done = 0, rep = 0, total = job->batches;
    for (int64_t epoch = 0; epoch == 0 || done < total; epoch++) {
        int64_t batches;
        if (begin_epoch(ctx, w, epoch, &batches))
            return ctx->code;
        if (epoch == 0) {
            if (!total && !hn_mul(batches, job->epochs, &total))
                return hn_fail(ctx, HN_USAGE, "epochs: %" PRId64 " is too many", job->epochs);
            spec->env.batches = total;
            spec->env.epoch_batches = batches;
            if (hn_measure_begin(ctx, spec, measure))
                return ctx->code;
        }
        for (b->first = 0; b->first < batches && done < total; b->first += b->count) {
            int64_t left = hn_min(batches - b->first, total - done);
            b->count = (int32_t)hn_min(left, chunk(b));
            if (hn_check_stop(ctx) || draw(ctx, w, b, rep++) ||
                measure_drawn(ctx, *measure, epoch, b) ||
                (job->save_batches &&
                 hn_results_add_batches(ctx, w->out, b->count, b->size, b->ids, b->batch_size)))
                return ctx->code;
            done += b->count;
        }
    }
    return hn_table_set_int(ctx, &w->out->runs, 0, "batches", done);
}

// Share of a fresh graph's edges that the stale one holds: the same candidates on today's
// embeddings.
static enum hn_code graph_overlap(struct hn_context *ctx, struct work *w, double *overlap) {
    const struct hn_sampler_type *type = w->sampler.type;
    const struct hn_graph *stale = type->graph ? type->graph(&w->sampler) : NULL;
    *overlap = stale ? 1.0 : NAN;
    if (!stale || w->items == w->build_items)
        return HN_OK;
    struct hn_sampler fresh;
    if (hn_sampler_open(ctx, type, w->sampler.params, w->items->n, w->cell->batch_size,
                        w->cell->seed, &fresh))
        return ctx->code;
    enum hn_code code = hn_sampler_build(ctx, &fresh, w->items, w->build_items->step);
    if (code == HN_OK)
        code = hn_graph_overlap(ctx, type->graph(&fresh), stale, overlap);
    hn_sampler_close(ctx, &fresh);
    return code;
}

// Columns of negatives per anchor; NaN for batches.
static enum hn_code store_lists(struct hn_context *ctx, struct work *w) {
    const struct hn_sampler *s = &w->sampler;
    if (s->anchors == 0)
        return HN_OK;
    struct hn_table *runs = &w->out->runs;
    double negatives = (double)s->pairs / (double)s->anchors;
    double without = (double)s->anchors_without;
    enum hn_code code = hn_table_set_real(ctx, runs, 0, "negatives_mean", negatives);
    return code ? code : hn_table_set_real(ctx, runs, 0, "anchors_without", without);
}

// The sampler's own table, if it has one.
static enum hn_code store_table(struct hn_context *ctx, struct work *w) {
    const struct hn_sampler *s = &w->sampler;
    if (!s->type->table)
        return HN_OK;
    struct hn_table *table = hn_resize(ctx, w->out->table, w->out->n_tables + 1, sizeof *table);
    if (!table)
        return ctx->code;
    w->out->table = table;
    table += w->out->n_tables++;
    *table = (struct hn_table){0};
    return s->type->table(ctx, s, table);
}

static enum hn_code store_sampler(struct hn_context *ctx, struct work *w) {
    const struct hn_sampler *s = &w->sampler;
    struct hn_table *runs = &w->out->runs;
    double overlap = NAN;
    if (graph_overlap(ctx, w, &overlap))
        return ctx->code;
    bool built = s->type->rebuild != NULL;
    double age = built ? (double)(w->items->step - w->build_items->step) : NAN;
    if (hn_table_set_real(ctx, runs, 0, "graph_age", age) ||
        hn_table_set_real(ctx, runs, 0, "graph_overlap", overlap) ||
        hn_table_set_int(ctx, runs, 0, "stalls", s->stalls) ||
        hn_table_set_int(ctx, runs, 0, "n_dot", s->build.dot + s->sampling.dot) ||
        hn_table_set_int(ctx, runs, 0, "n_dot_build", s->build.dot) ||
        hn_table_set_int(ctx, runs, 0, "n_draw", s->build.draw + s->sampling.draw) ||
        hn_table_set_int(ctx, runs, 0, "n_step", s->build.step + s->sampling.step) ||
        hn_table_set_int(ctx, runs, 0, "n_edge", s->build.edge + s->sampling.edge) ||
        hn_table_set_int(ctx, runs, 0, "bytes_touched", s->build.bytes + s->sampling.bytes))
        return ctx->code;
    if (store_lists(ctx, w) || store_table(ctx, w))
        return ctx->code;
    if (!s->type->report)
        return HN_OK;
    double value[32] = {0};
    s->type->report(s, value);
    for (int i = 0; i < s->type->n_reports; i++)
        if (hn_table_set_real(ctx, runs, 0, s->type->reports[i].name, value[i]))
            return ctx->code;
    return HN_OK;
}

// Adds a remark to the note column, once.
static enum hn_code add_note(struct hn_context *ctx, struct hn_table *runs, const char *text) {
    const char *old = hn_table_text(runs, 0, "note");
    if (!*text || strstr(old, text))
        return HN_OK;
    char *joined = hn_format(ctx, "%s%s%s", old, *old ? "; " : "", text);
    if (!joined)
        return ctx->code;
    enum hn_code code = hn_table_set_text(ctx, runs, 0, "note", joined);
    hn_free(ctx, joined);
    return code;
}

// Puts the metrics' values and arrays into the results; the arrays change owner.
static enum hn_code store_metrics(struct hn_context *ctx, struct work *w, const double *value,
                                  struct hn_cell_arrays *arrays, const char *why) {
    const struct hn_job *job = w->plan->job;
    for (int64_t m = 0; m < job->n_metrics; m++) {
        const struct hn_metric_type *metric = job->metric[m];
        for (int i = 0; i < metric->n_columns; i++)
            if (hn_table_set_real(ctx, &w->out->runs, 0, metric->columns[i].name, *value++))
                return ctx->code;
    }
    struct hn_results *out = w->out;
    out->batch_start = hn_zalloc(ctx, 2, sizeof *out->batch_start);
    if (!out->batch_start)
        return ctx->code;
    out->kinds = arrays->histogram ? HN_PAIR_KINDS : 0;
    out->bins = arrays->bins;
    out->bin_lo = -1.0;
    out->bin_hi = 1.0;
    out->histogram = arrays->histogram;
    out->batch_start[1] = arrays->batches;
    out->batch_fn_ratio = arrays->batch_fn_ratio;
    out->batch_cos_mean = arrays->batch_cos_mean;
    memset(arrays, 0, sizeof *arrays);
    return add_note(ctx, &out->runs, why);
}

static enum hn_code measure_batches(struct hn_context *ctx, struct work *w, struct hn_batches *b) {
    const struct hn_job *job = w->plan->job;
    struct hn_measure_spec spec = {.metrics = job->metric,
                                   .n_metrics = (int)job->n_metrics,
                                   .env = {.items = w->items,
                                           .global = w->global,
                                           .temperature = w->cell->temperature,
                                           .loss = w->cell->loss,
                                           .law = law_of(w->plan, w->cell),
                                           .batch_size = w->cell->batch_size,
                                           .room = b->room,
                                           .threads = ctx->threads}};
    struct hn_measure *measure = NULL;
    struct hn_cell_arrays arrays = {0};
    char why[HN_MESSAGE_MAX];
    int columns = hn_measure_columns(job->metric, (int)job->n_metrics);
    double *value = hn_alloc(ctx, columns, sizeof *value);
    enum hn_code code = value ? draw_all(ctx, w, b, &spec, &measure) : HN_MEMORY;
    if (code == HN_OK)
        code = hn_measure_finish(ctx, measure, value, &arrays, why);
    if (code == HN_OK)
        code = store_metrics(ctx, w, value, &arrays, why);
    hn_cell_arrays_free(ctx, &arrays);
    hn_measure_close(ctx, measure);
    hn_free(ctx, value);
    return code;
}

// Opens the sampler, builds it, lets `use` draw from it, and closes it.
static enum hn_code with_sampler(struct hn_context *ctx, struct work *w,
                                 enum hn_code (*use)(struct hn_context *, struct work *,
                                                     struct hn_batches *)) {
    const struct hn_job_sampler *sampler = &w->plan->job->sampler[w->cell->sampler];
    struct hn_batches b = {.batch_size = w->cell->batch_size,
                           .room = hn_sampler_room(sampler->type, sampler->params, w->items->n)};
    int64_t places = (int64_t)chunk(&b) * b.batch_size;
    size_t list = (size_t)b.room * sizeof(int32_t);
    b.size = hn_alloc(ctx, CHUNK, sizeof(int32_t));
    b.ids = hn_alloc(ctx, places, sizeof(int32_t));
    b.negatives = hn_alloc(ctx, places, sizeof(int32_t));
    b.negative = hn_alloc(ctx, places, list);
    bool taken = b.size && b.ids && b.negatives && b.negative;
    enum hn_code code = taken ? open_and_build(ctx, w) : HN_MEMORY;
    if (code == HN_OK)
        code = use(ctx, w, &b);
    leave_sampler(ctx, w, code);
    hn_free(ctx, b.size);
    hn_free(ctx, b.ids);
    hn_free(ctx, b.negatives);
    hn_free(ctx, b.negative);
    return code;
}

static enum hn_code measure_and_store(struct hn_context *ctx, struct work *w,
                                      struct hn_batches *b) {
    enum hn_code code = measure_batches(ctx, w, b);
    return code ? code : store_sampler(ctx, w);
}

// The first epoch's beginning and its first batches, for their time alone.
static enum hn_code draw_some(struct hn_context *ctx, struct work *w, struct hn_batches *b) {
    int64_t batches;
    if (begin_epoch(ctx, w, 0, &batches))
        return ctx->code;
    b->first = 0;
    b->count = (int32_t)hn_min(batches, chunk(b));
    return draw(ctx, w, b, w->rep);
}

static enum hn_code set_options(struct hn_context *ctx, struct hn_table *runs,
                                const struct hn_option *options, const void *params) {
    char text[256];
    for (const struct hn_option *o = options; o->name; o++) {
        hn_option_text(o, params, text, sizeof text);
        const char *field = (const char *)params + o->offset;
        double number;
        if (o->kind == HN_OPTION_INT) { // unset, or a word, is no number
            bool digits = *text && (*text < 'A' || *text > 'z');
            number = digits ? (double)*(const int64_t *)field : NAN;
        } else if (o->kind == HN_OPTION_REAL) {
            number = *(const double *)field;
        } else {
            if (hn_table_set_text(ctx, runs, 0, o->name, text))
                return ctx->code;
            continue;
        }
        if (hn_table_set_real(ctx, runs, 0, o->name, number))
            return ctx->code;
    }
    return HN_OK;
}

// What planning noted about these parameters on this file belongs to the row as well.
static enum hn_code set_plan_note(struct hn_context *ctx, const struct hn_plan *plan,
                                  const struct hn_cell *cell, struct hn_table *runs) {
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    struct hn_sampler_plan shape =
        hn_plan_sampler_plan(hn_snapshot_info(plan->data[cell->data].snapshot), cell->batch_size);
    char note[HN_MESSAGE_MAX] = "";
    const struct hn_notes said = ctx->notes;
    ctx->notes = (struct hn_notes){hn_keep_note, note};
    enum hn_code code = hn_sampler_check(ctx, sampler->type, sampler->params, &shape);
    ctx->notes = said;
    return code && code != HN_NOT_APPLICABLE ? code : add_note(ctx, runs, note);
}

static enum hn_code begin_row(struct hn_context *ctx, const struct hn_plan *plan,
                              const struct hn_cell *cell, struct hn_results *out) {
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    const struct hn_job_weighting *weighting = weighting_of(plan, cell);
    const struct hn_plan_data *data = &plan->data[cell->data];
    if (hn_rows_table(ctx, HN_ROWS_RUNS, &out->runs) ||
        hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing) || hn_table_add_row(ctx, &out->runs) ||
        hn_results_set(ctx, out, "run_key", cell->run_key))
        return ctx->code;
    struct hn_table *r = &out->runs;
    if (hn_table_set_text(ctx, r, 0, "cell_key", cell->cell_key) ||
        hn_table_set_text(ctx, r, 0, "run_key", cell->run_key) ||
        hn_table_set_text(ctx, r, 0, "dataset", data->name) ||
        hn_table_set_text(ctx, r, 0, "dataset_sha256", data->sha256) ||
        hn_table_set_int(ctx, r, 0, "step",
                         hn_snapshot_info(data->snapshot)->step[cell->step_index]) ||
        hn_table_set_text(ctx, r, 0, "sampler", sampler->type->name) ||
        hn_table_set_text(ctx, r, 0, "params", sampler->text) ||
        hn_table_set_text(ctx, r, 0, "loss", hn_losses[cell->loss].name) ||
        hn_table_set_text(ctx, r, 0, "weighting", weighting->type->name) ||
        hn_table_set_real(ctx, r, 0, "temperature", cell->temperature) ||
        hn_table_set_int(ctx, r, 0, "batch_size", cell->batch_size) ||
        hn_table_set_int(ctx, r, 0, "seed", (int64_t)cell->seed) ||
        hn_table_set_text(ctx, r, 0, "tool_version", hn_version) ||
        hn_table_set_text(ctx, r, 0, "status", "ok") ||
        set_options(ctx, r, sampler->type->options, sampler->params) ||
        set_options(ctx, r, weighting->type->options, weighting->params) ||
        set_plan_note(ctx, plan, cell, r))
        return ctx->code;
    return HN_OK;
}

// A cell that failed keeps its row, its reason, and nothing else.
static enum hn_code mark(struct hn_context *ctx, const struct hn_plan *plan,
                         const struct hn_cell *cell, const char *status, struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin_row(ctx, plan, cell, out) ||
        hn_table_set_text(ctx, &out->runs, 0, "status", status) ||
        hn_table_set_text(ctx, &out->runs, 0, "error", reason))
        return ctx->code;
    return HN_OK;
}

static enum hn_code set_peak(struct hn_context *ctx, struct hn_results *out) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return hn_table_set_int(ctx, &out->runs, 0, "peak_rss", (int64_t)usage.ru_maxrss * 1024);
}

// The embeddings that the cell is judged on and built on.
static enum hn_code find_items(struct hn_context *ctx, struct work *w,
                               struct hn_cell_cache *cache) {
    const struct hn_cell *cell = w->cell;
    if (hn_cache_items(ctx, w->plan, cell->data, cell->step_index, 0, cache, &w->items))
        return ctx->code;
    w->build_items = w->items;
    if (cell->build_index == cell->step_index)
        return HN_OK;
    return hn_cache_items(ctx, w->plan, cell->data, cell->build_index, 1, cache, &w->build_items);
}

// HN_NOT_APPLICABLE if the file lacks what the sampler needs, always or with these parameters.
static enum hn_code check_needs(struct hn_context *ctx, const struct hn_plan *plan,
                                const struct hn_cell *cell) {
    const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[cell->data].snapshot);
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    const char *missing = hn_plan_missing(info, sampler->type);
    if (missing)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "%s needs %s, which %s does not have",
                       sampler->type->name, missing, plan->data[cell->data].name);
    const struct hn_notes said = ctx->notes;
    ctx->notes.to = NULL; // set_plan_note() keeps the notes
    struct hn_sampler_plan shape = hn_plan_sampler_plan(info, cell->batch_size);
    enum hn_code code = hn_sampler_check(ctx, sampler->type, sampler->params, &shape);
    ctx->notes = said;
    return code;
}

enum hn_code hn_cell_run(struct hn_context *ctx, const struct hn_plan *plan,
                         const struct hn_cell *cell, struct hn_cell_cache *cache,
                         const struct hn_run_options *options, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    int64_t order = 0;
    struct work w = {.plan = plan,
                     .cell = cell,
                     .out = out,
                     .order = &order,
                     .share = cache,
                     .instructions = options->instructions};
    enum hn_code suits = check_needs(ctx, plan, cell);
    if (suits == HN_NOT_APPLICABLE)
        return mark(ctx, plan, cell, "not_applicable", out);
    if (suits)
        return suits;
    if (begin_row(ctx, plan, cell, out) || find_items(ctx, &w, cache))
        return ctx->code;
    enum hn_code code = HN_OK;
    if (wants_global(plan, cell) && hn_has_positive(w.items))
        code = hn_cache_global(ctx, plan, cell, w.items, cache, &w.global);
    if (code == HN_OK)
        code = with_sampler(ctx, &w, measure_and_store);
    if (code == HN_INTERRUPTED)
        return code;
    if (code)
        return mark(ctx, plan, cell, code == HN_NOT_APPLICABLE ? "not_applicable" : "failed", out);
    if (set_peak(ctx, out))
        return ctx->code;
    return hn_cell_costs(ctx, plan, cell, options, out);
}

enum hn_code hn_cell_time(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_cell *cell, struct hn_cell_cache *cache,
                          const struct hn_run_options *options, int64_t rep, bool warmup,
                          int64_t *order, struct hn_results *out) {
    if (strcmp(hn_table_text(&out->runs, 0, "status"), "ok") != 0)
        return HN_OK;
    struct work w = {.plan = plan,
                     .cell = cell,
                     .out = out,
                     .order = order,
                     .rep = rep,
                     .warmup = warmup,
                     .instructions = options->instructions};
    if (find_items(ctx, &w, cache))
        return ctx->code;
    return with_sampler(ctx, &w, draw_some);
}

// Median seconds per unit (a build, or a batch) over the samples of a phase that count.
static enum hn_code phase_median(struct hn_context *ctx, const struct hn_table *timing,
                                 const char *phase, double last_rep, double *seconds) {
    double *sample = hn_alloc(ctx, timing->rows, sizeof *sample);
    if (!sample)
        return ctx->code;
    int64_t n = 0;
    for (int64_t r = 0; r < timing->rows; r++) {
        if (strcmp(hn_table_text(timing, r, "phase"), phase) != 0 ||
            hn_table_real(timing, r, "warmup") != 0 || hn_table_real(timing, r, "rep") > last_rep)
            continue;
        double units = hn_table_real(timing, r, "batches");
        sample[n++] = hn_table_real(timing, r, "wall_ns") * 1e-9 / (units > 0 ? units : 1);
    }
    *seconds = hn_median(sample, n);
    hn_free(ctx, sample);
    return HN_OK;
}

enum hn_code hn_cell_costs(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_cell *cell, const struct hn_run_options *options,
                           struct hn_results *out) {
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    double build, begin, next;
    // What an epoch's beginning costs (a shuffle, say) is part of drawing. Later epochs may do work
    // that belongs to the build (GCBS orders anew), so only the first counts.
    if (phase_median(ctx, &out->timing, "build", INFINITY, &build) ||
        phase_median(ctx, &out->timing, "epoch", 0, &begin) ||
        phase_median(ctx, &out->timing, "next", INFINITY, &next))
        return ctx->code;
    struct hn_table *runs = &out->runs;
    int64_t t = sampler->type->interval ? sampler->type->interval(sampler->params) : 0;
    bool builds = sampler->type->rebuild != NULL;
    double dots = hn_table_real(runs, 0, "n_dot_build");
    double d = (double)hn_snapshot_info(plan->data[cell->data].snapshot)->d;
    double ideal = 2.0 * d * dots / (options->sgemm_gflops * 1e9);
    bool shared = dots > 0 && options->sgemm_gflops > 0;
    if (hn_table_set_real(ctx, runs, 0, "cost_s", next + begin) ||
        hn_table_set_real(ctx, runs, 0, "cost_g", builds ? build : NAN) ||
        hn_table_set_real(ctx, runs, 0, "cost_g_over_t",
                          builds && t > 0 ? build / (double)t : NAN) ||
        hn_table_set_real(ctx, runs, 0, "share_of_limit", shared ? ideal / build : NAN))
        return ctx->code;
    return HN_OK;
}
