// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of the user's trainings: a table of settings, and pictures of an outcome over hardness
// and over excess false negatives, with rank correlations.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_points.h"
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
    int64_t first;
    return hn_outcome_rows(u, setting, &first) > 0;
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
    double *x, *y, *half;
    const char **label;
    int64_t n;
    char left_out[HN_MESSAGE_MAX]; // settings with an outcome and nothing to set it over
};

static enum hn_code find_points(const struct section *p, const char *column, bool excess,
                                struct points *out) {
    const struct hn_overview *o = p->o;
    if (!HN_ALLOC(p->ctx, out->x, o->settings) || !HN_ALLOC(p->ctx, out->y, o->settings) ||
        !HN_ALLOC(p->ctx, out->half, o->settings) || !HN_ALLOC(p->ctx, out->label, o->settings))
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
        out->label[out->n] = hn_strdup(p->ctx, hn_overview_label(o, s).text);
        if (!out->label[out->n++])
            return p->ctx->code;
    }
    return HN_OK;
}

static void put_correlation(FILE *html, const struct hn_rank_correlation *r) {
    if (isnan(r->rho)) {
        fputs("Rank correlation: none, as one of them does not vary.", html);
        return;
    }
    fprintf(html, "Rank correlation %+.2f over %d settings", r->rho, (int)r->n);
    if (isfinite(r->lo))
        fprintf(html, ", 95 %% interval %+.2f to %+.2f.", r->lo, r->hi);
    else
        fputs(r->n < HN_RANKS_MIN ? ": too few for an interval."
                                  : ": of agreement throughout there is no interval.",
              html);
}

static enum hn_code put_picture(const struct section *p, const char *column, const char *axis,
                                bool excess, double scale) {
    struct points q = {.n = 0};
    struct hn_rank_correlation r;
    if (find_points(p, column, excess, &q) || hn_rank_correlation(p->ctx, q.x, q.y, q.n, &r))
        return p->ctx->code;
    if (q.n < 2)
        return HN_OK;
    const struct hn_html_points drawn = {
        p->u->name[p->measure], axis, q.x, q.y, q.half, q.label, q.n, scale};
    fputs("<figure>\n", p->html);
    if (hn_html_points(p->html, p->ctx, &drawn))
        return p->ctx->code;
    hn_html(p->html, "<figcaption>%s over %s, a point for each setting, with its 95 %% interval. ",
            p->u->name[p->measure], axis);
    put_correlation(p->html, &r);
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
