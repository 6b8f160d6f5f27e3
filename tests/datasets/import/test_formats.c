// SPDX-License-Identifier: GPL-3.0-or-later
// Formats when memory runs out, and files that are cut.
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 320, PLACES_MAX = 200 };

static char folder[256];

static const struct {
    const char *name;
    struct hn_wanted want;
} files[] = {{"x.npy", {.dim = 0}},
             {"texts.npy", {.labels = true}},
             {"stored.npz", {.labels = true}},
             {"deflated.npz", {.name = "x"}},
             {"wide.npz", {.name = "x"}},
             {"one.safetensors", {.dim = 0}},
             {"many.safetensors", {.name = "brain"}},
             {"x.fvecs", {.dim = 0}},
             {"x.u8bin", {.dim = 0}},
             {"vectors.tsv", {.dim = 0}},
             {"metadata.tsv", {.labels = true, .name = "kind"}},
             {"x.f4", {.raw = 3, .dim = 4}}};
enum { FILES = sizeof files / sizeof files[0] };

// The files of tests/format_files.py: [24, 4] and 24 labels.
static void make_files(void) {
    char command[2 * PATH], out[64];
    snprintf(command, sizeof command, "/usr/bin/python3 tests/format_files.py '%s' 2>/dev/null",
             folder);
    if (hn_fixture_run(command, out, sizeof out) != 0)
        hn_test_skip("python3 with NumPy is not there");
}

static enum hn_code read_file(struct hn_context *ctx, int i, struct hn_array *a) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
    return hn_format_read(ctx, path, files[i].want.raw ? HN_FORMAT_raw : HN_FORMAT_auto,
                          &files[i].want, a);
}

static void test_memory(void) {
    make_files();
    for (int i = 0; i < FILES; i++) {
        struct hn_context ctx;
        enum hn_code code = HN_MEMORY;
        int64_t k = 0;
        while (code == HN_MEMORY && k < PLACES_MAX) {
            struct hn_array a;
            hn_context_init(&ctx, 1);
            ctx.memory.fail_at = ++k;
            HN_SCOPE(&ctx);
            code = read_file(&ctx, i, &a);
            CU_ASSERT(code == HN_OK || code == HN_MEMORY);
            if (code == HN_OK)
                CU_ASSERT_EQUAL(a.shape[0], 24);
        }
        CU_ASSERT_EQUAL(code, HN_OK);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        CU_ASSERT(k > 1);
    }
}

// A file that is cut anywhere is refused, or, where that is text or bare values, has fewer rows; of
// other tensors than the wanted one nothing is read.
static void test_cut(void) {
    make_files();
    for (int i = 0; i < FILES; i++) {
        static char bytes[1 << 14];
        char path[PATH];
        struct hn_context ctx;
        hn_context_init(&ctx, 1);
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        FILE *file = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        bool open_ended = strstr(path, ".tsv") || files[i].want.raw || strstr(path, "vecs") ||
                          strstr(path, "safetensors");
        for (size_t k = 0; k < size; k += 1 + k / 50) {
            struct hn_array a;
            file = fopen(path, "wb");
            CU_ASSERT_FATAL(file && fwrite(bytes, 1, k, file) == k && fclose(file) == 0);
            HN_SCOPE(&ctx);
            enum hn_code code = read_file(&ctx, i, &a);
            CU_ASSERT(code == HN_DATA || (open_ended && code == HN_OK && a.shape[0] <= 24));
            if (code == HN_DATA)
                CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, files[i].name));
        }
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

static const struct hn_test tests[] = {
    {"every allocation fails once", test_memory},
    {"files that are cut", test_cut},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status = hn_test_main(argc, argv, "formats", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
