// SPDX-License-Identifier: GPL-3.0-or-later
// Options of mining and their presets.
#include "retrieval/mine.h"
#include "retrieval/relevance.h"

#include <math.h>

const char *const hn_mine_presets[] = {"none", "sentence-transformers", "flagembedding", "tevatron",
                                       NULL};
const char *const hn_mine_rank_of[] = {"auto", "candidates", "raw", "survivors", NULL};
const char *const hn_mine_score_by[] = {"auto", "model", "teacher", "scores", NULL};
const char *const hn_mine_equal_texts[] = {"auto", "filter", "merge", "apart", NULL};
const char *const hn_mine_self[] = {"auto", "none", "text", "id", "both", NULL};
const char *const hn_mine_take[] = {"auto", "top", "draw", NULL};
const char *const hn_mine_fill[] = {"auto", "keep", "drop", "draw", NULL};
const char *const hn_mine_judged[] = {"auto", "keep", "filter", NULL};
const char *const hn_mine_positive[] = {"min", "max", "mean", NULL};

const struct hn_option hn_mine_table[] = {HN_MINE_OPTIONS(struct hn_mine_options, ), {0}};

enum hn_code hn_relevance_options(struct hn_context *ctx, const struct hn_mine_options *given,
                                  struct hn_mine_options *o) {
    if (hn_options_init(ctx, hn_mine_table, o))
        return ctx->code;
    o->equal_texts = given->equal_texts;
    o->self = given->self;
    o->min_grade = given->min_grade;
    return HN_OK;
}

bool hn_relevance_is_given(const struct hn_mine_options *o) {
    return o->equal_texts != HN_EQUAL_DEFAULT || o->self != HN_SELF_DEFAULT || o->min_grade != 1;
}

// The first choice of all is "auto".
static void choose(int *choice, int otherwise) {
    if (*choice == 0)
        *choice = otherwise;
}

static void give(int64_t *value, int64_t otherwise) {
    if (*value == INT64_MIN)
        *value = otherwise;
}

static bool has_margin(const struct hn_mine_options *o) {
    return !isnan(o->absolute_margin) || !isnan(o->relative_margin) || !isnan(o->max_score);
}

// mine_hard_negatives(): the window is of what passes all filters, ten times as wide where filters
// take some away; another scorer is asked only where a margin or a ceiling is given, and its order
// is then that of the ranks.
static void like_sentence_transformers(struct hn_mine_options *o, int64_t max) {
    give(&o->n, 3);
    give(&o->min_rank, 1);
    give(&o->max_rank, o->min_rank - 1 + o->n * (has_margin(o) ? 10 : 1) + max);
    give(&o->depth, o->max_rank + max);
    choose(&o->rank_of, HN_RANK_SURVIVORS);
    choose(&o->self, HN_SELF_NONE);
    choose(&o->equal_texts, HN_EQUAL_MERGE);
    if (!has_margin(o))
        o->filter_by = HN_BY_MODEL;
    choose(&o->rank_by, o->filter_by);
}

static void like_flagembedding(struct hn_mine_options *o) {
    give(&o->n, 15);
    give(&o->min_rank, 11);
    give(&o->max_rank, 210);
    give(&o->depth, o->max_rank);
    choose(&o->rank_of, HN_RANK_RAW);
    choose(&o->take, HN_TAKE_DRAW);
    choose(&o->fill, HN_FILL_DRAW);
    choose(&o->equal_texts, HN_EQUAL_MERGE);
}

static void like_tevatron(struct hn_mine_options *o) {
    give(&o->min_rank, 1);
    give(&o->depth, o->max_rank == INT64_MIN ? 100 : o->max_rank);
    give(&o->max_rank, o->depth);
    give(&o->n, hn_max(1, o->max_rank - o->min_rank + 1));
    choose(&o->rank_of, HN_RANK_RAW);
    choose(&o->self, HN_SELF_NONE);
    choose(&o->equal_texts, HN_EQUAL_APART);
}

enum hn_code hn_mine_resolve(struct hn_context *ctx, struct hn_mine_options *o, int64_t max) {
    if (o->preset == HN_PRESET_SENTENCE_TRANSFORMERS)
        like_sentence_transformers(o, max);
    if (o->preset == HN_PRESET_FLAGEMBEDDING)
        like_flagembedding(o);
    if (o->preset == HN_PRESET_TEVATRON)
        like_tevatron(o);
    choose(&o->rank_of, HN_RANK_CANDIDATES);
    choose(&o->filter_by, HN_BY_MODEL);
    choose(&o->rank_by, HN_BY_MODEL);
    choose(&o->equal_texts, HN_EQUAL_FILTER);
    choose(&o->self, HN_SELF_TEXT);
    choose(&o->take, HN_TAKE_TOP);
    choose(&o->judged, o->preset == HN_PRESET_NONE ? HN_JUDGED_KEEP : HN_JUDGED_FILTER);
    choose(&o->fill, HN_FILL_KEEP);
    give(&o->n, 10);
    give(&o->min_rank, 1);
    // So many that ranks of candidates, too, reach --max-rank; the end of the window alone hides no
    // candidate from filters and orders before it.
    give(&o->depth, hn_max(200, o->max_rank == INT64_MIN ? 0 : o->max_rank + max));
    const char *end = o->max_rank == INT64_MIN ? "depth" : "max-rank";
    give(&o->max_rank, o->depth);
    if (o->min_rank > o->max_rank)
        return hn_fail(ctx, HN_USAGE,
                       "--min-rank %lld is above --%s %lld, where the ranks end: lower the one or "
                       "raise the other",
                       (long long)o->min_rank, end, (long long)o->max_rank);
    if (o->n > o->max_rank - o->min_rank + 1)
        return hn_fail(ctx, HN_USAGE,
                       "ranks %lld to %lld hold fewer than the %lld negatives wanted: raise "
                       "--max-rank or --depth, or lower --negatives",
                       (long long)o->min_rank, (long long)o->max_rank, (long long)o->n);
    return HN_OK;
}
