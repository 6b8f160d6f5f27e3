// SPDX-License-Identifier: GPL-3.0-or-later
// Command lines by option table, in the manner of GNU getopt_long: options and other arguments in
// any order, short flags in one word ("-qv"), "--" ends the options. Our deviation: an abbreviated
// name is refused, with the name it is near to, so that a new option never changes what an old
// script means.
#include "core/options/option_argv.h"

#include "core/options/option.h"
#include "core/options/option_text.h"
#include "core/terminal.h"
#include "core/text.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 64, NAMES_MAX = 64, FLAG_MAX = 100, COLUMN_MAX = 30 };

struct words {
    int count, next;
    char **word;
    bool ended; // "--" was seen
};

// letter: not '\0', which stands for none.
static const struct hn_option *find_letter(const struct hn_option *table, char letter) {
    for (const struct hn_option *o = table; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

// "--name" or "--name=value": the option, or NULL. *value is what follows '=', or NULL.
static const struct hn_option *find_long(const struct hn_option *table, const char *word,
                                         const char **value) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    *value = equals ? equals + 1 : NULL;
    for (const struct hn_option *o = table; o->name; o++)
        if (length > 2 && strlen(o->name) == length - 2 &&
            strncmp(o->name, word + 2, length - 2) == 0)
            return o;
    return NULL;
}

static enum hn_code unknown_flag(struct hn_context *ctx, const struct hn_option *table,
                                 const char *word) {
    const char *names[NAMES_MAX], *meant = NULL;
    char name[NAME_MAX_LENGTH] = "";
    int n = 0, length = (int)strcspn(word, "=");
    if (word[1] == '-') {
        for (const struct hn_option *o = table; o->name && n < NAMES_MAX; o++)
            names[n++] = o->name;
        snprintf(name, sizeof name, "%.*s", length - 2, word + 2);
        meant = hn_suggest(name, names, n);
    }
    return hn_fail(ctx, HN_USAGE, "unknown option '%.*s'%s%s%s",
                   length < NAME_MAX_LENGTH ? length : NAME_MAX_LENGTH, word,
                   meant ? " (did you mean '--" : "; see --help", meant ? meant : "",
                   meant ? "'?)" : "");
}

// True if a word that stands where a value should is clearly an option instead: "--output --json".
// Negative numbers are values, and so are several options in one word: --for "-n 5 --take draw".
static bool is_option(const struct hn_option *table, const char *word) {
    const char *value;
    if (word[0] != '-' || word[1] == '\0' || strchr(word, ' '))
        return false;
    if (word[1] == '-')
        return word[2] == '\0' || find_long(table, word, &value);
    return find_letter(table, word[1]) != NULL;
}

static enum hn_code missing_value(struct hn_context *ctx, const struct hn_option *option) {
    return hn_fail(ctx, HN_USAGE, "option '--%s' needs a value: --%s=%s", option->name,
                   option->name, option->metavar ? option->metavar : "VALUE");
}

// An empty text is a variable of a script that is not set: as a folder it would name the root.
static enum hn_code empty_value(struct hn_context *ctx, const struct hn_option *option) {
    return hn_fail(ctx, HN_USAGE, "option '--%s' is empty: leave it out, or give %s", option->name,
                   option->metavar ? option->metavar : "VALUE");
}

// Sets an option that takes a value from `value` or else from the next word.
static enum hn_code take_value(struct hn_context *ctx, const struct hn_option *table, void *params,
                               const struct hn_option *option, const char *value,
                               struct words *words) {
    if (!value) {
        if (words->next == words->count || is_option(table, words->word[words->next]))
            return missing_value(ctx, option);
        value = words->word[words->next++];
    }
    if (!*value && (option->kind == HN_OPTION_TEXT || option->kind == HN_OPTION_LIST))
        return empty_value(ctx, option);
    // Of numbers and outputs the last counts, as scripts (and timing.processes) want it; a file
    // that is named must not go unread.
    const bool read = option->kind == HN_OPTION_TEXT && !option->writes;
    const char *before = read ? *(char **)((char *)params + option->offset) : NULL;
    if (before && !option->initial)
        return hn_fail(ctx, HN_USAGE, "option '--%s' is given twice, with '%s' and '%s': give one",
                       option->name, before, value);
    return hn_options_set(ctx, table, params, option->name, value);
}

static enum hn_code long_flag(struct hn_context *ctx, const struct hn_option *table, void *params,
                              const char *word, struct words *words) {
    const char *value;
    const struct hn_option *option = find_long(table, word, &value);
    if (!option)
        return unknown_flag(ctx, table, word);
    if (option->kind == HN_OPTION_BOOL && !value)
        value = "true";
    return take_value(ctx, table, params, option, value, words);
}

static enum hn_code short_flags(struct hn_context *ctx, const struct hn_option *table, void *params,
                                const char *word, struct words *words) {
    for (const char *letter = word + 1; *letter; letter++) {
        const struct hn_option *option = find_letter(table, *letter);
        if (!option)
            return unknown_flag(ctx, table, word);
        if (option->kind != HN_OPTION_BOOL)
            return take_value(ctx, table, params, option, letter[1] ? letter + 1 : NULL, words);
        enum hn_code code = hn_options_set(ctx, table, params, option->name, "true");
        if (code != HN_OK)
            return code;
    }
    return HN_OK;
}

enum hn_code hn_options_argv(struct hn_context *ctx, const struct hn_option *table, void *params,
                             int argc, char **argv, const char **positional, int *n_positional) {
    struct words words = {.count = argc, .next = 1, .word = argv};
    *n_positional = 0;
    while (words.next < words.count) {
        const char *word = words.word[words.next++];
        enum hn_code code = HN_OK;
        if (!*word)
            code = hn_fail(ctx, HN_USAGE, "an argument is empty: leave it out, or give its value");
        else if (words.ended || word[0] != '-' || word[1] == '\0')
            positional[(*n_positional)++] = word;
        else if (word[1] != '-')
            code = short_flags(ctx, table, params, word, &words);
        else if (word[2] == '\0')
            words.ended = true;
        else
            code = long_flag(ctx, table, params, word, &words);
        if (code != HN_OK)
            return code;
    }
    return HN_OK;
}

// "  -o, --output DIR": returns its length.
static int flag_text(const struct hn_option *option, char *buffer, size_t size) {
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    bool value = option->kind != HN_OPTION_BOOL;
    return snprintf(buffer, size, "  %s--%s%s%s", letter, option->name, value ? " " : "",
                    !value            ? ""
                    : option->metavar ? option->metavar
                                      : "VALUE");
}

static int column_of(const struct hn_option *table) {
    char flag[FLAG_MAX];
    int column = 0;
    for (const struct hn_option *o = table; o->name; o++) {
        int length = flag_text(o, flag, sizeof flag) + 2;
        if (length > column && length <= COLUMN_MAX)
            column = length;
    }
    return column ? column : COLUMN_MAX;
}

struct hn_phrase hn_option_summary(const struct hn_option *o) {
    struct hn_phrase all;
    bool free_text = o->kind == HN_OPTION_TEXT || o->kind == HN_OPTION_LIST;
    bool says_range = !free_text && o->kind != HN_OPTION_BOOL;
    bool says_default = o->initial && o->kind != HN_OPTION_BOOL;
    hn_put_text(all.text, sizeof all.text, "%s%s%s%s%s%s%s%s", o->help ? o->help : "",
                says_range || says_default ? " (" : "", says_range ? hn_option_range(o).text : "",
                says_range && says_default ? "; " : "", says_default ? "default " : "",
                says_default ? o->initial : "", says_range || says_default ? ")" : "",
                o->kind == HN_OPTION_LIST ? "; may be repeated" : "");
    return all;
}

void hn_options_help(const struct hn_option *table, FILE *out) {
    int column = column_of(table);
    for (const struct hn_option *o = table; o->name; o++) {
        char flag[FLAG_MAX];
        int at = flag_text(o, flag, sizeof flag);
        fputs(flag, out);
        if (at + 2 > column) {
            fputc('\n', out);
            at = 0;
        }
        hn_wrapped_print(hn_option_summary(o).text, column, at, out);
    }
}
