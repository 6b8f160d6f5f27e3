#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds and tries what is in this folder on other systems, each in a bare root of its own: `tests/systems.sh [SYSTEM...]`.
#
#   bookworm, trixie, sid    Debian 12, 13, unstable: build, `make check`, the smoke job against results/baseline.h5
#   clang                    the same with trixie's clang
#   arm64                    trixie's cross compiler, all tests among what it builds; smoke job by qemu-user
#   musl                     every source by musl's headers, syntax alone
#
# Roots stay in ROOTS (default: build/systems), as do logs: a second call builds what has changed. Needs root,
# debootstrap and a mirror (MIRROR; default: the one that apt uses here). WHAT=test: `make test` in place of `make check`.
# Ends with a table; status 1 if a system failed. A system that cannot be had is left out, and said.
set -u
cd "$(dirname "$0")/.." || exit 1
ROOTS=$(realpath -m "${ROOTS:-build/systems}")
WHAT=${WHAT:-check}
mkdir -p "$ROOTS"
[ "$(id -u)" = 0 ] || { echo "tests/systems.sh: needs root: debootstrap and chroot do" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "tests/systems.sh: no debootstrap: apt-get install debootstrap" >&2; exit 2; }
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | grep -v security | head -n 1)}
[ -n "$MIRROR" ] || { echo "tests/systems.sh: no mirror of Debian in apt's sources: give MIRROR=URL" >&2; exit 2; }

# In the root, with the mounts that it needs, which end with the command.
within() { # SUITE COMMAND
    # shellcheck disable=SC2016 # of the inner shell
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" 2>/dev/null; mount --rbind /sys "$1/sys"
        exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            DEPS="${DEPS:-}" sh -euc "cd /hardneg; $2"' sh "$ROOTS/$1" "$2"
}
bare_root() { # SUITE
    [ -e "$ROOTS/$1/.whole" ] && return
    rm -rf "${ROOTS:?}/$1"
    debootstrap --variant=minbase --include=make,ca-certificates "$1" "$ROOTS/$1" "$MIRROR" && touch "$ROOTS/$1/.whole"
}
# The files that git would add, and what earlier calls built of them.
bring() { # SUITE
    mkdir -p "$ROOTS/$1/hardneg"
    find "$ROOTS/$1/hardneg" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
    git ls-files -co --exclude-standard -z | tar --null -T - --ignore-failed-read -c | tar -x --no-same-owner -C "$ROOTS/$1/hardneg"
}
packages() { # ROLES: of packages.txt
    awk -v roles="$1" '!/^#/ && NF && index(roles, $2) { print $1 }' packages.txt | tr '\n' ' '
}
# A mirror may hold a list of unstable that is past its date.
install="apt-get -qq -o Acquire::Check-Valid-Until=false update; apt-get -qqy install --no-install-recommends"
whole() { # FLAGS: builds, tests, and compares the smoke job
    local unit="make run-$WHAT $1 DEPS=0"
    [ "$WHAT" = check ] || unit="make $WHAT $1"
    cat <<END
make everything $1 DEPS=0
$unit
rm -rf /tmp/smoke
\$EMULATOR ${2:-build}/hardneg run -c harness/jobs/smoke.yaml -o /tmp/smoke --quiet
\$EMULATOR ${2:-build}/hardneg compare results/baseline.h5 /tmp/smoke/results.h5
END
}

debian() { within "$1" "EMULATOR=; $install $(packages build) libcunit1-dev; $(whole BUILD=build)"; }
bookworm() { debian bookworm; }
trixie() { debian trixie; }
sid() { debian sid; }
clang() {
    within trixie "EMULATOR=; $install $(packages build) libcunit1-dev clang libomp-dev
        $(whole 'CC=clang OMP=-fopenmp=libomp BUILD=build-clang' build-clang)"
}
# Programs that start themselves are left out: the emulated one is not what /proc/self/exe is.
arm64() {
    local native="gcc make pkg-config librandom123-dev gnuplot-nox" foreign
    foreign=$(for p in $(packages build) libcunit1-dev; do [[ " $native " == *" $p "* ]] || echo "$p:arm64"; done | tr '\n' ' ')
    within trixie "dpkg --add-architecture arm64; $install $native gcc-aarch64-linux-gnu qemu-user-static $foreign
        make everything CC=aarch64-linux-gnu-gcc PKG_CONFIG=aarch64-linux-gnu-pkg-config AR=aarch64-linux-gnu-ar BUILD=build-arm64 DEPS=0
        export OMP_NUM_THREADS=2; EMULATOR=qemu-aarch64-static; rm -rf /tmp/smoke
        \$EMULATOR build-arm64/hardneg run -c harness/jobs/smoke.yaml -o /tmp/smoke --quiet
        \$EMULATOR build-arm64/hardneg compare results/baseline.h5 /tmp/smoke/results.h5"
}
musl() {
    within trixie "$install $(packages build) musl-tools
        make build-musl/include/paper.inc build-musl/include/build_info.h BUILD=build-musl DEPS=0
        for f in \$(sed -n 's/^\\([a-z/]*\\):.*/\\1/p' tests/modules.txt); do ls \$f/*.c 2>/dev/null || true; done |
        xargs -P 2 -n 20 musl-gcc -fsyntax-only -std=c17 -fopenmp -D_GNU_SOURCE -I. -Ibuild-musl/include \
            \$(pkg-config --cflags hdf5-serial) -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu"
}
of_root() { case $1 in clang | arm64 | musl) echo trixie ;; *) echo "$1" ;; esac; }

row() { printf '%-10s %-9s %-8s %-18s %-26s %6s\n' "$@"; }
table=$ROOTS/table
row system state warnings units smoke seconds >"$table"
bad=0
for system in ${*:-bookworm trixie sid clang arm64 musl}; do
    log=$ROOTS/$system.log
    root=$(of_root "$system")
    if ! bare_root "$root" >"$log" 2>&1; then
        row "$system" 'not had' - - - - >>"$table"
        echo "$system: no root of $root: $(tail -n 1 "$log")" >&2
        continue
    fi
    bring "$root"
    begin=$SECONDS
    state=passed
    "$system" >"$log" 2>&1 </dev/null || { state=FAILED bad=1; tail -n 15 "$log" >&2; }
    row "$system" "$state" "$(grep -c 'warning:' "$log")" "$(sed -n 's/^\([0-9]* passed, [0-9]* failed\), .*/\1/p' "$log" | tail -n 1)" \
        "$(sed -n 's/^PASS: \([0-9,]* cells*, [0-9,]* values\).*/\1/p' "$log" | tail -n 1)" $((SECONDS - begin)) >>"$table"
done
cat "$table"
exit $bad
