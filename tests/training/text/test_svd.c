// SPDX-License-Identifier: GPL-3.0-or-later
// Singular vectors of small sparse matrices against LAPACK's of the dense ones.
#include "core/random.h"
#include "core/sweep/blas.h"
#include "tests/test.h"
#include "training/text/svd.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 40 };

struct made {
    struct hn_context ctx;
    struct hn_scope scope;
    struct hn_sparse x;
    int64_t rows;
};

// Rows of which those from `rank` on repeat earlier ones.
static void open_made(struct made *m, int64_t rows, int64_t rank) {
    struct hn_stream s;
    memset(m, 0, sizeof *m);
    m->rows = rows;
    hn_context_init(&m->ctx, 1);
    hn_scope_begin(&m->ctx, &m->scope);
    HN_CHECK(&m->ctx, hn_sparse_open(&m->ctx, rows, COLUMNS, rows * COLUMNS, &m->x));
    for (int64_t i = 0, k = 0; i < rows; i++) {
        hn_stream_open(&s, 1, "test.svd", 0, 0, i % rank);
        for (int32_t j = 0; j < COLUMNS; j++)
            if (hn_stream_uniform(&s) < 0.3) {
                m->x.index[k] = j;
                m->x.value[k++] = (hn_real)(hn_stream_uniform(&s) - 0.3);
            }
        m->x.start[i + 1] = k;
    }
}

// The eigenvectors of X^T X by LAPACK, rows of vector[keep x COLUMNS].
static void dense(struct made *m, int64_t keep, double *value, double *vector) {
    static double a[COLUMNS * COLUMNS];
    memset(a, 0, sizeof a);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->x.start[i]; k < m->x.start[i + 1]; k++)
            for (int64_t l = m->x.start[i]; l < m->x.start[i + 1]; l++)
                a[m->x.index[k] * COLUMNS + m->x.index[l]] +=
                    (double)m->x.value[k] * (double)m->x.value[l];
    HN_CHECK(&m->ctx, hn_blas_open(&m->ctx));
    HN_CHECK(&m->ctx, hn_eigen_top(&m->ctx, a, COLUMNS, keep, value, vector));
}

// Up to their sign, which no one settles.
static void check(int64_t rows, int64_t rank, int64_t keep) {
    struct made m;
    double value[COLUMNS], vector[COLUMNS * COLUMNS];
    hn_real v[COLUMNS * COLUMNS], again[COLUMNS * COLUMNS];
    open_made(&m, rows, rank);
    dense(&m, keep, value, vector);
    HN_CHECK(&m.ctx, hn_svd_right(&m.ctx, &m.x, keep, v));
    for (int64_t j = 0; j < keep; j++) {
        double along = 0, length = 0;
        for (int64_t c = 0; c < COLUMNS; c++) {
            along += vector[j * COLUMNS + c] * (double)v[c * keep + j];
            length += (double)v[c * keep + j] * (double)v[c * keep + j];
        }
        CU_ASSERT_DOUBLE_EQUAL(length, j < rank ? 1 : 0, 1e-5);
        CU_ASSERT_DOUBLE_EQUAL(fabs(along), j < rank ? 1 : 0, 1e-5);
    }
    m.ctx.threads = 3;
    HN_CHECK(&m.ctx, hn_svd_right(&m.ctx, &m.x, keep, again));
    CU_ASSERT_EQUAL(memcmp(v, again, (size_t)(COLUMNS * keep) * sizeof *v), 0);
    hn_scope_end(&m.scope);
    CU_ASSERT_EQUAL(m.ctx.memory.live, 0);
}

static void test_dense(void) {
    check(12, 12, 5);
    check(12, 12, 12);
    check(200, 200, 6); // fewer steps than rows
    check(1, 1, 1);
}

static void test_rank(void) {
    check(20, 7, 7);
    check(20, 7, 10);
}

static const struct hn_test tests[] = {{"dense", test_dense}, {"rank", test_rank}};
HN_TEST_MAIN("svd", tests)
