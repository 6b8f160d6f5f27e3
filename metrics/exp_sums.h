// Sums of exponentials over the negatives of every anchor of a batch, each computed once for all
// that ask for it: a score x1_a . x2_b belongs to anchor a of the first view and to anchor b of the
// second, a product within a view to both of its items.
#ifndef HN_METRICS_EXP_SUMS_H
#define HN_METRICS_EXP_SUMS_H

#include "core/context.h"

// The negatives of an anchor of either view: those of its own view, and of the other one.
enum { HN_OWN1, HN_OWN2, HN_OTHER1, HN_OTHER2, HN_NEGATIVES };
// Products that are asked for.
enum { HN_SUMS_OWN1 = 1, HN_SUMS_OWN2 = 2, HN_SUMS_OTHER = 4 };

// By anchor, of exp(rate (s - 1)); the rates that fit are those of hn_exp_sums_fit().
struct hn_exp_sums {
    double rate;
    unsigned done; // products that were summed
    struct hn_side_sums {
        double *all, *same, *labelled; // [n] all negatives, those of the anchor's label, labelled
    } side[HN_NEGATIVES];
};

// No sum of cosines then vanishes: e^-700 is a normal number.
static inline bool hn_exp_sums_fit(double rate) { return rate <= 350; }

struct hn_pairs;
struct hn_exp_sums_space; // of one thread: sums of a batch, and scratch
// For batches of at most `items` anchors with `negatives` each, summed at `rates` rates at most.
HN_MUST_USE struct hn_exp_sums_space *hn_exp_sums_open(struct hn_context *ctx, int64_t items,
                                                       int64_t negatives, int rates);
// Forgets the sums of the batch before.
void hn_exp_sums_begin(struct hn_exp_sums_space *space);
// The sums of a batch's products, which must be there, at a rate. Borrowed, for this batch.
const struct hn_exp_sums *hn_exp_sums(const struct hn_pairs *p, double rate, unsigned products);

#endif
