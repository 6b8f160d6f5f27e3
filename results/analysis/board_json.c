// SPDX-License-Identifier: GPL-3.0-or-later
// A board as a document of JSON, and that as a table of Markdown.
#include "results/analysis/board_json.h"
#include "core/text.h"
#include "results/analysis/board_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static json_t *mean_of(struct hn_mean m) {
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", hn_json_real(m.mean), "half",
                     hn_json_real(m.half), "lo", hn_json_real(m.lo), "hi", hn_json_real(m.hi));
}

static json_t *kinds_of(const struct hn_board *b, int64_t entry, struct hn_board_score of) {
    json_t *kinds = json_object();
    for (int64_t k = 0; k < b->kinds; k++)
        json_object_set_new(kinds, b->kind[k].name, mean_of(hn_board_on_kind(b, entry, of, k)));
    return kinds;
}

static json_t *measure_of(const struct hn_board *b, int64_t entry, int measure, double rank) {
    json_t *all = json_object();
    for (int s = 0; s < HN_BOARD_SCORES; s++) {
        struct hn_board_score of = {measure, s};
        json_t *one = mean_of(hn_board_over_kinds(b, entry, of, false));
        json_object_set_new(one, "kept",
                            hn_json_real(hn_board_over_kinds(b, entry, of, true).mean));
        json_object_set_new(one, "kinds", kinds_of(b, entry, of));
        json_object_set_new(all, hn_board_score_names[s], one);
    }
    const char *verdict = hn_board_verdict_of(b, entry, measure);
    json_object_set_new(all, "verdict", json_string(verdict));
    json_object_set_new(all, "rank", hn_json_real(rank));
    return all;
}

static json_t *pairs_of(const struct hn_board *b, const struct hn_board_pair *pair, int64_t n) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_t *one = json_pack(
            "{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:s}", "a", hn_json_text(b->entry[pair[i].a].name),
            "b", hn_json_text(b->entry[pair[i].b].name), "difference", mean_of(pair[i].difference),
            "p", hn_json_real(pair[i].p), "wins", (json_int_t)pair[i].wins, "ties",
            (json_int_t)pair[i].ties, "losses", (json_int_t)pair[i].losses, "verdict",
            hn_board_verdicts[pair[i].verdict]);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *suite_of(const struct hn_board *b) {
    json_t *kinds = json_array();
    for (int64_t k = 0; k < b->kinds; k++)
        json_array_append_new(
            kinds, json_pack("{s:o, s:b, s:I, s:o}", "kind", hn_json_text(b->kind[k].name), "kept",
                             (int)b->kind[k].kept, "encoders", (json_int_t)b->kind[k].encoders,
                             "uniform", hn_json_real(b->kind[k].uniform)));
    return json_pack("{s:o, s:o, s:i, s:o, s:o}", "suite", hn_json_text(b->suite), "sha256",
                     hn_json_text(b->sha256), "results_version", b->version, "within_seconds",
                     hn_json_real(b->seconds), "kinds", kinds);
}

// For each measure of the trainings: how it goes with the scores by a measure of hardness.
static json_t *correlations_of(struct hn_context *ctx, const struct hn_board *b,
                               const struct hn_board_outcome *u, int measure) {
    json_t *all = json_object();
    for (int k = 0; k < u->measures; k++) {
        json_t *one = json_object();
        for (int s = 0; s < HN_BOARD_SCORES; s++) {
            struct hn_rank_correlation r;
            const struct hn_board_score of = {measure, s};
            if (hn_board_outcome_correlation(ctx, b, u, of, k, &r)) {
                json_decref(one);
                json_decref(all);
                return NULL;
            }
            json_object_set_new(one, hn_board_score_names[s],
                                json_pack("{s:o, s:o, s:o, s:I}", "rho", hn_json_real(r.rho), "lo",
                                          hn_json_real(r.lo), "hi", hn_json_real(r.hi), "entries",
                                          (json_int_t)r.n));
        }
        json_object_set_new(all, u->name[k], one);
    }
    return all;
}

// Adds what entries were worth in training: to each of them, and to the document.
static bool add_outcome(struct hn_context *ctx, const struct hn_board *b,
                        const struct hn_board_outcome *u, json_t *document, json_t *entries) {
    json_t *names = json_array(), *correlations = json_object();
    for (int k = 0; k < u->measures; k++)
        json_array_append_new(names, hn_json_text(u->name[k]));
    for (int64_t i = 0; i < b->entries; i++) {
        json_t *own = json_object();
        for (int k = 0; k < u->measures; k++)
            json_object_set_new(own, u->name[k], mean_of(hn_board_outcome_of(u, i, k)));
        json_object_set_new(json_array_get(entries, (size_t)i), "outcome", own);
    }
    bool good = true;
    for (int m = 0; m < HN_BOARD_MEASURES; m++)
        good &= json_object_set_new(correlations, hn_board_measures[m].word,
                                    correlations_of(ctx, b, u, m)) == 0;
    json_t *outcome =
        json_pack("{s:o, s:I, s:o, s:o}", "file", hn_json_text(u->path), "data",
                  (json_int_t)u->data, "measures", names, "correlations", correlations);
    return json_object_set_new(document, "outcome", outcome) == 0 && good;
}

json_t *hn_board_json(struct hn_context *ctx, const struct hn_board *b,
                      const struct hn_board_outcome *u) {
    int64_t pairs = b->entries * (b->entries - 1) / 2;
    HN_SCOPE(ctx);
    struct hn_board_pair *pair = hn_alloc(ctx, pairs, sizeof *pair);
    double *rank = hn_alloc(ctx, b->entries, sizeof *rank), apart[HN_BOARD_MEASURES];
    if (!pair || !rank)
        return NULL;
    json_t *document = suite_of(b), *entries = json_array(), *all_pairs = json_object();
    for (int64_t i = 0; i < b->entries; i++) {
        const struct hn_board_entry *e = &b->entry[i];
        json_array_append_new(entries,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "entry",
                                        hn_json_text(e->name), "authors", hn_json_text(e->authors),
                                        "chosen_on", hn_json_text(e->chosen_on), "settings",
                                        hn_json_text(e->labels), "seconds", hn_json_real(e->cost),
                                        "below", (json_int_t)e->below, "beyond",
                                        (json_int_t)e->beyond, "dear", (json_int_t)e->dear));
    }
    for (int m = 0; m < HN_BOARD_MEASURES; m++) {
        const char *word = hn_board_measures[m].word;
        if (hn_board_ranks(ctx, b, m, rank, &apart[m]) || hn_board_pairs(ctx, b, m, pair)) {
            json_decref(document);
            json_decref(entries);
            json_decref(all_pairs);
            return NULL;
        }
        for (int64_t i = 0; i < b->entries; i++)
            json_object_set_new(json_array_get(entries, (size_t)i), word,
                                measure_of(b, i, m, rank[i]));
        json_object_set_new(all_pairs, word,
                            json_pack("{s:o, s:o}", "apart", hn_json_real(apart[m]), "pairs",
                                      pairs_of(b, pair, pairs)));
    }
    bool added = !u || add_outcome(ctx, b, u, document, entries);
    if (json_object_set_new(document, "entries", entries) ||
        json_object_set_new(document, "pairs", all_pairs) || !added) {
        json_decref(document);
        (void)hn_fail(ctx, HN_MEMORY, "no memory for the board's document");
        return NULL;
    }
    return document;
}

// A line for each measure of the trainings, of the hardness that the table goes by.
static enum hn_code put_correlations(struct hn_context *ctx, const struct hn_board *b,
                                     const struct hn_board_outcome *u, FILE *out) {
    for (int k = 0; u && k < u->measures; k++) {
        hn_print(out, hn_markdown_put, "\n%s. ", u->name[k]);
        if (hn_board_print_correlations(ctx, b, u, 0, k, out))
            return ctx->code;
        fputs("\n", out);
    }
    return HN_OK;
}

static enum hn_code put_rows(struct hn_context *ctx, const struct hn_board *b,
                             const struct hn_board_outcome *u, FILE *out) {
    struct hn_record_column column[HN_BOARD_COLUMNS_MAX];
    double *rank = hn_alloc(ctx, b->entries, sizeof *rank), apart;
    int64_t *order = hn_alloc(ctx, b->entries, sizeof *order);
    if (!rank || !order || hn_board_columns(ctx, b, u, column) ||
        hn_board_ranks(ctx, b, 0, rank, &apart))
        return ctx->code;
    hn_board_hide_kinds(b, column);
    hn_board_order(b, 0, order);
    json_t *rows = hn_board_rows(b, u, 0, order, rank);
    hn_records_markdown(column, rows, out);
    json_decref(rows);
    return HN_OK;
}

enum hn_code hn_board_markdown(struct hn_context *ctx, const struct hn_board *b,
                               const struct hn_board_outcome *u, FILE *out) {
    HN_SCOPE(ctx);
    hn_print(out, hn_markdown_put, "Suite %s", b->suite);
    fprintf(out, " (checksum %.12s): %s, %" PRId64 " of them kept aside. ", b->sha256,
            hn_counted(b->kinds, "kind").text, b->kept);
    fputs("Excess: false negatives beyond the reference's at equal mean cosine of true negatives, "
          "less is better, in percent of what the reference adds on average over its range of "
          "hardness, and in points; ± is half of the 95 % interval over kinds. Gain: hardness "
          "beyond the reference's within so many points more than Uniform's.\n\n",
          out);
    if (isfinite(b->seconds))
        fprintf(
            out,
            "Of entries only what costs at most %.4g ms a batch, build included; where nothing "
            "of an entry does, it is Uniform; one that is too dear everywhere has no score.\n\n",
            1e3 * b->seconds);
    return put_rows(ctx, b, u, out) || put_correlations(ctx, b, u, out) ? ctx->code : HN_OK;
}
