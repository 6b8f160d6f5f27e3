// SPDX-License-Identifier: GPL-3.0-or-later
// A pack of cells: an index, deflated, and each cell's own bytes, deflated by themselves, so that
// one is read without the others.
#include "results/cell_pack.h"
#include "core/strings.h"

#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

static const char first_line[] = "hardneg cells 1\n";

// The common part of cells: the layout, and the own bytes of the first, by which others are
// deflated.
struct layout {
    struct hn_bytes bytes, example;
};
struct entry {
    struct hn_cell_head head; // its texts belong to the pack
    int64_t layout;
    int64_t size, at, packed; // of its own bytes; where these stand, deflated, in `data`
    bool replaced;
};
struct hn_cell_pack {
    struct stat file; // zeroed: there was none
    struct hn_bytes data, index;
    struct layout *layout; // [layouts]
    int64_t layouts, layouts_capacity;
    struct entry *entry; // [n]
    int64_t n, capacity;
    struct hn_strings key; // of the entries that were read
    struct hn_string_index by_key;
    struct hn_bytes own;    // of the cell that was read last
    struct hn_results cell; // its results
    int64_t layout_of_cell; // -1: none was read
};

// --- Deflated bytes ---

// No bytes become more than 1,032 times as many (zlib's manual).
enum { MOST = 1032, DEFLATE_LEVEL = 6 };

static enum hn_code zlib_failed(struct hn_context *ctx, int result) {
    return result == Z_MEM_ERROR ? hn_fail(ctx, HN_MEMORY, "out of memory")
                                 : hn_fail(ctx, HN_DATA, "the bytes of a cell are damaged");
}

static bool fits_zlib(int64_t n) { return n >= 0 && n <= INT32_MAX; }

// Appends n bytes, deflated by an example (NULL: none), to *out.
static enum hn_code deflate_bytes(struct hn_context *ctx, const char *data, int64_t n,
                                  const struct hn_bytes *example, struct hn_bytes *out) {
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)n};
    if (!fits_zlib(n))
        return hn_fail(ctx, HN_MEMORY, "a cell of more bytes than can be packed");
    if (deflateInit2(&z, DEFLATE_LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return zlib_failed(ctx, Z_MEM_ERROR);
    if (example && example->n > 0)
        (void)deflateSetDictionary(&z, (const Bytef *)example->data, (uInt)example->n);
    int64_t bound = (int64_t)deflateBound(&z, (uLong)n), before = out->n;
    enum hn_code code = hn_grow(ctx, &out->data, &out->capacity, out->n + bound, 1);
    if (!code) {
        z.next_out = (Bytef *)out->data + out->n;
        z.avail_out = (uInt)bound;
        int result = deflate(&z, Z_FINISH);
        out->n += (int64_t)z.total_out;
        code = result == Z_STREAM_END ? HN_OK : zlib_failed(ctx, result);
    }
    (void)deflateEnd(&z);
    if (code)
        out->n = before;
    return code;
}

// *out becomes the `size` bytes that from[n] are inflated to.
static enum hn_code inflate_bytes(struct hn_context *ctx, const char *from, int64_t n, int64_t size,
                                  const struct hn_bytes *example, struct hn_bytes *out) {
    z_stream z = {.next_in = (Bytef *)from, .avail_in = (uInt)n};
    if (!fits_zlib(n) || !fits_zlib(size) || size > MOST * n)
        return zlib_failed(ctx, Z_DATA_ERROR);
    if (hn_grow(ctx, &out->data, &out->capacity, size, 1))
        return ctx->code;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return zlib_failed(ctx, Z_MEM_ERROR);
    z.next_out = (Bytef *)out->data;
    z.avail_out = (uInt)size;
    if (example && example->n > 0)
        (void)inflateSetDictionary(&z, (const Bytef *)example->data, (uInt)example->n);
    int result = inflate(&z, Z_FINISH);
    bool whole = result == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0;
    (void)inflateEnd(&z);
    out->n = size;
    return whole ? HN_OK : zlib_failed(ctx, result == Z_MEM_ERROR ? result : Z_DATA_ERROR);
}

// --- Reading ---

static bool take_count(struct hn_cursor *from, int64_t *n) {
    return hn_cursor_take(from, n, sizeof *n) && *n >= 0;
}

// Borrows them from the cursor.
static bool take_bytes(struct hn_cursor *from, struct hn_bytes *out) {
    int64_t n;
    if (!take_count(from, &n) || n > from->left)
        return false;
    *out = (struct hn_bytes){(char *)from->at, n, 0};
    from->at += n;
    from->left -= n;
    return true;
}

static enum hn_code damaged(struct hn_context *ctx) { return zlib_failed(ctx, Z_DATA_ERROR); }

static enum hn_code take_layouts(struct hn_context *ctx, struct hn_cell_pack *pack,
                                 struct hn_cursor *from) {
    int64_t n;
    if (!take_count(from, &n) || n > from->left / (int64_t)sizeof n)
        return damaged(ctx);
    if (hn_grow(ctx, &pack->layout, &pack->layouts_capacity, n, sizeof *pack->layout))
        return ctx->code;
    for (; pack->layouts < n; pack->layouts++) {
        struct layout *layout = &pack->layout[pack->layouts];
        if (!take_bytes(from, &layout->bytes) || !take_bytes(from, &layout->example))
            return damaged(ctx);
    }
    return HN_OK;
}

static enum hn_code take_entries(struct hn_context *ctx, struct hn_cell_pack *pack,
                                 struct hn_cursor *from, int64_t at) {
    int64_t n;
    if (!take_count(from, &n) || n > from->left / (int64_t)sizeof n)
        return damaged(ctx);
    if (hn_grow(ctx, &pack->entry, &pack->capacity, n, sizeof *pack->entry))
        return ctx->code;
    for (; pack->n < n; pack->n++) {
        struct entry e = {.at = at};
        if (hn_cell_head_take(ctx, from, &e.head))
            return ctx->code;
        if (!take_count(from, &e.layout) || e.layout >= pack->layouts ||
            !take_count(from, &e.size) || !take_count(from, &e.packed) ||
            e.packed > pack->data.n - at)
            return damaged(ctx);
        if (hn_strings_add(ctx, &pack->key, e.head.run_key))
            return ctx->code;
        pack->entry[pack->n] = e;
        at += e.packed;
    }
    return HN_OK;
}

static enum hn_code take_index(struct hn_context *ctx, struct hn_cell_pack *pack) {
    struct hn_cursor data = {pack->data.data, pack->data.n};
    int64_t size;
    struct hn_bytes packed;
    if (!take_count(&data, &size) || !take_bytes(&data, &packed))
        return damaged(ctx);
    if (inflate_bytes(ctx, packed.data, packed.n, size, NULL, &pack->index))
        return ctx->code;
    struct hn_cursor index = {pack->index.data, pack->index.n};
    return take_layouts(ctx, pack, &index) ||
                   take_entries(ctx, pack, &index, pack->data.n - data.left)
               ? ctx->code
               : HN_OK;
}

static enum hn_code read_pack(struct hn_context *ctx, const char *path, struct hn_cell_pack *pack) {
    if (stat(path, &pack->file) != 0) {
        memset(&pack->file, 0, sizeof pack->file);
        return HN_OK;
    }
    enum hn_code code = hn_bytes_read(ctx, path, first_line, &pack->data);
    if (!code)
        code = take_index(ctx, pack);
    if (code != HN_DATA)
        return code;
    hn_note(ctx, "%s: the file is damaged: cells that it held are run again", path);
    pack->n = pack->layouts = pack->data.n = 0;
    hn_strings_free(ctx, &pack->key);
    return HN_OK;
}

enum hn_code hn_cell_pack_open(struct hn_context *ctx, const char *path,
                               struct hn_cell_pack **out) {
    struct hn_cell_pack *pack = *out = hn_zalloc(ctx, 1, sizeof *pack);
    if (!pack)
        return ctx->code;
    pack->layout_of_cell = -1;
    void *outer = hn_own(ctx, pack);
    enum hn_code code = read_pack(ctx, path, pack);
    if (!code)
        code = hn_string_index_open(ctx, &pack->key, &pack->by_key);
    hn_own(ctx, outer);
    if (code) {
        hn_cell_pack_close(ctx, pack);
        *out = NULL;
    }
    return code;
}

void hn_cell_pack_close(struct hn_context *ctx, struct hn_cell_pack *pack) { hn_free(ctx, pack); }

bool hn_cell_pack_is_of(const struct hn_cell_pack *pack, const char *path) {
    struct stat now = {0};
    const struct stat *was = &pack->file;
    if (stat(path, &now) != 0)
        return was->st_ino == 0;
    return now.st_ino == was->st_ino && now.st_dev == was->st_dev && now.st_size == was->st_size &&
           now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

int64_t hn_cell_pack_count(const struct hn_cell_pack *pack) { return pack->n; }

struct hn_cell_head hn_cell_pack_head(const struct hn_cell_pack *pack, int64_t i) {
    return pack->entry[i].head;
}

int64_t hn_cell_pack_find(const struct hn_cell_pack *pack, const char *run_key) {
    return hn_string_find(&pack->by_key, run_key);
}

static enum hn_code read_cell(struct hn_context *ctx, struct hn_cell_pack *pack,
                              const struct entry *e) {
    const struct layout *layout = &pack->layout[e->layout];
    if (inflate_bytes(ctx, pack->data.data + e->at, e->packed, e->size, &layout->example,
                      &pack->own))
        return ctx->code;
    struct hn_cursor own = {pack->own.data, pack->own.n};
    struct hn_cursor common = {layout->bytes.data, layout->bytes.n};
    bool same = pack->layout_of_cell == e->layout;
    pack->layout_of_cell = -1;
    if (same)
        return hn_cell_bytes_refill(ctx, &own, &pack->cell);
    hn_results_free(ctx, &pack->cell);
    return hn_cell_bytes_take(ctx, &own, &common, &pack->cell);
}

enum hn_code hn_cell_pack_results(struct hn_context *ctx, struct hn_cell_pack *pack, int64_t i,
                                  const struct hn_results **out) {
    void *outer = hn_own(ctx, pack);
    enum hn_code code = read_cell(ctx, pack, &pack->entry[i]);
    hn_own(ctx, outer);
    if (!code)
        pack->layout_of_cell = pack->entry[i].layout;
    *out = &pack->cell;
    return code;
}

// --- Writing ---

static bool same_bytes(const struct hn_bytes *a, const struct hn_bytes *b) {
    return a->n == b->n && memcmp(a->data, b->data, (size_t)a->n) == 0;
}

// The layout of these bytes, which it takes over with the example if it is a new one.
static enum hn_code find_layout(struct hn_context *ctx, struct hn_cell_pack *pack,
                                const struct layout *wanted, int64_t *out) {
    for (*out = 0; *out < pack->layouts; ++*out)
        if (same_bytes(&pack->layout[*out].bytes, &wanted->bytes))
            return HN_OK;
    if (hn_grow(ctx, &pack->layout, &pack->layouts_capacity, pack->layouts + 1,
                sizeof *pack->layout))
        return ctx->code;
    pack->layout[pack->layouts++] = *wanted;
    return HN_OK;
}

static enum hn_code add(struct hn_context *ctx, struct hn_cell_pack *pack, struct hn_cell_head head,
                        const struct hn_results *results) {
    struct layout cell = {0};
    struct entry e = {.head = {hn_strdup(ctx, head.run_key), hn_strdup(ctx, head.cell_key),
                               hn_strdup(ctx, head.status), hn_strdup(ctx, head.program)},
                      .at = pack->data.n};
    if (!e.head.run_key || !e.head.cell_key || !e.head.status || !e.head.program ||
        hn_cell_bytes_put(ctx, results, &cell.example, &cell.bytes) ||
        find_layout(ctx, pack, &cell, &e.layout) ||
        deflate_bytes(ctx, cell.example.data, cell.example.n, &pack->layout[e.layout].example,
                      &pack->data) ||
        hn_grow(ctx, &pack->entry, &pack->capacity, pack->n + 1, sizeof *pack->entry))
        return ctx->code;
    e.size = cell.example.n;
    e.packed = pack->data.n - e.at;
    if (pack->layout[e.layout].bytes.data != cell.bytes.data) { // it has that layout already
        hn_free(ctx, cell.bytes.data);
        hn_free(ctx, cell.example.data);
    }
    int64_t old = hn_cell_pack_find(pack, head.run_key);
    if (old >= 0)
        pack->entry[old].replaced = true;
    pack->entry[pack->n++] = e;
    return HN_OK;
}

enum hn_code hn_cell_pack_add(struct hn_context *ctx, struct hn_cell_pack *pack,
                              struct hn_cell_head head, const struct hn_results *results) {
    void *outer = hn_own(ctx, pack);
    enum hn_code code = add(ctx, pack, head, results);
    hn_own(ctx, outer);
    return code;
}

static enum hn_code put_bytes(struct hn_context *ctx, struct hn_bytes *out,
                              const struct hn_bytes *bytes) {
    return hn_bytes_append(ctx, out, &bytes->n, sizeof bytes->n) ||
                   hn_bytes_append(ctx, out, bytes->data, bytes->n)
               ? ctx->code
               : HN_OK;
}

static enum hn_code put_entry(struct hn_context *ctx, struct hn_bytes *out, const struct entry *e) {
    const int64_t about[] = {e->layout, e->size, e->packed};
    return hn_cell_head_put(ctx, e->head, out) || hn_bytes_append(ctx, out, about, sizeof about)
               ? ctx->code
               : HN_OK;
}

static enum hn_code put_index(struct hn_context *ctx, const struct hn_cell_pack *pack,
                              struct hn_bytes *out) {
    int64_t n = 0;
    if (hn_bytes_append(ctx, out, &pack->layouts, sizeof pack->layouts))
        return ctx->code;
    for (int64_t i = 0; i < pack->layouts; i++)
        if (put_bytes(ctx, out, &pack->layout[i].bytes) ||
            put_bytes(ctx, out, &pack->layout[i].example))
            return ctx->code;
    for (int64_t i = 0; i < pack->n; i++)
        n += !pack->entry[i].replaced;
    if (hn_bytes_append(ctx, out, &n, sizeof n))
        return ctx->code;
    for (int64_t i = 0; i < pack->n; i++)
        if (!pack->entry[i].replaced && put_entry(ctx, out, &pack->entry[i]))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_cell_pack_write(struct hn_context *ctx, struct hn_cell_pack *pack,
                                const char *path) {
    struct hn_bytes index = {0}, packed = {0}, all = {0};
    HN_SCOPE(ctx);
    if (put_index(ctx, pack, &index) || deflate_bytes(ctx, index.data, index.n, NULL, &packed) ||
        hn_bytes_append(ctx, &all, &index.n, sizeof index.n) || put_bytes(ctx, &all, &packed))
        return ctx->code;
    for (int64_t i = 0; i < pack->n; i++) {
        const struct entry *e = &pack->entry[i];
        if (!e->replaced && hn_bytes_append(ctx, &all, pack->data.data + e->at, e->packed))
            return ctx->code;
    }
    return hn_bytes_write(ctx, path, first_line, 0, all.data, all.n);
}
