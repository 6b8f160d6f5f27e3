// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts on the entries of claim files: all claims of one, corrected together where that is
// asked.
#include "core/text.h"
#include "harness/claims/claims_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORRECTABLE = 4 }; // encoders: with three, t has to be 22 to stand a report of 25 entries

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
        stands = stands && order[i]->p * (double)(tested - i) <= (1 - HN_CLAIM_LEVEL) / 2;
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
        hn_put_message(o->reason, sizeof o->reason, "%s",
                       *why ? why
                       : o->entry->claims > 0
                           ? "only proved identities and questions of this project"
                           : "no paper claims anything of it");
    else if (o->verdict == HN_HOLDS && count > 1)
        hn_put_text(o->reason, sizeof o->reason, "all %" PRId64 " claims hold", count);
    else
        hn_put_message(o->reason, sizeof o->reason, "%s: %s", first->name, text);
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
            hn_put_message(result->reason, sizeof result->reason, "%s", why);
        } else if (hn_claim_judge(ctx, r, &entry->claim[i], result)) {
            return ctx->code;
        }
    }
    if (!HN_ZALLOC(ctx, out->level, entry->levels))
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
    if (!out->claim || judge_all(ctx, r, why, out))
        return ctx->code;
    count_claims(out);
    count_rests(out);
    out->corrected = out->verdict = worst(out);
    out->p = out->verdict == HN_NOT_TESTED ? NAN : p_of(out);
    reason_of(out, why);
    return HN_OK;
}
