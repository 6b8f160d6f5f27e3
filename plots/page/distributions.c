// SPDX-License-Identifier: GPL-3.0-or-later
// Cosines of the pairs of a batch, and the share of false negatives, over training (BS figures 4 to
// 6, 8, 9 and 11).
//
// Left, a panel per training step: densities of the cosine of all pairs of a batch (true and false
// negatives and unlabelled pairs together, positives apart). Right: the false-negative ratio over
// steps. Our deviation: a panel per step where the paper shows the last epoch alone, as
// hn_page.step does; and the histograms of all seeds are added up.
#include "plots/page/distributions.h"

#include "core/text.h"
#include "plots/page/curves.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>

enum { MAX_STEPS_OF_MANY = 3, ENDS = 2 };

const char *const hn_distributions_columns[] = {"dataset", "step",     "sampler",
                                                "params",  "fn_ratio", NULL};

struct densities {
    struct hn_page *page;
    const struct hn_groups *groups;
    int64_t merge;                          // bins of the file drawn as one
    struct hn_panel *panel[HN_PAGE_PANELS]; // one per data set and step shown
    int panels, max;                        // in all; of a data set
    bool all;                               // steps are shown
};

static double bin_width(const struct hn_results *r) {
    return (r->bin_hi - r->bin_lo) / (double)r->bins;
}

struct hn_bins hn_groups_bins(struct hn_page *page, const struct hn_groups *g,
                              struct hn_where where, int64_t from, int64_t to) {
    const struct hn_results *r = g->results;
    int64_t setting = hn_groups_at(g, where, NULL);
    struct hn_replicates rows = {NULL, 0};
    if (setting >= 0)
        rows = hn_overview_cells(&g->overview, setting);
    double *count = hn_zalloc(page->ctx, r->bins, sizeof *count);
    if (!count)
        page->code = page->ctx->code;
    for (int64_t i = 0; i < rows.n; i++)
        for (int64_t kind = from; kind < to && hn_row_is_ok(&r->runs, rows.row[i]); kind++)
            for (int64_t b = 0; b < r->bins && count; b++)
                count[b] += (double)r->histogram[(rows.row[i] * r->kinds + kind) * r->bins + b];
    return (struct hn_bins){count, count ? r->bins : 0, r->bin_lo, bin_width(r)};
}

void hn_series_density(struct hn_series *s, struct hn_bins of, int64_t merge, double cut) {
    double width = of.width * (double)merge, total = 0, peak = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t b = 0; b < of.n; b += merge) {
            double sum = 0, left = of.lo + of.width * (double)b;
            for (int64_t j = b; j < hn_min(b + merge, of.n); j++)
                sum += of.count[j];
            total += pass == 0 ? sum : 0;
            peak = fmax(peak, sum);
            if (pass == 0 || total <= 0 || sum < cut * peak)
                continue;
            if (b == 0 && sum > 0) // no pair lies beyond the ends: the curve comes down there
                hn_series_add(s, left, 0);
            hn_series_add(s, left + 0.5 * width, sum / (total * width));
            if (b + merge >= of.n && sum > 0)
                hn_series_add(s, left + width, 0);
        }
}

static bool is_kept(const struct hn_groups *g, int64_t row) {
    return hn_row_is_ok(&g->results->runs, row) &&
           g->position[g->overview.cells.of[row]].setting >= 0;
}

// Bins are merged where pairs are few, to a hundred pairs a bin on average. 0: there are no pairs.
static int64_t choose_merge(const struct hn_groups *g) {
    static const int64_t merges[] = {2, 4, 5, 8, 10};
    const struct hn_results *r = g->results;
    double min = INFINITY;
    int64_t merge = 1;
    for (int64_t row = 0; row < r->runs.rows; row++) {
        double pairs = 0;
        for (int64_t b = r->bins; b < r->kinds * r->bins && is_kept(g, row); b++)
            pairs += (double)r->histogram[row * r->kinds * r->bins + b];
        min = pairs > 0 && pairs < min ? pairs : min;
    }
    for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++)
        if (r->bins % merges[i] == 0 &&
            (merge == 1 || min * (double)merge < 100.0 * (double)r->bins))
            merge = merges[i];
    return min < INFINITY ? merge : 0;
}

static struct hn_phrase step_title(const struct hn_groups *g, int dataset, int64_t step) {
    struct hn_phrase title = hn_groups_title(g, dataset, -1);
    hn_append(title.text, sizeof title.text, "%sstep %" PRId64, *title.text ? ", " : "",
              g->step[step]);
    return title;
}

static void draw_densities(struct densities *d, int dataset) {
    const struct hn_groups *g = d->groups;
    const struct hn_shown_steps shown = hn_shown_steps(
        g, dataset, d->page->step, g->datasets > 1 ? MAX_STEPS_OF_MANY : HN_SHOWN_STEPS);
    for (int i = 0; i < shown.n; i++) {
        struct hn_panel *panel = hn_page_panel(d->page, step_title(g, dataset, shown.step[i]).text,
                                               "cosine of pairs", "density of pairs");
        d->panel[d->panels++] = panel;
        for (int s = 0; s < g->settings; s++)
            hn_series_density(hn_panel_series(d->page, panel, g->setting[s].label, HN_LOOK_PLAIN,
                                              hn_setting_line(g, s)),
                              hn_groups_bins(d->page, g,
                                             (struct hn_where){dataset, 0, s, shown.step[i]}, 1,
                                             g->results->kinds),
                              d->merge, 0);
    }
    d->max = shown.n > d->max ? shown.n : d->max;
    d->all &= shown.n == shown.own;
}

static double highest(const struct hn_series *s) {
    double peak = 0;
    for (int64_t i = 0; i < s->n; i++)
        peak = fmax(peak, s->datum[i].y);
    return peak;
}

// An untrained encoder packs everything into a narrow peak, which would flatten the other steps:
// panels more than twice as high as the median have their own scale. True if there are any.
static bool choose_heights(struct densities *d) {
    double peak[HN_PAGE_PANELS] = {0}, sorted[HN_PAGE_PANELS], common = 0;
    bool higher = false;
    for (int p = 0; p < d->panels; p++) {
        for (int s = 0; s < d->panel[p]->n_series; s++)
            peak[p] = fmax(peak[p], highest(d->panel[p]->series[s]));
        sorted[p] = peak[p];
    }
    gsl_sort(sorted, 1, (size_t)d->panels);
    for (int p = 0; p < d->panels; p++)
        common = sorted[p] <= 2 * sorted[(d->panels - 1) / 2] ? sorted[p] : common;
    for (int p = 0; p < d->panels; p++) {
        d->panel[p]->y.lo = 0;
        d->panel[p]->y.hi = 1.06 * fmax(peak[p], common);
        higher |= peak[p] > common;
    }
    return higher;
}

// The cosines at which any curve reaches a hundredth of its own peak.
static void choose_range(struct densities *d) {
    double half = 0.5 * bin_width(d->groups->results) * (double)d->merge;
    double lo = INFINITY, hi = -INFINITY;
    for (int p = 0; p < d->panels; p++)
        for (int k = 0; k < d->panel[p]->n_series; k++) {
            const struct hn_series *s = d->panel[p]->series[k];
            double min = 0.01 * highest(s);
            for (int64_t i = 0; i < s->n; i++)
                if (s->datum[i].y >= min) {
                    lo = fmin(lo, s->datum[i].x - half);
                    hi = fmax(hi, s->datum[i].x + half);
                }
        }
    for (int p = 0; p < d->panels; p++) {
        d->panel[p]->x.lo = lo;
        d->panel[p]->x.hi = hi;
    }
}

// The cosine below which a share of the pairs lies.
static double quantile(struct hn_bins of, double share) {
    double total = 0, below = 0;
    for (int64_t b = 0; b < of.n; b++)
        total += of.count[b];
    for (int64_t b = 0; b < of.n; b++) {
        if (of.count[b] > 0 && below + of.count[b] >= share * total)
            return of.lo + of.width * ((double)b + (share * total - below) / of.count[b]);
        below += of.count[b];
    }
    return NAN;
}

// The cosines of nine tenths of the pairs with their median, or the false-negative ratio.
enum part { COSINES, RATIO };

static void draw_rows(struct hn_page *page, const struct hn_groups *g, struct hn_where where,
                      enum part part) {
    struct hn_panel *panel =
        hn_panel_of_rows(page, g, step_title(g, where.dataset, where.step).text,
                         part == COSINES ? "cosine of pairs" : hn_curve_fn.title);
    hn_axis_of_measure(&panel->x, part == COSINES ? &hn_curve_cos : &hn_curve_fn);
    panel->x.zero = false;
    for (where.setting = 0; where.setting < g->settings; where.setting++) {
        struct hn_series *s = hn_setting_curve(page, panel, g, where.setting);
        struct hn_mean ratio = hn_groups_mean(g, where, "fn_ratio");
        if (part == RATIO) {
            hn_series_add_row(s, 100 * ratio.mean, where.setting, 100 * ratio.half);
            continue;
        }
        struct hn_bins of = hn_groups_bins(page, g, where, 1, g->results->kinds);
        hn_series_add_span(s, quantile(of, 0.5), where.setting, quantile(of, 0.05),
                           quantile(of, 0.95));
    }
}

// Too many settings for curves, or one step: a row each, at the first and the last step.
static void draw_many(struct hn_page *page, const struct hn_groups *g) {
    int max = 0; // steps of a data set
    for (int dataset = 0; dataset < g->datasets; dataset++) {
        struct hn_where where = {dataset, 0, 0, 0};
        const struct hn_shown_steps shown = hn_shown_steps(g, dataset, page->step, ENDS);
        page->group = dataset;
        for (int i = 0; i < shown.n; i++) {
            where.step = shown.step[i];
            draw_rows(page, g, where, COSINES);
        }
        if (shown.n > 0)
            draw_rows(page, g, where, RATIO);
        max = shown.n > max ? shown.n : max;
    }
    hn_page_say(page,
                "One row per setting: median and 5-95 %% range of the cosine%s, and the share "
                "of same-label pairs with its 95 %% interval.",
                max > 1 ? " at the first and last step" : "");
    page->own_intervals = true;
    hn_page_left_out(page, g);
    page->columns = max + 1;
    page->share_y = true;
}

static void say_densities(const struct densities *d) {
    hn_page_say(d->page,
                "Left: density of the cosines%s; further right is harder. Right: share of "
                "same-label pairs.",
                d->page->step == HN_STEP_LAST ? " at the last step"
                : d->max <= 1                 ? ""
                : d->all                      ? " at each training step"
                                              : " at some of the training steps");
}

static void draw_groups(struct hn_page *page, const struct hn_groups *g, int64_t merge) {
    struct densities d = {.page = page, .groups = g, .merge = merge, .all = true};
    for (int dataset = 0; dataset < g->datasets; dataset++) {
        page->group = dataset;
        draw_densities(&d, dataset);
        hn_draw_panel_over_steps(page, g, dataset, &hn_curve_fn, false);
    }
    hn_page_left_out(page, g);
    page->tall_last = g->datasets == 1 && d.panels > 1;
    page->columns = g->datasets > 1 ? d.max + 1 : 0;
    say_densities(&d);
    if (d.panels > 0 && choose_heights(&d))
        hn_page_say(page, "Panels with a much sharper peak have a y-scale of their own.");
    choose_range(&d);
}

enum hn_code hn_draw_distributions(struct hn_page *page, const struct hn_results *r,
                                   const struct hn_distributions *what) {
    struct hn_groups g;
    struct hn_choice choice = what->choice;
    choice.max_settings = HN_MAX_SETTINGS;
    choice.most_rows = page->most_rows;
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    if (what->varied && hn_groups_values(&g, what->varied) < 2)
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "the runs have one value of %s alone",
                       what->varied);
    int64_t merge = choose_merge(&g);
    if (merge == 0)
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "the histograms of the file are empty");
    if (g.settings > HN_MAX_CURVES || (g.steps == 1 && page->step == 0))
        draw_many(page, &g);
    else
        draw_groups(page, &g, merge);
    return hn_page_finish(page, "the histograms of the file are empty");
}
