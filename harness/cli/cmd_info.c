// `hardneg info`: what a snapshot file holds; and `hardneg validate`: is it what it claims to be?
#include "datasets/snapshot.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "results/records.h"
#include "retrieval/describe.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

enum { NAMES_SHOWN = 12, STEPS_SHOWN = 16 };

static void print_steps(const struct hn_snapshot_info *info) {
    printf("%-14s %lld:", "steps", (long long)info->steps);
    for (int64_t i = 0; i < info->steps && i < STEPS_SHOWN; i++)
        printf(" %lld", (long long)info->step[i]);
    if (info->steps > STEPS_SHOWN)
        printf(" ... %lld", (long long)info->step[info->steps - 1]);
    printf("\n");
}

static void print_labels(const struct hn_snapshot_info *info) {
    printf("%-14s %lld", "classes", (long long)info->classes);
    if (info->unlabelled > 0)
        printf(", %s unlabelled", hn_counted(info->unlabelled, "item").text);
    if (info->label_sets)
        printf(", several an item");
    for (int64_t i = 0; i < info->n_label_names && i < NAMES_SHOWN; i++)
        printf("%s%s", i == 0 ? ": " : ", ", info->label_name[i]);
    printf("%s\n", info->n_label_names > NAMES_SHOWN ? ", ..." : "");
}

static double percent(int64_t part, int64_t of) { return 100 * (double)part / (double)of; }

static void print_sizes(const struct hn_snapshot_info *info, const struct hn_composition *c,
                        FILE *out) {
    int32_t label = c->largest_label;
    fprintf(out, "%-14s smallest %" PRId64 ", median %g, largest %" PRId64, "class sizes",
            c->smallest, c->median, c->largest);
    if (label < info->n_label_names)
        fprintf(out, " (%s)\n", info->label_name[label]);
    else
        fprintf(out, " (class %" PRId32 ")\n", label);
    if (2 * c->largest > c->labelled)
        fprintf(out,
                "%-14s one class holds %.1f %% of the labelled items: %s negatives of its items "
                "are false\n",
                "", percent(c->largest, c->labelled), c->largest < c->labelled ? "most" : "all");
    if (!isnan(c->same_class))
        fprintf(out,
                "%-14s %.2f %% of labelled pairs share a class: the false negatives of uniform "
                "batches\n",
                "base rate", 100 * c->same_class);
}

void hn_print_composition(const struct hn_snapshot_info *info, const struct hn_composition *c,
                          FILE *out) {
    if (c->classes > 0)
        print_sizes(info, c, out);
    if (c->repeated > 0)
        fprintf(out, "%-14s %s (%.1f %%) with the row of an earlier one\n", "equal rows",
                hn_counted(c->repeated, "item").text, percent(c->repeated, info->n));
}

static void print_parts(const struct hn_snapshot_info *info) {
    const struct {
        const char *name;
        bool there;
    } part[] = {
        {"view1", info->has_view1}, {"view2", info->has_view2}, {"positive", info->has_positive},
        {"split", info->split},     {"graph", info->has_graph}, {"features", info->has_features},
        {"group", info->group}};
    bool any = false;
    printf("%-14s", "also holds");
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].there) {
            printf("%s %s", any ? "," : "", part[i].name);
            any = true;
        }
    if (info->teacher_d > 0)
        printf("%s teacher (%s)", any ? "," : "", hn_counted(info->teacher_d, "dim").text);
    printf("%s\n", any || info->teacher_d > 0 ? "" : " nothing else");
}

static void print_table(const struct hn_snapshot_info *info, const struct hn_composition *c) {
    hn_describe_file(info);
    printf("%-14s %s\n", "layout", info->layout);
    printf("%-14s %lld\n", "items", (long long)info->n);
    printf("%-14s %lld, %s%s\n", "dims", (long long)info->d, info->dtype,
           info->normalized ? ", normalized" : "");
    if (info->zero_rows == HN_ZERO_ROWS_KEPT)
        printf("%-14s may be there, with a cosine of 0 to every item\n", "zero rows");
    print_steps(info);
    print_labels(info);
    hn_print_composition(info, c, stdout);
    print_parts(info);
}

static json_t *numbers(const int64_t *value, int64_t n) {
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(value[i]));
    return list;
}

static json_t *names(const struct hn_snapshot_info *info) {
    json_t *list = json_array();
    for (int64_t i = 0; i < info->n_label_names; i++)
        json_array_append_new(list, json_string(info->label_name[i]));
    return list;
}

static json_t *describe(const struct hn_snapshot_info *i, const struct hn_composition *c) {
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:b, s:o, s:I, s:I, s:o, "
        "s:b, s:{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b}, s:I, s:{s:I, s:f, s:I, s:i}, s:o, s:I}",
        "file", i->path, "layout", i->layout, "title", i->about.title, "source", i->about.source,
        "license", i->about.license, "encoder", i->about.encoder, "created", i->created,
        "tool_version", i->tool_version, "content_sha256", i->stored_sha256, "items",
        (json_int_t)i->n, "dims", (json_int_t)i->d, "dtype", i->dtype, "normalized", i->normalized,
        "steps", numbers(i->step, i->steps), "classes", (json_int_t)i->classes, "unlabelled",
        (json_int_t)i->unlabelled, "label_names", names(i), "several_labels", i->label_sets != NULL,
        "has", "view1", i->has_view1, "view2", i->has_view2, "positive", i->has_positive, "split",
        i->split != NULL, "graph", i->has_graph, "features", i->has_features, "group",
        i->group != NULL, "teacher", i->teacher_d > 0, "teacher_dims", (json_int_t)i->teacher_d,
        "class_sizes", "smallest", (json_int_t)c->smallest, "median", c->median, "largest",
        (json_int_t)c->largest, "largest_label", c->largest_label, "same_class_pairs",
        hn_json_real(c->same_class), "equal_rows", (json_int_t)c->repeated);
}

static enum hn_code show_retrieval(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_retrieval *r;
    json_t *object;
    if (hn_retrieval_open(ctx, call->args[0], &r))
        return ctx->code;
    enum hn_code code = call->json ? hn_retrieval_json(ctx, hn_retrieval_info(r), &object)
                                   : hn_retrieval_table(ctx, hn_retrieval_info(r));
    if (call->json && !code)
        code = hn_json_print(ctx, object, stdout);
    hn_retrieval_close(ctx, r);
    return code;
}

static enum hn_code run_info(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_snapshot *s;
    struct hn_composition c;
    enum hn_snapshot_kind kind;
    if (hn_snapshot_kind_of(ctx, call->args[0], &kind))
        return ctx->code;
    if (kind == HN_KIND_RETRIEVAL)
        return show_retrieval(ctx, call);
    if (hn_snapshot_open(ctx, call->args[0], &s))
        return ctx->code;
    enum hn_code code = hn_composition_find(ctx, s, &c);
    if (code == HN_OK && call->json)
        code = hn_json_print(ctx, describe(hn_snapshot_info(s), &c), stdout);
    else if (code == HN_OK)
        print_table(hn_snapshot_info(s), &c);
    hn_snapshot_close(ctx, s);
    return code;
}

const struct hn_command hn_cmd_info = {
    .name = "info",
    .usage = "hardneg info FILE [--json]",
    .summary = "show what a snapshot file holds",
    .details = "Shows the structure, the sizes of classes, the share of pairs that share one, and "
               "how many items repeat the row of another at the last step. `hardneg validate` "
               "checks the values of all steps.",
    .examples = "hardneg info cifar10.h5 --json",
    .options = hn_no_options,
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_info};

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
    return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:b}", "file", i->path, "valid",
                     1, "items", (json_int_t)i->n, "dims", (json_int_t)i->d, "steps",
                     (json_int_t)i->steps, "classes", (json_int_t)i->classes, "unlabelled",
                     (json_int_t)i->unlabelled, "dtype", i->dtype, "view1", i->has_view1, "view2",
                     i->has_view2);
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
            json_pack("{s:s, s:b, s:s, s:I, s:I, s:I, s:I, s:s}", "file", path, "valid", 1, "kind",
                      "retrieval", "queries", (json_int_t)i->n[HN_QUERIES], "passages",
                      (json_int_t)i->n[HN_CORPUS], "dims", (json_int_t)i->file->d, "steps",
                      (json_int_t)i->file->steps, "dtype", i->file->dtype));
    else if (code == HN_OK && !quiet) {
        printf("valid: ");
        hn_retrieval_line(i, stdout);
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
            json_array_append_new(files, json_pack("{s:s, s:b, s:s}", "file", path[i], "valid", 0,
                                                   "error", ctx->message));
        ctx->message[0] = 0; // said already
        first = first == HN_OK ? code : first;
    }
    return first;
}

static enum hn_code run_validate(struct hn_context *ctx, const struct hn_call *call) {
    if (!call->json)
        return validate_all(ctx, call->quiet, call->n_args, call->args, NULL);
    json_t *files = json_array();
    enum hn_code code = validate_all(ctx, true, call->n_args, call->args, files);
    bool all =
        json_array_size(files) == (size_t)call->n_args; // a record that is not UTF-8 is left out
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
    .usage = "hardneg validate FILE...",
    .summary = "check snapshot files, values included",
    .details = "Reads every value of every step and names the first fault of each file: a row that "
               "is not finite or is zero, a label count, a wrong rank, steps that do not increase, "
               "an index out of range, values that differ from those once written by this program.",
    .examples = "hardneg validate cifar10.h5",
    .options = hn_no_options,
    .json = true,
    .min_args = 1,
    .max_args = INT_MAX,
    .run = run_validate};
