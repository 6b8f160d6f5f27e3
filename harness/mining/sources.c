// SPDX-License-Identifier: GPL-3.0-or-later
// Reads runs of candidates and counts by them.
#include "harness/mining/sources.h"

#include "core/options/int_list.h"
#include "core/random.h"
#include "core/text.h"

#include <math.h>

enum { SAMPLE = 200 }; // queries whose nearest passages are looked for in each run

enum hn_code hn_source_check(struct hn_context *ctx, const struct hn_source_rules *rules,
                             int64_t *n) {
    int64_t quota[HN_SOURCES_MAX], given = *n;
    int count = 0;
    if ((rules->quota || rules->fuse) && rules->path.count == 0)
        return hn_fail(ctx, HN_USAGE, "%s goes with --candidates",
                       rules->quota ? "--quota" : "--fuse");
    if (!rules->quota)
        return HN_OK;
    if (hn_int_list(ctx, "--quota", rules->quota, HN_SOURCES_MAX, quota, &count))
        return ctx->code;
    if (count != rules->path.count)
        return hn_fail(ctx, HN_USAGE, "--quota %s: has %s, and --candidates is given %lld times",
                       rules->quota, hn_counted(count, "number").text,
                       (long long)rules->path.count);
    *n = 0;
    for (int s = 0; s < count; s++)
        *n += quota[s];
    if (given != INT64_MIN && given != *n)
        return hn_fail(ctx, HN_USAGE,
                       "--quota %s: makes %lld negatives, --negatives is %lld: leave it out",
                       rules->quota, (long long)*n, (long long)given);
    return HN_OK;
}

static enum hn_code read_runs(struct hn_context *ctx, const struct hn_corpus *corpus,
                              const struct hn_miner *miner, struct hn_source_runs *r) {
    const struct hn_text_list *path = &r->rules.path;
    struct hn_pair_scores run[HN_SOURCES_MAX];
    int64_t n = corpus->info->n[HN_QUERIES];
    int count = 0;
    if (path->count > HN_SOURCES_MAX)
        return hn_fail(ctx, HN_USAGE, "--candidates: is given %lld times; %d are read",
                       (long long)path->count, HN_SOURCES_MAX);
    for (int64_t s = 0; s < path->count; s++) {
        if (hn_corpus_read_run(ctx, corpus, path->item[s], r->rules.unknown, &run[s]))
            return ctx->code;
        r->listed[s] = run[s].start[n];
    }
    if (hn_candidates_unite(ctx, run, (int)path->count, n, miner->merged, r->rules.fuse,
                            &r->sources))
        return ctx->code;
    return r->rules.quota ? hn_int_list(ctx, "--quota", r->rules.quota, HN_SOURCES_MAX,
                                        r->sources.quota, &count)
                          : HN_OK;
}

// The nearest passages of some queries, drawn by the seed of mining, and which runs list them.
static enum hn_code measure(struct hn_context *ctx, const struct hn_miner *m,
                            struct hn_source_runs *r) {
    const struct hn_matrix *q = &m->data.rows[HN_QUERIES];
    HN_SCOPE(ctx);
    r->sample = hn_min(SAMPLE, q->rows);
    r->nearest = hn_min(m->o.n, m->data.rows[HN_CORPUS].rows);
    int32_t *order = hn_alloc(ctx, q->rows, sizeof *order);
    float *row = hn_alloc(ctx, r->sample * q->cols, sizeof *row);
    double *share = hn_alloc(ctx, r->sample, sizeof *share);
    struct hn_ranking ranking;
    if (!order || !row || !share)
        return ctx->code;
    hn_permute((uint64_t)m->o.seed, "mine.sources", 0, 0, 0, order, (int32_t)q->rows);
    hn_gather_rows(q, order, r->sample, row);
    const struct hn_matrix some = {row, r->sample, q->cols, q->cols};
    if (hn_corpus_rank(ctx, &m->data, &some, r->nearest, &ranking))
        return ctx->code;
    for (int s = 0; s < r->sources.n; s++) {
        for (int64_t i = 0; i < r->sample; i++) {
            int64_t found = 0;
            for (int64_t k = 0; k < ranking.kept; k++) {
                int64_t e =
                    hn_qrels_find(&r->sources.pair, order[i], ranking.id[i * ranking.kept + k]);
                found += e >= 0 && r->sources.pair.grade[e] >> s & 1;
            }
            share[i] = (double)found / (double)ranking.kept;
        }
        r->held[s] = hn_share_interval(share, r->sample, 0.95);
    }
    return HN_OK;
}

enum hn_code hn_source_runs_open(struct hn_context *ctx, const struct hn_corpus *corpus,
                                 const struct hn_source_rules *rules, struct hn_miner *miner,
                                 struct hn_source_runs *out, const char **digest) {
    struct hn_digest sum;
    char sha256[HN_DIGEST_TEXT];
    *out = (struct hn_source_runs){.rules = *rules};
    *digest = NULL;
    if (rules->path.count == 0)
        return HN_OK;
    if (read_runs(ctx, corpus, miner, out) || measure(ctx, miner, out))
        return ctx->code;
    if (rules->quota && miner->o.take == HN_TAKE_DRAW)
        return hn_fail(ctx, HN_USAGE, "--quota takes the best of each run: leave out --take draw");
    if (rules->fuse && miner->o.rank_by != HN_BY_MODEL)
        return hn_fail(ctx, HN_USAGE, "--fuse and --rank-by both order candidates: give one");
    miner->sources = &out->sources;
    const struct hn_qrels *c = &out->sources.pair;
    size_t pairs = (size_t)c->start[c->n];
    hn_digest_begin(&sum);
    hn_digest_add(&sum, c->start, (size_t)(c->n + 1) * sizeof *c->start);
    hn_digest_add(&sum, c->passage, pairs * sizeof *c->passage);
    hn_digest_add(&sum, c->grade, pairs * sizeof *c->grade);
    if (rules->fuse)
        hn_digest_add(&sum, out->sources.fused, pairs * sizeof *out->sources.fused);
    hn_digest_add(&sum, out->sources.quota, sizeof out->sources.quota);
    hn_digest_end(&sum, sha256);
    *digest = hn_format(ctx, "%s", sha256);
    return *digest ? HN_OK : ctx->code;
}

void hn_source_runs_note(struct hn_context *ctx, const struct hn_source_runs *r,
                         const struct hn_mine_counts *counts) {
    const struct hn_qrels *c = &r->sources.pair;
    int64_t without = 0;
    for (int s = 0; s < r->sources.n; s++)
        hn_note(ctx, "%s: %s, of which %lld are mined", r->rules.path.item[s],
                hn_counted(r->listed[s], "candidate").text, (long long)counts->source[s]);
    for (int64_t q = 0; q < c->n; q++)
        without += c->start[q] == c->start[q + 1];
    if (without > 0)
        hn_note(ctx, "%s without any candidate", hn_counted(without, "query").text);
}

json_t *hn_source_runs_list(const struct hn_source_runs *r, const struct hn_mine_counts *counts,
                            bool truth) {
    json_t *list = json_array();
    for (int s = 0; s < r->sources.n; s++) {
        const struct hn_attrition *a = &counts->by_source[s];
        double kept = (double)a->all[HN_STAGE_KEPT], hidden = (double)a->hidden[HN_STAGE_KEPT];
        int64_t looked = 0;
        for (int stage = 0; stage < HN_STAGES; stage++)
            looked += a->all[stage];
        json_t *lost = json_object();
        for (int stage = 0; stage < HN_STAGE_KEPT; stage++)
            if (a->all[stage] > 0)
                json_object_set_new(lost, hn_stage_name[stage], json_integer(a->all[stage]));
        json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "run",
                      hn_json_text(r->rules.path.item[s]), "candidates", (json_int_t)r->listed[s],
                      "looked_at", (json_int_t)looked, "known", (json_int_t)a->all[HN_STAGE_KNOWN],
                      "mined", (json_int_t)counts->source[s], "false_negatives",
                      hn_json_real(truth ? hidden / kept : NAN), "nearest",
                      hn_json_real(r->held[s].mean), "nearest_lo", hn_json_real(r->held[s].lo),
                      "nearest_hi", hn_json_real(r->held[s].hi), "lost_to", lost));
    }
    return list;
}

void hn_source_runs_print(const struct hn_source_runs *r, const struct hn_mine_counts *counts,
                          bool truth) {
    static const struct hn_record_column columns[] = {{"run", "run", -24},
                                                      {"looked_at", "looked at", 10},
                                                      {"known", "known", 8},
                                                      {"mined", "mined", 8},
                                                      {"false_negatives", "false, %", 8, 3, 100},
                                                      {"nearest", "nearest, %", 10, 1, 100},
                                                      {"nearest_lo", "95 % from", 9, 1, 100},
                                                      {"nearest_hi", "to", 6, 1, 100},
                                                      {NULL}};
    json_t *list = hn_source_runs_list(r, counts, truth);
    printf("\nBy run; nearest: those of the %lld nearest passages of %s that it lists.\n",
           (long long)r->nearest, hn_counted(r->sample, "query").text);
    hn_records_print(columns, list, stdout);
    json_decref(list);
}
