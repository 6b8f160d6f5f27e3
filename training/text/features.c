// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts sentences into words and parts, and weighs their buckets.
#include "training/text/features.h"

#include "core/numbers.h"
#include "datasets/sts.h"

#include <math.h>
#include <string.h>

enum { WORD_SPACE = 1, PAIR_SPACE, PART_SPACE, PART_MIN = 3, PART_MAX = 5, HUMP_MAX = 64 };

uint32_t hn_text_hash(uint8_t space, const char *bytes, int64_t n) {
    const uint32_t prime = 16777619;
    uint32_t h = (2166136261U ^ space) * prime;
    for (int64_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)bytes[i]) * prime;
    return h;
}

int32_t hn_text_bucket(uint32_t hash, int bits) {
    return (int32_t)(((hash >> bits) ^ hash) & ((1U << bits) - 1));
}

// Occurrences while they are collected: bucket in the upper half, position of the word in the
// lower.
struct list {
    int64_t *one;
    int64_t n, capacity;
};

static enum hn_code add(struct hn_context *ctx, struct list *list, int32_t bucket, int32_t word) {
    if (hn_grow(ctx, &list->one, &list->capacity, list->n + 1, sizeof *list->one))
        return ctx->code;
    list->one[list->n++] = (int64_t)bucket << 32 | word;
    return HN_OK;
}

// A sentence in work. marked: '<', word, '>', and space for all of the sentence.
struct work {
    const struct hn_text_rules *rules;
    struct list list;
    char *marked;
    int64_t n;      // bytes of '<' and the word so far
    char *pair;     // the word before, ' ', this one
    int64_t before; // bytes of the word before; 0: there is none
    int32_t words;
};

static enum hn_code add_rest(struct hn_context *ctx, struct work *w, uint32_t hash) {
    int32_t bucket = (1 << HN_TEXT_WORD_BITS) + hn_text_bucket(hash, HN_TEXT_PART_BITS);
    return add(ctx, &w->list, bucket, w->words);
}

// The neighbours belong to the second of them.
static enum hn_code add_pair(struct hn_context *ctx, struct work *w, int64_t bytes) {
    int64_t before = w->before;
    memcpy(w->pair + before + 1, w->marked + 1, (size_t)bytes);
    w->pair[before] = ' ';
    if (before > 0 && add_rest(ctx, w, hn_text_hash(PAIR_SPACE, w->pair, before + 1 + bytes)))
        return ctx->code;
    memcpy(w->pair, w->marked + 1, (size_t)bytes);
    w->before = bytes;
    return HN_OK;
}

// The word is over.
static enum hn_code add_word(struct hn_context *ctx, struct work *w) {
    int64_t n = w->n + 1;
    w->marked[w->n] = '>';
    w->n = 1;
    uint32_t whole = hn_text_hash(WORD_SPACE, w->marked + 1, n - 2);
    if (add(ctx, &w->list, hn_text_bucket(whole, HN_TEXT_WORD_BITS), w->words))
        return ctx->code;
    for (int64_t i = 0; i + PART_MIN <= n && w->rules->parts; i++)
        for (int64_t length = PART_MIN; length <= PART_MAX && i + length <= n; length++)
            if (add_rest(ctx, w, hn_text_hash(PART_SPACE, w->marked + i, length)))
                return ctx->code;
    if (w->rules->pairs && add_pair(ctx, w, n - 2))
        return ctx->code;
    w->words++;
    return HN_OK;
}

static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True if a word of an identifier begins at c, which is not its first byte.
static bool is_hump(const char *c, int64_t bytes) {
    bool small = hn_sts_byte(c[1]) && !is_capital(c[1]) && !is_digit(c[1]);
    return bytes == HUMP_MAX || is_digit(c[-1]) != is_digit(*c) ||
           (is_capital(*c) && (!is_capital(c[-1]) || small));
}

static enum hn_code add_sentence(struct hn_context *ctx, struct work *w, const char *text) {
    int32_t max = w->rules->words ? w->rules->words : INT32_MAX;
    w->words = 0;
    w->before = 0;
    w->n = 1;
    for (const char *c = text; w->words < max; c++) {
        char byte = hn_sts_byte(*c);
        bool over = !byte || (w->rules->humps && w->n > 1 && is_hump(c, w->n - 1));
        if (over && w->n > 1 && add_word(ctx, w))
            return ctx->code;
        if (byte)
            w->marked[w->n++] = byte;
        if (!*c)
            break;
    }
    if (w->words > 0)
        return HN_OK;
    w->marked[1] = '?';
    w->n = 2;
    return add_word(ctx, w);
}

static enum hn_code collect(struct hn_context *ctx, const char *const *sentence,
                            struct hn_text_features *f, struct work *w) {
    size_t longest = 0;
    for (int64_t s = 0; s < f->n; s++) {
        size_t length = strlen(sentence[s]);
        longest = length > longest ? length : longest;
    }
    if (!HN_ALLOC(ctx, w->marked, (int64_t)longest + 3) ||
        !HN_ALLOC(ctx, w->pair, (int64_t)longest + 3))
        return ctx->code;
    struct list *list = &w->list;
    w->marked[0] = '<';
    f->start[0] = 0;
    for (int64_t s = 0; s < f->n; s++) {
        if (add_sentence(ctx, w, sentence[s]))
            return ctx->code;
        f->words[s] = w->words;
        f->start[s + 1] = list->n;
        f->max = hn_max(f->max, list->n - f->start[s]);
        f->max_words = hn_max(f->max_words, f->words[s]);
        qsort(list->one + f->start[s], (size_t)(list->n - f->start[s]), sizeof *list->one,
              hn_numbers_order);
    }
    return HN_OK;
}

// The first occurrence behind those of the same bucket as the one at `at`.
static int64_t run_end(const struct hn_text_features *f, int64_t at, int64_t end) {
    int64_t next = at + 1;
    while (next < end && f->bucket[next] == f->bucket[at])
        next++;
    return next;
}

// idf[HN_TEXT_BUCKETS] over the sentences fit[n].
static void measure_idf(const struct hn_text_features *f, const int32_t *fit, int64_t n,
                        double *idf) {
    memset(idf, 0, HN_TEXT_BUCKETS * sizeof *idf);
    for (int64_t i = 0; i < n; i++) {
        int64_t end = f->start[fit[i] + 1];
        for (int64_t at = f->start[fit[i]]; at < end; at = run_end(f, at, end))
            idf[f->bucket[at]]++;
    }
    for (int b = 0; b < HN_TEXT_BUCKETS; b++)
        idf[b] = 1 + log((1 + (double)n) / (1 + idf[b]));
}

static double weigh_tf(int kind, double tf) {
    if (kind == HN_TEXT_LOG)
        return tf > 1 ? 1 + log(tf) : 1;
    return kind == HN_TEXT_PLAIN ? tf : 1;
}

static void weigh(struct hn_text_features *f, int64_t s, const struct hn_text_rules *rules,
                  const double *idf) {
    double square[2] = {0, 0}; // of words, or of all; of the rest
    int64_t begin = f->start[s], end = f->start[s + 1], next;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t at = begin; at < end; at = next) {
            next = run_end(f, at, end);
            double tf = (double)(next - at), w = weigh_tf(rules->tf, tf) * idf[f->bucket[at]];
            int rest = !rules->joint && f->bucket[at] >= 1 << HN_TEXT_WORD_BITS;
            if (pass == 0) {
                square[rest] += w * w;
                continue;
            }
            hn_real share = (hn_real)(w / tf / sqrt((square[1] > 0 ? 2 : 1) * square[rest]));
            for (int64_t k = at; k < next; k++)
                f->weight[k] = share;
        }
}

static enum hn_code fill(struct hn_context *ctx, const struct work *work, const int32_t *fit,
                         int64_t n_fit, double *idf, struct hn_text_features *f) {
    const struct list *list = &work->list;
    if (!HN_ALLOC(ctx, f->bucket, list->n) || !HN_ALLOC(ctx, f->word, list->n) ||
        !HN_ALLOC(ctx, f->weight, list->n))
        return ctx->code;
    for (int64_t k = 0; k < list->n; k++) {
        f->bucket[k] = (int32_t)(list->one[k] >> 32);
        f->word[k] = (int32_t)(list->one[k] & UINT32_MAX);
    }
    for (int b = 0; b < HN_TEXT_BUCKETS; b++)
        idf[b] = 1;
    if (fit)
        measure_idf(f, fit, n_fit, idf);
    for (int64_t s = 0; s < f->n; s++)
        weigh(f, s, work->rules, idf);
    return HN_OK;
}

enum hn_code hn_text_features_make(struct hn_context *ctx, const char *const *sentence, int64_t n,
                                   const struct hn_text_rules *rules, const int32_t *fit,
                                   int64_t n_fit, struct hn_text_features *out) {
    struct work work = {.rules = rules};
    *out = (struct hn_text_features){.n = n};
    if (!HN_ALLOC(ctx, out->start, n + 1) || !HN_ALLOC(ctx, out->words, n))
        return ctx->code;
    HN_SCOPE(ctx);
    double *idf = hn_alloc(ctx, HN_TEXT_BUCKETS, sizeof *idf);
    if (!idf || collect(ctx, sentence, out, &work))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return fill(ctx, &work, fit, n_fit, idf, out);
}

void hn_text_add_row(const struct hn_text_features *f, int64_t sentence, const bool *left_out,
                     int32_t first_bucket, struct hn_sparse *x) {
    int64_t k = x->start[x->rows], first = k;
    for (int64_t at = f->start[sentence]; at < f->start[sentence + 1]; at++) {
        // Written whether or not it counts: no processor foresees which words are left out.
        bool out = left_out && left_out[f->word[at]];
        int32_t column = first_bucket + f->bucket[at];
        if (k > first && x->index[k - 1] == column) {
            x->value[k - 1] += out ? 0 : f->weight[at];
        } else {
            x->index[k] = column;
            x->value[k] = f->weight[at];
            k += !out;
        }
    }
    x->start[++x->rows] = k;
}
