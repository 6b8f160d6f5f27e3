// SPDX-License-Identifier: GPL-3.0-or-later
// A metric over past results: one line per sampler, one mark per results file.
#include "plots/page/page.h"

#include <math.h>
#include <string.h>

enum { COMMIT_SHOWN = 7, DATE_SHOWN = 10, MAX_NAMED = 10 };

static const char *text(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_text(&r->runs, row, column);
}

// Rows of one sampler stand together: the first row behind those of the sampler of row `first`.
static int64_t end_of(const struct hn_results *r, int64_t first) {
    int64_t end = first;
    while (end < r->runs.rows && strcmp(text(r, end, "sampler"), text(r, first, "sampler")) == 0)
        end++;
    return end;
}

// The axis of files: day and commit of as many as can be read.
static void name_files(struct hn_page *page, struct hn_axis *axis, const struct hn_results *r) {
    int64_t n = end_of(r, 0), every = (n + MAX_NAMED - 1) / MAX_NAMED;
    for (int64_t i = 0; i < n; i += every) {
        char label[HN_LABEL_SIZE];
        const char *commit = text(r, i, "commit");
        snprintf(label, sizeof label, "%.*s%s%.*s", DATE_SHOWN, text(r, i, "created"),
                 *commit ? "  " : "", COMMIT_SHOWN, commit);
        hn_axis_tic(page, axis, (double)i, label);
    }
    axis->lo = -0.3;
    axis->hi = (double)(n - 1) + 0.3;
    axis->slanted = true;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    char title[HN_TITLE_SIZE], axis[HN_TITLE_SIZE];
    const char *units = hn_results_get(r, "units");
    bool plain = !*units || strcmp(units, "1") == 0;
    double min = INFINITY, max = 0;
    int line = 0;
    snprintf(axis, sizeof axis, "%s%s%s%s", hn_results_get(r, "metric"), plain ? "" : " (",
             plain ? "" : units, plain ? "" : ")");
    snprintf(title, sizeof title, "mean of %s cells", hn_results_get(r, "cells"));
    struct hn_panel *panel = hn_page_panel(page, title, "", axis);
    for (int64_t first = 0; first < r->runs.rows; first = end_of(r, first)) {
        struct hn_series *s = hn_panel_series(page, panel, text(r, first, "sampler"), HN_LOOK_LINE,
                                              hn_line_number(line++));
        for (int64_t i = first; i < end_of(r, first); i++) {
            double value = hn_table_real(&r->runs, i, "value");
            hn_series_add(s, (double)(i - first), value);
            min = fmin(min, value);
            max = fmax(max, value);
        }
    }
    panel->y.log = min > 0 && max > 30 * min;
    page->width = 7;
    name_files(page, &panel->x, r);
    return hn_page_finish(page, "no file has a value");
}

const struct hn_figure hn_history = {
    .id = "history",
    .title = "A metric over past results",
    .caption =
        "One mark per results file, in order of creation; one line per sampler, the mean over"
        " the cells common to all files.",
    .source = "hardneg compare --history",
    .columns = HN_COLUMNS("created", "commit", "sampler", "value"),
    .page = draw,
};
