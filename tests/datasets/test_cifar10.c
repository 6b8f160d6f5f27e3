// The reader of CIFAR-10's binary layout, on files of a few records.
#include "datasets/cifar10.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { RECORD = 3073 };
static char folder[256];

// Record r of a file: label, and pixels that tell file, record and place.
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
    struct hn_cifar10 c;
    unsigned char record[RECORD];
    const int file[] = {0, 0, 0, 1, 1, 4, 4, 4, 4}, place[] = {0, 1, 2, 0, 1, 0, 1, 2, 3};
    hn_context_init(&ctx, 1);
    put_all();
    HN_CHECK(&ctx, hn_cifar10_read(&ctx, folder, &c));
    CU_ASSERT_EQUAL(c.n, 5);
    CU_ASSERT_EQUAL(c.test, 4);
    CU_ASSERT_EQUAL(c.n_label_names, 10);
    CU_ASSERT_STRING_EQUAL(c.label_name[0], "airplane");
    CU_ASSERT_STRING_EQUAL(c.label_name[9], "truck");
    for (int i = 0; i < 9; i++) {
        fill_record(file[i], place[i], record);
        CU_ASSERT_EQUAL(c.label[i], record[0]);
        CU_ASSERT_EQUAL(memcmp(c.image + i * 3072, record + 1, 3072), 0);
    }
    hn_cifar10_free(&ctx, &c);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_faults(void) {
    struct hn_context ctx;
    struct hn_cifar10 c;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, "/nowhere", &c), HN_DATA,
                   "/nowhere/data_batch_1.bin: cannot be opened");
    put_all();
    put("data_batch_2.bin", "abc", 3, "ab");
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, folder, &c), HN_DATA,
                   "data_batch_2.bin: 6149 bytes: record 2 is cut short");
    put("data_batch_2.bin", "", 0, "wb");
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, folder, &c), HN_DATA, "record 0 is cut short");
    put_batch("data_batch_2.bin", 1, 2);
    unsigned char record[RECORD] = {10};
    put("test_batch.bin", record, RECORD, "ab");
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, folder, &c), HN_DATA,
                   "test_batch.bin: record 4 begins with label 10");
    put_batch("test_batch.bin", 4, 1);
    put("batches.meta.txt", "extra\n", 6, "ab");
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, folder, &c), HN_DATA,
                   "batches.meta.txt: line 12: an eleventh name");
    put("batches.meta.txt", "one\n", 4, "wb");
    HN_CHECK_FAILS(&ctx, hn_cifar10_read(&ctx, folder, &c), HN_DATA, "holds 1 names");
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    struct hn_cifar10 c;
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    put_all();
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        code = hn_cifar10_read(&ctx, folder, &c);
        CU_ASSERT(code == HN_OK || (code == HN_MEMORY && ctx.memory.live == 0));
    } while (code != HN_OK && points < 100);
    CU_ASSERT(points > 10 && points < 100);
    hn_cifar10_free(&ctx, &c);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"reads", test_reads},
    {"faults", test_faults},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("cifar10", tests)
