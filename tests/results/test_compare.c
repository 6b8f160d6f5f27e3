// SPDX-License-Identifier: GPL-3.0-or-later
// Gates and the comparison of results in memory: the grammar, which way is worse, every kind of
// difference, times, merging, and allocation that fails.
#include "harness/run/item.h"
#include "harness/run/runner.h"
#include "metrics/studies/study.h"
#include "results/compare.h"
#include "results/merge.h"
#include "results/slowdown.h"
#include "tests/measured_results.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;

static struct hn_gate parsed(const char *text) {
    struct hn_gate gate;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_gate_parse(&ctx, text, &gate));
    return gate;
}

static void test_grammar(void) {
    struct hn_gate g = parsed("n_dot:0%");
    CU_ASSERT_STRING_EQUAL(g.metric, "n_dot");
    CU_ASSERT(g.percent && g.side == HN_GATE_WORSE && !(g.limit > 0));
    g = parsed("fn_ratio:+0.002");
    CU_ASSERT(!g.percent && g.side == HN_GATE_RISE);
    CU_ASSERT_DOUBLE_EQUAL(g.limit, 0.002, 1e-15);
    g = parsed("cos_mean:-1e-3");
    CU_ASSERT(g.side == HN_GATE_FALL);
    g = parsed("gap:=.5%");
    CU_ASSERT(g.percent && g.side == HN_GATE_BOTH);
    CU_ASSERT_DOUBLE_EQUAL(g.limit, 0.005, 1e-15);
    const char *const wrong[] = {"",      "n_dot",      ":5%",         "n_dot:",    "n_dot:%",
                                 "n:+",   "n_dot:5 %",  "n_dot:5%%",   "n_dot:nan", "n_dot:inf",
                                 "n:+-1", "n_dot:0x1p", "n_dot:1e999", "n_dot: 5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        HN_CHECK_FAILS(&ctx, hn_gate_parse(&ctx, wrong[i], &g), HN_USAGE, "METRIC:LIMIT");
    char text[200];
    memset(text, 'x', sizeof text);
    memcpy(text + 190, ":5%", 4);
    HN_CHECK_FAILS(&ctx, hn_gate_parse(&ctx, text, &g), HN_USAGE, "--gate xxx");
    HN_CHECK_FAILS(&ctx, hn_gate_parse(&ctx, text, &g), HN_USAGE, "xxx...: "); // cut, and said so
}

static void test_worse(void) {
    CU_ASSERT(hn_gate_worse(HN_GATE_WORSE, HN_SMALLER, 1, 3) > 1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_WORSE, HN_SMALLER, 3, 1) < -1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_WORSE, HN_LARGER, 3, 1) > 1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_WORSE, HN_NEITHER, 3, 1) > 1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_WORSE, HN_NEITHER, 1, 3) > 1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_RISE, HN_NEITHER, 3, 1) < -1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_FALL, HN_NEITHER, 3, 1) > 1.9);
    CU_ASSERT(hn_gate_worse(HN_GATE_BOTH, HN_SMALLER, 3, 1) > 1.9);
}

// --- comparisons of made-up results ---

enum { ROWS = 12 };

static struct hn_results made(int first, int rows, uint64_t seed, int slow, double factor) {
    return measured_results(&ctx, first, rows, seed, slow, factor);
}

static struct hn_comparison compared(const struct hn_results *a, const struct hn_results *b,
                                     const char *text) {
    struct hn_gate gate;
    struct hn_compare_options options = {.gate = &gate, .n_gates = text ? 1 : 0};
    struct hn_comparison c;
    if (text)
        HN_CHECK(&ctx, hn_gate_parse(&ctx, text, &gate));
    HN_CHECK(&ctx, hn_compare(&ctx, a, 1, b, 1, &options, &c));
    return c;
}

static enum hn_compare_end ends(const struct hn_results *a, const struct hn_results *b,
                                const char *text) {
    HN_SCOPE(&ctx);
    return compared(a, b, text).end;
}

static void test_samples(void) {
    hn_context_init(&ctx, 1);
    struct hn_results r = made(0, 4, 1, -1, 1);
    struct hn_time_samples s;
    HN_CHECK(&ctx,
             hn_time_samples(&ctx, &r, HN_TIME_BUILD, HN_CLOCK_WALL, HN_TIME_REPETITIONS, &s));
    for (int i = 0; i < 4; i++) // the cold build is left out; odd rows have no cost
        CU_ASSERT_EQUAL(s.start[i + 1] - s.start[i], i % 2 ? 0 : REPETITIONS);
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.value);
    HN_CHECK(&ctx,
             hn_time_samples(&ctx, &r, HN_TIME_BATCH, HN_CLOCK_WALL, HN_TIME_REPETITIONS, &s));
    CU_ASSERT_EQUAL(s.start[4], 4 * REPETITIONS);
    for (int64_t i = 0; i < s.start[4]; i++)
        CU_ASSERT_DOUBLE_EQUAL(s.value[i], 1e-3 + 1e-8, 0.03e-3);
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.value);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_ends(void) {
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 2, -1, 1);
    struct hn_results slow = made(0, ROWS, 3, 4, 1.2), part = made(0, ROWS - 2, 2, -1, 1);
    struct hn_results other = made(ROWS, ROWS, 1, -1, 1);
    CU_ASSERT_EQUAL(ends(&a, &a, NULL), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &slow, NULL), HN_COMPARE_FAIL);
    CU_ASSERT_EQUAL(ends(&slow, &a, NULL), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &slow, "n_dot:0%"), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &slow, "cost_g:5%"), HN_COMPARE_FAIL);
    CU_ASSERT_EQUAL(ends(&a, &slow, "cost_g:25%"), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &part, NULL), HN_COMPARE_FAIL); // cells are missing
    CU_ASSERT_EQUAL(ends(&part, &a, NULL), HN_COMPARE_PASS); // cells came
    CU_ASSERT_EQUAL(ends(&a, &other, NULL), HN_COMPARE_NOTHING);
    struct hn_comparison c;
    {
        HN_SCOPE(&ctx);
        c = compared(&a, &slow, NULL);
        CU_ASSERT_EQUAL(c.times_tested, ROWS + ROWS / 2);
        CU_ASSERT_EQUAL(c.times_failed, 2); // cost_s and cost_g of one cell
        for (int64_t i = 0; i < c.n_times; i++)
            CU_ASSERT_EQUAL(c.time[i].verdict.slower, c.time[i].base_row == 4);
    }
    fixture_must(hn_results_set_env(&ctx, &slow, "threads", "1"));
    CU_ASSERT_EQUAL(ends(&a, &slow, NULL), HN_COMPARE_PASS); // times are not gated then
    CU_ASSERT_EQUAL(ends(&a, &slow, "cost_g:5%"), HN_COMPARE_NOTHING);
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    hn_results_free(&ctx, &slow);
    hn_results_free(&ctx, &part);
    hn_results_free(&ctx, &other);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Each kind of value, changed by itself, is found where it stands and nowhere else.
static void test_differences(void) {
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 1, -1, 1);
    int fn = hn_table_find(&b.runs, "fn_ratio"), dot = hn_table_find(&b.runs, "n_dot");
    double *ratio = &b.runs.cells[fn].real[3], was = *ratio;
    *ratio = was * (1 + 4e-7);
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_PASS);
    *ratio = was + 0.003;
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_FAIL);
    CU_ASSERT_EQUAL(ends(&a, &b, "fn_ratio:+0.0031"), HN_COMPARE_PASS);
    CU_ASSERT_EQUAL(ends(&a, &b, "fn_ratio:+0.0029"), HN_COMPARE_FAIL);
    CU_ASSERT_EQUAL(ends(&b, &a, "fn_ratio:+0"), HN_COMPARE_PASS); // got better
    *ratio = NAN;
    CU_ASSERT_EQUAL(ends(&a, &b, "fn_ratio:+1"), HN_COMPARE_FAIL); // lost
    *ratio = was;
    b.runs.cells[dot].count[2]++; // one of 2^53 + 3: a double cannot tell
    struct hn_comparison c;
    {
        HN_SCOPE(&ctx);
        c = compared(&a, &b, NULL);
        CU_ASSERT_EQUAL(c.failed, 1);
        CU_ASSERT(c.n_changes == 1 && c.change[0].base_row == 2);
        CU_ASSERT_STRING_EQUAL(c.line[c.change[0].line].name, "n_dot");
    }
    b.runs.cells[dot].count[2]--;
    b.histogram[5 * 4 * FIXTURE_BINS + 7]++;
    CU_ASSERT_EQUAL(ends(&a, &b, "counters:0"), HN_COMPARE_FAIL);
    b.histogram[5 * 4 * FIXTURE_BINS + 7]--;
    b.batch_cos_mean[4] += 1e-3;
    CU_ASSERT_EQUAL(ends(&a, &b, "quality:=0"), HN_COMPARE_FAIL);
    CU_ASSERT_EQUAL(ends(&a, &b, "n_dot:0"), HN_COMPARE_PASS);
    struct hn_gate gate = parsed("fn_rato:0");
    struct hn_compare_options options = {.gate = &gate, .n_gates = 1};
    {
        HN_SCOPE(&ctx);
        HN_CHECK_FAILS(&ctx, hn_compare(&ctx, &a, 1, &b, 1, &options, &c), HN_USAGE, "fn_ratio");
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
}

// An infinity is no rounding of a number, nor of the other infinity.
static void test_infinities(void) {
    static const double value[] = {0.25, INFINITY, -INFINITY};
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 1, -1, 1);
    int fn = hn_table_find(&b.runs, "fn_ratio"); // smaller is better
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            a.runs.cells[fn].real[3] = value[i];
            b.runs.cells[fn].real[3] = value[k];
            CU_ASSERT_EQUAL(ends(&a, &b, NULL), i == k ? HN_COMPARE_PASS : HN_COMPARE_FAIL);
            bool rises = value[k] > value[i];
            CU_ASSERT_EQUAL(ends(&a, &b, "fn_ratio:+1e300"),
                            rises ? HN_COMPARE_FAIL : HN_COMPARE_PASS);
            CU_ASSERT_EQUAL(ends(&a, &b, "fn_ratio:+50%"),
                            rises ? HN_COMPARE_FAIL : HN_COMPARE_PASS);
        }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Of a comparison as a format prints it.
static void expect_in(const struct hn_compare_format *format, const struct hn_results *a,
                      const struct hn_results *b, const char *gate, const char *part) {
    char *text;
    size_t size;
    struct hn_gate held; // what is compared points to it
    struct hn_compare_options options = {.gate = &held, .n_gates = gate ? 1 : 0};
    struct hn_comparison c;
    HN_SCOPE(&ctx);
    if (gate)
        HN_CHECK(&ctx, hn_gate_parse(&ctx, gate, &held));
    HN_CHECK(&ctx, hn_compare(&ctx, a, 1, b, 1, &options, &c));
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx, format->print(&ctx, &c, out));
    CU_ASSERT_EQUAL(fclose(out), 0);
    if (!strstr(text, part))
        fprintf(stderr, "    no \"%s\" in:\n%s", part, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    free(text);
}

static void expect_said(const struct hn_results *a, const struct hn_results *b, const char *gate,
                        const char *part) {
    expect_in(&hn_compare_text, a, b, gate, part);
}

// What each change of a cell, of the machine or of the file makes a format say.
static void set(struct hn_results *r, const char *column, int64_t row, double value) {
    fixture_must(hn_table_set_real(&ctx, &r->runs, row, column, value));
}
static void env(struct hn_results *r, const char *name, const char *value) {
    fixture_must(hn_results_set_env(&ctx, r, name, value));
}
static void none(struct hn_results *a, struct hn_results *b) {
    (void)a;
    (void)b;
}
static void batch(struct hn_results *a, struct hn_results *b) {
    (void)a;
    b->batch_cos_mean[4] += 1e-3;
}
static void mixed_machines(struct hn_results *a, struct hn_results *b) {
    env(a, "machine_class", "mixed: x, y");
    (void)b;
}
static void mixed_now(struct hn_results *a, struct hn_results *b) {
    env(b, "machine_class", "mixed: x, y");
    (void)a;
}
static void no_machine(struct hn_results *a, struct hn_results *b) {
    env(b, "machine_class", "");
    (void)a;
}
static void nor_machine(struct hn_results *a, struct hn_results *b) {
    env(a, "machine_class", "");
    (void)b;
}
static void no_samples(struct hn_results *a, struct hn_results *b) {
    (void)a;
    b->timing.rows = 0;
}
static void nor_samples(struct hn_results *a, struct hn_results *b) {
    (void)b;
    a->timing.rows = 0;
}
static void unnumbered(struct hn_results *a, struct hn_results *b) {
    env(a, "results_version", "3");
    env(a, "git_commit", "unknown");
    env(b, "git_commit", "0123456789abcdef");
    env(b, "git_dirty", "1");
}
static void unnumbered_base(struct hn_results *a, struct hn_results *b) {
    env(b, "results_version", "3");
    set(b, "fn_ratio", 3, 0.9);
    (void)a;
}
static void share(struct hn_results *a, struct hn_results *b) {
    // The third changes by the greatest share, and is within the gate; the second failed.
    set(a, "fn_ratio", 1, 1);
    set(b, "fn_ratio", 1, 1.75);
    set(a, "fn_ratio", 2, 0.0625);
    set(b, "fn_ratio", 2, 0.25);
}
static void was_none(struct hn_results *a, struct hn_results *b) {
    set(a, "fn_ratio", 1, 0);
    set(b, "fn_ratio", 1, 0.25);
}
static void strange_names(struct hn_results *a, struct hn_results *b) {
    static const char name[] = "a<\x7f\n\xc3\xa9&\".h5";
    fixture_must(hn_table_set_text(&ctx, &a->runs, 1, "dataset", name));
    fixture_must(hn_table_set_text(&ctx, &b->runs, 1, "dataset", name));
    was_none(a, b);
}
static void endless(struct hn_results *a, struct hn_results *b) {
    set(a, "gap", 1, INFINITY);
    set(b, "gap", 1, 1);
    set(b, "fn_ratio", 1, NAN);
}
static void failed_cell(struct hn_results *a, struct hn_results *b) {
    fixture_must(hn_table_set_text(&ctx, &b->runs, 2, "status", "failed"));
    (void)a;
}
static void far_counts(struct hn_results *a, struct hn_results *b) {
    fixture_must(hn_table_set_int(&ctx, &a->runs, 0, "n_dot", INT64_MAX));
    fixture_must(hn_table_set_int(&ctx, &b->runs, 0, "n_dot", -INT64_MAX));
}
static void other_kind(struct hn_results *a, struct hn_results *b) {
    (void)a;
    int c = hn_table_find(&b->runs, "n_dot");
    b->runs.column[c].kind = HN_COLUMN_REAL; // the bytes of the counts are tiny numbers
}

static void test_said(void) {
    static const struct {
        void (*change)(struct hn_results *a, struct hn_results *b);
        const char *gate;
        const struct hn_compare_format *format;
        const char *part;
    } said[] = {
        {batch, "quality:=0", &hn_compare_text, "seed 2 batch 1\n"},
        {batch, "quality:=0", &hn_compare_json, "\"failed\": true"},
        {mixed_machines, NULL, &hn_compare_text, "a file holds times of several kinds of machine"},
        {mixed_now, NULL, &hn_compare_text, "a file holds times of several kinds of machine"},
        {no_machine, NULL, &hn_compare_text, "a file does not say which machine it is from"},
        {nor_machine, NULL, &hn_compare_text, "a file does not say which machine it is from"},
        {no_machine, "cost_s:5%", &hn_compare_text,
         "no value to hold; times: a file does not say which machine it is from"},
        {no_machine, NULL, &hn_compare_markdown,
         "Times are not gated: a file does not say which machine it is from."},
        {no_samples, "cost_s:5%", &hn_compare_text, "gate cost_s:5% held nothing\n"},
        {nor_samples, "cost_s:5%", &hn_compare_text, "gate cost_s:5% held nothing\n"},
        {no_samples, NULL, &hn_compare_markdown, "without a difference.\n"},
        {unnumbered, NULL, &hn_compare_text,
         "NEW is from before files said their results version, BASE of version 3."},
        {unnumbered, NULL, &hn_compare_markdown, ", commit 0123456789ab with changes"},
        {unnumbered, NULL, &hn_compare_text,
         "None of these changes shows in what is compared here."},
        {unnumbered_base, NULL, &hn_compare_text,
         "BASE is from before files said their results version, NEW of version 3."},
        {unnumbered_base, NULL, &hn_compare_text, "Differences may be these changes"},
        {share, "fn_ratio:+0.5", &hn_compare_text, "+75 %"},
        {share, "fn_ratio:+2", &hn_compare_text, "+300 %"},
        {was_none, "fn_ratio:+0.1", &hn_compare_text, "+0.25 "},
        {endless, "fn_ratio:+0.1", &hn_compare_text, "no value"},
        {endless, NULL, &hn_compare_text, "gap"},
        {endless, "fn_ratio:+0.1", &hn_compare_markdown, "no value"},
        {endless, "fn_ratio:+0.1", &hn_compare_json, "\"new\": null"},
        {endless, "fn_ratio:=9", &hn_compare_bmf, "\"fn_ratio\""},
        {none, "gap:9", &hn_compare_benchmark, "\"unit\": \"nat\""},
        {none, NULL, &hn_compare_benchmark, "\"range\": \""},
        {strange_names, "fn_ratio:+0.1", &hn_compare_junit, "a&#60;"},
        {strange_names, "fn_ratio:+0.1", &hn_compare_junit, "&#38;&#34;.h5"},
        {failed_cell, NULL, &hn_compare_text, "status"},
        {failed_cell, NULL, &hn_compare_json, "\"status\""},
        {far_counts, "n_dot:0%", &hn_compare_text, "PASS"},
        {far_counts, "n_dot:=0%", &hn_compare_text, "FAIL: n_dot in 1 of"},
        {other_kind, "n_dot:=0%", &hn_compare_text, "FAIL: n_dot in 12 of 12"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        hn_context_init(&ctx, 1);
        struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 1, -1, 1);
        const int64_t rows[] = {a.timing.rows, b.timing.rows};
        const enum hn_column_kind kind = b.runs.column[hn_table_find(&b.runs, "n_dot")].kind;
        said[i].change(&a, &b);
        expect_in(said[i].format, &a, &b, said[i].gate, said[i].part);
        a.timing.rows = rows[0];
        b.timing.rows = rows[1];
        b.runs.column[hn_table_find(&b.runs, "n_dot")].kind = kind;
        hn_results_free(&ctx, &a);
        hn_results_free(&ctx, &b);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// Gates that hold what is no measurement, forbid getting better, or are of no column.
static void test_wrong_gates(void) {
    static const char *const wrong[][2] = {
        {"sampler:0", "sampler names what was run and is not a measurement"},
        {"remark:0", "remark names what was run and is not a measurement"},
        {"cost_s:5",
         "a time is gated by the least slowdown that counts, in percent, e.g. cost_s:5%"},
        {"cost_s:=5%", "a time is gated by the least slowdown"},
        {"cost_s:-5%", "a time is gated by the least slowdown"},
        {"times:5", "times are gated in percent, e.g. times:5%"},
        {"times:=5%", "times are gated in percent"},
        {"hits:+1", "hits is better larger, so that this would only forbid it to get better; write "
                    "hits:-1, or hits:=1 for neither way"},
        {"gap:-1", "gap is better smaller, so that this would only forbid it to get better; write "
                   "gap:+1, or gap:=1 for neither way"},
        {"samplr:0", "BASE has no column samplr; hardneg list metrics"},
        {"remrk:0", "BASE has no column remrk; hardneg list metrics"},
        {"zzzzzzzz:0", "BASE has no column zzzzzzzz; hardneg list metrics"},
        {"gapp:0", "BASE has no column gapp (did you mean 'gap'?)"}};
    static const struct hn_column more[] = {
        {"hits", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY},
        {"remark", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_MACHINE}};
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, 2, 1, -1, 1);
    fixture_columns(&ctx, &a.runs, more, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hn_gate gate;
        struct hn_compare_options options = {.gate = &gate, .n_gates = 1};
        struct hn_comparison c;
        HN_CHECK(&ctx, hn_gate_parse(&ctx, wrong[i][0], &gate));
        HN_SCOPE(&ctx);
        HN_CHECK_FAILS(&ctx, hn_compare(&ctx, &a, 1, &a, 1, &options, &c), HN_USAGE, wrong[i][1]);
    }
    hn_results_free(&ctx, &a);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Arrays that one file lacks, or has of another size, and how it is said.
static void test_arrays(void) {
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 1, -1, 1);
    const struct hn_results whole = b;
    b.batch_start = NULL;
    expect_said(&a, &b, NULL, "FAIL: batches in");
    CU_ASSERT_EQUAL(ends(&b, &a, NULL), HN_COMPARE_PASS); // what came is no difference
    b = whole;
    b.bin_hi += 0.5;
    expect_said(&a, &b, NULL, "FAIL: counts in 12 of 12");
    expect_said(&a, &b, "n_dot:0", "PASS");
    b = whole;
    b.kinds = 0;
    expect_said(&a, &b, "counters:0", "FAIL: counts in 12 of 12");
    CU_ASSERT_EQUAL(ends(&b, &a, NULL), HN_COMPARE_PASS);
    b = whole;
    b.bin_lo -= 0.5;
    b.batch_start = NULL;
    for (int c = 0; c < b.runs.n_columns; c++)
        if (b.runs.column[c].kind == HN_COLUMN_REAL && b.runs.column[c].role == HN_ROLE_QUALITY)
            b.runs.cells[c].real[5] += 1;
        else if (b.runs.column[c].role == HN_ROLE_COUNTER && b.runs.column[c].kind == HN_COLUMN_INT)
            b.runs.cells[c].count[5]++;
    expect_said(&a, &b, NULL, " more columns");
    b = whole;
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// However many columns there are, all of them are compared.
static void test_many_columns(void) {
    enum { COLUMNS = 600 };
    char name[24];
    const struct hn_column column = {name, HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_COUNTER};
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, ROWS, 1, -1, 1), b = made(0, ROWS, 1, -1, 1);
    for (int c = 0; c < COLUMNS; c++) {
        snprintf(name, sizeof name, "column_%d", c);
        HN_CHECK(&ctx, hn_table_add_column(&ctx, &a.runs, &column));
        HN_CHECK(&ctx, hn_table_add_column(&ctx, &b.runs, &column));
    }
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_PASS);
    b.runs.cells[hn_table_find(&b.runs, name)].count[0]++;
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_FAIL);
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Several files of each program: the medians of the files are the samples.
static void test_rounds(void) {
    enum { ROUNDS = 7 };
    hn_context_init(&ctx, 1);
    struct hn_results a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = made(0, 2, (uint64_t)(10 + i), -1, 1);
        b[i] = made(0, 2, (uint64_t)(30 + i), 1, 1.2);
    }
    struct hn_compare_options options = {0};
    struct hn_comparison c;
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_compare(&ctx, a, ROUNDS, b, ROUNDS, &options, &c));
        CU_ASSERT(c.n_times == 3 && c.time[0].n_base == ROUNDS && c.times_failed == 1); // no build
    }
    // Too few files come before the machine's noise, which falls on both sides of rounds.
    for (int i = 0; i < ROUNDS; i++) {
        fixture_must(hn_results_set_env(&ctx, &a[i], "sgemm_gflops", "100"));
        fixture_must(hn_results_set_env(&ctx, &b[i], "sgemm_gflops", "10"));
    }
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_compare(&ctx, a, 2, b, 2, &options, &c));
        CU_ASSERT(c.comparable && c.shift > hn_compare_noise_max && c.times_tested == 0);
    }
    for (int i = 0; i < 2; i++) {
        options.rounds = i == 1;
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_compare(&ctx, a, ROUNDS, b, ROUNDS, &options, &c));
        CU_ASSERT(c.comparable == options.rounds && c.times_failed == i);
    }
    for (int i = 0; i < ROUNDS; i++) {
        hn_results_free(&ctx, &a[i]);
        hn_results_free(&ctx, &b[i]);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What was saved of a row: batches of 3, 1 and 2 items.
static void save_batches(struct hn_results *r) {
    const int32_t size[] = {3, 1, 2}, id[] = {1, 2, 3, 4, -1, -1, 5, 6, -1};
    HN_CHECK(&ctx, hn_results_add_batches(&ctx, r, 3, size, id, 3));
}

static void test_order(void) {
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, 1, 1, -1, 1), b = made(1, 1, 1, -1, 1), c = made(2, 1, 1, -1, 1);
    save_batches(&a);
    save_batches(&c);
    HN_CHECK(&ctx, hn_results_append(&ctx, &a, &b)); // which kept none
    HN_CHECK(&ctx, hn_results_append(&ctx, &a, &c));
    const int64_t run[] = {0, 3, 3, 6}, split[] = {0, 3, 4, 6, 9, 10, 12};
    const int32_t id[] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
    CU_ASSERT(memcmp(a.order_run, run, sizeof run) == 0);
    CU_ASSERT(memcmp(a.order_split, split, sizeof split) == 0);
    CU_ASSERT(memcmp(a.order_id, id, sizeof id) == 0);
    CU_ASSERT_EQUAL(ends(&a, &a, NULL), HN_COMPARE_PASS);
    struct hn_results other = made(2, 1, 1, -1, 1);
    save_batches(&other);
    CU_ASSERT_EQUAL(ends(&c, &other, NULL), HN_COMPARE_PASS);
    other.order_id[5]++;
    CU_ASSERT_EQUAL(ends(&c, &other, NULL), HN_COMPARE_FAIL);
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    hn_results_free(&ctx, &c);
    hn_results_free(&ctx, &other);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// --- studies ---

// A row of `studies` and `rows` rows of prop1, whose values begin at `from`.
static void add_study(struct hn_table table[2], const char *key, const char *status, int rows,
                      double from) {
    struct hn_table *cell = &table[0], *own = &table[1];
    if (!cell->name) {
        fixture_must(hn_rows_table(&ctx, HN_ROWS_STUDIES, cell));
        fixture_must(hn_study_table(&ctx, hn_study_find("prop1"), own));
    }
    int64_t number = cell->rows;
    fixture_must(hn_table_add_row(&ctx, cell));
    fixture_must(hn_table_set_text(&ctx, cell, number, "cell_key", key));
    fixture_must(hn_table_set_text(&ctx, cell, number, "run_key", key));
    fixture_must(hn_table_set_text(&ctx, cell, number, "study", "prop1"));
    fixture_must(hn_table_set_text(&ctx, cell, number, "status", status));
    for (int i = 0; i < rows; i++) {
        int64_t row = own->rows;
        fixture_must(hn_table_add_row(&ctx, own));
        fixture_must(hn_table_set_int(&ctx, own, row, "study_row", number));
        fixture_must(hn_table_set_int(&ctx, own, row, "trials", 7 + i));
        fixture_must(hn_table_set_real(&ctx, own, row, "measured", from + i));
    }
}

// Results of studies alone.
static struct hn_results studied(struct hn_table table[2]) {
    return (struct hn_results){.table = table, .n_tables = 2};
}

static void test_studies(void) {
    hn_context_init(&ctx, 1);
    struct hn_table one[2] = {0}, two[2] = {0};
    add_study(one, "aa", "ok", 2, 0.25);
    add_study(one, "bb", "ok", 3, 0.5);
    add_study(two, "bb", "ok", 3, 0.5); // in another order
    add_study(two, "aa", "ok", 2, 0.25);
    struct hn_results a = studied(one), b = studied(two);
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_PASS);
    two[1].cells[hn_table_find(&two[1], "trials")].count[1]++;
    struct hn_comparison c;
    {
        HN_SCOPE(&ctx);
        c = compared(&a, &b, NULL);
        CU_ASSERT(c.failed == 1 && c.matched == 2);
        CU_ASSERT_STRING_EQUAL(c.line[c.change[0].line].name, "trials");
        CU_ASSERT_EQUAL(c.change[0].base_row, 1); // of `studies`
    }
    two[1].cells[hn_table_find(&two[1], "trials")].count[1]--;
    add_study(one, "cc", "ok", 1, 0.75);
    CU_ASSERT_EQUAL(ends(&a, &b, NULL), HN_COMPARE_FAIL); // missing
    add_study(two, "cc", "failed", 0, 0);
    a = studied(one);
    b = studied(two);
    {
        HN_SCOPE(&ctx);
        c = compared(&a, &b, NULL);
        CU_ASSERT(c.failed == 1 && c.matched == 3); // its status, and not its rows besides
    }
    struct hn_table three[2] = {0}; // the order of the job
    add_study(three, "aa", "ok", 2, 0.25);
    add_study(three, "bb", "ok", 3, 0.5);
    add_study(three, "cc", "failed", 0, 0);
    const struct hn_results part[] = {studied(three), a};
    const char *const name[] = {"one", "two"};
    struct hn_results out = {0};
    struct hn_merge_summary summary;
    HN_CHECK(&ctx, hn_merge(&ctx, part, name, 2, true, &out, &summary));
    CU_ASSERT(summary.cells == 3 && summary.failed == 0 && summary.repeated == 3);
    const struct hn_table *own = hn_results_table(&out, "prop1");
    CU_ASSERT_FATAL(own && own->rows == 6);
    const int64_t row[] = {0, 0, 1, 1, 1, 2}; // the last of the second part
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(own->cells[0].count[i], row[i]);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(own, 5, "measured"), 0.75, 0);
    hn_results_free(&ctx, &out);
    for (int i = 0; i < 6; i++)
        hn_table_free(&ctx, i < 2 ? &one[i] : i < 4 ? &two[i - 2] : &three[i - 4]);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Parts of two machines, of two programs, and a cell that failed in one of two parts.
static void test_merged(void) {
    hn_context_init(&ctx, 1);
    static const char *const name[] = {"one", "two"};
    for (int failed = 0; failed < 2; failed++) { // in the first part, or the second
        struct hn_results part[2] = {made(0, 2, 1, -1, 1), made(0, 2, 2, -1, 1)}, out = {0};
        struct hn_merge_summary summary;
        struct hn_table *fixture[] = {part[0].table, part[1].table}; // its tables have no keys
        part[0].n_tables = part[1].n_tables = 0;
        env(&part[1], "machine_class", "other");
        fixture_must(hn_table_set_text(&ctx, &part[failed].runs, 1, "status", "failed"));
        HN_CHECK(&ctx, hn_merge(&ctx, part, name, 2, true, &out, &summary));
        CU_ASSERT(summary.cells == 2 && summary.failed == 0 && summary.repeated == 2);
        CU_ASSERT_STRING_EQUAL(hn_table_text(&out.runs, 1, "status"), "ok");
        CU_ASSERT_STRING_EQUAL(hn_results_get_env(&out, "machine_class"), "mixed: made-up, other");
        hn_results_free(&ctx, &out);
        env(&part[0], "git_dirty", "1");
        env(&part[1], "git_commit", "");
        HN_CHECK_FAILS(&ctx, hn_merge(&ctx, part, name, 2, false, &out, &summary), HN_DATA,
                       "one and two: made by different programs (1234567+changes");
        for (int i = 0; i < 2; i++) {
            part[i].table = fixture[i];
            part[i].n_tables = 2;
            hn_results_free(&ctx, &part[i]);
        }
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// --- memory ---

static enum hn_code compare_and_merge(const struct hn_results *a, const struct hn_results *b) {
    struct hn_compare_options options = {0};
    struct hn_comparison c;
    HN_SCOPE(&ctx);
    enum hn_code code = hn_compare(&ctx, a, 1, b, 1, &options, &c);
    if (code)
        return code;
    CU_ASSERT_EQUAL(c.end, HN_COMPARE_FAIL);
    const struct hn_results part[] = {*a, *a};
    const char *const name[] = {"one", "two"};
    struct hn_results out = {0};
    struct hn_merge_summary summary;
    code = hn_merge(&ctx, part, name, 2, true, &out, &summary);
    if (code == HN_OK) {
        CU_ASSERT(summary.cells == 3 && summary.repeated == 3 && summary.missing == 0);
        CU_ASSERT(out.runs.rows == 2 && out.timing.rows == a->timing.rows);
        CU_ASSERT_STRING_EQUAL(hn_results_get(&out, "status"), "complete");
    }
    hn_results_free(&ctx, &out);
    return code;
}

static void test_memory(void) {
    hn_context_init(&ctx, 1);
    struct hn_results a = made(0, 2, 1, -1, 1), b = made(0, 2, 2, 1, 1.5);
    // The fixture's table of steps has no keys.
    struct hn_table *fixture[] = {a.table, b.table}, study[2] = {0};
    add_study(study, "aa", "ok", 2, 0.25);
    a.table = hn_zalloc(&ctx, 2, sizeof *a.table);
    memcpy(a.table, study, sizeof study);
    b.n_tables = 0;
    save_batches(&a);
    a.order_run = hn_resize(&ctx, a.order_run, 3, sizeof *a.order_run);
    a.order_run[2] = 3;
    int64_t before = ctx.memory.live, calls = ctx.memory.calls;
    enum hn_code code = HN_MEMORY;
    int64_t k;
    for (k = 1; code == HN_MEMORY && k < 100000; k += 1 + k / 40) {
        ctx.memory.fail_at = ctx.memory.calls + k;
        code = compare_and_merge(&a, &b);
        CU_ASSERT_EQUAL(ctx.memory.live, before);
    }
    if (code)
        fprintf(stderr, "    %s\n", ctx.message);
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT(k > 100 && ctx.memory.calls > calls);
    ctx.memory.fail_at = 0;
    hn_table_free(&ctx, &study[0]);
    hn_table_free(&ctx, &study[1]);
    hn_free(&ctx, a.table);
    a.table = fixture[0];
    a.n_tables = b.n_tables = 2;
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// How a column is compared follows from its role alone, whatever its name and unit.
static void test_roles(void) {
    static const struct {
        enum hn_role role;
        double change; // of 1
        enum hn_compare_end end;
    } with[] = {{HN_ROLE_QUALITY, 2e-7, HN_COMPARE_PASS}, {HN_ROLE_QUALITY, 5e-6, HN_COMPARE_FAIL},
                {HN_ROLE_BINNED, 5e-6, HN_COMPARE_PASS},  {HN_ROLE_BINNED, 1.1e-5, HN_COMPARE_FAIL},
                {HN_ROLE_COUNTER, 2e-7, HN_COMPARE_FAIL}, {HN_ROLE_MACHINE, 1, HN_COMPARE_PASS},
                {HN_ROLE_DERIVED, 1, HN_COMPARE_PASS},    {HN_ROLE_SETTING, 1, HN_COMPARE_PASS},
                {HN_ROLE_IDENTITY, 1, HN_COMPARE_PASS}};
    hn_context_init(&ctx, 1);
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        const struct hn_column column = {
            "novelty", HN_COLUMN_REAL, "1", "of no name that is known", HN_NEITHER, with[i].role};
        struct hn_results r[2];
        for (int k = 0; k < 2; k++) {
            r[k] = fixture_results(&ctx, 0, ROWS);
            fixture_columns(&ctx, &r[k].runs, &column, 1);
            for (int row = 0; row < ROWS; row++)
                fixture_must(
                    hn_table_set_real(&ctx, &r[k].runs, row, "novelty", 1 + k * with[i].change));
        }
        CU_ASSERT_EQUAL(ends(&r[0], &r[1], NULL), with[i].end);
        hn_results_free(&ctx, &r[0]);
        hn_results_free(&ctx, &r[1]);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"roles", test_roles},
    {"grammar", test_grammar},
    {"worse", test_worse},
    {"samples", test_samples},
    {"ends", test_ends},
    {"differences", test_differences},
    {"arrays", test_arrays},
    {"said", test_said},
    {"wrong gates", test_wrong_gates},
    {"infinities", test_infinities},
    {"many columns", test_many_columns},
    {"rounds", test_rounds},
    {"order", test_order},
    {"studies", test_studies},
    {"merged", test_merged},
    {"memory", test_memory},
};

HN_TEST_MAIN("compare", tests)
