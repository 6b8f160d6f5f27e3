// SPDX-License-Identifier: GPL-3.0-or-later
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
    int64_t dim;                 // columns that rows were cut to; 0: they are whole
    bool streamed;               // the corpus is read in blocks
};

// The memory of commands that rank a corpus.
#define HN_CORPUS_MEMORY_OPTION(type)                                                              \
    HN_SIZE_OPTION(type, memory, "memory", NULL, 0, INFINITY,                                      \
                   "maximum memory of the process, e.g. 4GiB (default: what the machine has); a "  \
                   "corpus that does not fit is read in blocks, with the same results"),           \
        .metavar = "SIZE"

// An option of commands that take the first columns of rows: dim of a parameter struct.
#define HN_DIM_OPTION(type)                                                                        \
    HN_INT_OPTION(type, dim, "dim", NULL, 1, INT32_MAX,                                            \
                  "take the first columns of the rows alone, so many, normalized again "           \
                  "(default: all)"),                                                               \
        .metavar = "D"

// A corpus that memory does not hold with room for its sweeps is read in blocks (data.source).
// step: of the series, INT64_MIN: the last. parts: those of ctx, which are then about this file; or
// NULL. HN_USAGE: there is no such step.
HN_MUST_USE enum hn_code hn_corpus_open(struct hn_context *ctx, const char *path, int64_t step,
                                        struct hn_file_parts *parts, struct hn_corpus *out);
// Keeps the first `dim` columns of the rows, normalized again; those of a teacher stay. INT64_MIN:
// all columns stay. HN_USAGE: there are fewer. HN_DATA: nothing is left of a row; of one of a
// corpus that is read in blocks that is found then.
HN_MUST_USE enum hn_code hn_corpus_cut(struct hn_context *ctx, int64_t dim, struct hn_corpus *c);
void hn_corpus_close(struct hn_context *ctx, struct hn_corpus *c); // zeroed is fine
// A run of TREC, or other scores of pairs, over its queries and passages. HN_DATA: an unknown id,
// unless `unknown` skips these lines.
HN_MUST_USE enum hn_code hn_corpus_read_run(struct hn_context *ctx, const struct hn_corpus *corpus,
                                            const char *path, enum hn_unknown unknown,
                                            struct hn_pair_scores *out);
