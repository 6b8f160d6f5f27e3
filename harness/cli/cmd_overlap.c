// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg overlap`: texts that two files of queries and a corpus share.
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "harness/mining/mining.h"
#include "results/records.h"
#include "retrieval/overlap.h"

struct overlap_params {
    double min;
    int64_t list, threads, memory;
    bool gate;
};

static const struct hn_option overlap_options[] = {
    {HN_REAL_OPTION(struct overlap_params, min, "min-likeness", "0.8", 0.05, 1,
                    "share of the words of two texts that are in both (Jaccard), from which they "
                    "are nearly equal"),
     .metavar = "SHARE"},
    {HN_INT_OPTION(struct overlap_params, list, "list", "10", 0, INT32_MAX,
                   "pairs of texts of a side to print"),
     .metavar = "N"},
    {HN_BOOL_OPTION(struct overlap_params, gate, "gate", NULL,
                    "exit with 1 if a query of the second file is equal or nearly equal to one of "
                    "the first")},
    {HN_THREADS_OPTION(struct overlap_params, "; the result does not depend on them")},
    {HN_MEMORY_OPTION(struct overlap_params, " (default: what the machine has)")},
    {0},
};

// A file, and what it has of a side.
struct side {
    struct hn_retrieval *file;
    struct hn_strings id[HN_SETS], text[HN_SETS];
};

static const char *const set_name[HN_SETS] = {"queries", "passages"};

static enum hn_code open_side(struct hn_context *ctx, const char *path, struct side *out) {
    if (hn_retrieval_open(ctx, path, &out->file))
        return ctx->code;
    for (int set = 0; set < HN_SETS; set++)
        if (hn_retrieval_texts(ctx, out->file, set, &out->text[set]))
            return ctx->code;
    if (!out->text[HN_QUERIES].n && !out->text[HN_CORPUS].n)
        return hn_fail(
            ctx, HN_DATA,
            "%s: has no texts to compare: import it with --query-ids and --corpus-ids of "
            ".jsonl, or --pairs",
            path);
    for (int set = 0; set < HN_SETS; set++)
        if (hn_retrieval_ids(ctx, out->file, set, &out->id[set]))
            return ctx->code;
    return hn_retrieval_check_digest(ctx, out->file);
}

static json_t *pairs_of(const struct overlap_params *p, const struct side *f, int set,
                        const struct hn_overlap *o) {
    json_t *list = json_array();
    for (int64_t k = 0; k < hn_min(p->list, o->equal + o->alike); k++) {
        const struct hn_shared_text *t = &o->shared[k];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:f, s:s, s:s}", "set", set_name[set], "first",
                            hn_string(&f[0].id[set], t->a), "second",
                            hn_string(&f[1].id[set], t->b), "likeness", t->likeness, "equal",
                            t->equal ? "equal" : "", "text", hn_string(&f[1].text[set], t->b)));
    }
    return list;
}

static json_t *count_of(const struct side *f, int set, const struct hn_overlap *o) {
    double of = (double)f[1].text[set].n;
    return json_pack("{s:s, s:I, s:I, s:I, s:o}", "set", set_name[set], "texts",
                     (json_int_t)f[1].text[set].n, "equal", (json_int_t)o->equal, "near",
                     (json_int_t)o->alike, "share",
                     hn_json_real((double)(o->equal + o->alike) / of));
}

static enum hn_code print_overlap(struct hn_context *ctx, const struct hn_call *call,
                                  json_t *counts, json_t *pairs) {
    static const struct hn_record_column columns[] = {{"set", "set", -9},
                                                      {"texts", "texts", 10},
                                                      {"equal", "equal", 10},
                                                      {"near", "nearly equal", 12},
                                                      {"share", "share, %", 8, 2, 100},
                                                      {NULL}},
                                         of_pairs[] = {{"set", "set", -9},
                                                       {"first", "id in the first", -16},
                                                       {"second", "in the second", -16},
                                                       {"likeness", "likeness", 8, 2},
                                                       {"equal", "", -5},
                                                       {NULL}};
    const struct overlap_params *p = call->params;
    if (call->json)
        return hn_json_print(ctx,
                             json_pack("{s:o, s:o, s:f, s:o, s:o}", "first",
                                       hn_json_text(call->args[0]), "second",
                                       hn_json_text(call->args[1]), "min_likeness", p->min,
                                       "counts", counts, "pairs", pairs),
                             stdout);
    printf("%s: its texts that %s has, too, or with %g %% of the words in common\n", call->args[1],
           call->args[0], 100 * p->min);
    hn_records_print(columns, counts, stdout);
    if (json_array_size(pairs) > 0)
        printf("\n");
    hn_records_print(of_pairs, pairs, stdout);
    json_decref(counts);
    json_decref(pairs);
    return HN_OK;
}

static enum hn_code compare(struct hn_context *ctx, const struct hn_call *call, struct side *f) {
    const struct overlap_params *p = call->params;
    struct hn_overlap o[HN_SETS] = {{0}};
    for (int k = 0; k < 2; k++)
        if (open_side(ctx, call->args[k], &f[k]))
            return ctx->code;
    for (int set = 0; set < HN_SETS; set++)
        if (hn_overlap_find(ctx, &f[0].text[set], &f[1].text[set], p->min, &o[set]))
            return ctx->code;
    json_t *counts = json_array(), *pairs = json_array();
    for (int set = 0; set < HN_SETS; set++) {
        json_t *some = pairs_of(p, f, set, &o[set]);
        json_array_append_new(counts, count_of(f, set, &o[set]));
        json_array_extend(pairs, some);
        json_decref(some);
    }
    if (print_overlap(ctx, call, counts, pairs))
        return ctx->code;
    int64_t shared = o[HN_QUERIES].equal + o[HN_QUERIES].alike;
    return p->gate && shared > 0
               ? hn_fail(ctx, HN_GATE, "%s: %s of %s shared with %s", call->args[1],
                         hn_counted(shared, "query").text,
                         hn_counted(f[1].text[HN_QUERIES].n, "query").text, call->args[0])
               : HN_OK;
}

static enum hn_code run_overlap(struct hn_context *ctx, const struct hn_call *call) {
    const struct overlap_params *p = call->params;
    struct side f[2] = {{0}};
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    hn_host_limit_data(ctx, p->memory, 1);
    enum hn_code code = compare(ctx, call, f);
    for (int k = 0; k < 2; k++)
        hn_retrieval_close(ctx, f[k].file);
    return code;
}

const struct hn_command hn_cmd_overlap = {
    .name = "overlap",
    .group = HN_GROUP_RETRIEVAL,
    .usage = "hardneg overlap FIRST SECOND [--min-likeness SHARE] [--gate]",
    .summary = "find texts that two files share, as training and test sets should not",
    .details = "Compares the texts of the queries, and of the passages, of two snapshots. Texts "
               "are equal that have the same words in the same order, whatever the blanks and the "
               "case (of ASCII letters); nearly equal that have --min-likeness of their words in "
               "common, as sets (Jaccard similarity). Every pair is found.",
    .examples = "hardneg overlap train.h5 test.h5\n"
                "hardneg overlap train.h5 test.h5 --min-likeness 0.6 --list 100 --json",
    .options = overlap_options,
    .params_size = sizeof(struct overlap_params),
    .json = true,
    .min_args = 2,
    .max_args = 2,
    .run = run_overlap};
