// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that gnuplot draws into memory, in its place written here.
#include "plots/page/picture.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const latex[] = {"tex", "pdf", NULL};
static struct hn_context ctx;
static struct hn_scope scope;
static struct hn_pictures pictures;
static char folder[256], path[300];

static const char *in_folder(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void begin(const char *const *endings) {
    hn_context_init(&ctx, 1);
    hn_scope_begin(&ctx, &scope);
    hn_fixture_folder(folder, sizeof folder);
    HN_CHECK(&ctx, hn_pictures_begin(&ctx, folder, "f", endings, &pictures));
}

static void end(void) {
    hn_fixture_remove(folder);
    hn_scope_end(&scope);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// As gnuplot does.
static void draw(const char *name, const char *text) {
    FILE *f = fopen(in_folder(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static bool holds(const char *name, const char *text) {
    char bytes[200];
    FILE *f = fopen(in_folder(name), "r");
    size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f)
        fclose(f);
    return f && n == strlen(text) && memcmp(bytes, text, n) == 0;
}

static bool is_file(const char *name) {
    struct stat about;
    return lstat(in_folder(name), &about) == 0 && S_ISREG(about.st_mode);
}

static void whole(void) {
    begin(latex);
    draw("f.tex", "\\begingroup\n\\endgroup\n");
    draw("f.pdf", "%PDF /CreationDate (D:20261129081500+00'00) %%EOF\n");
    HN_CHECK(&ctx, hn_pictures_end(&ctx, &pictures, "out", HN_OK));
    CU_ASSERT(is_file("f.tex") && holds("f.tex", "\\begingroup\n\\endgroup\n"));
    CU_ASSERT(is_file("f.pdf"));
    CU_ASSERT(holds("f.pdf", "%PDF /CreationDate (D:19700101000000+00'00) %%EOF\n"));
    end();
}

static void part(void) {
    static const char *const pieces[][2] = {
        {"svg", "<svg><g>"}, {"svg", ""}, {"pdf", "%PDF %%EO"}, {"png", "PNG IEN"}};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        const char *const ending[] = {pieces[i][0], NULL};
        char name[16];
        begin(ending);
        snprintf(name, sizeof name, "f.%s", *ending);
        draw(name, pieces[i][1]);
        HN_CHECK_FAILS(&ctx, hn_pictures_end(&ctx, &pictures, "out", HN_OK), HN_IO,
                       ": is the disk full?");
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "out/f."));
        end();
    }
}

// A disk that is full when the picture is written, which gnuplot would not have noticed.
static void full(void) {
    static const char *const svg[] = {"svg", NULL};
    static char text[6000];
    struct rlimit old, small;
    memset(text, ' ', sizeof text - 1);
    memcpy(text + sizeof text - 8, "</svg>\n", 8);
    begin(svg);
    draw("f.svg", text);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){5000, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum hn_code code = hn_pictures_end(&ctx, &pictures, "out", HN_OK);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    CU_ASSERT_EQUAL(code, HN_IO);
    CU_ASSERT_STRING_EQUAL(ctx.message, "out/f.svg: writing failed: is the disk full?");
    end();
}

// gnuplot failed: its code stays, and what it has drawn is not looked at.
static void failed(void) {
    begin(latex);
    draw("f.tex", "\\begingroup\n");
    CU_ASSERT_EQUAL(hn_fail(&ctx, HN_GNUPLOT, "no"), HN_GNUPLOT);
    CU_ASSERT_EQUAL(hn_pictures_end(&ctx, &pictures, "out", HN_GNUPLOT), HN_GNUPLOT);
    CU_ASSERT_STRING_EQUAL(ctx.message, "no");
    CU_ASSERT(!is_file("f.tex"));
    end();
}

static void out_of_memory(void) {
    for (int k = 1; k <= 3; k++) {
        hn_context_init(&ctx, 1);
        hn_scope_begin(&ctx, &scope);
        hn_fixture_folder(folder, sizeof folder);
        ctx.memory.fail_at = k;
        enum hn_code code = hn_pictures_begin(&ctx, folder, "f", latex, &pictures);
        if (!code) {
            draw("f.tex", "\\endgroup\n");
            draw("f.pdf", "%%EOF\n");
            code = hn_pictures_end(&ctx, &pictures, "out", HN_OK);
        }
        CU_ASSERT_EQUAL(code, HN_MEMORY);
        CU_ASSERT_EQUAL(pictures.n, 0);
        ctx.memory.fail_at = 0;
        end();
    }
}

static const struct hn_test tests[] = {
    {"whole", whole},
    {"part", part},
    {"full", full},
    {"failed", failed},
    {"out_of_memory", out_of_memory},
};
HN_TEST_MAIN("picture", tests)
