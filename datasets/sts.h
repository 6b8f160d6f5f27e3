// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of sentences with a score of their similarity (STS of SemEval 2012 to 2016, SICK), a file
// NAME.tsv for each set. The first line names the columns, separated by tabs; there is no quoting:
//
//   set  subset  score  sentence1  sentence2  [entailment]
//
// score: 0 to 5. entailment: NEUTRAL, ENTAILMENT or CONTRADICTION. set and subset are not used.
#pragma once

#include "core/context.h"

enum { HN_STS_SETS_MAX = 16, HN_STS_SENTENCE_MAX = 10000 }; // bytes of a sentence

enum hn_sts_relation {
    HN_STS_NONE, // the file has no such column
    HN_STS_NEUTRAL,
    HN_STS_ENTAILMENT,
    HN_STS_CONTRADICTION
};

struct hn_sts_pair {
    int32_t sentence[2];
    enum hn_sts_relation relation;
    double score;
};

struct hn_sts {
    int64_t n;             // different sentences
    const char **sentence; // [n], each with a word at least, in the order of their first appearance
    struct {
        int64_t n;                // at least one
        struct hn_sts_pair *pair; // [n], in the order of the file
    } set[HN_STS_SETS_MAX];       // one per name
};

// The byte that stands for c in a word: letters of ASCII small, digits and bytes from 128 on as
// they are; 0 for all others, which separate words.
static inline char hn_sts_byte(char c) {
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80);
    return (char)(kept ? c : 0);
}

// Reads folder/NAME.tsv for every one of the names, which end with NULL, at most HN_STS_SETS_MAX of
// them. Sentences are the same where their bytes are. HN_DATA names file and line and what is
// wrong. Memory is bounded by the sizes of the files.
HN_MUST_USE enum hn_code hn_sts_read(struct hn_context *ctx, const char *folder,
                                     const char *const *names, struct hn_sts *out);
