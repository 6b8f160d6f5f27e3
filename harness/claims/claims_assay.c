// Sensitivity of a comparison of accuracies: in every data set training with Uniform, or else with
// some of the settings that are compared with, must be more accurate than no training. Otherwise
// accuracy cannot distinguish samplers, whatever the numbers are.
#include "harness/claims/claims_private.h"

#include <math.h>
#include <string.h>

enum { EACH_MAX = 8 };
static const double error = 0.025; // one-sided, for a data set

static bool is_accuracy(const struct hn_claim_side *side) {
    size_t n = strlen(side->column);
    return n >= 3 && strcmp(side->column + n - 3, "acc") == 0 && !side->with &&
           strcmp(side->table, "training") == 0;
}

// Accuracies at the end of training against each other, and not against a number.
static bool applies(const struct hn_claim *c) {
    if (c->than.given && !isnan(c->than.value))
        return false;
    bool ends = c->steps == HN_STEPS_END || c->test == HN_TEST_SOONER;
    return ends && is_accuracy(&c->of) && c->of.steps < 0 && c->than.steps < 0 &&
           c->test != HN_TEST_BOUND;
}

static bool is_uniform(const struct hn_claim_side *side) {
    for (int64_t i = 0; i < side->filters; i++)
        if (strcmp(side->filter[i].column, "sampler") == 0 && side->filter[i].values == 1)
            return strcmp(side->filter[i].value[0], "uniform") == 0;
    return false;
}

// True if some setting of the part's data set is better than untrained, corrected for how many
// there are; *best: the one that comes nearest.
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
    return !*best || (*best)->p_holds * (double)settings <= error;
}

static void say(const struct hn_claim_part *p, struct hn_claim_result *out) {
    out->verdict = HN_INCONCLUSIVE;
    out->needed = p->needed;
    out->p_holds = out->p_fails = 1;
    snprintf(out->reason, sizeof out->reason,
             "assay insensitive: at %s training does not beat no training: %.4g against %.4g, "
             "difference %.3g [%.3g, %.3g] over %lld trained encoders",
             p->dataset, p->left, p->right, p->difference, p->lo, p->hi, (long long)p->replicates);
}

// The columns by which settings differ, so that each is compared with itself untrained alone.
static int64_t settings_apart(const struct hn_claim *claim, const struct hn_claim_side *side,
                              const char **each) {
    int64_t n = 0;
    for (int64_t i = 0; i < claim->n_each && n < EACH_MAX; i++)
        each[n++] = claim->each[i];
    for (int64_t i = 0; i < side->filters && n < EACH_MAX; i++)
        if (side->filter[i].values > 1)
            each[n++] = side->filter[i].column;
    if (claim->along && n < EACH_MAX)
        each[n++] = claim->along;
    return n;
}

// Trained against untrained, of a side.
static enum hn_code judge_training(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_claim *claim, const struct hn_claim_side *side,
                                   struct hn_claim_result *assay) {
    const char *each[EACH_MAX];
    struct hn_claim trained = {
        .test = HN_TEST_ABOVE, .steps = HN_STEPS_END, .of = *side, .each = each};
    trained.n_each = settings_apart(claim, &trained.of, each);
    trained.than = trained.of;
    trained.than.given = true;
    trained.than.steps = HN_STEPS_START;
    return hn_claim_verdict(ctx, r, &trained, assay);
}

// Uniform says whether accuracies can tell samplers apart, where the results have it in one
// setting; else the settings that are compared with do.
static enum hn_code judge_assay(struct hn_context *ctx, const struct hn_results *r,
                                const struct hn_claim *claim, struct hn_claim_result *out) {
    if (out->verdict == HN_NOT_TESTED || !applies(claim))
        return HN_OK;
    const char *name[] = {"uniform"};
    struct hn_claim_filter only = {"sampler", name, 1};
    struct hn_claim_side uniform = claim->of;
    uniform.filter = &only;
    uniform.filters = 1;
    bool other = claim->than.given && !is_uniform(&claim->of);
    struct hn_claim_result assay;
    if (judge_training(ctx, r, claim, &uniform, &assay))
        return ctx->code;
    if (assay.verdict == HN_NOT_TESTED &&
        judge_training(ctx, r, claim, other ? &claim->than : &claim->of, &assay))
        return ctx->code;
    const struct hn_claim_part *best;
    bool measured = assay.verdict != HN_NOT_TESTED;
    for (int64_t i = 0; measured && i < assay.parts; i++)
        if (!is_sensitive(&assay, assay.part[i].dataset, &best)) {
            say(best, out);
            break;
        }
    return HN_OK;
}

enum hn_code hn_claim_judge(struct hn_context *ctx, const struct hn_results *r,
                            const struct hn_claim *claim, struct hn_claim_result *out) {
    return hn_claim_verdict(ctx, r, claim, out) || judge_assay(ctx, r, claim, out) ? ctx->code
                                                                                   : HN_OK;
}
