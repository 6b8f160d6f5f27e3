// SPDX-License-Identifier: GPL-3.0-or-later
// One page over many results: ranks over data sets, settings side by side and in one table.
#include "core/text.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/analysis/trained.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct many {
    struct hn_context *ctx;
    FILE *html;
    const struct hn_report_of *report; // [n] in the order of `created`
    int64_t n;
    struct hn_results joined; // /runs of all, with column `result`
    struct hn_overview overview;
};

static const struct hn_column joined_columns[] = {
    {"result", HN_COLUMN_TEXT, "", "which of the results", HN_NEITHER, HN_ROLE_SETTING},
    {"accuracy", HN_COLUMN_REAL, "1", "first accuracy of the task at the last evaluation",
     HN_LARGER, HN_ROLE_QUALITY}};

static const char *title_of(const struct hn_report_of *r) {
    const char *title = hn_results_get(r->results, "title");
    return *title ? title : r->name;
}

// Titles that several results have are followed by the name of the folder, or the date.
static void compose_name(const struct many *m, int64_t i, char *text, size_t size) {
    const struct hn_report_of *own = &m->report[i];
    bool title = false, name = false;
    for (int64_t k = 0; k < m->n; k++) {
        bool same = k != i && strcmp(title_of(&m->report[k]), title_of(own)) == 0;
        title |= same;
        name |= same && strcmp(m->report[k].name, own->name) == 0;
    }
    hn_put_text(text, size, "%s", title_of(own));
    if (title && !name && strcmp(title_of(own), own->name) != 0)
        hn_append(text, size, " (%s)", own->name);
    else if (title)
        hn_append(text, size, " (%s, %" PRId64 ")", hn_results_get(own->results, "created"), i + 1);
}

// Names a result; numbers those whose names are the same, also after cutting.
static void result_name(const struct many *m, int64_t i, char text[HN_LABEL_SIZE]) {
    char other[HN_LABEL_SIZE];
    bool again = false;
    compose_name(m, i, text, HN_LABEL_SIZE);
    for (int64_t k = 0; k < m->n; k++) {
        compose_name(m, k, other, sizeof other);
        again |= k != i && strcmp(other, text) == 0;
    }
    if (again) {
        hn_put_text(text, HN_LABEL_SIZE - 24, "%s", title_of(&m->report[i]));
        hn_append(text, HN_LABEL_SIZE, " (%" PRId64 ")", i + 1);
    }
}

// Adds the last evaluation of each training.
static enum hn_code add_accuracies(struct many *m, const struct hn_results *r, int64_t first) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(m->ctx, r, &t);
    if (code)
        return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
    for (int64_t row = 0; row < r->runs.rows; row++) {
        int64_t k = t.overview.cells.of[row];
        if (t.base[k] >= 0 &&
            hn_table_set_real(m->ctx, &m->joined.runs, first + row, "accuracy",
                              hn_trained_value(&t, row, hn_trained_column(&t, k), HN_LAST_STEP)))
            return m->ctx->code;
    }
    return HN_OK;
}

// Batches come along: intervals are taken from them where there are few seeds.
static enum hn_code join(struct many *m) {
    struct hn_table *runs = &m->joined.runs;
    if (hn_table_init(m->ctx, runs, "runs") ||
        hn_table_add_columns(m->ctx, runs, joined_columns, 2))
        return m->ctx->code;
    for (int64_t i = 0; i < m->n; i++) {
        const struct hn_results *r = m->report[i].results;
        const struct hn_results cells = {.runs = r->runs,
                                         .batch_start = r->batch_start,
                                         .batch_fn_ratio = r->batch_fn_ratio,
                                         .batch_cos_mean = r->batch_cos_mean};
        char name[HN_LABEL_SIZE];
        int64_t first = runs->rows;
        result_name(m, i, name);
        if (hn_results_append(m->ctx, &m->joined, &cells))
            return m->ctx->code;
        for (int64_t row = first; row < runs->rows; row++)
            if (HN_TABLE_SET(m->ctx, runs, row, HN_TEXT_VALUE("result", name)))
                return m->ctx->code;
        if (add_accuracies(m, r, first))
            return m->ctx->code;
    }
    return HN_OK;
}

static int64_t count_distinct(const struct hn_table *t, const char *column) {
    int64_t n = 0;
    for (int64_t row = 0; row < t->rows; row++)
        n += hn_table_row_with(t, column, hn_table_text(t, row, column)) == row;
    return n;
}

static json_t *result_row(const struct many *m, int64_t i) {
    const struct hn_results *r = m->report[i].results;
    char name[HN_LABEL_SIZE], commit[13];
    result_name(m, i, name);
    snprintf(commit, sizeof commit, "%s", hn_results_get_env(r, "git_commit"));
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "name", hn_json_text(name), "run",
                     hn_json_text(hn_results_get(r, "created")), "cells", (json_int_t)r->runs.rows,
                     "done", (json_int_t)hn_html_count(&r->runs, "status", "ok", NULL), "datasets",
                     (json_int_t)count_distinct(&r->runs, "dataset_sha256"), "commit",
                     hn_json_text(commit), "processor",
                     hn_json_text(hn_results_get_env(r, "cpu_model")), "file",
                     hn_json_text(m->report[i].file));
}

static void put_results(const struct many *m) {
    static const struct hn_record_column columns[] = {
        {"name", "Result", -1, .html = "<th scope=row>%s</th>"},
        {"run", "Run", -1},
        {"cells", "Cells"},
        {"done", "Done"},
        {"datasets", "Data sets"},
        {"commit", "Commit", -1, .html = "<td><code>%s</code></td>"},
        {"processor", "Processor", -1},
        {"file", "File", -1, .html = "<td class=wrap>%s</td>"},
        {0}};
    json_t *rows = json_array();
    for (int64_t i = 0; i < m->n; i++)
        json_array_append_new(rows, result_row(m, i));
    fputs("<section aria-labelledby=results><h2 id=results>Results</h2>\n", m->html);
    hn_html_table(m->html, &(struct hn_html_table){.label = "Results",
                                                   .id = "",
                                                   .class = "sortable",
                                                   .sorted = 2,
                                                   .column = columns,
                                                   .row = rows});
    fputs("</section>\n", m->html);
}

enum { KEY = 1024 };

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

// A setting at the last step of its file, with everything that its row names but the result.
static void compose_key(const struct hn_overview *o, int64_t s, char key[KEY]) {
    snprintf(key, KEY, "%s\t%s", hn_table_text(&o->results->runs, o->first[s], "dataset_sha256"),
             hn_overview_sampler(o, s));
    for (int a = 0; a < o->axes; a++)
        if (strcmp(o->axis[a].name, "result") != 0)
            hn_append(key, KEY, "\t%s", hn_overview_value(o, s, o->axis[a].name).text);
}

// Counts the settings that two results or more have measured on the same file; last: at its last
// step.
static enum hn_code count_shared(const struct many *m, bool last, int64_t *shared) {
    const struct hn_overview *o = &m->overview;
    int64_t n = 0;
    HN_SCOPE(m->ctx);
    char(*key)[KEY] = hn_alloc(m->ctx, o->settings, sizeof *key);
    if (!key)
        return m->ctx->code;
    for (int64_t s = 0; s < o->settings; s++)
        if ((o->last[s] || !last) && o->seeds[s] > 0)
            compose_key(o, s, key[n++]);
    qsort(key, (size_t)n, sizeof *key, by_text);
    for (int64_t i = 1; i < n; i++)
        *shared += strcmp(key[i], key[i - 1]) == 0 && (i < 2 || strcmp(key[i], key[i - 2]) != 0);
    return HN_OK;
}

static enum hn_code put_answer(struct many *m) {
    int64_t shared = 0, data = count_distinct(&m->joined.runs, "dataset_sha256");
    if (count_shared(m, true, &shared))
        return m->ctx->code;
    fprintf(m->html, "<section aria-label=\"The answer\" class=answer>\n<p>%s on %s. ",
            hn_counted(m->n, "result").text, hn_counted(data, "data set").text);
    if (shared > 0)
        fprintf(m->html,
                "%" PRId64 " setting%s measured on the same file in two results or more: "
                "<a href=\"#side\">side by side</a>.</p>\n",
                shared, shared == 1 ? " is" : "s are");
    else
        fputs("No setting is measured on the same file in two results.</p>\n", m->html);
    fputs("<p>Runs may differ in program and machine, so there is no front across them. ● and ○ in "
          "the table mark the front within a result, and <code>hardneg report RESULT</code> draws "
          "it.</p>\n</section>\n",
          m->html);
    return HN_OK;
}

static enum hn_code put_programs(struct many *m) {
    HN_SCOPE(m->ctx);
    const struct hn_results **r = hn_alloc(m->ctx, m->n, sizeof *r);
    if (!r)
        return m->ctx->code;
    for (int64_t i = 0; i < m->n; i++)
        r[i] = m->report[i].results;
    return hn_html_programs(m->html, m->ctx, r, m->n);
}

// Left out if no setting is in two results.
static void put_side_by_side(const struct many *m) {
    fputs("<section aria-labelledby=side id=compare><h2 id=side>Side by side</h2>\n"
          "<p class=soft>The same setting on the same file in several results, in the order in "
          "which they were run, and the difference of two means, which has no "
          "interval.</p>\n</section>\n",
          m->html);
}

static enum hn_code put_page(struct many *m) {
    static const char *const link[][2] = {{"over", "Ranks"},
                                          {"side", "Side by side"},
                                          {"samplers", "Settings"},
                                          {"results", "Results"}};
    int64_t shared = 0;
    if (count_shared(m, false, &shared))
        return m->ctx->code;
    hn_html_begin(m->html, hn_counted(m->n, "result").text, "");
    fputs("<nav aria-label=Contents><ul>\n", m->html);
    for (size_t i = 0; i < sizeof link / sizeof link[0]; i++)
        if (shared > 0 || strcmp(link[i][0], "side") != 0)
            hn_html(m->html, "<li><a href=\"#%s\">%s</a></li>\n", link[i][0], link[i][1]);
    fputs("</ul></nav>\n</header>\n<main id=main>\n", m->html);
    if (put_programs(m) || put_answer(m) || hn_html_ranks(m->html, m->ctx, &m->overview))
        return m->ctx->code;
    if (shared > 0)
        put_side_by_side(m);
    fputs("<section aria-labelledby=samplers><h2 id=samplers>Settings</h2>\n", m->html);
    if (hn_html_samplers(m->html, m->ctx, &m->overview, false))
        return m->ctx->code;
    fputs("</section>\n", m->html);
    put_results(m);
    hn_html_end(m->html);
    return HN_OK;
}

static int by_date(const void *a, const void *b) {
    const struct hn_report_of *x = a, *y = b;
    int order =
        strcmp(hn_results_get(x->results, "created"), hn_results_get(y->results, "created"));
    return order ? order : strcmp(x->name, y->name);
}

enum hn_code hn_report_write_many(struct hn_context *ctx, struct hn_report_of *report, int64_t n,
                                  FILE *html) {
    struct many m = {.ctx = ctx, .html = html, .report = report, .n = n};
    HN_SCOPE(ctx);
    qsort(report, (size_t)n, sizeof *report, by_date);
    if (join(&m) || hn_overview_make(ctx, &m.joined, &m.overview))
        return ctx->code;
    return put_page(&m);
}
