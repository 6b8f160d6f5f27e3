// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations of a whole run fail, one at a time, from reading the job to writing the results: for
// every sampler, for the metrics of steps, and for the studies. Whatever fails: the run ends with a
// message, or records the cell as failed and goes on; nothing stays allocated or half-written; what
// was finished can be used by the next run.
//
// HN_EVERY=1 makes every allocation of every job fail in turn (hours: 5,600 in each of 19 jobs and
// 29,640 in the smoke job), HN_EVERY=11 every eleventh, from the HN_FROM-th on, so that eleven
// processes with HN_FROM=0 to 10 make up all. HN_STACKS=1: of each call stack that allocates, the
// first and the last call in the first job that has it. Otherwise a few are spread over each run.
#include "datasets/h5.h"
#include "datasets/synth.h"
#include "tests/call_stacks.h"
#include "tests/fixture.h"
#include "tests/run_fixture.h"
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FEW = 6, PATH = 400 };
enum { FEW_OF_SMOKE = 12 * FEW }; // it has the cells of twelve jobs

struct place {
    char folder[256], job[PATH], out[PATH], cells[PATH], results[PATH];
};

static void make_series(struct hn_context *ctx, const struct place *p) {
    char path[PATH];
    struct hn_synth synth = {.tool_version = "hardneg test"};
    const char *const set[][2] = {{"n", "48"},    {"dim", "8"},   {"classes", "4"},
                                  {"views", "2"}, {"steps", "2"}, {"output", path}};
    snprintf(path, sizeof path, "%s/s.h5", p->folder);
    HN_CHECK(ctx, hn_options_init(ctx, hn_synth_options, &synth));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, set[i][0], set[i][1]));
    HN_CHECK(ctx, hn_synth_write(ctx, &synth));
    hn_options_free(ctx, hn_synth_options, &synth);
}

static struct place make_place(struct hn_context *ctx) {
    struct place p;
    hn_fixture_folder(p.folder, sizeof p.folder);
    snprintf(p.job, sizeof p.job, "%s/j.yaml", p.folder);
    snprintf(p.out, sizeof p.out, "%s/out", p.folder);
    snprintf(p.cells, sizeof p.cells, "%s/out/cells", p.folder);
    snprintf(p.results, sizeof p.results, "%s/out/results.h5", p.folder);
    make_series(ctx, &p);
    return p;
}

static void write_job(const struct place *p, const char *samplers, const char *metrics) {
    FILE *f = fopen(p->job, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f,
            "version: 1\nsnapshots: s.h5\nsteps: [0]\nbatch_size: 8\nbatches: 3\n"
            "samplers: [%s]\n%s%s\ntiming: {reps: 1, warmup: 1, interleave: true}\n",
            samplers, metrics ? "metrics: " : "", metrics ? metrics : "");
    CU_ASSERT_EQUAL_FATAL(fclose(f), 0);
}

// Removes the files of a folder and returns how many had a temporary name.
static int empty_folder(const char *path) {
    int temporary = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        temporary += strstr(entry->d_name, "tmp") != NULL;
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    return temporary;
}

static enum hn_code execute(struct hn_context *ctx, const struct place *p,
                            struct hn_run_summary *summary) {
    struct hn_results results;
    if (fixture_run_job(ctx, p->job, NULL, p->out, NULL, summary, &results))
        return ctx->code;
    enum hn_code code = hn_results_write(ctx, &results, p->results);
    hn_results_free(ctx, &results);
    return code;
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

// The next run takes what is there and has the numbers of one that nothing happened to.
static void check_resumes(const struct place *p, const struct hn_results *whole, double failed) {
    struct hn_context ctx;
    struct hn_run_summary summary;
    struct hn_results r;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, execute(&ctx, p, &summary));
    HN_CHECK(&ctx, hn_results_read(&ctx, p->results, &r));
    CU_ASSERT_EQUAL_FATAL(r.runs.rows, whole->runs.rows);
    double differ = 0;
    for (int64_t row = 0; row < r.runs.rows; row++) {
        double a = hn_table_real(&r.runs, row, "fn_ratio");
        double b = hn_table_real(&whole->runs, row, "fn_ratio");
        differ += memcmp(&a, &b, sizeof a) != 0;
    }
    CU_ASSERT(differ <= failed); // failed cells stay failed until --rerun failed
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void fail_at(const struct place *p, int64_t k, const struct hn_results *whole, bool resume) {
    struct hn_context ctx;
    struct hn_run_summary summary = {0};
    hn_context_init(&ctx, 1);
    ctx.memory.fail_at = k;
    enum hn_code code = execute(&ctx, p, &summary);
    bool good = (code == HN_MEMORY && *ctx.message && hn_exit_code(code) == HN_INTERNAL) ||
                (code == HN_OK && summary.failed == 1);
    if (!good)
        fprintf(stderr, "    allocation %d: code %d, %d failed, \"%s\"\n", (int)k, (int)code,
                (int)summary.failed, ctx.message);
    CU_ASSERT(good);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_EQUAL(is_there(p->results), code == HN_OK);
    if (resume)
        check_resumes(p, whole, (double)summary.failed);
    CU_ASSERT_EQUAL(empty_folder(p->cells) + empty_folder(p->out), 0);
}

static int64_t stride(int64_t calls, int64_t few) {
    const char *every = getenv("HN_EVERY");
    int64_t asked = every ? strtoll(every, NULL, 10) : 0;
    return asked > 0 ? asked : hn_max(1, calls / few);
}

static int64_t from(void) {
    const char *first = getenv("HN_FROM");
    return first ? strtoll(first, NULL, 10) : 0;
}

static int64_t tried, jobs;

static void fail_each(const char *samplers, const char *metrics, int64_t few) {
    struct hn_context ctx;
    struct hn_run_summary summary;
    struct hn_results whole;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx);
    write_job(&p, samplers, metrics);
    hn_context_init(&ctx, 1);
    begin_recording(&ctx);
    HN_CHECK(&ctx, execute(&ctx, &p, &summary));
    recorded = NULL;
    CU_ASSERT_EQUAL(summary.failed, 0);
    CU_ASSERT(summary.ran > 0);
    int64_t calls = ctx.memory.calls, step = stride(calls, few), n = 0;
    HN_CHECK(&ctx, hn_results_read(&ctx, p.results, &whole));
    CU_ASSERT_EQUAL(empty_folder(p.cells) + empty_folder(p.out), 0);
    bool by_stack = getenv("HN_STACKS");
    CU_ASSERT_FATAL(calls < CALLS);
    int64_t stacks = by_stack ? keep_new_stacks(calls) : 0;
    // Each job begins one further on: what all of them do is covered by them together.
    for (int64_t k = by_stack ? 1 : 1 + (jobs + from()) % step; k <= calls;
         k += by_stack ? 1 : step)
        if (!by_stack || stack_of[k]) {
            fail_at(&p, k, &whole, n % 16 == 3);
            n++;
        }
    if (by_stack || getenv("HN_EVERY"))
        fprintf(stderr, "    %s: %d of %d allocations failed, %d new call stacks\n", samplers,
                (int)n, (int)calls, (int)stacks);
    tried += n;
    jobs++;
    hn_results_free(&ctx, &whole);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(p.folder);
}

static void test_samplers(void) {
    static const char *const samplers[] = {"file-order",
                                           "uniform: {draw: iid}",
                                           "knn",
                                           "batchsampler: {M: 20, K: 5}",
                                           "gcbs: {quantile: 0.8}",
                                           "random-negatives: {n: 9}",
                                           "hops",
                                           "ring: {space: embeddings}",
                                           "mined: {take: draw, relative_margin: 0.05}",
                                           "hard-negative: {l: 2}",
                                           "stratified"};
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
        fail_each(samplers[i], "all", FEW);
}

// The samplers of harness/jobs/smoke.yaml in one run, with its metrics (those that a job has when
// it names none): small enough for every single allocation (HN_EVERY=1, and "smoke" as argument).
static void test_smoke(void) {
    fail_each("file-order, uniform: {draw: shuffle}, uniform: {draw: iid}, knn, "
              "batchsampler: {M: 20, K: 5}, gcbs, random-negatives: {n: 9}, hops, "
              "ring: {space: embeddings}, mined: {take: draw, relative_margin: 0.05}, "
              "hard-negative, stratified",
              NULL, FEW_OF_SMOKE);
}

static void test_studies(void) {
    static const char *const studies[] = {"prop1: {M: 20, K: 5, graphs: 3}",
                                          "prop2: {M: 20, K: 5, sweeps: 5}",
                                          "prop3",
                                          "lemmas: {trials: 2}",
                                          "purity: {M: 20, K: 5}",
                                          "heatmap: {size: 8, quantile: 0.9}",
                                          "global_histogram",
                                          "random_assignments: {count: 4}",
                                          "staleness: {M: 20, K: 5, batches: 4}"};
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        char metrics[100];
        snprintf(metrics, sizeof metrics, "[fn_ratio, %s]", studies[i]);
        fail_each("uniform", metrics, FEW);
    }
}

static const struct hn_test tests[] = {
    {"smoke", test_smoke}, {"samplers", test_samplers}, {"studies", test_studies}};

int main(int argc, char **argv) {
    hn_h5_quiet();
    int status = hn_test_main(argc, argv, "run_memory", tests, 3);
    return status ? status : tried == 0;
}
