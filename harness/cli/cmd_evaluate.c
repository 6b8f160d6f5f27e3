// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg evaluate`: how well a ranking finds what is relevant.
#include "core/files.h"
#include "core/options/int_list.h"
#include "core/real_text.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/mining/evaluation.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

enum { CUTOFFS_MAX = 16, WIDTHS_MAX = 16 };

static const char *const by_names[] = {"auto", "qrels", "truth", NULL}; // enum hn_measured_by

struct evaluate_params {
    struct hn_mine_options o; // of which the options of relevance can be given
    char *k, *dim, *per_query, *run, *against;
    int convention, by, unknown;
    int64_t step, threads, memory;
};

static const struct hn_option evaluate_options[] = {
    {HN_TEXT_OPTION(struct evaluate_params, k, "k",
                    "cutoffs, with commas between them (default: 1,10,100)"),
     .metavar = "K,..."},
    {HN_CHOICE_OPTION(struct evaluate_params, convention, "convention", "expected",
                      hn_convention_name,
                      "expected: grades are gains, MAP is over all relevant passages, values are "
                      "means over all orders of equal scores; trec: the same by the rules of "
                      "trec_eval: equal scores by descending id, queries without a relevant "
                      "passage count as 0, ids alone count; st: gains of 0 and 1, MAP over min(k, "
                      "relevant), as sentence-transformers has it, ids alone count"),
     .metavar = "WHICH"},
    {HN_CHOICE_OPTION(struct evaluate_params, by, "by", "auto", by_names,
                      "relevance to measure by; auto: /truth where the file has it"),
     .metavar = "WHICH"},
    {HN_TEXT_OPTION(struct evaluate_params, per_query, "per-query",
                    "write the values of each query to this file, between tabs"),
     .metavar = "FILE", .writes = true},
    {HN_FILE_OPTION(struct evaluate_params, run, "run",
                    "measure this run of TREC, of any system, over the queries and passages of "
                    "FILE in place of its rows; queries that it lacks have values of 0")},
    {HN_FILE_OPTION(struct evaluate_params, against, "against",
                    "set another ranking of the same queries beside it: a file of queries and a "
                    "corpus with the same ids, or a run (.trec, .run); differences are paired by "
                    "query")},
    {HN_TEXT_OPTION(
         struct evaluate_params, dim, "dim",
         "also rank by the first columns of the rows alone, so many of them, with commas "
         "between them, normalized again: what shortened vectors lose, and save in time"),
     .metavar = "D,..."},
    {HN_CHOICE_OPTION(struct evaluate_params, unknown, "unknown", "refuse", hn_unknown_name,
                      "lines of a run whose id the file does not have"),
     .metavar = "HOW"},
    HN_RELEVANCE_OPTIONS(struct evaluate_params, o., "none"),
    {HN_STEP_OPTION(struct evaluate_params)},
    {HN_THREADS_OPTION(struct evaluate_params, "; the values do not depend on them")},
    {HN_CORPUS_MEMORY_OPTION(struct evaluate_params)},
    {0},
};

struct work {
    const struct evaluate_params *p;
    struct hn_evaluated v;
    int64_t queries, paired; // paired: with values of both
    double *beside;          // values of --against, as v.e.value; NULL: not asked for
    int64_t k[CUTOFFS_MAX];
    int n_k;
    int widths;
    int64_t dim[WIDTHS_MAX];
    struct hn_evaluated width[WIDTHS_MAX]; // of --dim: values alone
};

static enum hn_code read_options(struct hn_context *ctx, struct work *w) {
    const struct evaluate_params *p = w->p;
    if (hn_int_list(ctx, "--k", p->k ? p->k : "1,10,100", CUTOFFS_MAX, w->k, &w->n_k) ||
        (p->dim && hn_int_list(ctx, "--dim", p->dim, WIDTHS_MAX, w->dim, &w->widths)))
        return ctx->code;
    if (p->dim && (p->run || p->against || p->per_query))
        return hn_fail(ctx, HN_USAGE,
                       "--dim goes without --run, --against and --per-query: it sets the rows of "
                       "FILE beside the same rows cut");
    return HN_OK;
}

// A convention of another tool takes ids
// alone, as the tool does.
static enum hn_code find_options(struct hn_context *ctx, const struct evaluate_params *p,
                                 struct hn_mine_options *o) {
    bool own = p->convention == HN_CONVENTION_EXPECTED;
    if (hn_relevance_options(ctx, &p->o, o))
        return ctx->code;
    o->equal_texts = o->equal_texts ? o->equal_texts : own ? HN_EQUAL_FILTER : HN_EQUAL_APART;
    o->self = o->self ? o->self : HN_SELF_NONE;
    return HN_OK;
}

static int64_t whole_width(const struct work *w) { return w->v.corpus.data.rows[HN_CORPUS].cols; }

static enum hn_code evaluate(struct hn_context *ctx, struct work *w, const char *path) {
    const struct evaluate_params *p = w->p;
    struct hn_evaluation_rules rules = {.convention = (enum hn_convention)p->convention,
                                        .by = (enum hn_measured_by)p->by,
                                        .k = w->k,
                                        .step = p->step,
                                        .unknown = (enum hn_unknown)p->unknown};
    if (read_options(ctx, w) || find_options(ctx, p, &rules.o))
        return ctx->code;
    rules.cutoffs = w->n_k;
    if (hn_evaluated_open(ctx, path, p->run, &rules, &w->v))
        return ctx->code;
    w->queries = w->v.corpus.info->n[HN_QUERIES];
    for (int i = 0; i < w->widths; i++)
        if (w->dim[i] != whole_width(w) &&
            hn_evaluated_cut(ctx, &w->v, &rules, w->dim[i], &w->width[i]))
            return ctx->code;
    return p->against ? hn_evaluated_beside(ctx, &w->v, p->against, &rules, &w->beside) : HN_OK;
}

static double extreme_of(const struct work *w, enum hn_tie_order order, int c, int m) {
    return w->v.e.extreme[((order - 1) * w->n_k + c) * HN_RETRIEVAL_METRICS + m];
}

// Gains and losses against the other ranking, of queries with values of both; the other's mean.
static struct hn_interval find_difference(struct hn_context *ctx, const struct work *w, int64_t at,
                                          double *other) {
    HN_SCOPE(ctx);
    const double *a = w->v.e.value + at * w->queries, *b = w->beside + at * w->queries;
    double *gain = hn_alloc(ctx, w->queries, sizeof *gain),
           *loss = hn_alloc(ctx, w->queries, sizeof *loss), sum = 0;
    int64_t n = 0;
    for (int64_t q = 0; gain && loss && q < w->queries; q++) {
        double d = a[q] - b[q];
        if (isnan(d))
            continue;
        sum += b[q];
        gain[n] = fmax(0, d);
        loss[n++] = fmax(0, -d);
    }
    *other = n ? sum / (double)n : NAN;
    return loss ? hn_difference_interval(gain, loss, n, 0.95) : (struct hn_interval){0};
}

// The interval of the values of a metric.
static struct hn_interval find_mean(struct hn_context *ctx, const struct work *w, int64_t at) {
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, w->queries, sizeof *value);
    int64_t n = 0;
    for (int64_t q = 0; value && q < w->queries; q++)
        if (!isnan(w->v.e.value[at * w->queries + q]))
            value[n++] = w->v.e.value[at * w->queries + q];
    return value ? hn_share_interval(value, n, 0.95) : (struct hn_interval){0};
}

static void count_paired(struct work *w) {
    for (int64_t q = 0; w->beside && q < w->queries; q++)
        w->paired += !isnan(w->v.e.value[q] - w->beside[q]);
}

static void put_values(const struct work *w, const double *values, int64_t query, FILE *out) {
    for (int64_t at = 0; at < w->n_k * HN_RETRIEVAL_METRICS; at++) {
        double v = values[at * w->queries + query];
        (void)fprintf(out, "\t%s", isnan(v) ? "" : hn_real_text(v).text);
    }
}

static enum hn_code put_query(struct hn_context *ctx, const struct work *w, int64_t query,
                              FILE *out) {
    const char *id = hn_string(&w->v.corpus.data.id[HN_QUERIES], query);
    if (strpbrk(id, "\t\r\n"))
        return hn_fail(ctx, HN_DATA,
                       "%s: the id %s has a tab or a line end, which --per-query cannot hold",
                       w->v.corpus.info->file->path, hn_quote(id).text);
    (void)fputs(id, out);
    put_values(w, w->v.e.value, query, out);
    if (w->beside)
        put_values(w, w->beside, query, out);
    (void)fputc('\n', out);
    return HN_OK;
}

static void put_names(const struct work *w, const char *prefix, FILE *out) {
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++)
            (void)fprintf(out, "\t%s%s@%lld", prefix, hn_retrieval_metric_name[m],
                          (long long)w->k[c]);
}

// A line of names, and one for each query; without a value where nothing is relevant to it.
static enum hn_code write_queries(struct hn_context *ctx, const struct work *w) {
    struct hn_new_file file;
    enum hn_code code = HN_OK;
    if (hn_file_begin(ctx, w->p->per_query, &file))
        return ctx->code;
    (void)fputs("query", file.out);
    put_names(w, "", file.out);
    if (w->beside)
        put_names(w, "against_", file.out);
    (void)fputc('\n', file.out);
    for (int64_t q = 0; q < w->queries && !code; q++)
        code = put_query(ctx, w, q, file.out);
    return hn_file_end(ctx, &file, code);
}

static json_t *row_of(struct hn_context *ctx, const struct work *w, int c, int m) {
    int64_t at = c * HN_RETRIEVAL_METRICS + m;
    struct hn_interval v = find_mean(ctx, w, at);
    json_t *row = json_pack(
        "{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "metric", hn_retrieval_metric_name[m], "k",
        (json_int_t)w->k[c], "value", hn_json_real(v.mean), "lo", hn_json_real(v.lo), "hi",
        hn_json_real(v.hi), "worst", hn_json_real(extreme_of(w, HN_TIES_WORST, c, m)), "best",
        hn_json_real(extreme_of(w, HN_TIES_BEST, c, m)));
    if (!w->beside)
        return row;
    double other;
    struct hn_interval d = find_difference(ctx, w, at, &other);
    json_object_set_new(row, "against", hn_json_real(other));
    json_object_set_new(row, "difference", hn_json_real(d.mean));
    json_object_set_new(row, "difference_lo", hn_json_real(d.lo));
    json_object_set_new(row, "difference_hi", hn_json_real(d.hi));
    return row;
}

static void add_rows(struct hn_context *ctx, const struct work *w, int64_t dim, json_t *rows) {
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
            json_t *row = row_of(ctx, w, c, m);
            if (w->p->dim)
                json_object_set_new(row, "dim", json_integer(dim));
            json_array_append_new(rows, row);
        }
}

// Those of the whole rows, then of each width, whose differences are from the whole.
static json_t *rows_of(struct hn_context *ctx, const struct work *w) {
    json_t *rows = json_array();
    add_rows(ctx, w, whole_width(w), rows);
    for (int i = 0; i < w->widths; i++) {
        if (w->dim[i] == whole_width(w))
            continue; // its rows are the first
        struct work cut = *w;
        cut.v.e = w->width[i].e;
        cut.beside = w->v.e.value;
        add_rows(ctx, &cut, w->dim[i], rows);
    }
    return rows;
}

static json_t *width_of(const struct work *w, int64_t dim, double seconds) {
    double bytes = (double)dim * (double)w->v.corpus.info->n[HN_CORPUS] * sizeof(float);
    return json_pack("{s:I, s:f, s:f}", "dim", (json_int_t)dim, "seconds", seconds, "mib",
                     bytes / (1 << 20));
}

// Seconds of the ranking by each width, and MiB of the corpus as float32.
static json_t *widths_of(const struct work *w) {
    json_t *list = json_array();
    json_array_append_new(list, width_of(w, whole_width(w), w->v.seconds));
    for (int i = 0; i < w->widths; i++)
        if (w->dim[i] != whole_width(w))
            json_array_append_new(list, width_of(w, w->dim[i], w->width[i].seconds));
    return list;
}

static void print_widths(const struct work *w) {
    static const struct hn_record_column columns[] = {
        {"dim", "dim", 6}, {"seconds", "ranking, s", 10, 3}, {"mib", "corpus, MiB", 11, 1}, {NULL}};
    json_t *list = widths_of(w);
    printf(
        "\nRows cut to the first dim columns and normalized again; differences are from the whole "
        "rows, paired by query.\n");
    hn_records_print(columns, list, stdout);
    json_decref(list);
}

static void note_own_text(struct hn_context *ctx, const struct work *w) {
    if (w->v.e.own_text > 0 && w->v.miner.o.self == HN_SELF_NONE)
        hn_note(ctx,
                "a passage with the query's own text, not relevant by %s, is ranked for %s: "
                "--self text leaves it out",
                w->v.by, hn_counted(w->v.e.own_text, "query").text);
}

// The value that the order of equal scores changes most, if it does; else *max = 0.
static void find_spread(const struct work *w, double *max, int *cutoff, int *metric) {
    *max = 0;
    *cutoff = *metric = 0;
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
            double spread = extreme_of(w, HN_TIES_BEST, c, m) - extreme_of(w, HN_TIES_WORST, c, m);
            if (spread > *max) {
                *max = spread;
                *cutoff = c;
                *metric = m;
            }
        }
}

static void note_ties(struct hn_context *ctx, const struct work *w) {
    double spread;
    int c, m;
    find_spread(w, &spread, &c, &m);
    if (spread > 0)
        hn_note(ctx,
                "equal scores: by their order %s at %lld is between %.4f and %.4f; shown is %s",
                hn_retrieval_metric_name[m], (long long)w->k[c], extreme_of(w, HN_TIES_WORST, c, m),
                extreme_of(w, HN_TIES_BEST, c, m),
                w->v.e.convention == HN_CONVENTION_TREC
                    ? "the descending order of ids, as trec_eval has it"
                    : "the mean over all orders");
}

static enum hn_code print_json(struct hn_context *ctx, const struct work *w, json_t *rows) {
    int64_t left_out = w->queries - w->v.e.queries;
    json_t *all =
        json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "file",
                  hn_json_text(w->v.corpus.info->file->path), "by", w->v.by, "convention",
                  hn_convention_name[w->p->convention], "self", hn_mine_self[w->v.miner.o.self],
                  "queries", (json_int_t)w->v.e.queries, "queries_left_out", (json_int_t)left_out,
                  "queries_own_text", (json_int_t)w->v.e.own_text, "values", rows);
    if (w->p->run) {
        json_object_set_new(all, "run", hn_json_text(w->p->run));
        json_object_set_new(all, "queries_not_in_run", json_integer(w->v.unranked));
    }
    if (w->p->dim)
        json_object_set_new(all, "widths", widths_of(w));
    if (w->beside) {
        json_object_set_new(all, "against", hn_json_text(w->p->against));
        json_object_set_new(all, "queries_paired", json_integer(w->paired));
    }
    return hn_json_print(ctx, all, stdout);
}

static enum hn_code print_values(struct hn_context *ctx, const struct work *w, bool json) {
    struct hn_record_column columns[] = {{"dim", "dim", 6},
                                         {"metric", "metric", -8},
                                         {"k", "k", 6},
                                         {"value", "mean", 8, 4},
                                         {"lo", "95 % from", 9, 4},
                                         {"hi", "to", 8, 4},
                                         {"against", "against", 8, 4},
                                         {"difference", "difference", 10, 4},
                                         {"difference_lo", "95 % from", 9, 4},
                                         {"difference_hi", "to", 8, 4},
                                         {"worst", "worst order", 11, 4},
                                         {"best", "best", 8, 4},
                                         {NULL}};
    enum { AGAINST = 6, WORST = 10, END = 12 };
    json_t *rows = rows_of(ctx, w);
    if (ctx->code) {
        json_decref(rows);
        return ctx->code;
    }
    int64_t left_out = w->queries - w->v.e.queries;
    double spread;
    int c, m;
    find_spread(w, &spread, &c, &m);
    if (spread <= 0 || w->p->dim)
        columns[WORST] = columns[END];
    if (w->p->dim)
        columns[AGAINST].heading = "whole";
    else if (!w->beside)
        memmove(columns + AGAINST, columns + WORST, (END + 1 - WORST) * sizeof *columns);
    if (!w->p->dim)
        memmove(columns, columns + 1, END * sizeof *columns);
    if (json)
        return print_json(ctx, w, rows);
    printf("%s: by %s, convention %s, over %s", w->v.name, w->v.by,
           hn_convention_name[w->p->convention], hn_counted(w->v.e.queries, "query").text);
    if (left_out > 0)
        printf("; %lld without a relevant passage left out", (long long)left_out);
    if (w->beside)
        printf("; differences are its values less those of %s, of %s", w->p->against,
               hn_counted(w->paired, "query").text);
    printf("\n");
    hn_records_print(columns, rows, stdout);
    json_decref(rows);
    if (w->p->dim)
        print_widths(w);
    return HN_OK;
}

static enum hn_code run_evaluate(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    if (hn_host_limit_process(ctx, w.p->memory, 1) || hn_blas_open(ctx))
        return ctx->code;
    enum hn_code code = evaluate(ctx, &w, call->args[0]);
    if (!code && w.p->per_query)
        code = write_queries(ctx, &w);
    if (!code) {
        count_paired(&w);
        note_own_text(ctx, &w);
        note_ties(ctx, &w);
        code = print_values(ctx, &w, call->json);
    }
    hn_evaluated_close(ctx, &w.v);
    return code ? code : ctx->code;
}

const struct hn_command hn_cmd_evaluate = {
    .name = "evaluate",
    .group = HN_GROUP_RETRIEVAL,
    .usage = "hardneg evaluate FILE [--k K,...] [--convention expected|trec|st] [--by qrels|truth] "
             "[--dim D,...] [--run RUN] [--against OTHER] [--per-query FILE]",
    .summary = "measure how well queries find their relevant passages",
    .details =
        "Ranks the whole corpus for each query and prints recall, hit, MRR, nDCG and MAP at "
        "each cutoff, with intervals over the queries. Queries without a relevant passage "
        "are left out and counted. Passages of equal score have no order: values are means "
        "over all of their orders, with the worst and the best in a note. Intervals lie in "
        "[0, 1]. --run measures another system. --against sets a second encoder, or a run, "
        "beside it: mean difference of each metric with its interval, over the same queries.",
    .examples = "hardneg evaluate r.h5 --k 10,100\n"
                "hardneg evaluate new.h5 --against old.h5 --k 10\n"
                "hardneg evaluate r.h5 --run bm25.trec --convention trec\n"
                "hardneg evaluate r.h5 --k 10 --dim 64,128,256\n"
                "hardneg evaluate r.h5 --k 10 --per-query queries.tsv",
    .options = evaluate_options,
    .params_size = sizeof(struct evaluate_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_evaluate};
