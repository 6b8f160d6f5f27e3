// `hardneg list`: what the registries hold, as text or JSON.
#include "harness/cli/command.h"
#include "metrics/metric.h"
#include "metrics/snapshot_metric.h"
#include "metrics/studies/study.h"
#include "plots/page/figure.h"
#include "samplers/sampler.h"

#include <jansson.h>
#include <string.h>

static const struct hn_option list_options[] = {{.name = NULL}};

static const char *const direction_names[] = {"smaller", "none", "larger"};
static const char *const kind_names[] = {"int",      "real", "bool", "choice",
                                         "schedule", "text", "list", "size"};

static json_t *parameters_json(const struct hn_option *options) {
    json_t *list = json_array();
    for (const struct hn_option *o = options; o->name; o++) {
        char range[256];
        hn_option_range(o, range, sizeof range);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:s, s:s}", "name", o->name, "type",
                                              kind_names[o->kind], "default", o->initial, "range",
                                              range, "help", o->help));
    }
    return list;
}

static json_t *flags_json(unsigned flags) {
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {{HN_SAMPLER_PARTITION, "partition"},
                 {HN_SAMPLER_NEEDS_LABELS, "needs_labels"},
                 {HN_SAMPLER_NEEDS_VIEW2, "needs_view2"},
                 {HN_SAMPLER_NEEDS_GRAPH, "needs_graph"},
                 {HN_SAMPLER_PER_ANCHOR, "per_anchor"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (flags & names[i].flag)
            json_array_append_new(list, json_string(names[i].name));
    return list;
}

static json_t *samplers_json(void) {
    json_t *list = json_array();
    for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", (*t)->name,
                                              "summary", (*t)->summary, "paper", (*t)->source,
                                              "note", (*t)->note, "flags", flags_json((*t)->flags),
                                              "parameters", parameters_json((*t)->options)));
    return list;
}

static json_t *columns_json(const struct hn_column *column, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const struct hn_column *c = &column[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", c->name, "units",
                                              c->units, "long_name", c->long_name, "direction",
                                              direction_names[c->direction]));
    }
    return list;
}

// `table`: where the columns stand in the results file.
static json_t *metrics_json(void) {
    json_t *list = json_array();
    const char *format = "{s:s, s:s, s:s, s:s, s:s, s:o}";
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++)
        json_array_append_new(list, json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                              "summary", (*m)->summary, "paper", (*m)->source,
                                              "table", "runs", "columns",
                                              columns_json((*m)->columns, (*m)->n_columns)));
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        json_array_append_new(list, json_pack(format, "name", (*m)->name, "family", (*m)->family,
                                              "summary", (*m)->summary, "paper", (*m)->source,
                                              "table", "snapshots", "columns",
                                              columns_json((*m)->columns, (*m)->n_columns)));
    for (const struct hn_study_type *const *s = hn_studies; *s; s++) {
        char table[128];
        snprintf(table, sizeof table, "tables/%s", (*s)->name);
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "name",
                                        (*s)->name, "family", "study", "summary", (*s)->summary,
                                        "paper", (*s)->source, "note", (*s)->note, "table", table,
                                        "columns", columns_json((*s)->columns, (*s)->n_columns),
                                        "parameters", parameters_json((*s)->options)));
    }
    return list;
}

static json_t *figures_json(void) {
    json_t *list = json_array();
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", (*f)->id, "title",
                                              (*f)->title, "caption", (*f)->caption, "paper",
                                              (*f)->source));
    return list;
}

static void print_column(const struct hn_column *c) {
    if (c->kind == HN_COLUMN_TEXT)
        printf("    %-18s %s; text\n", c->name, c->long_name);
    else
        printf("    %-18s %s; unit %s, better: %s\n", c->name, c->long_name, c->units,
               direction_names[c->direction]);
}

static void print_options(const struct hn_option *options) {
    for (const struct hn_option *o = options; o->name; o++) {
        char range[256];
        hn_option_range(o, range, sizeof range);
        printf("    %-16s %-12s %s [%s]\n", o->name, o->initial ? o->initial : "(unset)", o->help,
               range);
    }
}

static void print_study(const struct hn_study_type *s) {
    printf("%s: %s (%s)\n    by name only, table /tables/%s\n", s->name, s->summary, s->source,
           s->name);
    if (*s->note)
        printf("    differs: %s\n", s->note);
    if (s->options->name)
        printf("  options\n");
    print_options(s->options);
    printf("  columns\n");
    for (int i = 0; i < s->n_columns; i++)
        print_column(&s->columns[i]);
}

static void print_metrics(void) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++) {
        printf("%s: %s (%s)\n", (*m)->name, (*m)->summary, (*m)->source);
        for (int i = 0; i < (*m)->n_columns; i++)
            print_column(&(*m)->columns[i]);
    }
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++) {
        printf("%s: %s (%s)\n", (*m)->name, (*m)->summary, (*m)->source);
        for (int i = 0; i < (*m)->n_columns; i++)
            print_column(&(*m)->columns[i]);
    }
    for (const struct hn_study_type *const *s = hn_studies; *s; s++)
        print_study(*s);
}

static void print_samplers(void) {
    for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++) {
        printf("%s: %s (%s)\n", (*t)->name, (*t)->summary, (*t)->source);
        if ((*t)->note && *(*t)->note)
            printf("    differs: %s\n", (*t)->note);
        print_options((*t)->options);
    }
}

static void print_losses(void) {
    for (const struct hn_loss_type *l = hn_losses; l->name; l++)
        printf("%s: %s (%s)\n", l->name, l->summary, l->source);
}

static void print_weightings(void) {
    for (const struct hn_weighting_type *const *w = hn_weightings; *w; w++) {
        printf("%s: %s (%s)\n", (*w)->name, (*w)->summary, (*w)->source);
        if (*(*w)->note)
            printf("    differs: %s\n", (*w)->note);
        print_options((*w)->options);
    }
}

static void print_figures(void) {
    for (const struct hn_figure *const *f = hn_figures; *f; f++)
        printf("%s: %s (%s)\n    %s\n", (*f)->id, (*f)->title, (*f)->source, (*f)->caption);
}

static json_t *losses_json(void) {
    json_t *list = json_array();
    for (const struct hn_loss_type *l = hn_losses; l->name; l++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", l->name, "summary",
                                              l->summary, "paper", l->source));
    return list;
}

static json_t *weightings_json(void) {
    json_t *list = json_array();
    for (const struct hn_weighting_type *const *w = hn_weightings; *w; w++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", (*w)->name, "summary",
                                        (*w)->summary, "paper", (*w)->source, "note", (*w)->note,
                                        "parameters", parameters_json((*w)->options)));
    return list;
}

enum { LISTS = 5 };
static const struct {
    const char *name;
    void (*print)(void);
    json_t *(*json)(void);
} lists[LISTS] = {
    {"samplers", print_samplers, samplers_json},       {"losses", print_losses, losses_json},
    {"weightings", print_weightings, weightings_json}, {"metrics", print_metrics, metrics_json},
    {"figures", print_figures, figures_json},
};

static enum hn_code print_json(struct hn_context *ctx, const bool *wanted) {
    json_t *document = json_object();
    for (int k = 0; k < LISTS; k++)
        if (wanted[k])
            json_object_set_new(document, lists[k].name, lists[k].json());
    // What goes wrong with standard output, main sees.
    bool failed = json_dumpf(document, stdout, JSON_INDENT(2)) != 0 && !ferror(stdout);
    json_decref(document);
    printf("\n");
    return failed ? hn_fail(ctx, HN_MEMORY, "no memory for the JSON document") : HN_OK;
}

static enum hn_code fail_unknown(struct hn_context *ctx, const char *word) {
    const char *names[LISTS];
    for (int k = 0; k < LISTS; k++)
        names[k] = lists[k].name;
    const char *near = hn_suggest(word, names, LISTS);
    return hn_fail(ctx, HN_USAGE,
                   "unknown list '%s'%s%s%s: samplers, losses, weightings, metrics or figures",
                   word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static enum hn_code run(struct hn_context *ctx, const struct hn_common *common, void *params,
                        int n_args, const char **args) {
    bool wanted[LISTS] = {false};
    (void)params;
    for (int i = 0; i < n_args; i++) {
        int k = 0;
        while (k < LISTS && strcmp(args[i], lists[k].name) != 0)
            k++;
        if (k == LISTS)
            return fail_unknown(ctx, args[i]);
        wanted[k] = true;
    }
    for (int k = 0; k < LISTS; k++)
        wanted[k] |= n_args == 0;
    if (common->json)
        return print_json(ctx, wanted);
    for (int k = 0; k < LISTS; k++)
        if (wanted[k])
            lists[k].print();
    return HN_OK;
}

const struct hn_command hn_cmd_list = {
    .name = "list",
    .usage = "hardneg list [samplers|losses|weightings|metrics|figures]... [--json]",
    .summary = "samplers, losses, weightings, metrics and figures, with options and columns",
    .details = "Without an argument: all of them.\n\nexample: hardneg list samplers --json",
    .options = list_options,
    .params_size = 0,
    .json = true,
    .min_args = 0,
    .max_args = LISTS,
    .run = run,
};
