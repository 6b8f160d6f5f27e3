// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshot files that are refused: what is wrong is named with its position.
#include "tests/snapshot_fixture.h"

static void no_labels(hid_t f) { drop(f, "/labels"); }
static void no_step(hid_t f) { drop(f, "/step"); }
static void no_embeddings(hid_t f) { drop(f, "/embeddings"); }
static void wrong_schema(hid_t f) { (void)!hn_h5_set_text(&ctx, f, "schema", "hardneg-results"); }
static void other_schema(hid_t f) { (void)!hn_h5_set_text(&ctx, f, "schema", "mine"); }
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
static void level_steps(hid_t f) { put_integers(f, "/step", STEPS, (const int64_t[]){0, 10, 10}); }
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
// Two features of every item but the last, in the given order.
static void put_sparse(hid_t f, int64_t first, int64_t second, const float *value, hsize_t values) {
    int64_t start[N + 1], index[2 * N];
    for (int i = 0; i < N; i++) {
        start[i] = 2 * i;
        index[2 * i] = first;
        index[2 * i + 1] = second;
    }
    start[N] = 2 * N;
    H5Gclose(H5Gcreate2(f, "/features_csr", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_integers(f, "/features_csr/indptr", N + 1, start);
    put_integers(f, "/features_csr/indices", 2 * N, index);
    if (value)
        put_data(f, "/features_csr/data", H5T_IEEE_F32LE, 1, &values, H5T_NATIVE_FLOAT, value);
}
// Item 0 has the label `first`, the others have none.
static void put_label_rows(hid_t f, int64_t first) {
    int64_t start[N + 1] = {0};
    for (int i = 1; i <= N; i++)
        start[i] = 1;
    H5Gclose(H5Gcreate2(f, "/labels_csr", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_integers(f, "/labels_csr/indptr", N + 1, start);
    put_integers(f, "/labels_csr/indices", 1, &first);
}
static void two_labels(hid_t f) { put_label_rows(f, 0); }
static void negative_label(hid_t f) {
    H5Ldelete(f, "/labels", H5P_DEFAULT);
    put_label_rows(f, -1);
}
static void half_labels(hid_t f) {
    negative_label(f);
    H5Ldelete(f, "/labels_csr/indptr", H5P_DEFAULT);
}
static void falling_features(hid_t f) { put_sparse(f, 3, 2, NULL, 0); }
static void repeated_feature(hid_t f) { put_sparse(f, 3, 3, NULL, 0); }
static void far_feature(hid_t f) { put_sparse(f, 3, 1 << 25, NULL, 0); }
static void few_features(hid_t f) {
    const float value[2 * N] = {0};
    put_sparse(f, 2, 3, value, 2 * N - 1);
}
static void endless_feature(hid_t f) {
    float value[2 * N] = {0};
    value[5] = NAN;
    put_sparse(f, 2, 3, value, 2 * N);
}
static void two_features(hid_t f) {
    const hsize_t n[] = {N, 2};
    const float v[N * 2] = {0};
    put_data(f, "/features", H5T_IEEE_F32LE, 2, n, H5T_NATIVE_FLOAT, v);
    put_sparse(f, 2, 3, NULL, 0);
}
static void short_features(hid_t f) {
    const hsize_t n[] = {N - 1, 2};
    const float v[N * 2] = {0};
    put_data(f, "/features", H5T_IEEE_F32LE, 2, n, H5T_NATIVE_FLOAT, v);
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
        {wrong_schema, "holds results of hardneg run, and is no snapshot"},
        {other_schema, "the attribute schema is \"mine\""},
        {newer_schema, "schema_version is 2"},
        {few_labels, "39 values for 40 items"},
        {low_label, "index 7: the value -2 is out of range"},
        {high_label, "index 9: the value 2147483648 is out of range"},
        {real_labels, "does not hold integers"},
        {square_labels, "wrong rank: 2"},
        {level_steps, "does not increase: 10 at index 2 follows 10"},
        {negative_step, "index 0: the value -1"},
        {few_steps, "2 values for 3 steps"},
        {far_partner, "/positive, index 0: the value 40 is out of range"},
        {own_partner, "row 1 is its own partner"},
        {bad_split, "/split, index 1: the value 3"},
        {far_edge, "/graph/indices, index 3: the value 40"},
        {falling_starts, "/graph/indptr decreases at index 4"},
        {short_starts, "/graph/indptr goes from 0 to 39"},
        {no_starts, "one of /graph/indptr and /graph/indices is missing"},
        {flat_features, "/features has the wrong rank: 1"},
        {short_features, "/features has 39 values for 40 items"},
        {falling_features, "/features_csr/indices, row 0 does not ascend"},
        {repeated_feature, "/features_csr/indices, row 0 does not ascend"},
        {far_feature, "/features_csr/indices, index 1: the value 33554432"},
        {few_features, "/features_csr/data has 79 values for 80 indices"},
        {endless_feature, "/features_csr/data, row 2 is not finite"},
        {two_features, "store one of them"},
        {two_labels, "both /labels and /labels_csr"},
        {negative_label, "/labels_csr/indices, index 0: the value -1 is out of range"},
        {half_labels, "one of /labels_csr/indptr and /labels_csr/indices is missing"},
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
        {one_nan, "data set /embeddings, step 20 (snapshot 3 of 3), row 17 is not finite (NaN at "
                  "column 3)"},
        {one_infinity, "step 0 (snapshot 1 of 3), row 5 is not finite (infinity at column 6)"},
        {one_zero_row, "step 10 (snapshot 2 of 3), row 11 is all zeros"},
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
    HN_CHECK_FAILS(&ctx, hn_snapshot_load(&ctx, s, 3, &items), HN_INTERNAL, "index 3");
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_no_file(void) {
    begin(1);
    FILE *file = fopen(in_folder("text.h5"), "w");
    fputs("no HDF5 at all\n", file);
    fclose(file);
    HN_CHECK_FAILS(&ctx, check(in_folder("none.h5")), HN_DATA, "No such file");
    HN_CHECK_FAILS(&ctx, check(folder), HN_DATA, "is a folder");
    HN_CHECK_FAILS(&ctx, check(in_folder("text.h5")), HN_DATA, "is not an HDF5 file");
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
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->about.title, "a?[2Jb?\xc3\xa9??");
    hn_snapshot_close(&ctx, s);
}

static void keep_note(void *data, const char *text) { snprintf(data, PATH, "%s", text); }

// Names are used if each label has one: labels go up to 2 here.
static void test_names_of_some_labels(void) {
    int32_t labels[N];
    char note[PATH] = "";
    begin(1);
    ctx.notes = (struct hn_notes){.to = keep_note, .data = note};
    fill_labels(labels);
    struct hn_snapshot_spec spec = spec_of(labels, HN_FLOAT32, 0);
    for (int named = 3; named >= 2; named--) {
        struct hn_snapshot *s;
        spec.n_label_names = named;
        HN_CHECK(&ctx, write_all(in_folder("named.h5"), &spec, 1));
        HN_CHECK(&ctx, hn_snapshot_open(&ctx, in_folder("named.h5"), &s));
        CU_ASSERT_EQUAL(hn_snapshot_info(s)->n_label_names, named == 3 ? 3 : 0);
        const char *said = strstr(note, "has 2 names but labels go up to 2; names are not used");
        CU_ASSERT_EQUAL(said != NULL, named == 2);
        CU_ASSERT_EQUAL(*note != '\0', named == 2);
        hn_snapshot_close(&ctx, s);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"files that are refused", test_refused},
    {"names of some labels", test_names_of_some_labels},
    {"bad rows when a step is loaded", test_bad_rows_when_loaded},
    {"files that are not there or no HDF5", test_no_file},
    {"texts without control characters", test_texts_are_clean},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status =
        hn_test_main(argc, argv, "snapshot_bad", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
