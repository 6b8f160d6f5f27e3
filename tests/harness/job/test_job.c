// SPDX-License-Identifier: GPL-3.0-or-later
// Job files: meaning, grid order, overrides, round trip through the resolved text.
#include "tests/job_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>

static void check_weightings(const struct hn_job *job) {
    static const char *const wanted[][2] = {
        {"none", ""},
        {"debiased", "tau_plus=0.05"},
        {"hcl", "beta=1, form=equation, tau_plus=0"},
        {"hcl", "beta=2, form=equation, tau_plus=0"},
        {"hcl", "beta=1, form=equation, tau_plus=0.1"},
        {"hcl", "beta=2, form=equation, tau_plus=0.1"},
    };
    CU_ASSERT_EQUAL_FATAL(job->n_weightings, 6);
    for (int64_t i = 0; i < job->n_weightings; i++) {
        CU_ASSERT_STRING_EQUAL(job->weighting[i].type->name, wanted[i][0]);
        CU_ASSERT_STRING_EQUAL(job->weighting[i].text, wanted[i][1]);
    }
}

static void test_full(void) {
    struct bench b;
    struct hn_job job;
    char wanted[700];
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, full_job, NULL, &job));
    CU_ASSERT_STRING_EQUAL(job.path, b.path);
    CU_ASSERT_EQUAL(job.n_snapshots, 2);
    snprintf(wanted, sizeof wanted, "%s/cifar10.h5", b.folder);
    CU_ASSERT_STRING_EQUAL(job.snapshot[0], wanted);
    CU_ASSERT_STRING_EQUAL(job.snapshot_written[0], "cifar10.h5");
    CU_ASSERT_STRING_EQUAL(job.snapshot[1], "/data/b.h5");
    CU_ASSERT_EQUAL(job.n_steps, 2);
    CU_ASSERT_EQUAL(job.step[1], 100);
    CU_ASSERT_EQUAL(job.n_batch_sizes, 2);
    CU_ASSERT_EQUAL(job.batch_size[1], 128);
    CU_ASSERT_EQUAL(job.batches, 0);
    CU_ASSERT_EQUAL(job.epochs, 2);
    CU_ASSERT_EQUAL(job.n_seeds, 3);
    CU_ASSERT_EQUAL(job.seed[2], 3);
    CU_ASSERT_EQUAL(job.n_samplers, 9);
    CU_ASSERT_EQUAL_FATAL(job.n_losses, 2);
    CU_ASSERT_EQUAL(job.loss[0], HN_LOSS_NTXENT);
    CU_ASSERT_EQUAL(job.loss[1], HN_LOSS_OTHER_VIEW);
    check_weightings(&job);
    CU_ASSERT_EQUAL(job.n_temperatures, 2);
    CU_ASSERT_EQUAL(job.temperature[1], 0.07);
    CU_ASSERT_EQUAL(job.n_metrics, 1);
    CU_ASSERT_STRING_EQUAL(job.metric[0]->name, "fn_ratio");
    CU_ASSERT_EQUAL(job.timing.reps, 21);
    CU_ASSERT_EQUAL(job.timing.warmup, 2);
    CU_ASSERT(job.timing.interleave);
    CU_ASSERT_EQUAL(job.memory_limit, (int64_t)4 << 30);
    CU_ASSERT_EQUAL(job.n_figures, 1);
    CU_ASSERT_STRING_EQUAL(job.figure[0], "bs-fig4");
    CU_ASSERT(!job.figures_all);
    tear_down(&b);
}

static void test_defaults(void) {
    struct bench b;
    struct hn_job job;
    int64_t metrics = 0;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, SHORT, NULL, &job));
    CU_ASSERT_EQUAL(job.n_snapshots, 1);
    CU_ASSERT_PTR_NULL(job.step);
    CU_ASSERT_EQUAL(job.n_steps, 0);
    CU_ASSERT_EQUAL(job.batches, 300);
    CU_ASSERT_EQUAL(job.epochs, 0);
    CU_ASSERT_EQUAL(job.n_seeds, 1);
    CU_ASSERT_EQUAL(job.seed[0], 1);
    CU_ASSERT_EQUAL(job.n_samplers, 1);
    CU_ASSERT_STRING_EQUAL(job.sampler[0].text, "draw=shuffle");
    CU_ASSERT_EQUAL(job.n_losses, 1);
    CU_ASSERT_EQUAL(job.loss[0], HN_LOSS_NTXENT);
    CU_ASSERT_EQUAL_FATAL(job.n_weightings, 1);
    CU_ASSERT_STRING_EQUAL(job.weighting[0].type->name, "none");
    CU_ASSERT_EQUAL(job.n_temperatures, 1);
    CU_ASSERT_EQUAL(job.temperature[0], 0.5);
    for (; hn_metrics[metrics]; metrics++)
        CU_ASSERT_PTR_EQUAL(job.metric[metrics], hn_metrics[metrics]);
    CU_ASSERT_EQUAL(job.n_metrics, metrics);
    CU_ASSERT_EQUAL(job.timing.reps, 1);
    CU_ASSERT_EQUAL(job.timing.warmup, 0);
    CU_ASSERT(!job.timing.interleave);
    CU_ASSERT_EQUAL(job.memory_limit, 0);
    CU_ASSERT_EQUAL(job.n_figures, 0);
    CU_ASSERT(!job.figures_all);
    tear_down(&b);
}

// True if the canonical text of point i of the grid holds every one of the '|'-separated parts.
static bool point_is(const struct hn_job *job, int64_t i, const char *sampler, const char *parts) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", parts);
    bool good = i < job->n_samplers && !strcmp(job->sampler[i].type->name, sampler);
    for (char *part = strtok(copy, "|"); part; part = strtok(NULL, "|"))
        good = good && strstr(job->sampler[i].text, part);
    return good;
}

static void test_grid_order(void) {
    struct bench b;
    struct hn_job job;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, full_job, NULL, &job));
    CU_ASSERT(point_is(&job, 0, "uniform", "draw=shuffle"));
    CU_ASSERT(point_is(&job, 1, "uniform", "draw=iid"));
    CU_ASSERT(point_is(&job, 2, "knn", ""));
    CU_ASSERT(point_is(&job, 3, "batchsampler", "M=500|K=100|alpha=0.1"));
    CU_ASSERT(point_is(&job, 4, "batchsampler", "M=500|K=100|alpha=0.2~0.05"));
    CU_ASSERT(point_is(&job, 5, "batchsampler", "M=1000|K=100|alpha=0.1"));
    CU_ASSERT(point_is(&job, 6, "batchsampler", "M=1000|K=100|alpha=0.2~0.05"));
    CU_ASSERT(point_is(&job, 7, "gcbs", ""));
    CU_ASSERT(point_is(&job, 8, "file-order", ""));
    // The order in which the options are written decides, not that of the sampler's table.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT, "samplers={batchsampler: {alpha: [0.1, 0.3], M: [7, 8]}}", &job));
    CU_ASSERT_EQUAL(job.n_samplers, 4);
    CU_ASSERT(point_is(&job, 0, "batchsampler", "alpha=0.1|M=7"));
    CU_ASSERT(point_is(&job, 1, "batchsampler", "alpha=0.1|M=8"));
    CU_ASSERT(point_is(&job, 2, "batchsampler", "alpha=0.3|M=7"));
    CU_ASSERT(point_is(&job, 3, "batchsampler", "alpha=0.3|M=8"));
    // What is given wins over a preset, before it and behind.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT,
                       "samplers={batchsampler: {K: 60, preset: [cifar10, mutag], t: 7}}", &job));
    CU_ASSERT_EQUAL(job.n_samplers, 2);
    CU_ASSERT(point_is(&job, 0, "batchsampler", "K=60|preset=cifar10|M=500|t=7"));
    CU_ASSERT(point_is(&job, 1, "batchsampler", "K=60|preset=mutag|M=100|t=7"));
    tear_down(&b);
}

// Reads the resolved text of `text` as a job in another folder: the same job, the same text.
static void check_round_trip(struct bench *b, const char *text, const char *set) {
    struct hn_job job, again;
    HN_CHECK(&b->ctx, read_text(b, text, set, &job));
    char inner[560];
    snprintf(inner, sizeof inner, "%s/inner", b->folder);
    CU_ASSERT_EQUAL(mkdir(inner, 0700), 0);
    snprintf(b->path, sizeof b->path, "%s/other.yaml", inner);
    HN_CHECK(&b->ctx, read_text(b, job.resolved, NULL, &again));
    CU_ASSERT_STRING_EQUAL(job.resolved, again.resolved);
    CU_ASSERT_STRING_EQUAL(job.resolved_sha256, again.resolved_sha256);
    CU_ASSERT_EQUAL_FATAL(job.n_samplers, again.n_samplers);
    for (int64_t i = 0; i < job.n_samplers; i++) {
        CU_ASSERT_PTR_EQUAL(job.sampler[i].type, again.sampler[i].type);
        CU_ASSERT_STRING_EQUAL(job.sampler[i].text, again.sampler[i].text);
    }
    CU_ASSERT_EQUAL(job.n_losses, again.n_losses);
    CU_ASSERT_EQUAL_FATAL(job.n_weightings, again.n_weightings);
    for (int64_t i = 0; i < job.n_weightings; i++)
        CU_ASSERT_STRING_EQUAL(job.weighting[i].text, again.weighting[i].text);
    CU_ASSERT_EQUAL_FATAL(job.n_snapshots, again.n_snapshots);
    for (int64_t i = 0; i < job.n_snapshots; i++)
        CU_ASSERT_STRING_EQUAL(job.snapshot_written[i], again.snapshot_written[i]);
    CU_ASSERT_EQUAL(job.batches, again.batches);
    CU_ASSERT_EQUAL(job.epochs, again.epochs);
    CU_ASSERT_EQUAL(job.n_steps, again.n_steps);
    CU_ASSERT_EQUAL(job.n_metrics, again.n_metrics);
    CU_ASSERT_EQUAL(job.memory_limit, again.memory_limit);
    CU_ASSERT_EQUAL(job.figures_all, again.figures_all);
    CU_ASSERT_EQUAL(job.n_figures, again.n_figures);
    CU_ASSERT_EQUAL(unlink(b->path), 0);
    CU_ASSERT_EQUAL(rmdir(inner), 0);
    snprintf(b->path, sizeof b->path, "%s/job.yaml", b->folder);
}

static void test_round_trip(void) {
    struct bench b;
    set_up(&b);
    check_round_trip(&b, full_job, NULL);
    check_round_trip(&b, SHORT, NULL);
    check_round_trip(&b, SHORT "weightings: {hcl: {form: figure13, anneal: 400, clip: 2}}\n", NULL);
    check_round_trip(&b, SHORT, "figures=all|temperature=[0.1, 1e-2, 3]|epochs=3|steps=7");
    // Every sampler of the registry, with its defaults.
    char text[2048] = "snapshots: a.h5\nbatch_size: 64\nsamplers:\n";
    for (int64_t i = 0; hn_samplers[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "  - \"%s\"\n", hn_samplers[i]->name);
    }
    check_round_trip(&b, text, NULL);
    // Names that need quotes and escapes: line breaks of YAML, controls, other alphabets, no
    // characters.
    check_round_trip(
        &b,
        "batch_size: 64\nsamplers: [knn]\nsnapshots: [\"a b: #c\", \"\\n\\t\\\"\\\\\", "
        "\"\\u0085\\u2028\\u2029\\uFEFF\\uFFFE\\x7F\\e\", \"\xC3\xA9\xE2\x82\xAC"
        "\xF0\x9F\x98\x80\", \"-\", \"1\", \"null\", ' lead', \"trail \", \"\\U0001FFFF\"]\n",
        NULL);
    tear_down(&b);
}

static void test_resolved(void) {
    struct bench b;
    struct hn_job job, same;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, SHORT "figures: all\nlimits: {memory: 1KiB}\n", NULL, &job));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "version: 1\n"
                                                "snapshots:\n"
                                                "  - \"a.h5\"\n"
                                                "steps: all\n"
                                                "batch_size: [64]\n"
                                                "batches: 300\n"
                                                "seeds: [1]\n"
                                                "samplers:\n"
                                                "  - uniform: {draw: shuffle}\n"
                                                "loss: ntxent\n"
                                                "weightings: [none]\n"
                                                "temperature: [0.5]\n"
                                                "metrics: ["));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved,
                                  "]\n"
                                  "timing: {reps: 1, warmup: 0, interleave: false, processes: 1}\n"
                                  "limits: {memory: 1024}\n"
                                  "figures: all\n"));
    // Another way to write the same job gives the same text; another job gives another digest.
    HN_CHECK(&b.ctx, read_text(&b,
                               "figures: 'all'\nlimits:\n  memory: 1024\nsteps: all\n"
                               "samplers:\n- uniform:\n    draw: shuffle\nbatch_size: [64.0]\n"
                               "timing: {}\nseeds: 1\ntemperature: 5e-1\nsnapshots: [a.h5]\n",
                               NULL, &same));
    CU_ASSERT_STRING_EQUAL(job.resolved, same.resolved);
    CU_ASSERT_STRING_EQUAL(job.resolved_sha256, same.resolved_sha256);
    HN_CHECK(&b.ctx, read_text(&b, SHORT "figures: all\nlimits: {memory: 1025}\n", NULL, &same));
    CU_ASSERT_STRING_NOT_EQUAL(job.resolved_sha256, same.resolved_sha256);
    tear_down(&b);
}

// The digest is that of the bytes, as any other tool computes it.
static void test_digest(void) {
    struct bench b;
    struct hn_job job;
    char command[700], out[128];
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, full_job, NULL, &job));
    write_bytes(b.path, job.resolved, strlen(job.resolved));
    snprintf(command, sizeof command, "sha256sum '%s'", b.path);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_EQUAL(strlen(job.resolved_sha256), 64);
    CU_ASSERT_EQUAL(strncmp(out, job.resolved_sha256, 64), 0);
    tear_down(&b);
}

static void test_relative_path(void) {
    struct bench b;
    struct hn_job job;
    char before[4096];
    set_up(&b);
    write_bytes(b.path, SHORT, strlen(SHORT));
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_EQUAL_FATAL(chdir(b.folder), 0);
    hn_own(&b.ctx, b.jobs);
    enum hn_code code = hn_job_read(&b.ctx, "job.yaml", NULL, NULL, hn_figure_id, &job);
    hn_own(&b.ctx, NULL);
    CU_ASSERT_EQUAL_FATAL(chdir(before), 0);
    CU_ASSERT_EQUAL_FATAL(code, HN_OK);
    CU_ASSERT_STRING_EQUAL(job.snapshot[0], "a.h5");
    tear_down(&b);
}

static void test_overrides(void) {
    struct bench b;
    struct hn_job job;
    set_up(&b);
    HN_CHECK(
        &b.ctx,
        read_text(&b, full_job,
                  "batches=20|timing.reps=3|batch_size=[32, 48]|samplers=[knn, "
                  "{batchsampler: {M: 77}}]|limits.memory=1MiB|temperature=0.1|seeds=9|seeds=8",
                  &job));
    CU_ASSERT_EQUAL(job.batches, 20); // removes epochs
    CU_ASSERT_EQUAL(job.epochs, 0);
    CU_ASSERT_EQUAL(job.timing.reps, 3);
    CU_ASSERT_EQUAL(job.timing.warmup, 2); // the rest of the group stays
    CU_ASSERT_EQUAL(job.n_batch_sizes, 2);
    CU_ASSERT_EQUAL(job.batch_size[1], 48);
    CU_ASSERT_EQUAL(job.n_samplers, 2);
    CU_ASSERT(point_is(&job, 1, "batchsampler", "M=77"));
    CU_ASSERT_EQUAL(job.memory_limit, 1 << 20);
    CU_ASSERT_EQUAL(job.n_temperatures, 1);
    CU_ASSERT_EQUAL(job.n_seeds, 1);
    CU_ASSERT_EQUAL(job.seed[0], 8); // the later one
    // Keys and groups that the file does not have; values that hold '=' and '.'.
    HN_CHECK(&b.ctx, read_text(&b, SHORT, "epochs=2|timing.warmup=1|snapshots=x=y.h5", &job));
    CU_ASSERT_EQUAL(job.epochs, 2);
    CU_ASSERT_EQUAL(job.timing.warmup, 1);
    CU_ASSERT_STRING_EQUAL(job.snapshot_written[0], "x=y.h5");
    // An override replaces what would have been an error.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT "batches: 1\nepochs: 1\nseeds: x\n", "seeds=4|epochs=5", &job));
    CU_ASSERT_EQUAL(job.epochs, 5);
    CU_ASSERT_EQUAL(job.seed[0], 4);
    // A job file from which --set removes and to which it adds every key.
    HN_CHECK(&b.ctx, read_text(&b, "version: 1\n", "snapshots=a|samplers=knn|batch_size=2", &job));
    tear_down(&b);
}

static void test_parse_sampler(void) {
    struct bench b;
    struct hn_job_sampler *s;
    set_up(&b);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "knn", &s));
    CU_ASSERT_STRING_EQUAL(s->type->name, "knn");
    CU_ASSERT_STRING_EQUAL(s->text, "");
    hn_free(&b.ctx, s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "{batchsampler: {M: 500, K: 7}}", &s));
    CU_ASSERT_STRING_EQUAL(s->type->name, "batchsampler");
    CU_ASSERT_PTR_NOT_NULL(strstr(s->text, "K=7, M=500"));
    hn_free(&b.ctx, s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "uniform: {draw: iid}", &s));
    CU_ASSERT_STRING_EQUAL(s->text, "draw=iid");
    hn_free(&b.ctx, s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "null", &s));
    CU_ASSERT_STRING_EQUAL(s->type->name, "file-order"); // as it is called now
    hn_free(&b.ctx, s);
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "", &s), HN_USAGE, "a name is missing");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "knm", &s), HN_USAGE,
                   "sampler knm: unknown sampler 'knm' (did you mean 'knn'?)");
    // Those that stand for other programs' batches are for jobs alone.
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "givn", &s), HN_USAGE,
                   "sampler givn: unknown sampler 'givn' (known: uniform, ");
    CU_ASSERT_PTR_NULL(strstr(b.ctx.message, "given"));
    CU_ASSERT_PTR_NULL(strstr(b.ctx.message, "command"));
    HN_CHECK_FAILS(
        &b.ctx, hn_job_parse_sampler(&b.ctx, "gcbs(quantile=.9)", &s), HN_USAGE,
        "unknown sampler 'gcbs(quantile=.9)': with options it is {gcbs: {option: value}}");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "ringo", &s), HN_USAGE,
                   "(did you mean 'ring'?)");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "{uniform: {draw: [iid, shuffle]}}", &s),
                   HN_USAGE, "one sampler is wanted, these are 2");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "{batchsampler: {M: x}}", &s), HN_USAGE,
                   "sampler {batchsampler: {M: x}}: option 'M': 'x' is not a whole number");
    tear_down(&b);
}

// JSON is YAML, and has words in quotes only.
static void test_quoted_word(void) {
    struct bench b;
    struct hn_job job;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, SHORT,
                               "samplers=[{\"random-negatives\": {\"n\": [\"all\", 3]}}]", &job));
    CU_ASSERT_EQUAL(job.n_samplers, 2);
    CU_ASSERT(point_is(&job, 0, "random-negatives", "n=all"));
    CU_ASSERT(point_is(&job, 1, "random-negatives", "n=3"));
    for (int i = 0; i < 2; i++) {
        const char *const set =
            i ? "samplers=[{ring: {n: \"3\"}}]" : "samplers=[{ring: {n: \"al\"}}]";
        CU_ASSERT_EQUAL(read_text(&b, SHORT, set, &job), HN_USAGE);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(b.ctx.message, "'n' wants a whole number, not a text in quotes"));
    }
    tear_down(&b);
}

// `rest` is every sampler that the list does not name: all of the list are there once.
static void test_rest(void) {
    struct bench b;
    struct hn_job job;
    set_up(&b);
    HN_CHECK(&b.ctx, read_text(&b, SHORT, "samplers=[knn, rest, {gcbs: {keep: [3, 4]}}]", &job));
    CU_ASSERT(point_is(&job, 0, "knn", ""));
    CU_ASSERT(point_is(&job, job.n_samplers - 2, "gcbs", "keep=3"));
    int64_t n = 0;
    for (; hn_samplers[n]; n++) {
        int64_t found = 0;
        for (int64_t i = 0; i < job.n_samplers; i++)
            found += job.sampler[i].type == hn_samplers[n];
        CU_ASSERT_EQUAL(found, strcmp(hn_samplers[n]->name, "gcbs") == 0 ? 2 : 1);
    }
    CU_ASSERT_EQUAL(job.n_samplers, n + 1);
    CU_ASSERT_EQUAL(read_text(&b, SHORT, "samplers=[knn, rest, rest]", &job), HN_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.ctx.message, "is given twice"));
    CU_ASSERT_EQUAL(read_text(&b, SHORT, "samplers=[{rest: {M: 3}}]", &job), HN_USAGE);
    tear_down(&b);
}

// The job files that come with the program, when run from the root of the checkout.
static void test_shipped_jobs(void) {
    struct hn_context ctx;
    struct hn_job job;
    hn_context_init(&ctx, 1);
    if (access("harness/jobs/smoke.yaml", R_OK) != 0)
        hn_test_skip("not run from the root of the checkout");
    void *memory = hn_alloc(&ctx, 0, 1);
    hn_own(&ctx, memory);
    HN_CHECK(&ctx, hn_job_read(&ctx, "harness/jobs/demo.yaml", NULL, NULL, hn_figure_id, &job));
    CU_ASSERT_STRING_EQUAL(job.snapshot[0], "harness/jobs/../../datasets/cifar10-mini.h5");
    CU_ASSERT(job.figures_all);
    static const char *const others[] = {"smoke", "all-samplers", "gcbs"};
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, "harness/jobs/%s.yaml", others[k]);
        HN_CHECK(&ctx, hn_job_read(&ctx, path, NULL, NULL, hn_figure_id, &job));
    }
    hn_own(&ctx, NULL);
    hn_free(&ctx, memory);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"full", test_full},
    {"defaults", test_defaults},
    {"grid_order", test_grid_order},
    {"rest", test_rest},
    {"quoted_word", test_quoted_word},
    {"round_trip", test_round_trip},
    {"resolved", test_resolved},
    {"digest", test_digest},
    {"relative_path", test_relative_path},
    {"overrides", test_overrides},
    {"parse_sampler", test_parse_sampler},
    {"shipped_jobs", test_shipped_jobs},
};

HN_TEST_MAIN("job", tests)
