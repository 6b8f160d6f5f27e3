// Snapshot files: what is written comes back, every accepted layout, everything that is refused.
#include "core/digest.h"
#include "core/random.h"
#include "datasets/h5.h"
#include "datasets/snapshot.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 320, N = 40, D = 7, STEPS = 3 };

static char folder[256];
static struct hn_context ctx;

static void begin(int threads) {
    hn_h5_quiet();
    hn_context_init(&ctx, threads);
}

static const char *in_folder(const char *name) {
    static char path[4][PATH];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], PATH, "%s/%s", folder, name);
    return path[turn];
}

static const char *const names[] = {"cat", "dog", "bücher"};

static void fill_labels(int32_t labels[N]) {
    for (int i = 0; i < N; i++)
        labels[i] = i % 4 - 1;
}

static struct hn_snapshot_spec spec_of(const int32_t *labels, enum hn_float_type type, int compress) {
    return (struct hn_snapshot_spec){.title = "a title",
                                     .license = "CC0-1.0",
                                     .tool_version = "hardneg test",
                                     .n = N,
                                     .d = D,
                                     .labels = labels,
                                     .label_name = names,
                                     .n_label_names = 3,
                                     .view1 = true,
                                     .view2 = true,
                                     .normalized = true,
                                     .type = type,
                                     .compress = compress};
}

// Rows of series `which` at step number `index`; owned by the caller. Values are halves.
static float *rows_of(int which, int64_t index) {
    float *x = hn_fixture_rows(&ctx, N, D, (uint64_t)(1000 * which + index + 1));
    for (int64_t i = 0; i < N * D; i++)
        x[i] = roundf(x[i] * 256) / 256;
    return x;
}

static enum hn_code write_all(const char *path, const struct hn_snapshot_spec *spec, int64_t steps) {
    struct hn_snapshot_writer *w;
    enum hn_code code = hn_snapshot_write_begin(&ctx, path, spec, &w);
    if (code != HN_OK)
        return code;
    int64_t failing = ctx.memory.fail_at;
    for (int64_t s = 0; s < steps && code == HN_OK; s++) {
        float *x[3];
        ctx.memory.fail_at = 0; // the fixture must not fail
        for (int which = 0; which < 3; which++)
            x[which] = rows_of(which, s);
        ctx.memory.fail_at = failing;
        code = hn_snapshot_write_step(&ctx, w, 10 * s, x[0], spec->view1 ? x[1] : NULL,
                                      spec->view2 ? x[2] : NULL);
        for (int which = 0; which < 3; which++)
            hn_free(&ctx, x[which]);
    }
    if (code == HN_OK)
        return hn_snapshot_write_end(&ctx, w);
    hn_snapshot_write_abort(&ctx, w);
    return code;
}

// A small good file: the start of most tests.
static const char *good_file(const char *name, enum hn_float_type type, int compress) {
    int32_t labels[N];
    fill_labels(labels);
    const struct hn_snapshot_spec spec = spec_of(labels, type, compress);
    const char *path = in_folder(name);
    HN_CHECK(&ctx, write_all(path, &spec, STEPS));
    return path;
}

// Opens and checks the values as well.
static enum hn_code check(const char *path) {
    struct hn_snapshot *s;
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_validate(&ctx, s);
    hn_snapshot_close(&ctx, s);
    return code;
}

static void check_rows(const float *got, const float *stored) {
    for (int64_t i = 0; i < N; i++) {
        double length = sqrt(hn_dot_exact(stored + i * D, stored + i * D, D));
        for (int64_t k = 0; k < D; k++)
            CU_ASSERT_EQUAL(got[i * D + k], (float)((double)stored[i * D + k] / length));
    }
}

static void check_step(struct hn_snapshot *s, int64_t index) {
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, index, &items));
    CU_ASSERT_TRUE(items.n == N && items.d == D && items.step == 10 * index);
    CU_ASSERT_EQUAL(items.progress, (double)index / (STEPS - 1));
    const struct hn_matrix *const series[] = {&items.x, &items.x1, &items.x2};
    float *raw = hn_alloc(&ctx, N * D, sizeof *raw);
    for (int which = 0; which < 3; which++) {
        float *stored = rows_of(which, index);
        check_rows(series[which]->data, stored);
        HN_CHECK(&ctx, hn_snapshot_read_raw(&ctx, s, which, index, raw));
        CU_ASSERT_EQUAL(memcmp(raw, stored, N * D * sizeof *raw), 0);
        hn_free(&ctx, stored);
    }
    hn_free(&ctx, raw);
    hn_items_free(&ctx, &items);
}

static void test_round_trip(void) {
    static const char *const types[] = {"float16", "float32", "float64"};
    char first[HN_DIGEST_TEXT] = "", text[HN_DIGEST_TEXT];
    for (int type = 0; type < 3; type++)
        for (int compress = 0; compress < 8; compress += 4) {
            begin(1 + type);
            const char *path = good_file("good.h5", (enum hn_float_type)type, compress);
            struct hn_snapshot *s;
            HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
            const struct hn_snapshot_info *info = hn_snapshot_info(s);
            CU_ASSERT_STRING_EQUAL(info->dtype, types[type]);
            CU_ASSERT_STRING_EQUAL(info->title, "a title");
            CU_ASSERT_STRING_EQUAL(info->source, "");
            CU_ASSERT_STRING_EQUAL(info->layout, "hardneg-snapshot");
            CU_ASSERT_TRUE(info->classes == 3 && info->unlabelled == N / 4 && info->steps == STEPS);
            CU_ASSERT_TRUE(info->n_label_names == 3 && info->normalized);
            CU_ASSERT_STRING_EQUAL(info->label_name[2], names[2]);
            CU_ASSERT_EQUAL(hn_snapshot_labels(s)[5], 0);
            CU_ASSERT_PTR_NULL(hn_snapshot_split(s));
            for (int64_t i = 0; i < STEPS; i++)
                check_step(s, i);
            HN_CHECK(&ctx, hn_snapshot_validate(&ctx, s));
            // The digest is of the values, however they are stored.
            HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, text));
            CU_ASSERT_STRING_EQUAL(text, info->stored_sha256);
            if (first[0])
                CU_ASSERT_STRING_EQUAL(text, first);
            memcpy(first, text, sizeof first);
            hn_snapshot_close(&ctx, s);
            CU_ASSERT_EQUAL(ctx.memory.live, 0);
        }
}

static void test_same_bytes(void) {
    begin(1);
    good_file("one.h5", HN_FLOAT16, 4);
    begin(3);
    good_file("two.h5", HN_FLOAT16, 4);
    char command[1024], out[16];
    // The attribute `created` alone may differ: the lengths must not.
    snprintf(command, sizeof command, "cmp -l %s %s | wc -l", in_folder("one.h5"),
             in_folder("two.h5"));
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, sizeof out), 0);
    CU_ASSERT_TRUE(atoi(out) <= 20 + 4); // and the checksum of what holds it
}

// Changing files by means of HDF5 itself.

static void put_data(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dim,
                     hid_t memory, const void *value) {
    if (H5Lexists(file, path, H5P_DEFAULT) > 0)
        CU_ASSERT_FATAL(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
    hid_t space = H5Screate_simple(rank, dim, NULL);
    hid_t data = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_FATAL(data >= 0);
    if (value)
        CU_ASSERT_FATAL(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(data);
    H5Sclose(space);
}

static void put_integers(hid_t file, const char *path, hsize_t n, const int64_t *value) {
    put_data(file, path, H5T_STD_I64LE, 1, &n, H5T_NATIVE_INT64, value);
}

static hid_t change(const char *path) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, list);
    H5Pclose(list);
    CU_ASSERT_FATAL(file >= 0);
    return file;
}

static void drop(hid_t file, const char *path) {
    CU_ASSERT_FATAL(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
}

static void no_labels(hid_t f) { drop(f, "/labels"); }
static void no_step(hid_t f) { drop(f, "/step"); }
static void no_embeddings(hid_t f) { drop(f, "/embeddings"); }
static void wrong_schema(hid_t f) { (void)!hn_h5_set_text(&ctx, f, "schema", "hardneg-results"); }
static void newer_schema(hid_t f) { (void)!hn_h5_set_int(&ctx, f, "schema_version", 2); }

static void few_labels(hid_t f) {
    const int64_t v[N] = {0};
    put_integers(f, "/labels", N - 1, v);
}
static void low_label(hid_t f) {
    int64_t v[N] = {0};
    v[7] = -2;
    put_integers(f, "/labels", N, v);
}
static void high_label(hid_t f) {
    int64_t v[N] = {0};
    v[9] = (int64_t)INT32_MAX + 1;
    put_integers(f, "/labels", N, v);
}
static void real_labels(hid_t f) {
    hsize_t n = N;
    put_data(f, "/labels", H5T_IEEE_F32LE, 1, &n, 0, NULL);
}
static void square_labels(hid_t f) {
    const hsize_t n[] = {N, 1};
    put_data(f, "/labels", H5T_STD_I32LE, 2, n, 0, NULL);
}
static void level_steps(hid_t f) {
    put_integers(f, "/step", STEPS, (const int64_t[]){0, 10, 10});
}
static void negative_step(hid_t f) {
    put_integers(f, "/step", STEPS, (const int64_t[]){-1, 0, 10});
}
static void few_steps(hid_t f) { put_integers(f, "/step", 2, (const int64_t[]){0, 10}); }
static void far_partner(hid_t f) {
    int64_t v[N] = {0};
    v[0] = N;
    put_integers(f, "/positive", N, v);
}
static void own_partner(hid_t f) {
    const int64_t v[N] = {1, 1};
    put_integers(f, "/positive", N, v);
}
static void bad_split(hid_t f) {
    const int64_t v[N] = {0, 3};
    put_integers(f, "/split", N, v);
}
static void put_graph(hid_t f, const int64_t *start, const int64_t *target, hsize_t edges) {
    H5Gclose(H5Gcreate2(f, "/graph", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (start)
        put_integers(f, "/graph/indptr", N + 1, start);
    put_integers(f, "/graph/indices", edges, target);
}
// Every node is followed by the next one.
static void ring_starts(int64_t start[N + 1], int64_t target[N]) {
    for (int i = 0; i <= N; i++)
        start[i] = i;
    for (int i = 0; i < N; i++)
        target[i] = (i + 1) % N;
}
static void far_edge(hid_t f) {
    int64_t start[N + 1], target[N];
    ring_starts(start, target);
    target[3] = N;
    put_graph(f, start, target, N);
}
static void falling_starts(hid_t f) {
    int64_t start[N + 1], target[N];
    ring_starts(start, target);
    start[4] = 2;
    put_graph(f, start, target, N);
}
static void short_starts(hid_t f) {
    int64_t start[N + 1], target[N];
    ring_starts(start, target);
    start[N] = N - 1;
    put_graph(f, start, target, N);
}
static void no_starts(hid_t f) {
    const int64_t target[N] = {0};
    put_graph(f, NULL, target, N);
}
static void flat_features(hid_t f) {
    const hsize_t n = N;
    const float v[N] = {0};
    put_data(f, "/features", H5T_IEEE_F32LE, 1, &n, H5T_NATIVE_FLOAT, v);
}
static void flat_embeddings(hid_t f) {
    const hsize_t n = N * D;
    const float v[N * D] = {0};
    put_data(f, "/embeddings", H5T_IEEE_F32LE, 1, &n, H5T_NATIVE_FLOAT, v);
}
static void deep_embeddings(hid_t f) {
    const hsize_t n[] = {1, 1, N, D};
    put_data(f, "/embeddings", H5T_IEEE_F32LE, 4, n, 0, NULL);
}
static void whole_embeddings(hid_t f) {
    const hsize_t n[] = {STEPS, N, D};
    put_data(f, "/embeddings", H5T_STD_I32LE, 3, n, 0, NULL);
}
static void no_values(hid_t f) {
    const hsize_t n[] = {STEPS, N, D};
    put_data(f, "/embeddings", H5T_IEEE_F32LE, 3, n, 0, NULL);
}
static void wide_view(hid_t f) {
    const hsize_t n[] = {STEPS, N, D + 1};
    static const float v[STEPS * N * (D + 1)];
    put_data(f, "/view2", H5T_IEEE_F32LE, 3, n, H5T_NATIVE_FLOAT, v);
}
static void group_for_labels(hid_t f) {
    drop(f, "/labels");
    H5Gclose(H5Gcreate2(f, "/labels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}
static void soft_link(hid_t f) {
    H5Lmove(f, "/labels", f, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/elsewhere", f, "/labels", H5P_DEFAULT, H5P_DEFAULT);
}
static void external_link(hid_t f) {
    drop(f, "/labels");
    H5Lcreate_external("other.h5", "/labels", f, "/labels", H5P_DEFAULT, H5P_DEFAULT);
}
static void external_group(hid_t f) {
    H5Lcreate_external("other.h5", "/", f, "/graph", H5P_DEFAULT, H5P_DEFAULT);
}
static void external_values(hid_t f) {
    hsize_t n = N;
    drop(f, "/labels");
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
    H5Pset_external(list, "/etc/passwd", 0, N * 4);
    H5Dclose(H5Dcreate2(f, "/labels", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(list);
}
static void virtual_values(hid_t f) {
    hsize_t n = N;
    drop(f, "/labels");
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
    H5Pset_virtual(list, space, "other.h5", "/labels", space);
    H5Dclose(H5Dcreate2(f, "/labels", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(list);
}
// Extents that cost nothing: no chunk was ever written.
static void boast(hid_t f, hsize_t n, hsize_t d) {
    const hsize_t dim[] = {STEPS, n, d}, chunk[] = {1, 1, d};
    drop(f, "/embeddings");
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, dim, NULL);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_deflate(list, 1);
    H5Dclose(H5Dcreate2(f, "/embeddings", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(list);
}
static void many_items(hid_t f) { boast(f, (hsize_t)1 << 31, D); }
static void many_dims(hid_t f) { boast(f, N, ((hsize_t)1 << 20) + 1); }
static void much_of_nothing(hid_t f) { boast(f, 1000000000, 1000); }
static void empty(hid_t f) {
    const hsize_t dim[] = {STEPS, 0, D};
    put_data(f, "/embeddings", H5T_IEEE_F32LE, 3, dim, 0, NULL);
}
static void odd_names(hid_t f) {
    hid_t labels = H5Dopen2(f, "/labels", H5P_DEFAULT);
    H5Adelete(labels, "label_names");
    (void)!hn_h5_set_int(&ctx, labels, "label_names", 3);
}
static void change_value(hid_t f, hsize_t step, hsize_t row, hsize_t col, float value) {
    const hsize_t start[] = {step, row, col}, one[] = {1, 1, 1};
    hid_t data = H5Dopen2(f, "/embeddings", H5P_DEFAULT), space = H5Dget_space(data);
    hid_t memory = H5Screate_simple(3, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
    CU_ASSERT_FATAL(H5Dwrite(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, &value) >= 0);
}
static void one_nan(hid_t f) { change_value(f, 2, 17, 3, NAN); }
static void one_infinity(hid_t f) { change_value(f, 0, 5, 6, -INFINITY); }
static void one_zero_row(hid_t f) {
    for (hsize_t k = 0; k < D; k++)
        change_value(f, 1, 11, k, 0);
}
static void other_value(hid_t f) { change_value(f, 1, 2, 3, 0.125F); }

static void test_refused(void) {
    const struct {
        void (*spoil)(hid_t file);
        const char *part;
    } bad[] = {
        {no_labels, "no data set /labels"},
        {no_step, "no data set /step"},
        {no_embeddings, "no data set /embeddings"},
        {wrong_schema, "hardneg-results"},
        {newer_schema, "schema_version is 2"},
        {few_labels, "39 values for 40 items"},
        {low_label, "place 7: the value -2 is out of range"},
        {high_label, "place 9: the value 2147483648 is out of range"},
        {real_labels, "does not hold integers"},
        {square_labels, "wrong rank: 2"},
        {level_steps, "does not increase: 10 at place 3 follows 10"},
        {negative_step, "place 0: the value -1"},
        {few_steps, "2 values for 3 steps"},
        {far_partner, "/positive, place 0: the value 40 is out of range"},
        {own_partner, "row 1 is its own partner"},
        {bad_split, "/split, place 1: the value 3"},
        {far_edge, "/graph/indices, place 3: the value 40"},
        {falling_starts, "/graph/indptr decreases at place 4"},
        {short_starts, "/graph/indptr goes from 0 to 39"},
        {no_starts, "one of /graph/indptr and /graph/indices is missing"},
        {flat_features, "/features has the wrong rank: 1"},
        {flat_embeddings, "/embeddings has the wrong rank: 1"},
        {deep_embeddings, "/embeddings has the wrong rank: 4"},
        {whole_embeddings, "does not hold IEEE floats"},
        {no_values, "the file stores 0 bytes"},
        {wide_view, "/view2 is [3, 40, 8]"},
        {group_for_labels, "is not a data set"},
        {soft_link, "soft or external link"},
        {external_link, "soft or external link"},
        {external_group, "soft or external link"},
        {external_values, "in other files"},
        {virtual_values, "in other files"},
        {many_items, "more than 2^31 - 1 items"},
        {many_dims, "2^20 dimensions"},
        {much_of_nothing, "the file stores 0 bytes"},
        {empty, "is empty"},
        {odd_names, "label_names"},
        {one_nan, "data set /embeddings, step 20 (place 3 in the series), row 17 is not finite (NaN at "
                  "column 3)"},
        {one_infinity, "step 0 (place 1 in the series), row 5 is not finite (infinity at column 6)"},
        {one_zero_row, "step 10 (place 2 in the series), row 11 is zero"},
        {other_value, "not those that were written"},
    };
    begin(1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = good_file("bad.h5", HN_FLOAT32, 0);
        hid_t file = change(path);
        bad[i].spoil(file);
        H5Fclose(file);
        HN_CHECK_FAILS(&ctx, check(path), HN_DATA, bad[i].part);
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, path));
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        CU_ASSERT_TRUE(ctx.memory.peak < 1 << 20);
    }
}

static void test_bad_rows_when_loaded(void) {
    begin(2);
    const char *path = good_file("nan.h5", HN_FLOAT16, 4);
    hid_t file = change(path);
    one_nan(file);
    H5Fclose(file);
    struct hn_snapshot *s;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &items));
    hn_items_free(&ctx, &items);
    HN_CHECK_FAILS(&ctx, hn_snapshot_load(&ctx, s, 2, &items), HN_DATA, "row 17 is not finite");
    HN_CHECK_FAILS(&ctx, hn_snapshot_load(&ctx, s, 3, &items), HN_INTERNAL, "place 3");
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_no_file(void) {
    begin(1);
    FILE *file = fopen(in_folder("text.h5"), "w");
    fputs("no HDF5 at all\n", file);
    fclose(file);
    HN_CHECK_FAILS(&ctx, check(in_folder("none.h5")), HN_DATA, "No such file");
    HN_CHECK_FAILS(&ctx, check(folder), HN_DATA, "not a regular file");
    HN_CHECK_FAILS(&ctx, check(in_folder("text.h5")), HN_DATA, "is not an HDF5 file");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Other layouts, made by HDF5 itself.

static void new_file(const char *path, bool schema, hid_t *file) {
    *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_FATAL(*file >= 0);
    if (schema) {
        HN_CHECK(&ctx, hn_h5_set_text(&ctx, *file, "schema", "hardneg-snapshot"));
        HN_CHECK(&ctx, hn_h5_set_int(&ctx, *file, "schema_version", 1));
    }
}

static void put_rows(hid_t file, const char *path, hid_t type, const float *x) {
    const hsize_t dim[] = {N, D};
    put_data(file, path, type, 2, dim, H5T_NATIVE_FLOAT, x);
}

static hid_t half_type(bool big) {
    hid_t type = H5Tcopy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
    return type;
}

static void check_first(const char *path, const float *stored) {
    struct hn_snapshot *s;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    CU_ASSERT_TRUE(hn_snapshot_info(s)->steps == 1 && hn_snapshot_info(s)->step[0] == 0);
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &items));
    check_rows(items.x.data, stored);
    CU_ASSERT_EQUAL(items.progress, 0);
    CU_ASSERT_FALSE(hn_has_positive(&items));
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
}

// Rank two, no /step, every float type in both byte orders, every integer type of labels.
static void test_plain_matrices(void) {
    begin(2);
    hid_t half_little = half_type(false), half_big = half_type(true);
    const hid_t floats[] = {half_little,    half_big,       H5T_IEEE_F32LE,
                            H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    const hid_t integers[] = {H5T_STD_I8LE,  H5T_STD_U8LE,  H5T_STD_I16BE,
                              H5T_STD_U32LE, H5T_STD_I64BE, H5T_STD_U64LE};
    int64_t labels[N];
    const hsize_t n = N;
    for (int i = 0; i < N; i++)
        labels[i] = i % 3;
    float *x = rows_of(0, 0);
    for (int t = 0; t < 6; t++) {
        const char *path = in_folder("plain.h5");
        hid_t file;
        new_file(path, true, &file);
        put_rows(file, "/embeddings", floats[t], x);
        put_data(file, "/labels", integers[t], 1, &n, H5T_NATIVE_INT64, labels);
        H5Fclose(file);
        check_first(path, x);
        HN_CHECK(&ctx, check(path));
    }
    H5Tclose(half_little);
    H5Tclose(half_big);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_ann_benchmarks(void) {
    begin(1);
    const char *path = in_folder("glove.hdf5");
    float *x = rows_of(0, 0);
    hid_t file;
    new_file(path, false, &file);
    put_rows(file, "/train", H5T_IEEE_F32LE, x);
    put_rows(file, "/test", H5T_IEEE_F32LE, x);
    H5Fclose(file);
    check_first(path, x);
    struct hn_snapshot *s;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->layout, "ann-benchmarks");
    CU_ASSERT_TRUE(hn_snapshot_info(s)->classes == 0 && hn_snapshot_info(s)->unlabelled == N);
    CU_ASSERT_EQUAL(hn_snapshot_labels(s)[N - 1], -1);
    hn_snapshot_close(&ctx, s);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static int notes;
static void count_note(void *data, const char *text) {
    (void)data;
    notes += strstr(text, "no positive") != NULL;
}

static void load_first(const char *path, struct hn_snapshot **s, struct hn_items *items) {
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, *s, 0, items));
}

static void test_positives(void) {
    begin(2);
    ctx.note = count_note;
    int64_t partner[N];
    for (int i = 0; i < N; i++)
        partner[i] = (i + 5) % N;
    const char *path = good_file("views.h5", HN_FLOAT32, 0);
    struct hn_snapshot *s;
    struct hn_items items;
    hid_t file = change(path);
    put_integers(file, "/positive", N, partner);
    drop(file, "/view1");
    H5Fclose(file);
    load_first(path, &s, &items); // the second view goes before /positive, and x stands for the first
    CU_ASSERT_PTR_EQUAL(items.x1.data, items.x.data);
    float *stored = rows_of(2, 0);
    check_rows(items.x2.data, stored);
    hn_free(&ctx, stored);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);

    file = change(path);
    drop(file, "/view2");
    H5Fclose(file);
    load_first(path, &s, &items);
    CU_ASSERT_TRUE(hn_has_positive(&items));
    CU_ASSERT_PTR_EQUAL(items.x1.data, items.x.data);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(memcmp(hn_row(&items.x2, i), hn_row(&items.x, partner[i]), D * sizeof(float)),
                        0);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);

    partner[3] = -1; // no complete positives: none, and it is said
    file = change(path);
    put_integers(file, "/positive", N, partner);
    H5Fclose(file);
    notes = 0;
    load_first(path, &s, &items);
    CU_ASSERT_FALSE(hn_has_positive(&items));
    CU_ASSERT_TRUE(hn_snapshot_info(s)->has_positive);
    CU_ASSERT_EQUAL(notes, 1);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void put_others(const char *path) {
    int64_t start[N + 1], target[N], split[N], sample[N];
    float features[N * 2];
    const hsize_t two[] = {N, 2};
    ring_starts(start, target);
    for (int i = 0; i < N; i++) {
        split[i] = i % 4 - 1;
        sample[i] = 1000 + i;
        features[2 * i] = features[2 * i + 1] = (float)i;
    }
    hid_t file = change(path);
    put_graph(file, start, target, N);
    put_integers(file, "/split", N, split);
    put_integers(file, "/positive", N, target);
    put_data(file, "/features", H5T_IEEE_F32LE, 2, two, H5T_NATIVE_FLOAT, features);
    put_integers(file, "/sample", N, sample);
    H5Fclose(file);
}

static void test_graph_and_split(void) {
    begin(1);
    const char *path = good_file("graph.h5", HN_FLOAT32, 0);
    put_others(path);
    struct hn_snapshot *s;
    struct hn_items items;
    load_first(path, &s, &items);
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    CU_ASSERT_TRUE(info->has_graph && info->has_split && info->has_features && info->has_positive);
    CU_ASSERT_PTR_NOT_NULL_FATAL(items.graph);
    CU_ASSERT_TRUE(items.graph->n == N && hn_graph_edges(items.graph) == N);
    CU_ASSERT_EQUAL(items.graph->target[items.graph->start[6]], 7);
    CU_ASSERT_EQUAL(hn_snapshot_split(s)[3], 2);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A file written from another holds the same content, and takes steps after its last.
static void test_write_from(void) {
    begin(2);
    const char *from = good_file("from.h5", HN_FLOAT16, 4), *to = in_folder("to.h5");
    put_others(from);
    char before[HN_DIGEST_TEXT], after[HN_DIGEST_TEXT];
    struct hn_snapshot *s;
    struct hn_snapshot_writer *w;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, from, &s));
    HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, before));
    HN_CHECK(&ctx, hn_snapshot_write_begin_from(&ctx, to, s, "hardneg test", &w));
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w));
    HN_CHECK(&ctx, hn_snapshot_write_begin_from(&ctx, from, s, "hardneg test", &w));
    hn_snapshot_close(&ctx, s);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, to, &s));
    HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, after));
    CU_ASSERT_STRING_EQUAL(before, after);
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->dtype, "float16");
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->title, "a title");
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->label_name[1], "dog");
    hn_snapshot_close(&ctx, s);

    float *x = rows_of(0, 9);
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 20, x, x, x), HN_DATA,
                   "does not come after step 20");
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 30, x, NULL, x), HN_DATA, "lacks view1");
    HN_CHECK(&ctx, hn_snapshot_write_step(&ctx, w, 30, x, x, x));
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w));
    HN_CHECK(&ctx, check(from));
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, from, &s));
    CU_ASSERT_TRUE(hn_snapshot_info(s)->steps == 4 && hn_snapshot_info(s)->step[3] == 30);
    hn_snapshot_close(&ctx, s);
    hid_t file = change(from);
    int64_t sample[N];
    hid_t data = H5Dopen2(file, "/sample", H5P_DEFAULT);
    H5Dread(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, sample);
    CU_ASSERT_EQUAL(sample[5], 1005);
    H5Fclose(file);
    hn_free(&ctx, x);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static int files_in_folder(void) {
    DIR *dir = opendir(folder);
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

// Rows that no reader would take are not written, and what was there before stays.
static void test_writer_refuses(void) {
    begin(2);
    int32_t labels[N];
    fill_labels(labels);
    const char *path = good_file("kept.h5", HN_FLOAT32, 0);
    int files = files_in_folder();
    struct hn_snapshot_spec spec = spec_of(labels, HN_FLOAT16, 0);
    spec.view1 = spec.view2 = false;
    const struct {
        float value;
        bool whole_row;
        const char *part;
    } bad[] = {{NAN, false, "row 4 of data set /embeddings is not finite as float16 (at most 65504) (NaN "
                            "at column 2)"},
               {1e6F, false, "infinity at column 2"},
               {0, true, "row 4 of data set /embeddings is zero"},
               {1e-9F, true, "row 4 of data set /embeddings is zero"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hn_snapshot_writer *w;
        float *x = rows_of(0, 0);
        for (int k = bad[i].whole_row ? 0 : 2; k < (bad[i].whole_row ? D : 3); k++)
            x[4 * D + k] = bad[i].value;
        HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w));
        HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 0, x, NULL, NULL), HN_DATA, bad[i].part);
        hn_snapshot_write_abort(&ctx, w);
        hn_free(&ctx, x);
    }
    struct hn_snapshot_writer *w;
    HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w));
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_end(&ctx, w), HN_DATA, "at least one step");
    labels[2] = -5;
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w), HN_DATA, "item 2 is -5");
    spec.n = 0;
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w), HN_DATA, "items");
    CU_ASSERT_EQUAL(files_in_folder(), files);
    HN_CHECK(&ctx, check(path));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_places_not_writable(void) {
    begin(1);
    int32_t labels[N];
    fill_labels(labels);
    const struct hn_snapshot_spec spec = spec_of(labels, HN_FLOAT32, 0);
    HN_CHECK_FAILS(&ctx, write_all(in_folder("none/x.h5"), &spec, 1), HN_USAGE, "No such file");
    HN_CHECK_FAILS(&ctx, write_all(folder, &spec, 1), HN_USAGE, "not a regular file");
    HN_CHECK_FAILS(&ctx, write_all("/dev/null", &spec, 1), HN_USAGE, "not a regular file");
    HN_CHECK_FAILS(&ctx, write_all("", &spec, 1), HN_USAGE, "empty");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_stop(void) {
    begin(1);
    static volatile sig_atomic_t stop = 1;
    const char *path = good_file("stop.h5", HN_FLOAT32, 0);
    ctx.stop = &stop;
    HN_CHECK_FAILS(&ctx, check(path), HN_INTERRUPTED, "interrupted");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What a memory limit refuses is refused before it is allocated.
static void test_memory_limit(void) {
    begin(1);
    const char *path = good_file("limit.h5", HN_FLOAT32, 0);
    struct hn_snapshot *s;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    ctx.memory.limit = ctx.memory.live + N * D * (int64_t)sizeof(float) / 2;
    HN_CHECK_FAILS(&ctx, hn_snapshot_load(&ctx, s, 0, &items), HN_MEMORY, "memory limit");
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static enum hn_code read_everything(const char *path) {
    struct hn_snapshot *s;
    struct hn_items items;
    char text[HN_DIGEST_TEXT];
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_load(&ctx, s, hn_snapshot_info(s)->steps - 1, &items);
    if (code == HN_OK) {
        hn_items_free(&ctx, &items);
        code = hn_snapshot_digest(&ctx, s, text);
    }
    if (code == HN_OK)
        code = hn_snapshot_validate(&ctx, s);
    hn_snapshot_close(&ctx, s);
    return code;
}

static enum hn_code copy_file(const char *path) {
    struct hn_snapshot *s;
    struct hn_snapshot_writer *w = NULL;
    char copy[PATH];
    snprintf(copy, sizeof copy, "%s/copy.h5", folder); // in_folder() would come to reuse `path`
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_write_begin_from(&ctx, copy, s, NULL, &w);
    hn_snapshot_close(&ctx, s);
    return code == HN_OK ? hn_snapshot_write_end(&ctx, w) : code;
}

// Every allocation fails once: HN_MEMORY, nothing kept, nothing left in the folder.
static void sweep(enum hn_code (*action)(const char *path), const char *path, int more_files) {
    int files = files_in_folder();
    enum hn_code code = HN_MEMORY;
    int64_t k = 0;
    while (code != HN_OK && k < 1000) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = action(path);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        if (code != HN_OK && code != HN_MEMORY) {
            fprintf(stderr, "    allocation %lld: %s\n", (long long)k, ctx.message);
            CU_FAIL("another failure than HN_MEMORY");
            break;
        }
        CU_ASSERT_EQUAL(files_in_folder(), files + (code == HN_OK ? more_files : 0));
    }
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT_TRUE(k > 10);
    ctx.memory.fail_at = 0;
}

static void test_every_allocation(void) {
    begin(1);
    const char *path = good_file("memory.h5", HN_FLOAT16, 4);
    put_others(path);
    hid_t file = change(path);
    drop(file, "/view1");
    H5Fclose(file);
    file = change(path); // its digest is no longer that of the file
    H5Adelete(file, "content_sha256");
    H5Fclose(file);
    sweep(read_everything, path, 0);
    sweep(copy_file, path, 1);
}

static char *read_file(const char *path, size_t *size) {
    struct stat about;
    CU_ASSERT_FATAL(stat(path, &about) == 0);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(bytes && file && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

// HDF5 1.10 keeps some of its own memory when a file is damaged or the disk is full. So that this is not
// taken for a leak of ours, and that a crash is one failed test, such tests run in a process of their
// own, which leaves without clean-up and says by its status whether all went well.
static void in_child(int (*action)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int faults = action();
        fflush(NULL);
        _exit(faults < 100 ? faults : 100);
    }
    int status = -1;
    CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        fprintf(stderr, "    killed by signal %d\n", WTERMSIG(status));
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

// The system refuses to write on, as a full disk does: an I/O error, the old file, no other.
static int write_to_full_disk(void) {
    begin(1);
    int32_t labels[N];
    fill_labels(labels);
    const struct hn_snapshot_spec spec = spec_of(labels, HN_FLOAT32, 0);
    const char *path = good_file("full.h5", HN_FLOAT32, 0);
    int files = files_in_folder(), failed = 0, faults = 0;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < 40000; size += 1500) {
        small = (struct rlimit){size, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        enum hn_code code = write_all(path, &spec, STEPS);
        setrlimit(RLIMIT_FSIZE, &before);
        failed += code == HN_IO;
        faults += code != HN_OK && code != HN_IO;
        faults += files_in_folder() != files || check(path) != HN_OK || ctx.memory.live != 0;
    }
    return faults + (failed < 5);
}

static void test_full_disk(void) { in_child(write_to_full_disk); }

static int64_t n_refused;

// 0 if the file is taken, or refused with its name, and nothing of ours is left open or allocated.
static int faults_of(const char *path) {
    enum hn_code code = read_everything(path);
    n_refused += code == HN_DATA;
    bool good = code == HN_OK || (code == HN_DATA && strstr(ctx.message, path));
    good = good && ctx.memory.live == 0 && ctx.memory.peak < 1 << 26;
    good = good && H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
    if (!good)
        fprintf(stderr, "    code %d: %s\n", code, ctx.message);
    return !good;
}

static int read_truncated(void) {
    begin(1);
    size_t size;
    int faults = 0;
    char *bytes = read_file(good_file("whole.h5", HN_FLOAT16, 4), &size);
    const char *path = in_folder("cut.h5");
    for (int percent = 0; percent < 100; percent++) {
        write_bytes(path, bytes, size * (size_t)percent / 100);
        faults += faults_of(path);
    }
    free(bytes);
    return faults + (n_refused != 100);
}

static void test_truncated(void) { in_child(read_truncated); }

static int read_flipped(const char *source, int flips) {
    struct hn_stream stream;
    size_t size;
    int faults = 0;
    char *bytes = read_file(source, &size);
    const char *path = in_folder("flipped.h5");
    hn_stream_open(&stream, 7, "test.flip", 0, 0, 0);
    for (int i = 0; i < flips; i++) {
        size_t at = hn_stream_below(&stream, (uint32_t)size);
        char mask = (char)(1 << hn_stream_below(&stream, 8));
        bytes[at] = (char)(bytes[at] ^ mask);
        write_bytes(path, bytes, size);
        faults += faults_of(path);
        bytes[at] = (char)(bytes[at] ^ mask);
    }
    free(bytes);
    return faults + (n_refused < flips / 20); // it did find some
}

static int flips_wanted(void) {
    const char *wanted = getenv("HN_TEST_FLIPS");
    return wanted ? atoi(wanted) : 150;
}

static int read_flipped_own(void) {
    begin(1);
    return read_flipped(good_file("flip.h5", HN_FLOAT16, 4), flips_wanted());
}

// The same values as any program with the defaults of HDF5 would store them: no checksums.
static int read_flipped_foreign(void) {
    begin(1);
    int32_t labels[N];
    fill_labels(labels);
    const hsize_t n = N, dim[] = {1, N, D};
    hid_t file;
    const char *path = in_folder("foreign.h5");
    float *x = rows_of(0, 0);
    new_file(path, true, &file);
    put_data(file, "/embeddings", H5T_IEEE_F32LE, 3, dim, H5T_NATIVE_FLOAT, x);
    put_data(file, "/view2", H5T_IEEE_F32LE, 3, dim, H5T_NATIVE_FLOAT, x);
    put_data(file, "/labels", H5T_STD_I32LE, 1, &n, H5T_NATIVE_INT32, labels);
    put_integers(file, "/step", 1, (const int64_t[]){10});
    H5Fclose(file);
    hn_free(&ctx, x);
    return read_flipped(path, flips_wanted());
}

static void test_flipped(void) {
    in_child(read_flipped_own);
    in_child(read_flipped_foreign);
}

static void test_h5_attributes(void) {
    begin(1);
    const char *path = in_folder("attributes.h5");
    hid_t file, space = H5Screate(H5S_SCALAR), fixed = H5Tcopy(H5T_C_S1);
    char *temporary, *text;
    HN_CHECK(&ctx, hn_h5_create(&ctx, path, &file, &temporary));
    HN_CHECK(&ctx, hn_h5_set_text(&ctx, file, "text", "old"));
    HN_CHECK(&ctx, hn_h5_set_text(&ctx, file, "text", "größer"));
    HN_CHECK(&ctx, hn_h5_set_text(&ctx, file, "nothing", ""));
    HN_CHECK(&ctx, hn_h5_set_int(&ctx, file, "int", -12345678901));
    HN_CHECK(&ctx, hn_h5_set_flag(&ctx, file, "flag", true));
    HN_CHECK(&ctx, hn_h5_set_real(&ctx, file, "real", 0.1));
    H5Tset_size(fixed, 6);
    H5Tset_strpad(fixed, H5T_STR_SPACEPAD);
    hid_t attribute = H5Acreate2(file, "fixed", fixed, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, fixed, "abc   ");
    H5Aclose(attribute);
    H5Tclose(fixed);
    H5Sclose(space);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    HN_CHECK(&ctx, hn_h5_commit(&ctx, file, temporary, path));
    HN_CHECK(&ctx, hn_h5_open(&ctx, path, &file));
    static const char *const want[][2] = {{"text", "größer"}, {"nothing", ""},  {"fixed", "abc"},
                                          {"flag", "1"},      {"real", "none"}, {"absent", "none"},
                                          {"int", "-12345678901"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        text = hn_h5_get_text(&ctx, file, want[i][0], "none");
        CU_ASSERT_STRING_EQUAL(text, want[i][1]);
        hn_free(&ctx, text);
    }
    CU_ASSERT_EQUAL(hn_h5_get_int(file, "int", 0), -12345678901);
    CU_ASSERT_EQUAL(hn_h5_get_int(file, "text", 5), 5);
    CU_ASSERT_EQUAL(hn_h5_get_int(file, "absent", 6), 6);
    CU_ASSERT_EQUAL(hn_h5_get_real(file, "real", 0), 0.1);
    CU_ASSERT_EQUAL(hn_h5_get_real(file, "flag", 0), 1);
    CU_ASSERT_TRUE(isnan(hn_h5_get_real(file, "text", NAN)));
    H5Fclose(file);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The texts of a file go to terminals and into JSON.
static void test_texts_are_clean(void) {
    begin(1);
    const char *path = good_file("texts.h5", HN_FLOAT32, 0);
    hid_t file = change(path);
    HN_CHECK(&ctx, hn_h5_set_text(&ctx, file, "title", "a\x1b[2Jb\xff\xc3\xa9\xe2\x82"));
    H5Fclose(file);
    struct hn_snapshot *s;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->title, "a?[2Jb?\xc3\xa9??");
    hn_snapshot_close(&ctx, s);
}

// As h5py sees the file: names, order, dimension scales, types.
static void test_h5py(void) {
    begin(1);
    const char *path = good_file("h5py.h5", HN_FLOAT16, 4);
    char command[2048], out[256];
    if (hn_fixture_run("/usr/bin/python3 -c 'import h5py' 2>/dev/null", out, sizeof out) != 0)
        hn_test_skip("python3 with h5py is not there");
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c \"import h5py\n"
             "f=h5py.File('%s','r')\n"
             "e=f['embeddings']\n"
             "assert f.attrs['schema']=='hardneg-snapshot' and f.attrs['schema_version']==1\n"
             "assert f.attrs['normalized'].dtype=='int8'\n"
             "assert e.dtype=='f2' and e.shape==(3,40,7) and e.maxshape==(None,40,7)\n"
             "assert [list(d.keys()) for d in e.dims]==[['step'],['sample'],['dim']]\n"
             "assert f['step'].attrs['units']=='optimizer_step' and list(f['step'])==[0,10,20]\n"
             "assert f['labels'].dtype=='i4' and list(f['labels'].attrs['label_names'])[:2]==['cat','dog']\n"
             "assert e.compression=='gzip' and e.shuffle\n"
             "print(float(e[2,3,4]))\" 2>&1",
             path);
    float *x = rows_of(0, 2);
    int status = hn_fixture_run(command, out, sizeof out);
    if (status != 0)
        fprintf(stderr, "%s\n", out);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(strtof(out, NULL), x[3 * D + 4]);
    hn_free(&ctx, x);
}

static void test_shared(void) {
    char path[PATH];
    begin(2);
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared series are not there");
    HN_CHECK(&ctx, check(path));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"what is written comes back", test_round_trip},
    {"the same content gives the same bytes", test_same_bytes},
    {"files that are refused", test_refused},
    {"bad rows when a step is loaded", test_bad_rows_when_loaded},
    {"files that are not there or no HDF5", test_no_file},
    {"plain matrices of every type", test_plain_matrices},
    {"the layout of ann-benchmarks", test_ann_benchmarks},
    {"positives from views and partners", test_positives},
    {"graph, split and features", test_graph_and_split},
    {"a file written from another", test_write_from},
    {"rows that are not written", test_writer_refuses},
    {"places that cannot be written", test_places_not_writable},
    {"a full disk", test_full_disk},
    {"an interrupt", test_stop},
    {"a memory limit", test_memory_limit},
    {"every allocation fails once", test_every_allocation},
    {"truncated at every hundredth", test_truncated},
    {"flipped bits", test_flipped},
    {"attributes", test_h5_attributes},
    {"texts without control characters", test_texts_are_clean},
    {"as h5py sees it", test_h5py},
    {"the shared series", test_shared},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "snapshot", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
