// Declarations that the two layouts of linqs.h share: linqs.c (numbers), linqs_content.c (names).
#ifndef HN_DATASETS_LINQS_PRIVATE_H
#define HN_DATASETS_LINQS_PRIVATE_H

#include "datasets/linqs.h"
#include "datasets/text.h"

enum { HN_LINQS_FEATURES_MAX = 1 << 20 };

// Makes space for what a file of r->lines nodes and r->bytes bytes could hold at max: a node takes
// a line, a feature two bytes. start[0] = 0.
HN_MUST_USE enum hn_code hn_linqs_capacity(struct hn_context *ctx, const struct hn_text *r,
                                           struct hn_linqs *out);
// out->features from n, p, start, index and value. HN_DATA if no node has a feature.
HN_MUST_USE enum hn_code hn_linqs_finish(struct hn_context *ctx, const struct hn_text *r,
                                         struct hn_linqs *out);
// out->split from NAME.split, where there is one; names: NULL where nodes are numbers.
struct hn_linqs_names;
HN_MUST_USE enum hn_code hn_linqs_read_split(struct hn_context *ctx, const char *folder,
                                             const struct hn_linqs_names *names,
                                             struct hn_linqs *out);
// All of NAME.content, NAME.cites and NAME.split; out->name is set.
HN_MUST_USE enum hn_code hn_linqs_read_content(struct hn_context *ctx, const char *folder,
                                               struct hn_linqs *out);

#endif
