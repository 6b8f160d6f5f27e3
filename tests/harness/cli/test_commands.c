// SPDX-License-Identifier: GPL-3.0-or-later
// Every command in this process, whose allocations fail one at a time: the command ends with a
// message and HN_MEMORY, or records that a cell has failed, or does without what it was for;
// nothing stays allocated, and no temporary file is left.
//
// HN_STACKS=1: the first and the last call of each call stack of all commands; otherwise all of a
// command that makes few, and some spread over the others. HN_COMMAND=choose: of that command
// alone.
//
// And commands that are asked to stop, once at each place that looks: they say so, and leave
// nothing either.
#include "core/digest.h"
#include "core/files.h"
#include "core/options/option_argv.h"
#include "datasets/h5.h"
#include "datasets/snapshot.h"
#include "harness/cli/command.h"
#include "results/cell_file.h"
#include "results/store.h"
#include "tests/call_stacks.h"
#include "tests/fixture.h"
#include "tests/stop_places.h"
#include "tests/task_data.h"
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FEW = 4, ALL = 150, WORDS = 40, LINE = 500 };
#define SHA "0000000000000000000000000000000000000000000000000000000000000000"

// What commands say, results and errors, goes to a file.
static int kept[2];
static void be_silent(const char *output) {
    fflush(NULL);
    int to = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(STDOUT_FILENO + i);
        CU_ASSERT_FATAL(kept[i] >= 0 && dup2(to, STDOUT_FILENO + i) >= 0);
    }
    CU_ASSERT_EQUAL(close(to), 0);
}
static void speak(void) {
    fflush(NULL);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_FATAL(dup2(kept[i], STDOUT_FILENO + i) >= 0 && close(kept[i]) == 0);
}

// A command as main() runs it. Words in single quotes may have blanks.
static enum hn_code run_words(struct hn_context *ctx, const char *line) {
    char text[LINE], *word[WORDS];
    struct hn_option table[HN_COMMAND_OPTIONS];
    int n = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; *at && n < WORDS;) {
        bool quoted = *at == '\'';
        word[n++] = at += quoted;
        at += strcspn(at, quoted ? "'" : " ");
        if (*at)
            *at++ = '\0';
        at += strspn(at, " ");
    }
    const struct hn_command *command = hn_command_find(ctx, word[0]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(command);
    size_t shift = (command->params_size + 63) & ~(size_t)63;
    hn_command_options(command, shift, table);
    HN_SCOPE(ctx);
    char *params = hn_zalloc(ctx, (int64_t)(shift + sizeof(struct hn_call)), 1);
    const char **args = hn_zalloc(ctx, n, sizeof *args);
    if (!params || !args || hn_options_init(ctx, table, params))
        return HN_MEMORY;
    struct hn_call *call = (struct hn_call *)(void *)(params + shift);
    call->args = args;
    call->line = text;
    call->argc = n;
    call->argv = word;
    call->params = params;
    enum hn_code code = hn_options_argv(ctx, table, params, n, word, args, &call->n_args);
    return code ? code : hn_command_run(ctx, command, call);
}

static enum hn_code run_silently(struct hn_context *ctx, const char *line) {
    be_silent("/dev/null");
    enum hn_code code = run_words(ctx, line);
    speak();
    return code;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fputs(text, f) >= 0 && fclose(f) == 0);
}

// A suite of two kinds, of an encoder each.
static void put_suite(struct hn_context *ctx) {
    FILE *f = fopen("suite.yaml", "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f, "suite: made-up\nbatch_size: 8\nbatches: 4\nseeds: [1]\n"
               "reference: [uniform, knn, {gcbs: {keep: 8}}]\nkinds:\n");
    for (const char *name = "s"; name; name = *name == 's' ? "t" : NULL) {
        struct hn_snapshot *s;
        char path[16], digest[HN_DIGEST_TEXT];
        snprintf(path, sizeof path, "%s.h5", name);
        HN_CHECK(ctx, hn_snapshot_open(ctx, path, &s));
        HN_CHECK(ctx, hn_snapshot_digest(ctx, s, digest));
        hn_snapshot_close(ctx, s);
        fprintf(f, "  - name: %s\n    encoders: [{file: %s, sha256: %s}]\n", name, path, digest);
    }
    CU_ASSERT_EQUAL(fclose(f), 0);
    put("entry.yaml", "name: mine\nauthors: A\nchosen_on: nothing\nsettings: [jest]\n");
}

static void put_lines(const char *path, int n, int columns) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < columns; k++)
            fprintf(f, "%d%s", (7 * i + k * k * (i + 3)) % 19 - 9, k < columns - 1 ? "\t" : "\n");
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static void put_set(hid_t file, const char *name, int rank, hid_t type, const void *value) {
    static const hsize_t shape[] = {20, 3};
    hid_t space = H5Screate_simple(rank, shape, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    CU_ASSERT(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

// HDF5 that is no snapshot: rows and labels in a group, and a link to the rows.
static void put_plain(const char *path) {
    float rows[20 * 3];
    int32_t labels[20];
    for (int i = 0; i < 20 * 3; i++)
        rows[i] = (float)(i * i % 17) - 8;
    for (int i = 0; i < 20; i++)
        labels[i] = i % 4;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "deep", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT(file >= 0 && group >= 0);
    put_set(group, "rows", 2, H5T_NATIVE_FLOAT, rows);
    put_set(group, "labels", 1, H5T_NATIVE_INT32, labels);
    CU_ASSERT(H5Lcreate_soft("/deep/rows", file, "link", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CU_ASSERT(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
}

static void put_sets(const char *path, int n) {
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "c%d|c%d\n", i % 3, (i + 1 + i % 2) % 3);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static const char job[] = "version: 1\nsnapshots: s.h5\nsamplers: [uniform, knn]\nbatch_size: 8\n"
                          "batches: 3\nsteps: [0]\nmetrics: [fn_ratio, histogram, hardness]\n"
                          "figures: none\ntiming: {reps: 1, warmup: 0}\n";
static const char trained[] =
    "version: 1\ntask: {node: {data: documents, hidden: 4, out: 4}}\nsamplers: [uniform]\n"
    "loss: other-view\nbatch_size: 16\nsteps: 2\nevaluate: 2\n";

static const char weighted[] =
    "version: 1\nsnapshots: [s.h5, t.h5]\nsamplers: [uniform, {mosaic: {lambda: [0.2, 0.5]}}]\n"
    "weightings: [hcl, {debiased: {tau_plus: 0.1}}]\nbatch_size: 8\nbatches: 3\nsteps: [0]\n"
    "metrics: all\nfigures: none\ntemperature: [0.1, 0.5]\ntiming: {reps: 1, warmup: 0}\n";

static const char claims[] =
    "paper: T\nentries:\n  - id: mine\n    title: t\n    source: s\n    jobs: [{job: bs-fig4}]\n"
    "    claims:\n      - {name: n, statement: s, test: above, of: {column: fn_ratio, rows: "
    "{sampler: knn}}, than: {rows: {sampler: uniform}}}\n";

// A sheet with a judgement in every row: 0.
static void judge_all(const char *sheet, const char *judged) {
    char line[LINE];
    FILE *from = fopen(sheet, "r"), *to = fopen(judged, "w");
    CU_ASSERT_FATAL(from && to);
    for (int row = 0; fgets(line, sizeof line, from); row++)
        fprintf(to, "%.*s%s\n", (int)strcspn(line, "\n"), line, row ? "0" : "");
    CU_ASSERT(fclose(from) == 0 && fclose(to) == 0);
}

// The folder with what the commands read.
static char folder[300];
static void make_place(void) {
    static const char *const lines[] = {
        "synth -o s.h5 --n 48 --dim 4 --classes 3 --steps 2 --views 2",
        "synth -o t.h5 --n 48 --dim 4 --classes 4 --steps 1 --views 1 --seed 2",
        "synth --kind retrieval -o r.h5 --n 40 --queries 8 --dim 4",
        "synth --kind retrieval -o r2.h5 --n 40 --queries 8 --dim 4 --seed 2",
        "run -c job.yaml -o page -q",
        "run -c job.yaml -o other -q --set seeds=[3]",
        "run -c job.yaml -o part1 -q --shard 1/2",
        "run -c job.yaml -o part2 -q --shard 2/2",
        "train -c train.yaml -o trainings -q --threads 1 --workers 1",
        "import --queries four.tsv --corpus four.tsv --pairs pairs.tsv -o texts.h5 -q",
        "price r.h5 --sheet 10 -o sheet.tsv -q",
        "price r.h5 -n 2 --sheet 10 -o few.tsv -q",
        "price r.h5 --for '-n 2' --sheet 10 -o drawn0.tsv -q",
        "synth -o b.h5 --n 260 --dim 2 --classes 3 --steps 2",
        "run -c job.yaml -o past/a -q",
        "run -c job.yaml -o past/b -q",
        "price r.h5 -o price.h5 -q",
        "board --suite suite.yaml -o reference.h5 -q",
        "board --suite suite.yaml --entry entry.yaml -o mine.h5 -q"};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
    put("job.yaml", job);
    put("train.yaml", trained);
    put("claims.yaml", claims);
    put_lines("rows.tsv", 40, 5);
    put_lines("four.tsv", 4, 3);
    put("pairs.tsv", "a dog\ta cat\na cow\ta hen\na dog barks\ta pig\nthe sun\tthe moon\n");
    put("qrels.tsv", "a\tb\t1\nc\td\t2\n");
    put("scores.tsv", "a\tb\t0.5\nc\td\t0.25\n");
    put("ids.txt", "a\nb\nc\nd\n");
    put_lines("labels.txt", 40, 1);
    put_sets("sets.txt", 40);
    put_lines("texts.txt", 48, 2);
    CU_ASSERT_EQUAL(mkdir("documents", 0777), 0);
    put_documents("documents");
    put("weighted.yaml", weighted);
    put("outcome.csv", "data,entry,seed,acc\ns,reference,1,1\ns,uniform,1,7\ns,mine,1,8\n"
                       "t,uniform,1,5\nt,mine,1,5.5\n");
    put("accuracies.csv", "sampler,seed,acc\nuniform,1,7\nuniform,2,7.5\nknn,1,8\nknn,2,9\n");
    put_plain("plain.h5");
    CU_ASSERT_EQUAL(mkdir("past", 0777), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        enum hn_code code = run_silently(&ctx, lines[i]);
        if (code)
            fprintf(stderr, "    %s: %s\n", lines[i], ctx.message);
        CU_ASSERT_EQUAL_FATAL(code, HN_OK);
        if (strstr(lines[i], " t.h5"))
            put_suite(&ctx);
    }
    judge_all("few.tsv", "judged.tsv");
    judge_all("drawn0.tsv", "drawn.tsv");
}

static void leave_place(void) {
    CU_ASSERT_EQUAL(chdir("/"), 0);
    hn_fixture_remove(folder);
}

static void empty_out(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    hn_scratch_remove(&ctx, hn_strdup(&ctx, "out"));
    CU_ASSERT_EQUAL(mkdir("out", 0777), 0);
}

static int temporary_files(void) {
    int n = 0;
    DIR *opened = opendir("out");
    for (struct dirent *entry; opened && (entry = readdir(opened)) != NULL;)
        n += strstr(entry->d_name, ".tmp-") != NULL;
    if (opened)
        (void)closedir(opened);
    return n;
}

static void fail_at(const char *line, int64_t k, enum hn_code wanted) {
    struct hn_context ctx;
    empty_out();
    hn_context_init(&ctx, 1);
    ctx.memory.fail_at = k;
    enum hn_code code = run_silently(&ctx, line);
    bool said = *ctx.message || strncmp(line, "validate", 8) == 0; // which says it of each file
    bool good = (code == HN_MEMORY && said) || code == wanted || code == HN_PARTIAL;
    if (!good || ctx.memory.live != 0)
        fprintf(stderr, "    %s, allocation %d: code %d, %lld bytes, \"%s\"\n", line, (int)k,
                (int)code, (long long)ctx.memory.live, ctx.message);
    CU_ASSERT_TRUE(good);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_EQUAL(temporary_files(), 0);
}

static const struct {
    const char *line;
    enum hn_code code;
} commands[] = {
    {"synth -o out/s.h5 --n 40 --dim 4 --classes 3 --steps 2 --views 2"},
    {"synth --kind retrieval -o out/r.h5 --n 40 --queries 8 --dim 4"},
    {"import -e rows.tsv -l labels.txt -o out/s.h5"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv -o out/p.h5"},
    {"import -e rows.tsv --view2 rows.tsv --teacher rows.tsv --group sets.txt -o out/s.h5"},
    {"import -e rows.tsv -l sets.txt --label-separator | --compress 4 -o out/s.h5"},
    {"import -e rows.tsv --rows 20 --transpose -o out/s.h5", HN_DATA},
    {"import --linqs documents -o out/s.h5"},
    {"import --queries four.tsv --corpus four.tsv --query-ids ids.txt --corpus-ids ids.txt "
     "--qrels qrels.tsv --truth qrels.tsv --scores scores.tsv --query-teacher four.tsv "
     "--corpus-teacher four.tsv -o out/r.h5"},
    {"info texts.h5 --json"},
    {"info s.h5"},
    {"info r.h5"},
    {"info s.h5 --json"},
    {"validate s.h5 r.h5 --json"},
    {"run -c job.yaml -o out --threads 1"},
    {"run -c job.yaml -o out --dry-run"},
    {"run -c job.yaml -o out --dry-run -v"},
    {"run -c job.yaml -o page --explain"},
    {"merge part1 part2 -o out/m.h5"},
    {"report page --settings uniform -o out/page.html", HN_GNUPLOT},
    {"report price.h5 -o out/price.html", HN_GNUPLOT},
    {"export page --csv -o out/rows.csv"},
    {"export page --latex --table settings -o out/rows.tex"},
    {"export page --json -o out/rows.json"},
    {"export trainings --markdown -o out/rows.md"},
    {"compare page page --json"},
    {"compare page other --markdown out/m.md --junit out/j.xml", HN_NOTHING},
    {"compare page other --match name --gate fn_ratio:+0.2", HN_NOTHING},
    {"compare page page --match name --gate fn_ratio:+0.2 --json --markdown out/m.md"},
    {"status page part1 --json"},
    {"status ."},
    {"sample r.h5 --sampler uniform -b 4 -o out/b.npy"},
    {"sample s.h5 --sampler gcbs -b 16 -o out/b.npy"},
    {"sample s.h5 --sampler '{mined: {n: 3}}' -b 16 -o out/b.jsonl"},
    {"sheet s.h5 --texts texts.txt -b 16 -o out/sheet.html"},
    {"mine r.h5 -n 2 -o out/m.npy --scores out/s.npy"},
    {"mine r.h5 -n 2 -o out/m.jsonl --take draw --absolute-margin 0.1"},
    {"mine r.h5 -n 2 --rows 1/1 -o out/m.jsonl"},
    {"price r.h5 -n 2"},
    {"price r.h5 -o out/p.h5 --json"},
    {"price r.h5 --sheet 10 -o out/sheet.tsv"},
    {"price r.h5 --sheet 10 --trials 3"},
    {"price r.h5 --for '-n 2 --min-rank 2' --json"},
    {"evaluate r.h5 --k 1,5 --per-query out/q.tsv"},
    {"evaluate r.h5 --k 1,5 --dim 2"},
    {"evaluate r.h5 --against r2.h5 --json"},
    {"overlap texts.h5 texts.h5 --json"},
    {"choose s.h5 --max-excess 5 -b 8 --seeds 2 --batches 4 -c job.yaml"},
    {"train -c train.yaml -o out --threads 1 --workers 1"},
    {"train -c train.yaml -o out --threads 1 --workers 1 --dry-run"},
    {"train -c train.yaml -o trainings --threads 1 --workers 1 --json"},
    {"report trainings -o out/page.html", HN_GNUPLOT},
    {"plot page --figure bs-fig4 -o out", HN_GNUPLOT},
    {"paper page -o out", HN_GNUPLOT},
    {"reproduce --list --data s.h5 --json"},
    {"reproduce mine --claims claims.yaml --results page/results.h5 --against page/results.h5 "
     "--json"},
    {"board --suite suite.yaml -o out/r.h5 -q"},
    {"board --suite suite.yaml --entry entry.yaml -o out/e.h5 -q"},
    {"board reference.h5 mine.h5 -o out/board.html"},
    {"board reference.h5 mine.h5 --json"},
    {"board reference.h5 mine.h5 --outcome outcome.csv -o out/board.html"},
    {"board reference.h5 mine.h5 --outcome outcome.csv --kinds s --json"},
    {"compare --history past -o out", HN_GNUPLOT},
    {"compare --history past --metric fn_ratio --json -o out", HN_GNUPLOT},
    {"report page other -o out/m.html"},
    {"report page -o out/p.html --outcome accuracies.csv", HN_GNUPLOT},
    {"price r.h5 -n 2 --judged judged.tsv --recommend --max-fn 0.9", HN_NOTHING},
    {"price r.h5 --for '-n 2' --judged drawn.tsv --max-fn 0.99 --certificate out/c.json"},
    {"import -e plain.h5 -l plain.h5 --label-tensor deep/labels -o out/s.h5"},
    {"import -e plain.h5 -l plain.h5 --tensor link --label-tensor deep/labels -o out/s.h5"},
    {"run -c weighted.yaml -o out --threads 1"},
    {"reproduce bs-fig4 --data b.h5 --quick --seeds 1 --term none -o out -q"},
    {"list --json"},
    {"list sampler knn"},
    {"man"},
    {"completion bash"},
    {"doctor --no-noise --json"},
    {"bench walk --n 200 --dim 4 --M 20 --K 5 --batch-size 8 --reps 1 --warmup 0 --json"},
};

// Calls that are refused, with what is to be done instead.
static const struct {
    const char *line;
    enum hn_code code;
    const char *part;
} refusals[] = {
    {"board --suite suite.yaml", HN_USAGE, "--suite needs a file for the results: add -o entry.h5"},
    {"board reference.h5 --suite suite.yaml -o out/r.h5", HN_USAGE, "--suite"},
    {"board --suite suite.yaml --kinds s -o out/r.h5", HN_USAGE, "--suite"},
    {"board --suite twice.yaml -o out/r.h5", HN_USAGE, "two kinds are called 's'"},
    {"board --suite suite.yaml --entry unnamed.yaml -o out/r.h5", HN_USAGE,
     "an entry has a name of its own, not 'reference'"},
    {"choose s.h5 -c given.yaml -b 8", HN_USAGE, "stands for batches that another program chose"},
    {"compare page", HN_USAGE, "give two results files, BASE and NEW, or --history DIR"},
    {"compare none/base.h5 page", HN_DATA, "its folder is not there: check the path of BASE"},
    {"compare page page --gate fn_ratio", HN_USAGE, "the metric or the limit is missing"},
    {"compare page page --gate fn_ratio:-x", HN_USAGE, "the limit is not a number of 0 or more"},
    {"compare page page --gate fn_ratio:0x1", HN_USAGE, "the limit is not a number of 0 or more"},
    {"compare page page --gate sampler:1", HN_USAGE, "names what was run"},
    {"compare page page --gate times:1", HN_USAGE, "times are gated in percent"},
    {"compare page page --gate cost_s:1", HN_USAGE, "--gate cost_s:1"},
    {"compare page page --gate fn_ratio:-0.1", HN_USAGE, "--gate fn_ratio:-0.1"},
    {"compare page page --gate fn_rato:1", HN_USAGE, "did you mean 'fn_ratio'"},
    {"ab hardneg hardneg", HN_USAGE, "no job file: give one with -c JOB"},
    {"completion fish", HN_USAGE, "unknown shell 'fish': bash or zsh"},
    {"export page --csv --table none", HN_USAGE, "has no table none; there are runs"},
    {"export reference.h5 --csv --table accuracies", HN_USAGE, "has no table accuracies"},
    {"export price.h5 --markdown", HN_USAGE,
     "price.h5: table settings has no row; give --table and one that has: price"},
    {"export page --html --table accuracies", HN_DATA, "page: no table of accuracies: no training"},
    {"merge part1 part2", HN_USAGE, "no output: give the merged file with -o results.h5"},
    {"plot page --columns 1 -o out/f", HN_USAGE, "--columns are those of a style"},
    {"report page other", HN_USAGE, "a page of several results needs a name: add -o FILE"},
    {"report page page -o out/page.html", HN_USAGE, "page/results.h5 is named twice"},
    {"run -c same.yaml -o out", HN_USAGE, "'s.h5' and './s.h5' in 'snapshots' are the same file"},
    {"run -c job.yaml -o out --rows 1/2 --set timing.processes=3", HN_USAGE,
     "give --set timing.processes=1"},
    {"run -c job.yaml -o out --filter jest --dry-run", HN_USAGE, "--filter matches none"},
    {"run -c job.yaml -o out --set 'samplers=[given: {file: b.npy}]'", HN_USAGE,
     "given wants `name`: what results call this sampler"},
    {"run -c job.yaml -o out --set 'samplers=[given: {name: mine}]'", HN_USAGE,
     "given wants `file`: where its batches are"},
    {"run -c job.yaml -o out --set 'samplers=[command: {name: mine}]'", HN_USAGE,
     "command wants `run`: the program and its arguments"},
    {"run -c job.yaml -o out --set 'samplers=[given: {file: b.npy, name: knn}]'", HN_USAGE,
     "name: 'knn' is a sampler of hardneg: take another name"},
    {"run -c job.yaml -o out --rows 3/2", HN_USAGE, "--rows 3/2: give part i of n as i/n"},
    {"train -o out", HN_USAGE, "no job file: give one with -c JOB"},
    {"train -c train.yaml", HN_USAGE, "--output is missing: name a folder with -o DIR"},
    {"train -c train.yaml -o out --dry-run --json", HN_USAGE, "--json is of results"},
    {"train -c train.yaml -o out --set teacher=none.h5", HN_DATA, "none.h5"},
    {"mine r.h5", HN_USAGE, "--output is missing: name the file to write"},
    {"price r.h5 --certificate out/c.json", HN_USAGE, "--certificate goes with --for"},
    {"price r.h5 --recommend", HN_USAGE, "--recommend needs --max-fn"},
    {"price r.h5 --sheet 10 --judged sheet.tsv -o out/s.tsv", HN_USAGE, "--sheet only draws pairs"},
    {"price r.h5 --for '-n 2' --sheet 10", HN_USAGE, "--for: --sheet N and --output go together"},
    {"price r.h5 --for '-n 2' --certificate out/c.json", HN_USAGE,
     "--certificate needs --judged and --max-fn"},
    {"price r.h5 --judged sheet.tsv", HN_DATA, "line 2: column 5, relevant, is empty"},
    {"bench table --data s.h5", HN_USAGE, "'table' has rows of its own: leave --data out"},
    {"bench walk linear", HN_USAGE, "give it alone, without walk"},
    {"bench linear walk", HN_USAGE, "give it alone, without walk"},
    {"bench knm", HN_USAGE, "did you mean 'knn'?"},
    {"bench walk --data none.h5", HN_DATA, "none.h5"},
    {"bench all --data t.h5", HN_DATA, "t.h5: has no views, which product needs"},
    {"bench walk --screen none", HN_USAGE, "none"},
    {"board reference.h5 --suite suite.yaml -o out/r.h5 --within-ms 3", HN_USAGE, "--within-ms"},
    {"board --suite suite.yaml --within-ms 3 -o out/r.h5", HN_USAGE, "--suite measures"},
    {"board --suite suite.yaml --outcome t.csv -o out/r.h5", HN_USAGE, "--suite measures"},
    {"board none.h5", HN_DATA, "none.h5"},
    {"board price.h5", HN_DATA, "price.h5"},
    {"board reference.h5 mine.h5 -o none/b.html", HN_USAGE, "none/b.html"},
    {"board reference.h5 mine.h5 --outcome none.csv", HN_DATA, "none.csv"},
    {"board reference.h5 mine.h5 --kinds none", HN_USAGE, "none"},
    {"compare", HN_USAGE, "give two results files, BASE and NEW, or --history DIR"},
    {"compare page none.h5", HN_DATA, "none"},
    {"compare page price.h5", HN_NOTHING, ""},
    {"compare page page --junit none/j.xml", HN_USAGE, "none/j.xml"},
    {"compare --history none -o out/h", HN_USAGE, "--history none: cannot be read"},
    {"compare --history . --metric no_such -o out", HN_USAGE, "no column of numbers no_such"},
    {"compare --history . --metric sampler -o out", HN_USAGE, "no column of numbers sampler"},
    {"ab hardneg hardneg -c job.yaml --gate x", HN_USAGE, "--gate x"},
    {"ab hardneg hardneg -c job.yaml --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 "
     "--set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 "
     "--set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1 --set=a=1",
     HN_USAGE, "--set: more than 20 of them"},
    {"evaluate r.h5 --dim 2 --run ids.txt", HN_USAGE, "--dim goes without --run"},
    {"evaluate r.h5 --dim 2 --against r2.h5", HN_USAGE, "--dim goes without --run"},
    {"evaluate r.h5 --dim 2 --per-query out/q.tsv", HN_USAGE, "--dim goes without --run"},
    {"evaluate r.h5 --dim 0", HN_USAGE, "--dim"},
    {"evaluate r.h5 --k 1,,2", HN_USAGE, "--k"},
    {"import -e rows.tsv --teacher rows.tsv -o s.h5", HN_USAGE, "s.h5: exists; give --teacher"},
    {"import --linqs documents --group sets.txt -o s.h5", HN_USAGE, "s.h5: exists; give --teacher"},
    {"import --teacher rows.tsv -l labels.txt -o s.h5", HN_USAGE, "--embeddings is missing"},
    {"import --teacher rows.tsv --view1 rows.tsv -o s.h5", HN_USAGE, "--embeddings is missing"},
    {"import --teacher rows.tsv --view2 rows.tsv -o s.h5", HN_USAGE, "--embeddings is missing"},
    {"import --teacher rows.tsv --step 3 -o s.h5", HN_USAGE, "--embeddings is missing"},
    {"import -e rows.tsv", HN_USAGE, "--output is missing: name the snapshot to write"},
    {"import --linqs documents -e rows.tsv -o out/x.h5", HN_USAGE,
     "--linqs brings rows and labels"},
    {"import --linqs documents -o s.h5", HN_USAGE, "s.h5: exists; --linqs makes a new file"},
    {"import --corpus four.tsv -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --query-ids ids.txt -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --corpus-ids ids.txt -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --pairs pairs.tsv -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --scores scores.tsv -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --query-teacher four.tsv -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --corpus-teacher four.tsv -o out/x.h5", HN_USAGE, "--queries is missing"},
    {"import --qrels qrels.tsv --queries four.tsv -o out/x.h5", HN_USAGE, "--corpus is missing"},
    {"import --queries four.tsv --corpus four.tsv --qrels qrels.tsv -o s.h5 --step 5", HN_USAGE,
     "s.h5: exists, and is a snapshot of items"},
    {"import --queries four.tsv --corpus four.tsv -o scored.h5", HN_USAGE,
     "scored.h5: exists; give --step of the new rows"},
    {"import --queries four.tsv --corpus four.tsv --qrels qrels.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --truth qrels.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --scores scores.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --query-ids ids.txt -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --corpus-ids ids.txt -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --query-teacher four.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries four.tsv --corpus four.tsv --corpus-teacher four.tsv -o scored.h5 --step 5",
     HN_USAGE, "a further step brings rows alone"},
    {"import --queries rows.tsv --corpus four.tsv -o scored.h5 --step 5", HN_DATA,
     "rows.tsv has rows of 5 values but four.tsv has rows of 3"},
    {"import --queries rows.tsv --corpus rows.tsv -o scored.h5 --step 5", HN_DATA,
     "rows.tsv is [40, 5] but scored.h5 has 4 queries of 3 dims"},
    {"import --queries four.tsv --corpus four.tsv -o scored.h5 --step 0", HN_USAGE, "--step 0"},
    {"import --queries four.tsv --corpus four.tsv --zero-rows keep -o scored.h5 --step 5", HN_USAGE,
     "was made without --zero-rows keep"},
    {"import --queries four.tsv --corpus four.tsv --zero-rows skip --qrels qrels.tsv -o out/x.h5",
     HN_USAGE, "--zero-rows skip: ids, texts and relevance go by the rows"},
    {"import --queries four.tsv --corpus four.tsv --qrels qrels.tsv", HN_USAGE,
     "--output is missing"},
    {"import --queries four.tsv --corpus four.tsv -o out/x.h5", HN_USAGE, "give either --qrels"},
    {"import --queries four.tsv --corpus four.tsv --qrels qrels.tsv --pairs pairs.tsv -o out/x.h5",
     HN_USAGE, "give either --qrels"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --query-ids ids.txt -o "
     "out/x.h5",
     HN_USAGE, "--pairs brings texts, and numbers as ids"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --corpus-ids ids.txt -o "
     "out/x.h5",
     HN_USAGE, "--pairs brings texts, and numbers as ids"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --query-teacher four.tsv -o "
     "out/x.h5",
     HN_USAGE, "--corpus-teacher is missing"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --corpus-teacher four.tsv -o "
     "out/x.h5",
     HN_USAGE, "--query-teacher is missing"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --query-teacher four.tsv "
     "--corpus-teacher rows.tsv -o out/x.h5",
     HN_DATA, "rows.tsv has 40 rows but four.tsv has 4"},
    {"import --queries four.tsv --corpus four.tsv --pairs pairs.tsv --tensor x -o out/x.h5",
     HN_USAGE, "--tensor x: four.tsv does not hold several arrays"},
    {"import -e rows.tsv -o s.h5", HN_DATA, "s.h5"},
    {"import -e rows.tsv --step 0 -o grouped.h5", HN_USAGE, "--step 0 does not come after step 0"},
    {"import -e rows.tsv -o grouped.h5", HN_USAGE, "grouped.h5: exists, up to step 0"},
    {"import --truth qrels.tsv --linqs documents -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"import --truth qrels.tsv -l labels.txt -o out/x.h5", HN_USAGE, "make a file of another kind"},
    {"import --truth qrels.tsv --view1 rows.tsv -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"import --truth qrels.tsv --view2 rows.tsv -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"import --truth qrels.tsv --teacher rows.tsv -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"import --truth qrels.tsv --group sets.txt -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"import --truth qrels.tsv --label-names ids.txt -o out/x.h5", HN_USAGE,
     "make a file of another kind"},
    {"list sampler", HN_USAGE, "which sampler? `hardneg list samplers` names them"},
    {"list sampler knm", HN_USAGE, "did you mean 'knn'?"},
    {"list knn", HN_USAGE, "unknown list 'knn'"},
    {"merge none part1 -o out/m.h5", HN_DATA, "none"},
    {"overlap r.h5 texts.h5", HN_DATA, "r.h5: has no texts to compare"},
    {"overlap texts.h5 texts.h5 --gate", HN_GATE, "shared with texts.h5"},
    {"paper page --settings none -o out", HN_USAGE, "none"},
    {"plot page --figure none -o out/f", HN_USAGE, "none"},
    {"plot page --step 99 -o out/f", HN_USAGE,
     "--step: no cell is of step '99'; there are 0, and `last`"},
    {"plot page --step 0x -o out", HN_USAGE, "--step: no cell is of step '0x'"},
    {"plot page --settings none -o out", HN_USAGE, "none"},
    {"price r.h5 --for '-n 2' -n 3", HN_USAGE, "--for prices one setting"},
    {"price r.h5 --for '-n 2' --depth 9", HN_USAGE, "--for prices one setting"},
    {"price r.h5 --for '-n 2' --min-grade 2", HN_USAGE, "--for prices one setting"},
    {"price r.h5 --for '-n 2' --trials 2", HN_USAGE, "--for prices one setting"},
    {"price r.h5 --for '-n 2' --recommend --max-fn 0.1", HN_USAGE, "--for prices one setting"},
    {"price r.h5 --for '-n 2' -o out/s.tsv", HN_USAGE, "--for: --sheet N and --output go together"},
    {"price r.h5 --for '-n 2' --certificate out/c.json --judged sheet.tsv", HN_USAGE,
     "--certificate needs --judged and --max-fn"},
    {"price r.h5 --trials 2 --sheet 9", HN_USAGE,
     "--trials goes with --sheet N, of 10 pairs at least"},
    {"price r.h5 --trials 2 --sheet 20 -o out/s.tsv", HN_USAGE, "and without --output"},
    {"price scored.h5 --trials 2 --sheet 20", HN_DATA, "scored.h5: has no /truth"},
    {"price r.h5 --sheet 20", HN_USAGE, "--sheet needs --output"},
    {"price r.h5 --sheet 10 -o out/s.tsv --recommend --max-fn 0.1", HN_USAGE,
     "--sheet only draws pairs"},
    {"price r.h5 --judged unjudged.tsv", HN_DATA, "unjudged.tsv: has no judged pair"},
    {"price r.h5 --recommend --max-fn 0.000001", HN_NOTHING,
     "no setting is shown to have at most 0.0001 % false negatives"},
    {"price scored.h5 --recommend --max-fn 0.1 -n 1", HN_NOTHING,
     "without judged pairs there is no interval"},
    {"report page other --outcome t.csv -o out/p.html", HN_USAGE,
     "--outcome is for one results file"},
    {"report page other --settings uniform -o out/p.html", HN_USAGE,
     "--settings is for one results file"},
    {"report page page/results.h5 -o none/p.html", HN_USAGE, "page/results.h5 is named twice"},
    {"report page other -o none/p.html", HN_USAGE, "none/p.html"},
    {"report page --outcome none.csv -o out/p.html", HN_DATA, "none.csv"},
    {"report page --settings none -o out/p.html", HN_USAGE, "none"},
    {"run -c job.yaml -o taken", HN_USAGE, "taken/job.yaml: was not written by a run"},
    {"run -c job.yaml -o out --rows 1/2 --mpi", HN_USAGE, "--mpi"},
    {"run -c job.yaml -o out --set figures=[bs-prop1]", HN_USAGE,
     "figure bs-prop1 needs prop1: add prop1 to metrics"},
    {"run -c job.yaml -o out --set figures=[gc-fig1]", HN_USAGE, "figure gc-fig1 needs heatmap"},
    {"run -c job.yaml -o out --set figures=[bs-fig4] --set metrics=[fn_ratio]", HN_USAGE,
     "figure bs-fig4 needs histogram"},
    {"run -c job.yaml -o out --set figures=[pareto] --set metrics=[fn_ratio]", HN_USAGE,
     "figure pareto needs hardness"},
    {"export stopped --csv", HN_DATA, "stopped: its run has not finished a cell yet"},
    {"status none", HN_DATA, "none: no run was begun here, nor in folders of it"},
    {"mine r.h5 -o out/m.jsonl --rows 3/2", HN_USAGE, "--rows 3/2: give part i of n as i/n"},
    {"reproduce bs-fig4 --data none", HN_USAGE, "none"},
    {"paper price.h5 -o out", HN_DATA, "there is nothing for a paper"},
};

// A run that was broken off before its first cell, an hour ago.
static void put_stopped_run(struct hn_context *ctx) {
    const struct timespec ago[] = {{time(NULL) - 3600, 0}, {time(NULL) - 3600, 0}};
    struct hn_results part; // whose plan are the cells that it lacks
    CU_ASSERT(mkdir("stopped", 0777) == 0 && mkdir("stopped/cells", 0777) == 0);
    HN_CHECK(ctx, hn_results_read(ctx, "part1/results.h5", &part));
    HN_CHECK(ctx, hn_cell_plan_write(ctx, "stopped", &part));
    hn_results_free(ctx, &part);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, "stopped/cells/plan", ago, 0), 0);
}

// A retrieval file with scores of pairs and without complete relevance; a sheet without pairs;
// a folder whose job file is not of a run.
static void put_odd_files(struct hn_context *ctx) {
    char head[200] = "";
    HN_CHECK(ctx, run_silently(ctx, "import --queries four.tsv --corpus four.tsv --query-ids "
                                    "ids.txt --corpus-ids ids.txt --qrels qrels.tsv --scores "
                                    "scores.tsv -o scored.h5 -q"));
    FILE *sheet = fopen("sheet.tsv", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(sheet);
    CU_ASSERT_PTR_NOT_NULL(fgets(head, sizeof head, sheet));
    CU_ASSERT_EQUAL(fclose(sheet), 0);
    put("unjudged.tsv", head);
    HN_CHECK(ctx, run_silently(ctx, "import -e rows.tsv -l labels.txt -o grouped.h5 -q"));
    put_stopped_run(ctx);
    CU_ASSERT_EQUAL(mkdir("taken", 0777), 0);
    put("taken/job.yaml", job);
}

static void test_refused(void) {
    struct hn_context before;
    hn_context_init(&before, 1);
    make_place();
    put_odd_files(&before);
    put("twice.yaml", "suite: x\nreference: [uniform]\nkinds:\n"
                      "  - name: s\n    encoders: [{file: s.h5, sha256: " SHA "}]\n"
                      "  - name: s\n    encoders: [{file: t.h5, sha256: " SHA "}]\n");
    put("unnamed.yaml", "name: reference\nauthors: A\nchosen_on: nothing\nsettings: [jest]\n");
    put("given.yaml", "version: 1\nsnapshots: s.h5\nsamplers: [{given: {file: b.npy}}]\n");
    put("same.yaml", "version: 1\nsnapshots: [s.h5, ./s.h5]\nsamplers: [uniform]\nbatch_size: 8\n"
                     "batches: 2\n");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct hn_context ctx;
        empty_out();
        hn_context_init(&ctx, 1);
        enum hn_code code = run_silently(&ctx, refusals[i].line);
        bool good = code == refusals[i].code && strstr(ctx.message, refusals[i].part);
        if (!good)
            fprintf(stderr, "    %s: code %d: %s\n", refusals[i].line, (int)code, ctx.message);
        CU_ASSERT_TRUE(good);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        bool empty = rmdir("out") == 0;
        if (!empty)
            fprintf(stderr, "    %s: leaves something\n", refusals[i].line);
        CU_ASSERT_TRUE(empty);
    }
    leave_place();
}

// Calls that say something: on standard output, or in a file that they write.
static const struct {
    const char *line, *file, *part;
    enum hn_code code;
} answers[] = {
    {"bench walk-0.7 --data s.h5 --reps 1 --warmup 0 --M 20 --K 5 --batch-size 8", NULL,
     "walk-0.7"},
    {"bench walk-0.7 loss --n 200 --dim 4 --M 20 --K 5 --batch-size 8 --reps 1 --warmup 0 --json",
     NULL, "\"loss\""},
    {"board reference.h5 mine.h5 --within-ms 1000", NULL, "mine"},
    {"board reference.h5 mine.h5 --kinds s --json", NULL, "\"kinds\""},
    {"compare page page -v", NULL, "no difference"},
    {"compare page other --match name --gate fn_ratio:+9", NULL, "", HN_NOTHING},
    {"compare more more --match name --gate fn_ratio:+9 -v", NULL, "seed"},
    {"compare more more --match name --gate fn_ratio:+9 --json", NULL, "\"gate\": \"+9\""},
    {"compare page failed", NULL, "1 cell of BASE missing in NEW", HN_GATE},
    {"compare failed failed", NULL, "no difference"},
    {"export failed --json", NULL, "\"error\""},
    {"export failed --csv --columns sampler,error", NULL, "mine,mine: false ended with code 1"},
    {"export page --csv --table runs --columns 'sampler fn_*'", NULL, "sampler,fn_ratio"},
    {"import --group ids40.txt -o grouped.h5", NULL, "grouped.h5: groups added"},
    {"import --teacher rows.tsv -o with_teacher.h5", NULL, "with_teacher.h5: teacher added"},
    {"import --teacher rows.tsv --group ids40.txt -o with_both.h5", NULL,
     "with_both.h5: teacher and groups added"},
    {"info with_both.h5", NULL, "teacher (5 dims)"},
    {"info t.h5", NULL, "also holds     nothing else"},
    {"info names.h5", NULL, ": c 00, c 01, c 02, c 03"},
    {"info names.h5", NULL, ", ...\n"},
    {"info passages.h5", NULL, "texts          of passages"},
    {"info queries.h5", NULL, "texts          of queries\n"},
    {"info texts.h5", NULL, "texts          of queries and passages"},
    {"info r.h5", NULL, "texts          none"},
    {"list", NULL, "metrics:\n"},
    {"list losses weightings", NULL, "weightings:\n"},
    {"list sampler knn b3 --json", NULL, "\"name\": \"b3\""},
    {"list format npy", NULL, "endings:"},
    {"list figure price", NULL, "what settings of mining cost"},
    {"mine passages.h5 -n 1 -o out/m.jsonl", NULL,
     "passages.h5: has no texts of queries: query holds ids"},
    {"mine passages.h5 -n 1 -o out/m.jsonl", "out/m.jsonl",
     "{\"query\":\"0\",\"pos\":[\"a dog barks\"],\"neg\":[\"a cat\"]"},
    {"mine queries.h5 -n 1 -o out/m.jsonl", NULL,
     "queries.h5: has no texts of passages: pos and neg hold ids"},
    {"mine r.h5 -n 1 -o out/m.jsonl", NULL, "r.h5: has no texts: query, pos and neg hold ids"},
    {"mine passages.h5 -n 1 -o out/m.tsv --format triplet", NULL,
     "passages.h5: has no texts of queries, which --format triplet holds", HN_DATA},
    {"mine r.h5 -n 2 -o out/m.jsonl -q --json", NULL, "\"negatives\""},
    {"overlap texts.h5 texts.h5", NULL, "     1.00  equal"},
    {"overlap texts.h5 others.h5 --gate", NULL, "others.h5: its texts that texts.h5 has, too"},
    {"price r.h5 -n 2 --recommend --max-fn 0.6", NULL, "Not significantly harder than"},
    {"price r.h5 -n 2 --recommend --max-fn 0.6 --json", NULL, "\"ties\""},
    {"price r.h5 -n 2 --judged some.tsv --recommend --max-fn 0.9", NULL,
     "The hardest that is shown to have at most 90 %"},
    {"price r.h5 -n 2 --judged some.tsv --recommend --max-fn 0.02", NULL, "By the estimates the ",
     HN_NOTHING},
    {"price r.h5 -n 2 --judged some.tsv --recommend --max-fn 0.2", NULL,
     "pairs are too few to tell", HN_NOTHING},
    {"price r.h5 -n 2 --judged none.tsv --recommend --max-fn 0.2 --json", NULL, "\"recommended\"",
     HN_NOTHING},
    {"price scored.h5 -n 1 --recommend --max-fn 0.9", NULL, "judged pairs", HN_NOTHING},
    {"report page other -o out/p.html", "out/p.html", "other"},
    {"report failed -o out/p.html", "out/p.html",
     "mine, step 0 (failed): mine: false ended with code 1"},
    {"reproduce --list --claims many.yaml", NULL, "nowhere"},
    {"reproduce --list --all --claims many.yaml", NULL, "nowhere"},
    {"reproduce --list --training", NULL, "train"},
    {"run -c job.yaml -o broken -q", NULL, "", HN_OK},
    {"run -c na.yaml -o out --dry-run -v", NULL,
     "hops {at_least=false, l=2} B=8 tau=0.5 seed 1: not applicable: hops needs a graph"},
    {"run -c na.yaml -o out --dry-run", NULL, "hops B=8: not applicable: hops needs a graph"},
    {"run -c na.yaml -o out --dry-run", NULL, "3 of 3 cells, 1 of them not applicable"},
    {"run -c na.yaml -o out --dry-run -v --filter knn", NULL, "1 of 3 cells, about"},
    {"run -c na.yaml -o out --dry-run --filter hops", NULL,
     "1 of 3 cells, 1 of them not applicable"},
    {"run -c job.yaml -o out --dry-run --set loss=[ntxent,infonce]", NULL, "knn B=8 infonce"},
    {"run -c job.yaml -o out --dry-run --set timing.processes=3", NULL,
     "the estimate is of one process; 2 more time"},
    {"run -c na.yaml -o out", NULL, "hops needs a graph"},
    {"status failed", NULL,
     "3 of 3 cells done, 1 of them failed\n  failed: 3 done, 1 of them failed; ended"},
    {"status failed page --json", NULL, "\"failed\": 1"},
    {"status part1", NULL, " left"},
    {"status part1 part2", NULL, "2 of 2 cells done"},
    {"status stopped", NULL, "left"},
    {"status stopped", NULL, "silent for"},
    {"status stopped --json", NULL, "\"state\": \"silent\""},
    {"validate none.h5 s.h5", NULL, "none.h5", HN_DATA},
    {"list metric fn_ratio", NULL, "unit share, better: smaller"},
    {"list metric purity", NULL, "by name only, table /"},
    {"info scored.h5", NULL, "scores         of 2 pairs"},
    {"info scored.h5 --json", NULL, "\"scored_pairs\": 2"},
    {"price r.h5 --sheet 10 -o out/s.tsv --json", NULL, "\"pairs\": 10"},
    {"sheet pictures.h5 --images cifar -b 16 -o out/s.html", "out/s.html",
     "src=\"data:image/bmp;base64,Qk"},
    {"reproduce both mixed --claims many.yaml --results page", NULL, "all 2 claims hold"},
    {"reproduce both --claims many.yaml --results page", NULL, "holds        sums of columns"},
    {"reproduce mixed --claims many.yaml --results page", NULL, "  what the claims rest on"},
    {"reproduce nowhere --claims many.yaml --results page", NULL,
     "column 'no_such' is missing from table 'runs'"},
    {"reproduce listed --claims many.yaml --results page", NULL, "another program"},
    {"reproduce both mixed --claims many.yaml --results page --json", NULL,
     "\"verdict\": \"holds\""},
};

static const char many_claims[] =
    "paper: T\nentries:\n"
    "  - id: both\n    title: t\n    source: s\n    claims:\n"
    "      - {name: a, statement: sums of columns, test: above, exact: true, of: {column: "
    "cos_mean + 2 * fn_ratio, rows: {sampler: knn}}, than: {value: -9}}\n"
    "      - {name: b, statement: products, test: below, exact: true, of: {column: "
    "cos_mean * fn_ratio, rows: {sampler: knn}}, than: {value: 9}}\n"
    "  - id: mixed\n    title: t\n    source: s\n    statement: what the claims rest on\n"
    "    claims:\n"
    "      - {name: c, statement: x, test: above, exact: true, of: {column: fn_ratio, rows: "
    "{sampler: knn}}, than: {value: 9}}\n"
    "  - id: nowhere\n    title: t\n    source: s\n    claims:\n"
    "      - {name: d, statement: x, test: above, of: {column: fn_ratio + no_such}, than: {value: "
    "0}}\n"
    "  - {id: listed, title: t, source: s, kind: listed, needs: code, missing: another program}\n";

static bool holds(const char *path, const char *part) {
    static char text[1 << 20];
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    CU_ASSERT_EQUAL(fclose(f), 0);
    return strstr(text, part) != NULL;
}

// The sheet as people would hand it back: every `each`th pair is relevant, 0 = none is.
static void judge(const char *path, int each) {
    char line[200];
    FILE *sheet = fopen("pairs40.tsv", "r"), *judged = fopen(path, "w");
    CU_ASSERT_FATAL(sheet && judged);
    for (int i = 0; fgets(line, sizeof line, sheet); i++) {
        line[strcspn(line, "\n")] = '\0';
        fprintf(judged, i ? "%s%d\n" : "%s\n", line, each && i % each == 0);
    }
    CU_ASSERT_EQUAL(fclose(sheet), 0);
    CU_ASSERT_EQUAL(fclose(judged), 0);
}

// Data of which commands say more, or less, than of those that all tests have.
static void put_answered(struct hn_context *ctx) {
    static const char *const lines[] = {
        "price r.h5 -n 2 --sheet 40 -o pairs40.tsv -q",
        "run -c job.yaml -o more -q --set seeds=[1,2,3]",
        "import -e rows.tsv -l labels.txt -o grouped.h5 -q",
        "import -e rows.tsv -l labels.txt -o with_teacher.h5 -q",
        "import -e rows.tsv -l labels.txt -o with_both.h5 -q",
        "import -e rows.tsv -l ids40.txt -o names.h5 -q",
        "import --queries four.tsv --corpus four.tsv --pairs others.tsv -o others.h5 -q",
        "import --queries two.tsv --corpus two.tsv --corpus-ids two.jsonl --qrels two.qrels -o "
        "passages.h5 -q",
        "import --queries two.tsv --corpus two.tsv --query-ids two.jsonl --qrels two.qrels -o "
        "queries.h5 -q"};
    FILE *f = fopen("ids40.txt", "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (int i = 0; i < 40; i++)
        fprintf(f, "c %02d\n", i / 2);
    CU_ASSERT_EQUAL(fclose(f), 0);
    put("others.tsv", "one\ttwo\nthree\tfour\nfive\tsix\nseven\teight\n");
    put("two.tsv", "1\t2\n3\t1\n");
    put("two.jsonl", "{\"_id\": \"0\", \"text\": \"a dog barks\"}\n"
                     "{\"_id\": \"1\", \"text\": \"a cat\"}\n");
    put("two.qrels", "0\t0\t1\n1\t1\t1\n");
    put("na.yaml", "version: 1\nsnapshots: s.h5\nsteps: [0]\nbatch_size: 8\nbatches: 3\n"
                   "figures: none\nmetrics: [fn_ratio]\nsamplers: [uniform, knn, hops]\n");
    put("fail.yaml", "version: 1\nsnapshots: s.h5\nsteps: [0]\nbatch_size: 8\nbatches: 3\n"
                     "figures: none\nsamplers: [uniform, {command: {name: mine, run: [\"false\", "
                     "\"{out}\"]}}]\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        HN_CHECK(ctx, run_silently(ctx, lines[i]));
    judge("some.tsv", 9);
    judge("none.tsv", 0);
    CU_ASSERT_EQUAL(run_silently(ctx, "run -c fail.yaml -o failed -q"), HN_PARTIAL);
    put_stopped_run(ctx);
}

static void print_note(void *self, const char *text) {
    (void)self;
    fprintf(stderr, "note: %s\n", text);
}

static void test_answers(void) {
    make_place();
    put("many.yaml", many_claims);
    CU_ASSERT_EQUAL(mkdir("cifar", 0777), 0);
    put_pictures("cifar");
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    put_answered(&ctx);
    ctx.notes.to = print_note;
    put_lines("pictures.tsv", PICTURES, 5);
    HN_CHECK(&ctx, run_silently(&ctx, "import -e pictures.tsv -o pictures.h5 -q"));
    HN_CHECK(&ctx, run_silently(&ctx, "import --queries four.tsv --corpus four.tsv --query-ids "
                                      "ids.txt --corpus-ids ids.txt --qrels qrels.tsv --scores "
                                      "scores.tsv -o scored.h5 -q"));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        empty_out();
        be_silent("said.txt");
        enum hn_code code = run_words(&ctx, answers[i].line);
        if (code) // as main() says it
            fprintf(stderr, "%s\n", ctx.message);
        speak();
        bool good = code == answers[i].code &&
                    holds(answers[i].file ? answers[i].file : "said.txt", answers[i].part);
        if (!good)
            fprintf(stderr, "    %s: code %d: %s\n", answers[i].line, (int)code,
                    code != answers[i].code ? ctx.message : "does not say so");
        CU_ASSERT_TRUE(good);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    leave_place();
}

static volatile sig_atomic_t asked;
static void ask(void) { asked = 1; }

static void stop(const char *line, int at) {
    struct hn_context ctx;
    empty_out();
    hn_context_init(&ctx, 1);
    ctx.stop = &asked;
    asked = 0;
    stop_at = at;
    enum hn_code code = run_silently(&ctx, line);
    stop_at = -1;
    bool good = asked && code == HN_INTERRUPTED;
    if (!good || ctx.memory.live != 0)
        fprintf(stderr, "    %s, place %d: code %d, %lld bytes, \"%s\"\n", line, at, (int)code,
                (long long)ctx.memory.live, ctx.message);
    CU_ASSERT_TRUE(good);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    CU_ASSERT_EQUAL(temporary_files(), 0);
}

static void test_lacks(void) {
    make_place();
    char *path = getenv("PATH"), *before = path ? strdup(path) : NULL;
    CU_ASSERT_EQUAL(setenv("PATH", "/nowhere", 1), 0); // without gnuplot no figure is drawn
    bool by_stack = getenv("HN_STACKS");
    int64_t all = 0, failed = 0;
    int stopped = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct hn_context ctx;
        const char *line = commands[i].line, *only = getenv("HN_COMMAND");
        if (only && strncmp(line, only, strlen(only)) != 0)
            continue;
        empty_out();
        hn_context_init(&ctx, 1);
        begin_recording(&ctx);
        noting = true;
        enum hn_code code = run_silently(&ctx, line);
        noting = false;
        recorded = NULL;
        for (; stopped < places; stopped++) // the places that this command is the first to reach
            stop(line, stopped);
        if (code != commands[i].code)
            fprintf(stderr, "    %s: code %d: %s\n", line, (int)code, ctx.message);
        CU_ASSERT_EQUAL(code, commands[i].code);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        int64_t calls = ctx.memory.calls, step = by_stack || calls <= ALL ? 1 : calls / FEW;
        CU_ASSERT_FATAL(calls > 0 && calls < CALLS);
        if (by_stack)
            (void)keep_new_stacks(calls);
        for (int64_t k = by_stack ? 1 : 1 + (int64_t)i % step; k <= calls; k += step)
            if (!by_stack || stack_of[k]) {
                fail_at(line, k, commands[i].code);
                failed++;
            }
        all += calls;
    }
    CU_ASSERT_TRUE(places < PLACES_MAX &&
                   (places > 0 || getenv("HN_COMMAND"))); // one may have none
    if (by_stack)
        fprintf(stderr, "    %d of %d allocations failed\n", (int)failed, (int)all);
    CU_ASSERT_EQUAL(before ? setenv("PATH", before, 1) : unsetenv("PATH"), 0);
    free(before);
    leave_place();
}

static const struct hn_test tests[] = {
    {"refused", test_refused}, {"answers", test_answers}, {"lacks", test_lacks}};

int main(int argc, char **argv) {
    hn_h5_quiet();
    return hn_test_main(argc, argv, "commands", tests, 3);
}
