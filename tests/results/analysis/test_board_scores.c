// SPDX-License-Identifier: GPL-3.0-or-later
// The statistic of the board on made-up boards: means within and over kinds, verdicts, pairs,
// ranks, and how often they are right (docs/notes/board.md has the same by other code).
#include "tests/results/analysis/made_board.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kinds 1, 2, 6 (means over encoders), one kept aside: mean 3, Student's interval over three.
static void means(void) {
    struct made m;
    make(&m, 1, 4, 1);
    const double mean[] = {1, 2, 6, -8}, off[] = {-.5, 0, .5};
    for (int k = 0; k < 4; k++)
        for (int e = 0; e < ENCODERS; e++)
            *at(&m, 0, k, e) = mean[k] + off[e];
    struct hn_mean one = hn_board_on_kind(&m.board, 0, excess, 2),
                   all = hn_board_over_kinds(&m.board, 0, excess, false),
                   kept = hn_board_over_kinds(&m.board, 0, excess, true);
    CU_ASSERT_DOUBLE_EQUAL(one.mean, 6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(one.half, gsl_cdf_tdist_Pinv(.975, 2) * .5 / sqrt(3), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(all.mean, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(all.half, gsl_cdf_tdist_Pinv(.975, 2) * sqrt(7. / 3), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(kept.mean, -8, 1e-12);
    CU_ASSERT_TRUE(isnan(kept.half));
    *at(&m, 0, 1, 2) = NAN; // an encoder is missing: no kind, no mean over kinds
    CU_ASSERT_TRUE(isnan(hn_board_on_kind(&m.board, 0, excess, 1).mean));
    CU_ASSERT_TRUE(isnan(hn_board_over_kinds(&m.board, 0, excess, false).mean));
    CU_ASSERT_FALSE(isnan(hn_board_over_kinds(&m.board, 0, excess, true).mean));
}

static void verdicts(void) {
    const struct hn_mean far = {.mean = 1, .half = 3, .lo = -2, .hi = 4}; // in points
    struct hn_mean m = {.mean = -20, .half = 10, .lo = -30, .hi = -10};
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .01), HN_BOARD_AHEAD);
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .06), HN_BOARD_OPEN);
    m = (struct hn_mean){.mean = 20, .half = 10, .lo = 10, .hi = 30};
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .05), HN_BOARD_BEHIND);
    m = (struct hn_mean){.mean = 1, .half = 3, .lo = -2, .hi = 4};
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .4), HN_BOARD_TIED);
    CU_ASSERT_EQUAL(hn_board_judge(m, far, NAN), HN_BOARD_TIED);
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .001), HN_BOARD_TIED); // told from 0, and of no matter
    m.hi = 5.1;
    CU_ASSERT_EQUAL(hn_board_judge(m, far, .4), HN_BOARD_OPEN);
    const struct hn_mean near = {.mean = .05, .half = .15, .lo = -.1, .hi = .2};
    CU_ASSERT_EQUAL(hn_board_judge(m, near, .001), HN_BOARD_TIED); // by points
    CU_ASSERT_EQUAL(hn_board_judge(hn_no_mean, hn_no_mean, NAN), HN_BOARD_OPEN);
}

// Entry 1 is .1 above entry 0 on one kind, 1 on two; entry 2 lacks a kind; entry 3 is entry 0.
static void pairs(void) {
    struct made m;
    struct hn_board_pair pair[6];
    double rank[4], apart;
    make(&m, 4, 4, 1);
    const double above[] = {.1, 1, 1, 50};
    for (int k = 0; k < 4; k++)
        for (int e = 0; e < ENCODERS; e++) {
            *at(&m, 0, k, e) = *at(&m, 3, k, e) = k + .1 * e;
            *at(&m, 1, k, e) = k + .1 * e + above[k];
            *at(&m, 2, k, e) = k == 1 ? NAN : 0;
        }
    add_shares(&m);
    CU_ASSERT_EQUAL_FATAL(hn_board_pairs(&ctx, &m.board, 0, pair), HN_OK);
    CU_ASSERT_EQUAL(pair[0].ties, 1);
    CU_ASSERT_EQUAL(pair[0].wins, 2);
    CU_ASSERT_EQUAL(pair[0].losses, 0);
    CU_ASSERT_DOUBLE_EQUAL(pair[0].points.mean, -.7, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(pair[0].difference.mean, -14, 1e-9);
    double t = .7 / .3, p = 2 * gsl_cdf_tdist_Q(t, 2); // 0-1 and 1-3 are tested
    CU_ASSERT_DOUBLE_EQUAL(pair[0].p, 2 * p, 1e-9);
    CU_ASSERT_EQUAL(pair[0].verdict, HN_BOARD_OPEN);
    CU_ASSERT_TRUE(isnan(pair[1].difference.mean));  // 0-2
    CU_ASSERT_EQUAL(pair[2].verdict, HN_BOARD_TIED); // 0-3
    CU_ASSERT_EQUAL(pair[2].ties, 3);
    CU_ASSERT_EQUAL_FATAL(hn_board_ranks(&ctx, &m.board, 0, rank, &apart), HN_OK);
    CU_ASSERT_DOUBLE_EQUAL(rank[0], 1.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(rank[1], 3, 1e-12);
    CU_ASSERT_TRUE(isnan(rank[2]));
}

// Entry a on two data sets, one of them with a seed that Uniform lacks; b on one of them.
static void trained(void) {
    struct made m;
    struct hn_board_outcome u;
    HN_SCOPE(&ctx);
    make_named(&m);
    CU_ASSERT_EQUAL_FATAL(read_trained(&m,
                                       "data,entry,seed,acc,loss\n"
                                       "x,uniform,1,70,2\nx,uniform,2,72,\ny,uniform,1,50,4\n"
                                       "x,a,1,71,1\nx,a,2,74,1\nx,a,3,0,1\ny,a,1,55,1\n"
                                       "x,b,1,71,1\nz,other,1,0,0\nq,a,1,0,0\n",
                                       &u),
                          HN_OK);
    CU_ASSERT(u.measures == 2 && u.data == 2 && strcmp(u.name[1], "loss") == 0);
    struct hn_mean a = hn_board_outcome_of(&u, 0, 0), loss = hn_board_outcome_of(&u, 0, 1);
    CU_ASSERT_DOUBLE_EQUAL(a.mean, (1.5 + 5) / 2, 1e-12); // (1 + 2) / 2 on x, 5 on y
    CU_ASSERT_EQUAL(a.n, 2);
    CU_ASSERT_DOUBLE_EQUAL(loss.mean, (-1 - 3) / 2., 1e-12);
    CU_ASSERT(isnan(hn_board_outcome_of(&u, 1, 0).mean)); // not on y
    CU_ASSERT(isnan(hn_board_outcome_of(&u, 2, 0).mean)); // Uniform
    CU_ASSERT(isnan(hn_board_outcome_of(&u, 3, 0).mean)); // not trained
    // One data set: over seeds.
    CU_ASSERT_EQUAL_FATAL(read_trained(&m,
                                       "entry,seed,acc\nuniform,1,1\nuniform,2,2\nuniform,3,3\n"
                                       "a,1,2\na,2,4\na,3,6\n",
                                       &u),
                          HN_OK);
    a = hn_board_outcome_of(&u, 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(a.mean, 2, 1e-12); // 1, 2, 3
    CU_ASSERT_DOUBLE_EQUAL(a.half, gsl_cdf_tdist_Pinv(.975, 2) / sqrt(3), 1e-9);
}

static void expect_markdown(const struct made *m, const struct hn_board_outcome *u,
                            const char *part) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx, hn_board_markdown(&ctx, &m->board, u, out));
    CU_ASSERT_EQUAL(fclose(out), 0);
    if (!strstr(text, part))
        fprintf(stderr, "    no \"%s\" in:\n%s", part, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    free(text);
}

// Entries 0, 1, 3, 4, 5 have these excesses, and these gains in training.
static void correlated(void) {
    struct made m;
    struct hn_board_outcome u;
    struct hn_rank_correlation r;
    const struct hn_board_score share = {0, HN_BOARD_SHARE};
    HN_SCOPE(&ctx);
    make_named(&m);
    CU_ASSERT_EQUAL(hn_fail(&ctx, HN_DATA, "a file was refused"), HN_DATA);
    CU_ASSERT_EQUAL_FATAL(read_trained(&m, "entry,acc\nuniform,0\na,9\nb,8\nc,7\nd,5\ne,6\n", &u),
                          HN_OK);
    CU_ASSERT_EQUAL_FATAL(hn_board_outcome_correlation(&ctx, &m.board, &u, share, 0, &r), HN_OK);
    CU_ASSERT_EQUAL(r.n, 5);
    CU_ASSERT_DOUBLE_EQUAL(r.rho, -.9, 1e-12);
    // The gains of the made boards are all 0, and one entry fewer is too few.
    expect_markdown(&m, &u,
                    "Rank correlation over 5 entries, with its 95 % interval: with the "
                    "excess -0.90 (-1.00 to ");
    expect_markdown(&m, &u, ", with the gain at +0.5 none, with the gain at +2 none");
    json_t *all = hn_board_json(&ctx, &m.board, &u); // though a file was refused before
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    double rho = NAN;
    CU_ASSERT_EQUAL(json_unpack(all, "{s:{s:{s:{s:{s:{s:F}}}}}}", "outcome", "correlations",
                                hn_board_measures[0].word, "acc", "share", "rho", &rho),
                    0);
    CU_ASSERT_DOUBLE_EQUAL(rho, -.9, 1e-12);
    json_decref(all);
    *at(&m, 5, 0, 0) = NAN;
    add_shares(&m);
    expect_markdown(&m, &u, "4 entries are too few for a rank correlation.");
}

static void trained_wrongly(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"entry,acc\nz,1\n", "holds no row"},
        {"entry,acc\na,1", "has no row of the entry `uniform`"},
        {"entry,acc\nuniform,1\na,2\na,3", "several rows are of a and have no seed"},
        {"entry,data,acc\nuniform,x,1\nuniform,x,2", "several rows are of uniform on x and have"},
        {"entry,data,acc\nuniform,x,1\na,y,2\na,y,3",
         "several rows are of a on y and have no seed"},
        {"entry,entry,acc\nuniform,a,1", "line 1 names the column entry twice"},
        {"entry,acc\xe9\nuniform,1", "line 1 is not UTF-8"},
        {"entry,acc\nuniform,1e31", "1e31 is too large"},
        {"data,acc\nx,1", "names no column `entry`"},
        {"entry,data,seed\na,x,1", "names no measure: a column such as `accuracy`, beside entry"},
        {"entry,seed,acc\na,1,1\na,1,2", "lines 2 and 3 are of one entry, data set and seed"},
        {"entry,acc\na,1x", "column acc: '1x' is no number"},
        {"entry,acc\na", "has 1 fields and the first line 2"}};
    struct made m;
    struct hn_board_outcome u;
    HN_SCOPE(&ctx);
    make_named(&m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        HN_CHECK_FAILS(&ctx, read_trained(&m, cases[i].text, &u), HN_DATA, cases[i].says);
}

// Data sets are told apart up to a number, and a row with a seed beside one without is no pair.
static void trained_on_many(void) {
    struct made m;
    struct hn_board_outcome u;
    HN_SCOPE(&ctx);
    make_named(&m);
    CU_ASSERT_EQUAL_FATAL(read_trained(&m, "entry,seed,acc\nuniform,,1\nuniform,2,3\na,2,7\n", &u),
                          HN_OK);
    CU_ASSERT_DOUBLE_EQUAL(hn_board_outcome_of(&u, 0, 0).mean, 4, 1e-12);
    enum { MANY = HN_BOARD_DATA_MAX + 1, LINE = 24 };
    char *text = malloc((size_t)(MANY + 1) * LINE), *end = text + sprintf(text, "entry,data,acc\n");
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, "uniform,d%d,1\n", i);
    HN_CHECK_FAILS(&ctx, hn_board_outcome_read(&ctx, "acc.csv", text, &m.board, &u), HN_DATA,
                   "acc.csv: line 1026: names more than 1024 data sets");
    free(text);
}

enum truth { NORMAL, HEAVY, ONE_IN_EIGHT, TRUTHS };

static double deviation(gsl_rng *r, enum truth truth) {
    double z = gsl_ran_gaussian(r, 1);
    return truth == HEAVY          ? gsl_ran_tdist(r, 3)
           : truth == ONE_IN_EIGHT ? z * (gsl_rng_uniform(r) < .125 ? 5 : 1)
                                   : z;
}

// Entries that are equal but for the first, which is better by so much.
static void draw(struct made *m, gsl_rng *r, enum truth truth, int entries, int kinds,
                 double gain) {
    make(m, entries, kinds, 0);
    for (int i = 0; i < entries; i++)
        for (int k = 0; k < kinds; k++) {
            double kind = deviation(r, truth) - (i == 0 ? gain : 0);
            for (int e = 0; e < ENCODERS; e++)
                *at(m, i, k, e) = kind + gsl_ran_gaussian(r, .3);
        }
    add_shares(m);
}

static const int numbers_of_kinds[] = {6, 8, 10};

// 2,000 boards each: standard error of .5 points, so three of them below 95 % is 93.5.
static void coverage(void) {
    struct made m;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    for (int truth = 0; truth < TRUTHS; truth++)
        for (int n = 0; n < 3; n++) {
            int covered = 0;
            for (int i = 0; i < 2000; i++) {
                draw(&m, r, (enum truth)truth, 1, numbers_of_kinds[n], 0);
                struct hn_mean mean = hn_board_over_kinds(&m.board, 0, excess, false);
                covered += mean.lo <= 0 && mean.hi >= 0;
            }
            CU_ASSERT_TRUE(covered >= 1870);
            if (truth == NORMAL) // where it is exact, neither too wide
                CU_ASSERT_TRUE(covered <= 1930);
        }
    gsl_rng_free(r);
}

// 400 boards of six equal entries: told apart on 5 % at most, within three standard errors.
static void false_claims(void) {
    struct made m;
    struct hn_board_pair pair[15];
    double rank[ENTRIES_MAX], apart;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    for (int truth = 0; truth < TRUTHS; truth++)
        for (int n = 0; n < 3; n++) {
            int told = 0, by_rank = 0;
            for (int i = 0; i < 400; i++) {
                draw(&m, r, (enum truth)truth, 6, numbers_of_kinds[n], 0);
                CU_ASSERT_EQUAL_FATAL(hn_board_pairs(&ctx, &m.board, 0, pair), HN_OK);
                bool any = false;
                for (int k = 0; k < 15; k++)
                    any |= pair[k].verdict == HN_BOARD_AHEAD || pair[k].verdict == HN_BOARD_BEHIND;
                told += any;
                if (i >= 40) // each draws 4,000 orders
                    continue;
                CU_ASSERT_EQUAL_FATAL(hn_board_ranks(&ctx, &m.board, 0, rank, &apart), HN_OK);
                double lo = INFINITY, hi = 0;
                for (int k = 0; k < 6; k++) {
                    lo = fmin(lo, rank[k]);
                    hi = fmax(hi, rank[k]);
                }
                by_rank += hi - lo > apart + 1e-9;
            }
            CU_ASSERT_TRUE(told <= 33);
            CU_ASSERT_TRUE(by_rank <= 6);
        }
    gsl_rng_free(r);
}

// A better entry is told, the more the better: a test that nothing passes would be honest, too.
static void power(void) {
    struct made m;
    struct hn_board_pair pair[10];
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    int told[3] = {0};
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < 200; i++) {
            draw(&m, r, NORMAL, 5, 8, g == 0 ? 1 : g == 1 ? 2 : 4);
            CU_ASSERT_EQUAL_FATAL(hn_board_pairs(&ctx, &m.board, 0, pair), HN_OK);
            told[g] += pair[0].verdict == HN_BOARD_AHEAD;
        }
    CU_ASSERT_TRUE(told[0] < told[1] && told[1] < told[2]);
    CU_ASSERT_TRUE(told[2] >= 190);
    gsl_rng_free(r);
}

// A file of encoders that are alike: Uniform and knn, or the setting of an entry.
static void fill(struct hn_results *r, const char *entry, const char *suite, const char *version,
                 int encoders) {
    static const char *const sha256[] = {"abc", "abd"};
    static const struct hn_column columns[] = {
        {"dataset_sha256", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"step", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
        {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
        {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
        {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER},
        {"fn_ratio", HN_COLUMN_REAL, "share", "", HN_SMALLER, HN_ROLE_QUALITY},
        {"true_mean", HN_COLUMN_REAL, "cosine", "", HN_LARGER, HN_ROLE_QUALITY},
        {"cost_s", HN_COLUMN_REAL, "s", "", HN_SMALLER, HN_ROLE_TIME}};
    static const struct {
        const char *sampler;
        double fn, hard;
    } cell[] = {{"uniform", .1, 0}, {"knn", .3, .4}, {"mine", .15, .2}};
    bool reference = strcmp(entry, HN_BOARD_REFERENCE) == 0;
    *r = (struct hn_results){0};
    HN_CHECK(&ctx, hn_results_set(&ctx, r, HN_BOARD_ENTRY, entry));
    HN_CHECK(&ctx, hn_results_set(&ctx, r, HN_BOARD_SUITE, suite));
    HN_CHECK(&ctx, hn_results_set(&ctx, r, HN_BOARD_SHA256, suite));
    HN_CHECK(&ctx, hn_results_set_env(&ctx, r, "results_version", version));
    HN_CHECK(&ctx, hn_table_init(&ctx, &r->runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &r->runs, columns, sizeof columns / sizeof *columns));
    for (int e = 0; e < encoders; e++) {
        const struct hn_described encoder[] = {HN_TEXT_CELL("kind", "", "only"),
                                               HN_TEXT_CELL("sha256", "", sha256[e]),
                                               HN_INT_CELL("step", "1", "", 5)};
        HN_CHECK(&ctx, hn_results_add_row(&ctx, r, HN_BOARD_TABLE, encoder, 3));
        for (int i = reference ? 0 : 2; i < (reference ? 2 : 3); i++)
            HN_CHECK(&ctx, HN_TABLE_PUT(&ctx, &r->runs, HN_TEXT_VALUE("dataset_sha256", sha256[e]),
                                        HN_INT_VALUE("step", 5),
                                        HN_TEXT_VALUE("sampler", cell[i].sampler),
                                        HN_INT_VALUE("seed", 1), HN_TEXT_VALUE("status", "ok"),
                                        HN_REAL_VALUE("fn_ratio", cell[i].fn),
                                        HN_REAL_VALUE("true_mean", cell[i].hard),
                                        HN_REAL_VALUE("cost_s", 1e-3 * (i + 1))));
    }
}

static const struct hn_board_wish any = {NULL, INFINITY};

// The line from (0, 0) to (.4, 20 points) has 10 at .2, where the entry has 5; at +2 points it is
// .04 hard, and the entry's .08. Less hard by .2, the line is at -10.
static void reading(void) {
    struct hn_results r[2];
    struct hn_board b;
    HN_SCOPE(&ctx);
    fill(&r[0], HN_BOARD_REFERENCE, "s", "7", 1);
    fill(&r[1], "mine", "s", "7", 1);
    struct hn_board_file file[] = {{&r[1], "mine.h5"}, {&r[0], "reference.h5"}};
    HN_CHECK(&ctx, hn_board_read(&ctx, file, 2, any, &b));
    CU_ASSERT_EQUAL(b.entries, 1);
    CU_ASSERT_STRING_EQUAL(b.entry[0].name, "mine");
    CU_ASSERT_DOUBLE_EQUAL(b.kind[0].uniform, 10, 1e-9);
    CU_ASSERT(b.entry[0].settings == 1 && fabs(b.entry[0].cost - 3e-3) < 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(hn_board_on_kind(&b, 0, excess, 0).mean, -5, 1e-9);
    const struct hn_board_score share = {0, HN_BOARD_SHARE}; // the line adds 10 points on average
    CU_ASSERT_DOUBLE_EQUAL(hn_board_on_kind(&b, 0, share, 0).mean, -50, 1e-9);
    struct hn_board_score gain = {0, HN_BOARD_GAIN + 1};
    CU_ASSERT_DOUBLE_EQUAL(hn_board_on_kind(&b, 0, gain, 0).mean, .04, 1e-9);
    CU_ASSERT_TRUE(isnan(hn_board_on_kind(&b, 0, (struct hn_board_score){2, 0}, 0).mean));
    HN_CHECK(&ctx, hn_table_set_real(&ctx, &r[1].runs, 0, "true_mean", -.2));
    HN_CHECK(&ctx, hn_board_read(&ctx, file, 2, any, &b));
    CU_ASSERT_DOUBLE_EQUAL(hn_board_on_kind(&b, 0, excess, 0).mean, 15, 1e-9);
    CU_ASSERT_EQUAL(b.entry[0].below, 1);
    HN_CHECK(&ctx, hn_table_set_real(&ctx, &r[1].runs, 0, "true_mean", .5)); // beyond knn
    HN_CHECK(&ctx, hn_board_read(&ctx, file, 2, any, &b));
    CU_ASSERT_DOUBLE_EQUAL(hn_board_on_kind(&b, 0, excess, 0).mean, -15, 1e-9);
}

// A limit of cost leaves out what is dearer, and what has no cost: an entry is Uniform where
// nothing of it is left, and has no score if nothing is anywhere. What the reference costs moves
// nothing.
static void limited(void) {
    struct hn_results r[2];
    struct hn_board b;
    HN_SCOPE(&ctx);
    fill(&r[0], HN_BOARD_REFERENCE, "s", "7", 2);
    fill(&r[1], "mine", "s", "7", 2); // a batch costs 3 ms
    struct hn_board_file file[] = {{&r[1], "mine.h5"}, {&r[0], "reference.h5"}};
    const struct {
        double cost, limit; // on the second encoder
        int dear;
        double gain, excess;
    } tried[] = {{4e-3, 5e-3, 0, .04, -5},
                 {4e-3, 3.5e-3, 1, 0, -2.5},
                 {4e-3, 2.5e-3, 2, NAN, NAN},
                 {NAN, 1, 1, 0, -2.5},
                 {NAN, INFINITY, 0, .04, -5}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct hn_board_wish wish = {NULL, tried[i].limit};
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &r[1].runs, 1, "cost_s", tried[i].cost));
        HN_CHECK(&ctx, hn_board_read(&ctx, file, 2, wish, &b));
        CU_ASSERT_EQUAL(b.entry[0].dear, tried[i].dear);
        bool none = isnan(tried[i].excess);
        CU_ASSERT_EQUAL(strcmp(hn_board_verdict_of(&b, 0, 0), "too dear") == 0, none);
        double gain =
                   hn_board_on_kind(&b, 0, (struct hn_board_score){0, HN_BOARD_GAIN + 1}, 0).mean,
               beyond = hn_board_on_kind(&b, 0, excess, 0).mean;
        CU_ASSERT_TRUE(none ? isnan(gain) : fabs(gain - tried[i].gain) < 1e-9);
        CU_ASSERT_TRUE(none ? isnan(beyond) : fabs(beyond - tried[i].excess) < 1e-9);
    }
}

// What lacks a measurement has no score, and the order of the reference's cells moves none.
static void holes(void) {
    static const struct {
        int file, row;
        const char *column, *text; // or
        double value, excess, uniform;
    } cases[] = {{0, 0, "fn_ratio", NULL, .1, -5, 10},
                 {0, 0, "status", "failed", 0, NAN, NAN}, // Uniform
                 {0, 1, "fn_ratio", NULL, NAN, NAN, 10},
                 {0, 1, "true_mean", NULL, NAN, NAN, 10},
                 {1, 0, "fn_ratio", NULL, NAN, NAN, 10},
                 {1, 0, "true_mean", NULL, NAN, NAN, 10},
                 {1, 0, "status", "failed", 0, NAN, 10},
                 {0, 1, "true_mean", NULL, 0, 5, 10}, // as hard as Uniform, which is the line
                 {0, 0, "sampler", "knn", 0, NAN, NAN}};
    struct hn_board b;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hn_results r[2];
        HN_SCOPE(&ctx);
        fill(&r[0], HN_BOARD_REFERENCE, "s", "7", 1);
        fill(&r[1], "mine", "s", "7", 1);
        struct hn_board_file file[] = {{&r[1], "mine.h5"}, {&r[0], "reference.h5"}};
        struct hn_table *t = &r[cases[i].file].runs;
        HN_CHECK(&ctx,
                 cases[i].text
                     ? hn_table_set_text(&ctx, t, cases[i].row, cases[i].column, cases[i].text)
                     : hn_table_set_real(&ctx, t, cases[i].row, cases[i].column, cases[i].value));
        HN_CHECK(&ctx, hn_board_read(&ctx, file, 2, any, &b));
        double own = hn_board_on_kind(&b, 0, excess, 0).mean, uniform = b.kind[0].uniform;
        bool good = isnan(cases[i].excess) ? isnan(own) : fabs(own - cases[i].excess) < 1e-9;
        good &= isnan(cases[i].uniform) ? isnan(uniform) : fabs(uniform - cases[i].uniform) < 1e-9;
        if (!good)
            fprintf(stderr, "    case %d: excess %g, Uniform's %g\n", (int)i, own, uniform);
        CU_ASSERT_TRUE(good);
    }
    struct hn_results r;
    HN_SCOPE(&ctx);
    fill(&r, "mine", "s", "7", 1);
    struct hn_board_file file = {&r, "mine.h5"};
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, &file, 1, any, &b), HN_USAGE, "reference");
    HN_CHECK(&ctx, hn_results_set(&ctx, &r, HN_BOARD_SHA256, ""));
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, &file, 1, any, &b), HN_DATA,
                   "mine.h5: is no entry of a board");
    struct hn_results none = {0};
    HN_CHECK(&ctx, hn_results_set(&ctx, &none, HN_BOARD_ENTRY, "mine"));
    HN_CHECK(&ctx, hn_results_set(&ctx, &none, HN_BOARD_SHA256, "s"));
    file.results = &none;
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, &file, 1, any, &b), HN_DATA,
                   "mine.h5: is no entry of a board");
}

static void mixed(void) {
    struct hn_results r[3];
    struct hn_board b;
    HN_SCOPE(&ctx);
    fill(&r[0], HN_BOARD_REFERENCE, "s", "7", 1);
    fill(&r[1], "mine", "s", "6", 1);
    fill(&r[2], "mine", "other", "7", 1);
    struct hn_board_file file[] = {{&r[0], "reference.h5"}, {&r[1], "mine.h5"}};
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, file, 2, any, &b), HN_USAGE,
                   "mine.h5 was made by version 6 of the code that measures, reference.h5 by "
                   "version 7");
    file[1].results = &r[2];
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, file, 2, any, &b), HN_USAGE,
                   "mine.h5 is of another suite");
    HN_CHECK(&ctx, hn_results_set(&ctx, &r[2], HN_BOARD_SHA256, "s"));
    HN_CHECK(&ctx, hn_table_set_int(&ctx, &r[2].runs, 0, "step", 6));
    HN_CHECK_FAILS(&ctx, hn_board_read(&ctx, file, 2, any, &b), HN_DATA,
                   "whose checksum is none of the suite's");
}

// The document has every entry once; its table begins with the best, and ends with those that have
// no score.
static void document(void) {
    static const char *const name[] = {"unscored", "worse", "better", "middle"};
    static const double excess_of[] = {NAN, 2, -1, 1};
    static const int order[] = {2, 3, 1, 0};
    struct made m;
    char *text = NULL;
    size_t length = 0;
    hn_context_init(&ctx, 1);
    make(&m, 4, 3, 1);
    m.board.suite = "made";
    m.board.sha256 = "0123456789abcdef";
    m.board.seconds = INFINITY;
    for (int k = 0; k < 3; k++)
        m.kind[k].name = ((const char *[]){"one", "two", "aside"})[k];
    m.kind[3].name = "beyond"; // there is none
    for (int i = 0; i < 4; i++) {
        m.entry[i] = (struct hn_board_entry){
            .name = name[i], .authors = "", .chosen_on = "", .labels = "", .file = "", .cost = 1};
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < ENCODERS; e++)
                *at(&m, i, k, e) = excess_of[i] + 0.1 * k;
    }
    add_shares(&m);
    json_t *all = hn_board_json(&ctx, &m.board, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    const json_t *entries = json_object_get(all, "entries");
    CU_ASSERT_EQUAL(json_array_size(entries), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *entry = json_array_get(entries, i);
        const json_t *by = json_object_get(entry, hn_board_measures[0].word);
        const char *says = json_string_value(json_object_get(by, "verdict"));
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(entry, "entry")), name[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(says);
        CU_ASSERT_STRING_EQUAL(says, hn_board_verdict_of(&m.board, (int64_t)i, 0));
        CU_ASSERT_EQUAL(json_object_size(by), HN_BOARD_SCORES + 2); // verdict and rank
        CU_ASSERT_EQUAL(json_object_size(json_object_get(json_object_get(by, "share"), "kinds")),
                        3);
    }
    CU_ASSERT_EQUAL(json_array_size(json_object_get(all, "kinds")), 3);
    for (int k = 0; k < HN_BOARD_MEASURES; k++) {
        const json_t *by =
            json_object_get(json_object_get(all, "pairs"), hn_board_measures[k].word);
        CU_ASSERT_EQUAL(json_array_size(json_object_get(by, "pairs")), 6);
    }
    FILE *out = open_memstream(&text, &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    HN_CHECK(&ctx, hn_board_markdown(&ctx, &m.board, NULL, out));
    CU_ASSERT_EQUAL(fclose(out), 0);
    const char *place = text;
    int lines = 0;
    for (int i = 0; i < 4 && place; i++) {
        place = strstr(place, name[order[i]]);
        CU_ASSERT_PTR_NOT_NULL(place);
    }
    for (const char *c = strstr(text, "\n|"); c; c = strstr(c + 1, "\n|"))
        lines++;
    CU_ASSERT_EQUAL(lines, 2 + 4); // a heading and a rule
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "3 kinds, 1 of them kept aside"));
    free(text);
    json_decref(all);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"reading", reading},
    {"limited", limited},
    {"mixed", mixed},
    {"holes", holes},
    {"trained on many", trained_on_many},
    {"means", means},
    {"verdicts", verdicts},
    {"pairs", pairs},
    {"trained", trained},
    {"correlated", correlated},
    {"trained wrongly", trained_wrongly},
    {"coverage", coverage},
    {"false_claims", false_claims},
    {"power", power},
    {"document", document},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "board", tests, sizeof tests / sizeof *tests);
}
