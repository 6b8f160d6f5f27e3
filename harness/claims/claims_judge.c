// Verdicts on claims (docs/reference/claims.md).
//
// A claim is a set of comparisons (parts): one for each data set, step, value of `each`, pair of
// settings or neighbouring values of `along`. In a part the values of the two sides are paired by
// seed, and the mean difference d gets a Student interval over seeds. d is turned so that the claim
// says d > 0 (equality: -margin < d < margin).
//   holds         every part's 95 % interval lies wholly on the claimed side. No correction: the
//                 claim is the intersection of its parts, so a false claim is said to hold with
//                 probability at most 2.5 % (intersection-union test; Berger 1982).
//   fails         the interval of some part lies wholly on the other side at level 1 - 0.05 / m,
//                 m parts (Bonferroni), with a deviation no smaller than that of all parts pooled:
//                 a true claim is said to fail with probability at most 2.5 % (5 % for equality).
//                 Without the pooling, skewed values fail over many parts: three that happen to lie
//                 close together have a tiny deviation, and with many parts some three do.
//                 Replicates that all give the same number have no deviation: a sign test.
//   inconclusive  neither; with the number of seeds that decide the undecided parts with
//                 probability .9, if their means and deviations are the true ones.
//   not tested    a table, column, row or second seed is missing.
// A bound is compared in every row and has no spread: it fails by one row.
//
// Every verdict has a p-value, that of the test which gave it: for holds the largest of the parts'
// one-sided ones, for fails the smallest times their number. Those of a report are corrected
// together by Holm's procedure (1979).
#include "harness/claims/claims_private.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEEDED_MAX = 100000,
    CORRECTABLE = 4, // encoders: with three, t has to be 22 to stand a report of 25 entries
};
static const double level = 0.95, power = 0.9;

// Seeds that decide with probability .9 if mean and deviation are these: least n with
// (t.975(n - 1) + t.9(n - 1)) deviation / sqrt(n) <= capacity. -1: more than can be drawn.
static int64_t seeds_needed(double capacity, double deviation) {
    if (!(capacity > 0) || !isfinite(deviation))
        return -1;
    double z = gsl_cdf_ugaussian_Pinv(0.5 + level / 2) + gsl_cdf_ugaussian_Pinv(power);
    double n = pow(z * deviation / capacity, 2);
    if (!(n < NEEDED_MAX))
        return -1;
    int64_t seeds = (int64_t)fmax(2, floor(n));
    for (; seeds < NEEDED_MAX; seeds++) {
        double df = (double)(seeds - 1);
        double t = gsl_cdf_tdist_Pinv(0.5 + level / 2, df) + gsl_cdf_tdist_Pinv(power, df);
        if (t * deviation <= capacity * sqrt((double)seeds))
            break;
    }
    return seeds;
}

// Standard errors from the mean to the end of an interval that leaves `tail` on either side.
static double errors_to(const struct hn_claim_part *part, double tail) {
    return part->batches || part->replicates < 2
               ? gsl_cdf_ugaussian_Qinv(tail)
               : gsl_cdf_tdist_Qinv(tail, (double)(part->replicates - 1));
}

// Standard errors at which a difference is shown with probability .9, for a paired t-test: the
// usual sum of two quantiles.
static double detectable_errors(const struct hn_claim_part *part) {
    return errors_to(part, (1 - level) / 2) + errors_to(part, 1 - power);
}

// The interval at level 1 - 0.05 / m from the one at 95 %.
static double widened(const struct hn_claim_part *part, int64_t m) {
    return errors_to(part, (1 - level) / (double)m / 2) / errors_to(part, (1 - level) / 2);
}

// Deviation of all parts together: the root of their mean variance.
static double pooled_deviation(const struct hn_claim_result *out) {
    double sum = 0;
    for (int64_t i = 0; i < out->parts; i++)
        sum += pow(out->part[i].deviation, 2);
    return sqrt(sum / (double)out->parts);
}

// True if the replicates differ by no more than rounding: there is no deviation to judge by, only
// the sign, which as many replicates share by chance with probability 2^-n.
static bool without_spread(const struct hn_claim_part *part) {
    return (part->hi - part->lo) / 2 <= 1e-12 * fmax(fabs(part->left), fabs(part->right));
}

// Probability of a mean at least `inside` away if the truth is at the edge; half: of the interval.
static double one_sided(const struct hn_claim_part *part, double inside, double half) {
    if (half == 0)
        return inside > 0 ? 0 : 1;
    double errors = inside / half * errors_to(part, (1 - level) / 2);
    return part->batches || part->replicates < 2
               ? gsl_cdf_ugaussian_Q(errors)
               : gsl_cdf_tdist_Q(errors, (double)(part->replicates - 1));
}

static double by_sign(const struct hn_claim_part *part, bool so) {
    return so ? pow(0.5, (double)part->replicates) : 1;
}

// Half the width of equality in this part; negative for a test of direction.
static double margin_of(const struct hn_claim *c, const struct hn_claim_part *part) {
    return c->margin + c->within * fabs(part->right);
}

// m: parts of the claim; pooled: their pooled_deviation().
static void judge_part(const struct hn_claim *c, struct hn_claim_part *part, int64_t m,
                       double pooled) {
    bool lower = c->test == HN_TEST_BELOW || c->test == HN_TEST_FALLS ||
                 c->test == HN_TEST_SOONER || c->test == HN_TEST_SLOPE_BELOW;
    double sign = lower ? -1 : 1;
    double half = (part->hi - part->lo) / 2;
    // Half of the interval that a failure is judged by, at 95 %.
    double cautious = half * (part->deviation > 0 ? fmax(1, pooled / part->deviation) : 1);
    bool still = !c->exact && without_spread(part);
    double d = sign * part->difference, margin = margin_of(c, part);
    bool equal = c->test == HN_TEST_EQUAL || c->test == HN_TEST_SLOPE;
    // Distance into the claimed side; negative on the other.
    double inside = equal ? margin - fabs(d) : d + margin;
    part->error = part->deviation / sqrt((double)part->replicates);
    part->p = part->replicates > 1 ? 2 * gsl_cdf_tdist_Q(fabs(part->difference) / part->error,
                                                         (double)(part->replicates - 1))
                                   : NAN;
    part->detectable = part->replicates > 1 ? part->error * detectable_errors(part) : NAN;
    part->capacity = inside;
    part->margin = equal ? margin : 0;
    part->p_holds = still ? by_sign(part, inside > 0) : one_sided(part, inside, half);
    part->p_fails = still       ? by_sign(part, inside < 0)
                    : half == 0 ? inside <= 0 ? 0 : 1
                                : one_sided(part, -inside, cautious);
    if (still ? part->p_holds <= (1 - level) / 2 : inside > half)
        part->verdict = HN_HOLDS;
    else if (still ? part->p_fails * (double)m <= (1 - level) / 2
                   : inside < -cautious * widened(part, m) || (half == 0 && inside <= 0))
        part->verdict = HN_FAILS;
    else
        part->verdict = HN_INCONCLUSIVE;
    part->still = still;
    part->needed = part->verdict == HN_INCONCLUSIVE && !still
                       ? seeds_needed(fabs(inside), part->deviation)
                       : 0;
}

// The part to be shown: of those with the verdict of the whole, the one with the least capacity.
static void choose(struct hn_claim_result *out) {
    out->decided = -1;
    for (int64_t i = 0; i < out->parts; i++) {
        const struct hn_claim_part *best = out->decided < 0 ? NULL : &out->part[out->decided];
        if (out->part[i].verdict == out->verdict &&
            (!best || out->part[i].capacity < best->capacity))
            out->decided = i;
    }
}

// "8 encoders", or "5 seeds on one encoder".
static void say_replicates(const struct hn_claim_part *part, char *text, size_t size) {
    static const char *const units[] = {[HN_BY_SEED] = "seeds on one encoder",
                                        [HN_BY_ENCODER] = "encoders",
                                        [HN_BY_TRAINING] = "trained encoders",
                                        [HN_BY_REPETITION] = "repetitions"};
    hn_append(text, size, " over %" PRId64 " %s", part->replicates, units[part->kind]);
}

static void say_numbers(const struct hn_claim *c, const struct hn_claim_part *part, char *text,
                        size_t size) {
    if (hn_claim_is_slope(c->test))
        hn_append(text, size, "slope %.3g [%.3g, %.3g]", part->left, part->lo + part->right,
                  part->hi + part->right);
    else if (part->lo == part->hi)
        hn_append(text, size, "%.4g against %.4g", part->left, part->right);
    else
        hn_append(text, size, "%.4g against %.4g, difference %.3g [%.3g, %.3g]", part->left,
                  part->right, part->difference, part->lo, part->hi);
    if (part->margin > 0)
        hn_append(text, size, ", equal within %.2g", part->margin);
    if (part->batches)
        hn_append(text, size, " over batches of one seed");
    else if (part->replicates > 1)
        say_replicates(part, text, size);
    if (!part->batches && part->error > 0 && !(part->margin > 0))
        hn_append(text, size, ", se %.2g, p %.2g", part->error, part->p);
}

static void say_needed(const struct hn_claim_result *out, char *text, size_t size) {
    const struct hn_claim_part *part = &out->part[out->decided];
    const char *what = part->batches                 ? "times the batches"
                       : part->kind == HN_BY_ENCODER ? "encoders"
                                                     : "seeds";
    if (part->still) {
        hn_append(text, size, "; all %s give the same number: no spread to judge by", what);
        return;
    }
    if (out->needed < 0)
        hn_append(text, size, "; if that is the true difference, not even %d %s would decide",
                  NEEDED_MAX, what);
    else
        hn_append(text, size,
                  "; if that is the true difference, %" PRId64 " %s decide with probability .9",
                  out->needed, what);
    if (!part->batches && part->detectable > 0)
        hn_append(text, size, "; %" PRId64 " detect a difference of %.2g with probability .9",
                  part->replicates, part->detectable);
}

static void explain(const struct hn_claim *c, struct hn_claim_result *out) {
    const struct hn_claim_part *part = &out->part[out->decided];
    char *text = out->reason;
    size_t size = sizeof out->reason;
    *text = '\0';
    if (out->verdict == HN_HOLDS && out->compared > 1)
        hn_append(text, size, "in all %" PRId64 " comparisons; the closest ", out->compared);
    else if (out->verdict == HN_FAILS && out->compared > 1)
        hn_append(text, size, "in %" PRId64 " of %" PRId64 " comparisons; the clearest ",
                  out->failing, out->compared);
    else if (out->compared > 1)
        hn_append(text, size, "%" PRId64 " of %" PRId64 " comparisons hold; undecided ",
                  out->holding, out->compared);
    if (*part->at || *part->dataset)
        hn_append(text, size, "at %s%s%s: ", part->dataset, *part->at && *part->dataset ? ", " : "",
                  part->at);
    say_numbers(c, part, text, size);
    if (out->verdict == HN_INCONCLUSIVE)
        say_needed(out, text, size);
    if (out->alike > 0)
        hn_append(text, size, "; %s left out: %s", hn_counted(out->alike, "comparison").text,
                  hn_claim_alike);
}

static bool spread_missing(const struct hn_claim_result *out) {
    for (int64_t i = 0; i < out->parts; i++)
        if (isnan(out->part[i].lo) || isnan(out->part[i].hi))
            return true;
    return false;
}

static void need_more(struct hn_claim_result *out, int64_t needed) {
    if (out->needed >= 0 && (needed < 0 || needed > out->needed))
        out->needed = needed;
}

static void add_p(struct hn_claim_result *out, const struct hn_claim_part *part) {
    out->p_holds = fmax(out->p_holds, part->p_holds);
    out->p_fails = fmin(out->p_fails, fmin(1, part->p_fails * (double)out->parts));
}

static enum hn_code conclude(const struct hn_claim *c, struct hn_claim_result *out) {
    out->p_holds = out->p_fails = 1;
    if (out->verdict == HN_NOT_TESTED)
        return HN_OK;
    if (c->test == HN_TEST_BOUND) {
        out->p_holds = out->failing > 0;
        out->p_fails = !out->failing;
    } else {
        if (spread_missing(out))
            return hn_claim_not_tested(out,
                                       "a single seed has no spread here: give more (--seeds)");
        out->compared = out->parts;
        out->p_holds = 0;
        double pooled = pooled_deviation(out);
        for (int64_t i = 0; i < out->parts; i++) {
            judge_part(c, &out->part[i], out->parts, pooled);
            out->holding += out->part[i].verdict == HN_HOLDS;
            out->failing += out->part[i].verdict == HN_FAILS;
            need_more(out, out->part[i].needed);
            add_p(out, &out->part[i]);
        }
    }
    out->verdict = out->failing > 0                ? HN_FAILS
                   : out->holding == out->compared ? HN_HOLDS
                                                   : HN_INCONCLUSIVE;
    if (out->verdict != HN_INCONCLUSIVE)
        out->needed = 0;
    choose(out);
    explain(c, out);
    return HN_OK;
}

enum hn_code hn_claim_judge(struct hn_context *ctx, const struct hn_results *r,
                            const struct hn_claim *claim, struct hn_claim_result *out) {
    if (hn_claim_compare(ctx, r, claim, HN_AS_DIFFERENCE, out) || conclude(claim, out))
        return ctx->code;
    if (hn_claim_assay(ctx, r, claim, out)) {
        hn_claim_result_free(ctx, out);
        return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_claim_measure(struct hn_context *ctx, const struct hn_results *r,
                              const struct hn_claim_level *l, struct hn_claim_result *out) {
    const struct hn_claim claim = {
        .of = l->of, .than = l->than, .steps = l->steps, .exact = l->exact};
    if (hn_claim_compare(ctx, r, &claim, l->as, out))
        return ctx->code;
    for (int64_t i = 0; i < out->parts; i++) {
        struct hn_claim_part *part = &out->part[i];
        part->difference *= l->scale;
        part->lo *= l->scale;
        part->hi *= l->scale;
    }
    return HN_OK;
}

static bool of_paper(const struct hn_claim_outcome *o, int64_t i) {
    return o->entry->claim[i].owner == HN_CLAIM_OF_PAPER;
}

static enum hn_verdict worst(const struct hn_claim_outcome *o) {
    static const enum hn_verdict order[] = {HN_FAILS, HN_NOT_TESTED, HN_INCONCLUSIVE};
    for (size_t w = 0; w < sizeof order / sizeof order[0]; w++)
        for (int64_t i = 0; i < o->entry->claims; i++)
            if (of_paper(o, i) && o->claim[i].verdict == order[w])
                return order[w];
    return o->claims > 0 ? HN_HOLDS : HN_NOT_TESTED;
}

static void count_claims(struct hn_claim_outcome *o) {
    for (int64_t i = 0; i < o->entry->claims; i++) {
        o->claims += of_paper(o, i);
        o->holding += of_paper(o, i) && o->claim[i].verdict == HN_HOLDS;
        o->failing += of_paper(o, i) && o->claim[i].verdict == HN_FAILS;
        o->broken +=
            o->entry->claim[i].owner == HN_CLAIM_IDENTITY && o->claim[i].verdict == HN_FAILS;
    }
}

// Encoders that a comparison rests on.
static int64_t encoders_of(const struct hn_claim_part *part) {
    return part->kind == HN_BY_REPETITION ? 0 : part->kind == HN_BY_SEED ? 1 : part->replicates;
}

static bool seen_before(const struct hn_claim_outcome *o, int64_t claim, int64_t part) {
    for (int64_t i = 0; i <= claim; i++)
        for (int64_t k = 0; of_paper(o, i) && k < (i < claim ? o->claim[i].parts : part); k++)
            if (strcmp(o->claim[i].part[k].dataset, o->claim[claim].part[part].dataset) == 0)
                return true;
    return false;
}

// Counts the evidence of the paper's claims: the minimum of encoders over comparisons, and distinct
// data sets.
static void count_rests(struct hn_claim_outcome *o) {
    o->encoders = INT64_MAX;
    for (int64_t i = 0; i < o->entry->claims && !o->entry->no_encoder; i++)
        for (int64_t k = 0; of_paper(o, i) && k < o->claim[i].parts; k++) {
            const struct hn_claim_part *part = &o->claim[i].part[k];
            o->encoders = hn_min(o->encoders, encoders_of(part));
            o->datasets += encoders_of(part) > 0 && !seen_before(o, i, k);
        }
    if (o->encoders == INT64_MAX)
        o->encoders = 0;
}

// All claims have to hold; one that fails is enough, of as many as there are.
static double p_of(const struct hn_claim_outcome *o) {
    double holds = 0, fails = 1;
    for (int64_t i = 0; i < o->entry->claims; i++)
        if (of_paper(o, i)) {
            holds = fmax(holds, o->claim[i].p_holds);
            fails = fmin(fails, o->claim[i].p_fails * (double)o->claims);
        }
    return o->verdict == HN_HOLDS ? holds : o->verdict == HN_FAILS ? fails : 1;
}

static int by_p(const void *a, const void *b) {
    const struct hn_claim_outcome *const *x = a, *const *y = b;
    return ((*x)->p > (*y)->p) - ((*x)->p < (*y)->p);
}

enum hn_code hn_claims_correct(struct hn_context *ctx, struct hn_claim_outcome *outcome,
                               int64_t n) {
    HN_SCOPE(ctx);
    struct hn_claim_outcome **order = hn_alloc(ctx, hn_max(n, 1), sizeof *order);
    int64_t tested = 0;
    bool few = false;
    if (!order)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (outcome[i].verdict != HN_NOT_TESTED) {
            order[tested++] = &outcome[i];
            few |= outcome[i].encoders > 1 && outcome[i].encoders < CORRECTABLE;
        }
    qsort(order, (size_t)tested, sizeof *order, by_p);
    bool stands = true;
    for (int64_t i = 0; i < tested; i++) {
        stands = stands && order[i]->p * (double)(tested - i) <= (1 - level) / 2;
        order[i]->corrected = few ? HN_NOT_CORRECTED : stands ? order[i]->verdict : HN_INCONCLUSIVE;
    }
    return HN_OK;
}

// Writes the reason of the verdict: the first claim that has it, or how many hold.
static void reason_of(struct hn_claim_outcome *o, const char *why) {
    int64_t count = 0;
    const struct hn_claim *first = NULL;
    const char *text = "";
    for (int64_t i = 0; i < o->entry->claims; i++)
        if (of_paper(o, i) && o->claim[i].verdict == o->verdict) {
            text = count == 0 ? o->claim[i].reason : text;
            first = count++ == 0 ? &o->entry->claim[i] : first;
        }
    if (*why || !first)
        snprintf(o->reason, sizeof o->reason, "%s",
                 *why                   ? why
                 : o->entry->claims > 0 ? "only proved identities and questions of this project"
                                        : "no paper claims anything of it");
    else if (o->verdict == HN_HOLDS && count > 1)
        snprintf(o->reason, sizeof o->reason, "all %" PRId64 " claims hold", count);
    else
        snprintf(o->reason, sizeof o->reason, "%.100s: %.400s", first->name, text);
}

static enum hn_code judge_all(struct hn_context *ctx, const struct hn_results *r, const char *why,
                              struct hn_claim_outcome *out) {
    const struct hn_claim_entry *entry = out->entry;
    for (int64_t i = 0; i < entry->claims; i++) {
        struct hn_claim_result *result = &out->claim[i];
        if (*why) {
            result->verdict = HN_NOT_TESTED;
            result->decided = -1;
            result->p_holds = result->p_fails = 1;
            snprintf(result->reason, sizeof result->reason, "%s", why);
        } else if (hn_claim_judge(ctx, r, &entry->claim[i], result)) {
            return ctx->code;
        }
    }
    out->level = hn_zalloc(ctx, entry->levels, sizeof *out->level);
    if (!out->level)
        return ctx->code;
    for (int64_t i = 0; i < entry->levels; i++) {
        out->level[i].verdict = HN_NOT_TESTED;
        if (!*why && hn_claim_measure(ctx, r, &entry->level[i], &out->level[i]))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_claims_judge(struct hn_context *ctx, const struct hn_claim_entry *entry,
                             const struct hn_results *r, const char *why,
                             struct hn_claim_outcome *out) {
    *out = (struct hn_claim_outcome){.entry = entry,
                                     .claim = hn_zalloc(ctx, entry->claims, sizeof *out->claim)};
    if (!out->claim)
        return ctx->code;
    void *outer = hn_own(ctx, out->claim);
    enum hn_code code = judge_all(ctx, r, why, out);
    hn_own(ctx, outer);
    if (code) {
        hn_claim_outcome_free(ctx, out);
        return code;
    }
    count_claims(out);
    count_rests(out);
    out->corrected = out->verdict = worst(out);
    out->p = out->verdict == HN_NOT_TESTED ? NAN : p_of(out);
    reason_of(out, why);
    return HN_OK;
}

void hn_claim_outcome_free(struct hn_context *ctx, struct hn_claim_outcome *out) {
    hn_free(ctx, out->claim);
    *out = (struct hn_claim_outcome){.entry = NULL};
}
