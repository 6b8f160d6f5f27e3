// Titles of groups, and numbers of tables.
#include "core/options/option_text.h"
#include "core/text.h"
#include "results/analysis/groups.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *hn_setting_options(const struct hn_setting *s) {
    size_t length = strlen(s->sampler);
    bool prefix = strncmp(s->label, s->sampler, length) == 0 && s->label[length] == ' ';
    return s->label + (prefix ? length + 1 : 0);
}

int hn_groups_values(const struct hn_groups *g, const char *option) {
    int n = 0;
    for (int i = 0; i < g->settings; i++) {
        const struct hn_phrase value = hn_option_value(g->setting[i].params, option);
        bool again = !*value.text;
        for (int j = 0; j < i && !again; j++)
            again = strcmp(value.text, hn_option_value(g->setting[j].params, option).text) == 0;
        n += !again;
    }
    return n;
}

int hn_distinct(const struct hn_table *t, const char *column, double *value, int max) {
    int n = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        double own = hn_table_real(t, row, column);
        bool again = isnan(own);
        for (int i = 0; i < n && !again; i++)
            again = !(fabs(value[i] - own) > 1e-9);
        if (!again && n < max)
            value[n++] = own;
    }
    gsl_sort(value, 1, (size_t)n);
    return n;
}

struct hn_phrase hn_groups_title(const struct hn_groups *g, int dataset, int temperature) {
    struct hn_phrase title = {""};
    if (g->datasets > 1)
        title = hn_dataset_title(g->dataset[dataset]);
    if (temperature >= 0 && g->temperatures > 1)
        hn_append(title.text, sizeof title.text, "%stemperature %g", *title.text ? ", " : "",
                  g->temperature[temperature]);
    return title;
}

struct hn_phrase hn_league_title(const struct hn_groups *g, int league) {
    const struct hn_setting *of = &g->setting[league];
    struct hn_phrase title = {""};
    bool sizes = false, losses = false;
    for (int i = 0; i < g->settings; i++) {
        sizes |= g->setting[i].batch_size != of->batch_size;
        losses |= !hn_groups_same_loss(g, i, league);
    }
    if (sizes)
        hn_append(title.text, sizeof title.text, "B=%" PRId64, of->batch_size);
    if (losses && *of->others)
        hn_append(title.text, sizeof title.text, "%s%s", *title.text ? ", " : "", of->others);
    if (of->per_anchor)
        hn_append(title.text, sizeof title.text, "%snegatives per anchor", *title.text ? ", " : "");
    return title;
}
