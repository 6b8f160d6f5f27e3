// Parts that many figures share: a measure over steps by setting, a measure over a parameter by
// step, and the values that papers print.
#ifndef HN_PLOTS_PAGE_CURVES_H
#define HN_PLOTS_PAGE_CURVES_H

#include "plots/page/page.h"
#include "plots/page/paper.h"

// A column of /runs as it is drawn.
struct hn_curve_value {
    const char *column, *title; // title with unit
    double scale;               // 100 for percent
    bool zero;                  // the axis begins at 0
    double min, largest;        // what it can be, in units of the axis; equal = anything
};
extern const struct hn_curve_value hn_curve_fn, hn_curve_start, hn_curve_cos;

// A panel that compares settings: over steps, with a curve each, or, where there is one step alone,
// with a row each. Its parts: the axis of the measure; a setting's curve or row; a curve or marks
// of what settings are compared with; a value with half of its interval (NaN = none) at a step or
// row.
struct hn_panel *hn_panel_of_settings(struct hn_page *page, const struct hn_groups *g,
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

// A panel of a data set: a curve of the measure per setting over the steps. dots: some of the
// batches behind the means, of measures that are kept by batch.
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

// True if rows a and b of any table have the same texts and numbers in these columns
// (NULL-terminated).
bool hn_rows_agree(const struct hn_table *t, int64_t a, int64_t b, const char *const *column);

// Settings that may be ranked against each other: batches of one size, or negatives per anchor with
// one number of anchors. Losses and temperatures do not change a batch: the first that has a value
// counts.
struct hn_league {
    int64_t batch_size;
    bool per_anchor;
};
struct hn_league hn_league_of(const struct hn_groups *g, int setting);
bool hn_same_league(struct hn_league a, struct hn_league b);
// True for the first setting of its league: a loop over leagues is one over these.
bool hn_leads_league(const struct hn_groups *g, int setting);
// Title that distinguishes a league from the file's others: "B=64, negatives per anchor"; "" if it
// is the only one.
void hn_league_title(const struct hn_groups *g, struct hn_league league, char *text, size_t size);
// A setting at the last step of its data set that any setting has a value in the column at; step -1
// if it has none there.
struct hn_where hn_last_position(const struct hn_groups *g, int dataset, int setting,
                                 const char *column);

// Step of a setting, in the groups' indices, at the last step where it has a value in the column;
// -1 if none.
int64_t hn_last_step(const struct hn_groups *g, int dataset, int temperature, int setting,
                     const char *column);

#endif
