// SPDX-License-Identifier: GPL-3.0-or-later
// The report's table of settings: means over seeds, differences to Uniform, the front; and
// candidates that the filters of `mined` drop, by the filter that each fails first.
#include "core/pairs.h"
#include "core/text.h"
#include "plots/page/lines.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/shown.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct hn_overview *o;
    int64_t setting;
    const enum hn_standing *standing; // [measures of hardness x settings]
};

// Values of axes that are options of the sampler, or of all others: the page chooses rows by them.
static void put_values(FILE *html, const struct hn_overview *o, int64_t setting, bool options,
                       const char *joint) {
    for (int a = 0; a < o->axes; a++) {
        const struct hn_grid_axis *axis = &o->axis[a];
        bool named = strcmp(axis->name, "dataset") != 0; // it is shown as "file"
        bool of_sampler = strcmp(axis->column, "params") == 0;
        char title[HN_LABEL_SIZE];
        const struct hn_phrase value = hn_overview_value(o, setting, axis->name);
        if (of_sampler != options || !*value.text)
            continue;
        snprintf(title, sizeof title, "%s", named ? axis->name : "file");
        for (char *c = title; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        hn_html(html, options && *joint == ',' ? "<span>%s</span>" : "%s", joint);
        hn_html(html, "<span data-axis=\"%s\" data-value=\"%s\">%s%s%s</span>", title, value.text,
                title, of_sampler ? "=" : " ", value.text);
        joint = ", ";
    }
}

// The setting that a table of answers begins with which this one belongs to, at any step; -1: none.
static int64_t front_of(const struct hn_overview *o, int64_t setting) {
    for (int64_t k = 0; k < o->settings; k++)
        if (o->last[k] && o->per_anchor[k] == o->per_anchor[setting] &&
            hn_rows_agree(&o->results->runs, o->first[k], o->first[setting],
                          HN_COLUMNS("dataset", "batch_size")))
            return hn_rows_agree(&o->results->runs, o->first[k], o->first[setting],
                                 HN_COLUMNS("loss", "weighting", "weighting_params", "temperature"))
                       ? k
                       : -1;
    return -1;
}

// The first cell of a row of a table: the setting, by all that settings differ in. id: NULL, or
// what its number follows, which is told with what figures know it by.
static void put_setting_cell(FILE *html, const struct hn_overview *o, int64_t setting,
                             const char *id) {
    const char *sampler = hn_overview_sampler(o, setting);
    fputs("<th scope=row", html);
    if (id) {
        fprintf(html, " id=%s%" PRId64 " data-front=%" PRId64 " data-line=%d", id, setting,
                front_of(o, setting), hn_line_of_sampler(&o->results->runs, sampler));
        hn_html(html, " data-label=\"%s\"", hn_overview_label(o, setting).text);
        fprintf(html, " data-step=%.0f data-base=%" PRId64,
                hn_table_real(&o->results->runs, o->first[setting], "step"), o->base[setting]);
    }
    hn_html(html, " data-sampler=\"%s\" data-file=\"%s\"", sampler,
            hn_table_text(&o->results->runs, o->first[setting], "dataset_sha256"));
    hn_html(html, o->last[setting] ? " data-last>%s" : ">%s", sampler);
    fputs(o->per_anchor[setting] ? "*" : "", html);
    put_values(html, o, setting, true, " ");
    fputs("<small>", html);
    put_values(html, o, setting, false, " ");
    fputs("</small></th>", html);
}

static void put_setting(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    put_setting_cell(html, row->o, row->setting, "s");
}

// A mark for each measure of hardness by which the row is not beaten; the page shows the chosen
// one's.
static void put_front(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    fprintf(html, "<td data-v=%d>", HN_ON_FRONT - row->standing[row->setting]);
    for (int i = 0; hn_hardness_measure(row->o->results, i); i++) {
        enum hn_standing standing = row->standing[i * row->o->settings + row->setting];
        const char *name = standing == HN_ON_FRONT ? "on the front" : "may be on the front";
        if (standing > HN_BEATEN)
            fprintf(html,
                    "<span class=\"front by\" data-measure=%d title=\"%s\">%s<span class=sr> "
                    "%s</span></span>",
                    i, name, standing == HN_ON_FRONT ? "●" : "○", name);
    }
    fputs("</td>", html);
}

static struct hn_html_number seeds(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    return (struct hn_html_number){(double)row->o->seeds[row->setting]};
}

static struct hn_html_number measured(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_mean m = hn_overview_mean(row->o, row->setting, c->from);
    return (struct hn_html_number){m.mean, m.half};
}

static struct hn_html_number work(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    return hn_is_given(hn_overview_sampler(row->o, row->setting))
               ? (struct hn_html_number){NAN, NAN}
               : measured(c, of);
}

static struct hn_html_number cost(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    (void)c;
    return (struct hn_html_number){hn_overview_cost(row->o, row->setting).batch, NAN};
}

static struct hn_phrase parts_of_cost(const void *of) {
    const struct row *row = of;
    return hn_cost_parts(hn_overview_cost(row->o, row->setting));
}

static struct hn_html_number difference(const struct hn_html_column *c, const void *of) {
    const struct row *row = of;
    struct hn_mean m = hn_overview_to_uniform(row->o, row->setting, c->from);
    return (struct hn_html_number){m.mean, m.half};
}

static const char minus[] =
    "minus Uniform's with the same file, step, batch size, loss and weighting, paired by seed";

// Columns of measurements, in their order: means, or with `minus` differences to Uniform's.
static const struct measure {
    const char *column;
    bool minus;
    const char *needs; // only if that axis varies
} measures[] = {{"fn_ratio"},
                {"fn_ratio", .minus = true},
                {"true_mean"},
                {"true_mean", .minus = true},
                {"true_lme"},
                {"hard_true_mean"},
                {"hard_true_mean", .minus = true},
                {"true_anchors"},
                {"true_p99"},
                {"accuracy"},
                {"cos_mean"},
                {"cos_p99"},
                {"fn_mass", .needs = "weighting"},
                {"fn_loss_mass", .needs = "weighting"},
                {"clamp_rate", .needs = "weighting"},
                {"loss_batch", .needs = "weighting"},
                {"loss_train", .needs = "loss"},
                {"gap"},
                {"pos_prob"},
                {"coverage"},
                {"graph_age"},
                {HN_SHOWN_COST},
                {"n_dot"}};

enum {
    MEASURES = sizeof measures / sizeof measures[0],
    COLUMNS = 3 + MEASURES + HN_HEADED_MAX,
    MAX_AT_ONCE = 40 // the rest: by scrolling
};

struct table {
    const struct hn_overview *o;
    const enum hn_standing *standing; // as in struct row
    struct hn_html_column column[COLUMNS];
    char title[COLUMNS][HN_LABEL_SIZE + 8];
    int n;
};

// The measure of hardness that a column belongs to, from 1; 0 = none.
static int measure_of(const struct hn_results *r, const char *column) {
    static const char *const beside[][2] = {{"true_lme", "true_mean"},
                                            {"cos_mean", "true_mean"},
                                            {"true_anchors", "hard_true_mean"},
                                            {"cos_p99", "true_p99"}};
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
        column = strcmp(column, beside[k][0]) == 0 ? beside[k][1] : column;
    for (int i = 0; hn_hardness_measure(r, i); i++)
        if (strcmp(column, hn_hardness_measure(r, i)->column) == 0)
            return i + 1;
    return 0;
}

static void add_column(struct table *t, const struct hn_html_column *column) {
    t->column[t->n] = *column;
    if (column->from)
        t->column[t->n].measure = measure_of(t->o->results, column->from);
    t->n++;
}

// A time or a count is shown in the unit in which the median is at least 1.
static void choose_unit(struct table *t, struct hn_html_column *column, double median) {
    static const struct unit {
        double min, scale;
        const char *name;
    } times[] = {{1, 1, " (s)"}, {1e-3, 1e3, " (ms)"}, {0, 1e6, " (µs)"}},
      counts[] = {{1e9, 1e-9, " (10⁹)"}, {1e6, 1e-6, " (10⁶)"}, {1e3, 1e-3, " (10³)"}, {0, 1, ""}};
    const struct unit *unit = strcmp(column->from, "n_dot") == 0 ? counts : times;
    while (fabs(median) < unit->min)
        unit++;
    snprintf(t->title[t->n], sizeof t->title[0], "%s%s", column->title, unit->name);
    column->title = t->title[t->n];
    column->scale = unit->scale;
}

// Means have their interval beside them, but for times, counts, clamped anchors and ages.
static struct hn_html_column column_of(const struct measure *m) {
    static const char *const plain[] = {"%.0f", "%.1f", "%.2f", "%.3f", "%.4f"},
                             *const sign[] = {"%+.0f", "%+.1f", "%+.2f", "%+.3f", "%+.4f"};
    const struct hn_shown *shown = hn_shown_find(m->column);
    bool alone = hn_is_among(m->column, HN_COLUMNS("clamp_rate", "graph_age"));
    struct hn_html_column column = {.title = shown->heading,
                                    .help = shown->meaning,
                                    .from = m->column,
                                    .scale = shown->scale,
                                    .number = m->minus                                ? difference
                                              : strcmp(m->column, "n_dot") == 0       ? work
                                              : strcmp(m->column, HN_SHOWN_COST) == 0 ? cost
                                                                                      : measured};
    column.hint = column.number == cost ? parts_of_cost : NULL;
    if (m->minus) {
        column.title = shown->scale > 1 ? "– Uniform (points)" : "– Uniform";
        column.help = minus;
    }
    if (shown->digits >= 0) {
        column.format = (m->minus ? sign : plain)[shown->digits];
        column.more = alone ? NULL : plain[shown->digits];
    }
    return column;
}

// Only what a setting has a value in. Trainings do not count inner products, most graphs are fresh,
// and mostly all anchors have true negatives: a column of zeros, or of ones, says nothing.
static enum hn_code add_measure(struct hn_context *ctx, struct table *t, int m) {
    struct hn_html_column column = column_of(&measures[m]);
    double *value = hn_alloc(ctx, t->o->settings, sizeof *value);
    bool zeros = true, ones = strcmp(column.from, "true_anchors") == 0;
    size_t n = 0;
    if (!value)
        return ctx->code;
    for (int64_t s = 0; s < t->o->settings; s++) {
        value[n] = column.number(&column, &(struct row){t->o, s, NULL}).value;
        zeros = zeros && !(fabs(value[n]) > 0);
        ones = ones && !(value[n] < 1);
        n += isfinite(value[n]);
    }
    gsl_sort(value, 1, n);
    bool counts = strcmp(column.from, "n_dot") == 0 || strcmp(column.from, "graph_age") == 0;
    bool needed = !measures[m].needs || hn_overview_varies(t->o, measures[m].needs);
    if (n > 0 && needed && !(zeros && counts) && !ones) {
        if (!column.format && column.scale <= 1)
            choose_unit(t, &column, gsl_stats_median_from_sorted_data(value, 1, n));
        add_column(t, &column);
    }
    hn_free(ctx, value);
    return HN_OK;
}

// The seeds of every setting, 0 where they differ.
static int64_t same_seeds(const struct hn_overview *o) {
    int64_t same = -1;
    for (int64_t s = 0; s < o->settings; s++) {
        int64_t n = o->seeds[s];
        if (n > 0)
            same = same < 0 || same == n ? n : 0;
    }
    return same < 0 ? 0 : same;
}

// The setting, then what was measured: first what is there for an axis of the grid.
static enum hn_code choose_columns(struct hn_context *ctx, struct table *t) {
    static const struct hn_html_column setting = {"Setting", .put = put_setting},
                                       front = {"Front",
                                                "● no other is better in one of hardness "
                                                "and false negatives without being worse in the "
                                                "other, by means; ○ one is, but not significantly",
                                                .put = put_front},
                                       count = {"Seeds", "finished cells that the means are over",
                                                .format = "%.0f", .number = seeds};
    bool any = false;
    for (int64_t s = 0; s < t->o->settings; s++)
        any |= t->o->standing[s] > HN_BEATEN;
    add_column(t, &setting);
    if (any)
        add_column(t, &front);
    for (int first = 1; first >= 0; first--)
        for (int m = 0; m < MEASURES; m++)
            if ((measures[m].needs != NULL) == first && add_measure(ctx, t, m))
                return ctx->code;
    for (int h = 0; h < t->o->n_headed; h++) { // of metrics that the list does not name
        const struct hn_column *of = t->o->headed[h];
        add_column(t, &(struct hn_html_column){of->heading, of->long_name, of->name,
                                               HN_HTML_PLUS_MINUS("%.3f"), 1, measured});
    }
    if (same_seeds(t->o) == 0)
        add_column(t, &count);
    return HN_OK;
}

// Options that the rows do not name, since all rows of their sampler have the same value.
static void put_shared(FILE *html, const struct hn_overview *o) {
    const char *before = "<dl class=shared>";
    for (int64_t s = 0; s < o->settings; s++) {
        const struct hn_phrase shared = hn_overview_shared(o, s);
        if (!*shared.text || !hn_overview_leads(o, s))
            continue;
        fputs(before, html);
        hn_html(html, "<dt>%s</dt><dd>%s</dd>\n", hn_overview_sampler(o, s), shared.text);
        before = "";
    }
    fputs(*before ? "" : "</dl>\n", html);
}

// Rows of samplers of whole batches, or of those with negatives per anchor. Returns how many.
static int64_t put_rows(FILE *html, const struct table *t, bool per_anchor) {
    int64_t rows = 0;
    for (int64_t s = 0; s < t->o->settings; s++) {
        if (t->o->seeds[s] == 0 || t->o->per_anchor[s] != per_anchor)
            continue;
        hn_html_row(html, t->column, t->n, &(struct row){t->o, s, t->standing});
        rows++;
    }
    return rows;
}

// Pairs of which nothing is known: their share in the batches of all settings.
static void put_unlabelled(FILE *html, const struct hn_results *r) {
    double without = 0, negatives = 0;
    for (int64_t i = 0; i < r->runs.rows * r->kinds * r->bins; i++) {
        int64_t kind = i / r->bins % r->kinds;
        negatives += kind == HN_PAIR_POSITIVE ? 0 : (double)r->histogram[i];
        without += kind == HN_PAIR_UNLABELLED ? (double)r->histogram[i] : 0;
    }
    if (without > 0 && without < negatives)
        fprintf(html,
                "<p class=soft>%.1f %% of the pairs have an item without a label: they count "
                "neither as false nor as true negatives.</p>\n",
                100 * without / negatives);
}

static void put_table(FILE *html, const struct table *t, bool chosen) {
    char each[40] = "";
    int64_t same = same_seeds(t->o), rows = 0;
    for (int64_t s = 0; s < t->o->settings; s++)
        rows += t->o->seeds[s] > 0;
    const struct hn_phrase common = hn_overview_common(t->o);
    if (same > 0)
        snprintf(each, sizeof each, " (%" PRId64 " each)", same);
    hn_html(html,
            "<p class=soft>%s%sMeans over seeds%s; ± is the half-width of a 95 %% interval: over "
            "seeds if there are three or more, else over batches. %sClick a heading to sort.</p>\n",
            common.text, *common.text ? ". " : "", each,
            chosen && hn_hardness_measure(t->o->results, 1)
                ? "Columns of hardness are those of the measure chosen above. "
                : "");
    put_unlabelled(html, t->o->results);
    fprintf(html, "<div class=\"scroll wide%s\" role=region tabindex=0 aria-label=\"Samplers\">",
            rows > MAX_AT_ONCE ? " long" : "");
    fputs("<table id=settings class=\"sortable fixed\">\n", html);
    hn_html_heads(html, t->column, t->n, t->n);
    (void)put_rows(html, t, false);
    bool own = put_rows(html, t, true) > 0;
    fputs("</tbody></table></div>\n", html);
    if (own)
        fputs(
            "<p class=soft>* gives each anchor negatives of its own; such samplers are ranked, and "
            "have a front, among themselves.</p>\n",
            html);
    put_shared(html, t->o);
}

// Values by seed, from which the page takes the difference of two rows: {"columns": [..], "s12":
// [[seed, value, ..], ..]}.
static void put_by_seed(FILE *html, const struct hn_overview *o) {
    const char *column[8] = {"fn_ratio"};
    int n = 1;
    for (int i = 0; hn_hardness_measure(o->results, i); i++)
        column[n++] = hn_hardness_measure(o->results, i)->column;
    fputs("<script type=\"application/json\" id=by-seed>{\"columns\":[", html);
    for (int c = 0; c < n; c++)
        fprintf(html, "%s\"%s\"", c ? "," : "", column[c]);
    fputs("]", html);
    for (int64_t s = 0; s < o->settings; s++) {
        struct hn_replicates cells = hn_overview_cells(o, s);
        fprintf(html, ",\n\"s%" PRId64 "\":[", s);
        const char *joint = "";
        for (int64_t i = 0; i < cells.n; i++) {
            if (!hn_row_is_ok(&o->results->runs, cells.row[i]))
                continue;
            fprintf(html, "%s[%.0f", joint, hn_table_real(&o->results->runs, cells.row[i], "seed"));
            for (int c = 0; c < n; c++) {
                double value = hn_table_real(&o->results->runs, cells.row[i], column[c]);
                fprintf(html, isfinite(value) ? ",%.7g" : ",null", value);
            }
            fputs("]", html);
            joint = ",";
        }
        fputs("]", html);
    }
    fputs("}</script>\n", html);
}

static enum hn_code find_fronts(struct hn_context *ctx, struct table *t) {
    int n = 0;
    while (hn_hardness_measure(t->o->results, n))
        n++;
    enum hn_standing *standing = NULL;
    if (!HN_ALLOC_ROWS(ctx, standing, n, t->o->settings))
        return ctx->code;
    for (int i = 0; i < n; i++)
        if (hn_overview_front(ctx, t->o, hn_hardness_measure(t->o->results, i)->column,
                              standing + i * t->o->settings))
            return ctx->code;
    t->standing = standing;
    return HN_OK;
}

enum hn_code hn_html_samplers(FILE *html, struct hn_context *ctx, const struct hn_overview *o,
                              bool chosen) {
    HN_SCOPE(ctx);
    struct table *t = hn_zalloc(ctx, 1, sizeof *t);
    if (!t)
        return ctx->code;
    t->o = o;
    if (find_fronts(ctx, t) || choose_columns(ctx, t))
        return ctx->code;
    put_table(html, t, chosen);
    if (chosen)
        put_by_seed(html, o);
    return HN_OK;
}

struct stage {
    const struct hn_overview *o;
    const struct hn_table *t;
    int64_t setting, row; // a row of the table, whose filter it is
};

static void put_stage_name(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    (void)c;
    put_setting_cell(html, s->o, s->setting, NULL);
}

static void put_filter(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    hn_html(html, "<td>%s</td>", hn_table_text(s->t, s->row, c->from));
}

static struct hn_html_number candidates(const struct hn_html_column *c, const void *of) {
    const struct stage *s = of;
    double sum = 0;
    for (int64_t row = 0; row < s->t->rows; row++)
        if (hn_overview_setting(s->o, s->t, row) == s->setting &&
            strcmp(hn_table_text(s->t, row, "filter"), hn_table_text(s->t, s->row, "filter")) == 0)
            sum += hn_table_real(s->t, row, c->from);
    return (struct hn_html_number){sum, NAN, NAN};
}

void hn_html_attrition(FILE *html, const struct hn_overview *o) {
    static const struct hn_html_column columns[] = {
        {"Setting", .put = put_stage_name},
        {"Filter", "what a candidate fails first; kept: nothing", "filter", .put = put_filter},
        {"True negatives", NULL, "true_negatives", "%.0f", .number = candidates},
        {"False negatives", NULL, "false_negatives", "%.0f", .number = candidates},
        {"Unlabelled", NULL, "unlabelled", "%.0f", .number = candidates}};
    enum { N = sizeof columns / sizeof columns[0] };
    const struct hn_table *t = hn_results_table(o->results, "attrition");
    if (!t || t->rows == 0)
        return;
    fputs("<details><summary>What the filters of the miner drop, at the last step</summary>\n"
          "<div class=scroll role=region tabindex=0 aria-label=Attrition><table>\n",
          html);
    hn_html_heads(html, columns, N, 0);
    for (int64_t s = 0; s < o->settings; s++)
        for (int64_t row = 0; row < t->rows && o->last[s]; row++)
            if (fabs(hn_table_real(t, row, "run") - (double)o->first[s]) < 0.5)
                hn_html_row(html, columns, N, &(struct stage){o, t, s, row});
    fputs("</tbody></table></div></details>\n", html);
}
