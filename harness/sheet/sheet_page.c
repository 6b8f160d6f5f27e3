// The page: the anchor, then a section for each sampler. Pictures are BMP files within the page,
// which every browser shows and which need no library.
#include "harness/sheet/sheet.h"
#include "plots/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <nettle/base64.h>
#include <string.h>

enum { SIDE = HN_IMAGE_SIDE, PLANE = SIDE * SIDE, HEAD = 54, BMP = HEAD + 3 * PLANE };

static void put_number(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

// Planes of red, green and blue rows become rows of blue, green and red, the lowest first.
static void make_bmp(const uint8_t *image, uint8_t bmp[BMP]) {
    memset(bmp, 0, HEAD);
    bmp[0] = 'B';
    bmp[1] = 'M';
    put_number(bmp + 2, BMP);
    put_number(bmp + 10, HEAD);
    put_number(bmp + 14, 40); // bytes of the second header
    put_number(bmp + 18, SIDE);
    put_number(bmp + 22, SIDE);
    bmp[26] = 1;  // plane
    bmp[28] = 24; // bits of a pixel
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < 3; c++)
                bmp[HEAD + 3 * (y * SIDE + x) + c] =
                    image[(2 - c) * PLANE + (SIDE - 1 - y) * SIDE + x];
}

static void put_picture(FILE *html, const uint8_t *image, const char *label) {
    uint8_t bmp[BMP];
    char coded[BASE64_ENCODE_RAW_LENGTH(BMP) + 1];
    make_bmp(image, bmp);
    base64_encode_raw(coded, BMP, bmp);
    coded[BASE64_ENCODE_RAW_LENGTH(BMP)] = '\0';
    hn_html(html, "<img width=64 height=64 alt=\"%s\" src=\"data:image/bmp;base64,%s\">", label,
            coded);
}

// "cat", "5" without names, "" without a label.
static void name_label(const struct hn_sheet *s, int32_t item, char *name, size_t size) {
    int32_t label = s->items->labels ? s->items->labels[item] : -1;
    const struct hn_sheet_source *source = s->source;
    *name = '\0';
    if (label >= 0 && label < source->labels)
        snprintf(name, size, "%s", source->label[label]);
    else if (label >= 0)
        snprintf(name, size, "%" PRId32, label);
}

// A picture with label and cosine below it, or a row of a table with the text.
static void put_item(FILE *html, const struct hn_sheet *s, int32_t item) {
    char name[64], cosine[16] = "–";
    const int32_t *label = s->items->labels;
    const struct hn_sheet_source *source = s->source;
    bool anchor = item == s->anchor;
    bool same = !anchor && label && label[item] >= 0 && label[item] == label[s->anchor];
    if (!anchor)
        snprintf(
            cosine, sizeof cosine, "%.2f",
            hn_dot_exact(hn_row(&s->items->x, s->anchor), hn_row(&s->items->x, item), s->items->d));
    name_label(s, item, name, sizeof name);
    if (!source->record) {
        fprintf(html, "<tr%s>", same ? " class=same" : "");
        hn_html(html, "<td>%s</td><td class=n>%s</td><td class=wrap>%s</td></tr>\n", name, cosine,
                source->text[item]);
        return;
    }
    fprintf(html, "<figure%s>", same ? " class=same" : "");
    put_picture(html, source->images.image + source->record[item] * HN_IMAGE_BYTES, name);
    hn_html(html, "<figcaption>%s%s%s</figcaption></figure>\n", name, anchor ? "" : " ",
            anchor ? "" : cosine);
}

static void put_row(FILE *html, const struct hn_sheet *s, const char *title, const int32_t *item,
                    int32_t n) {
    bool texts = !s->source->record;
    fprintf(html, "<h3>%s</h3>\n", title);
    fputs(texts ? "<table><thead><tr><th scope=col>Label</th><th scope=col class=n>Cosine</th>"
                  "<th scope=col>Text</th></tr></thead><tbody>\n"
                : "<div class=sheet>\n",
          html);
    for (int32_t i = 0; i < n; i++)
        put_item(html, s, item[i]);
    fputs(texts ? "</tbody></table>\n" : "</div>\n", html);
}

static void put_batch(FILE *html, const struct hn_sheet *s, int64_t i) {
    const struct hn_sheet_batch *b = &s->batch[i];
    const struct hn_job_sampler *sampler = s->sampler[i];
    hn_html(html, "<h2>%s</h2>\n<p class=soft>%s</p>\n", sampler->type->name, sampler->text);
    fprintf(html,
            "<p>Batch %" PRId64 " of epoch %" PRId64 ", %" PRId32
            " items%s: mean cosine with the anchor %.3f",
            b->number, b->epoch, b->size, b->starts ? ", begun from the anchor" : "", b->mean);
    if (!isnan(b->same))
        fprintf(html, "; %.1f %% have its label", 100 * b->same);
    fputs(".</p>\n", html);
    put_row(html, s, "Most similar to the anchor", b->similar, b->shown);
    put_row(html, s, "At random", b->some, b->shown);
}

void hn_sheet_write(FILE *html, const struct hn_sheet *s) {
    char title[128];
    snprintf(title, sizeof title, "Batches around item %" PRId32, s->anchor);
    hn_html_begin(html, title, "");
    fputs("</ul></nav>\n</header>\n<main "
          "id=main>\n<style>.sheet{display:flex;flex-wrap:wrap;gap:.5rem}"
          "figure{margin:0;padding:3px;border:3px solid transparent;text-align:center}"
          "figure.same{border-color:var(--bad)}figure img{image-rendering:pixelated;display:block}"
          "figcaption{font-size:.7rem;max-width:72px;overflow-wrap:anywhere}"
          "tr.same td:first-child{box-shadow:inset 4px 0 var(--bad);font-weight:600}</style>\n",
          html);
    hn_html(html, "<p>Of %s", s->title);
    fprintf(html,
            ", step %" PRId64 ", batches of %" PRId32 ", seed %" PRIu64
            ". %s; a %s marks items with the anchor's label, which are false negatives.</p>\n",
            s->items->step, s->batch_size, s->seed,
            s->source->record ? "Below each picture are its label and its cosine with the anchor"
                              : "Cosines are with the anchor",
            s->source->record ? "frame" : "bar");
    put_row(html, s, "Anchor", &s->anchor, 1);
    for (int64_t i = 0; i < s->batches; i++)
        put_batch(html, s, i);
    hn_html_end(html);
}
