// SPDX-License-Identifier: GPL-3.0-or-later
// Parts that many figures share: measures over steps and parameters, and published values.
#pragma once

#include "plots/page/page.h"
#include "plots/page/paper.h"
#include "results/analysis/studies.h"
#include "results/analysis/trained.h"

struct hn_phrase; // core/text.h

// A column of /runs as it is drawn.
struct hn_curve_value {
    const char *column, *title; // title with unit
    double scale;               // 100 for percent
    bool zero;                  // the axis begins at 0
    double min, largest;        // what it can be, in units of the axis; equal = anything
};
extern const struct hn_curve_value hn_curve_fn, hn_curve_start, hn_curve_cos;

// hn_groups_make() of what the page's figure draws.
HN_MUST_USE enum hn_code hn_page_groups(struct hn_page *page, const struct hn_results *r,
                                        struct hn_choice choice, struct hn_groups *out);

// Title of an axis on which steps [n] are evenly spaced: it says so where their values are not.
const char *hn_steps_title(const int64_t *step, int64_t n);

// The steps of a data set that a figure draws apart, increasing, as indices into hn_groups.step:
// the one that is wanted (hn_picture.step), if it has that; 0 = `max` at most, spread evenly over
// its own, of which there are `own`.
enum { HN_SHOWN_STEPS = 6 };
struct hn_shown_steps {
    int64_t step[HN_SHOWN_STEPS];
    int n;
    int64_t own;
};
struct hn_shown_steps hn_shown_steps(const struct hn_groups *g, int dataset, int64_t wanted,
                                     int max);

// A panel that compares settings on a data set: a curve each over its steps, or where it has one
// step a row each. Its parts:
// the axis of the measure; a setting's curve or row; a curve or marks of what settings are compared
// with; a value with half of its interval (NaN = none) at a step or row.
struct hn_panel *hn_panel_of_settings(struct hn_page *page, const struct hn_groups *g, int dataset,
                                      const char *title, const char *measure);
struct hn_panel *hn_panel_of_rows(struct hn_page *page, const struct hn_groups *g,
                                  const char *title, const char *measure);
struct hn_axis *hn_measure_axis(struct hn_panel *panel);
void hn_axis_of_measure(struct hn_axis *axis, const struct hn_curve_value *measure);
struct hn_series *hn_setting_curve(struct hn_page *page, struct hn_panel *panel,
                                   const struct hn_groups *g, int setting);
struct hn_series *hn_reference_curve(struct hn_page *page, struct hn_panel *panel,
                                     const char *label);
void hn_curve_add(struct hn_series *s, const struct hn_panel *panel, struct hn_where where,
                  double value, double half);
// The curve or row of a setting: its means of a column of /runs, times `scale`.
void hn_setting_means(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                      struct hn_where where, const char *column, double scale);

// A panel of a data set, a curve per setting over steps. dots: batches behind the means, if kept.
void hn_draw_panel_over_steps(struct hn_page *page, const struct hn_groups *g, int dataset,
                              const struct hn_curve_value *measure, bool dots);
// Such panels by data set and measure.
void hn_draw_over_steps(struct hn_page *page, const struct hn_groups *g,
                        const struct hn_curve_value *measure, int n, bool dots);

// A measure over a parameter: a curve per step where all else is the same, else a curve per
// sampler and other options at the last step. Settings without a number for it stand beside as
// rules, if they are of sampler `rule`.
enum { HN_SWEEP_MEASURES = 3 };
struct hn_option_curves {
    const char *option; // of the sampler's parameters, or "batch_size"
    const char *title;  // of its axis
    const char *rule;   // sampler whose mean at the last step is a rule; NULL = none
    const struct hn_curve_value *measure[HN_SWEEP_MEASURES]; // NULL: no more
    bool log;                                                // axis of the parameter
    struct hn_choice choice;
};
HN_MUST_USE enum hn_code hn_draw_sweep(struct hn_page *page, const struct hn_results *r,
                                       const struct hn_option_curves *sweep);

// Choices of rows.
bool hn_keep_proximity_walks(const struct hn_table *runs, int64_t row); // BatchSampler's own (RWR)
bool hn_keep_walks_and_uniform(const struct hn_table *runs, int64_t row);

// A setting at its data set's last step with a value in the column; step -1 if it has none there.
struct hn_where hn_last_position(const struct hn_groups *g, int dataset, int setting,
                                 const char *column);

// Index of the data set's last step at which any setting has a value in the column; -1 if none.
int64_t hn_last_step(const struct hn_groups *g, int dataset, const char *column);

struct hn_bins {
    const double *count; // [n] pairs, whose cosines begin at lo
    int64_t n;           // 0: no memory
    double lo, width;    // of a bin
};

// The settings of a study that a figure draws, `max` at most, and of the first data set alone if
// `one_dataset`: fills shown[max], notes what is left out, returns how many.
int hn_page_studied(struct hn_page *page, const struct hn_study_settings *s, int max,
                    bool one_dataset, int64_t *shown);

// Adds the settings of trainings that the page's names leave out.
void hn_page_named(struct hn_page *page, const struct hn_trained *t);

struct hn_training_curves {
    const char *column;                                     // NULL: the task's first, which decides
    const char *unit;                                       // of the axis; NULL: (%) for shares
    bool (*keep)(const struct hn_table *runs, int64_t row); // of a setting's first run; NULL: all
    int min, min_steps;                                     // settings, steps that a panel needs
    bool untrained;                                         // the level of step 0 as a rule
    const char *nothing;                                    // said where there is nothing to draw
    const char *beside; // a second column, as dotted lines of the same colours; NULL: none
};

// "kNN accuracy of z (%)"; unit: as above.
struct hn_phrase hn_training_axis(const char *column, const char *unit);
// Fills and finishes a page; HN_NOT_APPLICABLE where the file has no training.
HN_MUST_USE enum hn_code hn_draw_training(struct hn_page *page, const struct hn_results *r,
                                          const struct hn_training_curves *curves);
