// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg report`: one page of what a results file holds, or several do.
#include "core/files.h"
#include "datasets/text.h"
#include "harness/cli/cmd_plot.h"
#include "harness/cli/command.h"
#include "plots/page/render.h"
#include "plots/report/report.h"
#include "results/analysis/named.h"
#include "results/records.h"

#include <string.h>

struct report_params {
    char *output;
    int medium;
    double margin;
    char *outcome, *settings;
};

static const struct hn_option report_options[] = {
    {HN_OUTPUT_OPTION(struct report_params, "FILE",
                      "the page (default: index.html beside the results)")},
    {HN_CHOICE_OPTION(struct report_params, medium, "for", "any", hn_media,
                      "figures that the page saves as PDF are as wide as a column or the text of "
                      "that style"),
     .metavar = "STYLE"},
    {HN_REAL_OPTION(struct report_params, margin, "margin", "0.5", 0, 100,
                    "points of false negatives over Uniform's that still count as no more; the "
                    "upper end of the 95 % interval has to lie below")},
    {HN_TEXT_OPTION(
         struct report_params, outcome, "outcome",
         "table of your trainings (.csv): columns sampler, seed ... and any measures; "
         "the page sets them beside hardness and false negatives. Default: that of the job"),
     .metavar = "FILE"},
    {HN_TEXT_OPTION(struct report_params, settings, "settings",
                    HN_SETTINGS_HELP "; the answer, its front and the tables have all"),
     .metavar = "NAMES"},
    {0},
};

struct paths {
    char *file, *page, *ids, *name;
};

// The name of a page is that of the run's directory, or of a file that lies in none.
static char *page_name(struct hn_context *ctx, const char *file) {
    const char *name = hn_base_name(file);
    if (strcmp(name, "results.h5") != 0 || name == file)
        return hn_strdup(ctx, name);
    const char *slash = name - 1, *begin = slash;
    while (begin > file && begin[-1] != '/')
        begin--;
    int length = (int)(slash - begin);
    bool dots = length == 0 || strspn(begin, ".") >= (size_t)length;
    return dots ? hn_strdup(ctx, "results.h5") : hn_format(ctx, "%.*s", length, begin);
}

static enum hn_code find_paths(struct hn_context *ctx, const char *argument, const char *output,
                               struct paths *p) {
    p->file = hn_results_path(ctx, argument);
    if (!p->file)
        return ctx->code;
    int folder = (int)(hn_base_name(p->file) - p->file);
    p->page = output ? hn_strdup(ctx, output) : hn_format(ctx, "%.*sindex.html", folder, p->file);
    p->ids = hn_format(ctx, "%.*sids", folder, p->file);
    p->name = page_name(ctx, p->file);
    return p->page && p->ids && p->name ? HN_OK : ctx->code;
}

// The page is kept if figures are missing because gnuplot is, otherwise only if it is complete.
static enum hn_code write_page(struct hn_context *ctx, const struct hn_results *results,
                               const struct paths *p, const struct report_params *own) {
    struct hn_new_file html;
    if (hn_file_begin(ctx, p->page, &html))
        return ctx->code;
    char *scratch = hn_temporary_folder(ctx, p->page);
    const char *stored = hn_results_get(results, HN_OUTCOME_TEXT), *name = own->outcome;
    char *outcome = NULL;
    if (name) {
        outcome = hn_input_table(ctx, name, HN_OUTCOME_BYTES_MAX);
    } else if (*stored && strcmp(hn_results_get(results, "status"), "partial") == 0) {
        hn_note(ctx, "%s: left out, as cells are missing",
                hn_results_get(results, HN_OUTCOME_FILE));
    } else if (*stored) {
        name = hn_results_get(results, HN_OUTCOME_FILE);
        outcome = hn_strdup(ctx, stored);
    }
    struct hn_report report = {results,           p->name, p->ids,  scratch,      own->medium,
                               own->margin / 100, name,    outcome, own->settings};
    bool there = scratch && (outcome || !name);
    enum hn_code code = there ? hn_report_write(ctx, &report, html.out) : ctx->code;
    hn_scratch_remove(ctx, scratch);
    if (code != HN_GNUPLOT)
        return hn_file_end(ctx, &html, code);
    char complaint[HN_MESSAGE_MAX];
    snprintf(complaint, sizeof complaint, "%s", ctx->message);
    return hn_file_commit(ctx, &html) ? ctx->code : hn_fail(ctx, code, "%s", complaint);
}

static enum hn_code write_one(struct hn_context *ctx, const char *argument,
                              const struct report_params *own, struct paths *paths) {
    struct hn_results results;
    return find_paths(ctx, argument, own->output, paths) ||
                   hn_results_load(ctx, paths->file, &results) ||
                   (own->settings && hn_overview_check_names(ctx, &results, own->settings)) ||
                   write_page(ctx, &results, paths, own)
               ? ctx->code
               : HN_OK;
}

static bool have_same_bytes(const char *a, const char *b) {
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    bool same = one && other;
    for (int c = 0; same && c != EOF;)
        same = (c = getc_unlocked(one)) == getc_unlocked(other);
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    return same;
}

static enum hn_code write_many(struct hn_context *ctx, const struct hn_call *call,
                               struct paths *paths, const char *output) {
    int n = call->n_args;
    struct hn_new_file html;
    struct hn_results *results = hn_zalloc(ctx, n, sizeof *results);
    struct hn_report_of *report = hn_alloc(ctx, n, sizeof *report);
    if (!results || !report)
        return ctx->code;
    const struct report_params *own = call->params;
    if (own->outcome || own->settings)
        return hn_fail(ctx, HN_USAGE, "--%s is for one results file",
                       own->outcome ? "outcome" : "settings");
    if (!output)
        return hn_fail(ctx, HN_USAGE, "a page of several results needs a name: add -o FILE");
    for (int i = 0; i < n; i++) {
        if (find_paths(ctx, call->args[i], output, paths) ||
            hn_results_load(ctx, paths->file, &results[i]))
            return ctx->code;
        report[i] = (struct hn_report_of){&results[i], paths->name, paths->file};
        for (int k = 0; k < i; k++)
            if (hn_same_file(report[k].file, report[i].file) ||
                have_same_bytes(report[k].file, report[i].file))
                return hn_fail(ctx, HN_USAGE, "%s is named twice%s%s", report[k].file,
                               strcmp(report[k].file, report[i].file) ? ", also as " : "",
                               strcmp(report[k].file, report[i].file) ? report[i].file : "");
    }
    if (hn_file_begin(ctx, output, &html))
        return ctx->code;
    return hn_file_end(ctx, &html, hn_report_write_many(ctx, report, n, html.out));
}

static json_t *texts_of(const char *const *text, int n) {
    json_t *texts = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(texts, hn_json_text(text[i]));
    return texts;
}

static enum hn_code report_run(struct hn_context *ctx, const struct hn_call *call) {
    const struct report_params *own = call->params;
    struct paths paths = {0};
    if (call->n_args > 1 ? write_many(ctx, call, &paths, own->output)
                         : write_one(ctx, call->args[0], own, &paths))
        return ctx->code;
    const char *page = call->n_args > 1 ? own->output : paths.page;
    if (call->json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:o}", "page", hn_json_text(page), "results",
                                       texts_of(call->args, call->n_args)),
                             stdout);
    if (!call->quiet)
        printf("%s\n", page);
    return HN_OK;
}

const struct hn_command hn_cmd_report = {
    .name = "report",
    .group = HN_GROUP_START,
    .usage = "hardneg report RESULTS... [--for neurips|icml|acl|talk] [--settings NAMES] "
             "[--outcome FILE] "
             "[-o FILE]",
    .summary = "write one self-contained page: the job, samplers, claims, figures, provenance",
    .details = "RESULTS is a results file or the directory of a run. The page needs no network: "
               "figures are part of it. Figures that the results do not allow are named with the "
               "reason. For results of `hardneg reproduce` every figure is drawn from its own "
               "cells, and the page has the claims with their verdicts. Several results share one "
               "page: what each is, ranks of settings over data sets, equal "
               "settings side by side in the order of the runs, and a table of all.",
    .examples = "hardneg report results/demo -o index.html\n"
                "hardneg report results/demo --settings 'uniform, knn, mosaic'\n"
                "hardneg report results/monday results/friday -o both.html",
    .options = report_options,
    .params_size = sizeof(struct report_params),
    .json = true,
    .min_args = 1,
    .max_args = 256,
    .run = report_run,
};
