// SPDX-License-Identifier: GPL-3.0-or-later
// The table of settings: what is one row, what is a column, and the numbers, against sums by hand.
#include "core/text.h"
#include "results/analysis/groups.h"
#include "results/analysis/named.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/ties.h"
#include "tests/results/analysis/overview_fixture.h"

// Two files, two steps, two batch sizes, three weightings, four settings of samplers, three seeds.
static void put_grid(void) {
    static const struct cell samplers[] = {
        {.sampler = "uniform", .params = "draw=shuffle"},
        {.sampler = "knn", .params = ""},
        {.sampler = "walk", .params = "K=100, M=500", .m = 500},
        {.sampler = "walk", .params = "K=100, M=1000", .m = 1000}};
    static const struct cell weightings[] = {{.weighting = "none", .beta = NAN},
                                             {.weighting = "hcl", .beta = 0.5},
                                             {.weighting = "hcl", .beta = 1}};
    for (int i = 0; i < 2 * 2 * 2 * 3 * 4 * 3; i++) {
        struct cell c = samplers[i / 3 % 4];
        c.m = c.m > 0 ? c.m : NAN;
        c.weighting = weightings[i / 12 % 3].weighting;
        c.beta = weightings[i / 12 % 3].beta;
        c.dataset = i / 36 % 2 ? "a/one.h5" : "two.h5";
        c.step = i / 72 % 2 ? 1000 : 100;
        c.batch_size = i / 144 ? 64 : 32;
        c.seed = i % 3 + 1;
        put(&c, "ok");
    }
}

// Every axis that varies is there under its name, what does not vary is not.
static void every_axis(void) {
    struct hn_overview o;
    begin();
    put_grid();
    make(&o);
    CU_ASSERT_EQUAL(o.settings, 96);
    static const char *const varies[] = {"dataset", "step", "M", "weighting", "beta", "batch_size"};
    CU_ASSERT_EQUAL(o.axes, 6);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_STRING_EQUAL(o.axis[i].name, varies[i]);
    for (int64_t s = 0; s < o.settings; s++) {
        CU_ASSERT_EQUAL(o.seeds[s], 3);
        CU_ASSERT_EQUAL(o.base[s], s - s % 4); // uniform comes first at every place
        CU_ASSERT_EQUAL(hn_overview_leads(&o, s), s < 3);
        CU_ASSERT_EQUAL(o.last[s], s / 24 % 2 == 1);
    }
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 3, "M").text, "1000");
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 0, "M").text, "");
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 13, "dataset").text, "one");
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 5, "beta").text, "0.5");
    CU_ASSERT_STRING_EQUAL(hn_overview_common(&o).text,
                           "loss ntxent, hcl form equation, temperature 0.5");
    CU_ASSERT_STRING_EQUAL(hn_overview_shared(&o, 2).text, "K=100");
    CU_ASSERT_STRING_EQUAL(hn_overview_shared(&o, 0).text, "draw=shuffle");
    end();
}

// A temperature is in a title where there are several, and one is asked for.
static void titles(void) {
    double temperature[] = {0.1, 0.5};
    struct hn_groups g = {.datasets = 1, .temperatures = 2};
    memcpy(g.temperature, temperature, sizeof temperature);
    CU_ASSERT_STRING_EQUAL(hn_groups_title(&g, 0, 1).text, "temperature 0.5");
    CU_ASSERT_STRING_EQUAL(hn_groups_title(&g, 0, -1).text, "");
    g.temperatures = 1;
    CU_ASSERT_STRING_EQUAL(hn_groups_title(&g, 0, 0).text, "");
}

static void make_groups(const char *drawn, struct hn_groups *g) {
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_groups_make(&ctx, &results, (struct hn_choice){.wanted = drawn}, g));
}

// Settings that differ in the loss alone are one where what is drawn is the same, however many
// columns there are: of sixteen numbers one fills its arrays, whose ends sanitizers watch.
static void losses(int more) {
    struct hn_groups g;
    begin();
    for (int k = 0; k < more; k++) {
        const char name[] = {(char)('a' + k), '\0'};
        const struct hn_column same = {name, HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING};
        HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, &same, 1));
    }
    for (int i = 0; i < 4; i++) {
        struct cell c = at(i % 2 ? "knn" : "uniform", 1, 0.1, i / 2 ? 0.5 : 0.6);
        put(&c, "ok");
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &results.runs, i, "loss", i / 2 ? "sup" : "ntxent"));
    }
    make_groups("fn_ratio", &g);
    CU_ASSERT_EQUAL(g.settings, 2);
    make_groups("hard_true_mean", &g);
    CU_ASSERT_EQUAL_FATAL(g.settings, 4);
    CU_ASSERT_STRING_EQUAL(g.setting[2].label, "uniform loss=sup");
    end();
}

static void losses_of_columns(void) {
    for (int more = 0; more < 16; more++)
        losses(more);
}

// Options of the task in which settings differ are in the labels of all of them.
static void task_options(void) {
    static const struct hn_column task = {"task_params", HN_COLUMN_TEXT, "", "",
                                          HN_NEITHER,    HN_ROLE_SETTING};
    static const char *const params[] = {"layers=2, rate=0.1", "layers=2, rate=0.2",
                                         "layers=2, rate=0.3"};
    struct hn_groups g;
    begin();
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, &task, 1));
    for (int i = 0; i < 3; i++) {
        struct cell c = at("uniform", 1, 0.1 * i, 0.5);
        put(&c, "ok");
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &results.runs, i, "task_params", params[i]));
    }
    make_groups("fn_ratio", &g);
    CU_ASSERT_EQUAL_FATAL(g.settings, 3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(g.setting[i].label, params[i] + strlen("layers=2, "));
    end();
}

// A count is in the unit in which its median is at least 1; the column before it keeps its own.
static void units(void) {
    static const struct hn_column products = {"n_dot", HN_COLUMN_REAL, "1",
                                              "",      HN_SMALLER,     HN_ROLE_TIME};
    static const struct {
        double count, scale;
        const char *heading;
    } cases[] = {{3, 1, "Inner products"},
                 {1000, 1e-3, "Inner products (10³)"},
                 {999999, 1e-3, "Inner products (10³)"},
                 {2e6, 1e-6, "Inner products (10⁶)"},
                 {4e10, 1e-9, "Inner products (10⁹)"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        static const double times[] = {NAN, 1e-6, 1, 5000}; // of the median, which is the third
        struct hn_record_column column[HN_SETTING_COLUMNS];
        struct hn_overview o;
        int n;
        begin();
        HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, &products, 1));
        for (int i = 0; i < 4; i++) {
            struct cell c = at(i ? "knn" : "uniform", 1, 0.1, 0.5);
            c.batch_size = 8 << i;
            c.cost = 0.002;
            put(&c, "ok");
            HN_CHECK(&ctx,
                     hn_table_set_real(&ctx, &results.runs, i, "n_dot", cases[k].count * times[i]));
        }
        make(&o);
        CU_ASSERT_EQUAL(o.settings, 4);
        json_t *records = json_array();
        for (int64_t s = 0; s < o.settings; s++)
            json_array_append_new(records, hn_setting_record(&o, s));
        HN_CHECK(&ctx, hn_setting_columns(&ctx, &o, records, column, &n));
        CU_ASSERT_FATAL(n > 1);
        CU_ASSERT_STRING_EQUAL(column[n - 1].key, "n_dot");
        CU_ASSERT_STRING_EQUAL(column[n - 1].heading, cases[k].heading);
        CU_ASSERT_EQUAL(column[n - 1].scale, cases[k].scale);
        CU_ASSERT_STRING_EQUAL(column[n - 2].heading, "ms a batch");
        json_decref(records);
        end();
    }
}

// A name is a sampler with any of its options, in any place.
static void named(void) {
    static const struct {
        const char *name;
        bool fits[4]; // settings 0 .. 3 of a place
    } cases[] = {{"uniform", {true, false, false, false}},
                 {"walk", {false, false, true, true}},
                 {"walk M=500", {false, false, true, false}},
                 {"walk K=100 M=1000", {false, false, false, true}},
                 {"walk M=5", {false, false, false, false}},
                 {"wal", {false, false, false, false}}};
    struct hn_overview o;
    begin();
    put_grid();
    make(&o);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int64_t s = 0; s < o.settings; s++)
            CU_ASSERT_EQUAL(hn_overview_is_named(&o, s, cases[k].name), cases[k].fits[s % 4]);
    CU_ASSERT(hn_overview_is_named(&o, 1, NULL));
    end();
    // Names that are no setting's: those there are, at most twelve.
    begin();
    for (int k = 0; k < 15; k++) {
        char params[16];
        snprintf(params, sizeof params, "M=%d", k);
        struct cell c = at("walk", 0, 0.1, 0.5);
        c.params = params;
        c.m = k;
        put(&c, k == 3 ? "failed" : "ok");
    }
    HN_CHECK(&ctx, hn_overview_check_names(&ctx, &results, "walk M=1, walk M=14"));
    HN_CHECK(&ctx, hn_overview_check_names(&ctx, &results, "walk M=1.0"));
    HN_CHECK_FAILS(&ctx, hn_overview_check_names(&ctx, &results, "walk M=3"), HN_USAGE,
                   "--settings: no setting is 'walk M=3'; there are: walk M=0; walk M=1; ");
    HN_CHECK_FAILS(&ctx, hn_overview_check_names(&ctx, &results, "knn"), HN_USAGE,
                   "walk M=11; and 3 more");
    HN_CHECK_FAILS(&ctx, hn_overview_check_names(&ctx, &results, "walk M=x"), HN_USAGE,
                   "no setting is 'walk M=x'");
    HN_CHECK_FAILS(&ctx, hn_overview_check_names(&ctx, &results, " , "), HN_USAGE,
                   "--settings names no setting; write them as tables do");
    end();
}

// A default is shown where another row of the sampler has the option otherwise.
static void option_left_out(void) {
    struct hn_overview o;
    begin();
    struct cell plain = at("gcbs", 1, 0.1, 0.1), kept = plain;
    plain.params = "quantile=0.999";
    kept.params = "keep=64, quantile=0.999";
    put(&plain, "ok");
    put(&kept, "ok");
    make(&o);
    CU_ASSERT(o.settings == 2 && o.axes == 1);
    CU_ASSERT_STRING_EQUAL(o.axis[0].name, "keep");
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 1, "keep").text, "64");
    CU_ASSERT_STRING_EQUAL(hn_overview_shared(&o, 1).text, "quantile=0.999");
    end();
}

// An option of a weighting that some leave unset is a column, though it has one value.
static void option_unset(void) {
    begin();
    for (int i = 0; i < 3; i++) {
        const struct cell c = {
            "a.h5", "uniform", "", i ? "hcl" : "none", 10, 1, 64, NAN, i ? 1 : NAN, 0.1, 0.5, 1};
        put(&c, "ok");
        if (i == 2)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &results.runs, i, "form", ""));
    }
    struct hn_overview o;
    make(&o);
    CU_ASSERT(o.settings == 3 && hn_overview_varies(&o, "form") &&
              hn_overview_varies(&o, "weighting"));
    CU_ASSERT(!hn_overview_varies(&o, "beta")); // what none lacks tells nothing
    CU_ASSERT_STRING_EQUAL(hn_overview_value(&o, 1, "form").text, "equation");
    end();
}

// Means over the seeds that are done; differences over the seeds that both have.
static void numbers(void) {
    static const double uniform[] = {0.10, 0.12, 0.11}, knn[] = {0.20, 0.21, 0.25};
    struct hn_overview o;
    begin();
    for (int seed = 0; seed < 3; seed++) {
        struct cell u = at("uniform", seed, uniform[seed], 0.5),
                    k = at("knn", 2 - seed, knn[2 - seed], 0.7 + 0.01 * seed);
        put(&u, "ok");
        put(&k, "ok");
    }
    struct cell failed = at("knn", 7, 99, 99), few = at("gcbs", 1, 0.15, 0.6);
    put(&failed, "failed");
    put(&few, "ok");
    make(&o);
    CU_ASSERT_EQUAL(o.settings, 3);
    CU_ASSERT_EQUAL(o.seeds[1], 3);
    struct hn_mean m = hn_overview_mean(&o, 1, "fn_ratio");
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 0.22, 1e-12);
    // .20, .21, .25: deviation .0264575; seeds, not the batches of their intervals
    CU_ASSERT_DOUBLE_EQUAL(m.half, 4.302653 * 0.02645751 / sqrt(3), 1e-6);
    CU_ASSERT_EQUAL(m.over, HN_OVER_SEEDS);
    m = hn_overview_difference(&o, 1, 0, "fn_ratio");
    // .10, .09, .14: mean .11, deviation .0264575; t(.975, 2) = 4.302653
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 0.11, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(m.half, 4.302653 * 0.02645751 / sqrt(3), 1e-6);
    CU_ASSERT_EQUAL(m.n, 3);
    m = hn_overview_difference(&o, 2, 0, "fn_ratio"); // one pair, seed 1: intervals over batches
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 0.03, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(m.half, hypot(0.03, 0.03), 1e-12);
    CU_ASSERT_EQUAL(m.over, HN_OVER_BATCHES);
    m = hn_overview_difference(&o, 2, 0, "hard_true_mean");
    CU_ASSERT(isnan(m.half));
    CU_ASSERT_EQUAL(m.n, 1);
    CU_ASSERT(isnan(hn_overview_mean(&o, 0, "no_such_column").mean));
    end();
}

static struct hn_mean own_difference(const struct hn_overview *o, int64_t a, int64_t b) {
    return hn_replicates_difference(o->results, hn_overview_cells(o, a), hn_overview_cells(o, b),
                                    "fn_ratio");
}

// Intervals of differences to Uniform learn from all settings that share it, those of others not.
static void learned(void) {
    static const char *const sampler[] = {"uniform", "knn", "gcbs", "walk", "b3", "grit", "ngame"};
    enum { SAMPLERS = 7, SEEDS = 5 };
    struct hn_spread spread[SAMPLERS];
    struct hn_overview o;
    begin();
    for (int i = 0; i < 2 * SAMPLERS * SEEDS; i++) {
        int s = i / SEEDS % SAMPLERS, seed = i % SEEDS, large = i / SEEDS / SAMPLERS;
        double noise = 0.004 * (seed * (s + 1 + 2 * large) % (SEEDS + 2));
        struct cell c = at(sampler[s], seed, 0.1 * s + noise, 0.5);
        c.batch_size = large ? 16 : 8;
        put(&c, "ok");
    }
    make(&o);
    CU_ASSERT_EQUAL_FATAL(o.settings, 2 * SAMPLERS);
    for (int64_t base = 0; base < o.settings; base += SAMPLERS) {
        for (int64_t s = 1; s < SAMPLERS; s++) {
            struct hn_mean d = own_difference(&o, base + s, base);
            spread[s] = (struct hn_spread){SEEDS, hn_mean_variance(d),
                                           o.noise[0][base] + o.noise[0][base + s]};
        }
        struct hn_prior prior = hn_prior_fit(spread + 1, SAMPLERS - 1, HN_PRIOR_TO_BASE);
        CU_ASSERT(prior.freedom > 0);
        for (int64_t s = 1; s < SAMPLERS; s++) {
            struct hn_mean d = own_difference(&o, base + s, base);
            struct hn_mean m = hn_overview_to_uniform(&o, base + s, "fn_ratio");
            CU_ASSERT_DOUBLE_EQUAL(m.half, hn_mean_moderated(d, spread[s], prior).half, 1e-12);
            CU_ASSERT(fabs(m.half - d.half) > 1e-9);
        }
        struct hn_mean none = hn_overview_to_uniform(&o, base, "fn_ratio");
        CU_ASSERT(none.n == 0 && isnan(none.mean));
    }
    end();
}

// Any number of seeds is averaged, in whatever order they come; pairs are found by seed.
static void many_seeds(void) {
    enum { SEEDS = 300 };
    struct hn_overview o;
    double sum = 0, squares = 0;
    begin();
    for (int i = 0; i < 2 * SEEDS; i++) {
        int seed = i / 2 * 7 % SEEDS; // 7 and 300 have no common divisor
        double noise = seed * seed % 31 * 1e-3;
        struct cell c = at(i % 2 ? "knn" : "uniform", seed, 0.1 + (seed >= 256) + i % 2 * noise, 0);
        put(&c, "ok");
        sum += i % 2 ? noise : 0;
    }
    for (int seed = 0; seed < SEEDS; seed++)
        squares += pow(seed * seed % 31 * 1e-3 - sum / SEEDS, 2);
    make(&o);
    struct hn_mean m = hn_overview_mean(&o, 0, "fn_ratio"),
                   d = hn_overview_difference(&o, 1, 0, "fn_ratio");
    CU_ASSERT_EQUAL(m.n, SEEDS);
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 0.1 + 44.0 / SEEDS, 1e-12);
    CU_ASSERT_EQUAL(d.n, SEEDS);
    CU_ASSERT_DOUBLE_EQUAL(d.mean, sum / SEEDS, 1e-12);
    // t(.975, 299) = 1.967930
    CU_ASSERT_DOUBLE_EQUAL(d.half, 1.967930 * sqrt(squares / 299 / 300), 1e-8);
    end();
}

// Intervals end where their columns do.
static void ranges(void) {
    static const double ratio[] = {0.99, 0.95, 1}, cosine[] = {-0.99, -0.9, -1},
                        wide[] = {0.9, -0.9, 0.9}; // half of Student's interval: 2.58
    struct hn_overview o;
    begin();
    for (int seed = 0; seed < 3; seed++) {
        struct cell c = at("knn", seed, ratio[seed], cosine[seed]);
        put(&c, "ok");
    }
    for (int seed = 0; seed < 3; seed++) {
        struct cell c = at("gcbs", seed, 0.1, wide[seed]);
        put(&c, "ok");
    }
    make(&o);
    struct hn_mean fn = hn_overview_mean(&o, 0, "fn_ratio"),
                   hard = hn_overview_mean(&o, 0, "hard_true_mean"),
                   far = hn_overview_mean(&o, 1, "hard_true_mean");
    CU_ASSERT_EQUAL(fn.hi, 1);
    CU_ASSERT_DOUBLE_EQUAL(fn.lo, fn.mean - fn.half, 1e-12);
    CU_ASSERT_EQUAL(hard.lo, -1);
    CU_ASSERT(far.lo == -1 && far.hi == 1);
    CU_ASSERT_DOUBLE_EQUAL(far.half, 1.3, 1e-12); // from .3 to -1
    end();
}

// Within needs the upper end of an interval over seeds; too wide a one says how many would do.
static void judged(void) {
    struct hn_mean d = {0, 0.004, -0.004, 0.004, 3, HN_OVER_SEEDS, 1, 2};
    CU_ASSERT_EQUAL(hn_judge(d, HN_MARGIN), HN_WITHIN);
    d = (struct hn_mean){0.13, 0.136, -0.006, 0.266, 3, HN_OVER_SEEDS, 1, 2};
    CU_ASSERT_EQUAL(hn_judge(d, HN_MARGIN), HN_UNDETERMINED);
    // SciPy, deviation .136 sqrt(3) / 4.302653: least n with (t.isf(.025, n - 1) +
    // t.ppf(.9, n - 1)) deviation / sqrt(n) <= .125, and .03
    CU_ASSERT_EQUAL(hn_judge_seeds(d, HN_MARGIN), 5);
    CU_ASSERT_EQUAL(hn_judge_seeds(d, 0.1), 38);
    // SciPy: t.isf(.025 / 5, 2) = 9.924843
    struct hn_mean of_five = hn_mean_among(d, 5);
    CU_ASSERT_DOUBLE_EQUAL(of_five.half, 0.136 * 9.924843 / 4.302653, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(of_five.hi, 0.13 + of_five.half, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(hn_mean_p(of_five), hn_mean_p(d), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(hn_mean_among(of_five, 1).half, d.half, 1e-12);
    CU_ASSERT_EQUAL(hn_judge_seeds(of_five, HN_MARGIN), 6);
    d.lo = HN_MARGIN; // the margin itself is not beyond it
    CU_ASSERT_EQUAL(hn_judge(d, HN_MARGIN), HN_UNDETERMINED);
    d.lo = 0.006;
    CU_ASSERT_EQUAL(hn_judge(d, HN_MARGIN), HN_BEYOND);
    d.over = HN_OVER_BATCHES;
    CU_ASSERT_EQUAL(hn_judge(d, HN_MARGIN), HN_UNDETERMINED);
    CU_ASSERT_EQUAL(hn_mean_among(d, 5).half, d.half);
    CU_ASSERT_EQUAL(hn_judge(hn_no_mean, HN_MARGIN), HN_UNDETERMINED);
    CU_ASSERT_EQUAL(hn_judge_seeds(hn_no_mean, HN_MARGIN), 0);
}

static void without_rows_or_memory(void) {
    struct hn_overview o;
    begin();
    hn_own(&ctx, owner);
    HN_CHECK_FAILS(&ctx, hn_overview_make(&ctx, &results, &o), HN_NOT_APPLICABLE, "no cell");
    hn_own(&ctx, NULL);
    struct cell c = at("uniform", 1, 0.1, 0.5);
    put(&c, "ok");
    hn_own(&ctx, owner);
    enum hn_code code = HN_MEMORY;
    int calls = 1;
    for (; code == HN_MEMORY; calls++) {
        ctx.memory.fail_at = ctx.memory.calls + calls;
        code = hn_overview_make(&ctx, &results, &o);
    }
    ctx.memory.fail_at = 0;
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT(calls > 6);
    end();
}

// Against SciPy: t.ppf(.975, 2) sem([1, 2, 4]) and ttest_1samp([1, 2, 4], 0).
static void values(void) {
    const double value[] = {1, NAN, 2, 4}, same[] = {2, 2, 2};
    struct hn_mean m = hn_values_mean(value, 4, 0);
    CU_ASSERT_EQUAL(m.n, 3);
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 7. / 3, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(m.half, 3.794583033739465, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(m.hi - m.lo, 2 * m.half, 1e-10);
    CU_ASSERT_DOUBLE_EQUAL(hn_mean_p(m), 0.11808289631180306, 1e-10);
    m = hn_values_mean(value, 3, 0);
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 1.5, 1e-15);
    CU_ASSERT(isnan(m.half) && isnan(hn_mean_p(m)));
    CU_ASSERT(isnan(hn_mean_p(hn_values_mean(same, 3, 0))));
    CU_ASSERT(isnan(hn_values_mean(value + 1, 1, 0).mean));
}

// Trainings of one problem differ by sampler and weighting alone, those of other epochs are
// another. A failed one, which did fewer steps, belongs to its setting.
static void trainings(void) {
    static const struct hn_column own[] = {
        {"task", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
        {"weighting_params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
        {"epochs", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING}};
    static const int problem[] = {0, 0, 0, 3};
    struct hn_overview o;
    begin();
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, own, 3));
    for (int i = 0; i < 8; i++) {
        bool failed = i == 2, weighted = i / 2 == 2;
        put(&(struct cell){.dataset = "a",
                           .sampler = i / 2 == 1 ? "knn" : "uniform",
                           .params = "",
                           .weighting = weighted ? "hcl" : "none",
                           .step = failed ? 0 : 100,
                           .seed = i % 2,
                           .m = NAN,
                           .beta = weighted ? 1 : NAN},
            failed ? "failed" : "ok");
        HN_CHECK(&ctx, HN_TABLE_SET(&ctx, &results.runs, i, HN_TEXT_VALUE("task", "views-mlp"),
                                    HN_TEXT_VALUE("weighting_params",
                                                  weighted ? "beta=1, form=equation" : ""),
                                    HN_INT_VALUE("epochs", i / 2 == 3 ? 2 : 1)));
    }
    make(&o);
    CU_ASSERT_EQUAL_FATAL(o.settings, 4);
    for (int s = 0; s < 4; s++) {
        CU_ASSERT_EQUAL(o.seeds[s], s == 1 ? 1 : 2);
        CU_ASSERT_EQUAL(o.first[s], s == 1 ? 3 : 2 * s);
        for (int k = 0; k < 4; k++)
            CU_ASSERT_EQUAL(hn_overview_same_problem(&o, s, k), problem[s] == problem[k]);
    }
    CU_ASSERT(hn_overview_varies(&o, "epochs") && !hn_overview_varies(&o, "step"));
    end();
}

// Differences are over the seeds that both settings have, wherever the others lie.
static void seeds_of_both(void) {
    static const int seeds[2][3] = {{1, 2, 4}, {2, 3, 4}};
    struct hn_overview o;
    for (int swapped = 0; swapped < 2; swapped++) {
        begin();
        for (int i = 0; i < 6; i++) {
            int of = i / 3 != swapped, seed = seeds[of][i % 3];
            struct cell c = at(i < 3 ? "uniform" : "knn", seed, 0.1 * seed + 0.01 * of * seed, 0.5);
            put(&c, "ok");
        }
        make(&o);
        struct hn_mean d = hn_overview_difference(&o, swapped, !swapped, "fn_ratio");
        CU_ASSERT_EQUAL(d.n, 2);
        CU_ASSERT_DOUBLE_EQUAL(fabs(d.mean), 0.03, 1e-12);
        // Two seeds: from the intervals over batches of two cells each, .03 to either side.
        CU_ASSERT_EQUAL(d.over, HN_OVER_BATCHES);
        CU_ASSERT_DOUBLE_EQUAL(d.half, 0.03, 1e-12);
        end();
    }
}

// Fewer than three seeds have the interval that their batches give: .03 to either side of each.
static void over_batches(void) {
    struct hn_overview o;
    begin();
    for (int i = 0; i < 3; i++) {
        struct cell c = at(i < 1 ? "uniform" : "knn", i, 0.4, 0.5);
        put(&c, "ok");
    }
    make(&o);
    struct hn_mean one = hn_overview_mean(&o, 0, "fn_ratio"),
                   two = hn_overview_mean(&o, 1, "fn_ratio");
    CU_ASSERT(one.over == HN_OVER_BATCHES && two.over == HN_OVER_BATCHES);
    CU_ASSERT_DOUBLE_EQUAL(one.half, 0.03, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(two.half, 0.03 / sqrt(2), 1e-12);
    // Of one seed all batches are alike: that is no certainty of .4, nor half of one.
    for (int i = 0; i < 2; i++)
        results.runs.cells[hn_table_find(&results.runs, i ? "fn_ratio_hi" : "fn_ratio_lo")]
            .real[2] = 0.4;
    make(&o);
    two = hn_overview_mean(&o, 1, "fn_ratio");
    CU_ASSERT(two.over == HN_OVER_NOTHING && isnan(two.half) && isnan(two.lo));
    CU_ASSERT_DOUBLE_EQUAL(two.mean, 0.4, 1e-12);
    end();
}

// The last step of a file is its own, whatever steps others have; what is common names the file.
static void last_steps(void) {
    static const struct {
        const char *dataset;
        int step;
        bool last;
    } places[] = {{"a.h5", 1, false}, {"b.h5", 3, true}, {"a.h5", 5, true}};
    struct hn_overview o;
    for (int files = 1; files <= 2; files++) {
        begin();
        for (int i = 0; i < 3; i++) {
            struct cell c = at("uniform", 1, 0.1, 0.5);
            c.dataset = places[files == 2 ? i : 0].dataset;
            c.step = places[i].step;
            put(&c, "ok");
        }
        make(&o);
        CU_ASSERT_EQUAL(o.settings, 3);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(o.last[i], files == 2 ? places[i].last : i == 2);
        CU_ASSERT_EQUAL(strstr(hn_overview_common(&o).text, "dataset a") != NULL, files == 1);
        end();
    }
}

// One of every sampler comes before a second of any, in each round those of low rank.
static void shown(void) {
    struct hn_candidate c[] = {{"knn", 1},     {"knn", 1}, {"gcbs", 2}, {NULL},
                               {"uniform", 0}, {"knn", 0}, {"gcbs", 2}};
    static const int order[] = {4, 0, 2, 1, 6, 5}; // rounds: 0, 0, 0; 1, 1; 2
    enum { N = sizeof c / sizeof *c };
    for (int64_t max = 0; max <= N; max++) {
        for (int i = 0; i < N; i++)
            c[i].shown = false;
        CU_ASSERT_EQUAL(hn_choose_shown(c, N, max), hn_min(max, N - 1));
        for (int k = 0; k < N - 1; k++)
            CU_ASSERT_EQUAL(c[order[k]].shown, k < max);
        CU_ASSERT_FALSE(c[3].shown);
    }
}

// Settings 0 .. 3 of a made-up table: the last has too few seeds.
static struct hn_mean tie_difference(const void *of, int64_t a, int64_t b, const char *column) {
    const double *mean = of;
    struct hn_mean m = hn_no_mean;
    (void)column;
    m.mean = mean[a] - mean[b];
    m.lo = m.mean - 1;
    m.hi = m.mean + 1;
    m.half = 1;
    m.freedom = 4;
    m.over = a == 3 || b == 3 ? HN_OVER_BATCHES : HN_OVER_SEEDS;
    return m;
}

static void ties(void) {
    static const double mean[] = {0, 0.1, 50, 0};
    struct hn_ties t = {.difference = tie_difference, .of = mean, .column = ""};
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_ties_open(&ctx, 4, &t));
    for (t.n = 0; t.n < 4; t.n++)
        t.setting[t.n] = t.n;
    HN_CHECK(&ctx, hn_ties_find(&ctx, &t));
    CU_ASSERT(t.lettered && t.letters[0] == t.letters[1] && t.letters[0]);
    CU_ASSERT(t.letters[2] && !(t.letters[2] & t.letters[0]));
    CU_ASSERT_STRING_EQUAL(hn_ties_text(&t, 2).text, "b");
    CU_ASSERT_STRING_EQUAL(hn_ties_text(&t, 3).text, "--");
    t.setting[1] = 3; // a single one is compared with none
    t.n = 2;
    HN_CHECK(&ctx, hn_ties_find(&ctx, &t));
    CU_ASSERT_FALSE(t.lettered);
}

static const struct hn_test tests[] = {
    {"shown", shown},
    {"ties", ties},
    {"last_steps", last_steps},
    {"seeds_of_both", seeds_of_both},
    {"over_batches", over_batches},
    {"values", values},
    {"every_axis", every_axis},
    {"named", named},
    {"titles", titles},
    {"losses", losses_of_columns},
    {"task_options", task_options},
    {"units", units},
    {"option_left_out", option_left_out},
    {"option_unset", option_unset},
    {"numbers", numbers},
    {"learned", learned},
    {"many_seeds", many_seeds},
    {"ranges", ranges},
    {"judged", judged},
    {"trainings", trainings},
    {"without_rows_or_memory", without_rows_or_memory},
};
HN_TEST_MAIN("overview", tests)
