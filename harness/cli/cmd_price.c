// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg price`: what rank windows, margins, ceilings and guides cost in false negatives.
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/mining/corpus.h"
#include "harness/mining/price_work.h"
#include "harness/mining/scores.h"
#include "results/records.h"
#include "retrieval/miner.h"
#include "retrieval/population.h"
#include "retrieval/price.h"
#include "retrieval/recommend.h"

#include <string.h>

static const struct hn_option price_options[] = {
    {HN_INT_OPTION(struct hn_price_params, o.n, "negatives", NULL, 1, 1 << 20,
                   "negatives of a query (default: 10)"),
     .letter = 'n', .metavar = "N"},
    {HN_INT_OPTION(struct hn_price_params, o.depth, "depth", NULL, 1, INT32_MAX,
                   "passages of each query that are looked at (default: 200)"),
     .metavar = "K"},
    {HN_TEXT_OPTION(struct hn_price_params, mine, "for",
                    "price what mine would write with these options alone; with --max-fn and "
                    "--judged: exit code 0: shown to be within it, 1: above it, 5: judge more"),
     .metavar = "\"MINE OPTIONS\""},
    {HN_TEXT_OPTION(struct hn_price_params, certificate, "certificate",
                    "with --for: write it to this file once it is shown"),
     .metavar = "FILE", .writes = true},
    {HN_INT_OPTION(struct hn_price_params, sheet, "sheet", NULL, 1, INT32_MAX,
                   "number of pairs to draw for judging; writes them to --output"),
     .metavar = "N"},
    {HN_OUTPUT_OPTION(struct hn_price_params, "FILE",
                      "results file for report and plot; or the sheet that --sheet writes")},
    {HN_INT_OPTION(struct hn_price_params, trials, "trials", NULL, 1, 1 << 20,
                   "with /truth: draw so many sheets of --sheet N pairs, fill them in from /truth, "
                   "and show how good their estimates are"),
     .metavar = "R"},
    {HN_LIST_OPTION(struct hn_price_params, judged, "judged",
                    "estimate false negatives from this sheet, filled in; may be given again"),
     .metavar = "FILE"},
    {HN_LIST_OPTION(struct hn_price_params, add_scores, "add-scores",
                    "scores of pairs beside those of import --scores, as mine has it; may be given "
                    "again"),
     .metavar = "FILE"},
    {HN_INT_OPTION(struct hn_price_params, seed, "seed", "1", 0, INFINITY,
                   "seed of the sheet's draw and of the estimate's intervals"),
     .metavar = "S"},
    {HN_BOOL_OPTION(
        struct hn_price_params, recommend, "recommend", NULL,
        "name the hardest setting that is shown to be within --max-fn; exit code 5: none is")},
    {HN_REAL_OPTION(struct hn_price_params, max_fn, "max-fn", NULL, 0, 1,
                    "maximum share of false negatives"),
     .metavar = "SHARE"},
    {HN_REAL_OPTION(struct hn_price_params, max_none, "max-none", "0.1", 0, 1,
                    "maximum share of queries without any negative"),
     .metavar = "SHARE"},
    HN_RELEVANCE_OPTIONS(struct hn_price_params, o., "text"),
    {HN_STEP_OPTION(struct hn_price_params)},
    {HN_DIM_OPTION(struct hn_price_params)},
    {HN_THREADS_OPTION(struct hn_price_params, "; the values do not depend on them")},
    {HN_CORPUS_MEMORY_OPTION(struct hn_price_params)},
    {0},
};

static bool is_by(const struct hn_price_work *w, const char *source) {
    return strcmp(w->by, source) == 0;
}

static enum hn_code draw_sheet(struct hn_context *ctx, const struct hn_price_work *w) {
    int64_t n = w->p->sheet;
    struct hn_pair_at *pair = hn_alloc(ctx, n, sizeof *pair);
    struct hn_sheet_row *row = hn_alloc(ctx, n, sizeof *row);
    if (!pair || !row || hn_population_draw(ctx, &w->population, n, (uint64_t)w->p->seed, pair))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = pair[i].query * w->pool.width + pair[i].position;
        row[i] = (struct hn_sheet_row){
            .number = i + 1,
            .query = pair[i].query,
            .passage = w->miner.passage ? w->miner.passage[w->pool.id[k]] : w->pool.id[k],
            .probability = hn_population_probability(&w->population, w->population.rank[k])};
    }
    return hn_sheet_write(ctx, &w->corpus, row, n, w->p->output);
}

// Chooses the source of false negatives: sheets before /truth, so that an estimate can be compared
// with it.
static enum hn_code prepare(struct hn_context *ctx, struct hn_price_work *w) {
    w->by = w->p->judged.count ? "judged" : w->corpus.data.truth.start ? "truth" : "ranks";
    if (is_by(w, "truth"))
        return HN_OK;
    if (hn_sheets_read(ctx, &w->corpus, &w->miner, &w->population, &w->p->judged, &w->sheets))
        return ctx->code;
    if (w->p->judged.count && w->sheets.n == 0)
        return hn_fail(ctx, HN_DATA, "%s: has no judged pair", w->p->judged.item[0]);
    return hn_estimate_open(ctx, &w->miner, &w->population, w->sheets.verdict, w->sheets.n,
                            (uint64_t)w->p->seed, &w->estimate);
}

static enum hn_code price_pool(struct hn_context *ctx, struct hn_price_work *w) {
    double *best = hn_alloc(ctx, w->pool.count, sizeof *best);
    if (!best)
        return ctx->code;
    w->n = hn_price_settings(&w->miner, &w->pool, best, w->setting);
    if (w->p->trials > 0)
        return w->corpus.data.truth.start
                   ? hn_trials_run(ctx, w)
                   : hn_fail(ctx, HN_DATA,
                             "%s: has no /truth, which --trials compares estimates with: import "
                             "--truth",
                             w->corpus.info->file->path);
    if (prepare(ctx, w) ||
        hn_price_run(ctx, &w->miner, &w->pool, is_by(w, "truth") ? NULL : &w->estimate, w->setting,
                     w->n, w->price))
        return ctx->code;
    if (w->p->recommend)
        w->recommended = hn_price_recommend(w->price, w->n, w->p->max_fn, w->p->max_none, w->tie);
    return w->recommended < 0
               ? HN_OK
               : hn_price_ties(ctx, &w->miner, &w->pool, w->price, w->n, w->recommended, w->tie);
}

enum hn_code hn_price_open(struct hn_context *ctx, struct hn_price_work *w, const char *path) {
    const char *digest;
    return hn_corpus_open(ctx, path, w->p->step, NULL, &w->corpus) ||
                   hn_corpus_cut(ctx, w->p->dim, &w->corpus) ||
                   hn_scores_add(ctx, &w->corpus, &w->p->add_scores, false, &digest)
               ? ctx->code
               : HN_OK;
}

static enum hn_code price_file(struct hn_context *ctx, struct hn_price_work *w, const char *path) {
    struct hn_mine_options o;
    if (hn_relevance_options(ctx, &w->p->o, &o) || hn_price_open(ctx, w, path))
        return ctx->code;
    o.n = hn_given(w->p->o.n, 10);
    o.depth = hn_given(w->p->o.depth, 200);
    if (w->corpus.data.teacher[0].data || w->corpus.data.scores.start)
        o.guide = 0;
    if (hn_miner_open(ctx, &w->corpus.data, &o, path, &w->miner) ||
        hn_miner_pool(ctx, &w->miner, 0, w->corpus.info->n[HN_QUERIES], true, &w->pool) ||
        hn_population_build(ctx, &w->pool, &w->population))
        return ctx->code;
    return w->p->sheet > 0 && w->p->output ? draw_sheet(ctx, w) : price_pool(ctx, w);
}

static json_t *rows_of(const struct hn_price_work *w) {
    json_t *rows = json_array();
    for (int i = 0; i < w->n; i++) {
        const struct hn_price *p = &w->price[i];
        json_array_append_new(
            rows,
            json_pack("{s:s, s:s, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
                      "setting", hn_price_name(p).text, "family",
                      hn_price_option[p->setting.family], "value", p->setting.value, "negatives",
                      (json_int_t)p->negatives, "hardness", hn_json_real(p->hardness.mean),
                      "hardness_lo", hn_json_real(p->hardness.lo), "hardness_hi",
                      hn_json_real(p->hardness.hi), "false_negatives",
                      hn_json_real(p->false_share.mean), "false_lo",
                      hn_json_real(p->false_share.lo), "false_hi", hn_json_real(p->false_share.hi),
                      "model", hn_json_real(p->model), "fewer", hn_json_real(p->fewer), "none",
                      hn_json_real(p->none), "front", p->front ? "*" : ""));
    }
    return rows;
}

// Pairs beyond those that people judged, in round numbers; INFINITY: more than there are.
static double round_up(const struct hn_price_work *w, double pairs) {
    double more = pairs - (double)w->sheets.people, unit = pow(10, floor(log10(more)) - 1);
    return isinf(more) ? more : fmax(HN_VERDICTS_MIN, ceil(more / unit) * unit);
}

// Pairs that are to be judged until --recommend names a setting.
static struct hn_pairs_wanted pairs_wanted(const struct hn_price_work *w) {
    struct hn_pairs_wanted p =
        hn_price_pairs_wanted(w->price, w->n, (double)w->sheets.people, (double)w->population.pairs,
                              w->p->max_fn, w->p->max_none);
    return (struct hn_pairs_wanted){round_up(w, p.hoped), round_up(w, p.likely)};
}

static void print_ties(const struct hn_price_work *w) {
    for (int i = 0, said = 0; i < w->n; i++)
        if (w->tie[i]) {
            const struct hn_price *p = &w->price[i];
            printf("%s%s: %.2f %%, hardness %.2f; %.1f %% get none.\n",
                   said++ ? "                          " : "Not significantly harder than ",
                   hn_price_name(p).text, 100 * p->false_share.mean, p->hardness.mean,
                   100 * p->none);
        }
}

static json_t *ties_of(const struct hn_price_work *w) {
    json_t *names = json_array();
    for (int i = 0; i < w->n; i++)
        if (w->tie[i])
            json_array_append_new(names, json_string(hn_price_name(&w->price[i]).text));
    return names;
}

// Exit code 5, so that a script can tell.
static enum hn_code fail_to_recommend(struct hn_context *ctx, const struct hn_price_work *w) {
    if (is_by(w, "ranks"))
        return hn_fail(ctx, HN_NOTHING,
                       "nothing shows a setting with at most %g %% false negatives: without judged "
                       "pairs there is no interval; draw some with --sheet",
                       100 * w->p->max_fn);
    return hn_fail(ctx, HN_NOTHING,
                   "no setting is shown to have at most %g %% false negatives and at most %g %% of "
                   "the queries empty",
                   100 * w->p->max_fn, 100 * w->p->max_none);
}

static void print_wanted(const struct hn_price_work *w) {
    if (is_by(w, "truth"))
        return;
    struct hn_pairs_wanted p = pairs_wanted(w);
    bool judged = w->sheets.n > 0;
    double percent = 100 * w->p->max_fn;
    if (isinf(judged ? p.hoped : p.likely))
        printf("\nBy the estimates the %lld pairs that there are would not show a setting with at "
               "most %g %% false negatives.\n",
               (long long)w->population.pairs, percent);
    else if (isinf(p.likely))
        printf("\nSome %.0f more judged pairs would show a setting with at most %g %% false "
               "negatives, if shares are as low as counted so far, which %lld pairs are too few to "
               "tell (draw them with --sheet and another --seed).\n",
               p.hoped, percent, (long long)w->sheets.people);
    else
        printf(
            "\nWith some %.0f %sjudged pairs a setting would be shown to have at most %g %% false "
            "negatives four times in five, if the %s (draw them with --sheet%s).\n",
            p.likely, judged ? "more " : "", percent,
            judged ? "estimates hold" : "rank model holds", judged ? " and another --seed" : "");
}

static void print_recommended(const struct hn_price_work *w) {
    const struct hn_price *p = &w->price[w->recommended];
    printf("\nThe hardest that is shown to have at most %g %% false negatives: %.2f %% [%.2f, "
           "%.2f], hardness %.2f; %.1f %% of the queries get none. At most one sample in twenty "
           "leads to a setting above the limit, all settings together.\n",
           100 * w->p->max_fn, 100 * p->false_share.mean, 100 * p->false_share.lo,
           100 * p->false_share.hi, p->hardness.mean, 100 * p->none);
    print_ties(w);
    hn_price_command(stdout, w, "mine");
    printf(" %s -o negatives.jsonl\n", hn_price_name(p).text);
}

// Ends a sentence about the pairs of the sheets.
static void print_decided(const struct hn_price_work *w) {
    if (w->population.decided > 0)
        printf("; %lld more were judged not relevant before and need no verdict",
               (long long)w->population.decided);
    printf(".");
}

static void print_source(const struct hn_price_work *w) {
    if (is_by(w, "truth"))
        printf("by /truth.");
    else if (is_by(w, "judged")) {
        printf("estimated from %lld judged pairs", (long long)w->sheets.people);
        if (w->sheets.answered > 0)
            printf(" and %lld that %s judged, whose errors these show",
                   (long long)w->sheets.answered, w->sheets.models);
        printf(" (b = %.2f)", w->estimate.slope);
        print_decided(w);
    } else
        printf(
            "by the rank model alone, since no pair is judged: it takes each query to have as many "
            "hidden positives as known ones, at the ranks where known ones are, and has no "
            "interval. Judge some: --sheet 300 -o sheet.tsv.");
}

static enum hn_code print_prices(struct hn_context *ctx, const struct hn_price_work *w, bool json) {
    struct hn_record_column columns[] = {{"setting", "setting", -24},
                                         {"hardness", "hardness", 8, 2},
                                         {"false_negatives", "false, %", 8, 3, 100},
                                         {"false_lo", "95 % from", 9, 3, 100},
                                         {"false_hi", "to", 7, 3, 100},
                                         {"fewer", "fewer, %", 8, 1, 100},
                                         {"none", "none, %", 7, 1, 100},
                                         {"front", "front", -5},
                                         {"model", "model, %", 8, 3, 100}, // of judged pairs alone
                                         {NULL}};
    json_t *rows = rows_of(w);
    if (!is_by(w, "judged"))
        columns[8].heading = NULL;
    struct hn_pairs_wanted more = {0};
    if (w->p->recommend && w->recommended < 0 && !is_by(w, "truth"))
        more = pairs_wanted(w);
    if (json)
        return hn_json_print(
            ctx,
            json_pack("{s:o, s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o}",
                      "file", hn_json_text(w->corpus.info->file->path), "by", w->by, "judged",
                      (json_int_t)w->sheets.people, "answered", (json_int_t)w->sheets.answered,
                      "models", w->sheets.models ? w->sheets.models : "", "queries",
                      (json_int_t)w->corpus.info->n[HN_QUERIES], "decided",
                      (json_int_t)w->population.decided, "negatives", (json_int_t)w->miner.o.n,
                      "depth", (json_int_t)w->miner.o.depth, "recommended",
                      w->recommended < 0 ? "" : hn_price_name(&w->price[w->recommended]).text,
                      "ties", ties_of(w), "pairs_wanted", hn_json_real(more.likely), "pairs_hoped",
                      hn_json_real(more.hoped), "settings", rows),
            stdout);
    printf("%s: %s of each of %s; false ones ", w->corpus.info->file->path,
           hn_counted(w->miner.o.n, "negative").text,
           hn_counted(w->corpus.info->n[HN_QUERIES], "query").text);
    print_source(w);
    printf(" Hardness: score above the query's far candidates, in deviations. fewer, none: "
           "queries with fewer than %lld, without any. *: no other setting is harder with fewer "
           "false ones.%s\n\n",
           (long long)w->miner.o.n,
           is_by(w, "judged") ? " model: by its predictions alone, biased where it is wrong." : "");
    hn_records_print(columns, rows, stdout);
    json_decref(rows);
    if (w->recommended >= 0)
        print_recommended(w);
    else if (w->p->recommend)
        print_wanted(w);
    return HN_OK;
}

static enum hn_code check_for(struct hn_context *ctx, const struct hn_price_params *p) {
    if (p->o.n != INT64_MIN || p->o.depth != INT64_MIN || hn_relevance_is_given(&p->o) ||
        p->recommend || p->trials > 0)
        return hn_fail(ctx, HN_USAGE,
                       "--for prices one setting: give -n and --depth within it, as all options of "
                       "mine, and leave out --recommend and --trials");
    if ((p->sheet > 0) != (p->output != NULL))
        return hn_fail(ctx, HN_USAGE, "--for: --sheet N and --output go together");
    if (p->certificate && (!p->judged.count || isnan(p->max_fn)))
        return hn_fail(ctx, HN_USAGE, "--certificate needs --judged and --max-fn");
    return HN_OK;
}

static enum hn_code check_options(struct hn_context *ctx, const struct hn_price_params *p) {
    if (p->mine)
        return check_for(ctx, p);
    if (p->certificate)
        return hn_fail(ctx, HN_USAGE, "--certificate goes with --for");
    if (p->recommend && isnan(p->max_fn))
        return hn_fail(ctx, HN_USAGE, "--recommend needs --max-fn, the share to stay within");
    if (p->trials > 0 && (p->sheet < HN_VERDICTS_MIN || p->output))
        return hn_fail(ctx, HN_USAGE,
                       "--trials goes with --sheet N, of %d pairs at least, and without --output",
                       HN_VERDICTS_MIN);
    if (p->trials < 1 && p->sheet > 0 && !p->output)
        return hn_fail(ctx, HN_USAGE,
                       "--sheet needs --output, the file for the pairs that are drawn");
    if (p->sheet > 0 && (p->judged.count || p->recommend))
        return hn_fail(ctx, HN_USAGE,
                       "--sheet only draws pairs; give --judged and --recommend in a "
                       "call of their own");
    return HN_OK;
}

static enum hn_code print_sheet(struct hn_context *ctx, const struct hn_price_work *w, bool json) {
    if (json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:I, s:I, s:I}", "file", hn_json_text(w->p->output),
                                       "pairs", (json_int_t)w->p->sheet, "of",
                                       (json_int_t)w->population.pairs, "decided",
                                       (json_int_t)w->population.decided),
                             stdout);
    printf("%s: %s of %lld", w->p->output, hn_counted(w->p->sheet, "pair").text,
           (long long)w->population.pairs);
    print_decided(w);
    printf(" Write 1 into the column relevant if the passage answers the query, else 0; then\n");
    hn_price_command(stdout, w, "price");
    printf(" --judged ");
    hn_price_path(stdout, w->p->output);
    printf("\n");
    return HN_OK;
}

// Before what may take minutes. Results that were meant as a sheet (--sheet is missing) replace no
// judgements either.
static enum hn_code check_replaced(struct hn_context *ctx, const struct hn_price_params *p) {
    enum hn_code code = p->output ? hn_sheet_check_replaced(ctx, p->output, p->sheet > 0) : HN_OK;
    return !code && p->certificate ? hn_sheet_check_replaced(ctx, p->certificate, false) : code;
}

static enum hn_code run_price(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_price_work w = {.p = call->params, .recommended = -1, .quiet = call->quiet};
    if (check_options(ctx, w.p) || check_replaced(ctx, w.p))
        return ctx->code;
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    if (hn_host_limit_process(ctx, w.p->memory, 1) || hn_blas_open(ctx))
        return ctx->code;
    if (w.p->mine) {
        enum hn_code said = hn_certify_run(ctx, &w, call->args[0], call->json);
        hn_corpus_close(ctx, &w.corpus);
        return said;
    }
    enum hn_code code = price_file(ctx, &w, call->args[0]);
    if (!code && w.p->sheet < 1 && w.p->output)
        code = hn_price_store(ctx, &w, call->line);
    if (!code && w.p->trials > 0)
        code = hn_trials_print(ctx, &w, call->json);
    else if (!code && w.p->sheet < 1)
        code = print_prices(ctx, &w, call->json);
    else if (!code && (call->json || !call->quiet))
        code = print_sheet(ctx, &w, call->json);
    if (!code && w.p->recommend && w.recommended < 0)
        code = fail_to_recommend(ctx, &w);
    hn_corpus_close(ctx, &w.corpus);
    return code;
}

const struct hn_command hn_cmd_price = {
    .name = "price",
    .group = HN_GROUP_RETRIEVAL,
    .usage =
        "hardneg price FILE [-n N] [--depth K] [--judged FILE ...] [--recommend --max-fn SHARE] "
        "[-o RESULTS]\n"
        "hardneg price FILE --sheet N -o SHEET\n"
        "hardneg price FILE --sheet N --trials R\n"
        "hardneg price FILE --for \"MINE OPTIONS\" [--max-fn SHARE] [--judged FILE ...] [--sheet N "
        "-o "
        "SHEET] [--certificate FILE]",
    .summary = "show what mining settings cost in false negatives",
    .details =
        "For rank windows, relative and absolute margins, ceilings on the score, and guides where "
        "the file has a teacher or scores: how hard the negatives are that `mine` would take, the "
        "share of them that is false, and the share of queries that get too few or none. Ceilings "
        "are quantiles of the scores of the queries' best candidates. With /truth false negatives "
        "are counted, with intervals over queries. Without, judge some: --sheet draws pairs, more "
        "of them near the top, and writes them with their texts as a table between tabs; fill in "
        "the column relevant with 0 and 1. Sheets of several seeds are merged; several judges "
        "fill in copies, or further columns whose names begin with relevant. The estimate has next "
        "to no bias whatever was judged relevant; its intervals are bootstrapped over judged "
        "pairs. "
        "Without a sheet the ranks of the known positives alone say what may be expected. "
        "--recommend tests settings from the softest to the hardest, at 5 % together. "
        "--trials shows how good estimates and recommendations are on data whose relevance is "
        "known. `hardneg report "
        "RESULTS` draws the settings, what filters take and what is left of the queries.",
    .examples = "hardneg price r.h5 -o price.h5 && hardneg report price.h5 -o price.html\n"
                "hardneg price r.h5 --sheet 300 -o sheet.tsv\n"
                "hardneg price r.h5 --judged sheet.tsv --recommend --max-fn 0.02\n"
                "hardneg price known.h5 --sheet 300 --trials 200",
    .options = price_options,
    .params_size = sizeof(struct hn_price_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_price};
