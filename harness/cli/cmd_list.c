// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg list`: what the registries hold. Every entry is a record, printed as JSON or as text.
#include "core/options/option_text.h"
#include "core/terminal.h"
#include "core/text.h"
#include "datasets/import/format.h"
#include "harness/cli/command.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "plots/page/figure.h"
#include "results/records.h"
#include "samplers/given.h"
#include "training/tasks/task.h"

#include <string.h>

static const char *const kind_names[] = {"int",      "real", "bool", "choice",
                                         "schedule", "text", "list", "size"};

static json_t *parameters(const struct hn_option *options) {
    json_t *list = json_array();
    for (const struct hn_option *o = options; o->name; o++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:s, s:s}", "name", o->name, "type",
                                              kind_names[o->kind], "default", o->initial, "range",
                                              hn_option_range(o).text, "help", o->help));
    return list;
}

struct flag_name {
    unsigned flag;
    const char *name; // NULL ends a list
};
static const struct flag_name sampler_flags[] = {{HN_SAMPLER_PARTITION, "partition"},
                                                 {HN_SAMPLER_NEEDS_LABELS, "needs_labels"},
                                                 {HN_SAMPLER_NEEDS_VIEW2, "needs_view2"},
                                                 {HN_SAMPLER_NEEDS_GRAPH, "needs_graph"},
                                                 {HN_SAMPLER_NEEDS_TEACHER, "needs_teacher"},
                                                 {HN_SAMPLER_NEEDS_GROUPS, "needs_groups"},
                                                 {HN_SAMPLER_PER_ANCHOR, "per_anchor"},
                                                 {HN_SAMPLER_ORDERED, "ordered"},
                                                 {HN_SAMPLER_GIVEN, "given"},
                                                 {0, NULL}};
// Needs of a metric, without which its values, or some of them, are NaN.
static const struct flag_name metric_needs[] = {
    {HN_METRIC_NEEDS_LABELS | HN_METRIC_USES_LABELS, "labels"},
    {HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_GLOBAL | HN_METRIC_NEEDS_VIEWS, "positive"},
    {HN_METRIC_NEEDS_UNWEIGHTED, "unweighted"},
    {HN_METRIC_NEEDS_CLASSES, "classes"},
    {HN_METRIC_NEEDS_TUPLES, "tuples"},
    {0, NULL}};

static json_t *flags(unsigned set, const struct flag_name *names) {
    json_t *list = json_array();
    for (const struct flag_name *f = names; f->name; f++)
        if (set & f->flag)
            json_array_append_new(list, json_string(f->name));
    return list;
}

static json_t *columns(const struct hn_column *column, int n) {
    json_t *list = json_array();
    for (const struct hn_column *c = column; c < column + n; c++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", c->name, "units",
                                              c->units, "long_name", c->long_name, "direction",
                                              hn_direction_name(c->direction)));
    return list;
}

static void add_samplers(json_t *list, const struct hn_sampler_type *const *t) {
    for (; *t; t++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", (*t)->name,
                                        "summary", (*t)->summary, "paper", (*t)->source, "note",
                                        (*t)->note, "flags", flags((*t)->flags, sampler_flags),
                                        "parameters", parameters((*t)->options)));
}

static json_t *samplers(void) {
    json_t *list = json_array();
    add_samplers(list, hn_samplers);
    add_samplers(list, hn_given_samplers);
    return list;
}

static json_t *list_losses(const struct hn_loss_type *l) {
    json_t *list = json_array();
    for (; l->name; l++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", l->name, "summary",
                                              l->summary, "paper", l->source));
    return list;
}

static json_t *losses(void) { return list_losses(hn_losses); }
static json_t *train_losses(void) { return list_losses(hn_objectives); }

static json_t *weightings(void) {
    json_t *list = json_array();
    for (const struct hn_weighting_type *const *w = hn_weightings; *w; w++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", (*w)->name, "summary",
                                        (*w)->summary, "paper", (*w)->source, "note", (*w)->note,
                                        "parameters", parameters((*w)->options)));
    return list;
}

// `table`: where the columns stand in the results file.
static json_t *metrics(void) {
    json_t *list = json_array();
    const char *format = "{s:s, s:s, s:s, s:s, s:s, s:o, s:o}";
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
        json_array_append_new(list,
                              json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                        "summary", (*m)->summary, "paper", (*m)->source, "table",
                                        "runs", "needs", flags((*m)->needs, metric_needs),
                                        "columns", columns((*m)->columns, (*m)->n_columns)));
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        json_array_append_new(list,
                              json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                        "summary", (*m)->summary, "paper", (*m)->source, "table",
                                        "snapshots", "needs", flags((*m)->needs, metric_needs),
                                        "columns", columns((*m)->columns, (*m)->n_columns)));
    for (const struct hn_study_type *const *s = hn_studies; *s; s++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s+, s:o, s:o}", "name",
                                              (*s)->name, "family", "study", "summary",
                                              (*s)->summary, "paper", (*s)->source, "note",
                                              (*s)->note, "table", "tables/", (*s)->name, "columns",
                                              columns((*s)->columns, (*s)->n_columns), "parameters",
                                              parameters((*s)->options)));
    return list;
}

// Tasks of `hardneg train`, with the `losses` that it can train with and the `data` that it reads.
static json_t *tasks(void) {
    json_t *list = json_array();
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++) {
        json_t *losses_of = json_array();
        for (int o = 0; hn_objectives[o].name; o++)
            if ((*t)->objectives & 1U << o)
                json_array_append_new(losses_of, json_string(hn_objectives[o].name));
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o}", "name",
                                              (*t)->name, "summary", (*t)->summary, "paper",
                                              (*t)->source, "note", (*t)->note, "losses", losses_of,
                                              "data", (*t)->data->origin, "columns",
                                              columns((*t)->columns, (*t)->n_columns), "parameters",
                                              parameters((*t)->options)));
    }
    return list;
}

static json_t *figures(void) {
    json_t *list = json_array();
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", (*f)->id, "title",
                                              (*f)->title, "caption", (*f)->caption, "paper",
                                              (*f)->source));
    return list;
}

static json_t *formats(void) {
    json_t *list = json_array();
    for (const struct hn_format *const *f = hn_formats; *f; f++) {
        char endings[64] = "";
        for (const char *const *e = (*f)->endings; *e; e++)
            hn_append(endings, sizeof endings, "%s%s", *endings ? ", " : "", *e);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", (*f)->name, "summary",
                                              (*f)->summary, "endings", endings));
    }
    return list;
}

// `one`: the word for an entry, which names come after.
static const struct {
    const char *name, *one;
    json_t *(*entries)(void);
} lists[] = {{"samplers", "sampler", samplers},
             {"losses", "loss", losses},
             {"train-losses", "train-loss", train_losses},
             {"weightings", "weighting", weightings},
             {"metrics", "metric", metrics},
             {"tasks", "task", tasks},
             {"figures", "figure", figures},
             {"formats", "format", formats}};
enum { LISTS = sizeof lists / sizeof lists[0] };

// The value of a key as text; NULL if there is none, or an empty one.
static const char *get(const json_t *entry, const char *key) {
    const char *text = json_string_value(json_object_get(entry, key));
    return text && *text ? text : NULL;
}

static const char *title_of(const json_t *entry) {
    return get(entry, "title") ? get(entry, "title") : get(entry, "summary");
}

// One line for each entry, more where the terminal is narrow.
static void print_short(const json_t *entries) {
    int column = 0;
    for (size_t i = 0; i < json_array_size(entries); i++)
        column = (int)hn_max(column, (int64_t)strlen(get(json_array_get(entries, i), "name")));
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *e = json_array_get(entries, i);
        hn_wrapped_print(title_of(e), column + 4, printf("  %s", get(e, "name")), stdout);
    }
}

// "    name  text", the text in a column of its own.
static void print_term(const char *name, const char *text) {
    hn_wrapped_print(text, 24, printf("    %s ", name), stdout);
}

static void print_parameter(const json_t *p) {
    char text[HN_MESSAGE_MAX];
    const char *initial = get(p, "default");
    hn_put_text(text, sizeof text, "%s [%s; default %s]", get(p, "help"), get(p, "range"),
                initial ? initial : "unset");
    print_term(get(p, "name"), text);
}

static void print_column(const json_t *c) {
    char text[HN_MESSAGE_MAX];
    const char *units = get(c, "units");
    hn_put_text(text, sizeof text, units ? "%s; unit %s, better: %s" : "%s; text",
                get(c, "long_name"), units, get(c, "direction"));
    print_term(get(c, "name"), text);
}

static void print_paragraph(const char *head, const char *text) {
    if (text)
        hn_wrapped_print(text, 4, *head ? printf("    %s", head) : 0, stdout);
}

static void print_entry(const json_t *e) {
    static const char *const keys[] = {"parameters", "columns"}, *const names[] = {"options",
                                                                                   "columns"};
    const char *family = get(e, "family");
    bool study = family && strcmp(family, "study") == 0;
    hn_wrapped_print(title_of(e), 4, printf("%s:", get(e, "name")), stdout);
    print_paragraph("source:", get(e, "paper"));
    print_paragraph("endings:", get(e, "endings"));
    print_paragraph("", get(e, "caption"));
    print_paragraph("differs:", get(e, "note"));
    print_paragraph("data:", get(e, "data"));
    if (study)
        printf("    by name only, table /%s\n", get(e, "table"));
    for (int part = 0; part < 2; part++) {
        const json_t *list = json_object_get(e, keys[part]);
        if (json_array_size(list) > 0)
            printf("  %s\n", names[part]);
        for (size_t i = 0; i < json_array_size(list); i++)
            (part == 0 ? print_parameter : print_column)(json_array_get(list, i));
    }
}

// Appends the entries of a list that have the given names to `found`, in this order. HN_USAGE if
// there is none of a name.
static enum hn_code find_named(struct hn_context *ctx, int list, const struct hn_call *call,
                               const json_t *all, json_t *found) {
    char hint[64];
    HN_SCOPE(ctx);
    int64_t n = (int64_t)json_array_size(all);
    const char **names = hn_alloc(ctx, n, sizeof *names);
    if (!names)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        names[i] = get(json_array_get(all, (size_t)i), "name");
    snprintf(hint, sizeof hint, "; `hardneg list %s` names them", lists[list].name);
    for (int i = 1; i < call->n_args; i++) {
        int64_t at = hn_name_find(ctx, lists[list].one, call->args[i], names, n, hint);
        if (at < 0)
            return ctx->code;
        json_array_append(found, json_array_get(all, (size_t)at));
    }
    return HN_OK;
}

static enum hn_code print_named(struct hn_context *ctx, const struct hn_call *call, int list) {
    if (call->n_args < 2)
        return hn_fail(ctx, HN_USAGE, "which %s? `hardneg list %s` names them", lists[list].one,
                       lists[list].name);
    json_t *all = lists[list].entries(), *found = json_array();
    enum hn_code code = find_named(ctx, list, call, all, found);
    for (size_t i = 0; i < json_array_size(found) && !code && !call->json; i++)
        print_entry(json_array_get(found, i));
    if (!code && call->json)
        code = hn_json_print(ctx, json_pack("{s:O}", lists[list].name, found), stdout);
    json_decref(found);
    json_decref(all);
    return code;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const char *names[LISTS];
    bool wanted[LISTS] = {false};
    for (int k = 0; k < LISTS; k++) {
        names[k] = lists[k].name;
        if (call->n_args > 0 && strcmp(call->args[0], lists[k].one) == 0)
            return print_named(ctx, call, k);
    }
    for (int i = 0; i < call->n_args; i++) {
        int64_t k =
            hn_name_find(ctx, "list", call->args[i], names, LISTS,
                         ": samplers, losses, train-losses, weightings, metrics, tasks, figures or "
                         "formats; or one of them: sampler NAME");
        if (k < 0)
            return ctx->code;
        wanted[k] = true;
    }
    json_t *all = json_object();
    for (int k = 0; k < LISTS; k++)
        if (wanted[k] || call->n_args == 0)
            json_object_set_new(all, lists[k].name, lists[k].entries());
    if (call->json)
        return hn_json_print(ctx, all, stdout);
    const char *name;
    json_t *entries;
    json_object_foreach(all, name, entries) {
        if (json_object_size(all) > 1)
            printf("%s:\n", name);
        print_short(entries);
    }
    json_decref(all);
    return HN_OK;
}

const struct hn_command hn_cmd_list = {
    .name = "list",
    .group = HN_GROUP_PROGRAM,
    .usage =
        "hardneg list [samplers|losses|train-losses|weightings|metrics|tasks|figures|formats]... "
        "[--json]\n"
        "       hardneg list sampler|loss|train-loss|weighting|metric|task|figure|format NAME... "
        "[--json]",
    .summary = "list samplers, losses of runs and of training, weightings, metrics, tasks, figures "
               "and file formats",
    .details = "Lists everything unless arguments name some of it. With the name of an entry "
               "prints its source, its options and its columns; --json always has these.",
    .examples = "hardneg list samplers\nhardneg list sampler batchsampler",
    .options = hn_no_options,
    .json = true,
    .max_args = 64,
    .run = run,
};
