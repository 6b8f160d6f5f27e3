// SPDX-License-Identifier: GPL-3.0-or-later
// The values of a table of keys as YAML.
#pragma once

#include "core/bytes.h"
#include "harness/job/fields.h"
#include "harness/job/grid.h"

// Text that grows. After a failed allocation nothing is added, and there will be no text.
struct hn_yaml_text {
    struct hn_context *ctx;
    struct hn_bytes bytes;
    bool failed, quoted; // quoted: names of entries and texts always stand in quotes
    bool brief;          // options that have their defaults are left out of points
};
void hn_yaml_text_put(struct hn_yaml_text *t, const char *text);
void hn_yaml_text_name(struct hn_yaml_text *t, const char *name); // in quotes where YAML wants them
char *hn_yaml_text_end(struct hn_yaml_text *t); // owned by the caller; NULL: out of memory

// "{batchsampler: {K: 100, M: 500}}"
void hn_yaml_text_point(struct hn_yaml_text *t, const struct hn_registry *registry,
                        const struct hn_point *point);

// The values as YAML, with every default: read again it gives the same, and the same text. Owned by
// the caller. quoted: names of entries and texts are always quoted.
HN_MUST_USE enum hn_code hn_fields_text(struct hn_context *ctx, const struct hn_fields *table,
                                        const void *in, bool quoted, char **out);
