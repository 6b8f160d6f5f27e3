// SPDX-License-Identifier: GPL-3.0-or-later
// Losses in the precision of the program, under every weighting, against their definition in
// double: values, and gradients by central differences of the definition. The largest score of a
// batch and the weights of a mixture count as constants.
#include "core/random.h"
#include "tests/test.h"
#include "training/net/loss.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 5, FEW = 11, MOST = 300, KEYS = 23, ROWS = 2 * MOST + KEYS };

enum lists { NO_LISTS, LISTS, LISTS_BOTH_WAYS };
struct batch {
    enum hn_objective objective;
    enum lists listed;
    int n;
    struct hn_weighting_params weighting;
    double temperature, max;
    bool outside;
    float row[ROWS * D]; // view 1, view 2 with what follows, or the queue
    int32_t own[FEW], position[2][FEW * (FEW + 2)];
    int64_t start[2][FEW + 1];
};

static const struct {
    const char *name;
    struct hn_weighting_params weighting;
} laws[] = {
    {"none", {.clamp = HN_CLAMP_NONE}},
    {"debiased", {.tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"clamped", {.tau_plus = 0.6, .clamp = HN_CLAMP_EACH}},
    {"hcl", {.beta = 1, .tau_plus = 0.1, .clamp = HN_CLAMP_EACH}},
    {"hcl, figure 13", {.beta = 1, .log_factor = 0.7, .clamp = HN_CLAMP_ONCE}},
    {"hcl, clip", {.beta = 2, .clip = 1.5, .tau_plus = 0.05, .clamp = HN_CLAMP_EACH}},
    {"gist", {.mask = HN_MASK_MARGIN, .mask_by = 0.1}},
    {"fnc", {.mask = HN_MASK_TOP, .mask_by = 3}},
    {"all dropped", {.mask = HN_MASK_ABOVE, .mask_by = -1}},
    {"progcl", {.by_mixture = true, .fit_rounds = 3, .fit_prior = 0.2}},
};

static double dot(const double *z, int a, int b) {
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += z[a * D + k] * z[b * D + k];
    return sum;
}

// The anchor's row; scores of its negatives, whose number is returned, and of its positive.
static int scores_of(const struct batch *b, const double *z, int anchor, double *s,
                     double *positive) {
    int n = b->n, i = anchor % n, way = anchor / n, count = 0;
    int key = b->objective == HN_OBJECTIVE_INFONCE ? 0 : n, keys = n; // first key, their number
    if (way == 1)
        key = 0;
    if (b->objective == HN_OBJECTIVE_QUEUE) {
        key = 2 * n;
        keys = KEYS;
    }
    *positive = dot(z, anchor, way == 1 ? i : n + (b->listed ? b->own[i] : i));
    if (b->listed) {
        for (int64_t e = b->start[way][i]; e < b->start[way][i + 1]; e++)
            s[count++] = dot(z, anchor, key + b->position[way][e]);
        return count;
    }
    if (b->objective == HN_OBJECTIVE_NTXENT) {
        key = 0;
        keys = 2 * n;
    }
    for (int j = 0; j < keys; j++)
        if (b->objective == HN_OBJECTIVE_QUEUE || j % n != i)
            s[count++] = dot(z, anchor, key + j);
    return count;
}

static int larger_than(const double *s, int n, double than) {
    int larger = 0;
    for (int k = 0; k < n; k++)
        larger += s[k] > than;
    return larger;
}

static bool is_dropped(const struct hn_weighting_params *w, const double *s, int n, int j,
                       double positive) {
    switch (w->mask) {
    case HN_MASK_ABOVE: return s[j] > w->mask_by;
    case HN_MASK_TOP: return larger_than(s, n, s[j]) < w->mask_by;
    case HN_MASK_MARGIN: return s[j] > positive - w->mask_by;
    default: return false;
    }
}

// held: the scores of which a mixture makes weights.
static double anchor_loss(const struct batch *b, const double *s, const double *held, int n,
                          double positive) {
    const struct hn_weighting_params *w = &b->weighting;
    double tau = b->temperature, left = 0, weight = 0, mass = 0;
    double rate = w->clip > 0 ? w->beta * w->clip / b->max : w->beta / tau;
    for (int j = 0; j < n; j++) {
        if (is_dropped(w, s, n, j, positive))
            continue;
        double v = w->by_mixture ? hn_mixture_weight(&w->mixture, held[j]) : exp(rate * s[j]);
        left++;
        weight += v;
        mass += v * exp(s[j] / tau);
    }
    if (left == 0)
        return 0;
    double ng = exp(w->log_factor) * left * mass / weight;
    ng = (ng - left * w->tau_plus * exp(positive / tau)) / (1 - w->tau_plus);
    if (w->clamp != HN_CLAMP_NONE)
        ng = fmax(ng, (w->clamp == HN_CLAMP_EACH ? left : 1) * exp(-1 / tau));
    return b->outside ? log(ng) - positive / tau : log1p(ng / exp(positive / tau));
}

static int anchors_of(const struct batch *b) {
    return b->objective == HN_OBJECTIVE_NTXENT || b->objective == HN_OBJECTIVE_BOTH_WAYS ? 2 * b->n
                                                                                         : b->n;
}

static double definition(const struct batch *b, const double *z, const double *held) {
    double s[ROWS], of_held[ROWS], positive, sum = 0;
    for (int a = 0; a < anchors_of(b); a++) {
        int n = scores_of(b, held, a, of_held, &positive);
        (void)scores_of(b, z, a, s, &positive);
        sum += anchor_loss(b, s, of_held, n, positive);
    }
    return sum / anchors_of(b);
}

// The largest score, and the mixture.
static void look(struct batch *b, const double *z) {
    struct hn_score_counts counts = {{0}};
    double s[ROWS], positive;
    for (int a = 0; a < anchors_of(b); a++)
        for (int n = scores_of(b, z, a, s, &positive), j = 0; j < n; j++) {
            b->max = fmax(b->max, fabs(s[j]));
            hn_score_count(&counts, s[j]);
        }
    if (b->weighting.fit_rounds > 0)
        hn_mixture_fit(&counts, b->weighting.fit_prior, (int)b->weighting.fit_rounds,
                       &b->weighting.mixture);
}

// Unit rows, of which the largest products are of pairs that are nobody's negatives: anchors with
// rows that no list has.
static void make_rows(struct batch *b, double *z) {
    struct hn_stream stream;
    hn_stream_open(&stream, 3, "test.weighted", 0, 0, 0);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int k = 0; k < D; k++) {
            double x = 2 * hn_stream_uniform(&stream) - 1;
            z[r * D + k] = r >= b->n && r < 2 * b->n ? x + 2 * z[(r - b->n) * D + k] : x;
            sum += z[r * D + k] * z[r * D + k];
        }
        for (int k = 0; k < D; k++)
            z[r * D + k] = b->row[r * D + k] = (float)(z[r * D + k] / sqrt(sum));
    }
}

// Of either way: none of the first anchor, few of the others, of keys that are not its own.
static void make_lists(struct batch *b) {
    for (int way = 0; way < 2; way++) {
        int64_t k = 0;
        for (int a = 0; a < b->n; a++) {
            b->own[a] = a;
            b->start[way][a] = k;
            for (int j = 0; j < (way ? b->n : b->n + 2); j++)
                if (a > 0 && j % b->n != a && (a + 2 * j + way) % 4 == 0)
                    b->position[way][k++] = j;
        }
        b->start[way][b->n] = k;
    }
}

static void check(const char *name, struct batch *b, bool slopes) {
    static double z[ROWS * D], held[ROWS * D];
    static float gradient[ROWS * D];
    struct hn_context ctx;
    struct hn_loss_work work;
    hn_context_init(&ctx, 2);
    HN_SCOPE(&ctx);
    make_rows(b, z);
    if (b->listed)
        make_lists(b);
    struct hn_loss_spec spec = {.objective = b->objective,
                                .weighting = b->weighting,
                                .temperature = b->temperature,
                                .outside = b->outside};
    const struct hn_workers workers = {2, NULL};
    const struct hn_loss_lists lists[] = {{b->n + 2, b->own, b->start[0], b->position[0]},
                                          {b->n, b->own, b->start[1], b->position[1]}};
    int64_t keys = b->objective == HN_OBJECTIVE_QUEUE ? KEYS : b->listed ? b->n + 2 : b->n;
    float *dz2 = gradient + b->n * D;
    const float *z2 = b->row + b->n * D;
    HN_CHECK(&ctx, hn_loss_open(&ctx, b->objective, b->n, keys, D, &work));
    double value =
        b->objective == HN_OBJECTIVE_QUEUE
            ? hn_loss_queue(workers, &spec, b->n, D, b->row, z2, z2 + b->n * D, gradient, &work)
            : hn_loss_pairs(workers, &spec, b->listed ? lists : NULL, b->n, D, b->row, z2, gradient,
                            dz2, &work);
    look(b, z);
    memcpy(held, z, sizeof held);
    double wanted = definition(b, z, held), off = 0, max = 0;
    int rows = b->objective == HN_OBJECTIVE_QUEUE ? b->n : 2 * b->n;
    for (int k = 0; slopes && k < rows * D; k += 3) {
        double kept = z[k], difference = 1e-6;
        z[k] = kept + difference;
        double above = definition(b, z, held);
        z[k] = kept - difference;
        double slope = (above - definition(b, z, held)) / (2 * difference);
        z[k] = kept;
        off = fmax(off, fabs(slope - (double)gradient[k]));
        max = fmax(max, fabs(slope));
    }
    bool good =
        fabs(value - wanted) <= 2e-6 * fmax(1, fabs(wanted)) && off <= 2e-5 * fmax(max, 0.01);
    if (!good)
        fprintf(stderr, "    %s, loss %s, lists %d: %.9g, not %.9g; slopes off by %.2g of %.2g\n",
                name, hn_objectives[b->objective].name, b->listed, value, wanted, off, max);
    CU_ASSERT_TRUE(good);
}

static const struct {
    enum hn_objective objective;
    enum lists listed;
} kinds[] = {{HN_OBJECTIVE_NTXENT},     {HN_OBJECTIVE_INFONCE},
             {HN_OBJECTIVE_OTHER_VIEW}, {HN_OBJECTIVE_OTHER_VIEW, LISTS},
             {HN_OBJECTIVE_BOTH_WAYS},  {HN_OBJECTIVE_BOTH_WAYS, LISTS_BOTH_WAYS},
             {HN_OBJECTIVE_QUEUE}};

static void test_weighted(void) {
    static struct batch b;
    for (size_t w = 0; w < sizeof laws / sizeof *laws; w++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int outside = 0; outside < 2; outside++) {
                b = (struct batch){.objective = kinds[k].objective,
                                   .listed = kinds[k].listed,
                                   .n = FEW,
                                   .weighting = laws[w].weighting,
                                   .temperature = outside ? 0.3 : 0.5,
                                   .outside = outside};
                check(laws[w].name, &b, true);
            }
}

// More anchors than are scored at once.
static void test_many(void) {
    static struct batch b;
    for (size_t w = 0; w < sizeof laws / sizeof *laws; w++)
        for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++) {
            if (kinds[k].listed)
                continue;
            b = (struct batch){.objective = kinds[k].objective,
                               .n = MOST,
                               .weighting = laws[w].weighting,
                               .temperature = 0.5};
            check(laws[w].name, &b, false);
        }
}

static const struct hn_test tests[] = {{"weighted", test_weighted}, {"many anchors", test_many}};
HN_TEST_MAIN("loss_weighted", tests)
