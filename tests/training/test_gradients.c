// SPDX-License-Identifier: GPL-3.0-or-later
// Every gradient of layers and networks against central differences, and Adam.
#include "tests/slopes_fixture.h"
#include "training/net/layer.h"
#include "training/net/loss.h"
#include "training/net/net.h"
#include "training/net/optimiser.h"

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
    const hn_real *y = hn_net_forward(&p->weights, &p->tape, &p->pass, p->x, ROWS);
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
    hn_net_backward(&p->weights, &p->tape, &p->pass, p->dy, sparse ? NULL : p->dx);
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
        spec = (struct hn_layer_spec){.out = 3,
                                      .height = 5,
                                      .width = 4,
                                      .channels = 2,
                                      .kernel = 3,
                                      .stride = 2,
                                      .pad = 1,
                                      .bias = true};
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
        for (int kind = 0; kind < 4; kind++) {
            struct probe *p = open_probe(12);
            bool training = p->pass.training = kind & 1;
            add(p, &hn_layer_batch_norm,
                (struct hn_layer_spec){.channels = channels ? 3 : 0, .relu = kind & 2});
            check_probe(p, training ? "batch norm, training" : "batch norm, evaluation");
        }
}

// Other strides and margins than the layer's own test, and more channels than a panel has.
static void test_convolutions(void) {
    static const struct hn_layer_spec specs[] = {
        {.out = 2, .height = 4, .width = 4, .channels = 3, .kernel = 1, .stride = 1},
        {.out = 2, .height = 4, .width = 5, .channels = 2, .kernel = 3, .stride = 1, .pad = 1},
        {.out = 3, .height = 6, .width = 6, .channels = 1, .kernel = 3, .stride = 2, .pad = 1},
        {.out = 2, .height = 2, .width = 2, .channels = 2, .kernel = 4, .stride = 1, .pad = 2},
        {.out = 2, .height = 2, .width = 3, .channels = 2, .kernel = 2, .stride = 2, .pad = 2},
        {.out = 3, .height = 5, .width = 5, .channels = 1, .kernel = 1, .stride = 3, .pad = 1},
        {.out = 2, .height = 2, .width = 3, .channels = 35, .kernel = 2, .stride = 1},
        {.out = 35, .height = 3, .width = 2, .channels = 2, .kernel = 2, .stride = 2, .pad = 1}};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct probe *p = open_probe(columns_of(specs[i]));
        add(p, &hn_layer_convolution, specs[i]);
        check_probe(p, "convolution");
    }
}

// y and dx of a batch norm with ReLU over more rows than the probes have, channel by channel.
static void test_batch_norm_long(void) {
    enum { C = 3, POSITIONS = 1001, N = ROWS * POSITIONS };
    static hn_real x[N * C], dy[N * C], dx[N * C];
    struct probe *p = open_probe(POSITIONS * C);
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = C, .relu = true});
    HN_CHECK(&p->ctx, hn_weights_open(&p->ctx, &p->weights));
    hn_net_init(&p->net, &p->weights, 7);
    HN_CHECK(&p->ctx, hn_tape_open(&p->ctx, &p->net, ROWS, true, &p->tape));
    fill(x, N * C, 12);
    fill(dy, N * C, 13);
    for (int j = 0; j < 2 * C; j++)
        p->weights.value[j] += 0.1 * (j + 1); // gamma, beta
    for (int64_t i = 0; i < N; i++)
        x[i * C + 1] += 40;
    const hn_real *y = hn_net_forward(&p->weights, &p->tape, &p->pass, x, ROWS);
    hn_net_backward(&p->weights, &p->tape, &p->pass, dy, dx);
    for (int j = 0; j < C; j++) {
        double mean = 0, variance = 0, sum = 0, along = 0, off = 0;
        double gamma = p->weights.value[j], beta = p->weights.value[C + j];
        for (int64_t i = j; i < N * C; i += C)
            mean += x[i] / N;
        for (int64_t i = j; i < N * C; i += C)
            variance += (x[i] - mean) * (x[i] - mean) / N;
        double deviation = sqrt(variance + 1e-5);
        for (int64_t i = j; i < N * C; i += C) {
            double at = (x[i] - mean) / deviation, to = gamma * at + beta;
            off = fmax(off, fabs(y[i] - fmax(to, 0)));
            sum += to > 0 ? dy[i] : 0;
            along += to > 0 ? dy[i] * at : 0;
        }
        for (int64_t i = j; i < N * C; i += C) {
            double at = (x[i] - mean) / deviation, passed = gamma * at + beta > 0 ? dy[i] : 0;
            double slope = gamma / deviation * (passed - sum / N - at * along / N);
            off = fmax(off, fabs(dx[i] - slope));
        }
        CU_ASSERT(off < 1e-10);
        CU_ASSERT_DOUBLE_EQUAL(p->weights.grad[j], along, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(p->weights.grad[C + j], sum, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(p->weights.running[j], 0.1 * mean, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(p->weights.running[C + j], 0.9 + 0.1 * variance * N / (N - 1),
                               1e-12);
    }
    hn_free(&p->ctx, p->memory);
    CU_ASSERT_EQUAL(p->ctx.memory.live, 0);
}

// Convolutions apply the batch norms beside them, those of their channels alone.
static void test_norms_beside_convolutions(void) {
    for (int kind = 0; kind < 8; kind++) {
        struct probe *p = open_probe(2 * 5 * 4);
        struct hn_layer_spec norm = {.channels = kind & 1 ? 0 : 3, .relu = kind & 2};
        p->pass.training = kind & 4;
        add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = 2, .relu = true});
        add(p, &hn_layer_convolution, spec_of(&hn_layer_convolution));
        add(p, &hn_layer_batch_norm, norm);
        add(p, &hn_layer_convolution,
            (struct hn_layer_spec){
                .out = 2, .height = 3, .width = 2, .channels = 3, .kernel = 2, .stride = 1});
        add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = kind & 1 ? 0 : 2});
        add(p, &hn_layer_elu, (struct hn_layer_spec){0});
        check_probe(p, "batch norms beside convolutions");
    }
}

// Average pools apply the batch norm before them, of their channels alone, and none after them.
static void test_norms_beside_pools(void) {
    for (int kind = 0; kind < 8; kind++) {
        struct probe *p = open_probe(4 * 2 * 3);
        const struct hn_layer_spec after = {.channels = kind & 1 ? 0 : 3};
        p->pass.training = kind & 4;
        add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 4 * 2 * 3});
        add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = kind & 2 ? 0 : 3});
        add(p, &hn_layer_average_pool,
            (struct hn_layer_spec){.height = 4, .width = 2, .channels = 3, .kernel = 2});
        add(p, &hn_layer_batch_norm, after);
        add(p, &hn_layer_elu, (struct hn_layer_spec){0});
        check_probe(p, "batch norms beside pools");
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
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.channels = 4, .relu = true});
    add(p, &hn_layer_average_pool,
        (struct hn_layer_spec){.height = 3, .width = 3, .channels = 4, .kernel = 3});
    add(p, &hn_layer_linear, (struct hn_layer_spec){.out = 5});
    add(p, &hn_layer_batch_norm, (struct hn_layer_spec){.relu = true});
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
        for (int i = 0; i < 3; i++) {
            CU_ASSERT_DOUBLE_EQUAL(value[i], x[i], 1e-13);
            CU_ASSERT_EQUAL(grad[i], 0);
        }
    }
}

// Rows that a step touched are updated as they would be alone, as is what follows the table; other
// rows and their moments stay. Threads share columns, and rows where there are more threads.
static void test_adam_rows(void) {
    enum { TABLE_ROWS = 5, TABLE_COLUMNS = 600, MORE = 2, ALL = TABLE_ROWS * TABLE_COLUMNS + MORE };
    const struct hn_adam adam = {.rate = 0.1,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .epsilon = 1e-8,
                                 .schedule = HN_RATE_LINEAR,
                                 .steps = 4};
    static const int threads[] = {1, 2, 5, 20};
    static hn_real m[ALL], v[ALL], kept[3][ALL], one[3][ALL], dy[2 * TABLE_COLUMNS], by[MORE];
    const struct hn_sparse input_t = {.rows = 2,
                                      .cols = 2,
                                      .start = (int64_t[]){0, 1, 2},
                                      .index = (int32_t[]){1, 0},
                                      .value = (hn_real[]){1, 1}};
    struct hn_context ctx;
    struct hn_weights w = {.n = ALL, .table = TABLE_ROWS, .width = TABLE_COLUMNS};
    hn_context_init(&ctx, 2);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_weights_open(&ctx, &w));
    fill(w.value, ALL, 40);
    for (int64_t step = 0; step < 4; step++) {
        CU_ASSERT_DOUBLE_EQUAL(hn_adam_rate(&adam, step), 0.1 * (1 - (double)step / 4), 1e-15);
        for (int i = 0; i < MORE; i++)
            CU_ASSERT_EQUAL(w.grad[i], 0);
        w.input_t = &input_t;
        w.dy = dy;
        w.touched[w.n_touched++] = 4;
        w.touched[w.n_touched++] = (int32_t)step;
        const int64_t first[] = {4 * TABLE_COLUMNS, step * TABLE_COLUMNS, ALL - MORE};
        hn_real *const grads[] = {dy + TABLE_COLUMNS, dy, by};
        const int64_t count[] = {TABLE_COLUMNS, TABLE_COLUMNS, MORE};
        const hn_real *now[3] = {w.value, m, v};
        for (int k = 0; k < 3; k++) {
            memcpy(kept[k], now[k], sizeof kept[k]);
            memcpy(one[k], now[k], sizeof one[k]);
        }
        for (int k = 0; k < 3; k++) {
            int64_t at = first[k];
            fill(grads[k], count[k], 41 + step + k);
            hn_adam_step(&adam, 1, step, count[k], grads[k], one[0] + at, one[1] + at, one[2] + at);
            fill(grads[k], count[k], 41 + step + k); // an update leaves gradients at 0
        }
        memcpy(w.grad, by, sizeof by);
        hn_adam_update(&adam, threads[step], step, &w, m, v);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < ALL; i++) {
                int row = i / TABLE_COLUMNS;
                CU_ASSERT_EQUAL(now[k][i], one[k][i]);
                CU_ASSERT((row >= 4 || row == step) == (now[k][i] != kept[k][i]));
            }
    }
}

static const struct hn_test tests[] = {
    {"every_layer", test_every_layer},
    {"batch_norm_modes", test_batch_norm_modes},
    {"batch_norm_long", test_batch_norm_long},
    {"norms beside pools", test_norms_beside_pools},
    {"convolutions", test_convolutions},
    {"norms beside convolutions", test_norms_beside_convolutions},
    {"encoders", test_encoders},
    {"adam", test_adam},
    {"adam, rows", test_adam_rows},
};
HN_TEST_MAIN("gradients", tests)
