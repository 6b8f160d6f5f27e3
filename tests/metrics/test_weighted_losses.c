// SPDX-License-Identifier: GPL-3.0-or-later
// Identities of weightings: where they meet, the clamp, annealing, and what false negatives weigh.
#include "tests/metrics/weighted.h"

static void check_identity(const char *first, const char *first_options, const char *second,
                           const char *second_options) {
    struct hn_weighting_params a = law_of(first, first_options), b = law_of(second, second_options);
    for (uint64_t k = 0; k < 200; k++)
        for (int t = 0; t < 2; t++) {
            struct example e;
            double tau = t == 0 ? 0.07 : 0.5;
            draw_example(&e, k);
            struct hn_anchor_loss x = loss_of(&a, tau, &e);
            struct hn_anchor_loss y = loss_of(&b, tau, &e);
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
    struct hn_weighting_params equation = law_of("hcl", "beta=1, tau_plus=0.5");
    struct hn_weighting_params figure = law_of("hcl", "beta=1, tau_plus=0.5, form=figure13");
    struct hn_weighting_params twice = law_of("hcl", "beta=2, form=figure13, tau_plus=0");
    struct hn_weighting_params once = law_of("hcl", "beta=1, tau_plus=0");
    int64_t same = 0, apart = 0;
    for (uint64_t k = 0; k < 300; k++) {
        struct example e;
        draw_example(&e, k);
        struct hn_anchor_loss x = loss_of(&equation, 0.3, &e);
        struct hn_anchor_loss y = loss_of(&figure, 0.3, &e);
        if (x.clamped || y.clamped) {
            CU_ASSERT(y.log_ng <= x.log_ng);
            apart++;
            continue;
        }
        CU_ASSERT(same_loss(&x, &y));
        same++;
        x = loss_of(&once, 0.3, &e);
        y = loss_of(&twice, 0.3, &e);
        CU_ASSERT(close_to(y.log_ng, x.log_ng + log(2), 1e-12));
    }
    CU_ASSERT(same > 50 && apart > 50);
    // beta = 0 as printed: no negative counts, and the clamp is what is left.
    struct example e;
    draw_example(&e, 1);
    figure = law_of("hcl", "beta=0, form=figure13");
    struct hn_anchor_loss l = loss_of(&figure, 0.5, &e);
    CU_ASSERT(l.clamped && close_to(l.log_ng, -2, 1e-15) && l.same_share == 0);
}

static void beta_is_annealed(void) {
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 0).beta, 2);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 100).beta, 1.5);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 400).beta, 0);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=400", 1000).beta, 0);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2", 1000).beta, 2);
    CU_ASSERT_EQUAL(law_at("hcl", "beta=2, anneal=0", 1000).beta, 2);
    struct hn_weighting_params weighting = law_at("hcl", "beta=2, anneal=400, form=figure13", 100);
    CU_ASSERT(weighting.beta == 1 && close_to(weighting.log_factor, log(1.5), 1e-15));
    struct hn_weighting_params zero = {.beta = 0}; // a zeroed weighting is `none`
    CU_ASSERT(!hn_is_weighted(&zero) && !hn_is_weighted(&(struct hn_weighting_params){.beta = 0}));
    weighting = law_of("debiased", "tau_plus=0");
    CU_ASSERT(hn_is_weighted(&weighting));
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
    struct hn_weighting_params none = law_of("none", "");
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
    struct hn_weighting_params weighting = law_of("debiased", "tau_plus=0.2"); // 1 < 0.2 e^2
    double min = 3 * exp(-2) / exp(2);
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, weighting, LOSS_BATCH, log1p(min));
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, weighting, CLAMP_RATE, 1);
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, weighting, FN_LOSS_MASS, 0);
    weighting = law_of("debiased", "tau_plus=0.1"); // 1 > 0.1 e^2
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_INFONCE, weighting, CLAMP_RATE, 0);
    weighting = law_of("hcl", "tau_plus=0.2, form=figure13");
    check_loss_column(&ctx, &items, &d, 0.5, HN_LOSS_NTXENT, weighting, LOSS_BATCH, log1p(exp(-4)));
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
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
            struct hn_weighting_params weighting = k == 0   ? law_of("none", "")
                                                   : k == 1 ? law_of("debiased", "")
                                                            : law_of("hcl", "beta=0");
            struct measured m = measure_loss(&ctx, &items, &d, 0.3, (enum hn_loss)loss, weighting);
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

static void check_columns(struct hn_context *ctx, const struct hn_items *items,
                          const struct drawn *d, enum hn_loss loss, struct hn_weighting_params x,
                          struct hn_weighting_params y, double tolerance) {
    struct measured a = measure_loss(ctx, items, d, 0.2, loss, x);
    struct measured b = measure_loss(ctx, items, d, 0.2, loss, y);
    for (int c = 0; c < LOSS_COLUMNS; c++)
        CU_ASSERT(close_to(a.value[c], b.value[c], tolerance));
    measured_free(ctx, &a);
    measured_free(ctx, &b);
}

// Sums shared by rows and columns against anchor by anchor, which `clip` asks for, and against
// those that a mask leaves that drops nothing.
static void check_shared_sums(struct hn_context *ctx, const struct hn_items *items,
                              const struct drawn *d) {
    static const char *const law[] = {"none", "debiased", "hcl"};
    for (int loss = 0; hn_losses[loss].name; loss++)
        for (int k = 0; k < 3; k++) {
            struct hn_weighting_params shared = law_of(law[k], ""), masked = shared;
            masked.mask = HN_MASK_ABOVE;
            masked.mask_by = 2;
            CU_ASSERT(!hn_loss_turns(&shared, 0.2) && !hn_loss_turns(&masked, 0.2));
            check_columns(ctx, items, d, (enum hn_loss)loss, shared, masked, 1e-15);
            struct hn_weighting_params alone = shared;
            alone.clip = 2;
            alone.beta = shared.beta = 0;
            CU_ASSERT(hn_loss_turns(&alone, 0.2));
            check_columns(ctx, items, d, (enum hn_loss)loss, shared, alone,
                          1e-7); // products of (a, b) and (b, a)
        }
}

static void sums_are_those_of_the_anchors(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 300, 16, 5, true, 3);
    struct drawn d = drawn_iid(&ctx, 300, 47, 6, 5);
    check_shared_sums(&ctx, &items, &d);
    unlabel(&items, 7);
    check_shared_sums(&ctx, &items, &d);
    // Tuples: a passage is relevant to a query whose passage may not be to its own.
    int32_t query[300], passage[300];
    struct hn_judgement judged[300];
    for (int32_t i = 0; i < 300; i++) {
        query[i] = i;
        passage[i] = 300 + i;
        judged[i] = (struct hn_judgement){i, 300 + (7 * i + 1) % 300, 1};
    }
    struct hn_tuples tuples = {.n = 300, .texts = 600, .query = query, .passage = passage};
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, judged, 300, 300, &tuples.known));
    items.tuples = &tuples;
    check_shared_sums(&ctx, &items, &d);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"sums_are_those_of_the_anchors", sums_are_those_of_the_anchors},
    {"weightings_meet", weightings_meet},
    {"figure13_meets_the_equation", figure13_meets_the_equation},
    {"beta_is_annealed", beta_is_annealed},
    {"losses_take_their_negatives", losses_take_their_negatives},
    {"the_clamp_is_counted", the_clamp_is_counted},
    {"equal_weights_count_pairs", equal_weights_count_pairs},
    {"false_negatives_gain_weight_with_beta", false_negatives_gain_weight_with_beta},
};

HN_TEST_MAIN("weighted_losses", tests)
