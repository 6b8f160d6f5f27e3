#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the `run:` lines of a workflow as a runner does: workflow.py FILE [NAME=VALUE...]

In the working directory; NAME=VALUE are the workflow's `env`. Steps that install packages of the system, or that use an action, are left out. A step
that fails ends the job but for those with `if: always()`. Prints the name of each step with its exit code; exit code: 1 if one failed."""
import os
import pathlib
import subprocess
import sys
import tempfile

import yaml

workflow = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
given = dict(word.split("=", 1) for word in sys.argv[2:])
unknown = given.keys() - workflow["env"].keys() - {"GITHUB_BASE_REF"}
assert not unknown, unknown
(job,) = workflow["jobs"].values()
failed = False
with tempfile.TemporaryDirectory() as temporary:
    path, env = os.environ["PATH"], {**os.environ, **workflow["env"], **given, "CI": "true", "RUNNER_TEMP": temporary}
    for name in "GITHUB_PATH", "GITHUB_STEP_SUMMARY":
        env[name] = str(pathlib.Path(temporary, name))
        pathlib.Path(env[name]).touch()
    env["GITHUB_STEP_SUMMARY"] = os.path.abspath("summary.md")
    for step in job["steps"]:
        if "run" not in step or "apt-get" in step["run"] or (failed and step.get("if") != "always()"):
            continue
        added = pathlib.Path(env["GITHUB_PATH"]).read_text(encoding="utf-8").split("\n")
        env["PATH"] = ":".join([*filter(None, reversed(added)), path])
        code = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], env=env, check=False).returncode
        print(f"{step['name']}: {code}", flush=True)
        failed = failed or code != 0
sys.exit(failed)
