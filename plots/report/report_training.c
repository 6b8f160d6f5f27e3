// Tables of the report for results of `hardneg train`: accuracies beside the untrained encoder with
// differences paired by seed, and what drawing and building cost of a step.
#include "plots/page/trained.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <math.h>

enum { TITLE = 160, LABEL = 96 };

static void put_number(FILE *html, double value, const char *format) {
    if (isnan(value))
        fputs("<td class=n data-v=\"\">–</td>", html);
    else {
        fprintf(html, "<td class=n data-v=\"%.9g\">", value);
        fprintf(html, format, value);
        fputs("</td>", html);
    }
}

static void put_moments(FILE *html, struct hn_moments m, bool share) {
    double scale = share ? 100 : 1;
    int digits = share ? 2 : 3;
    if (isnan(m.mean)) {
        put_number(html, NAN, "");
        return;
    }
    fprintf(html, "<td class=n data-v=\"%.9g\">%.*f", m.mean, digits, scale * m.mean);
    if (!isnan(m.deviation))
        fprintf(html, " <small>±&#8239;%.*f</small>", digits, scale * m.deviation);
    fputs("</td>", html);
}

static void put_head(FILE *html, const char *help, const char *title, const char *unit) {
    fputs("<th scope=col class=n title=\"", html);
    hn_html_text(html, help);
    fputs("\"><button type=button>", html);
    hn_html_text(html, title);
    fprintf(html, "%s</button></th>", unit);
}

static void put_caption(FILE *html, const struct hn_trained *t, int64_t base, const char *rest) {
    char title[TITLE];
    hn_trained_title(t, base, title, sizeof title);
    fputs("<div class=scroll role=region tabindex=0 aria-label=\"Training\">"
          "<table class=sortable><caption>",
          html);
    hn_html_text(html, title);
    fprintf(html,
            "%s</caption>\n<thead><tr><th scope=col><button type=button>Setting</button></th>"
            "<th scope=col class=n><button type=button>Seeds</button></th>",
            rest);
}

static void put_setting(FILE *html, const struct hn_trained *t, int64_t setting,
                        const char *instead) {
    char label[LABEL];
    hn_trained_label(t, setting, label, sizeof label);
    fputs("<tr><th scope=row>", html);
    hn_html_text(html, instead ? instead : label);
    fprintf(html, "</th><td class=n>%" PRId64 "</td>", hn_trained_seeds(t, setting));
}

static bool is_of(const struct hn_trained *t, int64_t k, int64_t base) {
    return k == base || t->setting[k].base == base;
}

static void put_values(FILE *html, const struct hn_trained *t, int64_t setting, int64_t base,
                       int64_t step) {
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const char *column = t->table->column[c].name;
        put_moments(html, hn_trained_at(t, setting, column, step), hn_trained_is_share(column));
    }
}

static void put_features(FILE *html, const struct hn_trained *t, int64_t base) {
    if (!hn_trained_has_features(t, base))
        return;
    put_setting(html, t, base, "frozen features alone");
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const char *column = t->table->column[c].name;
        put_moments(html, hn_trained_features(t, base, column), hn_trained_is_share(column));
    }
    fputs("<td class=n data-v=\"\">–</td><td class=n data-v=\"\">–</td></tr>\n", html);
}

static void put_difference(FILE *html, const struct hn_trained *t, int64_t setting, int64_t base) {
    const char *column = hn_trained_column(t, base);
    struct hn_difference d = {.mean = NAN};
    if (setting != base)
        d = hn_trained_difference(t, setting, base, column);
    double scale = hn_trained_is_share(column) ? 100 : 1;
    if (isnan(d.mean)) {
        fputs("<td class=n data-v=\"\">–</td><td class=n data-v=\"\">–</td>", html);
        return;
    }
    fprintf(html, "<td class=n data-v=\"%.9g\">%+.2f", d.mean, scale * d.mean);
    if (!isnan(d.error))
        fprintf(html, " <small>se %.2f</small>", scale * d.error);
    fputs("</td>", html);
    put_number(html, d.p, "%.3f");
}

static void put_accuracies(FILE *html, const struct hn_trained *t, int64_t base) {
    char name[LABEL];
    put_caption(html, t, base,
                ": last evaluation, mean ± deviation over seeds. Differences are paired by seed, "
                "with standard error and p of a paired t test.");
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const struct hn_column *column = &t->table->column[c];
        put_head(html, column->long_name, column->name,
                 hn_trained_is_share(column->name) ? " (%)" : "");
    }
    hn_trained_label(t, base, name, sizeof name);
    fputs("<th scope=col class=n><button type=button>", html);
    hn_html_text(html, hn_trained_column(t, base));
    fputs(" minus ", html);
    hn_html_text(html, name);
    fputs("</button></th><th scope=col class=n><button type=button>p</button></th></tr></thead>\n"
          "<tbody>\n",
          html);
    put_setting(html, t, base, "untrained encoder");
    put_values(html, t, base, base, 0);
    fputs("<td class=n data-v=\"\">–</td><td class=n data-v=\"\">–</td></tr>\n", html);
    put_features(html, t, base);
    for (int64_t k = base; k < t->settings; k++) {
        if (!is_of(t, k, base))
            continue;
        put_setting(html, t, k, NULL);
        put_values(html, t, k, base, HN_LAST_STEP);
        put_difference(html, t, k, base);
        fputs("</tr>\n", html);
    }
    fputs("</tbody></table></div>\n", html);
}

static void put_costs(FILE *html, const struct hn_trained *t, int64_t base) {
    static const struct {
        const char *column, *title, *help, *format;
        double scale;
    } shown[] = {
        {"cost_t", "Cost_T (ms)", "forward, backward and update of a step", "%.3g", 1e3},
        {"cost_s", "Cost_S (ms)", "drawing a batch", "%.3g", 1e3},
        {"cost_g_over_t", "Cost_G / t (ms)", "building, per step", "%.3g", 1e3},
        {"share_s", "Cost_S (% of a step)", "of a step with all its costs", "%.2f", 100},
        {"share_g", "Cost_G / t (% of a step)", "of a step with all its costs", "%.2f", 100},
        {"share_e", "Embedding (% of a step)", "of all items, for builds", "%.2f", 100},
        {"flops_per_step", "Products (GFLOP)", "matrix products of a step", "%.3g", 1e-9},
        {"share_of_floor", "Of the floor (%)",
         "what the products would take at the measured sgemm rate, as a share of Cost_T", "%.1f",
         100}};
    enum { SHOWN = sizeof shown / sizeof shown[0] };
    put_caption(html, t, base, ": what a step costs, means over steps and seeds.");
    for (int c = 0; c < SHOWN; c++)
        put_head(html, shown[c].help, shown[c].title, "");
    fputs("</tr></thead>\n<tbody>\n", html);
    for (int64_t k = base; k < t->settings; k++) {
        if (!is_of(t, k, base))
            continue;
        put_setting(html, t, k, NULL);
        for (int c = 0; c < SHOWN; c++)
            put_number(html, shown[c].scale * hn_trained_cost(t, k, shown[c].column).mean,
                       shown[c].format);
        fputs("</tr>\n", html);
    }
    fputs("</tbody></table></div>\n", html);
}

enum hn_code hn_html_training(FILE *html, struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (!code) {
        fputs("<section aria-labelledby=training><h2 id=training>Training</h2>\n", html);
        for (int64_t k = 0; k < t.settings; k++)
            if (t.setting[k].base < 0)
                put_accuracies(html, &t, k);
        fputs("<h3>Costs</h3>\n", html);
        for (int64_t k = 0; k < t.settings; k++)
            if (t.setting[k].base < 0)
                put_costs(html, &t, k);
        fputs("</section>\n", html);
    }
    hn_trained_free(ctx, &t);
    return code == HN_NOT_APPLICABLE || code == HN_DATA ? HN_OK : code;
}
