// SPDX-License-Identifier: GPL-3.0-or-later
// Provenance: what the program is and what it runs on, and the calibration of this run.
#pragma once

#include "results/programs.h"

struct hn_phrase; // core/text.h

// Fills ctx->program with the name of the program that runs (results/programs.h).
void hn_host_program(struct hn_context *ctx);

// Fills /env of `r`: program, results_version, tool_version, git_commit, git_dirty, compiler,
// cflags, os, kernel, cpu_model, n_cpu, mem_bytes, library versions, openblas_core,
// openblas_config, threads, machine_class, and (calibrate) sgemm_gflops and read_gbs, measured in a
// second or less.
HN_MUST_USE enum hn_code hn_host_describe(struct hn_context *ctx, struct hn_results *r,
                                          bool calibrate);

// sgemm rate of one product per thread at inner dimension d, as the sweep uses it, in GFLOP/s; and
// the rate of reading memory on all threads, in GB/s (10^9 bytes). Median of `reps` of about 30 ms
// each, after one that does not count.
HN_MUST_USE enum hn_code hn_host_sgemm(struct hn_context *ctx, int64_t d, int reps, double *gflops);
HN_MUST_USE enum hn_code hn_host_read(struct hn_context *ctx, int reps, double *gbs);

// Machines of one class have comparable costs: "intel-xeon-gold-6130-x16-skylakex" from the
// processor's name (marks, "CPU" and clock rate left out), the number of processors and the BLAS
// kernel. Returns the length as snprintf does.
int hn_host_machine_class(const char *cpu_model, int64_t n_cpu, const char *blas_core, char *buffer,
                          size_t size);

// The processor's name; where /proc gives none, the architecture and part.
struct hn_phrase hn_host_processor(void);

// Instructions executed by this process and its threads, as the processor counts them.
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
