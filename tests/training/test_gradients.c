// Every gradient of training against central differences, in double precision: 1e-6 relative. This
// suite alone is compiled, with the layers and losses, for HN_REAL_DOUBLE (Makefile).
#include "tests/slopes_fixture.h"
#include "training/net/layer.h"
#include "training/net/loss.h"
#include "training/net/optimiser.h"

#include <math.h>
#include <string.h>

// A network under test: its scalar is sum y c.
enum { ROWS = 6, ROOM = 4096 };
struct probe {
    struct hn_context ctx;
    struct hn_net net;
    struct hn_weights weights;
    struct hn_tape tape;
    struct hn_pass pass;
    struct hn_sparse input, input_t, mean, mean_t;
    hn_real x[ROOM], c[ROOM], dx[ROOM], dy[ROOM];
    int64_t outputs;
    void *memory; // owns all of it
};

static double scalar(void *self) {
    struct probe *p = self;
    const hn_real *y = hn_net_forward(&p->net, &p->weights, &p->tape, &p->pass, p->x, ROWS);
    double sum = 0;
    for (int64_t i = 0; i < p->outputs; i++)
        sum += y[i] * p->c[i];
    return sum;
}

// A sparse matrix with about a third of its entries, none of its rows empty.
static void open_sparse(struct probe *p, int64_t rows, int64_t cols, int64_t index,
                        struct hn_sparse *s, struct hn_sparse *t) {
    HN_CHECK(&p->ctx, hn_sparse_open(&p->ctx, rows, cols, rows * cols, s));
    HN_CHECK(&p->ctx, hn_sparse_open(&p->ctx, cols, rows, rows * cols, t));
    struct hn_stream stream;
    hn_stream_open(&stream, 5, "test.sparse", 0, 0, index);
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (j == i % cols || hn_stream_uniform(&stream) < 0.3) {
                s->index[k] = (int32_t)j;
                s->value[k++] = hn_stream_uniform(&stream) - 0.3;
            }
        s->start[i + 1] = k;
    }
    hn_sparse_transpose(s, t);
}

static struct probe *open_probe(int64_t in) {
    static struct probe probe;
    struct probe *p = &probe;
    memset(p, 0, sizeof *p);
    hn_context_init(&p->ctx, 2);
    p->memory = hn_alloc(&p->ctx, 1, 1);
    hn_own(&p->ctx, p->memory);
    hn_net_begin(&p->net, in);
    open_sparse(p, ROWS, in, 1, &p->input, &p->input_t);
    open_sparse(p, ROWS, ROWS, 2, &p->mean, &p->mean_t);
    p->pass = (struct hn_pass){.workers = {2, NULL},
                               .training = true,
                               .frozen = true,
                               .seed = 9,
                               .input = &p->input,
                               .input_t = &p->input_t,
                               .mean = &p->mean,
                               .mean_t = &p->mean_t};
    return p;
}

static void add(struct probe *p, const struct hn_layer_type *type, struct hn_layer_spec spec) {
    HN_CHECK(&p->ctx, hn_net_add(&p->ctx, &p->net, &p->weights, type, spec));
}

static void check_probe(struct probe *p, const char *what) {
    bool sparse = p->net.layer[0].type == &hn_layer_sparse_linear;
    HN_CHECK(&p->ctx, hn_weights_open(&p->ctx, &p->weights));
    hn_net_init(&p->net, &p->weights, 7);
    for (int64_t i = 0; i < p->weights.n; i++) // biases and offsets that are not 0
        p->weights.value[i] += 0.1 * sin((double)i + 1);
    for (int64_t i = 0; i < p->weights.n_running; i++)
        p->weights.running[i] += 0.3;
    HN_CHECK(&p->ctx, hn_tape_open(&p->ctx, &p->net, ROWS, true, &p->tape));
    p->outputs = ROWS * p->net.out;
    CU_ASSERT_FATAL(p->outputs <= ROOM && ROWS * p->net.in <= ROOM);
    fill(p->x, ROWS * p->net.in, 10);
    fill(p->c, p->outputs, 11);
    scalar(p);
    memcpy(p->dy, p->c, sizeof p->dy);
    hn_net_backward(&p->net, &p->weights, &p->tape, &p->pass, p->dy, sparse ? NULL : p->dx);
    if (!sparse)
        check_slopes(what, scalar, p, p->x, p->dx, ROWS * p->net.in);
    if (p->weights.n > 0)
        check_slopes(what, scalar, p, p->weights.value, p->weights.grad, p->weights.n);
    hn_free(&p->ctx, p->memory);
    CU_ASSERT_EQUAL(p->ctx.memory.live, 0);
}

// What a layer of a type is tried with: enough for every type, each takes what it knows.
static struct hn_layer_spec spec_of(const struct hn_layer_type *type) {
    struct hn_layer_spec spec = {.out = 5, .bias = true};
    if (type == &hn_layer_convolution)
        spec = (struct hn_layer_spec){
            .out = 3, .height = 5, .width = 4, .channels = 2, .kernel = 3, .stride = 2, .pad = 1};
    else if (type == &hn_layer_average_pool)
        spec = (struct hn_layer_spec){.height = 4, .width = 6, .channels = 3, .kernel = 2};
    else if (type == &hn_layer_dropout)
        spec.rate = 0.4;
    return spec;
}

static int64_t columns_of(struct hn_layer_spec spec) {
    return spec.height > 0 ? spec.height * spec.width * spec.channels : 7;
}

static void test_every_layer(void) {
    for (const struct hn_layer_type *const *type = hn_layers; *type; type++) {
        hn_test_entry((*type)->name);
        struct hn_layer_spec spec = spec_of(*type);
        struct probe *p = open_probe(columns_of(spec));
        add(p, *type, spec);
        check_probe(p, (*type)->name);
    }
}

static void test_batch_norm_modes(void) {
    for (int channels = 0; channels < 2; channels++)
        for (int training = 0; training < 2; training++) {
            struct probe *p = open_probe(12);
            p->pass.training = training;
            add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = channels ? 3 : 0});
            check_probe(p, training ? "batch norm, training" : "batch norm, evaluation");
        }
}

// Other strides and margins than the layer's own test.
static void test_convolutions(void) {
    static const struct hn_layer_spec specs[] = {
        {.out = 2, .height = 4, .width = 4, .channels = 3, .kernel = 1, .stride = 1},
        {.out = 2, .height = 4, .width = 5, .channels = 2, .kernel = 3, .stride = 1, .pad = 1},
        {.out = 3, .height = 6, .width = 6, .channels = 1, .kernel = 3, .stride = 2, .pad = 1},
        {.out = 2, .height = 2, .width = 2, .channels = 2, .kernel = 4, .stride = 1, .pad = 2}};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct probe *p = open_probe(columns_of(specs[i]));
        add(p, &hn_layer_convolution, specs[i]);
        check_probe(p, "convolution");
    }
}

static void test_encoders(void) {
    struct probe *p = open_probe(9); // recipe C
    add(p, &hn_layer_sparse_linear, (struct hn_layer_spec){.out = 6});
    add(p, &hn_layer_aggregate, (struct hn_layer_spec){0});
    add(p, &hn_layer_elu, (struct hn_layer_spec){0});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 4});
    add(p, &hn_layer_aggregate, (struct hn_layer_spec){0});
    add(p, &hn_layer_unit, (struct hn_layer_spec){0});
    check_probe(p, "node encoder");
    p = open_probe(2 * 6 * 6); // recipe B
    add(p, &hn_layer_convolution,
        (struct hn_layer_spec){
            .out = 4, .height = 6, .width = 6, .channels = 2, .kernel = 3, .stride = 2, .pad = 1});
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = 4});
    add(p, &hn_layer_relu, (struct hn_layer_spec){0});
    add(p, &hn_layer_average_pool,
        (struct hn_layer_spec){.height = 3, .width = 3, .channels = 4, .kernel = 3});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 5});
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){0});
    add(p, &hn_layer_relu, (struct hn_layer_spec){0});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 3, .bias = true});
    add(p, &hn_layer_unit, (struct hn_layer_spec){0});
    check_probe(p, "image encoder");
    p = open_probe(4); // recipe D
    add(p, &hn_layer_aggregate, (struct hn_layer_spec){0});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 5, .bias = true});
    add(p, &hn_layer_relu, (struct hn_layer_spec){0});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 5, .bias = true});
    add(p, &hn_layer_relu, (struct hn_layer_spec){0});
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){0});
    check_probe(p, "graph encoder");
}

// A batch of pairs under a loss.
enum { N = 9, D = 5, KEYS = 11 };
struct pairs {
    struct hn_context ctx;
    struct hn_loss_spec spec;
    struct hn_loss_lists *lists;
    struct hn_loss_work work;
    hn_real z1[N * D], z2[KEYS * D], dz1[N * D], dz2[KEYS * D], spare1[N * D], spare2[KEYS * D];
};

static double pair_loss(void *self) {
    struct pairs *p = self;
    return hn_loss_pairs((struct hn_workers){2, NULL}, &p->spec, p->lists, N, D, p->z1, p->z2,
                         p->spare1, p->spare2, &p->work);
}

static void check_pairs(struct pairs *p, const char *what, struct hn_loss_lists *lists) {
    int64_t keys = lists ? lists->keys : N;
    hn_context_init(&p->ctx, 2);
    void *memory = hn_alloc(&p->ctx, 1, 1);
    hn_own(&p->ctx, memory);
    p->lists = lists;
    fill(p->z1, N * D, 20);
    fill(p->z2, KEYS * D, 21);
    unit_rows(p->z1, N, D);
    unit_rows(p->z2, KEYS, D);
    HN_CHECK(&p->ctx, hn_loss_open(&p->ctx, p->spec.objective, N, keys, D, &p->work));
    double value = pair_loss(p);
    CU_ASSERT(isfinite(value));
    memcpy(p->dz1, p->spare1, sizeof p->dz1);
    memcpy(p->dz2, p->spare2, sizeof p->dz2);
    check_slopes(what, pair_loss, p, p->z1, p->dz1, N * D);
    check_slopes(what, pair_loss, p, p->z2, p->dz2, keys * D);
    hn_free(&p->ctx, memory);
    CU_ASSERT_EQUAL(p->ctx.memory.live, 0);
}

static const struct {
    const char *name;
    struct hn_weighting_law law;
} laws[] = {
    {"none", {.clamp = HN_CLAMP_NONE}},
    {"debiased", {.tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl", {.beta = 1, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl, beta 2.5", {.beta = 2.5, .tau_plus = 0.05, .clamp = HN_CLAMP_EACH}},
    {"hcl, figure 13", {.beta = 1, .log_factor = 0.7, .tau_plus = 0.1, .clamp = HN_CLAMP_ONCE}},
    {"dropped above", {.mask = HN_MASK_ABOVE, .mask_by = 0.2}},
    {"dropped by number", {.mask = HN_MASK_TOP, .mask_by = 3}},
    {"dropped by a margin", {.mask = HN_MASK_MARGIN, .mask_by = 0.1}},
    {"dropped by a share", {.mask = HN_MASK_RATIO, .mask_by = 0.3}},
    {"hcl and a mask",
     {.beta = 2, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH, .mask = HN_MASK_TOP, .mask_by = 2}},
};
enum { LAWS = sizeof laws / sizeof laws[0], OBJECTIVES = 3 };

static void test_losses(void) {
    static struct pairs pairs;
    for (int objective = 0; objective < OBJECTIVES; objective++)
        for (int law = 0; law < LAWS; law++)
            for (int outside = 0; outside < 2; outside++) {
                pairs = (struct pairs){.spec = {.objective = (enum hn_objective)objective,
                                                .law = laws[law].law,
                                                .temperature = 0.5,
                                                .outside = outside}};
                check_pairs(&pairs, laws[law].name, NULL);
            }
}

// SupCon against the definition, in double; two items have no label.
static void test_supcon(void) {
    static struct pairs p;
    static const int32_t label[N] = {0, 1, -1, 0, 2, 0, 1, -1, 3};
    p = (struct pairs){
        .spec = {.objective = HN_OBJECTIVE_SUPCON, .temperature = 0.5, .label = label}};
    check_pairs(&p, "supcon", NULL);
    double loss = 0;
    for (int a = 0; a < 2 * N; a++) {
        double score[2 * N], all = 0, sum = 0;
        int positives = 0;
        for (int j = 0; j < 2 * N; j++) {
            const hn_real *x = (a < N ? p.z1 : p.z2) + a % N * D;
            const hn_real *y = (j < N ? p.z1 : p.z2) + j % N * D;
            score[j] = 0;
            for (int k = 0; k < D; k++)
                score[j] += (double)x[k] * (double)y[k] / 0.5;
            all += j == a ? 0 : exp(score[j]);
        }
        for (int j = 0; j < 2 * N; j++) {
            bool same = label[a % N] >= 0 && label[a % N] == label[j % N];
            if (j == a || (!same && j % N != a % N))
                continue;
            sum -= log(exp(score[j]) / all);
            positives++;
        }
        loss += sum / positives / (2 * N);
    }
    HN_CHECK(&p.ctx, hn_loss_open(&p.ctx, HN_OBJECTIVE_SUPCON, N, N, D, &p.work));
    CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), loss, 1e-12);
    p.spec.label = NULL; // no labels: it is NT-Xent
    double plain = pair_loss(&p);
    p.spec.objective = HN_OBJECTIVE_NTXENT;
    CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), plain, 1e-12);
    CU_ASSERT(fabs(plain - loss) > 1e-3);
    hn_free(&p.ctx, p.work.score);
    hn_free(&p.ctx, p.work.compact);
    hn_free(&p.ctx, p.work.both);
    hn_free(&p.ctx, p.work.gradient);
    hn_free(&p.ctx, p.work.positive);
    hn_free(&p.ctx, p.work.value);
    CU_ASSERT_EQUAL(p.ctx.memory.live, 0);
}

// Negatives of an anchor's own: none, one, all; more keys than anchors.
static void test_lists(void) {
    static struct pairs pairs;
    int32_t own[N], place[N * KEYS];
    int64_t start[N + 1] = {0}, k = 0;
    for (int32_t a = 0; a < N; a++) {
        own[a] = (a * 4 + 2) % KEYS;
        for (int32_t j = 0; j < KEYS; j++)
            if (j != own[a] && a > 0 && (a == 1 || (j + a) % 3 == 0))
                place[k++] = j;
        start[a + 1] = k;
    }
    struct hn_loss_lists lists = {KEYS, own, start, place};
    for (int law = 0; law < LAWS; law++) {
        pairs = (struct pairs){.spec = {.objective = HN_OBJECTIVE_OTHER_VIEW,
                                        .law = laws[law].law,
                                        .temperature = 0.5}};
        check_pairs(&pairs, laws[law].name, &lists);
    }
}

// Weights of a mixture are constants: slopes against the definition with the weights held.
static void test_mixture(void) {
    enum { COUNT = 12 };
    struct hn_loss_spec spec = {.law = {.by_mixture = true}, .temperature = 0.4};
    struct hn_score_counts counts = {{0}};
    hn_real score[COUNT + 1], before[COUNT + 1];
    fill(score, COUNT + 1, 77);
    score[3] = (hn_real)0.9;
    for (int j = 0; j < COUNT; j++)
        hn_score_count(&counts, (double)score[j]);
    hn_mixture_fit(&counts, 0.1, 5, &spec.law.mixture);
    memcpy(before, score, sizeof score);
    double weight[COUNT], mean = 0, pos = exp(0.6 / 0.4), ng = 0;
    for (int j = 0; j < COUNT; j++) {
        weight[j] = hn_mixture_weight(&spec.law.mixture, (double)score[j]);
        mean += weight[j] / COUNT;
    }
    for (int j = 0; j < COUNT; j++)
        ng += weight[j] / mean * exp((double)score[j] / 0.4);
    const int64_t skip[2] = {COUNT, -1};
    hn_real positive = (hn_real)0.6;
    double value = hn_loss_anchor(&spec, 0, 1, COUNT + 1, skip, score, &positive);
    CU_ASSERT_DOUBLE_EQUAL(value, log1p(ng / pos), 1e-12);
    for (int j = 0; j < COUNT; j++)
        CU_ASSERT_DOUBLE_EQUAL((double)score[j],
                               weight[j] / mean * exp((double)before[j] / 0.4) / 0.4 / (pos + ng),
                               1e-12);
    CU_ASSERT_EQUAL(score[COUNT], 0);
    CU_ASSERT_DOUBLE_EQUAL((double)positive, -ng / (pos + ng) / 0.4, 1e-12);
}

// With a mixture that is fitted to the batch, the gradient is that of the loss whose mixture is
// given, and its value the metrics' one.
static void test_fitted(void) {
    static struct pairs p;
    for (int objective = 0; objective < OBJECTIVES; objective++) {
        p = (struct pairs){.spec = {.objective = (enum hn_objective)objective,
                                    .law = {.by_mixture = true, .fit_rounds = 3, .fit_prior = 0.2},
                                    .temperature = 0.5}};
        hn_context_init(&p.ctx, 2);
        void *memory = hn_alloc(&p.ctx, 1, 1);
        hn_own(&p.ctx, memory);
        fill(p.z1, N * D, 20);
        fill(p.z2, N * D, 21);
        unit_rows(p.z1, N, D);
        unit_rows(p.z2, N, D);
        HN_CHECK(&p.ctx, hn_loss_open(&p.ctx, p.spec.objective, N, N, D, &p.work));
        double value = pair_loss(&p);
        memcpy(p.dz1, p.spare1, sizeof p.dz1);
        struct hn_score_counts counts = {{0}};
        bool both = objective == HN_OBJECTIVE_NTXENT, own = objective != HN_OBJECTIVE_OTHER_VIEW;
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++)
                for (int which = 0; which < 4 && a != b; which++) {
                    const hn_real *x = which & 1 ? p.z2 : p.z1, *y = which & 2 ? p.z2 : p.z1;
                    double s = 0;
                    for (int k = 0; k < D; k++)
                        s += (double)x[a * D + k] * (double)y[b * D + k];
                    if (both || (own ? which == 0 : which == 2))
                        hn_score_count(&counts, s);
                }
        hn_mixture_fit(&counts, 0.2, 3, &p.spec.law.mixture);
        p.spec.law.fit_rounds = 0;
        CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), value, 1e-12);
        for (int k = 0; k < N * D; k++)
            CU_ASSERT_DOUBLE_EQUAL((double)p.dz1[k], (double)p.spare1[k], 1e-12);
        hn_free(&p.ctx, memory);
        CU_ASSERT_EQUAL(p.ctx.memory.live, 0);
    }
}

// A sum at its clamp has no slope: what is left is that of the positive.
static void test_clamp(void) {
    struct hn_loss_spec spec = {.law = {.tau_plus = 0.9, .clamp = HN_CLAMP_EACH},
                                .temperature = 0.5};
    hn_real score[4] = {-0.9, -0.8, -0.95, -0.7}, positive = 0.8;
    const int64_t none[2] = {-1, -1};
    double value = hn_loss_anchor(&spec, 0, 1, 4, none, score, &positive);
    double log_ng = log(4) - 2, a = log_ng - 1.6;
    CU_ASSERT_DOUBLE_EQUAL(value, log1p(exp(a)), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(positive, -2 / (1 + exp(-a)), 1e-12);
    for (int j = 0; j < 4; j++)
        CU_ASSERT_EQUAL(score[j], 0);
}

// The value is that of the metrics, for every law, and with `clip`.
static void test_same_value(void) {
    for (int law = 0; law < LAWS + 1; law++)
        for (int n = 1; n < 40; n += 6) {
            hn_real score[40];
            float same[40];
            int32_t label[40] = {0};
            fill(score, 40, 30 + law);
            for (int j = 0; j < 40; j++)
                score[j] = same[j] = (float)score[j];
            struct hn_loss_spec spec = {.law = laws[law % LAWS].law, .temperature = 0.3};
            if (law == LAWS)
                spec.law = (struct hn_weighting_law){
                    .beta = 2, .clip = 1.5, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH};
            struct hn_anchor anchor = {.positive = score[39], .runs = 1};
            anchor.run[0] = (struct hn_anchor_run){same, label, n};
            double wanted = hn_anchor_loss(&spec.law, 0.3, 0.9, &anchor).loss;
            const int64_t skip[2] = {n, -1}; // the place behind the negatives, and no other
            hn_real positive = score[39];
            score[n] = 1;
            double value = hn_loss_anchor(&spec, 0.9, 1, n + 1, skip, score, &positive);
            CU_ASSERT_DOUBLE_EQUAL(value, wanted, 1e-12 * fmax(1, wanted));
        }
}

struct plain {
    hn_real p[N * D], z[N * D], dp[N * D], dz[N * D], spare[N * D];
    int32_t label[N];
};

static double siamese(void *self) {
    struct plain *s = self;
    return hn_loss_siamese(N, D, s->p, s->z, s->spare, NULL);
}

static double cross_entropy(void *self) {
    struct plain *s = self;
    return hn_loss_cross_entropy(N, D, s->p, s->label, s->spare);
}

static void test_plain_losses(void) {
    static struct plain s;
    fill(s.p, N * D, 40);
    fill(s.z, N * D, 41);
    hn_loss_siamese(N, D, s.p, s.z, s.dp, s.dz);
    check_slopes("siamese, predictor", siamese, &s, s.p, s.dp, N * D);
    check_slopes("siamese, target", siamese, &s, s.z, s.dz, N * D);
    for (int i = 0; i < N; i++)
        s.label[i] = i % 4 == 3 ? -1 : i % D;
    hn_loss_cross_entropy(N, D, s.p, s.label, s.dp);
    check_slopes("cross entropy", cross_entropy, &s, s.p, s.dp, N * D);
    for (int i = 0; i < N; i++)
        s.label[i] = -1;
    CU_ASSERT(isnan(cross_entropy(&s)));
}

// Adam as written in the paper, one number at a time.
static void test_adam(void) {
    struct hn_adam adam = {.rate = 0.01,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .epsilon = 1e-8,
                           .decay = 0.02,
                           .warmup = 3,
                           .schedule = HN_RATE_COSINE,
                           .steps = 10};
    hn_real value[3] = {1, -2, 0.5}, m[3] = {0}, v[3] = {0}, grad[3];
    double x[3] = {1, -2, 0.5}, first[3] = {0}, second[3] = {0};
    const double rate[10] = {1. / 3, 2. / 3, 1};
    for (int step = 0; step < 10; step++) {
        double share = step < 3 ? rate[step] : 0.5 * (1 + cos(M_PI * (step - 3) / 7));
        CU_ASSERT_DOUBLE_EQUAL(hn_adam_rate(&adam, step), 0.01 * share, 1e-15);
        for (int i = 0; i < 3; i++) {
            grad[i] = sin(step + 2.0 * i);
            double g = grad[i] + 0.02 * x[i];
            first[i] = 0.9 * first[i] + 0.1 * g;
            second[i] = 0.999 * second[i] + 0.001 * g * g;
            double corrected = second[i] / (1 - pow(0.999, step + 1));
            x[i] -= 0.01 * share * first[i] / (1 - pow(0.9, step + 1)) / (sqrt(corrected) + 1e-8);
        }
        hn_adam_step(&adam, 2, step, 3, grad, value, m, v);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_DOUBLE_EQUAL(value[i], x[i], 1e-13);
    }
}

// Rows that a step touched are updated as they would be alone, others and their moments stay.
static void test_adam_rows(void) {
    enum { TABLE_ROWS = 5, TABLE_COLUMNS = 3, ALL = TABLE_ROWS * TABLE_COLUMNS };
    const struct hn_adam adam = {.rate = 0.1,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .epsilon = 1e-8,
                                 .schedule = HN_RATE_LINEAR,
                                 .steps = 4};
    struct hn_context ctx;
    hn_real m[ALL] = {0}, v[ALL] = {0}, kept[3][ALL], one[3][TABLE_COLUMNS];
    struct hn_weights w = {.n = ALL, .width = TABLE_COLUMNS};
    hn_context_init(&ctx, 2);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_weights_open(&ctx, &w));
    fill(w.value, ALL, 40);
    for (int64_t step = 0; step < 4; step++) {
        CU_ASSERT_DOUBLE_EQUAL(hn_adam_rate(&adam, step), 0.1 * (1 - (double)step / 4), 1e-15);
        hn_weights_clear(&w);
        for (int i = 0; i < ALL; i++)
            CU_ASSERT_EQUAL(w.grad[i], 0);
        w.touched[w.n_touched++] = 4;
        w.touched[w.n_touched++] = (int32_t)step;
        for (int64_t k = 0; k < 2; k++)
            fill(w.grad + w.touched[k] * TABLE_COLUMNS, TABLE_COLUMNS, 41 + step + k);
        const hn_real *now[3] = {w.value, m, v};
        for (int k = 0; k < 3; k++) {
            memcpy(kept[k], now[k], sizeof kept[k]);
            memcpy(one[k], now[k] + 4 * TABLE_COLUMNS, sizeof one[k]);
        }
        hn_adam_update(&adam, 2, step, &w, m, v);
        hn_adam_step(&adam, 1, step, TABLE_COLUMNS, w.grad + 4 * TABLE_COLUMNS, one[0], one[1],
                     one[2]);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < ALL; i++) {
                int row = i / TABLE_COLUMNS, column = i % TABLE_COLUMNS;
                if (row == 4)
                    CU_ASSERT_EQUAL(now[k][i], one[k][column]);
                CU_ASSERT((row == 4 || row == step) == (now[k][i] != kept[k][i]));
            }
    }
}

static const struct hn_test tests[] = {
    {"every_layer", test_every_layer},
    {"batch_norm_modes", test_batch_norm_modes},
    {"convolutions", test_convolutions},
    {"encoders", test_encoders},
    {"losses", test_losses},
    {"lists", test_lists},
    {"clamp", test_clamp},
    {"supcon", test_supcon},
    {"weights of a mixture", test_mixture},
    {"a mixture fitted to the batch", test_fitted},
    {"same_value", test_same_value},
    {"plain_losses", test_plain_losses},
    {"adam", test_adam},
    {"adam, rows", test_adam_rows},
};
HN_TEST_MAIN("gradients", tests)
