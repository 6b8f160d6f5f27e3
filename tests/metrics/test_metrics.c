// SPDX-License-Identifier: GPL-3.0-or-later
// Every metric of the registry against identities, a naive double-precision oracle, and NumPy.
#include "tests/metrics/compared.h"

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

static const struct hn_test tests[] = {
    {"rotation_changes_nothing", rotation_changes_nothing},
    {"order_of_items_changes_nothing", order_of_items_changes_nothing},
    {"naive_oracle_agrees", naive_oracle_agrees},
    {"numpy_agrees", numpy_agrees},
};

HN_TEST_MAIN("metrics", tests)
