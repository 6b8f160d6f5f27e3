// SPDX-License-Identifier: GPL-3.0-or-later
// Accuracies, costs and tuned recipes as tables.
#include "results/analysis/trained_tables.h"
#include "core/text.h"
#include "results/analysis/ties.h"

#include <math.h>
#include <string.h>

enum { NAME = 48, FIXED_COLUMNS = 6 }; // name, seeds, best, difference, p, ties

static const struct hn_record_column name_column = {"name", "Setting", .width = -NAME},
                                     seeds_column = {"seeds", "Seeds", .width = 5,
                                                     .brief = "seeds"};

static json_t *new_row(const struct hn_trained *t, const struct hn_trained_row *row) {
    json_t *record = json_pack("{s:o, s:I}", "name", hn_json_text(row->name), "seeds",
                               (json_int_t)t->overview.seeds[row->setting]);
    if (row->step == HN_LAST_STEP)
        json_object_set_new(record, "sampler",
                            hn_json_text(hn_trained_text(t, row->setting, "sampler")));
    return record;
}

// A column of the task: shares are in percent.
static struct hn_record_column value_column(struct hn_context *ctx, const char *key,
                                            const char *name, const char *brief) {
    double scale = hn_trained_scale(name);
    return (struct hn_record_column){.key = key,
                                     .heading =
                                         hn_format(ctx, "%s%s", brief, scale > 1 ? " (%)" : ""),
                                     .brief = brief,
                                     .from = name,
                                     .width = 14,
                                     .digits = hn_trained_digits(name),
                                     .scale = scale};
}

static enum hn_code make_columns(struct hn_context *ctx, const struct hn_trained *t, int64_t base,
                                 struct hn_records *out) {
    const char *first = hn_trained_column(t, base);
    struct hn_record_column *column =
        hn_zalloc(ctx, t->table->n_columns + FIXED_COLUMNS + 1, sizeof *column);
    int n = 0;
    out->column = column;
    if (!column)
        return ctx->code;
    column[n++] = name_column;
    column[n++] = seeds_column;
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const struct hn_column *of = &t->table->column[c];
        column[n] = value_column(ctx, of->name, of->name, of->name);
        column[n++].help = of->long_name;
    }
    column[n] = value_column(ctx, "best", first, hn_format(ctx, "best %s", first));
    column[n].empty = "";
    column[n++].help =
        "largest of a run's evaluations: an optimistic number, which some papers report";
    column[n] = value_column(ctx, "difference", first, hn_format(ctx, "difference of %s", first));
    column[n].heading = hn_format(ctx, "%s minus %s", first, hn_trained_label(t, base).text);
    column[n].width = 0;
    column[n++].empty = "";
    column[n++] = (struct hn_record_column){
        "p", "p", .help = "of a paired t test", .from = first, .digits = 3, .as = HN_CHANCE};
    column[n++] = (struct hn_record_column){"ties", "Ties", .width = -1};
    return hn_records_complete(column, n) ? HN_OK : ctx->code;
}

static struct hn_mean difference(const void *of, int64_t a, int64_t b, const char *column) {
    return hn_trained_difference(of, a, b, column);
}

static enum hn_code find_ties(struct hn_context *ctx, const struct hn_trained *t, int64_t base,
                              struct hn_ties *ties) {
    *ties = (struct hn_ties){difference, t, hn_trained_column(t, base)};
    if (hn_ties_open(ctx, t->settings, ties))
        return ctx->code;
    for (int64_t k = 0; k < t->settings; k++)
        if (t->base[k] == base)
            ties->setting[ties->n++] = k;
    return hn_ties_find(ctx, ties);
}

static json_t *accuracies_row(const struct hn_trained *t, const struct hn_trained_row *row,
                              const struct hn_ties *ties) {
    json_t *record = new_row(t, row);
    const char *first = ties->column;
    bool last = row->step == HN_LAST_STEP;
    for (int c = hn_trained_next(t, row->base, -1); c >= 0; c = hn_trained_next(t, row->base, c)) {
        const char *name = t->table->column[c].name;
        json_object_set_new(record, name,
                            hn_mean_json(hn_trained_at(t, row->setting, name, row->step), false));
    }
    struct hn_mean best = last ? hn_trained_at(t, row->setting, first, HN_BEST_STEP) : hn_no_mean,
                   d = row->setting != row->base
                           ? hn_trained_difference(t, row->setting, row->base, first)
                           : hn_no_mean;
    double p = hn_mean_p(d);
    char mark[32] = "";
    if (isfinite(p))
        snprintf(mark, sizeof mark, p < 0.0005 ? ", p < .001" : ", p %.3f", p);
    json_object_set_new(record, "best", hn_mean_json(best, false));
    json_object_set_new(
        record, "difference",
        hn_json_number((struct hn_record_number){d.mean, d.half, d.lo, d.hi, true, mark, ""}));
    json_object_set_new(record, "p", hn_json_real(p));
    json_object_set_new(record, "ties",
                        json_string(last ? hn_ties_text(ties, row->setting).text : ""));
    return record;
}

enum hn_code hn_trained_accuracies(struct hn_context *ctx, const struct hn_trained *t, int64_t base,
                                   struct hn_records *out) {
    struct hn_trained_row row = {.base = base, .setting = -1};
    struct hn_ties ties;
    *out = (struct hn_records){.name = "accuracies"};
    if (make_columns(ctx, t, base, out) || find_ties(ctx, t, base, &ties))
        return ctx->code;
    out->row = json_array();
    while (hn_trained_next_row(t, &row))
        json_array_append_new(out->row, accuracies_row(t, &row, &ties));
    return HN_OK;
}

enum hn_code hn_trained_costs(struct hn_context *ctx, const struct hn_trained *t, int64_t base,
                              struct hn_records *out) {
    static const char step[] = "of a step with all its costs";
    static const struct hn_record_column columns[] = {
        {"cost_t", "Cost_T (ms)", .brief = "Cost_T ms", .scale = 1e3, .digits = 3,
         .as = HN_SIGNIFICANT, .help = "forward, backward and update of a step"},
        {"cost_s", "Cost_S (ms)", .brief = "Cost_S ms", .scale = 1e3, .digits = 3,
         .as = HN_SIGNIFICANT, .help = "drawing a batch"},
        {"cost_g_over_t", "Cost_G / t (ms)", .brief = "Cost_G/t ms", .scale = 1e3, .digits = 3,
         .as = HN_SIGNIFICANT, .help = "building, per step"},
        {"share_s", "Cost_S (% of a step)", .brief = "Cost_S %", .scale = 100, .digits = 2,
         .help = step},
        {"share_g", "Cost_G / t (% of a step)", .brief = "Cost_G/t %", .scale = 100, .digits = 2,
         .help = step},
        {"share_e", "Embedding (% of a step)", .brief = "embed %", .scale = 100, .digits = 2,
         .help = "of all items, for builds"},
        {"flops_per_step", "Products (GFLOP)", .brief = "GFLOP", .scale = 1e-9, .digits = 3,
         .as = HN_SIGNIFICANT, .help = "matrix products of a step"},
        {"share_of_floor", "Of the floor (%)", .brief = "floor %", .scale = 100, .digits = 1,
         .help = "what the products would take at the measured sgemm rate, as a share of Cost_T"}};
    enum { N = sizeof columns / sizeof *columns };
    struct hn_trained_row row = {base, base, HN_LAST_REFERENCE, ""};
    *out =
        (struct hn_records){.name = "costs", .column = hn_zalloc(ctx, N + 3, sizeof *out->column)};
    if (!out->column)
        return ctx->code;
    out->column[0] = name_column;
    out->column[0].brief = "step costs";
    out->column[1] = seeds_column;
    for (int c = 0; c < N; c++) {
        out->column[2 + c] = columns[c];
        out->column[2 + c].from = columns[c].key;
    }
    out->row = json_array();
    while (hn_trained_next_row(t, &row)) {
        json_t *record = new_row(t, &row);
        for (int c = 0; c < N; c++)
            json_object_set_new(
                record, columns[c].key,
                hn_json_real(hn_overview_mean(&t->overview, row.setting, columns[c].key).mean));
        json_array_append_new(out->row, record);
    }
    return HN_OK;
}

static json_t *outcome(const struct hn_tuned *t, int64_t row, int k) {
    const struct hn_tuned_row *own = &t->row[row];
    if (own->base == row)
        return hn_mean_json(hn_trained_at(t->trained, own->setting, t->outcome[k], HN_LAST_STEP),
                            false);
    struct hn_mean d = hn_tuned_difference(t, row, k);
    return hn_json_number((struct hn_record_number){d.mean, d.half, d.lo, d.hi, true,
                                                    own->p[k] <= 0.05 ? " *" : "", ""});
}

enum hn_code hn_tuned_outcomes(struct hn_context *ctx, const struct hn_tuned *t, int64_t base,
                               struct hn_records *out) {
    *out = (struct hn_records){.name = "tuned",
                               .column = hn_zalloc(ctx, t->outcomes + 3, sizeof *out->column)};
    if (!out->column)
        return ctx->code;
    out->column[0] = (struct hn_record_column){"name", "Chosen", .brief = "chosen", .width = -NAME};
    out->column[1] = (struct hn_record_column){"tried", "Tried", .brief = "tried", .width = 5,
                                               .help = "learning rates and temperatures"};
    for (int k = 0; k < t->outcomes; k++) {
        out->column[2 + k] = value_column(ctx, t->outcome[k], t->outcome[k], t->outcome[k]);
        out->column[2 + k].marked = true;
        out->column[2 + k].html = "<td>%s</td>";
    }
    if (!hn_records_complete(out->column, 2 + t->outcomes))
        return ctx->code;
    out->row = json_array();
    for (int64_t r = base; r < t->rows; r++) {
        int64_t setting = t->row[r].setting;
        if (t->row[r].base != base)
            continue;
        json_t *record =
            json_pack("{s:o, s:o, s:I}", "name",
                      hn_json_text(hn_trained_name(t->trained, setting, false).text), "sampler",
                      hn_json_text(hn_trained_text(t->trained, setting, "sampler")), "tried",
                      (json_int_t)t->row[r].tried);
        for (int k = 0; k < t->outcomes; k++)
            json_object_set_new(record, t->outcome[k], outcome(t, r, k));
        json_array_append_new(out->row, record);
    }
    return HN_OK;
}

static enum hn_code print_accuracies(struct hn_context *ctx, const struct hn_trained *t,
                                     int64_t base, const struct hn_record_format *format,
                                     FILE *out) {
    struct hn_records table;
    struct hn_phrase first = hn_trained_title(t, base);
    if (hn_trained_accuracies(ctx, t, base, &table))
        return ctx->code;
    hn_append(first.text, sizeof first.text,
              ": last evaluation, mean over seeds. Differences are paired by seed, with p of a "
              "paired t test;");
    table.note[0] = first.text;
    table.note[1] =
        "each ± is the half-width of a 95 % interval. Rows that share a letter do not differ "
        "significantly, all pairs together.";
    (void)hn_records_take_out(table.column, "best");
    for (struct hn_record_column *c = table.column; c->heading; c++)
        if (strcmp(c->key, "difference") == 0)
            c->heading = hn_format(ctx, "%s − %s", c->from, hn_trained_label(t, base).text);
    enum hn_code code = format->print(ctx, &table, out);
    json_decref(table.row);
    return code;
}

enum hn_code hn_trained_print(struct hn_context *ctx, const struct hn_results *r,
                              const struct hn_record_format *format, FILE *out) {
    HN_SCOPE(ctx);
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    for (int64_t base = 0; !code && base < t.settings; base++) {
        if (t.base[base] == base)
            code = print_accuracies(ctx, &t, base, format, out);
    }
    return code;
}
