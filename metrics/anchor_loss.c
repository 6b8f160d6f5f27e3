// The loss of anchors: what a mask leaves of their negatives, sums over those, and from sums to the
// loss (metrics/weighting.h).
#include "core/clones.h"
#include "core/sweep/simd.h"
#include "metrics/pairs.h"
#include "metrics/weighting.h"

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

// The scores by which the mask decides.
static const float *shown(const struct hn_anchor_run *run) {
    return run->guide ? run->guide : run->score;
}

static void open_mask(const struct hn_weighting_params *weighting, const struct hn_anchor *anchor,
                      struct hn_masker *m) {
    hn_masker_open(weighting, anchor->positive, m);
    for (int r = 0; r < anchor->runs && weighting->mask == HN_MASK_TOP; r++)
        for (int32_t j = 0; j < anchor->run[r].n; j++)
            hn_masker_see(m, (double)shown(&anchor->run[r])[j]);
}

// Negatives of an anchor, of several runs, so that loops over them are few and long. Behind the
// last of n there are more, up to a multiple of HN_LANES, which count as nothing: unlabelled, with
// scores of -infinity, as those have that the mask drops.
struct block {
    int32_t n, padded;
    int run;      // to go on from
    int32_t from; // in that run
    float score[HN_RUN_BLOCK];
    uint8_t kind[HN_RUN_BLOCK];
};

HN_CLONES
static void drop(const float *seen, int32_t n, const struct hn_masker *mask, float *score) {
    const double limit = mask->limit;
    const bool at_limit = mask->mask == HN_MASK_TOP; // as hn_masker_drops() has it
    for (int32_t j = 0; j < n; j++) {
        bool drops = (double)seen[j] > limit || (at_limit && (double)seen[j] >= limit);
        score[j] = drops ? -INFINITY : score[j];
    }
}

// Fills the next block; false: there are no more. mask: NULL where all negatives count.
static bool next_block(const struct hn_anchor *anchor, const struct hn_masker *mask,
                       struct block *b) {
    for (b->n = 0; b->run < anchor->runs && b->n < HN_RUN_BLOCK;) {
        const struct hn_anchor_run *run = &anchor->run[b->run];
        int32_t free = HN_RUN_BLOCK - b->n, left = run->n - b->from, n = left < free ? left : free;
        memcpy(b->score + b->n, run->score + b->from, (size_t)n * sizeof *b->score);
        memcpy(b->kind + b->n, run->kind + b->from, (size_t)n);
        if (mask)
            drop(shown(run) + b->from, n, mask, b->score + b->n);
        b->n += n;
        b->from = n < left ? b->from + n : 0;
        b->run += n == left;
    }
    for (b->padded = b->n; b->padded % HN_LANES; b->padded++) {
        b->score[b->padded] = -INFINITY;
        b->kind[b->padded] = HN_PAIR_UNLABELLED;
    }
    return b->n > 0;
}

// The largest score, as terms far below it may vanish. Beside a mask, which goes with no weights,
// 1: there no temperature of a job is so low (hn_exp_sums_fit()).
static double find_high(const struct hn_anchor *anchor, const struct hn_masker *mask) {
    float low = INFINITY, high = -INFINITY;
    for (int r = 0; r < anchor->runs && !mask; r++)
        hn_simd_best()->widen(anchor->run[r].score, anchor->run[r].n, &low, &high);
    return mask ? 1 : (double)high;
}

// v of a block by the mixture; 0 of what does not count.
HN_CLONES
static void weigh(const struct block *b, const struct hn_mixture *mixture, double *v) {
    for (int32_t j = 0; j < b->padded; j++) {
        double weight = hn_mixture_weight(mixture, (double)b->score[j]);
        v[j] = b->score[j] > -INFINITY ? weight : 0;
    }
}

// mass[padded]: neg_j.
HN_CLONES
static void add_weighted(const struct block *b, const double *v, const double *mass,
                         struct hn_anchor_sums *s) {
    double labelled[HN_RUN_BLOCK], same[HN_RUN_BLOCK], both[HN_RUN_BLOCK];
    for (int32_t j = 0; j < b->padded; j++)
        s->n += b->score[j] > -INFINITY;
    for (int32_t j = 0; j < b->padded; j++) {
        labelled[j] = b->kind[j] != HN_PAIR_UNLABELLED;
        same[j] = b->kind[j] == HN_PAIR_FALSE_NEGATIVE;
        both[j] = v[j] * mass[j];
    }
    s->weight += hn_lane_sum(v, b->padded);
    s->mass += hn_lane_sum(both, b->padded);
    s->weight_labelled += hn_lane_dot(labelled, v, b->padded);
    s->weight_same += hn_lane_dot(same, v, b->padded);
    s->mass_same += hn_lane_dot(same, both, b->padded);
}

// The same with v = 1 of all that count.
HN_CLONES
static void add_alike(const struct block *b, const double *mass, struct hn_anchor_sums *s) {
    double of_same[HN_RUN_BLOCK];
    int32_t counted = 0, labelled = 0, same = 0;
    for (int32_t j = 0; j < b->padded; j++) {
        int32_t counts = b->score[j] > -INFINITY;
        counted += counts;
        labelled += counts & (b->kind[j] != HN_PAIR_UNLABELLED);
        same += counts & (b->kind[j] == HN_PAIR_FALSE_NEGATIVE);
    }
    for (int32_t j = 0; j < b->padded; j++)
        of_same[j] = b->kind[j] == HN_PAIR_FALSE_NEGATIVE ? mass[j] : 0;
    s->n += counted;
    s->weight += counted;
    s->weight_labelled += labelled;
    s->weight_same += same;
    s->mass += hn_lane_sum(mass, b->padded);
    s->mass_same += hn_lane_sum(of_same, b->padded);
}

static void add_all(const struct hn_anchor *anchor, const struct hn_masker *mask,
                    const struct hn_mixture *mixture, double slope, double tau,
                    struct hn_anchor_sums *s) {
    double v[HN_RUN_BLOCK], mass[HN_RUN_BLOCK];
    for (struct block b = {.run = 0}; next_block(anchor, mask, &b);) {
        hn_exp_each(b.score, b.padded, s->high, 1 / tau, mass);
        if (mixture)
            weigh(&b, mixture, v);
        else if (slope > 0)
            hn_exp_each(b.score, b.padded, s->high, slope, v);
        (mixture || slope > 0) ? add_weighted(&b, v, mass, s) : add_alike(&b, mass, s);
    }
}

// log(x), x >= 0; -infinity where x is no normal number.
static inline double log_of(double x) {
    double log = hn_log(x >= DBL_MIN ? x : 1);
    return x >= DBL_MIN ? log : -INFINITY;
}

// log(max(0, exp(a) - exp(b)))
static inline double log_difference(double a, double b) {
    double y = hn_exp(b < a ? b - a : 0),
           direct = log_of(1 - y); // exact, as 1 - y is from y = 1 / 2
    double by_atanh = -hn_twice_atanh(y <= 0.5 ? y / (2 - y) : 0);
    return b < a ? a + (y <= 0.5 ? by_atanh : direct) : -INFINITY;
}

bool hn_weighting_sums(const struct hn_weighting_params *weighting, double tau) {
    return weighting->mask == HN_MASK_NONE && !weighting->by_mixture && weighting->clip <= 0 &&
           hn_exp_sums_fit((weighting->beta + 1) / tau);
}

// Of many anchors, column by column, as compilers make vectors of columns alone.
enum { BLOCK = 64 };
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
                       const struct hn_anchor_sums *sums, struct hn_anchor_loss *out) {
    struct terms t;
    for (int32_t a = 0; a < anchors; a++) {
        const struct hn_anchor_sums *s = &sums[a];
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

void hn_anchor_losses(const struct hn_weighting_params *weighting, double tau, int32_t anchors,
                      const struct hn_anchor_sums *sums, struct hn_anchor_loss *out) {
    for (int32_t from = 0; from < anchors; from += BLOCK)
        lose_block(weighting, tau, anchors - from < BLOCK ? anchors - from : BLOCK, sums + from,
                   out + from);
}

struct hn_anchor_loss hn_anchor_loss(const struct hn_weighting_params *weighting, double tau,
                                     double max, const struct hn_anchor *anchor) {
    struct hn_anchor_sums s = {.positive = anchor->positive};
    struct hn_anchor_loss out;
    struct hn_masker masker, *mask = weighting->mask == HN_MASK_NONE ? NULL : &masker;
    if (mask)
        open_mask(weighting, anchor, mask);
    // max = 0: all scores are 0, and so are all exponents.
    double slope = weighting->clip > 0 && max > 0 ? weighting->beta * weighting->clip / max
                                                  : weighting->beta / tau;
    s.high = find_high(anchor, mask);
    if (s.high > -INFINITY)
        add_all(anchor, mask, weighting->by_mixture ? &weighting->mixture : NULL, slope, tau, &s);
    hn_anchor_losses(weighting, tau, 1, &s, &out);
    return out;
}
