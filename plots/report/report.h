// The report: one self-contained HTML page (inline pictures, no network) of a results file.
#pragma once

#include "plots/page/figure.h"
#include "results/analysis/outcome.h"
#include "results/analysis/overview.h"

struct hn_report {
    const struct hn_results *results;
    const char *name;    // of the results, as it is shown
    const char *ids;     // folder of <id>.h5, results of one figure each, if any; NULL = none
    const char *scratch; // folder in which figures are drawn, the caller's to remove
    int medium;          // of hn_media: what figures saved as PDF are for
    double margin;       // as in hn_html_answer()
    const char *outcome; // name of the table of outcomes, NULL = none;
    char *outcome_text;  // and its text, which is changed
};

// Writes the page. HN_GNUPLOT: gnuplot is missing or failed; the page is whole but for figures.
HN_MUST_USE enum hn_code hn_report_write(struct hn_context *ctx, const struct hn_report *report,
                                         FILE *html);

// One page over many results: what each is, ranks of settings over data sets, the same settings
// side by side, and all settings in one table. Sorts report[n], n > 1, by date.
struct hn_report_of {
    const struct hn_results *results;
    const char *name, *file; // as in struct hn_report; where it lies
};
HN_MUST_USE enum hn_code hn_report_write_many(struct hn_context *ctx, struct hn_report_of *report,
                                              int64_t n, FILE *html);

// A page up to its list of contents, which </ul></nav></header> ends; its end. when: date or "".
void hn_html_begin(FILE *html, const char *title, const char *when);
void hn_html_end(FILE *html);
// Text of HTML and of its attributes in quotes, from any bytes; what is not UTF-8 becomes U+FFFD.
void hn_html_text(FILE *html, const char *text);
// HTML with such a text for every %s, and numbers (hn_vprint()).
void hn_html(FILE *html, const char *format, ...) HN_PRINTF(2, 3);

// A number in a cell of a table: a dash for what is not finite, which sorts last.
struct hn_html_number {
    double value, half; // half: of its interval, left out if it is NaN
    double lo, hi;      // the interval itself, where half is NaN
};

// A column of a table. `row` is what the table passes for each of its rows.
struct hn_html_column {
    const char *title, *help;  // with the unit; help is shown over it, NULL = none
    const char *from;          // column of the results
    const char *format, *more; // of the value (NULL = three digits) and its interval (NULL = none)
    double scale;              // of all of them; 0 = 1
    struct hn_html_number (*number)(const struct hn_html_column *column, const void *row);
    void (*put)(FILE *html, const struct hn_html_column *column, const void *row); // no number
    // Without both, rows are or begin with struct hn_html_cells: their number in `from`, with the
    // interval in <from>_lo and <from>_hi; or, with `html`, the texts of `from` and `also` in that.
    const char *html, *also;
    int measure; // 1 + that measure of hardness: shown where the page has it chosen; 0 = always
};
struct hn_html_cells {
    const struct hn_table *table;
    int64_t row;
};
// Formats of a value and of half of its interval.
#define HN_HTML_PLUS_MINUS(format) format, format
// "71.50 ± 1.38 %": a value with half of its interval (NaN = none), in a sentence.
struct hn_html_amount {
    const char *unit;
    double scale;
    int digits; // behind the point, as many as the table of the same numbers has
    bool sign;  // of a difference
};
void hn_html_amount(FILE *html, struct hn_html_amount a, double value, double half);
// As many digits behind the point as a half needs to have two, else `digits`.
int hn_html_digits(double half, int digits);
// "+13.0 ± 13.6": with those.
void hn_html_mean(FILE *html, struct hn_mean m, double scale, int digits, bool sign);
// As hn_html(): format has a %s for a time to three digits, "6.06 ms"; nothing where it is NaN.
void hn_html_seconds(FILE *html, const char *format, double seconds);
// A sentence: fewer than three seeds do not show how builds vary, "so no sampler is named", and
// what to run.
void hn_html_few_seeds(FILE *html, int64_t seeds, const char *so);
// The headings and the beginning of the body; the first `sorted` ones are buttons that sort.
void hn_html_heads(FILE *html, const struct hn_html_column *column, int n, int sorted);
void hn_html_row(FILE *html, const struct hn_html_column *column, int n, const void *row);
// Rows with that text in a column, and with that id unless it is NULL.
int64_t hn_html_count(const struct hn_table *t, const char *column, const char *text,
                      const char *id);
// "holds", "fails", "inconclusive", "not tested".
enum { HN_HTML_VERDICTS = 4 };
extern const char *const hn_html_verdicts[HN_HTML_VERDICTS];
// The same of n claims: "hold".
const char *hn_html_verdict(int v, int64_t n);
// An SVG file of gnuplot as part of a page: ids get a prefix, so that figures do not share them,
// colours are written in one way, so that style sheets can name them.
void hn_html_svg(FILE *html, const char *svg, const char *prefix, const char *title);
// A section that folds; it ends with </details>.
void hn_html_fold(FILE *html, const char *id, const char *title, bool open);
// Says first that n >= 1 results are of several programs or results versions, if they are.
HN_MUST_USE enum hn_code hn_html_programs(FILE *html, struct hn_context *ctx,
                                          const struct hn_results *const *r, int64_t n);
// Writes what was run, from what, and how to do it again (report_run.c).
void hn_html_run(FILE *html, const struct hn_results *r);
// The opening of results of samplers: the hardest within some points more false negatives than
// Uniform. margin: of the ratio, what still counts as no more (results/analysis/means.h).
void hn_html_answer(FILE *html, const struct hn_overview *o, double margin);
// The finding of trainings on data of that kind, of harder batches (report_findings.c).
void hn_html_findings(FILE *html, const struct hn_table *runs);
// Of weightings, where they vary: what share of the loss is on false negatives.
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
// Ranks of settings over data sets, in a section (report_ranks.c).
HN_MUST_USE enum hn_code hn_html_ranks(FILE *html, struct hn_context *ctx,
                                       const struct hn_overview *o);
// Of results of `hardneg train`: opening and tables; nothing for others.
bool hn_html_is_training(const struct hn_results *r);
HN_MUST_USE enum hn_code hn_html_training_answer(FILE *html, struct hn_context *ctx,
                                                 const struct hn_results *r);
HN_MUST_USE enum hn_code hn_html_training(FILE *html, struct hn_context *ctx,
                                          const struct hn_results *r);
// Of results of `hardneg reproduce`: opening and tables; nothing for others.
void hn_html_claims_answer(FILE *html, const struct hn_results *r);
void hn_html_claims(FILE *html, const struct hn_report *report);
// Of results of `hardneg price`: the opening and the tables (report_price.c).
bool hn_html_is_price(const struct hn_results *r);
void hn_html_price_answer(FILE *html, const struct hn_results *r);
void hn_html_price(FILE *html, const struct hn_results *r);
// True if the table of identifiers has a verdict on this one.
bool hn_html_is_tested(const struct hn_table *ids, const char *id);
