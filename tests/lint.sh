#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make lint` checks besides compiling without warnings: the rules of the design that a program can
# check, formatting, clang-tidy and cppcheck. CPPFLAGS comes from the Makefile.
set -u
cd "$(dirname "$0")/.." || exit 1
mapfile -t sources < <(git ls-files '*.c')
mapfile -t headers < <(git ls-files '*.h')
mapfile -t program < <(git ls-files '*.c' ':!tests' ':!library/example')
findings=0
complain() {
    echo "$*"
    findings=$((findings + 1))
}

# What may include what, sizes, circles: tests/modules.txt.
tests/modules.py || complain "modules: see above"

# Links of the documentation, and the files that it and the sources name.
report=$(tests/links.py) || complain "$report"

# Commands of the documentation, as a reader types them in a clone.
report=$(tests/shell_lines.py) || complain "$report"

# Phrases and names that are not to come back: tests/words.txt.
report=$(tests/words.py) || complain "$report"

# Names at the root are those that CONTRIBUTING.md lists; a file without contents is a slip (py.typed is a mark).
while IFS= read -r name; do
    grep -qF -e "\`$name\`" -e "\`$name/\`" CONTRIBUTING.md || complain "$name: not listed in CONTRIBUTING.md (Where things are)"
done < <(git ls-files | cut -d/ -f1 | sort -u)
while IFS= read -r file; do
    [ -s "$file" ] || complain "$file: is empty"
done < <(git ls-files ':!*/py.typed')

# Sources name their licence, as REUSE has it.
while IFS= read -r file; do
    complain "$file: lacks the line SPDX-License-Identifier: GPL-3.0-or-later at its top"
done < <(git ls-files '*.[ch]' '*.sh' '*.py' | xargs grep -L -m 1 '^[/#]*[/#] SPDX-License-Identifier: GPL-3.0-or-later$')

# Types of the Python module, as those who use it check theirs.
report=$(mypy --strict --no-error-summary --cache-dir=/dev/null python/hardneg 2>&1) || complain "$report"

# Threads are counted by who asks for them, never by the environment.
while IFS= read -r place; do
    complain "$place: a parallel region without num_threads"
done < <(grep -nE '#pragma omp parallel' "${sources[@]}" | grep -v num_threads | cut -d: -f1,2)

# Clang 14 exports what chooses between the clones of a function (core/clones.h).
while IFS= read -r name; do
    complain "$name: two functions with clones have this name"
done < <(grep -hA2 '^HN_CLONES' "${program[@]}" | grep -oE '^static [^(]*\(' | grep -oE '[a-z_0-9]+\(' | sort | uniq -d)

for file in "${sources[@]}" "${headers[@]}"; do
    clang-format --dry-run -Werror "$file" 2>/dev/null || complain "$file: not as clang-format writes it"
done

read -r -a flags <<<"-std=c17 -fopenmp ${CPPFLAGS:--I. -D_GNU_SOURCE}"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
export log
# The tests are left to the compilers and the sanitizers.
tidy() {
    local file=$1
    shift
    clang-tidy --quiet "$file" -- "$@" >"$log/${file//\//_}" 2>/dev/null || {
        grep -E ' (error|warning): ' "$log/${file//\//_}"
        : >"$log/failed.${file//\//_}"
    }
}
export -f tidy
printf '%s\0' "${program[@]}" |
    xargs -0 -P "$(nproc)" -I '{}' bash -c 'tidy "$@"' tidy '{}' "${flags[@]}"
for file in "$log"/failed.*; do [ ! -e "$file" ] || complain "clang-tidy: ${file##*/failed.}"; done

cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=uninitvar --suppress=invalidPointerCast \
    --suppress=arrayIndexThenCheck --error-exitcode=1 -j "$(nproc)" -I. -D_GNU_SOURCE \
    -DHN_PRINTF\(a,b\)= --library=posix "${program[@]}" || complain "cppcheck: see above"

[ "$findings" = 0 ] && echo "lint: clean" || echo "lint: $findings findings"
[ "$findings" = 0 ]
