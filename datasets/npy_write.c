// Writes NumPy files, format version 1.0: under a temporary name, which becomes the file's when all
// is on the disk.
#include "core/files.h"
#include "datasets/npy.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 64, HEADER = 4 * ALIGNMENT, PREFIX = 10 };

struct hn_npy_writer {
    char *path, *temporary;
    int fd;
};

void hn_npy_write_abort(struct hn_context *ctx, struct hn_npy_writer *w) {
    if (!w)
        return;
    if (w->fd >= 0)
        (void)close(w->fd);
    if (w->temporary)
        (void)unlink(w->temporary);
    hn_free(ctx, w->temporary);
    hn_free(ctx, w->path);
    hn_free(ctx, w);
}

enum hn_code hn_npy_write_begin(struct hn_context *ctx, const char *path,
                                struct hn_npy_writer **out) {
    struct stat about;
    *out = NULL;
    if (!path[0])
        return hn_fail(ctx, HN_USAGE, "the name of the output file is empty; give one");
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return hn_fail(ctx, HN_USAGE, "%s: is there and is not a regular file; give another name",
                       path);
    struct hn_npy_writer *w = hn_zalloc(ctx, 1, sizeof *w);
    if (!w)
        return ctx->code;
    w->fd = -1;
    w->path = hn_strdup(ctx, path);
    if (w->path) {
        hn_temporary_sweep_for(path);
        w->temporary = hn_temporary_file(ctx, path, &w->fd);
    }
    enum hn_code code = w->temporary ? HN_OK : ctx->code;
    if (code)
        hn_npy_write_abort(ctx, w);
    else
        *out = w;
    return code;
}

// Magic word, version, length and the dictionary, filled with blanks so that the values are
// aligned.
static size_t write_header(char header[HEADER], int rank, const int64_t *shape) {
    static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char sizes[HN_NPY_RANK_MAX * 24] = "";
    for (int k = 0; k < rank; k++)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes),
                 k ? " %" PRId64 "," : "%" PRId64 ",", shape[k]);
    if (rank > 1)
        sizes[strlen(sizes) - 1] = '\0'; // only a tuple of one needs its comma
    memset(header, ' ', HEADER);
    int length = snprintf(header + PREFIX, HEADER - PREFIX,
                          "{'descr': '%ci8', 'fortran_order': False, 'shape': (%s), }",
                          BYTE_ORDER == LITTLE_ENDIAN ? '<' : '>', sizes);
    header[PREFIX + length] = ' ';
    size_t size = ((size_t)(PREFIX + length) / ALIGNMENT + 1) * ALIGNMENT;
    memcpy(header, magic, sizeof magic);
    header[8] = (char)((size - PREFIX) & 255);
    header[9] = (char)((size - PREFIX) >> 8);
    header[size - 1] = '\n';
    return size;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

// Not every file system can sync a folder, and the file is there by now: best effort.
static void sync_folder_of(char *path) {
    int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

enum hn_code hn_npy_write_end(struct hn_context *ctx, struct hn_npy_writer *w, int rank,
                              const int64_t *shape, const int64_t *value) {
    char header[HEADER];
    int64_t bytes = sizeof *value;
    for (int k = 0; k < rank; k++)
        if (!hn_mul(bytes, shape[k], &bytes)) {
            enum hn_code code = hn_fail(ctx, HN_INTERNAL, "%s: the array is too large", w->path);
            hn_npy_write_abort(ctx, w);
            return code;
        }
    enum hn_code code = HN_OK;
    size_t size = write_header(header, rank, shape);
    bool good = write_all(w->fd, header, size) &&
                write_all(w->fd, (const char *)value, (size_t)bytes) && fsync(w->fd) == 0;
    int reason = errno;
    good = close(w->fd) == 0 && good;
    w->fd = -1;
    if (!good || rename(w->temporary, w->path) != 0)
        code =
            hn_fail(ctx, HN_IO, "%s: writing failed: %s", w->path, strerror(good ? errno : reason));
    if (!code) {
        hn_free(ctx, w->temporary); // it has been renamed
        w->temporary = NULL;
        sync_folder_of(w->path);
    }
    hn_npy_write_abort(ctx, w);
    return code;
}
