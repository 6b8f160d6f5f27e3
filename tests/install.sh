#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed works by itself: `tests/install.sh BUILD`. Also the manual page, and the completion.
source "$(dirname "$0")/lib.sh"
build=$(realpath "$1")
begin install "$build/hardneg"
cd "$root" || exit 1
target=$work/root
share=$target/opt/hn/share
in_place() { for f in "$@"; do [ -s "$f" ] || { echo "$f is missing"; return 1; }; done; }
empty() { [ -z "$(find "$1" -type f)" ]; }

make_here() { make --no-print-directory BUILD="$build" DEPS=0 DESTDIR="$target" "$@" >"$work/out" 2>"$work/err"; }
check "make install" make_here PREFIX=/opt/hn install
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
examples_are_there() {
    local job n=0
    for job in $(grep -o '[^ ]*/harness/jobs/[^ ]*' "$page" | sed 's/\\//g'); do
        [ -s "$target$job" ] || { echo "$job is not installed"; return 1; }
        n=$((n + 1))
    done
    [ $n -gt 2 ] && ! grep -q ' harness/jobs/' "$page"
}
check "jobs of its examples are installed where it says" examples_are_there

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

check "make uninstall" make_here PREFIX=/opt/hn uninstall
check "nothing stays behind" empty "$target"

# Folders as GNU spells them, one with a blank; what others have beside it stays.
odd="/opt/my tools"
folders=(prefix="$odd" libdir="$odd/lib/x86" mandir="$odd/man" docdir="$odd/doc")
mkdir -p "$target/opt" "$target$odd/share/hardneg/mine" "$target$odd/doc/docs"
touch "$target/opt/my" "$target$odd/share/hardneg/mine/data.h5" "$target$odd/doc/other" "$target$odd/doc/docs/other"
check "make install: a blank in prefix" make_here "${folders[@]}" install
check "everything is in its folder" in_place "$target$odd/bin/hardneg" "$target$odd/lib/x86/libhardneg.so.1" "$target$odd/include/hardneg.h" \
    "$target$odd/man/man1/hardneg.1" "$target$odd/man/man3/hardneg.3" "$target$odd/doc/docs/guide/building.md" "$target$odd/share/hardneg/plots/theme.gp"
if command -v pkg-config >/dev/null; then
    flags() { PKG_CONFIG_PATH="$target$odd/lib/x86/pkgconfig" pkg-config --cflags --libs hardneg | grep -qF -- '-I/opt/my\ tools/include -L/opt/my\ tools/lib/x86 -lhardneg'; }
    check "pkg-config tells them" flags
else
    skip "pkg-config of what is installed" "no pkg-config"
fi
check "make uninstall: a blank in prefix" make_here "${folders[@]}" uninstall
check "others' files stay, and they alone" test "$(cd "$target" && find . -type f | sort | tr '\n' ' ')" = \
    "./opt/my ./opt/my tools/doc/docs/other ./opt/my tools/doc/other ./opt/my tools/share/hardneg/mine/data.h5 "

# What make says: nothing is built.
link_of() { make -n V=1 DEPS=0 BUILD="$work/none" "$@" "$work/none/hardneg" 2>/dev/null | grep -- '-o [^ ]*/hardneg '; }
with_path() { link_of | grep -q -- '-rpath'; }
if [ -d "/usr/lib/$(gcc -print-multiarch 2>/dev/null)/openblas-openmp" ]; then
    check "a run path to OpenBLAS" with_path
else
    skip "a run path to OpenBLAS" "no folder of its own for the OpenMP build"
fi
without_path() { link_of RPATH=0 >"$work/out" && ! grep -q -- '-rpath' "$work/out"; }
check "RPATH=0: none" without_path
archiver() { make -n V=1 DEPS=0 BUILD="$work/none" AR=other-ar 2>/dev/null | grep -q '&& other-ar qcs'; }
check "AR is asked for" archiver
stops() {
    ! make DEPS=0 BUILD="$work/none" PKG_CONFIG=false >"$work/out" 2>"$work/err" && ! grep -q '^  CC' "$work/out" &&
        grep -q 'Missing: gsl openblas hdf5 .*[.]/deps.sh build' "$work/err"
}
check "make without libraries stops at once and says which" stops
asks() { # as a user without sudo, of a package that is not there
    mkdir -p "$work/deps" && cp deps.sh "$work/deps/" && echo 'no-such-package  build  nothing' >"$work/deps/packages.txt" && chmod -R a+rX "$work" &&
        ! env -i PATH="$work/bin:/usr/bin:/bin" setpriv --reuid=65534 --clear-groups "$work/deps/deps.sh" build >"$work/out" 2>"$work/err" &&
        head -n 1 "$work/err" | grep -q '^Missing, and this is not root' && grep -q 'administrator for: apt-get install no-such-package' "$work/err"
}
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || ! command -v dpkg-query >/dev/null || [ -x /usr/bin/sudo ]; then
    skip "deps.sh without sudo" "needs root, setpriv and dpkg, and no sudo"
else
    check "deps.sh without sudo says first what is missing" asks
fi

# The name of a program is that of its sources, wherever they lie; the commit is that of its own repository.
if command -v git >/dev/null && git rev-parse --verify -q HEAD >/dev/null 2>&1; then
    tree=$work/outer/third
    mkdir -p "$tree" "$work/other place"
    git ls-files -co --exclude-standard -z -- $(sed -n 's/^folders := //p' Makefile) .git_archival.txt tests/modules.txt | tar --null -T - -c | tee >(tar -x -C "$tree") | tar -x -C "$work/other place"
    (cd "$work/outer" && git init -q && echo third/ >.gitignore && git add .gitignore && git -c user.name=x -c user.email=x@example.org commit -qm outer)
    info() { (cd "$1" && make -s DEPS=0 BUILD=built built/include/build_info.h >/dev/null && sed -n "s/#define HN_BUILD_$2 \"\(.*\)\"/\1/p" built/include/build_info.h); } # FOLDER WHAT
    check "below another project's repository the commit is unknown" test "$(info "$tree" COMMIT)" = unknown
    check "and so is whether it has changes" test "$(info "$tree" DIRTY)" = nan
    check "the sources are the same in every folder" test "$(info "$tree" SOURCES)" = "$(info "$work/other place" SOURCES)"
    own=$(make -s DEPS=0 BUILD="$work/own" "$work/own/include/build_info.h" >/dev/null && sed -n 's/#define HN_BUILD_SOURCES "\(.*\)"/\1/p' "$work/own/include/build_info.h")
    check "and here" test "$(info "$tree" SOURCES)" = "$own"
    echo "node: $(printf '%040d' 7)" >"$tree/.git_archival.txt"
    check "an archive says its commit" test "$(info "$tree" COMMIT)" = "$(printf '%040d' 7)"
    check "git writes it there" test "$(git check-attr export-subst .git_archival.txt)" = '.git_archival.txt: export-subst: set'
    objects=(built/obj/core/context.o built/obj/core/digest.o built/obj/datasets/h5.o)
    same_bytes() {
        (cd "$tree" && make -s DEPS=0 BUILD=built "${objects[@]}") && (cd "$work/other place" && make -s DEPS=0 BUILD=built "${objects[@]}") || return 1
        for o in "${objects[@]}"; do cmp "$tree/$o" "$work/other place/$o" || return 1; done
    }
    check "two folders, the same bytes" same_bytes
    echo '// changed' >>"$tree/core/context.c"
    check "other sources are another program" test "$(info "$tree" SOURCES)" != "$own"
    maps() { (cd "$tree" && make -s DEPS=0 BUILD=built CFLAGS="-O1 -ffile-prefix-map=$tree=." built/include/build_info.h >/dev/null && ! grep -q prefix-map built/include/build_info.h); }
    check "prefix maps are not recorded" maps
else
    skip "the name of a program" "no git, or no repository"
fi

python=$(PATH=/usr/bin:$PATH command -v python3)
if [ -n "$python" ]; then
    check "links and names of files in the documentation" "$python" tests/links.py
else
    skip "links of the documentation" "no python3"
fi
finish
