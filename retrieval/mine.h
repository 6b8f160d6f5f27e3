// Hard negatives of queries over a corpus: one contract, and the dialects of three tools as presets
// of it. docs/reference/mining.md.
#pragma once

#include "core/options/option.h"
#include "datasets/retrieval.h"

// The passages nearest to each query, in the order that everything in this module is defined by:
// descending score, then the lower index.

// The score of two unit rows: their inner product in double, in [-1, 1].
static inline double hn_score(const float *x, const float *y, int64_t d) {
    double s = hn_dot_exact(x, y, d);
    return s > 1 ? 1 : s < -1 ? -1 : s;
}

struct hn_ranking {
    int64_t rows, kept; // kept: min(depth, passages)
    int32_t *id;        // [rows x kept] passages; belongs to the owner of the time
};
// q[rows x d] against all of p, both of unit rows. The same for any number of threads.
HN_MUST_USE enum hn_code hn_ranking_run(struct hn_context *ctx, const struct hn_matrix *q,
                                        const struct hn_matrix *p, int64_t depth,
                                        struct hn_ranking *out);

// Queries that are ranked at once: so many that a part takes some seconds, for the sweep prepares
// the corpus anew for each; few enough that progress is seen, and candidates fit into memory.
int64_t hn_ranking_rows(int64_t queries, const struct hn_matrix *p, int64_t depth);

// Which passages count as relevant to a query, equal texts included, and which are the query
// itself.

// The keys of the judged passages of each query, ascending. A passage's key is the number of its
// text, or its index where texts do not matter.
struct hn_relevance {
    int64_t *start;       // [queries + 1]; NULL: nothing is known
    int64_t *key;         // [start[queries]]
    int32_t *grade;       // [start[queries]] the best of the passages of a key
    const int64_t *group; // [passages] borrowed; NULL: keys are indices
    int32_t min_grade;    // as of struct hn_qrels
};
// The arrays belong to the owner of the time. `qrels` without rows (start = NULL) gives none.
HN_MUST_USE enum hn_code hn_relevance_build(struct hn_context *ctx, const struct hn_qrels *qrels,
                                            const int64_t *group, struct hn_relevance *out);
// The grade of a passage; INT32_MIN: it was not judged.
int32_t hn_relevance_grade(const struct hn_relevance *r, int64_t query, int32_t passage);
static inline bool hn_relevance_has(const struct hn_relevance *r, int64_t query, int32_t passage) {
    return hn_grade_is_relevant(r->min_grade, hn_relevance_grade(r, query, passage));
}

// Passages that are the query itself: by text, by id, or both.
enum hn_self { HN_SELF_DEFAULT, HN_SELF_NONE, HN_SELF_TEXT, HN_SELF_ID, HN_SELF_BOTH };

struct hn_selves {
    const int64_t *text[HN_SETS]; // numbers of texts; borrowed; NULL: not known
    int64_t *passage; // [queries] that with the query's id, -1: none; NULL: not compared
    bool by_text;
    int64_t max; // passages that may be a query itself
};
// Arrays belong to the owner of the time.
HN_MUST_USE enum hn_code hn_selves_open(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                        enum hn_self by, struct hn_selves *out);

// True of a passage that has the text of the query; that is the query itself.
static inline bool hn_is_own_text(const struct hn_selves *s, int64_t query, int64_t passage) {
    return s->text[HN_QUERIES] && s->text[HN_CORPUS] &&
           s->text[HN_CORPUS][passage] == s->text[HN_QUERIES][query];
}
static inline bool hn_is_self(const struct hn_selves *s, int64_t query, int64_t passage) {
    return (s->by_text && hn_is_own_text(s, query, passage)) ||
           (s->passage && s->passage[query] == passage);
}

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
// passes no filter that looks at it.
struct hn_candidates {
    int64_t query, n;
    const int32_t *id;
    double *score;                 // that margins and bounds look at
    const double *guide;           // [n] the guide's, NULL where it is not asked
    uint8_t *flags;                // HN_IS_...
    bool descending;               // scores are
    const struct hn_miner *scorer; // of the scores without HN_IS_SCORED; NULL: all are there
    double positive; // score of the query's positive that margins are taken from; NaN: none
    double guide_positive;
};

// The score of a candidate, found when it is first asked for.
double hn_candidate_score(const struct hn_candidates *c, int64_t i);

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

// Counts of what has a listed score, where these are asked for.
struct hn_listed_scores {
    bool asked;                // by ranks, filters or the guide
    int64_t positives, scored; // known ones of all queries; of them with a score
    int64_t without;           // queries with positives of which none has a score
};

// Data as the dialect sees them: with HN_EQUAL_MERGE a passage for each text, the first, and what
// is relevant to a query is so to all of its text. What it allocates belongs to the owner of the
// time.
struct hn_miner {
    struct hn_mine_options o;      // resolved
    struct hn_retrieval_data data; // of merged passages
    int32_t *passage;              // [rows of data] their index in the corpus; NULL: the same
    struct hn_relevance known, truth;
    struct hn_selves self; // of passages of the corpus
    struct hn_listed_scores listed;
};
// Resolves the options. HN_DATA: what they ask for is not there; `path` is what messages call it.
HN_MUST_USE enum hn_code hn_miner_open(struct hn_context *ctx, const struct hn_retrieval_data *data,
                                       const struct hn_mine_options *o, const char *path,
                                       struct hn_miner *out);
// Of a query and a merged passage: a score (NaN: not listed), the key by which passages are the
// same, and whether the passage is the query itself.
double hn_miner_score(const struct hn_miner *m, enum hn_score_by by, int64_t query,
                      int32_t passage);
int64_t hn_miner_key(const struct hn_miner *m, int32_t passage);
bool hn_miner_is_self(const struct hn_miner *m, int64_t query, int32_t passage);

// Candidates of queries from .. from + count, in the order in which ranks count them.
struct hn_pool {
    int64_t from, count, width;
    int32_t *id;                // [count x width] merged passages
    double *score, *by, *guide; // [count x width] the model's; that filters look at (may be the
                                // same array); the guide's or NULL
    double *positive, *guide_positive; // [count] NaN: no positive
    uint8_t *flags;                    // [count x width]
    bool descending;                   // scores that filters look at are, in a row
    const struct hn_miner *scorer;     // finds the model's scores that are asked for; NULL: all are
                                       // there
};
// Allocations belong to the owner of the time. scores: all of the model's are found, not
// only those that hn_miner_take() needs.
HN_MUST_USE enum hn_code hn_miner_pool(struct hn_context *ctx, const struct hn_miner *m,
                                       int64_t from, int64_t count, bool scores,
                                       struct hn_pool *out);
struct hn_candidates hn_pool_row(const struct hn_pool *p, int64_t row);

struct hn_mine_counts {
    struct hn_attrition attrition;
    int64_t fewer, none; // rows with fewer than n negatives; with none, of them
    int64_t drawn;       // negatives drawn at random, to fill rows
    int64_t looked;      // candidates
    int64_t unscored;    // of them without a listed score, where these are asked for
};
void hn_mine_counts_add(struct hn_mine_counts *sum, const struct hn_mine_counts *more);

// Negatives of the queries of a pool.
struct hn_mined {
    int64_t count, width; // width: negatives of a row at most
    int32_t *id;          // [count x width] indices of the corpus
    double *score;        // [count x width] the scores that filters look at
    int32_t *n;           // [count] negatives of a row
    struct hn_mine_counts counts;
};
// counts are added to; arrays belong to the owner of the time.
HN_MUST_USE enum hn_code hn_miner_take(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_pool *pool, struct hn_mined *out);

// Counts the listed scores of known positives into m->listed; hn_miner_open() does it.
void hn_listed_open(struct hn_miner *m);
// Looks at what was mined from all queries: a note says what listed scores lack, or why no negative
// is left. HN_DATA: no candidate has a score that ranks or filters need,
// or no positive one that margins or the guide compare with.
HN_MUST_USE enum hn_code hn_mine_check(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_mine_counts *c, const char *path);

// The options of mining as entries of an option table, and a table of them alone.
extern const struct hn_option hn_mine_table[];

// Options of relevance, and of what is left out of a ranking: the same wherever
// passages are ranked. self_: what `auto` stands for.
#define HN_RELEVANCE_OPTIONS(type, prefix, self_)                                                  \
    {HN_CHOICE_OPTION(type, prefix equal_texts, "equal-texts", "auto", hn_mine_equal_texts,        \
                      "a passage with the text of a relevant one is relevant, and one with the "   \
                      "text of a better one is left out (filter, the default); texts are merged "  \
                      "before (merge); ids alone count (apart)"),                                  \
     .metavar = "HOW"},                                                                            \
        {HN_CHOICE_OPTION(type, prefix self, "self", "auto", hn_mine_self,                         \
                          "leave out the passage that is the query itself: by text, id, both, or " \
                          "none (default: " self_ ")"),                                            \
         .metavar = "BY"},                                                                         \
    {                                                                                              \
        HN_INT_OPTION(type, prefix min_grade, "min-grade", "1", 1, HN_GRADE_MAX,                   \
                      "grade from which a passage is relevant; grades from 1 to it say neither "   \
                      "that nor the contrary"),                                                    \
            .metavar = "G"                                                                         \
    }

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
