// SPDX-License-Identifier: GPL-3.0-or-later
// Option tables: a family (sampler, command, job file) states its options once; parsing, help,
// error messages, canonical text and stored columns all come from the table.
#pragma once

#include "core/context.h"
#include <stdio.h>

struct hn_phrase; // core/text.h

enum hn_option_kind {
    HN_OPTION_INT,      // int64_t
    HN_OPTION_REAL,     // double
    HN_OPTION_BOOL,     // bool; "true", "false", "yes", "no"; a bare --flag is true
    HN_OPTION_CHOICE,   // int, index into choices
    HN_OPTION_SCHEDULE, // struct hn_schedule; "0.2" or "0.2~0.05"
    HN_OPTION_TEXT,     // char *, owned by the parameters
    HN_OPTION_LIST,     // struct hn_text_list, owned; on command lines each occurrence appends
    HN_OPTION_SIZE      // int64_t bytes; "4GiB", "512MiB", "1000000"
};

// alpha(s) = from + (to - from) * progress; a constant has from = to.
struct hn_schedule {
    double from, to;
};

struct hn_text_list {
    char **item;
    int64_t count;
};

struct hn_option {
    const char *name;
    enum hn_option_kind kind;
    size_t offset;       // of the field in the parameter struct
    const char *initial; // default as text; NULL = unset (INT: INT64_MIN, REAL: NaN,
                         // TEXT: NULL, BOOL: false, which no text shows, SIZE: 0, SCHEDULE: NaN,
                         // LIST: empty, CHOICE: the first, which no text shows either)
    double min, max;     // inclusive, for INT, REAL, SCHEDULE (both ends), SIZE; infinite = no
                         // limit on that side; both 0 = no limits (SIZE: never negative)
    const char *const *choices; // CHOICE: NULL-terminated names; INT: at most one word, which
                                // stands for the number 0 ("all")
    const char *help;           // one line
    char letter;                // command lines: short form, 0 = none
    const char *metavar;        // command lines: name of the value in --help, NULL for BOOL
    bool writes; // TEXT of command lines: the file or folder that it names is written
};

// A table ends with {0}. Its rows are written with the macros below:
//     {HN_INT_OPTION(struct params, n, "n", "255", 1, INT32_MAX, "negatives per anchor")},
// and may go on with the fields that the macro leaves out (.choices, .letter, .metavar). A field of
// another type than its kind asks for does not compile.
#define HN_OPTION_FIELD(kind_, type, field, name_, help_, ...)                                     \
    .name = (name_), .kind = (kind_), .help = help_,                                               \
    .offset = offsetof(type, field) + 0 * sizeof(_Generic(((type *)0)->field, __VA_ARGS__))
#define HN_INT_OPTION(type, field, name_, initial_, min_, max_, help_)                             \
    HN_OPTION_FIELD(HN_OPTION_INT, type, field, name_, help_, int64_t : 0),                        \
        .initial = (initial_), .min = (min_), .max = (max_)
#define HN_REAL_OPTION(type, field, name_, initial_, min_, max_, help_)                            \
    HN_OPTION_FIELD(HN_OPTION_REAL, type, field, name_, help_, double : 0),                        \
        .initial = (initial_), .min = (min_), .max = (max_)
#define HN_SIZE_OPTION(type, field, name_, initial_, min_, max_, help_)                            \
    HN_OPTION_FIELD(HN_OPTION_SIZE, type, field, name_, help_, int64_t : 0),                       \
        .initial = (initial_), .min = (min_), .max = (max_)
#define HN_SCHEDULE_OPTION(type, field, name_, initial_, min_, max_, help_)                        \
    HN_OPTION_FIELD(HN_OPTION_SCHEDULE, type, field, name_, help_, struct hn_schedule : 0),        \
        .initial = (initial_), .min = (min_), .max = (max_)
#define HN_CHOICE_OPTION(type, field, name_, initial_, choices_, help_)                            \
    HN_OPTION_FIELD(HN_OPTION_CHOICE, type, field, name_, help_, int : 0, unsigned : 0),           \
        .initial = (initial_), .choices = (choices_)
#define HN_BOOL_OPTION(type, field, name_, initial_, help_)                                        \
    HN_OPTION_FIELD(HN_OPTION_BOOL, type, field, name_, help_, bool : 0), .initial = (initial_)
#define HN_TEXT_OPTION(type, field, name_, help_)                                                  \
    HN_OPTION_FIELD(HN_OPTION_TEXT, type, field, name_, help_, char * : 0)
#define HN_LIST_OPTION(type, field, name_, help_)                                                  \
    HN_OPTION_FIELD(HN_OPTION_LIST, type, field, name_, help_, struct hn_text_list : 0)

// Sets every option of `params` (uninitialised before) to its default.
HN_MUST_USE enum hn_code hn_options_init(struct hn_context *ctx, const struct hn_option *table,
                                         void *params);
// Frees what TEXT and LIST options own.
void hn_options_free(struct hn_context *ctx, const struct hn_option *table, void *params);
// Parses `text` into option `name`. HN_USAGE for an unknown name (with the nearest one), a wrong
// type or a value out of range (with the range or the choices).
HN_MUST_USE enum hn_code hn_options_set(struct hn_context *ctx, const struct hn_option *table,
                                        void *params, const char *name, const char *text);
// The same for an option that is known, and its value where it has no default.
HN_MUST_USE enum hn_code hn_option_set(struct hn_context *ctx, const struct hn_option *option,
                                       void *params, const char *text);
void hn_option_unset(const struct hn_option *option, void *params);
// Entry of that name or NULL.
const struct hn_option *hn_options_find(const struct hn_option *table, const char *name);

// "0 to 1", "1 or more", "a, b or c": the values an option takes.
struct hn_phrase hn_option_range(const struct hn_option *option);

// Value of a schedule at progress in [0, 1].
static inline double hn_schedule_at(struct hn_schedule s, double progress) {
    return s.from + (s.to - s.from) * progress;
}

// The entry of names[n] nearest to word (Damerau-Levenshtein distance at most a third of its
// length, at least 1), else the first that begins with it or that it begins with (three letters or
// more), or NULL. Case is ignored.
const char *hn_suggest(const char *word, const char *const *names, int64_t n);
