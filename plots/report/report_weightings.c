// SPDX-License-Identifier: GPL-3.0-or-later
// The sentence on weightings of negatives: which share of the loss is on false negatives, against
// none. Where debiasing cut the sum over negatives to its lower bound for more than a tenth of the
// anchors (clamp_rate), the loss has no negatives left to compare, and the share says nothing.
#include "core/text.h"
#include "plots/report/report_html.h"
#include "plots/report/report_private.h"

#include <math.h>
#include <string.h>

enum { PARAGRAPHS_MAX = 4 };

static const double clamped_max = 0.1;

// "hcl beta=1": the weighting, and its options that vary.
static void put_name(FILE *html, const struct hn_overview *o, int64_t s) {
    struct hn_phrase name = hn_overview_value(o, s, "weighting");
    for (int a = 0; a < o->axes; a++) {
        bool own = strcmp(o->axis[a].column, "params") != 0 &&
                   !hn_is_among(o->axis[a].name, HN_COLUMNS("weighting", "dataset", "step", "loss",
                                                            "result", "temperature", "batch_size"));
        const struct hn_phrase value = hn_overview_value(o, s, o->axis[a].name);
        if (own && *value.text)
            hn_append(name.text, sizeof name.text, " %s=%s", o->axis[a].name, value.text);
    }
    hn_html(html, "<b>%s</b>", name.text);
}

static bool is_weighting(const struct hn_overview *o, int64_t s, const char *name) {
    return strcmp(hn_table_text(&o->results->runs, o->first[s], "weighting"), name) == 0;
}

// Settings that differ by their weighting alone.
static bool is_beside(const struct hn_overview *o, int64_t a, int64_t b) {
    return a != b && hn_rows_agree(&o->results->runs, o->first[a], o->first[b],
                                   HN_COLUMNS("dataset", "step", "sampler", "params", "batch_size",
                                              "temperature", "loss"));
}

static bool is_clamped(const struct hn_overview *o, int64_t s) {
    return hn_overview_mean(o, s, "clamp_rate").mean > clamped_max;
}

// No weighting, and what others beside it are compared by.
struct base {
    int64_t none;
    const char *column;
    int64_t beside; // their number
    bool judged;    // some have an interval over seeds
};

static const char *measure_of(const struct hn_overview *o, int64_t s) {
    bool loss = isfinite(hn_overview_mean(o, s, "fn_loss_mass").mean);
    return loss ? "fn_loss_mass" : "fn_mass";
}

static struct base make_base(const struct hn_overview *o, int64_t none) {
    struct base b = {.none = none, .column = measure_of(o, none)};
    for (int64_t s = 0; s < o->settings; s++)
        if (is_beside(o, none, s)) {
            b.beside++;
            b.judged |= hn_overview_difference(o, s, none, b.column).over == HN_OVER_SEEDS;
        }
    return b;
}

// The difference of a weighting to none, whose interval holds for all of them together.
static struct hn_mean change(const struct hn_overview *o, const struct base *b, int64_t s) {
    return hn_mean_among(hn_overview_difference(o, s, b->none, b->column), b->beside);
}

// Those whose difference to none has that sign; 0: not significant, nor known to be where others
// have an interval over seeds. Clamped ones are listed apart.
static void put_group(FILE *html, const struct hn_overview *o, const struct base *b, int sign) {
    static const char *const titles[] = {"Less with ",
                                         "Not significantly different: ", "More with "};
    int n = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        if (!is_beside(o, b->none, s) || is_clamped(o, s))
            continue;
        struct hn_mean d = change(o, b, s);
        if (isnan(d.mean) || hn_told_apart(d, true) != sign)
            continue;
        fprintf(html, "%s", n++ ? ", " : titles[sign + 1]);
        put_name(html, o, s);
        fputs(" (", html);
        hn_html_mean(html, d, 100, 2, true);
        fputs(" points)", html);
    }
    fputs(n ? ". " : "", html);
}

// Those that are not compared: clamped, or without a seed in common with none.
static void put_apart(FILE *html, const struct hn_overview *o, const struct base *b, bool clamped) {
    int n = 0;
    for (int64_t s = 0; s < o->settings; s++) {
        if (!is_beside(o, b->none, s) || is_clamped(o, s) != clamped ||
            (!clamped && !isnan(change(o, b, s).mean)))
            continue;
        fputs(n++       ? ", "
              : clamped ? "Not compared, since debiasing left anchors without negatives (clamped): "
                        : "Not compared, for lack of a seed in common: ",
              html);
        put_name(html, o, s);
        if (clamped)
            hn_html(html, " (%.0f %% of the anchors)",
                    100 * hn_overview_mean(o, s, "clamp_rate").mean);
    }
    fputs(n == 0    ? ""
          : clamped ? ". A smaller tau_plus or a higher temperature leaves some. "
                    : ". ",
          html);
}

static void put_weightings(FILE *html, const struct hn_overview *o, int64_t none, bool first) {
    const struct base b = make_base(o, none);
    const struct hn_table *runs = &o->results->runs;
    int64_t cell = o->first[none];
    hn_html(html,
            "<p>Weightings on %s, step %.0f, batches of %.0f, temperature %g, loss %s, %s: without "
            "one ",
            hn_dataset_title(hn_table_text(runs, cell, "dataset")).text,
            hn_table_real(runs, cell, "step"), hn_table_real(runs, cell, "batch_size"),
            hn_table_real(runs, cell, "temperature"), hn_table_text(runs, cell, "loss"),
            hn_overview_label(o, none).text);
    hn_html_mean(html, hn_overview_mean(o, none, b.column), 100, 2, false);
    fputs(strcmp(b.column, "fn_mass") == 0 ? " % of the weight is on false negatives. "
                                           : " % of the loss is on false negatives. ",
          html);
    if (first && b.beside > 0 && !b.judged)
        hn_html_few_seeds(html, o->seeds[none], "weightings are not compared");
    for (int sign = -1; sign <= 1 && b.judged; sign++)
        put_group(html, o, &b, sign);
    put_apart(html, o, &b, true);
    put_apart(html, o, &b, false);
    fputs("</p>\n", html);
}

static bool is_uniform(const struct hn_overview *o, int64_t s) {
    return hn_is_named_uniform(hn_overview_sampler(o, s));
}

// A paragraph for each temperature and loss, and for other samplers where there is no Uniform.
void hn_html_weightings(FILE *html, const struct hn_overview *o) {
    int bases = 0, put = 0;
    bool uniform = false, any = false;
    if (!hn_overview_varies(o, "weighting"))
        return;
    for (int64_t s = 0; s < o->settings; s++)
        uniform |= o->last[s] && is_weighting(o, s, "none") && is_uniform(o, s);
    for (int64_t s = 0; s < o->settings; s++) {
        if (!o->last[s] || !is_weighting(o, s, "none"))
            continue;
        any = true;
        if (isnan(hn_overview_mean(o, s, measure_of(o, s)).mean))
            continue;
        bases++;
        if (put < PARAGRAPHS_MAX && (!uniform || is_uniform(o, s)))
            put_weightings(html, o, s, put++ == 0);
    }
    if (any && bases == 0)
        fputs("<p>Weightings are not compared: no loss was measured, which takes the metric "
              "<code>loss</code> and items with a second view or a positive.</p>\n",
              html);
    if (bases > put)
        fprintf(html, "<p>See the table for weightings with other samplers and losses (%d).</p>\n",
                bases - put);
}
