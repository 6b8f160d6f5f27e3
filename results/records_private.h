// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of records, for the printers.
#pragma once

#include "results/records.h"

// The cell of a key, NULL: the record has none.
const json_t *hn_record_cell(const json_t *record, const char *key);
// Reads a number, with or without an interval; NaN for null and texts. Texts are borrowed.
struct hn_record_number hn_record_number(const json_t *cell);
double hn_record_scale(const struct hn_record_column *c);
// Digits of a number behind the point, or of all of it.
int hn_record_decimals(const struct hn_record_column *c, struct hn_record_number n);
// True for a probability that would be 0.000.
bool hn_record_is_slight(const struct hn_record_column *c, struct hn_record_number n);
// The text of a cell without control characters, with `pm` (" +- ") before its half; record: NULL
// for the heading.
enum { HN_RECORD_TEXT = 1024 };
void hn_record_text(const struct hn_record_column *c, const json_t *record, const char *pm,
                    char text[HN_RECORD_TEXT]);
// Calls put() for each row of a table.
typedef void hn_record_put(const struct hn_record_column *column, const json_t *record, FILE *out);
HN_MUST_USE enum hn_code hn_records_each(struct hn_context *ctx, const struct hn_records *t,
                                         hn_record_put *put, FILE *out);
