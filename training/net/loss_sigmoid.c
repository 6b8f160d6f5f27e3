// SPDX-License-Identifier: GPL-3.0-or-later
// The sigmoid loss of SigLIP (Zhai et al., ICCV 2023): every pair of an anchor and a
// key is judged by itself, positive or not. With x_j = s_j / tau + b, sp(x) = log(1 + e^x) and S
// the logistic function, for an anchor:
//   loss = sp(-x+) + sum_j sp(x_j)
//   dloss/ds+ = -S(-x+) / tau,  dloss/ds_j = S(x_j) / tau
#include "core/clones.h"
#include "core/exp.h"
#include "training/net/loss.h"

enum { BLOCK = 256 };
static const double GONE = -1e30; // a score without a loss or a gradient

// Negatives' scores become gradients times scale. Returns the sum of their losses.
HN_CLONES
static double turn_block(double rate, double bias, double scale, int64_t n, hn_real *score) {
    double loss[BLOCK];
    for (int64_t j = 0; j < n; j++) {
        double x = rate * (double)score[j] + bias;
        loss[j] = hn_softplus(x);
        score[j] = (hn_real)(scale * rate * hn_logistic(x));
    }
    return hn_lane_sum(loss, n);
}

double hn_loss_sigmoid(const struct hn_loss_spec *spec, double scale,
                       const struct hn_loss_keys *keys, hn_real *score, hn_real *positive) {
    double rate = 1 / spec->temperature, own = rate * (double)*positive + spec->bias;
    double loss = hn_softplus(-own);
    for (int k = 0; k < 2; k++)
        if (keys->skip[k] >= 0)
            score[keys->skip[k]] = (hn_real)GONE;
    for (int64_t from = 0; from < keys->n; from += BLOCK)
        loss += turn_block(rate, spec->bias, scale, keys->n - from < BLOCK ? keys->n - from : BLOCK,
                           score + from);
    *positive = (hn_real)(-scale * rate * hn_logistic(-own));
    return loss;
}
