// Estimates a run before it begins, and chooses how it keeps within the memory limit.
#include "harness/run/foresee.h"

#include "core/text.h"
#include "harness/host/memory.h"
#include "harness/run/estimate.h"

#include <inttypes.h>

void hn_print_estimate(const struct hn_estimate_item *item, const char *label) {
    char memory[33] = "?";
    if (item->known || item->bytes > 0) // else what was seen until the trial was given up
        snprintf(memory, sizeof memory, "%s%s", item->known ? "" : ">",
                 hn_bytes_text(item->bytes).text);
    printf("%8s %9s  %s\n", item->known ? hn_seconds_text(item->seconds).text : "?", memory, label);
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
    fprintf(stderr, " (%s resident)%s\n", hn_bytes_text(e->resident).text,
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
    bool none = list && list_cells(ctx, plan, run, &estimate) == 0;
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
