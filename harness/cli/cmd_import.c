// `hardneg import`: arrays of NumPy, .fvecs, or a file of ann-benchmarks, as a snapshot; or as one
// more step of a snapshot that is there.
#include "datasets/import.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"

#include <sys/stat.h>

#define FIELD(member) offsetof(struct hn_import, member)

static const char *const type_names[] = {"float16", "float32", "float64", NULL};

static const struct hn_option import_options[] = {
    {"embeddings", HN_OPTION_TEXT, FIELD(embeddings), NULL, 0, 0, NULL,
     "rows of floats: .npy, .fvecs, .bvecs, or HDF5 in the layout of ann-benchmarks", 'e', "FILE"},
    {"linqs", HN_OPTION_TEXT, FIELD(linqs), NULL, 0, 0, NULL,
     "folder of NAME.features, NAME.edges, NAME.split: raw features as embeddings, and the graph",
     0, "DIR"},
    {"labels", HN_OPTION_TEXT, FIELD(labels), NULL, 0, 0, NULL,
     "one integer per row (.npy), -1 = unlabelled", 'l', "FILE"},
    {"view1", HN_OPTION_TEXT, FIELD(view1), NULL, 0, 0, NULL, "first augmented view (.npy)", 0,
     "FILE"},
    {"view2", HN_OPTION_TEXT, FIELD(view2), NULL, 0, 0, NULL, "second augmented view (.npy)", 0,
     "FILE"},
    {"step", HN_OPTION_INT, FIELD(step), NULL, 0, 9e15, NULL,
     "optimizer step of these rows (0 for a new file)", 's', "STEP"},
    {"label-names", HN_OPTION_TEXT, FIELD(label_names), NULL, 0, 0, NULL,
     "text file, the name of a class on each line", 0, "FILE"},
    {"title", HN_OPTION_TEXT, FIELD(title), NULL, 0, 0, NULL, "title of a new file", 0, "TEXT"},
    {"source", HN_OPTION_TEXT, FIELD(source), NULL, 0, 0, NULL, "where the data come from", 0,
     "TEXT"},
    {"license", HN_OPTION_TEXT, FIELD(license), NULL, 0, 0, NULL, "licence of the data", 0, "TEXT"},
    {"encoder", HN_OPTION_TEXT, FIELD(encoder), NULL, 0, 0, NULL, "what made the embeddings", 0,
     "TEXT"},
    {"type", HN_OPTION_CHOICE, FIELD(type), "float32", 0, 0, type_names,
     "type of the values in a new file", 0, "TYPE"},
    {"compress", HN_OPTION_INT, FIELD(compress), "0", 0, 9, NULL,
     "deflate level of a new file, with shuffle; 0 = none", 0, "LEVEL"},
    {"output", HN_OPTION_TEXT, FIELD(output), NULL, 0, 0, NULL,
     "snapshot; one that exists gets a step appended", 'o', "FILE"},
    {.name = NULL}};

// A folder brings rows, labels and graph, all at once, for a new file.
static enum hn_code check_options(struct hn_context *ctx, const struct hn_import *o) {
    struct stat about;
    if (!o->embeddings && !o->linqs)
        return hn_fail(
            ctx, HN_USAGE,
            "--embeddings is missing: name the file of the rows (or a folder with --linqs)");
    if (!o->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the snapshot to write");
    if (o->linqs && (o->embeddings || o->labels || o->view1 || o->view2))
        return hn_fail(ctx, HN_USAGE,
                       "--linqs brings rows and labels: leave out --embeddings, "
                       "--labels, --view1 and --view2");
    if (o->linqs && stat(o->output, &about) == 0)
        return hn_fail(ctx, HN_USAGE, "%s: exists; --linqs makes a new file, give another -o",
                       o->output);
    return HN_OK;
}

static enum hn_code run_import(struct hn_context *ctx, const struct hn_call *call) {
    const struct hn_import *o = call->params;
    int64_t n, d;
    if (check_options(ctx, o))
        return ctx->code;
    char *version = hn_format(ctx, "hardneg %s", hn_version);
    if (!version || hn_import(ctx, o, version, &n, &d))
        return ctx->code;
    if (!call->quiet)
        fprintf(stderr, "%s: step %lld, %lld items, %lld dims\n", o->output,
                (long long)hn_given(o->step, 0), (long long)n, (long long)d);
    return HN_OK;
}

const struct hn_command hn_cmd_import = {
    .name = "import",
    .usage =
        "hardneg import --embeddings FILE --labels FILE [--view1 FILE] [--view2 FILE] [--step S] "
        "-o FILE\n"
        "       hardneg import --linqs DIR -o FILE",
    .summary = "make a snapshot of your own embeddings, or append a step to one",
    .details = "Embeddings are rows of floats, labels one integer per row, both as saved by "
               "numpy.save. Rows may also come as .fvecs or .bvecs, or in HDF5 as ann-benchmarks "
               "has them; without labels, their items are unlabelled. A file that exists gets one "
               "more step: items and labels must be the same, and the step must come after its "
               "last. The file is replaced only when everything has been written.",
    .examples = "hardneg import --embeddings x0.npy --labels y.npy -o mine.h5\n"
                "hardneg import --embeddings x1.npy --step 100 -o mine.h5\n"
                "hardneg import --linqs datasets/cora -o cora.h5",
    .options = import_options,
    .params_size = sizeof(struct hn_import),
    .run = run_import};
