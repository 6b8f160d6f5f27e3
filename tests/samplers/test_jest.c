// SPDX-License-Identifier: GPL-3.0-or-later
// jest: batches against algorithm 1 written down with whole matrices of scores in double, and the
// law of small ones.
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("jest"); }

enum { N = 90, D = 8, T = 5, SEED = 3 };

struct setting {
    const char *text;
    int size, candidates, chunks;
    double learner, reference, scale, offset;
};

static double loss(double s, bool positive, const struct setting *c) {
    double z = positive ? 1 : -1;
    return log(1 + exp(-z * (c->scale * s + c->offset)));
}

// S_ij of the paper.
static double score(const struct hn_items *items, const struct setting *c, int32_t i, int32_t j) {
    const struct hn_matrix *x1 = hn_has_positive(items) ? &items->x1 : &items->x;
    const struct hn_matrix *x2 = hn_has_positive(items) ? &items->x2 : &items->x;
    double own = naive_dot(hn_row(x1, i), hn_row(x2, j), D);
    double sum = c->learner > 0 ? c->learner * loss(own, i == j, c) : 0;
    if (c->reference > 0)
        sum -=
            loss(naive_dot(hn_row(&items->teacher, i), hn_row(&items->teacher, j), T), i == j, c);
    return sum;
}

// The candidates of a batch, and its items in the order they are chosen in.
static void choose(const struct hn_items *items, const struct setting *c, const struct sampled *s,
                   int64_t batch, int32_t *id) {
    int32_t from[N];
    bool in[N] = {false}, chosen[N] = {false};
    struct hn_stream stream;
    hn_stream_open(&stream, SEED, "jest.batch", s->sampler.index, s->sampler.epoch, batch);
    for (int i = 0; i < c->candidates; i++) {
        int32_t j = N - c->candidates + i, t = (int32_t)hn_stream_below(&stream, (uint32_t)j + 1);
        from[i] = in[t] ? j : t;
        in[from[i]] = true;
    }
    int count = 0;
    for (int chunk = 0; chunk < c->chunks; chunk++) {
        int to = (chunk + 1) * c->size / c->chunks;
        double key[N];
        for (int i = 0; i < c->candidates; i++) {
            double logit = score(items, c, from[i], from[i]);
            for (int k = 0; k < count; k++)
                logit += score(items, c, from[i], id[k]) + score(items, c, id[k], from[i]);
            key[i] = logit - log(-log(1 - hn_stream_uniform(&stream)));
        }
        for (int k = count; k < to; k++) {
            int best = -1;
            for (int i = 0; i < c->candidates; i++)
                if (!chosen[i] && (best < 0 || key[i] > key[best]))
                    best = i;
            chosen[best] = true;
            id[k] = from[best];
        }
        count = to;
    }
}

static struct hn_items teacher_items(struct hn_context *ctx, bool views) {
    struct hn_items items = hn_fixture_items(ctx, N, D, 4, views, 17);
    hn_fixture_teacher(ctx, &items, T, 18);
    return items;
}

static void test_algorithm(void) {
    static const struct setting cases[] = {
        {"ratio=0.8 chunks=4", 12, 60, 4, 1, 1, 10, -10},
        {"ratio=0.8 chunks=5 scale=4 offset=-1", 17, 85, 5, 1, 1, 4, -1},
        {"ratio=0.5 chunks=1", 8, 16, 1, 1, 1, 10, -10},
        {"ratio=0.99 chunks=8 score=hard scale=5 offset=-2", 8, N, 8, 1, 0, 5, -2},
        {"ratio=0 chunks=3 score=easy scale=3 offset=-2", 20, 20, 3, 0, 1, 3, -2},
        {"ratio=0.6 chunks=99 score=easy scale=9 offset=0", 12, 30, 12, 0, 1, 9, 0}};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = teacher_items(&ctx, views);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct sampled s;
            const struct setting *c = &cases[i];
            int32_t wanted[N];
            HN_CHECK(&ctx, sampled_open(&ctx, sampler(), c->text, &items, c->size, SEED, &s));
            for (int64_t epoch = 0; epoch < 2; epoch++) {
                HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
                for (int64_t b = 0; b < s.batches; b++) {
                    choose(&items, c, &s, b, wanted);
                    CU_ASSERT_EQUAL(s.size[b], c->size);
                    CU_ASSERT(memcmp(wanted, sampled_batch(&s, b),
                                     (size_t)c->size * sizeof *wanted) == 0);
                }
            }
            sampled_close(&ctx, &s);
        }
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Pairs of four items, in order, by the two draws that make them.
static void test_law(void) {
    enum { FEW = 4, EPOCHS = 3000 };
    const struct setting c = {"", 2, FEW, 2, 1, 1, 3, -1};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = teacher_items(&ctx, true);
    items.n = items.x.rows = items.x1.rows = items.x2.rows = items.teacher.rows = FEW;
    int64_t times[FEW][FEW] = {{0}}, total = 0;
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "ratio=0.9 chunks=2 scale=3 offset=-1", &items, 2,
                                SEED, &s));
    for (int64_t e = 0; e < EPOCHS; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t b = 0; b < s.batches; b++, total++)
            times[sampled_batch(&s, b)[0]][sampled_batch(&s, b)[1]]++;
    }
    double square = 0, first[FEW], all = 0;
    for (int i = 0; i < FEW; i++)
        all += first[i] = exp(score(&items, &c, i, i));
    for (int i = 0; i < FEW; i++) {
        double given[FEW] = {0}, left = 0;
        for (int j = 0; j < FEW; j++)
            if (j != i)
                left += given[j] = exp(score(&items, &c, j, j) + score(&items, &c, i, j) +
                                       score(&items, &c, j, i));
        for (int j = 0; j < FEW; j++) {
            double expected = (double)total * first[i] / all * given[j] / left;
            double off = (double)times[i][j] - expected;
            CU_ASSERT(i != j || times[i][j] == 0);
            square += i == j ? 0 : off * off / expected;
        }
    }
    CU_ASSERT(chi_square_fits(square, FEW * (FEW - 1) - 1));
    sampled_close(&ctx, &s);
    items.n = items.x.rows = items.x1.rows = items.x2.rows = items.teacher.rows = N;
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"algorithm", test_algorithm}, {"law", test_law}};
HN_TEST_MAIN("jest", tests)
