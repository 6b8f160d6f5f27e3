// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of one MPI program (mpirun -n P hardneg run --mpi), on one machine or many.
#pragma once

#include "core/parts.h"
#include "harness/host/processes.h"
#include "results/store.h"

enum { HN_RANKS_NONE = -1 };

// Ranks of one MPI program (mpirun -n P hardneg run --mpi), on one machine or many: each takes the
// next stretch of work from a counter of rank 0, so that none waits for another; rank 0 works as
// well, and speaks for all. An option of the build (make MPI=1).
//
// All ranks make the same calls of hn_ranks_agree(), hn_ranks_share() and hn_ranks_gather(), in the
// same order; one that fails in between goes to hn_ranks_close(), which the others learn at their
// next call. But for the calls from hn_ranks_begin() to hn_ranks_end(), NULL stands for a process
// that is alone.
struct hn_ranks;

// Joins the other ranks, and leaves notes to rank 0. HN_USAGE: this program was built without MPI.
HN_MUST_USE enum hn_code hn_ranks_open(struct hn_context *ctx, struct hn_ranks **out);

// Instead of it: a note where an mpirun started several processes, as each does the whole job.
void hn_ranks_none(struct hn_context *ctx);
int hn_ranks_number(const struct hn_ranks *r); // of this one, from 0; 0 alone
int hn_ranks_count(const struct hn_ranks *r);  // 1 alone
int hn_ranks_beside(const struct hn_ranks *r); // those of this machine, this one included; 1 alone

// Writes the number of ranks into /env; nothing alone.
HN_MUST_USE enum hn_code hn_ranks_describe(struct hn_context *ctx, const struct hn_ranks *r,
                                           struct hn_results *env);

// `threads`, or fewer where the processors that this rank may use are those of other ranks, too.
int hn_ranks_threads(const struct hn_ranks *r, int threads);

// Waits for all ranks. Gives HN_OK if all say so, else the code and the message of the first that
// failed by itself, or was interrupted.
HN_MUST_USE enum hn_code hn_ranks_agree(struct hn_context *ctx, struct hn_ranks *r,
                                        enum hn_code code);

// Waits for all ranks that are to do the same: HN_OK if all are at `point` with one and the same
// code, which is the caller's to see to. Else the failure of the first rank that failed by itself,
// after which no rank can go on.
HN_MUST_USE enum hn_code hn_ranks_same(struct hn_context *ctx, struct hn_ranks *r,
                                       const char *point, enum hn_code code);

// data[bytes] of rank 0 for all.
void hn_ranks_share(struct hn_ranks *r, void *data, int64_t bytes);

// own[bytes] of every rank, in their order, into all[ranks x bytes] of rank 0.
void hn_ranks_gather(struct hn_ranks *r, const void *own, int bytes, void *all);

// Work in `units` stretches, from hn_ranks_begin() to hn_ranks_end(); no other call in between than
// these. A failure, or a signal, of any rank sets the stop flag of all.
HN_MUST_USE enum hn_code hn_ranks_begin(struct hn_context *ctx, struct hn_ranks *r, int64_t units);

// The next unit for this rank; HN_RANKS_NONE: there is none left, or some rank failed.
int64_t hn_ranks_next(struct hn_ranks *r);

// The unit that this rank was given last is done; or cannot be, which stops all ranks.
void hn_ranks_done(struct hn_ranks *r);
void hn_ranks_fail(struct hn_ranks *r);

// On rank 0: a unit that another rank has done and that was not told yet, else HN_RANKS_NONE.
int64_t hn_ranks_told(struct hn_ranks *r);

// When hn_ranks_next() gave HN_RANKS_NONE. On rank 0: waits until it did so on all ranks.
void hn_ranks_end(struct hn_context *ctx, struct hn_ranks *r);

// Agrees a last time and leaves MPI. Rank 0 is given the code and the message of all, others HN_OK:
// mpirun has one exit code, and one message.
HN_MUST_USE enum hn_code hn_ranks_close(struct hn_context *ctx, struct hn_ranks *r,
                                        enum hn_code code);
