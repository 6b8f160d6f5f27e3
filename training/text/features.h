// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences as weighted bags of hashed words and parts of words. A word is a run of bytes for which
// hn_sts_byte() has one; its parts are the byte 3-, 4- and 5-grams of '<' + word + '>'. With
// `humps` words end as well before a capital behind a small letter, before the last of several
// capitals that a small letter follows, between letters and digits, and after 64 bytes. Buckets:
//
//   word: 0 .. 2^15 - 1;  part or neighbours: 2^15 + (0 .. 2^16 - 1);  FNV-1a of 32 bits, folded
//   w = (1 + ln tf) idf, tf idf or idf,  idf = 1 + ln((1 + n) / (1 + df)) over n sentences, or 1
//
// tf: occurrences of a bucket in the sentence, df: sentences that have it. Words and the rest are
// each scaled to length 1, then both together, or with `joint` at once. A sentence without a word
// has the word "?".
#pragma once

#include "training/net/sparse.h"

enum { HN_TEXT_WORD_BITS = 15, HN_TEXT_PART_BITS = 16 };

enum { HN_TEXT_BUCKETS = (1 << HN_TEXT_WORD_BITS) + (1 << HN_TEXT_PART_BITS) };

enum hn_text_tf { HN_TEXT_LOG, HN_TEXT_PLAIN, HN_TEXT_BINARY };

struct hn_text_rules {
    bool humps;    // identifiers are several words
    bool parts;    // of words
    bool pairs;    // of neighbouring words, "ab cd"
    int32_t words; // of a sentence that count, its first; 0: all
    int tf;        // enum hn_text_tf
    bool joint;    // words and the rest have one length
};

// Hash of a namespace (1: words, 2: pairs, 3: parts) and bytes, and the bucket of so many bits.
uint32_t hn_text_hash(uint8_t space, const char *bytes, int64_t n);
int32_t hn_text_bucket(uint32_t hash, int bits);

// Occurrences of sentence s: start[s] .. start[s + 1], ascending by bucket, then word.
struct hn_text_features {
    int64_t n;
    int64_t *start;         // [n + 1]
    int32_t *bucket;        // [start[n]]
    int32_t *word;          // position of the word that it comes from in its sentence, from 0
    hn_real *weight;        // w / tf: a word that is left out takes its share with it
    int32_t *words;         // [n] number of words
    int64_t max_words, max; // of words and occurrences of a sentence
};

// Of the sentences [n]. df counts over the sentences fit[n_fit], which
// are different ones; NULL: idf is 1.
HN_MUST_USE enum hn_code hn_text_features_make(struct hn_context *ctx, const char *const *sentence,
                                               int64_t n, const struct hn_text_rules *rules,
                                               const int32_t *fit, int64_t n_fit,
                                               struct hn_text_features *out);

// Appends the bag of a sentence to x, as its next row (x->rows counts up): without the words p for
// which left_out[p], or whole (NULL); bucket b in column `first_bucket` + b.
// Space for `max` more entries
// has to be there.
void hn_text_add_row(const struct hn_text_features *f, int64_t sentence, const bool *left_out,
                     int32_t first_bucket, struct hn_sparse *x);
