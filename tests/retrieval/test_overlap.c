// SPDX-License-Identifier: GPL-3.0-or-later
// Shared texts against a comparison of all pairs.
#include "core/random.h"
#include "retrieval/overlap.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct hn_context ctx;

enum { TEXTS = 40, WORDS = 6, VOCABULARY = 12, CASES = 30 };

struct side {
    int n, words[TEXTS], word[TEXTS][WORDS];
    struct hn_strings text;
};

static int below(struct hn_stream *s, int n) { return (int)hn_stream_below(s, (uint32_t)n); }

// Texts of few words, with blanks and case that do not count.
static void make_side(struct hn_stream *s, struct side *out) {
    static const char *const blank[] = {" ", "  ", "\t"};
    *out = (struct side){.n = 1 + below(s, TEXTS)};
    for (int i = 0; i < out->n; i++) {
        char text[200] = "";
        out->words[i] = below(s, WORDS + 1);
        for (int w = 0; w < out->words[i]; w++) {
            size_t at = strlen(text);
            out->word[i][w] = below(s, VOCABULARY);
            snprintf(text + at, sizeof text - at, "%s%c%d",
                     w || below(s, 2) ? blank[below(s, 3)] : "", below(s, 2) ? 'w' : 'W',
                     out->word[i][w]);
        }
        HN_CHECK(&ctx, hn_strings_add(&ctx, &out->text, text));
    }
}

static bool has(const struct side *x, int i, int word, int words) {
    for (int w = 0; w < words; w++)
        if (x->word[i][w] == word)
            return true;
    return false;
}

static int distinct(const struct side *x, int i) {
    int n = 0;
    for (int w = 0; w < x->words[i]; w++)
        n += !has(x, i, x->word[i][w], w);
    return n;
}

static double likeness(const struct side *a, int i, const struct side *b, int j) {
    int common = 0;
    for (int w = 0; w < a->words[i]; w++)
        common += !has(a, i, a->word[i][w], w) && has(b, j, a->word[i][w], b->words[j]);
    int all = distinct(a, i) + distinct(b, j) - common;
    return all ? (double)common / all : 0;
}

static bool equal(const struct side *a, int i, const struct side *b, int j) {
    bool same = a->words[i] == b->words[j] && a->words[i] > 0;
    for (int w = 0; same && w < a->words[i]; w++)
        same = a->word[i][w] == b->word[j][w];
    return same;
}

static void check_case(struct hn_stream *s) {
    static const double mins[] = {.3, .5, .75, 1};
    struct side a, b;
    struct hn_overlap got;
    HN_SCOPE(&ctx);
    double min = mins[below(s, 4)];
    int64_t found = 0, equals = 0;
    make_side(s, &a);
    make_side(s, &b);
    HN_CHECK(&ctx, hn_overlap_find(&ctx, &a.text, &b.text, min, &got));
    for (int j = 0; j < b.n; j++) {
        int best = -1;
        for (int i = 0; i < a.n; i++) {
            bool better = best < 0 || (equal(&a, i, &b, j) && !equal(&a, best, &b, j)) ||
                          (equal(&a, i, &b, j) == equal(&a, best, &b, j) &&
                           likeness(&a, i, &b, j) > likeness(&a, best, &b, j));
            if (likeness(&a, i, &b, j) >= min && better)
                best = i;
        }
        if (best < 0)
            continue;
        CU_ASSERT_FATAL(found < got.equal + got.alike);
        CU_ASSERT_EQUAL(got.shared[found].a, best);
        CU_ASSERT_EQUAL(got.shared[found].b, j);
        CU_ASSERT_EQUAL(got.shared[found].equal, equal(&a, best, &b, j));
        CU_ASSERT_EQUAL(got.shared[found].likeness, likeness(&a, best, &b, j));
        equals += equal(&a, best, &b, j);
        found++;
    }
    CU_ASSERT_EQUAL(got.equal, equals);
    CU_ASSERT_EQUAL(got.equal + got.alike, found);
}

static void test_all_pairs(void) {
    for (int k = 0; k < CASES; k++) {
        struct hn_stream s;
        hn_context_init(&ctx, 1 + k % 3);
        hn_stream_open(&s, 1, "test.overlap", 0, 0, k);
        check_case(&s);
    }
}

static const struct hn_test tests[] = {
    {"all pairs", test_all_pairs},
};
HN_TEST_MAIN("overlap", tests)
