// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg plot`: figures of a results file.
#include "harness/cli/cmd_plot.h"

#include "core/files.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/job/job.h"
#include "plots/page/figure.h"
#include "plots/page/render.h"
#include "results/analysis/groups.h"
#include "results/analysis/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct plot_params {
    struct hn_text_list figure;
    char *output, *style, *settings, *step;
    int term, medium;
    int64_t columns;
};

static const char *const terms[] = {"svg", "pdf", "png", "cairolatex", "dumb", NULL};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct plot_params, __VA_ARGS__)
static const struct hn_option plot_options[] = {
    {OPTION(LIST, figure, "figure", "figure to draw (default: all that the results allow)"),
     .metavar = "ID"},
    {OPTION(OUTPUT, "DIR", "folder for the figures (default: figures beside the results)")},
    {OPTION(CHOICE, term, "term", "svg", terms,
            "format of the figures; cairolatex is a .tex to \\input with its .pdf, "
            "dumb draws a panel on the terminal (-v: all)"),
     .metavar = "TERM"},
    {OPTION(CHOICE, medium, "for", "any", hn_media,
            "as wide as a column or the text of that style, text of 8 points (talk: 10)"),
     .metavar = "STYLE"},
    {OPTION(COUNT, columns, "columns", NULL, 1, 2,
            "with --for: columns that every figure takes (default: as suits it)")},
    {OPTION(TEXT, settings, "settings", HN_SETTINGS_HELP), .metavar = "NAMES"},
    {OPTION(TEXT, step, "step", HN_STEP_HELP), .metavar = "STEP"},
    {OPTION(FILE, style, "style", "gnuplot commands that change the theme")},
    {0},
};

char *hn_folder_beside(struct hn_context *ctx, const char *file, const char *given,
                       const char *name) {
    const char *slash = strrchr(file, '/');
    if (given)
        return hn_strdup(ctx, given);
    return slash ? hn_format(ctx, "%.*s/%s", (int)(slash - file), file, name)
                 : hn_strdup(ctx, name);
}

// HN_USAGE with the steps that there are.
static enum hn_code no_step(struct hn_context *ctx, const struct hn_results *r, const char *text) {
    enum { MAX_STEPS = 64, LISTED = 12 };
    double step[MAX_STEPS];
    char list[HN_MESSAGE_MAX / 2] = "";
    int n = hn_distinct(&r->runs, "step", step, MAX_STEPS);
    for (int i = 0; i < n && i < LISTED; i++)
        hn_append(list, sizeof list, "%s%.0f", i ? ", " : "", step[i]);
    return hn_fail(ctx, HN_USAGE, "--step: no cell is of step '%s'; there are %s%s, and `last`",
                   hn_quote(text).text, list, n > LISTED ? ", ..." : "");
}

enum hn_code hn_figures_step(struct hn_context *ctx, const struct hn_results *r, const char *text,
                             int64_t *step) {
    char *end;
    *step = 0;
    if (!text)
        return HN_OK;
    *step = HN_STEP_LAST;
    if (strcmp(text, "last") == 0)
        return HN_OK;
    double number = strtod(text, &end);
    for (int64_t row = 0; row < r->runs.rows && end > text && !*end; row++)
        if (fabs(hn_table_real(&r->runs, row, "step") - number) < 1e-9) {
            *step = 1 + hn_whole(number, 0);
            return HN_OK;
        }
    return no_step(ctx, r, text);
}

static enum hn_code check_figure(struct hn_context *ctx, const char *id) {
    const char *names[64];
    int64_t n = 0;
    for (; hn_figures[n] && n < 64; n++)
        names[n] = hn_figures[n]->id;
    bool known =
        hn_name_find(ctx, "figure", id, names, n, "; hardneg list figures names them") >= 0;
    return known ? HN_OK : ctx->code;
}

enum hn_code hn_figures_draw(struct hn_context *ctx, const struct hn_results *r,
                             const struct hn_figures_wanted *want, int *drawn) {
    struct hn_failed_figures failed = {.n = 0};
    const struct hn_figure *f;
    const char *ending = hn_picture_ending(want->as.term);
    char left_out[HN_MESSAGE_MAX] = "";
    *drawn = 0;
    for (int64_t i = 0; i < want->n || want->n == 0; i++) {
        if (!(f = want->n ? hn_figure_find(want->id[i]) : hn_figures[i]))
            break;
        enum hn_code code = hn_figure_draw(ctx, f, r, want->folder, want->as);
        if (code == HN_OK && ending && want->paths)
            fprintf(want->paths, "%s/%s.%s\n", want->folder, f->id, ending);
        *drawn += code == HN_OK;
        bool cannot = code == HN_NOT_APPLICABLE || (code == HN_DATA && want->n == 0);
        if (cannot && want->n > 0)
            return hn_fail(ctx, HN_DATA, "figure %s cannot be drawn: %s", f->id, ctx->message);
        if (cannot && want->brief)
            hn_append(left_out, sizeof left_out, "%s%s", *left_out ? ", " : "", f->id);
        else if (cannot)
            hn_note(ctx, "figure %s is left out: %s", f->id, ctx->message);
        else if (code && !hn_figure_failed(ctx, code, f, &failed))
            return code;
    }
    if (*left_out)
        hn_note(ctx, "figures that need other runs are left out (hardneg plot -v says why): %s",
                left_out);
    return hn_figures_end(ctx, &failed);
}

static enum hn_code check_options(struct hn_context *ctx, const struct plot_params *own) {
    if (own->columns != INT64_MIN && own->medium == 0)
        return hn_fail(ctx, HN_USAGE, "--columns are those of a style; give --for as well");
    for (int64_t i = 0; i < own->figure.count; i++)
        if (check_figure(ctx, own->figure.item[i]))
            return ctx->code;
    return HN_OK;
}

static enum hn_code plot_run(struct hn_context *ctx, const struct hn_call *call) {
    const struct plot_params *own = call->params;
    struct hn_results results = {0};
    int drawn;
    int64_t step;
    char *file = hn_results_path(ctx, call->args[0]);
    char *folder = file ? hn_folder_beside(ctx, file, own->output, "figures") : NULL;
    if (!folder || check_options(ctx, own) || hn_results_load(ctx, file, &results) ||
        (own->settings && hn_overview_check_names(ctx, &results, own->settings)) ||
        hn_figures_step(ctx, &results, own->step, &step) || hn_folder_make(ctx, folder))
        return ctx->code;
    const struct hn_figures_wanted want = {
        .id = own->figure.item,
        .n = own->figure.count,
        .folder = folder,
        .as = {terms[own->term], own->style, hn_medium(own->medium), (int)hn_given(own->columns, 0),
               .all = call->verbose, .settings = own->settings, .step = step},
        .paths = call->quiet ? NULL : stdout,
        .brief = !call->verbose};
    if (hn_figures_draw(ctx, &results, &want, &drawn))
        return ctx->code;
    return drawn ? HN_OK
                 : hn_fail(ctx, HN_DATA, "%s: no figure can be drawn from it; --figure ID says why",
                           file);
}

static bool has_column(const struct hn_column *column, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(column[i].name, name) == 0)
            return true;
    return false;
}

// The metric that fills a column of /runs or /snapshots and that the job does not ask for; NULL:
// none.
static const char *metric_lacking(const struct hn_job *job, const char *column) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++) {
        bool asked = !has_column((*m)->columns, (*m)->n_columns, column);
        for (int64_t i = 0; i < job->n_metrics; i++)
            asked |= job->metric[i] == *m;
        if (!asked)
            return (*m)->name;
    }
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++) {
        bool asked = !has_column((*m)->columns, (*m)->n_columns, column);
        for (int64_t i = 0; i < job->n_snapshot_metrics; i++)
            asked |= job->snapshot_metric[i] == *m;
        if (!asked)
            return (*m)->name;
    }
    return NULL;
}

static bool asks_for(const struct hn_job *job, const char *study) {
    for (int64_t i = 0; study && i < job->n_studies; i++)
        if (strcmp(job->study[i].type->name, study) == 0)
            return true;
    return false;
}

static const char *lacking(const struct hn_job *job, const struct hn_figure *f) {
    if (asks_for(job, f->or_table))
        return NULL;
    if (f->table && hn_study_find(f->table))
        return asks_for(job, f->table) ? NULL : f->table;
    for (const char *const *column = f->columns; *column; column++)
        if (metric_lacking(job, *column))
            return metric_lacking(job, *column);
    bool histogram = !f->needs_histogram;
    for (int64_t i = 0; i < job->n_metrics; i++)
        histogram |= strcmp(job->metric[i]->name, "histogram") == 0;
    return histogram ? NULL : "histogram";
}

enum hn_code hn_figures_check_job(struct hn_context *ctx, const struct hn_job *job) {
    for (int64_t i = 0; i < job->n_figures; i++) {
        const char *lacks = lacking(job, hn_figure_find(job->figure[i]));
        if (lacks)
            return hn_fail(ctx, HN_USAGE, "%s: figure %s needs %s: add %s to metrics", job->path,
                           job->figure[i], lacks, lacks);
    }
    return HN_OK;
}

const struct hn_command hn_cmd_plot = {
    .name = "plot",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg plot RESULTS [--figure ID]... [-o DIR] [--term svg|pdf|png|cairolatex|dumb] "
             "[--for neurips|icml|acl|talk] [--settings NAMES] [--step STEP] [--style FILE]",
    .summary = "draw figures from a results file or a run directory",
    .details =
        "RESULTS is a results file or the directory of a run. For each figure writes the picture, "
        "its data (ID.tsv) and a gnuplot script that redraws it (ID.gp), and prints the picture's "
        "path. Without --figure draws every figure that the results allow, and says why others are "
        "left out. --settings draws these alone, named as in tables and figures: a sampler means "
        "all "
        "of its settings, options (or B, the batch size) fewer; studies have figures of their own, "
        "which stay whole. --step last draws the densities of bs-fig4 and its kin as the papers "
        "do, at the end of training alone. A file given by --style is loaded after the theme.",
    .examples = "hardneg plot results/demo --term pdf --for icml\n"
                "hardneg plot results.h5 --figure bs-fig4 --term dumb\n"
                "hardneg plot results.h5 --figure bs-fig4 --settings 'uniform, batchsampler M=500' "
                "--step last",
    .options = plot_options,
    .params_size = sizeof(struct plot_params),
    .min_args = 1,
    .max_args = 1,
    .run = plot_run,
};
