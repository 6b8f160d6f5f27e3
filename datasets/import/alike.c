// SPDX-License-Identifier: GPL-3.0-or-later
// Classes whose names look the same: they differ in blanks, in what is not seen, or in how Unicode
// writes letters. And names that often stand for no label.
#include "datasets/import/alike.h"

#include "core/text.h"
#include "datasets/import/array.h"

#include <stdlib.h>
#include <string.h>

enum { ACCENT = 1 };

// A character of valid UTF-8, behind which *at goes.
static uint32_t next_character(const char **at) {
    const unsigned char *s = (const unsigned char *)*at;
    int more = s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    uint32_t c = more ? s[0] & (0x3f >> more) : s[0];
    for (int k = 1; k <= more; k++)
        c = c << 6 | (s[k] & 0x3f);
    *at += more + 1;
    return c;
}

// The letter of a letter with an accent, 0 for other characters: of Latin ones, and of those in
// which names of files are taken apart (macOS): Greek, Cyrillic, Arabic, kana.
static uint32_t letter_of(uint32_t c) {
    static const char first[] = "AAAAAA?CEEEEIIII?NOOOOO??UUUUY??aaaaaa?ceeeeiiii?nooooo??uuuuy?y"
                                "AaAaAaCcCcCcCcDd??EeEeEeEeEeGgGgGgGgHh??IiIiIiIiI???JjKk?LlLlLl??"
                                "??NnNnNn???OoOoOo??RrRrRrSsSsSsSsTtTt??UuUuUuUuUuUuWwYyYZzZzZz?";
    static const struct {
        uint32_t end;
        char upper;
    } later[] = {{0x1eb8, 'A'}, {0x1ec8, 'E'}, {0x1ecc, 'I'},
                 {0x1ee4, 'O'}, {0x1ef2, 'U'}, {0x1efa, 'Y'}};
    static const char pairs[] = // each behind its letter
        "ЕЀЕЁГЃІЇКЌИЍУЎИЙийеѐеёгѓіїкќиѝуўЖӁжӂАӐаӑАӒаӓЕӖеӗЖӜжӝЗӞзӟИӢиӣИӤиӥОӦоӧЭӬэӭУӮуӯУӰуӱУӲуӳЧӴчӵЫӸ"
        "ыӹ"
        "ΑΆΕΈΗΉΙΊΟΌΥΎΩΏΙΪΥΫαάεέηήιίιϊυϋοόυύωώιΐυΰاآاأوؤاإيئەۀہۂےۓ"
        "うゔかがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばはぱひびひぴふぶふぷへ"
        "べへぺほぼほぽ"
        "ウヴカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバハパヒビヒピフブフプヘ"
        "ベヘペホボホポ";
    char letter = c >= 0xc0 && c < 0xc0 + sizeof first - 1 ? first[c - 0xc0] : '?';
    for (size_t k = 0; c >= 0x1ea0 && letter == '?' && k < sizeof later / sizeof *later; k++)
        if (c < later[k].end)
            letter = (char)(later[k].upper | (c & 1 ? 0x20 : 0));
    for (const char *at = pairs; c >= 0x380 && letter == '?' && *at;) {
        uint32_t base = next_character(&at);
        if (next_character(&at) == c)
            return base;
    }
    return letter == '?' ? 0 : (uint32_t)letter;
}

static bool is_mark(uint32_t c) {
    return (c >= 0x300 && c < 0x370) || (c >= 0x653 && c < 0x656) || c == 0x3099 || c == 0x309a;
}

static bool is_blank(uint32_t c) {
    return c == ' ' || c == '\t' || c == 0xa0 || (c >= 0x2000 && c < 0x200b) || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

// Byte order marks, joiners, directions of writing, and variants of a character.
static bool is_unseen(uint32_t c) {
    return c == 0xad || (c >= 0x200b && c < 0x2010) || (c >= 0x202a && c < 0x202f) ||
           (c >= 0x2060 && c < 0x2070) || (c >= 0xfe00 && c < 0xfe10) || c == 0xfeff;
}

// A syllable of Hangul as its two or three letters.
static char *put_syllable(char *to, uint32_t c) {
    enum {
        SYLLABLE = 0xac00,
        LEAD = 0x1100,
        VOWEL = 0x1161,
        TAIL = 0x11a7,
        VOWELS = 21,
        TAILS = 28
    };
    uint32_t k = c - SYLLABLE;
    to += hn_put_code_point(LEAD + k / (VOWELS * TAILS), to);
    to += hn_put_code_point(VOWEL + k / TAILS % VOWELS, to);
    return k % TAILS ? to + hn_put_code_point(TAIL + k % TAILS, to) : to;
}

// A name as it looks: one blank for several, none at its ends, nothing that is not seen, and
// accented letters as the letter and a mark. key[3 strlen(name) + 1]; *marks: some accents, or
// letters of Hangul, are characters of their own.
static void make_key(const char *name, char *key, bool *marks) {
    char *to = key;
    *marks = false;
    for (const char *at = name; *at;) {
        uint32_t c = next_character(&at);
        bool mark = is_mark(c);
        *marks |= mark || (c >= 0x1100 && c < 0x1200);
        c -= c > 0xff00 && c < 0xff5f ? 0xfee0 : 0; // of double width
        uint32_t letter = letter_of(c);
        if (is_blank(c)) {
            if (to > key && to[-1] != ' ')
                *to++ = ' ';
        } else if (letter || mark) {
            if (letter)
                to += hn_put_code_point(letter, to);
            if (to > key && to[-1] != ACCENT)
                *to++ = ACCENT;
        } else if (c >= 0xac00 && c < 0xd7a4) {
            to = put_syllable(to, c);
        } else if (!is_unseen(c)) {
            to += hn_put_code_point(c, to);
        }
    }
    to -= to > key && to[-1] == ' ';
    *to = '\0';
}

struct look {
    char *key;
    const char *name;
    bool marks;
};

static int by_look(const void *a, const void *b) {
    const struct look *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->name, y->name);
}

enum hn_code hn_note_alike(struct hn_context *ctx, const char *path, const char *const *name,
                           int64_t n) {
    int64_t alike = 0, first = 0;
    HN_SCOPE(ctx);
    struct look *look = hn_alloc(ctx, n, sizeof *look);
    if (!look)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        look[i] = (struct look){hn_alloc(ctx, 3 * (int64_t)strlen(name[i]) + 1, 1), name[i], false};
        if (!look[i].key)
            return ctx->code;
        make_key(name[i], look[i].key, &look[i].marks);
    }
    qsort(look, (size_t)n, sizeof *look, by_look);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(look[i].key, look[i - 1].key) == 0 &&
            (look[i].marks != look[i - 1].marks || !strchr(look[i].key, ACCENT))) {
            first = alike ? first : i;
            alike++;
        }
    if (alike > 0)
        hn_note(ctx,
                "%s: '%s' and '%s' are two classes that look alike: they differ in blanks, "
                "unseen characters or the Unicode form of letters (the first of %lld such pairs); "
                "write them alike if they are one",
                path, hn_quote(look[first - 1].name).text, hn_quote(look[first].name).text,
                (long long)alike);
    return HN_OK;
}

static const char digits[] = "0123456789";

// "0 2 11": numbers with separators between.
static bool is_list(const char *name) {
    size_t length = strlen(name), first = strspn(name, digits);
    return first > 0 && first < length && strspn(name, "0123456789 ,;|") == length &&
           strchr(digits, name[length - 1]);
}

void hn_note_lists(struct hn_context *ctx, const char *path, const char *const *name, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (is_list(name[i])) {
            hn_note(ctx,
                    "%s: '%s' is one class; where it is several labels of an item, give "
                    "--label-separator",
                    path, hn_quote(name[i]).text);
            return;
        }
}

void hn_note_missing(struct hn_context *ctx, const char *path, const char *const *name, int64_t n) {
    static const char *const missing[] = {"-1",   "nan", "NaN",  "NA",  "<NA>",
                                          "None", "N/A", "null", "NULL"};
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
            if (strcmp(name[i], missing[k]) == 0)
                hn_note(ctx,
                        "%s: '%s' is a class like others; leave the text of an item empty if it "
                        "has no label",
                        path, hn_quote(name[i]).text);
}
