#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a newcomer pastes and what starts at boot: the guide's programs, the systemd units."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import mpdpa
import world
from ktap import between, case, main, same

HERE = Path(__file__).resolve().parent
BYTES = 10_000_000
PREFIX = "/usr/local"


def serve(received: list[int]) -> threading.Thread:
    waiting = world.listener()

    def loop() -> None:
        connection, _ = waiting.accept()
        with waiting, connection:
            while data := connection.recv(1 << 16):
                received[0] += len(data)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    return thread


def run_guide(*words: str) -> None:
    """A program of the guide: every byte arrives, as a chunk that is met."""
    before, received = world.stats(), [0]
    server = serve(received)
    done = world.run("ip", "netns", "exec", "cl", "setpriv", "--reuid", "65534", "--clear-groups", *words, "10.0.1.2", str(world.PORT))
    server.join(timeout=60)
    same("errors", (done.returncode, done.stderr), (0, ""))
    said = re.fullmatch(r"in force: (\d), met: (\d), missed: 0\n", done.stdout)
    assert said, done.stdout
    same("one chunk", int(said[1]) + int(said[2]), 1)
    same("received", received[0], BYTES)
    after = world.stats()
    same("chunks set", after.chunks_set - before.chunks_set, 1)
    between("chunks met by the end of the socket", after.chunks_met - before.chunks_met, int(said[2]), 1)
    same("chunks missed", after.chunks_missed - before.chunks_missed, 0)


@case
def the_guide_in_c() -> None:
    run_guide(str(HERE / "guide_c"))


@case
def the_guide_in_python() -> None:
    text = (HERE / "set-a-deadline.md").read_text()
    program = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    same("programs in Python", len(program), 1)
    (HERE / "send.py").write_text(program[0])
    run_guide(sys.executable, str(HERE / "send.py"))


@case
def the_guide_to_schedulers() -> None:
    world.sh(f"mpdpa load --object {HERE}/guide.bpf.o && ip netns exec cl sysctl -qw net.mptcp.scheduler=mine")
    before = world.stats().decisions
    with world.Pair() as pair:
        pair.drain().client.sendall(bytes(BYTES))
        world.until("every byte", lambda: pair.received == BYTES)
    between("it was asked", world.stats().decisions - before, 100, BYTES)
    world.sh("mpdpa unload mine && ip netns exec cl sysctl -qw net.mptcp.scheduler=mpdpa")


def unit(name: str, instance: str = "") -> dict[str, list[str]]:
    """The commands and settings of a unit, as it is installed."""
    settings: dict[str, list[str]] = {}
    for line in (HERE / name).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(key, []).append(value.replace("@prefix@", PREFIX).replace("%i", instance))
    return settings


def run_commands(lines: list[str], *inside: str) -> None:
    # systemd's quoting and its %-specifiers are the shell's here, except for "$"; "-": it may fail
    for line in lines:
        may_fail, line = line.startswith("-"), line.removeprefix("-")
        words = subprocess.run(["xargs", "-n1", "printf", "%s\\0"], input=line, capture_output=True, text=True, check=True)
        done = world.run(*inside, *words.stdout.rstrip("\0").split("\0"))
        assert may_fail or not done.returncode, f"{line}: ended with {done.returncode}: {done.stderr}"


@case
def the_unit_loads_at_boot() -> None:
    world.sh("mpdpa unload && rmmod mptcp_dpa")
    updates = f"/lib/modules/{platform.release()}/updates"
    os.makedirs(updates, exist_ok=True)
    shutil.copy("/usr/local/lib/mpdpa/mptcp_dpa.ko", updates)
    world.sh("depmod -a")
    commands = unit("mpdpa.service.in")
    run_commands(commands["ExecStart"])
    world.add_namespace("new")
    with world.client_socket("new") as sock:
        same("a socket", mpdpa.probe(sock), mpdpa.State.READY)
    run_commands(commands["ExecStop"])
    with world.client_socket("new") as sock:
        assert mpdpa.probe(sock) != mpdpa.State.READY
    # where somebody has done the same, or a part of it, by hand
    run_commands(commands["ExecStop"])
    world.sh("mpdpa load --no-sockopt")
    for _ in range(2):
        run_commands(commands["ExecStart"])
        with world.client_socket("new") as sock:
            same("a socket", mpdpa.probe(sock), mpdpa.State.READY)


@case
def the_drop_in_of_the_readme_sets_what_it_says() -> None:
    """At boot, and when the unit is started again: the endpoint is there then."""
    commands = [line.replace("/usr/sbin/", f"{PREFIX}/sbin/") for line in unit("README.md")["    ExecStartPost"]]
    same("commands", len(commands), 3)
    before = world.sh("sysctl -n net.mptcp.scheduler").strip()
    for _ in range(2):
        run_commands(commands)
        same("scheduler", world.sh("sysctl -n net.mptcp.scheduler"), "mpdpa\n")
        same("endpoints", world.sh("ip mptcp endpoint show").split(), ["192.0.2.7", "id", "2", "subflow"])
        same("costs", world.sh("mpdpa path show"), "endpoint 2 cost 10\n")
    world.sh(f"mpdpa path del endpoint 2 && ip mptcp endpoint flush && sysctl -qw net.mptcp.scheduler={before}")


@case
def the_unit_of_a_namespace() -> None:
    world.sh("ip netns add boot && ip -n boot link set lo up")
    commands = unit("mpdpa@.service.in", "boot")
    inside = ("ip", "netns", "exec", Path(commands["NetworkNamespacePath"][0]).name)
    run_commands(commands["ExecStart"], *inside)
    with world.client_socket("boot") as sock:
        same("a socket", mpdpa.probe(sock), mpdpa.State.READY)
    os.makedirs("/etc/mpdpa", exist_ok=True)
    Path("/etc/mpdpa/boot.conf").write_text("net.mptcp_dpa.alpha_milli = 800\n")
    run_commands(commands["ExecStart"], *inside)
    with world.netns("boot"):
        same("its settings", Path("/proc/sys/net/mptcp_dpa/alpha_milli").read_text(), "800\n")
    run_commands(commands["ExecStop"], *inside)
    with world.client_socket("boot") as sock:
        same("afterwards", mpdpa.probe(sock), mpdpa.State.NOT_SELECTED)


if __name__ == "__main__":
    world.build()
    main()
