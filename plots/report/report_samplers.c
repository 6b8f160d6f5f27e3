// SPDX-License-Identifier: GPL-3.0-or-later
// The report's table of settings: means over seeds, differences to Uniform, the front; and
// candidates that the filters of `mined` drop, by the filter that each fails first.
#include "core/pairs.h"
#include "core/text.h"
#include "plots/page/lines.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/league.h"
#include "results/analysis/settings_tables.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// The settings behind cells of their own.
struct settings {
    const struct hn_overview *o;
    const enum hn_standing *standing; // [measures of hardness x settings]
};

static int64_t setting_of(const json_t *record) {
    return json_integer_value(json_object_get(record, "setting"));
}

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

// The first cell of a row of a table: the setting, by all that settings differ in. id: NULL, or
// what its number follows, which is told with what figures know it by.
static void put_setting_cell(FILE *html, const struct hn_overview *o, int64_t setting,
                             const char *id) {
    const char *sampler = hn_overview_sampler(o, setting);
    fputs("<th scope=row", html);
    if (id) {
        fprintf(html, " id=%s%" PRId64 " data-front=%" PRId64 " data-line=%d", id, setting,
                hn_league_first(o, setting), hn_line_of_sampler(&o->results->runs, sampler));
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

static void put_setting(FILE *html, const struct hn_record_column *c, const json_t *record,
                        const void *of) {
    const struct settings *t = of;
    (void)c;
    put_setting_cell(html, t->o, setting_of(record), "s");
}

// A mark for each measure of hardness by which the row is not beaten; the page shows the chosen
// one's.
static void put_front(FILE *html, const struct hn_record_column *c, const json_t *record,
                      const void *of) {
    const struct settings *t = of;
    int64_t s = setting_of(record);
    (void)c;
    fprintf(html, "<td data-v=%d>", HN_ON_FRONT - t->standing[s]);
    for (int i = 0; hn_hardness_measure(t->o->results, i); i++) {
        enum hn_standing standing = t->standing[i * t->o->settings + s];
        const char *name = standing == HN_ON_FRONT ? "on the front" : "may be on the front";
        if (standing > HN_BEATEN)
            fprintf(html,
                    "<span class=\"front by\" data-measure=%d title=\"%s\">%s<span class=sr> "
                    "%s</span></span>",
                    i, name, standing == HN_ON_FRONT ? "●" : "○", name);
    }
    fputs("</td>", html);
}

// Which of the settings that a table shows are on the front or may be, by all measures of hardness:
// where it is all of them, a column of marks tells nothing that a sentence does not.
enum marked { NONE_MARKED, SOME_MARKED, ALL_MARKED };

static enum marked count_marked(const struct settings *t) {
    int64_t rows = 0, marked = 0;
    for (int i = 0; hn_hardness_measure(t->o->results, i); i++)
        for (int64_t s = 0; s < t->o->settings; s++) {
            rows += t->o->seeds[s] > 0;
            marked += t->o->seeds[s] > 0 && t->standing[i * t->o->settings + s] == HN_ON_FRONT;
        }
    bool any = false;
    for (int64_t s = 0; s < t->o->settings; s++)
        any |= t->o->standing[s] > HN_BEATEN;
    return !any ? NONE_MARKED : marked < rows ? SOME_MARKED : ALL_MARKED;
}

enum { MAX_AT_ONCE = 40 }; // rows; the rest: by scrolling

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

// The setting, then what was measured. column[HN_SETTING_COLUMNS + 3].
static enum hn_code choose_columns(struct hn_context *ctx, const struct settings *t,
                                   const json_t *rows, struct hn_record_column *column) {
    const struct hn_overview *o = t->o;
    static const struct hn_record_column front = {
        .key = "front",
        .heading = "Front",
        .help = "● no other is better in one of hardness and false negatives without being worse "
                "in the other, by means; ○ one is, but not significantly",
        .put = put_front};
    *column++ = (struct hn_record_column){"setting", "Setting", .put = put_setting};
    if (count_marked(t) == SOME_MARKED)
        *column++ = front;
    int n;
    if (hn_setting_columns(ctx, o, rows, column, &n))
        return ctx->code;
    if (same_seeds(o) == 0)
        column[n] = (struct hn_record_column){"seeds", "Seeds",
                                              .help = "finished cells that the means are over"};
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

// Settings with finished cells: those of whole batches before those with negatives per anchor.
// `own` says whether there are any of these.
static json_t *list_settings(const struct hn_overview *o, bool *own) {
    json_t *rows = json_array();
    *own = false;
    for (int per_anchor = 0; per_anchor < 2; per_anchor++)
        for (int64_t s = 0; s < o->settings; s++)
            if (o->seeds[s] > 0 && o->per_anchor[s] == per_anchor) {
                json_array_append_new(rows, hn_setting_record(o, s));
                *own |= per_anchor > 0;
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

static enum hn_code put_table(FILE *html, struct hn_context *ctx, const struct settings *t,
                              bool chosen) {
    struct hn_record_column column[HN_SETTING_COLUMNS + 3] = {0};
    char each[40] = "";
    int64_t same = same_seeds(t->o);
    bool own;
    json_t *rows = list_settings(t->o, &own);
    if (choose_columns(ctx, t, rows, column)) {
        json_decref(rows);
        return ctx->code;
    }
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
    if (count_marked(t) == ALL_MARKED && json_array_size(rows) > 1)
        fputs("<p class=soft>All settings are on the front: none is better than another in one of "
              "hardness and false negatives without being worse in the other, by means.</p>\n",
              html);
    put_unlabelled(html, t->o->results);
    hn_html_table(html, &(struct hn_html_table){.label = "Samplers",
                                                .id = "settings",
                                                .class = "sortable fixed",
                                                .sorted = INT_MAX,
                                                .wide = true,
                                                .tall = json_array_size(rows) > MAX_AT_ONCE,
                                                .column = column,
                                                .row = rows,
                                                .of = t});
    if (own)
        fputs(
            "<p class=soft>* gives each anchor negatives of its own; such samplers are ranked, and "
            "have a front, among themselves.</p>\n",
            html);
    put_shared(html, t->o);
    return HN_OK;
}

// True if the finished cells of both have the same seeds.
static bool of_same_seeds(const struct hn_table *t, struct hn_replicates a,
                          struct hn_replicates b) {
    for (int64_t i = 0, k = 0;; i++, k++) {
        while (i < a.n && !hn_row_is_ok(t, a.row[i]))
            i++;
        while (k < b.n && !hn_row_is_ok(t, b.row[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (fabs(hn_table_real(t, a.row[i], "seed") - hn_table_real(t, b.row[k], "seed")) > 0)
            return false;
    }
}

// Values by seed, from which the page takes the difference of two rows: {"columns": [..], "s12":
// [[seed, ..], [value, ..], ..]}, a list a column; null for the seeds of s0. Six digits are two
// more than it shows.
static void put_by_seed(FILE *html, const struct hn_overview *o) {
    const char *column[8] = {"seed", "fn_ratio"};
    int n = 2;
    for (int i = 0; hn_hardness_measure(o->results, i); i++)
        column[n++] = hn_hardness_measure(o->results, i)->column;
    fputs("<script type=\"application/json\" id=by-seed>{\"columns\":[", html);
    for (int c = 0; c < n; c++)
        fprintf(html, "%s\"%s\"", c ? "," : "", column[c]);
    fputs("]", html);
    for (int64_t s = 0; s < o->settings; s++) {
        struct hn_replicates cells = hn_overview_cells(o, s);
        bool same = s > 0 && of_same_seeds(&o->results->runs, hn_overview_cells(o, 0), cells);
        fprintf(html, ",\n\"s%" PRId64 "\":[%s", s, same ? "null" : "");
        for (int c = same; c < n; c++) {
            const char *joint = "";
            fputs(c ? ",[" : "[", html);
            for (int64_t i = 0; i < cells.n; i++)
                if (hn_row_is_ok(&o->results->runs, cells.row[i])) {
                    double value = hn_table_real(&o->results->runs, cells.row[i], column[c]);
                    fprintf(html, isfinite(value) ? "%s%.*g" : "%snull", joint, c ? 6 : 17, value);
                    joint = ",";
                }
            fputs("]", html);
        }
        fputs("]", html);
    }
    fputs("}</script>\n", html);
}

static enum hn_code find_fronts(struct hn_context *ctx, struct settings *t) {
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
    struct settings t = {.o = o};
    if (find_fronts(ctx, &t) || put_table(html, ctx, &t, chosen))
        return ctx->code;
    if (chosen)
        put_by_seed(html, o);
    return HN_OK;
}

static void put_stage_name(FILE *html, const struct hn_record_column *c, const json_t *record,
                           const void *of) {
    const struct settings *t = of;
    (void)c;
    put_setting_cell(html, t->o, setting_of(record), NULL);
}

// Candidates of all cells of a setting that fail this filter first.
static json_t *stage_row(const struct hn_overview *o, const struct hn_table *t, int64_t setting,
                         const char *filter) {
    static const char *const counts[] = {"true_negatives", "false_negatives", "unlabelled"};
    json_t *record =
        json_pack("{s:I, s:o}", "setting", (json_int_t)setting, "filter", hn_json_text(filter));
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int64_t row = 0; row < t->rows; row++)
            if (hn_overview_setting(o, t, row) == setting &&
                strcmp(hn_table_text(t, row, "filter"), filter) == 0)
                sum += hn_table_real(t, row, counts[i]);
        json_object_set_new(record, counts[i], hn_json_real(sum));
    }
    return record;
}

void hn_html_attrition(FILE *html, const struct hn_overview *o) {
    static const struct hn_record_column columns[] = {
        {"setting", "Setting", .put = put_stage_name},
        {"filter", "Filter", .width = -1, .from = "filter",
         .help = "what a candidate fails first; kept: nothing"},
        {"true_negatives", "True negatives", .from = "true_negatives"},
        {"false_negatives", "False negatives", .from = "false_negatives"},
        {"unlabelled", "Unlabelled", .from = "unlabelled"},
        {0}};
    const struct hn_table *t = hn_results_table(o->results, "attrition");
    if (!t || t->rows == 0)
        return;
    json_t *rows = json_array();
    for (int64_t s = 0; s < o->settings; s++)
        for (int64_t row = 0; row < t->rows && o->last[s]; row++)
            if (fabs(hn_table_real(t, row, "run") - (double)o->first[s]) < 0.5)
                json_array_append_new(rows, stage_row(o, t, s, hn_table_text(t, row, "filter")));
    fputs("<details><summary>What the filters of the miner drop, at the last step</summary>\n",
          html);
    hn_html_table(html, &(struct hn_html_table){.label = "Attrition",
                                                .id = "",
                                                .class = "",
                                                .column = columns,
                                                .row = rows,
                                                .of = &(struct settings){.o = o}});
    fputs("</details>\n", html);
}
