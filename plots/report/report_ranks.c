// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of settings over the data sets of many results.
#include "core/rank_tests.h"
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/shown.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// Ranks of settings, named by their labels, among those that every data set has.
struct ranked {
    const char *column, *title, *first; // first: what has rank 1
    bool larger;
};
#define AT_BUDGET "hardness_at_budget"
static const struct ranked ranked[] = {
    {"fn_ratio", "False negatives", "the fewest", false},
    {AT_BUDGET, "Hardness at +2 points",
     "the hardest of those that have at most 2 points more false negatives than Uniform, by means; "
     "all others share the last rank",
     true},
    {"hard_true_mean", "Hardest true neg.", "the largest", true},
    {"gap", "Gap", "the smallest", false},
    {"accuracy", "Accuracy", "the largest", true},
    {HN_SHOWN_COST, "ms a batch", "the smallest", false}};
static const double budget =
    0.02; // of AT_BUDGET: excess of false negatives, as the page begins with
enum {
    RANKED = sizeof ranked / sizeof ranked[0],
    FEWEST = 3 // data sets that give a rank
};

struct ranks {
    const struct hn_overview *o;
    struct hn_phrase *label; // [labels]
    const char **dataset;    // [datasets] digests
    int64_t labels, datasets;
    int64_t *of;     // [settings] its label, -1: not ranked
    int64_t *at;     // [settings] its data set
    bool *common;    // [labels] ranked: see find_common()
    double *sum;     // [labels x datasets] of ranks
    double *leagues; // [datasets] that were ranked
};

static const char *dataset_of(const struct hn_overview *o, int64_t setting) {
    return hn_table_text(&o->results->runs, o->first[setting], "dataset_sha256");
}

static void name_setting(struct ranks *k, int64_t s) {
    const struct hn_phrase label = hn_overview_label(k->o, s);
    int64_t l = 0, d = 0;
    while (l < k->labels && strcmp(k->label[l].text, label.text) != 0)
        l++;
    while (d < k->datasets && strcmp(k->dataset[d], dataset_of(k->o, s)) != 0)
        d++;
    if (l == k->labels)
        k->label[k->labels++] = label;
    if (d == k->datasets)
        k->dataset[k->datasets++] = dataset_of(k->o, s);
    k->of[s] = l;
    k->at[s] = d;
}

static bool is_ranked(const struct ranks *k, int64_t s, bool per_anchor) {
    return k->of[s] >= 0 && k->o->per_anchor[s] == per_anchor;
}

// True if every data set has the label among settings of that kind of negatives.
static bool is_everywhere(const struct ranks *k, int64_t label, bool per_anchor) {
    int64_t n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        for (int64_t s = 0; s < k->o->settings; s++)
            if (is_ranked(k, s, per_anchor) && k->of[s] == label && k->at[s] == d) {
                n++;
                break;
            }
    return n == k->datasets;
}

// True if every league of that kind has the label, so that none is left out for the lack of it.
static bool is_in_all(const struct ranks *k, int64_t label, bool per_anchor) {
    const int64_t *league = k->o->league;
    for (int64_t s = 0; s < k->o->settings; s++) {
        bool found = !is_ranked(k, s, per_anchor);
        for (int64_t e = 0; e < k->o->settings && !found; e++)
            found = k->of[e] == label && league[e] == league[s];
        if (!found)
            return false;
    }
    return true;
}

// Fills common[labels] and returns how many are: those of one kind of negatives, as others are not
// ranked with them, that all leagues have, or, where these are fewer than two, all data sets.
static int64_t find_common(struct ranks *k, bool per_anchor, bool leagues) {
    int64_t n = 0;
    for (int64_t l = 0; l < k->labels; l++) {
        k->common[l] = is_everywhere(k, l, per_anchor) && (!leagues || is_in_all(k, l, per_anchor));
        n += k->common[l];
    }
    return n;
}

static enum hn_code find_labels(struct hn_context *ctx, struct ranks *k) {
    int64_t n = k->o->settings;
    if (!HN_ALLOC(ctx, k->label, n) || !HN_ALLOC(ctx, k->dataset, n) || !HN_ALLOC(ctx, k->of, n) ||
        !HN_ALLOC(ctx, k->at, n) || !HN_ALLOC(ctx, k->common, n))
        return ctx->code;
    for (int64_t s = 0; s < n; s++) {
        k->of[s] = k->at[s] = -1;
        if (k->o->seeds[s] > 0 && k->o->last[s])
            name_setting(k, s);
    }
    if (find_common(k, false, true) < 2 && find_common(k, false, false) < 2 &&
        find_common(k, true, true) < 2)
        (void)find_common(k, true, false);
    bool good =
        HN_ALLOC(ctx, k->sum, k->labels * k->datasets) && HN_ALLOC(ctx, k->leagues, k->datasets);
    return good ? HN_OK : ctx->code;
}

// Adds a league's ranks if all common settings have a value[labels] there; equal ones share theirs.
static void rank_league(struct ranks *k, const struct ranked *by, const double *value, int64_t d) {
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l] && isnan(value[l]))
            return;
    for (int64_t l = 0; l < k->labels; l++) {
        double rank = 0.5;
        for (int64_t other = 0; other < k->labels && k->common[l]; other++)
            if (k->common[other])
                rank += value[other] == value[l]                  ? 0.5
                        : (value[other] < value[l]) != by->larger ? 1
                                                                  : 0;
        k->sum[l * k->datasets + d] += rank;
    }
    k->leagues[d]++;
}

// The extremes of false negatives and of hardness say little: what a setting gives for as many
// false negatives as one allows is what it is chosen by. Beyond them it is no choice.
static double at_budget(const struct hn_overview *o, int64_t setting) {
    double excess =
        o->base[setting] == setting ? 0 : hn_overview_to_uniform(o, setting, "fn_ratio").mean;
    if (isnan(excess) || excess > budget)
        return isnan(excess) ? NAN : -INFINITY;
    return hn_overview_mean(o, setting, hn_hardness_measure(o->results, 0)->column).mean;
}

// Neither is a column of results; cost_batch: a batch with its share of the build.
static double value_of(const struct hn_overview *o, int64_t setting, const char *column) {
    if (strcmp(column, AT_BUDGET) == 0)
        return at_budget(o, setting);
    return strcmp(column, HN_SHOWN_COST) == 0 ? hn_overview_cost(o, setting).batch
                                              : hn_overview_mean(o, setting, column).mean;
}

static enum hn_code rank_all(struct hn_context *ctx, struct ranks *k, const struct ranked *by) {
    const struct hn_overview *o = k->o;
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, k->labels, sizeof *value);
    if (!value)
        return ctx->code;
    memset(k->sum, 0, (size_t)(k->labels * k->datasets) * sizeof *k->sum);
    memset(k->leagues, 0, (size_t)k->datasets * sizeof *k->leagues);
    for (int64_t s = 0; s < o->settings; s++) {
        bool first = k->of[s] >= 0;
        for (int64_t e = 0; e < s && first; e++)
            first = k->of[e] < 0 || o->league[e] != o->league[s];
        for (int64_t l = 0; l < k->labels; l++)
            value[l] = NAN;
        for (int64_t e = s; e < o->settings && first; e++)
            if (k->of[e] >= 0 && o->league[e] == o->league[s])
                value[k->of[e]] = value_of(o, e, by->column);
        if (first)
            rank_league(k, by, value, k->at[s]);
    }
    return HN_OK;
}

// The mean rank over data sets that have leagues; NaN without.
static double rank_of(const struct ranks *k, int64_t label) {
    double sum = 0, n = 0;
    for (int64_t d = 0; d < k->datasets; d++)
        if (k->leagues[d] > 0) {
            sum += k->sum[label * k->datasets + d] / k->leagues[d];
            n++;
        }
    return sum / n;
}

// By how much mean ranks differ significantly.
static enum hn_code find_apart(struct hn_context *ctx, const struct ranks *k, double *apart) {
    int64_t n = 0, blocks = 0;
    HN_SCOPE(ctx);
    double *rank = hn_alloc(ctx, k->labels * k->datasets, sizeof *rank);
    if (!rank)
        return ctx->code;
    for (int64_t d = 0; d < k->datasets; d++)
        blocks += k->leagues[d] > 0;
    for (int64_t l = 0; l < k->labels; l++)
        for (int64_t d = 0; d < k->datasets; d++)
            if (k->common[l] && k->leagues[d] > 0)
                rank[n++] = k->sum[l * k->datasets + d] / k->leagues[d];
    return hn_ranks_apart(ctx, rank, blocks ? n / blocks : 0, blocks, apart);
}

// rank[labels x RANKED]; over[RANKED]: data sets with a rank.
static void put_rank_table(FILE *html, const struct ranks *k, const double *rank,
                           const int64_t *over) {
    struct hn_record_column column[RANKED + 2] = {
        {"setting", "Setting", .width = -1, .html = "<th scope=row>%s</th>"}};
    char title[RANKED][96], help[RANKED][192];
    json_t *rows = json_array();
    int n = 1;
    for (int i = 0; i < RANKED; i++) {
        snprintf(title[i], sizeof title[i], "%s", ranked[i].title);
        if (over[i] < k->datasets)
            hn_append(title[i], sizeof title[i], " (on %" PRId64 ")", over[i]);
        snprintf(help[i], sizeof help[i], "1: %s", ranked[i].first);
        if (over[i] > 0)
            column[n++] = (struct hn_record_column){.key = ranked[i].column,
                                                    .heading = title[i],
                                                    .help = help[i],
                                                    .from = ranked[i].column,
                                                    .digits = 2};
    }
    for (int64_t l = 0; l < k->labels; l++) {
        if (!k->common[l])
            continue;
        json_t *row = json_pack("{s:o}", "setting", hn_json_text(k->label[l].text));
        for (int i = 0; i < RANKED; i++)
            json_object_set_new(row, ranked[i].column, hn_json_real(rank[l * RANKED + i]));
        json_array_append_new(rows, row);
    }
    hn_html_table(html, &(struct hn_html_table){.label = "Ranks",
                                                .id = "ranks",
                                                .class = "sortable fixed",
                                                .sorted = INT_MAX,
                                                .column = column,
                                                .row = rows});
}

// Names the setting that ranks best, and those that are not told from it.
static enum hn_code put_best(FILE *html, struct hn_context *ctx, const struct ranks *k,
                             const struct ranked *by, int64_t datasets) {
    int64_t best = -1;
    int worse = 0, ties = 0;
    double apart = INFINITY;
    if (find_apart(ctx, k, &apart))
        return ctx->code;
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l] && (best < 0 || rank_of(k, l) < rank_of(k, best)))
            best = l;
    for (int64_t l = 0; l < k->labels; l++)
        worse += k->common[l] && rank_of(k, l) - rank_of(k, best) > apart + 1e-9;
    hn_html(html, "<p>%s: <b>%s</b> ranks best, %.2f on average over %" PRId64 " data sets.%s",
            by->title, k->label[best].text, rank_of(k, best), datasets,
            worse ? "" : " No other is significantly worse.");
    for (int64_t l = 0; l < k->labels && worse; l++)
        if (k->common[l] && l != best && !(rank_of(k, l) - rank_of(k, best) > apart + 1e-9))
            hn_html(html, ties++ ? ", %s" : " Not significantly worse: %s", k->label[l].text);
    fputs(ties ? ".</p>\n" : "</p>\n", html);
    return HN_OK;
}

bool hn_html_has_ranks(const struct hn_overview *o) {
    for (int64_t s = 1; s < o->settings; s++)
        if (strcmp(dataset_of(o, s), dataset_of(o, 0)) != 0)
            return true;
    return false;
}

enum hn_code hn_html_ranks(FILE *html, struct hn_context *ctx, const struct hn_overview *o) {
    struct ranks k = {.o = o};
    int64_t over[RANKED] = {0}, common = 0, ranks = 0;
    HN_SCOPE(ctx);
    if (find_labels(ctx, &k))
        return ctx->code;
    double *rank = hn_alloc(ctx, k.labels * RANKED, sizeof *rank);
    if (!rank)
        return ctx->code;
    for (int64_t l = 0; l < k.labels; l++)
        common += k.common[l];
    fputs("<section aria-labelledby=over><h2 id=over>Ranks over data sets</h2>\n", html);
    for (int i = 0; i < RANKED; i++) {
        if (rank_all(ctx, &k, &ranked[i]))
            return ctx->code;
        for (int64_t l = 0; l < k.labels; l++)
            rank[l * RANKED + i] = rank_of(&k, l);
        for (int64_t d = 0; d < k.datasets; d++)
            over[i] += k.leagues[d] > 0;
        ranks += over[i];
        if (common > 1 && over[i] >= FEWEST && put_best(html, ctx, &k, &ranked[i], over[i]))
            return ctx->code;
    }
    if (common > 1 && ranks > 0) {
        fprintf(html, "<p class=soft>%" PRId64 " of %s were measured on ", common,
                hn_counted(k.labels, "setting").text);
        if (k.datasets > 1)
            fprintf(html, "all %s, each", hn_counted(k.datasets, "data set").text);
        else
            fputs("the data set,", html);
        fputs(
            " at its last step. They are ranked within one result and one batch size, loss, "
            "weighting and temperature; ranks are averaged over those, then over data sets "
            "(fewer where a heading says so). Significantly worse: behind the best by more than "
            "the largest gap among as many equally good settings in 95 % of random rankings.</p>\n",
            html);
        for (int i = 0; i < RANKED; i++)
            if (strcmp(ranked[i].column, AT_BUDGET) == 0 && over[i] > 0)
                fprintf(html, "<p class=soft>%s: first is %s.</p>\n", ranked[i].title,
                        ranked[i].first);
        put_rank_table(html, &k, rank, over);
    } else {
        fputs("<p>No two settings were measured side by side on every data set, so there is "
              "nothing to rank.</p>\n",
              html);
    }
    fputs("</section>\n", html);
    return HN_OK;
}
