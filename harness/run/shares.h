// Shares of processes in a run whose long computations were shared (harness/host/parts.h): parts
// computed, bytes of parts read and written, and seconds of waiting.
#ifndef HN_HARNESS_RUN_SHARES_H
#define HN_HARNESS_RUN_SHARES_H

#include "harness/host/parts.h"

struct hn_share {
    struct hn_parts_count count;
    int64_t clock_ns;   // of its run
    int64_t peak_bytes; // allocated at most
};

struct hn_shares {
    const char *rows;       // "ranks", or "i/n" of a process alone; borrowed
    struct hn_share *share; // [n] in the order of ranks; one of a process alone; owned
    int n;                  // 0 on ranks other than the first
};

// Gathers them on rank 0: all ranks call this. begun_ns: hn_wall_ns() when the run began.
HN_MUST_USE enum hn_code hn_shares_gather(struct hn_context *ctx, const struct hn_file_parts *parts,
                                          const char *rows, int64_t begun_ns,
                                          struct hn_shares *out);
// Largest time of computing divided by the mean; 1 where nothing was computed.
double hn_shares_balance(const struct hn_shares *s);
// Attributes parts (a line per process, values apart by commas, the first names them) and
// parts_balance of /env.
HN_MUST_USE enum hn_code hn_shares_describe(struct hn_context *ctx, const struct hn_shares *s,
                                            struct hn_results *env);
// For people: a line per process, of the first few where they are many and not all are asked for,
// and one of all.
void hn_shares_print(const struct hn_shares *s, bool all);
void hn_shares_free(struct hn_context *ctx, struct hn_shares *s);

#endif
