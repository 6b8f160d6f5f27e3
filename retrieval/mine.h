// Hard negatives of queries over a corpus: one contract, and the dialects of three tools as presets
// of it. docs/reference/mining.md.
#ifndef HN_RETRIEVAL_MINE_H
#define HN_RETRIEVAL_MINE_H

#include "core/options/option.h"
#include "datasets/retrieval.h"
#include "retrieval/filter.h"
#include "retrieval/relevance.h"

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
enum hn_positive { HN_POSITIVE_MIN, HN_POSITIVE_MAX, HN_POSITIVE_MEAN };

// As options: unset integers are INT64_MIN, unset numbers NaN.
struct hn_mine_options {
    int preset, rank_of, filter_by, rank_by, equal_texts, self, take, fill, positive; // the enums
    int64_t n, depth, min_rank, max_rank, seed;
    double absolute_margin, relative_margin, max_score, min_score, guide;
    bool include_positives;
};
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
// The filter that resolved options stand for.
struct hn_filter hn_mine_filter(const struct hn_mine_options *o);

// Data as the dialect sees them: with HN_EQUAL_MERGE a passage for each text, the first, and what
// is relevant to a query is so to all of its text. What it allocates belongs to the owner of the
// time.
struct hn_miner {
    struct hn_mine_options o;      // resolved
    struct hn_retrieval_data data; // of merged passages
    int32_t *passage;              // [rows of data] their index in the corpus; NULL: the same
    struct hn_relevance known, truth;
    struct hn_selves self; // of passages of the corpus
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
    int64_t negatives;
    int64_t fewer, none; // rows with fewer than n negatives; with none, of them
    int64_t drawn;       // negatives drawn at random, to fill rows
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

#endif
