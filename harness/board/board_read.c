// SPDX-License-Identifier: GPL-3.0-or-later
// Reads suites and entries.
#include "core/files.h"
#include "core/options/yaml_file.h"
#include "core/text.h"
#include "datasets/text.h"
#include "harness/board/board.h"
#include "harness/job/fields.h"
#include "results/analysis/board.h"

#include <string.h>

#define TEXT(type, field) .option = {HN_TEXT_OPTION(type, field, #field, NULL)}
#define GROUPS(type, field, n, name_, of_)                                                         \
    .kind = HN_FIELD_GROUPS, .of = &(of_), .count = offsetof(type, n),                             \
    .option = {.name = (name_), .offset = offsetof(type, field)}

static enum hn_code check_encoder(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    const struct hn_suite_encoder *e = out;
    if (strlen(e->sha256) != HN_DIGEST_TEXT - 1 ||
        strspn(e->sha256, "0123456789abcdef") != HN_DIGEST_TEXT - 1)
        return hn_yaml_fail(
            ctx, map,
            "'sha256' of %s is not a checksum of 64 digits: take `content_sha256` of "
            "`hardneg info --json`",
            e->file);
    return HN_OK;
}

static const struct hn_field encoder_fields[] = {
    {TEXT(struct hn_suite_encoder, file), .required = true},
    {TEXT(struct hn_suite_encoder, sha256), .required = true},
    {0}};
static const struct hn_fields encoder_table = {
    encoder_fields, .size = sizeof(struct hn_suite_encoder), .check = check_encoder};

static const struct hn_field kind_fields[] = {
    {TEXT(struct hn_suite_kind, name), .required = true},
    {.option = {HN_BOOL_OPTION(struct hn_suite_kind, kept, "kept", "false", NULL)}},
    {.option = {HN_INT_OPTION(struct hn_suite_kind, step, "step", "0", 0, 0x1p53, NULL)}},
    {GROUPS(struct hn_suite_kind, encoder, encoders, "encoders", encoder_table), .required = true},
    {0}};
static const struct hn_fields kind_table = {kind_fields, .size = sizeof(struct hn_suite_kind)};

static enum hn_code check_suite(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    const struct hn_suite *s = out;
    if (s->kinds > HN_BOARD_KINDS_MAX)
        return hn_yaml_fail(ctx, map, "a suite has at most %d kinds", HN_BOARD_KINDS_MAX);
    for (int64_t i = 0; i < s->kinds; i++)
        for (int64_t k = 0; k < i; k++)
            if (strcmp(s->kind[i].name, s->kind[k].name) == 0)
                return hn_yaml_fail(ctx, map, "two kinds are called '%s'",
                                    hn_quote(s->kind[i].name).text);
    return HN_OK;
}

static const struct hn_field suite_fields[] = {
    {.option = {HN_TEXT_OPTION(struct hn_suite, name, "suite", NULL)}, .required = true},
    {.option = {HN_INT_OPTION(struct hn_suite, batch_size, "batch_size", "256", 2, INT32_MAX,
                              NULL)}},
    {.option = {HN_INT_OPTION(struct hn_suite, batches, "batches", "39", 1, 1e9, NULL)}},
    {HN_INTS_FIELD(struct hn_suite, seed, n_seeds, "seeds", NULL, .initial = "1", .max = 0x1p53)},
    {.option = {HN_REAL_OPTION(struct hn_suite, temperature, "temperature", "0.2", 0.003, 1000,
                               NULL)}},
    {HN_GRID_FIELD(struct hn_suite, reference, n_reference, "reference", hn_sampler_registry, NULL),
     .required = true},
    {GROUPS(struct hn_suite, kind, kinds, "kinds", kind_table), .required = true},
    {0}};
static const struct hn_fields suite_table = {suite_fields, .size = sizeof(struct hn_suite),
                                             .check = check_suite};

static enum hn_code check_entry(struct hn_context *ctx, const struct hn_yaml *map, void *out) {
    const struct hn_suite_entry *e = out;
    const struct hn_yaml *settings = hn_yaml_value(map, "settings");
    if (!*e->name || strcmp(e->name, HN_BOARD_REFERENCE) == 0)
        return hn_yaml_fail(ctx, map, "an entry has a name of its own, not '%s'", e->name);
    if (e->settings > HN_BOARD_SETTINGS)
        return hn_yaml_fail(ctx, settings,
                            "%s, and an entry has at most %d, the same for all kinds of data: "
                            "leave some out",
                            hn_counted(e->settings, "setting").text, HN_BOARD_SETTINGS);
    for (int64_t i = 0; i < e->settings; i++)
        if (e->setting[i].type->flags & HN_SAMPLER_PER_ANCHOR)
            return hn_yaml_fail(ctx, settings,
                                "%s chooses negatives for each anchor, and the board compares "
                                "samplers of whole batches: leave it out",
                                e->setting[i].type->name);
    return HN_OK;
}

static const struct hn_field entry_fields[] = {
    {TEXT(struct hn_suite_entry, name), .required = true},
    {TEXT(struct hn_suite_entry, authors), .required = true},
    {TEXT(struct hn_suite_entry, chosen_on), .required = true},
    {HN_GRID_FIELD(struct hn_suite_entry, setting, settings, "settings", hn_sampler_registry, NULL),
     .required = true},
    {0}};
static const struct hn_fields entry_table = {entry_fields, .size = sizeof(struct hn_suite_entry),
                                             .check = check_entry};

enum hn_code hn_entry_read(struct hn_context *ctx, const char *path, struct hn_suite_entry *out) {
    struct hn_yaml *root;
    *out = (struct hn_suite_entry){.path = hn_strdup(ctx, path)};
    return !out->path || hn_yaml_read(ctx, "entry", path, NULL, &root) ||
                   hn_fields_read(ctx, &entry_table, root, out)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_suite_read(struct hn_context *ctx, const char *path, struct hn_suite *out) {
    struct hn_yaml *root;
    struct hn_digest digest;
    int64_t bytes;
    *out = (struct hn_suite){.path = hn_strdup(ctx, path)};
    char *text = hn_input_text(ctx, path, HN_YAML_FILE_MAX, "a suite of at most 1 MiB",
                               "give the suite.yaml of a board", &bytes);
    if (!out->path || !text || hn_yaml_read_text(ctx, "suite", out->path, text, bytes, &root) ||
        hn_fields_read(ctx, &suite_table, root, out))
        return ctx->code;
    hn_digest_begin(&digest);
    hn_digest_add(&digest, text, (size_t)bytes);
    hn_digest_end(&digest, out->sha256);
    return HN_OK;
}

struct hn_suite_entry hn_suite_reference(const struct hn_suite *suite) {
    return (struct hn_suite_entry){suite->path, HN_BOARD_REFERENCE, "hardneg",
                                   "",          suite->reference,   suite->n_reference};
}
