// SPDX-License-Identifier: GPL-3.0-or-later
// Many cells in one compressed file: what cells of one job have in common is there once, the rest
// is deflated by the example of one of them.
#pragma once

#include "results/cell_bytes.h"

// A pack in memory: read from its file, added to, and written.
struct hn_cell_pack;
// Reads the pack; one without cells if there is no such file, or, with a note, if it is damaged.
// Owned by the caller.
HN_MUST_USE enum hn_code hn_cell_pack_open(struct hn_context *ctx, const char *path,
                                           struct hn_cell_pack **out);
void hn_cell_pack_close(struct hn_context *ctx, struct hn_cell_pack *pack); // NULL is fine
// True if the file is still the one that was read.
bool hn_cell_pack_is_of(const struct hn_cell_pack *pack, const char *path);

// Cells have the numbers 0 .. count - 1.
int64_t hn_cell_pack_count(const struct hn_cell_pack *pack);
struct hn_cell_head hn_cell_pack_head(const struct hn_cell_pack *pack, int64_t i);
// The cell that was read with this key, or -1.
int64_t hn_cell_pack_find(const struct hn_cell_pack *pack, const char *run_key);
// *out: borrowed until the next call.
HN_MUST_USE enum hn_code hn_cell_pack_results(struct hn_context *ctx, struct hn_cell_pack *pack,
                                              int64_t i, const struct hn_results **out);

// Adds a cell, in place of one that was read with its key. It is found when the file is read again.
HN_MUST_USE enum hn_code hn_cell_pack_add(struct hn_context *ctx, struct hn_cell_pack *pack,
                                          struct hn_cell_head head,
                                          const struct hn_results *results);
// Replaces the file, whole or not at all.
HN_MUST_USE enum hn_code hn_cell_pack_write(struct hn_context *ctx, struct hn_cell_pack *pack,
                                            const char *path);
