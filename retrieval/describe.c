#include "retrieval/describe.h"
#include "core/numbers.h"

static void print_text(const char *name, const char *text) {
    if (text[0])
        printf("%-14s %s\n", name, text);
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

static struct hn_qrels_summary summary_of(const struct hn_qrels *q) {
    return q->start ? hn_qrels_summarize(q) : (struct hn_qrels_summary){.pairs = 0};
}

void hn_retrieval_line(const struct hn_retrieval_info *info, FILE *out) {
    struct hn_qrels_summary s = summary_of(&info->qrels);
    hn_plain_put(out, info->file->path);
    fprintf(out, ": %s, %s, %s, %s (%lld relevant)", hn_counted(info->n[HN_QUERIES], "query").text,
            hn_counted(info->n[HN_CORPUS], "passage").text, hn_counted(info->file->d, "dim").text,
            hn_counted(s.pairs, "judged pair").text, (long long)s.relevant);
    if (s.without > 0)
        fprintf(out, ", %s without a relevant passage", hn_counted(s.without, "query").text);
    fprintf(out, "\n");
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

void hn_describe_file(const struct hn_snapshot_info *f) {
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

enum hn_code hn_retrieval_table(struct hn_context *ctx, const struct hn_retrieval_info *info) {
    const struct hn_snapshot_info *f = info->file;
    int64_t equal[HN_SETS];
    for (int side = 0; side < HN_SETS; side++)
        if (count_equal(ctx, info, side, &equal[side]))
            return ctx->code;
    hn_describe_file(f);
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
    return HN_OK;
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

enum hn_code hn_retrieval_json(struct hn_context *ctx, const struct hn_retrieval_info *info,
                               json_t **out) {
    const struct hn_snapshot_info *f = info->file;
    int64_t equal[HN_SETS];
    for (int side = 0; side < HN_SETS; side++)
        if (count_equal(ctx, info, side, &equal[side]))
            return ctx->code;
    *out = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:I, "
        "s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:b}",
        "file", f->path, "kind", "retrieval", "title", f->about.title, "source", f->about.source,
        "license", f->about.license, "encoder", f->about.encoder, "created", f->created,
        "tool_version", f->tool_version, "content_sha256", f->stored_sha256, "queries",
        (json_int_t)info->n[HN_QUERIES], "passages", (json_int_t)info->n[HN_CORPUS], "dims",
        (json_int_t)f->d, "dtype", f->dtype, "normalized", f->normalized, "steps",
        (json_int_t)f->steps, "qrels", qrels_object(&info->qrels), "truth",
        qrels_object(&info->truth), "equal_queries", count_or_null(equal[HN_QUERIES]),
        "equal_passages", count_or_null(equal[HN_CORPUS]), "teacher_dims",
        (json_int_t)info->teacher_d, "scored_pairs",
        (json_int_t)(info->scores.start ? info->scores.start[info->n[HN_QUERIES]] : 0),
        "query_texts", info->has_text[HN_QUERIES], "passage_texts", info->has_text[HN_CORPUS]);
    return HN_OK;
}
