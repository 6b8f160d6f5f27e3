// Grids of entries of a registry: an option that is given a list is an axis, and nested loops over
// the axes, in the order in which they are written, give the points.
#ifndef HN_HARNESS_JOB_GRID_H
#define HN_HARNESS_JOB_GRID_H

#include "harness/job/list.h"

// The layout of a point, whatever its type is a type of (struct hn_job_sampler and the like).
struct hn_point {
    const void *type;
    void *params;
    char *text; // canonical parameters
};

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

#endif
