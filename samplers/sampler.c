// SPDX-License-Identifier: GPL-3.0-or-later
// The life cycle of a sampler, and what samplers share.
#include "samplers/sampler.h"

#include <omp.h>
#include <string.h>

int64_t hn_sampler_capacity(const struct hn_sampler_type *type, const void *params, int64_t n) {
    return type->capacity ? type->capacity(params, n) : 0;
}

static enum hn_code check_capacity(struct hn_context *ctx, const struct hn_sampler_type *type,
                                   const void *params, int64_t n, int32_t batch_size) {
    int64_t capacity = hn_sampler_capacity(type, params, n);
    if (capacity <= HN_SAMPLER_PAIRS_MAX / batch_size)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "%s: %d anchors of a batch with up to %lld negatives each are more than %d "
                   "pairs: ask for fewer negatives (n) or a smaller batch_size",
                   type->name, batch_size, (long long)capacity, HN_SAMPLER_PAIRS_MAX);
}

const char *hn_sampler_missing(const struct hn_sampler_type *type,
                               const struct hn_sampler_plan *plan) {
    if (type->flags & HN_SAMPLER_NEEDS_LABELS && !plan->has_labels)
        return "labels";
    if (type->flags & HN_SAMPLER_NEEDS_VIEW2 && !plan->has_positive)
        return "a second view";
    if (type->flags & HN_SAMPLER_NEEDS_GRAPH && !plan->has_graph)
        return "a graph";
    if (type->flags & HN_SAMPLER_NEEDS_TEACHER && !plan->has_teacher)
        return "a teacher";
    return type->flags & HN_SAMPLER_NEEDS_GROUPS && !plan->has_groups ? "groups" : NULL;
}

int64_t hn_sampler_interval(const struct hn_sampler_type *type, const void *params) {
    const struct hn_option *o = hn_options_find(type->options, "t");
    return o ? hn_max(0, *(const int64_t *)((const char *)params + o->offset)) : 0; // unset: below
}

enum hn_code hn_sampler_check(struct hn_context *ctx, const struct hn_sampler_type *type,
                              const void *params, const struct hn_sampler_plan *plan) {
    const char *missing = hn_sampler_missing(type, plan);
    if (missing)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "%s needs %s, which these items do not have",
                       type->name, missing);
    if (hn_sampler_keeps_apart(type, params) && !plan->has_tuples)
        return hn_fail(ctx, HN_NOT_APPLICABLE, HN_APART_NEEDS, type->name);
    enum hn_code code = type->check ? type->check(ctx, params, plan) : HN_OK;
    return code ? code : check_capacity(ctx, type, params, plan->n, plan->batch_size);
}

bool hn_sampler_partitions(const struct hn_sampler_type *type, const void *params) {
    return type->flags & HN_SAMPLER_PARTITION && (!type->partitions || type->partitions(params));
}

enum hn_code hn_sampler_preset(struct hn_context *ctx, const struct hn_sampler_type *type,
                               void *params) {
    const char *const *pair = type->preset ? type->preset(params) : NULL;
    for (; pair && *pair; pair += 2)
        if (hn_options_set(ctx, type->options, params, pair[0], pair[1]))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_sampler_open(struct hn_context *ctx, const struct hn_sampler_type *type,
                             const void *params, int64_t n, int32_t batch_size, uint64_t seed,
                             struct hn_sampler *self) {
    *self = (struct hn_sampler){.type = type,
                                .params = params,
                                .n = n,
                                .batch_size = batch_size,
                                .seed = seed,
                                .threads = ctx->threads};
    if (batch_size < 2)
        return hn_fail(ctx, HN_USAGE, "%s: batch size %d: a batch needs 2 items or more",
                       type->name, batch_size);
    if (batch_size > n || n > INT32_MAX)
        return hn_fail(ctx, HN_DATA,
                       "%s: batch size %d does not fit %lld items: take one up to the number of "
                       "items, of which 2^31 - 1 are possible",
                       type->name, batch_size, (long long)n);
    if (check_capacity(ctx, type, params, n, batch_size))
        return ctx->code;
    self->state = hn_zalloc(ctx, 1, type->state_size);
    if (!self->state)
        return ctx->code;
    void *outer = hn_own(ctx, self->state);
    bool cuts = (!type->next && !type->batch) || type->flags & HN_SAMPLER_PER_ANCHOR;
    enum hn_code code = HN_OK;
    if (cuts && !HN_ALLOC(ctx, self->order, n))
        code = ctx->code;
    if (!code && type->open)
        code = type->open(ctx, self, n);
    hn_own(ctx, outer);
    if (code)
        hn_sampler_close(ctx, self);
    return code;
}

// Passes of planning and sweeping until the sampler asks for no more.
static enum hn_code sweep_for(struct hn_context *ctx, struct hn_sampler *self,
                              const struct hn_items *items) {
    for (int pass = 0;; pass++) {
        struct hn_sweep sweep = {0};
        enum hn_code code = self->type->plan(ctx, self, items, pass, &sweep);
        if (code || sweep.n_sinks == 0)
            return code;
        code = hn_sweep_run(ctx, &sweep);
        if (code)
            return code;
        self->build.dot += sweep.n_dot;
    }
}

static enum hn_code arrange(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                            struct hn_work *work) {
    if (!self->type->arrange || self->arranged == epoch)
        return HN_OK;
    self->arranged = -1; // until it is whole
    enum hn_code code = self->type->arrange(ctx, self, epoch, work);
    self->arranged = code ? -1 : epoch;
    return code;
}

enum hn_code hn_sampler_build(struct hn_context *ctx, struct hn_sampler *self,
                              const struct hn_items *items, int64_t built_index) {
    if (items->n != self->n)
        return hn_fail(ctx, HN_INTERNAL, "%s: opened for %lld items, built on %lld",
                       self->type->name, (long long)self->n, (long long)items->n);
    self->built = false;
    self->batches = 0;
    self->arranged = -1;
    self->built_index = built_index;
    self->build = (struct hn_work){0};
    hn_free(ctx, self->made);
    void *outer = hn_own(ctx, self->state);
    self->made = hn_alloc(ctx, 0, 1);
    hn_own(ctx, self->made);
    enum hn_code code = !self->made        ? ctx->code
                        : self->type->plan ? sweep_for(ctx, self, items)
                                           : HN_OK;
    if (!code && self->type->rebuild)
        code = self->type->rebuild(ctx, self, items);
    if (!code)
        code = arrange(ctx, self, self->first_epoch, &self->build);
    hn_own(ctx, outer);
    self->built = code == HN_OK;
    return code;
}

enum hn_code hn_sampler_epoch(struct hn_context *ctx, struct hn_sampler *self,
                              const struct hn_items *items, int64_t epoch, int64_t *batches) {
    if (!self->built || items->n != self->n)
        return hn_fail(ctx, HN_INTERNAL, "%s: an epoch before the sampler is built on these items",
                       self->type->name);
    self->index = items->index;
    self->epoch = epoch;
    self->batches = 0;
    *batches = hn_batches_per_epoch(self->n, self->batch_size);
    if (self->type->flags & HN_SAMPLER_PER_ANCHOR) { // every item once as an anchor
        hn_permute(self->seed, "anchors.shuffle", self->index, epoch, 0, self->order, self->n);
        self->sampling.draw += self->n - 1;
    }
    struct hn_work counted = {0}; // by the build
    void *outer = hn_own(ctx, self->state);
    enum hn_code code =
        arrange(ctx, self, epoch, epoch == self->first_epoch ? &counted : &self->sampling);
    if (!code && self->type->epoch)
        code = self->type->epoch(ctx, self, items, epoch, batches);
    if (!code)
        self->batches = *batches;
    if (!code && hn_sampler_keeps_apart(self->type, self->params))
        code = hn_apart_epoch(ctx, self, items);
    if (code)
        self->batches = 0;
    hn_own(ctx, outer);
    return code;
}

void hn_sampler_limit(struct hn_context *ctx, const char *option, int64_t value, int64_t max,
                      const char *why) {
    if (value > max)
        hn_note_once(ctx, "%s = %lld taken as %lld: %s", option, (long long)value, (long long)max,
                     why);
}

int hn_sampler_threads(const struct hn_context *ctx, const struct hn_sampler *self) {
    return ctx->threads < self->threads ? ctx->threads : self->threads;
}

static void add_work(struct hn_work *to, const struct hn_work *more) {
    to->dot += more->dot;
    to->draw += more->draw;
    to->step += more->step;
    to->edge += more->edge;
    to->bytes += more->bytes;
}
#pragma omp declare reduction(add_work                                                             \
                              : struct hn_work                                                     \
                              : add_work(&omp_out, &omp_in))                                       \
    initializer(omp_priv = (struct hn_work){0})

// All batches, by the type's batch().
static void fill_batches(const struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_batches *out) {
    struct hn_work sum = {0};
#pragma omp parallel for num_threads(hn_sampler_threads(ctx, self)) if (out->count > 1)            \
    schedule(dynamic) reduction(add_work                                                           \
                                : sum)
    for (int32_t b = 0; b < out->count; b++) {
        struct hn_work work = {0};
        out->size[b] = self->type->batch(self, out->first + b, omp_get_thread_num(), &work,
                                         hn_batch_ids(out, b));
        add_work(&sum, &work);
    }
    add_work(&self->sampling, &sum);
}

// The lists of all anchors, by the type's list().
static void fill_lists(const struct hn_context *ctx, struct hn_sampler *self,
                       const struct hn_batches *out) {
    int64_t positions = (int64_t)out->count * out->batch_size;
    struct hn_work sum = {0};
#pragma omp parallel for num_threads(hn_sampler_threads(ctx, self)) schedule(dynamic, 16)          \
    reduction(add_work                                                                             \
              : sum)
    for (int64_t p = 0; p < positions; p++) {
        struct hn_work work = {0};
        if (p % out->batch_size < out->size[p / out->batch_size])
            out->negatives[p] =
                self->type->list(self, out->ids[p], out->first * out->batch_size + p,
                                 omp_get_thread_num(), &work, hn_batch_negatives(out, p));
        add_work(&sum, &work);
    }
    add_work(&self->sampling, &sum);
}

// Cuts the batches asked for from the order of the epoch, or the one with tuples kept apart.
static void cut_batches(const struct hn_sampler *self, struct hn_batches *out) {
    const int32_t *order = self->apart.order ? self->apart.order : self->order;
    for (int32_t b = 0; b < out->count; b++) {
        int64_t number = out->number ? out->number[out->first + b] : out->first + b;
        int64_t from = hn_sampler_begins(self, number);
        out->size[b] = (int32_t)(hn_sampler_begins(self, number + 1) - from);
        memcpy(hn_batch_ids(out, b), order + from, (size_t)out->size[b] * sizeof *order);
    }
}

static void count_negatives(struct hn_sampler *self, const struct hn_batches *out) {
    for (int32_t b = 0; b < out->count; b++)
        for (int32_t a = 0; a < out->size[b]; a++) {
            int32_t negatives = out->negatives[(int64_t)b * out->batch_size + a];
            self->anchors++;
            self->anchors_without += negatives == 0;
            self->pairs += negatives;
        }
}

int64_t hn_sampler_size(const struct hn_sampler *self, int64_t batch) {
    if (self->order)
        return hn_sampler_begins(self, batch + 1) - hn_sampler_begins(self, batch);
    return batch + 1 < self->batches ? self->batch_size : 0;
}

enum hn_code hn_sampler_next(struct hn_context *ctx, struct hn_sampler *self,
                             struct hn_batches *out) {
    int64_t end, capacity = hn_sampler_capacity(self->type, self->params, self->n);
    bool lists = self->type->flags & HN_SAMPLER_PER_ANCHOR;
    if (out->first < 0 || out->count < 0 || !hn_add(out->first, out->count, &end) ||
        end > self->batches || out->batch_size != self->batch_size)
        return hn_fail(
            ctx, HN_INTERNAL,
            "%s: %lld batches of size %d from %lld on asked for, the epoch has %lld of %d",
            self->type->name, (long long)out->count, out->batch_size, (long long)out->first,
            (long long)self->batches, self->batch_size);
    if (lists && (out->capacity != capacity || !out->negatives || !out->negative))
        return hn_fail(ctx, HN_INTERNAL, "%s: no room for %lld negatives per anchor",
                       self->type->name, (long long)capacity);
    if (self->order)
        cut_batches(self, out);
    else if (self->type->batch && hn_check_stop(ctx))
        return ctx->code;
    else if (self->type->batch)
        fill_batches(ctx, self, out);
    if (self->type->list)
        fill_lists(ctx, self, out);
    else if (self->type->next && self->type->next(ctx, self, out))
        return ctx->code;
    if (lists)
        count_negatives(self, out);
    return HN_OK;
}

void hn_sampler_close(struct hn_context *ctx, struct hn_sampler *self) {
    hn_free(ctx, self->state);
    self->state = self->order = self->made = NULL;
    self->start = NULL;
    self->apart = (struct hn_apart){0};
    self->built = false;
}

int32_t hn_sampler_start(const struct hn_sampler *self, int64_t batch) {
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "batch.start", self->index, self->epoch, batch);
    return (int32_t)hn_stream_below(&stream, (uint32_t)self->n);
}
