// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files of sentence pairs with scores, and numbers their sentences.
#include "datasets/sts.h"
#include "core/text.h"
#include "datasets/cells.h"

#include <stdlib.h>
#include <string.h>

enum { SET, SUBSET, SCORE, FIRST, SECOND, RELATION, FIELDS };
enum { PAIR_MIN = 8 }; // bytes of the shortest line with a pair
static const char *const columns[FIELDS] = {"set",       "subset",    "score",
                                            "sentence1", "sentence2", "entailment"};
static const char *const relations[] = {[HN_STS_NEUTRAL] = "NEUTRAL",
                                        [HN_STS_ENTAILMENT] = "ENTAILMENT",
                                        [HN_STS_CONTRADICTION] = "CONTRADICTION"};

// Sentences, numbered by their positions among all that were read.
struct positions {
    struct hn_named *one;
    int64_t n, capacity;
};

static enum hn_code read_head(struct hn_context *ctx, struct hn_cells *c) {
    bool more;
    if (hn_cells_next(ctx, c, &more))
        return ctx->code;
    bool good = c->n == FIELDS || c->n == RELATION;
    for (int64_t i = 0; good && i < c->n; i++)
        good = strcmp(c->cell[i], columns[i]) == 0;
    return good ? HN_OK
                : hn_fail(ctx, HN_DATA,
                          "%s: line 1: names other columns; it should hold set, subset, score, "
                          "sentence1, sentence2 and, if there is one, entailment, with tabs "
                          "between them",
                          c->at.path);
}

static enum hn_code read_score(struct hn_context *ctx, const struct hn_cells *c, const char *text,
                               double *score) {
    char *end;
    *score = strtod(text, &end);
    bool plain = *text && text[strspn(text, "0123456789.")] == 0; // no sign, no infinity, no hex
    if (!plain || *end || !(*score <= 5))
        return hn_line_fail(ctx, &c->at, "the score is '%s'; it should be a number from 0 to 5",
                            hn_quote(text).text);
    return HN_OK;
}

static enum hn_code read_relation(struct hn_context *ctx, const struct hn_cells *c,
                                  const char *text, enum hn_sts_relation *relation) {
    for (int r = HN_STS_NEUTRAL; r <= HN_STS_CONTRADICTION; r++)
        if (strcmp(text, relations[r]) == 0) {
            *relation = (enum hn_sts_relation)r;
            return HN_OK;
        }
    return hn_line_fail(ctx, &c->at,
                        "the entailment is '%s'; it should be NEUTRAL, ENTAILMENT or "
                        "CONTRADICTION",
                        hn_quote(text).text);
}

static enum hn_code add_sentence(struct hn_context *ctx, const struct hn_cells *c, int column,
                                 const char *text, struct positions *positions) {
    bool words = false;
    size_t length = strlen(text);
    for (const char *at = text; *at && !words; at++)
        words = hn_sts_byte(*at) != 0;
    if (!words)
        return hn_line_fail(ctx, &c->at,
                            "%s holds no word; remove the pair, or give the sentence "
                            "letters or digits",
                            columns[column]);
    if (length > HN_STS_SENTENCE_MAX)
        return hn_line_fail(ctx, &c->at, "%s has %zu bytes; shorten it to %d", columns[column],
                            length, HN_STS_SENTENCE_MAX);
    if (hn_grow(ctx, &positions->one, &positions->capacity, positions->n + 1,
                sizeof *positions->one))
        return ctx->code;
    positions->one[positions->n] = (struct hn_named){text, positions->n};
    positions->n++;
    return HN_OK;
}

// Sentences of a pair are named when all are there.
static enum hn_code read_pair(struct hn_context *ctx, const struct hn_cells *c, int64_t wanted,
                              struct hn_sts_pair *pair, struct positions *positions) {
    if (c->n != wanted)
        return hn_line_fail(ctx, &c->at,
                            "%lld fields instead of %lld; separate them by single tabs",
                            (long long)c->n, (long long)wanted);
    *pair = (struct hn_sts_pair){.relation = HN_STS_NONE};
    if (read_score(ctx, c, c->cell[SCORE], &pair->score) ||
        (c->n > RELATION && read_relation(ctx, c, c->cell[RELATION], &pair->relation)) ||
        add_sentence(ctx, c, FIRST, c->cell[FIRST], positions))
        return ctx->code;
    return add_sentence(ctx, c, SECOND, c->cell[SECOND], positions);
}

// The file's text stays: sentences are parts of it.
static enum hn_code read_set(struct hn_context *ctx, const char *folder, const char *name,
                             struct positions *positions, struct hn_sts_pair **pair, int64_t *n) {
    struct hn_text t;
    struct hn_cells c;
    bool more;
    if (hn_text_open(ctx, folder, name, ".tsv", &t))
        return ctx->code;
    hn_cells_begin(&c, t.at.path, t.rest);
    c.separator = '\t';
    if (read_head(ctx, &c))
        return ctx->code;
    // Lines of fewer bytes than a pair takes end the reading at the first of them.
    if (!HN_ALLOC(ctx, *pair, hn_min(t.lines, t.bytes / PAIR_MIN + 1)))
        return ctx->code;
    const int64_t wanted = c.n;
    enum hn_code code;
    while (!(code = hn_cells_next(ctx, &c, &more)) && more)
        if (read_pair(ctx, &c, wanted, &(*pair)[(*n)++], positions))
            return ctx->code;
    return code || *n > 0
               ? code
               : hn_fail(ctx, HN_DATA, "%s: holds no pair below its first line", t.at.path);
}

// number[positions->n]: of the sentence at every position.
static enum hn_code number_sentences(struct hn_context *ctx, struct positions *positions,
                                     struct hn_sts *out, int32_t *number) {
    if (positions->n > INT32_MAX)
        return hn_fail(ctx, HN_DATA, "more than %d sentences: leave out some pairs", INT32_MAX);
    struct hn_named *one = positions->one;
    if (!HN_ALLOC(ctx, out->sentence, positions->n))
        return ctx->code;
    for (int64_t i = 0; i < positions->n; i++)
        out->sentence[i] = one[i].text;
    hn_named_sort(one, positions->n);
    for (int64_t i = 0, first = 0; i < positions->n; i++) {
        if (strcmp(one[first].text, one[i].text) != 0)
            first = i;
        number[one[i].number] = (int32_t)one[first].number; // where it appears first
    }
    for (int64_t at = 0; at < positions->n; at++) {
        bool is_first = number[at] == at;
        if (is_first)
            out->sentence[out->n] = out->sentence[at];
        number[at] = is_first ? (int32_t)out->n++ : number[number[at]];
    }
    return HN_OK;
}

enum hn_code hn_sts_read(struct hn_context *ctx, const char *folder, const char *const *names,
                         struct hn_sts *out) {
    struct positions positions = {NULL, 0, 0};
    int sets = 0;
    *out = (struct hn_sts){.n = 0};
    for (; names[sets]; sets++)
        if (read_set(ctx, folder, names[sets], &positions, &out->set[sets].pair, &out->set[sets].n))
            return ctx->code;
    int32_t *number = hn_alloc(ctx, positions.n, sizeof *number);
    if (!number || number_sentences(ctx, &positions, out, number))
        return ctx->code;
    const int32_t *next = number;
    for (int s = 0; s < sets; s++)
        for (int64_t i = 0; i < out->set[s].n; i++)
            for (int k = 0; k < 2; k++)
                out->set[s].pair[i].sentence[k] = *next++;
    hn_free(ctx, number);
    hn_free(ctx, positions.one);
    return HN_OK;
}
