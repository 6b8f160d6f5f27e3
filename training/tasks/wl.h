// SPDX-License-Identifier: GPL-3.0-or-later
// The Weisfeiler-Lehman subtree kernel (Shervashidze et al. 2011).
#pragma once

#include "datasets/tudataset.h"
#include "training/tasks/task.h"

// The Weisfeiler-Lehman subtree kernel (Shervashidze et al. 2011): in every round a node's label
// becomes the name of its own label and the sorted labels of its neighbours; the kernel of two
// graphs is the inner product of their numbers of nodes with each label, summed over the rounds.
// kernel[graphs x graphs], divided by the roots of both graphs' own values. Round 0 has the labels
// of the file (of several columns those of one node together), or one label where it has none.
// rounds >= 0.
HN_MUST_USE enum hn_code hn_wl_kernel(struct hn_context *ctx, const struct hn_tudataset *data,
                                      int64_t rounds, double *kernel);
