// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes that grow, and files of them with a first line and a checksum.
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum hn_code hn_bytes_append(struct hn_context *ctx, struct hn_bytes *b, const void *data,
                             int64_t n) {
    int64_t wanted;
    if (!hn_add(b->n, n, &wanted))
        return hn_fail(ctx, HN_MEMORY, "more bytes than can be counted");
    if (hn_grow(ctx, &b->data, &b->capacity, wanted, 1))
        return ctx->code;
    if (n > 0)
        memcpy(b->data + b->n, data, (size_t)n);
    b->n = wanted;
    return HN_OK;
}

bool hn_cursor_take(struct hn_cursor *from, void *to, int64_t n) {
    if (n < 0 || n > from->left)
        return false;
    if (n > 0)
        memcpy(to, from->at, (size_t)n);
    from->at += n;
    from->left -= n;
    return true;
}

enum hn_code hn_cursor_fail(struct hn_context *ctx) {
    return hn_fail(ctx, HN_DATA,
                   "a part of a computation is of other sizes than it should be: remove the folder "
                   "with its parts, beside the output or in it, and run again");
}

enum hn_code hn_bytes_write(struct hn_context *ctx, const char *path, const char *line,
                            int64_t from, const void *data, int64_t n) {
    HN_SCOPE(ctx);
    int fd = -1;
    char *temporary = hn_temporary_file(ctx, path, &fd);
    if (!temporary)
        return ctx->code;
    FILE *out = fdopen(fd, "w");
    bool good = out && fputs(line, out) >= 0 &&
                (from == 0 || fseek(out, (long)from, SEEK_SET) == 0) &&
                fwrite(data, 1, (size_t)n, out) == (size_t)n;
    int reason = errno;
    if (out ? fclose(out) != 0 : close(fd) != 0) {
        reason = good ? errno : reason;
        good = false;
    }
    enum hn_code code = good
                            ? hn_checksum_write(ctx, temporary)
                            : hn_fail(ctx, HN_IO, "%s: writing failed: %s", path, strerror(reason));
    if (code) {
        (void)unlink(temporary);
        return code;
    }
    return hn_file_publish(ctx, temporary, path);
}

enum hn_code hn_bytes_read(struct hn_context *ctx, const char *path, const char *line,
                           struct hn_bytes *out) {
    const int64_t begin = (int64_t)strlen(line);
    int64_t size = 0;
    const char *why;
    FILE *file = hn_file_open(path, &size, &why);
    char *data = file ? hn_alloc(ctx, size, 1) : NULL;
    *out = (struct hn_bytes){data, size - begin - HN_CHECKSUM_BYTES, size};
    bool good = data && fread(data, 1, (size_t)size, file) == (size_t)size && out->n >= 0 &&
                memcmp(data, line, (size_t)begin) == 0 && hn_checksum_fits(data, size);
    if (file)
        (void)fclose(file);
    if (good) {
        memmove(data, data + begin, (size_t)out->n);
        return HN_OK;
    }
    enum hn_code code =
        file && !data
            ? ctx->code
            : hn_fail(ctx, HN_DATA, "%s: the file is damaged, or is missing: run again", path);
    hn_free(ctx, data);
    *out = (struct hn_bytes){0};
    return code;
}
