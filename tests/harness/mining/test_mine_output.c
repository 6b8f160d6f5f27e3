// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of mined negatives while memory is short, and where processes share the mining.
#include "harness/mining/mining.h"
#include "harness/mining/output.h"
#include "tests/parts_player.h"
#include "tests/retrieval/mining_fixture.h"
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

// Mines all queries, shared as `player` says unless it has no store, and reads what was written.
static enum hn_code mine_all_queries(const struct hn_miner *miner, struct player *player,
                                     char text[4 * TEXT]) {
    struct hn_mine_output out;
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_mine_output_begin(&ctx, in_folder("out"), NULL, false, HN_MINE_JSONL, &out));
    out.miner = miner;
    struct hn_mining mining = {.miner = miner, .file = &out, .settings = "s", .quiet = true};
    ctx.parts = player->store ? &player->parts : NULL;
    enum hn_code code = hn_mine_output_end(&ctx, &out, hn_mining_run(&ctx, &mining));
    ctx.parts = NULL;
    FILE *f = fopen(in_folder("out"), "rb");
    if (f) {
        text[fread(text, 1, 4 * TEXT - 1, f)] = '\0';
        fclose(f);
        CU_ASSERT_EQUAL(unlink(in_folder("out")), 0);
    }
    return code;
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

// What one process mines another takes in: the same lines; and bytes of other sizes are bad data.
static void check_parts(void) {
    enum { WORD = sizeof(int64_t) };
    static const struct {
        int64_t at, word; // of a piece: queries, and negatives of each
    } words[] = {{0, 0}, {0, INT64_MAX}, {WORD, -1}, {WORD, 1000}};
    static struct store store;
    struct small data;
    struct hn_stream stream;
    HN_SCOPE(&ctx);
    hn_stream_open(&stream, 1, "test.mine.parts", 0, 0, 0);
    do
        make_small(&ctx, &stream, &data);
    while (data.n[HN_QUERIES] < 4 || data.n[HN_CORPUS] < 10);
    HN_CHECK(&ctx, hn_strings_count(&ctx, &data.data.id[HN_QUERIES], data.n[HN_QUERIES]));
    HN_CHECK(&ctx, hn_strings_count(&ctx, &data.data.id[HN_CORPUS], data.n[HN_CORPUS]));
    struct hn_mine_options o = no_options(HN_PRESET_NONE);
    struct hn_miner miner;
    o.n = 3;
    HN_CHECK(&ctx, hn_miner_open(&ctx, &data.data, &o, "test", &miner));
    char wanted[4 * TEXT], text[4 * TEXT];
    struct player player = {.store = NULL};
    HN_CHECK(&ctx, mine_all_queries(&miner, &player, wanted));
    player_open(&player, &store, 0, 1);
    player.parts.count = 2;
    HN_CHECK(&ctx, mine_all_queries(&miner, &player, text));
    CU_ASSERT_STRING_EQUAL(text, wanted);
    CU_ASSERT(player.computed > 0);
    player.computed = 0;
    HN_CHECK(&ctx, mine_all_queries(&miner, &player, text));
    CU_ASSERT_STRING_EQUAL(text, wanted);
    CU_ASSERT_EQUAL(player.computed, 0);
    player.changes = true;
    for (int k = 0; k < 4; k++) {
        player.at = words[k].at;
        player.word = words[k].word;
        HN_CHECK_FAILS(&ctx, mine_all_queries(&miner, &player, text), HN_DATA, "of other sizes");
    }
    player.at = (int64_t)(2 * WORD + sizeof(struct hn_mine_counts)); // of the first queries
    for (player.word = -1; player.word < 1000; player.word += 1000) {
        HN_CHECK_FAILS(&ctx, mine_all_queries(&miner, &player, text), HN_DATA, "of other sizes");
    }
    player.changes = false;
    for (player.cut = 1; player.cut <= store.stored[0].n; player.cut += 7)
        HN_CHECK_FAILS(&ctx, mine_all_queries(&miner, &player, text), HN_DATA, "of other sizes");
    CU_ASSERT_EQUAL(access(in_folder("out"), F_OK), -1);
    store_free(&store);
}

static void test_parts(void) {
    begin();
    check_parts();
    end();
}

static const struct hn_test tests[] = {{"short memory", test_short_memory}, {"parts", test_parts}};

HN_TEST_MAIN("mine_output", tests)
