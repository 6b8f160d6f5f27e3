#include "results/analysis/params.h"
#include "core/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double hn_option_number(const char *params, const char *option) {
    char value[HN_LABEL_SIZE], *end = value;
    if (!hn_option_value(params, option, value, sizeof value))
        return NAN;
    double number = strtod(value, &end);
    return end > value && *end == '\0' ? number : NAN;
}

bool hn_row_has(const struct hn_table *runs, int64_t row, const char *option, const char *value) {
    char own[HN_LABEL_SIZE];
    return hn_option_value(hn_table_text(runs, row, "params"), option, own, sizeof own) &&
           strcmp(own, value) == 0;
}

void hn_dataset_title(const char *dataset, char *text, size_t size) {
    snprintf(text, size, "%s", hn_base_name(dataset));
    char *dot = strrchr(text, '.');
    if (dot && dot > text)
        *dot = '\0';
}

bool hn_is_uniform(const char *sampler, const char *params) {
    return strcmp(sampler, "uniform") == 0 && !strstr(params, "no_duplicates=true") &&
           !strstr(params, "keep_apart=true");
}
