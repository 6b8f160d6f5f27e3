// SPDX-License-Identifier: GPL-3.0-or-later
// Claims of the papers with their verdicts, in the report.
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct claim {
    struct hn_html_cells cells;
    const struct hn_report *report;
};

static const char *cell(const struct claim *claim, const char *column) {
    return hn_table_text(claim->cells.table, claim->cells.row, column);
}

// True if the page has a figure of that name: one of its own, or a general one of its trainings.
static bool is_shown(const struct hn_report *report, const char *id) {
    char name[HN_FIGURE_NAME], path[4096];
    struct hn_figure general;
    if (hn_figure_find(id))
        return true;
    if (!report->ids || !hn_figure_of_training(0, id, name, &general))
        return false;
    int n = snprintf(path, sizeof path, "%s/%s.h5", report->ids, id);
    return n > 0 && n < (int)sizeof path && access(path, R_OK) == 0;
}

static void put_id(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct claim *claim = of;
    const char *id = cell(claim, c->from);
    if (is_shown(claim->report, id))
        hn_html(html, "<th scope=row><a href=\"#%s\">%s</a></th>", id, id);
    else
        hn_html(html, "<th scope=row>%s</th>", id);
}

static void put_verdict(FILE *html, const struct hn_html_column *c, const void *of) {
    const char *verdict = cell(of, c->from);
    bool known = strcmp(verdict, "holds") == 0 || strcmp(verdict, "fails") == 0 ||
                 strcmp(verdict, "inconclusive") == 0;
    hn_html(html, "<td class=\"verdict %s\">%s</td>", known ? verdict : "soft", verdict);
}

// "identity" or "ours", where a claim is not the paper's, as all are in files without kinds.
static const char *not_papers(const struct hn_table *t, int64_t row) {
    const char *kind = hn_table_text(t, row, "kind");
    return strcmp(kind, "claim") == 0 ? "" : kind;
}

static void put_statement(FILE *html, const struct hn_html_column *c, const void *of) {
    const struct claim *claim = of;
    const char *kind = not_papers(claim->cells.table, claim->cells.row);
    hn_html(html, "<td class=wrap>%s%s%s</td>", kind, *kind ? ": " : "", cell(of, c->from));
}

enum { SORTED_CLAIMS = 4, CLAIMS = 6, LEVELS = 6, IDS = 6 };
#define TEXT "<td class=wrap>%s</td>"
#define INTERVAL "<br><small>%.4g to %.4g</small>"

static const struct hn_html_column id_columns[IDS] = {
    {"Figure", .from = "id", .put = put_id},
    {"Source", .from = "source", .html = TEXT},
    {"Verdict", .from = "verdict", .put = put_verdict},
    {"Corrected for all", "by Holm's procedure over the identifiers of this page",
     .from = "corrected", .put = put_verdict},
    {"Encoders", "the fewest encoders behind a comparison; 0: times of random rows", "encoders",
     "%.0f"},
    {"Data sets", NULL, "datasets", "%.0f"}};

static const struct hn_html_column claim_columns[CLAIMS] = {
    {"Figure", .from = "id", .put = put_id},
    {"Claim", .from = "statement", .put = put_statement},
    {"Verdict", .from = "verdict", .put = put_verdict},
    {"Own value", NULL, "own", "%.4g", INTERVAL},
    {"Paper", .from = "paper", .html = "<td>%s<br><small>%s</small></td>", .also = "paper_table"},
    {"Evidence", .from = "reason", .html = "<td class=wrap>%s<br><small>%s</small></td>",
     .also = "at"}};

static const struct hn_html_column level_columns[LEVELS] = {
    {"Figure", .from = "id", .html = TEXT}, {"Quantity", .from = "what", .html = TEXT},
    {"Own", NULL, "own", "%.4g", INTERVAL}, {"Paper", NULL, "paper", "%.4g"},
    {"Unit", .from = "unit", .html = TEXT}, {"Where", .from = "paper_table", .html = TEXT}};

const char *const hn_html_verdicts[HN_HTML_VERDICTS] = {"holds", "fails", "inconclusive",
                                                        "not tested"};

int64_t hn_html_count(const struct hn_table *t, const char *column, const char *text,
                      const char *id) {
    int64_t n = 0;
    for (int64_t row = 0; row < t->rows; row++)
        n += strcmp(hn_table_text(t, row, column), text) == 0 &&
             (!id || strcmp(hn_table_text(t, row, "id"), id) == 0);
    return n;
}

const char *hn_html_verdict(int v, int64_t n) {
    static const char *const several[HN_HTML_VERDICTS] = {"hold", "fail", "inconclusive",
                                                          "not tested"};
    return n == 1 ? hn_html_verdicts[v] : several[v];
}

// "8 hold, 2 fail, 1 inconclusive, of 12 claims of the papers, plus 1 check of a proved identity."
static void put_counts(FILE *html, const struct hn_table *t) {
    int64_t count[HN_HTML_VERDICTS] = {0}, papers = 0, identities = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        bool counts = !*not_papers(t, row);
        papers += counts;
        identities += strcmp(hn_table_text(t, row, "kind"), "identity") == 0;
        for (int v = 0; v < HN_HTML_VERDICTS; v++)
            count[v] +=
                counts && strcmp(hn_table_text(t, row, "verdict"), hn_html_verdicts[v]) == 0;
    }
    const char *joint = "<p>";
    for (int v = 0; v < HN_HTML_VERDICTS; v++) {
        if (count[v] == 0)
            continue;
        fprintf(html, "%s<b>%" PRId64 "</b> %s", joint, count[v], hn_html_verdict(v, count[v]));
        joint = ", ";
    }
    fprintf(html, "%sof %s of the papers", joint, hn_counted(papers, "claim").text);
    int64_t ours = t->rows - papers - identities;
    if (identities > 0)
        fprintf(html, ", plus %s of a proved identity", hn_counted(identities, "check").text);
    if (ours > 0)
        fprintf(html, ", plus %s of our own", hn_counted(ours, "question").text);
    fputs(".</p>\n", html);
}

bool hn_html_is_tested(const struct hn_table *ids, const char *id) {
    int64_t row = hn_table_row_with(ids, "id", id);
    return row >= 0 && strcmp(hn_table_text(ids, row, "verdict"), "not tested") != 0;
}

// The rows of identifiers that were tested: others are listed below.
static void put_table(FILE *html, const struct hn_report *report, const struct hn_table *t,
                      const struct hn_table *ids, const struct hn_html_column *column, int n,
                      int sorted) {
    hn_html_heads(html, column, n, sorted);
    for (int64_t row = 0; row < t->rows; row++)
        if (!ids || hn_html_is_tested(ids, hn_table_text(t, row, "id")))
            hn_html_row(html, column, n, &(struct claim){{t, row}, report});
    fputs("</tbody></table></div>", html);
}

// Lists the identifiers without a claim that could be tested, with the reason.
static void put_untested(FILE *html, const struct hn_table *t) {
    bool any = false;
    for (int64_t row = 0; row < t->rows; row++) {
        if (strcmp(hn_table_text(t, row, "verdict"), "not tested") != 0)
            continue;
        if (!any)
            fputs("<details><summary>Not tested, and why</summary>\n<ul>\n", html);
        any = true;
        hn_html(html, "<li><b>%s</b> %s: %s</li>\n", hn_table_text(t, row, "id"),
                hn_table_text(t, row, "title"), hn_table_text(t, row, "reason"));
    }
    if (any)
        fputs("</ul></details>\n", html);
}

void hn_html_claims(FILE *html, const struct hn_report *report) {
    const struct hn_results *r = report->results;
    const struct hn_table *claims = hn_results_table(r, "claims");
    const struct hn_table *ids = hn_results_table(r, "claim_ids");
    const struct hn_table *levels = hn_results_table(r, "claim_levels");
    if (!claims && !ids)
        return;
    fputs(
        "<details class=section id=claims open><summary><h2>What the papers claim</h2></summary>\n"
        "<p>A claim holds if the whole 95&#8239;% interval lies on its side, fails if it lies on "
        "the other, and is inconclusive in between.</p>\n",
        html);
    // Files from before verdicts were corrected have no such table.
    if (ids && hn_table_find(ids, "corrected") >= 0) {
        fputs("<div class=scroll role=region tabindex=0 aria-label=\"Verdicts\">"
              "<table class=\"sortable claims\"><caption>A figure or table fails if one of its "
              "claims fails, and holds if all hold.</caption>\n",
              html);
        put_table(html, report, ids, ids, id_columns, IDS, IDS);
        fputc('\n', html);
    }
    if (claims && claims->rows > 0) {
        fputs("<div class=scroll role=region tabindex=0 aria-label=\"Claims\">"
              "<table class=\"sortable claims\"><caption>Own value: the difference or slope that "
              "decides, with its 95&#8239;% interval.</caption>\n",
              html);
        put_table(html, report, claims, ids, claim_columns, CLAIMS, SORTED_CLAIMS);
        fputc('\n', html);
    }
    if (levels && levels->rows > 0) {
        fputs("<details><summary>Our values beside the paper's, for context</summary>\n"
              "<div class=scroll><table>",
              html);
        put_table(html, report, levels, NULL, level_columns, LEVELS, 0);
        fputs("</details>\n", html);
    }
    if (ids)
        put_untested(html, ids);
    fputs("</details>\n", html);
}

void hn_html_claims_answer(FILE *html, const struct hn_results *r) {
    const struct hn_table *claims = hn_results_table(r, "claims");
    const struct hn_table *ids = hn_results_table(r, "claim_ids");
    if (claims && claims->rows > 0)
        put_counts(html, claims);
    for (int v = 0; ids && v < HN_HTML_VERDICTS; v++) {
        const char *joint = ": ";
        if (hn_html_count(ids, "verdict", hn_html_verdicts[v], NULL) == 0)
            continue;
        fprintf(html, "<p><span class=\"verdict %s\">%s</span>",
                v < 3 ? hn_html_verdicts[v] : "soft", hn_html_verdicts[v]);
        for (int64_t row = 0; row < ids->rows; row++) {
            if (strcmp(hn_table_text(ids, row, "verdict"), hn_html_verdicts[v]) != 0)
                continue;
            hn_html(html, "%s%s", joint, hn_table_text(ids, row, "id"));
            joint = ", ";
        }
        fputs(".</p>\n", html);
    }
}
