// SPDX-License-Identifier: GPL-3.0-or-later
// Claims of the papers with their verdicts, in the report.
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *cell(const json_t *claim, const char *key) {
    const char *text = json_string_value(json_object_get(claim, key));
    return text ? text : "";
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

static void put_id(FILE *html, const struct hn_record_column *c, const json_t *claim,
                   const void *of) {
    const char *id = cell(claim, c->key);
    if (is_shown(of, id))
        hn_html(html, "<th scope=row><a href=\"#%s\">%s</a></th>", id, id);
    else
        hn_html(html, "<th scope=row>%s</th>", id);
}

static void put_verdict(FILE *html, const struct hn_record_column *c, const json_t *claim,
                        const void *of) {
    const char *verdict = cell(claim, c->key);
    bool known = strcmp(verdict, "holds") == 0 || strcmp(verdict, "fails") == 0 ||
                 strcmp(verdict, "inconclusive") == 0;
    (void)of;
    hn_html(html, "<td class=\"verdict %s\">%s</td>", known ? verdict : "soft", verdict);
}

// "identity" or "ours", where a claim is not the paper's, as all are in files without kinds.
static const char *not_papers(const struct hn_table *t, int64_t row) {
    const char *kind = hn_table_text(t, row, "kind");
    return strcmp(kind, "claim") == 0 ? "" : kind;
}

// A text with a smaller one below it.
static void put_paper(FILE *html, const struct hn_record_column *c, const json_t *claim,
                      const void *of) {
    (void)of;
    hn_html(html, "<td>%s<br><small>%s</small></td>", cell(claim, c->key),
            cell(claim, "paper_table"));
}

static void put_evidence(FILE *html, const struct hn_record_column *c, const json_t *claim,
                         const void *of) {
    (void)of;
    hn_html(html, "<td class=wrap>%s<br><small>%s</small></td>", cell(claim, c->key),
            cell(claim, "at"));
}

enum { SORTED_CLAIMS = 4 }; // columns
#define TEXT "<td class=wrap>%s</td>"

static const struct hn_record_column id_columns[] = {
    {"id", "Figure", -1, .from = "id", .put = put_id},
    {"source", "Source", -1, .from = "source", .html = TEXT},
    {"verdict", "Verdict", -1, .from = "verdict", .put = put_verdict},
    {"corrected", "Corrected for all", -1, .from = "corrected", .put = put_verdict,
     .help = "by Holm's procedure over the identifiers of this page"},
    {"encoders", "Encoders", .from = "encoders",
     .help = "the fewest encoders behind a comparison; 0: times of random rows"},
    {"datasets", "Data sets", .from = "datasets"},
    {0}};

static const struct hn_record_column claim_columns[] = {
    {"id", "Figure", -1, .from = "id", .put = put_id},
    {"claim", "Claim", -1, .from = "statement", .html = TEXT},
    {"verdict", "Verdict", -1, .from = "verdict", .put = put_verdict},
    {"own", "Own value", .from = "own", .as = HN_GENERAL, .digits = 4},
    {"paper", "Paper", -1, .from = "paper", .put = put_paper},
    {"reason", "Evidence", -1, .from = "reason", .put = put_evidence},
    {0}};

static const struct hn_record_column level_columns[] = {
    {"id", "Figure", -1, .from = "id", .html = TEXT},
    {"what", "Quantity", -1, .from = "what", .html = TEXT},
    {"own", "Own", .from = "own", .as = HN_GENERAL, .digits = 4},
    {"paper", "Paper", .from = "paper", .as = HN_GENERAL, .digits = 4},
    {"unit", "Unit", -1, .from = "unit", .html = TEXT},
    {"paper_table", "Where", -1, .from = "paper_table", .html = TEXT},
    {0}};

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

// A row of a table, with the interval of our value, and what a claim says with whose it is.
static json_t *claim_row(const struct hn_table *t, int64_t row) {
    json_t *record = hn_table_json(t, row);
    const char *kind = not_papers(t, row);
    struct hn_phrase claim;
    hn_put_text(claim.text, sizeof claim.text, "%s%s%s", kind, *kind ? ": " : "",
                hn_table_text(t, row, "statement"));
    json_object_set_new(record, "claim", hn_json_text(claim.text));
    json_object_set_new(record, "own",
                        hn_json_number((struct hn_record_number){
                            hn_table_real(t, row, "own"), NAN, hn_table_real(t, row, "own_lo"),
                            hn_table_real(t, row, "own_hi"), false, "", ""}));
    return record;
}

// The rows of identifiers that were tested: others are listed below.
static void put_table(FILE *html, const struct hn_report *report, const struct hn_table *t,
                      const struct hn_table *ids, struct hn_html_table as) {
    as.id = "";
    as.row = json_array();
    as.of = report;
    for (int64_t row = 0; row < t->rows; row++)
        if (!ids || hn_html_is_tested(ids, hn_table_text(t, row, "id")))
            json_array_append_new(as.row, claim_row(t, row));
    hn_html_table(html, &as);
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
    if (ids && hn_table_find(ids, "corrected") >= 0)
        put_table(html, report, ids, ids,
                  (struct hn_html_table){.label = "Verdicts",
                                         .class = "sortable claims",
                                         .caption = "A figure or table fails if one of its claims "
                                                    "fails, and holds if all hold.",
                                         .sorted = INT_MAX,
                                         .column = id_columns});
    if (claims && claims->rows > 0)
        put_table(html, report, claims, ids,
                  (struct hn_html_table){.label = "Claims",
                                         .class = "sortable claims",
                                         .caption = "Own value: the difference or slope that "
                                                    "decides, with its 95\u202f% interval.",
                                         .sorted = SORTED_CLAIMS,
                                         .column = claim_columns});
    if (levels && levels->rows > 0) {
        fputs("<details><summary>Our values beside the paper's, for context</summary>\n", html);
        put_table(html, report, levels, NULL,
                  (struct hn_html_table){.label = "Values", .class = "", .column = level_columns});
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
