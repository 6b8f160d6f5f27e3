// The page as a whole: head, what was run, samplers, claims, figures, provenance.
#include "plots/report/report.h"
#include "plots/page/curves.h"

#include <inttypes.h>
#include <math.h>
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
        ".byte 0\n"
        ".previous\n");

enum { MOST_LISTED = 32, MOST_SVG = 1 << 26, MOST_DOWNLOAD = 1 << 18 };

struct writer { // it owns what is allocated for the page
    struct hn_context *ctx;
    const struct hn_report *report;
    const struct hn_results *results;
    FILE *html;
    struct hn_overview overview;   // of finished cells
    bool finished;                 // any
    FILE *left_out;                // a list item for each figure that cannot be drawn
    int of_entries;                // figures drawn of identifiers that have none of their own
    const struct hn_figure *shown; // what the page opens with; NULL = none
    struct hn_failed_figures failed;
    char caption[HN_CAPTION_SIZE]; // of the figure drawn last
};

static bool is_training(const struct writer *w) {
    return hn_results_table(w->results, "training") != NULL;
}

// Different texts or numbers of a column, in the order of the file.
struct distinct {
    char text[MOST_LISTED][HN_TITLE_SIZE];
    int n;
    bool more;
};

static void cell_text(const struct hn_table *t, int64_t row, const char *column, char *text,
                      size_t size) {
    double number = hn_table_real(t, row, column);
    if (isnan(number))
        snprintf(text, size, "%s", hn_table_text(t, row, column));
    else
        snprintf(text, size, "%.9g", number);
}

static void list_distinct(const struct hn_table *t, const char *column, const char *of_dataset,
                          struct distinct *d) {
    *d = (struct distinct){.n = 0};
    for (int64_t row = 0; row < t->rows; row++) {
        char text[HN_TITLE_SIZE];
        bool again = of_dataset && strcmp(hn_table_text(t, row, "dataset"), of_dataset) != 0;
        cell_text(t, row, column, text, sizeof text);
        for (int i = 0; i < d->n && !again; i++)
            again = strcmp(d->text[i], text) == 0;
        if (again || !*text)
            continue;
        d->more |= d->n == MOST_LISTED;
        if (d->n < MOST_LISTED)
            snprintf(d->text[d->n++], sizeof d->text[0], "%s", text);
    }
}

static void put_list(FILE *html, const struct distinct *d) {
    for (int i = 0; i < d->n; i++)
        hn_html(html, i ? ", %s" : "%s", d->text[i]);
    fputs(d->more ? " …" : "", html);
}

static void put_row(FILE *html, const char *name, const char *value) {
    if (*value)
        hn_html(html, "<tr><th scope=row>%s</th><td class=wrap>%s</td></tr>\n", name, value);
}

static void put_link(const struct writer *w, const char *id, const char *title) {
    hn_html(w->html, "<li><a href=\"#%s\">%s</a></li>\n", id, title);
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
            "<header>\n<h1>%s</h1>\n<p class=lead>Mini-batch and negative samplers compared by "
            "<b>hardneg</b>%s%s.</p>\n<nav aria-label=Contents><ul>\n",
            title, *when ? ", run " : "", when);
}

void hn_html_end(FILE *html) {
    fprintf(html,
            "</main>\n<footer>Written by hardneg; this page needs no network.</footer>\n"
            "<script>\n%s</script>\n</body>\n</html>\n",
            hn_report_js);
}

static void put_head(const struct writer *w) {
    const char *title = hn_results_get(w->results, "title");
    hn_html_begin(w->html, *title ? title : w->report->name, hn_results_get(w->results, "created"));
    put_link(w, "samplers", "Samplers");
    if (is_training(w))
        put_link(w, "training", "Training");
    if (hn_results_table(w->results, "claims") || hn_results_table(w->results, "claim_ids"))
        put_link(w, "claims", "Claims");
    put_link(w, "figures", "Figures");
    put_link(w, "run", "What was run");
    put_link(w, "provenance", "Provenance");
    put_link(w, "again", "How to do it again");
    fputs("</ul></nav>\n</header>\n<main id=main>\n", w->html);
}

// A section that folds; it ends with </details>.
static void put_fold(const struct writer *w, const char *id, const char *title, bool open) {
    hn_html(w->html,
            open ? "<details class=section id=\"%s\" open><summary><h2>%s</h2></summary>\n"
                 : "<details class=section id=\"%s\"><summary><h2>%s</h2></summary>\n",
            id, title);
}

static void put_datasets(const struct writer *w) {
    struct distinct names, steps, sums;
    FILE *html = w->html;
    const struct hn_table *runs = &w->results->runs,
                          *sized = hn_results_table(w->results, "datasets");
    list_distinct(runs, "dataset", NULL, &names);
    fprintf(html,
            "<div class=scroll><table><thead><tr><th scope=col>%s</th>%s<th "
            "scope=col>Steps</th><th scope=col>SHA-256</th></tr></thead>\n<tbody>\n",
            is_training(w) ? "Data" : "Snapshots", sized ? "<th scope=col class=n>Items</th>" : "");
    for (int i = 0; i < names.n; i++) {
        list_distinct(runs, "step", names.text[i], &steps);
        list_distinct(runs, "dataset_sha256", names.text[i], &sums);
        hn_html(html, "<tr><th scope=row class=wrap>%s</th>", names.text[i]);
        double items =
            sized
                ? hn_table_real(sized, hn_table_row_with(sized, "dataset", names.text[i]), "items")
                : NAN;
        if (sized)
            fprintf(html, isnan(items) ? "<td class=n>–</td>" : "<td class=n>%.0f</td>", items);
        fputs("<td class=wrap>", html);
        put_list(html, &steps);
        sums.text[0][sums.n > 0 ? 16 : 0] = '\0';
        hn_html(html, "</td><td><code>%s</code></td></tr>\n", sums.text[0]);
    }
    fputs("</tbody></table></div>\n", html);
}

static void put_settings(const struct writer *w) {
    static const char *const settings[][2] = {{"sampler", "Samplers"},
                                              {"batch_size", "Batch size"},
                                              {"batches", "Batches per cell"},
                                              {"seed", "Seeds"},
                                              {"loss", "Losses"},
                                              {"weighting", "Weightings"},
                                              {"temperature", "Temperatures"}};
    struct distinct values;
    fputs("<div class=scroll><table><tbody>\n", w->html);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        list_distinct(&w->results->runs, settings[i][0], NULL, &values);
        if (values.n == 0)
            continue;
        fprintf(w->html, "<tr><th scope=row>%s</th><td class=wrap>", settings[i][1]);
        put_list(w->html, &values);
        fputs("</td></tr>\n", w->html);
    }
    fputs("</tbody></table></div>\n", w->html);
}

static void put_failures(const struct writer *w) {
    const struct hn_table *runs = &w->results->runs;
    int listed = 0;
    for (int64_t row = 0; row < runs->rows; row++) {
        const char *status = hn_table_text(runs, row, "status");
        if (!*status || strcmp(status, "ok") == 0)
            continue;
        if (listed++ >= MOST_LISTED)
            continue;
        if (listed == 1)
            fputs("<details><summary>Cells without numbers, and why</summary>\n<ul>\n", w->html);
        hn_html(w->html, "<li>%s", hn_table_text(runs, row, "sampler"));
        fprintf(w->html, ", step %.0f", hn_table_real(runs, row, "step"));
        hn_html(w->html, " (%s): %s</li>\n", status, hn_table_text(runs, row, "error"));
    }
    if (listed > MOST_LISTED)
        fprintf(w->html, "<li>and %d more; column <code>error</code> of /runs has them</li>\n",
                listed - MOST_LISTED);
    if (listed)
        fputs("</ul></details>\n", w->html);
}

static void put_run(const struct writer *w) {
    const struct hn_table *runs = &w->results->runs;
    put_fold(w, "run", "What was run", false);
    fprintf(w->html,
            "<p>%" PRId64 " cells: %" PRId64 " done, %" PRId64 " failed, %" PRId64
            " not applicable. A cell is one %s, with one seed.</p>\n",
            runs->rows, hn_html_count(runs, "status", "ok", NULL),
            hn_html_count(runs, "status", "failed", NULL),
            hn_html_count(runs, "status", "not_applicable", NULL),
            is_training(w) ? "training of a task with one sampler and weighting"
                           : "sampler with its options on one step of one file");
    put_datasets(w);
    put_settings(w);
    put_failures(w);
    fputs("</details>\n", w->html);
}

// A file in the scratch folder, with a zero behind it; NULL if it is not there or too large.
static char *read_file(const struct writer *w, const char *id, const char *end, int64_t most,
                       size_t *size) {
    char *path = hn_format(w->ctx, "%s/%s.%s", w->report->scratch, id, end), *text = NULL;
    FILE *f = path ? fopen(path, "r") : NULL;
    *size = 0;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        int64_t length = ftell(f);
        if (length >= 0 && length <= most && fseek(f, 0, SEEK_SET) == 0)
            text = hn_zalloc(w->ctx, length + 1, 1);
        if (text && fread(text, 1, (size_t)length, f) != (size_t)length)
            text = NULL;
        *size = (size_t)length;
    }
    if (f)
        fclose(f);
    return text;
}

// A link that saves a file of the scratch folder, unless it is too large to be part of the page.
static void put_download(const struct writer *w, const char *id, const char *end, const char *type,
                         const char *title) {
    enum { PIECE = 48 }; // a multiple of 3, so that only the last one is padded
    char coded[BASE64_ENCODE_RAW_LENGTH(PIECE)];
    size_t size, n;
    const char *text = read_file(w, id, end, MOST_DOWNLOAD, &size);
    if (!text)
        return;
    fprintf(w->html, "<a download=\"%s.%s\" href=\"data:%s;base64,", id, end, type);
    for (; size > 0; size -= n, text += n) {
        n = size < PIECE ? size : PIECE;
        base64_encode_raw(coded, n, (const uint8_t *)text);
        fwrite(coded, 1, BASE64_ENCODE_RAW_LENGTH(n), w->html);
    }
    fprintf(w->html, "\">%s</a>\n", title);
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
                v < 3 ? hn_html_verdicts[v] : "soft", hn_html_verdicts[v]);
        joint = ", ";
    }
    fputs(*joint == ',' ? "</p>\n" : "", w->html);
}

// Of an identifier without a figure of its own.
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

static enum hn_code put_figure(const struct writer *w, const struct hn_figure *f,
                               const struct entry *e) {
    FILE *html = w->html;
    size_t size;
    w->ctx->code = HN_OK;
    char *svg = read_file(w, f->id, "svg", MOST_SVG, &size);
    enum hn_code code = w->ctx->code;
    if (!svg && code == HN_OK)
        code = hn_fail(w->ctx, HN_IO, "%s/%s.svg cannot be read", w->report->scratch, f->id);
    hn_html(html, "<figure id=\"%s\">\n<div class=plot role=region tabindex=0 aria-label=\"%s\">",
            f->id, f->id);
    if (code == HN_OK)
        hn_html_svg(html, svg, f->id, f->title);
    fputs("</div>\n", html);
    put_caption(w, f, e);
    fputs("</p>\n<p class=downloads>", html);
    put_download(w, f->id, "tsv", "text/tab-separated-values;charset=utf-8", "The numbers (TSV)");
    put_download(w, f->id, "pdf", "application/pdf", "PDF");
    fputs("</p></figcaption>\n</figure>\n", html);
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
        code = hn_figure_draw(ctx, f, from, w->report->scratch,
                              (struct hn_picture){.term = "svg", .caption = w->caption});
    const struct hn_picture print = {.term = "pdf", .medium = hn_medium(w->report->medium)};
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
    enum hn_code code = draw(w, f, e ? e->id : f->id, e != NULL);
    if (code == HN_OK)
        code = put_figure(w, f, e);
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

static enum hn_code put_figures(struct writer *w) {
    put_fold(w, "figures", "Figures", true);
    enum hn_code code = put_trainings(w);
    for (const struct hn_figure *const *f = hn_figures; *f && !code; f++)
        if (*f != w->shown && (*f != &hn_accuracy || w->of_entries == 0))
            code = try_figure(w, *f, NULL);
    return code;
}

static void end_figures(const struct writer *w, const char *left_out) {
    if (*left_out)
        fprintf(w->html,
                "<details><summary>Figures that this file does not give, and why</summary>\n"
                "<ul>\n%s</ul></details>\n",
                left_out);
    fputs("</details>\n", w->html);
}

static void put_provenance(const struct writer *w) {
    const struct hn_results *r = w->results;
    put_fold(w, "provenance", "Provenance", false);
    fputs("<div class=scroll><table><tbody>\n", w->html);
    put_row(w->html, "status", hn_results_get(r, "status"));
    put_row(w->html, "created", hn_results_get(r, "created"));
    put_row(w->html, "config_sha256", hn_results_get(r, "config_sha256"));
    for (int64_t i = 0; i < r->n_env; i++)
        put_row(w->html, r->env[i].name, r->env[i].value);
    fputs("</tbody></table></div>\n</details>\n", w->html);
}

static void put_again(const struct writer *w) {
    const char *argv = hn_results_get(w->results, "argv"),
               *config = hn_results_get(w->results, "config");
    put_fold(w, "again", "How to do it again", false);
    if (*argv)
        hn_html(w->html,
                "<p>The command that left these results:</p>\n"
                "<pre tabindex=0><code>%s</code></pre>\n",
                argv);
    fputs("<p>Everything but times and memory comes out the same, bit for bit on one machine, for "
          "any number of threads. ",
          w->html);
    if (*config)
        hn_html(w->html,
                "Saved as <code>job.yaml</code>, the job below, with every default, does it again: "
                "<code>hardneg %s -c job.yaml -o again</code>; paths in it are relative to that "
                "file.</p>\n<details><summary>The job</summary>\n"
                "<pre tabindex=0><code>%s</code></pre></details>\n",
                is_training(w) ? "train" : "run", config);
    else
        fputs("</p>\n", w->html);
    fputs("</details>\n", w->html);
}

// The answer in words, the figure that shows it, the table behind it.
static enum hn_code put_samplers(struct writer *w) {
    const struct hn_figure *figure = is_training(w) ? &hn_accuracy : hn_figure_find("pareto");
    fputs("<section aria-label=\"The answer\" class=answer>\n", w->html);
    if (!w->finished)
        fputs("<p>There is no finished run.</p>\n", w->html);
    else if (hn_html_answer(w->html, w->ctx, &w->overview))
        return w->ctx->code;
    fputs("</section>\n", w->html);
    if (w->finished && !hn_results_table(w->results, "claim_ids")) {
        w->shown = figure;
        if (try_figure(w, figure, NULL))
            return w->ctx->code;
    }
    fputs("<section aria-labelledby=samplers><h2 id=samplers>Samplers</h2>\n", w->html);
    if (w->finished && hn_html_samplers(w->html, w->ctx, &w->overview))
        return w->ctx->code;
    if (w->finished)
        hn_html_attrition(w->html, &w->overview);
    fputs("</section>\n", w->html);
    return HN_OK;
}

static enum hn_code put_parts(struct writer *w) {
    put_head(w);
    if (put_samplers(w) || hn_html_training(w->html, w->ctx, w->results))
        return w->ctx->code;
    hn_html_claims(w->html, w->report);
    return put_figures(w);
}

static enum hn_code write_page(struct writer *w) {
    char *left_out = NULL;
    size_t size;
    w->finished = hn_html_count(&w->results->runs, "status", "ok", NULL) > 0;
    if (w->finished && hn_overview_make(w->ctx, w->results, &w->overview))
        return w->ctx->code;
    w->left_out = open_memstream(&left_out, &size);
    enum hn_code code = w->left_out ? put_parts(w) : HN_MEMORY;
    if ((w->left_out && fclose(w->left_out) != 0) || !left_out)
        code = hn_fail(w->ctx, HN_MEMORY, "no memory for the list of figures");
    if (!code)
        end_figures(w, left_out);
    free(left_out);
    if (code)
        return code;
    put_run(w);
    put_provenance(w);
    put_again(w);
    hn_html_end(w->html);
    return hn_figures_end(w->ctx, &w->failed);
}

enum hn_code hn_report_write(struct hn_context *ctx, const struct hn_report *report, FILE *html) {
    struct writer *w = hn_alloc(ctx, 1, sizeof *w);
    if (!w)
        return ctx->code;
    *w = (struct writer){.ctx = ctx, .report = report, .results = report->results, .html = html};
    void *outer = hn_own(ctx, w);
    enum hn_code code = write_page(w);
    hn_own(ctx, outer);
    hn_free(ctx, w);
    return code;
}
