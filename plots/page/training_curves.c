// Points are means over seeds at evaluated steps, bands 95 % intervals, from three seeds on.
#include "plots/page/curves.h"
#include "results/analysis/shown.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 512 };

struct steps {
    double at[MAX_STEPS];
    int n;
};

void hn_training_axis(const char *column, const char *unit, char *title, size_t size) {
    static const struct {
        const char *column, *title;
    } known[] = {{"knn_acc", "kNN accuracy of z"},
                 {"knn_h_acc", "kNN accuracy of h"},
                 {"probe_acc", "accuracy of a probe"},
                 {"svm_acc", "accuracy of an SVM"},
                 {"loss", "training loss"}};
    const char *name = column;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].column, column) == 0)
            name = known[i].title;
    snprintf(title, size, "%s%s%s%s", name, unit ? " (" : "", unit ? unit : "", unit ? ")" : "");
}

// As a curve with intervals, or as a thin one without.
static void draw_setting(struct hn_series *s, const struct hn_trained *t, int64_t k,
                         const char *column, const struct steps *steps) {
    double scale = hn_trained_is_share(column) ? 100 : 1;
    for (int i = 0; i < steps->n; i++) {
        struct hn_mean m = hn_trained_at(t, k, column, hn_whole(steps->at[i], -1));
        double half = s->look == HN_LOOK_THIN ? NAN : m.half;
        hn_series_add_interval(s, steps->at[i], scale * m.mean, scale * half);
    }
}

// Lines are as settings of groups have them (hn_groups_lines()).
static void draw_settings(struct hn_page *page, struct hn_panel *panel, const struct hn_trained *t,
                          const struct hn_training_curves *curves, const char *column,
                          const struct hn_candidate *candidate, const struct steps *steps) {
    int drawn = 0, samplers = 0, number = 0;
    for (int64_t k = 0; k < t->settings; k++) {
        drawn += candidate[k].sampler != NULL;
        samplers += candidate[k].sampler && candidate[k].round == 0;
    }
    for (int64_t k = 0; k < t->settings; k++) {
        const struct hn_candidate *c = &candidate[k];
        char label[HN_LABEL_SIZE];
        if (!c->shown)
            continue;
        int line = samplers == 1
                       ? hn_line_ordered(number++, drawn)
                       : hn_line_of_setting(hn_line_of_sampler(&t->results->runs, c->sampler),
                                            (int)c->round);
        hn_trained_label(t, k, label, sizeof label);
        draw_setting(hn_panel_series(page, panel, label, HN_LOOK_LINE, line), t, k, column, steps);
        if (curves->beside)
            draw_setting(hn_panel_series(page, panel, "", HN_LOOK_THIN, line), t, k, curves->beside,
                         steps);
    }
    if (drawn > HN_MAX_CURVES)
        hn_page_note(page,
                     "%d of %d settings are drawn, one of every sampler before a second of any.",
                     HN_MAX_CURVES, drawn);
}

static enum hn_code draw_problem(struct hn_page *page, const struct hn_trained *t, int64_t base,
                                 const struct hn_training_curves *curves,
                                 const struct steps *steps) {
    const char *column = curves->column ? curves->column : hn_trained_column(t, base);
    char title[HN_TITLE_SIZE], axis[HN_TITLE_SIZE];
    struct hn_candidate *candidate = hn_zalloc(page->ctx, t->settings, sizeof *candidate);
    int drawn = 0, evaluated = 0;
    if (!candidate)
        return page->ctx->code;
    for (int64_t k = base; k < t->settings; k++)
        if (hn_trained_is_beside(t, k, base) &&
            (!curves->keep || curves->keep(&t->results->runs, t->setting[k].run))) {
            candidate[k].sampler = hn_trained_text(t, k, "sampler");
            drawn++;
        }
    for (int i = 0; i < steps->n; i++)
        evaluated += hn_trained_at(t, base, column, hn_whole(steps->at[i], -1)).n > 0;
    if (drawn < curves->min || evaluated < curves->min_steps)
        return HN_OK;
    (void)hn_choose_shown(candidate, t->settings, HN_MAX_CURVES);
    hn_trained_title(t, base, title, sizeof title);
    hn_training_axis(column,
                     curves->unit                  ? curves->unit
                     : hn_trained_is_share(column) ? "%"
                                                   : NULL,
                     axis, sizeof axis);
    struct hn_panel *panel = hn_page_panel(page, title, "training step", axis);
    double scale = hn_trained_is_share(column) ? 100 : 1;
    panel->y.largest = scale > 1 ? 100 : 0;
    if (curves->untrained)
        hn_series_add(hn_panel_series(page, panel, "untrained encoder", HN_LOOK_RULE, 0), 0,
                      scale * hn_trained_at(t, base, column, 0).mean);
    draw_settings(page, panel, t, curves, column, candidate, steps);
    return HN_OK;
}

enum hn_code hn_draw_training(struct hn_page *page, const struct hn_results *r,
                              const struct hn_training_curves *curves) {
    struct hn_trained t;
    struct steps steps;
    if (hn_trained_open(page->ctx, r, &t))
        return page->ctx->code;
    steps.n = hn_distinct(t.table, "step", steps.at, MAX_STEPS);
    int problems = 0;
    for (int64_t k = 0; k < t.settings; k++) {
        if (t.setting[k].base >= 0)
            continue;
        if (problems++ < HN_MAX_PANELS && draw_problem(page, &t, k, curves, &steps))
            return page->ctx->code;
    }
    if (problems > HN_MAX_PANELS)
        hn_page_note(page, "The first %d tasks are drawn.", HN_MAX_PANELS);
    return hn_page_finish(page, curves->nothing);
}
