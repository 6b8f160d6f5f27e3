// SPDX-License-Identifier: GPL-3.0-or-later
// A choice for people: a table of the settings that matter, and the answer in words.
#include "core/real_text.h"
#include "core/text.h"
#include "harness/choose/choose.h"
#include "harness/choose/choose_private.h"
#include "harness/choose/evidence.h"
#include "harness/run/estimate.h"
#include "results/analysis/means.h"
#include "results/analysis/shown.h"
#include "results/records.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 12, TIES = 6 };

struct print {
    const struct hn_choose_spec *spec;
    const struct hn_chosen *c;
    const struct hn_halving *h;
    struct hn_choice_list list;
    double budget;   // of false negatives; NaN: none
    double together; // level of the answer's intervals: its settings are picked among all
    bool bound;      // false negatives are the bound by the prior
    FILE *out;
};

// "12.57 +- 0.14", as tables show a column of results; "12.57" without an interval.
static void put_half(char *text, size_t size, struct hn_interval i, const char *column) {
    const struct hn_shown *shown = hn_shown_find(column);
    *text = '\0';
    hn_append(text, size, "%s",
              isfinite(i.mean) ? hn_rounded(shown->scale * i.mean, shown->digits, false).text
                               : "-");
    if (isfinite(i.mean) && isfinite(i.hi))
        hn_append(text, size, " +- %.*f", shown->digits, shown->scale * (i.hi - i.lo) / 2);
}

static void put_hardness(char *text, size_t size, const struct print *p, struct hn_interval i) {
    static const char *const column[] = {[HN_GOAL_MEAN] = "true_mean",
                                         [HN_GOAL_P99] = "true_p99",
                                         [HN_GOAL_HARDEST] = "hard_true_mean",
                                         [HN_GOAL_LME] = "true_lme"};
    put_half(text, size, i, column[p->spec->goal]);
}

static struct hn_interval false_of(const struct print *p, int64_t arm, double level) {
    return hn_choice_false(&p->h->arm[arm].evidence, level);
}

static void put_false(char *text, size_t size, const struct print *p, int64_t arm, double level) {
    put_half(text, size, false_of(p, arm, level), "fn_ratio");
}

// "{mosaic: {pool: 2500}}" without the outer braces.
static void put_name(char *text, size_t size, const struct print *p, int64_t arm) {
    const char *line = p->list.line[arm];
    bool braces = *line == '{';
    hn_put_text(text, size, "%.*s", (int)strlen(line) - (braces ? 2 : 0), line + braces);
}

static const char *outcome(const struct print *p, int64_t i) {
    static const char *const words[] = {
        [HN_ARM_LEFT] = "less hard by means", [HN_ARM_FAILED] = "failed",
        [HN_ARM_FALSE] = "over the budget",   [HN_ARM_COSTLY] = "over --max-cost",
        [HN_ARM_SOFTER] = "less hard",        [HN_ARM_CUT] = "cut, less hard by means"};
    static const char *const standings[] = {[HN_ARM_TIED] = "tied with the choice",
                                            [HN_ARM_RIVAL] = "borderline, above the budget",
                                            [HN_ARM_OPEN] = "not determined"};
    const struct hn_arm *arm = &p->h->arm[i];
    if (arm->standing)
        return standings[arm->standing];
    if (i == p->h->best)
        return "chosen";
    bool over = false_of(p, i, hn_choice_alone).mean > p->budget; // by their means
    return over && arm->fate == HN_ARM_CUT    ? "cut, over the budget"
           : over && arm->fate == HN_ARM_LEFT ? "over the budget"
                                              : words[arm->fate];
}

static json_t *row_of(const struct print *p, int64_t i) {
    const struct hn_arm *arm = &p->h->arm[i];
    char name[128], fn[48], hard[48], over[48];
    put_name(name, sizeof name, p, i);
    put_false(fn, sizeof fn, p, i, hn_choice_alone);
    put_hardness(hard, sizeof hard, p, hn_choice_hard(&arm->evidence, hn_choice_alone));
    put_hardness(over, sizeof over, p, arm->over_reference);
    return json_pack("{s:o, s:I, s:s, s:s, s:s, s:o, s:s}", "name", hn_json_text(name), "seeds",
                     (json_int_t)arm->evidence.seeds, "fn", fn, "hard", hard, "over", over, "ms",
                     hn_json_real(1e3 * hn_evidence_seconds(&arm->evidence)), "outcome",
                     outcome(p, i));
}

static void print_table(const struct print *p) {
    static const char *const hardness[] = {[HN_GOAL_MEAN] = "mean cosine",
                                           [HN_GOAL_P99] = "99th percentile",
                                           [HN_GOAL_HARDEST] = "hardest negative",
                                           [HN_GOAL_LME] = "log-mean-exp"};
    const struct hn_record_column columns[] = {
        {"name", "setting", .width = -24},
        {"seeds", "seeds", .width = 5},
        {"fn", p->bound ? "% false, bound" : "% false negatives", .width = 15},
        {"hard", hardness[p->spec->goal], .width = 15},
        {"over", "over Uniform", .width = 15},
        {"ms", "ms a batch", .width = 6, .digits = 2},
        {"outcome", "outcome", .width = -10},
        {0}};
    json_t *rows = json_array();
    for (int64_t k = 0; k < p->h->arms; k++)
        if (k < SHOWN || p->list.order[k] == p->h->reference)
            json_array_append_new(rows, row_of(p, p->list.order[k]));
    hn_records_print(columns, rows, p->out);
    json_decref(rows);
    if (p->h->arms > SHOWN)
        fprintf(p->out, "(%s; --json lists all)\n", hn_counted(p->h->arms, "setting").text);
}

// "mean cosine of true negatives"
static void print_goal(const struct print *p) {
    static const char *const goals[] = {[HN_GOAL_MEAN] = "mean cosine of",
                                        [HN_GOAL_P99] = "99th percentile of the cosines of",
                                        [HN_GOAL_HARDEST] = "cosine of the hardest",
                                        [HN_GOAL_LME] = "log-mean-exp of the cosines of"};
    fprintf(p->out, "%s%s negative%s", goals[p->spec->goal], p->c->labelled ? " true" : "",
            p->spec->goal == HN_GOAL_HARDEST ? "" : "s");
    if (p->spec->goal == HN_GOAL_LME)
        fprintf(p->out, " at temperature %g", p->spec->temperature);
}

static void print_false(const struct print *p, int64_t i) {
    char text[48];
    if (!isfinite(false_of(p, i, p->together).mean))
        return;
    put_false(text, sizeof text, p, i, p->together);
    fprintf(p->out, ", %s %% false negatives", text);
    if (p->bound) {
        fputs(" as a bound, assuming ", p->out);
        if (p->spec->classes != INT64_MIN)
            fprintf(p->out, "%s of equal size", hn_counted(p->spec->classes, "class").text);
        else
            fprintf(p->out, "that %.4g %% of pairs share a class", 100 * p->spec->prior);
        fputs(" and that pairs of higher cosine share one at least as often", p->out);
    }
    if (!isfinite(p->budget))
        return;
    fprintf(p->out,
            p->h->arm[i].edge ? " (on the edge of the budget of " : " (within the budget of ");
    if (!isfinite(p->spec->max_excess)) {
        fprintf(p->out, "%g %%)", 100 * p->budget);
        return;
    }
    double points = 100 * p->spec->max_excess; // how it was asked for; as certain as Uniform's
    put_false(text, sizeof text, p, p->h->reference, p->together);
    fprintf(p->out, "%.4g %%: %g point%s above Uniform's %s %%)", 100 * p->budget, points,
            fabs(points - 1) > 0 ? "s" : "", text);
}

static void print_cost(const struct print *p, int64_t i) {
    double seconds = hn_evidence_seconds(&p->h->arm[i].evidence), step = p->spec->step_seconds;
    fprintf(p->out, ", %.3g ms a batch", 1e3 * seconds);
    if (isfinite(step))
        fprintf(p->out, " (%.2g %% of a step)", 100 * seconds / step);
}

// The settings that stand so, after `before`; how many.
static int print_such(const struct print *p, enum hn_arm_standing standing, const char *before) {
    char name[128], fn[48];
    int n = 0;
    for (int64_t k = 0; k < p->h->arms; k++) {
        int64_t i = p->list.order[k];
        if (p->h->arm[i].standing != standing)
            continue;
        put_name(name, sizeof name, p, i);
        put_false(fn, sizeof fn, p, i, p->together);
        if (n++ < TIES)
            fprintf(p->out, "%s%s", n == 1 ? before : ", ", name);
        if (n <= TIES && standing == HN_ARM_RIVAL)
            fprintf(p->out, " (%s %%)", fn);
    }
    if (n > TIES)
        fprintf(p->out, " and %d more", n - TIES);
    if (n > 0)
        fputc('.', p->out);
    return n;
}

static int print_rivals(const struct print *p) {
    return print_such(p, HN_ARM_RIVAL,
                      p->h->best >= 0 ? " Also consider, with borderline false negatives: "
                                      : " Borderline: ");
}

// Without those that the answer names (standing). *first: of the list, if there is one.
static int count_fate(const struct print *p, enum hn_arm_fate fate, int64_t *first) {
    int n = 0;
    for (int64_t k = p->h->arms - 1; k >= 0; k--) {
        int64_t i = p->list.order[k];
        if (i == p->h->best || p->h->arm[i].standing || p->h->arm[i].fate != fate)
            continue;
        *first = i;
        n++;
    }
    return n;
}

static void print_fallen(const struct print *p) {
    static const struct {
        enum hn_arm_fate fate;
        const char *words;
    } fates[] = {{HN_ARM_FALSE, "over the false-negative budget"},
                 {HN_ARM_COSTLY, "over the time budget"},
                 {HN_ARM_SOFTER, "less hard"},
                 {HN_ARM_CUT, "cut as the least hard of many"},
                 {HN_ARM_FAILED, "failed"}};
    const char *before = " Ruled out: ";
    int64_t first = -1;
    int n = 0;
    for (size_t k = 0; k < sizeof fates / sizeof *fates; k++) {
        n = count_fate(p, fates[k].fate, &first);
        if (n == 0)
            continue;
        fprintf(p->out, "%s%d %s", before, n, fates[k].words);
        before = ", ";
    }
    if (n > 0) { // the last fate: failed
        char name[128];
        put_name(name, sizeof name, p, first);
        fprintf(p->out, " (%s%s: %s)", n > 1 ? "one of them " : "", name,
                hn_choice_error(p->c, first));
    }
    fputs(*before == ',' ? ".\n" : "\n", p->out);
}

// As the page says it.
static void print_together(const struct print *p) {
    if (p->h->arms > 2)
        fputs(" Intervals here hold for all settings together, and are wider than the table's.",
              p->out);
}

static void print_none(const struct print *p) {
    bool false_limit = isfinite(p->budget), limit = isfinite(p->spec->max_cost);
    int64_t min = -1;
    char text[48], name[128];
    if (count_fate(p, HN_ARM_FAILED, &min) == (int)p->h->arms) {
        fputs("No setting could be measured.", p->out);
        return;
    }
    min = -1;
    for (int64_t k = 0; k < p->h->arms; k++) {
        int64_t i = p->list.order[k];
        double fn = false_of(p, i, p->together).mean;
        if (false_limit && isfinite(fn) && (min < 0 || fn < false_of(p, min, p->together).mean))
            min = i;
    }
    fputs("No setting is within the budget", p->out);
    if (min >= 0) {
        put_name(name, sizeof name, p, min);
        put_false(text, sizeof text, p, min, p->together);
        fprintf(p->out, ": the fewest false negatives are those of %s, %s %%", name, text);
    }
    const char *option = isfinite(p->spec->max_excess) ? "--max-excess" : "--max-fn";
    fprintf(p->out, ". Raise %s%s%s.", false_limit ? option : "",
            false_limit && limit ? " or " : "", limit ? "--max-cost" : "");
    print_rivals(p);
    if (min >= 0)
        print_together(p);
}

// Seeds that show a setting to be harder than Uniform, or not by the margin, whichever takes fewer.
static int64_t seeds_to_tell(const struct print *p, int64_t i) {
    const struct hn_arm *arm = &p->h->arm[i];
    struct hn_interval d = arm->together;
    if (hn_over_of(arm->evidence.seeds) != HN_OVER_SEEDS)
        return 0;
    const struct hn_mean m = {.mean = d.mean,
                              .half = (d.hi - d.lo) / 2,
                              .n = arm->evidence.seeds,
                              .freedom = (double)(arm->evidence.seeds - 1),
                              .among = p->h->arms - 1,
                              .over = HN_OVER_SEEDS};
    int64_t harder = d.mean > 0 ? hn_judge_seeds(m, 0) : 0;
    int64_t alike = d.mean < p->h->margin ? hn_judge_seeds(m, p->h->margin) : 0;
    return harder > 0 && alike > 0 ? hn_min(harder, alike) : hn_max(harder, alike);
}

static void print_undecided(const struct print *p) {
    int n = 0;
    int64_t max = 0;
    for (int64_t i = 0; i < p->h->arms; i++)
        if (hn_halving_undecided(p->h, i)) {
            n++;
            max = hn_max(max, seeds_to_tell(p, i));
        }
    fprintf(p->out,
            "Not decided: no setting within the budget is shown to be harder than Uniform, and %d "
            "may be by %g or more.",
            n, p->h->margin);
    if (max > 0)
        fprintf(p->out, " About %s would tell.", hn_counted(max, "seed").text);
}

static void print_answer(const struct print *p) {
    int64_t best = p->h->best;
    char hard[48], over[48];
    if (best < 0) {
        print_none(p);
        return;
    }
    if (p->h->alike)
        fprintf(p->out, "Uniform will do: no setting within the budget is harder by %g.",
                p->h->margin);
    else if (!p->h->harder)
        print_undecided(p);
    if (!p->h->harder && best == p->h->reference) {
        if (print_rivals(p) > 0)
            print_together(p);
        return;
    }
    put_hardness(hard, sizeof hard, p, hn_choice_hard(&p->h->arm[best].evidence, p->together));
    put_hardness(over, sizeof over, p, p->h->best_over);
    fprintf(p->out, "%s %s: ", p->h->harder ? "Take" : " The hardest is", p->list.line[best]);
    print_goal(p);
    fprintf(p->out, " %s, %s over Uniform's", hard, over);
    print_false(p, best);
    print_cost(p, best);
    fputc('.', p->out);
    print_such(p, HN_ARM_TIED, " Tied with it: ");
    print_rivals(p);
    print_such(p, HN_ARM_OPEN, " Not determined, for lack of seeds: ");
    print_together(p);
}

static void print_prior(const struct print *p) {
    if (!p->bound)
        return;
    fprintf(p->out,
            "There are no labels: under these assumptions false negatives are between the prior, "
            "%.4g %%, and the bound.\n",
            100 * p->spec->prior);
    if (p->spec->classes != INT64_MIN)
        fputs("Classes of unequal size have more pairs in common, and then the bound is too low: "
              "give --prior.\n",
              p->out);
}

static void print_check(const struct print *p, const struct hn_choose_check *check) {
    struct hn_interval fn = check->false_negatives;
    char text[48], name[128];
    fprintf(p->out, "Step %" PRId64 ": ", check->step);
    put_hardness(text, sizeof text, p, check->over_reference);
    if (p->h->best == p->h->reference)
        fputs("Uniform", p->out);
    else
        fprintf(p->out, "%s over Uniform", text);
    if (isfinite(fn.mean)) {
        put_half(text, sizeof text, fn, "fn_ratio");
        fprintf(p->out, ", %s %% false negatives%s", text,
                !isfinite(p->budget)    ? ""
                : fn.lo > p->budget     ? ": over the budget"
                : !(fn.hi <= p->budget) ? ": perhaps over the budget"
                                        : "");
    }
    put_name(name, sizeof name, p, check->hardest);
    put_hardness(text, sizeof text, p, check->ahead);
    if (check->ahead.lo > 0)
        fprintf(p->out, "; %s is harder by %s", name, text);
    if (check->error)
        fprintf(p->out, "; failed there: %s", check->error);
    fputs(".\n", p->out);
}

static void print_work(const struct print *p) {
    const struct hn_choice_work w = hn_choice_work(p->c);
    double units = (double)p->h->units, full = (double)w.full_units;
    fprintf(p->out, "Ran %.0f of the %.0f runs of a full grid (%.0f %%), %s instead of about %s.",
            units, full, 100 * units / full, hn_seconds_text(w.seconds).text,
            hn_seconds_text(w.full_seconds).text);
    if (p->c->check_units > 0)
        fprintf(p->out, " Checks of other steps: %s in %s.",
                hn_counted(p->c->check_units, "run").text,
                hn_seconds_text(p->c->check_seconds).text);
    fputc('\n', p->out);
}

enum hn_code hn_chosen_print(struct hn_context *ctx, const struct hn_choose_spec *spec,
                             const struct hn_chosen *c, FILE *out) {
    struct print p = {.spec = spec,
                      .c = c,
                      .h = &c->halving,
                      .budget = hn_halving_budget(&c->halving),
                      .together = hn_halving_together(&c->halving),
                      .bound = !c->labelled && !isnan(spec->prior),
                      .out = out};
    HN_SCOPE(ctx);
    if (hn_choice_list(ctx, c, &p.list))
        return ctx->code;
    print_table(&p);
    fputc('\n', out);
    print_answer(&p);
    print_fallen(&p);
    print_prior(&p);
    for (int64_t i = 0; i < c->checks; i++)
        print_check(&p, &c->check[i]);
    print_work(&p);
    return HN_OK;
}
