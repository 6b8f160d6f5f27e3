// Options of samplers as results hold them: canonical text "K=100, M=500". And short names.
#ifndef HN_RESULTS_ANALYSIS_PARAMS_H
#define HN_RESULTS_ANALYSIS_PARAMS_H

#include "core/table.h"

enum { HN_LABEL_SIZE = 64, HN_TITLE_SIZE = 320 }; // a title holds the name of any file

// One option: text[0 .. length).
struct hn_option_part {
    const char *text;
    size_t length;
};
// The next one of `rest`, which moves on; false at the end.
bool hn_option_next(const char **rest, struct hn_option_part *o);
// True if it is among the parameters, with the same value.
bool hn_option_has(const char *params, struct hn_option_part wanted);
// The value of an option; false if it is not there.
bool hn_option_value(const char *params, const char *option, char *value, size_t size);
// Its number, NaN if not a number ("0.2~0.05").
double hn_option_number(const char *params, const char *option);
// True if a row of /runs has the option with this value.
bool hn_row_has(const struct hn_table *runs, int64_t row, const char *option, const char *value);

// The name of a data set without folders and ending.
void hn_dataset_title(const char *dataset, char *text, size_t size);

// True for the baseline: the sampler uniform, without an option that keeps tuples of a batch apart.
bool hn_is_uniform(const char *sampler, const char *params);

#endif
