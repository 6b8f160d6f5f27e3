// SPDX-License-Identifier: GPL-3.0-or-later
// What every sampler has to keep: a loop over the registry and the template. A new sampler is
// tested here, and in test_sampler_misuse.c, without a new test.
#include "core/options/option_text.h"
#include "tests/samplers/every_sampler.h"

#include <gsl/gsl_statistics_double.h>

// Samplers that are no partition, but whose epochs may end with a short batch all the same.
static bool ends_short(const struct hn_sampler_type *type) {
    return type->flags & (HN_SAMPLER_PARTITION | HN_SAMPLER_PER_ANCHOR) ||
           strcmp(type->name, "hard-negative") == 0;
}

// Whether anything is random about it.
static bool varies(const struct sampler_case *c) {
    return strcmp(c->type->name, "file-order") != 0 && !strstr(c->settings, "start=sequential");
}

static bool with_replacement(const struct sampler_case *c) {
    return strstr(c->settings, "draw=iid") != NULL;
}

static void test_tables(void) {
    const struct hn_sampler_type *types[TYPES_MAX];
    int n = all_types(types);
    CU_ASSERT(n >= 2);
    for (int i = 0; i < n; i++) {
        hn_test_entry(types[i]->name);
        const struct hn_sampler_type *t = types[i];
        CU_ASSERT_FATAL(t->name && t->summary && t->source && t->note && t->options);
        CU_ASSERT(t->name[0] && t->summary[0] && t->source[0]);
        for (const char *c = t->name; *c; c++)
            CU_ASSERT(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
        CU_ASSERT((t->next != NULL) + (t->batch != NULL) + (t->list != NULL) <= 1);
        CU_ASSERT(t->next || t->batch || t->list ||
                  (t->flags & HN_SAMPLER_PARTITION && (t->epoch || t->rebuild)));
        CU_ASSERT(!(t->flags & HN_SAMPLER_ORDERED) || !(t->next || t->batch || t->list));
        CU_ASSERT_EQUAL(t->reports != NULL, t->report != NULL);
        CU_ASSERT_EQUAL(t->reports != NULL, t->n_reports > 0);
        CU_ASSERT_EQUAL(t->capacity != NULL, (t->flags & HN_SAMPLER_PER_ANCHOR) != 0);
        for (int j = 0; j < i; j++)
            CU_ASSERT(strcmp(t->name, types[j]->name) != 0);
        if (i < n - 1)
            CU_ASSERT_PTR_EQUAL(hn_sampler_find(t->name), t);
    }
    CU_ASSERT_PTR_NULL(hn_sampler_find("batch"));
}

// Defaults lie in their ranges, fit in the parameters, have help, and read back from their text.
static void check_options(struct hn_context *ctx, const struct hn_sampler_type *type) {
    hn_test_entry(type->name);
    void *params = hn_zalloc(ctx, 1, type->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(params);
    HN_CHECK(ctx, hn_options_init(ctx, type->options, params));
    for (const struct hn_option *o = type->options; o->name; o++) {
        char text[128], again[128];
        CU_ASSERT(o->offset < type->params_size);
        CU_ASSERT(o->help && o->help[0] && !strchr(o->help, '\n'));
        CU_ASSERT_PTR_EQUAL(hn_options_find(type->options, o->name), o);
        int length = hn_option_text(o, params, text, sizeof text);
        CU_ASSERT(length >= 0 && length < (int)sizeof text);
        CU_ASSERT_EQUAL(length > 0, o->initial != NULL);
        if (length == 0)
            continue;
        HN_CHECK(ctx, hn_options_set(ctx, type->options, params, o->name, text));
        hn_option_text(o, params, again, sizeof again);
        CU_ASSERT_STRING_EQUAL(text, again);
    }
    hn_options_free(ctx, type->options, params);
    hn_free(ctx, params);
}

static void test_options(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_type *types[TYPES_MAX];
    int n = all_types(types);
    for (int i = 0; i < n; i++)
        check_options(&ctx, types[i]);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// An anchor's negatives are distinct other items, at most as many as there is space for; the
// counters of the sampler say how many.
static void check_negatives(const struct sampled *s) {
    int64_t anchors = 0, without = 0, pairs = 0;
    for (int64_t b = 0; b < s->batches; b++)
        for (int32_t a = 0; a < s->size[b]; a++) {
            int64_t p = b * s->sampler.batch_size + a;
            bool seen[N] = {0};
            seen[s->ids[p]] = true;
            CU_ASSERT_FATAL(s->negatives[p] >= 0 && s->negatives[p] <= s->capacity);
            for (int32_t k = 0; k < s->negatives[p]; k++) {
                int32_t id = sampled_negatives(s, p)[k];
                CU_ASSERT_FATAL(id >= 0 && id < N);
                CU_ASSERT(!seen[id]);
                seen[id] = true;
            }
            anchors++;
            without += s->negatives[p] == 0;
            pairs += s->negatives[p];
        }
    CU_ASSERT(pairs > 0);
    // Since open: all epochs so far have the same number of anchors.
    CU_ASSERT_EQUAL(s->sampler.anchors % anchors, 0);
    CU_ASSERT(s->sampler.pairs >= pairs && s->sampler.anchors_without >= without);
}

// Sizes, ids, distinctness, and for partitions that every item comes once. Anchors are a partition.
static void check_batches(const struct sampler_case *c, const struct sampled *s) {
    int32_t times[N] = {0};
    int32_t batch_size = s->sampler.batch_size;
    bool repeats = with_replacement(c);
    bool partition =
        c->type->flags & HN_SAMPLER_PER_ANCHOR || hn_sampler_partitions(c->type, s->sampler.params);
    if (c->type->flags & HN_SAMPLER_PER_ANCHOR)
        check_negatives(s);
    CU_ASSERT_FATAL(s->batches >= 1);
    for (int64_t b = 0; b < s->batches; b++) {
        bool in_batch[N] = {0};
        int32_t size = s->size[b];
        CU_ASSERT_FATAL(size >= 1 && size <= batch_size);
        CU_ASSERT(size == batch_size || (ends_short(c->type) && b == s->batches - 1));
        for (int32_t i = 0; i < size; i++) {
            int32_t id = sampled_batch(s, b)[i];
            CU_ASSERT_FATAL(id >= 0 && id < N);
            CU_ASSERT(!in_batch[id] || repeats);
            in_batch[id] = true;
            times[id]++;
        }
    }
    if (partition)
        for (int i = 0; i < N; i++)
            CU_ASSERT_EQUAL(times[i], 1);
}

static void test_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    const int32_t sizes[] = {2, 7, 16, N - 1, N};
    for (int views = 0; views < 2; views++) {
        int n = all_cases(true, views, cases);
        struct hn_items items = anchored_items(&ctx, N, D, 4, views, 5);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 5; k++) {
                struct sampled s;
                hn_test_entry(cases[i].type->name);
                HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, cases[i].settings, &items,
                                            sizes[k], 1, &s));
                check_batches(&cases[i], &s);
                HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 3));
                check_batches(&cases[i], &s);
                sampled_close(&ctx, &s);
            }
        anchored_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The defaults work on small data too.
static void test_defaults(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(false, false, cases);
    for (int64_t items_n = 2; items_n <= 5; items_n++) {
        struct hn_items items = anchored_items(&ctx, items_n, D, 2, false, 5);
        for (int i = 0; i < n; i++) {
            hn_test_entry(cases[i].type->name);
            struct sampled s;
            HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 2, 1, &s));
            for (int64_t b = 0; b < s.batches; b++)
                CU_ASSERT(s.size[b] == 2 || (s.size[b] == 1 && b == s.batches - 1));
            sampled_close(&ctx, &s);
        }
        anchored_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static bool same_batches(const struct sampled *a, const struct sampled *b) {
    if (a->batches != b->batches ||
        memcmp(a->size, b->size, (size_t)a->batches * sizeof *a->size) != 0)
        return false;
    for (int64_t i = 0; i < a->batches; i++)
        if (memcmp(sampled_batch(a, i), sampled_batch(b, i), (size_t)a->size[i] * sizeof *a->ids) !=
            0)
            return false;
    for (int64_t p = 0; a->capacity > 0 && p < a->batches * a->sampler.batch_size; p++) {
        if (p % a->sampler.batch_size >= a->size[p / a->sampler.batch_size])
            continue;
        if (a->negatives[p] != b->negatives[p] ||
            memcmp(sampled_negatives(a, p), sampled_negatives(b, p),
                   (size_t)a->negatives[p] * sizeof *a->negative) != 0)
            return false;
    }
    return true;
}

static bool same_work(const struct hn_work *a, const struct hn_work *b) {
    return a->dot == b->dot && a->draw == b->draw && a->step == b->step && a->edge == b->edge &&
           a->bytes == b->bytes;
}

// The same seed gives the same batches, counters and figures for any number of threads.
static void check_threads(const struct hn_sampler_type *type, const char *settings,
                          const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct sampled one, s;
    hn_test_entry(type->name);
    HN_CHECK(&ctx, sampled_open(&ctx, type, settings, items, 7, 9, &one));
    HN_CHECK(&ctx, sampled_epoch(&ctx, &one, items, 2));
    for (int threads = 1; threads <= 4; threads *= 2) {
        ctx.threads = threads;
        HN_CHECK(&ctx, sampled_open(&ctx, type, settings, items, 7, 9, &s));
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, items, 2));
        CU_ASSERT(same_batches(&one, &s));
        CU_ASSERT(same_work(&one.sampler.build, &s.sampler.build));
        CU_ASSERT(same_work(&one.sampler.sampling, &s.sampler.sampling));
        CU_ASSERT_EQUAL(one.sampler.stalls, s.sampler.stalls);
        double a[16], b[16];
        CU_ASSERT_FATAL(type->n_reports <= 16);
        if (type->report) {
            type->report(&one.sampler, a);
            type->report(&s.sampler, b);
            CU_ASSERT_EQUAL(memcmp(a, b, (size_t)type->n_reports * sizeof *a), 0);
        }
        sampled_close(&ctx, &s);
    }
    sampled_close(&ctx, &one);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_threads(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct sampler_case cases[CASES_MAX];
    for (int views = 0; views < 2; views++) {
        int n = all_cases(true, views, cases);
        struct hn_items items = anchored_items(&ctx, N, D, 4, views, 6);
        for (int i = 0; i < n; i++)
            check_threads(cases[i].type, cases[i].settings, &items);
        anchored_items_free(&ctx, &items);
    }
}

// A batch does not hang on which batches were asked for before or along with it.
static void test_single_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, false, cases);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    for (int i = 0; i < n; i++) {
        hn_test_entry(cases[i].type->name);
        struct sampled all, s;
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 7, 9, &all));
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 7, 9, &s));
        memset(s.ids, -1, (size_t)s.batches * 7 * sizeof *s.ids);
        memset(s.negatives, -1, (size_t)s.batches * 7 * sizeof *s.negatives);
        for (int64_t b = s.batches - 1; b >= 0; b--)
            HN_CHECK(&ctx, sampled_some(&ctx, &s, b, 1));
        CU_ASSERT(same_batches(&all, &s));
        // Epoch 0 again, after another one and a build in between.
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 4));
        HN_CHECK(&ctx, hn_sampler_build(&ctx, &s.sampler, &items, 0));
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 1));
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 0));
        CU_ASSERT(same_batches(&all, &s));
        sampled_close(&ctx, &all);
        sampled_close(&ctx, &s);
    }
    anchored_items_free(&ctx, &items);
}

static void test_seeds_and_epochs(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, false, cases);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    for (int i = 0; i < n; i++) {
        hn_test_entry(cases[i].type->name);
        struct sampled first, seed, epoch;
        const char *settings = cases[i].settings;
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, settings, &items, 7, 9, &first));
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, settings, &items, 7, 10, &seed));
        HN_CHECK(&ctx, sampled_open(&ctx, cases[i].type, settings, &items, 7, 9, &epoch));
        HN_CHECK(&ctx, sampled_epoch(&ctx, &epoch, &items, 1));
        CU_ASSERT_EQUAL(same_batches(&first, &seed), !varies(&cases[i]));
        CU_ASSERT_EQUAL(same_batches(&first, &epoch), !varies(&cases[i]));
        CU_ASSERT_EQUAL(same_batches(&seed, &epoch), !varies(&cases[i]));
        sampled_close(&ctx, &first);
        sampled_close(&ctx, &seed);
        sampled_close(&ctx, &epoch);
    }
    anchored_items_free(&ctx, &items);
}

enum { LADDER = 240, LADDER_BATCH = 12, LADDER_SEEDS = 25 };

// Items from far apart to all alike, in file order: a batch's hardness tells where its items lie.
static struct hn_items ladder(struct hn_context *ctx) {
    struct hn_items items = anchored_items(ctx, LADDER, D, 4, false, 6);
    float *x = (float *)items.x.data;
    for (int64_t i = 0; i < LADDER; i++)
        x[i * items.x.stride] += 6 * (float)i / LADDER;
    HN_CHECK(ctx, hn_normalize_rows(ctx, x, LADDER, D, "ladder"));
    return items;
}

static double mean_cosine(const struct hn_items *items, const int32_t *ids, int32_t size) {
    double sum = 0;
    for (int32_t a = 0; a < size; a++)
        for (int32_t b = 0; b < a; b++)
            sum += naive_dot(hn_row(&items->x, ids[a]), hn_row(&items->x, ids[b]), D);
    return sum / (size * (size - 1) / 2.0);
}

// Correlation of a batch's number in its epoch with its hardness.
static double order_of(const struct hn_items *items, const struct sampled *s) {
    double number[LADDER], hardness[LADDER];
    for (int64_t b = 0; b < s->batches; b++) {
        number[b] = (double)b;
        hardness[b] = mean_cosine(items, sampled_batch(s, b), s->size[b]);
    }
    return gsl_stats_correlation(number, 1, hardness, 1, (size_t)s->batches);
}

// The first batches of an epoch are a sample of all, unless the sampler says that they are not: a
// job that has fewer than an epoch draws a sample then.
static void test_order(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, false, cases);
    struct hn_items items = ladder(&ctx);
    for (int i = 0; i < n; i++) {
        const struct hn_sampler_type *type = cases[i].type;
        if (!(type->flags & HN_SAMPLER_PARTITION))
            continue;
        hn_test_entry(type->name);
        double sum = 0;
        for (uint64_t seed = 1; seed <= LADDER_SEEDS; seed++) {
            struct sampled s;
            HN_CHECK(&ctx,
                     sampled_open(&ctx, type, cases[i].settings, &items, LADDER_BATCH, seed, &s));
            sum += order_of(&items, &s);
            sampled_close(&ctx, &s);
        }
        // Of a random order the mean has a standard error of 1 / sqrt(seeds (batches - 1)) = .046.
        bool ordered = fabs(sum / LADDER_SEEDS) > 0.2;
        CU_ASSERT_EQUAL(ordered, (type->flags & HN_SAMPLER_ORDERED) != 0);
        if (getenv("SHOW"))
            fprintf(stderr, "%s %s: %.3f\n", type->name, cases[i].settings, sum / LADDER_SEEDS);
    }
    anchored_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"every_tables", test_tables},
    {"every_options", test_options},
    {"every_batches", test_batches},
    {"every_defaults", test_defaults},
    {"every_threads", test_threads},
    {"every_single_batches", test_single_batches},
    {"every_seeds_and_epochs", test_seeds_and_epochs},
    {"every_order", test_order},
};
HN_TEST_MAIN("samplers", tests)
