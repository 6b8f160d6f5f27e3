#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints what harness/host/host.c records of a build: build_info.sh FLAGS FOLDERS SOURCE...
#
# Sources are known by a digest of the files SOURCE..., and so the program by the same name wherever it is built. The commit
# is git's where this folder is the top of a repository that holds it; of an archive, what `git archive` wrote into
# .git_archival.txt; else unknown. A repository around this folder is another project's: its commit says nothing here.
flags=$1 folders=$2
shift 2
here() { git -c safe.directory="$(pwd -P)" "$@" 2>/dev/null; }
if [ "$(here rev-parse --show-prefix || echo none)" = "" ] && here ls-files --error-unmatch Makefile >/dev/null; then
    commit=$(here rev-parse HEAD)
    # shellcheck disable=SC2086 # words are wanted
    [ -z "$(here status --porcelain -- $folders | head -n 1)" ] && dirty=0 || dirty=1
else
    commit=$(sed -n 's/^node: \([0-9a-f]\{40,\}\)$/\1/p' .git_archival.txt 2>/dev/null) dirty=nan
fi
printf '#define HN_BUILD_COMMIT "%s"\n#define HN_BUILD_DIRTY "%s"\n' "${commit:-unknown}" "$dirty"
printf '#define HN_BUILD_SOURCES "%s"\n' "$(sha256sum "$@" | sha256sum | cut -c -64)"
printf '#define HN_BUILD_CFLAGS "%s"\n' "$flags"
