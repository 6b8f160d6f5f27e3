// Sheets of pairs to be judged: a table between tabs with a row for each pair, to be filled in with
// any spreadsheet or editor.
#ifndef HN_HARNESS_MINING_SHEET_H
#define HN_HARNESS_MINING_SHEET_H

#include "core/options/option.h"
#include "harness/mining/corpus.h"
#include "retrieval/estimate.h"

// Writes the pairs with an empty column `relevant`; texts where the snapshot has them.
HN_MUST_USE enum hn_code hn_pairs_write(struct hn_context *ctx, const struct hn_corpus *c,
                                        const struct hn_population *population,
                                        const struct hn_pair_at *pair, int64_t n, const char *path);

struct hn_sheets {
    struct hn_judged_pair *verdict; // [n] in order, each pair once
    int64_t n, rows;                // rows: of all sheets
};
// Filled sheets of one file: each column whose name begins with `relevant` is a judge. Arrays
// belong to the owner of the time. HN_DATA, with file and line: a cell that is not 0 or 1, a pair
// that is not to be drawn here or was drawn with another probability, a pair twice in a sheet.
HN_MUST_USE enum hn_code hn_sheets_read(struct hn_context *ctx, const struct hn_corpus *c,
                                        const struct hn_population *population,
                                        const struct hn_text_list *path, struct hn_sheets *out);

#endif
