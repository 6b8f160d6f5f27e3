// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes to be read: of a file, of standard input, or of a member of an archive.
#pragma once

#include "core/files.h"

struct hn_source {
    const char *path; // as messages name it; borrowed
    FILE *file;
    int64_t left;                // bytes from here to the end, at most
    struct hn_file_state opened; // the file as it was then
};

// Opens a regular file, or standard input ("-"), which is read into memory first: its size is then
// known, as that of a file is. HN_DATA: it cannot be opened, or is empty.
HN_MUST_USE enum hn_code hn_source_open(struct hn_context *ctx, const char *path,
                                        struct hn_source *out);
void hn_source_close(struct hn_source *s); // of one that was not opened is fine
// Closes it once it was read, which ended with `code`: that, or HN_DATA if the file was changed
// meanwhile, which is then what was wrong.
HN_MUST_USE enum hn_code hn_source_end(struct hn_context *ctx, struct hn_source *s,
                                       enum hn_code code);

// The next to[bytes]. HN_DATA: "PATH: ends within <what>; copy or make it again".
HN_MUST_USE enum hn_code hn_source_take(struct hn_context *ctx, struct hn_source *s, void *to,
                                        int64_t bytes, const char *what);

// Goes to position `at` of the file, from where it has `bytes` bytes. HN_DATA where they are not
// all there; `what` as above.
HN_MUST_USE enum hn_code hn_source_go(struct hn_context *ctx, struct hn_source *s, int64_t at,
                                      int64_t bytes, const char *what);

// The rest as a text ended by 0, without a byte order mark. HN_DATA: a zero byte in it, as UTF-16
// has them.
HN_MUST_USE enum hn_code hn_source_text(struct hn_context *ctx, struct hn_source *s, char **text);

// Little-endian numbers of 2, 4 or 8 bytes.
static inline uint64_t hn_little_endian(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

// True if the name of a file has an ending, or had it before it was cropped
// ("base.u8bin.crop_nb_1000").
bool hn_path_ends(const char *path, const char *ending);
