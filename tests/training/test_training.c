// The loop and the node task on a small graph: what it learns, the same bits for any number of
// threads, runs that go wrong, every failed allocation.
#include "tests/training_fixture.h"
#include "training/net/exp.h"
#include "training/net/product.h"

// Two views of 60 items go through a layer of 16 x 8 (forward, weights, inputs; the sparse layer
// does not count), and a batch of 20 has 20 x 20 scores, whose slopes go back to both views.
static void test_flops(void) {
    struct trial *t = open_trial(2, "encoder=mlp", "uniform", "");
    HN_CHECK(&t->ctx, train(t));
    CU_ASSERT_EQUAL(t->times.flops, 2.0 * (2 * 3 * NODES * 16 * 8 + 3 * 20 * 20 * 8));
    close_trial(t);
}

static void test_threads(void) {
    for (int i = 0; i < SAMPLERS; i++) {
        struct trial *one = open_trial(1, "encoder=mean", samplers[i].sampler, samplers[i].options);
        struct trial *many =
            open_trial(3, "encoder=mean", samplers[i].sampler, samplers[i].options);
        HN_CHECK(&one->ctx, train(one));
        HN_CHECK(&many->ctx, train(many));
        check_same(&one->table, &many->table);
        close_trial(one);
        close_trial(many);
    }
}

// A batch of all nodes has one loss in any order, and another if some are drawn twice.
static void test_all_nodes(void) {
    static const char *const draws[][2] = {
        {"file-order", ""}, {"uniform", "draw=shuffle"}, {"uniform", "draw=iid"}};
    double loss[3];
    for (int k = 0; k < 3; k++) {
        struct trial *t = open_trial(1, "encoder=mean", draws[k][0], draws[k][1]);
        t->spec.setting.batch_size = NODES;
        t->spec.adam.steps = 1;
        t->spec.uniform_epochs = 0;
        HN_CHECK(&t->ctx, train(t));
        loss[k] = hn_table_real(&t->table, t->table.rows - 1, "loss");
        close_trial(t);
    }
    CU_ASSERT_DOUBLE_EQUAL(loss[0], loss[1], 1e-6);
    CU_ASSERT(fabs(loss[0] - loss[2]) > 1e-4);
}

static void test_stored_embeddings(void) {
    struct trial *whole = open_trial(2, "encoder=mean", "knn", "");
    struct trial *t = open_trial(1, "encoder=mean", "knn", "");
    struct trial *fresh = open_trial(1, "encoder=mean", "knn", "");
    whole->spec.embeddings = t->spec.embeddings = HN_EMBEDDINGS_STORED;
    HN_CHECK(&whole->ctx, train(whole));
    use_folder(t, "stored");
    t->stop_at = 6;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_INTERRUPTED, "interrupted at step 6");
    HN_CHECK(&t->ctx, train(t));
    check_same(&whole->table, &t->table);
    HN_CHECK(&fresh->ctx, train(fresh));
    int64_t last = fresh->table.rows - 1;
    CU_ASSERT(hn_table_real(&fresh->table, last, "loss") != hn_table_real(&t->table, last, "loss"));
    close_trial(t);
    close_trial(whole);
    close_trial(fresh);
}

// Epochs of full batches alone, whatever the sampler, and after an interruption too.
static void test_drop_last(void) {
    for (int i = 0; i < SAMPLERS; i++) {
        struct trial *t = open_trial(1, "encoder=mean", samplers[i].sampler, samplers[i].options);
        struct trial *broken =
            open_trial(2, "encoder=mean", samplers[i].sampler, samplers[i].options);
        t->spec.setting.batch_size = broken->spec.setting.batch_size = 25; // of 60
        t->spec.epochs = broken->spec.epochs = 4;
        t->spec.rebuild = broken->spec.rebuild = 0;
        HN_CHECK(&t->ctx, train(t));
        CU_ASSERT_EQUAL(t->times.steps, 12);
        t->spec.drop_last = broken->spec.drop_last = true;
        HN_CHECK(&t->ctx, train(t));
        CU_ASSERT_EQUAL(t->times.steps, 8);
        use_folder(broken, "dropping");
        broken->stop_at = 5;
        HN_CHECK_FAILS(&broken->ctx, train(broken), HN_INTERRUPTED, "interrupted at step 5");
        HN_CHECK(&broken->ctx, train(broken));
        check_same(&t->table, &broken->table);
        close_trial(t);
        close_trial(broken);
    }
}

// Training does what it is for: the loss falls and the probe finds the classes.
static void test_learns(void) {
    static const char *const encoders[] = {"encoder=mean", "encoder=gcn", "encoder=mlp"};
    for (int i = 0; i < 3; i++) {
        struct trial *t = open_trial(2, encoders[i], "uniform", "");
        t->spec.adam.steps = 60;
        HN_CHECK(&t->ctx, train(t));
        int64_t last = t->table.rows - 1;
        CU_ASSERT(hn_table_real(&t->table, last, "loss") < hn_table_real(&t->table, 1, "loss"));
        CU_ASSERT(hn_table_real(&t->table, last, "probe_acc") > 0.8); // chance is a third
        CU_ASSERT_EQUAL(t->times.steps, 60);
        close_trial(t);
    }
}

// Two encoders that agree need no negatives: plain ones collapse (NS 4.3.4).
static void test_collapse(void) {
    struct trial *t = open_trial(2, "stop_gradient=false batch_norm=false", "uniform", "");
    t->spec.setting.loss.objective = HN_OBJECTIVE_SIAMESE;
    t->spec.adam.steps = 300;
    HN_CHECK(&t->ctx, train(t));
    int64_t last = t->table.rows - 1;
    CU_ASSERT(hn_table_real(&t->table, last, "loss") < -0.95);
    CU_ASSERT(hn_table_real(&t->table, last, "deviation") <
              0.5 * hn_table_real(&t->table, 0, "deviation"));
    close_trial(t);
}

static void test_supervised(void) {
    struct trial *t = open_trial(2, "encoder=gcn out=2", "uniform", "");
    t->spec.setting.loss.objective = HN_OBJECTIVE_SUPERVISED;
    t->spec.adam.steps = 100;
    HN_CHECK(&t->ctx, train(t));
    int64_t last = t->table.rows - 1;
    CU_ASSERT(hn_table_real(&t->table, last, "loss") < 0.5 * log(3));
    close_trial(t);
}

static void test_divergence(void) {
    struct trial *t = open_trial(1, "encoder=mean", "uniform", "");
    t->spec.adam.rate = 1e38;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "lower adam.rate");
    CU_ASSERT_PTR_NOT_NULL(strstr(t->ctx.message, "step "));
    close_trial(t);
}

static void test_what_does_not_fit(void) {
    struct trial *t = open_trial(1, "encoder=mean", "random-negatives", "n=3");
    t->spec.setting.loss.objective = HN_OBJECTIVE_INFONCE;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_NOT_APPLICABLE, "other-view");
    t->spec.setting.loss.objective = HN_OBJECTIVE_OTHER_VIEW;
    t->spec.setting.batch_size = NODES + 1;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "lower batch_size");
    t->spec.setting.batch_size = 20;
    t->spec.setting.data = "/nowhere";
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "/nowhere/small");
    close_trial(t);
}

static void test_memory(void) {
    struct trial *t = open_trial(1, "encoder=mean", "ring", "lo=50 hi=90");
    t->spec.adam.steps = 4;
    t->spec.snapshot = 2;
    t->spec.expect = true;
    use_folder(t, "memory");
    HN_CHECK(&t->ctx, train(t));
    for (int64_t k = 1;; k++) {
        struct hn_table table = {0}, cosines = {0};
        int64_t live = t->ctx.memory.live;
        HN_CHECK(&t->ctx, hn_training_table(&t->ctx, t->spec.task, &table));
        HN_CHECK(&t->ctx, hn_cosines_table(&t->ctx, &cosines));
        t->spec.cosines = &cosines;
        t->ctx.memory.fail_at = t->ctx.memory.calls + k;
        enum hn_code code = hn_train(&t->ctx, &t->spec, NULL, &table, NULL);
        t->ctx.memory.fail_at = 0;
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        hn_table_free(&t->ctx, &table);
        hn_table_free(&t->ctx, &cosines);
        CU_ASSERT_EQUAL(t->ctx.memory.live, live);
        if (code != HN_MEMORY)
            break;
        CU_ASSERT_FATAL(k < 5000);
    }
    close_trial(t);
}

static void test_exp(void) {
    double worst = 0;
    for (int i = -8700; i <= 8800; i++) {
        float x = (float)i * 0.01F + 0.0033F;
        worst = fmax(worst, fabs((double)hn_real_exp(x) / exp((double)x) - 1));
    }
    CU_ASSERT(worst < 0x1p-22);
    CU_ASSERT_EQUAL(hn_real_exp(0), 1);
    CU_ASSERT(hn_real_exp(-1e30F) < 1e-37F);
}

static float element(struct hn_factor f, int64_t i, int64_t j) {
    return f.transposed ? f.data[j * f.stride + i] : f.data[i * f.stride + j];
}

// Adds a[m x k] b[k x n] to ones, on one thread and on three, beside a plain loop.
static void check_product(int64_t m, int64_t n, bool left, bool right) {
    enum { MOST = 700, DEPTH = 5 };
    static float a[MOST * DEPTH], b[MOST * DEPTH], c[2][MOST * MOST];
    const struct hn_factor x = {a, left ? m : DEPTH, left}, y = {b, right ? DEPTH : n, right};
    for (int64_t i = 0; i < MOST * DEPTH; i++) {
        a[i] = (float)(i % 13 - 6);
        b[i] = (float)(i % 7 - 3);
    }
    for (int way = 0; way < 2; way++) {
        for (int64_t i = 0; i < m * n; i++)
            c[way][i] = 1;
        hn_product((struct hn_workers){way ? 3 : 1, NULL}, x, y, m, n, DEPTH, true, c[way], n);
    }
    int64_t wrong = 0;
    for (int64_t i = 0; i < m * n; i++) {
        float sum = 1; // whole numbers: exact in any order
        for (int64_t k = 0; k < DEPTH; k++)
            sum += element(x, i / n, k) * element(y, k, i % n);
        wrong += memcmp(&sum, &c[0][i], sizeof sum) != 0 || memcmp(&sum, &c[1][i], sizeof sum) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

// One block and several, of rows and of columns, with a last one of fewer.
static void test_products(void) {
    static const int64_t sizes[][2] = {{1, 1},    {130, 3},  {3, 130},
                                       {700, 90}, {90, 700}, {641, 641}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        for (int kind = 0; kind < 4; kind++)
            check_product(sizes[t][0], sizes[t][1], kind & 1, kind & 2);
}

static const struct hn_test tests[] = {
    {"products", test_products},     {"exp", test_exp},
    {"flops", test_flops},           {"threads", test_threads},
    {"all_nodes", test_all_nodes},   {"stored_embeddings", test_stored_embeddings},
    {"drop_last", test_drop_last},   {"learns", test_learns},
    {"collapse", test_collapse},     {"supervised", test_supervised},
    {"divergence", test_divergence}, {"what_does_not_fit", test_what_does_not_fit},
    {"memory", test_memory},
};
HN_TEST_MAIN("training", tests)
