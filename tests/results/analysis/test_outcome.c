// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of trainings from a user's table: fields, the settings of its rows, means and
// differences by seed; and rank correlations with their intervals.
#include "results/analysis/outcome.h"
#include "results/analysis/params.h"
#include "tests/results/analysis/overview_fixture.h"

static struct hn_overview o;

// Uniform and two settings of walk, at two steps.
static void begin_results(void) {
    begin();
    for (int step = 100; step <= 200; step += 100)
        for (int seed = 1; seed <= 2; seed++) {
            put(&(struct cell){"a.h5", "uniform", "draw=shuffle", "none", step, seed, 32, NAN, NAN,
                               .1, .2, 1e-3},
                "ok");
            for (int m = 1; m <= 2; m++)
                put(&(struct cell){"a.h5", "walk", m == 1 ? "K=5, M=1" : "K=5, M=2", "none", step,
                                   seed, 32, m, NAN, .1, .2, 1e-3},
                    "ok");
        }
    make(&o);
}

static enum hn_code read_text(const char *text, struct hn_outcome *u) {
    static char copy[1000];
    snprintf(copy, sizeof copy, "%s", text);
    return hn_outcome_read(&ctx, "acc.csv", copy, &o, u);
}

static int64_t setting(const char *sampler, double m, int step) {
    int64_t s = 0;
    for (; s < o.settings; s++) {
        const struct hn_table *t = &results.runs;
        double own = hn_table_real(t, o.first[s], "M");
        if (strcmp(hn_overview_sampler(&o, s), sampler) == 0 && (isnan(m) || own == m) &&
            hn_table_real(t, o.first[s], "step") == step)
            break;
    }
    return s;
}

static void test_rows(void) {
    struct hn_outcome u;
    struct hn_mean mean;
    begin_results();
    HN_CHECK(&ctx, read_text("sampler,params,seed,\"top \"\"1\"\"\",loss\r\n"
                             "uniform,,1,.5,3\r\n"
                             " \t\r\n"
                             "uniform,draw=shuffle,2,.7,\r\n"
                             "walk,\"M=2, K=5\",2,.9,1\n"
                             "walk,M=2,1,.6,2\n"
                             "walk,M=1,1,.25,8",
                             &u));
    CU_ASSERT(u.measures == 2 && strcmp(u.name[0], "top \"1\"") == 0 &&
              strcmp(u.name[1], "loss") == 0);
    CU_ASSERT_EQUAL_FATAL(u.rows, 5);
    int64_t base = setting("uniform", NAN, 200), two = setting("walk", 2, 200);
    const int64_t of[] = {base, base, two, two, setting("walk", 1, 200)};
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(u.setting[i], of[i]); // of the last step
    CU_ASSERT(isnan(u.value[HN_OUTCOMES_MAX + 1]));
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, base, 0, &mean));
    CU_ASSERT(fabs(mean.mean - .6) < 1e-12 && mean.n == 2);
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, base, 1, &mean));
    CU_ASSERT(fabs(mean.mean - 3) < 1e-12 && mean.n == 1);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, two, base, 0, &mean)); // .9 - .7, .6 - .5
    CU_ASSERT(fabs(mean.mean - .15) < 1e-12 && mean.n == 2);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, base, base, 0, &mean));
    CU_ASSERT(isnan(mean.mean));
    HN_CHECK(&ctx, read_text("sampler,step,acc\nuniform,100,1\nuniform,200,2", &u));
    CU_ASSERT(u.setting[0] == setting("uniform", NAN, 100) && u.setting[1] == base);
    // Setting 0 as a base, in the last row.
    HN_CHECK(&ctx, read_text("sampler,M,step,seed,acc\nwalk,2,100,1,3\nuniform,,100,1,1", &u));
    CU_ASSERT(u.setting[1] == 0);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, u.setting[0], 0, 0, &mean));
    CU_ASSERT(fabs(mean.mean - 2) < 1e-12);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, u.setting[0], -1, 0, &mean));
    CU_ASSERT(isnan(mean.mean));
    HN_CHECK(&ctx, read_text("acc,sampler,M\n1,walk,1", &u)); // an axis that varies
    CU_ASSERT(u.measures == 1 && u.setting[0] == of[4]);
    end();
}

static void test_refused(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {{"sampler,acc\nwalk,1", "line 2: is of several settings"},
                 {"sampler,acc\nwalk,1", " B="}, // what tells them apart may be no option
                 {"sampler,acc\nknn,1", "line 2: is of no setting"},
                 {"sampler,step,acc\nuniform,150,1", "is of no setting"},
                 {"sampler,params,acc\nwalk,\"M=1, K=6\",1", "is of no setting"},
                 {"sampler,seed,acc\nuniform,1,1\nuniform,1,2", "lines 2 and 3 are of one"},
                 {"sampler,acc\nuniform,1x", "column acc: '1x' is no number; a column"},
                 {"sampler,acc\nuniform,0x10", "is no number"},
                 {"sampler,acc\nuniform,inf", "is no number"},
                 {"sampler,seed,acc\nuniform,a,1", "column seed: 'a' is no number"},
                 {"sampler,acc\nuniform,1,2", "has 3 fields and the first line 2"},
                 {"sampler;acc\nuniform;1", "line 1 separates columns by semicolons: separate"},
                 {"sep=;\nsampler;acc\nuniform;1", "by semicolons"},
                 {"sampler\tacc\nuniform\t1", "by tabs"},
                 {"sampler,,acc\nuniform,1,2", "has no name on the first line"},
                 {"sampler,seed\nuniform,1", "names no measure"},
                 {"sampler,acc\n", "holds no row"},
                 {"", "acc.csv: is empty"},
                 {"sampler,a,b,c,d,e,f,g,h,i\n", "more than 8 measures"}};
    struct hn_outcome u;
    begin_results();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(read_text(cases[i].text, &u), HN_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, cases[i].says));
    }
    end();
}

// Against scipy's correlation and Bonett and Wright's formula.
static void test_correlation(void) {
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {2, 1, 4, 3, 8, 5, 6, 7};
    static const double five[] = {2, 1, 3, 5, 4}, same[] = {1, 2, 3, 4, 5, 6};
    struct hn_rank_correlation c;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_rank_correlation(&ctx, x, y, 8, &c));
    CU_ASSERT_DOUBLE_EQUAL(c.rho, 0.809523809524, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(c.lo, 0.115165518558, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(c.hi, 0.972455349626, 1e-9);
    CU_ASSERT_EQUAL(c.n, 8);
    HN_CHECK(&ctx, hn_rank_correlation(&ctx, x, five, 5, &c));
    CU_ASSERT_DOUBLE_EQUAL(c.rho, .8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(c.lo, -0.457124388805, 1e-9);
    HN_CHECK(&ctx, hn_rank_correlation(&ctx, x, y, 4, &c));
    CU_ASSERT(fabs(c.rho - .6) < 1e-12 && isnan(c.lo) && isnan(c.hi));
    HN_CHECK(&ctx, hn_rank_correlation(&ctx, x, same, 6, &c));
    CU_ASSERT(fabs(c.rho - 1) < 1e-12 && isnan(c.lo) && isnan(c.hi));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Options and columns of a row, by which figures and tables of users find it.
static void test_params(void) {
    static const char *const m[] = {"M", NULL}, *const all[] = {"sampler", "M", NULL};
    begin_results();
    const struct hn_table *t = &results.runs;
    CU_ASSERT(hn_option_number("K=5, M=1.5", "M") == 1.5 && hn_option_number("K=5", "K") == 5);
    CU_ASSERT(isnan(hn_option_number("K=5", "M")) && isnan(hn_option_number("K=5x", "K")));
    CU_ASSERT(isnan(hn_option_number("K=", "K")));
    // Rows 1 and 2 are of M = 1 and 2, rows 4 and 5 the same of another seed; rows 0 and 3 have
    // none.
    CU_ASSERT(hn_rows_agree(t, 1, 4, all) && !hn_rows_agree(t, 1, 2, m));
    CU_ASSERT(hn_rows_agree(t, 0, 3, all) && !hn_rows_agree(t, 0, 1, m));
    end();
}

static const struct hn_test tests[] = {{"rows of settings", test_rows},
                                       {"refused", test_refused},
                                       {"rank correlation", test_correlation},
                                       {"options and columns of a row", test_params}};

HN_TEST_MAIN("outcome", tests)
