// SPDX-License-Identifier: GPL-3.0-or-later
// Thresholds for the top-k sink to start from, by a sample of columns.
#pragma once

#include "core/sweep/screen.h"

// Columns worth sampling for the k best of `cols` in d dimensions (0: a row would gain nothing),
// and the position among a row's sampled products, best first, that lies below its k best in all
// but one row of a thousand where columns come in no particular order. met: columns that a row
// meets before its threshold is raised anyway. in_cache: the candidates of the rows that are swept
// at a time stay in the cache, so that they are cheap to keep.
struct hn_topk_sample {
    int64_t columns, position;
};
struct hn_topk_sample hn_topk_sample_size(int64_t k, int64_t cols, int64_t met, int64_t d,
                                          bool in_cache);

// threshold[x->rows.rows]: the sampled product at that position, or a little less; a guess, which
// the caller has to check. The sample is drawn without replacement from fixed strata: the same in
// every run. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_topk_guess(struct hn_context *ctx, const struct hn_packed *x,
                                       const struct hn_matrix *y, struct hn_topk_sample sample,
                                       float *threshold);

// The same from the screen's first columns, which are in no particular order.
HN_MUST_USE enum hn_code hn_topk_guess_screened(struct hn_context *ctx,
                                                const struct hn_screen *screen,
                                                struct hn_topk_sample sample, float *threshold);
