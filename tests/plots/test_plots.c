// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/options/option_argv.h"
#include "harness/cli/command.h"
#include "plots/page/figure.h"
#include "plots/page/page.h"
#include "plots/page/render.h"
#include "tests/plots/drawn.h"
#include "tests/results_fixture.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char notes[2048];

static void collect_note(void *data, const char *text) {
    (void)data;
    size_t used = strlen(notes);
    snprintf(notes + used, sizeof notes - used, "%s\n", text);
}

static void begin_noted(void) {
    begin();
    ctx.notes.to = collect_note;
    notes[0] = '\0';
}

static bool exists(const char *name) { return access(in_folder(name), F_OK) == 0; }

static bool holds(const char *name, const char *part) {
    char *text = slurp(folder, name);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static int files_in_folder(void) {
    char command[512], out[32];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    return atoi(out);
}

static enum hn_code draw(const char *id, const struct hn_results *r, const char *term) {
    return hn_figure_draw(&ctx, hn_figure_find(id), r, folder, as(term));
}

// A figure leaves data, script and picture; drawn again, and by its own script in its folder, it is
// the same picture. (All figures: test_figures.c.)
static void draws_again(void) {
    need_gnuplot();
    begin_noted();
    int figures = 0;
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    static const char *const ids[] = {"bs-fig4", "gc-fig3", NULL};
    for (const char *const *id = ids; *id; id++, figures++) {
        char name[64], command[1024], out[64];
        HN_CHECK(&ctx, draw(*id, &r, "svg"));
        snprintf(name, sizeof name, "%s.svg", *id);
        char *first = slurp(folder, name);
        CU_ASSERT(strstr(first, "<svg") && strstr(first, "</svg>"));
        CU_ASSERT(strstr(first, "training step") != NULL);
        if (figures == 0) {
            HN_CHECK(&ctx, draw(*id, &r, "svg"));
            CU_ASSERT(holds(name, first));
        }
        snprintf(command, sizeof command, "cd '%s' && rm %s && LC_ALL=C.UTF-8 gnuplot %s.gp 2>&1",
                 folder, name, *id);
        CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
        CU_ASSERT_STRING_EQUAL(out, "");
        CU_ASSERT(holds(name, first));
        free(first);
    }
    CU_ASSERT_EQUAL(files_in_folder(), 3 * figures);
    hn_results_free(&ctx, &r);
    end();
}

// Lines of bs-fig4 as text: on standard output, which is the file "out" for a while.
static int lines_on_terminal(const struct hn_results *r, bool all) {
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), lines = 0;
    int file = open(in_folder("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    enum hn_code code = hn_figure_draw(&ctx, hn_figure_find("bs-fig4"), r, folder,
                                       (struct hn_picture){.term = "dumb", .all = all});
    dup2(saved, STDOUT_FILENO);
    close(file);
    close(saved);
    HN_CHECK(&ctx, code);
    char *text = slurp(folder, "out");
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    free(text);
    return lines;
}

static void other_terminals(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    setenv("LC_ALL", "C", 1); // as where no locale is set
    setenv("GNUTERM", "nonsense", 1);
    HN_CHECK(&ctx, draw("gc-fig3", &r, "pdf"));
    unsetenv("LC_ALL");
    unsetenv("GNUTERM");
    CU_ASSERT(holds("gc-fig3.pdf", "%PDF"));
    char command[600], dates[32]; // the same bytes whenever it is drawn, by old and new cairo
    snprintf(command, sizeof command, "grep -aoE 'CreationDate .D:[0-9]{14}' '%s' | cut -c17-",
             in_folder("gc-fig3.pdf"));
    CU_ASSERT_EQUAL(hn_fixture_run(command, dates, sizeof dates), 0);
    CU_ASSERT_STRING_EQUAL(dates, "19700101000000\n");
    HN_CHECK(&ctx, draw("gc-fig3", &r, "png"));
    CU_ASSERT(holds("gc-fig3.png", "PNG"));
    HN_CHECK_FAILS(&ctx, draw("gc-fig3", &r, "jpeg"), HN_USAGE,
                   "svg, pdf, png, cairolatex or dumb");
    CU_ASSERT(lines_on_terminal(&r, false) <= 25 && holds("out", "batchsampler")); // a screen
    CU_ASSERT(strstr(notes, "figure bs-fig4: the terminal shows one of ") != NULL);
    CU_ASSERT(strstr(notes, "; -v shows all") != NULL);
    notes[0] = '\0';
    CU_ASSERT(lines_on_terminal(&r, true) > 40 && holds("out", "training step"));
    CU_ASSERT(strstr(notes, "terminal") == NULL);
    CU_ASSERT(exists("bs-fig4.gp") && exists("bs-fig4.tsv"));
    hn_results_free(&ctx, &r);
    end();
}

// Width of a picture, in inches.
static double drawn_width(const char *name) {
    double width = 0;
    char *svg = slurp(folder, name), *box = strstr(svg, "viewBox=");
    CU_ASSERT(box && sscanf(box, "viewBox=\"0 0 %lf", &width) == 1);
    free(svg);
    return width / 96;
}

// As wide as a column or the text of the style, with letters of eight points (in pixels: 10.5).
static void media(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (int m = 1; hn_media[m]; m++) {
        const struct hn_medium *medium = hn_medium(m);
        for (int columns = 0; columns < 3; columns++) {
            bool wide = false;
            char font[32];
            struct hn_picture how = {"svg", NULL, medium, columns, &wide};
            HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-fig4"), &r, folder, how));
            double wanted = columns == 1 ? medium->column : medium->text;
            CU_ASSERT_DOUBLE_EQUAL(drawn_width("bs-fig4.svg"), wanted, 0.01);
            CU_ASSERT_EQUAL(wide, wanted > medium->column);
            snprintf(font, sizeof font, "font 'Arial,%g'", 10.5 * medium->scale);
            CU_ASSERT(holds("bs-fig4.gp", font));
        }
    }
    hn_results_free(&ctx, &r);
    end();
}

// A .tex that includes a .pdf of its name, with texts that LaTeX takes as they are.
static void for_latex(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (int row = 0; row < FIXTURE_ROWS; row++)
        if (fixture_cell(row).sampler == 1)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", evil));
    HN_CHECK(&ctx, draw("bs-fig4", &r, "cairolatex"));
    CU_ASSERT(holds("bs-fig4.pdf", "%PDF"));
    CU_ASSERT(holds("bs-fig4.tex", "\\includegraphics[width={504.00bp},"));
    CU_ASSERT(holds("bs-fig4.tex", "{bs-fig4}"));
    CU_ASSERT(holds("bs-fig4.tex", "`touch P`\\$(touch P)@x\\{/Bold z\\}\\_"
                                   "\\textasciicircum{}\\&\\textasciitilde{}\\textbackslash{}n"));
    CU_ASSERT_EQUAL(files_in_folder(), 4);
    hn_results_free(&ctx, &r);
    end();
}

// The ratio is the mean over seeds; its half-width that of the mean of two independent values.
static void look_at_ratios(const struct hn_results *r) {
    static double cell[FIXTURE_BINS][5];
    for (int row = 0; row < FIXTURE_ROWS; row += FIXTURE_SEEDS) {
        struct fixture_cell c = fixture_cell(row);
        double mean = 0.5 * (hn_table_real(&r->runs, row, "fn_ratio") +
                             hn_table_real(&r->runs, row + 1, "fn_ratio"));
        double half =
            hn_table_real(&r->runs, row, "fn_ratio_hi") - hn_table_real(&r->runs, row, "fn_ratio");
        int block = FIXTURE_STEPS * FIXTURE_SAMPLERS + c.sampler;
        CU_ASSERT_EQUAL_FATAL(drawn_block(folder, "bs-fig4.tsv", block, cell, FIXTURE_BINS),
                              FIXTURE_STEPS);
        CU_ASSERT_DOUBLE_EQUAL(cell[c.step][1], 100 * mean, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(cell[c.step][3] - cell[c.step][1], 100 * half / sqrt(2), 1e-6);
    }
}

// Every density has area 1, and its mean is that of the pairs that are no positives.
static void look_at_densities(const struct hn_results *r) {
    static double cell[FIXTURE_BINS][5];
    for (int step = 0; step < FIXTURE_STEPS; step++)
        for (int s = 0; s < FIXTURE_SAMPLERS; s++) {
            int bins =
                drawn_block(folder, "bs-fig4.tsv", step * FIXTURE_SAMPLERS + s, cell, FIXTURE_BINS);
            CU_ASSERT_FATAL(bins > 10);
            double width = cell[2][0] - cell[1][0], area = 0, mean = 0, pairs = 0, sum = 0;
            for (int b = 0; b < bins; b++) {
                area += cell[b][1] * width;
                mean += cell[b][1] * width * cell[b][0];
            }
            const uint64_t *count = r->histogram + (int64_t)(step * FIXTURE_SAMPLERS + s) *
                                                       FIXTURE_SEEDS * 4 * FIXTURE_BINS;
            for (int b = FIXTURE_BINS; b < 4 * FIXTURE_BINS; b++) {
                pairs += (double)count[b];
                sum += (double)count[b] * (-1 + (b % FIXTURE_BINS + 0.5) * 2.0 / FIXTURE_BINS);
            }
            CU_ASSERT_DOUBLE_EQUAL(area, 1, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(mean, sum / pairs, 1e-3);
        }
}

// Blocks of gc-fig3: a gap per sampler; the global loss; a training loss per sampler.
static void look_at_gaps(const struct hn_results *r) {
    static double cell[FIXTURE_BINS][5];
    static double global[FIXTURE_BINS][5], gap[FIXTURE_BINS][5];
    HN_CHECK(&ctx, draw("gc-fig3", r, "svg"));
    CU_ASSERT_EQUAL(drawn_block(folder, "gc-fig3.tsv", FIXTURE_SAMPLERS, global, FIXTURE_BINS),
                    FIXTURE_STEPS);
    for (int s = 0; s < FIXTURE_SAMPLERS; s++) {
        int loss = FIXTURE_SAMPLERS + 1 + s;
        CU_ASSERT_EQUAL(drawn_block(folder, "gc-fig3.tsv", s, gap, FIXTURE_BINS), FIXTURE_STEPS);
        CU_ASSERT_EQUAL(drawn_block(folder, "gc-fig3.tsv", loss, cell, FIXTURE_BINS),
                        FIXTURE_STEPS);
        for (int step = 0; step < FIXTURE_STEPS; step++)
            CU_ASSERT_DOUBLE_EQUAL(global[step][1] - cell[step][1], gap[step][1], 1e-7);
    }
}

static void numbers_are_right(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    // Blocks of bs-fig4: a density per step and sampler, then the ratio of each sampler.
    HN_CHECK(&ctx, draw("bs-fig4", &r, "svg"));
    look_at_ratios(&r);
    look_at_densities(&r);
    look_at_gaps(&r);
    hn_results_free(&ctx, &r);
    end();
}

// Every byte goes through gnuplot as itself, with a backslash before what enhanced text would take
// as a mark; control characters are spaces and broken UTF-8 question marks.
static void strings_are_safe(void) {
    need_gnuplot();
    begin_noted();
    char command[1024], out[2048], wanted[2048] = "", all[600] = "";
    for (int c = 1; c < 256; c++) {
        all[c - 1] = (char)c;
        size_t used = strlen(wanted);
        if (strchr("{}^_@&~\\", c))
            wanted[used++] = '\\';
        wanted[used] = c >= 0x80 ? '?' : c < ' ' || c == 0x7F ? ' ' : (char)c;
    }
    strncat(all, "`touch a`$(touch a)\xC3\xA9\xE2\x82\xAC\xE2\x82", 40);
    strncat(wanted, "`touch a`$(touch a)\xC3\xA9\xE2\x82\xAC??\n", 40);
    FILE *gp = fopen(in_folder("s.gp"), "w");
    fputs("set print '-'\nprint ", gp);
    hn_gp_string(gp, all);
    fputc('\n', gp);
    fclose(gp);
    snprintf(command, sizeof command, "cd '%s' && gnuplot s.gp 2>&1", folder);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_STRING_EQUAL(out, wanted);
    CU_ASSERT_EQUAL(files_in_folder(), 1);
    end();
}

static void hostile_labels(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (int row = 0; row < FIXTURE_ROWS; row++) {
        struct fixture_cell c = fixture_cell(row);
        if (c.sampler == 1)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "sampler", evil));
        if (c.seed == 1)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", evil));
    }
    HN_CHECK(&ctx, draw("bs-fig4", &r, "svg"));
    HN_CHECK(&ctx, draw("gc-fig3", &r, "svg"));
    CU_ASSERT_EQUAL(files_in_folder(), 6);
    CU_ASSERT(holds("bs-fig4.svg", "`touch P`$(touch P)@x{/Bold z}_^&amp;~\\n%s|"));
    CU_ASSERT(holds("gc-fig3.svg", "`touch P`$(touch P)@x{/Bold z}_^&amp;~\\n%s|"));
    CU_ASSERT(!exists("P") && access("P", F_OK) != 0);
    hn_results_free(&ctx, &r);
    end();
}

// One step, several data sets and temperatures, more settings than lines, no labels.
static void odd_shapes(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results one = fixture_results(&ctx, 0, FIXTURE_SAMPLERS * FIXTURE_SEEDS);
    HN_CHECK(&ctx, draw("bs-fig4", &one, "svg"));
    HN_CHECK(&ctx, draw("gc-fig3", &one, "svg"));
    hn_results_free(&ctx, &one);

    struct hn_results many = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (int row = 0; row < FIXTURE_ROWS; row++) {
        char text[64];
        struct fixture_cell c = fixture_cell(row);
        snprintf(text, sizeof text, "K=100, M=%d, alpha=0.2", 100 * (row / 2));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &many.runs, row, "params", text));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &many.runs, row, "sampler", "batchsampler"));
        HN_CHECK(&ctx,
                 hn_table_set_text(&ctx, &many.runs, row, "dataset", c.seed ? "b.h5" : "a.h5"));
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &many.runs, row, "fn_ratio", NAN));
        HN_CHECK(&ctx,
                 hn_table_set_real(&ctx, &many.runs, row, "temperature", row % 4 ? 0.5 : 0.1));
    }
    HN_CHECK(&ctx, draw("bs-fig4", &many, "svg"));
    CU_ASSERT(strstr(notes, "settings") == NULL); // a row each
    CU_ASSERT(holds("bs-fig4.tsv", ": M=0, temperature=0.1\n") &&
              holds("bs-fig4.tsv", ": M=1000, temperature=0.5\n"));
    CU_ASSERT(!holds("bs-fig4.tsv", "alpha"));
    CU_ASSERT(!holds("bs-fig4.svg", "false-negative ratio"));
    HN_CHECK(&ctx, draw("gc-fig3", &many, "svg"));
    CU_ASSERT(holds("gc-fig3.svg", "temperature 0.1"));
    hn_results_free(&ctx, &many);
    end();
}

static void not_applicable(void) {
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, 4), bare = {0};
    for (int64_t row = 0; row < r.runs.rows; row++)
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "gap", NAN));
    HN_CHECK_FAILS(&ctx, draw("gc-fig3", &r, "svg"), HN_NOT_APPLICABLE, "positive");
    HN_CHECK_FAILS(&ctx, draw("bs-fig6", &r, "svg"), HN_NOT_APPLICABLE, "walk: rw, bfs or dfs");
    for (int64_t row = 0; row < r.runs.rows; row++)
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    HN_CHECK_FAILS(&ctx, draw("bs-fig4", &r, "svg"), HN_NOT_APPLICABLE, "no finished run");
    memset(r.histogram, 0, 4 * 4 * FIXTURE_BINS * sizeof *r.histogram);
    for (int64_t row = 0; row < r.runs.rows; row++)
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "ok"));
    HN_CHECK_FAILS(&ctx, draw("bs-fig4", &r, "svg"), HN_NOT_APPLICABLE, "empty");
    fixture_runs(&ctx, &bare.runs);
    HN_CHECK_FAILS(&ctx, draw("bs-fig4", &bare, "svg"), HN_DATA,
                   "figure bs-fig4 needs /hist/counts");
    hn_results_free(&ctx, &bare);
    HN_CHECK_FAILS(&ctx, draw("gc-fig3", &bare, "svg"), HN_DATA,
                   "figure gc-fig3 needs column dataset");
    CU_ASSERT_EQUAL(files_in_folder(), 0);
    hn_results_free(&ctx, &r);
    end();
}

static void unwritable(void) {
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    HN_CHECK_FAILS(&ctx, hn_figure_draw(&ctx, hn_figure_find("gc-fig3"), &r, "/nowhere", as("svg")),
                   HN_USAGE, "/nowhere");
    hn_results_free(&ctx, &r);
    end();
}

// Without gnuplot: says so, and leaves data and script. The same way without a byte of memory at
// any place.
static void without_gnuplot(void) {
    begin_noted();
    char *path = strdup(getenv("PATH"));
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    setenv("PATH", "/nowhere", 1);
    HN_CHECK_FAILS(&ctx, draw("bs-fig4", &r, "svg"), HN_GNUPLOT, "gnuplot-nox");
    int64_t live = atomic_load(&ctx.memory.live);
    int failures = 0;
    bool reached = true;
    for (int k = 1; reached && k < 200; k++) {
        ctx.memory.fail_at = atomic_load(&ctx.memory.calls) + k;
        enum hn_code code = draw("bs-fig4", &r, "svg");
        reached = atomic_load(&ctx.memory.calls) >= ctx.memory.fail_at;
        CU_ASSERT(code == HN_GNUPLOT || code == HN_MEMORY || code == HN_IO);
        CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), live);
        failures += code != HN_GNUPLOT;
    }
    ctx.memory.fail_at = 0;
    setenv("PATH", path, 1);
    free(path);
    CU_ASSERT(!reached);
    CU_ASSERT(failures > 5);
    CU_ASSERT(exists("bs-fig4.gp") && exists("bs-fig4.tsv"));
    CU_ASSERT_EQUAL(files_in_folder(), 2);
    hn_results_free(&ctx, &r);
    end();
}

static void styles(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    const struct hn_figure *figure = hn_figure_find("gc-fig3");
    const char *style = in_folder("style.gp");
    FILE *f = fopen(style, "w");
    fputs("set linetype 1 lc rgb '#123456'\n", f);
    fclose(f);
    HN_CHECK(&ctx, hn_figure_draw(&ctx, figure, &r, folder, (struct hn_picture){"svg", style}));
    CU_ASSERT(holds("gc-fig3.svg", "#123456") || holds("gc-fig3.svg", "rgb( 18,  52,  86)"));
    f = fopen(style, "w");
    fputs("set nonsense\n", f);
    fclose(f);
    HN_CHECK_FAILS(&ctx,
                   hn_figure_draw(&ctx, figure, &r, folder, (struct hn_picture){"svg", style}),
                   HN_GNUPLOT, "set nonsense");
    f = fopen(style, "w");
    fwrite("set grid\0\n", 1, 10, f);
    fclose(f);
    HN_CHECK_FAILS(&ctx,
                   hn_figure_draw(&ctx, figure, &r, folder, (struct hn_picture){"svg", style}),
                   HN_USAGE, "style.gp is not a file of gnuplot commands");
    HN_CHECK_FAILS(
        &ctx, hn_figure_draw(&ctx, figure, &r, folder, (struct hn_picture){"svg", "/nowhere.gp"}),
        HN_USAGE, "/nowhere.gp");
    hn_results_free(&ctx, &r);
    end();
}

// Runs `hardneg plot` with these arguments (NULL-terminated, the first is the results).
static enum hn_code plot(const char *const *args) {
    char *argv[16] = {(char *)"plot"};
    const char *positional[16];
    int argc = 1;
    while (args[argc - 1]) {
        argv[argc] = (char *)args[argc - 1];
        argc++;
    }
    void *params = hn_zalloc(&ctx, 1, hn_cmd_plot.params_size);
    struct hn_call call = {.quiet = true, .verbose = true, .args = positional, .params = params};
    enum hn_code code = hn_options_init(&ctx, hn_cmd_plot.options, params);
    if (code == HN_OK)
        code = hn_options_argv(&ctx, hn_cmd_plot.options, params, argc, argv, positional,
                               &call.n_args);
    if (code == HN_OK)
        code = hn_command_run(&ctx, &hn_cmd_plot, &call);
    hn_options_free(&ctx, hn_cmd_plot.options, params);
    hn_free(&ctx, params);
    return code;
}

static void command(void) {
    need_gnuplot();
    begin_noted();
    struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
    for (int64_t row = 0; row < r.runs.rows; row++)
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "gap", NAN));
    HN_CHECK(&ctx, hn_results_write(&ctx, &r, in_folder("results.h5")));
    hn_results_free(&ctx, &r);
    // A run directory: all that the file allows, the rest with its reason.
    HN_CHECK(&ctx, plot((const char *[]){folder, NULL}));
    CU_ASSERT(exists("figures/bs-fig4.svg") && !exists("figures/gc-fig3.svg"));
    CU_ASSERT(strstr(notes, "gc-fig3 is left out: no run has a gap") != NULL);
    const char *file = in_folder("results.h5"), *deep = in_folder("x/y");
    HN_CHECK(&ctx, plot((const char *[]){file, "--figure", "bs-fig4", "-o", deep, "--term", "png",
                                         NULL}));
    CU_ASSERT(exists("x/y/bs-fig4.png"));
    HN_CHECK_FAILS(&ctx, plot((const char *[]){file, "--figure", "gc-fig3", NULL}), HN_DATA,
                   "gc-fig3 cannot be drawn");
    HN_CHECK_FAILS(&ctx, plot((const char *[]){file, "--figure", "bs-fig", NULL}), HN_USAGE,
                   "did you mean 'bs-fig4'");
    HN_CHECK(&ctx, plot((const char *[]){file, "--figure", "bs-fig4", "-o", deep, "--step", "last",
                                         NULL}));
    CU_ASSERT(exists("x/y/bs-fig4.svg"));
    static const char *const wrong[] = {"7", "first", "nan", "0x", "1e300", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        HN_CHECK_FAILS(&ctx, plot((const char *[]){file, "--step", wrong[i], NULL}), HN_USAGE,
                       "--step: no cell is of step");
    HN_CHECK_FAILS(&ctx, plot((const char *[]){"/nowhere", NULL}), HN_DATA, "/nowhere");
    HN_CHECK_FAILS(&ctx, plot((const char *[]){file, "-o", file, NULL}), HN_USAGE, "results.h5");
    end();
}

static const struct hn_test tests[] = {
    {"draws_again", draws_again},
    {"other_terminals", other_terminals},
    {"media", media},
    {"for_latex", for_latex},
    {"numbers_are_right", numbers_are_right},
    {"strings_are_safe", strings_are_safe},
    {"hostile_labels", hostile_labels},
    {"odd_shapes", odd_shapes},
    {"not_applicable", not_applicable},
    {"unwritable", unwritable},
    {"without_gnuplot", without_gnuplot},
    {"styles", styles},
    {"command", command},
};
HN_TEST_MAIN("plots", tests)
