// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/schema.h"

#include "datasets/hdf5_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 4, VALUES = 512 };

struct bytes {
    const uint8_t *at;
    size_t left;
};

// Past the end all bytes are 0.
static unsigned take(struct bytes *b) {
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

// A size: mostly small, now and then one that no memory holds.
static hsize_t take_size(struct bytes *b) {
    unsigned code = take(b);
    if (code < 250)
        return code % 9;
    return code == 250 ? (hsize_t)1 << 31 : code == 251 ? (hsize_t)1 << 40 : 64 + code;
}

static hid_t take_type(struct bytes *b) {
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I8LE,  H5T_STD_I32LE,
                           H5T_STD_I64LE,  H5T_IEEE_F32BE, H5T_STD_U64BE, H5T_STD_U8LE};
    return types[take(b) % (sizeof types / sizeof *types)];
}

static hid_t take_space(struct bytes *b, int rank) {
    hsize_t size[RANK];
    for (int i = 0; i < rank; i++)
        size[i] = take_size(b);
    return rank == 0 ? H5Screate(take(b) % 2 ? H5S_NULL : H5S_SCALAR)
                     : H5Screate_simple(rank, size, NULL);
}

// Values as doubles that are small numbers, with a NaN, an infinity or a huge one between them.
static void put_values(struct bytes *b, hid_t object, hssize_t count) {
    double value[VALUES];
    for (int i = 0; i < VALUES; i++) {
        int code = (int8_t)take(b);
        value[i] = code == -128 ? strtod("nan", NULL) : code == -127 ? 1e300 : code / 4.0;
    }
    if (count <= VALUES)
        (void)H5Dwrite(object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
}

static void put_data_set(struct bytes *b, hid_t file, const char *name) {
    unsigned code = take(b);
    if (code % 4 == 0)
        return; // not there
    static const int usual[] = {1, 2, 3, 1, 2, 3, 4, 0};
    hid_t space = take_space(b, usual[take(b) % 8]);
    hid_t type = take_type(b);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    (void)H5Pset_create_intermediate_group(links, 1);
    hid_t object = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    if (object >= 0) {
        hssize_t count = H5Sget_simple_extent_npoints(space);
        if (count > 0)
            put_values(b, object, count);
        (void)H5Dclose(object);
    }
    (void)H5Pclose(links);
    (void)H5Sclose(space);
}

static void put_text(hid_t file, const char *name, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    (void)H5Tset_size(type, H5T_VARIABLE);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        (void)H5Awrite(attribute, type, &text);
        (void)H5Aclose(attribute);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
}

static void put_one(hid_t file, const char *name) {
    const int64_t one = 1;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        (void)H5Awrite(attribute, H5T_NATIVE_INT64, &one);
        (void)H5Aclose(attribute);
    }
    (void)H5Sclose(space);
}

// Attributes: as they should be, of another kind, or of another size. text: NULL: the number 1.
static void put_attribute(struct bytes *b, hid_t file, const char *name, const char *text) {
    unsigned code = take(b);
    if (code % 4 == 0)
        return;
    if (code % 4 == 1 && !text) {
        put_one(file, name);
        return;
    }
    if (code % 4 != 3) {
        put_text(file, name, code % 4 == 1 ? text : "something else");
        return;
    }
    hid_t space = take_space(b, (int)(take(b) % 3));
    hid_t attribute = H5Acreate2(file, name, take_type(b), space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0)
        (void)H5Aclose(attribute);
    (void)H5Sclose(space);
}

void hn_fuzz_write_schema(const char *path, const uint8_t *data, size_t size) {
    static const char *const names[] = {"step",
                                        "embeddings",
                                        "labels",
                                        "view1",
                                        "view2",
                                        "train",
                                        "graph/indptr",
                                        "graph/indices",
                                        "positive",
                                        "split",
                                        "sample",
                                        "features_csr/indptr",
                                        "features_csr/indices",
                                        "features_csr/data",
                                        "features",
                                        "labels_csr/indptr",
                                        "labels_csr/indices"};
    struct bytes b = {data, size};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) {
        fprintf(stderr, "fuzz: %s cannot be written\n", path);
        abort();
    }
    put_attribute(&b, file, "schema", "hardneg-snapshot");
    put_attribute(&b, file, "schema_version", NULL);
    put_attribute(&b, file, "title", "a title");
    put_attribute(&b, file, "content_sha256", "0123");
    put_attribute(&b, file, "normalized", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_data_set(&b, file, names[i]);
    (void)H5Fclose(file);
}
