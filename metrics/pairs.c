// The negatives of an anchor in either shape of a batch.
#include "metrics/metric.h"

// `count` negatives from entry `at` of the products on.
static struct hn_run run_of(const struct hn_pairs *p, int64_t at, const int32_t *id,
                            int64_t count) {
    return (struct hn_run){.count = (int32_t)count,
                           .id = id,
                           .kind = p->kind ? p->kind + at : NULL,
                           .cosine = p->cosine ? p->cosine + at : NULL,
                           .score = p->score ? p->score + at : NULL,
                           .score_t = p->score_t ? p->score_t + at : NULL,
                           .same1 = p->same1 ? p->same1 + at : NULL,
                           .same2 = p->same2 ? p->same2 + at : NULL,
                           .guide = p->guide ? p->guide + at : NULL};
}

int64_t hn_pairs_runs(const struct hn_pairs *p, int32_t a, bool once, struct hn_run run[2]) {
    if (p->start) {
        int64_t at = p->start[a];
        run[0] = (struct hn_run){0};
        run[1] = run_of(p, at, p->negative + at, p->start[a + 1] - at);
    } else {
        int64_t row = (int64_t)a * p->n, next = a + 1;
        run[0] = run_of(p, row, p->id, once && !p->directed ? 0 : a);
        run[1] = run_of(p, row + next, p->id + next, p->n - next);
    }
    return (int64_t)run[0].count + run[1].count;
}
