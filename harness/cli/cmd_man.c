// `hardneg man`: the manual page, made from the tables that the program itself reads.
#include "harness/cli/command.h"
#include "harness/host/host.h"

// Text for roff: a backslash, a hyphen and a line that begins with a dot or a quote mean
// themselves.
static void put_text(const char *text) {
    bool line_start = true;
    for (; *text; text++) {
        char c = *text;
        if (line_start && (c == '.' || c == '\''))
            fputs("\\&", stdout);
        if (c == '\\')
            fputs("\\e", stdout);
        else if (c == '-')
            fputs("\\-", stdout);
        else
            putchar(c);
        line_start = c == '\n';
    }
}

static void put_option(const struct hn_option *o) {
    char summary[1024];
    hn_option_summary(o, summary, sizeof summary);
    puts(".TP");
    fputs(".B ", stdout);
    if (o->letter)
        printf("\\-%c, ", o->letter);
    fputs("\\-\\-", stdout);
    put_text(o->name);
    if (o->kind != HN_OPTION_BOOL)
        printf(" \\fI%s\\fR", o->metavar ? o->metavar : "VALUE");
    putchar('\n');
    put_text(summary);
    putchar('\n');
}

static void put_usage(const char *usage) {
    puts(".nf\n.B");
    put_text(usage);
    puts("\n.fi");
}

static void put_command(const struct hn_command *command) {
    printf(".SS %s\n", command->name);
    put_text(command->summary);
    puts("\n.PP");
    put_usage(command->usage);
    puts(".PP");
    put_text(command->details);
    puts("");
    if (command->examples) {
        puts(".IP\n.nf");
        put_text(command->examples);
        puts("\n.fi");
    }
    for (const struct hn_option *o = command->options; o->name; o++)
        put_option(o);
}

static void put_common(void) {
    const struct hn_command none = {.options = hn_no_options, .json = true};
    struct hn_option table[HN_COMMAND_OPTIONS];
    hn_command_options(&none, 0, table);
    puts(".SH OPTIONS OF EVERY COMMAND");
    for (const struct hn_option *o = table; o->name; o++)
        put_option(o);
}

static void put_exits(void) {
    puts(".SH EXIT STATUS");
    for (const struct hn_exit *e = hn_exits; e->meaning; e++) {
        printf(".TP\n.B %d\n", e->code);
        put_text(e->meaning);
        putchar('\n');
    }
}

static void put_environment(void) {
    static const struct {
        const char *name, *meaning;
    } variables[] = {
        {"OPENBLAS_CORETYPE", "kernel of the matrix products; unset, the program chooses by itself "
                              "where OpenBLAS would take a slow one"},
        {"HN_SCREEN", "off: compute every product of a sweep, without a screen of rounded ones; or "
                      "the name of its kernel; the results are the same"},
        {"OMP_NUM_THREADS", "threads, unless --threads says"},
        {"NO_COLOR", "no colour on a terminal"},
        {"TMPDIR", "folder for temporary files, /tmp unless set"},
    };
    puts(".SH ENVIRONMENT");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        printf(".TP\n.B %s\n", variables[i].name);
        put_text(variables[i].meaning);
        putchar('\n');
    }
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    (void)ctx, (void)call;
    printf(".TH HARDNEG 1 \"\" \"hardneg %s\" \"User Commands\"\n", hn_version);
    puts(".SH NAME\nhardneg \\- a yardstick for mini\\-batch and negative samplers in contrastive "
         "learning");
    puts(".SH SYNOPSIS\n.B hardneg\n.I COMMAND\n.RI [ OPTIONS ]");
    puts(".SH DESCRIPTION\nRuns samplers of mini\\-batches and negatives on labelled embedding "
         "snapshots, and\nsays how hard the batches are, how many false negatives they hold, how "
         "much of the data\nthey cover and what they cost. Data go to standard output, everything "
         "else to standard error.");
    puts(".SH COMMANDS");
    for (const struct hn_command *const *c = hn_commands; *c; c++)
        put_command(*c);
    put_common();
    put_exits();
    put_environment();
    puts(".SH SEE ALSO\n.BR gnuplot (1),\n.BR h5dump (1)");
    return HN_OK;
}

const struct hn_command hn_cmd_man = {
    .name = "man",
    .usage = "hardneg man",
    .summary = "print the manual page, in roff",
    .details = "`make install` puts it in place.",
    .examples = "hardneg man | man -l -",
    .options = hn_no_options,
    .run = run,
};
