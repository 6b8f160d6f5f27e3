// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces words in braces in the paths and commands of jobs.
#include "harness/run/words.h"
#include "core/bytes.h"
#include "core/text.h"

#include <inttypes.h>
#include <string.h>

void hn_words_add(struct hn_words *words, const char *name, const char *text) {
    words->name[words->n] = name;
    words->text[words->n++] = text;
}

enum hn_code hn_words_of_cell(struct hn_context *ctx, const struct hn_plan *plan,
                              const struct hn_cell *cell, struct hn_words *words) {
    const char *data = plan->data[cell->data].name, *dot = strrchr(data, '.');
    int length = dot && dot > data ? (int)(dot - data) : (int)strlen(data);
    const char *step = hn_format(ctx, "%" PRId64, plan->step[cell->step].number);
    const char *seed = hn_format(ctx, "%" PRIu64, cell->seed);
    const char *size = hn_format(ctx, "%d", cell->batch_size);
    const char *name = hn_format(ctx, "%.*s", length, data);
    if (!step || !seed || !size || !name)
        return ctx->code;
    hn_words_add(words, "step", step);
    hn_words_add(words, "seed", seed);
    hn_words_add(words, "batch_size", size);
    hn_words_add(words, "dataset", name);
    return HN_OK;
}

static const char *find(const struct hn_words *words, const char *name, size_t length) {
    for (int k = 0; k < words->n; k++)
        if (strlen(words->name[k]) == length && memcmp(words->name[k], name, length) == 0)
            return words->text[k];
    return NULL;
}

static void fail(struct hn_context *ctx, const struct hn_words *words, const char *option,
                 const char *word, int length) {
    char known[256] = "";
    for (int k = 0; k < words->n; k++)
        hn_append(known, sizeof known, "%s{%s}",
                  !k                 ? ""
                  : k + 1 < words->n ? ", "
                                     : " and ",
                  words->name[k]);
    (void)hn_fail(ctx, HN_USAGE, "%s: %.*s is not known; %s are", option, length, word, known);
}

char *hn_words_put(struct hn_context *ctx, const struct hn_words *words, const char *option,
                   const char *text) {
    struct hn_bytes out = {0};
    for (const char *c = text; *c;) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        const char *word = end ? find(words, c + 1, (size_t)(end - c - 1)) : c;
        if (!word) {
            fail(ctx, words, option, c, (int)(end - c + 1));
            hn_free(ctx, out.data);
            return NULL;
        }
        if (hn_bytes_append(ctx, &out, word, end ? (int64_t)strlen(word) : 1))
            return NULL;
        c = end ? end + 1 : c + 1;
    }
    return hn_bytes_append(ctx, &out, "", 1) ? NULL : out.data;
}
