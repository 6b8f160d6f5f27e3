// SPDX-License-Identifier: GPL-3.0-or-later
// What every output format of a comparison has to keep: a loop over the registry.
#include "results/compare.h"
#include "tests/measured_results.h"
#include "tests/test.h"

#include <string.h>

enum { ROWS = 8, SIZE = 1 << 16 };

// Results held against others: equal, slower in one cell, of other cells.
struct held {
    struct hn_results base, now;
    struct hn_comparison c;
    void *memory; // of it
};

static void hold(struct hn_context *ctx, enum hn_compare_end end, struct held *h) {
    bool slower = end == HN_COMPARE_FAIL;
    struct hn_compare_options options = {0};
    h->base = measured_results(ctx, 0, ROWS, 1, -1, 1);
    h->now = measured_results(ctx, end == HN_COMPARE_NOTHING ? ROWS : 0, ROWS, 2, slower ? 4 : -1,
                              slower ? 1.5 : 1);
    if (slower)
        h->now.runs.cells[hn_table_find(&h->now.runs, "gap")].real[2] += 1;
    h->memory = hn_alloc(ctx, 0, 1);
    void *outer = hn_own(ctx, h->memory);
    HN_CHECK(ctx, hn_compare(ctx, &h->base, 1, &h->now, 1, &options, &h->c));
    hn_own(ctx, outer);
    CU_ASSERT_EQUAL(h->c.end, end);
}

static void let_go(struct hn_context *ctx, struct held *h) {
    hn_free(ctx, h->memory);
    hn_results_free(ctx, &h->base);
    hn_results_free(ctx, &h->now);
    CU_ASSERT_EQUAL(ctx->memory.live, 0);
}

// What a format writes: text[SIZE], ended by a zero.
static enum hn_code written(struct hn_context *ctx, const struct hn_compare_format *format,
                            const struct hn_comparison *c, char *text) {
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    enum hn_code code = format->print(ctx, c, out);
    rewind(out);
    text[fread(text, 1, SIZE - 1, out)] = '\0';
    fclose(out);
    return code;
}

static void test_entry(void) {
    int formats = 0;
    for (const struct hn_compare_format *const *f = hn_compare_formats; *f; f++, formats++) {
        hn_test_entry((*f)->name);
        CU_ASSERT((*f)->print != NULL);
        for (const struct hn_compare_format *const *other = hn_compare_formats; other < f; other++)
            CU_ASSERT(strcmp((*f)->name, (*other)->name) != 0);
    }
    CU_ASSERT(formats >= 4);
}

// The same text each time, other text for another end; a column that failed is named.
static void test_says(void) {
    static char text[3][SIZE], again[SIZE];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (const struct hn_compare_format *const *f = hn_compare_formats; *f; f++) {
        hn_test_entry((*f)->name);
        for (int end = HN_COMPARE_PASS; end <= HN_COMPARE_NOTHING; end++) {
            struct held h;
            hold(&ctx, (enum hn_compare_end)end, &h);
            HN_CHECK(&ctx, written(&ctx, *f, &h.c, text[end]));
            HN_CHECK(&ctx, written(&ctx, *f, &h.c, again));
            CU_ASSERT_STRING_EQUAL(text[end], again);
            size_t length = strlen(text[end]);
            CU_ASSERT(length > 0 && length < SIZE - 1 && text[end][length - 1] == '\n');
            let_go(&ctx, &h);
        }
        CU_ASSERT_STRING_NOT_EQUAL(text[HN_COMPARE_PASS], text[HN_COMPARE_FAIL]);
        CU_ASSERT_STRING_NOT_EQUAL(text[HN_COMPARE_PASS], text[HN_COMPARE_NOTHING]);
        CU_ASSERT_PTR_NOT_NULL(strstr(text[HN_COMPARE_FAIL], "gap"));
    }
}

// What a file holds cannot steer a terminal.
static void test_hostile(void) {
    static char text[SIZE];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct held h;
    hold(&ctx, HN_COMPARE_FAIL, &h);
    for (int64_t r = 0; r < ROWS; r++)
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &h.base.runs, r, "dataset", "e\033[31m\"<&>|\r.h5"));
    for (const struct hn_compare_format *const *f = hn_compare_formats; *f; f++) {
        hn_test_entry((*f)->name);
        HN_CHECK(&ctx, written(&ctx, *f, &h.c, text));
        for (const char *s = text; *s; s++)
            CU_ASSERT((unsigned char)*s >= ' ' || *s == '\n' || *s == '\t');
    }
    let_go(&ctx, &h);
}

static void test_memory(void) {
    static char text[SIZE];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct held h;
    hold(&ctx, HN_COMPARE_FAIL, &h);
    int64_t live = ctx.memory.live;
    for (const struct hn_compare_format *const *f = hn_compare_formats; *f; f++) {
        hn_test_entry((*f)->name);
        enum hn_code code = HN_MEMORY;
        for (int64_t k = 1; code == HN_MEMORY && k < 1000; k++) {
            ctx.memory.fail_at = ctx.memory.calls + k;
            code = written(&ctx, *f, &h.c, text);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
        ctx.memory.fail_at = 0;
        CU_ASSERT_EQUAL(code, HN_OK);
    }
    let_go(&ctx, &h);
}

// A disk that is full shows in the stream.
static void test_full(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct held h;
    hold(&ctx, HN_COMPARE_PASS, &h);
    for (const struct hn_compare_format *const *f = hn_compare_formats; *f; f++) {
        hn_test_entry((*f)->name);
        FILE *out = fopen("/dev/full", "w");
        if (!out)
            hn_test_skip("there is no /dev/full");
        setvbuf(out, NULL, _IONBF, 0);
        HN_CHECK(&ctx, (*f)->print(&ctx, &h.c, out));
        CU_ASSERT(ferror(out));
        fclose(out);
    }
    let_go(&ctx, &h);
}

static const struct hn_test tests[] = {
    {"every format, its entry", test_entry},
    {"every format, what it says", test_says},
    {"every format, control characters", test_hostile},
    {"every format, out of memory", test_memory},
    {"every format, a full disk", test_full},
};
HN_TEST_MAIN("every_format", tests)
