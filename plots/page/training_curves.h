// Curves of trainings: a column of /training over steps, a curve per setting, a panel per problem.
#ifndef HN_PLOTS_PAGE_TRAINING_CURVES_H
#define HN_PLOTS_PAGE_TRAINING_CURVES_H

#include "plots/page/page.h"
#include "plots/page/trained.h"

struct hn_training_curves {
    const char *column;                                     // NULL: the task's first, which decides
    const char *unit;                                       // of the axis; NULL: (%) for shares
    bool (*keep)(const struct hn_table *runs, int64_t row); // of a setting's first run; NULL: all
    int min, min_steps;                                     // settings, steps that a panel needs
    bool untrained;                                         // the level of step 0 as a rule
    const char *nothing;                                    // said where there is nothing to draw
    const char *beside; // a second column, as dotted lines of the same colours; NULL: none
};

// "kNN accuracy of z (%)"; unit may be NULL.
void hn_training_axis(const char *column, const char *unit, char *title, size_t size);
// Fills and finishes a page; HN_NOT_APPLICABLE where the file has no training.
HN_MUST_USE enum hn_code hn_draw_training(struct hn_page *page, const struct hn_results *r,
                                          const struct hn_training_curves *curves);

#endif
