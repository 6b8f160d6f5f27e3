// SPDX-License-Identifier: GPL-3.0-or-later
// The table of answers: for each budget of false negatives the setting to take, how much harder it
// is than Uniform, and what a batch costs. Further rows, hidden, answer every other budget.
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/league.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/shown.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_bytes(FILE *html, const char *text, int length) {
    for (const char *end = text + length; text < end; text++)
        fprintf(html, strchr("&<>\"'", *text) ? "&#%d;" : "%c", *text);
}

// The value of an option as YAML: quoted unless it is a number or a plain word.
static void put_yaml_value(FILE *html, const char *text, int length) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    bool quoted = (int)strspn(text, plain) < length;
    fputs(quoted ? "&#34;" : "", html);
    for (const char *at = text; at < text + length; at++) {
        fputs(quoted && strchr("\\\"", *at) ? "\\" : "", html);
        put_bytes(html, at, 1);
    }
    fputs(quoted ? "&#34;" : "", html);
}

// "mosaic: {a: 0.5, lambda: 0.83}": an item of a job's list of samplers.
static void put_yaml(FILE *html, const struct hn_overview *o, int64_t s) {
    const char *rest = hn_table_text(&o->results->runs, o->first[s], "params"), *joint = ": {";
    struct hn_option_part part;
    hn_html(html, "%s", hn_overview_sampler(o, s));
    while (hn_option_next(&rest, &part)) {
        int name = (int)hn_min((int64_t)strcspn(part.text, "="), (int64_t)part.length);
        fprintf(html, "%s%.*s: ", joint, name, part.text);
        if (name < (int)part.length)
            put_yaml_value(html, part.text + name + 1, (int)part.length - name - 1);
        joint = ", ";
    }
    fputs(*joint == ',' ? "}" : "", html);
}

void hn_html_choose(FILE *html, const struct hn_league *p, double budget) {
    const struct hn_table *runs = &p->o->results->runs;
    int64_t cell = p->o->first[p->first];
    fputs("hardneg choose ", html);
    hn_put_word(html, hn_html_text, hn_table_text(runs, cell, "dataset"));
    fprintf(html, " --step %.0f --batch-size %.0f --max-excess %.3g",
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            100 * budget);
    if (strcmp(p->hardness->word, "mean") != 0)
        fprintf(html, " --goal %s", p->hardness->word);
}

static double budget_of(const json_t *answer) {
    return json_number_value(json_object_get(answer, "budget")) / 100;
}

static void put_budget(FILE *html, const struct hn_record_column *c, const json_t *answer,
                       const void *of) {
    (void)of;
    fprintf(html, "<th scope=row>+%.3g</th>", json_number_value(json_object_get(answer, c->key)));
}

// Uniform is no item that one would add to a job.
static void put_setting(FILE *html, const struct hn_record_column *c, const json_t *answer,
                        const void *of) {
    const struct hn_league *p = of;
    int64_t s = json_integer_value(json_object_get(answer, "setting"));
    fprintf(html, "<td><a href=\"#s%" PRId64 "\"", s);
    if (s != p->uniform) {
        fputs(" data-yaml=\"", html);
        put_yaml(html, p->o, s);
        fputs("\"", html);
    }
    hn_html(html, ">%s</a></td>", json_string_value(json_object_get(answer, c->key)));
}

static void put_own_hardness(FILE *html, const struct hn_record_column *c, const json_t *answer,
                             const void *of) {
    const struct hn_league *p = of;
    (void)answer;
    fprintf(html, "<td class=n title=\"its own hardness\"><span class=soft>at %.*f</span></td>",
            c->digits, hn_league_mean(p, p->uniform, p->hardness->column).mean);
}

static void put_none(FILE *html, const struct hn_record_column *c, const json_t *answer,
                     const void *of) {
    static const char *const why[] = {[HN_NONE_OPEN] = "not decided",
                                      [HN_NONE_NEEDED] = "uniform will do",
                                      [HN_NONE_WITHIN] = "none: every sampler has more"};
    const struct hn_league *p = of;
    enum hn_answer_none none =
        (enum hn_answer_none)json_integer_value(json_object_get(answer, c->key));
    fputs("<td colspan=4>", html);
    if (none == HN_NONE_OPEN && !p->o->per_anchor[p->first]) {
        fputs("<a href=\"#why\" data-command=\"", html);
        hn_html_choose(html, p, budget_of(answer));
        fprintf(html, "\">%s: <code>choose</code> decides</a></td>", why[none]);
    } else
        fprintf(html, "%s</td>", why[none]);
}

#define BUDGET                                                                                     \
    {                                                                                              \
        "budget", "Budget (points)", .help = "points of false negatives above Uniform's, at most", \
                                     .put = put_budget                                             \
    }
static const struct hn_record_column none_columns[] = {BUDGET, {"none", "", .put = put_none}, {0}};
enum { COLUMNS = 5 };

static void make_columns(const struct hn_overview *o, struct hn_record_column column[COLUMNS + 1]) {
    static const struct hn_record_column first[] = {
        BUDGET,
        {"label", "Take", .put = put_setting},
        {"harder", "Hardness over Uniform", .digits = 3, .as = HN_BY_HALF}};
    memcpy(column, first, sizeof first);
    column[3] = hn_setting_column(o, "fn_ratio");
    column[3].alone = true;
    column[4] = hn_setting_column(o, HN_SHOWN_COST);
    column[5] = (struct hn_record_column){.heading = NULL};
}

// A row: the setting to take within a budget.
static void put_answer(FILE *html, const struct hn_league *p, const struct hn_record_column *column,
                       double budget, struct hn_answer answer) {
    int64_t s = answer.setting;
    json_t *row = s < 0 ? json_object() : hn_setting_record(p->o, s);
    json_object_set_new(row, "budget", json_real(100 * budget));
    json_object_set_new(row, "none", json_integer(answer.none));
    if (s >= 0)
        json_object_set_new(row, "harder",
                            hn_mean_json(hn_league_excess(p, s, p->hardness->column), true));
    hn_records_html_cells(s < 0 ? none_columns : column, row, p, html);
    json_decref(row);
}

static void put_uniform(FILE *html, const struct hn_league *p,
                        const struct hn_record_column *column) {
    struct hn_record_column own[COLUMNS + 1];
    memcpy(own, column, sizeof own);
    own[2].put = put_own_hardness;
    fputs("<tr>", html);
    put_answer(html, p, own, 0, (struct hn_answer){p->uniform, HN_NONE_OPEN});
}

static void put_budgets(FILE *html, const struct hn_league *p,
                        const struct hn_record_column *column) {
    for (int b = 0; b < HN_BUDGETS; b++)
        if (b == HN_BUDGETS - 1 || p->budget[b + 1] > p->budget[b]) {
            fprintf(html, "<tr data-budget=%.6g>", 100 * p->budget[b]);
            put_answer(html, p, column, p->budget[b], hn_league_answer(p, p->budget[b]));
        }
}

// A hidden row at each budget from which on the answer is another one.
static void put_steps(FILE *html, const struct hn_league *p,
                      const struct hn_record_column *column) {
    struct hn_answer before = {-2, HN_NONE_OPEN};
    for (double at = 0; at <= 1; at = hn_league_next_budget(p, at)) {
        struct hn_answer answer = hn_league_answer(p, at);
        if (answer.setting != before.setting ||
            (answer.setting < 0 && answer.none != before.none)) {
            fprintf(html, "<tr hidden data-budget=%.6g>", 100 * at);
            put_answer(html, p, column, at, answer);
        }
        before = answer;
    }
}

// HTML.
static const char *why_untabled(const struct hn_league *p) {
    return p->uniform < 0 ? "nothing to compare with: add <code>uniform</code> to the samplers"
           : !isfinite(hn_league_mean(p, p->uniform, "fn_ratio").mean)
               ? "no labels, so nothing is known of false negatives"
           : !p->judged
               ? "too few seeds to name a setting: run three (<code>seeds: [1, 2, 3]</code>)"
               : "not compared: see below";
}

void hn_html_take(FILE *html, const struct hn_overview *o, int64_t first, double margin) {
    const struct hn_table *runs = &o->results->runs;
    int64_t cell = o->first[first];
    struct hn_record_column column[COLUMNS + 1];
    make_columns(o, column);
    fprintf(html, "<table class=take data-front=%" PRId64 ">\n", first);
    hn_html(html, "<caption>%s, step %.0f, batches of %.0f%s</caption>\n",
            hn_dataset_title(hn_table_text(runs, cell, "dataset")).text,
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            o->per_anchor[first] ? ", negatives of each anchor" : "");
    hn_records_html_heads(column, 0, html);
    for (int i = 0; hn_hardness_measure(o->results, i); i++) {
        struct hn_league p = hn_league_make(o, hn_hardness_measure(o->results, i), margin, first);
        fprintf(html, "<tbody class=by data-measure=%d>\n", i);
        if (hn_league_is_tabled(&p)) {
            put_uniform(html, &p, column);
            put_budgets(html, &p, column);
            put_steps(html, &p, column);
        } else
            fprintf(html, "<tr><td colspan=5>%s</td></tr>\n", why_untabled(&p));
        fputs("</tbody>\n", html);
    }
    fputs("</table>\n", html);
}
