// SPDX-License-Identifier: GPL-3.0-or-later
// Notes on names of labels that look like mistakes.
#pragma once

#include "core/context.h"

// Notes on names that look the same, that often stand for no label, or that are lists.
HN_MUST_USE enum hn_code hn_note_alike(struct hn_context *ctx, const char *path,
                                       const char *const *name, int64_t n);
void hn_note_missing(struct hn_context *ctx, const char *path, const char *const *name, int64_t n);
void hn_note_lists(struct hn_context *ctx, const char *path, const char *const *name, int64_t n);
