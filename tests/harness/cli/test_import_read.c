// SPDX-License-Identifier: GPL-3.0-or-later
// The commands around snapshot files: import, info, validate.
#include "core/options/option_argv.h"
#include "datasets/snapshot.h"
#include "harness/cli/command.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 320, ARGS = 24, N = 12, D = 5 };

// Runs `import` and the like with arguments as on the command line, "@" standing for the folder.
static enum hn_code run(const struct hn_command *command, const char *const *words) {
    char text[ARGS][PATH], *argv[ARGS + 1] = {NULL};
    const char *positional[ARGS];
    int argc = 0;
    for (argv[argc++] = (char *)command->name; words[argc - 1] && argc < ARGS; argc++) {
        const char *word = words[argc - 1];
        snprintf(text[argc], PATH, "%s%s", word[0] == '@' ? folder : "", word + (word[0] == '@'));
        argv[argc] = text[argc];
    }
    int64_t live = ctx.memory.live;
    void *params = hn_zalloc(&ctx, 1, command->params_size);
    struct hn_call call = {.quiet = true, .args = positional, .params = params};
    if (!params)
        return HN_MEMORY;
    enum hn_code code = hn_options_init(&ctx, command->options, params);
    if (code == HN_OK) {
        code =
            hn_options_argv(&ctx, command->options, params, argc, argv, positional, &call.n_args);
        if (code == HN_OK)
            code = hn_command_run(&ctx, command, &call);
        hn_options_free(&ctx, command->options, params);
    }
    hn_free(&ctx, params);
    CU_ASSERT_EQUAL(ctx.memory.live, live);
    return code;
}

#define IMPORT(...) run(&hn_cmd_import, (const char *const[]){__VA_ARGS__, NULL})

static void write_npy(const char *name, const char *type, const char *shape, const void *data,
                      size_t bytes) {
    char path[PATH], header[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", type, shape);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    fputc(length & 255, file);
    fputc(length >> 8, file);
    fwrite(header, 1, (size_t)length, file);
    fwrite(data, 1, bytes, file);
    fclose(file);
}

static void rows(float *x, float shift) {
    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i % 7 - 3) + shift;
}

// x0.npy, x1.npy, v.npy: [N x D]; y.npy: labels 0 to 2.
static void set_up(void) {
    hn_h5_quiet();
    hn_context_init(&ctx, 2);
    float x[N * D];
    int64_t labels[N];
    for (int i = 0; i < N; i++)
        labels[i] = i % 3;
    static const char *const name[] = {"x0.npy", "x1.npy", "v.npy"};
    for (int k = 0; k < 3; k++) {
        rows(x, 0.25F * (float)(k + 1));
        write_npy(name[k], "<f4", "(12, 5)", x, sizeof x);
    }
    write_npy("y.npy", "<i8", "(12,)", labels, sizeof labels);
    char path[PATH];
    snprintf(path, sizeof path, "%s/out.h5", folder);
    unlink(path);
}

static struct hn_snapshot *open_output(void) {
    char path[PATH];
    struct hn_snapshot *s;
    snprintf(path, sizeof path, "%s/out.h5", folder);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    HN_CHECK(&ctx, hn_snapshot_validate(&ctx, s));
    return s;
}

static void check_raw(struct hn_snapshot *s, int which, int64_t index, float shift) {
    float want[N * D], got[N * D];
    rows(want, shift);
    HN_CHECK(&ctx, hn_snapshot_read_raw(&ctx, s, which, index, got));
    CU_ASSERT_EQUAL(memcmp(want, got, sizeof want), 0);
}

static void test_new_and_append(void) {
    set_up();
    char path[PATH];
    snprintf(path, sizeof path, "%s/names.txt", folder);
    FILE *file = fopen(path, "w");
    fputs("cat\r\ndog\nship", file);
    fclose(file);
    HN_CHECK(&ctx, IMPORT("--embeddings", "@/x0.npy", "--labels", "@/y.npy", "--view2", "@/v.npy",
                          "--label-names", "@/names.txt", "--title", "twelve", "-o", "@/out.h5",
                          "--compress", "4"));
    HN_CHECK(&ctx,
             IMPORT("-e", "@/x1.npy", "--view2", "@/v.npy", "--step", "50", "-o", "@/out.h5"));
    HN_CHECK(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "--view2", "@/x0.npy", "--step", "51",
                          "-o", "@/out.h5"));
    struct hn_snapshot *s = open_output();
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    CU_ASSERT_TRUE(info->n == N && info->d == D && info->steps == 3 && info->classes == 3);
    CU_ASSERT_TRUE(info->step[1] == 50 && info->step[2] == 51 && !info->normalized);
    CU_ASSERT_STRING_EQUAL(info->about.title, "twelve");
    CU_ASSERT_STRING_EQUAL(info->label_name[0], "cat");
    CU_ASSERT_STRING_EQUAL(info->label_name[2], "ship");
    CU_ASSERT_EQUAL(strncmp(info->tool_version, "hardneg ", 8), 0);
    check_raw(s, 0, 0, 0.25F);
    check_raw(s, 0, 1, 0.5F);
    check_raw(s, 2, 1, 0.75F);
    check_raw(s, 2, 2, 0.25F);
    hn_snapshot_close(&ctx, s);
}

static void test_ann_benchmarks(void) {
    set_up();
    char path[PATH];
    float x[N * D];
    const hsize_t dim[] = {N, D};
    snprintf(path, sizeof path, "%s/ann.hdf5", folder);
    rows(x, 0.25F);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, dim, NULL);
    hid_t data =
        H5Dcreate2(file, "train", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_TRUE(H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
    HN_CHECK(&ctx, IMPORT("-e", "@/ann.hdf5", "-l", "@/y.npy", "-o", "@/out.h5"));
    struct hn_snapshot *s = open_output();
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->classes, 3);
    check_raw(s, 0, 0, 0.25F);
    hn_snapshot_close(&ctx, s);
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy", "--step", "3", "-o", "@/ann.hdf5"), HN_USAGE,
                   "gets no steps");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/out.h5", "-o", "@/other.h5"), HN_DATA, "snapshot already");
}

// Rows as .fvecs (and the same row lengths as .bvecs), each behind its length.
static void put_vecs(const char *name, const float *x, int64_t n, int32_t d, size_t extra) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int64_t i = 0; i < n; i++) {
        fwrite(&d, sizeof d, 1, file);
        for (int64_t k = 0; k < d; k++)
            if (strstr(name, ".bvecs"))
                fputc((int)(i + k), file);
            else
                fwrite(&x[i * d + k], sizeof *x, 1, file);
    }
    for (size_t k = 0; k < extra; k++)
        fputc(1, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void test_vecs(void) {
    set_up();
    float x[N * D], raw[N * D];
    rows(x, 0.25F);
    put_vecs("x.fvecs", x, N, D, 0);
    put_vecs("x.bvecs", x, N, D, 0);
    HN_CHECK(&ctx,
             IMPORT("-e", "@/x.fvecs", "-l", "@/y.npy", "--view2", "@/x.fvecs", "-o", "@/out.h5"));
    struct hn_snapshot *s = open_output();
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->classes, 3);
    check_raw(s, 0, 0, 0.25F);
    check_raw(s, 2, 0, 0.25F);
    hn_snapshot_close(&ctx, s);
    // More steps need no labels; a new file has items without.
    HN_CHECK(&ctx,
             IMPORT("-e", "@/x.bvecs", "--view2", "@/x.fvecs", "--step", "1", "-o", "@/out.h5"));
    HN_CHECK(&ctx, IMPORT("-e", "@/x.bvecs", "-o", "@/bytes.h5"));
    char path[PATH];
    snprintf(path, sizeof path, "%s/bytes.h5", folder);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    CU_ASSERT(hn_snapshot_info(s)->unlabelled == N && hn_snapshot_info(s)->d == D);
    HN_CHECK(&ctx, hn_snapshot_read_raw(&ctx, s, 0, 0, raw));
    for (int i = 0; i < N * D; i++)
        CU_ASSERT_EQUAL(raw[i], (float)(i / D + i % D));
    hn_snapshot_close(&ctx, s);
    put_vecs("cut.fvecs", x, N, D, 3);
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/cut.fvecs", "-o", "@/a.h5"), HN_DATA,
                   "cut.fvecs: row 12 is cut short");
    put_vecs("ragged.fvecs", x, N, D, 4 + 4 * D); // lengths of 0x01010101
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/ragged.fvecs", "-o", "@/a.h5"), HN_DATA,
                   "row 12 says it has 16843009 values, row 0 has 5");
    put_vecs("large.fvecs", x, 0, D, 64);
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/large.fvecs", "-o", "@/a.h5"), HN_DATA,
                   "row 0 says it has 16843009 values; 1 to 1048576");
    put_vecs("empty.fvecs", x, 0, D, 2);
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/empty.fvecs", "-o", "@/a.h5"), HN_DATA,
                   "ends within the first row");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/none.fvecs", "-o", "@/a.h5"), HN_DATA, "cannot be opened");
}

static void put_bad_files(void) {
    float x[N * D] = {1};
    int64_t labels[N] = {0};
    write_npy("narrow.npy", "<f4", "(12, 4)", x, 12 * 4 * 4);
    write_npy("short.npy", "<i8", "(11,)", labels, 11 * 8);
    write_npy("cube.npy", "<f4", "(12, 5, 1)", x, sizeof x);
    labels[4] = 9;
    write_npy("other.npy", "<i8", "(12,)", labels, sizeof labels);
    rows(x, 0);
    x[3 * D + 2] = NAN;
    write_npy("nan.npy", "<f4", "(12, 5)", x, sizeof x);
    put("two.txt", "cat\ndog\n");
}

static void test_refused(void) {
    set_up();
    put_bad_files();
#define OUT "-o", "@/out.h5"
    HN_CHECK_FAILS(&ctx, IMPORT(OUT), HN_USAGE, "--embeddings is missing");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy"), HN_USAGE, "--output is missing");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/none.npy", "-l", "@/y.npy", OUT), HN_DATA, "none.npy");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/y.npy", "-l", "@/y.npy", OUT), HN_DATA, "1 dimension;");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/cube.npy", "-l", "@/y.npy", OUT), HN_DATA, "3 dimensions");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/x0.npy", OUT), HN_DATA,
                   "list of integers");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/short.npy", OUT), HN_DATA,
                   "short.npy has 11 labels but ");
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "x0.npy has 12 rows"));
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "--view2", "@/narrow.npy", OUT),
                   HN_DATA, "narrow.npy is [12, 4] but ");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/nan.npy", "-l", "@/y.npy", OUT), HN_DATA,
                   "row 3 holds NaN at column 2");
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "nan.npy"));
    HN_CHECK_FAILS(&ctx,
                   IMPORT("-e", "@/x0.npy", "-l", "@/other.npy", "--label-names", "@/two.txt", OUT),
                   HN_DATA, "has label 9");
    char path[PATH];
    snprintf(path, sizeof path, "%s/lines.txt", folder);
    FILE *file = fopen(path, "w"); // more names than a reader of the file would take
    for (int i = 0; file && i <= HN_LABEL_NAMES_MAX; i++)
        (void)fputc('\n', file);
    CU_ASSERT_FATAL(file && fclose(file) == 0);
    HN_CHECK_FAILS(&ctx,
                   IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "--label-names", "@/lines.txt", OUT),
                   HN_DATA, "holds at most 1048576");
    snprintf(path, sizeof path, "%s/out.h5", folder);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
#undef OUT
}

// What cannot be appended leaves the file as it was.
static void test_append_refused(void) {
    set_up();
    put_bad_files();
#define OUT "-o", "@/out.h5"
    HN_CHECK(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "--step", "10", OUT));
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x1.npy", OUT), HN_USAGE, "give --step");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x1.npy", "--step", "10", OUT), HN_USAGE,
                   "does not come after step 10");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/narrow.npy", "--step", "11", OUT), HN_DATA,
                   "12 items of 5 dims");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x1.npy", "-l", "@/other.npy", "--step", "11", OUT),
                   HN_DATA, "of row 1 differs from");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x1.npy", "--view2", "@/v.npy", "--step", "11", OUT),
                   HN_DATA, "has view2");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/nan.npy", "--step", "11", OUT), HN_DATA, "row 3");
    HN_CHECK_FAILS(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "-o", "@/y.npy"), HN_DATA,
                   "is not an HDF5 file");
    struct hn_snapshot *s = open_output();
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->steps, 1);
    hn_snapshot_close(&ctx, s);
#undef OUT
}

static void test_memory(void) {
    set_up();
    HN_CHECK(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "-o", "@/out.h5"));
    enum hn_code code = HN_MEMORY;
    int64_t k = 0;
    while (code != HN_OK && k < 1000) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = IMPORT("-e", "@/x1.npy", "--step", "7", "-o", "@/out.h5");
        CU_ASSERT_TRUE_FATAL(code == HN_OK || code == HN_MEMORY);
    }
    ctx.memory.fail_at = 0;
    CU_ASSERT_TRUE(k > 20);
    struct hn_snapshot *s = open_output();
    CU_ASSERT_EQUAL(hn_snapshot_info(s)->steps, 2);
    hn_snapshot_close(&ctx, s);
}

// The exit code is that of the first bad file, and the others are looked at.
static void test_validate(void) {
    set_up();
    HN_CHECK(&ctx, IMPORT("-e", "@/x0.npy", "-l", "@/y.npy", "-o", "@/out.h5"));
    CU_ASSERT_EQUAL(run(&hn_cmd_validate, (const char *const[]){"@/out.h5", "@/out.h5", NULL}),
                    HN_OK);
    FILE *kept = stderr;
    stderr = fopen("/dev/null", "w");
    CU_ASSERT_EQUAL(run(&hn_cmd_validate, (const char *const[]){"@/out.h5", "@/y.npy", NULL}),
                    HN_DATA);
    fclose(stderr);
    stderr = kept;
}

static const char good_features[] =
    "# toy: nodes=4 features=6\n0 2 0 3\n1 0 1\n2 -1 1 2 4\r\n\n3 2 3\n";
static const char good_edges[] = "0 1\n1 2\n2 1\n3 3\n";

static void write_toy(const char *features, const char *edges, const char *split) {
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/toy", folder);
    (void)mkdir(path, 0700);
    put("toy/toy.features", features);
    put("toy/toy.edges", edges);
    put("toy/toy.split", split);
}

static void test_linqs(void) {
    struct hn_snapshot *s;
    struct hn_items items;
    char path[PATH];
    hn_context_init(&ctx, 2);
    write_toy(good_features, good_edges, "0 train\n2 test\n1 val\n");
    HN_CHECK(&ctx, IMPORT("--linqs", "@/toy", "-o", "@/toy.h5"));
    snprintf(path, sizeof path, "%s/toy.h5", folder);
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &s));
    HN_CHECK(&ctx, hn_snapshot_validate(&ctx, s));
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    CU_ASSERT(info->n == 4 && info->d == 6 && info->steps == 1);
    CU_ASSERT(info->has_graph && info->has_features && info->split && !info->has_view2);
    CU_ASSERT_STRING_EQUAL(info->about.encoder, "none: raw features");
    CU_ASSERT_STRING_EQUAL(info->about.title, "toy");
    CU_ASSERT_EQUAL(info->unlabelled, 1);
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, s, 0, &items));
    static const int8_t split[] = {0, 1, 2, -1};
    static const int32_t labels[] = {2, 0, -1, 2}, target[] = {1, 0, 2, 1};
    static const int64_t start[] = {0, 1, 3, 4, 4};
    CU_ASSERT_EQUAL(memcmp(info->split, split, sizeof split), 0);
    CU_ASSERT_EQUAL(memcmp(items.labels, labels, sizeof labels), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(items.graph);
    CU_ASSERT_EQUAL(memcmp(items.graph->start, start, sizeof start), 0);
    CU_ASSERT_EQUAL(memcmp(items.graph->target, target, sizeof target), 0);
    const struct hn_features *f = items.features;
    CU_ASSERT_FATAL(f && f->n == 4 && !f->dense.data);
    // Features and embeddings say the same, both as unit rows.
    for (int64_t i = 0; i < 4; i++) {
        float row[6] = {0};
        for (int64_t k = f->start[i]; k < f->start[i + 1]; k++)
            row[f->index[k]] = f->value[k];
        CU_ASSERT_EQUAL(memcmp(row, hn_row(&items.x, i), sizeof row), 0);
    }
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, s);
    HN_CHECK_FAILS(&ctx, IMPORT("--linqs", "@/toy", "-o", "@/toy.h5"), HN_USAGE, "exists");
    HN_CHECK_FAILS(&ctx, IMPORT("--linqs", "@/toy", "--labels", "@/y.npy", "-o", "@/t2.h5"),
                   HN_USAGE, "leave out");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_linqs_refused(void) {
    static const struct {
        const char *features, *edges, *split, *part;
    } cases[] = {
        {"0 1 2\n2 1 3\n", good_edges, "", "toy.features: line 2: node 2 where node 1 should be"},
        {"0 1 2\n1 x 3\n", good_edges, "", "line 2: the label is 'x'"},
        {"0 1 2\n1\n", good_edges, "", "line 2: the label is missing"},
        {"0 1 2 2\n", good_edges, "", "line 1: the features do not ascend"},
        {"0 1 5 2\n", good_edges, "", "line 1: the features do not ascend"},
        {"# features=3\n0 1 3\n", good_edges, "",
         "line 2: the feature is '3', not a whole number from 0 to 2"},
        {"0 1 9999999999\n", good_edges, "", "the feature is '9999999999'"},
        {"0 -2 1\n", good_edges, "", "line 1: the label is '-2'"},
        {"0 1\n", good_edges, "", "holds no node with a feature"},
        {"", good_edges, "", "holds no node"},
        {"0 1 2\n1 1\n", "", "", "row 1 is all zeros"},
        {good_features, "0 1\n1 4\n", "", "toy.edges: line 2: the second node is '4'"},
        {good_features, "0 1\n\n-1 2\n", "", "toy.edges: line 3: the first node is '-1'"},
        {good_features, "0 1 2\n", "", "toy.edges: line 1: there is more"},
        {good_features, "0\n", "", "toy.edges: line 1: the second node is missing"},
        {good_features, good_edges, "0 train\n1 dev\n", "toy.split: line 2: after the node"},
        {good_features, good_edges, "9 train\n", "toy.split: line 1: the node is '9'"},
        {good_features, good_edges, "1\n", "toy.split: line 1: after the node"},
    };
    hn_context_init(&ctx, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_toy(cases[i].features, cases[i].edges, cases[i].split);
        HN_CHECK_FAILS(&ctx, IMPORT("--linqs", "@/toy", "-o", "@/bad.h5"), HN_DATA, cases[i].part);
        char path[PATH];
        snprintf(path, sizeof path, "%s/bad.h5", folder);
        CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    }
    HN_CHECK_FAILS(&ctx, IMPORT("--linqs", "@/nowhere", "-o", "@/bad.h5"), HN_DATA,
                   "holds 0 files");
    // Few bytes may not ask for much memory.
    char text[80] = "# features=1048576\n0 1 2\n";
    write_toy(text, "", "");
    HN_CHECK(&ctx, IMPORT("--linqs", "@/toy", "-o", "@/wide.h5"));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_linqs_memory(void) {
    write_toy(good_features, good_edges, "0 train\n");
    enum hn_code code = HN_MEMORY;
    int64_t k = 1;
    for (; code == HN_MEMORY; k++) {
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        code = IMPORT("--linqs", "@/toy", "-o", "@/toy-memory.h5");
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    CU_ASSERT(k > 15);
}

static const struct hn_test tests[] = {
    {"a folder of LINQS-like text", test_linqs},
    {"text that is refused", test_linqs_refused},
    {"every allocation of it fails once", test_linqs_memory},
    {"a new file and steps appended", test_new_and_append},
    {"the layout of ann-benchmarks", test_ann_benchmarks},
    {"fvecs and bvecs", test_vecs},
    {"input that is refused", test_refused},
    {"steps that are refused", test_append_refused},
    {"every allocation fails once", test_memory},
    {"validate", test_validate},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "import", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
