// Descriptions of a snapshot of queries and a corpus.
#pragma once

#include "datasets/retrieval.h"

#include <jansson.h>
#include <stdio.h>

// One line: sizes, judged pairs, queries without a relevant passage.
void hn_retrieval_line(const struct hn_retrieval_info *info, FILE *out);
// Path, provenance and digest of a file of either layout, a line each.
void hn_describe_file(const struct hn_snapshot_info *f);
// Everything `hardneg info` shows, as a table or as an object.
HN_MUST_USE enum hn_code hn_retrieval_table(struct hn_context *ctx,
                                            const struct hn_retrieval_info *info);
HN_MUST_USE enum hn_code hn_retrieval_json(struct hn_context *ctx,
                                           const struct hn_retrieval_info *info, json_t **out);
