// What untrained encoders scored. Runs that differ in their sampler, their weighting or their batch
// size begin with the same weights, and every accuracy table has the untrained encoder beside them:
// one evaluation does for all of them.
#ifndef HN_TRAINING_UNTRAINED_H
#define HN_TRAINING_UNTRAINED_H

#include "core/context.h"

enum { HN_UNTRAINED_KEY = 64 };

// Zeroed is empty. Not for several threads.
struct hn_untrained {
    struct hn_untrained_one *first; // private
};

// value[n], as kept with this key of at most HN_UNTRAINED_KEY characters. A missing list (NULL) is
// empty.
bool hn_untrained_find(const struct hn_untrained *u, const char *key, int n, double *value);
// Keeps a copy; a missing list keeps nothing. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_untrained_keep(struct hn_context *ctx, struct hn_untrained *u,
                                           const char *key, int n, const double *value);
void hn_untrained_free(struct hn_context *ctx, struct hn_untrained *u);

#endif
