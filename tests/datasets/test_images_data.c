// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of binary layouts of small pictures, on files of a few records.
#include "datasets/images.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { RECORD = 3073 };
static char folder[256];

// Record r of a file: label, and pixels that tell file, record and position.
static void fill_record(int file, int r, unsigned char *record) {
    record[0] = (unsigned char)((file + 3 * r) % 10);
    for (int k = 1; k < RECORD; k++)
        record[k] = (unsigned char)(file * 50 + r * 7 + (k - 1) / 1024 * 100 + k % 31);
}

static void put(const char *name, const void *data, size_t bytes, const char *mode) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, mode);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(data, 1, bytes, f), bytes);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static void put_batch(const char *name, int file, int records) {
    unsigned char record[RECORD];
    put(name, "", 0, "wb");
    for (int r = 0; r < records; r++) {
        fill_record(file, r, record);
        put(name, record, RECORD, "ab");
    }
}

static const char names[] =
    "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";

static void put_all(void) {
    hn_fixture_folder(folder, sizeof folder);
    put_batch("data_batch_1.bin", 0, 3);
    put_batch("data_batch_2.bin", 1, 2);
    put_batch("test_batch.bin", 4, 4);
    put("batches.meta.txt", names, sizeof names - 1, "wb");
}

static void test_reads(void) {
    struct hn_context ctx;
    struct hn_images c;
    unsigned char record[RECORD];
    const int file[] = {0, 0, 0, 1, 1, 4, 4, 4, 4}, position[] = {0, 1, 2, 0, 1, 0, 1, 2, 3};
    hn_context_init(&ctx, 1);
    put_all();
    HN_CHECK(&ctx, hn_images_read(&ctx, folder, &c));
    CU_ASSERT_EQUAL(c.n, 5);
    CU_ASSERT_EQUAL(c.test, 4);
    CU_ASSERT_EQUAL(c.n_label_names, 10);
    CU_ASSERT_STRING_EQUAL(c.label_name[0], "airplane");
    CU_ASSERT_STRING_EQUAL(c.label_name[9], "truck");
    for (int i = 0; i < 9; i++) {
        fill_record(file[i], position[i], record);
        CU_ASSERT_EQUAL(c.label[i], record[0]);
        CU_ASSERT_EQUAL(memcmp(c.image + i * 3072, record + 1, 3072), 0);
    }
    hn_images_free(&ctx, &c);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The files that a task declares, and takes the digest of, are looked for in the same order.
static void test_first_layout(void) {
    struct hn_context ctx;
    struct hn_images c;
    hn_context_init(&ctx, 1);
    put_all();
    put("train.bin", "", 0, "wb");
    put("train_X.bin", "", 0, "wb");
    HN_CHECK(&ctx, hn_images_read(&ctx, folder, &c));
    CU_ASSERT_EQUAL(c.n, 5);
    hn_images_free(&ctx, &c);
    hn_fixture_remove(folder);
}

static void test_faults(void) {
    struct hn_context ctx;
    struct hn_images c;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, "/nowhere", &c), HN_DATA,
                   "/nowhere/data_batch_1.bin: cannot be opened");
    put_all();
    put("data_batch_2.bin", "abc", 3, "ab");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "data_batch_2.bin: 6149 bytes: record 2 is cut short");
    put("data_batch_2.bin", "", 0, "wb");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA, "record 0 is cut short");
    put_batch("data_batch_2.bin", 1, 2);
    unsigned char record[RECORD] = {10};
    put("test_batch.bin", record, RECORD, "ab");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "test_batch.bin: record 4 has label 10, not 0 to 9");
    put_batch("test_batch.bin", 4, 1);
    put("batches.meta.txt", "extra\n", 6, "ab");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "batches.meta.txt: line 12: a name too many; CIFAR-10 has 10");
    put("batches.meta.txt", "one\n", 4, "wb");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA, "holds 1 names");
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Two labels before the picture, of which the second counts.
static void test_cifar100(void) {
    struct hn_context ctx;
    struct hn_images c;
    unsigned char record[RECORD + 1] = {7, 99};
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int k = 2; k < RECORD + 1; k++)
        record[k] = (unsigned char)(k % 251);
    put("train.bin", record, sizeof record, "wb");
    record[1] = 3;
    put("train.bin", record, sizeof record, "ab");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA, "test.bin: cannot be opened");
    put("test.bin", record, sizeof record, "wb");
    HN_CHECK(&ctx, hn_images_read(&ctx, folder, &c));
    CU_ASSERT(c.n == 2 && c.test == 1 && c.n_label_names == 0);
    CU_ASSERT(c.label[0] == 99 && c.label[1] == 3 && c.label[2] == 3);
    CU_ASSERT_EQUAL(memcmp(c.image + HN_IMAGE_BYTES, record + 2, HN_IMAGE_BYTES), 0);
    hn_images_free(&ctx, &c);
    record[1] = 100;
    put("test.bin", record, sizeof record, "ab");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "test.bin: record 1 has label 100, not 0 to 99");
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

enum { LARGE = 96, LARGE_BYTES = 3 * LARGE * LARGE };

// Pictures of which every square of 3 x 3 pixels has a mean that tells picture, plane and position.
static void put_large(const char *name, int first, int pictures) {
    static unsigned char record[LARGE_BYTES];
    put(name, "", 0, "wb");
    for (int r = first; r < first + pictures; r++) {
        for (int c = 0; c < 3; c++)
            for (int x = 0; x < LARGE; x++)
                for (int y = 0; y < LARGE; y++)
                    record[(c * LARGE + x) * LARGE + y] =
                        (unsigned char)(10 + 20 * r + 30 * c + x / 3 + 2 * (y / 3) - (x % 3 == 0) +
                                        (y % 3 == 2));
        put(name, record, sizeof record, "ab");
    }
}

// STL-10: labels of their own from 1, pictures without any, planes of columns, means of squares.
static void test_stl10(void) {
    struct hn_context ctx;
    struct hn_images c;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    put_large("train_X.bin", 0, 2);
    put("train_y.bin", "\x01\x0a", 2, "wb");
    put_large("unlabeled_X.bin", 2, 1);
    put_large("test_X.bin", 1, 1);
    put("test_y.bin", "\x02", 1, "wb");
    HN_CHECK(&ctx, hn_images_read(&ctx, folder, &c));
    CU_ASSERT(c.n == 3 && c.test == 1);
    CU_ASSERT(c.label[0] == 0 && c.label[1] == 9 && c.label[2] == -1 && c.label[3] == 1);
    static const int picture[] = {0, 1, 2, 1};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < HN_IMAGE_BYTES; k++) {
            int plane = k / 1024, row = k / 32 % 32, column = k % 32;
            CU_ASSERT_EQUAL(c.image[i * HN_IMAGE_BYTES + k],
                            (unsigned char)(10 + 20 * picture[i] + 30 * plane + column + 2 * row));
        }
    hn_images_free(&ctx, &c);
    put("train_y.bin", "\x01", 1, "wb");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "train_y.bin: holds 1 labels for 2 images");
    put("train_y.bin", "\x01\x00", 2, "wb");
    HN_CHECK_FAILS(&ctx, hn_images_read(&ctx, folder, &c), HN_DATA,
                   "train_y.bin: record 1 has label 0, not 1 to 10");
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    struct hn_images c;
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    put_all();
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        code = hn_images_read(&ctx, folder, &c);
        CU_ASSERT(code == HN_OK || (code == HN_MEMORY && ctx.memory.live == 0));
    } while (code != HN_OK && points < 100);
    CU_ASSERT(points > 10 && points < 100);
    hn_images_free(&ctx, &c);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"reads", test_reads},   {"first layout", test_first_layout},
    {"faults", test_faults}, {"cifar100", test_cifar100},
    {"stl10", test_stl10},   {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("images_data", tests)
