// `hardneg price`: what rank windows, margins, ceilings and guides cost in false negatives.
#include "core/sweep/blas.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/mining/corpus.h"
#include "results/records.h"
#include "retrieval/price.h"

struct price_params {
    int64_t n, depth, step, threads, memory;
    double max_fn, max_none;
    bool recommend;
};

static const struct hn_option price_options[] = {
    {HN_INT_OPTION(struct price_params, n, "negatives", "10", 1, 1 << 20, "negatives of a query"),
     .letter = 'n', .metavar = "N"},
    {HN_INT_OPTION(struct price_params, depth, "depth", "200", 1, INT32_MAX,
                   "passages of each query that are looked at"),
     .metavar = "K"},
    {HN_BOOL_OPTION(struct price_params, recommend, "recommend", NULL,
                    "name the hardest setting within --max-fn")},
    {HN_REAL_OPTION(struct price_params, max_fn, "max-fn", NULL, 0, 1,
                    "most false negatives, as a share, at the upper end of the interval"),
     .metavar = "SHARE"},
    {HN_REAL_OPTION(struct price_params, max_none, "max-none", "0.1", 0, 1,
                    "most queries without any negative, as a share"),
     .metavar = "SHARE"},
    {HN_INT_OPTION(struct price_params, step, "step", NULL, 0, INFINITY,
                   "step of the series (default: the last)"),
     .letter = 's', .metavar = "STEP"},
    {HN_THREADS_OPTION(struct price_params, "; the values do not depend on them")},
    {HN_MEMORY_OPTION(struct price_params, " (default: what the machine has)")},
    {0},
};

struct work {
    const struct price_params *p;
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_price price[HN_PRICES_MAX];
    int n, recommended; // recommended: -1: none, or not asked for
};

static enum hn_code price_file(struct hn_context *ctx, struct work *w, const char *path) {
    struct hn_mine_options o = {.n = w->p->n,
                                .depth = w->p->depth,
                                .min_rank = INT64_MIN,
                                .max_rank = INT64_MIN,
                                .seed = 1,
                                .absolute_margin = NAN,
                                .relative_margin = NAN,
                                .max_score = NAN,
                                .min_score = NAN,
                                .guide = NAN};
    struct hn_price_setting setting[HN_PRICES_MAX];
    struct hn_pool pool;
    if (hn_corpus_open(ctx, path, w->p->step, &w->corpus))
        return ctx->code;
    if (!w->corpus.data.truth.start)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no /truth: complete relevance, for some queries at least, says "
                       "which negatives are false; import it with --truth",
                       path);
    if (w->corpus.data.teacher[0].data || w->corpus.data.scores.start)
        o.guide = 0;
    if (hn_miner_open(ctx, &w->corpus.data, &o, path, &w->miner) ||
        hn_miner_pool(ctx, &w->miner, 0, w->corpus.info->n[HN_QUERIES], &pool))
        return ctx->code;
    double *best = hn_alloc(ctx, pool.count, sizeof *best);
    if (!best)
        return ctx->code;
    w->n = hn_price_settings(&w->miner, &pool, best, setting);
    if (hn_price_run(ctx, &w->miner, &pool, setting, w->n, w->price))
        return ctx->code;
    w->recommended =
        w->p->recommend ? hn_price_recommend(w->price, w->n, w->p->max_fn, w->p->max_none) : -1;
    return HN_OK;
}

static void setting_text(const struct hn_price_setting *s, char *text, size_t size) {
    (void)snprintf(text, size, "--%s %g", hn_price_option[s->family], s->value);
}

static json_t *rows_of(const struct work *w) {
    json_t *rows = json_array();
    for (int i = 0; i < w->n; i++) {
        const struct hn_price *p = &w->price[i];
        char text[64];
        setting_text(&p->setting, text, sizeof text);
        json_array_append_new(
            rows,
            json_pack("{s:s, s:s, s:f, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
                      "setting", text, "family", hn_price_option[p->setting.family], "value",
                      p->setting.value, "negatives", (json_int_t)p->negatives, "hardness",
                      hn_json_real(p->hardness.mean), "hardness_lo", hn_json_real(p->hardness.lo),
                      "hardness_hi", hn_json_real(p->hardness.hi), "false_negatives",
                      hn_json_real(p->false_share.mean), "false_lo",
                      hn_json_real(p->false_share.lo), "false_hi", hn_json_real(p->false_share.hi),
                      "fewer", hn_json_real(p->fewer), "none", hn_json_real(p->none), "front",
                      p->front ? "*" : ""));
    }
    return rows;
}

static void print_recommended(const struct work *w) {
    char text[64];
    if (!w->p->recommend)
        return;
    if (w->recommended < 0) {
        printf("\nNo setting has at most %g %% false negatives, at the upper end of its interval, "
               "with at most %g %% of the queries empty.\n",
               100 * w->p->max_fn, 100 * w->p->max_none);
        return;
    }
    const struct hn_price *p = &w->price[w->recommended];
    setting_text(&p->setting, text, sizeof text);
    printf("\nThe hardest within %g %% false negatives: %.2f %% [%.2f, %.2f], hardness %.2f.\n"
           "hardneg mine %s -n %lld --depth %lld %s -o negatives.jsonl\n",
           100 * w->p->max_fn, 100 * p->false_share.mean, 100 * p->false_share.lo,
           100 * p->false_share.hi, p->hardness.mean, w->corpus.info->file->path,
           (long long)w->miner.o.n, (long long)w->miner.o.depth, text);
}

static enum hn_code print_prices(struct hn_context *ctx, const struct work *w, bool json) {
    static const struct hn_record_column columns[] = {{"setting", "setting", -24},
                                                      {"hardness", "hardness", 8, 2},
                                                      {"false_negatives", "false, %", 8, 3, 100},
                                                      {"false_lo", "95 % from", 9, 3, 100},
                                                      {"false_hi", "to", 7, 3, 100},
                                                      {"fewer", "fewer, %", 8, 1, 100},
                                                      {"none", "none, %", 7, 1, 100},
                                                      {"front", "front", -5},
                                                      {NULL}};
    char text[64] = "";
    json_t *rows = rows_of(w);
    if (w->recommended >= 0)
        setting_text(&w->price[w->recommended].setting, text, sizeof text);
    if (json)
        return hn_json_print(
            ctx,
            json_pack("{s:s, s:I, s:I, s:I, s:s, s:o}", "file", w->corpus.info->file->path,
                      "queries", (json_int_t)w->corpus.info->n[HN_QUERIES], "negatives",
                      (json_int_t)w->miner.o.n, "depth", (json_int_t)w->miner.o.depth,
                      "recommended", text, "settings", rows),
            stdout);
    printf(
        "%s: %lld negatives of each of %lld queries, by /truth. Hardness: score above the "
        "query's far candidates, in their deviations. fewer, none: queries with fewer than %lld, "
        "without any. *: no other setting is harder with fewer false ones.\n\n",
        w->corpus.info->file->path, (long long)w->miner.o.n,
        (long long)w->corpus.info->n[HN_QUERIES], (long long)w->miner.o.n);
    hn_records_print(columns, rows, stdout);
    json_decref(rows);
    print_recommended(w);
    return HN_OK;
}

static enum hn_code run_price(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params, .recommended = -1};
    if (w.p->recommend && isnan(w.p->max_fn))
        return hn_fail(ctx, HN_USAGE, "--recommend needs --max-fn, the share to stay within");
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    hn_host_limit_memory(ctx, w.p->memory ? w.p->memory : hn_host_memory());
    if (hn_blas_open(ctx))
        return ctx->code;
    enum hn_code code = price_file(ctx, &w, call->args[0]);
    if (!code)
        code = print_prices(ctx, &w, call->json);
    hn_corpus_close(ctx, &w.corpus);
    return code;
}

const struct hn_command hn_cmd_price = {
    .name = "price",
    .usage = "hardneg price FILE [-n N] [--depth K] [--recommend --max-fn SHARE]",
    .summary = "show what mining settings cost in false negatives",
    .details =
        "For rank windows, relative and absolute margins, ceilings on the score, and guides where "
        "the file has a teacher or scores: how hard the negatives are that `mine` would take, the "
        "share of them that is false by /truth, with intervals over queries, and the share of "
        "queries that get too few or none. Ceilings are quantiles of the scores of the queries' "
        "best candidates.",
    .examples = "hardneg price r.h5\nhardneg price r.h5 --recommend --max-fn 0.002",
    .options = price_options,
    .params_size = sizeof(struct price_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_price};
