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
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/simd.h"
#include "metrics/pairs.h"

#include <math.h>
#include <string.h>
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
    {HN_REAL_OPTION(struct gist_params, margin, "margin", "0", 0, 2,
                    "how far below the positive's score a negative's has to be to stay")},
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
    .source = "GISTEmbed (Solatorio 2024)",
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

// log(max(0, exp(a) - exp(b)))
static double log_difference(double a, double b) {
    return b <= -INFINITY ? a : a > b ? a + log1p(-exp(b - a)) : -INFINITY;
}

bool hn_weighting_sums(const struct hn_weighting_params *weighting, double tau) {
    return weighting->mask == HN_MASK_NONE && !weighting->by_mixture && weighting->clip <= 0 &&
           hn_exp_sums_fit((weighting->beta + 1) / tau);
}

struct hn_anchor_loss hn_anchor_loss_of(const struct hn_weighting_params *weighting, double tau,
                                        double positive, const struct hn_anchor_sums *s) {
    if (s->n == 0)
        return (struct hn_anchor_loss){.log_ng = -INFINITY};
    double n = (double)s->n, log_rest = log1p(-weighting->tau_plus), taken = -INFINITY;
    double scale = weighting->log_factor + log(n / s->weight) + s->high / tau;
    if (weighting->tau_plus > 0)
        taken = log(n * weighting->tau_plus) + positive / tau;
    double log_ng = log_difference(scale + log(s->mass), taken) - log_rest;
    double min = weighting->clamp == HN_CLAMP_NONE
                     ? -INFINITY
                     : (weighting->clamp == HN_CLAMP_EACH ? log(n) : 0) - 1 / tau;
    struct hn_anchor_loss out = {.n = s->n, .clamped = log_ng < min};
    out.log_ng = out.clamped ? min : log_ng;
    double above = out.log_ng - positive / tau;
    out.loss = fmax(above, 0) + log1p(exp(-fabs(above)));
    out.weight_same = s->weight_same * n / s->weight;
    out.weight_labelled = s->weight_labelled * n / s->weight;
    double same = log_difference(scale + log(s->mass_same), taken) - log_rest;
    out.same_share = exp(same - out.log_ng);
    return out;
}

struct hn_anchor_loss hn_anchor_loss(const struct hn_weighting_params *weighting, double tau,
                                     double max, const struct hn_anchor *anchor) {
    struct hn_anchor_sums s = {0};
    struct hn_masker masker, *mask = weighting->mask == HN_MASK_NONE ? NULL : &masker;
    if (mask)
        open_mask(weighting, anchor, mask);
    // max = 0: all scores are 0, and so are all exponents.
    double slope = weighting->clip > 0 && max > 0 ? weighting->beta * weighting->clip / max
                                                  : weighting->beta / tau;
    s.high = find_high(anchor, mask);
    if (s.high > -INFINITY)
        add_all(anchor, mask, weighting->by_mixture ? &weighting->mixture : NULL, slope, tau, &s);
    return hn_anchor_loss_of(weighting, tau, anchor->positive, &s);
}
