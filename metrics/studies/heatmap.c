// SPDX-License-Identifier: GPL-3.0-or-later
// The similarity matrix before and after ordering (GC figure 1), shrunk to size x size cells.
//
// s_ij = x1_i . x2_j, or x_i . x_j without views, the positives (i = j) left out, with rows and
// columns in the order of the file, in a random one, and in that of GCBS (its batches one after the
// other). A cell is the mean of its entries. What GCBS gathers is few: so besides, top_share is the
// share of the cell's entries that are among the largest 1 - quantile of all, and blocks_share how
// many of those lie in the diagonal blocks of B, which are the batches.
//
// The threshold is the edge of one of 2^16 bins, so that it is off by 2^-15 at most; which entries
// reach it is decided by exact products.
//
// Every row keeps sums of its own, added in the order of rows: the same for any number of threads.
#include "core/real_text.h"
#include "core/sweep/sinks.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

struct params {
    int64_t size;
    double quantile;
};

enum { FILE_ORDER, RANDOM_ORDER, GCBS_ORDER, ORDERS, BINS = 1 << 16 };
static const char *const order_names[ORDERS] = {"file", "random", "gcbs"};

struct work {
    const struct params *params;
    const struct hn_study_env *env;
    struct hn_matrix x, y;
    int64_t n;
    int32_t batch_size;
    float threshold;
    double tolerance;       // to it: closer, another order of summation might decide otherwise
    int32_t *order;         // [n] items of the order in work
    int32_t *cell[ORDERS];  // [n] cell of an item's row and column
    int32_t *block[ORDERS]; // [n] its batch
    double *sum;            // [n x ORDERS x size]
    uint32_t *top;          // likewise, entries that reach the threshold
    uint32_t *inside;       // [n x ORDERS] those in the row's own block
};

static enum hn_code take_memory(struct hn_context *ctx, struct work *w) {
    int64_t cells;
    if (!hn_mul(w->n, ORDERS * w->params->size, &cells))
        return hn_fail(ctx, HN_MEMORY, "heatmap: size is too large");
    bool taken = HN_ALLOC(ctx, w->order, w->n) && HN_ZALLOC(ctx, w->sum, cells) &&
                 HN_ZALLOC(ctx, w->top, cells) && HN_ZALLOC(ctx, w->inside, w->n * ORDERS);
    for (int o = 0; taken && o < ORDERS; o++)
        taken = HN_ALLOC(ctx, w->cell[o], w->n) && HN_ALLOC(ctx, w->block[o], w->n);
    return taken ? HN_OK : HN_MEMORY;
}

// The smallest bin edge that no more than a share 1 - quantile of all entries reach.
static enum hn_code find_threshold(struct hn_context *ctx, struct work *w) {
    struct hn_sweep sweep = {.x = w->x, .y = w->y};
    struct hn_sweep_histogram h = {.bins = BINS, .skip_self = true, .exact = true};
    hn_sweep_add(&sweep, &hn_histogram_sink, &h, HN_SIDE_ROWS);
    if (hn_sweep_run(ctx, &sweep))
        return ctx->code;
    const uint64_t *count = h.count + (int64_t)HN_REL_UNKNOWN * BINS;
    double wanted = (1 - w->params->quantile) * (double)w->n * (double)(w->n - 1);
    uint64_t reached = 0;
    int64_t bin = BINS;
    while (bin > 0 && (double)(reached + count[bin - 1]) <= wanted)
        reached += count[--bin];
    w->threshold = (float)(-1 + 2 * (double)bin / BINS);
    hn_sweep_histogram_free(ctx, &h);
    return HN_OK;
}

static void place_items(struct work *w, int o) {
    for (int64_t position = 0; position < w->n; position++) {
        w->cell[o][w->order[position]] = (int32_t)(position * w->params->size / w->n);
        w->block[o][w->order[position]] = (int32_t)(position / w->batch_size);
    }
}

// The order in which GCBS batches the items.
static enum hn_code order_gcbs(struct hn_context *ctx, struct work *w) {
    const struct hn_sampler_type *type = hn_sampler_find("gcbs");
    struct hn_sampler sampler = {0};
    int64_t batches;
    void *params = hn_zalloc(ctx, 1, type->params_size);
    if (!params)
        return ctx->code;
    if (hn_options_init(ctx, type->options, params) ||
        hn_options_set(ctx, type->options, params, "quantile",
                       hn_real_text(w->params->quantile).text) ||
        hn_sampler_make(ctx, type, params, w->env->items, w->batch_size, (uint64_t)w->env->seed[0],
                        &sampler) ||
        hn_sampler_epoch(ctx, &sampler, w->env->items, 0, &batches))
        return ctx->code;
    memcpy(w->order, sampler.order, (size_t)w->n * sizeof *w->order); // that batches are cut from
    hn_sampler_close(ctx, &sampler);                                  // before the large sweep
    return HN_OK;
}

static enum hn_code order_all(struct hn_context *ctx, struct work *w) {
    for (int32_t i = 0; i < (int32_t)w->n; i++)
        w->order[i] = i;
    place_items(w, FILE_ORDER);
    hn_permute((uint64_t)w->env->seed[0], "heatmap.random", w->env->items->index, 0, 0, w->order,
               w->n);
    place_items(w, RANDOM_ORDER);
    enum hn_code code = order_gcbs(ctx, w);
    place_items(w, GCBS_ORDER);
    return code;
}

static void add_entry(struct work *w, int64_t i, int64_t j, float s) {
    int64_t size = w->params->size;
    bool top = s >= w->threshold;
    if (fabs((double)s - (double)w->threshold) <= w->tolerance)
        top = hn_dot_exact(hn_row(&w->x, i), hn_row(&w->y, j), w->x.cols) >= (double)w->threshold;
    for (int o = 0; o < ORDERS; o++) {
        int64_t at = (i * ORDERS + o) * size + w->cell[o][j];
        w->sum[at] += (double)s;
        w->top[at] += top;
        w->inside[i * ORDERS + o] += top && w->block[o][i] == w->block[o][j];
    }
}

static void tile(void *self, const struct hn_tile *tile, int thread) {
    struct work *w = self;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, true, span);
        for (int p = 0; p < spans; p++)
            for (int32_t j = span[p].from; j < span[p].to; j++)
                add_entry(w, tile->row0 + i, tile->col0 + j, tile->s[i * tile->stride + j]);
    }
}

static const struct hn_sink_type shrink_sink = {.name = "shrink", .tile = tile};

// Entries of a cell: the diagonal is left out.
static double count_entries(const struct work *w, int64_t row, int64_t col) {
    int64_t size = w->params->size, n = w->n;
    // Positions p of cell c: p size / n rounded down is c.
    int64_t rows = ((row + 1) * n + size - 1) / size - (row * n + size - 1) / size;
    int64_t cols = ((col + 1) * n + size - 1) / size - (col * n + size - 1) / size;
    return (double)(rows * cols - (row == col ? rows : 0));
}

static enum hn_code add_rows(struct hn_context *ctx, const struct work *w, int o, double *sum,
                             double *top, struct hn_table *table) {
    int64_t size = w->params->size;
    double all = 0, inside = 0;
    memset(sum, 0, (size_t)(size * size) * sizeof *sum);
    memset(top, 0, (size_t)(size * size) * sizeof *top);
    for (int64_t i = 0; i < w->n; i++) {
        inside += w->inside[i * ORDERS + o];
        for (int64_t c = 0; c < size; c++) {
            int64_t at = (i * ORDERS + o) * size + c;
            sum[w->cell[o][i] * size + c] += w->sum[at];
            top[w->cell[o][i] * size + c] += w->top[at];
            all += w->top[at];
        }
    }
    for (int64_t row = 0; row < size; row++)
        for (int64_t col = 0; col < size; col++) {
            double entries = count_entries(w, row, col);
            if (HN_TABLE_PUT(
                    ctx, table, HN_TEXT_VALUE("order", order_names[o]), HN_INT_VALUE("size", size),
                    HN_INT_VALUE("cell_row", row), HN_INT_VALUE("cell_col", col),
                    HN_REAL_VALUE("mean", sum[row * size + col] / entries),
                    HN_REAL_VALUE("top_share", top[row * size + col] / entries),
                    HN_REAL_VALUE("threshold", (double)w->threshold),
                    HN_REAL_VALUE("blocks_share", inside / all),
                    HN_INT_VALUE("batch_size", w->batch_size), HN_INT_VALUE("items", w->n)))
                return ctx->code;
        }
    return HN_OK;
}

static enum hn_code add_orders(struct hn_context *ctx, const struct work *w,
                               struct hn_table *table) {
    int64_t cells = w->params->size * w->params->size;
    double *sum = hn_alloc(ctx, cells, sizeof *sum), *top = hn_alloc(ctx, cells, sizeof *top);
    enum hn_code code = sum && top ? HN_OK : HN_MEMORY;
    for (int o = 0; code == HN_OK && o < ORDERS; o++)
        code = add_rows(ctx, w, o, sum, top, table);
    return code;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct hn_items *items = env->items;
    bool views = hn_has_positive(items);
    struct work w = {.params = p,
                     .env = env,
                     .x = views ? items->x1 : items->x,
                     .y = views ? items->x2 : items->x,
                     .n = items->n,
                     .tolerance = hn_dot_bound(items->d),
                     .batch_size = (int32_t)env->batch_size[0]};
    struct hn_sweep sweep = {.x = w.x, .y = w.y};
    hn_sweep_add(&sweep, &shrink_sink, &w, HN_SIDE_ROWS);
    if (take_memory(ctx, &w) || find_threshold(ctx, &w) || order_all(ctx, &w) ||
        hn_sweep_run(ctx, &sweep))
        return ctx->code;
    return add_orders(ctx, &w, table);
}

static enum hn_code check(struct hn_context *ctx, const void *p, int64_t n) {
    const struct params *params = p;
    if (params->size <= n)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE, "size = %lld cells are more than the %lld items: lower it",
                   (long long)params->size, (long long)n);
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, size, "size", "64", 1, 1024,
                   "rows and columns of the shrunk matrix")},
    {HN_REAL_OPTION(struct params, quantile, "quantile", "0.999", 0.5, 0.999999,
                    "which entries are the large ones, and which GCBS keeps")},
    {0}};

static const struct hn_column columns[] = {
    {"order", HN_COLUMN_TEXT, "", "file, random or gcbs", HN_NEITHER},
    {"size", HN_COLUMN_INT, "1", "rows and columns of the shrunk matrix", HN_NEITHER},
    {"cell_row", HN_COLUMN_INT, "1", "row of the cell, from 0", HN_NEITHER},
    {"cell_col", HN_COLUMN_INT, "1", "column of the cell, from 0", HN_NEITHER},
    {"mean", HN_COLUMN_REAL, "1",
     "mean similarity of the cell's entries; NaN without any: an item beside itself is none",
     HN_NEITHER},
    {"top_share", HN_COLUMN_REAL, "1", "share of them that reach the threshold; NaN without any",
     HN_NEITHER},
    {"threshold", HN_COLUMN_REAL, "1", "similarity that 1 - quantile of all entries reach",
     HN_NEITHER},
    {"blocks_share", HN_COLUMN_REAL, "1",
     "share of the entries above the threshold in the diagonal blocks, the same in every row; NaN "
     "without such entries",
     HN_LARGER},
    {"batch_size", HN_COLUMN_INT, "items", "rows and columns of a block", HN_NEITHER},
    {"items", HN_COLUMN_INT, "items", "rows and columns of the matrix", HN_NEITHER},
};

const struct hn_study_type hn_study_heatmap = {
    .name = "heatmap",
    .summary = "similarity matrix as given, in random order and in that of GCBS, shrunk",
    .source = "GC figure 1",
    .note = "",
    .uses = HN_STUDY_BATCH_SIZES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .check = check,
    .run = run,
};
