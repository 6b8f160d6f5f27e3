// What `compare` says: a short table, a summary for a job's page (Markdown), JUnit and JSON.
#include "results/compare.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 320 };

static const char *const ends[] = {"pass", "fail", "nothing"};

void hn_compare_rule(const struct hn_comparison *c, const struct hn_compare_line *line, char *text,
                     size_t size) {
    (void)c;
    if (!line->gated)
        snprintf(text, size, "not gated");
    else if (line->gate)
        snprintf(text, size, "%s", strchr(line->gate->text, ':') + 1);
    else if (line->kind == HN_VALUE_QUALITY)
        snprintf(text, size, "to %g", line->binned ? hn_compare_binned : hn_compare_relative);
    else
        snprintf(text, size, "exact");
}

void hn_compare_amount(double from, double to, char *text, size_t size) {
    if (isnan(to))
        snprintf(text, size, "no value");
    else if (fabs(from) > 0)
        snprintf(text, size, "%+.4g %%", 100 * (to - from) / fabs(from));
    else
        snprintf(text, size, "%+.6g", to - from);
}

// Texts and histograms have no amount.
static bool has_amount(const struct hn_compare_line *line) {
    return strcmp(line->table, "hist") != 0 && !line->text;
}

static void label_of(const struct hn_comparison *c, const char *table, int64_t row, char *text) {
    const struct hn_table *cells = hn_compare_cells(c, table);
    text[0] = '\0';
    if (row >= 0 && row < cells->rows)
        hn_row_label(cells, row, text, LABEL);
}

static void describe(const struct hn_comparison *c, const struct hn_compare_line *line, char *text,
                     size_t size) {
    char amount[64] = "differs", label[LABEL];
    if (has_amount(line))
        hn_compare_amount(line->from, line->to, amount, sizeof amount);
    label_of(c, line->table, line->base_row, label);
    if (has_amount(line))
        snprintf(text, size, "%s (%.9g -> %.9g) %s", amount, line->from, line->to, label);
    else
        snprintf(text, size, "%s: %s", amount, label);
}

// "batch.fn_ratio"; columns of /runs go by their own name.
static void name_of(const struct hn_compare_line *line, char *text, size_t size) {
    bool own = strcmp(line->table, "runs") == 0;
    snprintf(text, size, "%s%s%s", own ? "" : line->table, own ? "" : ".", line->name);
}

// Whether a line stands in the table by itself.
static bool shown(const struct hn_compare_line *line) {
    bool machine = line->kind == HN_VALUE_MACHINE && !line->gate; // differs from run to run
    bool asked = line->gate && strcmp(line->gate->metric, line->name) == 0;
    return (line->differ > 0 && !machine) || (asked && line->compared > 0);
}

// Columns that were compared and are not shown by themselves.
static int64_t quiet_lines(const struct hn_comparison *c) {
    int64_t n = 0;
    for (int64_t i = 0; i < c->n_lines; i++)
        n += c->line[i].differ == 0 && !shown(&c->line[i]) && c->line[i].compared > 0;
    return n;
}

// --- times ---

struct time_line {
    int64_t cells, tested, slower, faster;
    double middle;                       // median of the ratios
    const struct hn_compare_time *worst; // of those that are slower, else of all
};

static struct time_line sum_times(const struct hn_comparison *c, const char *metric) {
    struct time_line t = {.middle = NAN};
    for (int64_t i = 0; i < c->n_times; i++) {
        const struct hn_compare_time *one = &c->time[i];
        if (strcmp(one->metric, metric) != 0)
            continue;
        t.cells++;
        t.tested += one->tested;
        t.slower += one->verdict.slower;
        t.faster += one->verdict.faster;
        bool worse = !t.worst || (one->verdict.slower && !t.worst->verdict.slower) ||
                     (one->verdict.slower == t.worst->verdict.slower &&
                      one->ratio.mean > t.worst->ratio.mean);
        if (worse)
            t.worst = one;
    }
    return t;
}

static double percent(double ratio) { return 100 * (ratio - 1); }

static void describe_time(const struct hn_comparison *c, const struct hn_compare_time *t,
                          char *text, size_t size) {
    char label[LABEL];
    label_of(c, "runs", t->base_row, label);
    char interval[64] = "";
    if (!isnan(t->ratio.lo))
        snprintf(interval, sizeof interval, " [%+.1f, %+.1f]", percent(t->ratio.lo),
                 percent(t->ratio.hi));
    snprintf(text, size, "%+.1f %%%s (%.3g s -> %.3g s) %s", percent(t->ratio.mean), interval,
             t->from, t->to, label);
}

// Why nothing, or not all, of a metric's times were tested.
static void say_untested(const struct hn_comparison *c, const struct time_line *t, char *text,
                         size_t size) {
    text[0] = '\0';
    if (!c->comparable)
        snprintf(text, size, "shown, not gated: %s", c->why_not);
    else if (t->worst && t->tested == 0 && !t->worst->gated)
        snprintf(text, size, "shown: no gate was given for it");
    else if (t->tested < t->cells)
        snprintf(text, size, "%" PRId64 " of %" PRId64 " have fewer than %d %s",
                 t->cells - t->tested, t->cells, HN_COMPARE_FEWEST,
                 c->rounds ? "rounds and are not gated: raise --rounds"
                           : "repetitions and are not gated: set timing.reps");
}

static const char *const cost[] = {"cost_s", "cost_g"};
enum { COSTS = 2 };

// --- the terminal ---

static void print_times(const struct hn_comparison *c, FILE *out) {
    char text[LABEL + 128];
    for (int m = 0; m < COSTS; m++) {
        struct time_line t = sum_times(c, cost[m]);
        if (t.cells == 0)
            continue;
        char rule[32] = "not gated";
        if (t.tested > 0)
            snprintf(rule, sizeof rule, "+%.3g %%", 100 * t.worst->least);
        describe_time(c, t.worst, text, sizeof text);
        fprintf(out, "%-20s %-12s %6" PRId64 " %7" PRId64 "  %-4s  %s\n", cost[m], rule, t.cells,
                t.slower,
                t.slower   ? "FAIL"
                : t.tested ? "ok"
                           : "-",
                text);
        say_untested(c, &t, text, sizeof text);
        if (*text)
            fprintf(out, "%20s %s\n", "", text);
    }
    if (c->times_tested > 0)
        fprintf(out,
                "%20s a slowdown counts beyond the host's noise, %.1f %%, and if its p, "
                "corrected for %" PRId64 " tests, is at most %g\n",
                "", 100 * c->floor, c->times_tested, hn_compare_alpha);
}

static void print_missing(const struct hn_comparison *c, FILE *out) {
    if (c->only_base > 0)
        fprintf(out, "%" PRId64 " cells of BASE are not in NEW\n", c->only_base);
    if (c->only_now > 0)
        fprintf(out, "%" PRId64 " cells of NEW are not in BASE\n", c->only_now);
}

void hn_compare_print(const struct hn_comparison *c, FILE *out) {
    char name[128], rule[64], text[LABEL + 128];
    fprintf(out, "%-20s %-12s %6s %7s  %-4s  %s\n", "metric", "gate", "values", "differ", "",
            "worst change, and where");
    for (int64_t i = 0; i < c->n_lines; i++) {
        const struct hn_compare_line *line = &c->line[i];
        if (!shown(line))
            continue;
        name_of(line, name, sizeof name);
        hn_compare_rule(c, line, rule, sizeof rule);
        text[0] = '\0';
        if (line->differ > 0)
            describe(c, line, text, sizeof text);
        fprintf(out, "%-20s %-12s %6" PRId64 " %7" PRId64 "  %-4s  %s\n", name, rule,
                line->compared, line->differ,
                line->failed  ? "FAIL"
                : line->gated ? "ok"
                              : "-",
                text);
    }
    int64_t quiet = quiet_lines(c);
    if (quiet > 0)
        fprintf(out, "%" PRId64 " columns without a difference\n", quiet);
    print_times(c, out);
    print_missing(c, out);
    fprintf(out, "%s\n", c->verdict);
}

// --- Markdown ---

// A text within a cell of a table: nothing in it is markup.
static void put_markdown(FILE *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s < ' ' || *s == 0x7F)
            fputc(' ', out);
        else if (*s == '<' || *s == '>' || *s == '&' || *s == '@' || *s == '#')
            fprintf(out, "&#%d;", *s);
        else if (strchr("\\`*_{}[]()!|~", *s))
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
}

static void put_row(FILE *out, const char *const *cell, int n) {
    for (int i = 0; i < n; i++) {
        fputs(i ? " | " : "| ", out);
        put_markdown(out, cell[i]);
    }
    fputs(" |\n", out);
}

static void markdown_times(const struct hn_comparison *c, FILE *out) {
    char text[LABEL + 128], cells[32], slower[32], rule[32];
    for (int m = 0; m < COSTS; m++) {
        struct time_line t = sum_times(c, cost[m]);
        if (t.cells == 0)
            continue;
        snprintf(cells, sizeof cells, "%" PRId64, t.cells);
        snprintf(slower, sizeof slower, "%" PRId64, t.slower);
        snprintf(rule, sizeof rule, t.tested ? "+%.3g %%" : "not gated", 100 * t.worst->least);
        describe_time(c, t.worst, text, sizeof text);
        const char *const row[] = {
            t.slower ? "FAIL" : t.tested ? "ok" : "-", cost[m], rule, cells, slower, text};
        put_row(out, row, 6);
    }
}

void hn_compare_markdown(const struct hn_comparison *c, FILE *out) {
    static const char *const mark[] = {"&#9989;", "&#10060;", "&#9888;&#65039;"};
    char name[128], rule[64], text[LABEL + 128], values[32], differ[32];
    fprintf(out, "### %s hardneg compare\n\n", mark[c->end]);
    put_markdown(out, c->verdict);
    fprintf(out, "\n\n| | metric | gate | values | differ | worst change, and where |\n"
                 "| --- | --- | --- | ---: | ---: | --- |\n");
    for (int64_t i = 0; i < c->n_lines; i++) {
        const struct hn_compare_line *line = &c->line[i];
        if (!shown(line))
            continue;
        name_of(line, name, sizeof name);
        hn_compare_rule(c, line, rule, sizeof rule);
        snprintf(values, sizeof values, "%" PRId64, line->compared);
        snprintf(differ, sizeof differ, "%" PRId64, line->differ);
        text[0] = '\0';
        if (line->differ > 0)
            describe(c, line, text, sizeof text);
        const char *const row[] = {
            line->failed ? "FAIL" : line->gated ? "ok" : "-", name, rule, values, differ, text};
        put_row(out, row, 6);
    }
    markdown_times(c, out);
    fprintf(out, "\n%" PRId64 " columns without a difference.", quiet_lines(c));
    if (c->comparable)
        fprintf(out, " Noise of the host: %.1f %%.", 100 * c->floor);
    else {
        fputs(" Times are not gated: ", out);
        put_markdown(out, c->why_not);
        fputc('.', out);
    }
    fputc('\n', out);
    if (c->only_base + c->only_now > 0) {
        fputc('\n', out);
        print_missing(c, out);
    }
}

// --- JUnit ---

// Text of an attribute or element. XML has no way to write most control characters.
static void put_xml(FILE *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s < ' ' || *s == 0x7F)
            fputc(' ', out);
        else if (strchr("<>&\"'", *s))
            fprintf(out, "&#%d;", *s);
        else
            fputc(*s < 0x80 ? *s : '?', out);
    }
}

static void put_case(FILE *out, const char *class, const char *name, const char *failure,
                     const char *skipped) {
    fprintf(out, "  <testcase classname=\"hardneg.");
    put_xml(out, class);
    fputs("\" name=\"", out);
    put_xml(out, name);
    fputs("\">", out);
    if (failure) {
        fputs("<failure message=\"", out);
        put_xml(out, failure);
        fputs("\"/>", out);
    } else if (skipped) {
        fputs("<skipped message=\"", out);
        put_xml(out, skipped);
        fputs("\"/>", out);
    }
    fputs("</testcase>\n", out);
}

static void junit_times(const struct hn_comparison *c, FILE *out) {
    char text[LABEL + 128];
    for (int m = 0; m < COSTS; m++) {
        struct time_line t = sum_times(c, cost[m]);
        if (t.cells == 0)
            continue;
        describe_time(c, t.worst, text, sizeof text);
        put_case(out, "runs", cost[m], t.slower ? text : NULL, t.tested ? NULL : "not gated");
    }
}

void hn_compare_junit(const struct hn_comparison *c, FILE *out) {
    int64_t tests = 1, failures = c->end != HN_COMPARE_PASS, skipped = 0;
    for (int64_t i = 0; i < c->n_lines; i++) {
        tests += c->line[i].compared > 0;
        failures += c->line[i].failed > 0;
        skipped += c->line[i].compared > 0 && !c->line[i].failed && !c->line[i].gated;
    }
    for (int m = 0; m < COSTS; m++) {
        struct time_line t = sum_times(c, cost[m]);
        tests += t.cells > 0;
        failures += t.slower > 0;
        skipped += t.cells > 0 && t.tested == 0;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hardneg compare\" "
            "tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" errors=\"0\" skipped=\"%" PRId64
            "\">\n",
            tests, failures, skipped);
    put_case(out, "compare", "verdict", c->end == HN_COMPARE_PASS ? NULL : c->verdict, NULL);
    for (int64_t i = 0; i < c->n_lines; i++) {
        const struct hn_compare_line *line = &c->line[i];
        char text[LABEL + 128];
        if (line->compared == 0)
            continue;
        describe(c, line, text, sizeof text);
        put_case(out, line->table, line->name, line->failed ? text : NULL,
                 line->gated ? NULL : "not gated");
    }
    junit_times(c, out);
    fputs("</testsuite>\n", out);
}

// --- JSON ---

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *text_json(const char *text) {
    json_t *string = json_string(text);
    return string ? string : json_string("?"); // no UTF-8
}

static json_t *file_json(const struct hn_results *r) {
    json_t *file = json_object();
    static const char *const env[] = {"tool_version", "git_commit", "machine_class", "threads",
                                      "sgemm_gflops"};
    static const char *const root[] = {"created", "status", "config_sha256"};
    for (int i = 0; i < 3; i++)
        json_object_set_new(file, root[i], text_json(hn_results_get(r, root[i])));
    for (int i = 0; i < 5; i++)
        json_object_set_new(file, env[i], text_json(hn_results_get_env(r, env[i])));
    return file;
}

static json_t *line_json(const struct hn_comparison *c, const struct hn_compare_line *line) {
    char rule[64], label[LABEL];
    hn_compare_rule(c, line, rule, sizeof rule);
    json_t *j = json_pack("{s:o, s:o, s:s, s:b, s:I, s:I, s:I}", "table", text_json(line->table),
                          "name", text_json(line->name), "gate", rule, "gated", line->gated,
                          "compared", (json_int_t)line->compared, "differ",
                          (json_int_t)line->differ, "failed", (json_int_t)line->failed);
    if (line->differ == 0)
        return j;
    label_of(c, line->table, line->base_row, label);
    json_object_set_new(j, "worst",
                        json_pack("{s:o, s:o, s:o}", "cell", text_json(label), "base",
                                  has_amount(line) ? real(line->from) : json_null(), "new",
                                  has_amount(line) ? real(line->to) : json_null()));
    return j;
}

static json_t *change_json(const struct hn_comparison *c, const struct hn_compare_change *change) {
    const struct hn_compare_line *line = &c->line[change->line];
    char label[LABEL];
    label_of(c, line->table, change->base_row, label);
    const char *key = hn_table_text(hn_compare_cells(c, line->table), change->base_row, "cell_key");
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "table", text_json(line->table), "name",
                     text_json(line->name), "cell", text_json(label), "cell_key", text_json(key),
                     "base", has_amount(line) ? real(change->from) : json_null(), "new",
                     has_amount(line) ? real(change->to) : json_null(), "failed", change->failed);
}

static json_t *time_json(const struct hn_comparison *c, const struct hn_compare_time *t) {
    char label[LABEL];
    label_of(c, "runs", t->base_row, label);
    const char *key = hn_table_text(&c->base->runs, t->base_row, "cell_key");
    return json_pack(
        "{s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b}", "name",
        t->metric, "cell", text_json(label), "cell_key", text_json(key), "base_samples",
        (json_int_t)t->n_base, "new_samples", (json_int_t)t->n_now, "base", real(t->from), "new",
        real(t->to), "ratio", real(t->ratio.mean), "ratio_lo", real(t->ratio.lo), "ratio_hi",
        real(t->ratio.hi), "least", real(t->least), "p", real(t->verdict.p), "p_holm",
        real(t->verdict.holm), "tested", t->tested, "slower", t->verdict.slower, "faster",
        t->verdict.faster);
}

enum hn_code hn_compare_json(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    json_t *lines = json_array(), *changes = json_array(), *times = json_array();
    for (int64_t i = 0; i < c->n_lines; i++)
        if (c->line[i].compared > 0)
            json_array_append_new(lines, line_json(c, &c->line[i]));
    for (int64_t i = 0; i < c->n_changes; i++)
        json_array_append_new(changes, change_json(c, &c->change[i]));
    for (int64_t i = 0; i < c->n_times; i++)
        json_array_append_new(times, time_json(c, &c->time[i]));
    json_t *all = json_pack(
        "{s:s, s:i, s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}, s:o, s:o, s:{s:b, "
        "s:o, s:o, s:f, s:I, s:I, s:o}}",
        "schema", "hardneg-compare", "schema_version", 1, "verdict", ends[c->end], "message",
        text_json(c->verdict), "base", file_json(c->base), "new", file_json(c->now), "cells",
        "matched", (json_int_t)c->matched, "only_base", (json_int_t)c->only_base, "only_new",
        (json_int_t)c->only_now, "values", "compared", (json_int_t)c->values, "differ",
        (json_int_t)c->differ, "failed", (json_int_t)c->failed, "columns", lines, "changes",
        changes, "times", "comparable", c->comparable, "why_not",
        c->comparable ? json_null() : text_json(c->why_not), "noise", real(c->floor), "alpha",
        hn_compare_alpha, "tested", (json_int_t)c->times_tested, "slower",
        (json_int_t)c->times_failed, "of", times);
    if (!all)
        return hn_fail(ctx, HN_MEMORY, "no memory for the JSON document");
    // Whether `out` could be written is for its owner to see.
    bool failed = json_dumpf(all, out, JSON_INDENT(2)) != 0 && !ferror(out);
    json_decref(all);
    fputc('\n', out);
    return failed ? hn_fail(ctx, HN_MEMORY, "no memory for the JSON document") : HN_OK;
}
