// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of documents by name, as LINQS gives them: small files. Those by number are tested where
// they are imported (tests/harness/cli/test_import_read.c).
#include "core/text.h"
#include "datasets/linqs.h"
#include "tests/scratch.h"

static const char content[] = "p9\t0\t1\t0\t2.5\tTheory\n"
                              "p1\t0\t0\t0\t0\tAgents\n"
                              "31,1,0,0,0.5,Theory\n"
                              "p2\t0\t0\t1\t0\tML\n";
static const char cites[] = "p9 p1\np1 p9\n31 31\nghost p9\np2 31\n";

static void put_all(void) {
    hn_fixture_folder(folder, sizeof folder);
    put("T.content", content);
    put("T.cites", cites);
    put("T.split", "# by name\np2 test\np9 train\n31 val\n");
}

// Notes that were heard, joined.
struct heard {
    char text[1024];
    int n;
};

static void hear(void *data, const char *text) {
    struct heard *heard = data;
    heard->n++;
    hn_append(heard->text, sizeof heard->text, "%s\n", text);
}

static void check_numbers(const struct hn_linqs *d) {
    const int32_t label[] = {2, 0, 2, 1}, index[] = {1, 3, 0, 3, 2}, target[] = {1, 0, 3, 2};
    const int8_t split[] = {0, -1, 1, 2};
    const int64_t start[] = {0, 2, 2, 4, 5}, edges[] = {0, 1, 2, 3, 4};
    const float value[] = {1, 2.5F, 1, 0.5F, 1};
    CU_ASSERT_STRING_EQUAL(d->name, "T");
    CU_ASSERT_FATAL(d->n == 4 && d->p == 4 && d->graph.n == 4);
    CU_ASSERT_EQUAL(memcmp(d->labels, label, sizeof label), 0);
    CU_ASSERT_EQUAL(memcmp(d->start, start, sizeof start), 0);
    CU_ASSERT_EQUAL(memcmp(d->index, index, sizeof index), 0);
    CU_ASSERT_EQUAL(memcmp(d->value, value, sizeof value), 0);
    CU_ASSERT_EQUAL(memcmp(d->split, split, sizeof split), 0);
    CU_ASSERT_EQUAL(memcmp(d->graph.start, edges, sizeof edges), 0);
    CU_ASSERT_EQUAL(memcmp(d->graph.target, target, sizeof target), 0);
    CU_ASSERT(d->features.n == 4 && d->features.p == 4 && d->features.value == d->value);
}

static void test_reads(void) {
    struct hn_linqs d;
    struct hn_scope scope;
    struct heard heard = {.n = 0};
    hn_context_init(&ctx, 1);
    put_all();
    hn_scope_begin(&ctx, &scope);
    struct hn_told told = {.owner = ctx.memory.owner};
    ctx.notes = (struct hn_notes){hear, &heard, &told};
    HN_CHECK(&ctx, hn_linqs_read(&ctx, folder, &d));
    check_numbers(&d);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.text, "T.content: 1 of 4 nodes have no features"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.text, "T.cites: 1 of 5 citations name documents"));
    HN_CHECK(&ctx, hn_linqs_read(&ctx, folder, &d));
    CU_ASSERT_EQUAL(heard.n, 2); // not said again
    hn_scope_end(&scope);
    end();
}

static void test_without_split_or_edges(void) {
    struct hn_linqs d;
    char path[512];
    hn_context_init(&ctx, 1);
    put_all();
    put("T.cites", "");
    snprintf(path, sizeof path, "%s/T.split", folder);
    CU_ASSERT_EQUAL(remove(path), 0);
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_linqs_read(&ctx, folder, &d));
    CU_ASSERT(d.n == 4 && !d.split && hn_graph_edges(&d.graph) == 0);
    hn_scope_end(&scope);
    hn_fixture_remove(folder);
}

static void test_faults(void) {
    static const struct {
        const char *file, *text, *part;
    } fault[] = {
        {"T.content", "a 1\n", "T.content: line 1: wants a name, at least one feature"},
        {"T.content", "a 1 0 x\nb 1 y\n", "line 2: holds 1 features, but the first has 2"},
        {"T.content", "a 1 0 x\nb 1 z y\n", "line 2: feature 2 is 'z', not a number from 0"},
        {"T.content", "a 1 0x1 x\n", "line 1: feature 2 is '0x1'"},
        {"T.content", "a 1 1e31 x\n", "line 1: feature 2 is '1e31'"},
        {"T.content", "a 1 1x x\n", "line 1: feature 2 is '1x'"},
        {"T.content", "a 1 -1 x\n", "line 1: feature 2 is '-1'"},
        {"T.content", "a 1 nan x\n", "line 1: feature 2 is 'nan'"},
        {"T.content", "a 1 inf x\n", "line 1: feature 2 is 'inf'"},
        {"T.content", "a 1 x\nb 1 x\na 0 y\n", "document 'a' is there twice"},
        {"T.content", "a 0 x\nb 0 x\n", "holds no node with a feature"},
        {"T.content", "", "holds no node"},
        {"T.cites", "p9\n", "T.cites: line 1: wants two documents"},
        {"T.cites", "p9 p1 p2\n", "T.cites: line 1: there is more"},
        {"T.split", "p9 train\nnobody test\n", "T.split: line 2: document 'nobody' is not in T"},
        {"T.split", "p9 dev\n", "T.split: line 1: after the node comes train"},
        {"U.content", "a 1 x\n", "holds 2 files NAME.content"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        struct hn_linqs d;
        struct hn_scope scope;
        hn_context_init(&ctx, 1);
        put_all();
        put(fault[i].file, fault[i].text);
        hn_scope_begin(&ctx, &scope);
        HN_CHECK_FAILS(&ctx, hn_linqs_read(&ctx, folder, &d), HN_DATA, fault[i].part);
        hn_scope_end(&scope);
        end();
    }
}

static void test_memory(void) {
    enum hn_code code = HN_MEMORY;
    int64_t k = 1;
    put_all();
    for (; code == HN_MEMORY; k++) {
        struct hn_linqs d;
        struct hn_scope scope;
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        hn_scope_begin(&ctx, &scope);
        code = hn_linqs_read(&ctx, folder, &d);
        hn_scope_end(&scope);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT(k > 8);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {{"reads", test_reads},
                                       {"without a split or edges", test_without_split_or_edges},
                                       {"faults", test_faults},
                                       {"no memory", test_memory}};

HN_TEST_MAIN("linqs", tests)
