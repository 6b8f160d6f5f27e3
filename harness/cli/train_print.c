// What is said of trainings at their end: accuracies by setting, paired by seed, and what drawing
// and building cost of a step (BS table 5, GC table 5).
#include "harness/run/train.h"
#include "plots/page/trained.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 48 };

static void print_moments(struct hn_moments m, bool percent) {
    double scale = percent ? 100 : 1;
    int digits = percent ? 2 : 3;
    if (isnan(m.mean))
        printf(" %8s", "-");
    else
        printf(" %8.*f", digits, scale * m.mean);
    if (isnan(m.deviation))
        printf("  %6s", "");
    else
        printf(" +-%5.*f", digits, scale * m.deviation);
}

// Columns are those in which the base has values: results of several tasks have those of all.
static void print_values(const struct hn_trained *t, int64_t setting, int64_t base, int64_t step) {
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const char *column = t->table->column[c].name;
        print_moments(hn_trained_at(t, setting, column, step), hn_trained_is_share(column));
    }
}

// What the encoders of a setting stand on, if that is frozen.
static void print_features(const struct hn_trained *t, int64_t base) {
    if (!hn_trained_has_features(t, base))
        return;
    printf("%-*s %5" PRId64, NAME, "frozen features alone", hn_trained_seeds(t, base));
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const char *column = t->table->column[c].name;
        print_moments(hn_trained_features(t, base, column), hn_trained_is_share(column));
    }
    printf("\n");
}

// Difference of the first column to the base, over seeds that both have.
static void print_difference(const struct hn_trained *t, int64_t setting, int64_t base) {
    const char *column = hn_trained_column(t, base);
    struct hn_difference d = hn_trained_difference(t, setting, base, column);
    double scale = hn_trained_is_share(column) ? 100 : 1;
    if (isnan(d.mean))
        return;
    printf("  %+7.2f", scale * d.mean);
    if (!isnan(d.p))
        printf(" se %.2f, p %.3f", scale * d.error, d.p);
}

static void print_name(const struct hn_trained *t, int64_t setting) {
    char name[NAME + 1];
    hn_trained_label(t, setting, name, sizeof name);
    printf("%-*s %5" PRId64, NAME, name, hn_trained_seeds(t, setting));
}

static void print_accuracies(const struct hn_trained *t, int64_t base) {
    char title[160];
    hn_trained_title(t, base, title, sizeof title);
    printf("\n%s\n%-*s %5s", title, NAME, "mean +- deviation over seeds", "seeds");
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c))
        printf(" %16s", t->table->column[c].name);
    printf("  paired difference of %s\n", hn_trained_column(t, base));
    printf("%-*s %5" PRId64, NAME, "untrained encoder", hn_trained_seeds(t, base));
    print_values(t, base, base, 0);
    printf("\n");
    print_features(t, base);
    for (int64_t k = base; k < t->settings; k++) {
        if (k != base && t->setting[k].base != base)
            continue;
        print_name(t, k);
        print_values(t, k, base, HN_LAST_STEP);
        if (k != base)
            print_difference(t, k, base);
        printf("\n");
    }
}

static void print_cost(const struct hn_trained *t, int64_t setting, const char *column,
                       double scale, int digits) {
    double mean = hn_trained_cost(t, setting, column).mean;
    if (isnan(mean))
        printf(" %10s", "-");
    else
        printf(" %10.*f", digits, scale * mean);
}

// Times are means over steps and seeds; shares are of a step with all its costs.
static void print_costs(const struct hn_trained *t, int64_t base) {
    static const struct {
        const char *column, *title;
        double scale;
        int digits;
    } shown[] = {{"cost_t", "Cost_T ms", 1e3, 3},          {"cost_s", "Cost_S ms", 1e3, 3},
                 {"cost_g_over_t", "Cost_G/t ms", 1e3, 3}, {"share_s", "Cost_S %", 100, 2},
                 {"share_g", "Cost_G/t %", 100, 2},        {"share_e", "embed %", 100, 2},
                 {"flops_per_step", "GFLOP", 1e-9, 3},     {"share_of_floor", "floor %", 100, 1}};
    enum { SHOWN = sizeof shown / sizeof shown[0] };
    printf("\n%-*s %5s", NAME, "costs of a step", "seeds");
    for (int c = 0; c < SHOWN; c++)
        printf(" %*s", c == 2 ? 11 : 10, shown[c].title);
    printf("\n");
    for (int64_t k = base; k < t->settings; k++) {
        if (k != base && t->setting[k].base != base)
            continue;
        print_name(t, k);
        for (int c = 0; c < SHOWN; c++) {
            printf("%s", c == 2 ? " " : "");
            print_cost(t, k, shown[c].column, shown[c].scale, shown[c].digits);
        }
        printf("\n");
    }
}

static void print_failures(const struct hn_results *r) {
    for (int64_t i = 0; i < r->runs.rows; i++) {
        const char *status = hn_table_text(&r->runs, i, "status");
        if (strcmp(status, "ok") != 0)
            printf("%s: seed %.0f of %s: %s\n", status, hn_table_real(&r->runs, i, "seed"),
                   hn_table_text(&r->runs, i, "sampler"), hn_table_text(&r->runs, i, "error"));
    }
}

enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    for (int64_t k = 0; !code && k < t.settings; k++)
        if (t.setting[k].base < 0) {
            print_accuracies(&t, k);
            print_costs(&t, k);
        }
    if (!code || code == HN_NOT_APPLICABLE)
        print_failures(r);
    hn_trained_free(ctx, &t);
    return code == HN_NOT_APPLICABLE ? HN_OK : code;
}
