// SPDX-License-Identifier: GPL-3.0-or-later
// Small helpers over HDF5: attributes, opening files that may be hostile, and files that appear
// whole or not at all. Object headers are written in the format of HDF5 1.8 because that one
// carries checksums.
#include "datasets/h5.h"
#include "core/checksum.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 24, PROBE_SECONDS = 5, PROBE_BYTES = 10 << 20 };

void hn_h5_quiet(void) {
    // After a close that failed (a full disk) the library's own clean-up at exit crashes in 1.10.
    (void)H5dont_atexit();
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static herr_t close_one(hid_t id) {
    switch (H5Iget_type(id)) {
    case H5I_FILE: return H5Fclose(id);
    case H5I_GROUP: return H5Gclose(id);
    case H5I_DATASET: return H5Dclose(id);
    case H5I_DATATYPE: return H5Tclose(id);
    case H5I_DATASPACE: return H5Sclose(id);
    case H5I_ATTR: return H5Aclose(id);
    default: return H5Pclose(id);
    }
}

bool hn_h5_close_all(const hid_t *id, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good &= id[i] < 0 || close_one(id[i]) >= 0;
    return good;
}

hid_t hn_h5_keep(hid_t id, bool good) {
    if (!good)
        hn_h5_close(id);
    return good ? id : H5I_INVALID_HID;
}

hid_t hn_h5_text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    return hn_h5_keep(type, H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                                H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
}

// Creates scalar attribute `name`, replacing one of that name, and writes `value`.
static enum hn_code set_attribute(struct hn_context *ctx, hid_t object, const char *name,
                                  hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5I_INVALID_HID;
    if (H5Aexists(object, name) == 0 || H5Adelete(object, name) >= 0)
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    good &= hn_h5_close(attribute);
    hn_h5_close(space);
    return good ? HN_OK
                : hn_fail(ctx, HN_IO, "attribute %s could not be written: is the disk full?", name);
}

enum hn_code hn_h5_set_text(struct hn_context *ctx, hid_t object, const char *name,
                            const char *text) {
    hid_t type = hn_h5_text_type();
    if (!text)
        text = "";
    if (type < 0)
        return hn_fail(ctx, HN_INTERNAL, "HDF5 has no string type");
    enum hn_code code = set_attribute(ctx, object, name, type, &text);
    hn_h5_close(type);
    return code;
}

enum hn_code hn_h5_set_int(struct hn_context *ctx, hid_t object, const char *name, int64_t value) {
    return set_attribute(ctx, object, name, H5T_NATIVE_INT64, &value);
}

enum hn_code hn_h5_set_flag(struct hn_context *ctx, hid_t object, const char *name, bool value) {
    int8_t number = value;
    return set_attribute(ctx, object, name, H5T_NATIVE_INT8, &number);
}

enum hn_code hn_h5_set_real(struct hn_context *ctx, hid_t object, const char *name, double value) {
    return set_attribute(ctx, object, name, H5T_NATIVE_DOUBLE, &value);
}

// An open attribute of one element, with its type and the class of it; -1 where there is none.
struct attribute {
    hid_t id, type;
    H5T_class_t class;
};

static void attribute_close(struct attribute *a) {
    hn_h5_close(a->type, a->id);
    a->id = a->type = H5I_INVALID_HID;
}

static enum hn_code fail_attribute(struct hn_context *ctx, hid_t object, const char *name) {
    char path[4096] = "";
    (void)H5Fget_name(object, path, sizeof path);
    return hn_fail(
        ctx, HN_DATA,
        "%s: the attribute %s cannot be read; the file is damaged: make or copy it again", path,
        name);
}

static enum hn_code attribute_open(struct hn_context *ctx, hid_t object, const char *name,
                                   struct attribute *a) {
    *a = (struct attribute){H5I_INVALID_HID, H5I_INVALID_HID, H5T_NO_CLASS};
    const htri_t there = H5Aexists(object, name);
    if (there == 0)
        return HN_OK;
    a->id = there > 0 ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (a->id < 0)
        return fail_attribute(ctx, object, name);
    hid_t space = H5Aget_space(a->id);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    hn_h5_close(space);
    if (n == 1) {
        a->type = H5Aget_type(a->id);
        a->class = H5Tget_class(a->type);
    }
    bool read = n >= 0 && (n != 1 || a->class != H5T_NO_CLASS);
    if (n != 1 || !read)
        attribute_close(a);
    return read ? HN_OK : fail_attribute(ctx, object, name);
}

// The texts of an attribute: false if it cannot be read; *out is NULL without memory.
static bool read_variable(struct hn_context *ctx, const struct attribute *a, const char *fallback,
                          char **out) {
    char *text = NULL;
    // The file's own type as memory type: HDF5 does not convert between character sets.
    if (H5Aread(a->id, a->type, &text) < 0)
        return false;
    *out = hn_strdup(ctx, text && strnlen(text, TEXT_MAX) < TEXT_MAX ? text : fallback);
    if (text)
        (void)H5free_memory(text);
    return true;
}

static bool read_fixed(struct hn_context *ctx, const struct attribute *a, const char *fallback,
                       char **out) {
    size_t size = H5Tget_size(a->type);
    if (size == 0 || size > TEXT_MAX || H5Aget_storage_size(a->id) != size) {
        *out = hn_strdup(ctx, fallback);
        return true;
    }
    char *text = *out = hn_zalloc(ctx, (int64_t)size + 1, 1);
    if (!text)
        return true;
    if (H5Aread(a->id, a->type, text) < 0) {
        hn_free(ctx, text);
        return false;
    }
    if (H5Tget_strpad(a->type) == H5T_STR_SPACEPAD)
        while (size > 0 && text[size - 1] == ' ')
            text[--size] = 0;
    return true;
}

static bool read_text(struct hn_context *ctx, const struct attribute *a, const char *fallback,
                      char **out) {
    if (a->class == H5T_INTEGER || a->class == H5T_ENUM) {
        int64_t number;
        bool good = H5Aread(a->id, H5T_NATIVE_INT64, &number) >= 0;
        *out = good ? hn_format(ctx, "%lld", (long long)number) : NULL;
        return good;
    }
    if (a->class != H5T_STRING) {
        *out = hn_strdup(ctx, fallback);
        return true;
    }
    const htri_t variable = H5Tis_variable_str(a->type);
    return variable >= 0 &&
           (variable ? read_variable(ctx, a, fallback, out) : read_fixed(ctx, a, fallback, out));
}

char *hn_h5_get_text(struct hn_context *ctx, hid_t object, const char *name, const char *fallback) {
    struct attribute a;
    char *text = NULL;
    if (attribute_open(ctx, object, name, &a))
        return NULL;
    if (!read_text(ctx, &a, fallback, &text)) {
        (void)fail_attribute(ctx, object, name);
        text = NULL;
    }
    attribute_close(&a);
    return text;
}

// Reads an attribute of integers or of another class as `type`; leaves *value where there is none.
static enum hn_code get_number(struct hn_context *ctx, hid_t object, const char *name,
                               H5T_class_t other, hid_t type, void *value) {
    struct attribute a;
    enum hn_code code = attribute_open(ctx, object, name, &a);
    if (!code && (a.class == H5T_INTEGER || a.class == other) && H5Aread(a.id, type, value) < 0)
        code = fail_attribute(ctx, object, name);
    attribute_close(&a);
    return code;
}

enum hn_code hn_h5_get_int(struct hn_context *ctx, hid_t object, const char *name, int64_t fallback,
                           int64_t *out) {
    *out = fallback;
    return get_number(ctx, object, name, H5T_ENUM, H5T_NATIVE_INT64, out);
}

enum hn_code hn_h5_get_real(struct hn_context *ctx, hid_t object, const char *name, double fallback,
                            double *out) {
    *out = fallback;
    return get_number(ctx, object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, out);
}

// Strong close: an identifier that was left open cannot keep the file open. The same for every
// file, since HDF5 refuses to open one file with two degrees. Without locks on disks that have
// none, of a network or a container, where HDF5 itself opens nothing.
static hid_t access_list(const char *path) {
    int fault = hn_file_lock_fault(path);
    bool locks = fault != ENOLCK && fault != EOPNOTSUPP && fault != ENOSYS;
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    return hn_h5_keep(list,
                      H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) >= 0 &&
                          H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0 &&
                          H5Pset_file_locking(list, locks, true) >= 0);
}

static enum hn_code check_readable(struct hn_context *ctx, const char *path) {
    struct stat about;
    if (stat(path, &about) != 0)
        return hn_fail(ctx, HN_DATA, "%s: cannot be opened: %s; check the path", path,
                       strerror(errno));
    if (!S_ISREG(about.st_mode)) // a pipe would block for ever
        return hn_fail(ctx, HN_DATA, "%s: is %s; give an HDF5 file", path,
                       S_ISDIR(about.st_mode) ? "a folder" : "not a regular file");
    if (access(path, R_OK) != 0)
        return hn_fail(ctx, HN_DATA, "%s: cannot be read: %s; check its permissions", path,
                       strerror(errno));
    return HN_OK;
}

// True if the superblock says that a program has the file open to write it, or ended before it had
// closed it: in its versions 2 and 3, by bits of one byte. It begins the file, or stands at 512
// bytes, or twice, four times ... as many.
static bool is_marked_open(const char *path) {
    enum { MAGIC = 8, FLAGS = 11, BYTES, WRITE = 1, SWMR = 4 };
    unsigned char head[BYTES];
    const char *why;
    bool found = false, marked = false;
    FILE *file = hn_file_open(path, NULL, &why);
    for (int64_t at = 0; file && !found && at <= 1 << 20; at = at ? 2 * at : 512) {
        bool read = fseeko(file, at, SEEK_SET) == 0 && fread(head, 1, BYTES, file) == BYTES;
        found = !read || memcmp(head, "\x89HDF\r\n\x1a\n", MAGIC) == 0;
        marked = read && found && head[MAGIC] >= 2 && (head[FLAGS] & (WRITE | SWMR));
    }
    if (file)
        (void)fclose(file);
    return marked;
}

static enum hn_code fail_open(struct hn_context *ctx, const char *path) {
    int fault = hn_file_lock_fault(path);
    if (fault == EWOULDBLOCK)
        return hn_file_fail_locked(ctx, path);
    if (fault)
        return hn_fail(ctx, HN_DATA,
                       "%s: HDF5 cannot lock it (%s): set HDF5_USE_FILE_LOCKING=FALSE", path,
                       strerror(fault));
    if (is_marked_open(path))
        return hn_fail(ctx, HN_DATA,
                       "%s: is marked as open: a program writes it, or ended before it closed it; "
                       "close it there, or, if nothing writes it, run h5clear -s %s",
                       path, path);
    return hn_fail(ctx, HN_DATA,
                   "%s: HDF5 cannot open it: truncated or damaged; make or copy it again", path);
}

// For a file that is not HDF5.
static enum hn_code fail_other(struct hn_context *ctx, const char *path) {
    char head[HN_FILE_HEAD];
    const char *why;
    FILE *file = hn_file_open(path, NULL, &why);
    if (!file)
        return hn_fail(ctx, HN_DATA, "%s: cannot be opened: %s", path, why);
    size_t n = fread(head, 1, sizeof head, file);
    int failed = ferror(file) ? errno : 0;
    (void)fclose(file);
    if (failed)
        return hn_fail_reading(ctx, path, failed);
    const char *other = hn_file_other(head, n);
    return hn_fail(ctx, HN_DATA, "%s: %s", path,
                   other ? other : "is not an HDF5 file; other formats are read by import");
}

enum hn_code hn_h5_open(struct hn_context *ctx, const char *path, hid_t *file) {
    *file = H5I_INVALID_HID;
    enum hn_code code = check_readable(ctx, path);
    if (code != HN_OK)
        return code;
    hid_t list = access_list(path);
    if (list < 0)
        return hn_fail(ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    if (H5Fis_hdf5(path) <= 0)
        code = fail_other(ctx, path);
    else if ((*file = H5Fopen(path, H5F_ACC_RDONLY, list)) < 0)
        code = fail_open(ctx, path);
    hn_h5_close(list);
    return code;
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data) {
    (void)info;
    (void)data;
    hid_t id = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    int64_t count = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    if (count > 0 && count <= TEXT_MAX && size > 0 && size <= (size_t)(TEXT_MAX / count)) {
        void *value = calloc((size_t)count, size);
        if (value)
            (void)H5Aread(id, type, value);
        free(value);
    }
    return 0;
}

static herr_t visit_object(hid_t file, const char *name, const H5O_info_t *info, void *data) {
    (void)data;
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object >= 0)
        (void)H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_attribute, NULL);
    if (object >= 0 && info->type == H5O_TYPE_DATASET)
        (void)H5Dget_storage_size(object);
    return 0;
}

// Opens and visits all objects, as a reader does before it reads values. The reader reports errors.
static void visit_file(const char *path, void *data) {
    (void)data;
    hid_t list = access_list(path);
    hid_t file = list >= 0 ? H5Fopen(path, H5F_ACC_RDONLY, list) : H5I_INVALID_HID;
    if (file >= 0)
        (void)H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit_object, NULL, H5O_INFO_BASIC);
}

enum hn_code hn_h5_probe(struct hn_context *ctx, const char *path) {
    return hn_h5_try(ctx, path, visit_file, NULL);
}

// Damage can lead in circles.
static void limit_time(const char *path) {
    struct stat about;
    rlim_t bytes = stat(path, &about) == 0 && about.st_size > 0 ? (rlim_t)about.st_size : 0;
    rlim_t seconds = PROBE_SECONDS + bytes / PROBE_BYTES;
    const struct rlimit limit = {seconds,
                                 seconds + 1}; // SIGXCPU comes first: SIGKILL is from outside
    (void)setrlimit(RLIMIT_CPU, &limit);
}

// Damage can make HDF5 write beyond its memory: freeing it breaks down then, as it would in the
// reader.
static void free_memory(void) {
    (void)H5garbage_collect();
#ifdef __GLIBC__
    (void)malloc_trim(0); // looks at the sizes of all free blocks
#endif
}

enum hn_code hn_h5_try(struct hn_context *ctx, const char *path,
                       void (*look)(const char *path, void *data), void *data) {
    enum hn_code code = check_readable(ctx, path);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return code; // a process for every input would make fuzzing a hundred times slower
#endif
    if (code != HN_OK)
        return code;
    pid_t child = fork();
    if (child < 0)
        return hn_fail(ctx, HN_MEMORY, "%s: no process could be started to look at it: %s", path,
                       strerror(errno));
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0)
            (void)dup2(nowhere, STDERR_FILENO);
        limit_time(path);
        look(path, data);
        free_memory();
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return hn_fail(ctx, HN_INTERNAL, "%s: the process that looks at it is lost: %s", path,
                           strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return HN_OK;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return hn_fail(ctx, HN_MEMORY,
                       "%s: the process that looks at it was killed: free memory, or raise the "
                       "group's limit, and try again",
                       path);
    return hn_fail(ctx, HN_DATA,
                   "%s: HDF5 breaks down on it: the file is damaged; make or copy it again", path);
}

static hid_t create_file(const char *name) {
    hid_t file = H5I_INVALID_HID;
    hid_t access = access_list(name);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    // No times in object headers: the same content gives the same bytes.
    if (access >= 0 && creation >= 0 &&
        H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_obj_track_times(creation, false) >= 0)
        file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access);
    hn_h5_close(creation, access);
    return file;
}

enum hn_code hn_h5_create(struct hn_context *ctx, const char *path, hid_t *file, char **temporary) {
    int fd;
    *file = H5I_INVALID_HID;
    *temporary = hn_temporary_file(ctx, path, &fd);
    if (!*temporary)
        return ctx->code;
    (void)close(fd);
    *file = create_file(*temporary);
    if (*file >= 0)
        return HN_OK;
    (void)unlink(*temporary);
    hn_free(ctx, *temporary);
    *temporary = NULL;
    return hn_fail(ctx, HN_IO, "%s: HDF5 cannot create the file; is the disk full?", path);
}

enum hn_code hn_h5_commit(struct hn_context *ctx, hid_t file, char *temporary, const char *path,
                          bool with_checksum) {
    enum hn_code code = HN_OK;
    bool flushed = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
    bool closed = H5Fclose(file) >= 0;
    if (!flushed || !closed)
        code = hn_fail(ctx, HN_IO, "%s: writing failed; is the disk full?", path);
    else if (with_checksum && hn_checksum_write(ctx, temporary))
        code = ctx->code;
    if (code == HN_OK)
        code = hn_file_publish(ctx, temporary, path);
    else
        (void)unlink(temporary);
    hn_free(ctx, temporary);
    return code;
}

void hn_h5_discard(struct hn_context *ctx, hid_t file, char *temporary) {
    hn_h5_close(file);
    if (temporary)
        (void)unlink(temporary);
    hn_free(ctx, temporary);
}
