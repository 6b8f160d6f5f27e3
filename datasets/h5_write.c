// SPDX-License-Identifier: GPL-3.0-or-later
// Groups and arrays. No times in object headers: the same content gives the same bytes.
#include "datasets/h5_write.h"

#include "datasets/h5.h"

#include <string.h>

hid_t hn_h5_transfer_list(void) {
    enum { CONVERTED_AT_ONCE = 16384 }; // bytes
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    return hn_h5_keep(list, H5Pset_buffer(list, CONVERTED_AT_ONCE, NULL, NULL) >= 0);
}

hid_t hn_h5_write_group(hid_t parent, const char *path) {
    hid_t list = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;
    if (list >= 0 &&
        H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_obj_track_times(list, false) >= 0)
        group = H5Gcreate2(parent, path, H5P_DEFAULT, list, H5P_DEFAULT);
    hn_h5_close(list);
    return group;
}

static hid_t creation_list(const struct hn_h5_array *a) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool good = list >= 0 && H5Pset_obj_track_times(list, false) >= 0;
    if (good && a->chunk[0] > 0)
        good = H5Pset_chunk(list, a->rank, a->chunk) >= 0;
    if (good && a->chunk[0] > 0 && a->deflate > 0)
        good = H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, (unsigned)a->deflate) >= 0;
    return hn_h5_keep(list, good);
}

hid_t hn_h5_write_array(hid_t parent, const struct hn_h5_array *a) {
    hsize_t max[HN_H5_RANK_MAX];
    memcpy(max, a->dim, sizeof max);
    max[0] = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(a->rank, a->dim, a->grows ? max : NULL);
    hid_t list = creation_list(a);
    hid_t set = H5Dcreate2(parent, a->name, a->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool good = !a->data || H5Dwrite(set, a->memory, H5S_ALL, H5S_ALL, a->transfer, a->data) >= 0;
    hn_h5_close(space, list);
    return hn_h5_keep(set, good);
}

hid_t hn_h5_write_scale(hid_t parent, const struct hn_h5_array *a, const char *name) {
    hid_t set = hn_h5_write_array(parent, a);
    return hn_h5_keep(set, H5DSset_scale(set, name) >= 0);
}

bool hn_h5_write_texts(hid_t object, const char *name, const char *const *text, int64_t n) {
    hsize_t count = (hsize_t)n;
    hid_t type = hn_h5_text_type(), space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    good &= hn_h5_close(attribute);
    hn_h5_close(space, type);
    return good;
}
