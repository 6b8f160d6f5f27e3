// `hardneg mine`: hard negatives of queries over a corpus, and where candidates were lost.
#include "core/sweep/blas.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/host/progress.h"
#include "harness/mining/corpus.h"
#include "harness/mining/output.h"
#include "results/records.h"
#include "retrieval/mine_options.h"
#include "retrieval/ranking.h"

struct mine_params {
    struct hn_mine_options o;
    char *output, *scores;
    int format;
    int64_t step, threads, memory;
};

static const struct hn_option mine_options[] = {
    HN_MINE_OPTIONS(struct mine_params, o.),
    {HN_INT_OPTION(struct mine_params, step, "step", NULL, 0, INFINITY,
                   "step of the series (default: the last)"),
     .letter = 's', .metavar = "STEP"},
    {HN_CHOICE_OPTION(struct mine_params, format, "format", "auto", hn_mine_formats,
                      "format of the file; auto: by its name (.jsonl, .trec, .npy)"),
     .metavar = "FORMAT"},
    {HN_TEXT_OPTION(struct mine_params, scores, "scores", "with .npy: file of the scores"),
     .metavar = "FILE"},
    {HN_THREADS_OPTION(struct mine_params, "; the file does not depend on them")},
    {HN_MEMORY_OPTION(struct mine_params, " (default: what the machine has)")},
    {HN_OUTPUT_OPTION(struct mine_params, "FILE", "file of the negatives")},
    {0},
};

// Everything that is open while negatives are mined.
struct work {
    const struct mine_params *p;
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_mine_output file;
    struct hn_mined sum; // attrition and counts
    int64_t queries, negatives;
};

static enum hn_code mine_part(struct hn_context *ctx, struct work *w, int64_t from, int64_t count) {
    struct hn_pool pool;
    HN_SCOPE(ctx);
    if (hn_check_stop(ctx) || hn_miner_pool(ctx, &w->miner, from, count, &pool) ||
        hn_miner_take(ctx, &w->miner, &pool, &w->sum))
        return ctx->code;
    for (int64_t i = 0; i < count; i++)
        w->negatives += w->sum.n[i];
    hn_own(ctx, scope.outer); // arrays of the file stay
    return hn_mine_output_add(ctx, &w->file, from, &w->sum);
}

static enum hn_code mine_all(struct hn_context *ctx, struct work *w, bool quiet) {
    const struct hn_matrix *p = &w->miner.data.rows[HN_CORPUS];
    int64_t part = hn_ranking_rows(w->queries, p, w->miner.o.depth);
    struct hn_progress progress;
    enum hn_code code = HN_OK;
    hn_progress_begin(&progress, w->queries, 0, quiet);
    progress.unit = "queries";
    for (int64_t from = 0; from < w->queries && !code; from += part) {
        int64_t count = hn_min(part, w->queries - from);
        hn_progress_show(&progress, "mining");
        code = mine_part(ctx, w, from, count);
        progress.done += count;
    }
    hn_progress_end(&progress);
    return code;
}

// Texts are large, and not all formats have them.
static enum hn_code read_texts(struct hn_context *ctx, struct work *w) {
    bool wanted = w->file.format != HN_MINE_NPY && w->file.format != HN_MINE_TREC;
    for (int side = 0; side < HN_SETS && wanted; side++)
        if (hn_retrieval_texts(ctx, w->corpus.file, side, &w->file.text[side]))
            return ctx->code;
    return HN_OK;
}

static enum hn_code mine_file(struct hn_context *ctx, struct work *w, const char *path,
                              bool quiet) {
    const struct mine_params *p = w->p;
    if (hn_corpus_open(ctx, path, p->step, &w->corpus) ||
        hn_miner_open(ctx, &w->corpus.data, &p->o, path, &w->miner))
        return ctx->code;
    w->queries = w->corpus.info->n[HN_QUERIES];
    if (hn_mine_output_begin(ctx, p->output, p->scores, (enum hn_mine_format)p->format, w->queries,
                             &w->file))
        return ctx->code;
    w->file.id = w->corpus.id;
    w->file.miner = &w->miner;
    w->file.n = w->miner.o.n;
    enum hn_code code = read_texts(ctx, w);
    return hn_mine_output_end(ctx, &w->file, code ? code : mine_all(ctx, w, quiet));
}

static double share_of(int64_t part, int64_t all) {
    return all > 0 ? (double)part / (double)all : NAN;
}

static json_t *attrition_list(const struct work *w) {
    bool truth = w->miner.truth.start != NULL;
    const struct hn_attrition *a = &w->sum.attrition;
    json_t *list = json_array();
    for (int s = 0; s < HN_STAGES; s++)
        if (a->all[s] > 0 || s == HN_STAGE_KEPT)
            json_array_append_new(
                list, json_pack("{s:s, s:I, s:I, s:o}", "stage", hn_stage_name[s], "candidates",
                                (json_int_t)a->all[s], "known", (json_int_t)a->known[s], "hidden",
                                truth ? json_integer(a->hidden[s]) : json_null()));
    return list;
}

static enum hn_code print_summary(struct hn_context *ctx, const struct work *w, bool json) {
    static const struct hn_record_column columns[] = {{"stage", "lost to", -16},
                                                      {"candidates", "candidates", 12},
                                                      {"known", "known positives", 15},
                                                      {"hidden", "hidden positives", 16},
                                                      {NULL}};
    const struct hn_attrition *a = &w->sum.attrition;
    bool truth = w->miner.truth.start != NULL;
    double share = truth ? share_of(a->hidden[HN_STAGE_KEPT], a->all[HN_STAGE_KEPT]) : NAN;
    json_t *list = attrition_list(w);
    if (json)
        return hn_json_print(
            ctx,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "file", w->p->output,
                      "queries", (json_int_t)w->queries, "wanted", (json_int_t)w->miner.o.n,
                      "negatives", (json_int_t)w->negatives, "queries_with_fewer",
                      (json_int_t)w->sum.fewer, "queries_with_none", (json_int_t)w->sum.none,
                      "drawn_to_fill", (json_int_t)w->sum.drawn, "queries_left_out",
                      (json_int_t)w->file.left_out, "false_negatives", hn_json_real(share),
                      "attrition", list),
            stdout);
    hn_records_print(columns, list, stdout);
    json_decref(list);
    printf("\n%s: %lld negatives of %lld queries; filters left fewer than %lld to %lld of them, "
           "none to %lld",
           w->p->output, (long long)w->negatives, (long long)w->queries, (long long)w->miner.o.n,
           (long long)w->sum.fewer, (long long)w->sum.none);
    if (w->sum.drawn > 0)
        printf("; %lld were drawn to fill up", (long long)w->sum.drawn);
    if (w->file.left_out > 0)
        printf("; %lld queries without a positive or a negative are not in the file",
               (long long)w->file.left_out);
    if (truth)
        printf("; %.2f %% of those that filters left are false negatives", 100 * share);
    printf("\n");
    return HN_OK;
}

static enum hn_code run_mine(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    if (!w.p->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the file to write");
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    hn_host_limit_memory(ctx, w.p->memory ? w.p->memory : hn_host_memory());
    if (hn_blas_open(ctx))
        return ctx->code;
    enum hn_code code = mine_file(ctx, &w, call->args[0], call->quiet);
    if (!code && (call->json || !call->quiet))
        code = print_summary(ctx, &w, call->json);
    hn_corpus_close(ctx, &w.corpus);
    return code;
}

const struct hn_command hn_cmd_mine = {
    .name = "mine",
    .usage = "hardneg mine FILE [--preset TOOL] [-n N] [--min-rank R] [--max-rank R] "
             "[--relative-margin SHARE] ... -o FILE",
    .summary = "mine hard negatives of queries over a corpus",
    .details =
        "For each query the best --depth passages are filtered, in this order: known positives and "
        "passages of their text; the query itself; texts of a better passage; ranks; margins; "
        "bounds; the guide. Bounds themselves stay in. Scores are cosines in double, equal ones by "
        "the lower index. The table says what each filter took away, how many of that were known "
        "positives, and, where the file has /truth, hidden ones: those among what is kept are "
        "false "
        "negatives. Presets reproduce sentence-transformers' mine_hard_negatives (negatives 3, "
        "ranks of survivors, comparisons in float), FlagEmbedding's hn_mine (15 drawn from ranks "
        "11 "
        "to 210 of all) and Tevatron's (the best 100 but for positives). Formats: jsonl has query, "
        "pos and neg with ids and scores; triplet, n-tuple, labeled-pair and labeled-list are "
        "those "
        "of sentence-transformers, an object a line; trec a run; npy indices, -1 where there are "
        "fewer. The same file, options and seed give the same bytes for any number of threads.",
    .examples =
        "hardneg mine r.h5 -o negatives.jsonl\n"
        "hardneg mine r.h5 --min-rank 11 --max-rank 60 -n 5 --take draw -o negatives.jsonl\n"
        "hardneg mine r.h5 --preset sentence-transformers --relative-margin 0.05 -n 5 "
        "--format triplet -o triplets.jsonl\n"
        "hardneg mine r.h5 -o negatives.npy --scores scores.npy",
    .options = mine_options,
    .params_size = sizeof(struct mine_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_mine};
