// Reads results files, which may be truncated, damaged or made to harm: what is read must be plain
// datasets of this very file (no external links or storage), of the rank and length of the schema;
// nothing is allocated that the file could not hold. A checksum that does not fit is damage.
#include "core/checksum.h"
#include "core/options/option.h"
#include "core/pairs.h"
#include "core/real_text.h"
#include "results/programs.h"
#include "results/store_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_ATTRIBUTES = 1024, MAX_BINS = 1 << 20 };

// The n numbers of a dataset, of type `memory`, owned by the caller; NULL: a failure.
static void *read_numbers(const struct hn_store_reader *r, hid_t parent, const char *group,
                          const char *name, hid_t memory, int64_t n) {
    struct hn_h5_data s;
    void *out = NULL;
    if (hn_store_open_data(r, parent, group, name, &s))
        return NULL;
    enum hn_code code = hn_store_check_length(r, group, name, &s, n);
    if (code == HN_OK && s.class != H5Tget_class(memory))
        code = hn_store_bad(r, group, name, "is of the wrong type");
    if (code == HN_OK)
        out = hn_alloc(r->ctx, n, H5Tget_size(memory));
    if (out && H5Dread(s.id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        hn_store_bad(r, group, name, "cannot be read");
        hn_free(r->ctx, out);
        out = NULL;
    }
    hn_h5_data_close(&s);
    return out;
}

// Edges must be those of equal bins: only the ends are kept.
static enum hn_code read_edges(const struct hn_store_reader *r, hid_t group,
                               struct hn_results *out) {
    int64_t n = out->bins + 1;
    HN_SCOPE(r->ctx);
    double *edge = read_numbers(r, group, "hist", "bin_edge", H5T_NATIVE_DOUBLE, n);
    if (!edge)
        return r->ctx->code;
    out->bin_lo = edge[0];
    out->bin_hi = edge[out->bins];
    double width = (out->bin_hi - out->bin_lo) / (double)out->bins;
    bool equal = width > 0 && isfinite(width);
    for (int64_t b = 0; equal && b < n; b++)
        equal = fabs(edge[b] - (out->bin_lo + width * (double)b)) < 1e-6 * width;
    return equal ? HN_OK
                 : hn_store_bad(r, "hist", "bin_edge", "does not bound bins of equal width");
}

static enum hn_code read_counts(const struct hn_store_reader *r, hid_t group,
                                struct hn_results *out) {
    struct hn_h5_data s;
    if (hn_store_open_data(r, group, "hist", "counts", &s))
        return r->ctx->code;
    enum hn_code code = HN_OK;
    if (s.rank != 3 || s.dim[0] != (hsize_t)out->runs.rows || s.dim[1] != HN_PAIR_KINDS ||
        s.dim[2] < 1 || s.dim[2] > MAX_BINS)
        code = hn_store_bad(r, "hist", "counts", "has the wrong shape");
    else if (s.class != H5T_INTEGER)
        code = hn_store_bad(r, "hist", "counts", "is of the wrong type");
    else {
        out->kinds = HN_PAIR_KINDS;
        out->bins = (int64_t)s.dim[2];
        // hn_h5_data_holds() has seen that this product does not overflow.
        out->histogram =
            hn_alloc(r->ctx, out->runs.rows * out->kinds * out->bins, sizeof *out->histogram);
        if (!out->histogram)
            code = r->ctx->code;
        else if (H5Dread(s.id, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->histogram) <
                 0)
            code = hn_store_bad(r, "hist", "counts", "cannot be read");
    }
    hn_h5_data_close(&s);
    return code;
}

static enum hn_code read_histogram(const struct hn_store_reader *r, hid_t group,
                                   struct hn_results *out) {
    return read_counts(r, group, out) ? r->ctx->code : read_edges(r, group, out);
}

// A dataset of n + 1 splits, which rise from 0.
static enum hn_code read_splits(const struct hn_store_reader *r, hid_t group, const char *where,
                                const char *name, int64_t n, int64_t **split) {
    int64_t length;
    if (!hn_add(n, 1, &length))
        return hn_store_bad(r, where, name, "has the wrong length");
    *split = read_numbers(r, group, where, name, H5T_NATIVE_INT64, length);
    if (!*split)
        return r->ctx->code;
    return hn_store_rises(*split, n) ? HN_OK : hn_store_bad(r, where, name, "does not rise from 0");
}

static enum hn_code read_batches(const struct hn_store_reader *r, hid_t group,
                                 struct hn_results *out) {
    if (read_splits(r, group, "batch", "row_splits", out->runs.rows, &out->batch_start))
        return r->ctx->code;
    int64_t n = out->batch_start[out->runs.rows];
    out->batch_fn_ratio = read_numbers(r, group, "batch", "fn_ratio", H5T_NATIVE_DOUBLE, n);
    if (out->batch_fn_ratio)
        out->batch_cos_mean = read_numbers(r, group, "batch", "cos_mean", H5T_NATIVE_DOUBLE, n);
    return out->batch_cos_mean ? HN_OK : r->ctx->code;
}

static enum hn_code read_order(const struct hn_store_reader *r, hid_t group,
                               struct hn_results *out) {
    if (read_splits(r, group, "order", "run_splits", out->runs.rows, &out->order_run))
        return r->ctx->code;
    int64_t batches = out->order_run[out->runs.rows];
    if (read_splits(r, group, "order", "splits", batches, &out->order_split))
        return r->ctx->code;
    int64_t ids = out->order_split[batches];
    out->order_id = read_numbers(r, group, "order", "index", H5T_NATIVE_INT32, ids);
    return out->order_id ? HN_OK : r->ctx->code;
}

// Text of an attribute: numbers in their shortest form. NULL: out of memory.
static char *attribute_text(const struct hn_store_reader *r, hid_t object, const char *name) {
    char number[64];
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    bool real = H5Tget_class(type) == H5T_FLOAT;
    hn_h5_close(type, attribute);
    if (!real)
        return hn_h5_get_text(r->ctx, object, name, "");
    (void)hn_real_text(hn_h5_get_real(object, name, NAN), number, sizeof number);
    return hn_strdup(r->ctx, number);
}

typedef enum hn_code (*set_function)(struct hn_context *ctx, struct hn_results *out,
                                     const char *name, const char *value);

static enum hn_code read_attributes(const struct hn_store_reader *r, hid_t object, set_function set,
                                    struct hn_results *out) {
    H5O_info_t about;
    if (H5Oget_info2(object, &about, H5O_INFO_NUM_ATTRS) < 0 || about.num_attrs > MAX_ATTRIBUTES)
        return hn_store_bad(r, "attributes", "", "cannot be read");
    for (hsize_t i = 0; i < about.num_attrs; i++) {
        char name[HN_STORE_NAME_SIZE];
        ssize_t length = H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                            sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= HN_STORE_NAME_SIZE)
            return hn_store_bad(r, "attributes", "", "cannot be read");
        if (strcmp(name, "schema") == 0 || strcmp(name, "schema_version") == 0)
            continue;
        HN_SCOPE(r->ctx);
        char *value = attribute_text(r, object, name);
        hn_own(r->ctx, scope.outer);
        if (!value || set(r->ctx, out, name, value))
            return r->ctx->code;
    }
    return HN_OK;
}

static enum hn_code read_env(const struct hn_store_reader *r, hid_t group, struct hn_results *out) {
    return read_attributes(r, group, hn_results_set_env, out);
}

// The groups that a file may have besides its tables.
static enum hn_code read_groups(const struct hn_store_reader *r, struct hn_results *out) {
    static const struct {
        const char *name;
        enum hn_code (*read)(const struct hn_store_reader *r, hid_t group, struct hn_results *out);
    } part[] = {{"env", read_env},
                {"hist", read_histogram},
                {"batch", read_batches},
                {"order", read_order}};
    enum hn_code code = HN_OK;
    for (size_t i = 0; code == HN_OK && i < sizeof part / sizeof *part; i++) {
        hid_t group;
        code = hn_store_open_group(r, r->file, part[i].name, false, &group);
        if (code == HN_OK && group >= 0)
            code = part[i].read(r, group, out);
        hn_h5_close(group);
    }
    return code;
}

static enum hn_code check_schema(const struct hn_store_reader *r) {
    HN_SCOPE(r->ctx);
    char *schema = hn_h5_get_text(r->ctx, r->file, "schema", "");
    if (!schema)
        return r->ctx->code;
    int64_t version = hn_h5_get_int(r->file, "schema_version", 0);
    if (strcmp(schema, HN_STORE_SCHEMA) != 0)
        return hn_fail(r->ctx, HN_DATA,
                       "%s: is not a results file but %.40s: give a results.h5 that hardneg run "
                       "has written",
                       r->path, *schema ? schema : "another kind of HDF5 file");
    if (version != HN_STORE_VERSION)
        return hn_fail(r->ctx, HN_DATA,
                       "%s: has schema version %" PRId64 " and this program reads version %d: use "
                       "the hardneg that wrote it",
                       r->path, version, HN_STORE_VERSION);
    return HN_OK;
}

static enum hn_code open_results(struct hn_context *ctx, const char *path,
                                 struct hn_store_reader *r) {
    *r = (struct hn_store_reader){.ctx = ctx, .path = path, .file = H5I_INVALID_HID};
    if (hn_checksum_check(ctx, path) || hn_h5_open(ctx, path, &r->file))
        return ctx->code;
    r->bytes = hn_h5_file_bytes(r->file);
    enum hn_code code = r->bytes > 0
                            ? check_schema(r)
                            : hn_fail(ctx, HN_DATA, "%s: has no size: " HN_STORE_MEND, path);
    if (code == HN_OK)
        return HN_OK;
    hn_h5_close(r->file);
    return code;
}

enum hn_code hn_results_read_own(struct hn_context *ctx, const char *path, struct hn_results *out) {
    struct hn_store_reader r;
    memset(out, 0, sizeof *out);
    if (open_results(ctx, path, &r))
        return ctx->code;
    // The rows of /runs are what the arrays are checked against.
    bool good = !read_attributes(&r, r.file, hn_results_set, out) &&
                !hn_store_read_table(&r, r.file, "runs", true, &out->runs) &&
                !hn_store_read_table(&r, r.file, "timing", false, &out->timing) &&
                !hn_store_read_tables(&r, out) && !read_groups(&r, out);
    hn_h5_close(r.file);
    if (good && hn_results_version(out) > hn_results_code_version) {
        (void)hn_fail(ctx, HN_DATA,
                      "%s: is of results version %d, made by program %.60s, and this program knows "
                      "versions up to %d: use a program that is as new",
                      path, hn_results_version(out), hn_results_get_env(out, "program"),
                      hn_results_code_version);
        good = false;
    }
    if (good)
        return HN_OK;
    hn_results_free(ctx, out);
    return ctx->code;
}

// Reads the file in a child process first, as the reader does. The reader reports errors.
static void read_and_drop(const char *path, void *data) {
    struct hn_context *ctx = data;
    struct hn_results r;
    if (hn_results_read_own(ctx, path, &r) == HN_OK)
        hn_results_free(ctx, &r);
}

enum hn_code hn_results_read(struct hn_context *ctx, const char *path, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    if (hn_h5_try(ctx, path, read_and_drop, ctx))
        return ctx->code;
    return hn_results_read_own(ctx, path, out);
}
