// SPDX-License-Identifier: GPL-3.0-or-later
// HC proposition 3: the mean over q_beta of true negatives rises to the hardest with beta.
#include "core/text.h"
#include "plots/page/curves.h"

enum { MAX_CURVES = 6 };

struct curves {
    const struct hn_table *t;
    struct hn_study_settings settings;
};

static bool same_curve(const struct curves *c, int64_t a, int64_t b) {
    return c->settings.of[a] == c->settings.of[b] && hn_rows_agree(c->t, a, b, HN_COLUMNS("step"));
}

static void draw_curve(struct hn_page *page, struct hn_panel *panel, const struct curves *c,
                       int64_t first, int line) {
    const struct hn_table *t = c->t;
    const struct hn_phrase setting =
        hn_study_label(&c->settings, c->settings.of[first], HN_COLUMNS(NULL));
    char label[HN_LABEL_SIZE];
    hn_put_text(label, sizeof label, "step %.0f%s%s", hn_table_real(t, first, "step"),
                *setting.text ? ", " : "", setting.text);
    struct hn_series *s = hn_panel_series(page, panel, label, HN_LOOK_LINE, line);
    for (int64_t row = first; row < t->rows; row++) {
        double beta = hn_table_real(t, row, "beta");
        if (!same_curve(c, row, first))
            continue;
        double lo = hn_table_real(t, row, "ratio_lo"), hi = hn_table_real(t, row, "ratio_hi");
        hn_series_add_interval(s, beta, hn_table_real(t, row, "ratio"), 0.5 * (hi - lo));
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct curves c = {.t = hn_results_table(r, "prop3")};
    struct hn_panel *panel =
        hn_page_panel(page, "", "concentration beta", "expectation / worst case");
    int64_t curve[MAX_CURVES];
    int all = 0;
    if (hn_study_settings_make(page->ctx, r, c.t, &c.settings))
        return page->ctx->code;
    panel->y.zero = true;
    page->no_end_labels = true;
    for (int64_t row = 0; row < c.t->rows; row++) {
        bool first = true;
        for (int64_t i = 0; i < row && first; i++)
            first = !same_curve(&c, i, row);
        if (first && all++ < MAX_CURVES)
            curve[all - 1] = row;
    }
    int curves = (int)hn_min(all, MAX_CURVES);
    for (int i = 0; i < curves; i++)
        draw_curve(page, panel, &c, curve[i], hn_line_ordered(i, curves));
    if (curves < all)
        hn_page_note(page, "The first %d of %d curves are drawn.", curves, all);
    struct hn_series *worst = hn_panel_series(page, panel, "worst case", HN_LOOK_RULE, 0);
    hn_series_add(worst, 0, 1);
    return hn_page_finish(page, "the table of proposition 3 is empty");
}

const struct hn_figure hn_hc_prop3 = {
    .id = "hc-prop3",
    .title = "proposition 3: hard negatives by weight approach the worst case",
    .caption = "Expected exp(s / tau) over an anchor's true negatives, weighted with beta, as a "
               "share of its largest value; mean over anchors.",
    .source = "Contrastive Learning with Hard Negative Samples (ICLR 2021), proposition 3",
    .table = "prop3",
    .columns = HN_COLUMNS("dataset", "step", "temperature", "beta", "ratio", "ratio_lo"),
    .page = draw};
