#include "harness/run/item.h"
#include "harness/host/host.h"

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

// The rows that name an item.
static struct hn_table *rows_of(struct hn_results *out) {
    return out->runs.rows > 0 ? &out->runs : out->table;
}

static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    if (hn_host_program(ctx) || item->kind->begin(ctx, item, env, out))
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

// Makes the rows of a failed item, with the reason and nothing measured.
static enum hn_code mark(struct hn_context *ctx, const struct hn_item *item,
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
    return code && kind->own_failure(code, env) ? mark(ctx, item, env, code, out) : code;
}
