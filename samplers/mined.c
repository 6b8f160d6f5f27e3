// SPDX-License-Identifier: GPL-3.0-or-later
// Mined negatives: for every anchor the R most similar other items, less what filters drop as
// likely false negatives, and of the rest the n most similar, n at random, or n that are about as
// similar as the positive.
//
// With s the inner product of two clean embeddings, s+ that of the anchor's two views (its
// positive), and rank 1 the most similar item, an item is kept if, in this order,
//
//   rank               min_rank <= rank <= max_rank
//   copies             s < 1 - 1e-6, with exclude: copies or both
//   labels             it shares no label with the anchor, with exclude: labels or both; of tuples
//                      its passage is not known to be relevant to the anchor's query
//   score              min_score <= s <= max_score
//   absolute_margin    s <= s+ - absolute_margin
//   relative_margin    s <= s+ - relative_margin |s+|
//
// The margins are the positive-aware thresholds of hard-negative mining for text embeddings. What
// an item fails first it is counted under, by whether it has the anchor's label: table `attrition`.
// Ranks and comparisons are those of inner products in double, which rounding may leave above 1: s
// and s+ are at most 1.
//
// `take: ambiguous` draws n of what is left without replacement, each with probability in
// exp(-sharpness (s - s+ - shift)^2) of those that are still there (SimANS: Zhou et al., EMNLP
// 2022; a and b there).
//
// `take: ance` is `draw` with the settings of ANCE (Xiong et al., "Approximate Nearest Neighbor
// Negative Contrastive Learning for Dense Text Retrieval", ICLR 2021) for MS MARCO passages: one
// negative, at random from the 200 most similar, by an index that is 10,000 steps old at most. Its
// code (microsoft/ANCE) draws 20 a query when the index is made, each of which makes a triplet.
//
// `take: marginpos` and `take: percpos` are `top` with the positive-aware thresholds that
// NV-Retriever (Moreira et al., 2024, arXiv 2407.15831) calls TopK-MarginPos and TopK-PercPos: four
// negatives below the positive's similarity less .05, or below 95 % of it.
#include "core/label_sets.h"
#include "core/sweep/knn_lists.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

enum { TAKE_TOP, TAKE_DRAW, TAKE_AMBIGUOUS, TAKE_ANCE, TAKE_MARGINPOS, TAKE_PERCPOS };
enum { EXCLUDE_NONE, EXCLUDE_LABELS, EXCLUDE_COPIES, EXCLUDE_BOTH };
enum {
    FILTER_RANK,
    FILTER_COPIES,
    FILTER_LABELS,
    FILTER_SCORE,
    FILTER_ABSOLUTE,
    FILTER_RELATIVE,
    KEPT,
    STAGES
};
#define COPY 1e-6 // cosines of equal rows differ from 1 by their rounding: 2.4e-7 at most
enum { RELATION_TRUE, RELATION_FALSE, RELATION_UNKNOWN, RELATIONS };

struct params {
    int64_t r, n, min_rank, max_rank, t;
    double absolute_margin, relative_margin, min_score, max_score, sharpness, shift;
    int take, exclude;
};

struct state {
    struct hn_knn_lists knn; // id: the candidates; a build puts survivors first, in their order
    int64_t rows;            // candidates of an anchor
    int32_t *kept;           // [n] survivors
    float *likely; // [n x rows] logarithms of their weights; NULL unless they are drawn by
    double *key;   // [threads x rows] scratch of these draws
    int64_t attrition[STAGES][RELATIONS]; // candidates that end at a stage
};

static const char *const *preset(const void *p) {
    static const char *const of[][8] = {
        [TAKE_ANCE] = {"R", "200", "n", "1", "t", "10000"},
        [TAKE_MARGINPOS] = {"n", "4", "absolute_margin", "0.05"},
        [TAKE_PERCPOS] = {"n", "4", "relative_margin", "0.05"},
    };
    const struct params *params = p;
    return params->take < TAKE_ANCE ? NULL : of[params->take];
}

static bool takes_best(const struct params *params) {
    return params->take == TAKE_TOP || params->take == TAKE_MARGINPOS ||
           params->take == TAKE_PERCPOS;
}

static int64_t candidates(const struct params *params, int64_t n) {
    return hn_min(params->r, n - 1);
}

static int64_t capacity(const void *p, int64_t n) {
    const struct params *params = p;
    int64_t max = candidates(params, n);
    return params->n == 0 ? max : hn_min(params->n, max);
}

static bool needs_positive(const struct params *params) {
    return !isnan(params->absolute_margin) || !isnan(params->relative_margin) ||
           params->take == TAKE_AMBIGUOUS;
}

static bool excludes_labels(const struct params *params) {
    return params->exclude == EXCLUDE_LABELS || params->exclude == EXCLUDE_BOTH;
}

static bool excludes_copies(const struct params *params) {
    return params->exclude == EXCLUDE_COPIES || params->exclude == EXCLUDE_BOTH;
}

static enum hn_code check_parts(struct hn_context *ctx, const struct params *params,
                                bool has_positive, bool has_labels) {
    if (needs_positive(params) && !has_positive)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "mined that looks at the positive needs a second view, which the items do "
                       "not have");
    if (excludes_labels(params) && !has_labels)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "mined that excludes labels needs labels, which the items do not have");
    return HN_OK;
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->min_score > params->max_score)
        return hn_fail(ctx, HN_USAGE, "min_score = %g is above max_score = %g", params->min_score,
                       params->max_score);
    if (params->max_rank != INT64_MIN && params->max_rank < params->min_rank)
        return hn_fail(ctx, HN_USAGE, "max_rank = %lld is below min_rank = %lld",
                       (long long)params->max_rank, (long long)params->min_rank);
    if (params->min_rank > params->r)
        return hn_fail(ctx, HN_USAGE, "min_rank = %lld is beyond the R = %lld items looked at",
                       (long long)params->min_rank, (long long)params->r);
    if (params->take == TAKE_AMBIGUOUS ? isnan(params->sharpness)
                                       : !isnan(params->sharpness) || !isnan(params->shift))
        return hn_fail(ctx, HN_USAGE,
                       params->take == TAKE_AMBIGUOUS
                           ? "take: ambiguous wants sharpness, of which there is no default"
                           : "sharpness and shift are for take: ambiguous alone");
    if (check_parts(ctx, params, plan->has_positive, plan->has_labels))
        return ctx->code;
    hn_sampler_limit(ctx, "R", params->r, plan->n - 1, "there are no more other items");
    return HN_OK;
}

static enum hn_code open_mined(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    const struct params *params = self->params;
    state->rows = candidates(params, n);
    if (!HN_ALLOC(ctx, state->kept, n))
        return ctx->code;
    if (params->take != TAKE_AMBIGUOUS)
        return HN_OK;
    bool good = HN_ALLOC_ROWS(ctx, state->likely, n, state->rows) &&
                HN_ALLOC_ROWS(ctx, state->key, self->threads, state->rows);
    return good ? HN_OK : ctx->code;
}

static enum hn_code plan(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep) {
    struct state *state = self->state;
    if (pass > 0)
        return hn_knn_lists_plan(ctx, &state->knn, pass, sweep);
    if (check_parts(ctx, self->params, hn_has_positive(items), hn_has_relation(items)))
        return ctx->code;
    state->knn = (struct hn_knn_lists){
        .x = items->x, .y = *hn_negative_rows(items), .k = state->rows, .skip_self = true};
    return hn_knn_lists_plan(ctx, &state->knn, pass, sweep);
}

// The cosine of rows whose length is 1 up to the rounding of floats.
static double cosine(const float *x, const float *y, int64_t d) {
    return fmin(1, hn_dot_exact(x, y, d));
}

// The first filter that drops an item of that rank and similarity, or KEPT. NaN limits nothing.
static int stage_of(const struct params *p, int64_t rank, bool known, double s, double positive) {
    if (rank < p->min_rank || (p->max_rank != INT64_MIN && rank > p->max_rank))
        return FILTER_RANK;
    if (excludes_copies(p) && s >= 1 - COPY)
        return FILTER_COPIES;
    if (excludes_labels(p) && known)
        return FILTER_LABELS;
    if (s < p->min_score || s > p->max_score)
        return FILTER_SCORE;
    if (s > positive - p->absolute_margin)
        return FILTER_ABSOLUTE;
    if (s > positive - p->relative_margin * fabs(positive))
        return FILTER_RELATIVE;
    return KEPT;
}

static int relation_of(const struct hn_items *items, int32_t i, int32_t j) {
    if (items->tuples)
        return hn_tuples_relevant(items->tuples, i, j) ? RELATION_FALSE : RELATION_TRUE;
    if (!items->labels || items->labels[i] < 0 || items->labels[j] < 0)
        return RELATION_UNKNOWN;
    return hn_same_label(items->label_sets, items->labels[i], items->labels[j]) ? RELATION_FALSE
                                                                                : RELATION_TRUE;
}

// A pair of tuples that complete relevance alone tells is not known where negatives are chosen.
static bool is_known(const struct hn_items *items, int32_t i, int32_t j, int relation) {
    return items->tuples ? hn_tuples_known(items->tuples, i, j) : relation == RELATION_FALSE;
}

// Puts what survives of anchor i's candidates to the front.
static void filter_one(const struct params *params, struct state *state,
                       const struct hn_items *items, int32_t i,
                       int64_t attrition[STAGES][RELATIONS]) {
    int32_t *candidate = state->knn.id + i * state->rows, kept = 0;
    double positive = NAN;
    if (needs_positive(params))
        positive = cosine(hn_row(&items->x1, i), hn_row(&items->x2, i), items->d);
    for (int64_t k = 0; k < state->rows; k++) {
        int32_t found = candidate[k];
        double s = cosine(hn_row(&items->x, i), hn_row(hn_negative_rows(items), found), items->d);
        int relation = relation_of(items, i, found);
        int stage = stage_of(params, k + 1, is_known(items, i, found, relation), s, positive);
        attrition[stage][relation]++;
        if (stage != KEPT)
            continue;
        double off = s - positive - (isnan(params->shift) ? 0 : params->shift);
        if (state->likely)
            state->likely[i * state->rows + kept] = (float)(-params->sharpness * off * off);
        candidate[kept++] = found; // kept <= k
    }
    state->kept[i] = kept;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    memset(state->attrition, 0, sizeof state->attrition);
#pragma omp parallel num_threads(ctx->threads)
    {
        int64_t mine[STAGES][RELATIONS] = {{0}};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < self->n; i++)
            filter_one(params, state, items, (int32_t)i, mine);
        for (int f = 0; f < STAGES; f++)
            for (int k = 0; k < RELATIONS; k++) {
#pragma omp atomic
                state->attrition[f][k] += mine[f][k];
            }
    }
    int64_t products = self->n * (state->rows + needs_positive(params));
    self->build.dot += products - state->knn.again;
    self->build.bytes += products * items->d * (int64_t)sizeof(float);
    return HN_OK;
}

// Weighted sampling without replacement (Efraimidis and Spirakis 2006): the `count` least of
// exponential variables, each with its survivor's weight as rate.
static void draw_weighted(const struct state *state, int32_t anchor, int thread, int32_t count,
                          struct hn_stream *stream, int32_t *negative) {
    const int32_t *candidate = state->knn.id + anchor * state->rows;
    const float *likely = state->likely + anchor * state->rows;
    double *key = state->key + thread * state->rows; // of negative[], ascending
    int32_t n = 0;
    for (int32_t k = 0; k < state->kept[anchor]; k++) {
        double own = log(-log1p(-hn_stream_uniform(stream))) - (double)likely[k];
        if (n == count && own >= key[n - 1])
            continue;
        int32_t at = n < count ? n++ : n - 1;
        for (; at > 0 && key[at - 1] > own; at--) {
            key[at] = key[at - 1];
            negative[at] = negative[at - 1];
        }
        key[at] = own;
        negative[at] = candidate[k];
    }
}

// The first survivors, or as many at random.
static int32_t list(const struct hn_sampler *self, int32_t anchor, int64_t position, int thread,
                    struct hn_work *work, int32_t *negative) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    int32_t kept = state->kept[anchor], count = (int32_t)hn_min(kept, capacity(params, self->n));
    const int32_t *candidate = state->knn.id + anchor * state->rows;
    memcpy(negative, candidate, (size_t)count * sizeof *negative);
    if (takes_best(params))
        return count;
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "mined.draw", self->index, self->epoch, position);
    if (params->take == TAKE_AMBIGUOUS) {
        if (count > 0)
            draw_weighted(state, anchor, thread, count, &stream, negative);
        work->draw += kept;
        return count;
    }
    // Reservoir sampling (Vitter 1985, algorithm R): no capacity but that of the result.
    for (int32_t k = count; k < kept; k++) {
        int32_t to = (int32_t)hn_stream_below(&stream, (uint32_t)k + 1);
        if (to < count)
            negative[to] = candidate[k];
    }
    work->draw += kept - count;
    return count;
}

static const char *const stages[STAGES] = {
    "rank", "copies", "labels", "score", "absolute_margin", "relative_margin", "kept"};

static const struct hn_column columns[] = {
    {"run", HN_COLUMN_INT, "1", "row of /runs", HN_NEITHER, HN_ROLE_IDENTITY},
    {"filter", HN_COLUMN_TEXT, "", "filter that drops the candidates; kept: none does", HN_NEITHER,
     HN_ROLE_IDENTITY},
    {"true_negatives", HN_COLUMN_INT, "pairs", "candidates of another label than the anchor's",
     HN_NEITHER},
    {"false_negatives", HN_COLUMN_INT, "pairs", "candidates of the anchor's label", HN_NEITHER},
    {"unlabelled", HN_COLUMN_INT, "pairs", "pairs of which a label is unknown", HN_NEITHER},
};

static enum hn_code table(struct hn_context *ctx, const struct hn_sampler *self,
                          struct hn_table *out) {
    const struct state *state = self->state;
    if (hn_table_init(ctx, out, "attrition") ||
        hn_table_add_columns(ctx, out, columns, sizeof columns / sizeof columns[0]))
        return ctx->code;
    for (int f = 0; f < STAGES; f++) {
        const int64_t *count = state->attrition[f];
        if (HN_TABLE_PUT(ctx, out, HN_INT_VALUE("run", 0), HN_TEXT_VALUE("filter", stages[f]),
                         HN_INT_VALUE("true_negatives", count[RELATION_TRUE]),
                         HN_INT_VALUE("false_negatives", count[RELATION_FALSE]),
                         HN_INT_VALUE("unlabelled", count[RELATION_UNKNOWN])))
            return ctx->code;
    }
    return HN_OK;
}

static const char *const takes[] = {"top",       "draw",    "ambiguous", "ance",
                                    "marginpos", "percpos", NULL};
static const char *const words[] = {"all", NULL};
static const char *const exclusions[] = {"none", "labels", "copies", "both", NULL};

#define WHOLE(name, field, initial, help)                                                          \
    HN_INT_OPTION(struct params, field, name, initial, 1, INT32_MAX, help)
#define LIMIT(field, help) HN_REAL_OPTION(struct params, field, #field, NULL, -2, 2, help)

static const struct hn_option options[] = {
    {WHOLE("R", r, "100", "number of most similar items considered")},
    {WHOLE("n", n, "10", "negatives per anchor"), .choices = words},
    {HN_CHOICE_OPTION(struct params, take, "take", "top", takes,
                      "of what the filters leave: top: the most similar; draw: at random; "
                      "ambiguous: the more likely, the closer to the positive in similarity; "
                      "ance: at random, with R, n and t of ANCE where they are not given; "
                      "marginpos, percpos: top, with n and the margin of NV-Retriever's "
                      "TopK-MarginPos and TopK-PercPos likewise")},
    {HN_REAL_OPTION(struct params, sharpness, "sharpness", NULL, 0, 1e6,
                    "of take: ambiguous: a in exp(-a (s - s+ - b)^2)")},
    {LIMIT(shift, "of take: ambiguous: b there (default 0)")},
    {WHOLE("min_rank", min_rank, "1", "rank of the first item kept, 1 = the most similar")},
    {WHOLE("max_rank", max_rank, NULL, "rank of the last item kept")},
    {HN_CHOICE_OPTION(struct params, exclude, "exclude", "none", exclusions,
                      "items that are left out: labels: those that share a label with the anchor; "
                      "copies: those of its embedding, with a cosine of 1 up to 1e-6")},
    {WHOLE("t", t, NULL, "steps that the ranks are used for (default: always of the step itself)")},
    {LIMIT(min_score, "least similarity kept")},
    {LIMIT(max_score, "largest similarity kept")},
    {LIMIT(absolute_margin, "similarity is at most the positive's less this")},
    {LIMIT(relative_margin, "similarity is at most the positive's less this share of it")},
    {0}};

const struct hn_sampler_type hn_mined_sampler = {
    .name = "mined",
    .summary = "the most similar items that pass filters against false negatives",
    .source =
        "ANCE (Xiong et al., ICLR 2021), SimANS (Zhou et al., EMNLP 2022), NV-Retriever (Moreira "
        "et al., 2024)",
    .note = "similarities are those of clean embeddings, the positive's that of the two views; "
            "SimANS has inner products of any size, so that its a is not a sharpness of cosines; "
            "ANCE's "
            "index is approximate and made beside the training, and its positive is another "
            "document: here ranks are exact, and of the other items",
    .flags = HN_SAMPLER_PER_ANCHOR,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .preset = preset,
    .check = check,
    .open = open_mined,
    .plan = plan,
    .rebuild = rebuild,
    .list = list,
    .capacity = capacity,
    .table = table,
};
