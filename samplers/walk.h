// SPDX-License-Identifier: GPL-3.0-or-later
// Walks on a directed graph that collect a batch (BS algorithm 3 and table 6).
#pragma once

#include "core/graph.h"
#include "core/random.h"

enum hn_walk_kind {
    HN_WALK_RESTART, // random walk with restart (rwr; with alpha = 0: rw)
    HN_WALK_BREADTH, // level by level, neighbours in the order of the graph (bfs)
    HN_WALK_DEPTH    // a random branch as deep as it goes, back up when stuck (dfs)
};

// State shared by all walks of an epoch. Borrowed.
struct hn_walk {
    const struct hn_graph *graph;
    const double *cumulative; // law `weight`: [edges] running sums of max(weight, 0) along each
                              // row; NULL: law `uniform`
    double alpha;             // HN_WALK_RESTART: restart probability
    int64_t cap;              // a walk of cap * batch_size steps without an end goes on elsewhere
    int32_t batch_size;       // at most graph->n
    enum hn_walk_kind kind;
};

// Work of walks, and the number of stalls.
struct hn_walk_tally {
    int64_t draw, step, edge, stalls;
};

enum { HN_WALKS = 8 }; // walks that take turns

// A thread's own. What stands behind `collected` is there only if the walk needs it.
struct hn_walk_scratch {
    uint64_t *collected;     // marks of what is in the batch, clear between walks; HN_WALKS sets
    uint64_t *queued;        // marks of the next level, clear between walks
    int32_t *level, *deeper; // [n] two levels of nodes; HN_WALK_DEPTH: the branch, in `level`
    double *mass;            // [n] probability of the paths that end at a node
    double *key;             // [n] what a level is sorted by
};

// limit: whether walks of HN_WALK_RESTART with alpha = 1 will be asked for.
HN_MUST_USE enum hn_code hn_walk_scratch_open(struct hn_context *ctx, int64_t n,
                                              enum hn_walk_kind kind, bool limit,
                                              struct hn_walk_scratch *s);

// Running sums for law `weight`: sum[edges of g].
void hn_walk_cumulate(const struct hn_graph *g, double *sum, int threads);

// Up to HN_WALKS walks from start[count], each with its stream, to ids[count x batch_size]:
// distinct items in the order in which they are first visited, start first; the same as one walk
// after the other. Those with restart take turns, so that none waits for memory; as written they
// never leave their start with alpha = 1: then their limit for alpha to 1 is taken. Adds to *tally.
// Thread-safe with a scratch and streams per thread.
void hn_walk_run_many(const struct hn_walk *walk, int count, const int32_t *start,
                      struct hn_stream *stream, struct hn_walk_scratch *s, int32_t *ids,
                      struct hn_walk_tally *tally);

// The r-th item, in index order, that is not marked; there are more than r.
int32_t hn_walk_unmarked(const uint64_t *marks, int64_t r);
