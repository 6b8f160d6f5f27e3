// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of anchors: what a mask leaves of their negatives, sums over those, and from sums to the
// loss. Sums of a weighting by exponentials are shared by the anchors of rows and of columns, and
// by settings (hn_exp_sums()); others are taken anchor by anchor.
#include "metrics/anchor_loss.h"
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/simd.h"
#include "metrics/exp_sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

void hn_masker_open(const struct hn_weighting_params *weighting, double positive,
                    struct hn_masker *m) {
    m->mask = weighting->mask;
    m->n = m->k = 0;
    m->limit = weighting->mask_by;
    if (weighting->guided)
        positive = 1;
    if (weighting->mask == HN_MASK_MARGIN)
        m->limit = positive - weighting->mask_by;
    if (weighting->mask == HN_MASK_RATIO)
        m->limit = positive - weighting->mask_by * fabs(positive);
    if (weighting->mask == HN_MASK_TOP) {
        m->k = (int32_t)weighting->mask_by;
        m->limit = -INFINITY; // until as many have been seen
    }
}

void hn_masker_see(struct hn_masker *m, double score) {
    if (m->mask != HN_MASK_TOP || (m->n == m->k && score <= m->top[0]))
        return;
    int32_t position = 0;
    if (m->n < m->k) {
        for (position = m->n++; position > 0 && m->top[position - 1] > score; position--)
            m->top[position] = m->top[position - 1];
    } else {
        for (; position + 1 < m->k && m->top[position + 1] < score; position++)
            m->top[position] = m->top[position + 1];
    }
    m->top[position] = score;
    if (m->n == m->k)
        m->limit = m->top[0];
}

// The views whose items are an anchor's negatives.
struct sides {
    bool own, other; // of the anchor's view, of the other view
};

// By loss and the anchor's view; neither: no anchors of that view.
static struct sides sides_of(enum hn_loss loss, int view) {
    if (loss == HN_LOSS_NTXENT)
        return (struct sides){true, true};
    return (struct sides){view == 0 && loss == HN_LOSS_INFONCE,
                          view == 0 && loss != HN_LOSS_INFONCE};
}

int hn_loss_views(enum hn_loss loss) { return loss == HN_LOSS_NTXENT ? 2 : 1; }

// An anchor: its positive's score and those of its negatives, cosines all, in runs.
struct anchor {
    double positive;
    int runs;
    struct anchor_run {
        const float *score;
        const float *shown; // scores by which a mask decides
        const uint8_t *kind;
        int32_t n;
    } run[4];
};

static void add_run(const struct hn_run *run, const float *score, bool guided,
                    struct anchor *anchor) {
    if (run->count > 0)
        anchor->run[anchor->runs++] =
            (struct anchor_run){score, guided ? run->guide : score, run->kind, run->count};
}

static struct anchor make_anchor(const struct hn_batch_loss *b, int view, int32_t a) {
    struct anchor anchor = {.positive = (double)hn_pairs_positive(b->pairs, a)};
    struct sides sides = sides_of(b->loss, view);
    bool guided = b->weighting.guided;
    struct hn_run run[2];
    (void)hn_pairs_runs(b->pairs, a, false, run);
    for (int r = 0; r < 2 && sides.own; r++)
        add_run(&run[r], view == 0 ? run[r].same1 : run[r].same2, guided, &anchor);
    for (int r = 0; r < 2 && sides.other; r++)
        add_run(&run[r], view == 0 ? run[r].score : run[r].score_t, guided, &anchor);
    return anchor;
}

// The largest |score| of a negative; all scores are added to the counts.
static double look_at_scores(const struct hn_batch_loss *b, struct hn_score_counts *counts) {
    float max = 0;
    for (int view = 0; view < hn_loss_views(b->loss); view++)
        for (int32_t a = 0; a < b->pairs->n; a++) {
            struct anchor anchor = make_anchor(b, view, a);
            for (int r = 0; r < anchor.runs; r++)
                for (int32_t j = 0; j < anchor.run[r].n; j++) {
                    max = fmaxf(max, fabsf(anchor.run[r].score[j]));
                    hn_score_count(counts, (double)anchor.run[r].score[j]);
                }
        }
    return (double)max;
}

// Negatives that are shown above it are dropped.
static double limit_of(const struct hn_batch_loss *b, int view, int32_t a) {
    struct hn_masker m;
    hn_masker_open(&b->weighting, (double)hn_pairs_positive(b->pairs, a), &m);
    if (m.mask != HN_MASK_TOP)
        return m.limit;
    struct anchor anchor = make_anchor(b, view, a);
    for (int r = 0; r < anchor.runs; r++)
        for (int32_t j = 0; j < anchor.run[r].n; j++)
            hn_masker_see(&m, (double)anchor.run[r].shown[j]);
    return nextafter(m.limit, -INFINITY); // what equals it is dropped too
}

// The limits of a mask, once for all settings with it.
static const struct hn_limits *find_limits(const struct hn_batch_loss *b, unsigned products) {
    const struct hn_weighting_params *weighting = &b->weighting;
    if (weighting->mask == HN_MASK_NONE)
        return NULL;
    struct hn_limits *l = hn_limits_of(
        b->pairs,
        (struct hn_limits_key){.mask = (int)weighting->mask,
                               .by = weighting->mask_by,
                               .guided = weighting->guided,
                               .products = weighting->mask == HN_MASK_TOP ? products : 0});
    for (int view = 0; view < 2 && !l->known; view++)
        for (int32_t a = 0; a < b->pairs->n; a++)
            l->limit[view][a] = limit_of(b, view, a);
    l->known = true;
    return l;
}

static bool by_sums(const struct hn_weighting_params *weighting, double tau) {
    return !weighting->by_mixture && weighting->clip <= 0 &&
           hn_exp_sums_fit((weighting->beta + 1) / tau);
}

bool hn_loss_turns(const struct hn_weighting_params *weighting, double tau) {
    return weighting->mask == HN_MASK_TOP || !by_sums(weighting, tau);
}

struct hn_batch_loss hn_batch_loss_open(const struct hn_pairs *p,
                                        const struct hn_weighting_params *weighting, double tau,
                                        enum hn_loss loss) {
    struct hn_batch_loss b = {.pairs = p, .loss = loss, .tau = tau, .weighting = *weighting};
    if (by_sums(weighting, tau)) {
        struct sides first = sides_of(loss, 0), second = sides_of(loss, 1);
        unsigned products = (first.own ? HN_SUMS_OWN1 : 0) | (second.own ? HN_SUMS_OWN2 : 0) |
                            (first.other || second.other ? HN_SUMS_OTHER : 0);
        const struct hn_limits *limits = find_limits(&b, products);
        b.mass = hn_exp_sums(p, (weighting->beta + 1) / tau, products, limits);
        b.count = limits ? hn_exp_sums(p, 0, products, limits) : NULL;
        b.weight =
            weighting->beta > 0 ? hn_exp_sums(p, weighting->beta / tau, products, limits) : b.count;
        return b;
    }
    struct hn_score_counts counts = {{0}};
    if (weighting->clip > 0 || weighting->fit_rounds > 0)
        b.max = look_at_scores(&b, &counts);
    if (weighting->fit_rounds > 0)
        hn_mixture_fit(&counts, weighting->fit_prior, weighting->fit_rounds, &b.weighting.mixture);
    return b;
}

// Sums over the n negatives of an anchor of v_j and v_j neg_j, each relative to that of score
// `high`.
struct sums {
    double n, positive; // the positive's score
    double high;
    double weight, mass;
    double weight_labelled, weight_same, mass_same;
};

static void add_side(const struct hn_batch_loss *b, int side, int32_t a, struct sums *to) {
    const struct hn_pairs *p = b->pairs;
    const struct hn_side_sums *weight = b->weight ? &b->weight->side[side] : NULL;
    double n = b->count ? b->count->side[side].all[a] : (double)hn_pairs_negatives(p, a);
    to->n += n;
    to->weight += weight ? weight->all[a] : n;
    to->weight_same += weight ? weight->same[a] : p->same[a];
    to->weight_labelled += weight && p->unlabelled ? weight->labelled[a]
                           : weight                ? weight->all[a]
                                                   : p->labelled[a];
    to->mass += b->mass->side[side].all[a];
    to->mass_same += b->mass->side[side].same[a];
}

static struct sums shared_sums(const struct hn_batch_loss *b, int view, int32_t a) {
    struct sums s = {.positive = (double)hn_pairs_positive(b->pairs, a), .high = 1};
    struct sides sides = sides_of(b->loss, view);
    if (sides.own)
        add_side(b, HN_OWN1 + view, a, &s);
    if (sides.other)
        add_side(b, HN_OTHER1 + view, a, &s);
    return s;
}

// Negatives of an anchor, of several runs, so that loops over them are few and long. Behind the
// last of n there are more, up to a multiple of HN_LANES, which are to weigh nothing.
struct block {
    int32_t n, padded;
    int run;      // to go on from
    int32_t from; // in that run
    float score[HN_RUN_BLOCK];
    uint8_t kind[HN_RUN_BLOCK];
};

// Fills the next block; false: there are no more.
static bool next_block(const struct anchor *anchor, struct block *b) {
    for (b->n = 0; b->run < anchor->runs && b->n < HN_RUN_BLOCK;) {
        const struct anchor_run *run = &anchor->run[b->run];
        int32_t free = HN_RUN_BLOCK - b->n, left = run->n - b->from, n = left < free ? left : free;
        memcpy(b->score + b->n, run->score + b->from, (size_t)n * sizeof *b->score);
        memcpy(b->kind + b->n, run->kind + b->from, (size_t)n);
        b->n += n;
        b->from = n < left ? b->from + n : 0;
        b->run += n == left;
    }
    for (b->padded = b->n; b->padded % HN_LANES; b->padded++) {
        b->score[b->padded] = 0;
        b->kind[b->padded] = HN_PAIR_UNLABELLED;
    }
    return b->n > 0;
}

HN_CLONES
static void weigh(const struct block *b, const struct hn_mixture *mixture, double *v) {
    for (int32_t j = 0; j < b->padded; j++)
        v[j] = hn_mixture_weight(mixture, (double)b->score[j]);
}

// mass[padded]: neg_j.
HN_CLONES
static void add_block(const struct block *b, double *v, const double *mass, struct sums *s) {
    double labelled[HN_RUN_BLOCK], same[HN_RUN_BLOCK], both[HN_RUN_BLOCK];
    for (int32_t j = b->n; j < b->padded; j++)
        v[j] = 0;
    for (int32_t j = 0; j < b->padded; j++) {
        labelled[j] = b->kind[j] != HN_PAIR_UNLABELLED;
        same[j] = b->kind[j] == HN_PAIR_FALSE_NEGATIVE;
        both[j] = v[j] * mass[j];
    }
    s->n += b->n;
    s->weight += hn_lane_sum(v, b->padded);
    s->mass += hn_lane_sum(both, b->padded);
    s->weight_labelled += hn_lane_dot(labelled, v, b->padded);
    s->weight_same += hn_lane_dot(same, v, b->padded);
    s->mass_same += hn_lane_dot(same, both, b->padded);
}

static struct sums own_sums(const struct hn_batch_loss *l, int view, int32_t a) {
    const struct hn_weighting_params *weighting = &l->weighting;
    struct anchor anchor = make_anchor(l, view, a);
    struct sums s = {.positive = anchor.positive};
    // max = 0: all scores are 0, and so are all exponents.
    double v[HN_RUN_BLOCK], mass[HN_RUN_BLOCK],
        slope = weighting->clip > 0 && l->max > 0 ? weighting->beta * weighting->clip / l->max
                                                  : weighting->beta / l->tau;
    float low = INFINITY, high = -INFINITY; // terms far below the largest may vanish
    for (int r = 0; r < anchor.runs; r++)
        hn_simd_best()->widen(anchor.run[r].score, anchor.run[r].n, &low, &high);
    s.high = (double)high;
    for (struct block b = {.run = 0}; next_block(&anchor, &b);) {
        hn_exp_each(b.score, b.padded, s.high, 1 / l->tau, mass);
        if (weighting->by_mixture)
            weigh(&b, &weighting->mixture, v);
        else
            hn_exp_each(b.score, b.padded, s.high, slope, v);
        add_block(&b, v, mass, &s);
    }
    return s;
}

// log(x), x >= 0; -infinity where x is no normal number.
static inline double log_of(double x) {
    double log = hn_log(x >= DBL_MIN ? x : 1);
    return x >= DBL_MIN ? log : -INFINITY;
}

// log(max(0, exp(a) - exp(b)))
static inline double log_difference(double a, double b) {
    double y = hn_exp(b < a ? b - a : 0);
    double direct = log_of(1 - y); // exact, as 1 - y is from y = 1 / 2 on
    double by_atanh = -hn_twice_atanh(y <= 0.5 ? y / (2 - y) : 0);
    return b < a ? a + (y <= 0.5 ? by_atanh : direct) : -INFINITY;
}

// Many anchors at once, column by column, as compilers make vectors of columns alone.
enum { BLOCK = HN_LOSS_BLOCK };
struct terms {
    double n[BLOCK], weight[BLOCK], mass[BLOCK], mass_same[BLOCK];
    double high[BLOCK], positive[BLOCK];                                  // scores over tau
    double clamped[BLOCK], log_ng[BLOCK], loss[BLOCK], same_share[BLOCK]; // as the results
};

HN_CLONES
static void lose(const struct hn_weighting_params *weighting, double tau, int32_t anchors,
                 struct terms *t) {
    const double tau_plus = weighting->tau_plus, log_kept = log_of(1 - tau_plus);
    const double log_factor = weighting->log_factor, lowest = -1 / tau;
    const bool bounded = weighting->clamp != HN_CLAMP_NONE,
               by_number = weighting->clamp == HN_CLAMP_EACH;
    for (int32_t a = 0; a < anchors; a++) {
        double log_n = log_of(t->n[a]);
        double scale = log_factor + log_of(t->n[a] / t->weight[a]) + t->high[a];
        double taken = log_of(t->n[a] * tau_plus) + t->positive[a];
        double min = bounded ? (by_number ? log_n : 0) + lowest : -INFINITY;
        double log_ng = log_difference(scale + log_of(t->mass[a]), taken) - log_kept;
        double same = log_difference(scale + log_of(t->mass_same[a]), taken) - log_kept;
        t->clamped[a] = log_ng < min ? 1 : 0;
        log_ng = log_ng < min ? min : log_ng;
        t->log_ng[a] = log_ng;
        t->loss[a] = hn_softplus(log_ng - t->positive[a]);
        t->same_share[a] = hn_exp(same - log_ng);
    }
}

static void lose_block(const struct hn_weighting_params *weighting, double tau, int32_t anchors,
                       const struct sums *sums, struct hn_anchor_loss *out) {
    struct terms t;
    for (int32_t a = 0; a < anchors; a++) {
        const struct sums *s = &sums[a];
        t.n[a] = s->n;
        t.weight[a] = s->weight;
        t.mass[a] = s->mass;
        t.mass_same[a] = s->mass_same;
        t.high[a] = s->high / tau;
        t.positive[a] = s->positive / tau;
    }
    lose(weighting, tau, anchors, &t);
    for (int32_t a = 0; a < anchors; a++) {
        double by_weight = t.n[a] / t.weight[a];
        out[a] = (struct hn_anchor_loss){.n = t.n[a],
                                         .loss = t.loss[a],
                                         .log_ng = t.log_ng[a],
                                         .clamped = t.clamped[a] > 0,
                                         .weight_same = sums[a].weight_same * by_weight,
                                         .weight_labelled = sums[a].weight_labelled * by_weight,
                                         .same_share = t.same_share[a]};
        if (!(t.n[a] > 0))
            out[a] = (struct hn_anchor_loss){.log_ng = -INFINITY};
    }
}

void hn_batch_loss_take(const struct hn_batch_loss *b, int view, int32_t from, int32_t n,
                        struct hn_anchor_loss out[HN_LOSS_BLOCK]) {
    struct sums sums[HN_LOSS_BLOCK];
    for (int32_t k = 0; k < n; k++)
        sums[k] = (b->mass ? shared_sums : own_sums)(b, view, from + k);
    lose_block(&b->weighting, b->tau, n, sums, out);
}
