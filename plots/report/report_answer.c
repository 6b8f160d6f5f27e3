// The sentences that a page of samplers opens with, as `choose` would say of the cells that are
// there: the hardest sampler within 0.5, 2 and 10 points more false negatives than Uniform, what it
// costs, or that uniform batches will do.
//
// Intervals over seeds decide: a sampler is within a budget if the upper end of its excess is, and
// harder than another if the paired difference lies above 0. They hold for all samplers together
// (hn_mean_among()), of which one is picked. Fewer than three seeds name none: the batches of a
// seed share a build, and do not show how builds vary.
#include "core/pairs.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BUDGETS = 3, LEAGUES_MAX = 4, NAMED_MAX = 6, UNCERTAIN_MAX = 3, SEEDS_MIN = 3 };

static const double anchors_enough = 0.995; // with a true negative; fewer are told

// A data set at its last step with one batch size: loss, weighting, temperature change no batch.
struct league {
    const struct hn_overview *o;
    int64_t first, uniform; // settings; uniform: -1 = none
    int64_t compared;       // settings among which one is picked
    const struct hn_hardness *hardness;
    double budget[BUDGETS]; // of the excess over Uniform's ratio, increasing
    bool judged;            // enough seeds for intervals
};

static struct hn_mean mean_of(const struct league *p, int64_t s, const char *column) {
    return hn_overview_mean(p->o, s, column);
}

static struct hn_mean difference(const struct league *p, int64_t s, int64_t to,
                                 const char *column) {
    return hn_mean_among_pairs(hn_overview_difference(p->o, s, to, column), p->compared);
}

// To Uniform.
static struct hn_mean excess(const struct league *p, int64_t s, const char *column) {
    return hn_mean_among(hn_overview_to_uniform(p->o, s, column), p->compared);
}

static bool is_candidate(const struct league *p, int64_t s) {
    return p->o->league[p->first] == p->o->league[s] &&
           isfinite(mean_of(p, s, p->hardness->column).mean);
}

static bool is_per_anchor(const struct league *p) { return p->o->per_anchor[p->first]; }

static enum hn_within judge(const struct league *p, int64_t s, double budget) {
    return hn_judge(excess(p, s, "fn_ratio"), budget);
}

static bool is_harder(const struct league *p, int64_t s) {
    return hn_told_apart(excess(p, s, p->hardness->column), true) > 0;
}

// The hardest within the budget (NAN: of all), -1 = none is harder than Uniform.
static int64_t find_hardest(const struct league *p, double budget) {
    int64_t best = -1;
    for (int64_t s = 0; s < p->o->settings; s++)
        if (is_candidate(p, s) &&
            (isnan(budget) || (is_harder(p, s) && judge(p, s, budget) == HN_WITHIN)) &&
            (best < 0 ||
             mean_of(p, s, p->hardness->column).mean > mean_of(p, best, p->hardness->column).mean))
            best = s;
    return best;
}

static void put_time(FILE *html, const struct league *p, int64_t s) {
    double build = mean_of(p, s, "cost_g_over_t").mean;
    double seconds = mean_of(p, s, "cost_s").mean + (isfinite(build) ? build : 0);
    hn_html_seconds(html, "; %s a batch", seconds);
}

static void put_name(FILE *html, const struct league *p, int64_t s, const char *format) {
    hn_html(html, format, hn_overview_label(p->o, s).text);
}

// A mean, and in its stead the difference to Uniform has the interval, where there is one. Its
// digits are those of the interval, so that a small share is not told as 0.
static void put_measure(FILE *html, const struct league *p, int64_t s, const char *column,
                        double scale, int digits, const char *unit) {
    struct hn_mean m = mean_of(p, s, column), d = excess(p, s, column);
    if (s != p->uniform)
        m = hn_mean_among(m, p->compared);
    if (isfinite(d.mean)) {
        m.half = NAN;
        digits = hn_html_digits(scale * d.half, digits);
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
static void put_measures(FILE *html, const struct league *p, int64_t s) {
    fputs("hardness ", html);
    put_measure(html, p, s, p->hardness->column, 1, 3, "");
    if (isfinite(mean_of(p, s, "fn_ratio").mean)) {
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
static void put_ties(FILE *html, const struct league *p, int64_t best, double budget) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (s == best || !is_candidate(p, s) || s == p->uniform ||
            (!isnan(budget) && judge(p, s, budget) != HN_WITHIN) ||
            hn_told_apart(difference(p, s, best, p->hardness->column), true) != 0)
            continue;
        if (n++ < NAMED_MAX)
            put_name(html, p, s, n > 1 ? ", %s" : " Not significantly harder than %s");
    }
    end_list(html, n, NAMED_MAX);
}

// Puts s where it belongs among the hardest n settings, the first UNCERTAIN_MAX of which are kept.
static void insert(const struct league *p, int64_t named[UNCERTAIN_MAX], int n, int64_t s) {
    double hardness = mean_of(p, s, p->hardness->column).mean;
    int at = n < UNCERTAIN_MAX ? n : UNCERTAIN_MAX;
    for (; at > 0 && mean_of(p, named[at - 1], p->hardness->column).mean < hardness; at--)
        if (at < UNCERTAIN_MAX)
            named[at] = named[at - 1];
    if (at < UNCERTAIN_MAX)
        named[at] = s;
}

// Settings that need more seeds for what the line wants to know, the hardest first: harder ones, on
// which side of the budget they are; or, where none is known to be harder, which not beyond it may
// be by more than the margin of hardness.
static void put_uncertain(FILE *html, const struct league *p, int64_t best, double budget,
                          bool harder) {
    double hardest = best < 0 ? -INFINITY : mean_of(p, best, p->hardness->column).mean;
    int64_t named[UNCERTAIN_MAX];
    int n = 0;
    bool told = false;
    for (int64_t s = 0; s < p->o->settings; s++) {
        struct hn_mean d = excess(p, s, harder ? "fn_ratio" : p->hardness->column);
        enum hn_within within = judge(p, s, budget);
        if (is_candidate(p, s) && isfinite(d.mean) && is_harder(p, s) == harder &&
            (harder ? within == HN_UNDETERMINED && mean_of(p, s, p->hardness->column).mean > hardest
                    : within != HN_BEYOND && hn_judge(d, HN_HARDNESS_MARGIN) != HN_WITHIN))
            insert(p, named, n++, s);
    }
    for (int i = 0; i < n && i < UNCERTAIN_MAX; i++) {
        struct hn_mean d = excess(p, named[i], harder ? "fn_ratio" : p->hardness->column);
        int64_t seeds = hn_judge_seeds(d, harder ? budget : 0);
        put_name(html, p, named[i],
                 i > 0    ? ", %s"
                 : harder ? " Harder, but too uncertain to be called within: %s"
                          : " Too uncertain to be called harder: %s");
        fputs(" (", html);
        hn_html_mean(html, d, harder ? 100 : 1, harder ? 1 : 3, true);
        fputs(harder ? " points" : "", html);
        if (seeds > 0)
            fprintf(html, "; %s", hn_counted(seeds, "seed").text);
        fputs(")", html);
        told |= seeds > 0;
    }
    end_list(html, n, UNCERTAIN_MAX);
    fputs(told ? " So many seeds tell with probability .9 if these are the true differences." : "",
          html);
}

// Samplers without values in a seed of Uniform's.
static void put_uncompared(FILE *html, const struct league *p) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (!is_candidate(p, s) || s == p->uniform ||
            (isfinite(excess(p, s, "fn_ratio").mean) &&
             isfinite(excess(p, s, p->hardness->column).mean)))
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

// No cosine is above 1, so that none can be harder by the margin.
static bool is_cramped(const struct league *p) {
    return mean_of(p, p->uniform, p->hardness->column).mean > 1 - HN_HARDNESS_MARGIN;
}

// True if every sampler but Uniform has more false negatives than the budget allows, or (alike) is
// harder by less than the margin.
static bool all_beyond(const struct league *p, double budget, bool alike) {
    for (int64_t s = 0; s < p->o->settings; s++)
        if (is_candidate(p, s) && s != p->uniform && judge(p, s, budget) != HN_BEYOND &&
            !(alike &&
              hn_judge(excess(p, s, p->hardness->column), HN_HARDNESS_MARGIN) == HN_WITHIN))
            return false;
    return true;
}

static void put_budget(FILE *html, const struct league *p, int b, int64_t before) {
    double budget = p->budget[b];
    int64_t best = find_hardest(p, budget);
    fprintf(html, "<li>At most %g points more false negatives%s: ", 100 * budget,
            is_per_anchor(p) ? " than Uniform" : "");
    if (all_beyond(p, budget, false)) {
        fputs("none; every sampler has more.</li>\n", html);
        return;
    }
    if (best < 0)
        fputs("no sampler within this limit is shown to be harder than Uniform.", html);
    else if (best == before)
        put_name(html, p, best, "<b>%s</b> again.");
    else {
        put_name(html, p, best, "<b>%s</b> is the hardest: ");
        put_measures(html, p, best);
        fputs(".", html);
    }
    if (best >= 0)
        put_ties(html, p, best, budget);
    put_uncertain(html, p, best, budget, true);
    if (best < 0)
        put_uncertain(html, p, best, budget, false);
    if (!is_cramped(p) && all_beyond(p, budget, true))
        fprintf(html, " Uniform batches will do: none within the limit is harder by %g.",
                HN_HARDNESS_MARGIN);
    fputs("</li>\n", html);
}

// Hardness leaves out anchors that have no true negative, and seeds in which none has one.
static void put_without(FILE *html, const struct league *p) {
    int n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        int64_t seeds = mean_of(p, s, "fn_ratio").n, hard = mean_of(p, s, p->hardness->column).n;
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
        double share = mean_of(p, s, "true_anchors").mean;
        if (!is_candidate(p, s) || !(share < anchors_enough) || n++ >= NAMED_MAX)
            continue;
        put_name(html, p, s,
                 n == 1 ? "<p>Anchors without a true negative do not count in the hardness of %s"
                        : ", %s");
        fprintf(html, " (%.1f %% had one)", 100 * share);
    }
    end_list(html, n, NAMED_MAX);
    fputs(n > 0 ? "</p>\n" : "", html);
}

// True if an excess of false negatives is known.
static bool has_excess(const struct league *p) {
    bool any = false;
    for (int64_t s = 0; s < p->o->settings; s++)
        any |= is_candidate(p, s) && isfinite(excess(p, s, "fn_ratio").mean);
    return any;
}

// True if the next line says the same: no sampler is named, nor judged otherwise there.
static bool is_repeated(const struct league *p, int b) {
    bool same = find_hardest(p, p->budget[b]) < 0;
    for (int64_t s = 0; s < p->o->settings && same; s++) {
        enum hn_within is = judge(p, s, p->budget[b]);
        same = !is_candidate(p, s) ||
               (is == judge(p, s, p->budget[b + 1]) && !(is == HN_UNDETERMINED && is_harder(p, s)));
    }
    return same;
}

static void put_budgets(FILE *html, const struct league *p) {
    int64_t before = -1;
    if (!is_per_anchor(p)) {
        fputs(" <b>Uniform</b>: ", html);
        put_measures(html, p, p->uniform);
        fputs(".", html);
    }
    if (is_cramped(p))
        fprintf(html,
                " No sampler can be harder by %g, as no cosine is above 1: if embeddings share a "
                "direction, subtract their mean before the import.",
                HN_HARDNESS_MARGIN);
    if (!has_excess(p)) {
        fputs(" No other sampler was run with the same seeds.</p>\n", html);
        return;
    }
    if (!p->judged) {
        fputs(" ", html);
        hn_html_few_seeds(html, p->o->seeds[p->uniform], "no sampler is named");
    }
    fputs(p->judged ? "</p>\n<ul>\n" : "</p>\n", html);
    for (int b = 0; b < BUDGETS && p->judged; b++) {
        if (b < BUDGETS - 1 && (p->budget[b + 1] <= p->budget[b] || is_repeated(p, b)))
            continue;
        put_budget(html, p, b, before);
        before = find_hardest(p, p->budget[b]);
    }
    fputs(p->judged ? "</ul>\n" : "", html);
    put_uncompared(html, p);
    put_without(html, p);
}

// Names the hardest sampler where there are no false negatives to compare with Uniform's.
static void put_hardest(FILE *html, const struct league *p, const char *why) {
    int64_t best = find_hardest(p, NAN);
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
static bool has_no_true(const struct league *p) {
    bool any = false;
    for (int64_t s = 0; s < p->o->settings; s++)
        any |= p->o->league[p->first] == p->o->league[s] && mean_of(p, s, "true_anchors").mean <= 0;
    return any;
}

static void put_league(FILE *html, const struct league *p) {
    const struct hn_table *runs = &p->o->results->runs;
    int64_t cell = p->o->first[p->first];
    bool ranked = find_hardest(p, NAN) >= 0;
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
    else if (!is_per_anchor(p) && !is_candidate(p, p->uniform))
        put_hardest(html, p, "Uniform had no true negative, so nothing is compared with it.");
    else if (!isfinite(mean_of(p, p->uniform, "fn_ratio").mean))
        put_hardest(html, p, "Without labels nothing is known of false negatives.");
    else
        put_budgets(html, p);
}

static bool is_known(const struct hn_overview *o, int64_t s) {
    for (int64_t k = 0; k < s; k++)
        if (o->last[k] &&
            hn_rows_agree(&o->results->runs, o->first[k], o->first[s],
                          HN_COLUMNS("dataset", "batch_size")) &&
            o->per_anchor[k] == o->per_anchor[s])
            return true;
    return false;
}

// Returns how many leagues there are; the first ones are put.
static int put_leagues(FILE *html, const struct hn_overview *o, const struct hn_hardness *hardness,
                       double margin) {
    int leagues = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        if (!o->last[s] || is_known(o, s) || leagues++ >= LEAGUES_MAX)
            continue;
        struct league p = {o, s, o->base[s], 1, hardness};
        for (int b = 0; b < BUDGETS; b++)
            p.budget[b] = fmax(margin, (double[BUDGETS]){0, 0.02, 0.1}[b]);
        p.judged = p.uniform >= 0 && o->seeds[p.uniform] >= SEEDS_MIN;
        p.compared = 0;
        for (int64_t k = 0; k < o->settings; k++) {
            p.compared += k != p.uniform && is_candidate(&p, k);
            p.judged |= p.uniform < 0 && is_candidate(&p, k) && o->seeds[k] >= SEEDS_MIN;
        }
        put_league(html, &p);
    }
    return leagues;
}

// Which measure is shown is a choice on the page, by its style sheet alone.
static void put_choice(FILE *html, const struct hn_overview *o) {
    if (!hn_hardness_measure(o->results, 1))
        return;
    fputs("<p class=measure>Hardness by", html);
    for (int i = 0; hn_hardness_measure(o->results, i); i++)
        hn_html(html, " <label><input type=radio name=measure value=%d%s>%s</label>", i,
                i == 0 ? " checked" : "", hn_hardness_measure(o->results, i)->name);
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
               hn_overview_mean(o, o->base[s], "fn_ratio").n >= SEEDS_MIN;
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

static void put_samplers(FILE *html, const struct hn_overview *o, double margin) {
    int leagues = 0;
    if (!is_measured(o)) {
        fputs("<p>Hardness was not measured: add <code>hardness</code> to the job's metrics.</p>\n",
              html);
        return;
    }
    put_known_relevance(html, &o->results->runs);
    put_choice(html, o);
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
}

void hn_html_answer(FILE *html, const struct hn_overview *o, double margin) {
    bool samplers = false;
    for (int64_t s = 1; s < o->settings; s++)
        samplers |= hn_overview_leads(o, s);
    if (!samplers)
        hn_html_weightings(html, o);
    put_samplers(html, o, margin);
    if (samplers)
        hn_html_weightings(html, o);
}
