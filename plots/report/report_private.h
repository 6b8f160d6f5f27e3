// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a report, a file each.
#pragma once

#include "plots/report/report.h"
#include "results/analysis/league.h"

// Rows with that text in a column, and with that id unless it is NULL.
int64_t hn_html_count(const struct hn_table *t, const char *column, const char *text,
                      const char *id);
// The same of n claims: "hold".
const char *hn_html_verdict(int v, int64_t n);
// Says first that n >= 1 results are of several programs or results versions, if they are.
HN_MUST_USE enum hn_code hn_html_programs(FILE *html, struct hn_context *ctx,
                                          const struct hn_results *const *r, int64_t n);
// Writes what was run, from what, and how to do it again (report_run.c).
void hn_html_run(FILE *html, const struct hn_results *r);
// The opening of results of samplers: the hardest within some points more false negatives than
// Uniform. margin: of the ratio, what still counts as no more (results/analysis/means.h); picture:
// HTML of what stands beside the table, "" = none.
void hn_html_answer(FILE *html, const struct hn_overview *o, double margin, const char *picture);
// True if there is anything besides Uniform.
bool hn_has_samplers(const struct hn_overview *o);
// The table of answers of the league that begins with that setting (report_take.c).
void hn_html_take(FILE *html, const struct hn_overview *o, int64_t first, double margin);
// The command that answers a budget by as many seeds as it takes: `hardneg choose ...`. Of samplers
// of whole batches.
void hn_html_choose(FILE *html, const struct hn_league *p, double budget);
// The finding of trainings on data of that kind, of harder batches (report_findings.c).
void hn_html_findings(FILE *html, const struct hn_table *runs);
// Writes of weightings, where they vary, what share of the loss is on false negatives.
void hn_html_weightings(FILE *html, const struct hn_overview *o);
// Writes what the filters of `mined` drop, if the results have it.
void hn_html_attrition(FILE *html, const struct hn_overview *o);
// The settings of /runs, a row each (report_samplers.c). chosen: the page above has the choice of a
// measure of hardness, which columns follow.
HN_MUST_USE enum hn_code hn_html_samplers(FILE *html, struct hn_context *ctx,
                                          const struct hn_overview *o, bool chosen);
// A section on outcomes (report_outcome.c).
HN_MUST_USE enum hn_code hn_html_outcome(FILE *html, struct hn_context *ctx,
                                         const struct hn_overview *o, const struct hn_outcome *u);
// True if results are of several data sets, so that a page of one result has ranks, too.
bool hn_html_has_ranks(const struct hn_overview *o);
// Ranks of settings over data sets, in a section (report_ranks.c).
HN_MUST_USE enum hn_code hn_html_ranks(FILE *html, struct hn_context *ctx,
                                       const struct hn_overview *o);
// For results of `hardneg train`: opening and tables; nothing for others.
bool hn_html_is_training(const struct hn_results *r);
HN_MUST_USE enum hn_code hn_html_training_answer(FILE *html, struct hn_context *ctx,
                                                 const struct hn_results *r);
HN_MUST_USE enum hn_code hn_html_training(FILE *html, struct hn_context *ctx,
                                          const struct hn_results *r);
// For results of `hardneg reproduce`: opening and tables; nothing for others.
void hn_html_claims_answer(FILE *html, const struct hn_results *r);
void hn_html_claims(FILE *html, const struct hn_report *report);
// For results of `hardneg price`: the opening and the tables (report_price.c).
bool hn_html_is_price(const struct hn_results *r);
bool hn_html_has_attrition(const struct hn_results *r); // what filters of prices take
void hn_html_price_answer(FILE *html, const struct hn_results *r);
void hn_html_price(FILE *html, const struct hn_results *r);
// True if the table of identifiers has a verdict on this one.
bool hn_html_is_tested(const struct hn_table *ids, const char *id);
