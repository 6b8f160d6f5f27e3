// Draws figures: data and script into files, then gnuplot, started without a shell. Everything is
// made in a scratch folder inside the output folder and renamed, so that no half-drawn figure is
// left.
#include "core/files.h"
#include "plots/page/curves.h"
#include "plots/page/distributions.h"
#include "plots/page/page_private.h"
#include "plots/page/training_curves.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STYLE_MAX = 1 << 20, DOTS_PER_INCH = 200, SVG_PER_INCH = 96, COMPLAINT_MAX = 600 };

struct drawing {
    struct hn_context *ctx;
    const struct hn_figure *figure;
    const struct hn_results *results;
    const char *dir, *term;
    char *scratch; // folder
    char *style;   // text, NULL = none
    struct hn_page *page;
    struct hn_figure_size size;
};

int hn_utf8_length(const unsigned char *s) {
    int n = s[0] < 0x80                    ? 1
            : s[0] >= 0xC2 && s[0] <= 0xDF ? 2
            : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
            : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                           : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0U) != 0x80U)
            return 0;
    return n;
}

// Letters and digits are written as they are. Other ASCII characters become octal escapes, which
// gnuplot resolves after it has looked for backticks and macros; those that mean something in
// enhanced text get a backslash, which itself is escaped.
void hn_gp_string(FILE *gp, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', gp);
    while (*s) {
        int n = hn_utf8_length(s);
        bool plain =
            (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (n == 0)
            fputc('?', gp);
        else if (n > 1 || plain)
            fwrite(s, 1, (size_t)n, gp);
        else if (*s < ' ' || *s == 0x7F)
            fputc(' ', gp);
        else if (strchr("{}^_@&~\\", *s))
            fprintf(gp, "\\134\\%03o", *s);
        else
            fprintf(gp, strchr(" .,:;=()+-/<>", *s) ? "%c" : "\\%03o", *s);
        s += n > 0 ? n : 1;
    }
    fputc('"', gp);
}

void hn_tsv_text(FILE *tsv, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        fputc(*s < ' ' || *s == 0x7F ? ' ' : *s, tsv);
}

void hn_tsv_real(FILE *tsv, double value) {
    if (isnan(value))
        fputs("\tNaN", tsv);
    else
        fprintf(tsv, "\t%.9g", value);
}

static enum hn_code check_columns(const struct drawing *d) {
    const struct hn_figure *f = d->figure;
    const struct hn_table *other = f->or_table ? hn_results_table(d->results, f->or_table) : NULL;
    bool instead = other && other->rows > 0;
    const char *id = f->id, *name = instead ? f->or_table : f->table ? f->table : "runs";
    const struct hn_table *table = hn_results_table(d->results, name);
    bool trained = strcmp(name, "training") == 0;
    const char *below =
        trained || strcmp(name, "runs") == 0 || strcmp(name, "snapshots") == 0 ? "" : "tables/";
    const char *remedy = trained  ? "`hardneg train` writes it"
                         : *below ? "ask for it in the job (metrics)"
                                  : "run the job again with metrics: all";
    if (!table)
        return hn_fail(d->ctx, HN_DATA, "figure %s needs /%s%s, which the results lack: %s", id,
                       below, name, remedy);
    for (const char *const *column = instead ? f->or_columns : f->columns; *column; column++)
        if (hn_table_find(table, *column) < 0)
            return hn_fail(d->ctx, HN_DATA,
                           "figure %s needs column %s of /%s%s, which the results lack: %s", id,
                           *column, below, name, remedy);
    if (d->figure->needs_histogram && d->results->kinds == 0)
        return hn_fail(
            d->ctx, HN_DATA,
            "figure %s needs /hist/counts, which the results lack: run the job again with "
            "metrics: all",
            id);
    return HN_OK;
}

static bool known_term(const char *term) {
    return strcmp(term, "svg") == 0 || strcmp(term, "pdf") == 0 || strcmp(term, "png") == 0 ||
           strcmp(term, "dumb") == 0;
}

static enum hn_code read_style(struct drawing *d, const char *path) {
    FILE *f = fopen(path, "r");
    if (!f)
        return hn_fail(d->ctx, HN_USAGE, "style %s cannot be read: %s", path, strerror(errno));
    d->style = hn_alloc(d->ctx, STYLE_MAX + 1, 1);
    size_t n = d->style ? fread(d->style, 1, STYLE_MAX, f) : 0;
    bool bad = ferror(f) || n == STYLE_MAX;
    fclose(f);
    if (!d->style)
        return d->ctx->code;
    d->style[n] = '\0';
    return bad || strlen(d->style) != n
               ? hn_fail(d->ctx, HN_USAGE, "style %s is no file of gnuplot commands", path)
               : HN_OK;
}

static int text_width(void) {
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col - 1;
    return 79;
}

static void write_terminal(const struct drawing *d, FILE *gp) {
    double w = d->size.width, h = d->size.height;
    if (strcmp(d->term, "dumb") == 0)
        fprintf(gp, "set terminal dumb size %d,%d enhanced mono\nhn_dumb = 1\n", text_width(),
                d->size.lines);
    else if (strcmp(d->term, "pdf") == 0)
        fprintf(gp,
                "set terminal pdfcairo enhanced color size %.3fin,%.3fin font 'Arial,8' "
                "fontscale 0.75 linewidth 1.6 pointscale 0.75\n",
                w, h);
    else if (strcmp(d->term, "png") == 0)
        fprintf(gp,
                "set terminal pngcairo enhanced color size %.0f,%.0f font 'Arial,8' "
                "fontscale %.4f linewidth 2.2 pointscale 2 background '#FFFFFF'\n",
                w * DOTS_PER_INCH, h * DOTS_PER_INCH, DOTS_PER_INCH / 96.0);
    else
        fprintf(gp,
                "set terminal svg enhanced size %.0f,%.0f font 'Arial,10.5' linewidth 1 "
                "background '#FFFFFF'\n",
                w * SVG_PER_INCH, h * SVG_PER_INCH);
    if (strcmp(d->term, "dumb") != 0)
        fprintf(gp, "set output '%s.%s'\nhn_dumb = 0\n", d->figure->id, d->term);
}

static void write_script(const struct drawing *d, FILE *gp) {
    const struct hn_figure *f = d->figure;
    char tsv[128];
    snprintf(tsv, sizeof tsv, "%s.tsv", f->id);
    fprintf(
        gp,
        "# %s: %s\n# %s\n# After %s.\n# `gnuplot %s.gp` in this folder draws it again.\nreset\n",
        f->id, f->title, f->caption, f->source, f->id);
    write_terminal(d, gp);
    fputs(hn_theme, gp);
    if (d->style)
        fprintf(gp, "\n# Style of the user.\n%s\n", d->style);
    fputc('\n', gp);
    hn_page_write_script(d->page, tsv, gp);
    fputs("set output\n", gp);
}

static void write_data(const struct drawing *d, FILE *tsv) {
    const struct hn_figure *f = d->figure;
    fprintf(tsv, "# %s: %s\n# %s\n# After %s.\n", f->id, f->title, f->caption, f->source);
    hn_page_write_data(d->page, tsv);
}

static enum hn_code build_page(struct drawing *d) {
    hn_page_begin(d->ctx, d->page);
    const struct hn_figure *f = d->figure;
    enum hn_code code = f->sweep      ? hn_draw_sweep(d->page, d->results, f->sweep)
                        : f->training ? hn_draw_training(d->page, d->results, f->training)
                        : f->distributions
                            ? hn_draw_distributions(d->page, d->results, f->distributions)
                            : f->page(d->results, d->page);
    if (code == HN_OK)
        hn_page_size(d->page, &d->size);
    if (code == HN_OK && *d->page->note)
        hn_note(d->ctx, "figure %s: %s", d->figure->id, d->page->note);
    return code;
}

static char *join(struct hn_context *ctx, const char *folder, const char *id, const char *end) {
    return hn_format(ctx, "%s/%s.%s", folder, id, end);
}

// Opens <scratch>/<id>.<end> for writing, fills it with the numbers or the script.
static enum hn_code write_file(struct drawing *d, const char *end, bool script) {
    char *path = join(d->ctx, d->scratch, d->figure->id, end);
    if (!path)
        return d->ctx->code;
    FILE *f = fopen(path, "w");
    if (!f)
        return hn_fail(d->ctx, HN_IO, "%s: cannot be written: %s", path, strerror(errno));
    (script ? write_script : write_data)(d, f);
    bool bad = ferror(f) != 0;
    return fclose(f) != 0 || bad
               ? hn_fail(d->ctx, HN_IO, "%s/%s.%s: writing failed: is the disk full?", d->dir,
                         d->figure->id, end)
               : HN_OK;
}

// Variables that change gnuplot's defaults.
static bool is_foreign(const char *variable) {
    static const char *const names[] = {"GNUTERM=", "GNUPLOT_", "LANG=", "LC_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

// The environment without them, and with a locale of UTF-8: in the plain C locale gnuplot warns
// about it.
static char **clean_environment(struct hn_context *ctx) {
    static char locale[] = "LC_ALL=C.UTF-8";
    int64_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **clean = hn_alloc(ctx, n + 2, sizeof *clean);
    if (!clean)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        if (!is_foreign(environ[i]))
            clean[kept++] = environ[i];
    clean[kept++] = locale;
    clean[kept] = NULL;
    return clean;
}

// Starts gnuplot in the scratch folder and waits for it; its complaints go into file `errors`
// there. Returns 0 or errno for "could not be started", and the wait status.
static int run_gnuplot(const struct drawing *d, char **environment, const char *errors,
                       int *status) {
    char script[128];
    snprintf(script, sizeof script, "%s.gp", d->figure->id);
    char *argv[] = {"gnuplot", "-d", script, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    pid_t child;
    failed = posix_spawn_file_actions_addchdir_np(&actions, d->scratch);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout); // what gnuplot prints follows what has been printed
    if (!failed)
        failed = posix_spawnp(&child, "gnuplot", &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return failed;
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

// The first lines that gnuplot complained with, in one; what fontconfig says about its cache is no
// complaint about the figure.
static void read_complaint(const char *path, char *text, size_t size) {
    char line[256];
    size_t used = 0;
    text[0] = '\0';
    FILE *f = fopen(path, "r");
    while (f && used + 1 < size && fgets(line, sizeof line, f)) {
        char *start = line + strspn(line, " \t^\n");
        start[strcspn(start, "\n")] = '\0';
        if (*start && strncmp(start, "Fontconfig ", 11) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "", start);
    }
    if (f)
        fclose(f);
}

static enum hn_code draw(const struct drawing *d) {
    const char *id = d->figure->id;
    char complaint[COMPLAINT_MAX];
    int status = 0;
    char *errors = hn_format(d->ctx, "%s/stderr", d->scratch);
    char **environment = errors ? clean_environment(d->ctx) : NULL;
    if (!environment)
        return d->ctx->code;
    int failed = run_gnuplot(d, environment, "stderr", &status);
    read_complaint(errors, complaint, sizeof complaint);
    if (failed)
        return hn_fail(d->ctx, HN_GNUPLOT,
                       "gnuplot cannot be started (%s): install it (gnuplot-nox); the script "
                       "%s.gp and its data are in %s",
                       strerror(failed), id, d->dir);
    if (status != 0 || complaint[0])
        return hn_fail(d->ctx, HN_GNUPLOT, "gnuplot failed on %s/%s.gp: %s", d->dir, id,
                       complaint[0] ? complaint : "it ended with an error");
    return HN_OK;
}

// Renames <id>.<end> from the scratch folder to its place; false if there is none or it fails.
static bool publish(const struct drawing *d, const char *end) {
    char *from = join(d->ctx, d->scratch, d->figure->id, end);
    char *to = from ? join(d->ctx, d->dir, d->figure->id, end) : NULL;
    return to && rename(from, to) == 0;
}

static enum hn_code draw_in_scratch(struct drawing *d) {
    bool picture = strcmp(d->term, "dumb") != 0;
    if (write_file(d, "tsv", false) || write_file(d, "gp", true))
        return d->ctx->code;
    enum hn_code code = draw(d);
    if (code != HN_OK && code != HN_GNUPLOT)
        return code;
    if (publish(d, "tsv") && publish(d, "gp") && (code || !picture || publish(d, d->term)))
        return code;
    return hn_fail(d->ctx, HN_IO, "%s/%s.%s: cannot be written: %s", d->dir, d->figure->id, d->term,
                   strerror(errno));
}

static enum hn_code draw_figure(struct drawing *d, const char *style) {
    if ((style && read_style(d, style)) || build_page(d))
        return d->ctx->code;
    char *name = hn_format(d->ctx, "%s/.drawing", d->dir);
    if (!name)
        return d->ctx->code;
    hn_temporary_sweep_for(name);
    d->scratch = hn_temporary_folder(d->ctx, name);
    if (!d->scratch)
        return d->ctx->code;
    enum hn_code code = draw_in_scratch(d);
    hn_scratch_remove(d->ctx, d->scratch);
    return code;
}

enum hn_code hn_figure_draw(struct hn_context *ctx, const struct hn_figure *figure,
                            const struct hn_results *r, const char *dir, const char *term,
                            const char *style) {
    struct drawing d = {.ctx = ctx, .figure = figure, .results = r, .dir = dir, .term = term};
    if (!known_term(term))
        return hn_fail(ctx, HN_USAGE, "figures come as svg, pdf, png or dumb, not as %s", term);
    enum hn_code code = check_columns(&d);
    d.page = code ? NULL : hn_alloc(ctx, 1, sizeof *d.page);
    if (!d.page)
        return code ? code : ctx->code;
    void *outer = hn_own(ctx, d.page);
    code = draw_figure(&d, style);
    hn_own(ctx, outer);
    hn_free(ctx, d.page);
    return code;
}
