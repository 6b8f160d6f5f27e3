// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of samplers and settings, and which rows of a file belong together.
#include "plots/page/curves.h"
#include "plots/page/page_private.h"
#include "samplers/sampler.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

#include <math.h>

extern const char hn_report_css[], hn_report_js[]; // plots/report/report.css

static struct hn_groups groups_of(const struct hn_results *r, struct hn_choice choice) {
    struct hn_groups g;
    choice.max_settings = HN_MAX_SETTINGS;
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
// mark; so have the first forty things of any kind, and of one sampler the
// first forty settings differ in dash or mark.
static void look_at_lines(void) {
    const struct hn_table none = {.rows = 0};
    struct hn_results r = figures_results(&ctx);
    HN_SCOPE(&ctx);
    CU_ASSERT_EQUAL(words_of("hn_dashes"), 12);
    CU_ASSERT_EQUAL(words_of("hn_marks"), 13);
    CU_ASSERT_EQUAL(words_of("hn_sizes"), 13);
    for (int i = 0; hn_samplers[i]; i++)
        for (int k = 0; k < i; k++)
            CU_ASSERT(shared(hn_line_of_sampler(&none, hn_samplers[i]->name),
                             hn_line_of_sampler(&none, hn_samplers[k]->name)) < 2);
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_of_sampler(&r.runs, "uniform")), HN_LINE_UNIFORM);
    for (int i = 0; i < HN_LINE_STYLES; i++)
        for (int k = 0; k < i; k++) {
            CU_ASSERT(i == HN_LINE_STYLES - 1 || shared(hn_line_number(i), hn_line_number(k)) < 2);
            CU_ASSERT(shared(hn_line_ordered(i, 40), hn_line_ordered(k, 40)) < 3);
            CU_ASSERT(shared(hn_line_of_setting(302, i), hn_line_of_setting(302, k)) < 3);
        }
    const struct hn_groups all = groups_of(&r, (struct hn_choice){.keep = NULL}),
                           some = groups_of(&r, (struct hn_choice){.keep = is_no_uniform});
    for (const struct hn_groups *g = &all; g; g = g == &all ? &some : NULL)
        for (int i = 0; i < g->settings; i++) {
            int own = hn_line_of_sampler(&r.runs, g->setting[i].sampler);
            CU_ASSERT_EQUAL(hn_line_colour(hn_setting_line(g, i)), hn_line_colour(own));
            for (int k = 0; k < i; k++)
                CU_ASSERT(shared(hn_setting_line(g, i), hn_setting_line(g, k)) < 3);
        }
    // Of one sampler: by what they differ in, here several options, so by the order of the file.
    const struct hn_groups walks = groups_of(&r, (struct hn_choice){.keep = is_walk});
    for (int i = 0; i < walks.settings; i++) {
        int colour = hn_line_colour(hn_setting_line(&walks, i));
        CU_ASSERT(colour >= HN_LINE_ORDERED && colour < HN_LINE_ORDERED + HN_LINES_ORDERED);
        CU_ASSERT(i == 0 || colour >= hn_line_colour(hn_setting_line(&walks, i - 1)));
    }
    hn_own(&ctx, scope.outer);
    hn_results_free(&ctx, &r);
}

enum { COLOURS = HN_LINE_THINGS + HN_LINE_THING_HUES - 1 };

// The colours that gnuplot commands name, as 0xRRGGBB.
static void read_colours(const char *commands, unsigned colour[COLOURS]) {
    const char *at = strstr(commands, "hn_colours = ");
    CU_ASSERT_FATAL(at != NULL);
    for (int n = 0; n < COLOURS; at++)
        if (strspn(at, "0123456789ABCDEF") == 6) {
            colour[n++] = (unsigned)strtoul(at, NULL, 16);
            at += 6;
        }
}

// In place of a colour in the stroke, fill or text of a figure on a dark page.
static unsigned dark(unsigned colour, const char *part) {
    char rule[64];
    snprintf(rule, sizeof rule, "[%s=\"rgb(%u,%u,%u)\"]{%s:#", part, colour >> 16,
             colour >> 8 & 255, colour & 255, part);
    const char *at = strstr(hn_report_css, rule);
    return at ? (unsigned)strtoul(at + strlen(rule), NULL, 16) : colour;
}

// Of red, green and blue, linear in light (sRGB).
static void linear(unsigned colour, double rgb[3]) {
    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

// Contrast ratio (WCAG 2.1).
static double contrast(unsigned a, unsigned b) {
    double light[2], rgb[3];
    for (int i = 0; i < 2; i++) {
        linear(i ? b : a, rgb);
        light[i] = 0.05 + 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    }
    return fmax(light[0], light[1]) / fmin(light[0], light[1]);
}

// As a printer in black and white renders it (Rec. 601).
static unsigned grey(unsigned c) {
    return 0x010101 *
           (unsigned)lround(0.299 * (c >> 16) + 0.587 * (c >> 8 & 255) + 0.114 * (c & 255));
}

static double nonlinear(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

// Difference of two colours in CIELAB (1976).
static double difference(unsigned a, unsigned b) {
    double lab[2][3], sum = 0;
    for (int i = 0; i < 2; i++) {
        double c[3];
        linear(i ? b : a, c);
        double x = nonlinear((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505),
               y = nonlinear(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]),
               z = nonlinear((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
        lab[i][0] = 116 * y;
        lab[i][1] = 500 * (x - y);
        lab[i][2] = 200 * (y - z);
    }
    for (int i = 0; i < 3; i++)
        sum += (lab[0][i] - lab[1][i]) * (lab[0][i] - lab[1][i]);
    return sqrt(sum);
}

// Marks stand out at 3 to 1 (WCAG 2.1, 1.4.11): every colour of the theme and of the style in
// grey, in colour and in grey, on white; and its stand-in on a dark page. No two samplers look
// alike: their colours differ by 18, or their marks differ.
static void colours(void) {
    static const char *const parts[] = {"stroke", "fill", "color"};
    unsigned theme[COLOURS], style[COLOURS], page = 0;
    char *example = slurp("docs/guide", "style-example.gp");
    read_colours(hn_theme, theme);
    read_colours(example, style);
    free(example);
    const char *background = strstr(strstr(hn_report_css, "prefers-color-scheme:dark"), "--bg:#");
    page = (unsigned)strtoul(background + strlen("--bg:#"), NULL, 16);
    for (int i = 0; i < COLOURS; i++) {
        CU_ASSERT(contrast(theme[i], 0xFFFFFF) >= 3 && contrast(grey(theme[i]), 0xFFFFFF) >= 3);
        CU_ASSERT(contrast(style[i], 0xFFFFFF) >= 3);
        for (int k = 0; k < 3; k++)
            CU_ASSERT(contrast(dark(theme[i], parts[k]), page) >= 3);
    }
    const struct hn_table none = {.rows = 0};
    for (int i = 0; hn_samplers[i]; i++)
        for (int k = 0; k < i; k++) {
            int a = hn_line_of_sampler(&none, hn_samplers[i]->name),
                b = hn_line_of_sampler(&none, hn_samplers[k]->name);
            unsigned x = theme[hn_line_colour(a) - 1], y = theme[hn_line_colour(b) - 1];
            CU_ASSERT(x == y ? hn_line_style(a) % 13 != hn_line_style(b) % 13
                             : difference(x, y) >= 18 &&
                                   difference(dark(x, "stroke"), dark(y, "stroke")) >= 18);
        }
}

// The page's script draws with the theme's colours, up to grey.
static void colours_of_script(void) {
    unsigned theme[COLOURS], red, green, blue;
    read_colours(hn_theme, theme);
    const char *at = strstr(hn_report_js, "const palette = [\"\"");
    CU_ASSERT_FATAL(at != NULL);
    at = strchr(at, ',');
    for (int i = 0; i < HN_LINE_GREY; i++) {
        at += strcspn(at, "0123456789");
        CU_ASSERT_FATAL(sscanf(at, "%u,%u,%u", &red, &green, &blue) == 3);
        CU_ASSERT_EQUAL(red << 16 | green << 8 | blue, theme[i]);
        at = strchr(at, '"') + 1;
    }
    CU_ASSERT_EQUAL(*at, ']');
}

// Results of as many samplers as there are hues, taken from the registry with gaps: no two share a
// colour, and things that are no samplers have none of theirs.
static void hues_are_of_samplers(void) {
    begin();
    struct hn_results r = {0};
    figures_table(&ctx, &r.runs, "runs", "sampler", "seed");
    for (int i = 0, n = 0; hn_samplers[i] && n <= HN_LINE_HUES; i++)
        if (i == 0 || i > 3) { // without the first ones: later ones keep apart from each other
            figures_row(&ctx, &r.runs);
            figures_text(&ctx, &r.runs, "sampler", hn_samplers[i]->name);
            n++;
        }
    figures_row(&ctx, &r.runs);
    figures_text(&ctx, &r.runs, "sampler", "of another program");
    for (int64_t a = 0; a < r.runs.rows; a++)
        for (int64_t b = 0; b < a; b++) {
            bool both = a < HN_LINE_HUES + 1; // one more than there are hues
            int x = hn_line_of_sampler(&r.runs, hn_table_text(&r.runs, a, "sampler")),
                y = hn_line_of_sampler(&r.runs, hn_table_text(&r.runs, b, "sampler"));
            CU_ASSERT(!both || hn_line_colour(x) != hn_line_colour(y));
            CU_ASSERT(shared(x, y) < 2);
        }
    for (int i = 0; i < 12; i++)
        CU_ASSERT(hn_line_colour(hn_line_number(i)) >= HN_LINE_THINGS);
    CU_ASSERT(hn_line_colour(hn_line_number(0)) != hn_line_colour(hn_line_number(1)));
    hn_results_free(&ctx, &r);
    end();
}

// Rows name their settings: all of a sampler have its line.
static void lines_of_rows(void) {
    static const char *const figures[] = {"gc-fig3", "gc-fig4", "gc-fig6", "bs-fig4"};
    begin();
    struct hn_results r = figures_results(&ctx);
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (int64_t row = 0; row < r.runs.rows; row++) // one step
        if (hn_table_real(&r.runs, row, "step") > 0)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    for (int i = 0; i < 4; i++) {
        HN_SCOPE(&ctx);
        int rows = 0;
        hn_page_begin(&ctx, page);
        const struct hn_figure *f = hn_figure_find(figures[i]);
        HN_CHECK(&ctx, hn_page_fill(page, f, &r));
        hn_test_entry(figures[i]);
        for (int p = 0; p < page->panels; p++)
            for (int k = 0; k < page->panel[p].n_series && page->panel[p].rows; k++) {
                const struct hn_series *s = page->panel[p].series[k];
                char sampler[HN_LABEL_SIZE];
                snprintf(sampler, sizeof sampler, "%.*s", (int)strcspn(s->end, " "), s->end);
                if (s->look != HN_LOOK_MARKS || !*s->end || strcmp(s->end, "global loss") == 0)
                    continue;
                CU_ASSERT_EQUAL(s->line, hn_line_of_sampler(&r.runs, sampler));
                rows++;
            }
        CU_ASSERT(rows >= 8);
    }
    hn_free(&ctx, page);
    hn_results_free(&ctx, &r);
    end();
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

// One sampler, beside Uniform or not, and one option: lines by its number, whatever the order of
// the file; a schedule last.
static void lines_in_order(void) {
    static const char *const params[] = {"alpha=0.5", "alpha=0.2~0.05", "alpha=0.1", "alpha=2"};
    static const int wanted[] = {1, 3, 0, 2};
    struct hn_setting setting[4];
    const struct hn_results empty = {0};
    struct hn_groups g = {.setting = setting, .settings = 4, .results = &empty};
    for (int i = 0; i < 4; i++)
        setting[i] = (struct hn_setting){.sampler = "batchsampler", .params = params[i]};
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(hn_setting_line(&g, i), hn_line_ordered(wanted[i], 4));
    // Beside Uniform they have an order, too; beside a second sampler all of one share its colour.
    setting[1] = (struct hn_setting){.sampler = "uniform", .params = ""};
    CU_ASSERT_EQUAL(hn_line_colour(hn_setting_line(&g, 1)), HN_LINE_UNIFORM);
    CU_ASSERT_EQUAL(hn_setting_line(&g, 2), hn_line_ordered(0, 3));
    CU_ASSERT_EQUAL(hn_setting_line(&g, 0), hn_line_ordered(1, 3));
    CU_ASSERT_EQUAL(hn_setting_line(&g, 3), hn_line_ordered(2, 3));
    setting[1].sampler = "knn";
    CU_ASSERT_EQUAL(hn_line_colour(hn_setting_line(&g, 0)), hn_line_colour(hn_setting_line(&g, 3)));
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_ordered(0, 4)), HN_LINE_ORDERED);
    CU_ASSERT_EQUAL(hn_line_colour(hn_line_ordered(3, 4)), HN_LINE_ORDERED + HN_LINES_ORDERED - 1);
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
            CU_ASSERT_EQUAL(g.position[g.overview.cells.of[row]].setting >= 0, alike);
            with += alike;
            without += !alike;
        }
    CU_ASSERT(with > 0 && without > 0);
    choice.to = is_nothing;
    asked = 0;
    CU_ASSERT_EQUAL(hn_groups_make(&ctx, &r, choice, &g), HN_NOT_APPLICABLE);
    CU_ASSERT_EQUAL(asked, g.overview.settings);
    hn_results_free(&ctx, &r);
}

static void rows_alike(void) {
    begin();
    look_at_rows_alike();
    end();
}

static const struct hn_test tests[] = {
    {"lines_of_samplers", lines_of_samplers}, {"colours", colours},
    {"colours_of_script", colours_of_script}, {"hues_are_of_samplers", hues_are_of_samplers},
    {"lines_of_rows", lines_of_rows},         {"lines_of_strangers", lines_of_strangers},
    {"lines_in_order", lines_in_order},       {"rows_alike", rows_alike},
};
HN_TEST_MAIN("lines", tests)
