// SPDX-License-Identifier: GPL-3.0-or-later
// A corpus that is read in blocks gives what the same corpus gives in memory, bit for bit: whatever
// the blocks, with equal scores across their borders, zero rows, texts that are there twice, and
// each option of mining.
#include "core/sweep/blas.h"
#include "retrieval/evaluate.h"
#include "retrieval/price.h"
#include "retrieval/streamed.h"
#include "tests/retrieval/mining_fixture.h"

static struct hn_context ctx;

enum { SCORES = 3 * QUERIES, LISTED = 8 * QUERIES };

// Reads rows from memory, as a file would.
struct shelf {
    const struct hn_matrix *rows;
    int64_t most; // rows that were asked for at once
};

static enum hn_code read_shelf(struct hn_context *c, void *self, int64_t first, int64_t count,
                               float *out) {
    struct shelf *s = self;
    CU_ASSERT_FATAL(first >= 0 && count > 0 && first + count <= s->rows->rows);
    s->most = hn_max(s->most, count);
    memcpy(out, hn_row(s->rows, first), (size_t)(count * s->rows->cols) * sizeof *out);
    return c->code;
}

// The same data without the rows of the corpus.
static struct hn_retrieval_data without_rows(struct hn_stream *s, struct shelf *shelf,
                                             const struct hn_retrieval_data *data) {
    struct hn_retrieval_data out = *data;
    int64_t n = data->rows[HN_CORPUS].rows;
    *shelf = (struct shelf){.rows = &data->rows[HN_CORPUS]};
    out.rows[HN_CORPUS].data = NULL;
    out.source = (struct hn_row_source){
        .self = shelf, .read = read_shelf, .few = 1 + below(s, 5), .block = 1 + below(s, (int)n)};
    return out;
}

static struct hn_mine_options draw_options(struct hn_stream *s) {
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    double *value[] = {&o.absolute_margin, &o.relative_margin, &o.max_score, &o.min_score,
                       &o.guide};
    o.n = 1 + below(s, 5);
    o.depth = 10 + below(s, 40);
    if (below(s, 3) == 0)
        o.min_rank = 1 + below(s, 6);
    for (int k = 0; k < 5; k++)
        if (below(s, 4) == 0)
            *value[k] = .125 * (double)(below(s, 8) - (k < 2 ? 0 : 2));
    o.rank_of = below(s, 4);
    o.equal_texts = below(s, 4);
    o.self = below(s, 3);
    o.take = below(s, 3);
    o.fill = below(s, 4);
    o.filter_by = below(s, 4);
    o.rank_by = below(s, 4);
    o.min_grade = 1 + below(s, 2);
    o.include_positives = below(s, 4) == 0;
    return o;
}

// Scores of some pairs, or candidates.
static struct hn_pair_scores draw_scores(struct hn_stream *s, const struct small *data, int n) {
    struct hn_judgement list[LISTED];
    float score[LISTED];
    struct hn_pair_scores out;
    for (int k = 0; k < n; k++) {
        list[k] = (struct hn_judgement){below(s, (int)data->n[HN_QUERIES]),
                                        below(s, (int)data->n[HN_CORPUS]), k};
        score[k] = .125F * (float)below(s, 8);
    }
    HN_CHECK(&ctx, hn_pair_scores_build(&ctx, list, n, data->n[HN_QUERIES], score, &out));
    return out;
}

// What a corpus gave.
struct found {
    struct hn_miner miner;
    struct hn_sources sources;
    struct hn_pool pool;
    struct hn_mined mined;
    struct hn_price price;
    struct hn_ranking_metrics metrics;
};

static void run(const struct hn_retrieval_data *data, const struct hn_mine_options *o,
                const struct hn_pair_scores *list, int lists, bool fuse, struct found *f) {
    static const int64_t k[] = {1, 3, 10};
    memset(f, 0, sizeof *f);
    HN_CHECK(&ctx, hn_miner_open(&ctx, data, o, "test", &f->miner));
    if (lists > 0) {
        HN_CHECK(&ctx, hn_candidates_unite(&ctx, list, lists, data->rows[HN_QUERIES].rows,
                                           f->miner.merged, fuse, &f->sources));
        f->miner.sources = &f->sources;
    }
    HN_CHECK(&ctx, hn_miner_pool(&ctx, &f->miner, 0, data->rows[HN_QUERIES].rows, true, &f->pool));
    HN_CHECK(&ctx, hn_miner_take(&ctx, &f->miner, &f->pool, &f->mined));
    HN_CHECK(&ctx, hn_price_mined(&ctx, &f->miner, &f->pool, &f->mined, &f->price));
    f->metrics = (struct hn_ranking_metrics){.miner = &f->miner,
                                             .relevance = &f->miner.known,
                                             .convention = HN_CONVENTION_EXPECTED,
                                             .k = k,
                                             .cutoffs = 3};
    HN_CHECK(&ctx, hn_evaluation_run(&ctx, &f->metrics));
}

static bool same_bits(const void *a, const void *b, int64_t n, size_t size) {
    return memcmp(a, b, (size_t)n * size) == 0;
}

static bool same_mined(const struct hn_mined *a, const struct hn_mined *b) {
    bool good = a->count == b->count && a->width == b->width &&
                same_bits(a->n, b->n, a->count, sizeof *a->n) &&
                same_bits(&a->counts, &b->counts, 1, sizeof a->counts);
    for (int64_t i = 0; good && i < a->count; i++)
        good =
            same_bits(a->id + i * a->width, b->id + i * b->width, a->n[i], sizeof *a->id) &&
            same_bits(a->score + i * a->width, b->score + i * b->width, a->n[i], sizeof *a->score);
    return good;
}

static bool is_listed(const struct hn_pair_scores *list, int64_t query, int32_t passage) {
    bool listed = false;
    for (int64_t e = list->start[query]; e < list->start[query + 1]; e++)
        listed |= list->passage[e] == passage;
    return listed;
}

// Negatives are counted for each list that has them; copies that were merged have other indices.
static void check_sources(const struct found *f, const struct hn_pair_scores *list, int lists) {
    for (int l = 0; l < lists && !f->miner.passage; l++) {
        int64_t listed = 0;
        for (int64_t i = 0; i < f->mined.count; i++)
            for (int64_t k = 0; k < f->mined.n[i]; k++)
                listed += is_listed(&list[l], i, f->mined.id[i * f->mined.width + k]);
        CU_ASSERT_EQUAL(f->mined.counts.source[l], listed);
    }
}

static void check_case(struct hn_stream *s, int number) {
    struct small small;
    struct hn_pair_scores list[2];
    struct found memory, blocks;
    struct shelf shelf;
    HN_SCOPE(&ctx);
    make_small(&ctx, s, &small);
    struct hn_mine_options o = draw_options(s);
    ctx.threads = 1 + below(s, 3);
    if (below(s, 3) == 0)
        memset(small.row[HN_CORPUS] + below(s, (int)small.n[HN_CORPUS]) * DIM, 0,
               DIM * sizeof(float));
    small.data.scores = draw_scores(s, &small, SCORES);
    int lists = below(s, 3) ? 0 : 1 + below(s, 2);
    for (int k = 0; k < lists; k++)
        list[k] = draw_scores(s, &small, 1 + below(s, LISTED));
    bool fuse = lists > 0 && o.rank_by <= HN_BY_MODEL && below(s, 2);
    const struct hn_retrieval_data data = without_rows(s, &shelf, &small.data);
    run(&small.data, &o, list, lists, fuse, &memory);
    run(&data, &o, list, lists, fuse, &blocks);
    int64_t values = 3 * HN_RETRIEVAL_METRICS;
    bool mined = same_mined(&memory.mined, &blocks.mined);
    bool priced = lists > 0 || same_bits(&memory.price.hardness, &blocks.price.hardness, 1,
                                         sizeof memory.price.hardness); // none of candidates given
    bool measured =
        memory.metrics.queries == blocks.metrics.queries &&
        same_bits(memory.metrics.value, blocks.metrics.value, values * small.n[HN_QUERIES],
                  sizeof(double)) &&
        same_bits(memory.metrics.extreme, blocks.metrics.extreme, 2 * values, sizeof(double));
    if (!mined || !priced || !measured)
        fprintf(stderr, "    case %d: mined %d, priced %d, measured %d\n", number, mined, priced,
                measured);
    CU_ASSERT(mined && priced && measured);
    CU_ASSERT(shelf.most <= hn_max(data.source.block, data.source.few));
    check_sources(&memory, list, lists);
}

static void test_cases(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t k = 0; k < fuzz_cases(400); k++) {
        hn_stream_open(&s, fuzz_seed(), "test.streamed", 0, 0, k);
        check_case(&s, (int)k);
    }
}

// Without a size of blocks they are as large as the memory that is left allows.
static void test_limit(void) {
    enum { Q = 8, P = 30000, D = 64 };
    struct hn_stream s;
    struct shelf shelf;
    struct hn_ranking memory, blocks;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    float *x = hn_alloc(&ctx, (Q + P) * D, sizeof *x);
    CU_ASSERT_FATAL(x != NULL);
    hn_stream_open(&s, 1, "test.streamed", 1, 0, 0);
    for (int64_t k = 0; k < (Q + P) * D; k++)
        x[k] = (float)below(&s, 7) - 3;
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, Q + P, D, "x"));
    const struct hn_retrieval_data data = {.rows = {{x, Q, D, D}, {x + Q * D, P, D, D}}};
    struct hn_retrieval_data other = without_rows(&s, &shelf, &data);
    other.source.block = 0;
    HN_CHECK(&ctx, hn_corpus_rank(&ctx, &data, &data.rows[HN_QUERIES], 50, &memory));
    ctx.memory.limit = atomic_load(&ctx.memory.live) + (4 << 20);
    HN_CHECK(&ctx, hn_corpus_rank(&ctx, &other, &data.rows[HN_QUERIES], 50, &blocks));
    CU_ASSERT(same_bits(memory.id, blocks.id, Q * 50, sizeof *memory.id));
    CU_ASSERT(shelf.most > 1024 && shelf.most <= (4 << 20) / 3 / (D * (int64_t)sizeof *x));
    ctx.memory.limit = 0;
}

static const struct hn_test tests[] = {
    {"cases", test_cases},
    {"limit", test_limit},
};
HN_TEST_MAIN("streamed", tests)
