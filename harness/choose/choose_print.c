// A choice for people: a table of the settings that matter, and the answer in words.
#include "harness/choose/choose.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 12, TIES = 6 };

static const char *text_of(const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

// A number; NaN for null.
static double number(const json_t *o, const char *key) {
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct hn_interval interval_of(const json_t *o, const char *key) {
    const json_t *i = json_object_get(o, key);
    return (struct hn_interval){number(i, "mean"), number(i, "lo"), number(i, "hi")};
}

static bool is_true(const json_t *o, const char *key) {
    return json_is_true(json_object_get(o, key));
}

static const json_t *with(const json_t *c, const char *key, const char *text) {
    const json_t *list = json_object_get(c, "settings");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(text_of(json_array_get(list, i), key), text) == 0)
            return json_array_get(list, i);
    return NULL;
}

static const json_t *reference_of(const json_t *c) {
    const json_t *list = json_object_get(c, "settings");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_true(json_array_get(list, i), "reference"))
            return json_array_get(list, i);
    return NULL;
}

// Without the sign of what is 0 at so many digits.
static double shown(double value, int digits) {
    return fabs(value) < 0.5 * pow(10, -digits) ? 0 : value;
}

// "12.57 +- 0.14"; half of the interval is left out where there is none.
static void put_half(char *text, size_t size, struct hn_interval i, double scale, int digits) {
    *text = '\0';
    if (!isfinite(i.mean))
        hn_append(text, size, "-");
    else if (!isfinite(i.hi))
        hn_append(text, size, "%.*f", digits, shown(scale * i.mean, digits));
    else
        hn_append(text, size, "%.*f +- %.*f", digits, shown(scale * i.mean, digits), digits,
                  scale * (i.hi - i.lo) / 2);
}

// "{mosaic: {pool: 2500}}" without the outer braces.
static void put_name(char *text, size_t size, const char *job) {
    size_t length = strlen(job);
    if (*job == '{')
        snprintf(text, size, "%.*s", (int)length - 2, job + 1);
    else
        snprintf(text, size, "%s", job);
}

static const char *outcome(const json_t *c, const json_t *setting) {
    static const char *const words[][2] = {{"chosen", "chosen"},
                                           {"over_fn", "over the budget"},
                                           {"over_cost", "over --max-cost"},
                                           {"softer", "less hard"},
                                           {"cut", "cut, less hard"},
                                           {"left", "less hard, or over the budget"},
                                           {"failed", "failed"}};
    const char *fate = text_of(setting, "fate");
    if (is_true(setting, "tied"))
        return "tied with the choice";
    if (is_true(setting, "rival"))
        return "borderline, above the budget";
    if (is_true(setting, "open"))
        return "not determined";
    if (strcmp(fate, "cut") == 0 && interval_of(setting, "fn_ratio").mean > number(c, "budget"))
        return "cut, over the budget";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], fate) == 0)
            return words[i][1];
    return fate;
}

static json_t *row_of(const json_t *c, const json_t *setting) {
    char name[128], fn[48], hard[48], over[48];
    put_name(name, sizeof name, text_of(setting, "job"));
    put_half(fn, sizeof fn, interval_of(setting, "fn_ratio"), 100, 2);
    put_half(hard, sizeof hard, interval_of(setting, "hardness"), 1, 4);
    put_half(over, sizeof over, interval_of(setting, "over_uniform"), 1, 4);
    return json_pack("{s:o, s:I, s:s, s:s, s:s, s:o, s:s}", "name", hn_json_text(name), "seeds",
                     json_integer_value(json_object_get(setting, "seeds")), "fn", fn, "hard", hard,
                     "over", over, "ms", hn_json_real(1e3 * number(setting, "seconds")), "outcome",
                     outcome(c, setting));
}

static void print_table(const json_t *c, FILE *out) {
    static const char *const hardness[][2] = {{"hardness", "mean cosine"},
                                              {"p99", "99th percentile"},
                                              {"hardest", "hardest negative"},
                                              {"lme", "log-mean-exp"}};
    const json_t *list = json_object_get(c, "settings"), *reference = reference_of(c);
    bool bound = strcmp(text_of(c, "false_negatives"), "bound") == 0;
    json_t *rows = json_array();
    const char *heading = "";
    for (int i = 0; i < HN_GOALS; i++)
        if (strcmp(hardness[i][0], text_of(c, "goal")) == 0)
            heading = hardness[i][1];
    const struct hn_record_column columns[] = {
        {"name", "setting", .width = -24},
        {"seeds", "seeds", .width = 5},
        {"fn", bound ? "% false, bound" : "% false negatives", .width = 15},
        {"hard", heading, .width = 15},
        {"over", "over Uniform", .width = 15},
        {"ms", "ms a batch", .width = 6, .digits = 2},
        {"outcome", "outcome", .width = -10},
        {0}};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *s = json_array_get(list, i);
        if (i < SHOWN || s == reference)
            json_array_append_new(rows, row_of(c, s));
    }
    hn_records_print(columns, rows, out);
    json_decref(rows);
    if (json_array_size(list) > SHOWN)
        fprintf(out, "(%zu settings; --json lists all)\n", json_array_size(list));
}

static const char *what_is_hard(const json_t *c) {
    const char *goal = text_of(c, "goal");
    bool counted = strcmp(text_of(c, "false_negatives"), "counted") == 0;
    if (strcmp(goal, "p99") == 0)
        return counted ? "99th percentile of the cosines of true negatives"
                       : "99th percentile of the cosines of negatives";
    if (strcmp(goal, "hardest") == 0)
        return counted ? "cosine of the hardest true negative" : "cosine of the hardest negative";
    if (strcmp(goal, "lme") == 0)
        return counted ? "log-mean-exp of the cosines of true negatives"
                       : "log-mean-exp of the cosines of negatives";
    return counted ? "mean cosine of true negatives" : "mean cosine of negatives";
}

// The most false negatives that are allowed, and how they were asked for.
static void print_budget(const json_t *c, FILE *out) {
    double max = number(c, "budget"), excess = number(c, "max_excess");
    if (isfinite(excess))
        fprintf(out, "%.4g %%: %g points above Uniform", 100 * max, 100 * excess);
    else
        fprintf(out, "%g %%", 100 * max);
}

static void print_false(const json_t *c, const json_t *setting, FILE *out) {
    char text[48];
    struct hn_interval fn = interval_of(setting, "fn_ratio");
    if (!isfinite(fn.mean))
        return;
    put_half(text, sizeof text, fn, 100, 2);
    fprintf(out, ", %s %% false negatives", text);
    if (strcmp(text_of(c, "false_negatives"), "bound") == 0) {
        double classes = number(c, "classes");
        fputs(" as a bound, assuming ", out);
        if (isfinite(classes))
            fprintf(out, "%g classes of equal size", classes);
        else
            fprintf(out, "that %.4g %% of pairs share a class", 100 * number(c, "prior"));
        fputs(" and that pairs of higher cosine share one at least as often", out);
    }
    if (isfinite(number(c, "budget"))) {
        fprintf(out, " (%s budget of ",
                is_true(setting, "edge") ? "on the edge of the" : "within the");
        print_budget(c, out);
        fputc(')', out);
    }
}

static void print_cost(const json_t *c, const json_t *setting, FILE *out) {
    double seconds = number(setting, "seconds"), step = number(c, "step_seconds");
    fprintf(out, ", %.3g ms a batch", 1e3 * seconds);
    if (isfinite(step))
        fprintf(out, " (%.2g %% of a step)", 100 * seconds / step);
}

// The settings with that mark, after `before`.
static void print_marked(const json_t *c, const char *mark, const char *before, FILE *out) {
    const json_t *list = json_object_get(c, "settings");
    char name[128], fn[48];
    int n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *s = json_array_get(list, i);
        if (!is_true(s, mark))
            continue;
        put_name(name, sizeof name, text_of(s, "job"));
        put_half(fn, sizeof fn, interval_of(s, "fn_ratio"), 100, 2);
        if (n++ < TIES)
            fprintf(out, "%s%s", n == 1 ? before : ", ", name);
        if (n <= TIES && is_true(s, "rival"))
            fprintf(out, " (%s %%)", fn);
    }
    if (n > TIES)
        fprintf(out, " and %d more", n - TIES);
    if (n > 0)
        fputc('.', out);
}

static void print_rivals(const json_t *c, FILE *out) {
    print_marked(c, "rival",
                 with(c, "fate", "chosen") ? " Also consider, with borderline false negatives: "
                                           : " Borderline: ",
                 out);
}

static int count_fate(const json_t *c, const char *fate) {
    const json_t *list = json_object_get(c, "settings");
    int n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        n += strcmp(text_of(json_array_get(list, i), "fate"), fate) == 0;
    return n;
}

static void print_fallen(const json_t *c, FILE *out) {
    static const char *const fates[][2] = {{"over_fn", "over the false-negative budget"},
                                           {"over_cost", "over the time budget"},
                                           {"softer", "less hard"},
                                           {"cut", "cut as the least hard of many"},
                                           {"failed", "failed"}};
    const char *before = " Ruled out: ";
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        int n = count_fate(c, fates[i][0]);
        if (n == 0)
            continue;
        fprintf(out, "%s%d %s", before, n, fates[i][1]);
        before = ", ";
    }
    const json_t *failed = with(c, "fate", "failed");
    if (failed && *text_of(failed, "error"))
        fprintf(out, " (%s: %s)", text_of(failed, "sampler"), text_of(failed, "error"));
    fputs(*before == ',' ? ".\n" : "\n", out);
}

static void print_none(const json_t *c, FILE *out) {
    const json_t *list = json_object_get(c, "settings"), *min = NULL;
    bool false_limit = isfinite(number(c, "budget")), limit = isfinite(number(c, "max_cost"));
    char text[48], name[128];
    if (count_fate(c, "failed") == (int)json_array_size(list)) {
        fputs("No setting could be measured.", out);
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *s = json_array_get(list, i);
        double fn = interval_of(s, "fn_ratio").mean;
        if (false_limit && isfinite(fn) && (!min || fn < interval_of(min, "fn_ratio").mean))
            min = s;
    }
    fputs("No setting is within the budget", out);
    if (min) {
        put_name(name, sizeof name, text_of(min, "job"));
        put_half(text, sizeof text, interval_of(min, "fn_ratio"), 100, 2);
        fprintf(out, ": the fewest false negatives are those of %s, %s %%", name, text);
    }
    const char *option = isfinite(number(c, "max_excess")) ? "--max-excess" : "--max-fn";
    fprintf(out, ". Raise %s%s%s.", false_limit ? option : "", false_limit && limit ? " or " : "",
            limit ? "--max-cost" : "");
    print_rivals(c, out);
}

static void print_answer(const json_t *c, FILE *out) {
    const json_t *chosen = with(c, "fate", "chosen"), *reference = reference_of(c);
    char hard[48], over[48];
    if (!chosen) {
        print_none(c, out);
        return;
    }
    bool common = is_true(c, "uniform_will_do");
    put_half(hard, sizeof hard, interval_of(chosen, "hardness"), 1, 4);
    put_half(over, sizeof over, interval_of(chosen, "over_uniform"), 1, 4);
    if (common)
        fprintf(out, "Uniform will do: no setting within the budget is significantly harder.");
    if (common && chosen == reference) {
        print_rivals(c, out);
        return;
    }
    fprintf(out, "%s %s: %s", common ? " The hardest is" : "Take", text_of(chosen, "job"),
            what_is_hard(c));
    if (isfinite(number(c, "temperature")))
        fprintf(out, " at temperature %g", number(c, "temperature"));
    fprintf(out, " %s, %s over Uniform's", hard, over);
    print_false(c, chosen, out);
    print_cost(c, chosen, out);
    fputc('.', out);
    print_marked(c, "tied", " Tied with it: ", out);
    print_rivals(c, out);
    print_marked(c, "open", " Not determined, for lack of seeds: ", out);
}

static void print_prior(const json_t *c, FILE *out) {
    if (strcmp(text_of(c, "false_negatives"), "bound") != 0)
        return;
    fprintf(out,
            "There are no labels: under these assumptions false negatives are between the prior, "
            "%.4g %%, and the bound.\n",
            100 * number(c, "prior"));
    if (isfinite(number(c, "classes")))
        fputs("Classes of unequal size have more pairs in common, and then the bound is too low: "
              "give --prior.\n",
              out);
}

static void print_check(const json_t *c, const json_t *check, FILE *out) {
    struct hn_interval fn = interval_of(check, "fn_ratio"), ahead = interval_of(check, "ahead");
    struct hn_interval over = interval_of(check, "over_uniform");
    double max = number(c, "budget");
    char text[48], name[128];
    fprintf(out, "Step %lld: ", json_integer_value(json_object_get(check, "step")));
    if (with(c, "fate", "chosen") == reference_of(c))
        fputs("Uniform", out);
    else {
        put_half(text, sizeof text, over, 1, 4);
        fprintf(out, "%s over Uniform", text);
    }
    if (isfinite(fn.mean)) {
        put_half(text, sizeof text, fn, 100, 2);
        fprintf(out, ", %s %% false negatives%s", text,
                !isfinite(max)    ? ""
                : fn.lo > max     ? ": over the budget"
                : !(fn.hi <= max) ? ": perhaps over the budget"
                                  : "");
    }
    put_name(name, sizeof name, text_of(check, "hardest"));
    put_half(text, sizeof text, ahead, 1, 4);
    if (ahead.lo > 0)
        fprintf(out, "; %s is harder by %s", name, text);
    if (*text_of(check, "error"))
        fprintf(out, "; failed there: %s", text_of(check, "error"));
    fputs(".\n", out);
}

static void print_work(const json_t *c, FILE *out) {
    const json_t *w = json_object_get(c, "work");
    double units = number(w, "units"), full = number(w, "full_units");
    fprintf(out,
            "Ran %.0f of the %.0f runs of a full grid (%.0f %%), %.3g s instead of about %.3g s.",
            units, full, 100 * units / full, number(w, "seconds"), number(w, "full_seconds"));
    if (number(w, "check_units") > 0)
        fprintf(out, " Checks of other steps: %.0f runs in %.3g s.", number(w, "check_units"),
                number(w, "check_seconds"));
    fputc('\n', out);
}

void hn_chosen_print(const json_t *described, FILE *out) {
    print_table(described, out);
    fputc('\n', out);
    print_answer(described, out);
    print_fallen(described, out);
    print_prior(described, out);
    const json_t *checks = json_object_get(described, "checks");
    for (size_t i = 0; i < json_array_size(checks); i++)
        print_check(described, json_array_get(checks, i), out);
    print_work(described, out);
}
