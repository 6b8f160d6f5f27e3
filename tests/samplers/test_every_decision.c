// SPDX-License-Identifier: GPL-3.0-or-later
// What every sampler of the registry promises of its decisions: random numbers come from streams
// that name seed, embeddings, epoch and batch, and each is counted; ties go to the lower index; and
// the rounding of float products decides nothing. The linker puts the functions below that are
// called __wrap_ in place of the program's.
#include "core/sweep/blas.h"
#include "core/sweep/packed.h"
#include "tests/samplers/every_sampler.h"

// A stream that was opened.
struct opened {
    char purpose[40]; // a copy: some are made up for the call
    uint64_t seed;
    int64_t index, epoch, number;
};

enum { OPENED_MAX = 1 << 16 };
static struct opened opened[OPENED_MAX];
static int64_t streams, draws;
static int noise; // 0 = products are as they are; else which of several roundings

void __real_hn_stream_open(struct hn_stream *s, uint64_t seed, const char *purpose, int64_t step,
                           int64_t epoch, int64_t index);
void __real_hn_permute(uint64_t seed, const char *purpose, int64_t step, int64_t epoch,
                       int64_t index, int32_t *ids, int64_t n);
uint32_t __real_hn_stream_word(struct hn_stream *s);
uint32_t __real_hn_stream_below(struct hn_stream *s, uint32_t n);
double __real_hn_stream_uniform(struct hn_stream *s);
void __real_hn_stream_shuffle(struct hn_stream *s, int32_t *ids, int64_t n);
void __real_hn_stream_distinct(struct hn_stream *s, int64_t n, int64_t k, uint64_t *seen,
                               int32_t *out);
int32_t __real_hn_stream_take(struct hn_stream *s, int32_t *ids, int64_t at, int64_t n);

static void note_stream(uint64_t seed, const char *purpose, int64_t index, int64_t epoch,
                        int64_t number) {
    CU_ASSERT_FATAL(streams < OPENED_MAX);
    CU_ASSERT_FATAL(strlen(purpose) < sizeof opened->purpose);
    opened[streams] = (struct opened){"", seed, index, epoch, number};
    snprintf(opened[streams++].purpose, sizeof opened->purpose, "%s", purpose);
}

void __wrap_hn_stream_open(struct hn_stream *s, uint64_t seed, const char *purpose, int64_t step,
                           int64_t epoch, int64_t index) {
    note_stream(seed, purpose, step, epoch, index);
    __real_hn_stream_open(s, seed, purpose, step, epoch, index);
}

void __wrap_hn_permute(uint64_t seed, const char *purpose, int64_t step, int64_t epoch,
                       int64_t index, int32_t *ids, int64_t n) {
    note_stream(seed, purpose, step, epoch, index);
    draws += n - 1;
    __real_hn_permute(seed, purpose, step, epoch, index, ids, n);
}

uint32_t __wrap_hn_stream_word(struct hn_stream *s) {
    draws++;
    return __real_hn_stream_word(s);
}

uint32_t __wrap_hn_stream_below(struct hn_stream *s, uint32_t n) {
    draws++;
    return __real_hn_stream_below(s, n);
}

double __wrap_hn_stream_uniform(struct hn_stream *s) {
    draws++;
    return __real_hn_stream_uniform(s);
}

void __wrap_hn_stream_shuffle(struct hn_stream *s, int32_t *ids, int64_t n) {
    draws += hn_max(0, n - 1);
    __real_hn_stream_shuffle(s, ids, n);
}

void __wrap_hn_stream_distinct(struct hn_stream *s, int64_t n, int64_t k, uint64_t *seen,
                               int32_t *out) {
    draws += k;
    __real_hn_stream_distinct(s, n, k, seen, out);
}

int32_t __wrap_hn_stream_take(struct hn_stream *s, int32_t *ids, int64_t at, int64_t n) {
    draws++;
    return __real_hn_stream_take(s, ids, at, n);
}

// The product number i of rows of such lengths, as a library might round it that adds in another
// order.
static float rounded(float s, int64_t i, double lengths) {
    if (noise == 0)
        return s;
    uint64_t bits = hn_mix((uint64_t)i * 4 + (uint64_t)noise) >> 40;
    return (float)((double)s + ((double)bits * 0x1p-24 - 0.5) * 0x1.8p-23 * lengths);
}

void __real_hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m,
                       int64_t n, int64_t d, float *c, int64_t ldc);
void __real_hn_packed_multiply(const struct hn_packed *x, int64_t row0, int64_t rows,
                               const struct hn_packed *y, int64_t col0, int64_t cols, float *s,
                               int64_t stride);
void __real_hn_packed_multiply_all(const struct hn_packed *x, const struct hn_packed *y, float *s);

void __real_hn_packed_multiply_row(const struct hn_packed *x, int64_t row,
                                   const struct hn_packed *y, int64_t col0, int64_t cols, float *s);
float __real_hn_dot(const float *x, const float *y, int64_t d);

static double length_of(const float *x, int64_t d) { return sqrt(naive_dot(x, x, d)); }

// Of rows of unit length.
static void round_all(float *s, int64_t rows, int64_t cols, int64_t stride) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            s[i * stride + j] = rounded(s[i * stride + j], i * cols + j, 1);
}

void __wrap_hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m,
                       int64_t n, int64_t d, float *c, int64_t ldc) {
    __real_hn_gemm_nt(a, lda, b, ldb, m, n, d, c, ldc);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = rounded(c[i * ldc + j], i * n + j,
                                     length_of(a + i * lda, d) * length_of(b + j * ldb, d));
}

void __wrap_hn_packed_multiply(const struct hn_packed *x, int64_t row0, int64_t rows,
                               const struct hn_packed *y, int64_t col0, int64_t cols, float *s,
                               int64_t stride) {
    __real_hn_packed_multiply(x, row0, rows, y, col0, cols, s, stride);
    round_all(s, rows, cols, stride);
}

void __wrap_hn_packed_multiply_all(const struct hn_packed *x, const struct hn_packed *y, float *s) {
    __real_hn_packed_multiply_all(x, y, s);
    round_all(s, x->rows.rows, y->rows.rows, y->rows.rows);
}

void __wrap_hn_packed_multiply_row(const struct hn_packed *x, int64_t row,
                                   const struct hn_packed *y, int64_t col0, int64_t cols,
                                   float *s) {
    __real_hn_packed_multiply_row(x, row, y, col0, cols, s);
    round_all(s, 1, cols, cols);
}

float __wrap_hn_dot(const float *x, const float *y, int64_t d) {
    int64_t number = (int64_t)(x[0] * 1e6F) + (int64_t)(y - x);
    return rounded(__real_hn_dot(x, y, d), number, length_of(x, d) * length_of(y, d));
}

// Samplers that draw the chosen ones of the batches they arranged once more, which counts once.
static bool redraws(const struct hn_sampler_type *type) { return strcmp(type->name, "osgd") == 0; }

// Samplers that compute with products, weights or eigenvectors, rather than compare them: these
// have the rounding of the product of this processor.
static bool computes(const struct hn_sampler_type *type) {
    return strcmp(type->name, "mosaic") == 0 || strcmp(type->name, "spectral") == 0;
}

// Samplers that equal items do not reach as ties: what they compute moves with the embeddings,
// their definition leaves copies out or puts equal ones in random order, or halves by the
// difference of two items, which is none.
static bool has_no_ties(const struct sampler_case *c) {
    return computes(c->type) || strstr(c->settings, "exclude=copies") ||
           strstr(c->settings, "exclude=both") || strcmp(c->type->name, "ring") == 0 ||
           strcmp(c->type->name, "ngame") == 0;
}

enum { SEED = 90001, BUILT = 1013, INDEX = 2027, EPOCH = 5, SIZE = 7 };

static void say(const struct sampler_case *c, const struct opened *o, const char *what) {
    fprintf(stderr, "    %s %s: stream %s of index %d, epoch %d, number %d: %s\n", c->type->name,
            c->settings, o->purpose, (int)o->index, (int)o->epoch, (int)o->number, what);
}

// Streams [from, streams) that were opened while batch `batch` was drawn; -1: while an epoch began.
static void check_streams(const struct sampler_case *c, int64_t from, int64_t epoch,
                          int64_t batch) {
    bool anchors = c->type->flags & HN_SAMPLER_PER_ANCHOR;
    for (int64_t i = from; i < streams; i++) {
        const struct opened *o = &opened[i];
        const char *lacks = o->seed != SEED                                     ? "not the seed"
                            : o->index != INDEX && o->index != BUILT            ? "not the index"
                            : o->epoch != epoch                                 ? "not the epoch"
                            : batch < 0 || redraws(c->type)                     ? NULL
                            : (anchors ? o->number / SIZE : o->number) != batch ? "not the batch"
                                                                                : NULL;
        CU_ASSERT_PTR_NULL(lacks);
        if (lacks)
            say(c, o, lacks);
    }
}

static int by_name(const void *a, const void *b) {
    const struct opened *x = a, *y = b;
    int purposes = strcmp(x->purpose, y->purpose);
    return purposes                 ? purposes
           : x->index != y->index   ? (x->index > y->index ? 1 : -1)
           : x->epoch != y->epoch   ? (x->epoch > y->epoch ? 1 : -1)
           : x->number != y->number ? (x->number > y->number ? 1 : -1)
                                    : 0;
}

// A build and two epochs, batch by batch, in which no stream is opened twice.
static void check_case(struct hn_context *ctx, const struct sampler_case *c,
                       struct hn_items *items) {
    struct sampled s;
    streams = draws = 0;
    items->index = BUILT;
    HN_CHECK(ctx, sampled_open(ctx, c->type, c->settings, items, SIZE, SEED, &s));
    for (int64_t i = 0; i < streams; i++)
        CU_ASSERT(opened[i].seed == SEED && opened[i].index == BUILT);
    streams = redraws(c->type) ? 0 : streams;
    items->index = INDEX;
    for (int64_t epoch = EPOCH; epoch < EPOCH + 2; epoch++) {
        int64_t from = streams;
        HN_CHECK(ctx, hn_sampler_epoch(ctx, &s.sampler, items, epoch, &s.batches));
        check_streams(c, from, epoch, -1);
        for (int64_t b = 0; b < s.batches; b++) {
            from = streams;
            HN_CHECK(ctx, sampled_some(ctx, &s, b, 1));
            check_streams(c, from, epoch, b);
            streams = redraws(c->type) ? from : streams;
        }
    }
    int64_t counted = s.sampler.build.draw + s.sampler.sampling.draw;
    if (redraws(c->type))
        counted += 3 * s.batches * SIZE;
    CU_ASSERT_EQUAL(counted, draws);
    if (counted != draws)
        fprintf(stderr, "    %s %s: %d draws, %d counted\n", c->type->name, c->settings, (int)draws,
                (int)counted);
    qsort(opened, (size_t)streams, sizeof *opened, by_name);
    for (int64_t i = 1; i < streams; i++)
        if (by_name(&opened[i - 1], &opened[i]) == 0) {
            CU_FAIL("a stream is opened twice");
            say(c, &opened[i], "opened twice");
        }
    sampled_close(ctx, &s);
}

static void test_streams(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct sampler_case cases[CASES_MAX];
    for (int views = 0; views < 2; views++) {
        int n = all_cases(true, views, cases);
        struct hn_items items = anchored_items(&ctx, N, D, 4, views, 6);
        for (int i = 0; i < n; i++) {
            hn_test_entry(cases[i].type->name);
            check_case(&ctx, &cases[i], &items);
        }
        anchored_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A hash of the batches of an epoch and of their negatives.
static uint64_t trace_of(const struct sampled *s) {
    uint64_t hash = 1;
    for (int64_t p = 0; p < sampled_places(s); p++) {
        int32_t id = sampled_anchor_at(s, p);
        hash = hn_mix(hash + (uint64_t)(id + 2));
        for (int32_t k = 0; id >= 0 && s->capacity > 0 && k < s->negatives[p]; k++)
            hash = hn_mix(hash + (uint64_t)sampled_negatives(s, p)[k] + 1);
    }
    return hash;
}

static uint64_t trace(struct hn_context *ctx, const struct sampler_case *c,
                      const struct hn_items *items) {
    struct sampled s;
    HN_CHECK(ctx, sampled_open(ctx, c->type, c->settings, items, SIZE, 9, &s));
    uint64_t hash = trace_of(&s);
    HN_CHECK(ctx, sampled_epoch(ctx, &s, items, 1));
    hash ^= trace_of(&s);
    sampled_close(ctx, &s);
    return hash;
}

// Rows that are twice there, and rows that floats hardly tell apart: float products of other
// roundings choose the same batches.
static void test_roundings(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct sampler_case cases[CASES_MAX];
    for (int crowd = 0; crowd < 2; crowd++) {
        int n = all_cases(true, true, cases);
        struct hn_items items = anchored_items(&ctx, N, D, 4, true, 6);
        if (crowd)
            hn_fixture_crowd(&ctx, &items, 1e-3F);
        hn_fixture_repeat(&items, N / 2);
        for (int i = 0; i < n; i++) {
            hn_test_entry(cases[i].type->name);
            noise = 0;
            uint64_t as_it_is = trace(&ctx, &cases[i], &items);
            bool same = true;
            for (noise = 1; noise <= 3; noise++)
                same &= trace(&ctx, &cases[i], &items) == as_it_is;
            CU_ASSERT(same || computes(cases[i].type));
            if (!same && !computes(cases[i].type))
                fprintf(stderr, "    %s %s: batches change with the rounding of products\n",
                        cases[i].type->name, cases[i].settings);
        }
        noise = 0;
        anchored_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Mean product of the items of a batch, or of anchors and their negatives, over that of all pairs.
static double hardness_of(const struct sampled *s, const struct hn_items *items) {
    double sum = 0, all = 0;
    int64_t n = 0;
    for (int64_t p = 0; p < sampled_places(s); p++) {
        int32_t id = sampled_anchor_at(s, p);
        int64_t first = p / s->sampler.batch_size * s->sampler.batch_size;
        int64_t others = id < 0 ? 0 : s->capacity > 0 ? s->negatives[p] : p - first;
        const int32_t *other = s->capacity > 0 ? sampled_negatives(s, p) : s->ids + first;
        for (int64_t k = 0; k < others; k++)
            sum += naive_dot(hn_row(&items->x, id), hn_row(&items->x, other[k]), D);
        n += others;
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < i; k++)
            all += naive_dot(hn_row(&items->x, i), hn_row(&items->x, k), D);
    return sum / (double)n - all / (N * (N - 1) / 2);
}

enum { TWINS = 31 }; // item i + TWINS has the embedding of item i

// Items in the positive orthant; the second of twins is longer by `more`, so that all its products
// are larger.
static struct hn_items twins(struct hn_context *ctx, double more) {
    struct hn_items items = anchored_items(ctx, N, D, 4, true, 6);
    const struct hn_matrix *rows[] = {&items.x, &items.x1, &items.x2};
    for (int m = 0; m < 3; m++) {
        float *x = (float *)rows[m]->data;
        for (int64_t i = 0; i < N; i++)
            for (int64_t k = 0; k < D; k++)
                x[i * rows[m]->stride + k] = fabsf(x[i * rows[m]->stride + k]);
        for (int64_t i = TWINS; i < N; i++)
            for (int64_t k = 0; k < D; k++)
                x[i * rows[m]->stride + k] =
                    (float)((1 + more) * (double)x[(i - TWINS) * rows[m]->stride + k]);
    }
    return items;
}

// Ties go to the lower index: as if the later of two equal items were a little less of what the
// sampler looks for, near items or far ones, which its batches show.
static void test_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, true, cases);
    const double more = 0x1p-20;
    struct hn_items equal = twins(&ctx, 0), less = twins(&ctx, -more), greater = twins(&ctx, more);
    for (int i = 0; i < n; i++) {
        struct sampled s;
        hn_test_entry(cases[i].type->name);
        if (has_no_ties(&cases[i]))
            continue;
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, cases[i].settings, &equal, SIZE, 9, &s));
        double hardness = hardness_of(&s, &equal);
        bool far = hardness < -0.05; // beyond chance
        sampled_close(&ctx, &s);
        uint64_t tied = trace(&ctx, &cases[i], &equal),
                 lower = trace(&ctx, &cases[i], far ? &greater : &less),
                 higher = trace(&ctx, &cases[i], far ? &less : &greater);
        CU_ASSERT(tied == lower);
        if (getenv("SHOW") || tied != lower)
            fprintf(stderr, "    %s %s: %.3f harder than random; ties go %s\n", cases[i].type->name,
                    cases[i].settings, hardness,
                    tied == lower    ? tied == higher ? "nowhere" : "to the lower index"
                    : tied == higher ? "to the higher index"
                                     : "their own way");
    }
    anchored_items_free(&ctx, &equal);
    anchored_items_free(&ctx, &less);
    anchored_items_free(&ctx, &greater);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"every_tie", test_ties},
    {"every_stream", test_streams},
    {"every_rounding", test_roundings},
};
HN_TEST_MAIN("every_decision", tests)
