// SPDX-License-Identifier: GPL-3.0-or-later
// Mining against an oracle: lists that are filtered one rule after the other, in double.
#include "core/sweep/blas.h"
#include "retrieval/miner.h"
#include "retrieval/relevance.h"
#include "retrieval/take.h"
#include "tests/retrieval/mining_fixture.h"

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

static double min_positive(const struct oracle *w, int q) {
    struct list pos = positives(w, q);
    double min = NAN;
    for (int i = 0; i < pos.n; i++)
        if (!(seen(w, q, pos.id[i]) >= min))
            min = seen(w, q, pos.id[i]);
    return min;
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
    double s = seen(w, q, p), b = min_positive(w, q);
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

static void test_oracle(void) {
    int64_t cases = fuzz_cases(100); // of each dialect
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int preset = HN_PRESET_NONE; preset <= HN_PRESET_TEVATRON; preset++)
        for (int64_t k = 0; k < cases; k++) {
            hn_stream_open(&s, fuzz_seed(), "test.mine", preset, 0, k);
            check_case(&s, (enum hn_mine_preset)preset, k);
        }
}

static const struct hn_test tests[] = {
    {"oracle", test_oracle},
};
HN_TEST_MAIN("mine", tests)
