// SPDX-License-Identifier: GPL-3.0-or-later
// Judged pairs of TREC and BEIR, and scores of pairs.
#include "core/real_text.h"
#include "core/text.h"
#include "datasets/import/collection.h"
#include "datasets/import/lines.h"

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

// Whole numbers; tables that went through floats have 1.0.
static bool is_grade(const char *text, int64_t *value) {
    char *end;
    double grade = strtod(text, &end);
    bool good = end != text && !*end && !hn_is_hex(text) && grade == trunc(grade) &&
                grade >= HN_GRADE_MIN && grade <= HN_GRADE_MAX;
    *value = good ? (int64_t)grade : 0;
    return good;
}

static bool is_score(const char *text, float *value) {
    char *end;
    *value = strtof(text, &end);
    return end != text && !*end && !hn_is_hex(text) && isfinite(*value);
}

// A file in work. Each line has a query, a passage and a value; TREC's have columns besides.
struct table {
    struct hn_lines lines;
    const struct hn_collection *side;
    enum hn_unknown unknown;
    bool scores;
    int n_fields;              // of a line, 0: none was read
    struct hn_judgement *list; // [count] in the order of the file; of scores grades are positions
    float *score;              // [count]
    int64_t count, capacity, score_capacity, skipped;
};

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
                            "the id %s of a %s is not in %s; --unknown skip (in a job: unknown: "
                            "skip) leaves out such lines",
                            hn_quote(id).text, what[side], c->from);
    return hn_line_fail(ctx, &t->lines.at,
                        "the id %s of a %s is not a row from 0 to %lld; name the ids of the rows "
                        "with --%s",
                        hn_quote(id).text, what[side], (long long)c->n - 1, option[side]);
}

// True if a first line names columns: its value is no number, and not both of its ids are known.
static bool is_header(const struct table *t, char *const *field, int passage, int value) {
    char *end;
    (void)strtod(field[value], &end);
    return (end == field[value] || *end) &&
           (hn_string_find(&t->side[HN_QUERIES].index, field[0]) < 0 ||
            hn_string_find(&t->side[HN_CORPUS].index, field[passage]) < 0);
}

static enum hn_code add_pair(struct hn_context *ctx, struct table *t, const int64_t *pair,
                             int64_t grade, float score) {
    if (hn_grow(ctx, &t->list, &t->capacity, t->count + 1, sizeof *t->list) ||
        (t->scores && hn_grow(ctx, &t->score, &t->score_capacity, t->count + 1, sizeof *t->score)))
        return ctx->code;
    if (t->scores && t->count == INT32_MAX)
        return hn_line_fail(ctx, &t->lines.at, "is one pair too many: 2^31 - 1 are read");
    if (t->scores)
        t->score[t->count] = score;
    t->list[t->count++] =
        (struct hn_judgement){(int32_t)pair[HN_QUERIES], (int32_t)pair[HN_CORPUS], (int32_t)grade};
    return HN_OK;
}

static enum hn_code take_line(struct hn_context *ctx, struct table *t, char *line) {
    char *field[FIELDS_MAX];
    int n = cut(line, field), trec = t->scores ? 6 : 4;
    int at_passage = n == 3 ? 1 : 2, at_value = n == 3 ? 2 : t->scores ? 4 : 3;
    int64_t pair[HN_SETS], grade = t->count;
    float score = 0;
    if (t->scores && n > trec) // a run's tag may hold blanks
        n = trec;
    if ((n != 3 && n != trec) || (t->n_fields && n != t->n_fields))
        return hn_line_fail(ctx, &t->lines.at,
                            "has %s; wanted are query, passage and %s, or the %d of "
                            "TREC's, between tabs or blanks, alike on all lines",
                            hn_counted(n, "column").text, t->scores ? "score" : "grade", trec);
    bool first = t->n_fields == 0 && t->lines.at.number == 1;
    bool good = t->scores ? is_score(field[at_value], &score) : is_grade(field[at_value], &grade);
    t->n_fields = n;
    if (!good && first && is_header(t, field, at_passage, at_value))
        return HN_OK;
    if (!good)
        return hn_line_fail(ctx, &t->lines.at, "%s is not %s", hn_quote(field[at_value]).text,
                            t->scores ? "a finite number" : "an integer from -32768 to 32767");
    if (find_id(ctx, t, HN_QUERIES, field[0], &pair[HN_QUERIES]) ||
        find_id(ctx, t, HN_CORPUS, field[at_passage], &pair[HN_CORPUS]))
        return ctx->code;
    bool known = pair[HN_QUERIES] >= 0 && pair[HN_CORPUS] >= 0;
    t->skipped += !known;
    return known ? add_pair(ctx, t, pair, grade, score) : HN_OK;
}

// The lines of a file into t->list, and a note of those whose pair a later line has.
static enum hn_code read_table(struct hn_context *ctx, const char *path, struct table *t) {
    char *line;
    enum hn_code code = hn_lines_open(ctx, path, &t->lines);
    while (!code && !(code = hn_lines_next(ctx, &t->lines, &line)) && line)
        if (line[strspn(line, " \t")])
            code = take_line(ctx, t, line);
    code = hn_lines_end(ctx, &t->lines, code);
    if (code == HN_OK && t->count == 0)
        code =
            hn_fail(ctx, HN_DATA, "%s: %s", path,
                    t->skipped ? "no line has ids of which both are rows; are they those of this "
                                 "corpus?"
                               : "holds no pair");
    return code;
}

static void note_again(struct hn_context *ctx, const char *path, const struct table *t,
                       int64_t pairs) {
    int64_t again = t->count - pairs;
    if (again > 0)
        hn_note(ctx, "%s: %lld line%s of a pair that a later line has, too, whose %s counts", path,
                (long long)again, again == 1 ? " is" : "s are", t->scores ? "score" : "grade");
}

const char *const hn_unknown_name[] = {"refuse", "skip", NULL};

void hn_note_skipped(struct hn_context *ctx, const char *path, int64_t skipped) {
    if (skipped > 0)
        hn_note(ctx, "%s: %s left out, with an id that is unknown", path,
                hn_counted(skipped, "line").text);
}

enum hn_code hn_judgements_read(struct hn_context *ctx, const char *path,
                                const struct hn_collection side[HN_SETS], enum hn_unknown unknown,
                                struct hn_qrels *out, int64_t *skipped) {
    struct table t = {.side = side, .unknown = unknown};
    int64_t n = side[HN_QUERIES].n;
    enum hn_code code = read_table(ctx, path, &t);
    code = code ? code : hn_qrels_build(ctx, t.list, t.count, n, out);
    if (!code)
        note_again(ctx, path, &t, out->start[n]);
    hn_free(ctx, t.list);
    *skipped = t.skipped;
    return code;
}

enum hn_code hn_pair_scores_read(struct hn_context *ctx, const char *path,
                                 const struct hn_collection side[HN_SETS], enum hn_unknown unknown,
                                 struct hn_pair_scores *out, int64_t *skipped) {
    struct table t = {.side = side, .unknown = unknown, .scores = true};
    int64_t n = side[HN_QUERIES].n;
    enum hn_code code = read_table(ctx, path, &t);
    code = code ? code : hn_pair_scores_build(ctx, t.list, t.count, n, t.score, out);
    if (!code)
        note_again(ctx, path, &t, out->start[n]);
    hn_free(ctx, t.list);
    hn_free(ctx, t.score);
    *skipped = t.skipped;
    return code;
}
