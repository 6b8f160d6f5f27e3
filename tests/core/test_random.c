// SPDX-License-Identifier: GPL-3.0-or-later
// Random streams: the published vector, names, uniformity, gsl_ran_* on top.
#include "core/random.h"
#include "tests/test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Random123's kat_vectors, philox4x64 with 10 rounds: counter and key zero; all bits set.
static void test_known_answers(void) {
    static const uint64_t zero[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                     0x7e68b68aec7ba23b};
    static const uint64_t ones[4] = {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6,
                                     0xa09caebf594f0ba0};
    struct hn_stream s;
    for (int set = 0; set < 2; set++) {
        hn_stream_open(&s, 0, "any", 0, 0, 0);
        memset(s.key, set ? 0xff : 0, sizeof s.key);
        memset(s.counter, set ? 0xff : 0, sizeof s.counter);
        for (int i = 0; i < 4; i++) {
            uint64_t low = hn_stream_word(&s), high = hn_stream_word(&s);
            CU_ASSERT_EQUAL(high << 32 | low, set ? ones[i] : zero[i]);
        }
    }
}

static void test_names_make_streams(void) {
    struct hn_stream s[6];
    hn_stream_open(&s[0], 1, "a", 2, 3, 4);
    hn_stream_open(&s[1], 2, "a", 2, 3, 4);
    hn_stream_open(&s[2], 1, "b", 2, 3, 4);
    hn_stream_open(&s[3], 1, "a", 3, 3, 4);
    hn_stream_open(&s[4], 1, "a", 2, 4, 4);
    hn_stream_open(&s[5], 1, "a", 2, 3, 5);
    uint32_t word[6];
    for (int i = 0; i < 6; i++)
        word[i] = hn_stream_word(&s[i]);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(word[i], word[j]);
    struct hn_stream again;
    hn_stream_open(&again, 1, "a", 2, 3, 4);
    CU_ASSERT_EQUAL(hn_stream_word(&again), word[0]);
}

// Pearson's statistic of counts against equal expectations, within three sigma of its mean.
static void check_flat(const int64_t *count, int cells, double expected) {
    double chi = 0;
    for (int i = 0; i < cells; i++)
        chi += pow((double)count[i] - expected, 2) / expected;
    CU_ASSERT(fabs(chi - (cells - 1)) < 3 * sqrt(2.0 * (cells - 1)));
}

static void test_below_is_uniform(void) {
    // 3 * 2^30 makes rejection frequent: without it the first third would be twice as likely.
    struct hn_stream s;
    hn_stream_open(&s, 5, "below", 0, 0, 0);
    int64_t thirds[3] = {0}, small[7] = {0};
    for (int i = 0; i < 90000; i++)
        thirds[hn_stream_below(&s, 3u << 30) >> 30]++;
    for (int i = 0; i < 70000; i++)
        small[hn_stream_below(&s, 7)]++;
    check_flat(thirds, 3, 30000);
    check_flat(small, 7, 10000);
    CU_ASSERT_EQUAL(hn_stream_below(&s, 1), 0);
}

static void test_uniform_moments(void) {
    struct hn_stream s;
    hn_stream_open(&s, 6, "uniform", 0, 0, 0);
    double sum = 0, square = 0;
    enum { N = 100000 };
    for (int i = 0; i < N; i++) {
        double u = hn_stream_uniform(&s);
        CU_ASSERT_FATAL(u >= 0 && u < 1);
        sum += u;
        square += u * u;
    }
    CU_ASSERT(fabs(sum / N - 0.5) < 3 * sqrt(1.0 / 12 / N));
    CU_ASSERT(fabs(square / N - 1.0 / 3) < 3 * sqrt(4.0 / 45 / N));
}

static void test_shuffle_is_uniform(void) {
    // All 24 orders of four items.
    int64_t count[256] = {0};
    for (int i = 0; i < 24000; i++) {
        struct hn_stream s;
        hn_stream_open(&s, 7, "shuffle", 0, 0, i);
        int32_t id[4] = {0, 1, 2, 3};
        hn_stream_shuffle(&s, id, 4);
        count[id[0] << 6 | id[1] << 4 | id[2] << 2 | id[3]]++;
    }
    int64_t packed[24];
    int orders = 0;
    for (int i = 0; i < 256; i++)
        if (count[i] && orders < 24)
            packed[orders++] = count[i];
    CU_ASSERT_EQUAL(orders, 24);
    check_flat(packed, 24, 1000);
}

static void test_gsl_on_top(void) {
    struct hn_stream s, plain;
    hn_stream_open(&s, 8, "gsl", 1, 2, 3);
    plain = s;
    gsl_rng rng = hn_stream_gsl(&s);
    CU_ASSERT_EQUAL(gsl_rng_get(&rng), hn_stream_word(&plain));
    CU_ASSERT_EQUAL(gsl_rng_uniform(&rng), hn_stream_uniform(&plain));
    enum { N = 50000 };
    double sum = 0, square = 0;
    for (int i = 0; i < N; i++) {
        double g = gsl_ran_gaussian(&rng, 1);
        sum += g;
        square += g * g;
    }
    CU_ASSERT(fabs(sum / N) < 3 / sqrt(N));
    CU_ASSERT(fabs(square / N - 1) < 3 * sqrt(2.0 / N));
    gsl_rng *own = gsl_rng_alloc(hn_stream_type);
    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
    gsl_rng_set(own, 9);
    unsigned long first = gsl_rng_get(own);
    gsl_rng_set(own, 9);
    CU_ASSERT_EQUAL(gsl_rng_get(own), first);
    gsl_rng_free(own);
}

static void test_permute(void) {
    enum { N = 1000 };
    int32_t ids[N], shuffled[N];
    bool seen[N] = {false};
    struct hn_stream s;
    hn_stream_open(&s, 3, "test.permute", 1, 2, 4);
    for (int32_t i = 0; i < N; i++)
        shuffled[i] = i;
    hn_stream_shuffle(&s, shuffled, N);
    hn_permute(3, "test.permute", 1, 2, 4, ids, N);
    CU_ASSERT_EQUAL(memcmp(ids, shuffled, sizeof ids), 0);
    for (int i = 0; i < N; i++)
        seen[ids[i]] = true;
    for (int i = 0; i < N; i++)
        CU_ASSERT_TRUE(seen[i]);
}

static const struct hn_test tests[] = {
    {"permute", test_permute},
    {"known answers", test_known_answers},
    {"names make streams", test_names_make_streams},
    {"below is uniform", test_below_is_uniform},
    {"uniform moments", test_uniform_moments},
    {"shuffle is uniform", test_shuffle_is_uniform},
    {"gsl on top", test_gsl_on_top},
};
HN_TEST_MAIN("random", tests)
