// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg sheet`: a page of the images or texts in the batch that each sampler puts around an
// item: the anchor, then a section for each sampler.
#include "core/files.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/run/plan.h"
#include "harness/sheet/sheet.h"
#include "plots/report/report.h"
#include "plots/report/report_html.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <string.h>

struct sheet_params {
    struct hn_text_list sampler;
    char *images, *texts, *order, *output;
    int64_t anchor, step, batch, top, seed, data_seed, threads;
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct sheet_params, __VA_ARGS__)
static const struct hn_option sheet_options[] = {
    {OPTION(LIST, sampler, "sampler",
            "as in a job file, once for each (default: uniform, knn and batchsampler)"),
     .metavar = "SAMPLER"},
    {OPTION(FOLDER, images, "images",
            "folder of the binary files of CIFAR-10, CIFAR-100 or STL-10")},
    {OPTION(FILE, texts, "texts", "or a file with the text of each item")},
    {OPTION(TEXT, order, "order",
            "which picture an item is: file (as in the folder; default), views-mlp or cnn "
            "(as these tasks draw them by --data-seed), or a .npy of their numbers"),
     .metavar = "ORDER"},
    {OPTION(INT, data_seed, "data-seed", "1", 0, INFINITY, "of views-mlp and cnn"), .metavar = "S"},
    {OPTION(INT, anchor, "anchor", NULL, 0, INT32_MAX,
            "item of the snapshot (default: the one that the first batch of knn and "
            "batchsampler begins with)"),
     .metavar = "ITEM"},
    {HN_STEP_OPTION(struct sheet_params)},
    {OPTION(INT, batch, "batch-size", "256", 2, INT32_MAX, "items of a batch"), .letter = 'b',
     .metavar = "B"},
    {OPTION(COUNT, top, "top", "10", 1, 1000, "items shown of a batch")},
    {OPTION(INT, seed, "seed", "1", 0, INFINITY, "seed of the samplers"), .metavar = "S"},
    {OPTION(THREADS, "; the page does not depend on them")},
    {OPTION(OUTPUT, "FILE", "the page (default: sheet.html)")},
    {0},
};

struct work {
    const struct sheet_params *p;
    struct hn_snapshot *snapshot;
    const struct hn_snapshot_info *info;
    struct hn_items items;
    struct hn_sheet_source source;
    int32_t anchor;
};

// Pictures are BMP files within the page, which every browser shows and which need no library.
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
static void name_label(const struct work *w, int32_t item, char *name, size_t size) {
    int32_t label = w->items.labels ? w->items.labels[item] : -1;
    const struct hn_sheet_source *source = &w->source;
    *name = '\0';
    if (label >= 0 && label < source->labels)
        hn_put_text(name, size, "%s", source->label[label]);
    else if (label >= 0)
        snprintf(name, size, "%" PRId32, label);
}

// A picture with label and cosine below it, or a row of a table with the text.
static void put_item(FILE *html, const struct work *w, int32_t item) {
    char name[64], cosine[16] = "–";
    const int32_t *label = w->items.labels;
    const struct hn_sheet_source *source = &w->source;
    bool anchor = item == w->anchor;
    bool same = !anchor && label && label[item] >= 0 && label[item] == label[w->anchor];
    if (!anchor)
        snprintf(
            cosine, sizeof cosine, "%.2f",
            hn_dot_exact(hn_row(&w->items.x, w->anchor), hn_row(&w->items.x, item), w->items.d));
    name_label(w, item, name, sizeof name);
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

static void put_row(FILE *html, const struct work *w, const char *title, const int32_t *item,
                    int32_t n) {
    bool texts = !w->source.record;
    fprintf(html, "<h3>%s</h3>\n", title);
    fputs(texts ? "<table><thead><tr><th scope=col>Label</th><th scope=col class=n>Cosine</th>"
                  "<th scope=col>Text</th></tr></thead><tbody>\n"
                : "<div class=sheet>\n",
          html);
    for (int32_t i = 0; i < n; i++)
        put_item(html, w, item[i]);
    fputs(texts ? "</tbody></table>\n" : "</div>\n", html);
}

static void put_batch(FILE *html, const struct work *w, const struct hn_job_sampler *sampler,
                      const struct hn_sheet_batch *b) {
    hn_html(html, "<h2>%s</h2>\n<p class=soft>%s</p>\n", sampler->type->name, sampler->text);
    fprintf(html,
            "<p>Batch %" PRId64 " of epoch %" PRId64 ", %" PRId32
            " items%s: mean cosine with the anchor %.3f",
            b->number, b->epoch, b->size, b->starts ? ", begun from the anchor" : "", b->mean);
    if (!isnan(b->same))
        fprintf(html, "; %.1f %% have its label", 100 * b->same);
    fputs(".</p>\n", html);
    put_row(html, w, "Most similar to the anchor", b->similar, b->shown);
    put_row(html, w, "At random", b->some, b->shown);
}

static void put_head(FILE *html, const struct work *w) {
    char title[128];
    snprintf(title, sizeof title, "Batches around item %" PRId32, w->anchor);
    hn_html_begin(html, title, "");
    fputs("</header>\n<main "
          "id=main>\n<style>.sheet{display:flex;flex-wrap:wrap;gap:.5rem}"
          "figure{margin:0;padding:3px;border:3px solid transparent;text-align:center}"
          "figure.same{border-color:var(--bad)}figure img{image-rendering:pixelated;display:block}"
          "figcaption{font-size:.7rem;max-width:72px;overflow-wrap:anywhere}"
          "tr.same td:first-child{box-shadow:inset 4px 0 var(--bad);font-weight:600}</style>\n",
          html);
    hn_html(html, "<p>Of %s", w->info->path);
    fprintf(html,
            ", step %" PRId64 ", batches of %" PRId64 ", seed %" PRId64
            ". %s; a %s marks items with the anchor's label, which are false negatives.</p>\n",
            w->items.step, w->p->batch, w->p->seed,
            w->source.record ? "Below each picture are its label and its cosine with the anchor"
                             : "Cosines are with the anchor",
            w->source.record ? "frame" : "bar");
    put_row(html, w, "Anchor", &w->anchor, 1);
}

static enum hn_code load(struct hn_context *ctx, struct work *w, const char *path) {
    const struct sheet_params *p = w->p;
    int64_t index;
    if (!p->images == !p->texts)
        return hn_fail(ctx, HN_USAGE, "give --images DIR, or --texts FILE with a line an item");
    if (hn_snapshot_open(ctx, path, &w->snapshot))
        return ctx->code;
    w->info = hn_snapshot_info(w->snapshot);
    if (hn_snapshot_find_step(ctx, w->info, "--step", p->step, &index))
        return ctx->code;
    if (hn_given(p->anchor, 0) >= w->info->n)
        return hn_fail(ctx, HN_DATA, "%s has %" PRId64 " items: --anchor counts them from 0", path,
                       w->info->n);
    if (hn_snapshot_check_digest(ctx, w->snapshot) ||
        hn_snapshot_load(ctx, w->snapshot, index, &w->items) ||
        (p->texts ? hn_sheet_texts(ctx, p->texts, w->items.n, &w->source)
                  : hn_sheet_pictures(ctx, p->images, p->order ? p->order : "file",
                                      (uint64_t)p->data_seed, &w->items, &w->source)))
        return ctx->code;
    if (!w->source.label) {
        w->source.label = w->info->label_name;
        w->source.labels = w->info->n_label_names;
    }
    w->anchor = (int32_t)hn_given(p->anchor, hn_sheet_anchor(&w->items, (uint64_t)p->seed));
    return HN_OK;
}

static enum hn_code draw_sampler(struct hn_context *ctx, const struct work *w, const char *text,
                                 FILE *html) {
    const struct sheet_params *p = w->p;
    struct hn_job_sampler *sampler;
    struct hn_sheet_batch batch = {0};
    if (hn_job_parse_sampler(ctx, text, &sampler) ||
        hn_plan_check_sampler(ctx, w->info, sampler, p->batch) ||
        hn_sheet_draw(ctx, sampler, &w->items, (int32_t)p->batch, (uint64_t)p->seed, w->anchor,
                      (int32_t)p->top, &batch))
        return ctx->code;
    put_batch(html, w, sampler, &batch);
    return HN_OK;
}

static enum hn_code write_page(struct hn_context *ctx, const struct work *w, const char *path) {
    static char *usual[] = {"uniform", "knn", "batchsampler"};
    const struct hn_text_list all =
        w->p->sampler.count ? w->p->sampler
                            : (struct hn_text_list){usual, sizeof usual / sizeof *usual};
    struct hn_new_file html;
    if (hn_file_begin(ctx, path, &html))
        return ctx->code;
    enum hn_code code = HN_OK;
    put_head(html.out, w);
    for (int64_t i = 0; i < all.count && !code; i++)
        code = draw_sampler(ctx, w, all.item[i], html.out);
    hn_html_end(html.out);
    return hn_file_end(ctx, &html, code);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    const char *path = w.p->output ? w.p->output : "sheet.html";
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    bool failed = hn_blas_open(ctx) || load(ctx, &w, call->args[0]) || write_page(ctx, &w, path);
    if (!failed && !call->quiet)
        printf("%s\n", path);
    hn_snapshot_close(ctx, w.snapshot);
    return failed ? ctx->code : HN_OK;
}

const struct hn_command hn_cmd_sheet = {
    .name = "sheet",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg sheet SNAPSHOT --images DIR | --texts FILE [--anchor ITEM] "
             "[--sampler SAMPLER]... [-o FILE]",
    .summary =
        "write a page of the images or texts that each sampler puts into a batch with an item",
    .details =
        "Draws epochs of each sampler until a batch contains the anchor, and shows the items of "
        "that batch that are most similar to the anchor and as many at random, with their cosines; "
        "a frame marks items with the anchor's label (false negatives). Pictures come from the "
        "binary files of CIFAR-10, CIFAR-100 or STL-10 and become part of the page. Labels of "
        "items and pictures are compared, so that a wrong --order is noticed.",
    .examples =
        "hardneg sheet results/train/runs/KEY/series.h5 --images DIR/cifar10 --order views-mlp\n"
        "hardneg sheet mine.h5 --texts lines.txt --anchor 12 --sampler uniform --sampler knn",
    .options = sheet_options,
    .params_size = sizeof(struct sheet_params),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
