// SPDX-License-Identifier: GPL-3.0-or-later
// Errors in job files: the place and the remedy in every message.
#include "core/text.h"
#include "tests/job_fixture.h"

#include <sys/stat.h>

enum { TEXT = 4096, LINE = 1024 };

// \xNN and \\ become their bytes; a backslash alone is an empty line.
static void decode(char *line) {
    char *to = line;
    for (const char *at = line; *at; at++) {
        unsigned byte;
        if (*at == '\\' && sscanf(at, "\\x%2x", &byte) == 1) {
            *to++ = (char)byte;
            at += 3;
        } else if (*at != '\\' || *++at == '\\') {
            *to++ = *at;
        } else {
            CU_ASSERT_FATAL(*at == '\0');
            break;
        }
    }
    *to = '\0';
}

// A line of a case into the text of the job or its overrides, which are apart by '|'.
static void add_line(char text[TEXT], char set[LINE], char *line) {
    char *at;
    if (strncmp(line, "--set ", 6) == 0)
        hn_append(set, LINE, "%s%s", *set ? "|" : "", line + 6);
    else if ((at = strstr(line, "@short")) || (at = strstr(line, "@before")))
        hn_append(text, TEXT, "%.*s%s", (int)(at - line), line, at[1] == 's' ? SHORT : BEFORE);
    else
        hn_append(text, TEXT, "%s\n", line);
}

static void check_case(struct bench *b, const char *text, const char *set, const char *wanted) {
    struct hn_job job;
    if (!*set) {
        fails(b, text, wanted);
        return;
    }
    CU_ASSERT_EQUAL(read_text(b, text, set, &job), HN_USAGE);
    check_message(b, wanted);
}

// The cases of errors.txt.
static void test_every_case(void) {
    struct bench b;
    char text[TEXT] = "", set[LINE] = "", line[LINE];
    int64_t cases = 0;
    FILE *file = fopen("tests/harness/job/errors.txt", "r");
    if (!file)
        hn_test_skip("not run from the root of the checkout");
    set_up(&b);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line || (*line == '#' && !*text && !*set))
            continue;
        decode(line);
        if (strncmp(line, "= ", 2) != 0) {
            add_line(text, set, line);
            continue;
        }
        check_case(&b, text, set, line + 2);
        *text = *set = '\0';
        cases++;
    }
    (void)fclose(file);
    CU_ASSERT(cases > 100 && !*text && !*set);
    tear_down(&b);
}

static void test_files(void) {
    struct bench b;
    struct hn_job job;
    char path[700];
    set_up(&b);
    hn_own(&b.ctx, b.jobs);
    snprintf(path, sizeof path, "%s/missing.yaml", b.folder);
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, path, NULL, NULL, hn_figure_id, &job), HN_USAGE,
                   "missing.yaml");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, path, NULL, NULL, hn_figure_id, &job), HN_USAGE,
                   "No such file");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, b.folder, NULL, NULL, hn_figure_id, &job), HN_USAGE,
                   "it is a folder");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "", NULL, NULL, hn_figure_id, &job), HN_USAGE,
                   "cannot be opened");
    HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, "/dev/zero", NULL, NULL, hn_figure_id, &job),
                   HN_USAGE, "it is a device");
    write_bytes(b.path, SHORT, strlen(SHORT));
    CU_ASSERT_EQUAL(chmod(b.path, 0), 0);
    if (geteuid() != 0) // the superuser reads everything
        HN_CHECK_FAILS(&b.ctx, hn_job_read(&b.ctx, b.path, NULL, NULL, hn_figure_id, &job),
                       HN_USAGE, "Permission denied");
    tear_down(&b);
}

static const struct hn_test tests[] = {
    {"every_case", test_every_case},
    {"files", test_files},
};

HN_TEST_MAIN("job_errors", tests)
