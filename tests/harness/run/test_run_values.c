// SPDX-License-Identifier: GPL-3.0-or-later
// What the results of a run show: losses and weightings, and the relations that must hold on real
// embeddings.
#include "tests/place_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static double value(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_real(&r->runs, row, column);
}

// Every loss and weighting on the same batches: what the batches show is the same, what the loss
// shows is not, and what is measured without a weighting says so.
static void check_weighted(const struct hn_results *r, int64_t first, int64_t row) {
    bool weighted = strcmp(hn_table_text(&r->runs, row, "weighting"), "none") != 0;
    CU_ASSERT_STRING_EQUAL(hn_table_text(&r->runs, row, "status"), "ok");
    CU_ASSERT(same_bits(value(r, row, "fn_ratio"), value(r, first, "fn_ratio")));
    CU_ASSERT(same_bits(value(r, row, "cos_p90"), value(r, first, "cos_p90")));
    CU_ASSERT(value(r, row, "loss_batch") > 0 && value(r, row, "fn_mass") > 0);
    CU_ASSERT_EQUAL(isnan(value(r, row, "gap")), weighted);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&r->runs, row, "note"),
                           weighted ? "gap: weighting none only" : "");
    CU_ASSERT_EQUAL(isnan(value(r, row, "tau_plus")), !weighted);
    bool hcl = strcmp(hn_table_text(&r->runs, row, "weighting"), "hcl") == 0;
    CU_ASSERT_EQUAL(isnan(value(r, row, "beta")), !hcl);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&r->runs, row, "form"), hcl ? "equation" : "");
    for (int64_t other = first; other < row; other++)
        CU_ASSERT(value(r, row, "loss_batch") != value(r, other, "loss_batch"));
}

static void test_weightings(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place p = make_place(&ctx, "[uniform, knn]",
                                "steps: [0]\nbatches: 6\nloss: [ntxent, infonce]\nweightings: "
                                "[none, debiased, {hcl: {beta: [0.5, 2], anneal: 100}}]\n");
    struct hn_results r, plain;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    CU_ASSERT_EQUAL_FATAL(r.runs.rows, 2 * 4 * 2); // losses, weightings, samplers
    for (int64_t i = 0; i < 16; i++) {
        CU_ASSERT_STRING_EQUAL(hn_table_text(&r.runs, i, "loss"), i < 8 ? "ntxent" : "infonce");
        CU_ASSERT_STRING_EQUAL(hn_table_text(&r.runs, i, "sampler"), i % 2 ? "knn" : "uniform");
    }
    for (int64_t i = 0; i < 16; i++)
        if (i % 2 == 0)
            check_weighted(&r, 0, i);
    CU_ASSERT_EQUAL(value(&r, 4, "beta"), 0.5);
    CU_ASSERT_EQUAL(value(&r, 6, "beta"), 2);
    CU_ASSERT_EQUAL(value(&r, 6, "anneal"), 100);
    CU_ASSERT(value(&r, 7, "fn_mass") > value(&r, 5, "fn_mass"));
    // A job that names neither has the cells of loss ntxent and weighting none.
    char text[300];
    snprintf(text, sizeof text,
             "snapshots: s.h5\nbatch_size: 16\nsamplers: [uniform, knn]\nsteps: [0]\nbatches: 6\n");
    write_text(p.job, text);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &plain));
    CU_ASSERT_EQUAL(summary.present, 3); // with the step's cell without a sampler
    CU_ASSERT_EQUAL(summary.ran, 0);
    hn_results_free(&ctx, &plain);
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A run has costs where a limit of processor time makes the clock of the process coarse.
static void test_coarse_clock(void) {
    struct hn_context ctx;
    struct rlimit before, limit;
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_CPU, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_CPU, &limit), 0);
    struct place p = make_place(&ctx, "[knn]", "steps: [0]\nbatches: 6\n");
    struct hn_results r;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_CPU, &before), 0);
    CU_ASSERT(value(&r, 0, "cost_g") > 0 && value(&r, 0, "cost_s") > 0);
    for (int64_t i = 0; i < r.timing.rows; i++)
        CU_ASSERT(hn_table_real(&r.timing, i, "cpu_ns") > 0);
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Row of a sampler at a step, or -1.
static int64_t find_row(const struct hn_results *r, const char *sampler, double step) {
    for (int64_t i = 0; i < r->runs.rows; i++)
        if (strcmp(hn_table_text(&r->runs, i, "sampler"), sampler) == 0 &&
            value(r, i, "step") == step)
            return i;
    return -1;
}

// What any set of embeddings must show: both bounds above every gap, no gap below zero.
static void check_bounds(const struct hn_results *r) {
    for (int64_t i = 0; i < r->runs.rows; i++) {
        CU_ASSERT_STRING_EQUAL(hn_table_text(&r->runs, i, "status"), "ok");
        CU_ASSERT(value(r, i, "gap") >= 0);
        CU_ASSERT(value(r, i, "bound_36") >= value(r, i, "gap"));
        CU_ASSERT(value(r, i, "bound_37") >= value(r, i, "gap"));
    }
}

static void test_real_series(void) {
    char path[1024], text[8000];
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared CIFAR-10 series is not there (HN_SHARED names its folder)");
    char absolute[4096];
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(path, absolute));
    struct hn_context ctx;
    hn_context_init(&ctx, 0);
    struct place p = make_place(&ctx, "[uniform]", "");
    snprintf(text, sizeof text,
             "snapshots: %s\nbatch_size: 256\nepochs: 2\n"
             "samplers: [uniform, knn, batchsampler: {M: 500, K: 100, alpha: 0.7}, gcbs]\n",
             absolute);
    write_text(p.job, text);
    struct hn_run_summary summary;
    struct hn_results r;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    CU_ASSERT_EQUAL(r.runs.rows, 24);
    check_bounds(&r);
    static const double steps[] = {0, 50, 100, 200, 400, 1000};
    double expected = 10.0 * 1000.0 * 999.0 / (10000.0 * 9999.0); // sum n_c (n_c - 1) / (N (N - 1))
    for (int s = 0; s < 6; s++) {
        int64_t uniform = find_row(&r, "uniform", steps[s]), knn = find_row(&r, "knn", steps[s]);
        int64_t walk = find_row(&r, "batchsampler", steps[s]),
                gcbs = find_row(&r, "gcbs", steps[s]);
        CU_ASSERT_FATAL(uniform >= 0 && knn >= 0 && walk >= 0 && gcbs >= 0);
        // Half the 95 % interval over three standard errors of 80 batches: 1.99 of them.
        double error =
            (value(&r, uniform, "fn_ratio_hi") - value(&r, uniform, "fn_ratio_lo")) / 3.98;
        CU_ASSERT(fabs(value(&r, uniform, "fn_ratio") - expected) <= 3 * error);
        CU_ASSERT(value(&r, gcbs, "gap") < value(&r, uniform, "gap"));
        CU_ASSERT_EQUAL(value(&r, uniform, "coverage"), 1);
        CU_ASSERT_EQUAL(value(&r, gcbs, "coverage"), 1);
        if (steps[s] < 100)
            continue;
        CU_ASSERT(value(&r, walk, "fn_ratio_lo") > value(&r, uniform, "fn_ratio_hi"));
        CU_ASSERT(value(&r, knn, "fn_ratio_lo") > value(&r, walk, "fn_ratio_hi"));
        CU_ASSERT(value(&r, knn, "cos_mean") > value(&r, walk, "cos_mean"));
        CU_ASSERT(value(&r, walk, "cos_mean") > value(&r, uniform, "cos_mean"));
    }
    CU_ASSERT(value(&r, find_row(&r, "knn", 1000), "fn_ratio") >
              value(&r, find_row(&r, "knn", 0), "fn_ratio_hi"));
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
}

// The job that comes with the program, cut short: on embeddings of a trained encoder false
// negatives gain weight with beta (HC 6.1), and debiasing takes from what they add to the loss.
static void test_shipped_weightings(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    if (access("datasets/cifar10-mini.h5", R_OK) != 0)
        hn_test_skip("not run from the root of the checkout");
    char *item[] = {"batches=20", "steps=1000", "samplers=[uniform, knn]"};
    struct hn_text_list set = {item, 3};
    struct place p = {.job = "harness/jobs/weightings.yaml"};
    hn_fixture_folder(p.folder, sizeof p.folder);
    snprintf(p.out, sizeof p.out, "%s/out", p.folder);
    struct hn_results r;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place_with(&ctx, &p, &set, &summary, &r));
    // none, debiased, hcl by tau_plus and beta, gist by margin, fnc, progcl
    CU_ASSERT_EQUAL_FATAL(r.runs.rows, 2 * 14);
    for (int64_t i = 20; i < 28; i++)
        CU_ASSERT(value(&r, i, "fn_mass") < value(&r, i % 2, "fn_mass") ||
                  strcmp(hn_table_text(&r.runs, i, "weighting"), "progcl") == 0);
    for (int64_t i = 6; i < 20; i++) {
        double before = value(&r, i - 2, "fn_mass"), mass = value(&r, i, "fn_mass");
        bool starts = i == 12 || i == 13; // tau_plus = 0.1 begins with beta = 0.5 again
        CU_ASSERT(starts || mass > before);
        if (i >= 12) {
            CU_ASSERT_EQUAL(value(&r, i, "beta"), value(&r, i - 8, "beta"));
            CU_ASSERT(value(&r, i, "fn_loss_mass") < value(&r, i - 8, "fn_loss_mass"));
        }
    }
    CU_ASSERT(value(&r, 2, "fn_loss_mass") < value(&r, 0, "fn_loss_mass"));
    CU_ASSERT(value(&r, 3, "fn_loss_mass") < value(&r, 1, "fn_loss_mass"));
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A job that does not ask for the histogram has results without one.
static void test_few_metrics(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, "[uniform]", "batches: 3\nmetrics: [loss]\n");
    struct hn_results r;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    CU_ASSERT_EQUAL(r.runs.rows, 3);
    CU_ASSERT_EQUAL(r.kinds, 0);
    CU_ASSERT(value(&r, 2, "loss_batch") > 0 && isnan(value(&r, 2, "fn_ratio")));
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"weightings", test_weightings},
    {"coarse clock", test_coarse_clock},
    {"shipped weightings", test_shipped_weightings},
    {"few metrics", test_few_metrics},
    {"real series", test_real_series},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "run_values", tests, (int)(sizeof tests / sizeof tests[0]));
}
