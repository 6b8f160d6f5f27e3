// `hardneg list`: what the registries hold, as text or JSON.
#include "harness/command.h"
#include "metrics/metric.h"
#include "metrics/snapshot_metric.h"
#include "plots/figure.h"
#include "samplers/sampler.h"

#include <jansson.h>
#include <string.h>

static const struct hn_option list_options[] = {{.name = NULL}};

static const char *const direction_names[] = {"smaller", "none", "larger"};
static const char *const kind_names[] = {"int",      "real", "bool", "choice",
                                         "schedule", "text", "list", "size"};

static void print_sampler(const struct hn_sampler_type *type) {
    printf("%s: %s (%s)\n", type->name, type->summary, type->source);
    if (type->note && *type->note)
        printf("    differs: %s\n", type->note);
    for (const struct hn_option *o = type->options; o->name; o++) {
        char range[256];
        hn_option_range(o, range, sizeof range);
        printf("    %-16s %-12s %s [%s]\n", o->name, o->initial ? o->initial : "(unset)", o->help,
               range);
    }
}

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
                 {HN_SAMPLER_NEEDS_GRAPH, "needs_graph"}};
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
    printf("    %-18s %s; unit %s, better: %s\n", c->name, c->long_name, c->units,
           direction_names[c->direction]);
}

static void print_metrics(void) {
    for (const struct hn_metric_type *const *m = hn_metrics; *m; m++) {
        printf("%s: %s (%s)\n", (*m)->name, (*m)->summary, (*m)->source);
        for (int i = 0; i < (*m)->n_columns; i++)
            print_column(&(*m)->columns[i]);
    }
}

static void print_snapshot_metrics(void) {
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++) {
        printf("%s: %s (%s)\n", (*m)->name, (*m)->summary, (*m)->source);
        for (int i = 0; i < (*m)->n_columns; i++)
            print_column(&(*m)->columns[i]);
    }
}

static void print_text(bool samplers, bool metrics, bool figures) {
    if (samplers)
        for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++)
            print_sampler(*t);
    if (metrics) {
        print_metrics();
        print_snapshot_metrics();
    }
    if (figures)
        for (const struct hn_figure *const *f = hn_figures; *f; f++)
            printf("%s: %s (%s)\n    %s\n", (*f)->id, (*f)->title, (*f)->source, (*f)->caption);
}

static enum hn_code print_json(struct hn_context *ctx, bool samplers, bool metrics, bool figures) {
    json_t *document = json_object();
    if (samplers)
        json_object_set_new(document, "samplers", samplers_json());
    if (metrics)
        json_object_set_new(document, "metrics", metrics_json());
    if (figures)
        json_object_set_new(document, "figures", figures_json());
    int failed = json_dumpf(document, stdout, JSON_INDENT(2));
    json_decref(document);
    printf("\n");
    return failed ? hn_fail(ctx, HN_IO, "standard output could not be written") : HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_common *common, void *params,
                        int n_args, const char **args) {
    static const char *const kinds[] = {"samplers", "metrics", "figures"};
    (void)params;
    bool wanted[3] = {n_args == 0, n_args == 0, n_args == 0};
    for (int i = 0; i < n_args; i++) {
        int k = 0;
        while (k < 3 && strcmp(args[i], kinds[k]) != 0)
            k++;
        if (k == 3) {
            const char *near = hn_nearest(args[i], kinds, 3);
            return hn_fail(ctx, HN_USAGE, "unknown list '%s'%s%s%s: samplers, metrics or figures",
                           args[i], near ? " (did you mean '" : "", near ? near : "",
                           near ? "'?)" : "");
        }
        wanted[k] = true;
    }
    if (common->json)
        return print_json(ctx, wanted[0], wanted[1], wanted[2]);
    print_text(wanted[0], wanted[1], wanted[2]);
    return HN_OK;
}

const struct hn_command hn_cmd_list = {
    .name = "list",
    .usage = "hardneg list [samplers|metrics|figures]... [--json]",
    .summary = "samplers, metrics and figures, with their options and columns",
    .details = "Without an argument: all three.\n\nexample: hardneg list samplers --json",
    .options = list_options,
    .params_size = 0,
    .json = true,
    .min_args = 0,
    .max_args = 3,
    .run = run,
};
