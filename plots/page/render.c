// SPDX-License-Identifier: GPL-3.0-or-later
// Draws figures: data and script into files, then gnuplot, started without a shell. All is made in
// a scratch folder inside the output folder and renamed, so that no half-drawn figure is left.
#include "plots/page/render.h"

#include "core/files.h"
#include "core/terminal.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/distributions.h"
#include "plots/page/figure.h"
#include "plots/page/page_private.h"
#include "plots/page/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

__asm__(".section .rodata\n"
        ".global hn_theme\n"
        "hn_theme:\n"
        ".incbin \"plots/page/theme.gp\"\n"
        ".byte 0\n"
        ".previous\n");

enum { STYLE_MAX = 1 << 20, DOTS_PER_INCH = 200, SVG_PER_INCH = 96 };

// Terminals, and the endings of their files: numbers, script, and then what gnuplot draws.
enum { DRAWN = 2 };
static const struct terminal {
    const char *name, *ending[5];
} terminals[] = {{"svg", {"tsv", "gp", "svg"}},
                 {"pdf", {"tsv", "gp", "pdf"}},
                 {"png", {"tsv", "gp", "png"}},
                 {"cairolatex", {"tsv", "gp", "tex", "pdf"}},
                 {"dumb", {"tsv", "gp"}}};

static const struct terminal *find_terminal(const char *name) {
    for (size_t i = 0; i < sizeof terminals / sizeof terminals[0]; i++)
        if (strcmp(terminals[i].name, name) == 0)
            return &terminals[i];
    return NULL;
}

const char *hn_picture_ending(const char *term) {
    const struct terminal *t = find_terminal(term);
    return t ? t->ending[DRAWN] : NULL;
}

const char *const hn_media[] = {"any", "neurips", "icml", "acl", "talk", NULL};

// Column and text of neurips_2024.sty, icml2024.sty, acl.sty on A4, and a slide of beamer, 16 by 9.
const struct hn_medium *hn_medium(int of_media) {
    static const struct hn_medium media[] = {
        {5.5, 5.5, 8.5, 1}, {3.25, 6.75, 8.5, 1}, {3.03, 6.3, 9, 1}, {5.5, 5.5, 2.8, 1.25}};
    return of_media > 0 ? &media[of_media - 1] : NULL;
}

struct drawing {
    struct hn_context *ctx;
    const struct hn_figure *figure;
    const struct hn_results *results;
    const char *dir;
    const struct hn_picture *as;
    const struct terminal *terminal;
    char *scratch; // folder
    char *style;   // text, NULL = none
    struct hn_page *page;
    struct hn_figure_size size;
    char caption[HN_CAPTION_SIZE];
};

// Trainings have the columns of all metrics, and values in none.
static bool lacks_values(const struct hn_results *r, const struct hn_table *t, int column) {
    bool finished = false;
    for (int64_t row = 0; row < r->runs.rows && !finished; row++)
        finished = hn_row_is_ok(&r->runs, row);
    return t == &r->runs && finished && t->column[column].role == HN_ROLE_QUALITY &&
           !hn_any_cell_has(r, t->column[column].name);
}

static enum hn_code check_columns(const struct drawing *d) {
    const struct hn_figure *f = d->figure;
    const struct hn_table *other = f->or_table ? hn_results_table(d->results, f->or_table) : NULL;
    bool instead = other && other->rows > 0;
    const char *id = f->id, *name = instead ? f->or_table : f->table ? f->table : "runs";
    const struct hn_table *table = hn_results_table(d->results, name);
    bool trained = strcmp(name, "training") == 0;
    bool trainings = hn_results_table(d->results, "training") != NULL; // their jobs have no metrics
    const char *below =
        trained || strcmp(name, "runs") == 0 || strcmp(name, "snapshots") == 0 ? "" : "tables/";
    const char *remedy = trained       ? "`hardneg train` writes it"
                         : f->asked_by ? f->asked_by
                         : trainings   ? "`hardneg run` on the snapshots of a training measures it"
                         : *below      ? "ask for it in the job (metrics)"
                                       : "run the job again with metrics: all";
    if (!table)
        return hn_fail(d->ctx, HN_DATA, "figure %s needs /%s%s, which the results lack: %s", id,
                       below, name, remedy);
    for (const char *const *column = instead ? f->or_columns : f->columns; *column; column++) {
        int at = hn_table_find(table, *column);
        bool unmeasured = trainings && at >= 0 && lacks_values(d->results, table, at);
        if (at < 0 || unmeasured)
            return hn_fail(d->ctx, HN_DATA,
                           "figure %s needs %s %s of /%s%s, which the results lack: %s", id,
                           unmeasured ? "values of" : "column", *column, below, name, remedy);
    }
    if (d->figure->needs_histogram && d->results->kinds == 0)
        return hn_fail(d->ctx, HN_DATA, "figure %s needs /hist/counts, which the results lack: %s",
                       id, remedy);
    return HN_OK;
}

static enum hn_code read_style(struct drawing *d, const char *path) {
    const char *why;
    FILE *f = hn_file_open(path, NULL, &why);
    if (!f)
        return hn_fail(d->ctx, HN_USAGE, "style %s cannot be read: %s", path, why);
    d->style = hn_alloc(d->ctx, STYLE_MAX + 1, 1);
    size_t n = d->style ? fread(d->style, 1, STYLE_MAX, f) : 0;
    bool bad = ferror(f) || n == STYLE_MAX;
    fclose(f);
    if (!d->style)
        return d->ctx->code;
    d->style[n] = '\0';
    return bad || strlen(d->style) != n
               ? hn_fail(d->ctx, HN_USAGE, "style %s is not a file of gnuplot commands", path)
               : HN_OK;
}

static void write_terminal(const struct drawing *d, FILE *gp) {
    const char *name = d->as->term;
    double scale = d->as->medium ? d->as->medium->scale : 1;
    double w = d->size.width * scale, h = d->size.height * scale;
    if (strcmp(name, "dumb") == 0)
        fprintf(gp, "set terminal dumb size %d,%d enhanced mono\n",
                (int)hn_max(hn_terminal_width(STDOUT_FILENO, 80), 40) - 1, d->size.lines);
    else if (strcmp(name, "pdf") == 0)
        fprintf(gp,
                "set terminal pdfcairo enhanced color size %.3fin,%.3fin font 'Arial,%g' "
                "fontscale 0.75 linewidth %g pointscale %g\n",
                w, h, 8 * scale, 1.6 * scale, 0.75 * scale);
    else if (strcmp(name, "cairolatex") == 0)
        fprintf(gp,
                "set terminal cairolatex pdf input colortext size %.3fin,%.3fin font ',%g' "
                "linewidth %g pointscale %g\n",
                w, h, 8 * scale, 1.6 * scale, 0.75 * scale);
    else if (strcmp(name, "png") == 0)
        fprintf(gp,
                "set terminal pngcairo enhanced color size %.0f,%.0f font 'Arial,8' "
                "fontscale %.4f linewidth %g pointscale %g background '#FFFFFF'\n",
                w * DOTS_PER_INCH, h * DOTS_PER_INCH, scale * DOTS_PER_INCH / 96.0, 2.2 * scale,
                2 * scale);
    else
        fprintf(gp,
                "set terminal svg enhanced size %.0f,%.0f font 'Arial,%g' linewidth %g "
                "background '#FFFFFF'\n",
                w * SVG_PER_INCH, h * SVG_PER_INCH, 10.5 * scale, scale);
    const char *ending = d->terminal->ending[DRAWN];
    if (ending)
        fprintf(gp, "set output '%s.%s'\n", d->figure->id, ending);
    fprintf(gp, "hn_dumb = %d\n", !ending);
}

static void write_script(const struct drawing *d, FILE *gp) {
    const struct hn_figure *f = d->figure;
    char tsv[128];
    snprintf(tsv, sizeof tsv, "%s.tsv", f->id);
    fprintf(
        gp,
        "# %s: %s\n# %s\n# After %s.\n# `gnuplot %s.gp` in this folder draws it again.\nreset\n",
        f->id, f->title, d->caption, f->source, f->id);
    write_terminal(d, gp);
    fputs(hn_theme, gp);
    if (d->style)
        fprintf(gp, "\n# Style of the user.\n%s\n", d->style);
    fputc('\n', gp);
    hn_page_write_script(d->page, tsv, gp);
    fputs("set output\n", gp);
}

static void write_data(const struct drawing *d, FILE *tsv) {
    const struct hn_figure *f = d->figure;
    fprintf(tsv, "# %s: %s\n# %s\n# After %s.\n", f->id, f->title, d->caption, f->source);
    hn_page_write_data(d->page, tsv);
}

// One or two panels take one of two columns, but for rows with their names and insets.
static void choose_size(struct drawing *d) {
    const struct hn_medium *medium = d->as->medium;
    hn_page_size(d->page, &d->size);
    if (!medium)
        return;
    bool small = d->page->panels <= 2 && !d->page->inset && !d->page->panel[0].rows;
    bool one = d->as->columns ? d->as->columns == 1 : small;
    d->page->fit_width = (one ? medium->column : medium->text) / medium->scale;
    d->page->fit_height = medium->height / medium->scale;
    hn_page_size(d->page, &d->size);
    if (d->as->wide)
        *d->as->wide = !one && medium->text > medium->column;
}

static bool too_high(const struct drawing *d) {
    return d->size.height * d->as->medium->scale > d->as->medium->height + 0.01;
}

enum hn_code hn_page_fill(struct hn_page *page, const struct hn_figure *f,
                          const struct hn_results *r) {
    page->figure = f;
    return f->sweep           ? hn_draw_sweep(page, r, f->sweep)
           : f->training      ? hn_draw_training(page, r, f->training)
           : f->distributions ? hn_draw_distributions(page, r, f->distributions)
                              : f->page(r, page);
}

static enum hn_code fill_page(struct drawing *d, int most_rows, int most_panels) {
    hn_page_begin(d->ctx, d->page);
    const struct hn_figure *f = d->figure;
    d->page->measure = d->as->measure;
    d->page->settings = d->as->settings;
    d->page->step = d->as->step;
    d->page->most_rows = most_rows;
    d->page->most_panels = most_panels;
    d->page->all_on_terminal = d->as->all;
    d->page->latex = strcmp(d->as->term, "cairolatex") == 0;
    d->page->opaque = strcmp(d->as->term, "pdf") == 0 || strcmp(d->as->term, "png") == 0;
    enum hn_code code = hn_page_fill(d->page, f, d->results);
    if (code == HN_OK)
        choose_size(d);
    return code;
}

// A figure with more rows or panels than the medium is high draws as many as it has room for.
static enum hn_code build_page(struct drawing *d) {
    const struct hn_figure *f = d->figure;
    const struct hn_medium *medium = d->as->medium;
    int rows = 0, panels = 0;
    enum hn_code code = fill_page(d, 0, 0);
    if (code == HN_OK && medium && too_high(d))
        hn_layout_fit(d->page, &rows, &panels);
    if (rows > 0 || panels > 0)
        code = fill_page(d, rows, panels);
    if (code)
        return code;
    if (medium && too_high(d))
        hn_note(d->ctx, "figure %s is %.1f inches high; that style allows %g", f->id,
                d->size.height * medium->scale, medium->height);
    if (hn_page_place_marks(d->page))
        return d->ctx->code;
    hn_page_caption(d->page, f->caption, d->caption);
    if (d->as->caption)
        snprintf(d->as->caption, HN_CAPTION_SIZE, "%s", d->caption);
    if (strcmp(d->as->term, "dumb") == 0 && !d->as->all && d->page->panels > 1)
        hn_note(d->ctx, "figure %s: the terminal shows one of %d panels; -v shows all", f->id,
                d->page->panels);
    if (*d->page->note)
        hn_note(d->ctx, "figure %s: %s", d->figure->id, d->page->note);
    return code;
}

static char *join(struct hn_context *ctx, const char *folder, const char *id, const char *end) {
    return hn_format(ctx, "%s/%s.%s", folder, id, end);
}

// Opens <scratch>/<id>.<end> for writing, fills it with the numbers or the script.
static enum hn_code write_file(struct drawing *d, const char *end, bool script) {
    char *path = join(d->ctx, d->scratch, d->figure->id, end);
    if (!path)
        return d->ctx->code;
    FILE *f = fopen(path, "w");
    if (!f)
        return hn_fail(d->ctx, HN_IO, "%s: cannot be written: %s", path, strerror(errno));
    (script ? write_script : write_data)(d, f);
    bool bad = ferror(f) != 0;
    return fclose(f) != 0 || bad
               ? hn_fail(d->ctx, HN_IO, "%s/%s.%s: writing failed: is the disk full?", d->dir,
                         d->figure->id, end)
               : HN_OK;
}

// <id>.<end> of the scratch folder becomes one of the output folder.
static enum hn_code publish(const struct drawing *d, const char *end) {
    char *from = join(d->ctx, d->scratch, d->figure->id, end);
    char *to = from ? join(d->ctx, d->dir, d->figure->id, end) : NULL;
    return to ? hn_file_adopt(d->ctx, from, to) : d->ctx->code;
}

static enum hn_code draw_in_scratch(struct drawing *d) {
    if (write_file(d, "tsv", false) || write_file(d, "gp", true))
        return d->ctx->code;
    struct hn_pictures pictures;
    const char *const *endings = d->terminal->ending;
    if (hn_pictures_begin(d->ctx, d->scratch, d->figure->id, endings + DRAWN, &pictures))
        return d->ctx->code;
    enum hn_code code = hn_gnuplot_run(d->ctx, d->scratch, d->figure->id, d->dir);
    code = hn_pictures_end(d->ctx, &pictures, d->dir, code);
    if (code != HN_OK && code != HN_GNUPLOT)
        return code;
    struct hn_outputs all;
    hn_outputs_begin(d->ctx, &all);
    enum hn_code shown = HN_OK;
    for (int i = 0; !shown && endings[i] && (i < DRAWN || !code); i++)
        shown = publish(d, endings[i]);
    shown = hn_outputs_end(d->ctx, &all, shown);
    return shown ? shown : code;
}

// Nothing but files is replaced.
static enum hn_code check_outputs(const struct drawing *d) {
    for (const char *const *end = d->terminal->ending; *end; end++) {
        char *path = join(d->ctx, d->dir, d->figure->id, *end);
        if (!path || hn_output_check(d->ctx, path))
            return d->ctx->code;
    }
    return HN_OK;
}

static enum hn_code draw_figure(struct drawing *d, const char *style) {
    if ((style && read_style(d, style)) || build_page(d) || check_outputs(d))
        return d->ctx->code;
    char *name = hn_format(d->ctx, "%s/.drawing", d->dir);
    if (!name)
        return d->ctx->code;
    hn_temporary_sweep(d->dir,
                       ""); // of processes that were killed: drawings and files of any figure
    d->scratch = hn_temporary_folder(d->ctx, name);
    if (!d->scratch)
        return d->ctx->code;
    enum hn_code code = draw_in_scratch(d);
    hn_scratch_remove(d->ctx, d->scratch);
    return code;
}

enum hn_code hn_figure_draw(struct hn_context *ctx, const struct hn_figure *figure,
                            const struct hn_results *r, const char *dir, struct hn_picture as) {
    struct drawing d = {.ctx = ctx,
                        .figure = figure,
                        .results = r,
                        .dir = dir,
                        .as = &as,
                        .terminal = find_terminal(as.term)};
    HN_SCOPE(ctx);
    if (!d.terminal)
        return hn_fail(ctx, HN_USAGE,
                       "figures come as svg, pdf, png, cairolatex or dumb, not as %s", as.term);
    if (check_columns(&d) || !HN_ALLOC(ctx, d.page, 1))
        return ctx->code;
    return draw_figure(&d, as.style);
}

bool hn_figure_failed(const struct hn_context *ctx, enum hn_code code,
                      const struct hn_figure *figure, struct hn_failed_figures *failed) {
    if (code != HN_GNUPLOT)
        return false;
    if (failed->n++ == 0)
        snprintf(failed->first, sizeof failed->first, "%s", ctx->message);
    hn_append(failed->names, sizeof failed->names, "%s%s", *failed->names ? ", " : "", figure->id);
    return true;
}

enum hn_code hn_figures_end(struct hn_context *ctx, const struct hn_failed_figures *failed) {
    if (failed->n == 0)
        return HN_OK;
    return failed->n == 1 ? hn_fail(ctx, HN_GNUPLOT, "%s", failed->first)
                          : hn_fail(ctx, HN_GNUPLOT, "%s; %d figures are not drawn: %s",
                                    failed->first, failed->n, failed->names);
}
