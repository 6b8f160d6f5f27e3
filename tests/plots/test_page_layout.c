// SPDX-License-Identifier: GPL-3.0-or-later
// What a page decides: where an inset, words and the key stand, rows for many settings, names.
#include "plots/page/curves.h"
#include "plots/page/page_private.h"
#include "plots/page/render.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <unistd.h>

// The share of a panel's points that lie in the corner where the inset is to stand.
static int points_below(const struct hn_layout *g, const struct hn_panel *panel) {
    const struct hn_range x = hn_page_range(g->page, panel, false),
                          y = hn_page_range(g->page, panel, true);
    int n = 0;
    for (int64_t i = 0; i < panel->series[0]->n; i++) {
        double at = hn_axis_share(&panel->x, panel->series[0]->datum[i].x, x),
               up = hn_axis_share(&panel->y, panel->series[0]->datum[i].y, y);
        n += at > g->inset_left && at < g->inset_left + HN_INSET_SHARE && up > g->inset_bottom &&
             up < g->inset_bottom + HN_INSET_SHARE;
    }
    return n;
}

// An inset stands in a corner without points; if there is none, or in a narrow figure, it is a
// panel of its own, and no axis is longer than its data. Bit k of `corners`: points in that corner.
static void place_inset(struct hn_page *page, int corners) {
    struct hn_layout g;
    hn_page_begin(&ctx, page);
    struct hn_panel *outer = hn_page_panel(page, "", "x", "y"),
                    *inner = hn_page_panel(page, "enlarged", "x", "y");
    struct hn_series *s = hn_panel_series(page, outer, "", HN_LOOK_DISCS, 1);
    for (int k = 0; k < 4; k++)
        if (corners >> k & 1)
            for (int i = 0; i < 9; i++)
                hn_series_add_sized(s, k % 2 * 70 + i, k / 2 * 70 + i, 1);
    outer->x.lo = outer->y.lo = -10;
    outer->x.hi = outer->y.hi = 110;
    hn_series_add(hn_panel_series(page, inner, "", HN_LOOK_LINE, 1), 1, 1);
    page->inset = true;
    HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
    page->width = 7;
    hn_layout_make(page, &g);
    CU_ASSERT_EQUAL(g.inset, corners != 15);
    CU_ASSERT(!g.inset || points_below(&g, outer) == 0);
    page->fit_width = 3.25;
    hn_layout_make(page, &g);
    CU_ASSERT(!g.inset);
    CU_ASSERT_EQUAL(g.rows, 2);
}

static void inset_covers_nothing(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (int corners = 1; corners < 16; corners++) {
        HN_SCOPE(&ctx);
        place_inset(page, corners);
    }
    hn_free(&ctx, page);
    end();
}

// Many settings: rows whose median and ends of nine tenths are those of the counted pairs, as far
// as bins tell.
static void rows_of_many(void) {
    need_gnuplot();
    begin();
    static double cell[64][5];
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-fig4"), &r, folder, as("svg")));
    CU_ASSERT_EQUAL_FATAL(drawn_block(folder, "bs-fig4.tsv", 0, cell, 64), 1);
    double share[3] = {0}, all = 0; // below the median and both ends; of uniform batches of 64
    for (int64_t row = 0; row < FIGURES_SEEDS; row++)
        for (int64_t b = r.bins; b < r.kinds * r.bins; b++) {
            double n = (double)r.histogram[row * r.kinds * r.bins + b],
                   width = (r.bin_hi - r.bin_lo) / (double)r.bins,
                   from = r.bin_lo + width * (double)(b % r.bins);
            for (int i = 0; i < 3; i++)
                share[i] += n * fmin(1, fmax(0, (cell[0][i == 0 ? 0 : i + 1] - from) / width));
            all += n;
        }
    CU_ASSERT_DOUBLE_EQUAL(share[0] / all, 0.5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(share[1] / all, 0.05, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(share[2] / all, 0.95, 1e-6);
    hn_results_free(&ctx, &r);
    end();
}

// Of a family of files a figure draws some, and says which.
static void families(void) {
    static const struct {
        const char *id, *says;
    } figures[] = {{"bs-M", "Only the first 4 data sets of the file are drawn."},
                   {"bs-fig4", "Only the first 4 data sets of the file are drawn."},
                   {"gc-fig4", "Only the first 4 data sets of the file are drawn."},
                   {"pareto", "Only the first 4 data sets of the file are drawn."},
                   {"gc-bounds", "Only the first data set, cifar10-mini, is drawn."},
                   {"hc-mass", "Only the first data set, cifar10-mini, is drawn."},
                   {"bs-fig10", "Only the first data set, cifar10-mini, is drawn."}};
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    int64_t rows = r.runs.rows;
    for (int copy = 1; copy < 6; copy++) // as if each were of six files
        for (int64_t row = copy; row < rows; row += 6) {
            char name[32];
            snprintf(name, sizeof name, "encoder-%d.h5", copy);
            if (row >= FIGURES_SEEDS * 2)
                HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", name));
        }
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char name[64];
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(figures[i].id), &r, folder, as("svg")));
        snprintf(name, sizeof name, "%s.tsv", figures[i].id);
        char *text = slurp(folder, name);
        hn_test_entry(figures[i].id);
        CU_ASSERT(strstr(text, figures[i].says) != NULL);
        free(text);
    }
    hn_results_free(&ctx, &r);
    end();
}

// A title wider than its panel has two rows, and its row of panels the room for them.
static void titles_in_two_rows(void) {
    static const char title[] = "views-mlp batch_norm=false, temperature 0.5, batches of 100";
    struct hn_layout wide, narrow;
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    page->ctx = &ctx;
    hn_page_panel(page, title, "x", "y");
    hn_page_panel(page, "short", "x", "y");
    hn_layout_make(page, &narrow);
    CU_ASSERT_STRING_EQUAL(narrow.title[1].lower, "short");
    CU_ASSERT_STRING_EQUAL(narrow.title[1].upper, "");
    CU_ASSERT_STRING_EQUAL(narrow.title[0].upper, "views-mlp batch_norm=false, temperature 0.5,");
    CU_ASSERT_STRING_EQUAL(narrow.title[0].lower, "batches of 100");
    page->width = 14;
    hn_layout_make(page, &wide);
    CU_ASSERT_STRING_EQUAL(wide.title[0].lower, title);
    CU_ASSERT(hn_layout_box(&narrow, 1).top > hn_layout_box(&wide, 1).top + 0.1);
    hn_free(&ctx, page);
    end();
}

static void lay_out_long_key(struct hn_page *page) {
    static const char name[] = "batchsampler K=20, alpha=0.1, t=500, B=";
    struct hn_layout g;
    HN_SCOPE(&ctx);
    hn_page_begin(&ctx, page);
    struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
    hn_series_add(hn_panel_series(page, hn_page_panel(page, "", "x", "y"), "", HN_LOOK_LINE, 0), 1,
                  1);
    for (int i = 0; i < 17; i++) {
        char label[HN_LABEL_SIZE];
        snprintf(label, sizeof label, "%s%d", name, i);
        hn_series_add(hn_panel_series(page, panel, label, HN_LOOK_LINE, i), i, i);
    }
    HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
    hn_layout_make(page, &g);
    CU_ASSERT_EQUAL(g.key.entries, 17);
    CU_ASSERT(hn_layout_key_left(&g, g.key.columns - 1) + g.key.cell <= g.width + 0.01);
    for (int c = 1; c < g.key.columns; c++)
        CU_ASSERT(hn_layout_key_left(&g, c) - hn_layout_key_left(&g, c - 1) >=
                  HN_LETTER * (sizeof name + 1));
}

static void key_columns_fit(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    lay_out_long_key(page);
    hn_free(&ctx, page);
    end();
}

// Every name of a long key is drawn above the panels, in the terminal that takes letters to be
// widest.
static void long_key_is_above_panels(void) {
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        char params[64];
        snprintf(params, sizeof params, "K=20, M=%d, alpha=0.%d, t=500", row / 2 % 2 ? 100 : 200,
                 (int)(row / 4 % 8) + 1);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", "batchsampler"));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", params));
    }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-M"), &r, folder, as("svg")));
    char *svg = slurp(folder, "bs-M.svg");
    double x, y, highest = INFINITY, lowest = 0; // tic and name
    int names = 0;
    for (const char *at = svg; (at = strstr(at + 1, "<g transform=\"translate(")) != NULL;) {
        const char *text = strstr(at, "<text>"), *end = strstr(at, "</text>");
        if (!text || !end || sscanf(at, "<g transform=\"translate(%lf,%lf)", &x, &y) != 2)
            continue;
        bool named = memmem(text, (size_t)(end - text), "alpha=", 6) != NULL;
        bool number = memmem(text, (size_t)(end - text), "0.", 2) != NULL;
        names += named;
        lowest = named ? fmax(lowest, y) : lowest;
        highest = number && !named ? fmin(highest, y) : highest;
    }
    CU_ASSERT(names >= 7);
    CU_ASSERT(lowest < highest + 4);
    free(svg);
    hn_results_free(&ctx, &r);
    end();
}

// Ends tell names apart: what long ones begin with alike goes first, at the end of a word.
static void names_are_shortened(void) {
    static const char texts[][HN_LABEL_SIZE] = {
        "batchsampler K=100, alpha=0.1, t=500, B=32", "batchsampler K=100, alpha=0.1, t=500, B=64",
        "batchsampler K=100, alpha=0.5, t=1, B=32", "uniform", "mosaic lambda=0.9"};
    const struct hn_texts all = {texts[0], sizeof texts[0], 5},
                          one = {texts[0], sizeof texts[0], 1};
    char out[HN_LABEL_SIZE], other[HN_LABEL_SIZE];
    hn_text_shorten(&all, 0, 42, out, sizeof out);
    CU_ASSERT_STRING_EQUAL(out, texts[0]);
    hn_text_shorten(&all, 0, 26, out, sizeof out);
    CU_ASSERT_STRING_EQUAL(out, "...alpha=0.1, t=500, B=32");
    hn_text_shorten(&all, 3, 26, out, sizeof out);
    CU_ASSERT_STRING_EQUAL(out, "uniform");
    for (int letters = 12; letters < 45; letters++)
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < i; k++) {
                hn_text_shorten(&all, i, letters, out, sizeof out);
                hn_text_shorten(&all, k, letters, other, sizeof other);
                CU_ASSERT(hn_letters(out) <= (size_t)letters);
                CU_ASSERT(letters < 20 || strcmp(out, other) != 0);
            }
    hn_text_shorten(&one, 0, 10, out, sizeof out);
    CU_ASSERT_STRING_EQUAL(out, "...0, B=32");
}

// Panels of files with long names keep the ends of their titles, which stay within the panel.
static void long_titles_stay_in_panels(void) {
    static const char *const ends[] = {"_001_run1, step 0", "_001_run1, step 100",
                                       "_002_run2, step 0"};
    struct hn_layout g;
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    page->ctx = &ctx;
    for (int p = 0; p < 3; p++) {
        char title[HN_TITLE_SIZE];
        snprintf(title, sizeof title,
                 "contrastive_run_of_an_encoder_with_a_very_long_name_and_all_"
                 "of_its_settings_in_it_seed%s",
                 ends[p]);
        hn_page_panel(page, title, "x", "y");
    }
    hn_layout_make(page, &g);
    for (int p = 0; p < 3; p++) {
        CU_ASSERT(0.055 * (double)strlen(g.title[p].upper) < g.panel_width + g.right);
        CU_ASSERT(0.055 * (double)strlen(g.title[p].lower) < g.panel_width + g.right);
        CU_ASSERT_STRING_EQUAL(g.title[p].upper, "");
        CU_ASSERT_STRING_EQUAL(g.title[p].lower + 3, ends[p] + 1);
    }
    hn_free(&ctx, page);
    end();
}

// Of equal vertical titles that are longer than their panels one is shown; different ones all are.
static void long_vertical_titles(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (int same = 0; same < 2; same++) {
        struct hn_layout g;
        int shown = 0;
        hn_page_begin(&ctx, page);
        page->columns = 1;
        page->fit_width = 3.25, page->fit_height = 8.5;
        for (int p = 0; p < 6; p++)
            hn_page_panel(page, "title", "x",
                          same || p % 2 ? "hardest true negative (mean cosine)" : "short");
        hn_layout_make(page, &g);
        for (int p = 0; p < 6; p++)
            shown += hn_layout_shows_y_title(&g, p);
        CU_ASSERT_EQUAL(shown, same ? 1 : 6);
    }
    hn_free(&ctx, page);
    end();
}

// Labels stay in their panel, cover neither discs nor one another, and all have a position in any
// column of a paper; the caption names those without one.
static void crowd(struct hn_page *page, int n, double width) {
    HN_SCOPE(&ctx);
    hn_page_begin(&ctx, page);
    struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
    struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_DISCS, 1);
    for (int i = 0; i < n; i++) {
        char text[HN_LABEL_SIZE];
        double x = 0.01 * i * i, y = 0.1 * i;
        snprintf(text, sizeof text, "batchsampler K=100, alpha=0.%d, t=500", i);
        hn_series_add_sized(s, x, y, 0.5);
        hn_panel_mark(panel, x, y, text, NULL, "batchsampler", 1);
    }
    HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
    page->fit_width = width;
    HN_CHECK(&ctx, hn_page_place_marks(page));
    struct hn_layout g;
    hn_layout_make(page, &g);
    int shown = 0;
    for (int i = 0; i < n; i++) {
        const struct hn_word *a = &panel->mark[i];
        shown += !a->hidden;
        CU_ASSERT_EQUAL(a->hidden, strstr(page->note, a->text) != NULL);
        if (a->hidden)
            continue;
        CU_ASSERT(a->box.left >= 0 && a->box.right <= g.panel_width);
        CU_ASSERT(a->box.bottom >= 0 && a->box.top <= g.panel_height);
        for (int k = 0; k < i; k++) {
            const struct hn_word *b = &panel->mark[k];
            double w = fmin(a->box.right, b->box.right) - fmax(a->box.left, b->box.left);
            double h = fmin(a->box.top, b->box.top) - fmax(a->box.bottom, b->box.bottom);
            CU_ASSERT(b->hidden || w <= 0 || h <= 0 || w * h <= 1e-3);
        }
    }
    CU_ASSERT(shown == n || width < 3);
    CU_ASSERT_EQUAL(shown < n, strstr(page->note, "for lack of room") != NULL);
}

// Labels of one sampler on a curve of points, in a panel of that width: how many are shown, how
// many of them without its name, and whether a leader passes another point on the half towards its
// label.
struct labelled {
    int shown, brief, astray;
};

static struct labelled label_curve(struct hn_page *page, int n, double width) {
    struct labelled l = {.shown = 0};
    struct hn_layout g;
    HN_SCOPE(&ctx);
    hn_page_begin(&ctx, page);
    struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
    struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_DISCS, 1);
    for (int i = 0; i < n; i++) {
        char text[HN_LABEL_SIZE];
        snprintf(text, sizeof text, "batchsampler M=%d, alpha=0.5", 100 * (i + 1));
        hn_series_add_sized(s, i, sqrt(i), 0.5);
        hn_panel_mark(panel, i, sqrt(i), text, text + strlen("batchsampler "), "batchsampler", 1);
    }
    HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
    page->fit_width = width;
    HN_CHECK(&ctx, hn_page_place_marks(page));
    hn_layout_make(page, &g);
    const struct hn_range x = hn_page_range(page, panel, false),
                          y = hn_page_range(page, panel, true);
    for (int i = 0; i < n; i++) {
        const struct hn_word *m = &panel->mark[i];
        const double *at = m->leader;
        l.shown += !m->hidden;
        l.brief += !m->hidden && m->is_brief;
        for (int k = 0; k < n && !m->hidden && hypot(at[2] - at[0], at[3] - at[1]) > 0.2; k++)
            for (double share = 0.6; share < 1 && k != i; share += 0.02) {
                double right = g.panel_width * hn_axis_share(&panel->x, k, x),
                       up = g.panel_height * hn_axis_share(&panel->y, sqrt(k), y);
                l.astray += hypot(at[0] + share * (at[2] - at[0]) - right,
                                  at[1] + share * (at[3] - at[1]) - up) < 0.03;
            }
    }
    return l;
}

// With room every label names its sampler; without it labels are brief, but one
// names it, and no leader leads through another point.
static void labels_name_samplers(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    struct labelled wide = label_curve(page, 8, 12);
    CU_ASSERT(wide.shown == 8 && wide.brief == 0 && wide.astray == 0);
    for (int n = 8; n < 20; n += 3) {
        struct labelled narrow = label_curve(page, n, 3.25);
        CU_ASSERT(narrow.brief > 0 && narrow.brief < narrow.shown);
        CU_ASSERT_EQUAL(narrow.astray, 0);
    }
    hn_free(&ctx, page);
    end();
}

// Every label of the front has a position in a column of each paper; a slide is too low for that.
static void labels_of_media(void) {
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int m = 0; hn_media[m]; m++) {
        char caption[HN_CAPTION_SIZE] = "";
        struct hn_picture column = {"pdf", NULL, hn_medium(m), 1, NULL, caption};
        hn_test_entry(hn_media[m]);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, column));
        CU_ASSERT_PTR_NOT_NULL(strstr(caption, "Pareto-optimal"));
        char *script = slurp(folder, "pareto.gp"); // a line behind a label does not cross it
        CU_ASSERT(strstr(script, ") with labels ") && strstr(script, " boxed textcolor"));
        free(script);
        CU_ASSERT((strstr(caption, "for lack of room") == NULL) ==
                  (strcmp(hn_media[m], "talk") != 0));
    }
    hn_results_free(&ctx, &r);
    end();
}

// More rows or panels than a slide is high: as many settings as it has room for, one of every
// sampler first, or the first panels.
static void rows_of_a_slide(void) {
    static const char *const figures[] = {"bs-fig4",   "gc-fig3",   "gc-fig6",
                                          "gc-bounds", "bs-table5", "fronts"};
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    figures_unweighted(&ctx, &r.runs);
    for (int64_t row = 0; row < r.runs.rows; row++) { // one step, 90 settings at most
        char params[32];
        snprintf(params, sizeof params, "l=%d", (int)(row / FIGURES_SEEDS));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", params));
        if (hn_table_real(&r.runs, row, "step") > 0)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    }
    for (int64_t i = 0; i < r.n_tables; i++)
        if (strcmp(r.table[i].name, "costs") == 0)
            r.table[i].rows = 0; // so that bs-table5 is of the runs
    for (int i = 0; i < 6; i++) {
        char caption[HN_CAPTION_SIZE] = "", name[32];
        double width = 0, height = 0;
        struct hn_picture slide = {"pdf", NULL, hn_medium(4), 0, NULL, caption};
        hn_test_entry(figures[i]);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(figures[i]), &r, folder, slide));
        snprintf(name, sizeof name, "%s.gp", figures[i]);
        char *script = slurp(folder, name), *size = strstr(script, " size ");
        CU_ASSERT(size != NULL && sscanf(size, " size %lfin,%lfin", &width, &height) == 2);
        CU_ASSERT(width > 5.49 && width < 5.51 && height > 1.5 && height < 2.82);
        CU_ASSERT(strstr(caption, i < 5 ? "settings are drawn, each sampler once"
                                        : "For lack of room only the first 2 of ") != NULL);
        for (const char *sampler = "uniform\0knn\0gcbs\0batchsampler\0ring\0"; *sampler;
             sampler += strlen(sampler) + 1)                      // the longest row is cut
            CU_ASSERT((i == 5 && strcmp(sampler, "ring") == 0) || // on a panel without room
                      strstr(script, sampler + (i == 4 && strlen(sampler) > 8 ? 5 : 0)) != NULL);
        free(script);
    }
    hn_results_free(&ctx, &r);
    end();
}

// Panels of one group stand together: a group begins a row, also of a medium with room for fewer
// side by side, and every column of equal vertical titles still shows one.
static void lay_out_groups(struct hn_page *page) {
    static const int groups[] = {1, 1, 1, 2, 2, 3, 3}, rows[] = {0, 0, 0, 1, 1, 2, 2},
                     columns[] = {0, 1, 2, 0, 1, 0, 1}, narrow_rows[] = {0, 0, 1, 2, 2, 3, 3},
                     narrow_columns[] = {0, 1, 0, 0, 1, 0, 1};
    enum { PANELS = sizeof groups / sizeof *groups };
    HN_SCOPE(&ctx);
    struct hn_layout g;
    hn_page_begin(&ctx, page);
    for (int p = 0; p < PANELS; p++) {
        page->group = groups[p];
        struct hn_panel *panel = hn_page_panel(page, "", "x", p % 2 ? "right" : "left");
        hn_series_add(hn_panel_series(page, panel, "", HN_LOOK_LINE, 1), 1, 1);
    }
    page->columns = 3;
    HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
    for (int narrow = 0; narrow < 2; narrow++) {
        page->fit_width = narrow ? 4.2 : 0;
        hn_layout_make(page, &g);
        CU_ASSERT_EQUAL(g.rows, narrow ? 4 : 3);
        for (int p = 0; p < PANELS; p++) {
            const struct hn_box box = hn_layout_box(&g, p), first = hn_layout_box(&g, 0);
            int row = (narrow ? narrow_rows : rows)[p];
            CU_ASSERT_EQUAL(g.row[p], row);
            CU_ASSERT_EQUAL(hn_layout_column(&g, p), (narrow ? narrow_columns : columns)[p]);
            CU_ASSERT_EQUAL(row > 0, box.top > first.top + first.height);
        }
        CU_ASSERT(hn_layout_shows_x_title(&g, PANELS - 1));
    }
}

static void groups_begin_rows(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    lay_out_groups(page);
    hn_free(&ctx, page);
    end();
}

// A data set of one step in a file of series has no axis of steps, but a row for each setting.
static void draw_steps(struct hn_page *page) {
    HN_SCOPE(&ctx);
    int64_t steps[] = {0, 100, 400};
    struct hn_position position[] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 2}, {1, 0, 0, 0},
                                     {2, 0, 0, 1}, {2, 0, 0, 2}, {-1, 0, 0, 0}};
    const struct hn_groups g = {.step = steps,
                                .steps = 3,
                                .position = position,
                                .overview.settings = sizeof position / sizeof *position};
    static const struct {
        double lo, hi;
        int tics;
        const char *title;
    } wanted[] = {{-0.25, 2.25, 3, "training step (not to scale)"},
                  {NAN, NAN, 0, "y"},
                  {0.75, 2.25, 2, "training step"}};
    hn_page_begin(&ctx, page);
    for (int d = 0; d < 3; d++) {
        const struct hn_panel *panel = hn_panel_of_settings(page, &g, d, "", "y");
        const struct hn_axis *x = &panel->x;
        CU_ASSERT_EQUAL(panel->rows, d == 1);
        CU_ASSERT_STRING_EQUAL(x->title, wanted[d].title);
        CU_ASSERT_EQUAL(x->n_tics, wanted[d].tics);
        if (d == 1)
            continue;
        CU_ASSERT_DOUBLE_EQUAL(x->lo, wanted[d].lo, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(x->hi, wanted[d].hi, 1e-12);
    }
}

static void steps_of_a_dataset(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    draw_steps(page);
    hn_free(&ctx, page);
    end();
}

// A figure as text, on standard output, which is a file for a while. Owned: free().
static char *on_terminal(const struct hn_results *r, const char *id) {
    char path[600];
    snprintf(path, sizeof path, "%s/out", folder);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    enum hn_code code = hn_figure_draw(&ctx, hn_figure_find(id), r, folder, as("dumb"));
    dup2(saved, STDOUT_FILENO);
    close(file);
    close(saved);
    HN_CHECK(&ctx, code);
    return slurp(folder, "out");
}

// On a text terminal every mark of pareto has a letter of its own, which the key names; every row
// a line with its name, and its range.
static void terminal_names_marks(void) {
    static const char *const settings[] = {"uniform",
                                           "knn",
                                           "batchsampler K=100, M=500, alpha=0.2",
                                           "batchsampler K=100, M=500, alpha=1",
                                           "batchsampler K=200, M=1000, alpha=0.2",
                                           "gcbs"};
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    char letters[16] = "", *text = on_terminal(&r, "pareto");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *name = strstr(text, settings[i]);
        hn_test_entry(settings[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        CU_ASSERT(name[-1] == ' ' && strchr(letters, name[-2]) == NULL);
        letters[strlen(letters)] = name[-2];
    }
    free(text);
    text = on_terminal(&r, "bs-fig4");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *name = strstr(text, settings[i]);
        hn_test_entry(settings[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        char *line = strndup(name, strcspn(name, "\n"));
        CU_ASSERT(strstr(line, "---") != NULL && strchr(line, '+') != NULL);
        free(line);
    }
    free(text);
    hn_results_free(&ctx, &r);
    end();
}

static void words_stay_inside(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    crowd(page, 5, 7);
    crowd(page, 24, 7);
    crowd(page, 24, 3.25);
    crowd(page, 8, 2.2); // narrower than a word
    hn_free(&ctx, page);
    end();
}

static const struct hn_test tests[] = {
    {"rows_of_a_slide", rows_of_a_slide},
    {"groups_begin_rows", groups_begin_rows},
    {"steps_of_a_dataset", steps_of_a_dataset},
    {"titles_in_two_rows", titles_in_two_rows},
    {"families", families},
    {"long_vertical_titles", long_vertical_titles},
    {"words_stay_inside", words_stay_inside},
    {"labels_of_media", labels_of_media},
    {"terminal_names_marks", terminal_names_marks},
    {"labels_name_samplers", labels_name_samplers},
    {"key_columns_fit", key_columns_fit},
    {"names_are_shortened", names_are_shortened},
    {"long_titles_stay_in_panels", long_titles_stay_in_panels},
    {"long_key_is_above_panels", long_key_is_above_panels},
    {"inset_covers_nothing", inset_covers_nothing},
    {"rows_of_many", rows_of_many},
};
HN_TEST_MAIN("page_parts", tests)
