// SPDX-License-Identifier: GPL-3.0-or-later
// Times of several processes in one file: what is added, what the samples are, and how two such
// files are compared.
#include "core/text.h"
#include "results/compare.h"
#include "results/programs.h"
#include "results/slowdown.h"
#include "tests/measured_results.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <string.h>

static struct hn_context ctx;

enum { PROCESSES = 6 };

// As the files of older programs are: without the column `process`.
static struct hn_results made(uint64_t seed, int slow, double factor) {
    return measured_results(&ctx, 0, 4, seed, slow, factor);
}

static struct hn_results first(uint64_t seed, int slow, double factor) {
    static const struct hn_column process = {"process", HN_COLUMN_INT, "1", "", HN_NEITHER};
    struct hn_results r = made(seed, slow, factor);
    fixture_columns(&ctx, &r.timing, &process, 1);
    return r;
}

// A file of n processes with seeds seed, seed + 1, ...; row 1 of the first `slow` ones takes
// `factor` times as long.
static struct hn_results made_by(int n, uint64_t seed, int slow, double factor) {
    struct hn_results process[PROCESSES] = {first(seed, slow > 0 ? 1 : -1, factor)};
    for (int i = 1; i < n; i++)
        process[i] = made(seed + (uint64_t)i, i < slow ? 1 : -1, factor);
    HN_CHECK(&ctx, hn_time_add(&ctx, process, n, &process[0]));
    for (int i = 1; i < n; i++)
        hn_results_free(&ctx, &process[i]);
    return process[0];
}

static double median_of(const struct hn_results *r, int64_t row) {
    struct hn_time_samples s;
    HN_CHECK(&ctx, hn_time_samples(&ctx, r, HN_TIME_BATCH, HN_CLOCK_WALL, HN_TIME_REPETITIONS, &s));
    double median = hn_median(s.value + s.start[row], s.start[row + 1] - s.start[row]);
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.value);
    return median;
}

// A run that measures, warms up and repeats twice. On one thread a cost is the processor's time,
// which is no more than the clock says. The cold build of the measuring, the warm-up and what a
// later epoch begins with do not count, and a beginning is shared by the batches of its epoch.
static void test_cost_of_a_cell(void) {
    static const struct {
        const char *phase;
        int rep, warmup, batches, wall, cpu;
    } row[] = {{"build", 0, 0, 0, 9000, 9000}, {"epoch", 0, 0, 4, 900, 900},
               {"next", 0, 0, 4, 8000, 8000},  {"build", 1, 1, 0, 7000, 7000},
               {"epoch", 0, 1, 4, 900, 900},   {"next", 1, 1, 4, 8000, 8000},
               {"build", 2, 0, 0, 1000, 900},  {"epoch", 0, 0, 4, 400, 440},
               {"next", 2, 0, 4, 4000, 3600},  {"epoch", 1, 0, 4, 80000, 80000},
               {"next", 2, 0, 2, 2000, 1800},  {"build", 3, 0, 0, 2000, 2300},
               {"epoch", 0, 0, 4, 800, 400},   {"next", 3, 0, 2, 2400, 3000}};
    static const double expected[HN_TIME_KINDS][2] = {{1100e-9, 1000e-9}, {1500e-9, 1450e-9}};
    hn_context_init(&ctx, 1);
    struct hn_results r = made(1, -1, 1);
    fixture_columns(&ctx, &r.timing,
                    (const struct hn_column[]){{"rep", HN_COLUMN_INT, "1", "", HN_NEITHER},
                                               {"cpu_ns", HN_COLUMN_INT, "ns", "", HN_SMALLER}},
                    2);
    r.timing.rows = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        HN_CHECK(&ctx,
                 HN_TABLE_PUT(
                     &ctx, &r.timing, HN_INT_VALUE("run", 0), HN_TEXT_VALUE("phase", row[i].phase),
                     HN_INT_VALUE("rep", row[i].rep), HN_INT_VALUE("warmup", row[i].warmup),
                     HN_INT_VALUE("batches", row[i].batches), HN_INT_VALUE("wall_ns", row[i].wall),
                     HN_INT_VALUE("cpu_ns", row[i].cpu)));
    for (int kind = 0; kind < HN_TIME_KINDS; kind++)
        for (int clock = 0; clock < 2; clock++) {
            struct hn_time_samples s;
            double seconds;
            HN_CHECK(&ctx, hn_time_median(&ctx, &r.timing, kind, clock, &seconds));
            CU_ASSERT_DOUBLE_EQUAL(seconds, expected[kind][clock], 1e-15);
            // What compare takes of the file is the same.
            HN_CHECK(&ctx, hn_time_samples(&ctx, &r, kind, clock, HN_TIME_REPETITIONS, &s));
            CU_ASSERT_EQUAL(s.start[1], kind == HN_TIME_BUILD ? 2 : 3);
            CU_ASSERT_DOUBLE_EQUAL(hn_median(s.value, s.start[1]), seconds, 1e-15);
            hn_free(&ctx, s.start);
            hn_free(&ctx, s.value);
        }
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_samples(void) {
    hn_context_init(&ctx, 1);
    struct hn_results r = made_by(PROCESSES, 1, 1, 3), alone = made(1, 1, 3);
    struct hn_time_samples s;
    CU_ASSERT(hn_time_has_processes(&r) && !hn_time_has_processes(&alone));
    HN_CHECK(&ctx, hn_time_samples(&ctx, &r, HN_TIME_BATCH, HN_CLOCK_WALL, HN_TIME_PROCESSES, &s));
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(s.start[i + 1] - s.start[i], PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        struct hn_results one = made(1 + (uint64_t)i, i < 1 ? 1 : -1, 3);
        for (int64_t row = 0; row < 4; row++)
            CU_ASSERT_DOUBLE_EQUAL(s.value[s.start[row] + i], median_of(&one, row), 1e-15);
        hn_results_free(&ctx, &one);
    }
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.value);
    HN_CHECK(&ctx, hn_time_samples(&ctx, &r, HN_TIME_BUILD, HN_CLOCK_WALL, HN_TIME_PROCESSES, &s));
    CU_ASSERT(s.start[1] == PROCESSES && s.start[2] == PROCESSES); // row 1 builds nothing
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.value);
    CU_ASSERT_DOUBLE_EQUAL(median_of(&r, 1), median_of(&alone, 1), 1e-15); // of the first process
    hn_results_free(&ctx, &r);
    hn_results_free(&ctx, &alone);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_compared(void) {
    static const struct {
        int base, now, slow; // processes of either, and of NEW those that are slower
        enum hn_time_unit unit;
        int failed;
        const char *says, *gflops; // of NEW, where BASE has 100
    } cases[] = {
        {6, 6, 0, HN_TIME_PROCESSES, 0, "6 times, none slower"},
        {6, 6, 6, HN_TIME_PROCESSES, 1, "1 of 6 times slower"},
        {6, 6, 6, HN_TIME_PROCESSES, 1, "1 of 6 times slower", "100"},
        {6, 6, 6, HN_TIME_PROCESSES, 0, "none slower", "85"}, // 17.6 % on top of the gate's 5
        {6, 6, 2, HN_TIME_PROCESSES, 0, "6 times, 5 not slower, 1 too uncertain to tell (about "},
        {6, 4, 4, HN_TIME_PROCESSES, 0, "too few samples"},
        {1, 6, 1, HN_TIME_REPETITIONS, 1, "one process each"},
        {6, 1, 1, HN_TIME_REPETITIONS, 1, "one process each"},
    };
    const struct hn_compare_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hn_comparison c;
        hn_context_init(&ctx, 1);
        struct hn_results a = made_by(cases[i].base, 1, 0, 1);
        struct hn_results b = made_by(cases[i].now, 30, cases[i].slow, 1.2);
        if (cases[i].gflops) {
            fixture_must(hn_results_set_env(&ctx, &a, "sgemm_gflops", "100"));
            fixture_must(hn_results_set_env(&ctx, &b, "sgemm_gflops", cases[i].gflops));
        }
        {
            HN_SCOPE(&ctx);
            HN_CHECK(&ctx, hn_compare(&ctx, &a, 1, &b, 1, &options, &c));
            CU_ASSERT(c.unit == cases[i].unit && c.times_failed == cases[i].failed);
            CU_ASSERT_PTR_NOT_NULL(strstr(c.verdict, cases[i].says));
        }
        hn_results_free(&ctx, &a);
        hn_results_free(&ctx, &b);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// Gives every time of row i of a process one value: noise of 5 %, and of all rows together 3 %.
static void draw_times(gsl_rng *random, struct hn_results *r, double factor) {
    double shift = gsl_ran_gaussian(random, 0.03), ns = 0;
    for (int64_t i = 0; i < r->timing.rows; i++) {
        if (i == 0 || hn_table_real(&r->timing, i, "run") > hn_table_real(&r->timing, i - 1, "run"))
            ns = 1e7 * factor * exp(shift + gsl_ran_gaussian(random, 0.05));
        HN_CHECK(&ctx, hn_table_set_int(&ctx, &r->timing, i, "wall_ns", (int64_t)ns));
    }
}

// Of times that are slower by little more than the limit of 5 % at most 2.5 % are called not
// slower, by the upper end of the bootstrap interval. Measured on 2,000 comparisons of six times
// each: 1.8 % with 5 rounds, 1.7 % with 11, and none says "none slower".
static void test_not_slower_by_luck(void) {
    enum { MAX_ROUNDS = 11 };
    static const int rounds[] = {5, MAX_ROUNDS};
    const int all = getenv("HN_COMPARISONS") ? atoi(getenv("HN_COMPARISONS")) : 150;
    const struct hn_compare_options options = {.rounds = true};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct hn_results base[MAX_ROUNDS], now[MAX_ROUNDS];
    hn_context_init(&ctx, 1);
    for (int i = 0; i < MAX_ROUNDS; i++) {
        base[i] = made(1, -1, 1);
        now[i] = made(2, -1, 1);
    }
    for (int k = 0; k < 2; k++) {
        int wrong = 0, none = 0;
        for (int c = 0; c < all; c++) {
            struct hn_comparison out;
            for (int i = 0; i < rounds[k]; i++) {
                draw_times(random, &base[i], 1);
                draw_times(random, &now[i], 1.0501);
            }
            HN_SCOPE(&ctx);
            HN_CHECK(&ctx, hn_compare(&ctx, base, rounds[k], now, rounds[k], &options, &out));
            CU_ASSERT(out.times_tested == 6);
            for (int64_t i = 0; i < out.n_times; i++)
                wrong += !out.time[i].verdict.slower && !out.time[i].unclear;
            none += strstr(out.verdict, "none slower") != NULL;
        }
        if (getenv("HN_SHOW"))
            fprintf(stderr, "%d rounds: %d of %d not slower, %d none\n", rounds[k], wrong, 6 * all,
                    none);
        CU_ASSERT(wrong <= .025 * 6 * all + 3 * sqrt(6 * .025 * .975 * all));
        CU_ASSERT(none <= .025 * all);
    }
    for (int i = 0; i < MAX_ROUNDS; i++) {
        hn_results_free(&ctx, &base[i]);
        hn_results_free(&ctx, &now[i]);
    }
    gsl_rng_free(random);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void keep_note(void *data, const char *text) { snprintf(data, 256, "%s", text); }

// Cells that another program made are left out, and said.
static void test_programs(void) {
    static const struct hn_column program = {"program", HN_COLUMN_TEXT, "",
                                             "",        HN_NEITHER,     HN_ROLE_IDENTITY};
    char said[256] = "";
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){keep_note, said};
    struct hn_results process[] = {first(1, -1, 1), made(2, -1, 1)}, r = process[0];
    fixture_columns(&ctx, &r.runs, &program, 1);
    fixture_columns(&ctx, &process[1].runs, &program, 1);
    fixture_must(hn_table_set_text(&ctx, &process[1].runs, 2, "program", "another"));
    int64_t rows = r.timing.rows;
    HN_CHECK(&ctx, hn_time_add(&ctx, process, 2, &r));
    CU_ASSERT_EQUAL(r.timing.rows, rows + rows * 3 / 4);
    for (int64_t i = rows; i < r.timing.rows; i++)
        CU_ASSERT(hn_table_real(&r.timing, i, "run") != 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "without times of process 1: 1 cell,"));
    hn_results_free(&ctx, &r);
    hn_results_free(&ctx, &process[1]);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The programs of rows, the first eight with their numbers.
static void test_many_programs(void) {
    struct hn_program program[10];
    const struct hn_programs all = {program, 10, 10}, one = {program, 1, 1}, few = {program, 2, 2};
    for (int i = 0; i < 10; i++) {
        program[i].rows = i + 1;
        snprintf(program[i].text, sizeof program[i].text, "p%d", i);
    }
    CU_ASSERT_STRING_EQUAL(hn_programs_text(&one).text, "p0");
    CU_ASSERT_STRING_EQUAL(hn_programs_text(&few).text, "p0 (1 row), p1 (2 rows)");
    CU_ASSERT_PTR_NOT_NULL(strstr(hn_programs_text(&all).text, "p7 (8 rows) and 2 more"));
    CU_ASSERT_PTR_NULL(strstr(hn_programs_text(&all).text, "p8"));
}

static const struct hn_test tests[] = {
    {"many programs", test_many_programs},           {"cost of a cell", test_cost_of_a_cell},
    {"samples of processes", test_samples},          {"files of processes compared", test_compared},
    {"not slower by luck", test_not_slower_by_luck}, {"cells of another program", test_programs}};

HN_TEST_MAIN("timing", tests)
