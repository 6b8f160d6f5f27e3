// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by library/*.c only: what stands behind a handle.
#pragma once

#include "core/label_sets.h"
#include "harness/job/fields.h"
#include "library/hardneg.h"
#include "samplers/sampler.h"

#include <pthread.h>
#include <sys/types.h>

// A sampler that is built, and its items. Owns all that is allocated with its context.
struct hn_library_build {
    struct hn_context ctx;
    struct hn_items items;
    enum hn_zero_rows zero_rows;
    struct hn_label_sets label_sets;
    struct hn_graph graph;
    struct hn_features features;
    struct hn_tuples tuples;
    struct hn_sampler sampler;
    int64_t made;       // hn_wall_ns() of the build: no two of a process share it
    bool begun, shared; // by a thread, an epoch; by different ones, epochs of different numbers
    int64_t batches;    // of the epoch that the build began, and of all, unless they vary
    int64_t last;       // the size of the last of them
    pthread_t by;       // the thread that began the last one
    char note[HN_MESSAGE_MAX];
};

struct hardneg {
    // Constant once the handle is open.
    struct hn_context ctx;              // of the specification; limits of builds come from it
    const struct hn_sampler_type *type; // NULL: hardneg_open() failed
    void *params;
    char *name; // with all options
    int32_t batch_size;
    uint64_t seed;
    // Guarded by the lock, which is first come, first served.
    struct hn_library_build *built; // NULL: nothing
    char message[HN_MESSAGE_MAX], note[HN_MESSAGE_MAX];
    _Atomic unsigned tickets, serving;
    _Atomic pid_t process; // that the lock was taken in last
    sig_atomic_t stops;    // calls of hardneg_stop(); atomic
};

// Makes b->items of arrays that the caller keeps, as copies.
HN_MUST_USE enum hn_code hn_library_take_items(struct hn_library_build *b,
                                               const struct hardneg_items *in);
// Copies rows[n x d] and makes them unit length; rows: NULL = none. Notes how many zero rows stay.
HN_MUST_USE enum hn_code hn_library_take_rows(struct hn_context *ctx, const float *rows, int64_t n,
                                              int64_t d, enum hn_zero_rows zero, const char *what,
                                              struct hn_matrix *out);
// The build of a handle, which is this thread's until hn_library_leave(); other threads wait. NULL
// if there is none or no handle: the call returns *code, and its message is set.
HN_MUST_USE struct hn_library_build *hn_library_enter(hardneg *h, int *code);
// Keeps message and note of the call. Returns the code that the caller gets.
int hn_library_leave(hardneg *h, enum hn_code code);
// Copies a struct of the caller, whose first field is its size: `first` bytes, which its first
// version had, or more, in whole fields, and no more than the `now` of this version. HN_USAGE.
HN_MUST_USE enum hn_code hn_library_take_struct(struct hn_context *ctx, const char *name,
                                                const void *from, size_t first, void *to,
                                                size_t now);
// For calls that need no build: one made aside, with the limits of the handle, that other threads
// do not wait for; and its end, after which it is the handle's (keep, if all went well) or gone. h
// is not NULL. HN_USAGE: it was not opened. The end returns the code that the caller gets.
HN_MUST_USE enum hn_code hn_library_aside(hardneg *h, struct hn_library_build **out);
int hn_library_end_aside(hardneg *h, struct hn_library_build *b, enum hn_code code, bool keep);
// Begins an epoch of a build, unless it is in that; of the first one, which the build arranged,
// keeps the sizes.
HN_MUST_USE enum hn_code hn_library_begin(struct hn_library_build *b, int64_t epoch);
HN_MUST_USE enum hn_code hn_library_begin_first(struct hn_library_build *b);
// HARDNEG_USAGE, with its message.
int hn_library_no_handle(void);
