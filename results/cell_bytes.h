// SPDX-License-Identifier: GPL-3.0-or-later
// Results of a cell as bytes, in two parts: what is its own, and the layout (columns, machine) that
// cells of one job have in common.
#pragma once

#include "core/bytes.h"
#include "results/store.h"

// Texts of a cell that are read without its results; borrowed, or of the bytes.
struct hn_cell_head {
    const char *run_key, *cell_key, *status, *program;
};
HN_MUST_USE enum hn_code hn_cell_head_put(struct hn_context *ctx, struct hn_cell_head head,
                                          struct hn_bytes *out);
// HN_DATA: these are no such bytes.
HN_MUST_USE enum hn_code hn_cell_head_take(struct hn_context *ctx, struct hn_cursor *from,
                                           struct hn_cell_head *head);

// layout: where that part goes to; own itself: the two are mixed, as they come.
HN_MUST_USE enum hn_code hn_cell_bytes_put(struct hn_context *ctx, const struct hn_results *results,
                                           struct hn_bytes *own, struct hn_bytes *layout);
// Takes all of `own`; *results is zeroed before. HN_DATA: these are no such bytes.
HN_MUST_USE enum hn_code hn_cell_bytes_take(struct hn_context *ctx, struct hn_cursor *own,
                                            struct hn_cursor *layout, struct hn_results *results);
// The same into results of a cell of the same layout, whose values are replaced. After a failure
// they are empty.
HN_MUST_USE enum hn_code hn_cell_bytes_refill(struct hn_context *ctx, struct hn_cursor *own,
                                              struct hn_results *results);
