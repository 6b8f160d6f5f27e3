// SPDX-License-Identifier: GPL-3.0-or-later
// Computations that are cut into parts, so that several processes can share one: each process
// computes some parts and stores their results as bytes, and every process joins the results of
// all. The cuts depend on sizes alone, and results are the same, bit for bit, for any number of
// processes. A struct hn_parts (harness/host/parts.h) deals out the parts and stores the bytes; a
// context without one computes everything itself.
#pragma once

#include "core/bytes.h"
#include "core/digest.h"
#include "core/matrix.h"

enum { HN_PARTS_NONE = -1, HN_PARTS_MAX = 128, HN_PARTS_ROWS = 1 << 15 };

// The length of a computation, and the limits of its parts.
struct hn_cut {
    double multiplications; // of all its parts together
    int64_t coarse;         // its parts are so many times as long as those of others
    bool dealt; // what is found of a row comes from one part alone, so that more parts write no
                // more bytes: one for every HN_PARTS_ROWS rows, where that is more than the most
    int64_t rows, block; // a part has one block of rows at least
};

struct hn_parts_fill {
    void *data; // borrowed
    HN_MUST_USE enum hn_code (*write)(struct hn_context *ctx, void *data, void *out);
};

// Deals out the parts of computations, one computation after the other.
struct hn_parts {
    void *self; // borrowed
    // A computation in so many parts; the same key: the same results. HN_OK: to be ended.
    HN_MUST_USE enum hn_code (*begin)(struct hn_context *ctx, void *self, const char *key,
                                      int64_t parts);
    // The next part for this process to compute, or HN_PARTS_NONE.
    int64_t (*next)(void *self);
    // Stores the result of that part; borrowed.
    HN_MUST_USE enum hn_code (*put)(struct hn_context *ctx, void *self, int64_t part,
                                    const struct hn_bytes *found);
    // Ends it with the code so far: HN_OK where all parts are there, HN_WAITING where some are
    // other processes' and not there yet.
    HN_MUST_USE enum hn_code (*end)(struct hn_context *ctx, void *self, enum hn_code code);
    // After that: what a part has found, added to *out.
    HN_MUST_USE enum hn_code (*get)(struct hn_context *ctx, void *self, int64_t part,
                                    struct hn_bytes *out);
    // Optional: n bytes that `fill` writes, the same wherever `name` is the same, in memory once
    // for all processes of a machine, and are not to be written. NULL: an error.
    const void *HN_MUST_USE (*share)(struct hn_context *ctx, void *self, const char *name,
                                     int64_t n, const struct hn_parts_fill *fill);
    // True if something of the work in hand was computed elsewhere, or before, so that its time is
    // not that of the processes that work on it now.
    bool elsewhere;
    int64_t count; // cut everything in so many parts, to try it; 0: as hn_cut_parts() says
};

// n bytes that `fill` writes, shared where ctx->parts can. NULL: an error.
HN_MUST_USE const void *hn_parts_share(struct hn_context *ctx, const char *name, int64_t n,
                                       const struct hn_parts_fill *fill);

// The same, of this process alone.
HN_MUST_USE const void *hn_parts_own(struct hn_context *ctx, int64_t n,
                                     const struct hn_parts_fill *fill);

// In how many parts a computation is cut: 1 where it is too short.
int64_t hn_cut_parts(const struct hn_cut *cut);
// The same, or as ctx->parts has it; 1 without those.
int64_t hn_parts_count(const struct hn_context *ctx, const struct hn_cut *cut);

// Begins the digest that is to become the key: what is computed, and on which embeddings (sizes and
// a sample of rows; the snapshot itself is for the hn_parts to know).
void hn_parts_key(struct hn_digest *key, const char *what, const struct hn_matrix *x,
                  const struct hn_matrix *y);

struct hn_parts_work {
    struct hn_digest *key; // begun by hn_parts_key(); ended here
    int64_t parts;
    void *data; // of the calls
    // Computes a part, and adds what it found to *found.
    HN_MUST_USE enum hn_code (*compute)(struct hn_context *ctx, void *data, int64_t part,
                                        struct hn_bytes *found);
    // Optional: takes in what a part has found: of all parts, in their order.
    HN_MUST_USE enum hn_code (*take)(struct hn_context *ctx, void *data, int64_t part,
                                     struct hn_cursor *found);
};
// Computes what falls to this process, of ctx->parts, and takes in all. HN_WAITING: see above.
HN_MUST_USE enum hn_code hn_parts_run(struct hn_context *ctx, const struct hn_parts_work *work);
