// SPDX-License-Identifier: GPL-3.0-or-later
// Building a page, its ranges and its numbers.
#include "core/text.h"
#include "plots/page/page_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

void hn_page_begin(struct hn_context *ctx, struct hn_page *page) {
    *page = (struct hn_page){.ctx = ctx};
    page->spare_series.page = page;
}

void hn_page_add(char text[HN_CAPTION_SIZE], const char *fmt, ...) {
    va_list args;
    if (*text)
        hn_append(text, HN_CAPTION_SIZE, " ");
    va_start(args, fmt);
    hn_vappend(text, HN_CAPTION_SIZE, fmt, args);
    va_end(args);
}

static void note_first_dataset(struct hn_page *page, const char *dataset) {
    hn_page_note(page, "Only the first data set, %s, is drawn.", hn_dataset_title(dataset).text);
}

void hn_page_left_out(struct hn_page *page, const struct hn_groups *g) {
    for (int64_t s = 0; s < g->overview.settings; s++)
        page->seeds = hn_max(page->seeds, g->overview.seeds[s]);
    if (g->settings < g->settings_in_all)
        hn_page_note(page, "%d of %d settings are drawn, %s%s%s.", g->settings, g->settings_in_all,
                     g->named ? "those that were named"
                              : "each sampler once before any a second time",
                     *g->left_out.text ? "; left out: " : "", g->left_out.text);
    if (g->more_datasets && g->datasets == 1)
        note_first_dataset(page, g->dataset[0]);
    else if (g->more_datasets)
        hn_page_note(page, "Only the first %d data sets of the file are drawn.", g->datasets);
    if (*g->alike.text)
        hn_page_note(page, "Only settings with %s are drawn, for comparison.", g->alike.text);
    if (g->more_temperatures)
        hn_page_note(page, "Only the first %d temperatures of the file are drawn.",
                     g->temperatures);
}

void hn_page_first_dataset(struct hn_page *page, const struct hn_table *t) {
    for (int64_t row = 1; row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "dataset"), hn_table_text(t, 0, "dataset")) != 0) {
            note_first_dataset(page, hn_table_text(t, 0, "dataset"));
            return;
        }
}

double hn_disc_size(double size) { return 0.35 + 1.5 * sqrt(size); }

// True if the panel has measured data: rules and published values alone make no panel.
static bool has_data(const struct hn_panel *panel) {
    for (int s = 0; s < panel->n_series; s++)
        if (panel->series[s]->n > 0 && panel->series[s]->look != HN_LOOK_RULE &&
            panel->series[s]->look != HN_LOOK_UPRIGHT && panel->series[s]->look != HN_LOOK_PAPER)
            return true;
    return false;
}

static void cut_intervals(struct hn_panel *panel) {
    for (int s = 0; s < panel->n_series; s++) {
        struct hn_series *series = panel->series[s];
        bool of_x = panel->rows || series->look == HN_LOOK_ARMS;
        const struct hn_axis *axis = of_x ? &panel->x : &panel->y;
        bool bounded = axis->min < axis->largest;
        for (int64_t i = 0; bounded && i < series->n; i++) {
            struct hn_datum *d = &series->datum[i];
            d->lo = isnan(d->lo) ? NAN : fmax(d->lo, axis->min);
            d->hi = isnan(d->hi) ? NAN : fmin(d->hi, axis->largest);
        }
    }
}

// Panels without data are taken out, and series are numbered as they stand in the .tsv.
enum hn_code hn_page_finish(struct hn_page *page, const char *reason) {
    int kept = 0, index = 0;
    if (page->panels > 0 && !has_data(&page->panel[page->panels - 1]))
        page->tall_last = page->inset = false;
    for (int p = 0; p < page->panels; p++)
        if (has_data(&page->panel[p]) || page->panel[p].blank) {
            struct hn_panel moved = page->panel[p];
            page->panel[p] = page->panel[kept];
            page->panel[kept++] = moved;
        }
    page->panels = kept;
    page->inset &= kept == 2;
    if (page->most_panels > 0 && kept > page->most_panels && !page->inset && !page->tall_last) {
        hn_page_note(page, "For lack of room only the first %d of %d panels are drawn.",
                     page->most_panels, kept);
        page->panels = kept = page->most_panels;
    }
    for (int p = 0; p < kept; p++) {
        cut_intervals(&page->panel[p]);
        for (int s = 0; s < page->panel[p].n_series; s++) {
            struct hn_series *series = page->panel[p].series[s];
            series->index = series->n > 0 ? index++ : -1;
        }
    }
    if (page->code)
        return page->code;
    return kept > 0 ? HN_OK : hn_fail(page->ctx, HN_NOT_APPLICABLE, "%s", reason);
}

struct hn_panel *hn_page_panel(struct hn_page *page, const char *title, const char *x,
                               const char *y) {
    struct hn_panel *panel = &page->spare_panel;
    if (page->panels < HN_PAGE_PANELS)
        panel = &page->panel[page->panels++];
    else if (!strstr(page->note, "panels are drawn"))
        hn_page_note(page, "Only the first %d panels are drawn.", HN_PAGE_PANELS);
    hn_put_text(panel->title, sizeof panel->title, "%s", title);
    hn_put_text(panel->x.title, sizeof panel->x.title, "%s", x);
    hn_put_text(panel->y.title, sizeof panel->y.title, "%s", y);
    panel->x.lo = panel->x.hi = panel->y.lo = panel->y.hi = NAN;
    panel->group = page->group;
    return panel;
}

struct hn_series *hn_panel_series(struct hn_page *page, struct hn_panel *panel, const char *label,
                                  enum hn_look look, int line) {
    struct hn_series *s = NULL;
    if (panel->n_series < HN_PANEL_SERIES)
        s = hn_zalloc(page->ctx, 1, sizeof *s);
    else if (!strstr(page->note, "curves are drawn"))
        hn_page_note(page, "Of a panel only the first %d curves are drawn.", HN_PANEL_SERIES);
    if (!s) {
        page->code = panel->n_series == HN_PANEL_SERIES ? page->code : page->ctx->code;
        return &page->spare_series;
    }
    panel->series[panel->n_series++] = s;
    s->page = page;
    s->look = look;
    s->line = line;
    hn_put_text(s->label, sizeof s->label, "%s", label);
    return s;
}

struct hn_series *hn_panel_series_of(struct hn_page *page, struct hn_panel *panel,
                                     enum hn_look look, int line) {
    for (int s = 0; s < panel->n_series; s++)
        if (panel->series[s]->look == look && panel->series[s]->line == line &&
            !*panel->series[s]->label)
            return panel->series[s];
    return hn_panel_series(page, panel, "", look, line);
}

// Numbers beyond these no axis is drawn with: gnuplot overflows, or counts tics without end.
static const double largest = 1e30, smallest = 1e-30;

static double drawable(double value) {
    return !(fabs(value) < largest) ? NAN : fabs(value) < smallest ? 0 : value;
}

static void add(struct hn_series *s, struct hn_datum d) {
    d = (struct hn_datum){drawable(d.x), drawable(d.y), drawable(d.lo), drawable(d.hi),
                          drawable(d.size)};
    if (isnan(d.x) || isnan(d.y) || s == &s->page->spare_series)
        return;
    if (hn_grow(s->page->ctx, &s->datum, &s->capacity, s->n + 1, sizeof *s->datum)) {
        s->page->code = s->page->ctx->code;
        return;
    }
    s->datum[s->n++] = d;
}

void hn_series_add(struct hn_series *s, double x, double y) {
    add(s, (struct hn_datum){x, y, NAN, NAN, NAN});
}

void hn_series_add_interval(struct hn_series *s, double x, double y, double half) {
    add(s, (struct hn_datum){x, y, y - half, y + half, NAN});
}

void hn_series_add_span(struct hn_series *s, double x, double y, double lo, double hi) {
    add(s, (struct hn_datum){x, y, lo, hi, NAN});
}

void hn_series_add_row(struct hn_series *s, double x, int row, double half) {
    hn_series_add_span(s, x, row, x - half, x + half);
}

void hn_series_add_sized(struct hn_series *s, double x, double y, double size) {
    add(s, (struct hn_datum){x, y, NAN, NAN, size});
}

void hn_axis_tic(struct hn_page *page, struct hn_axis *axis, double at, const char *text) {
    if (hn_grow(page->ctx, &axis->tic, &axis->tic_capacity, axis->n_tics + 1, sizeof *axis->tic)) {
        page->code = page->ctx->code;
        return;
    }
    struct hn_tic *tic = &axis->tic[axis->n_tics++];
    tic->at = at;
    hn_put_text(tic->text, sizeof tic->text, "%s", text);
}

void hn_axis_tic_number(struct hn_page *page, struct hn_axis *axis, double at) {
    char text[32];
    for (int i = 0; i < axis->n_tics; i++)
        if (axis->tic[i].at <= at && axis->tic[i].at >= at)
            return;
    snprintf(text, sizeof text, "%g", at);
    hn_axis_tic(page, axis, at, text);
}

void hn_panel_mark(struct hn_panel *panel, double x, double y, const char *text, const char *brief,
                   const char *of, int line) {
    x = drawable(x);
    y = drawable(y);
    if (panel->n_marks == HN_PANEL_MARKS || isnan(x) || isnan(y))
        return;
    struct hn_word *mark = &panel->mark[panel->n_marks++];
    *mark = (struct hn_word){.x = x, .y = y, .line = line};
    hn_put_text(mark->text, sizeof mark->text, "%s", text);
    hn_put_text(mark->brief, sizeof mark->brief, "%s", brief ? brief : "");
    hn_put_text(mark->of, sizeof mark->of, "%s", of);
}

void hn_panel_frame(struct hn_panel *panel, double x0, double y0, double x1, double y1) {
    if (panel->n_frames == HN_PANEL_MARKS)
        return;
    double *frame = panel->frame[panel->n_frames++];
    frame[0] = x0, frame[1] = y0, frame[2] = x1, frame[3] = y1;
}

static void grow(struct hn_range *r, double value, bool log) {
    if (!isfinite(value) || (log && value <= 0))
        return;
    r->lo = fmin(r->lo, value);
    r->hi = fmax(r->hi, value);
}

static void grow_by_panel(const struct hn_panel *panel, bool vertical, struct hn_range *r) {
    bool log = vertical ? panel->y.log : panel->x.log;
    for (int s = 0; s < panel->n_series; s++) {
        const struct hn_series *series = panel->series[s];
        bool has_none = series->look == (vertical ? HN_LOOK_UPRIGHT : HN_LOOK_RULE);
        for (int64_t i = 0; i < series->n && !has_none; i++) {
            const struct hn_datum *d = &series->datum[i];
            grow(r, vertical ? d->y : d->x, log);
            if (vertical != (panel->rows || series->look == HN_LOOK_ARMS)) {
                grow(r, d->lo, log);
                grow(r, d->hi, log);
            }
        }
    }
    for (int i = 0; i < panel->n_frames; i++) {
        grow(r, panel->frame[i][vertical], log);
        grow(r, panel->frame[i][2 + vertical], log);
    }
}

static struct hn_range with_margin(const struct hn_axis *axis, struct hn_range r) {
    double share = axis->tight ? 0 : 0.06;
    if (!(r.lo <= r.hi))
        r = axis->log ? (struct hn_range){1, 10} : (struct hn_range){0, 1};
    if (axis->log) {
        double pad = fmax(share * log10(r.hi / r.lo), r.hi > 1.000001 * r.lo ? 0 : 0.3);
        return (struct hn_range){r.lo * pow(10, -pad), r.hi * pow(10, pad)};
    }
    bool from_zero =
        axis->zero && r.lo >= 0 && r.lo < 0.5 * r.hi; // else it would press curves flat
    double span = r.hi - (from_zero ? 0 : r.lo);
    bool flat = span <= 1e-6 * fabs(r.hi); // but for rounding
    double pad = flat ? fmax(0.05 * fabs(r.hi), 1e-3) : share * span;
    return (struct hn_range){from_zero ? 0 : r.lo - pad, r.hi + pad};
}

struct hn_range hn_page_range(const struct hn_page *page, const struct hn_panel *panel,
                              bool vertical) {
    const struct hn_axis *axis = vertical ? &panel->y : &panel->x;
    bool shared = vertical ? page->share_y : page->share_x;
    struct hn_range r = {INFINITY, -INFINITY};
    if (vertical && panel->rows) // from the first row, at 0, down
        return (struct hn_range){panel->y.n_tics - 0.4, -0.6};
    for (int p = 0; p < page->panels; p++)
        if (shared || &page->panel[p] == panel)
            grow_by_panel(&page->panel[p], vertical, &r);
    r = with_margin(axis, r);
    r.lo = isnan(drawable(axis->lo)) ? r.lo : axis->lo;
    r.hi = isnan(drawable(axis->hi)) ? r.hi : axis->hi;
    if (!(fabs(r.hi - r.lo) > smallest))
        r.hi = r.lo + 1;
    return r;
}

double hn_axis_share(const struct hn_axis *axis, double value, struct hn_range r) {
    double share =
        axis->log ? log(value / r.lo) / log(r.hi / r.lo) : (value - r.lo) / (r.hi - r.lo);
    return isfinite(share) ? share : 0; // nothing and less on a logarithmic axis
}

static void write_tics(FILE *tsv, const char *name, const struct hn_axis *axis) {
    if (axis->n_tics == 0)
        return;
    fprintf(tsv, "# %s:", name);
    for (int i = 0; i < axis->n_tics; i++)
        hn_print(tsv, hn_tsv_text, "%s %.9g is %s", i ? "," : "", axis->tic[i].at,
                 axis->tic[i].text);
    fputc('\n', tsv);
}

const char *hn_series_end(const struct hn_series *s) { return *s->end ? s->end : s->label; }

static void write_heading(FILE *tsv, const struct hn_panel *panel, const struct hn_series *s) {
    hn_print(tsv, hn_tsv_text, "\n\n# %s%s%s%s\n", panel->title,
             *panel->title && *hn_series_end(s) ? ": " : "", hn_series_end(s),
             s->look == HN_LOOK_PAPER ? " (published)" : "");
    write_tics(tsv, "positions along x", &panel->x);
    write_tics(tsv, "positions along y", &panel->y);
    hn_print(tsv, hn_tsv_text, "# %s\t%s\tlower end\tupper end\t%s\n",
             *panel->x.title ? panel->x.title : "x", *panel->y.title ? panel->y.title : "y",
             s->size ? s->size : "size");
}

void hn_page_write_data(struct hn_page *page, FILE *tsv) {
    for (int p = 0; p < page->panels; p++)
        for (int s = 0; s < page->panel[p].n_series; s++) {
            const struct hn_series *series = page->panel[p].series[s];
            if (series->index < 0)
                continue;
            write_heading(tsv, &page->panel[p], series);
            for (int64_t i = 0; i < series->n; i++) {
                const struct hn_datum *d = &series->datum[i];
                fprintf(tsv, "%.9g", d->x);
                hn_tsv_real(tsv, d->y);
                hn_tsv_real(tsv, d->lo);
                hn_tsv_real(tsv, d->hi);
                hn_tsv_real(tsv, d->size);
                fputc('\n', tsv);
            }
        }
}
