#include "plots/page/lines.h"
#include "samplers/sampler.h"

#include <string.h>

int hn_line_colour(int line) { return line % HN_LINE_STYLE; }

int hn_line_style(int line) { return line / HN_LINE_STYLE; }

// Beyond the styles of the theme they begin again.
static int with_style(int colour, int style) {
    return colour + HN_LINE_STYLE * (1 + style % HN_LINE_STYLES);
}

int hn_line_number(int i) { return with_style(2 + i % HN_LINE_HUES, i + 1); }

int hn_line_of_setting(int line, int i) {
    // Steps of 7 visit all styles and keep dashes of neighbours apart.
    return with_style(hn_line_colour(line), hn_line_style(line) - 1 + 7 * i);
}

int hn_line_ordered(int i, int n) {
    return with_style(HN_LINE_ORDERED + (n > 1 ? i * (HN_LINES_ORDERED - 1) / (n - 1) : 0), i);
}

bool hn_line_is_uniform(const char *sampler) { return strcmp(sampler, hn_samplers[0]->name) == 0; }

static int registered(const char *sampler) {
    int number = 0;
    while (hn_samplers[number] && strcmp(hn_samplers[number]->name, sampler) != 0)
        number++;
    return number;
}

static bool is_first(const struct hn_table *runs, int64_t row) {
    const char *own = hn_table_text(runs, row, "sampler");
    int64_t first = 0;
    while (strcmp(hn_table_text(runs, first, "sampler"), own) != 0)
        first++;
    return first == row;
}

int hn_line_of_sampler(const struct hn_table *runs, const char *sampler) {
    int number = registered(sampler), before = 0;
    for (int64_t row = 0; !hn_samplers[number] && row < runs->rows; row++) {
        const char *other = hn_table_text(runs, row, "sampler");
        if (strcmp(other, sampler) == 0)
            return hn_line_number(number - 1 + before);
        before += !hn_samplers[registered(other)] && is_first(runs, row);
    }
    return number == 0 ? with_style(HN_LINE_UNIFORM, 0) : hn_line_number(number - 1);
}
