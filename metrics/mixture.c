#include "metrics/weighting.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdbool.h>

static const double min = 1e-12; // of responsibilities and variances

static double middle(int bin) { return (bin + 0.5) / HN_SCORE_BINS; }

// Sums of w, w u and w u^2, w being what a component has of the scores of a bin.
struct moments {
    double w, u, square;
};

static void expect(const struct hn_mixture *m, const struct hn_score_counts *c,
                   struct moments sum[2]) {
    double log_scale[2]; // of each component's share and density
    for (int y = 0; y < 2; y++) {
        sum[y] = (struct moments){0, 0, 0};
        log_scale[y] = log(m->share[y]) - gsl_sf_lnbeta(m->alpha[y], m->beta[y]);
    }
    for (int bin = 0; bin < HN_SCORE_BINS; bin++) {
        double u = middle(bin), log_u = hn_log(u), log_rest = hn_log(1 - u), r[2];
        if (c->bin[bin] == 0)
            continue;
        for (int y = 0; y < 2; y++)
            r[y] = fmax(min, hn_exp((m->alpha[y] - 1) * log_u + (m->beta[y] - 1) * log_rest +
                                    log_scale[y]));
        for (int y = 0; y < 2; y++) {
            double w = (double)c->bin[bin] * r[y] / (r[0] + r[1]);
            sum[y].w += w;
            sum[y].u += w * u;
            sum[y].square += w * u * u;
        }
    }
}

// The Beta distributions of these moments. False, and m as it was, if one is degenerate.
static bool maximise(const struct moments sum[2], struct hn_mixture *m) {
    struct hn_mixture next = *m;
    for (int y = 0; y < 2; y++) {
        double mean = sum[y].u / sum[y].w, variance = sum[y].square / sum[y].w - mean * mean;
        if (!(sum[y].w > min) || !(variance > min))
            return false;
        next.alpha[y] = mean * (mean * (1 - mean) / variance - 1);
        next.beta[y] = next.alpha[y] * (1 - mean) / mean;
        next.share[y] = sum[y].w / (sum[0].w + sum[1].w);
    }
    if (next.beta[1] < 1) // as the code: the upper density does not rise without limit
        next.beta[1] = 1.01;
    if (!(next.alpha[0] > 0 && next.alpha[1] > 0 && next.beta[0] > 0))
        return false;
    *m = next;
    return true;
}

void hn_mixture_fit(const struct hn_score_counts *c, double prior, int64_t rounds,
                    struct hn_mixture *out) {
    *out = (struct hn_mixture){.alpha = {1, 2}, .beta = {2, 1}, .share = {1 - prior, prior}};
    struct moments sum[2];
    bool going = true;
    for (int64_t round = 0; round < rounds && going; round++) {
        expect(out, c, sum);
        going = maximise(sum, out);
    }
    out->level = log(out->share[1] / out->share[0]) - gsl_sf_lnbeta(out->alpha[1], out->beta[1]) +
                 gsl_sf_lnbeta(out->alpha[0], out->beta[0]);
    out->by_log = out->alpha[1] - out->alpha[0];
    out->by_log_rest = out->beta[1] - out->beta[0];
}
