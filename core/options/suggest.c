// SPDX-License-Identifier: GPL-3.0-or-later
// The name that a misspelt word most likely stands for.
//
// Distance: Damerau (1964) and Levenshtein (1966) in the restricted form (optimal string
// alignment): insertions, deletions, substitutions and swaps of neighbouring letters, none of them
// edited twice.
#include "core/options/option.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

// LONGEST: names are shorter; longer words have no near name. ABBREVIATION: letters of one, at
// least.
enum { LONGEST = 64, ABBREVIATION = 3 };

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int min(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

// Row i of the table of distances between prefixes of a and b, from rows i - 1 and i - 2.
static void next_row(const char *a, int i, const char *b, int length_b, int row[3][LONGEST + 1]) {
    int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= length_b; j++) {
        int change = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
        now[j] = min(before[j] + 1, now[j - 1] + 1, before[j - 1] + change);
        bool swapped =
            i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
        if (swapped && earlier[j - 2] + 1 < now[j])
            now[j] = earlier[j - 2] + 1;
    }
}

static int distance(const char *a, int length_a, const char *b, int length_b) {
    int row[3][LONGEST + 1];
    for (int j = 0; j <= length_b; j++)
        row[0][j] = j;
    for (int i = 1; i <= length_a; i++)
        next_row(a, i, b, length_b, row);
    return row[length_a % 3][length_b];
}

const char *hn_suggest(const char *word, const char *const *names, int64_t n) {
    size_t length = strlen(word);
    if (length == 0 || length > LONGEST)
        return NULL;
    int limit = (int)length / 3 > 1 ? (int)length / 3 : 1;
    const char *best = NULL;
    for (int64_t i = 0; i < n; i++) {
        size_t length_i = strlen(names[i]);
        if (length_i > LONGEST)
            continue;
        int d = distance(word, (int)length, names[i], (int)length_i);
        // A word of which no letter is left is not near: 'q' is not a misspelt 'K'.
        if (d <= limit && d < (int)length) {
            best = names[i];
            limit = d - 1;
        }
    }
    for (int64_t i = 0; i < n && !best; i++) { // an abbreviation, or a longer form
        size_t length_i = strlen(names[i]), shorter = length < length_i ? length : length_i;
        if (shorter >= ABBREVIATION && length_i <= LONGEST &&
            strncasecmp(word, names[i], shorter) == 0)
            best = names[i];
    }
    return best;
}
