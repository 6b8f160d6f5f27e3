// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of results as a table on the terminal, and what a run left out.
#include "harness/cli/summary.h"
#include "core/real_text.h"
#include "core/terminal.h"
#include "core/text.h"
#include "harness/host/processes.h"
#include "harness/run/foresee.h"
#include "results/analysis/overview.h"
#include "results/analysis/params.h"
#include "results/analysis/shown.h"
#include "results/analysis/trained.h"
#include "results/records.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Digits are those of hn_shown_find(), but for times, which have a unit here.
static const struct hn_record_column measures[] = {
    {"seeds", "seeds", .width = 5},
    {"fn_ratio", "fn_ratio"},
    {"fn_ratio half", "+-"},
    {"fn_ratio minus", "-uniform"},
    {"fn_ratio minus half", "+-"},
    {"true_mean", "true_mean"},
    {"true_mean minus", "-uniform"},
    {"true_mean minus half", "+-"},
    {"true_lme", "true_lme"},
    {"hard_true_mean", "hardest"},
    {"hard_true_mean minus", "-uniform"},
    {"hard_true_mean minus half", "+-"},
    {"true_anchors", "anchors"},
    {"cos_mean", "cos_mean"},
    {"fn_mass", "fn_mass"},
    {"fn_loss_mass", "fn_loss_mass"},
    {"clamp_rate", "clamp_rate"},
    {"loss_batch", "loss_batch"},
    {"gap", "gap"},
    {"coverage", "coverage"},
    {"graph_age", "age"},
    {HN_SHOWN_COST, "ms/batch", .digits = 4, .scale = 1e3},
    {"cost_s", "cost_s", .digits = 1, .scale = 1e6, .unit = " us"},
    {"cost_g", "cost_g", .digits = 1, .scale = 1e3, .unit = " ms"},
    {"front", "front", .width = 5},
    {"error", "", .width = -1},
};
enum {
    MEASURES = sizeof measures / sizeof measures[0],
    COLUMNS = 1 + HN_GRID_AXES + MEASURES + HN_HEADED_MAX + 1,
    ROWS_MAX = 60
};

// key: a column, and which number of it.
static double value_of(const struct hn_overview *o, int64_t s, const char *key) {
    char name[32];
    if (strcmp(key, HN_SHOWN_COST) == 0)
        return hn_overview_cost(o, s).batch;
    const char *minus = strstr(key, " minus"), *half = strstr(key, " half");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, " "), key);
    struct hn_mean mean = (minus ? hn_overview_to_uniform : hn_overview_mean)(o, s, name);
    return half ? mean.half : mean.mean;
}

// Why a cell of the setting has no numbers, "" if all have.
static void put_error(const struct hn_results *r, const struct hn_overview *o, int64_t s,
                      json_t *row) {
    char error[HN_MESSAGE_MAX] = "";
    struct hn_replicates cells = hn_overview_cells(o, s);
    for (int64_t i = 0; i < cells.n; i++)
        if (!hn_row_is_ok(&r->runs, cells.row[i]))
            hn_put_text(error, sizeof error, "%s: %s",
                        hn_table_text(&r->runs, cells.row[i], "status"),
                        hn_table_text(&r->runs, cells.row[i], "error"));
    json_object_set_new(row, "error", hn_json_text(error));
}

static json_t *setting_row(const struct hn_results *r, const struct hn_overview *o, int64_t s) {
    json_t *row =
        json_pack("{s:o, s:I, s:s}", "sampler", hn_json_text(hn_overview_sampler(o, s)), "seeds",
                  (json_int_t)o->seeds[s], "front", hn_front_mark(o->standing[s]));
    for (int a = 0; a < o->axes; a++)
        json_object_set_new(row, o->axis[a].name,
                            hn_json_text(hn_overview_value(o, s, o->axis[a].name).text));
    for (int m = 0; m < MEASURES; m++)
        if (!json_object_get(row, measures[m].key))
            json_object_set_new(row, measures[m].key,
                                hn_json_real(value_of(o, s, measures[m].key)));
    for (int h = 0; h < o->n_headed; h++)
        json_object_set_new(row, o->headed[h]->name,
                            hn_json_real(value_of(o, s, o->headed[h]->name)));
    put_error(r, o, s, row);
    return row;
}

// True if a column says anything; graphs are mostly fresh, weights those of the pairs, and all
// anchors have true negatives.
static bool is_shown(const json_t *rows, const struct hn_overview *o, const char *key) {
    bool weights = strcmp(key, "fn_mass") == 0 || strcmp(key, "fn_loss_mass") == 0 ||
                   strcmp(key, "clamp_rate") == 0 || strcmp(key, "loss_batch") == 0,
         ages = strcmp(key, "graph_age") == 0, anchors = strcmp(key, "true_anchors") == 0;
    if (weights && !hn_overview_varies(o, "weighting"))
        return false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *value = json_object_get(json_array_get(rows, i), key);
        if (ages      ? json_real_value(value) > 0
            : anchors ? json_is_number(value) && json_real_value(value) < 1
                      : json_is_number(value) || json_string_length(value) > 0)
            return true;
    }
    return false;
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

static struct hn_record_column with_digits(struct hn_record_column column) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(column.key, " "), column.key);
    const struct hn_shown *shown = hn_shown_find(name);
    if (shown && shown->digits >= 0)
        column.digits = hn_shown_digits_unscaled(shown);
    return column;
}

enum { LINE = HN_RECORDS_LINE, SETTING = 20 }; // characters; what a setting has at least

// Columns that a table too wide for a line does without, the first first. Neighbours that say how
// sure a number is come after whole measures.
static const char *const spared[] = {"loss_batch",
                                     "clamp_rate",
                                     "fn_loss_mass",
                                     "gap",
                                     "graph_age",
                                     "coverage",
                                     "cos_mean",
                                     "true_lme",
                                     "cost_g",
                                     "cost_s",
                                     "fn_ratio half",
                                     "hard_true_mean minus half",
                                     "true_mean minus half",
                                     "true_anchors",
                                     "fn_mass",
                                     "true_mean minus",
                                     "true_mean"};

static bool take_out(struct hn_record_column *column, const char *key) {
    int c = 0;
    while (column[c].heading && strcmp(column[c].key, key) != 0)
        c++;
    bool there = column[c].heading != NULL;
    for (; column[c].heading; c++)
        column[c] = column[c + 1];
    return there;
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
        (void)take_out(column, o->axis[a].name);
}

// Makes the table as narrow as a line, and says what it does without.
static void fit(const struct hn_overview *o, struct hn_record_column *column, json_t *rows) {
    char without[HN_MESSAGE_MAX] = "";
    bool errors = hn_records_width(column, rows) > LINE && take_out(column, "error");
    if (hn_records_width(column, rows) > LINE && o->axes > 0) {
        join_axes(o, column, rows);
        column[0].max = SETTING;
    }
    for (size_t i = 0; i < sizeof spared / sizeof *spared; i++)
        if (hn_records_width(column, rows) > LINE && take_out(column, spared[i]) &&
            !strchr(spared[i], ' '))
            hn_append(without, sizeof without, "%s%s", *without ? ", " : "", spared[i]);
    column[0].max = 0;
    hn_records_fit(column, rows);
    hn_records_print(column, rows, stdout);
    for (size_t i = 0; errors && i < json_array_size(rows); i++)
        put_line(json_string_value(json_object_get(json_array_get(rows, i), "sampler")),
                 json_string_value(json_object_get(json_array_get(rows, i), "error")));
    if (*without)
        hn_append(without, sizeof without, "; `hardneg export --table settings` has all");
    put_line("left out for the width", without);
}

static void print_rows(const struct hn_overview *o, json_t *rows) {
    struct hn_record_column column[COLUMNS] = {{"sampler", "sampler", .width = -7}};
    int n = 1;
    for (int a = 0; a < o->axes; a++)
        column[n++] = (struct hn_record_column){o->axis[a].name, o->axis[a].name, .width = -1};
    for (int m = 0; m < MEASURES; m++) {
        for (int h = 0; h < o->n_headed && strcmp(measures[m].key, "cost_s") == 0; h++)
            column[n++] = (struct hn_record_column){o->headed[h]->name, o->headed[h]->name,
                                                    .digits = HN_SHOWN_DIGITS};
        if (is_shown(rows, o, measures[m].key))
            column[n++] = with_digits(measures[m]);
    }
    fit(o, column, rows);
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
        if (setting[s].shown)
            json_array_append_new(rows, setting_row(r, o, s));
    print_rows(o, rows);
    json_decref(rows);
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
