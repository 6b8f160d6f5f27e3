// A comparison as Markdown, for the summary of a CI job. Nothing that a file holds is markup in it.
#include "results/compare_private.h"

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    (void)ctx;
    static const char *const mark[] = {"&#9989;", "&#10060;", "&#9888;&#65039;", "&#9888;&#65039;"};
    json_t *rows = hn_compare_rows(c);
    fprintf(out, "### %s hardneg compare\n\n%s%s", mark[c->end], c->said_first,
            *c->said_first ? "\n" : "");
    hn_print(out, hn_markdown_put, "%s\n\n", c->verdict);
    if (json_array_size(rows) > 0)
        hn_records_markdown(hn_compare_columns, rows, out);
    json_decref(rows);
    if (c->end == HN_COMPARE_ALLOWED)
        return HN_OK;
    fprintf(out, "\n%s without a difference.", hn_counted(hn_compare_same(c), "column").text);
    if (c->comparable)
        fprintf(out, " Noise of the host: %.1f %%.\n", 100 * c->floor);
    else
        hn_print(out, hn_markdown_put, " Times are not gated: %s.\n", c->why_not);
    if (c->only_base + c->only_now > 0) {
        fputc('\n', out);
        hn_compare_print_missing(c, hn_markdown_put, out);
    }
    return HN_OK;
}

const struct hn_compare_format hn_compare_markdown = {
    .name = "markdown",
    .adds = true,
    .print = print,
};
