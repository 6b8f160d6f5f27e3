// SPDX-License-Identifier: GPL-3.0-or-later
// Studies from job file to results: names and options, keys, cells and their resumption, what does
// not apply, and the tables of a merged file.
#include "datasets/h5.h"
#include "datasets/synth.h"
#include "tests/job_fixture.h"
#include "tests/run_fixture.h"

#include <math.h>

static void make_snapshot(struct bench *b, const char *views, const char *classes) {
    struct hn_synth synth = {.tool_version = "hardneg test"};
    char path[600];
    snprintf(path, sizeof path, "%s/s.h5", b->folder);
    HN_CHECK(&b->ctx, hn_options_init(&b->ctx, hn_synth_options, &synth));
    const char *const settings[][2] = {
        {"n", "90"},      {"dim", "12"},        {"steps", "3"},         {"step-gap", "60"},
        {"views", views}, {"classes", classes}, {"super-classes", "1"}, {"output", path}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        HN_CHECK(&b->ctx,
                 hn_options_set(&b->ctx, hn_synth_options, &synth, settings[i][0], settings[i][1]));
    HN_CHECK(&b->ctx, hn_synth_write(&b->ctx, &synth));
    hn_options_free(&b->ctx, hn_synth_options, &synth);
}

#define JOB "snapshots: s.h5\nbatch_size: 8\nbatches: 9\nsamplers: "

static void test_reading(void) {
    struct bench b;
    struct hn_job job, again;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b,
                               SHORT "metrics: [all, prop1, {prop2: {alpha: [0.1, 0.5], K: 7}}, "
                                     "{prop1: {M: 9, K: 3}}, staleness: {alpha: \"0.2~0.05\"}]\n",
                               NULL, &job));
    CU_ASSERT_EQUAL_FATAL(job.n_studies, 5);
    static const char *const wanted[] = {
        "K=100, M=500, graphs=5, points=81", "K=7, M=500, alpha=0.1, sweeps=8",
        "K=7, M=500, alpha=0.5, sweeps=8", "K=3, M=9, graphs=5, points=81",
        "K=100, M=500, alpha=0.2~0.05, batches=300"};
    for (int i = 0; i < 5; i++)
        CU_ASSERT_STRING_EQUAL(job.study[i].text, wanted[i]);
    CU_ASSERT(job.n_metrics > 1 && job.n_snapshot_metrics > 1);
    HN_CHECK(&b.ctx, read_text(&b, job.resolved, NULL, &again)); // the same job and text
    CU_ASSERT_STRING_EQUAL(job.resolved, again.resolved);
    HN_CHECK(&b.ctx, read_text(&b, SHORT "metrics: all\n", NULL, &job)); // by name only
    CU_ASSERT_EQUAL(job.n_studies, 0);
    HN_CHECK(&b.ctx, read_text(&b, SHORT "metrics: prop3\n", NULL, &job));
    CU_ASSERT_EQUAL(job.n_studies, 1);
    CU_ASSERT_EQUAL(job.n_metrics + job.n_snapshot_metrics, 0);
    tear_down(&b);
}

static void test_bad_jobs(void) {
    struct bench b;
    set_up(&b);
    fails(&b, SHORT "metrics: [prop4]\n", "4:11: unknown metric 'prop4' (did you mean 'prop1'?)");
    fails(&b, SHORT "metrics: [{prop4: {K: 3}}]\n", "4:12: unknown metric 'prop4'");
    fails(&b, SHORT "metrics: [{gap: {K: 3}}]\n", "4:11: 'gap' has no options");
    fails(&b, SHORT "metrics: [{alignment: {}}]\n", "4:11: 'alignment' has no options");
    fails(&b, SHORT "metrics: [{prop1: {KK: 3}}]\n",
          "4:20: unknown option of prop1 'KK' (did you mean 'K'?)");
    fails(&b, SHORT "metrics: [{prop1: {K: ten}}]\n", "4:23: ");
    fails(&b, SHORT "metrics: [{prop1: {K: [3, 3]}}]\n", "4:27: 3 is given twice in 'K'");
    fails(&b, SHORT "metrics: [{prop1: {K: []}}]\n", "4:23: 'K' is empty");
    fails(&b, SHORT "metrics: [{prop2: {alpha: 1.5}}]\n", "4:27: ");
    fails(&b, SHORT "metrics: [prop1, {prop1: {K: 100}}]\n", "4:19: prop1 {K=100");
    fails(&b, SHORT "metrics: [prop3, prop3]\n", "4:18: prop3 {anchors=1000} is given twice");
    fails(&b, SHORT "metrics: [{prop1: {}, prop2: {}}]\n", "4:23: a study is a name or a mapping");
    fails(&b, SHORT "metrics: [{prop1: 3}]\n", "4:19: the options of prop1 are a mapping");
    fails(&b, SHORT "metrics: [{[prop1]: 3}]\n", "4:12: a key must be a text");
    fails(&b, SHORT "metrics: [{}]\n", "4:11: 'metrics' wants names, not a mapping");
    fails(&b, SHORT "metrics: [gap, all]\n", "4:16: 'all' holds the metrics before it");
    fails(&b, SHORT "metrics: [all, gap]\n", "4:16: 'gap' is given twice");
    fails(&b, SHORT "metrics: [all, all]\n", "4:16: 'all' holds");
    tear_down(&b);
}

static void test_too_many(void) {
    struct bench b;
    set_up(&b);
    char text[16384] = SHORT "metrics: [{prop1: {points: [2";
    for (int i = 3; i < 1100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %d", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "]}}]\n");
    fails(&b, text, "4:20: the studies have more than 1000 points");
    tear_down(&b);
}

static enum hn_code run_job(struct bench *b, const char *out, struct hn_run_summary *summary,
                            struct hn_results *results) {
    char folder[700];
    snprintf(folder, sizeof folder, "%s/%s", b->folder, out);
    return fixture_run_job(&b->ctx, b->path, NULL, folder, NULL, summary, results);
}

static void write_job(struct bench *b, const char *text) {
    write_bytes(b->path, text, strlen(text));
}

static const struct hn_table *table_of(const struct hn_results *r, const char *name) {
    for (int64_t i = 0; i < r->n_tables; i++)
        if (strcmp(r->table[i].name, name) == 0)
            return &r->table[i];
    fprintf(stderr, "    no table %s\n", name);
    CU_FAIL_FATAL("a table is missing");
    return NULL;
}

static const char every_study[] = JOB "[uniform, batchsampler: {M: 20, K: 4, alpha: 0.2, t: 1}]\n"
                                      "metrics:\n"
                                      "  - fn_ratio\n"
                                      "  - hardness\n"
                                      "  - {random_assignments: {count: 20}}\n"
                                      "  - {prop1: {M: [20, 30], K: 4, graphs: 2, points: 9}}\n"
                                      "  - {prop2: {M: 20, K: 4, sweeps: 2}}\n"
                                      "  - prop3\n"
                                      "  - {lemmas: {trials: 2}}\n"
                                      "  - {staleness: {M: 20, K: 4, batches: 9}}\n"
                                      "  - {purity: {M: 20, K: 4}}\n"
                                      "  - {heatmap: {size: 5}}\n"
                                      "  - {global_histogram: {bins: 10}}\n";
enum { STUDIES = 10, STEPS = 3 };

// Every row of a study's table points to its row of `studies`: same step, study and data.
static void check_keys(const struct hn_results *r) {
    const struct hn_table *studies = table_of(r, "studies");
    int64_t rows = 0;
    CU_ASSERT_EQUAL(studies->rows, STUDIES * STEPS);
    for (int64_t i = 0; i < r->n_tables; i++) {
        const struct hn_table *t = &r->table[i];
        if (!hn_study_find(t->name))
            continue;
        for (int64_t row = 0; row < t->rows; row++, rows++) {
            int64_t at = llround(hn_table_real(t, row, "study_row"));
            CU_ASSERT_FATAL(at >= 0 && at < studies->rows);
            CU_ASSERT_STRING_EQUAL(hn_table_text(studies, at, "study"), t->name);
            CU_ASSERT_EQUAL(hn_table_real(studies, at, "step"), hn_table_real(t, row, "step"));
            CU_ASSERT_STRING_EQUAL(hn_table_text(t, row, "dataset"), "s.h5");
            CU_ASSERT_STRING_EQUAL(hn_table_text(studies, at, "status"), "ok");
        }
    }
    CU_ASSERT(rows > 100);
    for (int i = 0; hn_studies[i]; i++) // all of the registry
        CU_ASSERT(table_of(r, hn_studies[i]->name)->rows > 0);
}

// A graph of age 0 is that of a run which builds anew at every step.
static void check_fresh(const struct hn_results *r) {
    const struct hn_table *stale = table_of(r, "staleness");
    int64_t compared = 0;
    CU_ASSERT_EQUAL(stale->rows, 1 + 2 + 3);
    for (int64_t row = 0; row < stale->rows; row++) {
        CU_ASSERT(hn_table_real(stale, row, "age") >= 0);
        for (int64_t run = 0; run < r->runs.rows; run++) {
            if (strcmp(hn_table_text(&r->runs, run, "sampler"), "batchsampler") != 0 ||
                hn_table_real(stale, row, "age") > 0 ||
                hn_table_real(&r->runs, run, "step") != hn_table_real(stale, row, "step"))
                continue;
            static const char *const same[] = {"fn_ratio",     "fn_ratio_lo",  "cos_mean",
                                               "cos_p99",      "hardest_mean", "hard_true_mean",
                                               "graph_overlap"};
            for (size_t c = 0; c < sizeof same / sizeof same[0]; c++)
                CU_ASSERT_EQUAL(hn_table_real(stale, row, same[c]),
                                hn_table_real(&r->runs, run, same[c]));
            compared++;
        }
    }
    CU_ASSERT_EQUAL(compared, STEPS);
}

static void test_run(void) {
    struct bench b;
    struct hn_run_summary summary;
    struct hn_results first, second, back;
    char path[700];
    set_up(&b);
    make_snapshot(&b, "2", "4");
    write_job(&b, every_study);
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &first));
    CU_ASSERT_EQUAL(summary.ran, STEPS * (2 + STUDIES));
    CU_ASSERT_EQUAL(summary.failed + summary.not_applicable, 0);
    check_keys(&first);
    check_fresh(&first);
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &second)); // everything is there
    CU_ASSERT_EQUAL(summary.ran, 0);
    CU_ASSERT_EQUAL(summary.present, STEPS * (2 + STUDIES));
    check_keys(&second);
    snprintf(path, sizeof path, "%s/results.h5", b.folder);
    HN_CHECK(&b.ctx, hn_results_write(&b.ctx, &second, path));
    HN_CHECK(&b.ctx, hn_results_read(&b.ctx, path, &back));
    check_keys(&back);
    hn_results_free(&b.ctx, &back);
    // Merging twice: the second half of the rows points to the second half of `studies`.
    HN_CHECK(&b.ctx, hn_results_append(&b.ctx, &first, &second));
    const struct hn_table *purity = table_of(&first, "purity");
    int64_t half = purity->rows / 2;
    for (int64_t row = 0; row < half; row++)
        CU_ASSERT_EQUAL(hn_table_real(purity, row + half, "study_row"),
                        hn_table_real(purity, row, "study_row") + STUDIES * STEPS);
    hn_results_free(&b.ctx, &first);
    hn_results_free(&b.ctx, &second);
    tear_down(&b);
}

// A shard that is gone is measured again, and nothing else; what a study does not use does not
// touch its key.
static void test_resumes(void) {
    struct bench b;
    struct hn_run_summary summary;
    struct hn_results results;
    char path[900], key[80];
    set_up(&b);
    make_snapshot(&b, "2", "4");
    write_job(&b, JOB "uniform\nmetrics: [{purity: {M: 20, K: 4}}, {prop3: {anchors: 5}}]\n");
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &results));
    CU_ASSERT_EQUAL(summary.ran, 3 + 2 * STEPS);
    const struct hn_table *studies = table_of(&results, "studies");
    snprintf(key, sizeof key, "%s", hn_table_text(studies, 2, "run_key"));
    hn_results_free(&b.ctx, &results);
    snprintf(path, sizeof path, "%s/out/cells/%s.cell", b.folder, key);
    CU_ASSERT_EQUAL(unlink(path), 0);
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &results));
    CU_ASSERT_EQUAL(summary.ran, 1);
    hn_results_free(&b.ctx, &results);
    // Another temperature concerns prop3, but not purity.
    write_job(&b, JOB "uniform\ntemperature: 0.1\n"
                      "metrics: [{purity: {M: 20, K: 4}}, {prop3: {anchors: 5}}]\n");
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &results));
    CU_ASSERT_EQUAL(summary.ran, 3 + STEPS);
    hn_results_free(&b.ctx, &results);
    tear_down(&b);
}

static void test_not_applicable(void) {
    struct bench b;
    struct hn_run_summary summary;
    struct hn_results results;
    set_up(&b);
    make_snapshot(&b, "1", "1"); // no second view; one class: prop3 finds no true negative
    write_job(&b, JOB "uniform\nsteps: [0]\nmetrics: [random_assignments, prop3, "
                      "{prop2: {M: 20, K: 4, sweeps: 1}}]\n");
    HN_CHECK(&b.ctx, run_job(&b, "out", &summary, &results));
    CU_ASSERT_EQUAL(summary.not_applicable, 2);
    CU_ASSERT_EQUAL(summary.failed, 0);
    const struct hn_table *studies = table_of(&results, "studies");
    CU_ASSERT_STRING_EQUAL(hn_table_text(studies, 0, "status"), "not_applicable");
    CU_ASSERT_STRING_EQUAL(hn_table_text(studies, 0, "error"),
                           "random_assignments needs a second view, which s.h5 does not have");
    CU_ASSERT_STRING_EQUAL(hn_table_text(studies, 1, "status"), "not_applicable");
    CU_ASSERT_STRING_EQUAL(hn_table_text(studies, 2, "status"), "ok");
    CU_ASSERT_EQUAL(table_of(&results, "random_assignments")->rows, 0);
    CU_ASSERT_EQUAL(table_of(&results, "prop2")->rows, 2); // a class of everything has no row
    hn_results_free(&b.ctx, &results);
    tear_down(&b);
}

static void test_planning_refuses(void) {
    struct bench b;
    struct hn_run_summary summary;
    struct hn_results results;
    set_up(&b);
    make_snapshot(&b, "2", "4");
    write_job(&b, JOB "uniform\nmetrics: [{purity: {M: 20, K: 21}}]\n");
    HN_CHECK_FAILS(&b.ctx, run_job(&b, "out", &summary, &results), HN_USAGE,
                   "K = 21 exceeds M = 20");
    write_job(&b, JOB "uniform\nmetrics: [{purity: {item: 90}}]\n");
    HN_CHECK_FAILS(&b.ctx, run_job(&b, "out", &summary, &results), HN_USAGE, "item 90");
    tear_down(&b);
}

// Whatever allocation fails, the run fails or records it, and leaks nothing.
static void test_out_of_memory(void) {
    struct bench b;
    set_up(&b);
    make_snapshot(&b, "2", "4");
    write_job(&b, JOB "uniform\nsteps: [60]\nmetrics: [{prop2: {M: 20, K: 4, sweeps: 1}}]\n");
    int64_t k = 1, before = b.ctx.memory.live;
    for (bool through = false; !through && k < 20000; k += 397) {
        struct hn_run_summary summary = {0};
        struct hn_results results;
        char out[32];
        snprintf(out, sizeof out, "out%lld", (long long)k);
        b.ctx.memory.calls = 0;
        b.ctx.memory.fail_at = k;
        enum hn_code code = run_job(&b, out, &summary, &results);
        through = b.ctx.memory.calls < k;
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT(!through || (code == HN_OK && summary.failed == 0));
        hn_results_free(&b.ctx, &results);
        CU_ASSERT_EQUAL(b.ctx.memory.live, before);
    }
    CU_ASSERT(k > 100);
    b.ctx.memory.fail_at = 0;
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"reading", test_reading},
    {"bad jobs", test_bad_jobs},
    {"too many", test_too_many},
    {"a run", test_run},
    {"resuming", test_resumes},
    {"what does not apply", test_not_applicable},
    {"planning refuses", test_planning_refuses},
    {"out of memory", test_out_of_memory},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "study_run", tests, (int)(sizeof tests / sizeof tests[0]));
}
