// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of two collections that have most words in common. Pairs are found by their rare words: of
// two sets with a Jaccard similarity of t or more, the rarest (1 - t) n + 1 words of either hold
// one in common (prefix filter, Chaudhuri, Ganti and Kaushik 2006). What is found is counted
// exactly.
#include "retrieval/overlap.h"
#include "core/numbers.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Words of a collection, as numbers that both collections share.
struct words {
    int64_t *start;         // [texts + 1]
    int64_t *word;          // [start[texts]] in the order of the text
    int64_t *set;           // [start[texts]] each once, ascending; those of a text begin at start[]
    int64_t *size;          // [texts] of its set
    struct hn_strings text; // in lower case, one blank between words
};

static enum hn_code add_normal(struct hn_context *ctx, struct hn_strings *to, const char *text) {
    HN_SCOPE(ctx);
    char *normal = hn_alloc(ctx, (int64_t)strlen(text) + 1, 1), *end = normal;
    if (!normal)
        return ctx->code;
    for (bool gap = false; *text; text++) {
        bool blank = isspace((unsigned char)*text);
        if (gap && !blank && end > normal)
            *end++ = ' ';
        if (!blank)
            *end++ = (char)tolower((unsigned char)*text);
        gap = blank;
    }
    *end = 0;
    hn_own(ctx, scope.outer);
    return hn_strings_add(ctx, to, normal);
}

// Cuts the texts into words, which are added to `all`.
static enum hn_code cut_words(struct hn_context *ctx, const struct hn_strings *text,
                              struct words *out, struct hn_strings *all) {
    if (!HN_ALLOC(ctx, out->start, text->n + 1) || !HN_ALLOC(ctx, out->size, text->n))
        return ctx->code;
    for (int64_t i = 0; i < text->n; i++)
        if (add_normal(ctx, &out->text, hn_string(text, i)))
            return ctx->code;
    int64_t before = all->n;
    for (int64_t i = 0; i < text->n; i++) {
        out->start[i] = all->n - before;
        HN_SCOPE(ctx);
        char *copy = hn_format(ctx, "%s", hn_string(&out->text, i)), *rest = copy, *word;
        if (!copy)
            return ctx->code;
        hn_own(ctx, scope.outer);
        while ((word = strsep(&rest, " ")))
            if (*word && hn_strings_add(ctx, all, word))
                return ctx->code;
    }
    out->start[text->n] = all->n - before;
    return HN_OK;
}

// Words by how many there are of them, the rarest first: their numbers.
struct counted {
    int64_t word, count;
};
static int by_count(const void *a, const void *b) {
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

// rank[word]: of each word of `all`, its number in the order of by_count().
static enum hn_code rank_words(struct hn_context *ctx, const struct hn_strings *all,
                               int64_t *rank) {
    struct hn_string_index index;
    HN_SCOPE(ctx);
    int64_t *first = hn_alloc(ctx, all->n, sizeof *first);
    struct counted *counted = hn_alloc(ctx, all->n, sizeof *counted);
    if (!first || !counted || hn_string_index_open(ctx, all, &index))
        return ctx->code;
    for (int64_t i = 0; i < all->n; i++)
        counted[i] = (struct counted){i, 0};
    for (int64_t i = 0; i < all->n; i++)
        counted[first[i] = hn_string_find(&index, hn_string(all, i))].count++;
    qsort(counted, (size_t)all->n, sizeof *counted, by_count);
    for (int64_t k = 0; k < all->n; k++)
        rank[counted[k].word] = k;
    for (int64_t i = 0; i < all->n; i++)
        rank[i] = rank[first[i]];
    return HN_OK;
}

static enum hn_code number_words(struct hn_context *ctx, const int64_t *rank, struct words *w) {
    int64_t n = w->text.n, size = w->start[n];
    if (!HN_ALLOC(ctx, w->word, size) || !HN_ALLOC(ctx, w->set, size))
        return ctx->code;
    memcpy(w->word, rank, (size_t)size * sizeof *rank);
    memcpy(w->set, rank, (size_t)size * sizeof *rank);
    for (int64_t i = 0; i < n; i++)
        w->size[i] = hn_numbers_sort(w->set + w->start[i], w->start[i + 1] - w->start[i]);
    return HN_OK;
}

// So many of the rarest words of a set hold one of any set that is alike enough.
static int64_t prefix_of(int64_t size, double min) {
    int64_t common = (int64_t)ceil(min * (double)size - 1e-9);
    return size - hn_max(common, 1) + 1;
}

// A rare word of a text of a.
struct posting {
    int64_t word, text;
};
static int by_word(const void *a, const void *b) {
    const struct posting *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static double likeness_of(const struct words *a, int64_t i, const struct words *b, int64_t j) {
    const int64_t *x = a->set + a->start[i], *y = b->set + b->start[j];
    int64_t common = 0;
    for (int64_t p = 0, q = 0; p < a->size[i] && q < b->size[j];) {
        common += x[p] == y[q];
        int64_t step = x[p] <= y[q];
        q += y[q] <= x[p];
        p += step;
    }
    return (double)common / (double)(a->size[i] + b->size[j] - common);
}

static bool is_equal(const struct words *a, int64_t i, const struct words *b, int64_t j) {
    return strcmp(hn_string(&a->text, i), hn_string(&b->text, j)) == 0;
}

static int64_t first_posting(const struct posting *p, int64_t n, int64_t word) {
    int64_t from = 0, to = n;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (p[middle].word < word)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// The text of a that is most like text j of b; a = -1: none is alike enough. Equal before alike,
// then the first.
static struct hn_shared_text find_best(const struct words *a, const struct posting *p, int64_t n,
                                       const struct words *b, int64_t j, double min) {
    struct hn_shared_text best = {.a = -1, .b = j};
    bool equal = false;
    for (int64_t w = 0; w < prefix_of(b->size[j], min) && b->size[j] > 0; w++) {
        int64_t word = b->set[b->start[j] + w];
        for (int64_t k = first_posting(p, n, word); k < n && p[k].word == word; k++) {
            int64_t i = p[k].text;
            double small = (double)hn_min(a->size[i], b->size[j]);
            if (small < min * (double)hn_max(a->size[i], b->size[j]) - 1e-9)
                continue;
            double likeness = likeness_of(a, i, b, j);
            bool same = likeness >= 1 && is_equal(a, i, b, j);
            bool better = same != equal               ? same
                          : likeness != best.likeness ? likeness > best.likeness
                                                      : i < best.a;
            if (likeness >= min && better) {
                best = (struct hn_shared_text){.a = i, .b = j, .likeness = likeness};
                equal = same;
            }
        }
    }
    return best;
}

static enum hn_code list_postings(struct hn_context *ctx, const struct words *a, double min,
                                  struct posting **out, int64_t *n) {
    *n = 0;
    if (!HN_ALLOC(ctx, *out, a->start[a->text.n]))
        return ctx->code;
    for (int64_t i = 0; i < a->text.n; i++)
        for (int64_t w = 0; w < prefix_of(a->size[i], min) && a->size[i] > 0; w++)
            (*out)[(*n)++] = (struct posting){a->set[a->start[i] + w], i};
    qsort(*out, (size_t)*n, sizeof **out, by_word);
    return HN_OK;
}

enum hn_code hn_overlap_find(struct hn_context *ctx, const struct hn_strings *a,
                             const struct hn_strings *b, double min, struct hn_overlap *out) {
    struct words w[2] = {{0}};
    struct hn_strings all = {0};
    struct posting *p;
    int64_t n;
    *out = (struct hn_overlap){0};
    struct hn_shared_text *found = hn_alloc(ctx, b->n, sizeof *found);
    HN_SCOPE(ctx);
    if (!found || cut_words(ctx, a, &w[0], &all) || cut_words(ctx, b, &w[1], &all))
        return ctx->code;
    int64_t *rank = hn_alloc(ctx, all.n, sizeof *rank);
    if (!rank || rank_words(ctx, &all, rank) || number_words(ctx, rank, &w[0]) ||
        number_words(ctx, rank + w[0].start[a->n], &w[1]) || list_postings(ctx, &w[0], min, &p, &n))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 64)
    for (int64_t j = 0; j < b->n; j++)
        if (!hn_stop_asked(ctx))
            found[j] = find_best(&w[0], p, n, &w[1], j, min);
    if (hn_check_stop(ctx))
        return ctx->code;
    out->shared = found;
    for (int64_t j = 0; j < b->n; j++) {
        if (found[j].a < 0)
            continue;
        bool equal = is_equal(&w[0], found[j].a, &w[1], j);
        out->equal += equal;
        out->alike += !equal;
        found[out->equal + out->alike - 1] = found[j];
        found[out->equal + out->alike - 1].equal = equal;
    }
    return HN_OK;
}
