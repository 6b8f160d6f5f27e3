// Mining hard negatives of queries over a corpus, and the ranking alone, whose remainder is what
// filters take.
#include "harness/bench/bench.h"
#include "harness/run/timed.h"
#include "retrieval/mine.h"
#include "retrieval/ranking.h"

#include <math.h>

// A positive of each query.
static enum hn_code make_qrels(struct hn_context *ctx, int64_t queries, int64_t passages,
                               struct hn_qrels *out) {
    struct hn_judgement *list = hn_alloc(ctx, queries, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < queries; i++)
        list[i] = (struct hn_judgement){(int32_t)i, (int32_t)(i * passages / queries), 1};
    return hn_qrels_build(ctx, list, queries, queries, out);
}

// 10 negatives by a margin, as hardneg_mine() takes them.
static enum hn_code mine(struct hn_context *ctx, const struct hn_miner *m, int64_t queries) {
    int64_t part = hn_ranking_rows(queries, &m->data.rows[HN_CORPUS], m->o.depth), count;
    struct hn_mined sum = {0};
    for (int64_t from = 0; from < queries; from += count) {
        struct hn_pool pool;
        HN_SCOPE(ctx);
        count = hn_min(part, queries - from);
        if (hn_miner_pool(ctx, m, from, count, false, &pool) || hn_miner_take(ctx, m, &pool, &sum))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code rank(struct hn_context *ctx, const struct hn_bench *b) {
    struct hn_ranking ranking;
    return hn_ranking_run(ctx, &b->queries, &b->items.x, b->shape.K, &ranking);
}

enum hn_code hn_bench_mining(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    struct hn_retrieval_data data = {.rows = {b->queries, b->items.x}};
    const struct hn_mine_options options = {.n = 10,
                                            .depth = b->shape.K,
                                            .min_rank = INT64_MIN,
                                            .max_rank = INT64_MIN,
                                            .seed = 1,
                                            .absolute_margin = NAN,
                                            .relative_margin = .05,
                                            .max_score = NAN,
                                            .min_score = NAN,
                                            .guide = NAN};
    struct hn_miner miner;
    int64_t queries = b->shape.queries;
    HN_SCOPE(ctx);
    if (make_qrels(ctx, queries, b->shape.n, &data.qrels) ||
        hn_miner_open(ctx, &data, &options, "random rows", &miner))
        return ctx->code;
    int64_t begun = hn_wall_ns();
    enum hn_code code = k->argument == HN_BENCH_MINE ? mine(ctx, &miner, queries) : rank(ctx, b);
    out->seconds = hn_seconds_since(begun);
    out->ideal = hn_bench_flop_seconds(b, queries * b->shape.n);
    return code;
}
