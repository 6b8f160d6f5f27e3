// Shares of processes in a run whose long computations were shared (harness/host/parts.h): parts
// computed, bytes of parts read and written, and seconds of waiting.
#ifndef HN_HARNESS_RUN_SHARES_H
#define HN_HARNESS_RUN_SHARES_H

#include "harness/host/parts.h"

// Gathers them on rank 0: all ranks call this. begun_ns: hn_wall_ns() when the run began; rows:
// "ranks", or "i/n" of a process alone. Prints, unless `quiet`, a line per process, of the first
// few where they are many and not `all` are asked for, and one of all; and sets, unless env is
// NULL, the attributes parts (a line per process, values apart by commas, the first names them) and
// parts_balance of /env.
HN_MUST_USE enum hn_code hn_shares_tell(struct hn_context *ctx, const struct hn_file_parts *parts,
                                        const char *rows, int64_t begun_ns, bool quiet, bool all,
                                        struct hn_results *env);

#endif
