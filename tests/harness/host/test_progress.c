// SPDX-License-Identifier: GPL-3.0-or-later
// The progress line: what it says, how often it is written, and when it is not.
#include "harness/host/progress.h"
#include "tests/test.h"

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hn_progress example(void) {
    return (struct hn_progress){.total = 80, .skipped = 20, .done = 10, .begun_ns = 1000};
}

static void rate_counts_only_this_run(void) {
    struct hn_progress p = example();
    char text[200];
    // 10 cells in 4 s are 2.5 a second; 50 are left: 20 s. The 20 found finished do not count.
    int length = hn_progress_text(&p, "knn", 4000001000, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "30/80 cells, 2.5 cells/s, 0:20 left, knn");
    CU_ASSERT_EQUAL(length, (int)strlen(text));
}

static void failures_and_long_times(void) {
    struct hn_progress p = example();
    char text[200];
    p.failed = 3;
    // 10 cells in 1000 s: 36 an hour; 50 cells are 5000 s = 1:23:20.
    hn_progress_text(&p, NULL, 1000000001000, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "30/80 cells, 3 failed, 36.0 cells/h, 1:23:20 left");
}

static void no_rate_before_the_first_cell(void) {
    struct hn_progress p = example();
    p.done = 0;
    char text[200];
    hn_progress_text(&p, "uniform", 4000001000, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "20/80 cells, uniform");
}

static void text_is_cut_to_the_buffer(void) {
    struct hn_progress p = example();
    for (size_t size = 1; size < 60; size++) {
        char text[64];
        memset(text, 'x', sizeof text);
        int length = hn_progress_text(&p, "a sampler of a long name", 4000001000, text, size);
        CU_ASSERT_EQUAL(length, (int)strlen(text));
        CU_ASSERT(strlen(text) < size);
        CU_ASSERT_EQUAL(text[size], 'x');
    }
}

enum { REWRITES = 4 };
static const int64_t tenth_ns = 100000000;

// Fast steps until the line was written REWRITES times, or a fifth of a second is over where it is
// not to be. Returns how often the line was written within a tenth of a second, or was not after
// one. Times are those of the line itself: nothing depends on how fast the machine is.
static int take_steps(struct hn_progress *p, bool shows) {
    int64_t end = hn_wall_ns() + 2 * tenth_ns;
    int writes = 0, wrong = 0;
    while (shows ? writes < REWRITES && wrong < 9 : hn_wall_ns() < end) {
        int64_t before = p->shown_ns;
        bool due = hn_wall_ns() >= before + tenth_ns;
        hn_progress_step(p, false, "kn\xc3\xa9 with a name that is too long for the line");
        bool written = p->shown_ns != before;
        wrong += shows && (written ? p->shown_ns < before + tenth_ns : due);
        writes += written;
        usleep(2000);
    }
    return wrong;
}

// Everything that fast steps write to stderr, on a terminal 40 columns wide or in a pipe.
// output[size] is ended by a zero.
static void collect(bool terminal, bool quiet, char *output, size_t size) {
    int ends[2];
    if (terminal) {
        struct winsize window = {.ws_row = 24, .ws_col = 40};
        if (openpty(&ends[0], &ends[1], NULL, NULL, &window) != 0)
            hn_test_skip("no pseudo-terminals here");
    } else
        CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", "1", 1);
        struct hn_progress p;
        hn_progress_begin(&p, 1000000, 0, quiet);
        int wrong = take_steps(&p, terminal && !quiet);
        hn_progress_clear(&p);
        _exit(wrong ? 1 : 0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < size; used += (size_t)got) {
        got = read(ends[0], output + used, size - 1 - used);
        if (got <= 0)
            break;
    }
    output[used] = '\0';
    close(ends[0]);
    int status;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void terminal_is_rewritten_at_max_ten_times_a_second(void) {
    char output[1 << 16];
    collect(true, false, output, sizeof output);
    int writes = 0, widest = 0, column = 0;
    for (const char *c = output; *c; c++) {
        if (*c == '\r') {
            writes++;
            column = 0;
        } else if (*c == '\033')
            c += 2; // "\033[K"
        else if (((unsigned char)*c & 0xC0) != 0x80)
            column++;
        widest = column > widest ? column : widest;
    }
    CU_ASSERT_EQUAL(writes, REWRITES + 1); // and the clearing at the end
    CU_ASSERT(widest <= 39);
    CU_ASSERT(widest >= 30);
    CU_ASSERT_PTR_NULL(strchr(output, '\n'));
    CU_ASSERT_PTR_NULL(strstr(output, "\033[3")); // NO_COLOR
}

static void silent_in_a_pipe_below_a_minute_and_when_quiet(void) {
    char output[1 << 12];
    collect(false, false, output, sizeof output);
    CU_ASSERT_STRING_EQUAL(output, "");
    collect(true, true, output, sizeof output);
    CU_ASSERT_STRING_EQUAL(output, "");
}

static void one_line_a_minute_in_a_pipe(void) {
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    struct hn_progress p;
    hn_progress_begin(&p, 10, 0, false);
    p.shown_ns -= 61000000000; // as if a minute had gone by
    p.begun_ns -= 61000000000;
    hn_progress_step(&p, false, "gcbs");
    hn_progress_step(&p, false, "gcbs");
    hn_progress_clear(&p);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    char output[256] = "";
    CU_ASSERT(read(ends[0], output, sizeof output - 1) > 0);
    close(ends[0]);
    CU_ASSERT_PTR_EQUAL(strstr(output, "1/10 cells, "), output);
    CU_ASSERT_PTR_EQUAL(strchr(output, '\n'), output + strlen(output) - 1);
}

// What one step writes to a terminal in these surroundings; NULL: the variable is unset.
static void write_step(const char *term, const char *no_color, bool failed, char output[256]) {
    int ends[2];
    struct winsize window = {.ws_row = 24, .ws_col = 40};
    if (openpty(&ends[0], &ends[1], NULL, NULL, &window) != 0)
        hn_test_skip("no pseudo-terminals here");
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        struct hn_progress p;
        dup2(ends[1], STDERR_FILENO);
        (void)(term ? setenv("TERM", term, 1) : unsetenv("TERM"));
        (void)(no_color ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR"));
        hn_progress_begin(&p, 2, 0, false);
        p.begun_ns += 3600000000000; // no rate
        hn_progress_step(&p, failed, "");
        fputc('.', stderr); // so that there is something to read
        _exit(0);
    }
    ssize_t n = read(ends[0], output, 255);
    output[n > 0 ? n : 0] = '\0';
    int status;
    CU_ASSERT(waitpid(child, &status, 0) == child && status == 0);
    for (ssize_t more; strchr(output, '.') == NULL; n += more) {
        more = read(ends[0], output + n, 255 - (size_t)n);
        CU_ASSERT_FATAL(more > 0);
        output[n + more] = '\0';
    }
    close(ends[1]);
    close(ends[0]);
}

static void colours_are_of_terminals_that_want_them(void) {
    static const struct {
        const char *term, *no_color;
        bool failed;
        const char *wanted;
    } cases[] = {
        {"xterm", NULL, false, "\r\033[36m1/2 cells\033[0m\033[K."},
        {"xterm", "", true, "\r\033[31m1/2 cells, 1 failed\033[0m\033[K."},
        {"xterm", "1", true, "\r1/2 cells, 1 failed\033[K."},
        {"dumb", NULL, false, "."}, // as to a file: after a minute
        {NULL, NULL, false, "."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char output[256];
        write_step(cases[i].term, cases[i].no_color, cases[i].failed, output);
        CU_ASSERT_STRING_EQUAL(output, cases[i].wanted);
    }
}

static const struct hn_test tests[] = {
    {"rate_counts_only_this_run", rate_counts_only_this_run},
    {"failures_and_long_times", failures_and_long_times},
    {"no_rate_before_the_first_cell", no_rate_before_the_first_cell},
    {"text_is_cut_to_the_buffer", text_is_cut_to_the_buffer},
    {"terminal_is_rewritten_at_most_ten_times_a_second",
     terminal_is_rewritten_at_max_ten_times_a_second},
    {"silent_in_a_pipe_below_a_minute_and_when_quiet",
     silent_in_a_pipe_below_a_minute_and_when_quiet},
    {"one_line_a_minute_in_a_pipe", one_line_a_minute_in_a_pipe},
    {"colours", colours_are_of_terminals_that_want_them},
};

HN_TEST_MAIN("progress", tests)
