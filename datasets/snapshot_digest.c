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

static enum hn_code digest_integers(struct hn_context *ctx, const struct hn_snapshot *s,
                                    const struct hn_data *data, struct hn_digest *digest) {
    int64_t *value = hn_alloc(ctx, data->block, sizeof *value);
    if (!value)
        return ctx->code;
    enum hn_code code = HN_OK;
    for (int64_t first = 0; first < data->rows && code == HN_OK; first += data->block) {
        int64_t count = hn_min(data->block, data->rows - first);
        code = hn_data_read_integers(ctx, s, data, first, count, value);
        if (code == HN_OK)
            add_integers(digest, value, count);
    }
    hn_free(ctx, value);
    return code;
}

static enum hn_code digest_step(struct hn_context *ctx, const struct hn_snapshot *s,
                                const struct hn_data *data, int64_t index, void *const room[2],
                                struct hn_digest *digest) {
    enum hn_code code = hn_check_stop(ctx);
    for (int64_t first = 0; first < data->rows && code == HN_OK; first += data->block) {
        int64_t count = hn_min(data->block, data->rows - first);
        code = hn_data_read_rows(ctx, s, data, index, first, count, room[0], room[1]);
        if (code == HN_OK)
            add_floats(digest, room[1], count * data->cols);
    }
    return code;
}

static enum hn_code digest_floats(struct hn_context *ctx, const struct hn_snapshot *s,
                                  const struct hn_data *data, struct hn_digest *digest) {
    uint16_t *halves;
    enum hn_code code = hn_data_halves(ctx, data, data->block, &halves);
    float *value = NULL;
    if (code == HN_OK && !(value = hn_alloc(ctx, data->block * data->cols, sizeof *value)))
        code = ctx->code;
    for (int64_t i = 0; i < data->steps && code == HN_OK; i++)
        code = digest_step(ctx, s, data, i, (void *const[]){halves, value}, digest);
    hn_free(ctx, value);
    hn_free(ctx, halves);
    return code;
}

static enum hn_code digest_data(struct hn_context *ctx, const struct hn_snapshot *s,
                                const char *path, enum hn_data_kind kind,
                                struct hn_digest *digest) {
    struct hn_data data;
    enum hn_code code = hn_data_open(ctx, s, path, kind, &data);
    if (code != HN_OK || data.id < 0)
        return code;
    add_head(digest, &data);
    code = kind == HN_DATA_INTEGERS ? digest_integers(ctx, s, &data, digest)
                                    : digest_floats(ctx, s, &data, digest);
    hn_data_close(&data);
    return code;
}

enum hn_code hn_snapshot_digest_file(struct hn_context *ctx, const struct hn_snapshot *s,
                                     char *text) {
    static const struct {
        const char *path;
        enum hn_data_kind kind;
    } content[] = {{"/step", HN_DATA_INTEGERS},
                   {"/labels", HN_DATA_INTEGERS},
                   {"/embeddings", HN_DATA_FLOATS},
                   {"/train", HN_DATA_FLOATS},
                   {"/view1", HN_DATA_FLOATS},
                   {"/view2", HN_DATA_FLOATS},
                   {"/positive", HN_DATA_INTEGERS},
                   {"/split", HN_DATA_INTEGERS},
                   {"/graph/indptr", HN_DATA_INTEGERS},
                   {"/graph/indices", HN_DATA_INTEGERS},
                   {"/features", HN_DATA_FLOATS},
                   {"/features_csr/indptr", HN_DATA_INTEGERS},
                   {"/features_csr/indices", HN_DATA_INTEGERS},
                   {"/features_csr/data", HN_DATA_FLOATS}};
    struct hn_digest digest;
    hn_digest_begin(&digest);
    for (size_t i = 0; i < sizeof content / sizeof *content; i++) {
        enum hn_code code = digest_data(ctx, s, content[i].path, content[i].kind, &digest);
        if (code != HN_OK)
            return code;
    }
    hn_digest_end(&digest, text);
    return HN_OK;
}

enum hn_code hn_snapshot_digest(struct hn_context *ctx, struct hn_snapshot *s, char *text) {
    return hn_snapshot_digest_file(ctx, s, text);
}
