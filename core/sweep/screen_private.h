// Parts of the screen.
#ifndef HN_CORE_SWEEP_SCREEN_PRIVATE_H
#define HN_CORE_SWEEP_SCREEN_PRIVATE_H

#include "core/sweep/screen.h"

// What rounding in double precision may add to a term, or to a limit: far less.
#define HN_SCREEN_MARGIN 1e-9

// s->own[matrices], s->unit: rounds and packs. *good: as of hn_screen_open(). s->kernel and
// s->words are set. After an error, or where it is not good, s->own is to be freed.
HN_MUST_USE enum hn_code hn_screen_round(struct hn_context *ctx, struct hn_screen *s,
                                         const struct hn_matrix *const matrix[2], int matrices,
                                         bool shuffled, bool *good);
// Whether few enough products are found, by a sample of rows and columns, if a share of them is
// wanted. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_screen_pays(struct hn_context *ctx, const struct hn_screen *s,
                                        double share, bool *pays);

#endif
