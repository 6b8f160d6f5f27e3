// From the candidates of one query to its negatives: the filters, in their order, each on what is
// left by those before it. docs/reference/mining.md has the contract in words.
#ifndef HN_RETRIEVAL_FILTER_H
#define HN_RETRIEVAL_FILTER_H

#include "core/context.h"

// The candidates that ranks count: those left before it, all of them, or those that pass all
// filters.
enum hn_rank_of { HN_RANK_DEFAULT, HN_RANK_CANDIDATES, HN_RANK_RAW, HN_RANK_SURVIVORS };

// Numbers that are NaN, and bounds of ranks that reach over all, do not filter.
struct hn_filter {
    int64_t n;                  // negatives wanted
    int64_t min_rank, max_rank; // from 1, inclusive
    enum hn_rank_of rank_of;
    double absolute_margin, relative_margin, max_score, min_score, guide;
    bool known, self, duplicates; // whether these are dropped
    bool single;                  // scores are compared as floats
    bool draw;                    // n at random in place of the best n
    uint64_t seed;
};

// Flags of a candidate.
enum { HN_IS_KNOWN = 1, HN_IS_SELF = 2, HN_IS_DUPLICATE = 4, HN_IS_HIDDEN = 8, HN_IS_SCORED = 16 };

struct hn_miner;

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

// Indices in c->id of the negatives into chosen[max(n, 1) or more], ascending; returns their
// number. left[c->n] and draw[c->n] are scratch. Adds to *attrition.
int64_t hn_filter_row(const struct hn_filter *f, const struct hn_candidates *c, uint8_t *left,
                      int32_t *draw, int32_t *chosen, struct hn_attrition *attrition);

#endif
