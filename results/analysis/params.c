// SPDX-License-Identifier: GPL-3.0-or-later
// Values and texts of a row's options.
#include "results/analysis/params.h"
#include "core/files.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "samplers/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double hn_option_number(const char *params, const char *option) {
    const struct hn_phrase value = hn_option_value(params, option);
    char *end;
    double number = strtod(value.text, &end);
    return end > value.text && *end == '\0' ? number : NAN;
}

bool hn_row_is_ok(const struct hn_table *runs, int64_t row) {
    const char *status = hn_table_text(runs, row, "status");
    return !*status || strcmp(status, "ok") == 0;
}

bool hn_row_is_per_anchor(const struct hn_table *runs, int64_t row) {
    const struct hn_sampler_type *type = hn_sampler_find(hn_table_text(runs, row, "sampler"));
    return type ? (type->flags & HN_SAMPLER_PER_ANCHOR) != 0
                : !isnan(hn_table_real(runs, row, "negatives_mean"));
}

bool hn_row_has(const struct hn_table *runs, int64_t row, const char *option, const char *value) {
    return strcmp(hn_option_value(hn_table_text(runs, row, "params"), option).text, value) == 0;
}

bool hn_rows_agree(const struct hn_table *t, int64_t a, int64_t b, const char *const *column) {
    for (; *column; column++) {
        double x = hn_table_real(t, a, *column), y = hn_table_real(t, b, *column);
        bool numbers = !isnan(x) || !isnan(y);
        if (numbers ? !(fabs(x - y) < 1e-9)
                    : strcmp(hn_table_text(t, a, *column), hn_table_text(t, b, *column)) != 0)
            return false;
    }
    return true;
}

struct hn_phrase hn_cell_text(const struct hn_table *t, int64_t row, const char *column) {
    struct hn_phrase cell;
    double number = hn_table_real(t, row, column);
    if (isnan(number))
        hn_put_text(cell.text, sizeof cell.text, "%s", hn_table_text(t, row, column));
    else
        hn_put_text(cell.text, sizeof cell.text, "%.9g", number);
    return cell;
}

struct hn_phrase hn_dataset_title(const char *dataset) {
    struct hn_phrase title;
    hn_put_text(title.text, sizeof title.text, "%s", hn_base_name(dataset));
    char *dot = strrchr(title.text, '.');
    if (dot && dot > title.text)
        *dot = '\0';
    return title;
}

bool hn_is_named_uniform(const char *sampler) { return strcmp(sampler, "uniform") == 0; }

bool hn_is_given(const char *sampler) { return !hn_sampler_find(sampler); }

bool hn_is_uniform(const char *sampler, const char *params) {
    return hn_is_named_uniform(sampler) && !strstr(params, "no_duplicates=true") &&
           !strstr(params, "keep_apart=true");
}
