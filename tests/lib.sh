# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the tests of the command line share: sourced by them, then `begin SUITE PROGRAM`. Tests run in a
# folder of their own, $work, which is removed at the end; `finish` prints the totals that tests/run.sh adds up.
#
# The last command that `run` or `expect` started: its status $rc, and the files out and err. Patterns are
# extended regular expressions; @KEY in one stands for the wording of that name in tests/messages.txt.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/.." && pwd)
passed=0 failed=0 skipped=0 rc=0
python=/usr/bin/python3
"$python" -c 'import h5py, numpy' 2>/dev/null || python=
export OMP_WAIT_POLICY=passive
# In CI the program makes results of other programs anew: the tests of that set it.
unset CI

begin() { # SUITE [PROGRAM]
    suite=$1
    [ -z "${2:-}" ] || hardneg=$(realpath "$2")
    work=$(mktemp -d "${TMPDIR:-/tmp}/hardneg-$suite-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
    : >out
    : >err
}
finish() {
    echo "$suite: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
# The functions named test_*, in order; with a word, those whose name contains it and those marked as needed.
run_tests() { # WORD NEEDED TEST...
    local word=$1 needed=$2 t
    shift 2
    for t in $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p'); do
        [[ " $* " == *" $t "* ]] || fail "$t" "is in no list of tests that run"
    done
    for t in "$@"; do
        if [ -z "$word" ] || [[ $t == *$word* || " $needed " == *" $t "* ]]; then $t; fi
    done
}

pass() { passed=$((passed + 1)); }
fail() { # NAME WHY
    failed=$((failed + 1))
    echo "  FAILED $1: $2"
    tail -n 6 "$work/out" "$work/err" 2>/dev/null | cut -c 1-300 | sed 's/^/    /'
}
skip() { # NAME WHY
    skipped=$((skipped + 1))
    echo "    skipped: $1: $2"
}
check() { # NAME CONDITION...: passes if the condition holds
    local name=$1
    shift
    if "$@"; then pass; else fail "$name" "not so: $*"; fi
}
with_python() { # NAME: whether there is one with h5py; counts what is left out as skipped
    [ -n "$python" ] || { skip "$1" "no python3-h5py"; return 1; }
}
pycheck() { # NAME STATEMENTS [ARGUMENT...]: a check in Python
    local name=$1 statements=$2
    shift 2
    with_python "$name" || return 0
    check "$name" "$python" -c "$statements" "$@" 2>"$work/err"
}

run() { # ARGUMENT...
    timeout -k 5 "${LIMIT:-300}" "$hardneg" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}
in_words() { # PATTERN: with @KEY replaced
    local pattern=$1 wording
    while [[ $pattern =~ @([a-z-]+) ]]; do
        wording=$(sed -n "s/^${BASH_REMATCH[1]}: *//p" "$here/messages.txt")
        [ -n "$wording" ] || { echo "no wording ${BASH_REMATCH[1]} in tests/messages.txt" >&2; return 1; }
        pattern=${pattern/"${BASH_REMATCH[0]}"/"$wording"}
    done
    printf '%s' "$pattern"
}
says() { grep -qE -- "$(in_words "$1")" "$work/out"; }      # PATTERN: on standard output
complains() { grep -qE -- "$(in_words "$1")" "$work/err"; } # PATTERN: among the messages
silent() { [ ! -s "$work/err" ]; }
# A message is a sentence for people: no error stack of a library, no sanitizer.
readable() { ! grep -qE 'HDF5-DIAG|runtime error|Sanitizer|\(null\)' "$work/out" "$work/err"; }
is() { [ "$rc" = "$1" ]; }
# That the last command ended with a code ("3" or "0|74") and said what it has to: errors in a message, results
# and verdicts (0, 1, 4, 5) there or on standard output.
ended() { # NAME CODES [PATTERN]
    local name=$1 codes=$2 pattern=${3:-}
    if ! [[ $rc =~ ^($codes)$ ]]; then
        fail "$name" "exit code $rc instead of $codes"
    elif ! readable; then
        fail "$name" "the message holds what is not meant for people"
    elif [[ $rc =~ ^(2|3|4|6|74)$ ]] && ! grep -q '^hardneg[ :]' "$work/err"; then
        fail "$name" "no message"
    elif [ -n "$pattern" ] && ! complains "$pattern" && ! { [[ $rc =~ ^(0|1|4|5)$ ]] && says "$pattern"; }; then
        fail "$name" "nothing says '$pattern'"
    else
        pass
    fi
}
expect() { # NAME CODE PATTERN ARGUMENT...
    local name=$1 code=$2 pattern=$3
    shift 3
    run "$@"
    ended "$name" "$code" "$pattern"
}

# What the contents of a snapshot are; fails where it cannot be told.
content_of() { "$hardneg" info "$1" 2>/dev/null | awk '$1 == "SHA-256" && length($2) == 64 { print $2; found = 1 } END { exit !found }'; } # FILE
same_content() { # FILE FILE
    local one
    one=$(content_of "$1") && test "$one" = "$(content_of "$2")"
}
same_results() { "$python" "$here/same_results.py" "$1" "$2" 2>"$work/err"; } # FILE FILE
check_same() { # NAME FILE FILE
    [ -z "$python" ] || check "$1" same_results "$2" "$3"
}
# Rows of two samplers are equal, names, costs and work aside.
same_cells() { # RESULTS SAMPLER SAMPLER
    "$python" -c "import h5py, numpy as np, sys
r = h5py.File(sys.argv[1])['runs']; s = r['sampler'].asstr()[:]
aside = {'cell_key', 'run_key', 'sampler', 'params', 'note', 'graph_age', 'graph_overlap', 'cost_s', 'cost_g', 'cost_g_over_t', 'share_of_limit',
    'n_dot', 'n_dot_build', 'n_draw', 'n_step', 'n_edge', 'bytes_touched', 'peak_rss', 'stalls', 'row', 'n', 'R', 'take', 'min_rank', 'exclude', 'draw'}
a, b = (np.flatnonzero(s == w) for w in sys.argv[2:4])
assert len(a) and len(a) == len(b), (a, b)
for k in sorted(set(r) - aside):
    x, y = r[k][:][a], r[k][:][b]
    assert np.array_equal(x, y, equal_nan=x.dtype.kind == 'f'), (k, x, y)" "$@" 2>"$work/err"
}
# A copy of an HDF5 file, changed by Python statements over f, the file, and np; in results also r, /runs, ok,
# the rows without failure, and put(column, row, value).
spoiled() { # FROM TO STATEMENTS
    cp "$1" "$2"
    "$python" -c "import h5py, numpy as np, sys
f = h5py.File(sys.argv[1], 'r+')
r = f.get('runs'); ok = [i for i, s in enumerate(r['status'].asstr()[:]) if s == 'ok'] if r else []
def put(name, i, value):
    v = r[name][:]; v[i] = value; r[name][...] = v
$3" "$2"
}
temporary_files() { find "$1" \( -name '*tmp*' -o -name '.drawing*' -o -name '.writable' \) 2>/dev/null; }
none_temporary() { [ -z "$(temporary_files "$1")" ]; } # FOLDER
nothing_left() { none_temporary "$1" && [ -z "$(find "$1" -name results.h5 2>/dev/null)" ]; }
files_below() { find "$1" -name '*.h5' -path "*/$2/*" 2>/dev/null | wc -l; } # FOLDER NAME: .h5 files in its folders NAME

# Waits until a condition holds, for some seconds at most; its status says whether it does.
wait_for() { # SECONDS CONDITION...
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.01
    done
}
ended_process() { [ ! -e "/proc/$1/exe" ]; } # PROCESS
children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
control_group() { # KIB: makes one of version 1 or 2 with so much memory; its folder in $group
    local at file
    for at in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        group=$at/hardneg-test-$$
        file=$([ $at = /sys/fs/cgroup ] && echo memory.max || echo memory.limit_in_bytes)
        mkdir "$group" 2>/dev/null || continue
        { echo $(($1 << 10)) >"$group/$file"; } 2>/dev/null && return
        rmdir "$group"
    done
    return 1
}
in_group() { # COMMAND...: its code in rc
    (echo $BASHPID >"$group/cgroup.procs" && exec timeout 120 "$@" >"$work/out" 2>"$work/err" </dev/null)
    rc=$?
}

# The digest of its sources by which a program is known, of results that it made.
digest_in() { "$python" -c "import h5py, sys; print(h5py.File(sys.argv[1])['env'].attrs['program'].split('-')[1])" "$1"; } # FILE
known_as() { # DIGITS DIGEST PROGRAM: the program as if its sources had a digest that begins with these eight digits
    LC_ALL=C sed "s/$2/$1$(cut -c 9- <<<"$2")/g" "$3"
}
# ./other-hardneg: the program as if of other sources.
make_other_program() { # RESULTS of the program
    known_as f00df00d "$(digest_in "$1")" "$hardneg" >other-hardneg
    chmod +x other-hardneg
}

# Starts a command of the program in the background, as from a terminal: signals reach it. Its process: $!.
start() { # ARGUMENT...
    env --default-signal=INT,TERM "$hardneg" "$@" >"$work/out" 2>"$work/err" </dev/null &
}
stop() { # PROCESS SIGNAL: its status in $rc
    kill -s "$2" "$1" 2>/dev/null
    wait "$1" 2>/dev/null
    rc=$?
}

# For kills at random moments and at calls of the system.
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
random() { drawn=$(((RANDOM * 32768 + RANDOM) % $1)); } # below N, in $drawn: a subshell would draw on its own
can_trace() { strace -qq -f -e trace=rename -e inject=rename:signal=KILL:when=99 true 2>/dev/null; }
