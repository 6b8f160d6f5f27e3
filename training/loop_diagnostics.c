// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that only some figures need.
//
// The loss of an epoch's batches before it begins, beside their loss when they are trained on (GC
// figure 7, appendix I): the difference shows a sampler whose batches were hard for an earlier
// encoder only. Our deviation: views are those that will be trained on, and batch norm is in
// training mode, so that nothing but the weights differs.
//
// Histograms of the cosines of same-label and different-label pairs (HC figures 5 and 8 to 10): of
// the items kept for evaluation, or of all if there are none.
#include "core/classes.h"
#include "metrics/metric.h"
#include "training/loop_private.h"
#include "training/net/net.h"
#include "training/tasks/evaluate.h"

#include <math.h>
#include <string.h>

static enum hn_code loss_ahead(struct hn_context *ctx, struct hn_loop *loop, int64_t number,
                               double *loss) {
    const struct hn_run_spec *spec = loop->spec;
    struct hn_task *task = &loop->task;
    struct hn_task_batch batch = {.step = loop->step + number,
                                  .progress = loop->draw.items.progress,
                                  .loss = spec->setting.loss};
    batch.loss.weighting = spec->weighting->resolve(spec->weighting_params, batch.step);
    if (hn_draw_number(ctx, loop, number, &batch))
        return ctx->code;
    enum hn_code code = task->type->step(ctx, task, &batch, loss, NULL);
    hn_weights_clear(&task->weights);
    return code;
}

enum hn_code hn_loop_expect(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_weights *w = &loop->task.weights;
    int64_t ahead = hn_draw_ahead(loop);
    size_t running = (size_t)w->n_running * sizeof *w->running;
    double sum = 0, loss = NAN;
    enum hn_code code = HN_OK;
    if (running > 0)
        memcpy(loop->running, w->running, running);
    for (int64_t k = 0; k < ahead && !code; k++) {
        code = loss_ahead(ctx, loop, k, &loss);
        sum += loss;
    }
    if (running > 0)
        memcpy(w->running, loop->running, running);
    loop->expected = ahead > 0 ? sum / (double)ahead : NAN;
    return code;
}

// First row of loop->z that counts.
static int64_t first_kept(const struct hn_task *task) {
    return task->n_all > task->n ? task->n : 0;
}

static double squared_length(const double *v, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += v[k] * v[k];
    return sum;
}

// The cosines of all pairs of a class add up to the squared length of its sum of unit rows.
static enum hn_code mean_cosines(struct hn_context *ctx, const struct hn_evaluation *e,
                                 struct hn_loop *loop) {
    struct hn_classes classes;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, e->label, e->n, &classes))
        return ctx->code;
    double *sum = hn_zalloc(ctx, classes.n * e->d, sizeof *sum);
    double *all = hn_zalloc(ctx, e->d, sizeof *all);
    if (!sum || !all)
        return ctx->code;
    for (int64_t i = 0; i < e->n; i++) {
        const float *z = e->z + i * e->d;
        double length = sqrt(hn_dot_exact(z, z, e->d));
        int32_t c = hn_classes_index(&classes, e->label[i]);
        for (int64_t k = 0; c >= 0 && k < e->d; k++) {
            sum[c * e->d + k] += z[k] / length;
            all[k] += z[k] / length;
        }
    }
    double within = 0, items = (double)classes.labelled, pairs = 0;
    for (int64_t c = 0; c < classes.n; c++) {
        within += squared_length(sum + c * e->d, e->d);
        pairs += (double)classes.count[c] * (double)classes.count[c];
    }
    loop->same = pairs > items ? (within - items) / (pairs - items) : NAN;
    loop->different = items * items > pairs
                          ? (squared_length(all, e->d) - within) / (items * items - pairs)
                          : NAN;
    return HN_OK;
}

enum hn_code hn_loop_overlap(struct hn_context *ctx, struct hn_loop *loop) {
    const struct hn_task *task = &loop->task;
    int64_t first = first_kept(task);
    if (!task->label)
        return HN_OK;
    struct hn_evaluation e = {.n = task->n_all - first,
                              .d = task->d,
                              .z = loop->z + first * task->d,
                              .label = task->label + first,
                              .seed = task->setting.seed};
    return hn_evaluate(ctx, &e, "overlap_label", &loop->overlap) ? ctx->code
                                                                 : mean_cosines(ctx, &e, loop);
}

static const struct hn_column columns[] = {
    {"run", HN_COLUMN_INT, "1", "row of /runs", HN_NEITHER, HN_ROLE_IDENTITY},
    {"step", HN_COLUMN_INT, "optimizer_step", "steps done", HN_NEITHER, HN_ROLE_IDENTITY},
    {"kind", HN_COLUMN_TEXT, "", "same_label or different_label", HN_NEITHER},
    {"bin_lo", HN_COLUMN_REAL, "1", "lower end of the bin", HN_NEITHER},
    {"bin_hi", HN_COLUMN_REAL, "1", "upper end of the bin", HN_NEITHER},
    {"count", HN_COLUMN_INT, "pairs", "ordered pairs", HN_NEITHER},
};

enum hn_code hn_cosines_table(struct hn_context *ctx, struct hn_table *table) {
    return hn_table_init(ctx, table, "cosines")
               ? ctx->code
               : hn_table_add_columns(ctx, table, columns, sizeof columns / sizeof columns[0]);
}

static enum hn_code add_rows(struct hn_context *ctx, struct hn_loop *loop, const char *kind,
                             const uint64_t *count) {
    const double width = 2.0 / HN_HISTOGRAM_BINS;
    for (int b = 0; b < HN_HISTOGRAM_BINS; b++)
        if (HN_TABLE_PUT(ctx, loop->spec->cosines, HN_INT_VALUE("step", loop->step),
                         HN_TEXT_VALUE("kind", kind), HN_REAL_VALUE("bin_lo", -1 + width * b),
                         HN_REAL_VALUE("bin_hi", -1 + width * (b + 1)),
                         HN_INT_VALUE("count", (int64_t)count[b])))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_loop_cosines(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_task *task = &loop->task;
    int64_t first = first_kept(task), n = task->n_all - first;
    if (!task->label)
        return HN_OK;
    if (hn_task_embed(ctx, task, 0, loop->step, task->n_all, loop->z) ||
        hn_normalize_rows(ctx, loop->z, task->n_all, task->d, "embedding"))
        return ctx->code;
    const struct hn_matrix x = {loop->z + first * task->d, n, task->d, task->d};
    struct hn_sweep sweep = {.x = x, .y = x};
    struct hn_sweep_histogram histogram = {.bins = HN_HISTOGRAM_BINS,
                                           .row_label = task->label + first,
                                           .col_label = task->label + first,
                                           .skip_self = true,
                                           .exact = true};
    hn_sweep_add(&sweep, &hn_histogram_sink, &histogram, HN_SIDE_ROWS);
    bool good =
        !hn_sweep_run(ctx, &sweep) &&
        !add_rows(ctx, loop, "same_label", histogram.count + HN_REL_SAME * HN_HISTOGRAM_BINS) &&
        !add_rows(ctx, loop, "different_label",
                  histogram.count + HN_REL_DIFFERENT * HN_HISTOGRAM_BINS);
    hn_sweep_histogram_free(ctx, &histogram);
    return good ? HN_OK : ctx->code;
}
