// What a job will take, before it is run: time and memory of every cell.
//
// Nothing is declared and no table of costs is kept: the cells themselves are run for a few
// batches, on a synthetic file of the job's dimension at three sizes of some thousand items (or on
// the file itself, where it is small), and their times, work counters and bytes are carried on to
// the job's numbers. Times grow with the power of n that the counters of work show, which are
// exact; bytes, which are exact too, along a parabola. So a new sampler or metric is estimated
// without a word.
#ifndef HN_HARNESS_RUN_ESTIMATE_H
#define HN_HARNESS_RUN_ESTIMATE_H

#include "harness/run/plan.h"
#include "harness/run/runner.h"

struct hn_estimate_item {
    bool known;     // false: it needs what a synthetic file lacks, or failed when tried
    double seconds; // wall time, reading the step and storing the result included
    int64_t bytes;  // peak of allocated memory, what the run held before included
};

struct hn_estimate {
    struct hn_estimate_item *item; // [n_items] of the plan
    struct hn_estimate_item *read; // [n_steps]: what cells share: embeddings, all pairs of views
    int64_t *held;                 // [n_items] bytes of results, all of which are merged at the end
    int64_t live;                  // bytes allocated before the run
    int64_t resident;              // of the process before the run, all of it: VmRSS
};

enum { HN_ESTIMATE_SECONDS = 20 };   // that trying the cells may take
enum { HN_ESTIMATE_LARGE = 100000 }; // items: such a file is never tried itself
// Tries the cells; of what takes too long nothing is known. Leaves no file. The memory limit does
// not bind it.
HN_MUST_USE enum hn_code hn_estimate_make(struct hn_context *ctx, const struct hn_plan *plan,
                                          struct hn_estimate *out);
void hn_estimate_free(struct hn_context *ctx, struct hn_estimate *e);

// Of the items that a run wants: sums seconds, the largest bytes and what needs them (label,
// [HN_MESSAGE_MAX]). run: NULL = all.
struct hn_estimate_total {
    double seconds;
    int64_t bytes;
    int64_t unknown; // of these
    char largest[HN_MESSAGE_MAX];
};
HN_MUST_USE enum hn_code hn_estimate_sum(struct hn_context *ctx, const struct hn_plan *plan,
                                         const struct hn_estimate *e, const struct hn_runner *run,
                                         struct hn_estimate_total *out);

// Value at n of the parabola through (at[i], bytes[i]), 0 < at[0] < at[1] < at[2]; a straight line
// where the curvature is within the rounding of allocations; not below the largest
// bytes[i] for n >= at[2]; INT64_MAX where it is beyond that. count = 1: bytes[0].
int64_t hn_estimate_bytes(const int64_t *at, const int64_t *bytes, int count, int64_t n);
// The same for bytes that grow with a number `entries` of each size and of n: the straight line
// through the first and the last.
int64_t hn_estimate_entries(const double *entries, const int64_t *bytes, int count, double at_n);
// Sum and product of sizes that stop at INT64_MAX; negative sizes count as none.
int64_t hn_bytes_add(int64_t a, int64_t b);
int64_t hn_bytes_mul(int64_t a, int64_t b);
// "1.5 GiB", "34 MiB"; "2:03:10", "4:05", "1.2 s", "35 ms".
int hn_bytes_text(int64_t bytes, char *buffer, size_t size);
int hn_seconds_text(double seconds, char *buffer, size_t size);

// What a job would take on several machines that share its long computations (`--rows`): time,
// memory and traffic of each, before it is run.
//
// The same trials, in parts: bytes are those of parts' files, seconds those of computing parts,
// memory the peak of allocations; each is carried on to the job's number of items as there. With
// parts dealt out evenly a node of P has ceil(parts / P) of a
// computation, writes what they found, and reads what all found.

// A kind of computation of one unit of a job; seconds and bytes are of all its steps and seeds.
struct hn_nodes_task {
    char name[96];   // "gcbs: pairs"
    double parts;    // of one computation
    double seconds;  // of all parts
    double node;     // seconds of the node that has most of them
    int64_t bytes;   // of all parts
    int64_t written; // by that node
    int64_t read;    // by every node
};

struct hn_nodes {
    int64_t nodes;    // given
    double bandwidth; // bytes a second of each node, given
    struct hn_nodes_task *task;
    int64_t n, capacity;
    struct hn_estimate shared; // with parts: its bytes are of use, its seconds those without
    bool unknown;              // there is more, which was not tried
    double saved;              // seconds of one process that parts take the place of
    // In all.
    double one, node, alike, traffic; // seconds: of one process without parts; of a node, and of
                                      // that what all do alike, and what bytes take
    int64_t written, read;            // of a node, at most
    struct hn_estimate_total memory;  // of a node: hn_estimate_sum() of `shared`
};

// hn_estimate_make(), and what a run wants of it on nodes; *nodes holds the two numbers given and
// is zeroed else, NULL: not asked.
HN_MUST_USE enum hn_code hn_estimate_make_nodes(struct hn_context *ctx, const struct hn_plan *plan,
                                                const struct hn_runner *run,
                                                struct hn_estimate *out, struct hn_nodes *nodes);
// Then fills in what it comes to in all. total: hn_estimate_sum() of the estimate.
HN_MUST_USE enum hn_code hn_nodes_sum(struct hn_context *ctx, const struct hn_plan *plan,
                                      const struct hn_runner *run,
                                      const struct hn_estimate_total *total,
                                      struct hn_nodes *nodes);
// Back to the two numbers.
void hn_nodes_clear(struct hn_context *ctx, struct hn_nodes *nodes);
// A table for people.
void hn_nodes_print(const struct hn_nodes *nodes);

#endif
