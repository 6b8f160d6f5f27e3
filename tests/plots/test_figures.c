// SPDX-License-Identifier: GPL-3.0-or-later
// Every figure of the registry, in every terminal: no warning, and the numbers beside the picture.
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/render.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <unistd.h>

static void begin_heard(void) {
    begin();
    ctx.notes.to = no_warning;
}

static char *drawn(const char *dir, const char *id, const char *ending) {
    char name[128];
    snprintf(name, sizeof name, "%s.%s", id, ending);
    return slurp(dir, name);
}

static int block_of(const char *id, int index, double cell[][5], int max) {
    char name[128];
    snprintf(name, sizeof name, "%s.tsv", id);
    return drawn_block(folder, name, index, cell, max);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

// Rows of a .tsv that are numbers.
static int numbers(const char *tsv) {
    int n = 0;
    for (const char *line = tsv; *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += *line != '#' && *line != '\n';
    return n;
}

static const char *svg_path(const struct hn_figure *f) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s.svg", folder, f->id);
    return path;
}

static void every_figure_in_svg(void) {
    need_gnuplot();
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        hn_test_entry((*f)->id);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("svg")));
        char *svg = drawn(folder, (*f)->id, "svg"), *tsv = drawn(folder, (*f)->id, "tsv");
        CU_ASSERT(strstr(svg, "</svg>") != NULL);
        CU_ASSERT(count(svg, "<text>") > 4); // titles and tics
        CU_ASSERT(numbers(tsv) >= FIGURES_STEPS);
        CU_ASSERT_EQUAL(unlink(svg_path(*f)), 0);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("svg")));
        char *again = drawn(folder, (*f)->id, "svg");
        CU_ASSERT_STRING_EQUAL(svg, again);
        free(svg);
        free(tsv);
        free(again);
    }
    hn_results_free(&ctx, &r);
    end();
}

static void every_figure_in_other_terminals(void) {
    need_gnuplot();
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        hn_test_entry((*f)->id);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("pdf")));
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("png")));
        char *pdf = drawn(folder, (*f)->id, "pdf"), *png = drawn(folder, (*f)->id, "png");
        CU_ASSERT(strncmp(pdf, "%PDF", 4) == 0 && strncmp(png + 1, "PNG", 3) == 0);
        char path[600];
        snprintf(path, sizeof path, "%s/%s.txt", folder, (*f)->id);
        int file = open(path, O_WRONLY | O_CREAT, 0600);
        dup2(file, STDOUT_FILENO);
        enum hn_code code = hn_figure_draw(&ctx, *f, &r, folder, as("dumb"));
        dup2(saved, STDOUT_FILENO);
        close(file);
        HN_CHECK(&ctx, code);
        char *text = drawn(folder, (*f)->id, "txt");
        CU_ASSERT(count(text, "\n") > 15);
        free(pdf);
        free(png);
        free(text);
    }
    close(saved);
    hn_results_free(&ctx, &r);
    end();
}

// The same bytes as when they were looked at, for the gnuplot that drew them. After a change, and a
// look: HN_NEW_GOLDEN=1 build/tests/test_figures golden
static void golden(void) {
    static const char *const ids[] = {"bs-M", "gc-bounds", "pareto"};
    if (!drawn_is_gnuplot("5.4 patchlevel 4"))
        hn_test_skip("the golden pictures are of gnuplot 5.4 patchlevel 4");
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(ids[i]), &r, folder, as("svg")));
        char *svg = drawn(folder, ids[i], "svg"), *wanted = drawn("tests/golden", ids[i], "svg");
        if (getenv("HN_NEW_GOLDEN")) {
            char command[700];
            snprintf(command, sizeof command, "cp '%s/%s.svg' tests/golden/", folder, ids[i]);
            CU_ASSERT_EQUAL(system(command), 0);
        } else
            CU_ASSERT(strcmp(svg, wanted) == 0);
        free(svg);
        free(wanted);
    }
    hn_results_free(&ctx, &r);
    end();
}

// No text of any figure ends below or beside the picture.
static void texts_inside(void) {
    begin_heard();
    need_gnuplot();
    struct hn_results r = figures_results(&ctx);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        double width = 0, height = 0, x, y;
        int texts = 0;
        hn_test_entry((*f)->id);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("svg")));
        char *svg = drawn(folder, (*f)->id, "svg"), *at = strstr(svg, "viewBox=");
        CU_ASSERT_EQUAL(sscanf(at ? at : "", "viewBox=\"0 0 %lf %lf", &width, &height), 2);
        while ((at = strstr(at + 1, "<g transform=\"translate(")) != NULL) {
            const char *text = strstr(at, "<text>");
            bool empty = text && strncmp(text, "<text></text>", 13) == 0;
            if (!empty && sscanf(at, "<g transform=\"translate(%lf,%lf)", &x, &y) == 2) {
                texts++;
                CU_ASSERT(x >= 0 && x <= width && y >= 8 && y <= height - 2);
            }
        }
        CU_ASSERT(texts > 4);
        free(svg);
    }
    hn_results_free(&ctx, &r);
    end();
}

static struct hn_table *table_of(struct hn_results *r, const char *name) {
    struct hn_table *t = &r->runs;
    for (int64_t i = 0; i < r->n_tables; i++)
        if (name && strcmp(r->table[i].name, name) == 0)
            t = &r->table[i];
    return t;
}

static void without_each(const struct hn_figure *f, struct hn_results *r, struct hn_table *t,
                         const char *const *columns) {
    for (const char *const *name = columns; *name; name++) {
        char wanted[128];
        int c = hn_table_find(t, *name);
        CU_ASSERT_FATAL(c >= 0);
        const char *own = t->column[c].name;
        t->column[c].name = "gone";
        snprintf(wanted, sizeof wanted, "figure %s needs column %s of /", f->id, *name);
        HN_CHECK_FAILS(&ctx, hn_figure_draw(&ctx, f, r, folder, as("svg")), HN_DATA, wanted);
        t->column[c].name = own;
    }
}

// Without one of its columns, or its table, a figure says which and of what.
static void missing_columns(void) {
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        hn_test_entry((*f)->id);
        struct hn_table *other = table_of(&r, (*f)->or_table);
        int64_t rows = other->rows;
        if ((*f)->or_table) {
            without_each(*f, &r, other, (*f)->or_columns);
            other->rows = 0;
        }
        without_each(*f, &r, table_of(&r, (*f)->table), (*f)->columns);
        other->rows = rows;
        int64_t tables = r.n_tables;
        r.n_tables = 0;
        if ((*f)->table)
            HN_CHECK_FAILS(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("svg")), HN_DATA,
                           "figure ");
        r.n_tables = tables;
    }
    hn_results_free(&ctx, &r);
    end();
}

// No row of its settings: not applicable, with a reason, and never a picture of nothing.
static void nothing_to_draw(void) {
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++)
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    int64_t rows[16];
    for (int64_t i = 0; i < r.n_tables; i++) {
        rows[i] = r.table[i].rows;
        r.table[i].rows = 0;
    }
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        hn_test_entry((*f)->id);
        enum hn_code code = hn_figure_draw(&ctx, *f, &r, folder, as("svg"));
        CU_ASSERT_EQUAL(code, HN_NOT_APPLICABLE);
        CU_ASSERT(strlen(ctx.message) > 10);
    }
    for (int64_t i = 0; i < r.n_tables; i++)
        r.table[i].rows = rows[i];
    hn_results_free(&ctx, &r);
    end();
}

static void hostile_labels(void) {
    need_gnuplot();
    begin_heard();
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        if (strcmp(hn_table_text(&r.runs, row, "sampler"), "gcbs") == 0)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", evil));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", evil));
    }
    for (int64_t i = 0; i < r.n_tables; i++)
        for (int64_t row = 0; row < r.table[i].rows; row++)
            for (int c = 0; c < r.table[i].n_columns; c++)
                if (strcmp(r.table[i].column[c].name, "dataset") == 0)
                    HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.table[i], row, "dataset", evil));
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        HN_CHECK(&ctx, hn_figure_draw(&ctx, *f, &r, folder, as("svg")));
    char path[600];
    snprintf(path, sizeof path, "%s/P", folder);
    CU_ASSERT(access(path, F_OK) != 0 && access("P", F_OK) != 0);
    hn_results_free(&ctx, &r);
    end();
}

// Each figure without a byte of memory at any place: no leak, data and script or nothing.
static void without_memory(void) {
    begin_heard();
    char *path = strdup(getenv("PATH"));
    struct hn_results r = figures_results(&ctx);
    setenv("PATH", "/nowhere", 1);
    int64_t live = atomic_load(&ctx.memory.live);
    for (const struct hn_figure *const *f = hn_figures; *f; f++) {
        hn_test_entry((*f)->id);
        bool reached = true;
        int failures = 0;
        for (int k = 1; reached && k < 400; k++) {
            ctx.memory.fail_at = atomic_load(&ctx.memory.calls) + k;
            enum hn_code code = hn_figure_draw(&ctx, *f, &r, folder, as("svg"));
            reached = atomic_load(&ctx.memory.calls) >= ctx.memory.fail_at;
            CU_ASSERT(code == HN_GNUPLOT || code == HN_MEMORY || code == HN_IO);
            CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), live);
            failures += code != HN_GNUPLOT;
        }
        ctx.memory.fail_at = 0;
        CU_ASSERT(!reached && failures > 3);
    }
    setenv("PATH", path, 1);
    free(path);
    hn_results_free(&ctx, &r);
    end();
}

// Row of the fixture's runs: cell, step and seed.
static int64_t run_of(int cell, int step, int seed) {
    return ((int64_t)step * FIGURES_CELLS + cell) * FIGURES_SEEDS + seed;
}

static double mean_of(const struct hn_results *r, int cell, int step, const char *column) {
    double sum = 0;
    for (int seed = 0; seed < FIGURES_SEEDS; seed++)
        sum += hn_table_real(&r->runs, run_of(cell, step, seed), column);
    return sum / FIGURES_SEEDS;
}

static void numbers_are_right(void) {
    need_gnuplot();
    begin_heard();
    static double cell[64][5];
    struct hn_results r = figures_results(&ctx);
    // bs-M: hardness at step 0, over M; seeds are averaged, weightings count once.
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-M"), &r, folder, as("svg")));
    CU_ASSERT_EQUAL_FATAL(block_of("bs-M", 0, cell, 64), 2);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 500, 0);
    CU_ASSERT_DOUBLE_EQUAL(cell[1][0], 1000, 0);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][1], mean_of(&r, 6, 0, "cos_mean"), 1e-8);
    CU_ASSERT_DOUBLE_EQUAL(cell[1][1], mean_of(&r, 9, 0, "cos_mean"), 1e-8);
    // Uniform batches of 64 come four times, by weighting; the rule is their mean all the same.
    CU_ASSERT_EQUAL(block_of("bs-M", 2, cell, 64), 1);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][1], mean_of(&r, 0, 1, "cos_mean"), 1e-8);
    // bs-fig7: percent with Student's interval over three seeds, .001 apart.
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-fig7"), &r, folder, as("svg")));
    CU_ASSERT_EQUAL_FATAL(block_of("bs-fig7", 1, cell, 64), FIGURES_STEPS);
    CU_ASSERT_DOUBLE_EQUAL(cell[1][1], 100 * mean_of(&r, 6, 1, "fn_ratio"), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(cell[1][3] - cell[1][1], 4.302653 * 0.1 / sqrt(3), 1e-6);
    // The densities of bs-fig10 have area 1.
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-fig10"), &r, folder, as("svg")));
    int bins = block_of("bs-fig10", 0, cell, 64);
    double area = 0;
    for (int i = 0; i < bins; i++)
        area += cell[i][1] * (cell[1][0] - cell[0][0]);
    CU_ASSERT(bins > 3);
    CU_ASSERT_DOUBLE_EQUAL(area, 1, 0.02);
    // gc-fig1 is the map of one seed, though the table has two.
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("gc-fig1"), &r, folder, as("svg")));
    CU_ASSERT_EQUAL(block_of("gc-fig1", 2, cell, 64), 36);
    hn_results_free(&ctx, &r);
    end();
}

// The front: no setting has both fewer false negatives and harder true ones.
static void front_is_a_front(void) {
    need_gnuplot();
    begin_heard();
    static double cell[64][5];
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, as("svg")));
    int n = block_of("pareto", 1, cell, 64); // after the intervals
    CU_ASSERT(n > 1);
    for (int i = 0; i < n; i++)
        for (int64_t row = 0; row < r.runs.rows; row += FIGURES_SEEDS) {
            int c = (int)(row / FIGURES_SEEDS % FIGURES_CELLS);
            if (row / FIGURES_SEEDS / FIGURES_CELLS == FIGURES_STEPS - 1 &&
                isnan(figures_cells[c].beta))
                CU_ASSERT(
                    !(100 * mean_of(&r, c, FIGURES_STEPS - 1, "fn_ratio") < cell[i][0] - 1e-6 &&
                      mean_of(&r, c, FIGURES_STEPS - 1, "hard_true_mean") > cell[i][1] + 1e-9));
        }
    hn_results_free(&ctx, &r);
    end();
}

// Costs come from /tables/costs where the results have them, else from the runs.
static void costs_have_two_sources(void) {
    need_gnuplot();
    begin_heard();
    static double cell[64][5];
    struct hn_results r = figures_results(&ctx);
    const struct hn_figure *f = hn_figure_find("bs-table5");
    HN_CHECK(&ctx, hn_figure_draw(&ctx, f, &r, folder, as("svg")));
    CU_ASSERT_EQUAL(block_of("bs-table5", 0, cell, 64), 3);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 0.001, 1e-12);
    CU_ASSERT_EQUAL(block_of("bs-table5", 1, cell, 64), 4); // the paper's Cost_S
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 0.013, 1e-12);
    CU_ASSERT_EQUAL(cell[0][1], 0); // STL10 in its row
    CU_ASSERT_EQUAL(cell[1][1], 3);
    CU_ASSERT_EQUAL(block_of("bs-table5", 4, cell, 64), 3); // Cost_G / t
    CU_ASSERT_DOUBLE_EQUAL(cell[2][0], 0.18, 1e-12);
    table_of(&r, "costs")->rows = 0;
    HN_CHECK(&ctx, hn_figure_draw(&ctx, f, &r, folder, as("svg")));
    table_of(&r, "costs")->rows = 3;
    CU_ASSERT_EQUAL(block_of("bs-table5", 0, cell, 64), 2); // uniform, weightings once
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 1e-6, 1e-12);
    CU_ASSERT_EQUAL(block_of("bs-table5", 2, cell, 64), 7); // batchsampler
    hn_results_free(&ctx, &r);
    end();
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Of a setting of the fixture at its last evaluation, in per cent: mean over seeds, half of its
// interval; the same of differences to setting `base` (-1: none).
static void naive_accuracy(const struct hn_results *r, int setting, int base, double *mean,
                           double *half) {
    const struct hn_table *t = table_of((struct hn_results *)r, "training");
    double value[FIGURES_SEEDS], squares = 0;
    *mean = 0;
    for (int seed = 0; seed < FIGURES_SEEDS; seed++) {
        double run = (double)run_of(setting, 1, seed), other = (double)run_of(base, 1, seed);
        value[seed] = 0;
        for (int64_t row = 0; row < t->rows; row++) {
            double of = hn_table_real(t, row, "run"), at = hn_table_real(t, row, "knn_acc");
            if (hn_table_real(t, row, "step") > 299)
                value[seed] += of == run ? 100 * at : base >= 0 && of == other ? -100 * at : 0;
        }
        *mean += value[seed] / FIGURES_SEEDS;
    }
    for (int seed = 0; seed < FIGURES_SEEDS; seed++)
        squares += (value[seed] - *mean) * (value[seed] - *mean);
    *half = 4.3026527297494637 * sqrt(squares / 2 / 3); // Student's t, 2 degrees of freedom
}

// All blocks from `from` on that have intervals, until `rows` rows are there.
static int read_means(const char *id, int from, double cell[][5], int rows) {
    static double some[64][5];
    int n = 0;
    for (int block = from; n < rows && block < 64; block++) {
        int found = block_of(id, block, some, 64);
        for (int i = 0; i < found && n < rows; i++)
            if (!isnan(some[i][2]))
                memcpy(cell[n++], some[i], sizeof some[i]);
    }
    return n;
}

static void look_at_equal_seeds(void) { // of the untrained encoder
    static double some[64][5];
    bool apart = false;
    for (int block = 0; block < 64; block++)
        apart |= block_of("accuracy", block, some, 64) == 3 && fabs(some[0][0] - 30) < 1e-6 &&
                 some[1][1] > some[0][1] + 0.05 && some[2][1] > some[1][1] + 0.05;
    CU_ASSERT(apart);
}

// Rows sorted by accuracy, the untrained encoder among them; differences are paired by seed, within
// the batches of 64 (of 128 there is one setting).
static void accuracies(void) {
    enum { ROWS = FIGURES_CELLS + 1, DIFFERENCES = FIGURES_CELLS - 2 };
    need_gnuplot();
    begin_heard();
    static double cell[ROWS + DIFFERENCES][5];
    double mean[FIGURES_CELLS], half, halves = 0, differences = 0, one;
    struct hn_results r = figures_results(&ctx);
    HN_CHECK(&ctx, hn_figure_draw(&ctx, &hn_accuracy, &r, folder, as("svg")));
    CU_ASSERT_EQUAL_FATAL(read_means("accuracy", 0, cell, ROWS + DIFFERENCES), ROWS + DIFFERENCES);
    look_at_equal_seeds();
    for (int i = 0; i < FIGURES_CELLS; i++) {
        naive_accuracy(&r, i, -1, &mean[i], &half);
        halves += half;
        naive_accuracy(&r, i, 0, &one, &half);
        if (i != 0 && i != 4) { // the first of their batch size
            differences += one;
            halves += half;
        }
    }
    qsort(mean, FIGURES_CELLS, sizeof *mean, by_size);
    for (int i = 0; i < ROWS; i++) {
        int row = (int)cell[i][1]; // the untrained one is the last
        CU_ASSERT_DOUBLE_EQUAL(cell[i][0], row < FIGURES_CELLS ? mean[row] : 30, 1e-6);
        halves -= cell[i][3] - cell[i][0];
    }
    for (int i = ROWS; i < ROWS + DIFFERENCES; i++) {
        differences -= cell[i][0];
        halves -= cell[i][3] - cell[i][0];
    }
    CU_ASSERT_DOUBLE_EQUAL(differences, 0, 1e-5);
    CU_ASSERT_DOUBLE_EQUAL(halves, 0, 1e-4);
    hn_results_free(&ctx, &r);
    end();
}

// Under the name of an identifier; never one that is no name of a file.
static void names_of_trainings(void) {
    char name[HN_FIGURE_NAME];
    struct hn_figure figure;
    CU_ASSERT_FATAL(hn_figure_of_training(1, "bs-table3", name, &figure));
    CU_ASSERT_STRING_EQUAL(figure.id, "bs-table3-steps");
    CU_ASSERT(!hn_figure_of_training(2, "bs-table3", name, &figure));
    CU_ASSERT(!hn_figure_of_training(0, "../x", name, &figure));
    CU_ASSERT(!hn_figure_of_training(0, "", name, &figure));
}

static void options(void) {
    CU_ASSERT_STRING_EQUAL(hn_option_value("K=100, M=500", "M").text, "500");
    CU_ASSERT_STRING_EQUAL(hn_option_value("KM=100", "M").text, "");
    CU_ASSERT_STRING_EQUAL(hn_option_value("", "M").text, "");
    CU_ASSERT_DOUBLE_EQUAL(hn_option_number("alpha=0.2", "alpha"), 0.2, 0);
    CU_ASSERT(isnan(hn_option_number("alpha=0.2~0.05", "alpha")));
    struct hn_published row;
    const char *rest = hn_published_text("bs-fig7");
    int rows = 0;
    while (hn_published_next(&rest, &row))
        rows++;
    CU_ASSERT_EQUAL(rows, 2);
    CU_ASSERT_DOUBLE_EQUAL(row.value, 13, 0);
    CU_ASSERT_STRING_EQUAL(hn_published_text("none"), "");
}

static const struct hn_test tests[] = {
    {"every_figure_in_svg", every_figure_in_svg},
    {"every_figure_in_other_terminals", every_figure_in_other_terminals},
    {"golden", golden},
    {"every_text_is_inside", texts_inside},
    {"every_missing_column", missing_columns},
    {"every_figure_of_nothing", nothing_to_draw},
    {"every_hostile_label", hostile_labels},
    {"every_figure_without_memory", without_memory},
    {"numbers_are_right", numbers_are_right},
    {"front_is_a_front", front_is_a_front},
    {"costs_have_two_sources", costs_have_two_sources},
    {"accuracies", accuracies},
    {"names_of_trainings", names_of_trainings},
    {"options", options},
};
HN_TEST_MAIN("figures", tests)
