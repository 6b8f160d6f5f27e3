#include "results/analysis/params.h"
#include "core/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hn_option_next(const char **rest, struct hn_option_part *o) {
    if (!**rest)
        return false;
    const char *end = strstr(*rest, ", ");
    o->text = *rest;
    o->length = end ? (size_t)(end - *rest) : strlen(*rest);
    *rest = end ? end + 2 : *rest + o->length;
    return true;
}

bool hn_option_has(const char *params, struct hn_option_part wanted) {
    struct hn_option_part o;
    while (hn_option_next(&params, &o))
        if (o.length == wanted.length && memcmp(o.text, wanted.text, o.length) == 0)
            return true;
    return false;
}

bool hn_option_value(const char *params, const char *option, char *value, size_t size) {
    struct hn_option_part o;
    size_t length = strlen(option);
    while (hn_option_next(&params, &o))
        if (o.length > length && o.text[length] == '=' && memcmp(o.text, option, length) == 0) {
            snprintf(value, size, "%.*s", (int)(o.length - length - 1), o.text + length + 1);
            return true;
        }
    return false;
}

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
