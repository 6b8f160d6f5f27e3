// Captions say what was drawn of these results, in the form it was drawn in, and what is left out.
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"

static struct hn_context ctx;
static char folder[256];

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

static void begin(void) {
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
}

static void end(struct hn_results *r) {
    hn_results_free(&ctx, r);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
    hn_fixture_remove(folder);
}

static bool is_first_seed(const struct hn_table *runs, int64_t row) {
    return hn_table_real(runs, row, "seed") < 1.5;
}

static bool is_ring(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "ring") == 0;
}

static bool is_anything(const struct hn_table *runs, int64_t row) { return runs && row >= 0; }

static bool says(const char *caption, const char *part) { return strstr(caption, part) != NULL; }

// Hardness has no interval with one seed: none is drawn, and none is named.
static void intervals_where_drawn(void) {
    begin();
    struct hn_results r = results_where(is_anything);
    CU_ASSERT(says(caption_of(&r, "gc-fig3"), "Bands are 95 % intervals."));
    CU_ASSERT(says(caption_of(&r, "pareto"), "Bars are 95 % intervals."));
    CU_ASSERT(!says(caption_of(&r, "gc-fig4"), "intervals")); // its band is of deviations
    CU_ASSERT(!says(caption_of(&r, "gc-bounds"), "interval"));
    hn_results_free(&ctx, &r);
    r = results_where(is_first_seed);
    CU_ASSERT(!says(caption_of(&r, "gc-fig3"), "interval"));
    end(&r);
}

static void rows_or_densities(void) {
    begin();
    struct hn_results r = results_where(is_anything);
    const char *many = caption_of(&r, "bs-fig4");
    CU_ASSERT(says(many, "One row per setting: median and 5-95 % range of the cosine"));
    CU_ASSERT(!says(many, "ensity"));
    hn_results_free(&ctx, &r);
    r = results_where(is_ring);
    const char *few = caption_of(&r, "bs-fig4");
    CU_ASSERT(says(few, "Left: density of the cosines"));
    CU_ASSERT(!says(few, "row"));
    end(&r);
}

// The same picture in another width: what is an inset on the page is a panel beside in a column.
static void insets_where_drawn(void) {
    static char narrow[HN_CAPTION_SIZE];
    begin();
    struct hn_results r = results_where(is_anything);
    const char *wide = caption_of(&r, "gc-fig3");
    CU_ASSERT(says(wide, "Inset: the two losses") || says(wide, "Right: the two losses"));
    struct hn_picture column = {"pdf", NULL, hn_medium(2), 1, NULL, narrow};
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("gc-fig3"), &r, folder, column));
    CU_ASSERT(says(narrow, "Last panel: the two losses"));
    end(&r);
}

// No caption names a colour, which the dark page and a style change.
static void no_colours(void) {
    static const char *const colours[] = {"black", "Black", "grey", "white", "blue", NULL};
    begin();
    struct hn_results r = results_where(is_anything);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        const char *caption = caption_of(&r, (*f)->id);
        hn_test_entry((*f)->id);
        CU_ASSERT(strlen(caption) > 40);
        for (int i = 0; colours[i]; i++)
            CU_ASSERT(!says(caption, colours[i]));
    }
    end(&r);
}

static const struct hn_test tests[] = {
    {"intervals_where_drawn", intervals_where_drawn},
    {"rows_or_densities", rows_or_densities},
    {"insets_where_drawn", insets_where_drawn},
    {"every_caption_without_colours", no_colours},
};
HN_TEST_MAIN("captions", tests)
