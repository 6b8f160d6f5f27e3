// The training loss of batches under a loss and a weighting, and how much of it false negatives
// carry (docs/reference/methods.md; HC 6.1, 6.2).
//
//   fn_mass      = sum of w_ij over pairs of the same label / sum of w_ij over labelled pairs
//   fn_loss_mass = mean over anchors of max(0, sum over negatives of the anchor's label of
//                  w_ij neg_ij - n tau+ pos) / ((1 - tau+) Ng)
//
// Keys are the distinct items of a batch. loss_batch, clamp_rate and fn_loss_mass are means over
// drawn anchors: an item drawn twice counts twice there, but is one key. fn_mass is a ratio over
// pairs of distinct items, as fn_ratio is, which it equals where all weights are equal. Anchors
// without a negative have loss 0; those without a label, or without a labelled negative, are not in
// the masses.
#include "metrics/metric.h"
#include "metrics/pairs.h"

#include <math.h>

enum { ANCHORS, LOSS, CLAMPED, SAME, LABELLED, SHARE, SHARERS, RECORD };
enum { ANCHOR_BLOCK = 64 }; // anchors whose losses are taken at once
enum { LOSS_BATCH, CLAMP_RATE, FN_MASS, FN_LOSS_MASS, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"loss_batch", HN_COLUMN_REAL, "nat",
     "loss over the keys of the batch, as weighted, mean over drawn anchors", HN_NEITHER},
    {"clamp_rate", HN_COLUMN_REAL, "share",
     "share of drawn anchors whose debiased sum hit its lower bound", HN_SMALLER},
    {"fn_mass", HN_COLUMN_REAL, "share", "share of the weights that lie on pairs of the same label",
     HN_SMALLER},
    {"fn_loss_mass", HN_COLUMN_REAL, "share",
     "share of the negatives' sum that comes from negatives of the anchor's label", HN_SMALLER},
};

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

static void add_run(const struct hn_run *run, const float *score, struct hn_anchor *anchor) {
    if (run->count > 0)
        anchor->run[anchor->runs++] =
            (struct hn_anchor_run){score, run->guide, run->kind, run->count};
}

static struct hn_anchor make_anchor(const struct hn_pairs *p, struct sides sides, int view,
                                    int32_t a) {
    struct hn_anchor anchor = {.positive = (double)hn_pairs_positive(p, a)};
    struct hn_run run[2];
    (void)hn_pairs_runs(p, a, false, run);
    for (int r = 0; r < 2 && sides.own; r++)
        add_run(&run[r], view == 0 ? run[r].same1 : run[r].same2, &anchor);
    for (int r = 0; r < 2 && sides.other; r++)
        add_run(&run[r], view == 0 ? run[r].score : run[r].score_t, &anchor);
    return anchor;
}

// The largest |score| of a negative; all scores are added to the counts.
static double look_at_scores(const struct hn_pairs *p, const struct hn_metric_env *env,
                             struct hn_score_counts *counts) {
    float max = 0;
    for (int view = 0; view < 2; view++) {
        struct sides sides = sides_of(env->loss, view);
        for (int32_t a = 0; a < p->n && (sides.own || sides.other); a++) {
            struct hn_anchor anchor = make_anchor(p, sides, view, a);
            for (int r = 0; r < anchor.runs; r++)
                for (int32_t j = 0; j < anchor.run[r].n; j++) {
                    max = fmaxf(max, fabsf(anchor.run[r].score[j]));
                    hn_score_count(counts, (double)anchor.run[r].score[j]);
                }
        }
    }
    return (double)max;
}

static void add_anchor(const struct hn_anchor_loss *l, double times, double *record) {
    record[ANCHORS] += times;
    record[LOSS] += times * l->loss;
    record[CLAMPED] += l->clamped ? times : 0;
    record[SAME] += l->weight_same;
    record[LABELLED] += l->weight_labelled;
    if (l->weight_labelled > 0) {
        record[SHARE] += times * l->same_share;
        record[SHARERS] += times;
    }
}

// Sums of weights v and of v neg over an anchor's negatives. Weights that are all 1 are counted.
static void add_side(const struct hn_side_sums *weight, const struct hn_side_sums *mass,
                     const struct hn_pairs *p, int32_t a, struct hn_anchor_sums *to) {
    double n = (double)hn_pairs_negatives(p, a);
    to->n += n;
    to->weight += weight ? weight->all[a] : n;
    to->weight_same += weight ? weight->same[a] : p->same[a];
    to->weight_labelled += weight && p->unlabelled ? weight->labelled[a]
                           : weight                ? weight->all[a]
                                                   : p->labelled[a];
    to->mass += mass->all[a];
    to->mass_same += mass->same[a];
}

// weight: NULL where all weights are 1.
static void add_view(const struct hn_metric_env *env, const struct hn_pairs *p, int view,
                     const struct hn_exp_sums *weight, const struct hn_exp_sums *mass,
                     double *record) {
    struct sides sides = sides_of(env->loss, view);
    const int own = HN_OWN1 + view, other = HN_OTHER1 + view;
    struct hn_anchor_sums sums[ANCHOR_BLOCK];
    struct hn_anchor_loss loss[ANCHOR_BLOCK];
    for (int32_t from = 0; from < p->n; from += ANCHOR_BLOCK) {
        int32_t n = p->n - from < ANCHOR_BLOCK ? p->n - from : ANCHOR_BLOCK;
        for (int32_t k = 0; k < n; k++) {
            int32_t a = from + k;
            sums[k] =
                (struct hn_anchor_sums){.positive = (double)hn_pairs_positive(p, a), .high = 1};
            if (sides.own)
                add_side(weight ? &weight->side[own] : NULL, &mass->side[own], p, a, &sums[k]);
            if (sides.other)
                add_side(weight ? &weight->side[other] : NULL, &mass->side[other], p, a, &sums[k]);
        }
        hn_anchor_losses(&env->weighting, env->temperature, n, sums, loss);
        for (int32_t k = 0; k < n; k++)
            add_anchor(&loss[k], (double)p->times[from + k], record);
    }
}

static void by_sums(const struct hn_metric_env *env, const struct hn_pairs *p, double *record) {
    double beta = env->weighting.beta, tau = env->temperature;
    struct sides first = sides_of(env->loss, 0), second = sides_of(env->loss, 1);
    unsigned products = (first.own ? HN_SUMS_OWN1 : 0) | (second.own ? HN_SUMS_OWN2 : 0) |
                        (first.other || second.other ? HN_SUMS_OTHER : 0);
    const struct hn_exp_sums *mass = hn_exp_sums(p, (beta + 1) / tau, products);
    const struct hn_exp_sums *weight = beta > 0 ? hn_exp_sums(p, beta / tau, products) : NULL;
    add_view(env, p, 0, weight, mass, record);
    if (second.own || second.other)
        add_view(env, p, 1, weight, mass, record);
}

static void by_anchors(const struct hn_metric_env *env, const struct hn_pairs *p, double *record) {
    struct hn_weighting_params weighting = env->weighting;
    struct hn_score_counts counts = {{0}};
    bool looks = weighting.clip > 0 || weighting.fit_rounds > 0;
    double max = looks ? look_at_scores(p, env, &counts) : 0;
    if (weighting.fit_rounds > 0)
        hn_mixture_fit(&counts, weighting.fit_prior, weighting.fit_rounds, &weighting.mixture);
    for (int view = 0; view < 2; view++) {
        struct sides sides = sides_of(env->loss, view);
        for (int32_t a = 0; a < p->n && (sides.own || sides.other); a++) {
            struct hn_anchor anchor = make_anchor(p, sides, view, a);
            struct hn_anchor_loss l = hn_anchor_loss(&weighting, env->temperature, max, &anchor);
            add_anchor(&l, (double)p->times[a], record);
        }
    }
}

static void batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                  int thread, double *record) {
    (void)state, (void)thread;
    (hn_weighting_sums(&env->weighting, env->temperature) ? by_sums : by_anchors)(env, p, record);
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : NAN; }

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)env, (void)arrays;
    double total[RECORD] = {0};
    for (int64_t b = 0; b < batches; b++)
        for (int k = 0; k < RECORD; k++)
            total[k] += record[b * RECORD + k];
    value[LOSS_BATCH] = ratio(total[LOSS], total[ANCHORS]);
    value[CLAMP_RATE] = ratio(total[CLAMPED], total[ANCHORS]);
    value[FN_MASS] = ratio(total[SAME], total[LABELLED]);
    value[FN_LOSS_MASS] = ratio(total[SHARE], total[SHARERS]);
    return HN_OK;
}

const struct hn_metric_type hn_metric_loss = {
    .name = "loss",
    .family = "loss",
    .summary = "Training loss as weighted, and the share of false negatives in it",
    .source = "BS equations 1, 16, 17; HC 6.1, 6.2",
    .needs = HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_VIEWS | HN_METRIC_USES_LABELS,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
