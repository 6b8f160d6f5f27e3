// Losses and weightings: against direct evaluation, identities, closed forms, NumPy, and what false
// negatives weigh.
#include "metrics/weighting.h"
#include "tests/measured.h"
#include "tests/numpy_oracle.h"

#include <math.h>

static struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

static struct hn_weighting_law law_at(const char *name, const char *options, int64_t step) {
    struct hn_context ctx = context();
    const struct hn_weighting_type *type = hn_weighting_find(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(type);
    double params[16];
    CU_ASSERT_FATAL(type->params_size <= sizeof params);
    HN_CHECK(&ctx, hn_options_init(&ctx, type->options, params));
    char copy[128];
    snprintf(copy, sizeof copy, "%s", options);
    for (char *part = strtok(copy, ", "); part; part = strtok(NULL, ", ")) {
        char *value = strchr(part, '=');
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        *value = '\0';
        HN_CHECK(&ctx, hn_options_set(&ctx, type->options, params, part, value + 1));
    }
    struct hn_weighting_law law = type->law(params, step);
    hn_options_free(&ctx, type->options, params);
    return law;
}

static struct hn_weighting_law law_of(const char *name, const char *options) {
    return law_at(name, options, 0);
}

static bool close_to(double got, double wanted, double relative) {
    bool close = fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-300);
    if (!close)
        fprintf(stderr, "    %.17g, wanted %.17g\n", got, wanted);
    return close;
}

// An anchor whose negatives lie in up to four runs.
enum { MOST_NEGATIVES = 64 };
struct example {
    float score[MOST_NEGATIVES];
    int32_t label[MOST_NEGATIVES];
    int32_t n;
    struct hn_anchor anchor;
};

static void cut_runs(struct example *e, int runs) {
    e->anchor.runs = 0;
    for (int r = 0; r < runs; r++) {
        int32_t from = e->n * r / runs, to = e->n * (r + 1) / runs;
        e->anchor.run[e->anchor.runs++] =
            (struct hn_anchor_run){e->score + from, e->label + from, to - from};
    }
}

static double uniform01(struct hn_stream *s) { return hn_stream_below(s, 1U << 30) * 0x1p-30; }

// Scores of an encoder: the positive high, negatives about zero, some near the positive.
static void draw_example(struct example *e, uint64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.anchors", 0, (int64_t)number, 0);
    memset(e, 0, sizeof *e);
    e->n = 1 + (int32_t)hn_stream_below(&s, MOST_NEGATIVES);
    e->anchor.positive = (float)(0.3 + 0.69 * uniform01(&s));
    e->anchor.label = (int32_t)hn_stream_below(&s, 4) - 1;
    for (int32_t j = 0; j < e->n; j++) {
        e->score[j] = (float)(1.7 * uniform01(&s) - 0.9);
        e->label[j] = (int32_t)hn_stream_below(&s, 4) - 1;
    }
    cut_runs(e, 1 + (int)hn_stream_below(&s, HN_ANCHOR_RUNS));
}

// The definitions, as docs/reference/methods.md has them: no logarithms, in long double.
struct direct {
    long double loss, ng, same, labelled, share;
    bool clamped;
};

// v_j: what the weights are proportional to.
static long double direct_weight(const struct hn_weighting_law *law, double tau, double most,
                                 double score) {
    if (law->clip > 0)
        return expl(law->beta * law->clip * (long double)score / most);
    return expl(law->beta * (long double)score / tau);
}

static struct direct evaluate(const struct hn_weighting_law *law, double tau, double most,
                              const struct example *e) {
    long double mean = 0, sum = 0, sum_same = 0, same = 0, labelled = 0;
    long double n = e->n, pos = expl((long double)e->anchor.positive / tau);
    for (int32_t j = 0; j < e->n; j++)
        mean += direct_weight(law, tau, most, (double)e->score[j]) / n;
    for (int32_t j = 0; j < e->n; j++) {
        long double v = direct_weight(law, tau, most, (double)e->score[j]) / mean;
        long double mass = expl(law->log_factor) * v * expl((long double)e->score[j] / tau);
        bool known = e->anchor.label >= 0 && e->label[j] >= 0;
        bool equal = known && e->label[j] == e->anchor.label;
        sum += mass;
        sum_same += equal ? mass : 0;
        same += equal ? v : 0;
        labelled += known ? v : 0;
    }
    long double taken = n * (long double)law->tau_plus * pos, rest = 1 - (long double)law->tau_plus;
    long double least = law->clamp == HN_CLAMP_NONE ? 0 : expl(-1 / (long double)tau);
    least *= law->clamp == HN_CLAMP_EACH ? n : 1;
    struct direct d = {.same = same, .labelled = labelled};
    d.ng = (sum - taken) / rest;
    d.clamped = d.ng < least;
    d.ng = d.clamped ? least : d.ng;
    d.loss = log1pl(d.ng / pos);
    d.share = sum_same > taken ? (sum_same - taken) / (rest * d.ng) : 0;
    return d;
}

static bool agrees(const struct hn_weighting_law *law, double tau, const struct example *e) {
    double most = 0.95;
    struct direct d = evaluate(law, tau, most, e);
    struct hn_anchor_loss l = hn_anchor_loss(law, tau, most, &e->anchor);
    bool good = l.n == e->n && l.clamped == d.clamped;
    good = good && close_to(l.loss, (double)d.loss, 1e-10);
    good = good && close_to(l.log_ng, (double)logl(d.ng), 1e-10);
    good = good && close_to(l.weight_same, (double)d.same, 1e-10);
    good = good && close_to(l.weight_labelled, (double)d.labelled, 1e-10);
    return good && close_to(l.same_share, (double)d.share, 1e-10);
}

static const char *const settings[][2] = {
    {"none", ""},
    {"debiased", ""},
    {"debiased", "tau_plus=0.01"},
    {"hcl", "tau_plus=0"},
    {"hcl", "beta=0.5"},
    {"hcl", "beta=4, tau_plus=0.02"},
    {"hcl", "beta=0"},
    {"hcl", "beta=2, form=figure13"},
    {"hcl", "beta=0.5, form=figure13, tau_plus=0"},
    {"hcl", "beta=1, clip=2, tau_plus=0.03"},
    {"hcl", "beta=3, clip=2, tau_plus=0"},
    {"hcl", "beta=2, clip=2, form=figure13"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void direct_evaluation_agrees(void) {
    static const double temperatures[] = {0.003, 0.01, 0.05, 0.1, 0.5, 1, 100};
    int64_t clamped = 0, free_ones = 0;
    for (int s = 0; s < SETTINGS; s++) {
        struct hn_weighting_law law = law_of(settings[s][0], settings[s][1]);
        for (int t = 0; t < 7; t++)
            for (uint64_t k = 0; k < 200; k++) {
                struct example e;
                draw_example(&e, k);
                CU_ASSERT(agrees(&law, temperatures[t], &e));
                bool raised = hn_anchor_loss(&law, temperatures[t], 0.95, &e.anchor).clamped;
                clamped += raised;
                free_ones += !raised;
            }
    }
    CU_ASSERT(clamped > 1000 && free_ones > 1000); // both ways are tried
}

static bool same_loss(const struct hn_anchor_loss *a, const struct hn_anchor_loss *b) {
    return close_to(a->loss, b->loss, 1e-12) && close_to(a->log_ng, b->log_ng, 1e-12) &&
           close_to(a->weight_same, b->weight_same, 1e-12) &&
           close_to(a->weight_labelled, b->weight_labelled, 1e-12) &&
           close_to(a->same_share, b->same_share, 1e-12) && a->clamped == b->clamped;
}

static void check_identity(const char *first, const char *first_options, const char *second,
                           const char *second_options) {
    struct hn_weighting_law a = law_of(first, first_options), b = law_of(second, second_options);
    for (uint64_t k = 0; k < 200; k++)
        for (int t = 0; t < 2; t++) {
            struct example e;
            double tau = t == 0 ? 0.07 : 0.5;
            draw_example(&e, k);
            struct hn_anchor_loss x = hn_anchor_loss(&a, tau, 1, &e.anchor);
            struct hn_anchor_loss y = hn_anchor_loss(&b, tau, 1, &e.anchor);
            CU_ASSERT(same_loss(&x, &y));
        }
}

static void weightings_meet(void) {
    check_identity("hcl", "beta=0, tau_plus=0.1", "debiased", "tau_plus=0.1");
    check_identity("hcl", "beta=0, tau_plus=0", "none", "");
    check_identity("debiased", "tau_plus=0", "none", "");
    check_identity("hcl", "beta=0, clip=2", "hcl", "beta=0");
}

// At beta = 1 the two forms differ in the clamp alone; at others the figure's weights are beta
// times those of beta = 1.
static void figure13_meets_the_equation(void) {
    struct hn_weighting_law equation = law_of("hcl", "beta=1, tau_plus=0.5");
    struct hn_weighting_law figure = law_of("hcl", "beta=1, tau_plus=0.5, form=figure13");
    struct hn_weighting_law twice = law_of("hcl", "beta=2, form=figure13, tau_plus=0");
    struct hn_weighting_law once = law_of("hcl", "beta=1, tau_plus=0");
    int64_t same = 0, apart = 0;
    for (uint64_t k = 0; k < 300; k++) {
        struct example e;
        draw_example(&e, k);
        struct hn_anchor_loss x = hn_anchor_loss(&equation, 0.3, 1, &e.anchor);
        struct hn_anchor_loss y = hn_anchor_loss(&figure, 0.3, 1, &e.anchor);
        if (x.clamped || y.clamped) {
            CU_ASSERT(y.log_ng <= x.log_ng);
            apart++;
            continue;
        }
        CU_ASSERT(same_loss(&x, &y));
        same++;
        x = hn_anchor_loss(&once, 0.3, 1, &e.anchor);
        y = hn_anchor_loss(&twice, 0.3, 1, &e.anchor);
        CU_ASSERT(close_to(y.log_ng, x.log_ng + log(2), 1e-12));
    }
    CU_ASSERT(same > 50 && apart > 50);
    // beta = 0 as printed: no negative counts, and the clamp is what is left.
    struct example e;
    draw_example(&e, 1);
    figure = law_of("hcl", "beta=0, form=figure13");
    struct hn_anchor_loss l = hn_anchor_loss(&figure, 0.5, 1, &e.anchor);
    CU_ASSERT(l.clamped && close_to(l.log_ng, -2, 1e-15) && l.same_share == 0);
}

// Scores 1 | 0.5, 0 at temperature 0.5: pos = e^2, neg = e, 1; the first shares the label.
static void by_hand(void) {
    struct example e = {.score = {0.5F, 0}, .label = {7, 8}, .n = 2};
    e.anchor = (struct hn_anchor){.positive = 1, .label = 7};
    cut_runs(&e, 1);
    const double e1 = exp(1), e2 = exp(2);
    struct hn_weighting_law law = law_of("none", "");
    struct hn_anchor_loss l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    CU_ASSERT(close_to(l.loss, log((e2 + e1 + 1) / e2), 1e-14));
    CU_ASSERT(close_to(l.loss, 0.407605964, 1e-8)); // -log(7.3890561 / 11.1073379)
    CU_ASSERT(close_to(l.same_share, e1 / (e1 + 1), 1e-14));
    CU_ASSERT(close_to(l.weight_same / l.weight_labelled, 0.5, 1e-14));
    law = law_of("hcl", "beta=1, tau_plus=0.1");
    l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    double sum = 2 * (e2 + 1) / (e1 + 1), ng = (sum - 0.2 * e2) / 0.9; // w = 2 e, 2 over e + 1
    CU_ASSERT(close_to(exp(l.log_ng), ng, 1e-14));
    CU_ASSERT(close_to(l.weight_same / l.weight_labelled, e1 / (e1 + 1), 1e-14));
    CU_ASSERT(close_to(l.same_share, (2 * e2 / (e1 + 1) - 0.2 * e2) / 0.9 / ng, 1e-14));
    law = law_of("hcl", "beta=1, tau_plus=0, clip=3"); // weights e^3 and 1
    l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    CU_ASSERT(close_to(l.weight_same, 2 * exp(3) / (exp(3) + 1), 1e-14));
    law = law_of("debiased", "tau_plus=0.5"); // e + 1 - e^2 < 0
    l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    CU_ASSERT(l.clamped && close_to(l.log_ng, log(2) - 2, 1e-15));
    law = law_of("hcl", "tau_plus=0.5, form=figure13");
    l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    CU_ASSERT(l.clamped && close_to(l.log_ng, -2, 1e-15));
    CU_ASSERT(close_to(l.loss, log(1 + exp(-4)), 1e-13));
    e.n = 0; // an anchor alone
    cut_runs(&e, 1);
    l = hn_anchor_loss(&law, 0.5, 0.5, &e.anchor);
    CU_ASSERT(l.n == 0 && l.loss == 0 && !l.clamped);
}

static void order_of_negatives_changes_nothing(void) {
    for (int s = 0; s < SETTINGS; s++) {
        struct hn_weighting_law law = law_of(settings[s][0], settings[s][1]);
        for (uint64_t k = 0; k < 50; k++) {
            struct example e, turned;
            draw_example(&e, k);
            turned = e;
            for (int32_t j = 0; j < e.n; j++) {
                turned.score[j] = e.score[e.n - 1 - j];
                turned.label[j] = e.label[e.n - 1 - j];
            }
            cut_runs(&turned, 1);
            struct hn_anchor_loss a = hn_anchor_loss(&law, 0.2, 0.9, &e.anchor);
            struct hn_anchor_loss b = hn_anchor_loss(&law, 0.2, 0.9, &turned.anchor);
            CU_ASSERT(same_loss(&a, &b));
        }
    }
}

static void beta_is_annealed(void) {
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 0).beta, 2);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 100).beta, 1.5);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 400).beta, 0);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 1000).beta, 0);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2", 1000).beta, 2);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=0", 1000).beta, 2);
    struct hn_weighting_law law = law_at("hcl", "beta=2, anneal=400, form=figure13", 100);
    CU_ASSERT(law.beta == 1 && close_to(law.log_factor, log(1.5), 1e-15));
    struct hn_weighting_law zero = {.beta = 0}; // a zeroed law is `none`
    CU_ASSERT(!hn_is_weighted(&zero) && !hn_is_weighted(&(struct hn_weighting_law){.beta = 0}));
    law = law_of("debiased", "tau_plus=0");
    CU_ASSERT(hn_is_weighted(&law));
}

// The columns of `loss` alone, in their order.
enum { LOSS_BATCH, CLAMP_RATE, FN_MASS, FN_LOSS_MASS, LOSS_COLUMNS };

static struct measured measure_loss(struct hn_context *ctx, const struct hn_items *items,
                                    const struct drawn *d, double tau, enum hn_loss loss,
                                    struct hn_weighting_law law) {
    static const struct hn_metric_type *list[1];
    list[0] = hn_metric_find("loss");
    CU_ASSERT_FATAL(list[0] && list[0]->n_columns == LOSS_COLUMNS);
    struct hn_measure_spec spec = {.metrics = list,
                                   .n_metrics = 1,
                                   .env = {.items = items,
                                           .temperature = tau,
                                           .loss = loss,
                                           .law = law,
                                           .batch_size = d->batch_size,
                                           .threads = ctx->threads,
                                           .batches = d->count}};
    struct measured out = {0};
    HN_CHECK(ctx, measure_into(ctx, &spec, d, &out));
    return out;
}

static void check_loss_column(struct hn_context *ctx, const struct hn_items *items,
                              const struct drawn *d, double tau, enum hn_loss loss,
                              struct hn_weighting_law law, int column, double wanted) {
    struct measured m = measure_loss(ctx, items, d, tau, loss, law);
    CU_ASSERT(close_to(m.value[column], wanted, 1e-6));
    measured_free(ctx, &m);
}

static void set_rows(struct hn_matrix *x, float first) {
    for (int64_t i = 0; i < x->rows; i++) {
        memset((float *)x->data + i * x->cols, 0, (size_t)x->cols * sizeof(float));
        ((float *)x->data)[i * x->cols] = first;
    }
}

// All embeddings alike: pos = neg, so the loss counts the negatives. With the second view turned
// round, each loss shows which products it takes.
static void losses_take_their_negatives(void) {
    struct hn_context ctx = context();
    enum { B = 6 };
    const double tau = 0.5, close = exp(1 / tau), far = exp(-1 / tau);
    struct hn_items items = hn_fixture_items(&ctx, B, 4, 2, true, 3);
    struct drawn d = drawn_partition(&ctx, B, B, 1, 5);
    struct hn_weighting_law none = law_of("none", "");
    set_rows(&items.x1, 1);
    set_rows(&items.x2, 1);
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_NTXENT, none, LOSS_BATCH, log(2 * B - 1));
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_INFONCE, none, LOSS_BATCH, log(B));
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_OTHER_VIEW, none, LOSS_BATCH, log(B));
    set_rows(&items.x2, -1);
    double within = (B - 1) * close / far;
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_NTXENT, none, LOSS_BATCH, log(B + within));
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_INFONCE, none, LOSS_BATCH, log(1 + within));
    check_loss_column(&ctx, &items, &d, tau, HN_LOSS_OTHER_VIEW, none, LOSS_BATCH, log(B));
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every anchor's correction exceeds its negatives: the clamp sets the loss.
static void the_clamp_is_counted(void) {
    struct hn_context ctx = context();
    enum { B = 4 };
    struct hn_items items = hn_fixture_items(&ctx, B, B, 2, true, 3);
    for (int64_t i = 0; i < B; i++)
        for (int64_t k = 0; k < B; k++)
            ((float *)items.x1.data)[i * B + k] = ((float *)items.x2.data)[i * B + k] = i == k;
    struct drawn d = drawn_partition(&ctx, B, B, 1, 5);
    struct hn_weighting_law law = law_of("debiased", "tau_plus=0.2"); // 1 < 0.2 e^2
    double least = 3 * exp(-2) / exp(2);
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, law, LOSS_BATCH, log1p(least));
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, law, CLAMP_RATE, 1);
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, law, FN_LOSS_MASS, 0);
    law = law_of("debiased", "tau_plus=0.1"); // 1 > 0.1 e^2
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, law, CLAMP_RATE, 0);
    law = law_of("hcl", "tau_plus=0.2, form=figure13");
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_NTXENT, law, LOSS_BATCH, log1p(exp(-4)));
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void unlabel(struct hn_items *items, int32_t every) {
    for (int32_t i = 0; i < items->n; i += every)
        ((int32_t *)items->labels)[i] = -1;
}

// All weights equal: fn_mass is fn_ratio, repeats and unlabelled items included.
static void equal_weights_count_pairs(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 120, 16, 5, true, 3);
    unlabel(&items, 7);
    struct drawn d = drawn_iid(&ctx, 120, 24, 12, 5);
    struct measured all = measure_all(&ctx, &items, &d, 0.3);
    for (int loss = 0; hn_losses[loss].name; loss++)
        for (int k = 0; k < 3; k++) {
            struct hn_weighting_law law = k == 0   ? law_of("none", "")
                                          : k == 1 ? law_of("debiased", "")
                                                   : law_of("hcl", "beta=0");
            struct measured m = measure_loss(&ctx, &items, &d, 0.3, (enum hn_loss)loss, law);
            CU_ASSERT(close_to(m.value[FN_MASS], column_of(&all, "fn_ratio"), 1e-12));
            measured_free(&ctx, &m);
        }
    measured_free(&ctx, &all);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Clusters are labels: the harder a negative, the likelier it is false.
static void false_negatives_gain_weight_with_beta(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 200, 16, 5, true, 3);
    struct drawn d = drawn_partition(&ctx, 200, 40, 1, 5);
    static const char *const plain[] = {"beta=0, tau_plus=0", "beta=0.5, tau_plus=0",
                                        "beta=1, tau_plus=0", "beta=2, tau_plus=0",
                                        "beta=4, tau_plus=0"};
    static const char *const corrected[] = {"beta=0", "beta=0.5", "beta=1", "beta=2", "beta=4"};
    double before = 0;
    for (int k = 0; k < 5; k++) {
        struct measured m =
            measure_loss(&ctx, &items, &d, 0.5, HN_LOSS_NTXENT, law_of("hcl", plain[k]));
        struct measured c =
            measure_loss(&ctx, &items, &d, 0.5, HN_LOSS_NTXENT, law_of("hcl", corrected[k]));
        CU_ASSERT(m.value[FN_MASS] > before);
        CU_ASSERT(close_to(c.value[FN_MASS], m.value[FN_MASS], 1e-12)); // weights do not know tau+
        CU_ASSERT(c.value[FN_LOSS_MASS] < m.value[FN_LOSS_MASS]);
        before = m.value[FN_MASS];
        measured_free(&ctx, &m);
        measured_free(&ctx, &c);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Item 0 drawn twice counts twice as an anchor, and is one key.
static void repeats_weigh_as_anchors(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 5, 8, 2, true, 3);
    struct drawn d = drawn_empty(&ctx, 1, 4, 1);
    static const int32_t ids[4] = {0, 3, 0, 4};
    memcpy(d.ids, ids, sizeof ids);
    double loss[3];
    static const int32_t key[3] = {0, 3, 4};
    for (int a = 0; a < 3; a++) {
        double sum = 0, pos = 0;
        for (int b = 0; b < 3; b++) {
            const float *x = hn_row(&items.x1, key[a]), *y = hn_row(&items.x2, key[b]);
            *(a == b ? &pos : &sum) += exp(hn_dot_exact(x, y, 8) / 0.5);
        }
        loss[a] = log(1 + sum / pos);
    }
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_OTHER_VIEW, law_of("none", ""), LOSS_BATCH,
                      (2 * loss[0] + loss[1] + loss[2]) / 4);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void threads_do_not_matter(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 150, 24, 5, true, 3);
    struct drawn d = drawn_iid(&ctx, 150, 24, 20, 5);
    struct hn_weighting_law law = law_of("hcl", "beta=2, clip=2");
    double one[LOSS_COLUMNS];
    for (int threads = 1; threads <= 4; threads++) {
        ctx.threads = threads;
        struct measured m = measure_loss(&ctx, &items, &d, 0.1, HN_LOSS_NTXENT, law);
        if (threads == 1)
            memcpy(one, m.value, sizeof one);
        CU_ASSERT_EQUAL(memcmp(one, m.value, sizeof one), 0);
        measured_free(&ctx, &m);
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Without labels the loss is there and the masses are not; gap goes with weighting none only.
static void what_does_not_apply_is_nan(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 40, 8, 2, true, 3);
    struct drawn d = drawn_partition(&ctx, 40, 10, 1, 5);
    struct hn_measure_spec spec = {.metrics = hn_metrics,
                                   .n_metrics = metrics_count(),
                                   .env = {.items = &items,
                                           .temperature = 0.5,
                                           .law = law_of("debiased", ""),
                                           .batch_size = 10,
                                           .threads = 2,
                                           .batches = d.count}};
    struct measured m = {0}; // no global loss is asked for
    HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &m));
    CU_ASSERT_STRING_EQUAL(m.why, "gap: weighting none only");
    CU_ASSERT(isnan(column_of(&m, "gap")) && isnan(column_of(&m, "bound_37")));
    CU_ASSERT(isfinite(column_of(&m, "loss_batch")) && isfinite(column_of(&m, "fn_mass")));
    measured_free(&ctx, &m);
    unlabel(&items, 1);
    HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &m));
    CU_ASSERT_STRING_EQUAL(m.why, "no labels; gap: weighting none only");
    CU_ASSERT(isfinite(column_of(&m, "loss_batch")) && isfinite(column_of(&m, "clamp_rate")));
    CU_ASSERT(isnan(column_of(&m, "fn_mass")) && isnan(column_of(&m, "fn_loss_mass")));
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void check_numpy(struct hn_context *ctx, const struct hn_items *items, const struct drawn *d,
                        int loss, const char *weighting, const char *options, const char *more) {
    const struct hn_metric_type *const list[] = {hn_metric_find("loss")};
    char folder[256], arguments[128];
    struct measured m =
        measure_loss(ctx, items, d, 0.3, (enum hn_loss)loss, law_of(weighting, options));
    hn_fixture_folder(folder, sizeof folder);
    write_columns(folder, list, 1, m.value);
    snprintf(arguments, sizeof arguments, "%s %s %s", hn_losses[loss].name, weighting, more);
    CU_ASSERT_EQUAL(run_numpy(folder, items, d, 0.3, arguments), 0);
    hn_fixture_remove(folder);
    measured_free(ctx, &m);
}

static void numpy_agrees(void) {
    struct hn_context ctx = context();
    if (!python())
        hn_test_skip("no python3 with NumPy");
    struct hn_items items = hn_fixture_items(&ctx, 500, 32, 10, true, 15);
    unlabel(&items, 11);
    struct drawn d = drawn_iid(&ctx, 500, 64, 20, 6);
    for (int loss = 0; hn_losses[loss].name; loss++) {
        check_numpy(&ctx, &items, &d, loss, "hcl", "beta=2", "0.1 2 equation 0");
        if (loss != HN_LOSS_NTXENT)
            continue;
        check_numpy(&ctx, &items, &d, loss, "debiased", "tau_plus=0.3", "0.3 0 equation 0");
        check_numpy(&ctx, &items, &d, loss, "hcl", "beta=0.5, form=figure13", "0.1 0.5 figure13 0");
        check_numpy(&ctx, &items, &d, loss, "hcl", "tau_plus=0, clip=2", "0 1 equation 2");
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void registries_are_sound(void) {
    for (int i = 0; hn_losses[i].name; i++) {
        CU_ASSERT_EQUAL(hn_loss_find(hn_losses[i].name), i);
        CU_ASSERT(hn_losses[i].summary && hn_losses[i].source);
    }
    CU_ASSERT_EQUAL(hn_loss_find("dcl"), -1);
    CU_ASSERT_PTR_NULL(hn_weighting_find("dcl"));
    CU_ASSERT_PTR_NOT_NULL(hn_ambiguous_loss("DCL"));
    CU_ASSERT_PTR_NULL(hn_ambiguous_loss("hcl"));
    for (int i = 0; hn_weightings[i]; i++) {
        const struct hn_weighting_type *type = hn_weightings[i];
        CU_ASSERT_PTR_EQUAL(hn_weighting_find(type->name), type);
        CU_ASSERT(type->summary && type->source && type->note && type->options && type->law);
        struct hn_weighting_law law = law_of(type->name, "");
        CU_ASSERT_EQUAL(hn_is_weighted(&law), strcmp(type->name, "none") != 0);
    }
}

static const struct hn_test tests[] = {
    {"registries_are_sound", registries_are_sound},
    {"direct_evaluation_agrees", direct_evaluation_agrees},
    {"weightings_meet", weightings_meet},
    {"figure13_meets_the_equation", figure13_meets_the_equation},
    {"by_hand", by_hand},
    {"order_of_negatives_changes_nothing", order_of_negatives_changes_nothing},
    {"beta_is_annealed", beta_is_annealed},
    {"losses_take_their_negatives", losses_take_their_negatives},
    {"the_clamp_is_counted", the_clamp_is_counted},
    {"equal_weights_count_pairs", equal_weights_count_pairs},
    {"false_negatives_gain_weight_with_beta", false_negatives_gain_weight_with_beta},
    {"repeats_weigh_as_anchors", repeats_weigh_as_anchors},
    {"threads_do_not_matter", threads_do_not_matter},
    {"what_does_not_apply_is_nan", what_does_not_apply_is_nan},
    {"numpy_agrees", numpy_agrees},
};

HN_TEST_MAIN("weighting", tests)
