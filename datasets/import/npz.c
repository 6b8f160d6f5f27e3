// NumPy's .npz: a zip archive of .npy files, stored or deflated. Sizes are those of the central
// directory at the end of the archive (zip64 too); APPNOTE.TXT of PKWARE describes the format.
#include "datasets/import/format.h"
#include "datasets/import/npy.h"

#include <string.h>
#include <zlib.h>

enum {
    LOCAL = 30,
    CENTRAL = 46,
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    COMMENT_MAX = 65535,
    DIRECTORY_MAX = 1 << 24,
    PIECE = 1 << 15,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
    RATIO_MAX = 1032 // of deflate
};
static const uint32_t all_ones = 0xffffffff;

struct member {
    char *name; // without ".npy"
    int method;
    uint32_t crc;
    int64_t at, packed, size; // of its local header; bytes in the archive, and unpacked
};

static enum hn_code bad(struct hn_context *ctx, const struct hn_source *s, const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: %s; save the arrays again with numpy.savez", s->path, what);
}

// Position of the central directory.
struct directory {
    uint64_t at, bytes;
};

static enum hn_code read_end64(struct hn_context *ctx, struct hn_source *s, int64_t end,
                               struct directory *d) {
    unsigned char locator[LOCATOR], record[END64];
    if (hn_source_go(ctx, s, end - LOCATOR, LOCATOR, "the directory") ||
        hn_source_take(ctx, s, locator, LOCATOR, "the directory"))
        return ctx->code;
    uint64_t at = hn_little_endian(locator + 8, 8);
    if (memcmp(locator, "PK\6\7", 4) != 0 || at > (uint64_t)end)
        return bad(ctx, s, "its zip64 directory is not there");
    if (hn_source_go(ctx, s, (int64_t)at, END64, "the directory") ||
        hn_source_take(ctx, s, record, END64, "the directory"))
        return ctx->code;
    if (memcmp(record, "PK\6\6", 4) != 0)
        return bad(ctx, s, "its zip64 directory is not there");
    *d = (struct directory){hn_little_endian(record + 48, 8), hn_little_endian(record + 40, 8)};
    return HN_OK;
}

// The end record is the last thing in the file, but for a comment.
static enum hn_code find_directory(struct hn_context *ctx, struct hn_source *s,
                                   struct directory *d) {
    int64_t size = s->left, tail = hn_min(size, COMMENT_MAX + END), at = tail - END;
    HN_SCOPE(ctx);
    unsigned char *last = hn_alloc(ctx, tail, 1);
    if (!last || hn_source_go(ctx, s, size - tail, tail, "the directory") ||
        hn_source_take(ctx, s, last, tail, "the directory"))
        return ctx->code;
    while (at >= 0 && memcmp(last + at, "PK\5\6", 4) != 0)
        at--;
    if (at < 0)
        return bad(ctx, s, "is not a whole zip archive: its directory is missing");
    *d = (struct directory){hn_little_endian(last + at + 16, 4),
                            hn_little_endian(last + at + 12, 4)};
    if (d->at == all_ones || d->bytes == all_ones)
        return read_end64(ctx, s, size - tail + at, d);
    return HN_OK;
}

// Sizes and position of a member that are too large for their fields stand in its extra field 1, in
// this order.
static bool widen(const unsigned char *extra, const unsigned char *end, uint64_t *value[3]) {
    while (end - extra >= 4) {
        size_t id = hn_little_endian(extra, 2), bytes = hn_little_endian(extra + 2, 2);
        extra += 4;
        if (bytes > (size_t)(end - extra))
            return false;
        for (int k = 0; id == 1 && k < 3; k++)
            if (*value[k] == all_ones) {
                if (bytes < 8)
                    return false;
                *value[k] = hn_little_endian(extra, 8);
                extra += 8;
                bytes -= 8;
            }
        extra += bytes;
    }
    return true;
}

// One entry of the directory, of at least CENTRAL bytes; *used: its length. A member that is no
// .npy has no name.
static enum hn_code read_entry(struct hn_context *ctx, const struct hn_source *s,
                               const unsigned char *entry, int64_t left, struct member *m,
                               int64_t *used) {
    int64_t name = (int64_t)hn_little_endian(entry + 28, 2);
    int64_t extra = (int64_t)hn_little_endian(entry + 30, 2);
    uint64_t packed = hn_little_endian(entry + 20, 4), size = hn_little_endian(entry + 24, 4);
    uint64_t at = hn_little_endian(entry + 42, 4), *wide[] = {&size, &packed, &at};
    *used = CENTRAL + name + extra + (int64_t)hn_little_endian(entry + 32, 2);
    if (memcmp(entry, "PK\1\2", 4) != 0 || *used > left ||
        !widen(entry + CENTRAL + name, entry + CENTRAL + name + extra, wide))
        return bad(ctx, s, "its directory is damaged");
    *m = (struct member){.method = (int)hn_little_endian(entry + 10, 2),
                         .crc = (uint32_t)hn_little_endian(entry + 16, 4),
                         .at = (int64_t)at,
                         .packed = (int64_t)packed,
                         .size = (int64_t)size};
    bool array = name > 4 && memcmp(entry + CENTRAL + name - 4, ".npy", 4) == 0;
    if (!array)
        return HN_OK;
    if (hn_little_endian(entry + 8, 2) & ENCRYPTED)
        return bad(ctx, s, "is encrypted");
    m->name = hn_format(ctx, "%.*s", (int)name - 4, (const char *)entry + CENTRAL);
    return m->name ? HN_OK : ctx->code;
}

static enum hn_code read_directory(struct hn_context *ctx, struct hn_source *s, struct member **m,
                                   int64_t *n) {
    struct directory d = {0, 0};
    int64_t used;
    if (find_directory(ctx, s, &d))
        return ctx->code;
    if (d.bytes > DIRECTORY_MAX || d.at > INT64_MAX)
        return bad(ctx, s, "its directory is damaged, or has more than 16 MiB");
    unsigned char *entry = hn_alloc(ctx, (int64_t)d.bytes, 1);
    *m = hn_alloc(ctx, (int64_t)d.bytes / CENTRAL, sizeof **m);
    *n = 0;
    if (!entry || !*m || hn_source_go(ctx, s, (int64_t)d.at, (int64_t)d.bytes, "the directory") ||
        hn_source_take(ctx, s, entry, (int64_t)d.bytes, "the directory"))
        return ctx->code;
    for (int64_t left = (int64_t)d.bytes; left >= CENTRAL; left -= used, entry += used) {
        if (read_entry(ctx, s, entry, left, *m + *n, &used))
            return ctx->code;
        *n += (*m)[*n].name != NULL;
    }
    return HN_OK;
}

// A member as a stream: what fread() gets of it.
struct unpacker {
    FILE *archive;
    int64_t packed; // bytes of it still in the archive
    bool deflated;
    uint32_t crc; // of what was unpacked so far
    z_stream z;
    unsigned char piece[PIECE];
};

static ssize_t inflate_some(struct unpacker *u, char *out, size_t bytes) {
    int end = Z_OK;
    u->z.next_out = (unsigned char *)out;
    u->z.avail_out = (unsigned)hn_min((int64_t)bytes, PIECE);
    unsigned wanted = u->z.avail_out;
    while (u->z.avail_out == wanted && end == Z_OK) {
        if (u->z.avail_in == 0) {
            size_t n = (size_t)hn_min(u->packed, PIECE);
            n = fread(u->piece, 1, n, u->archive);
            u->packed -= (int64_t)n;
            u->z.next_in = u->piece;
            u->z.avail_in = (unsigned)n;
        }
        end = inflate(&u->z, Z_NO_FLUSH);
    }
    return end == Z_OK || end == Z_STREAM_END ? (ssize_t)(wanted - u->z.avail_out) : -1;
}

static ssize_t unpack(void *cookie, char *out, size_t bytes) {
    struct unpacker *u = cookie;
    ssize_t n;
    if (u->deflated) {
        n = inflate_some(u, out, bytes);
    } else {
        n = (ssize_t)fread(out, 1, (size_t)hn_min((int64_t)bytes, u->packed), u->archive);
        u->packed -= n;
    }
    if (n > 0)
        u->crc = (uint32_t)crc32(u->crc, (unsigned char *)out, (unsigned)n);
    return n;
}

// Opens a member, which lies behind its local header.
static enum hn_code open_member(struct hn_context *ctx, struct hn_source *s, const struct member *m,
                                struct unpacker *u, struct hn_source *out) {
    unsigned char local[LOCAL];
    *u =
        (struct unpacker){.archive = s->file, .packed = m->packed, .deflated = m->method != STORED};
    *out = (struct hn_source){.left = m->size};
    if (m->method != STORED && m->method != DEFLATED)
        return bad(ctx, s, "is compressed in a way that is not read");
    if (m->packed < 0 || m->size < 0 ||
        (m->method == STORED ? m->size != m->packed : m->size / RATIO_MAX > m->packed))
        return bad(ctx, s, "its directory is damaged: sizes are impossible");
    if (hn_source_go(ctx, s, m->at, LOCAL, "a member") ||
        hn_source_take(ctx, s, local, LOCAL, "a member"))
        return ctx->code;
    int64_t head = (int64_t)(hn_little_endian(local + 26, 2) + hn_little_endian(local + 28, 2));
    if (memcmp(local, "PK\3\4", 4) != 0)
        return bad(ctx, s, "its directory is damaged: a member is not where it should be");
    if (hn_source_go(ctx, s, m->at + LOCAL + head, m->packed, "a member"))
        return ctx->code;
    if (!(out->path = hn_format(ctx, "%s: %s", s->path, m->name)))
        return ctx->code;
    if (u->deflated && inflateInit2(&u->z, -MAX_WBITS) != Z_OK)
        return hn_fail(ctx, HN_MEMORY, "%s: out of memory", out->path);
    out->file = fopencookie(u, "rb", (cookie_io_functions_t){.read = unpack});
    return out->file ? HN_OK : hn_fail(ctx, HN_MEMORY, "%s: out of memory", out->path);
}

static void close_member(struct unpacker *u, struct hn_source *member) {
    hn_source_close(member);
    if (u->deflated)
        (void)inflateEnd(&u->z);
}

// The header of a member, and, where something is wanted of it, the values as well.
static enum hn_code read_member(struct hn_context *ctx, struct hn_source *s, const struct member *m,
                                const struct hn_wanted *want, struct hn_array_type *type,
                                struct hn_array *out) {
    struct hn_source member;
    HN_SCOPE(ctx);
    struct unpacker *u = hn_alloc(ctx, 1, sizeof *u);
    if (!u)
        return ctx->code;
    enum hn_code code = open_member(ctx, s, m, u, &member);
    if (!code)
        code = hn_npy_head(ctx, &member, type, out);
    if (!code && want) {
        hn_own(ctx, scope.outer);
        code = hn_npy_values(ctx, &member, want, *type, out);
        if (!code && member.left == 0 && u->crc != m->crc) // else it was not read to its end
            code = hn_fail(ctx, HN_DATA, "%s: its checksum is wrong; copy or make the file again",
                           member.path);
    }
    close_member(u, &member);
    return code;
}

static enum hn_code pick(struct hn_context *ctx, struct hn_source *s, const struct hn_wanted *want,
                         const struct member *m, int64_t n, int64_t *picked) {
    HN_SCOPE(ctx);
    struct hn_entry *entry = hn_alloc(ctx, n, sizeof *entry);
    if (!entry)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        struct hn_array_type type = {.kind = 0};
        struct hn_array head = {.rank = 0};
        // Members that cannot be read, such as pickled ones, are not offered.
        enum hn_code code = read_member(ctx, s, &m[i], NULL, &type, &head);
        if (code && code != HN_DATA)
            return code;
        entry[i] = (struct hn_entry){m[i].name, head.rank, code ? 0 : type.kind, head.shape[1]};
    }
    return hn_entry_pick(ctx, s->path, want, entry, n, picked);
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    struct member *m = NULL;
    struct hn_array_type type;
    int64_t n = 0, picked = 0;
    if (read_directory(ctx, s, &m, &n) || pick(ctx, s, want, m, n, &picked))
        return ctx->code;
    return read_member(ctx, s, &m[picked], want, &type, out);
}

static const char *const endings[] = {".npz", NULL};

const struct hn_format hn_format_npz = {
    .name = "npz",
    .summary = "arrays by name in an archive of NumPy (numpy.savez, numpy.savez_compressed)",
    .endings = endings,
    .has_labels = true,
    .magic = "PK\3\4",
    .magic_bytes = 4,
    .rows_named = true,
    .labels_named = true,
    .read = read_array,
};
