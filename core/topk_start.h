// Thresholds for the top-k sink to start from, by a sample of columns.
#ifndef HN_CORE_TOPK_START_H
#define HN_CORE_TOPK_START_H

#include "core/matrix.h"

// Columns worth sampling for the k best of `cols` (0: a row would gain nothing), and the place
// among a row's sampled products, best first, that lies below its k best in all but one row of a
// thousand where columns come in no particular order.
struct hn_topk_sample {
    int64_t columns, place;
};
struct hn_topk_sample hn_topk_sample_size(int64_t k, int64_t cols);

// threshold[x->rows]: the sampled product at that place, or a little less; a guess, which the
// caller has to check. The sample is drawn without replacement from fixed strata: the same in every
// run. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_topk_guess(struct hn_context *ctx, const struct hn_matrix *x,
                                       const struct hn_matrix *y, struct hn_topk_sample sample,
                                       float *threshold);

#endif
