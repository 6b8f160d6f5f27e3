// SPDX-License-Identifier: GPL-3.0-or-later
// Measures of any batches, the same as those of `hardneg run`.
#include "metrics/measure.h"
#include "core/text.h"
#include "harness/job/grid.h"
#include "harness/job/list.h"
#include "library/library_private.h"
#include "metrics/metric.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

int hardneg_column(int i, const char **name, const char **unit, const char **meaning) {
    for (int m = 0; hn_metrics[m] && i >= 0; i -= hn_metrics[m++]->n_columns)
        if (i < hn_metrics[m]->n_columns) {
            const struct hn_column *column = &hn_metrics[m]->columns[i];
            if (name)
                *name = column->name;
            if (unit)
                *unit = column->units;
            if (meaning)
                *meaning = column->long_name;
            return 1;
        }
    return 0;
}

struct work {
    struct hardneg_measure how;
    const int64_t *ids;
    int64_t rows, width;
    struct hn_measure_spec spec;
    struct hn_global global;
    struct hn_point *weighting;
    int32_t *size, *id, *negatives, *negative; // of a chunk
};

static enum hn_code read_how(struct hn_library_build *b, struct work *w) {
    struct hn_metric_env *env = &w->spec.env;
    const struct hardneg_measure *how = &w->how;
    env->temperature = how->temperature == 0 ? 0.5 : how->temperature;
    if (!(env->temperature > 0 && isfinite(env->temperature)) || how->epoch_batches < 0)
        return hn_fail(&b->ctx, HN_USAGE,
                       "temperature %g, epoch_batches %lld: the first is positive or 0 for 0.5, "
                       "the second 1 or more or 0 for all",
                       how->temperature, (long long)how->epoch_batches);
    if (how->weighting) {
        if (hn_grid_read_one(&b->ctx, &hn_weighting_registry, "", how->weighting, &w->weighting))
            return b->ctx.code;
        const struct hn_weighting_type *type = w->weighting->type;
        env->weighting = type->resolve(w->weighting->params, b->items.step);
    }
    if (!how->loss)
        return HN_OK;
    for (int i = 0; hn_losses[i].name; i++)
        if (strcmp(hn_losses[i].name, how->loss) == 0) {
            env->loss = (enum hn_loss)i;
            return HN_OK;
        }
    const char *why = hn_ambiguous_loss(how->loss);
    return hn_fail(&b->ctx, HN_USAGE, "unknown loss '%.*s': %s", hn_yaml_clip(how->loss), how->loss,
                   why ? why : "ntxent, infonce or other-view");
}

static enum hn_code check_ids(struct hn_library_build *b, const struct work *w) {
    int64_t n = b->items.n, capacity = w->spec.env.capacity;
    for (int64_t p = 0; p < w->rows * w->width; p++) {
        bool first = p % w->width == 0;
        if (w->ids[p] < (first ? 0 : -1) || w->ids[p] >= n ||
            (!first && w->ids[p] >= 0 && w->ids[p - 1] < 0))
            return hn_fail(&b->ctx, HN_DATA,
                           "batch %lld: %lld at index %lld: ids are 0 to %lld, with -1 at the end "
                           "of a short batch",
                           (long long)(p / w->width), (long long)w->ids[p],
                           (long long)(p % w->width), (long long)n - 1);
        for (int64_t k = p * capacity; k < (p + 1) * capacity; k++)
            if (w->how.negative[k] < -1 || w->how.negative[k] >= n ||
                (w->how.negative[k] >= 0 && w->how.negative[k] == w->ids[p]))
                return hn_fail(&b->ctx, HN_DATA,
                               "batch %lld: negative %lld of the anchor %lld is none of %lld "
                               "items, or the anchor itself",
                               (long long)(p / w->width), (long long)w->how.negative[k],
                               (long long)w->ids[p], (long long)n);
    }
    return HN_OK;
}

static enum hn_code take_chunk(struct hn_library_build *b, struct work *w) {
    int64_t rows = hn_min(CHUNK, w->rows), slots = rows * w->width, capacity = w->spec.env.capacity;
    bool good = HN_ALLOC(&b->ctx, w->size, rows) && HN_ALLOC(&b->ctx, w->id, slots) &&
                HN_ALLOC(&b->ctx, w->negatives, capacity ? slots : 0) &&
                HN_ALLOC(&b->ctx, w->negative, slots * capacity);
    return good ? HN_OK : b->ctx.code;
}

// Puts batches first .. first + count - 1 into the chunk.
static void fill_chunk(struct work *w, int64_t first, int64_t count) {
    int64_t capacity = w->spec.env.capacity, from = first * w->width;
    for (int64_t p = 0; p < count * w->width; p++) {
        w->id[p] = (int32_t)w->ids[from + p];
        w->size[p / w->width] = p % w->width == 0 ? 0 : w->size[p / w->width];
        w->size[p / w->width] += w->id[p] >= 0;
        for (int64_t k = 0, m = 0; k < capacity; k++) {
            int64_t id = w->how.negative[(from + p) * capacity + k];
            if (id >= 0)
                w->negative[p * capacity + m++] = (int32_t)id;
            w->negatives[p] = (int32_t)m;
        }
    }
}

static enum hn_code measure_rows(struct hn_library_build *b, struct work *w, struct hn_measure *m) {
    int64_t each = w->spec.env.epoch_batches, count;
    for (int64_t first = 0; first < w->rows; first += count) {
        int64_t epoch = first / each;
        count = hn_min(hn_min(CHUNK, w->rows - first), (epoch + 1) * each - first);
        fill_chunk(w, first, count);
        const struct hn_measure_lists lists = {w->negatives, w->negative};
        if (hn_check_stop(&b->ctx))
            return b->ctx.code;
        enum hn_code code =
            w->spec.env.capacity
                ? hn_measure_anchors(&b->ctx, m, epoch, (int32_t)count, w->size, w->id, lists)
                : hn_measure_batches(&b->ctx, m, epoch, (int32_t)count, w->size, w->id);
        if (code)
            return code;
    }
    return HN_OK;
}

static enum hn_code measure(struct hn_library_build *b, struct work *w, double *value) {
    struct hn_context *ctx = &b->ctx;
    struct hn_metric_env *env = &w->spec.env;
    struct hn_measure *m = NULL;
    struct hn_cell_arrays arrays = {.bins = 0};
    int64_t dot = 0;
    HN_SCOPE(ctx);
    if (read_how(b, w) || check_ids(b, w) || take_chunk(b, w))
        return ctx->code;
    if (hn_has_positive(&b->items)) {
        if (hn_global_compute(ctx, &b->items, &env->temperature, 1, &w->global, &dot))
            return ctx->code;
        env->global = &w->global;
    }
    enum hn_code code = hn_measure_begin(ctx, &w->spec, &m);
    if (!code)
        code = measure_rows(b, w, m);
    if (!code)
        code = hn_measure_finish(ctx, m, 0, value, &arrays, b->note);
    hn_measure_close(ctx, m);
    hn_cell_arrays_free(ctx, &arrays);
    return code;
}

static int count_metrics(void) {
    int n = 0;
    while (hn_metrics[n])
        n++;
    return n;
}

static enum hn_code read_arguments(struct hn_library_build *b, const struct hardneg_measure *how,
                                   const double *value, struct work *w) {
    struct hardneg_measure *own = &w->how;
    if (how &&
        hn_library_take_struct(&b->ctx, "hardneg_measure", how,
                               offsetof(struct hardneg_measure, population), own, sizeof *own))
        return b->ctx.code;
    int64_t slots, lists, capacity = own->negative ? own->capacity : 0;
    if (!w->ids || !value || w->rows < 1 || w->width < 1 || w->width > INT32_MAX || capacity < 0 ||
        !hn_mul(w->rows, w->width, &slots) || !hn_mul(slots, capacity, &lists))
        return hn_fail(&b->ctx, HN_USAGE,
                       "%s of %lld, or ids or value NULL: give one batch of one item or more, "
                       "ids[rows x width] and value[columns]",
                       hn_counted(w->rows, "batch").text, (long long)w->width);
    if (own->population != 0 && (own->population < b->items.n || hn_has_positive(&b->items)))
        return hn_fail(&b->ctx, HN_USAGE,
                       "population %lld: no less than the %lld items, which have no view2 then",
                       (long long)own->population, (long long)b->items.n);
    return HN_OK;
}

int hardneg_measure_batches(hardneg *h, const int64_t *ids, int64_t rows, int64_t width,
                            const struct hardneg_measure *how, double *value) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    struct work w = {.ids = ids, .rows = rows, .width = width};
    if (read_arguments(b, how, value, &w))
        return hn_library_leave(h, b->ctx.code);
    w.spec = (struct hn_measure_spec){
        .metrics = hn_metrics,
        .n_metrics = count_metrics(),
        .env = {.items = &b->items,
                .population = w.how.population,
                .batch_size = (int32_t)width,
                .capacity = w.how.negative ? w.how.capacity : 0,
                .threads = b->ctx.threads,
                .batches = rows,
                .epoch_batches = w.how.epoch_batches > 0 ? w.how.epoch_batches : rows}};
    return hn_library_leave(h, measure(b, &w, value));
}
