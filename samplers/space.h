// The embeddings that a sampler works in: those of the encoder, or a teacher's.
#ifndef HN_SAMPLERS_SPACE_H
#define HN_SAMPLERS_SPACE_H

#include "samplers/sampler.h"

enum hn_space { HN_SPACE_EMBEDDINGS, HN_SPACE_TEACHER };
extern const char *const hn_space_names[];
#define HN_SPACE_OPTION(type)                                                                      \
    HN_CHOICE_OPTION(type, space, "space", "embeddings", hn_space_names,                           \
                     "similarity in the embeddings, or in the teacher's of the file (/teacher)")

// For check(). HN_NOT_APPLICABLE: a teacher that the items do not have.
HN_MUST_USE enum hn_code hn_space_check(struct hn_context *ctx, const char *sampler, int space,
                                        const struct hn_sampler_plan *plan);
// *rows: unit rows of all items, borrowed. HN_NOT_APPLICABLE as above.
HN_MUST_USE enum hn_code hn_space_rows(struct hn_context *ctx, const struct hn_sampler *self,
                                       int space, const struct hn_items *items,
                                       struct hn_matrix *rows);

#endif
