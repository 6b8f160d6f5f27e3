// SPDX-License-Identifier: GPL-3.0-or-later
// The nearest of several names, against plain recursion.
#include "core/options/option.h"
#include "core/random.h"
#include "tests/test.h"

#include <string.h>

static int min(int a, int b) { return a < b ? a : b; }

// Optimal string alignment by recursion on what is left of both words.
static int naive_distance(const char *a, const char *b) {
    if (!*a || !*b)
        return (int)strlen(a) + (int)strlen(b);
    int d = naive_distance(a + 1, b + 1) + (*a != *b);
    d = min(d, min(naive_distance(a + 1, b), naive_distance(a, b + 1)) + 1);
    if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0])
        d = min(d, naive_distance(a + 2, b + 2) + 1);
    return d;
}

static void test_nearest_against_naive(void) {
    struct hn_stream s;
    hn_stream_open(&s, 3, "test.option", 0, 0, 0);
    int found = 0;
    for (int trial = 0; trial < 1500; trial++) {
        char storage[5][8] = {{0}};
        const char *names[4];
        for (int i = 0; i < 5; i++)
            for (uint32_t k = 1 + hn_stream_below(&s, 6); k-- > 0;)
                storage[i][k] = (char)('a' + hn_stream_below(&s, 3));
        const char *word = storage[4], *best = NULL;
        int length = (int)strlen(word), limit = length / 3 > 1 ? length / 3 : 1;
        for (int i = 0; i < 4; i++) {
            names[i] = storage[i];
            int d = naive_distance(word, names[i]);
            if (d <= limit && d < length) {
                best = names[i];
                limit = d - 1;
            }
        }
        for (int i = 0; i < 4 && !best; i++)
            if (length >= 3 && strlen(names[i]) >= 3 &&
                (strstr(word, names[i]) == word || strstr(names[i], word) == names[i]))
                best = names[i];
        CU_ASSERT_PTR_EQUAL(hn_suggest(word, names, 4), best);
        found += best != NULL;
    }
    CU_ASSERT(found > 300 && found < 1400);
}

static void test_nearest(void) {
    static const char *const names[] = {"batchsampler", "gcbs", "uniform", "knn", "K"};
    char endless[1000];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    CU_ASSERT_STRING_EQUAL(hn_suggest("batchsmapler", names, 5), "batchsampler");
    CU_ASSERT_STRING_EQUAL(hn_suggest("BATCHSAMPLERS", names, 5), "batchsampler");
    CU_ASSERT_STRING_EQUAL(hn_suggest("gbcs", names, 5), "gcbs");
    CU_ASSERT_STRING_EQUAL(hn_suggest("unifrom", names, 5), "uniform");
    CU_ASSERT_STRING_EQUAL(hn_suggest("k", names, 5), "K");
    CU_ASSERT_PTR_NULL(hn_suggest("q", names, 5));
    CU_ASSERT_PTR_NULL(hn_suggest("", names, 5));
    CU_ASSERT_PTR_NULL(hn_suggest("random", names, 5));
    CU_ASSERT_STRING_EQUAL(hn_suggest("batch", names, 5), "batchsampler");
    CU_ASSERT_STRING_EQUAL(hn_suggest("knn-graph", names, 5), "knn");
    CU_ASSERT_PTR_NULL(hn_suggest("un", names, 5));
    CU_ASSERT_PTR_NULL(hn_suggest(endless, names, 5));
    CU_ASSERT_PTR_NULL(hn_suggest("knn", names, 0));
    const char *const long_name[] = {endless};
    CU_ASSERT_PTR_NULL(hn_suggest("aaaaaaaaa", long_name, 1));
}

static const struct hn_test tests[] = {
    {"nearest against naive", test_nearest_against_naive},
    {"nearest", test_nearest},
};

HN_TEST_MAIN("nearest", tests)
