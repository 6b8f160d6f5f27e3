// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates a run before it begins, and chooses how it keeps within the memory limit.
#include "harness/run/foresee.h"

#include "core/options/option_text.h"
#include "core/strings.h"
#include "core/text.h"
#include "harness/host/memory.h"
#include "harness/run/estimate.h"
#include "samplers/given.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void hn_print_estimate(const struct hn_estimate_item *item, const char *label) {
    char time[40] = "?", memory[40] = "?";
    const char *mark = item->rough ? "~" : item->known ? "" : ">";
    if (item->known)
        snprintf(time, sizeof time, "%s%s", mark, hn_seconds_text(item->seconds).text);
    if (item->known || item->bytes > 0) // else what was seen until the trial was given up
        snprintf(memory, sizeof memory, "%s%s", mark, hn_bytes_text(item->bytes).text);
    printf("%8s %9s  %s\n", time, memory, label);
}

void hn_print_total(const struct hn_estimate *e, int processes) {
    fprintf(stderr, ", %s %s%s", e->unknown ? "more than" : "about",
            hn_seconds_text(e->seconds).text, processes > 0 ? " one after the other," : "");
    if (processes > 1)
        fprintf(stderr, " %s at least by %d at a time,",
                hn_seconds_text(e->seconds / processes).text, processes);
    fprintf(stderr, " and %s of data",
            hn_bytes_text(hn_bytes_mul(e->bytes, hn_max(processes, 1))).text);
}

// A control group that grants so many times the data is not estimated for: allocation is bounded.
enum { AMPLE = 32 };

static void print_cells(const struct hn_estimate *e, int64_t shown, int64_t all, int64_t idle) {
    fprintf(stderr, "%" PRId64 " of %s", shown, hn_counted(all, "cell").text);
    if (idle > 0)
        fprintf(stderr, ", %" PRId64 " of them not applicable", idle);
    hn_print_total(e, 0);
    fprintf(stderr, " (%s resident)%s%s\n", hn_bytes_text(e->resident).text,
            e->rough ? "; ~: roughly, by small trials, as a larger one did not end in time" : "",
            e->unknown
                ? "; ?: not estimated, as its trial did not end in time or would have too few items"
                : "");
}

static void note_memory_mode(struct hn_context *ctx, int64_t quickest) {
    hn_note(ctx,
            "about %s would be quickest, but the limit is %s: nearest neighbours are found in "
            "bands of items%s, and pools of mosaic one after the other, which takes less memory "
            "and more time (bands up to twice); results are the same",
            hn_bytes_text(quickest).text, hn_bytes_text(ctx->memory.limit).text,
            ctx->memory.mode == HN_MEMORY_LOWEST ? ", without a screen" : "");
}

// Estimates what the run wants: the quickest way that fits the limit, the leanest if none does.
static enum hn_code foresee(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_runner *run, struct hn_estimate *out) {
    int64_t limit = ctx->memory.limit, quickest = 0;
    for (ctx->memory.mode = HN_MEMORY_ANY;; ctx->memory.mode++) {
        if (hn_estimate_make(ctx, plan, run, HN_ESTIMATE_SECONDS, out))
            return ctx->code;
        if (ctx->memory.mode == HN_MEMORY_ANY)
            quickest = out->bytes;
        if (!limit || out->bytes <= limit || ctx->memory.mode == HN_MEMORY_LOWEST)
            break;
        hn_estimate_free(ctx, out);
    }
    if (ctx->memory.mode > HN_MEMORY_ANY && out->bytes <= limit)
        note_memory_mode(ctx, quickest);
    return HN_OK;
}

static enum hn_code judge_memory(struct hn_context *ctx, const struct hn_estimate *e) {
    if (!ctx->memory.limit || e->bytes <= ctx->memory.limit)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "the job needs about %s of memory, however it is run, and its limit is %s: the "
                   "most is needed by `%s`; %s to %" PRId64
                   "MiB, or leave it out with --filter (--dry-run shows what every cell needs)",
                   hn_bytes_text(e->bytes).text, hn_bytes_text(ctx->memory.limit).text, e->largest,
                   hn_memory_remedy(&ctx->memory), e->bytes / (1 << 20) + 1);
}

static int64_t list_cells(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_runner *run, const struct hn_estimate *estimate) {
    int64_t shown = 0, idle = 0;
    for (int64_t i = 0; i < plan->n_items; i++) {
        const struct hn_item *item = &plan->item[i];
        if (!hn_run_wants(run, item))
            continue;
        const struct hn_item_label label = hn_item_label(item);
        shown++;
        if (item->kind != &hn_item_cell || !hn_cell_check(ctx, plan, item->of))
            hn_print_estimate(&estimate->item[i], label.text);
        else {
            printf("%8s %9s  %s: not applicable: %s\n", "-", "-", label.text, ctx->message);
            idle++;
        }
    }
    (void)fflush(stdout); // the total comes last where both go to one file
    print_cells(estimate, shown, plan->n_items, idle);
    return shown;
}

// The lines of a dry run by setting: cells that differ in data, step and seed share one.
enum { LINE = 100, BEFORE_LABEL = 42 };

struct setting_line {
    const char *label;
    char *why;     // a cell of it is not applicable; NULL: none is
    int64_t first; // item, by which lines are ordered
    int64_t cells, idle;
    int64_t batches; // of all its cells, or epochs; 0 = it draws none
    double seconds;
    int64_t bytes, unknown, rough;
};

// Appends the options in which entries of this sampler differ from each other.
static void put_varying(const struct hn_job *job, const struct hn_job_sampler *s, char *text,
                        size_t size) {
    const char *rest = s->text, *before = " ";
    for (struct hn_option_part o; hn_option_next(&rest, &o);) {
        bool varies = false;
        for (int64_t k = 0; k < job->n_samplers && !varies; k++)
            varies = job->sampler[k].type == s->type && !hn_option_has(job->sampler[k].text, o);
        if (varies)
            hn_append(text, size, "%s%.*s", before, (int)o.length, o.text);
        before = varies ? ", " : before;
    }
}

static void put_setting(const struct hn_plan *plan, const struct hn_item *item, char *text,
                        size_t size) {
    const struct hn_job *job = plan->job;
    if (item->kind != &hn_item_cell) { // "FILE step 0 without a sampler"
        const struct hn_item_label label = hn_item_label(item);
        char before[HN_MESSAGE_MAX];
        int n = snprintf(before, sizeof before, "%s step %" PRId64 " ",
                         plan->data[item->step->data].name, item->step->number);
        hn_put_text(text, size, "%s",
                    strncmp(label.text, before, (size_t)n) == 0 ? label.text + n : label.text);
        return;
    }
    const struct hn_cell *cell = item->of;
    const struct hn_job_sampler *s = &job->sampler[cell->sampler];
    hn_put_text(text, size, "%s", hn_sampler_title(s->type, s->params));
    put_varying(job, s, text, size);
    hn_append(text, size, " B=%d", cell->batch_size);
    if (job->n_temperatures > 1)
        hn_append(text, size, " tau=%g", cell->temperature);
    if (job->n_losses > 1)
        hn_append(text, size, " %s", hn_losses[cell->loss].name);
    if (job->n_weightings > 1)
        hn_append(text, size, " %s %s", job->weighting[cell->weighting].type->name,
                  job->weighting[cell->weighting].text);
}

static enum hn_code add_to_line(struct hn_context *ctx, const struct hn_plan *plan,
                                const struct hn_item *item, const struct hn_estimate_item *e,
                                struct setting_line *line) {
    const struct hn_cell *cell = item->kind == &hn_item_cell ? item->of : NULL;
    line->cells++;
    if (cell && hn_cell_check(ctx, plan, cell)) {
        line->idle++;
        line->why = line->why ? line->why : hn_strdup(ctx, ctx->message);
        return line->why ? HN_OK : ctx->code;
    }
    if (cell)
        line->batches += hn_max(hn_job_batches(plan->job, &plan->job->sampler[cell->sampler]),
                                hn_job_epochs(plan->job, &plan->job->sampler[cell->sampler]));
    line->seconds += e->seconds;
    line->bytes = hn_max(line->bytes, e->bytes);
    line->unknown += !e->known;
    line->rough += e->rough;
    return HN_OK;
}

static int by_first(const void *a, const void *b) {
    const struct setting_line *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void print_setting(const struct hn_job *job, const struct setting_line *s) {
    char batches[32] = "-", memory[40] = "-", time[40] = "-";
    bool known = s->unknown == 0;
    if (s->batches > 0)
        snprintf(batches, sizeof batches, "%" PRId64 "%s", s->batches,
                 job->batches > 0 ? "" : " ep.");
    if (s->idle < s->cells) {
        const char *mark = known && s->rough ? "~" : "";
        snprintf(time, sizeof time, "%s%s", mark, known ? hn_seconds_text(s->seconds).text : "?");
        snprintf(memory, sizeof memory, "%s%s", mark, known ? hn_bytes_text(s->bytes).text : "?");
    }
    printf("%6" PRId64 " %9s %10s %10s  ", s->cells, batches, time, memory);
    int fits = LINE - BEFORE_LABEL, length = (int)strlen(s->label);
    if (length > fits && !s->why)
        printf("%.*s...\n", fits - 3, s->label);
    else if (s->idle == 0)
        printf("%s\n", s->label);
    else if (s->idle == s->cells)
        printf("%s: not applicable: %s\n", s->label, s->why);
    else
        printf("%s: %" PRId64 " not applicable: %s\n", s->label, s->idle, s->why);
}

static enum hn_code list_settings(struct hn_context *ctx, const struct hn_plan *plan,
                                  const struct hn_runner *run, const struct hn_estimate *estimate,
                                  int64_t *shown) {
    HN_SCOPE(ctx);
    struct hn_named *named = hn_alloc(ctx, plan->n_items, sizeof *named);
    struct setting_line *line = hn_zalloc(ctx, plan->n_items, sizeof *line);
    int64_t idle = 0, lines = 0;
    *shown = 0;
    if (!named || !line)
        return ctx->code;
    for (int64_t i = 0; i < plan->n_items; i++) {
        char text[HN_MESSAGE_MAX];
        if (!hn_run_wants(run, &plan->item[i]))
            continue;
        put_setting(plan, &plan->item[i], text, sizeof text);
        named[*shown] = (struct hn_named){hn_strdup(ctx, text), i};
        if (!named[(*shown)++].text)
            return ctx->code;
    }
    hn_named_sort(named, *shown);
    for (int64_t i = 0; i < *shown; i++) {
        int64_t of = named[i].number;
        if (i == 0 || strcmp(named[i].text, named[i - 1].text) != 0)
            line[lines++] = (struct setting_line){.label = named[i].text, .first = of};
        if (add_to_line(ctx, plan, &plan->item[of], &estimate->item[of], &line[lines - 1]))
            return ctx->code;
    }
    qsort(line, (size_t)lines, sizeof *line, by_first);
    if (lines > 0)
        printf("%6s %9s %10s %10s  setting\n", "cells", "batches", "time", "memory");
    for (int64_t i = 0; i < lines; i++) {
        print_setting(plan->job, &line[i]);
        idle += line[i].idle;
    }
    (void)fflush(stdout); // the total comes last where both go to one file
    print_cells(estimate, *shown, plan->n_items, idle);
    return HN_OK;
}

enum { MANY_ITEMS = 100000 };

// Names the metrics that look at all pairs of items, if there are many.
static void note_pairs(struct hn_context *ctx, const struct hn_plan *plan,
                       const struct hn_runner *run, const struct hn_estimate *estimate) {
    const struct hn_job *job = plan->job;
    char names[HN_MESSAGE_MAX] = "";
    double seconds = 0;
    int64_t n = 0;
    bool known = true, positive = false;
    for (int64_t i = 0; i < plan->n_items; i++) {
        const struct hn_item *item = &plan->item[i];
        if (item->kind != &hn_item_step || !hn_run_wants(run, item))
            continue;
        const struct hn_snapshot_info *info =
            hn_snapshot_info(plan->data[item->step->data].snapshot);
        n = hn_max(n, info->n);
        positive = positive || info->has_view2 || info->has_positive;
        seconds += estimate->item[i].seconds;
        known = known && estimate->item[i].known;
    }
    for (int64_t i = 0; i < job->n_snapshot_metrics; i++)
        if (job->snapshot_metric[i]->all_pairs &&
            (positive || !(job->snapshot_metric[i]->needs & HN_METRIC_NEEDS_POSITIVE)))
            hn_append(names, sizeof names, "%s%s", *names ? ", " : "",
                      job->snapshot_metric[i]->name);
    if (!*names || n < MANY_ITEMS)
        return;
    hn_note(ctx,
            "these metrics look at all pairs of items, and their time grows with the square of the "
            "number: %s; `without a sampler` takes %s%s, and a job whose `metrics` lack them does "
            "without",
            names, known ? "about " : "",
            known ? hn_seconds_text(seconds).text : "too long to be tried");
}

static void note_machine(struct hn_context *ctx, const struct hn_estimate *e) {
    if (e->bytes <= hn_host_memory())
        return;
    hn_note(ctx, "about %s of memory is needed, and this machine has %s%s",
            hn_bytes_text(e->bytes).text, hn_bytes_text(hn_host_memory()).text,
            ctx->memory.limit
                ? ""
                : "; with --memory the job is run in a way that needs less, where there is one");
}

enum hn_code hn_run_foresee(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_runner *run, bool list) {
    struct hn_estimate estimate = {0};
    bool ample = ctx->memory.remedy && ctx->memory.limit / AMPLE > hn_plan_step_bytes(plan);
    if ((!ctx->memory.limit || ample) && !list)
        return HN_OK;
    if (list)
        hn_note(ctx, "%s; timing %s (at most %d s)", hn_counted(plan->n_items, "cell").text,
                plan->n_items == 1 ? "it" : "a few of them", HN_ESTIMATE_SECONDS);
    if (foresee(ctx, plan, run, &estimate))
        return ctx->code;
    int64_t shown = 1;
    if (list && run->verbose)
        shown = list_cells(ctx, plan, run, &estimate);
    else if (list) {
        const int64_t limit = ctx->memory.limit;
        ctx->memory.limit = 0; // of the data that a run keeps, not of what is said about it
        enum hn_code listed = list_settings(ctx, plan, run, &estimate, &shown);
        ctx->memory.limit = limit;
        if (listed) {
            hn_estimate_free(ctx, &estimate);
            return listed;
        }
    }
    bool none = shown == 0;
    if (list && !none) {
        note_machine(ctx, &estimate);
        note_pairs(ctx, plan, run, &estimate);
    }
    enum hn_code code = none && run->filter
                            ? hn_fail(ctx, HN_USAGE, "--filter matches none of the cells")
                            : judge_memory(ctx, &estimate);
    hn_estimate_free(ctx, &estimate);
    return code;
}
