// A snapshot of queries and a corpus with one step of its rows in memory, as mining wants it.
#pragma once

#include "core/digest.h"
#include "datasets/import/collection.h"

struct hn_file_parts;

struct hn_corpus {
    struct hn_retrieval *file;
    const struct hn_retrieval_info *info;
    struct hn_retrieval_data data;
    char sha256[HN_DIGEST_TEXT]; // of its content
};

// step: of the series, INT64_MIN: the last. parts: those of ctx, which are then about this file; or
// NULL. Arrays belong to the owner of the time. HN_USAGE: there is no such step.
HN_MUST_USE enum hn_code hn_corpus_open(struct hn_context *ctx, const char *path, int64_t step,
                                        struct hn_file_parts *parts, struct hn_corpus *out);
void hn_corpus_close(struct hn_context *ctx, struct hn_corpus *c); // zeroed is fine
// A run of TREC, or other scores of pairs, over its queries and passages. HN_DATA: an unknown id,
// unless `unknown` skips these lines. Arrays belong to the owner of the time.
HN_MUST_USE enum hn_code hn_corpus_read_run(struct hn_context *ctx, const struct hn_corpus *corpus,
                                            const char *path, enum hn_unknown unknown,
                                            struct hn_pair_scores *out);
