// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays as files of other programs hold them.
#pragma once

#include "datasets/import/source.h"

enum { HN_ARRAY_RANK_MAX = 4 };

// Columns of text files: whether the first line names them.
enum hn_header { HN_HEADER_AUTO, HN_HEADER_YES, HN_HEADER_NO };

// The array that is wanted of a file.
struct hn_wanted {
    bool labels;      // a list of integers or texts; else rows of floats
    bool snapshots;   // of a snapshot the last step's embeddings, or its groups; else it is refused
    const char *name; // of the tensor or column; NULL: the only one that will do
    int raw;          // of bare values: index of their type in hn_raw_types, 0 = not given
    int64_t dim;      // and dimensions of a row, below 1: not given
    int64_t rows;     // the first rows of the file, as many; below 1: all
    enum hn_header header; // of text
    int64_t skip;          // columns of text before the values of a row; below 0: by their header
    bool transpose;        // rows of items lie in the file as columns
    int otherwise;         // format of labels in a file that tells none: index of hn_format_names
    bool lists;            // labels are texts that are cut apart: commas do not separate columns
    bool alone;            // labels stand on lines of their own: of a table no column is chosen
    bool sparse;           // labels are offsets or columns of sparse rows: their layout is told
    bool weights;          // not labels but the values of sparse rows, numbers or truth values, as
                           // [n x 1]; none are there: nothing is set
};

// Rows became float, labels int64 or UTF-8 texts.
struct hn_array {
    int rank;
    int64_t shape[HN_ARRAY_RANK_MAX];
    float *real; // one of the three is set
    int64_t *integer;
    const char **text;
    bool scaled;        // a row was scaled: see hn_row_of_doubles()
    bool above;         // integers are uint64, some beyond INT64_MAX, in the bits of int64
    bool named;         // its file holds several, by name
    bool headed;        // the first line of a text was taken for names of columns
    const char *layout; // of the sparse matrix of which this is a part, as SciPy calls it: "csc";
                        // NULL: its file does not say
};

// A value as a file stores it: 'f' float, 'e' bfloat16, 'i' and 'u' integers, 'b' truth, 'S' bytes
// and 'U' UCS-4, both padded with zeros; 0: of no type that is read.
struct hn_array_type {
    char kind;
    int64_t width; // bytes
    bool swapped;  // the byte order is not the machine's
    bool fortran;  // the first index moves fastest
    bool numbers;  // bytes are known to be numbers; else they may be packed bits
};

// The number of values; false where it, or their bytes, overflow.
bool hn_array_count(const struct hn_array *a, int64_t width, int64_t *count);

// Reads the values of an array whose rank and shape are known, which are all that is left of `s`,
// or its first want->rows rows. Labels: integers, whole floats (NaN: -1) and texts, of one
// dimension or a column. HN_DATA: they are more or fewer, or no rows or labels. No allocation
// exceeds eight times the bytes in the file.
HN_MUST_USE enum hn_code hn_array_read(struct hn_context *ctx, struct hn_source *s,
                                       const struct hn_wanted *want, struct hn_array_type type,
                                       struct hn_array *a);

// The values that are wanted of an array, *count of them, where all of them are there.
HN_MUST_USE enum hn_code hn_array_bound(struct hn_context *ctx, const struct hn_source *s,
                                        const struct hn_wanted *want, struct hn_array_type type,
                                        struct hn_array *a, int64_t *count);

// HN_DATA: the array is of no rank, shape or kind of value that rows, or labels, have.
HN_MUST_USE enum hn_code hn_array_check(struct hn_context *ctx, const struct hn_source *s,
                                        const struct hn_wanted *want, char kind,
                                        struct hn_array *a);

// Writes a code point as UTF-8 and returns its length, 1 to 4; 0: invalid.
int hn_put_code_point(uint32_t c, char *out);

// value[d] as floats. A row whose values float32 cannot hold with their precision, or whose length
// it cannot, is scaled by a power of two: its direction is what counts. Returns whether it was.
bool hn_row_of_doubles(const double *value, int64_t d, float *row);

// The value of label i of a list, *label: NaN is -1. HN_DATA: it is not a whole number.
HN_MUST_USE enum hn_code hn_label_of_double(struct hn_context *ctx, const char *path, int64_t i,
                                            double value, int64_t *label);
