// SPDX-License-Identifier: GPL-3.0-or-later
// Small data for tests of tasks, in the files that tasks declare: documents, pictures, graphs,
// sentences, functions.
#pragma once

#include "core/random.h"
#include "datasets/images.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { DOCUMENTS = 60, FEATURES = 30, CLASSES = 3 };
enum { PICTURES = 96, TEST_PICTURES = 40, COLOURS = 4 };
enum { GRAPHS = 14, GRAPH_NODES = 11 };
enum { SENTENCE_PAIRS = 24 };

static inline FILE *open_data(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    return file;
}

// Documents of three classes: features mostly of their class's third, links mostly within it.
static inline void put_documents(const char *folder) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.training", 0, 0, 0);
    FILE *f = open_data(folder, "small.features");
    fprintf(f, "# features=%d\n", FEATURES);
    for (int i = 0; i < DOCUMENTS; i++) {
        fprintf(f, "%d %d", i, i % CLASSES);
        for (int j = 0; j < FEATURES; j++)
            if (hn_stream_uniform(&s) < (j % CLASSES == i % CLASSES ? 0.5 : 0.1) ||
                j == i % FEATURES)
                fprintf(f, " %d", j);
        fprintf(f, "\n");
    }
    fclose(f);
    f = open_data(folder, "small.edges");
    for (int i = 0; i < DOCUMENTS; i++)
        for (int j = i + 1; j < DOCUMENTS; j++)
            if (hn_stream_uniform(&s) < (i % CLASSES == j % CLASSES ? 0.2 : 0.02))
                fprintf(f, "%d %d\n", i, j);
    fclose(f);
    f = open_data(folder, "small.split");
    for (int i = 0; i < DOCUMENTS; i++)
        fprintf(f, "%d %s\n", i, i < 20 ? "train" : i < 30 ? "val" : "test");
    fclose(f);
}

// Pictures of four classes, each with a colour of its own under noise.
static inline void put_records(const char *folder, const char *name, int n, int64_t index) {
    struct hn_stream s;
    FILE *file = open_data(folder, name);
    hn_stream_open(&s, 1, "test.images", 0, 0, index);
    for (int i = 0; i < n; i++) {
        unsigned char record[1 + HN_IMAGE_BYTES] = {(unsigned char)(i % COLOURS)};
        for (int k = 0; k < HN_IMAGE_BYTES; k++) {
            int bright = i % COLOURS == 3 ? 128 : k / 1024 == i % COLOURS ? 190 : 60;
            record[1 + k] = (unsigned char)(bright + (int)hn_stream_below(&s, 60));
        }
        CU_ASSERT_EQUAL(fwrite(record, sizeof record, 1, file), 1);
    }
    fclose(file);
}

static inline void put_pictures(const char *folder) {
    put_records(folder, "data_batch_1.bin", PICTURES, 0);
    put_records(folder, "test_batch.bin", TEST_PICTURES, 1);
}

static inline void put_text(const char *folder, const char *name, const char *text) {
    FILE *f = open_data(folder, name);
    CU_ASSERT(fputs(text, f) >= 0);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

// Graph g: a ring of nodes with chords that g decides; node labels of three kinds. Graph 1 is
// graph 0 with its nodes in another order.
static inline int32_t graph_node(int g, int i) { return g == 1 ? (i * 4 + 3) % GRAPH_NODES : i; }

static inline void put_graphs(const char *folder, bool labels) {
    enum { N = GRAPH_NODES };
    static char edges[GRAPHS * N * 40], nodes[GRAPHS * N * 4], kinds[GRAPHS * N * 4];
    static char classes[GRAPHS * 4], folds[GRAPHS * 4];
    char *e = edges, *n = nodes, *k = kinds, *c = classes, *f = folds;
    for (int g = 0; g < GRAPHS; g++) {
        int shape = g == 1 ? 0 : g, kind[N];
        for (int i = 0; i < N; i++) {
            int from = g * N + graph_node(g, i) + 1;
            e += sprintf(e, "%d, %d\n", from, g * N + graph_node(g, (i + 1) % N) + 1);
            if ((i * (shape + 2)) % 5 < 2)
                e += sprintf(e, "%d, %d\n", from,
                             g * N + graph_node(g, (i + 2 + shape % 3) % N) + 1);
            kind[graph_node(g, i)] = (i * i + shape) % 3;
        }
        for (int i = 0; i < N; i++) {
            n += sprintf(n, "%d\n", g + 1);
            k += sprintf(k, "%d\n", kind[i]);
        }
        c += sprintf(c, "%d\n", shape % 2);
        f += sprintf(f, "%d\n", g % 7 + 1);
    }
    put_text(folder, "G_A.txt", edges);
    put_text(folder, "G_graph_indicator.txt", nodes);
    put_text(folder, "G_graph_labels.txt", classes);
    put_text(folder, "G_folds.txt", folds);
    if (labels)
        put_text(folder, "G_node_labels.txt", kinds);
}

static inline void put_labelled_graphs(const char *folder) { put_graphs(folder, true); }

// Pairs of sentences of five made-up words each; the score says how many of them both have.
static inline void put_pair(FILE *f, struct hn_stream *s, int score) {
    char word[5][8];
    for (int w = 0; w < 5; w++) {
        char letter[3]; // one after the other: compilers take arguments in orders of their own
        for (int k = 2; k >= 0; k--)
            letter[k] = (char)('a' + hn_stream_below(s, 26));
        snprintf(word[w], sizeof word[w], "%c%c%c%c", letter[0], "aeiou"[w], letter[1], letter[2]);
    }
    fprintf(f, "X\tall\t%d\t%s %s %s %s %s.\t", score, word[0], word[1], word[2], word[3], word[4]);
    for (int w = 4; w >= 0; w--)
        if (w >= 5 - score)
            fprintf(f, "%s ", word[w]);
        else
            fprintf(f, "%c%u ", (char)('p' + w), hn_stream_below(s, 1000));
}

static inline void put_sentences(const char *folder) {
    static const char *const names[] = {"sick-train.tsv", "sick-test.tsv",  "sts12-train.tsv",
                                        "sts12-test.tsv", "sts13-test.tsv", "sts14-test.tsv",
                                        "sts16-test.tsv"};
    static const char *const relations[] = {"CONTRADICTION", "NEUTRAL",    "NEUTRAL",
                                            "NEUTRAL",       "ENTAILMENT", "ENTAILMENT"};
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.sentences", 0, 0, 0);
    for (int k = 0; k < 7; k++) {
        FILE *f = open_data(folder, names[k]);
        fprintf(f, "set\tsubset\tscore\tsentence1\tsentence2%s\n", k < 2 ? "\tentailment" : "");
        for (int i = 0; i < SENTENCE_PAIRS; i++) {
            put_pair(f, &s, i % 6);
            fprintf(f, "%s%s\n", k < 2 ? "\t" : "", k < 2 ? relations[i % 6] : "");
        }
        fclose(f);
    }
}

// Functions and their docstrings, as CodeSearchNet's files have them: words that both share, some
// twice, some without a docstring, some in odd characters.
static inline void put_functions(const char *folder, const char *name, int n, int64_t index) {
    static const char *const odd[] = {
        "{\"docstring\": \"\", \"code\": \"def lone%d(): pass\"}\n",
        "{\"repo\": \"r\", \"docstring\": null, \"code\": \"{%d}\"}\n",
        "{\"code\": \"(((%d\"}\n",
        "{\"docstring\": \"\\ud83d\\ude00 \\ud800 \\\\ud800 %d \\udc00\", \"code\": "
        "\"\\u2028 \\u540d()\"}\n",
        "{\"docstring_tokens\": [\"count\", \"it\"], \"docstring\": \"No.\", \"code_tokens\": "
        "[\"def\", \"count_it%d\"], \"code\": \"def count_it(): 'count it'\"}\n",
        "{\"docstring\": \"Return a name.\", \"code\": \"def name%d\"}\n",
        "{\"docstring\": \"Return a name.\", \"code\": \"def name%d(self)\"}\n"};
    struct hn_stream s;
    FILE *f = open_data(folder, name);
    hn_stream_open(&s, 1, "test.functions", 0, 0, index);
    for (int i = 0; i < n; i++) {
        int a = (int)hn_stream_below(&s, 26), b = (int)hn_stream_below(&s, 26), kind = i % 12;
        if (kind < 7)
            fprintf(f, odd[kind], i % 24);
        fprintf(f,
                "{\"docstring\": \"Get the b%cd of a%cc %d.\", \"code\": \"def getB%cd(a%cc):\\n"
                "\\treturn x%d\", \"language\": \"python\"}\n",
                'a' + a, 'a' + b, i % 40, 'a' + a, 'a' + b, i % 9);
    }
    fclose(f);
}

static inline void put_pairs(const char *folder) {
    put_functions(folder, "train.jsonl", 48, 0);
    put_functions(folder, "test.jsonl", 20, 1);
    put_functions(folder, "codebase.jsonl", 30, 2);
}

// The data for tasks that declare this folder; false if there are none.
static inline bool put_task_data(const char *declared, const char *folder) {
    static const struct {
        const char *declared;
        void (*put)(const char *folder);
    } kinds[] = {{"cora", put_documents},
                 {"cifar10", put_pictures},
                 {"tudataset/MUTAG", put_labelled_graphs},
                 {"sts", put_sentences},
                 {"codesearchnet/ruby", put_pairs}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].declared, declared) == 0) {
            kinds[i].put(folder);
            return true;
        }
    return false;
}
