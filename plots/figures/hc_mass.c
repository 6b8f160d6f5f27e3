// SPDX-License-Identifier: GPL-3.0-or-later
// HC 6.1 and 6.2: weight and loss that false negatives carry, by beta, with and without debiasing.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *column, *title;
} masses[] = {{"fn_mass", "weight on false negatives (%)"},
              {"fn_loss_mass", "loss from false negatives (%)"}};

enum { MAX_SAMPLERS = 3 };

// Options of hcl besides beta and tau+: a curve for each.
static const char *const forms[] = {"form", "anneal", "clip", NULL};

// A weighting of one sampler: without a weighting tau+ and beta are 0, debiased has no beta.
struct point {
    int64_t setting; // of the overview
    double tau, beta;
    char form[HN_LABEL_SIZE]; // ", form=figure13", "" if all have one
};

struct points {
    struct hn_page *page;
    const struct hn_groups *g;
    struct point *at; // [n] by curve, and by beta in it
    int n, curves;
};

static bool keep(const struct hn_table *runs, int64_t row) {
    return hn_is_among(hn_table_text(runs, row, "weighting"),
                       HN_COLUMNS("", "none", "debiased", "hcl"));
}

static double option(const struct hn_groups *g, int64_t setting, const char *name) {
    double value = hn_table_real(&g->results->runs, g->overview.first[setting], name);
    return isnan(value) ? 0 : value;
}

static struct hn_phrase text_of(const struct hn_groups *g, int64_t setting, const char *name) {
    return hn_cell_text(&g->results->runs, g->overview.first[setting], name);
}

static bool is_hcl(const struct hn_groups *g, int64_t setting) {
    return strcmp(text_of(g, setting, "weighting").text, "hcl") == 0;
}

// True if settings of hcl differ in an option.
static bool differs(const struct hn_groups *g, const char *name) {
    int64_t first = -1;
    for (int64_t s = 0; s < g->overview.settings; s++) {
        if (g->position[s].setting < 0 || !is_hcl(g, s))
            continue;
        if (first >= 0 && strcmp(text_of(g, s, name).text, text_of(g, first, name).text) != 0)
            return true;
        first = s;
    }
    return false;
}

static int by_curve(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    int taus = (p->tau > q->tau) - (p->tau < q->tau), forms_differ = strcmp(p->form, q->form);
    return taus ? taus : forms_differ ? forms_differ : (p->beta > q->beta) - (p->beta < q->beta);
}

static bool begins(const struct points *p, int i) {
    return i == 0 || p->at[i].tau > p->at[i - 1].tau ||
           (*p->at[i - 1].form && strcmp(p->at[i].form, p->at[i - 1].form) != 0);
}

// At the last step. What has no form stands on the first curve of its tau+.
static void collect(struct points *p, int setting) {
    const struct hn_groups *g = p->g;
    p->n = p->curves = 0;
    for (int64_t s = 0; s < g->overview.settings; s++) {
        const struct hn_position *at = &g->position[s];
        if (at->setting != setting || at->dataset != 0 || at->step != g->steps - 1)
            continue;
        struct point *own = &p->at[p->n++];
        *own = (struct point){s, option(g, s, "tau_plus"), option(g, s, "beta"), ""};
        for (const char *const *name = forms; *name; name++)
            if (is_hcl(g, s) && differs(g, *name))
                hn_append(own->form, sizeof own->form, ", %s=%s", *name, text_of(g, s, *name).text);
    }
    qsort(p->at, (size_t)p->n, sizeof *p->at, by_curve);
    int kept = 0; // of losses that change nothing here
    for (int i = 0; i < p->n; i++)
        if (i == 0 || by_curve(&p->at[i], &p->at[kept - 1]) != 0 ||
            strcmp(text_of(g, p->at[i].setting, "weighting").text,
                   text_of(g, p->at[kept - 1].setting, "weighting").text) != 0)
            p->at[kept++] = p->at[i];
    p->n = kept;
    for (int i = 0; i < p->n; i++)
        p->curves += begins(p, i);
}

static void draw_mass(const struct points *p, int setting, int mass) {
    struct hn_panel *panel = hn_page_panel(p->page, p->g->setting[setting].label,
                                           "concentration beta", masses[mass].title);
    struct hn_series *s = NULL;
    int number = 0;
    panel->y.zero = true;
    for (int i = 0; i < p->n; i++) {
        const struct point *own = &p->at[i];
        double mean = hn_overview_mean(&p->g->overview, own->setting, masses[mass].column).mean;
        if (begins(p, i)) {
            char label[HN_LABEL_SIZE], tau[32];
            snprintf(tau, sizeof tau, "debiased, tau+ = %g", own->tau);
            hn_put_text(label, sizeof label, "%s%s", own->tau > 0 ? tau : "not debiased",
                        own->form);
            s = hn_panel_series(p->page, panel, label, HN_LOOK_LINE,
                                hn_line_ordered(number++, p->curves));
        }
        hn_series_add(s, own->beta, 100 * mean);
        if (!isnan(mean))
            hn_axis_tic_number(p->page, &panel->x, own->beta);
    }
}

static void note_others(struct hn_page *page, const struct hn_table *runs) {
    struct hn_phrase names = {""};
    for (int64_t row = 0; row < runs->rows; row++) {
        const char *name = hn_table_text(runs, row, "weighting");
        if (!keep(runs, row) && hn_table_row_with(runs, "weighting", name) == row)
            hn_append(names.text, sizeof names.text, "%s%s", *names.text ? ", " : "", name);
    }
    if (*names.text)
        hn_page_note(page, "Weightings without beta are left out: %s.", names.text);
}

static bool any_beta(const struct hn_table *runs) {
    bool any = false;
    for (int64_t row = 0; row < runs->rows && !any; row++)
        any = hn_table_real(runs, row, "beta") > 0;
    return any;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct points points = {.page = page, .g = &g};
    const struct hn_choice choice = {.wanted = "fn_mass",
                                     .keep = keep,
                                     .one_panel = true,
                                     .max_settings = MAX_SAMPLERS,
                                     .apart = HN_COLUMNS("weighting", "weighting_params", "beta",
                                                         "tau_plus", "form", "anneal", "clip"),
                                     .nothing =
                                         "no finished run has weights of none, debiased or hcl"};
    if (!any_beta(&r->runs))
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "no run is weighted with beta (hcl)");
    if (hn_page_groups(page, r, choice, &g) || !HN_ALLOC(page->ctx, points.at, g.overview.settings))
        return page->ctx->code;
    for (int mass = 0; mass < 2; mass++)
        for (int s = 0; s < g.settings; s++) {
            collect(&points, s);
            draw_mass(&points, s, mass);
        }
    hn_page_left_out(page, &g);
    note_others(page, &r->runs);
    page->columns = g.settings;
    page->no_end_labels = true;
    return hn_page_finish(page, "no run has weights");
}

const struct hn_figure hn_hc_mass = {
    .id = "hc-mass",
    .title = "how much of weights and loss false negatives carry, by concentration",
    .caption =
        "At the last step, by sampler. Top: the weight on same-label pairs, which grows with "
        "beta. Bottom: their share of the loss's negatives, which debiasing lowers.",
    .source = "Contrastive Learning with Hard Negative Samples (ICLR 2021), sections 6.1 and 6.2",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "beta", "tau_plus", "fn_mass",
                          "fn_loss_mass"),
    .page = draw};
