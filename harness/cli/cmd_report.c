// `hardneg report`: one page of what a results file holds.
#include "core/files.h"
#include "harness/cli/command.h"
#include "plots/report/report.h"

#include <string.h>

struct report_params {
    char *output;
};

static const struct hn_option report_options[] = {
    {HN_OUTPUT_OPTION(struct report_params, "FILE",
                      "the page (default: index.html beside the results)")},
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
                               const struct paths *p) {
    struct hn_new_file html;
    if (hn_file_begin(ctx, p->page, &html))
        return ctx->code;
    char *scratch = hn_temporary_folder(ctx, p->page);
    struct hn_report report = {results, p->name, p->ids, scratch};
    enum hn_code code = scratch ? hn_report_write(ctx, &report, html.out) : ctx->code;
    hn_scratch_remove(ctx, scratch);
    if (code != HN_GNUPLOT)
        return hn_file_end(ctx, &html, code);
    char complaint[HN_MESSAGE_MAX];
    snprintf(complaint, sizeof complaint, "%s", ctx->message);
    return hn_file_commit(ctx, &html) ? ctx->code : hn_fail(ctx, code, "%s", complaint);
}

static enum hn_code report_run(struct hn_context *ctx, const struct hn_call *call) {
    struct report_params *own = call->params;
    struct hn_results results = {0};
    struct paths paths = {0};
    if (find_paths(ctx, call->args[0], own->output, &paths) ||
        hn_results_read(ctx, paths.file, &results) || write_page(ctx, &results, &paths))
        return ctx->code;
    if (!call->quiet)
        printf("%s\n", paths.page);
    return HN_OK;
}

const struct hn_command hn_cmd_report = {
    .name = "report",
    .usage = "hardneg report RESULTS [-o FILE]",
    .summary = "one self-contained page: what was run, samplers, claims, figures, provenance",
    .details = "RESULTS is a results file or the directory of a run. The page needs no network: "
               "figures are part of it. Figures that the results do not allow are named with the "
               "reason. Where the results come from `hardneg reproduce`, every figure is drawn "
               "from its own cells and the claims stand in the page with their verdicts.",
    .examples = "hardneg report results/demo -o index.html",
    .options = report_options,
    .params_size = sizeof(struct report_params),
    .min_args = 1,
    .max_args = 1,
    .run = report_run,
};
