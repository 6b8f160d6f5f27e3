// An exact quantile of N^2 - N inner products, and what lies above it, in one sweep.
//
// A random sample gives a value `low` that lies below the wanted one almost surely, and not far:
// with p the share of products at or above the wanted one, the sample holds a binomial number of
// products above it, whose mean is at most p samples; the sample's product at rank p samples +
// margin standard deviations is therefore above the wanted one with a probability of about 10^-9
// (Chernoff; the margin squared is added for small means). The sweep collects everything from `low`
// on, and what was wanted is selected among it: float products decide what they can, exact ones the
// rest. If the guess was wrong after all, or there is more to collect than there is room for (many
// equal products), the sweep is repeated with a lower value or more room. Where so many products
// are within float precision of the wanted one that they would fill the memory, it gives up.
#include "samplers/gcbs_threshold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 1 << 18,
    SAMPLES_MIN = 1024,
    STREAM = 1024,  // samples drawn from one stream
    BINS = 1 << 16, // of kth_largest()
    CROWD = 1 << 24 // about half a gigabyte
};
static const double EVERYTHING = -2; // below every inner product of unit rows

// A number that orders floats as they are ordered.
static uint32_t order_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}

static float from_order_bits(uint32_t bits) {
    float value;
    bits = bits & 0x80000000U ? bits & 0x7fffffffU : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Bin from which `rank` entries, counted from the last bin down, begin; rank becomes that within
// it.
static uint32_t find_bin(const int64_t *count, int64_t *rank) {
    uint32_t bin = BINS - 1;
    for (; *rank > count[bin]; bin--)
        *rank -= count[bin];
    return bin;
}

// The rank-th largest (from 1) of value[n], by counting their upper, then their lower 16 bits:
// linear, in place, and equal values do not slow it. count[BINS] is scratch.
static float kth_largest(const float *value, int64_t n, int64_t rank, int64_t *count) {
    memset(count, 0, BINS * sizeof *count);
    for (int64_t i = 0; i < n; i++)
        count[order_bits(value[i]) >> 16]++;
    uint32_t upper = find_bin(count, &rank);
    memset(count, 0, BINS * sizeof *count);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = order_bits(value[i]);
        count[bits & (BINS - 1)] += bits >> 16 == upper;
    }
    return from_order_bits(upper << 16 | find_bin(count, &rank));
}

// Place of the wanted product from the top, 1 the largest: m - floor((m - 1) q).
static int64_t wanted_rank(const struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1);
    double place = floor((double)(m - 1) * t->quantile);
    return m - hn_min((int64_t)place, m - 1);
}

static void draw_sample(struct hn_context *ctx, struct hn_threshold *t) {
    uint32_t n = (uint32_t)t->x.rows;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t from = 0; from < t->samples; from += STREAM) {
        struct hn_stream stream;
        hn_stream_open(&stream, t->seed, "gcbs.sample", t->stream_step, 0, from / STREAM);
        for (int64_t i = from; i < hn_min(from + STREAM, t->samples); i++) {
            uint32_t row = hn_stream_below(&stream, n), col = hn_stream_below(&stream, n - 1);
            col += col >= row;
            t->sample[i] = hn_dot(hn_row(&t->x, row), hn_row(&t->y, col), t->x.cols);
        }
    }
}

// Lowest float product of an entry whose exact product is at least low.
static float float_threshold(double low, double bound) {
    return nextafterf((float)(low - bound), -INFINITY);
}

// From the rank in the sample: the value to collect from, and the room to collect in.
static void aim(struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1);
    if (!t->given && t->rank >= t->samples) {
        t->low = EVERYTHING;
        t->foreseen = m;
    } else {
        double rank = (double)t->rank;
        double most = rank + HN_THRESHOLD_MARGIN * (sqrt(rank) + HN_THRESHOLD_MARGIN);
        t->low = t->given ? t->value : (double)kth_largest(t->sample, t->samples, t->rank, t->bins);
        t->foreseen = (int64_t)fmin((double)m, (double)m * most / (double)t->samples + SAMPLES_MIN);
    }
    t->tail.capacity = t->capacity > 0 ? t->capacity : t->foreseen;
    t->tail.threshold = float_threshold(t->low, hn_dot_bound(t->x.cols));
    t->tail.skip_self = true;
}

// How much of the sample is to be collected: with a margin for a quantile; for a given value as
// much as lies surely above it.
static int64_t sample_rank(const struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1), rank = 0;
    if (!t->given) {
        double mean = (double)t->samples * (double)wanted_rank(t) / (double)m;
        double place = mean + t->margin * sqrt(mean) + t->margin * fabs(t->margin);
        return (int64_t)fmax(1, ceil(place));
    }
    for (int64_t i = 0; i < t->samples; i++)
        rank += (double)t->sample[i] > t->value + hn_dot_bound(t->x.cols);
    return rank;
}

static enum hn_code begin(struct hn_context *ctx, struct hn_threshold *t, struct hn_work *work) {
    int64_t m = t->x.rows * (t->x.rows - 1);
    t->samples = hn_min(SAMPLES, hn_max(SAMPLES_MIN, m));
    t->sample = hn_alloc(ctx, t->samples, sizeof *t->sample);
    t->bins = hn_alloc(ctx, BINS, sizeof *t->bins);
    if (!t->sample || !t->bins)
        return ctx->code;
    draw_sample(ctx, t);
    t->rank = sample_rank(t);
    aim(t);
    work->draw += 2 * t->samples;
    work->dot += t->samples;
    work->bytes += 2 * t->samples * t->x.cols * (int64_t)sizeof(float);
    return HN_OK;
}

// The collected entries whose float product lies within 2 bound of the wanted one's, where exact
// products decide.
struct band {
    int64_t above, count; // entries surely above, entries in the band
    int64_t *entry;       // [count]
    double *exact;        // [count]
    double *sorted;       // [count]
};

static void band_free(struct hn_context *ctx, struct band *b) {
    hn_free(ctx, b->entry);
    hn_free(ctx, b->exact);
    hn_free(ctx, b->sorted);
}

static enum hn_code band_fill(struct hn_context *ctx, const struct hn_threshold *t, double lo,
                              double hi, struct band *b) {
    const struct hn_tail *tail = &t->tail;
    for (int64_t e = 0; e < tail->count; e++) {
        b->above += (double)tail->score[e] > hi;
        b->count += (double)tail->score[e] >= lo && (double)tail->score[e] <= hi;
    }
    b->entry = hn_alloc(ctx, b->count, sizeof *b->entry);
    b->exact = hn_alloc(ctx, b->count, sizeof *b->exact);
    b->sorted = hn_alloc(ctx, b->count, sizeof *b->sorted);
    if (!b->entry || !b->exact || !b->sorted)
        return ctx->code;
    int64_t place = 0;
    for (int64_t e = 0; e < tail->count; e++)
        if ((double)tail->score[e] >= lo && (double)tail->score[e] <= hi)
            b->entry[place++] = e;
    int64_t count = b->count;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        int64_t e = b->entry[i];
        b->exact[i] =
            hn_dot_exact(hn_row(&t->x, tail->row[e]), hn_row(&t->y, tail->col[e]), t->x.cols);
    }
    return HN_OK;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Keeps the entries above t->value, moved to the front of row and col.
static void keep_above(struct hn_threshold *t, const struct band *b, double hi) {
    struct hn_tail *tail = &t->tail;
    int64_t kept = 0, next = 0;
    for (int64_t e = 0; e < tail->count; e++) {
        bool close = next < b->count && b->entry[next] == e;
        if (close ? b->exact[next] > t->value : (double)tail->score[e] > hi) {
            tail->row[kept] = tail->row[e];
            tail->col[kept++] = tail->col[e];
        }
        next += close;
    }
    t->row = tail->row;
    t->col = tail->col;
    t->count = kept;
}

// What exceeds a given value, unless there was no room for all.
static enum hn_code select_given(struct hn_context *ctx, struct hn_threshold *t, bool *found) {
    double bound = hn_dot_bound(t->x.cols);
    struct band band = {0};
    *found = !t->tail.overflow;
    if (!*found)
        return HN_OK;
    enum hn_code code = band_fill(ctx, t, t->value - bound, t->value + bound, &band);
    if (!code)
        keep_above(t, &band, t->value + bound);
    band_free(ctx, &band);
    return code;
}

// *found: whether the wanted product is among the collected ones; then the selection is done. It is
// certain only from `low` on: below, not everything was collected.
static enum hn_code select_quantile(struct hn_context *ctx, struct hn_threshold *t, bool *found) {
    struct hn_tail *tail = &t->tail;
    int64_t rank = wanted_rank(t);
    *found = false;
    if (tail->overflow || tail->count < rank)
        return HN_OK;
    double wanted = (double)kth_largest(tail->score, tail->count, rank, t->bins);
    double bound = hn_dot_bound(t->x.cols);
    struct band band = {0};
    enum hn_code code = band_fill(ctx, t, wanted - 2 * bound, wanted + 2 * bound, &band);
    if (code)
        goto done;
    memcpy(band.sorted, band.exact, (size_t)band.count * sizeof *band.sorted);
    qsort(band.sorted, (size_t)band.count, sizeof *band.sorted, descending);
    t->value = band.sorted[rank - band.above - 1];
    *found = t->value >= t->low;
    if (*found)
        keep_above(t, &band, wanted + 2 * bound);
done:
    band_free(ctx, &band);
    return code;
}

static enum hn_code fail_crowd(struct hn_context *ctx, const struct hn_threshold *t) {
    return hn_fail(ctx, HN_DATA,
                   "more than %lld of the %lld inner products lie above the threshold, or so near "
                   "that floats do not tell which do: many items are almost the same, as in a "
                   "collapsed representation; leave this step out, or take another sampler",
                   (long long)t->tail.capacity, (long long)(t->x.rows * (t->x.rows - 1)));
}

// After a sweep that did not do: more room, up to a limit, or a lower value.
static enum hn_code aim_again(struct hn_context *ctx, struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1), room = t->tail.capacity;
    int64_t limit = hn_min(m, t->foreseen + (t->crowd > 0 ? t->crowd : CROWD));
    bool overflow = t->tail.overflow;
    if (overflow && room >= limit)
        return fail_crowd(ctx, t);
    hn_tail_free(ctx, &t->tail);
    t->tail = (struct hn_tail){0};
    if (overflow) {
        t->capacity = room > limit / 8 ? limit : 8 * room;
    } else {
        t->capacity = 0;
        t->rank = 4 * t->rank + HN_THRESHOLD_MARGIN * HN_THRESHOLD_MARGIN;
    }
    aim(t);
    return HN_OK;
}

enum hn_code hn_threshold_plan(struct hn_context *ctx, struct hn_threshold *t, int pass,
                               struct hn_sweep *sweep, struct hn_work *work) {
    bool found = false;
    enum hn_code code = pass == 0  ? begin(ctx, t, work)
                        : t->given ? select_given(ctx, t, &found)
                                   : select_quantile(ctx, t, &found);
    if (!code && !found && pass > 0)
        code = aim_again(ctx, t);
    if (code || found)
        return code;
    t->passes++;
    sweep->x = t->x;
    sweep->y = t->y;
    hn_sweep_add(sweep, &hn_tail_sink, &t->tail, HN_SIDE_ROWS);
    return HN_OK;
}

void hn_threshold_free(struct hn_context *ctx, struct hn_threshold *t) {
    hn_tail_free(ctx, &t->tail);
    hn_free(ctx, t->sample);
    hn_free(ctx, t->bins);
    *t = (struct hn_threshold){0};
}
