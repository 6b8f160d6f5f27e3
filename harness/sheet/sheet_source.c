// Sources of the pictures and texts of items.
#include "datasets/import/format.h"
#include "harness/sheet/sheet.h"
#include "training/images/augment.h"

#include <inttypes.h>
#include <string.h>

// Numbers of records from a file.
static enum hn_code read_order(struct hn_context *ctx, const char *path, int64_t n,
                               const int64_t **record) {
    const struct hn_wanted want = {.labels = true};
    struct hn_array array;
    if (hn_format_read(ctx, path, HN_FORMAT_npy, &want, &array))
        return ctx->code;
    if (!array.integer || array.shape[0] != n)
        return hn_fail(ctx, HN_DATA,
                       "%s: the order of %" PRId64 " items is an array of as many integers, the "
                       "number of each item's picture",
                       path, n);
    *record = array.integer;
    return HN_OK;
}

static enum hn_code take_order(struct hn_context *ctx, const char *order, uint64_t seed, int64_t n,
                               struct hn_sheet_source *out) {
    bool views = strcmp(order, "views-mlp") == 0, cnn = strcmp(order, "cnn") == 0;
    if (hn_ends_in(order, ".npy"))
        return read_order(ctx, order, n, &out->record);
    if (!views && !cnn && strcmp(order, "file") != 0)
        return hn_fail(ctx, HN_USAGE, "--order '%s' is not file, views-mlp, cnn or a .npy file",
                       order);
    int64_t *record = hn_alloc(ctx, n, sizeof *record);
    int32_t *drawn = views || cnn ? hn_image_order(ctx, &out->images, n, seed,
                                                   views ? "views.order" : "cnn.order")
                                  : NULL;
    if (!record || ((views || cnn) && !drawn))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        record[i] = drawn ? drawn[i] : i;
    hn_free(ctx, drawn);
    out->record = record;
    return HN_OK;
}

static enum hn_code check_records(struct hn_context *ctx, const char *folder,
                                  const struct hn_items *items,
                                  const struct hn_sheet_source *source) {
    int64_t all = source->images.n + source->images.test;
    for (int64_t i = 0; i < items->n; i++) {
        int64_t record = source->record[i];
        if (record < 0 || record >= all)
            return hn_fail(ctx, HN_DATA,
                           "item %" PRId64 " is said to be picture %" PRId64 ", and %s has 0 to "
                           "%" PRId64,
                           i, record, folder, all - 1);
        int32_t label = items->labels ? items->labels[i] : -1, own = source->images.label[record];
        if (label >= 0 && own >= 0 && label != own)
            return hn_fail(ctx, HN_DATA,
                           "item %" PRId64 " has label %" PRId32 " and picture %" PRId64
                           " of %s label %" PRId32 ": items are in another order; name it with "
                           "--order",
                           i, label, record, folder, own);
    }
    return HN_OK;
}

enum hn_code hn_sheet_pictures(struct hn_context *ctx, const char *folder, const char *order,
                               uint64_t seed, const struct hn_items *items,
                               struct hn_sheet_source *out) {
    if (hn_images_read(ctx, folder, &out->images))
        return ctx->code;
    if (items->n > out->images.n + out->images.test)
        return hn_fail(ctx, HN_DATA,
                       "%s holds %" PRId64 " pictures, the snapshot %" PRId64
                       " items: it is of other data",
                       folder, out->images.n + out->images.test, items->n);
    out->label = out->images.label_name;
    out->labels = out->images.n_label_names;
    return take_order(ctx, order, seed, items->n, out) || check_records(ctx, folder, items, out)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_sheet_texts(struct hn_context *ctx, const char *path, int64_t n,
                            struct hn_sheet_source *out) {
    struct hn_source source;
    char *text;
    if (hn_source_open(ctx, path, &source))
        return ctx->code;
    enum hn_code code = hn_source_text(ctx, &source, &text);
    hn_source_close(&source);
    const char **line = code ? NULL : hn_alloc(ctx, n, sizeof *line);
    if (!line)
        return ctx->code;
    int64_t lines = 0;
    for (char *at = text; *at; lines++) {
        char *end = at + strcspn(at, "\n");
        if (lines < n)
            line[lines] = at;
        at = *end ? end + 1 : end;
        *end = '\0';
    }
    if (lines != n)
        return hn_fail(ctx, HN_DATA,
                       "%s has %" PRId64 " lines, the snapshot %" PRId64
                       " items: one line for each, in their order",
                       path, lines, n);
    out->text = line;
    return HN_OK;
}
