// SPDX-License-Identifier: GPL-3.0-or-later
// The progress line. Rate and time left count only what this run did itself: cells found finished
// take no time and would flatter both.
#include "harness/host/progress.h"
#include "core/terminal.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 512, DEFAULT_WIDTH = 80 };

static const int64_t second_ns = 1000000000;

void hn_progress_begin(struct hn_progress *p, int64_t total, int64_t skipped, bool quiet) {
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    bool dumb = !term || strcmp(term, "dumb") == 0;
    *p = (struct hn_progress){.quiet = quiet, .total = total, .skipped = skipped};
    p->terminal = !quiet && !dumb && isatty(STDERR_FILENO);
    p->color = p->terminal && !(no_color && no_color[0]);
    p->width = hn_terminal_width(STDERR_FILENO, DEFAULT_WIDTH);
    p->begun_ns = hn_wall_ns();
    // On a terminal the first line comes at once; elsewhere after the first minute.
    p->shown_ns = p->terminal ? p->begun_ns - second_ns : p->begun_ns;
}

struct hn_amount hn_clock_text(double seconds) {
    int64_t s = (int64_t)fmin(seconds + 0.5, 9e15);
    struct hn_amount clock = {""};
    if (s >= 3600)
        hn_append(clock.text, sizeof clock.text, "%" PRId64 ":%02" PRId64, s / 3600, s / 60 % 60);
    else
        hn_append(clock.text, sizeof clock.text, "%" PRId64, s / 60);
    hn_append(clock.text, sizeof clock.text, ":%02" PRId64, s % 60);
    return clock;
}

int hn_progress_text(const struct hn_progress *p, const char *what, int64_t now_ns, char *buffer,
                     size_t size) {
    int64_t ended = p->skipped + p->done;
    double elapsed = (double)(now_ns - p->begun_ns) / (double)second_ns;
    buffer[0] = '\0';
    const char *unit = p->unit ? p->unit : "cells";
    if (p->total > 0)
        hn_append(buffer, size, "%lld/%lld %s", (long long)ended, (long long)p->total, unit);
    if (p->failed > 0)
        hn_append(buffer, size, ", %lld failed", (long long)p->failed);
    if (p->done > 0 && elapsed > 0) {
        double rate = (double)p->done / elapsed;
        hn_append(buffer, size, rate >= 0.1 ? ", %.1f %s/s" : ", %.1f %s/h",
                  rate >= 0.1 ? rate : rate * 3600, unit);
        hn_append(buffer, size, ", %s left", hn_clock_text((double)(p->total - ended) / rate).text);
    }
    if (what && what[0])
        hn_append(buffer, size, "%s%s", *buffer ? ", " : "", what);
    return (int)strlen(buffer);
}

// Bytes of text that fit into `columns`, one column to a character (UTF-8), never cutting one in
// two.
static int fitting(const char *text, int columns) {
    int i = 0, shown = 0;
    for (; text[i]; i++) {
        bool starts = ((unsigned char)text[i] & 0xC0) != 0x80;
        if (starts && shown == columns)
            break;
        shown += starts;
    }
    return i;
}

static void show_on_terminal(const struct hn_progress *p, const char *text) {
    const char *begin = "", *end = "";
    if (p->color) {
        begin = p->failed > 0 ? "\033[31m" : "\033[36m";
        end = "\033[0m";
    }
    // One column stays free: some terminals wrap as soon as the last one is written.
    fprintf(stderr, "\r%s%.*s%s\033[K", begin, fitting(text, p->width - 1), text, end);
    fflush(stderr);
}

void hn_progress_show(struct hn_progress *p, const char *what) {
    int64_t now = hn_wall_ns();
    int64_t pause = p->terminal ? second_ns / 10 : 60 * second_ns;
    if (p->quiet || now - p->shown_ns < pause)
        return;
    char text[LINE_MAX_BYTES];
    hn_progress_text(p, what, now, text, sizeof text);
    if (p->terminal) {
        p->width = hn_terminal_width(STDERR_FILENO, DEFAULT_WIDTH);
        show_on_terminal(p, text);
    } else
        fprintf(stderr, "%s\n", text);
    p->shown_ns = now;
}

void hn_progress_step(struct hn_progress *p, bool failed, const char *what) {
    p->done++;
    p->failed += failed;
    hn_progress_show(p, what);
}

void hn_progress_clear(struct hn_progress *p) {
    if (p->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
