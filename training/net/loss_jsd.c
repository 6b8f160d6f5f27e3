// SPDX-License-Identifier: GPL-3.0-or-later
// The Jensen-Shannon estimator of InfoGraph (Sun et al. 2020; Nowozin et al. 2016), with hard
// negatives as HC's appendix B.2 has them. With T = s / tau, sp(x) = log(1 + e^x), S the logistic
// function, c = beta / tau (or as `clip` has it), for a node of graph G:
//   loss = sp(-T_G) + N,  N = sum_j w_j sp(T_j),  w_j = e^(c s_j) / sum_k e^(c s_k) over j, k != G
//   dloss/ds_G = -S(-T_G) / tau,  dloss/ds_j = w_j (S(T_j) / tau + c (sp(T_j) - N))
// The largest |s| of `clip` counts as a constant.
#include "core/clones.h"
#include "core/exp.h"
#include "training/net/loss.h"

#include <math.h>
#include <string.h>

struct nodes {
    struct hn_workers workers;
    const struct hn_loss_spec *spec;
    int64_t n, graphs, d;
    const hn_real *u, *g;
    const int32_t *own;
    double rate; // c
    struct hn_loss_work *work;
};

// One node: scores in blocks, which loops take at once.
enum { BLOCK = 256 };
struct node {
    double rate, tau, high, weight, mean; // mean: N
};

HN_CLONES
static void sum_block(struct node *node, const hn_real *score, int64_t n, int64_t own) {
    double v[BLOCK], loss[BLOCK];
    for (int64_t j = 0; j < n; j++) {
        v[j] = hn_exp(node->rate * ((double)score[j] - node->high));
        loss[j] = hn_softplus((double)score[j] / node->tau);
    }
    if (own >= 0 && own < n)
        v[own] = loss[own] = 0;
    node->weight += hn_lane_sum(v, n);
    node->mean += hn_lane_dot(v, loss, n);
}

HN_CLONES
static void turn_block(const struct node *node, double scale, int64_t n, hn_real *score) {
    const struct node b = *node;
    for (int64_t j = 0; j < n; j++) {
        double t = (double)score[j] / b.tau;
        double w = hn_exp(b.rate * ((double)score[j] - b.high)) / b.weight;
        double derivative = hn_logistic(t) / b.tau + b.rate * (hn_softplus(t) - b.mean);
        score[j] = (hn_real)(scale * w * derivative);
    }
}

// Scores of a node become gradients. Returns the loss.
static double node_loss(const struct nodes *b, int32_t own, hn_real *score) {
    double scale = 1 / (double)b->n, positive = (double)score[own] / b->spec->temperature;
    struct node node = {b->rate, b->spec->temperature, -INFINITY, 0, 0};
    for (int64_t j = 0; j < b->graphs; j++)
        if (j != own)
            node.high = fmax(node.high, (double)score[j]);
    for (int64_t from = 0; from < b->graphs; from += BLOCK)
        sum_block(&node, score + from, hn_min(BLOCK, b->graphs - from), own - from);
    node.mean = node.weight > 0 ? node.mean / node.weight : 0;
    turn_block(&node, scale, b->graphs, score);
    score[own] = (hn_real)(-scale * hn_logistic(-positive) / node.tau);
    return hn_softplus(-positive) + node.mean;
}

static void score_block(const struct nodes *b, int64_t first, int64_t rows) {
    hn_product(b->workers, (struct hn_factor){b->u + first * b->d, b->d, false},
               (struct hn_factor){b->g, b->d, true}, rows, b->graphs, b->d, false, b->work->score,
               b->graphs);
}

static double largest_score(const struct nodes *b) {
    double max = 0;
    for (int64_t first = 0; first < b->n; first += b->work->block) {
        int64_t rows = hn_min(b->work->block, b->n - first);
        score_block(b, first, rows);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < b->graphs; j++)
                if (j != b->own[first + i])
                    max = fmax(max, fabs((double)b->work->score[i * b->graphs + j]));
    }
    return max;
}

double hn_loss_jsd(struct hn_workers workers, const struct hn_loss_spec *spec, int64_t n,
                   int64_t graphs, int64_t d, const hn_real *u, const hn_real *g,
                   const int32_t *own, hn_real *du, hn_real *dg, struct hn_loss_work *work) {
    const struct hn_weighting_params *weighting = &spec->weighting;
    struct nodes b = {workers, spec, n, graphs, d, u, g, own, weighting->beta / spec->temperature,
                      work};
    double max = weighting->clip > 0 ? largest_score(&b) : 0, sum = 0;
    if (max > 0)
        b.rate = weighting->beta * weighting->clip / max;
    memset(dg, 0, (size_t)(graphs * d) * sizeof *dg);
    for (int64_t first = 0; first < n; first += work->block) {
        int64_t rows = hn_min(work->block, n - first);
        score_block(&b, first, rows);
#pragma omp parallel for num_threads(workers.threads) schedule(static)
        for (int64_t i = 0; i < rows; i++)
            work->value[first + i] = node_loss(&b, own[first + i], work->score + i * graphs);
        hn_product(workers, (struct hn_factor){work->score, graphs, false},
                   (struct hn_factor){g, d, false}, rows, d, graphs, false, du + first * d, d);
        hn_product(workers, (struct hn_factor){work->score, graphs, true},
                   (struct hn_factor){u + first * d, d, false}, graphs, d, rows, true, dg, d);
    }
    for (int64_t i = 0; i < n; i++)
        sum += work->value[i];
    return sum / (double)n;
}
