// SPDX-License-Identifier: GPL-3.0-or-later
// Option tables: defaults, parsing and errors. Their texts are in option_text.c, command lines in
// option_argv.c.
//
// Numbers are read in the "C" locale whatever the program's locale is, so that a job file means the
// same everywhere.
#include "core/options/option.h"

#include "core/real_text.h"
#include "core/text.h"
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 80, NAMES_MAX = 64, LIST_MAX = 512 };

enum reading { READ_OK, READ_BAD, READ_TOO_LARGE };

static void *field(const struct hn_option *option, void *params) {
    return (char *)params + option->offset;
}

// Optional sign, digits with at most one point, optional exponent: no blanks, no hexadecimal.
static bool is_decimal(const char *text) {
    const char *s = text + (*text == '+' || *text == '-');
    size_t whole = strspn(s, "0123456789"), part = 0;
    s += whole;
    if (*s == '.') {
        part = strspn(s + 1, "0123456789");
        s += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s += 1 + (s[1] == '+' || s[1] == '-');
        size_t digits = strspn(s, "0123456789");
        if (digits == 0)
            return false;
        s += digits;
    }
    return *s == '\0';
}

static bool is_infinity(const char *text) {
    const char *s = text + (*text == '+' || *text == '-');
    return strcasecmp(s, "inf") == 0 || strcasecmp(s, "infinity") == 0;
}

static enum reading read_real(const char *text, double *out) {
    if (is_infinity(text)) {
        *out = *text == '-' ? -INFINITY : INFINITY;
        return READ_OK;
    }
    if (!is_decimal(text))
        return READ_BAD;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    *out = v + 0.0; // -0 and 0 are one value and have one text
    return isinf(v) ? READ_TOO_LARGE : READ_OK;
}

// A whole number, also written as "1e3" or "2.0". INT64_MIN stands for "unset" and is not a value.
static enum reading read_whole(const char *text, int64_t *out) {
    if (!is_decimal(text))
        return READ_BAD;
    if (strspn(text, "+-0123456789") == strlen(text)) {
        errno = 0;
        *out = strtoll(text, NULL, 10);
        return errno == ERANGE || *out == INT64_MIN ? READ_TOO_LARGE : READ_OK;
    }
    double v;
    if (read_real(text, &v) != READ_OK || fabs(v) > 0x1p53) // beyond, doubles skip whole numbers
        return READ_TOO_LARGE;
    if (v != floor(v))
        return READ_BAD;
    *out = (int64_t)v;
    return READ_OK;
}

// Factor of a unit of bytes, 0 if there is no such unit. A lone letter means what it means to Slurm
// and to GNU's programs: powers of 1024.
static int64_t unit_bytes(const char *unit) {
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
        {"KiB", (int64_t)1 << 10},
        {"K", (int64_t)1 << 10},
        {"MiB", (int64_t)1 << 20},
        {"M", (int64_t)1 << 20},
        {"GiB", (int64_t)1 << 30},
        {"G", (int64_t)1 << 30},
        {"TiB", (int64_t)1 << 40},
        {"T", (int64_t)1 << 40},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(unit, units[i].name) == 0)
            return units[i].bytes;
    return 0;
}

// "4GiB", "4G", "1.5 GB", "1000000": a whole number of bytes.
static enum reading read_size(const char *text, int64_t *out) {
    char number[SHOWN];
    size_t length = strlen(text), digits = length;
    while (digits > 0 && strchr("BbKkMmGgTtIi", text[digits - 1]))
        digits--;
    int64_t unit = unit_bytes(text + digits), whole;
    while (digits > 0 && digits < length && text[digits - 1] == ' ')
        digits--;
    if (unit == 0 || digits >= sizeof number)
        return READ_BAD;
    memcpy(number, text, digits);
    number[digits] = '\0';
    enum reading reading = read_whole(number, &whole);
    if (reading == READ_OK)
        return hn_mul(whole, unit, out) ? READ_OK : READ_TOO_LARGE;
    double part;
    if (reading == READ_TOO_LARGE || !is_decimal(number) || read_real(number, &part) != READ_OK)
        return reading;
    double bytes = part * (double)unit;
    if (fabs(bytes) > 0x1p53)
        return READ_TOO_LARGE;
    if (bytes != floor(bytes))
        return READ_BAD;
    *out = (int64_t)bytes;
    return READ_OK;
}

static bool unlimited(const struct hn_option *option) {
    return option->min == 0 && option->max == 0;
}

// long double holds every int64_t and every double.
static bool in_range(const struct hn_option *option, long double v) {
    if (option->kind == HN_OPTION_SIZE && v < 0)
        return false;
    return unlimited(option) ? !isinf((double)v)
                             : v >= (long double)option->min && v <= (long double)option->max;
}

// A limit as a user would write it: sizes in the largest binary unit that divides them.
static struct hn_shortest limit_text(const struct hn_option *option, double v) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    if (option->kind == HN_OPTION_SIZE)
        while (unit < 4 && v >= 1024 && fmod(v, 1024) == 0) {
            v /= 1024;
            unit++;
        }
    struct hn_shortest limit = hn_real_text(v);
    if (option->kind != HN_OPTION_REAL && option->kind != HN_OPTION_SCHEDULE && fabs(v) < 1e15)
        snprintf(limit.text, sizeof limit.text, "%.0f", v); // whole: 100000 rather than 1e+05
    hn_append(limit.text, sizeof limit.text, "%s", units[unit]);
    return limit;
}

static bool whole_kind(const struct hn_option *option) {
    return option->kind == HN_OPTION_INT || option->kind == HN_OPTION_SIZE;
}

// Limits at or beyond what the type holds limit nothing.
static bool limits(const struct hn_option *option, double v) {
    return fabs(v) < (whole_kind(option) ? 0x1p63 : DBL_MAX);
}

static struct hn_phrase number_range(const struct hn_option *option) {
    bool none = option->min == 0 && option->max == 0;
    bool above = !none && limits(option, option->min), below = !none && limits(option, option->max);
    const char *also = option->kind == HN_OPTION_SCHEDULE ? ", also from~to" : "";
    const char *word = option->kind == HN_OPTION_INT    ? "any whole number"
                       : option->kind == HN_OPTION_SIZE ? "bytes, as in 512MiB or 4GiB"
                                                        : "any number";
    struct hn_phrase range = {""};
    if (above)
        hn_append(range.text, sizeof range.text, "%s%s", limit_text(option, option->min).text,
                  below ? " to " : " or more");
    if (below)
        hn_append(range.text, sizeof range.text, "%s%s", limit_text(option, option->max).text,
                  above ? "" : " or less");
    hn_append(range.text, sizeof range.text, "%s%s", above || below ? "" : word, also);
    if (above && option->kind == HN_OPTION_INT && option->choices)
        hn_append(range.text, sizeof range.text, ", or %s", option->choices[0]);
    return range;
}

static struct hn_phrase choice_range(const struct hn_option *option) {
    struct hn_phrase range = {""};
    for (int i = 0; option->choices[i]; i++)
        hn_append(range.text, sizeof range.text, "%s%s",
                  i == 0                   ? ""
                  : option->choices[i + 1] ? ", "
                                           : " or ",
                  option->choices[i]);
    return range;
}

struct hn_phrase hn_option_range(const struct hn_option *option) {
    switch (option->kind) {
    case HN_OPTION_BOOL: return (struct hn_phrase){"true or false"};
    case HN_OPTION_CHOICE: return choice_range(option);
    case HN_OPTION_TEXT:
    case HN_OPTION_LIST: return (struct hn_phrase){"any text"};
    default: return number_range(option);
    }
}

static enum hn_code out_of_range(struct hn_context *ctx, const struct hn_option *option,
                                 const char *text) {
    return hn_fail(ctx, HN_USAGE, "option '%s': %.*s is out of range (%s)", option->name, SHOWN,
                   text, hn_option_range(option).text);
}

static enum hn_code wrong_type(struct hn_context *ctx, const struct hn_option *option,
                               const char *text, const char *wanted) {
    return hn_fail(ctx, HN_USAGE, "option '%s': '%.*s' is not %s", option->name, SHOWN, text,
                   wanted);
}

// INT, SIZE or REAL.
static enum hn_code set_number(struct hn_context *ctx, const struct hn_option *option, void *out,
                               const char *text) {
    bool size = option->kind == HN_OPTION_SIZE, real = option->kind == HN_OPTION_REAL;
    int64_t whole = 0;
    double number = 0;
    if (!size && !real && option->choices && strcmp(text, option->choices[0]) == 0) {
        *(int64_t *)out = 0;
        return HN_OK;
    }
    enum reading reading = real   ? read_real(text, &number)
                           : size ? read_size(text, &whole)
                                  : read_whole(text, &whole);
    if (reading == READ_BAD)
        return wrong_type(ctx, option, text,
                          real   ? "a number"
                          : size ? "a number of bytes such as 1000000, 512MiB or 4GiB"
                                 : "a whole number");
    if (reading == READ_TOO_LARGE ||
        !in_range(option, real ? (long double)number : (long double)whole))
        return out_of_range(ctx, option, text);
    if (real)
        *(double *)out = number;
    else
        *(int64_t *)out = whole;
    return HN_OK;
}

static enum hn_code set_schedule(struct hn_context *ctx, const struct hn_option *option,
                                 struct hn_schedule *out, const char *text) {
    char from[SHOWN];
    struct hn_schedule s;
    const char *tilde = strchr(text, '~');
    size_t length = tilde ? (size_t)(tilde - text) : strlen(text);
    if (length >= sizeof from)
        return wrong_type(ctx, option, text, "a number or from~to");
    memcpy(from, text, length);
    from[length] = '\0';
    if (read_real(from, &s.from) == READ_BAD || (tilde && read_real(tilde + 1, &s.to) == READ_BAD))
        return wrong_type(ctx, option, text, "a number or from~to");
    if (!tilde)
        s.to = s.from;
    if (!in_range(option, s.from) || !in_range(option, s.to))
        return out_of_range(ctx, option, text);
    *out = s;
    return HN_OK;
}

static enum hn_code set_bool(struct hn_context *ctx, const struct hn_option *option, bool *out,
                             const char *text) {
    if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0)
        *out = true;
    else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0)
        *out = false;
    else
        return wrong_type(ctx, option, text, "true, false, yes or no");
    return HN_OK;
}

static enum hn_code set_choice(struct hn_context *ctx, const struct hn_option *option, int *out,
                               const char *text) {
    int n = 0;
    for (; option->choices[n]; n++)
        if (strcmp(option->choices[n], text) == 0) {
            *out = n;
            return HN_OK;
        }
    const char *meant = hn_suggest(text, option->choices, n);
    return hn_fail(ctx, HN_USAGE, "option '%s': '%.*s' is not %s%s%s%s", option->name, SHOWN, text,
                   hn_option_range(option).text, meant ? " (did you mean '" : "",
                   meant ? meant : "", meant ? "'?)" : "");
}

static enum hn_code set_text(struct hn_context *ctx, char **out, const char *text) {
    char *copy = hn_strdup(ctx, text);
    if (!copy)
        return ctx->code;
    hn_free(ctx, *out);
    *out = copy;
    return HN_OK;
}

static enum hn_code add_text(struct hn_context *ctx, struct hn_text_list *list, const char *text) {
    char **item = hn_resize(ctx, list->item, list->count + 1, sizeof *item);
    if (!item)
        return ctx->code;
    list->item = item;
    char *copy = hn_strdup(ctx, text);
    if (!copy)
        return ctx->code;
    item[list->count++] = copy;
    return HN_OK;
}

enum hn_code hn_option_set(struct hn_context *ctx, const struct hn_option *option, void *params,
                           const char *text) {
    void *out = field(option, params);
    switch (option->kind) {
    case HN_OPTION_INT:
    case HN_OPTION_SIZE:
    case HN_OPTION_REAL: return set_number(ctx, option, out, text);
    case HN_OPTION_BOOL: return set_bool(ctx, option, out, text);
    case HN_OPTION_CHOICE: return set_choice(ctx, option, out, text);
    case HN_OPTION_SCHEDULE: return set_schedule(ctx, option, out, text);
    case HN_OPTION_TEXT: return set_text(ctx, out, text);
    case HN_OPTION_LIST: return add_text(ctx, out, text);
    }
    return hn_fail(ctx, HN_INTERNAL, "option '%s' is of no known kind", option->name);
}

void hn_option_unset(const struct hn_option *option, void *params) {
    void *out = field(option, params);
    switch (option->kind) {
    case HN_OPTION_INT: *(int64_t *)out = INT64_MIN; break;
    case HN_OPTION_SIZE: *(int64_t *)out = 0; break;
    case HN_OPTION_REAL: *(double *)out = NAN; break;
    case HN_OPTION_BOOL: *(bool *)out = false; break;
    case HN_OPTION_CHOICE: *(int *)out = 0; break;
    case HN_OPTION_SCHEDULE: *(struct hn_schedule *)out = (struct hn_schedule){NAN, NAN}; break;
    case HN_OPTION_TEXT: *(char **)out = NULL; break;
    case HN_OPTION_LIST: *(struct hn_text_list *)out = (struct hn_text_list){0}; break;
    }
}

enum hn_code hn_options_init(struct hn_context *ctx, const struct hn_option *table, void *params) {
    for (const struct hn_option *o = table; o->name; o++)
        hn_option_unset(o, params); // all of them first, so that a failure can free
    for (const struct hn_option *o = table; o->name; o++) {
        if (!o->initial)
            continue;
        enum hn_code code = hn_option_set(ctx, o, params, o->initial);
        if (code != HN_OK) {
            hn_options_free(ctx, table, params);
            // The user did nothing wrong; running out of memory stays what it is.
            return code == HN_USAGE ? hn_fail(ctx, HN_INTERNAL, "wrong default: %s", ctx->message)
                                    : code;
        }
    }
    return HN_OK;
}

void hn_options_free(struct hn_context *ctx, const struct hn_option *table, void *params) {
    for (const struct hn_option *o = table; o->name; o++) {
        if (o->kind != HN_OPTION_TEXT && o->kind != HN_OPTION_LIST)
            continue;
        if (o->kind == HN_OPTION_TEXT) {
            hn_free(ctx, *(char **)field(o, params));
        } else {
            struct hn_text_list *list = field(o, params);
            for (int64_t i = 0; i < list->count; i++)
                hn_free(ctx, list->item[i]);
            hn_free(ctx, list->item);
        }
        hn_option_unset(o, params);
    }
}

const struct hn_option *hn_options_find(const struct hn_option *table, const char *name) {
    for (const struct hn_option *o = table; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum hn_code unknown_option(struct hn_context *ctx, const struct hn_option *table,
                                   const char *name) {
    const char *names[NAMES_MAX];
    char known[HN_MESSAGE_MAX] = "";
    int n = 0;
    for (const struct hn_option *o = table; o->name && n < NAMES_MAX; o++)
        names[n++] = o->name;
    qsort(names, (size_t)n, sizeof names[0], by_name);
    for (int i = 0; i < n; i++)
        hn_append(known, sizeof known, "%s%s", i ? ", " : "", names[i]);
    const char *meant = hn_suggest(name, names, n);
    return hn_fail(ctx, HN_USAGE, "unknown option '%.*s'%s%s%s; known: %s", SHOWN, name,
                   meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "",
                   n ? known : "none");
}

enum hn_code hn_options_set(struct hn_context *ctx, const struct hn_option *table, void *params,
                            const char *name, const char *text) {
    const struct hn_option *option = hn_options_find(table, name);
    return option ? hn_option_set(ctx, option, params, text) : unknown_option(ctx, table, name);
}
