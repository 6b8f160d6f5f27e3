// Mining against an oracle: lists that are filtered one rule after the other, in double.
#include "core/sweep/blas.h"
#include "tests/fixture.h"
#include "tests/retrieval/mining_fixture.h"

#include <jansson.h>

static struct hn_context ctx;

// A list of passages of a query, and what the oracle knows of them.
struct list {
    int n;
    int32_t id[PASSAGES];
};

static double dot(const float *x, const float *y) {
    double s = 0;
    for (int d = 0; d < DIM; d++)
        s += (double)x[d] * (double)y[d];
    return s;
}

struct oracle {
    const struct small *s;
    const struct hn_mine_options *o; // resolved
    bool merge, texts;
};

static double model(const struct oracle *w, int q, int p) {
    return dot(w->s->row[HN_QUERIES] + q * DIM, w->s->row[HN_CORPUS] + p * DIM);
}

static double seen(const struct oracle *w, int q, int p) {
    return w->o->filter_by == HN_BY_TEACHER
               ? dot(w->s->teacher[HN_QUERIES] + q * DIM, w->s->teacher[HN_CORPUS] + p * DIM)
               : model(w, q, p);
}

static int first_of_text(const struct oracle *w, int p) {
    int f = 0;
    while (w->s->group[HN_CORPUS][f] != w->s->group[HN_CORPUS][p])
        f++;
    return f;
}

static bool same(const struct oracle *w, int a, int b) {
    return a == b || (w->texts && w->s->group[HN_CORPUS][a] == w->s->group[HN_CORPUS][b]);
}

// The positives of a query, as the dialect sees them: of all queries of its text where texts merge.
static struct list positives(const struct oracle *w, int q) {
    const struct hn_qrels *r = &w->s->data.qrels;
    struct list out = {0};
    for (int other = 0; other < w->s->n[HN_QUERIES]; other++) {
        bool counts = other == q ||
                      (w->merge && w->s->group[HN_QUERIES][other] == w->s->group[HN_QUERIES][q]);
        for (int64_t e = r->start[other]; counts && e < r->start[other + 1]; e++)
            if (r->grade[e] > 0 && out.n < PASSAGES)
                out.id[out.n++] = w->merge ? first_of_text(w, r->passage[e]) : r->passage[e];
    }
    return out;
}

// A judged grade of 0 behind a positive one of the same pair takes it back where texts merge: the
// fixture leaves that open, so the oracle keeps clear of it by grades of a text that agree.
static bool is_positive(const struct oracle *w, int q, int p) {
    struct list pos = positives(w, q);
    bool found = false;
    for (int i = 0; i < pos.n; i++)
        found |= same(w, pos.id[i], p);
    return found;
}

static double least_positive(const struct oracle *w, int q) {
    struct list pos = positives(w, q);
    double least = NAN;
    for (int i = 0; i < pos.n; i++)
        if (!(seen(w, q, pos.id[i]) >= least))
            least = seen(w, q, pos.id[i]);
    return least;
}

static struct list ranked(const struct oracle *w, int q, bool by_seen, struct list from) {
    for (int i = 1; i < from.n; i++)
        for (int k = i; k > 0; k--) {
            int32_t a = from.id[k - 1], b = from.id[k];
            double x = by_seen ? seen(w, q, a) : model(w, q, a);
            double y = by_seen ? seen(w, q, b) : model(w, q, b);
            if (x > y || (x == y && a < b))
                break;
            from.id[k - 1] = b;
            from.id[k] = a;
        }
    return from;
}

enum rule { KNOWN, SELF, DUPLICATE, ABSOLUTE, RELATIVE, MAX, MIN };

// Whether rule r takes away a passage.
static bool takes(const struct oracle *w, enum rule r, int q, int p, const struct list *before,
                  int place) {
    const struct hn_mine_options *o = w->o;
    double s = seen(w, q, p), b = least_positive(w, q);
    switch (r) {
    case KNOWN: return is_positive(w, q, p);
    case SELF:
        return (o->self == HN_SELF_TEXT || o->self == HN_SELF_BOTH) &&
               w->s->group[HN_QUERIES][q] == w->s->group[HN_CORPUS][p];
    case DUPLICATE:
        for (int i = 0; i < place; i++)
            if (o->equal_texts == HN_EQUAL_FILTER && same(w, before->id[i], p))
                return true;
        return false;
    case ABSOLUTE: return !isnan(o->absolute_margin) && !(s + o->absolute_margin <= b);
    case RELATIVE: return !isnan(o->relative_margin) && !(s <= b - fabs(b) * o->relative_margin);
    case MAX: return s > o->max_score;
    default: return s < o->min_score;
    }
}

static struct list window(const struct oracle *w, struct list from, const struct list *all) {
    struct list out = {0};
    for (int i = 0; i < from.n; i++) {
        int place = i + 1;
        for (int k = 0; w->o->rank_of == HN_RANK_RAW && k < all->n; k++)
            if (all->id[k] == from.id[i])
                place = k + 1;
        if (place >= w->o->min_rank && place <= w->o->max_rank)
            out.id[out.n++] = from.id[i];
    }
    return out;
}

static struct list answer(const struct oracle *w, int q) {
    struct list all = {0}, left;
    for (int p = 0; p < w->s->n[HN_CORPUS]; p++)
        if (!w->merge || first_of_text(w, p) == p)
            all.id[all.n++] = p;
    all = ranked(w, q, false, all);
    all.n = all.n < w->o->depth ? all.n : (int)w->o->depth;
    if (w->o->rank_by != HN_BY_MODEL)
        all = ranked(w, q, true, all);
    left = all;
    for (int r = KNOWN; r <= MIN; r++) {
        struct list next = {0};
        if (r == ABSOLUTE && w->o->rank_of != HN_RANK_SURVIVORS)
            left = window(w, left, &all);
        for (int i = 0; i < left.n; i++) {
            int place = 0;
            while (all.id[place] != left.id[i])
                place++;
            if (!takes(w, r, q, left.id[i], &all, place))
                next.id[next.n++] = left.id[i];
        }
        left = next;
    }
    if (w->o->rank_of == HN_RANK_SURVIVORS)
        left = window(w, left, &all);
    return left;
}

// Options of a dialect, each given now and then; values are multiples of 1/8 as scores are.
static struct hn_mine_options draw_options(struct hn_stream *s, enum hn_mine_preset preset) {
    struct hn_mine_options o = no_options(preset);
    double *value[] = {&o.absolute_margin, &o.relative_margin, &o.max_score, &o.min_score};
    if (below(s, 2))
        o.n = 1 + below(s, 5);
    if (below(s, 2))
        o.min_rank = 1 + below(s, 6);
    if (below(s, 2))
        o.max_rank = (o.min_rank > 0 ? o.min_rank : 11) + 14 + below(s, 20);
    if (preset != HN_PRESET_SENTENCE_TRANSFORMERS && below(s, 2))
        o.depth = 60;
    for (int k = 0; k < 4; k++)
        if (below(s, 3) == 0)
            *value[k] = .125 * (double)(below(s, 8) - (k < 2 ? 0 : 2));
    if (preset == HN_PRESET_NONE) {
        o.rank_of = below(s, 4);
        o.equal_texts = below(s, 4);
        o.self = below(s, 3);
    }
    if (below(s, 4) == 0)
        o.filter_by = HN_BY_TEACHER;
    o.take = HN_TAKE_TOP;
    o.fill = HN_FILL_KEEP;
    return o;
}

static void check_case(struct hn_stream *s, enum hn_mine_preset preset, int64_t number) {
    struct small data;
    struct hn_miner m;
    struct hn_mined got;
    struct hn_mine_options o;
    HN_SCOPE(&ctx);
    make_small(&ctx, s, &data);
    bool unknown = preset == HN_PRESET_NONE && below(s, 4) == 0;
    for (int q = 0; unknown && q < QUERIES; q++)
        data.group[HN_QUERIES][q] = -1 - q; // for the oracle: like no other
    if (unknown)
        data.data.group[HN_QUERIES] = NULL;
    o = draw_options(s, preset);
    ctx.threads = below(s, 8) ? 1 : 1 + below(s, 4);
    // Grades above 0 alone: what becomes of a pair judged twice is a test of its own.
    for (int64_t e = 0; e < data.data.qrels.start[data.n[HN_QUERIES]]; e++)
        data.data.qrels.grade[e] = 1;
    mine_all(&ctx, &data.data, &o, &m, &got);
    const struct oracle w = {.s = &data,
                             .o = &m.o,
                             .merge = m.o.equal_texts == HN_EQUAL_MERGE,
                             .texts = m.o.equal_texts != HN_EQUAL_APART};
    for (int q = 0; q < data.n[HN_QUERIES]; q++) {
        struct list want = answer(&w, q);
        int n = want.n < m.o.n ? want.n : (int)m.o.n;
        bool good = got.n[q] == n && memcmp(got.id + q * got.width, want.id, (size_t)n * 4) == 0;
        if (!good)
            fprintf(stderr, "    case %lld, preset %d, query %d: %d negatives, wanted %d\n",
                    (long long)number, (int)preset, q, (int)got.n[q], n);
        CU_ASSERT_FATAL(good);
        for (int k = 0; k < n; k++)
            CU_ASSERT_EQUAL(got.score[q * got.width + k], seen(&w, q, want.id[k]));
    }
}

// HN_FUZZ_CASES: how many of each dialect; the suite takes a hundred.
static void test_oracle(void) {
    const char *given = getenv("HN_FUZZ_CASES");
    int64_t cases = given ? atoll(given) : 100;
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int preset = HN_PRESET_NONE; preset <= HN_PRESET_TEVATRON; preset++)
        for (int64_t k = 0; k < cases; k++) {
            hn_stream_open(&s, 1, "test.mine", preset, 0, k);
            check_case(&s, (enum hn_mine_preset)preset, k);
        }
}

static float *read_rows(const json_t *list, int64_t *n) {
    *n = (int64_t)json_array_size(list);
    float *x = hn_alloc(&ctx, *n * DIM, sizeof *x);
    for (int64_t i = 0; x && i < *n * DIM; i++)
        x[i] = (float)json_integer_value(
                   json_array_get(json_array_get(list, (size_t)(i / DIM)), (size_t)(i % DIM))) /
               4;
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    return x;
}

static double number(const json_t *options, const char *key) {
    const json_t *v = json_object_get(options, key);
    return v ? json_number_value(v) : NAN;
}

static int64_t integer(const json_t *options, const char *key) {
    const json_t *v = json_object_get(options, key);
    return v ? json_integer_value(v) : INT64_MIN;
}

static void check_rows(const json_t *want, const struct hn_mined *got, int64_t number_of_case) {
    for (int64_t q = 0; q < got->count; q++) {
        const json_t *row = json_array_get(want, (size_t)q);
        bool good = (int64_t)json_array_size(row) == got->n[q];
        for (int32_t k = 0; good && k < got->n[q]; k++)
            good =
                json_integer_value(json_array_get(row, (size_t)k)) == got->id[q * got->width + k];
        if (!good)
            fprintf(stderr, "    case %lld, query %lld\n", (long long)number_of_case, (long long)q);
        CU_ASSERT_FATAL(good);
    }
}

static void read_data(const json_t *c, struct hn_mine_data *data) {
    int64_t n[HN_SETS];
    const float *q = read_rows(json_object_get(c, "queries"), &n[0]);
    const float *p = read_rows(json_object_get(c, "passages"), &n[1]);
    const json_t *pairs = json_object_get(c, "qrels");
    size_t count = json_array_size(pairs);
    struct hn_judgement *list = hn_alloc(&ctx, (int64_t)count, sizeof *list);
    for (size_t k = 0; k < count; k++)
        list[k] = (struct hn_judgement){
            (int32_t)json_integer_value(json_array_get(json_array_get(pairs, k), 0)),
            (int32_t)json_integer_value(json_array_get(json_array_get(pairs, k), 1)), 1};
    *data = (struct hn_mine_data){.rows = {rows_of(q, n[0]), rows_of(p, n[1])}};
    HN_CHECK(&ctx, hn_qrels_build(&ctx, list, (int64_t)count, n[0], &data->qrels));
}

// The cases that come with the specification: sentence-transformers, FlagEmbedding's candidates,
// the ranking.
static void check_published(const json_t *c, int64_t k) {
    struct hn_mine_data data;
    struct hn_miner m;
    struct hn_mined got;
    struct hn_mine_options o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    const json_t *given = json_object_get(c, "options"), *flag = json_object_get(c, "window");
    HN_SCOPE(&ctx);
    read_data(c, &data);
    o.n = integer(given, "num_negatives");
    o.min_rank = integer(given, "range_min") + 1;
    o.max_rank = integer(given, "range_max");
    o.absolute_margin = number(given, "absolute_margin");
    o.relative_margin = number(given, "relative_margin");
    o.max_score = number(given, "max_score");
    o.min_score = number(given, "min_score");
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "sentence_transformers"), &got, k);
    o = no_options(HN_PRESET_FLAGEMBEDDING);
    o.min_rank = json_integer_value(json_array_get(flag, 0)) + 1;
    o.max_rank = json_integer_value(json_array_get(flag, 1));
    o.n = o.max_rank - o.min_rank + 1;
    o.fill = HN_FILL_KEEP;
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "flagembedding_candidates"), &got, k);
    o = no_options(HN_PRESET_NONE);
    o.include_positives = true;
    o.n = data.rows[HN_CORPUS].rows;
    mine_all(&ctx, &data, &o, &m, &got);
    check_rows(json_object_get(c, "ranking"), &got, k);
}

static void test_cases(void) {
    char path[512];
    json_error_t error;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    if (!hn_fixture_shared("retrieval/cases.json", path, sizeof path)) {
        hn_test_skip("no ../shared/retrieval/cases.json");
        return;
    }
    json_t *all = json_load_file(path, 0, &error);
    const json_t *cases = json_object_get(all, "cases");
    CU_ASSERT_EQUAL_FATAL(json_array_size(cases), 120);
    for (size_t k = 0; k < 120; k++)
        check_published(json_array_get(cases, k), (int64_t)k);
    json_decref(all);
}

// One query (1, 0) and passages of scores 1, .5, 0, -.5, -1; the first is its positive.
static const float line_q[] = {1, 0};
static const float line_p[] = {1, 0, .5F, .8660254F, 0, 1, -.5F, .8660254F, -1, 0};

static void line(struct hn_mine_data *data, int32_t positive) {
    struct hn_judgement known[] = {{0, positive, 1}};
    *data = (struct hn_mine_data){.rows = {{line_q, 1, 2, 2}, {line_p, 5, 2, 2}}};
    HN_CHECK(&ctx, hn_qrels_build(&ctx, known, 1, 1, &data->qrels));
}

static void expect_ids(const struct hn_mine_data *data, const struct hn_mine_options *o, int n,
                       const int32_t *want) {
    struct hn_miner m;
    struct hn_mined got;
    HN_SCOPE(&ctx);
    mine_all(&ctx, data, o, &m, &got);
    CU_ASSERT_EQUAL(got.n[0], n);
    for (int k = 0; k < n && k < got.n[0]; k++)
        CU_ASSERT_EQUAL(got.id[k], want[k]);
}
#define EXPECT_IDS(data, o, ...)                                                                   \
    expect_ids(data, o, (int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)),                 \
               (const int32_t[]){__VA_ARGS__})

static struct hn_mine_options three(void) {
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    o.n = 3;
    return o;
}

static void test_bounds_stay(void) {
    struct hn_mine_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    line(&data, 0);
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.absolute_margin = .5;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.absolute_margin = .5000001;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    o = three();
    o.relative_margin = 1;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    o.min_score = -.5;
    EXPECT_IDS(&data, &o, 2, 3);
    o = three();
    o.max_score = 0;
    EXPECT_IDS(&data, &o, 2, 3, 4);
    // A positive below 0: the margin goes down from it, not towards 0.
    line(&data, 3);
    o = three();
    o.relative_margin = .1;
    EXPECT_IDS(&data, &o, 4);
}

static void test_without_positives(void) {
    struct hn_mine_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    line(&data, 0);
    data.qrels.grade[0] = 0; // judged and not relevant: a candidate like others
    EXPECT_IDS(&data, &o, 0, 1, 2);
    o.relative_margin = 0;
    expect_ids(&data, &o, 0, NULL);
}

static void test_other_scores(void) {
    static const float tq[] = {0, 1}, tp[] = {0, 1, 1, 0, 0, 1, -1, 0, 0, -1};
    int64_t start[] = {0, 3};
    int32_t passage[] = {0, 2, 3};
    float score[] = {5, 6, 4};
    struct hn_mine_data data;
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    line(&data, 0);
    struct hn_miner m;
    o.guide = 1;
    HN_CHECK_FAILS(&ctx, hn_miner_open(&ctx, &data, &o, "f.h5", &m), HN_DATA, "--guide");
    data.scores = (struct hn_pair_scores){start, passage, score};
    EXPECT_IDS(&data, &o, 3); // 4 <= 5 - 1; what is not listed does not pass
    o = three();
    o.filter_by = HN_BY_LISTED;
    o.max_score = 6;
    EXPECT_IDS(&data, &o, 2, 3);
    o.rank_by = HN_BY_LISTED;
    EXPECT_IDS(&data, &o, 2, 3);
    // The teacher's scores of 1 to 4 are 0, 1, 0, -1.
    data.teacher[0] = (struct hn_matrix){tq, 1, 2, 2};
    data.teacher[1] = (struct hn_matrix){tp, 5, 2, 2};
    o = three();
    o.guide = 1;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o = three();
    o.filter_by = HN_BY_TEACHER;
    o.max_score = 0;
    EXPECT_IDS(&data, &o, 1, 3, 4);
    o.rank_by = HN_BY_TEACHER;
    o.max_score = NAN;
    EXPECT_IDS(&data, &o, 2, 1, 3);
    // sentence-transformers asks another scorer only where a margin or a ceiling is given.
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.filter_by = HN_BY_TEACHER;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.max_score = 2;
    EXPECT_IDS(&data, &o, 2, 1, 3);
}

static void test_own_id(void) {
    struct hn_mine_data data;
    struct hn_mine_options o = three();
    struct hn_strings q = {0}, p = {0};
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    line(&data, 0);
    HN_CHECK(&ctx, hn_strings_add(&ctx, &q, "07", 2));
    for (int i = 0; i < 5; i++)
        HN_CHECK(&ctx, hn_strings_add(&ctx, &p, ((const char *[]){"a", "7", "07", "b", "c"})[i],
                                      i == 2 ? 2 : 1));
    data.id[0] = &q;
    data.id[1] = &p;
    EXPECT_IDS(&data, &o, 1, 2, 3);
    o.self = HN_SELF_ID;
    EXPECT_IDS(&data, &o, 1, 3, 4);
}

static void test_presets(void) {
    struct hn_mine_options o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 2));
    CU_ASSERT(o.n == 3 && o.min_rank == 1 && o.max_rank == 5 && o.depth == 7);
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.min_rank = 5;
    o.max_score = .9;
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 2));
    CU_ASSERT(o.max_rank == 4 + 30 + 2 && o.depth == o.max_rank + 2);
    o = no_options(HN_PRESET_SENTENCE_TRANSFORMERS);
    o.min_score = .1; // does not widen the window
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 1));
    CU_ASSERT_EQUAL(o.max_rank, 4);
    o = no_options(HN_PRESET_FLAGEMBEDDING);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 9));
    CU_ASSERT(o.n == 15 && o.min_rank == 11 && o.max_rank == 210 && o.depth == 210);
    o = no_options(HN_PRESET_TEVATRON);
    HN_CHECK(&ctx, hn_mine_resolve(&ctx, &o, 9));
    CU_ASSERT(o.n == 100 && o.depth == 100 && o.rank_of == HN_RANK_RAW);
    o = no_options(HN_PRESET_NONE);
    o.min_rank = 5;
    o.max_rank = 8;
    o.n = 5;
    HN_CHECK_FAILS(&ctx, hn_mine_resolve(&ctx, &o, 1), HN_USAGE, "ranks 5 to 8");
}

// Drawn ones are among those that top would leave, as many, other ones with another seed; what
// fills up is no positive, no text of one, and nowhere twice.
static void test_draws(void) {
    struct hn_stream s;
    int64_t differ = 0, filled = 0;
    hn_context_init(&ctx, 3);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t k = 0; k < 100; k++) {
        struct small data;
        struct hn_miner m;
        struct hn_mined all, some, other, full;
        struct hn_mine_options o = no_options(HN_PRESET_FLAGEMBEDDING);
        HN_SCOPE(&ctx);
        hn_stream_open(&s, 2, "test.draws", 0, 0, k);
        make_small(&ctx, &s, &data);
        o.min_rank = 1;
        o.fill = HN_FILL_KEEP;
        o.n = PASSAGES;
        o.take = HN_TAKE_TOP;
        mine_all(&ctx, &data.data, &o, &m, &all);
        o.n = 4;
        o.take = HN_TAKE_DRAW;
        mine_all(&ctx, &data.data, &o, &m, &some);
        o.seed = 2;
        mine_all(&ctx, &data.data, &o, &m, &other);
        o.fill = HN_FILL_DRAW;
        mine_all(&ctx, &data.data, &o, &m, &full);
        for (int64_t q = 0; q < data.n[HN_QUERIES]; q++) {
            CU_ASSERT_EQUAL(some.n[q], hn_min(4, all.n[q]));
            int32_t at = 0;
            for (int32_t i = 0; i < some.n[q]; i++) { // in the order of all, so by score
                while (at < all.n[q] && all.id[q * all.width + at] != some.id[q * some.width + i])
                    at++;
                CU_ASSERT(at < all.n[q]);
                differ += some.id[q * some.width + i] != other.id[q * other.width + i];
            }
            CU_ASSERT_EQUAL(memcmp(full.id + q * full.width, other.id + q * other.width,
                                   (size_t)other.n[q] * 4),
                            0);
            for (int32_t i = 0; i < full.n[q]; i++) {
                int32_t p = full.id[q * full.width + i];
                for (int32_t other_i = 0; other_i < i; other_i++)
                    CU_ASSERT_NOT_EQUAL(data.group[1][p],
                                        data.group[1][full.id[q * full.width + other_i]]);
                for (int64_t e = m.known.start[q]; e < m.known.start[q + 1]; e++)
                    CU_ASSERT_NOT_EQUAL(data.group[1][p], m.known.key[e]);
            }
            filled += full.n[q] - other.n[q];
        }
        CU_ASSERT_EQUAL(full.drawn, filled);
        filled = 0;
    }
    CU_ASSERT(differ > 100);
}

// More passages that are the query itself, up to rounding, than are looked at: the lower indices.
static void test_equal_to_the_query(void) {
    enum { COPIES = 30, D = 7 };
    float q[D], p[COPIES * D];
    struct hn_mine_data data = {.rows = {{q, 1, D, D}, {p, COPIES, D, D}}};
    struct hn_judgement none[1];
    struct hn_mine_options o = three();
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    HN_SCOPE(&ctx);
    for (int k = 0; k < D; k++)
        q[k] = 1.0F + (float)k;
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, q, 1, D, "q"));
    // A little too long, by different amounts.
    for (int i = 0; i < COPIES * D; i++)
        p[i] = q[i % D] * (1 + (float)(2 + i / D * 7 % COPIES) * 1.2e-7F);
    HN_CHECK(&ctx, hn_qrels_build(&ctx, none, 0, 1, &data.qrels));
    int above = 0;
    for (int i = 0; i < COPIES; i++)
        above += hn_dot_exact(q, p + i * D, D) > 1;
    CU_ASSERT_EQUAL_FATAL(above, COPIES); // else nothing is shown
    o.depth = 3;
    EXPECT_IDS(&data, &o, 0, 1, 2);
}

static const struct hn_test tests[] = {
    {"oracle", test_oracle},
    {"cases", test_cases},
    {"bounds_stay", test_bounds_stay},
    {"without_positives", test_without_positives},
    {"other_scores", test_other_scores},
    {"own_id", test_own_id},
    {"presets", test_presets},
    {"draws", test_draws},
    {"equal_to_the_query", test_equal_to_the_query},
};
HN_TEST_MAIN("mine", tests)
