// SPDX-License-Identifier: GPL-3.0-or-later
// Hard negatives of queries over a corpus: one contract, and the dialects of three tools as presets
// of it. docs/reference/mining.md.
#pragma once

#include "core/options/option.h"
#include "datasets/retrieval.h"

// From the candidates of one query to its negatives: the filters, in their order, each on what is
// left by those before it.

// The candidates that ranks count: those left before it, all of them, or those that pass all
// filters.
enum hn_rank_of { HN_RANK_DEFAULT, HN_RANK_CANDIDATES, HN_RANK_RAW, HN_RANK_SURVIVORS };
enum hn_mine_preset {
    HN_PRESET_NONE,
    HN_PRESET_SENTENCE_TRANSFORMERS,
    HN_PRESET_FLAGEMBEDDING,
    HN_PRESET_TEVATRON
};
// Choices whose first is left to the preset.
enum hn_score_by { HN_BY_DEFAULT, HN_BY_MODEL, HN_BY_TEACHER, HN_BY_LISTED };
enum hn_equal_texts { HN_EQUAL_DEFAULT, HN_EQUAL_FILTER, HN_EQUAL_MERGE, HN_EQUAL_APART };
enum hn_fill { HN_FILL_DEFAULT, HN_FILL_KEEP, HN_FILL_DROP, HN_FILL_DRAW };
enum hn_take { HN_TAKE_DEFAULT, HN_TAKE_TOP, HN_TAKE_DRAW };
enum hn_judged { HN_JUDGED_DEFAULT, HN_JUDGED_KEEP, HN_JUDGED_FILTER };
enum hn_positive { HN_POSITIVE_MIN, HN_POSITIVE_MAX, HN_POSITIVE_MEAN };

// As options: unset integers are INT64_MIN, unset numbers NaN, which do not filter.
struct hn_mine_options {
    int preset, rank_of, filter_by, rank_by, equal_texts, self, take, fill, positive,
        judged; // enums
    int64_t n, depth, min_rank, max_rank, min_grade, seed;
    double absolute_margin, relative_margin, max_score, min_score, guide;
    bool include_positives;
};

// Flags of a candidate.
enum {
    HN_IS_KNOWN = 1,
    HN_IS_SELF = 2,
    HN_IS_DUPLICATE = 4,
    HN_IS_HIDDEN = 8,
    HN_IS_SCORED = 16,
    HN_IS_UNSCORED = 32, // listed scores are asked for, and it has none
    HN_IS_BETWEEN = 64,  // its grade is above 0, and below that of relevant passages
    HN_IS_NEGATIVE = 128 // it was judged, and is not relevant
};

// Candidates of a query in the order in which ranks count them. A score that is missing is NaN and
// passes no filter that looks at it, unless `wanting`.
struct hn_candidates {
    int64_t query, n;
    const int32_t *id;
    double *score;                  // that margins and bounds look at
    const double *guide;            // [n] the guide's, NULL where it is not asked
    uint8_t *flags;                 // HN_IS_...
    const int32_t *source;          // [n] bits of the sources that list it; NULL: there are none
    const int64_t *quota;           // of each source; NULL: no limit
    struct hn_attrition *by_source; // counts of each; NULL: not asked for
    bool descending;                // scores are
    const struct hn_miner *scorer;  // of the scores without HN_IS_SCORED; NULL: all are there
    double positive; // score of the query's positive that margins are taken from; NaN: none
    double guide_positive;
    bool wanting;     // a score that is missing passes
    bool no_positive; // with it: `positive` misses a score, too
    bool no_guide;    // likewise `guide_positive`
};

// Stages at which candidates are lost, in order.
enum hn_stage {
    HN_STAGE_UNSCORED, // ranks go by listed scores, and it has none
    HN_STAGE_KNOWN,
    HN_STAGE_SELF,
    HN_STAGE_DUPLICATE,
    HN_STAGE_RANK,
    HN_STAGE_ABSOLUTE,
    HN_STAGE_RELATIVE,
    HN_STAGE_MAX,
    HN_STAGE_MIN,
    HN_STAGE_GUIDE,
    HN_STAGE_BEYOND, // passed, but there are n others
    HN_STAGE_KEPT,
    HN_STAGES
};
extern const char *const hn_stage_name[HN_STAGES];
// Candidates that ended at a stage, and how many of them were relevant: known to be, or hidden
// (relevant by the complete relevance alone).
struct hn_attrition {
    int64_t all[HN_STAGES], known[HN_STAGES], hidden[HN_STAGES];
};
void hn_attrition_add(struct hn_attrition *to, const struct hn_attrition *from);

// By resolved options: indices in c->id of the negatives into chosen[max(n, 1) or more], ascending;
// returns their number. left[c->n] and draw[c->n] are scratch. Adds to *attrition.
int64_t hn_filter_row(const struct hn_mine_options *o, const struct hn_candidates *c, uint8_t *left,
                      int32_t *draw, int32_t *chosen, struct hn_attrition *attrition);

extern const char *const hn_mine_judged[];
extern const char *const hn_mine_presets[],
    *const hn_mine_rank_of[], *const hn_mine_score_by[], *const hn_mine_equal_texts[],
                                                             *const hn_mine_self[],
                                                                 *const hn_mine_take[],
                                                                     *const hn_mine_fill[],
                                                                         *const hn_mine_positive[];

// Everything decided: what a preset and `max`, the relevant passages of a query at most, leave
// open is filled in. HN_USAGE: a window with fewer ranks than negatives are wanted, and the like.
HN_MUST_USE enum hn_code hn_mine_resolve(struct hn_context *ctx, struct hn_mine_options *o,
                                         int64_t max);

// The options of mining as entries of an option table, and a table of them alone.
extern const struct hn_option hn_mine_table[];

// Options of relevance, and of what is left out of a ranking: the same wherever
// passages are ranked. self_: what `auto` stands for; equal_texts_, min_grade_: names.
#define HN_RELEVANCE_OPTIONS_NAMED(type, prefix, equal_texts_, min_grade_, self_)                  \
    {HN_CHOICE_OPTION(type, prefix equal_texts, equal_texts_, "auto", hn_mine_equal_texts,         \
                      "a passage with the text of a relevant one is relevant, and one with the "   \
                      "text of a better one is left out (filter, the default); texts are merged "  \
                      "before (merge); ids alone count (apart)"),                                  \
     .metavar = "HOW"},                                                                            \
        {HN_CHOICE_OPTION(type, prefix self, "self", "auto", hn_mine_self,                         \
                          "leave out the passage that is the query itself: by text, id, both, or " \
                          "none (default: " self_ ")"),                                            \
         .metavar = "BY"},                                                                         \
    {                                                                                              \
        HN_INT_OPTION(type, prefix min_grade, min_grade_, "1", 1, HN_GRADE_MAX,                    \
                      "grade from which a passage is relevant; grades from 1 to it say neither "   \
                      "that nor the contrary"),                                                    \
            .metavar = "G"                                                                         \
    }
#define HN_RELEVANCE_OPTIONS(type, prefix, self_)                                                  \
    HN_RELEVANCE_OPTIONS_NAMED(type, prefix, "equal-texts", "min-grade", self_)

// o: as unset, but for these options, which are those of `given`.
HN_MUST_USE enum hn_code hn_relevance_options(struct hn_context *ctx,
                                              const struct hn_mine_options *given,
                                              struct hn_mine_options *o);
// True if one of them is given.
bool hn_relevance_is_given(const struct hn_mine_options *o);

// `type` holds a struct hn_mine_options: in its member m with prefix `m.`, or is one.
#define HN_MINE_OPTIONS(type, prefix)                                                              \
    {HN_CHOICE_OPTION(type, prefix preset, "preset", "none", hn_mine_presets,                      \
                      "the rules and defaults of another tool; other options change them"),        \
     .metavar = "TOOL"},                                                                           \
        {HN_INT_OPTION(type, prefix n, "negatives", NULL, 1, 1 << 20,                              \
                       "negatives of a query (default: 10)"),                                      \
         .letter = 'n', .metavar = "N"},                                                           \
        {HN_INT_OPTION(type, prefix depth, "depth", NULL, 1, INT32_MAX,                            \
                       "passages of each query that are looked at, the best ones (default: 200, "  \
                       "or as many as --max-rank needs)"),                                         \
         .metavar = "K"},                                                                          \
        {HN_INT_OPTION(type, prefix min_rank, "min-rank", NULL, 1, INT32_MAX,                      \
                       "first rank, from 1 (default: 1)"),                                         \
         .metavar = "R"},                                                                          \
        {HN_INT_OPTION(type, prefix max_rank, "max-rank", NULL, 1, INT32_MAX,                      \
                       "last rank (default: --depth)"),                                            \
         .metavar = "R"},                                                                          \
        {HN_CHOICE_OPTION(type, prefix rank_of, "rank-of", "auto", hn_mine_rank_of,                \
                          "ranks count what known positives and equal texts leave (candidates, "   \
                          "the default), all "                                                     \
                          "passages (raw), or what all filters leave (survivors)"),                \
         .metavar = "WHAT"},                                                                       \
        {HN_REAL_OPTION(type, prefix absolute_margin, "absolute-margin", NULL, -INFINITY,          \
                        INFINITY, "keep scores of at most the positive's less this"),              \
         .metavar = "A"},                                                                          \
        {HN_REAL_OPTION(type, prefix relative_margin, "relative-margin", NULL, -INFINITY,          \
                        INFINITY,                                                                  \
                        "keep scores of at most the positive's less this share of its size"),      \
         .metavar = "SHARE"},                                                                      \
        {HN_REAL_OPTION(type, prefix max_score, "max-score", NULL, -INFINITY, INFINITY,            \
                        "keep scores of at most this"),                                            \
         .metavar = "S"},                                                                          \
        {HN_REAL_OPTION(type, prefix min_score, "min-score", NULL, -INFINITY, INFINITY,            \
                        "keep scores of at least this"),                                           \
         .metavar = "S"},                                                                          \
        {HN_REAL_OPTION(type, prefix guide, "guide", NULL, -INFINITY, INFINITY,                    \
                        "keep what the teacher (without one: the listed scores) scores at most "   \
                        "this below the "                                                          \
                        "positive"),                                                               \
         .metavar = "M"},                                                                          \
        {HN_CHOICE_OPTION(type, prefix positive, "positive", "min", hn_mine_positive,              \
                          "which of a query's positives margins are taken from"),                  \
         .metavar = "WHICH"},                                                                      \
        {HN_CHOICE_OPTION(                                                                         \
             type, prefix filter_by, "filter-by", "auto", hn_mine_score_by,                        \
             "scores that margins and bounds look at (default: the model's); pairs that are not "  \
             "listed have none, and do not pass"),                                                 \
         .metavar = "WHOSE"},                                                                      \
        {HN_CHOICE_OPTION(type, prefix rank_by, "rank-by", "auto", hn_mine_score_by,               \
                          "scores in whose order ranks count (default: the model's)"),             \
         .metavar = "WHOSE"},                                                                      \
        HN_RELEVANCE_OPTIONS(type, prefix, "text"),                                                \
        {HN_CHOICE_OPTION(                                                                         \
             type, prefix judged, "judged-negatives", "auto", hn_mine_judged,                      \
             "passages judged not relevant (grade 0 or less), which are no false negatives: "      \
             "--min-rank, margins, --max-score and --guide do not take them (keep, the default); " \
             "they are filtered as others are (filter)"),                                          \
         .metavar = "HOW"},                                                                        \
        {HN_BOOL_OPTION(type, prefix include_positives, "include-positives", NULL,                 \
                        "known positives are candidates like others")},                            \
        {HN_CHOICE_OPTION(                                                                         \
             type, prefix take, "take", "auto", hn_mine_take,                                      \
             "the best of what is left (top, the default), or some at random (draw)"),             \
         .metavar = "HOW"},                                                                        \
        {HN_CHOICE_OPTION(type, prefix fill, "fill", "auto", hn_mine_fill,                         \
                          "queries with fewer: keep them (the default), drop them, or draw "       \
                          "passages that are no "                                                  \
                          "positives"),                                                            \
         .metavar = "HOW"},                                                                        \
    {                                                                                              \
        HN_INT_OPTION(type, prefix seed, "seed", "1", 0, INFINITY, "seed of the draws"),           \
            .metavar = "S"                                                                         \
    }
