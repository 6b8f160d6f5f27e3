// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of results says of those that lack a part, or hold one more: without figures, as
// where no gnuplot is.
#include "plots/report/report.h"
#include "plots/report/report_private.h"
#include "tests/plots/changed_results.h"

static void unfinished(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        text("runs", row, "status", "failed");
}
static void as_it_is(void) {}
static void samplers_alone(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        text("runs", row, "task", "");
    results.n_tables = 0;
}
static void several_data(void) {
    for (int64_t row = 0; row < results.runs.rows; row++) {
        char name[16];
        snprintf(name, sizeof name, "d%d.h5", (int)(row % FIGURES_SEEDS));
        text("runs", row, "dataset", name);
        text("runs", row, "dataset_sha256", name);
        set("runs", row, "seed", 1);
    }
    samplers_alone();
}
static void named(void) {
    HN_CHECK(&ctx, hn_results_set(&ctx, &results, "title", "Cosines & <others>"));
    HN_CHECK(&ctx, hn_results_set(&ctx, &results, "argv", ""));
}
static struct hn_table *add_table(const char *name, const char *texts, const char *numbers) {
    struct hn_table *t = hn_results_add_table(&ctx, &results);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    figures_table(&ctx, t, name, texts, numbers);
    return t;
}
static void ids_alone(void) {
    struct hn_table *ids = add_table("claim_ids", "id title verdict reason", "claims");
    figures_row(&ctx, ids);
    figures_text(&ctx, ids, "id", "bs-fig4");
    figures_text(&ctx, ids, "verdict", "not tested");
    figures_text(&ctx, ids, "reason", "needs ImageNet");
}
static void claims_without_rows(void) {
    (void)add_table("claims", "id claim statement verdict reason at paper paper_table",
                    "own own_lo own_hi");
}
static void claims_alone(void) {
    struct hn_table *t = add_table(
        "claims", "id claim statement verdict reason at paper paper_table", "own own_lo own_hi");
    static const char *const verdicts[] = {"holds", "inconclusive", "not tested", "not comparable"};
    for (int i = 0; i < 4; i++) {
        figures_row(&ctx, t);
        figures_text(&ctx, t, "id", i % 2 ? "bs-fig4" : "no-figure");
        figures_text(&ctx, t, "verdict", verdicts[i]);
        figures_text(&ctx, t, "statement", "kNN above uniform");
    }
}
// Prices alone, of a file with columns that every version has.
static void prices(void) {
    results.runs.rows = 0;
    text("price", 0, "family", "min-rank");
    set("price", 0, "value", 1);
}
static void prices_free(void) {
    prices();
    set("price", 0, "false_negatives", 0);
}
static void prices_unbounded(void) {
    prices();
    set("price", 0, "false_hi", NAN);
}
static void prices_without_top(void) {
    prices();
    text("price", 0, "family", "max-rank");
    set("price", 2, "value", 7);
}
static void no_prices(void) {
    results.runs.rows = 0;
    table("price")->rows = 0;
}
static void attrition(void) {
    static const char *const rows[][2] = {
        {"--min-rank 1", "known"}, {"--min-rank 1", "min-rank"}, {"--min-rank 1", "kept"},
        {"--max-rank 9", "known"}, {"--max-rank 9", "max-rank"}, {"--max-rank 9", "kept"}};
    prices();
    struct hn_table *t = add_table("price_attrition", "setting filter", "candidates known hidden");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        figures_row(&ctx, t);
        figures_text(&ctx, t, "setting", rows[i][0]);
        figures_text(&ctx, t, "filter", rows[i][1]);
        figures_reals(&ctx, t, "candidates %d known 1 hidden 2", 1000 + (int)i);
    }
}
static void attrition_empty(void) {
    prices();
    (void)add_table("price_attrition", "setting filter", "candidates known hidden");
}
static void no_baseline(void) {
    for (int64_t row = 0; row < table("training")->rows; row++)
        if (hn_table_real(table("training"), row, "step") < 1)
            set("training", row, "knn_acc", NAN);
}
static void studies_without_rows(void) { table("studies")->rows = 0; }
static void one_setting(void) {
    for (int64_t row = 0; row < results.runs.rows; row++)
        if (hn_table_real(&results.runs, row, "step") < 50 ||
            strcmp(hn_table_text(&results.runs, row, "sampler"), "knn") != 0)
            text("runs", row, "status", "failed");
}
static void version(void) {
    HN_CHECK(&ctx, hn_results_set_env(&ctx, &results, "results_version", "1"));
}
static void many_sizes(void) { // a league each
    for (int64_t row = 0; row < results.runs.rows; row++)
        set("runs", row, "batch_size", 8 * (double)(1 + row % 30));
    samplers_alone();
}
static void outcome_unmeasured(void) { all("runs", "fn_ratio", NAN); }

static const struct {
    void (*change)(void);
    const char *outcome; // the table of a user, NULL: none
    const char *says, *lacks;
} cases[] = {
    {as_it_is, NULL, "<table id=settings", "No run is finished"},
    {unfinished, NULL, "<p>No run is finished.</p>", "<table id=settings"},
    {unfinished, "sampler,acc\nuniform,1\n", "acc.csv: the results have no finished cell", NULL},
    {several_data, NULL, "<h2 id=over>Ranks over data sets</h2>", NULL},
    {several_data, NULL, "on average over 3 data sets", NULL},
    {named, NULL, "Cosines &#38; &#60;others&#62;", "The command that produced these results"},
    {ids_alone, NULL, "needs ImageNet", NULL},
    {claims_without_rows, NULL, "What the papers claim", "<b>0</b>"},
    {claims_alone, NULL, "<b>1</b> holds", NULL},
    {prices, NULL, "<small>the ", NULL},
    {prices, NULL, "negatives of each of", "data-command=\""},
    {prices_free, NULL, "<th scope=row>any</th>", NULL},
    {prices_unbounded, NULL, "<th scope=row>any</th>", NULL},
    {prices_without_top, NULL, "negatives of each of", "<th scope=row>any</th>"},
    {no_prices, NULL, "<p>No run is finished.</p>", NULL},
    {attrition, NULL, "1001", "1003"}, // a filter that all have comes with the first
    {attrition, NULL, "What the filters take", NULL},
    {attrition_empty, NULL, "negatives of each of", "What the filters take"},
    {no_baseline, NULL, "the page cannot tell whether training improved anything", NULL},
    {studies_without_rows, NULL, "<table id=settings", " studies"},
    {one_setting, NULL, "knn", NULL},
    {version, NULL, "version", NULL},
    {many_sizes, NULL, "See the table for further files and batch sizes (", NULL},
    {as_it_is, "sampler,params,batch_size,weighting,acc\nuniform,,64,none,7\nknn,,64,none,7\n",
     "Rank correlation: none, as one of them does not vary.", NULL},
    {as_it_is, "sampler,params,batch_size,weighting,acc\nuniform,,64,none,7\nknn,,64,none,70\n",
     "over 2 settings: too few for an interval.", NULL},
    {as_it_is,
     "sampler,params,batch_size,weighting,acc\nuniform,,64,none,100\nknn,,64,none,200\n"
     "batchsampler,alpha=1,64,none,300\ngcbs,,64,none,400\nring,lo=0,64,none,500\n"
     "ring,lo=50,64,none,600\n",
     "over 6 settings: of agreement throughout there is no interval.", NULL},
    {outcome_unmeasured,
     "sampler,params,batch_size,weighting,acc\nuniform,,64,none,1\nknn,,64,none,2\n", "knn",
     "over 2 settings: too few for an interval.</figcaption>\n</figure>\n<figure>"},
};

// The page, or the sentence that refuses it. Owned: free().
static char *page_of(const char *outcome) {
    char *page = NULL, copy[1000];
    size_t size;
    FILE *html = open_memstream(&page, &size);
    snprintf(copy, sizeof copy, "%s", outcome ? outcome : "");
    const struct hn_report what = {.results = &results,
                                   .name = "table",
                                   .scratch = folder,
                                   .margin = HN_MARGIN,
                                   .outcome = outcome ? "acc.csv" : NULL,
                                   .outcome_text = copy};
    HN_SCOPE(&ctx);
    enum hn_code code = hn_report_write(&ctx, &what, html);
    CU_ASSERT_EQUAL(fclose(html), 0);
    CU_ASSERT(code == HN_OK || code == HN_GNUPLOT || code == HN_DATA);
    if (code == HN_DATA) {
        free(page);
        return strdup(ctx.message);
    }
    return page;
}

// Every link of the contents leads to a part that is there.
static void check_links(const char *page) {
    const char *at = strstr(page, "<nav aria-label=Contents>"),
               *end = at ? strstr(at, "</nav>") : NULL;
    while (at && (at = strstr(at, "<a href=\"#")) != NULL && at < end) {
        char id[32], quoted[48], bare[48], spaced[48];
        at += strlen("<a href=\"#");
        snprintf(id, sizeof id, "%.*s", (int)strcspn(at, "\""), at);
        snprintf(quoted, sizeof quoted, "id=\"%s\"", id);
        snprintf(bare, sizeof bare, "id=%s>", id);
        snprintf(spaced, sizeof spaced, "id=%s ", id);
        bool there = strstr(page, quoted) || strstr(page, bare) || strstr(page, spaced);
        if (!there)
            fprintf(stderr, "    #%s leads nowhere\n", id);
        CU_ASSERT_TRUE(there);
    }
}

static void pages(void) {
    char *path = strdup(getenv("PATH"));
    begin();
    setenv("PATH", "/nowhere", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        results = figures_results(&ctx);
        const int64_t rows = results.runs.rows, tables = results.n_tables;
        struct hn_table *before = results.table;
        cases[i].change();
        char *page = page_of(cases[i].outcome);
        bool good =
            strstr(page, cases[i].says) && !(cases[i].lacks && strstr(page, cases[i].lacks));
        if (!good)
            fprintf(stderr, "    case %d: no \"%s\", or \"%s\"%s%s\n", (int)i, cases[i].says,
                    cases[i].lacks ? cases[i].lacks : "", getenv("PAGES") ? " in: " : "",
                    getenv("PAGES") ? page : "");
        CU_ASSERT_TRUE(good);
        check_links(page);
        free(page);
        results.runs.rows = rows;
        if (results.table == before)
            results.n_tables = hn_max(results.n_tables, tables);
        hn_results_free(&ctx, &results);
    }
    setenv("PATH", path, 1);
    free(path);
    end();
}

static const struct hn_test tests[] = {{"pages", pages}};
HN_TEST_MAIN("report_cases", tests)
