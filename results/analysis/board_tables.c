// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the table of the entries of a board.
#include "results/analysis/board_tables.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *const hn_board_score_names[HN_BOARD_SCORES] = {"share", "excess", "gain_half", "gain_2",
                                                           "gain_10"};

static const struct hn_record_column share_column = {
    "share", "Excess (%)", .as = HN_BY_HALF, .digits = 1,
    .help = "false negatives beyond the reference's at equal hardness, in percent of what the "
            "reference adds on average"};
static const struct hn_record_column excess_column = {
    "excess", "Excess (points)", .as = HN_BY_HALF, .digits = 2,
    .help = "points of false negatives beyond the reference's at equal hardness, likewise"};

// A text of a column. NULL: *code says why.
HN_PRINTF(3, 4)
static const char *say(struct hn_context *ctx, enum hn_code *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = hn_vformat(ctx, format, args);
    va_end(args);
    if (!text)
        *code = ctx->code;
    return text;
}

enum hn_code hn_board_score_columns(struct hn_context *ctx,
                                    struct hn_record_column column[HN_BOARD_SCORES]) {
    enum hn_code code = HN_OK;
    column[HN_BOARD_SHARE] = share_column;
    column[HN_BOARD_EXCESS] = excess_column;
    for (int i = 0; i < HN_BOARD_BUDGETS; i++)
        column[HN_BOARD_GAIN + i] = (struct hn_record_column){
            hn_board_score_names[HN_BOARD_GAIN + i],
            say(ctx, &code, "Gain at +%.3g", hn_board_budgets[i]), .as = HN_BY_HALF, .digits = 3,
            .help = say(ctx, &code,
                        "hardness beyond the reference's within %.3g points of false "
                        "negatives over Uniform's",
                        hn_board_budgets[i])};
    return code;
}

enum hn_code hn_board_columns(struct hn_context *ctx, const struct hn_board *b,
                              const struct hn_board_outcome *u,
                              struct hn_record_column column[HN_BOARD_COLUMNS_MAX]) {
    int n = 0;
    enum hn_code code = HN_OK;
    column[n++] = (struct hn_record_column){"entry", "Entry", -1};
    column[n++] = (struct hn_record_column){"verdict", "Against the reference", -1};
    if (hn_board_score_columns(ctx, column + n))
        return ctx->code;
    n += HN_BOARD_SCORES;
    column[n++] =
        (struct hn_record_column){"kept", "On kinds kept aside (%)", .digits = 1, .alone = true};
    for (int k = 0; u && k < u->measures; k++)
        column[n++] = (struct hn_record_column){
            say(ctx, &code, "outcome%d", k), say(ctx, &code, "%s – Uniform", u->name[k]),
            .as = HN_BY_HALF, .digits = 2,
            .help = "of encoders trained with it, paired by data set and seed"};
    for (int64_t k = 0; k < b->kinds; k++)
        column[n++] = (struct hn_record_column){
            say(ctx, &code, "kind%" PRId64, k),
            say(ctx, &code, "%s%s", b->kind[k].name, b->kind[k].kept ? " kept aside" : ""),
            .as = HN_BY_HALF,
            .digits = 1,
            .alone = true,
            .help = "excess in percent, mean over encoders"};
    column[n++] = (struct hn_record_column){"rank", "Mean rank", .digits = 1};
    column[n++] = (struct hn_record_column){"cost", "ms a batch", .digits = 2, .scale = 1e3,
                                            .help = "a batch with its share of the build"};
    column[n++] = (struct hn_record_column){"chosen_on", "Chosen on", -1};
    column[n] = (struct hn_record_column){0};
    return code;
}

void hn_board_hide_kinds(const struct hn_board *b, struct hn_record_column *column) {
    char key[32];
    for (int64_t k = 0; k < b->kinds; k++) {
        snprintf(key, sizeof key, "kind%" PRId64, k);
        hn_records_take_out(column, key);
    }
}

// The k-th cell of a kind ("outcome3").
static void set_numbered(json_t *row, const char *kind, int64_t k, struct hn_mean mean) {
    char key[32];
    snprintf(key, sizeof key, "%s%" PRId64, kind, k);
    json_object_set_new(row, key, hn_mean_json(mean, true));
}

static json_t *row_of(const struct hn_board *b, const struct hn_board_outcome *u, int measure,
                      int64_t entry) {
    const struct hn_board_entry *e = &b->entry[entry];
    const struct hn_board_score share = {measure, HN_BOARD_SHARE};
    json_t *row =
        json_pack("{s:I, s:o, s:s, s:o, s:o}", "number", (json_int_t)entry, "entry",
                  hn_json_text(e->name), "verdict", hn_board_verdict_of(b, entry, measure), "cost",
                  hn_json_real(e->cost), "chosen_on", hn_json_text(e->chosen_on));
    for (int s = 0; s < HN_BOARD_SCORES; s++)
        json_object_set_new(
            row, hn_board_score_names[s],
            hn_mean_json(hn_board_over_kinds(b, entry, (struct hn_board_score){measure, s}, false),
                         true));
    json_object_set_new(row, "kept",
                        hn_mean_json(hn_board_over_kinds(b, entry, share, true), true));
    for (int k = 0; u && k < u->measures; k++)
        set_numbered(row, "outcome", k, hn_board_outcome_of(u, entry, k));
    for (int64_t k = 0; k < b->kinds; k++)
        set_numbered(row, "kind", k, hn_board_on_kind(b, entry, share, k));
    return row;
}

json_t *hn_board_rows(const struct hn_board *b, const struct hn_board_outcome *u, int measure,
                      const int64_t *order, const double *rank) {
    json_t *rows = json_array();
    for (int64_t i = 0; i < b->entries; i++) {
        json_t *row = row_of(b, u, measure, order[i]);
        if (rank)
            json_object_set_new(row, "rank", hn_json_real(rank[order[i]]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static bool is_before(const struct hn_board *b, int measure, int64_t x, int64_t y) {
    const struct hn_board_score share = {measure, HN_BOARD_SHARE};
    double of_x = hn_board_over_kinds(b, x, share, false).mean,
           of_y = hn_board_over_kinds(b, y, share, false).mean;
    return isnan(of_y) ? !isnan(of_x) : of_x < of_y;
}

void hn_board_order(const struct hn_board *b, int measure, int64_t *order) {
    for (int64_t i = 0; i < b->entries; i++) {
        int64_t at = i;
        for (; at > 0 && is_before(b, measure, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

enum hn_code hn_board_print_correlations(struct hn_context *ctx, const struct hn_board *b,
                                         const struct hn_board_outcome *u, int measure, int outcome,
                                         FILE *out) {
    struct hn_rank_correlation r;
    for (int s = 0; s < HN_BOARD_SCORES; s++) {
        if (hn_board_outcome_correlation(ctx, b, u, (struct hn_board_score){measure, s}, outcome,
                                         &r))
            return ctx->code;
        if (r.n < HN_RANKS_MIN) {
            fprintf(out, "%" PRId64 " entries are too few for a rank correlation.", r.n);
            return HN_OK;
        }
        if (s == HN_BOARD_EXCESS) // the share is its better scale
            continue;
        if (s == HN_BOARD_SHARE)
            fprintf(out,
                    "Rank correlation over %" PRId64
                    " entries, with its 95 %% interval: with the excess ",
                    r.n);
        else
            fprintf(out, ", with the gain at +%.3g ", hn_board_budgets[s - HN_BOARD_GAIN]);
        fprintf(out, isnan(r.rho) ? "none" : "%+.2f", r.rho);
        if (isfinite(r.lo))
            fprintf(out, " (%+.2f to %+.2f)", r.lo, r.hi);
    }
    fputs(".", out);
    return HN_OK;
}
