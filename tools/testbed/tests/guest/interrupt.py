"""In the guest: cells that are interrupted or killed leave nothing of themselves behind.

interrupt.py SPEC.json COMMAND.json: says "clean" for each way to end a cell, and for a cell with a
command that is killed; or what is left.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRESS = "testbed: progress"
PATIENCE_SECONDS = 20


def namespaces() -> set[str]:
    """Network namespaces that any process is in or holds open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        for link in (process / "ns/net", *process.glob("fd/*")):
            try:
                target = str(link.readlink())
            except OSError:
                continue
            if target.startswith("net:"):
                found.add(target)
    return found


def processes() -> set[str]:
    """Of user space, but for this one and those it looks with."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] and process.name != str(os.getpid()):
            found.add(f"{process.name} {b' '.join(words).decode()}")
    return found


def programs() -> str:
    """Loaded BPF programs of ours, and qdiscs that are not the usual."""
    shown = subprocess.run(
        ["bpftool", "-j", "prog", "list"], capture_output=True, text=True, check=True
    ).stdout
    qdiscs = subprocess.run(["tc", "qdisc", "show"], capture_output=True, text=True, check=True)
    count = sum(shown.count(f'"name":"{name}"') for name in ("depart", "mptcpify"))
    return f"{count} programs, qdiscs {qdiscs.stdout.split()}"


def state() -> tuple[set[str], set[str], str]:
    return namespaces(), processes(), programs()


def end_by(number: signal.Signals, spec: str, seconds: str = "2", running: str = "") -> str:
    """Once a cell has had so many seconds of traffic, and what is named is running."""
    before = state()
    command = [sys.executable, "-m", "testbed", "execute", spec, "--out", "/tmp/out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if line.startswith(PROGRESS) and line.split()[-1] == seconds:
                while run.poll() is None and not any(running in each for each in processes()):
                    time.sleep(0.05)
                during = state()
                run.send_signal(number)
                break
        else:
            return "ended by itself"
    if len(during[0]) <= len(before[0]) or len(during[1]) <= len(before[1]):
        return "there was nothing to leave behind"
    if during[2] == before[2]:
        return "there was no program to leave behind"
    # The kernel takes namespaces apart in the background.
    end = time.monotonic() + PATIENCE_SECONDS
    while (after := state()) != before and time.monotonic() < end:
        time.sleep(0.2)
    return "clean" if after == before else f"left: {after} instead of {before}"


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        print(f"{number.name}: {end_by(number, sys.argv[1])}", flush=True)
    print(f"command: {end_by(signal.SIGKILL, sys.argv[2], '0', 'iperf3 -c')}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
