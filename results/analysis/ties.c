// SPDX-License-Identifier: GPL-3.0-or-later
// Letters of rows that do not differ significantly.
#include "results/analysis/ties.h"

#include <math.h>
#include <string.h>

enum { LETTERS = 52 };

// Rows with the letter that are not tied with row k.
static bool fits(int n, const bool *tied, const uint64_t *letters, uint64_t letter, int k) {
    for (int i = 0; i < n; i++)
        if (i != k && (letters[i] & letter) && !tied[k * n + i])
            return false;
    return true;
}

// A letter for every pair that has none in common yet, and for all that are tied with those that
// have it; then for the rows that are tied with none.
bool hn_tie_letters(int n, const bool *tied, uint64_t *letters) {
    int used = 0;
    memset(letters, 0, (size_t)n * sizeof *letters);
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j <= n; j++) {
            bool pair = j < n && tied[i * n + j] && !(letters[i] & letters[j]);
            bool alone = j == n && letters[i] == 0 && tied[i * n + i];
            if (!pair && !alone)
                continue;
            if (used == LETTERS)
                return false;
            uint64_t letter = UINT64_C(1) << used++;
            letters[i] |= letter;
            if (pair)
                letters[j] |= letter;
            for (int k = 0; k < n && pair; k++)
                letters[k] |= fits(n, tied, letters, letter, k) ? letter : 0;
        }
    }
    return true;
}

enum hn_code hn_ties_open(struct hn_context *ctx, int64_t max, struct hn_ties *t) {
    return HN_ALLOC(ctx, t->setting, max) && HN_ALLOC(ctx, t->letters, max) ? HN_OK : ctx->code;
}

enum hn_code hn_ties_find(struct hn_context *ctx, struct hn_ties *t) {
    int n = t->n, compared = 0;
    HN_SCOPE(ctx);
    bool *tied = hn_alloc(ctx, n, n * (int64_t)sizeof *tied);
    if (!tied)
        return ctx->code;
    for (int i = 0; i < n; i++) {
        int64_t s = t->setting[i];
        tied[i * n + i] = t->difference(t->of, s, s, t->column).over == HN_OVER_SEEDS;
        compared += tied[i * n + i];
    }
    t->lettered = compared > 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            bool both = tied[i * n + i] && tied[k * n + k];
            if (i == k)
                continue;
            struct hn_mean d = hn_mean_among_pairs(
                t->difference(t->of, t->setting[i], t->setting[k], t->column), compared);
            tied[i * n + k] = both && hn_told_apart(d, true) == 0;
            t->lettered &= !both || isfinite(d.half);
        }
    t->lettered = t->lettered && hn_tie_letters(n, tied, t->letters);
    return HN_OK;
}

struct hn_tie_text hn_ties_text(const struct hn_ties *t, int64_t setting) {
    struct hn_tie_text out = {""};
    char *at = out.text;
    for (int i = 0; i < t->n && t->lettered; i++) {
        if (t->setting[i] != setting)
            continue;
        for (int k = 0; k < LETTERS; k++)
            if (t->letters[i] >> k & 1)
                *at++ = (char)(k < 26 ? 'a' + k : 'A' + k - 26);
        if (t->letters[i] == 0)
            at = stpcpy(at, "--");
    }
    *at = '\0';
    return out;
}
