// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of mined negatives while memory is short.
#include "harness/mining/output.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"
#include "tests/scratch.h"

#include <jansson.h>
#include <stdlib.h>

enum { TEXT = 1024 };

static int allowed; // allocations of JSON before one fails

static void *allocate(size_t bytes) { return allowed-- != 0 ? malloc(bytes) : NULL; }

// Writes a query with two positives and two negatives, while the allocation after `calls` fails.
static enum hn_code write_query(enum hn_mine_format format, int calls) {
    int32_t passage[] = {0, 1}, grade[] = {1, 1}, id[] = {2, 3}, n[] = {2};
    int64_t start[] = {0, 2};
    const float x[] = {1, 0, 0, 1, 1, 1, 0.5F, 1};
    double score[] = {0.5, 0.25};
    struct hn_miner miner = {
        .o.n = 2,
        .data = {.rows = {{x, 1, 2, 2}, {x, 4, 2, 2}},
                 .qrels = {.n = 1, .start = start, .passage = passage, .grade = grade}}};
    struct hn_mined mined = {.count = 1, .width = 2, .id = id, .score = score, .n = n};
    struct hn_mine_output out;
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_strings_count(&ctx, &miner.data.id[HN_QUERIES], 1));
    HN_CHECK(&ctx, hn_strings_count(&ctx, &miner.data.id[HN_CORPUS], 4));
    HN_CHECK(&ctx, hn_mine_output_begin(&ctx, in_folder("out"), NULL, false, format, &out));
    out.miner = &miner;
    allowed = calls;
    enum hn_code code = hn_mine_output_add(&ctx, &out, 0, &mined);
    allowed = -1;
    return hn_mine_output_end(&ctx, &out, code);
}

static void read_whole(const char *name, char text[TEXT]) {
    FILE *f = fopen(in_folder(name), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text[fread(text, 1, TEXT - 1, f)] = '\0';
    fclose(f);
}

// A line is whole, or there is no file.
static void test_short_memory(void) {
    begin();
    json_set_alloc_funcs(allocate, free);
    for (enum hn_mine_format format = HN_MINE_JSONL; format < HN_MINE_NPY; format++) {
        char wanted[TEXT], text[TEXT];
        int calls = 0;
        if (format == HN_MINE_TREC) // no JSON
            continue;
        HN_CHECK(&ctx, write_query(format, -1));
        read_whole("out", wanted);
        CU_ASSERT_EQUAL(unlink(in_folder("out")), 0);
        for (; write_query(format, calls); calls++) {
            CU_ASSERT_STRING_EQUAL(ctx.message, "no memory for the line of query 0");
            CU_ASSERT_EQUAL(access(in_folder("out"), F_OK), -1);
        }
        CU_ASSERT(calls > 10);
        read_whole("out", text);
        CU_ASSERT_STRING_EQUAL(text, wanted);
        CU_ASSERT_EQUAL(unlink(in_folder("out")), 0);
    }
    json_set_alloc_funcs(malloc, free);
    end();
}

static const struct hn_test tests[] = {{"short memory", test_short_memory}};

HN_TEST_MAIN("mine_output", tests)
