// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by tasks of texts: an encoder of bags, items that are pairs of a query and
// its key, views of both, batches with further keys, and the features' own embeddings.
//
// Texts are numbered as in `features`. Texts from `apart` on have a table of embeddings of their
// own. Embeddings are of the items' queries, then of the texts `behind`.
#pragma once

#include "training/net/net.h"
#include "training/tasks/task.h"
#include "training/text/features.h"

// The encoder, a table of embeddings, and its steps:
//
//   h = sum over occurrences of weight x E[bucket],  z = h / |h|, or h P / |h P|
//   L = mean_i [ LSE_j(q_i k_j / tau) - q_i k_i / tau ]
//
// q: views of the queries, k: views of their keys, then of hard negatives, which serve all queries.
// In training numbers of h may be dropped (`drop`).
enum { HN_TEXT_ROWS = 256 }; // sentences embedded at once

struct hn_text_net {
    struct hn_net encoder;
    struct hn_tape tape;
    struct hn_sparse x;   // bags of the rows of a pass
    struct hn_sparse x_t; // its transpose: row k is that of weights->touched[k]
    int32_t *number;      // of each entry of x its row of x_t
    int32_t *number_of;   // [encoder.in] row of x_t of each column that was touched
    struct hn_loss_work loss;
    hn_real *dz; // [rows x d]
};

struct hn_text_net_spec {
    int64_t tables;      // E has so many times HN_TEXT_BUCKETS rows
    int64_t hidden, out; // columns of h and z; hidden = 0: as many, without P
    double drop;
    enum hn_objective objective;
    int64_t batch, hard; // items in a batch, and hard negatives of each, at most
    bool all;            // lists are of all rows (hn_loss_lists)
};
// E, then P, are all there is in `weights`, not allocated yet.
HN_MUST_USE enum hn_code hn_text_net_open(struct hn_context *ctx,
                                          const struct hn_text_features *features,
                                          struct hn_weights *weights,
                                          const struct hn_text_net_spec *spec,
                                          struct hn_text_net *out);

// A pass: clear, add a row for every view of a sentence (hn_text_add_row() to net->x), then one of
// these. z of the rows, valid until the next pass:
const hn_real *hn_text_net_embed(struct hn_text_net *net, struct hn_weights *weights,
                                 const struct hn_pass *pass);
void hn_text_net_clear(struct hn_text_net *net);
// Forward, loss and backward of n queries, n keys and the rest as hard negatives: gradients of
// weights, of the rows in weights->touched. lists: the negatives of each query, keys counted
// from the first key, or all rows; NULL: the batch's, without hard negatives. Returns the loss; *z:
// of all rows.
double hn_text_net_step(struct hn_text_net *net, struct hn_weights *weights,
                        const struct hn_pass *pass, const struct hn_loss_spec *spec,
                        const struct hn_loss_lists *lists, int64_t n, const hn_real **z);

// Owned by the current owner. Texts by their number; hard: negatives of the item's own, which serve
// the whole batch, -1 = none.
struct hn_text_items {
    int64_t n, width;
    int32_t *query, *key; // [n]
    int32_t *hard;        // [n x width]
};
HN_MUST_USE enum hn_code hn_text_items_open(struct hn_context *ctx, int64_t capacity, int64_t width,
                                            struct hn_text_items *out);
// hard: the first of its hard negatives, which has no others.
void hn_text_items_add(struct hn_text_items *items, int32_t query, int32_t key, int32_t hard);

// Groups of texts that pairs connect. group[n], in which group[t] = t at first: joins those of two
// texts; at the end numbers all from 0, in the order of their first text.
void hn_text_join(int32_t *group, int32_t a, int32_t b);
void hn_text_number_groups(int32_t *group, int64_t n);

// Options of a task of texts, first in its params.
struct hn_text_params {
    char *data;
    bool idf;               // weigh features by inverse frequency
    int64_t out, hidden;    // columns of z, and of the table (0: of z, without a projection)
    int64_t svd;            // singular vectors of the projection evaluated beside; 0: none
    double word_drop, drop; // shares of words that a view leaves out, of numbers of h in training
};

// True if the text `key` is no negative of item i's query.
typedef bool hn_text_related(const struct hn_task *task, int64_t i, int32_t key);
// True if the queries (way 0) or keys (way 1) of items a and b are no negatives of each other.
typedef bool hn_text_connected(const struct hn_task *task, int way, int64_t a, int64_t b);

// State of a task of texts, first in its state.
struct hn_text_task {
    // Set by the task before hn_text_task_open().
    struct hn_text_features features;
    struct hn_text_items items;
    const int32_t *behind;    // [n_all - n] texts; NULL: 0, 1, ...
    int64_t apart;            // the first text that has the second table; features.n: none
    const char *hard_option;  // that asks for hard negatives
    bool lists;               // negatives are listed, for hard ones and masks
    hn_text_related *related; // optional: pairs that are no negatives
    bool same_side[2];        // other queries are negatives of a query, other keys of a key; lists
    hn_text_connected *connected; // then: those that are not, an item itself among them
    const int32_t *texts;         // of the view HN_TEXT_TEXTS, set before it is embedded
    // By hn_text_task_open().
    struct hn_text_net net;
    bool *left_out; // [features.max_words]
    int32_t *hard;  // [batch x width] different hard negatives of a batch
    int64_t n_hard;
    bool *in_batch;       // [features.n] scratch of find_hard(), false
    int32_t *own[2];      // of the lists, as what follows: [batch]
    int32_t *position[2]; // [batch x (1 + width) batch], [batch x batch]; by same_side batch^2 more
    int64_t *start[2];    // [batch + 1]
};

// After hn_task_set_items(). The hooks of hn_task_type follow.
HN_MUST_USE enum hn_code hn_text_task_open(struct hn_context *ctx, struct hn_task *task);
void hn_text_init(struct hn_task *task);
HN_MUST_USE enum hn_code hn_text_step(struct hn_context *ctx, struct hn_task *task,
                                      const struct hn_task_batch *batch, double *loss, float *z1);
// View 1 is of the queries, view 2 of the keys, HN_TEXT_TEXTS of `texts`, whole.
enum { HN_TEXT_TEXTS = -1 };
HN_MUST_USE enum hn_code hn_text_embed(struct hn_context *ctx, struct hn_task *task, int view,
                                       int64_t at, int64_t first, int64_t rows, float *z);

// Bags of the texts of[n], or of all n, as a matrix x [n x HN_TEXT_BUCKETS].
HN_MUST_USE enum hn_code hn_text_bags(struct hn_context *ctx, const struct hn_text_features *f,
                                      const int32_t *of, int64_t n, struct hn_sparse *x);
// z[bags->rows x svd]: the bags' projection to the `svd` leading singular vectors of the texts
// fit[n], unit rows or zero.
HN_MUST_USE enum hn_code hn_text_svd(struct hn_context *ctx, const struct hn_text_features *f,
                                     const int32_t *fit, int64_t n, int64_t svd,
                                     const struct hn_sparse *bags, float *z);
