// The options of mining as entries of an option table, of the command and of the library.
#ifndef HN_RETRIEVAL_MINE_OPTIONS_H
#define HN_RETRIEVAL_MINE_OPTIONS_H

#include "core/options/option.h"
#include "retrieval/mine.h"

// `type` holds a struct hn_mine_options: in its member m with prefix `m.`, or is one.
#define HN_MINE_OPTIONS(type, prefix)                                                              \
    {HN_CHOICE_OPTION(type, prefix preset, "preset", "none", hn_mine_presets,                      \
                      "the rules and defaults of another tool; other options change them"),        \
     .metavar = "TOOL"},                                                                           \
        {HN_INT_OPTION(type, prefix n, "negatives", NULL, 1, 1 << 20,                              \
                       "negatives of a query (default: 10)"),                                      \
         .letter = 'n', .metavar = "N"},                                                           \
        {HN_INT_OPTION(type, prefix depth, "depth", NULL, 1, INT32_MAX,                            \
                       "passages of each query that are looked at, the best ones (default: 200)"), \
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
        {HN_CHOICE_OPTION(type, prefix equal_texts, "equal-texts", "auto", hn_mine_equal_texts,    \
                          "a passage with the text of a positive, or of a better passage, is "     \
                          "dropped (filter, the "                                                  \
                          "default); texts are merged before (merge); ids alone count (apart)"),   \
         .metavar = "HOW"},                                                                        \
        {HN_CHOICE_OPTION(type, prefix self, "self", "auto", hn_mine_self,                         \
                          "drop the passage that is the query itself: by text (the default), id, " \
                          "both, or none"),                                                        \
         .metavar = "BY"},                                                                         \
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

#endif
