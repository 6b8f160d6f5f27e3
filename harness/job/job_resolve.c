// The resolved job: one YAML text for one meaning, with every default written out and one entry per
// point of the grid. It is stored with the results and its digest tells two jobs apart, so nothing
// in it depends on the folder, the threads or the version of a library. libyaml's
// emitter is not used, as its line breaks and quotes may change between versions.
#include "core/digest.h"
#include "harness/job/job_private.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// Text that grows. After a failed allocation nothing is added.
struct text {
    struct hn_context *ctx;
    char *data;
    int64_t used, capacity;
    bool failed;
};

static void put_bytes(struct text *t, const char *bytes, int64_t n) {
    if (t->failed)
        return;
    t->failed = hn_grow(t->ctx, &t->data, &t->capacity, t->used + n + 1, 1);
    if (t->failed)
        return;
    memcpy(t->data + t->used, bytes, (size_t)n);
    t->used += n;
    t->data[t->used] = '\0';
}

static void put(struct text *t, const char *text) { put_bytes(t, text, (int64_t)strlen(text)); }

static void put_int(struct text *t, int64_t v) {
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)v);
    put(t, number);
}

// Whether any YAML reader takes the bare text as a string, not as a number, null or truth value.
static bool is_bare(const char *text) {
    static const char *const taken[] = {"null", "true", "false", "yes", "no", "on",
                                        "off",  "y",    "n",     "nan", "inf"};
    bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (!strcasecmp(text, taken[i]))
            return false;
    return letter && !text[word];
}

// Decodes one character of valid UTF-8; returns its bytes.
static int decode(const char *s, unsigned *point) {
    unsigned char c = (unsigned char)s[0];
    int bytes = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    *point = bytes == 1 ? c : c & (0x7FU >> bytes);
    for (int i = 1; i < bytes; i++)
        *point = *point << 6 | ((unsigned char)s[i] & 0x3FU);
    return bytes;
}

// May stand as it is between double quotes. The rest is escaped: controls, line breaks of YAML 1.1,
// byte order marks and invalid characters.
static bool is_printable(unsigned point) {
    if (point < 0x20 || point == '"' || point == '\\' || (point >= 0x7F && point < 0xA0))
        return false;
    return point != 0x2028 && point != 0x2029 && point != 0xFEFF && (point & 0xFFFE) != 0xFFFE;
}

static void put_quoted(struct text *t, const char *text) {
    put(t, "\"");
    for (int bytes; *text; text += bytes) {
        unsigned point;
        char escape[16];
        bytes = decode(text, &point);
        if (is_printable(point)) {
            put_bytes(t, text, bytes);
            continue;
        }
        if (point == '"' || point == '\\')
            snprintf(escape, sizeof escape, "\\%c", (char)point);
        else
            snprintf(escape, sizeof escape, "\\U%08X", point);
        put(t, escape);
    }
    put(t, "\"");
}

static void put_text(struct text *t, const char *text) {
    if (is_bare(text))
        put(t, text);
    else
        put_quoted(t, text);
}

// The value of an option that is set, with its name before it.
static void put_option(struct text *t, const struct hn_option *option, const void *params,
                       int64_t length) {
    char *value = hn_alloc(t->ctx, length + 1, 1);
    if (!value) {
        t->failed = true;
        return;
    }
    hn_option_text(option, params, value, (size_t)length + 1);
    put_text(t, option->name);
    put(t, ": ");
    if (option->kind == HN_OPTION_SCHEDULE && strchr(value, '~'))
        put_quoted(t, value);
    else if (option->kind == HN_OPTION_CHOICE || option->kind == HN_OPTION_TEXT)
        put_text(t, value);
    else
        put(t, value); // a number or a truth value
    hn_free(t->ctx, value);
}

// "{K: 100, M: 500}": all options that are set, in the order of their table.
static void put_options(struct text *t, const struct hn_option *table, const void *params) {
    const char *comma = "";
    put(t, "{");
    for (const struct hn_option *o = table; o->name; o++) {
        int length = hn_option_text(o, params, NULL, 0);
        if (length <= 0)
            continue;
        put(t, comma);
        put_option(t, o, params, length);
        comma = ", ";
    }
    put(t, "}");
}

static void put_ints(struct text *t, const char *key, const int64_t *v, int64_t n) {
    put(t, key);
    put(t, ": [");
    for (int64_t i = 0; i < n; i++) {
        put(t, i ? ", " : "");
        put_int(t, v[i]);
    }
    put(t, "]\n");
}

static void put_samplers(struct text *t, const struct hn_job *job) {
    put(t, "samplers:\n");
    for (int64_t i = 0; i < job->n_samplers; i++) {
        put(t, "  - ");
        put_text(t, job->sampler[i].type->name);
        put(t, ": ");
        put_options(t, job->sampler[i].type->options, job->sampler[i].params);
        put(t, "\n");
    }
}

static void put_loss(struct text *t, const struct hn_job *job) {
    put(t, job->n_losses > 1 ? "loss: [" : "loss: ");
    for (int64_t i = 0; i < job->n_losses; i++) {
        put(t, i ? ", " : "");
        put_text(t, hn_losses[job->loss[i]].name);
    }
    put(t, job->n_losses > 1 ? "]\nweightings: [" : "\nweightings: [");
    for (int64_t i = 0; i < job->n_weightings; i++) {
        const struct hn_job_weighting *w = &job->weighting[i];
        put(t, i ? ", " : "");
        if (!*w->text) {
            put_text(t, w->type->name);
            continue;
        }
        put(t, "{");
        put_text(t, w->type->name);
        put(t, ": ");
        put_options(t, w->type->options, w->params);
        put(t, "}");
    }
    put(t, "]\n");
}

static void put_what(struct text *t, const struct hn_job *job) {
    put(t, "version: 1\nsnapshots:\n");
    for (int64_t i = 0; i < job->n_snapshots; i++) {
        put(t, "  - ");
        put_quoted(t, job->snapshot_written[i]);
        put(t, "\n");
    }
    if (job->step)
        put_ints(t, "steps", job->step, job->n_steps);
    else
        put(t, "steps: all\n");
    put_ints(t, "batch_size", job->batch_size, job->n_batch_sizes);
    put(t, job->epochs ? "epochs: " : "batches: ");
    put_int(t, job->epochs ? job->epochs : job->batches);
    put(t, "\n");
    put_ints(t, "seeds", job->seed, job->n_seeds);
    put_samplers(t, job);
    put_loss(t, job);
    put(t, "temperature: [");
    for (int64_t i = 0; i < job->n_temperatures; i++) {
        char number[64];
        hn_real_text(job->temperature[i], number, sizeof number);
        put(t, i ? ", " : "");
        put(t, number);
    }
    put(t, "]\n");
}

static void put_metrics(struct text *t, const struct hn_job *job) {
    const char *comma = "";
    put(t, "metrics: [");
    for (int64_t i = 0; i < job->n_metrics; i++, comma = ", ") {
        put(t, comma);
        put_text(t, job->metric[i]->name);
    }
    for (int64_t i = 0; i < job->n_snapshot_metrics; i++, comma = ", ") {
        put(t, comma);
        put_text(t, job->snapshot_metric[i]->name);
    }
    for (int64_t i = 0; i < job->n_studies; i++, comma = ", ") {
        const struct hn_job_study *study = &job->study[i];
        put(t, comma);
        put(t, "{");
        put_text(t, study->type->name);
        put(t, ": ");
        put_options(t, study->type->options, study->params);
        put(t, "}");
    }
    put(t, "]\n");
}

static void put_how(struct text *t, const struct hn_job *job) {
    put_metrics(t, job);
    put(t, "timing: ");
    put_options(t, hn_job_timing_options, &job->timing);
    put(t, "\nlimits: {");
    if (job->memory_limit) {
        put(t, "memory: ");
        put_int(t, job->memory_limit);
    }
    put(t, "}\nfigures: ");
    put(t, job->figures_all ? "all" : job->n_figures ? "[" : "none");
    for (int64_t i = 0; i < job->n_figures; i++) {
        put(t, i ? ", " : "");
        put_text(t, job->figure[i]);
    }
    put(t, job->n_figures ? "]\n" : "\n");
}

enum hn_code hn_job_resolve(struct hn_context *ctx, struct hn_job *job) {
    struct text t = {.ctx = ctx};
    struct hn_digest digest;
    put_what(&t, job);
    put_how(&t, job);
    job->resolved = t.data;
    job->resolved_sha256 = t.failed ? NULL : hn_alloc(ctx, HN_DIGEST_TEXT, 1);
    if (!job->resolved_sha256)
        return ctx->code;
    hn_digest_begin(&digest);
    hn_digest_add(&digest, t.data, (size_t)t.used);
    hn_digest_end(&digest, job->resolved_sha256);
    return HN_OK;
}
