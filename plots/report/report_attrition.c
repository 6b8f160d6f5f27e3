// Candidates that the filters of `mined` drop, by the filter that each fails first.
#include "plots/report/report.h"

#include <math.h>
#include <string.h>

struct stage {
    const struct hn_overview *o;
    const struct hn_table *t;
    int64_t setting, row; // a row of the table, whose filter it is
};

static bool is_of(const struct stage *s, int64_t row) {
    double run = hn_table_real(s->t, row, "run");
    struct hn_replicates cells = hn_overview_cells(s->o, s->setting);
    for (int64_t i = 0; i < cells.n; i++)
        if (fabs(run - (double)cells.row[i]) < 0.5)
            return true;
    return false;
}

static void put_stage_name(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    (void)c;
    hn_html_setting(html, s->o, s->setting);
}

static void put_filter(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    hn_html(html, "<td>%s</td>", hn_table_text(s->t, s->row, c->from));
}

static struct hn_html_number candidates(const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    double sum = 0;
    for (int64_t row = 0; row < s->t->rows; row++)
        if (is_of(s, row) &&
            strcmp(hn_table_text(s->t, row, "filter"), hn_table_text(s->t, s->row, "filter")) == 0)
            sum += hn_table_real(s->t, row, c->from);
    return (struct hn_html_number){sum, NAN, NAN};
}

// Its first finished cell, whose filters are those of all; -1: none.
static int64_t first_ok(const struct hn_overview *o, int64_t setting) {
    struct hn_replicates cells = hn_overview_cells(o, setting);
    int64_t i = 0;
    while (i < cells.n && !hn_overview_is_ok(o, cells.row[i]))
        i++;
    return i < cells.n ? cells.row[i] : -1;
}

void hn_html_attrition(FILE *html, const struct hn_overview *o) {
    static const struct hn_html_column columns[] = {
        {"Setting", .put = put_stage_name},
        {"Filter", "what a candidate fails first; kept: nothing", "filter", .put = put_filter},
        {"True negatives", NULL, "true_negatives", "%.0f", .number = candidates},
        {"False negatives", NULL, "false_negatives", "%.0f", .number = candidates},
        {"Unlabelled", NULL, "unlabelled", "%.0f", .number = candidates}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    const struct hn_table *t = hn_results_table(o->results, "attrition");
    if (!t || t->rows == 0)
        return;
    fputs("<details><summary>What the filters of the miner drop, at the last step</summary>\n"
          "<div class=scroll role=region tabindex=0 aria-label=Attrition><table>\n",
          html);
    hn_html_heads(html, columns, COLUMNS, 0);
    for (int64_t s = 0; s < o->settings; s++)
        for (int64_t row = 0; row < t->rows && o->last[s]; row++)
            if (fabs(hn_table_real(t, row, "run") - (double)first_ok(o, s)) < 0.5)
                hn_html_row(html, columns, COLUMNS, &(struct stage){o, t, s, row});
    fputs("</tbody></table></div></details>\n", html);
}
