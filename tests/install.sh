#!/usr/bin/env bash
# What is installed works by itself: `tests/install.sh BUILD`. Also the manual page, and the completion.
source "$(dirname "$0")/lib.sh"
build=$(realpath "$1")
begin install "$build/hardneg"
cd "$root" || exit 1
target=$work/root
share=$target/opt/hn/share
in_place() { for f in "$@"; do [ -s "$f" ] || { echo "$f is missing"; return 1; }; done; }
empty() { [ -z "$(find "$1" -type f)" ]; }

make_here() { make --no-print-directory BUILD="$build" DEPS=0 PREFIX=/opt/hn DESTDIR="$target" "$@" >"$work/out" 2>"$work/err"; }
check "make install" make_here install
check "everything is in place" in_place "$target/opt/hn/bin/hardneg" "$share/man/man1/hardneg.1" \
    "$share/bash-completion/completions/hardneg" "$share/zsh/site-functions/_hardneg" \
    "$share/hardneg/harness/jobs/smoke.yaml" "$share/hardneg/datasets/cifar10-mini.h5" \
    "$share/doc/hardneg/README.md"
smoke() {
    (cd "$work" && "$target/opt/hn/bin/hardneg" run -c "$share/hardneg/harness/jobs/smoke.yaml" \
        -o smoke --set batches=2 --set steps=[1000] --quiet && [ -s smoke/results.h5 ])
}
check "an installed job runs from another folder" smoke

page=$share/man/man1/hardneg.1 library_page=$share/man/man3/hardneg.3
if command -v groff >/dev/null; then
    no_warning() { [ -z "$(groff -man -Tutf8 -ww "$1" 2>&1 >/dev/null)" ]; }
    check "the manual page has no roff warning" no_warning "$page"
    check "that of the library has none" no_warning "$library_page"
else
    skip "manual page" "no groff"
fi
names() { "$build/hardneg" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'; }
manual_is_whole() {
    local n=0 c
    for c in $(names); do
        grep -q "^\.SS $c$" "$page" || { echo "$c is not in the manual page"; return 1; }
        n=$((n + 1))
    done
    [ $n -gt 8 ]
}
check "every command is in the manual page" manual_is_whole

# Functions and types of the header, each once, and the comment of the last one.
library_manual_is_whole() {
    local name n=0
    for name in $(sed -n 's/^[a-z].*\b\(hardneg_[a-z_]*\)(.*/\1/p; s/^\(enum\|struct\) \(hardneg_[a-z]*\) {/\2 {/p' library/hardneg.h | tr -d ' {'); do
        grep -qE "^(\\\\fB)?[a-z].*\\b$name( \\{|\\()" "$library_page" || { echo "$name is not in the manual page"; return 1; }
        n=$((n + 1))
    done
    [ $n -gt 15 ] && grep -q '^Asks the calls that other threads are in' "$library_page"
}
check "the header is in the manual page" library_manual_is_whole

complete_words() { # WORD...: what bash offers for the last of these words
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hardneg; echo "${COMPREPLY[*]}"' \
        "$share/bash-completion/completions/hardneg" "$@"
}
offers() { # EXPECTED WORD...
    local expected=$1 offered
    shift
    offered=$(complete_words "$@")
    [[ " $offered " == *" $expected "* ]] || { echo "offered: $offered"; return 1; }
}
check "completion of a command" offers validate hardneg val
check "completion of an option" offers --filter hardneg run --f
check "completion of an option's value" offers dumb hardneg plot --term d
check "completion of an argument" offers samplers hardneg list sam

check "make uninstall" make_here uninstall
check "nothing stays behind" empty "$target"

python=$(PATH=/usr/bin:$PATH command -v python3)
if [ -n "$python" ]; then
    check "links and names of files in the documentation" "$python" tests/links.py
else
    skip "links of the documentation" "no python3"
fi
finish
