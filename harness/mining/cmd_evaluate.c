// `hardneg evaluate`: how well a ranking finds what is relevant.
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/mining/mining.h"
#include "results/records.h"

#include <stdlib.h>

enum { CUTOFFS_MAX = 16 };

static const char *const convention_names[] = {"trec", "st", NULL};
static const char *const by_names[] = {"auto", "qrels", "truth", NULL};
enum { BY_AUTO, BY_QRELS, BY_TRUTH };

struct evaluate_params {
    char *k;
    int convention, by, self;
    int64_t step, threads, memory;
};

static const struct hn_option evaluate_options[] = {
    {HN_TEXT_OPTION(struct evaluate_params, k, "k",
                    "cutoffs, with commas between them (default: 1,10,100)"),
     .metavar = "K,..."},
    {HN_CHOICE_OPTION(struct evaluate_params, convention, "convention", "trec", convention_names,
                      "trec: grades are gains, MAP is over all relevant passages; st: gains of 0 "
                      "and 1, MAP over min(k, relevant), as sentence-transformers has it"),
     .metavar = "WHICH"},
    {HN_CHOICE_OPTION(struct evaluate_params, by, "by", "auto", by_names,
                      "relevance to measure by; auto: /truth where the file has it"),
     .metavar = "WHICH"},
    {HN_CHOICE_OPTION(struct evaluate_params, self, "self", "none", hn_mine_self + 1,
                      "leave out the passage that is the query itself, unless it is relevant: by "
                      "text, id (as BEIR does), both, or none"),
     .metavar = "BY"},
    {HN_STEP_OPTION(struct evaluate_params)},
    {HN_THREADS_OPTION(struct evaluate_params, "; the values do not depend on them")},
    {HN_MEMORY_OPTION(struct evaluate_params, " (default: what the machine has)")},
    {0},
};

struct work {
    const struct evaluate_params *p;
    struct hn_corpus corpus;
    const struct hn_qrels *qrels;
    const char *by;
    int64_t k[CUTOFFS_MAX];
    int n_k;
    int64_t deepest, queries, left_out;
    struct hn_selves self;
    int64_t depth;    // deepest, and the passages that may be left out
    int64_t own_text; // queries that rank a passage of their text, which is not relevant to them
    double *value;    // [n_k x HN_RETRIEVAL_METRICS x all queries] of those with a value, first
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
        w->deepest = hn_max(w->deepest, k);
        if (!*end)
            return HN_OK;
        at = end;
    }
}

static enum hn_code pick_relevance(struct hn_context *ctx, struct work *w, const char *path) {
    bool truth =
        w->p->by == BY_TRUTH || (w->p->by == BY_AUTO && w->corpus.data.truth.start != NULL);
    w->qrels = truth ? &w->corpus.data.truth : &w->corpus.data.qrels;
    w->by = truth ? "/truth" : "/qrels";
    return w->qrels->start ? HN_OK
                           : hn_fail(ctx, HN_DATA, "%s: has no %s to measure by", path, w->by);
}

static double *values_of(const struct work *w, int cutoff, int metric) {
    return w->value + (cutoff * HN_RETRIEVAL_METRICS + metric) * w->qrels->n;
}

// Drops the query itself from its ranking of n passages, and counts queries with their own text.
static int64_t drop_self(struct work *w, int64_t query, int32_t *id, int64_t n) {
    int64_t kept = 0;
    bool own = false;
    for (int64_t i = 0; i < n; i++) {
        int64_t e = hn_qrels_find(w->qrels, query, id[i]);
        bool relevant = e >= 0 && w->qrels->grade[e] > 0;
        own |= !relevant && i < w->deepest && hn_is_own_text(&w->self, query, id[i]);
        if (relevant || !hn_is_self(&w->self, query, id[i]))
            id[kept++] = id[i];
    }
    w->own_text += own;
    return kept;
}

static enum hn_code add_part(struct hn_context *ctx, struct work *w, int64_t from, int64_t count) {
    const struct hn_matrix *all = &w->corpus.data.rows[HN_QUERIES];
    const struct hn_matrix q = {hn_row(all, from), count, all->cols, all->stride};
    struct hn_ranking r;
    double value[HN_RETRIEVAL_METRICS];
    HN_SCOPE(ctx);
    double *gain = hn_alloc(ctx, w->corpus.info->n[HN_CORPUS], sizeof *gain);
    if (!gain || hn_check_stop(ctx) ||
        hn_ranking_run(ctx, &q, &w->corpus.data.rows[HN_CORPUS], w->depth, &r))
        return ctx->code;
    for (int64_t i = 0; i < count; i++) {
        int64_t kept = drop_self(w, from + i, r.id + i * r.kept, r.kept);
        bool good = true;
        for (int c = 0; c < w->n_k && good; c++) {
            good = hn_evaluate_row(w->qrels, from + i, r.id + i * r.kept, kept, w->k[c],
                                   (enum hn_convention)w->p->convention, gain, value);
            for (int m = 0; m < HN_RETRIEVAL_METRICS && good; m++)
                values_of(w, c, m)[w->queries] = value[m];
        }
        w->queries += good;
        w->left_out += !good;
    }
    return HN_OK;
}

static enum hn_code evaluate_file(struct hn_context *ctx, struct work *w, const char *path) {
    if (read_cutoffs(ctx, w) || hn_corpus_open(ctx, path, w->p->step, NULL, &w->corpus) ||
        pick_relevance(ctx, w, path))
        return ctx->code;
    int64_t n = w->qrels->n, size = n * w->n_k * HN_RETRIEVAL_METRICS;
    const struct hn_matrix *p = &w->corpus.data.rows[HN_CORPUS];
    if (hn_selves_open(ctx, &w->corpus.data, (enum hn_self)(w->p->self + HN_SELF_NONE), &w->self))
        return ctx->code;
    w->depth = w->deepest + w->self.max;
    int64_t part = hn_ranking_rows(n, p, w->depth);
    if (!HN_ALLOC(ctx, w->value, size))
        return ctx->code;
    for (int64_t from = 0; from < n; from += part)
        if (add_part(ctx, w, from, hn_min(part, n - from)))
            return ctx->code;
    return HN_OK;
}

static json_t *rows_of(const struct work *w) {
    json_t *rows = json_array();
    for (int c = 0; c < w->n_k; c++)
        for (int m = 0; m < HN_RETRIEVAL_METRICS; m++) {
            struct hn_interval v = hn_share_interval(values_of(w, c, m), w->queries, 0.95);
            json_array_append_new(
                rows, json_pack("{s:s, s:I, s:o, s:o, s:o}", "metric", hn_retrieval_metric_name[m],
                                "k", (json_int_t)w->k[c], "value", hn_json_real(v.mean), "lo",
                                hn_json_real(v.lo), "hi", hn_json_real(v.hi)));
        }
    return rows;
}

static void note_own_text(struct hn_context *ctx, const struct work *w) {
    if (w->own_text > 0 && w->p->self == 0)
        hn_note(ctx,
                "a passage with the query's own text, not relevant by %s, is ranked for %s: "
                "--self text leaves it out",
                w->by, hn_counted(w->own_text, "query").text);
}

static enum hn_code print_values(struct hn_context *ctx, const struct work *w, bool json) {
    static const struct hn_record_column columns[] = {
        {"metric", "metric", -8},  {"k", "k", 6},      {"value", "mean", 8, 4},
        {"lo", "95 % from", 9, 4}, {"hi", "to", 8, 4}, {NULL}};
    json_t *rows = rows_of(w);
    if (json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "file",
                                       hn_json_text(w->corpus.info->file->path), "by", w->by,
                                       "convention", convention_names[w->p->convention], "self",
                                       hn_mine_self[w->p->self + 1], "queries",
                                       (json_int_t)w->queries, "queries_left_out",
                                       (json_int_t)w->left_out, "queries_own_text",
                                       (json_int_t)w->own_text, "values", rows),
                             stdout);
    printf("%s: by %s, convention %s, over %s", w->corpus.info->file->path, w->by,
           convention_names[w->p->convention], hn_counted(w->queries, "query").text);
    if (w->left_out > 0)
        printf("; %lld without a relevant passage left out", (long long)w->left_out);
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
    if (!code) {
        note_own_text(ctx, &w);
        code = print_values(ctx, &w, call->json);
    }
    hn_corpus_close(ctx, &w.corpus);
    return code;
}

const struct hn_command hn_cmd_evaluate = {
    .name = "evaluate",
    .group = HN_GROUP_RETRIEVAL,
    .usage = "hardneg evaluate FILE [--k K,...] [--convention trec|st] [--by qrels|truth]",
    .summary = "measure how well queries find their relevant passages",
    .details = "Ranks the whole corpus for each query and prints recall, hit, MRR, nDCG and MAP at "
               "each cutoff, with intervals over the queries. Queries without a relevant passage "
               "are left out and counted. Equal scores: the lower index comes first. Intervals lie "
               "in [0, 1].",
    .examples = "hardneg evaluate r.h5 --k 10,100",
    .options = evaluate_options,
    .params_size = sizeof(struct evaluate_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_evaluate};
