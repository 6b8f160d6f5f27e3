// SPDX-License-Identifier: GPL-3.0-or-later
// Work items of all kinds: their rows, keys and failures, and the tables of what is registered.
#include "harness/run/item.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "harness/host/host.h"
#include "results/schema.h"

#include <math.h>
#include <string.h>

enum hn_code hn_item_add_row(struct hn_context *ctx, const struct hn_item *item,
                             const char *dataset, const char *sha256, int64_t step,
                             struct hn_table *t) {
    return HN_TABLE_PUT(ctx, t, HN_TEXT_VALUE("cell_key", item->cell_key),
                        HN_TEXT_VALUE("run_key", item->run_key), HN_TEXT_VALUE("dataset", dataset),
                        HN_TEXT_VALUE("dataset_sha256", sha256), HN_INT_VALUE("step", step),
                        HN_TEXT_VALUE("tool_version", hn_version), HN_TEXT_VALUE("status", "ok"));
}

enum hn_code hn_item_set_options(struct hn_context *ctx, const struct hn_option *options,
                                 const void *params, struct hn_table *runs) {
    char text[256];
    for (const struct hn_option *o = options; o->name; o++) {
        hn_option_text(o, params, text, sizeof text);
        const char *field = (const char *)params + o->offset;
        double number;
        if (o->kind == HN_OPTION_INT) { // unset, or a word: not a number
            bool digits = *text && (*text < 'A' || *text > 'z');
            number = digits ? (double)*(const int64_t *)field : NAN;
        } else if (o->kind == HN_OPTION_REAL) {
            number = *(const double *)field;
        } else {
            if (hn_table_set_text(ctx, runs, 0, o->name, text))
                return ctx->code;
            continue;
        }
        if (hn_table_set_real(ctx, runs, 0, o->name, number))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_item_add_tables(struct hn_context *ctx, struct hn_results *out, int n) {
    out->table = hn_zalloc(ctx, n, sizeof *out->table);
    out->n_tables = out->table ? n : 0;
    return out->table ? HN_OK : ctx->code;
}

bool hn_item_fails_alone(enum hn_code code, const struct hn_item_env *env) {
    (void)env;
    return code != HN_INTERRUPTED && code != HN_WAITING;
}

struct hn_item_label hn_item_label(const struct hn_item *item) {
    struct hn_item_label label;
    item->kind->label(item, label.text, sizeof label.text);
    return label;
}

// The rows that name an item.
static struct hn_table *rows_of(struct hn_results *out) {
    return out->runs.rows > 0 ? &out->runs : out->table;
}

static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    hn_host_program(ctx);
    if (item->kind->begin(ctx, item, env, out))
        return ctx->code;
    struct hn_table *rows = rows_of(out);
    for (int64_t r = 0; r < rows->rows; r++)
        if (hn_table_set_text(ctx, rows, r, "program", ctx->program))
            return ctx->code;
    return hn_results_set(ctx, out, "run_key", item->run_key) ||
                   hn_results_set(ctx, out, "program", ctx->program)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_item_mark(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, enum hn_code why, struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin(ctx, item, env, out))
        return ctx->code;
    struct hn_table *rows = rows_of(out);
    for (int64_t r = 0; r < rows->rows; r++)
        if (HN_TABLE_SET(
                ctx, rows, r,
                HN_TEXT_VALUE("status", why == HN_NOT_APPLICABLE ? "not_applicable" : "failed"),
                HN_TEXT_VALUE("error", reason)))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_item_run(struct hn_context *ctx, const struct hn_item *item,
                         const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_item_kind *kind = item->kind;
    if (begin(ctx, item, env, out) || (kind->load && kind->load(ctx, item, env)))
        return ctx->code;
    enum hn_code code = kind->run(ctx, item, env, out);
    return code && kind->own_failure(code, env) ? hn_item_mark(ctx, item, env, code, out) : code;
}

// A table in the making, and which of its columns are options. After a failure nothing is added.
struct columns {
    struct hn_context *ctx;
    struct hn_table *table;
    enum hn_code code;
    bool option[HN_COLUMNS_MAX];
};

// owner: who brings the columns, for messages.
static void add(struct columns *c, const char *owner, const struct hn_column *column, int n,
                bool option) {
    for (int i = 0; i < n && !c->code; i++) {
        int there = hn_table_find(c->table, column[i].name);
        if (there >= 0 && option && c->option[there] &&
            c->table->column[there].kind == column[i].kind)
            continue; // an option that several have (M of two samplers, say)
        if (there >= 0) {
            c->code =
                hn_fail(c->ctx, HN_INTERNAL,
                        "%s: the name '%s' is taken by another column of /%s (%s): options, "
                        "reports and metrics share one namespace; rename it",
                        owner, column[i].name, c->table->name, c->table->column[there].long_name);
        } else if (c->table->n_columns == HN_COLUMNS_MAX) {
            c->code =
                hn_fail(c->ctx, HN_INTERNAL, "%s: more than %d columns", owner, HN_COLUMNS_MAX);
        } else {
            c->option[c->table->n_columns] = option;
            c->code = hn_table_add_column(c->ctx, c->table, &column[i]);
        }
    }
}

static void add_options(struct columns *c, const char *owner, const struct hn_option *options) {
    for (const struct hn_option *o = options; o->name; o++) {
        bool number = o->kind == HN_OPTION_INT || o->kind == HN_OPTION_REAL;
        const struct hn_column column = {.name = o->name,
                                         .kind = number ? HN_COLUMN_REAL : HN_COLUMN_TEXT,
                                         .units = number ? "1" : "",
                                         .long_name = o->help,
                                         .direction = HN_NEITHER,
                                         .role = HN_ROLE_SETTING};
        add(c, owner, &column, 1, true);
    }
}

// Only its own cells have what a sampler reports.
static void add_reports(struct columns *c, const struct hn_sampler_type *sampler) {
    for (int i = 0; i < sampler->n_reports; i++) {
        char long_name[256];
        struct hn_column column = sampler->reports[i];
        hn_put_text(long_name, sizeof long_name, "%s%s NaN of other samplers than %s",
                    column.long_name, strstr(column.long_name, "; NaN") ? ", and" : ";",
                    sampler->name);
        column.long_name = long_name;
        add(c, sampler->name, &column, 1, false);
    }
}

static void add_runs(struct columns *c, const struct hn_registries *r) {
    add(c, "cells", hn_schema_cells.column, hn_schema_cells.n, false);
    for (int i = 0; r->sampler[i]; i++)
        add_options(c, r->sampler[i]->name, r->sampler[i]->options);
    add(c, "cells", hn_schema_losses.column, hn_schema_losses.n, false);
    for (int i = 0; r->weighting[i]; i++)
        add_options(c, r->weighting[i]->name, r->weighting[i]->options);
    add(c, "cells", hn_schema_settings.column, hn_schema_settings.n, false);
    for (int i = 0; r->metric[i]; i++)
        add(c, r->metric[i]->name, r->metric[i]->columns, r->metric[i]->n_columns, false);
    for (int i = 0; r->sampler[i]; i++)
        add_reports(c, r->sampler[i]);
    add(c, "cells", hn_schema_costs.column, hn_schema_costs.n, false);
}

static void add_snapshots(struct columns *c, const struct hn_registries *r) {
    add(c, "steps", hn_schema_snapshots.column, hn_schema_snapshots.n, false);
    for (int i = 0; r->snapshot_metric[i]; i++)
        add(c, r->snapshot_metric[i]->name, r->snapshot_metric[i]->columns,
            r->snapshot_metric[i]->n_columns, false);
}

static void add_set(struct columns *c, const struct hn_registries *r, enum hn_rows rows) {
    if (rows == HN_ROWS_RUNS || rows == HN_ROWS_TRAININGS)
        add_runs(c, r);
    if (rows == HN_ROWS_TRAININGS)
        add(c, "trainings", hn_schema_trainings.column, hn_schema_trainings.n, false);
    else if (rows == HN_ROWS_SNAPSHOTS)
        add_snapshots(c, r);
    else if (rows == HN_ROWS_STUDIES)
        add(c, "studies", hn_schema_studies.column, hn_schema_studies.n, false);
    else if (rows == HN_ROWS_TIMING)
        add(c, "timing", hn_schema_timing.column, hn_schema_timing.n, false);
}

static const struct hn_registries own_registries = {hn_samplers, hn_weightings, hn_metrics,
                                                    hn_snapshot_metrics};

static enum hn_code make_table(struct hn_context *ctx, const struct hn_registries *r,
                               enum hn_rows rows, struct hn_table *out) {
    static const char *const names[] = {"runs", "runs", "snapshots", "studies", "timing"};
    struct columns c = {.ctx = ctx, .table = out, .code = hn_table_init(ctx, out, names[rows])};
    add_set(&c, r, rows);
    if (c.code)
        hn_table_free(ctx, out);
    return c.code;
}

enum hn_code hn_rows_table(struct hn_context *ctx, enum hn_rows rows, struct hn_table *out) {
    return make_table(ctx, &own_registries, rows, out);
}

enum hn_code hn_columns_check(struct hn_context *ctx, const struct hn_registries *registries) {
    for (enum hn_rows rows = HN_ROWS_RUNS; rows <= HN_ROWS_TIMING; rows++) {
        struct hn_table table;
        if (make_table(ctx, registries ? registries : &own_registries, rows, &table))
            return ctx->code;
        hn_table_free(ctx, &table);
    }
    return HN_OK;
}
