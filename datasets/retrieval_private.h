// SPDX-License-Identifier: GPL-3.0-or-later
// Declarations that reading and writing snapshots of queries and a corpus share.
#pragma once

#include "datasets/retrieval.h"
#include "datasets/snapshot_private.h"

enum { HN_RETRIEVAL_VERSION = 2 };

// Paths by side.
extern const char *const hn_retrieval_rows_path[HN_SETS],
    *const hn_retrieval_teacher_path[HN_SETS], *const hn_retrieval_group_path[HN_SETS],
                                                   *const hn_retrieval_id_path[HN_SETS],
                                                       *const hn_retrieval_text_path[HN_SETS],
                                                           *const hn_retrieval_set_name[HN_SETS];

struct hn_retrieval {        // arrays belong to it
    struct hn_snapshot base; // file, attributes, steps; its series and teachers are of the sides
    struct hn_retrieval_info info;
    struct hn_tuples tuples; // if opened by hn_snapshot_open_any()
};

// out[tuples x d]: the unit rows of the tuples' queries, or passages, shared as those of the side.
HN_MUST_USE enum hn_code hn_tuples_rows(struct hn_context *ctx, struct hn_retrieval *r,
                                        enum hn_set side, int64_t index, struct hn_matrix *out);
