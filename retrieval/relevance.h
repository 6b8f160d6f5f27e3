// Which passages count as relevant to a query, equal texts included.
#ifndef HN_RETRIEVAL_RELEVANCE_H
#define HN_RETRIEVAL_RELEVANCE_H

#include "core/qrels.h"

// The keys of the relevant passages of each query, ascending. A passage's key is the number of its
// text, or its index where texts do not matter.
struct hn_relevance {
    int64_t *start;       // [queries + 1]; NULL: nothing is known
    int64_t *key;         // [start[queries]]
    const int64_t *group; // [passages] borrowed; NULL: keys are indices
};
// The arrays belong to the owner of the time. `qrels` without rows (start = NULL) gives none.
HN_MUST_USE enum hn_code hn_relevance_build(struct hn_context *ctx, const struct hn_qrels *qrels,
                                            const int64_t *group, struct hn_relevance *out);
bool hn_relevance_has(const struct hn_relevance *r, int64_t query, int32_t passage);

#endif
