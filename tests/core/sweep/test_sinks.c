// Every sink against a naive double-precision oracle; any number of threads; both sides; failures.
#include "core/random.h"
#include "core/stats.h"
#include "core/sweep/sinks.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double temperatures[] = {0.01, 0.1, 1.0};
enum { TEMPERATURES = 3, BINS = 23 };

// All sinks at once, on one side.
struct bundle {
    struct hn_topk topk;
    struct hn_lse lse;
    struct hn_extrema extrema;
    struct hn_sweep_histogram histogram;
};

// What a bundle is asked for.
struct asked {
    struct hn_matrix x, y;
    const int32_t *x_label, *y_label;
    int64_t block, k;
    bool skip_self;
};

static void add_bundle(struct hn_sweep *sweep, struct bundle *b, const struct asked *a,
                       enum hn_side side) {
    bool cols = side == HN_SIDE_COLS;
    *b = (struct bundle){
        .topk = {.k = a->k, .skip_self = a->skip_self},
        .lse = {.temperature = temperatures, .n = TEMPERATURES, .skip_self = a->skip_self},
        .extrema = {.skip_self = a->skip_self},
        .histogram = {.bins = BINS,
                      .row_label = cols ? a->y_label : a->x_label,
                      .col_label = cols ? a->x_label : a->y_label,
                      .skip_self = a->skip_self},
    };
    hn_sweep_add(sweep, &hn_topk_sink, &b->topk, side);
    hn_sweep_add(sweep, &hn_lse_sink, &b->lse, side);
    hn_sweep_add(sweep, &hn_extrema_sink, &b->extrema, side);
    hn_sweep_add(sweep, &hn_histogram_sink, &b->histogram, side);
}

static void free_bundle(struct hn_context *ctx, struct bundle *b) {
    hn_topk_free(ctx, &b->topk);
    hn_lse_free(ctx, &b->lse);
    hn_extrema_free(ctx, &b->extrema);
    hn_sweep_histogram_free(ctx, &b->histogram);
}

static enum hn_code run_bundles(struct hn_context *ctx, const struct asked *a, struct bundle *rows,
                                struct bundle *cols) {
    struct hn_sweep sweep = {.x = a->x, .y = a->y, .block = a->block};
    add_bundle(&sweep, rows, a, HN_SIDE_ROWS);
    add_bundle(&sweep, cols, a, HN_SIDE_COLS);
    return hn_sweep_run(ctx, &sweep);
}

struct scored {
    double score;
    int64_t id;
};

static int by_score(const void *a, const void *b) {
    const struct scored *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

// Row i of S in double without the self column; returns the number of entries.
static int64_t exact_row(const struct hn_matrix *x, const struct hn_matrix *y, int64_t i,
                         bool skip_self, struct scored *row) {
    int64_t n = 0;
    for (int64_t j = 0; j < y->rows; j++)
        if (!skip_self || j != i)
            row[n++] = (struct scored){hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols), j};
    return n;
}

static bool topk_right(const struct hn_topk *t, int64_t i, struct scored *row, int64_t n) {
    qsort(row, (size_t)n, sizeof *row, by_score);
    for (int64_t k = 0; k < t->kept; k++)
        if (t->id[i * t->kept + k] != row[k].id || t->score[i * t->kept + k] != (float)row[k].score)
            return false;
    return true;
}

// `off`: what the float products may be off.
static bool lse_right(const struct hn_lse *l, int64_t i, const struct scored *row, int64_t n,
                      double off) {
    for (int t = 0; t < l->n; t++) {
        double tau = l->temperature[t], sum = 0, value = l->value[t * l->rows + i];
        for (int64_t k = 0; k < n; k++)
            sum += exp((row[k].score - 1) / tau);
        double wanted = log(sum) + 1 / tau;
        if (n == 0 ? value != -INFINITY : !(fabs(value - wanted) <= off / tau + HN_LSE_ERROR))
            return false;
    }
    return true;
}

static bool extrema_right(const struct hn_extrema *e, int64_t i, const struct scored *row,
                          int64_t n, double off) {
    double max = -INFINITY, min = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        max = fmax(max, row[k].score);
        min = fmin(min, row[k].score);
    }
    if (n == 0)
        return e->max[i] == -INFINITY && e->min[i] == INFINITY;
    return fabs(e->max[i] - max) <= off && fabs(e->min[i] - min) <= off;
}

// Cumulated counts of the entries that are surely or possibly in the lower bins, by relation.
static bool histogram_right(const struct hn_sweep_histogram *h, const struct hn_matrix *x,
                            const struct hn_matrix *y, double off, struct scored *row) {
    uint64_t sure[HN_REL_COUNT][BINS] = {0}, possible[HN_REL_COUNT][BINS] = {0};
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t n = exact_row(x, y, i, h->skip_self, row);
        for (int64_t k = 0; k < n; k++) {
            int32_t a = h->row_label ? h->row_label[i] : -1;
            int32_t b = h->col_label ? h->col_label[row[k].id] : -1;
            int relation = a < 0 || b < 0 ? HN_REL_UNKNOWN
                           : a == b       ? HN_REL_SAME
                                          : HN_REL_DIFFERENT;
            sure[relation][hn_cosine_bin((float)(row[k].score + off), BINS)]++;
            possible[relation][hn_cosine_bin((float)(row[k].score - off), BINS)]++;
        }
    }
    for (int relation = 0; relation < HN_REL_COUNT; relation++) {
        uint64_t counted = 0, least = 0, most = 0;
        for (int bin = 0; bin < BINS; bin++) {
            counted += h->count[relation * BINS + bin];
            least += sure[relation][bin];
            most += possible[relation][bin];
            if (counted < least || counted > most)
                return false;
        }
        if (least != most || counted != least)
            return false;
    }
    return true;
}

static bool bundle_right(struct hn_context *ctx, const struct bundle *b, const struct hn_matrix *x,
                         const struct hn_matrix *y, const struct asked *a, double off) {
    struct scored *row = hn_alloc(ctx, y->rows, sizeof *row);
    int64_t others = hn_max(0, y->rows - a->skip_self);
    bool good = b->topk.rows == x->rows && b->topk.kept == hn_max(0, hn_min(a->k, others)) &&
                b->lse.rows == x->rows && b->extrema.rows == x->rows;
    for (int64_t i = 0; good && i < x->rows; i++) {
        int64_t n = exact_row(x, y, i, a->skip_self, row);
        good = lse_right(&b->lse, i, row, n, off) && extrema_right(&b->extrema, i, row, n, off) &&
               topk_right(&b->topk, i, row, n);
    }
    good = good && histogram_right(&b->histogram, x, y, off, row);
    hn_free(ctx, row);
    return good;
}

// Counts do not depend on the machine's products only if those are exact: bytes for all of these.
static bool same_results(const struct bundle *a, const struct bundle *b) {
    size_t kept = (size_t)(a->topk.rows * a->topk.kept), rows = (size_t)a->topk.rows;
    return a->topk.kept == b->topk.kept &&
           !memcmp(a->topk.id, b->topk.id, kept * sizeof *a->topk.id) &&
           !memcmp(a->topk.score, b->topk.score, kept * sizeof *a->topk.score) &&
           !memcmp(a->lse.value, b->lse.value, TEMPERATURES * rows * sizeof *a->lse.value) &&
           !memcmp(a->extrema.max, b->extrema.max, rows * sizeof *a->extrema.max) &&
           !memcmp(a->extrema.min, b->extrema.min, rows * sizeof *a->extrema.min) &&
           !memcmp(a->histogram.count, b->histogram.count, sizeof(uint64_t[HN_REL_COUNT * BINS]));
}

// Rows alone, which need no rounds, against rows and columns together.
static void check_rows_alone(struct hn_context *ctx, const struct asked *a,
                             const struct bundle *rows) {
    struct hn_sweep sweep = {.x = a->x, .y = a->y, .block = a->block};
    struct bundle alone;
    add_bundle(&sweep, &alone, a, HN_SIDE_ROWS);
    HN_CHECK(ctx, hn_sweep_run(ctx, &sweep));
    CU_ASSERT(same_results(rows, &alone));
    CU_ASSERT(a->x.data == a->y.data || sweep.n_dot == a->x.rows * a->y.rows);
    free_bundle(ctx, &alone);
}

// One thread against the oracle, then 2, 3 and 4 threads against one.
static void check(const struct asked *a, double off) {
    struct hn_context ctx;
    struct bundle rows, cols;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, run_bundles(&ctx, a, &rows, &cols));
    CU_ASSERT(bundle_right(&ctx, &rows, &a->x, &a->y, a, off));
    CU_ASSERT(bundle_right(&ctx, &cols, &a->y, &a->x, a, off));
    check_rows_alone(&ctx, a, &rows);
    for (ctx.threads = 2; ctx.threads <= 4; ctx.threads++) {
        struct bundle more_rows, more_cols;
        check_rows_alone(&ctx, a, &rows);
        HN_CHECK(&ctx, run_bundles(&ctx, a, &more_rows, &more_cols));
        CU_ASSERT(same_results(&rows, &more_rows));
        CU_ASSERT(same_results(&cols, &more_cols));
        free_bundle(&ctx, &more_rows);
        free_bundle(&ctx, &more_cols);
    }
    free_bundle(&ctx, &rows);
    free_bundle(&ctx, &cols);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_random(void) {
    static const int64_t shapes[][3] = {// rows, columns, block
                                        {0, 0, 0}, {0, 3, 0},  {3, 0, 2},    {1, 1, 0},
                                        {1, 2, 1}, {2, 1, 0},  {2, 2, 7},    {5, 9, 1},
                                        {9, 5, 3}, {33, 8, 7}, {70, 150, 0}, {150, 70, 31}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150, D = 20 };
    float *a = hn_fixture_rows(&ctx, N, D, 1), *b = hn_fixture_rows(&ctx, N, D, 2);
    int32_t label[N];
    for (int i = 0; i < N; i++)
        label[i] = i % 5 - 1;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int same = 0; same < 2; same++) {
            struct asked asked = {.x = {a, shapes[k][0], D, D},
                                  .y = {b, shapes[k][1], D, D},
                                  .x_label = label,
                                  .y_label = k % 3 ? label : NULL,
                                  .block = shapes[k][2],
                                  .k = (int64_t)k,
                                  .skip_self = same || k % 2};
            if (same)
                asked.y = asked.x;
            check(&asked, hn_dot_bound(D));
        }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
}

// Rows of sixteen numbers +-1/4: unit rows with float products that are exact multiples of 1/8, so
// that everything has to agree exactly, with ties everywhere.
static float *exact_rows(struct hn_context *ctx, int64_t n, uint64_t seed) {
    float *x = hn_fixture_rows(ctx, n, 16, seed);
    for (int64_t i = 0; i < n * 16; i++)
        x[i] = x[i] < 0 ? -0.25F : 0.25F;
    return x;
}

static void test_exact_products(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 230, M = 190, D = 16 };
    float *a = exact_rows(&ctx, N, 1), *b = exact_rows(&ctx, M, 2);
    int32_t label[N];
    for (int i = 0; i < N; i++)
        label[i] = i % 7 - 2;
    for (int block = 0; block <= 70; block += 70)
        for (int skip = 0; skip < 2; skip++) {
            struct asked asked = {.x = {a, N, D, D},
                                  .y = {b, M, D, D},
                                  .x_label = label,
                                  .y_label = label,
                                  .block = block,
                                  .k = 9,
                                  .skip_self = skip};
            check(&asked, 0);
            asked.y = asked.x;
            check(&asked, 0);
        }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
}

// Top-k alone, for rows that are hard to tell apart.
static void check_topk(const float *rows, int64_t n, int64_t d, int64_t k, bool skip_self) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_matrix x = {rows, n, d, d};
    struct hn_topk t = {.k = k, .skip_self = skip_self};
    struct hn_sweep sweep = {.x = x, .y = x, .block = 48};
    hn_sweep_add(&sweep, &hn_topk_sink, &t, HN_SIDE_ROWS);
    HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
    CU_ASSERT_EQUAL(t.kept, hn_min(k, n - skip_self));
    struct scored *row = hn_alloc(&ctx, n, sizeof *row);
    bool good = true;
    for (int64_t i = 0; i < n; i++)
        good &= topk_right(&t, i, row, exact_row(&x, &x, i, skip_self, row));
    CU_ASSERT(good);
    struct hn_topk ids = {.k = k, .skip_self = skip_self, .ids_only = true};
    sweep = (struct hn_sweep){.x = x, .y = x, .block = 48};
    hn_sweep_add(&sweep, &hn_topk_sink, &ids, HN_SIDE_ROWS);
    HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
    CU_ASSERT(ids.kept == t.kept && !ids.score);
    CU_ASSERT(!memcmp(ids.id, t.id, (size_t)(n * t.kept) * sizeof *t.id));
    hn_topk_free(&ctx, &ids);
    hn_free(&ctx, row);
    hn_topk_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Row i as a copy of row i % groups; `ulps` of its numbers, drawn from the seed, off by one bit.
static void repeat_rows(float *rows, int64_t n, int64_t d, int64_t groups, int ulps) {
    struct hn_stream stream;
    hn_stream_open(&stream, 9, "test.near", groups, ulps, 0);
    for (int64_t i = groups; i < n; i++) {
        memcpy(rows + i * d, rows + (i % groups) * d, (size_t)d * sizeof *rows);
        for (int u = 0; u < ulps; u++) {
            float *one = &rows[i * d + hn_stream_below(&stream, (uint32_t)d)];
            *one = nextafterf(*one, hn_stream_below(&stream, 2) ? 2.0F : -2.0F);
        }
    }
}

static void test_topk_near_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 330, D = 30 };
    float *rows = hn_fixture_rows(&ctx, N, D, 7);
    for (int groups = 1; groups < 80; groups *= 9)
        for (int ulps = 0; ulps <= 20; ulps = 4 * ulps + 1) {
            repeat_rows(rows, N, D, groups, ulps);
            const int64_t k[] = {0, 1, 5, 60, N - 1, N, N + 9};
            for (size_t j = 0; j < sizeof k / sizeof *k; j++)
                check_topk(rows, N, D, k[j], j % 2);
        }
    hn_free(&ctx, rows);
}

// X X^T with half the products against the same with all of them.
static void test_symmetric_or_not(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 200, D = 24 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 3);
    float *copy = hn_alloc(&ctx, N * D, sizeof *copy);
    memcpy(copy, items.x.data, N * D * sizeof *copy);
    struct asked half = {.x = items.x,
                         .y = items.x,
                         .x_label = items.labels,
                         .y_label = items.labels,
                         .block = 32,
                         .k = 12,
                         .skip_self = true};
    struct asked all = half;
    all.y.data = copy;
    struct bundle rows[2], cols[2];
    HN_CHECK(&ctx, run_bundles(&ctx, &half, &rows[0], &cols[0]));
    HN_CHECK(&ctx, run_bundles(&ctx, &all, &rows[1], &cols[1]));
    CU_ASSERT(bundle_right(&ctx, &rows[0], &half.x, &half.y, &half, hn_dot_bound(D)));
    CU_ASSERT(bundle_right(&ctx, &cols[1], &all.y, &all.x, &all, hn_dot_bound(D)));
    const struct bundle *others[] = {&rows[1], &cols[0], &cols[1]};
    for (int k = 0; k < 3; k++) {
        size_t kept = (size_t)(N * rows[0].topk.kept);
        CU_ASSERT_EQUAL(memcmp(rows[0].topk.id, others[k]->topk.id, kept * sizeof(int32_t)), 0);
        CU_ASSERT_EQUAL(memcmp(rows[0].topk.score, others[k]->topk.score, kept * sizeof(float)), 0);
        for (int64_t v = 0; v < TEMPERATURES * N; v++)
            CU_ASSERT_DOUBLE_EQUAL(rows[0].lse.value[v], others[k]->lse.value[v],
                                   2 * hn_dot_bound(D) / temperatures[v / N]);
    }
    for (int k = 0; k < 2; k++) {
        free_bundle(&ctx, &rows[k]);
        free_bundle(&ctx, &cols[k]);
    }
    hn_free(&ctx, copy);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The exponential alone: one column, so that the result is s / tau.
static void test_exponential(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { POINTS = 4001 };
    const double taus[] = {0.003, 0.01, 0.05, 0.07, 0.5, 1, 30};
    enum { N_TAUS = sizeof taus / sizeof *taus };
    float *s = hn_alloc(&ctx, POINTS, sizeof *s);
    for (int i = 0; i < POINTS; i++)
        s[i] = (float)(2.0 * i / (POINTS - 1) - 1.0);
    struct hn_lse l = {.temperature = taus, .n = N_TAUS};
    struct hn_sweep_shape shape = {.rows = POINTS, .cols = 1, .threads = 1, .block = POINTS};
    HN_CHECK(&ctx, hn_lse_sink.begin(&ctx, &l, &shape));
    hn_lse_sink.tile(&l, &(struct hn_tile){.s = s, .stride = 1, .rows = POINTS, .cols = 1}, 0);
    double worst = 0; // relative error of the exponential itself
    for (int t = 0; t < N_TAUS; t++) {
        const struct hn_powers p = hn_powers_of(taus[t]);
        for (int i = 0; i < POINTS; i++) {
            double wanted = exp2((double)s[i] * p.slope - p.shift);
            worst = fmax(worst, fabs(l.value[t * POINTS + i] / wanted - 1));
        }
    }
    CU_ASSERT(worst < HN_POWERS_ERROR);
    HN_CHECK(&ctx, hn_lse_sink.end(&ctx, &l));
    for (int t = 0; t < N_TAUS; t++)
        for (int i = 0; i < POINTS; i++)
            CU_ASSERT_DOUBLE_EQUAL(l.value[t * POINTS + i], (double)s[i] / taus[t], HN_LSE_ERROR);
    hn_lse_free(&ctx, &l);
    const double bad[] = {0.0, -1.0, 0.0029, NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        l = (struct hn_lse){.temperature = &bad[k], .n = 1};
        HN_CHECK_FAILS(&ctx, hn_lse_sink.begin(&ctx, &l, &shape), HN_USAGE, "temperature");
        hn_lse_free(&ctx, &l);
    }
    hn_free(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_histogram_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const float s[] = {-1.5F, -1.0F, -0.0F, 0.0F, 0.999F, 1.0F, 1.5F, -0.5F, 0.5F};
    enum { S = sizeof s / sizeof *s };
    const int64_t bins[] = {1, 2, 3, 4, 200};
    const struct hn_tile tile = {.s = s, .stride = S, .rows = 1, .cols = S};
    struct hn_sweep_shape shape = {.rows = 1, .cols = S, .threads = 1, .block = S};
    for (size_t k = 0; k < sizeof bins / sizeof *bins; k++) {
        struct hn_sweep_histogram h = {.bins = bins[k]};
        uint64_t wanted[200] = {0};
        for (int i = 0; i < S; i++)
            wanted[hn_cosine_bin(s[i], bins[k])]++;
        HN_CHECK(&ctx, hn_histogram_sink.begin(&ctx, &h, &shape));
        hn_histogram_sink.tile(&h, &tile, 0);
        HN_CHECK(&ctx, hn_histogram_sink.end(&ctx, &h));
        for (int64_t bin = 0; bin < bins[k]; bin++) {
            CU_ASSERT_EQUAL(h.count[HN_REL_UNKNOWN * bins[k] + bin], wanted[bin]);
            CU_ASSERT_EQUAL(h.count[HN_REL_SAME * bins[k] + bin], 0);
        }
        hn_sweep_histogram_free(&ctx, &h);
    }
    struct hn_sweep_histogram none = {.bins = 0};
    HN_CHECK_FAILS(&ctx, hn_histogram_sink.begin(&ctx, &none, &shape), HN_USAGE, "bins");
    hn_sweep_histogram_free(&ctx, &none);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every allocation fails in turn: a clean error, and nothing is left behind.
static void test_failing_allocations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *rows = hn_fixture_rows(&ctx, 60, 5, 4);
    int64_t live = ctx.memory.live, failures = 0;
    struct asked a = {.x = {rows, 60, 5, 5}, .y = {rows, 60, 5, 5}, .block = 16, .k = 3};
    for (enum hn_code code = HN_MEMORY; code != HN_OK; failures++) {
        struct bundle b, c = {0};
        struct hn_sweep sweep = {.x = a.x, .y = a.y, .block = a.block};
        add_bundle(&sweep, &b, &a, HN_SIDE_ROWS);
        ctx.memory.calls = 0;
        ctx.memory.fail_at = failures + 1;
        ctx.message[0] = '\0';
        code = hn_sweep_run(&ctx, &sweep);
        CU_ASSERT(code == HN_OK || (code == HN_MEMORY && ctx.message[0] != '\0'));
        free_bundle(&ctx, &b);
        free_bundle(&ctx, &c); // never begun: nothing to free
        CU_ASSERT_EQUAL(ctx.memory.live, live);
        if (failures > 100)
            CU_FAIL_FATAL("no end of failures");
    }
    CU_ASSERT(failures > 20);
    ctx.memory.fail_at = 0;
    hn_free(&ctx, rows);
}

// Bins so narrow that float products put many into a neighbour: counted exactly none is, for rows
// and columns, of two matrices or one, whatever the tiles.
static void test_exact_histogram(void) {
    enum { D = 64, ROWS = 90, COLS = 70, NARROW = 1 << 16 };
    struct hn_context ctx;
    hn_context_init(&ctx, 3);
    int moved = 0;
    float *a = hn_fixture_rows(&ctx, ROWS, D, 5), *b = hn_fixture_rows(&ctx, COLS, D, 6);
    struct hn_matrix x = {a, ROWS, D, D}, other = {b, COLS, D, D};
    for (int same = 0; same < 2; same++) {
        struct hn_matrix y = same ? x : other;
        static uint64_t right[NARROW];
        memset(right, 0, sizeof right);
        for (int64_t i = 0; i < x.rows; i++)
            for (int64_t j = 0; j < y.rows; j++) {
                double s = hn_dot_exact(hn_row(&x, i), hn_row(&y, j), x.cols);
                right[(int64_t)fmin((s + 1) * 0.5 * NARROW, NARROW - 1)] += !same || i != j;
            }
        for (int64_t block = 16; block <= 64; block += 48)
            for (int exact = 0; exact < 2; exact++) {
                struct hn_sweep_histogram h[2];
                struct hn_sweep sweep = {.x = x, .y = y, .block = block};
                for (int side = 0; side < 2; side++) {
                    h[side] = (struct hn_sweep_histogram){
                        .bins = NARROW, .skip_self = same, .exact = exact};
                    hn_sweep_add(&sweep, &hn_histogram_sink, &h[side],
                                 side ? HN_SIDE_COLS : HN_SIDE_ROWS);
                }
                HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
                for (int side = 0; side < 2; side++) {
                    const uint64_t *count = h[side].count + HN_REL_UNKNOWN * NARROW;
                    bool equal = memcmp(count, right, sizeof right) == 0;
                    CU_ASSERT(equal || !exact);
                    moved += !equal;
                    hn_sweep_histogram_free(&ctx, &h[side]);
                }
            }
    }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
    CU_ASSERT(moved > 0); // by float products: there was something to decide
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"random", test_random},
    {"exact histogram", test_exact_histogram},
    {"exact products", test_exact_products},
    {"top-k near ties", test_topk_near_ties},
    {"symmetric or not", test_symmetric_or_not},
    {"exponential", test_exponential},
    {"histogram limits", test_histogram_limits},
    {"failing allocations", test_failing_allocations},
};
HN_TEST_MAIN("sinks", tests)
