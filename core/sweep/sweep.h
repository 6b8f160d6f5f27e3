// SPDX-License-Identifier: GPL-3.0-or-later
// The sweep: walks S = X Y^T (or X X^T) in tiles, one matrix product per tile, and hands every
// tile, while it is in cache, to a list of sinks. S itself is never stored.
//
// Order and threads. Rows and columns are cut into blocks; in round r the tile of row block I is
// the column block (I + r) mod L (X Y^T) or the one that pairs with it in a round-robin tournament
// (X X^T, each unordered pair of blocks once). So within a round no two tiles share a row block or
// a column block, and a tile only waits for those of earlier rounds that share one with it: tiles
// run in parallel, without locks, and every row meets its column blocks in the same order for any
// number of threads. Results of sinks are therefore the same, bit for bit, for any number of
// threads.
//
// If sinks keep state of rows alone (X Y^T, none on the column side), there is no need for rounds:
// a thread takes a row block through all its column blocks, in that same order, and sinks are told
// when its rows have met everything. So a sink needs its scratch for the row blocks of `threads`
// threads only.
//
// In parts (core/parts.h), if all sinks can tell their results so far: a part has some of the row
// blocks, each pair of blocks in one part. Tiles are those of the whole sweep.
//
// If the only sink wants nothing but products from a limit of their row on, most are never computed
// (core/sweep/screen.h). Rows then come in an order of the screen's own, in which they are numbered
// for the sink.
//
// Sinks see inner products only: temperature belongs to the sink, and the self (or positive) column
// is left out by the spans a sink walks, not by masking.
#pragma once

#include "core/graph.h"
#include "core/matrix.h"
#include "core/parts.h"
#include "core/sweep/packed.h"
#include "core/sweep/screen.h"
#include "core/sweep/simd.h"

// s[i * stride + j] = <x_(row0+i), y_(col0+j)>, float products; borrowed, valid during the call.
struct hn_tile {
    const float *s;
    int64_t stride;
    int64_t row0, col0;
    int32_t rows, cols;
};

// The columns of row i (0-based in the tile) other than the self column: at most two spans
// [from, to) of tile columns. Returns their number.
struct hn_span {
    int32_t from, to;
};
int hn_tile_spans(const struct hn_tile *tile, int32_t i, bool skip_self, struct hn_span span[2]);

enum hn_side {
    HN_SIDE_ROWS, // state per row of X
    HN_SIDE_COLS  // state per row of Y
};

struct hn_sweep_shape {
    int64_t rows, cols;    // as the sink sees them: exchanged on the column side
    struct hn_matrix x, y; // of the sink's rows and of its columns: exchanged likewise
    const struct hn_packed *x_packed, *y_packed; // x and y, in blocks; valid until after `end`
    const struct hn_screen *screen;              // NULL: none; else nothing is packed
    int threads;
    int64_t block;   // rows and columns of a tile, at most
    bool row_by_row; // a row block meets all its columns on one thread, then `done` is called
};

// A sink. `tile` is called with row-oriented tiles (strips of a few rows of those multiplied): it
// updates the state of rows [row0, row0 + rows). No two concurrent calls share a row of the sink's
// state. thread < shape.threads, for scratch that needs no lock.
struct hn_sink_type {
    const char *name;
    HN_MUST_USE enum hn_code (*begin)(struct hn_context *ctx, void *self,
                                      const struct hn_sweep_shape *shape); // Optional: allocates
    void (*tile)(void *self, const struct hn_tile *tile, int thread);      // Required
    HN_MUST_USE enum hn_code (*end)(struct hn_context *ctx, void *self);   // Optional: finishes
    // Optional: rows [row0, row0 + rows), a row block, have met all their columns, on this thread
    // alone. Called only where shape.row_by_row.
    void (*done)(void *self, int64_t row0, int64_t rows, int thread);
    // Optional: updates the state of rows [col0, col0 + cols) from the tile as it is, column by
    // column. Sinks without it are given transposed strips through `tile`.
    void (*across)(void *self, const struct hn_tile *tile, int thread);
    // Optional: `tile` for self and `across` for other (which may be self) in one pass. Called for
    // both orientations of X X^T, and for sinks of either side of X Y^T that `joins` says fit.
    void (*both)(void *self, void *other, const struct hn_tile *tile, int thread);
    bool (*joins)(const void *self, const void *other);
    const struct hn_screened *screened; // Optional: what is called instead in a screened sweep
    const struct hn_parted *parted;     // Optional: for sweeps in parts
};

// A sink whose results can be put together from those of parts, in any order to the same bits.
struct hn_parted {
    // Adds what the results depend on, besides the matrices, to the key.
    void (*key)(const void *self, struct hn_digest *key);
    // Tells what tiles have brought since `begin` or the last call, and forgets it.
    HN_MUST_USE enum hn_code (*save)(struct hn_context *ctx, void *self, struct hn_bytes *out);
    // Takes it in again, between `begin` and `end`. HN_DATA: it cannot be that.
    HN_MUST_USE enum hn_code (*load)(struct hn_context *ctx, void *self, struct hn_cursor *from);
};

// A sink that wants only products from a limit of their row on. Rows are numbered by their
// positions in shape.screen.
struct hn_screened {
    // Share of the products that will be wanted, about; before `begin`.
    double (*share)(const void *self, int64_t rows, int64_t cols);
    const float *(*limits)(const void *self); // [shape.rows], which `meet` and `take` may raise
    void (*take)(void *self, const struct hn_found *found, int thread); // Required
    // Optional: rows [row0, row0 + rows) are about to meet a block of columns, and have met `done`
    // of `all` such blocks. With it columns come in a random order, so that what a row has met is a
    // sample of all. No two concurrent calls of this or `take` share a row.
    void (*meet)(void *self, int64_t row0, int64_t rows, int64_t done, int64_t all, int thread);
};

struct hn_sink {
    const struct hn_sink_type *type;
    void *self; // borrowed
    enum hn_side side;
};

enum { HN_SINKS_MAX = 32 };

// The matrices of a sweep. y.data = x.data (same view) means X X^T: only half the products are
// computed, and every sink gets each off-diagonal tile in both orientations.
struct hn_sweep {
    struct hn_matrix x, y;
    struct hn_sink sink[HN_SINKS_MAX];
    int n_sinks;
    int64_t block; // 0 = chosen by the sweep
    // out: inner products of the tiles. What a sink computes besides, to decide exactly or sooner,
    // is not counted: counts say what the algorithm asks for.
    int64_t n_dot;
};

// Inner products of a sweep of X X^T over so many rows: n_dot, with the blocks it would choose.
int64_t hn_sweep_symmetric_dots(int64_t rows);

void hn_sweep_add(struct hn_sweep *sweep, const struct hn_sink_type *type, void *self,
                  enum hn_side side);
// Runs the sweep on ctx->threads threads. Errors: those of the sinks, HN_MEMORY, HN_INTERRUPTED
// (checked between tiles), HN_INTERNAL (matrices that do not fit each other, too many sinks).
// After an error the sinks hold no results, but have to be freed.
HN_MUST_USE enum hn_code hn_sweep_run(struct hn_context *ctx, struct hn_sweep *sweep);
