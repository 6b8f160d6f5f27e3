// SPDX-License-Identifier: GPL-3.0-or-later
// The page as a whole: head, answer, tables, claims and figures.
#include "plots/report/report.h"
#include "core/files.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/render.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The style sheet and the script of the page are part of the program.
extern const char hn_report_css[], hn_report_js[];
__asm__(".section .rodata\n"
        ".global hn_report_css, hn_report_js\n"
        "hn_report_css:\n"
        ".incbin \"plots/report/report.css\"\n"
        ".byte 0\n"
        "hn_report_js:\n"
        ".incbin \"plots/report/report.js\"\n"
        ".incbin \"plots/report/front.js\"\n"
        ".byte 0\n"
        ".previous\n");

enum { MAX_SVG = 1 << 26, MAX_DOWNLOAD = 1 << 18 };

struct writer {
    struct hn_context *ctx;
    const struct hn_report *report;
    const struct hn_results *results;
    FILE *html;
    struct hn_overview overview; // of finished cells
    bool finished;               // any
    FILE *left_out;              // a list item for each figure that cannot be drawn, into
    char *left_out_items;        // this text
    size_t left_out_size;
    char *picture;                 // HTML of the front; NULL = none
    int measures;                  // of hardness, by which it and `fronts` are drawn
    int of_entries;                // figures drawn of identifiers that have none of their own
    const struct hn_figure *shown; // what the page opens with; NULL = none
    struct hn_failed_figures failed;
    char caption[HN_CAPTION_SIZE]; // of the figure drawn last
};

// True if there are cells of samplers, not only trainings.
static bool has_cells(const struct writer *w) {
    return hn_table_row_with(&w->results->runs, "task", "") >= 0;
}

static bool is_reproduced(const struct writer *w) {
    return hn_results_table(w->results, "claims") || hn_results_table(w->results, "claim_ids");
}

void hn_html_begin(FILE *html, const char *title, const char *when) {
    hn_html(html,
            "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
            "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
            "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
            "<link rel=icon href=\"data:,\">\n<title>%s - hardneg report</title>\n<style>\n",
            title);
    fputs(hn_report_css, html);
    hn_html(html,
            "</style>\n</head>\n<body>\n<a class=skip href=\"#main\">Skip to the content</a>\n"
            "<header>\n<h1>%s</h1>\n<p class=lead>Measured by <b>hardneg</b>%s%s.</p>\n",
            title, *when ? ", run " : "", when);
}

void hn_html_end(FILE *html) {
    fprintf(html,
            "</main>\n<footer>Written by hardneg; this page needs no network.</footer>\n"
            "<script>\n%s</script>\n</body>\n</html>\n",
            hn_report_js);
}

// True if the page opens with the front of samplers.
static bool is_of_samplers(const struct writer *w) {
    return w->finished && !is_reproduced(w) && !hn_html_is_price(w->results) &&
           !hn_html_is_training(w->results) && hn_has_samplers(&w->overview);
}

// True for results of a job of several snapshots.
static bool has_ranks(const struct writer *w) {
    return w->finished && is_of_samplers(w) && hn_html_has_ranks(&w->overview);
}

// The list of contents, below the answer.
static void put_contents(const struct writer *w) {
    bool reproduced = is_reproduced(w), price = hn_html_is_price(w->results);
    const struct {
        bool shown;
        const char *id, *title;
    } links[] = {{reproduced, "claims", "Claims"},
                 {reproduced, "figures", "Figures"},
                 {price, "settings", "Settings"},
                 {price && hn_html_has_attrition(w->results), "attrition", "What the filters take"},
                 {has_cells(w), "samplers", "Samplers"},
                 {has_ranks(w), "over", "Ranks"},
                 {w->report->outcome, "outcome", "Outcomes"},
                 {w->finished && !price && hn_html_is_training(w->results), "training", "Training"},
                 {!reproduced && !price, "figures", "Figures"},
                 {!price, "run", "What was run"},
                 {true, "provenance", "Provenance"},
                 {true, "again", "How to do it again"}};
    fputs("<nav aria-label=Contents><ul>\n", w->html);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].shown)
            hn_html(w->html, "<li><a href=\"#%s\">%s</a></li>\n", links[i].id, links[i].title);
    fputs("</ul></nav>\n", w->html);
}

// A file in the scratch folder, with a zero behind it; *text is NULL if it is not there, which has
// *size 0, or too large.
static enum hn_code read_file(const struct writer *w, const char *id, const char *end, int64_t max,
                              char **text, int64_t *size) {
    const char *path = hn_format(w->ctx, "%s/%s.%s", w->report->scratch, id, end), *why;
    *text = NULL;
    *size = 0;
    if (!path || access(path, F_OK) != 0)
        return path ? HN_OK : w->ctx->code;
    FILE *f = hn_file_open(path, size, &why);
    if (!f)
        return hn_fail(w->ctx, HN_IO, "%s cannot be read: %s", path, why);
    if (*size <= max)
        *text = hn_zalloc(w->ctx, *size + 1, 1);
    bool whole = !*text || fread(*text, 1, (size_t)*size, f) == (size_t)*size;
    fclose(f);
    return !whole                 ? hn_fail(w->ctx, HN_IO, "%s cannot be read", path)
           : *text || *size > max ? HN_OK
                                  : w->ctx->code;
}

// A link that saves a file of the scratch folder; one too large or not there is only named.
static enum hn_code put_download(const struct writer *w, const char *id, const char *end,
                                 const char *type, const char *title) {
    int64_t size;
    char *text;
    if (read_file(w, id, end, MAX_DOWNLOAD, &text, &size))
        return w->ctx->code;
    if (!text) {
        if (size > 0)
            fprintf(w->html,
                    "<span>%s: %.1f MB, too large for the page; <code>hardneg plot</code> writes "
                    "it</span>\n",
                    title, 1e-6 * (double)size);
        else
            fprintf(w->html, "<span>%s: gnuplot failed on it</span>\n", title);
        return HN_OK;
    }
    int64_t length = BASE64_ENCODE_RAW_LENGTH(size);
    char *coded = hn_alloc(w->ctx, length, 1);
    if (!coded)
        return w->ctx->code;
    base64_encode_raw(coded, (size_t)size, (const uint8_t *)text);
    fprintf(w->html, "<a download=\"%s.%s\" href=\"data:%s;base64,%.*s\">%s</a>\n", id, end, type,
            (int)length, coded, title);
    return HN_OK;
}

// "Claims: 5 hold, 1 fails" beside a figure that has any.
static void put_verdicts(const struct writer *w, const char *id) {
    const struct hn_table *t = hn_results_table(w->results, "claims");
    const char *joint = "<p><a href=\"#claims\">Claims</a>: ";
    for (int v = 0; t && v < HN_HTML_VERDICTS; v++) {
        int64_t n = hn_html_count(t, "verdict", hn_html_verdicts[v], id);
        if (n == 0)
            continue;
        fprintf(w->html, "%s%" PRId64 " <span class=\"verdict %s\">%s</span>", joint, n,
                v < 3 ? hn_html_verdicts[v] : "soft", hn_html_verdict(v, n));
        joint = ", ";
    }
    fputs(*joint == ',' ? "</p>\n" : "", w->html);
}

// An identifier without a figure of its own.
struct entry {
    const char *id, *title, *source; // of the results: any texts
};

static void put_caption(const struct writer *w, const struct hn_figure *f, const struct entry *e) {
    FILE *html = w->html;
    hn_html(html, "<figcaption><h3>%s: %s%s", f->id, e ? e->title : "", e ? ", " : "");
    fputs(f->title, html);
    hn_html(html, "</h3>\n<p>%s</p>\n", w->caption);
    put_verdicts(w, e ? e->id : f->id);
    const char *source = e ? e->source : f->source;
    bool known = *source && strcmp(source, "none") != 0;
    hn_html(html, known ? "<p class=soft>After %s. " : "<p class=soft>", source);
}

// The picture that was drawn; measure: of hardness, -1: it has none.
static enum hn_code put_plot(const struct writer *w, const struct hn_figure *f, int measure) {
    FILE *html = w->html;
    int64_t size;
    char prefix[64], *svg;
    enum hn_code code = read_file(w, f->id, "svg", MAX_SVG, &svg, &size);
    if (!svg && code == HN_OK)
        code = hn_fail(w->ctx, HN_IO, "%s/%s.svg cannot be read", w->report->scratch, f->id);
    hn_print(html, hn_html_text, "<div class=\"plot%s\" role=region tabindex=0 aria-label=\"%s\"",
             measure >= 0 ? " by" : "", f->id);
    if (measure >= 0)
        fprintf(html, " data-measure=%d", measure);
    snprintf(prefix, sizeof prefix, measure > 0 ? "%s-%d" : "%s", f->id, measure);
    fputs(">", html);
    if (svg)
        hn_html_svg(html, svg, prefix, f->title);
    fputs("</div>\n", html);
    return code;
}

// True for a figure that the page draws by each measure of hardness, of which one is chosen.
static bool is_by_measure(const struct writer *w, const struct hn_figure *f) {
    return w->measures > 1 && (strcmp(f->id, "pareto") == 0 || strcmp(f->id, "fronts") == 0);
}

// The settings that a figure draws: the first one shows what the answer is about, which is all.
static const char *named(const struct writer *w, const struct hn_figure *f) {
    return f == w->shown ? NULL : w->report->settings;
}

// The picture by each measure of hardness that has one. Files of the last are left.
static enum hn_code put_by_measure(const struct writer *w, const struct hn_figure *f) {
    struct hn_notes notes = w->ctx->notes;
    enum hn_code code = HN_OK;
    w->ctx->notes.to = NULL; // said of the figure as a whole
    for (int m = 0; m < w->measures && !code; m++) {
        const struct hn_picture as = {.term = "svg", .measure = 1 + m, .settings = named(w, f)};
        code = hn_figure_draw(w->ctx, f, w->results, w->report->scratch, as);
        if (code == HN_OK)
            code = put_plot(w, f, m);
        if (code == HN_NOT_APPLICABLE || code == HN_DATA || code == HN_GNUPLOT)
            code = HN_OK;
    }
    w->ctx->notes = notes;
    return code;
}

static enum hn_code put_figure(const struct writer *w, const struct hn_figure *f,
                               const struct entry *e, const char *by_measure) {
    FILE *html = w->html;
    hn_html(html, "<figure id=\"%s\">\n", f->id);
    fputs(by_measure, html); // HTML already
    bool front = f == w->shown && w->measures > 0;
    enum hn_code code = *by_measure ? HN_OK : put_plot(w, f, -1);
    if (front)
        fputs("<details><summary>How to read it</summary>\n", html);
    put_caption(w, f, e);
    if (*by_measure && !front)
        fputs("The picture has the measure of hardness chosen above, numbers and PDF have all. ",
              html);
    fputs("</p>\n<p class=downloads>", html);
    if (!code)
        code = put_download(w, f->id, "tsv", "text/tab-separated-values;charset=utf-8",
                            "The numbers (TSV)");
    if (!code)
        code = put_download(w, f->id, "pdf", "application/pdf", "PDF");
    fputs(front ? "</p></figcaption></details>\n</figure>\n" : "</p></figcaption>\n</figure>\n",
          html);
    return code;
}

// Draws a figure from results of its identifier where there are any; `must`: from no others.
static enum hn_code draw(struct writer *w, const struct hn_figure *f, const char *id, bool must) {
    struct hn_results own = {0};
    struct hn_context *ctx = w->ctx;
    char *path = w->report->ids ? hn_format(ctx, "%s/%s.h5", w->report->ids, id) : NULL;
    if (w->report->ids && !path)
        return ctx->code;
    bool there = path && access(path, R_OK) == 0;
    enum hn_code code = there  ? hn_results_read(ctx, path, &own)
                        : must ? hn_fail(ctx, HN_NOT_APPLICABLE, "there are no results of %s", id)
                               : HN_OK;
    const struct hn_results *from = there ? &own : w->results;
    if (code == HN_OK)
        code = hn_figure_draw(
            ctx, f, from, w->report->scratch,
            (struct hn_picture){.term = "svg", .caption = w->caption, .settings = named(w, f)});
    const struct hn_picture print = {
        .term = "pdf", .medium = hn_medium(w->report->medium), .settings = named(w, f)};
    struct hn_notes notes = ctx->notes;
    ctx->notes.to = NULL; // the same again, to be saved; the page does without if that fails
    if (code == HN_OK && hn_figure_draw(ctx, f, from, w->report->scratch, print))
        code = ctx->code == HN_GNUPLOT ? HN_OK : ctx->code;
    ctx->notes = notes;
    hn_results_free(ctx, &own);
    return code;
}

// One figure, or why there is none; fails only where the page cannot go on.
static enum hn_code try_figure(struct writer *w, const struct hn_figure *f, const struct entry *e) {
    enum hn_code code = HN_OK;
    char *by_measure = NULL;
    if (is_by_measure(w, f)) {
        size_t size;
        FILE *page = w->html;
        w->html = open_memstream(&by_measure, &size);
        code = w->html ? put_by_measure(w, f)
                       : hn_fail(w->ctx, HN_MEMORY, "no memory for figure %s", f->id);
        if (w->html && fclose(w->html) != 0 && !code)
            code = hn_fail(w->ctx, HN_MEMORY, "no memory for figure %s", f->id);
        w->html = page;
    }
    code = code ? code : draw(w, f, e ? e->id : f->id, e != NULL);
    if (code == HN_OK)
        code = put_figure(w, f, e, by_measure ? by_measure : "");
    free(by_measure);
    if (code == HN_OK) {
        w->of_entries += e != NULL;
        return HN_OK;
    }
    if (code != HN_NOT_APPLICABLE && code != HN_DATA &&
        !hn_figure_failed(w->ctx, code, f, &w->failed))
        return code;
    if (!e || code != HN_NOT_APPLICABLE)
        hn_html(w->left_out, "<li><b>%s</b>: %s</li>\n", f->id, w->ctx->message);
    return HN_OK;
}

// Accuracies, and curves where there are any, of every identifier of trainings.
static enum hn_code put_trainings(struct writer *w) {
    const struct hn_table *ids = hn_results_table(w->results, "claim_ids");
    struct hn_figure figure;
    char name[HN_FIGURE_NAME];
    for (int64_t row = 0; w->report->ids && ids && row < ids->rows; row++) {
        const struct entry e = {hn_table_text(ids, row, "id"), hn_table_text(ids, row, "title"),
                                hn_table_text(ids, row, "source")};
        bool training = strcmp(hn_table_text(ids, row, "kind"), "training") == 0;
        if (!training || hn_figure_find(e.id))
            continue;
        for (int i = 0; hn_figure_of_training(i, e.id, name, &figure); i++)
            if (try_figure(w, &figure, &e))
                return w->ctx->code;
    }
    return HN_OK;
}

// True for tested figures alone of reproduced papers: cells of others would give curves of a point
// or two.
static bool is_wanted(const struct writer *w, const struct hn_figure *f) {
    const struct hn_table *ids = hn_results_table(w->results, "claim_ids");
    if (f == &hn_accuracy)
        return hn_html_is_training(w->results) && w->of_entries == 0;
    return !ids || hn_html_is_tested(ids, f->id);
}

static enum hn_code put_figures(struct writer *w) {
    hn_html_fold(w->html, "figures", "Figures", true);
    enum hn_code code = put_trainings(w);
    for (const struct hn_figure *const *f = hn_figures; *f && !code; f++)
        if (*f != w->shown && is_wanted(w, *f))
            code = try_figure(w, *f, NULL);
    if (code)
        return code;
    if (fflush(w->left_out) != 0)
        return hn_fail(w->ctx, HN_MEMORY, "no memory for the list of figures");
    if (*w->left_out_items)
        fprintf(w->html,
                "<details class=without><summary>Figures that these results do not allow, and "
                "why</summary>\n"
                "<ul>\n%s</ul></details>\n",
                w->left_out_items);
    fputs("</details>\n", w->html);
    return HN_OK;
}

// The front by each measure of hardness.
static enum hn_code draw_front(struct writer *w) {
    FILE *page = w->html;
    size_t size;
    enum hn_code code = HN_OK;
    w->shown = hn_figure_find("pareto");
    w->html = open_memstream(&w->picture, &size);
    if (!w->html) {
        w->html = page;
        return hn_fail(w->ctx, HN_MEMORY, "no memory for the front");
    }
    while (hn_hardness_measure(w->results, w->measures))
        w->measures++;
    code = try_figure(w, w->shown, NULL);
    if (fclose(w->html) != 0 && !code)
        code = hn_fail(w->ctx, HN_MEMORY, "no memory for the front");
    w->html = page;
    return code;
}

// Writes the opening sentences for the kind of results.
static enum hn_code put_answer(struct writer *w) {
    enum hn_code code = HN_OK;
    fputs("<section aria-label=\"The answer\" class=answer>\n", w->html);
    if (is_reproduced(w))
        hn_html_claims_answer(w->html, w->results);
    else if (hn_html_is_price(w->results))
        hn_html_price_answer(w->html, w->results);
    else if (!w->finished)
        fputs("<p>No run is finished.</p>\n", w->html);
    else if (hn_html_is_training(w->results))
        code = hn_html_training_answer(w->html, w->ctx, w->results);
    else
        hn_html_answer(w->html, &w->overview, w->report->margin, w->picture ? w->picture : "");
    fputs("</section>\n", w->html);
    return code;
}

// The figure that shows the answer.
static enum hn_code put_first_figure(struct writer *w) {
    w->shown = hn_html_is_price(w->results)      ? hn_figure_find("price")
               : hn_html_is_training(w->results) ? &hn_accuracy
                                                 : NULL;
    return w->shown ? try_figure(w, w->shown, NULL) : HN_OK;
}

static enum hn_code put_samplers(struct writer *w) {
    hn_html_fold(w->html, "samplers", "Samplers", !is_reproduced(w));
    if (w->finished && hn_html_samplers(w->html, w->ctx, &w->overview, true))
        return w->ctx->code;
    if (w->finished)
        hn_html_attrition(w->html, &w->overview);
    fputs("</details>\n", w->html);
    if (has_ranks(w))
        return hn_html_ranks(w->html, w->ctx, &w->overview);
    return HN_OK;
}

static enum hn_code put_outcome(struct writer *w) {
    const struct hn_report *report = w->report;
    struct hn_outcome outcome;
    if (!report->outcome)
        return HN_OK;
    if (!w->finished)
        return hn_fail(w->ctx, HN_DATA, "%s: the results have no finished cell", report->outcome);
    return hn_outcome_read(w->ctx, report->outcome, report->outcome_text, &w->overview, &outcome)
               ? w->ctx->code
               : hn_html_outcome(w->html, w->ctx, &w->overview, &outcome);
}

// The answer, its table, then figures; of reproduced papers figures come before the table.
static enum hn_code put_parts(struct writer *w) {
    bool reproduced = is_reproduced(w), price = hn_html_is_price(w->results);
    const char *title = hn_results_get(w->results, "title");
    bool samplers = is_of_samplers(w);
    hn_html_begin(w->html, *title ? title : w->report->name, hn_results_get(w->results, "created"));
    fputs("</header>\n<main id=main>\n", w->html);
    if (hn_html_programs(w->html, w->ctx, &w->results, 1) || (samplers && draw_front(w)) ||
        put_answer(w))
        return w->ctx->code;
    put_contents(w);
    if ((w->finished || price) && !reproduced && !samplers && put_first_figure(w))
        return w->ctx->code;
    if (price) {
        hn_html_price(w->html, w->results);
        return HN_OK;
    }
    hn_html_claims(w->html, w->report);
    if (reproduced && put_figures(w))
        return w->ctx->code;
    if ((has_cells(w) && put_samplers(w)) || put_outcome(w) ||
        hn_html_training(w->html, w->ctx, w->results))
        return w->ctx->code;
    return reproduced ? HN_OK : put_figures(w);
}

static enum hn_code write_page(struct writer *w) {
    w->finished = hn_html_count(&w->results->runs, "status", "ok", NULL) > 0;
    if (w->finished && hn_overview_make(w->ctx, w->results, &w->overview))
        return w->ctx->code;
    w->left_out = open_memstream(&w->left_out_items, &w->left_out_size);
    if (!w->left_out)
        return hn_fail(w->ctx, HN_MEMORY, "no memory for the list of figures");
    enum hn_code code = put_parts(w);
    (void)fclose(w->left_out);
    free(w->left_out_items);
    free(w->picture);
    if (code)
        return code;
    hn_html_run(w->html, w->results);
    hn_html_end(w->html);
    return hn_figures_end(w->ctx, &w->failed);
}

enum hn_code hn_report_write(struct hn_context *ctx, const struct hn_report *report, FILE *html) {
    HN_SCOPE(ctx);
    struct writer *w = hn_alloc(ctx, 1, sizeof *w);
    if (!w)
        return ctx->code;
    *w = (struct writer){.ctx = ctx, .report = report, .results = report->results, .html = html};
    return write_page(w);
}
