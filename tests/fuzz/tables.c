// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/tables.h"
#include "core/text.h"
#include "plots/report/report_private.h"
#include "tests/fuzz/made.h"
#include "tests/fuzz/promise.h"

#include "harness/claims/claims.h"
#include "plots/page/curves.h"
#include "plots/page/page_private.h"
#include "plots/page/paper.h"
#include "plots/report/report.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/trained_tables.h"
#include "results/compare.h"
#include "results/merge.h"
#include "samplers/sampler.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { BOOKS = 4 };

// What is written is looked at before it is dropped.
struct output {
    FILE *file;
    char *text;
    size_t size;
};

static void open_output(struct output *o) {
    o->text = NULL;
    o->file = open_memstream(&o->text, &o->size);
    if (!o->file)
        abort();
}

static void close_output(struct output *o) {
    if (fclose(o->file))
        abort();
}

// A page or an XML file: no text has become markup, and there is no character that they must not
// have.
static void must_be_page(const struct hn_context *ctx, struct output *o) {
    close_output(o);
    hn_fuzz_must(ctx, !strstr(o->text, HN_FUZZ_MARKUP), "texts are no markup");
    for (size_t i = 0; i < o->size; i++)
        hn_fuzz_must(ctx, (unsigned char)o->text[i] >= ' ' || strchr("\n\t\r", o->text[i]),
                     "pages have no control characters");
    free(o->text);
}

static const char *behind_string(const char *at, char quote) {
    for (at++; *at && *at != quote; at++)
        if (quote == '"' && *at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

// A script of gnuplot: what is no number is none of its words.
static void must_be_script(const struct hn_context *ctx, struct output *o) {
    close_output(o);
    for (const char *at = o->text; *at;) {
        const char *begin = at;
        if (*at == '"' || *at == '\'') {
            at = behind_string(at, *at);
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            while (isalnum((unsigned char)*at) || *at == '_')
                at++;
            size_t n = (size_t)(at - begin);
            hn_fuzz_must(ctx, n != 3 || (strncmp(begin, "inf", n) && strncmp(begin, "nan", n)),
                         "numbers of scripts are finite");
        } else {
            at++;
        }
    }
    free(o->text);
}

static enum hn_code print_comparison(struct hn_context *ctx, const struct hn_comparison *c) {
    enum hn_code code = HN_OK;
    for (int i = 0; hn_compare_formats[i] && code == HN_OK; i++) {
        const struct hn_compare_format *format = hn_compare_formats[i];
        struct output o;
        open_output(&o);
        code = format->print(ctx, c, o.file);
        if (strcmp(format->name, "junit") == 0) {
            must_be_page(ctx, &o);
            continue;
        }
        close_output(&o);
        if (strcmp(format->name, "json") == 0 && code == HN_OK) {
            json_t *read = json_loadb(o.text, o.size, 0, NULL);
            hn_fuzz_must(ctx, read != NULL, "JSON can be read");
            json_decref(read);
        }
        free(o.text);
    }
    return code;
}

static enum hn_code compare(struct hn_context *ctx, struct hn_fuzz_bytes *b,
                            const struct hn_results *base, const struct hn_results *now) {
    static const char *const gates[] = {"n_dot:0%",   "fn_ratio:+0.002", "cost_s:5%",
                                        "counters:0", "quality:=1e-3",   "times:10%",
                                        "M:0",        "dataset:0",       "loss_global:-1e308%"};
    struct hn_gate gate[2];
    unsigned how = hn_fuzz_take(b), n = how % 3;
    for (unsigned i = 0; i < n; i++)
        if (hn_gate_parse(ctx, gates[hn_fuzz_take(b) % (sizeof gates / sizeof *gates)], &gate[i]))
            return ctx->code;
    const struct hn_compare_options options = {.gate = gate,
                                               .n_gates = n,
                                               .floor = how & 16 ? 0.2 : 0,
                                               .allow_missing = how & 32,
                                               .rounds = how & 64,
                                               .is_default =
                                                   how & 128 ? hn_sampler_is_default : NULL};
    struct hn_comparison c = {0};
    HN_SCOPE(ctx);
    enum hn_code code = hn_compare(ctx, base, 1, now, 1, &options, &c);
    return code ? code : print_comparison(ctx, &c);
}

static enum hn_code merge(struct hn_context *ctx, const struct hn_results *a,
                          const struct hn_results *b) {
    const struct hn_results part[] = {*a, *b};
    static const char *const name[] = {"a", "b"};
    struct hn_results out = {0};
    struct hn_merge_summary summary = {0};
    enum hn_code code = hn_merge(ctx, part, name, 2, true, &out, &summary);
    hn_fuzz_must(ctx, code || out.runs.rows <= a->runs.rows + b->runs.rows, "no row comes twice");
    hn_results_free(ctx, &out);
    return code;
}

static enum hn_code append(struct hn_context *ctx, const struct hn_results *a,
                           const struct hn_results *b) {
    struct hn_results all = {0};
    enum hn_code code = hn_results_append(ctx, &all, a);
    if (code == HN_OK)
        code = hn_results_append(ctx, &all, b);
    hn_fuzz_must(ctx, code || all.runs.rows == a->runs.rows + b->runs.rows, "all rows are there");
    hn_results_free(ctx, &all);
    return code;
}

// Parts of the page that no gnuplot is needed for.
static enum hn_code put_page(struct hn_context *ctx, const struct hn_results *r) {
    struct hn_overview overview;
    const struct hn_report report = {.results = r, .name = "r.h5"};
    struct output o;
    open_output(&o);
    HN_SCOPE(ctx);
    enum hn_code code = hn_overview_make(ctx, r, &overview);
    if (code == HN_OK) {
        hn_html_attrition(o.file, &overview);
        hn_html_answer(o.file, &overview, HN_MARGIN, "");
    }
    if (code == HN_OK)
        code = hn_html_samplers(o.file, ctx, &overview, true);
    if (code == HN_OK)
        code = hn_html_training(o.file, ctx, r);
    hn_html_claims(o.file, &report);
    must_be_page(ctx, &o);
    return code;
}

static enum hn_code put_page_of_both(struct hn_context *ctx, const struct hn_results *a,
                                     const struct hn_results *b) {
    struct hn_report_of report[] = {{a, "a", "a/results.h5"}, {b, "b", "b/results.h5"}};
    struct output o;
    open_output(&o);
    enum hn_code code = hn_report_write_many(ctx, report, 2, o.file);
    close_output(&o); // its script is a page's own
    hn_fuzz_must(ctx, !strstr(o.text, HN_FUZZ_MARKUP), "texts are no markup");
    free(o.text);
    return code;
}

static enum hn_code put_tables(struct hn_context *ctx, const struct hn_results *r) {
    struct output o;
    open_output(&o);
    HN_SCOPE(ctx);
    struct hn_records runs;
    enum hn_code code = hn_settings_print(ctx, r, &hn_records_as_latex, o.file);
    if (code == HN_OK || code == HN_NOT_APPLICABLE)
        code = hn_trained_print(ctx, r, &hn_records_as_latex, o.file);
    code = code == HN_NOT_APPLICABLE ? HN_OK : code; // no training
    if (!hn_records_of_table(ctx, &r->runs, &runs))
        (void)hn_records_as_latex.print(ctx, &runs, o.file);
    for (int64_t i = 0; i < r->runs.rows; i++)
        (void)hn_row_label(&r->runs, i, hn_sampler_is_default);
    close_output(&o);
    free(o.text);
    return code;
}

static bool has_columns(const struct hn_figure *f, const struct hn_results *r) {
    const struct hn_table *other = f->or_table ? hn_results_table(r, f->or_table) : NULL;
    bool instead = other && other->rows > 0;
    const struct hn_table *t = instead ? other : hn_results_table(r, f->table ? f->table : "runs");
    for (const char *const *c = instead ? f->or_columns : f->columns; t && *c; c++)
        if (hn_table_find(t, *c) < 0)
            return false;
    return t && (!f->needs_histogram || r->kinds > 0);
}

static enum hn_code draw(struct hn_context *ctx, struct hn_fuzz_bytes *b,
                         const struct hn_results *r) {
    int figures = 0;
    unsigned how = hn_fuzz_take(b);
    while (hn_figures[figures])
        figures++;
    const struct hn_figure *f = hn_figures[hn_fuzz_take(b) % (unsigned)figures];
    if (!has_columns(f, r))
        return HN_OK;
    struct hn_page *page = malloc(sizeof *page);
    struct hn_figure_size size;
    struct output o;
    if (!page)
        abort();
    HN_SCOPE(ctx);
    hn_page_begin(ctx, page);
    page->latex = how & 1;
    enum hn_code code = hn_page_fill(page, f, r);
    if (code == HN_OK) {
        page->fit_width = how & 2 ? 3.25 : 0;
        page->fit_height = how & 2 ? 8.5 : 0;
        hn_page_size(page, &size);
        hn_fuzz_must(ctx,
                     size.width > 0 && size.width < 100 && size.height > 0 && size.height < 100,
                     "a figure has a size");
        open_output(&o);
        hn_page_write_data(page, o.file);
        close_output(&o);
        free(o.text);
        open_output(&o);
        hn_page_write_script(page, "a.tsv", o.file);
        must_be_script(ctx, &o);
    }
    free(page);
    return code;
}

// The papers' claims, read once.
static const struct hn_claim_book *books(void) {
    static struct hn_context ctx;
    static void *memory;
    static struct hn_claim_book book[BOOKS];
    static const char *const name[BOOKS] = {"bs.yaml", "gc.yaml", "hc.yaml", "ps.yaml"};
    if (!book[0].paper) {
        hn_context_init(&ctx, 1);
        memory = hn_alloc(&ctx, 0, 1);
        hn_own(&ctx, memory);
        for (int i = 0; i < BOOKS; i++)
            if (hn_claims_read(&ctx, name[i], hn_paper_text(name[i]), &book[i]))
                abort();
    }
    return book;
}

static enum hn_code judge(struct hn_context *ctx, struct hn_fuzz_bytes *b,
                          const struct hn_results *r) {
    const struct hn_claim_book *book = &books()[hn_fuzz_take(b) % BOOKS];
    HN_SCOPE(ctx);
    struct hn_claim_outcome outcome = {0};
    struct hn_results stored = {0};
    enum hn_code code = hn_claims_judge(
        ctx, &book->entry[hn_fuzz_take(b) % (unsigned)book->entries], r, "", &outcome);
    if (code == HN_OK)
        code = hn_claims_correct(ctx, &outcome, 1);
    if (code == HN_OK)
        code = hn_claims_store(ctx, &outcome, &stored);
    json_t *list = json_array();
    if (code == HN_OK)
        code = hn_claims_json(ctx, &outcome, list);
    json_decref(list);
    hn_results_free(ctx, &stored);
    return code;
}

void hn_fuzz_tables(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    struct hn_fuzz_bytes b = {data, data + size};
    struct hn_fuzz_made first, second;
    const struct hn_results *r = &first.results;
    enum hn_code code = HN_OK;
    hn_fuzz_begin(&ctx);
    unsigned what = hn_fuzz_take(&b) % 8, how = hn_fuzz_take(&b);
    struct hn_fuzz_bytes again = {b.at + (how & 1 ? hn_fuzz_take(&b) % 3 : 0), b.end};
    again.at = again.at > again.end ? again.end : again.at;
    hn_fuzz_make(&first, &b);
    hn_fuzz_make(&second, how & 2 ? &again : &b); // much like the first, or another
    switch (what) {
    case 0: code = compare(&ctx, &b, r, &second.results); break;
    case 1: code = merge(&ctx, r, &second.results); break;
    case 2: code = append(&ctx, r, &second.results); break;
    case 3: code = put_page_of_both(&ctx, r, &second.results); break;
    case 4: code = put_page(&ctx, r); break;
    case 5: code = put_tables(&ctx, r); break;
    case 6: code = judge(&ctx, &b, r); break;
    default: code = draw(&ctx, &b, r);
    }
    hn_fuzz_made_free(&first);
    hn_fuzz_made_free(&second);
    hn_fuzz_end(&ctx, code, true);
}
