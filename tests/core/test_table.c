// SPDX-License-Identifier: GPL-3.0-or-later
// Tables: against a plain mirror, appending, growth, failures.
#include "core/random.h"
#include "core/table.h"
#include "tests/test.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct hn_context ctx;

static const struct hn_column sampler = {"sampler", HN_COLUMN_TEXT, "", "sampler", HN_NEITHER};
static const struct hn_column ratio = {"fn_ratio", HN_COLUMN_REAL, "1", "share", HN_SMALLER};
static const struct hn_column seed = {"seed", HN_COLUMN_INT, "1", "seed", HN_NEITHER};
static const struct hn_column cost = {"cost_s", HN_COLUMN_REAL, "s", "cost", HN_SMALLER};

static struct hn_table table_of(const char *name, int columns) {
    const struct hn_column *const all[] = {&sampler, &ratio, &seed, &cost};
    struct hn_table t;
    HN_CHECK(&ctx, hn_table_init(&ctx, &t, name));
    for (int c = 0; c < columns; c++)
        HN_CHECK(&ctx, hn_table_add_column(&ctx, &t, all[c]));
    return t;
}

static void fill(struct hn_table *t, const char *text, double real, int64_t count) {
    HN_CHECK(&ctx, hn_table_add_row(&ctx, t));
    HN_CHECK(&ctx, hn_table_set_text(&ctx, t, t->rows - 1, "sampler", text));
    HN_CHECK(&ctx, hn_table_set_real(&ctx, t, t->rows - 1, "fn_ratio", real));
    HN_CHECK(&ctx, hn_table_set_int(&ctx, t, t->rows - 1, "seed", count));
}

static void test_cells(void) {
    hn_context_init(&ctx, 1);
    struct hn_table t = table_of("runs", 3);
    HN_CHECK(&ctx, hn_table_add_row(&ctx, &t));
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 0, "sampler"), "");
    CU_ASSERT(isnan(hn_table_real(&t, 0, "fn_ratio")));
    CU_ASSERT_EQUAL(hn_table_real(&t, 0, "seed"), 0);
    fill(&t, "knn", 0.25, -3);
    HN_CHECK(&ctx, hn_table_set_text(&ctx, &t, 1, "sampler", "uniform")); // the first is freed
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 1, "sampler"), "uniform");
    CU_ASSERT_EQUAL(hn_table_real(&t, 1, "fn_ratio"), 0.25);
    CU_ASSERT_EQUAL(hn_table_real(&t, 1, "seed"), -3);
    CU_ASSERT_EQUAL(t.cells[hn_table_find(&t, "seed")].count[1], -3);
    HN_CHECK(&ctx, hn_table_set_text(&ctx, &t, 1, "sampler", ""));
    CU_ASSERT_STRING_EQUAL(t.cells[0].text[1], "");
    CU_ASSERT_STRING_EQUAL(t.column[1].units, "1");
    CU_ASSERT_STRING_EQUAL(t.column[1].long_name, "share");
    CU_ASSERT_EQUAL(t.column[1].direction, HN_SMALLER);
    CU_ASSERT(t.column[1].name != ratio.name); // owned
    hn_table_free(&ctx, &t);
    hn_table_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_readers_without_a_cell(void) {
    hn_context_init(&ctx, 1);
    struct hn_table t = table_of("runs", 3);
    fill(&t, "knn", 0.25, 7);
    CU_ASSERT_EQUAL(hn_table_find(&t, "Sampler"), -1);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 0, "nothing"), "");
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 0, "seed"), "");
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 1, "sampler"), "");
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, -1, "sampler"), "");
    CU_ASSERT(isnan(hn_table_real(&t, 0, "nothing")));
    CU_ASSERT(isnan(hn_table_real(&t, 0, "sampler")));
    CU_ASSERT(isnan(hn_table_real(&t, 1, "seed")));
    CU_ASSERT(isnan(hn_table_real(&t, -1, "seed")));
    hn_table_free(&ctx, &t);
}

static void test_errors(void) {
    hn_context_init(&ctx, 1);
    struct hn_table t = table_of("runs", 3);
    fill(&t, "knn", 0.25, 7);
    HN_CHECK_FAILS(&ctx, hn_table_set_real(&ctx, &t, 0, "fn_ration", 1), HN_INTERNAL,
                   "table 'runs' has no column 'fn_ration'");
    HN_CHECK_FAILS(&ctx, hn_table_set_real(&ctx, &t, 0, "sampler", 1), HN_INTERNAL,
                   "column 'sampler' of table 'runs' holds text, not real numbers");
    HN_CHECK_FAILS(&ctx, hn_table_set_int(&ctx, &t, 0, "fn_ratio", 1), HN_INTERNAL,
                   "holds real numbers, not counts");
    HN_CHECK_FAILS(&ctx, hn_table_set_text(&ctx, &t, 0, "seed", "1"), HN_INTERNAL,
                   "holds counts, not text");
    HN_CHECK_FAILS(&ctx, hn_table_set_int(&ctx, &t, 1, "seed", 1), HN_INTERNAL, "no row 1");
    HN_CHECK_FAILS(&ctx, hn_table_set_int(&ctx, &t, -1, "seed", 1), HN_INTERNAL, "no row -1");
    HN_CHECK_FAILS(&ctx, hn_table_add_column(&ctx, &t, &seed), HN_INTERNAL,
                   "table 'runs' has a column 'seed' already");
    CU_ASSERT_EQUAL(t.n_columns, 3);
    hn_table_free(&ctx, &t);
}

static void test_column_after_rows(void) {
    hn_context_init(&ctx, 1);
    struct hn_table t = table_of("runs", 1);
    for (int i = 0; i < 20; i++)
        HN_CHECK(&ctx, hn_table_add_row(&ctx, &t));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &t, &ratio));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &t, &seed));
    const struct hn_column plain = {.name = "note", .kind = HN_COLUMN_TEXT};
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &t, &plain));
    CU_ASSERT_STRING_EQUAL(t.column[3].units, "");
    for (int i = 0; i < 20; i++) {
        CU_ASSERT(isnan(hn_table_real(&t, i, "fn_ratio")));
        CU_ASSERT_EQUAL(hn_table_real(&t, i, "seed"), 0);
        CU_ASSERT_STRING_EQUAL(t.cells[3].text[i], "");
    }
    hn_table_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_append(void) {
    hn_context_init(&ctx, 1);
    struct hn_table a = table_of("runs", 3), b = table_of("shard", 0);
    // Other columns in another order.
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &b, &cost));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &b, &seed));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &b, &sampler));
    fill(&a, "knn", 0.25, 7);
    HN_CHECK(&ctx, hn_table_add_row(&ctx, &b));
    HN_CHECK(&ctx, hn_table_set_text(&ctx, &b, 0, "sampler", "gcbs"));
    HN_CHECK(&ctx, hn_table_set_real(&ctx, &b, 0, "cost_s", 2.5));
    HN_CHECK(&ctx, hn_table_set_int(&ctx, &b, 0, "seed", 9));
    HN_CHECK(&ctx, hn_table_append(&ctx, &a, &b));
    hn_table_free(&ctx, &b); // a owns copies
    CU_ASSERT_EQUAL(a.rows, 2);
    CU_ASSERT_EQUAL_FATAL(a.n_columns, 4);
    CU_ASSERT_STRING_EQUAL(a.column[3].name, "cost_s");
    CU_ASSERT_STRING_EQUAL(a.column[3].units, "s");
    CU_ASSERT_STRING_EQUAL(hn_table_text(&a, 0, "sampler"), "knn");
    CU_ASSERT_STRING_EQUAL(hn_table_text(&a, 1, "sampler"), "gcbs");
    CU_ASSERT(isnan(hn_table_real(&a, 0, "cost_s")));
    CU_ASSERT_EQUAL(hn_table_real(&a, 1, "cost_s"), 2.5);
    CU_ASSERT(isnan(hn_table_real(&a, 1, "fn_ratio")));
    CU_ASSERT_EQUAL(hn_table_real(&a, 1, "seed"), 9);
    HN_CHECK(&ctx, hn_table_append(&ctx, &a, &a)); // itself
    CU_ASSERT_EQUAL(a.rows, 4);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&a, 3, "sampler"), "gcbs");
    CU_ASSERT_EQUAL(hn_table_real(&a, 2, "fn_ratio"), 0.25);
    hn_table_free(&ctx, &a);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_append_of_another_kind(void) {
    hn_context_init(&ctx, 1);
    struct hn_table a = table_of("runs", 3), b = table_of("shard", 1);
    const struct hn_column text_seed = {"seed", HN_COLUMN_TEXT, "", "seed", HN_NEITHER};
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &b, &cost));
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &b, &text_seed));
    HN_CHECK(&ctx, hn_table_add_row(&ctx, &b));
    HN_CHECK_FAILS(&ctx, hn_table_append(&ctx, &a, &b), HN_DATA,
                   "column 'seed' of table 'shard' holds counts in one file and text in another");
    CU_ASSERT_EQUAL(a.rows, 0);
    CU_ASSERT_EQUAL(a.n_columns, 3); // cost_s was not added either
    hn_table_free(&ctx, &a);
    hn_table_free(&ctx, &b);
}

static void test_whole_numbers(void) {
    CU_ASSERT_EQUAL(hn_whole(400, -1), 400);
    CU_ASSERT_EQUAL(hn_whole(-2.5, 7), -2);
    CU_ASSERT_EQUAL(hn_whole(9007199254740992, 0), 0);
    CU_ASSERT_EQUAL(hn_whole(NAN, -1), -1);
    CU_ASSERT_EQUAL(hn_whole(INFINITY, 5), 5);
    CU_ASSERT_EQUAL(hn_whole(-1e308, 5), 5);
}

// Random rows and appends against arrays.
static void test_against_mirror(void) {
    enum { MAX = 3000 };
    static char text[MAX][8];
    static double real[MAX];
    static int64_t count[MAX];
    int64_t rows = 0;
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 1, "test.table", 0, 0, 0);
    struct hn_table t = table_of("runs", 4);
    while (rows < MAX - 10) {
        struct hn_table part = table_of("part", 3);
        for (uint32_t k = hn_stream_below(&s, 10); k-- > 0; rows++) {
            uint32_t word = hn_stream_word(&s);
            snprintf(text[rows], sizeof text[rows], "%.*s", (int)(word % 5), "abcde");
            real[rows] = hn_stream_uniform(&s);
            count[rows] = word;
            fill(word % 64 < 32 && part.rows == 0 ? &t : &part, text[rows], real[rows],
                 count[rows]);
        }
        HN_CHECK(&ctx, hn_table_append(&ctx, &t, &part));
        hn_table_free(&ctx, &part);
    }
    CU_ASSERT_EQUAL_FATAL(t.rows, rows);
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; r++)
        wrong += strcmp(hn_table_text(&t, r, "sampler"), text[r]) != 0 ||
                 hn_table_real(&t, r, "fn_ratio") != real[r] || t.cells[2].count[r] != count[r] ||
                 !isnan(t.cells[3].real[r]);
    CU_ASSERT_EQUAL(wrong, 0);
    hn_table_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// 2^16 appended rows: capacity doubles, so every column is moved about 16 times.
static void test_growth_is_linear(void) {
    enum { ROWS = 1 << 16 };
    hn_context_init(&ctx, 1);
    struct hn_table t = table_of("runs", 4), one = table_of("one", 4);
    HN_CHECK(&ctx, hn_table_add_row(&ctx, &one));
    int64_t calls = ctx.memory.calls;
    for (int i = 0; i < ROWS / 2; i++) {
        HN_CHECK(&ctx, hn_table_add_row(&ctx, &t));
        HN_CHECK(&ctx, hn_table_append(&ctx, &t, &one));
    }
    CU_ASSERT(ctx.memory.calls - calls <= 4 * 16);
    CU_ASSERT(t.capacity <= 2 * ROWS);
    hn_table_free(&ctx, &t);
    hn_table_free(&ctx, &one);
}

static enum hn_code build(struct hn_table *t, const struct hn_table *more) {
    enum hn_code code = hn_table_init(&ctx, t, "runs");
    if (code == HN_OK)
        code = hn_table_add_column(&ctx, t, &sampler);
    for (int i = 0; i < 10 && code == HN_OK; i++)
        code = hn_table_add_row(&ctx, t);
    if (code == HN_OK)
        code = hn_table_add_column(&ctx, t, &ratio);
    if (code == HN_OK)
        code = hn_table_set_text(&ctx, t, 9, "sampler", "knn");
    if (code == HN_OK)
        code = hn_table_append(&ctx, t, more);
    return code;
}

static void test_out_of_memory(void) {
    hn_context_init(&ctx, 1);
    struct hn_table more = table_of("more", 4);
    for (int i = 0; i < 12; i++)
        fill(&more, "uniform", i, i);
    int64_t live = ctx.memory.live;
    bool done = false;
    for (int64_t k = 1; !done; k++) {
        struct hn_table t;
        ctx.memory.fail_at = ctx.memory.calls + k;
        enum hn_code code = build(&t, &more);
        done = code == HN_OK;
        CU_ASSERT(done || code == HN_MEMORY);
        CU_ASSERT(done ? t.rows == 22 && t.n_columns == 4 : t.rows <= 10 && t.n_columns <= 2);
        hn_table_free(&ctx, &t);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
        CU_ASSERT_FATAL(k < 200);
    }
    hn_table_free(&ctx, &more);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"cells", test_cells},
    {"readers without a cell", test_readers_without_a_cell},
    {"errors", test_errors},
    {"column after rows", test_column_after_rows},
    {"append", test_append},
    {"whole_numbers", test_whole_numbers},
    {"append of another kind", test_append_of_another_kind},
    {"against mirror", test_against_mirror},
    {"growth is linear", test_growth_is_linear},
    {"out of memory", test_out_of_memory},
};

HN_TEST_MAIN("table", tests)
