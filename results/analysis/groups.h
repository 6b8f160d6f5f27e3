// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of the overview as figures show them: a panel for each data set, a curve over steps for
// each setting.
#pragma once

#include "core/text.h"
#include "results/analysis/overview.h"

enum {
    HN_MAX_PANELS = 4,
    HN_MAX_SETTINGS = 40, // of a curve or a row each
    HN_ALL_SETTINGS = 1 << 20,
    HN_MAX_CURVES = 8
};

// A curve or row of a panel: sampler, options, batch size, and loss, weighting, temperature ...
// where these change the numbers that are drawn. Texts are borrowed from the results.
struct hn_setting {
    const char *sampler, *params;
    int64_t batch_size;
    char others[HN_LABEL_SIZE]; // "loss=infonce, beta=2": of what else settings differ in
    char label[HN_LABEL_SIZE];  // the sampler, and all in which its settings differ
    int league; // first setting that it may be ranked against: they differ in sampler and options
                // alone, and both have batches, or negatives per anchor
    bool per_anchor;
    int64_t first; // the first of the overview's settings that it stands for
};

// The label without the sampler, unless it is all of it.
const char *hn_setting_options(const struct hn_setting *s);

struct hn_groups {
    struct hn_overview overview;
    const char *dataset[HN_MAX_PANELS]; // in the order of the file, like settings and temperatures
    int64_t of_dataset[HN_MAX_PANELS];  // one of the overview's settings on each
    double temperature[HN_MAX_PANELS];  // NaN alone where panels are not by temperature
    struct hn_setting *setting;         // [settings]
    int datasets, temperatures, settings;
    int settings_in_all;       // with those that are left out
    bool named;                // left out are those that the choice does not name, no other
    struct hn_phrase left_out; // the names of these: "knn, ring"; "" if they are many
    bool more_datasets, more_temperatures; // than are kept here
    struct hn_phrase alike;                // "alpha=0.2": settings with another are left out
    int64_t *step;                         // [steps], increasing
    int64_t steps;
    struct hn_position {
        int dataset, temperature, setting; // -1: not kept
        int64_t step;                      // index into `step`
    } * position;                          // [overview.settings]
    const struct hn_results *results;
};

// Which of the overview's settings are kept: those with a finished cell, with a value in column
// `wanted` (NULL: any) and that `keep` (NULL: all) lets through, by a row of theirs; where `alike`
// names an option, only those that have the value of it that the first setting has for which `to`
// is true, none without such a setting: so that what is compared differs in one thing.
struct hn_choice {
    const char *wanted;
    bool (*keep)(const struct hn_table *runs, int64_t row);
    const char *alike; // of params; NULL: all values
    bool (*to)(const struct hn_table *runs, int64_t row);
    bool one_panel;      // of the first data set and temperature alone
    bool by_temperature; // a panel for each temperature, which is not of the setting then
    int max_settings;    // kept at most; 0 = HN_MAX_CURVES over steps, HN_MAX_SETTINGS at one step
    int most_rows;       // of those of hn_page.most_rows; 0 = any
    const char *sampler; // that the figure is about: kept first, after Uniform; NULL = none
    const char *nothing; // said where no setting is left; NULL = as wanted and keep suggest
    // Columns that are drawn besides `wanted`; NULL = none. Settings of the same batches that
    // differ in loss, weighting, temperature ... are one where all these are the same.
    const char *const *columns;
    bool histograms;
    const char *const *apart; // columns that the figure tells apart itself; NULL = none
    const char *named;        // settings (results/analysis/named.h); NULL = all
};

// HN_NOT_APPLICABLE if no setting is left.
HN_MUST_USE enum hn_code hn_groups_make(struct hn_context *ctx, const struct hn_results *r,
                                        struct hn_choice choice, struct hn_groups *out);

struct hn_where {
    int dataset, temperature, setting;
    int64_t step;
};
// The setting of the overview at a position, the first with a value in column `name` (NULL: any);
// -1 = none.
int64_t hn_groups_at(const struct hn_groups *g, struct hn_where where, const char *name);
// Its mean.
struct hn_mean hn_groups_mean(const struct hn_groups *g, struct hn_where where, const char *name);
// The mean of the first setting that has one there and differs in sampler and options alone, NaN if
// none has: of what these share.
double hn_groups_first_mean(const struct hn_groups *g, struct hn_where where, const char *name);
// True if two settings differ in sampler, options and batch size alone.
bool hn_groups_same_loss(const struct hn_groups *g, int a, int b);
// Seconds of a batch, its share of the build included; 0 if neither was measured.
double hn_groups_cost(const struct hn_groups *g, struct hn_where where);

// Counts the values of an option among the settings; settings without it do not count.
int hn_groups_values(const struct hn_groups *g, const char *option);
// The different numbers of a column, increasing, `max` of them at most; returns how many.
int hn_distinct(const struct hn_table *t, const char *column, double *value, int max);

// Title that distinguishes a league: "B=64, negatives per anchor"; "" if it is the only one.
struct hn_phrase hn_league_title(const struct hn_groups *g, int league);
// Title of the panel of a data set and temperature (-1: all); "" if it is the only one.
struct hn_phrase hn_groups_title(const struct hn_groups *g, int dataset, int temperature);
