// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of trainings from a user's table: fields, the settings of its rows, means and
// differences by seed; and rank correlations with their intervals.
#include "results/analysis/outcome.h"
#include "results/analysis/params.h"
#include "tests/results/analysis/overview_fixture.h"

#include <inttypes.h>

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

// The only row of a setting.
static const struct hn_outcome_training *only_row(const struct hn_outcome *u, int64_t of) {
    int64_t first;
    CU_ASSERT_EQUAL_FATAL(hn_outcome_rows(u, of, &first), 1);
    CU_ASSERT_EQUAL(u->training[first].setting, of);
    return &u->training[first];
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
    int64_t one = setting("walk", 1, 200), first; // of the last step
    CU_ASSERT_EQUAL(hn_outcome_rows(&u, base, &first), 2);
    CU_ASSERT(u.training[first].seed == 1 && u.training[first].line == 2);
    CU_ASSERT(isnan(u.training[first + 1].value[1]) && u.training[first + 1].value[0] == .7);
    CU_ASSERT_EQUAL(hn_outcome_rows(&u, two, &first), 2); // by seed
    CU_ASSERT(u.training[first].line == 6 && u.training[first + 1].line == 5);
    CU_ASSERT(only_row(&u, one)->line == 7 && only_row(&u, one)->value[1] == 8);
    CU_ASSERT_EQUAL(hn_outcome_rows(&u, setting("uniform", NAN, 100), &first), 0);
    CU_ASSERT_EQUAL(hn_outcome_rows(&u, -1, &first), 0);
    CU_ASSERT_EQUAL(hn_outcome_rows(&u, o.settings, &first), 0);
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, base, 0, &mean));
    CU_ASSERT(fabs(mean.mean - .6) < 1e-12 && mean.n == 2);
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, base, 1, &mean));
    CU_ASSERT(fabs(mean.mean - 3) < 1e-12 && mean.n == 1);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, two, base, 0, &mean)); // .9 - .7, .6 - .5
    CU_ASSERT(fabs(mean.mean - .15) < 1e-12 && mean.n == 2);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, base, base, 0, &mean));
    CU_ASSERT(isnan(mean.mean));
    HN_CHECK(&ctx, read_text("sampler,step,acc\nuniform,100,1\nuniform,200,2", &u));
    CU_ASSERT(only_row(&u, setting("uniform", NAN, 100))->line == 2);
    CU_ASSERT(only_row(&u, base)->line == 3);
    // Setting 0 as a base, in the last row.
    HN_CHECK(&ctx, read_text("sampler,M,step,seed,acc\nwalk,2,100,1,3\nuniform,,100,1,1", &u));
    CU_ASSERT(only_row(&u, 0)->line == 3);
    int64_t other = setting("walk", 2, 100);
    CU_ASSERT(only_row(&u, other)->line == 2);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, other, 0, 0, &mean));
    CU_ASSERT(fabs(mean.mean - 2) < 1e-12);
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, other, -1, 0, &mean));
    CU_ASSERT(isnan(mean.mean));
    HN_CHECK(&ctx, read_text("dataset,sampler,params,acc\na.h5,walk,\"K=5, M=1\",3\n"
                             "a,walk,M=2,4\n",
                             &u)); // by its file, or as pages name it
    CU_ASSERT(only_row(&u, one)->value[0] == 3 && only_row(&u, two)->value[0] == 4);
    HN_CHECK(&ctx, read_text("acc,sampler,M\n1,walk,1", &u)); // an axis that varies
    CU_ASSERT(u.measures == 1 && only_row(&u, one)->value[0] == 1);
    // Rows without a seed stay in the order of the file, behind those with one.
    HN_CHECK(&ctx, read_text("sampler,seed,acc\nuniform,,5\nuniform,7,6\nuniform,,4", &u));
    CU_ASSERT(u.training[0].value[0] == 6 && u.training[1].value[0] == 5);
    CU_ASSERT(u.training[2].value[0] == 4 && isnan(u.training[2].seed));
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, base, 0, &mean));
    CU_ASSERT(mean.mean == 5 && mean.n == 3);
    end();
}

// Numbers its rows by the only key, whose text is a number, and counts how often it is asked.
static bool is_kind(const void *of, const char *name) {
    (void)of;
    return strcmp(name, "kind") == 0;
}

static enum hn_code find_kind(struct hn_context *c, const void *of,
                              const struct hn_outcome_row *row, int64_t *found) {
    int *asked = *(int *const *)of;
    (void)c;
    CU_ASSERT(row->keys == 1 && strcmp(row->name[0], "kind") == 0);
    ++*asked;
    *found = strtol(row->field[0], NULL, 10) - 1; // 0: left out
    return HN_OK;
}

// Long tables: what rows are of is found once for each that differs, and pairs by seed are found
// whatever the order of the rows.
static void test_long(void) {
    enum { ROWS = 20000, KINDS = 4, SEEDS = ROWS / KINDS };
    int asked = 0, *counter = &asked;
    const struct hn_outcome_match match = {"kind, seed", "kind", is_kind, find_kind, &counter};
    struct hn_outcome u;
    struct hn_mean mean;
    char *text = malloc((size_t)ROWS * 32), *at = text;
    hn_context_init(&ctx, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    HN_SCOPE(&ctx);
    at += sprintf(at, "acc,seed,kind\n");
    for (int64_t i = 0; i < ROWS; i++) { // 7919 is prime to ROWS
        int64_t k = i * 7919 % ROWS, kind = k % KINDS, seed = k / KINDS;
        at += sprintf(at, "%" PRId64 ",%" PRId64 ",%" PRId64 "\n", seed + 10 * kind, seed, kind);
    }
    HN_CHECK(&ctx, hn_outcome_read_as(&ctx, "acc.csv", text, &match, &u));
    CU_ASSERT_EQUAL(asked, KINDS);
    CU_ASSERT_EQUAL_FATAL(u.rows, ROWS - SEEDS); // kind 0 is left out
    for (int64_t r = 0; r < u.rows; r++)
        CU_ASSERT(u.training[r].setting == r / SEEDS && u.training[r].seed == (double)(r % SEEDS));
    HN_CHECK(&ctx, hn_outcome_difference(&ctx, &u, 2, 0, 0, &mean));
    CU_ASSERT(mean.mean == 20 && mean.n == SEEDS);
    HN_CHECK(&ctx, hn_outcome_mean(&ctx, &u, 1, 0, &mean));
    CU_ASSERT(fabs(mean.mean - (20 + (SEEDS - 1) / 2.)) < 1e-9 && mean.n == SEEDS);
    // Of two pairs of rows of one seed the first is named.
    (void)strcpy(text, "acc,seed,kind\n1,9,3\n1,8,3\n2,5,1\n1,9,3\n2,5,1\n");
    CU_ASSERT_EQUAL(hn_outcome_read_as(&ctx, "acc.csv", text, &match, &u), HN_DATA);
    CU_ASSERT_STRING_EQUAL(ctx.message, "acc.csv: lines 2 and 5 are of one kind and seed");
    free(text);
}

#define TEN ",,,,,,,,,,"
#define WIDE_ROW "sampler,acc\nuniform" TEN TEN TEN TEN TEN TEN ",,,,,,,,,"

static bool is_any(const void *of, const char *name) {
    (void)of;
    return *name != '\0';
}

static void test_many_columns(void) {
    const struct hn_outcome_match match = {"", "", is_any, find_kind, NULL};
    struct hn_outcome u;
    char text[1000];
    int at = snprintf(text, sizeof text, "k");
    hn_context_init(&ctx, 1);
    for (int k = 0; k < 64; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, ",k%d", k);
    HN_SCOPE(&ctx);
    HN_CHECK_FAILS(&ctx, hn_outcome_read_as(&ctx, "acc.csv", text, &match, &u), HN_DATA,
                   "acc.csv: has more than 64 columns");
}

static void test_refused(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"sampler,acc\nwalk,1", "line 2: is of several settings"},
        {"sampler,acc\nwalk,1", " B="}, // what tells them apart may be no option
        {"sampler,acc\nknn,1", "line 2: is of no setting"},
        {"dataset,sampler,acc\nb.h5,uniform,1", "is of no setting"},
        {"sampler,M,acc\nwalk,2x,1", "is of no setting"},
        {"sampler,M,acc\nwalk,x,1", "is of no setting"},
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
        {"sampler,acc,acc\nuniform,1,2", "line 1 names the column acc twice"},
        {"sampler,a\xff\nuniform,1", "line 1 is not UTF-8"},
        {"sampler,acc\n \t\nknn,1", "line 3: is of no setting"},
        {"sampler,acc\nuniform,-1e31", "column acc: -1e31 is too large: give it in another unit"},
        {"sampler,acc\nuniform", "has 1 fields and the first line 2"},
        {" \t", "acc.csv: is empty"},
        {"\n", "has no name on the first line"},
        {WIDE_ROW, "has 70 fields and the first line 2"},
        {"sampler,acc\n", "holds no row"},
        {"", "acc.csv: is empty"},
        {"sampler,a,b,c,d,e,f,g,h,i\n", "more than 8 measures"}};
    struct hn_outcome u;
    begin_results();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *ctx.message = '\0';
        CU_ASSERT_EQUAL(read_text(cases[i].text, &u), HN_DATA);
        if (!strstr(ctx.message, cases[i].says))
            fprintf(stderr, "    \"%s\" lacks \"%s\"\n", ctx.message, cases[i].says);
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

static const struct hn_test tests[] = {
    {"rows of settings", test_rows},        {"a long table", test_long},
    {"many columns", test_many_columns},    {"refused", test_refused},
    {"rank correlation", test_correlation}, {"options and columns of a row", test_params}};

HN_TEST_MAIN("outcome", tests)
