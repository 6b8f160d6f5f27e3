// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts of sheets on the pairs of a population.
#include "harness/mining/corpus.h"
#include "harness/mining/price_work.h"
#include "retrieval/miner.h"
#include "retrieval/population.h"

#include <math.h>
#include <stdlib.h>

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

static enum hn_code find_pairs(struct hn_context *ctx, const struct hn_corpus *c,
                               const struct hn_miner *m, const struct hn_population *population,
                               const struct hn_text_list *path, struct hn_sheet_row *row,
                               int64_t n) {
    int64_t min = 1;
    for (int64_t i = 0; i < n; i++) {
        bool last = i + 1 == n || row[i + 1].sheet != row[i].sheet;
        bool first = i == 0 || row[i - 1].sheet != row[i].sheet;
        min = first ? row[i].number : hn_min(min, row[i].number);
        if (find_pair(ctx, c, m, population, path->item[row[i].sheet], &row[i]))
            return ctx->code;
        if (last && min > 1)
            return hn_fail(ctx, HN_DATA,
                           "%s: row 1 is missing before others: judge all rows from "
                           "the first to the last one that is there",
                           path->item[row[i].sheet]);
    }
    return HN_OK;
}

static int compare(const void *a, const void *b) {
    const struct hn_sheet_row *x = a, *y = b;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->passage != y->passage)
        return x->passage < y->passage ? -1 : 1;
    if (x->sheet != y->sheet)
        return x->sheet < y->sheet ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

// Rows of one pair become one verdict.
static enum hn_code merge(struct hn_context *ctx, const struct hn_text_list *path,
                          const struct hn_sheet_row *row, int64_t n, struct hn_sheets *out) {
    double sum = 0, judges = 0;
    for (int64_t i = 0; i < n; i++) {
        bool same =
            i > 0 && row[i].query == row[i - 1].query && row[i].passage == row[i - 1].passage;
        if (same && row[i].sheet == row[i - 1].sheet)
            return hn_fail(ctx, HN_DATA, "%s: line %lld: the pair of line %lld again; delete one",
                           path->item[row[i].sheet], (long long)row[i].line,
                           (long long)row[i - 1].line);
        if (!same) {
            sum = judges = 0;
            out->verdict[out->n++] = (struct hn_judged_pair){.at = {row[i].query, row[i].passage}};
        }
        struct hn_judged_pair *v = &out->verdict[out->n - 1];
        sum += row[i].sum;
        judges += row[i].judges;
        v->relevant = sum / judges;
        v->rows++;
    }
    out->rows = n;
    return HN_OK;
}

enum hn_code hn_sheets_read(struct hn_context *ctx, const struct hn_corpus *c,
                            const struct hn_miner *m, const struct hn_population *population,
                            const struct hn_text_list *path, struct hn_sheets *out) {
    struct hn_sheet_row *row;
    int64_t n;
    *out = (struct hn_sheets){.n = 0};
    HN_SCOPE(ctx);
    if (hn_sheet_read(ctx, c, path, &row, &n) || find_pairs(ctx, c, m, population, path, row, n))
        return ctx->code;
    if (n > 0)
        qsort(row, (size_t)n, sizeof *row, compare);
    hn_own(ctx, scope.outer);
    out->verdict = hn_alloc(ctx, n, sizeof *out->verdict);
    return out->verdict ? merge(ctx, path, row, n, out) : ctx->code;
}
