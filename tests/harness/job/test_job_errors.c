// Errors in job files: the place and the remedy in every message.
#include "tests/job_fixture.h"

#include <sys/stat.h>

// The job with the overrides fails with a message that begins with `wanted`.
static void fails_set(struct bench *b, const char *text, const char *set, const char *wanted) {
    struct hn_job job;
    CU_ASSERT_EQUAL(read_text(b, text, set, &job), HN_USAGE);
    check_message(b, wanted);
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
                   "it is a folder");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "", NULL, hn_figure_id, &job), HN_USAGE,
                   "cannot be opened");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "/dev/zero", NULL, hn_figure_id, &job), HN_USAGE,
                   "it is a device");
    write_bytes(b.path, SHORT, strlen(SHORT));
    CU_ASSERT_EQUAL(chmod(b.path, 0), 0);
    if (geteuid() != 0) // the superuser reads everything
        HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, b.path, NULL, hn_figure_id, &job), HN_USAGE,
                       "Permission denied");
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

static const struct hn_test tests[] = {
    {"keys", test_keys},
    {"numbers", test_numbers},
    {"names", test_names},
    {"every_sampler", test_samplers},
    {"syntax", test_syntax},
    {"files", test_files},
    {"override_errors", test_override_errors},
};

HN_TEST_MAIN("job_errors", tests)
