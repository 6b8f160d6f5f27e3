// SPDX-License-Identifier: GPL-3.0-or-later
// The table of answers: for each budget of false negatives the setting to take, how much harder it
// is than Uniform, and what a batch costs. Further rows, hidden, answer every other budget.
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/report/league.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool hn_league_is_tabled(const struct hn_league *p) {
    bool any = false;
    for (int64_t s = 0; s < p->o->settings && !any; s++)
        any = hn_league_has(p, s) && isfinite(hn_league_excess(p, s, "fn_ratio").mean);
    return any && p->judged && isfinite(hn_league_mean(p, p->uniform, p->hardness->column).mean);
}

// Characters that neither YAML nor a shell reads as anything else.
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

static void put_bytes(FILE *html, const char *text, int length) {
    for (const char *end = text + length; text < end; text++)
        fprintf(html, strchr("&<>\"'", *text) ? "&#%d;" : "%c", *text);
}

// The value of an option as YAML: quoted unless it is a number or a plain word.
static void put_yaml_value(FILE *html, const char *text, int length) {
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

// Of percentages: more digits than two, where intervals are tiny, help nobody to choose.
static int digits_of(double half) { return (int)fmin(2, hn_digits_by_half(half, 1)); }

static void put_number(FILE *html, struct hn_mean m, double scale, int digits, bool sign) {
    fputs("<td class=n>", html);
    hn_html_mean(html, m, scale, digits, sign);
    fputs("</td>", html);
}

static void put_cost(FILE *html, const struct hn_overview *o, int64_t s) {
    struct hn_cost cost = hn_overview_cost(o, s);
    hn_html(html, "<td class=n title=\"%s\">", hn_cost_parts(cost).text);
    if (isfinite(cost.batch))
        hn_html_ms(html, cost.batch);
    else
        fputs("–", html);
    fputs("</td>", html);
}

static void put_setting(FILE *html, const struct hn_league *p, int64_t s) {
    struct hn_mean fn = hn_league_mean(p, s, "fn_ratio"), d = hn_league_excess(p, s, "fn_ratio");
    fprintf(html, "<td><a href=\"#s%" PRId64 "\" data-yaml=\"", s);
    put_yaml(html, p->o, s);
    hn_html(html, "\">%s</a></td>", hn_overview_label(p->o, s).text);
    put_number(html, hn_league_excess(p, s, p->hardness->column), 1, 3, true);
    fn.half = NAN;
    put_number(html, fn, 100, digits_of(100 * d.half), false);
    put_cost(html, p->o, s);
}

static void put_uniform(FILE *html, const struct hn_league *p) {
    struct hn_mean fn = hn_league_mean(p, p->uniform, "fn_ratio"),
                   hard = hn_league_mean(p, p->uniform, p->hardness->column);
    double half = 100 * fn.half;
    hard.half = fn.half = NAN;
    fprintf(html, "<tr><th scope=row>+0</th><td><a href=\"#s%" PRId64 "\">%s</a></td>", p->uniform,
            "uniform");
    fputs("<td class=n title=\"its own hardness\"><span class=soft>(", html);
    hn_html_mean(html, hard, 1, 3, false);
    fputs(")</span></td>", html);
    put_number(html, fn, 100, digits_of(half), false);
    put_cost(html, p->o, p->uniform);
    fputs("</tr>\n", html);
}

// The setting to take within a budget, -1 = there is none to name. One that is shown to be harder
// by less than the margin is no reason to leave Uniform.
static int64_t taken(const struct hn_league *p, double budget) {
    int64_t best = hn_league_uniform_will_do(p, budget) ? -1 : hn_league_hardest(p, budget);
    bool little = best >= 0 && hn_judge(hn_league_excess(p, best, p->hardness->column),
                                        HN_HARDNESS_MARGIN) == HN_WITHIN;
    return little ? -1 : best;
}

static const char *why_none(const struct hn_league *p, double budget) {
    return hn_league_all_beyond(p, budget)        ? "none: every sampler has more"
           : hn_league_uniform_will_do(p, budget) ? "uniform will do"
                                                  : "not decided";
}

// A word of a command, in quotes where a shell wants them.
static void put_word(FILE *html, const char *word) {
    bool quoted = word[strspn(word, plain)] != '\0';
    fputs(quoted ? " &#39;" : " ", html);
    for (; *word; word++)
        if (*word == '\'')
            fputs("&#39;\\&#39;&#39;", html);
        else
            put_bytes(html, word, 1);
    fputs(quoted ? "&#39;" : "", html);
}

void hn_html_choose(FILE *html, const struct hn_league *p, double budget) {
    const struct hn_table *runs = &p->o->results->runs;
    int64_t cell = p->o->first[p->first];
    fputs("hardneg choose", html);
    put_word(html, hn_table_text(runs, cell, "dataset"));
    fprintf(html, " --step %.0f --batch-size %.0f --max-excess %.3g",
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            100 * budget);
    if (strcmp(p->hardness->word, "mean") != 0)
        fprintf(html, " --goal %s", p->hardness->word);
}

static void put_none(FILE *html, const struct hn_league *p, double budget) {
    const char *why = why_none(p, budget);
    bool open = strcmp(why, "not decided") == 0 && !p->o->per_anchor[p->first];
    fputs("<td colspan=4>", html);
    if (open) {
        fputs("<a href=\"#why\" data-command=\"", html);
        hn_html_choose(html, p, budget);
        fputs("\">", html);
    }
    fprintf(html, open ? "%s: <code>choose</code> decides</a></td>" : "%s</td>", why);
}

static void put_budget(FILE *html, const struct hn_league *p, double budget, const char *tag) {
    int64_t s = taken(p, budget);
    fprintf(html, "<tr%s data-budget=%.6g><th scope=row>+%.3g</th>", tag, 100 * budget,
            100 * budget);
    if (s >= 0)
        put_setting(html, p, s);
    else
        put_none(html, p, budget);
    fputs("</tr>\n", html);
}

// The next budget above `at` at which an answer may change: an end of an interval.
static double next_budget(const struct hn_league *p, double at) {
    double next = INFINITY;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (!hn_league_has(p, s))
            continue;
        struct hn_mean d = hn_league_excess(p, s, "fn_ratio");
        next = d.hi > at && d.hi < next ? d.hi : next;
        next = d.lo > at && d.lo < next ? d.lo : next;
    }
    return next;
}

// A hidden row at each budget from which on the answer is another one.
static void put_steps(FILE *html, const struct hn_league *p) {
    const char *before = "";
    int64_t best = -1;
    for (double at = 0; at <= 1; at = next_budget(p, at)) {
        int64_t s = taken(p, at);
        const char *none = why_none(p, at);
        if (s != best || (s < 0 && strcmp(none, before) != 0))
            put_budget(html, p, at, " hidden");
        best = s;
        before = none;
    }
}

void hn_html_take(FILE *html, const struct hn_overview *o, int64_t first, double margin) {
    const struct hn_table *runs = &o->results->runs;
    int64_t cell = o->first[first];
    fprintf(html, "<table class=take data-front=%" PRId64 ">\n", first);
    hn_html(html, "<caption>%s, step %.0f, batches of %.0f%s</caption>\n",
            hn_dataset_title(hn_table_text(runs, cell, "dataset")).text,
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            o->per_anchor[first] ? ", negatives of each anchor" : "");
    fputs("<thead><tr><th scope=col title=\"points of false negatives above Uniform's, at most\">"
          "Budget</th><th scope=col>Take</th><th scope=col class=n>Hardness over Uniform</th><th "
          "scope=col class=n>False negatives (%)</th><th scope=col class=n>ms a batch, build "
          "included</th></tr></thead>\n",
          html);
    for (int i = 0; hn_hardness_measure(o->results, i); i++) {
        struct hn_league p = hn_league_make(o, hn_hardness_measure(o->results, i), margin, first);
        fprintf(html, "<tbody class=by data-measure=%d>\n", i);
        if (hn_league_is_tabled(&p)) {
            put_uniform(html, &p);
            for (int b = 0; b < HN_BUDGETS; b++)
                if (b == HN_BUDGETS - 1 || p.budget[b + 1] > p.budget[b])
                    put_budget(html, &p, p.budget[b], "");
            put_steps(html, &p);
        } else
            fputs("<tr><td colspan=5>not compared: see below</td></tr>\n", html);
        fputs("</tbody>\n", html);
    }
    fputs("</table>\n", html);
}
