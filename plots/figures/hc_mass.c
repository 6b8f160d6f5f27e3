// HC 6.1 and 6.2: weight and loss that false negatives carry, by beta, with and without debiasing.
#include "plots/page/curves.h"

#include <math.h>

static const struct {
    const char *column, *title;
} masses[] = {{"fn_mass", "weight on false negatives (%)"},
              {"fn_loss_mass", "loss from false negatives (%)"}};

// beta and tau+ of a row: no weighting has neither, debiasing has no beta.
static double option(const struct hn_table *runs, int64_t row, const char *name) {
    double value = hn_table_real(runs, row, name);
    return isnan(value) ? 0 : value;
}

// Mean over seeds at one beta and tau+, of one setting at the last step.
static double mean_at(const struct hn_groups *g, int setting, double beta, double tau,
                      const char *column) {
    const struct hn_table *runs = &g->results->runs;
    int64_t n = 0;
    for (int64_t row = 0; row < runs->rows; row++) {
        const struct hn_position *p = &g->position[row];
        if (p->setting == setting && p->dataset >= 0 && p->temperature >= 0 &&
            p->step == g->steps - 1 && fabs(option(runs, row, "beta") - beta) < 1e-9 &&
            fabs(option(runs, row, "tau_plus") - tau) < 1e-9)
            g->row[n++] = row;
    }
    return hn_replicates_mean(g->results, (struct hn_replicates){g->row, n}, column).mean;
}

// The next larger value of a weighting's option among the rows, INFINITY if there is none.
static double next_value(const struct hn_table *runs, const char *name, double last) {
    double next = INFINITY;
    for (int64_t row = 0; row < runs->rows; row++) {
        double value = option(runs, row, name);
        if (value > last + 1e-9 && value < next)
            next = value;
    }
    return next;
}

static void draw_mass(struct hn_page *page, const struct hn_groups *g, int setting, int mass) {
    const struct hn_table *runs = &g->results->runs;
    struct hn_panel *panel =
        hn_page_panel(page, g->setting[setting].label, "concentration beta", masses[mass].title);
    int taus = 0, number = 0;
    for (double tau = next_value(runs, "tau_plus", -1); isfinite(tau);
         tau = next_value(runs, "tau_plus", tau))
        taus++;
    panel->y.zero = true;
    for (double tau = next_value(runs, "tau_plus", -1); isfinite(tau);
         tau = next_value(runs, "tau_plus", tau)) {
        char label[HN_LABEL_SIZE];
        snprintf(label, sizeof label, tau > 0 ? "debiased, tau+ = %g" : "not debiased", tau);
        struct hn_series *s =
            hn_panel_series(page, panel, label, HN_LOOK_LINE, hn_line_ordered(number++, taus));
        for (double beta = next_value(runs, "beta", -1); isfinite(beta);
             beta = next_value(runs, "beta", beta)) {
            double mean = mean_at(g, setting, beta, tau, masses[mass].column);
            hn_series_add(s, beta, 100 * mean);
            if (!isnan(mean))
                hn_axis_tic_number(page, &panel->x, beta);
        }
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    if (!isfinite(next_value(&r->runs, "beta", 0)))
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "no run is weighted with beta (hcl)");
    if (hn_groups_make(
            page->ctx, r,
            (struct hn_choice){.wanted = "fn_mass", .one_panel = true, .max_settings = 3}, &g))
        return page->ctx->code;
    for (int mass = 0; mass < 2; mass++)
        for (int s = 0; s < g.settings; s++)
            draw_mass(page, &g, s, mass);
    hn_page_left_out(page, &g);
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
