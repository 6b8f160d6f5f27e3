// SPDX-License-Identifier: GPL-3.0-or-later
// Losses over batches: blocks of scores by a matrix product, every anchor's gradients in their
// position, and from these the gradients of both views by further products.
#include "training/net/loss.h"
#include "core/clones.h"

#include <math.h>
#include <string.h>

const struct hn_loss_type hn_objectives[] = {
    [HN_OBJECTIVE_NTXENT] = {"ntxent", "Anchors from both views; 2B - 2 negatives from both views",
                             "BS equation 16"},
    [HN_OBJECTIVE_INFONCE] = {"infonce",
                              "Anchors from the first view; B - 1 negatives from the same view",
                              "BS equation 1"},
    [HN_OBJECTIVE_OTHER_VIEW] = {"other-view",
                                 "Anchors from the first view; negatives from the other view",
                                 "BS equation 17; NS equation 3"},
    [HN_OBJECTIVE_BOTH_WAYS] = {"both-ways",
                                "Anchors from both views; negatives from the other one: the mean "
                                "of other-view in both directions",
                                "GC section 3 (both losses); CLIP (Radford et al. 2021)"},
    [HN_OBJECTIVE_QUEUE] = {"moco",
                            "Anchors from the first view; positives by a momentum encoder, "
                            "negatives from a queue of its earlier outputs",
                            "He et al. 2020, algorithm 1; GC table 4, HC appendix C.1"},
    [HN_OBJECTIVE_JSD] = {"jsd",
                          "Nodes against the vectors of their own graph and of others, by the "
                          "Jensen-Shannon estimator",
                          "InfoGraph (Sun et al. 2020); HC appendix B.2"},
    [HN_OBJECTIVE_SIAMESE] = {"siamese", "No negatives: a predictor, and minus the cosine",
                              "NS equation 4"},
    [HN_OBJECTIVE_SUPERVISED] = {"supervised", "Cross entropy of the training labels",
                                 "NS figure 4, its control"},
    [HN_OBJECTIVE_SUPCON] = {"supcon",
                             "Anchors from both views; items of the anchor's label are positives",
                             "SupCon (Khosla et al., NeurIPS 2020), equation 2"},
    [HN_OBJECTIVE_ATTRACT] = {"attract",
                              "Anchors from both views; negatives that the weighting (fnc, gist) "
                              "would drop are positives",
                              "FNC (Huynh et al., WACV 2022), false negative attraction"},
    [HN_OBJECTIVE_SIGLIP] = {"siglip",
                             "Anchors from the first view, all of the other view: each pair by its "
                             "sigmoid",
                             "SigLIP (Zhai et al., ICCV 2023)"},
    {.name = NULL},
};

// BLOCK: anchors scored at once, whose gradients stay in the second-level cache until they are
// used. TILE: of a square matrix, a line of the cache wide.
enum { BLOCK = 256, TILE = 16 };

// Several of an anchor.
static bool has_positives(enum hn_objective objective) {
    return objective == HN_OBJECTIVE_SUPCON || objective == HN_OBJECTIVE_ATTRACT;
}

static bool has_both_views(enum hn_objective objective) {
    return objective == HN_OBJECTIVE_NTXENT || has_positives(objective);
}

enum hn_code hn_loss_open(struct hn_context *ctx, enum hn_objective objective, int64_t n,
                          int64_t keys, int64_t d, struct hn_loss_work *work) {
    bool pairs = has_both_views(objective);
    int64_t scores, rows;
    *work = (struct hn_loss_work){.n = n, .keys = pairs ? 2 * n : keys, .d = d};
    work->block = pairs ? 2 * n : hn_min(BLOCK, n);
    if (!hn_mul(work->block, work->keys, &scores) || !hn_mul(2 * n, d, &rows))
        return hn_fail(ctx, HN_MEMORY, "a batch of %lld items is too large", (long long)n);
    bool good = HN_ALLOC(ctx, work->score, scores) &&
                HN_ALLOC(ctx, work->compact, pairs ? 0 : scores) &&
                HN_ALLOC(ctx, work->both, pairs ? rows : 0) &&
                HN_ALLOC(ctx, work->gradient, pairs ? rows : 0) &&
                HN_ALLOC(ctx, work->factor, pairs ? 2 * n : 0) &&
                HN_ALLOC(ctx, work->positive, 2 * n) && HN_ALLOC(ctx, work->value, 2 * n);
    return good ? HN_OK : HN_MEMORY;
}

// One batch under way.
struct batch {
    struct hn_workers workers;
    const struct hn_loss_spec *spec; // the caller's, or `own`
    struct hn_loss_spec own;         // with a mixture that was fitted to this batch
    const struct hn_loss_lists *lists;
    int64_t n, d, keys;
    const hn_real *anchor, *key; // [n x d], [keys x d]
    double max;
    double anchors; // that the mean is over
    bool add;       // to the gradients, which are there already
    bool even;      // both views, and hn_loss_is_even()
    struct hn_loss_work *work;
};

static void score_block(const struct batch *b, int64_t first, int64_t rows) {
    hn_product(b->workers, (struct hn_factor){b->anchor + first * b->d, b->d, false},
               (struct hn_factor){b->key, b->d, true}, rows, b->keys, b->d, false, b->work->score,
               b->keys);
}

// Which columns of an anchor are not negatives.
static void skipped(const struct batch *b, int64_t a, int64_t skip[2]) {
    bool pairs = has_both_views(b->spec->objective);
    skip[0] = b->spec->objective == HN_OBJECTIVE_QUEUE ? -1 : a;
    skip[1] = pairs ? (a + b->n / 2) % b->n : -1;
}

// The scores of all negatives of a batch, as a weighting takes them.
struct seen {
    double max; // the largest |score|
    struct hn_score_counts counts;
};

static void see_anchor(const struct batch *b, int64_t a, const hn_real *score, struct seen *seen) {
    const struct hn_loss_lists *lists = b->lists;
    int64_t first = lists ? lists->start[a] : 0, skip[2] = {-1, -1};
    int64_t n = lists ? lists->start[a + 1] - first : b->keys;
    if (!lists)
        skipped(b, a, skip);
    for (int64_t k = 0; k < n; k++) {
        int64_t j = lists ? lists->position[first + k] : k;
        if (j == skip[0] || j == skip[1])
            continue;
        seen->max = fmax(seen->max, fabs((double)score[j]));
        hn_score_count(&seen->counts, (double)score[j]);
    }
}

static void see_scores(const struct batch *b, struct seen *seen) {
    for (int64_t first = 0; first < b->n; first += b->work->block) {
        int64_t rows = hn_min(b->work->block, b->n - first);
        score_block(b, first, rows);
        for (int64_t i = 0; i < rows; i++)
            see_anchor(b, first + i, b->work->score + i * b->keys, seen);
    }
}

// Completes a weighting that depends on the scores of the batch. back: the same batch with views
// exchanged, where its negatives are others; or NULL.
static void look_at_scores(struct batch *b, const struct batch *back) {
    const struct hn_weighting_params *given = &b->spec->weighting;
    struct seen seen = {.max = 0};
    if (given->clip <= 0 && given->fit_rounds == 0)
        return;
    see_scores(b, &seen);
    if (back)
        see_scores(back, &seen);
    b->max = seen.max;
    if (given->fit_rounds == 0)
        return;
    b->own = *b->spec;
    hn_mixture_fit(&seen.counts, given->fit_prior, given->fit_rounds, &b->own.weighting.mixture);
    b->spec = &b->own;
}

static double anchor_loss(const struct batch *b, int64_t a, const struct hn_loss_keys *keys,
                          hn_real *score) {
    hn_real *positive = &b->work->positive[a];
    return b->spec->objective == HN_OBJECTIVE_SIGLIP
               ? hn_loss_sigmoid(b->spec, 1 / b->anchors, keys, score, positive)
               : hn_loss_anchor(b->spec, b->max, 1 / b->anchors, keys, score, positive);
}

// Scores of the listed keys become gradients, all others 0.
static void list_gradient(const struct batch *b, int64_t a, hn_real *score, hn_real *compact) {
    const struct hn_loss_lists *lists = b->lists;
    const int32_t *position = lists->position + lists->start[a];
    int64_t n = lists->start[a + 1] - lists->start[a];
    hn_real *positive = &b->work->positive[a];
    for (int64_t k = 0; k < n; k++)
        compact[k] = score[position[k]];
    *positive = score[lists->own[a]];
    const struct hn_loss_keys keys = {.n = n, .skip = {-1, -1}};
    b->work->value[a] = anchor_loss(b, a, &keys, compact);
    memset(score, 0, (size_t)b->keys * sizeof *score);
    for (int64_t k = 0; k < n; k++)
        score[position[k]] = compact[k];
    score[lists->own[a]] = *positive;
}

static void full_gradient(const struct batch *b, int64_t a, hn_real *score) {
    struct hn_loss_keys keys = {.n = b->keys};
    hn_real *positive = &b->work->positive[a];
    bool same = b->spec->objective == HN_OBJECTIVE_INFONCE ||
                b->spec->objective == HN_OBJECTIVE_QUEUE; // its positive is not a key
    skipped(b, a, keys.skip);
    int64_t own = b->spec->objective == HN_OBJECTIVE_NTXENT ? keys.skip[1] : keys.skip[0];
    if (!same)
        *positive = score[own];
    keys.items = b->spec->objective == HN_OBJECTIVE_NTXENT ? b->n / 2 : b->n;
    if (b->spec->guide)
        keys.guide = b->spec->guide + (a < keys.items ? a : a - keys.items) * keys.items;
    keys.factor = b->even ? &b->work->factor[a] : NULL;
    b->work->value[a] = anchor_loss(b, a, &keys, score);
    if (!same && !b->even)
        score[own] = *positive;
}

static void gradient_block(const struct batch *b, int64_t first, int64_t rows) {
#pragma omp parallel for num_threads(b->workers.threads) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        hn_real *score = b->work->score + i * b->keys;
        if (has_positives(b->spec->objective))
            b->work->value[i] = hn_loss_positives(b->spec, 1 / b->anchors, b->n / 2, i, score);
        else if (b->lists)
            list_gradient(b, first + i, score, b->work->compact + i * b->keys);
        else
            full_gradient(b, first + i, score);
    }
}

// Gradients of anchors and, unless it is NULL, of keys, block by block.
static void blocks(const struct batch *b, hn_real *d_anchor, hn_real *d_key) {
    for (int64_t first = 0; first < b->n; first += b->work->block) {
        int64_t rows = hn_min(b->work->block, b->n - first);
        const hn_real *gradient = b->work->score;
        score_block(b, first, rows);
        gradient_block(b, first, rows);
        hn_product(b->workers, (struct hn_factor){gradient, b->keys, false},
                   (struct hn_factor){b->key, b->d, false}, rows, b->d, b->keys, b->add,
                   d_anchor + first * b->d, b->d);
        if (d_key)
            hn_product(b->workers, (struct hn_factor){gradient, b->keys, true},
                       (struct hn_factor){b->anchor + first * b->d, b->d, false}, b->keys, b->d,
                       rows, b->add || first > 0, d_key, b->d);
    }
}

static double mean_of(const double *value, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += value[i];
    return sum / (double)n;
}

// A tile of g at (i, j), of rows x cols, and the one that mirrors it: each becomes the sum.
static void symmetrise_tile(hn_real *g, int64_t n, int64_t i, int64_t j, int64_t rows,
                            int64_t cols) {
    hn_real mirrored[TILE * TILE], *at = g + i * n + j;
    hn_real_transpose(g + j * n + i, n, cols, rows, mirrored, TILE);
    for (int64_t k = 0; k < rows; k++)
        for (int64_t l = 0; l < cols; l++)
            at[k * n + l] += mirrored[k * TILE + l];
    if (j != i)
        hn_real_transpose(at, n, rows, cols, g + j * n + i, n);
}

// g[n x n] += its transpose. Threads keep the rows that are in their caches. Each pair of mirrored
// tiles is done once: by the thread of the upper tile's rows if its row and column, in tiles, have
// an even sum, else by that of the lower one's, so that all have about as many.
static void symmetrise(hn_real *g, int64_t n, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i += TILE)
        for (int64_t j = 0; j < n; j += TILE)
            if ((i + j) / TILE % 2 == (j < i))
                symmetrise_tile(g, n, i, j, hn_min(TILE, n - i), hn_min(TILE, n - j));
}

HN_CLONES
static void multiply(hn_real *restrict power, const hn_real *restrict factor, hn_real own,
                     int64_t n) {
    for (int64_t j = 0; j < n; j++)
        power[j] *= own + factor[j];
}

// g[n x n] becomes the sum with its transpose, each row of g being powers times its factor.
static void join_anchors(const struct batch *b) {
    const struct hn_loss_work *w = b->work;
#pragma omp parallel for num_threads(b->workers.threads) schedule(static)
    for (int64_t i = 0; i < b->n; i++) {
        int64_t twin = (i + b->n / 2) % b->n;
        multiply(w->score + i * b->n, w->factor, w->factor[i], b->n);
        w->score[i * b->n + twin] = w->positive[i] + w->positive[twin];
    }
}

// Both views are anchors and keys: with G the gradients of Z Z^T, the gradient is (G + G^T) Z.
// Views that lie one after the other, and their gradients, are taken where they lie.
static double both_views(struct batch *b, const hn_real *z1, const hn_real *z2, hn_real *dz1,
                         hn_real *dz2) {
    struct hn_loss_work *w = b->work;
    int64_t half = b->n * b->d;
    size_t bytes = (size_t)half * sizeof *z1;
    const bool apart = z2 != z1 + half || dz2 != dz1 + half;
    if (apart) {
        memcpy(w->both, z1, bytes);
        memcpy(w->both + half, z2, bytes);
    }
    b->anchor = b->key = apart ? w->both : z1;
    b->anchors = (double)(b->n = b->keys = 2 * b->n);
    b->even = b->spec->objective == HN_OBJECTIVE_NTXENT && hn_loss_is_even(b->spec);
    look_at_scores(b, NULL);
    score_block(b, 0, b->n);
    gradient_block(b, 0, b->n);
    if (b->even)
        join_anchors(b);
    else
        symmetrise(w->score, b->n, b->workers.threads);
    hn_product(b->workers, (struct hn_factor){w->score, b->n, false},
               (struct hn_factor){b->key, b->d, false}, b->n, b->d, b->n, false,
               apart ? w->gradient : dz1, b->d);
    if (apart) {
        memcpy(dz1, w->gradient, bytes);
        memcpy(dz2, w->gradient + half, bytes);
    }
    return mean_of(w->value, b->n);
}

// Scores of positives that are not among the keys.
static void score_positives(const struct batch *b, const hn_real *z2) {
    int64_t d = b->d;
    for (int64_t i = 0; i < b->n; i++) {
        double sum = 0;
        for (int64_t j = i * d; j < (i + 1) * d; j++)
            sum += (double)b->anchor[j] * (double)z2[j];
        b->work->positive[i] = (hn_real)sum;
    }
}

// Keys are the anchors themselves; only positives are of the other view.
static double same_view(struct batch *b, const hn_real *z2, hn_real *dz1, hn_real *dz2) {
    hn_real *positive = b->work->positive;
    int64_t d = b->d;
    score_positives(b, z2);
    b->add = true; // as keys
    memset(dz1, 0, (size_t)(b->n * d) * sizeof *dz1);
    blocks(b, dz1, dz1);
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t j = i * d; j < (i + 1) * d; j++) {
            dz1[j] += positive[i] * z2[j];
            dz2[j] = positive[i] * b->anchor[j];
        }
    return mean_of(b->work->value, b->n);
}

// View 1 against view 2, and view 2 against view 1.
static double both_ways(struct batch *b, const hn_real *z2, hn_real *dz1, hn_real *dz2) {
    bool all = b->lists && b->lists->all;
    b->anchors = 2 * (double)b->n;
    struct batch back = *b;
    back.anchor = z2;
    back.key = b->anchor;
    back.keys = all ? b->keys : b->n;
    back.lists = b->lists ? b->lists + 1 : NULL;
    back.add = true;
    look_at_scores(b, b->lists ? &back : NULL);
    back.spec = b->spec;
    back.max = b->max;
    blocks(b, dz1, all ? dz1 : dz2);
    double one = mean_of(b->work->value, b->n);
    blocks(&back, dz2, dz1);
    return (one + mean_of(b->work->value, b->n)) / 2;
}

double hn_loss_pairs(struct hn_workers workers, const struct hn_loss_spec *spec,
                     const struct hn_loss_lists *lists, int64_t n, int64_t d, const hn_real *z1,
                     const hn_real *z2, hn_real *dz1, hn_real *dz2, struct hn_loss_work *work) {
    bool all = lists && lists->all;
    struct batch b = {.workers = workers,
                      .spec = spec,
                      .lists = lists,
                      .n = n,
                      .d = d,
                      .keys = lists ? lists->keys : n,
                      .anchor = z1,
                      .key = all || spec->objective == HN_OBJECTIVE_INFONCE ? z1 : z2,
                      .anchors = (double)n,
                      .add = all,
                      .work = work};
    if (all) // anchors are keys, too
        memset(dz1, 0, (size_t)(lists->keys * d) * sizeof *dz1);
    if (spec->objective == HN_OBJECTIVE_BOTH_WAYS)
        return both_ways(&b, z2, dz1, dz2);
    if (has_both_views(spec->objective))
        return both_views(&b, z1, z2, dz1, dz2);
    look_at_scores(&b, NULL);
    if (spec->objective == HN_OBJECTIVE_INFONCE)
        return same_view(&b, z2, dz1, dz2);
    blocks(&b, dz1, all ? dz1 : dz2);
    return mean_of(work->value, n);
}

double hn_loss_queue(struct hn_workers workers, const struct hn_loss_spec *spec, int64_t n,
                     int64_t d, const hn_real *z1, const hn_real *key, const hn_real *queue,
                     hn_real *dz1, struct hn_loss_work *work) {
    struct batch b = {.workers = workers,
                      .spec = spec,
                      .n = n,
                      .d = d,
                      .keys = work->keys,
                      .anchor = z1,
                      .key = queue,
                      .anchors = (double)n,
                      .work = work};
    score_positives(&b, key);
    look_at_scores(&b, NULL);
    blocks(&b, dz1, NULL);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i * d; j < (i + 1) * d; j++)
            dz1[j] += work->positive[i] * key[j];
    return mean_of(work->value, n);
}
