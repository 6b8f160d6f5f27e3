// What every sampler has to keep: a loop over the registry and the template. A new sampler is
// tested here without a new test.
#include "datasets/snapshot.h"
#include "tests/sampled.h"

#include <ctype.h>

extern const struct hn_sampler_type hn_skeleton_sampler;

enum { N = 61, D = 8, TYPES_MAX = 64, CASES_MAX = 512 };

static int all_types(const struct hn_sampler_type *types[TYPES_MAX]) {
    int n = 0;
    while (hn_samplers[n] && n < TYPES_MAX - 1) {
        types[n] = hn_samplers[n];
        n++;
    }
    CU_ASSERT_PTR_NULL_FATAL(hn_samplers[n]);
    types[n++] = &hn_skeleton_sampler;
    return n;
}

// Items with a graph (a ring with chords; the last item has no edge) and a few binary features, so
// that every sampler applies. Owned: anchored_items_free().
struct anchored {
    struct hn_graph graph;
    struct hn_features features;
};

static struct hn_items anchored_items(struct hn_context *ctx, int64_t n, int64_t d, int classes,
                                      bool views, uint64_t seed) {
    struct hn_items items = hn_fixture_items(ctx, n, d, classes, views, seed);
    struct anchored *extra = hn_zalloc(ctx, 1, sizeof *extra);
    int32_t *from = hn_alloc(ctx, 2 * n, sizeof *from), *to = hn_alloc(ctx, 2 * n, sizeof *to);
    float *feature = hn_zalloc(ctx, n * 4, sizeof *feature);
    CU_ASSERT_FATAL(extra && from && to && feature);
    int64_t m = 0;
    for (int32_t v = 0; v + 2 < n; v++) {
        from[m] = v;
        to[m++] = v + 1;
        from[m] = v;
        to[m++] = (int32_t)((v * 7) % (n - 1));
    }
    HN_CHECK(ctx, hn_graph_symmetric(ctx, n, m, from, to, &extra->graph));
    for (int64_t i = 0; i < n; i++)
        feature[4 * i + i % 4] = 1;
    extra->features = (struct hn_features){.n = n, .p = 4, .dense = {feature, n, 4, 4}};
    items.graph = &extra->graph;
    items.features = &extra->features;
    hn_free(ctx, from);
    hn_free(ctx, to);
    return items;
}

// The graph is the first member of what is owned.
static void anchored_items_free(struct hn_context *ctx, struct hn_items *items) {
    struct anchored *extra = (struct anchored *)(void *)items->graph;
    hn_free(ctx, (void *)extra->features.dense.data);
    hn_graph_free(ctx, &extra->graph);
    hn_free(ctx, extra);
    hn_fixture_items_free(ctx, items);
}

// Options that suit N items, where the defaults do not.
static const char *settings_for(const struct hn_sampler_type *type) {
    if (strcmp(type->name, "batchsampler") == 0)
        return "M=20 K=5 tile=4";
    if (strcmp(type->name, "gcbs") == 0)
        return "quantile=0.9";
    return "";
}

// Samplers that are no partition, but whose epochs may end with a short batch all the same.
static bool ends_short(const struct hn_sampler_type *type) {
    return type->flags & (HN_SAMPLER_PARTITION | HN_SAMPLER_PER_ANCHOR) ||
           strcmp(type->name, "hard-negative") == 0;
}

// A sampler with settings.
struct sampler_case {
    const struct hn_sampler_type *type;
    char settings[128];
};

// Whether anything is random about it.
static bool varies(const struct sampler_case *c) {
    return strcmp(c->type->name, "null") != 0 && !strstr(c->settings, "start=sequential");
}

static bool with_replacement(const struct sampler_case *c) {
    return strstr(c->settings, "draw=iid") != NULL;
}

// Every sampler as it is, and with every choice of every option that has choices. `fit`: with
// options that suit N items.
static int all_cases(bool fit, struct sampler_case cases[CASES_MAX]) {
    const struct hn_sampler_type *types[TYPES_MAX];
    int n_types = all_types(types), n = 0;
    for (int i = 0; i < n_types; i++) {
        const char *base = fit ? settings_for(types[i]) : "";
        for (const struct hn_option *o = types[i]->options; o->name; o++) {
            for (int k = 0; o->kind == HN_OPTION_CHOICE && o->choices[k]; k++) {
                if (strcmp(o->choices[k], o->initial) == 0)
                    continue;
                CU_ASSERT_FATAL(n < CASES_MAX);
                cases[n].type = types[i];
                snprintf(cases[n].settings, sizeof cases[n].settings, "%s %s=%s", base, o->name,
                         o->choices[k]);
                n++;
            }
        }
        CU_ASSERT_FATAL(n < CASES_MAX);
        cases[n].type = types[i];
        snprintf(cases[n].settings, sizeof cases[n].settings, "%s", base);
        n++;
    }
    return n;
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
            CU_ASSERT(islower((unsigned char)*c) || *c == '-');
        CU_ASSERT(t->epoch && t->next);
        CU_ASSERT_EQUAL(t->reports != NULL, t->report != NULL);
        CU_ASSERT_EQUAL(t->reports != NULL, t->n_reports > 0);
        CU_ASSERT_EQUAL(t->room != NULL, (t->flags & HN_SAMPLER_PER_ANCHOR) != 0);
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

// An anchor's negatives are distinct other items, at most as many as there is room for; the
// counters of the sampler say how many.
static void check_negatives(const struct sampled *s) {
    int64_t anchors = 0, without = 0, pairs = 0;
    for (int64_t b = 0; b < s->batches; b++)
        for (int32_t a = 0; a < s->size[b]; a++) {
            int64_t p = b * s->sampler.batch_size + a;
            bool seen[N] = {0};
            seen[s->ids[p]] = true;
            CU_ASSERT_FATAL(s->negatives[p] >= 0 && s->negatives[p] <= s->room);
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
    unsigned whole = HN_SAMPLER_PARTITION | HN_SAMPLER_PER_ANCHOR;
    bool partition = (c->type->flags & whole) && !repeats;
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
    int n = all_cases(true, cases);
    const int32_t sizes[] = {2, 7, 16, N - 1, N};
    for (int views = 0; views < 2; views++) {
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
    int n = all_cases(false, cases);
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
    for (int64_t p = 0; a->room > 0 && p < a->batches * a->sampler.batch_size; p++) {
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
    int n = all_cases(true, cases);
    for (int views = 0; views < 2; views++) {
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
    int n = all_cases(true, cases);
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
    int n = all_cases(true, cases);
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

// Every allocation fails once: a clean error, nothing lost, until all succeed.
static void check_allocations(const struct hn_sampler_type *type, const char *settings,
                              const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum hn_code code;
    int64_t failures = 0;
    hn_test_entry(type->name);
    do {
        struct sampled s;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = failures + 1;
        ctx.message[0] = '\0';
        code = sampled_open(&ctx, type, settings, items, 7, 9, &s);
        if (!code) {
            code = sampled_epoch(&ctx, &s, items, 1);
            sampled_close(&ctx, &s);
        }
        CU_ASSERT_FATAL(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT(code == HN_OK || ctx.message[0] != '\0');
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        failures++;
    } while (code);
    CU_ASSERT(failures > 2);
}

static void test_failing_allocations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, cases);
    struct hn_items items = anchored_items(&ctx, N, D, 4, true, 6);
    for (int i = 0; i < n; i++)
        check_allocations(cases[i].type, cases[i].settings, &items);
    const struct hn_sampler_type *walks = hn_sampler_find("batchsampler");
    check_allocations(walks, "M=20 K=5 law=weight alpha=1", &items);
    check_allocations(walks, "M=1000 K=100", &items);
    check_allocations(hn_sampler_find("gcbs"), "quantile=0.9 quantile_method=reference", &items);
    check_allocations(hn_sampler_find("ring"), "space=embeddings n=3", &items);
    check_allocations(hn_sampler_find("stratified"), "clusters=60", &items);
    anchored_items_free(&ctx, &items);
}

static void test_misuse(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_type *types[TYPES_MAX];
    int n = all_types(types);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    struct hn_items fewer = anchored_items(&ctx, N - 1, D, 4, false, 6);
    for (int i = 0; i < n; i++) {
        hn_test_entry(types[i]->name);
        struct sampled s;
        struct hn_sampler raw;
        int64_t batches;
        HN_CHECK(&ctx, sampled_open(&ctx, types[i], settings_for(types[i]), &items, 7, 9, &s));
        HN_CHECK_FAILS(&ctx, sampled_some(&ctx, &s, s.batches, 1), HN_INTERNAL, types[i]->name);
        HN_CHECK_FAILS(&ctx, sampled_some(&ctx, &s, -1, 1), HN_INTERNAL, "asked for");
        HN_CHECK_FAILS(&ctx, hn_sampler_build(&ctx, &s.sampler, &fewer, 0), HN_INTERNAL,
                       "built on");
        HN_CHECK_FAILS(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, N + 1, 1, &raw), HN_DATA,
                       "batch size");
        hn_sampler_close(&ctx, &raw);
        HN_CHECK_FAILS(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, 1, 1, &raw), HN_USAGE,
                       "batch size");
        HN_CHECK(&ctx, hn_sampler_open(&ctx, types[i], s.params, N, 7, 1, &raw));
        HN_CHECK_FAILS(&ctx, hn_sampler_epoch(&ctx, &raw, &items, 0, &batches), HN_INTERNAL,
                       "before");
        hn_sampler_close(&ctx, &raw);
        hn_sampler_close(&ctx, &raw);
        sampled_close(&ctx, &s);
    }
    anchored_items_free(&ctx, &items);
    anchored_items_free(&ctx, &fewer);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// An interrupt ends a life cycle cleanly wherever it is looked for.
static void test_interrupt(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct sampler_case cases[CASES_MAX];
    int n = all_cases(true, cases), interrupted = 0;
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    volatile sig_atomic_t stop = 1;
    ctx.stop = &stop;
    for (int i = 0; i < n; i++) {
        hn_test_entry(cases[i].type->name);
        struct sampled s;
        enum hn_code code = sampled_open(&ctx, cases[i].type, cases[i].settings, &items, 7, 9, &s);
        CU_ASSERT(code == HN_OK || code == HN_INTERRUPTED);
        interrupted += code == HN_INTERRUPTED;
        sampled_close(&ctx, &s);
    }
    CU_ASSERT(interrupted >= 3);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// All samplers start batch b from the same item.
static void test_common_starts(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = anchored_items(&ctx, N, D, 4, false, 6);
    struct sampled knn, walk;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, 7, 9, &knn));
    HN_CHECK(&ctx,
             sampled_open(&ctx, hn_sampler_find("batchsampler"), "M=9 K=3", &items, 7, 9, &walk));
    for (int64_t b = 0; b < knn.batches; b++)
        CU_ASSERT_EQUAL(sampled_batch(&knn, b)[0], sampled_batch(&walk, b)[0]);
    sampled_close(&ctx, &knn);
    sampled_close(&ctx, &walk);
    anchored_items_free(&ctx, &items);
}

// Percent of same-label pairs in `epochs` epochs of batches of 256.
static double same_label_percent(struct hn_context *ctx, const char *name, const char *settings,
                                 const struct hn_items *items, int64_t epochs) {
    struct sampled s;
    int64_t same = 0, pairs = 0;
    HN_CHECK(ctx, sampled_open(ctx, hn_sampler_find(name), settings, items, 256, 1, &s));
    for (int64_t epoch = 0; epoch < epochs; epoch++) {
        HN_CHECK(ctx, sampled_epoch(ctx, &s, items, epoch));
        for (int64_t b = 0; b < s.batches; b++)
            for (int32_t i = 0; i < s.size[b]; i++)
                for (int32_t j = 0; j < i; j++) {
                    same += items->labels[sampled_batch(&s, b)[i]] ==
                            items->labels[sampled_batch(&s, b)[j]];
                    pairs++;
                }
    }
    sampled_close(ctx, &s);
    return 100 * (double)same / (double)pairs;
}

// On trained embeddings of ten classes: uniform batches hold 10 % pairs of one label, nearest
// neighbours far more, walks lie between.
static void test_real_embeddings(void) {
    char path[4096];
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared embeddings are not there");
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_snapshot *snapshot;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &snapshot));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, snapshot, hn_snapshot_info(snapshot)->steps - 1, &items));
    double uniform = same_label_percent(&ctx, "uniform", "", &items, 5);
    double knn = same_label_percent(&ctx, "knn", "", &items, 3);
    double near = same_label_percent(&ctx, "batchsampler", "M=1000 alpha=0.2", &items, 5);
    double gcbs = same_label_percent(&ctx, "gcbs", "", &items, 1);
    CU_ASSERT(fabs(uniform - 10) < 0.3);
    CU_ASSERT(near > uniform + 0.5);
    CU_ASSERT(knn > near + 5);
    CU_ASSERT(gcbs > uniform + 0.5);
    fprintf(stderr, "    same-label pairs: uniform %.2f, walk %.2f, gcbs %.2f, knn %.2f %%\n",
            uniform, near, gcbs, knn);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, snapshot);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"every_tables", test_tables},
    {"every_options", test_options},
    {"every_batches", test_batches},
    {"every_defaults", test_defaults},
    {"every_threads", test_threads},
    {"every_single_batches", test_single_batches},
    {"every_seeds_and_epochs", test_seeds_and_epochs},
    {"every_failing_allocations", test_failing_allocations},
    {"every_misuse", test_misuse},
    {"every_interrupt", test_interrupt},
    {"common_starts", test_common_starts},
    {"real_embeddings", test_real_embeddings},
};
HN_TEST_MAIN("samplers", tests)
