// SPDX-License-Identifier: GPL-3.0-or-later
// The checksum behind the end of a file: SHA-256, written once and checked a block at a time.
#include "core/checksum.h"

#include "core/digest.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char word[] = "hardneg-seal sha256 ";
enum { WORD = sizeof word - 1, CHECKSUM = HN_CHECKSUM_BYTES, BLOCK = 1 << 16 };
_Static_assert(CHECKSUM == WORD + HN_DIGEST_TEXT, "the length of a checksum");

// SHA-256 of the first `bytes` bytes.
static bool digest_file(int fd, int64_t bytes, char text[HN_DIGEST_TEXT]) {
    char block[BLOCK];
    struct hn_digest digest;
    hn_digest_begin(&digest);
    for (int64_t at = 0; at < bytes;) {
        ssize_t n = pread(fd, block, (size_t)hn_min(bytes - at, BLOCK), at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        hn_digest_add(&digest, block, (size_t)n);
        at += n;
    }
    hn_digest_end(&digest, text);
    return true;
}

enum hn_code hn_checksum_write(struct hn_context *ctx, const char *path) {
    char digest[HN_DIGEST_TEXT];
    struct stat about;
    FILE *file = fopen(path, "r+e");
    bool good = file && fstat(fileno(file), &about) == 0 &&
                digest_file(fileno(file), about.st_size, digest) && !fseek(file, 0, SEEK_END) &&
                fprintf(file, "%s%s\n", word, digest) == CHECKSUM;
    int reason = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    return good ? HN_OK : hn_fail(ctx, HN_IO, "%s: writing failed: %s", path, strerror(reason));
}

enum finding { NONE, FITS, DAMAGED, UNREAD }; // UNREAD: errno says why

static enum finding look(int fd, int64_t size) {
    char checksum[CHECKSUM], digest[HN_DIGEST_TEXT];
    if (size < CHECKSUM)
        return NONE;
    if (pread(fd, checksum, CHECKSUM, size - CHECKSUM) != CHECKSUM)
        return UNREAD;
    if (memcmp(checksum, word, WORD) != 0)
        return NONE;
    if (!digest_file(fd, size - CHECKSUM, digest))
        return UNREAD;
    return memcmp(checksum + WORD, digest, HN_DIGEST_TEXT - 1) == 0 ? FITS : DAMAGED;
}

enum hn_code hn_checksum_check(struct hn_context *ctx, const char *path, bool *there) {
    struct stat about;
    enum finding finding = UNREAD;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *there = false;
    if (fd < 0)
        return HN_OK;
    errno = 0;
    if (fstat(fd, &about) == 0)
        finding = S_ISREG(about.st_mode) ? look(fd, about.st_size) : NONE;
    int reason = errno;
    (void)close(fd);
    *there = finding != NONE;
    if (finding == NONE || finding == FITS)
        return HN_OK;
    if (hn_file_lock_fault(path) == EWOULDBLOCK)
        return hn_file_fail_locked(ctx, path);
    if (finding == UNREAD)
        return hn_fail_reading(ctx, path, reason);
    return hn_fail(ctx, HN_DATA,
                   "%s: the file is damaged: its SHA-256 is not the one it was sealed with; make "
                   "or copy it again",
                   path);
}

bool hn_checksum_fits(const char *bytes, int64_t size) {
    char digest[HN_DIGEST_TEXT];
    struct hn_digest d;
    size -= CHECKSUM;
    if (size < 0 || memcmp(bytes + size, word, WORD) != 0)
        return false;
    hn_digest_begin(&d);
    hn_digest_add(&d, bytes, (size_t)size);
    hn_digest_end(&d, digest);
    return memcmp(bytes + size + WORD, digest, HN_DIGEST_TEXT - 1) == 0;
}

bool hn_checksum_begins(int fd, int64_t size, const char *text) {
    char begin[BLOCK];
    struct stat about;
    size_t length = strlen(text);
    return fstat(fd, &about) == 0 && about.st_size == size && length < BLOCK &&
           pread(fd, begin, length, 0) == (ssize_t)length && memcmp(begin, text, length) == 0 &&
           look(fd, size) == FITS;
}
