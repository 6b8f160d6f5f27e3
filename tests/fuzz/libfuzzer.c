// The way into libFuzzer: the variable HN_FUZZ names the target.
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct hn_fuzz_target *target(void) {
    const char *name = getenv("HN_FUZZ");
    const struct hn_fuzz_target *t = name ? hn_fuzz_find(name) : NULL;
    if (t)
        return t;
    fprintf(stderr, "HN_FUZZ names no target; there are:");
    for (t = hn_fuzz_targets; t->name; t++)
        fprintf(stderr, " %s", t->name);
    fprintf(stderr, "\n");
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct hn_fuzz_target *chosen;
    if (!chosen)
        chosen = target();
    chosen->run(data ? data : (const uint8_t *)"", size); // nothing to add an offset to
    return 0;
}
