// SPDX-License-Identifier: GPL-3.0-or-later
// Tables for LaTeX: letters of ties, numbers of settings and trainings, texts.
#include "core/text.h"
#include "datasets/h5.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/ties.h"
#include "results/analysis/trained_tables.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"

#include <gsl/gsl_randist.h>

static struct hn_context ctx;

static void begin(void) {
    hn_context_init(&ctx, 1);
    hn_h5_quiet();
}

static void end(void) { CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0); }

// Any relation: two rows share a letter if and only if they are tied, and every row has one but
// those that do not even tie with themselves.
static void letters(void) {
    enum { MAX = 9 };
    bool tied[MAX * MAX];
    uint64_t letter[MAX];
    unsigned state = 1;
    for (int trial = 0; trial < 2000; trial++) {
        int n = 1 + trial % MAX;
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++) {
                state = state * 1103515245U + 12345U;
                tied[i * n + k] = tied[k * n + i] =
                    i == k || (state >> 16) % 8 < (unsigned)(trial % 9);
            }
        for (int i = 0; i < n && trial % 5 == 0; i++)
            tied[i] = tied[i * n] = false;
        CU_ASSERT_FATAL(hn_tie_letters(n, tied, letter));
        for (int i = 0; i < n; i++) {
            CU_ASSERT_EQUAL(letter[i] != 0, i > 0 || trial % 5 > 0);
            for (int k = 0; k < i; k++)
                CU_ASSERT_EQUAL((letter[i] & letter[k]) != 0, tied[i * n + k]);
        }
    }
    // More rows that are told apart than there are letters.
    enum { MANY = 53 };
    static bool none[MANY * MANY];
    static uint64_t many[MANY];
    for (int i = 0; i < MANY; i++)
        none[i * MANY + i] = true;
    CU_ASSERT(hn_tie_letters(MANY - 1, none, many) && !hn_tie_letters(MANY, none, many));
}

// Owned by the caller: free().
static void write_text(const struct hn_results *r,
                       enum hn_code (*print)(struct hn_context *, const struct hn_results *,
                                             const struct hn_record_format *, FILE *),
                       char **text) {
    size_t size;
    FILE *tex = open_memstream(text, &size);
    HN_CHECK(&ctx, print(&ctx, r, &hn_records_as_latex, tex));
    fclose(tex);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void look_at_settings(const struct hn_results *r) {
    HN_SCOPE(&ctx);
    struct hn_overview o;
    char *text = NULL;
    write_text(r, hn_settings_print, &text);
    HN_CHECK(&ctx, hn_overview_make(&ctx, r, &o));
    int rows = 0;
    for (int64_t s = 0; s < o.settings; s++) {
        char row[256];
        if (!o.last[s])
            continue;
        rows++;
        struct hn_mean fn = hn_overview_mean(&o, s, "fn_ratio");
        const struct hn_phrase label = hn_overview_label(&o, s);
        snprintf(row, sizeof row, "& $%.2f \\pm %.2f$ &", 100 * fn.mean, 100 * fn.half);
        CU_ASSERT(strstr(text, label.text) != NULL && strstr(text, row) != NULL);
        struct hn_mean mass = hn_overview_mean(&o, s, "fn_mass");
        snprintf(row, sizeof row, "& $%.2f \\pm %.2f$ &", 100 * mass.mean, 100 * mass.half);
        CU_ASSERT(isnan(mass.mean) || strstr(text, row) != NULL);
        if (o.base[s] < 0 || o.base[s] == s)
            continue;
        struct hn_mean d = hn_overview_difference(&o, s, o.base[s], "fn_ratio");
        snprintf(row, sizeof row, "& $%+.2f \\pm %.2f$ &", 100 * d.mean, 100 * d.half);
        CU_ASSERT(strstr(text, row) != NULL);
    }
    CU_ASSERT_EQUAL(count(text, " \\\\\n"), rows + 1); // and the head
    const struct hn_phrase common = hn_overview_common(&o);
    const char *all = strstr(text, "% All: "), *own = all ? all + strlen("% All: ") : "";
    CU_ASSERT_FATAL(*common.text && strncmp(own, common.text, strlen(common.text)) == 0);
    CU_ASSERT_EQUAL(own[strlen(common.text)], '\n');
    CU_ASSERT_EQUAL(count(text, "Weight on false neg."), 1);
    CU_ASSERT(count(text, "\\toprule") == 1 && count(text, "\\end{tabular}") == 1);
    free(text);
}

static void set_uniform(struct hn_results *r, const char *column, double value) {
    for (int64_t row = 0; row < r->runs.rows; row++)
        if (strcmp(hn_table_text(&r->runs, row, "sampler"), "uniform") == 0)
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r->runs, row, column, value));
}

// What has no hardness comes last, without a letter; a large number has a power of ten, not a sum.
static void look_at_odd_settings(struct hn_results *r) {
    set_uniform(r, "hard_true_mean", NAN);
    set_uniform(r, "cost_s", 12.345);
    char *text = NULL;
    write_text(r, hn_settings_print, &text);
    char *place = strstr(text, "\\midrule\n");
    char *uniform = strstr(place, "\nuniform"), *other = strstr(place, "\nknn");
    CU_ASSERT(uniform && other && uniform > other);
    CU_ASSERT(strstr(text, " & -- & -- & -- & $1.23 \\times 10^{4}$ \\\\\n") != NULL);
    CU_ASSERT(strstr(text, " & a & $") != NULL); // the others have theirs
    free(text);
}

static void settings(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    look_at_settings(&r);
    look_at_odd_settings(&r);
    hn_results_free(&ctx, &r);
    end();
}

// Of tables of eight settings that are all alike at most one in twenty gives two of them different
// letters. Measured on 2,000: 5.2 +- .5 %; with the interval of each difference for itself 67 %.
static void letters_by_luck(void) {
    enum { SETTINGS = 8, SEEDS = 3 };
    const int tables = getenv("HN_TABLES") ? atoi(getenv("HN_TABLES")) : 100;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int apart = 0;
    begin();
    for (int i = 0; i < tables; i++) {
        struct hn_results r = {0};
        char *text = NULL;
        figures_table(&ctx, &r.runs, "runs", "dataset sampler status",
                      "step seed batch_size fn_ratio hard_true_mean");
        for (int row = 0; row < SETTINGS * SEEDS; row++) {
            char name[] = {(char)('p' + row / SEEDS), '\0'};
            figures_row(&ctx, &r.runs);
            figures_text(&ctx, &r.runs, "dataset", "x");
            figures_text(&ctx, &r.runs, "sampler", name);
            figures_text(&ctx, &r.runs, "status", "ok");
            figures_reals(&ctx, &r.runs,
                          "step 0 seed %d batch_size 8 fn_ratio 0.1 hard_true_mean %.9g",
                          row % SEEDS, 0.5 + gsl_ran_gaussian(random, 0.01));
        }
        write_text(&r, hn_settings_print, &text);
        apart += count(text, " & a & ") < SETTINGS;
        free(text);
        hn_results_free(&ctx, &r);
    }
    if (getenv("HN_SHOW"))
        fprintf(stderr, "told apart: %d of %d\n", apart, tables);
    CU_ASSERT(apart <= 0.05 * tables + 3 * sqrt(0.05 * 0.95 * tables));
    gsl_rng_free(random);
    end();
}

// So much better that p rounds to 0.000.
static void raise_knn(struct hn_results *r) {
    struct hn_table *t = NULL;
    for (int64_t i = 0; i < r->n_tables; i++)
        t = strcmp(r->table[i].name, "training") == 0 ? &r->table[i] : t;
    for (int64_t row = 0; t && row < t->rows; row++) {
        int64_t run = (int64_t)hn_table_real(t, row, "run");
        double own = hn_table_real(t, row, "knn_acc");
        if (strcmp(hn_table_text(&r->runs, run, "sampler"), "knn") == 0)
            HN_CHECK(&ctx, hn_table_set_real(&ctx, t, row, "knn_acc", own + 0.3));
    }
}

// The best and the worst of the fixture are told apart, the same seed by seed.
static void accuracies(void) {
    begin();
    struct hn_results r = figures_results(&ctx);
    raise_knn(&r);
    char *text = NULL;
    write_text(&r, hn_trained_print, &text);
    int tables = count(text, "\\begin{tabular}");
    CU_ASSERT(tables >= 2); // batches of 64 and of 128
    CU_ASSERT_EQUAL(count(text, "\\midrule"), tables);
    CU_ASSERT(strstr(text, "knn\\_acc") && strstr(text, "Ties"));
    CU_ASSERT(strstr(text, " & $<0.001$ &") && !strstr(text, " & $0.000$ &"));
    CU_ASSERT(strstr(text, " & a \\\\\n") && strstr(text, " & b \\\\\n"));
    free(text);
    hn_results_free(&ctx, &r);
    end();
}

static void texts(void) {
    char *text = NULL;
    size_t size;
    FILE *tex = open_memstream(&text, &size);
    hn_tex_text(tex, evil);
    hn_tex_text(tex, "\xC3\xA9\xCE\xB2\xFF[");
    hn_tex_text(
        tex, " \xC2\x85\xC4\xA7\xED\xA0\x80"); // a control character, no letter of T1, a surrogate
    fclose(tex);
    CU_ASSERT_STRING_EQUAL(
        text, "a\\textquotedbl{}b'`touch P`\\$(touch P)@x\\{/Bold z\\}\\_\\textasciicircum{}\\&"
              "\\textasciitilde{}\\textbackslash{}n\\%s\\textbar{}\\textless{}! \\# set output 'P'"
              "\xC3\xA9??{[} ?????");
    free(text);
}

static const struct hn_test tests[] = {
    {"letters", letters},       {"settings", settings}, {"letters_by_luck", letters_by_luck},
    {"accuracies", accuracies}, {"texts", texts},
};
HN_TEST_MAIN("latex", tests)
