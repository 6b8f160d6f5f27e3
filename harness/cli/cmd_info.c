// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg info`: what a snapshot file holds.
#include "core/numbers.h"
#include "core/text.h"
#include "datasets/retrieval.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "results/records.h"

#include <inttypes.h>
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

static void print_labels(const struct hn_snapshot_info *info, FILE *out) {
    fprintf(out, "%-14s %lld", "classes", (long long)info->classes);
    if (info->unlabelled > 0)
        fprintf(out, ", %s unlabelled", hn_counted(info->unlabelled, "item").text);
    if (info->label_sets)
        fprintf(out, ", several an item");
    for (int64_t i = 0; i < info->n_label_names && i < NAMES_SHOWN; i++)
        fprintf(out, "%s%s", i == 0 ? ": " : ", ", info->label_name[i]);
    fprintf(out, "%s\n", info->n_label_names > NAMES_SHOWN ? ", ..." : "");
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
    if (c->smallest == 1)
        fprintf(out, "%-14s an item alone in its class is never a false negative\n", "");
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
    print_labels(info, out);
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

static void print_text(const char *name, const char *text) {
    if (text[0])
        printf("%-14s %s\n", name, text);
}

static void print_file(const struct hn_snapshot_info *f) {
    printf("%-14s ", "file");
    hn_plain_put(stdout, f->path);
    putchar('\n');
    print_text("title", f->about.title);
    print_text("source", f->about.source);
    print_text("license", f->about.license);
    print_text("encoder", f->about.encoder);
    print_text("created", f->created);
    print_text("made by", f->tool_version);
    print_text("SHA-256", f->stored_sha256);
}

static void print_table(const struct hn_snapshot_info *info, const struct hn_composition *c) {
    print_file(info);
    printf("%-14s %s\n", "layout", info->layout);
    printf("%-14s %lld\n", "items", (long long)info->n);
    printf("%-14s %lld, %s%s\n", "dims", (long long)info->d, info->dtype,
           info->normalized ? ", normalized" : "");
    if (info->zero_rows == HN_ZERO_ROWS_KEPT)
        printf("%-14s may be there, with a cosine of 0 to every item\n", "zero rows");
    print_steps(info);
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
        "{s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:b, s:o, s:I, s:I, s:o, "
        "s:b, s:{s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b}, s:I, s:{s:I, s:f, s:I, s:i}, s:o, s:o}",
        "file", hn_json_text(i->path), "layout", i->layout, "title", i->about.title, "source",
        i->about.source, "license", i->about.license, "encoder", i->about.encoder, "created",
        i->created, "tool_version", i->tool_version, "content_sha256", i->stored_sha256, "items",
        (json_int_t)i->n, "dims", (json_int_t)i->d, "dtype", i->dtype, "normalized", i->normalized,
        "steps", numbers(i->step, i->steps), "classes", (json_int_t)i->classes, "unlabelled",
        (json_int_t)i->unlabelled, "label_names", names(i), "several_labels", i->label_sets != NULL,
        "has", "view1", i->has_view1, "view2", i->has_view2, "positive", i->has_positive, "split",
        i->split != NULL, "graph", i->has_graph, "features", i->has_features, "group",
        i->group != NULL, "teacher", i->teacher_d > 0, "teacher_dims", (json_int_t)i->teacher_d,
        "class_sizes", "smallest", (json_int_t)c->smallest, "median", c->median, "largest",
        (json_int_t)c->largest, "largest_label", c->largest_label, "same_class_pairs",
        hn_json_real(c->same_class), "equal_rows",
        c->repeated < 0 ? json_null() : json_integer(c->repeated));
}

// Queries and a corpus.

static struct hn_qrels_summary summary_of(const struct hn_qrels *q) {
    return q->start ? hn_qrels_summarize(q) : (struct hn_qrels_summary){.pairs = 0};
}

void hn_print_retrieval(const struct hn_retrieval_info *info, FILE *out) {
    struct hn_qrels_summary s = summary_of(&info->qrels);
    hn_plain_put(out, info->file->path);
    fprintf(out, ": %s, %s, %s, %s (%lld relevant)", hn_counted(info->n[HN_QUERIES], "query").text,
            hn_counted(info->n[HN_CORPUS], "passage").text, hn_counted(info->file->d, "dim").text,
            hn_counted(s.pairs, "judged pair").text, (long long)s.relevant);
    if (s.without > 0)
        fprintf(out, ", %s without a relevant passage", hn_counted(s.without, "query").text);
    fprintf(out, "\n");
}

// Items of a side whose text one before them has; -1: texts are unknown.
static enum hn_code count_equal(struct hn_context *ctx, const struct hn_retrieval_info *info,
                                enum hn_set side, int64_t *equal) {
    int64_t n = info->n[side];
    *equal = -1;
    if (!info->group[side])
        return HN_OK;
    HN_SCOPE(ctx);
    int64_t *group = hn_alloc(ctx, n, sizeof *group);
    if (!group)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        group[i] = info->group[side][i];
    *equal = n - hn_numbers_sort(group, n);
    return HN_OK;
}

static void print_qrels(const char *name, const struct hn_qrels *q) {
    if (!q->start)
        return;
    struct hn_qrels_summary s = hn_qrels_summarize(q);
    printf("%-14s %s, %lld relevant, at most %lld a query, %s without\n", name,
           hn_counted(s.pairs, "pair").text, (long long)s.relevant, (long long)s.max,
           hn_counted(s.without, "query").text);
}

static void print_equal(const char *name, int64_t equal) {
    if (equal >= 0)
        printf("%-14s %lld with the text of an earlier one\n", name, (long long)equal);
}

static void print_retrieval(const struct hn_retrieval_info *info, const int64_t equal[HN_SETS]) {
    const struct hn_snapshot_info *f = info->file;
    print_file(f);
    printf("%-14s %s\n", "kind", "retrieval");
    printf("%-14s %lld\n", "queries", (long long)info->n[HN_QUERIES]);
    print_equal("", equal[HN_QUERIES]);
    printf("%-14s %lld\n", "passages", (long long)info->n[HN_CORPUS]);
    print_equal("", equal[HN_CORPUS]);
    printf("%-14s %lld, %s%s\n", "dims", (long long)f->d, f->dtype,
           f->normalized ? ", normalized" : "");
    printf("%-14s %lld, last: %lld\n", "steps", (long long)f->steps,
           (long long)f->step[f->steps - 1]);
    print_qrels("qrels", &info->qrels);
    print_qrels("truth", &info->truth);
    if (info->teacher_d > 0)
        printf("%-14s %s\n", "teacher", hn_counted(info->teacher_d, "dim").text);
    if (info->scores.start)
        printf("%-14s of %s\n", "scores",
               hn_counted(info->scores.start[info->n[HN_QUERIES]], "pair").text);
    printf("%-14s %s\n", "texts",
           info->has_text[0] && info->has_text[1] ? "of queries and passages"
           : info->has_text[0]                    ? "of queries"
           : info->has_text[1]                    ? "of passages"
                                                  : "none");
}

static json_t *qrels_object(const struct hn_qrels *q) {
    struct hn_qrels_summary s = summary_of(q);
    return q->start ? json_pack("{s:I, s:I, s:I, s:I}", "pairs", (json_int_t)s.pairs, "relevant",
                                (json_int_t)s.relevant, "most", (json_int_t)s.max,
                                "queries_without", (json_int_t)s.without)
                    : json_null();
}

static json_t *count_or_null(int64_t count) {
    return count < 0 ? json_null() : json_integer(count);
}

static json_t *describe_retrieval(const struct hn_retrieval_info *info,
                                  const int64_t equal[HN_SETS]) {
    const struct hn_snapshot_info *f = info->file;
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:I, "
        "s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:b}",
        "file", hn_json_text(f->path), "kind", "retrieval", "title", f->about.title, "source",
        f->about.source, "license", f->about.license, "encoder", f->about.encoder, "created",
        f->created, "tool_version", f->tool_version, "content_sha256", f->stored_sha256, "queries",
        (json_int_t)info->n[HN_QUERIES], "passages", (json_int_t)info->n[HN_CORPUS], "dims",
        (json_int_t)f->d, "dtype", f->dtype, "normalized", f->normalized, "steps",
        (json_int_t)f->steps, "qrels", qrels_object(&info->qrels), "truth",
        qrels_object(&info->truth), "equal_queries", count_or_null(equal[HN_QUERIES]),
        "equal_passages", count_or_null(equal[HN_CORPUS]), "teacher_dims",
        (json_int_t)info->teacher_d, "scored_pairs",
        (json_int_t)(info->scores.start ? info->scores.start[info->n[HN_QUERIES]] : 0),
        "query_texts", info->has_text[HN_QUERIES], "passage_texts", info->has_text[HN_CORPUS]);
}

static enum hn_code show_retrieval(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_retrieval *r;
    int64_t equal[HN_SETS];
    if (hn_retrieval_open(ctx, call->args[0], &r))
        return ctx->code;
    const struct hn_retrieval_info *info = hn_retrieval_info(r);
    enum hn_code code = HN_OK;
    for (int side = 0; side < HN_SETS && !code; side++)
        code = count_equal(ctx, info, side, &equal[side]);
    if (!code && call->json)
        code = hn_json_print(ctx, describe_retrieval(info, equal), stdout);
    else if (!code)
        print_retrieval(info, equal);
    hn_retrieval_close(ctx, r);
    return code;
}

static enum hn_code run_info(struct hn_context *ctx, const struct hn_call *call) {
    hn_limit_memory(ctx, call);
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
    .group = HN_GROUP_DATA,
    .usage = "hardneg info FILE [--json]",
    .summary = "show what a snapshot file holds",
    .details = "Shows the structure, the sizes of classes, the share of pairs that share one, and "
               "how many items repeat the row of another at the last step. `hardneg validate` "
               "checks the values of all steps.",
    .examples = "hardneg info cifar10.h5 --json",
    .options = hn_memory_options,
    .params_size = sizeof(struct hn_memory_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_info};
