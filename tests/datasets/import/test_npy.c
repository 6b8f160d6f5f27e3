// SPDX-License-Identifier: GPL-3.0-or-later
// NumPy files and 16-bit floats.
#include "datasets/half.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/npy.h"
#include "datasets/import/npy_write.h"
#include "datasets/import/source.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 256, FILE_MAX = 4096 };

static char folder[PATH];

static enum hn_code read_npy(struct hn_context *ctx, const char *path, bool labels,
                             struct hn_array *a) {
    const struct hn_wanted any = {.labels = labels};
    struct hn_source s;
    *a = (struct hn_array){.rank = 0};
    bool good = !hn_source_open(ctx, path, &s) && !hn_format_npy.read(ctx, &s, &any, a);
    hn_source_close(&s);
    return good ? HN_OK : ctx->code;
}

// A file of format version `version` with the given header and values.
static void write_npy(char path[PATH], int version, const char *header, const void *data,
                      size_t bytes) {
    unsigned char head[12] = "\x93NUMPY";
    size_t length = strlen(header), field = version == 1 ? 2 : 4;
    head[6] = (unsigned char)version;
    for (size_t i = 0; i < field; i++)
        head[8 + i] = (unsigned char)(length >> (8 * i));
    snprintf(path, PATH, "%.200s/a.npy", folder);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite(head, 1, 8 + field, file);
    fwrite(header, 1, length, file);
    fwrite(data, 1, bytes, file);
    fclose(file);
}

static enum hn_code read_header(struct hn_context *ctx, int version, const char *header,
                                size_t bytes) {
    char path[PATH];
    static const char zeros[FILE_MAX];
    struct hn_array a;
    write_npy(path, version, header, zeros, bytes);
    HN_SCOPE(ctx);
    enum hn_code code = read_npy(ctx, path, true, &a);
    if (code != HN_OK)
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx->message, path));
    return code;
}

// value[3] = 1, 2, -3 (or 3 if unsigned, 1 if bool) of `width` bytes in the given order.
static void put_integers(unsigned char *raw, int width, bool big, const int64_t *value) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < width; k++)
            raw[i * width + (big ? width - 1 - k : k)] = (unsigned char)(value[i] >> (8 * k));
}

static void test_integers(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static const char *const types[] = {"|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8",
                                        "|u1", "<u2", ">u2", "<u4", ">u4", "|b1"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char *type = types[t];
        int64_t value[] = {1, 100, -3};
        int width = type[2] - '0';
        if (type[1] != 'i')
            value[2] = type[1] == 'b' ? 0 : (int64_t)(UINT64_MAX >> (64 - 8 * width));
        unsigned char raw[192] = {0};
        char path[PATH], header[128];
        put_integers(raw, width, type[0] == '>', value);
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }\n", type);
        write_npy(path, 1, header, raw, (size_t)(3 * width));
        struct hn_array a;
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
        CU_ASSERT_EQUAL(a.rank, 1);
        CU_ASSERT_EQUAL(a.shape[0], 3);
        CU_ASSERT_PTR_NULL(a.real);
        CU_ASSERT_EQUAL(memcmp(a.integer, value, sizeof value), 0);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_floats(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const float want[] = {1.5F, -0.25F, 1024.0F, 0.0F};
    const double wide[] = {1.5, -0.25, 1024, 0};
    const uint16_t half[] = {0x3e00, 0xb400, 0x6400, 0};
    const void *const data[] = {half, want, wide};
    static const char *const types[] = {"f2", "f4", "f8"};
    for (int t = 0; t < 3; t++)
        for (int big = 0; big < 2; big++) {
            size_t width = (size_t)2 << t;
            unsigned char raw[32];
            for (size_t i = 0; i < 4 * width; i++) {
                size_t k = i % width;
                raw[i] = ((const unsigned char *)data[t])[i - k + (big ? width - 1 - k : k)];
            }
            char path[PATH], header[128];
            snprintf(header, sizeof header,
                     "{\"shape\":(2, 2),\"descr\": \"%c%s\", "
                     "\"fortran_order\" : False}",
                     big ? '>' : '<', types[t]);
            write_npy(path, 2 + big, header, raw, 4 * width);
            struct hn_array a;
            HN_SCOPE(&ctx);
            HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
            CU_ASSERT_EQUAL(a.rank, 2);
            CU_ASSERT_TRUE(a.shape[0] == 2 && a.shape[1] == 2);
            CU_ASSERT_PTR_NULL(a.integer);
            CU_ASSERT_EQUAL(memcmp(a.real, want, sizeof want), 0);
        }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Values in Fortran order, of bfloat16, unsigned ones of 64 bits, and whole floats.
static void test_shapes_of_others(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_array a;
    char path[PATH];
    const int8_t columns[] = {1, 2, 3, -4, 5, -6};
    const float rows[] = {1, -4, 2, 5, 3, -6};
    HN_SCOPE(&ctx);
    write_npy(path, 1, "{'descr': '|i1', 'fortran_order': True, 'shape': (3, 2)}", columns, 6);
    HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
    CU_ASSERT(a.shape[0] == 3 && a.shape[1] == 2 && memcmp(a.real, rows, sizeof rows) == 0);
    const double wide[] = {1e-300, 2, 3e-300, -4, 0, 6}; // row 0 is scaled, row 1 is not
    write_npy(path, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}", wide,
              sizeof wide);
    HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
    CU_ASSERT_DOUBLE_EQUAL(a.real[1] / a.real[0], 3, 1e-6);
    CU_ASSERT(a.real[0] > 0.1F && a.real[0] < 1 && a.real[2] == 0);
    CU_ASSERT(a.real[3] == 2 && a.real[4] == -4 && a.real[5] == 6);
    const uint16_t brain[] = {0x3fc0, 0xc000};
    write_npy(path, 1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1, 2)}", brain,
              sizeof brain);
    HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
    CU_ASSERT(a.real[0] == 1.5F && a.real[1] == -2);
    write_npy(path, 1, "{'descr': '=f4', 'fortran_order': True, 'shape': (2,)}", rows, 8);
    HN_CHECK_FAILS(&ctx, read_npy(&ctx, path, false, &a), HN_DATA, "has 1 dimension");
    write_npy(path, 1, "{'descr': '=f4', 'fortran_order': False, 'shape': (1, 2)}", rows, 8);
    HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
    CU_ASSERT(a.real[0] == 1 && a.real[1] == -4);
    write_npy(path, 1, "{'descr': '>S2', 'fortran_order': False, 'shape': (2,)}", "abc", 4);
    HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
    CU_ASSERT(strcmp(a.text[0], "ab") == 0 && strcmp(a.text[1], "c") == 0);
    const uint64_t large[] = {UINT64_MAX, 7};
    write_npy(path, 1, "{'descr': '<u8', 'fortran_order': False, 'shape': (2, 1)}", large,
              sizeof large);
    HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
    CU_ASSERT(a.rank == 1 && a.above && a.integer[0] == -1 && a.integer[1] == 7);
    const double whole[] = {16777217, NAN, -0.0, 0.5};
    write_npy(path, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", whole, 24);
    HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
    CU_ASSERT(a.integer[0] == 16777217 && a.integer[1] == -1 && a.integer[2] == 0);
    write_npy(path, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", whole, 32);
    HN_CHECK_FAILS(&ctx, read_npy(&ctx, path, true, &a), HN_DATA,
                   "label 0.5 of row 3 is not a whole number");
}

// Rows whose length float32 does not hold keep their direction; others keep their values.
static void test_scaled(void) {
    const double value[][3] = {{1e200, -2e200, 0},  {3e-320, 0, 4e-320}, {1e-45, 0, 0},
                               {3e38, 3e38, -3e38}, {1e-20, 1e20, 5},    {0, 0, 0},
                               {1, INFINITY, 1e-50}};
    for (int i = 0; i < 7; i++) {
        float row[3];
        hn_row_of_doubles(value[i], 3, row);
        for (int k = 1; k < 3 && i < 5; k++)
            CU_ASSERT_DOUBLE_EQUAL(row[k] / row[0], value[i][k] / value[i][0],
                                   1e-6 * fabs(row[k] / row[0]));
        CU_ASSERT(i >= 4 || (row[0] > 0x1p-100F && row[0] < 0x1p100F));
        CU_ASSERT(i < 4 || row[0] == (float)value[i][0]);
    }
}

static void test_refused(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
#define HEADER(type, fortran, shape)                                                               \
    "{'descr': " type ", 'fortran_order': " fortran ", 'shape': " shape "}"
    const struct {
        int version;
        const char *header;
        size_t bytes;
        const char *part;
    } bad[] = {
        {1, HEADER("'<f4'", "True", "(2, 2)"), 16, "of 2 dimensions"},
        {1, HEADER("'<c8'", "False", "(2,)"), 16, "'<c8'"},
        {1, HEADER("'|V1'", "False", "(2,)"), 2, "'|V1'"},
        {1, HEADER("'|O'", "False", "(2,)"), 16, "'|O'"},
        {1, HEADER("[('a', '<f4')]", "False", "(2,)"), 8, "plain array"},
        {1, HEADER("'<f4'", "Perhaps", "(2,)"), 8, "plain array"},
        {1, HEADER("'<f4'", "False", "()"), 4, "plain array"},
        {1, HEADER("'<f4'", "False", "(1, 1, 1, 1, 1)"), 4, "plain array"},
        {1, HEADER("'<f4'", "False", "(-1,)"), 4, "plain array"},
        {1, HEADER("'<f4'", "False", "(2"), 8, "plain array"},
        {1, HEADER("'<i4'", "False", "(3,)"), 8, "asks for another"},
        {1, HEADER("'<f4'", "False", "(1,)"), 8, "asks for another"},
        {1, HEADER("'<f4'", "False", "(4611686018427387904,)"), 16, "asks for another"},
        {1, HEADER("'<f8'", "False", "(1000000000000,)"), 16, "asks for another"},
        {1, HEADER("'<f4'", "False", "(99999999999999999999,)"), 4, "plain array"},
        {1, "{'descr': '<f4', 'fortran_order': False}", 4, "lacks shape"},
        {1, "{'shape': (1,), 'fortran_order': False}", 4, "lacks shape"},
        {1, "{'shape': (1,), 'flavour': 3}", 4, "plain array"},
        {1, "nothing", 4, "not a dictionary"},
        {1, "", 0, "not a dictionary"},
        {1, "{'descr': '<f4", 0, "plain array"},
        {1, HEADER("'<f4'", "False", "(9223372036854775808,)"), 4, "plain array"},
        {1, HEADER("'f4'", "False", "(1,)"), 4, "'f4' are not read"},
        {1, HEADER("'<U'", "False", "(1,)"), 4, "'<U' are not read"},
        {1, HEADER("'<U0'", "False", "(1,)"), 4, "'<U0' are not read"},
        {1, HEADER("'<U2x'", "False", "(1,)"), 4, "'<U2x' are not read"},
        {1, HEADER("'|S99999999'", "False", "(1,)"), 4, "'|S99999999' are not read"},
        {9, HEADER("'<f4'", "False", "(1,)"), 4, "version 9"},
    };
#undef HEADER
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        HN_CHECK_FAILS(&ctx, read_header(&ctx, bad[i].version, bad[i].header, bad[i].bytes),
                       HN_DATA, bad[i].part);
}

static void test_no_file(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_array a;
    char path[PATH];
    HN_CHECK_FAILS(&ctx, read_npy(&ctx, folder, true, &a), HN_DATA, "it is a folder");
    snprintf(path, PATH, "%.200s/none.npy", folder);
    HN_CHECK_FAILS(&ctx, read_npy(&ctx, path, true, &a), HN_DATA, "none.npy");
    HN_CHECK_FAILS(&ctx, read_npy(&ctx, "/dev/null", true, &a), HN_DATA, "it is a device");
}

// Cut off anywhere, and with any byte changed: an array or HN_DATA with the name of the file.
static void test_damaged(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char path[PATH], good[FILE_MAX];
    const float value[] = {1, 2, 3, 4, 5, 6};
    write_npy(path, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", value,
              sizeof value);
    FILE *file = fopen(path, "rb");
    size_t size = fread(good, 1, sizeof good, file), refused = 0;
    fclose(file);
    for (size_t i = 0; i < 3 * size; i++) {
        char changed[FILE_MAX];
        memcpy(changed, good, size);
        changed[i % size] = (char)(changed[i % size] ^ (i < 2 * size ? 1 << i % 7 : 0x80));
        file = fopen(path, "wb");
        fwrite(changed, 1, i < size ? i : size, file);
        fclose(file);
        struct hn_array a;
        HN_SCOPE(&ctx);
        enum hn_code code = read_npy(&ctx, path, false, &a);
        CU_ASSERT_TRUE(code == HN_DATA || (code == HN_OK && i >= size));
        if (code == HN_DATA)
            CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, path));
        refused += code == HN_DATA;
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_TRUE(refused > size);
}

static void test_memory(void) {
    struct hn_context ctx;
    char path[PATH];
    struct hn_array a;
    const int32_t value[] = {1, 2, 3};
    write_npy(path, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", value,
              sizeof value);
    enum hn_code code = HN_MEMORY;
    int64_t k = 0;
    while (code != HN_OK && k < 100) {
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = ++k;
        HN_SCOPE(&ctx);
        code = read_npy(&ctx, path, true, &a);
        CU_ASSERT_TRUE(code == HN_OK || code == HN_MEMORY);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT_TRUE(k > 2);
}

// Value of a half from its definition.
static double half_value(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return half & 0x8000 ? -v : v;
}

static uint16_t half_of(float value) {
    uint16_t half;
    hn_halves_from_floats(&value, 1, &half, 1);
    return half;
}

static void test_halves_exact(void) {
    int wrong = 0;
    for (uint32_t h = 0; h < 65536; h++) {
        double want = half_value((uint16_t)h);
        float got = hn_half_to_float((uint16_t)h);
        if (isnan(want))
            wrong += !isnan(got) || !isnan(hn_half_to_float(half_of(got)));
        else
            wrong += (double)got != want || !signbit(got) != !signbit(want) || half_of(got) != h;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

// Between neighbours: below the middle down, above it up, in the middle to the even one.
static void test_halves_rounding(void) {
    int wrong = 0;
    for (uint16_t h = 0; h < 0x7c00; h++) {
        float low = (float)half_value(h);
        float high = h == 0x7bff ? 65536.0F : (float)half_value((uint16_t)(h + 1));
        float middle = (low + high) / 2; // exact: a half and one bit
        uint16_t even = (uint16_t)(h & 1 ? h + 1 : h);
        wrong += half_of(middle) != even;
        wrong += half_of(nextafterf(middle, 0)) != h;
        wrong += half_of(nextafterf(middle, INFINITY)) != h + 1;
        wrong += half_of(-middle) != (even | 0x8000);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(half_of(1e30F), 0x7c00);
    CU_ASSERT_EQUAL(half_of(-INFINITY), 0xfc00);
    CU_ASSERT_EQUAL(half_of(1e-30F), 0);
}

static void test_halves_arrays(void) {
    enum { N = 1001 };
    uint16_t half[N], back[N];
    float value[N];
    for (int i = 0; i < N; i++)
        half[i] = (uint16_t)(i * 31);
    for (int threads = 1; threads <= 3; threads += 2) {
        hn_halves_to_floats(half, N, value, threads);
        hn_halves_from_floats(value, N, back, threads);
        CU_ASSERT_EQUAL(memcmp(half, back, sizeof half), 0);
    }
}

// Files as NumPy writes them.
static void test_numpy(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char command[1024], path[PATH], out[64];
    snprintf(command, sizeof command,
             "cd '%s' && /usr/bin/python3 -c \"import numpy as n;"
             "n.save('x.npy',n.arange(12,dtype='f2').reshape(3,4)/8);"
             "n.save('y.npy',n.array([3,-1,2]))\" 2>/dev/null",
             folder);
    if (hn_fixture_run(command, out, sizeof out) != 0)
        hn_test_skip("python3 with NumPy is not there");
    struct hn_array a;
    HN_SCOPE(&ctx);
    snprintf(path, PATH, "%.200s/x.npy", folder);
    HN_CHECK(&ctx, read_npy(&ctx, path, false, &a));
    CU_ASSERT_TRUE(a.rank == 2 && a.shape[0] == 3 && a.shape[1] == 4);
    for (int i = 0; i < 12; i++)
        CU_ASSERT_EQUAL(a.real[i], (float)i / 8);
    snprintf(path, PATH, "%.200s/y.npy", folder);
    HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
    CU_ASSERT_TRUE(a.rank == 1 && a.shape[0] == 3);
    CU_ASSERT_TRUE(a.integer[0] == 3 && a.integer[1] == -1 && a.integer[2] == 2);
}

static enum hn_code write_array(struct hn_context *ctx, const char *path, int rank,
                                const int64_t *shape, const int64_t *value) {
    struct hn_new_file file;
    enum hn_code code = hn_file_begin(ctx, path, &file);
    return code ? code : hn_npy_write(ctx, &file, rank, shape, value);
}

// What is written is read back, whatever its shape; headers are as NumPy writes them.
static void test_written(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char path[PATH], raw[256];
    static int64_t value[1200];
    for (int i = 0; i < 1200; i++)
        value[i] = i % 2 ? -(INT64_C(1) << 40) * i : i;
    const int64_t shapes[][HN_ARRAY_RANK_MAX] = {{5},    {1200},    {40, 30},
                                                 {1, 1}, {2, 3, 4}, {2, 3, 4, 50}};
    const int ranks[] = {1, 1, 2, 2, 3, 4};
    snprintf(path, PATH, "%.200s/w.npy", folder);
    for (int i = 0; i < 6; i++) {
        struct hn_source s;
        struct hn_array_type type;
        struct hn_array a = {.rank = 0};
        static int64_t stored[1200];
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, write_array(&ctx, path, ranks[i], shapes[i], value));
        HN_CHECK(&ctx, hn_source_open(&ctx, path, &s));
        HN_CHECK(&ctx, hn_npy_head(&ctx, &s, &type, &a));
        int64_t count = 1;
        CU_ASSERT_EQUAL(a.rank, ranks[i]);
        for (int k = 0; k < a.rank; k++) {
            CU_ASSERT_EQUAL(a.shape[k], shapes[i][k]);
            count *= a.shape[k];
        }
        CU_ASSERT(type.kind == 'i' && type.width == 8 && s.left == 8 * count);
        HN_CHECK(&ctx, hn_source_take(&ctx, &s, stored, 8 * count, "the values"));
        CU_ASSERT_EQUAL(memcmp(stored, value, (size_t)count * sizeof *value), 0);
        hn_source_close(&s);
    }
    const int64_t none[] = {0, 7}; // no values at all
    HN_CHECK(&ctx, write_array(&ctx, path, 2, none, value));
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t size = fread(raw, 1, sizeof raw - 1, file);
    fclose(file);
    raw[size] = '\0';
    CU_ASSERT_EQUAL(size % 64, 0);
    CU_ASSERT_EQUAL(raw[size - 1], '\n');
    CU_ASSERT_PTR_NOT_NULL(
        strstr(raw + 10, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7), }"));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Nothing is left of a file that is given up or cannot be written, and an old one stays.
static void test_not_written(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char path[PATH], command[PATH + 64], out[PATH];
    const int64_t value[] = {1, 2, 3}, shape[] = {3}, huge[] = {INT64_MAX, 2};
    struct hn_new_file w;
    struct hn_array a;
    snprintf(path, PATH, "%.200s/o.npy", folder);
    HN_CHECK(&ctx, write_array(&ctx, path, 1, shape, value));
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &w));
    hn_file_abort(&ctx, &w);
    hn_file_abort(&ctx, &w); // of one that has ended
    HN_CHECK_FAILS(&ctx, write_array(&ctx, path, 2, huge, value), HN_INTERNAL, "too large");
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, "", &w), HN_USAGE, "empty");
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, folder, &w), HN_USAGE, "regular");
    snprintf(path, PATH, "%.200s/none/o.npy", folder);
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, path, &w), HN_USAGE, "none/o.npy");
    snprintf(path, PATH, "%.200s/o.npy", folder);
    enum hn_code code = HN_MEMORY;
    for (int64_t k = 1; code == HN_MEMORY && k < 9; k++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        code = write_array(&ctx, path, 1, shape, value);
        CU_ASSERT(code == HN_OK ? k > 2 : code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    CU_ASSERT_EQUAL(code, HN_OK);
    ctx.memory.fail_at = 0;
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, read_npy(&ctx, path, true, &a));
    CU_ASSERT(a.rank == 1 && a.shape[0] == 3 && a.integer[2] == 3);
    snprintf(command, sizeof command, "ls '%s' | grep -c tmp", folder);
    hn_fixture_run(command, out, sizeof out);
    CU_ASSERT_EQUAL(out[0], '0');
}

static const struct hn_test tests[] = {
    {"integers of every type and byte order", test_integers},
    {"floats of every type and byte order", test_floats},
    {"Fortran order, bfloat16, unsigned and whole numbers", test_shapes_of_others},
    {"rows beyond float32", test_scaled},
    {"headers that are refused", test_refused},
    {"files that are not there or no files", test_no_file},
    {"cut and changed files", test_damaged},
    {"every allocation fails once", test_memory},
    {"halves: exact, all 65536", test_halves_exact},
    {"halves: to nearest, ties to even", test_halves_rounding},
    {"halves: arrays for any number of threads", test_halves_arrays},
    {"files written by NumPy", test_numpy},
    {"files that are written", test_written},
    {"files that are not written", test_not_written},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "npy", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
