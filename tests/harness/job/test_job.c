// Job files: meaning, grid order, overrides, round trip through the resolved text, the place and
// the remedy in every error.
#include "tests/job_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>

// The job with the overrides fails with a message that begins with `wanted`.
static void fails_set(struct bench *b, const char *text, const char *set, const char *wanted) {
    struct hn_job job;
    CU_ASSERT_EQUAL(read_text(b, text, set, &job), HN_USAGE);
    check_message(b, wanted);
}

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
    hn_job_free(&b.ctx, &job);
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
    hn_job_free(&b.ctx, &job);
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
    CU_ASSERT(point_is(&job, 8, "null", ""));
    hn_job_free(&b.ctx, &job);
    // The order in which the options are written decides, not that of the sampler's table.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT, "samplers={batchsampler: {alpha: [0.1, 0.3], M: [7, 8]}}", &job));
    CU_ASSERT_EQUAL(job.n_samplers, 4);
    CU_ASSERT(point_is(&job, 0, "batchsampler", "alpha=0.1|M=7"));
    CU_ASSERT(point_is(&job, 1, "batchsampler", "alpha=0.1|M=8"));
    CU_ASSERT(point_is(&job, 2, "batchsampler", "alpha=0.3|M=7"));
    CU_ASSERT(point_is(&job, 3, "batchsampler", "alpha=0.3|M=8"));
    hn_job_free(&b.ctx, &job);
    // What is given wins over a preset, before it and behind.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT,
                       "samplers={batchsampler: {K: 60, preset: [cifar10, mutag], t: 7}}", &job));
    CU_ASSERT_EQUAL(job.n_samplers, 2);
    CU_ASSERT(point_is(&job, 0, "batchsampler", "K=60|preset=cifar10|M=500|t=7"));
    CU_ASSERT(point_is(&job, 1, "batchsampler", "K=60|preset=mutag|M=100|t=7"));
    hn_job_free(&b.ctx, &job);
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
    hn_job_free(&b->ctx, &job);
    hn_job_free(&b->ctx, &again);
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
    CU_ASSERT_PTR_NOT_NULL(strstr(job.resolved, "]\n"
                                                "timing: {reps: 1, warmup: 0, interleave: false}\n"
                                                "limits: {memory: 1024}\n"
                                                "figures: all\n"));
    // Another way to write the same job gives the same text; another job gives another digest.
    HN_CHECK(&b.ctx, read_text(&b,
                               "figures: 'all'\nlimits:\n  memory: 1024\nsteps: all\n"
                               "samplers:\n- uniform:\n    draw: shuffle\nbatch_size: [0064]\n"
                               "timing: {}\nseeds: 1\ntemperature: 5e-1\nsnapshots: [a.h5]\n",
                               NULL, &same));
    CU_ASSERT_STRING_EQUAL(job.resolved, same.resolved);
    CU_ASSERT_STRING_EQUAL(job.resolved_sha256, same.resolved_sha256);
    hn_job_free(&b.ctx, &same);
    HN_CHECK(&b.ctx, read_text(&b, SHORT "figures: all\nlimits: {memory: 1025}\n", NULL, &same));
    CU_ASSERT_STRING_NOT_EQUAL(job.resolved_sha256, same.resolved_sha256);
    hn_job_free(&b.ctx, &same);
    hn_job_free(&b.ctx, &job);
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
    hn_job_free(&b.ctx, &job);
    tear_down(&b);
}

static void test_keys(void) {
    struct bench b;
    set_up(&b);
    fails(&b, SHORT "batchs: 20\n", "4:1: unknown key 'batchs' (did you mean 'batches'?)");
    fails(&b, SHORT "# a comment\n\n  \nSeeds: [1]\n",
          "7:1: unknown key 'Seeds' (did you mean 'seeds'?)");
    fails(&b, SHORT "something_else: 1\n", "4:1: unknown key 'something_else' (known: version, ");
    fails(&b, SHORT "batch_size: 4\n",
          "4:1: key 'batch_size' is given twice (first at line 2, column 1)");
    fails(&b, "batch_size: 4\nsamplers: [knn]\n", "1:1: the required key 'snapshots' is missing");
    fails(&b, "snapshots: a\nsamplers: [knn]\n", "1:1: the required key 'batch_size' is missing");
    fails(&b, "snapshots: a\nbatch_size: 4\n", "1:1: the required key 'samplers' is missing");
    fails(&b, SHORT "? [a, b]\n: 1\n", "4:3: a key must be a text, not a list");
    fails(&b, SHORT "timing: {rep: 3}\n", "4:10: unknown key 'rep' (did you mean 'reps'?)");
    fails(&b, SHORT "timing:\n  reps: 3\n  reps: 4\n",
          "6:3: key 'reps' is given twice (first at line 5, column 3)");
    fails(&b, SHORT "limits: {memry: 3}\n", "4:10: unknown key 'memry' (did you mean 'memory'?)");
    fails(&b, SHORT "limits: {x: 3}\n", "4:10: unknown key 'x' (known: memory)");
    tear_down(&b);
}

static void test_numbers(void) {
    struct bench b;
    set_up(&b);
    fails(&b, SHORT "version: 2\n", "4:10: option 'version': 2 is out of range");
    fails(&b, SHORT "batches: 0\n", "4:10: option 'batches': 0 is out of range");
    fails(&b, SHORT "batches: many\n", "4:10: option 'batches': 'many' is not a whole number");
    fails(&b, SHORT "batches: [1, 2]\n", "4:10: 'batches' wants a whole number, not a list");
    fails(&b, SHORT "batches: \"20\"\n",
          "4:10: 'batches' wants a whole number, not a text in quotes");
    fails(&b, SHORT "batches:\n", "4:9: 'batches' wants a whole number, not nothing");
    fails(&b, SHORT "epochs: 1.5\n", "4:9: option 'epochs': '1.5' is not a whole number");
    fails(&b, SHORT "batches: 3\nepochs: 1\n", "5:1: give either 'batches' or 'epochs', not both");
    fails(&b, SHORT "epochs: 3\nbatches: 1\n", "5:1: give either 'batches' or 'epochs', not both");
    fails(&b, SHORT "seeds: []\n", "4:8: 'seeds' is empty");
    fails(&b, SHORT "seeds: [1, -2]\n", "4:12: option 'seeds': -2 is out of range");
    fails(&b, SHORT "seeds: [1, 99999999999999999999]\n", "4:12: option 'seeds': 999999");
    fails(&b, SHORT "seeds: [1, 2, 01]\n", "4:15: 01 is given twice in 'seeds'");
    fails(&b, SHORT "seeds: [1, [2]]\n", "4:12: 'seeds' wants a whole number, not a list");
    fails(&b, SHORT "seeds: {a: 1}\n", "4:8: 'seeds' wants a whole number, not a mapping");
    fails(&b, SHORT "steps: al\n", "4:8: unknown word 'al' (did you mean 'all'?)");
    fails(&b, SHORT "steps: [0, x]\n", "4:12: option 'steps': 'x' is not a whole number");
    fails(&b, SHORT "steps: [5, 5]\n", "4:12: 5 is given twice in 'steps'");
    fails(&b, "snapshots: a\nsamplers: [knn]\nbatch_size: 1\n",
          "3:13: option 'batch_size': 1 is out of range (2 to 2147483647)");
    fails(&b, "snapshots: a\nsamplers: [knn]\nbatch_size: big\n",
          "3:13: option 'batch_size': 'big' is not a whole number");
    fails(&b, SHORT "temperature: 0\n", "4:14: option 'temperature': 0 is out of range");
    fails(&b, SHORT "temperature: .inf\n", "4:14: option 'temperature': '.inf' is not a number");
    fails(&b, SHORT "temperature: nan\n", "4:14: option 'temperature': 'nan' is not a number");
    fails(&b, SHORT "temperature: [0.5, 0.50]\n", "4:20: 0.50 is given twice in 'temperature'");
    fails(&b, SHORT "timing: 3\n", "4:9: 'timing' wants a mapping, not a text");
    fails(&b, SHORT "timing: {reps: 0}\n", "4:16: option 'reps': 0 is out of range");
    fails(&b, SHORT "timing: {interleave: 1}\n", "4:22: option 'interleave': '1' is not true");
    fails(&b, SHORT "timing: {interleave: [true]}\n", "4:22: 'interleave' wants true or false");
    fails(&b, SHORT "limits: {memory: lots}\n", "4:18: option 'memory': 'lots' is not a number of");
    fails(&b, SHORT "limits: {memory: -1}\n", "4:18: option 'memory': -1 is out of range");
    tear_down(&b);
}

static void test_names(void) {
    struct bench b;
    set_up(&b);
    fails(&b, SHORT "loss: ntxnt\n", "4:7: unknown loss 'ntxnt' (did you mean 'ntxent'?)");
    fails(&b, SHORT "loss: margin\n",
          "4:7: unknown loss 'margin' (known: ntxent, infonce, other-view)");
    fails(&b, SHORT "loss: dcl\n", "4:7: 'dcl' means debiased to some");
    fails(&b, SHORT "loss: [[ntxent]]\n", "4:8: a loss is a name, not a list");
    fails(&b, SHORT "loss: []\n", "4:7: 'loss' is empty");
    fails(&b, SHORT "loss: [ntxent, infonce, ntxent]\n", "4:25: 'ntxent' is given twice in 'loss'");
    fails(&b, SHORT "weightings: [none, dcl]\n", "4:20: 'dcl' means debiased to some");
    fails(&b, SHORT "weightings: [{dcl: {}}]\n", "4:15: 'dcl' means debiased to some");
    fails(&b, SHORT "weightings: [hlc]\n", "4:14: unknown weighting 'hlc' (did you mean 'hcl'?)");
    fails(&b, SHORT "weightings: [none, none]\n",
          "4:20: none {} is given twice (first at line 4, column 14)");
    fails(&b, SHORT "weightings: {none: {a: 1}}\n", "4:21: unknown option 'a': none has none");
    fails(&b, SHORT "weightings: [{debiased: {beta: 1}}]\n",
          "4:26: unknown option of debiased 'beta' (known: tau_plus)");
    fails(&b, SHORT "weightings: [{hcl: {beta: [1, -1]}}]\n",
          "4:31: option 'beta': -1 is out of range (0 to 1000)");
    fails(&b, SHORT "weightings: [{hcl: {tau_plus: 1}}]\n",
          "4:31: option 'tau_plus': 1 is out of range (0 to 0.99)");
    fails(&b, SHORT "weightings: [{hcl: {form: figure14}}]\n",
          "4:27: option 'form': 'figure14' is not equation or figure13");
    fails(&b, SHORT "weightings: [{hcl: {beta: [1, 2, 1]}}]\n", "4:34: 1 is given twice in 'beta'");
    fails(&b, SHORT "weightings: []\n", "4:13: 'weightings' is empty");
    fails(&b, SHORT "weightings: [[none]]\n",
          "4:14: a weighting is a name or a mapping of one, not a list");
    fails(&b, SHORT "metrics: [fn_ratoi]\n",
          "4:11: unknown metric 'fn_ratoi' (did you mean 'fn_ratio'?)");
    fails(&b, SHORT "metrics: al\n", "4:10: unknown metric 'al' (did you mean 'all'?)");
    fails(&b, SHORT "metrics: [fn_ratio, fn_ratio]\n", "4:21: 'fn_ratio' is given twice");
    fails(&b, SHORT "metrics: [[fn_ratio]]\n", "4:11: 'metrics' wants names, not a list");
    fails(&b, SHORT "metrics: []\n", "4:10: 'metrics' is empty");
    fails(&b, SHORT "figures: [bs-fig44]\n",
          "4:11: unknown figure 'bs-fig44' (did you mean 'bs-fig4'?)");
    fails(&b, SHORT "figures: nune\n", "4:10: unknown figure 'nune' (did you mean 'none'?)");
    fails(&b, SHORT "figures: [bs-fig4, bs-fig4]\n", "4:20: 'bs-fig4' is given twice");
    fails(&b, SHORT "figures: {a: b}\n", "4:10: 'figures' wants names, not a mapping");
    fails(&b, SHORT "figures:\n", "4:9: 'figures' is empty");
    fails(&b, "snapshots: [a, a]\nsamplers: [knn]\nbatch_size: 4\n",
          "1:16: 'a' is given twice in 'snapshots'");
    fails(&b, "snapshots: ['']\nsamplers: [knn]\nbatch_size: 4\n",
          "1:13: 'snapshots' wants file names, not nothing");
    fails(&b, "snapshots: []\nsamplers: [knn]\nbatch_size: 4\n", "1:12: 'snapshots' is empty");
    tear_down(&b);
}

static void test_samplers(void) {
    struct bench b;
    set_up(&b);
    fails(&b, BEFORE "  - unifrom\n", "4:5: unknown sampler 'unifrom' (did you mean 'uniform'?)");
    fails(&b, BEFORE "  - dbscan-9\n", "4:5: unknown sampler 'dbscan-9' (known: ");
    fails(&b, BEFORE "  - [knn]\n", "4:5: a sampler is a name or a mapping of one, not a list");
    fails(&b, BEFORE "  []\n", "4:3: 'samplers' is empty");
    fails(&b, BEFORE, "3:10: 'samplers' is empty");
    fails(&b, BEFORE "  - {}\n",
          "4:5: a sampler is a name or a mapping of one name to its options");
    fails(&b, BEFORE "  - batchsampler:\n    M: 5\n",
          "5:5: a sampler is a name or a mapping of one name to its options; this has 2 keys");
    fails(&b, BEFORE "  - knn: 5\n", "4:10: the options of knn are a mapping, not a text");
    fails(&b, BEFORE "  - knn: {M: 5}\n", "4:11: unknown option 'M': knn has none");
    fails(&b, BEFORE "  - batchsampler: {m: 5}\n",
          "4:20: unknown option of batchsampler 'm' (did you mean 'M'?)");
    fails(&b, BEFORE "  - batchsampler: {alhpa: 5}\n",
          "4:20: unknown option of batchsampler 'alhpa' (did you mean 'alpha'?)");
    fails(&b, BEFORE "  - batchsampler: {M: 5, M: 6}\n",
          "4:26: key 'M' is given twice (first at line 4, column 20)");
    fails(&b, BEFORE "  - batchsampler: {M: 0}\n", "4:23: option 'M': 0 is out of range (1");
    fails(&b, BEFORE "  - batchsampler: {M: [5, 6, x]}\n",
          "4:30: option 'M': 'x' is not a whole number");
    fails(&b, BEFORE "  - batchsampler: {M: {a: 5}}\n", "4:23: 'M' wants a whole number");
    fails(&b, BEFORE "  - batchsampler: {M: []}\n", "4:23: 'M' is empty");
    fails(&b, BEFORE "  - batchsampler: {alpha: 1.5}\n",
          "4:27: option 'alpha': 1.5 is out of range");
    fails(&b, BEFORE "  - uniform: {draw: shufle}\n",
          "4:21: option 'draw': 'shufle' is not shuffle or iid (did you mean 'shuffle'?)");
    fails(&b, BEFORE "  - knn\n  - batchsampler: {M: 5}\n  - knn: {}\n",
          "6:5: knn {} is given twice (first at line 4, column 5)");
    fails(&b, BEFORE "  - uniform\n  - uniform: {draw: [iid, shuffle]}\n",
          "5:5: uniform {draw=shuffle} is given twice (first at line 4, column 5)");
    fails(&b, BEFORE "  - batchsampler: {M: [5, 6], K: [1, 2, 2.0], t: 3}\n",
          "4:41: 2.0 is given twice in 'K'");
    fails(&b, BEFORE "  - batchsampler: {M: [5, 6, 5], K: [1, 2], t: [3, 4]}\n",
          "4:30: 5 is given twice in 'M'");
    tear_down(&b);
}

static void test_syntax(void) {
    struct bench b;
    set_up(&b);
    fails(&b, SHORT "seeds: [1, 2\n",
          "5:1: did not find expected ',' or ']', while parsing a flow");
    fails(&b, SHORT " bad: indent\n", "4:2: did not find expected key");
    fails(&b, SHORT "a: 'open\n", "5:1: found unexpected end of stream");
    fails(&b, SHORT "\tseeds: 1\n", "4:1: found character that cannot start any token");
    fails(&b, SHORT "seeds: &s [1]\n", "4:8: anchors are not supported");
    fails(&b, SHORT "seeds: *s\n", "4:8: aliases are not supported");
    fails(&b, SHORT "seeds: !!python/object [1]\n", "4:8: tags are not supported");
    fails(&b, SHORT "figures: \"a\\0b\"\n", "4:10: a text holds a NUL character");
    fails(&b, SHORT "---\nversion: 1\n", "5:1: a second document begins here");
    fails(&b, "", "1:1: the job file is empty");
    fails(&b, "# nothing\n", "1:1: the job file is empty");
    fails(&b, "- knn\n", "1:1: a job file is a mapping of keys, not a list");
    fails(&b, "knn\n", "1:1: a job file is a mapping of keys, not a text");
    fails(&b, SHORT "a: \xC3\xA9\xFF\n", "4:5: not UTF-8 text (");
    fails(&b, SHORT "a: \xE2\x82\n", "4:5: not UTF-8 text (");
    fails(&b, SHORT "a: \xED\xA0\x80\n", "4:4: not UTF-8 text (");
    fails(&b, SHORT "a: \x01\n", "4:4: control characters are not allowed");
    fails(&b, "\xFF\xFEv\n", "1:1: not UTF-8 text (");
    // Columns are counted in characters, and a byte order mark is none.
    fails(&b, "\xEF\xBB\xBF" SHORT "figures: [\"\xC3\xA9\xC3\xA9\xC3\xA9\"]\n",
          "4:11: unknown figure");
    tear_down(&b);
}

static void test_files(void) {
    struct bench b;
    struct hn_job job;
    char path[700];
    set_up(&b);
    snprintf(path, sizeof path, "%s/missing.yaml", b.folder);
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, path, NULL, hn_figure_id, &job), HN_USAGE,
                   "missing.yaml");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, path, NULL, hn_figure_id, &job), HN_USAGE,
                   "No such file");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, b.folder, NULL, hn_figure_id, &job), HN_USAGE,
                   "a folder, not a job file");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "", NULL, hn_figure_id, &job), HN_USAGE,
                   "cannot be opened");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "/dev/zero", NULL, hn_figure_id, &job), HN_USAGE,
                   "larger than");
    write_bytes(b.path, SHORT, strlen(SHORT));
    CU_ASSERT_EQUAL(chmod(b.path, 0), 0);
    if (geteuid() != 0) // the superuser reads everything
        HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, b.path, NULL, hn_figure_id, &job), HN_USAGE,
                       "Permission denied");
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
    enum hn_code code = hn_job_read(&b.ctx, "job.yaml", NULL, hn_figure_id, &job);
    CU_ASSERT_EQUAL_FATAL(chdir(before), 0);
    CU_ASSERT_EQUAL_FATAL(code, HN_OK);
    CU_ASSERT_STRING_EQUAL(job.snapshot[0], "a.h5");
    hn_job_free(&b.ctx, &job);
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
    hn_job_free(&b.ctx, &job);
    // Keys and groups that the file does not have; values that hold '=' and '.'.
    HN_CHECK(&b.ctx, read_text(&b, SHORT, "epochs=2|timing.warmup=1|snapshots=x=y.h5", &job));
    CU_ASSERT_EQUAL(job.epochs, 2);
    CU_ASSERT_EQUAL(job.timing.warmup, 1);
    CU_ASSERT_STRING_EQUAL(job.snapshot_written[0], "x=y.h5");
    hn_job_free(&b.ctx, &job);
    // An override replaces what would have been an error.
    HN_CHECK(&b.ctx,
             read_text(&b, SHORT "batches: 1\nepochs: 1\nseeds: x\n", "seeds=4|epochs=5", &job));
    CU_ASSERT_EQUAL(job.epochs, 5);
    CU_ASSERT_EQUAL(job.seed[0], 4);
    hn_job_free(&b.ctx, &job);
    // A job file from which --set removes and to which it adds every key.
    HN_CHECK(&b.ctx, read_text(&b, "version: 1\n", "snapshots=a|samplers=knn|batch_size=2", &job));
    hn_job_free(&b.ctx, &job);
    tear_down(&b);
}

static void test_override_errors(void) {
    struct bench b;
    set_up(&b);
    fails_set(&b, SHORT, "batchs=20",
              "--set batchs=20: unknown key 'batchs' (did you mean 'batches'?)");
    fails_set(&b, SHORT, "batches=x", "--set batches=x: option 'batches': 'x' is not a whole");
    fails_set(&b, SHORT, "batches=", "--set batches=: the value is missing");
    fails_set(&b, SHORT, "batches", "--set batches: give it as key=value");
    fails_set(&b, SHORT, "=5", "--set =5: give it as key=value");
    fails_set(&b, SHORT, "seeds=[1", "--set seeds=[1: did not find expected ',' or ']'");
    fails_set(&b, SHORT, "seeds=[1, 1]", "--set seeds=[1, 1]: 1 is given twice in 'seeds'");
    fails_set(&b, SHORT, "timing.rep=1", "--set timing.rep=1: unknown key 'rep'");
    fails_set(&b, SHORT, "samplers.knn=1",
              "--set samplers.knn=1: 'samplers' holds a list, not a mapping: set it as a whole");
    fails_set(&b, SHORT, "timing..reps=1", "--set timing..reps=1: unknown key ''");
    fails_set(&b, SHORT, "batches=1|epochs=1", "--set ");
    fails_set(&b, SHORT, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i=1",
              "--set ");
    fails_set(&b, SHORT, "samplers=[knn, {knn: {}}]",
              "--set samplers=[knn, {knn: {}}]: knn {} is given twice");
    tear_down(&b);
}

static void test_parse_sampler(void) {
    struct bench b;
    struct hn_job_sampler s;
    set_up(&b);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "knn", &s));
    CU_ASSERT_STRING_EQUAL(s.type->name, "knn");
    CU_ASSERT_STRING_EQUAL(s.text, "");
    hn_job_sampler_free(&b.ctx, &s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "{batchsampler: {M: 500, K: 7}}", &s));
    CU_ASSERT_STRING_EQUAL(s.type->name, "batchsampler");
    CU_ASSERT_PTR_NOT_NULL(strstr(s.text, "K=7, M=500"));
    hn_job_sampler_free(&b.ctx, &s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "uniform: {draw: iid}", &s));
    CU_ASSERT_STRING_EQUAL(s.text, "draw=iid");
    hn_job_sampler_free(&b.ctx, &s);
    HN_CHECK(&b.ctx, hn_job_parse_sampler(&b.ctx, "null", &s));
    CU_ASSERT_STRING_EQUAL(s.type->name, "null");
    hn_job_sampler_free(&b.ctx, &s);
    hn_job_sampler_free(&b.ctx, &s); // empty is fine
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "", &s), HN_USAGE, "a name is missing");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "knm", &s), HN_USAGE,
                   "sampler knm: unknown sampler 'knm' (did you mean 'knn'?)");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "{uniform: {draw: [iid, shuffle]}}", &s),
                   HN_USAGE, "one sampler is wanted, these are 2");
    HN_CHECK_FAILS(&b.ctx, hn_job_parse_sampler(&b.ctx, "{batchsampler: {M: x}}", &s), HN_USAGE,
                   "sampler {batchsampler: {M: x}}: option 'M': 'x' is not a whole number");
    tear_down(&b);
}

// The job files that come with the program, when run from the root of the checkout.
static void test_shipped_jobs(void) {
    struct hn_context ctx;
    struct hn_job job;
    hn_context_init(&ctx, 1);
    if (access("harness/jobs/smoke.yaml", R_OK) != 0)
        hn_test_skip("not run from the root of the checkout");
    HN_CHECK(&ctx, hn_job_read(&ctx, "harness/jobs/demo.yaml", NULL, hn_figure_id, &job));
    CU_ASSERT_STRING_EQUAL(job.snapshot[0], "harness/jobs/../../datasets/cifar10-mini.h5");
    CU_ASSERT(job.figures_all);
    hn_job_free(&ctx, &job);
    static const char *const others[] = {"smoke", "all-samplers", "gcbs"};
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, "harness/jobs/%s.yaml", others[k]);
        HN_CHECK(&ctx, hn_job_read(&ctx, path, NULL, hn_figure_id, &job));
        hn_job_free(&ctx, &job);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"full", test_full},
    {"defaults", test_defaults},
    {"grid_order", test_grid_order},
    {"round_trip", test_round_trip},
    {"resolved", test_resolved},
    {"digest", test_digest},
    {"keys", test_keys},
    {"numbers", test_numbers},
    {"names", test_names},
    {"every_sampler", test_samplers},
    {"syntax", test_syntax},
    {"files", test_files},
    {"relative_path", test_relative_path},
    {"overrides", test_overrides},
    {"override_errors", test_override_errors},
    {"parse_sampler", test_parse_sampler},
    {"shipped_jobs", test_shipped_jobs},
};

HN_TEST_MAIN("job", tests)
