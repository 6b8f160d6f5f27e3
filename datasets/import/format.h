// The formats that embeddings and labels are read from. A new one is a file and a line of the list;
// the options, `hardneg list formats`, the fuzz targets and the tests read it.
#pragma once

#include "core/files.h"
#include "core/matrix.h"

// Bytes to be read: of a file, of standard input, or of a member of an archive.

struct hn_source {
    const char *path; // as messages name it; borrowed
    FILE *file;
    int64_t left; // bytes from here to the end, at most
};

// Opens a regular file, or standard input ("-"), which is read into memory first: its size is then
// known, as that of a file is. HN_DATA: it cannot be opened, or is empty.
HN_MUST_USE enum hn_code hn_source_open(struct hn_context *ctx, const char *path,
                                        struct hn_source *out);
void hn_source_close(struct hn_source *s); // of one that was not opened is fine

// The next to[bytes]. HN_DATA: "PATH: ends within <what>; copy or make it again".
HN_MUST_USE enum hn_code hn_source_take(struct hn_context *ctx, struct hn_source *s, void *to,
                                        int64_t bytes, const char *what);
// Goes to position `at` of the file, from where it has `bytes` bytes. HN_DATA where they are not
// all there; `what` as above.
HN_MUST_USE enum hn_code hn_source_go(struct hn_context *ctx, struct hn_source *s, int64_t at,
                                      int64_t bytes, const char *what);
// The rest as a text ended by 0, without a byte order mark. It belongs to the owner of the time.
// HN_DATA: a zero byte in it, as UTF-16 has them.
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

// Arrays as files of other programs hold them.

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
    bool lists;            // labels are texts that are cut apart: commas do not separate columns
};

// Rows became float, labels int64 or UTF-8 texts. The values belong to the owner of the time, also
// after a failure.
struct hn_array {
    int rank;
    int64_t shape[HN_ARRAY_RANK_MAX];
    float *real; // one of the three is set
    int64_t *integer;
    const char **text;
    bool above;  // integers are uint64, some beyond INT64_MAX, in the bits of int64
    bool named;  // its file holds several, by name
    bool headed; // the first line of a text was taken for names of columns
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
// HN_DATA: the array is of no rank, shape or kind of value that rows, or labels, have.
HN_MUST_USE enum hn_code hn_array_check(struct hn_context *ctx, const struct hn_source *s,
                                        const struct hn_wanted *want, char kind,
                                        struct hn_array *a);
// Writes a code point as UTF-8 and returns its length, 1 to 4; 0: invalid.
int hn_put_code_point(uint32_t c, char *out);
// value[d] as floats. A row whose values float32 cannot hold with their precision, or whose length
// it cannot, is scaled by a power of two: its direction is what counts.
void hn_row_of_doubles(const double *value, int64_t d, float *row);
// The value of label i of a list, *label: NaN is -1. HN_DATA: it is not a whole number.
HN_MUST_USE enum hn_code hn_label_of_double(struct hn_context *ctx, const char *path, int64_t i,
                                            double value, int64_t *label);

enum { HN_FORMAT_MAGIC_MAX = 64 };

struct hn_format {
    const char *name, *summary;
    const char *const *endings;    // of the names of files, ended by NULL
    const char *magic;             // the first bytes of every file, NULL: none are known
    size_t magic_bytes;            // at most HN_FORMAT_MAGIC_MAX
    bool by_name;                  // s->path is opened again, and cannot be standard input
    bool has_labels;               // files may hold labels
    bool rows_named, labels_named; // files hold several, of which one has hn_wanted.name
    // Rows or labels. s stands at the begin of the file. out is zeroed; its values belong to the
    // owner of the time, also after a failure. HN_DATA names file and position and what is wrong.
    // Sizes are bounded by the file.
    enum hn_code (*read)(struct hn_context *ctx, struct hn_source *s, const struct hn_wanted *want,
                         struct hn_array *out);
};

#define HN_FORMATS(X)                                                                              \
    X(npy)                                                                                         \
    X(npz)                                                                                         \
    X(safetensors)                                                                                 \
    X(vecs)                                                                                        \
    X(bin)                                                                                         \
    X(tsv)                                                                                         \
    X(hdf5)                                                                                        \
    X(raw)
#define X(name) extern const struct hn_format hn_format_##name;
HN_FORMATS(X)
#undef X
extern const struct hn_format *const hn_formats[]; // ended by NULL
// Choices of an option: "auto" (found by the first bytes and the name of the file), then the names
// in the order of the list; and those of bare values, "none" first.
#define X(name) HN_FORMAT_##name,
enum hn_format_choice { HN_FORMAT_auto, HN_FORMATS(X) };
#undef X
extern const char *const hn_format_names[], *const hn_raw_names[];
extern const struct hn_array_type hn_raw_types[];

// Reads a file, or standard input ("-"), in the format hn_format_names[choice]: out is
// real[n x d] of rank 2, or, where labels are wanted, integer or text of rank 1. HN_DATA as above;
// HN_USAGE for bare values without type or dimensions.
HN_MUST_USE enum hn_code hn_format_read(struct hn_context *ctx, const char *path,
                                        enum hn_format_choice choice, const struct hn_wanted *want,
                                        struct hn_array *out);

// For formats whose files hold several arrays: what is there, and the one that is wanted. HN_DATA
// names those that there are.
struct hn_entry {
    const char *name;
    int rank;
    char kind;       // of struct hn_array_type
    int64_t columns; // second dimension, where there are two
};
HN_MUST_USE enum hn_code hn_entry_pick(struct hn_context *ctx, const char *path,
                                       const struct hn_wanted *want, const struct hn_entry *entry,
                                       int64_t n, int64_t *picked);

// Labels of a text: its lines, or a column of a table between tabs, commas or semicolons, by its
// name on the first line or its number from 1. out: text of rank 1. HN_DATA: there is none, or
// several could be meant.
HN_MUST_USE enum hn_code hn_columns_read(struct hn_context *ctx, const char *path,
                                         const struct hn_wanted *want, char *text,
                                         struct hn_array *out);
// True if a text is a whole number in its own decimal form ("7", "-1", not "07", "+7" or "7 "),
// which is in the bits of *value; *above: beyond INT64_MAX, up to 2^64 - 1.
bool hn_is_decimal(const char *text, int64_t *value, bool *above);

// NumPy .npy files (format versions 1.0 to 3.0), in C or Fortran order: f2, f4, f8, i1 to i8, u1 to
// u8, b1, texts (U, S) and V2, as which bfloat16 is saved, in either byte order.

// Reads the header: rank and shape of *a, and the type of the values, at which s stands afterwards.
// HN_DATA names file and what is wrong: magic, header, type.
HN_MUST_USE enum hn_code hn_npy_head(struct hn_context *ctx, struct hn_source *s,
                                     struct hn_array_type *type, struct hn_array *a);

// Reads the values behind it, as hn_array_read().
HN_MUST_USE enum hn_code hn_npy_values(struct hn_context *ctx, struct hn_source *s,
                                       const struct hn_wanted *want, struct hn_array_type type,
                                       struct hn_array *out);

// Writes an array of int64, value[product of shape[rank]] in C order, to a file that has begun, and
// commits it, or aborts it on failure (HN_IO). 1 <= rank <= HN_ARRAY_RANK_MAX.
HN_MUST_USE enum hn_code hn_npy_write(struct hn_context *ctx, struct hn_new_file *file, int rank,
                                      const int64_t *shape, const int64_t *value);
// The same of double.
HN_MUST_USE enum hn_code hn_npy_write_reals(struct hn_context *ctx, struct hn_new_file *file,
                                            int rank, const int64_t *shape, const double *value);
// Likewise the rows of a matrix, as float32.
HN_MUST_USE enum hn_code hn_npy_write_rows(struct hn_context *ctx, struct hn_new_file *file,
                                           const struct hn_matrix *rows);
