// The front: each point against all others, since equality up to rounding gives no order to sort
// by.
#include "core/front.h"
#include "core/stats.h"

#include <math.h>

const char *hn_front_mark(enum hn_standing standing) {
    return standing == HN_ON_FRONT ? "*" : standing == HN_BEATEN_BY_MEANS ? "o" : "";
}

static bool is_ranked(const struct hn_front_point *p) {
    return isfinite(p->low) && isfinite(p->high);
}

static bool beats(const struct hn_front_point *a, const struct hn_front_point *b) {
    double low = hn_beyond_rounding(a->low, b->low), high = hn_beyond_rounding(a->high, b->high);
    return low <= 0 && high >= 0 && (low < 0 || high > 0);
}

void hn_front(const struct hn_front_point *point, int64_t n, hn_front_told *told, const void *of,
              enum hn_standing *standing) {
    for (int64_t i = 0; i < n; i++) {
        standing[i] = is_ranked(&point[i]) ? HN_ON_FRONT : HN_NOT_RANKED;
        for (int64_t k = 0; k < n && standing[i] > HN_BEATEN; k++)
            if (point[k].league == point[i].league && is_ranked(&point[k]) &&
                beats(&point[k], &point[i]))
                standing[i] = !told || told(of, k, i) ? HN_BEATEN : HN_BEATEN_BY_MEANS;
    }
}
