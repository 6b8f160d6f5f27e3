// Arrays as files of other programs hold them.
#ifndef HN_DATASETS_IMPORT_ARRAY_H
#define HN_DATASETS_IMPORT_ARRAY_H

#include "datasets/import/source.h"

enum { HN_ARRAY_RANK_MAX = 4 };

// Floats of any width became float, integers int64, texts UTF-8. The values belong to the owner of
// the time, also after a failure.
struct hn_array {
    int rank;
    int64_t shape[HN_ARRAY_RANK_MAX];
    float *real; // one of the three is set
    int64_t *integer;
    const char **text;
    bool named; // its file holds several, by name
};

// A value as a file stores it: 'f' float, 'e' bfloat16, 'i' and 'u' integers, 'b' truth, 'S' bytes
// and 'U' UCS-4, both padded with zeros; 0: of no type that is read.
struct hn_array_type {
    char kind;
    int64_t width; // bytes
    bool swapped;  // the byte order is not the machine's
    bool as_float; // integers become float as well
};

// The number of values; false where it, or their bytes, overflow.
bool hn_array_count(const struct hn_array *a, int64_t width, int64_t *count);
// Reads the values of an array whose rank and shape are known, which are all that is left of `s`.
// HN_DATA: they are more or fewer. No allocation exceeds eight times the bytes in the file.
HN_MUST_USE enum hn_code hn_array_read(struct hn_context *ctx, struct hn_source *s,
                                       struct hn_array_type type, struct hn_array *a);

#endif
