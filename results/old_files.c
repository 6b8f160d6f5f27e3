// Reads files of earlier builds. Columns had no role: it is known by name and unit.
// The sampler `file-order` was `null`.
#include "results/store_private.h"

#include <string.h>

static bool among(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

// Cells have these as settings; in the table of a study they are values of its rows.
static bool is_setting(const char *table, const char *name) {
    static const char *const cells[] = {"runs", "snapshots", "studies", "timing", "training", NULL};
    static const char *const settings[] = {"temperature", "batch_size", "seed", NULL};
    return among(table, cells) && among(name, settings);
}

enum hn_role hn_store_old_role(const char *table, const struct hn_column *column) {
    static const char *const names[] = {
        "cell_key", "run_key",  "dataset",   "dataset_sha256", "step", "sampler",
        "params",   "loss",     "weighting", "error",          "note", "tool_version",
        "run",      "snapshot", "study_row", "study",          NULL};
    static const char *const times[] = {"cost_s", "cost_g", NULL};
    static const char *const derived[] = {"cost_g_over_t", "share_of_limit", NULL};
    static const char *const machine[] = {"peak_rss", "instructions",   "threads",
                                          "beside",   "share_s",        "share_g",
                                          "share_e",  "share_of_floor", NULL};
    static const char *const binned[] = {"cos_p50",       "cos_p90",      "cos_p99",
                                         "overlap_label", "overlap_view", NULL};
    static const char *const units[] = {"s", "ns", "GFLOP/s", NULL};
    if (among(column->name, times))
        return HN_ROLE_TIME;
    if (among(column->name, derived))
        return HN_ROLE_DERIVED;
    if (among(column->name, machine) || among(column->units, units))
        return HN_ROLE_MACHINE;
    if (among(column->name, names))
        return HN_ROLE_IDENTITY;
    if (is_setting(table, column->name))
        return HN_ROLE_SETTING;
    return among(column->name, binned) ? HN_ROLE_BINNED : HN_ROLE_AUTO;
}

enum hn_code hn_store_rename(struct hn_context *ctx, struct hn_table *t) {
    for (int64_t row = 0; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "sampler"), "null") == 0 &&
            hn_table_set_text(ctx, t, row, "sampler", "file-order"))
            return ctx->code;
    return HN_OK;
}
