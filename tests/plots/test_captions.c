// SPDX-License-Identifier: GPL-3.0-or-later
// Captions say what was drawn of these results, in the form it was drawn in, and what is left out.
#include "plots/page/curves.h"
#include "plots/page/render.h"
#include "results/analysis/named.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

// Draws a figure as SVG; returns its caption, good until the next call.
static const char *caption_of(const struct hn_results *r, const char *id) {
    static char caption[HN_CAPTION_SIZE];
    struct hn_picture as = {.term = "svg", .caption = caption};
    *caption = '\0';
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(id), r, folder, as));
    return caption;
}

// Keeps the rows whose number in the fixture a function lets through; others have failed.
static struct hn_results results_where(bool (*keep)(const struct hn_table *runs, int64_t row)) {
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (!keep(&r.runs, row))
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    return r;
}

static void begin_drawing(void) {
    need_gnuplot();
    begin();
}

static void end_with(struct hn_results *r) {
    hn_results_free(&ctx, r);
    end();
}

static bool is_first_seed(const struct hn_table *runs, int64_t row) {
    return hn_table_real(runs, row, "seed") < 1.5;
}

static bool is_ring(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "ring") == 0;
}

static bool is_anything(const struct hn_table *runs, int64_t row) { return runs && row >= 0; }

static bool says(const char *caption, const char *part) { return strstr(caption, part) != NULL; }

static void set_text(struct hn_results *r, int64_t row, const char *column, const char *text) {
    HN_CHECK(&ctx, hn_table_set_text(&ctx, &r->runs, row, column, text));
}

static void set_int(struct hn_results *r, int64_t row, const char *column, int64_t value) {
    HN_CHECK(&ctx, hn_table_set_int(&ctx, &r->runs, row, column, value));
}

static void set_real(struct hn_results *r, int64_t row, const char *column, double value) {
    HN_CHECK(&ctx, hn_table_set_real(&ctx, &r->runs, row, column, value));
}

static void give_batch_intervals(struct hn_results *r) {
    for (int64_t row = 0; row < r->runs.rows; row++) {
        double ratio = hn_table_real(&r->runs, row, "fn_ratio");
        set_real(r, row, "fn_ratio_lo", 0.9 * ratio);
        set_real(r, row, "fn_ratio_hi", 1.1 * ratio);
    }
}

// Steps are evenly spaced, and the axis says so where that is not to scale.
static void axis_of_steps(void) {
    static const struct {
        int64_t step[4], n;
        bool to_scale;
    } cases[] = {{{0, 100}, 2, true},
                 {{5}, 1, true},
                 {{0, 100, 200, 300}, 4, true},
                 {{0, 100, 400, 1000}, 4, false},
                 {{0, 1, 2, 4}, 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT(says(hn_steps_title(cases[i].step, cases[i].n), "(not to scale)") !=
                  cases[i].to_scale);
}

// Hardness has no interval with one seed: none is drawn, and none is named.
static void intervals_where_drawn(void) {
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    CU_ASSERT(says(caption_of(&r, "gc-fig3"), "Bands are 95 % intervals."));
    CU_ASSERT(says(caption_of(&r, "pareto"), "Bars are 95 % intervals."));
    CU_ASSERT(!says(caption_of(&r, "gc-fig4"), "intervals")); // its band is of deviations
    CU_ASSERT(!says(caption_of(&r, "gc-bounds"), "interval"));
    hn_results_free(&ctx, &r);
    r = results_where(is_first_seed);
    CU_ASSERT(!says(caption_of(&r, "gc-fig3"), "interval"));
    give_batch_intervals(&r);
    CU_ASSERT(says(caption_of(&r, "pareto"),
                   "Bars, along x alone, are 95 % intervals over batches, of 1 seed."));
    CU_ASSERT(says(caption_of(&r, "bs-fig5"), "Bands are 95 % intervals over batches, of 1 seed."));
    end_with(&r);
}

static void rows_or_densities(void) {
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    const char *many = caption_of(&r, "bs-fig4");
    CU_ASSERT(says(many, "One row per setting: median and 5-95 % range of the cosine"));
    CU_ASSERT(!says(many, "ensity"));
    hn_results_free(&ctx, &r);
    r = results_where(is_ring);
    const char *few = caption_of(&r, "bs-fig4");
    CU_ASSERT(says(few, "Left: density of the cosines"));
    CU_ASSERT(!says(few, "row"));
    end_with(&r);
}

// What stands left and right on the page stands above and below in a column.
static void sides_where_drawn(void) {
    static char narrow[HN_CAPTION_SIZE];
    static const char *const figures[] = {"bs-fig4", "bs-limits", "gc-fig4"};
    begin_drawing();
    for (int i = 0; i < 3; i++) {
        struct hn_results r = results_where(i == 0 ? is_ring : is_anything);
        for (int columns = 1; columns <= 2; columns++) {
            struct hn_picture as = {"pdf", NULL, hn_medium(2), columns, NULL, narrow};
            hn_test_entry(figures[i]);
            HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(figures[i]), &r, folder, as));
            CU_ASSERT_EQUAL(says(narrow, "Left: "), columns == 2);
            CU_ASSERT_EQUAL(says(narrow, "Right: "), columns == 2);
            CU_ASSERT_EQUAL(says(narrow, "Above: "), columns == 1);
            CU_ASSERT_EQUAL(says(narrow, "Below: "), columns == 1);
        }
        hn_results_free(&ctx, &r);
    }
    end();
}

// A caption stands alone, as in a paper: it does not send the reader to another figure of ours.
static void captions_stand_alone(void) {
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        for (const struct hn_figure *const *g = hn_figures; *g; g++) {
            hn_test_entry((*f)->id);
            CU_ASSERT(!strchr((*g)->id, '-') || !says((*f)->caption, (*g)->id));
        }
}

// The same picture in another width: what is an inset on the page is a panel beside in a column.
static void insets_where_drawn(void) {
    static char narrow[HN_CAPTION_SIZE];
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    const char *wide = caption_of(&r, "gc-fig3");
    CU_ASSERT(says(wide, "Inset: the two losses") || says(wide, "Right: the two losses"));
    struct hn_picture column = {"pdf", NULL, hn_medium(2), 1, NULL, narrow};
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("gc-fig3"), &r, folder, column));
    CU_ASSERT(says(narrow, "Last panel: the two losses"));
    end_with(&r);
}

// More settings than curves: GCBS, the last sampler of the file, is drawn, and how many are not is
// said; which, if they are few.
static void chosen_settings(void) {
    static const char *const figures[] = {"gc-fig3", "gc-fig6", "gc-fig4"};
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        char params[32];
        snprintf(params, sizeof params, "M=%d", (int)(row % (r.runs.rows / FIGURES_STEPS)));
        set_text(&r, row, "params", params);
        set_text(&r, row, "sampler", row % 48 == 47 ? "gcbs" : row % 48 == 46 ? "knn" : "uniform");
    }
    for (int i = 0; i < 3; i++) {
        char name[32];
        const char *caption = caption_of(&r, figures[i]);
        CU_ASSERT(says(caption,
                       "8 of 48 settings are drawn, each sampler once before any a second time."));
        snprintf(name, sizeof name, "%s.tsv", figures[i]);
        char *tsv = slurp(folder, name);
        CU_ASSERT(says(tsv, "gcbs") && says(tsv, "knn") && says(tsv, "uniform M=0"));
        free(tsv);
    }
    const char *few = caption_of(&r, "gc-bounds");
    CU_ASSERT(says(few, "40 of 48 settings are drawn") && says(few, "; left out: uniform M="));
    end_with(&r);
}

// Names are as in tables: a sampler means all its settings, options fewer, those behind a comma are
// of the name before it, numbers are equal however they are written.
static void check_names(const struct hn_results *r) {
    static const struct {
        const char *names;
        int samplers, settings; // of those that fit: different samplers; settings of batchsampler
        const char *unknown;    // of the message; NULL: all are known
    } cases[] = {
        {"uniform", 1, 0, NULL},
        {"uniform,knn", 2, 0, NULL},
        {"batchsampler", 1, 7, NULL},
        {"batchsampler M=1000", 1, 2, NULL},
        {"batchsampler M=1e3, K=200", 1, 1, NULL},
        {"batchsampler M=1000, K=200, uniform", 2, 1, NULL},
        {" uniform , batchsampler alpha=0.50,", 2, 1, NULL},
        {"M=1000", 1, 2, NULL},
        {"batchsampler M=7", 0, 0, "no setting is 'batchsampler M=7'; there are: batchsampler "},
        {"uniform, knm", 1, 0, "no setting is 'knm'; there are: uniform; "},
        {"uniform B=63", 0, 0, "no setting is 'uniform B=63'"},
        {"knn nothing=1", 0, 0, "no setting is 'knn nothing=1'"},
        {" ,", 0, 0, "names no setting"}};
    HN_SCOPE(&ctx);
    struct hn_overview o;
    HN_CHECK(&ctx, hn_overview_make(&ctx, r, &o));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *seen[8];
        int samplers = 0, settings = 0;
        for (int64_t s = 0; s < o.settings; s++) {
            const char *sampler = hn_overview_sampler(&o, s);
            bool once = hn_table_real(&r->runs, o.first[s], "step") < 0.5 &&
                        hn_overview_is_named(&o, s, cases[i].names);
            int k = 0;
            while (once && k < samplers && strcmp(seen[k], sampler) != 0)
                k++;
            if (once && k == samplers && samplers < 8)
                seen[samplers++] = sampler;
            settings += once && strcmp(sampler, "batchsampler") == 0;
        }
        if (samplers != cases[i].samplers || settings != cases[i].settings)
            printf("    %s: %d %d\n", cases[i].names, samplers, settings);
        CU_ASSERT(samplers == cases[i].samplers && settings == cases[i].settings);
        enum hn_code code = hn_overview_check_names(&ctx, r, cases[i].names);
        CU_ASSERT(code == (cases[i].unknown ? HN_USAGE : HN_OK));
        CU_ASSERT(!cases[i].unknown || says(ctx.message, cases[i].unknown));
    }
}

static void named_settings(void) {
    begin();
    struct hn_results r = results_where(is_anything);
    check_names(&r);
    end_with(&r);
}

// They alone are drawn, under the names and in the colours that they have among all, and the rest
// is named as left out.
static void drawn_by_name(void) {
    static const char *const figures[] = {"bs-fig4", "gc-fig3", "pareto", "fronts"};
    static char caption[HN_CAPTION_SIZE];
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    const struct hn_picture named = {
        .term = "svg", .caption = caption, .settings = "uniform, batchsampler M=1000"};
    for (int i = 0; i < 4; i++) {
        char name[32];
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(figures[i]), &r, folder, named));
        CU_ASSERT(says(caption, "settings are drawn, those that were named; left out: "));
        snprintf(name, sizeof name, "%s.tsv", figures[i]);
        char *tsv = slurp(folder, name);
        CU_ASSERT(says(tsv, "batchsampler") && !says(tsv, "knn B=64\n"));
        CU_ASSERT(!says(tsv, "knn\n") && !says(tsv, "ring\n") && !says(tsv, "M=500, alpha=1\n"));
        free(tsv);
    }
    const struct hn_picture of_one = {.term = "svg", .settings = "uniform B=64"};
    HN_CHECK_FAILS(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, of_one),
                   HN_NOT_APPLICABLE, "one setting makes no front");
    const struct hn_picture of_none = {.term = "svg", .settings = "teachers"};
    CU_ASSERT(hn_figure_draw(&ctx, hn_figure_find("gc-fig3"), &r, folder, of_none) ==
              HN_NOT_APPLICABLE);
    end_with(&r);
}

// One step in a panel: a sampler that has hardness at an earlier step alone is left out, and that
// is said.
static void one_step(void) {
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    double last = 0;
    for (int64_t row = 0; row < r.runs.rows; row++)
        last = fmax(last, hn_table_real(&r.runs, row, "step"));
    CU_ASSERT(!says(caption_of(&r, "pareto"), "Left out"));
    char *tsv = slurp(folder, "pareto.tsv");
    CU_ASSERT(says(tsv, "ring"));
    free(tsv);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (is_ring(&r.runs, row) && hn_table_real(&r.runs, row, "step") >= last)
            set_real(&r, row, "hard_true_mean", NAN);
    CU_ASSERT(says(caption_of(&r, "pareto"), "without a true negative, and so without hardness."));
    tsv = slurp(folder, "pareto.tsv");
    CU_ASSERT(!says(tsv, "ring"));
    free(tsv);
    end_with(&r);
}

// Eight curves of a panel at most, and all of each: 48 values of alpha with two of M.
static void whole_curves(void) {
    static double cell[64][5];
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    CU_ASSERT_EQUAL_FATAL(r.runs.rows, 96);
    figures_unweighted(&ctx, &r.runs);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        char params[64];
        snprintf(params, sizeof params, "K=10, M=%d, alpha=0.%02d", row < 48 ? 100 : 200,
                 (int)(row % 48) + 10);
        set_text(&r, row, "params", params);
        set_text(&r, row, "sampler", "batchsampler");
        set_int(&r, row, "step", 0);
        set_int(&r, row, "seed", 1);
        set_int(&r, row, "batch_size", 64);
    }
    const char *caption = caption_of(&r, "bs-M");
    CU_ASSERT(says(caption, "8 of 48 curves are drawn"));
    CU_ASSERT(says(caption, "Bands are 95 % intervals over batches, of 1 seed.") &&
              !says(caption, "Bars"));
    for (int block = 0; block < 16; block++) // two measures
        CU_ASSERT_EQUAL(drawn_block(folder, "bs-M.tsv", block, cell, 64), 2);
    CU_ASSERT_EQUAL(drawn_block(folder, "bs-M.tsv", 16, cell, 64), 0);
    // Of 16 curves, those of each batch size have panels of their own, in the same eight lines.
    for (int64_t row = 0; row < r.runs.rows; row++) {
        set_int(&r, row, "batch_size", row % 16 < 8 ? 32 : 64);
        if (row % 48 >= 16)
            set_text(&r, row, "status", "failed");
        char params[64];
        snprintf(params, sizeof params, "K=10, M=%d, alpha=0.%d", row < 48 ? 100 : 200,
                 (int)(row % 8) + 1);
        set_text(&r, row, "params", params);
    }
    CU_ASSERT(!says(caption_of(&r, "bs-M"), "curves are drawn"));
    char *tsv = slurp(folder, "bs-M.tsv");
    CU_ASSERT(says(tsv, "# B=32: alpha=0.1\n") && says(tsv, "# B=64: alpha=0.8\n"));
    free(tsv);
    end_with(&r);
}

// A single step is no axis: every setting has a row.
static void single_step(void) {
    static const char *const figures[] = {"gc-fig3", "gc-fig4", "gc-fig6", "bs-fig4", "bs-fig7"};
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (hn_table_real(&r.runs, row, "step") > 0)
            set_text(&r, row, "status", "failed");
    for (int i = 0; i < 5; i++) {
        char name[32];
        hn_test_entry(figures[i]);
        CU_ASSERT(*caption_of(&r, figures[i]) != '\0');
        snprintf(name, sizeof name, "%s.tsv", figures[i]);
        char *tsv = slurp(folder, name);
        CU_ASSERT(!says(tsv, "training step\t"));
        CU_ASSERT(says(tsv, "# positions along y: 0 is "));
        free(tsv);
    }
    end_with(&r);
}

// Bands and bars of a ratio end at 0 and 100 %, however wide the interval is.
static void intervals_end_at_range(void) {
    static const char *const figures[] = {"bs-M", "bs-fig7", "bs-fig4", "pareto"};
    static double cell[64][5];
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    for (int64_t row = 0; row < r.runs.rows; row++)
        set_real(&r, row, "fn_ratio", 0.5 * (double)(row % FIGURES_SEEDS)); // 50 +- 124 %
    for (int i = 0; i < 4; i++) {
        char name[32];
        int ends = 0;
        hn_test_entry(figures[i]);
        caption_of(&r, figures[i]);
        snprintf(name, sizeof name, "%s.tsv", figures[i]);
        for (int block = 0; block < 60; block++)
            for (int n = drawn_block(folder, name, block, cell, 64), k = 0; k < n; k++) {
                CU_ASSERT(!(cell[k][2] < -1) && !(cell[k][3] > 100));
                ends += cell[k][3] > 99.99 && cell[k][2] < 0.01;
            }
        CU_ASSERT(ends > 0);
    }
    end_with(&r);
}

// No caption names a colour, which the dark page and a style change.
static void no_colours(void) {
    static const char *const colours[] = {"black", "Black", "grey", "white", "blue", NULL};
    begin_drawing();
    struct hn_results r = results_where(is_anything);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        const char *caption = caption_of(&r, (*f)->id);
        hn_test_entry((*f)->id);
        CU_ASSERT(strlen(caption) > 40);
        for (int i = 0; colours[i]; i++)
            CU_ASSERT(!says(caption, colours[i]));
    }
    end_with(&r);
}

// Of 800 x 800 cells 2 x 2 are a square, here of .9, .1, .1 and .9; a negative row is none.
static void squares_of_cells(void) {
    begin_drawing();
    static double cell[64][5];
    struct hn_results r = figures_results(&ctx);
    struct hn_table *map = r.table;
    CU_ASSERT_PTR_NULL(strstr(caption_of(&r, "gc-fig1"), "A square is"));
    while (strcmp(map->name, "heatmap") != 0)
        map++;
    for (int64_t row = 0; row < map->rows; row++)
        for (int c = 0; c < 2; c++) {
            const char *name = c ? "cell_col" : "cell_row";
            if (hn_table_real(map, row, name) > 4)
                HN_CHECK(&ctx, hn_table_set_real(&ctx, map, row, name, 799));
        }
    HN_CHECK(&ctx, hn_table_set_real(&ctx, map, map->rows / 2 - 1, "cell_row", -1));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(caption_of(&r, "gc-fig1"), "A square is the mean of 2 x 2 cells."));
    CU_ASSERT_EQUAL(drawn_block(folder, "gc-fig1.tsv", 2, cell, 64), 15);
    CU_ASSERT(cell[0][0] == 1 && cell[0][1] == 1);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][4], 50, 1e-9);
    end_with(&r);
}

// Settings whose names begin alike for 70 letters are two curves; and a name is that among all
// settings, though one of its sampler is drawn.
static void names_of_settings(void) {
    begin_drawing();
    struct hn_results r = figures_results(&ctx);
    figures_unweighted(&ctx, &r.runs);
    for (int row = 0; row < (int)r.runs.rows; row++) {
        char text[160];
        int i = row / FIGURES_SEEDS, tile = i % 3, other = tile == 2 ? 7 : 1;
        snprintf(text, sizeof text,
                 "K=%d000000, M=%d, alpha=0.%d23456789, cap=%d23456789, t=%d23456789, tile=%d",
                 other, i / 3 % 2 + 1, other, other, other, tile);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", text));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", "batchsampler"));
        HN_CHECK(&ctx, hn_table_set_int(&ctx, &r.runs, row, "batch_size", 64));
    }
    (void)caption_of(&r, "bs-M");
    char *tsv = slurp(folder, "bs-M.tsv");
    CU_ASSERT(strstr(tsv, "cap=123456789, t=123456789, tile=0\n") != NULL);
    CU_ASSERT(strstr(tsv, "cap=123456789, t=123456789, tile=1\n") != NULL);
    free(tsv);
    for (int row = 0; row < (int)r.runs.rows; row++) {
        char text[32];
        int i = row / FIGURES_SEEDS % 10;
        snprintf(text, sizeof text, "s%d", i % 9);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", text));
        snprintf(text, sizeof text, "alpha=0.%d", i / 9 + 1);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", text));
    }
    (void)caption_of(&r, "gc-fig3");
    tsv = slurp(folder, "gc-fig3.tsv");
    CU_ASSERT(strstr(tsv, ": s0 alpha=0.1\n") != NULL && strstr(tsv, ": s1\n") != NULL);
    free(tsv);
    end_with(&r);
}

static const struct hn_test tests[] = {
    {"intervals_where_drawn", intervals_where_drawn},
    {"axis_of_steps", axis_of_steps},
    {"rows_or_densities", rows_or_densities},
    {"insets_where_drawn", insets_where_drawn},
    {"sides_where_drawn", sides_where_drawn},
    {"captions_stand_alone", captions_stand_alone},
    {"chosen_settings", chosen_settings},
    {"settings by their names", named_settings},
    {"settings drawn by name", drawn_by_name},
    {"one_step", one_step},
    {"whole_curves", whole_curves},
    {"single_step", single_step},
    {"intervals_end_at_range", intervals_end_at_range},
    {"every_caption_without_colours", no_colours},
    {"squares of cells", squares_of_cells},
    {"names_of_settings", names_of_settings},
};
HN_TEST_MAIN("captions", tests)
