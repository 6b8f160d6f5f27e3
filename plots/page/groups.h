// Rows of /runs by data set, temperature, step and setting: a panel each, a curve over steps.
#pragma once

#include "plots/page/figure.h"
#include "results/analysis/means.h"
#include "results/analysis/params.h"
#include "results/store.h"

enum {
    HN_LINE_UNIFORM = 1,  // colour of Uniform
    HN_LINE_HUES = 11,    // colours of the other samplers, from 2
    HN_LINE_GREY = 13,    // colour of what is neither a sampler nor a value in an order
    HN_LINE_ORDERED = 14, // first colour of values in their order
    HN_LINES_ORDERED = 8,
    HN_LINE_STYLES = 40,
    HN_LINE_STYLE = 100 // a line is colour + HN_LINE_STYLE * style
};

// Line number i of things that are not samplers, from 0.
int hn_line_number(int i);
// Setting i of the sampler with that line: its colour, and a style of its own.
int hn_line_of_setting(int line, int i);
// Value i of n in their order: colours from dark to bright, and a style of its own.
int hn_line_ordered(int i, int n);
bool hn_line_is_uniform(
    const char *sampler); // beside which the settings of one other have an order
int hn_line_of_sampler(const struct hn_table *runs, const char *sampler);
int hn_line_colour(int line);
int hn_line_style(int line); // from 1; 0 = none: a solid line

enum {
    HN_MAX_PANELS = 4,
    HN_MAX_SETTINGS = 40, // of a curve or a row each
    HN_ALL_SETTINGS = 1 << 20,
    HN_MAX_CURVES = 8
};

// A sampler with its parameters and batch size. Texts are borrowed from the results.
struct hn_setting {
    const char *sampler, *params;
    int64_t batch_size;
    char label[HN_LABEL_SIZE]; // the sampler, and the options in which its settings differ
    int line;                  // hn_groups_lines()
    int league; // first setting that it may be ranked against: batches of one size, or negatives
                // per anchor. Losses and temperatures do not change a batch: a first value counts
    bool per_anchor;
};

// The label without the sampler, unless it is all of it.
const char *hn_setting_options(const struct hn_setting *s);

struct hn_groups {
    const char *dataset[HN_MAX_PANELS]; // in the order of the file, like settings and temperatures
    double temperature[HN_MAX_PANELS];
    struct hn_setting *setting; // [settings]
    int datasets, temperatures, settings;
    int settings_in_all;                   // with those that are left out
    bool more_datasets, more_temperatures; // than are kept here
    int64_t *step;                         // [steps], increasing
    int64_t steps;
    struct hn_position {
        int dataset, temperature, setting; // -1: not kept
        int64_t step;                      // index into `step`
    } * position;                          // [runs.rows]
    int64_t *row;                          // [runs.rows] for hn_groups_rows()
    const struct hn_results *results;
};

// Lines of settings, which hn_groups_make() sets: those of several samplers as above, those of one
// sampler by the number in which they differ, or one after the other.
void hn_groups_lines(struct hn_groups *g);
// The line that all settings of its sampler share, where each is named beside its mark.
int hn_sampler_line(const struct hn_groups *g, int setting);

// Which rows are grouped: those whose status is ok, whose column `wanted` (NULL: any) is not NaN
// and that `keep` (NULL: all) lets through; where `alike` names an option, only those that have the
// value of it that the first row has for which `to` is true, none without such a row: so that what
// is compared differs in one thing.
struct hn_choice {
    const char *wanted;
    bool (*keep)(const struct hn_table *runs, int64_t row);
    const char *alike; // of params; NULL: all values
    bool (*to)(const struct hn_table *runs, int64_t row);
    bool one_panel;      // of the first data set and temperature alone
    int max_settings;    // kept at most; 0 = HN_MAX_CURVES over steps, HN_MAX_SETTINGS at one step
    int most_rows;       // of those of hn_page.most_rows; 0 = any
    const char *sampler; // that the figure is about: kept first, after Uniform; NULL = none
    const char *nothing; // said where no row is left; NULL = as wanted and keep suggest
};

// HN_NOT_APPLICABLE if no row is left. What it allocates belongs to the owner.
HN_MUST_USE enum hn_code hn_groups_make(struct hn_context *ctx, const struct hn_results *r,
                                        struct hn_choice choice, struct hn_groups *out);

// Coordinates of a group; -1 for any data set or temperature.
struct hn_where {
    int dataset, temperature, setting;
    int64_t step;
};
// The mean over a position's rows. Weightings of one batch count once: the first with a value.
struct hn_mean hn_groups_mean(const struct hn_groups *g, struct hn_where where, const char *name);
// The mean of the first setting that has one there, NaN if none has: of what all share.
double hn_groups_first_mean(const struct hn_groups *g, struct hn_where where, const char *name);
// Seconds of a batch, its share of the build included; 0 if neither was measured.
double hn_groups_cost(const struct hn_groups *g, struct hn_where where);

// Rows of the position in the order of the file, borrowed until the next call of this or of a mean.
// A seed comes once, with the first row that has a value in column `name`.
struct hn_replicates hn_groups_rows(const struct hn_groups *g, struct hn_where where,
                                    const char *name);

// Counts the values of an option among the settings; settings without it do not count.
int hn_groups_values(const struct hn_groups *g, const char *option);
// The different numbers of a column, increasing, `max` of them at most; returns how many.
int hn_distinct(const struct hn_table *t, const char *column, double *value, int max);

// Title that distinguishes a league: "B=64, negatives per anchor"; "" if it is the only one.
struct hn_phrase hn_league_title(const struct hn_groups *g, int league);
// Title of the panel of a data set and temperature (-1: all); "" if it is the only one.
struct hn_phrase hn_groups_title(const struct hn_groups *g, int dataset, int temperature);
