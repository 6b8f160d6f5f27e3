// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of graphs as text, and their augmentations: small files, the shared real sets, properties.
#include "datasets/tudataset.h"
#include "tests/scratch.h"
#include "training/tasks/graph_augment.h"

#include <math.h>
#include <stdlib.h>

// A triangle with a tail, a pair, a lonely node.
static void put_all(void) {
    hn_fixture_folder(folder, sizeof folder);
    put("T_A.txt", "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n3, 4\n4, 3\n5, 6\n6, 5\n");
    put("T_graph_indicator.txt", "1\n1\n1\n1\n2\n2\n3\n");
    put("T_graph_labels.txt", "7\n-1\n7\n");
    put("T_node_labels.txt", "10\n-3\n10\n4\n4\n4\n10\n");
    put("T_folds.txt", "2\n0\n1\n");
}

static void test_reads(void) {
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    put_all();
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    CU_ASSERT_STRING_EQUAL(t.name, "T");
    const int64_t start[] = {0, 4, 6, 7};
    const int32_t label[] = {1, 0, 1}, node[] = {2, 0, 2, 1, 1, 1, 2}, fold[] = {1, -1, 0};
    CU_ASSERT(t.graphs == 3 && t.nodes == 7 && t.classes == 2 && t.node_labels == 3);
    CU_ASSERT_EQUAL(t.folds, 2);
    CU_ASSERT_EQUAL(memcmp(t.start, start, sizeof start), 0);
    CU_ASSERT_EQUAL(memcmp(t.label, label, sizeof label), 0);
    CU_ASSERT_EQUAL(memcmp(t.node_label, node, sizeof node), 0);
    CU_ASSERT_EQUAL(memcmp(t.fold, fold, sizeof fold), 0);
    CU_ASSERT_EQUAL(hn_graph_edges(&t.edges), 10);
    CU_ASSERT(t.edges.target[t.edges.start[2]] == 0 && t.edges.target[t.edges.start[2] + 2] == 3);
    hn_scope_end(&scope);
    end();
}

// Marks in front, line ends of other systems, blanks and empty lines at the end are read over.
static void test_spelling(void) {
    static const struct {
        const char *file, *text;
    } same[] = {{"T_graph_labels.txt", "\xef\xbb\xbf\xef\xbb\xbf"
                                       "7\r\n-1\r\n7\r\n\r\n"},
                {"T_graph_labels.txt", "7\r-1\r7"},
                {"T_graph_labels.txt", " 7,\n-1 \r\r\n+7\n\n\n"},
                {"T_graph_indicator.txt", "1\r1\r1\r1\r2\r2\r3\r"}};
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        put_all();
        put(same[k].file, same[k].text);
        hn_scope_begin(&ctx, &scope);
        HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
        CU_ASSERT(t.graphs == 3 && t.nodes == 7 && t.classes == 2);
        CU_ASSERT(t.label[0] == 1 && t.label[1] == 0 && t.label[2] == 1);
        hn_scope_end(&scope);
        hn_fixture_remove(folder);
    }
}

// One hot by column, as the authors' loaders have it: the columns keep apart what they call alike.
static void test_several_columns(void) {
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    put_all();
    put("T_node_labels.txt", "0, 5, 0\n-2, 5, 1\n 0,6,0\n0 5\t0\n7, 5, 0\n7,6,1\n-2, 6, 1,\n");
    put("T_node_attributes.txt", "0.5, -1\n1e3, 2\n-.25, 0\n0, 0\n1, 1\n2, 2\n1e-30, 1e30\n");
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    const int32_t node[] = {1, 3, 5, 0, 3, 6, 1, 4, 5, 1, 3, 5, 2, 3, 5, 2, 4, 6, 0, 4, 6};
    CU_ASSERT(t.label_columns == 3 && t.node_labels == 7 && hn_tudataset_features(&t) == 7);
    CU_ASSERT_EQUAL(memcmp(t.node_label, node, sizeof node), 0);
    CU_ASSERT_EQUAL(hn_tudataset_feature(&t, 1, 6), 1);
    HN_CHECK(&ctx, hn_tudataset_read_attributes(&ctx, folder, &t));
    CU_ASSERT(t.attributes == 2 && hn_tudataset_features(&t) == 9);
    const double second[] = {1000, 2, 1, 0, 0, 1, 0, 0, 1};
    for (int64_t k = 0; k < 9; k++)
        CU_ASSERT_EQUAL(hn_tudataset_feature(&t, 1, k), second[k]);
    CU_ASSERT_EQUAL(hn_tudataset_feature(&t, 2, 0), -0.25);
    hn_scope_end(&scope);
    end();
}

static void test_attribute_faults(void) {
    static const struct {
        const char *text, *message;
    } fault[] = {{NULL, "T_node_attributes.txt: cannot be opened"},
                 {"1\n2\n", "holds 2 lines, but T_graph_indicator.txt has 7 nodes"},
                 {"1\n2\nnan\n", "line 3: the attribute is 'nan', not a number"},
                 {"1\n0x10\n", "line 2: the attribute is '0x10'"},
                 {"1, 2\n1, inf\n", "line 2: the attribute is 'inf'"},
                 {"1, 2\n1\n", "line 2: holds 1 number, line 1 holds 2"}};
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    for (size_t k = 0; k < sizeof fault / sizeof *fault; k++) {
        put_all();
        if (fault[k].text)
            put("T_node_attributes.txt", fault[k].text);
        hn_scope_begin(&ctx, &scope);
        HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
        HN_CHECK_FAILS(&ctx, hn_tudataset_read_attributes(&ctx, folder, &t), HN_DATA,
                       fault[k].message);
        hn_scope_end(&scope);
        end();
    }
}

static void test_faults(void) {
    static const struct {
        const char *file, *text, *message;
    } fault[] = {
        {"T_A.txt", "1, 2\n2\n", "T_A.txt: line 2: the second node is missing"},
        {"T_A.txt", "1, 2, 3\n", "T_A.txt: line 1: there is more"},
        {"T_A.txt", "1, 8\n", "line 1: the second node is '8', not a whole number from 1 to 7"},
        {"T_A.txt", "0, 1\n", "the first node is '0'"},
        {"T_A.txt", "1, 2\n\n4, 5\n",
         "line 3: an edge between node 4 of graph 1 and node 5 of graph 2"},
        {"T_graph_indicator.txt", "0\n0\n1\n",
         "line 1: the graph is '0', not a whole number from 1"},
        {"T_graph_indicator.txt", "1\n1\n1\n1\n2\n2\n5\n",
         "T_graph_labels.txt: holds 3 lines, but T_graph_indicator.txt has 5 graphs"},
        {"T_graph_indicator.txt", "1\n2\n1\n",
         "line 3: a node of graph 1 comes after one of graph 2; number the nodes graph by graph"},
        {"T_graph_labels.txt", "0.5\n1.25\n3\n", "'0.5', not a whole number from"},
        {"T_graph_labels.txt", "0\n1.0\n1\n", "sort measured values into classes"},
        {"T_graph_labels.txt", "1, 2\n1, 3\n2, 2\n",
         "line 1: there is more than the line should hold; labels"},
        {"T_node_labels.txt", "1, 2\n1\n1, 2\n1, 2\n1, 2\n1, 2\n1, 2\n",
         "T_node_labels.txt: line 2: holds 1 number, line 1 holds 2"},
        {"T_node_labels.txt", "1\n1, 2\n1\n1\n1\n1\n1\n",
         "T_node_labels.txt: line 2: there is more than the line should hold"},
        {"T_node_labels.txt", "1, 0.5\n", "the label is '0.5', not a whole number from"},
        {"T_node_labels.txt", "0.5\n", "measured values belong in NAME_node_attributes.txt"},
        {"T_graph_indicator.txt", "", "holds 0 nodes"},
        {"T_graph_labels.txt", "1\n2\n", "T_graph_labels.txt: holds 2 lines, but T_graph_ind"},
        {"T_graph_labels.txt", "1\n2\nthree\n", "T_graph_labels.txt: line 3: the label is 'three'"},
        {"T_graph_labels.txt", "1\n2\n99999999999999999999\n", "line 3: the label is '9999"},
        {"T_graph_labels.txt", "1\n\n2\n3\n",
         "T_graph_labels.txt: line 2 is empty; write a label on each"},
        {"T_node_labels.txt", "\n10\n-3\n10\n4\n4\n4\n10\n", "T_node_labels.txt: line 1 is empty"},
        {"T_folds.txt", "2\n0\n\n \n1\n", "T_folds.txt: line 3 is empty; write a fold on each"},
        {"T_graph_labels.txt", "1\r2\n3\n", "line 1: the label is '1"},
        {"T_node_labels.txt", "1\n2\n", "holds 2 lines, but T_graph_indicator.txt has 7 nodes"},
        {"T_folds.txt", "1\n2\n-1\n", "T_folds.txt: line 3: the fold is '-1'"},
        {"U_A.txt", "1, 2\n", "holds 2 files NAME_A.txt"},
    };
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK_FAILS(&ctx, hn_tudataset_read(&ctx, "/nowhere", &t), HN_DATA, "holds 0 files");
    hn_scope_end(&scope);
    for (size_t k = 0; k < sizeof fault / sizeof *fault; k++) {
        put_all();
        put(fault[k].file, fault[k].text);
        hn_scope_begin(&ctx, &scope);
        HN_CHECK_FAILS(&ctx, hn_tudataset_read(&ctx, folder, &t), HN_DATA, fault[k].message);
        hn_scope_end(&scope);
        end();
    }
}

// Graphs without nodes, in the middle and at the end, as Fingerprint has them.
static void test_gaps(void) {
    struct hn_tudataset t;
    struct hn_scope scope;
    char note[HN_MESSAGE_MAX] = "";
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){hn_keep_note, note};
    put_all();
    put("T_graph_indicator.txt", "2\n2\n2\n2\n4\n4\n5\n");
    put("T_graph_labels.txt", "9\n7\n9\n-1\n8\n9\n");
    put("T_folds.txt", "1\n2\n1\n0\n3\n1\n\n");
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    const int64_t start[] = {0, 4, 6, 7}, number[] = {2, 4, 5};
    const int32_t label[] = {1, 0, 2}, fold[] = {1, -1, 2}; // 9 is no class: its graphs are gone
    CU_ASSERT(t.graphs == 3 && t.classes == 3 && t.folds == 3);
    CU_ASSERT_EQUAL(memcmp(t.start, start, sizeof start), 0);
    CU_ASSERT_EQUAL(memcmp(t.number, number, sizeof number), 0);
    CU_ASSERT_EQUAL(memcmp(t.label, label, sizeof label), 0);
    CU_ASSERT_EQUAL(memcmp(t.fold, fold, sizeof fold), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "3 of 6 graphs have no nodes"));
    put("T_A.txt", "1, 5\n");
    HN_CHECK_FAILS(&ctx, hn_tudataset_read(&ctx, folder, &t), HN_DATA,
                   "node 1 of graph 2 and node 5 of graph 4");
    put("T_A.txt", "1, 2\n");
    put("T_folds.txt", "1\n2\n1\n0\n3\n");
    HN_CHECK_FAILS(&ctx, hn_tudataset_read(&ctx, folder, &t), HN_DATA,
                   "holds 5 lines, for 6 graphs");
    hn_scope_end(&scope);
    hn_fixture_remove(folder);
}

// Counts of ../shared/datasets/README.md.
static void test_real(void) {
    static const struct {
        const char *name;
        int64_t graphs, nodes, lines;
        int classes, node_labels, tested;
    } set[] = {{"MUTAG", 188, 3371, 7442, 2, 7, 180},
               {"IMDB-BINARY", 1000, 19773, 193062, 2, 0, 1000},
               {"PROTEINS", 1113, 43471, 162088, 2, 3, 1110}};
    struct hn_tudataset t;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        char path[512], file[128];
        snprintf(file, sizeof file, "datasets/tudataset/%s", set[k].name);
        if (!hn_fixture_shared(file, path, sizeof path))
            hn_test_skip("the shared data sets are not there");
        hn_scope_begin(&ctx, &scope);
        HN_CHECK(&ctx, hn_tudataset_read(&ctx, path, &t));
        CU_ASSERT(t.graphs == set[k].graphs && t.nodes == set[k].nodes);
        CU_ASSERT_EQUAL(hn_graph_edges(&t.edges), set[k].lines);
        CU_ASSERT(t.classes == set[k].classes && t.node_labels == set[k].node_labels);
        CU_ASSERT_EQUAL(t.folds, 10);
        int tested = 0;
        for (int64_t g = 0; g < t.graphs; g++)
            tested += t.fold[g] >= 0;
        CU_ASSERT_EQUAL(tested, set[k].tested);
        hn_scope_end(&scope);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// One graph of n nodes: a ring, with chords to the node `skip` further if it is not 0; and a pair.
static void put_ring(int n, int skip) {
    char *edges = calloc((size_t)n * 64 + 64, 1), *nodes = calloc((size_t)n * 2 + 8, 1);
    CU_ASSERT_FATAL(edges && nodes);
    char *at = edges;
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%d, %d\n", i + 1, (i + 1) % n + 1);
        if (skip)
            at += sprintf(at, "%d, %d\n", i + 1, (i + skip) % n + 1);
        strcat(nodes, "1\n");
    }
    sprintf(at, "%d, %d\n", n + 1, n + 2);
    strcat(nodes, "2\n2\n");
    hn_fixture_folder(folder, sizeof folder);
    put("R_A.txt", edges);
    put("R_graph_indicator.txt", nodes);
    put("R_graph_labels.txt", "0\n1\n");
    free(edges);
    free(nodes);
}

static bool has_edge(const struct hn_graph *g, int32_t u, int32_t v) {
    for (int64_t e = g->start[u]; e < g->start[u + 1]; e++)
        if (g->target[e] == v)
            return true;
    return false;
}

// What holds for every view: ascending nodes of the graph, each edge once, positions in order;
// returns the number of edges that are edges of the graph.
static int64_t check_view(const struct hn_tudataset *t, const struct hn_graph_view *v) {
    int64_t known = 0;
    for (int32_t i = 0; i < v->n; i++)
        CU_ASSERT(v->node[i] >= t->start[0] && v->node[i] < t->start[1] &&
                  (i == 0 || v->node[i] > v->node[i - 1]));
    for (int64_t e = 0; e < v->edges; e++) {
        CU_ASSERT(v->from[e] >= 0 && v->from[e] < v->to[e] && v->to[e] < v->n);
        known += has_edge(&t->edges, v->node[v->from[e]], v->node[v->to[e]]);
        for (int64_t f = 0; f < e; f++)
            CU_ASSERT(v->from[e] != v->from[f] || v->to[e] != v->to[f]);
    }
    return known;
}

static int64_t induced(const struct hn_tudataset *t, const struct hn_graph_view *v) {
    int64_t count = 0;
    for (int32_t i = 0; i < v->n; i++)
        for (int32_t j = i + 1; j < v->n; j++)
            count += has_edge(&t->edges, v->node[i], v->node[j]);
    return count;
}

// Nodes that a walk over the view's edges reaches from its first.
static int reached(const struct hn_graph_view *v) {
    char mark[64] = {1};
    int count = 1;
    for (bool more = true; more;) {
        more = false;
        for (int64_t e = 0; e < v->edges; e++)
            if (mark[v->from[e]] != mark[v->to[e]]) {
                mark[v->from[e]] = mark[v->to[e]] = 1;
                count++;
                more = true;
            }
    }
    return count;
}

// A view that is given back with its set.
static enum hn_code open_view(const struct hn_tudataset *t, struct hn_graph_view *v) {
    void *outer = hn_own(&ctx, t->start);
    enum hn_code code = hn_graph_view_open(&ctx, t, v);
    hn_own(&ctx, outer);
    return code;
}

static void test_augment(void) {
    enum { NODES = 23, EDGES = 46, TIMES = 3000 };
    struct hn_tudataset t;
    struct hn_scope scope;
    struct hn_graph_view v;
    double gone[NODES] = {0}, cut[NODES] = {0}, masked[NODES] = {0};
    hn_context_init(&ctx, 1);
    put_ring(NODES, 5);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    HN_CHECK(&ctx, open_view(&t, &v));
    for (int k = 0; k < TIMES; k++) {
        struct hn_stream s;
        hn_stream_open(&s, 1, "test.graph", 0, 0, k);
        hn_graph_augment(&t, 0, HN_GRAPH_DROP, &s, &v);
        CU_ASSERT_EQUAL(v.n, NODES - NODES / 5);
        CU_ASSERT_EQUAL(check_view(&t, &v), v.edges);
        CU_ASSERT_EQUAL(v.edges, induced(&t, &v));
        for (int i = 0; i < NODES; i++)
            gone[i] += 1.0 / TIMES;
        for (int i = 0; i < v.n; i++)
            gone[v.node[i]] -= 1.0 / TIMES;
        hn_graph_augment(&t, 0, HN_GRAPH_SUBGRAPH, &s, &v);
        CU_ASSERT_EQUAL(v.n, NODES - NODES / 5);
        CU_ASSERT_EQUAL(check_view(&t, &v), v.edges);
        CU_ASSERT_EQUAL(v.edges, induced(&t, &v));
        CU_ASSERT_EQUAL(reached(&v), v.n);
        hn_graph_augment(&t, 0, HN_GRAPH_PERTURB, &s, &v);
        CU_ASSERT(v.n == NODES && v.edges == EDGES);
        CU_ASSERT_EQUAL(check_view(&t, &v), EDGES - EDGES / 5); // those that came are new
        for (int i = 0; i < NODES; i++) {                       // the ring's edge behind node i
            cut[i] += 1.0 / TIMES;
            for (int64_t e = 0; e < v.edges; e++)
                if ((v.from[e] == i && v.to[e] == i + 1) ||
                    (i == NODES - 1 && v.from[e] == 0 && v.to[e] == i))
                    cut[i] -= 1.0 / TIMES;
        }
        hn_graph_augment(&t, 0, HN_GRAPH_MASK, &s, &v);
        CU_ASSERT(v.n == NODES && v.edges == EDGES && check_view(&t, &v) == EDGES);
        int zeroed = 0;
        for (int i = 0; i < NODES; i++) {
            zeroed += v.masked[i];
            masked[i] += (double)v.masked[i] / TIMES;
        }
        CU_ASSERT_EQUAL(zeroed, NODES / 5);
    }
    // Every node and edge is as likely to go as another: at four standard errors, of 69 tests.
    const double p = (NODES / 5) / (double)NODES, q = (EDGES / 5) / (double)EDGES;
    for (int i = 0; i < NODES; i++) {
        CU_ASSERT_DOUBLE_EQUAL(gone[i], p, 4 * sqrt(p * (1 - p) / TIMES));
        CU_ASSERT_DOUBLE_EQUAL(masked[i], p, 4 * sqrt(p * (1 - p) / TIMES));
        CU_ASSERT_DOUBLE_EQUAL(cut[i], q, 4 * sqrt(q * (1 - q) / TIMES));
    }
    hn_scope_end(&scope);
    end();
}

// Graphs where little can be done: a pair, a single node, a complete graph.
static void test_augment_limits(void) {
    struct hn_tudataset t;
    struct hn_scope scope;
    struct hn_graph_view v;
    int count[4] = {0};
    hn_context_init(&ctx, 1);
    put_all();
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    HN_CHECK(&ctx, open_view(&t, &v));
    for (int change = HN_GRAPH_DROP; change <= HN_GRAPH_SAME; change++)
        for (int64_t g = 0; g < t.graphs; g++) {
            struct hn_stream s;
            hn_stream_open(&s, 1, "test.graph", 0, 0, g);
            hn_graph_augment(&t, g, (enum hn_graph_change)change, &s, &v);
            CU_ASSERT_EQUAL(v.n, t.start[g + 1] - t.start[g]); // a fifth of four nodes is none
            CU_ASSERT_EQUAL(v.edges, g == 0 ? 4 : g == 1 ? 1 : 0);
        }
    for (int i = 0; i < 4000; i++) {
        struct hn_stream s;
        hn_stream_open(&s, 1, "test.change", 0, 0, i);
        count[hn_graph_change_draw(&s, true)]++;
        CU_ASSERT(hn_graph_change_draw(&s, false) != HN_GRAPH_MASK);
    }
    for (int k = 0; k < 4; k++)
        CU_ASSERT_DOUBLE_EQUAL(count[k], 1000, 3 * sqrt(4000 * 0.25 * 0.75));
    hn_scope_end(&scope);
    hn_fixture_remove(folder);
    put_ring(5, 2); // complete: an edge goes, none can come
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, folder, &t));
    HN_CHECK(&ctx, open_view(&t, &v));
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.graph", 0, 0, 0);
    hn_graph_augment(&t, 0, HN_GRAPH_PERTURB, &s, &v);
    CU_ASSERT(v.n == 5 && v.edges == 8);
    hn_scope_end(&scope);
    end();
}

static void test_allocations_may_fail(void) {
    struct hn_tudataset t;
    struct hn_scope scope;
    struct hn_graph_view v;
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    put_all();
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        hn_scope_begin(&ctx, &scope);
        code = hn_tudataset_read(&ctx, folder, &t);
        if (code == HN_OK)
            code = open_view(&t, &v);
        hn_scope_end(&scope);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    } while (code != HN_OK && points < 200);
    CU_ASSERT(points > 20 && points < 200);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"reads", test_reads},
    {"labels of several columns", test_several_columns},
    {"faults of attributes", test_attribute_faults},
    {"faults", test_faults},
    {"spellings of other systems", test_spelling},
    {"graphs without nodes", test_gaps},
    {"real sets", test_real},
    {"augment", test_augment},
    {"augment limits", test_augment_limits},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("tudataset", tests)
