// SPDX-License-Identifier: GPL-3.0-or-later
// Hashed bags of words and parts of words: tokens, hashes, weights, views.
#include "datasets/sts.h"
#include "tests/test.h"
#include "training/text/features.h"

#include <math.h>
#include <string.h>

static const char *const sentences[] = {"A man isn't playing", "a man", "Man: A MAN, a-man!",
                                        "\xc3\x84rger 42"};
enum { SENTENCES = 4 };
static const struct hn_text_rules rules = {.parts = true};

struct made {
    struct hn_context ctx;
    struct hn_scope scope;
    struct hn_text_features f;
    struct hn_sparse x;
};

static void open_made(struct made *m, const struct hn_text_rules *of, const int32_t *fit,
                      int64_t n_fit) {
    memset(m, 0, sizeof *m);
    hn_context_init(&m->ctx, 1);
    hn_scope_begin(&m->ctx, &m->scope);
    HN_CHECK(&m->ctx, hn_text_features_make(&m->ctx, sentences, SENTENCES, of, fit, n_fit, &m->f));
    HN_CHECK(&m->ctx, hn_sparse_open(&m->ctx, 8, HN_TEXT_BUCKETS, 8 * m->f.max, &m->x));
    m->x.rows = 0;
}

static void close_made(struct made *m) {
    hn_scope_end(&m->scope);
    CU_ASSERT_EQUAL(m->ctx.memory.live, 0);
}

static int64_t occurrences(const struct hn_text_features *f, int64_t s, int32_t bucket,
                           int32_t word) {
    int64_t n = 0;
    for (int64_t k = f->start[s]; k < f->start[s + 1]; k++)
        n += f->bucket[k] == bucket && (word < 0 || f->word[k] == word);
    return n;
}

// Published check values of TEXT's definition.
static void test_hashes(void) {
    static const int32_t parts[] = {38843, 59741, 46199, 93925, 69816, 73704};
    static const char *const of[] = {"<ma", "<man", "<man>", "man", "man>", "an>"};
    const int32_t first_part = 1 << HN_TEXT_WORD_BITS;
    struct made m;
    CU_ASSERT_EQUAL(hn_text_hash(1, "man", 3), 0xda50aae8);
    CU_ASSERT_EQUAL(hn_text_hash(3, "<ma", 3), 0xb137a68c);
    CU_ASSERT_EQUAL(hn_text_bucket(0xda50aae8, HN_TEXT_WORD_BITS), 7753);
    open_made(&m, &rules, NULL, 0);
    CU_ASSERT_EQUAL(m.f.start[1], 37);
    CU_ASSERT_EQUAL(m.f.words[0], 5);
    CU_ASSERT_EQUAL(occurrences(&m.f, 0, 7753, 1), 1);
    for (int i = 0; i < 6; i++) {
        uint32_t hash = hn_text_hash(3, of[i], (int64_t)strlen(of[i]));
        CU_ASSERT_EQUAL(first_part + hn_text_bucket(hash, HN_TEXT_PART_BITS), parts[i]);
        CU_ASSERT_EQUAL(occurrences(&m.f, 0, parts[i], 1), 1);
    }
    CU_ASSERT_EQUAL(m.f.words[2], 5);
    CU_ASSERT_EQUAL(m.f.words[3], 2);
    CU_ASSERT_EQUAL(occurrences(&m.f, 3, hn_text_bucket(hn_text_hash(1, "\xc3\x84rger", 6), 15), 0),
                    1);
    close_made(&m);
}

// Identifiers are several words, and neighbours a feature; what has no word is "?".
static void test_humps(void) {
    static const char *const code[] = {"getHTTPResponse2xx(self.max_len)", "(", "n\xc3\xa9Wx"};
    static const char *const words[] = {"get",  "http", "response", "2", "xx",
                                        "self", "max",  "len",      NULL};
    static const struct hn_text_rules humps = {.humps = true, .pairs = true, .words = 8};
    struct hn_context ctx;
    struct hn_scope scope;
    struct hn_text_features f;
    hn_context_init(&ctx, 1);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_text_features_make(&ctx, code, 3, &humps, NULL, 0, &f));
    CU_ASSERT(f.words[0] == 8 && f.words[1] == 1 && f.words[2] == 2 && f.max == 8 + 7);
    for (int32_t w = 0; words[w]; w++) {
        uint32_t hash = hn_text_hash(1, words[w], (int64_t)strlen(words[w]));
        CU_ASSERT_EQUAL(occurrences(&f, 0, hn_text_bucket(hash, HN_TEXT_WORD_BITS), w), 1);
    }
    const int32_t first_part = 1 << HN_TEXT_WORD_BITS;
    int32_t pair = hn_text_bucket(hn_text_hash(2, "max len", 7), HN_TEXT_PART_BITS);
    CU_ASSERT_EQUAL(occurrences(&f, 0, first_part + pair, 7), 1);
    CU_ASSERT_EQUAL(f.bucket[f.start[1]], hn_text_bucket(hn_text_hash(1, "?", 1), 15));
    CU_ASSERT_DOUBLE_EQUAL(f.weight[f.start[1]], 1, 1e-7);
    struct hn_text_rules few = humps;
    few.words = 2;
    HN_CHECK(&ctx, hn_text_features_make(&ctx, code, 3, &few, NULL, 0, &f));
    CU_ASSERT(f.words[0] == 2 && f.start[1] == 3);
    static char run[200];
    const char *const one = run;
    memset(run, 'a', sizeof run - 1);
    HN_CHECK(&ctx, hn_text_features_make(&ctx, &one, 1, &humps, NULL, 0, &f));
    CU_ASSERT_EQUAL(f.words[0], 4); // of 64 bytes at most
    hn_scope_end(&scope);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// By a loop: idf of a bucket over the sentences fit[3], and the weight before any length.
static double idf_of(const struct hn_text_features *f, const int32_t *fit, int32_t bucket) {
    int df = 0;
    for (int i = 0; i < 3; i++)
        df += occurrences(f, fit[i], bucket, -1) > 0;
    return 1 + log(4. / (1 + df));
}

static double raw_weight(const struct made *m, int64_t s, int32_t bucket, int tf,
                         const int32_t *fit) {
    double n = (double)occurrences(&m->f, s, bucket, -1);
    double weight[] = {[HN_TEXT_LOG] = 1 + log(n), [HN_TEXT_PLAIN] = n, [HN_TEXT_BINARY] = 1};
    return weight[tf] * (fit ? idf_of(&m->f, fit, bucket) : 1);
}

// The last row, of sentence s.
static void check_row(const struct made *m, int64_t s, const struct hn_text_rules *of,
                      const int32_t *fit) {
    double square[2] = {0, 0};
    int64_t begin = m->x.start[s], end = m->x.start[s + 1];
    for (int64_t k = begin; k < end; k++) {
        CU_ASSERT(k == begin || m->x.index[k] > m->x.index[k - 1]);
        square[m->x.index[k] >= 1 << HN_TEXT_WORD_BITS] +=
            pow(raw_weight(m, s, m->x.index[k], of->tf, fit), 2);
    }
    for (int64_t k = begin; k < end; k++) {
        double half = 2 * square[m->x.index[k] >= 1 << HN_TEXT_WORD_BITS];
        double length = sqrt(of->joint ? square[0] + square[1] : half);
        double wanted = raw_weight(m, s, m->x.index[k], of->tf, fit) / length;
        CU_ASSERT_DOUBLE_EQUAL(m->x.value[k], wanted, 1e-6);
    }
}

// Sentence 2 has "man" three times.
static void test_weights(void) {
    const int32_t fit[] = {0, 1, 3};
    struct made m;
    for (int choice = 0; choice < 12; choice++) {
        const struct hn_text_rules of = {
            .parts = true, .tf = choice % 3, .joint = choice / 3 % 2 == 1};
        const int32_t *own = choice < 6 ? fit : NULL;
        open_made(&m, &of, own, 3);
        CU_ASSERT_EQUAL(occurrences(&m.f, 2, 7753, -1), 3);
        for (int64_t s = 0; s < SENTENCES; s++) {
            hn_text_add_row(&m.f, s, NULL, 0, &m.x);
            check_row(&m, s, &of, own);
        }
        close_made(&m);
    }
}

// A view has what its words have: those that are left out take their occurrences away.
static void test_views(void) {
    const bool first[] = {true, false, false, false, false};
    const bool all[] = {false, false, false, false, false};
    const int32_t man = 7753;
    struct made m;
    open_made(&m, &rules, NULL, 0);
    hn_text_add_row(&m.f, 2, NULL, 0, &m.x);
    hn_text_add_row(&m.f, 2, first, 0, &m.x);
    hn_text_add_row(&m.f, 2, all, 0, &m.x);
    CU_ASSERT_EQUAL(m.x.rows, 3);
    int64_t n = m.x.start[1];
    CU_ASSERT_EQUAL(m.x.start[3] - m.x.start[2], n);
    CU_ASSERT_EQUAL(memcmp(m.x.value, m.x.value + m.x.start[2], (size_t)n * sizeof(hn_real)), 0);
    // No bucket is lost, as the other two "man" stay; those of "man" weigh two thirds.
    CU_ASSERT_EQUAL_FATAL(m.x.start[2] - n, n);
    for (int64_t k = 0; k < n; k++) {
        bool of_man = occurrences(&m.f, 2, m.x.index[k], 0) > 0;
        CU_ASSERT_EQUAL(m.x.index[n + k], m.x.index[k]);
        CU_ASSERT_DOUBLE_EQUAL(m.x.value[n + k], m.x.value[k] * (of_man ? 2. / 3 : 1), 1e-6);
        CU_ASSERT(m.x.index[k] != man || of_man);
    }
    close_made(&m);
}

static void test_memory(void) {
    struct hn_context ctx;
    struct hn_text_features f;
    const int32_t fit[] = {0, 1};
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    do {
        struct hn_scope scope;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        hn_scope_begin(&ctx, &scope);
        code = hn_text_features_make(&ctx, sentences, SENTENCES, &rules, fit, 2, &f);
        hn_scope_end(&scope);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    } while (code != HN_OK && points < 100);
    CU_ASSERT(points > 6 && points < 100);
}

static const struct hn_test tests[] = {
    {"hashes", test_hashes}, {"humps", test_humps},          {"weights", test_weights},
    {"views", test_views},   {"out of memory", test_memory},
};
HN_TEST_MAIN("text_features", tests)
