// SPDX-License-Identifier: GPL-3.0-or-later
// Sheets of pairs to be judged: a table between tabs with a row for each pair, to be filled in with
// any spreadsheet or editor; or, where the file ends in .jsonl, an object a line with a prompt for
// a language model. Who judged a row, a person or a model of some name, stands in its `judge`; a
// table without that column is by people.
#pragma once

#include "core/options/option.h"
#include "harness/mining/corpus.h"

enum hn_sheet_column {
    HN_SHEET_ROW,
    HN_SHEET_QUERY,
    HN_SHEET_PASSAGE,
    HN_SHEET_PROBABILITY,
    HN_SHEET_JUDGE, // of objects, and of tables if there are models
    HN_SHEET_RELEVANT,
    HN_SHEET_COLUMNS
};
extern const char *const hn_sheet_column[HN_SHEET_COLUMNS];
enum { HN_SHEET_MARK = '\'' }; // in front of what a spreadsheet would take for a formula

struct hn_sheet_row {
    int64_t number;         // from 1; 0: of a sheet without the column
    int32_t query, passage; // of the snapshot
    double probability;     // NaN: the sheet has none
    double sum, judges;     // in filled sheets: judges who say that it is relevant, or, of a
                            // model, probabilities; all of them
    const char *model;      // its name, the same pointer in all its rows; NULL: by people
    int64_t sheet, line;
};

// HN_USAGE: the file is there and holds verdicts, in a column or member of those that
// hn_sheet_read() takes: nobody's work is to be replaced. sheet: by another sheet, and then a file
// that cannot be read as one is refused as well, for who knows what it holds.
HN_MUST_USE enum hn_code hn_sheet_check_replaced(struct hn_context *ctx, const char *path,
                                                 bool sheet);
// Writes rows to be judged; texts where the snapshot has them. HN_USAGE: as above.
HN_MUST_USE enum hn_code hn_sheet_write(struct hn_context *ctx, const struct hn_corpus *c,
                                        const struct hn_sheet_row *row, int64_t n,
                                        const char *path);
// Rows of filled sheets, in their order. Each column, or member, whose name begins with `relevant`
// is a verdict; of objects without any, `verdict` or `answer` is. HN_DATA, with file and line: what
// is no verdict, an id that is not in the snapshot, an object that does not say who judged, a row
// that is missing before another one.
HN_MUST_USE enum hn_code hn_sheet_read(struct hn_context *ctx, const struct hn_corpus *c,
                                       const struct hn_text_list *path, struct hn_sheet_row **row,
                                       int64_t *n);
// "gpt, other": the names of the models that judged rows, in their order; "" where none did. NULL
// means failure.
HN_MUST_USE const char *hn_sheet_models(struct hn_context *ctx, const struct hn_sheet_row *row,
                                        int64_t n);
