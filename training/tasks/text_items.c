// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences and pairs of them as items of the text task.
#include "training/tasks/text_items.h"

#include <string.h>

static const double same_score = 4; // of pairs without an entailment that count as one

const char *const hn_text_files[] = {"sick-train", "sick-test",  "sts12-train", "sts12-test",
                                     "sts13-test", "sts14-test", "sts16-test",  NULL};

static const enum hn_text_set training[] = {HN_TEXT_SICK_TRAIN, HN_TEXT_STS12_TRAIN};

int32_t *hn_text_training(struct hn_context *ctx, const struct hn_sts *sts, bool transductive,
                          int64_t *n) {
    int32_t *of = hn_alloc(ctx, sts->n, sizeof *of);
    HN_SCOPE(ctx);
    bool *seen = hn_zalloc(ctx, sts->n, sizeof *seen);
    *n = 0;
    if (!of || !seen)
        return NULL;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < sts->set[training[k]].n; i++)
            for (int side = 0; side < 2; side++)
                seen[sts->set[training[k]].pair[i].sentence[side]] = true;
    for (int32_t s = 0; s < sts->n; s++)
        if (seen[s] || transductive)
            of[(*n)++] = s;
    return of;
}

enum hn_code hn_text_items_single(struct hn_context *ctx, const int32_t *of, int64_t n,
                                  struct hn_text_items *out) {
    if (hn_text_items_open(ctx, n, 1, out))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        hn_text_items_add(out, of[i], of[i], -1);
    return HN_OK;
}

// partner[sts->n]: the first sentence that contradicts each, -1 = none.
static void find_contradictions(const struct hn_sts *sts, int32_t *partner) {
    for (int64_t s = 0; s < sts->n; s++)
        partner[s] = -1;
    for (int64_t i = 0; i < sts->set[HN_TEXT_SICK_TRAIN].n; i++) {
        const struct hn_sts_pair *p = &sts->set[HN_TEXT_SICK_TRAIN].pair[i];
        for (int side = 0; side < 2 && p->relation == HN_STS_CONTRADICTION; side++)
            if (partner[p->sentence[side]] < 0)
                partner[p->sentence[side]] = p->sentence[1 - side];
    }
}

static void add_both(struct hn_text_items *items, const int32_t sentence[2],
                     const int32_t *partner) {
    for (int side = 0; side < 2; side++) {
        int32_t query = sentence[side], key = sentence[1 - side];
        int32_t hard = partner[query] >= 0 ? partner[query] : partner[key];
        hn_text_items_add(items, query, key, hard);
    }
}

enum hn_code hn_text_items_pairs(struct hn_context *ctx, const struct hn_sts *sts, bool sick_only,
                                 bool hard, struct hn_text_items *out) {
    int64_t sick = sts->set[HN_TEXT_SICK_TRAIN].n, sts12 = sts->set[HN_TEXT_STS12_TRAIN].n;
    if (hn_text_items_open(ctx, 2 * (sick + sts12), 1, out))
        return ctx->code;
    HN_SCOPE(ctx);
    int32_t *partner = hn_alloc(ctx, sts->n, sizeof *partner);
    if (!partner)
        return ctx->code;
    memset(partner, -1, (size_t)sts->n * sizeof *partner);
    if (hard)
        find_contradictions(sts, partner);
    for (int64_t i = 0; i < sick; i++) {
        const struct hn_sts_pair *p = &sts->set[HN_TEXT_SICK_TRAIN].pair[i];
        if (p->relation == HN_STS_ENTAILMENT)
            add_both(out, p->sentence, partner);
    }
    for (int64_t i = 0; i < sts12 && !sick_only; i++) {
        const struct hn_sts_pair *p = &sts->set[HN_TEXT_STS12_TRAIN].pair[i];
        if (p->score >= same_score && p->sentence[0] != p->sentence[1])
            add_both(out, p->sentence, partner);
    }
    return out->n > 0 ? HN_OK
                      : hn_fail(ctx, HN_DATA,
                                "sick-train.tsv has no pair with ENTAILMENT%s: there is nothing to "
                                "train on",
                                sick_only ? "" : ", sts12-train.tsv none with a score of 4");
}

void hn_text_groups(const struct hn_sts *sts, int32_t *group) {
    for (int32_t s = 0; s < sts->n; s++)
        group[s] = s;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < sts->set[training[k]].n; i++) {
            const struct hn_sts_pair *p = &sts->set[training[k]].pair[i];
            if (p->score >= same_score)
                hn_text_join(group, p->sentence[0], p->sentence[1]);
        }
    hn_text_number_groups(group, sts->n);
}
