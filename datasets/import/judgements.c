// Judged pairs of TREC and BEIR, and scores of pairs.
#include "datasets/import/collection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 6 };

// Cuts a line at tabs if it has any, so that ids may hold blanks, else at blanks. Returns the
// number of fields, of which at most FIELDS_MAX are set.
static int cut(char *line, char *field[FIELDS_MAX]) {
    bool tabs = strchr(line, '\t') != NULL;
    char *word;
    int n = 0;
    while ((word = strsep(&line, tabs ? "\t" : " "))) {
        if (!tabs && !*word)
            continue; // several blanks
        if (n < FIELDS_MAX)
            field[n] = word;
        n++;
    }
    return n;
}

static bool is_grade(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && errno == 0 && *value >= HN_GRADE_MIN && *value <= HN_GRADE_MAX;
}

static bool is_score(const char *text, float *value) {
    char *end;
    *value = strtof(text, &end);
    return end != text && !*end && isfinite(*value);
}

// A file in work. Each line has a query, a passage and a value; `trec`: with other columns.
struct table {
    struct hn_lines lines;
    const struct hn_collection *side;
    enum hn_unknown unknown;
    bool scores;
    int n_fields; // of a line
    int64_t skipped;
};

// Number of the columns of passage and value among n; false: no table has so many.
static bool columns_of(const struct table *t, int n, int *passage, int *value) {
    int others = t->scores ? 6 : 4;
    if (n != 3 && n != others)
        return false;
    *passage = n == 3 ? 1 : 2;
    *value = n == 3 ? 2 : t->scores ? 4 : 3;
    return true;
}

// The index of an id of a side; -1 where it is unknown and that is allowed.
static enum hn_code find_id(struct hn_context *ctx, struct table *t, enum hn_set side,
                            const char *id, int64_t *found) {
    static const char *const what[] = {"query", "passage"}, *const option[] = {"query-ids",
                                                                               "corpus-ids"};
    const struct hn_collection *c = &t->side[side];
    *found = hn_string_find(&c->index, id);
    if (*found >= 0 || t->unknown == HN_UNKNOWN_SKIP)
        return HN_OK;
    if (c->from)
        return hn_line_fail(ctx, &t->lines.at,
                            "the id %.60s of a %s is not in %s; --unknown skip leaves out such "
                            "lines",
                            id, what[side], c->from);
    return hn_line_fail(
        ctx, &t->lines.at,
        "the id %.60s of a %s is not a row from 0 to %lld; name the ids of the rows "
        "with --%s",
        id, what[side], (long long)c->n - 1, option[side]);
}

// True if a first line names columns: its value is no number, and not both of its ids are known.
static bool is_header(const struct table *t, char *const *field, int passage, int value) {
    char *end;
    (void)strtod(field[value], &end);
    return (end == field[value] || *end) &&
           (hn_string_find(&t->side[HN_QUERIES].index, field[0]) < 0 ||
            hn_string_find(&t->side[HN_CORPUS].index, field[passage]) < 0);
}

// The next pair and the text of its value; *value = NULL at the end.
static enum hn_code next_pair(struct hn_context *ctx, struct table *t, int64_t pair[HN_SETS],
                              const char **value) {
    char *line, *field[FIELDS_MAX];
    int at_passage, at_value;
    int64_t grade;
    float score;
    for (*value = NULL;;) {
        if (hn_lines_next(ctx, &t->lines, &line))
            return ctx->code;
        if (!line)
            return HN_OK;
        if (!line[strspn(line, " \t")])
            continue;
        int n = cut(line, field);
        if (!columns_of(t, n, &at_passage, &at_value) || (t->n_fields && n != t->n_fields))
            return hn_line_fail(ctx, &t->lines.at,
                                "has %d columns; wanted are query, passage and %s, or the %d of "
                                "TREC's, between tabs or blanks, alike on all lines",
                                n, t->scores ? "score" : "grade", t->scores ? 6 : 4);
        bool good =
            t->scores ? is_score(field[at_value], &score) : is_grade(field[at_value], &grade);
        if (!good && t->n_fields == 0 && t->lines.at.number == 1 &&
            is_header(t, field, at_passage, at_value)) {
            t->n_fields = n;
            continue;
        }
        t->n_fields = n;
        if (!good)
            return hn_line_fail(ctx, &t->lines.at, "%.60s is not %s", field[at_value],
                                t->scores ? "a finite number" : "an integer from -32768 to 32767");
        if (find_id(ctx, t, HN_QUERIES, field[0], &pair[HN_QUERIES]) ||
            find_id(ctx, t, HN_CORPUS, field[at_passage], &pair[HN_CORPUS]))
            return ctx->code;
        if (pair[HN_QUERIES] >= 0 && pair[HN_CORPUS] >= 0) {
            *value = field[at_value];
            return HN_OK;
        }
        t->skipped++;
    }
}

// Judgements in the order of the file; of scores the grades are their positions in *score.
static enum hn_code read_pairs(struct hn_context *ctx, struct table *t, struct hn_judgement **list,
                               int64_t *count, float **score) {
    int64_t pair[HN_SETS], capacity = 0, score_capacity = 0, grade = 0;
    const char *value;
    *list = NULL;
    *count = 0;
    for (;;) {
        if (next_pair(ctx, t, pair, &value))
            return ctx->code;
        if (!value)
            return HN_OK;
        if (hn_grow(ctx, list, &capacity, *count + 1, sizeof **list) ||
            (score && hn_grow(ctx, score, &score_capacity, *count + 1, sizeof **score)))
            return ctx->code;
        if (score && *count == INT32_MAX)
            return hn_line_fail(ctx, &t->lines.at, "is one pair too many: 2^31 - 1 are read");
        if (score)
            (void)is_score(value, &(*score)[*count]);
        else
            (void)is_grade(value, &grade);
        (*list)[*count] = (struct hn_judgement){(int32_t)pair[HN_QUERIES], (int32_t)pair[HN_CORPUS],
                                                score ? (int32_t)*count : (int32_t)grade};
        ++*count;
    }
}

static enum hn_code read_table(struct hn_context *ctx, const char *path, struct table *t,
                               struct hn_qrels *out, float **score) {
    struct hn_judgement *list = NULL;
    int64_t count = 0;
    enum hn_code code = hn_lines_open(ctx, path, &t->lines);
    if (code == HN_OK)
        code = read_pairs(ctx, t, &list, &count, score);
    hn_lines_close(&t->lines);
    if (code == HN_OK && count == 0)
        code =
            hn_fail(ctx, HN_DATA, "%s: %s", path,
                    t->skipped ? "no line has ids of which both are rows; are they those of this "
                                 "corpus?"
                               : "holds no pair");
    if (code == HN_OK)
        code = hn_qrels_build(ctx, list, count, t->side[HN_QUERIES].n, out);
    int64_t again = code ? 0 : count - out->start[out->n];
    if (again > 0)
        hn_note(ctx, "%s: %lld line%s of a pair that a later line has, too, whose %s counts", path,
                (long long)again, again == 1 ? " is" : "s are", t->scores ? "score" : "grade");
    hn_free(ctx, list);
    return code;
}

enum hn_code hn_judgements_read(struct hn_context *ctx, const char *path,
                                const struct hn_collection side[HN_SETS], enum hn_unknown unknown,
                                struct hn_qrels *out, int64_t *skipped) {
    struct table t = {.side = side, .unknown = unknown};
    enum hn_code code = read_table(ctx, path, &t, out, NULL);
    *skipped = t.skipped;
    return code;
}

enum hn_code hn_pair_scores_read(struct hn_context *ctx, const char *path,
                                 const struct hn_collection side[HN_SETS], enum hn_unknown unknown,
                                 struct hn_pair_scores *out, int64_t *skipped) {
    struct table t = {.side = side, .unknown = unknown, .scores = true};
    struct hn_qrels q;
    float *score = NULL;
    enum hn_code code = read_table(ctx, path, &t, &q, &score);
    *skipped = t.skipped;
    if (code)
        return code;
    int64_t pairs = q.start[q.n];
    *out = (struct hn_pair_scores){q.start, q.passage, hn_alloc(ctx, pairs, sizeof *out->score)};
    for (int64_t e = 0; out->score && e < pairs; e++)
        out->score[e] = score[q.grade[e]]; // of the last line where a pair is given twice
    hn_free(ctx, q.grade);
    hn_free(ctx, score);
    return out->score ? HN_OK : ctx->code;
}
