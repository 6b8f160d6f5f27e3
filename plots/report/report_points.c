// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of points with labels and intervals.
#include "plots/report/report_points.h"
#include "plots/report/report_html.h"

#include <math.h>
#include <string.h>

static void find_range(const double *value, const double *half, int64_t n, double range[2]) {
    range[0] = range[1] = value[0];
    for (int64_t i = 0; i < n; i++) {
        range[0] = fmin(range[0], value[i] - (half ? half[i] : 0));
        range[1] = fmax(range[1], value[i] + (half ? half[i] : 0));
    }
    double size = fmax(fabs(range[0]), fabs(range[1]));
    double margin = range[1] > range[0] ? 0.08 * (range[1] - range[0]) : fmax(1, 1e-3 * size);
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

enum { TICKS_MAX = 10 };
// Tick k of a range; of large numbers that differ little two can be one.
static double tick(const double range[2], int k) {
    double step = tick_step(range);
    return (ceil(range[0] / step) + k) * step;
}

static void put_axes(FILE *html, const double x[2], const double y[2], double scale) {
    fputs("<g fill=currentColor stroke=none font-size=11>\n", html);
    for (int k = 0; k < TICKS_MAX && tick(x, k) <= x[1]; k++)
        fprintf(html, "<text x=\"%.1f\" y=\"%d\" text-anchor=middle>%.4g</text>",
                across(x, tick(x, k)), HEIGHT - BOTTOM + 16, scale * tick(x, k) + 0.0);
    for (int k = 0; k < TICKS_MAX && tick(y, k) <= y[1]; k++)
        fprintf(html, "<text x=\"%d\" y=\"%.1f\" text-anchor=end>%.4g</text>\n", LEFT - 6,
                down(y, tick(y, k)) + 4, tick(y, k) + 0.0);
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

enum hn_code hn_html_points(FILE *html, struct hn_context *ctx, const struct hn_html_points *q) {
    double x[2], y[2];
    HN_SCOPE(ctx);
    struct label *spot = hn_alloc(ctx, q->n, sizeof *spot);
    if (!spot)
        return ctx->code;
    find_range(q->x, NULL, q->n, x);
    find_range(q->y, q->half, q->n, y);
    hn_html(html,
            "<svg viewBox=\"0 0 440 300\" width=440 role=img aria-label=\"%s over %s\" "
            "style=\"max-width:100%%\">\n",
            q->name, q->axis);
    put_axes(html, x, y, q->scale);
    hn_html(html, "<text x=252 y=292 text-anchor=middle font-size=12 fill=currentColor>%s</text>\n",
            q->axis);
    for (int64_t i = 0; i < q->n; i++) {
        double at = across(x, q->x[i]), height = down(y, q->y[i]);
        spot[i] = position_label(spot, i, at, height, strlen(q->label[i]));
        fprintf(html, "<path stroke=currentColor stroke-opacity=.4 d=\"M%.1f %.1fV%.1f\"/>", at,
                down(y, q->y[i] - q->half[i]), down(y, q->y[i] + q->half[i]));
        fprintf(html, "<circle cx=\"%.1f\" cy=\"%.1f\" r=4 fill=currentColor>", at, height);
        hn_html(html, "<title>%s</title></circle>", q->label[i]);
        fprintf(html, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=%s font-size=10 fill=currentColor>",
                at + (spot[i].left < at ? -7 : 7), spot[i].base,
                spot[i].left < at ? "end" : "start");
        hn_html(html, "%s</text>\n", q->label[i]);
    }
    fputs("</svg>\n", html);
    return HN_OK;
}
