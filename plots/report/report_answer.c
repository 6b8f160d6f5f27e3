// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences that a page of samplers opens with, as `choose` would say of the cells that are
// there: the hardest sampler within 0.5, 2 and 10 points more false negatives than Uniform, what it
// costs, or that uniform batches will do.
#include "core/pairs.h"
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/league.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEAGUES_MAX = 24, NAMED_MAX = 6, MORE_SEEDS_MAX = 30 };

static const double anchors_enough = 0.995; // with a true negative; fewer are told

static bool is_per_anchor(const struct hn_league *p) { return p->o->per_anchor[p->first]; }

static void put_time(FILE *html, const struct hn_league *p, int64_t s) {
    double batch = hn_overview_cost(p->o, s).batch;
    if (!isfinite(batch))
        return;
    fputs("; ", html);
    hn_html_plain(html, 3, 1e3 * batch);
    fputs(" ms a batch, build included", html);
}

static void put_name(FILE *html, const struct hn_league *p, int64_t s, const char *format) {
    hn_html(html, format, hn_overview_label(p->o, s).text);
}

// A mean, and in its stead the difference to Uniform has the interval, where there is one. Its
// digits are those of the interval, so that a small share is not told as 0.
static void put_measure(FILE *html, const struct hn_league *p, int64_t s, const char *column,
                        double scale, int digits, const char *unit) {
    struct hn_mean m = hn_league_mean(p, s, column), d = hn_league_excess(p, s, column);
    if (s != p->uniform)
        m = hn_mean_among(m, p->compared);
    if (isfinite(d.mean)) {
        m.half = NAN;
        digits = hn_digits_by_half(scale * d.half, digits);
    }
    hn_html_mean(html, m, scale, digits, false);
    fputs(unit, html);
    if (!isfinite(d.mean))
        return;
    fputs(" (", html);
    hn_html_mean(html, d, scale, digits, true);
    fputs(*unit ? " points)" : ")", html);
}

// "hardness 0.199 (+0.098 ± 0.007), false negatives 9.7 % (+0.1 ± 0.2 points); 1 ms a batch".
static void put_measures(FILE *html, const struct hn_league *p, int64_t s) {
    fputs("hardness ", html);
    put_measure(html, p, s, p->hardness->column, 1, 3, "");
    if (isfinite(hn_league_mean(p, s, "fn_ratio").mean)) {
        fputs(", false negatives ", html);
        put_measure(html, p, s, "fn_ratio", 100, 1, " %");
    }
    put_time(html, p, s);
}

static void end_list(FILE *html, int n, int max) {
    if (n > max)
        fprintf(html, " and %d more", n - max);
    fputs(n > 0 ? "." : "", html);
}

// Those within the budget that the best is not significantly harder than.
static void put_ties(FILE *html, const struct hn_league *p, int64_t best, double budget) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++)
        if (hn_league_ties(p, s, best, budget) && n++ < NAMED_MAX)
            put_name(html, p, s, n > 1 ? ", %s" : " Not significantly harder than %s");
    end_list(html, n, NAMED_MAX);
}

// "About four more seeds would probably decide.", where that is a number to run.
static void put_more_seeds(FILE *html, const struct hn_uncertain *u, int named) {
    static const char *const words[] = {"one", "two",   "three", "four", "five",
                                        "six", "seven", "eight", "nine", "ten"};
    int64_t more = u->seeds - u->difference.n;
    if (u->seeds == 0 || more > MORE_SEEDS_MAX)
        return;
    more = more > 0 ? more : 1; // by means all is decided, by the interval not
    fputs(" About ", html);
    if (more <= (int64_t)(sizeof words / sizeof *words))
        fputs(words[more - 1], html);
    else
        fprintf(html, "%" PRId64, more);
    fprintf(html, " more %s would probably decide%s.", more == 1 ? "seed" : "seeds",
            named > 1 ? " on the first" : "");
}

// harder: as in hn_league_uncertain().
static void put_uncertain(FILE *html, const struct hn_league *p, int64_t best, double budget,
                          bool harder) {
    struct hn_uncertain named[HN_UNCERTAIN_MAX];
    int n = hn_league_uncertain(p, best, budget, harder, named);
    for (int i = 0; i < n && i < HN_UNCERTAIN_MAX; i++) {
        put_name(html, p, named[i].setting,
                 i > 0    ? ", %s"
                 : harder ? " Harder, and perhaps within the limit: %s"
                          : " Perhaps harder: %s");
        fputs(" (", html);
        hn_html_mean(html, named[i].difference, harder ? 100 : 1, harder ? 1 : 3, true);
        fputs(harder ? " points)" : ")", html);
    }
    end_list(html, n, HN_UNCERTAIN_MAX);
    if (n > 0)
        put_more_seeds(html, &named[0], n);
}

// Samplers without values in a seed of Uniform's.
static void put_uncompared(FILE *html, const struct hn_league *p) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (!hn_league_has(p, s) || s == p->uniform ||
            (isfinite(hn_league_excess(p, s, "fn_ratio").mean) &&
             isfinite(hn_league_excess(p, s, p->hardness->column).mean)))
            continue;
        if (n++ < NAMED_MAX)
            put_name(html, p, s,
                     n == 1 ? "<p>No seed has values of Uniform and of these, so they are not "
                              "compared: %s"
                            : ", %s");
    }
    end_list(html, n, NAMED_MAX);
    fputs(n > 0 ? "</p>\n" : "", html);
}

static void put_budget(FILE *html, const struct hn_league *p, int b, int64_t before) {
    double budget = p->budget[b];
    int64_t best = hn_league_hardest(p, budget);
    fprintf(html, "<li>At most %g points more false negatives%s: ", 100 * budget,
            is_per_anchor(p) ? " than Uniform" : "");
    if (hn_league_all_beyond(p, budget)) {
        fputs("none; every sampler has more.</li>\n", html);
        return;
    }
    if (best < 0)
        fputs("no sampler within this limit is shown to be harder than Uniform.", html);
    else if (best == before)
        put_name(html, p, best, "still <b>%s</b>.");
    else {
        put_name(html, p, best, "<b>%s</b> is the hardest shown to be within: ");
        put_measures(html, p, best);
        fputs(".", html);
    }
    if (best >= 0)
        put_ties(html, p, best, budget);
    put_uncertain(html, p, best, budget, true);
    if (best < 0)
        put_uncertain(html, p, best, budget, false);
    if (best < 0 && !hn_league_uniform_will_do(p, budget) && !is_per_anchor(p)) {
        fputs(" To decide: <code>", html);
        hn_html_choose(html, p, budget);
        fputs("</code>, which adds seeds where they are needed.", html);
    }
    if (hn_league_uniform_will_do(p, budget))
        fprintf(html, " Uniform batches will do: none within the limit is harder by %g.",
                HN_HARDNESS_MARGIN);
    fputs("</li>\n", html);
}

// Settings that count once, as an option does not touch their batches.
static void put_twins(FILE *html, const struct hn_league *p) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        int64_t twin = hn_league_twin(p, s);
        if (twin < 0 || n++ >= NAMED_MAX)
            continue;
        put_name(html, p, s, n == 1 ? "<p>The same in every seed, and counted once: %s" : "; %s");
        put_name(html, p, twin, " as %s");
    }
    end_list(html, n, NAMED_MAX);
    fputs(n > 0 ? "</p>\n" : "", html);
}

// Hardness leaves out anchors that have no true negative, and seeds in which none has one.
static void put_without(FILE *html, const struct hn_league *p) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        int64_t seeds = hn_league_mean(p, s, "fn_ratio").n,
                hard = hn_league_mean(p, s, p->hardness->column).n;
        if (p->o->league[p->first] != p->o->league[s] || hard >= seeds || n++ >= NAMED_MAX)
            continue;
        put_name(html, p, s,
                 n == 1 ? "<p>In some seeds no batch had a true negative, so these have no "
                          "hardness: %s"
                        : ", %s");
        fprintf(html, " (%" PRId64 " of %s)", seeds - hard, hn_counted(seeds, "seed").text);
    }
    end_list(html, n, NAMED_MAX);
    fputs(n > 0 ? "</p>\n" : "", html);
    n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        double share = hn_league_mean(p, s, "true_anchors").mean;
        if (!hn_league_has(p, s) || !(share < anchors_enough) || n++ >= NAMED_MAX)
            continue;
        put_name(html, p, s,
                 n == 1
                     ? "<p>Hardness is the mean over the anchors that have a true negative: of %s"
                     : ", of %s");
        fprintf(html, " %.1f %%", 100 * share);
    }
    end_list(html, n, NAMED_MAX);
    fputs(n > 0 ? "</p>\n" : "", html);
}

static void put_budgets(FILE *html, const struct hn_league *p) {
    int64_t before = -1;
    if (!is_per_anchor(p)) {
        fputs(" <b>Uniform</b>: ", html);
        put_measures(html, p, p->uniform);
        fputs(".", html);
    }
    if (hn_league_is_cramped(p))
        fprintf(html,
                " No sampler can be harder by %g, as no cosine is above 1: if embeddings share a "
                "direction, subtract their mean before the import.",
                HN_HARDNESS_MARGIN);
    if (!hn_league_has_excess(p)) {
        fputs(" No other sampler was run with the same seeds.</p>\n", html);
        return;
    }
    if (!p->judged) {
        fputs(" ", html);
        hn_html_few_seeds(html, p->o->seeds[p->uniform], "no sampler is named");
    }
    fputs(p->judged ? "</p>\n<ul>\n" : "</p>\n", html);
    for (int b = 0; b < HN_BUDGETS && p->judged; b++) {
        if (b < HN_BUDGETS - 1 && (p->budget[b + 1] <= p->budget[b] ||
                                   hn_league_is_repeated(p, p->budget[b], p->budget[b + 1])))
            continue;
        put_budget(html, p, b, before);
        before = hn_league_hardest(p, p->budget[b]);
    }
    fputs(p->judged ? "</ul>\n" : "", html);
    put_twins(html, p);
    put_uncompared(html, p);
    put_without(html, p);
}

// Names the hardest sampler where there are no false negatives to compare with Uniform's.
static void put_hardest(FILE *html, const struct hn_league *p, const char *why) {
    int64_t best = hn_league_hardest(p, NAN);
    hn_html(html, " %s ", why);
    if (p->judged) {
        put_name(html, p, best, "<b>%s</b> is the hardest: ");
        put_measures(html, p, best);
        fputs(".", html);
        put_ties(html, p, best, NAN);
    } else
        hn_html_few_seeds(html, p->o->seeds[best], "no sampler is named");
    fputs("</p>\n", html);
    put_without(html, p);
}

// True if hardness was measured, and no anchor of a sampler had a true negative.
static bool has_no_true(const struct hn_league *p) {
    bool any = false;
    for (int64_t s = 0; s < p->o->settings; s++)
        any |= p->o->league[p->first] == p->o->league[s] &&
               hn_league_mean(p, s, "true_anchors").mean <= 0;
    return any;
}

static void put_league(FILE *html, const struct hn_league *p) {
    const struct hn_table *runs = &p->o->results->runs;
    int64_t cell = p->o->first[p->first];
    bool ranked = hn_league_hardest(p, NAN) >= 0;
    if (!ranked && !has_no_true(p))
        return;
    hn_html(html, "<p>%s, step %.0f, batches of %.0f; hardness: %s.",
            hn_dataset_title(hn_table_text(runs, cell, "dataset")).text,
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            p->hardness->name);
    if (!ranked) {
        fputs(" Nothing is ranked: no batch had a true negative.</p>\n", html);
        put_without(html, p);
        return;
    }
    if (is_per_anchor(p))
        fputs(" Samplers that give each anchor negatives of its own are ranked among themselves.",
              html);
    if (p->uniform < 0)
        put_hardest(html, p, "There is no Uniform in these results to compare with.");
    else if (!is_per_anchor(p) && !hn_league_has(p, p->uniform))
        put_hardest(html, p, "Uniform had no true negative, so nothing is compared with it.");
    else if (!isfinite(hn_league_mean(p, p->uniform, "fn_ratio").mean))
        put_hardest(html, p, "Without labels nothing is known of false negatives.");
    else
        put_budgets(html, p);
}

// Returns how many leagues there are; the first ones are put.
static int put_leagues(FILE *html, const struct hn_overview *o, const struct hn_hardness *hardness,
                       double margin) {
    int leagues = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        if (!hn_league_begins(o, s) || leagues++ >= LEAGUES_MAX)
            continue;
        struct hn_league p = hn_league_make(o, hardness, margin, s);
        fprintf(html, "<div data-front=%" PRId64 ">\n", s);
        put_league(html, &p);
        fputs("</div>\n", html);
    }
    return leagues;
}

// Which measure is shown is a choice on the page, by its style sheet alone.
static void put_choice(FILE *html, const struct hn_overview *o) {
    if (!hn_hardness_measure(o->results, 1))
        return;
    fputs("<p class=measure>Hardness of true negatives:", html);
    for (int i = 0; hn_hardness_measure(o->results, i); i++) {
        const struct hn_hardness *h = hn_hardness_measure(o->results, i);
        hn_html(html,
                " <label title=\"%s\"><input type=radio name=measure id=m%d value=%s%s>%s</label>",
                h->name, i, h->word, i == 0 ? " checked" : "", h->word);
    }
    fputs("</p>\n", html);
}

static bool is_measured(const struct hn_overview *o) {
    bool any = false;
    for (int64_t s = 0; s < o->settings && !any; s++)
        any = hn_overview_mean(o, s, "true_anchors").mean <= 0 ||
              isfinite(hn_overview_mean(o, s, hn_hardness_measure(o->results, 0)->column).mean);
    return any;
}

// True if limits go by intervals over seeds.
static bool is_judged(const struct hn_overview *o) {
    bool any = false;
    for (int64_t s = 0; s < o->settings; s++)
        any |= o->base[s] >= 0 && o->base[s] != s &&
               hn_overview_mean(o, o->base[s], "fn_ratio").over == HN_OVER_SEEDS;
    return any;
}

// Hidden positives count as true negatives: what is said of false ones is of known ones.
static void put_known_relevance(FILE *html, const struct hn_table *runs) {
    for (int64_t row = 0; row < runs->rows; row++)
        if (strstr(hn_table_text(runs, row, "note"), HN_NOTE_KNOWN_RELEVANCE)) {
            hn_html(html,
                    "<p><b>False negatives are known positives alone</b>: %s has no "
                    "<code>/truth</code>, so hidden ones count as true negatives.</p>\n",
                    hn_table_text(runs, row, "dataset"));
            return;
        }
}

// The tables of answers; samplers of each anchor's negatives are folded. True if there is an
// answer.
static bool put_tables(FILE *html, const struct hn_overview *o, double margin) {
    bool any = false;
    int open = 0;
    fputs("<div class=takes>\n", html);
    for (int own = 0; own < 2; own++) {
        int leagues = 0;
        for (int64_t s = 0; s < o->settings; s++) {
            if (!hn_league_begins(o, s) || o->per_anchor[s] != (own == 1) ||
                leagues++ >= LEAGUES_MAX)
                continue;
            if (own && open++ == 0)
                fputs("<details class=own><summary>Samplers that give each anchor negatives of its "
                      "own</summary>\n",
                      html);
            struct hn_league p = hn_league_make(o, hn_hardness_measure(o->results, 0), margin, s);
            any |= hn_league_is_tabled(&p);
            hn_html_take(html, o, s, margin);
        }
    }
    fputs(open ? "</details>\n</div>\n" : "</div>\n", html);
    return any;
}

static void put_caveat(FILE *html, const struct hn_overview *o, bool answered) {
    int64_t seeds = 0;
    for (int64_t s = 0; s < o->settings; s++)
        seeds = o->seeds[s] > seeds ? o->seeds[s] : seeds;
    if (answered)
        fprintf(html,
                "<p class=\"soft caveat\">± is the half-width of a 95 %% interval over %s, for all "
                "samplers "
                "together. Harder batches need not train better encoders.</p>\n",
                hn_counted(seeds, "seed").text);
}

static void put_samplers(FILE *html, const struct hn_overview *o, double margin,
                         const char *picture) {
    int leagues = 0;
    if (!is_measured(o)) {
        fputs("<p>Hardness was not measured: add <code>hardness</code> to the job's metrics.</p>\n",
              html);
        return;
    }
    put_known_relevance(html, &o->results->runs);
    hn_html(html, "<div class=first>\n<div class=front data-hardness=\"%s\">\n",
            hn_hardness_measure(o->results, 0)->name);
    put_choice(html, o);
    fprintf(html, "%s</div>\n", picture);
    bool answered = put_tables(html, o, margin);
    fputs("</div>\n", html);
    put_caveat(html, o, answered);
    fprintf(
        html,
        "<details class=why id=why%s><summary>In words: ties, what is undecided, what the numbers "
        "assume</summary>\n",
        answered ? "" : " open");
    for (int i = 0; hn_hardness_measure(o->results, i); i++) {
        fprintf(html, "<div class=by data-measure=%d>\n", i);
        leagues = put_leagues(html, o, hn_hardness_measure(o->results, i), margin);
        fputs("</div>\n", html);
    }
    if (leagues > LEAGUES_MAX)
        fprintf(html, "<p>See the table for further files and batch sizes (%d).</p>\n",
                leagues - LEAGUES_MAX);
    if (is_judged(o))
        fputs("<p class=soft>Within a limit: the upper end of the 95 % interval of the difference "
              "to Uniform, paired by seed, is at most the limit. One sampler is picked among all, "
              "so these intervals hold for all of them together and are wider than the "
              "table's.</p>\n",
              html);
    hn_html_findings(html, &o->results->runs);
    fputs("</details>\n", html);
}

bool hn_has_samplers(const struct hn_overview *o) {
    for (int64_t s = 0; s < o->settings; s++)
        if (o->base[s] != s)
            return true;
    return false;
}

void hn_html_answer(FILE *html, const struct hn_overview *o, double margin, const char *picture) {
    bool samplers = false, weightings = hn_overview_varies(o, "weighting");
    for (int64_t s = 1; s < o->settings; s++)
        samplers |= hn_overview_leads(o, s);
    if (!samplers)
        hn_html_weightings(html, o);
    if (hn_has_samplers(o) || !weightings) // of Uniform alone there is no front
        put_samplers(html, o, margin, picture);
    if (samplers)
        hn_html_weightings(html, o);
}
