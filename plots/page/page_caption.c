// SPDX-License-Identifier: GPL-3.0-or-later
// The caption of a page, of what was drawn.
#include "core/text.h"
#include "plots/page/page_private.h"

#include <math.h>
#include <string.h>

enum { MAX_BANDS = 8 };

bool hn_series_has_interval(const struct hn_series *s) {
    for (int64_t i = 0; i < s->n; i++)
        if (!isnan(s->datum[i].lo) && !isnan(s->datum[i].hi))
            return true;
    return false;
}

static bool is_curve(const struct hn_series *s) {
    return (s->look == HN_LOOK_LINE || s->look == HN_LOOK_PLAIN) && s->n > 1;
}

bool hn_series_is_band(const struct hn_panel *panel, const struct hn_series *s) {
    int curves = 0;
    for (int k = 0; k < panel->n_series; k++)
        curves += is_curve(panel->series[k]);
    return is_curve(s) && !panel->rows && curves <= MAX_BANDS;
}

// With fewer seeds than three, intervals are over batches (hn_replicates_mean()).
static struct hn_phrase intervals(const struct hn_page *page) {
    bool bands = false, bars = false, of_y = false;
    struct hn_phrase text = {""};
    for (int p = 0; p < page->panels; p++)
        for (int k = 0; k < page->panel[p].n_series; k++) {
            const struct hn_series *s = page->panel[p].series[k];
            bool band = hn_series_is_band(&page->panel[p], s), some = hn_series_has_interval(s);
            bands |= band && some;
            bars |= !band && some;
            of_y |= some && s->look != HN_LOOK_ARMS;
        }
    if (!bands && !bars)
        return text;
    hn_put_text(text.text, sizeof text.text, "%s%s are 95 %% intervals",
                bands && bars ? "Bands and bars"
                : bands       ? "Bands"
                              : "Bars",
                of_y ? "" : ", along x alone,");
    if (page->seeds == 1 || page->seeds == 2)
        hn_append(text.text, sizeof text.text, " over batches, of %s",
                  hn_counted(page->seeds, "seed").text);
    hn_append(text.text, sizeof text.text, ".");
    return text;
}

// True if the panels stand as the figure has them, the last one right of the first.
static bool is_beside(const struct hn_layout *g) {
    const struct hn_page *page = g->page;
    int n = page->panels - g->inset;
    if (g->tall || n < 2)
        return true;
    return g->column[n - 1] > 0 && !page->tall_last &&
           (page->columns == 0 || g->across == hn_min(page->columns, n));
}

static void begin_sentences(char text[HN_CAPTION_SIZE], const char *from, const char *to) {
    for (char *at = text; (at = strstr(at, from)) != NULL; at += strlen(to)) {
        char rest[HN_CAPTION_SIZE];
        if (at > text && (at < text + 2 || strncmp(at - 2, ". ", 2) != 0))
            continue;
        snprintf(rest, sizeof rest, "%s", at + strlen(from));
        hn_put_text(at, HN_CAPTION_SIZE - (size_t)(at - text), "%s%s", to, rest);
    }
}

void hn_page_caption(const struct hn_page *page, const char *own, char text[HN_CAPTION_SIZE]) {
    struct hn_layout g;
    hn_layout_make(page, &g);
    const struct hn_phrase of_intervals = intervals(page);
    const char *parts[] = {own, page->said, page->own_intervals ? "" : of_intervals.text, "",
                           page->note};
    char inset[HN_TITLE_SIZE + 32];
    if (page->inset_says) {
        snprintf(inset, sizeof inset, "%s: %s",
                 g.inset       ? "Inset"
                 : g.rows == 1 ? "Right"
                               : "Last panel",
                 page->inset_says);
        parts[3] = inset;
    }
    *text = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (*parts[i])
            hn_append(text, HN_CAPTION_SIZE, "%s%s", *text ? " " : "", parts[i]);
    if (is_beside(&g))
        return;
    begin_sentences(text, "Left: ", "Above: ");
    begin_sentences(text, "Right: ", "Below: ");
}
