// Settings that `hardneg price` compared, as a results file.
#ifndef HN_HARNESS_MINING_PRICE_STORE_H
#define HN_HARNESS_MINING_PRICE_STORE_H

#include "harness/mining/corpus.h"
#include "retrieval/price.h"

struct hn_price_record {
    const struct hn_corpus *corpus;
    int64_t step, negatives, depth, judged; // step of the series; pairs that were judged
    const char *by;                         // "truth", "judged" or "ranks"
    const char *argv;                       // the command
    const struct hn_price *price;           // [n]
    int n;
};

// "--min-rank 11", as `mine` takes it.
void hn_price_text(const struct hn_price_setting *s, char *text, size_t size);
// Tables `price`, a row for each setting, and `price_attrition`, a row for each setting and filter
// (docs/reference/results-file.md), for `report` and `plot`.
HN_MUST_USE enum hn_code hn_price_store(struct hn_context *ctx, const struct hn_price_record *r,
                                        const char *path);

#endif
