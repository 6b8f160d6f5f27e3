// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes in memory, and in files that begin with a line of text and end with a checksum
// (core/files.h).
#pragma once

#include "core/context.h"

// Bytes that grow; their memory belongs to the owner at the first call, or to none.
struct hn_bytes {
    char *data;
    int64_t n, capacity;
};
HN_MUST_USE enum hn_code hn_bytes_append(struct hn_context *ctx, struct hn_bytes *b,
                                         const void *data, int64_t n);
// Bytes that are read from the front. Taking more than are left gives false, and nothing.
struct hn_cursor {
    const char *at;
    int64_t left;
};
bool hn_cursor_take(struct hn_cursor *from, void *to, int64_t n);
// For what was read from the file of a part (core/parts.h) but cannot be: HN_DATA.
HN_MUST_USE enum hn_code hn_cursor_fail(struct hn_context *ctx);

// Makes a file that begins with this line, has n bytes from position `from` on (0: behind the
// line), and a checksum behind them: whole or not there. HN_IO, and those of hn_temporary_file().
HN_MUST_USE enum hn_code hn_bytes_write(struct hn_context *ctx, const char *path, const char *line,
                                        int64_t from, const void *data, int64_t n);
// The bytes between that line and the checksum. HN_DATA: no such file, another line, or damage.
HN_MUST_USE enum hn_code hn_bytes_read(struct hn_context *ctx, const char *path, const char *line,
                                       struct hn_bytes *out);
