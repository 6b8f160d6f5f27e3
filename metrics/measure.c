// SPDX-License-Identifier: GPL-3.0-or-later
// From ids to numbers: hands the pairs of batches to metrics.
#include "metrics/measure.h"

#include "metrics/anchor_loss.h"
#include "metrics/workspace.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

// A metric at work, or one that cannot be (state = NULL, run = false). shared: state and record are
// those of an earlier setting, which it does not tell from its own.
struct slot {
    const struct hn_metric_type *type;
    bool run, shared;
    void *state;
    double *record; // [batches x type->record_size]
};

struct setting {
    struct hn_metric_env env;
    unsigned lacking;  // needs of the metrics that are not met
    struct slot *slot; // [n_slots]
};

struct hn_measure {
    struct hn_metric_env env; // of the first setting
    int n_slots, n_settings;
    struct setting *setting;   // [n_settings]
    struct hn_workspace *work; // [env.threads]
    int64_t done;              // batches measured
    struct hn_products_wanted wanted;
};

static unsigned missing(const struct hn_metric_env *env) {
    const struct hn_items *items = env->items;
    unsigned lacks = hn_is_weighted(&env->weighting) ? HN_METRIC_NEEDS_UNWEIGHTED : 0;
    if (!hn_has_relation(items))
        lacks |= HN_METRIC_NEEDS_LABELS | HN_METRIC_USES_LABELS;
    if (items->label_sets)
        lacks |= HN_METRIC_NEEDS_CLASSES;
    if (!items->tuples)
        lacks |= HN_METRIC_NEEDS_TUPLES;
    if (!hn_has_positive(items))
        lacks |= HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_GLOBAL | HN_METRIC_NEEDS_VIEWS;
    return lacks;
}

// True if a metric that will run reads env->global.
static bool global_is_read(const struct hn_measure_spec *spec, const struct hn_metric_env *env) {
    unsigned lacks = missing(env) & ~(unsigned)HN_METRIC_USES_LABELS;
    for (int i = 0; i < spec->n_metrics; i++)
        if ((spec->metrics[i]->needs & HN_METRIC_NEEDS_GLOBAL) &&
            !(spec->metrics[i]->needs & lacks))
            return true;
    return false;
}

static enum hn_code check_setting(struct hn_context *ctx, const struct hn_measure_spec *spec,
                                  const struct hn_metric_env *env) {
    if (env->items->n < 1 || env->batch_size < 1 || env->threads < 1 || env->batches < 0 ||
        env->capacity < 0 || env->capacity >= env->items->n)
        return hn_fail(ctx, HN_INTERNAL, "a measurement without items, batch size or threads");
    if (env->weighting.guided && !env->items->teacher.data)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "a weighting with guide: teacher needs a teacher, which these items do not "
                       "have");
    if (!global_is_read(spec, env))
        return HN_OK;
    const struct hn_global *g = env->global;
    if (!g || g->n != env->items->n || g->temperature != env->temperature)
        return hn_fail(ctx, HN_INTERNAL,
                       "a metric needs the global loss of these items at temperature %g",
                       env->temperature);
    return HN_OK;
}

// True if a metric gives the same at two settings.
static bool agree(const struct hn_metric_type *type, const struct hn_metric_env *a,
                  const struct hn_metric_env *b) {
    return type->needs & HN_METRIC_ANY_LOSS &&
           (type->needs & HN_METRIC_ANY_TEMPERATURE || a->temperature == b->temperature);
}

static enum hn_code open_slot(struct hn_context *ctx, struct hn_measure *m, int k, int i,
                              const struct hn_metric_type *type) {
    struct setting *setting = &m->setting[k];
    struct slot *slot = &setting->slot[i];
    slot->type = type;
    slot->run = !(type->needs & setting->lacking & ~(unsigned)HN_METRIC_USES_LABELS);
    if (!slot->run)
        return HN_OK;
    for (int j = 0; j < k && !slot->shared; j++)
        if (m->setting[j].slot[i].run && agree(type, &m->setting[j].env, &setting->env)) {
            *slot = m->setting[j].slot[i];
            slot->shared = true;
        }
    if (slot->shared)
        return HN_OK;
    slot->record = hn_zalloc(ctx, m->env.batches, (size_t)type->record_size * sizeof *slot->record);
    slot->state = hn_zalloc(ctx, 1, type->state_size);
    if (!slot->record || !slot->state)
        return ctx->code;
    return type->open ? type->open(ctx, slot->state, &setting->env) : HN_OK;
}

// Adds what a setting's metrics ask for to the products.
static void want(struct hn_measure *m, const struct setting *setting, unsigned needs) {
    const struct hn_metric_env *env = &setting->env;
    bool views = needs & ~setting->lacking & HN_METRIC_NEEDS_VIEWS;
    m->wanted.same[0] |= views && env->loss != HN_LOSS_OTHER_VIEW;
    m->wanted.same[1] |= views && env->loss == HN_LOSS_NTXENT;
    m->wanted.guide |= views && env->weighting.guided;
    m->wanted.turned |=
        hn_has_positive(env->items) &&
        (env->capacity > 0 || (views && hn_loss_turns(&env->weighting, env->temperature)));
}

static enum hn_code open_setting(struct hn_context *ctx, const struct hn_measure_spec *spec,
                                 struct hn_measure *m, int k) {
    struct setting *setting = &m->setting[k];
    setting->env = m->env;
    if (k > 0) {
        const struct hn_measure_setting *other = &spec->other[k - 1];
        setting->env.global = other->global;
        setting->env.temperature = other->temperature;
        setting->env.loss = other->loss;
        setting->env.weighting = other->weighting;
    }
    unsigned needs = hn_measure_needs(spec->metrics, spec->n_metrics);
    setting->lacking = needs & missing(&setting->env);
    want(m, setting, needs);
    if (!HN_ZALLOC(ctx, setting->slot, spec->n_metrics) || check_setting(ctx, spec, &setting->env))
        return ctx->code;
    for (int i = 0; i < spec->n_metrics; i++)
        if (open_slot(ctx, m, k, i, spec->metrics[i]))
            return ctx->code;
    m->n_settings++;
    return HN_OK;
}

static enum hn_code open_all(struct hn_context *ctx, const struct hn_measure_spec *spec,
                             struct hn_measure *m) {
    int settings = 1 + spec->n_others;
    m->n_slots = spec->n_metrics;
    if (!HN_ZALLOC(ctx, m->setting, settings) || !HN_ZALLOC(ctx, m->work, m->env.threads))
        return ctx->code;
    enum hn_code code = HN_OK;
    for (int k = 0; k < settings && !code; k++)
        code = open_setting(ctx, spec, m, k);
    int masked = 0;
    for (int k = 0; k < settings && !code; k++)
        masked += m->setting[k].env.weighting.mask != HN_MASK_NONE;
    for (int t = 0; t < m->env.threads && !code; t++)
        code = hn_workspace_open(ctx, &m->env, &m->wanted, settings, masked, &m->work[t]);
    return code;
}

enum hn_code hn_measure_begin(struct hn_context *ctx, const struct hn_measure_spec *spec,
                              struct hn_measure **out) {
    *out = NULL;
    if (check_setting(ctx, spec, &spec->env))
        return ctx->code;
    struct hn_measure *m = hn_zalloc(ctx, 1, sizeof *m);
    if (!m)
        return ctx->code;
    m->env = spec->env;
    // No more threads than batches: each has a workspace.
    m->env.threads = (int)hn_max(1, hn_min(spec->env.threads, spec->env.batches));
    void *outer = hn_own(ctx, m);
    enum hn_code code = open_all(ctx, spec, m);
    hn_own(ctx, outer);
    if (code)
        hn_measure_close(ctx, m);
    else
        *out = m;
    return code;
}

static enum hn_code check_batches(struct hn_context *ctx, const struct hn_measure *m, int32_t count,
                                  const int32_t *size, const int32_t *ids) {
    if (count < 0 || count > m->env.batches - m->done)
        return hn_fail(ctx, HN_INTERNAL, "%lld batches in a cell of %lld",
                       (long long)(m->done + count), (long long)m->env.batches);
    for (int32_t b = 0; b < count; b++) {
        if (size[b] < 1 || size[b] > m->env.batch_size)
            return hn_fail(ctx, HN_INTERNAL, "batch %lld has %d ids, not 1 to %d",
                           (long long)(m->done + b), size[b], m->env.batch_size);
        const int32_t *id = ids + (int64_t)b * m->env.batch_size;
        for (int32_t k = 0; k < size[b]; k++)
            if (id[k] < 0 || id[k] >= m->env.items->n)
                return hn_fail(ctx, HN_INTERNAL, "batch %lld holds item %d, which there is not",
                               (long long)(m->done + b), id[k]);
    }
    return HN_OK;
}

static enum hn_code check_lists(struct hn_context *ctx, const struct hn_measure *m, int32_t count,
                                const int32_t *size, const int32_t *ids,
                                struct hn_measure_lists lists) {
    const struct hn_metric_env *env = &m->env;
    for (int32_t b = 0; b < count; b++)
        for (int64_t p = (int64_t)b * env->batch_size, end = p + size[b]; p < end; p++) {
            const int32_t *id = lists.negative + p * env->capacity;
            bool fits = lists.negatives[p] >= 0 && lists.negatives[p] <= env->capacity;
            for (int32_t k = 0; fits && k < lists.negatives[p]; k++)
                fits = id[k] >= 0 && id[k] < env->items->n && id[k] != ids[p];
            if (!fits)
                return hn_fail(ctx, HN_INTERNAL,
                               "batch %lld: the negatives of item %d are not other items, at most "
                               "%lld",
                               (long long)(m->done + b), ids[p], (long long)env->capacity);
        }
    return HN_OK;
}

static void measure_one(struct hn_measure *m, struct hn_pairs *p, int thread) {
    hn_workspace_fill(m->env.items, &m->work[thread], p);
    for (const struct setting *s = m->setting; s < m->setting + m->n_settings; s++)
        for (const struct slot *slot = s->slot; slot < s->slot + m->n_slots; slot++)
            if (slot->run && !slot->shared)
                slot->type->batch(slot->state, &s->env, p, thread,
                                  slot->record + p->batch * slot->type->record_size);
}

static void visit_one(struct hn_measure *m, const struct hn_pairs *p) {
    for (const struct setting *s = m->setting; s < m->setting + m->n_settings; s++)
        for (const struct slot *slot = s->slot; slot < s->slot + m->n_slots; slot++)
            if (slot->run && !slot->shared && slot->type->visit)
                slot->type->visit(slot->state, &s->env, p);
}

// Batches as drawn; lists are NULL but for samplers with negatives of each anchor.
struct drawn {
    int64_t epoch;
    const int32_t *size, *ids;
    struct hn_measure_lists lists;
};

static struct hn_pairs pairs_of(const struct hn_measure *m, const struct drawn *d, int32_t b,
                                int thread) {
    const struct hn_metric_env *env = &m->env;
    int64_t first = (int64_t)b * env->batch_size;
    struct hn_measure_lists here = d->lists;
    if (env->capacity > 0) {
        here.negatives += first;
        here.negative += first * env->capacity;
    }
    struct hn_pairs p = hn_workspace_pairs(env, &m->work[thread], d->size[b], d->ids + first,
                                           env->capacity > 0 ? &here : NULL);
    p.batch = m->done + b;
    p.epoch = d->epoch;
    return p;
}

static void measure_drawn(struct hn_measure *m, int32_t count, const struct drawn *d) {
#pragma omp parallel for num_threads(m->env.threads) schedule(dynamic)
    for (int32_t b = 0; b < count; b++) {
        int thread = omp_get_thread_num();
        struct hn_pairs p = pairs_of(m, d, b, thread);
        measure_one(m, &p, thread);
    }
    for (int32_t b = 0; b < count; b++) {
        struct hn_pairs p = pairs_of(m, d, b, 0);
        visit_one(m, &p);
    }
    m->done += count;
}

enum hn_code hn_measure_batches(struct hn_context *ctx, struct hn_measure *m, int64_t epoch,
                                int32_t count, const int32_t *size, const int32_t *ids) {
    if (m->env.capacity > 0)
        return hn_fail(ctx, HN_INTERNAL, "batches without lists of negatives in a cell with them");
    if (hn_check_stop(ctx) || check_batches(ctx, m, count, size, ids))
        return ctx->code;
    measure_drawn(m, count, &(struct drawn){.epoch = epoch, .size = size, .ids = ids});
    return HN_OK;
}

enum hn_code hn_measure_anchors(struct hn_context *ctx, struct hn_measure *m, int64_t epoch,
                                int32_t count, const int32_t *size, const int32_t *ids,
                                struct hn_measure_lists lists) {
    if (m->env.capacity == 0)
        return hn_fail(ctx, HN_INTERNAL, "lists of negatives in a cell of batches");
    if (hn_check_stop(ctx) || check_batches(ctx, m, count, size, ids) ||
        check_lists(ctx, m, count, size, ids, lists))
        return ctx->code;
    measure_drawn(m, count, &(struct drawn){epoch, size, ids, lists});
    return HN_OK;
}

static enum hn_code take_arrays(struct hn_context *ctx, int64_t batches,
                                struct hn_cell_arrays *arrays) {
    *arrays = (struct hn_cell_arrays){.batches = batches};
    if (!HN_ALLOC(ctx, arrays->batch_fn_ratio, batches) ||
        !HN_ALLOC(ctx, arrays->batch_cos_mean, batches))
        return ctx->code;
    for (int64_t b = 0; b < batches; b++)
        arrays->batch_fn_ratio[b] = arrays->batch_cos_mean[b] = NAN;
    return HN_OK;
}

static void add_reason(char *why, const char *name, const char *reason) {
    size_t used = strlen(why);
    snprintf(why + used, HN_MESSAGE_MAX - used, "%s%s%s", used ? "; " : "", name, reason);
}

// Why columns are NaN, and what false negatives are of tuples.
static void explain(const struct hn_measure *m, const struct setting *s, char *why) {
    *why = '\0';
    if (s->lacking & (HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_GLOBAL))
        add_reason(why, "", "no positive");
    if (s->lacking & (HN_METRIC_NEEDS_LABELS | HN_METRIC_USES_LABELS))
        add_reason(why, "", "no labels");
    if (m->env.items->tuples && !m->env.items->tuples->hidden.start)
        add_reason(why, "", HN_NOTE_KNOWN_RELEVANCE);
    for (int i = 0; i < m->n_slots; i++)
        if (s->slot[i].type->needs & s->lacking & HN_METRIC_NEEDS_UNWEIGHTED)
            add_reason(why, s->slot[i].type->name, ": weighting none only");
}

enum hn_code hn_measure_finish(struct hn_context *ctx, struct hn_measure *m, int setting,
                               double *value, struct hn_cell_arrays *arrays, char *why) {
    const struct setting *s = &m->setting[setting];
    explain(m, s, why);
    enum hn_code code = take_arrays(ctx, m->done, arrays);
    for (int i = 0; i < m->n_slots && !code; i++) {
        const struct slot *slot = &s->slot[i];
        for (int k = 0; k < slot->type->n_columns; k++)
            value[k] = NAN;
        if (slot->run)
            code =
                slot->type->finish(ctx, slot->state, &s->env, slot->record, m->done, value, arrays);
        value += slot->type->n_columns;
    }
    if (code)
        hn_cell_arrays_free(ctx, arrays);
    return code;
}

void hn_measure_close(struct hn_context *ctx, struct hn_measure *m) { hn_free(ctx, m); }

void hn_cell_arrays_free(struct hn_context *ctx, struct hn_cell_arrays *arrays) {
    hn_free(ctx, arrays->histogram);
    hn_free(ctx, arrays->batch_fn_ratio);
    hn_free(ctx, arrays->batch_cos_mean);
    memset(arrays, 0, sizeof *arrays);
}
