// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings whose allocations fail one at a time, once for every place that allocates and every way
// to it: of each task, with the options that allocate. Then the same training gives what it gave
// before. HN_STACKS=1: all of these, in a minute; otherwise each 24th.
#include "tests/call_stacks.h"
#include "tests/training_fixture.h"

enum { EVERY = 24 };
#define HELD "out=4 negatives=2 mined=true valid=0.3 "

static const struct {
    const char *task, *data, *options;
    enum hn_objective objective;
    const char *sampler, *sampler_options;
    int embeddings; // enum hn_embeddings
    bool own_cache; // of views, which are made anew
} trainings[] = {
    {"node", "cora", "out=4 hidden=8", HN_OBJECTIVE_OTHER_VIEW, "ring", "lo=50 hi=90"},
    {"node", "cora", "out=4 hidden=8 encoder=gcn", HN_OBJECTIVE_SIAMESE, "uniform", ""},
    {"node", "cora", "out=4 hidden=8 encoder=mlp", HN_OBJECTIVE_SUPERVISED, "uniform", ""},
    {"node", "cora", "out=4 hidden=8", HN_OBJECTIVE_OTHER_VIEW, "random-negatives", "n=3"},
    {"node", "cora", "out=4 hidden=8", HN_OBJECTIVE_NTXENT, "gcbs", "quantile=0.9",
     HN_EMBEDDINGS_STORED},
    {"graph", "MUTAG", "width=8 wl=2", HN_OBJECTIVE_NTXENT, "knn", ""},
    {"graph", "MUTAG", "width=8", HN_OBJECTIVE_JSD, "uniform", ""},
    {"cnn", "cifar10", "n=7 out=4 probe=false", HN_OBJECTIVE_QUEUE, "uniform", ""},
    {"views-mlp", "cifar10", "n=24 views=2 dim=4 hidden=8 out=4", HN_OBJECTIVE_SUPCON, "knn", ""},
    {"views-mlp", "cifar10", "n=24 views=2 dim=4 hidden=8 out=4 probe=false positives=label",
     HN_OBJECTIVE_QUEUE, "uniform", ""},
    {"views-mlp", "cifar10", "n=7 views=1 dim=4 hidden=8 out=4 probe=false", HN_OBJECTIVE_NTXENT,
     "uniform", "", HN_EMBEDDINGS_FRESH, true},
    {"text", "sts", "out=4 svd=3 idf=true", HN_OBJECTIVE_INFONCE, "knn", ""},
    {"text", "sts", "out=4 items=pairs mask=true transductive=true", HN_OBJECTIVE_BOTH_WAYS,
     "uniform", ""},
    {"text", "sts", "out=4 items=pairs sick_only=true", HN_OBJECTIVE_SIGLIP, "uniform", ""},
    {"pairs", "ruby", "out=4 svd=3 hidden=6 drop=0.1 same_side=both mask=true",
     HN_OBJECTIVE_BOTH_WAYS, "gcbs", "quantile=0.9"},
    {"pairs", "ruby", HELD "among=train", HN_OBJECTIVE_OTHER_VIEW, "uniform", ""},
    {"pairs", "ruby", HELD "max_rank=5 overlap=out-of-train", HN_OBJECTIVE_BOTH_WAYS, "uniform",
     ""},
    {"pairs", "ruby", "out=4 mined=random overlap=out-of-test self=text shared=true idf=false",
     HN_OBJECTIVE_BOTH_WAYS, "uniform", ""},
    {"pairs", "beir", HELD "self=both split=group relative_margin=0.1", HN_OBJECTIVE_BOTH_WAYS,
     "uniform", ""},
};

// Pairs as BEIR has them, with ids, grades, hidden relevance and groups.
static void put_beir(const char *path) {
    char below[200];
    snprintf(below, sizeof below, "%s/qrels", path);
    CU_ASSERT_EQUAL_FATAL(mkdir(below, 0777), 0);
    FILE *query = open_data(path, "queries.jsonl"), *passage = open_data(path, "corpus.jsonl");
    FILE *train = open_data(path, "qrels/train.tsv"), *truth = open_data(path, "qrels/truth.tsv");
    FILE *group = open_data(path, "groups.txt");
    fputs("query-id\tcorpus-id\tscore\n", train);
    fputs("query-id\tcorpus-id\tscore\n", truth);
    for (int i = 0; i < 40; i++) {
        fprintf(query, "{\"_id\": \"q%d\", \"text\": \"find %c of %d\"}\n", i, 'a' + i % 7, i);
        fprintf(passage, "{\"_id\": \"%s%d\", \"text\": \"%s %c of %d\"}\n", i % 5 ? "d" : "q", i,
                i % 3 ? "get" : "find", 'a' + i % 7, i);
        fprintf(train, "q%d\t%s%d\t1\n", i, i % 5 ? "d" : "q", i);
        fprintf(truth, "q%d\t%s%d\t2\n", i, i % 5 ? "d" : "q", i);
        fprintf(group, "%d\n", i / 4);
    }
    CU_ASSERT(fclose(query) == 0 && fclose(passage) == 0 && fclose(train) == 0 &&
              fclose(truth) == 0 && fclose(group) == 0);
}

static void find_data(const char *name, char *path, size_t size) {
    static const char *const declared[] = {"cora", "cifar10", "tudataset/MUTAG", "sts",
                                           "codesearchnet/ruby"};
    snprintf(path, size, "%s/%s", root, name);
    if (mkdir(path, 0777) != 0)
        return;
    for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
        const char *slash = strrchr(declared[i], '/');
        if (strcmp(slash ? slash + 1 : declared[i], name) == 0)
            CU_ASSERT_FATAL(put_task_data(declared[i], path));
    }
    if (strcmp(name, "beir") == 0)
        put_beir(path);
}

static struct trial *open_training(size_t i) {
    char data[160], options[256];
    prepare();
    find_data(trainings[i].data, data, sizeof data);
    snprintf(options, sizeof options, "data=%s %s", data, trainings[i].options);
    struct trial *t = open_trial_of(1, trainings[i].task, options, trainings[i].sampler,
                                    trainings[i].sampler_options);
    t->spec.setting =
        (struct hn_task_setting){.cache = trainings[i].own_cache ? t->folder : root,
                                 .folder = "",
                                 .seed = 2,
                                 .batch_size = 7,
                                 .loss = {.objective = trainings[i].objective, .temperature = 0.5}};
    t->spec.adam.rate = 0.003;
    t->spec.adam.steps = 2;
    t->spec.uniform_epochs = 0;
    t->spec.uniform = t->spec.rebuild = 1;
    t->spec.embeddings = trainings[i].embeddings;
    t->spec.snapshot = t->spec.checkpoint = 1;
    t->spec.expect = true;
    return t;
}

// A training from its beginning.
static enum hn_code train_anew(struct hn_context *ctx, struct trial *t) {
    struct hn_table cosines = {0};
    use_folder(t, "run");
    t->spec.cosines = &cosines;
    hn_table_free(ctx, &t->table);
    enum hn_code code = hn_training_table(ctx, t->spec.task, &t->table);
    code = code ? code : hn_cosines_table(ctx, &cosines);
    code = code ? code : hn_train(ctx, &t->spec, NULL, &t->table, NULL);
    hn_table_free(ctx, &cosines);
    hn_fixture_remove(t->folder);
    return code;
}

static enum hn_code train_and_forget(struct hn_context *ctx, void *data) {
    struct trial *t = data;
    enum hn_code code = train_anew(ctx, t);
    hn_table_free(ctx, &t->table);
    return code;
}

static void test_trainings(void) {
    bool by_stack = getenv("HN_STACKS");
    int64_t failed = 0;
    for (size_t i = 0; i < sizeof trainings / sizeof *trainings; i++) {
        if (trainings[i].own_cache && !by_stack) // seconds each time
            continue;
        struct trial *t = open_training(i), *again = open_training(i);
        hn_test_entry(trainings[i].options);
        HN_CHECK(&again->ctx, train_anew(&again->ctx, again));
        failed += fail_new_stacks(&t->ctx, train_and_forget, t, by_stack ? 1 : EVERY);
        HN_CHECK(&t->ctx, train_anew(&t->ctx, t));
        check_same(&t->table, &again->table);
        close_trial(t);
        close_trial(again);
    }
    CU_ASSERT(failed > (by_stack ? 1000 : 50));
}

static const struct hn_test tests[] = {{"trainings", test_trainings}};
HN_TEST_MAIN("training_memory", tests)
