// SPDX-License-Identifier: GPL-3.0-or-later
// Writes NumPy files, format version 1.0.
#include "datasets/import/npy_write.h"

#include "datasets/import/array.h"
#include "datasets/import/format.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64, HEADER = 4 * ALIGNMENT, PREFIX = 10 };

// Magic word, version, length and the dictionary, filled with blanks so that the values are
// aligned.
static size_t write_header(char header[HEADER], char kind, int width, int rank,
                           const int64_t *shape) {
    static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char sizes[HN_ARRAY_RANK_MAX * 24] = "";
    for (int k = 0; k < rank; k++)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes),
                 k ? " %" PRId64 "," : "%" PRId64 ",", shape[k]);
    if (rank > 1)
        sizes[strlen(sizes) - 1] = '\0'; // only a tuple of one needs its comma
    memset(header, ' ', HEADER);
    int length = snprintf(header + PREFIX, HEADER - PREFIX,
                          "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s), }",
                          BYTE_ORDER == LITTLE_ENDIAN ? '<' : '>', kind, width, sizes);
    header[PREFIX + length] = ' ';
    size_t size = ((size_t)(PREFIX + length) / ALIGNMENT + 1) * ALIGNMENT;
    memcpy(header, magic, sizeof magic);
    header[8] = (char)((size - PREFIX) & 255);
    header[9] = (char)((size - PREFIX) >> 8);
    header[size - 1] = '\n';
    return size;
}

// Values of eight bytes of that kind.
static enum hn_code write_values(struct hn_context *ctx, struct hn_new_file *file, char kind,
                                 int rank, const int64_t *shape, const void *value) {
    char header[HEADER];
    int64_t count = 1, bytes;
    for (int k = 0; k < rank; k++)
        if (!hn_mul(count, shape[k], &count) || !hn_mul(count, 8, &bytes)) {
            enum hn_code code = hn_fail(ctx, HN_INTERNAL, "%s: the array is too large", file->path);
            hn_file_abort(ctx, file);
            return code;
        }
    size_t size = write_header(header, kind, 8, rank, shape);
    (void)fwrite(header, 1, size, file->out); // what fails is seen when the file is committed
    (void)fwrite(value, 8, (size_t)count, file->out);
    return hn_file_commit(ctx, file);
}

enum hn_code hn_npy_write(struct hn_context *ctx, struct hn_new_file *file, int rank,
                          const int64_t *shape, const int64_t *value) {
    return write_values(ctx, file, 'i', rank, shape, value);
}

enum hn_code hn_npy_write_reals(struct hn_context *ctx, struct hn_new_file *file, int rank,
                                const int64_t *shape, const double *value) {
    return write_values(ctx, file, 'f', rank, shape, value);
}

enum hn_code hn_npy_write_rows(struct hn_context *ctx, struct hn_new_file *file,
                               const struct hn_matrix *rows) {
    char header[HEADER];
    const int64_t shape[] = {rows->rows, rows->cols};
    size_t size = write_header(header, 'f', (int)sizeof *rows->data, 2, shape);
    (void)fwrite(header, 1, size, file->out);
    for (int64_t i = 0; i < rows->rows; i++)
        (void)fwrite(hn_row(rows, i), sizeof *rows->data, (size_t)rows->cols, file->out);
    return hn_file_commit(ctx, file);
}
