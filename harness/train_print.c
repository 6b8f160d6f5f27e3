// What is said of trainings at their end: accuracies by setting, paired by seed.
#include "harness/train.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Rows of /runs that differ by their seed alone.
struct setting {
    int64_t first; // row of /runs
    int64_t base;  // setting with the job's first sampler and else the same; -1: itself
};

static const char *text(const struct hn_results *r, int64_t row, const char *column) {
    return hn_table_text(&r->runs, row, column);
}

static bool is_ok(const struct hn_results *r, int64_t row) {
    return strcmp(text(r, row, "status"), "ok") == 0;
}

static bool same_but_sampler(const struct hn_results *r, int64_t a, int64_t b) {
    static const char *const columns[] = {"task", "task_params", "loss", "weighting",
                                          "weighting_params"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strcmp(text(r, a, columns[i]), text(r, b, columns[i])) != 0)
            return false;
    return hn_table_real(&r->runs, a, "temperature") == hn_table_real(&r->runs, b, "temperature") &&
           hn_table_real(&r->runs, a, "batch_size") == hn_table_real(&r->runs, b, "batch_size");
}

static bool same_sampler(const struct hn_results *r, int64_t a, int64_t b) {
    return strcmp(text(r, a, "sampler"), text(r, b, "sampler")) == 0 &&
           strcmp(text(r, a, "params"), text(r, b, "params")) == 0;
}

static const struct hn_table *training_of(const struct hn_results *r) {
    for (int64_t i = 0; i < r->n_tables; i++)
        if (strcmp(r->table[i].name, "training") == 0)
            return &r->table[i];
    return NULL;
}

// A run's value at its last evaluation, or at step 0 (untrained). NaN without.
static double value_of(const struct hn_results *r, int64_t run, const char *column,
                       bool untrained) {
    const struct hn_table *t = training_of(r);
    double value = NAN, step = -1;
    for (int64_t i = 0; t && i < t->rows; i++) {
        double at = hn_table_real(t, i, "step");
        if (hn_table_real(t, i, "run") != (double)run || (untrained ? at > 0 : at < step))
            continue;
        step = at;
        value = hn_table_real(t, i, column);
    }
    return value;
}

struct moments {
    int64_t n;
    double mean, deviation;
};

static struct moments moments_of(const double *v, int64_t n) {
    struct moments m = {.mean = 0};
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(v[i]))
            continue;
        double off = v[i] - m.mean;
        m.n++;
        m.mean += off / (double)m.n;
        squares += off * (v[i] - m.mean);
    }
    m.deviation = m.n > 1 ? sqrt(squares / (double)(m.n - 1)) : NAN;
    if (m.n == 0)
        m.mean = NAN;
    return m;
}

// Run of the setting with the same seed, or -1.
static int64_t partner(const struct hn_results *r, int64_t setting, int64_t run) {
    for (int64_t i = 0; i < r->runs.rows; i++)
        if (is_ok(r, i) && same_but_sampler(r, i, setting) && same_sampler(r, i, setting) &&
            hn_table_real(&r->runs, i, "seed") == hn_table_real(&r->runs, run, "seed"))
            return i;
    return -1;
}

static void print_moments(struct moments m, bool percent) {
    double scale = percent ? 100 : 1;
    int digits = percent ? 2 : 3;
    printf(" %8.*f", digits, scale * m.mean);
    if (isnan(m.deviation))
        printf("  %6s", "");
    else
        printf(" +-%5.*f", digits, scale * m.deviation);
}

static bool is_percent(const struct hn_column *c) {
    size_t length = strlen(c->name);
    return length > 4 && strcmp(c->name + length - 4, "_acc") == 0;
}

// Columns of the task: those between learning_rate and cost_t.
static int task_columns(const struct hn_table *t, int *first) {
    *first = hn_table_find(t, "learning_rate") + 1;
    return hn_table_find(t, "cost_t") - *first;
}

static void print_values(const struct hn_results *r, const struct setting *s, bool untrained,
                         double *room) {
    const struct hn_table *t = training_of(r);
    int first, columns = task_columns(t, &first);
    for (int c = first; c < first + columns; c++) {
        int64_t n = 0;
        for (int64_t i = 0; i < r->runs.rows; i++)
            if (is_ok(r, i) && same_but_sampler(r, i, s->first) && same_sampler(r, i, s->first))
                room[n++] = value_of(r, i, t->column[c].name, untrained);
        print_moments(moments_of(room, n), is_percent(&t->column[c]));
    }
}

// Difference of the first column to the base, over seeds that both have.
static void print_difference(const struct hn_results *r, const struct setting *s, int64_t base,
                             double *room) {
    const struct hn_table *t = training_of(r);
    int first;
    (void)task_columns(t, &first);
    const char *column = t->column[first].name;
    int64_t n = 0;
    for (int64_t i = 0; i < r->runs.rows; i++) {
        if (!is_ok(r, i) || !same_but_sampler(r, i, s->first) || !same_sampler(r, i, s->first))
            continue;
        int64_t other = partner(r, base, i);
        if (other >= 0)
            room[n++] = value_of(r, i, column, false) - value_of(r, other, column, false);
    }
    struct moments m = moments_of(room, n);
    double scale = is_percent(&t->column[first]) ? 100 : 1;
    double error = m.deviation / sqrt((double)m.n);
    printf("  %+7.2f", scale * m.mean);
    if (error > 0)
        printf(" se %.2f, p %.3f", scale * error,
               2 * gsl_cdf_tdist_Q(fabs(m.mean / error), (double)(m.n - 1)));
}

static void print_name(const struct hn_results *r, int64_t row) {
    char name[256];
    const char *weighting = text(r, row, "weighting");
    bool weighted = strcmp(weighting, "none") != 0;
    snprintf(name, sizeof name, "%s {%s} %s%s%s%s%s", text(r, row, "sampler"),
             text(r, row, "params"), text(r, row, "loss"), weighted ? " " : "",
             weighted ? weighting : "", weighted ? " " : "",
             weighted ? text(r, row, "weighting_params") : "");
    printf("%-48.48s", name);
}

static void print_head(const struct hn_results *r, int64_t row) {
    const struct hn_table *t = training_of(r);
    int first, columns = task_columns(t, &first);
    double batch = hn_table_real(&r->runs, row, "batch_size");
    printf("\n%s {%s}, temperature %g, ", text(r, row, "task"), text(r, row, "task_params"),
           hn_table_real(&r->runs, row, "temperature"));
    if (batch > 0)
        printf("batches of %.0f\n", batch);
    else
        printf("all items in a batch\n");
    printf("%-48s %5s", "mean +- deviation over seeds", "seeds");
    for (int c = first; c < first + columns; c++)
        printf(" %16s", t->column[c].name);
    printf("  paired difference of %s\n", t->column[first].name);
}

static int64_t count_seeds(const struct hn_results *r, int64_t row) {
    int64_t n = 0;
    for (int64_t i = 0; i < r->runs.rows; i++)
        n += is_ok(r, i) && same_but_sampler(r, i, row) && same_sampler(r, i, row);
    return n;
}

// Settings in order of their first run; returns their number.
static int64_t find_settings(const struct hn_results *r, struct setting *setting) {
    int64_t n = 0;
    for (int64_t i = 0; i < r->runs.rows; i++) {
        bool known = !is_ok(r, i);
        int64_t base = -1;
        for (int64_t k = 0; k < n; k++) {
            bool same = same_but_sampler(r, i, setting[k].first);
            known |= same && same_sampler(r, i, setting[k].first);
            if (same && base < 0)
                base = k;
        }
        if (!known)
            setting[n++] = (struct setting){i, base};
    }
    return n;
}

static void print_settings(const struct hn_results *r, const struct setting *setting, int64_t n,
                           double *room) {
    for (int64_t k = 0; k < n; k++) {
        const struct setting *s = &setting[k];
        if (s->base >= 0)
            continue;
        print_head(r, s->first);
        printf("%-48s %5" PRId64, "untrained encoder", count_seeds(r, s->first));
        print_values(r, s, true, room);
        printf("\n");
        for (int64_t j = k; j < n; j++) {
            if (j != k && setting[j].base != k)
                continue;
            print_name(r, setting[j].first);
            printf(" %5" PRId64, count_seeds(r, setting[j].first));
            print_values(r, &setting[j], false, room);
            if (j != k)
                print_difference(r, &setting[j], s->first, room);
            printf("\n");
        }
    }
}

enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *r) {
    struct setting *setting = hn_alloc(ctx, r->runs.rows, sizeof *setting);
    double *room = hn_alloc(ctx, r->runs.rows, sizeof *room);
    enum hn_code code = setting && room ? HN_OK : ctx->code;
    if (!code && training_of(r))
        print_settings(r, setting, find_settings(r, setting), room);
    for (int64_t i = 0; !code && i < r->runs.rows; i++)
        if (!is_ok(r, i))
            printf("%s: seed %.0f of %s: %s\n", text(r, i, "status"),
                   hn_table_real(&r->runs, i, "seed"), text(r, i, "sampler"), text(r, i, "error"));
    hn_free(ctx, setting);
    hn_free(ctx, room);
    return code;
}
