// SPDX-License-Identifier: GPL-3.0-or-later
// Coverage of the items by the batches: distinct items of an epoch, visits, repeats, distinct
// pairs.
//
// Batches that hold the same set of ids are found by a hash: the sum over ids of a 128-bit mix,
// which does not depend on the order. Error bound: for b batches, a false match has probability
// below b^2 2^-129. Distinct pairs are counted exactly, in memory of 4 bytes per id drawn: for
// every item, the items of the batches that hold it are marked. Cells of more than 2^28 ids get NaN
// there.
//
// With negatives per anchor a visit is being a negative of an anchor: coverage and visits say which
// items serve as negatives. Every anchor of an epoch differs, so pairs_distinct says nothing there
// and is NaN; repeats and equal batches are those of the anchors.
#include "core/random.h"
#include "metrics/metric.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX ((int64_t)1 << 28)

enum { REPEATS, SHORT, HASH, RECORD = HASH + 4 };
enum { COVERAGE, DUPLICATES, DUPLICATE_BATCHES, SHORT_BATCHES, VISITS_CV, PAIRS_DISTINCT, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"coverage", HN_COLUMN_REAL, "share",
     "distinct items of the first epoch / items; NaN of less than an epoch", HN_LARGER},
    {"duplicates", HN_COLUMN_REAL, "1", "ids that repeat an earlier one of their batch",
     HN_SMALLER},
    {"duplicate_batches", HN_COLUMN_REAL, "1", "batches with the items of an earlier batch",
     HN_SMALLER},
    {"short_batches", HN_COLUMN_REAL, "1", "batches below the batch size", HN_SMALLER},
    {"visits_cv", HN_COLUMN_REAL, "1",
     "coefficient of variation of the visits per item; NaN without visits", HN_SMALLER},
    {"pairs_distinct", HN_COLUMN_REAL, "share",
     "distinct pairs / pairs drawn; NaN without pairs, for lists of negatives, and of more than "
     "2^28 ids",
     HN_LARGER},
};

struct state {
    int64_t *visits;     // [n]
    int64_t first_epoch; // number of the epoch of the first batch
    int64_t first_batches, first_items;
    int64_t batches;
    int64_t *start;  // [batches + 1] distinct items of batch b: item[start[b] .. start[b + 1])
    int32_t *item;   // NULL: too many to keep
    bool counted;    // for another setting of the cell's batches
    double distinct; // PAIRS_DISTINCT
};

static int64_t population(const struct hn_metric_env *env) {
    return env->population > 0 ? env->population : env->items->n;
}

static enum hn_code open_state(struct hn_context *ctx, void *self,
                               const struct hn_metric_env *env) {
    struct state *s = self;
    int64_t ids;
    if (!HN_ZALLOC(ctx, s->visits, population(env)))
        return ctx->code;
    if (env->capacity > 0 || !hn_mul(env->batches, env->batch_size, &ids) || ids > IDS_MAX)
        return HN_OK;
    bool good = HN_ZALLOC(ctx, s->start, env->batches + 1) && HN_ALLOC(ctx, s->item, ids);
    return good ? HN_OK : ctx->code;
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    (void)self, (void)env, (void)thread;
    uint64_t low = 0, high = 0;
    for (int32_t a = 0; a < p->n; a++) {
        uint64_t id = (uint64_t)p->id[a];
        low += hn_mix(2 * id + 1);
        high += hn_mix(~(2 * id));
    }
    record[REPEATS] = p->drawn - p->n;
    record[SHORT] = p->drawn < p->batch_size;
    record[HASH] = (double)(uint32_t)low;
    record[HASH + 1] = (double)(uint32_t)(low >> 32);
    record[HASH + 2] = (double)(uint32_t)high;
    record[HASH + 3] = (double)(uint32_t)(high >> 32);
}

static void visit_item(struct state *s, int32_t id, int32_t times, bool first) {
    s->first_items += first && s->visits[id] == 0;
    s->visits[id] += times;
}

static void visit(void *self, const struct hn_metric_env *env, const struct hn_pairs *p) {
    (void)env;
    struct state *s = self;
    if (s->batches == 0)
        s->first_epoch = p->epoch;
    bool first = p->epoch == s->first_epoch;
    s->first_batches += first;
    for (int32_t a = 0; a < p->n && !p->start; a++)
        visit_item(s, p->id[a], p->times[a], first);
    for (int64_t k = 0; p->start && k < p->start[p->n]; k++)
        visit_item(s, p->negative[k], 1, first);
    if (s->item) {
        int64_t at = s->start[s->batches];
        memcpy(s->item + at, p->id, (size_t)p->n * sizeof *p->id);
        s->start[s->batches + 1] = at + p->n;
    }
    s->batches++;
}

static int compare_hashes(const void *a, const void *b) {
    const double *x = a, *y = b;
    for (int k = 0; k < 4; k++)
        if (x[k] < y[k] || x[k] > y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

static enum hn_code count_equal(struct hn_context *ctx, const double *record, int64_t batches,
                                double *count) {
    HN_SCOPE(ctx);
    double *hash = hn_alloc(ctx, batches, 4 * sizeof *hash);
    if (!hash)
        return ctx->code;
    for (int64_t b = 0; b < batches; b++)
        memcpy(hash + 4 * b, record + b * RECORD + HASH, 4 * sizeof *hash);
    qsort(hash, (size_t)batches, 4 * sizeof *hash, compare_hashes);
    *count = 0;
    for (int64_t b = 1; b < batches; b++)
        *count += compare_hashes(hash + 4 * (b - 1), hash + 4 * b) == 0;
    return HN_OK;
}

// In whole numbers: the same for every order of the items.
static double variation(const int64_t *visits, int64_t n) {
    __int128 sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += visits[i];
        square += (__int128)visits[i] * visits[i];
    }
    return sqrt((double)(n * square - sum * sum)) / (double)sum;
}

// Position of an item in a batch whose items ascend: those behind it are item[next .. end).
struct tail {
    int32_t next, end;
};

// The batches that hold an item, by item: tail[first[i] .. first[i + 1]); and marks per thread.
struct lists {
    int64_t *first;    // [n + 1]
    struct tail *tail; // [start[batches]]
    int64_t *filled;   // [batches]
    int32_t *mark;     // [threads x n]
};

static enum hn_code take_lists(struct hn_context *ctx, const struct state *s, int64_t n,
                               int threads, struct lists *lists) {
    int64_t marks;
    if (!hn_mul(n, threads, &marks))
        return hn_fail(ctx, HN_MEMORY, "too many items (%lld)", (long long)n);
    bool good = HN_ZALLOC(ctx, lists->first, n + 1) &&
                HN_ALLOC(ctx, lists->tail, s->start[s->batches]) &&
                HN_ALLOC(ctx, lists->filled, s->batches) && HN_ZALLOC(ctx, lists->mark, marks);
    return good ? HN_OK : ctx->code;
}

// Orders the items of all batches as well: lists by item, gone through in their order, are as good
// as a sort.
static void fill_lists(const struct state *s, int64_t n, struct lists *lists) {
    int64_t *first = lists->first;
    for (int64_t k = 0; k < s->start[s->batches]; k++)
        first[s->item[k]]++;
    for (int64_t i = 0, at = 0; i <= n; i++) { // ends of the lists, filled from the back
        at += first[i];
        first[i] = at;
    }
    for (int64_t b = s->batches; b-- > 0;)
        for (int64_t k = s->start[b]; k < s->start[b + 1]; k++)
            lists->tail[--first[s->item[k]]].end = (int32_t)b;
    memcpy(lists->filled, s->start, (size_t)s->batches * sizeof *lists->filled);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = first[i]; l < first[i + 1]; l++) {
            int64_t b = lists->tail[l].end, at = lists->filled[b]++;
            s->item[at] = (int32_t)i;
            lists->tail[l] = (struct tail){(int32_t)(at + 1), (int32_t)s->start[b + 1]};
        }
}

// Items after u among the batches that hold u, each once.
static int64_t partners(const struct state *s, const struct lists *lists, int32_t u,
                        int32_t *mark) {
    int64_t count = 0;
    for (int64_t l = lists->first[u]; l < lists->first[u + 1]; l++)
        for (int32_t k = lists->tail[l].next; k < lists->tail[l].end; k++) {
            int32_t *seen = &mark[s->item[k]];
            count += *seen != u + 1;
            *seen = u + 1;
        }
    return count;
}

static enum hn_code count_pairs(struct hn_context *ctx, const struct state *s,
                                const struct hn_metric_env *env, double *share) {
    int64_t n = env->items->n, distinct = 0;
    struct lists lists = {0};
    HN_SCOPE(ctx);
    if (take_lists(ctx, s, n, env->threads, &lists))
        return ctx->code;
    fill_lists(s, n, &lists);
#pragma omp parallel for num_threads(env->threads) schedule(dynamic, 64) reduction(+ : distinct)
    for (int64_t u = 0; u < n; u++)
        distinct += partners(s, &lists, (int32_t)u, lists.mark + (int64_t)omp_get_thread_num() * n);
    double pairs = 0;
    for (int64_t b = 0; b < s->batches; b++) {
        double size = (double)(s->start[b + 1] - s->start[b]);
        pairs += size * (size - 1) / 2;
    }
    *share = pairs > 0 ? (double)distinct / pairs : NAN;
    return HN_OK;
}

static enum hn_code finish(struct hn_context *ctx, void *self, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)arrays;
    struct state *s = self;
    int64_t n = population(env), epoch = env->epoch_batches;
    if (epoch == 0)
        epoch = (n + env->batch_size - 1) / env->batch_size;
    if (batches == 0)
        return HN_OK;
    if (s->first_batches >= epoch)
        value[COVERAGE] = (double)s->first_items / (double)n;
    value[DUPLICATES] = value[SHORT_BATCHES] = 0;
    for (int64_t b = 0; b < batches; b++) {
        value[DUPLICATES] += record[b * RECORD + REPEATS];
        value[SHORT_BATCHES] += record[b * RECORD + SHORT];
    }
    value[VISITS_CV] = variation(s->visits, n);
    enum hn_code code = count_equal(ctx, record, batches, &value[DUPLICATE_BATCHES]);
    if (!code && s->item && !s->counted)
        code = count_pairs(ctx, s, env, &s->distinct);
    s->counted = true;
    if (s->item)
        value[PAIRS_DISTINCT] = s->distinct;
    return code;
}

const struct hn_metric_type hn_metric_coverage = {
    .name = "coverage",
    .family = "coverage",
    .summary = "Distinct items of an epoch, visits, repeated ids and batches, distinct pairs",
    .source = "docs/reference/methods.md",
    .needs = HN_METRIC_ANY,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .state_size = sizeof(struct state),
    .open = open_state,
    .batch = batch,
    .visit = visit,
    .finish = finish,
};
