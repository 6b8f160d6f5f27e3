// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of the user's trainings: a table of settings, and pictures of an outcome over hardness
// and over excess false negatives, with rank correlations.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <math.h>
#include <string.h>

struct section {
    FILE *html;
    struct hn_context *ctx;
    const struct hn_overview *o;
    const struct hn_outcome *u;
    int measure;
};

static bool has_rows(const struct hn_outcome *u, int64_t setting) {
    for (int64_t r = 0; r < u->rows; r++)
        if (u->setting[r] == setting)
            return true;
    return false;
}

// A mean, and its difference to Uniform, of each measure.
static enum hn_code add_row(const struct section *p, int64_t s, json_t *rows) {
    char key[32];
    json_t *row = json_pack("{s:o}", "setting", hn_json_text(hn_overview_label(p->o, s).text));
    json_array_append_new(rows, row);
    for (int m = 0; m < p->u->measures; m++) {
        struct hn_mean mean, difference;
        if (hn_outcome_mean(p->ctx, p->u, s, m, &mean) ||
            hn_outcome_difference(p->ctx, p->u, s, p->o->base[s], m, &difference))
            return p->ctx->code;
        if (m == 0)
            json_object_set_new(row, "trainings", json_integer(mean.n));
        snprintf(key, sizeof key, "%d", m);
        json_object_set_new(row, key, hn_mean_json(mean, false));
        snprintf(key, sizeof key, "%d minus", m);
        json_object_set_new(row, key, hn_mean_json(difference, true));
    }
    return HN_OK;
}

// Digits behind the point for means of this size; an interval may ask for more.
static int digits_of(const json_t *rows, const char *key) {
    double size = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cell = json_object_get(json_array_get(rows, i), key);
        size = fmax(size, fabs(json_number_value(json_object_get(cell, "value"))));
    }
    return size >= 100 ? 1 : size >= 10 ? 2 : 4;
}

static enum hn_code put_table(const struct section *p) {
    struct hn_record_column column[3 + 2 * HN_OUTCOMES_MAX] = {
        {"setting", "Setting", -1, .html = "<th scope=row>%s</th>"}, {"trainings", "Trainings"}};
    char key[HN_OUTCOMES_MAX][2][32];
    json_t *rows = json_array();
    for (int64_t s = 0; s < p->o->settings; s++)
        if (has_rows(p->u, s) && add_row(p, s, rows)) {
            json_decref(rows);
            return p->ctx->code;
        }
    for (int m = 0; m < p->u->measures; m++) {
        struct hn_record_column *c = &column[2 + 2 * m];
        snprintf(key[m][0], sizeof key[m][0], "%d", m);
        snprintf(key[m][1], sizeof key[m][1], "%d minus", m);
        c[0] = (struct hn_record_column){key[m][0], p->u->name[m], .as = HN_BY_HALF,
                                         .digits = digits_of(rows, key[m][0])};
        c[1] = c[0];
        c[1].key = key[m][1];
        c[1].heading = "– Uniform";
        c[1].help = "paired by seed";
    }
    hn_html_table(p->html,
                  &(struct hn_html_table){
                      .label = "Outcomes", .id = "", .class = "", .column = column, .row = rows});
    return HN_OK;
}

// A point of a picture for each setting that has both.
struct points {
    double *x, *y, *half; // half: of the interval of y, 0 = none
    int64_t *setting;
    int64_t n;
    char left_out[HN_MESSAGE_MAX]; // settings with an outcome and nothing to set it over
};

static enum hn_code find_points(const struct section *p, const char *column, bool excess,
                                struct points *out) {
    const struct hn_overview *o = p->o;
    if (!HN_ALLOC(p->ctx, out->x, o->settings) || !HN_ALLOC(p->ctx, out->y, o->settings) ||
        !HN_ALLOC(p->ctx, out->half, o->settings) || !HN_ALLOC(p->ctx, out->setting, o->settings))
        return p->ctx->code;
    for (int64_t s = 0; s < o->settings; s++) {
        struct hn_mean y, x = excess && o->base[s] == s ? (struct hn_mean){.mean = 0}
                              : excess                  ? hn_overview_to_uniform(o, s, column)
                                                        : hn_overview_mean(o, s, column);
        if (hn_outcome_mean(p->ctx, p->u, s, p->measure, &y))
            return p->ctx->code;
        if (isfinite(y.mean) && !isfinite(x.mean))
            hn_append(out->left_out, sizeof out->left_out, "%s%s", *out->left_out ? ", " : "",
                      hn_overview_label(o, s).text);
        if (!isfinite(x.mean) || !isfinite(y.mean))
            continue;
        out->x[out->n] = x.mean;
        out->y[out->n] = y.mean;
        out->half[out->n] = isfinite(y.half) ? y.half : 0;
        out->setting[out->n++] = s;
    }
    return HN_OK;
}

static void find_range(const double *value, const double *half, int64_t n, double range[2]) {
    range[0] = range[1] = value[0];
    for (int64_t i = 0; i < n; i++) {
        range[0] = fmin(range[0], value[i] - (half ? half[i] : 0));
        range[1] = fmax(range[1], value[i] + (half ? half[i] : 0));
    }
    double margin = range[1] > range[0] ? 0.08 * (range[1] - range[0]) : 1;
    range[0] -= margin;
    range[1] += margin;
}

enum { WIDTH = 440, HEIGHT = 300, LEFT = 64, RIGHT = 16, TOP = 12, BOTTOM = 46 };

static double across(const double range[2], double x) {
    return LEFT + (x - range[0]) / (range[1] - range[0]) * (WIDTH - LEFT - RIGHT);
}
static double down(const double range[2], double y) {
    return HEIGHT - BOTTOM - (y - range[0]) / (range[1] - range[0]) * (HEIGHT - TOP - BOTTOM);
}

// 1, 2 or 5 times a power of ten: three to seven ticks.
static double tick_step(const double range[2]) {
    double power = pow(10, floor(log10((range[1] - range[0]) / 3)));
    double times = (range[1] - range[0]) / 3 / power;
    return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

static void put_axes(FILE *html, const double x[2], const double y[2], double scale) {
    const double x_step = tick_step(x), y_step = tick_step(y);
    fputs("<g fill=currentColor stroke=none font-size=11>\n", html);
    for (double i = ceil(x[0] / x_step); i * x_step <= x[1]; i++)
        fprintf(html, "<text x=\"%.1f\" y=\"%d\" text-anchor=middle>%.4g</text>",
                across(x, i * x_step), HEIGHT - BOTTOM + 16, scale * i * x_step + 0.0);
    for (double i = ceil(y[0] / y_step); i * y_step <= y[1]; i++)
        fprintf(html, "<text x=\"%d\" y=\"%.1f\" text-anchor=end>%.4g</text>\n", LEFT - 6,
                down(y, i * y_step) + 4, i * y_step + 0.0);
    fprintf(html,
            "</g><path fill=none stroke=currentColor stroke-opacity=.5 d=\"M%d %dV%dH%d\"/>\n",
            LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
}

// The box of a label, from its left end and its base line.
enum { LETTER = 6, LINE = 11 };
struct label {
    double left, base, width;
};

static bool overlaps(const struct label *a, const struct label *b) {
    return a->left < b->left + b->width && b->left < a->left + a->width &&
           fabs(a->base - b->base) < LINE;
}

// Beside a point, above or below its middle, or the lines above and below these: the first position
// that no earlier label has.
static struct label position_label(const struct label *earlier, int64_t n, double at, double height,
                                   size_t letters) {
    static const double shift[] = {-5, 12, -16, 23, -27, 34};
    double width = (double)(letters * LETTER);
    struct label spot = {at > (LEFT + WIDTH) / 2.0 ? at - 7 - width : at + 7, 0, width};
    for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
        bool free = true;
        spot.base = height + shift[s];
        for (int64_t i = 0; i < n; i++)
            free &= !overlaps(&spot, &earlier[i]);
        if (free)
            return spot;
    }
    spot.base = height + shift[0];
    return spot;
}

static enum hn_code put_points(const struct section *p, const struct points *q, const char *axis,
                               double scale) {
    double x[2], y[2];
    HN_SCOPE(p->ctx);
    struct label *spot = hn_alloc(p->ctx, q->n, sizeof *spot);
    if (!spot)
        return p->ctx->code;
    find_range(q->x, NULL, q->n, x);
    find_range(q->y, q->half, q->n, y);
    hn_html(p->html,
            "<svg viewBox=\"0 0 440 300\" width=440 role=img aria-label=\"%s over %s\" "
            "style=\"max-width:100%%\">\n",
            p->u->name[p->measure], axis);
    put_axes(p->html, x, y, scale);
    hn_html(p->html,
            "<text x=252 y=292 text-anchor=middle font-size=12 fill=currentColor>%s</text>\n",
            axis);
    for (int64_t i = 0; i < q->n; i++) {
        double at = across(x, q->x[i]), height = down(y, q->y[i]);
        const struct hn_phrase label = hn_overview_label(p->o, q->setting[i]);
        spot[i] = position_label(spot, i, at, height, strlen(label.text));
        fprintf(p->html, "<path stroke=currentColor stroke-opacity=.4 d=\"M%.1f %.1fV%.1f\"/>", at,
                down(y, q->y[i] - q->half[i]), down(y, q->y[i] + q->half[i]));
        fprintf(p->html, "<circle cx=\"%.1f\" cy=\"%.1f\" r=4 fill=currentColor>", at, height);
        hn_html(p->html, "<title>%s</title></circle>", label.text);
        fprintf(
            p->html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=%s font-size=10 fill=currentColor>",
            at + (spot[i].left < at ? -7 : 7), spot[i].base, spot[i].left < at ? "end" : "start");
        hn_html(p->html, "%s</text>\n", label.text);
    }
    fputs("</svg>\n", p->html);
    return HN_OK;
}

static enum hn_code put_picture(const struct section *p, const char *column, const char *axis,
                                bool excess, double scale) {
    struct points q = {.n = 0};
    struct hn_rank_correlation r;
    if (find_points(p, column, excess, &q) || hn_rank_correlation(p->ctx, q.x, q.y, q.n, &r))
        return p->ctx->code;
    if (q.n < 2)
        return HN_OK;
    fputs("<figure>\n", p->html);
    if (put_points(p, &q, axis, scale))
        return p->ctx->code;
    hn_html(p->html, "<figcaption>%s over %s, a point for each setting, with its 95 %% interval. ",
            p->u->name[p->measure], axis);
    if (isnan(r.rho))
        fputs("Rank correlation: none, as one of them does not vary.", p->html);
    else
        fprintf(p->html, "Rank correlation %+.2f over %d settings", r.rho, (int)r.n);
    if (isfinite(r.lo))
        fprintf(p->html, ", 95 %% interval %+.2f to %+.2f", r.lo, r.hi);
    else if (!isnan(r.rho))
        fputs(r.n < 5 ? ": too few for an interval"
                      : ": of agreement throughout there is no "
                        "interval",
              p->html);
    fputs(isnan(r.rho) ? "" : ".", p->html);
    if (*q.left_out)
        hn_html(p->html, " Not drawn, as some of their batches have no such value: %s.",
                q.left_out);
    fputs("</figcaption></figure>\n", p->html);
    return HN_OK;
}

enum hn_code hn_html_outcome(FILE *html, struct hn_context *ctx, const struct hn_overview *o,
                             const struct hn_outcome *u) {
    struct section p = {.html = html, .ctx = ctx, .o = o, .u = u};
    const struct hn_hardness *hardness = hn_hardness_measure(o->results, 0);
    hn_html_fold(html, "outcome", "Outcomes of trainings", true);
    hn_html(
        html,
        "<p>From %s; differences to Uniform are paired by seed. Intervals hold 95 %% over three "
        "seeds or more. Settings differ in more than hardness: a correlation over them is no "
        "proof of a cause.</p>\n",
        u->path);
    if (put_table(&p))
        return ctx->code;
    for (p.measure = 0; p.measure < u->measures; p.measure++)
        if ((hardness && put_picture(&p, hardness->column, hardness->name, false, 1)) ||
            put_picture(&p, "fn_ratio", "false negatives over Uniform's (points)", true, 100))
            return ctx->code;
    fputs("</details>\n", html);
    return HN_OK;
}
