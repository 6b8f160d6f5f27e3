// SPDX-License-Identifier: GPL-3.0-or-later
// Joins lists of scores.
#include "harness/mining/scores.h"

static enum hn_code join(struct hn_context *ctx, int64_t n, const struct hn_pair_scores *more,
                         struct hn_pair_scores *s) {
    int64_t own = s->start ? s->start[n] : 0, all = own + more->start[n], k = 0;
    const struct hn_pair_scores *const part[] = {s, more};
    HN_SCOPE(ctx);
    struct hn_judgement *list = hn_alloc(ctx, all, sizeof *list);
    float *score = hn_alloc(ctx, all, sizeof *score);
    if (!list || !score)
        return ctx->code;
    for (int i = own ? 0 : 1; i < 2; i++)
        for (int64_t q = 0; q < n; q++)
            for (int64_t e = part[i]->start[q]; e < part[i]->start[q + 1]; e++, k++) {
                list[k] = (struct hn_judgement){(int32_t)q, part[i]->passage[e], (int32_t)k};
                score[k] = part[i]->score[e];
            }
    hn_own(ctx, scope.outer);
    return hn_pair_scores_build(ctx, list, all, n, score, s);
}

enum hn_code hn_scores_add(struct hn_context *ctx, struct hn_corpus *corpus,
                           const struct hn_text_list *files, bool empty, const char **digest) {
    struct hn_pair_scores *s = &corpus->data.scores;
    int64_t n = corpus->info->n[HN_QUERIES];
    char sha256[HN_DIGEST_TEXT];
    struct hn_digest sum;
    *digest = NULL;
    if (empty && !s->start && hn_pair_scores_build(ctx, NULL, 0, n, NULL, s))
        return ctx->code;
    for (int64_t i = 0; i < files->count; i++) {
        struct hn_pair_scores more;
        if (hn_corpus_read_run(ctx, corpus, files->item[i], HN_UNKNOWN_REFUSE, &more) ||
            join(ctx, n, &more, s))
            return ctx->code;
    }
    if (files->count == 0)
        return HN_OK;
    hn_digest_begin(&sum);
    hn_digest_add(&sum, s->start, (size_t)(n + 1) * sizeof *s->start);
    hn_digest_add(&sum, s->passage, (size_t)s->start[n] * sizeof *s->passage);
    hn_digest_add(&sum, s->score, (size_t)s->start[n] * sizeof *s->score);
    hn_digest_end(&sum, sha256);
    *digest = hn_format(ctx, "%s", sha256);
    return *digest ? HN_OK : ctx->code;
}
