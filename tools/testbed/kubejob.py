#!/usr/bin/env python3
"""A campaign's jobs as those of Kubernetes: what Snakemake submits, asks and cancels them with.

Runs beside Snakemake, outside the build environment: Python alone, and kubectl, whose own
configuration says which cluster and namespace. A pod sees the repository at the path that it has
here; it makes and enters the build environment from a cache that lies in the same volume, for
which it has to be privileged. Documentation/testbed.md has the commands.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

CACHE = "XDG_CACHE_HOME"
REQUEST_SECONDS = 30
PATIENCE_SECONDS, PAUSE_SECONDS = 300, 2
# For whoever wants to read a job's log.
KEPT_SECONDS = 86400
# A pod's first process ignores SIGTERM; there is nothing that a job would save, either.
GRACE_SECONDS = 2
# What a pod that waits for this will not start by waiting.
HOPELESS = {
    "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull",
    "ImagePullBackOff", "InvalidImageName",
}  # fmt: skip
_NAMED = "job.batch/"
_EXPECTED = "expected a job of Snakemake, with its properties in a comment"


def die(what: str) -> NoReturn:
    print(f"kubejob: {what}", file=sys.stderr)
    raise SystemExit(2)


def kubectl(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = ("kubectl", f"--request-timeout={REQUEST_SECONDS}s", *words)
    try:
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        die("kubectl: not found, expected Kubernetes' client")


def absolute(text: str) -> Path:
    return Path(text).absolute()


def one_line(text: str) -> str:
    return " ".join(text.split())


def environment(mount: Path) -> list[dict[str, str]]:
    """What jobs inherit: the cache's place, which must be theirs too, and the project's own."""
    cache = os.environ.get(CACHE, "")
    if not Path(cache).is_relative_to(mount):
        die(f"{CACHE}={cache}: expected a folder below {mount}, where pods find what is built")
    names = [CACHE, *sorted(name for name in os.environ if name.startswith("MPDPA_"))]
    return [{"name": name, "value": os.environ[name]} for name in names]


def rule_of(script: Path) -> str:
    """Snakemake tells a job's rule in the second line of its script."""
    try:
        found = re.search(r"^# properties = (\{.*\})$", script.read_text(), re.MULTILINE)
        return str(json.loads(found[1])["rule"]) if found else die(f"{script}: {_EXPECTED}")
    except (OSError, ValueError, KeyError) as error:
        die(f"{script}: {_EXPECTED} ({one_line(str(error))})")


def manifest(options: argparse.Namespace) -> dict[str, Any]:
    mount = str(options.mount)
    if options.claim:
        volume = {"persistentVolumeClaim": {"claimName": options.claim}}
    else:
        volume = {"hostPath": {"path": mount, "type": "Directory"}}
    container = {
        "name": "testbed",
        "image": options.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", str(options.script)],
        "env": environment(options.mount),
        "resources": {"requests": {"cpu": "1", "memory": f"{options.memory}Mi"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "repository", "mountPath": mount}],
    }
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [{"name": "repository", **volume}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": f"testbed-{rule_of(options.script)}-",
            "labels": {"app.kubernetes.io/name": "testbed"},
        },
        # Whether a job is tried again is for Snakemake to say.
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {"spec": pod},
        },
    }


def submit(options: argparse.Namespace) -> int:
    """Prints the job's name, by which Snakemake asks for it."""
    made = kubectl("create", "-f", "-", "-o", "name", given=json.dumps(manifest(options)))
    if made.returncode:
        print(f"kubejob: {one_line(made.stderr)}", file=sys.stderr)
        return 1
    print(made.stdout.strip())
    return 0


def end_of(job: dict[str, Any]) -> tuple[str, str]:
    """Snakemake's word for a job's state, and why."""
    for condition in job.get("status", {}).get("conditions", []):
        if condition["status"] == "True" and condition["type"] == "Complete":
            return "success", ""
        if condition["status"] == "True" and condition["type"] == "Failed":
            return "failed", condition.get("message", "")
    return "running", ""


def hopeless(pods: list[dict[str, Any]]) -> str:
    """Why a pod will never start, if so."""
    for pod in pods:
        for container in pod.get("status", {}).get("containerStatuses", []):
            waiting = container["state"].get("waiting", {})
            if waiting.get("reason") in HOPELESS:
                return f"{waiting['reason']}: {waiting.get('message', '')}"
    return ""


def answer(patience: float, *words: str) -> subprocess.CompletedProcess[str]:
    """A cluster may be away for a while; its jobs go on."""
    end = time.monotonic() + patience
    while (asked := kubectl(*words)).returncode and time.monotonic() < end:
        time.sleep(PAUSE_SECONDS)
    return asked


def status(options: argparse.Namespace) -> int:
    """Prints running, success or failed."""
    asked = answer(options.patience, "get", options.job, "-o", "json", "--ignore-not-found")
    if asked.returncode:
        state, why = "failed", asked.stderr
    elif not asked.stdout.strip():
        state, why = "failed", "it is there no more"
    else:
        state, why = end_of(json.loads(asked.stdout))
    if state == "running":
        name = options.job.rpartition("/")[2]
        pods = kubectl("get", "pods", "-l", f"job-name={name}", "-o", "json")
        stuck = hopeless(json.loads(pods.stdout)["items"]) if not pods.returncode else ""
        if stuck:
            kubectl("delete", "--wait=false", options.job)
            state, why = "failed", stuck
    if state == "failed":
        print(f"kubejob: {options.job}: {one_line(why)}", file=sys.stderr)
    print(state)
    return 0


def cancel(options: argparse.Namespace) -> int:
    gone = kubectl("delete", "--wait=false", "--ignore-not-found", *options.jobs)
    if gone.returncode:
        print(f"kubejob: {one_line(gone.stderr)}", file=sys.stderr)
    return int(bool(gone.returncode))


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kubejob", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    new = commands.add_parser("submit", help="for --cluster: start a job")
    new.set_defaults(run=submit)
    new.add_argument("--image", required=True, help="has Snakemake as here, bash and util-linux")
    where = new.add_mutually_exclusive_group(required=True)
    where.add_argument("--claim", help="the persistent volume claim that has --mount's folder")
    where.add_argument("--host-path", action="store_true", help="every node has that folder itself")
    new.add_argument(
        "--mount", type=absolute, default=Path.cwd(), help="the shared folder (default: this one)"
    )
    new.add_argument("--memory", type=int, default=1500, metavar="MIB", help="what a job needs")
    new.add_argument("script", type=absolute, help="Snakemake's")
    asks = commands.add_parser("status", help="for --cluster-status: tell a job's state")
    asks.set_defaults(run=status)
    asks.add_argument(
        "--patience", type=float, default=PATIENCE_SECONDS, metavar="SECONDS",
        help="how long a cluster may not answer before the job counts as failed",
    )  # fmt: skip
    asks.add_argument("job", help="as submit printed it")
    ends = commands.add_parser("cancel", help="for --cluster-cancel: end jobs and forget them")
    ends.set_defaults(run=cancel)
    ends.add_argument("jobs", nargs="+", metavar="job", help="as submit printed them")
    # Of --cluster-cancel Snakemake takes a program alone, and gives it jobs.
    if words and words[0].startswith(_NAMED):
        words = ["cancel", *words]
    return parser.parse_args(words)


if __name__ == "__main__":
    chosen = arguments(sys.argv[1:])
    raise SystemExit(chosen.run(chosen))
