// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers timed on random rows: for `bench`, and for costs at sizes that no snapshot has.
#pragma once

#include "harness/job/job.h"
#include "samplers/sampler.h"

// Entries of x are normal (rows in random directions) or uniform on [0, 1). The stream of a row is
// named by seed, purpose and `which`.
struct hn_random_rows {
    int64_t n, d;
    bool uniform;
    uint64_t seed;
    const char *purpose;
    int64_t which;
};
// Unit rows out->data[n x d], owned by the caller; the same for any number of threads.
HN_MUST_USE enum hn_code hn_random_rows(struct hn_context *ctx, const struct hn_random_rows *rows,
                                        struct hn_matrix *out);

struct hn_timed {
    const struct hn_job_sampler *sampler;
    int32_t batch_size;
    uint64_t seed;
    int64_t batches; // most that are drawn of an epoch; 0: only the build is timed
    bool warm_up;    // draws from the first epoch, too, before the second one is timed
    // Seconds of a build, of beginning the second epoch, and of drawing one of its batches; with
    // the processor time of all threads of the first two; and inner products of the build.
    double build, epoch, batch, build_cpu, epoch_cpu;
    int64_t build_dots;
};
HN_MUST_USE enum hn_code hn_time_sampler(struct hn_context *ctx, const struct hn_items *items,
                                         struct hn_timed *timed);

static inline double hn_seconds_since(int64_t begun) {
    return (double)(hn_wall_ns() - begun) * 1e-9;
}
