// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg paper`: the figures and tables of a results file for LaTeX.
#include "core/files.h"
#include "datasets/text.h"
#include "harness/cli/cmd_plot.h"
#include "harness/cli/command.h"
#include "plots/report/latex.h"
#include "results/analysis/named.h"

#include <unistd.h>

struct paper_params {
    char *output, *settings, *step;
    int medium, term;
};

static const char *const paper_terms[] = {"pdf", "cairolatex", NULL};
// Those of hn_media with pages.
static const char *const papers[] = {"neurips", "icml", "acl", NULL};

static const struct hn_option paper_options[] = {
    {HN_OUTPUT_OPTION(struct paper_params, "DIR",
                      "folder of the paper (default: paper beside the results)")},
    {HN_CHOICE_OPTION(struct paper_params, medium, "for", "icml", papers,
                      "whose columns figures fit"),
     .metavar = "STYLE"},
    {HN_CHOICE_OPTION(struct paper_params, term, "term", "pdf", paper_terms,
                      "format of the figures; cairolatex leaves their texts to LaTeX"),
     .metavar = "TERM"},
    {HN_TEXT_OPTION(struct paper_params, settings, "settings", HN_SETTINGS_HELP),
     .metavar = "NAMES"},
    {HN_TEXT_OPTION(struct paper_params, step, "step", HN_STEP_HELP), .metavar = "STEP"},
    {0},
};

static enum hn_code paper_run(struct hn_context *ctx, const struct hn_call *call) {
    const struct paper_params *own = call->params;
    struct hn_results results = {0};
    int64_t step;
    char *file = hn_results_path(ctx, call->args[0]);
    char *folder = file ? hn_folder_beside(ctx, file, own->output, "paper") : NULL;
    char *figures = folder ? hn_format(ctx, "%s/figures", folder) : NULL;
    if (!figures || hn_results_load(ctx, file, &results) ||
        (own->settings && hn_overview_check_names(ctx, &results, own->settings)) ||
        hn_figures_step(ctx, &results, own->step, &step) || hn_folder_make(ctx, figures))
        return ctx->code;
    const struct hn_latex_paper paper = {
        &results, folder, own->medium + 1, paper_terms[own->term], own->settings, step};
    enum hn_code code = hn_latex_paper(ctx, &paper);
    if (code == HN_NOT_APPLICABLE) {
        (void)rmdir(figures); // in which nothing is
        return hn_fail(ctx, HN_DATA, "%s: there is nothing for a paper: %s", file, ctx->message);
    }
    if (!code && !call->quiet)
        printf("%s/main.tex\n", folder);
    return code;
}

const struct hn_command hn_cmd_paper = {
    .name = "paper",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg paper RESULTS [--for neurips|icml|acl] [--term pdf|cairolatex] [--settings "
             "NAMES] [--step STEP] [-o DIR]",
    .summary = "write figures and tables for a paper, and the LaTeX that sets them",
    .details =
        "RESULTS is a results file or the directory of a run. DIR gets figures/ with every figure "
        "that the results allow, as wide as a column or the text of the style and with letters of "
        "eight points; results.tex, which sets them and the table of settings (of trainings: of "
        "accuracies) with differences paired by seed and ties; and main.tex, a page of that size "
        "that reads it. results.tex and figures are replaced; an existing main.tex is kept.",
    .examples = "hardneg paper results/demo --for acl && cd results/demo/paper && pdflatex main",
    .options = paper_options,
    .params_size = sizeof(struct paper_params),
    .min_args = 1,
    .max_args = 1,
    .run = paper_run,
};
