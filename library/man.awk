# The manual page of the library, in roff, from its header and its example: awk -v version=V -f library/man.awk
# library/hardneg.h library/example/example.c. The comment before the first line of code is the description; a
# comment before a type or before functions explains those that follow it up to the next empty line.
function code(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}
function prose(text) {
    gsub(/\\/, "\\e", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}
function begin_example() { return ".PP\n.EX\n" }
function end_functions() {
    if (signatures != "")
        functions = functions begin_example() signatures ".EE\n" (note == "" ? "" : ".RS\n" note ".RE\n")
    note = signatures = ""
}
BEGIN {
    quote = "\""
    printf ".TH HARDNEG 3 %s%s %shardneg %s%s %sLibrary Functions Manual%s\n", quote, quote, quote, version, quote, quote, quote
    print ".SH NAME\nhardneg \\- mini\\-batches and negatives for contrastive learning"
    print ".SH SYNOPSIS\n.nf\n.B #include <hardneg.h>\n.PP\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs hardneg)\n.fi"
}
FILENAME !~ /\.h$/ {
    example = example code($0) "\n"
    next
}
/^#|^extern "C"|^}$/ { next }
/^\/\/ / && !part {
    if (signatures != "")
        end_functions()
    note = note prose(substr($0, 4)) "\n"
    next
}
/^$/ && !part {
    if (!described && note != "") {
        described = 1
        printf ".SH DESCRIPTION\n%s", note
        note = ""
    }
    end_functions()
    next
}
/^(enum|struct|typedef)/ { part = "type" }
/\(/ && !part { part = "function" }
part {
    lines = lines (part == "function" ? "\\fB" code($0) "\\fR" : code($0)) "\n"
}
part == "type" && /^};|^typedef.*;/ {
    types = types (note == "" ? "" : ".PP\n" note) begin_example() lines ".EE\n"
    part = lines = note = ""
}
part == "function" && /;/ {
    signatures = signatures lines
    part = lines = ""
}
END {
    printf ".SH FUNCTIONS\n%s.SH TYPES\n%s.SH EXAMPLE\n.EX\n%s.EE\n", functions, types, example
    print ".SH SEE ALSO\n.BR hardneg (1)"
}
