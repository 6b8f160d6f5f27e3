// SPDX-License-Identifier: GPL-3.0-or-later
// From a job to results: the plan and its keys, cells and their resumption, and failures.
#include "harness/host/parts.h"
#include "tests/place_fixture.h"

#include <linux/perf_event.h>
#include <math.h>

static const char all_samplers[] =
    "[file-order, uniform: {draw: [shuffle, iid]}, knn, batchsampler: {M: 40, K: 10}, gcbs: "
    "{quantile: 0.95}]";

// Returns what owns the job.
static void *read_job(struct hn_context *ctx, const struct place *p, struct hn_job *job) {
    struct hn_text_list none = {NULL, 0};
    void *memory = hn_alloc(ctx, 0, 1), *outer = hn_own(ctx, memory);
    HN_CHECK(ctx, hn_job_read(ctx, p->job, NULL, &none, NULL, job));
    hn_own(ctx, outer);
    return memory;
}

static void test_plan_has_every_point(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, all_samplers, "seeds: [1, 2]\ntemperature: [0.1, 0.5]\n");
    struct hn_job job;
    struct hn_plan plan;
    void *memory = read_job(&ctx, &p, &job);
    HN_CHECK(&ctx, hn_plan_make(&ctx, &job, &plan));
    CU_ASSERT_EQUAL(plan.n_cells, 3 * 2 * 6 * 2);
    for (int64_t i = 0; i < plan.n_cells; i++)
        for (int64_t j = 0; j < i; j++) {
            CU_ASSERT_STRING_NOT_EQUAL(plan.cell[i].cell_key, plan.cell[j].cell_key);
            CU_ASSERT_STRING_NOT_EQUAL(plan.cell[i].run_key, plan.cell[j].run_key);
        }
    char label[512];
    hn_item_cell.label(&plan.item[0], label, sizeof label);
    CU_ASSERT_STRING_EQUAL(label, "s.h5 step 0 file-order {} B=16 tau=0.1 seed 1");
    hn_plan_free(&ctx, &plan);
    hn_free(&ctx, memory);
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
    void *memory = read_job(&ctx, &p, &job);
    HN_CHECK(&ctx, hn_plan_make(&ctx, &job, &plan));
    static const int64_t built_on[3][3] = {{0, 0, 0}, {0, 1, 0}, {1, 2, 0}}; // [step][t]
    CU_ASSERT_EQUAL_FATAL(plan.n_cells, 9);
    for (int i = 0; i < 9; i++) {
        CU_ASSERT_EQUAL(plan.cell[i].step_index, i / 3);
        CU_ASSERT_EQUAL(plan.cell[i].build_index, built_on[i / 3][i % 3]);
    }
    hn_plan_free(&ctx, &plan);
    hn_free(&ctx, memory);
    hn_fixture_remove(p.folder);
}

static void label_lone(const struct hn_item *item, char *text, size_t size) {
    snprintf(text, size, "%s", item->cell_key);
}

static enum hn_code begin_lone(struct hn_context *ctx, const struct hn_item *item,
                               const struct hn_item_env *env, struct hn_results *out) {
    (void)env;
    return hn_item_add_tables(ctx, out, 1) || hn_rows_table(ctx, HN_ROWS_SNAPSHOTS, out->table) ||
                   hn_item_add_row(ctx, item, "d", "0", 0, out->table)
               ? ctx->code
               : HN_OK;
}

static enum hn_code run_lone(struct hn_context *ctx, const struct hn_item *item,
                             const struct hn_item_env *env, struct hn_results *out) {
    (void)item, (void)env, (void)out;
    return ctx->parts ? HN_OK : hn_fail(ctx, HN_INTERNAL, "not shared");
}

// An item of no plan, as trainings are, is shared under the name that it gives itself.
static void test_shared_without_a_plan(void) {
    static const struct hn_item_kind kind = {.label = label_lone,
                                             .begin = begin_lone,
                                             .run = run_lone,
                                             .own_failure = hn_item_fails_alone};
    static const struct hn_item item = {&kind, NULL, NULL, "cell", "run", 0, NULL, "my data"};
    struct hn_context ctx;
    struct hn_file_parts parts;
    struct hn_run_summary summary;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, "[uniform]", "");
    HN_CHECK(&ctx, hn_file_parts_open(&ctx, NULL, NULL, &parts));
    struct hn_runner run = {.item = &item,
                            .n = 1,
                            .rows = HN_ROWS_RUNS,
                            .unit = "items",
                            .folder = p.out,
                            .end_index = 1,
                            .parts = &parts,
                            .quiet = true};
    parts.folder = run.folder;
    HN_CHECK(&ctx, hn_run_items(&ctx, &run, &summary));
    CU_ASSERT(summary.ran == 1 && summary.failed == 0);
    CU_ASSERT_STRING_EQUAL(parts.scope, "my data");
    hn_file_parts_close(&ctx, &parts);
    hn_fixture_remove(p.folder);
}

static void test_keys_follow_content(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place a = make_place(&ctx, "[uniform]", ""), b = make_place(&ctx, "[uniform]", "");
    struct place c = make_place(&ctx, "[uniform]", "metrics: [fn_ratio]\n");
    struct hn_job job[3];
    void *memory[3];
    struct hn_plan plan[3];
    const struct place *place[3] = {&a, &b, &c};
    for (int i = 0; i < 3; i++) {
        memory[i] = read_job(&ctx, place[i], &job[i]);
        HN_CHECK(&ctx, hn_plan_make(&ctx, &job[i], &plan[i]));
    }
    CU_ASSERT_STRING_EQUAL(plan[0].cell[0].run_key, plan[1].cell[0].run_key);
    CU_ASSERT_STRING_EQUAL(plan[0].cell[0].cell_key, plan[2].cell[0].cell_key);
    CU_ASSERT_STRING_NOT_EQUAL(plan[0].cell[0].run_key, plan[2].cell[0].run_key);
    for (int i = 0; i < 3; i++) {
        hn_plan_free(&ctx, &plan[i]);
        hn_free(&ctx, memory[i]);
        hn_fixture_remove(place[i]->folder);
    }
}

// Where partitions have whole epochs, keys are those of the cells as they are measured.
static void test_whole_epochs(void) {
    static const char *const more[] = {"batches: 3\n", "batches: 3\n", "epochs: 1\n"};
    enum { WHOLE, BATCHES, EPOCH, JOBS };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place place[JOBS];
    struct hn_job job[JOBS];
    void *memory[JOBS];
    struct hn_plan plan[JOBS];
    for (int i = 0; i < JOBS; i++) {
        place[i] = make_place(&ctx, "[uniform, knn]", more[i]);
        memory[i] = read_job(&ctx, &place[i], &job[i]);
        job[i].whole_epochs = i == WHOLE;
        HN_CHECK(&ctx, hn_plan_make(&ctx, &job[i], &plan[i]));
    }
    const struct hn_cell *whole = plan[WHOLE].cell, *batches = plan[BATCHES].cell;
    CU_ASSERT_STRING_EQUAL(whole[0].cell_key, plan[EPOCH].cell[0].cell_key);
    CU_ASSERT_STRING_NOT_EQUAL(whole[0].cell_key, batches[0].cell_key);
    CU_ASSERT_STRING_EQUAL(whole[1].cell_key, batches[1].cell_key);
    for (int i = 0; i < JOBS; i++) {
        hn_plan_free(&ctx, &plan[i]);
        hn_free(&ctx, memory[i]);
        hn_fixture_remove(place[i].folder);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void refuses(const char *samplers, const char *more, enum hn_code code, const char *part) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct place p = make_place(&ctx, samplers, more);
    struct hn_job job;
    struct hn_plan plan;
    void *memory = read_job(&ctx, &p, &job);
    HN_CHECK_FAILS(&ctx, hn_plan_make(&ctx, &job, &plan), code, part);
    hn_free(&ctx, memory);
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
    void *memory = read_job(&ctx, &p, &job);
    HN_CHECK_FAILS(&ctx, hn_plan_make(&ctx, &job, &plan), HN_DATA, "batch_size 121 exceeds");
    job.n_batch_sizes = 1;
    job.max_cells = 1;
    HN_CHECK_FAILS(&ctx, hn_plan_make(&ctx, &job, &plan), HN_USAGE,
                   "cells, and --max-cells allows 1:");
    hn_free(&ctx, memory);
    hn_fixture_remove(p.folder);
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
        CU_ASSERT_EQUAL(strstr(hn_table_text(&first.runs, r, "error"), " not have") != NULL,
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
    CU_ASSERT_EQUAL(first.table[0].rows, 2 * 7); // runs of mined, stages of its filter
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
             "cd '%s/cells' && set -- *.cell && rm \"$1\" \"$2\" && truncate -s 3000 \"$3\"",
             p.out);
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

// Samples of a phase that are not another cell's.
static int64_t count_own(const struct hn_table *timing, const char *phase, int64_t *all) {
    int64_t own = 0;
    *all = 0;
    for (int64_t r = 0; r < timing->rows; r++) {
        bool here = strcmp(hn_table_text(timing, r, "phase"), phase) == 0;
        own += here && hn_table_real(timing, r, "shared") == 0;
        *all += here;
    }
    return own;
}

// Builds and batches that are shared by weightings, losses and temperatures leave the numbers,
// counters of work included, of builds and batches of their own, which a job that times repetitions
// makes, and of a run that goes on with half of them.
static void test_shared_builds(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct place p = make_place(
        &ctx,
        "[batchsampler: {M: 40, K: 10, t: 100, start: [uniform, unseen]}, gcbs: {quantile: 0.95, "
        "relabel: [true, false]}, random-negatives: {n: 9}, mined: {take: draw}, spectral: "
        "{clusters: 4}]",
        "epochs: 1\nsteps: [60]\ntemperature: [0.2, 0.5]\nloss: [ntxent, other-view]\n"
        "weightings: [hcl, none, fnc: {threshold: 0.6}]\n");
    char own[] = "timing.reps=2", *item[] = {own};
    struct hn_text_list set = {item, 1};
    struct hn_results shared, apart;
    struct hn_run_summary summary;
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &shared));
    CU_ASSERT_EQUAL(summary.failed, 0);
    int64_t builds, draws;
    CU_ASSERT_EQUAL(12 * count_own(&shared.timing, "build", &builds), builds); // 2 x 2 x 3 cells
    CU_ASSERT_EQUAL(builds, shared.runs.rows);
    CU_ASSERT_EQUAL(12 * count_own(&shared.timing, "next", &draws), draws);
    CU_ASSERT(draws > builds);
    snprintf(p.out, sizeof p.out, "%s/apart", p.folder);
    HN_CHECK(&ctx, run_place_with(&ctx, &p, &set, &summary, &apart));
    for (int64_t r = 0; r < apart.timing.rows; r++)
        CU_ASSERT_EQUAL(hn_table_real(&apart.timing, r, "shared"), 0);
    for (int64_t r = 0; r < apart.runs.rows; r++) // repetitions are part of this key
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &apart.runs, r, "run_key",
                                         hn_table_text(&shared.runs, r, "run_key")));
    check_same_table(&shared.runs, &apart.runs);
    check_same_counts(&shared, &apart);
    hn_results_free(&ctx, &apart);
    // Of what was lost others draw.
    char command[1000];
    snprintf(p.out, sizeof p.out, "%s/out", p.folder);
    snprintf(command, sizeof command, "cd '%s/cells' && rm *[02468ace].cell", p.out);
    CU_ASSERT_EQUAL(system(command), 0);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &apart));
    CU_ASSERT(summary.ran > 12 && summary.present > 12);
    check_same_table(&shared.runs, &apart.runs);
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
    int64_t calls = ctx.memory.calls, recorded = 0;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, run_place(&ctx, &p, &summary, &r)); // everything is there: planned and collected
    hn_results_free(&ctx, &r);
    int64_t running = calls - ctx.memory.calls;
    // Half of them all over, half while cells are run, which are the fewer.
    enum { POINTS = 80 };
    for (int64_t k = 0; k < POINTS; k++) {
        int64_t last = k % 2 ? running : calls;
        char command[700], out[100];
        snprintf(command, sizeof command, "rm -rf '%s'", p.out);
        CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = 1 + k * (last - 1) / (POINTS - 1);
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

static const struct hn_test tests[] = {
    {"shared builds", test_shared_builds},
    {"plan has every point", test_plan_has_every_point},
    {"plan builds at multiples of t", test_plan_builds_at_multiples_of_t},
    {"shared without a plan", test_shared_without_a_plan},
    {"keys follow content", test_keys_follow_content},
    {"whole_epochs", test_whole_epochs},
    {"plan refuses", test_plan_refuses},
    {"plan refuses large batches", test_plan_refuses_large_batches},
    {"threads do not matter", test_threads_do_not_matter},
    {"negatives per anchor", test_negatives_per_anchor},
    {"resumes", test_resumes},
    {"interleaved timing", test_interleaved_timing},
    {"counted_phases", test_counted_phases},
    {"allocations may fail", test_allocations_may_fail},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "run", tests, (int)(sizeof tests / sizeof tests[0]));
}
