// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg board`: measures an entry on a suite, or scores entries against the suite's reference.
#include "core/files.h"
#include "core/sweep/blas.h"
#include "datasets/text.h"
#include "harness/board/board.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "plots/report/report.h"
#include "results/analysis/board_json.h"
#include "results/records.h"

#include <math.h>

struct board_params {
    char *suite, *entry, *output, *outcome;
    struct hn_text_list kinds;
    double within_ms;
    int64_t threads, memory;
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct board_params, __VA_ARGS__)
static const struct hn_option board_options[] = {
    {OPTION(TEXT, suite, "suite",
            "measure on this suite (suite.yaml of `make board`), into the file of -o"),
     .metavar = "FILE"},
    {OPTION(TEXT, entry, "entry",
            "with --suite: the entry (YAML); without it the reference of the suite is measured"),
     .metavar = "FILE"},
    {OPTION(OUTPUT, "FILE", "with --suite: the results; else a page")},
    {OPTION(LIST, kinds, "kinds", "score on these kinds of data alone (default: all)"),
     .metavar = "KIND"},
    {OPTION(REAL, within_ms, "within-ms", NULL, 1e-6, 1e9,
            "score what costs at most so many milliseconds a batch, build included; where nothing "
            "of an entry does, it is Uniform (default: any cost)"),
     .metavar = "MS"},
    {OPTION(TEXT, outcome, "outcome",
            "what the entries were worth in training, beside their scores: a table with commas "
            "whose columns are entry, data, seed and accuracies; differences to its rows of "
            "`uniform`"),
     .metavar = "CSV"},
    {OPTION(THREADS, "")},
    {OPTION(MEMORY, "; what would take more is refused")},
    {0},
};

static enum hn_code measure(struct hn_context *ctx, const struct hn_call *call,
                            const struct board_params *p) {
    struct hn_suite suite;
    struct hn_suite_entry entry;
    if (!p->output)
        return hn_fail(ctx, HN_USAGE, "--suite needs a file for the results: add -o entry.h5");
    if (call->n_args > 0 || p->kinds.count > 0 || !isnan(p->within_ms) || p->outcome)
        return hn_fail(ctx, HN_USAGE,
                       "--suite measures; files, --kinds, --within-ms and --outcome are for a "
                       "page: give either");
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    char *folder = hn_format(ctx, "%s.cells", p->output);
    if (!folder || hn_output_check(ctx, p->output) || hn_blas_open(ctx) ||
        hn_suite_read(ctx, p->suite, &suite) || (p->entry && hn_entry_read(ctx, p->entry, &entry)))
        return ctx->code;
    if (!p->entry)
        entry = hn_suite_reference(&suite);
    if (hn_entry_measure(ctx, &suite, &entry, folder, call->quiet, p->output))
        return ctx->code;
    hn_scratch_remove(ctx, folder);
    return HN_OK;
}

static enum hn_code read_files(struct hn_context *ctx, const struct hn_call *call,
                               struct hn_board_file *file) {
    struct hn_results *results = hn_zalloc(ctx, call->n_args, sizeof *results);
    for (int i = 0; i < call->n_args; i++) {
        char *path = results ? hn_results_path(ctx, call->args[i]) : NULL;
        if (!path || hn_results_load(ctx, path, &results[i]))
            return ctx->code;
        file[i] = (struct hn_board_file){&results[i], path};
    }
    return HN_OK;
}

static enum hn_code write_page(struct hn_context *ctx, const struct hn_board *board,
                               const struct hn_board_outcome *trained, const char *path) {
    struct hn_new_file html;
    if (hn_file_begin(ctx, path, &html))
        return ctx->code;
    return hn_file_end(ctx, &html, hn_board_write(ctx, board, trained, html.out));
}

static enum hn_code read_trained(struct hn_context *ctx, const char *path,
                                 const struct hn_board *board, struct hn_board_outcome *out) {
    char *text = hn_input_table(ctx, path, HN_OUTCOME_BYTES_MAX);
    return text ? hn_board_outcome_read(ctx, path, text, board, out) : ctx->code;
}

static enum hn_code show(struct hn_context *ctx, const struct hn_call *call,
                         const struct board_params *p) {
    struct hn_board board;
    struct hn_board_outcome outcome, *trained = p->outcome ? &outcome : NULL;
    struct hn_board_wish wish = {&p->kinds, isnan(p->within_ms) ? INFINITY : 1e-3 * p->within_ms};
    struct hn_board_file *file = hn_alloc(ctx, call->n_args, sizeof *file);
    if (p->entry)
        return hn_fail(ctx, HN_USAGE, "--entry needs --suite, on which it is measured");
    if (call->n_args == 0)
        return hn_fail(ctx, HN_USAGE,
                       "no files: give the suite's reference.h5 and entries, or --suite to "
                       "measure one");
    if (!file || read_files(ctx, call, file) ||
        hn_board_read(ctx, file, call->n_args, wish, &board) ||
        (trained && read_trained(ctx, p->outcome, &board, trained)) ||
        (p->output && write_page(ctx, &board, trained, p->output)))
        return ctx->code;
    if (!call->json)
        return hn_board_markdown(ctx, &board, trained, stdout);
    json_t *document = hn_board_json(ctx, &board, trained);
    return document ? hn_json_print(ctx, document, stdout) : ctx->code;
}

static enum hn_code run_board(struct hn_context *ctx, const struct hn_call *call) {
    const struct board_params *p = call->params;
    hn_host_limit_data(ctx, p->memory, 1);
    return p->suite ? measure(ctx, call, p) : show(ctx, call, p);
}

const struct hn_command hn_cmd_board = {
    .name = "board",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg board FILE... [-o PAGE] [--kinds KIND] [--within-ms MS] [--outcome CSV]\n"
             "       hardneg board --suite SUITE [--entry ENTRY] -o FILE",
    .summary = "score samplers against a frozen reference on many kinds of data",
    .details =
        "An entry is a sampler with at most five settings, the same for all kinds of data; a "
        "suite lists encoders of several kinds by checksum, and settings whose front is the "
        "reference. With --suite an entry is measured. Without, FILEs are entries and the "
        "reference of one suite: prints a table (Markdown), and writes a page with -o. Scores are "
        "points of false negatives beyond the reference's at equal hardness, and hardness beyond "
        "its within budgets; intervals are over kinds. No entry moves the score of another.",
    .examples = "hardneg board --suite results/board-1-small/suite.yaml --entry mine.yaml -o "
                "mine.h5\n"
                "hardneg board results/board-1-small/reference.h5 mine.h5 -o board.html",
    .options = board_options,
    .params_size = sizeof(struct board_params),
    .json = true,
    .min_args = 0,
    .max_args = 1000,
    .run = run_board};
