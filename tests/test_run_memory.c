// Allocations of a whole run fail, one at a time, from reading the job to writing the results: for
// every sampler, for the metrics of steps, and for the studies. Whatever fails: the run ends with a
// message, or records the cell as failed and goes on; nothing stays allocated or half-written; what
// was finished can be used by the next run.
//
// HN_EVERY=1 makes every allocation of every job fail in turn (an hour), HN_EVERY=11 every
// eleventh, otherwise a few are spread over each run.
#include "datasets/h5.h"
#include "datasets/synth.h"
#include "harness/runner.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FEW = 6, PATH = 400 };

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
            "samplers: [%s]\nmetrics: %s\ntiming: {reps: 1, warmup: 1, interleave: true}\n",
            samplers, metrics);
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
    struct hn_job job;
    struct hn_plan plan;
    struct hn_results results;
    if (hn_job_read(ctx, p->job, NULL, &job))
        return ctx->code;
    struct hn_run_options options = {.folder = p->out, .quiet = true};
    enum hn_code code = hn_plan_make(ctx, &job, &plan);
    if (code == HN_OK) {
        code = hn_run_cells(ctx, &plan, &options, summary);
        if (code == HN_OK)
            code = hn_run_collect(ctx, &plan, &options, &results, summary);
        if (code == HN_OK) {
            code = hn_results_write(ctx, &results, p->results);
            hn_results_free(ctx, &results);
        }
        hn_plan_free(ctx, &plan);
    }
    hn_job_free(ctx, &job);
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

static int64_t stride(int64_t calls) {
    const char *every = getenv("HN_EVERY");
    int64_t asked = every ? strtoll(every, NULL, 10) : 0;
    return asked > 0 ? asked : hn_max(1, calls / FEW);
}

static int64_t tried, jobs;

static void fail_each(const char *samplers, const char *metrics) {
    struct hn_context ctx;
    struct hn_run_summary summary;
    struct hn_results whole;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx);
    write_job(&p, samplers, metrics);
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, execute(&ctx, &p, &summary));
    CU_ASSERT_EQUAL(summary.failed, 0);
    CU_ASSERT(summary.ran > 0);
    int64_t calls = ctx.memory.calls, step = stride(calls), n = 0;
    HN_CHECK(&ctx, hn_results_read(&ctx, p.results, &whole));
    CU_ASSERT_EQUAL(empty_folder(p.cells) + empty_folder(p.out), 0);
    // Each job begins one further on: what all of them do is covered by them together.
    for (int64_t k = 1 + jobs % step; k <= calls; k += step, n++)
        fail_at(&p, k, &whole, n % 16 == 3);
    if (getenv("HN_EVERY"))
        fprintf(stderr, "    %s: %d of %d allocations failed\n", samplers, (int)n, (int)calls);
    tried += n;
    jobs++;
    hn_results_free(&ctx, &whole);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(p.folder);
}

static void test_samplers(void) {
    static const char *const samplers[] = {"\"null\"",
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
        fail_each(samplers[i], "all");
}

static void test_studies(void) {
    static const char *const studies[] = {"prop1: {M: 20, K: 5, graphs: 3}",
                                          "prop2: {M: 20, K: 5, sweeps: 5}",
                                          "prop3",
                                          "purity: {M: 20, K: 5}",
                                          "heatmap: {size: 8, quantile: 0.9}",
                                          "global_histogram",
                                          "random_assignments: {count: 4}",
                                          "staleness: {M: 20, K: 5, batches: 4}"};
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        char metrics[100];
        snprintf(metrics, sizeof metrics, "[fn_ratio, %s]", studies[i]);
        fail_each("uniform", metrics);
    }
}

static const struct hn_test tests[] = {{"samplers", test_samplers}, {"studies", test_studies}};

int main(int argc, char **argv) {
    hn_h5_quiet();
    int status = hn_test_main(argc, argv, "run_memory", tests, 2);
    return status ? status : tried == 0;
}
