#include "harness/cli/summary.h"
#include "core/options/option.h"
#include "metrics/weighting.h"
#include "samplers/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double column(const struct hn_results *r, int64_t row, const char *name) {
    return hn_table_real(&r->runs, row, name);
}

// A number in a field of the summary; a dash where it does not apply.
static void print_number(double value, int decimals, const char *unit, int width) {
    char text[64] = "-";
    if (value == value)
        snprintf(text, sizeof text, "%.*f%s", decimals, value, unit);
    printf(" %*s", width, text);
}

// Appends a word, as far as there is room.
static void add_word(char *text, size_t size, const char *name, const char *value) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s", used ? " " : "", name, value);
}

// Appends the options of a row that are not at their defaults: "M=500 alpha=0.2".
static void add_options(const struct hn_results *r, int64_t row, const struct hn_option *options,
                        char *text, size_t size) {
    for (const struct hn_option *o = options; o && o->name; o++) {
        char real[64];
        const char *value = real;
        if (hn_table_find(&r->runs, o->name) >= 0 && *hn_table_text(&r->runs, row, o->name))
            value = hn_table_text(&r->runs, row, o->name);
        else
            hn_real_text(hn_table_real(&r->runs, row, o->name), real, sizeof real);
        bool unset = strcmp(value, "nan") == 0;
        if (unset || (o->initial && strcmp(value, o->initial) == 0))
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s=", o->name);
        add_word(text, size, name, value);
    }
}

// What sets a row apart: options of its sampler, loss and weighting, where they are not the usual.
static void short_params(const struct hn_results *r, int64_t row, char *text, size_t size) {
    const struct hn_sampler_type *type = hn_sampler_find(hn_table_text(&r->runs, row, "sampler"));
    const char *loss = hn_table_text(&r->runs, row, "loss");
    const struct hn_weighting_type *weighting =
        hn_weighting_find(hn_table_text(&r->runs, row, "weighting"));
    *text = '\0';
    add_options(r, row, type ? type->options : NULL, text, size);
    if (*loss && strcmp(loss, hn_losses[HN_LOSS_NTXENT].name) != 0)
        add_word(text, size, loss, "");
    if (!weighting || strcmp(weighting->name, "none") == 0)
        return;
    add_word(text, size, weighting->name, "");
    add_options(r, row, weighting->options, text, size);
}

void hn_print_summary(const struct hn_results *r) {
    enum { MOST = 60 };
    printf("%-7s %-16s %-24s %8s %5s %8s %7s %8s %11s %11s\n", "step", "sampler", "options",
           "fn_ratio", "+-", "cos_mean", "gap", "coverage", "cost_s", "cost_g");
    for (int64_t i = 0; i < r->runs.rows && i < MOST; i++) {
        const char *status = hn_table_text(&r->runs, i, "status");
        char options[64];
        short_params(r, i, options, sizeof options);
        printf("%-7.0f %-16s %-24s", column(r, i, "step"), hn_table_text(&r->runs, i, "sampler"),
               options);
        if (strcmp(status, "ok") != 0) {
            printf(" %s: %s\n", status, hn_table_text(&r->runs, i, "error"));
            continue;
        }
        print_number(column(r, i, "fn_ratio"), 4, "", 7);
        print_number((column(r, i, "fn_ratio_hi") - column(r, i, "fn_ratio_lo")) / 2, 4, "", 6);
        print_number(column(r, i, "cos_mean"), 4, "", 8);
        print_number(column(r, i, "gap"), 4, "", 7);
        print_number(column(r, i, "coverage"), 3, "", 8);
        print_number(column(r, i, "cost_s") * 1e6, 1, " us", 11);
        print_number(column(r, i, "cost_g") * 1e3, 1, " ms", 11);
        printf("\n");
    }
    if (r->runs.rows > MOST)
        printf("... and %" PRId64 " more rows in the results file\n", r->runs.rows - MOST);
}
