// The first of the page: whether its results were made by one program of one results version.
#include "plots/report/report.h"
#include "results/programs.h"

#include <inttypes.h>

// Results of the lowest and of the highest version.
static void put_versions(FILE *html, const struct hn_results *const *r, int64_t n) {
    const struct hn_results *low = r[0], *high = r[0];
    for (int64_t i = 1; i < n; i++) {
        low = hn_results_version(r[i]) < hn_results_version(low) ? r[i] : low;
        high = hn_results_version(r[i]) > hn_results_version(high) ? r[i] : high;
    }
    struct hn_results_changes changes;
    hn_results_changes(low, high, &changes);
    if (hn_results_version(low) == hn_results_version(high))
        return;
    fprintf(
        html,
        "<div><p><strong>Results are of versions %d to %d, between which numbers changed:</strong> "
        "make the older ones again before they are compared.</p>\n<ul>\n",
        hn_results_version(low), hn_results_version(high));
    for (int64_t i = 0; i < changes.n; i++)
        hn_html(html, "<li>version %d: %s</li>\n", changes.first[i].version, changes.first[i].what);
    fputs("</ul></div>\n", html);
}

enum hn_code hn_html_programs(FILE *html, struct hn_context *ctx, const struct hn_results *const *r,
                              int64_t n) {
    struct hn_programs programs = {0};
    char text[512];
    HN_SCOPE(ctx);
    put_versions(html, r, n);
    for (int64_t i = 0; i < n; i++)
        if (hn_programs_add(ctx, r[i], &programs))
            return ctx->code;
    if (programs.n < 2)
        return HN_OK;
    hn_programs_text(&programs, text, sizeof text);
    hn_html(html, "<p><strong>Rows were made by %" PRId64 " programs:</strong> %s.</p>\n",
            programs.n, text);
    return HN_OK;
}
