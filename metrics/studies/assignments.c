// SPDX-License-Identifier: GPL-3.0-or-later
// Random assignments (GC appendix B, figure 4): the training loss over many random partitions into
// batches.
//
// For a partition into batches of B (the last may be short), with s_ij = x1_i . x2_j:
//
//   loss = mean_i (log sum_{j in batch of i} exp(s_ij / tau) - s_ii / tau)     (GC definition 3.2)
//        = mean_i log sum_j exp((s_ij - s_ii) / tau)
//
// Every assignment is a uniformly random permutation, cut; its loss is that of all N rows, exact up
// to the float products. How many deviations a sampler lies away is (loss_train - loss_mean) /
// loss_sd, with loss_train of /runs at the same step, temperature and batch size.
//
// Cost. An assignment is N B exponentials, but they are the N^2 of all pairs: a row's are computed
// once for a chunk of assignments and then only looked up, out of a table of N doubles that stays
// in a near cache. 10,000 assignments of 10,000 items into batches of 256 look up 2.6e10 of them.
// Products are computed anew for every chunk, by rows, so that memory is that of the chunk.
//
// A row's terms are summed in the order of its batch, rows in blocks of fixed size, blocks in
// order: the same for any number of threads.
#include "core/random.h"
#include "core/sweep/sweep.h"
#include "metrics/global.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <omp.h>
#include <string.h>

struct params {
    int64_t count;
};

enum {
    ROWS = 256,       // of a product
    STRIPE = 16,      // rows whose losses are summed together
    CHUNK = 1024,     // assignments at once, at most
    MEMORY = 1 << 27, // bytes of their orders, at most, unless that is a single one
    STRIPES = ROWS / STRIPE
};

struct work {
    const struct hn_study_env *env;
    int64_t n, count, chunk;
    double tau;
    int32_t batch_size;
    int32_t *order;   // [chunk x n] items of an assignment, batch by batch
    int32_t *first;   // [n x chunk] position in `order` of the first item of the batch of i
    float *score;     // [ROWS x n]
    double *positive; // [n]
    double *table;    // [threads x n] exp((s_ij - s_ii) / tau) of a row
    double *partial;  // [STRIPES x chunk]
    double *loss;     // [count]
};

// Keeps the products of a block of rows.
struct keep {
    float *score;
    int64_t n;
};

static void tile(void *self, const struct hn_tile *tile, int thread) {
    const struct keep *k = self;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++)
        memcpy(k->score + (tile->row0 + i) * k->n + tile->col0, tile->s + i * tile->stride,
               (size_t)tile->cols * sizeof *k->score);
}

static const struct hn_sink_type keep_sink = {.name = "keep", .tile = tile};

static enum hn_code multiply(struct hn_context *ctx, struct work *w, int64_t from, int64_t rows) {
    const struct hn_items *items = w->env->items;
    struct keep keep = {w->score, w->n};
    struct hn_sweep sweep = {.x = {hn_row(&items->x1, from), rows, items->d, items->x1.stride},
                             .y = items->x2};
    hn_sweep_add(&sweep, &keep_sink, &keep, HN_SIDE_ROWS);
    return hn_sweep_run(ctx, &sweep);
}

// Assignments [from, from + count) of the study; a stream for each.
static void draw(const struct hn_context *ctx, struct work *w, int64_t from, int64_t count) {
    int64_t n = w->n;
    uint64_t seed = (uint64_t)w->env->seed[0];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t a = 0; a < count; a++) {
        hn_permute(seed, "random_assignments", w->env->items->index, 0, from + a, w->order + a * n,
                   n);
    }
    // By item, so that the rows read what they need in one piece.
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t a = 0; a < count; a++)
        for (int32_t position = 0; position < (int32_t)n; position++)
            w->first[w->order[a * n + position] * w->chunk + a] =
                position - position % w->batch_size;
}

// Four running sums, so that additions need not wait for each other.
static double sum_batch(const double *table, const int32_t *id, int64_t size) {
    double sum[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= size; k += 4)
        for (int l = 0; l < 4; l++)
            sum[l] += table[id[k + l]];
    for (; k < size; k++)
        sum[0] += table[id[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Adds the losses of rows [from, to) in all assignments to partial[count].
static void add_rows(const struct work *w, const float *score, int64_t from, int64_t to,
                     int64_t count, double *table, double *partial) {
    memset(partial, 0, (size_t)count * sizeof *partial);
    for (int64_t i = from; i < to; i++, score += w->n) {
        for (int64_t j = 0; j < w->n; j++)
            table[j] = exp(((double)score[j] - w->positive[i]) / w->tau);
        table[i] = 1; // the positive itself, exactly
        const int32_t *first = w->first + i * w->chunk;
        for (int64_t a = 0; a < count; a++) {
            int64_t size = hn_min(w->batch_size, w->n - first[a]);
            partial[a] += log(sum_batch(table, w->order + a * w->n + first[a], size));
        }
    }
}

static void add_block(const struct hn_context *ctx, struct work *w, int64_t row0, int64_t rows,
                      int64_t count, double *loss) {
    int64_t stripes = (rows + STRIPE - 1) / STRIPE;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t s = 0; s < stripes; s++)
        add_rows(w, w->score + s * STRIPE * w->n, row0 + s * STRIPE,
                 row0 + hn_min((s + 1) * STRIPE, rows), count,
                 w->table + (int64_t)omp_get_thread_num() * w->n, w->partial + s * w->chunk);
    for (int64_t s = 0; s < stripes; s++)
        for (int64_t a = 0; a < count; a++)
            loss[a] += w->partial[s * w->chunk + a];
}

static enum hn_code assign_all(struct hn_context *ctx, struct work *w) {
    memset(w->loss, 0, (size_t)w->count * sizeof *w->loss);
    for (int64_t from = 0; from < w->count; from += w->chunk) {
        int64_t count = hn_min(w->chunk, w->count - from);
        draw(ctx, w, from, count);
        for (int64_t row = 0; row < w->n; row += ROWS) {
            int64_t rows = hn_min(ROWS, w->n - row);
            if (hn_check_stop(ctx) || multiply(ctx, w, row, rows))
                return ctx->code;
            add_block(ctx, w, row, rows, count, w->loss + from);
        }
    }
    for (int64_t a = 0; a < w->count; a++)
        w->loss[a] /= (double)w->n;
    return HN_OK;
}

static enum hn_code add_row(struct hn_context *ctx, const struct work *w, double loss_global,
                            struct hn_table *table) {
    double mean = gsl_stats_mean(w->loss, 1, (size_t)w->count), min, max;
    gsl_stats_minmax(&min, &max, w->loss, 1, (size_t)w->count);
    double sd = w->count > 1 ? gsl_stats_sd_m(w->loss, 1, (size_t)w->count, mean) : NAN;
    return HN_TABLE_PUT(ctx, table, HN_REAL_VALUE("temperature", w->tau),
                        HN_INT_VALUE("batch_size", w->batch_size), HN_INT_VALUE("count", w->count),
                        HN_REAL_VALUE("loss_mean", mean), HN_REAL_VALUE("loss_sd", sd),
                        HN_REAL_VALUE("loss_min", min), HN_REAL_VALUE("loss_max", max),
                        HN_REAL_VALUE("loss_global", loss_global),
                        HN_REAL_VALUE("gap_mean", loss_global - mean));
}

static double global_loss(const struct hn_global *g) {
    double sum = 0;
    for (int64_t i = 0; i < g->n; i++)
        sum += g->lse_row[i] - (double)g->positive[i] / g->temperature;
    return sum / (double)g->n;
}

static enum hn_code measure(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    const struct hn_study_env *env = w->env;
    for (int64_t t = 0; t < env->n_temperatures; t++) {
        struct hn_global global;
        int64_t n_dot;
        w->tau = env->temperature[t];
        if (hn_global_compute(ctx, env->items, &w->tau, 1, &global, &n_dot))
            return ctx->code;
        for (int64_t i = 0; i < w->n; i++)
            w->positive[i] = (double)global.positive[i];
        double loss = global_loss(&global);
        hn_global_free(ctx, &global);
        for (int64_t b = 0; b < env->n_batch_sizes; b++) {
            w->batch_size = (int32_t)env->batch_size[b];
            if (assign_all(ctx, w) || add_row(ctx, w, loss, table))
                return ctx->code;
        }
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct params *params = p;
    int64_t n = env->items->n;
    struct work w = {.env = env, .n = n, .count = params->count};
    w.chunk = hn_min(hn_min(CHUNK, w.count), MEMORY / (n * (int64_t)sizeof *w.order));
    w.chunk = hn_max(1, w.chunk);
    bool taken = HN_ALLOC_ROWS(ctx, w.order, w.chunk, n) &&
                 HN_ALLOC_ROWS(ctx, w.first, w.chunk, n) && HN_ALLOC_ROWS(ctx, w.score, ROWS, n) &&
                 HN_ALLOC(ctx, w.positive, n) && HN_ALLOC_ROWS(ctx, w.table, ctx->threads, n) &&
                 HN_ALLOC(ctx, w.partial, STRIPES * w.chunk) && HN_ALLOC(ctx, w.loss, w.count);
    return taken ? measure(ctx, &w, table) : HN_MEMORY;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, count, "count", "10000", 1, 100000000, "random assignments")},
    {0}};

static const struct hn_column columns[] = {
    {"temperature", HN_COLUMN_REAL, "1", "temperature of the loss", HN_NEITHER},
    {"batch_size", HN_COLUMN_INT, "items", "batch size", HN_NEITHER},
    {"count", HN_COLUMN_INT, "1", "random assignments", HN_NEITHER},
    {"loss_mean", HN_COLUMN_REAL, "nat", "training loss, mean over the assignments", HN_NEITHER},
    {"loss_sd", HN_COLUMN_REAL, "nat", "its standard deviation over the assignments; NaN of one",
     HN_NEITHER},
    {"loss_min", HN_COLUMN_REAL, "nat", "the lowest of them", HN_NEITHER},
    {"loss_max", HN_COLUMN_REAL, "nat", "the highest of them", HN_NEITHER},
    {"loss_global", HN_COLUMN_REAL, "nat", "loss over all keys", HN_NEITHER},
    {"gap_mean", HN_COLUMN_REAL, "nat", "loss_global - loss_mean", HN_SMALLER},
};

const struct hn_study_type hn_study_random_assignments = {
    .name = "random_assignments",
    .summary = "training loss over many random partitions into batches",
    .source = "GC appendix B, figure 4",
    .note = "",
    .needs = HN_METRIC_NEEDS_POSITIVE,
    .uses = HN_STUDY_TEMPERATURES | HN_STUDY_BATCH_SIZES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .run = run,
};
