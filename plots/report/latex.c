// SPDX-License-Identifier: GPL-3.0-or-later
// A folder for a paper: figures, tables, a paragraph on what was run, and a main.tex.
#include "plots/report/latex.h"
#include "core/files.h"
#include "core/text.h"
#include "plots/page/figure.h"
#include "plots/page/page.h"
#include "plots/page/render.h"
#include "results/analysis/groups.h"
#include "results/analysis/overview.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/trained_tables.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FIGURES = 64 };

struct drawn {
    const struct hn_figure *figure;
    bool wide; // takes more than a column
    char caption[HN_CAPTION_SIZE];
};

struct paper {
    struct hn_context *ctx;
    const struct hn_latex_paper *what;
    const struct hn_medium *medium;
    char *figures; // folder
    FILE *tex;     // results.tex
    struct hn_failed_figures failed;
    struct drawn drawn[MAX_FIGURES];
    int n_drawn;
};

static enum hn_code draw_figure(struct paper *p, const struct hn_figure *f) {
    struct drawn *drawn = &p->drawn[p->n_drawn];
    struct hn_picture as = {p->what->term,
                            NULL,
                            p->medium,
                            0,
                            &drawn->wide,
                            drawn->caption,
                            .settings = p->what->settings,
                            .step = p->what->step};
    enum hn_code code = p->n_drawn == MAX_FIGURES
                            ? HN_NOT_APPLICABLE
                            : hn_figure_draw(p->ctx, f, p->what->results, p->figures, as);
    if (code == HN_OK) {
        drawn->figure = f;
        p->n_drawn++;
    }
    return code == HN_NOT_APPLICABLE || code == HN_DATA ||
                   hn_figure_failed(p->ctx, code, f, &p->failed)
               ? HN_OK
               : code;
}

static void put_figure(const struct paper *p, const struct drawn *d) {
    const struct hn_figure *f = d->figure;
    fprintf(p->tex, "\\begin{figure%s}\n\\centering\n", d->wide ? "*" : "");
    if (strcmp(p->what->term, "cairolatex") == 0)
        fprintf(p->tex, "{\\footnotesize\\input{figures/%s}}\n", f->id);
    else
        fprintf(p->tex, "\\includegraphics{figures/%s.pdf}\n", f->id);
    hn_print(p->tex, hn_tex_text, "\\caption{%c%s. %s", toupper((unsigned char)*f->title),
             f->title + 1, d->caption);
    if (strcmp(f->source, "none") != 0)
        hn_print(p->tex, hn_tex_text, " After %s.", f->source);
    fprintf(p->tex, "}\n\\label{fig:%s}\n", f->id);
    fprintf(p->tex, "\\end{figure%s}\n\n", d->wide ? "*" : "");
}

static enum hn_code put_table(struct paper *p) {
    enum { TELLS = 3 }; // seeds
    bool trained = hn_results_table(p->what->results, "training") != NULL;
    double seed[TELLS];
    int seeds = hn_distinct(&p->what->results->runs, "seed", seed, TELLS);
    // Many columns or rows: set smaller, so that the table fits the page.
    fputs("\\begin{table*}\n\\centering\\scriptsize\\setlength\\tabcolsep{3pt}\n"
          "\\setbox0\\hbox{%\n",
          p->tex);
    enum hn_code code = (trained ? hn_trained_print : hn_settings_print)(
        p->ctx, p->what->results, &hn_records_as_latex, p->tex);
    fputs("}%\n\\ifdim\\wd0>\\linewidth\\setbox0\\hbox{\\resizebox{\\linewidth}{!}{\\box0}}\\fi\n"
          "\\ifdim\\dimexpr\\ht0+\\dp0>.85\\textheight\n"
          "\\setbox0\\hbox{\\resizebox{!}{.85\\textheight}{\\box0}}\\fi\n\\usebox0\n",
          p->tex);
    fprintf(p->tex, "\\caption{Last %s: ", trained ? "evaluation" : "step");
    if (seeds >= TELLS)
        fputs("means over seeds with halves of 95\\,\\% intervals. Rows that share a letter do not "
              "differ significantly (95\\,\\% intervals of differences, paired by seed, for all "
              "pairs together).",
              p->tex);
    else
        fprintf(p->tex,
                "means over %s%s. From three seeds on, letters mark rows that do not differ.",
                hn_counted(seeds, "seed").text,
                trained ? "" : ", with halves of 95\\,\\% intervals over batches where known");
    fputs("}\n\\label{tab:settings}\n\\end{table*}\n\n", p->tex);
    return code;
}

// Writes what all cells share, and refers to the job for the rest.
static enum hn_code put_words(struct paper *p) {
    HN_SCOPE(p->ctx);
    struct hn_overview o;
    if (hn_overview_make(p->ctx, p->what->results, &o))
        return p->ctx->code;
    const struct hn_phrase common = hn_overview_common(&o);
    int64_t n = 0;
    for (int64_t s = 0; s < o.settings; s++)
        n += o.last[s] && o.seeds[s] > 0;
    hn_print(p->tex, hn_tex_text, "%s %s compared%s%s%s: Table~\\ref{tab:settings}",
             hn_counted(n, "setting").text, n == 1 ? "was" : "were", *common.text ? " (" : "",
             common.text, *common.text ? ")" : "");
    const char *joint = p->n_drawn > 1 ? ", Figures~" : ", Figure~";
    for (int wide = 0; wide < 2; wide++)
        for (int i = 0; i < p->n_drawn; i++)
            if (p->drawn[i].wide == (wide == 1)) {
                fprintf(p->tex, "%s\\ref{fig:%s}", joint, p->drawn[i].figure->id);
                joint = ", ";
            }
    fputs(".\n\n", p->tex);
    return HN_OK;
}

static enum hn_code put_results(struct paper *p) {
    fputs("% Written by `hardneg paper`, which replaces it: \\input it, and change main.tex.\n"
          "\\graphicspath{{figures/}}\n\n",
          p->tex);
    if (put_table(p))
        return p->ctx->code;
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        if (draw_figure(p, *f))
            return p->ctx->code;
    for (int wide = 0; wide < 2; wide++) // else those of a column would wait for the others' pages
        for (int i = 0; i < p->n_drawn; i++)
            if (p->drawn[i].wide == (wide == 1))
                put_figure(p, &p->drawn[i]);
    return put_words(p);
}

static void put_main(const struct paper *p, FILE *tex) {
    const char *title = hn_results_get(p->what->results, "title");
    bool two = p->medium->text > p->medium->column;
    hn_print(tex, hn_tex_text,
             "%% A page like that of the style: put its own \\documentclass and packages here.\n"
             "\\documentclass[10pt%s]{article}\n"
             "\\usepackage[%s,textwidth=%gin,textheight=9in,columnsep=%gin]{geometry}\n"
             "\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
             "\\usepackage{mathptmx,textcomp,graphicx,color,booktabs}\n"
             "\\title{%s}\n\\author{}\n\\date{}\n\n\\begin{document}\n\\maketitle\n\n"
             "\\input{results}\n\n\\end{document}\n",
             two ? ",twocolumn" : "",
             strcmp(hn_media[p->what->medium], "acl") == 0 ? "a4paper" : "letterpaper",
             p->medium->text, two ? p->medium->text - 2 * p->medium->column : 0.25,
             *title ? title : "Samplers of batches and negatives, compared");
}

// Writes main.tex unless it exists.
static enum hn_code write_main(const struct paper *p) {
    char *path = hn_format(p->ctx, "%s/main.tex", p->what->folder);
    struct hn_new_file file;
    if (!path)
        return p->ctx->code;
    if (access(path, F_OK) == 0) {
        hn_note(p->ctx, "%s is there and stays as it is", path);
        return HN_OK;
    }
    if (hn_file_begin(p->ctx, path, &file))
        return p->ctx->code;
    put_main(p, file.out);
    return hn_file_commit(p->ctx, &file);
}

static enum hn_code write_results(struct paper *p) {
    char *path = hn_format(p->ctx, "%s/results.tex", p->what->folder);
    struct hn_new_file file;
    if (!path || hn_file_begin(p->ctx, path, &file))
        return p->ctx->code;
    p->tex = file.out;
    return hn_file_end(p->ctx, &file, put_results(p));
}

enum hn_code hn_latex_paper(struct hn_context *ctx, const struct hn_latex_paper *what) {
    HN_SCOPE(ctx);
    struct paper *p = hn_zalloc(ctx, 1, sizeof *p);
    if (!p)
        return ctx->code;
    *p = (struct paper){.ctx = ctx, .what = what, .medium = hn_medium(what->medium)};
    p->figures = hn_format(ctx, "%s/figures", what->folder);
    if (!p->figures)
        return ctx->code;
    struct hn_outputs all;
    hn_outputs_begin(ctx, &all);
    enum hn_code code = write_results(p);
    code = hn_outputs_end(ctx, &all, code ? code : write_main(p));
    return code ? code : hn_figures_end(ctx, &p->failed);
}
