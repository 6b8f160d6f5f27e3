// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of one anchor and its gradients. With v_j = e^(c s_j) (c = beta / tau, or as `clip` has
// it), e_j = e^(s_j / tau), W = factor n sum_j v_j e_j / sum_j v_j and T = n tau_plus pos:
//   Ng = (W - T) / (1 - tau_plus),  a = log Ng - s+ / tau
//   inside: loss = log(1 + e^a), q = dloss/da = 1 / (1 + e^-a);  outside: loss = a, q = 1
//   dloss/ds_j = q R [(1/tau + c) v_j e_j / sum v e - c v_j / sum v],  R = W / (W - T)
//   dloss/ds+  = -q R / tau
// With a mixture v_j is a constant: dloss/ds_j = q R v_j e_j / (tau sum v e);
// sums and n over the negatives that the mask leaves; dloss/ds_j = 0 for the others.
// At the clamp log Ng is a constant: dloss/ds_j = 0, dloss/ds+ = -q / tau.
#include "core/clones.h"
#include "training/net/exp.h"
#include "training/net/loss.h"

#include <math.h>

enum { LANES = 16, BLOCK = 256 };
static const double GONE = -1e30; // a score whose powers vanish
static const double RANGE = 60;   // of exponents, well within that of hn_expf()

static double sum_lanes(hn_real lane[LANES]) {
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    return (double)lane[0];
}

HN_CLONES
static hn_real largest(const hn_real *s, int64_t n) {
#ifdef HN_REAL_DOUBLE
    double max = -2;
    for (int64_t j = 0; j < n; j++)
        max = s[j] > max ? s[j] : max;
    return max;
#else
    return hn_lane_max(s, n, -2);
#endif
}

// to[j] = e^(rate (s[j] - high)), to may be s; returns the sum.
HN_CLONES
static double powers(const hn_real *s, int64_t n, hn_real rate, hn_real high, hn_real *to) {
    hn_real lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++) {
            hn_real e = hn_real_exp(rate * (s[j + l] - high));
            to[j + l] = e;
            lane[l] += e;
        }
    for (int l = 0; j < n; j++, l++) {
        to[j] = hn_real_exp(rate * (s[j] - high));
        lane[l] += to[j];
    }
    return sum_lanes(lane);
}

HN_CLONES
static double sum_powers(const hn_real *s, int64_t n, hn_real rate, hn_real high) {
    hn_real lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += hn_real_exp(rate * (s[j + l] - high));
    for (int l = 0; j < n; j++, l++)
        lane[l] += hn_real_exp(rate * (s[j] - high));
    return sum_lanes(lane);
}

HN_CLONES
static void scale_all(hn_real *s, int64_t n, hn_real by) {
    for (int64_t j = 0; j < n; j++)
        s[j] *= by;
}

// s[j] = up e^(steep (s[j] - high)) - down e^(rate (s[j] - high))
HN_CLONES
static void differences(hn_real *s, int64_t n, hn_real high, const hn_real rate[2],
                        const hn_real by[2]) {
    for (int64_t j = 0; j < n; j++) {
        hn_real t = s[j] - high;
        s[j] = by[0] * hn_real_exp(rate[0] * t) - by[1] * hn_real_exp(rate[1] * t);
    }
}

// log(max(0, exp(a) - exp(b)))
static double log_difference(double a, double b) {
    return a > b ? a + log1p(-exp(b - a)) : -INFINITY;
}

struct anchor {
    double negatives, rate, high, mass, weight; // sums of v e and v, relative to the largest
};

// The gradient of the loss in log W and s+ (both without `scale`), and the loss.
static double judge(const struct hn_loss_spec *spec, const struct anchor *a, double positive,
                    double *by_log_w, double *by_positive) {
    const struct hn_weighting_params *weighting = &spec->weighting;
    double tau = spec->temperature, log_rest = log1p(-weighting->tau_plus);
    double log_w =
        weighting->log_factor + log(a->negatives / a->weight) + a->high / tau + log(a->mass);
    double taken = log(a->negatives * weighting->tau_plus) + positive / tau;
    double log_ng = log_difference(log_w, taken) - log_rest;
    double min = weighting->clamp == HN_CLAMP_NONE
                     ? -INFINITY
                     : (weighting->clamp == HN_CLAMP_EACH ? log(a->negatives) : 0) - 1 / tau;
    bool clamped = log_ng < min;
    if (clamped)
        log_ng = min;
    double above = log_ng - positive / tau;
    double q = spec->outside ? 1 : 1 / (1 + exp(-above));
    double ratio = clamped ? 0 : exp(log_w - log_ng - log_rest);
    *by_log_w = q * ratio;
    *by_positive = -q / tau * (clamped ? 1 : ratio);
    return spec->outside ? above : fmax(above, 0) + log1p(exp(-fabs(above)));
}

static bool is_negative(const struct hn_loss_keys *keys, int64_t j) {
    return j != keys->skip[0] && j != keys->skip[1];
}

// The score by which the mask decides.
static double shown(const struct hn_loss_keys *keys, const hn_real *score, int64_t j) {
    return keys->guide ? (double)keys->guide[j % keys->items] : (double)score[j];
}

// Takes the powers of what the mask drops out of all sums. Returns how many it drops.
static int64_t drop_masked(const struct hn_weighting_params *weighting, double positive,
                           const struct hn_loss_keys *keys, hn_real *score) {
    struct hn_masker m;
    int64_t dropped = 0;
    hn_masker_open(weighting, positive, &m);
    for (int64_t j = 0; j < keys->n && weighting->mask == HN_MASK_TOP; j++)
        if (is_negative(keys, j))
            hn_masker_see(&m, shown(keys, score, j));
    for (int64_t j = 0; j < keys->n; j++)
        if (is_negative(keys, j) && hn_masker_drops(&m, shown(keys, score, j))) {
            score[j] = (hn_real)GONE;
            dropped++;
        }
    return dropped;
}

// score[j] becomes v_j e_j by the mixture, 0 for what is gone; their sums.
HN_CLONES
static void mixture_powers(const struct hn_loss_spec *spec, int64_t n, hn_real *score,
                           struct anchor *a) {
    const struct hn_mixture *mixture = &spec->weighting.mixture;
    double v[BLOCK], mass[BLOCK];
    a->weight = a->mass = 0;
    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t count = n - from < BLOCK ? n - from : BLOCK;
        for (int64_t j = 0; j < count; j++) {
            double s = (double)score[from + j], weight = hn_mixture_weight(mixture, s);
            v[j] = s <= GONE / 2 ? 0 : weight;
            mass[j] = v[j] * hn_exp((s - a->high) / spec->temperature);
            score[from + j] = (hn_real)mass[j];
        }
        a->weight += hn_lane_sum(v, count);
        a->mass += hn_lane_sum(mass, count);
    }
}

bool hn_loss_is_even(const struct hn_loss_spec *spec) {
    const struct hn_weighting_params *w = &spec->weighting;
    return w->mask == HN_MASK_NONE && w->beta == 0 && !w->by_mixture &&
           2 / spec->temperature < RANGE;
}

double hn_loss_anchor(const struct hn_loss_spec *spec, double max, double scale,
                      const struct hn_loss_keys *keys, hn_real *score, hn_real *positive) {
    const struct hn_weighting_params *weighting = &spec->weighting;
    const int64_t n = keys->n, *skip = keys->skip;
    struct anchor a = {.negatives = (double)n};
    if (weighting->mask != HN_MASK_NONE)
        a.negatives -= (double)drop_masked(weighting, (double)*positive, keys, score);
    for (int k = 0; k < 2; k++)
        if (skip[k] >= 0) {
            score[skip[k]] = (hn_real)GONE;
            a.negatives--;
        }
    if (a.negatives < 1) {
        for (int64_t j = 0; j < n; j++)
            score[j] = 0;
        *positive = 0;
        if (keys->factor)
            *keys->factor = 0;
        return 0;
    }
    hn_real high = keys->factor ? 1 : largest(score, n), steep;
    a.high = (double)high;
    a.rate = weighting->clip > 0 && max > 0 ? weighting->beta * weighting->clip / max
                                            : weighting->beta / spec->temperature;
    steep = (hn_real)(a.rate + 1 / spec->temperature);
    bool weighted = a.rate > 0;
    if (weighting->by_mixture)
        mixture_powers(spec, n, score, &a);
    else
        a.weight = weighted ? sum_powers(score, n, (hn_real)a.rate, high) : a.negatives;
    if (!weighting->by_mixture)
        a.mass =
            weighted ? sum_powers(score, n, steep, high) : powers(score, n, steep, high, score);
    double by_log_w, by_positive;
    double loss = judge(spec, &a, (double)*positive, &by_log_w, &by_positive);
    by_log_w *= scale;
    if (weighted) {
        const hn_real rate[2] = {steep, (hn_real)a.rate};
        const hn_real by[2] = {(hn_real)(by_log_w * (double)steep / a.mass),
                               (hn_real)(by_log_w * a.rate / a.weight)};
        differences(score, n, high, rate, by);
    } else {
        hn_real factor = (hn_real)(by_log_w / spec->temperature / a.mass);
        if (keys->factor)
            *keys->factor = factor;
        else
            scale_all(score, n, factor);
    }
    for (int k = 0; k < 2; k++)
        if (skip[k] >= 0)
            score[skip[k]] = 0;
    *positive = (hn_real)(by_positive * scale);
    return loss;
}
