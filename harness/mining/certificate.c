// SPDX-License-Identifier: GPL-3.0-or-later
// The certificate of mined negatives: a document with their digest, written and checked.
#include "harness/mining/certificate.h"
#include "core/files.h"
#include "core/options/option_text.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"
#include "results/records.h"

#include <string.h>

static const char *const kind = "hardneg certificate 1";

void hn_certificate_add(struct hn_digest *d, int64_t query, const int32_t *id, int64_t n) {
    hn_digest_add_int(d, query);
    hn_digest_add_int(d, n);
    for (int64_t k = 0; k < n; k++)
        hn_digest_add_int(d, id[k]);
}

static enum hn_code write_document(struct hn_context *ctx, json_t *document, const char *path) {
    struct hn_new_file file;
    if (!document)
        return hn_fail(ctx, HN_MEMORY, "no memory for a certificate");
    if (hn_file_begin(ctx, path, &file)) {
        json_decref(document);
        return ctx->code;
    }
    return hn_file_end(ctx, &file, hn_json_print(ctx, document, file.out));
}

enum hn_code hn_certificate_write(struct hn_context *ctx, const struct hn_certificate *c,
                                  const char *path) {
    const struct hn_snapshot_info *file = c->corpus->info->file;
    int64_t step = c->step == INT64_MIN ? file->step[file->steps - 1] : c->step;
    const char *options = hn_options_text(ctx, hn_mine_table, &c->miner->o);
    if (!options)
        return ctx->code;
    return write_document(
        ctx,
        json_pack(
            "{s:s, s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:s, s:f, s:f, s:I, s:f, s:f, s:f, s:f, "
            "s:I, s:I, s:I, s:I, s:s, s:s*}",
            "kind", kind, "program", hn_version, "snapshot", hn_json_text(file->path),
            "snapshot_sha256", c->corpus->sha256, "options", options, "step", (json_int_t)step,
            "dim", (json_int_t)c->corpus->data.rows[HN_CORPUS].cols, "negatives",
            (json_int_t)c->negatives, "negatives_sha256", c->sha256, "max_fn", c->limit, "level",
            1 - HN_CERTIFY_LEVEL, "judged", (json_int_t)c->pairs, "relevant", c->relevant, "share",
            c->share.mean, "share_lo", c->share.lo, "share_hi", c->share.hi, "judges",
            (json_int_t)c->judges, "seed", (json_int_t)c->seed, "decided", (json_int_t)c->decided,
            "answered", (json_int_t)c->answered, "models", c->models, "candidates_sha256",
            c->candidates),
        path);
}

// NULL (HN_DATA): there is none.
static json_t *load(struct hn_context *ctx, const char *path) {
    struct hn_source source;
    char *text;
    if (hn_source_open(ctx, path, &source))
        return NULL;
    enum hn_code code = hn_source_text(ctx, &source, &text);
    hn_source_close(&source);
    json_t *document = code ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *is = json_string_value(json_object_get(document, "kind"));
    if (!code && (!is || strcmp(is, kind) != 0)) {
        json_decref(document);
        (void)hn_fail(ctx, HN_DATA, "%s: is no certificate that `hardneg price --for` wrote", path);
        return NULL;
    }
    return document;
}

enum hn_code hn_certificate_check(struct hn_context *ctx, const char *path, int64_t negatives,
                                  const char *sha256) {
    json_t *c = load(ctx, path);
    if (!c)
        return ctx->code;
    const char *of = json_string_value(json_object_get(c, "negatives_sha256"));
    json_int_t n = json_integer_value(json_object_get(c, "negatives"));
    bool same = of && strcmp(of, sha256) == 0, all = n == negatives;
    json_decref(c);
    if (!same)
        return hn_fail(
            ctx, HN_DATA,
            "%s: certifies other negatives: mine with the options of its --for, from the "
            "same file and step",
            path);
    return all ? HN_OK
               : hn_fail(ctx, HN_DATA,
                         "%s: certifies %lld negatives, and this format holds %lld: take --format "
                         "jsonl",
                         path, (long long)n, (long long)negatives);
}

static enum hn_code digest_file(struct hn_context *ctx, const char *path,
                                char sha256[HN_DIGEST_TEXT]) {
    unsigned char block[1 << 14];
    struct hn_digest digest;
    FILE *in = fopen(hn_outputs_find(ctx, path), "rb");
    if (!in)
        return hn_fail(ctx, HN_IO, "%s: cannot be read again", path);
    hn_digest_begin(&digest);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        hn_digest_add(&digest, block, n);
    bool whole = !ferror(in);
    (void)fclose(in);
    hn_digest_end(&digest, sha256);
    return whole ? HN_OK : hn_fail(ctx, HN_IO, "%s: cannot be read again", path);
}

enum hn_code hn_certificate_attach(struct hn_context *ctx, const char *path, const char *file,
                                   const char *beside, const char *scores) {
    char sha256[HN_DIGEST_TEXT];
    if (digest_file(ctx, file, sha256))
        return ctx->code;
    json_t *c = load(ctx, path);
    if (!c)
        return ctx->code;
    json_object_set_new(c, "file", hn_json_text(hn_base_name(file)));
    json_object_set_new(c, "file_sha256", json_string(sha256));
    json_object_set_new(c, "scores_by", json_string(scores));
    return write_document(ctx, c, beside);
}
