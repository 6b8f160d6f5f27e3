// SPDX-License-Identifier: GPL-3.0-or-later
// Losses that take no weighting: minus the cosine (NS equation 4), cross entropy; and losses of
// several positives.
#include "core/clones.h"
#include "core/exp.h"
#include "training/net/loss.h"

#include <math.h>

double hn_loss_siamese(int64_t n, int64_t d, const hn_real *p, const hn_real *z, hn_real *dp,
                       hn_real *dz) {
    double sum = 0;
    hn_real scale = (hn_real)(-1 / (double)n);
    for (int64_t i = 0; i < n; i++) {
        double cosine = 0;
        for (int64_t j = i * d; j < (i + 1) * d; j++) {
            cosine += (double)p[j] * (double)z[j];
            dp[j] = scale * z[j];
            if (dz)
                dz[j] = scale * p[j];
        }
        sum += cosine;
    }
    return -sum / (double)n;
}

// One row's loss, and its gradients times scale; gradient may be logit.
static double cross_entropy_row(int64_t classes, const hn_real *logit, int32_t label, double scale,
                                hn_real *gradient) {
    double high = -INFINITY, sum = 0, own = (double)logit[label];
    for (int64_t c = 0; c < classes; c++)
        high = fmax(high, (double)logit[c]);
    for (int64_t c = 0; c < classes; c++)
        sum += hn_exp((double)logit[c] - high);
    for (int64_t c = 0; c < classes; c++) {
        double share = hn_exp((double)logit[c] - high) / sum;
        gradient[c] = (hn_real)(scale * (share - (c == label)));
    }
    // cppcheck-suppress invalidFunctionArg ; there are classes: the largest logit alone makes sum 1
    return log(sum) + high - own;
}

double hn_loss_cross_entropy(int64_t n, int64_t classes, const hn_real *logit, const int32_t *label,
                             hn_real *dlogit) {
    int64_t known = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        known += label[i] >= 0;
    for (int64_t i = 0; i < n; i++) {
        hn_real *gradient = dlogit + i * classes;
        if (label[i] >= 0)
            sum += cross_entropy_row(classes, logit + i * classes, label[i], 1 / (double)known,
                                     gradient);
        for (int64_t c = 0; c < classes && label[i] < 0; c++)
            gradient[c] = 0;
    }
    return known > 0 ? sum / (double)known : NAN;
}

// Decides an anchor's positives besides the other view of its item.
struct positives {
    const struct hn_loss_spec *spec;
    int64_t n, anchor, twin;
    int32_t label;      // of the anchor, -1 = none
    const float *guide; // [n] of a guided weighting, else NULL
    struct hn_masker masker;
};

// The score by which the mask decides.
static double shown(const struct positives *p, int64_t j, double score) {
    return p->guide ? (double)p->guide[j % p->n] : score;
}

static struct positives find_positives(const struct hn_loss_spec *spec, int64_t n, int64_t a,
                                       const hn_real *score) {
    struct positives p = {.spec = spec, .n = n, .anchor = a, .twin = (a + n) % (2 * n)};
    p.label = spec->label ? spec->label[a % n] : -1;
    p.guide = spec->guide ? spec->guide + a % n * n : NULL;
    hn_masker_open(&spec->weighting, (double)score[p.twin], &p.masker);
    for (int64_t j = 0; j < 2 * n && spec->weighting.mask == HN_MASK_TOP; j++)
        if (j != a && j != p.twin)
            hn_masker_see(&p.masker, shown(&p, j, (double)score[j]));
    return p;
}

static bool is_positive(const struct positives *p, int64_t j, double score) {
    if (j == p->anchor || j == p->twin)
        return j == p->twin;
    if (p->spec->objective == HN_OBJECTIVE_SUPCON)
        return p->label >= 0 && p->spec->label[j % p->n] == p->label;
    return p->spec->weighting.mask != HN_MASK_NONE &&
           hn_masker_drops(&p->masker, shown(p, j, score));
}

enum { BLOCK = 256 };

// power[n] of a block.
HN_CLONES
static void find_powers(const hn_real *score, int64_t n, double high, double tau, double *power) {
    for (int64_t j = 0; j < n; j++)
        power[j] = hn_exp(((double)score[j] - high) / tau);
}

double hn_loss_positives(const struct hn_loss_spec *spec, double scale, int64_t n, int64_t a,
                         hn_real *score) {
    const struct positives found = find_positives(spec, n, a, score);
    int64_t positives = 0;
    double tau = spec->temperature, high = -INFINITY, sum = 0, of_positives = 0;
    for (int64_t j = 0; j < 2 * n; j++)
        if (j != a)
            high = fmax(high, (double)score[j]);
    double power[BLOCK];
    for (int64_t j = 0; j < 2 * n; j++) {
        if (j % BLOCK == 0)
            find_powers(score + j, hn_min(BLOCK, 2 * n - j), high, tau, power);
        if (j == a)
            continue;
        sum += power[j % BLOCK];
        if (!is_positive(&found, j, (double)score[j]))
            continue;
        of_positives += (double)score[j];
        positives++;
    }
    for (int64_t j = 0; j < 2 * n; j++) {
        if (j % BLOCK == 0)
            find_powers(score + j, hn_min(BLOCK, 2 * n - j), high, tau, power);
        bool positive = is_positive(&found, j, (double)score[j]);
        double share = power[j % BLOCK] / sum;
        score[j] =
            (hn_real)(j == a ? 0 : scale / tau * (share - (positive ? 1 / (double)positives : 0)));
    }
    // cppcheck-suppress invalidFunctionArg ; the largest score alone makes sum 1
    return log(sum) + high / tau - of_positives / (double)positives / tau;
}
