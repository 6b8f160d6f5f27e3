// SPDX-License-Identifier: GPL-3.0-or-later
// Losses and weightings: InfoNCE and its kin (BS equations 1, 16, 17), the debiased loss (Chuang et
// al. 2020) and hard negatives (HC section 3, figures 13 and 14, appendix D.1).
//
// `hcl` reweights by HC's q_beta: w_j = neg_j^beta / mean_j neg_j^beta. HC's printed figure 13 has
// w_j = beta neg_j / mean_j neg_j instead and clamps at exp(-1/tau), n times too low; `form` offers
// both. As printed, the figure subtracts n tau_plus pos inside a sum over n negatives; we subtract
// it once.
//
// Our deviations. `clip`: HC's text requires the products of which the weights are made to lie in
// [-2, 2]; the code of its figure 14 scales exp(products) by a constant, which the following mean
// cancels, so that it does nothing. We scale the products, by C / max |s| over the batch, as the
// text says; scores being cosines, this replaces 1/tau in the weights and nothing else. `anneal`:
// HC lowers beta in equal stairs over the epochs; here it falls linearly with the training step of
// the embeddings.
//
// `gist` and `fnc` drop what is likely to be a false negative. GISTEmbed (Solatorio 2024) drops
// negatives that a guide model finds more similar to the anchor than its positive, less a margin;
// FNC (Huynh et al., WACV 2022, elimination) those whose cosine to further views of the anchor is
// among the k largest or above a threshold. Strictness and margins of `gist` are those of
// sentence-transformers (losses/GISTEmbedLoss.py). Our deviations: by itself the guide is the
// encoder and its scores those of the loss; a teacher as the guide has one row an item, so that a
// positive is 1 to it and margins of either kind are the same. FNC has one support view; its
// attraction is a loss of training (training/net/loss.h). The defaults of `fnc` were not verified.
//
// `progcl` (ProGCL-weight, Xia et al., ICML 2022, equations of section 4): w_j = v_j / mean v,
// v_j = P(true negative | s_j) (s_j + 1) / 2 by a mixture of two Beta distributions. Our
// deviations: the mixture is fitted for every batch, to bins of the scores of all its negatives,
// where the authors' code fits it once, in one epoch, to 100 columns, and keeps the weights; scores
// of one view have weights of their own, in the code those of the other view's.
#include "metrics/weighting.h"

#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <strings.h>

const struct hn_loss_type hn_losses[] = {
    [HN_LOSS_NTXENT] = {"ntxent", "Anchors from both views; 2B - 2 negatives from both views",
                        "BS equation 16"},
    [HN_LOSS_INFONCE] = {"infonce",
                         "Anchors from the first view; B - 1 negatives from the same view",
                         "BS equation 1"},
    [HN_LOSS_OTHER_VIEW] = {"other-view",
                            "Anchors from the first view; B - 1 negatives from the other view",
                            "BS equation 17"},
    {.name = NULL},
};

const char *hn_ambiguous_loss(const char *name) {
    return strcasecmp(name, "dcl") ? NULL
                                   : "'dcl' means debiased to some (Chuang et al.) and decoupled "
                                     "to others (Yeh et al.): say which";
}

// A weighting of a file of its own is a line here, in the order of listings.
#define HN_WEIGHTINGS(X)                                                                           \
    X(none)                                                                                        \
    X(debiased)                                                                                    \
    X(hcl)                                                                                         \
    X(gist)                                                                                        \
    X(fnc)                                                                                         \
    X(progcl)
#define X(name) extern const struct hn_weighting_type hn_weighting_##name;
HN_WEIGHTINGS(X)
#undef X

enum form { EQUATION, FIGURE13 };
static const char *const forms[] = {"equation", "figure13", NULL};

struct params {
    double tau_plus, beta, clip;
    int form;
    int64_t anneal;
};

enum margin { ABSOLUTE, RELATIVE };
static const char *const margins[] = {"absolute", "relative", NULL};
enum guide { ENCODER, TEACHER };
static const char *const guides[] = {"encoder", "teacher", NULL};
struct gist_params {
    double margin;
    int strategy, guide;
};
static const struct hn_option gist_options[] = {
    {HN_REAL_OPTION(struct gist_params, margin, "margin", "0", -2, 2,
                    "how far below the positive's score a negative's has to be to stay; below 0: "
                    "it may be above by as much")},
    {HN_CHOICE_OPTION(struct gist_params, strategy, "strategy", "absolute", margins,
                      "the margin is subtracted, or a share of the positive's score")},
    {HN_CHOICE_OPTION(struct gist_params, guide, "guide", "encoder", guides,
                      "whose similarities tell: the scores of the loss, or those of a teacher "
                      "(/teacher), to which a positive's is 1")},
    {0}};

enum eliminate { THRESHOLD, TOP };
static const char *const eliminates[] = {"threshold", "top", NULL};
struct fnc_params {
    int eliminate;
    double threshold;
    int64_t top;
};
static const struct hn_option fnc_options[] = {
    {HN_CHOICE_OPTION(struct fnc_params, eliminate, "eliminate", "threshold", eliminates,
                      "negatives that are dropped: above the threshold, or the `top` largest")},
    {HN_REAL_OPTION(struct fnc_params, threshold, "threshold", "0.7", -1, 1,
                    "score above which a negative is dropped")},
    {HN_INT_OPTION(
        struct fnc_params, top, "top", "10", 1, HN_MASK_TOP_MAX,
        "largest scores of an anchor that are dropped; about as many as a batch holds of its "
        "class")},
    {0}};

struct progcl_params {
    double prior;
    int64_t rounds, from;
};
static const struct hn_option progcl_options[] = {
    {HN_REAL_OPTION(struct progcl_params, prior, "prior", "0.05", 0.0001, 0.9999,
                    "share of false negatives that the fit of the mixture begins with")},
    {HN_INT_OPTION(struct progcl_params, rounds, "rounds", "10", 1, 10000,
                   "rounds of expectation and maximisation of a fit")},
    {HN_INT_OPTION(struct progcl_params, from, "from", "0", 0, 0x1p53,
                   "training step before which every negative counts once")},
    {0}};

static const struct hn_option none_options[] = {{0}};

#define TAU_PLUS                                                                                   \
    HN_REAL_OPTION(                                                                                \
        struct params, tau_plus, "tau_plus", "0.1", 0, 0.99,                                       \
        "assumed share of negatives with the anchor's class: 1 / (number of classes) if "          \
        "these are equal")
static const struct hn_option debiased_options[] = {{TAU_PLUS}, {0}};
static const struct hn_option hcl_options[] = {
    {TAU_PLUS},
    {HN_REAL_OPTION(struct params, beta, "beta", "1", 0, 1000,
                    "concentration on hard negatives; 0 = all alike")},
    {HN_CHOICE_OPTION(struct params, form, "form", "equation", forms,
                      "weights as HC's equation and code, or as its figure 13 prints them")},
    {HN_INT_OPTION(struct params, anneal, "anneal", NULL, 0, 0x1p53,
                   "training steps in which beta falls linearly to 0; unset or 0 = constant")},
    {HN_REAL_OPTION(struct params, clip, "clip", NULL, 0.001, 1000,
                    "scale the products in the weights to [-clip, clip] instead of 1/temperature")},
    {0}};

static struct hn_weighting_params resolve_none(const void *params, int64_t step) {
    (void)params, (void)step;
    return (struct hn_weighting_params){.clamp = HN_CLAMP_NONE};
}

static struct hn_weighting_params resolve_debiased(const void *params, int64_t step) {
    const struct params *p = params;
    (void)step;
    return (struct hn_weighting_params){.tau_plus = p->tau_plus, .clamp = HN_CLAMP_EACH};
}

static struct hn_weighting_params resolve_hcl(const void *params, int64_t step) {
    const struct params *p = params;
    bool anneals = p->anneal > 0; // unset is negative
    double left = anneals ? fmax(0, 1 - (double)step / (double)p->anneal) : 1;
    struct hn_weighting_params weighting = {.beta = p->beta * left,
                                            .tau_plus = p->tau_plus,
                                            .clip = p->clip > 0 ? p->clip : 0,
                                            .clamp = HN_CLAMP_EACH};
    if (p->form == FIGURE13) {
        weighting.log_factor = log(weighting.beta);
        weighting.beta = 1;
        weighting.clamp = HN_CLAMP_ONCE;
    }
    return weighting;
}

static struct hn_weighting_params resolve_gist(const void *params, int64_t step) {
    const struct gist_params *p = params;
    (void)step;
    return (struct hn_weighting_params){.mask = p->strategy == ABSOLUTE ? HN_MASK_MARGIN
                                                                        : HN_MASK_RATIO,
                                        .mask_by = p->margin,
                                        .guided = p->guide == TEACHER};
}

static struct hn_weighting_params resolve_fnc(const void *params, int64_t step) {
    const struct fnc_params *p = params;
    (void)step;
    if (p->eliminate == TOP)
        return (struct hn_weighting_params){.mask = HN_MASK_TOP, .mask_by = (double)p->top};
    return (struct hn_weighting_params){.mask = HN_MASK_ABOVE, .mask_by = p->threshold};
}

static struct hn_weighting_params resolve_progcl(const void *params, int64_t step) {
    const struct progcl_params *p = params;
    if (step < p->from)
        return (struct hn_weighting_params){.clamp = HN_CLAMP_NONE};
    return (struct hn_weighting_params){
        .by_mixture = true, .fit_rounds = p->rounds, .fit_prior = p->prior};
}

const struct hn_weighting_type hn_weighting_none = {
    .name = "none",
    .summary = "Every negative counts once",
    .source = "BS equations 1, 16, 17",
    .note = "",
    .options = none_options,
    .params_size = sizeof(struct params),
    .resolve = resolve_none,
};
const struct hn_weighting_type hn_weighting_debiased = {
    .name = "debiased",
    .summary = "Takes off what negatives of the anchor's own class are expected to add",
    .source = "Chuang et al. 2020; HC section 2",
    .note = "",
    .options = debiased_options,
    .params_size = sizeof(struct params),
    .resolve = resolve_debiased,
};
const struct hn_weighting_type hn_weighting_hcl = {
    .name = "hcl",
    .summary = "Debiased, and negatives count by exp(beta similarity / temperature)",
    .source = "HC section 3, figures 13 and 14, appendix D.1",
    .note = "clip scales the products, as HC's text says: its figure 14 scales their "
            "exponentials, which the mean cancels; anneal is linear instead of in stairs",
    .options = hcl_options,
    .params_size = sizeof(struct params),
    .resolve = resolve_hcl,
};

const struct hn_weighting_type hn_weighting_gist = {
    .name = "gist",
    .summary = "Drops negatives more similar than the positive, less a margin",
    .source = "GISTEmbed (Solatorio 2024); margin -0.1: the mask of Qwen3 Embedding (2025)",
    .note = "the paper's guide is `guide: teacher`; it has one row an item, so that the margin is "
            "taken off 1, and the paper's margin of 0 drops nothing",
    .options = gist_options,
    .params_size = sizeof(struct gist_params),
    .resolve = resolve_gist,
};
const struct hn_weighting_type hn_weighting_fnc = {
    .name = "fnc",
    .summary = "Drops negatives of the largest scores, by a threshold or by number",
    .source = "FNC (Huynh et al., WACV 2022), false negative elimination",
    .note = "scores are those of the loss, the paper's are means over further views of the anchor; "
            "negatives that equal the last of the largest go too; attraction, which takes them as "
            "positives, is loss attract of training, with the same scores; its equation and the "
            "defaults of threshold and top were not verified",
    .options = fnc_options,
    .params_size = sizeof(struct fnc_params),
    .resolve = resolve_fnc,
};

const struct hn_weighting_type hn_weighting_progcl = {
    .name = "progcl",
    .summary = "Negatives count by their similarity and the probability that they are true ones",
    .source = "ProGCL (Xia et al., ICML 2022), ProGCL-weight",
    .note =
        "the mixture is fitted to every batch, by bins of its scores, the authors' code fits it "
        "once to 100 columns and keeps the weights; there, scores of one view are weighted by "
        "those of the other; ProGCL-mix is left out",
    .options = progcl_options,
    .params_size = sizeof(struct progcl_params),
    .resolve = resolve_progcl,
};

const struct hn_weighting_type *const hn_weightings[] = {
#define X(name) &hn_weighting_##name,
    HN_WEIGHTINGS(X)
#undef X
        NULL};

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
