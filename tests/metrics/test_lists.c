// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of negatives per anchor: a naive oracle in double, and identities with batches.
#include "metrics/measure.h"
#include "tests/measured.h"

enum { N = 37, D = 6, B = 8, ROOM = 12, BATCHES = 5 };

static const double tau = 0.3;

// Random lists: anchors in shuffled batches, some with no negative, one with a repeat.
struct lists {
    struct drawn drawn;
    int64_t capacity;
    int32_t *negatives, *negative;
};

static struct lists random_lists(struct hn_context *ctx, uint64_t seed) {
    struct lists l = {.drawn = drawn_partition(ctx, N, B, 1, seed), .capacity = ROOM};
    int64_t places = (int64_t)l.drawn.count * B;
    l.negatives = hn_zalloc(ctx, places, sizeof *l.negatives);
    l.negative = hn_zalloc(ctx, places * ROOM, sizeof *l.negative);
    CU_ASSERT_FATAL(l.negatives && l.negative && l.drawn.count == BATCHES);
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "test.lists", 0, 0, 0);
    for (int64_t p = 0; p < places; p++) {
        if (p % B >= l.drawn.size[p / B])
            continue;
        int32_t others[N], n = 0;
        for (int32_t v = 0; v < N; v++)
            if (v != l.drawn.ids[p])
                others[n++] = v;
        hn_stream_shuffle(&stream, others, n);
        l.negatives[p] = p % 5 == 0 ? 0 : (int32_t)hn_stream_below(&stream, ROOM) + 1;
        memcpy(l.negative + p * ROOM, others, (size_t)l.negatives[p] * sizeof *others);
    }
    return l;
}

static void lists_free(struct hn_context *ctx, struct lists *l) {
    drawn_free(ctx, &l->drawn);
    hn_free(ctx, l->negatives);
    hn_free(ctx, l->negative);
}

static enum hn_code try_lists(struct hn_context *ctx, const struct hn_items *items,
                              const struct lists *l, struct measured *out) {
    struct hn_global global = {0};
    struct hn_measure *m = NULL;
    int64_t n_dot;
    const struct drawn *d = &l->drawn;
    memset(out, 0, sizeof *out);
    enum hn_code code = HN_OK;
    if (hn_has_positive(items))
        code = hn_global_compute(ctx, items, &tau, 1, &global, &n_dot);
    struct hn_measure_spec spec = {.metrics = hn_metrics,
                                   .n_metrics = metrics_count(),
                                   .env = {.items = items,
                                           .global = hn_has_positive(items) ? &global : NULL,
                                           .temperature = tau,
                                           .batch_size = d->batch_size,
                                           .capacity = l->capacity,
                                           .threads = ctx->threads,
                                           .batches = d->count}};
    if (!code)
        code = hn_measure_begin(ctx, &spec, &m);
    struct hn_measure_lists lists = {l->negatives, l->negative};
    if (!code)
        code = hn_measure_anchors(ctx, m, 0, d->count, d->size, d->ids, lists);
    if (!code)
        code = hn_measure_finish(ctx, m, 0, out->value, &out->arrays, out->why);
    hn_measure_close(ctx, m);
    hn_global_free(ctx, &global);
    return code;
}

static double dot(const struct hn_matrix *x, const struct hn_matrix *y, int32_t i, int32_t j) {
    double sum = 0;
    for (int64_t k = 0; k < x->cols; k++)
        sum += (double)hn_row(x, i)[k] * (double)hn_row(y, j)[k];
    return sum;
}

// What the metrics should say, by their definitions.
struct oracle {
    double pairs, labelled, same, cosines, anchors, hardest, true_anchors, labelled_anchors,
        hard_true;
    double drawn, loss, gap, gap_cols, bound_36, bound_37, pos_prob;
    double visits[N];
};

static void add_anchor(struct oracle *o, const struct hn_items *x, int32_t u, const int32_t *id,
                       int32_t n) {
    double high = -INFINITY, high_true = -INFINITY;
    bool any = false;
    for (int32_t k = 0; k < n; k++) {
        double c = dot(&x->x, &x->x, u, id[k]);
        bool labelled = x->labels[u] >= 0 && x->labels[id[k]] >= 0;
        bool same = labelled && x->labels[u] == x->labels[id[k]];
        o->pairs += 1;
        o->labelled += labelled;
        any |= labelled;
        o->same += same;
        o->cosines += c;
        o->visits[id[k]] += 1;
        high = fmax(high, c);
        if (labelled && !same)
            high_true = fmax(high_true, c);
    }
    if (n > 0) {
        o->anchors += 1;
        o->hardest += high;
    }
    if (isfinite(high_true)) {
        o->true_anchors += 1;
        o->hard_true += high_true;
    }
    o->labelled_anchors += any;
}

static void add_gap(struct oracle *o, const struct hn_items *x, int32_t u, const int32_t *id,
                    int32_t n) {
    double positive = dot(&x->x1, &x->x2, u, u), all = 0, all_cols = 0, max = -INFINITY;
    double keys = exp(positive / tau), cols = keys, low = positive, high = positive;
    for (int32_t v = 0; v < N; v++) {
        double s = dot(&x->x1, &x->x2, u, v);
        all += exp(s / tau);
        all_cols += exp(dot(&x->x2, &x->x1, u, v) / tau);
        max = fmax(max, s);
    }
    for (int32_t k = 0; k < n; k++) {
        double s = dot(&x->x1, &x->x2, u, id[k]);
        keys += exp(s / tau);
        cols += exp(dot(&x->x2, &x->x1, u, id[k]) / tau);
        low = fmin(low, s);
        high = fmax(high, s);
    }
    o->drawn += 1;
    o->loss += log(keys) - positive / tau;
    o->pos_prob += exp(positive / tau) / keys;
    o->gap += log(all) - log(keys);
    o->gap_cols += log(all_cols) - log(cols);
    o->bound_36 += (max - low) / tau + log((double)N / (n + 1));
    o->bound_37 += (max - high) / tau + log(N);
}

static struct oracle naive(const struct hn_items *items, const struct lists *l) {
    struct oracle o = {0};
    for (int64_t p = 0; p < (int64_t)l->drawn.count * B; p++) {
        if (p % B >= l->drawn.size[p / B])
            continue;
        add_anchor(&o, items, l->drawn.ids[p], l->negative + p * ROOM, l->negatives[p]);
        if (hn_has_positive(items))
            add_gap(&o, items, l->drawn.ids[p], l->negative + p * ROOM, l->negatives[p]);
    }
    return o;
}

static void check(const struct measured *m, const char *name, double wanted) {
    double got = column_of(m, name);
    if (!(fabs(got - wanted) < 2e-6 * fmax(1, fabs(wanted))))
        fprintf(stderr, "    %s: %.9g, not %.9g\n", name, got, wanted);
    CU_ASSERT(fabs(got - wanted) < 2e-6 * fmax(1, fabs(wanted)));
}

static void test_oracle(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, seed);
        ((int32_t *)(void *)items.labels)[3] = -1;
        struct lists l = random_lists(&ctx, seed);
        struct measured m;
        HN_CHECK(&ctx, try_lists(&ctx, &items, &l, &m));
        struct oracle o = naive(&items, &l);
        check(&m, "fn_ratio", o.same / o.labelled);
        check(&m, "cos_mean", o.cosines / o.pairs);
        check(&m, "hardest_mean", o.hardest / o.anchors);
        check(&m, "hard_true_mean", o.hard_true / o.true_anchors);
        check(&m, "true_anchors", o.true_anchors / o.labelled_anchors);
        check(&m, "loss_train", o.loss / o.drawn);
        check(&m, "gap", o.gap / o.drawn);
        check(&m, "gap_cols", o.gap_cols / o.drawn);
        check(&m, "bound_36", o.bound_36 / o.drawn);
        check(&m, "bound_37", o.bound_37 / o.drawn);
        check(&m, "pos_prob", o.pos_prob / o.drawn);
        double visited = 0;
        for (int v = 0; v < N; v++)
            visited += o.visits[v] > 0;
        check(&m, "coverage", visited / N);
        CU_ASSERT(isnan(column_of(&m, "fn_start")) && isnan(column_of(&m, "pairs_distinct")));
        double counted[HN_PAIR_KINDS] = {0};
        for (int64_t k = 0; k < HN_PAIR_KINDS * m.arrays.bins; k++)
            counted[k / m.arrays.bins] += (double)m.arrays.histogram[k];
        CU_ASSERT_DOUBLE_EQUAL(counted[HN_PAIR_POSITIVE], N, 0);
        CU_ASSERT_DOUBLE_EQUAL(counted[HN_PAIR_FALSE_NEGATIVE], o.same, 0);
        CU_ASSERT_DOUBLE_EQUAL(counted[HN_PAIR_TRUE_NEGATIVE], o.labelled - o.same, 0);
        CU_ASSERT_DOUBLE_EQUAL(counted[HN_PAIR_UNLABELLED], o.pairs - o.labelled, 0);
        measured_free(&ctx, &m);
        lists_free(&ctx, &l);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Lists that hold the other members of the batch say what the batch says.
static void test_same_as_batch(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 5);
    struct lists l = random_lists(&ctx, 2);
    for (int64_t p = 0; p < (int64_t)BATCHES * B; p++) {
        int32_t size = l.drawn.size[p / B];
        if (p % B >= size)
            continue;
        l.negatives[p] = 0;
        for (int32_t k = 0; k < size; k++)
            if (k != p % B)
                l.negative[p * ROOM + l.negatives[p]++] = l.drawn.ids[p / B * B + k];
    }
    struct measured lists, batch = measure_all(&ctx, &items, &l.drawn, tau);
    HN_CHECK(&ctx, try_lists(&ctx, &items, &l, &lists));
    static const char *const same[] = {
        "fn_ratio",   "cos_mean",   "hardest_mean", "hard_true_mean", "loss_global",
        "loss_train", "gap",        "gap_cols",     "bound_36",       "bound_37",
        "pos_prob",   "loss_batch", "fn_mass",      "fn_loss_mass"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        check(&lists, same[i], column_of(&batch, same[i]));
    // Every unordered pair of a batch is there in both directions.
    for (int64_t k = 0; k < HN_PAIR_KINDS * batch.arrays.bins; k++) {
        uint64_t times = k / batch.arrays.bins == HN_PAIR_POSITIVE ? 1 : 2;
        CU_ASSERT_EQUAL(lists.arrays.histogram[k], times * batch.arrays.histogram[k]);
    }
    // All others as negatives: nothing is left of the gap.
    struct lists all = random_lists(&ctx, 2);
    hn_free(&ctx, all.negative);
    all.capacity = N - 1;
    all.negative = hn_zalloc(&ctx, (int64_t)BATCHES * B * (N - 1), sizeof *all.negative);
    CU_ASSERT_FATAL(all.negative != NULL);
    for (int64_t p = 0; p < (int64_t)BATCHES * B; p++) {
        all.negatives[p] = 0;
        for (int32_t v = 0; p % B < all.drawn.size[p / B] && v < N; v++)
            if (v != all.drawn.ids[p])
                all.negative[p * (N - 1) + all.negatives[p]++] = v;
    }
    measured_free(&ctx, &lists);
    HN_CHECK(&ctx, try_lists(&ctx, &items, &all, &lists));
    CU_ASSERT_DOUBLE_EQUAL(column_of(&lists, "gap"), 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(column_of(&lists, "gap_cols"), 0, 1e-6);
    check(&lists, "loss_train", column_of(&lists, "loss_global"));
    CU_ASSERT_DOUBLE_EQUAL(column_of(&lists, "visits_cv"), 0, 1e-12);
    measured_free(&ctx, &lists);
    measured_free(&ctx, &batch);
    lists_free(&ctx, &l);
    lists_free(&ctx, &all);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static bool same_measured(const struct measured *a, const struct measured *b) {
    size_t counts = (size_t)(HN_PAIR_KINDS * a->arrays.bins) * sizeof *a->arrays.histogram;
    size_t values = (size_t)hn_measure_columns(hn_metrics, metrics_count()) * sizeof a->value[0];
    return memcmp(a->value, b->value, values) == 0 &&
           memcmp(a->arrays.histogram, b->arrays.histogram, counts) == 0;
}

// Lists of one negative at most say what they say with room for more.
static void test_single_negatives(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 6);
    struct lists roomy = random_lists(&ctx, 6), tight = random_lists(&ctx, 6);
    tight.capacity = 1;
    for (int64_t p = 0; p < (int64_t)BATCHES * B; p++) {
        roomy.negatives[p] = tight.negatives[p] = roomy.negatives[p] > 0;
        tight.negative[p] = roomy.negative[p * ROOM];
    }
    struct measured one, other;
    HN_CHECK(&ctx, try_lists(&ctx, &items, &roomy, &one));
    HN_CHECK(&ctx, try_lists(&ctx, &items, &tight, &other));
    CU_ASSERT(same_measured(&one, &other));
    struct oracle o = naive(&items, &roomy);
    check(&other, "cos_mean", o.cosines / o.pairs);
    check(&other, "gap", o.gap / o.drawn);
    measured_free(&ctx, &one);
    measured_free(&ctx, &other);
    lists_free(&ctx, &roomy);
    lists_free(&ctx, &tight);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The number of threads changes nothing, nor does a negative that comes twice.
static void test_threads_and_repeats(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 5);
    struct lists l = random_lists(&ctx, 4);
    struct measured one, other;
    HN_CHECK(&ctx, try_lists(&ctx, &items, &l, &one));
    for (ctx.threads = 2; ctx.threads <= 4; ctx.threads++) {
        HN_CHECK(&ctx, try_lists(&ctx, &items, &l, &other));
        CU_ASSERT(same_measured(&one, &other));
        measured_free(&ctx, &other);
    }
    int repeats = 0;
    for (int64_t p = 0; p < (int64_t)BATCHES * B; p++)
        if (l.negatives[p] > 0 && l.negatives[p] < ROOM) {
            l.negative[p * ROOM + l.negatives[p]] = l.negative[p * ROOM];
            l.negatives[p]++;
            repeats++;
        }
    CU_ASSERT(repeats > 0);
    HN_CHECK(&ctx, try_lists(&ctx, &items, &l, &other));
    CU_ASSERT(same_measured(&one, &other));
    measured_free(&ctx, &other);
    measured_free(&ctx, &one);
    lists_free(&ctx, &l);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_misuse(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 5);
    struct lists l = random_lists(&ctx, 4);
    struct measured m;
    static const int32_t bad[] = {-1, N, INT32_MAX};
    int32_t first = l.negative[ROOM];
    for (int i = 0; i < 3; i++) {
        l.negative[ROOM] = bad[i];
        HN_CHECK_FAILS(&ctx, try_lists(&ctx, &items, &l, &m), HN_INTERNAL, "not other items");
    }
    l.negative[ROOM] = l.drawn.ids[1]; // the anchor itself
    HN_CHECK_FAILS(&ctx, try_lists(&ctx, &items, &l, &m), HN_INTERNAL, "not other items");
    l.negative[ROOM] = first;
    l.negatives[1] = ROOM + 1;
    HN_CHECK_FAILS(&ctx, try_lists(&ctx, &items, &l, &m), HN_INTERNAL, "at most 12");
    l.negatives[1] = 1;
    l.capacity = 0;
    HN_CHECK_FAILS(&ctx, try_lists(&ctx, &items, &l, &m), HN_INTERNAL, "cell of batches");
    lists_free(&ctx, &l);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_failing_allocations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 5);
    struct lists l = random_lists(&ctx, 4);
    enum hn_code code = HN_MEMORY;
    int64_t failures = 0, live = ctx.memory.live;
    for (int64_t k = 1; code == HN_MEMORY; k++, failures++) {
        struct measured m;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        code = try_lists(&ctx, &items, &l, &m);
        CU_ASSERT_FATAL(code == HN_OK || code == HN_MEMORY);
        measured_free(&ctx, &m);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
    }
    CU_ASSERT(failures > 20);
    ctx.memory.fail_at = 0;
    lists_free(&ctx, &l);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"oracle", test_oracle},
    {"same_as_batch", test_same_as_batch},
    {"single_negatives", test_single_negatives},
    {"threads_and_repeats", test_threads_and_repeats},
    {"misuse", test_misuse},
    {"failing_allocations", test_failing_allocations},
};
HN_TEST_MAIN("lists", tests)
