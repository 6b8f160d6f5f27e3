// Classes whose names look the same: they differ in blanks, or in how Unicode writes accents.
#include "datasets/import/import_private.h"

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

// The letter of a Latin letter with accents, 0 for other characters.
static char letter_of(uint32_t c) {
    static const char first[] = "AAAAAA?CEEEEIIII?NOOOOO??UUUUY??aaaaaa?ceeeeiiii?nooooo??uuuuy?y"
                                "AaAaAaCcCcCcCcDd??EeEeEeEeEeGgGgGgGgHh??IiIiIiIiI???JjKk?LlLlLl??"
                                "??NnNnNn???OoOoOo??RrRrRrSsSsSsSsTtTt??UuUuUuUuUuUuWwYyYZzZzZz?";
    static const struct {
        uint32_t end;
        char upper;
    } later[] = {{0x1eb8, 'A'}, {0x1ec8, 'E'}, {0x1ecc, 'I'},
                 {0x1ee4, 'O'}, {0x1ef2, 'U'}, {0x1efa, 'Y'}};
    char letter = c >= 0xc0 && c < 0xc0 + sizeof first - 1 ? first[c - 0xc0] : '?';
    for (size_t k = sizeof later / sizeof *later; c >= 0x1ea0 && k-- > 0;)
        if (c < later[k].end)
            letter = (char)(later[k].upper | (c & 1 ? 0x20 : 0));
    return letter == '?' ? '\0' : letter;
}

// A name as it looks: one blank for several, none at its ends, and accented letters as the letter
// and a mark. key[strlen(name) + 1 and one more for each accent]; *marks: some accents are
// characters of their own.
static void make_key(const char *name, char *key, bool *marks) {
    char *to = key;
    *marks = false;
    for (const char *at = name; *at;) {
        const char *from = at;
        uint32_t c = next_character(&at);
        char letter = letter_of(c);
        bool mark = c >= 0x300 && c < 0x370;
        *marks |= mark;
        if (c == ' ' || c == '\t' || c == 0xa0) {
            if (to > key && to[-1] != ' ')
                *to++ = ' ';
        } else if (letter || mark) {
            if (letter)
                *to++ = letter;
            if (to > key && to[-1] != ACCENT)
                *to++ = ACCENT;
        } else {
            memcpy(to, from, (size_t)(at - from));
            to += at - from;
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
        look[i] = (struct look){hn_alloc(ctx, 2 * (int64_t)strlen(name[i]) + 1, 1), name[i], false};
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
        hn_note(
            ctx,
            "%s: '%.60s' and '%.60s' are two classes that differ in blanks, or in the Unicode of "
            "accents, only (of %lld such pairs the first); write them alike if they are one",
            path, look[first - 1].name, look[first].name, (long long)alike);
    return HN_OK;
}
