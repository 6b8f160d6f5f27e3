// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts of sheets on the pairs of a population.
#include "core/text.h"
#include "harness/mining/corpus.h"
#include "harness/mining/price_work.h"
#include "retrieval/miner.h"
#include "retrieval/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double digits = 0.01; // that spreadsheets keep of a probability, at min

// Puts the position in the population's pool in place of the passage; checked, since the estimate
// weighs the pair by the probability with which it was drawn.
static enum hn_code find_pair(struct hn_context *ctx, const struct hn_corpus *c,
                              const struct hn_miner *m, const struct hn_population *population,
                              const char *path, struct hn_sheet_row *row) {
    const struct hn_pool *pool = population->pool;
    int32_t passage = hn_miner_merged(m, row->passage);
    int64_t from = row->query * pool->width, k = 0;
    while (k < pool->width && pool->id[from + k] != passage)
        k++;
    int32_t rank = k < pool->width ? population->rank[from + k] : 0;
    double here = rank > 0 ? hn_population_probability(population, rank) : 0;
    if (here == 0 || !(fabs(row->probability - here) <= digits * here))
        return hn_fail(ctx, HN_DATA,
                       "%s: line %lld: the pair was not drawn with this probability from %s with "
                       "these options: give the --depth, --step and options of relevance of the "
                       "sheet, and the file that it was drawn from",
                       path, (long long)row->line, c->info->file->path);
    row->passage = (int32_t)k;
    return HN_OK;
}

// In order of sheets, judges of one beside each other.
static int by_judge(const void *a, const void *b) {
    const struct hn_sheet_row *x = a, *y = b;
    int order = (x->sheet > y->sheet) - (x->sheet < y->sheet);
    order = order ? order : strcmp(x->model ? x->model : "", y->model ? y->model : "");
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

// The rows of each judge of a sheet begin with the first.
static enum hn_code check_first(struct hn_context *ctx, const struct hn_text_list *path,
                                struct hn_sheet_row *row, int64_t n) {
    if (n > 0)
        qsort(row, (size_t)n, sizeof *row, by_judge);
    for (int64_t i = 0; i < n; i++) {
        bool first = i == 0 || row[i - 1].sheet != row[i].sheet || row[i - 1].model != row[i].model;
        if (first && row[i].number > 1)
            return hn_fail(ctx, HN_DATA,
                           "%s: row 1 is missing before others: judge all rows from "
                           "the first to the last one that is there",
                           path->item[row[i].sheet]);
    }
    return HN_OK;
}

static enum hn_code find_pairs(struct hn_context *ctx, const struct hn_corpus *c,
                               const struct hn_miner *m, const struct hn_population *population,
                               const struct hn_text_list *path, struct hn_sheet_row *row,
                               int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (find_pair(ctx, c, m, population, path->item[row[i].sheet], &row[i]))
            return ctx->code;
    return check_first(ctx, path, row, n);
}

static int compare(const void *a, const void *b) {
    const struct hn_sheet_row *x = a, *y = b;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->passage != y->passage)
        return x->passage < y->passage ? -1 : 1;
    int judge = by_judge(a, b);
    return judge ? judge : (x->line > y->line) - (x->line < y->line);
}

// Mean of the judges so far and of a row.
struct votes {
    double sum, judges;
};

static void vote(struct votes *v, const struct hn_sheet_row *row, double *mean, int64_t *rows) {
    v->sum += row->sum;
    v->judges += row->judges;
    *mean = v->sum / v->judges;
    ++*rows;
}

// Rows of one pair become one verdict.
static enum hn_code merge(struct hn_context *ctx, const struct hn_text_list *path,
                          const struct hn_sheet_row *row, int64_t n, struct hn_sheets *out) {
    struct votes people = {0}, models = {0};
    for (int64_t i = 0; i < n; i++) {
        bool same =
            i > 0 && row[i].query == row[i - 1].query && row[i].passage == row[i - 1].passage;
        if (same && row[i].sheet == row[i - 1].sheet && row[i].model == row[i - 1].model)
            return hn_fail(ctx, HN_DATA, "%s: line %lld: the pair of line %lld again; delete one",
                           path->item[row[i].sheet], (long long)row[i].line,
                           (long long)row[i - 1].line);
        if (!same) {
            people = models = (struct votes){0};
            out->verdict[out->n++] = (struct hn_judged_pair){.at = {row[i].query, row[i].passage}};
        }
        struct hn_judged_pair *v = &out->verdict[out->n - 1];
        if (row[i].model)
            vote(&models, &row[i], &v->model, &v->model_rows);
        else
            vote(&people, &row[i], &v->relevant, &v->rows);
    }
    return HN_OK;
}

// Counts the judged pairs; where a model judged, no pair is by people alone.
static enum hn_code check_models(struct hn_context *ctx, const struct hn_corpus *c,
                                 const struct hn_miner *m, struct hn_sheets *s) {
    for (int64_t i = 0; i < s->n; i++) {
        const struct hn_judged_pair *v = &s->verdict[i];
        int64_t k = v->at.query * s->pool->width + v->at.position;
        s->people += v->rows > 0;
        s->answered += v->model_rows > 0;
        if (*s->models && v->model_rows == 0)
            return hn_fail(
                ctx, HN_DATA,
                "%s has not judged passage %s of query %s, which people have: it is to "
                "judge all rows of the sheets that people judge from",
                s->models,
                hn_quote(hn_string(&c->data.id[HN_CORPUS],
                                   m->passage ? m->passage[s->pool->id[k]] : s->pool->id[k]))
                    .text,
                hn_quote(hn_string(&c->data.id[HN_QUERIES], v->at.query)).text);
    }
    return HN_OK;
}

enum hn_code hn_sheets_read(struct hn_context *ctx, const struct hn_corpus *c,
                            const struct hn_miner *m, const struct hn_population *population,
                            const struct hn_text_list *path, struct hn_sheets *out) {
    struct hn_sheet_row *row;
    int64_t n;
    *out = (struct hn_sheets){.pool = population->pool};
    HN_SCOPE(ctx);
    if (hn_sheet_read(ctx, c, path, &row, &n))
        return ctx->code;
    hn_own(ctx, scope.outer);
    out->models = hn_sheet_models(ctx, row, n);
    out->verdict = hn_alloc(ctx, n, sizeof *out->verdict);
    if (!out->models || !out->verdict || find_pairs(ctx, c, m, population, path, row, n))
        return ctx->code;
    if (n > 0)
        qsort(row, (size_t)n, sizeof *row, compare);
    return merge(ctx, path, row, n, out) || check_models(ctx, c, m, out) ? ctx->code : HN_OK;
}
