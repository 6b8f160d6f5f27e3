// Reads a claim file (plots/paper/*.yaml): a mapping of `paper` and `entries`. Every key is
// checked; what is wrong is named with its line and column. The format is described in
// docs/reference/claims.md.
#include "harness/claims/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hn_verdicts[] = {"holds", "fails", "inconclusive", "not tested", NULL};
const char *const hn_claim_tests[] = {"above", "below",  "equal", "rises", "falls",
                                      "bound", "sooner", "slope", NULL};
const char *const hn_claim_kinds[] = {"snapshots", "training", "listed", NULL};
static const char *const step_names[] = {"all", "trained", "first", "last", "start", "end", NULL};
static const char *const as_names[] = {"value", "difference", "ratio", "reduction", NULL};
static const char *const by_names[] = {"neighbours", "ends", NULL};
static const char *const prefer_names[] = {"items", "steps", NULL};

enum field_kind { TEXT, REAL, FLAG, CHOICE, NESTED };

// A key of a mapping. NESTED ones are parsed by the caller.
struct field {
    const char *name;
    enum field_kind kind;
    bool required;
    size_t offset;
    const char *const *choices;
};

static enum hn_code set_real(struct hn_context *ctx, const struct hn_yaml *value, const char *name,
                             double *out) {
    char *end;
    *out = strtod(value->text, &end);
    if (value->kind != HN_YAML_SCALAR || !value->plain || end == value->text || *end)
        return hn_yaml_fail(ctx, value, "'%s' wants a number", name);
    return HN_OK;
}

static enum hn_code set_choice(struct hn_context *ctx, const struct hn_yaml *value,
                               const struct field *f, void *out) {
    struct hn_names names = {.n = 0};
    for (int i = 0; f->choices[i]; i++) {
        if (strcmp(value->text, f->choices[i]) == 0) {
            memcpy(out, &i, sizeof i);
            return HN_OK;
        }
        hn_names_add(&names, f->choices[i]);
    }
    return hn_yaml_fail_unknown(ctx, value, f->name, &names);
}

static enum hn_code set_flag(struct hn_context *ctx, const struct hn_yaml *value, const char *name,
                             bool *out) {
    *out = strcmp(value->text, "true") == 0;
    if (!*out && strcmp(value->text, "false") != 0)
        return hn_yaml_fail(ctx, value, "'%s' is true or false", name);
    return HN_OK;
}

static enum hn_code set_field(struct hn_context *ctx, const struct hn_yaml *value,
                              const struct field *f, char *base) {
    void *out = base + f->offset;
    if (f->kind == NESTED)
        return HN_OK;
    if (value->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, value, "'%s' wants one value, not %s", f->name,
                            hn_yaml_kind_name(value));
    switch (f->kind) {
    case REAL: return set_real(ctx, value, f->name, out);
    case FLAG: return set_flag(ctx, value, f->name, out);
    case CHOICE: return set_choice(ctx, value, f, out);
    default: *(const char **)out = value->text; return HN_OK;
    }
}

static const struct field *find_field(const struct field *fields, const char *name) {
    while (fields->name && strcmp(fields->name, name) != 0)
        fields++;
    return fields->name ? fields : NULL;
}

// Sets the fields of `base` that the mapping gives.
static enum hn_code read_fields(struct hn_context *ctx, const struct hn_yaml *map, const char *what,
                                const struct field *fields, void *base) {
    struct hn_names names = {.n = 0};
    if (map->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, map, "%s is a mapping of keys, not %s", what,
                            hn_yaml_kind_name(map));
    for (const struct field *f = fields; f->name; f++)
        hn_names_add(&names, f->name);
    for (const struct hn_yaml *key = map->first; key; key = key->next->next) {
        const struct field *f = find_field(fields, key->text);
        if (!f)
            return hn_yaml_fail_unknown(ctx, key, "key", &names);
        if (set_field(ctx, key->next, f, base))
            return ctx->code;
    }
    for (const struct field *f = fields; f->name; f++)
        if (f->required && !hn_yaml_find(map, f->name))
            return hn_yaml_fail(ctx, map, "%s lacks the key '%s'", what, f->name);
    return HN_OK;
}

static const struct hn_yaml *value_of(const struct hn_yaml *map, const char *key) {
    const struct hn_yaml *found = hn_yaml_find(map, key);
    return found ? found->next : NULL;
}

// One value or a list of them, as an array of borrowed texts.
static enum hn_code read_texts(struct hn_context *ctx, const struct hn_yaml *value,
                               const char *name, const char ***out, int64_t *n) {
    bool list = value->kind == HN_YAML_LIST;
    const struct hn_yaml *item = list ? value->first : value;
    int64_t count = list ? value->count : 1;
    if (value->kind == HN_YAML_MAP || count == 0)
        return hn_yaml_fail(ctx, value, "'%s' wants a value or a list of values", name);
    *out = hn_alloc(ctx, count, sizeof **out);
    if (!*out)
        return ctx->code;
    for (*n = 0; *n < count; item = item->next) {
        if (item->kind != HN_YAML_SCALAR)
            return hn_yaml_fail(ctx, item, "'%s' wants values, not %s", name,
                                hn_yaml_kind_name(item));
        (*out)[(*n)++] = item->text;
    }
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, const struct hn_yaml *rows,
                              struct hn_claim_side *side) {
    if (rows->kind != HN_YAML_MAP)
        return hn_yaml_fail(ctx, rows, "'rows' is a mapping of columns to values");
    side->filter = hn_zalloc(ctx, rows->count / 2, sizeof *side->filter);
    if (!side->filter)
        return ctx->code;
    for (const struct hn_yaml *key = rows->first; key; key = key->next->next) {
        struct hn_claim_filter *f = &side->filter[side->filters++];
        f->column = key->text;
        if (read_texts(ctx, key->next, key->text, &f->value, &f->values))
            return ctx->code;
    }
    return HN_OK;
}

// "gap", "pos_prob - pos_prob_global" or "loss_mean + 20 * loss_sd": the text is cut in place.
static enum hn_code split_column(struct hn_context *ctx, const struct hn_yaml *node,
                                 struct hn_claim_side *side) {
    static const char *const form = "'column' is a column, or two with + - * / between: a - b, "
                                    "a + 20 * b";
    char *word[6], *rest = (char *)node->text, *end;
    int words = 0;
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

static enum hn_code read_side(struct hn_context *ctx, const struct hn_yaml *node,
                              struct hn_claim_side *side) {
    static const struct field fields[] = {
        {"table", TEXT, false, offsetof(struct hn_claim_side, table), NULL},
        {"column", TEXT, false, offsetof(struct hn_claim_side, column), NULL},
        {"factor", REAL, false, offsetof(struct hn_claim_side, factor), NULL},
        {"value", REAL, false, offsetof(struct hn_claim_side, value), NULL},
        {"steps", CHOICE, false, offsetof(struct hn_claim_side, steps), step_names},
        {"rows", NESTED, false, 0, NULL},
        {.name = NULL}};
    if (!node)
        return HN_OK;
    if (read_fields(ctx, node, "a side of a comparison", fields, side))
        return ctx->code;
    side->given = true;
    const struct hn_yaml *column = value_of(node, "column"), *rows = value_of(node, "rows");
    if (column && split_column(ctx, column, side))
        return ctx->code;
    return rows ? read_rows(ctx, rows, side) : HN_OK;
}

static enum hn_code read_published(struct hn_context *ctx, const struct hn_yaml *map,
                                   const char *key, struct hn_claim_published *out) {
    static const struct field fields[] = {
        {"series", TEXT, true, offsetof(struct hn_claim_published, series), NULL},
        {"x", TEXT, true, offsetof(struct hn_claim_published, x), NULL},
        {.name = NULL}};
    const struct hn_yaml *node = value_of(map, key);
    return node ? read_fields(ctx, node, "'published'", fields, out) : HN_OK;
}

static const struct hn_claim_side empty_side = {
    .table = "runs", .factor = 1, .times = 1, .value = NAN, .steps = -1};

// What the second side leaves out is as in the first.
static void inherit(const struct hn_claim_side *of, struct hn_claim_side *than,
                    const struct hn_yaml *node) {
    if (!than->column) {
        than->column = of->column;
        than->with = of->with;
        than->op = of->op;
        than->times = of->times;
    }
    if (node && !hn_yaml_find(node, "table"))
        than->table = of->table;
}

static enum hn_code read_sides(struct hn_context *ctx, const struct hn_yaml *map,
                               struct hn_claim_side *of, struct hn_claim_side *than) {
    const struct hn_yaml *right = value_of(map, "than");
    *of = *than = empty_side;
    if (read_side(ctx, value_of(map, "of"), of) || read_side(ctx, right, than))
        return ctx->code;
    if (!of->column)
        return hn_yaml_fail(ctx, value_of(map, "of") ? value_of(map, "of") : map,
                            "'of' names no 'column'");
    inherit(of, than, right);
    return HN_OK;
}

static enum hn_code check_claim(struct hn_context *ctx, const struct hn_yaml *map,
                                const struct hn_claim *c) {
    bool pair = c->test == HN_TEST_ABOVE || c->test == HN_TEST_BELOW || c->test == HN_TEST_EQUAL ||
                c->test == HN_TEST_BOUND || c->test == HN_TEST_SOONER;
    bool series = c->test == HN_TEST_RISES || c->test == HN_TEST_FALLS;
    if ((pair || c->test == HN_TEST_SLOPE) && !c->than.given)
        return hn_yaml_fail(ctx, map, "test '%s' wants 'than'", hn_claim_tests[c->test]);
    if (!pair && !c->along)
        return hn_yaml_fail(ctx, map, "test '%s' wants 'along'", hn_claim_tests[c->test]);
    if (series && c->than.given)
        return hn_yaml_fail(ctx, map, "test '%s' has no 'than'", hn_claim_tests[c->test]);
    if (c->test == HN_TEST_SOONER && !isnan(c->than.value))
        return hn_yaml_fail(ctx, map, "test 'sooner' wants rows to compare with, not a value");
    if (c->test == HN_TEST_SLOPE && isnan(c->than.value))
        return hn_yaml_fail(ctx, map, "test 'slope' wants a value: than: {value: 1}");
    if ((c->test == HN_TEST_EQUAL || c->test == HN_TEST_SLOPE) && !(c->margin + c->within > 0))
        return hn_yaml_fail(ctx, map,
                            "test '%s' wants a 'margin' or 'within': how far apart is equal",
                            hn_claim_tests[c->test]);
    return HN_OK;
}

static enum hn_code read_claim(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    static const struct field fields[] = {
        {"name", TEXT, true, offsetof(struct hn_claim, name), NULL},
        {"statement", TEXT, true, offsetof(struct hn_claim, statement), NULL},
        {"test", CHOICE, true, offsetof(struct hn_claim, test), hn_claim_tests},
        {"steps", CHOICE, false, offsetof(struct hn_claim, steps), step_names},
        {"by", CHOICE, false, offsetof(struct hn_claim, ends), by_names},
        {"along", TEXT, false, offsetof(struct hn_claim, along), NULL},
        {"exact", FLAG, false, offsetof(struct hn_claim, exact), NULL},
        {"margin", REAL, false, offsetof(struct hn_claim, margin), NULL},
        {"within", REAL, false, offsetof(struct hn_claim, within), NULL},
        {"tolerance", REAL, false, offsetof(struct hn_claim, tolerance), NULL},
        {"of", NESTED, true, 0, NULL},
        {"than", NESTED, false, 0, NULL},
        {"each", NESTED, false, 0, NULL},
        {"published", NESTED, false, 0, NULL},
        {.name = NULL}};
    struct hn_claim *c = out;
    const struct hn_yaml *each = value_of(map, "each");
    if (read_fields(ctx, map, "a claim", fields, c) || read_sides(ctx, map, &c->of, &c->than) ||
        read_published(ctx, map, "published", &c->published))
        return ctx->code;
    if (each && read_texts(ctx, each, "each", &c->each, &c->n_each))
        return ctx->code;
    return check_claim(ctx, map, c);
}

static enum hn_code read_level(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    static const struct field fields[] = {
        {"what", TEXT, true, offsetof(struct hn_claim_level, what), NULL},
        {"unit", TEXT, false, offsetof(struct hn_claim_level, unit), NULL},
        {"as", CHOICE, false, offsetof(struct hn_claim_level, as), as_names},
        {"steps", CHOICE, false, offsetof(struct hn_claim_level, steps), step_names},
        {"exact", FLAG, false, offsetof(struct hn_claim_level, exact), NULL},
        {"scale", REAL, false, offsetof(struct hn_claim_level, scale), NULL},
        {"of", NESTED, true, 0, NULL},
        {"than", NESTED, false, 0, NULL},
        {"published", NESTED, false, 0, NULL},
        {.name = NULL}};
    struct hn_claim_level *l = out;
    l->scale = 1;
    l->unit = "";
    l->steps = HN_STEPS_LAST;
    if (read_fields(ctx, map, "a level", fields, l) || read_sides(ctx, map, &l->of, &l->than) ||
        read_published(ctx, map, "published", &l->published))
        return ctx->code;
    if (l->as != HN_AS_VALUE && !l->than.given)
        return hn_yaml_fail(ctx, map, "a level as %s wants 'than'", as_names[l->as]);
    return HN_OK;
}

static enum hn_code read_job(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    static const struct field fields[] = {
        {"job", TEXT, true, offsetof(struct hn_claim_job, job), NULL},
        {"labels", FLAG, false, offsetof(struct hn_claim_job, labels), NULL},
        {"views", FLAG, false, offsetof(struct hn_claim_job, views), NULL},
        {"features", FLAG, false, offsetof(struct hn_claim_job, features), NULL},
        {"one_seed", FLAG, false, offsetof(struct hn_claim_job, one_seed), NULL},
        {"each_seed", FLAG, false, offsetof(struct hn_claim_job, each_seed), NULL},
        {"last_step", FLAG, false, offsetof(struct hn_claim_job, last_step), NULL},
        {"steps", REAL, false, offsetof(struct hn_claim_job, steps), NULL},
        {"items", REAL, false, offsetof(struct hn_claim_job, items), NULL},
        {"prefer", CHOICE, false, offsetof(struct hn_claim_job, prefer), prefer_names},
        {"seeds", REAL, false, offsetof(struct hn_claim_job, seeds), NULL},
        {"quick_seeds", REAL, false, offsetof(struct hn_claim_job, quick_seeds), NULL},
        {"full_seeds", REAL, false, offsetof(struct hn_claim_job, full_seeds), NULL},
        {"data", NESTED, false, 0, NULL},
        {"set", NESTED, false, 0, NULL},
        {"quick", NESTED, false, 0, NULL},
        {"full", NESTED, false, 0, NULL},
        {.name = NULL}};
    struct hn_claim_job *j = out;
    const struct list {
        const char *key;
        const char ***text;
        int64_t *n;
    } lists[] = {{"data", &j->data, &j->n_data},
                 {"set", &j->set, &j->n_set},
                 {"quick", &j->quick, &j->n_quick},
                 {"full", &j->full, &j->n_full}};
    if (read_fields(ctx, map, "a job", fields, j))
        return ctx->code;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct hn_yaml *value = value_of(map, lists[i].key);
        if (value && read_texts(ctx, value, lists[i].key, lists[i].text, lists[i].n))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code read_cost(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    static const struct field fields[] = {
        {"name", TEXT, true, offsetof(struct hn_claim_cost, name), NULL},
        {"sampler", TEXT, true, offsetof(struct hn_claim_cost, sampler), NULL},
        {"entries", TEXT, false, offsetof(struct hn_claim_cost, entries), NULL},
        {"items", REAL, true, offsetof(struct hn_claim_cost, items), NULL},
        {"dims", REAL, true, offsetof(struct hn_claim_cost, dims), NULL},
        {"batch", REAL, true, offsetof(struct hn_claim_cost, batch), NULL},
        {"reps", REAL, false, offsetof(struct hn_claim_cost, reps), NULL},
        {"full", FLAG, false, offsetof(struct hn_claim_cost, full), NULL},
        {.name = NULL}};
    struct hn_claim_cost *c = out;
    c->entries = "normal";
    c->reps = 3;
    if (read_fields(ctx, map, "a cost", fields, c))
        return ctx->code;
    if (c->items < 2 || c->items > 1e8 || c->dims < 1 || c->dims > 65536 || c->batch < 2 ||
        c->batch > c->items || c->reps < 1 || c->reps > 1000)
        return hn_yaml_fail(ctx, map, "items, dims, batch or reps out of range");
    return HN_OK;
}

// A list of mappings under `key`, each read by `read` into an array of its own.
static enum hn_code
read_list(struct hn_context *ctx, const struct hn_yaml *map, const char *key, size_t size,
          enum hn_code (*read)(struct hn_context *, const struct hn_yaml *, void *), void *array,
          int64_t *n) {
    const struct hn_yaml *list = value_of(map, key);
    if (!list)
        return HN_OK;
    if (list->kind != HN_YAML_LIST)
        return hn_yaml_fail(ctx, list, "'%s' wants a list, not %s", key, hn_yaml_kind_name(list));
    char *items = hn_zalloc(ctx, list->count, size);
    if (!items)
        return ctx->code;
    memcpy(array, &items, sizeof items);
    for (const struct hn_yaml *item = list->first; item; item = item->next)
        if (read(ctx, item, items + (size_t)(*n)++ * size))
            return ctx->code;
    return HN_OK;
}

static enum hn_code read_entry(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    static const struct field fields[] = {
        {"id", TEXT, true, offsetof(struct hn_claim_entry, id), NULL},
        {"title", TEXT, true, offsetof(struct hn_claim_entry, title), NULL},
        {"source", TEXT, true, offsetof(struct hn_claim_entry, source), NULL},
        {"kind", CHOICE, false, offsetof(struct hn_claim_entry, kind), hn_claim_kinds},
        {"missing", TEXT, false, offsetof(struct hn_claim_entry, missing), NULL},
        {"statement", TEXT, false, offsetof(struct hn_claim_entry, statement), NULL},
        {"jobs", NESTED, false, 0, NULL},
        {"costs", NESTED, false, 0, NULL},
        {"claims", NESTED, false, 0, NULL},
        {"levels", NESTED, false, 0, NULL},
        {.name = NULL}};
    struct hn_claim_entry *e = out;
    if (read_fields(ctx, map, "an entry", fields, e) ||
        read_list(ctx, map, "jobs", sizeof *e->job, read_job, &e->job, &e->jobs) ||
        read_list(ctx, map, "costs", sizeof *e->cost, read_cost, &e->cost, &e->costs) ||
        read_list(ctx, map, "claims", sizeof *e->claim, read_claim, &e->claim, &e->claims) ||
        read_list(ctx, map, "levels", sizeof *e->level, read_level, &e->level, &e->levels))
        return ctx->code;
    if (e->kind == HN_KIND_LISTED && !e->missing)
        return hn_yaml_fail(ctx, map, "a listed entry says what is 'missing'");
    return HN_OK;
}

static enum hn_code read_book(struct hn_context *ctx, struct hn_claim_book *book) {
    static const struct field fields[] = {
        {"paper", TEXT, true, offsetof(struct hn_claim_book, paper), NULL},
        {"entries", NESTED, true, 0, NULL},
        {.name = NULL}};
    if (read_fields(ctx, book->root, "a claim file", fields, book) ||
        read_list(ctx, book->root, "entries", sizeof *book->entry, read_entry, &book->entry,
                  &book->entries))
        return ctx->code;
    for (int64_t i = 0; i < book->entries; i++) {
        book->entry[i].paper = book->paper;
        for (int64_t j = 0; j < i; j++)
            if (strcmp(book->entry[i].id, book->entry[j].id) == 0)
                return hn_yaml_fail(ctx, book->root, "two entries are called '%s'",
                                    book->entry[i].id);
    }
    return HN_OK;
}

enum hn_code hn_claims_read(struct hn_context *ctx, const char *name, const char *text,
                            struct hn_claim_book *out) {
    struct hn_yaml_origin origin = {"", name, true};
    *out = (struct hn_claim_book){.root = NULL};
    enum hn_code code = hn_yaml_parse(ctx, text, (int64_t)strlen(text), origin, &out->root);
    if (code == HN_OK && !out->root)
        code = hn_fail(ctx, HN_USAGE, "%s:1:1: the claim file is empty", name);
    if (code == HN_OK)
        code = read_book(ctx, out);
    if (code)
        hn_claims_free(ctx, out);
    return code;
}

static void free_side(struct hn_context *ctx, struct hn_claim_side *side) {
    for (int64_t i = 0; i < side->filters; i++)
        hn_free(ctx, side->filter[i].value);
    hn_free(ctx, side->filter);
}

static void free_entry(struct hn_context *ctx, struct hn_claim_entry *e) {
    for (int64_t i = 0; i < e->claims; i++) {
        free_side(ctx, &e->claim[i].of);
        free_side(ctx, &e->claim[i].than);
        hn_free(ctx, e->claim[i].each);
    }
    for (int64_t i = 0; i < e->levels; i++) {
        free_side(ctx, &e->level[i].of);
        free_side(ctx, &e->level[i].than);
    }
    for (int64_t i = 0; i < e->jobs; i++) {
        hn_free(ctx, e->job[i].data);
        hn_free(ctx, e->job[i].set);
        hn_free(ctx, e->job[i].quick);
        hn_free(ctx, e->job[i].full);
    }
    hn_free(ctx, e->job);
    hn_free(ctx, e->cost);
    hn_free(ctx, e->claim);
    hn_free(ctx, e->level);
}

void hn_claims_free(struct hn_context *ctx, struct hn_claim_book *book) {
    for (int64_t i = 0; i < book->entries; i++)
        free_entry(ctx, &book->entry[i]);
    hn_free(ctx, book->entry);
    hn_yaml_free(ctx, book->root);
    *book = (struct hn_claim_book){.root = NULL};
}
