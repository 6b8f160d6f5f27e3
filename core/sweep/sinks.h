// SPDX-License-Identifier: GPL-3.0-or-later
// The sinks of the sweep. Each struct is filled with its inputs, added with hn_sweep_add(), and
// after hn_sweep_run() holds its results, freed with its _free function (also after a failure).
#pragma once

#include "core/label_sets.h"
#include "core/sweep/sweep.h"

// Exact top-k per row, by descending inner product as hn_dot_exact() sees it, ties by lower index.
// Float products filter; survivors near a decision are scored again in double.
struct hn_topk {
    int64_t k;      // in: at most the number of other rows, else cut to it
    bool skip_self; // in: leave out column i of row i
    bool ids_only; // in: scores are not wanted, `score` stays NULL: only what is in doubt is scored
    int64_t rows;  // out
    int64_t kept;  // out: columns kept per row, min(k, columns - skip_self), at least 0
    int32_t *id;   // out: [rows x kept]
    float *score;  // out: [rows x kept] the double score, rounded
    void *work;    // private
};
extern const struct hn_sink_type hn_topk_sink;
void hn_topk_free(struct hn_context *ctx, struct hn_topk *t);

// log sum_j exp(s_ij / temperature) per row in double, for several temperatures at once.
// The shift is 1 / temperature, constant: for unit rows s <= 1 up to rounding, so no term exceeds
// e^(1e-4 / temperature), and none of the sums vanishes because |s| <= 1 (temperature >= 0.003:
// a smaller or infinite one is HN_USAGE). Rounding, but for that of the products, leaves an
// absolute error below HN_LSE_ERROR (core/sweep/sink_lse.c). A row without columns gives -infinity.
#define HN_LSE_ERROR 2.7e-7
struct hn_lse {
    const double *temperature; // in: [n], borrowed
    int n;                     // in
    bool skip_self;            // in
    int64_t rows;              // out
    double *value;             // out: [n x rows]
    void *work;                // private
};
extern const struct hn_sink_type hn_lse_sink;
void hn_lse_free(struct hn_context *ctx, struct hn_lse *l);

// Largest and smallest inner product per row, as floats; -infinity and infinity without columns.
struct hn_extrema {
    bool skip_self;
    int64_t rows;
    float *max, *min; // out: [rows]
};
extern const struct hn_sink_type hn_extrema_sink;
void hn_extrema_free(struct hn_context *ctx, struct hn_extrema *e);

// Counts of inner products in `bins` equal bins on [-1, 1] (values outside go to the end bins),
// split by relation: same label, different label, a label unknown (-1). Ordered pairs, as swept.
enum { HN_REL_SAME, HN_REL_DIFFERENT, HN_REL_UNKNOWN, HN_REL_COUNT };
struct hn_sweep_histogram {
    int64_t bins;                           // in: 1 to 2^20
    const int32_t *row_label, *col_label;   // in: borrowed; NULL = all unknown
    const struct hn_label_sets *label_sets; // in: of which they are numbers, or NULL
    bool skip_self;                         // in
    bool exact;      // in: what lies near an edge is decided by hn_dot_exact()
    uint64_t *count; // out: [HN_REL_COUNT x bins]
    void *work;      // private
};
extern const struct hn_sink_type hn_histogram_sink;
void hn_sweep_histogram_free(struct hn_context *ctx, struct hn_sweep_histogram *h);

// The k nearest of every row, as ids alone: in one sweep, or in bands of rows where memory is
// short, or where processes share the work (core/parts.h: a band is a part).
//
// One sweep holds candidates of all rows at once, some 12 k bytes a row; a band holds those of an
// eighth of them. Results are the same, bit for bit, and so is the count of products: what a band
// computes again (X X^T loses its symmetry) is told apart from it.
