// SPDX-License-Identifier: GPL-3.0-or-later
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
#include "core/stats.h"
#include "core/text.h"
#include "harness/claims/claims_private.h"
#include "results/analysis/params.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NEEDED_MAX = 100000 };
static const double level = HN_CLAIM_LEVEL, power = 0.9;

// Standard errors from the mean to the end of an interval that leaves `tail` on either side.
static double errors_to(const struct hn_claim_part *part, double tail) {
    return part->batches || part->replicates < 2
               ? gsl_cdf_ugaussian_Qinv(tail)
               : gsl_cdf_tdist_Qinv(tail, (double)(part->replicates - 1));
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
    // Half the width of equality; negative for a test of direction.
    double d = sign * part->difference, margin = c->margin + c->within * fabs(part->right);
    bool equal = c->test == HN_TEST_EQUAL || c->test == HN_TEST_SLOPE;
    // Distance into the claimed side; negative on the other.
    double inside = equal ? margin - fabs(d) : d + margin;
    part->error = part->deviation / sqrt((double)part->replicates);
    part->p = part->replicates > 1 ? 2 * gsl_cdf_tdist_Q(fabs(part->difference) / part->error,
                                                         (double)(part->replicates - 1))
                                   : NAN;
    // The usual sum of two quantiles, of a paired t-test.
    double errors = errors_to(part, (1 - level) / 2) + errors_to(part, 1 - power);
    part->detectable = part->replicates > 1 ? part->error * errors : NAN;
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
    part->needed =
        part->verdict == HN_INCONCLUSIVE && !still
            ? hn_samples_needed(fabs(inside), part->deviation, (1 - level) / 2, NEEDED_MAX)
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
        if (isnan(out->part[i].hi - out->part[i].lo))
            return true;
    return false;
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
            struct hn_claim_part *part = &out->part[i];
            judge_part(c, part, out->parts, pooled);
            out->holding += part->verdict == HN_HOLDS;
            out->failing += part->verdict == HN_FAILS;
            if (out->needed >= 0 && (part->needed < 0 || part->needed > out->needed))
                out->needed = part->needed;
            out->p_holds = fmax(out->p_holds, part->p_holds);
            out->p_fails = fmin(out->p_fails, fmin(1, part->p_fails * (double)out->parts));
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

// By the numbers alone: hn_claim_judge() makes it inconclusive where accuracies are compared and
// training does not beat no training.
static enum hn_code verdict(struct hn_context *ctx, const struct hn_results *r,
                            const struct hn_claim *claim, struct hn_claim_result *out) {
    return hn_claim_compare(ctx, r, claim, out) || conclude(claim, out) ? ctx->code : HN_OK;
}

enum hn_code hn_claim_measure(struct hn_context *ctx, const struct hn_results *r,
                              const struct hn_claim *l, struct hn_claim_result *out) {
    if (hn_claim_compare(ctx, r, l, out))
        return ctx->code;
    for (int64_t i = 0; i < out->parts; i++) {
        struct hn_claim_part *part = &out->part[i];
        part->difference *= l->scale;
        part->lo *= l->scale;
        part->hi *= l->scale;
    }
    return HN_OK;
}

// Sensitivity of a comparison of accuracies: in every data set training with Uniform, or else with
// some of the settings that are compared with, must be more accurate than no training, and than the
// features that went in, where these were evaluated. Otherwise accuracy cannot distinguish
// samplers, or only among encoders that are of no use, whatever the numbers are.

static const double error = 0.025; // one-sided, for a data set

// Training must beat these: before the first step the column with that prefix.
static const struct baseline {
    const char *prefix, *name;
} baselines[] = {{"", "no training"},
                 {"features_", "the features that went in"},
                 {"tfidf_", "the features that went in"}};
enum { BASELINES = sizeof baselines / sizeof *baselines };

// A column of which larger is better.
static bool is_accuracy(const struct hn_results *r, const struct hn_claim_side *side) {
    const struct hn_table *t = hn_results_table(r, "training");
    int c = t ? hn_table_find(t, side->column) : -1;
    return c >= 0 && t->column[c].direction == HN_LARGER && !side->with &&
           strcmp(side->table, "training") == 0;
}

// Accuracies at the end of training against each other, and not against a number.
static bool applies(const struct hn_results *r, const struct hn_claim *c) {
    if (c->than.given && !isnan(c->than.value))
        return false;
    bool ends = c->steps == HN_STEPS_END || c->test == HN_TEST_SOONER;
    return ends && is_accuracy(r, &c->of) && c->of.steps < 0 && c->than.steps < 0 &&
           c->test != HN_TEST_BOUND;
}

static bool is_uniform(const struct hn_claim_side *side) {
    for (int64_t i = 0; i < side->filters; i++)
        if (strcmp(side->filter[i].column, "sampler") == 0 && side->filter[i].values == 1)
            return hn_is_named_uniform(side->filter[i].value[0]);
    return false;
}

// True if some setting of a data set that has parts is better than the baseline, corrected for how
// many there are; *best: the one that comes nearest.
static bool is_sensitive(const struct hn_claim_result *assay, const char *dataset,
                         const struct hn_claim_part **best) {
    int64_t settings = 0;
    *best = NULL;
    for (int64_t i = 0; i < assay->parts; i++)
        if (strcmp(assay->part[i].dataset, dataset) == 0) {
            settings++;
            if (!*best || assay->part[i].p_holds < (*best)->p_holds)
                *best = &assay->part[i];
        }
    return (*best)->p_holds * (double)settings <= error;
}

static void say(const struct hn_claim_part *p, const struct baseline *baseline,
                struct hn_claim_result *out) {
    out->verdict = HN_INCONCLUSIVE;
    out->needed = p->needed;
    out->p_holds = out->p_fails = 1;
    hn_put_text(out->reason, sizeof out->reason,
                "assay insensitive: at %s training does not beat %s: %.4g against %.4g, difference "
                "%.3g [%.3g, %.3g] over %lld trained encoders",
                p->dataset, baseline->name, p->left, p->right, p->difference, p->lo, p->hi,
                (long long)p->replicates);
}

// The columns by which settings differ, so that each is compared with itself untrained alone.
static int64_t settings_apart(const struct hn_claim *claim, const struct hn_claim_side *side,
                              const char **each) {
    int64_t n = 0;
    for (int64_t i = 0; i < claim->n_each; i++)
        each[n++] = claim->each[i];
    for (int64_t i = 0; i < side->filters; i++)
        if (side->filter[i].values > 1)
            each[n++] = side->filter[i].column;
    if (claim->along)
        each[n++] = claim->along;
    return n;
}

// The column of the baseline: of features nothing depends on the layer, "knn_h_acc" is "knn_acc".
static void baseline_column(const struct baseline *baseline, const char *column, char *name,
                            size_t size) {
    const char *layer = *baseline->prefix ? strstr(column, "_h_") : NULL;
    hn_put_text(name, size, "%s%.*s%s", baseline->prefix,
                layer ? (int)(layer - column) : (int)strlen(column), column,
                layer ? layer + 2 : "");
}

// Trained against the baseline, of a side.
static enum hn_code judge_training(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_claim *claim, const struct hn_claim_side *side,
                                   const struct baseline *baseline, struct hn_claim_result *assay) {
    char column[64];
    const char *each[HN_CLAIM_APART];
    struct hn_claim trained = {
        .as = HN_AS_DIFFERENCE, .steps = HN_STEPS_END, .of = *side, .each = each};
    trained.n_each = settings_apart(claim, &trained.of, each);
    trained.than = trained.of;
    trained.than.given = true;
    trained.than.steps = HN_STEPS_START;
    baseline_column(baseline, side->column, column, sizeof column);
    trained.than.column = column;
    return verdict(ctx, r, &trained, assay);
}

// Uniform says whether accuracies can tell samplers apart, where the results have it in one
// setting; else the settings that are compared with do. A baseline that was not evaluated asks for
// nothing.
static enum hn_code judge_baseline(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_claim *claim, const struct baseline *baseline,
                                   bool *sensitive, struct hn_claim_result *out) {
    const char *name[] = {"uniform"};
    struct hn_claim_filter only = {"sampler", name, 1};
    struct hn_claim_side uniform = claim->of;
    uniform.filter = &only;
    uniform.filters = 1;
    bool other = claim->than.given && !is_uniform(&claim->of);
    struct hn_claim_result assay;
    if (judge_training(ctx, r, claim, &uniform, baseline, &assay))
        return ctx->code;
    if (assay.verdict == HN_NOT_TESTED &&
        judge_training(ctx, r, claim, other ? &claim->than : &claim->of, baseline, &assay))
        return ctx->code;
    const struct hn_claim_part *best;
    bool measured = assay.verdict != HN_NOT_TESTED;
    for (int64_t i = 0; measured && i < assay.parts; i++)
        if (!is_sensitive(&assay, assay.part[i].dataset, &best)) {
            say(best, baseline, out);
            *sensitive = false;
            break;
        }
    return HN_OK;
}

static enum hn_code judge_assay(struct hn_context *ctx, const struct hn_results *r,
                                const struct hn_claim *claim, struct hn_claim_result *out) {
    if (out->verdict == HN_NOT_TESTED || !applies(r, claim))
        return HN_OK;
    bool sensitive = true;
    for (int b = 0; b < BASELINES && sensitive; b++)
        if (judge_baseline(ctx, r, claim, &baselines[b], &sensitive, out))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_claim_judge(struct hn_context *ctx, const struct hn_results *r,
                            const struct hn_claim *claim, struct hn_claim_result *out) {
    return verdict(ctx, r, claim, out) || judge_assay(ctx, r, claim, out) ? ctx->code : HN_OK;
}
