// Packing: S is cut into square cells. Threads write, into chunks of a pool made beforehand,
// segments: a cell's number, then for every row of the cell that has entries a mark with the row's
// place in the cell and the places of its columns, all in 16 bits. So an entry takes little more
// than two bytes where others need twelve: first-touch page faults are expensive, above all on a
// virtual machine.
//
// A pool has room for `room` entries however threads share it out, as long as the sweep's strips
// have eight rows or more on average; where it has not, more is made (an overflow). So overflows
// depend on the entries alone.
//
// The graph: a band of rows is a table of bits that stays in the second or third cache. The
// segments of the cells in the band's rows, and, transposed, of those in its columns set bits; what
// is set, read row by row, is ascending and without repeats. Bits do not depend on the order in
// which they are set, so that the graph is the same for any number of threads.
#include "samplers/gcbs_pairs.h"
#include "core/clones.h"

#include <endian.h>
#include <omp.h>
#include <string.h>

enum {
    CELL_MOST = 512, // rows and columns of a cell, a power of two
    CELL_LEAST = 16,
    BAND_BYTES = 1 << 24, // most that a band's table takes
    CHUNK = 8192,         // words
    HEADER = 5,           // words: cell row and column, each low and high, and length
    MARK = 0x8000,        // in a word: a row begins
    STRIP_LEAST = 8,      // rows, as assumed above
    LINE = 64,
    GROUP = 4 // bits read without asking whether there are so many
};

struct writer {
    uint16_t *next, *end; // room in the chunk of this thread
    uint16_t *segment;    // the open one, NULL = none
    int64_t cell_row, cell_col;
    struct hn_close_pair *close, *close_end; // likewise
    int32_t *place;                          // [block + slack] what the filter lets through
    int32_t *near;                           // [block + slack] of it, what is below `high`
    int64_t sure, close_count;               // entries, of both orders
    int64_t stored;                          // sure pairs written
    char pad[LINE];
};

struct work {
    uint16_t *pool; // [chunks x CHUNK]
    int64_t *used;  // [chunks] words in each
    int64_t chunks;
    int64_t cell; // rows and columns of a cell
    int shift;    // cell = 1 << shift
    _Atomic int64_t taken, close_taken;
    _Atomic bool dry;
    struct writer *writer; // [threads]
    int32_t *place;        // [threads x 2 (block + slack)]
    int64_t stored;        // pairs, sure ones
    int threads;
};

// Words that `room` entries take at most: each its own, a mark for every row of a piece (what lies
// in one tile and one cell), and a header for every strip of one.
static int64_t words_for(int64_t room, const struct hn_sweep_shape *shape, int64_t cell) {
    int64_t pieces = shape->cols / shape->block + shape->cols / cell + 2;
    int64_t marks = hn_min(room, shape->rows * pieces);
    int64_t headers = hn_min(room, shape->rows * pieces / STRIP_LEAST + pieces);
    return room + marks + HEADER * headers;
}

static int64_t choose_cell(int64_t rows, int64_t cols) {
    int64_t cell = CELL_MOST;
    while (cell > CELL_LEAST && cell * hn_max(rows, cols) / 8 > BAND_BYTES)
        cell /= 2;
    return cell;
}

static enum hn_code pairs_begin(struct hn_context *ctx, void *self,
                                const struct hn_sweep_shape *shape) {
    struct hn_close_pairs *p = self;
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    p->work = work;
    p->sure = p->close = 0;
    p->overflow = false;
    work->threads = shape->threads;
    work->cell = choose_cell(shape->rows, shape->cols);
    work->shift = __builtin_ctzll((uint64_t)work->cell);
    int64_t most = shape->rows * shape->cols;
    p->room = hn_max(0, hn_min(p->room, most));
    p->room_close = hn_max(0, hn_min(p->room_close, most));
    // A row that does not fit the rest of a chunk leaves it unused.
    int64_t filled = CHUNK - 2 * HEADER - 1 - work->cell;
    work->chunks = words_for(p->room, shape, work->cell) / filled + shape->threads + 1;
    p->chunks = p->room_close / HN_CLOSE_CHUNK + shape->threads + 1;
    int64_t places = shape->block + HN_SCAN_SLACK;
    if (!(work->pool = hn_alloc(ctx, work->chunks, CHUNK * sizeof *work->pool)) ||
        !(work->used = hn_zalloc(ctx, work->chunks, sizeof *work->used)) ||
        !(p->pool = hn_alloc(ctx, p->chunks, HN_CLOSE_CHUNK * sizeof *p->pool)) ||
        !(p->used = hn_zalloc(ctx, p->chunks, sizeof *p->used)) ||
        !(work->place = hn_alloc(ctx, 2 * shape->threads * places, sizeof *work->place)) ||
        !(work->writer = hn_zalloc(ctx, shape->threads, sizeof *work->writer)))
        return HN_MEMORY;
    for (int k = 0; k < shape->threads; k++) {
        work->writer[k].place = work->place + 2 * k * places;
        work->writer[k].near = work->writer[k].place + places;
    }
    return HN_OK;
}

static void close_segment(struct writer *w) {
    if (w->segment)
        w->segment[HEADER - 1] = (uint16_t)(w->next - w->segment - HEADER);
    w->segment = NULL;
}

// Notes how far the writer's chunk is filled.
static void close_chunk(struct work *work, struct writer *w) {
    close_segment(w);
    if (!w->end)
        return;
    int64_t chunk = (w->end - work->pool) / CHUNK - 1;
    work->used[chunk] = w->next - (work->pool + chunk * CHUNK);
}

static bool open_chunk(struct work *work, struct writer *w) {
    close_chunk(work, w);
    int64_t chunk = atomic_fetch_add(&work->taken, 1);
    if (chunk >= work->chunks) {
        atomic_store(&work->dry, true);
        w->next = w->end = NULL;
        return false;
    }
    w->next = work->pool + chunk * CHUNK;
    w->end = w->next + CHUNK;
    return true;
}

// Room for a row of n entries in a segment of its cell; false: the pool is dry.
static bool reserve(struct work *work, struct writer *w, int64_t cell_row, int64_t cell_col,
                    int32_t n) {
    bool same = w->segment && w->cell_row == cell_row && w->cell_col == cell_col;
    if (w->end - w->next < n + 1 + HEADER) {
        if (atomic_load(&work->dry) || !open_chunk(work, w))
            return false;
        same = false;
    }
    if (same)
        return true;
    close_segment(w);
    w->segment = w->next;
    w->cell_row = cell_row;
    w->cell_col = cell_col;
    const uint16_t header[HEADER] = {(uint16_t)cell_row, (uint16_t)(cell_row >> 16),
                                     (uint16_t)cell_col, (uint16_t)(cell_col >> 16), 0};
    memcpy(w->next, header, sizeof header);
    w->next += HEADER;
    return true;
}

static void close_close_chunk(struct hn_close_pairs *p, const struct writer *w) {
    if (!w->close_end)
        return;
    int64_t chunk = (w->close_end - p->pool) / HN_CLOSE_CHUNK - 1;
    p->used[chunk] = w->close - (p->pool + chunk * HN_CLOSE_CHUNK);
}

static bool put_close(struct hn_close_pairs *p, struct writer *w, struct hn_close_pair pair) {
    struct work *work = p->work;
    if (w->close == w->close_end) {
        if (atomic_load(&work->dry))
            return false;
        close_close_chunk(p, w);
        int64_t chunk = atomic_fetch_add(&work->close_taken, 1);
        if (chunk >= p->chunks) {
            atomic_store(&work->dry, true);
            w->close = w->close_end = NULL;
            return false;
        }
        w->close = p->pool + chunk * HN_CLOSE_CHUNK;
        w->close_end = w->close + HN_CLOSE_CHUNK;
    }
    *w->close++ = pair;
    return true;
}

// s[j], j in place[n], of row `row` and columns col0 + j, all in one cell.
static bool put_row(struct hn_close_pairs *p, struct writer *w, int64_t row, int64_t col0,
                    const float *s, int32_t n, int weight) {
    struct work *work = p->work;
    int64_t cell_col = (col0 + w->place[0]) >> work->shift;
    if (!reserve(work, w, row >> work->shift, cell_col, n))
        return false;
    uint16_t *mark = w->next++;
    int32_t offset = (int32_t)(col0 - (cell_col << work->shift));
    uint16_t *out = w->next;
    int32_t *near = w->near;
    const int32_t *place = w->place;
    float high = p->high;
    for (int32_t k = 0; k < n; k++) { // no branch: it would be guessed wrong too often
        int32_t j = place[k];
        bool sure = s[j] >= high;
        *out = (uint16_t)(offset + j);
        out += sure;
        *near = j;
        near += !sure;
    }
    int32_t close = (int32_t)(near - w->near);
    w->next = out;
    *mark = (uint16_t)(MARK | (row & (work->cell - 1)));
    if (close == n)
        w->next = mark;
    w->stored += n - close;
    w->sure += weight * (int64_t)(n - close);
    w->close_count += weight * (int64_t)close;
    uint32_t name = (uint32_t)row | (weight == 2 ? HN_PAIR_TWICE : 0);
    for (int32_t k = 0; k < close; k++)
        if (!put_close(p, w,
                       (struct hn_close_pair){name, (int32_t)col0 + w->near[k], s[w->near[k]]}))
            return false;
    return true;
}

static void take(struct hn_close_pairs *p, const struct hn_tile *tile, int weight, int thread) {
    struct work *work = p->work;
    struct writer *w = &work->writer[thread];
    const struct hn_simd *scan = hn_simd_best();
    for (int32_t from = 0, to; from < tile->cols; from = to) {
        struct hn_tile piece = *tile; // of one column of cells
        to = (int32_t)hn_min(tile->cols,
                             ((tile->col0 + from) / work->cell + 1) * work->cell - tile->col0);
        piece.s += from;
        piece.col0 += from;
        piece.cols = to - from;
        for (int32_t i = 0; i < piece.rows; i++) {
            struct hn_span span[2];
            int spans = hn_tile_spans(&piece, i, true, span);
            const float *s = piece.s + i * piece.stride;
            for (int k = 0; k < spans; k++) {
                int32_t n = scan->filter(s, span[k].from, span[k].to, p->low, w->place);
                if (n > 0 && !put_row(p, w, piece.row0 + i, piece.col0, s, n, weight))
                    return;
            }
        }
    }
}

static void pairs_tile(void *self, const struct hn_tile *tile, int thread) {
    take(self, tile, 1, thread);
}

// A pair's ends may change places: of X X^T the products are the same, bit for bit.
static void pairs_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    (void)other;
    take(self, tile, 2, thread);
}

static enum hn_code pairs_end(struct hn_context *ctx, void *self) {
    (void)ctx;
    struct hn_close_pairs *p = self;
    struct work *work = p->work;
    for (int k = 0; k < work->threads; k++) {
        struct writer *w = &work->writer[k];
        close_chunk(work, w);
        close_close_chunk(p, w);
        p->sure += w->sure;
        p->close += w->close_count;
        work->stored += w->stored;
    }
    int64_t close = 0;
    for (int64_t c = 0; c < p->chunks; c++)
        close += p->used[c];
    p->overflow = atomic_load(&work->dry) || work->stored > p->room || close > p->room_close;
    return HN_OK;
}

void hn_close_pairs_free(struct hn_context *ctx, struct hn_close_pairs *p) {
    struct work *work = p->work;
    if (work) {
        hn_free(ctx, work->pool);
        hn_free(ctx, work->used);
        hn_free(ctx, work->place);
        hn_free(ctx, work->writer);
    }
    hn_free(ctx, work);
    hn_free(ctx, p->pool);
    hn_free(ctx, p->used);
    *p = (struct hn_close_pairs){0};
}

const struct hn_sink_type hn_close_pairs_sink = {.name = "pairs",
                                                 .begin = pairs_begin,
                                                 .tile = pairs_tile,
                                                 .end = pairs_end,
                                                 .across = pairs_tile,
                                                 .both = pairs_both};

// From here on: the graph.

// Rows first .. first + cell of the graph, a bit for every pair: bit i of byte k is column 8 k + i.
struct band {
    uint8_t *table; // [cell x stride]
    int64_t first, cell, stride;
};

// Pairs of one cell: packed words, or close pairs.
struct segment {
    const uint16_t *word;
    const struct hn_close_pair *close;
    int32_t n; // words, or pairs
    int32_t cell_row, cell_col;
};

// Segments by their row of cells, and by their column of cells.
struct lists {
    struct segment *segment; // [count]
    int64_t count, cells;
    int64_t *start[2];  // [cells + 2] of either kind
    int32_t *member[2]; // [count]
};

// Cuts the words of a chunk into segments, put to out unless it is NULL; their number.
static int64_t cut_words(const struct work *work, int64_t chunk, struct segment *out) {
    const uint16_t *word = work->pool + chunk * CHUNK, *end = word + work->used[chunk];
    int64_t count = 0;
    for (; word < end; word += HEADER + word[HEADER - 1], count++)
        if (out)
            out[count] = (struct segment){.word = word + HEADER,
                                          .n = word[HEADER - 1],
                                          .cell_row = (int32_t)(word[0] | (uint32_t)word[1] << 16),
                                          .cell_col = (int32_t)(word[2] | (uint32_t)word[3] << 16)};
    return count;
}

// The same for close pairs: runs in one cell.
static int64_t cut_close(const struct hn_close_pairs *p, int shift, int64_t chunk,
                         struct segment *out) {
    const struct hn_close_pair *pair = p->pool + chunk * HN_CLOSE_CHUNK;
    int64_t count = 0, used = p->used[chunk], last_row = -1, last_col = -1;
    for (int64_t e = 0; e < used; e++) {
        int64_t row = hn_pair_row(&pair[e]) >> shift, col = pair[e].col >> shift;
        if (row != last_row || col != last_col) {
            if (out)
                out[count] = (struct segment){
                    .close = &pair[e], .cell_row = (int32_t)row, .cell_col = (int32_t)col};
            last_row = row;
            last_col = col;
            count++;
        }
        if (out)
            out[count - 1].n++;
    }
    return count;
}

// All segments to l->segment, once counted.
static enum hn_code cut(struct hn_context *ctx, const struct hn_close_pairs *p, struct lists *l) {
    const struct work *work = p->work;
    int64_t chunks = work->chunks + p->chunks;
    int64_t *first = hn_alloc(ctx, chunks + 1, sizeof *first);
    if (!first)
        return HN_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t c = 0; c < chunks; c++) {
            struct segment *out = pass == 1 ? l->segment + first[c] : NULL;
            int64_t count = c < work->chunks ? cut_words(work, c, out)
                                             : cut_close(p, work->shift, c - work->chunks, out);
            if (pass == 0)
                first[c] = count;
        }
        if (pass == 1)
            break;
        l->count = 0;
        for (int64_t c = 0; c < chunks; c++) {
            int64_t count = first[c];
            first[c] = l->count;
            l->count += count;
        }
        l->segment = hn_alloc(ctx, l->count, sizeof *l->segment);
        if (!l->segment)
            break;
    }
    hn_free(ctx, first);
    return l->segment ? HN_OK : HN_MEMORY;
}

static void lists_free(struct hn_context *ctx, struct lists *l) {
    hn_free(ctx, l->segment);
    for (int side = 0; side < 2; side++) {
        hn_free(ctx, l->start[side]);
        hn_free(ctx, l->member[side]);
    }
}

static enum hn_code lists_make(struct hn_context *ctx, const struct hn_close_pairs *p, int64_t n,
                               struct lists *l) {
    const struct work *work = p->work;
    l->cells = (n + work->cell - 1) / work->cell;
    enum hn_code code = cut(ctx, p, l);
    if (code)
        return code;
    for (int side = 0; side < 2; side++) {
        if (!(l->start[side] = hn_zalloc(ctx, l->cells + 2, sizeof *l->start[side])) ||
            !(l->member[side] = hn_alloc(ctx, l->count, sizeof *l->member[side])))
            return ctx->code;
        int64_t *next = l->start[side] + 1; // next[c] ends as start[c + 1]
        for (int64_t k = 0; k < l->count; k++)
            next[(side ? l->segment[k].cell_col : l->segment[k].cell_row) + 1]++;
        for (int64_t c = 0; c < l->cells; c++)
            next[c + 1] += next[c];
        for (int64_t k = 0; k < l->count; k++)
            l->member[side][next[side ? l->segment[k].cell_col : l->segment[k].cell_row]++] =
                (int32_t)k;
    }
    return HN_OK;
}

static void set_bit(uint8_t *row, int64_t bit) { row[bit >> 3] |= (uint8_t)(1 << (bit & 7)); }

static void set_close(const struct segment *s, const struct band *b, bool transposed) {
    for (int32_t k = 0; k < s->n; k++) {
        int64_t row = hn_pair_row(&s->close[k]), col = s->close[k].col;
        set_bit(b->table + (transposed ? col - b->first : row - b->first) * b->stride,
                transposed ? row : col);
    }
}

// Bytes, not words: a store to one need not wait for the last to another.
static void set_words(const struct segment *s, const struct band *b) {
    const uint16_t *word = s->word, *end = word + s->n;
    while (word < end) {
        uint8_t *row = b->table + (*word++ & ~MARK) * b->stride + s->cell_col * b->cell / 8;
        for (; word < end && !(*word & MARK); word++)
            set_bit(row, *word);
    }
}

static void set_words_transposed(const struct segment *s, const struct band *b) {
    const uint16_t *word = s->word, *end = word + s->n;
    while (word < end) {
        int64_t bit = s->cell_row * b->cell + (*word++ & ~MARK);
        uint8_t *column = b->table + (bit >> 3), mask = (uint8_t)(1 << (bit & 7));
        for (; word < end && !(*word & MARK); word++)
            column[*word * b->stride] |= mask;
    }
}

HN_CLONES
static int64_t count_bits(const uint64_t *word, int64_t words) {
    int64_t count = 0;
    for (int64_t k = 0; k < words; k++)
        count += __builtin_popcountll(word[k]);
    return count;
}

// Places of the bits of word[words], which are cleared, to out[at least their number + GROUP];
// their number.
HN_CLONES
static int64_t read_bits(uint64_t *word, int64_t words, int32_t *out) {
    int64_t found = 0;
    for (int64_t k = 0; k < words; k++) {
        uint64_t w = le64toh(word[k]); // bytes were set
        if (!w)
            continue;
        word[k] = 0;
        int count = __builtin_popcountll(w);
        for (int done = 0; done < count; done += GROUP)
            for (int i = 0; i < GROUP; i++) {
                // The highest bit stands in where none is left, and is overwritten.
                out[found + done + i] = (int32_t)(k * 64 + __builtin_ctzll(w | UINT64_C(1) << 63));
                w &= w - 1;
            }
        found += count;
    }
    return found;
}

struct assembly {
    const struct lists *lists;
    int64_t cell, n, words;
    uint64_t *table; // [threads x cell x words], zeroed
    int32_t *row;    // [threads x (n + GROUP)]
    struct hn_graph *out;
    int64_t cursor; // edges of the bands before
};

// Sets the bits of band number k; how many there are.
static int64_t fill_band(const struct assembly *a, int64_t k, uint64_t *table) {
    const struct lists *l = a->lists;
    const struct band band = {.table = (uint8_t *)table,
                              .first = k * a->cell,
                              .cell = a->cell,
                              .stride = a->words * (int64_t)sizeof *table};
    for (int side = 0; side < 2; side++)
        for (int64_t m = l->start[side][k]; m < l->start[side][k + 1]; m++) {
            const struct segment *s = &l->segment[l->member[side][m]];
            if (s->close)
                set_close(s, &band, side == 1);
            else if (side == 1)
                set_words_transposed(s, &band);
            else
                set_words(s, &band);
        }
    return count_bits(table, a->cell * a->words);
}

static void read_band(const struct assembly *a, int64_t k, int64_t at, uint64_t *table,
                      int32_t *row) {
    int64_t first = k * a->cell, end = hn_min(first + a->cell, a->n);
    for (int64_t v = first; v < end; v++) {
        int64_t size = read_bits(table + (v - first) * a->words, a->words, row);
        memcpy(a->out->target + at, row, (size_t)size * sizeof *row);
        a->out->start[v] = at;
        at += size;
    }
}

static void assemble(struct assembly *a, int threads) {
#pragma omp parallel for ordered num_threads(threads) schedule(dynamic)
    for (int64_t k = 0; k < a->lists->cells; k++) {
        int thread = omp_get_thread_num();
        uint64_t *table = a->table + thread * a->cell * a->words;
        int64_t at, edges = fill_band(a, k, table);
#pragma omp ordered
        {
            at = a->cursor;
            a->cursor += edges;
        }
        read_band(a, k, at, table, a->row + thread * (a->n + GROUP));
    }
    a->out->start[a->n] = a->cursor;
}

enum hn_code hn_close_pairs_graph(struct hn_context *ctx, const struct hn_close_pairs *p, int64_t n,
                                  struct hn_graph *out) {
    const struct work *work = p->work;
    struct lists lists = {0};
    // An odd number of words: columns of a table do not all fall into the same cache sets.
    struct assembly a = {.lists = &lists, .cell = work->cell, .n = n, .words = (n + 63) / 64 | 1};
    int64_t pairs = work->stored, size;
    for (int64_t c = 0; c < p->chunks; c++)
        pairs += p->used[c];
    *out = (struct hn_graph){.n = n};
    a.out = out;
    enum hn_code code = lists_make(ctx, p, n, &lists);
    if (code)
        goto done;
    code = HN_MEMORY;
    if (!hn_mul(ctx->threads, a.cell * a.words, &size) ||
        !(a.table = hn_zalloc(ctx, size, sizeof *a.table)) ||
        !(a.row = hn_alloc(ctx, ctx->threads * (n + GROUP), sizeof *a.row)) ||
        !(out->start = hn_alloc(ctx, n + 1, sizeof *out->start)) ||
        !(out->target = hn_alloc(ctx, hn_min(2 * pairs, n * n), sizeof *out->target)))
        goto done;
    assemble(&a, ctx->threads);
    code = HN_OK;
done:
    lists_free(ctx, &lists);
    hn_free(ctx, a.table);
    hn_free(ctx, a.row);
    if (code != HN_OK)
        hn_graph_free(ctx, out);
    return code;
}
