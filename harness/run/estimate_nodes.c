#include "harness/run/estimate_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// How often a run comes to a unit.
struct uses {
    int64_t steps;  // with anything of it
    int64_t builds; // in all
    int64_t seeds;  // of a step
    int64_t last;   // the step that was counted last
};

static void use(struct uses *u, int64_t step, bool another) {
    u->steps += u->builds == 0 || u->last != step;
    u->last = step;
    u->builds += another;
}

static bool builds_anew(const struct hn_plan *plan, const struct hn_cell *before,
                        const struct hn_cell *cell) {
    return !before || !hn_plan_shares(plan->job) || before->sampler != cell->sampler ||
           before->batch_size != cell->batch_size || before->seed != cell->seed ||
           before->step != cell->step;
}

static int64_t unit_of(const struct hn_job *job, const struct hn_cell *cell) {
    int64_t size = 0;
    while (size < job->n_batch_sizes - 1 && job->batch_size[size] != cell->batch_size)
        size++;
    return HN_UNITS + job->n_studies + cell->sampler * job->n_batch_sizes + size;
}

// In the order of the run: builds are kept from one cell to the next.
static void count_uses(const struct hn_nodes_file *f, struct uses *u) {
    const struct hn_plan *plan = f->plan;
    const struct hn_cell *before = NULL;
    for (int64_t i = 0; i < plan->n_items; i++) {
        const struct hn_item *item = &plan->item[plan->turn[i]];
        const struct hn_plan_study *study = item->kind == &hn_item_study ? item->of : NULL;
        const struct hn_cell *cell = item->kind == &hn_item_cell ? item->of : NULL;
        int64_t step = item->step - plan->step;
        char label[HN_ITEM_LABEL];
        if (item->step->data != f->data || !hn_run_wants(f->run, item, label))
            continue;
        if (study) {
            use(&u[HN_UNITS + study->study], step, true);
        } else if (cell) {
            use(&u[HN_UNIT_GLOBAL], step, u[HN_UNIT_GLOBAL].last != step || !before);
            use(&u[unit_of(plan->job, cell)], step, builds_anew(plan, before, cell));
            before = cell;
        } else {
            use(&u[HN_UNIT_STEP], step, true);
        }
    }
    if (u[HN_UNIT_STEP].builds > 0)
        u[HN_UNIT_GLOBAL] = (struct uses){0}; // they come with what needs no sampler
}

static void name_task(const struct hn_job *job, const struct hn_probe_task *task, char *name,
                      size_t size) {
    int64_t builds = HN_UNITS + job->n_studies, at = task->unit - builds;
    const char *unit = task->unit == HN_UNIT_GLOBAL ? "losses of all pairs"
                       : task->unit == HN_UNIT_STEP ? "without a sampler"
                       : task->unit < builds        ? job->study[task->unit - HN_UNITS].type->name
                                             : job->sampler[at / job->n_batch_sizes].type->name;
    if (task->unit >= builds && job->n_batch_sizes > 1)
        (void)snprintf(name, size, "%s B=%" PRId64 ": %s", unit,
                       job->batch_size[at % job->n_batch_sizes], task->cut.what);
    else
        (void)snprintf(name, size, "%s: %s", unit, task->cut.what);
}

// The cut of a computation at n items.
static struct hn_cut cut_at(const struct hn_probe_file *file, const struct hn_probe_task *task,
                            int64_t n) {
    struct hn_cut cut = task->cut;
    int last = file->sizes - 1;
    double times = fmax(1, (double)task->times), more = (double)n / (double)file->n[last];
    double grown = hn_probe_grow(file, task->multiplications, 2, (double)n);
    cut.whole *= grown;
    cut.multiplications = task->multiplications[last] / times * grown;
    cut.rows = (int64_t)((double)cut.rows * more);
    cut.block = hn_min(cut.block_most, (int64_t)ceil((double)cut.block * more));
    return cut;
}

// Bytes of a computation that is cut into so many parts, at n items: those that each part has, and
// those that are dealt out.
static int64_t bytes_at(const struct hn_probe_file *file, const struct hn_probe_task *task,
                        double parts, int64_t n) {
    int64_t each[HN_PROBE_SIZES], dealt[HN_PROBE_SIZES];
    if (file->sizes == 1)
        return (int64_t)task->bytes[0][0];
    for (int i = 0; i < file->sizes; i++) {
        double few = task->parts[i][0], more = task->parts[i][1] - few;
        double slope = more > 0 ? (task->bytes[i][1] - task->bytes[i][0]) / more : 0;
        slope = fmax(0, slope);
        each[i] = (int64_t)slope;
        dealt[i] = (int64_t)fmax(0, task->bytes[i][0] - slope * few);
    }
    double all = parts * (double)task->times;
    return hn_bytes_add(
        hn_estimate_bytes(file->n, dealt, file->sizes, n),
        hn_bytes_mul((int64_t)all, hn_estimate_bytes(file->n, each, file->sizes, n)));
}

// Seconds of a multiplication of that kind, at the largest size.
static double rate_of(const struct hn_probe_sharing *sharing, const char *what) {
    double seconds = 0, fresh = 0;
    for (int64_t i = 0; i < sharing->n; i++)
        if (strcmp(sharing->task[i].cut.what, what) == 0) {
            seconds += sharing->task[i].seconds;
            fresh += sharing->task[i].fresh;
        }
    return fresh > 0 ? seconds / fresh : 0;
}

static int64_t times(int64_t bytes, double by) {
    double product = (double)bytes * by;
    return product >= 9.2e18 ? INT64_MAX : (int64_t)product;
}

static enum hn_code add_task(struct hn_context *ctx, const struct hn_nodes_file *f,
                             const struct hn_probe_sharing *sharing,
                             const struct hn_probe_task *task, const struct uses *u,
                             struct hn_nodes *nodes) {
    const struct hn_probe_file *file = f->file;
    const struct hn_job *job = f->plan->job;
    int64_t n = hn_snapshot_info(f->plan->data[f->data].snapshot)->n;
    const struct hn_cut cut = cut_at(file, task, n);
    double parts = (double)hn_cut_parts(&cut), count = fmax(1, (double)task->times);
    if (parts < 2 || u->builds == 0)
        return HN_OK; // each node computes it alone, as one process does
    if (hn_grow(ctx, &nodes->task, &nodes->capacity, nodes->n + 1, sizeof *nodes->task))
        return ctx->code;
    double rate = rate_of(sharing, cut.what), all = cut.multiplications * count;
    double fresh = task->fresh / fmax(1, task->multiplications[file->sizes - 1]);
    double computed = fresh * (double)u->steps * (task->per_seed ? (double)job->n_seeds : 1);
    double most = ceil(parts / (double)nodes->nodes) / parts;
    struct hn_nodes_task *out = &nodes->task[nodes->n++];
    *out = (struct hn_nodes_task){.parts = parts, .seconds = rate * all * computed};
    name_task(job, task, out->name, sizeof out->name);
    int64_t bytes = bytes_at(file, task, parts, n);
    out->node = out->seconds * most;
    out->bytes = times(bytes, computed);
    out->written = times(out->bytes, most);
    out->read = times(bytes, (double)u->builds);
    nodes->saved += rate * cut.whole * count * (double)u->builds;
    return HN_OK;
}

// Whether samplers are wanted that trials pass over, as they are many.
static bool left_out(const struct hn_nodes_file *f, const bool *wanted) {
    const struct hn_job *job = f->plan->job;
    const bool *builds = wanted + HN_UNITS + job->n_studies;
    bool any = false;
    for (int64_t i = 0; i < job->n_samplers * job->n_batch_sizes; i++)
        any |= builds[i] && !hn_probe_tries(job, i / job->n_batch_sizes);
    return any;
}

enum hn_code hn_nodes_add(struct hn_context *ctx, const struct hn_nodes_file *f, int64_t end,
                          struct hn_nodes *nodes) {
    const struct hn_job *job = f->plan->job;
    int64_t units = HN_UNITS + job->n_studies + job->n_samplers * job->n_batch_sizes;
    struct hn_probe_sharing sharing;
    HN_SCOPE(ctx);
    struct uses *u = hn_zalloc(ctx, units, sizeof *u);
    bool *wanted = hn_zalloc(ctx, units, sizeof *wanted);
    if (!u || !wanted)
        return ctx->code;
    count_uses(f, u);
    for (int64_t i = 0; i < units; i++)
        wanted[i] = u[i].builds > 0;
    if (hn_probe_share(ctx, f->plan, f->data, wanted, end, f->file, &sharing))
        return ctx->code;
    nodes->unknown |= !sharing.known || left_out(f, wanted);
    void *inner = hn_own(ctx, nodes->shared.item); // which outlives this
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < sharing.n && sharing.known && !code; i++)
        code = add_task(ctx, f, &sharing, &sharing.task[i], &u[sharing.task[i].unit], nodes);
    hn_own(ctx, inner);
    return code;
}

static void sum_up(const struct hn_estimate_total *plain, struct hn_nodes *n) {
    double parts = 0;
    for (int64_t i = 0; i < n->n; i++) {
        parts += n->task[i].node;
        n->written = hn_bytes_add(n->written, n->task[i].written);
        n->read = hn_bytes_add(n->read, n->task[i].read);
    }
    n->one = plain->seconds;
    n->alike = fmax(0, plain->seconds - n->saved);
    n->traffic = ((double)n->written + (double)n->read) / n->bandwidth;
    n->node = parts + n->alike + n->traffic;
    n->unknown |= plain->unknown > 0;
}

enum hn_code hn_nodes_sum(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_runner *run, const struct hn_estimate_total *total,
                          struct hn_nodes *nodes) {
    if (hn_estimate_sum(ctx, plan, &nodes->shared, run, &nodes->memory))
        return ctx->code;
    sum_up(total, nodes);
    return HN_OK;
}

static void print_bytes(int64_t bytes, int width) {
    char text[32];
    hn_bytes_text(bytes, text, sizeof text);
    printf("  %*s", width, text);
}

static void print_seconds(double seconds, int width) {
    char text[32];
    hn_seconds_text(seconds, text, sizeof text);
    printf("  %*s", width, text);
}

void hn_nodes_print(const struct hn_nodes *nodes) {
    char one[32];
    printf("\n%" PRId64 " nodes like this one, a process each (--rows), at %g GB/s:\n"
           "%-46s  %5s  %10s  %10s  %10s  %10s\n",
           nodes->nodes, nodes->bandwidth * 1e-9, "", "parts", "all parts", "of a node",
           "it writes", "it reads");
    for (int64_t i = 0; i < nodes->n; i++) {
        const struct hn_nodes_task *t = &nodes->task[i];
        printf("%-46s  %5.0f", t->name, t->parts);
        print_seconds(t->seconds, 10);
        print_seconds(t->node, 10);
        print_bytes(t->written, 10);
        print_bytes(t->read, 10);
        printf("\n");
    }
    printf("%-46s  %5s  %10s", "what every node does by itself", "", "");
    print_seconds(nodes->alike, 10);
    printf("\n%-46s  %5s  %10s", "writing and reading parts", "", "");
    print_seconds(nodes->traffic, 10);
    printf("\n%-46s  %5s  %10s", nodes->unknown ? "in all that is known" : "in all", "", "");
    print_seconds(nodes->node, 10);
    print_bytes(nodes->written, 10);
    print_bytes(nodes->read, 10);
    hn_seconds_text(nodes->one, one, sizeof one);
    printf("\nmemory of a node:");
    print_bytes(nodes->memory.bytes, 0);
    printf("; traffic of all nodes:");
    print_bytes(hn_bytes_mul(hn_bytes_add(nodes->written, nodes->read), nodes->nodes), 0);
    printf(" at most; one process without parts: %s\n", one);
}

void hn_nodes_clear(struct hn_context *ctx, struct hn_nodes *nodes) {
    hn_estimate_free(ctx, &nodes->shared); // and what belongs to it
    *nodes = (struct hn_nodes){.nodes = nodes->nodes, .bandwidth = nodes->bandwidth};
}
