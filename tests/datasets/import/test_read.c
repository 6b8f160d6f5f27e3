// SPDX-License-Identifier: GPL-3.0-or-later
// Small files of every kind that text and bytes make: what is read of them, or the sentence that
// refuses them.
#include "datasets/h5.h"
#include "datasets/import/array.h"
#include "datasets/import/collection.h"
#include "datasets/import/format.h"
#include "datasets/import/given.h"
#include "datasets/import/import_private.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 320, TEXT = 400, UINT8 = 2 };

static char folder[256];

static const char *put(const char *name, const char *bytes, size_t size) {
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    return path;
}

// "2x3: 1 2 3 4 5 6" of rows, "2: a|b" of texts, "2: 5 6" of integers.
static void render(const struct hn_array *a, char text[TEXT]) {
    int64_t n = a->shape[0] * (a->rank == 2 ? a->shape[1] : 1);
    size_t at = (size_t)snprintf(text, TEXT, "%lld", (long long)a->shape[0]);
    if (a->rank == 2)
        at += (size_t)snprintf(text + at, TEXT - at, "x%lld", (long long)a->shape[1]);
    at += (size_t)snprintf(text + at, TEXT - at, ":");
    for (int64_t i = 0; i < n && at < TEXT; i++)
        at += (size_t)(a->real ? snprintf(text + at, TEXT - at, " %g", (double)a->real[i])
                       : a->integer
                           ? snprintf(text + at, TEXT - at, " %lld", (long long)a->integer[i])
                           : snprintf(text + at, TEXT - at, "%s%s", i ? "|" : " ", a->text[i]));
}

struct reading {
    const char *name, *bytes;
    size_t size; // 0: bytes is a text
    struct hn_wanted want;
    const char *read, *part; // what is read, or NULL; of the message, or of a note
};
#define TEXT_FILE(name, text) name, text, 0
#define BYTES(name, text) name, text, sizeof(text) - 1
#define LABELS .labels = true

static const struct reading readings[] = {
    // Rows of text.
    {TEXT_FILE("a.tsv", "1 2\n3 4\n"), {.skip = -1}, "2x2: 1 2 3 4", ""},
    {TEXT_FILE("a.csv", "1,2\n\n\n3,4"), {.skip = -1}, "2x2: 1 2 3 4", ""},
    {TEXT_FILE("a.csv", "x,y\n1,2\n3,4\n"),
     {.skip = -1},
     "2x2: 1 2 3 4",
     "line 1 names the columns"},
    {TEXT_FILE("a.csv", ",x,y\n7,1,2\n9,3,4\n"),
     {.skip = -1},
     "2x2: 1 2 3 4",
     "its first column has no name"},
    {TEXT_FILE("a.csv", ",0,1\n7,1,2\n9,3,4\n"), {.skip = -1}, "2x2: 1 2 3 4", "has no name"},
    {TEXT_FILE("a.csv", "0,1\n2,3\n5,4\n"),
     {.skip = -1},
     NULL,
     "counts 0, 1, 2 ...: it names the columns"},
    {TEXT_FILE("a.csv", "0,1\n2.5,3\n5,4\n"), {.skip = -1}, "2x2: 2.5 3 5 4", "line 1 names"},
    {TEXT_FILE("a.csv", "0,1\n2,3\n"), {.skip = -1, .header = HN_HEADER_NO}, "2x2: 0 1 2 3", ""},
    {TEXT_FILE("a.csv", "5,6\n2,3\n"), {.skip = -1, .header = HN_HEADER_YES}, "1x2: 2 3", ""},
    {TEXT_FILE("a.csv", "0,1\n2,x\n"), {.skip = -1}, NULL, "line 2: value 2 is not a number: x"},
    {TEXT_FILE("a.csv", "5\n6\n"), {.skip = 2}, NULL, "line 1"},
    {TEXT_FILE("a.csv", "x,y\n"), {.skip = -1}, NULL, "holds no line with numbers"},
    {TEXT_FILE("a.tsv", ""), {.skip = -1}, NULL, "a.tsv"},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n3 7\n"),
     {.skip = -1},
     NULL,
     "its column 1 counts the rows: --skip-columns 1"},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n3 7\n"), {.skip = 0}, "3x2: 1 5 2 5 3 7", ""},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n3 7\n"), {.skip = 1}, "3x1: 5 5 7", ""},
    {TEXT_FILE("a.tsv", "0\n1\n2\n"), {.skip = -1}, "3x1: 0 1 2", ""},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n"), {.skip = -1}, "2x2: 1 5 2 5", ""},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n3 7\n"), {.skip = -1, .rows = 2}, "2x2: 1 5 2 5", ""},
    {TEXT_FILE("a.tsv", "1 5\n2 5\n"),
     {.skip = -1, .rows = 3},
     NULL,
     "has 2 rows, fewer than the 3 of --rows"},
    {TEXT_FILE("a.tsv", "1 2\n3\n"), {.skip = -1}, NULL, "line 2: value 2 is missing"},
    {TEXT_FILE("a.csv", "1,2\n3,\n"), {.skip = -1}, NULL, "line 2: value 2 is missing"},
    {TEXT_FILE("a.tsv", "1 2\n3 4 5\n"), {.skip = -1}, NULL, "3 values, not 2 as before"},
    {TEXT_FILE("a.csv", "1;2\n3;4,5\n"), {.skip = -1}, NULL, "write decimal points, not commas"},
    {TEXT_FILE("a.tsv", "1 2\n[3 4\n"), {.skip = -1}, NULL, "write numbers without brackets"},
    {TEXT_FILE("a.tsv", "1 2\nb 4\n"),
     {.skip = -1},
     NULL,
     "--skip-columns 1 leaves out the first column"},
    {TEXT_FILE("a.tsv", "1 2\n3 b\n"), {.skip = -1}, NULL, "value 2 is not a number: b"},
    {TEXT_FILE("a.tsv", "1\nb\n"), {.skip = -1}, NULL, "value 1 is not a number: b"},
    {TEXT_FILE("a.tsv", "1\n\xef\xbb\xbf"
                        "2\n"),
     {.skip = -1},
     NULL,
     "behind a byte order mark; delete it"},
    {TEXT_FILE("a.tsv", "1e300 2e300\n1 2\n"), {.skip = -1}, "2x2: 0.373305 0.746611 1 2", ""},
    // Labels of text.
    {TEXT_FILE("l.txt", "a\nb\n\nc\n"), {LABELS}, "4: a|b||c", ""},
    {TEXT_FILE("l.txt", "label\n1\n2\n"), {LABELS}, "2: 1|2", "'label' on line 1 names the column"},
    {TEXT_FILE("l.txt", "0.0\n1\n2\n"), {LABELS}, "3: 0.0|1|2", ""},
    {TEXT_FILE("l.txt", "label\n1\nx\n"), {LABELS}, "3: label|1|x", ""},
    {TEXT_FILE("l.txt", "\n1\n2\n"), {LABELS}, "3: |1|2", ""},
    {TEXT_FILE("l.txt", "label\n\n\n"), {LABELS}, "3: label||", ""},
    {TEXT_FILE("l.txt", "label\n1\n"), {LABELS, .header = HN_HEADER_NO}, "2: label|1", ""},
    {TEXT_FILE("l.txt", "label\nx\n"), {LABELS, .header = HN_HEADER_YES}, "1: x", ""},
    {TEXT_FILE("l.txt", "label\nx\n"), {LABELS, .name = "label"}, "1: x", ""},
    {TEXT_FILE("l.txt", "x\ny\n"),
     {LABELS, .name = "label"},
     NULL,
     "there is no column 'label', as its first line names none"},
    {TEXT_FILE("l.txt", "x\ny\n"), {LABELS, .name = "1"}, "2: x|y", ""},
    {TEXT_FILE("l.tsv", "id\tkind\na\tx\nb\ty\n"), {LABELS, .name = "kind"}, "2: x|y", ""},
    {TEXT_FILE("l.tsv", "id\tkind\na\tx\nb\ty\n"), {LABELS, .name = "2"}, "2: x|y", ""},
    {TEXT_FILE("l.tsv", "id\tkind\na\tx\nb\ty\n"),
     {LABELS, .name = "3"},
     NULL,
     "there is no '3'; it holds id, kind"},
    {TEXT_FILE("l.tsv", "id\tkind\na\tx\nb\ty\n"), {LABELS, .name = "0"}, NULL, "there is no '0'"},
    {TEXT_FILE("l.tsv", "id\tkind\na\tx\nb\ty\n"),
     {LABELS},
     NULL,
     "holds 2 arrays that could be labels"},
    {TEXT_FILE("l.tsv", "k\tk\na\tx\nb\ty\n"),
     {LABELS, .name = "k"},
     NULL,
     "2 columns have the name 'k'; give the column's number"},
    {TEXT_FILE("l.csv", "id,kind\n0,x\n1,y\n"),
     {LABELS},
     "2: x|y",
     "labels are the column 'kind'; 'id' counts the rows"},
    {TEXT_FILE("l.csv", ",kind\n1,x\n2,y\n"), {LABELS}, "2: x|y", "'1' counts the rows"},
    {TEXT_FILE("l.csv", "id,kind\n2,x\n3,y\n"), {LABELS}, NULL, "holds 2 arrays"},
    {TEXT_FILE("l.csv", "id,kind\n0,x\n2,y\n"), {LABELS}, NULL, "holds 2 arrays"},
    {TEXT_FILE("l.csv", "id,kind\n0,x\n99999999999999999999,y\n"),
     {LABELS},
     NULL,
     "holds 2 arrays"},
    {TEXT_FILE("l.csv", "id,kind\n18446744073709551615,x\n1,y\n"),
     {LABELS},
     NULL,
     "holds 2 arrays"},
    {TEXT_FILE("l.csv", "id,kind\n0,x\n"), {LABELS}, NULL, "holds 2 arrays"},
    {TEXT_FILE("l.csv", "a;b\n1;x\n2;y\n"), {LABELS, .name = "b"}, "2: x|y", ""},
    {TEXT_FILE("l.csv", "a,b\n\n1,x\n"), {LABELS, .name = "b"}, "1: x", ""},
    {TEXT_FILE("l.txt", "a,b\n\n1,x\n"), {LABELS, .name = "b"}, "1: x", ""},
    {TEXT_FILE("l.csv", "a,b\n1\n"), {LABELS, .name = "b"}, NULL, "line 2: has no column 2"},
    {TEXT_FILE("l.csv", "a,b\n1,2,3\n"),
     {LABELS, .name = "b"},
     NULL,
     "put texts that hold the separator in double quotes"},
    {TEXT_FILE("l.tsv", "a\tb\n1\t2\t3\n"), {LABELS, .name = "b"}, NULL, "in a file named .csv"},
    {TEXT_FILE("l.txt", "a,b\n1,x\n"), {LABELS, .name = "b"}, "1: x", ""},
    {TEXT_FILE("l.txt", "a,b\nx\n"), {LABELS}, "2: a,b|x", ""},
    {TEXT_FILE("l.txt", "a,b\n \nc,d\n"), {LABELS, .lists = true}, "3: a,b| |c,d", ""},
    {TEXT_FILE("l.csv", "\"a, b\"\n\"c\"\n"), {LABELS}, "2: a, b|c", ""},
    {TEXT_FILE("l.txt", "\"a\"\nb\n"),
     {LABELS},
     "2: \"a\"|b",
     "the quotes of \"a\" belong to the label"},
    {TEXT_FILE("l.txt", "\"\nb\n"), {LABELS}, "2: \"|b", ""},
    {TEXT_FILE("l.txt", "\"a\nb\n"), {LABELS}, "2: \"a|b", ""},
    {TEXT_FILE("l.txt", "a\nb\n"),
     {LABELS, .rows = 3},
     NULL,
     "has 2 labels, fewer than the 3 of --rows"},
    {TEXT_FILE("l.txt", "a\nb\n"), {LABELS, .rows = 1}, "1: a", ""},
    {TEXT_FILE("l.txt", ""), {LABELS}, NULL, "l.txt"},
    // Bare values, and those behind a count of rows and of dimensions.
    {BYTES("b.u8bin", "\2\0\0\0\1\0\0\0\5\6"), {.skip = -1}, "2x1: 5 6", ""},
    {BYTES("b.u8bin.crop_nb_2", "\2\0\0\0\1\0\0\0\5\6"), {.skip = -1}, "2x1: 5 6", ""},
    {BYTES("b.u8bin.crop_nb_x", "\2\0\0\0\1\0\0\0\5\6"), {.skip = -1}, NULL, "crop_nb_x"},
    {BYTES("b.u8bin", "\2\0\0\0\1\0\0\0\5\6"), {.rows = 1}, "1x1: 5", ""},
    {BYTES("b.u8bin", "\3\0\0\0\1\0\0\0\5\6"), {.rows = 2}, "2x1: 5 6", ""},
    {BYTES("b.u8bin", "\3\0\0\0\1\0\0\0\5\6"),
     {.rows = 3},
     NULL,
     "says it has 3 rows of 1 uint8, and 2 are there"},
    {BYTES("b.u8bin", "\1\0\0\0\1\0\0\0\5\6"),
     {.skip = -1},
     NULL,
     "says it has 1 rows of 1 uint8, and 2 are there"},
    {BYTES("b.u8bin", "\1\0\0\0\0\0\0\0\5"), {.skip = -1}, NULL, "says its rows have 0 values"},
    {BYTES("b.u8bin", "\1\0\0\0\0\0\0\1\5"), {.skip = -1}, NULL, "1 to 1048576 are read"},
    {BYTES("b.u8bin", "\1\0\0\0\1"), {.skip = -1}, NULL, "the header"},
    // Rows that each say how long they are.
    {BYTES("v.bvecs", "\2\0\0\0\5\6\2\0\0\0\7\1"), {.skip = -1}, "2x2: 5 6 7 1", ""},
    {BYTES("v.bvecs", "\2\0\0\0\5\6\2\0\0\0\7\1"), {.rows = 1}, "1x2: 5 6", ""},
    {BYTES("v.bvecs", "\2\0\0\0\5\6\2\0\0\0\7\1"),
     {.rows = 3},
     NULL,
     "has 2 rows, fewer than the 3 of --rows"},
    {BYTES("v.bvecs", "\2\0\0\0\5\6\1\0\0\0\7\1"),
     {.skip = -1},
     NULL,
     "row 1 says it has 1 values, row 0 has 2"},
    {BYTES("v.bvecs", "\2\0\0\0\5\6\2\0\0"), {.skip = -1}, NULL, "row 1 is cut short"},
    {BYTES("v.bvecs", "\0\0\0\0\5\6"), {.skip = -1}, NULL, "row 0 says it has 0 values"},
    {BYTES("v.bvecs", "\0\0\0\1\5\6"), {.skip = -1}, NULL, "1 to 1048576 are read"},
    {BYTES("v.bvecs", "\2\0"), {.skip = -1}, NULL, "the first row"},
};

// Keeps all notes, one behind the other.
static void keep_notes(void *data, const char *text) {
    char *all = data;
    size_t length = strlen(all);
    snprintf(all + length, HN_MESSAGE_MAX - length, "%s\n", text);
}

static void test_readings(void) {
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        const struct reading *r = &readings[i];
        struct hn_context ctx;
        struct hn_array a = {.rank = 0};
        char note[HN_MESSAGE_MAX] = "", text[TEXT];
        hn_context_init(&ctx, 1);
        ctx.notes = (struct hn_notes){keep_notes, note, NULL};
        const char *path = put(r->name, r->bytes, r->size ? r->size : strlen(r->bytes));
        HN_SCOPE(&ctx);
        enum hn_code code = hn_format_read(&ctx, path, HN_FORMAT_auto, &r->want, &a);
        const char *said = code ? ctx.message : note;
        bool good = code == (r->read ? HN_OK : HN_DATA) && strstr(said, r->part) &&
                    (!code || strstr(said, path));
        if (code == HN_OK)
            render(&a, text);
        else
            text[0] = '\0';
        if (!good || (r->read && strcmp(text, r->read) != 0))
            fprintf(stderr, "    case %d, %s: code %d, \"%s\", \"%s\"\n", (int)i, r->name,
                    (int)code, said, text);
        CU_ASSERT_TRUE(good);
        CU_ASSERT_TRUE(!r->read || strcmp(text, r->read) == 0);
        CU_ASSERT_TRUE(*r->part || code || !*note); // no note that nobody expects
    }
}

// Batches and negatives of other programs: their lists as "0 1|2 3", or the sentence.
// A note comes while a file is read: it is cut short then.
static void cut(void *path, const char *text) {
    (void)text;
    CU_ASSERT_EQUAL(truncate(path, 1), 0);
}

static void test_changed(void) {
    const struct hn_wanted want = {.labels = true, .skip = -1};
    struct hn_context ctx;
    struct hn_array a;
    hn_context_init(&ctx, 1);
    char *path = (char *)put("y.tsv", "kind\n1\n2\n", 9);
    ctx.notes = (struct hn_notes){cut, path, NULL};
    HN_SCOPE(&ctx);
    HN_CHECK_FAILS(&ctx, hn_format_read(&ctx, path, HN_FORMAT_auto, &want, &a), HN_DATA,
                   "y.tsv: changed while it was read");
}

// Values of a virtual data set, which lie in another file.
static void test_changed_piece(void) {
    static const float rows[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    const struct hn_wanted want = {.skip = -1};
    const hsize_t dim[] = {4, 2};
    struct hn_context ctx;
    struct hn_array a;
    char whole[PATH], part[PATH];
    hn_context_init(&ctx, 1);
    snprintf(whole, sizeof whole, "%s/whole.h5", folder);
    snprintf(part, sizeof part, "%s/part.h5", folder);
    hid_t space = H5Screate_simple(2, dim, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    CU_ASSERT(H5Pset_virtual(list, space, part, "x", space) >= 0);
    for (int k = 0; k < 2; k++) {
        hid_t file = H5Fcreate(k ? whole : part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t data = H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT,
                                k ? list : H5P_DEFAULT, H5P_DEFAULT);
        CU_ASSERT(k || H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
        HN_CHECK(&ctx, hn_h5_set_text(&ctx, data, "metric", "l2")); // of which there is a note
        CU_ASSERT(hn_h5_close(data, file));
    }
    (void)hn_h5_close(list, space);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_format_read(&ctx, whole, HN_FORMAT_auto, &want, &a));
    CU_ASSERT_EQUAL(a.real[7], 8);
    ctx.notes = (struct hn_notes){cut, part, NULL};
    HN_CHECK_FAILS(&ctx, hn_format_read(&ctx, whole, HN_FORMAT_auto, &want, &a), HN_DATA,
                   "part.h5: changed while it was read");
}

// Rows of a corpus are read in blocks: the file is the one that it was at first.
static void test_changed_corpus(void) {
    static const float rows[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    struct hn_context ctx;
    struct hn_matrix size;
    struct hn_row_source source;
    float two[4];
    hn_context_init(&ctx, 1);
    char *path = (char *)put("c.f4", (const char *)rows, sizeof rows);
    const struct hn_import o = {.side[HN_CORPUS] = {&path, 1},
                                .format = HN_FORMAT_raw,
                                .raw = 3, // float32
                                .dim = 2,
                                .skip = INT64_MIN,
                                .rows = INT64_MIN};
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_import_corpus(&ctx, &o, &size, &source));
    CU_ASSERT_FATAL(source.read && size.rows == 4);
    HN_CHECK(&ctx, source.read(&ctx, source.self, 0, 2, two));
    (void)put("c.f4", (const char *)rows, sizeof rows - 8);
    HN_CHECK_FAILS(&ctx, source.read(&ctx, source.self, 2, 1, two), HN_DATA,
                   "c.f4: changed while it was read");
}

static const struct hn_given_rules batches = {.n = 6, .longest = 2},
                                   again = {.n = 6, .longest = 2, .repeats = true},
                                   dealt = {.n = 6, .longest = 2, .per_epoch = 1},
                                   titled = {.n = 6, .longest = 2, .title = "my program"},
                                   negatives = {.n = 3, .longest = 2, .negatives = true};
#define LISTS(text) "given.jsonl", text, 0
#define NPY_FILE(text) "given.npy", text, 0
#define NPY(shape, values)                                                                         \
    "given.npy",                                                                                   \
        "\x93NUMPY\1\0\x3c\0{'descr': '|i1', 'fortran_order': False, 'shape': " shape "}" values,  \
        sizeof("\x93NUMPY\1\0\x3c\0{'descr': '|i1', 'fortran_order': False, 'shape': " shape       \
               "}" values) -                                                                       \
            1

static const struct {
    const struct hn_given_rules *rules;
    const char *name, *bytes;
    size_t size;
    const char *lists, *part;
    int64_t per_epoch;
} given[] = {
    {&batches, LISTS("[0, 1]\n\n[2, 3]"), "0 1|2 3", NULL, 2},
    {&batches, LISTS("[0, 1]\n \t\r\n[2]\n"), "0 1|2", NULL, 2},
    {&dealt, LISTS("[0, 1]\n[2, 3]\n"), "0 1|2 3", NULL, 1},
    {&again, LISTS("[4, 4]\n"), "4 4", NULL, 1},
    {&batches, LISTS("[4, 4]\n"), NULL,
     "batch 0 holds item 4 twice; if it was drawn with replacement", 0},
    {&batches, LISTS("[0, 1, 2]\n"), NULL,
     "batch 0 has 3 items, and batch_size is 2: put {batch_size} into", 0},
    {&titled, LISTS("[0, 1, 2]\n"), NULL,
     "my program: batch 0 has 3 items, and batch_size is 2: give the program", 0},
    {&titled, LISTS("[0]\n"), NULL, "hold up to 1 items, and batch_size is 2: give the program", 0},
    {&batches, LISTS("[0]\n"), NULL, "hold up to 1 items, and batch_size is 2: put", 0},
    {&batches, LISTS("[]\n"), NULL, "batch 0 is empty", 0},
    {&batches, LISTS("[0, 6]\n"), NULL, "position 1: item 6, and the snapshot has items 0 to 5", 0},
    {&batches, LISTS("[-1, 6]\n"), NULL, "position 0: item -1", 0},
    {&batches, LISTS("[0, 1.5]\n"), NULL, "line 1: wants a list of whole numbers", 0},
    {&batches, LISTS("{\"negatives\": 3}\n"), NULL, "line 1: wants a list", 0},
    {&batches, LISTS("{\"anchor\": 0, \"negatives\": [1]}\n"), NULL, "line 1: wants a list", 0},
    {&batches, LISTS("[0, 1]\nx\n"), NULL, "line 2: wants a list", 0},
    {&batches, LISTS("\n\n"), NULL, "holds no batch", 0},
    {&batches, LISTS(""), NULL, "is empty", 0},
    {&negatives, LISTS("[1, 2]\n[]\n{\"negatives\": [0]}\n"), "1 2||0", NULL, 3},
    {&negatives, LISTS("{\"anchor\": 0, \"negatives\": [1]}\n[0]\n[1]\n"), "1|0|1", NULL, 3},
    // Keys that nothing reads, as Python's json writes what JSON cannot hold.
    {&negatives,
     LISTS("{\"anchor\": 0, \"negatives\": [1], \"scores\": [NaN, -Infinity]}\r\n"
           "{\"anchor\": 1, \"text\": \"\\udcb2 \\u0000\", \"negatives\": [0]}\n"
           "{\"id\": 36893488147419103232, \"negatives\": [1]}"),
     "1|0|1", NULL, 3},
    {&negatives, LISTS("{\"anchor\": \"0\", \"negatives\": [1]}\n"), NULL, "line 1: wants a list",
     0},
    {&negatives, LISTS("{\"anchor\": null, \"negatives\": [1]}\n"), NULL, "line 1: wants a list",
     0},
    {&negatives, LISTS("{\"negatives\": [NaN]}\n"), NULL, "line 1: wants a list", 0},
    {&negatives, LISTS("[36893488147419103232]\n"), NULL, "line 1: wants a list", 0},
    {&batches, LISTS("\xef\xbb\xbf[0, 1]\n[2, \xff]\n"), NULL, "line 2: is not UTF-8", 0},
    {&negatives, LISTS("{\"anchor\": 1, \"negatives\": [1]}\n"), NULL,
     "is of anchor 1 where that of anchor 0 is due", 0},
    {&negatives, LISTS("[0]\n"), NULL, "the list of anchor 0 holds the anchor itself", 0},
    {&negatives, LISTS("[1, 1]\n"), NULL, "the list of anchor 0 holds item 1 twice", 0},
    {&negatives, LISTS("[1, 2, 0]\n"), NULL,
     "has 3 numbers, and n is 2: raise n, or shorten the lists", 0},
    {&negatives, LISTS("[1]\n[0]\n"), NULL, "holds 2 lists, and the snapshot has 3 items", 0},
    {&negatives, LISTS("\n"), NULL, "holds no list", 0},
    {&batches, NPY("(2, 2)   ", "\0\1\2\3"), "0 1|2 3", NULL, 2},
    {&batches, NPY("(2, 2)   ", "\0\1\2\xff"), "0 1|2", NULL, 2},
    {&batches, NPY("(2, 1, 2)", "\0\1\2\3"), "0 1|2 3", NULL, 1},
    {&batches, NPY("(4,)     ", "\0\1\2\3"), NULL,
     "is an array of whole numbers of 1 dimension; batches are", 0},
    {&negatives, NPY("(4,)     ", "\0\1\2\3"), NULL, "of 1 dimension; negatives are whole numbers",
     0},
    {&batches, NPY("(2, 2)   ", "\0\1\2"), NULL,
     "holds 3 bytes of numbers, and its header asks for others", 0},
    {&batches, NPY("(2, 2)   ", "\xff\xff\2\3"), NULL, "batch 0 is empty", 0},
    {&negatives, NPY("(1, 3, 1)", "\1\2\0"), "1|2|0", NULL, 3},
    {&titled, NPY_FILE("[0, 1]\n"), "0 1", NULL, 1},
    {&negatives, NPY_FILE("{\"negatives\": [1]}\n[0]\n[1]\n"), "1|0|1", NULL, 3},
    {&negatives, NPY_FILE("1 2\n"), NULL, "given.npy: is not a .npy file", 0},
    {&negatives, NPY("(3, 1)   ", "\1\2\xff"), "1|2|", NULL, 3},
};

static void test_given(void) {
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct hn_context ctx;
        struct hn_given g;
        char lists[TEXT] = "";
        hn_context_init(&ctx, 1);
        const char *path = put(given[i].name, given[i].bytes,
                               given[i].size ? given[i].size : strlen(given[i].bytes));
        HN_SCOPE(&ctx);
        enum hn_code code = hn_given_read(&ctx, path, NULL, given[i].rules, &g);
        for (int64_t l = 0, at = 0; !code && l < g.lists; l++) {
            at += snprintf(lists + at, sizeof lists - (size_t)at, "%s", l ? "|" : "");
            for (int64_t k = g.start[l]; k < g.start[l + 1]; k++)
                at += snprintf(lists + at, sizeof lists - (size_t)at, "%s%d",
                               k > g.start[l] ? " " : "", (int)g.ids[k]);
        }
        bool good = given[i].lists ? !code && strcmp(lists, given[i].lists) == 0 &&
                                         g.per_epoch == given[i].per_epoch
                                   : code == HN_DATA && strstr(ctx.message, given[i].part);
        if (!good)
            fprintf(stderr, "    case %d: code %d, \"%s\", \"%s\"\n", (int)i, (int)code,
                    ctx.message, lists);
        CU_ASSERT_TRUE(good);
    }
    struct hn_context ctx;
    struct hn_given g;
    char digest[HN_DIGEST_TEXT], many[1100 * 7 + 1];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (int l = 0; l < 1100; l++)
        memcpy(many + 7 * l, "[0, 1]\n", 8);
    HN_CHECK(&ctx, hn_given_read(&ctx, put("given.jsonl", many, 1100 * 7), NULL, &batches, &g));
    CU_ASSERT_EQUAL(g.lists, 1100);
    const char *path = put("given.jsonl", "[0, 1]\n", 7);
    HN_CHECK(&ctx, hn_given_digest(&ctx, path, digest));
    HN_CHECK(&ctx, hn_given_read(&ctx, path, digest, &batches, &g));
    (void)put("given.jsonl", "[0, 2]\n", 7);
    HN_CHECK_FAILS(&ctx, hn_given_read(&ctx, path, digest, &batches, &g), HN_DATA,
                   "has changed since the run began");
    HN_CHECK_FAILS(&ctx, hn_given_digest(&ctx, "/nowhere/b.npy", digest), HN_DATA,
                   "/nowhere/b.npy");
}

// Pairs of texts, a line each: "queries|passages" as they are numbered, or the sentence.
static const struct {
    enum hn_pair_rules rules;
    const char *text, *read, *part;
} pairs[] = {
    {HN_PAIR_COMPLETE, "a\tb\nc\td\na\tb\n", "a c|b d", ""},
    {HN_PAIR_COMPLETE, "a b\n", NULL, "line 1: is not a pair: wanted are two texts with a tab"},
    {HN_PAIR_COMPLETE, "a\tb\tc\n", NULL, "line 1: is not a pair: wanted are two texts with a tab"},
    {HN_PAIR_COMPLETE, "[\"a\", \"b\"]\n", "a|b", ""},
    {HN_PAIR_COMPLETE, "[\"a\"]\n", NULL, "line 1: is not a pair: wanted are the texts"},
    {HN_PAIR_COMPLETE, "[\"a\", 1]\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "[\"a\", \"b\", \"c\"]\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "[1, \"b\"]\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "{\"anchor\": \"a\", \"positive\": \"b\"}\n", "a|b", ""},
    {HN_PAIR_COMPLETE, "{\"query\": \"a\", \"positive\": \"b\"}\n", "a|b", ""},
    {HN_PAIR_COMPLETE, "{\"docstring\": \"a\", \"code\": \"b\", \"query\": \"c\"}\n", "a|b", ""},
    {HN_PAIR_COMPLETE, "{\"docstring\": \"a\"}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "{\"code\": \"a\"}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "{\"query\": \"a\"}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "{\"positive\": \"a\"}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "{\"anchor\": \"\\u12\", \"positive\": \"b\"}\n", NULL, "line 1"},
    {HN_PAIR_COMPLETE, "[\"a\", \"b\\", NULL, "line 1"},
    {HN_PAIR_COMPLETE, "[\"\\ud800\\ue000\", \"b\"]\n", "\xef\xbf\xbd\xee\x80\x80|b", ""},
    {HN_PAIR_COMPLETE, "{\"docstring_tokens\": [\"a\"], \"code_tokens\": [\"b\"]}\n", NULL,
     "line 1: is not a pair"},
    {HN_PAIR_SEARCH, "{\"docstring_tokens\": [\"a\", \"x\"], \"code_tokens\": [\"b\"]}\n",
     "a x |b ", ""},
    {HN_PAIR_SEARCH,
     "{\"docstring_tokens\": [\"a\", 1], \"docstring\": \"c\", \"code_tokens\": [\"b\"]}\n", "c|b ",
     ""},
    {HN_PAIR_SEARCH,
     "{\"docstring\": null, \"code\": \"b\"}\n{\"docstring\": \"c\", \"code\": \"d\"}\n", "c|b d",
     ""},
    {HN_PAIR_SEARCH,
     "{\"docstring_tokens\": \"a\", \"docstring\": \"c\", \"code_tokens\": [\"b\"]}\n", "c|b ", ""},
    {HN_PAIR_SEARCH, "{\"code\": \"b\"}\n", "|b", ""},
    {HN_PAIR_SEARCH, "{\"docstring\": \" \\t\", \"code\": \"b\"}\n", "|b", ""},
    {HN_PAIR_SEARCH, "{\"docstring\": 1, \"code\": \"b\"}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_SEARCH, "{\"docstring\": \"a\", \"code\": 1}\n", NULL, "line 1: is not a pair"},
    {HN_PAIR_COMPLETE, "", NULL, "holds no pair"},
};

static void put_texts(const struct hn_strings *all, char *text, size_t size) {
    for (int64_t i = 0; i < all->n; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? " " : "", hn_string(all, i));
}

static void test_pairs(void) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct hn_context ctx;
        struct hn_text_pairs p;
        int64_t end[1];
        char text[TEXT] = "";
        hn_context_init(&ctx, 1);
        const char *const path[] = {put("pairs.tsv", pairs[i].text, strlen(pairs[i].text)), NULL};
        HN_SCOPE(&ctx);
        enum hn_code code = hn_text_pairs_read(&ctx, path, pairs[i].rules, end, &p);
        if (!code) {
            put_texts(&p.text[HN_QUERIES], text, sizeof text);
            snprintf(text + strlen(text), sizeof text - strlen(text), "|");
            put_texts(&p.text[HN_CORPUS], text, sizeof text);
        }
        bool good = pairs[i].read ? !code && strcmp(text, pairs[i].read) == 0
                                  : code == HN_DATA && strstr(ctx.message, pairs[i].part) &&
                                        strstr(ctx.message, path[0]);
        if (!good)
            fprintf(stderr, "    %s: code %d, \"%s\", \"%s\"\n", pairs[i].text, (int)code,
                    ctx.message, text);
        CU_ASSERT_TRUE(good);
    }
}

static const struct hn_test tests[] = {
    {"pairs of texts", test_pairs},
    {"what is read of small files", test_readings},
    {"a file that changes", test_changed},
    {"a piece that changes", test_changed_piece},
    {"a corpus that changes", test_changed_corpus},
    {"batches and negatives of other programs", test_given},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "read", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
