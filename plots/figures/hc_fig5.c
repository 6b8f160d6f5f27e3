// SPDX-License-Identifier: GPL-3.0-or-later
// HC figure 5 (and 8 to 10): cosines of same-label and of different-label pairs after training, a
// panel per objective. Our deviation: the paper overlays pairs of objectives; here the two kinds of
// pairs lie over each other, and the area that they share stands in the title.
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/distributions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MERGE = 4, MAX_BINS = 512, KINDS = 2 };

// Pairs of a setting, all seeds together.
struct pairs {
    double count[KINDS][MAX_BINS], sum[KINDS];
    int bins;
};

static void collect(const struct hn_trained *t, const struct hn_table *cosines, int64_t setting,
                    struct pairs *p) {
    *p = (struct pairs){.bins = 0};
    for (int64_t row = 0; row < cosines->rows; row++) {
        if (hn_overview_setting(&t->overview, cosines, row) != setting)
            continue;
        double low = hn_table_real(cosines, row, "bin_lo");
        double width = hn_table_real(cosines, row, "bin_hi") - low;
        double bin = round((low + 1) / width), count = hn_table_real(cosines, row, "count");
        int kind = strcmp(hn_table_text(cosines, row, "kind"), "same_label") == 0;
        if (!(width > 0 && bin >= 0 && bin < MAX_BINS))
            continue;
        p->count[kind][(int)bin] += count;
        p->sum[kind] += count;
        p->bins = (int)fmin(round(2 / width), MAX_BINS);
    }
}

static double overlap(const struct pairs *p) {
    double sum = 0;
    for (int b = 0; b < p->bins; b++)
        sum += fmin(p->count[0][b] / p->sum[0], p->count[1][b] / p->sum[1]);
    return sum;
}

static void draw_setting(struct hn_page *page, const struct hn_trained *t, int64_t setting,
                         const struct pairs *p) {
    struct hn_phrase title = hn_trained_label(t, setting);
    hn_append(title.text, sizeof title.text, ", overlap %.3f", overlap(p));
    struct hn_panel *panel =
        hn_page_panel(page, title.text, "cosine similarity", "density of pairs");
    panel->y.lo = 0;
    for (int kind = 0; kind < KINDS; kind++)
        hn_series_density(hn_panel_series(page, panel, kind ? "same label" : "different labels",
                                          HN_LOOK_AREA, hn_line_number(kind)),
                          (struct hn_bins){p->count[kind], p->bins, -1, 2.0 / p->bins}, MERGE,
                          0.002);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *cosines = hn_results_table(r, "cosines"); // there, as the type says
    struct hn_trained t;
    if (hn_trained_open(page->ctx, r, &t))
        return page->ctx->code;
    for (int64_t k = 0; k < t.settings && page->panels < HN_PAGE_PANELS; k++) {
        struct pairs p;
        collect(&t, cosines, k, &p);
        if (p.sum[0] > 0 && p.sum[1] > 0)
            draw_setting(page, &t, k, &p);
    }
    page->share_x = page->share_y = true;
    return hn_page_finish(page, "no training measured its cosines: give the job cosines: true");
}

const struct hn_figure hn_hc_fig5 = {
    .id = "hc-fig5",
    .title = "cosines of same-label and different-label pairs",
    .caption = "Densities of the cosine over all pairs of test images after training, all seeds "
               "pooled. The overlap is the area under both curves; the smaller it is, the easier "
               "same-label pairs are to separate from the rest.",
    .source = "Contrastive Learning with Hard Negative Samples (ICLR 2021), figures 5 and 8 to 10",
    .table = "cosines",
    .columns = HN_COLUMNS("run", "step", "kind", "bin_lo", "bin_hi", "count"),
    .asked_by = "give a training job cosines: true",
    .page = draw};
