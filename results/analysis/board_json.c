// SPDX-License-Identifier: GPL-3.0-or-later
// A board as a document of JSON, and that as a table of Markdown.
#include "results/analysis/board_json.h"
#include "core/text.h"
#include "results/records.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static json_t *mean_of(struct hn_mean m) {
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", hn_json_real(m.mean), "half",
                     hn_json_real(m.half), "lo", hn_json_real(m.lo), "hi", hn_json_real(m.hi));
}

static const char *const score_names[HN_BOARD_SCORES] = {"share", "excess", "gain_half", "gain_2",
                                                         "gain_10"};

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
        json_object_set_new(all, score_names[s], one);
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

// Of each measure of the trainings: how it goes with the scores by a measure of hardness.
static json_t *correlations_of(struct hn_context *ctx, const struct hn_board *b,
                               const struct hn_board_outcome *u, int measure) {
    json_t *all = json_object();
    for (int k = 0; k < u->measures; k++) {
        json_t *one = json_object();
        json_object_set_new(all, u->name[k], one);
        for (int s = 0; s < HN_BOARD_SCORES; s++) {
            struct hn_rank_correlation r;
            const struct hn_board_score of = {measure, s};
            if (hn_board_outcome_correlation(ctx, b, u, of, k, &r)) {
                json_decref(all);
                return NULL;
            }
            json_object_set_new(one, score_names[s],
                                json_pack("{s:o, s:o, s:o, s:I}", "rho", hn_json_real(r.rho), "lo",
                                          hn_json_real(r.lo), "hi", hn_json_real(r.hi), "entries",
                                          (json_int_t)r.n));
        }
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
    for (int m = 0; m < HN_BOARD_MEASURES; m++)
        json_object_set_new(correlations, hn_board_measures[m].word, correlations_of(ctx, b, u, m));
    json_object_set_new(document, "outcome",
                        json_pack("{s:o, s:I, s:o, s:o}", "file", hn_json_text(u->path), "data",
                                  (json_int_t)u->data, "measures", names, "correlations",
                                  correlations));
    return ctx->code == HN_OK;
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
        if (added)
            hn_fail(ctx, HN_MEMORY, "no memory for the board's document");
        return NULL;
    }
    return document;
}

static const struct hn_record_column columns[] = {
    {.key = "entry", .heading = "Entry", .width = -1},
    {.key = "verdict", .heading = "Against the reference", .width = -1},
    {.key = "share", .heading = "Excess (%)", .digits = 1},
    {.key = "half", .heading = "±", .digits = 1},
    {.key = "kept", .heading = "On kinds kept aside (%)", .digits = 1},
    {.key = "excess", .heading = "Excess (points)", .digits = 2},
    {.key = "gain_half", .heading = "Hardness gained at +.5", .digits = 3},
    {.key = "gain_2", .heading = "at +2", .digits = 3},
    {.key = "gain_10", .heading = "at +10", .digits = 3},
    {.key = "rank", .heading = "Mean rank", .digits = 1},
    {.key = "seconds", .heading = "ms a batch", .digits = 2, .scale = 1000},
    {.key = "chosen_on", .heading = "Chosen on", .width = -1},
    {0}};

// Of the k-th measure of trainings: its difference to Uniform, and half of the interval.
static void outcome_keys(int k, char key[2][HN_LABEL_SIZE]) {
    snprintf(key[0], HN_LABEL_SIZE, "outcome %d", k);
    snprintf(key[1], HN_LABEL_SIZE, "outcome %d half", k);
}

// The row of an entry by a measure.
static json_t *row_of(const json_t *entry, const char *measure) {
    const json_t *by = json_object_get(entry, measure), *share = json_object_get(by, "share");
    json_t *row = json_pack(
        "{s:O, s:O, s:O, s:O, s:O, s:O, s:O}", "entry", json_object_get(entry, "entry"), "verdict",
        json_object_get(by, "verdict"), "half", json_object_get(share, "half"), "kept",
        json_object_get(share, "kept"), "rank", json_object_get(by, "rank"), "seconds",
        json_object_get(entry, "seconds"), "chosen_on", json_object_get(entry, "chosen_on"));
    for (int s = 0; s < HN_BOARD_SCORES; s++)
        json_object_set(row, score_names[s],
                        json_object_get(json_object_get(by, score_names[s]), "mean"));
    const char *name;
    char key[2][HN_LABEL_SIZE];
    json_t *trained;
    int k = 0;
    json_object_foreach(json_object_get(entry, "outcome"), name, trained) {
        outcome_keys(k++, key);
        json_object_set(row, key[0], json_object_get(trained, "mean"));
        json_object_set(row, key[1], json_object_get(trained, "half"));
    }
    return row;
}

static double share_of(const json_t *row) {
    const json_t *value = json_object_get(row, "share");
    return json_is_number(value) ? json_number_value(value) : INFINITY;
}

// The best first, those without a score last.
static json_t *rows_of(const json_t *entries, const char *measure) {
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(entries); i++) {
        json_t *row = row_of(json_array_get(entries, i), measure);
        size_t at = 0;
        while (at < json_array_size(rows) && share_of(json_array_get(rows, at)) <= share_of(row))
            at++;
        json_array_insert_new(rows, at, row);
    }
    return rows;
}

static void put_rows(const json_t *document, const json_t *rows, FILE *out) {
    enum { SCORES = sizeof columns / sizeof *columns - 1 };
    struct hn_record_column column[SCORES + 2 * HN_OUTCOMES_MAX + 1] = {0};
    char key[HN_OUTCOMES_MAX][2][HN_LABEL_SIZE], heading[HN_OUTCOMES_MAX][HN_LABEL_SIZE];
    const json_t *trained = json_object_get(document, "outcome");
    json_t *name;
    size_t k;
    memcpy(column, columns, sizeof columns);
    json_array_foreach(json_object_get(trained, "measures"), k, name) {
        struct hn_record_column *c = &column[SCORES + 2 * k];
        outcome_keys((int)k, key[k]);
        snprintf(heading[k], HN_LABEL_SIZE, "%s – Uniform", json_string_value(name));
        c[0] = (struct hn_record_column){.key = key[k][0], .heading = heading[k], .digits = 2};
        c[1] = (struct hn_record_column){.key = key[k][1], .heading = "±", .digits = 2};
    }
    hn_records_markdown(column, rows, out);
}

// A line for each measure of the trainings, of the hardness that the table goes by.
static void put_correlations(const json_t *document, FILE *out) {
    json_t *by =
        json_object_get(json_object_get(json_object_get(document, "outcome"), "correlations"),
                        hn_board_measures[0].word);
    const char *name;
    json_t *scores;
    json_object_foreach(by, name, scores) {
        const json_t *share = json_object_get(scores, score_names[HN_BOARD_SHARE]);
        const int64_t n = json_integer_value(json_object_get(share, "entries"));
        if (n < HN_RANKS_MIN)
            continue;
        hn_print(out, hn_markdown_put, "\nRank correlation of %s", name);
        fprintf(out, " over %" PRId64 " entries", n);
        for (int s = 0; s < HN_BOARD_SCORES; s++) {
            const json_t *r = json_object_get(scores, score_names[s]);
            const json_t *rho = json_object_get(r, "rho"), *lo = json_object_get(r, "lo");
            if (s == HN_BOARD_EXCESS)
                continue;
            if (s == HN_BOARD_SHARE)
                fputs(" with the excess: ", out);
            else
                fprintf(out, "; with the gain at +%.3g: ", hn_board_budgets[s - HN_BOARD_GAIN]);
            if (json_is_number(rho))
                fprintf(out, "%+.2f", json_number_value(rho));
            else
                fputs("none", out);
            if (json_is_number(lo))
                fprintf(out, " (95 %%: %+.2f to %+.2f)", json_number_value(lo),
                        json_number_value(json_object_get(r, "hi")));
        }
        fputs(".\n", out);
    }
}

void hn_board_markdown(const json_t *document, FILE *out) {
    int64_t kinds = 0, kept = 0;
    size_t i;
    json_t *kind, *rows = rows_of(json_object_get(document, "entries"), hn_board_measures[0].word);
    json_array_foreach(json_object_get(document, "kinds"), i, kind) {
        kinds++;
        kept += json_is_true(json_object_get(kind, "kept"));
    }
    hn_print(out, hn_markdown_put, "Suite %s",
             json_string_value(json_object_get(document, "suite")));
    fprintf(out, " (checksum %.12s): %s, %" PRId64 " of them kept aside. ",
            json_string_value(json_object_get(document, "sha256")), hn_counted(kinds, "kind").text,
            kept);
    fputs("Excess: false negatives beyond the reference's at equal mean cosine of true negatives, "
          "less is better, in percent of what the reference adds on average over its range of "
          "hardness, and in points; ± is half of the 95 % interval over kinds. Hardness gained: "
          "beyond the reference's within so many points more than Uniform's.\n\n",
          out);
    const json_t *seconds = json_object_get(document, "within_seconds");
    if (json_is_number(seconds))
        fprintf(
            out,
            "Of entries only what costs at most %.4g ms a batch, build included; where nothing "
            "of an entry does, it is Uniform; one that is too dear everywhere has no score.\n\n",
            1e3 * json_number_value(seconds));
    put_rows(document, rows, out);
    put_correlations(document, out);
    json_decref(rows);
}
