// SPDX-License-Identifier: GPL-3.0-or-later
// A series that looks like training: items stay who they are while their classes tighten.
//
// Item i of class c at concentration kappa is the unit vector along s mu_c + z_i, with z_i a
// standard normal vector drawn once per item (a projected normal distribution). In place of the von
// Mises-Fisher distribution, whose samples at two concentrations would have nothing in common, s is
// chosen so that the mean resultant length is that of von Mises-Fisher: with A(kappa) about r / (1
// + sqrt(1 + r^2)), r = 2 kappa / d (Amos 1974, Mathematics of Computation 28, eq. 9, leading terms
// for large d), and mean cosine s / sqrt(s^2 + d) of the projected normal, s^2 = d (sqrt(1 + r^2) -
// 1) / 2.
//
// Class means stand at a fixed angle from the mean of their super-class, so that classes of one
// super-class are hard negatives of each other. kappa grows geometrically over the steps.
#include "datasets/synth.h"
#include "core/random.h"
#include "datasets/snapshot.h"

#include <gsl/gsl_randist.h>
#include <math.h>

enum { N_MAX = INT32_MAX, DIM_MAX = 1 << 20, CLASSES_MAX = 1 << 20, STEPS_MAX = 100000 };

#define FIELD(member) offsetof(struct hn_synth, member)

static const char *const type_names[] = {"float16", "float32", "float64", NULL};
static const char *const kind_names[] = {"items", "retrieval", NULL};

const struct hn_option hn_synth_options[] = {
    {"n", HN_OPTION_INT, FIELD(n), "10000", 2, N_MAX, NULL, "items", 'n', "N"},
    {"dim", HN_OPTION_INT, FIELD(dim), "128", 2, DIM_MAX, NULL, "dimensions", 'd', "D"},
    {"classes", HN_OPTION_INT, FIELD(classes), "10", 1, CLASSES_MAX, NULL,
     "classes, of equal size up to one item", 0, "C"},
    {"super-classes", HN_OPTION_INT, FIELD(super_classes), "3", 1, CLASSES_MAX, NULL,
     "groups of classes that lie close together", 0, "G"},
    {"steps", HN_OPTION_INT, FIELD(steps), "5", 1, STEPS_MAX, NULL, "snapshots in the series", 's',
     "S"},
    {"step-gap", HN_OPTION_INT, FIELD(step_gap), "100", 1, 1e9, NULL,
     "optimizer steps from one snapshot to the next", 0, "STEPS"},
    {"views", HN_OPTION_INT, FIELD(views), "2", 1, 2, NULL,
     "2: with two augmented views of every item; 1: without", 0, "1|2"},
    {"seed", HN_OPTION_INT, FIELD(seed), "1", 0, 9e15, NULL, "seed of the random streams", 0,
     "SEED"},
    {"kappa-from", HN_OPTION_REAL, FIELD(kappa_from), "10", 1e-6, 1e9, NULL,
     "concentration about the class mean at the first step", 0, "KAPPA"},
    {"kappa-to", HN_OPTION_REAL, FIELD(kappa_to), "60", 1e-6, 1e9, NULL,
     "concentration at the last step", 0, "KAPPA"},
    {"super-spread", HN_OPTION_REAL, FIELD(super_spread), "0.8", 0, 1.5707963267948966, NULL,
     "angle between class mean and super-class mean, in radians", 0, "ANGLE"},
    {"view-noise", HN_OPTION_REAL, FIELD(view_noise), "0.5", 0, 1e6, NULL,
     "length of a view's noise relative to the item", 0, "X"},
    {"kind", HN_OPTION_CHOICE, FIELD(kind), "items", 0, 0, kind_names,
     "retrieval: queries, and a corpus of --n passages", 0, "KIND"},
    {"queries", HN_OPTION_INT, FIELD(queries), "1000", 1, N_MAX, NULL, "queries, of retrieval", 0,
     "Q"},
    {"relevant", HN_OPTION_INT, FIELD(relevant), "3", 1, 1000000, NULL,
     "relevant passages of a query on average, one of them known; of retrieval", 0, "R"},
    {"type", HN_OPTION_CHOICE, FIELD(type), "float32", 0, 0, type_names,
     "type of the stored values", 0, "TYPE"},
    {"compress", HN_OPTION_INT, FIELD(compress), "0", 0, 9, NULL,
     "deflate level with shuffle, 0 = none", 0, "LEVEL"},
    {"output", HN_OPTION_TEXT, FIELD(output), NULL, 0, 0, NULL, "snapshot file to write", 'o',
     "FILE"},
    {"force", HN_OPTION_BOOL, FIELD(force), NULL, 0, 0, NULL, "replace FILE if it exists"},
    {.name = NULL}};

struct series {
    const struct hn_synth *options;
    int32_t *label;           // [n]
    float *mean;              // [classes x dim], unit rows
    char **name;              // [classes]
    float *x, *view1, *view2; // [n x dim] of one step; views NULL if there are none
};

static void draw_normal(const struct hn_synth *o, const char *purpose, int64_t step, int64_t which,
                        int64_t i, int64_t d, float *out) {
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)o->seed, purpose, step, which, i);
    const gsl_rng rng = hn_stream_gsl(&stream);
    for (int64_t k = 0; k < d; k++)
        out[k] = (float)gsl_ran_gaussian_ziggurat(&rng, 1.0);
}

void hn_synth_row(const struct hn_synth *o, const char *purpose, int64_t step, int64_t which,
                  int64_t i, const float *base, float along, float noise, float *out) {
    draw_normal(o, purpose, step, which, i, o->dim, out);
    for (int64_t k = 0; k < o->dim; k++)
        out[k] = along * base[k] + noise * out[k];
}

// out[d] = unit vector at angle `angle` from the unit vector base[d], along the direction that out
// holds before.
static bool turn(const float *base, int64_t d, double angle, float *out) {
    double along = hn_dot_exact(base, out, d);
    for (int64_t k = 0; k < d; k++)
        out[k] = (float)((double)out[k] - along * (double)base[k]);
    double length = sqrt(hn_dot_exact(out, out, d));
    if (length == 0)
        return false;
    for (int64_t k = 0; k < d; k++)
        out[k] = (float)(cos(angle) * (double)base[k] + sin(angle) / length * (double)out[k]);
    return true;
}

enum hn_code hn_synth_means(struct hn_context *ctx, const struct hn_synth *o, float *means) {
    float *base = hn_alloc(ctx, o->dim, sizeof *base);
    if (!base)
        return ctx->code;
    for (int64_t c = 0; c < o->classes; c++) {
        float *mean = means + c * o->dim;
        draw_normal(o, "synth.super", 0, 0, c % o->super_classes, o->dim, base);
        draw_normal(o, "synth.class", 0, 0, c, o->dim, mean);
        if (hn_normalize_rows(ctx, base, 1, o->dim, "synthetic super-class mean,"))
            return ctx->code;
        if (!turn(base, o->dim, o->super_spread, mean))
            return hn_fail(ctx, HN_DATA, "a class mean has no direction; take another seed");
        if (hn_normalize_rows(ctx, mean, 1, o->dim, "synthetic class mean,"))
            return ctx->code;
    }
    return HN_OK;
}

// Classes of equal size in random order: a file sorted by class would favour rules that break ties
// by index.
static void make_labels(const struct series *s) {
    const struct hn_synth *o = s->options;
    struct hn_stream stream;
    for (int64_t i = 0; i < o->n; i++)
        s->label[i] = (int32_t)(i % o->classes);
    hn_stream_open(&stream, (uint64_t)o->seed, "synth.order", 0, 0, 0);
    hn_stream_shuffle(&stream, s->label, o->n);
}

static double shift_of(double kappa, double d) {
    double r = 2 * kappa / d;
    return sqrt(d / 2 * (sqrt(1 + r * r) - 1));
}

float hn_synth_shift(const struct hn_synth *o, int64_t index) {
    double t = o->steps > 1 ? (double)index / (double)(o->steps - 1) : 1;
    return (float)shift_of(o->kappa_from * pow(o->kappa_to / o->kappa_from, t), (double)o->dim);
}

static enum hn_code make_items(struct hn_context *ctx, const struct series *s, int64_t index) {
    const struct hn_synth *o = s->options;
    int64_t n = o->n, d = o->dim;
    float shift = hn_synth_shift(o, index);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        hn_synth_row(o, "synth.item", 0, 0, i, s->mean + s->label[i] * d, shift, 1, s->x + i * d);
    return hn_normalize_rows(ctx, s->x, n, d, "synthetic item,");
}

// The noise has unit length on average before it is scaled, in any dimension.
static enum hn_code make_view(struct hn_context *ctx, const struct series *s, int64_t index,
                              int which, float *view) {
    const struct hn_synth *o = s->options;
    int64_t n = o->n, d = o->dim;
    float scale = (float)(o->view_noise / sqrt((double)d));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        hn_synth_row(o, "synth.view", index, which, i, s->x + i * d, 1, scale, view + i * d);
    return hn_normalize_rows(ctx, view, n, d, "synthetic view,");
}

static enum hn_code write_step(struct hn_context *ctx, const struct series *s, int64_t index,
                               struct hn_snapshot_writer *w) {
    if (hn_check_stop(ctx) || make_items(ctx, s, index) ||
        (s->view1 && make_view(ctx, s, index, 1, s->view1)) ||
        (s->view2 && make_view(ctx, s, index, 2, s->view2)))
        return ctx->code;
    return hn_snapshot_write_step(ctx, w, index * s->options->step_gap, s->x, s->view1, s->view2);
}

static enum hn_code write_extras(struct hn_context *ctx, const struct series *s,
                                 struct hn_snapshot_writer *w) {
    const struct hn_synth *o = s->options;
    int64_t n = o->n, d = o->teacher_dim; // as of a snapshot: the product is below 2^51
    if (o->groups && hn_snapshot_write_groups(ctx, w, s->label))
        return ctx->code;
    if (d < 1)
        return HN_OK;
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, n * d, sizeof *x);
    if (!x)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        draw_normal(o, "synth.teacher", 0, 0, i, d, x + i * d);
    const struct hn_matrix teacher = {x, n, d, d};
    return hn_snapshot_write_teacher(ctx, w, &teacher);
}

static enum hn_code write_series(struct hn_context *ctx, const struct series *s) {
    const struct hn_synth *o = s->options;
    const struct hn_snapshot_spec spec = {.about = {"synthetic clusters with super-classes",
                                                    "hardneg synth", "CC0-1.0",
                                                    "none: projected normal mixture"},
                                          .tool_version = o->tool_version,
                                          .n = o->n,
                                          .d = o->dim,
                                          .labels = s->label,
                                          .label_name = (const char *const *)s->name,
                                          .n_label_names = o->classes,
                                          .view1 = o->views == 2,
                                          .view2 = o->views == 2,
                                          .normalized = true,
                                          .type = (enum hn_float_type)o->type,
                                          .compress = (int)o->compress};
    struct hn_snapshot_writer *w;
    enum hn_code code = hn_snapshot_write_begin(ctx, o->output, &spec, &w);
    if (code != HN_OK)
        return code;
    for (int64_t i = 0; i < o->steps && code == HN_OK; i++)
        code = write_step(ctx, s, i, w);
    if (code == HN_OK)
        code = write_extras(ctx, s, w);
    return hn_snapshot_write_end(ctx, w, code);
}

static enum hn_code ensure_capacity(struct hn_context *ctx, struct series *s) {
    const struct hn_synth *o = s->options;
    int64_t values = o->n * o->dim; // below 2^51
    bool views = o->views == 2;
    bool good = (s->label = hn_alloc(ctx, o->n, sizeof *s->label)) &&
                (s->mean = hn_alloc(ctx, o->classes * o->dim, sizeof *s->mean)) &&
                (s->name = hn_zalloc(ctx, o->classes, sizeof *s->name)) &&
                (s->x = hn_alloc(ctx, values, sizeof *s->x)) &&
                (!views || ((s->view1 = hn_alloc(ctx, values, sizeof *s->view1)) &&
                            (s->view2 = hn_alloc(ctx, values, sizeof *s->view2))));
    for (int64_t c = 0; good && c < o->classes; c++)
        good = (s->name[c] = hn_format(ctx, "class %lld of group %lld", (long long)c,
                                       (long long)(c % o->super_classes)));
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_synth_check(struct hn_context *ctx, const struct hn_synth *o) {
    int64_t last;
    if (!o->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the file to write");
    if (o->classes > o->n)
        return hn_fail(ctx, HN_USAGE, "--classes %lld is more than the %lld items (--n)",
                       (long long)o->classes, (long long)o->n);
    if (o->super_classes > o->classes)
        return hn_fail(ctx, HN_USAGE,
                       "--super-classes %lld is more than the %lld classes (--classes)",
                       (long long)o->super_classes, (long long)o->classes);
    return hn_mul(o->steps, o->step_gap, &last) ? HN_OK
                                                : hn_fail(ctx, HN_USAGE, "--step-gap is too large");
}

enum hn_code hn_synth_write(struct hn_context *ctx, const struct hn_synth *options) {
    struct series s = {.options = options};
    HN_SCOPE(ctx);
    if (hn_synth_check(ctx, options) || ensure_capacity(ctx, &s))
        return ctx->code;
    make_labels(&s);
    return hn_synth_means(ctx, options, s.mean) || write_series(ctx, &s) ? ctx->code : HN_OK;
}
