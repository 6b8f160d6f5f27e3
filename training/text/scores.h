// SPDX-License-Identifier: GPL-3.0-or-later
// Spearman's correlation of the cosines of pairs of sentences with their scores.
#pragma once

#include "datasets/sts.h"
#include "training/net/sparse.h"

// Spearman's correlation of the cosines of pairs of sentences with their scores, over all pairs of
// a file together.
//
// rho[n_sets] of the embeddings z[sts->n x d], unit rows.
HN_MUST_USE enum hn_code hn_text_scores(struct hn_context *ctx, const struct hn_sts *sts,
                                        int n_sets, const float *z, int64_t d, double *rho);

// The same of sparse rows x [sts->n x any], unit ones with ascending columns.
HN_MUST_USE enum hn_code hn_text_scores_sparse(struct hn_context *ctx, const struct hn_sts *sts,
                                               int n_sets, const struct hn_sparse *x, double *rho);
