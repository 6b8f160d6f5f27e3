// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs on any data of a kind: "tudataset/*" among a job's data stands for every folder below --data
// that holds such data, and that no other entry names.
#include "core/files.h"
#include "harness/reproduce/reproduce.h"
#include "harness/reproduce/reproduce_private.h"
#include "training/tasks/task.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS_MAX = 64 };

// Names of data sets, "tudataset/ENZYMES", ascending.
struct folders {
    char *name[FOLDERS_MAX];
    int64_t n;
};

static bool is_pattern(const struct hn_claim_job *job) {
    return job->n_data == 1 && strchr(job->data[0], '*');
}

// True if a job of any entry names data of that folder.
static bool is_named(const struct hn_claim_entry *const *known, int64_t n, const char *folder) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < known[i]->jobs; j++)
            for (int64_t k = 0; k < known[i]->job[j].n_data; k++)
                if (!known[i]->job[j].any &&
                    strcmp(hn_base_name(known[i]->job[j].data[k]), folder) == 0)
                    return true;
    return false;
}

static bool has(const struct folders *all, const char *name) {
    for (int64_t i = 0; i < all->n; i++)
        if (strcmp(all->name[i], name) == 0)
            return true;
    return false;
}

// Adds PREFIX/FOLDER, if there is such data.
static enum hn_code add(struct hn_context *ctx, const char *root, const char *pattern,
                        const char *folder, struct folders *all) {
    char *name = hn_format(ctx, "%.*s%s", (int)(strchr(pattern, '*') - pattern), pattern, folder);
    char *found = NULL;
    if (!name || hn_task_data_locate(ctx, root, name, &found))
        return ctx->code;
    if (!found || has(all, name))
        return HN_OK;
    if (all->n < FOLDERS_MAX)
        all->name[all->n++] = name;
    else
        hn_note_once(ctx, "%s: more than %d folders for %s: others are left out", root, FOLDERS_MAX,
                     pattern);
    return HN_OK;
}

static enum hn_code scan(struct hn_context *ctx, const char *root, const char *part,
                         const char *pattern, const struct hn_claim_entry *const *known,
                         int64_t n_known, struct folders *all) {
    struct dirent **entry;
    char *folder = hn_format(ctx, "%s/%s", root, part);
    int n = folder ? scandir(folder, &entry, NULL, alphasort) : 0;
    enum hn_code code = folder ? HN_OK : ctx->code;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        if (!code && name[0] != '.' && !is_named(known, n_known, name))
            code = add(ctx, root, pattern, name, all);
        free(entry[i]);
    }
    if (n >= 0 && folder)
        free(entry);
    return code;
}

// Below the pattern's own folder, in --data, and --data itself.
static enum hn_code find_folders(struct hn_context *ctx, const char *root, const char *pattern,
                                 const struct hn_claim_entry *const *known, int64_t n_known,
                                 struct folders *all) {
    char *part = hn_format(ctx, "%.*s", (int)(strchr(pattern, '*') - pattern), pattern);
    if (!part || scan(ctx, root, part, pattern, known, n_known, all) ||
        scan(ctx, root, "", pattern, known, n_known, all))
        return ctx->code;
    char *real = realpath(root, NULL);
    const char *name = real ? hn_base_name(real) : "";
    enum hn_code code =
        *name && !is_named(known, n_known, name) ? add(ctx, root, pattern, name, all) : HN_OK;
    free(real);
    return code;
}

// The text with `folder` wherever the pattern stands; NULL with the message recorded.
static const char *replace_all(struct hn_context *ctx, const char *text, const char *pattern,
                               const char *folder) {
    const char *at = strstr(text, pattern);
    if (!at)
        return text;
    const char *rest = replace_all(ctx, at + strlen(pattern), pattern, folder);
    return rest ? hn_format(ctx, "%.*s%s%s", (int)(at - text), text, folder, rest) : NULL;
}

static const char **replace(struct hn_context *ctx, const char **text, int64_t n,
                            const char *pattern, const char *folder) {
    const char **out = hn_alloc(ctx, n, sizeof *out);
    for (int64_t i = 0; out && i < n; i++)
        if (!(out[i] = replace_all(ctx, text[i], pattern, folder)))
            return NULL;
    return out;
}

static enum hn_code instance(struct hn_context *ctx, const struct hn_claim_job *job,
                             const char *folder, struct hn_claim_job *out) {
    const char *pattern = job->data[0];
    *out = *job;
    out->any = true;
    out->data = replace(ctx, job->data, job->n_data, pattern, folder);
    out->set = replace(ctx, job->set, job->n_set, pattern, folder);
    out->quick = replace(ctx, job->quick, job->n_quick, pattern, folder);
    out->full = replace(ctx, job->full, job->n_full, pattern, folder);
    return out->data && out->set && out->quick && out->full ? HN_OK : ctx->code;
}

static enum hn_code expand(struct hn_context *ctx, const char *root,
                           const struct hn_claim_entry *const *known, int64_t n_known,
                           const struct hn_claim_entry **entry) {
    const struct hn_claim_entry *from = *entry;
    struct hn_claim_entry *to = hn_alloc(ctx, 1, sizeof *to);
    struct hn_claim_job *job = hn_alloc(ctx, from->jobs * FOLDERS_MAX, sizeof *job);
    int64_t jobs = 0;
    if (!to || !job)
        return ctx->code;
    for (int64_t j = 0; j < from->jobs; j++) {
        struct folders all = {.n = 0};
        if (is_pattern(&from->job[j]) &&
            find_folders(ctx, root, from->job[j].data[0], known, n_known, &all))
            return ctx->code;
        for (int64_t i = 0; i < all.n; i++)
            if (instance(ctx, &from->job[j], all.name[i], &job[jobs++]))
                return ctx->code;
        if (all.n == 0)
            job[jobs++] = from->job[j];
    }
    *to = *from;
    to->job = job;
    to->jobs = jobs;
    *entry = to;
    return HN_OK;
}

enum hn_code hn_reproduce_expand(struct hn_context *ctx, const struct hn_reproduce *rep,
                                 const struct hn_claim_entry **known, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        bool any = false;
        for (int64_t j = 0; j < known[i]->jobs; j++)
            any |= is_pattern(&known[i]->job[j]);
        if (any && expand(ctx, rep->data, known, n, &known[i]))
            return ctx->code;
    }
    return HN_OK;
}
