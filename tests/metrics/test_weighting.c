// SPDX-License-Identifier: GPL-3.0-or-later
// Losses and weightings against direct evaluation, closed forms and NumPy, for any order and
// threads.
#include "metrics/measure.h"
#include "tests/metrics/weighted.h"

#include <gsl/gsl_randist.h>

// The definitions, as docs/reference/methods.md has them: no logarithms, in long double.
struct direct {
    long double loss, ng, same, labelled, share;
    bool clamped;
};

// v_j: what the weights are proportional to.
static long double direct_weight(const struct hn_weighting_params *weighting, double tau,
                                 double max, double score) {
    if (weighting->by_mixture) { // densities as GSL has them
        double u = (score + 1) / 2, p[2];
        const struct hn_mixture *m = &weighting->mixture;
        for (int y = 0; y < 2; y++)
            p[y] = m->share[y] * gsl_ran_beta_pdf(u, m->alpha[y], m->beta[y]);
        return p[0] / (p[0] + p[1]) * u;
    }
    if (weighting->clip > 0)
        return expl(weighting->beta * weighting->clip * (long double)score / max);
    return expl(weighting->beta * (long double)score / tau);
}

static int larger(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

// What the mask leaves of an example.
static struct example masked(const struct hn_weighting_params *weighting, const struct example *e) {
    struct example left = {.own = e->own, .positive = e->positive};
    float sorted[MAX_NEGATIVES];
    const float *shown = weighting->guided ? e->guide : e->score;
    memcpy(sorted, shown, sizeof sorted);
    qsort(sorted, (size_t)e->n, sizeof *sorted, larger);
    int last = (int)fmin(weighting->mask_by, e->n) - 1; // of the largest
    for (int32_t j = 0; j < e->n; j++) {
        double s = (double)shown[j], positive = weighting->guided ? 1 : e->positive;
        bool drop = (weighting->mask == HN_MASK_ABOVE && s > weighting->mask_by) ||
                    (weighting->mask == HN_MASK_TOP && shown[j] >= sorted[last]) ||
                    (weighting->mask == HN_MASK_MARGIN && s > positive - weighting->mask_by) ||
                    (weighting->mask == HN_MASK_RATIO &&
                     s > positive - weighting->mask_by * fabs(positive));
        if (drop)
            continue;
        left.score[left.n] = e->score[j];
        left.label[left.n++] = e->label[j];
    }
    return left;
}

static struct direct evaluate(const struct hn_weighting_params *weighting, double tau, double max,
                              const struct example *whole) {
    const struct example left = masked(weighting, whole), *e = &left;
    long double mean = 0, sum = 0, sum_same = 0, same = 0, labelled = 0;
    long double n = e->n, pos = expl((long double)e->positive / tau);
    for (int32_t j = 0; j < e->n; j++)
        mean += direct_weight(weighting, tau, max, (double)e->score[j]) / n;
    for (int32_t j = 0; j < e->n; j++) {
        long double v = direct_weight(weighting, tau, max, (double)e->score[j]) / mean;
        long double mass = expl(weighting->log_factor) * v * expl((long double)e->score[j] / tau);
        bool known = e->own >= 0 && e->label[j] >= 0;
        bool equal = known && e->label[j] == e->own;
        sum += mass;
        sum_same += equal ? mass : 0;
        same += equal ? v : 0;
        labelled += known ? v : 0;
    }
    long double taken = n * (long double)weighting->tau_plus * pos,
                rest = 1 - (long double)weighting->tau_plus;
    long double min = weighting->clamp == HN_CLAMP_NONE ? 0 : expl(-1 / (long double)tau);
    min *= weighting->clamp == HN_CLAMP_EACH ? n : 1;
    struct direct d = {.same = same, .labelled = labelled};
    d.ng = (sum - taken) / rest;
    d.clamped = d.ng < min;
    d.ng = d.clamped ? min : d.ng;
    d.loss = log1pl(d.ng / pos);
    d.share = sum_same > taken ? (sum_same - taken) / (rest * d.ng) : 0;
    return d;
}

static bool agrees(const struct hn_weighting_params *weighting, double tau,
                   const struct example *e) {
    double max = 0;
    for (int32_t j = 0; j < e->n; j++)
        max = fmax(max, fabs((double)e->score[j]));
    struct direct d = evaluate(weighting, tau, max, e);
    struct hn_anchor_loss l = loss_of(weighting, tau, e);
    int32_t n = masked(weighting, e).n;
    if (n == 0)
        return l.n == 0 && l.loss == 0 && !l.clamped && l.weight_labelled == 0;
    bool good = l.n == n && l.clamped == d.clamped;
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
    {"gist", ""},
    {"gist", "margin=0.3"},
    {"gist", "margin=-0.1"},
    {"gist", "margin=0.5, strategy=relative"},
    {"gist", "margin=0.6, guide=teacher"},
    {"gist", "margin=0.2, strategy=relative, guide=teacher"},
    {"fnc", "threshold=0.4"},
    {"fnc", "eliminate=top, top=1"},
    {"fnc", "eliminate=top, top=7"},
    {"fnc", "eliminate=top, top=256"},
    {"progcl", ""},
    {"progcl", "prior=0.3, rounds=2"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

// A weighting as a batch leaves it: its mixture fitted to scores about 0, and some about .8.
static struct hn_weighting_params fitted(struct hn_weighting_params weighting) {
    struct hn_score_counts counts = {{0}};
    for (int k = 0; k < 1000; k++)
        hn_score_count(&counts, k < 900 ? 0.7 * sin(k) : 0.8 + 0.1 * sin(k));
    if (weighting.fit_rounds > 0)
        hn_mixture_fit(&counts, weighting.fit_prior, weighting.fit_rounds, &weighting.mixture);
    weighting.fit_rounds = 0;
    return weighting;
}

static void direct_evaluation_agrees(void) {
    static const double temperatures[] = {0.003, 0.01, 0.05, 0.1, 0.5, 1, 100};
    int64_t clamped = 0, free_ones = 0;
    for (int s = 0; s < SETTINGS; s++) {
        struct hn_weighting_params weighting = fitted(law_of(settings[s][0], settings[s][1]));
        for (int t = 0; t < 7; t++)
            for (uint64_t k = 0; k < 200; k++) {
                struct example e;
                draw_example(&e, k);
                CU_ASSERT(agrees(&weighting, temperatures[t], &e));
                bool raised = loss_of(&weighting, temperatures[t], &e).clamped;
                clamped += raised;
                free_ones += !raised;
            }
    }
    CU_ASSERT(clamped > 1000 && free_ones > 1000); // both ways are tried
}

// Scores 1 | 0.5, 0 at temperature 0.5: pos = e^2, neg = e, 1; the first shares the label.
static void by_hand(void) {
    struct example e = {.score = {0.5F, 0}, .own = 7, .label = {7, 8}, .n = 2, .positive = 1};
    const double e1 = exp(1), e2 = exp(2);
    struct hn_weighting_params weighting = law_of("none", "");
    struct hn_anchor_loss l = loss_of(&weighting, 0.5, &e);
    CU_ASSERT(close_to(l.loss, log((e2 + e1 + 1) / e2), 1e-14));
    CU_ASSERT(close_to(l.loss, 0.407605964, 1e-8)); // -log(7.3890561 / 11.1073379)
    CU_ASSERT(close_to(l.same_share, e1 / (e1 + 1), 1e-14));
    CU_ASSERT(close_to(l.weight_same / l.weight_labelled, 0.5, 1e-14));
    weighting = law_of("hcl", "beta=1, tau_plus=0.1");
    l = loss_of(&weighting, 0.5, &e);
    double sum = 2 * (e2 + 1) / (e1 + 1), ng = (sum - 0.2 * e2) / 0.9; // w = 2 e, 2 over e + 1
    CU_ASSERT(close_to(exp(l.log_ng), ng, 1e-14));
    CU_ASSERT(close_to(l.weight_same / l.weight_labelled, e1 / (e1 + 1), 1e-14));
    CU_ASSERT(close_to(l.same_share, (2 * e2 / (e1 + 1) - 0.2 * e2) / 0.9 / ng, 1e-14));
    weighting = law_of("hcl", "beta=1, tau_plus=0, clip=3"); // weights e^3 and 1
    l = loss_of(&weighting, 0.5, &e);
    CU_ASSERT(close_to(l.weight_same, 2 * exp(3) / (exp(3) + 1), 1e-14));
    weighting = law_of("debiased", "tau_plus=0.5"); // e + 1 - e^2 < 0
    l = loss_of(&weighting, 0.5, &e);
    CU_ASSERT(l.clamped && close_to(l.log_ng, log(2) - 2, 1e-15));
    weighting = law_of("hcl", "tau_plus=0.5, form=figure13");
    l = loss_of(&weighting, 0.5, &e);
    CU_ASSERT(l.clamped && close_to(l.log_ng, -2, 1e-15));
    CU_ASSERT(close_to(l.loss, log(1 + exp(-4)), 1e-13));
    e.n = 0; // an anchor alone
    l = loss_of(&weighting, 0.5, &e);
    CU_ASSERT(l.n == 0 && l.loss == 0 && !l.clamped);
}

static void order_of_negatives_changes_nothing(void) {
    for (int s = 0; s < SETTINGS; s++) {
        struct hn_weighting_params weighting = fitted(law_of(settings[s][0], settings[s][1]));
        for (uint64_t k = 0; k < 50; k++) {
            struct example e, turned;
            draw_example(&e, k);
            turned = e;
            for (int32_t j = 0; j < e.n; j++) {
                turned.score[j] = e.score[e.n - 1 - j];
                turned.label[j] = e.label[e.n - 1 - j];
                turned.guide[j] = e.guide[e.n - 1 - j];
            }
            struct hn_anchor_loss a = loss_of(&weighting, 0.2, &e);
            struct hn_anchor_loss b = loss_of(&weighting, 0.2, &turned);
            CU_ASSERT(same_loss(&a, &b));
        }
    }
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
    struct hn_weighting_params weighting = law_of("hcl", "beta=2, clip=2");
    double one[LOSS_COLUMNS];
    for (int threads = 1; threads <= 4; threads++) {
        ctx.threads = threads;
        struct measured m = measure_loss(&ctx, &items, &d, 0.1, HN_LOSS_NTXENT, weighting);
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
                                           .weighting = law_of("debiased", ""),
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

// A teacher of other dimensions.
static void check_guided(struct hn_context *ctx, const struct hn_items *items,
                         const struct drawn *d, int loss) {
    struct hn_items with = *items;
    float *row = hn_fixture_rows(ctx, items->n, 7, 99);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    with.teacher = (struct hn_matrix){row, items->n, 7, 7};
    check_numpy(ctx, &with, d, loss, "gist", "margin=0.5, guide=teacher", "0.5 0 teacher 0");
    hn_free(ctx, row);
    struct hn_measure *measure = NULL;
    const struct hn_metric_type *const list[] = {hn_metric_find("loss")};
    struct hn_measure_spec spec = {.metrics = list,
                                   .n_metrics = 1,
                                   .env = {.items = items,
                                           .temperature = 0.3,
                                           .weighting = law_of("gist", "guide=teacher"),
                                           .batch_size = d->batch_size,
                                           .threads = 1,
                                           .batches = d->count}};
    CU_ASSERT_EQUAL(hn_measure_begin(ctx, &spec, &measure), HN_NOT_APPLICABLE); // without one
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
        check_numpy(&ctx, &items, &d, loss, "gist", "margin=0.1", "0.1 0 absolute 0");
        check_numpy(&ctx, &items, &d, loss, "gist", "margin=-0.1", "-0.1 0 absolute 0");
        check_numpy(&ctx, &items, &d, loss, "progcl", "rounds=4", "0.05 4 none 0");
        check_guided(&ctx, &items, &d, loss);
        if (loss != HN_LOSS_NTXENT)
            continue;
        check_numpy(&ctx, &items, &d, loss, "debiased", "tau_plus=0.3", "0.3 0 equation 0");
        check_numpy(&ctx, &items, &d, loss, "hcl", "beta=0.5, form=figure13", "0.1 0.5 figure13 0");
        check_numpy(&ctx, &items, &d, loss, "hcl", "tau_plus=0, clip=2", "0 1 equation 2");
        check_numpy(&ctx, &items, &d, loss, "gist", "margin=0.4, strategy=relative",
                    "0.4 0 relative 0");
        check_numpy(&ctx, &items, &d, loss, "fnc", "threshold=0.3", "0.3 0 threshold 0");
        check_numpy(&ctx, &items, &d, loss, "fnc", "eliminate=top, top=5", "5 0 top 0");
        check_numpy(&ctx, &items, &d, loss, "progcl", "prior=0.2, rounds=10", "0.2 10 none 0");
    }
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void registries_are_sound(void) {
    for (int i = 0; hn_losses[i].name; i++) {
        CU_ASSERT(strcmp(hn_losses[i].name, "dcl") != 0);
        for (int j = 0; j < i; j++)
            CU_ASSERT(strcmp(hn_losses[i].name, hn_losses[j].name) != 0);
        CU_ASSERT(hn_losses[i].summary && hn_losses[i].source);
    }
    CU_ASSERT_PTR_NULL(named_weighting("dcl"));
    CU_ASSERT_PTR_NOT_NULL(hn_ambiguous_loss("DCL"));
    CU_ASSERT_PTR_NULL(hn_ambiguous_loss("hcl"));
    for (int i = 0; hn_weightings[i]; i++) {
        const struct hn_weighting_type *type = hn_weightings[i];
        CU_ASSERT_PTR_EQUAL(named_weighting(type->name), type);
        CU_ASSERT(type->summary && type->source && type->note && type->options && type->resolve);
        struct hn_weighting_params weighting = law_of(type->name, "");
        CU_ASSERT_EQUAL(hn_is_weighted(&weighting), strcmp(type->name, "none") != 0);
    }
}

static const struct hn_test tests[] = {
    {"registries_are_sound", registries_are_sound},
    {"direct_evaluation_agrees", direct_evaluation_agrees},
    {"by_hand", by_hand},
    {"order_of_negatives_changes_nothing", order_of_negatives_changes_nothing},
    {"repeats_weigh_as_anchors", repeats_weigh_as_anchors},
    {"threads_do_not_matter", threads_do_not_matter},
    {"what_does_not_apply_is_nan", what_does_not_apply_is_nan},
    {"numpy_agrees", numpy_agrees},
};

HN_TEST_MAIN("weighting", tests)
