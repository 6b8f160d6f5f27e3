// SPDX-License-Identifier: GPL-3.0-or-later
// mosaic: weights against their definition in double, and the search, the pools, groups and epochs
// against a plain search that takes every gain from the weights alone.
#include "samplers/mosaic_pool.h"
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("mosaic"); }

enum { N = 150, D = 8, SEED = 3 };

static const struct hn_mosaic usual = {
    .a = 0.5, .lambda = 0.9, .b = 0.75, .kappa = 0.05, .sweeps = 3};

struct setting {
    struct hn_mosaic spec;
    int64_t pool, group;
    int32_t batch_size;
};

// exp(slope of the numbers above the diagonal) over its mean, for all pairs.
static void naive_powers(double *v, int n, double a) {
    double sum = 0, squares = 0, all = 0, pairs = n * (n - 1) / 2.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            sum += v[i * n + j];
            squares += v[i * n + j] * v[i * n + j];
        }
    double sd = sqrt(fmax(0, squares / pairs - sum * sum / pairs / pairs));
    for (int i = 0; i < n * n; i++)
        v[i] = exp(sd > 1e-6 ? a * (v[i] - 1) / sd : 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            all += v[i * n + j];
    for (int i = 0; i < n * n; i++)
        v[i] *= pairs / all;
}

// m[D] of item i of a pool.
static void naive_mean(const struct hn_items *items, const int32_t *id, int n, int i, double kappa,
                       double *m) {
    struct other other[N];
    int count = 0, k = (int)lround(kappa * n);
    for (int j = 0; j < n; j++)
        if (j != i)
            other[count++] =
                (struct other){naive_dot(hn_row(&items->x, id[i]), hn_row(&items->x, id[j]), D), j};
    qsort(other, (size_t)count, sizeof *other, nearer);
    k = k < 1 ? 1 : k;
    for (int c = 0; c < D; c++) {
        m[c] = 0;
        for (int j = 0; j < k; j++) {
            int32_t item = id[j == 0 ? i : other[j - 1].id];
            double z =
                hn_has_positive(items)
                    ? ((double)hn_row(&items->x1, item)[c] + (double)hn_row(&items->x2, item)[c]) /
                          2
                    : (double)hn_row(&items->x, item)[c];
            m[c] += z / k;
        }
    }
}

static void naive_weights(const struct hn_items *items, const int32_t *id, int n,
                          const struct hn_mosaic *spec, double *w) {
    double *q = malloc((size_t)(n * n) * sizeof *q), (*m)[D] = malloc((size_t)n * sizeof *m);
    CU_ASSERT_FATAL(q && m);
    for (int i = 0; i < n; i++)
        naive_mean(items, id, n, i, spec->kappa, m[i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w[i * n + j] = naive_dot(hn_row(&items->x, id[i]), hn_row(&items->x, id[j]), D);
            q[i * n + j] = 0;
            for (int c = 0; c < D; c++)
                q[i * n + j] += m[i][c] * m[j][c];
        }
    naive_powers(w, n, spec->a);
    naive_powers(q, n, spec->b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i * n + j] = i == j ? 0 : w[i * n + j] - spec->lambda * q[i * n + j];
    free(q);
    free(m);
}

static void compare_weights(const struct hn_items *items, int n, struct hn_mosaic spec) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    struct hn_mosaic_pool pool;
    int32_t id[N];
    for (int i = 0; i < n; i++)
        id[i] = (int32_t)((i * 7 + 3) % items->n);
    double *w = malloc((size_t)(n * n) * sizeof *w), worst = 0, beyond = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    HN_CHECK(&ctx, hn_mosaic_pool_open(&ctx, &spec, n, D, hn_has_positive(items), 2, 3, &pool));
    memset(pool.w, 0xff, (size_t)(pool.stride * pool.stride) * sizeof *pool.w); // NaN
    hn_mosaic_weigh(&spec, items, id, n, &pool);
    naive_weights(items, id, n, &spec, w);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double value = (double)pool.w[i * pool.stride + j], steps = value * 65536;
            CU_ASSERT(steps == floor(steps) && value == (double)pool.w[j * pool.stride + i]);
            worst = fmax(worst, fabs(value - w[i * n + j]));
            beyond = fmax(beyond, fabs(value - w[i * n + j]) - 3e-5 * (1 + fabs(w[i * n + j])));
        }
    if (beyond > 0)
        fprintf(stderr, "    n = %d: a weight is off by %g\n", n, worst);
    CU_ASSERT(beyond <= 0);
    free(w);
}

static void test_weights(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 5, views, 71);
        const int sizes[] = {2, 3, 31, 32, 33, 64, 100, 149};
        for (int s = 0; s < 8; s++) {
            struct hn_mosaic spec = usual;
            compare_weights(&items, sizes[s], spec);
            spec.kappa = 0;
            compare_weights(&items, sizes[s], spec);
            spec.kappa = 1;
            compare_weights(&items, sizes[s], spec);
            spec.lambda = 0;
            compare_weights(&items, sizes[s], spec);
            compare_weights(&items, sizes[s],
                            (struct hn_mosaic){.a = 3, .lambda = 8, .b = 0.75, .kappa = 0.1});
        }
        hn_fixture_items_free(&ctx, &items);
    }
}

// A search by the definition on weights w[n x n]; batches are lists of positions.
struct naive {
    const double *w;
    int n, size;
    int32_t *batch, *member; // as in hn_mosaic_pool
    double gained;
    int64_t swaps;
};

// What the weights within batches rise by if i and j are swapped.
static double naive_gain(const struct naive *s, int32_t i, int32_t j) {
    double gain = 0;
    for (int32_t k = 0; k < s->n; k++) {
        double change = s->w[j * s->n + k] - s->w[i * s->n + k];
        gain += s->batch[k] == s->batch[i] && k != i ? change : 0;
        gain -= s->batch[k] == s->batch[j] && k != j ? change : 0;
    }
    return gain;
}

static double naive_sum(const struct naive *s) {
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < i; j++)
            sum += s->batch[i] == s->batch[j] ? s->w[i * s->n + j] : 0;
    return sum;
}

static void naive_swap(struct naive *s, int32_t i, int32_t j) {
    int a = 0, b = 0;
    while (s->member[a] != i)
        a++;
    while (s->member[b] != j)
        b++;
    s->member[a] = j;
    s->member[b] = i;
    int32_t home = s->batch[i];
    s->batch[i] = s->batch[j];
    s->batch[j] = home;
}

static int naive_sweep(struct naive *s, const int32_t *order) {
    int swaps = 0;
    for (int k = 0; k < s->n; k++) {
        int32_t i = order[k], best = -1;
        double max = 1e-3;
        for (int32_t j = 0; j < s->n; j++) {
            double gain = s->batch[j] == s->batch[i] ? 0 : naive_gain(s, i, j);
            if (gain > max) {
                max = gain;
                best = j;
            }
        }
        if (best < 0)
            continue;
        double before = naive_sum(s);
        naive_swap(s, i, best);
        CU_ASSERT_EQUAL(naive_sum(s) - before, max); // exactly: weights are multiples of 2^-16
        s->gained += max;
        swaps++;
    }
    return swaps;
}

static void naive_arrange(struct naive *s, const struct hn_mosaic *spec, struct hn_stream *stream) {
    int32_t order[N];
    for (int i = 0; i < s->n; i++)
        order[i] = i;
    hn_stream_shuffle(stream, order, s->n);
    for (int i = 0; i < s->n; i++) {
        s->member[i] = order[i];
        s->batch[order[i]] = i / s->size;
    }
    for (int t = 0; t < spec->sweeps; t++) {
        hn_stream_shuffle(stream, order, s->n);
        int swaps = naive_sweep(s, order);
        s->swaps += swaps;
        if (swaps * 200 < s->n)
            break;
    }
}

static void naive_group(const struct hn_items *items, int64_t group, int32_t *order) {
    int32_t random[N], used = 0, n = (int32_t)items->n;
    bool taken[N] = {0};
    memcpy(random, order, (size_t)n * sizeof *random);
    for (int i = 0; i < n; i++) {
        int32_t rest[N], count = 0, first = random[i];
        if (taken[first])
            continue;
        taken[first] = true;
        order[used++] = first;
        for (int32_t j = 0; j < n; j++)
            if (!taken[j])
                rest[count++] = j;
        if (count > 0)
            naive_sort(&items->x, first, rest, count);
        for (int k = 0; k < count && k < group - 1; k++) {
            taken[rest[k]] = true;
            order[used++] = rest[k];
        }
    }
}

// The pool's weights as the sampler has them: test_weights() judges those.
static void naive_pool(const struct hn_items *items, const struct setting *set, int64_t epoch,
                       int number, const int32_t *id, int n, int32_t *order) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    struct hn_mosaic_pool pool;
    struct hn_stream stream;
    int32_t batch[N], member[N];
    double *w = malloc((size_t)(n * n) * sizeof *w);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    HN_CHECK(&ctx, hn_mosaic_pool_open(&ctx, &set->spec, n, D, hn_has_positive(items),
                                       set->batch_size, 1, &pool));
    hn_mosaic_weigh(&set->spec, items, id, n, &pool);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i * n + j] = (double)pool.w[i * pool.stride + j];
    struct naive s = {w, n, set->batch_size, batch, member, 0, 0};
    hn_stream_open(&stream, SEED, "mosaic.pool", items->index, epoch, number);
    naive_arrange(&s, &set->spec, &stream);
    for (int i = 0; i < n; i++)
        order[i] = id[member[i]];
    free(w);
}

// The items of an epoch in the order of its batches.
static void naive_epoch(const struct hn_items *items, const struct setting *set, int64_t epoch,
                        int32_t *order) {
    int n = (int)items->n, size = set->batch_size, batches = n / size;
    int per_pool = (int)(set->pool / size), pools = (batches + per_pool - 1) / per_pool;
    int32_t shuffled[N], arranged[N], number[N];
    hn_permute(SEED, "mosaic.shuffle", items->index, epoch, 0, shuffled, n);
    if (set->group > 1)
        naive_group(items, set->group, shuffled);
    for (int p = 0; p < pools; p++) {
        int from = batches * p / pools * size, to = batches * (p + 1) / pools * size;
        CU_ASSERT(to - from <= set->pool);
        naive_pool(items, set, epoch, p, shuffled + from, to - from, arranged + from);
    }
    hn_permute(SEED, "mosaic.batches", items->index, epoch, 0, number, batches);
    for (int b = 0; b < batches; b++)
        memcpy(order + b * size, arranged + number[b] * size, (size_t)size * sizeof *order);
    memcpy(order + batches * size, shuffled + batches * size,
           (size_t)(n - batches * size) * sizeof *order);
}

static void settings_of(const struct setting *set, char *text, size_t size) {
    snprintf(text, size, "a=%g lambda=%g b=%g kappa=%g sweeps=%d pool=%d group=%d", set->spec.a,
             set->spec.lambda, set->spec.b, set->spec.kappa, (int)set->spec.sweeps, (int)set->pool,
             (int)set->group);
}

static void compare(const struct hn_items *items, const struct setting *set) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    char settings[128];
    struct sampled s;
    int32_t order[N];
    settings_of(set, settings, sizeof settings);
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, set->batch_size, SEED, &s));
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, items, epoch));
        naive_epoch(items, set, epoch, order);
        CU_ASSERT_EQUAL(memcmp(s.ids, order, (size_t)items->n * sizeof *order), 0);
    }
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void compare_settings(const struct hn_items *items) {
    struct setting set = {usual, N, 1, 16};
    compare(items, &set);
    set.pool = 64;
    compare(items, &set);
    set.group = 3;
    compare(items, &set);
    set.spec.lambda = 0;
    compare(items, &set);
    set = (struct setting){{.a = 3, .lambda = 8, .b = 0.75, .kappa = 0.1, .sweeps = 9}, 100, 20, 9};
    compare(items, &set);
    set.batch_size = 50;
    compare(items, &set);
    set.spec.sweeps = 0;
    compare(items, &set);
    set = (struct setting){usual, N, 1, 75};
    compare(items, &set);
    set.batch_size = 2;
    compare(items, &set);
}

static void test_search(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 5, views, 72);
        compare_settings(&items);
        hn_fixture_items_free(&ctx, &items);
    }
}

// Weights by themselves, multiples of the step, of a size that sums in 32 bits just hold, or just
// do not, or that pairs far from all others have.
static void compare_sums(int size, double scale, double far) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    const struct hn_mosaic spec = {.sweeps = 3};
    struct hn_mosaic_pool pool;
    struct hn_mosaic_tally tally = {0};
    struct hn_stream stream;
    int32_t batch[N], member[N];
    static double w[N * N];
    HN_CHECK(&ctx, hn_mosaic_pool_open(&ctx, &spec, N, D, false, size, 2, &pool));
    hn_stream_open(&stream, SEED, "test", 0, 0, 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double value = i == j ? 0 : (2 * hn_stream_uniform(&stream) - 1) * scale;
            value = i > j && i % 50 == 1 && j % 50 == 0 ? far : value;
            float weight = (float)(rint(value * 65536) / 65536);
            pool.w[i * pool.stride + j] = pool.w[j * pool.stride + i] = weight;
            w[i * N + j] = w[j * N + i] = (double)weight;
        }
    struct naive s = {w, N, size, batch, member, 0, 0};
    hn_stream_open(&stream, SEED, "test", 1, 0, 0);
    naive_arrange(&s, &spec, &stream);
    hn_stream_open(&stream, SEED, "test", 1, 0, 0);
    hn_mosaic_arrange(&ctx, &spec, &stream, &pool, &tally);
    CU_ASSERT(!memcmp(pool.member, member, sizeof member) && tally.swaps == s.swaps);
    CU_ASSERT_EQUAL(tally.weight, naive_sum(&s));
}

static void test_sums(void) {
    for (double scale = 0x1p-13; scale < 0x1p20; scale *= scale < 64 || scale > 512 ? 8 : 1.4) {
        compare_sums(5, scale, -0x1p17);
        compare_sums(50, scale, scale);
    }
}

// Equal items tie in everything; all equal, nothing is to be gained.
static void test_duplicates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const int distinct[] = {1, 2, 40};
    for (int c = 0; c < 3; c++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 73);
        hn_fixture_repeat(&items, distinct[c]);
        compare_weights(&items, 100, usual);
        compare_settings(&items);
        hn_fixture_items_free(&ctx, &items);
    }
}

// Rows that --zero-rows keeps, and items so near to each other that float products hardly differ.
static void test_zeros_and_crowds(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 74);
    float *x = (float *)items.x.data;
    for (int64_t i = 0; i < N; i += 10)
        memset(x + i * D, 0, D * sizeof *x);
    compare_weights(&items, 100, usual);
    compare_settings(&items);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            x[i * D + j] = 0.35F + 1e-8F * x[i * D + j];
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, N, D, "crowd"));
    compare_settings(&items);
    hn_fixture_items_free(&ctx, &items);
}

// Mean over pairs of a batch of S and of whether labels are equal.
static void describe(const struct sampled *s, const struct hn_items *items, double *cosine,
                     double *same) {
    double pairs = 0;
    *cosine = *same = 0;
    for (int64_t b = 0; b < s->batches; b++)
        for (int i = 0; i < s->size[b]; i++)
            for (int j = 0; j < i; j++) {
                const int32_t *id = sampled_batch(s, b);
                *cosine += naive_dot(hn_row(&items->x, id[i]), hn_row(&items->x, id[j]), items->d);
                *same += items->labels[id[i]] == items->labels[id[j]];
                pairs++;
            }
    *cosine /= pairs;
    *same /= pairs;
}

// What it is for: harder than uniform batches; and repulsion lowers both.
static void test_purpose(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 1200, 16, 12, false, 75);
    const char *settings[] = {"sweeps=0", "lambda=0", "lambda=0.5", "lambda=2"};
    double cosine[4], same[4];
    for (int i = 0; i < 4; i++) {
        struct sampled s;
        HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings[i], &items, 24, SEED, &s));
        describe(&s, &items, &cosine[i], &same[i]);
        sampled_close(&ctx, &s);
    }
    CU_ASSERT(cosine[1] > cosine[0]);
    CU_ASSERT(cosine[1] > cosine[2] && cosine[2] > cosine[3]);
    CU_ASSERT(same[1] > same[2] && same[2] > same[3]);
    hn_fixture_items_free(&ctx, &items);
}

// The reports: no sweep leaves what is random, whose mean weight is near 1 - lambda; searching
// raises it.
static void test_reports(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 1200, 16, 12, false, 76);
    double random[2], searched[2];
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "sweeps=0", &items, 60, SEED, &s));
    sampler()->report(&s.sampler, random);
    sampled_close(&ctx, &s);
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "", &items, 60, SEED, &s));
    sampler()->report(&s.sampler, searched);
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(random[0], 0);
    CU_ASSERT(fabs(random[1] - 0.1) < 0.05);
    CU_ASSERT(searched[0] > 0.5 && searched[1] > random[1] + 0.1);
    hn_fixture_items_free(&ctx, &items);
}

// The counts of a build: a pool's pairs have two products, or one without repulsion; a shuffle for
// the start and one per sweep; and a row of weights is read where they are made and per visit.
static void test_work(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { POOL = 75, POOLS = N / POOL, BATCHES = 10 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 78);
    for (int repel = 0; repel < 2; repel++)
        for (int sweeps = 0; sweeps < 2; sweeps++) {
            struct sampled s;
            char settings[64];
            snprintf(settings, sizeof settings, "pool=%d sweeps=%d lambda=%d", POOL, sweeps, repel);
            HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, &items, N / BATCHES, SEED, &s));
            const struct hn_work *work = &s.sampler.build;
            CU_ASSERT_EQUAL(work->dot, POOLS * POOL * (POOL - 1) * (1 + repel) / 2);
            CU_ASSERT_EQUAL(work->bytes, POOLS * POOL * POOL * (1 + sweeps) * 4);
            CU_ASSERT_EQUAL(work->draw, N - 1 + BATCHES - 1 + POOLS * (POOL - 1) * (1 + sweeps));
            sampled_close(&ctx, &s);
        }
    hn_fixture_items_free(&ctx, &items);
}

// Several pools or one, on any number of threads, and one after the other where memory is short:
// the same batches.
static void test_workers(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 600, 16, 12, true, 77);
    const char *settings[] = {"pool=70 kappa=0.1 group=2", "kappa=0.1"};
    for (int i = 0; i < 2; i++) {
        struct sampled one, s;
        int64_t peak[2];
        ctx.threads = 1;
        HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings[i], &items, 24, SEED, &one));
        for (int k = 0; k < 6; k++) {
            int64_t live = atomic_load(&ctx.memory.live);
            atomic_store(&ctx.memory.peak, live);
            ctx.threads = 1 << k / 2;
            ctx.memory.mode = k % 2;
            HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings[i], &items, 24, SEED, &s));
            CU_ASSERT_EQUAL(memcmp(one.ids, s.ids, 600 * sizeof *s.ids), 0);
            peak[k % 2] = ctx.memory.peak - live;
            sampled_close(&ctx, &s);
        }
        CU_ASSERT(i == 1 || 4 * peak[1] < 3 * peak[0]); // on four threads
        ctx.memory.mode = HN_MEMORY_ANY;
        sampled_close(&ctx, &one);
    }
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"weights", test_weights},
                                       {"search", test_search},
                                       {"sums", test_sums},
                                       {"duplicates", test_duplicates},
                                       {"zeros_and_crowds", test_zeros_and_crowds},
                                       {"purpose", test_purpose},
                                       {"reports", test_reports},
                                       {"work", test_work},
                                       {"workers", test_workers}};
HN_TEST_MAIN("mosaic", tests)
