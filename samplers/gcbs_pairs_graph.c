// SPDX-License-Identifier: GPL-3.0-or-later
// The graph of packed pairs. A band of rows is a table of bits that stays in the second or third
// cache. The segments of the cells in the band's rows, and, transposed, of those in its columns set
// bits; what is set, read row by row, comes out ascending and without repeats. Bits do not mind the
// order in which they are set, so that the graph is the same for any number of threads.
#include "core/clones.h"
#include "samplers/gcbs_pairs_private.h"

#include <endian.h>
#include <omp.h>
#include <string.h>

enum { GROUP = 4 }; // bits read without asking whether there are so many

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
        if (!HN_ALLOC(ctx, l->segment, l->count))
            break;
    }
    return l->segment ? HN_OK : HN_MEMORY;
}

static enum hn_code lists_make(struct hn_context *ctx, const struct hn_close_pairs *p, int64_t n,
                               struct lists *l) {
    const struct work *work = p->work;
    l->cells = (n + work->cell - 1) / work->cell;
    enum hn_code code = cut(ctx, p, l);
    if (code)
        return code;
    for (int side = 0; side < 2; side++) {
        if (!HN_ZALLOC(ctx, l->start[side], l->cells + 2) ||
            !HN_ALLOC(ctx, l->member[side], l->count))
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

// Positions of the bits of word[words], which are cleared, to out[at least their number + GROUP];
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

// Fills the graph.
static enum hn_code build(struct hn_context *ctx, const struct hn_close_pairs *p,
                          struct hn_graph *out) {
    const struct work *work = p->work;
    struct lists lists = {0};
    // An odd number of words: columns of a table do not all fall into the same cache sets.
    struct assembly a = {.lists = &lists,
                         .cell = work->cell,
                         .n = out->n,
                         .words = (out->n + 63) / 64 | 1,
                         .out = out};
    int64_t size;
    if (lists_make(ctx, p, out->n, &lists) || !hn_mul(ctx->threads, a.cell * a.words, &size) ||
        !HN_ZALLOC(ctx, a.table, size) || !HN_ALLOC(ctx, a.row, ctx->threads * (out->n + GROUP)))
        return HN_MEMORY;
    assemble(&a, ctx->threads);
    return HN_OK;
}

enum hn_code hn_close_pairs_graph(struct hn_context *ctx, const struct hn_close_pairs *p, int64_t n,
                                  struct hn_graph *out) {
    int64_t pairs = ((const struct work *)p->work)->stored;
    for (int64_t c = 0; c < p->chunks; c++)
        pairs += p->used[c];
    *out = (struct hn_graph){.n = n};
    bool good =
        HN_ALLOC(ctx, out->start, n + 1) && HN_ALLOC(ctx, out->target, hn_min(2 * pairs, n * n));
    HN_SCOPE(ctx);
    enum hn_code code = good ? build(ctx, p, out) : HN_MEMORY;
    if (code)
        hn_graph_free(ctx, out);
    return code;
}
