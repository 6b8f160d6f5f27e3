// SPDX-License-Identifier: GPL-3.0-or-later
// From ids to pairs to records: what a metric is shown, in which order, and what is refused.
#include "metrics/measure.h"
#include "tests/measured.h"

#include <stdio.h>

static struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

static void runs_leave_out_the_anchor(void) {
    for (int32_t n = 1; n <= 5; n++)
        for (int later = 0; later < 2; later++)
            for (int32_t a = 0; a < n; a++) {
                struct hn_pairs p = {.n = n};
                const int32_t id[] = {0, 1, 2, 3, 4};
                int32_t seen[5] = {0};
                struct hn_run run[2];
                p.id = p.label = id;
                int64_t count = hn_pairs_runs(&p, a, later, run);
                CU_ASSERT_EQUAL(count, later ? n - 1 - a : n - 1);
                for (int r = 0; r < 2; r++)
                    for (int32_t b = 0; b < run[r].count; b++)
                        seen[run[r].id[b]]++;
                for (int32_t b = 0; b < n; b++)
                    CU_ASSERT_EQUAL(seen[b], later ? b > a : b != a);
            }
}

static void check_column(const struct hn_column *column) {
    CU_ASSERT(column->name && column->name[0]);
    CU_ASSERT(column->units && column->units[0]);
    CU_ASSERT(column->long_name && strlen(column->long_name) > 10);
    CU_ASSERT(column->direction >= HN_SMALLER && column->direction <= HN_LARGER);
    int found = 0;
    for (int i = 0; hn_metrics[i]; i++)
        for (int k = 0; k < hn_metrics[i]->n_columns; k++)
            found += strcmp(hn_metrics[i]->columns[k].name, column->name) == 0;
    CU_ASSERT_EQUAL(found, 1);
}

static void registry_is_sound(void) {
    CU_ASSERT(metrics_count() >= 5);
    CU_ASSERT(hn_measure_columns(hn_metrics, metrics_count()) <= MEASURED_MAX);
    for (int i = 0; hn_metrics[i]; i++) {
        hn_test_entry(hn_metrics[i]->name);
        const struct hn_metric_type *type = hn_metrics[i];
        CU_ASSERT_PTR_EQUAL(hn_metric_find(type->name), type);
        CU_ASSERT(type->family && type->summary && type->source);
        CU_ASSERT(type->batch && type->finish);
        CU_ASSERT(type->state_size > 0 || !type->open);
        CU_ASSERT(!(type->needs & HN_METRIC_NEEDS_GLOBAL) ||
                  (type->needs & HN_METRIC_NEEDS_POSITIVE));
        for (int k = 0; k < type->n_columns; k++)
            check_column(&type->columns[k]);
    }
    CU_ASSERT_PTR_NULL(hn_metric_find("no such metric"));
    CU_ASSERT(hn_measure_needs(hn_metrics, metrics_count()) & HN_METRIC_NEEDS_GLOBAL);
}

// A metric of the test's own: it keeps what it was shown, and visits in order.
enum { PROBE_RECORD = 8 };
struct probe {
    int64_t visits, last_batch, last_epoch;
    bool in_order, bare;
};
static struct probe probe_seen;

static double worst_error(const struct hn_pairs *p, const float *product, const struct hn_matrix *x,
                          const struct hn_matrix *y) {
    double worst = 0;
    for (int32_t a = 0; a < p->n; a++)
        for (int32_t b = 0; b < p->n; b++) {
            double exact = hn_dot_exact(hn_row(x, p->id[a]), hn_row(y, p->id[b]), x->cols);
            worst = fmax(worst, fabs((double)product[a * p->n + b] - exact));
        }
    return worst;
}

static void probe_batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                        int thread, double *record) {
    (void)state;
    const struct hn_items *items = env->items;
    record[0] = (double)p->batch;
    record[1] = p->n;
    record[2] = thread >= 0 && thread < env->threads;
    record[3] = p->start ? -1 : worst_error(p, p->cosine, &items->x, &items->x);
    record[4] = p->score && !p->start ? worst_error(p, p->score, &items->x1, &items->x2) : -1;
    record[5] = p->score_t != NULL;
    for (int32_t a = 0; a < p->n; a++)
        record[6] += p->times[a];
    record[7] = p->drawn;
}

static void probe_visit(void *state, const struct hn_metric_env *env, const struct hn_pairs *p) {
    struct probe *s = state;
    (void)env;
    bool first = s->visits == 0;
    s->in_order = (first || s->in_order) && p->batch == s->visits && p->epoch >= s->last_epoch;
    s->bare = (first || s->bare) && !p->cosine && !p->score && !p->score_t && p->id && p->label;
    s->last_batch = p->batch;
    s->last_epoch = p->epoch;
    s->visits++;
}

static enum hn_code probe_finish(struct hn_context *ctx, void *state,
                                 const struct hn_metric_env *env, const double *record,
                                 int64_t batches, double *value, struct hn_cell_arrays *arrays) {
    (void)ctx, (void)arrays;
    probe_seen = *(struct probe *)state;
    double bound = hn_dot_bound(env->items->d);
    value[0] = 0;
    for (int64_t b = 0; b < batches; b++) {
        const double *r = record + b * PROBE_RECORD;
        value[0] += r[0] == (double)b && r[2] == 1 && r[3] <= bound && r[4] <= bound && r[5] == 0 &&
                    r[6] == r[7];
        CU_ASSERT_EQUAL(r[4] >= 0, hn_has_positive(env->items));
    }
    value[1] = record[1];
    return HN_OK;
}

static const struct hn_column probe_columns[] = {
    {"good", HN_COLUMN_REAL, "1", "batches shown as they should be", HN_LARGER},
    {"first", HN_COLUMN_REAL, "1", "distinct items of the first batch", HN_NEITHER},
};
static const struct hn_metric_type probe_type = {
    .name = "probe",
    .columns = probe_columns,
    .n_columns = 2,
    .record_size = PROBE_RECORD,
    .state_size = sizeof(struct probe),
    .batch = probe_batch,
    .visit = probe_visit,
    .finish = probe_finish,
};
static const struct hn_metric_type *const probe_list[] = {&probe_type};

static struct hn_measure_spec probe_spec(const struct hn_items *items, const struct drawn *d) {
    return (struct hn_measure_spec){.metrics = probe_list,
                                    .n_metrics = 1,
                                    .env = {.items = items,
                                            .temperature = 0.5,
                                            .batch_size = d->batch_size,
                                            .threads = 2,
                                            .batches = d->count}};
}

static void a_metric_sees_every_batch(void) {
    struct hn_context ctx = context();
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, 50, 24, 4, views, 3);
        struct drawn d = drawn_partition(&ctx, 50, 12, 3, 5);
        struct hn_measure_spec spec = probe_spec(&items, &d);
        struct measured out = {0};
        HN_CHECK(&ctx, measure_into(&ctx, &spec, &d, &out));
        CU_ASSERT_EQUAL(out.value[0], d.count);
        CU_ASSERT_EQUAL(out.value[1], 12);
        CU_ASSERT_EQUAL(probe_seen.visits, d.count);
        CU_ASSERT_EQUAL(probe_seen.last_batch, d.count - 1);
        CU_ASSERT_EQUAL(probe_seen.last_epoch, 2);
        CU_ASSERT(probe_seen.in_order && probe_seen.bare);
        measured_free(&ctx, &out);
        drawn_free(&ctx, &d);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Ids 7 3 7 7 1 3: distinct 7 3 1, drawn 3, 2 and 1 times.
static struct hn_pairs order_seen;
static int32_t order_id[3], order_times[3], order_label[3];
static float order_diagonal[3];

static void order_batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                        int thread, double *record) {
    (void)state, (void)env, (void)thread, (void)record;
    order_seen = *p;
    CU_ASSERT_EQUAL_FATAL(p->n, 3);
    memcpy(order_id, p->id, sizeof order_id);
    memcpy(order_times, p->times, sizeof order_times);
    memcpy(order_label, p->label, sizeof order_label);
    for (int a = 0; a < 3; a++)
        order_diagonal[a] = p->score[a * 3 + a];
}

static enum hn_code order_finish(struct hn_context *ctx, void *state,
                                 const struct hn_metric_env *env, const double *record,
                                 int64_t batches, double *value, struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)env, (void)record, (void)batches, (void)value, (void)arrays;
    return HN_OK;
}

static void repeats_are_one_item(void) {
    struct hn_context ctx = context();
    static const struct hn_metric_type type = {
        .name = "order", .batch = order_batch, .finish = order_finish};
    static const struct hn_metric_type *const list[] = {&type};
    struct hn_items items = hn_fixture_items(&ctx, 8, 16, 3, true, 3);
    int32_t size = 6, ids[8] = {7, 3, 7, 7, 1, 3, 99, 99};
    struct hn_measure_spec spec = {
        .metrics = list,
        .n_metrics = 1,
        .env = {.items = &items, .temperature = 1, .batch_size = 8, .threads = 1, .batches = 1}};
    struct hn_measure *m;
    HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
    HN_CHECK(&ctx, hn_measure_batches(&ctx, m, 4, 1, &size, ids));
    hn_measure_close(&ctx, m);
    CU_ASSERT_EQUAL(order_seen.drawn, 6);
    CU_ASSERT_EQUAL(order_seen.batch_size, 8);
    CU_ASSERT_EQUAL(order_seen.epoch, 4);
    static const int32_t id[3] = {7, 3, 1}, times[3] = {3, 2, 1};
    for (int a = 0; a < 3; a++) {
        CU_ASSERT_EQUAL(order_id[a], id[a]);
        CU_ASSERT_EQUAL(order_times[a], times[a]);
        CU_ASSERT_EQUAL(order_label[a], items.labels[id[a]]);
        CU_ASSERT_EQUAL(order_diagonal[a], (float)hn_dot_exact(hn_row(&items.x1, id[a]),
                                                               hn_row(&items.x2, id[a]), 16));
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void bad_batches_are_refused(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 10, 8, 2, false, 3);
    struct drawn d = drawn_partition(&ctx, 10, 5, 1, 5);
    struct hn_measure_spec spec = probe_spec(&items, &d);
    struct hn_measure *m;
    HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
    int32_t size[3] = {5, 0, 5};
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 2, size, d.ids), HN_INTERNAL,
                   "batch 1 has 0 ids");
    size[1] = 6;
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 2, size, d.ids), HN_INTERNAL,
                   "batch 1 has 6 ids");
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 3, size, d.ids), HN_INTERNAL,
                   "3 batches in a cell of 2");
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, -1, size, d.ids), HN_INTERNAL, "cell of 2");
    size[1] = 5;
    int32_t kept = d.ids[9];
    d.ids[9] = 10;
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 2, size, d.ids), HN_INTERNAL,
                   "batch 1 holds item 10");
    d.ids[9] = -1;
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 2, size, d.ids), HN_INTERNAL,
                   "batch 1 holds item -1");
    d.ids[9] = kept;
    HN_CHECK(&ctx, hn_measure_batches(&ctx, m, 0, 2, size, d.ids));
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 1, size, d.ids), HN_INTERNAL,
                   "3 batches in a cell of 2");
    hn_measure_close(&ctx, m);
    hn_measure_close(&ctx, NULL);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void bad_settings_are_refused(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 10, 8, 2, true, 3);
    struct drawn d = drawn_partition(&ctx, 10, 5, 1, 5);
    struct hn_measure_spec spec = probe_spec(&items, &d);
    struct hn_measure *m;
    spec.env.threads = 0;
    HN_CHECK_FAILS(&ctx, hn_measure_begin(&ctx, &spec, &m), HN_INTERNAL, "without");
    CU_ASSERT_PTR_NULL(m);
    spec.env.threads = 1;
    const struct hn_metric_env good = spec.env;
    for (int i = 0; i < 4; i++) {
        spec.env.batch_size = i == 0 ? 0 : good.batch_size;
        spec.env.batches = i == 1 ? -1 : good.batches;
        spec.env.capacity = i == 2 ? -1 : i == 3 ? 10 : 0;
        HN_CHECK_FAILS(&ctx, hn_measure_begin(&ctx, &spec, &m), HN_INTERNAL, "without");
    }
    spec.env = good;
    spec.metrics = hn_metrics;
    spec.n_metrics = metrics_count();
    HN_CHECK_FAILS(&ctx, hn_measure_begin(&ctx, &spec, &m), HN_INTERNAL, "global loss");
    struct hn_global global;
    int64_t n_dot;
    HN_CHECK(&ctx, hn_global_compute(&ctx, &items, &(double){0.25}, 1, &global, &n_dot));
    CU_ASSERT(n_dot >= 110 && n_dot <= 110 + 100); // 10 x 10 and 10 positives; padding is allowed
    spec.env.global = &global;
    HN_CHECK_FAILS(&ctx, hn_measure_begin(&ctx, &spec, &m), HN_INTERNAL, "temperature 0.5");
    hn_global_free(&ctx, &global);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Lists of negatives where there are none, none where there are, and lists of what is no other
// item.
static void bad_lists_are_refused(void) {
    enum { CAPACITY = 2, ITEMS = 10 };
    static const struct {
        int32_t count, first;
    } bad[] = {{-1, 0}, {CAPACITY + 1, 0}, {1, -1}, {1, ITEMS}, {2, -2}};
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, ITEMS, 8, 2, false, 3);
    struct drawn d = drawn_partition(&ctx, ITEMS, 5, 1, 5);
    struct hn_measure_spec spec = probe_spec(&items, &d);
    struct hn_measure *m;
    int32_t counts[ITEMS] = {0}, negative[CAPACITY * ITEMS] = {0};
    const struct hn_measure_lists lists = {counts, negative};
    HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
    HN_CHECK_FAILS(&ctx, hn_measure_anchors(&ctx, m, 0, 2, d.size, d.ids, lists), HN_INTERNAL,
                   "lists of negatives in a cell of batches");
    hn_measure_close(&ctx, m);
    spec.env.capacity = CAPACITY;
    HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
    HN_CHECK_FAILS(&ctx, hn_measure_batches(&ctx, m, 0, 2, d.size, d.ids), HN_INTERNAL,
                   "batches without lists of negatives");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        counts[3] = bad[i].count;
        negative[3 * CAPACITY] = bad[i].first == -2 ? d.ids[3] : bad[i].first; // the anchor itself
        HN_CHECK_FAILS(&ctx, hn_measure_anchors(&ctx, m, 0, 2, d.size, d.ids, lists), HN_INTERNAL,
                       "are not other items, at most 2");
    }
    counts[3] = 0;
    HN_CHECK(&ctx, hn_measure_anchors(&ctx, m, 0, 2, d.size, d.ids, lists));
    hn_measure_close(&ctx, m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void an_interrupt_ends_it(void) {
    struct hn_context ctx = context();
    volatile sig_atomic_t stop = 0;
    ctx.stop = &stop;
    struct hn_items items = hn_fixture_items(&ctx, 10, 8, 2, false, 3);
    struct drawn d = drawn_partition(&ctx, 10, 5, 1, 5);
    struct hn_measure_spec spec = probe_spec(&items, &d);
    struct hn_measure *m;
    HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
    stop = 1;
    CU_ASSERT_EQUAL(hn_measure_batches(&ctx, m, 0, 2, d.size, d.ids), HN_INTERRUPTED);
    hn_measure_close(&ctx, m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Which columns are NaN, by the needs of their metric.
static void check_reason(struct hn_context *ctx, bool labels, bool views, const char *why) {
    struct hn_items items = hn_fixture_items(ctx, 30, 8, 3, views, 3);
    for (int32_t i = 0; !labels && i < 30; i++)
        ((int32_t *)items.labels)[i] = -1; // all unlabelled is no labels
    struct drawn d = drawn_partition(ctx, 30, 10, 1, 5);
    struct measured m = measure_all(ctx, &items, &d, 0.5);
    CU_ASSERT_STRING_EQUAL(m.why, why);
    for (int i = 0, at = 0; hn_metrics[i]; i++) {
        hn_test_entry(hn_metrics[i]->name);
        unsigned needs = hn_metrics[i]->needs;
        bool out = (!labels && (needs & HN_METRIC_NEEDS_LABELS)) ||
                   (!views && (needs & HN_METRIC_NEEDS_POSITIVE)) || needs & HN_METRIC_NEEDS_TUPLES;
        for (int k = 0; k < hn_metrics[i]->n_columns; k++, at++)
            if (!(needs & HN_METRIC_USES_LABELS))
                CU_ASSERT_EQUAL(isnan(m.value[at]), out);
    }
    CU_ASSERT(isfinite(column_of(&m, "hardest_mean")));
    CU_ASSERT_EQUAL(isnan(column_of(&m, "hard_true_mean")), !labels);
    CU_ASSERT_EQUAL(isnan(m.arrays.batch_fn_ratio[0]), !labels);
    CU_ASSERT(isfinite(m.arrays.batch_cos_mean[2]));
    measured_free(ctx, &m);
    const int32_t *kept = items.labels;
    if (!labels) { // nor are absent ones
        items.labels = NULL;
        m = measure_all(ctx, &items, &d, 0.5);
        CU_ASSERT_STRING_EQUAL(m.why, why);
        measured_free(ctx, &m);
    }
    items.labels = kept;
    drawn_free(ctx, &d);
    hn_fixture_items_free(ctx, &items);
    CU_ASSERT_EQUAL(ctx->memory.live, 0);
}

static void what_is_missing_is_said(void) {
    struct hn_context ctx = context();
    check_reason(&ctx, true, true, "");
    check_reason(&ctx, true, false, "no positive");
    check_reason(&ctx, false, true, "no labels");
    check_reason(&ctx, false, false, "no positive; no labels");
}

static void check_same(const struct measured *a, const struct measured *b) {
    size_t bytes = (size_t)hn_measure_columns(hn_metrics, metrics_count()) * sizeof *a->value;
    CU_ASSERT_EQUAL(memcmp(a->value, b->value, bytes), 0);
    CU_ASSERT_EQUAL_FATAL(a->arrays.batches, b->arrays.batches);
    bytes = (size_t)a->arrays.batches * sizeof(double);
    CU_ASSERT_EQUAL(memcmp(a->arrays.batch_fn_ratio, b->arrays.batch_fn_ratio, bytes), 0);
    CU_ASSERT_EQUAL(memcmp(a->arrays.batch_cos_mean, b->arrays.batch_cos_mean, bytes), 0);
    bytes = (size_t)(HN_PAIR_KINDS * a->arrays.bins) * sizeof(uint64_t);
    CU_ASSERT_EQUAL(memcmp(a->arrays.histogram, b->arrays.histogram, bytes), 0);
}

static void threads_do_not_matter(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 300, 32, 5, true, 3);
    struct drawn d = drawn_iid(&ctx, 300, 32, 40, 5);
    struct measured one = {0};
    for (int threads = 1; threads <= 4; threads *= 2) {
        ctx.threads = threads;
        struct measured m = measure_all(&ctx, &items, &d, 0.1);
        if (threads == 1) {
            one = m;
            continue;
        }
        check_same(&one, &m);
        measured_free(&ctx, &m);
    }
    measured_free(&ctx, &one);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// One call for all batches, and one call per batch.
static void calls_do_not_matter(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 90, 16, 5, false, 3);
    struct drawn d = drawn_iid(&ctx, 90, 16, 12, 5);
    struct hn_measure_spec spec = {.metrics = hn_metrics,
                                   .n_metrics = metrics_count(),
                                   .env = {.items = &items,
                                           .temperature = 0.5,
                                           .batch_size = 16,
                                           .threads = 2,
                                           .batches = 20}}; // more than there will be
    struct measured out[2] = {0};
    for (int k = 0; k < 2; k++) {
        struct hn_measure *m;
        HN_CHECK(&ctx, hn_measure_begin(&ctx, &spec, &m));
        int32_t step = k == 0 ? 12 : 1;
        for (int32_t b = 0; b < 12; b += step)
            HN_CHECK(&ctx, hn_measure_batches(&ctx, m, 0, step, d.size + b, d.ids + 16 * b));
        HN_CHECK(&ctx, hn_measure_finish(&ctx, m, 0, out[k].value, &out[k].arrays, out[k].why));
        hn_measure_close(&ctx, m);
    }
    CU_ASSERT_EQUAL(out[0].arrays.batches, 12);
    check_same(&out[0], &out[1]);
    measured_free(&ctx, &out[0]);
    measured_free(&ctx, &out[1]);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void nothing_measured_is_nan(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 20, 8, 5, true, 3);
    struct drawn d = drawn_empty(&ctx, 0, 4, 1);
    struct measured m = measure_all(&ctx, &items, &d, 0.5);
    for (int k = 0; k < hn_measure_columns(hn_metrics, metrics_count()); k++) {
        bool global = k == column_place("loss_global") || k == column_place("pos_prob_global");
        CU_ASSERT_EQUAL(isnan(m.value[k]), !global);
    }
    measured_free(&ctx, &m);
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void failing_allocations_are_reported(void) {
    struct hn_context ctx = context();
    struct hn_items items = hn_fixture_items(&ctx, 20, 8, 3, true, 3);
    struct drawn d = drawn_partition(&ctx, 20, 8, 1, 5);
    int64_t live = ctx.memory.live, k = 0;
    enum hn_code code;
    do {
        struct measured m;
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = try_measure(&ctx, &items, &d, 0.5, &m);
        if (code == HN_OK)
            measured_free(&ctx, &m);
        else
            CU_ASSERT_EQUAL(code, HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
    } while (code != HN_OK && k < 1000);
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT(k > 30);
    ctx.memory.fail_at = 0;
    drawn_free(&ctx, &d);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"runs_leave_out_the_anchor", runs_leave_out_the_anchor},
    {"every_metric_is_sound", registry_is_sound},
    {"a_metric_sees_every_batch", a_metric_sees_every_batch},
    {"repeats_are_one_item", repeats_are_one_item},
    {"bad_batches_are_refused", bad_batches_are_refused},
    {"bad_settings_are_refused", bad_settings_are_refused},
    {"bad lists are refused", bad_lists_are_refused},
    {"an_interrupt_ends_it", an_interrupt_ends_it},
    {"every_missing_need_is_said", what_is_missing_is_said},
    {"every_metric_any_threads", threads_do_not_matter},
    {"calls_do_not_matter", calls_do_not_matter},
    {"nothing_measured_is_nan", nothing_measured_is_nan},
    {"every_failing_allocation_is_reported", failing_allocations_are_reported},
};

HN_TEST_MAIN("measure", tests)
