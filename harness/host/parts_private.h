// Parts of hn_file_parts.
#ifndef HN_HARNESS_HOST_PARTS_PRIVATE_H
#define HN_HARNESS_HOST_PARTS_PRIVATE_H

#include "harness/host/parts.h"

// For what failed in a folder: HN_WAITING where it is not there any more, else the code so far.
HN_MUST_USE enum hn_code hn_file_parts_fail(struct hn_context *ctx, const char *folder);
// As struct hn_parts has it.
HN_MUST_USE const void *hn_file_parts_share(struct hn_context *ctx, void *self, const char *name,
                                            int64_t n, const struct hn_parts_fill *fill);

#endif
