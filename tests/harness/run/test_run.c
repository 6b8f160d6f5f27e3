// From a job to results: the plan and its keys, cells and their resumption, failures, and the
// relations that must hold on real embeddings.
#include "datasets/h5.h"
#include "datasets/synth.h"
#include "tests/fixture.h"
#include "tests/run_fixture.h"
#include "tests/test.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A folder with a small series (s.h5) and a job on it.
struct place {
    char folder[256], job[300], snapshot[300], out[300];
};

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    CU_ASSERT_EQUAL_FATAL(fclose(f), 0);
}

static void make_series(struct hn_context *ctx, const char *path, const char *n) {
    struct hn_synth synth = {.tool_version = "hardneg test"};
    HN_CHECK(ctx, hn_options_init(ctx, hn_synth_options, &synth));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "n", n));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "dim", "16"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "steps", "3"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "step-gap", "60"));
    HN_CHECK(ctx, hn_options_set(ctx, hn_synth_options, &synth, "output", path));
    HN_CHECK(ctx, hn_synth_write(ctx, &synth));
    hn_options_free(ctx, hn_synth_options, &synth);
}

static struct place make_place(struct hn_context *ctx, const char *samplers, const char *more) {
    struct place p;
    hn_fixture_folder(p.folder, sizeof p.folder);
    snprintf(p.job, sizeof p.job, "%s/j.yaml", p.folder);
    snprintf(p.snapshot, sizeof p.snapshot, "%s/s.h5", p.folder);
    snprintf(p.out, sizeof p.out, "%s/out", p.folder);
    make_series(ctx, p.snapshot, "120");
    char text[2000];
    snprintf(text, sizeof text, "version: 1\nsnapshots: s.h5\nbatch_size: 16\nsamplers: %s\n%s",
             samplers, more);
    write_text(p.job, text);
    return p;
}

static const char all_samplers[] =
    "[\"null\", uniform: {draw: [shuffle, iid]}, knn, batchsampler: {M: 40, K: 10}, gcbs: "
    "{quantile: 0.95}]";

static void read_job(struct hn_context *ctx, const struct place *p, struct hn_job *job) {
    struct hn_text_list none = {NULL, 0};
    HN_CHECK(ctx, hn_job_read(ctx, p->job, &none, NULL, job));
}

static void test_plan_has_every_point(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, all_samplers, "seeds: [1, 2]\ntemperature: [0.1, 0.5]\n");
    struct hn_job job;
    struct hn_plan plan;
    read_job(&ctx, &p, &job);
    HN_CHECK(&ctx, hn_plan_make(&ctx, &job, &plan));
    CU_ASSERT_EQUAL(plan.n_cells, 3 * 2 * 6 * 2);
    for (int64_t i = 0; i < plan.n_cells; i++)
        for (int64_t j = 0; j < i; j++) {
            CU_ASSERT_STRING_NOT_EQUAL(plan.cell[i].cell_key, plan.cell[j].cell_key);
            CU_ASSERT_STRING_NOT_EQUAL(plan.cell[i].run_key, plan.cell[j].run_key);
        }
    char label[512];
    hn_item_cell.label(&plan.item[0], label, sizeof label);
    CU_ASSERT_STRING_EQUAL(label, "s.h5 step 0 null {} B=16 tau=0.1 seed 1");
    hn_plan_free(&ctx, &plan);
    hn_job_free(&ctx, &job);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// t = 100 over steps 0, 60, 120: built on 0, 0 and 60 (the latest at or before 100); t = 60: fresh.
static void test_plan_builds_at_multiples_of_t(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, "[batchsampler: {M: 40, K: 10, t: [100, 60, 1000]}]", "");
    struct hn_job job;
    struct hn_plan plan;
    read_job(&ctx, &p, &job);
    HN_CHECK(&ctx, hn_plan_make(&ctx, &job, &plan));
    static const int64_t built_on[3][3] = {{0, 0, 0}, {0, 1, 0}, {1, 2, 0}}; // [step][t]
    CU_ASSERT_EQUAL_FATAL(plan.n_cells, 9);
    for (int i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL(plan.cell[i].step_index, i / 3);
        CU_ASSERT_EQUAL(plan.cell[i].build_index, built_on[i / 3][i % 3]);
    }
    hn_plan_free(&ctx, &plan);
    hn_job_free(&ctx, &job);
    hn_fixture_remove(p.folder);
}

static void test_keys_follow_content(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place a = make_place(&ctx, "[uniform]", ""), b = make_place(&ctx, "[uniform]", "");
    struct place c = make_place(&ctx, "[uniform]", "metrics: [fn_ratio]\n");
    struct hn_job job[3];
    struct hn_plan plan[3];
    const struct place *place[3] = {&a, &b, &c};
    for (int i = 0; i < 3; i++) {
        read_job(&ctx, place[i], &job[i]);
        HN_CHECK(&ctx, hn_plan_make(&ctx, &job[i], &plan[i]));
    }
    CU_ASSERT_STRING_EQUAL(plan[0].cell[0].run_key, plan[1].cell[0].run_key);
    CU_ASSERT_STRING_EQUAL(plan[0].cell[0].cell_key, plan[2].cell[0].cell_key);
    CU_ASSERT_STRING_NOT_EQUAL(plan[0].cell[0].run_key, plan[2].cell[0].run_key);
    for (int i = 0; i < 3; i++) {
        hn_plan_free(&ctx, &plan[i]);
        hn_job_free(&ctx, &job[i]);
        hn_fixture_remove(place[i]->folder);
    }
}

static void refuses(const char *samplers, const char *more, enum hn_code code, const char *part) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, samplers, more);
    struct hn_job job;
    struct hn_plan plan;
    read_job(&ctx, &p, &job);
    HN_CHECK_FAILS(&ctx, hn_plan_make(&ctx, &job, &plan), code, part);
    hn_job_free(&ctx, &job);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_plan_refuses(void) {
    refuses("[batchsampler: {M: 10, K: 20}]", "", HN_USAGE, "K = 20");
    refuses("[uniform]", "steps: [0, 61]\n", HN_USAGE, "step 61");
}

static void test_plan_refuses_large_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, "[uniform]", "");
    write_text(p.job, "snapshots: s.h5\nbatch_size: [16, 121]\nsamplers: [uniform]\n");
    struct hn_job job;
    struct hn_plan plan;
    read_job(&ctx, &p, &job);
    HN_CHECK_FAILS(&ctx, hn_plan_make(&ctx, &job, &plan), HN_DATA, "batch_size 121 exceeds");
    hn_job_free(&ctx, &job);
    hn_fixture_remove(p.folder);
}

// Runs the job of a place, with overrides, into its output folder and collects the results.
static enum hn_code run_place_counted(struct hn_context *ctx, const struct place *p,
                                      const struct hn_text_list *set,
                                      const struct hn_instructions *counter,
                                      struct hn_run_summary *summary, struct hn_results *results) {
    struct hn_job job;
    struct hn_plan plan;
    memset(results, 0, sizeof *results);
    if (hn_job_read(ctx, p->job, set, NULL, &job))
        return ctx->code;
    enum hn_code code = hn_plan_make(ctx, &job, &plan);
    if (code == HN_OK) {
        code = fixture_run_plan(ctx, &plan, p->out, counter, summary, results);
        hn_plan_free(ctx, &plan);
    }
    hn_job_free(ctx, &job);
    return code;
}

static enum hn_code run_place_with(struct hn_context *ctx, const struct place *p,
                                   const struct hn_text_list *set, struct hn_run_summary *summary,
                                   struct hn_results *results) {
    return run_place_counted(ctx, p, set, NULL, summary, results);
}

static enum hn_code run_place(struct hn_context *ctx, const struct place *p,
                              struct hn_run_summary *summary, struct hn_results *results) {
    return run_place_with(ctx, p, NULL, summary, results);
}

static bool is_timing(const char *column) {
    return strncmp(column, "cost_", 5) == 0 || strcmp(column, "peak_rss") == 0 ||
           strcmp(column, "share_of_limit") == 0;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void check_same_table(const struct hn_table *a, const struct hn_table *b) {
    CU_ASSERT_EQUAL_FATAL(a->rows, b->rows);
    CU_ASSERT(a->rows > 0);
    for (int c = 0; c < a->n_columns; c++) {
        const char *name = a->column[c].name;
        for (int64_t r = 0; r < a->rows && !is_timing(name); r++) {
            bool same = strcmp(hn_table_text(a, r, name), hn_table_text(b, r, name)) == 0 &&
                        same_bits(hn_table_real(a, r, name), hn_table_real(b, r, name));
            if (!same)
                fprintf(stderr, "    column %s, row %d differs\n", name, (int)r);
            CU_ASSERT(same);
        }
    }
}

static void check_same_counts(const struct hn_results *a, const struct hn_results *b) {
    int64_t counts = a->runs.rows * a->kinds * a->bins, batches = a->batch_start[a->runs.rows];
    CU_ASSERT(counts > 0 && batches > 0);
    CU_ASSERT_EQUAL(memcmp(a->histogram, b->histogram, (size_t)counts * sizeof *a->histogram), 0);
    CU_ASSERT_EQUAL(memcmp(a->batch_fn_ratio, b->batch_fn_ratio, (size_t)batches * sizeof(double)),
                    0);
}

static void check_same(const struct hn_results *a, const struct hn_results *b) {
    check_same_table(&a->runs, &b->runs);
    CU_ASSERT_EQUAL_FATAL(a->n_tables, 1); // snapshots
    CU_ASSERT_EQUAL_FATAL(b->n_tables, 1);
    check_same_table(&a->table[0], &b->table[0]);
    check_same_counts(a, b);
}

static void test_threads_do_not_matter(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, all_samplers, "batches: 20\n");
    struct hn_results first = {0}, other;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &first));
    CU_ASSERT_EQUAL(summary.ran, 18 + 3);
    CU_ASSERT_EQUAL(summary.failed, 0);
    static const int threads[] = {2, 3, 4};
    for (int i = 0; i < 3; i++) {
        ctx.threads = threads[i];
        snprintf(p.out, sizeof p.out, "%s/out%d", p.folder, threads[i]);
        HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &other));
        check_same(&first, &other);
        hn_results_free(&ctx, &other);
    }
    hn_results_free(&ctx, &first);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const char per_anchor[] =
    "[random-negatives: {n: 20}, ring: {space: embeddings, n: [all, 5]}, mined: {R: 30, "
    "relative_margin: 0.1, take: draw, n: 5}, ring: {lo: 10}, hops]";

// Negatives per anchor go the same way as batches; cells whose input the file lacks say so and are
// no failures; the miner's attrition is kept as a table.
static void test_negatives_per_anchor(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p =
        make_place(&ctx, per_anchor,
                   "epochs: 1\nsteps: [0, 60]\nmetrics: [fn_ratio, histogram, hardness, gap]\n");
    struct hn_results first, other;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &first));
    CU_ASSERT_EQUAL(summary.ran, 12);
    CU_ASSERT_EQUAL(summary.failed, 0);
    CU_ASSERT_EQUAL(summary.not_applicable, 4);
    for (int64_t r = 0; r < first.runs.rows; r++) {
        const char *sampler = hn_table_text(&first.runs, r, "sampler");
        bool lacking = strcmp(sampler, "hops") == 0 ||
                       strcmp(hn_table_text(&first.runs, r, "space"), "features") == 0;
        CU_ASSERT_STRING_EQUAL(hn_table_text(&first.runs, r, "status"),
                               lacking ? "not_applicable" : "ok");
        CU_ASSERT_EQUAL(strstr(hn_table_text(&first.runs, r, "error"), "does not have") != NULL,
                        lacking);
        CU_ASSERT_EQUAL(isnan(hn_table_real(&first.runs, r, "fn_ratio")), lacking);
        CU_ASSERT_EQUAL(isnan(hn_table_real(&first.runs, r, "negatives_mean")), lacking);
        double gap = hn_table_real(&first.runs, r, "gap");
        CU_ASSERT(lacking || (gap >= 0 && gap <= hn_table_real(&first.runs, r, "bound_36") &&
                              gap <= hn_table_real(&first.runs, r, "bound_37")));
        if (strcmp(sampler, "random-negatives") == 0)
            CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&first.runs, r, "negatives_mean"), 20, 0);
    }
    CU_ASSERT_EQUAL_FATAL(first.n_tables, 1);
    CU_ASSERT_STRING_EQUAL(first.table[0].name, "attrition");
    CU_ASSERT_EQUAL(first.table[0].rows, 10);
    for (int64_t r = 0; r < first.table[0].rows; r++) {
        int64_t run = (int64_t)hn_table_real(&first.table[0], r, "run");
        CU_ASSERT_STRING_EQUAL(hn_table_text(&first.runs, run, "sampler"), "mined");
    }
    ctx.threads = 3;
    snprintf(p.out, sizeof p.out, "%s/out3", p.folder);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &other));
    check_same(&first, &other);
    hn_results_free(&ctx, &other);
    hn_results_free(&ctx, &first);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_resumes(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place p = make_place(&ctx, all_samplers, "batches: 10\n");
    struct hn_results whole, again;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &whole));
    char command[1000], out[100];
    // Two shards are lost, one is cut short.
    snprintf(command, sizeof command,
             "cd '%s/cells' && set -- *.h5 && rm \"$1\" \"$2\" && truncate -s 3000 \"$3\"", p.out);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &again));
    CU_ASSERT_EQUAL(summary.present, 18 + 3 - 3);
    CU_ASSERT_EQUAL(summary.ran, 3);
    check_same(&whole, &again);
    hn_results_free(&ctx, &again);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &again));
    CU_ASSERT_EQUAL(summary.ran, 0);
    check_same(&whole, &again);
    hn_results_free(&ctx, &again);
    hn_results_free(&ctx, &whole);
    hn_fixture_remove(p.folder);
}

static void test_interleaved_timing(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place p = make_place(&ctx, all_samplers,
                                "batches: 5\ntiming: {reps: 3, warmup: 1, interleave: true}\n");
    struct hn_results r;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    CU_ASSERT_EQUAL(r.runs.rows, 18);
    int64_t builds = 0, warm = 0;
    for (int64_t i = 0; i < r.timing.rows; i++) {
        bool build = strcmp(hn_table_text(&r.timing, i, "phase"), "build") == 0;
        builds += build;
        warm += build && hn_table_real(&r.timing, i, "warmup") == 1;
    }
    CU_ASSERT_EQUAL(builds, 18 * (1 + 1 + 3)); // with the measuring, the warm-up, three that count
    CU_ASSERT_EQUAL(warm, 18);
    for (int64_t i = 0; i < r.runs.rows; i++)
        CU_ASSERT(hn_table_real(&r.runs, i, "cost_s") > 0);
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
}

// What an event of perf_event_open counts reaches /timing: here the kernel's clock of the task,
// which counts what cpu_ns does, where a processor's counter of instructions may not be there.
static void test_counted_phases(void) {
    struct hn_context ctx;
    struct hn_results r;
    struct hn_run_summary summary;
    struct hn_instructions counter;
    hn_instructions_open_event(&counter, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    if (counter.file < 0)
        hn_test_skip(counter.why);
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, "knn", "batches: 5\n");
    HN_CHECK(&ctx, run_place_counted(&ctx, &p, NULL, &counter, &summary, &r));
    double counted = 0, cpu = 0;
    for (int64_t i = 0; i < r.timing.rows; i++) {
        double here = hn_table_real(&r.timing, i, "instructions");
        CU_ASSERT(here >= 0);
        counted += here;
        cpu += hn_table_real(&r.timing, i, "cpu_ns");
    }
    CU_ASSERT(r.timing.rows > 0 && cpu > 0);
    CU_ASSERT(counted > cpu / 2 && counted < cpu * 2);
    hn_instructions_close(&counter);
    hn_results_free(&ctx, &r);
    hn_fixture_remove(p.folder);
}

// Builds that are shared by weightings, losses and temperatures leave the numbers, counters of work
// included, of builds of their own, which a job that times repetitions makes.
static void test_shared_builds(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place p = make_place(
        &ctx,
        "[batchsampler: {M: 40, K: 10, t: 100, start: [uniform, unseen]}, gcbs: {quantile: 0.95, "
        "relabel: [true, false]}, random-negatives: {n: 9}, mined: {take: draw}]",
        "epochs: 2\nsteps: [60]\ntemperature: [0.2, 0.5]\nweightings: [none, debiased]\n"
        "metrics: [fn_ratio, histogram, loss, coverage]\n");
    char own[] = "timing.reps=2", *item[] = {own};
    struct hn_text_list set = {item, 1};
    struct hn_results shared, apart;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &shared));
    CU_ASSERT_EQUAL(summary.failed, 0);
    int64_t builds = 0, samples = 0;
    for (int64_t r = 0; r < shared.timing.rows; r++) {
        bool build = strcmp(hn_table_text(&shared.timing, r, "phase"), "build") == 0;
        builds += build && hn_table_real(&shared.timing, r, "shared") == 0;
        samples += build;
    }
    CU_ASSERT_EQUAL(samples, shared.runs.rows);
    CU_ASSERT_EQUAL(4 * builds, samples); // 2 temperatures, 2 weightings
    snprintf(p.out, sizeof p.out, "%s/apart", p.folder);
    HN_CHECK(&ctx, run_place_with(&ctx, &p, &set, &summary, &apart));
    for (int64_t r = 0; r < apart.timing.rows; r++)
        CU_ASSERT_EQUAL(hn_table_real(&apart.timing, r, "shared"), 0);
    for (int64_t r = 0; r < apart.runs.rows; r++) // repetitions are part of this key
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &apart.runs, r, "run_key",
                                         hn_table_text(&shared.runs, r, "run_key")));
    check_same_table(&shared.runs, &apart.runs);
    check_same_counts(&shared, &apart);
    hn_results_free(&ctx, &shared);
    hn_results_free(&ctx, &apart);
    hn_fixture_remove(p.folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static int64_t out_of_memory(const struct hn_table *t, int64_t row) {
    return strcmp(hn_table_text(t, row, "status"), "failed") == 0 &&
           strstr(hn_table_text(t, row, "error"), "memory");
}

// Rows of cells and steps that ran out of memory; every other row is sound.
static int64_t failed_rows(const struct hn_results *r) {
    const struct hn_table *steps = hn_results_table(r, "snapshots");
    int64_t bad = 0;
    for (int64_t i = 0; i < r->runs.rows; i++) {
        bad += out_of_memory(&r->runs, i);
        bool ok = strcmp(hn_table_text(&r->runs, i, "status"), "ok") == 0;
        CU_ASSERT(!ok || hn_table_real(&r->runs, i, "fn_ratio") >= 0);
    }
    for (int64_t i = 0; steps && i < steps->rows; i++)
        bad += out_of_memory(steps, i);
    return bad;
}

// Allocations all over a small run fail, one at a time: a clean end, or a cell that is recorded as
// failed while the others go on; nothing leaks.
static void fail_allocations(const char *samplers) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, samplers, "batches: 2\nsteps: [60]\n");
    struct hn_run_summary summary;
    struct hn_results r;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r));
    hn_results_free(&ctx, &r);
    enum { POINTS = 40 };
    int64_t calls = ctx.memory.calls, recorded = 0;
    for (int64_t k = 0; k < POINTS; k++) {
        char command[700], out[100];
        snprintf(command, sizeof command, "rm -rf '%s'", p.out);
        CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = 1 + k * (calls - 1) / (POINTS - 1);
        enum hn_code code = run_place(&ctx, &p, &summary, &r);
        CU_ASSERT(code == HN_MEMORY || (code == HN_OK && summary.failed == 1));
        CU_ASSERT_EQUAL(failed_rows(&r), code == HN_OK);
        recorded += code == HN_OK;
        hn_results_free(&ctx, &r);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    CU_ASSERT(recorded > 0);
    hn_fixture_remove(p.folder);
}

static void test_allocations_may_fail(void) {
    fail_allocations(all_samplers);
    fail_allocations(per_anchor);
}

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
    CU_ASSERT_EQUAL_FATAL(r.runs.rows, 2 * 10); // none, debiased, hcl by tau_plus and beta
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
    {"shared builds", test_shared_builds},
    {"plan has every point", test_plan_has_every_point},
    {"plan builds at multiples of t", test_plan_builds_at_multiples_of_t},
    {"keys follow content", test_keys_follow_content},
    {"plan refuses", test_plan_refuses},
    {"plan refuses large batches", test_plan_refuses_large_batches},
    {"threads do not matter", test_threads_do_not_matter},
    {"negatives per anchor", test_negatives_per_anchor},
    {"resumes", test_resumes},
    {"interleaved timing", test_interleaved_timing},
    {"counted_phases", test_counted_phases},
    {"allocations may fail", test_allocations_may_fail},
    {"weightings", test_weightings},
    {"shipped weightings", test_shipped_weightings},
    {"few metrics", test_few_metrics},
    {"real series", test_real_series},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "run", tests, (int)(sizeof tests / sizeof tests[0]));
}
