// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a claim file (plots/paper/*.yaml): a mapping of `paper` and `entries`. Every key is
// checked; what is wrong is named with its line and column. The format is described in
// docs/reference/claims.md.
#include "core/options/yaml_file.h"
#include "core/text.h"
#include "harness/claims/claims.h"
#include "harness/job/fields.h"
#include "harness/job/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hn_verdicts[] = {"holds",      "fails",         "inconclusive",
                                   "not tested", "not corrected", NULL};
const char *const hn_claim_tests[] = {"above", "below",  "equal", "rises",       "falls",
                                      "bound", "sooner", "slope", "slope-below", NULL};
const char *const hn_claim_kinds[] = {"snapshots", "training", "listed", NULL};
const char *const hn_claim_owners[] = {"claim", "identity", "ours", NULL};
static const char *const step_names[] = {"all", "trained", "first", "last", "start", "end", NULL};
static const char *const as_names[] = {"value", "difference", "ratio", "reduction", NULL};
static const char *const needs_names[] = {"data",    "code", "encoder", "method",
                                          "machine", "look", NULL};
static const char *const needs_texts[] = {
    [HN_NEEDS_DATA] = "needs data: ",
    [HN_NEEDS_CODE] = "needs code: ",
    [HN_NEEDS_ENCODER] = "needs a pretrained encoder: ",
    [HN_NEEDS_METHOD] = "needs other papers' methods: ",
    [HN_NEEDS_MACHINE] = "needs another machine: ",
    [HN_NEEDS_LOOK] = "visual check only: ",
};
static const char *const by_names[] = {"neighbours", "ends", NULL};
static const char *const prefer_names[] = {"items", "steps", NULL};

// Rows of a table of fields: `type` is the struct.
#define NAMED(type, field, name_)                                                                  \
    .option = {.name = (name_), .kind = HN_OPTION_TEXT, .offset = offsetof(type, field)}
#define TEXT(type, field) NAMED(type, field, #field)
#define REAL(type, field, start) .option = {HN_REAL_OPTION(type, field, #field, start, 0, 0, NULL)}
#define FLAG(type, field) .option = {HN_BOOL_OPTION(type, field, #field, NULL, NULL)}
#define CHOICE(type, field, name, start, list)                                                     \
    .option = {HN_CHOICE_OPTION(type, field, name, start, list, NULL)}
#define TEXTS(type, field, n)                                                                      \
    HN_LIST_FIELD(HN_OPTION_TEXT, const char *, type, field, n, #field, NULL,                      \
                  .metavar = "a value or a list of values")
#define GROUPS(type, field, n, name_, of_)                                                         \
    .kind = HN_FIELD_GROUPS, .of = &(of_), .count = offsetof(type, n),                             \
    .option = {.name = (name_), .offset = offsetof(type, field)}

static enum hn_code read_rows(struct hn_context *ctx, const struct hn_yaml *rows, void *out) {
    struct hn_claim_side *side = out;
    if (!rows)
        return HN_OK;
    if (rows->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, rows, "'rows' is a mapping of columns to values");
    if (rows->count / 2 > HN_CLAIM_FILTERS)
        return hn_yaml_fail(ctx, rows, "'rows' has %lld columns, and %d are possible",
                            (long long)rows->count / 2, HN_CLAIM_FILTERS);
    if (!HN_ZALLOC(ctx, side->filter, rows->count / 2))
        return ctx->code;
    int64_t combinations = 1;
    for (const struct hn_yaml *key = rows->first; key; key = key->next->next) {
        struct hn_claim_filter *f = &side->filter[side->filters++];
        const struct hn_option option = {
            .name = key->text, .kind = HN_OPTION_TEXT, .metavar = "a value or a list of values"};
        struct hn_list list;
        f->column = key->text;
        enum hn_code code = hn_list_read(ctx, &option, NULL, key->next, &list);
        memcpy(&f->value, &list.item, sizeof list.item);
        f->values = list.count;
        if (code)
            return code;
        if (f->values > HN_CLAIM_COMBINATIONS / combinations)
            return hn_yaml_fail(ctx, key->next,
                                "the values of 'rows' have more than %d combinations",
                                HN_CLAIM_COMBINATIONS);
        combinations *= f->values;
    }
    return HN_OK;
}

static const struct hn_field side_fields[] = {
    {TEXT(struct hn_claim_side, table)},
    {TEXT(struct hn_claim_side, column)},
    {REAL(struct hn_claim_side, factor, "1")},
    {REAL(struct hn_claim_side, value, NULL)},
    {CHOICE(struct hn_claim_side, steps, "steps", NULL, step_names)},
    {.kind = HN_FIELD_OWN, .option = {.name = "rows"}, .read = read_rows},
    {0}};
static const struct hn_fields side_table = {side_fields, .size = sizeof(struct hn_claim_side)};

static const struct hn_field published_fields[] = {
    {TEXT(struct hn_claim_published, series), .required = true},
    {TEXT(struct hn_claim_published, x), .required = true},
    {0}};
static const struct hn_fields published_table = {published_fields,
                                                 .size = sizeof(struct hn_claim_published)};

// "gap", "pos_prob - pos_prob_global" or "loss_mean + 20 * loss_sd": the text is cut in place.
static enum hn_code split_column(struct hn_context *ctx, const struct hn_yaml *node,
                                 struct hn_claim_side *side) {
    static const char *const form = "'column' is a column, or two with + - * / between: a - b, "
                                    "a + 20 * b";
    char *word[6], *rest = side->column, *end;
    int words = 0;
    side->times = 1;
    if (!strchr(rest, ' '))
        return HN_OK;
    while (words < 6 && (word[words] = strsep(&rest, " ")) != NULL)
        words++;
    bool good = (words == 3 || words == 5) && strlen(word[1]) == 1 && strchr("+-*/", *word[1]);
    if (!good)
        return hn_yaml_fail(ctx, node, "%s", form);
    side->op = *word[1];
    side->with = word[words - 1];
    if (words == 5) {
        side->times = strtod(word[2], &end);
        if (*end || end == word[2] || strcmp(word[3], "*") != 0)
            return hn_yaml_fail(ctx, node, "%s", form);
    }
    return HN_OK;
}

// node: NULL where it is not given; a column that it leaves out is that of `left`.
static enum hn_code finish_side(struct hn_context *ctx, const struct hn_yaml *node,
                                const struct hn_yaml *left, const char *table, const char *column,
                                struct hn_claim_side *side) {
    const struct hn_yaml *at = hn_yaml_value(node, "column");
    side->given = node;
    if (!hn_yaml_value(node, "steps"))
        side->steps = -1;
    if (!side->table && !(side->table = hn_strdup(ctx, table)))
        return ctx->code;
    if (!side->column && !(side->column = hn_strdup(ctx, column)))
        return ctx->code;
    return split_column(ctx, at ? at : hn_yaml_value(left, "column"), side);
}

// Fills keys that the second side omits from the first.
static enum hn_code finish_sides(struct hn_context *ctx, const struct hn_yaml *map,
                                 struct hn_claim_side *of, struct hn_claim_side *than) {
    const struct hn_yaml *left = hn_yaml_value(map, "of"), *right = hn_yaml_value(map, "than");
    if (!of->column)
        return hn_yaml_fail(ctx, left, "'of' names no 'column'");
    const char *table = of->table && right ? of->table : "runs";
    if (finish_side(ctx, right, left, table, of->column, than))
        return ctx->code;
    return finish_side(ctx, left, left, "runs", of->column, of);
}

static enum hn_code check_test(struct hn_context *ctx, const struct hn_yaml *map,
                               const struct hn_claim *c) {
    bool pair = c->test == HN_TEST_ABOVE || c->test == HN_TEST_BELOW || c->test == HN_TEST_EQUAL ||
                c->test == HN_TEST_BOUND || c->test == HN_TEST_SOONER;
    bool series = c->test == HN_TEST_RISES || c->test == HN_TEST_FALLS;
    if ((pair || hn_claim_is_slope(c->test)) && !c->than.given)
        return hn_yaml_fail(ctx, map, "test '%s' wants 'than'", hn_claim_tests[c->test]);
    if (!pair && !c->along)
        return hn_yaml_fail(ctx, map, "test '%s' wants 'along'", hn_claim_tests[c->test]);
    if (series && c->than.given)
        return hn_yaml_fail(ctx, map, "test '%s' has no 'than'", hn_claim_tests[c->test]);
    if (c->test == HN_TEST_SOONER && !isnan(c->than.value))
        return hn_yaml_fail(ctx, map, "test 'sooner' wants rows to compare with, not a value");
    if (hn_claim_is_slope(c->test) && isnan(c->than.value))
        return hn_yaml_fail(ctx, map, "test '%s' wants a value: than: {value: 1}",
                            hn_claim_tests[c->test]);
    if ((c->test == HN_TEST_EQUAL || c->test == HN_TEST_SLOPE) && !(c->margin + c->within > 0))
        return hn_yaml_fail(ctx, map,
                            "test '%s' wants a 'margin' or 'within': how far apart is equal",
                            hn_claim_tests[c->test]);
    return HN_OK;
}

static enum hn_code check_claim(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    struct hn_claim *c = out;
    c->as = HN_AS_DIFFERENCE;
    if (c->n_each > HN_CLAIM_EACH)
        return hn_yaml_fail(ctx, hn_yaml_value(map, "each"),
                            "'each' has %lld columns, and %d are possible", (long long)c->n_each,
                            HN_CLAIM_EACH);
    return finish_sides(ctx, map, &c->of, &c->than) ? ctx->code : check_test(ctx, map, c);
}

static const struct hn_field claim_fields[] = {
    {TEXT(struct hn_claim, name), .required = true},
    {TEXT(struct hn_claim, statement), .required = true},
    {CHOICE(struct hn_claim, test, "test", NULL, hn_claim_tests), .required = true},
    {CHOICE(struct hn_claim, owner, "kind", NULL, hn_claim_owners)},
    {CHOICE(struct hn_claim, steps, "steps", NULL, step_names)},
    {CHOICE(struct hn_claim, ends, "by", NULL, by_names)},
    {TEXT(struct hn_claim, along)},
    {FLAG(struct hn_claim, exact)},
    {REAL(struct hn_claim, margin, "0")},
    {REAL(struct hn_claim, within, "0")},
    {REAL(struct hn_claim, tolerance, "0")},
    {HN_GROUP_FIELD(struct hn_claim, of, "of", side_table), .required = true},
    {HN_GROUP_FIELD(struct hn_claim, than, "than", side_table)},
    {TEXTS(struct hn_claim, each, n_each)},
    {HN_GROUP_FIELD(struct hn_claim, published, "published", published_table)},
    {0}};
static const struct hn_fields claim_table = {claim_fields, .size = sizeof(struct hn_claim),
                                             .check = check_claim};

static enum hn_code check_level(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    struct hn_claim *l = out;
    if (!l->unit && !(l->unit = hn_strdup(ctx, "")))
        return ctx->code;
    if (finish_sides(ctx, map, &l->of, &l->than))
        return ctx->code;
    if (l->as != HN_AS_VALUE && !l->than.given)
        return hn_yaml_fail(ctx, map, "a level as %s wants 'than'", as_names[l->as]);
    return HN_OK;
}

static const struct hn_field level_fields[] = {
    {NAMED(struct hn_claim, name, "what"), .required = true},
    {TEXT(struct hn_claim, unit)},
    {CHOICE(struct hn_claim, as, "as", NULL, as_names)},
    {CHOICE(struct hn_claim, steps, "steps", "last", step_names)},
    {FLAG(struct hn_claim, exact)},
    {REAL(struct hn_claim, scale, "1")},
    {HN_GROUP_FIELD(struct hn_claim, of, "of", side_table), .required = true},
    {HN_GROUP_FIELD(struct hn_claim, than, "than", side_table)},
    {HN_GROUP_FIELD(struct hn_claim, published, "published", published_table)},
    {0}};
static const struct hn_fields level_table = {level_fields, .size = sizeof(struct hn_claim),
                                             .check = check_level};

// As many as --seeds takes; 0: as the effort says.
#define SEEDS(field)                                                                               \
    .option = {HN_REAL_OPTION(struct hn_claim_job, field, #field, "0", 0, 100, NULL)}
static const struct hn_field claim_job_fields[] = {
    {TEXT(struct hn_claim_job, job), .required = true},
    {FLAG(struct hn_claim_job, labels)},
    {FLAG(struct hn_claim_job, views)},
    {FLAG(struct hn_claim_job, features)},
    {FLAG(struct hn_claim_job, one_seed)},
    {FLAG(struct hn_claim_job, each_seed)},
    {FLAG(struct hn_claim_job, last_step)},
    {FLAG(struct hn_claim_job, epoch)},
    {REAL(struct hn_claim_job, steps, "0")},
    {REAL(struct hn_claim_job, items, "0")},
    {CHOICE(struct hn_claim_job, prefer, "prefer", NULL, prefer_names)},
    {SEEDS(seeds)},
    {SEEDS(quick_seeds)},
    {SEEDS(full_seeds)},
    {TEXTS(struct hn_claim_job, data, n_data)},
    {TEXTS(struct hn_claim_job, set, n_set)},
    {TEXTS(struct hn_claim_job, quick, n_quick)},
    {TEXTS(struct hn_claim_job, full, n_full)},
    {0}};
static const struct hn_fields job_table = {claim_job_fields, .size = sizeof(struct hn_claim_job)};

static enum hn_code check_cost(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    const struct hn_claim_cost *c = out;
    if (c->items < 2 || c->items > 1e8 || c->dims < 1 || c->dims > 65536 || c->batch < 2 ||
        c->batch > c->items || c->reps < 1 || c->reps > 1000)
        return hn_yaml_fail(ctx, map, "items, dims, batch or reps out of range");
    if (strcmp(c->entries, "normal") != 0 && strcmp(c->entries, "uniform") != 0)
        return hn_yaml_fail(ctx, map, "'entries' is normal or uniform, not %.*s",
                            hn_yaml_clip(c->entries), c->entries);
    return HN_OK;
}

static const struct hn_field cost_fields[] = {
    {TEXT(struct hn_claim_cost, name), .required = true},
    {TEXT(struct hn_claim_cost, sampler), .required = true},
    {.option = {.name = "entries",
                .kind = HN_OPTION_TEXT,
                .initial = "normal",
                .offset = offsetof(struct hn_claim_cost, entries)}},
    {REAL(struct hn_claim_cost, items, NULL), .required = true},
    {REAL(struct hn_claim_cost, dims, NULL), .required = true},
    {REAL(struct hn_claim_cost, batch, NULL), .required = true},
    {REAL(struct hn_claim_cost, reps, "3")},
    {FLAG(struct hn_claim_cost, full)},
    {0}};
static const struct hn_fields cost_table = {cost_fields, .size = sizeof(struct hn_claim_cost),
                                            .check = check_cost};

static enum hn_code check_entry(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    const struct hn_claim_entry *e = out;
    if (e->kind == HN_KIND_LISTED && !e->missing == !e->as)
        return hn_yaml_fail(ctx, map,
                            "a listed entry says what is 'missing', or is the same 'as' another");
    return HN_OK;
}

static const struct hn_field entry_fields[] = {
    {TEXT(struct hn_claim_entry, id), .required = true},
    {TEXT(struct hn_claim_entry, title), .required = true},
    {TEXT(struct hn_claim_entry, source), .required = true},
    {CHOICE(struct hn_claim_entry, kind, "kind", NULL, hn_claim_kinds)},
    {TEXT(struct hn_claim_entry, missing)},
    {CHOICE(struct hn_claim_entry, needs, "needs", NULL, needs_names)},
    {TEXT(struct hn_claim_entry, on)},
    {TEXT(struct hn_claim_entry, as)},
    {TEXT(struct hn_claim_entry, statement)},
    {FLAG(struct hn_claim_entry, no_encoder)},
    {GROUPS(struct hn_claim_entry, job, jobs, "jobs", job_table)},
    {GROUPS(struct hn_claim_entry, cost, costs, "costs", cost_table)},
    {GROUPS(struct hn_claim_entry, claim, claims, "claims", claim_table)},
    {GROUPS(struct hn_claim_entry, level, levels, "levels", level_table)},
    {0}};
static const struct hn_fields entry_table = {entry_fields, .size = sizeof(struct hn_claim_entry),
                                             .check = check_entry};

struct hn_phrase hn_claim_coverage(const struct hn_claim_entry *e) {
    struct hn_phrase coverage;
    const char *what = e->as ? e->as : e->missing ? e->missing : e->on;
    hn_put_text(coverage.text, sizeof coverage.text, "%s%s",
                e->as        ? "as "
                : e->missing ? needs_texts[e->needs]
                : e->on      ? "on other data: "
                             : "covered",
                what ? what : "");
    return coverage;
}

static enum hn_code check_book(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    struct hn_claim_book *book = out;
    for (int64_t i = 0; i < book->entries; i++) {
        book->entry[i].paper = book->paper;
        for (int64_t j = 0; j < i; j++)
            if (strcmp(book->entry[i].id, book->entry[j].id) == 0)
                return hn_yaml_fail(ctx, map, "two entries are called '%s'", book->entry[i].id);
    }
    return HN_OK;
}

static const struct hn_field book_fields[] = {
    {TEXT(struct hn_claim_book, paper), .required = true},
    {GROUPS(struct hn_claim_book, entry, entries, "entries", entry_table), .required = true},
    {0}};
static const struct hn_fields book_table = {book_fields, .size = sizeof(struct hn_claim_book),
                                            .check = check_book};

enum hn_code hn_claims_read(struct hn_context *ctx, const char *name, const char *text,
                            struct hn_claim_book *out) {
    struct hn_yaml *root;
    *out = (struct hn_claim_book){.paper = NULL};
    return (text ? hn_yaml_read_text(ctx, "claim file", name, text, (int64_t)strlen(text), &root)
                 : hn_yaml_read(ctx, "claim file", name, NULL, &root)) ||
                   hn_fields_read(ctx, &book_table, root, out)
               ? ctx->code
               : HN_OK;
}
