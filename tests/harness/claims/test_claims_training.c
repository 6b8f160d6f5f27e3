// SPDX-License-Identifier: GPL-3.0-or-later
// Claims on trainings, from made-up tables /runs and /training with known answers.
#include "core/random.h"
#include "harness/claims/claims.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;

static void must(enum hn_code code) {
    if (code != HN_OK) {
        fprintf(stderr, "    %s\n", ctx.message);
        abort();
    }
}

static const struct hn_column run_columns[] = {
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"M", HN_COLUMN_REAL, "1", "", HN_NEITHER},
    {"loss", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"task_params", HN_COLUMN_TEXT, "", "", HN_NEITHER},
    {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER},
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER},
};
static const struct hn_column training_columns[] = {
    {"run", HN_COLUMN_INT, "1", "", HN_NEITHER},
    {"step", HN_COLUMN_INT, "1", "", HN_NEITHER},
    {"loss", HN_COLUMN_REAL, "1", "", HN_NEITHER},
    {"acc", HN_COLUMN_REAL, "1", "", HN_LARGER},
    {"knn_h_mrr", HN_COLUMN_REAL, "1", "", HN_LARGER},
    {"features_acc", HN_COLUMN_REAL, "1", "", HN_LARGER},
    {"tfidf_knn_mrr", HN_COLUMN_REAL, "1", "", HN_LARGER},
    {"loss_expected", HN_COLUMN_REAL, "1", "", HN_NEITHER},
};

static void begin(struct hn_results *r) {
    *r = (struct hn_results){.n_tables = 1};
    must(hn_table_init(&ctx, &r->runs, "runs"));
    r->table = hn_zalloc(&ctx, 1, sizeof *r->table);
    if (!r->table)
        abort();
    must(hn_table_init(&ctx, r->table, "training"));
    for (size_t i = 0; i < sizeof run_columns / sizeof *run_columns; i++)
        must(hn_table_add_column(&ctx, &r->runs, &run_columns[i]));
    for (size_t i = 0; i < sizeof training_columns / sizeof *training_columns; i++)
        must(hn_table_add_column(&ctx, r->table, &training_columns[i]));
}

// A run of n evaluations, `every` steps apart, the first before training.
static void put(struct hn_results *r, const char *sampler, const char *params, int seed, int every,
                const double *acc, int n) {
    struct hn_table *runs = &r->runs, *t = r->table;
    int64_t run = runs->rows;
    must(hn_table_add_row(&ctx, runs));
    must(hn_table_set_text(&ctx, runs, run, "dataset", "d"));
    must(hn_table_set_text(&ctx, runs, run, "sampler", sampler));
    must(hn_table_set_text(&ctx, runs, run, "params", params));
    must(hn_table_set_text(&ctx, runs, run, "loss", "ntxent"));
    must(hn_table_set_text(&ctx, runs, run, "task_params", "encoder=mean, out=512"));
    must(hn_table_set_int(&ctx, runs, run, "seed", seed));
    must(hn_table_set_text(&ctx, runs, run, "status", "ok"));
    for (int i = 0; i < n; i++) {
        int64_t row = t->rows;
        must(hn_table_add_row(&ctx, t));
        must(hn_table_set_int(&ctx, t, row, "run", run));
        must(hn_table_set_int(&ctx, t, row, "step", i * every));
        must(hn_table_set_real(&ctx, t, row, "loss", -(1 + 0.001 * (seed - 2)) * i));
        must(hn_table_set_real(&ctx, t, row, "acc", acc[i]));
        must(hn_table_set_real(&ctx, t, row, "loss_expected", -(1.02 + 0.001 * seed) * i));
    }
}

static void judge(const struct hn_results *r, const char *claim, struct hn_claim_result *out) {
    char text[2048];
    struct hn_claim_book book;
    snprintf(text, sizeof text,
             "paper: X\nentries: [{id: x, title: x, source: x, claims: [{name: x, statement: x, "
             "%s}]}]\n",
             claim);
    must(hn_claims_read(&ctx, "made up", text, &book));
    must(hn_claim_judge(&ctx, r, &book.entry[0].claim[0], out));
}

static void expect(const struct hn_results *r, const char *claim, enum hn_verdict verdict,
                   double left, double right, const char *part) {
    HN_SCOPE(&ctx);
    struct hn_claim_result out;
    judge(r, claim, &out);
    if (out.verdict != verdict || !strstr(out.reason, part))
        fprintf(stderr, "    %s\n    gave %s: %s\n", claim, hn_verdicts[out.verdict], out.reason);
    CU_ASSERT_EQUAL(out.verdict, verdict);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.reason, part));
    if (!isnan(left) && out.parts > 0) {
        CU_ASSERT_DOUBLE_EQUAL(out.part[0].left, left, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(out.part[0].right, right, 1e-9);
    }
}

// Ends differ in their step: runs are compared at their own ends, paired by seed.
static void test_ends(void) {
    struct hn_results r;
    begin(&r);
    put(&r, "walk", "K=10, M=500", 1, 100, (double[]){.2, .5, .70}, 3);
    put(&r, "walk", "K=10, M=500", 2, 100, (double[]){.2, .5, .72}, 3);
    put(&r, "walk", "K=10, M=500", 3, 100, (double[]){.2, .5, .74}, 3);
    put(&r, "uniform", "draw=shuffle", 1, 300, (double[]){.201, .50}, 2);
    put(&r, "uniform", "draw=shuffle", 2, 300, (double[]){.2, .53}, 2);
    put(&r, "uniform", "draw=shuffle", 3, 300, (double[]){.199, .56}, 2);
#define WALK "of: {table: training, column: acc, rows: {sampler: walk}}"
    // Differences .20, .19, .18: mean .19, standard error .01 / sqrt(3).
    expect(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: uniform}}", HN_HOLDS, .72,
           .53, "over 3 trained encoders, se 0.0058, p 0.00092");
    expect(&r, "test: below, steps: end, " WALK ", than: {rows: {sampler: uniform}}", HN_FAILS, .72,
           .53, "");
    expect(&r, "test: above, steps: end, " WALK ", than: {steps: start, rows: {sampler: walk}}",
           HN_HOLDS, .72, .2, "");
    expect(&r,
           "test: equal, margin: 0.01, steps: start, " WALK ", than: {rows: {sampler: uniform}}",
           HN_HOLDS, .2, .2, "");
    hn_results_free(&ctx, &r);
}

// Options are found by name in the texts of options, empty columns of that name notwithstanding.
static void test_options(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++) {
        put(&r, "walk", "K=10, M=500", seed, 100, (double[]){.2, .6 + .01 * seed}, 2);
        put(&r, "walk", "K=10, M=1000", seed, 100, (double[]){.2, .7 + .012 * seed}, 2);
    }
#define END "test: rises, steps: end, along: M, of: {table: training, column: acc"
    expect(&r, END ", rows: {encoder: mean}}", HN_HOLDS, .724, .62, "M 500 to 1000");
    expect(&r, END ", rows: {encoder: gcn}}", HN_NOT_TESTED, NAN, NAN, "encoder gcn");
    expect(&r, END ", rows: {deco: gcn}}", HN_NOT_TESTED, NAN, NAN, "column 'deco' is missing");
    expect(&r,
           "test: above, steps: end, of: {table: training, column: acc, rows: {M: 1000}}, "
           "than: {rows: {M: 500}}",
           HN_HOLDS, .724, .62, "");
    // The loss of training is a number, that of the run a name.
    expect(&r,
           "test: below, steps: end, of: {table: training, column: loss, rows: {runs.loss: "
           "ntxent, M: 500}}, than: {value: -0.99}",
           HN_HOLDS, -1, -.99, "");
    expect(&r,
           "test: below, steps: end, of: {table: training, column: loss, rows: {runs.loss: "
           "siamese}}, than: {value: -0.99}",
           HN_NOT_TESTED, NAN, NAN, "no rows");
    expect(&r, "test: above, steps: end, of: {table: training, column: acc}, than: {value: 0}",
           HN_NOT_TESTED, NAN, NAN, "more settings than the claim tells apart");
    hn_results_free(&ctx, &r);
}

// Uniform ends at .6 after 300 steps; walk is at .5 after 100 and .7 after 200: .6 after 150.
static void test_sooner(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 6; seed++) {
        double e = .01 * (seed - 3.5);
        put(&r, "walk", "K=1", seed, 100, (double[]){.2, .5 + e, .7 + e, .8}, 4);
        put(&r, "uniform", "", seed, 100, (double[]){.2, .3, .4 + e, .6}, 4);
        put(&r, "slow", "", seed, 100, (double[]){.2, .3, .35, .4 + e}, 4);
    }
#define SOONER(a, b)                                                                               \
    "test: sooner, of: {table: training, column: acc, rows: {sampler: " a                          \
    "}}, than: {rows: {sampler: " b "}}"
    expect(&r, SOONER("walk", "uniform"), HN_HOLDS, 150, 300, "150 against 300");
    expect(&r, SOONER("uniform", "walk"), HN_FAILS, 400, 300,
           ""); // never there: one evaluation more
    expect(&r, SOONER("slow", "uniform"), HN_FAILS, 400, 300, "");
    expect(&r, SOONER("lost", "uniform"), HN_NOT_TESTED, NAN, NAN, "sampler lost");
    put(&r, "walk", "K=2", 1, 100, (double[]){.2, .5, .7, .8}, 4);
    expect(&r, SOONER("walk", "uniform"), HN_NOT_TESTED, NAN, NAN, "more settings");
    expect(&r, SOONER("slow", "walk"), HN_NOT_TESTED, NAN, NAN, "more settings");
    hn_results_free(&ctx, &r);
}

// Several data sets, and seeds that one side lacks. What is there from the start takes its step.
static void test_sooner_of_several(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 6; seed++) {
        double e = .01 * (seed - 3.5);
        put(&r, "walk", "", seed, 100, (double[]){.5 + 2 * e, .75, .8}, 3);
        if (seed < 6)
            put(&r, "uniform", "", seed, 100, (double[]){.2, .4, .6 + e}, 3);
    }
    for (int seed = 1; seed <= 3; seed++) {
        put(&r, "walk", "", seed, 100, (double[]){.2, .5 + .01 * seed, .8 + .01 * seed}, 3);
        must(hn_table_set_text(&ctx, &r.runs, r.runs.rows - 1, "dataset", "e"));
        put(&r, "uniform", "", seed, 200, (double[]){.2, .3, .5 + .002 * seed}, 3);
        must(hn_table_set_text(&ctx, &r.runs, r.runs.rows - 1, "dataset", "e"));
    }
    expect(&r, SOONER("walk", "uniform"), HN_HOLDS, NAN, NAN,
           "in all 2 comparisons; the closest at d: 40.27 against 200");
    // Settings told apart by `each` are each compared with themselves untrained.
    expect(&r,
           "test: above, steps: end, each: [runs.loss], " WALK ", than: {rows: {sampler: uniform}}",
           HN_HOLDS, NAN, NAN, "");
    expect(&r,
           "test: bound, steps: end, of: {table: training, column: acc, rows: {sampler: "
           "[walk, uniform]}}, than: {value: 0.4}",
           HN_HOLDS, NAN, NAN, "in all 17 comparisons");
    expect(&r,
           "test: bound, steps: end, of: {table: training, column: acc}, than: {column: "
           "loss_expected}",
           HN_HOLDS, NAN, NAN, "in all 17 comparisons");
    expect(&r,
           "test: above, steps: end, of: {table: training, column: acc - loss, rows: "
           "{sampler: walk}}, than: {rows: {sampler: uniform}}",
           HN_HOLDS, NAN, NAN, "");
    expect(&r,
           "test: above, of: {table: training, column: acc, steps: end, rows: {sampler: walk}},"
           " than: {rows: {sampler: uniform}}, steps: end",
           HN_HOLDS, NAN, NAN, "");
    hn_results_free(&ctx, &r);
}

// A loss over what it was before the epoch: .999 / 1.021 to 1.001 / 1.023 here.
static void test_expected(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++)
        put(&r, "walk", "K=1", seed, 100, (double[]){.2, .5, .7}, 3);
#define RATIO(margin)                                                                              \
    "test: equal, margin: " margin ", steps: end, of: {table: training, column: loss / "           \
    "loss_expected, rows: {sampler: walk}}, than: {value: 1}"
    double mean = (.999 / 1.021 + 1 / 1.022 + 1.001 / 1.023) / 3;
    expect(&r, RATIO("0.05"), HN_HOLDS, mean, 1, "");
    expect(&r, RATIO("0.01"), HN_FAILS, mean, 1, "");
    hn_results_free(&ctx, &r);
}

static void test_refused(void) {
    HN_SCOPE(&ctx);
    struct hn_claim_book book;
    const char *text = "paper: X\nentries: [{id: x, title: x, source: x, claims: [{name: x, "
                       "statement: x, test: sooner, of: {column: acc}, than: {value: 1}}]}]\n";
    CU_ASSERT_EQUAL(hn_claims_read(&ctx, "made up", text, &book), HN_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "'sooner' wants rows"));
}

// Training that does nothing: whatever the samplers show, the verdict is that nothing can be shown.
static void test_insensitive(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++) {
        double noise = .01 * (seed - 2);
        put(&r, "walk", "K=10", seed, 100, (double[]){.50, .50 + .1 + .001 * seed}, 2);
        put(&r, "uniform", "draw=shuffle", seed, 100, (double[]){.50, .50 + noise}, 2);
    }
    expect(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: uniform}}",
           HN_INCONCLUSIVE, .602, .50, "assay insensitive: at d training does not beat");
    expect(&r, "test: below, steps: end, " WALK ", than: {rows: {sampler: uniform}}",
           HN_INCONCLUSIVE, .602, .50, "assay insensitive");
    // Trained against untrained is what the assay is: it judges for itself.
    expect(&r, "test: above, steps: end, " WALK ", than: {steps: start, rows: {sampler: walk}}",
           HN_HOLDS, .602, .50, "");
    hn_results_free(&ctx, &r);
}

// Before the first step of every run.
static void put_features(struct hn_results *r, const char *column, double value) {
    for (int64_t row = 0; row < r->table->rows; row++)
        if (!(hn_table_real(r->table, row, "step") > 0))
            must(hn_table_set_real(&ctx, r->table, row, column, value));
}

// Training that does something, and less than its features do alone: it tells nothing either.
static void test_below_features(void) {
    static const struct {
        double features;
        bool sensitive;
    } of[] = {{NAN, true}, {.55, true}, {.599, false}, {.65, false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct hn_results r;
        begin(&r);
        for (int seed = 1; seed <= 3; seed++) {
            double noise = .002 * (seed - 2);
            put(&r, "walk", "K=10", seed, 100, (double[]){.50, .70 + 2 * noise}, 2);
            put(&r, "uniform", "draw=shuffle", seed, 100, (double[]){.50, .60 + noise}, 2);
        }
        put_features(&r, "features_acc", of[i].features);
        expect(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: uniform}}",
               of[i].sensitive ? HN_HOLDS : HN_INCONCLUSIVE, .70, .60,
               of[i].sensitive ? ""
                               : "assay insensitive: at d training does not beat the features "
                                 "that went in: 0.6 against");
        hn_results_free(&ctx, &r);
    }
}

// Other measures of which larger is better, of h: features have no layers. A loss is no accuracy.
static void test_below_sparse_features(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++) {
        put(&r, "walk", "K=10", seed, 100, (double[]){.50, .70 + .001 * seed}, 2);
        put(&r, "uniform", "draw=shuffle", seed, 100, (double[]){.50, .60 - .001 * seed}, 2);
    }
    for (int64_t row = 0; row < r.table->rows; row++)
        must(
            hn_table_set_real(&ctx, r.table, row, "knn_h_mrr", hn_table_real(r.table, row, "acc")));
    put_features(&r, "tfidf_knn_mrr", .65);
#define OF(column)                                                                                 \
    "test: above, steps: end, of: {table: training, column: " column                               \
    ", rows: {sampler: walk}}, than: {rows: {sampler: uniform}}"
    expect(&r, OF("knn_h_mrr"), HN_INCONCLUSIVE, .702, .598, "the features that went in");
    expect(&r, OF("acc"), HN_HOLDS, .702, .598, "");
    expect(&r, OF("loss"), HN_INCONCLUSIVE, NAN, NAN, "");
    hn_results_free(&ctx, &r);
}

// Three settings of the side that is compared with are three, not all pairs of them: p of the best
// is .0048, which stands a correction for three and not for nine.
static void test_sensitive_settings(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++) {
        double end = .64 + .024 * (seed - 2);
        put(&r, "walk", "K=10", seed, 100, (double[]){.50, .90}, 2);
        put(&r, "knn", "K=10", seed, 100, (double[]){.50, end}, 2);
        put(&r, "gcbs", "K=10", seed, 100, (double[]){.50, .50 + .001 * seed}, 2);
        put(&r, "mined", "K=10", seed, 100, (double[]){.50, .50 - .001 * seed}, 2);
    }
    expect(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: [knn, gcbs, mined]}}",
           HN_HOLDS, NAN, NAN, "in all 3 comparisons");
    hn_results_free(&ctx, &r);
}

// Samplers that ruin an encoder are told apart, since Uniform's training shows that accuracies can.
static void test_ruinous(void) {
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 3; seed++) {
        double noise = .001 * (seed - 2);
        put(&r, "uniform", "draw=shuffle", seed, 100, (double[]){.50, .60 + noise}, 2);
        put(&r, "walk", "K=10", seed, 100, (double[]){.50, .30 + 2 * noise}, 2);
        put(&r, "knn", "K=10", seed, 100, (double[]){.50, .20 - noise}, 2);
    }
    expect(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: knn}}", HN_HOLDS, .30,
           .20, "");
    hn_results_free(&ctx, &r);
}

static void set_accuracies(struct hn_results *r, gsl_rng *rng, double trained) {
    for (int64_t row = 0; row < r->table->rows; row++) {
        bool end = hn_table_real(r->table, row, "step") > 0;
        double mean = end ? trained : 0;
        must(hn_table_set_real(&ctx, r->table, row, "acc", mean + gsl_ran_gaussian(rng, 1)));
    }
}

// Simulated: of comparisons on an encoder that training does not better at most 2.5 % are said to
// be sensitive; where it does, by much, all are.
static void test_insensitive_rate(void) {
    enum { TRIALS = 1000 };
    static const double trained[] = {0, 40};
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.assay", 0, 0, 0);
    gsl_rng rng = hn_stream_gsl(&stream);
    struct hn_results r;
    begin(&r);
    for (int seed = 1; seed <= 4; seed++) {
        put(&r, "walk", "K=10", seed, 100, (double[]){0, 0}, 2);
        put(&r, "uniform", "draw=shuffle", seed, 100, (double[]){0, 0}, 2);
    }
    for (int t = 0; t < 2; t++) {
        int sensitive = 0;
        for (int i = 0; i < TRIALS; i++) {
            HN_SCOPE(&ctx);
            struct hn_claim_result out;
            set_accuracies(&r, &rng, trained[t]);
            judge(&r, "test: above, steps: end, " WALK ", than: {rows: {sampler: uniform}}", &out);
            sensitive += !strstr(out.reason, "insensitive");
        }
        if (t == 0)
            CU_ASSERT(sensitive <= TRIALS * .025 + 3 * sqrt(TRIALS * .025 * .975));
        if (t == 1)
            CU_ASSERT_EQUAL(sensitive, TRIALS);
    }
    hn_results_free(&ctx, &r);
}

static const struct hn_test tests[] = {
    {"a run's own ends", test_ends},
    {"options by name", test_options},
    {"sooner", test_sooner},
    {"sooner, of several", test_sooner_of_several},
    {"a loss and its estimate", test_expected},
    {"refused", test_refused},
    {"assay insensitive", test_insensitive},
    {"below the features", test_below_features},
    {"below sparse features", test_below_sparse_features},
    {"settings of the assay", test_sensitive_settings},
    {"ruinous samplers", test_ruinous},
    {"how often it is insensitive", test_insensitive_rate},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_training", tests,
                        (int)(sizeof tests / sizeof tests[0]));
}
