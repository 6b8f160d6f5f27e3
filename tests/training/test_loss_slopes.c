// SPDX-License-Identifier: GPL-3.0-or-later
// The gradients of every loss against central differences, and its value against that of the
// metrics.
#include "tests/anchor_example.h"
#include "tests/slopes_fixture.h"
#include "training/net/loss.h"

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
    int64_t keys = lists ? lists->keys : N, behind = lists && lists->all ? keys - N : keys;
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
    check_slopes(what, pair_loss, p, p->z2, p->dz2, behind * D);
    hn_own(&p->ctx, NULL);
    hn_free(&p->ctx, memory);
    CU_ASSERT_EQUAL(p->ctx.memory.live, 0);
}

static const struct {
    const char *name;
    struct hn_weighting_params weighting;
} laws[] = {
    {"none", {.clamp = HN_CLAMP_NONE}},
    {"debiased", {.tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl", {.beta = 1, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl, beta 2.5", {.beta = 2.5, .tau_plus = 0.05, .clamp = HN_CLAMP_EACH}},
    {"hcl, figure 13", {.beta = 1, .log_factor = 0.7, .tau_plus = 0.1, .clamp = HN_CLAMP_ONCE}},
    {"dropped above", {.mask = HN_MASK_ABOVE, .mask_by = 0.2}},
    {"dropped by number", {.mask = HN_MASK_TOP, .mask_by = 3}},
    {"dropped by a margin", {.mask = HN_MASK_MARGIN, .mask_by = 0.1}},
    {"dropped from above the positive", {.mask = HN_MASK_MARGIN, .mask_by = -0.1}},
    {"dropped by a share", {.mask = HN_MASK_RATIO, .mask_by = 0.3}},
    {"hcl and a mask",
     {.beta = 2, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH, .mask = HN_MASK_TOP, .mask_by = 2}},
};
enum { LAWS = sizeof laws / sizeof laws[0], OBJECTIVES = 4 };

static void test_losses(void) {
    static struct pairs pairs;
    for (int objective = 0; objective < OBJECTIVES; objective++)
        for (int weighting = 0; weighting < LAWS; weighting++)
            for (int outside = 0; outside < 2; outside++) {
                pairs = (struct pairs){.spec = {.objective = (enum hn_objective)objective,
                                                .weighting = laws[weighting].weighting,
                                                .temperature = 0.5,
                                                .outside = outside}};
                check_pairs(&pairs, laws[weighting].name, NULL);
            }
    // Powers of cold scores do not fit a range that holds for all anchors.
    pairs = (struct pairs){.spec.temperature = 0.03};
    CU_ASSERT(!hn_loss_is_even(&pairs.spec));
    check_pairs(&pairs, "cold", NULL);
}

static void free_work(struct pairs *p) {
    hn_free(&p->ctx, p->work.score);
    hn_free(&p->ctx, p->work.compact);
    hn_free(&p->ctx, p->work.both);
    hn_free(&p->ctx, p->work.gradient);
    hn_free(&p->ctx, p->work.positive);
    hn_free(&p->ctx, p->work.factor);
    hn_free(&p->ctx, p->work.value);
    CU_ASSERT_EQUAL(p->ctx.memory.live, 0);
}

// Powers and the factor of an anchor are its gradients.
static void test_factors(void) {
    enum { COUNT = 40 };
    for (int weighting = 0; weighting < LAWS; weighting++) {
        struct hn_loss_spec spec = {.weighting = laws[weighting].weighting, .temperature = 0.3};
        CU_ASSERT_EQUAL(hn_loss_is_even(&spec), weighting < 2); // the others weigh or drop
        for (int n = 1; n < COUNT && weighting < 2; n += 6) {
            hn_real power[COUNT], gradient[COUNT], factor = -1, positive[2] = {0.4, 0.4};
            fill(gradient, COUNT, 50 + weighting);
            memcpy(power, gradient, sizeof power);
            struct hn_loss_keys keys = {.n = n, .skip = {n / 2, -1}};
            double wanted = hn_loss_anchor(&spec, 0, 0.7, &keys, gradient, &positive[0]);
            keys.factor = &factor;
            double value = hn_loss_anchor(&spec, 0, 0.7, &keys, power, &positive[1]);
            CU_ASSERT_DOUBLE_EQUAL(value, wanted, 1e-12);
            CU_ASSERT_DOUBLE_EQUAL(positive[1], positive[0], 1e-12);
            for (int j = 0; j < n; j++)
                CU_ASSERT_DOUBLE_EQUAL(factor * power[j], gradient[j], 1e-12);
        }
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
    free_work(&p);
}

// Of the anchor a of both views: whether j is a false negative, by the definitions of the masks.
static bool is_found(const struct hn_weighting_params *weighting, const double score[2 * N], int a,
                     int j) {
    double positive = score[(a + N) % (2 * N)];
    int larger = 0;
    if (j % N == a % N)
        return false;
    for (int k = 0; k < 2 * N; k++)
        larger += k % N != a % N && score[k] > score[j];
    switch (weighting->mask) {
    case HN_MASK_ABOVE: return score[j] > weighting->mask_by;
    case HN_MASK_TOP: return larger < weighting->mask_by;
    case HN_MASK_MARGIN: return score[j] > positive - weighting->mask_by;
    case HN_MASK_RATIO: return score[j] > positive - weighting->mask_by * fabs(positive);
    default: return false;
    }
}

static double attracted(const struct pairs *p, int *found) {
    const double tau = p->spec.temperature;
    double loss = 0;
    for (int a = 0; a < 2 * N; a++) {
        double score[2 * N] = {0}, all = 0, sum = 0;
        int positives = 0;
        for (int j = 0; j < 2 * N; j++) {
            const hn_real *x = (a < N ? p->z1 : p->z2) + a % N * D;
            const hn_real *y = (j < N ? p->z1 : p->z2) + j % N * D;
            for (int k = 0; k < D; k++)
                score[j] += (double)x[k] * (double)y[k];
            all += j == a ? 0 : exp(score[j] / tau);
        }
        for (int j = 0; j < 2 * N; j++) {
            bool other = j != a && j % N != a % N && is_found(&p->spec.weighting, score, a, j);
            *found += other;
            if (!other && j != (a + N) % (2 * N))
                continue;
            sum -= log(exp(score[j] / tau) / all);
            positives++;
        }
        loss += sum / positives / (2 * N);
    }
    return loss;
}

struct listed {
    int32_t own[N], position[N * KEYS];
    int64_t start[N + 1];
};

// Negatives of an anchor's own: none of the first, all of the second, a third of the others.
static struct hn_loss_lists list_some(struct listed *l) {
    int64_t k = 0;
    l->start[0] = 0;
    for (int32_t a = 0; a < N; a++) {
        l->own[a] = (a * 4 + 2) % KEYS;
        for (int32_t j = 0; j < KEYS; j++)
            if (j != l->own[a] && a > 0 && (a == 1 || (j + a) % 3 == 0))
                l->position[k++] = j;
        l->start[a + 1] = k;
    }
    return (struct hn_loss_lists){KEYS, l->own, l->start, l->position};
}

// SigLIP against the definition, in double, of all pairs of a batch and of listed ones, to which
// each positive belongs.
static void test_siglip(void) {
    static struct pairs p;
    struct listed l;
    struct hn_loss_lists lists = list_some(&l);
    const int32_t *own = l.own, *position = l.position;
    const int64_t *start = l.start;
    for (int listed = 0; listed < 2; listed++) {
        const double t = 1 / 0.4, b = -1.5;
        double loss = 0;
        p = (struct pairs){
            .spec = {.objective = HN_OBJECTIVE_SIGLIP, .temperature = 0.4, .bias = b}};
        check_pairs(&p, "siglip", listed ? &lists : NULL);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < (listed ? KEYS : N); j++) {
                double cosine = 0, z = j == (listed ? own[i] : i) ? 1 : -1;
                bool counts = !listed || z > 0;
                for (int64_t e = start[i]; e < start[i + 1]; e++)
                    counts |= position[e] == j;
                for (int x = 0; x < D; x++)
                    cosine += (double)p.z1[i * D + x] * (double)p.z2[j * D + x];
                if (counts)
                    loss -= log(1 / (1 + exp(-z * (t * cosine + b)))) / N;
            }
        HN_CHECK(&p.ctx,
                 hn_loss_open(&p.ctx, HN_OBJECTIVE_SIGLIP, N, listed ? KEYS : N, D, &p.work));
        CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), loss, 1e-12);
        free_work(&p);
    }
}

// Attraction against the definition, for every mask; without one it is NT-Xent.
static void test_attract(void) {
    static struct pairs p;
    double plain = NAN;
    for (int weighting = 0; weighting < LAWS; weighting++) {
        if (hn_is_weighted(&laws[weighting].weighting) &&
            (laws[weighting].weighting.mask == HN_MASK_NONE ||
             laws[weighting].weighting.clamp != HN_CLAMP_NONE))
            continue;
        int found = 0;
        p = (struct pairs){.spec = {.objective = HN_OBJECTIVE_ATTRACT,
                                    .weighting = laws[weighting].weighting,
                                    .temperature = 0.5}};
        check_pairs(&p, laws[weighting].name, NULL);
        HN_CHECK(&p.ctx, hn_loss_open(&p.ctx, HN_OBJECTIVE_ATTRACT, N, N, D, &p.work));
        double loss = pair_loss(&p);
        CU_ASSERT_DOUBLE_EQUAL(loss, attracted(&p, &found), 1e-12);
        if (p.spec.weighting.mask == HN_MASK_NONE) {
            p.spec.objective = HN_OBJECTIVE_NTXENT;
            plain = pair_loss(&p);
            CU_ASSERT_DOUBLE_EQUAL(loss, plain, 1e-12);
            CU_ASSERT_EQUAL(found, 0);
        } else {
            CU_ASSERT(found > 0 && fabs(loss - plain) > 1e-3);
        }
        free_work(&p);
    }
}

// A guide that has the encoder's own scores, of two views that are one, finds what the scores do;
// its slopes for views that differ.
static void test_guide(void) {
    static const enum hn_objective objectives[] = {HN_OBJECTIVE_NTXENT, HN_OBJECTIVE_INFONCE,
                                                   HN_OBJECTIVE_OTHER_VIEW, HN_OBJECTIVE_BOTH_WAYS,
                                                   HN_OBJECTIVE_ATTRACT};
    static struct pairs p;
    float guide[N * N] = {0};
    for (int k = 0; k < 5; k++) {
        p = (struct pairs){.spec = {.objective = objectives[k],
                                    .weighting = {.mask = HN_MASK_MARGIN, .mask_by = 0.7},
                                    .temperature = 0.5}};
        hn_context_init(&p.ctx, 2);
        fill(p.z1, N * D, 20);
        unit_rows(p.z1, N, D);
        memcpy(p.z2, p.z1, sizeof p.z1);
        HN_CHECK(&p.ctx, hn_loss_open(&p.ctx, objectives[k], N, N, D, &p.work));
        for (int a = 0; a < N * N; a++) {
            double score = 0;
            for (int x = 0; x < D; x++)
                score += (double)p.z1[a / N * D + x] * (double)p.z1[a % N * D + x];
            guide[a] = (float)score;
        }
        double own = pair_loss(&p);
        p.spec.guide = guide;
        p.spec.weighting.guided = true;
        CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), own, 1e-12);
        p.spec.weighting = (struct hn_weighting_params){.mask = HN_MASK_NONE};
        CU_ASSERT(fabs(pair_loss(&p) - own) > 1e-3); // the mask finds some
        free_work(&p);
        p.spec.weighting =
            (struct hn_weighting_params){.mask = HN_MASK_MARGIN, .mask_by = 0.7, .guided = true};
        check_pairs(&p, "guided", NULL);
    }
}

// Negatives of an anchor's own: none, one, all; more keys than anchors.
static void test_lists(void) {
    static struct pairs pairs;
    struct listed l;
    struct hn_loss_lists lists = list_some(&l);
    for (int weighting = 0; weighting < LAWS; weighting++) {
        pairs = (struct pairs){.spec = {.objective = HN_OBJECTIVE_OTHER_VIEW,
                                        .weighting = laws[weighting].weighting,
                                        .temperature = 0.5}};
        check_pairs(&pairs, laws[weighting].name, &lists);
    }
}

// Both ways: the mean of the loss of either view against the other, and of lists of either's own.
static void test_both_ways(void) {
    static struct pairs pairs;
    int32_t own[N], position[2][N * N];
    int64_t start[2][N + 1] = {{0}};
    struct hn_loss_lists lists[2];
    for (int way = 0; way < 2; way++) {
        int64_t keys = way ? N : N + 2, k = 0;
        for (int32_t a = 0; a < N; a++) {
            own[a] = a;
            for (int32_t j = 0; j < keys; j++)
                if (j != a && (a + j + way) % 4)
                    position[way][k++] = j;
            start[way][a + 1] = k;
        }
        lists[way] = (struct hn_loss_lists){keys, own, start[way], position[way]};
    }
    for (int weighting = 0; weighting < LAWS; weighting++)
        for (int listed = 0; listed < 2; listed++) {
            double value[2], mean = 0;
            pairs = (struct pairs){.spec = {.objective = HN_OBJECTIVE_BOTH_WAYS,
                                            .weighting = laws[weighting].weighting,
                                            .temperature = 0.5}};
            check_pairs(&pairs, laws[weighting].name, listed ? lists : NULL);
            hn_context_init(&pairs.ctx, 2);
            for (int way = 0; way < 2; way++) {
                hn_real swapped[N * D];
                pairs.spec.objective = HN_OBJECTIVE_OTHER_VIEW;
                pairs.lists = listed ? lists + way : NULL;
                HN_CHECK(&pairs.ctx,
                         hn_loss_open(&pairs.ctx, pairs.spec.objective, N, KEYS, D, &pairs.work));
                value[way] = pair_loss(&pairs);
                mean += value[way] / 2;
                memcpy(swapped, pairs.z1, sizeof swapped);
                memcpy(pairs.z1, pairs.z2, sizeof swapped);
                memcpy(pairs.z2, swapped, sizeof swapped);
                if (way == 0)
                    free_work(&pairs);
            }
            pairs.spec.objective = HN_OBJECTIVE_BOTH_WAYS;
            pairs.lists = listed ? lists : NULL;
            CU_ASSERT_DOUBLE_EQUAL(pair_loss(&pairs), mean, 1e-12);
            CU_ASSERT(fabs(value[0] - value[1]) > 1e-3);
            free_work(&pairs);
        }
}

// Lists of all rows, so that rows of an anchor's own view can be its negatives: the definition.
static void test_all_rows(void) {
    static const enum hn_objective objectives[] = {HN_OBJECTIVE_OTHER_VIEW, HN_OBJECTIVE_BOTH_WAYS};
    static struct pairs p;
    enum { ROWS = N + KEYS };
    int32_t own[2][N], position[2][N * ROWS];
    int64_t start[2][N + 1] = {{0}};
    struct hn_loss_lists lists[2];
    for (int way = 0; way < 2; way++) {
        int64_t k = 0;
        for (int32_t a = 0; a < N; a++) {
            own[way][a] = way ? a : N + a;
            for (int32_t j = 0; j < ROWS; j++)
                if (j % N != a % N && (a + j + way) % 4)
                    position[way][k++] = j;
            start[way][a + 1] = k;
        }
        lists[way] = (struct hn_loss_lists){ROWS, own[way], start[way], position[way], true};
    }
    for (int o = 0; o < 2; o++) {
        double wanted = 0;
        p = (struct pairs){.spec = {.objective = objectives[o], .temperature = 0.5}};
        check_pairs(&p, "all rows", lists);
        for (int way = 0; way <= o; way++)
            for (int a = 0; a < N; a++) {
                double score[ROWS] = {0}, sum = 0;
                const hn_real *x = (way ? p.z2 : p.z1) + a * D;
                for (int j = 0; j < ROWS; j++) {
                    const hn_real *y = j < N ? p.z1 + j * D : p.z2 + (j - N) * D;
                    for (int k = 0; k < D; k++)
                        score[j] += (double)x[k] * (double)y[k];
                }
                for (int64_t k = start[way][a]; k < start[way][a + 1]; k++)
                    sum += exp(score[position[way][k]] / 0.5);
                wanted += log1p(sum / exp(score[own[way][a]] / 0.5)) / (N * (1 + o));
            }
        HN_CHECK(&p.ctx, hn_loss_open(&p.ctx, objectives[o], N, ROWS, D, &p.work));
        CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), wanted, 1e-12);
        free_work(&p);
    }
}

// Weights of a mixture are constants: slopes against the definition with the weights held.
static void test_mixture(void) {
    enum { COUNT = 12 };
    struct hn_loss_spec spec = {.weighting = {.by_mixture = true}, .temperature = 0.4};
    struct hn_score_counts counts = {{0}};
    hn_real score[COUNT + 1], before[COUNT + 1];
    fill(score, COUNT + 1, 77);
    score[3] = (hn_real)0.9;
    for (int j = 0; j < COUNT; j++)
        hn_score_count(&counts, (double)score[j]);
    hn_mixture_fit(&counts, 0.1, 5, &spec.weighting.mixture);
    memcpy(before, score, sizeof score);
    double weight[COUNT], mean = 0, pos = exp(0.6 / 0.4), ng = 0;
    for (int j = 0; j < COUNT; j++) {
        weight[j] = hn_mixture_weight(&spec.weighting.mixture, (double)score[j]);
        mean += weight[j] / COUNT;
    }
    for (int j = 0; j < COUNT; j++)
        ng += weight[j] / mean * exp((double)score[j] / 0.4);
    const struct hn_loss_keys keys = {.n = COUNT + 1, .skip = {COUNT, -1}};
    hn_real positive = (hn_real)0.6;
    double value = hn_loss_anchor(&spec, 0, 1, &keys, score, &positive);
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
        p = (struct pairs){
            .spec = {.objective = (enum hn_objective)objective,
                     .weighting = {.by_mixture = true, .fit_rounds = 3, .fit_prior = 0.2},
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
        bool both = objective == HN_OBJECTIVE_NTXENT, own = objective == HN_OBJECTIVE_INFONCE;
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
        hn_mixture_fit(&counts, 0.2, 3, &p.spec.weighting.mixture);
        p.spec.weighting.fit_rounds = 0;
        CU_ASSERT_DOUBLE_EQUAL(pair_loss(&p), value, 1e-12);
        for (int k = 0; k < N * D; k++)
            CU_ASSERT_DOUBLE_EQUAL((double)p.dz1[k], (double)p.spare1[k], 1e-12);
        hn_free(&p.ctx, memory);
        CU_ASSERT_EQUAL(p.ctx.memory.live, 0);
    }
}

// A sum at its clamp has no slope: what is left is that of the positive.
static void test_clamp(void) {
    struct hn_loss_spec spec = {.weighting = {.tau_plus = 0.9, .clamp = HN_CLAMP_EACH},
                                .temperature = 0.5};
    hn_real score[4] = {-0.9, -0.8, -0.95, -0.7}, positive = 0.8;
    const struct hn_loss_keys keys = {.n = 4, .skip = {-1, -1}};
    double value = hn_loss_anchor(&spec, 0, 1, &keys, score, &positive);
    double log_ng = log(4) - 2, a = log_ng - 1.6;
    CU_ASSERT_DOUBLE_EQUAL(value, log1p(exp(a)), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(positive, -2 / (1 + exp(-a)), 1e-12);
    for (int j = 0; j < 4; j++)
        CU_ASSERT_EQUAL(score[j], 0);
}

// The value is that of the metrics, for every weighting, with `clip`, and with a guide.
static void test_same_value(void) {
    for (int weighting = 0; weighting < LAWS + 2; weighting++)
        for (int n = 1; n < 40; n += 6) {
            hn_real score[40], max = 0;
            struct example e = {.own = -1, .n = n};
            fill(score, 40, 30 + weighting);
            for (int j = 0; j < 40; j++)
                score[j] = e.score[j] = (float)score[j];
            for (int j = 0; j < 40; j++)
                e.guide[j] = j % 3 == 0 ? 0.7F : -0.7F; // of every third negative
            for (int j = 0; j < n; j++)
                max = fmax(max, fabs(score[j]));
            e.positive = score[39];
            struct hn_loss_spec spec = {.weighting = laws[weighting % LAWS].weighting,
                                        .temperature = 0.3};
            if (weighting == LAWS)
                spec.weighting = (struct hn_weighting_params){
                    .beta = 2, .clip = 1.5, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH};
            bool guided = weighting == LAWS + 1;
            if (guided)
                spec.weighting = (struct hn_weighting_params){
                    .mask = HN_MASK_MARGIN, .mask_by = 0.4, .guided = true};
            struct hn_anchor_loss wanted = loss_of(&spec.weighting, 0.3, &e);
            if (guided)
                CU_ASSERT_EQUAL(wanted.n, n - (n + 2) / 3);
            const struct hn_loss_keys keys = {
                .n = n + 1,
                .skip = {n, -1}, // the position behind the negatives, and no other
                .guide = guided ? e.guide : NULL,
                .items = 40};
            hn_real positive = score[39];
            score[n] = 1;
            double value = hn_loss_anchor(&spec, max, 1, &keys, score, &positive);
            CU_ASSERT_DOUBLE_EQUAL(value, wanted.loss, 1e-12 * fmax(1, wanted.loss));
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

static const struct hn_test tests[] = {
    {"losses", test_losses},
    {"factors", test_factors},
    {"lists", test_lists},
    {"both ways", test_both_ways},
    {"lists of all rows", test_all_rows},
    {"clamp", test_clamp},
    {"supcon", test_supcon},
    {"attract", test_attract},
    {"siglip", test_siglip},
    {"guide", test_guide},
    {"weights of a mixture", test_mixture},
    {"a mixture fitted to the batch", test_fitted},
    {"same_value", test_same_value},
    {"plain_losses", test_plain_losses},
};
HN_TEST_MAIN("loss_slopes", tests)
