// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of samplers and their options, and facts about a build.
#include "core/digest.h"
#include "core/label_sets.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "library/library_private.h"
#include "samplers/sampler.h"

#include <string.h>

static const struct hn_sampler_type *find_type(int i) {
    for (int k = 0; i >= 0 && hn_samplers[k]; k++)
        if (k == i)
            return hn_samplers[k];
    return NULL;
}

int hardneg_type(int i, const char **name, const char **summary, const char **source,
                 int *per_anchor) {
    const struct hn_sampler_type *type = find_type(i);
    if (!type)
        return 0;
    if (name)
        *name = type->name;
    if (summary)
        *summary = type->summary;
    if (source)
        *source = type->source;
    if (per_anchor)
        *per_anchor = (type->flags & HN_SAMPLER_PER_ANCHOR) != 0;
    return 1;
}

int hardneg_option(int i, int k, struct hardneg_option *out) {
    const struct hn_sampler_type *type = find_type(i);
    const struct hn_option *option = type && k >= 0 && out ? type->options : NULL;
    while (option && option->name && k-- > 0)
        option++;
    if (!option || !option->name || out->size != sizeof *out)
        return 0;
    *out = (struct hardneg_option){.size = sizeof *out,
                                   .name = option->name,
                                   .initial = option->initial,
                                   .help = option->help};
    hn_put_text(out->range, sizeof out->range, "%s", hn_option_range(option).text);
    return 1;
}

static bool *find_need(struct hn_sampler_plan *plan, const char *member) {
    const struct {
        const char *name;
        bool *has;
    } needs[] = {{"view2", &plan->has_positive},  {"labels", &plan->has_labels},
                 {"edges", &plan->has_graph},     {"features", &plan->has_features},
                 {"teacher", &plan->has_teacher}, {"groups", &plan->has_groups},
                 {"tuples", &plan->has_tuples}};
    for (size_t i = 0; member && i < sizeof needs / sizeof needs[0]; i++)
        if (strcmp(needs[i].name, member) == 0)
            return needs[i].has;
    return NULL;
}

int hardneg_needs(const hardneg *h, const char *member) {
    struct hn_sampler_plan plan = {.n = INT32_MAX,
                                   .has_positive = true,
                                   .has_labels = true,
                                   .has_tuples = true,
                                   .has_graph = true,
                                   .has_features = true,
                                   .has_teacher = true,
                                   .has_groups = true};
    bool *has = find_need(&plan, member);
    struct hn_context tried;
    if (!h || !h->type || !has)
        return 0;
    hn_context_init(&tried, 1);
    plan.batch_size = h->batch_size;
    *has = false;
    return hn_sampler_missing(h->type, &plan) ||
           (!plan.has_tuples && hn_sampler_keeps_apart(h->type, h->params)) ||
           (h->type->check && h->type->check(&tried, h->params, &plan));
}

int hardneg_partitions(const hardneg *h) {
    return h && h->type && hn_sampler_partitions(h->type, h->params);
}

static void digest_rows(struct hn_digest *d, const char *name, const void *data, int64_t rows,
                        int64_t bytes) {
    if (!data)
        return;
    hn_digest_add_text(d, name);
    hn_digest_add_int(d, rows);
    hn_digest_add_int(d, bytes);
    hn_digest_add(d, data, (size_t)(rows * bytes));
}

static void digest_matrix(struct hn_digest *d, const char *name, const struct hn_matrix *x) {
    digest_rows(d, name, x->data, x->rows, x->cols * (int64_t)sizeof *x->data);
}

static void digest_items(struct hn_digest *d, const struct hn_items *items) {
    const struct hn_label_sets *sets = items->label_sets;
    const struct hn_graph *graph = items->graph;
    digest_matrix(d, "x", &items->x);
    digest_matrix(d, "view2", &items->x2);
    digest_matrix(d, "teacher", &items->teacher);
    if (items->features)
        digest_matrix(d, "features", &items->features->dense);
    digest_rows(d, "labels", items->labels, items->n, sizeof *items->labels);
    digest_rows(d, "groups", items->group, items->n, sizeof *items->group);
    if (sets) {
        digest_rows(d, "label_start", sets->start, sets->n + 1, sizeof *sets->start);
        digest_rows(d, "label", sets->label, sets->start[sets->n], sizeof *sets->label);
    }
    if (items->tuples) {
        const struct hn_qrels *known = &items->tuples->known;
        digest_rows(d, "query_text", items->tuples->query, items->n, sizeof(int32_t));
        digest_rows(d, "passage_text", items->tuples->passage, items->n, sizeof(int32_t));
        digest_rows(d, "negative_text", items->tuples->negative,
                    items->n * items->tuples->negatives, sizeof(int32_t));
        digest_rows(d, "known_start", known->start, known->n + 1, sizeof *known->start);
        digest_rows(d, "known", known->passage, known->start[known->n], sizeof *known->passage);
    }
    if (graph) {
        digest_rows(d, "edge_start", graph->start, graph->n + 1, sizeof *graph->start);
        digest_rows(d, "edge", graph->target, graph->start[graph->n], sizeof *graph->target);
    }
}

int hardneg_digest(hardneg *h, char text[HARDNEG_DIGEST]) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    if (!text)
        return hn_library_leave(h, hn_fail(&b->ctx, HN_USAGE, "text is NULL"));
    struct hn_digest d;
    hn_digest_begin(&d);
    hn_digest_add_text(&d, h->name);
    hn_digest_add_int(&d, h->batch_size);
    hn_digest_add_int(&d, (int64_t)h->seed);
    hn_digest_add_int(&d, b->items.index);
    hn_digest_add_real(&d, b->items.progress);
    digest_items(&d, &b->items);
    hn_digest_end(&d, text);
    return hn_library_leave(h, HN_OK);
}

static bool read_attrition(struct hn_library_build *b, int64_t row, struct hardneg_attrition *out) {
    struct hn_table table = {.name = NULL};
    const struct hn_sampler_type *type = b->sampler.type;
    HN_SCOPE(&b->ctx);
    if (!type->table || type->table(&b->ctx, &b->sampler, &table) ||
        strcmp(table.name, "attrition") != 0 || row >= table.rows)
        return false;
    int64_t *const count[] = {&out->other_label, &out->same_label, &out->unlabelled};
    (void)snprintf(out->filter, sizeof out->filter, "%s", table.cells[1].text[row]);
    for (int k = 0; k < 3; k++)
        *count[k] = table.cells[2 + k].count[row];
    return true;
}

int hardneg_attrition(hardneg *h, int i, struct hardneg_attrition *out) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return 0;
    if (!out || out->size != sizeof *out) {
        (void)hn_library_leave(h, hn_fail(&b->ctx, HN_USAGE,
                                          "out is NULL, or its size is not set: .size = "
                                          "sizeof(struct hardneg_attrition)"));
        return 0;
    }
    bool found = i >= 0 && read_attrition(b, i, out);
    (void)hn_library_leave(h, HN_OK);
    return found;
}
