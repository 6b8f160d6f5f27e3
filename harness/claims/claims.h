// SPDX-License-Identifier: GPL-3.0-or-later
// Claims of the papers as data, and the verdicts on them (docs/reference/claims.md). A claim file
// says which statistic of a results file is compared with what, at which steps and in which
// direction; this is the interpreter of such files. It reads results and runs nothing.
#pragma once

#include "core/options/yaml.h"
#include "results/store.h"

struct hn_phrase; // core/text.h

enum hn_verdict { HN_HOLDS, HN_FAILS, HN_INCONCLUSIVE, HN_NOT_TESTED, HN_NOT_CORRECTED };
extern const char *const hn_verdicts[]; // "holds", "fails", "inconclusive", "not tested", ...

enum hn_claim_test {
    HN_TEST_ABOVE, // of > than
    HN_TEST_BELOW,
    HN_TEST_EQUAL, // within a margin
    HN_TEST_RISES, // with the column `along`
    HN_TEST_FALLS,
    HN_TEST_BOUND,  // of >= than in every row
    HN_TEST_SOONER, // of reaches than's value at the end in fewer steps than than itself
    HN_TEST_SLOPE,  // of log of over log along, equal to a value within a margin
    HN_TEST_SLOPE_BELOW
};
extern const char *const hn_claim_tests[];
static inline bool hn_claim_is_slope(enum hn_claim_test test) {
    return test == HN_TEST_SLOPE || test == HN_TEST_SLOPE_BELOW;
}

enum hn_claim_steps {
    HN_STEPS_ALL,
    HN_STEPS_TRAINED, // above 0
    HN_STEPS_FIRST,
    HN_STEPS_LAST,  // of the data set
    HN_STEPS_START, // first row of each run: before training
    HN_STEPS_END    // last row of each run
};

// Combination of two statistics into the one that is reported (levels) or judged (claims: the
// difference).
enum hn_claim_as { HN_AS_VALUE, HN_AS_DIFFERENCE, HN_AS_RATIO, HN_AS_REDUCTION };

// Most columns of `each`, columns of `rows`, and combinations of their values.
enum { HN_CLAIM_EACH = 8, HN_CLAIM_FILTERS = 24, HN_CLAIM_COMBINATIONS = 4096 };

// Rows whose column has one of the values; several values stand for as many comparisons.
struct hn_claim_filter {
    const char *column;
    const char **value; // [values]
    int64_t values;
};

// A statistic: an expression of one or two columns, over the rows that pass all filters.
struct hn_claim_side {
    bool given;
    char *table;  // "runs", "snapshots", or a name below /tables
    char *column; // value = factor x (column op times x with)
    char *with;   // within the text of column; NULL = one column
    char op;      // '+', '-', '*', '/'
    double times;
    double factor, value; // value: a constant instead, if it is not NaN
    int steps;            // enum hn_claim_steps, -1 = those of the claim
    struct hn_claim_filter *filter;
    int64_t filters;
};

// A number of a paper, by its keys in <id>.tsv; series NULL: none.
struct hn_claim_published {
    const char *series, *x;
};

// Kinds of claims. The paper's alone decide the verdict of an entry; an identity is proved, so that
// its failure is a mistake of this program; ours are questions that no paper answers.
enum hn_claim_owner { HN_CLAIM_OF_PAPER, HN_CLAIM_IDENTITY, HN_CLAIM_OURS };
extern const char *const hn_claim_owners[]; // "claim", "identity", "ours"

// Or a level: a number beside the paper's, not judged, which has a unit and a scale.
struct hn_claim {
    const char *name, *statement, *along, *unit;
    int as;    // enum hn_claim_as; of a claim HN_AS_DIFFERENCE
    int owner; // enum hn_claim_owner
    int test, steps;
    int ends;   // rises, falls: 1 = only from the first to the last, not between neighbours
    bool exact; // a number without spread: one value is enough
    double margin, within, tolerance, scale;
    struct hn_claim_side of, than;
    const char **each; // [n_each] columns whose values are compared apart
    int64_t n_each;
    struct hn_claim_published published;
};

// A job and the kind of snapshot that it needs.
struct hn_claim_job {
    const char *job;
    bool labels, views, features;
    bool one_seed, each_seed; // once with the first seed; once for each (studies know one)
    bool last_step;           // only the last step of the series
    bool epoch;               // the job has whole epochs, by any effort
    double steps, items;      // at least
    int prefer;               // 0: most items, 1: most steps
    // For a training (entries of that kind): folders of data, as its tasks name them; overrides, by
    // effort and always; how many seeds by effort.
    const char **data, **set, **quick, **full; // [n_data] ...
    int64_t n_data, n_set, n_quick, n_full;
    double seeds, quick_seeds, full_seeds;
    bool any; // one of several that were made of a job on any data: it may fail alone
};

// A sampler timed on random rows.
struct hn_claim_cost {
    const char *name, *sampler, *entries;
    double items, dims, batch, reps;
    bool full; // only with --full
};

enum hn_claim_kind { HN_KIND_SNAPSHOTS, HN_KIND_TRAINING, HN_KIND_LISTED };
extern const char *const hn_claim_kinds[];
// Why a listed entry cannot be run: no code of the program could help but for HN_NEEDS_CODE.
enum hn_claim_needs {
    HN_NEEDS_DATA,
    HN_NEEDS_CODE,
    HN_NEEDS_ENCODER, // one that others trained
    HN_NEEDS_METHOD,  // of other papers
    HN_NEEDS_MACHINE,
    HN_NEEDS_LOOK // pictures and texts, which another command shows
};

struct hn_claim_entry {
    const char *paper, *id, *title, *source;
    const char *missing;   // what a listed entry needs
    const char *on;        // data that it is measured on, where these are not the paper's
    const char *as;        // identifier of the entry that shows the same; listed entries
    const char *statement; // where no claim says it
    bool no_encoder;       // its claims are about graphs or points of their own

    int kind, needs;
    struct hn_claim_job *job;
    struct hn_claim_cost *cost;
    struct hn_claim *claim, *level;
    int64_t jobs, costs, claims, levels;
};

// All entries of a claim file. They, as results and outcomes below, belong to the owner of the
// time.
struct hn_claim_book {
    const char *paper;
    struct hn_claim_entry *entry;
    int64_t entries;
};

// The coverage of an entry: "covered", "on other data: ...", "needs data: ...", "needs code:
// ..." (or another of enum hn_claim_needs), "as bs-fig4".
struct hn_phrase hn_claim_coverage(const struct hn_claim_entry *entry);

// text: NULL = read that file. HN_USAGE names file, line and column of what is wrong.
HN_MUST_USE enum hn_code hn_claims_read(struct hn_context *ctx, const char *name, const char *text,
                                        struct hn_claim_book *out);

enum { HN_CLAIM_AT = 200, HN_CLAIM_DATASET = 256 };

// Replicates of a comparison: seeds of a sampler on one encoder, encoders (of a family of
// snapshots, or trained for the claim), or repetitions without any encoder.
enum hn_claim_replicates { HN_BY_SEED, HN_BY_ENCODER, HN_BY_TRAINING, HN_BY_REPETITION };

// One comparison of a claim.
struct hn_claim_part {
    char dataset[HN_CLAIM_DATASET], at[HN_CLAIM_AT];
    int64_t step;              // -1: none
    double left, right;        // means over replicates
    double difference, lo, hi; // 95 %
    double error, p;           // standard error; paired t-test of no difference, two-sided
    double margin;             // how far apart is equal; 0 for a test of direction
    double p_holds, p_fails; // one-sided, that the claimed side, or the other, is not the true one
    double deviation, capacity; // over replicates; distance to the nearest edge of the claimed side
    int64_t replicates, needed; // needed: 0 none, -1 more than can be drawn
    enum hn_claim_replicates kind;
    double detectable; // difference that so many replicates show with probability .9, about
    bool batches;      // the interval is over batches of one seed
    bool still;        // all replicates give one number, and it is not `exact`: judged by sign
    enum hn_verdict verdict;
};

struct hn_claim_result {
    enum hn_verdict verdict;
    char reason[512];
    struct hn_claim_part *part; // [parts]; of a bound only the one that decided
    int64_t parts, decided;     // decided: the part that decided, -1 none
    int64_t compared, holding, failing;
    int64_t alike; // comparisons left out: both sides are one and the same cell
    int64_t needed;
    // For all parts together: by intersection and union, and by Bonferroni. 1 if it is not tested.
    double p_holds, p_fails;
};

// Judges a claim on results. Missing tables, columns and rows are verdicts (`not tested`, the
// reason names them), not failures.
HN_MUST_USE enum hn_code hn_claim_judge(struct hn_context *ctx, const struct hn_results *r,
                                        const struct hn_claim *claim, struct hn_claim_result *out);
// Parts with the level's value in `difference`; verdict NOT_TESTED with the reason if there is
// none.
HN_MUST_USE enum hn_code hn_claim_measure(struct hn_context *ctx, const struct hn_results *r,
                                          const struct hn_claim *level,
                                          struct hn_claim_result *out);

// Outcome of an entry: one result for each claim and each level.
struct hn_claim_outcome {
    const struct hn_claim_entry *entry; // borrowed
    enum hn_verdict verdict;
    enum hn_verdict corrected; // among all entries of a report: hn_claims_correct()
    double p;                  // of the verdict: 1 if inconclusive, NaN if not tested
    int64_t claims, holding, failing, broken; // the paper's; identities that fail
    int64_t encoders, datasets;               // that the paper's claims rest on: fewest, distinct
    char reason[512];
    struct hn_claim_result *claim; // [entry->claims]
    struct hn_claim_result *level; // [entry->levels]
};

// Judges every claim of an entry on results. why: if not "", why it could not be measured, so that
// no claim is tested (r may be NULL then). The verdict of an entry, by the paper's claims: fails if
// one fails, else not tested if one is not, else inconclusive if one is, else holds; not tested
// without such claims.
HN_MUST_USE enum hn_code hn_claims_judge(struct hn_context *ctx, const struct hn_claim_entry *entry,
                                         const struct hn_results *r, const char *why,
                                         struct hn_claim_outcome *out);

// The verdicts of a report corrected together, by Holm's procedure at 2.5 % over the entries that
// are tested: what does not stand it is inconclusive. Where some verdict rests on two or three
// encoders, nothing is corrected: so few stand no correction for a report's number of entries.
HN_MUST_USE enum hn_code hn_claims_correct(struct hn_context *ctx, struct hn_claim_outcome *outcome,
                                           int64_t n);

// Appends the outcome to the tables claim_ids, claims, claim_parts and claim_levels of `r`.
HN_MUST_USE enum hn_code hn_claims_store(struct hn_context *ctx,
                                         const struct hn_claim_outcome *outcome,
                                         struct hn_results *r);
// On standard output: an outcome for people, and the table of all verdicts.
void hn_claims_print(const struct hn_claim_outcome *outcome);
void hn_claims_print_summary(const struct hn_claim_outcome *outcome, int64_t n);
// Verdicts that differ from those of earlier results, which `name` names.
void hn_claims_print_changes(const struct hn_claim_outcome *outcome, int64_t n,
                             const struct hn_results *earlier, const char *name);
struct json_t;
// Appends the outcome to an array (of jansson): the row of claim_ids, with lists of those of
// claims, which have their claim_parts, and of claim_levels.
HN_MUST_USE enum hn_code
hn_claims_json(struct hn_context *ctx, const struct hn_claim_outcome *outcome, struct json_t *list);
