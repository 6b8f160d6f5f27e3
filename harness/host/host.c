// SPDX-License-Identifier: GPL-3.0-or-later
// Provenance and calibration. The calibration uses the sweep's own way of multiplying (one product
// per thread, hn_gemm_nt), so that a cost as a share of it says how far the code is from the
// machine.
#include "harness/host/host.h"
#include "core/files.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/host/memory.h"

#include <ctype.h>
#include <errno.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <linux/perf_event.h>
#include <math.h>
#include <nettle/version.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <yaml.h>

#if __has_include("build_info.h")
#include "build_info.h" // written by the Makefile
#else
#define HN_BUILD_COMMIT "unknown"
#define HN_BUILD_DIRTY "nan"
#define HN_BUILD_SOURCES "unknown"
#define HN_BUILD_CFLAGS "unknown"
#endif

#ifdef __clang__
#define HN_COMPILER __VERSION__
#else
#define HN_COMPILER "gcc " __VERSION__
#endif

// From the HDF5 library: hdf5.h itself is for the stores alone.
int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release);

enum { TEXT_MAX = 1024, TILE = 512, CALIBRATION_DIM = 128, CALIBRATION_REPS = 5 };

static const double rep_seconds = 0.02;

// Sets attributes of /env until one fails.
struct env {
    struct hn_context *ctx;
    struct hn_results *results;
    enum hn_code code;
};

static void put(struct env *env, const char *name, const char *fmt, ...) HN_PRINTF(3, 4);
static void put(struct env *env, const char *name, const char *fmt, ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!env->code)
        env->code = hn_results_set_env(env->ctx, env->results, name, text);
}

struct hn_phrase hn_host_processor(void) {
    struct hn_phrase name = hn_host_file_value("/proc/cpuinfo", "model name", "\t :");
    if (*name.text)
        return name;
    // Other architectures give no name, only numbers.
    const struct hn_phrase part = hn_host_file_value("/proc/cpuinfo", "CPU part", "\t :");
    struct utsname system;
    uname(&system);
    hn_put_text(name.text, sizeof name.text, "%s%s%s", system.machine, *part.text ? " " : "",
                part.text);
    return name;
}

// True if `word` says nothing about the kind of processor: "CPU", "@", "2.10GHz", "16-Core".
static bool is_noise(const char *word) {
    size_t length = strlen(word);
    return strcasecmp(word, "cpu") == 0 || strcasecmp(word, "processor") == 0 ||
           strcmp(word, "@") == 0 || (length > 3 && strcasecmp(word + length - 3, "ghz") == 0) ||
           (length > 5 && strcasecmp(word + length - 5, "-core") == 0);
}

int hn_host_machine_class(const char *cpu_model, int64_t n_cpu, const char *blas_core, char *buffer,
                          size_t size) {
    char model[TEXT_MAX], class[TEXT_MAX] = "", *rest = model;
    snprintf(model, sizeof model, "%s", cpu_model);
    for (char *mark; (mark = strcasestr(model, "(r)")) || (mark = strcasestr(model, "(tm)"));)
        memset(mark, ' ', (size_t)(strchr(mark, ')') - mark) + 1);
    size_t used = 0;
    for (char *word; (word = strsep(&rest, " \t"));) {
        if (word[0] && !is_noise(word))
            used += (size_t)snprintf(class + used, sizeof class - used, "%s-", word);
    }
    snprintf(class + used, sizeof class - used, "x%lld-%s", (long long)n_cpu, blas_core);
    for (char *c = class; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '.' ? (char)tolower((unsigned char)*c) : '-';
    return snprintf(buffer, size, "%s", class);
}

void hn_host_program(struct hn_context *ctx) {
    snprintf(ctx->program, sizeof ctx->program, "%s-%.12s", hn_version, HN_BUILD_SOURCES);
}

static void put_build(struct env *env) {
    hn_host_program(env->ctx);
    put(env, "program", "%s", env->ctx->program);
    put(env, "results_version", "%d", hn_results_code_version);
    put(env, "tool_version", "%s", hn_version);
    put(env, "git_commit", "%s", HN_BUILD_COMMIT);
    put(env, "git_dirty", "%s", HN_BUILD_DIRTY);
    put(env, "compiler", "%s", HN_COMPILER);
    put(env, "cflags", "%s", HN_BUILD_CFLAGS);
}

static void put_machine(struct env *env) {
    const struct hn_phrase os = hn_host_file_value("/etc/os-release", "PRETTY_NAME", "=\"");
    const struct hn_phrase model = hn_host_processor();
    char class[TEXT_MAX];
    struct utsname system = {0};
    int64_t n_cpu = sysconf(_SC_NPROCESSORS_ONLN);
    uname(&system);
    put(env, "os", "%s", *os.text ? os.text : system.sysname);
    put(env, "kernel", "%s %s", system.sysname, system.release);
    put(env, "cpu_model", "%s", model.text);
    put(env, "n_cpu", "%lld", (long long)n_cpu);
    put(env, "mem_bytes", "%lld", (long long)hn_host_memory());
    put(env, "threads", "%d", env->ctx->threads);
    hn_host_machine_class(model.text, n_cpu, hn_blas_core(), class, sizeof class);
    put(env, "machine_class", "%s", class);
}

static void put_libraries(struct env *env) {
    unsigned hdf5[3] = {0};
    H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
    put(env, "gsl_version", "%s", gsl_version);
    put(env, "hdf5_version", "%u.%u.%u", hdf5[0], hdf5[1], hdf5[2]);
    put(env, "libyaml_version", "%s", yaml_get_version_string());
    put(env, "nettle_version", "%d.%d", nettle_version_major(), nettle_version_minor());
    put(env, "jansson_version", "%s", jansson_version_str());
    put(env, "openblas_core", "%s", hn_blas_core());
    put(env, "openblas_config", "%s", hn_blas_config());
}

enum hn_code hn_host_describe(struct hn_context *ctx, struct hn_results *r, bool calibrate) {
    struct env env = {.ctx = ctx, .results = r};
    put_build(&env);
    put_machine(&env);
    put_libraries(&env);
    if (env.code || !calibrate)
        return env.code;
    double gflops, gbs;
    if (hn_host_sgemm(ctx, CALIBRATION_DIM, CALIBRATION_REPS, &gflops) ||
        hn_host_read(ctx, CALIBRATION_REPS, &gbs))
        return ctx->code;
    put(&env, "sgemm_gflops", "%.4g", gflops);
    put(&env, "read_gbs", "%.4g", gbs);
    return env.code;
}

// Work that is timed: does it `rounds` times over on all threads and returns how much it was
// (flops, bytes). The threads that run are counted, not assumed.
struct load {
    double (*run)(const struct load *load, int64_t rounds);
    int threads;
    int64_t d, bytes;     // inner dimension; bytes read per thread
    float *a, *b, *c;     // [threads x TILE x d] twice, [threads x TILE x TILE]
    const double *memory; // [threads x bytes / 8]
    double *sum;          // [threads], so that nothing read is optimised away
};

// One thread is timed by its processor time: what it waits for the processor says nothing of rates.
static int64_t clock_ns(const struct load *load) {
    return load->threads == 1 ? hn_cpu_ns(1) : hn_wall_ns();
}

// 10^9 of work per second: the median of reps, each long enough to be timed well.
static enum hn_code measure_rate(struct hn_context *ctx, const struct load *load, int reps,
                                 double *giga) {
    HN_SCOPE(ctx);
    double *rate = hn_alloc(ctx, reps, sizeof *rate);
    if (!rate)
        return ctx->code;
    load->run(load, 1); // touches every page and starts the threads
    int64_t begin = clock_ns(load);
    load->run(load, 1);
    double once = (double)(clock_ns(load) - begin) * 1e-9;
    int64_t rounds = once > 0 && once < rep_seconds ? (int64_t)ceil(rep_seconds / once) : 1;
    for (int i = 0; i < reps; i++) {
        begin = clock_ns(load);
        double work = load->run(load, rounds);
        rate[i] = work / ((double)hn_max(clock_ns(load) - begin, 1) * 1e-9);
    }
    *giga = hn_median(rate, reps) * 1e-9;
    return HN_OK;
}

static double run_sgemm(const struct load *load, int64_t rounds) {
    int64_t products = 0;
#pragma omp parallel num_threads(load->threads) reduction(+ : products)
    {
        int64_t thread = omp_get_thread_num(), panel = thread * TILE * load->d;
        for (int64_t i = 0; i < rounds; i++) {
            hn_gemm_nt(load->a + panel, load->d, load->b + panel, load->d, TILE, TILE, load->d,
                       load->c + thread * TILE * TILE, TILE);
            products++;
        }
    }
    return 2.0 * TILE * TILE * (double)load->d * (double)products;
}

enum hn_code hn_host_sgemm(struct hn_context *ctx, int64_t d, int reps, double *gflops) {
    struct load load = {.run = run_sgemm, .threads = ctx->threads, .d = d};
    int64_t panels, all;
    if (reps < 1 || d < 1 || !hn_mul((int64_t)ctx->threads * TILE, d, &panels) ||
        !hn_mul((int64_t)ctx->threads * TILE, 2 * d + TILE, &all))
        return hn_fail(ctx, HN_INTERNAL, "sgemm calibration: d = %lld, reps = %d", (long long)d,
                       reps);
    HN_SCOPE(ctx);
    load.a = hn_alloc(ctx, all, sizeof(float));
    if (!load.a)
        return ctx->code;
    load.b = load.a + panels;
    load.c = load.b + panels;
    for (int64_t i = 0; i < panels; i++) {
        load.a[i] = (float)(i % 17 - 8) / 8.0F;
        load.b[i] = (float)(i % 13 - 6) / 6.0F;
    }
    return measure_rate(ctx, &load, reps, gflops);
}

static double run_read(const struct load *load, int64_t rounds) {
    int64_t n = load->bytes / (int64_t)sizeof(double), threads_run = 0;
#pragma omp parallel num_threads(load->threads) reduction(+ : threads_run)
    {
        int thread = omp_get_thread_num();
        const double *x = load->memory + thread * n;
        double sum[8] = {0};
        for (int64_t r = 0; r < rounds; r++)
            for (int64_t i = 0; i < n; i += 8)
                for (int lane = 0; lane < 8; lane++)
                    sum[lane] += x[i + lane];
        load->sum[thread] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
        threads_run++;
    }
    return (double)load->bytes * (double)rounds * (double)threads_run;
}

// Four times the last cache, so that most of every pass comes from memory; 64 to 256 MiB, and an
// eighth of what is free at most. Shared out among the threads in whole pages.
static int64_t read_bytes(int threads) {
    const int64_t mib = 1 << 20, page = 4096;
#ifdef _SC_LEVEL3_CACHE_SIZE
    int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
    int64_t cache = 0; // not known to every C library
#endif
    int64_t bytes = hn_min(hn_max(4 * hn_max(cache, 0), 64 * mib), 256 * mib);
    bytes = hn_min(bytes, hn_host_memory_free() / 8);
    return hn_max(bytes / threads / page, 1) * page;
}

// The buffer shall not count as the run's peak of resident memory: Linux starts it afresh.
static void forget_peak_memory(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

enum hn_code hn_host_read(struct hn_context *ctx, int reps, double *gbs) {
    struct load load = {.run = run_read, .threads = ctx->threads};
    if (reps < 1)
        return hn_fail(ctx, HN_INTERNAL, "memory calibration: reps = %d", reps);
    load.bytes = read_bytes(ctx->threads);
    int64_t n = load.threads * load.bytes / (int64_t)sizeof(double);
    double *memory = hn_alloc(ctx, n + load.threads, sizeof *memory);
    if (!memory)
        return ctx->code;
    load.memory = memory;
    load.sum = memory + n;
    // Written once: pages never written share one page of zeros, which stays in the cache.
    for (int64_t i = 0; i < n; i++)
        memory[i] = 1.0;
    enum hn_code code = measure_rate(ctx, &load, reps, gbs);
    hn_free(ctx, memory);
    forget_peak_memory();
    return code;
}

static void explain(struct hn_instructions *c, int reason) {
    const struct hn_phrase level =
        hn_host_file_value("/proc/sys/kernel/perf_event_paranoid", "", "");
    const char *text = reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV
                           ? "the processor's counters are not there (a virtual machine?)"
                       : reason == ENOSYS ? "the kernel, or the container, does not have it"
                                          : strerror(reason);
    if ((reason == EACCES || reason == EPERM) && atoi(level.text) > 2)
        hn_put_text(c->why, sizeof c->why,
                    "perf_event_open: not allowed: kernel.perf_event_paranoid is %s, 2 is enough",
                    level.text);
    else
        snprintf(c->why, sizeof c->why, "perf_event_open: %s", text);
}

void hn_instructions_open_event(struct hn_instructions *c, uint32_t type, uint64_t event) {
    struct perf_event_attr attr = {.type = type,
                                   .size = sizeof attr,
                                   .config = event,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .inherit = 1};
    *c = (struct hn_instructions){.file = -1};
    long file = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file < 0)
        explain(c, errno);
    else
        c->file = (int)file;
}

void hn_instructions_open(struct hn_instructions *c) {
    hn_instructions_open_event(c, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

void hn_instructions_close(struct hn_instructions *c) {
    if (c->file >= 0)
        (void)close(c->file);
    c->file = -1;
}

double hn_instructions_read(const struct hn_instructions *c) {
    uint64_t count;
    if (c->file < 0 || read(c->file, &count, sizeof count) != (ssize_t)sizeof count)
        return NAN;
    return (double)count;
}
