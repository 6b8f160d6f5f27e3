// `hardneg list`: what the registries hold. Every entry is a record, printed as JSON or as text.
#include "datasets/import/format.h"
#include "harness/cli/command.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "plots/page/figure.h"
#include "results/records.h"
#include "samplers/sampler.h"
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

static json_t *flags(unsigned set) {
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {
        {HN_SAMPLER_PARTITION, "partition"},         {HN_SAMPLER_NEEDS_LABELS, "needs_labels"},
        {HN_SAMPLER_NEEDS_VIEW2, "needs_view2"},     {HN_SAMPLER_NEEDS_GRAPH, "needs_graph"},
        {HN_SAMPLER_NEEDS_TEACHER, "needs_teacher"}, {HN_SAMPLER_NEEDS_GROUPS, "needs_groups"},
        {HN_SAMPLER_PER_ANCHOR, "per_anchor"},       {HN_SAMPLER_ORDERED, "ordered"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (set & names[i].flag)
            json_array_append_new(list, json_string(names[i].name));
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

static json_t *samplers(void) {
    json_t *list = json_array();
    for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", (*t)->name,
                                              "summary", (*t)->summary, "paper", (*t)->source,
                                              "note", (*t)->note, "flags", flags((*t)->flags),
                                              "parameters", parameters((*t)->options)));
    return list;
}

static json_t *losses(void) {
    json_t *list = json_array();
    for (const struct hn_loss_type *l = hn_losses; l->name; l++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", l->name, "summary",
                                              l->summary, "paper", l->source));
    return list;
}

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
    const char *format = "{s:s, s:s, s:s, s:s, s:s, s:o}";
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
        json_array_append_new(list, json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                              "summary", (*m)->summary, "paper", (*m)->source,
                                              "table", "runs", "columns",
                                              columns((*m)->columns, (*m)->n_columns)));
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        json_array_append_new(list, json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                              "summary", (*m)->summary, "paper", (*m)->source,
                                              "table", "snapshots", "columns",
                                              columns((*m)->columns, (*m)->n_columns)));
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

static const struct {
    const char *name;
    json_t *(*entries)(void);
} lists[] = {{"samplers", samplers}, {"losses", losses}, {"weightings", weightings},
             {"metrics", metrics},   {"tasks", tasks},   {"figures", figures},
             {"formats", formats}};
enum { LISTS = sizeof lists / sizeof lists[0] };

// The value of a key as text; NULL if there is none, or an empty one.
static const char *get(const json_t *entry, const char *key) {
    const char *text = json_string_value(json_object_get(entry, key));
    return text && *text ? text : NULL;
}

static void print_parameter(const json_t *p) {
    const char *initial = get(p, "default");
    printf("    %-16s %-12s %s [%s]\n", get(p, "name"), initial ? initial : "(unset)",
           get(p, "help"), get(p, "range"));
}

static void print_column(const json_t *c) {
    const char *units = get(c, "units");
    printf("    %-18s %s; ", get(c, "name"), get(c, "long_name"));
    if (units)
        printf("unit %s, better: %s\n", units, get(c, "direction"));
    else
        printf("text\n");
}

static void print_entry(const json_t *e) {
    const json_t *parts[] = {json_object_get(e, "parameters"), json_object_get(e, "columns")};
    const char *title = get(e, "title"), *caption = get(e, "caption"), *note = get(e, "note");
    const char *family = get(e, "family"), *data = get(e, "data");
    bool study = family && strcmp(family, "study") == 0;
    bool both = json_array_size(parts[0]) > 0 && json_array_size(parts[1]) > 0;
    const char *source = get(e, "paper") ? get(e, "paper") : get(e, "endings");
    printf(source ? "%s: %s (%s)\n" : "%s: %s\n", get(e, "name"), title ? title : get(e, "summary"),
           source);
    if (caption)
        printf("    %s\n", caption);
    if (study)
        printf("    by name only, table /%s\n", get(e, "table"));
    if (note)
        printf("    differs: %s\n", note);
    if (data)
        printf("    data: %s\n", data);
    for (int part = 0; part < 2; part++) {
        if (both || (study && json_array_size(parts[part]) > 0))
            printf("  %s\n", part == 0 ? "options" : "columns");
        for (size_t i = 0; i < json_array_size(parts[part]); i++)
            (part == 0 ? print_parameter : print_column)(json_array_get(parts[part], i));
    }
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const char *names[LISTS];
    bool wanted[LISTS] = {false};
    for (int k = 0; k < LISTS; k++)
        names[k] = lists[k].name;
    for (int i = 0; i < call->n_args; i++) {
        int64_t k =
            hn_name_find(ctx, "list", call->args[i], names, LISTS,
                         ": samplers, losses, weightings, metrics, tasks, figures or formats");
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
        for (size_t i = 0; i < json_array_size(entries); i++)
            print_entry(json_array_get(entries, i));
    }
    json_decref(all);
    return HN_OK;
}

const struct hn_command hn_cmd_list = {
    .name = "list",
    .usage = "hardneg list [samplers|losses|weightings|metrics|tasks|figures|formats]... [--json]",
    .summary = "list samplers, losses, weightings, metrics, tasks, figures and file formats, with "
               "their options and columns",
    .details = "Lists everything unless arguments name some of them.",
    .examples = "hardneg list samplers --json",
    .options = hn_no_options,
    .json = true,
    .max_args = LISTS,
    .run = run,
};
