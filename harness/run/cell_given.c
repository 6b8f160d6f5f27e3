// Cells whose batches another program chose.
#include "datasets/import/given.h"
#include "harness/run/cells.h"
#include "samplers/given.h"

#include <inttypes.h>

// Items in their order: what a trial draws, whose times do not depend on which.
static enum hn_code make_up(struct hn_context *ctx, const struct hn_job *job,
                            const struct hn_sampler *s, struct hn_given *out) {
    int64_t n = s->n, longest = hn_sampler_capacity(s->type, s->params, n);
    bool negatives = longest > 0;
    longest = negatives ? longest : s->batch_size;
    out->path = "a trial";
    out->per_epoch = negatives ? n : hn_batches_per_epoch(n, s->batch_size);
    out->lists = negatives ? n : hn_max(out->per_epoch, job->batches);
    if (!HN_ALLOC(ctx, out->start, out->lists + 1) ||
        !HN_ALLOC_ROWS(ctx, out->ids, out->lists, longest))
        return ctx->code;
    for (int64_t l = 0; l <= out->lists; l++)
        out->start[l] = l * longest;
    for (int64_t i = 0; i < out->start[out->lists]; i++)
        out->ids[i] = (int32_t)((negatives ? i / longest + 1 + i % longest : i) % n);
    return HN_OK;
}

// Says of batches how much of the data the emptiest epoch holds, if that is not all.
static enum hn_code note_missing(struct hn_context *ctx, struct hn_cell_work *w,
                                 const struct hn_given *g) {
    char text[96];
    int64_t least = w->items->n;
    HN_SCOPE(ctx);
    int64_t *seen = hn_zalloc(ctx, w->items->n, sizeof *seen);
    if (!seen)
        return ctx->code;
    for (int64_t e = 0; e < hn_given_epochs(g); e++) {
        int64_t end = hn_min(g->lists, (e + 1) * g->per_epoch), held = 0;
        for (int64_t i = g->start[e * g->per_epoch]; i < g->start[end]; i++) {
            held += seen[g->ids[i]] != e + 1;
            seen[g->ids[i]] = e + 1;
        }
        least = hn_min(least, held);
    }
    if (least == w->items->n)
        return HN_OK;
    snprintf(text, sizeof text, "an epoch holds %" PRId64 " of %s", least,
             hn_counted(w->items->n, "item").text);
    hn_own(ctx, scope.outer);
    return hn_cell_add_note(ctx, &w->out->runs, text);
}

static enum hn_code read_lists(struct hn_context *ctx, struct hn_cell_work *w,
                               struct hn_given *out) {
    const struct hn_sampler *s = &w->sampler;
    const struct hn_given_params *params = hn_given_params_of(s->type, s->params);
    bool negatives = s->type->flags & HN_SAMPLER_PER_ANCHOR;
    const struct hn_given_rules rules = {.n = s->n,
                                         .longest = negatives ? params->n : s->batch_size,
                                         .per_epoch = hn_max(0, params->per_epoch),
                                         .negatives = negatives,
                                         .repeats = params->repeats};
    return hn_given_read(ctx, w->cell->file->path, w->cell->file->sha256, &rules, out);
}

enum hn_code hn_given_hand_over(struct hn_context *ctx, struct hn_cell_work *w) {
    struct hn_sampler *s = &w->sampler;
    if (!(s->type->flags & HN_SAMPLER_GIVEN))
        return HN_OK;
    void *outer = hn_own(ctx, s->state);
    struct hn_given *given = hn_zalloc(ctx, 1, sizeof *given);
    enum hn_code code = !given                ? ctx->code
                        : w->plan->job->trial ? make_up(ctx, w->plan->job, s, given)
                                              : read_lists(ctx, w, given);
    hn_own(ctx, outer);
    s->given = given;
    if (!code && !(s->type->flags & HN_SAMPLER_PER_ANCHOR))
        code = note_missing(ctx, w, given);
    return code;
}

enum hn_code hn_given_set_costs(struct hn_context *ctx, struct hn_cell_work *w) {
    const struct hn_sampler *s = &w->sampler;
    const struct hn_given_params *params = hn_given_params_of(s->type, s->params);
    double batches = (double)hn_batches_per_epoch(s->n, s->batch_size);
    if (!(s->type->flags & HN_SAMPLER_PER_ANCHOR))
        batches = (double)hn_min(s->given->per_epoch, s->given->lists);
    return HN_TABLE_SET(ctx, &w->out->runs, 0, HN_REAL_VALUE("cost_s", params->cost_s),
                        HN_REAL_VALUE("cost_g", params->cost_g),
                        HN_REAL_VALUE("cost_g_over_t", params->cost_g / batches));
}
