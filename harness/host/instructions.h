// Instructions executed by this process and its threads, as the processor counts them.
#ifndef HN_HARNESS_HOST_INSTRUCTIONS_H
#define HN_HARNESS_HOST_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct hn_instructions {
    int file;      // of perf_event_open, -1 = not counted
    char why[160]; // then: why not
};

// Opens the counter, user mode only. Threads that start later are counted, so open it before any
// does. Where the host does not allow it (containers, virtual machines), file is -1.
void hn_instructions_open(struct hn_instructions *c);
// The same with any event of perf_event_open ("type" and "config" of perf_event_attr): the way of
// the counter can then be tested where the processor has none.
void hn_instructions_open_event(struct hn_instructions *c, uint32_t type, uint64_t event);
void hn_instructions_close(struct hn_instructions *c);
// The count so far, of all threads; NaN where it is not counted or could not be read.
double hn_instructions_read(const struct hn_instructions *c);

#endif
