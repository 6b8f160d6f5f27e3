// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg mine`: hard negatives of queries over a corpus, and where candidates were lost.
#include "core/options/option_text.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/host/ranks.h"
#include "harness/mining/certificate.h"
#include "harness/mining/corpus.h"
#include "harness/mining/mining.h"
#include "harness/mining/output.h"
#include "harness/mining/scores.h"
#include "harness/mining/sources.h"
#include "harness/run/estimate.h"
#include "harness/run/runner.h"
#include "results/programs.h"
#include "results/records.h"
#include "retrieval/listed.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

#include <sys/stat.h>

struct mine_params {
    struct hn_mine_options o;
    char *output, *scores, *rows, *certificate, *emit_pairs;
    struct hn_source_rules from;
    struct hn_text_list add_scores;
    int format;
    bool mpi, output_scores;
    int64_t step, dim, threads, memory, wait;
};

static const struct hn_option mine_options[] = {
    HN_MINE_OPTIONS(struct mine_params, o.),
    {HN_STEP_OPTION(struct mine_params)},
    {HN_DIM_OPTION(struct mine_params)},
    {HN_CHOICE_OPTION(struct mine_params, format, "format", "auto", hn_mine_formats,
                      "format of the file; auto: by its name (.jsonl, .trec, .npy)"),
     .metavar = "FORMAT"},
    {HN_TEXT_OPTION(struct mine_params, scores, "scores", "with .npy: file of the scores"),
     .metavar = "FILE", .writes = true},
    {HN_BOOL_OPTION(struct mine_params, output_scores, "output-scores", NULL,
                    "in the formats of sentence-transformers, too: a column scores (labeled-pair: "
                    "score), in place of labels, the positive's first")},
    {HN_LIST_OPTION(
         struct mine_params, add_scores, "add-scores",
         "scores of pairs (query, passage, score) beside those of import --scores, for "
         "--filter-by scores and the like; may be given again, the last of a pair counts"),
     .metavar = "FILE"},
    {HN_TEXT_OPTION(struct mine_params, emit_pairs, "emit-pairs",
                    "in place of mining: write the pairs whose scores, not known yet, could change "
                    "what is kept: a table of ids, or with their texts (.jsonl); give the scores "
                    "back by --add-scores, until no pair is left"),
     .metavar = "FILE", .writes = true},
    {HN_FILE_OPTION(struct mine_params, certificate, "certificate",
                    "of these negatives, by `price --for`: written beside them as "
                    "OUTPUT.certificate.json; refused if it is of others")},
    HN_SOURCE_OPTIONS(struct mine_params, from.),
    {HN_TEXT_OPTION(struct mine_params, rows, "rows",
                    "share the queries with others that have the same --output: part i of n, as a "
                    "process of its own; 1/1 goes on where one that was killed stopped"),
     .metavar = "i/n"},
    {HN_INT_OPTION(struct mine_params, wait, "wait", "0", 0, 1000000,
                   "with --rows: seconds to wait for parts of others, from the last that came"),
     .metavar = "S"},
    {HN_BOOL_OPTION(struct mine_params, mpi, "mpi", NULL,
                    "share the queries out to the ranks of `mpirun -n P hardneg mine --mpi`")},
    {HN_THREADS_OPTION(struct mine_params, "; the file does not depend on them")},
    {HN_CORPUS_MEMORY_OPTION(struct mine_params)},
    {HN_OUTPUT_OPTION(struct mine_params, "FILE", "file of the negatives")},
    {0},
};

// Everything that is open while negatives are mined.
struct work {
    const struct mine_params *p;
    const char *output; // of negatives, or of pairs
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_source_runs runs; // of --candidates
    struct hn_mine_output file;
    struct hn_mining mining;
    struct hn_ranks *ranks; // NULL: alone
    struct hn_file_parts parts;
    char key[HN_DIGEST_TEXT]; // of what the outputs hold
    char *beside;             // the certificate among them; NULL: none
    bool there;               // they hold it already
    int64_t begun_ns;
};

static bool writes(const struct work *w) { return hn_ranks_number(w->ranks) == 0; }

// Texts are large, and not all formats have them.
static enum hn_code read_texts(struct hn_context *ctx, struct work *w) {
    bool wanted = w->file.format == HN_MINE_WANTED
                      ? w->file.objects
                      : w->file.format != HN_MINE_NPY && w->file.format != HN_MINE_TREC &&
                            w->file.format != HN_MINE_PYLATE;
    for (int side = 0; side < HN_SETS && wanted; side++)
        if (hn_retrieval_texts(ctx, w->corpus.file, side, &w->file.text[side]))
            return ctx->code;
    bool queries = w->file.text[HN_QUERIES].n, passages = w->file.text[HN_CORPUS].n;
    if (!wanted || (queries && passages))
        return HN_OK;
    const char *of = queries ? " of passages" : passages ? " of queries" : "";
    if (w->file.format != HN_MINE_JSONL && w->file.format != HN_MINE_WANTED)
        return hn_fail(
            ctx, HN_DATA,
            "%s: has no texts%s, which --format %s holds: import it with --query-ids and "
            "--corpus-ids of .jsonl, or take --format jsonl, trec or npy",
            w->corpus.info->file->path, of, hn_mine_formats[w->file.format]);
    bool mined = w->file.format == HN_MINE_JSONL;
    hn_note(ctx, "%s: has no texts%s: %s", w->corpus.info->file->path, of,
            passages  ? "query holds ids"
            : queries ? (mined ? "pos and neg hold ids" : "passage holds ids")
            : mined   ? "query, pos and neg hold ids"
                      : "query and passage hold ids");
    return HN_OK;
}

static enum hn_code read_candidates(struct hn_context *ctx, struct work *w, const char **settings) {
    const char *digest;
    if (hn_source_runs_open(ctx, &w->corpus, &w->p->from, &w->miner, &w->runs, &digest))
        return ctx->code;
    if (digest)
        *settings = hn_format(ctx, "%s; candidates %s", *settings, digest);
    return *settings ? HN_OK : ctx->code;
}

// Pairs are written for what looks at listed scores.
static enum hn_code check_pairs(struct hn_context *ctx, struct work *w) {
    w->miner.wanting = w->p->emit_pairs != NULL;
    if (!w->miner.wanting || w->miner.listed.asked)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "--emit-pairs: these options look at no scores of pairs: give --filter-by "
                   "scores, --rank-by scores, or --guide for a file without a teacher");
}

static enum hn_code open_data(struct hn_context *ctx, struct work *w, const char *path) {
    const struct mine_params *p = w->p;
    struct hn_mine_options o = p->o;
    const char *scores;
    if (hn_corpus_open(ctx, path, p->step, w->parts.folder ? &w->parts : NULL, &w->corpus) ||
        hn_corpus_cut(ctx, p->dim, &w->corpus) || hn_source_check(ctx, &p->from, &o.n) ||
        hn_scores_add(ctx, &w->corpus, &p->add_scores, p->emit_pairs != NULL, &scores) ||
        hn_miner_open(ctx, &w->corpus.data, &o, path, &w->miner) || check_pairs(ctx, w))
        return ctx->code;
    char *options = hn_options_text(ctx, hn_mine_table, &w->miner.o);
    w->mining.miner = &w->miner;
    w->mining.settings =
        options ? hn_format(ctx, "%s; step %lld; dim %lld; %s%s%s%s", options, (long long)p->step,
                            (long long)w->corpus.dim, hn_version, scores ? "; scores " : "",
                            scores ? scores : "", p->emit_pairs ? "; pairs" : "")
                : NULL;
    w->file.miner = &w->miner;
    w->file.run = p->from.path.item;
    if (w->mining.settings && read_candidates(ctx, w, &w->mining.settings))
        return ctx->code;
    return !w->mining.settings || (w->mining.file && read_texts(ctx, w)) ? ctx->code : HN_OK;
}

static void make_key(struct work *w) {
    struct hn_digest key;
    hn_digest_begin(&key);
    hn_digest_add_text(&key, w->corpus.sha256);
    hn_digest_add_text(&key, w->mining.settings);
    hn_digest_add_int(&key, w->file.format);
    hn_digest_add_int(&key, w->p->output_scores);
    hn_digest_add_int(&key, hn_results_code_version);
    hn_digest_end(&key, w->key);
}

// True if other processes have written what this one is to have a part in.
static bool is_there(const void *work) {
    const struct work *w = work;
    const char *const output[] = {w->output, w->p->scores, w->beside};
    for (size_t i = 0; i < sizeof output / sizeof *output; i++)
        if (output[i] && !hn_output_is(output[i], w->key))
            return false;
    return w->p->rows != NULL;
}

// Trainers read numbers alone.
static void note_unscored(struct hn_context *ctx, const struct work *w) {
    if (w->file.unscored > 0)
        hn_note(ctx, "%s: %s of pairs without a listed score: written as %s", w->p->output,
                hn_counted(w->file.unscored, "score").text,
                w->file.format == HN_MINE_TREC ? "nan" : "null");
}

// Those that filters went by are written.
static const char *scores_text(const struct work *w) {
    static const char *const text[] = {[HN_BY_MODEL] = "cosines of the encoder's rows",
                                       [HN_BY_TEACHER] = "cosines of the teacher's rows",
                                       [HN_BY_LISTED] = "those of import --scores"};
    bool added = w->miner.o.filter_by == HN_BY_LISTED && w->p->add_scores.count > 0;
    return added ? "those of --add-scores" : text[w->miner.o.filter_by];
}

// NULL: the output has none.
static const char *scores_by(const struct work *w) {
    enum hn_mine_format f = w->file.format;
    bool has = f == HN_MINE_JSONL || f == HN_MINE_TREC || f == HN_MINE_PYLATE ||
               (f == HN_MINE_NPY ? w->p->scores != NULL : w->p->output_scores);
    return has ? hn_mine_score_by[w->miner.o.filter_by] : NULL;
}

static enum hn_code mine_file(struct hn_context *ctx, struct work *w, const char *path) {
    const struct mine_params *p = w->p;
    enum hn_code code = HN_OK;
    if (writes(w)) {
        code = hn_mine_output_begin(ctx, w->output, p->scores, p->output_scores,
                                    p->emit_pairs ? HN_MINE_WANTED : (enum hn_mine_format)p->format,
                                    &w->file);
        w->mining.file = code ? NULL : &w->file;
    }
    code = hn_ranks_agree(ctx, w->ranks, code);
    code = code ? code : open_data(ctx, w, path);
    if (!code) {
        make_key(w);
        w->there = is_there(w);
    }
    if (!code && !w->there)
        code = hn_mining_run(ctx, &w->mining);
    w->there = w->there || (code == HN_WAITING && is_there(w));
    if (!w->mining.file)
        return code;
    if (w->there) {
        hn_mine_output_abort(ctx, &w->file);
        return HN_OK;
    }
    if (!code && !p->emit_pairs)
        code = hn_mine_check(ctx, &w->miner, &w->mining.counts, path);
    if (!code && w->file.written == 0 && w->mining.counts.attrition.all[HN_STAGE_KEPT] > 0)
        hn_note(ctx, "%s: is empty: no query has a positive and a negative", p->output);
    if (!code && !p->emit_pairs) {
        note_unscored(ctx, w);
        hn_source_runs_note(ctx, &w->runs, &w->mining.counts);
    }
    if (!code && p->certificate) {
        char sha256[HN_DIGEST_TEXT];
        hn_digest_end(&w->file.digest, sha256);
        code = hn_certificate_check(ctx, p->certificate, w->file.written, sha256);
    }
    struct hn_outputs all;
    hn_outputs_begin(ctx, &all);
    all.key = w->key;
    code = hn_mine_output_end(ctx, &w->file, code);
    if (!code && p->certificate)
        code = hn_certificate_attach(ctx, p->certificate, p->output, w->beside,
                                     hn_mine_score_by[w->miner.o.filter_by]);
    return hn_outputs_end(ctx, &all, code);
}

static json_t *attrition_list(const struct work *w) {
    bool truth = w->miner.truth.start != NULL;
    const struct hn_attrition *a = &w->mining.counts.attrition;
    json_t *list = json_array();
    for (int s = 0; s < HN_STAGES; s++)
        if (a->all[s] > 0 || s == HN_STAGE_KEPT)
            json_array_append_new(
                list, json_pack("{s:s, s:I, s:I, s:o}", "stage", hn_stage_name[s], "candidates",
                                (json_int_t)a->all[s], "known", (json_int_t)a->known[s], "hidden",
                                truth ? json_integer(a->hidden[s]) : json_null()));
    return list;
}

static enum hn_code print_pairs(struct hn_context *ctx, const struct work *w, bool json) {
    int64_t queries = w->corpus.info->n[HN_QUERIES] - w->file.left_out;
    if (json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:I, s:I}", "file", hn_json_text(w->output), "pairs",
                                       (json_int_t)w->file.written, "queries", (json_int_t)queries),
                             stdout);
    if (w->file.written > 0)
        printf("%s: %s of %s to be scored; give the scores back by --add-scores\n", w->output,
               hn_counted(w->file.written, "pair").text, hn_counted(queries, "query").text);
    else
        printf("%s: no pair is left to be scored: mine with these options and scores\n", w->output);
    return HN_OK;
}

static enum hn_code print_summary(struct hn_context *ctx, const struct work *w, bool json) {
    static const struct hn_record_column columns[] = {{"stage", "lost to", -16},
                                                      {"candidates", "candidates", 12},
                                                      {"known", "known positives", 15},
                                                      {"hidden", "hidden positives", 16},
                                                      {NULL}};
    const struct hn_mine_counts *c = &w->mining.counts;
    const struct hn_attrition *a = &c->attrition;
    int64_t queries = w->corpus.info->n[HN_QUERIES];
    bool truth = w->miner.truth.start != NULL;
    double kept = (double)a->all[HN_STAGE_KEPT]; // share: NaN where none are
    double share = truth ? (double)a->hidden[HN_STAGE_KEPT] / kept : NAN;
    json_t *list = attrition_list(w);
    bool runs = w->runs.sources.n > 0;
    if (json)
        return hn_json_print(
            ctx,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:s?, s:o, s:o*}", "file",
                      hn_json_text(w->p->output), "queries", (json_int_t)queries, "wanted",
                      (json_int_t)w->miner.o.n, "negatives", (json_int_t)w->file.written,
                      "queries_with_fewer", (json_int_t)c->fewer, "queries_with_none",
                      (json_int_t)c->none, "drawn_to_fill", (json_int_t)c->drawn,
                      "queries_left_out", (json_int_t)w->file.left_out, "false_negatives",
                      hn_json_real(share), "scores_by", scores_by(w), "attrition", list, "sources",
                      runs ? hn_source_runs_list(&w->runs, c, truth) : NULL),
            stdout);
    hn_records_print(columns, list, stdout);
    json_decref(list);
    if (runs)
        hn_source_runs_print(&w->runs, c, truth);
    printf("\n%s: %s of %s", w->p->output, hn_counted(w->file.written, "negative").text,
           hn_counted(queries - w->file.left_out, "query").text);
    if (w->file.left_out > 0)
        printf("; %s left out, for want of a positive or of negatives",
               hn_counted(w->file.left_out, "query").text);
    printf("; filters left %lld of %lld with fewer than %lld, %lld with none", (long long)c->fewer,
           (long long)queries, (long long)w->miner.o.n, (long long)c->none);
    if (c->drawn > 0)
        printf("; %s drawn to fill up", hn_counted(c->drawn, "negative").text);
    if (truth && kept > 0)
        printf("; of the kept candidates %.2f %% are false negatives", 100 * share);
    if (scores_by(w))
        printf("; its scores are %s", scores_text(w));
    printf("; %s of data at most\n", hn_bytes_text(atomic_load(&ctx->memory.peak)).text);
    return HN_OK;
}

// Parts of the queries, where --rows or --mpi asks for them.
static enum hn_code open_parts(struct hn_context *ctx, struct work *w) {
    const struct mine_params *p = w->p;
    if (!p->rows && !p->mpi)
        return HN_OK;
    w->parts.folder = hn_format(ctx, "%s.parts", w->output);
    const char *folder = w->parts.folder;
    if (!folder || hn_file_parts_open(ctx, p->rows, w->ranks, &w->parts))
        return ctx->code;
    w->parts.folder = folder;
    w->parts.wait_s = p->wait;
    w->parts.is_over = is_there;
    w->parts.work = w;
    ctx->parts = &w->parts.parts;
    return HN_OK;
}

// 0: there is no such file. Another one by that name has another number.
static uint64_t number_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_ino : 0;
}

// The file is there: parts are of no use any more.
static enum hn_code end_parts(struct hn_context *ctx, struct work *w, const struct hn_call *call) {
    if (!w->parts.folder)
        return HN_OK;
    if (hn_shares_tell(ctx, &w->parts, w->p->rows ? w->p->rows : "ranks", w->begun_ns, call->quiet,
                       call->verbose, NULL))
        return ctx->code;
    if (writes(w))
        hn_file_parts_remove(ctx, &w->parts);
    return HN_OK;
}

static enum hn_code mine(struct hn_context *ctx, const struct hn_call *call, struct work *w) {
    const struct mine_params *p = w->p;
    w->output = p->emit_pairs ? p->emit_pairs : p->output;
    if (!w->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the file to write");
    if (p->emit_pairs &&
        (p->output || p->scores || p->certificate || p->output_scores || p->format))
        return hn_fail(ctx, HN_USAGE,
                       "--emit-pairs writes pairs in place of negatives: leave out --output, "
                       "--format, --scores, --output-scores and --certificate");
    if (p->certificate && !(w->beside = hn_format(ctx, "%s.certificate.json", p->output)))
        return ctx->code;
    uint64_t before = number_of(w->output);
    w->begun_ns = hn_wall_ns();
    ctx->threads = (int)hn_given(p->threads, hn_ranks_threads(w->ranks, ctx->threads));
    if (hn_host_limit_process(ctx, p->memory, hn_ranks_beside(w->ranks)) || open_parts(ctx, w) ||
        hn_blas_open(ctx))
        return ctx->code;
    w->mining.quiet = call->quiet || !writes(w);
    enum hn_code code = hn_ranks_agree(ctx, w->ranks, mine_file(ctx, w, call->args[0]));
    if (w->there || (code == HN_WAITING && number_of(w->output) != before)) {
        hn_note(ctx, "%s was written by another process", w->output);
        if (w->there)
            hn_file_parts_remove(ctx, &w->parts);
        return HN_OK;
    }
    code = code ? code : end_parts(ctx, w, call);
    if (!code && writes(w) && (call->json || !call->quiet))
        code = p->emit_pairs ? print_pairs(ctx, w, call->json) : print_summary(ctx, w, call->json);
    return code;
}

static enum hn_code run_mine(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    if (w.p->rows && w.p->mpi)
        return hn_fail(ctx, HN_USAGE, "--rows and --mpi: give one of them");
    if (w.p->mpi && hn_ranks_open(ctx, &w.ranks))
        return ctx->code;
    if (!w.p->mpi && !w.p->rows)
        hn_ranks_none(ctx);
    enum hn_code code = mine(ctx, call, &w);
    ctx->parts = NULL;
    hn_file_parts_close(ctx, &w.parts);
    hn_corpus_close(ctx, &w.corpus);
    return hn_ranks_close(ctx, w.ranks, code);
}

const struct hn_command hn_cmd_mine = {
    .name = "mine",
    .group = HN_GROUP_RETRIEVAL,
    .usage = "hardneg mine FILE [--preset TOOL] [-n N] [--min-rank R] [--max-rank R] "
             "[--relative-margin SHARE] ... -o FILE",
    .summary = "mine hard negatives of queries over a corpus",
    .details =
        "For each query the best --depth passages are filtered, in this order: known positives and "
        "passages of their text; the query itself; texts of a better passage; ranks; margins; "
        "bounds; the guide. Bounds themselves stay in. Scores are cosines in double, equal ones by "
        "the lower index. The table says what each filter took away, how many of that were known "
        "positives, and, where the file has /truth, hidden ones: those among what is kept are "
        "false "
        "negatives. Presets reproduce sentence-transformers' mine_hard_negatives (negatives 3, "
        "ranks of survivors, comparisons in float), FlagEmbedding's hn_mine (15 drawn from ranks "
        "11 "
        "to 210 of all) and Tevatron's (the best 100 but for positives). Formats: jsonl has query, "
        "pos and neg with ids and scores; triplet, n-tuple, labeled-pair and labeled-list are "
        "those "
        "of sentence-transformers, an object a line, with scores by --output-scores; pylate the "
        "ids and "
        "scores of its distillation; trec a run; "
        "npy indices, -1 where there are "
        "fewer. The same file, options and seed give the same bytes for any number of threads, "
        "--rows "
        "and ranks. Parts that --rows and --mpi mine are kept in FILE.parts until the file is "
        "there: "
        "after a kill, the same command goes on.",
    .examples =
        "hardneg mine r.h5 -o negatives.jsonl\n"
        "hardneg mine r.h5 --min-rank 11 --max-rank 60 -n 5 --take draw -o negatives.jsonl\n"
        "hardneg mine r.h5 --preset sentence-transformers --relative-margin 0.05 -n 5 "
        "--format triplet -o triplets.jsonl\n"
        "hardneg mine r.h5 -o negatives.npy --scores scores.npy\n"
        "hardneg mine r.h5 --candidates bm25.trec --candidates dense.trec -o negatives.jsonl\n"
        "hardneg mine r.h5 --filter-by scores --relative-margin 0.05 --emit-pairs todo.jsonl\n"
        "hardneg mine r.h5 -o negatives.jsonl --rows 1/1",
    .options = mine_options,
    .params_size = sizeof(struct mine_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_mine};
