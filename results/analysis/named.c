// SPDX-License-Identifier: GPL-3.0-or-later
// Names of settings, read and matched.
#include "results/analysis/named.h"
#include "core/options/option_text.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_MAX = 12 };

struct span {
    const char *text;
    int length;
};

static struct span first_word(const char *text, const char *end) {
    text += strspn(text, " ,");
    int length = (int)strcspn(text, " ,");
    return (struct span){text, text < end ? length : 0};
}

static bool is_option(struct span word) {
    return word.length > 0 && memchr(word.text, '=', (size_t)word.length) != NULL;
}

// The next name of `rest`, which moves on: up to a comma with a sampler behind it. False at the
// end.
static bool next_name(const char **rest, struct span *name) {
    const char *from = *rest + strspn(*rest, " ,"), *end = from;
    do {
        end += strspn(end, ",");
        end += strcspn(end, ",");
    } while (*end && is_option(first_word(end, end + strlen(end))));
    *name = (struct span){from, (int)(end - from)};
    *rest = end;
    return name->length > 0;
}

bool hn_overview_has(const struct hn_overview *o, int64_t setting, const char *column,
                     const char *value) {
    const struct hn_table *runs = &o->results->runs;
    const char *text = hn_table_text(runs, o->first[setting], column);
    double number = hn_table_real(runs, o->first[setting], column);
    struct hn_option_part part;
    char *end;
    if (strcmp(column, "dataset") == 0 && strcmp(hn_dataset_title(text).text, value) == 0)
        return true;
    if (strcmp(column, "params") == 0) {
        while (hn_option_next(&value, &part))
            if (!hn_option_has(text, part))
                return false;
        return true;
    }
    double wanted = strtod(value, &end);
    return isnan(number) ? strcmp(text, value) == 0 : end > value && !*end && number == wanted;
}

// True if numbers or texts are equal.
static bool same_value(const char *a, const char *b) {
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    bool numbers = end_a > a && !*end_a && end_b > b && !*end_b;
    return numbers ? x == y : strcmp(a, b) == 0;
}

// True if a setting has an option of its sampler, weighting or task, or the value of a column.
static bool has_option(const struct hn_overview *o, int64_t setting, struct span word) {
    static const char *const texts[] = {"params", "weighting_params", "task_params", NULL};
    const struct hn_table *runs = &o->results->runs;
    const struct hn_option_part part = {word.text, (size_t)word.length};
    const struct hn_phrase name = hn_option_name(part);
    struct hn_phrase value;
    int before = (int)strlen(name.text) + 1;
    hn_put_text(value.text, sizeof value.text, "%.*s", word.length - before, word.text + before);
    for (const char *const *of = texts; *of; of++) {
        const struct hn_phrase own =
            hn_option_value(hn_table_text(runs, o->first[setting], *of), name.text);
        if (*own.text)
            return same_value(own.text, value.text);
    }
    const char *column = strcmp(name.text, "B") == 0 ? "batch_size" : name.text;
    return hn_table_find(runs, column) >= 0 && hn_overview_has(o, setting, column, value.text);
}

static bool is_sampler(const char *sampler, struct span word) {
    return strlen(sampler) == (size_t)word.length &&
           memcmp(sampler, word.text, (size_t)word.length) == 0;
}

static bool fits(const struct hn_overview *o, int64_t setting, struct span name) {
    const char *end = name.text + name.length;
    struct span word = first_word(name.text, end);
    for (; word.length > 0; word = first_word(word.text + word.length, end))
        if (is_option(word) ? !has_option(o, setting, word)
                            : !is_sampler(hn_overview_sampler(o, setting), word))
            return false;
    return true;
}

bool hn_overview_is_named(const struct hn_overview *o, int64_t setting, const char *names) {
    struct span name;
    bool named = names == NULL;
    while (!named && next_name(&names, &name))
        named = fits(o, setting, name);
    return named;
}

// HN_USAGE with the settings there are: those of the sampler that is named, if it is there.
static enum hn_code fail_unknown(struct hn_context *ctx, const struct hn_overview *o,
                                 struct span name) {
    const struct span sampler = first_word(name.text, name.text + name.length);
    char list[HN_MESSAGE_MAX / 2] = "";
    bool known = false;
    int64_t n = 0;
    for (int64_t s = 0; s < o->settings; s++)
        known |= is_sampler(hn_overview_sampler(o, s), sampler);
    for (int64_t s = 0; s < o->settings; s++) {
        const struct hn_phrase label = hn_overview_label(o, s);
        bool told = known && !is_sampler(hn_overview_sampler(o, s), sampler);
        for (int64_t k = 0; k < s && !told; k++)
            told = strcmp(hn_overview_label(o, k).text, label.text) == 0;
        if (!told && n++ < LISTED_MAX)
            hn_append(list, sizeof list, "%s%s", n > 1 ? "; " : "", label.text);
    }
    if (n > LISTED_MAX)
        hn_append(list, sizeof list, "; and %" PRId64 " more", n - LISTED_MAX);
    return hn_fail(ctx, HN_USAGE, "--settings: no setting is '%.*s'; there are: %s", name.length,
                   name.text, list);
}

enum hn_code hn_overview_check_names(struct hn_context *ctx, const struct hn_results *r,
                                     const char *names) {
    HN_SCOPE(ctx);
    struct hn_overview o;
    struct span name;
    int64_t n = 0;
    if (hn_overview_make(ctx, r, &o))
        return ctx->code;
    for (; next_name(&names, &name); n++) {
        int64_t s = 0;
        while (s < o.settings && !(o.seeds[s] > 0 && fits(&o, s, name)))
            s++;
        if (s == o.settings)
            return fail_unknown(ctx, &o, name);
    }
    return n > 0 ? HN_OK
                 : hn_fail(ctx, HN_USAGE,
                           "--settings names no setting; write them as tables do: "
                           "'uniform, batchsampler M=500'");
}
