// SPDX-License-Identifier: GPL-3.0-or-later
// The content of a snapshot as one SHA-256. For each data set that is present, in a fixed order:
// its path (length, then bytes), its rank and its extents as int64, its values as int64 or float32;
// all little-endian. Storage (chunks, compression, float type, attributes) does not enter.
#include "core/digest.h"
#include "datasets/snapshot_private.h"

#include <endian.h>
#include <string.h>

static void add_integers(struct hn_digest *digest, int64_t *value, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        value[i] = (int64_t)htole64((uint64_t)value[i]);
    hn_digest_add(digest, value, (size_t)n * sizeof *value);
}

static void add_floats(struct hn_digest *digest, float *value, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, value + i, sizeof word);
        word = htole32(word);
        memcpy(value + i, &word, sizeof word);
    }
    hn_digest_add(digest, value, (size_t)n * sizeof *value);
}

static void add_head(struct hn_digest *digest, const struct hn_data *data) {
    int64_t head[] = {data->rank, data->steps, data->rows, data->cols};
    hn_digest_add_text(digest, data->path);
    add_integers(digest, head, 4);
}

static enum hn_code digest_values(struct hn_context *ctx, const struct hn_snapshot *s,
                                  const struct hn_data *data, struct hn_digest *digest) {
    bool integers = data->kind == HN_DATA_INTEGERS;
    uint16_t *halves;
    HN_SCOPE(ctx);
    if (hn_data_halves(ctx, data, data->block, &halves))
        return ctx->code;
    void *value =
        hn_alloc(ctx, data->block * data->cols, integers ? sizeof(int64_t) : sizeof(float));
    if (!value)
        return ctx->code;
    for (int64_t i = 0; i < data->steps; i++)
        for (int64_t first = 0; first < data->rows; first += data->block) {
            int64_t count = hn_min(data->block, data->rows - first);
            if (hn_check_stop(ctx) ||
                hn_data_read_rows(ctx, s, data, i, first, count, halves, value))
                return ctx->code;
            if (integers)
                add_integers(digest, value, count);
            else
                add_floats(digest, value, count * data->cols);
        }
    return HN_OK;
}

// Each text with its length, after path and number as of other data.
static enum hn_code digest_texts(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const char *path, struct hn_digest *digest) {
    struct hn_strings text;
    HN_SCOPE(ctx);
    enum hn_code code = hn_snapshot_read_texts(ctx, s, path, -1, &text);
    if (code != HN_OK || text.n == 0)
        return code;
    const struct hn_data data = {.path = path, .rank = 1, .steps = 1, .rows = text.n, .cols = 1};
    add_head(digest, &data);
    for (int64_t i = 0; i < text.n; i++)
        hn_digest_add_text(digest, hn_string(&text, i));
    return HN_OK;
}

static enum hn_code digest_data(struct hn_context *ctx, const struct hn_snapshot *s,
                                const char *path, enum hn_data_kind kind,
                                struct hn_digest *digest) {
    struct hn_data data;
    if (kind == HN_DATA_TEXTS)
        return digest_texts(ctx, s, path, digest);
    enum hn_code code = hn_data_open(ctx, s, path, kind, &data);
    if (code != HN_OK || data.id < 0)
        return code;
    add_head(digest, &data);
    code = digest_values(ctx, s, &data, digest);
    hn_data_close(&data);
    return code;
}

const struct hn_snapshot_part hn_snapshot_part[HN_SNAPSHOT_PARTS] = {
    {"/step", HN_DATA_INTEGERS, false},
    {"/labels", HN_DATA_INTEGERS, false},
    {"/embeddings", HN_DATA_FLOATS, false},
    {"/train", HN_DATA_FLOATS, false},
    {"/view1", HN_DATA_FLOATS, false},
    {"/view2", HN_DATA_FLOATS, false},
    {"/positive", HN_DATA_INTEGERS, true},
    {"/split", HN_DATA_INTEGERS, false},
    {"/graph/indptr", HN_DATA_INTEGERS, true},
    {"/graph/indices", HN_DATA_INTEGERS, true},
    {"/features", HN_DATA_FLOATS, true},
    {"/features_csr/indptr", HN_DATA_INTEGERS, true},
    {"/features_csr/indices", HN_DATA_INTEGERS, true},
    {"/features_csr/data", HN_DATA_FLOATS, true},
    {"/labels_csr/indptr", HN_DATA_INTEGERS, false},
    {"/labels_csr/indices", HN_DATA_INTEGERS, false},
    {"/teacher", HN_DATA_FLOATS, true},
    {"/group", HN_DATA_INTEGERS, true},
    {"/queries", HN_DATA_FLOATS, false},
    {"/corpus", HN_DATA_FLOATS, false},
    {"/qrels/indptr", HN_DATA_INTEGERS, true},
    {"/qrels/indices", HN_DATA_INTEGERS, true},
    {"/qrels/grade", HN_DATA_INTEGERS, true},
    {"/truth/indptr", HN_DATA_INTEGERS, true},
    {"/truth/indices", HN_DATA_INTEGERS, true},
    {"/truth/grade", HN_DATA_INTEGERS, true},
    {"/query_group", HN_DATA_INTEGERS, true},
    {"/corpus_group", HN_DATA_INTEGERS, true},
    {"/query_teacher", HN_DATA_FLOATS, true},
    {"/corpus_teacher", HN_DATA_FLOATS, true},
    {"/scores/indptr", HN_DATA_INTEGERS, true},
    {"/scores/indices", HN_DATA_INTEGERS, true},
    {"/scores/score", HN_DATA_FLOATS, true},
    {"/query_id", HN_DATA_TEXTS, true},
    {"/corpus_id", HN_DATA_TEXTS, true},
    {"/query_text", HN_DATA_TEXTS, true},
    {"/corpus_text", HN_DATA_TEXTS, true}};

// Reads only file and path of the snapshot.
enum hn_code hn_snapshot_digest(struct hn_context *ctx, const struct hn_snapshot *s, char *text) {
    struct hn_digest digest;
    hn_digest_begin(&digest);
    for (const struct hn_snapshot_part *part = hn_snapshot_part;
         part < hn_snapshot_part + HN_SNAPSHOT_PARTS; part++)
        if (digest_data(ctx, s, part->path, part->kind, &digest))
            return ctx->code;
    hn_digest_end(&digest, text);
    return HN_OK;
}

// Only files of this program: others may define the digest otherwise.
enum hn_code hn_snapshot_check_digest(struct hn_context *ctx, struct hn_snapshot *s) {
    char text[HN_DIGEST_TEXT];
    return s->info.stored_sha256[0] ? hn_snapshot_digest_checked(ctx, s, text) : HN_OK;
}

enum hn_code hn_snapshot_digest_checked(struct hn_context *ctx, struct hn_snapshot *s, char *text) {
    enum hn_code code = hn_snapshot_digest(ctx, s, text);
    if (code == HN_OK && s->info.stored_sha256[0] &&
        strncmp(s->info.tool_version, "hardneg ", 8) == 0 &&
        strcmp(text, s->info.stored_sha256) != 0)
        code = hn_fail(ctx, HN_DATA,
                       "%s: the values are not those that were written: SHA-256 %s, attribute "
                       "content_sha256 %.64s; make or copy the file again",
                       s->path, text, s->info.stored_sha256);
    return code;
}
