#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages that are missing for the roles given: build, test, dev, slurm, mpi, front, deb (packages.txt).
# Says what it installs and what for. DEPS=0: does nothing.
set -eu
[ "${DEPS:-1}" != 0 ] || exit 0
cd "$(dirname "$0")"

roles=" $* "
names=() purposes=()
while read -r name role purpose; do
    case $name in '#'* | '') continue ;; esac
    case $roles in *" $role "*) ;; *) continue ;; esac
    names+=("$name")
    purposes+=("$purpose")
done <packages.txt

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "No apt here: going on with what is installed. Needed, by their names in Debian:" >&2
    for i in "${!names[@]}"; do printf '  %-24s %s\n' "${names[i]}" "${purposes[i]}" >&2; done
    exit 0
fi

missing=() lines=()
for i in "${!names[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "${names[i]}" 2>/dev/null) || status=none
    [ "$status" = installed ] && continue
    lines+=("$(printf '  %-24s %s' "${names[i]}" "${purposes[i]}")")
    missing+=("${names[i]}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=() told="Installing what is missing (DEPS=0 turns this off):"
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null && as_root=(sudo) || told="Missing, and this is not root and has no sudo:"
fi
printf '%s\n' "$told" "${lines[@]}" >&2
if [ "$(id -u)" != 0 ] && [ ${#as_root[@]} = 0 ]; then
    echo "Ask an administrator for: apt-get install ${missing[*]}" >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >"$log" 2>&1; }
# A list of packages that is out of date is no reason to fail while what is wanted can be had.
apt update || { tail -n 5 "$log"; echo "apt-get update failed; trying with the lists there are"; } >&2
if ! apt install -y --no-install-recommends "${missing[@]}"; then
    tail -n 20 "$log" >&2
    echo "apt-get could not install: ${missing[*]}" >&2
    exit 1
fi
