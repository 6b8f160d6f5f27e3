// Every entry at or above a threshold.
//
// Threads write into chunks of a pool made beforehand. A pool of floor(capacity / CHUNK) + threads
// + 1 chunks can only run dry when more than `capacity` entries were found: the chunk of the thread
// that asks is full and so are all others but those the remaining threads - 1 threads are filling.
// So an overflow is noticed if and only if there is one, whatever the threads do. At the end the
// entries are dealt to their rows and every row is sorted by column.
#include "core/sinks.h"

#include <omp.h>
#include <string.h>

enum { CHUNK = 1024, LINE = 64, SHORT = 16 };

struct entry {
    int32_t row, col;
    float score;
};

struct writer {
    struct entry *next, *end; // room in the chunk of this thread
    int32_t *place;           // [block + slack] survivors of a row
    char pad[LINE - 3 * sizeof(void *)];
};

struct work {
    struct entry *pool; // [chunks x CHUNK]
    int64_t *used;      // [chunks] entries in each
    int64_t chunks;
    _Atomic int64_t taken;
    _Atomic bool dry;
    struct writer *writer; // [threads]
    int32_t *place;        // [threads x (block + slack)]
    uint64_t *key;         // [count] column and score, by row
    int64_t *start;        // [rows + 2]: ends of rows, shifted by one while dealing
    int64_t rows, cols, capacity;
    int threads;
};

static enum hn_code tail_begin(struct hn_context *ctx, void *self,
                               const struct hn_sweep_shape *shape) {
    struct hn_tail *t = self;
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    t->work = work;
    t->count = 0;
    t->overflow = false;
    work->capacity = hn_max(0, hn_min(t->capacity, shape->rows * shape->cols));
    work->rows = shape->rows;
    work->cols = shape->cols;
    work->threads = shape->threads;
    work->chunks = work->capacity / CHUNK + shape->threads + 1;
    work->pool = hn_alloc(ctx, work->chunks, CHUNK * sizeof *work->pool);
    if (!work->pool)
        return HN_MEMORY;
    work->used = hn_zalloc(ctx, work->chunks, sizeof *work->used);
    if (!work->used)
        return HN_MEMORY;
    int64_t places = shape->block + HN_SCAN_SLACK;
    work->place = hn_alloc(ctx, shape->threads * places, sizeof *work->place);
    if (!work->place)
        return HN_MEMORY;
    work->writer = hn_zalloc(ctx, shape->threads, sizeof *work->writer);
    if (!work->writer)
        return HN_MEMORY;
    for (int k = 0; k < shape->threads; k++)
        work->writer[k].place = work->place + k * places;
    return HN_OK;
}

// Notes how far the writer's chunk is filled.
static void close_chunk(struct work *work, struct writer *writer) {
    if (!writer->end)
        return;
    int64_t chunk = (writer->end - work->pool) / CHUNK - 1;
    work->used[chunk] = writer->next - (work->pool + chunk * CHUNK);
}

static bool open_chunk(struct work *work, struct writer *writer) {
    close_chunk(work, writer);
    int64_t chunk = atomic_fetch_add(&work->taken, 1);
    if (chunk >= work->chunks) {
        atomic_store(&work->dry, true);
        writer->next = writer->end = NULL;
        return false;
    }
    writer->next = work->pool + chunk * CHUNK;
    writer->end = writer->next + CHUNK;
    return true;
}

// Room for one more entry: a chunk is opened when the last is full. NULL: the pool is dry.
static struct entry *take_entry(struct work *work, struct writer *writer) {
    if (writer->next == writer->end && (atomic_load(&work->dry) || !open_chunk(work, writer)))
        return NULL;
    return writer->next++;
}

// rows, cols: whether entries are wanted as the tile has them, and with row and column exchanged.
static void take_tile(struct hn_tail *t, const struct hn_tile *tile, bool rows, bool cols,
                      int thread) {
    struct work *work = t->work;
    struct writer *writer = &work->writer[thread];
    const struct hn_scan *scan = hn_scan_best();
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, t->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        int32_t row = (int32_t)tile->row0 + i;
        for (int p = 0; p < spans; p++) {
            int32_t n = scan->filter(s, span[p].from, span[p].to, t->threshold, writer->place);
            for (int32_t k = 0; k < n; k++) {
                int32_t j = writer->place[k], col = (int32_t)tile->col0 + j;
                struct entry *a = rows ? take_entry(work, writer) : NULL;
                if (a)
                    *a = (struct entry){row, col, s[j]};
                struct entry *b = cols ? take_entry(work, writer) : NULL;
                if (b)
                    *b = (struct entry){col, row, s[j]};
                if ((rows && !a) || (cols && !b))
                    return;
            }
        }
    }
}

static void tail_tile(void *self, const struct hn_tile *tile, int thread) {
    take_tile(self, tile, true, false, thread);
}

static void tail_across(void *self, const struct hn_tile *tile, int thread) {
    take_tile(self, tile, false, true, thread);
}

// Offered for the two orientations of one symmetric tile only (no `joins`).
static void tail_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    (void)other;
    take_tile(self, tile, true, true, thread);
}

// The entries of every row, unsorted, to key[start[row] .. start[row + 1]). Threads may interleave
// here in any way: the sort puts an end to it.
static void deal(struct work *work) {
    int64_t *cursor = work->start + 1; // cursor[row] ends as start[row + 1]
    memset(work->start, 0, (size_t)(work->rows + 2) * sizeof *work->start);
#pragma omp parallel for num_threads(work->threads)
    for (int64_t c = 0; c < work->chunks; c++)
        for (int64_t e = 0; e < work->used[c]; e++) {
            int64_t *size = &cursor[work->pool[c * CHUNK + e].row + 1];
#pragma omp atomic
            *size += 1;
        }
    for (int64_t row = 0; row < work->rows; row++)
        cursor[row + 1] += cursor[row];
#pragma omp parallel for num_threads(work->threads)
    for (int64_t c = 0; c < work->chunks; c++)
        for (int64_t e = 0; e < work->used[c]; e++) {
            const struct entry *entry = &work->pool[c * CHUNK + e];
            int64_t at;
#pragma omp atomic capture
            at = cursor[entry->row]++;
            uint32_t score;
            memcpy(&score, &entry->score, sizeof score);
            work->key[at] = (uint64_t)entry->col << 32 | score;
        }
}

// Radix exchange sort (most significant bit first) of distinct columns: short, in place, and no
// order of arrival makes it slow.
static void sort_by_column(uint64_t *key, int64_t n, uint64_t bit) {
    while (n > SHORT) {
        int64_t i = 0, j = n;
        while (i < j) {
            if (!(key[i] & bit)) {
                i++;
                continue;
            }
            uint64_t t = key[--j];
            key[j] = key[i];
            key[i] = t;
        }
        bit >>= 1;
        sort_by_column(key, i, bit);
        key += i;
        n -= i;
    }
    for (int64_t i = 1; i < n; i++) {
        uint64_t t = key[i];
        int64_t j = i;
        for (; j > 0 && key[j - 1] > t; j--)
            key[j] = key[j - 1];
        key[j] = t;
    }
}

static void sort_rows(struct hn_tail *t) {
    struct work *work = t->work;
    uint64_t top = UINT64_C(1) << 32;
    while (top << 1 <= (uint64_t)work->cols << 32)
        top <<= 1;
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < work->rows; row++) {
        int64_t from = work->start[row], to = work->start[row + 1];
        sort_by_column(work->key + from, to - from, top);
        for (int64_t e = from; e < to; e++) {
            uint32_t score = (uint32_t)work->key[e];
            t->row[e] = (int32_t)row;
            t->col[e] = (int32_t)(work->key[e] >> 32);
            memcpy(&t->score[e], &score, sizeof score);
        }
    }
}

static void free_work(struct hn_context *ctx, struct hn_tail *t) {
    struct work *work = t->work;
    if (work) {
        hn_free(ctx, work->pool);
        hn_free(ctx, work->used);
        hn_free(ctx, work->writer);
        hn_free(ctx, work->place);
        hn_free(ctx, work->key);
        hn_free(ctx, work->start);
    }
    hn_free(ctx, work);
    t->work = NULL;
}

static bool allocate_results(struct hn_context *ctx, struct hn_tail *t, int64_t count) {
    struct work *work = t->work;
    work->start = hn_alloc(ctx, work->rows + 2, sizeof *work->start);
    work->key = work->start ? hn_alloc(ctx, count, sizeof *work->key) : NULL;
    t->row = work->key ? hn_alloc(ctx, count, sizeof *t->row) : NULL;
    t->col = t->row ? hn_alloc(ctx, count, sizeof *t->col) : NULL;
    t->score = t->col ? hn_alloc(ctx, count, sizeof *t->score) : NULL;
    return t->score;
}

static enum hn_code tail_end(struct hn_context *ctx, void *self) {
    struct hn_tail *t = self;
    struct work *work = t->work;
    for (int k = 0; k < work->threads; k++)
        close_chunk(work, &work->writer[k]);
    int64_t count = 0;
    for (int64_t c = 0; c < work->chunks; c++)
        count += work->used[c];
    t->overflow = atomic_load(&work->dry) || count > work->capacity;
    if (t->overflow)
        count = 0;
    if (!allocate_results(ctx, t, count))
        return HN_MEMORY;
    if (count > 0) {
        deal(work);
        sort_rows(t);
    }
    t->count = count;
    free_work(ctx, t);
    return HN_OK;
}

void hn_tail_free(struct hn_context *ctx, struct hn_tail *t) {
    free_work(ctx, t);
    hn_free(ctx, t->row);
    hn_free(ctx, t->col);
    hn_free(ctx, t->score);
    t->row = t->col = NULL;
    t->score = NULL;
    t->count = 0;
}

const struct hn_sink_type hn_tail_sink = {.name = "tail",
                                          .begin = tail_begin,
                                          .tile = tail_tile,
                                          .end = tail_end,
                                          .across = tail_across,
                                          .both = tail_both};
