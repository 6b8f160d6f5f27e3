// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that studies share: their tables, and the checks of a graph's parameters.
#include "metrics/studies/study.h"

#include <inttypes.h>

static const struct hn_column common[] = {
    {"study_row", HN_COLUMN_INT, "1", "row of /tables/studies", HN_NEITHER, HN_ROLE_IDENTITY},
    {"dataset", HN_COLUMN_TEXT, "", "snapshot file", HN_NEITHER, HN_ROLE_IDENTITY},
    {"step", HN_COLUMN_INT, "optimizer_step", "training step of the embeddings", HN_NEITHER,
     HN_ROLE_IDENTITY},
};

enum hn_code hn_study_table(struct hn_context *ctx, const struct hn_study_type *type,
                            struct hn_table *out) {
    if (hn_table_init(ctx, out, type->name) ||
        hn_table_add_columns(ctx, out, common, sizeof common / sizeof common[0]))
        return ctx->code;
    return hn_table_add_columns(ctx, out, type->columns, type->n_columns);
}

enum hn_code hn_study_run(struct hn_context *ctx, const struct hn_study_type *type,
                          const void *params, const struct hn_study_env *env,
                          struct hn_table *table) {
    HN_SCOPE(ctx);
    return type->run(ctx, params, env, table);
}

struct hn_study_graph hn_study_graph_of(const void *params, int64_t n) {
    const struct hn_study_graph *g = params;
    return (struct hn_study_graph){hn_min(g->m, n - 1), hn_min(g->k, n - 1)};
}

enum hn_code hn_study_check_graph(struct hn_context *ctx, const void *params, int64_t n) {
    const struct hn_study_graph *g = params;
    int64_t m = g->m, k = g->k;
    if (k > m)
        return hn_fail(ctx, HN_USAGE,
                       "K = %" PRId64 " exceeds M = %" PRId64
                       ": the K neighbours are chosen among the M candidates; lower K or raise M",
                       k, m);
    if (m > n - 1)
        hn_note(ctx, "M = %" PRId64 " taken as %" PRId64 ": an item has no more others", m, n - 1);
    if (k > n - 1)
        hn_note(ctx, "K = %" PRId64 " taken as %" PRId64 ": an item has no more others", k, n - 1);
    return HN_OK;
}
