// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison by name: which rows are paired, which changes fail, and how often one does that should
// not, over made-up results whose true change is known.
#include "results/compare.h"
#include "tests/store_fixture.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <string.h>

static struct hn_context ctx;

enum { SETTINGS = 10 };

// What a made-up checkpoint is.
struct checkpoint {
    const char *dataset, *sha256;
    int step, seeds;
    double fn_ratio; // of every setting; setting s adds its own .02 s
    double noise;    // deviation over seeds, of what the seeds of two checkpoints do not share
};

static void add_cell(struct hn_results *r, const struct checkpoint *of, int setting, int seed,
                     double value) {
    struct hn_table *t = &r->runs;
    int64_t row = t->rows;
    char params[32], key[64];
    snprintf(params, sizeof params, "K=%d", setting);
    snprintf(key, sizeof key, "%s-%d-%d-%d", of->sha256, of->step, setting, seed);
    fixture_must(hn_table_add_row(&ctx, t));
    fixture_must(hn_table_set_text(&ctx, t, row, "cell_key", key));
    fixture_must(hn_table_set_text(&ctx, t, row, "dataset", of->dataset));
    fixture_must(hn_table_set_text(&ctx, t, row, "dataset_sha256", of->sha256));
    fixture_must(hn_table_set_int(&ctx, t, row, "step", of->step));
    fixture_must(hn_table_set_text(&ctx, t, row, "sampler", setting ? "knn" : "uniform"));
    fixture_must(hn_table_set_text(&ctx, t, row, "params", params));
    fixture_must(hn_table_set_real(&ctx, t, row, "temperature", 0.5));
    fixture_must(hn_table_set_int(&ctx, t, row, "batch_size", 64));
    fixture_must(hn_table_set_int(&ctx, t, row, "seed", seed));
    fixture_must(hn_table_set_text(&ctx, t, row, "status", "ok"));
    fixture_must(hn_table_set_real(&ctx, t, row, "fn_ratio", value));
}

static void add_checkpoint(struct hn_results *r, const struct checkpoint *of, gsl_rng *rng) {
    for (int s = 0; s < SETTINGS; s++)
        for (int seed = 1; seed <= of->seeds; seed++)
            add_cell(r, of, s, seed,
                     of->fn_ratio + 0.02 * s + 0.01 * seed +
                         (rng ? gsl_ran_gaussian(rng, of->noise) : 0));
}

static struct hn_results empty(void) {
    static const struct hn_column sha = {"dataset_sha256", HN_COLUMN_TEXT, "",
                                         "contents",       HN_NEITHER,     HN_ROLE_IDENTITY};
    struct hn_results r = {0};
    fixture_must(hn_results_set_env(&ctx, &r, "tool_version", "2.7"));
    fixture_runs(&ctx, &r.runs);
    fixture_columns(&ctx, &r.runs, &sha, 1);
    return r;
}

static struct hn_results made(const struct checkpoint *of, gsl_rng *rng) {
    struct hn_results r = empty();
    add_checkpoint(&r, of, rng);
    return r;
}

static struct hn_comparison compared(const struct hn_results *a, const struct hn_results *b,
                                     const char *text) {
    static struct hn_gate gate; // the comparison points to it: one at a time is printed
    struct hn_compare_options options = {.gate = &gate, .n_gates = text ? 1 : 0, .by_name = true};
    struct hn_comparison c;
    if (text)
        HN_CHECK(&ctx, hn_gate_parse(&ctx, text, &gate));
    HN_CHECK(&ctx, hn_compare(&ctx, a, 1, b, 1, &options, &c));
    return c;
}

static const struct hn_compare_line *line_of(const struct hn_comparison *c, const char *name) {
    for (int64_t i = 0; i < c->n_lines; i++)
        if (strcmp(c->line[i].name, name) == 0)
            return &c->line[i];
    return NULL;
}

// Contents and steps differ, and the last step of each file counts; the mean moves by .004.
static void test_pairs(void) {
    hn_context_init(&ctx, 1);
    struct checkpoint first = {"a.h5", "aa", 100, 3, 0.10, 0},
                      last = {"a.h5", "aa", 400, 3, 0.2, 0},
                      next = {"a.h5", "bb", 500, 3, 0.204, 0}, other = {"b.h5", "bb", 500, 3, 0, 0};
    struct hn_results a = empty(), b = made(&next, NULL), none = made(&other, NULL);
    add_checkpoint(&a, &last, NULL);
    add_checkpoint(&a, &first, NULL);
    {
        HN_SCOPE(&ctx);
        struct hn_comparison c = compared(&a, &b, "fn_ratio:+0.003");
        const struct hn_compare_line *fn = line_of(&c, "fn_ratio");
        CU_ASSERT_EQUAL(c.settings, SETTINGS);
        CU_ASSERT_EQUAL(c.matched, 3 * SETTINGS);
        CU_ASSERT_EQUAL(c.only_base + c.only_now, 0);
        CU_ASSERT_EQUAL(fn->compared, SETTINGS);
        CU_ASSERT_EQUAL(fn->failed, SETTINGS);
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_FAIL);
        CU_ASSERT_EQUAL(c.n_changes, SETTINGS);
        for (int64_t i = 0; i < c.n_changes; i++) {
            CU_ASSERT_EQUAL(c.change[i].over.seeds, 3);
            CU_ASSERT_DOUBLE_EQUAL(c.change[i].over.change.mean, 0.004, 1e-12);
            CU_ASSERT_DOUBLE_EQUAL(c.change[i].to - c.change[i].from, 0.004, 1e-12);
        }
        CU_ASSERT(strstr(c.said_first, "step 400 of SHA-256 aa... against step 500 of bb...") != 0);
        CU_ASSERT_EQUAL(compared(&a, &b, "fn_ratio:+0.005").end, HN_COMPARE_PASS);
        CU_ASSERT_EQUAL(compared(&a, &b, "fn_ratio:=0.003").end, HN_COMPARE_FAIL);
        CU_ASSERT_EQUAL(compared(&b, &a, "fn_ratio:=0.003").end, HN_COMPARE_FAIL);
        CU_ASSERT_EQUAL(compared(&b, &a, "fn_ratio:0.0").end, HN_COMPARE_PASS); // better
        // 3 % of .2 to .38 is .006 and more, 1 % at most .0038.
        CU_ASSERT_EQUAL(compared(&a, &b, "fn_ratio:3%").end, HN_COMPARE_PASS);
        CU_ASSERT_EQUAL(compared(&a, &b, "fn_ratio:1%").end, HN_COMPARE_FAIL);
        c = compared(&a, &b, NULL);
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_NOTHING);
        CU_ASSERT(strstr(c.verdict, "give one, e.g. --gate") != NULL);
        CU_ASSERT_EQUAL(compared(&a, &none, "fn_ratio:0.1").end, HN_COMPARE_NOTHING);
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    hn_results_free(&ctx, &none);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A cell that failed, a value that is missing now, seeds of one file alone.
static void test_lost(void) {
    hn_context_init(&ctx, 1);
    struct checkpoint was = {"a.h5", "aa", 1, 3, 0.1, 0}, is = {"a.h5", "bb", 1, 3, 0.1, 0},
                      fewer = {"a.h5", "bb", 1, 2, 0.2, 0};
    struct hn_results a = made(&was, NULL), failed = made(&is, NULL), lost = made(&is, NULL),
                      part = made(&fewer, NULL);
    fixture_must(hn_table_set_text(&ctx, &failed.runs, 4, "status", "failed"));
    fixture_must(hn_table_set_real(&ctx, &lost.runs, 4, "fn_ratio", NAN));
    {
        HN_SCOPE(&ctx);
        struct hn_comparison c = compared(&a, &failed, "fn_ratio:0.5");
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_FAIL);
        CU_ASSERT_EQUAL(line_of(&c, "status")->failed, 1);
        CU_ASSERT_EQUAL(line_of(&c, "fn_ratio")->failed, 0);
        c = compared(&a, &lost, "fn_ratio:0.5");
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_FAIL);
        CU_ASSERT_EQUAL(line_of(&c, "fn_ratio")->failed, 1);
        c = compared(&lost, &a, "fn_ratio:0.5");
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_PASS);
        c = compared(&a, &part, "fn_ratio:0.5");
        CU_ASSERT_EQUAL(c.only_base, SETTINGS);
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_FAIL);
        c = compared(&part, &a, "fn_ratio:0.5");
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_PASS);
        CU_ASSERT_EQUAL(c.change[0].over.seeds, 2);
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &failed);
    hn_results_free(&ctx, &lost);
    hn_results_free(&ctx, &part);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What a format prints of a comparison.
static void expect_in(const struct hn_compare_format *format, const struct hn_comparison *c,
                      const char *part) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx, format->print(&ctx, c, out));
    CU_ASSERT_EQUAL(fclose(out), 0);
    if (!strstr(text, part))
        fprintf(stderr, "    no \"%s\" in:\n%s", part, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    free(text);
}

// Means of one seed have no interval; what was lost, and what is beside it.
static void test_said(void) {
    hn_context_init(&ctx, 1);
    struct checkpoint was = {"a.h5", "aa", 1, 3, 0.1, 0}, is = {"a.h5", "bb", 1, 3, 0.2, 0},
                      one = {"a.h5", "cc", 1, 1, 0.25, 0};
    struct hn_results a = made(&was, NULL), b = made(&is, NULL), lost = made(&was, NULL),
                      alone = made(&one, NULL);
    for (int row = 0; row < 3; row++)
        fixture_must(hn_table_set_real(&ctx, &lost.runs, row, "fn_ratio", NAN));
    {
        HN_SCOPE(&ctx);
        struct hn_comparison c = compared(&a, &b, "fn_ratio:+0.01");
        expect_in(&hn_compare_text, &c, "+0.1 [+0.1, +0.1] (0.12 -> 0.22)");
        expect_in(&hn_compare_json, &c, "\"change_lo\": ");
        expect_in(&hn_compare_json, &c, "\"seeds\": 3");
        expect_in(&hn_compare_markdown, &c, "**fn\\_ratio** failed in 10 of 10:");
        expect_in(&hn_compare_markdown, &c, "Values are means of settings over the seeds of both");
        expect_in(&hn_compare_junit, &c, "name=\"fn_ratio\"><failure message=\"+0.1");
        c = compared(&alone, &alone, "fn_ratio:0.5");
        expect_in(&hn_compare_text, &c, "one seed: changes have no interval");
        c = compared(&a, &alone, "fn_ratio:=0.01");
        expect_in(&hn_compare_text, &c, "+0.15 (");
        c = compared(&a, &lost, "fn_ratio:0.5");
        expect_in(&hn_compare_text, &c, "no value (nan -> nan)");
        expect_in(&hn_compare_json, &c, "\"new\": null");
        c = compared(&a, &b, NULL);
        expect_in(&hn_compare_text, &c, "fn_ratio ");
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    hn_results_free(&ctx, &lost);
    hn_results_free(&ctx, &alone);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The last step of each of two data sets of a file.
static void test_two_data(void) {
    hn_context_init(&ctx, 1);
    struct checkpoint was[] = {{"a.h5", "aa", 1, 2, 0.1, 0},
                               {"b.h5", "cc", 1, 2, 0.3, 0},
                               {"a.h5", "ab", 3, 2, 0.2, 0}},
                      is[] = {{"a.h5", "bb", 5, 2, 0.2, 0}, {"b.h5", "dd", 2, 2, 0.3, 0}};
    struct hn_results a = empty(), b = empty();
    for (int i = 0; i < 3; i++)
        add_checkpoint(&a, &was[i], NULL);
    for (int i = 0; i < 2; i++)
        add_checkpoint(&b, &is[i], NULL);
    {
        HN_SCOPE(&ctx);
        struct hn_comparison c = compared(&a, &b, "fn_ratio:=0.01");
        CU_ASSERT_EQUAL(c.settings, 2 * SETTINGS);
        CU_ASSERT_EQUAL(c.matched, 4 * SETTINGS);
        CU_ASSERT_EQUAL(c.end, HN_COMPARE_PASS);
        CU_ASSERT(strstr(c.said_first, "a.h5: step 3 of SHA-256 ab... against step 5 of bb...") &&
                  strstr(c.said_first, "b.h5: step 1 of SHA-256 cc... against step 2 of dd..."));
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// More changes than are kept: those that failed are, however late they come.
static void test_many(void) {
    enum { SEEDS = 104 }; // of ten settings
    hn_context_init(&ctx, 1);
    struct checkpoint all = {"a.h5", "aa", 1, SEEDS, 0.1, 0};
    struct hn_results a = made(&all, NULL), b = made(&all, NULL);
    const int64_t rows = a.runs.rows;
    for (int64_t row = 0; row < rows; row++) {
        double was = hn_table_real(&a.runs, row, "fn_ratio");
        fixture_must(
            hn_table_set_real(&ctx, &b.runs, row, "fn_ratio", was + (row < rows - 2 ? 0.125 : 2)));
    }
    struct hn_gate gate;
    struct hn_compare_options options = {.gate = &gate, .n_gates = 1};
    static const struct {
        const char *gate, *part;
        int64_t failed, kept; // of those that failed
    } with[] = {{"fn_ratio:+1", "fn\\_ratio in 2 of 1040", 2, 2},
                {"fn_ratio:+0.1", "- and 40 that are not kept", 1040, 1000},
                {"fn_ratio:+9", "1040", 0, 0}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        struct hn_comparison c;
        int64_t kept = 0;
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_gate_parse(&ctx, with[i].gate, &gate));
        HN_CHECK(&ctx, hn_compare(&ctx, &a, 1, &b, 1, &options, &c));
        for (int64_t k = 0; k < c.n_changes; k++)
            kept += c.change[k].failed;
        CU_ASSERT_EQUAL(c.n_changes, HN_COMPARE_CHANGES);
        CU_ASSERT_EQUAL(c.failed, with[i].failed);
        CU_ASSERT_EQUAL(kept, with[i].kept);
        expect_in(&hn_compare_markdown, &c, with[i].part);
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

struct rates {
    int fail, within, unclear; // comparisons that failed; means that were called within, unclear
};

static struct rates rates_of(double change, int seeds, const char *gate, int trials, gsl_rng *rng) {
    struct checkpoint was = {"a.h5", "aa", 1, seeds, 0.1, 0.001},
                      is = {"a.h5", "bb", 1, seeds, 0.1 + change, 0.001};
    struct rates out = {0};
    for (int i = 0; i < trials; i++) {
        struct hn_results a = made(&was, rng), b = made(&is, rng);
        {
            HN_SCOPE(&ctx);
            struct hn_comparison c = compared(&a, &b, gate);
            const struct hn_compare_line *fn = line_of(&c, "fn_ratio");
            out.fail += c.end == HN_COMPARE_FAIL;
            out.unclear += (int)c.unclear;
            out.within += (int)(fn->compared - fn->failed - c.unclear);
        }
        hn_results_free(&ctx, &a);
        hn_results_free(&ctx, &b);
    }
    return out;
}

// A change that is just the gate's must fail in at most 2.5 % of comparisons, and be called within
// in as few; one of none is within, and one far beyond fails. Differences deviate by .0014.
static void test_rates(void) {
    enum { TRIALS = 800 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    hn_context_init(&ctx, 1);
    for (int seeds = 3; seeds <= 8; seeds += 5) {
        struct rates at = rates_of(0.01, seeds, "fn_ratio:+0.01", TRIALS, rng);
        CU_ASSERT(at.fail <= 0.025 * TRIALS + 3 * sqrt(0.025 * TRIALS));
        CU_ASSERT(at.within <= 0.025 * TRIALS + 3 * sqrt(0.025 * TRIALS));
        CU_ASSERT_EQUAL(rates_of(0, seeds, "fn_ratio:+0.05", 50, rng).fail, 0);
        CU_ASSERT(rates_of(0.06, seeds, "fn_ratio:+0.01", 50, rng).fail >= 48);
    }
    // Eight seeds: an interval of all ten settings has half a width of .0023.
    struct rates none = rates_of(0, 8, "fn_ratio:+0.005", 100, rng);
    CU_ASSERT_EQUAL(none.fail, 0);
    CU_ASSERT(none.within >= 950);
    gsl_rng_free(rng);
}

static const struct hn_test tests[] = {
    {"pairs", test_pairs}, {"lost", test_lost},
    {"said", test_said},   {"two data sets", test_two_data},
    {"many", test_many},   {"rates", test_rates},
};

HN_TEST_MAIN("compare_named", tests)
