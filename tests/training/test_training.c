// SPDX-License-Identifier: GPL-3.0-or-later
// The loop and the node task on a small graph: what it learns, the same bits for any number of
// threads, runs that go wrong, every failed allocation.
#include "core/sweep/product.h"
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
    t->spec.adam.rate = 0.01;
    t->spec.setting.loss.temperature = 1e-310;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_DATA, "with finite weights (the largest ");
    CU_ASSERT_PTR_NOT_NULL(strstr(t->ctx.message, "raise the temperature (1e-310)"));
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

// A loss, a weighting and a sampler that do not go together are refused before the first step, also
// where the weighting only begins later.
static const struct {
    enum hn_objective objective;
    const char *weighting, *options;
    bool outside;
    enum hn_code code;
    const char *message;
} misfits[] = {
    {HN_OBJECTIVE_SUPCON, "none", "", false, HN_USAGE, "task node cannot train with loss supcon"},
    {HN_OBJECTIVE_SIAMESE, "hcl", "", false, HN_USAGE,
     "loss siamese has no negatives to be weighted"},
    {HN_OBJECTIVE_SUPERVISED, "fnc", "", false, HN_USAGE,
     "loss supervised has no negatives to be weighted"},
    {HN_OBJECTIVE_SIGLIP, "none", "", true, HN_USAGE, "loss siglip has no denominator"},
    {HN_OBJECTIVE_SIGLIP, "progcl", "", false, HN_USAGE, "loss siglip is not weighted"},
    {HN_OBJECTIVE_SIGLIP, "progcl", "from=5", false, HN_USAGE, "loss siglip is not weighted"},
    {HN_OBJECTIVE_SIAMESE, "gist", "guide=teacher", false, HN_USAGE,
     "gist with guide: teacher takes a sampler of batches and loss ntxent"},
    {HN_OBJECTIVE_NTXENT, "gist", "guide=teacher", false, HN_NOT_APPLICABLE,
     "gist with guide: teacher needs a teacher: name a file with one by the job's key 'teacher'"},
};
#define OF_JSD "loss jsd takes weighting none, or hcl with form equation and tau_plus 0"
static const struct {
    const char *weighting, *options, *message; // NULL: it fits
} of_jsd[] = {{"none", "", NULL},
              {"hcl", "tau_plus=0", NULL},
              {"hcl", "tau_plus=0 clip=2 anneal=3", NULL},
              {"hcl", "tau_plus=0 form=figure13", OF_JSD},
              {"hcl", "", "loss jsd knows no debiasing: set tau_plus to 0"},
              {"debiased", "tau_plus=0.2", "loss jsd knows no debiasing: set tau_plus to 0"},
              {"gist", "", OF_JSD},
              {"fnc", "", OF_JSD},
              {"progcl", "", OF_JSD},
              {"progcl", "from=100", OF_JSD}};

static void use_weighting(struct trial *t, const char *name, const char *options) {
    t->spec.weighting = named_weighting(name);
    CU_ASSERT_FATAL(t->spec.weighting && t->spec.weighting->params_size <= sizeof t->weighting);
    HN_CHECK(&t->ctx, hn_options_init(&t->ctx, t->spec.weighting->options, t->weighting));
    set(t, t->spec.weighting->options, t->weighting, options);
    t->spec.setting.loss.weighting = t->spec.weighting->resolve(t->weighting, 0);
}

static void test_misfits(void) {
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        struct trial *t = open_trial(1, "", "uniform", "");
        hn_test_entry(misfits[i].message);
        t->spec.setting.loss.objective = misfits[i].objective;
        t->spec.setting.loss.outside = misfits[i].outside;
        use_weighting(t, misfits[i].weighting, misfits[i].options);
        HN_CHECK_FAILS(&t->ctx, train(t), misfits[i].code, misfits[i].message);
        close_trial(t);
    }
    struct trial *t = open_trial(1, "", "uniform", "");
    struct hn_sampler_type of_pairs = *t->spec.sampler;
    of_pairs.flags |= HN_SAMPLER_NEEDS_VIEW2;
    t->spec.sampler = &of_pairs;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_NOT_APPLICABLE,
                   "uniform needs a stored second view, which training has not");
    t->spec.sampler = hn_sampler_find("uniform");
    t->spec.epochs = INT64_MAX / 2;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "epochs: too many");
    t->spec.epochs = 0;
    t->spec.uniform_epochs = INT64_MAX / 2;
    HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, "epochs: too many");
    close_trial(t);
}

static void test_jsd_weightings(void) {
    char graphs[96];
    prepare();
    snprintf(graphs, sizeof graphs, "%s/MUTAG", root);
    mkdir(graphs, 0777);
    put_labelled_graphs(graphs);
    for (size_t i = 0; i < sizeof of_jsd / sizeof *of_jsd; i++) {
        struct trial *t = open_trial_of(1, "graph", "data=MUTAG width=4", "uniform", "");
        hn_test_entry(of_jsd[i].options);
        t->spec.setting.batch_size = 7;
        t->spec.adam.steps = 2;
        t->spec.setting.loss.objective = HN_OBJECTIVE_JSD;
        use_weighting(t, of_jsd[i].weighting, of_jsd[i].options);
        if (of_jsd[i].message)
            HN_CHECK_FAILS(&t->ctx, train(t), HN_USAGE, of_jsd[i].message);
        else
            HN_CHECK(&t->ctx, train(t));
        close_trial(t);
    }
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

// The sum of chains that a product is, after what c has or not.
static float chains(struct hn_factor a, struct hn_factor b, int64_t i, int64_t j, int64_t depth,
                    bool add, float c) {
    float sum = add ? c : 0;
    for (int64_t from = 0; from < depth; from += HN_CHAIN) {
        float one = 0;
        for (int64_t k = from; k < hn_min(from + HN_CHAIN, depth); k++)
            one = hn_product_best() ? fmaf(element(a, i, k), element(b, k, j), one)
                                    : one + element(a, i, k) * element(b, k, j);
        sum = add || from > 0 ? sum + one : one;
    }
    return sum;
}

struct size {
    int64_t m, n, k;
};

// One product, on so many threads; rows of c lie apart, and what lies between stays. Factors
// end where their arrays do.
static void check_product(struct hn_context *ctx, struct size s, struct hn_factor a,
                          struct hn_factor b, bool add) {
    static const int threads[] = {1, 2, 3, 5, 6, 16};
    HN_SCOPE(ctx);
    const int64_t ldc = s.n + 2;
    float *want = hn_alloc(ctx, s.m * ldc, sizeof *want), *c = hn_alloc(ctx, s.m * ldc, sizeof *c);
    for (int64_t i = 0; i < s.m * ldc; i++)
        want[i] = i % ldc < s.n ? chains(a, b, i / ldc, i % ldc, s.k, add, 0.37F) : 0.37F;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (int64_t i = 0; i < s.m * ldc; i++)
            c[i] = 0.37F;
        hn_product((struct hn_workers){threads[t], NULL}, a, b, s.m, s.n, s.k, add, c, ldc);
        CU_ASSERT_EQUAL(memcmp(c, want, (size_t)(s.m * ldc) * sizeof *c), 0);
    }
}

static struct hn_factor make_factor(struct hn_context *ctx, int64_t rows, int64_t cols,
                                    int64_t stride, bool transposed, uint64_t seed) {
    int64_t n = transposed ? (cols - 1) * stride + rows : (rows - 1) * stride + cols;
    return (struct hn_factor){hn_fixture_rows(ctx, 1, hn_max(n, 1), seed), stride, transposed};
}

// Bit for bit: tiles and panels that are full, of one row or column and between; chains of none,
// one and several; each factor as it is and transposed, in rows that lie apart.
static void test_products(void) {
    static const struct size sizes[] = {
        {1, 1, 1},     {5, 3, 0},      {14, 32, 128},  {15, 33, 129},  {64, 96, 300},  {65, 31, 7},
        {3, 200, 127}, {130, 530, 70}, {70, 128, 257}, {257, 129, 16}, {27, 1030, 130}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        for (int kind = 0; kind < 8; kind++) {
            HN_SCOPE(&ctx);
            struct size s = sizes[t];
            bool left = kind & 1, right = kind & 2;
            struct hn_factor a = make_factor(&ctx, s.m, s.k, (left ? s.m : s.k) + 3, left, 1);
            struct hn_factor b = make_factor(&ctx, s.k, s.n, (right ? s.k : s.n) + 5, right, 2);
            check_product(&ctx, s, a, b, kind & 4);
        }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows of a that overlap, as windows of a signal do.
static void test_windows(void) {
    const struct size s = {60, 40, 150};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *signal = hn_fixture_rows(&ctx, 1, s.m * 4 + s.k, 3);
    struct hn_factor b = make_factor(&ctx, s.k, s.n, s.n, false, 4);
    check_product(&ctx, s, (struct hn_factor){signal, 4, false}, b, false);
    hn_free(&ctx, signal);
    hn_free(&ctx, (void *)b.data);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"misfits", test_misfits},
    {"weightings of jsd", test_jsd_weightings},
    {"products", test_products},
    {"windows", test_windows},
    {"exp", test_exp},
    {"flops", test_flops},
    {"threads", test_threads},
    {"all_nodes", test_all_nodes},
    {"stored_embeddings", test_stored_embeddings},
    {"drop_last", test_drop_last},
    {"learns", test_learns},
    {"collapse", test_collapse},
    {"supervised", test_supervised},
    {"divergence", test_divergence},
    {"what_does_not_fit", test_what_does_not_fit},
    {"memory", test_memory},
};
HN_TEST_MAIN("training", tests)
