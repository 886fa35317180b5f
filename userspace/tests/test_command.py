# SPDX-License-Identifier: GPL-2.0
"""The command where it needs no module: usage, help, exit status, JSON."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from pathlib import Path

import pytest

COMMANDS = [
    "load", "unload", "status", "path", "conn", "show", "stat", "monitor", "top", "doctor",
]  # fmt: skip

MISUSES = [
    ("", "which command"),
    ("fly", 'no command "fly"'),
    ("-x status", '"-x" is not known'),
    ("--json-please status", "is not known"),
    ("status -n", '"-n" needs a value'),
    ("status now", 'unexpected word "now"'),
    ("doctor now", 'unexpected word "now"'),
    ("load now", 'unexpected word "now"'),
    ("load -n ns", "not per network namespace"),
    ("unload -n ns", "not per network namespace"),
    ("load -j", "shows nothing"),
    ("load --cgroup /x --no-sockopt", "exclude each other"),
    ("status --object x", 'options of "load"'),
    ("path fly", 'no action "fly"'),
    ("path fly -j", 'no action "fly"'),
    ("--json=x status", '"--json=x" takes no value'),
    ("load --object a --object b", '"--object" given twice'),
    ("load --cgroup /a --cgroup /b", '"--cgroup" given twice'),
    ("-n a status --netns b", '"--netns" given twice'),
    ("top -1 -d 1 -d 2", '"--delay" given twice'),
    ("path set", "which path"),
    ("path set dev eth1", "what cost"),
    ("path set cost 3", "which path"),
    ("path set dev eth1 cost 0", "out of range"),
    ("path set dev eth1 cost ten", "not a number for \"cost\", expected a whole one"),
    ("path set dev eth1 cost 3 quota 1T per 1h", '"1T" is not a number for "quota", expected a whole one, such as'),
    ("path set dev eth1 cost 3 quota 1G per 1d", '"1d" is no length of time for "per", expected a number with ns, us'),
    ("path set endpoint 256 cost 3", "out of range"),
    ("path set dev eth1 endpoint 3 cost 3", "not both"),
    ("path del", "which path"),
    ("path del dev eth1 cost 3", 'unexpected word "cost"'),
    ("path show via 3", 'unexpected word "via"'),
    ("-j path set dev eth1 cost 3", "shows nothing"),
    ("path set addr 10.0.0 cost 3", "not an IP address"),
    ("path set addr 0.0.0.0 cost 3", "no host's address"),
    ("path set addr ::1 dev eth1 cost 3", "not both"),
    ("path set dev eth1 cost forbidden", "not a number"),
    ("conn fly", 'no action "fly"'),
    ("conn show 7", 'unexpected word "7"'),
    ("conn show id 0", "no connection 0"),
    ("show token xyz", "no token"),
    ("conn set alpha 1", "which connection"),
    ("conn set id 7", "change what"),
    ("conn set id 7 alpha 5", "out of range, 0.1 to 4"),
    ("conn set id 7 alpha fast", "not a number"),
    ("conn set id 7 pref cost 3", "which path"),
    ("conn set id 7 pref dev eth1", "what cost"),
    ("conn set id 7 chunk 5M", "when is the chunk due"),
    ("conn set id 7 chunk 5M in 3", "no length of time"),
    ("conn set id 7 chunk 0 in 3s", "0 bytes"),
    ("conn set id 7 chunk 5 in 0s", "no time at all"),
    ("conn set id 7 alpha -1", 'does not take "-1"'),
    ("conn set id 7 chunk 5 in 3s late never", "no late policy"),
    ("conn set id 7 alpha 1 -j", "shows nothing"),
    ("stat now", 'unexpected word "now"'),
    ("monitor now", 'unexpected word "now"'),
    ("stat -t", "does not take --timestamps"),
    ("stat -1", 'options of "top"'),
    ("status -d 3", 'options of "top"'),
    ("top -1 -d 0", "no delay"),
    ("top -1 -d nan", "no delay"),
    ("top -j", "top has no JSON"),
]


def run(out: Path, line: str) -> subprocess.CompletedProcess[str]:
    words = [out / "bin" / "mpdpa", *line.split()]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("line", "reason"), MISUSES)
def test_misuse(out: Path, line: str, reason: str) -> None:
    done = run(out, line)
    assert done.returncode == 2
    assert not done.stdout
    first = done.stderr.splitlines()[0]
    assert first.startswith("mpdpa: ")
    assert reason in first


@pytest.mark.parametrize("line", ["--help", "-h", "help"])
def test_general_help_names_every_command(out: Path, line: str) -> None:
    done = run(out, line)
    assert done.returncode == 0
    assert not done.stderr
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(out: Path, command: str) -> None:
    texts = {run(out, line).stdout for line in (f"{command} --help", f"help {command}")}
    assert len(texts) == 1
    text = texts.pop()
    assert text.startswith(f"Usage: mpdpa {command} ")
    assert all(len(line) <= 80 for line in text.splitlines())


def test_version(out: Path) -> None:
    assert re.fullmatch(r"mpdpa \S+ \(libbpf v?\d+\.\d+\)\n", run(out, "-V").stdout)


def test_status(out: Path) -> None:
    done = run(out, "status -j")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["module"]["name"] == "mptcp_dpa"
    assert isinstance(said["available"], list)
    assert run(out, "status").stdout.startswith("module ")


def test_doctor(out: Path) -> None:
    done = run(out, "doctor -j")
    found = json.loads(done.stdout)
    failed = [entry for entry in found if entry["result"] == "fail"]
    assert done.returncode == (1 if failed else 0)
    assert {entry["result"] for entry in found} <= {"ok", "note", "fail"}
    assert len({entry["check"] for entry in found}) == len(found)
    text = run(out, "doctor").stdout
    for entry in found:
        assert entry["text"] in text
        assert entry["mend"] is None or f"# {entry['mend']}\n" in text


def test_doctor_prescribes_a_build_where_no_module_is_installed(out: Path) -> None:
    if Path("/sys/module/mptcp_dpa").exists():
        pytest.skip("the module is loaded")
    depends = Path(f"/lib/modules/{platform.release()}/modules.dep")
    installed = depends.exists() and "/mptcp_dpa.ko" in depends.read_text()
    found = {each["check"]: each for each in json.loads(run(out, "doctor -j").stdout)}["module"]
    build = "" if installed else "make -C SOURCE install && "
    assert found["mend"] == f"{build}modprobe mptcp_dpa"
    assert (platform.release() in found["text"]) == (not installed)


@pytest.mark.parametrize(("line", "status", "last"), [("status", 0, ""), ("unload", 1, ""), ("doctor", 1, "rm /sys/fs/bpf/mpdpa")])
def test_something_else_in_the_place_of_the_pins(out: Path, line: str, status: int, last: str) -> None:
    script = 'mount -t tmpfs none /sys/fs/bpf && : >/sys/fs/bpf/mpdpa && exec "$0" "$@"'
    words = ["unshare", "-m", "sh", "-c", script, out / "bin" / "mpdpa", line]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == status
    said = [each for each in (done.stdout + done.stderr).splitlines() if "/sys/fs/bpf/mpdpa" in each]
    assert "no directory, something else is pinned there" in said[0]
    assert last in said[-1]
    assert "only root" not in done.stdout


def test_unload_of_nothing(out: Path) -> None:
    script = 'mount -t tmpfs none /sys/fs/bpf && exec "$0" "$@"'
    words = ["unshare", "-m", "sh", "-c", script, out / "bin" / "mpdpa", "unload"]
    for more, status, text in ([], 0, "nothing is loaded"), (["mpdpa"], 1, 'no scheduler "mpdpa" is loaded'):
        done = subprocess.run([*words, *more], capture_output=True, text=True, timeout=60)
        assert done.returncode == status
        assert text in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["no-such-namespace", "../netns", ".", ""])
def test_namespace_that_is_not_there(out: Path, name: str) -> None:
    done = run(out, f"status --netns={name}")
    assert done.returncode == 1
    assert "cannot enter network namespace" in done.stderr


def test_without_the_module(out: Path) -> None:
    if Path("/sys/module/mptcp_dpa").exists():
        pytest.skip("the module is loaded")
    for line in ("load", "path show", "path set dev lo cost 3", "show", "stat", "monitor", "top -1"):
        done = run(out, line)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "modprobe mptcp_dpa" in done.stderr


@pytest.mark.parametrize("line", ["status", "--help", "-V", "stat --help", "help path"])
def test_output_that_cannot_be_written(out: Path, line: str) -> None:
    with Path("/dev/full").open("w") as full:
        words = [out / "bin" / "mpdpa", *line.split()]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
