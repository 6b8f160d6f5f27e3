// A metric over past results: one line per sampler, one mark per results file.
#include "plots/page/figure.h"

#include <math.h>
#include <string.h>

enum { COMMIT_SHOWN = 7, DATE_SHOWN = 10 };

static const char *text(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_text(&r->runs, row, column);
}

// Rows of one sampler stand together: the first row behind those of the sampler of row `first`.
static int64_t end_of(const struct hn_results *r, int64_t first) {
    int64_t end = first;
    while (end < r->runs.rows && strcmp(text(r, end, "sampler"), text(r, first, "sampler")) == 0)
        end++;
    return end;
}

static enum hn_code data(struct hn_context *ctx, const struct hn_results *r, FILE *tsv,
                         struct hn_figure_size *size) {
    (void)ctx;
    *size = (struct hn_figure_size){7, 3.2, 24};
    for (int64_t first = 0, end; first < r->runs.rows; first = end) {
        end = end_of(r, first);
        fputs(first ? "\n\n# " : "# ", tsv);
        hn_tsv_text(tsv, text(r, first, "sampler"));
        fputs("\n# place\tvalue\tcreated\tcommit\n", tsv);
        for (int64_t i = first; i < end; i++) {
            fprintf(tsv, "%lld", (long long)(i - first));
            hn_tsv_real(tsv, hn_table_real(&r->runs, i, "value"));
            fputc('\t', tsv);
            hn_tsv_text(tsv, text(r, i, "created"));
            fputc('\t', tsv);
            hn_tsv_text(tsv, text(r, i, "commit"));
            fputc('\n', tsv);
        }
    }
    return HN_OK;
}

// The vertical axis: logarithmic where values are spread too widely for any other.
static void write_range(const struct hn_results *r, FILE *gp) {
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < r->runs.rows; i++) {
        double value = hn_table_real(&r->runs, i, "value");
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    bool wide = least > 0 && most > 30 * least;
    if (wide)
        fputs("set logscale y\n", gp);
    if (most >= 1e4 || most < 1e-2 || wide)
        fputs(wide ? "set format y '%.0s %c'\n" : "set format y '%.2s %c'\n", gp);
}

// The axis of files: day and commit of as many as can be read.
static void write_tics(const struct hn_results *r, FILE *gp) {
    int64_t n = end_of(r, 0), every = (n + 9) / 10;
    fputs("set xtics (", gp);
    for (int64_t i = 0; i < n; i += every) {
        char label[64];
        const char *commit = text(r, i, "commit");
        snprintf(label, sizeof label, "%.*s%s%.*s", DATE_SHOWN, text(r, i, "created"),
                 *commit ? "  " : "", COMMIT_SHOWN, commit);
        fputs(i ? ", " : "", gp);
        hn_gp_string(gp, label);
        fprintf(gp, " %lld", (long long)i);
    }
    fprintf(gp, ") rotate by -25\nset xrange [-0.3:%.1f]\n", (double)(n - 1) + 0.3);
}

static enum hn_code script(struct hn_context *ctx, const struct hn_results *r, const char *tsv_name,
                           FILE *gp) {
    (void)ctx;
    char label[256];
    const char *units = hn_results_get(r, "units");
    bool plain = !*units || strcmp(units, "1") == 0;
    snprintf(label, sizeof label, "%s%s%s%s", hn_results_get(r, "metric"), plain ? "" : " (",
             plain ? "" : units, plain ? "" : ")");
    fputs("set ylabel ", gp);
    hn_gp_string(gp, label);
    snprintf(label, sizeof label, "mean of %s cells", hn_results_get(r, "cells"));
    fputs("\nset title ", gp);
    hn_gp_string(gp, label);
    fputs(" font ',9'\nset key outside right top Left reverse\n", gp);
    write_range(r, gp);
    write_tics(r, gp);
    fputs("plot ", gp);
    int block = 0;
    for (int64_t first = 0; first < r->runs.rows; first = end_of(r, first), block++) {
        // Behind the last line of the theme its colours come again, with another mark.
        fprintf(gp, "%s'%s' index %d using 1:2 with linespoints lt %d%s title ",
                block ? ", \\\n  " : "", tsv_name, block, block % HN_THEME_LINES + 1,
                block < HN_THEME_LINES ? "" : " dt solid pt 2");
        hn_gp_string(gp, text(r, first, "sampler"));
    }
    fputc('\n', gp);
    return HN_OK;
}

static const char *const columns[] = {"created", "commit", "sampler", "value", NULL};

const struct hn_figure hn_history = {
    .id = "history",
    .title = "A metric over past results",
    .caption = "Each mark is a results file, in the order of their times; each line a sampler, the "
               "mean over the cells that all files have.",
    .source = "hardneg compare --history",
    .columns = columns,
    .data = data,
    .script = script,
};
