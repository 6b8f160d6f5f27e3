// `hardneg evaluate`: how well a ranking finds what is relevant.
#include "core/files.h"
#include "core/real_text.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/mining/corpus.h"
#include "results/records.h"
#include "retrieval/evaluate.h"
#include "retrieval/miner.h"
#include "retrieval/relevance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CUTOFFS_MAX = 16 };

static const char *const by_names[] = {"auto", "qrels", "truth", NULL};
enum { BY_AUTO, BY_QRELS, BY_TRUTH };

struct evaluate_params {
    struct hn_mine_options o; // of which the options of relevance can be given
    char *k, *per_query;
    int convention, by;
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
    HN_RELEVANCE_OPTIONS(struct evaluate_params, o., "none"),
    {HN_STEP_OPTION(struct evaluate_params)},
    {HN_THREADS_OPTION(struct evaluate_params, "; the values do not depend on them")},
    {HN_MEMORY_OPTION(struct evaluate_params, " (default: what the machine has)")},
    {0},
};

struct work {
    const struct evaluate_params *p;
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_ranking_metrics e;
    const char *by;
    int64_t k[CUTOFFS_MAX];
    int n_k;
};

static enum hn_code read_cutoffs(struct hn_context *ctx, struct work *w) {
    const char *text = w->p->k ? w->p->k : "1,10,100";
    for (const char *at = text;; at++) {
        char *end;
        long k = strtol(at, &end, 10);
        if (end == at || k < 1 || k > INT32_MAX || w->n_k == CUTOFFS_MAX || (*end && *end != ','))
            return hn_fail(ctx, HN_USAGE,
                           "--k %s: wanted are 1 to %d whole numbers from 1, with commas "
                           "between them",
                           hn_quote(text).text, CUTOFFS_MAX);
        w->k[w->n_k++] = k;
        if (!*end)
            return HN_OK;
        at = end;
    }
}

static enum hn_code pick_relevance(struct hn_context *ctx, struct work *w, const char *path) {
    bool truth =
        w->p->by == BY_TRUTH || (w->p->by == BY_AUTO && w->corpus.data.truth.start != NULL);
    w->e.relevance = truth ? &w->miner.truth : &w->miner.known;
    w->by = truth ? "/truth" : "/qrels";
    return w->e.relevance->start
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: has no %s to measure by", path, w->by);
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

static enum hn_code evaluate_file(struct hn_context *ctx, struct work *w, const char *path) {
    struct hn_mine_options o;
    if (read_cutoffs(ctx, w) || find_options(ctx, w->p, &o) ||
        hn_corpus_open(ctx, path, w->p->step, NULL, &w->corpus) ||
        hn_miner_open(ctx, &w->corpus.data, &o, path, &w->miner) || pick_relevance(ctx, w, path))
        return ctx->code;
    w->e.miner = &w->miner;
    w->e.convention = (enum hn_convention)w->p->convention;
    w->e.k = w->k;
    w->e.cutoffs = w->n_k;
    return hn_evaluation_run(ctx, &w->e);
}

static double extreme_of(const struct work *w, enum hn_tie_order order, int c, int m) {
    return w->e.extreme[((order - 1) * w->n_k + c) * HN_RETRIEVAL_METRICS + m];
}

// The values of a metric that queries have, first in the array.
static const double *values_of(const struct work *w, int c, int m) {
    int64_t n = w->miner.data.rows[HN_QUERIES].rows, kept = 0;
    double *value = w->e.value + (c * HN_RETRIEVAL_METRICS + m) * n;
    for (int64_t i = 0; i < n && kept < w->e.queries; i++)
        if (!isnan(value[i]))
            value[kept++] = value[i];
    return value;
}

static enum hn_code put_query(struct hn_context *ctx, const struct work *w, int64_t query,
                              FILE *out) {
    const char *id = hn_string(&w->corpus.data.id[HN_QUERIES], query);
    int64_t n = w->miner.data.rows[HN_QUERIES].rows;
    if (strpbrk(id, "\t\r\n"))
        return hn_fail(ctx, HN_DATA,
                       "%s: the id %s has a tab or a line end, which --per-query cannot hold",
                       w->corpus.info->file->path, hn_quote(id).text);
    (void)fputs(id, out);
    for (int at = 0; at < w->n_k * HN_RETRIEVAL_METRICS; at++) {
        double v = w->e.value[at * n + query];
        (void)fprintf(out, "\t%s", isnan(v) ? "" : hn_real_text(v).text);
    }
    (void)fputc('\n', out);
    return HN_OK;
}

// A line of names, and one for each query; without a value where nothing is relevant to it.
static enum hn_code write_queries(struct hn_context *ctx, const struct work *w) {
    struct hn_new_file file;
    enum hn_code code = HN_OK;
    if (hn_file_begin(ctx, w->p->per_query, &file))
        return ctx->code;
    (void)fputs("query", file.out);
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++)
            (void)fprintf(file.out, "\t%s@%lld", hn_retrieval_metric_name[m], (long long)w->k[c]);
    (void)fputc('\n', file.out);
    for (int64_t q = 0; q < w->miner.data.rows[HN_QUERIES].rows && !code; q++)
        code = put_query(ctx, w, q, file.out);
    return hn_file_end(ctx, &file, code);
}

static json_t *rows_of(const struct work *w) {
    json_t *rows = json_array();
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
            struct hn_interval v = hn_share_interval(values_of(w, c, m), w->e.queries, 0.95);
            json_array_append_new(
                rows,
                json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "metric",
                          hn_retrieval_metric_name[m], "k", (json_int_t)w->k[c], "value",
                          hn_json_real(v.mean), "lo", hn_json_real(v.lo), "hi", hn_json_real(v.hi),
                          "worst", hn_json_real(extreme_of(w, HN_TIES_WORST, c, m)), "best",
                          hn_json_real(extreme_of(w, HN_TIES_BEST, c, m))));
        }
    return rows;
}

static void note_own_text(struct hn_context *ctx, const struct work *w) {
    if (w->e.own_text > 0 && w->miner.o.self == HN_SELF_NONE)
        hn_note(ctx,
                "a passage with the query's own text, not relevant by %s, is ranked for %s: "
                "--self text leaves it out",
                w->by, hn_counted(w->e.own_text, "query").text);
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
                w->e.convention == HN_CONVENTION_TREC
                    ? "the descending order of ids, as trec_eval has it"
                    : "the mean over all orders");
}

static enum hn_code print_values(struct hn_context *ctx, const struct work *w, bool json) {
    struct hn_record_column columns[] = {{"metric", "metric", -8}, {"k", "k", 6},
                                         {"value", "mean", 8, 4},  {"lo", "95 % from", 9, 4},
                                         {"hi", "to", 8, 4},       {"worst", "worst order", 11, 4},
                                         {"best", "best", 8, 4},   {NULL}};
    json_t *rows = rows_of(w);
    int64_t left_out = w->miner.data.rows[HN_QUERIES].rows - w->e.queries;
    double spread;
    int c, m;
    find_spread(w, &spread, &c, &m);
    if (spread <= 0)
        columns[5].heading = columns[6].heading = NULL;
    if (json)
        return hn_json_print(
            ctx,
            json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "file",
                      hn_json_text(w->corpus.info->file->path), "by", w->by, "convention",
                      hn_convention_name[w->p->convention], "self", hn_mine_self[w->miner.o.self],
                      "queries", (json_int_t)w->e.queries, "queries_left_out", (json_int_t)left_out,
                      "queries_own_text", (json_int_t)w->e.own_text, "values", rows),
            stdout);
    printf("%s: by %s, convention %s, over %s", w->corpus.info->file->path, w->by,
           hn_convention_name[w->p->convention], hn_counted(w->e.queries, "query").text);
    if (left_out > 0)
        printf("; %lld without a relevant passage left out", (long long)left_out);
    printf("\n");
    hn_records_print(columns, rows, stdout);
    json_decref(rows);
    return HN_OK;
}

static enum hn_code run_evaluate(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    hn_host_limit_memory(ctx, w.p->memory ? w.p->memory : hn_host_memory(), 1);
    if (hn_blas_open(ctx))
        return ctx->code;
    enum hn_code code = evaluate_file(ctx, &w, call->args[0]);
    if (!code && w.p->per_query)
        code = write_queries(ctx, &w);
    if (!code) {
        note_own_text(ctx, &w);
        note_ties(ctx, &w);
        code = print_values(ctx, &w, call->json);
    }
    hn_corpus_close(ctx, &w.corpus);
    return code;
}

const struct hn_command hn_cmd_evaluate = {
    .name = "evaluate",
    .group = HN_GROUP_RETRIEVAL,
    .usage = "hardneg evaluate FILE [--k K,...] [--convention expected|trec|st] [--by qrels|truth] "
             "[--per-query FILE]",
    .summary = "measure how well queries find their relevant passages",
    .details = "Ranks the whole corpus for each query and prints recall, hit, MRR, nDCG and MAP at "
               "each cutoff, with intervals over the queries. Queries without a relevant passage "
               "are left out and counted. Passages of equal score have no order: values are means "
               "over all of their orders, with the worst and the best in a note. Intervals lie in "
               "[0, 1].",
    .examples = "hardneg evaluate r.h5 --k 10,100\n"
                "hardneg evaluate r.h5 --k 10 --per-query queries.tsv",
    .options = evaluate_options,
    .params_size = sizeof(struct evaluate_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_evaluate};
