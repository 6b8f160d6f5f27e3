// SPDX-License-Identifier: GPL-3.0-or-later
// A teacher's rows and groups in a snapshot: read and made unit length, fixed or a step at a time,
// digested, written, carried along, and refused where they do not fit.
#include "core/digest.h"
#include "tests/snapshot_fixture.h"

enum { WIDE = 5 };

static void fill(float *teacher, int64_t steps) {
    for (int64_t i = 0; i < steps * N * WIDE; i++)
        teacher[i] = (float)((7 * i + i / WIDE) % 11 + 1);
}

static void put_teacher(const char *path, int rank, hsize_t steps, hsize_t n, const float *value) {
    const hsize_t three[] = {steps, n, WIDE}, two[] = {n, WIDE};
    hid_t file = change(path);
    put_data(file, "/teacher", H5T_IEEE_F32LE, rank, rank == 3 ? three : two, H5T_NATIVE_FLOAT,
             value);
    H5Fclose(file);
}

static void put_groups(const char *path, hsize_t n, int64_t of_third) {
    int64_t group[N];
    for (int i = 0; i < N; i++)
        group[i] = i % 3;
    group[2] = of_third;
    hid_t file = change(path);
    put_integers(file, "/group", n, group);
    H5Fclose(file);
}

// Step `index` of the file against value[N x WIDE], made unit length here.
static void check_step(const char *path, int64_t index, const float *value) {
    struct hn_snapshot *s;
    struct hn_items items;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->teacher_d, WIDE);
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, index, &items));
    CU_ASSERT_EQUAL(items.teacher.rows, N);
    CU_ASSERT_EQUAL(items.teacher.cols, WIDE);
    for (int64_t i = 0; i < N; i++) {
        double square = 0;
        for (int k = 0; k < WIDE; k++)
            square += (double)value[i * WIDE + k] * (double)value[i * WIDE + k];
        for (int k = 0; k < WIDE; k++)
            CU_ASSERT_DOUBLE_EQUAL(hn_row(&items.teacher, i)[k],
                                   (double)value[i * WIDE + k] / sqrt(square), 1e-7);
    }
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
}

static void test_teacher(void) {
    begin(2);
    float value[STEPS * N * WIDE];
    fill(value, STEPS);
    const char *path = good_file("teacher.h5", HN_FLOAT16, 0);
    put_teacher(path, 2, 1, N, value); // fixed
    for (int64_t s = 0; s < STEPS; s++)
        check_step(path, s, value);
    put_teacher(path, 3, 1, N, value);
    check_step(path, 1, value);
    put_teacher(path, 3, STEPS, N, value); // of its own at every step
    for (int64_t s = 0; s < STEPS; s++)
        check_step(path, s, value + s * N * WIDE);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_groups(void) {
    begin(1);
    struct hn_snapshot *s;
    struct hn_items items;
    const char *path = good_file("groups.h5", HN_FLOAT32, 0);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &items));
    CU_ASSERT_TRUE(!hn_snapshot_info(s)->group && !items.group && !items.teacher.data);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    put_groups(path, N, 2);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &items));
    CU_ASSERT_TRUE_FATAL(hn_snapshot_info(s)->group && items.group);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(items.group[i], i % 3);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void refused(const char *path, const char *said) {
    enum hn_code code = check(path);
    CU_ASSERT_EQUAL(code, HN_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, said));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_faults(void) {
    begin(1);
    float value[STEPS * N * WIDE];
    fill(value, STEPS);
    const char *path = good_file("faults.h5", HN_FLOAT32, 0);
    put_teacher(path, 2, 1, N - 1, value);
    refused(path, "/teacher has 39 values for 40 items");
    put_teacher(path, 3, STEPS - 1, N, value);
    refused(path,
            "/teacher is [2, 40, 5]; it must have one dimension or more, and 1 step or the 3");
    value[(N + 3) * WIDE + 1] = NAN;
    put_teacher(path, 3, STEPS, N, value);
    refused(path, "/teacher, step 10 (snapshot 2 of 3), row 3");
    hid_t file = change(path);
    const hsize_t one = N;
    put_data(file, "/teacher", H5T_IEEE_F32LE, 1, &one, H5T_NATIVE_FLOAT, value);
    H5Fclose(file);
    refused(path, "/teacher has the wrong rank: 1");
    file = change(path);
    drop(file, "/teacher");
    H5Fclose(file);
    put_groups(path, N - 1, 2);
    refused(path, "/group has 39 values for 40 items");
    put_groups(path, N, -1);
    refused(path, "/group, index 2: the value -1 is out of range");
}

// Both are content: they are digested, and a file that goes on from another one has them.
static void test_carried(void) {
    begin(2);
    char text[3][HN_DIGEST_TEXT];
    float value[N * WIDE];
    int32_t group[N];
    struct hn_snapshot *s;
    struct hn_snapshot_writer *w;
    fill(value, 1);
    for (int i = 0; i < N; i++)
        group[i] = i % 3;
    const struct hn_matrix teacher = {value, N, WIDE, WIDE};
    const char *path = good_file("from.h5", HN_FLOAT32, 0), *next = in_folder("next.h5");
    for (int turn = 0; turn < 3; turn++) {
        HN_CHECK(&ctx, hn_snapshot_open(&ctx, turn == 2 ? next : path, &s));
        HN_CHECK(&ctx, hn_snapshot_digest_checked(&ctx, s, text[turn]));
        if (turn == 2) {
            CU_ASSERT_PTR_NOT_NULL(hn_snapshot_info(s)->group);
            hn_snapshot_close(&ctx, s);
            break;
        }
        HN_CHECK(&ctx, hn_snapshot_write_begin_from(&ctx, next, s, "hardneg test", &w));
        enum hn_code code = hn_snapshot_write_teacher(&ctx, w, &teacher);
        HN_CHECK(&ctx, code);
        code = hn_snapshot_write_teacher(&ctx, w, &teacher);
        CU_ASSERT_EQUAL(code, HN_USAGE); // it has one
        HN_CHECK(&ctx, hn_snapshot_write_groups(&ctx, w, group));
        HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
        hn_snapshot_close(&ctx, s);
    }
    CU_ASSERT_STRING_EQUAL(text[0], text[1]);
    CU_ASSERT(strcmp(text[0], text[2]) != 0);
    check_step(next, STEPS - 1, value);
    const char *last = in_folder("last.h5");
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, next, &s));
    HN_CHECK(&ctx, hn_snapshot_write_begin_from(&ctx, last, s, "hardneg test", &w));
    HN_CHECK(&ctx, hn_snapshot_write_end(&ctx, w, HN_OK));
    hn_snapshot_close(&ctx, s);
    check_step(last, 0, value);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, last, &s));
    HN_CHECK(&ctx, hn_snapshot_digest(&ctx, s, text[0]));
    CU_ASSERT_STRING_EQUAL(text[0], text[2]);
    hn_snapshot_close(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"a teacher's rows", test_teacher},
    {"groups", test_groups},
    {"what does not fit", test_faults},
    {"carried along and digested", test_carried},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status =
        hn_test_main(argc, argv, "snapshot_teacher", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
