// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of a study, told apart by what the job asked for.
#include "results/analysis/studies.h"

#include "core/options/option_text.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

// Settings of the job that a study measures side by side in one table, and how labels name them.
static const struct {
    const char *column, *label;
} axes[] = {{"batch_size", "B="}, {"temperature", "temperature "}};
enum { AXES = sizeof axes / sizeof *axes };

// A text of the cell of /tables/studies that a row belongs to, "" without one.
static const char *text_of(const struct hn_study_settings *s, int64_t row, const char *column) {
    int64_t cell = hn_whole(hn_table_real(s->table, row, "study_row"), -1);
    bool there = s->studies && cell >= 0 && cell < s->studies->rows;
    return there ? hn_table_text(s->studies, cell, column) : "";
}

static bool same_axis(const struct hn_study_settings *s, int64_t a, int64_t b, int axis) {
    int column = hn_table_find(s->table, axes[axis].column);
    return column < 0 || hn_table_cells_equal(s->table, column, a, b);
}

static bool same_dataset(const struct hn_study_settings *s, int64_t a, int64_t b) {
    return strcmp(hn_table_text(s->table, a, "dataset"), hn_table_text(s->table, b, "dataset")) ==
               0 &&
           strcmp(text_of(s, a, "dataset_sha256"), text_of(s, b, "dataset_sha256")) == 0;
}

static bool same_setting(const struct hn_study_settings *s, int64_t a, int64_t b) {
    bool same =
        same_dataset(s, a, b) && strcmp(text_of(s, a, "params"), text_of(s, b, "params")) == 0;
    for (int axis = 0; axis < AXES && same; axis++)
        same = same_axis(s, a, b, axis);
    return same;
}

enum hn_code hn_study_settings_make(struct hn_context *ctx, const struct hn_results *r,
                                    const struct hn_table *table, struct hn_study_settings *out) {
    *out = (struct hn_study_settings){.table = table, .studies = hn_results_table(r, "studies")};
    if (!HN_ALLOC(ctx, out->of, table->rows) || !HN_ALLOC(ctx, out->first, table->rows))
        return ctx->code;
    for (int64_t row = 0; row < table->rows; row++) {
        int64_t k = row > 0 ? out->of[row - 1] : 0; // rows of a setting mostly follow one another
        if (row == 0 || !same_setting(out, out->first[k], row))
            for (k = 0; k < out->settings && !same_setting(out, out->first[k], row);)
                k++;
        out->of[row] = k;
        if (k == out->settings)
            out->first[out->settings++] = row;
    }
    return HN_OK;
}

// True if another setting has another value of the option, or lacks it.
static bool tells(const struct hn_study_settings *s, struct hn_option_part option) {
    for (int64_t k = 0; k < s->settings; k++)
        if (!hn_option_has(text_of(s, s->first[k], "params"), option))
            return true;
    return false;
}

struct hn_phrase hn_study_label(const struct hn_study_settings *s, int64_t setting,
                                const char *const *said) {
    struct hn_phrase label = {""};
    int64_t own = s->first[setting];
    const char *rest = text_of(s, own, "params");
    struct hn_option_part option;
    bool datasets = false, differs[AXES] = {false};
    for (int64_t k = 0; k < s->settings; k++) {
        datasets |= !same_dataset(s, own, s->first[k]);
        for (int axis = 0; axis < AXES; axis++)
            differs[axis] |= !same_axis(s, own, s->first[k], axis);
    }
    if (datasets && !hn_is_among("dataset", said))
        label = hn_dataset_title(hn_table_text(s->table, own, "dataset"));
    while (hn_option_next(&rest, &option))
        if (tells(s, option) && !hn_is_among(hn_option_name(option).text, said))
            hn_append(label.text, sizeof label.text, "%s%.*s", *label.text ? ", " : "",
                      (int)option.length, option.text);
    for (int axis = 0; axis < AXES; axis++)
        if (differs[axis] && !hn_is_among(axes[axis].column, said))
            hn_append(label.text, sizeof label.text, "%s%s%s", *label.text ? ", " : "",
                      axes[axis].label, hn_cell_text(s->table, own, axes[axis].column).text);
    return label;
}
