#ifndef HN_LIBRARY_PRIVATE_H
#define HN_LIBRARY_PRIVATE_H

#include "harness/job/grid.h"
#include "library/hardneg.h"
#include "samplers/sampler.h"

struct hardneg {
    struct hn_context ctx; // whose memory is the handle's own
    sig_atomic_t stop;
    char note[HN_MESSAGE_MAX];
    const struct hn_sampler_type *type; // NULL: hardneg_open() failed
    void *params;
    char *name; // with all options
    int32_t batch_size;
    uint64_t seed;
    struct hn_items items;
    struct hn_library_rows { // [items.n x items.d], of a teacher its own dimensions
        float *data;
        int64_t size; // values that there is memory for
    } x, view2, teacher;
    float *feature_rows; // [items.n x features.p]
    int32_t *labels, *group;
    enum hn_zero_rows zero_rows;
    struct hn_label_sets label_sets;
    struct hn_graph graph;
    struct hn_features features;
    struct hn_sampler sampler;
    bool open, built, begun; // the sampler; on items; an epoch of it
};

// HN_USAGE for no handle; else forgets the last message and note.
HN_MUST_USE enum hn_code hn_library_begin(hardneg *h);
// The code that a caller gets.
int hn_library_end(enum hn_code code);
#endif
