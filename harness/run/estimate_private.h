// Shared by harness/estimate*.c only: what trying the cells of a file has shown.
#ifndef HN_HARNESS_RUN_ESTIMATE_PRIVATE_H
#define HN_HARNESS_RUN_ESTIMATE_PRIVATE_H

#include "core/parts.h"
#include "harness/run/estimate.h"

enum { HN_PROBE_SIZES = 3 };

// A sampler with a batch size, tried at every size.
struct hn_probe {
    bool known, applies, late;    // late: it took too long to try
    int64_t sampler;              // of the job that was tried: one before it where there are many
    double build[HN_PROBE_SIZES]; // seconds
    // Seconds at the largest size: the beginning of the first and of a later epoch, and per batch
    // its drawing and its measuring; and the fixed time of a cell.
    double first_epoch, epoch, next, measure, fixed;
    double epoch_batches;                // of the sampler, per ceil(n / B)
    double dot_build[HN_PROBE_SIZES];    // inner products of a build
    double dot_batch[HN_PROBE_SIZES];    // and of a batch
    double edge[HN_PROBE_SIZES];         // edges of a build
    int64_t build_bytes[HN_PROBE_SIZES]; // peak of a build
    int64_t kept_bytes[HN_PROBE_SIZES];  // of a sampler that is built
    int64_t cell_bytes[HN_PROBE_SIZES];  // peak of a cell of few batches
    double batch_bytes;                  // more of it per batch
    int64_t held_bytes;                  // results of a cell of few batches
    double held_batch_bytes;             // more of them per batch
};

// What something took at every size, and its peak of memory.
struct hn_probe_cost {
    double seconds[HN_PROBE_SIZES];
    int64_t bytes[HN_PROBE_SIZES];
};

// A study, tried at every size on the last step of the file.
struct hn_probe_study {
    bool known, late;
    struct hn_probe_cost cost;
    int64_t held_bytes; // its results
    double store;       // seconds: these stored and read again
    int64_t series;     // steps of the series that it could read
};

// A file of n items of d dimensions.
struct hn_probe_file {
    int sizes; // 1: tried on the file itself; 0: not at all, it would take too large a file
    int64_t n[HN_PROBE_SIZES];
    int64_t few;                  // batches of a short cell
    struct hn_probe *probe;       // [n_samplers x n_batch_sizes]
    struct hn_probe_study *study; // [n_studies] of the job
    double *weight;               // [n_losses x n_weightings] measuring, relative
    double load, store;           // seconds: a step read, a result stored and read again
    struct hn_probe_cost global;  // the quantities of all pairs of the two views
    struct hn_probe_cost step;    // what needs no sampler
};

// Tries until `end` (hn_wall_ns()); what has not come to an end by then is not known. What it
// allocates belongs to the owner of now.
HN_MUST_USE enum hn_code hn_probe_file(struct hn_context *ctx, const struct hn_plan *plan,
                                       int64_t data, int64_t end, struct hn_probe_file *out);

// What of a step may be shared by processes comes in units: the quantities of all pairs, what needs
// no sampler, then the studies of the job, then its samplers by their batch sizes.
enum { HN_UNIT_GLOBAL, HN_UNIT_STEP, HN_UNITS };

// What a unit computes of one kind (of the same sinks), together, when it is cut into parts.
struct hn_probe_task {
    int64_t unit, times;                    // times: so many computations
    struct hn_cut cut;                      // of the last of them at the largest size
    double multiplications[HN_PROBE_SIZES]; // of all
    double parts[HN_PROBE_SIZES][2];        // cut twice, the second time finer
    double bytes[HN_PROBE_SIZES][2];        // of what these found
    double fresh;                           // multiplications that no unit before has done
    double seconds;                         // of these, at the largest size
    bool per_seed;                          // another seed has them computed anew
};

struct hn_probe_sharing {
    bool known;                 // false: trying took too long
    struct hn_probe_task *task; // [n]
    int64_t n, capacity;
};
// Tries the units that are wanted ([HN_UNITS + n_studies + n_samplers x n_batch_sizes]) in parts,
// on files of the sizes of *file, whose bytes become those of the trial: of builds, steps, studies
// and the quantities of all pairs. Tries until `end`. Belongs to the owner of now.
HN_MUST_USE enum hn_code hn_probe_share(struct hn_context *ctx, const struct hn_plan *plan,
                                        int64_t data, const bool *wanted, int64_t end,
                                        struct hn_probe_file *file, struct hn_probe_sharing *out);
// How much more there is of something at n items than at the largest size: its counter grows with a
// power of n, `otherwise` where it is NULL or zero.
double hn_probe_grow(const struct hn_probe_file *file, const double *counter, double otherwise,
                     double n);

// What processes would share of file number `data`, added to *nodes.
struct hn_nodes_file {
    const struct hn_plan *plan;
    const struct hn_runner *run;
    int64_t data;
    struct hn_probe_file *file;
};
HN_MUST_USE enum hn_code hn_nodes_add(struct hn_context *ctx, const struct hn_nodes_file *f,
                                      int64_t end, struct hn_nodes *nodes);

// Of a job's samplers, in the order of the file, those that are tried: all where they are few.
bool hn_probe_tries(const struct hn_job *job, int64_t sampler);
// Sizes and items of what is tried for a file.
void hn_probe_choose_sizes(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_snapshot_info *info, struct hn_probe_file *out);
// Whether planning has to say the same of a sampler at n items as it has at the job's. *all_fit
// becomes false if it refuses either.
bool hn_probe_same_sampler(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_snapshot_info *info, int64_t n, int64_t sampler,
                           bool *all_fit);
// The same of a study.
bool hn_probe_same_study(struct hn_context *ctx, const struct hn_job_study *study, int64_t n_job,
                         int64_t n_trial);

#endif
