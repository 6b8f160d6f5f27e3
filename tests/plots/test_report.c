// SPDX-License-Identifier: GPL-3.0-or-later
// The report: whole, self-contained, escaped, and honest about what it leaves out.
#include "harness/cli/command.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "tests/figures_fixture.h"
#include "tests/scratch.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static void need_gnuplot(void) {
    char out[64];
    if (hn_fixture_run("gnuplot --version 2>/dev/null", out, sizeof out) != 0)
        hn_test_skip("gnuplot is not there (gnuplot-nox)");
}

static char *slurp(const char *path) {
    char *text = calloc(1, 1 << 23);
    FILE *f = fopen(path, "r");
    if (!text || (f && fread(text, 1, (1 << 23) - 1, f) == 0))
        abort();
    if (f)
        fclose(f);
    return text;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static int files_in_folder(void) {
    DIR *dir = opendir(folder);
    int n = -2; // "." and ".."
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static enum hn_code report(const char *results, const char *page) {
    struct {
        char *output;
        int medium;
        double margin;
        char *outcome, *settings;
    } params = {(char *)page, 0, 0.5, NULL, NULL}; // its options
    struct hn_call call = {.quiet = true, .n_args = 1, .args = &results, .params = &params};
    CU_ASSERT_EQUAL_FATAL(hn_cmd_report.params_size, sizeof params);
    return hn_command_run(&ctx, &hn_cmd_report, &call);
}

static int figures_in_list(void) {
    int n = 0;
    while (hn_figures[n])
        n++;
    return n;
}

// Tags that are opened are closed, as far as a count says so.
static void check_balance(const char *page) {
    static const char *const tags[] = {"table", "section", "figure", "details", "svg", "ul", "pre"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        char open[32], open_bare[32], close[32];
        snprintf(open, sizeof open, "<%s ", tags[i]);
        snprintf(open_bare, sizeof open_bare, "<%s>", tags[i]);
        snprintf(close, sizeof close, "</%s>", tags[i]);
        CU_ASSERT_EQUAL(count(page, open) + count(page, open_bare), count(page, close));
    }
}

static void whole_page(void) {
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    hn_results_free(&ctx, &r);
    HN_CHECK(&ctx, report(folder, NULL));
    char *page = slurp(in_folder("index.html"));
    CU_ASSERT(strncmp(page, "<!DOCTYPE html>", 15) == 0 && strstr(page, "</html>"));
    CU_ASSERT_EQUAL(count(page, "<figure id="), figures_in_list());
    CU_ASSERT_EQUAL(count(page, "</svg>"), figures_in_list()); // of one measure of hardness
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        CU_ASSERT(strstr(page, (*f)->title) != NULL);
        char id[64];
        snprintf(id, sizeof id, "id='%s-gpPt0'", (*f)->id);
        CU_ASSERT_EQUAL(count(page, id), 1);
    }
    check_balance(page);
    CU_ASSERT(strstr(page, "hardneg run -c job.yaml") && strstr(page, "tool_version"));
    CU_ASSERT(strstr(page, "data-v=") && strstr(page, "aria-sort"));
    // Nothing is fetched: no address but the names of XML's spaces, no style sheet, no script file.
    CU_ASSERT_EQUAL(count(page, "src="), 0);
    CU_ASSERT_EQUAL(count(page, "http://") + count(page, "https://"), count(page, "www.w3.org"));
    CU_ASSERT_EQUAL(count(page, "@import") + count(page, "url(http"), 0);
    CU_ASSERT_EQUAL(count(page, "<script"), 1 + count(page, "<script type=\"application/json\""));
    // Again: the same bytes, and nothing but the page is left.
    HN_CHECK(&ctx, report(in_folder("results.h5"), in_folder("again.html")));
    char *again = slurp(in_folder("again.html"));
    CU_ASSERT(strcmp(page, again) == 0);
    CU_ASSERT_EQUAL(files_in_folder(), 3);
    free(page);
    free(again);
    end();
}

static const char evil[] = "a\"b'<script>alert(1)</script><img src=x onerror=alert(2)>&lt;\xFF`x`";

static void hostile_texts(void) {
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++)
        for (int c = 0; c < r.runs.n_columns; c++)
            if (r.runs.column[c].kind == HN_COLUMN_TEXT)
                HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, r.runs.column[c].name,
                                                 strcmp(r.runs.column[c].name, "status") == 0
                                                     ? row % 2 ? "ok" : evil
                                                     : evil));
    HN_CHECK(&ctx, hn_results_set(&ctx, &r, "argv", evil));
    HN_CHECK(&ctx, hn_results_set(&ctx, &r, "config", evil));
    HN_CHECK(&ctx, hn_results_set_env(&ctx, &r, "cpu_model", evil));
    struct hn_report what = {&r, evil, NULL, folder, 0, HN_MARGIN};
    FILE *f = fopen(in_folder("page"), "w");
    HN_CHECK(&ctx, hn_report_write(&ctx, &what, f));
    fclose(f);
    char *page = slurp(in_folder("page"));
    CU_ASSERT_EQUAL(count(page, "<script"), 1 + count(page, "<script type=\"application/json\""));
    CU_ASSERT_EQUAL(count(page, "<img"), 0);
    CU_ASSERT_EQUAL(count(page, "\xFF"), 0);
    CU_ASSERT(count(page, "&#60;script&#62;alert(1)") > 5);
    check_balance(page);
    free(page);
    hn_results_free(&ctx, &r);
    end();
}

// The page where no gnuplot is found. Owned: free().
static char *page_without_figures(const struct hn_results *r) {
    char *path = strdup(getenv("PATH"));
    struct hn_report what = {r, "table", NULL, folder, 0, HN_MARGIN};
    FILE *f = fopen(in_folder("page"), "w");
    setenv("PATH", "/nowhere", 1);
    HN_CHECK_FAILS(&ctx, hn_report_write(&ctx, &what, f), HN_GNUPLOT, "gnuplot-nox");
    setenv("PATH", path, 1);
    fclose(f);
    free(path);
    return slurp(in_folder("page"));
}

// Rows of the table of settings.
static int settings_in(const char *page) {
    const char *table = strstr(page, "<table id=settings");
    return table ? count(table, "data-sampler=") - count(strstr(table, "</table>"), "data-sampler=")
                 : 0;
}

// A row names its setting in one cell, with its value of every axis of the grid; rows are means
// over seeds with their difference to Uniform, the front is marked, and only rows of the last step
// are so marked.
static void table_of_settings(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    char *page = page_without_figures(&r);
    static const char *const axes[] = {"M", "K", "alpha", "beta"};
    int rows = settings_in(page);
    CU_ASSERT(strstr(page, "<table id=settings class=\"sortable fixed\">\n<thead><tr><th scope=col>"
                           "<button type=button>Setting</button></th>") != NULL);
    CU_ASSERT_EQUAL(count(page, "data-axis=\"step\""), rows);
    CU_ASSERT_EQUAL(count(page, "data-axis=\"weighting\""), rows);
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char value[64], head[64];
        snprintf(value, sizeof value, "<span data-axis=\"%s\" data-value=\"", axes[i]);
        snprintf(head, sizeof head, "<button type=button>%s<", axes[i]);
        CU_ASSERT(count(page, value) > 0 && count(page, value) < rows);
        CU_ASSERT_EQUAL(count(page, head), 0);
    }
    CU_ASSERT_EQUAL(rows, (int)r.runs.rows / FIGURES_SEEDS);
    CU_ASSERT_EQUAL(count(page, "data-last"), rows / FIGURES_STEPS);
    CU_ASSERT_EQUAL(count(page, " on the front<"), 0);
    CU_ASSERT_EQUAL(count(page, ">All settings are on the front: none is better"), 1);
    CU_ASSERT(strstr(page, "Uniform (points)</button>") != NULL);
    CU_ASSERT(strstr(page, "ms a batch</button>") && strstr(page, "title=\"draw "));
    check_balance(page);
    free(page);
    hn_results_free(&ctx, &r);
    end();
}

// Where some setting is beaten a column marks the others.
static void marks_of_the_front(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (strcmp(hn_table_text(&r.runs, row, "sampler"), "knn") == 0)
            for (int i = 0; hn_hardness_measure(&r, i); i++)
                HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row,
                                                 hn_hardness_measure(&r, i)->column, -0.9));
    char *page = page_without_figures(&r);
    CU_ASSERT(count(page, " on the front<") > 0);
    CU_ASSERT_EQUAL(count(page, "All settings are on the front"), 0);
    check_balance(page);
    free(page);
    hn_results_free(&ctx, &r);
    end();
}

// Every setting has its row, in a table that scrolls; of many that failed the first are listed.
static void many_settings(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        char params[32];
        snprintf(params, sizeof params, "K=%d", (int)row);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", params));
    }
    char *page = page_without_figures(&r);
    CU_ASSERT_EQUAL(settings_in(page), (int)r.runs.rows);
    CU_ASSERT_EQUAL(count(page, "data-axis=\"K\" data-value=\"7\">K=7</span>"), 1);
    CU_ASSERT_EQUAL(count(page, "class=\"scroll wide long\""), 1);
    CU_ASSERT_EQUAL(count(page, "Cells without numbers"), 0);
    check_balance(page);
    free(page);
    for (int64_t row = 1; row <= 40; row++)
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    page = page_without_figures(&r);
    CU_ASSERT_EQUAL(count(page, " (failed): "), 32);
    CU_ASSERT_EQUAL(count(page, "<li>and 8 more; column <code>error</code>"), 1);
    check_balance(page);
    free(page);
    hn_results_free(&ctx, &r);
    end();
}

static void add_claims(struct hn_results *r) {
    static const char *const verdicts[] = {"holds", "fails", "inconclusive", "not tested"},
                             *const id[] = {"no-figure", "bs-fig4", "bs-K", "bs-table9"};
    if (!hn_results_add_table(&ctx, r) || !hn_results_add_table(&ctx, r))
        abort();
    struct hn_table *claim = &r->table[r->n_tables - 2], *ids = claim + 1;
    figures_table(&ctx, claim, "claims", "id claim statement verdict reason at paper paper_table",
                  "own own_lo own_hi");
    figures_table(&ctx, ids, "claim_ids", "id title verdict reason", "claims");
    for (int i = 0; i < 4; i++) {
        figures_row(&ctx, claim);
        figures_text(&ctx, claim, "id", i == 2 ? "bs-fig4" : id[i]);
        figures_text(&ctx, claim, "statement", "kNN above <uniform>");
        figures_text(&ctx, claim, "verdict", verdicts[i]);
        figures_reals(&ctx, claim, "own 0.125 own_lo 0.1 own_hi 0.15");
        figures_row(&ctx, ids);
        figures_text(&ctx, ids, "id", id[i]);
        figures_text(&ctx, ids, "verdict", verdicts[i]);
        figures_text(&ctx, ids, "reason", "needs ImageNet");
    }
}

static void claims(void) {
    begin();
    char *path = strdup(getenv("PATH"));
    struct hn_results r = figures_results(&ctx);
    add_claims(&r);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    hn_results_free(&ctx, &r);
    setenv("PATH", "/nowhere", 1); // figures are not what this is about
    HN_CHECK_FAILS(&ctx, report(folder, NULL), HN_GNUPLOT, "gnuplot-nox");
    setenv("PATH", path, 1);
    free(path);
    char *page = slurp(in_folder("index.html"));
    CU_ASSERT(strstr(page, "<b>1</b> holds, <b>1</b> fails, <b>1</b> inconclusive, <b>1</b> not") !=
              NULL);
    CU_ASSERT(strstr(page, "<td class=\"verdict fails\">fails</td>") != NULL);
    CU_ASSERT(strstr(page, "kNN above &#60;uniform&#62;") != NULL);
    CU_ASSERT(strstr(page, "0.125<br><small>0.1 to 0.15</small>") != NULL);
    CU_ASSERT(strstr(page, "class=answer>\n<p><b>1</b> holds") != NULL);
    CU_ASSERT(strstr(page, "id=claims") < strstr(page, "<table id=settings"));
    CU_ASSERT(strstr(page, "id=\"figures\"") < strstr(page, "<table id=settings"));
    CU_ASSERT_EQUAL(count(page, "<td class=\"verdict soft\">"), 0); // they are listed below
    CU_ASSERT_EQUAL(count(page, "<li><b>bs-table9</b> : needs ImageNet</li>"), 1);
    CU_ASSERT_EQUAL(count(page, "<a href=\"#bs-fig4\">"), 2);
    CU_ASSERT_EQUAL(count(page, "<a href=\"#no-figure\">"), 0);
    CU_ASSERT(strstr(page, "needs ImageNet") != NULL);
    CU_ASSERT_EQUAL(count(page, "<figure id="), 0);
    CU_ASSERT(strstr(page, "gnuplot cannot be started") != NULL);
    check_balance(page);
    free(page);
    end();
}

// Results of one figure in ids/ come before those of the whole.
static void own_results_of_a_figure(void) {
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    CU_ASSERT_EQUAL(mkdir(in_folder("ids"), 0777), 0);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (strcmp(hn_table_text(&r.runs, row, "sampler"), "gcbs") == 0)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", "only-here"));
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("ids/gc-bounds.h5")));
    hn_results_free(&ctx, &r);
    HN_CHECK(&ctx, report(folder, NULL));
    char *page = slurp(in_folder("index.html"));
    CU_ASSERT(count(page, ">only-here") >= 1);
    free(page);
    end();
}

static void wrong_input(void) {
    begin();
    HN_CHECK_FAILS(&ctx, report("/nowhere", NULL), HN_DATA, "/nowhere");
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    hn_results_free(&ctx, &r);
    HN_CHECK_FAILS(&ctx, report(folder, "/nowhere/x.html"), HN_USAGE, "/nowhere/x.html");
    CU_ASSERT(access(in_folder("index.html"), F_OK) != 0);
    end();
}

// Without a byte of memory at any place: no leak, and no half-written page.
static void without_memory(void) {
    begin();
    char *path = strdup(getenv("PATH"));
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    hn_results_free(&ctx, &r);
    setenv("PATH", "/nowhere", 1);
    int failures = 0, pages = 0;
    for (int k = 1; pages < 2; k += k < 30 ? 1 : 301) {
        (void)unlink(in_folder("index.html"));
        ctx.memory.fail_at = 0;
        atomic_store(&ctx.memory.calls, 0);
        ctx.memory.fail_at = k;
        enum hn_code code = report(folder, in_folder("index.html"));
        ctx.memory.fail_at = 0;
        CU_ASSERT(code == HN_GNUPLOT || code == HN_MEMORY || code == HN_IO);
        CU_ASSERT_EQUAL(access(in_folder("index.html"), F_OK) == 0, code == HN_GNUPLOT);
        CU_ASSERT_EQUAL(files_in_folder(), code == HN_GNUPLOT ? 2 : 1);
        CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
        failures += code != HN_GNUPLOT;
        pages += code == HN_GNUPLOT && atomic_load(&ctx.memory.calls) < k;
        CU_ASSERT(code != HN_GNUPLOT || atomic_load(&ctx.memory.calls) < k);
    }
    CU_ASSERT(failures > 28);
    setenv("PATH", path, 1);
    free(path);
    end();
}

static void texts(void) {
    char out[256] = "";
    FILE *f = fmemopen(out, sizeof out, "w");
    hn_html_text(f, "<a>&\"'\x01\xC3\xA9\x80");
    fclose(f);
    CU_ASSERT_STRING_EQUAL(out, "&#60;a&#62;&#38;&#34;&#39; \xC3\xA9\xEF\xBF\xBD");
    memset(out, 0, sizeof out);
    f = fmemopen(out, sizeof out, "w");
    hn_html(f, "<b>%s</b> 5%% %s %d of %" PRId64 ", %+.2f %c", "a<b", "%s", 3, INT64_MAX, .125,
            'c');
    fclose(f);
    CU_ASSERT_STRING_EQUAL(out, "<b>a&#60;b</b> 5% %s 3 of 9223372036854775807, +0.12 c");
    memset(out, 0, sizeof out);
    f = fmemopen(out, sizeof out, "w");
    hn_html_mean(f, (struct hn_mean){-3e-4, 0.0498, NAN, NAN, 3, HN_OVER_SEEDS, 1, 2}, 100, 0,
                 true);
    hn_html_amount(f, (struct hn_html_amount){" |", 100, 1, true}, -3e-4, 0.0498);
    fclose(f);
    CU_ASSERT_STRING_EQUAL(out, "0.0 ± 5.00.0 ± 5.0  |");
    memset(out, 0, sizeof out);
    f = fmemopen(out, sizeof out, "w");
    hn_html_svg(f,
                "<?xml?><svg width=\"10\" viewBox=\"0 0 10 5\"\n>"
                "<title>Gnuplot</title><g fill=\"x\">\n</g>\n"
                "<use id='a' href='#b' stroke='rgb(  1,  2,   3)'/></svg>",
                "f", "T<");
    fclose(f);
    CU_ASSERT(strstr(out, "aria-label=\"T&#60;\">") != NULL);
    CU_ASSERT(strstr(out, "<use id='f-a' href='#f-b' stroke='rgb(1,2,3)'/></svg>") != NULL);
    CU_ASSERT(!strstr(out, "<g") && !strstr(out, "Gnuplot"));
}

// Times that are none: of files that others wrote.
static void odd_times(void) {
    static const double value[] = {-1, 1e308, -INFINITY, 5e-324};
    begin();
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        struct hn_results r = figures_results(&ctx);
        for (int64_t row = 0; row < r.runs.rows; row++) {
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "cost_s", value[i]));
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "fn_ratio", value[i]));
        }
        char *page = page_without_figures(&r);
        CU_ASSERT_EQUAL(count(page, "data-v=\"inf") + count(page, "data-v=\"-inf"), 0);
        check_balance(page);
        free(page);
        hn_results_free(&ctx, &r);
    }
    end();
}

static const struct hn_test tests[] = {
    {"whole_page", whole_page},
    {"hostile_texts", hostile_texts},
    {"table_of_settings", table_of_settings},
    {"marks_of_the_front", marks_of_the_front},
    {"many_settings", many_settings},
    {"odd_times", odd_times},
    {"claims", claims},
    {"own_results_of_a_figure", own_results_of_a_figure},
    {"wrong_input", wrong_input},
    {"without_memory", without_memory},
    {"texts", texts},
};
HN_TEST_MAIN("report", tests)
