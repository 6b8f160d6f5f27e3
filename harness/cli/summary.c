// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of results as a table on the terminal, and what a run left out.
#include "harness/cli/summary.h"
#include "core/real_text.h"
#include "core/terminal.h"
#include "core/text.h"
#include "harness/host/processes.h"
#include "harness/run/foresee.h"
#include "results/analysis/settings_tables.h"
#include "results/records.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = HN_GRID_AXES + HN_SETTING_COLUMNS + 4, ROWS_MAX = 60 };

// Why a cell of the setting has no numbers, "" if all have.
static void put_error(const struct hn_results *r, const struct hn_overview *o, int64_t s,
                      json_t *row) {
    char error[HN_MESSAGE_MAX] = "";
    struct hn_replicates cells = hn_overview_cells(o, s);
    for (int64_t i = 0; i < cells.n; i++)
        if (!hn_row_is_ok(&r->runs, cells.row[i]))
            hn_put_message(error, sizeof error, "%s: %s",
                           hn_table_text(&r->runs, cells.row[i], "status"),
                           hn_table_text(&r->runs, cells.row[i], "error"));
    json_object_set_new(row, "error", hn_json_text(error));
}

// "of: text" in lines of that width; nothing of an empty text.
static void put_line(const char *of, const char *text) {
    if (*text)
        hn_wrapped_print(text, 4, printf("%s:", of), stdout);
}

static void print_shared(const struct hn_overview *o) {
    put_line("all", hn_overview_common(o).text);
    for (int64_t s = 0; s < o->settings; s++) {
        char of[HN_LABEL_SIZE];
        hn_put_text(of, sizeof of, "all of %s", hn_overview_sampler(o, s));
        if (hn_overview_leads(o, s))
            put_line(of, hn_overview_shared(o, s).text);
    }
}

enum { LINE = HN_RECORDS_LINE, SETTING = 20 }; // characters; what a setting has at least

// A table of settings. spared: of its columns of measures, which stand from `measures` on.
struct summary {
    struct hn_record_column column[COLUMNS];
    int measures, n, spared[HN_SETTING_COLUMNS];
};

static void take_out(struct summary *t, int c) {
    for (int i = c; i < t->n; i++)
        t->column[i] = t->column[i + 1];
    for (int i = c - t->measures; i + 1 < HN_SETTING_COLUMNS; i++)
        t->spared[i] = t->spared[i + 1];
    t->n--;
}

// The column that the table does without next, -1 = none.
static int next_spared(const struct summary *t) {
    int next = -1, min = INT_MAX;
    for (int c = t->measures; c < t->n; c++) {
        int spared = t->spared[c - t->measures];
        if (spared > 0 && spared < min) {
            next = c;
            min = spared;
        }
    }
    return next;
}

// The sampler and where a row differs from others, "gcbs quantile=0.9, B=32", in place of a column
// for each.
static void join_axes(const struct hn_overview *o, struct hn_record_column *column, json_t *rows) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        char text[HN_LABEL_SIZE];
        hn_put_text(text, sizeof text, "%s", json_string_value(json_object_get(row, "sampler")));
        const char *before = " ";
        for (int a = 0; a < o->axes; a++) {
            const char *value = json_string_value(json_object_get(row, o->axis[a].name));
            const char *name = strcmp(o->axis[a].name, "batch_size") == 0 ? "B" : o->axis[a].name;
            if (!value || !*value)
                continue;
            hn_append(text, sizeof text, "%s%s=%s", before, name, value);
            before = ", ";
        }
        json_object_set_new(row, "sampler", hn_json_text(text));
    }
    for (int a = 0; a < o->axes; a++)
        (void)hn_records_take_out(column, o->axis[a].name);
}

// Makes the table as narrow as a line, and says what it does without.
static void fit(const struct hn_overview *o, struct summary *t, json_t *rows) {
    char without[HN_MESSAGE_MAX] = "";
    bool errors =
        hn_records_width(t->column, rows) > LINE && hn_records_take_out(t->column, "error");
    if (hn_records_width(t->column, rows) > LINE && o->axes > 0) {
        join_axes(o, t->column, rows);
        t->column[0].max = SETTING;
        t->measures -= o->axes;
    }
    for (t->n = t->measures; t->column[t->n].heading;)
        t->n++;
    for (int c; hn_records_width(t->column, rows) > LINE && (c = next_spared(t)) >= 0;) {
        const char *key = t->column[c].key, *dot = strchr(key, '.');
        if (!strchr(key, ' ') && strcmp(dot, ".half") != 0)
            hn_append(without, sizeof without, "%s%.*s", *without ? ", " : "", (int)(dot - key),
                      key);
        take_out(t, c);
    }
    t->column[0].max = 0;
    hn_records_fit(t->column, rows);
    hn_records_print(t->column, rows, stdout);
    for (size_t i = 0; errors && i < json_array_size(rows); i++)
        put_line(json_string_value(json_object_get(json_array_get(rows, i), "sampler")),
                 json_string_value(json_object_get(json_array_get(rows, i), "error")));
    if (*without)
        hn_append(without, sizeof without, "; `hardneg export --table settings` has all");
    put_line("left out for the width", without);
}

static bool has_text(const json_t *rows, const char *key) {
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (json_string_length(json_object_get(json_array_get(rows, i), key)) > 0)
            return true;
    return false;
}

static enum hn_code print_rows(struct hn_context *ctx, const struct hn_overview *o, json_t *rows) {
    struct summary t = {.column = {{"sampler", "sampler", .width = -7}}, .n = 1};
    for (int a = 0; a < o->axes; a++)
        t.column[t.n++] = (struct hn_record_column){o->axis[a].name, o->axis[a].name, .width = -1};
    t.column[t.n++] = (struct hn_record_column){"seeds", "seeds", .width = 5};
    t.measures = t.n;
    int n;
    if (hn_setting_brief_columns(ctx, o, rows, &t.column[t.n], t.spared, &n))
        return ctx->code;
    t.n += n;
    if (has_text(rows, "front"))
        t.column[t.n++] = (struct hn_record_column){"front", "front", .width = 5};
    if (has_text(rows, "error"))
        t.column[t.n] = (struct hn_record_column){"error", "", .width = -1};
    fit(o, &t, rows);
    return HN_OK;
}

static bool is_of_step(const struct hn_results *r, const struct hn_overview *o, int64_t s,
                       int64_t step) {
    return step == HN_SUMMARY_LAST_STEP
               ? o->last[s]
               : hn_table_real(&r->runs, o->first[s], "step") == (double)step;
}

// "not shown: 4 settings of mosaic, 68 settings of other steps".
static void print_left_out(const struct hn_overview *o, const struct hn_candidate *setting) {
    const char *before = "not shown: ";
    int64_t other_steps = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        int64_t n = 0;
        for (int64_t k = s; k < o->settings && setting[s].sampler && setting[s].round == 0; k++)
            n += setting[k].sampler && !setting[k].shown &&
                 strcmp(setting[k].sampler, setting[s].sampler) == 0;
        if (n > 0) {
            printf("%s%s of %s", before, hn_counted(n, "setting").text, setting[s].sampler);
            before = ", ";
        }
        other_steps += !setting[s].sampler;
    }
    if (other_steps > 0) {
        printf("%s%s of other steps (--print-step)", before,
               hn_counted(other_steps, "setting").text);
        before = ", ";
    }
    if (*before == ',')
        printf("; `hardneg report` shows all\n");
}

static enum hn_code print_settings(struct hn_context *ctx, const struct hn_results *r,
                                   const struct hn_overview *o, int64_t step) {
    struct hn_candidate *setting = hn_zalloc(ctx, o->settings, sizeof *setting);
    if (!setting)
        return ctx->code;
    for (int64_t s = 0; s < o->settings; s++)
        setting[s].sampler = is_of_step(r, o, s, step) ? hn_overview_sampler(o, s) : NULL;
    if (hn_choose_shown(setting, o->settings, ROWS_MAX) == 0)
        return hn_fail(ctx, HN_USAGE, "--print-step %" PRId64 ": the results have no such step",
                       step);
    json_t *rows = json_array();
    for (int64_t s = 0; s < o->settings; s++)
        if (setting[s].shown) {
            json_t *row = hn_setting_record(o, s);
            put_error(r, o, s, row);
            json_array_append_new(rows, row);
        }
    enum hn_code code = print_rows(ctx, o, rows);
    json_decref(rows);
    if (code)
        return code;
    print_left_out(o, setting);
    print_shared(o);
    return HN_OK;
}

enum hn_code hn_print_summary(struct hn_context *ctx, const struct hn_results *r, int64_t step) {
    struct hn_overview o;
    enum hn_code code = hn_overview_make(ctx, r, &o);
    if (code)
        return code == HN_NOT_APPLICABLE ? HN_OK : code;
    return print_settings(ctx, r, &o, step);
}

static const struct hn_record_column foreseen_columns[] = {
    {"id", "id", .width = -18},
    {"runs", "runs", .width = 5},
    {"left", "to train", .width = 8},
    {"time", "time", .width = 8},
    {"memory", "memory", .width = 9},
    {"lacks", "", .width = -1},
    {.heading = NULL},
};

static json_t *foreseen_row(const struct hn_foreseen *f) {
    struct hn_amount time = {"?"}, memory = {"?"};
    if (f->left > f->unknown || f->left == 0) {
        time = hn_seconds_text(f->seconds);
        memory = hn_bytes_text(f->bytes);
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:s, s:s, s:s}", "id", f->entry->id, "runs",
                     (json_int_t)f->runs, "left", (json_int_t)f->left, "unknown",
                     (json_int_t)f->unknown, "seconds", f->seconds, "bytes", (json_int_t)f->bytes,
                     "time", f->lacks ? "" : time.text, "memory", f->lacks ? "" : memory.text,
                     "lacks",
                     f->lacks     ? "lacks data (--list says which)"
                     : f->unknown ? "not all known"
                                  : "");
}

enum hn_code hn_print_foreseen(struct hn_context *ctx, const struct hn_foreseen *row, int64_t n,
                               int workers, bool json) {
    json_t *rows = json_array();
    struct hn_estimate all = {0};
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        json_array_append_new(rows, foreseen_row(&row[i]));
        left += row[i].left;
        all.unknown += row[i].unknown;
        all.seconds += row[i].seconds;
        all.bytes = hn_max(all.bytes, row[i].bytes);
    }
    enum hn_code code = HN_OK;
    if (json)
        code = hn_json_print(ctx, json_pack("{s:O}", "entries", rows), stdout);
    else
        hn_records_print(foreseen_columns, rows, stdout);
    json_decref(rows);
    (void)fflush(stdout); // the total comes last where both go to one file
    fprintf(stderr, "%s to train", hn_counted(left, "run").text);
    if (all.unknown < left)
        hn_print_total(&all, hn_processes_fit(ctx, left, workers));
    fprintf(stderr, "%s\n",
            all.unknown ? "; of some nothing is known: not tried in time, or they fail" : "");
    return code;
}

// `reproduce --list`: each paper's identifiers, whether they can be run here, and how far they are
// covered.

// One that refers to another is covered as far as that one.
static struct hn_phrase describe_coverage(const struct hn_listed *l) {
    struct hn_phrase coverage = hn_claim_coverage(l->entry);
    if (l->meant != l->entry)
        hn_append(coverage.text, sizeof coverage.text, ": %s", hn_claim_coverage(l->meant).text);
    return coverage;
}

static json_t *listed_row(const struct hn_listed *l, const char *why) {
    const struct hn_claim_entry *e = l->entry;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:o}", "id", e->id, "coverage",
                     describe_coverage(l).text, "here",
                     l->meant->kind == HN_KIND_LISTED ? "-"
                     : *why                           ? "lacks data"
                                                      : "ready",
                     "paper", e->paper, "title", e->title, "source", e->source, "kind",
                     hn_claim_kinds[e->kind], "claims", (json_int_t)e->claims, "missing",
                     hn_json_text(why));
}

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

// "  bs-fig4          ready       snapshots  BS figure 4", and what else there is to say below it.
static void print_row(const json_t *row) {
    enum { INDENT = 6 };
    const char *here = text_of(row, "here"), *coverage = text_of(row, "coverage");
    printf("  %-16s  %-10s  %-9s  %s\n", text_of(row, "id"), here, text_of(row, "kind"),
           text_of(row, "source"));
    if (strcmp(coverage, "covered") != 0)
        hn_wrapped_print(coverage, INDENT, 0, stdout);
    if (strcmp(here, "lacks data") == 0)
        hn_wrapped_print(text_of(row, "missing"), INDENT, 0, stdout);
}

static void print_by_paper(const json_t *rows) {
    const char *paper = "";
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(text_of(row, "paper"), paper) != 0) {
            printf("%s%s\n", *paper ? "\n" : "", text_of(row, "paper"));
            paper = text_of(row, "paper");
        }
        print_row(row);
    }
}

enum hn_code hn_print_listed(struct hn_context *ctx, struct hn_reproduce *rep,
                             const struct hn_listed *listed, int64_t n, bool ready, bool json) {
    json_t *rows = json_array();
    char why[HN_MESSAGE_MAX];
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < n && !code; i++) {
        const struct hn_claim_entry *meant = listed[i].meant;
        code = hn_reproduce_missing(ctx, rep, meant, why);
        if (!ready || (!*why && meant->kind != HN_KIND_LISTED))
            json_array_append_new(rows, listed_row(&listed[i], why));
    }
    if (code == HN_OK && json)
        code = hn_json_print(ctx, json_pack("{s:O}", "entries", rows), stdout);
    else if (code == HN_OK)
        print_by_paper(rows);
    json_decref(rows);
    return code;
}

enum hn_code hn_run_print_json(struct hn_context *ctx, const char *folder,
                               const struct hn_run_summary *summary, const char *ran,
                               const struct hn_results *r, hn_results_json *list) {
    char path[4096];
    json_t *settings;
    enum hn_code code = list(ctx, r, &settings);
    if (code && code != HN_NOT_APPLICABLE)
        return code;
    hn_put_text(path, sizeof path, "%s/results.h5", folder);
    return hn_json_print(
        ctx,
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "results", hn_json_text(path),
                  "wanted", (json_int_t)summary->wanted, ran, (json_int_t)summary->ran, "reused",
                  (json_int_t)summary->present, "failed", (json_int_t)summary->failed,
                  "not_applicable", (json_int_t)summary->not_applicable, "missing",
                  (json_int_t)summary->missing, "settings", settings ? settings : json_array()),
        stdout);
}

enum hn_code hn_run_judge(struct hn_context *ctx, int64_t items, int64_t failed,
                          int64_t not_applicable, const char *one) {
    if (failed)
        return hn_fail(ctx, HN_PARTIAL, "%s failed; column `error` of the results says why",
                       hn_counted(failed, one).text);
    if (not_applicable && not_applicable == items)
        return hn_fail(ctx, HN_PARTIAL,
                       "none of %s is applicable; column `error` of the results says why",
                       hn_counted(items, one).text);
    return HN_OK;
}
