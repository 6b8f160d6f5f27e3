// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a table of outcomes, and matches its rows with settings.
#include "results/analysis/outcome.h"
#include "core/random.h"
#include "core/rank_tests.h"
#include "core/real_text.h"
#include "core/text.h"
#include "results/analysis/named.h"
#include "results/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, KNOWN = 1 << 12 };
#define LARGEST 1e30 // differences and their squares are numbers then

// The setting that rows with these fields are of.
struct known {
    char **field; // [keys] NULL: for none
    int64_t found;
};

struct reading {
    const struct hn_outcome_match *match;
    struct hn_outcome *out;
    const char *name[COLUMNS_MAX];
    int measure[COLUMNS_MAX]; // -1: the column says of what a row is
    int columns;
    int64_t line;
    struct known *known; // [KNOWN] by a hash of the fields, of which the last one stays
};

// Cuts the next field of a line off, without its quotes; NULL at the end.
static char *take_field(char **rest) {
    char *from = *rest, *to = from, *field = from;
    bool quoted = false;
    if (!from)
        return NULL;
    for (; *from && (quoted || *from != ','); from++) {
        if (*from == '"' && quoted && from[1] == '"')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *rest = *from ? from + 1 : NULL;
    *to = '\0';
    return field;
}

static char *take_line(char **rest) {
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    if (line && *line && line[strlen(line) - 1] == '\r')
        line[strlen(line) - 1] = '\0';
    return line;
}

static enum hn_code read_heads(struct hn_context *ctx, struct reading *r, char *line) {
    const char *other = line && !strchr(line, ',') ? strpbrk(line, ";\t") : NULL;
    if (other)
        return hn_fail(ctx, HN_DATA,
                       "%s: line 1 separates columns by %s: separate them by commas, and write "
                       "numbers with a decimal point",
                       r->out->path, *other == ';' ? "semicolons" : "tabs");
    for (char *name; (name = take_field(&line)) != NULL; r->columns++) {
        if (r->columns == COLUMNS_MAX)
            return hn_fail(ctx, HN_DATA, "%s: has more than %d columns", r->out->path, COLUMNS_MAX);
        if (!hn_is_utf8(name))
            return hn_fail(ctx, HN_DATA, "%s: line 1 is not UTF-8: save the table as UTF-8",
                           r->out->path);
        for (int c = 0; c < r->columns; c++)
            if (strcmp(r->name[c], name) == 0)
                return hn_fail(ctx, HN_DATA, "%s: line 1 names the column %.60s twice",
                               r->out->path, name);
        bool key = strcmp(name, "seed") == 0 || r->match->is_key(r->match->of, name);
        r->name[r->columns] = name;
        r->measure[r->columns] = key ? -1 : r->out->measures;
        if (key)
            continue;
        if (!*name || r->out->measures == HN_OUTCOMES_MAX)
            return hn_fail(ctx, HN_DATA,
                           *name ? "%s: has more than %d measures, columns beside %s"
                                 : "%s: a column has no name on the first line",
                           r->out->path, HN_OUTCOMES_MAX, r->match->columns);
        r->out->name[r->out->measures++] = name;
    }
    return r->out->measures ? HN_OK
                            : hn_fail(ctx, HN_DATA,
                                      "%s: line 1 names no measure: a column such as `accuracy`, "
                                      "beside %s",
                                      r->out->path, r->match->columns);
}

static struct known *known_of(const struct reading *r, const struct hn_outcome_row *row,
                              bool *same) {
    uint64_t hash = 0;
    for (int k = 0; k < row->keys; k++)
        hash = hash * 31 + hn_hash(row->field[k]);
    struct known *known = &r->known[hash % KNOWN];
    *same = known->field != NULL;
    for (int k = 0; k < row->keys && *same; k++)
        *same = strcmp(known->field[k], row->field[k]) == 0;
    return known;
}

static enum hn_code find(struct hn_context *ctx, const struct reading *r, char *const *field,
                         int64_t *found) {
    const char *name[COLUMNS_MAX];
    char *own[COLUMNS_MAX];
    int keys = 0;
    for (int c = 0; c < r->columns; c++)
        if (r->measure[c] < 0 && strcmp(r->name[c], "seed") != 0) {
            name[keys] = r->name[c];
            own[keys++] = field[c];
        }
    const struct hn_outcome_row row = {r->out->path, r->line, keys, name, own};
    bool same;
    struct known *known = known_of(r, &row, &same);
    if (!same) {
        if (r->match->find(ctx, r->match->of, &row, &known->found) ||
            (!known->field && !HN_ALLOC(ctx, known->field, r->columns)))
            return ctx->code;
        memcpy(known->field, own, (size_t)keys * sizeof *own);
    }
    *found = known->found;
    return HN_OK;
}

static enum hn_code read_number(struct hn_context *ctx, const struct reading *r, int column,
                                const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    if (!*text)
        *value = NAN;
    else if (isfinite(*value) && fabs(*value) > LARGEST)
        return hn_fail(ctx, HN_DATA,
                       "%s: line %" PRId64
                       ", column %s: %.40s is too large: give it in another unit",
                       r->out->path, r->line, r->name[column], text);
    else if (end == text || end[strspn(end, " ")] || hn_is_hex(text) || !isfinite(*value))
        return hn_fail(ctx, HN_DATA, "%s: line %" PRId64 ", column %s: '%.40s' is no number%s",
                       r->out->path, r->line, r->name[column], text,
                       r->measure[column] < 0 ? ""
                                              : "; a column beside those of settings is "
                                                "taken for a measure, commas end a field");
    return HN_OK;
}

static int by_seed(const void *a, const void *b) {
    const struct hn_outcome_training *x = a, *y = b;
    if (x->setting != y->setting)
        return x->setting < y->setting ? -1 : 1;
    if (isnan(x->seed) != isnan(y->seed))
        return isnan(x->seed) ? 1 : -1;
    if (x->seed < y->seed || x->seed > y->seed)
        return x->seed < y->seed ? -1 : 1;
    return x->line < y->line ? -1 : 1;
}

static enum hn_code sort(struct hn_context *ctx, const struct hn_outcome *u, const char *of_one) {
    const struct hn_outcome_training *twice = NULL; // the earlier of two rows
    qsort(u->training, (size_t)u->rows, sizeof *u->training, by_seed);
    for (int64_t r = 1; r < u->rows; r++) {
        const struct hn_outcome_training *t = &u->training[r];
        if (t[-1].setting == t->setting && t[-1].seed == t->seed &&
            (!twice || t->line < twice[1].line))
            twice = t - 1;
    }
    return twice ? hn_fail(ctx, HN_DATA,
                           "%s: lines %" PRId64 " and %" PRId64 " are of one %s and seed", u->path,
                           twice->line, twice[1].line, of_one)
                 : HN_OK;
}

static enum hn_code read_row(struct hn_context *ctx, struct reading *r, char *line) {
    struct hn_outcome *u = r->out;
    char *field[COLUMNS_MAX];
    struct hn_outcome_training *row = &u->training[u->rows];
    int n = 0;
    for (char *next; (next = take_field(&line)) != NULL; n++)
        if (n < COLUMNS_MAX)
            field[n] = next;
    if (n != r->columns)
        return hn_fail(ctx, HN_DATA,
                       "%s: line %" PRId64 ": has %d fields and the first line %d; params with "
                       "commas stand in quotes",
                       u->path, r->line, n, r->columns);
    row->seed = NAN;
    row->line = r->line;
    for (int c = 0; c < r->columns; c++) {
        bool seed = strcmp(r->name[c], "seed") == 0;
        double *to = seed ? &row->seed : row->value + r->measure[c];
        if ((seed || r->measure[c] >= 0) && read_number(ctx, r, c, field[c], to))
            return ctx->code;
    }
    if (hn_check_stop(ctx) || find(ctx, r, field, &row->setting))
        return ctx->code;
    u->rows += row->setting >= 0;
    return HN_OK;
}

enum hn_code hn_outcome_read_as(struct hn_context *ctx, const char *path, char *text,
                                const struct hn_outcome_match *match, struct hn_outcome *out) {
    struct reading r = {.match = match, .out = out, .line = 1};
    int64_t lines = 1;
    *out = (struct hn_outcome){.path = path};
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    if (!HN_ALLOC(ctx, out->training, lines))
        return ctx->code;
    HN_SCOPE(ctx);
    if (!HN_ZALLOC(ctx, r.known, KNOWN))
        return ctx->code;
    char *rest = text, *line = take_line(&rest);
    if (!text[strspn(text, " \t")] && !rest)
        return hn_fail(ctx, HN_DATA, "%s: is empty", path);
    if (read_heads(ctx, &r, line))
        return ctx->code;
    while ((line = take_line(&rest)) != NULL) {
        r.line++;
        if (line[strspn(line, " \t")] && read_row(ctx, &r, line))
            return ctx->code;
    }
    return out->rows ? sort(ctx, out, match->of_one)
                     : hn_fail(ctx, HN_DATA, "%s: holds no row", path);
}

// `loss` says of which setting a row is where losses vary, else it is a measure; and likewise
// options.
static bool says_setting(const void *of, const char *name) {
    static const char *const always[] = {"sampler",    "params",      "dataset",   "step",
                                         "batch_size", "temperature", "weighting", NULL};
    const struct hn_overview *o = of;
    return hn_is_among(name, always) ||
           (hn_table_find(&o->results->runs, name) >= 0 && hn_overview_varies(o, name));
}

static bool fits(const struct hn_overview *o, int64_t setting, const struct hn_outcome_row *row) {
    bool step = false;
    for (int k = 0; k < row->keys; k++) {
        step = step || strcmp(row->name[k], "step") == 0;
        if (!hn_overview_has(o, setting, row->name[k], row->field[k]))
            return false;
    }
    return step || o->last[setting];
}

static enum hn_code find_setting(struct hn_context *ctx, const void *of,
                                 const struct hn_outcome_row *row, int64_t *found) {
    const struct hn_overview *o = of;
    int64_t other = -1;
    *found = -1;
    for (int64_t s = 0; s < o->settings; s++)
        if (fits(o, s, row)) {
            other = *found;
            *found = s;
        }
    if (*found < 0)
        return hn_fail(ctx, HN_DATA, "%s: line %" PRId64 ": is of no setting of the results",
                       row->path, row->line);
    if (other >= 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: line %" PRId64
                       ": is of several settings, %s and %s among them: add the "
                       "columns that tell them apart, such as params, dataset or batch_size",
                       row->path, row->line,
                       hn_row_setting_label(&o->results->runs, o->first[other], NULL).text,
                       hn_row_setting_label(&o->results->runs, o->first[*found], NULL).text);
    return HN_OK;
}

enum hn_code hn_outcome_read(struct hn_context *ctx, const char *path, char *text,
                             const struct hn_overview *o, struct hn_outcome *out) {
    return hn_outcome_read_as(ctx, path, text,
                              &(struct hn_outcome_match){"sampler, params, seed ...", "setting",
                                                         says_setting, find_setting, o},
                              out);
}

enum hn_code hn_outcome_keep(struct hn_context *ctx, const char *path, const char *text, bool whole,
                             struct hn_results *results) {
    struct hn_overview overview;
    struct hn_outcome outcome;
    HN_SCOPE(ctx);
    char *own = hn_strdup(ctx, text);
    if (!own || (whole && (hn_overview_make(ctx, results, &overview) ||
                           hn_outcome_read(ctx, path, own, &overview, &outcome))))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return hn_results_set(ctx, results, HN_OUTCOME_FILE, path) ||
                   hn_results_set(ctx, results, HN_OUTCOME_TEXT, text)
               ? ctx->code
               : HN_OK;
}

// The first row of this setting or a later one.
static int64_t first_from(const struct hn_outcome *u, int64_t setting) {
    int64_t lo = 0, hi = u->rows;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        bool before = u->training[middle].setting < setting;
        *(before ? &lo : &hi) = middle + before;
    }
    return lo;
}

int64_t hn_outcome_rows(const struct hn_outcome *u, int64_t setting, int64_t *first) {
    *first = first_from(u, setting);
    return first_from(u, setting + 1) - *first;
}

enum hn_code hn_outcome_mean(struct hn_context *ctx, const struct hn_outcome *u, int64_t setting,
                             int measure, struct hn_mean *mean) {
    HN_SCOPE(ctx);
    int64_t first, n = hn_outcome_rows(u, setting, &first);
    double *value = hn_alloc(ctx, n, sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        value[i] = u->training[first + i].value[measure];
    *mean = hn_values_mean(value, n, 0);
    return HN_OK;
}

enum hn_code hn_outcome_difference(struct hn_context *ctx, const struct hn_outcome *u,
                                   int64_t setting, int64_t base, int measure,
                                   struct hn_mean *mean) {
    HN_SCOPE(ctx);
    int64_t a, b, n = 0;
    int64_t rows_a = hn_outcome_rows(u, setting, &a), rows_b = hn_outcome_rows(u, base, &b);
    const int64_t end_a = a + rows_a, end_b = b + rows_b;
    double *value = hn_alloc(ctx, rows_a, sizeof *value);
    if (!value)
        return ctx->code;
    for (; a < end_a; a++) {
        const struct hn_outcome_training *own = &u->training[a];
        while (b < end_b && u->training[b].seed < own->seed)
            b++;
        if (b < end_b && u->training[b].seed == own->seed)
            value[n++] = own->value[measure] - u->training[b].value[measure];
    }
    *mean = base < 0 || setting == base ? hn_no_mean : hn_values_mean(value, n, 0);
    return HN_OK;
}

enum hn_code hn_rank_correlation(struct hn_context *ctx, const double *x, const double *y,
                                 int64_t n, struct hn_rank_correlation *out) {
    *out = (struct hn_rank_correlation){NAN, NAN, NAN, n};
    if (hn_spearman(ctx, x, y, n, &out->rho))
        return ctx->code;
    if (n < HN_RANKS_MIN || isnan(out->rho) || fabs(out->rho) > 1 - 1e-12)
        return HN_OK;
    double half = 1.959963984540054 * sqrt((1 + out->rho * out->rho / 2) / (double)(n - 3));
    out->lo = tanh(atanh(out->rho) - half);
    out->hi = tanh(atanh(out->rho) + half);
    return HN_OK;
}
