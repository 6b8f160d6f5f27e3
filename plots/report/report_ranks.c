// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of settings over the data sets of many results.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/data_ranks.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { FEWEST = 3 }; // data sets that give a rank

// rank[labels x HN_RANKED]; over[HN_RANKED]: data sets with a rank.
static void put_rank_table(FILE *html, const struct hn_data_ranks *k, const double *rank,
                           const int64_t *over) {
    struct hn_record_column column[HN_RANKED + 2] = {
        {"setting", "Setting", .width = -1, .html = "<th scope=row>%s</th>"}};
    char title[HN_RANKED][96], help[HN_RANKED][192];
    json_t *rows = json_array();
    int n = 1;
    for (int i = 0; i < HN_RANKED; i++) {
        snprintf(title[i], sizeof title[i], "%s", hn_ranked[i].title);
        if (over[i] < k->datasets)
            hn_append(title[i], sizeof title[i], " (on %" PRId64 ")", over[i]);
        snprintf(help[i], sizeof help[i], "1: %s", hn_ranked[i].first);
        if (over[i] > 0)
            column[n++] = (struct hn_record_column){.key = hn_ranked[i].column,
                                                    .heading = title[i],
                                                    .help = help[i],
                                                    .from = hn_ranked[i].column,
                                                    .digits = 2};
    }
    for (int64_t l = 0; l < k->labels; l++) {
        if (!k->common[l])
            continue;
        json_t *row = json_pack("{s:o}", "setting", hn_json_text(k->label[l].text));
        for (int i = 0; i < HN_RANKED; i++)
            json_object_set_new(row, hn_ranked[i].column, hn_json_real(rank[l * HN_RANKED + i]));
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
static enum hn_code put_best(FILE *html, struct hn_context *ctx, const struct hn_data_ranks *k,
                             const struct hn_ranked *by, int64_t datasets) {
    int64_t best = -1;
    int worse = 0, ties = 0;
    double apart = INFINITY;
    if (hn_data_ranks_apart(ctx, k, &apart))
        return ctx->code;
    for (int64_t l = 0; l < k->labels; l++)
        if (k->common[l] && (best < 0 || hn_data_ranks_mean(k, l) < hn_data_ranks_mean(k, best)))
            best = l;
    for (int64_t l = 0; l < k->labels; l++)
        worse +=
            k->common[l] && hn_data_ranks_mean(k, l) - hn_data_ranks_mean(k, best) > apart + 1e-9;
    hn_html(html, "<p>%s: <b>%s</b> ranks best, %.2f on average over %" PRId64 " data sets.%s",
            by->title, k->label[best].text, hn_data_ranks_mean(k, best), datasets,
            worse ? "" : " No other is significantly worse.");
    for (int64_t l = 0; l < k->labels && worse; l++)
        if (k->common[l] && l != best &&
            !(hn_data_ranks_mean(k, l) - hn_data_ranks_mean(k, best) > apart + 1e-9))
            hn_html(html, ties++ ? ", %s" : " Not significantly worse: %s", k->label[l].text);
    fputs(ties ? ".</p>\n" : "</p>\n", html);
    return HN_OK;
}

bool hn_html_has_ranks(const struct hn_overview *o) {
    for (int64_t s = 1; s < o->settings; s++)
        if (!hn_rows_agree(&o->results->runs, o->first[s], o->first[0],
                           HN_COLUMNS("dataset_sha256")))
            return true;
    return false;
}

enum hn_code hn_html_ranks(FILE *html, struct hn_context *ctx, const struct hn_overview *o) {
    struct hn_data_ranks k;
    int64_t over[HN_RANKED] = {0}, common = 0, ranks = 0;
    HN_SCOPE(ctx);
    if (hn_data_ranks_make(ctx, o, &k))
        return ctx->code;
    double *rank = hn_alloc(ctx, k.labels * HN_RANKED, sizeof *rank);
    if (!rank)
        return ctx->code;
    for (int64_t l = 0; l < k.labels; l++)
        common += k.common[l];
    fputs("<section aria-labelledby=over><h2 id=over>Ranks over data sets</h2>\n", html);
    for (int i = 0; i < HN_RANKED; i++) {
        if (hn_data_ranks_by(ctx, &k, &hn_ranked[i]))
            return ctx->code;
        for (int64_t l = 0; l < k.labels; l++)
            rank[l * HN_RANKED + i] = hn_data_ranks_mean(&k, l);
        over[i] = hn_data_ranks_over(&k);
        ranks += over[i];
        if (common > 1 && over[i] >= FEWEST && put_best(html, ctx, &k, &hn_ranked[i], over[i]))
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
        for (int i = 0; i < HN_RANKED; i++)
            if (strcmp(hn_ranked[i].column, HN_RANKED_AT_BUDGET) == 0 && over[i] > 0)
                fprintf(html, "<p class=soft>%s: first is %s.</p>\n", hn_ranked[i].title,
                        hn_ranked[i].first);
        put_rank_table(html, &k, rank, over);
    } else {
        fputs("<p>No two settings were measured side by side on every data set, so there is "
              "nothing to rank.</p>\n",
              html);
    }
    fputs("</section>\n", html);
    return HN_OK;
}
