// SPDX-License-Identifier: GPL-3.0-or-later
// Every import format of the list: its name and first bytes, and files that are none of its own.
#include "core/random.h"
#include "datasets/h5.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 320, PLACES_MAX = 200 };

static char folder[256];

// Names, endings and first bytes belong to one format each.
static void test_list(void) {
    for (int i = 0; hn_formats[i]; i++) {
        CU_ASSERT_STRING_EQUAL(hn_format_names[i + 1], hn_formats[i]->name);
        for (int k = 0; k < i; k++) {
            const struct hn_format *a = hn_formats[i], *b = hn_formats[k];
            CU_ASSERT_STRING_NOT_EQUAL(a->name, b->name);
            if (a->magic && b->magic)
                CU_ASSERT_STRING_NOT_EQUAL(a->magic, b->magic);
            for (const char *const *one = a->endings; *one; one++)
                for (const char *const *other = b->endings; *other; other++)
                    CU_ASSERT_STRING_NOT_EQUAL(*one, *other);
        }
    }
}

// Rows that were read are all there; else the message names the file.
static void check_outcome(const struct hn_context *ctx, enum hn_code code, const char *path,
                          const struct hn_array *a) {
    double sum = 0;
    CU_ASSERT(code == HN_OK || code == HN_DATA || code == HN_USAGE);
    if (code != HN_OK) {
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx->message, path));
        return;
    }
    CU_ASSERT_FATAL(a->rank == 2 && a->real && a->shape[0] > 0 && a->shape[1] > 0);
    for (int64_t i = 0; i < a->shape[0] * a->shape[1]; i++)
        sum += a->real[i] > 0;
    CU_ASSERT(sum >= 0);
}

// Reads the bytes as a file of the format, with every allocation failing once.
static void read_bytes(enum hn_format_choice choice, const char *bytes, size_t size) {
    const struct hn_format *format = hn_formats[choice - 1];
    const struct hn_wanted want = {.labels = false};
    char path[PATH];
    enum hn_code code = HN_MEMORY;
    snprintf(path, sizeof path, "%s/odd%s", folder, *format->endings ? *format->endings : ".raw");
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    for (int64_t k = 1; code == HN_MEMORY && k < PLACES_MAX; k++) {
        struct hn_context ctx;
        struct hn_array a;
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        HN_SCOPE(&ctx);
        code = hn_format_read(&ctx, path, choice, &want, &a);
        if (code != HN_MEMORY)
            check_outcome(&ctx, code, path, &a);
    }
    CU_ASSERT_NOT_EQUAL(code, HN_MEMORY);
    unlink(path);
}

// Empty, short, random and nearly right files, behind the first bytes of the format and without.
static void test_odd_files(void) {
    static const char *const text[] = {"",
                                       "\n",
                                       "1 2\n3 4\n",
                                       "1 2\n3\n",
                                       "9999999999 9999999999\n1\n",
                                       "-1 -1\n",
                                       "nan inf\n",
                                       "\n% a comment\n2 1\n1\n2\n"};
    enum { TEXTS = sizeof text / sizeof text[0], RANDOM = 24, SIZE = 200 };
    char bytes[HN_FILE_HEAD + SIZE];
    struct hn_stream s;
    for (int i = 0; hn_formats[i]; i++)
        for (int k = 0; k < 2 * (TEXTS + RANDOM); k++) {
            const struct hn_format *format = hn_formats[i];
            size_t head = k % 2 && format->magic ? format->magic_bytes : 0, length;
            CU_ASSERT_FATAL(head <= HN_FILE_HEAD);
            if (head)
                memcpy(bytes, format->magic, head);
            if (k / 2 < TEXTS) {
                length = strlen(text[k / 2]);
                memcpy(bytes + head, text[k / 2], length);
            } else {
                hn_stream_open(&s, 1, "odd files", i, k, 0);
                length = 1 + hn_stream_below(&s, SIZE);
                for (size_t b = 0; b < length; b++)
                    bytes[head + b] = (char)hn_stream_below(&s, 256);
            }
            read_bytes((enum hn_format_choice)(i + 1), bytes, head + length);
        }
}

static const struct hn_test tests[] = {
    {"every format has a name and endings of its own", test_list},
    {"every format refuses odd files", test_odd_files},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    hn_fixture_folder(folder, sizeof folder);
    int status =
        hn_test_main(argc, argv, "every_import", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
