// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshot files: what is written comes back, in every type and layout that is accepted.
#include "core/digest.h"
#include "tests/snapshot_fixture.h"

#include <stdlib.h>
#include <unistd.h>

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
            CU_ASSERT_STRING_EQUAL(info->about.title, "a title");
            CU_ASSERT_STRING_EQUAL(info->about.source, "");
            CU_ASSERT_STRING_EQUAL(info->layout, "hardneg-snapshot");
            CU_ASSERT_TRUE(info->classes == 3 && info->unlabelled == N / 4 && info->steps == STEPS);
            CU_ASSERT_TRUE(info->n_label_names == 3 && info->normalized);
            CU_ASSERT_STRING_EQUAL(info->label_name[2], names[2]);
            CU_ASSERT_EQUAL(hn_snapshot_info(s)->labels[5], 0);
            CU_ASSERT_PTR_NULL(hn_snapshot_info(s)->split);
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
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->labels[N - 1], -1);
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
    ctx.notes.to = count_note;
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
    load_first(path, &s,
               &items); // the second view goes before /positive, and x stands for the first
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
        CU_ASSERT_EQUAL(
            memcmp(hn_row(&items.x2, i), hn_row(&items.x, partner[i]), D * sizeof(float)), 0);
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

static void test_graph_and_split(void) {
    begin(1);
    const char *path = good_file("graph.h5", HN_FLOAT32, 0);
    put_others(path);
    struct hn_snapshot *s;
    struct hn_items items;
    load_first(path, &s, &items);
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    CU_ASSERT_TRUE(info->has_graph && info->split && info->has_features && info->has_positive);
    CU_ASSERT_PTR_NOT_NULL_FATAL(items.graph);
    CU_ASSERT_TRUE(items.graph->n == N && hn_graph_edges(items.graph) == N);
    CU_ASSERT_EQUAL(items.graph->target[items.graph->start[6]], 7);
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->split[3], 2);
    // Unit rows, but for the first, which is zero and stays so.
    CU_ASSERT_FATAL(items.features && items.features->p == 2 && items.features->dense.data);
    CU_ASSERT_DOUBLE_EQUAL(hn_row(&items.features->dense, 0)[1], 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(hn_row(&items.features->dense, N - 1)[1], sqrt(0.5), 1e-7);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A graph and dense features go through a file, compressed or not.
static void test_write_features(void) {
    begin(2);
    float x[N * D], feature[N * 3];
    int64_t start[N + 1], target64[N];
    int32_t target[N], labels[N];
    ring_starts(start, target64);
    for (int i = 0; i < N; i++) {
        target[i] = (int32_t)target64[i];
        labels[i] = i % 3;
        for (int k = 0; k < 3; k++)
            feature[3 * i + k] = (float)(i % 4 == k);
    }
    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i % 5 + 1);
    const struct hn_graph graph = {.n = N, .start = start, .target = target};
    const struct hn_features features = {.n = N, .p = 3, .dense = {feature, N, 3, 3}};
    for (int compress = 0; compress < 2; compress++) {
        const struct hn_snapshot_spec spec = {.n = N,
                                              .d = D,
                                              .labels = labels,
                                              .graph = &graph,
                                              .features = &features,
                                              .type = HN_FLOAT32,
                                              .compress = compress};
        const char *path = in_folder("features.h5");
        struct hn_snapshot_writer *w;
        struct hn_snapshot *s;
        struct hn_items items;
        HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w));
        HN_CHECK(&ctx, hn_snapshot_write_step(&ctx, w, 0, x, NULL, NULL));
        HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
        load_first(path, &s, &items);
        CU_ASSERT_FATAL(items.graph && items.features && items.features->dense.data);
        CU_ASSERT_EQUAL(memcmp(items.graph->target, target, sizeof target), 0);
        CU_ASSERT_EQUAL(memcmp(items.graph->start, start, sizeof start), 0);
        CU_ASSERT_EQUAL(memcmp(items.features->dense.data, feature, sizeof feature), 0);
        hn_items_free(&ctx, &items);
        hn_snapshot_close(&ctx, s);
    }
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
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
    HN_CHECK(&ctx, hn_snapshot_write_begin_from(&ctx, from, s, "hardneg test", &w));
    hn_snapshot_close(&ctx, s);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, to, &s));
    HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, after));
    CU_ASSERT_STRING_EQUAL(before, after);
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->dtype, "float16");
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->about.title, "a title");
    CU_ASSERT_STRING_EQUAL(hn_snapshot_info(s)->label_name[1], "dog");
    hn_snapshot_close(&ctx, s);

    float *x = rows_of(0, 9);
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 20, x, x, x), HN_DATA,
                   "does not come after step 20");
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 30, x, NULL, x), HN_DATA, "lacks view1");
    HN_CHECK(&ctx, hn_snapshot_write_step(&ctx, w, 30, x, x, x));
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
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
    } bad[] = {{NAN, false,
                "row 4 of data set /embeddings is not finite as float16 (at most 65504) (NaN "
                "at column 2)"},
               {1e6F, false, "infinity at column 2"},
               {0, true, "row 4 of data set /embeddings is all zeros"},
               {1e-9F, true, "row 4 of data set /embeddings is all zeros"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hn_snapshot_writer *w;
        float *x = rows_of(0, 0);
        for (int k = bad[i].whole_row ? 0 : 2; k < (bad[i].whole_row ? D : 3); k++)
            x[4 * D + k] = bad[i].value;
        HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w));
        HN_CHECK_FAILS(&ctx, hn_snapshot_write_step(&ctx, w, 0, x, NULL, NULL), HN_DATA,
                       bad[i].part);
        CU_ASSERT_EQUAL(hn_snapshot_write_end(&ctx, w, HN_DATA), HN_DATA);
        hn_free(&ctx, x);
    }
    struct hn_snapshot_writer *w;
    HN_CHECK(&ctx, hn_snapshot_write_begin(&ctx, path, &spec, &w));
    HN_CHECK_FAILS(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK), HN_DATA, "at least one step");
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

static int64_t int_of(hid_t file, const char *name, int64_t fallback) {
    int64_t value;
    HN_CHECK(&ctx, hn_h5_get_int(&ctx, file, name, fallback, &value));
    return value;
}

static double real_of(hid_t file, const char *name, double fallback) {
    double value;
    HN_CHECK(&ctx, hn_h5_get_real(&ctx, file, name, fallback, &value));
    return value;
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
    HN_CHECK(&ctx, hn_h5_commit(&ctx, file, temporary, path, false));
    HN_CHECK(&ctx, hn_h5_open(&ctx, path, &file));
    static const char *const want[][2] = {
        {"text", "größer"}, {"nothing", ""},    {"fixed", "abc"},       {"flag", "1"},
        {"real", "none"},   {"absent", "none"}, {"int", "-12345678901"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        text = hn_h5_get_text(&ctx, file, want[i][0], "none");
        CU_ASSERT_STRING_EQUAL(text, want[i][1]);
        hn_free(&ctx, text);
    }
    CU_ASSERT_EQUAL(int_of(file, "int", 0), -12345678901);
    CU_ASSERT_EQUAL(int_of(file, "text", 5), 5);
    CU_ASSERT_EQUAL(int_of(file, "absent", 6), 6);
    CU_ASSERT_EQUAL(real_of(file, "real", 0), 0.1);
    CU_ASSERT_EQUAL(real_of(file, "flag", 0), 1);
    CU_ASSERT_TRUE(isnan(real_of(file, "text", NAN)));
    H5Fclose(file);
    // One that cannot be read is not one that is absent.
    int64_t whole;
    double real;
    CU_ASSERT_PTR_NULL(hn_h5_get_text(&ctx, file, "text", "none"));
    CU_ASSERT_EQUAL(hn_h5_get_int(&ctx, file, "int", 0, &whole), HN_DATA);
    CU_ASSERT_EQUAL(hn_h5_get_real(&ctx, file, "real", 0, &real), HN_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "attribute real cannot be read"));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
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
             "assert f['labels'].dtype=='i4' and "
             "list(f['labels'].attrs['label_names'])[:2]==['cat','dog']\n"
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
    {"plain matrices of every type", test_plain_matrices},
    {"the layout of ann-benchmarks", test_ann_benchmarks},
    {"positives from views and partners", test_positives},
    {"graph, split and features", test_graph_and_split},
    {"features that are written", test_write_features},
    {"a file written from another", test_write_from},
    {"rows that are not written", test_writer_refuses},
    {"places that cannot be written", test_places_not_writable},
    {"an interrupt", test_stop},
    {"a memory limit", test_memory_limit},
    {"attributes", test_h5_attributes},
    {"as h5py sees it", test_h5py},
    {"the shared series", test_shared},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "snapshot", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
