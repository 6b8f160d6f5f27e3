// Walks on a directed graph that collect a batch (BS algorithm 3).
#ifndef HN_SAMPLERS_WALK_H
#define HN_SAMPLERS_WALK_H

#include "core/graph.h"
#include "core/random.h"

// What all walks of an epoch share. Borrowed.
struct hn_walk {
    const struct hn_graph *graph;
    const double *cumulative; // law `weight`: [edges] running sums of max(weight, 0) along each
                              // row; NULL: law `uniform`
    double alpha;             // restart probability
    int64_t cap;              // a walk of cap * batch_size steps without an end goes on elsewhere
    int32_t batch_size;       // at most graph->n
};

// What walks cost, and how often they had to go on elsewhere.
struct hn_walk_tally {
    int64_t draw, step, edge, stalls;
};

// Of one thread. The last four are there only if `limit` was asked for.
struct hn_walk_scratch {
    uint64_t *collected;     // marks of what is in the batch, clear between walks
    uint64_t *queued;        // marks of the next level, clear between walks
    int32_t *level, *deeper; // [n] two levels of nodes
    double *mass;            // [n] probability of the paths that end at a node
    double *key;             // [n] what a level is sorted by
};

// limit: whether walks with alpha = 1 will be asked for.
HN_MUST_USE enum hn_code hn_walk_scratch_open(struct hn_context *ctx, int64_t n, bool limit,
                                              struct hn_walk_scratch *s);
void hn_walk_scratch_free(struct hn_context *ctx, struct hn_walk_scratch *s); // zeroed is fine

// Running sums for law `weight`: sum[edges of g].
void hn_walk_cumulate(const struct hn_graph *g, double *sum, int threads);

// Random walk with restart from `start`: ids[batch_size] gets distinct items in the order in which
// they are first visited, start first. With alpha = 1 the walk as written never leaves its start;
// then its limit for alpha to 1 is taken. Adds to *tally. Thread-safe with a scratch and stream per
// thread.
void hn_walk_restart(const struct hn_walk *walk, int32_t start, struct hn_stream *stream,
                     struct hn_walk_scratch *s, int32_t *ids, struct hn_walk_tally *tally);

#endif
