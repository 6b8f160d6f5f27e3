// SPDX-License-Identifier: GPL-3.0-or-later
// Context (allocation), inner products, unit rows, digests, the choice of BLAS kernels.
#include "core/digest.h"
#include "core/matrix.h"
#include "core/parts.h"
#include "core/sweep/blas.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void test_memory_is_counted(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char *a = hn_alloc(&ctx, 1000, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_EQUAL((uintptr_t)a % 64, 0);
    CU_ASSERT(ctx.memory.live >= 4000);
    a = hn_resize(&ctx, a, 4000, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT(ctx.memory.peak >= 20000);
    hn_free(&ctx, a);
    hn_free(&ctx, NULL);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_EQUAL(ctx.memory.calls, 2);
}

static void test_threads_are_bounded(void) {
    char *before = getenv("OMP_NUM_THREADS"), *kept = before ? strdup(before) : NULL;
    (void)setenv("OMP_NUM_THREADS", "512", 1);
    CU_ASSERT_EQUAL(hn_usable_threads(), 512);
    (void)setenv("OMP_NUM_THREADS", "513", 1); // as if it were not set
    int usable = hn_usable_threads();
    (void)unsetenv("OMP_NUM_THREADS");
    CU_ASSERT_EQUAL(usable, hn_usable_threads());
    if (kept)
        (void)setenv("OMP_NUM_THREADS", kept, 1);
    free(kept);
}

static void test_memory_refuses(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    CU_ASSERT_PTR_NULL(hn_alloc(&ctx, INT64_MAX / 2, 8));
    CU_ASSERT_EQUAL(ctx.code, HN_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "overflows"));
    CU_ASSERT_PTR_NULL(hn_alloc(&ctx, -1, 8));
    ctx.memory.limit = 1 << 20;
    CU_ASSERT_PTR_NULL(hn_alloc(&ctx, 1 << 20, 1));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(ctx.message, "limit of 1024 KiB does not allow 1025 KiB more (0 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "--memory"));
    void *p = hn_alloc(&ctx, 1 << 19, 1);
    CU_ASSERT_PTR_NOT_NULL(p);
    ctx.memory.fail_at = ctx.memory.calls + 1;
    CU_ASSERT_PTR_NULL(hn_alloc(&ctx, 1, 1));
    hn_free(&ctx, p);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_zeroed_and_kept(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    unsigned char *z = hn_zalloc(&ctx, 333, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(z);
    int sum = 0;
    for (int i = 0; i < 333; i++)
        sum += z[i];
    CU_ASSERT_EQUAL(sum, 0);
    memset(z, 7, 333);
    z = hn_resize(&ctx, z, 100000, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(z);
    CU_ASSERT_EQUAL(z[0] + z[332], 14);
    hn_free(&ctx, z);
}

static void test_growing(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    double *number = NULL;
    int64_t capacity = 0;
    for (int64_t n = 0; n < 1000; n++) {
        HN_CHECK(&ctx, hn_grow(&ctx, &number, &capacity, n + 1, sizeof *number));
        CU_ASSERT_FATAL(number && capacity > n);
        number[n] = (double)n;
    }
    CU_ASSERT(ctx.memory.calls <= 8 && capacity < 2000);
    for (int64_t n = 0; n < 1000; n++)
        CU_ASSERT_EQUAL(number[n], (double)n);
    double *old = number;
    int64_t was = capacity;
    HN_CHECK(&ctx, hn_grow(&ctx, &number, &capacity, was, sizeof *number));
    CU_ASSERT(number == old && capacity == was);
    ctx.memory.fail_at = ctx.memory.calls + 1;
    CU_ASSERT_EQUAL(hn_grow(&ctx, &number, &capacity, was + 1, sizeof *number), HN_MEMORY);
    CU_ASSERT_EQUAL(hn_grow(&ctx, &number, &capacity, INT64_MAX, sizeof *number), HN_MEMORY);
    CU_ASSERT(number == old && capacity == was && number[999] == 999);
    HN_CHECK(&ctx, hn_grow(&ctx, &number, &capacity, 5 * was, sizeof *number));
    CU_ASSERT(capacity == 5 * was && number[999] == 999);
    hn_free(&ctx, number);
    number = NULL;
    capacity = 0;
    HN_CHECK(&ctx, hn_grow(&ctx, &number, &capacity, 0, sizeof *number)); // an array all the same
    CU_ASSERT_PTR_NOT_NULL(number);
    hn_free(&ctx, number);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_stop_flag(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    volatile sig_atomic_t stop = 0;
    CU_ASSERT_EQUAL(hn_check_stop(&ctx), HN_OK);
    ctx.stop = &stop;
    CU_ASSERT_EQUAL(hn_check_stop(&ctx), HN_OK);
    ctx.deadline = hn_wall_ns() + INT64_C(3600000000000);
    CU_ASSERT_EQUAL(hn_check_stop(&ctx), HN_OK);
    ctx.deadline = hn_wall_ns() - 1;
    CU_ASSERT_EQUAL(hn_check_stop(&ctx), HN_INTERRUPTED);
    ctx.deadline = 0;
    stop = 1;
    CU_ASSERT_EQUAL(hn_check_stop(&ctx), HN_INTERRUPTED);
}

static void test_dot_products(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 32, 33, 128, 130, 768};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t d = sizes[s];
        float *x = hn_fixture_rows(&ctx, 40, d, s);
        double worst_exact = 0, worst_float = 0;
        for (int i = 0; i < 39; i++) {
            long double naive = 0;
            for (int64_t k = 0; k < d; k++)
                naive += (long double)x[i * d + k] * (long double)x[(i + 1) * d + k];
            double exact = hn_dot_exact(x + i * d, x + (i + 1) * d, d);
            worst_exact = fmax(worst_exact, fabs(exact - (double)naive));
            float quick = hn_dot(x + i * d, x + (i + 1) * d, d);
            worst_float = fmax(worst_float, fabs((double)quick - exact));
        }
        CU_ASSERT(worst_exact < 1e-14);
        CU_ASSERT(worst_float <= hn_dot_bound(d));
        hn_free(&ctx, x);
    }
    CU_ASSERT(hn_dot_bound(128) > 130 * 0x1p-24 && hn_dot_bound(128) < 131 * 0x1p-24);
}

// The order is part of the promise: of these numbers it decides what is lost.
static void test_sum(void) {
    enum { N = 100 };
    float x[N];
    for (int j = 0; j < N; j++)
        x[j] = ldexpf(j % 3 ? 1 : -1, j * 37 % 100);
    for (int n = 0; n <= N; n++) {
        double lane[16] = {0}, total = 0;
        for (int j = 0; j < n; j++)
            lane[j % 16] += (double)x[j];
        for (int l = 0; l < 16; l++)
            total += lane[l];
        double sum = hn_sum(x, n);
        CU_ASSERT(memcmp(&sum, &total, sizeof sum) == 0);
    }
}

static void test_normalize(void) {
    struct hn_context ctx;
    for (int threads = 1; threads <= 3; threads++) {
        hn_context_init(&ctx, threads);
        float x[4 * 3] = {3, 0, 4, 1e-20F, 0, 0, 1e20F, 1e20F, 0, 0, -2, 0};
        HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, 4, 3, "x"));
        CU_ASSERT_DOUBLE_EQUAL(x[0], 0.6, 1e-7);
        CU_ASSERT_EQUAL(x[3], 1.0F);
        CU_ASSERT_DOUBLE_EQUAL(x[6], sqrt(0.5), 1e-7);
        CU_ASSERT_EQUAL(x[10], -1.0F);
        float bad[5 * 2] = {1, 0, 1, 1, 0, 1, 2, NAN, 0, 0};
        HN_CHECK_FAILS(&ctx, hn_normalize_rows(&ctx, bad, 5, 2, "emb"), HN_DATA,
                       "emb row 3 is not finite (NaN at column 1)");
        float zero[3 * 2] = {1, 0, 0, 0, INFINITY, 1};
        HN_CHECK_FAILS(&ctx, hn_normalize_rows(&ctx, zero, 3, 2, "emb"), HN_DATA,
                       "emb row 1 is all zeros");
        float infinite[2] = {1, -INFINITY};
        HN_CHECK_FAILS(&ctx, hn_normalize_rows(&ctx, infinite, 1, 2, "emb"), HN_DATA,
                       "infinity at column 1");
    }
}

// Published test value: FIPS 180-2, appendix B.1.
static void test_digest(void) {
    struct hn_digest d;
    char text[HN_DIGEST_TEXT];
    hn_digest_begin(&d);
    hn_digest_add(&d, "abc", 3);
    hn_digest_end(&d, text);
    CU_ASSERT_STRING_EQUAL(text,
                           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    char other[HN_DIGEST_TEXT];
    hn_digest_begin(&d);
    hn_digest_add_text(&d, "ab");
    hn_digest_add_text(&d, "c");
    hn_digest_end(&d, text);
    hn_digest_begin(&d);
    hn_digest_add_text(&d, "a");
    hn_digest_add_text(&d, "bc");
    hn_digest_end(&d, other);
    CU_ASSERT_STRING_NOT_EQUAL(text, other);
}

static void add_texts(struct hn_digest *d, const char *const *text) {
    for (; *text; text++)
        hn_digest_add_text(d, *text);
}

// Keys hold numbers as text, whatever the layout of memory.
static void test_digest_numbers(void) {
    const int64_t values[] = {3, INT64_MIN};
    const char *const texts[] = {"-42", "2", "3", "-9223372036854775808", "0.1", "1e-05", NULL};
    struct hn_digest d;
    char text[HN_DIGEST_TEXT], expected[HN_DIGEST_TEXT];
    hn_digest_begin(&d);
    hn_digest_add_int(&d, -42);
    hn_digest_add_ints(&d, values, 2);
    hn_digest_add_real(&d, 0.1);
    hn_digest_add_real(&d, 1e-5);
    hn_digest_end(&d, text);
    hn_digest_begin(&d);
    add_texts(&d, texts);
    hn_digest_end(&d, expected);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void test_parts_key(void) {
    const float value[] = {1, 0, 0, 1, .5f, .5f};
    const struct hn_matrix x = {.data = value, .rows = 3, .cols = 2, .stride = 2};
    const char *const head[] = {"what", "3", "2", NULL}, *const sizes[] = {"3", "2", NULL},
                      *const same[] = {"1", NULL};
    struct hn_digest d;
    char text[HN_DIGEST_TEXT], expected[HN_DIGEST_TEXT];
    hn_parts_key(&d, "what", &x, &x);
    hn_digest_end(&d, text);
    hn_digest_begin(&d);
    add_texts(&d, head);
    hn_digest_add(&d, value, sizeof value);
    add_texts(&d, sizes);
    hn_digest_add(&d, value, sizeof value);
    add_texts(&d, same);
    hn_digest_end(&d, expected);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void test_gemm(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, 20, 17, 1), *y = hn_fixture_rows(&ctx, 9, 17, 2);
    float c[20 * 11];
    for (int i = 0; i < 20 * 11; i++)
        c[i] = -7;
    hn_gemm_nt(x, 17, y, 17, 20, 9, 17, c, 11);
    double worst = 0;
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 9; j++)
            worst = fmax(worst, fabs(c[i * 11 + j] - hn_dot_exact(x + i * 17, y + j * 17, 17)));
    CU_ASSERT(worst <= hn_dot_bound(17));
    CU_ASSERT_EQUAL(c[9], -7.0F);
    hn_free(&ctx, x);
    hn_free(&ctx, y);
}

// Runs this program as if the library had taken a slow kernel, and reads which one it then runs.
static void cured(const char *environment, char *out, size_t size) {
    char self[1024], command[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CU_ASSERT_FATAL(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "env -u OPENBLAS_CORETYPE %s '%s' --cure", environment, self);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, size), 0);
}

static void test_kernel_cure(void) {
    const char *better = hn_blas_better_core("Prescott");
    if (!better)
        hn_test_skip("this processor has nothing better than the oldest kernel");
    CU_ASSERT_PTR_NULL(hn_blas_better_core(better));
    char out[256];
    cured("", out, sizeof out);
    CU_ASSERT_EQUAL(strcasecmp(out, better), 0);
    cured("OPENBLAS_CORETYPE=Nehalem", out, sizeof out);
    CU_ASSERT_EQUAL(strcasecmp(out, "Nehalem"), 0);
}

static void test_cholesky(void) {
    const double a[9] = {4, 2, -2, 2, 10, 2, -2, 2, 6}; // U has rows 2 1 -1, 3 1, 2
    double u[9], v[3] = {4, 14, 6};                     // a (1, 1, 1)
    memcpy(u, a, sizeof u);
    CU_ASSERT_FATAL(hn_cholesky(u, 3));
    CU_ASSERT(u[0] == 2 && u[3] == 1 && u[4] == 3 && u[6] == -1 && u[7] == 1 && u[8] == 2);
    hn_cholesky_solve(u, 3, v, 1);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(v[i], 1, 1e-14);
    static const struct {
        int at;
        double value;
    } bad[] = {{0, -1},  {4, 0},   {8, 1},        {0, NAN},     {3, NAN},
               {6, NAN}, {8, NAN}, {7, INFINITY}, {8, INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(u, a, sizeof u);
        u[bad[i].at] = bad[i].value;
        CU_ASSERT_FALSE(hn_cholesky(u, 3));
    }
}

// Allocations go with their owner, unless they went before.
static void test_owner(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char *one = hn_alloc(&ctx, 1, 1), *free_one = hn_alloc(&ctx, 1, 1);
    CU_ASSERT_PTR_NULL(hn_own(&ctx, one));
    char *two = hn_alloc(&ctx, 10, 1), *three = hn_zalloc(&ctx, 10, 1);
    CU_ASSERT_PTR_EQUAL(hn_own(&ctx, two), one); // an owner may have one itself
    char *inner = hn_strdup(&ctx, "inner");
    CU_ASSERT_FATAL(one && two && three && inner && free_one);
    CU_ASSERT_PTR_EQUAL(hn_own(&ctx, NULL), two);
    two[0] = 'x';
    int64_t before = ctx.memory.live;
    two = hn_resize(&ctx, two, 20, 1); // keeps what belongs to it
    CU_ASSERT_EQUAL(ctx.memory.live, before);
    three = hn_resize(&ctx, three, 5000, 1); // remains with its owner
    free_one = hn_resize(&ctx, free_one, 3000, 1);
    CU_ASSERT_FATAL(two && three && free_one);
    CU_ASSERT_PTR_NULL(hn_own(&ctx, one));
    char *four = hn_alloc(&ctx, 7, 1);
    free_one = hn_resize(&ctx, free_one, 4000, 1); // and without
    CU_ASSERT_PTR_EQUAL(hn_own(&ctx, NULL), one);
    int64_t live = ctx.memory.live;
    hn_free(&ctx, four);
    CU_ASSERT(ctx.memory.live < live);
    live = ctx.memory.live;
    ctx.memory.fail_at = ctx.memory.calls + 1;
    CU_ASSERT_PTR_NULL(hn_resize(&ctx, three, 9000, 1));
    CU_ASSERT_EQUAL(ctx.memory.live, live);
    hn_free(&ctx, one);
    CU_ASSERT(ctx.memory.live > 0 && ctx.memory.live < live);
    hn_free(&ctx, free_one);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Leaves in the middle or at the end; *kept belongs to who calls.
static enum hn_code allocate_some(struct hn_context *ctx, bool early, char **kept) {
    *kept = NULL;
    HN_SCOPE(ctx);
    char *list = NULL;
    int64_t capacity = 0;
    if (!hn_strdup(ctx, "given back") || hn_grow(ctx, &list, &capacity, 10, 1) ||
        hn_grow(ctx, &list, &capacity, 1000, 1) || early)
        return HN_DATA;
    hn_own(ctx, scope.outer);
    *kept = hn_strdup(ctx, "kept");
    return *kept ? HN_OK : ctx->code;
}

static void test_scope(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char *kept, *owner = hn_alloc(&ctx, 0, 1);
    CU_ASSERT_FATAL(owner != NULL);
    int64_t live = ctx.memory.live, outside = ctx.memory.calls;
    CU_ASSERT_EQUAL(allocate_some(&ctx, true, &kept), HN_DATA);
    CU_ASSERT_EQUAL(ctx.memory.calls, outside + 3); // a scope takes no memory itself
    CU_ASSERT_EQUAL(ctx.memory.live, live);
    CU_ASSERT_PTR_NULL(hn_own(&ctx, owner));
    CU_ASSERT_EQUAL(allocate_some(&ctx, false, &kept), HN_OK);
    CU_ASSERT_PTR_EQUAL(hn_own(&ctx, NULL), owner); // as it was before
    CU_ASSERT(kept && strcmp(kept, "kept") == 0 && ctx.memory.live > live);
    hn_free(&ctx, owner); // and `kept`
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Bytes of a file: shared until they are written, owned and counted like others.
static void test_map(void) {
    enum { BYTES = 5000 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    FILE *file = tmpfile();
    CU_ASSERT_FATAL(file != NULL);
    for (int i = 0; i < HN_MAPPED_FROM + BYTES; i++)
        CU_ASSERT(fputc(i < HN_MAPPED_FROM ? 'a' : 'b', file) != EOF);
    CU_ASSERT_EQUAL(fflush(file), 0);
    char *owner = hn_alloc(&ctx, 0, 1);
    CU_ASSERT_FATAL(owner != NULL);
    int64_t live = ctx.memory.live;
    hn_own(&ctx, owner);
    char *one = hn_map(&ctx, fileno(file), BYTES), *two = hn_map(&ctx, fileno(file), BYTES);
    CU_ASSERT_FATAL(one && two);
    CU_ASSERT(ctx.memory.live >= live + 2 * BYTES);
    one[0] = 'c';
    CU_ASSERT(one[BYTES - 1] == 'b' && two[0] == 'b' && two[BYTES - 1] == 'b');
    CU_ASSERT(fseek(file, HN_MAPPED_FROM, SEEK_SET) == 0 && fgetc(file) == 'b');
    hn_free(&ctx, one);
    ctx.memory.fail_at = ctx.memory.calls + 1;
    CU_ASSERT_PTR_NULL(hn_map(&ctx, fileno(file), BYTES));
    ctx.memory.fail_at = 0;
    CU_ASSERT_PTR_NULL(hn_map(&ctx, -1, BYTES));
    CU_ASSERT_EQUAL(ctx.code, HN_IO);
    CU_ASSERT_PTR_NULL(hn_map(&ctx, fileno(file), INT64_MAX));
    ctx.memory.limit = ctx.memory.live + BYTES / 2;
    CU_ASSERT_PTR_NULL(hn_map(&ctx, fileno(file), BYTES));
    CU_ASSERT_EQUAL(ctx.code, HN_MEMORY);
    ctx.memory.limit = 0;
    CU_ASSERT_PTR_EQUAL(hn_own(&ctx, NULL), owner);
    hn_free(&ctx, owner); // and `two`
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    (void)fclose(file);
}

// Of every shape to 19 x 19, whose squares of 8 are whole or not, within wider rows.
static void test_transpose(void) {
    enum { MAX = 19, FROM = MAX + 2, TO = MAX + 3 };
    float from[MAX * FROM], to[MAX * TO];
    for (int i = 0; i < MAX * FROM; i++)
        from[i] = (float)i;
    for (int64_t rows = 1; rows <= MAX; rows++)
        for (int64_t cols = 1; cols <= MAX; cols++) {
            int64_t wrong = 0;
            for (int i = 0; i < MAX * TO; i++)
                to[i] = -1;
            hn_transpose(from, FROM, rows, cols, to, TO);
            for (int64_t j = 0; j < MAX; j++)
                for (int64_t i = 0; i < TO; i++)
                    wrong += (int)to[j * TO + i] !=
                             (i < rows && j < cols ? (int)from[i * FROM + j] : -1);
            CU_ASSERT_EQUAL(wrong, 0);
        }
}

static const struct hn_test tests[] = {
    {"mapped files", test_map},
    {"owner", test_owner},
    {"scope", test_scope},
    {"memory is counted", test_memory_is_counted},
    {"memory refuses", test_memory_refuses},
    {"threads are bounded", test_threads_are_bounded},
    {"zeroed and kept", test_zeroed_and_kept},
    {"growing arrays", test_growing},
    {"stop flag", test_stop_flag},
    {"dot products", test_dot_products},
    {"sum in lanes", test_sum},
    {"normalize", test_normalize},
    {"transpose", test_transpose},
    {"digest", test_digest},
    {"digest_numbers", test_digest_numbers},
    {"parts_key", test_parts_key},
    {"gemm", test_gemm},
    {"cholesky", test_cholesky},
    {"kernel cure", test_kernel_cure},
};

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--cure") == 0) {
        struct hn_context ctx;
        hn_context_init(&ctx, 1);
        enum hn_code code = hn_blas_open_as(&ctx, "Prescott");
        fputs(code ? ctx.message : hn_blas_core(), stdout);
        return 0;
    }
    return hn_test_main(argc, argv, "core", tests, (int)(sizeof tests / sizeof tests[0]));
}
