// SPDX-License-Identifier: GPL-3.0-or-later
// The sampler type: one constant struct per sampler, at the end of its file, listed in registry.c.
#pragma once

#include "core/options/option.h"
#include "core/random.h"
#include "core/sweep/sweep.h"
#include "core/table.h"
#include "datasets/given.h"
#include "datasets/items.h"

enum hn_sampler_flags {
    HN_SAMPLER_PARTITION = 1,    // an epoch's batches are a partition of the items, unless the type
                                 // has `partitions` and it says otherwise
    HN_SAMPLER_NEEDS_LABELS = 2, // cells without are `not_applicable`, not failed
    HN_SAMPLER_NEEDS_VIEW2 = 4,
    HN_SAMPLER_NEEDS_GRAPH = 8,
    HN_SAMPLER_NEEDS_TEACHER = 32,
    HN_SAMPLER_NEEDS_GROUPS = 64,
    HN_SAMPLER_PER_ANCHOR = 16, // the items of a batch are anchors, with negatives of their own
    HN_SAMPLER_GIVEN = 256,     // another program chooses: see samplers/given.h
    HN_SAMPLER_ORDERED = 128 // an epoch's batches come in an order, and its first are no sample of
                             // them; of types that are cut from an order: see hn_batches.number
};

// Work, the same number on every machine.
struct hn_work {
    int64_t dot;   // inner products of embeddings
    int64_t draw;  // random numbers drawn by the sampler
    int64_t step;  // walk steps
    int64_t edge;  // edges written or followed
    int64_t bytes; // bytes of embeddings and graphs touched, by count
};

// Facts about the items, known to planning before any embedding is read.
struct hn_sampler_plan {
    int64_t n;          // items
    int32_t batch_size; // 2 <= batch_size <= n
    bool has_positive;
    bool has_labels; // or, of tuples, relevance
    bool has_tuples; // items are pairs of a query and a passage
    bool has_graph, has_features, has_teacher, has_groups;
    bool hands_over; // who opens the sampler sets hn_sampler.given
};

// Batches of ids: batch b of `count` holds ids[b * batch_size ..], size[b] of them (a short
// batch ends an epoch, or comes of texts that may not meet). ids may repeat within a batch only if
// the sampler draws with replacement.
struct hn_batches {
    int64_t first;         // in: number of the first batch wanted, within the epoch
    const int32_t *number; // in: number[first + b] is wanted in place of first + b, of ordered
                           // samplers; NULL: none is
    int32_t count;         // in: batches wanted
    int32_t count_max;     // batches that there are arrays for: hn_batches_open()
    int32_t batch_size;    // in
    int32_t *size;         // out: [count], caller's
    int32_t *ids; // out: [count x batch_size], caller's; the start item of a walk comes first

    // Negatives per anchor (HN_SAMPLER_PER_ANCHOR), not used by other samplers. The anchor at
    // position p = b * batch_size + a of ids has negative[p * capacity ..], negatives[p] of them:
    // distinct, and not the anchor; there may be none.
    int64_t capacity;   // in: hn_sampler_capacity()
    int32_t *negatives; // out: [count x batch_size], caller's
    int32_t *negative;  // out: [count x batch_size x capacity], caller's
};

// Most (anchor, negative) pairs of a batch: what they take in memory stays below 1 GiB per thread.
enum { HN_SAMPLER_PAIRS_MAX = 1 << 25 };

// An open sampler. The caller (harness, training loop, test) owns it; the hooks see it.
struct hn_sampler {
    const struct hn_sampler_type *type;
    const void *params; // borrowed, filled from type->options
    void *state;        // [type->state_size], zeroed before open
    int64_t n;          // items
    int32_t batch_size;
    uint64_t seed;
    int threads;    // of open, for which there is scratch: see hn_sampler_threads()
    int32_t *order; // [n] items of the current epoch, which its batches are cut from: the anchors
                    // of per-anchor samplers, shuffled; of types that fill no batches what their
                    // `epoch` or `rebuild` puts there; else NULL
    const int64_t *start; // [batches + 1] where these batches begin; NULL: every batch_size
    bool varies; // epochs differ in the number of their batches; of types with `start` they do
    const struct hn_given *given; // of HN_SAMPLER_GIVEN, set before the first epoch; borrowed
    bool built;                   // a build has succeeded
    void *made;                   // owns what that build allocated
    int64_t built_index; // names the random streams of rebuild: items.index of what it was built on
    int64_t first_epoch; // that a build arranges, as it comes next: 0, unless the caller of
                         // hn_sampler_build() sets it before
    int64_t arranged;    // epoch of the type's last arrange(), -1 = none since the build
    int64_t index;       // of the items of the current epoch: names the streams of its batches
    int64_t epoch, batches;  // the current epoch and its number of batches, 0 = none begun
    struct hn_work build;    // work of the last rebuild
    struct hn_work sampling; // work of epoch and next since open
    int64_t stalls;          // walks that had to go on elsewhere, since open
    // Counts of per-anchor samplers, since open: anchors drawn, those without a negative, and
    // pairs.
    int64_t anchors, anchors_without, pairs;
    // For partitions with keep_apart, in samplers/apart.c: order[n] once tuples were exchanged,
    // which batches are then cut from; and the items that changed batches, and those that stayed
    // where they should not, of the current epoch and over all since open.
    struct hn_apart {
        int32_t *order;
        int64_t moved_now, left_now, moved, left;
    } apart;
};

struct hn_sampler_type {
    const char *name;
    const char *former;  // its name in earlier builds, which is still taken; NULL: none
    const char *summary; // one line
    const char *source;  // paper and position
    const char *note;    // where this differs from the paper or its code, "" if nowhere
    unsigned flags;
    const struct hn_option *options; // ends with a NULL name; never NULL
    size_t params_size, state_size;
    const struct hn_column *reports; // columns that `report` fills ("density", REAL); NULL: none
    int n_reports;

    // Optional. Settings that one option (`preset`) stands for: pairs of an option's name and its
    // value, ended by NULL, static; NULL: none. They come before the settings that are given.
    const char *const *(*preset)(const void *params);
    // Optional. Appends the settings that `choose` compares in such a file to text[size], which is
    // "", as a job's list of samplers spells them; none at all leaves the sampler out. NULL: its
    // defaults.
    void (*grid)(const struct hn_sampler_plan *plan, char *text, size_t size);
    // Optional. Planning: HN_USAGE for parameters that do not fit (K > M), notes for those taken
    // otherwise (M > N - 1), HN_NOT_APPLICABLE with the reason where these parameters need what the
    // file lacks.
    enum hn_code (*check)(struct hn_context *ctx, const void *params,
                          const struct hn_sampler_plan *plan);
    // Optional. False if the options make something other than partitions.
    bool (*partitions)(const void *params);
    // Optional. What a build keeps of n items, where that grows neither with n nor with its square:
    // a number that its memory grows with, on ctx->threads threads. For estimates.
    double (*entries)(const struct hn_context *ctx, const void *params, int64_t n);
    // Optional. Allocates what lives as long as the sampler. What open and epoch allocate belongs
    // to the state and is freed with it, what plan and rebuild do is freed before the next build.
    enum hn_code (*open)(struct hn_context *ctx, struct hn_sampler *self, int64_t n);
    // Optional. Asks for a sweep that `rebuild` needs: sets sweep->x and y and adds sinks (which
    // live in the state). Called with pass = 0, 1, ... after the sweep of the pass before; adding
    // no sink ends it.
    enum hn_code (*plan)(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep);
    // Optional. New embeddings, after the sweeps that `plan` asked for. Adds to self->build, which
    // is zeroed before plan and holds the products of the sweeps. Timed, with plan and sweeps, as
    // Cost_G.
    enum hn_code (*rebuild)(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items);
    // Optional. Arranges the batches of an epoch on the embeddings of the build, unless it was the
    // last to be arranged. Those of first_epoch end the build, and are timed and counted with it,
    // those of other epochs are made before `epoch`. Adds to *work.
    enum hn_code (*arrange)(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                            struct hn_work *work);
    // Optional. Starts epoch number `epoch`; may change *batches, its number of batches (>= 1),
    // from ceil(n / batch_size). items are those of the current step (their progress sets alpha).
    enum hn_code (*epoch)(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t epoch, int64_t *batches);
    // Fills batches [first, first + count) of the epoch, on up to ctx->threads threads; a batch
    // depends on its number, not on the calls before. Per-anchor samplers find the anchors there
    // already. Adds to self->sampling and self->stalls. Timed as Cost_S. Without it, `batch` and
    // `list` the batches of a partition are cut from self->order; so they are of types with `batch`
    // whose `open` allocated an order.
    enum hn_code (*next)(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out);
    // In place of `next`: puts batch `number` of the epoch into ids[batch_size], what that took
    // into *work (zeroed before), and returns its size. Called in parallel, by threads 0 ..
    // self->threads - 1.
    int32_t (*batch)(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids);
    // Per-anchor samplers may have this in place of `next`: likewise puts the negatives of one
    // anchor, the one at `position` of the epoch, into negative[capacity], and returns their
    // number.
    int32_t (*list)(const struct hn_sampler *self, int32_t anchor, int64_t position, int thread,
                    struct hn_work *work, int32_t *negative);
    // Required of per-anchor samplers, absent elsewhere. The most negatives of an anchor among n
    // items, 0 to n - 1.
    int64_t (*capacity)(const void *params, int64_t n);
    // Optional. A long-form table of the last build, kept as /tables/<name>: makes *out (zeroed
    // before), with an INT column `run` of 0. After a failure *out is only good for freeing.
    enum hn_code (*table)(struct hn_context *ctx, const struct hn_sampler *self,
                          struct hn_table *out);
    // Optional. The graph the sampler walks, for graph overlap and age; NULL if none is built.
    const struct hn_graph *(*graph)(const struct hn_sampler *self);
    // Optional. Fills values[i] for reports[i].
    void (*report)(const struct hn_sampler *self, double *values);
};

// All samplers, NULL-terminated.
extern const struct hn_sampler_type *const hn_samplers[];
// True if an option of a sampler has that value, text of `length` bytes, by default.
bool hn_sampler_is_default(const char *sampler, const char *option, const char *value,
                           size_t length);
const struct hn_sampler_type *hn_sampler_find(const char *name); // NULL if unknown
// The name in keys of cells and runs: the former one, so that cells of earlier builds are found.
const char *hn_sampler_key(const struct hn_sampler_type *type);

// Names what a type needs for any parameters and the items lack ("labels", "a graph"), or NULL.
const char *hn_sampler_missing(const struct hn_sampler_type *type,
                               const struct hn_sampler_plan *plan);
// The option `t` of a type that has one, its rebuild interval in steps: batches at step s use
// embeddings of the latest snapshot at or before floor(s / t) t that is less than t steps old. 0
// where it is not set, or of other types: always fresh ones.
int64_t hn_sampler_interval(const struct hn_sampler_type *type, const void *params);
// Judges parameters before anything is opened: the type's check(), HN_NOT_APPLICABLE where the
// items lack what the type needs, and for per-anchor samplers HN_USAGE where a batch could have
// more than HN_SAMPLER_PAIRS_MAX pairs.
HN_MUST_USE enum hn_code hn_sampler_check(struct hn_context *ctx,
                                          const struct hn_sampler_type *type, const void *params,
                                          const struct hn_sampler_plan *plan);
// Maximum number of negatives of an anchor; 0 where the members of a batch are each other's
// negatives.
int64_t hn_sampler_capacity(const struct hn_sampler_type *type, const void *params, int64_t n);
// The option keep_apart of partitions, a field of their parameters.
#define HN_APART_OPTION(type)                                                                      \
    HN_BOOL_OPTION(type, keep_apart, "keep_apart", NULL,                                           \
                   "of tuples: exchanges them between batches until no passage of a batch is "     \
                   "known to be relevant to another query of it, where that can be")
// True if an epoch has every item once.
bool hn_sampler_partitions(const struct hn_sampler_type *type, const void *params);
// True if it is set.
bool hn_sampler_keeps_apart(const struct hn_sampler_type *type, const void *params);
#define HN_APART_NEEDS                                                                             \
    "%s with keep_apart needs pairs of queries and passages, which these items are not"
// After the type's epoch (samplers/apart.c): copies its order to self->apart and exchanges tuples
// between its batches. Batches keep their sizes. HN_NOT_APPLICABLE: items that are no tuples.
HN_MUST_USE enum hn_code hn_apart_epoch(struct hn_context *ctx, struct hn_sampler *self,
                                        const struct hn_items *items);
// Notes how many items stayed where they should not in some epochs, if any did.
void hn_apart_note(struct hn_context *ctx, const struct hn_sampler *self, int64_t left,
                   int64_t epochs);
// Sets the options that a preset in params stands for. The caller sets its own options, calls this,
// and sets them again, so that they take precedence.
HN_MUST_USE enum hn_code hn_sampler_preset(struct hn_context *ctx,
                                           const struct hn_sampler_type *type, void *params);

// The life cycle, for every user of a sampler. `self` is zeroed or uninitialised before open.
// params are taken as they are: check() judges them. HN_USAGE: batch_size < 2; HN_DATA: more than
// n.
HN_MUST_USE enum hn_code hn_sampler_open(struct hn_context *ctx, const struct hn_sampler_type *type,
                                         const void *params, int64_t n, int32_t batch_size,
                                         uint64_t seed, struct hn_sampler *self);
// plan, sweeps and rebuild on the embeddings of `items`; streams are named by built_index. The
// embeddings stay borrowed until the next build or close. After a failure only close is allowed.
HN_MUST_USE enum hn_code hn_sampler_build(struct hn_context *ctx, struct hn_sampler *self,
                                          const struct hn_items *items, int64_t built_index);
// The size of a batch of the current epoch, without drawing it; 0: only drawing it tells. That is
// so of the last one alone, and where batches are not cut from an order.
int64_t hn_sampler_size(const struct hn_sampler *self, int64_t batch);
// Starts an epoch of an open sampler that has been built; items are those of the current step,
// which may be later than the one that was built on.
HN_MUST_USE enum hn_code hn_sampler_epoch(struct hn_context *ctx, struct hn_sampler *self,
                                          const struct hn_items *items, int64_t epoch,
                                          int64_t *batches);
// HN_INTERNAL for batches that the epoch does not have.
HN_MUST_USE enum hn_code hn_sampler_next(struct hn_context *ctx, struct hn_sampler *self,
                                         struct hn_batches *out);
void hn_sampler_close(struct hn_context *ctx, struct hn_sampler *self); // also after a failed open

// For samplers. The random item that batch `batch` of the current epoch starts from: the same one
// for every sampler, so that comparisons under common seeds share their start items. One draw.
int32_t hn_sampler_start(const struct hn_sampler *self, int64_t batch);
// The position in self->order at which batch number `batch` of a partition begins.
static inline int64_t hn_sampler_begins(const struct hn_sampler *self, int64_t batch) {
    return self->start ? self->start[batch] : hn_min(batch * self->batch_size, self->n);
}
// For check(): notes that an option's value is taken as `max`, and why, if it is above it.
void hn_sampler_limit(struct hn_context *ctx, const char *option, int64_t value, int64_t max,
                      const char *why);
// Threads for rebuild and next: no more than there is scratch for.
int hn_sampler_threads(const struct hn_context *ctx, const struct hn_sampler *self);
// Array for the negatives of position p.
static inline int32_t *hn_batch_negatives(const struct hn_batches *out, int64_t p) {
    return out->negative + p * out->capacity;
}
static inline int32_t *hn_batch_ids(const struct hn_batches *out, int32_t b) {
    return out->ids + (int64_t)b * out->batch_size;
}

// ceil(n / batch_size): an epoch's worth of batches.
static inline int64_t hn_batches_per_epoch(int64_t n, int32_t batch_size) {
    return (n + batch_size - 1) / batch_size;
}
