// SPDX-License-Identifier: GPL-3.0-or-later
// Grids: an option that is given a list is an axis, and nested loops over the axes, in the order in
// which they are written, give the points.
#pragma once

#include "harness/job/list.h"

// A point: an entry of a registry with its parameters. Points of all registries have one layout, by
// which they are read.
#define HN_POINT(type_)                                                                            \
    {                                                                                              \
        const type_ *type;                                                                         \
        void *params;                                                                              \
        char *text; /* canonical parameters ("K=100, M=500") */                                    \
    }

struct hn_point HN_POINT(void);

// Expands a list of entries into points, none of them twice. The item `rest` stands for every entry
// that the list does not name, with its defaults. others: items that name no entry are
// skipped. The caller frees the array, to which its points belong, also after a failure.
HN_MUST_USE enum hn_code hn_grid_read(struct hn_context *ctx, const struct hn_registry *registry,
                                      const struct hn_yaml *value, bool others,
                                      struct hn_list *out);

// The one point that a text stands for; the caller frees it. before: what messages put before the
// text ("sampler ").
HN_MUST_USE enum hn_code hn_grid_read_one(struct hn_context *ctx,
                                          const struct hn_registry *registry, const char *before,
                                          const char *text, struct hn_point **out);
