// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates: the arithmetic near its limits, and what was foreseen against what was then used.
#include "core/sweep/screen.h"
#include "core/text.h"
#include "datasets/h5.h"
#include "datasets/synth.h"
#include "harness/run/estimate_private.h"
#include "tests/job_fixture.h"

#include <math.h>

static const double enough = 3600; // seconds of trials, under any load

// --- arithmetic ---

static void test_sizes_stop(void) {
    const int64_t n = INT64_C(1) << 31;
    CU_ASSERT_EQUAL(hn_bytes_mul(n - 1, n - 1), (n - 1) * (n - 1));
    CU_ASSERT_EQUAL(hn_bytes_mul(n, n), INT64_C(1) << 62);
    CU_ASSERT_EQUAL(hn_bytes_mul(n, 2 * n), INT64_MAX); // 2^63
    CU_ASSERT_EQUAL(hn_bytes_mul(hn_bytes_mul(n, n), 4), INT64_MAX);
    CU_ASSERT_EQUAL(hn_bytes_mul(0, INT64_MAX), 0);
    CU_ASSERT_EQUAL(hn_bytes_mul(-5, n), 0);
}

static void check_close(int64_t got, double wanted) {
    CU_ASSERT(fabs((double)got - wanted) <= 1e-6 * wanted + 1);
}

// Bytes that grow with n, or with a number of entries, are foreseen at any n; nothing overflows.
static void test_growth(void) {
    const double at[2] = {2048, 4096}, entries[2] = {2048. * 2048, 4096. * 4096}, same[2] = {9, 9};
    const int64_t flat[2] = {12345678, 12345678}, line[2] = {64 + 2048000, 64 + 4096000};
    const int64_t square[2] = {64 + 12 * 2048 * 2048, 64 + 12 * 4096 * 4096};
    for (int shift = 12; shift <= 31; shift++) {
        double n = fmax(4096, ldexp(1, shift) - 1);
        CU_ASSERT_EQUAL(hn_estimate_bytes(at, flat, 2, n), 12345678);
        check_close(hn_estimate_bytes(at, line, 2, n), 64 + 1000 * n);
        if (n < 8e8)
            check_close(hn_estimate_bytes(entries, square, 2, n * n), 64 + 12 * n * n);
    }
    CU_ASSERT_EQUAL(hn_estimate_bytes(entries, square, 2, 1e30), INT64_MAX);
    CU_ASSERT_EQUAL(hn_estimate_bytes(at, line, 1, 1e9), line[0]); // tried on the file itself
    check_close(hn_estimate_bytes(same, line, 2, 18), 2. * (double)line[1]);
    // Bytes that shrink towards larger files are not carried on.
    const int64_t falling[2] = {9000000, 3000000};
    CU_ASSERT_EQUAL(hn_estimate_bytes(at, falling, 2, 100000), 9000000);
}

static void check_bytes_text(int64_t bytes, const char *wanted) {
    CU_ASSERT_STRING_EQUAL(hn_bytes_text(bytes).text, wanted);
}

static void check_seconds_text(double seconds, const char *wanted) {
    CU_ASSERT_STRING_EQUAL(hn_seconds_text(seconds).text, wanted);
}

static void test_texts(void) {
    check_bytes_text(0, "0.0 KiB");
    check_bytes_text(1536, "1.5 KiB");
    check_bytes_text(INT64_C(34) << 20, "34 MiB");
    check_bytes_text(INT64_C(3) << 29, "1.5 GiB");
    check_bytes_text(INT64_MAX, "8.0 EiB");
    check_seconds_text(0.0123, "12 ms");
    check_seconds_text(0.0999, "0.1 s");
    check_seconds_text(59.6, "60 s");
    check_seconds_text(59.96, "1:00");
    check_seconds_text(3599.6, "1:00:00");
    check_seconds_text(7390, "2:03:10");
    check_seconds_text(INFINITY, "2500000000000:00:00");
}

// --- foreseen and used ---

static void make_classes(struct bench *b, const char *n, const char *dim, const char *classes) {
    char path[600];
    struct hn_synth synth = {.tool_version = "hardneg test", .teacher_dim = 12, .groups = true};
    const char *const setting[][2] = {{"n", n},
                                      {"dim", dim},
                                      {"steps", "2"},
                                      {"seed", "7"},
                                      {"kappa-from", "20"},
                                      {"step-gap", "60"},
                                      {"classes", classes}};
    snprintf(path, sizeof path, "%s/s.h5", b->folder);
    HN_CHECK(&b->ctx, hn_options_init(&b->ctx, hn_synth_options, &synth));
    for (size_t i = 0; i < sizeof setting / sizeof setting[0]; i++)
        HN_CHECK(&b->ctx,
                 hn_options_set(&b->ctx, hn_synth_options, &synth, setting[i][0], setting[i][1]));
    HN_CHECK(&b->ctx, hn_options_set(&b->ctx, hn_synth_options, &synth, "output", path));
    HN_CHECK(&b->ctx, hn_synth_write(&b->ctx, &synth));
    hn_options_free(&b->ctx, hn_synth_options, &synth);
}

static void make_series(struct bench *b, const char *n, const char *dim) {
    make_classes(b, n, dim, "10");
}

// Runs the job in the fixture's folder, in parts or not; returns its peak of allocated memory.
static int64_t run_job(struct bench *b, const struct hn_plan *plan, bool in_parts) {
    char out[600];
    snprintf(out, sizeof out, "%s/out", b->folder);
    struct hn_run_summary summary;
    struct hn_cell_state state = {0};
    struct hn_file_parts parts;
    struct hn_runner run = hn_plan_runner(plan);
    HN_CHECK(&b->ctx, hn_file_parts_open(&b->ctx, NULL, NULL, &parts));
    parts.folder = run.folder = out;
    run.quiet = true;
    run.parts = in_parts ? &parts : NULL;
    atomic_store(&b->ctx.memory.peak, 0);
    HN_CHECK(&b->ctx, hn_run_cells(&b->ctx, &run, &state, &summary));
    struct hn_results results = {0};
    HN_CHECK(&b->ctx, hn_run_collect(&b->ctx, &run, &results, &summary));
    CU_ASSERT_EQUAL(summary.failed, 0);
    CU_ASSERT(parts.count.computed > 0 || !in_parts);
    hn_results_free(&b->ctx, &results);
    hn_file_parts_close(&b->ctx, &parts);
    return b->ctx.memory.peak;
}

// The peak is within 1.1 times the estimate, and the estimate no more than twice the peak. Times
// are printed: what else runs on the machine decides them, too.
static void check_job(struct bench *b, const char *name, const char *text, bool parts) {
    struct hn_job job;
    struct hn_plan plan;
    struct hn_estimate total;
    struct hn_file_parts cut;
    struct hn_runner run = {.parts = parts ? &cut : NULL};
    HN_CHECK(&b->ctx, read_text(b, text, NULL, &job));
    HN_CHECK(&b->ctx, hn_plan_make(&b->ctx, &job, &plan));
    int64_t live = b->ctx.memory.live;
    HN_CHECK(&b->ctx, hn_estimate_make(&b->ctx, &plan, &run, enough, &total));
    CU_ASSERT_EQUAL(total.unknown, 0);
    CU_ASSERT_EQUAL(total.live, live);
    hn_free(&b->ctx, total.item);
    CU_ASSERT_EQUAL(b->ctx.memory.live, live);
    int64_t begin = hn_wall_ns(), peak = run_job(b, &plan, parts);
    printf("    %-28s %6.2f MiB used, %6.2f foreseen; %5.2f s, %5.2f foreseen\n", name,
           (double)peak / 1048576, (double)total.bytes / 1048576,
           (double)(hn_wall_ns() - begin) * 1e-9, total.seconds);
    CU_ASSERT((double)peak <= 1.1 * (double)total.bytes);
    CU_ASSERT((double)peak >= 0.5 * (double)total.bytes);
    hn_plan_free(&b->ctx, &plan);
}

static void check_samplers(const char *n, const char *dim, const char *const *sampler, int count,
                           bool mode) {
    for (int i = 0; i < count; i++) {
        struct bench b;
        char text[1000];
        set_up(&b);
        b.ctx.memory.mode = mode;
        make_series(&b, n, dim);
        snprintf(text, sizeof text,
                 "version: 1\nsnapshots: s.h5\nsteps: [60]\nbatch_size: 32\nbatches: 60\n"
                 "samplers: [%s]\nmetrics: [fn_ratio, loss, coverage]\nfigures: none\n",
                 sampler[i]);
        check_job(&b, sampler[i], text, false);
        tear_down(&b);
    }
}

static void test_small_file(void) {
    const char *const sampler[] = {"uniform",
                                   "knn",
                                   "batchsampler: {M: 300, K: 100}",
                                   "gcbs: {keep: 64}",
                                   "hard-negative",
                                   "stratified",
                                   "random-negatives: {n: 50}",
                                   "ring: {space: embeddings, n: 20}",
                                   "mined"};
    check_samplers("900", "16", sampler, (int)(sizeof sampler / sizeof sampler[0]), false);
}

// Carried on from synthetic files of 2,048 and 4,096 items.
static void test_large_file(void) {
    const char *const sampler[] = {"uniform",
                                   "batchsampler: {M: 100, K: 50}",
                                   "gcbs: {quantile: 0.99}",
                                   "gcbs: {keep: 64}",
                                   "tas-b",
                                   "cde",
                                   "b3: {p: 20, m: 30}",
                                   "grit",
                                   "b3: {p: 20, m: 30, space: teacher}"};
    check_samplers("12000", "8", sampler, (int)(sizeof sampler / sizeof sampler[0]), false);
}

// Margins of what it collects, which are most of it at the sizes tried, are little of it here.
static void test_gcbs(void) {
    const char *const sampler[] = {"gcbs"};
    check_samplers("64000", "8", sampler, 1, false);
}

static void test_lean(void) {
    const char *const sampler[] = {"mined"};
    check_samplers("9000", "8", sampler, 1, true);
}

// A stale graph is judged beside a fresh one; weightings, losses and everything that is measured.
static void test_stale(void) {
    struct bench b;
    set_up(&b);
    make_series(&b, "900", "16");
    check_job(&b, "stale graph, all metrics",
              "version: 1\nsnapshots: s.h5\nbatch_size: [32, 64]\nepochs: 1\n"
              "samplers: [batchsampler: {M: 300, K: 100, t: 100}]\nloss: [ntxent, infonce]\n"
              "weightings: [none, debiased]\nfigures: none\n",
              false);
    tear_down(&b);
}

// Cut into parts, as --rows does it: carried on from synthetic files, and on the file itself.
static void test_parts(void) {
    static const char *const n[] = {"12000", "5000"};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        set_up(&b);
        make_series(&b, n[i], "64");
        check_job(&b, "in parts",
                  "version: 1\nsnapshots: s.h5\nsteps: [60]\nbatch_size: 32\nbatches: 5\n"
                  "samplers: [mined, gcbs: {keep: 64}]\nmetrics: [fn_ratio]\nfigures: none\n",
                  true);
        tear_down(&b);
    }
}

// Studies of both steps: on the file itself, and carried on from files of one step.
static void test_studies(void) {
    static const char *const study[] = {"heatmap: {size: 128}", "staleness: {M: 200, K: 50}",
                                        "purity: {M: 200, K: 50}", "prop2: {M: 200, K: 50}"};
    static const char *const n[] = {"900", "12000"};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof study / sizeof *study; k++) {
            struct bench b;
            char text[1000];
            if (i == 1 && k == 3)
                continue; // it takes too long to run
            set_up(&b);
            make_series(&b, n[i], "16");
            snprintf(text, sizeof text,
                     "version: 1\nsnapshots: s.h5\nbatch_size: 32\nbatches: 5\n"
                     "samplers: [uniform]\nmetrics: [fn_ratio, %s]\nseeds: [1, 2]\n"
                     "figures: none\n",
                     study[k]);
            check_job(&b, study[k], text, false);
            tear_down(&b);
        }
}

// What a cell adds to the results, not what an empty table takes, is foreseen for each.
static void test_many_cells(void) {
    struct bench b;
    char text[3000] = "version: 1\nsnapshots: s.h5\nsteps: [60]\nbatch_size: 8\nbatches: 2\n"
                      "samplers: [uniform]\nmetrics: [fn_ratio]\nfigures: none\nseeds: [1";
    set_up(&b);
    make_series(&b, "60", "4");
    for (int seed = 2; seed <= 300; seed++)
        hn_append(text, sizeof text, ", %d", seed);
    hn_append(text, sizeof text, "]\n");
    check_job(&b, "300 cells", text, false);
    tear_down(&b);
}

// Of many settings few are tried, and all are foreseen; without time nothing is.
static void test_bounded(void) {
    struct bench b;
    struct hn_job job;
    struct hn_plan plan;
    struct hn_estimate estimate;
    struct hn_probe_file file;
    int64_t tried = 0;
    set_up(&b);
    make_series(&b, "60", "4");
    HN_CHECK(&b.ctx, read_text(&b,
                               "version: 1\nsnapshots: s.h5\nbatch_size: 8\nbatches: 5\n"
                               "samplers: [uniform, batchsampler: {M: [20, 30, 40, 50], "
                               "K: [2, 3, 4, 5, 6, 7], alpha: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, "
                               "0.7, 0.8]}, knn]\n"
                               "metrics: [fn_ratio, heatmap: {size: 9}]\nfigures: none\n",
                               NULL, &job));
    HN_CHECK(&b.ctx, hn_plan_make(&b.ctx, &job, &plan));
    for (int64_t s = 0; s < job.n_samplers; s++)
        tried += hn_probe_tries(&job, s) == s;
    CU_ASSERT(job.n_samplers == 218 && tried > 50 && tried < 70);
    CU_ASSERT(hn_probe_tries(&job, 0) == 0 && hn_probe_tries(&job, 1) == 1 &&
              hn_probe_tries(&job, 217) == 217);
    HN_CHECK(&b.ctx, hn_estimate_make(&b.ctx, &plan, NULL, enough, &estimate));
    for (int64_t i = 0; i < plan.n_items; i++)
        CU_ASSERT(estimate.item[i].known && estimate.item[i].bytes > 1000);
    hn_estimate_free(&b.ctx, &estimate);
    void *all = hn_alloc(&b.ctx, 1, 1), *outer = hn_own(&b.ctx, all);
    HN_CHECK(&b.ctx, hn_probe_file(&b.ctx, &plan, 0, false, hn_wall_ns(), &file));
    hn_own(&b.ctx, outer);
    CU_ASSERT_EQUAL(file.sizes, 0);
    CU_ASSERT_EQUAL(b.ctx.deadline, 0);
    hn_free(&b.ctx, all);
    hn_plan_free(&b.ctx, &plan);
    tear_down(&b);
}

static bool cell_is_known(const struct hn_probe_file *file) {
    return file->sizes == HN_PROBE_SIZES && file->cell[0].tried == file->sizes;
}

// In a time that is enough for the cell, which is more under load, a probe of so many classes is
// not tried to its end, but its memory is seen: a copy of the training rows at least.
static void test_late(void) {
    struct bench b;
    struct hn_job job;
    struct hn_plan plan;
    struct hn_probe_file file = {.sizes = 0};
    set_up(&b);
    make_classes(&b, "12000", "128", "2000");
    HN_CHECK(&b.ctx, read_text(&b,
                               "version: 1\nsnapshots: s.h5\nbatch_size: 8\nbatches: 5\n"
                               "samplers: [uniform]\nmetrics: [probe_acc]\nfigures: none\n",
                               NULL, &job));
    HN_CHECK(&b.ctx, hn_plan_make(&b.ctx, &job, &plan));
    void *all = hn_alloc(&b.ctx, 1, 1), *outer = hn_own(&b.ctx, all);
    for (double seconds = 6; seconds < enough && !cell_is_known(&file); seconds *= 2)
        HN_CHECK(&b.ctx, hn_probe_file(&b.ctx, &plan, 0, false,
                                       hn_wall_ns() + (int64_t)(seconds * 1e9), &file));
    hn_own(&b.ctx, outer);
    CU_ASSERT(cell_is_known(&file) && file.step.tried < file.sizes);
    CU_ASSERT(file.step.bytes[0] > file.n[0] * 128 * (int64_t)sizeof(float) / 2);
    hn_free(&b.ctx, all);
    hn_plan_free(&b.ctx, &plan);
    tear_down(&b);
}

// What a synthetic file has not is not foreseen, and said so.
static int64_t min_tried(struct hn_context *ctx, int64_t n, int64_t d) {
    struct hn_job job = {0};
    const struct hn_plan plan = {.job = &job};
    const struct hn_snapshot_info info = {.n = n, .d = d};
    struct hn_probe_file file = {0};
    hn_probe_choose_sizes(ctx, &plan, &info, &file);
    return file.n[0];
}

// Where sweeps of the job are screened, those of its trials are large enough to be, and only there.
static void test_screened(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    ctx.screen = NULL;
    CU_ASSERT_EQUAL(min_tried(&ctx, 50000, 64), hn_screen_kernel_best() ? 5120 : 2048);
    CU_ASSERT_EQUAL(min_tried(&ctx, 50000, 16), 2048);
    ctx.screen = "test-only"; // whatever the size
    CU_ASSERT_EQUAL(min_tried(&ctx, 50000, 64), 2048);
    ctx.screen = "off";
    CU_ASSERT_EQUAL(min_tried(&ctx, 50000, 64), 2048);
    ctx.screen = NULL;
    ctx.memory.mode = HN_MEMORY_LOWEST;
    CU_ASSERT_EQUAL(min_tried(&ctx, 50000, 64), 2048);
}

static void test_lacking(void) {
    struct bench b;
    struct hn_job job;
    struct hn_plan plan;
    struct hn_estimate estimate;
    set_up(&b);
    make_series(&b, "900", "16");
    HN_CHECK(&b.ctx, read_text(&b,
                               "version: 1\nsnapshots: s.h5\nbatch_size: 32\nbatches: 5\n"
                               "samplers: [hops]\nmetrics: [fn_ratio]\nfigures: none\n",
                               NULL, &job));
    HN_CHECK(&b.ctx, hn_plan_make(&b.ctx, &job, &plan));
    HN_CHECK(&b.ctx, hn_estimate_make(&b.ctx, &plan, NULL, enough, &estimate));
    CU_ASSERT(estimate.item[0].known);        // not applicable takes next to nothing
    CU_ASSERT(estimate.item[0].seconds < 10); // a small file stored, on a slow disk
    hn_estimate_free(&b.ctx, &estimate);
    hn_plan_free(&b.ctx, &plan);
    tear_down(&b);
}

// Where time ends before the larger trial does there is a guess by the smaller one. Between too
// little time for either and enough for both some time lets some cell end once.
static void test_rough(void) {
    struct bench b;
    struct hn_job job;
    struct hn_plan plan;
    int64_t rough = 0;
    set_up(&b);
    make_series(&b, "30000", "8");
    HN_CHECK(
        &b.ctx,
        read_text(&b,
                  "version: 1\nsnapshots: s.h5\nbatch_size: 32\nbatches: 5\nmetrics: [fn_ratio]\n"
                  "samplers: [knn, gcbs, batchsampler, mosaic, b3, stratified]\nfigures: none\n",
                  NULL, &job));
    HN_CHECK(&b.ctx, hn_plan_make(&b.ctx, &job, &plan));
    for (double seconds = .05; rough == 0 && seconds < 60; seconds *= 1.3) {
        struct hn_estimate e;
        int64_t marked = 0;
        HN_CHECK(&b.ctx, hn_estimate_make(&b.ctx, &plan, NULL, seconds, &e));
        for (int64_t i = 0; i < plan.n_items; i++)
            if (e.item[i].rough) {
                CU_ASSERT(e.item[i].known && e.item[i].seconds > 0);
                CU_ASSERT(e.item[i].bytes > hn_step_bytes(hn_snapshot_info(plan.data[0].snapshot)));
                marked++;
            }
        CU_ASSERT_EQUAL(e.rough, marked);
        rough += marked;
        hn_estimate_free(&b.ctx, &e);
    }
    CU_ASSERT(rough > 0);
    hn_plan_free(&b.ctx, &plan);
    tear_down(&b);
}

// Wherever memory runs out, an error or an estimate comes out, and nothing stays.
static void test_no_memory(void) {
    struct bench b;
    struct hn_job job;
    struct hn_plan plan;
    struct hn_estimate estimate;
    set_up(&b);
    make_series(&b, "60", "4");
    HN_CHECK(&b.ctx,
             read_text(&b,
                       "version: 1\nsnapshots: s.h5\nbatch_size: 8\nbatches: 5\n"
                       "samplers: [gcbs]\nmetrics: [fn_ratio, heatmap: {size: 9}]\nfigures: none\n",
                       NULL, &job));
    HN_CHECK(&b.ctx, hn_plan_make(&b.ctx, &job, &plan));
    int64_t live = b.ctx.memory.live, from = b.ctx.memory.calls, failed = 0;
    HN_CHECK(&b.ctx, hn_estimate_make(&b.ctx, &plan, NULL, enough, &estimate));
    hn_estimate_free(&b.ctx, &estimate);
    int64_t calls = b.ctx.memory.calls - from, stride = hn_max(1, calls / 40);
    for (int64_t k = 1; k <= calls; k += k < 12 ? 1 : stride) {
        b.ctx.memory.calls = 0;
        b.ctx.memory.fail_at = k;
        enum hn_code code = hn_estimate_make(&b.ctx, &plan, NULL, enough, &estimate);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        failed += code == HN_MEMORY;
        hn_estimate_free(&b.ctx, &estimate);
        CU_ASSERT_EQUAL(b.ctx.memory.live, live);
    }
    CU_ASSERT(failed > 12);
    b.ctx.memory.fail_at = 0;
    hn_plan_free(&b.ctx, &plan);
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"sizes stop at the largest", test_sizes_stop},
    {"growth, up to 2^31 items", test_growth},
    {"texts", test_texts},
    {"small file", test_small_file},
    {"large file", test_large_file},
    {"rough", test_rough},
    {"gcbs", test_gcbs},
    {"lean", test_lean},
    {"stale graph", test_stale},
    {"parts", test_parts},
    {"studies", test_studies},
    {"many cells", test_many_cells},
    {"bounded", test_bounded},
    {"late", test_late},
    {"screened", test_screened},
    {"lacking", test_lacking},
    {"no memory", test_no_memory},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "estimate", tests, (int)(sizeof tests / sizeof tests[0]));
}
