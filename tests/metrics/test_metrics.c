// Every metric of the registry against identities, a naive double-precision oracle, and NumPy.
#include "core/stats.h"
#include "tests/measured.h"
#include "tests/numpy_oracle.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>

static struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

static void unlabel(struct hn_items *items, int32_t every) {
    for (int32_t i = 0; i < items->n; i += every)
        ((int32_t *)items->labels)[i] = -1;
}

// Columns of both are equal within `tolerance`, NaN to NaN.
static void check_close(const struct measured *a, const struct measured *b, double tolerance) {
    for (int i = 0, at = 0; hn_metrics[i]; i++)
        for (int k = 0; k < hn_metrics[i]->n_columns; k++, at++) {
            double x = a->value[at], y = b->value[at];
            bool close = (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance;
            if (!close)
                fprintf(stderr, "    %s: %.12g and %.12g\n", hn_metrics[i]->columns[k].name, x, y);
            CU_ASSERT(close);
        }
}

// Random orthogonal q[d x d]: Gram-Schmidt, twice.
static double *random_rotation(struct hn_context *ctx, int64_t d) {
    float *rows = hn_fixture_rows(ctx, d, d, 77);
    double *q = hn_alloc(ctx, d * d, sizeof *q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    for (int64_t i = 0; i < d; i++) {
        for (int64_t k = 0; k < d; k++)
            q[i * d + k] = (double)rows[i * d + k];
        for (int64_t j = 0; j < 2 * i; j++) {
            const double *other = q + (j % i) * d;
            double s = 0;
            for (int64_t k = 0; k < d; k++)
                s += q[i * d + k] * other[k];
            for (int64_t k = 0; k < d; k++)
                q[i * d + k] -= s * other[k];
        }
        double square = 0;
        for (int64_t k = 0; k < d; k++)
            square += q[i * d + k] * q[i * d + k];
        for (int64_t k = 0; k < d; k++)
            q[i * d + k] /= sqrt(square);
    }
    hn_free(ctx, rows);
    return q;
}

static void rotate(struct hn_matrix *x, const double *q) {
    float *data = (float *)x->data;
    double row[64];
    CU_ASSERT_FATAL(x->cols <= 64);
    for (int64_t i = 0; i < x->rows; i++) {
        for (int64_t j = 0; j < x->cols; j++) {
            row[j] = 0;
            for (int64_t k = 0; k < x->cols; k++)
                row[j] += q[j * x->cols + k] * (double)data[i * x->cols + k];
        }
        for (int64_t j = 0; j < x->cols; j++)
            data[i * x->cols + j] = (float)row[j];
    }
}

static void rotation_changes_nothing(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 200, 24, 4, true, 11);
    struct drawn d = drawn_partition(&ctx, 200, 32, 2, 5);
    struct measured before = measure_all(&ctx, &items, &d, 0.2);
    double *q = random_rotation(&ctx, 24);
    rotate(&items.x, q);
    rotate(&items.x1, q);
    rotate(&items.x2, q);
    struct measured after = measure_all(&ctx, &items, &d, 0.2);
    check_close(&before, &after, 1e-5);
    measured_free(&ctx, &before);
    measured_free(&ctx, &after);
    hn_free(&ctx, q);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Item i becomes item to[i].
static void permute_rows(struct hn_matrix *x, const int32_t *to, float *scratch) {
    size_t row = (size_t)x->cols * sizeof(float);
    memcpy(scratch, x->data, (size_t)x->rows * row);
    for (int64_t i = 0; i < x->rows; i++)
        memcpy((float *)x->data + to[i] * x->cols, scratch + i * x->cols, row);
}

static void permute_items(struct hn_context *ctx, struct hn_items *items, const int32_t *to) {
    float *scratch = hn_alloc(ctx, items->n * items->d, sizeof *scratch);
    int32_t *labels = hn_alloc(ctx, items->n, sizeof *labels);
    CU_ASSERT_FATAL(scratch && labels);
    permute_rows(&items->x, to, scratch);
    permute_rows(&items->x1, to, scratch);
    permute_rows(&items->x2, to, scratch);
    for (int64_t i = 0; i < items->n; i++)
        labels[to[i]] = items->labels[i];
    memcpy((int32_t *)items->labels, labels, (size_t)items->n * sizeof *labels);
    hn_free(ctx, scratch);
    hn_free(ctx, labels);
}

static void order_of_items_changes_nothing(void) {
    struct hn_context ctx = context();
    enum { N = 150 };
    struct hn_items items = hn_fixture_items(&ctx, N, 16, 4, true, 12);
    unlabel(&items, 7);
    struct drawn d = drawn_iid(&ctx, N, 20, 9, 5);
    struct measured before = measure_all(&ctx, &items, &d, 0.2);
    int32_t to[N];
    for (int32_t i = 0; i < N; i++)
        to[i] = i;
    struct hn_stream stream;
    hn_stream_open(&stream, 9, "test.permute", 0, 0, 0);
    hn_stream_shuffle(&stream, to, N);
    permute_items(&ctx, &items, to);
    for (int32_t k = 0; k < d.count * d.batch_size; k++)
        d.ids[k] = to[d.ids[k]];
    struct measured after = measure_all(&ctx, &items, &d, 0.2);
    check_close(&before, &after, 1e-5);
    CU_ASSERT_EQUAL(memcmp(before.arrays.histogram, after.arrays.histogram,
                           HN_PAIR_KINDS * HN_HISTOGRAM_BINS * sizeof(uint64_t)),
                    0);
    measured_free(&ctx, &before);
    measured_free(&ctx, &after);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The oracle: everything from its definition, one pair at a time, in double.
struct oracle {
    const struct hn_items *items;
    const struct drawn *d;
    double tau;
    double *cosine; // [pairs] of all batches
    int64_t pairs;
    int64_t same, labelled;
    double start, starts;
    double hardest, anchors, hard_true, true_anchors;
    double weight, gap, gap_cols, loss, bound_36, bound_37, pos_prob;
    uint64_t histogram[HN_PAIR_KINDS * HN_HISTOGRAM_BINS];
};

static double dot(const struct hn_matrix *x, int32_t i, const struct hn_matrix *y, int32_t j) {
    return hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols);
}

static double lse(const struct oracle *o, int32_t anchor, const int32_t *key, int32_t keys,
                  bool rows) {
    const struct hn_matrix *x = rows ? &o->items->x1 : &o->items->x2;
    const struct hn_matrix *y = rows ? &o->items->x2 : &o->items->x1;
    double high = -INFINITY, sum = 0;
    for (int32_t k = 0; k < keys; k++)
        high = fmax(high, dot(x, anchor, y, key ? key[k] : k));
    if (keys < 1)
        return -INFINITY;
    for (int32_t k = 0; k < keys; k++)
        sum += exp((dot(x, anchor, y, key ? key[k] : k) - high) / o->tau);
    return high / o->tau + log(sum);
}

static double extreme(const struct oracle *o, int32_t anchor, const int32_t *key, int32_t keys,
                      double sign) {
    double most = -INFINITY;
    for (int32_t k = 0; k < keys; k++)
        most = fmax(most, sign * dot(&o->items->x1, anchor, &o->items->x2, key ? key[k] : k));
    return sign * most;
}

static void oracle_gap(struct oracle *o, const int32_t *id, int32_t n, int32_t anchor) {
    int32_t all = (int32_t)o->items->n;
    double global = lse(o, anchor, NULL, all, true), train = lse(o, anchor, id, n, true);
    double positive = dot(&o->items->x1, anchor, &o->items->x2, anchor) / o->tau;
    double max = extreme(o, anchor, NULL, all, 1);
    o->weight++;
    o->gap += global - train;
    o->gap_cols += lse(o, anchor, NULL, all, false) - lse(o, anchor, id, n, false);
    o->loss += train - positive;
    o->pos_prob += exp(positive - train);
    o->bound_36 += (max - extreme(o, anchor, id, n, -1)) / o->tau + log((double)all / n);
    o->bound_37 += (max - extreme(o, anchor, id, n, 1)) / o->tau + log((double)all);
}

static void oracle_anchor(struct oracle *o, const int32_t *id, int32_t n, int32_t a) {
    const int32_t *label = o->items->labels;
    double high = -INFINITY, high_true = -INFINITY;
    for (int32_t b = 0; b < n; b++) {
        if (b == a)
            continue;
        double s = dot(&o->items->x, id[a], &o->items->x, id[b]);
        int32_t la = label[id[a]], lb = label[id[b]];
        high = fmax(high, s);
        o->labelled += la >= 0 && lb >= 0;
        o->same += la >= 0 && la == lb;
        if (la >= 0 && lb >= 0 && la != lb)
            high_true = fmax(high_true, s);
        if (b < a)
            continue;
        int kind = la < 0 || lb < 0 ? HN_PAIR_UNLABELLED
                   : la == lb       ? HN_PAIR_FALSE_NEGATIVE
                                    : HN_PAIR_TRUE_NEGATIVE;
        o->histogram[kind * HN_HISTOGRAM_BINS + hn_cosine_bin((float)s, HN_HISTOGRAM_BINS)]++;
        o->cosine[o->pairs++] = s;
    }
    if (isfinite(high)) {
        o->hardest += high;
        o->anchors++;
    }
    if (isfinite(high_true)) {
        o->hard_true += high_true;
        o->true_anchors++;
    }
}

static void oracle_batch(struct oracle *o, int32_t b) {
    const int32_t *ids = o->d->ids + (int64_t)b * o->d->batch_size, *label = o->items->labels;
    int32_t id[64] = {0}, n = 0, same = 0, labelled = 0;
    CU_ASSERT_FATAL(o->d->batch_size <= 64);
    for (int32_t k = 0; k < o->d->size[b]; k++) {
        bool seen = false;
        for (int32_t a = 0; a < n; a++)
            seen |= id[a] == ids[k];
        if (!seen)
            id[n++] = ids[k];
    }
    for (int32_t a = 0; a < n; a++) {
        oracle_anchor(o, id, n, a);
        double s = dot(&o->items->x1, id[a], &o->items->x2, id[a]);
        o->histogram[HN_PAIR_POSITIVE * HN_HISTOGRAM_BINS +
                     hn_cosine_bin((float)s, HN_HISTOGRAM_BINS)]++;
        labelled += a > 0 && label[id[a]] >= 0;
        same += a > 0 && label[id[a]] == label[id[0]];
    }
    if (label[id[0]] >= 0 && labelled > 0) {
        o->start += (double)same / labelled;
        o->starts++;
    }
    for (int32_t k = 0; k < o->d->size[b]; k++)
        oracle_gap(o, id, n, ids[k]);
}

static void expect(const struct measured *m, const char *name, double wanted, double tolerance) {
    double got = column_of(m, name);
    if (!(fabs(got - wanted) <= tolerance))
        fprintf(stderr, "    %s is %.12g, wanted %.12g\n", name, got, wanted);
    CU_ASSERT(fabs(got - wanted) <= tolerance);
}

static void compare_with_oracle(struct hn_context *ctx, const struct hn_items *items,
                                const struct drawn *d, double tau) {
    struct oracle o = {.items = items, .d = d, .tau = tau};
    o.cosine = hn_alloc(ctx, (int64_t)d->count * d->batch_size * d->batch_size, sizeof(double));
    CU_ASSERT_PTR_NOT_NULL_FATAL(o.cosine);
    for (int32_t b = 0; b < d->count; b++)
        oracle_batch(&o, b);
    struct measured m = measure_all(ctx, items, d, tau);
    size_t pairs = (size_t)o.pairs;
    gsl_sort(o.cosine, 1, pairs);
    expect(&m, "fn_ratio", (double)o.same / (double)o.labelled, 1e-15);
    expect(&m, "fn_start", o.start / o.starts, 1e-13);
    expect(&m, "cos_mean", gsl_stats_mean(o.cosine, 1, pairs), 1e-6);
    // One bin, and the rounding of float products.
    double off = 0x1p-20 + hn_dot_bound(items->d);
    expect(&m, "cos_p50", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.5), off);
    expect(&m, "cos_p90", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.9), off);
    expect(&m, "cos_p99", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.99), off);
    expect(&m, "hardest_mean", o.hardest / o.anchors, 1e-6);
    expect(&m, "hard_true_mean", o.hard_true / o.true_anchors, 1e-6);
    expect(&m, "gap", o.gap / o.weight, 1e-6);
    expect(&m, "gap_cols", o.gap_cols / o.weight, 1e-6);
    expect(&m, "loss_train", o.loss / o.weight, 1e-6);
    expect(&m, "bound_36", o.bound_36 / o.weight, 1e-6);
    expect(&m, "bound_37", o.bound_37 / o.weight, 1e-6);
    expect(&m, "pos_prob", o.pos_prob / o.weight, 1e-6);
    // Exactly: counts do not depend on float products.
    CU_ASSERT_EQUAL(memcmp(m.arrays.histogram, o.histogram, sizeof o.histogram), 0);
    measured_free(ctx, &m);
    hn_free(ctx, o.cosine);
}

static void naive_oracle_agrees(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 110, 20, 4, true, 13);
    unlabel(&items, 9);
    struct drawn d = drawn_partition(&ctx, 110, 24, 1, 5);
    compare_with_oracle(&ctx, &items, &d, 0.5);
    compare_with_oracle(&ctx, &items, &d, 0.1);
    drawn_free(&ctx, &d);
    d = drawn_iid(&ctx, 110, 30, 5, 6);
    compare_with_oracle(&ctx, &items, &d, 0.3);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows on a grid of directions: many products lie on or beside the edges of bins.
static void bins_are_exact_at_their_edges(void) {
    struct hn_context ctx = context();
    enum { N = 60, D = 40 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, true, 14);
    float *x = (float *)items.x.data;
    for (int32_t i = 0; i < N * D; i++)
        x[i] = i / D == i % D % 7 || (i % D) % 5 == (i / D) % 5 ? 1.0F : 0.0F;
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, N, D, "grid"));
    struct drawn d = drawn_partition(&ctx, N, 30, 1, 5);
    compare_with_oracle(&ctx, &items, &d, 0.5);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows of 25 entries +-0.2: every product lies beside an edge, many on its other side in float.
static void bins_do_not_depend_on_float_products(void) {
    struct hn_context ctx = context();
    enum { N = 200, D = 64 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 23);
    for (int64_t i = 0; i < N; i++) {
        float *row = (float *)items.x.data + i * D;
        for (int64_t k = 0; k < D; k++)
            row[k] = (k * 5 + i * 11) % D < 25 ? copysignf(0.2F, row[k]) : 0;
    }
    struct drawn d = drawn_partition(&ctx, N, N, 1, 5);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    uint64_t count[HN_PAIR_KINDS * HN_HISTOGRAM_BINS] = {0};
    int64_t moved = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++) {
            const float *x = hn_row(&items.x, i), *y = hn_row(&items.x, j);
            int64_t bin = hn_cosine_bin((float)hn_dot_exact(x, y, D), HN_HISTOGRAM_BINS);
            moved += bin != hn_cosine_bin(hn_dot(x, y, D), HN_HISTOGRAM_BINS);
            bool same = items.labels[i] == items.labels[j];
            count[(same ? HN_PAIR_FALSE_NEGATIVE : HN_PAIR_TRUE_NEGATIVE) * HN_HISTOGRAM_BINS +
                  bin]++;
        }
    CU_ASSERT(moved > 0);
    CU_ASSERT_EQUAL(memcmp(m.arrays.histogram, count, sizeof count), 0);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void numpy_agrees(void) {
    struct hn_context ctx = context();
    char folder[256];
    if (!python())
        hn_test_skip("no python3 with NumPy");
    struct hn_items items = hn_fixture_items(&ctx, 500, 32, 10, true, 15);
    unlabel(&items, 11);
    for (int k = 0; k < 2; k++) {
        struct drawn d =
            k == 0 ? drawn_partition(&ctx, 500, 64, 2, 5) : drawn_iid(&ctx, 500, 64, 20, 6);
        struct measured m = measure_all(&ctx, &items, &d, 0.2);
        hn_fixture_folder(folder, sizeof folder);
        write_columns(folder, hn_metrics, metrics_count(), m.value);
        write_file(folder, "histogram", m.arrays.histogram,
                   HN_PAIR_KINDS * HN_HISTOGRAM_BINS * sizeof(uint64_t));
        CU_ASSERT_EQUAL(run_numpy(folder, &items, &d, 0.2, ""), 0);
        hn_fixture_remove(folder);
        measured_free(&ctx, &m);
        drawn_free(&ctx, &d);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Uniform batches: sum_c n_c (n_c - 1) / (N (N - 1)), within three standard errors.
static void uniform_batches_meet_expectation(void) {
    struct hn_context ctx = context();
    enum { N = 600, CLASSES = 5 };
    struct hn_items items = hn_fixture_items(&ctx, N, 4, CLASSES, false, 16);
    for (int32_t i = 0; i < N / 3; i++)
        ((int32_t *)items.labels)[i] = 0; // classes of unequal size
    double same = 0, count[CLASSES] = {0};
    for (int32_t i = 0; i < N; i++)
        count[items.labels[i]]++;
    for (int c = 0; c < CLASSES; c++)
        same += count[c] * (count[c] - 1);
    double wanted = same / (N * (N - 1.0));
    struct drawn d = drawn_partition(&ctx, N, 20, 10, 17);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    double ratio = column_of(&m, "fn_ratio");
    double error = gsl_stats_sd(m.arrays.batch_fn_ratio, 1, (size_t)d.count) / sqrt(d.count);
    CU_ASSERT(fabs(ratio - wanted) < 3 * error);
    CU_ASSERT(error < 0.01);
    // The batches are of one size, so that the ratio is the mean of theirs, with its interval
    // (tests/core/test_stats.c has its numbers); 300 of them: Student's t is 1.968, skewness aside.
    double ones[400];
    CU_ASSERT_FATAL(d.count <= 400);
    for (int32_t b = 0; b < d.count; b++)
        ones[b] = 1;
    struct hn_interval wished = hn_ratio_interval(m.arrays.batch_fn_ratio, ones, 1, d.count, 0.95);
    double lo = column_of(&m, "fn_ratio_lo"), hi = column_of(&m, "fn_ratio_hi");
    CU_ASSERT_DOUBLE_EQUAL(lo, wished.lo, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(hi, wished.hi, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL((hi - lo) / 2, 1.968 * error, 0.02 * error);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The start item's batch is pure, the others are not: fn_start is 1, fn_ratio is not.
static void start_and_ratio_differ(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 12, 4, 4, false, 18); // label i % 4
    struct drawn d = drawn_empty(&ctx, 2, 5, 2);
    static const int32_t ids[10] = {0, 4, 8, 1, 5, /* start item unlabelled: */ 3, 2, 6, 10, 7};
    memcpy(d.ids, ids, sizeof ids);
    ((int32_t *)items.labels)[3] = -1;
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    expect(&m, "fn_start", 0.5, 1e-15);
    expect(&m, "fn_ratio", (6.0 + 2.0 + 6.0) / (20.0 + 12.0), 1e-15);
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[0], 8.0 / 20);
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[1], 6.0 / 12);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A batch that is one item over and over has no pair; the cell's other batch has.
static void a_batch_of_one_item(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 12, 4, 4, true, 19);
    struct drawn d = drawn_empty(&ctx, 2, 4, 2);
    static const int32_t ids[8] = {5, 5, 5, 5, 0, 1, 4, 1};
    memcpy(d.ids, ids, sizeof ids);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(m.arrays.batch_fn_ratio[0]) && isnan(m.arrays.batch_cos_mean[0]));
    CU_ASSERT_EQUAL(m.arrays.batch_fn_ratio[1], 2.0 / 6);
    expect(&m, "fn_ratio", 2.0 / 6, 1e-15);
    expect(&m, "fn_start", 0.5, 1e-15);
    expect(&m, "duplicates", 4, 0);
    uint64_t positives = 0, pairs = 0;
    for (int64_t k = 0; k < HN_HISTOGRAM_BINS; k++) {
        positives += m.arrays.histogram[HN_PAIR_POSITIVE * HN_HISTOGRAM_BINS + k];
        pairs += m.arrays.histogram[HN_PAIR_TRUE_NEGATIVE * HN_HISTOGRAM_BINS + k] +
                 m.arrays.histogram[HN_PAIR_FALSE_NEGATIVE * HN_HISTOGRAM_BINS + k];
    }
    CU_ASSERT_EQUAL(positives, 4);
    CU_ASSERT_EQUAL(pairs, 3);
    measured_free(&ctx, &m);
    d.count = 1; // and a cell of that batch alone
    m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(column_of(&m, "fn_ratio")) && isnan(column_of(&m, "fn_start")));
    CU_ASSERT(isnan(column_of(&m, "cos_p50")) && isnan(column_of(&m, "hardest_mean")));
    CU_ASSERT(isnan(column_of(&m, "pairs_distinct")));
    expect(&m, "loss_train", 0, 1e-12); // the positive is the only key
    expect(&m, "pos_prob", 1, 1e-12);
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void coverage_counts(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 8, 4, 4, false, 20);
    struct drawn d = drawn_empty(&ctx, 4, 4, 2);
    static const int32_t ids[16] = {0, 1, 2, 3, 3, 2, 1, 0, 4, 5, 4, 99, 1, 4, 0, 5};
    memcpy(d.ids, ids, sizeof ids);
    d.size[2] = 3;
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    expect(&m, "coverage", 0.5, 0);
    expect(&m, "duplicates", 1, 0);
    expect(&m, "duplicate_batches", 1, 0);
    expect(&m, "short_batches", 1, 0);
    expect(&m, "pairs_distinct", (6 + 1 + 4) / 19.0, 1e-15);
    double visits[8] = {3, 3, 2, 2, 3, 2, 0, 0};
    double deviation = sqrt(gsl_stats_tss(visits, 1, 8) / 8);
    expect(&m, "visits_cv", deviation / (15.0 / 8), 1e-15);
    measured_free(&ctx, &m);
    d.count = 1; // half of an epoch says nothing about an epoch
    m = measure_all(&ctx, &items, &d, 0.5);
    CU_ASSERT(isnan(column_of(&m, "coverage")));
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A sampler whose epoch has more batches than ceil(n / batch_size).
static void long_epochs_are_awaited(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 8, 4, 4, false, 21);
    struct drawn d = drawn_partition(&ctx, 8, 4, 2, 5);
    d.per_epoch = 4;
    const struct hn_metric_type *const list[] = {hn_metric_find("coverage")};
    for (int64_t epoch = 4; epoch <= 5; epoch++) {
        struct hn_measure_spec spec = {.metrics = list,
                                       .n_metrics = 1,
                                       .env = {.items = &items,
                                               .temperature = 0.5,
                                               .batch_size = 4,
                                               .threads = 1,
                                               .batches = 4,
                                               .epoch_batches = epoch}};
        struct measured m = {0};
        HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &m));
        CU_ASSERT_EQUAL(isnan(m.value[0]), epoch == 5);
        CU_ASSERT_PTR_NULL(m.arrays.histogram);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"rotation_changes_nothing", rotation_changes_nothing},
    {"order_of_items_changes_nothing", order_of_items_changes_nothing},
    {"naive_oracle_agrees", naive_oracle_agrees},
    {"bins_are_exact_at_their_edges", bins_are_exact_at_their_edges},
    {"bins_do_not_depend_on_float_products", bins_do_not_depend_on_float_products},
    {"numpy_agrees", numpy_agrees},
    {"uniform_batches_meet_expectation", uniform_batches_meet_expectation},
    {"start_and_ratio_differ", start_and_ratio_differ},
    {"a_batch_of_one_item", a_batch_of_one_item},
    {"coverage_counts", coverage_counts},
    {"long_epochs_are_awaited", long_epochs_are_awaited},
};

HN_TEST_MAIN("metrics", tests)
