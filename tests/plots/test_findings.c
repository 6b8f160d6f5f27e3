// SPDX-License-Identifier: GPL-3.0-or-later
// What a page says of trainings follows the kind of its data.
#include "plots/report/report_private.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct hn_column columns[] = {
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER},
    {"note", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"duplicate_ratio", HN_COLUMN_REAL, "share", "", HN_SMALLER, HN_ROLE_QUALITY}};

struct row {
    const char *status, *note;
    double duplicates;
};

static void says_of(const struct row *row, int n, bool counted, bool images, bool pairs) {
    struct hn_context ctx;
    struct hn_table runs;
    char *text = NULL;
    size_t size;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_table_init(&ctx, &runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &runs, columns, counted ? 3 : 2));
    for (int i = 0; i < n; i++) {
        struct hn_value values[] = {HN_TEXT_VALUE("status", row[i].status),
                                    HN_TEXT_VALUE("note", row[i].note),
                                    HN_REAL_VALUE("duplicate_ratio", row[i].duplicates),
                                    {.column = NULL}};
        if (!counted)
            values[2].column = NULL;
        HN_CHECK(&ctx, hn_table_put(&ctx, &runs, values));
    }
    FILE *html = open_memstream(&text, &size);
    hn_html_findings(html, &runs);
    fclose(html);
    CU_ASSERT_EQUAL(!!strstr(text, "On images"), images);
    CU_ASSERT_EQUAL(!!strstr(text, "On queries and passages"), pairs);
    CU_ASSERT_EQUAL(!!strstr(text, "false negatives decide"), images);
    CU_ASSERT_EQUAL(!!strstr(text, "trials.md"), pairs || images);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Harder batches need not train better encoders."));
    free(text);
    hn_table_free(&ctx, &runs);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

static void follows_the_data(void) {
    static const char known[] =
        "no positive; without /truth false negatives are those by known relevance";
    const struct row items = {"ok", "", NAN}, tuples = {"ok", "", 0}, labelled = {"ok", known, NAN},
                     failed = {"failed", "", NAN};
    says_of(&items, 1, true, true, false);
    says_of(&tuples, 1, true, false, true);
    says_of(&labelled, 1, true, false, true);
    says_of((struct row[]){failed, tuples}, 2, true, false, true);
    says_of((struct row[]){items, tuples}, 2, true, true, true);
    says_of(&failed, 1, true, false, false);
}

// Without the metric that tells them, both are said; a note is enough.
static void unknown(void) {
    const struct row any = {"ok", "", NAN},
                     labelled = {
                         "ok", "without /truth false negatives are those by known relevance", NAN};
    says_of(&any, 1, false, true, true);
    says_of(&labelled, 1, false, false, true);
}

static const struct hn_test tests[] = {
    {"follows_the_data", follows_the_data},
    {"unknown", unknown},
};
HN_TEST_MAIN("findings", tests)
