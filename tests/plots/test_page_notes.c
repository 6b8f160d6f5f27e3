// SPDX-License-Identifier: GPL-3.0-or-later
// What figures say, and which panels and curves they have, of results with more than they draw, and
// of those that lack a value: pages are filled, and no picture is made.
#include "plots/page/curves.h"
#include "plots/page/page_private.h"
#include "plots/page/render.h"
#include "tests/plots/changed_results.h"

// --- ways to change the results of the fixture ---

static void other_data(const char *name) { half(name, "dataset", "b.h5"); }

static void as_it_is(void) {}
static void prop1_of_two(void) { other_data("prop1"); }
static void prop1_steps(void) { count("prop1", "step", 0); }
static void prop1_settings(void) {
    struct hn_table *t = table("studies");
    for (int64_t row = 0; row < t->rows; row++) {
        char params[32];
        snprintf(params, sizeof params, "K=%d", (int)row);
        text("studies", row, "params", params);
        text("studies", row, "dataset", figures_dataset);
    }
    count("prop1", "study_row", 0);
}
static void prop1_bare(void) { all("prop1", "measured_lo", NAN); }
static void prop1_empty(void) { all("prop1", "s", NAN); }
static void prop2_bounds(void) {
    set("prop2", 0, "bound", 0);
    set("prop2", 1, "escape_mean", NAN);
    set("prop2", 2, "step", 200);
}
static void prop2_unbounded(void) { all("prop2", "bound", 0); }
static void prop3_steps(void) {
    for (int i = 0; i < 3; i++) { // more rows
        HN_CHECK(&ctx, hn_table_add_row(&ctx, table("prop3")));
        int64_t row = table("prop3")->rows - 1;
        text("prop3", row, "dataset", figures_dataset);
        set("prop3", row, "study_row", hn_table_real(table("prop3"), 0, "study_row"));
        set("prop3", row, "beta", i);
        set("prop3", row, "ratio", 0.5);
    }
    count("prop3", "step", 0);
}
static void prop3_cells(void) { count("prop3", "study_row", 0); }
static void ages_builds(void) {
    for (int i = 0; i < 2; i++) {
        HN_CHECK(&ctx, hn_table_add_row(&ctx, table("staleness")));
        text("staleness", table("staleness")->rows - 1, "dataset", figures_dataset);
    }
    all("staleness", "study_row", 4);
    count("staleness", "build_step", 0);
    count("staleness", "step", 0);
    all("staleness", "cos_mean", 0.5);
}
static void purity_ranks(void) {
    struct hn_table *t = table("purity");
    for (int i = 0; i < 5; i++) {
        HN_CHECK(&ctx, hn_table_add_row(&ctx, t));
        text("purity", t->rows - 1, "dataset", figures_dataset);
        text("purity", t->rows - 1, "graph", "knn");
        set("purity", t->rows - 1, "study_row", 5);
        set("purity", t->rows - 1, "K", 100);
        set("purity", t->rows - 1, "item", -1);
        set("purity", t->rows - 1, "purity", 0.5);
    }
    for (int64_t row = 0; row < t->rows; row++) {
        text("purity", row, "graph", "knn");
        set("purity", row, "rank_lo", (double)row + 3);
        set("purity", row, "rank_hi", (double)row + (row ? 4 : 3));
    }
}
static void purity_holes(void) {
    set("purity", 0, "purity", NAN); // of one graph at the first step
    set("purity", 1, "purity", NAN);
    set("purity", 2, "item", 7);
}
static void heat_outside(void) {
    set("heatmap", 3, "cell_row", -1);
    set("heatmap", 4, "cell_col", -1);
}
static void heat_large(void) {
    set("heatmap", 35, "cell_row", 900);
    set("heatmap", 35, "cell_col", 900);
}
static void costs_of_others(void) {
    text("costs", 0, "sampler", "knn");
    text("costs", 1, "entries", "normal");
    set("costs", 2, "cost_g", NAN);
}
static void costs_inverted(void) { all("costs", "cost_epoch", 1e6); }
static void many_costs(void) {
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "data %d", i);
        HN_CHECK(&ctx, hn_table_add_row(&ctx, table("costs")));
        int64_t row = table("costs")->rows - 1;
        text("costs", row, "name", name);
        text("costs", row, "sampler", "gcbs");
        set("costs", row, "items", 10 + i);
        set("costs", row, "cost_g", 1);
        set("costs", row, "cost_s", 1e-3);
    }
}
static void thin_bins(void) {
    for (int64_t row = 0; row < table("cosines")->rows; row++)
        set("cosines", row, "bin_hi", hn_table_real(table("cosines"), row, "bin_lo"));
}
static void one_kind(void) {
    for (int64_t row = 0; row < table("cosines")->rows; row++)
        text("cosines", row, "kind", "same_label");
}
static void price_holes(void) {
    set("price", 0, "hardness", NAN);
    set("price", 1, "false_negatives", NAN);
    set("price", 2, "false_lo", NAN);
    set("price", 4, "false_hi", NAN);
}
static void price_of_two(void) { other_data("price"); }
static void temperatures(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        set("runs", row, "temperature", 0.1 * (double)(1 + row % 6));
}
static void shorter_series(void) { // of the second data set one step, of the first both
    for (int64_t row = 0; row < results.runs.rows; row++)
        if (row % 2 == 1 && hn_table_real(&results.runs, row, "step") < 50)
            text("runs", row, "dataset", "b.h5");
}
static void batches_nan(void) {
    for (int64_t i = 0; i < results.batch_start[results.runs.rows]; i++)
        results.batch_fn_ratio[i] = NAN;
}
static void no_batches(void) {
    hn_free(&ctx, results.batch_start);
    hn_free(&ctx, results.batch_fn_ratio);
    hn_free(&ctx, results.batch_cos_mean);
    results.batch_start = NULL;
    results.batch_fn_ratio = results.batch_cos_mean = NULL;
}
static void failed(void) { half("runs", "status", "failed"); }
static void none_finished(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        text("runs", row, "status", "failed");
}
static void one_graph(void) {
    options("batchsampler", "graph=knn", "K=100, M=500, alpha=0.2, " WALK);
}
static void limits(void) { options("batchsampler", "M=1000", "K=1, M=1, alpha=0.5, " WALK); }
static void other_walk(void) {
    options("batchsampler", "walk=bfs",
            "K=100, M=500, alpha=0.2, cap=50, graph=knn, t=100, walk=bfs");
}
static void rings_of_two(void) { options("ring", "hi=50", "hi=50, lo=0, n=31, space=features"); }
static void rings_of_spaces(void) { options("ring", "hi=50", "hi=50, lo=0, n=63, space=teacher"); }
static void one_ring(void) { options("ring", "hi=50", "hi=100, lo=50, n=63, space=features"); }
static void like_named(void) {
    options("batchsampler", "K=100, M=500, alpha=0.2, " WALK,
            "K=100, KM=3, M=500, alpha=0.2, " WALK);
    options("batchsampler", "M=1000", "K=100, KM=3, M=1000, alpha=0.2, " WALK);
}
static void no_expectation(void) { all("training", "loss_expected", NAN); }
static void evaluated_late(void) {
    for (int64_t row = 0; row < table("training")->rows; row++)
        if (hn_table_real(table("training"), row, "step") < 1)
            set("training", row, "knn_acc", NAN);
}
static void no_false_negatives(void) { all("runs", "fn_ratio", NAN); }
static void some_unmeasured(void) {
    for (int64_t row = 0; row + 2 < results.runs.rows; row += 5) {
        set("runs", row, "fn_ratio", NAN);
        set("runs", row + 1, "hard_true_mean", NAN);
        set("runs", row + 2, "cost_s", NAN);
    }
}
static void masses(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        if (hn_table_real(&results.runs, row, "beta") > 1.5)
            set("runs", row, "fn_mass", NAN);
}

// A metric over the past, of files without commits.
static void past(const char *units) {
    hn_table_free(&ctx, &results.runs);
    figures_table(&ctx, &results.runs, "runs", "created commit sampler", "value");
    for (int i = 0; i < 4; i++) {
        figures_row(&ctx, &results.runs);
        figures_text(&ctx, &results.runs, "created", i % 2 ? "2026-02-01T" : "2026-01-01T");
        figures_text(&ctx, &results.runs, "commit", i % 2 ? "0123456789" : "");
        figures_text(&ctx, &results.runs, "sampler", i < 2 ? "knn" : "uniform");
        figures_reals(&ctx, &results.runs, "value %d", i);
    }
    HN_CHECK(&ctx, hn_results_set(&ctx, &results, "metric", "fn_ratio"));
    HN_CHECK(&ctx, hn_results_set(&ctx, &results, "units", units));
}
static void past_plain(void) { past(""); }
static void past_in_seconds(void) { past("s"); }

// What a page has, as a text.
static void render(const struct hn_page *page, char *out, size_t size) {
    snprintf(out, size, "%s|%s", page->said, page->note);
    for (int p = 0; p < page->panels; p++) {
        const struct hn_panel *panel = &page->panel[p];
        hn_append(out, size, "\n[%s]", panel->title);
        for (int s = 0; s < panel->n_series; s++)
            hn_append(out, size, " '%s' %d", hn_series_end(panel->series[s]),
                      (int)panel->series[s]->n);
        for (int i = 0; i < panel->x.n_tics + panel->y.n_tics; i++)
            hn_append(out, size, " <%s>",
                      (i < panel->x.n_tics ? &panel->x.tic[i] : &panel->y.tic[i - panel->x.n_tics])
                          ->text);
    }
}

static const struct {
    const char *id;
    void (*change)(void);
    const char *settings, *says;
    const char *lacks; // NULL: nothing
} cases[] = {
    {"bs-prop1", as_it_is, NULL, "'measured' 9", "steps are drawn"},
    {"bs-prop1", prop1_of_two, NULL, "Only the first data set, cifar10-mini, is drawn.", NULL},
    {"bs-prop1", prop1_steps, NULL, "The first 6 of 9 steps are drawn.", NULL},
    {"bs-prop1", prop1_settings, NULL, "The first 6 of 9 settings of the study are drawn.", NULL},
    {"bs-prop1", prop1_bare, NULL, "'measured' 9", NULL},
    {"bs-prop1", prop1_empty, NULL, "nothing", NULL},
    {"bs-prop2", prop2_bounds, NULL, "step 200", NULL},
    {"bs-prop2", prop2_unbounded, NULL, "nothing", NULL},
    {"hc-prop3", prop3_steps, NULL, "The first 6 of 9 curves are drawn.", NULL},
    {"hc-prop3", prop3_cells, NULL, "'worst case'", NULL},
    {"bs-t", ages_builds, NULL, "Graphs of the first 6 of 8 steps are drawn.", NULL},
    {"bs-fig16", purity_ranks, NULL, "Farther ranks are left out.", NULL},
    {"bs-fig16", purity_ranks, NULL, "'rank 3'", NULL},
    {"bs-fig16", purity_holes, NULL, "<100>", NULL},
    {"gc-fig1", heat_outside, NULL, "[", "A square is the mean"},
    {"gc-fig1", heat_large, NULL, "A square is the mean of 3 x 3 cells.", NULL},
    {"gc-table11", costs_of_others, NULL, "'clustered' 1", NULL},
    {"gc-table11", costs_inverted, NULL, "'uniform entries' 3", NULL},
    {"bs-table5", many_costs, NULL, "Only the first 40 rows of /tables/costs are drawn.", NULL},
    {"hc-fig5", thin_bins, NULL, "nothing", NULL},
    {"hc-fig5", one_kind, NULL, "nothing", NULL},
    {"price", price_holes, NULL, "'front' 3", NULL},
    {"price", price_of_two, NULL, "Only the first data set, cifar10-mini, is drawn.", NULL},
    {"gc-fig3", temperatures, NULL, "Only the first 4 temperatures of the file are drawn.", NULL},
    {"gc-fig6", temperatures, NULL, "Only the first 4 temperatures of the file are drawn.", NULL},
    {"bs-M", shorter_series, NULL, "[b", NULL},
    {"bs-fig4", shorter_series, NULL, "[b", NULL},
    {"bs-fig13", shorter_series, NULL, "[", NULL},
    {"bs-fig7", as_it_is, NULL, "'' 18", NULL}, // a dot a batch and seed
    {"bs-fig7", batches_nan, NULL, "'' 0", "'' 18"},
    {"bs-fig7", no_batches, NULL, "'' 0", "'' 18"},
    {"bs-fig7", failed, NULL, "[", NULL},
    {"bs-M", none_finished, NULL, "nothing", NULL},
    {"bs-fig7", one_graph, NULL, "nothing", NULL},
    {"bs-limits", limits, NULL, "M=1", NULL},
    {"bs-fig6", other_walk, NULL, "nothing", NULL},
    {"ns-ring", rings_of_two, NULL, "'features, n=31'", NULL},
    {"ns-ring", rings_of_spaces, NULL, "'teacher' 1", NULL},
    {"ns-ring", one_ring, NULL, "the runs have one ring alone", NULL},
    {"bs-M", like_named, NULL, "'step 0' 2", NULL},
    {"gc-fig7", no_expectation, NULL, "nothing", NULL},
    {"accuracy", as_it_is, "uniform",
     "settings are drawn, those that were named; left out: ", NULL},
    {"accuracy", as_it_is, "uniform", " more.", NULL},
    {"accuracy", as_it_is, "uniform, knn, batchsampler, gcbs, ring", "[", "left out"},
    {"accuracy", evaluated_late, NULL, "[", NULL},
    {"pareto", some_unmeasured, NULL, "[", NULL},
    {"pareto", no_false_negatives, NULL, "nothing", NULL},
    {"fronts", some_unmeasured, NULL, "[", NULL},
    {"history", past_plain, NULL, "<2026-01-01> <2026-02-01  0123456>", NULL},
    {"history", past_in_seconds, NULL, "<2026-01-01> <2026-02-01  0123456>", NULL},
    {"hc-mass", masses, NULL, "<1>", "<2>"},
};

static void notes(void) {
    static char said[1 << 14];
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hn_figure *f = strcmp(cases[i].id, "accuracy") == 0 ? &hn_accuracy
                                    : strcmp(cases[i].id, "history") == 0
                                        ? &hn_history
                                        : hn_figure_find(cases[i].id);
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        results = figures_results(&ctx);
        cases[i].change();
        {
            HN_SCOPE(&ctx);
            hn_page_begin(&ctx, page);
            page->settings = cases[i].settings;
            if (hn_page_fill(page, f, &results))
                snprintf(said, sizeof said, "nothing: %s", ctx.message);
            else
                render(page, said, sizeof said);
        }
        hn_test_entry(cases[i].id);
        if (!strstr(said, cases[i].says) || (cases[i].lacks && strstr(said, cases[i].lacks)))
            fprintf(stderr, "    case %d, %s: no \"%s\" in \"%s\"\n", (int)i, cases[i].id,
                    cases[i].says, said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].says));
        CU_ASSERT(!cases[i].lacks || !strstr(said, cases[i].lacks));
        hn_results_free(&ctx, &results);
    }
    hn_free(&ctx, page);
    end();
}

// --- pages without results ---

// What is more than a page holds is counted or left out, and said once.
static void full(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        struct hn_panel *first = hn_page_panel(page, "", "x", "y");
        for (int s = 0; s < HN_PANEL_SERIES + 2; s++)
            hn_series_add(hn_panel_series(page, first, "", HN_LOOK_LINE, s), s, s);
        for (int i = 0; i < HN_PANEL_MARKS + 2; i++) {
            hn_panel_frame(first, i, i, i + 1, i + 1);
            hn_panel_mark(first, i, i, "mark", NULL, "", 0);
        }
        CU_ASSERT(first->n_marks == HN_PANEL_MARKS && first->n_frames == HN_PANEL_MARKS);
        for (int p = 1; p < HN_PAGE_PANELS + 2; p++)
            hn_series_add(
                hn_panel_series(page, hn_page_panel(page, "", "", ""), "", HN_LOOK_LINE, 0), p, p);
        HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
        CU_ASSERT_EQUAL(page->panels, HN_PAGE_PANELS);
        CU_ASSERT_EQUAL(first->n_series, HN_PANEL_SERIES);
        CU_ASSERT_STRING_EQUAL(page->note,
                               "Of a panel only the first 192 curves are drawn. Only the "
                               "first 36 panels are drawn.");
    }
    hn_free(&ctx, page);
    end();
}

// Ranges of axes, and where a value lies on them.
static void ranges(void) {
    static const struct {
        bool log, tight, zero;
        double lo, hi;    // that the axis asks for
        double from, to;  // values; NaN: none
        double low, high; // the range
    } axes[] = {{false, true, false, NAN, NAN, NAN, NAN, 0, 1},
                {true, true, false, NAN, NAN, NAN, NAN, 1, 10},
                {false, true, false, NAN, NAN, 2, 4, 2, 4},
                {false, false, false, NAN, NAN, 2, 4, 1.88, 4.12},
                {false, false, true, NAN, NAN, 1, 4, 0, 4.24},
                {false, false, true, NAN, NAN, -1, 4, -1.3, 4.3},
                {false, false, false, NAN, NAN, 4, 4, 3.8, 4.2},
                {false, false, false, NAN, NAN, 0, 0, -1e-3, 1e-3},
                {true, true, false, NAN, NAN, 1, 100, 1, 100},
                {true, true, false, NAN, NAN, 10, 10, 5.0118723363, 19.952623150},
                {true, true, false, NAN, NAN, 0, 100, 50.118723363, 199.52623150},
                {false, true, false, 3, 3, 2, 4, 3, 4},
                {false, true, false, 1e31, NAN, 2, 4, 2, 4},
                {false, true, false, NAN, 9, 2, 4, 2, 9}};
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
        struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_LINE, 0);
        hn_series_add(s, axes[i].from, 1);
        hn_series_add(s, axes[i].to, 2);
        panel->x.log = axes[i].log, panel->x.tight = axes[i].tight, panel->x.zero = axes[i].zero;
        panel->x.lo = axes[i].lo, panel->x.hi = axes[i].hi;
        const struct hn_range r = hn_page_range(page, panel, false);
        if (!(fabs(r.lo - axes[i].low) < 1e-6 && fabs(r.hi - axes[i].high) < 1e-6))
            fprintf(stderr, "    axis %d: %g to %g\n", (int)i, r.lo, r.hi);
        CU_ASSERT_DOUBLE_EQUAL(r.lo, axes[i].low, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(r.hi, axes[i].high, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(hn_axis_share(&panel->x, r.lo, r), 0, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(hn_axis_share(&panel->x, r.hi, r), 1, 1e-12);
        if (axes[i].log)
            CU_ASSERT_EQUAL(hn_axis_share(&panel->x, 0, r), 0);
    }
    hn_free(&ctx, page);
    end();
}

// Values of a paper, or rules, alone make no panel; panels without data go, those that are blank
// stay; for lack of room the first are drawn.
static void kept_panels(void) {
    static const struct {
        enum hn_look look;
        int panels, most, kept;
        bool tall, inset;
    } pages[] = {{HN_LOOK_LINE, 3, 0, 3, false, false}, {HN_LOOK_PAPER, 3, 0, 0, false, false},
                 {HN_LOOK_RULE, 3, 0, 0, false, false}, {HN_LOOK_UPRIGHT, 3, 0, 0, false, false},
                 {HN_LOOK_LINE, 3, 2, 2, false, false}, {HN_LOOK_LINE, 3, 4, 3, false, false},
                 {HN_LOOK_LINE, 3, 2, 3, true, false},  {HN_LOOK_LINE, 2, 1, 2, false, true},
                 {HN_LOOK_LINE, 3, 2, 2, false, true}};
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        for (int p = 0; p < pages[i].panels; p++) {
            struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
            hn_series_add(hn_panel_series_of(page, panel, pages[i].look, 1), 1, 1);
            hn_series_add(hn_panel_series(page, panel, "named", pages[i].look, 2), 1, 1);
            hn_series_add(hn_panel_series_of(page, panel, pages[i].look, 1), 2, 1);
            hn_series_add(hn_panel_series_of(page, panel, pages[i].look, 2), 2, 1);
            CU_ASSERT(panel->n_series == 3 && panel->series[0]->n == 2);
        }
        page->most_panels = pages[i].most;
        page->tall_last = pages[i].tall, page->inset = pages[i].inset;
        enum hn_code code = hn_page_finish(page, "no data");
        CU_ASSERT_EQUAL(code, pages[i].kept > 0 ? HN_OK : HN_NOT_APPLICABLE);
        CU_ASSERT_EQUAL(page->panels, pages[i].kept);
        CU_ASSERT_EQUAL(strstr(page->note, "For lack of room only the first 2 of 3") != NULL,
                        pages[i].kept > 0 && pages[i].kept < pages[i].panels);
    }
    hn_free(&ctx, page);
    end();
}

// An interval has two ends; a band is of few curves, on no rows.
static void intervals(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
        struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_LINE, 0);
        CU_ASSERT_FALSE(hn_series_has_interval(s));
        hn_series_add_span(s, 1, 1, 0, NAN);
        hn_series_add_span(s, 1, 1, NAN, 2);
        CU_ASSERT_FALSE(hn_series_has_interval(s));
        hn_series_add_span(s, 1, 1, 0, 2);
        CU_ASSERT_TRUE(hn_series_has_interval(s));
        for (int curves = 1; curves < 12; curves++) {
            CU_ASSERT_EQUAL(hn_series_is_band(panel, s), curves <= 8);
            struct hn_series *other = hn_panel_series(page, panel, "", HN_LOOK_LINE, curves);
            hn_series_add(other, 1, 1);
            CU_ASSERT_FALSE(hn_series_is_band(panel, other)); // a point is no curve
            hn_series_add(other, 2, 1);
        }
        panel->n_series = 1;
        panel->rows = true;
        CU_ASSERT_FALSE(hn_series_is_band(panel, s));
        hn_panel_mark(panel, NAN, 1, "a", NULL, "", 0);
        hn_panel_mark(panel, 1, NAN, "b", NULL, "", 0);
        hn_panel_mark(panel, 1, 1, "c", NULL, "", 0);
        CU_ASSERT_EQUAL(panel->n_marks, 1);
    }
    hn_free(&ctx, page);
    end();
}

// What gnuplot is asked for.
static void expect_script(struct hn_page *page, const char *part) {
    char *script;
    size_t size;
    FILE *gp = open_memstream(&script, &size);
    hn_page_write_script(page, "page.tsv", gp);
    CU_ASSERT_EQUAL(fclose(gp), 0);
    if (!strstr(script, part))
        fprintf(stderr, "    no \"%s\" in:\n%s", part, script);
    CU_ASSERT_PTR_NOT_NULL(strstr(script, part));
    free(script);
}

// Tics of logarithmic axes of few and of many decades, as text and for LaTeX.
static void logarithmic(void) {
    static const struct {
        double from, to;
        bool latex;
        const char *part;
    } axes[] = {
        {1, 1000, false, "set format x '%g'\nset xtics 10\n"},
        {1, 1000, true, "set format x '$%g$'\nset xtics 10\n"},
        {1e5, 3e6, false, "set format x '%.0t·10^{/*1.1 %T}'\nset xtics (100000, 200000, "},
        {1e5, 3e6, true, "set format x '$%.0t\\cdot10^{%T}$'\nset xtics (100000, 200000, "},
        {1e-8, 1e8, false, "set format x '10^{/*1.1 %T}'\nset xtics 100\n"},
        {1e-8, 1e8, true, "set format x '$10^{%T}$'\nset xtics 100\n"},
        {1e-8, 1e8, false, "if (GPVAL_VERSION >= 6) { set xtics (1e-08, 1e-06, "},
        {2.1e5, 3.4e5, false, "set format x '%h'\nset xtics ("},
        {2.1e5, 3.4e5, true, "set format x '$%h$'\nset xtics ("},
    };
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        page->latex = axes[i].latex;
        struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
        struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_LINE, 0);
        panel->x.log = panel->x.tight = true;
        hn_series_add(s, axes[i].from, 1);
        hn_series_add(s, axes[i].to, 2);
        HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
        expect_script(page, axes[i].part);
    }
    hn_free(&ctx, page);
    end();
}

// Colours of cells that are all 0; letters of discs on a terminal, as far as they go, where panels
// that are blank and series without data have none.
static void colours_and_letters(void) {
    begin();
    struct hn_page *page = hn_zalloc(&ctx, 1, sizeof *page);
    {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        struct hn_series *s =
            hn_panel_series(page, hn_page_panel(page, "", "x", "y"), "share", HN_LOOK_HEAT, 0);
        hn_series_add_sized(s, 1, 1, 0);
        hn_series_add_sized(s, 2, 2, 0);
        HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
        expect_script(page, "set cbrange [0.5:1]; cb_lo = 0.5\n");
    }
    {
        HN_SCOPE(&ctx);
        hn_page_begin(&ctx, page);
        hn_page_panel(page, "", "", "")->blank = true;
        struct hn_panel *panel = hn_page_panel(page, "", "x", "y");
        hn_panel_series(page, panel, "empty", HN_LOOK_DISCS, 0);
        for (int k = 0; k < 64; k++)
            hn_series_add_sized(hn_panel_series(page, panel, "disc", HN_LOOK_DISCS, k), k, k, 1);
        page->all_on_terminal = true;
        HN_CHECK(&ctx, hn_page_finish(page, "nothing"));
        expect_script(page, "set multiplot layout 2,1\n");
        expect_script(page, "points pt \"a\"");
        expect_script(page, "points pt \"9\"");
        expect_script(page, "points pt \"*\"");
    }
    hn_free(&ctx, page);
    end();
}

static const struct hn_test tests[] = {
    {"notes", notes},
    {"full", full},
    {"ranges", ranges},
    {"kept panels", kept_panels},
    {"intervals", intervals},
    {"logarithmic", logarithmic},
    {"colours and letters", colours_and_letters},
};
HN_TEST_MAIN("page_notes", tests)
