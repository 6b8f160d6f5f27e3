// What a page decides: lines of samplers and settings, where an inset stands, rows for many
// settings, texts for LaTeX.
#include "datasets/h5.h"
#include "plots/page/page_private.h"
#include "samplers/sampler.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"

static struct hn_context ctx;
static char folder[256];

static void begin(void) {
    hn_context_init(&ctx, 1);
    hn_h5_quiet();
    hn_fixture_folder(folder, sizeof folder);
}

static void end(void) {
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
    hn_fixture_remove(folder);
}

static struct hn_groups groups_of(const struct hn_results *r, struct hn_choice choice) {
    struct hn_groups g;
    choice.most_settings = HN_MOST_SETTINGS;
    HN_CHECK(&ctx, hn_groups_make(&ctx, r, choice, &g));
    return g;
}

static bool is_no_uniform(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "uniform") != 0;
}

static bool is_walk(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "batchsampler") == 0;
}

// How many of colour, dash and mark two lines have in common: dashes come round after 12 styles,
// marks after 13 (theme.gp).
static int shared(int a, int b) {
    return (hn_line_colour(a) == hn_line_colour(b)) +
           (hn_line_style(a) % 12 == hn_line_style(b) % 12) +
           (hn_line_style(a) % 13 == hn_line_style(b) % 13);
}

// The numbers of words that the theme has under a name.
static int words_of(const char *name) {
    char start[32];
    snprintf(start, sizeof start, "%s = \"", name);
    const char *at = strstr(hn_theme, start);
    int n = 1;
    CU_ASSERT_FATAL(at != NULL);
    for (at += strlen(start); *at != '"'; at++)
        n += *at == ' ';
    return n;
}

// Every registered sampler has a line that differs from the others' in two of colour, dash and
// mark, whatever the file holds; so have the first forty things of any kind, and of one sampler the
// first forty settings differ in dash or mark.
static void look_at_lines(void) {
    struct hn_results r = figures_results(&ctx);
    HN_SCOPE(&ctx);
    CU_ASSERT_EQUAL(words_of("hn_dashes"), 12);
    CU_ASSERT_EQUAL(words_of("hn_marks"), 13);
    CU_ASSERT_EQUAL(words_of("hn_sizes"), 13);
    for (int i = 0; hn_samplers[i]; i++)
        for (int k = 0; k < i; k++)
            CU_ASSERT(shared(hn_line_of_sampler(&r.runs, hn_samplers[i]->name),
                             hn_line_of_sampler(&r.runs, hn_samplers[k]->name)) < 2);
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_of_sampler(&r.runs, "uniform")), HN_LINE_UNIFORM);
    for (int i = 0; i < HN_LINE_STYLES; i++)
        for (int k = 0; k < i; k++) {
            CU_ASSERT(i == HN_LINE_STYLES - 1 || shared(hn_line_number(i), hn_line_number(k)) < 2);
            CU_ASSERT(shared(hn_line_ordered(i, 40), hn_line_ordered(k, 40)) < 3);
            CU_ASSERT(shared(hn_line_shade(302, i), hn_line_shade(302, k)) < 3);
        }
    const struct hn_groups all = groups_of(&r, (struct hn_choice){.keep = NULL}),
                           some = groups_of(&r, (struct hn_choice){.keep = is_no_uniform});
    for (const struct hn_groups *g = &all; g; g = g == &all ? &some : NULL)
        for (int i = 0; i < g->settings; i++) {
            int own = hn_line_of_sampler(&r.runs, g->setting[i].sampler);
            CU_ASSERT_EQUAL(hn_line_colour(g->setting[i].line), hn_line_colour(own));
            for (int k = 0; k < i; k++)
                CU_ASSERT(shared(g->setting[i].line, g->setting[k].line) < 3);
        }
    // Of one sampler: by what they differ in, here several options, so by the order of the file.
    const struct hn_groups walks = groups_of(&r, (struct hn_choice){.keep = is_walk});
    for (int i = 0; i < walks.settings; i++) {
        int colour = hn_line_colour(walks.setting[i].line);
        CU_ASSERT(colour >= HN_LINE_ORDERED && colour < HN_LINE_ORDERED + HN_LINES_ORDERED);
        CU_ASSERT(i == 0 || colour >= hn_line_colour(walks.setting[i - 1].line));
    }
    hn_own(&ctx, scope.outer);
    hn_results_free(&ctx, &r);
}

static void lines_of_samplers(void) {
    begin();
    look_at_lines();
    end();
}

// Samplers of other programs have lines that no other of the file has.
static void lines_of_strangers(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        const char *own = hn_table_text(&r.runs, row, "sampler");
        const char *other = strcmp(own, "knn") == 0    ? "theirs"
                            : strcmp(own, "ring") == 0 ? "another"
                            : strcmp(own, "gcbs") == 0 ? "mosaic"
                                                       : own;
        if (other != own)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", other));
    }
    static const char *const samplers[] = {"uniform", "theirs", "batchsampler", "mosaic",
                                           "another"};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            CU_ASSERT(hn_line_of_sampler(&r.runs, samplers[i]) !=
                      hn_line_of_sampler(&r.runs, samplers[k]));
    hn_results_free(&ctx, &r);
    end();
}

// One sampler and one option: lines by its number, whatever the order of the file; a schedule last.
static void lines_in_order(void) {
    static const char *const params[] = {"alpha=0.5", "alpha=0.2~0.05", "alpha=0.1", "alpha=2"};
    static const int wanted[] = {1, 3, 0, 2};
    struct hn_setting setting[4];
    struct hn_groups g = {.setting = setting, .settings = 4};
    for (int i = 0; i < 4; i++)
        setting[i] = (struct hn_setting){"batchsampler", params[i], 64, "", 0};
    hn_groups_lines(&g);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(setting[i].line, hn_line_ordered(wanted[i], 4));
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_ordered(0, 4)), HN_LINE_ORDERED);
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_ordered(3, 4)), HN_LINE_ORDERED + HN_LINES_ORDERED - 1);
}

// The share of a panel's points that lie in the corner where the inset is to stand.
static int points_below(const struct hn_layout *g, const struct hn_panel *panel) {
    struct hn_range x, y;
    int n = 0;
    hn_page_range(g->page, panel, false, &x.lo, &x.hi);
    hn_page_range(g->page, panel, true, &y.lo, &y.hi);
    if (g->raised)
        hn_inset_raise(&panel->y, &y);
    for (int64_t i = 0; i < panel->series[0]->n; i++) {
        double at = hn_axis_share(&panel->x, panel->series[0]->datum[i].x, x),
               up = hn_axis_share(&panel->y, panel->series[0]->datum[i].y, y);
        n += at > g->inset_left && at < g->inset_left + HN_INSET_SHARE && up > g->inset_bottom &&
             up < g->inset_bottom + HN_INSET_SHARE;
    }
    return n;
}

// An inset stands in a corner without points; if there is none, the axis is made longer; in a
// narrow figure it is a panel of its own. Bit k of `corners`: points in that corner.
static void place_inset(struct hn_page *page, int corners) {
    struct hn_layout g;
    hn_page_begin(&ctx, page);
    struct hn_panel *outer = hn_page_panel(page, "", "x", "y"),
                    *inner = hn_page_panel(page, "enlarged", "x", "y");
    struct hn_series *s = hn_panel_series(page, outer, "", HN_LOOK_DISCS, 1);
    hn_series_add_sized(s, 50, 50, 1); // on the corner of all quarters
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
    CU_ASSERT(g.inset);
    CU_ASSERT_EQUAL(points_below(&g, outer), 0);
    page->fit_width = 3.25;
    hn_layout_make(page, &g);
    CU_ASSERT(!g.inset);
    CU_ASSERT_EQUAL(g.rows, 2);
}

static void inset_covers_nothing(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (int corners = 0; corners < 16; corners++) {
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
                   {"gc-bounds", "Only the first data set is drawn."},
                   {"hc-mass", "Only the first data set is drawn."},
                   {"bs-fig10", "Only the first data set is drawn."}};
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
    CU_ASSERT_EQUAL(hn_layout_break(&narrow, "short"), 0);
    CU_ASSERT_STRING_EQUAL(title + hn_layout_break(&narrow, title), " batches of 100");
    page->width = 14;
    hn_layout_make(page, &wide);
    CU_ASSERT_EQUAL(hn_layout_break(&wide, title), 0);
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
    CU_ASSERT(names >= 8);
    CU_ASSERT(lowest < highest + 4);
    free(svg);
    hn_results_free(&ctx, &r);
    end();
}

static int64_t asked;

static bool is_on_knn_graph(const struct hn_table *runs, int64_t row) {
    asked++;
    return hn_row_has(runs, row, "graph", "knn");
}

static bool is_nothing(const struct hn_table *runs, int64_t row) {
    (void)runs, (void)row;
    asked++;
    return false;
}

// Rows have the value of the first row that they are to be like, which is looked for once: a look
// for each row made reports of large jobs quadratic.
static void look_at_rows_alike(void) {
    struct hn_results r = figures_results(&ctx);
    HN_SCOPE(&ctx);
    struct hn_choice choice = {.keep = is_walk, .alike = "alpha", .to = is_on_knn_graph};
    asked = 0;
    struct hn_groups g = groups_of(&r, choice);
    CU_ASSERT(asked > 0 && asked <= r.runs.rows);
    int with = 0, without = 0;
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (is_walk(&r.runs, row)) {
            bool alike = hn_row_has(&r.runs, row, "alpha", "0.2");
            CU_ASSERT_EQUAL(g.place[row].setting >= 0, alike);
            with += alike;
            without += !alike;
        }
    CU_ASSERT(with > 0 && without > 0);
    choice.to = is_nothing;
    asked = 0;
    CU_ASSERT_EQUAL(hn_groups_make(&ctx, &r, choice, &g), HN_NOT_APPLICABLE);
    CU_ASSERT_EQUAL(asked, r.runs.rows);
    hn_results_free(&ctx, &r);
}

static void rows_alike(void) {
    begin();
    look_at_rows_alike();
    end();
}

static const struct hn_test tests[] = {
    {"titles_in_two_rows", titles_in_two_rows},
    {"families", families},
    {"lines_of_samplers", lines_of_samplers},
    {"lines_of_strangers", lines_of_strangers},
    {"lines_in_order", lines_in_order},
    {"key_columns_fit", key_columns_fit},
    {"long_key_is_above_panels", long_key_is_above_panels},
    {"inset_covers_nothing", inset_covers_nothing},
    {"rows_of_many", rows_of_many},
    {"rows_alike", rows_alike},
};
HN_TEST_MAIN("page_parts", tests)
