// SPDX-License-Identifier: GPL-3.0-or-later
// Findings of this project's own trainings on data of the page's kind: tuples of queries and
// passages, or items; what results do not tell is said of both.
#include "core/pairs.h"
#include "plots/report/report_private.h"

#include <math.h>
#include <string.h>

enum { ITEMS = 1, TUPLES = 2 };

// Kinds of data of finished cells: equal passages are counted in tuples alone.
static unsigned kinds_of(const struct hn_table *runs) {
    unsigned kinds = 0;
    bool counted = hn_table_find(runs, "duplicate_ratio") >= 0;
    for (int64_t row = 0; row < runs->rows; row++)
        if (strcmp(hn_table_text(runs, row, "status"), "ok") == 0)
            kinds |= isfinite(hn_table_real(runs, row, "duplicate_ratio")) ||
                             strstr(hn_table_text(runs, row, "note"), HN_NOTE_KNOWN_RELEVANCE)
                         ? TUPLES
                     : counted ? ITEMS
                               : ITEMS | TUPLES;
    return kinds;
}

void hn_html_findings(FILE *html, const struct hn_table *runs) {
    static const struct {
        unsigned kind;
        const char *sentence;
    } findings[] = {
        {TUPLES,
         "On queries and passages, each setting tuned, it depends on the data: across two "
         "languages mosaic ended 1.5 points of MRR@10 over all documents above Uniform, kNN 0.9 "
         "and HCL 0.7; in code search GCBS (0.3) and mosaic (0.7) were not told from it, and four "
         "mined negatives a query (0.4) were level with four random ones "
         "(<code>docs/notes/trials.md</code>)."},
        {ITEMS, "Where classes are few, false negatives decide: on a graph of documents of seven "
                "classes, each setting tuned, the eight of fourteen whose batches held 29 % of "
                "them or more (Uniform's: 18 %) ended 3.7 to 14.4 points of a linear probe below "
                "Uniform, and none significantly above it. On images, tuned likewise, none of "
                "eight differed from it significantly (<code>docs/notes/trials.md</code>)."}};
    unsigned kinds = kinds_of(runs);
    fputs("<p class=soft>Harder batches need not train better encoders.", html);
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++)
        if (findings[i].kind & kinds)
            fprintf(html, " %s", findings[i].sentence);
    fputs("</p>\n", html);
}
