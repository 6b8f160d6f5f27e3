// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg validate`: is a snapshot file what it claims to be?
#include "core/text.h"
#include "datasets/retrieval.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "results/records.h"

#include <limits.h>

static const char *views_text(const struct hn_snapshot_info *info) {
    if (info->has_view1 && info->has_view2)
        return "views 1 and 2";
    if (info->has_view2)
        return "view 2";
    return info->has_view1 ? "view 1 alone (no positive)" : "no views";
}

static void print_valid(const struct hn_snapshot_info *info) {
    long long first = info->step[0], last = info->step[info->steps - 1];
    hn_plain_put(stdout, info->path);
    printf(": valid: %s, %s, %s (%lld", hn_counted(info->n, "item").text,
           hn_counted(info->d, "dim").text, hn_counted(info->steps, "step").text, first);
    if (info->steps > 1)
        printf(" to %lld", last);
    printf("), %s", hn_counted(info->classes, "class").text);
    if (info->unlabelled > 0)
        printf(" and %s", hn_counted(info->unlabelled, "unlabelled item").text);
    printf(", %s, %s\n", views_text(info), info->dtype);
}

static json_t *describe_valid(const struct hn_snapshot_info *i) {
    return json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:b}", "file",
                     hn_json_text(i->path), "valid", 1, "items", (json_int_t)i->n, "dims",
                     (json_int_t)i->d, "steps", (json_int_t)i->steps, "classes",
                     (json_int_t)i->classes, "unlabelled", (json_int_t)i->unlabelled, "dtype",
                     i->dtype, "view1", i->has_view1, "view2", i->has_view2);
}

static enum hn_code validate_retrieval(struct hn_context *ctx, const char *path, bool quiet,
                                       json_t *files) {
    struct hn_retrieval *r;
    if (hn_retrieval_open(ctx, path, &r))
        return ctx->code;
    const struct hn_retrieval_info *i = hn_retrieval_info(r);
    enum hn_code code = hn_retrieval_validate(ctx, r);
    if (code == HN_OK && files)
        json_array_append_new(
            files,
            json_pack("{s:o, s:b, s:s, s:I, s:I, s:I, s:I, s:s}", "file", hn_json_text(path),
                      "valid", 1, "kind", "retrieval", "queries", (json_int_t)i->n[HN_QUERIES],
                      "passages", (json_int_t)i->n[HN_CORPUS], "dims", (json_int_t)i->file->d,
                      "steps", (json_int_t)i->file->steps, "dtype", i->file->dtype));
    else if (code == HN_OK && !quiet) {
        printf("valid: ");
        hn_print_retrieval(i, stdout);
    }
    hn_retrieval_close(ctx, r);
    return code;
}

// files: the list of --json, or NULL.
static enum hn_code validate_file(struct hn_context *ctx, const char *path, bool quiet,
                                  json_t *files) {
    struct hn_snapshot *s;
    enum hn_snapshot_kind kind;
    if (hn_snapshot_kind_of(ctx, path, &kind))
        return ctx->code;
    if (kind == HN_KIND_RETRIEVAL)
        return validate_retrieval(ctx, path, quiet, files);
    enum hn_code code = hn_snapshot_open(ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_validate(ctx, s);
    if (code == HN_OK && files)
        json_array_append_new(files, describe_valid(hn_snapshot_info(s)));
    else if (code == HN_OK && !quiet)
        print_valid(hn_snapshot_info(s));
    hn_snapshot_close(ctx, s);
    return code;
}

// The other files are looked at even if one is bad; the exit code is that of the first bad one.
static enum hn_code validate_all(struct hn_context *ctx, bool quiet, int n, const char **path,
                                 json_t *files) {
    enum hn_code first = HN_OK;
    for (int i = 0; i < n; i++) {
        enum hn_code code = validate_file(ctx, path[i], quiet, files);
        if (code == HN_INTERRUPTED)
            return code;
        if (code != HN_OK)
            fprintf(stderr, "hardneg validate: %s\n", ctx->message);
        if (code != HN_OK && files)
            json_array_append_new(files,
                                  json_pack("{s:o, s:b, s:o}", "file", hn_json_text(path[i]),
                                            "valid", 0, "error", hn_json_text(ctx->message)));
        ctx->message[0] = 0; // said already
        first = first == HN_OK ? code : first;
    }
    return first;
}

static enum hn_code run_validate(struct hn_context *ctx, const struct hn_call *call) {
    hn_limit_memory(ctx, call);
    if (!call->json)
        return validate_all(ctx, call->quiet, call->n_args, call->args, NULL);
    json_t *files = json_array();
    enum hn_code code = validate_all(ctx, true, call->n_args, call->args, files);
    bool all = json_array_size(files) == (size_t)call->n_args; // memory for every record
    if (all || code != HN_INTERRUPTED) {
        enum hn_code printed =
            hn_json_print(ctx, all ? json_pack("{s:O}", "files", files) : NULL, stdout);
        code = printed ? printed : code;
    }
    json_decref(files);
    return code;
}

const struct hn_command hn_cmd_validate = {
    .name = "validate",
    .group = HN_GROUP_DATA,
    .usage = "hardneg validate FILE...",
    .summary = "check snapshot files, values included",
    .details = "Reads every value of every step and names the first fault of each file: a row that "
               "is not finite or is zero, a label count, a wrong rank, steps that do not increase, "
               "an index out of range, values that differ from those once written by this program.",
    .examples = "hardneg validate cifar10.h5",
    .options = hn_memory_options,
    .params_size = sizeof(struct hn_memory_params),
    .json = true,
    .min_args = 1,
    .max_args = INT_MAX,
    .run = run_validate};
