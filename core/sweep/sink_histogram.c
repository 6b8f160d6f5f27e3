// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of inner products by bin and by relation of the labels.
#include "core/clones.h"
#include "core/label_sets.h"
#include "core/sweep/product.h"
#include "core/sweep/sinks.h"

#include <math.h>
#include <string.h>

enum { BINS_MAX = 1 << 20, GROUP = 64, LINE = 8 };

// Every thread counts for itself: integers add up to the same in any order.
struct work {         // its arrays belong to it
    uint64_t *count;  // [threads x stride]
    int64_t stride;   // HN_REL_COUNT x bins, rounded up to whole cache lines
    int32_t *unknown; // [block] labels of columns without any
    int32_t *seen;    // [threads x block] see seen_by(); NULL where an item has one label
    int64_t block;
    struct hn_matrix x, y; // of the rows and columns
    double bound;          // of the products, where `exact`
    int threads;
};

static enum hn_code histogram_begin(struct hn_context *ctx, void *self,
                                    const struct hn_sweep_shape *shape) {
    struct hn_sweep_histogram *h = self;
    if (h->bins < 1 || h->bins > BINS_MAX)
        return hn_fail(ctx, HN_USAGE, "a histogram with %lld bins: take 1 to %d",
                       (long long)h->bins, BINS_MAX);
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    h->work = work;
    work->threads = shape->threads;
    if (h->exact)
        work->bound = hn_product_bound(&shape->x, &shape->y, shape->threads);
    work->x = shape->x;
    work->y = shape->y;
    work->stride = HN_REL_COUNT * h->bins;
    work->stride += (LINE - work->stride % LINE) % LINE;
    if (!HN_ZALLOC(ctx, h->count, HN_REL_COUNT * h->bins))
        return HN_MEMORY;
    void *outer = hn_own(ctx, work);
    work->unknown = hn_alloc(ctx, shape->block, sizeof *work->unknown);
    for (int64_t j = 0; work->unknown && j < shape->block; j++)
        work->unknown[j] = -1;
    work->block = shape->block;
    bool sets = h->label_sets != NULL;
    work->seen = hn_alloc(ctx, sets ? work->threads * shape->block : 0, sizeof *work->seen);
    work->count = hn_zalloc(ctx, work->threads * work->stride, sizeof *work->count);
    hn_own(ctx, outer);
    return work->unknown && work->seen && work->count ? HN_OK : HN_MEMORY;
}

// Position of s in the table of counts, as hn_cosine_bin() has it; clamped before the conversion,
// which then fits 32 bits.
static inline int32_t position_of(double s, int32_t label, int32_t row_label, int32_t bins) {
    double at = (s + 1.0) * 0.5 * (double)bins, last = (double)(bins - 1);
    at = at > 0 ? at : 0;
    at = at < last ? at : last;
    int32_t relation = label == row_label ? HN_REL_SAME : HN_REL_DIFFERENT;
    relation = (label | row_label) < 0 ? HN_REL_UNKNOWN : relation;
    return (int32_t)at + relation * bins;
}

// Counts s[n] with the labels of their columns, each `times` times.
HN_CLONES
static void tally(const float *s, int32_t n, const int32_t *label, int32_t row_label, int32_t bins,
                  uint64_t times, uint64_t *count) {
    int32_t position[GROUP], j = 0;
    for (; j + GROUP <= n; j += GROUP) {
        for (int l = 0; l < GROUP; l++)
            position[l] = position_of((double)s[j + l], label[j + l], row_label, bins);
        for (int l = 0; l < GROUP; l++)
            count[position[l]] += times;
    }
    for (; j < n; j++)
        count[position_of((double)s[j], label[j], row_label, bins)] += times;
}

// A strip of products s[from .. to) of row x_i, and what is counted for it.
struct strip {
    const float *x, *s;
    const struct hn_matrix *y;
    int64_t col0;
    struct hn_span span;
    const int32_t *label; // of all columns of the tile
    int32_t row_label;
};

// Moves counts of products that another order of summation could have put beyond an edge.
static void correct(const struct hn_sweep_histogram *h, const struct strip *strip, uint64_t times,
                    uint64_t *count) {
    int32_t bins = (int32_t)h->bins;
    const struct work *work = h->work;
    double tolerance = work->bound * 0.5 * (double)bins;
    for (int32_t j = strip->span.from; j < strip->span.to; j++) {
        double at = ((double)strip->s[j] + 1.0) * 0.5 * (double)bins;
        if (fabs(at - rint(at)) > tolerance)
            continue;
        double s = hn_dot_exact(strip->x, hn_row(strip->y, strip->col0 + j), strip->y->cols);
        count[position_of((double)strip->s[j], strip->label[j], strip->row_label, bins)] -= times;
        count[position_of(s, strip->label[j], strip->row_label, bins)] += times;
    }
}

// Labels of n columns as a row with several labels sees them: equal to its own where they share
// one, another where they do not.
static const int32_t *seen_by(const struct hn_label_sets *sets, int32_t row_label,
                              const int32_t *label, int64_t n, int32_t *seen) {
    for (int64_t j = 0; j < n; j++)
        seen[j] = label[j] < 0                               ? -1
                  : hn_same_label(sets, row_label, label[j]) ? row_label
                                                             : row_label ^ 1;
    return seen;
}

// The relation of two labels does not depend on their order: what is counted for the columns of a
// tile is what a tile with the labels exchanged would give.
static void count_tile(const struct hn_sweep_histogram *h, const struct hn_tile *tile,
                       const int32_t *of_rows, const int32_t *of_cols, uint64_t times, int thread,
                       bool across) {
    const struct work *work = h->work;
    const struct hn_matrix *x = across ? &work->y : &work->x, *y = across ? &work->x : &work->y;
    uint64_t *count = work->count + thread * work->stride;
    const int32_t *of_tile = of_cols ? of_cols + tile->col0 : work->unknown;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, h->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        int32_t row_label = of_rows ? of_rows[tile->row0 + i] : -1;
        const int32_t *label = of_tile;
        if (h->label_sets && row_label >= 0)
            label = seen_by(h->label_sets, row_label, of_tile, tile->cols,
                            work->seen + thread * work->block);
        for (int p = 0; p < spans; p++) {
            tally(s + span[p].from, span[p].to - span[p].from, label + span[p].from, row_label,
                  (int32_t)h->bins, times, count);
            const struct strip strip = {
                hn_row(x, tile->row0 + i), s, y, tile->col0, span[p], label, row_label};
            if (h->exact)
                correct(h, &strip, times, count);
        }
    }
}

static void histogram_tile(void *self, const struct hn_tile *tile, int thread) {
    const struct hn_sweep_histogram *h = self;
    count_tile(h, tile, h->row_label, h->col_label, 1, thread, false);
}

static void histogram_across(void *self, const struct hn_tile *tile, int thread) {
    const struct hn_sweep_histogram *h = self;
    count_tile(h, tile, h->col_label, h->row_label, 1, thread, true);
}

// Offered for the two orientations of one symmetric tile only (no `joins`).
static void histogram_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    const struct hn_sweep_histogram *h = self;
    (void)other;
    if (h->row_label == h->col_label) {
        count_tile(h, tile, h->row_label, h->col_label, 2, thread, false);
    } else {
        histogram_tile(self, tile, thread);
        histogram_across(self, tile, thread);
    }
}

static void add_up(const struct hn_sweep_histogram *h) {
    const struct work *work = h->work;
    for (int t = 0; t < work->threads; t++)
        for (int64_t k = 0; k < HN_REL_COUNT * h->bins; k++)
            h->count[k] += work->count[t * work->stride + k];
}

static enum hn_code histogram_end(struct hn_context *ctx, void *self) {
    (void)ctx;
    add_up(self);
    return HN_OK;
}

static void add_labels(struct hn_digest *key, const int32_t *label, int64_t n) {
    hn_digest_add_int(key, label != NULL);
    if (label)
        hn_digest_add(key, label, (size_t)n * sizeof *label);
}

// Called after `begin`.
static void histogram_key(const void *self, struct hn_digest *key) {
    const struct hn_sweep_histogram *h = self;
    const struct work *work = h->work;
    hn_digest_add_int(key, h->bins);
    hn_digest_add_int(key, h->skip_self);
    hn_digest_add_int(key, h->exact);
    hn_digest_add_int(key, h->label_sets != NULL);
    add_labels(key, h->row_label, work->x.rows);
    add_labels(key, h->col_label, work->y.rows);
}

static enum hn_code histogram_save(struct hn_context *ctx, void *self, struct hn_bytes *out) {
    struct hn_sweep_histogram *h = self;
    const struct work *work = h->work;
    int64_t bytes = HN_REL_COUNT * h->bins * (int64_t)sizeof *h->count;
    add_up(h);
    memset(work->count, 0, (size_t)(work->threads * work->stride) * sizeof *work->count);
    enum hn_code code = hn_bytes_append(ctx, out, h->count, bytes);
    memset(h->count, 0, (size_t)bytes);
    return code;
}

static enum hn_code histogram_load(struct hn_context *ctx, void *self, struct hn_cursor *from) {
    struct hn_sweep_histogram *h = self;
    uint64_t add;
    for (int64_t k = 0; k < HN_REL_COUNT * h->bins; k++) {
        if (!hn_cursor_take(from, &add, sizeof add))
            return hn_cursor_fail(ctx);
        h->count[k] += add;
    }
    return HN_OK;
}

static const struct hn_parted histogram_parted = {histogram_key, histogram_save, histogram_load};

void hn_sweep_histogram_free(struct hn_context *ctx, struct hn_sweep_histogram *h) {
    hn_free(ctx, h->work);
    hn_free(ctx, h->count);
    h->work = NULL;
    h->count = NULL;
}

const struct hn_sink_type hn_histogram_sink = {.name = "histogram",
                                               .begin = histogram_begin,
                                               .tile = histogram_tile,
                                               .end = histogram_end,
                                               .across = histogram_across,
                                               .both = histogram_both,
                                               .parted = &histogram_parted};
