// SPDX-License-Identifier: GPL-3.0-or-later
// hardneg as a library: mini-batches and negatives for contrastive learning, and what batches are
// like. The whole surface; docs/guide/python.md shows it in use, library/example/example.c in C.
//
// A handle is a sampler with the embeddings that it was built on. Nothing is printed, no signal is
// handled, no file is read. Functions that can fail return HARDNEG_OK or another code, and
// hardneg_message() says in a sentence what was wrong and what to do. Arrays are the caller's,
// row-major and borrowed for the call alone. The same seed and embeddings give the same batches for
// any number of threads.
//
// Threads may share a handle, but for hardneg_free(). Calls wait for each other; a build is made
// aside while others draw, and takes the place of the last one when it is whole. A thread draws
// from the epoch that it began last itself. In a child of fork() a handle works on one thread; if
// another thread was in a call of it at that moment, calls fail with HARDNEG_USAGE.
#ifndef HARDNEG_H
#define HARDNEG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum hardneg_code {
    HARDNEG_OK = 0,
    HARDNEG_USAGE = 2,         // an argument or an option is wrong
    HARDNEG_DATA = 3,          // the arrays are: a row without direction, an id out of range
    HARDNEG_INTERNAL = 70,     // a mistake of the library
    HARDNEG_INTERRUPTED = 130, // hardneg_stop()
    HARDNEG_MEMORY = 200
};

typedef struct hardneg hardneg;

// Items that a sampler is built on. Set `size` and the fields that you have; the rest is zero.
// Later versions add fields at the end; structs of earlier versions are taken, those of later ones
// refused.
struct hardneg_items {
    size_t size;           // sizeof(struct hardneg_items)
    int64_t n, d;          // items and dimensions
    const float *x;        // [n x d] embeddings, finite: directions count, not lengths
    const float *view2;    // [n x d] second views: row i is the positive of row i of x
    const int32_t *labels; // [n], -1 = unknown
    // A graph: the neighbours of item i are edge[edge_start[i] .. edge_start[i + 1]).
    const int64_t *edge_start; // [n + 1]
    const int32_t *edge;
    const float *features; // [n x feature_dims] raw features, for the sampler `ring`
    int64_t feature_dims;
    // Number of this build, from 0: it names the random streams. Training so far, in [0, 1]: a
    // schedule such as alpha=0.2~0.05 follows it.
    int64_t index;
    double progress;
    // Several labels an item, in place of `labels`: item i has label[label_start[i] ..
    // label_start[i + 1]), 0 and up; without any its labels are unknown. Two items that share one
    // are of one class.
    const int64_t *label_start; // [n + 1]
    const int32_t *label;
    int64_t zero_rows; // 0: a row of x or view2 that is zero is refused; 1: its cosines are all 0
    // Embeddings of another encoder, for samplers with space: teacher and weighting gist with
    // guide: teacher; the source or data set of an item, 0 and up, for `grit`.
    const float *teacher; // [n x teacher_dims], finite: directions count
    int64_t teacher_dims;
    const int32_t *group; // [n]
    // Tuples: row i of x is a query, row i of view2 a passage that is relevant to it. Their texts
    // by number, below 2 n, equal ones of either side by the same; and further pairs of such
    // numbers, query and passage, that are known to be relevant. Without labels or a teacher.
    const int32_t *query_text, *passage_text; // [n], both or none
    const int32_t *relevant;                  // [relevant_pairs x 2]
    int64_t relevant_pairs;
    int64_t epoch; // that comes next, 0 or more: the build arranges its batches
    // Of tuples, the texts of their mined negatives, -1 where there are fewer; numbers of texts are
    // below (2 + negative_texts) n then.
    const int32_t *negative_text; // [n x negative_texts]
    int64_t negative_texts;
};

// "0.2.0".
const char *hardneg_version(void);

// spec: a sampler as job files have it: "knn", "{batchsampler: {M: 500, K: 300}}". threads: 0 = all
// that the process may use. NULL if there is no memory for a handle, or no place to put it in *out;
// else *out is to be freed, whatever the code.
int hardneg_open(const char *spec, int64_t batch_size, uint64_t seed, int threads, hardneg **out);
void hardneg_free(hardneg *h); // NULL is fine

// One sentence on the failure of this thread's last call, if that was of this handle, else of the
// handle's last call; "" if it did not fail. Valid until the thread's next call.
const char *hardneg_message(const hardneg *h);
// "batchsampler {K=300, M=500, alpha=0.2~0.05, ...}": the sampler with every option.
const char *hardneg_sampler(const hardneg *h);
// Notes of the same call, between semicolons ("M taken as 1999", "x: 2 rows are zero and stay
// ..."), or "".
const char *hardneg_note(const hardneg *h);

// Builds the sampler on these items, of which it keeps a copy. May be called again at any time,
// with as many items and dims or others: each thread has to begin an epoch then. After a failure
// the last build stays as it is. Needs memory for both.
int hardneg_build(hardneg *h, const struct hardneg_items *items);
// Begins epoch number `epoch` for this thread and says how many batches it has. A thread that has
// begun none draws from the handle's last one, as long as other threads began only that.
int hardneg_epoch(hardneg *h, int64_t epoch, int64_t *batches);
// *batches: how many batches an epoch has. size[0 .. capacity): those of its first `capacity`
// batches, as far as there are so many. It draws nothing, and the thread stays in the epoch that it
// began.
int hardneg_sizes(hardneg *h, int64_t epoch, int64_t capacity, int64_t *size, int64_t *batches);
// Batches first .. first + count - 1 of the epoch: ids[count x batch_size], int64, short batches
// filled up with -1.
int hardneg_next(hardneg *h, int64_t first, int64_t count, int64_t *ids);
// Of the epoch, with keep_apart: how many tuples were exchanged between batches, and how many found
// no place in a batch without a passage that is known to be relevant to another query of it, which
// the note of hardneg_build() or hardneg_epoch() says; -1 of samplers without it.
int hardneg_apart(hardneg *h, int64_t *moved, int64_t *left);
// Maximum number of negatives of an anchor, for samplers that choose negatives per anchor (mined,
// ring, hops ...); 0 for samplers of batches. After a build.
int64_t hardneg_capacity(hardneg *h);
// As hardneg_next(), of such samplers: ids are anchors, and anchor p has the negatives
// negative[p * capacity ..], filled up with -1. score: NULL, or as many cosines, filled up with
// NaN.
int hardneg_negatives(hardneg *h, int64_t first, int64_t count, int64_t *ids, int64_t *negative,
                      float *score);

// 1 if the sampler, with its options, needs a member of the items: "view2", "labels", "edges",
// "features", "teacher", "groups" or "tuples"; else 0.
int hardneg_needs(const hardneg *h, const char *member);
// 1 if an epoch of the sampler, with its options, has every item once; else 0.
int hardneg_partitions(const hardneg *h);
// SHA-256 in hexadecimal of sampler, seed, batch size and items of the build, whose rows are
// normalised: processes that have the same one draw the same batches.
enum { HARDNEG_DIGEST = 65 };
int hardneg_digest(hardneg *h, char text[HARDNEG_DIGEST]);

// Candidates that a filter of `mined` drops, or that are kept, in (anchor, item) pairs.
struct hardneg_attrition {
    size_t size;                                 // sizeof(struct hardneg_attrition)
    char filter[32];                             // "rank", "score" ...; "kept": none drops them
    int64_t other_label, same_label, unlabelled; // than or as the anchor's
};
// Filter i of the last build, in the order in which they are tried; 0 once there are no more.
int hardneg_attrition(hardneg *h, int i, struct hardneg_attrition *out);

// Sampler i of those that there are; 0 once there are no more. per_anchor: 1 if it chooses
// negatives per anchor. Any pointer may be NULL.
int hardneg_type(int i, const char **name, const char **summary, const char **source,
                 int *per_anchor);
struct hardneg_option {
    size_t size; // sizeof(struct hardneg_option)
    const char *name, *help;
    const char *initial; // default as text; NULL = unset
    char range[256];     // values that it takes: "1 or more", "top, draw, ambiguous or ance"
};
// Option k of sampler i; 0 once there are no more.
int hardneg_option(int i, int k, struct hardneg_option *out);

// Settings of measuring batches.
struct hardneg_measure {
    size_t size;             // sizeof(struct hardneg_measure)
    double temperature;      // 0 = 0.5
    const char *loss;        // "ntxent" (NULL), "infonce" or "other-view"
    const char *weighting;   // "none" (NULL) or as in job files: "{hcl: {beta: 1}}"
    int64_t epoch_batches;   // batches of an epoch; 0 = all that are given
    const int64_t *negative; // [rows x width x capacity] of every anchor, filled up with -1, or
    int64_t capacity;        // NULL: the others of a batch are negatives
    // The items that batches are drawn from, where those of the build are a part that holds all
    // that are in a batch, in their order; 0 = the items of the build. Not with view2, whose global
    // loss is over all.
    int64_t population;
};
// Column i of what is measured: its name, unit and meaning; 0 once there are no more.
int hardneg_column(int i, const char **name, const char **unit, const char **meaning);
// Measures any batches of the items that the handle was built on: ids[rows x width], filled up with
// -1. value[columns], NaN where something is missing; hardneg_note() says what. `hardneg run` gives
// the same numbers for the same batches. how: NULL = defaults.
int hardneg_measure_batches(hardneg *h, const int64_t *ids, int64_t rows, int64_t width,
                            const struct hardneg_measure *how, double *value);

// Queries over a corpus, to be mined. Set `size` and what there is; the rest is zero. Arrays are
// borrowed for the call, and rows finite: directions count.
struct hardneg_corpus {
    size_t size; // sizeof(struct hardneg_corpus)
    int64_t queries, passages, d;
    const float *query, *passage; // [queries x d], [passages x d]
    // Relevance as rows of query, passage, grade, in any order: above 0 is relevant. The last grade
    // of a pair counts. `truth`, complete relevance, is counted in attrition alone.
    const int64_t *known; // [known_pairs x 3]
    int64_t known_pairs;
    const int64_t *truth; // [truth_pairs x 3]
    int64_t truth_pairs;
    // Equal texts of either side have equal numbers, 0 and up; both or none.
    const int64_t *query_group, *passage_group; // [queries], [passages]
    // Rows of another encoder, both or none.
    const float *query_teacher, *passage_teacher; // [queries x teacher_d], [passages x teacher_d]
    int64_t teacher_d;
    // Scores of some pairs, by a cross-encoder say, for the options filter-by, rank-by and guide:
    // rows of query, passage, in any order. The last score of a pair counts.
    const int64_t *scored; // [scored_pairs x 2]
    const float *score;    // [scored_pairs]
    int64_t scored_pairs;
    int64_t zero_rows; // 0: a row that is zero is refused; 1: its cosines are all 0
    // [known_pairs] out: scores of these pairs, those that filters look at, NaN where one is not
    // listed; or NULL.
    double *known_score;
    // A program that scores pairs when it is asked, beside `scored`; or NULL. It is called, never
    // by two threads at a time, with n pairs of query and passage whose scores could change what is
    // mined, until no such pair is left, and fills in score[n]; not 0: mining ends with
    // HARDNEG_USAGE.
    int (*scorer)(void *scorer_data, const int64_t *pair, int64_t n, float *score);
    void *scorer_data;
};
enum { HARDNEG_FILTERS = 16 };
struct hardneg_mining {
    size_t size;   // sizeof(struct hardneg_mining)
    int64_t width; // in: columns of the arrays; out, without arrays: negatives of a query
    int64_t fewer, none, drawn; // queries that filters leave fewer than wanted; none; drawn to fill
    // Candidates that a filter drops, or that are kept: all, known positives, and positives by
    // `truth` alone.
    int filters;
    const char *filter[HARDNEG_FILTERS]; // "rank", "relative_margin" ... "kept"
    int64_t all[HARDNEG_FILTERS], known[HARDNEG_FILTERS], hidden[HARDNEG_FILTERS];
};
// Mines hard negatives of queries as `hardneg mine` does. option: names and values of its options
// in turn ("relative-margin", "0.05"), NULL at the end; NULL = defaults. negative: [queries x
// width], -1 where there are fewer; score: likewise, NaN there, or NULL. negative NULL: only says
// how wide they have to be. The handle, of any sampler, has the threads, and the message.
int hardneg_mine(hardneg *h, const struct hardneg_corpus *corpus, const char *const *option,
                 int64_t *negative, double *score, struct hardneg_mining *out);

// Asks the calls that other threads are in to return HARDNEG_INTERRUPTED soon. May be called by a
// signal handler.
void hardneg_stop(hardneg *h);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
