// The encoder of the tasks of texts, a table of embeddings, and its steps:
//
//   h = sum over occurrences of weight x E[bucket],  z = h / |h|, or h P / |h P|
//   L = mean_i [ LSE_j(q_i k_j / tau) - q_i k_i / tau ]
//
// q: views of the queries, k: views of their keys, then of hard negatives, which serve all queries.
// In training numbers of h may be dropped (`drop`).
#ifndef HN_TRAINING_TASKS_TEXT_NET_H
#define HN_TRAINING_TASKS_TEXT_NET_H

#include "training/net/layer.h"
#include "training/net/loss.h"
#include "training/text/features.h"

enum { HN_TEXT_ROWS = 256 }; // sentences embedded at once

// It belongs to the owner of the time.
struct hn_text_net {
    const struct hn_text_features *features; // borrowed
    struct hn_net encoder;
    struct hn_tape tape;
    struct hn_sparse x, x_t; // bags of the rows of a pass
    struct hn_loss_work loss;
    hn_real *dz; // [rows x d]
};

struct hn_text_net_spec {
    int64_t tables;      // E has so many times HN_TEXT_BUCKETS rows
    int64_t hidden, out; // columns of h and z; hidden = 0: as many, without P
    double drop;
    enum hn_objective objective;
    int64_t batch; // items in a batch, at most
};
// E, then P, are all there is in `weights`, not allocated yet.
HN_MUST_USE enum hn_code hn_text_net_open(struct hn_context *ctx,
                                          const struct hn_text_features *features,
                                          struct hn_weights *weights,
                                          const struct hn_text_net_spec *spec,
                                          struct hn_text_net *out);
// E is drawn from N(0, 1 / columns), each row from a stream of its own, every table alike; P
// likewise.
void hn_text_net_init(const struct hn_text_net *net, struct hn_weights *weights, uint64_t seed);

// A pass: clear, add a row for every view of a sentence (hn_text_add_row() to net->x), then one of
// these. z of the rows, valid until the next pass:
const hn_real *hn_text_net_embed(struct hn_text_net *net, struct hn_weights *weights,
                                 const struct hn_pass *pass);
void hn_text_net_clear(struct hn_text_net *net);
// Forward, loss and backward of n queries, n keys and the rest as hard negatives: gradients in
// weights->grad, of the rows in weights->touched. lists: the negatives of each query, keys counted
// from the first key; NULL: the batch's, without hard negatives. Returns the loss; *z: of all rows.
double hn_text_net_step(struct hn_text_net *net, struct hn_weights *weights,
                        const struct hn_pass *pass, const struct hn_loss_spec *spec,
                        const struct hn_loss_lists *lists, int64_t n, const hn_real **z);

#endif
