// SPDX-License-Identifier: GPL-3.0-or-later
// Line styles of settings: one per sampler, or in the order of an option.
#include "plots/page/lines.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

int hn_line_colour(int line) { return line % HN_LINE_STYLE; }

int hn_line_style(int line) { return line / HN_LINE_STYLE; }

// Beyond the styles of the theme they begin again.
static int with_style(int colour, int style) {
    return colour + HN_LINE_STYLE * (1 + style % HN_LINE_STYLES);
}

int hn_line_number(int i) { return with_style(HN_LINE_THINGS + i % HN_LINE_THING_HUES, i + 1); }

int hn_line_of_setting(int line, int i) {
    // Steps of 7 visit all styles and keep dashes of neighbours apart.
    return with_style(hn_line_colour(line), hn_line_style(line) - 1 + 7 * i);
}

int hn_line_ordered(int i, int n) {
    return with_style(HN_LINE_ORDERED + (n > 1 ? i * (HN_LINES_ORDERED - 1) / (n - 1) : 0), i);
}

// The samplers of results, in the order of their first rows; of more than that the rest share hues.
enum { SAMPLERS_MAX = 64 };
struct names {
    const char *name[SAMPLERS_MAX];
    int n;
};

static int position_of(const struct names *names, const char *name) {
    int i = 0;
    while (i < names->n && strcmp(names->name[i], name) != 0)
        i++;
    return i;
}

static struct names samplers_of(const struct hn_table *runs) {
    struct names names = {.n = 0};
    int column = hn_table_find(runs, "sampler");
    bool texts = column >= 0 && runs->column[column].kind == HN_COLUMN_TEXT;
    for (int64_t row = 0; texts && row < runs->rows && names.n < SAMPLERS_MAX; row++)
        if (position_of(&names, runs->cells[column].text[row]) == names.n)
            names.name[names.n++] = runs->cells[column].text[row];
    return names;
}

static int registered(const char *sampler) {
    int number = 0;
    while (hn_samplers[number] && strcmp(hn_samplers[number]->name, sampler) != 0)
        number++;
    return number;
}

// The place in the registry, or behind it, by first appearance.
static int number_of(const struct names *names, const char *sampler) {
    int number = registered(sampler);
    bool unknown = !hn_samplers[number];
    for (int i = 0; unknown && i < position_of(names, sampler); i++)
        number += !hn_samplers[registered(names->name[i])];
    return number;
}

// The hue of a number: in turn, unless a lower number of the same results has it.
static int hue_of(const struct names *names, int number) {
    bool there[SAMPLERS_MAX + HN_LINE_STYLE] = {false}, taken[HN_LINE_HUES] = {false};
    int hue = 0, left = HN_LINE_HUES;
    for (int i = 0; i < names->n; i++)
        there[number_of(names, names->name[i])] = true;
    for (int k = 1; k <= number; k++) {
        if (k < number && !there[k])
            continue;
        hue = (k - 1) % HN_LINE_HUES;
        while (left > 0 && taken[hue])
            hue = (hue + 1) % HN_LINE_HUES;
        left -= !taken[hue];
        taken[hue] = true;
    }
    return 2 + hue;
}

int hn_line_of_sampler(const struct hn_table *runs, const char *sampler) {
    const struct names names = samplers_of(runs);
    int number = number_of(&names, sampler);
    return number == 0 ? with_style(HN_LINE_UNIFORM, 0)
                       : with_style(hue_of(&names, number), number);
}

// The number in which alone settings differ: the batch size, or an option.
static double varied(const struct hn_groups *g, int setting, const char *option) {
    return option ? hn_option_number(g->setting[setting].params, option)
                  : (double)g->setting[setting].batch_size;
}

// The first option that is not alike in a and b, "" if none.
static struct hn_phrase differing(const char *a, const char *b) {
    struct hn_option_part part;
    while (hn_option_next(&a, &part))
        if (!hn_option_has(b, part))
            return hn_option_name(part);
    return (struct hn_phrase){""};
}

// Numbers in their order, then schedules and words, of all settings with its sampler.
static int line_in_order(const struct hn_groups *g, int setting, const char *option) {
    const char *sampler = g->setting[setting].sampler;
    double own = varied(g, setting, option);
    int before = 0, of = 0;
    for (int k = 0; k < g->settings; k++) {
        double other = varied(g, k, option);
        bool equal = (isnan(own) && isnan(other)) || !(own < other || own > other);
        if (strcmp(g->setting[k].sampler, sampler) != 0)
            continue;
        of++;
        before += isnan(own) != isnan(other) ? isnan(own) : equal ? k < setting : other < own;
    }
    return hn_line_ordered(before, of);
}

// True if all settings but Uniform's are of one sampler and differ: in *option, "" = in batch size.
static bool is_one_sampler(const struct hn_groups *g, int first, struct hn_phrase *option) {
    int of = 0;
    *option = (struct hn_phrase){""};
    for (int i = 0; i < g->settings; i++) {
        const struct hn_setting *s = &g->setting[i], *to = &g->setting[first];
        if (strcmp(s->sampler, to->sampler) != 0) {
            if (!hn_is_named_uniform(s->sampler))
                return false;
            continue;
        }
        of++;
        const struct hn_phrase other = differing(s->params, to->params);
        if (*other.text)
            *option = other;
    }
    return of > 1;
}

int hn_sampler_line(const struct hn_groups *g, int setting) {
    return hn_line_of_sampler(&g->results->runs, g->setting[setting].sampler);
}

int hn_setting_line(const struct hn_groups *g, int setting) {
    const char *sampler = g->setting[setting].sampler;
    struct hn_phrase option;
    int first = 0, before = 0;
    while (first < g->settings - 1 && hn_is_named_uniform(g->setting[first].sampler))
        first++;
    if (is_one_sampler(g, first, &option) && strcmp(sampler, g->setting[first].sampler) == 0)
        return line_in_order(g, setting, *option.text ? option.text : NULL);
    for (int k = 0; k < setting; k++)
        before += strcmp(g->setting[k].sampler, sampler) == 0;
    return hn_line_of_setting(hn_sampler_line(g, setting), before);
}
