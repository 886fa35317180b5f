"""How Snakemake has a campaign's jobs run in pods; kubectl is one that notes and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testbed import guestrun

KUBEJOB = guestrun.PACKAGE / "kubejob.py"
SCRIPT = '#!/bin/sh\n# properties = {"type": "single", "rule": "cell"}\ntrue\n'
# Notes its words, keeps what it is given, and answers with a file named after what it is asked for.
KUBECTL = """#!/bin/sh
echo "$*" >>"$PLACE/asked"
case "$2" in create) cat >"$PLACE/given" ;; esac
case "$3" in pods) answer=pods ;; *) answer=$2 ;; esac
cat "$PLACE/$answer.answer" 2>&1
test ! -e "$PLACE/$answer.fails" || { echo "no answer
from the cluster" >&2; exit 1; }
"""
JOB = "job.batch/testbed-cell-x7k2p"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kubectl").write_text(KUBECTL)
    (tmp_path / "bin/kubectl").chmod(0o755)
    (tmp_path / "job.sh").write_text(SCRIPT)
    (tmp_path / "create.answer").write_text(f"{JOB}\n")
    (tmp_path / "pods.answer").write_text('{"items": []}')
    return tmp_path


def kubejob(place: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MPDPA_")}
    path = f"{place}/bin:{os.environ['PATH']}"
    given = {"PATH": path, "PLACE": str(place), "XDG_CACHE_HOME": f"{place}/cache", **environment}
    return subprocess.run(
        [sys.executable, str(KUBEJOB), *words],
        cwd=place, env={**own, **given}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("where", "volume"),
    [
        (("--claim", "shared"), {"persistentVolumeClaim": {"claimName": "shared"}}),
        (("--host-path",), {"hostPath": {"path": "PLACE", "type": "Directory"}}),
    ],
    ids=["claim", "host-path"],
)
def test_job(place: Path, where: tuple[str, ...], volume: dict[str, Any]) -> None:
    done = kubejob(
        place, "submit", "--image", "testbed:1", *where, "--memory", "1700", f"{place}/job.sh",
        MPDPA_REVISION="abc",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{JOB}\n", "")
    job = json.loads((place / "given").read_text())
    assert job["metadata"]["generateName"] == "testbed-cell-"
    # Snakemake tries again, not the cluster.
    assert job["spec"]["backoffLimit"] == 0
    pod = job["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    assert container["command"] == ["/bin/sh", f"{place}/job.sh"]
    assert container["resources"]["requests"]["memory"] == "1700Mi"
    assert container["env"] == [
        {"name": "XDG_CACHE_HOME", "value": f"{place}/cache"},
        {"name": "MPDPA_REVISION", "value": "abc"},
    ]
    # The repository is where Snakemake's script looks for it.
    (mounted,), (there,) = container["volumeMounts"], pod["volumes"]
    assert mounted == {"name": there.pop("name"), "mountPath": str(place)}
    assert there == json.loads(json.dumps(volume).replace("PLACE", str(place)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"XDG_CACHE_HOME": "/elsewhere"}, "XDG_CACHE_HOME=/elsewhere: expected a folder below"),
        ({"XDG_CACHE_HOME": ""}, "XDG_CACHE_HOME=: expected a folder below"),
        ({"PATH": "/nowhere"}, "kubectl: not found"),
    ],
)
def test_bad_environment(place: Path, change: dict[str, str], said: str) -> None:
    job = str(place / "job.sh")
    done = kubejob(place, "submit", "--image", "testbed:1", "--host-path", job, **change)
    assert done.returncode == 2 and done.stderr.startswith(f"kubejob: {said}")
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


@pytest.mark.parametrize("text", [None, "#!/bin/sh\ntrue\n", "# properties = {}\n"])
def test_bad_script(place: Path, text: str | None) -> None:
    script = place / "other.sh"
    if text:
        script.write_text(text)
    done = kubejob(place, "submit", "--image", "testbed:1", "--host-path", str(script))
    assert done.returncode == 2 and not (place / "asked").exists()
    assert done.stderr.startswith(f"kubejob: {script}: expected a job of Snakemake")
    assert len(done.stderr.splitlines()) == 1


def test_cluster_refuses(place: Path) -> None:
    (place / "create.fails").touch()
    job = str(place / "job.sh")
    done = kubejob(place, "submit", "--image", "testbed:1", "--host-path", job)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "kubejob: no answer from the cluster\n"


def condition(kind: str, message: str = "") -> str:
    return json.dumps({"status": {"conditions": [
        {"type": "Suspended", "status": "False"},
        {"type": kind, "status": "True", "message": message},
    ]}})  # fmt: skip


def waiting(reason: str) -> str:
    state = {"waiting": {"reason": reason, "message": "not\nthere"}}
    return json.dumps({"items": [{"status": {"containerStatuses": [{"state": state}]}}]})


@pytest.mark.parametrize(
    ("job", "pods", "state", "said"),
    [
        (condition("Complete"), "", "success", ""),
        (condition("Failed", "backoff limit"), "", "failed", f"kubejob: {JOB}: backoff limit\n"),
        ("{}", '{"items": [{}]}', "running", ""),
        ("{}", waiting("ContainerCreating"), "running", ""),
        ("{}", waiting("InvalidImageName"), "failed",
         f"kubejob: {JOB}: InvalidImageName: not there\n"),
        ("", "", "failed", f"kubejob: {JOB}: it is there no more\n"),
        (None, "", "failed", f"kubejob: {JOB}: no answer from the cluster\n"),
    ],
    ids=["success", "failed", "running", "starting", "no-image", "gone", "no-cluster"],
)  # fmt: skip
def test_status(place: Path, job: str | None, pods: str, state: str, said: str) -> None:
    (place / "get.answer").write_text(job or "")
    (place / "pods.answer").write_text(pods)
    if job is None:
        (place / "get.fails").touch()
    done = kubejob(place, "status", "--patience", "0", JOB)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{state}\n", said)
    # What will never run is not left in the cluster.
    deleted = any(" delete " in words for words in (place / "asked").read_text().splitlines())
    assert deleted == ("InvalidImageName" in pods)


def test_status_of_a_cluster_that_is_away_for_a_while(place: Path) -> None:
    (place / "get.answer").write_text(condition("Complete"))
    (place / "get.fails").touch()
    once = KUBECTL.replace('echo "no answer', 'rm $PLACE/$answer.fails; echo "no answer')
    (place / "bin/kubectl").write_text(once)
    done = kubejob(place, "status", JOB)
    assert (done.returncode, done.stdout, done.stderr) == (0, "success\n", "")
    assert len((place / "asked").read_text().splitlines()) == 2


def test_cancel(place: Path) -> None:
    """As Snakemake calls it: the program alone, and jobs."""
    (place / "delete.answer").touch()
    for words in ((), ("cancel",)):
        done = kubejob(place, *words, JOB, f"{JOB}2")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    asked = (place / "asked").read_text().splitlines()
    assert len(asked) == 2 and all(words.endswith(f" {JOB} {JOB}2") for words in asked)
    (place / "delete.fails").touch()
    done = kubejob(place, JOB)
    assert (done.returncode, done.stderr) == (1, "kubejob: no answer from the cluster\n")
    assert os.access(KUBEJOB, os.X_OK)
