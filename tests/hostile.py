#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile inputs: tests/hostile.py PROGRAM [--cases N] [--seed S] [--only I] [--processes P].

Makes files, jobs, command lines and environments that are wrong in ways drawn from a seed, and runs the program
on each. Every case has to end within ten seconds (more on a machine that is busy) with an exit code of the list and, where that is an error, a
sentence that begins with "hardneg"; what stood where output was asked for stands there still, and no temporary
file is left. With ASAN_OPTIONS set, limits are left out: the sanitizer takes more. The same commands on files that are
left whole come first, and have to be accepted. The last lines are a table by kind and exit code, with how many cases got
past every refusal and how many sentences refused the others, and the totals for tests/run.sh."""
import argparse
import collections
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    from hostile_cases import KINDS, NO_BASE, OLD, Case, prepare, whole
except ImportError:
    print("    skipped: no python3-h5py\nhostile: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)

SECONDS = 10
# A case that takes longer may go on for as many times what a tiny run takes at that moment: half a second on an idle
# machine, where this allows no more than the ten.
TINY_RUNS = 20
CODES = {0, 1, 2, 3, 4, 5, 6, 70, 74, 130}
ERRORS = {2, 3, 6, 70, 74}
PAST = {0, 1, 4, 5, 6} # the input was taken
GOOD = PAST - {4} # and nothing failed
BASES = 4 # cases of a kind on files that are whole


def state(path):
    """What stands at a path, as far as a case may not change it."""
    if not os.path.lexists(path):
        return None
    about = os.lstat(path)
    if not os.path.isfile(path) or os.path.islink(path):
        return about.st_mode
    with open(path, "rb") as f:
        return f.read()


def patience(program, base):
    """Seconds that a case may take on this machine as it is now."""
    with tempfile.TemporaryDirectory(prefix="hardneg-tiny-") as folder:
        begin = time.monotonic()
        try:
            subprocess.run([program, "run", "-c", f"{base}/job.yaml", "-o", f"{folder}/r", "--quiet"], check=True,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        except subprocess.TimeoutExpired:
            pass
        return max(SECONDS, TINY_RUNS * (time.monotonic() - begin))


def execute(program, base, case):
    """Exit code, output, messages, and the seconds that were allowed; code None: it took longer."""
    def child():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, limit in ({} if "ASAN_OPTIONS" in os.environ else case.limits).items():
            resource.setrlimit(what, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for number, path in case.streams.items():
            os.close(number)
            if path:
                os.open(path, os.O_RDWR)
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **case.environment}
    process = subprocess.Popen([program, *case.words], cwd=case.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment, preexec_fn=child, start_new_session=True)
    begin, allowed = time.monotonic(), SECONDS
    if case.during:
        time.sleep(case.delay)
        try:
            case.during()
        except OSError: # it is not there yet
            pass
    while True:
        try:
            out, err = process.communicate(timeout=max(0.0, begin + allowed - time.monotonic()))
            return process.returncode, out, err, allowed
        except subprocess.TimeoutExpired:
            allowed = max(allowed, patience(program, base)) # the machine may be busy since a moment ago
            if time.monotonic() < begin + allowed:
                continue
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err, allowed


def judge(case, code, err, before, allowed):
    """What is wrong with how the case ended; empty if nothing is."""
    text = err.decode("utf-8", "replace")
    if code is None:
        return f"took more than {allowed:.0f} s"
    if code not in CODES:
        return f"exit code {code}"
    if re.search("Sanitizer|runtime error|HDF5-DIAG|\\(null\\)", text):
        return "a message not meant for people"
    if code in ERRORS and 2 not in case.streams and not re.search(r"^hardneg[ :].{8,}", text, re.M):
        return f"exit code {code} without a sentence"
    if code == 70 and not re.search("memory|addresses|threads|process", text):
        return "an internal error"
    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text.replace("\x1b[K", "")):
        return "control characters in a message"
    if os.path.exists(case.path("ran")):
        return "a command of a stored job was run"
    if case.during:
        return "" if state(case.path("other/mine")) == OLD else "a file of another folder is not as it was"
    left = [n for n in os.listdir(case.folder) if ".tmp-" in n or n.startswith(".drawing")]
    if left:
        return f"left {left[0]}"
    if 1 in case.streams or code == 6: # the file is whole by then; 6: a page without its figures
        return ""
    if case.output and code in ERRORS and state(case.path(case.output)) != before:
        return f"{case.output} is not as it was"
    if code in ERRORS and os.path.exists(case.path("new/results.h5")):
        return "results of a run that was refused"
    return ""


def not_valid(program, case, code):
    """What `validate` says against a file that `import` has written; empty if it is sound, or none was written."""
    output = case.words[-1] if case.words[0] == "import" else None
    if code != 0 or not output or not os.path.isfile(case.path(output)):
        return ""
    found = subprocess.run([program, "validate", output], cwd=case.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return "" if found.returncode == 0 else f"import wrote what is not valid: {found.stderr[:200]!r}"


def run_case(job):
    program, base, seed, number, unspoiled = job
    whole(unspoiled)
    rng = random.Random(f"{seed}-{number}")
    kind = list(KINDS)[number % len(KINDS)]
    with tempfile.TemporaryDirectory(prefix="hardneg-case-") as folder:
        shutil.copytree(base, folder, dirs_exist_ok=True)
        case = Case(rng, folder)
        try:
            KINDS[kind](case)
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, OverflowError) as error:
            return kind, "not made", 0.0, "", number, [str(error)], b""
        before = state(case.path(case.output)) if case.output else None
        begin = time.monotonic()
        code, _, err, allowed = execute(program, base, case)
        wrong = judge(case, code, err, before, allowed) or not_valid(program, case, code)
        if unspoiled and code not in GOOD:
            wrong = wrong or f"exit code {code} on files that are whole"
        return kind, code, time.monotonic() - begin, wrong, number, case.words, err[-300:]


def sentence(err):
    """The refusal, without names and numbers."""
    text = err.decode("utf-8", "replace")
    found = re.findall(r"^hardneg.*", text, re.M)
    return re.sub(r"'[^']*'|\"[^\"]*\"|\S*[./\\]\S*|[-+0-9.e]*[0-9]\S*", "@", found[-1] if found else text[-80:])[:80]


def check_bases(program, base, seed, pool):
    """Runs cases whose files are left whole; how many failed, and how many were accepted of each kind."""
    kinds, failed, accepted = list(KINDS), 0, collections.Counter()
    jobs = [(program, base, seed, k + i * len(kinds), True) for k, kind in enumerate(kinds) if kind not in NO_BASE for i in range(BASES)]
    for kind, code, _, wrong, number, words, err in pool.imap_unordered(run_case, jobs, 4):
        accepted[kind] += code in GOOD
        if wrong:
            failed += 1
            print(f"  FAILED whole case {number} ({kind}): {wrong}: {' '.join(words)[:300]}\n    {err!r}")
    return failed, accepted


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--cases", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    given = options.parse_args()
    program = os.path.realpath(given.program)
    counts, slowest, failed, unmade = collections.defaultdict(collections.Counter), dict.fromkeys(KINDS, (0, 0)), 0, 0
    sentences = collections.defaultdict(set)
    with tempfile.TemporaryDirectory(prefix="hardneg-hostile-") as base, multiprocessing.Pool(given.processes) as pool:
        prepare(program, base)
        numbers = range(given.cases) if given.only is None else [given.only]
        jobs = [(program, base, given.seed, i, False) for i in numbers]
        bad, accepted = check_bases(program, base, given.seed, pool) if given.only is None else (0, collections.Counter())
        for kind, code, seconds, wrong, number, words, err in pool.imap_unordered(run_case, jobs, 4):
            counts[kind][code] += 1
            if code in ERRORS:
                sentences[kind].add(sentence(err))
            slowest[kind] = max(slowest[kind], (seconds, number))
            unmade += code == "not made"
            if wrong:
                failed += 1
                print(f"  FAILED case {number} ({kind}): {wrong}: {' '.join(words)[:300]}\n    {err!r}")
            elif given.only is not None:
                print(code, words, err)
    codes = sorted({c for k in counts.values() for c in k}, key=str)
    print("| kind | cases | " + " | ".join(str(c) for c in codes) + " | past | sentences | whole: past | longest, s (case) |")
    print("| --- " * (len(codes) + 6) + "|")
    for kind, found in counts.items():
        past, bases = sum(found[c] for c in PAST), "-" if kind in NO_BASE else f"{accepted[kind]} of {BASES}"
        print(f"| {kind} | {sum(found.values())} | " + " | ".join(str(found[c]) for c in codes) +
              f" | {past} | {len(sentences[kind])} | {bases} | %.1f (%d) |" % slowest[kind])
    total = sum(sum(k.values()) for k in counts.values()) + BASES * (len(KINDS) - len(NO_BASE)) * (given.only is None)
    print(f"hostile: {total - failed - bad - unmade} passed, {failed + bad} failed, {unmade} skipped")
    sys.exit(failed + bad > 0)


if __name__ == "__main__":
    main()
