// SPDX-License-Identifier: GPL-3.0-or-later
// Provenance of a page: the cells, programs and machine behind it, and how to do it again.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"
#include "results/merge.h"
#include "results/programs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_LISTED = 32, JOINED_MAX = MAX_LISTED * (sizeof(struct hn_phrase) + 2) + 8 };

// Different texts or numbers of a column, in the order of the file.
struct distinct {
    struct hn_phrase text[MAX_LISTED];
    int n;
    bool more;
};

static void list_distinct(const struct hn_table *t, const char *column, const char *of_dataset,
                          struct distinct *d) {
    *d = (struct distinct){.n = 0};
    for (int64_t row = 0; row < t->rows; row++) {
        const struct hn_phrase cell = hn_cell_text(t, row, column);
        bool again = of_dataset && strcmp(hn_table_text(t, row, "dataset"), of_dataset) != 0;
        for (int i = 0; i < d->n && !again; i++)
            again = strcmp(d->text[i].text, cell.text) == 0;
        if (again || !*cell.text)
            continue;
        d->more |= d->n == MAX_LISTED;
        if (d->n < MAX_LISTED)
            d->text[d->n++] = cell;
    }
}

// "32, 64"
static const char *joined(const struct distinct *d, char text[JOINED_MAX]) {
    *text = '\0';
    for (int i = 0; i < d->n; i++)
        hn_append(text, JOINED_MAX, i ? ", %s" : "%s", d->text[i].text);
    if (d->more)
        hn_append(text, JOINED_MAX, " …");
    return text;
}

// A line of a list of names and values, unless there is no value.
static void put_line(FILE *html, const char *name, const char *value) {
    static const struct hn_record_column columns[] = {
        {"name", "", -1, .html = "<th scope=row>%s</th>"},
        {"value", "", -1, .html = "<td class=wrap>%s</td>"},
        {0}};
    if (!value || !*value)
        return;
    json_t *record =
        json_pack("{s:o, s:o}", "name", hn_json_text(name), "value", hn_json_text(value));
    hn_records_html_row(columns, record, NULL, html);
    json_decref(record);
}

static json_t *dataset_row(const struct hn_results *r, const char *name) {
    const struct hn_table *sized = hn_results_table(r, "datasets");
    struct distinct sums, steps;
    list_distinct(&r->runs, "dataset_sha256", name, &sums);
    list_distinct(&r->runs, "step", name, &steps);
    sums.text[0].text[sums.n > 0 ? 16 : 0] = '\0';
    char all[JOINED_MAX];
    double items =
        sized ? hn_table_real(sized, hn_table_row_with(sized, "dataset", name), "items") : NAN;
    return json_pack("{s:o, s:o, s:o, s:o}", "dataset", hn_json_text(name), "items",
                     hn_json_real(items), "step", hn_json_text(joined(&steps, all)), "sha256",
                     hn_json_text(sums.text[0].text));
}

static void put_datasets(FILE *html, const struct hn_results *r) {
    struct hn_record_column columns[] = {
        {"dataset", hn_html_is_training(r) ? "Data" : "Snapshots", -1,
         .html = "<th scope=row class=wrap>%s</th>"},
        {"items", "Items"},
        {"step", "Steps", -1, .html = "<td class=wrap>%s</td>"},
        {"sha256", "SHA-256", -1, .html = "<td><code>%s</code></td>"},
        {0}};
    struct distinct names;
    json_t *rows = json_array();
    list_distinct(&r->runs, "dataset", NULL, &names);
    for (int i = 0; i < names.n; i++)
        json_array_append_new(rows, dataset_row(r, names.text[i].text));
    if (!hn_results_table(r, "datasets"))
        (void)hn_records_take_out(columns, "items");
    hn_html_table(html,
                  &(struct hn_html_table){
                      .label = "Data", .id = "", .class = "", .column = columns, .row = rows});
}

static void put_settings(FILE *html, const struct hn_results *r) {
    static const char *const settings[][2] = {{"sampler", "Samplers"},
                                              {"batch_size", "Batch size"},
                                              {"batches", "Batches per cell"},
                                              {"seed", "Seeds"},
                                              {"loss", "Losses"},
                                              {"weighting", "Weightings"},
                                              {"temperature", "Temperatures"}};
    struct distinct values;
    char all[JOINED_MAX];
    fputs("<div class=scroll><table><tbody>\n", html);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        list_distinct(&r->runs, settings[i][0], NULL, &values);
        put_line(html, settings[i][1], joined(&values, all));
    }
    fputs("</tbody></table></div>\n", html);
}

static void put_failures(FILE *html, const struct hn_results *r) {
    const struct hn_table *runs = &r->runs;
    int listed = 0;
    for (int64_t row = 0; row < runs->rows; row++) {
        if (hn_row_is_ok(runs, row))
            continue;
        if (listed++ >= MAX_LISTED)
            continue;
        if (listed == 1)
            fputs("<details><summary>Cells without numbers, and why</summary>\n<ul>\n", html);
        hn_html(html, "<li>%s, step %.0f (%s): %s</li>\n", hn_table_text(runs, row, "sampler"),
                hn_table_real(runs, row, "step"), hn_table_text(runs, row, "status"),
                hn_table_text(runs, row, "error"));
    }
    if (listed > MAX_LISTED)
        fprintf(html, "<li>and %d more; column <code>error</code> of /runs has them</li>\n",
                listed - MAX_LISTED);
    if (listed)
        fputs("</ul></details>\n", html);
}

// `run` counts as cells what has tables of its own, too.
static void put_further(FILE *html, const struct hn_results *r) {
    static const char *const tables[][2] = {{"snapshots", "snapshot"}, {"studies", "study"}};
    const char *joint = "Besides, <code>run</code> counted ";
    for (int i = 0; i < 2 && !hn_html_is_training(r); i++) {
        const struct hn_table *t = hn_results_table(r, tables[i][0]);
        if (!t || t->rows == 0)
            continue;
        fprintf(html, "%s%s", joint, hn_counted(t->rows, tables[i][1]).text);
        joint = " and ";
    }
    fputs(*joint == ' ' ? ", in other tables of the file.</p>\n" : "</p>\n", html);
}

static void put_run(FILE *html, const struct hn_results *r) {
    const struct hn_table *runs = &r->runs;
    hn_html_fold(html, "run", "What was run", false);
    fprintf(html,
            "<p>%s: %" PRId64 " done, %" PRId64 " failed, %" PRId64
            " not applicable. A cell is one %s, with one seed. ",
            hn_counted(runs->rows, "cell").text, hn_html_count(runs, "status", "ok", NULL),
            hn_html_count(runs, "status", "failed", NULL),
            hn_html_count(runs, "status", "not_applicable", NULL),
            hn_html_is_training(r) ? "training of a task with one sampler and weighting"
                                   : "sampler with its options on one step of one file");
    put_further(html, r);
    put_datasets(html, r);
    put_settings(html, r);
    put_failures(html, r);
    fputs("</details>\n", html);
}

static void put_provenance(FILE *html, const struct hn_results *r) {
    hn_html_fold(html, "provenance", "Provenance", false);
    fputs("<div class=scroll><table><tbody>\n", html);
    put_line(html, "status", hn_results_get(r, "status"));
    put_line(html, "created", hn_results_get(r, "created"));
    put_line(html, "config_sha256", hn_results_get(r, "config_sha256"));
    for (int64_t i = 0; i < r->n_env; i++)
        put_line(html, r->env[i].name, r->env[i].value);
    fputs("</tbody></table></div>\n</details>\n", html);
}

static void put_again(FILE *html, const struct hn_results *r) {
    const char *argv = hn_results_get(r, "argv"), *config = hn_results_get(r, "config");
    hn_html_fold(html, "again", "How to do it again", false);
    if (*argv)
        hn_html(html,
                "<p>The command that produced these results:</p>\n"
                "<pre tabindex=0><code>%s</code></pre>\n",
                argv);
    fputs("<p>Everything but times and memory is the same, bit for bit, on one machine with any "
          "number of threads. ",
          html);
    if (*config)
        hn_html(html,
                "To run it again, save the job below, in which every default is written out, as "
                "<code>job.yaml</code>: <code>hardneg %s -c job.yaml -o again</code>. Paths in it "
                "are relative to that file.</p>\n<details><summary>The job</summary>\n"
                "<pre tabindex=0><code>%s</code></pre></details>\n",
                hn_html_is_training(r) ? "train" : "run", config);
    else
        fputs("</p>\n", html);
    fputs("</details>\n", html);
}

void hn_html_run(FILE *html, const struct hn_results *r) {
    if (!hn_html_is_price(r))
        put_run(html, r);
    put_provenance(html, r);
    put_again(html, r);
}

// Results of the lowest and of the highest version.
static void put_versions(FILE *html, const struct hn_results *const *r, int64_t n) {
    const struct hn_results *low = r[0], *high = r[0];
    for (int64_t i = 1; i < n; i++) {
        low = hn_results_version(r[i]) < hn_results_version(low) ? r[i] : low;
        high = hn_results_version(r[i]) > hn_results_version(high) ? r[i] : high;
    }
    struct hn_results_changes changes;
    hn_results_changes(low, high, &changes);
    if (hn_results_version(low) == hn_results_version(high))
        return;
    fprintf(
        html,
        "<div><p><strong>Results are of versions %d to %d, between which numbers changed:</strong> "
        "make the older ones again before they are compared.</p>\n<ul>\n",
        hn_results_version(low), hn_results_version(high));
    for (int64_t i = 0; i < changes.n; i++)
        hn_html(html, "<li>version %d: %s</li>\n", changes.first[i].version, changes.first[i].what);
    fputs("</ul></div>\n", html);
}

// Says of results that they lack cells of their job.
static void put_share(FILE *html, const struct hn_results *r) {
    const struct hn_merge_share share = hn_merge_share_of(r);
    const char *unit = hn_html_is_training(r) ? "run" : "cell";
    if (share.cells < share.of)
        fprintf(html,
                "<p><strong>%" PRId64 " of %s:</strong> this page has those that are finished; the "
                "command of the run goes on with the rest.</p>\n",
                share.cells, hn_counted(share.of, unit).text);
}

enum hn_code hn_html_programs(FILE *html, struct hn_context *ctx, const struct hn_results *const *r,
                              int64_t n) {
    struct hn_programs programs = {0};
    HN_SCOPE(ctx);
    if (n == 1)
        put_share(html, r[0]);
    put_versions(html, r, n);
    for (int64_t i = 0; i < n; i++)
        if (hn_programs_add(ctx, r[i], &programs))
            return ctx->code;
    if (programs.n < 2)
        return HN_OK;
    hn_html(html, "<p><strong>Rows were made by %" PRId64 " programs:</strong> %s.</p>\n",
            programs.n, hn_programs_text(&programs).text);
    return HN_OK;
}
