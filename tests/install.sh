#!/usr/bin/env bash
# What is installed works by itself: `tests/install.sh BUILD`. Also the manual page, the completion, and the
# examples in docs/, which have to compile.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/hardneg-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "  FAILED $name: $*"
        head -n 5 "$work/log" | sed 's/^/    /'
    fi
}
skip() {
    skipped=$((skipped + 1))
    echo "    skipped: $1: $2"
}
root=$work/root
share=$root/opt/hn/share
in_place() { for f in "$@"; do [ -s "$f" ] || { echo "$f is missing"; return 1; }; done; }
empty() { [ -z "$(find "$1" -type f)" ]; }

make_here() { make --no-print-directory BUILD="$build" DEPS=0 PREFIX=/opt/hn DESTDIR="$root" "$@"; }
check "make install" make_here install
check "everything is in place" in_place "$root/opt/hn/bin/hardneg" "$share/man/man1/hardneg.1" \
    "$share/bash-completion/completions/hardneg" "$share/zsh/site-functions/_hardneg" \
    "$share/hardneg/harness/jobs/smoke.yaml" "$share/hardneg/datasets/cifar10-mini.h5" \
    "$share/doc/hardneg/README.md"
smoke() {
    (cd "$work" && "$root/opt/hn/bin/hardneg" run -c "$share/hardneg/harness/jobs/smoke.yaml" \
        -o smoke --set batches=2 --set steps=[1000] --quiet && [ -s smoke/results.h5 ])
}
check "an installed job runs from another folder" smoke

page=$share/man/man1/hardneg.1
if command -v groff >/dev/null; then
    no_warning() { [ -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)" ]; }
    check "the manual page has no roff warning" no_warning
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
check "nothing stays behind" empty "$root"

for page in docs/guide/adding-*.md; do
    awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$page" >"$work/example.c"
    check "the example of $page compiles" "${CC_EXAMPLE:-gcc}" -std=c17 -fopenmp -D_GNU_SOURCE -I. -Wall -Wextra -Wno-missing-field-initializers \
        -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Werror \
        $(pkg-config --cflags gsl hdf5) -fsyntax-only "$work/example.c"
done
python=$(PATH=/usr/bin:$PATH command -v python3)
if [ -n "$python" ]; then
    check "links and names of files in the documentation" "$python" tests/links.py
else
    skip "links of the documentation" "no python3"
fi
echo "install: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
