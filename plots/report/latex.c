// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of results as a LaTeX table, with letters for ties.
#include "plots/report/latex.h"
#include "core/real_text.h"
#include "core/text.h"
#include "plots/page/figure.h"
#include "plots/page/page.h"
#include "results/analysis/overview.h"
#include "results/analysis/shown.h"
#include "results/analysis/trained.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 52, TEXT = HN_LABEL_SIZE };

// Rows with the letter that are not tied with row k.
static bool fits(int n, const bool *tied, const uint64_t *letters, uint64_t letter, int k) {
    for (int i = 0; i < n; i++)
        if (i != k && (letters[i] & letter) && !tied[k * n + i])
            return false;
    return true;
}

// A letter for every pair that has none in common yet, and for all that are tied with those that
// have it; then for the rows that are tied with none.
bool hn_tie_letters(int n, const bool *tied, uint64_t *letters) {
    int used = 0;
    memset(letters, 0, (size_t)n * sizeof *letters);
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j <= n; j++) {
            bool pair = j < n && tied[i * n + j] && !(letters[i] & letters[j]);
            bool alone = j == n && letters[i] == 0 && tied[i * n + i];
            if (!pair && !alone)
                continue;
            if (used == LETTERS)
                return false;
            uint64_t letter = UINT64_C(1) << used++;
            letters[i] |= letter;
            if (pair)
                letters[j] |= letter;
            for (int k = 0; k < n && pair; k++)
                letters[k] |= fits(n, tied, letters, letter, k) ? letter : 0;
        }
    }
    return true;
}

static void put_letters(FILE *tex, uint64_t letters) {
    fputs(" & ", tex);
    for (int i = 0; i < LETTERS; i++)
        if (letters >> i & 1)
            fputc(i < 26 ? 'a' + i : 'A' + i - 26, tex);
}

// "$+24.31 \pm 2.10$", two digits behind the point, without a half if NaN; a dash for no value.
static void put_number(FILE *tex, int digits, bool sign, double value, double half) {
    fputs(isfinite(value) ? " & $" : " & --", tex);
    if (!isfinite(value))
        return;
    fputs(hn_rounded(value, digits, sign).text, tex);
    if (isfinite(half))
        fprintf(tex, " \\pm %.*f", digits, half);
    fputc('$', tex);
}

// A number of so many digits; "1.2e+04" would be set as a sum.
static void put_digits(FILE *tex, int digits, double value) {
    char text[32], *exponent;
    snprintf(text, sizeof text, "%.*g", digits, value);
    exponent = strchr(text, 'e');
    if (!isfinite(value))
        fputs("--", tex);
    else if (exponent)
        fprintf(tex, "$%.*s \\times 10^{%d}$", (int)(exponent - text), text, atoi(exponent + 1));
    else
        fprintf(tex, "$%s$", text);
}

// Behind it stand a letter for each column, a brace and \toprule.
static const char begin[] = "% \\usepackage{booktabs}\n\\begin{tabular}{";

static void end(FILE *tex) { fputs("\\bottomrule\n\\end{tabular}\n", tex); }

// Settings in the order of rows, and their letters. Those with too few seeds tie with none.
struct ties {
    struct hn_mean (*difference)(const void *of, int64_t a, int64_t b, const char *column);
    const void *of; // settings or trainings
    const char *column;
    int64_t *setting;  // [n]
    uint64_t *letters; // [n]
    int n;
    bool lettered; // some two are told apart or not
};

static enum hn_code open_ties(struct hn_context *ctx, int64_t max, struct ties *t) {
    return HN_ALLOC(ctx, t->setting, max) && HN_ALLOC(ctx, t->letters, max) ? HN_OK : ctx->code;
}

static enum hn_code find_ties(struct hn_context *ctx, struct ties *t) {
    int n = t->n, compared = 0;
    HN_SCOPE(ctx);
    bool *tied = hn_alloc(ctx, n, n * (int64_t)sizeof *tied);
    if (!tied)
        return ctx->code;
    for (int i = 0; i < n; i++) {
        int64_t s = t->setting[i];
        tied[i * n + i] = t->difference(t->of, s, s, t->column).over == HN_OVER_SEEDS;
        compared += tied[i * n + i];
    }
    t->lettered = compared > 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            bool both = tied[i * n + i] && tied[k * n + k];
            if (i == k)
                continue;
            struct hn_mean d = hn_mean_among_pairs(
                t->difference(t->of, t->setting[i], t->setting[k], t->column), compared);
            tied[i * n + k] = both && hn_told_apart(d, true) == 0;
            t->lettered &= !both || isfinite(d.half);
        }
    t->lettered = t->lettered && hn_tie_letters(n, tied, t->letters);
    return HN_OK;
}

// The settings of a table: those of the last steps, league by league, the hardest first.
struct rows {
    const struct hn_overview *o;
    const struct hn_hardness *hardness;
    struct ties ties; // of one league
};

static struct hn_mean difference(const void *of, int64_t a, int64_t b, const char *column) {
    return hn_overview_difference(of, a, b, column);
}

// Those without a value come last.
static double hardness_of(const struct rows *r, int64_t s) {
    double mean = hn_overview_mean(r->o, s, r->hardness->column).mean;
    return isnan(mean) ? -INFINITY : mean;
}

// Sorts the settings of the league of `first`; their number.
static int league_rows(struct rows *r, int64_t first) {
    int64_t *setting = r->ties.setting;
    r->ties.n = 0;
    for (int64_t s = 0; s < r->o->settings; s++) {
        if (r->o->league[first] != r->o->league[s] || r->o->seeds[s] == 0)
            continue;
        int at = r->ties.n++;
        for (; at > 0 && !(hardness_of(r, setting[at - 1]) >= hardness_of(r, s)); at--)
            setting[at] = setting[at - 1];
        setting[at] = s;
    }
    return r->ties.n;
}

// Axes other than options, which the label has, and than the step, which is the last.
static bool has_column(const struct hn_grid_axis *axis) {
    return strcmp(axis->column, "params") != 0 && strcmp(axis->name, "step") != 0;
}

// Of weightings, shown where these vary and have values.
static const char *const weighed[] = {"fn_loss_mass", "fn_mass", "clamp_rate", "loss_batch"};
enum { WEIGHED = sizeof weighed / sizeof *weighed };

static bool has_weighed(const struct rows *r, int w) {
    bool any = false;
    for (int64_t s = 0; s < r->o->settings && !any; s++)
        any = isfinite(hn_overview_mean(r->o, s, weighed[w]).mean);
    return any && hn_overview_varies(r->o, "weighting");
}

static void put_weighed(FILE *tex, const struct rows *r, int64_t s) {
    for (int w = 0; w < WEIGHED; w++) {
        const struct hn_shown *shown = hn_shown_find(weighed[w]);
        struct hn_mean m = hn_overview_mean(r->o, s, weighed[w]);
        if (has_weighed(r, w))
            put_number(tex, shown->digits, false, shown->scale * m.mean, shown->scale * m.half);
    }
    for (int h = 0; h < r->o->n_headed; h++) {
        struct hn_mean m = hn_overview_mean(r->o, s, r->o->headed[h]->name);
        put_number(tex, HN_SHOWN_DIGITS, false, m.mean, m.half);
    }
}

static void put_setting(FILE *tex, const struct rows *r, int i) {
    const struct ties *ties = &r->ties;
    int64_t s = ties->setting[i];
    hn_tex_text(tex, hn_overview_label(r->o, s).text);
    for (int a = 0; a < r->o->axes; a++)
        if (has_column(&r->o->axis[a]))
            hn_print(tex, hn_tex_text, " & %s",
                     hn_overview_value(r->o, s, r->o->axis[a].name).text);
    put_weighed(tex, r, s);
    const char *const measure[] = {"fn_ratio", r->hardness->column};
    for (int m = 0; m < 2; m++) {
        const struct hn_shown *shown = hn_shown_find(measure[m]);
        struct hn_mean own = hn_overview_mean(r->o, s, measure[m]);
        struct hn_mean d = hn_overview_to_uniform(r->o, s, measure[m]);
        put_number(tex, shown->digits, false, shown->scale * own.mean, shown->scale * own.half);
        put_number(tex, shown->digits, true, shown->scale * d.mean, shown->scale * d.half);
    }
    if (ties->lettered && ties->letters[i] == 0)
        fputs(" & --", tex);
    else
        put_letters(tex, ties->lettered ? ties->letters[i] : 0);
    fputs(" & ", tex);
    put_digits(tex, 3, 1e3 * hn_overview_cost(r->o, s).batch);
    fputs(" \\\\\n", tex);
}

static void put_head(FILE *tex, const struct rows *r) {
    const struct hn_phrase common = hn_overview_common(r->o);
    fputs("% Last step; means over seeds with halves of 95 % intervals, of fewer than three over "
          "batches.\n% Differences to Uniform are paired by seed. From three seeds on, rows of a "
          "group that share a\n% letter do not differ significantly in hardness, all pairs "
          "together.\n",
          tex);
    if (*common.text)
        hn_print(tex, hn_tex_text, "%% All: %s\n", common.text);
    fprintf(tex, "%sl", begin);
    for (int a = 0; a < r->o->axes; a++)
        fputs(has_column(&r->o->axis[a]) ? "l" : "", tex);
    for (int w = 0; w < WEIGHED; w++)
        fputs(has_weighed(r, w) ? "r" : "", tex);
    for (int h = 0; h < r->o->n_headed; h++)
        fputc('r', tex);
    fputs("rrrrlr}\n\\toprule\nSampler", tex);
    for (int a = 0; a < r->o->axes; a++)
        if (has_column(&r->o->axis[a]))
            hn_print(tex, hn_tex_text, " & %s", r->o->axis[a].name);
    for (int w = 0; w < WEIGHED; w++)
        if (has_weighed(r, w))
            hn_print(tex, hn_tex_text, " & %s", hn_shown_find(weighed[w])->heading);
    for (int h = 0; h < r->o->n_headed; h++)
        hn_print(tex, hn_tex_text, " & %s", r->o->headed[h]->heading);
    fprintf(tex,
            " & False neg.\\ (\\%%) & $-$ Uniform & %s & $-$ Uniform & Ties & %s \\\\\n"
            "\\midrule\n",
            r->hardness->heading, hn_shown_find(HN_SHOWN_COST)->heading);
}

static enum hn_code put_settings(struct hn_context *ctx, const struct hn_overview *o, FILE *tex) {
    const struct hn_hardness *hardness = hn_hardness_measure(o->results, 0);
    struct rows r = {o, hardness, {difference, o, hardness->column}};
    const char *between = "";
    if (open_ties(ctx, o->settings, &r.ties))
        return ctx->code;
    put_head(tex, &r);
    for (int64_t s = 0; s < o->settings; s++) {
        if (o->league[s] != s || !o->last[s] || league_rows(&r, s) == 0)
            continue;
        if (find_ties(ctx, &r.ties))
            return ctx->code;
        fputs(between, tex);
        for (int i = 0; i < r.ties.n; i++)
            put_setting(tex, &r, i);
        between = "\\addlinespace\n";
    }
    end(tex);
    return HN_OK;
}

enum hn_code hn_latex_settings(struct hn_context *ctx, const struct hn_results *r, FILE *tex) {
    HN_SCOPE(ctx);
    struct hn_overview o;
    enum hn_code code = hn_overview_make(ctx, r, &o);
    return code ? code : put_settings(ctx, &o, tex);
}

// The trainings that are compared with `base`, in the first column of accuracies.
struct problem {
    const struct hn_trained *t;
    int64_t base;
    struct ties ties;
};

static struct hn_mean gain(const void *of, int64_t a, int64_t b, const char *column) {
    return hn_trained_difference(of, a, b, column);
}

static void put_trained_row(FILE *tex, const struct problem *p, const struct hn_trained_row *row) {
    const struct hn_trained *t = p->t;
    const char *column = p->ties.column;
    hn_print(tex, hn_tex_text, "%s & %" PRId64, row->name, t->overview.seeds[row->setting]);
    for (int c = hn_trained_next(t, p->base, -1); c >= 0; c = hn_trained_next(t, p->base, c)) {
        const char *name = t->table->column[c].name;
        double scale = hn_trained_scale(name);
        struct hn_mean m = hn_trained_at(t, row->setting, name, row->step);
        put_number(tex, scale > 1 ? 2 : 3, false, scale * m.mean, scale * m.half);
    }
    bool last = row->step == HN_LAST_STEP;
    struct hn_mean d = hn_no_mean;
    if (last && row->setting != p->base)
        d = hn_trained_difference(t, row->setting, p->base, column);
    double scale = hn_trained_scale(column);
    put_number(tex, 2, true, scale * d.mean, scale * d.half);
    if (hn_mean_p(d) < 0.0005)
        fputs(" & $<0.001$", tex);
    else
        put_number(tex, 3, false, hn_mean_p(d), NAN);
    uint64_t letters = 0;
    for (int i = 0; i < p->ties.n && p->ties.lettered && last; i++)
        letters |= p->ties.setting[i] == row->setting ? p->ties.letters[i] : 0;
    put_letters(tex, letters);
    fputs(" \\\\\n", tex);
}

static void put_problem(FILE *tex, const struct problem *p) {
    const struct hn_trained *t = p->t;
    hn_print(
        tex, hn_tex_text,
        "%% %s: last evaluation, mean over seeds. Differences are paired by seed, with p of a "
        "paired t test;\n%% each ± is half of a 95 %% interval. Rows that share a letter do not "
        "differ significantly, all pairs together.\n",
        hn_trained_title(t, p->base).text);
    fprintf(tex, "%slr", begin);
    for (int c = hn_trained_next(t, p->base, -1); c >= 0; c = hn_trained_next(t, p->base, c))
        fputc('r', tex);
    fputs("rrl}\n\\toprule\nSetting & Seeds", tex);
    for (int c = hn_trained_next(t, p->base, -1); c >= 0; c = hn_trained_next(t, p->base, c)) {
        const char *name = t->table->column[c].name;
        hn_print(tex, hn_tex_text, " & %s", name);
        fputs(hn_trained_scale(name) > 1 ? " (\\%)" : "", tex);
    }
    hn_print(tex, hn_tex_text, " & %s $-$ %s & $p$ & Ties \\\\\n\\midrule\n", p->ties.column,
             hn_trained_label(t, p->base).text);
    struct hn_trained_row row = {.base = p->base, .setting = -1};
    while (hn_trained_next_row(t, &row))
        put_trained_row(tex, p, &row);
    end(tex);
}

enum hn_code hn_latex_accuracies(struct hn_context *ctx, const struct hn_results *r, FILE *tex) {
    HN_SCOPE(ctx);
    struct hn_trained t;
    if (hn_trained_open(ctx, r, &t))
        return ctx->code;
    for (int64_t base = 0; base < t.settings; base++) {
        struct problem p = {&t, base, {gain, &t, hn_trained_column(&t, base)}};
        if (t.base[base] != base)
            continue;
        if (open_ties(ctx, t.settings, &p.ties))
            return ctx->code;
        for (int64_t k = 0; k < t.settings; k++)
            if (t.base[k] == base)
                p.ties.setting[p.ties.n++] = k;
        if (find_ties(ctx, &p.ties))
            return ctx->code;
        put_problem(tex, &p);
    }
    return HN_OK;
}

void hn_latex_table(FILE *tex, const struct hn_table *t) {
    fputs(begin, tex);
    for (int c = 0; c < t->n_columns; c++)
        fputc(t->column[c].kind == HN_COLUMN_TEXT ? 'l' : 'r', tex);
    fputs("}\n\\toprule\n", tex);
    for (int64_t row = -1; row < t->rows; row++) {
        for (int c = 0; c < t->n_columns; c++) {
            const char *name = t->column[c].name;
            fputs(c ? " & " : "", tex);
            if (row < 0 || t->column[c].kind == HN_COLUMN_TEXT)
                hn_tex_text(tex, row < 0 ? name : hn_table_text(t, row, name));
            else
                put_digits(tex, 6, hn_table_real(t, row, name));
        }
        fputs(row < 0 ? " \\\\\n\\midrule\n" : " \\\\\n", tex);
    }
    end(tex);
}
