// SPDX-License-Identifier: GPL-3.0-or-later
// Opening a snapshot file: everything is checked but the values of the embeddings.
#include "core/text.h"
#include "datasets/h5_data.h"
#include "datasets/snapshot_private.h"

#include <string.h>

enum hn_code hn_snapshot_read_attributes(struct hn_context *ctx, struct hn_snapshot *s) {
    struct hn_snapshot_info *info = &s->info;
    const struct {
        const char *name, **text;
    } wanted[] = {{"title", &info->about.title},
                  {"source", &info->about.source},
                  {"license", &info->about.license},
                  {"encoder", &info->about.encoder},
                  {"created", &info->created},
                  {"tool_version", &info->tool_version},
                  {"content_sha256", &info->stored_sha256}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].text = hn_snapshot_read_text(ctx, s->file, wanted[i].name);
        if (!*wanted[i].text)
            return ctx->code;
    }
    if (!info->stored_sha256[0] && H5Aexists(s->file, "content_sha256") != 0)
        return hn_fail(
            ctx, HN_DATA,
            "%s: the attribute content_sha256 is not one text, so that the values cannot "
            "be checked; make or copy the file again",
            s->path);
    int64_t normalized, zero_rows;
    if (hn_h5_get_int(ctx, s->file, "normalized", 0, &normalized) ||
        hn_h5_get_int(ctx, s->file, "zero_rows", 0, &zero_rows))
        return ctx->code;
    s->info.normalized = normalized != 0;
    s->info.zero_rows = zero_rows != 0 ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED;
    return HN_OK;
}

static enum hn_code check_schema(struct hn_context *ctx, struct hn_snapshot *s, bool *bare) {
    enum hn_code code = HN_OK;
    char *schema = hn_snapshot_read_text(ctx, s->file, "schema");
    int64_t version;
    bool retrieval;
    if (!schema || hn_h5_get_int(ctx, s->file, "schema_version", -1, &version) ||
        hn_snapshot_is_retrieval(ctx, s->file, &retrieval))
        return ctx->code;
    *bare = !schema[0] && H5Lexists(s->file, "train", H5P_DEFAULT) > 0;
    s->info.has_test = *bare && H5Lexists(s->file, "test", H5P_DEFAULT) > 0;
    if (*bare)
        s->info.layout = "ann-benchmarks";
    else if (strcmp(schema, "hardneg-results") == 0)
        code = hn_fail(ctx, HN_DATA,
                       "%s: holds results of hardneg run, and is no snapshot; give it to report or "
                       "compare",
                       s->path);
    else if (strcmp(schema, HN_SNAPSHOT_SCHEMA) != 0)
        code = hn_fail(ctx, HN_DATA,
                       "%s: the attribute schema is \"%s\", not \"" HN_SNAPSHOT_SCHEMA
                       "\", and there is no data set train of ann-benchmarks; make a snapshot with "
                       "hardneg import",
                       s->path, hn_quote(schema).text);
    else if (retrieval)
        code = hn_fail(ctx, HN_DATA,
                       "%s: holds queries and a corpus (kind " HN_SNAPSHOT_RETRIEVAL "), not one "
                       "set of items; give it to mine, evaluate, price, info or validate",
                       s->path);
    else if (version != HN_SNAPSHOT_VERSION)
        code = hn_fail(ctx, HN_DATA,
                       "%s: the attribute schema_version is %lld, this program reads version %d; "
                       "make the snapshot again with hardneg import",
                       s->path, (long long)version, HN_SNAPSHOT_VERSION);
    else
        s->info.layout = HN_SNAPSHOT_SCHEMA;
    hn_free(ctx, schema);
    return code;
}

static enum hn_code check_series(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const struct hn_data *data) {
    if (data->rank < 2)
        return hn_fail(ctx, HN_DATA,
                       "%s: data set %s has the wrong rank: %d; it must be [steps, items, dims] or "
                       "[items, dims]",
                       s->path, data->path, data->rank);
    if (data->steps < 1 || data->rows < 1 || data->cols < 1)
        return hn_fail(ctx, HN_DATA, "%s: data set %s is empty: [%lld, %lld, %lld]", s->path,
                       data->path, (long long)data->steps, (long long)data->rows,
                       (long long)data->cols);
    const struct hn_data *x = &s->series[0];
    if (data->steps != x->steps || data->rows != x->rows || data->cols != x->cols)
        return hn_fail(
            ctx, HN_DATA,
            "%s: data set %s is [%lld, %lld, %lld] but %s is [%lld, %lld, %lld]; they must "
            "agree",
            s->path, data->path, (long long)data->steps, (long long)data->rows,
            (long long)data->cols, x->path, (long long)x->steps, (long long)x->rows,
            (long long)x->cols);
    return HN_OK;
}

static enum hn_code open_series(struct hn_context *ctx, struct hn_snapshot *s, bool bare) {
    const char *const path[] = {bare ? "/train" : "/embeddings", "/view1", "/view2"};
    static const char *const type_name[] = {"float16", "float32", "float64"};
    int n = bare ? 1 : HN_SNAPSHOT_SERIES;
    for (int i = 0; i < n; i++) {
        struct hn_data *data = &s->series[i];
        enum hn_code code = hn_data_open(ctx, s, path[i], HN_DATA_FLOATS, data);
        data->zero_rows = s->info.zero_rows;
        if (code == HN_OK && data->id >= 0)
            code = check_series(ctx, s, data);
        if (code != HN_OK)
            return code;
        if (i == 0 && data->id < 0)
            return hn_fail(ctx, HN_DATA, "%s: there is no data set %s; add it", s->path, path[i]);
    }
    s->info.n = s->series[0].rows;
    s->info.d = s->series[0].cols;
    s->info.steps = s->series[0].steps;
    s->info.dtype = type_name[s->series[0].type];
    s->info.has_view1 = s->series[1].id >= 0;
    s->info.has_view2 = s->series[2].id >= 0;
    return HN_OK;
}

enum hn_code hn_snapshot_read_steps(struct hn_context *ctx, struct hn_snapshot *s, bool bare) {
    struct hn_snapshot_info *info = &s->info;
    // HDF5 reads what an int64 does not hold as INT64_MAX, which is therefore no step.
    const struct hn_snapshot_column column = {
        "/step", "steps", info->steps, {0, INT64_MAX - 1, sizeof(int64_t)}};
    if (!bare && hn_snapshot_read_column(ctx, s, &column, &info->step))
        return ctx->code;
    if (!info->step && info->steps > 1)
        return hn_fail(ctx, HN_DATA, "%s: there is no data set /step for %lld steps; add it",
                       s->path, (long long)info->steps);
    if (!info->step && !HN_ZALLOC(ctx, info->step, 1))
        return ctx->code;
    for (int64_t i = 1; i < info->steps; i++)
        if (info->step[i] <= info->step[i - 1])
            return hn_fail(ctx, HN_DATA,
                           "%s: data set /step does not increase: %lld at index %lld follows %lld; "
                           "store the steps in order, each once",
                           s->path, (long long)info->step[i], (long long)i,
                           (long long)info->step[i - 1]);
    return HN_OK;
}

// A number of every item.
static enum hn_code read_items(struct hn_context *ctx, const struct hn_snapshot *s,
                               const char *path, struct hn_data_range range, void *array) {
    const struct hn_snapshot_column column = {path, "items", s->info.n, range};
    return hn_snapshot_read_column(ctx, s, &column, array);
}

// An item without a partner leaves the file without complete positives: it is then read as a file
// without any, and says so.
static enum hn_code read_partners(struct hn_context *ctx, struct hn_snapshot *s) {
    const int64_t n = s->info.n;
    const struct hn_data_range items = {-1, n - 1, sizeof *s->partner};
    int64_t alone = 0;
    if (read_items(ctx, s, "/positive", items, &s->partner))
        return ctx->code;
    if (!s->partner)
        return HN_OK;
    s->info.has_positive = true;
    for (int64_t i = 0; i < n; i++) {
        if (s->partner[i] == i)
            return hn_fail(ctx, HN_DATA,
                           "%s: data set /positive, row %lld is its own partner; an item against "
                           "itself is not a positive, use -1",
                           s->path, (long long)i);
        alone += s->partner[i] < 0;
    }
    if (alone == 0)
        return HN_OK;
    if (!s->info.has_view2)
        hn_note_once(ctx,
                     "%s: /positive names no partner for %lld of %lld items: taken as no positive",
                     s->path, (long long)alone, (long long)n);
    hn_free(ctx, s->partner);
    s->partner = NULL;
    return HN_OK;
}

static enum hn_code read_graph(struct hn_context *ctx, struct hn_snapshot *s) {
    const struct hn_sparse_rows rows = {"/graph/indptr", "/graph/indices", s->info.n};
    enum hn_code code = hn_snapshot_read_rows(ctx, s, &rows, &s->graph);
    s->info.has_graph = s->graph.start != NULL;
    return code;
}

static enum hn_code check_teacher(struct hn_context *ctx, const struct hn_snapshot *s) {
    const struct hn_data *t = &s->teacher[0];
    if (t->rank < 2)
        return hn_fail(ctx, HN_DATA,
                       "%s: data set /teacher has the wrong rank: %d; it must be [items, dims] or "
                       "[steps, items, dims]",
                       s->path, t->rank);
    if (t->rows != s->info.n)
        return hn_data_fail_length(ctx, s, t, s->info.n, "items");
    if (t->cols < 1 || (t->steps != 1 && t->steps != s->info.steps))
        return hn_fail(ctx, HN_DATA,
                       "%s: data set /teacher is [%lld, %lld, %lld]; it must have one dimension or "
                       "more, and 1 step or the %lld of the series",
                       s->path, (long long)t->steps, (long long)t->rows, (long long)t->cols,
                       (long long)s->info.steps);
    return HN_OK;
}

// Further embeddings of the items, of another encoder: [N, D] or [1, N, D] where they are fixed,
// [steps, N, D] where they go along with the series.
static enum hn_code open_teacher(struct hn_context *ctx, struct hn_snapshot *s) {
    if (hn_data_open(ctx, s, "/teacher", HN_DATA_FLOATS, &s->teacher[0]))
        return ctx->code;
    if (s->teacher[0].id < 0)
        return HN_OK;
    s->teacher[0].zero_rows = s->info.zero_rows;
    s->info.teacher_d = s->teacher[0].cols;
    return check_teacher(ctx, s);
}

static enum hn_code read_structure(struct hn_context *ctx, struct hn_snapshot *s) {
    const struct hn_data_range split = {-1, 2, sizeof *s->info.split};
    const struct hn_data_range group = {0, INT32_MAX, sizeof *s->info.group};
    bool bare;
    if (check_schema(ctx, s, &bare) || hn_snapshot_read_attributes(ctx, s) ||
        open_series(ctx, s, bare) || hn_snapshot_read_steps(ctx, s, bare) ||
        hn_snapshot_read_labels(ctx, s, bare))
        return ctx->code;
    if (!bare && (read_items(ctx, s, "/split", split, &s->info.split) || read_partners(ctx, s) ||
                  read_graph(ctx, s) || hn_snapshot_read_features(ctx, s) ||
                  read_items(ctx, s, "/group", group, &s->info.group) || open_teacher(ctx, s)))
        return ctx->code;
    return HN_OK;
}

static enum hn_code open_file(struct hn_context *ctx, const char *path,
                              const struct hn_snapshot_form *form, struct hn_snapshot **out) {
    *out = NULL;
    struct hn_snapshot *s = hn_zalloc(ctx, 1, form->size);
    if (!s)
        return ctx->code;
    s->file = H5I_INVALID_HID;
    for (int i = 0; i < HN_SNAPSHOT_SERIES; i++)
        s->series[i].id = H5I_INVALID_HID;
    for (int i = 0; i < HN_SNAPSHOT_TEACHERS; i++)
        s->teacher[i].id = H5I_INVALID_HID;
    void *outer = hn_own(ctx, s);
    s->info.path = s->path = hn_strdup(ctx, path);
    bool good = s->path && !hn_h5_open(ctx, path, &s->file) && !form->read(ctx, s);
    hn_own(ctx, outer);
    if (good) {
        *out = s;
        return HN_OK;
    }
    hn_snapshot_close(ctx, s);
    return ctx->code;
}

struct opening {
    struct hn_context *ctx;
    const struct hn_snapshot_form *form;
};

// Opens the file in a child process first. HDF5 may crash on a damaged file depending on the memory
// beside a buffer that it reads beyond: so the child does, from the same state of memory on, the
// very thing that this process does next. One thread: the others do not exist after fork().
static void open_and_leave(const char *path, void *data) {
    const struct opening *opening = data;
    struct hn_snapshot *s;
    opening->ctx->notes.to = NULL;
    opening->ctx->threads = 1;
    (void)!open_file(opening->ctx, path, opening->form, &s);
}

enum hn_code hn_snapshot_open_as(struct hn_context *ctx, const char *path,
                                 const struct hn_snapshot_form *form, struct hn_snapshot **out) {
    struct opening opening = {ctx, form};
    *out = NULL;
    if (hn_h5_probe(ctx, path) || hn_h5_try(ctx, path, open_and_leave, &opening))
        return ctx->code;
    return open_file(ctx, path, form, out);
}

// Values that were packed well beyond what embeddings allow take long to read for so small a file.
static void note_packing(struct hn_context *ctx, const struct hn_snapshot *s) {
    const double mib = 1 << 20, min = 256, usual = 16;
    const struct hn_snapshot_info *info = &s->info;
    double packed = (double)hn_h5_file_bytes(s->file) / mib;
    double values = (double)info->steps * (double)info->n * (double)info->d * sizeof(float) / mib *
                    (1 + info->has_view1 + info->has_view2);
    if (values > min && values > usual * packed)
        hn_note_once(ctx, "%s: holds %.0f MiB of values in %.1f MiB; reading them takes a while",
                     s->path, values, packed);
}

enum hn_code hn_snapshot_open(struct hn_context *ctx, const char *path, struct hn_snapshot **out) {
    static const struct hn_snapshot_form items = {sizeof(struct hn_snapshot), read_structure};
    if (hn_snapshot_open_as(ctx, path, &items, out))
        return ctx->code;
    note_packing(ctx, *out);
    return HN_OK;
}

void hn_snapshot_close(struct hn_context *ctx, struct hn_snapshot *s) {
    if (!s)
        return;
    for (int i = 0; i < HN_SNAPSHOT_SERIES; i++)
        hn_data_close(&s->series[i]);
    for (int i = 0; i < HN_SNAPSHOT_TEACHERS; i++)
        hn_data_close(&s->teacher[i]);
    hn_h5_close(s->file);
    hn_free(ctx, s);
}

const struct hn_snapshot_info *hn_snapshot_info(const struct hn_snapshot *s) { return &s->info; }

int64_t hn_snapshot_step_index(const struct hn_snapshot_info *info, int64_t step) {
    int64_t i = info->steps - 1;
    while (i >= 0 && info->step[i] != step)
        i--;
    return i;
}

enum hn_code hn_snapshot_find_step(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                   const char *what, int64_t step, int64_t *index) {
    const int64_t last = info->steps - 1;
    *index = step == INT64_MIN ? last : hn_snapshot_step_index(info, step);
    if (*index >= 0)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE, "%s %lld is not in %s, which has %s from %lld to %lld", what,
                   (long long)step, info->path, hn_counted(info->steps, "step").text,
                   (long long)info->step[0], (long long)info->step[last]);
}
