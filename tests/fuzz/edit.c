// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes changed at random in an HDF5 file mostly land in what HDF5 itself checks (checksums,
// addresses) and get no further. Here the file stays sound and says something new.
#include "tests/fuzz/edit.h"

#include "datasets/hdf5_api.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OBJECTS = 64,
    NAME = 128,
    RANK = 4,
    BYTES = 1 << 14,
    TEXTS = 64,
    TEXT = 40,
    COPY = 1 << 17,
    TRIES = 10,
    KEPT = 8
};

struct edit {
    uint64_t state; // of the random numbers
    size_t (*change)(uint8_t *, size_t, size_t);
    hid_t file;
    char name[OBJECTS][NAME];
    unsigned objects, attributes;
    char attribute[NAME];
};

// splitmix64; below n.
static unsigned draw(struct edit *e, unsigned n) {
    uint64_t z = e->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (unsigned)((z ^ (z >> 31)) >> 33) % n;
}

static herr_t remember(hid_t file, const char *name, const H5O_info_t *info, void *data) {
    struct edit *e = data;
    (void)file;
    (void)info;
    if (e->objects < OBJECTS && strlen(name) < NAME)
        snprintf(e->name[e->objects++], NAME, "%s", name);
    return 0;
}

// Keeps one of the attributes, each with the same chance.
static herr_t remember_one(hid_t object, const char *name, const H5A_info_t *info, void *data) {
    struct edit *e = data;
    (void)object;
    (void)info;
    if (draw(e, ++e->attributes) == 0)
        snprintf(e->attribute, NAME, "%s", name);
    return 0;
}

// A data set or an attribute: the two have the same functions under other names.
struct values {
    hid_t id, type, space;
    bool attribute;
};

static bool transfer(const struct values *v, void *buffer, bool write) {
    if (v->attribute)
        return (write ? H5Awrite(v->id, v->type, buffer) : H5Aread(v->id, v->type, buffer)) >= 0;
    return (write ? H5Dwrite(v->id, v->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer)
                  : H5Dread(v->id, v->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer)) >= 0;
}

// Texts out of those that readers look for, or any.
static void new_texts(struct edit *e, const struct values *v, size_t count) {
    static const char *const known[] = {"",  "ok", "smaller",  "larger", "hardneg-snapshot", "1",
                                        "-", "\n", "\xff\xfe", "nan",    "hardneg-results",  "\"'"};
    static char own[TEXTS][TEXT];
    const char *text[TEXTS];
    if (count > TEXTS)
        return;
    for (size_t i = 0; i < count; i++) {
        unsigned which = draw(e, 2 * sizeof known / sizeof *known);
        snprintf(own[i], TEXT, "abc");
        own[i][e->change((uint8_t *)own[i], 3, TEXT - 1)] = 0;
        text[i] = which < sizeof known / sizeof *known ? known[which] : own[i];
    }
    (void)transfer(v, (void *)text, true);
}

// Bytes of the values as the fuzzer changes them, or one value that readers may stumble over.
static void new_values(struct edit *e, const struct values *v, size_t count, size_t width) {
    static const uint8_t fill[] = {0, 0xff, 0x7f, 0x80, 1};
    static uint8_t buffer[BYTES];
    size_t bytes = count * width;
    if (!transfer(v, buffer, false))
        return;
    if (draw(e, 2)) {
        (void)e->change(buffer, bytes, bytes);
    } else {
        uint8_t *value = buffer + draw(e, (unsigned)count) * width;
        memset(value, fill[draw(e, sizeof fill)], width);
        if (draw(e, 2)) // a small number
            value[0] = (uint8_t)draw(e, 16);
    }
    (void)transfer(v, buffer, true);
}

static void edit_values(struct edit *e, const struct values *v) {
    hssize_t count = H5Sget_simple_extent_npoints(v->space);
    size_t width = H5Tget_size(v->type);
    if (count < 1 || width == 0 || width > BYTES || (size_t)count > BYTES / width)
        return;
    if (H5Tis_variable_str(v->type) > 0)
        new_texts(e, v, (size_t)count);
    else if (H5Tget_class(v->type) == H5T_INTEGER || H5Tget_class(v->type) == H5T_FLOAT ||
             H5Tget_class(v->type) == H5T_STRING || H5Tget_class(v->type) == H5T_COMPOUND)
        new_values(e, v, (size_t)count, width);
}

static hid_t new_type(struct edit *e) {
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I8LE,   H5T_STD_I32LE,
                           H5T_STD_I64LE,  H5T_IEEE_F32BE, H5T_STD_U64BE,  H5T_C_S1,
                           H5T_STD_I16BE,  H5T_IEEE_F64BE, H5T_UNIX_D32LE, H5T_STD_REF_OBJ};
    return types[draw(e, sizeof types / sizeof *types)];
}

// The shape of `old`, one extent of it changed or of another rank.
static hid_t new_space(struct edit *e, hid_t old) {
    hsize_t dims[RANK] = {1, 1, 1, 1};
    int rank = H5Sget_simple_extent_ndims(old);
    if (rank < 0 || rank > RANK || draw(e, 8) == 0)
        return H5Screate(draw(e, 2) ? H5S_NULL : H5S_SCALAR);
    (void)H5Sget_simple_extent_dims(old, dims, NULL);
    if (draw(e, 4) == 0)
        rank += rank > 1 && draw(e, 2) ? -1 : rank < RANK;
    static const hsize_t odd[] = {0, 1, 3, 1 << 20, (hsize_t)1 << 33};
    if (rank > 0) {
        hsize_t *dim = &dims[draw(e, (unsigned)rank)];
        unsigned how = draw(e, 8);
        *dim = how < 5 ? odd[how] : how == 5 && *dim > 0 ? *dim - 1 : *dim + how - 5;
    }
    return rank > 0 ? H5Screate_simple(rank, dims, NULL) : H5Screate(H5S_SCALAR);
}

static hid_t creation_list(struct edit *e, hid_t space) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t dims[RANK] = {0};
    int rank = H5Sget_simple_extent_ndims(space);
    (void)H5Pset_obj_track_times(list, false);
    if (rank >= 1 && rank <= RANK && draw(e, 3) == 0) {
        (void)H5Sget_simple_extent_dims(space, dims, NULL);
        for (int i = 0; i < rank; i++)
            dims[i] = dims[i] < 1 ? 1 : dims[i] > 64 ? 64 : dims[i];
        (void)H5Pset_chunk(list, rank, dims);
        if (draw(e, 2))
            (void)H5Pset_deflate(list, 1);
    } else if (draw(e, 8) == 0) {
        (void)H5Pset_external(list, "/etc/hostname", 0, H5F_UNLIMITED);
    }
    return list;
}

// The data set again with another shape, type or storage, and as many of its values as fit.
static void remake(struct edit *e, const char *name, const struct values *v) {
    static uint64_t buffer[BYTES / sizeof(uint64_t)];
    bool texts = H5Tget_class(v->type) == H5T_STRING;
    hid_t type = draw(e, 2) ? H5Tcopy(v->type) : H5Tcopy(new_type(e));
    hid_t space = draw(e, 2) ? H5Scopy(v->space) : new_space(e, v->space);
    hssize_t old = H5Sget_simple_extent_npoints(v->space);
    hssize_t now = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    bool small = old * (hssize_t)sizeof *buffer <= BYTES && now * (hssize_t)sizeof *buffer <= BYTES;
    memset(buffer, 0, sizeof buffer);
    if (!texts && small)
        (void)H5Dread(v->id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    hid_t list = creation_list(e, space);
    if (H5Ldelete(e->file, name, H5P_DEFAULT) >= 0) {
        hid_t id = H5Dcreate2(e->file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        if (id >= 0 && !texts && small && H5Tget_class(type) != H5T_STRING)
            (void)H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
        if (id >= 0)
            (void)H5Dclose(id);
    }
    (void)H5Pclose(list);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
}

// Links of every kind, or none, where an object was; or the object under a further name.
static void relink(struct edit *e, const char *name) {
    const char *other = e->name[draw(e, e->objects)];
    char path[2 * NAME];
    unsigned how = draw(e, 5);
    if (how == 4) {
        snprintf(path, sizeof path, "%s%u", name, draw(e, 10));
        (void)H5Ocopy(e->file, other, e->file, path, H5P_DEFAULT, H5P_DEFAULT);
        return;
    }
    if (strcmp(name, ".") == 0 || H5Ldelete(e->file, name, H5P_DEFAULT) < 0)
        return;
    if (how == 1)
        (void)H5Lcreate_soft(other, e->file, name, H5P_DEFAULT, H5P_DEFAULT);
    else if (how == 2)
        (void)H5Lcreate_external("/etc/hostname", "/", e->file, name, H5P_DEFAULT, H5P_DEFAULT);
    else if (how == 3)
        (void)H5Ocopy(e->file, other, e->file, name, H5P_DEFAULT, H5P_DEFAULT);
}

static void remake_attribute(struct edit *e, hid_t object, const struct values *v) {
    hid_t space = draw(e, 2) ? H5Scopy(v->space) : new_space(e, v->space);
    hid_t type = H5Tcopy(new_type(e));
    if (H5Adelete(object, e->attribute) >= 0 && draw(e, 4)) {
        hid_t id = H5Acreate2(object, e->attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (id >= 0)
            (void)H5Aclose(id);
    }
    (void)H5Tclose(type);
    (void)H5Sclose(space);
}

static void edit_attribute(struct edit *e, hid_t object) {
    e->attributes = 0;
    (void)H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, remember_one, e);
    if (e->attributes == 0)
        return;
    struct values v = {.id = H5Aopen(object, e->attribute, H5P_DEFAULT), .attribute = true};
    if (v.id < 0)
        return;
    v.type = H5Aget_type(v.id);
    v.space = H5Aget_space(v.id);
    bool remade = draw(e, 4) == 0;
    if (!remade)
        edit_values(e, &v);
    (void)H5Aclose(v.id);
    if (remade)
        remake_attribute(e, object, &v);
    (void)H5Tclose(v.type);
    (void)H5Sclose(v.space);
}

static void edit_data_set(struct edit *e, const char *name, hid_t object) {
    struct values v = {object, H5Dget_type(object), H5Dget_space(object), false};
    if (draw(e, 3) == 0)
        remake(e, name, &v);
    else
        edit_values(e, &v);
    (void)H5Tclose(v.type);
    (void)H5Sclose(v.space);
}

static void edit_object(struct edit *e) {
    if (H5Ovisit2(e->file, H5_INDEX_NAME, H5_ITER_NATIVE, remember, e, H5O_INFO_BASIC) < 0 ||
        e->objects == 0)
        return;
    const char *name = e->name[draw(e, e->objects)];
    unsigned how = draw(e, 8);
    if (how == 0) {
        relink(e, name);
        return;
    }
    hid_t object = H5Oopen(e->file, name, H5P_DEFAULT);
    if (object < 0)
        return;
    if (how > 2 && H5Iget_type(object) == H5I_DATASET)
        edit_data_set(e, name, object);
    else
        edit_attribute(e, object);
    (void)H5Oclose(object);
}

static hid_t open_image(uint8_t *data, size_t size) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    if (H5Pset_fapl_core(list, 4096, false) >= 0 &&
        H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0 &&
        H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(list, data, size) >= 0)
        file = H5Fopen("image", H5F_ACC_RDWR, list);
    (void)H5Pclose(list);
    return file;
}

// Only files that nothing but this mutator has changed are opened, for HDF5 breaks down on others:
// they end with a word and a checksum of all before it, which HDF5 passes over.
static const char word[] = "\nsound ";
enum { WORD = sizeof word - 1, SOUND = WORD + 16 };

static void make_mark(const uint8_t *data, size_t size, char mark[SOUND + 1]) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3;
    snprintf(mark, SOUND + 1, "%s%016llx", word, (unsigned long long)hash);
}

static bool is_sound(const uint8_t *data, size_t size) {
    char mark[SOUND + 1];
    if (size <= SOUND || memcmp(data + size - SOUND, word, WORD) != 0)
        return false;
    make_mark(data, size - SOUND, mark);
    return memcmp(data + size - SOUND, mark, SOUND) == 0;
}

// H5Fget_file_image() clears the flags of a superblock of version 2 (byte 11) and leaves its
// checksum, which covers them, as it was while the file was open for writing (flag 1).
static void mend_flags(uint8_t *data) {
    enum { VERSION = 8, FLAGS = 11 };
    if (data[VERSION] == 2)
        data[FLAGS] = 1;
}

static size_t write_out(hid_t file, uint8_t *data, size_t max) {
    char mark[SOUND + 1];
    ssize_t length = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : 0;
    if (length <= 0 || (size_t)length + SOUND > max ||
        H5Fget_file_image(file, data, (size_t)length) != length)
        return 0;
    mend_flags(data);
    make_mark(data, (size_t)length, mark);
    memcpy(data + length, mark, SOUND);
    return (size_t)length + SOUND;
}

// The first sound files there were, for edits of what is no such file: most of those are junk, and
// the fuzzer would spend its time on them.
static struct {
    uint8_t data[COPY];
    size_t size;
} kept[KEPT];
static unsigned n_kept;

static void keep(const uint8_t *data, size_t size) {
    if (n_kept == KEPT || size > COPY)
        return;
    memcpy(kept[n_kept].data, data, size);
    kept[n_kept++].size = size;
}

static size_t take_kept(struct edit *e, uint8_t *data, size_t max) {
    unsigned which = n_kept ? draw(e, n_kept) : 0;
    if (!n_kept || kept[which].size > max)
        return 0;
    memcpy(data, kept[which].data, kept[which].size);
    return kept[which].size;
}

size_t hn_fuzz_edit(uint8_t *data, size_t size, size_t max, unsigned seed,
                    size_t (*change)(uint8_t *, size_t, size_t)) {
    static struct edit e;
    e.state = seed;
    e.change = change;
    e.objects = 0;
    if (is_sound(data, size))
        keep(data, size);
    else
        size = take_kept(&e, data, max);
    if (size == 0 || (e.file = open_image(data, size - SOUND)) < 0)
        return 0;
    edit_object(&e);
    size_t length = write_out(e.file, data, max);
    (void)H5Fclose(e.file);
    return length ? length : size;
}

static uint64_t number(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

// A heap of texts in which an object has number 0 and size 0 makes HDF5 1.10.8 circle for ever. The
// program ends the process that looks at such a file; here it would end the fuzzer, every second.
static bool has_circle(const uint8_t *data, size_t size) {
    enum { HEADER = 16 };
    const uint8_t *heap = data, *end = data + size;
    while ((heap = memmem(heap, (size_t)(end - heap), "GCOL", 4))) {
        uint64_t at = HEADER, whole = (size_t)(end - heap) > HEADER ? number(heap + 8, 8) : 0;
        if (whole > (size_t)(end - heap))
            whole = 0;
        while (at + HEADER <= whole) {
            uint64_t id = number(heap + at, 2), bytes = number(heap + at + 8, 8);
            if (id == 0 && bytes == 0)
                return true;
            at += id ? HEADER + (bytes + 7) / 8 * 8 : bytes;
        }
        heap += 4;
    }
    return false;
}

size_t hn_fuzz_damage(uint8_t *data, size_t size, size_t max,
                      size_t (*change)(uint8_t *, size_t, size_t)) {
    static uint8_t copy[COPY];
    size_t length = size;
    if (size > COPY)
        return change(data, size, max);
    memcpy(copy, data, size);
    for (int i = 0; i < TRIES; i++) {
        length = change(data, size, max);
        if (!has_circle(data, length))
            return length;
        memcpy(data, copy, size);
    }
    return size;
}
