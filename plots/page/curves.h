// What many figures have in common: a measure over steps by setting, a measure over a parameter by
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
};
extern const struct hn_curve_value hn_curve_fn, hn_curve_start, hn_curve_cos;

// A panel of a data set: a curve of the measure per setting over the steps. faint: some of the
// batches behind the means, of measures that are kept by batch.
void hn_draw_panel_over_steps(struct hn_page *page, const struct hn_groups *g, int dataset,
                              const struct hn_curve_value *measure, bool faint);
// Such panels by data set and measure.
void hn_draw_over_steps(struct hn_page *page, const struct hn_groups *g,
                        const struct hn_curve_value *measure, int n, bool faint);

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

// Whether rows a and b of any table have the same texts and numbers in these columns
// (NULL-terminated).
bool hn_rows_agree(const struct hn_table *t, int64_t a, int64_t b, const char *const *column);

// Setting of a groups' place, at the last step where it has a value in the column; -1 if none.
int64_t hn_last_step(const struct hn_groups *g, int dataset, int temperature, int setting,
                     const char *column);

#endif
