#include "plots/page/lines.h"

#include <string.h>

int hn_line_number(int i) { return i % HN_THEME_LINES + 1; }

int hn_line_shade(int line, int i, int n) {
    int shade = n <= HN_LINE_SHADES + 1 ? i : i * HN_LINE_SHADES / (n - 1);
    return line + HN_LINE_SHADED * shade;
}

int hn_line_ordered(int i, int n) {
    return HN_LINE_ORDERED + (n > 1 ? i * (HN_LINES_ORDERED - 1) / (n - 1) : 0);
}

// These have the same lines in all files: as many samplers as there are lines.
static const char *const known[HN_THEME_LINES + 1] = {
    "uniform",          "knn",  "batchsampler", "gcbs",  "hard-negative", "stratified",
    "random-negatives", "hops", "ring",         "mined", "null",          "mosaic"};

static int known_line(const char *sampler) {
    for (int i = 0; known[i]; i++)
        if (strcmp(known[i], sampler) == 0)
            return i + 1;
    return 0;
}

static bool is_first(const struct hn_table *runs, int64_t row) {
    const char *own = hn_table_text(runs, row, "sampler");
    int64_t first = 0;
    while (strcmp(hn_table_text(runs, first, "sampler"), own) != 0)
        first++;
    return first == row;
}

// Others take what the known ones of the file leave free, from the last line down.
int hn_line_of_sampler(const struct hn_table *runs, const char *sampler) {
    bool taken[HN_THEME_LINES + 1] = {false};
    int line = HN_THEME_LINES + 1;
    if (known_line(sampler) > 0)
        return known_line(sampler);
    for (int64_t row = 0; row < runs->rows; row++)
        taken[known_line(hn_table_text(runs, row, "sampler"))] = true;
    for (int64_t row = 0; row < runs->rows; row++) {
        const char *own = hn_table_text(runs, row, "sampler");
        if (known_line(own) > 0 || !is_first(runs, row))
            continue;
        for (int k = 0; k < HN_THEME_LINES; k++) {
            line = line > 1 ? line - 1 : HN_THEME_LINES;
            if (!taken[line])
                break;
        }
        if (strcmp(own, sampler) == 0)
            return line;
    }
    return HN_THEME_LINES;
}
