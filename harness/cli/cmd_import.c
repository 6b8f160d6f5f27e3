// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg import`: arrays of NumPy, .fvecs, or a file of ann-benchmarks, as a snapshot; or as one
// more step of a snapshot that is there.
#include "core/text.h"
#include "datasets/import/collection.h"
#include "datasets/import/format.h"
#include "datasets/import/import.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/host/memory.h"

#include <sys/stat.h>

static const char *const type_names[] = {"float16", "float32", "float64", NULL};
static const char *const header_names[] = {"auto", "yes", "no", NULL}; // enum hn_header
static const char *const zero_rows_names[] = {"refuse", "skip", "keep", NULL};

// The command's own: what is imported, and the limit.
struct import_params {
    struct hn_import import;
    int64_t memory;
};
#define FIELD(kind, member, ...)                                                                   \
    HN_##kind##_OPTION(struct import_params, import.member, __VA_ARGS__)

static const struct hn_option import_options[] = {
    {FIELD(
         FILES, embeddings, "embeddings",
         "rows of floats, or - for standard input; parts in the order given, or those of a pattern "
         "('x-*.npy'), by their names, numbers in them by value"),
     .letter = 'e'},
    {FIELD(FOLDER, linqs, "linqs",
           "folder of NAME.features, NAME.edges, NAME.split: raw features as embeddings, and the "
           "graph")},
    {FIELD(FILES, labels, "labels",
           "an integer (-1 = unlabelled) or a text for each row; parts as of --embeddings"),
     .letter = 'l'},
    {FIELD(FILES, view1, "view1", "first augmented view")},
    {FIELD(FILES, view2, "view2", "second augmented view")},
    {FIELD(FILES, teacher, "teacher",
           "rows of another encoder, of any number of dimensions, for samplers and weightings that "
           "ask for them; of a snapshot its last step")},
    {FIELD(FILES, group, "group", "an integer or a text for each row: the data set it comes from")},
    {FIELD(FILES, side[HN_QUERIES], "queries",
           "rows of queries: a snapshot of queries and a corpus; parts as of --embeddings")},
    {FIELD(FILES, side[HN_CORPUS], "corpus", "rows of the passages that queries are matched with")},
    {FIELD(FILE, qrels, "qrels",
           "known relevance, a pair of ids and a grade on each line, as TREC or BEIR write them")},
    {FIELD(FILE, truth, "truth",
           "complete relevance, in the same formats; used to measure results only")},
    {FIELD(FILE, ids[HN_QUERIES], "query-ids",
           "ids of the queries, one a line, or .jsonl of BEIR, with texts (default: row numbers "
           "from 0)")},
    {FIELD(FILE, ids[HN_CORPUS], "corpus-ids", "ids of the passages, likewise")},
    {FIELD(FILE, pairs, "pairs",
           "in place of --qrels: a query's text and that of a relevant passage on each line, as "
           "JSON or with a tab between them")},
    {FIELD(CHOICE, unknown, "unknown", "refuse", hn_unknown_name,
           "lines with an id that no row has: refuse the file, or leave them out and say how many"),
     .metavar = "WHAT"},
    {FIELD(FILES, side_teacher[HN_QUERIES], "query-teacher",
           "rows of the queries by another encoder")},
    {FIELD(FILES, side_teacher[HN_CORPUS], "corpus-teacher", "rows of the passages by the same")},
    {FIELD(FILE, scores, "scores",
           "scores of pairs of ids, by a cross-encoder say: query, passage, score on each line, or "
           "a run of TREC")},
    {FIELD(CHOICE, format, "format", "auto", hn_format_names,
           "format of rows, and of labels whose files tell none; auto: by first bytes and names"),
     .metavar = "FORMAT"},
    {FIELD(TEXT, tensor, "tensor", "array of the rows, in files that hold several"),
     .metavar = "NAME"},
    {FIELD(TEXT, label_tensor, "label-tensor",
           "array of the labels, in files that hold several, or column of a table, by its name or "
           "its number from 1; indptr,indices: compressed rows, several labels an item"),
     .metavar = "NAME"},
    {FIELD(WORDS, label_separator, "label-separator",
           "labels are lists, with this text between two labels of an item")},
    {FIELD(CHOICE, raw, "raw", "none", hn_raw_names,
           "type of the values, in files that hold nothing else, or, with --format bin, whose "
           "names do not say it"),
     .metavar = "TYPE"},
    {FIELD(INT, dim, "dim", NULL, 1, 1 << 20, "values of a row, with --raw"), .metavar = "D"},
    {FIELD(COUNT, rows, "rows", NULL, 1, 9e15, "only the first rows of every file")},
    {FIELD(BOOL, transpose, "transpose", NULL,
           "items are the columns of the files, as MATLAB, R and Julia write arrays to HDF5")},
    {FIELD(CHOICE, header, "header", "auto", header_names,
           "whether the first line of a text names its columns; auto: where it cannot be a row")},
    {FIELD(INT, skip, "skip-columns", NULL, 0, 1 << 20,
           "columns of a text before the values of a row: an index, words"),
     .metavar = "K"},
    {FIELD(CHOICE, zero_rows, "zero-rows", "refuse", zero_rows_names,
           "rows that are zero or not finite: refuse the file, or leave them out; keep: zero rows "
           "stay, with a cosine of 0 to every item"),
     .metavar = "WHAT"},
    {FIELD(INT, step, "step", NULL, 0, 9e15, "optimizer step of these rows (0 for a new file)"),
     .letter = 's', .metavar = "STEP"},
    {FIELD(FILE, label_names, "label-names", "text file, the name of a class on each line")},
    {FIELD(WORDS, title, "title", "title of a new file")},
    {FIELD(WORDS, source, "source", "where the data come from")},
    {FIELD(WORDS, license, "license", "licence of the data")},
    {FIELD(WORDS, encoder, "encoder", "what made the embeddings")},
    {FIELD(CHOICE, type, "type", "float32", type_names, "type of the values in a new file"),
     .metavar = "TYPE"},
    {FIELD(INT, compress, "compress", "0", 0, 9,
           "deflate level of a new file, with shuffle; 0: none"),
     .metavar = "LEVEL"},
    {HN_MEMORY_OPTION(struct import_params,
                      " (default: what the machine has); files that would take more are refused")},
    {FIELD(FILE, output, "output", "snapshot; one that exists gets a step appended"),
     .letter = 'o'},
    {0},
};

// A folder brings rows, labels and graph, all at once, for a new file.
static enum hn_code check_options(struct hn_context *ctx, const struct hn_import *o) {
    struct stat about;
    bool extras = o->teacher.count + o->group.count > 0;
    bool there = o->output && stat(o->output, &about) == 0;
    if (extras && there && (o->embeddings.count > 0 || o->linqs))
        return hn_fail(
            ctx, HN_USAGE,
            "%s: exists; give --teacher and --group with a new file, or alone to add them to one",
            o->output);
    if (extras && there && !o->labels.count && !o->view1.count && !o->view2.count &&
        o->step == INT64_MIN)
        return HN_OK;
    if (!o->embeddings.count && !o->linqs)
        return hn_fail(
            ctx, HN_USAGE,
            "--embeddings is missing: name the file of the rows (or a folder with --linqs)");
    if (!o->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the snapshot to write");
    if (o->linqs && o->embeddings.count + o->labels.count + o->view1.count + o->view2.count > 0)
        return hn_fail(ctx, HN_USAGE,
                       "--linqs brings rows and labels: leave out --embeddings, --labels, --view1 "
                       "and --view2");
    if (o->linqs && there)
        return hn_fail(ctx, HN_USAGE, "%s: exists; --linqs makes a new file, give another -o",
                       o->output);
    return HN_OK;
}

// Prints the contents of the new file, so that a wrong column or a doubled part shows at once.
static enum hn_code report_file(struct hn_context *ctx, const char *path) {
    struct hn_snapshot *s;
    struct hn_composition c;
    if (hn_snapshot_open(ctx, path, &s))
        return ctx->code;
    enum hn_code code = hn_composition_find(ctx, s, &c);
    if (code == HN_OK)
        hn_print_composition(hn_snapshot_info(s), &c, stderr);
    hn_snapshot_close(ctx, s);
    return code;
}

static bool is_retrieval(const struct hn_import *o) {
    return o->side[HN_QUERIES].count || o->side[HN_CORPUS].count || o->qrels || o->truth ||
           o->ids[HN_QUERIES] || o->ids[HN_CORPUS] || o->pairs || o->scores ||
           o->side_teacher[HN_QUERIES].count || o->side_teacher[HN_CORPUS].count;
}

static enum hn_code import_retrieval(struct hn_context *ctx, const struct hn_call *call,
                                     const struct hn_import *o, const char *version) {
    struct hn_retrieval *r;
    if (o->embeddings.count || o->linqs || o->labels.count || o->view1.count || o->view2.count ||
        o->teacher.count || o->group.count || o->label_names)
        return hn_fail(ctx, HN_USAGE,
                       "--queries and --corpus make a file of another kind than --embeddings and "
                       "what goes with them (labels, views, --teacher, --group): "
                       "leave out the ones or the others");
    if (hn_import_retrieval(ctx, o, version))
        return ctx->code;
    if (call->quiet)
        return HN_OK;
    if (hn_retrieval_open(ctx, o->output, &r))
        return ctx->code;
    hn_print_retrieval(hn_retrieval_info(r), stderr);
    hn_retrieval_close(ctx, r);
    return HN_OK;
}

static enum hn_code run_import(struct hn_context *ctx, const struct hn_call *call) {
    const struct import_params *p = call->params;
    const struct hn_import *o = &p->import;
    int64_t n, d;
    char *version = hn_format(ctx, "hardneg %s", hn_version);
    hn_host_limit_data(ctx, p->memory, 1);
    if (version && is_retrieval(o))
        return import_retrieval(ctx, call, o, version);
    if (!version || check_options(ctx, o) || hn_import(ctx, o, version, &n, &d))
        return ctx->code;
    if (!call->quiet && !o->embeddings.count && !o->linqs)
        fprintf(stderr, "%s: %s added\n", o->output,
                !o->group.count    ? "teacher"
                : o->teacher.count ? "teacher and groups"
                                   : "groups");
    else if (!call->quiet)
        fprintf(stderr, "%s: step %lld, %s, %s\n", o->output, (long long)hn_given(o->step, 0),
                hn_counted(n, "item").text, hn_counted(d, "dim").text);
    return call->quiet ? HN_OK : report_file(ctx, o->output);
}

const struct hn_command hn_cmd_import = {
    .name = "import",
    .group = HN_GROUP_START,
    .usage = "hardneg import --embeddings FILE... [--labels FILE...] [--view1 FILE] [--view2 FILE] "
             "[--step S] -o FILE\n"
             "       hardneg import --linqs DIR -o FILE\n"
             "       hardneg import [--teacher FILE] [--group FILE] -o FILE\n"
             "       hardneg import --queries FILE --corpus FILE --qrels FILE | --pairs FILE\n"
             "                      [--query-ids FILE] [--corpus-ids FILE] [--truth FILE] -o FILE",
    .summary = "make a snapshot of your own embeddings, or append a step to one",
    .details =
        "Embeddings are rows of floats, labels integers or texts; `hardneg list formats` says "
        "which files are read. Text labels are numbered in byte-sorted order, unless --label-names "
        "lists them; an empty text, or no labels file, leaves items unlabelled. Multi-label items "
        "count as the same class if they share any label. Appends a step to a file that exists: "
        "items and labels must be the same, and the step must come after its last. --teacher and "
        "--group alone add a teacher's rows, or groups, to a file that exists. With --queries and "
        "--corpus the file is of the kind that mine, evaluate and price read, and run and choose "
        "as pairs: ids are texts (007 is not 7), equal texts share a number, and if a pair is "
        "given twice its last grade counts; with --step they add rows of a step to a file that "
        "exists. The file is replaced only when everything has been written.",
    .examples = "hardneg import --embeddings x0.npy --labels y.npy -o mine.h5\n"
                "hardneg import --embeddings x1.npy --step 100 -o mine.h5\n"
                "hardneg import -e a.npy -e b.npy --labels metadata.tsv -o parts.h5\n"
                "hardneg import -e model.safetensors --tensor embeddings -o words.h5\n"
                "curl -s $URL | hardneg import -e - --raw float32 --dim 768 -o stream.h5\n"
                "hardneg import --linqs datasets/cora -o cora.h5\n"
                "hardneg import --queries q.npy --corpus p.npy --qrels qrels/train.tsv --query-ids "
                "queries.jsonl --corpus-ids corpus.jsonl -o r.h5",
    .options = import_options,
    .params_size = sizeof(struct import_params),
    .run = run_import};
