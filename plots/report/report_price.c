// SPDX-License-Identifier: GPL-3.0-or-later
// Results of `hardneg price`: the opening, the table of settings, and what their filters take.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/schema.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static const double none_max = 0.1; // of the queries without a negative, for what the page names

bool hn_html_is_price(const struct hn_results *r) {
    const struct hn_table *t = hn_results_table(r, "price");
    return t && t->rows > 0 && r->runs.rows == 0;
}

bool hn_html_has_attrition(const struct hn_results *r) {
    const struct hn_table *t = hn_results_table(r, "price_attrition");
    return t && t->rows > 0;
}

static double value(const struct hn_table *t, int64_t row, const char *column) {
    return hn_table_real(t, row, column);
}

static double percent(const struct hn_table *t, int64_t row, const char *column) {
    return 100 * value(t, row, column);
}

// The n best of every query: the setting that takes nothing else away; -1: it is not there.
static int64_t top_of(const struct hn_table *t) {
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "family"), "min-rank") == 0 &&
            fabs(value(t, row, "value") - 1) < 0.5)
            return row;
    return -1;
}

// The setting that `price --recommend` names within a part of the first share; -1: none.
static int64_t named_within(const struct hn_table *t, const char *column) {
    for (int64_t row = 0; row < t->rows; row++)
        if (value(t, row, column) > 0)
            return row;
    return -1;
}

// A setting, and by a click the command that mines with it. Files of earlier versions have none.
static void put_command(FILE *html, const struct hn_results *r, const char *setting) {
    const char *command = hn_results_get(r, HN_PRICE_COMMAND);
    if (*command)
        hn_html(html, "<a href=\"#settings\" data-command=\"%s %s -o negatives.jsonl\">", command,
                setting);
    hn_html(html, "<code>%s</code>", setting);
    fputs(*command ? "</a>" : "", html);
}

static void put_row(FILE *html, const struct hn_results *r, int64_t row, const char *note) {
    const struct hn_table *t = hn_results_table(r, "price");
    fputs("<td>", html);
    put_command(html, r, hn_table_text(t, row, "setting"));
    fprintf(html, "%s</td><td class=n>%.2f</td><td class=n>%.3g", note, value(t, row, "hardness"),
            percent(t, row, "false_negatives"));
    if (isfinite(value(t, row, "false_hi")))
        fprintf(html, " <small>[%.3g, %.3g]</small>", percent(t, row, "false_lo"),
                percent(t, row, "false_hi"));
    fprintf(html, "</td><td class=n>%.2g</td></tr>\n", percent(t, row, "none"));
}

static void put_budget(FILE *html, const struct hn_results *r, int64_t top, const char *words,
                       double part, const char *column) {
    const struct hn_table *t = hn_results_table(r, "price");
    int64_t row = named_within(t, column);
    fprintf(html, "<tr><th scope=row>%.3g (%s)</th>", part * percent(t, top, "false_negatives"),
            words);
    if (row < 0)
        fputs("<td colspan=4>no setting is shown to be within</td></tr>\n", html);
    else
        put_row(html, r, row, "");
}

static void put_source(FILE *html, const struct hn_table *t) {
    const char *by = hn_table_text(t, 0, "by");
    if (strcmp(by, "truth") == 0)
        fputs("False negatives are counted by <code>/truth</code>; intervals are over queries.",
              html);
    else if (strcmp(by, "judged") == 0)
        fprintf(html,
                "False negatives are estimated from %.0f judged pairs; intervals are over these.",
                value(t, 0, "judged"));
    else
        fputs("No pair was judged: false negatives are those of the rank model, which takes each "
              "query to have as many hidden positives as known ones. There is no interval, so no "
              "setting is named. <code>hardneg price --sheet</code> draws pairs to judge.",
              html);
}

static void put_empty(FILE *html, const struct hn_table *t) {
    int64_t many = 0, max = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        many += value(t, row, "none") > none_max;
        max = value(t, row, "none") > value(t, max, "none") ? row : max;
    }
    if (many == 0)
        return;
    hn_html(
        html,
        "<p>Not named, as more than %.0f %% of the queries are left without a negative: %" PRId64
        " of %s; most, %.3g %%, <code>%s</code>.</p>\n",
        100 * none_max, many, hn_counted(t->rows, "setting").text, percent(t, max, "none"),
        hn_table_text(t, max, "setting"));
}

void hn_html_price_answer(FILE *html, const struct hn_results *r) {
    static const struct {
        const char *words;
        double part;
        const char *column;
    } budgets[] = {{"half", 0.5, "within_half"},
                   {"a fifth", 0.2, "within_fifth"},
                   {"a twentieth", 0.05, "within_twentieth"}};
    const struct hn_table *t = hn_results_table(r, "price");
    int64_t top = top_of(t);
    hn_html(
        html,
        "<div class=\"takes priced\"><table class=take><caption>%s, step %.0f: %.0f negatives of "
        "each of %.0f queries</caption>\n",
        hn_table_text(t, 0, "dataset"), value(t, 0, "step"), value(t, 0, "wanted"),
        value(t, 0, "queries"));
    fputs("<thead><tr><th scope=col title=\"false negatives, at most\">Budget (%)</th><th "
          "scope=col>Take</th><th scope=col class=n>Hardness</th><th scope=col class=n>False "
          "negatives (%)</th><th scope=col class=n>Queries left without (%)</th></tr></thead>\n"
          "<tbody>\n",
          html);
    bool named =
        top >= 0 && isfinite(value(t, top, "false_hi")) && value(t, top, "false_negatives") > 0;
    if (top >= 0) {
        char note[48];
        snprintf(note, sizeof note, " <small>the %.0f best</small>", value(t, top, "wanted"));
        fputs("<tr><th scope=row>any</th>", html);
        put_row(html, r, top, note);
    }
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets && named; i++)
        put_budget(html, r, top, budgets[i].words, budgets[i].part, budgets[i].column);
    fputs("</tbody></table></div>\n<p class=\"soft caveat\">", html);
    put_source(html, t);
    fputs("</p>\n<details class=why id=why><summary>What hardness is, and what the numbers "
          "assume</summary>\n",
          html);
    if (named)
        put_empty(html, t);
    fputs("<p class=soft>Hardness: score over that of the query's far candidates, in their "
          "deviations, mean over negatives. A setting is shown to be within a share as "
          "<code>price --recommend</code> does it: all of them are tested together, at 5 %. "
          "Queries that the encoder was trained on make margins look cheap.</p>\n</details>\n",
          html);
}

#define NAME "<th scope=row><code>%s</code></th>"

// Candidates that a setting's own filter took; its name; and what was left.
static int64_t own_filter(const struct hn_table *attrition, int64_t from) {
    static const char *const shared[] = {"known", "self", "duplicate", "beyond n", "kept", NULL};
    const char *setting = hn_table_text(attrition, from, "setting");
    for (int64_t row = from; row < attrition->rows; row++) {
        bool its = strcmp(hn_table_text(attrition, row, "setting"), setting) == 0;
        if (its && !hn_is_among(hn_table_text(attrition, row, "filter"), shared))
            return row;
    }
    return -1;
}

// wanted: NULL for all rows.
static void put_table(FILE *html, const struct hn_table *t, const char *label,
                      const struct hn_record_column *columns,
                      bool (*wanted)(const struct hn_table *t, int64_t row)) {
    json_t *rows = json_array();
    for (int64_t row = 0; row < t->rows; row++) {
        if (wanted && !wanted(t, row))
            continue;
        json_t *record = hn_table_json(t, row);
        json_object_set_new(record, "mark", json_string(value(t, row, "front") > 0 ? "●" : ""));
        json_array_append_new(rows, record);
    }
    hn_html_table(html, &(struct hn_html_table){.label = label,
                                                .id = "",
                                                .class = "fixed",
                                                .sorted = INT_MAX,
                                                .column = columns,
                                                .row = rows});
}

// Filters that are alike in all settings come once, with the first.
static bool first_or_own(const struct hn_table *t, int64_t row) {
    const char *first = hn_table_text(t, 0, "setting"), *setting = hn_table_text(t, row, "setting");
    int64_t begin = row;
    while (begin > 0 && strcmp(hn_table_text(t, begin - 1, "setting"), setting) == 0)
        begin--;
    return strcmp(setting, first) == 0 || own_filter(t, begin) == row ||
           strcmp(hn_table_text(t, row, "filter"), "kept") == 0;
}

void hn_html_price(FILE *html, const struct hn_results *r) {
    static const struct hn_record_column settings[] = {
        {"setting", "Setting", -1, .from = "setting", .html = NAME,
         .help = "options of hardneg mine"},
        {"mark", "Front", -1, .from = "front",
         .help = "no other setting is as hard with fewer false negatives"},
        {"hardness", "Hardness", .from = "hardness", .digits = 2,
         .help = "deviations over the query's far candidates"},
        {"false_negatives", "False negatives (%)", .from = "false_negatives", .digits = 3,
         .scale = 100},
        {"false_lo", "from", .from = "false_lo", .digits = 3, .scale = 100,
         .help = "lower end of the 95 % interval"},
        {"false_hi", "to", .from = "false_hi", .digits = 3, .scale = 100,
         .help = "upper end of the 95 % interval"},
        {"fewer", "Queries with fewer (%)", .from = "fewer", .digits = 1, .scale = 100,
         .help = "than were asked for"},
        {"none", "Queries with none (%)", .from = "none", .digits = 1, .scale = 100},
        {0}};
    static const struct hn_record_column filters[] = {
        {"setting", "Setting", -1, .from = "setting", .html = NAME},
        {"filter", "Filter", -1, .from = "filter", .html = NAME,
         .help = "that took the candidates; kept: none did"},
        {"candidates", "Candidates", .from = "candidates"},
        {"known", "Known positives", .from = "known"},
        {"hidden", "Hidden positives", .from = "hidden", .help = "of those kept: false negatives"},
        {0}};
    const struct hn_table *t = hn_results_table(r, "price"),
                          *attrition = hn_results_table(r, "price_attrition");
    hn_html_fold(html, "settings", "Settings", true);
    put_table(html, t, "Settings", settings, NULL);
    fputs("</details>\n", html);
    if (!hn_html_has_attrition(r))
        return;
    hn_html_fold(html, "attrition", "What the filters take", true);
    fprintf(html,
            "<p class=soft>Of the %.0f best passages of each query. Filters before the setting's "
            "own are the same for all, and are there with the first.</p>\n",
            value(t, 0, "depth"));
    put_table(html, attrition, "What the filters take", filters, first_or_own);
    fputs("</details>\n", html);
}
