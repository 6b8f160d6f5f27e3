// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of a snapshot: attributes and data sets of them, and what of them is printable.
#include "core/text.h"
#include "datasets/h5_data.h"
#include "datasets/snapshot_private.h"

#include <string.h>

// Length of the UTF-8 character at text, 0 if it is invalid or a control character.
static int character(const unsigned char *text) {
    unsigned char c = text[0];
    bool control = (c < 0x20 && c != '\n') || c == 0x7f || (c == 0xc2 && text[1] < 0xa0);
    return control ? 0 : hn_utf8_length(text);
}

bool hn_snapshot_is_utf8(const char *text) {
    int length = 1;
    for (; *text && length > 0; text += length)
        length = hn_utf8_length((const unsigned char *)text);
    return length > 0;
}

bool hn_snapshot_keeps_text(const char *text) {
    int length = 1;
    for (; *text && length > 0; text += length)
        length = character((const unsigned char *)text);
    return length > 0;
}

// Texts go to terminals and into JSON: what is not printable UTF-8 becomes '?'.
void hn_snapshot_clean(char *text) {
    while (*text) {
        int length = character((const unsigned char *)text);
        if (length == 0)
            *text = '?';
        text += hn_max(1, length);
    }
}

char *hn_snapshot_read_text(struct hn_context *ctx, hid_t object, const char *name) {
    char *text = hn_h5_get_text(ctx, object, name, "");
    if (text)
        hn_snapshot_clean(text);
    return text;
}

enum hn_code hn_snapshot_is_retrieval(struct hn_context *ctx, hid_t file, bool *out) {
    HN_SCOPE(ctx);
    const char *kind = hn_h5_get_text(ctx, file, "kind", "");
    *out = kind && strcmp(kind, HN_SNAPSHOT_RETRIEVAL) == 0;
    return kind ? HN_OK : ctx->code;
}

static enum hn_code check_texts(struct hn_context *ctx, const struct hn_strings *text) {
    for (int64_t i = 0; i < text->n; i++)
        if (!hn_snapshot_is_utf8(hn_string(text, i)))
            return hn_fail(ctx, HN_DATA, "the text of row %lld is not UTF-8; import it so",
                           (long long)i);
    return HN_OK;
}

enum hn_code hn_snapshot_read_texts(struct hn_context *ctx, const struct hn_snapshot *s,
                                    const char *path, int64_t n, struct hn_strings *out) {
    struct hn_h5_data data;
    *out = (struct hn_strings){.n = 0};
    enum hn_h5_fault fault = hn_h5_data_open(s->file, path, &data);
    if (fault == HN_H5_ABSENT)
        return HN_OK;
    int64_t bytes = hn_h5_file_bytes(s->file);
    bool good = fault == HN_H5_GOOD && data.class == H5T_STRING && data.rank == 1 &&
                hn_h5_data_holds(&data, bytes, 0);
    int64_t there = good ? (int64_t)data.dim[0] : 0;
    bool fits = good && (n < 0 || there == n);
    if (fits && hn_h5_try_texts(ctx, &data, there, bytes + there)) {
        hn_h5_data_close(&data);
        return ctx->code;
    }
    enum hn_code code = fits   ? hn_h5_read_texts(ctx, &data, there, bytes + there, out)
                        : good ? hn_fail(ctx, HN_DATA, "it has %lld texts, not %lld",
                                         (long long)there, (long long)n)
                               : hn_fail(ctx, HN_DATA, "it is not a list of texts, or damaged");
    code = code ? code : check_texts(ctx, out);
    if (fault == HN_H5_GOOD)
        hn_h5_data_close(&data);
    return code ? hn_fail_in(ctx, "%s: data set %s", s->path, path) : HN_OK;
}
