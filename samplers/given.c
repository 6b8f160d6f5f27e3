// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers whose batches, or negatives, other programs choose. The harness reads them, and hands
// them over as self->given before the first epoch.
#include "samplers/given.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 40 };

static enum hn_code check_name(struct hn_context *ctx, const char *type, const char *name) {
    size_t length = name ? strlen(name) : 0;
    if (length == 0)
        return hn_fail(ctx, HN_USAGE, "%s wants `name`: what results call this sampler", type);
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.+", *c))
            return hn_fail(ctx, HN_USAGE,
                           "name: '%s' may hold letters, digits, '-', '_', '.' and '+'", name);
    if (length > NAME_MAX_BYTES)
        return hn_fail(ctx, HN_USAGE, "name: '%s' has more than %d characters", name,
                       NAME_MAX_BYTES);
    if (hn_sampler_find(name) || hn_given_find(name))
        return hn_fail(ctx, HN_USAGE, "name: '%s' is a sampler of hardneg: take another name",
                       name);
    return HN_OK;
}

// Options are stored as "K=100, M=500".
static enum hn_code check_text(struct hn_context *ctx, const char *option, const char *text,
                               const char *remedy) {
    return strstr(text, ", ") ? hn_fail(ctx, HN_USAGE,
                                        "%s: '%s' holds ', ', which separates options in results: "
                                        "%s",
                                        option, text, remedy)
                              : HN_OK;
}

static enum hn_code check_needs(struct hn_context *ctx, const struct hn_text_list *needs,
                                const struct hn_sampler_plan *plan) {
    for (int64_t i = 0; i < needs->count; i++) {
        const char *need = needs->item[i];
        bool labels = strcmp(need, "labels") == 0;
        if (!labels && strcmp(need, "view1") != 0 && strcmp(need, "view2") != 0)
            return hn_fail(ctx, HN_USAGE, "needs: '%s' is none of labels, view1 and view2", need);
        if (labels ? !plan->has_labels : !plan->has_positive)
            return hn_fail(ctx, HN_NOT_APPLICABLE, "it needs %s, which these items do not have",
                           labels ? "labels" : "a second view");
    }
    return HN_OK;
}

static enum hn_code check_run(struct hn_context *ctx, const struct hn_text_list *run) {
    bool writes = false;
    for (int64_t i = 0; i < run->count; i++) {
        if (check_text(ctx, "run", run->item[i], "put it into a script"))
            return ctx->code;
        writes = writes || strstr(run->item[i], "{out}");
    }
    return writes ? HN_OK
                  : hn_fail(ctx, HN_USAGE,
                            "run: no argument has {out}, the file that the program is to write");
}

static enum hn_code check_given(struct hn_context *ctx, const void *p,
                                const struct hn_sampler_plan *plan) {
    const struct hn_given_params *params = p;
    bool runs = params->timeout > 0;
    const char *type = runs             ? (params->n == 0 ? "command" : "command-negatives")
                       : params->n == 0 ? "given"
                                        : "given-negatives";
    if (!plan->hands_over)
        return hn_fail(ctx, HN_USAGE,
                       "%s stands for batches that another program chose: only `hardneg run` "
                       "measures them",
                       type);
    if (!runs && !params->file)
        return hn_fail(ctx, HN_USAGE, "%s wants `file`: where its batches are", type);
    if (runs && params->run.count == 0)
        return hn_fail(ctx, HN_USAGE, "%s wants `run`: the program and its arguments", type);
    if (check_name(ctx, type, params->name))
        return ctx->code;
    if (!runs)
        return check_text(ctx, "file", params->file, "rename it");
    enum hn_code code = check_run(ctx, &params->run);
    return code ? code : check_needs(ctx, &params->needs, plan);
}

// The epoch's batches are cut from the ids at their starts.
static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    const struct hn_given *g = self->given;
    (void)items;
    if (!g)
        return hn_fail(ctx, HN_INTERNAL, "%s: no batches were handed over", self->type->name);
    int64_t first = number * g->per_epoch;
    if (first >= g->lists)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds %s of %s; the cell wants more: write more epochs, or lower "
                       "`epochs` or `batches` of the job",
                       g->path, hn_counted(hn_given_epochs(g), "epoch").text,
                       hn_counted(hn_min(g->per_epoch, g->lists), "batch").text);
    *batches = hn_min(g->per_epoch, g->lists - first);
    self->order = g->ids;
    self->start = g->start + first;
    return HN_OK;
}

static int64_t capacity(const void *p, int64_t n) {
    return hn_min(((const struct hn_given_params *)p)->n, n - 1);
}

static enum hn_code begin_lists(struct hn_context *ctx, struct hn_sampler *self,
                                const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)items, (void)number, (void)batches;
    return self->given
               ? HN_OK
               : hn_fail(ctx, HN_INTERNAL, "%s: no negatives were handed over", self->type->name);
}

// Epochs beyond the file's begin again with its first.
static int32_t list(const struct hn_sampler *self, int32_t anchor, int64_t position, int thread,
                    struct hn_work *work, int32_t *negative) {
    const struct hn_given *g = self->given;
    (void)position, (void)thread, (void)work;
    int64_t l = self->epoch % (g->lists / self->n) * self->n + anchor;
    int32_t count = (int32_t)(g->start[l + 1] - g->start[l]);
    memcpy(negative, g->ids + g->start[l], (size_t)count * sizeof *negative);
    return count;
}

#define TEXT(...) HN_TEXT_OPTION(struct hn_given_params, __VA_ARGS__)
#define REAL(...) HN_REAL_OPTION(struct hn_given_params, __VA_ARGS__)
#define NAME TEXT(name, "name", "what results call this sampler")
#define FILE_OPTION(what)                                                                          \
    TEXT(file, "file",                                                                             \
         what "; {step}, {seed}, {batch_size} and {dataset} in its name stand for the cell's")
#define COST_S                                                                                     \
    { REAL(cost_s, "cost_s", NULL, 0, INFINITY, "seconds that drawing a batch takes, as known") }
#define COST_G                                                                                     \
    {                                                                                              \
        REAL(cost_g, "cost_g", NULL, 0, INFINITY,                                                  \
             "seconds that building the sampler takes, as known")                                  \
    }
#define PER_EPOCH                                                                                  \
    {                                                                                              \
        HN_INT_OPTION(struct hn_given_params, per_epoch, "per_epoch", NULL, 1, INT32_MAX,          \
                      "batches of an epoch; default: all of the file, or of its first dimension")  \
    }
#define REPEATS                                                                                    \
    {                                                                                              \
        HN_BOOL_OPTION(struct hn_given_params, repeats, "repeats", NULL,                           \
                       "an item may come twice in a batch: drawn with replacement")                \
    }
#define NEGATIVES                                                                                  \
    {                                                                                              \
        HN_INT_OPTION(struct hn_given_params, n, "n", "16", 1, INT32_MAX,                          \
                      "most negatives of an anchor")                                               \
    }
#define COMMAND                                                                                    \
    {HN_LIST_OPTION(struct hn_given_params, run, "run",                                            \
                    "the program and its arguments; {embeddings}, {out}, {epochs}, {step}, "       \
                    "{seed}, {batch_size} and {dataset} stand for the cell's")},                   \
        {NAME},                                                                                    \
        {HN_LIST_OPTION(struct hn_given_params, needs, "needs",                                    \
                        "what else it is given, by a word in `run`: labels, view1, view2")},       \
        {TEXT(version, "version",                                                                  \
              "of the program; default: the contents of the files among its arguments")},          \
        {HN_INT_OPTION(struct hn_given_params, timeout, "timeout", "3600", 1, INT32_MAX,           \
                       "seconds that it may take")},

static const struct hn_option file_options[] = {
    {FILE_OPTION(".npy or .jsonl of batches")}, {NAME}, PER_EPOCH, REPEATS, COST_S, COST_G, {0}};
static const struct hn_option list_options[] = {
    {FILE_OPTION(".npy or .jsonl of a list for each anchor")},
    {NAME},
    NEGATIVES,
    COST_S,
    COST_G,
    {0}};
static const struct hn_option command_options[] = {COMMAND PER_EPOCH, REPEATS, COST_S, {0}};
static const struct hn_option command_list_options[] = {COMMAND NEGATIVES, COST_S, {0}};

// Members that the types share; of batches; and of negatives.
#define GIVEN                                                                                      \
    .source = "control", .note = "", .params_size = sizeof(struct hn_given_params),                \
    .check = check_given
#define BATCHES GIVEN, .flags = HN_SAMPLER_GIVEN | HN_SAMPLER_ORDERED, .epoch = epoch
#define LISTS                                                                                      \
    GIVEN, .flags = HN_SAMPLER_GIVEN | HN_SAMPLER_PER_ANCHOR, .epoch = begin_lists, .list = list,  \
           .capacity = capacity

static const struct hn_sampler_type
    given = {.name = "given",
             .summary = "batches that another program chose, from a file",
             .options = file_options,
             BATCHES},
    given_negatives = {.name = "given-negatives",
                       .summary = "negatives of every anchor that another program chose, from a "
                                  "file",
                       .options = list_options,
                       LISTS},
    command = {.name = "command",
               .summary = "batches of a program that is run on the embeddings",
               .options = command_options,
               BATCHES},
    command_negatives = {.name = "command-negatives",
                         .summary = "negatives of every anchor of a program that is run on the "
                                    "embeddings",
                         .options = command_list_options,
                         LISTS};

const struct hn_sampler_type *const hn_given_samplers[] = {&given, &given_negatives, &command,
                                                           &command_negatives, NULL};

const struct hn_sampler_type *hn_given_find(const char *name) {
    for (const struct hn_sampler_type *const *type = hn_given_samplers; *type; type++)
        if (strcmp((*type)->name, name) == 0)
            return *type;
    return NULL;
}
