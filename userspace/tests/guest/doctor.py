#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the doctor finds, and that the command it names mends it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
from typing import Any

import mpdpa
import world
from ktap import case, main, note, same

MODULE = "/usr/local/lib/mpdpa/mptcp_dpa.ko"
# what stands for something that only the operator knows
BLANKS = {"IFACE": "d2", "ADDRESS": "10.9.2.1", "GATEWAY": "{gateway}"}


def findings() -> dict[str, dict[str, Any]]:
    done = world.run("mpdpa", "-j", "-n", "doc", "doctor")
    found = json.loads(done.stdout)
    failed = any(each["result"] == "fail" for each in found)
    same("exit status", done.returncode, int(failed))
    return {each["check"]: each for each in found}


def result_of(check: str) -> str | None:
    return findings().get(check, {}).get("result")


def mend(check: str, **blanks: str) -> None:
    """Does what the doctor says, and the doctor must be content."""
    found = findings()[check]
    command = found["mend"]
    assert command, f"nothing mends {found}"
    for blank, value in (BLANKS | blanks).items():
        command = command.replace(blank, value)
    note(f"{check}: {command}")
    world.sh(command)
    same(f"{check}, mended", result_of(check), "ok")


def install_module() -> None:
    """Where modprobe looks for it."""
    updates = f"/lib/modules/{platform.release()}/updates"
    os.makedirs(updates, exist_ok=True)
    shutil.copy(MODULE, updates)
    world.sh("depmod -a")


@case
def a_module_that_is_not_installed() -> None:
    world.sh("ip netns add doc && ip -n doc link set lo up")
    for check in ("module", "deadlines"):
        same(check, findings()[check]["mend"], "make -C SOURCE install && modprobe mptcp_dpa")
    install_module()
    for check in ("module", "deadlines"):
        same(check, findings()[check]["mend"], "modprobe mptcp_dpa")


@case
def from_nothing_to_deadlines() -> None:
    """Failure after failure, until a socket can have deadlines."""
    with world.netns("doc"):
        world.sysctl("doc", "mptcp/enabled", 0)
    mended = []
    while failed := [check for check, found in findings().items() if found["result"] == "fail"]:
        # the last is the sum of the others
        assert failed[-1] == "deadlines" or failed == ["enabled"], failed
        mend(failed[0])
        mended.append(failed[0])
    same("in this order", mended, ["enabled", "module", "attached", "selected"])
    with world.netns("doc"):
        same("a socket", mpdpa.probe(mpdpa.open_socket()), mpdpa.State.READY)


@case
def a_scheduler_that_was_detached() -> None:
    """The setting has its name already; kernels refuse that of one that is not there."""
    world.sh("mpdpa unload")
    mend("selected")


@case
def socket_options_alone() -> None:
    world.sh("mpdpa unload && mpdpa load --no-sockopt")
    same("sockopt", result_of("sockopt"), "fail")
    mend("sockopt")


@case
def socket_options_of_another_cgroup() -> None:
    """That may well be meant, so nothing fails."""
    world.sh("mkdir /sys/fs/cgroup/other && mpdpa unload && mpdpa load --cgroup /sys/fs/cgroup/other")
    for check in ("sockopt", "deadlines"):
        found = findings()[check]
        same(check, (found["result"], found.get("mend")), ("note", None))
        assert "cgroup" in found["text"], found
    world.sh("mpdpa unload && mpdpa load && rmdir /sys/fs/cgroup/other")


@case
def a_module_of_another_version() -> None:
    line = "echo 0.0.1 >/tmp/version && mount --bind /tmp/version /sys/module/mptcp_dpa/version && exec mpdpa -j doctor"
    done = world.run("unshare", "-m", "sh", "-c", line)
    found = {each["check"]: each for each in json.loads(done.stdout)}["module"]
    same("result", found["result"], "note")
    assert "0.0.1" in found["text"] and "rmmod" in found["mend"], found


@case
def a_file_system_that_is_not_mounted() -> None:
    """In a namespace of mounts where it was taken away."""
    done = world.run("unshare", "-m", "sh", "-c", "umount /sys/fs/bpf && exec mpdpa -j doctor")
    found = {each["check"]: each for each in json.loads(done.stdout)}["bpffs"]
    same("bpffs", found["result"], "fail")
    line = f"umount /sys/fs/bpf && {found['mend']} && exec mpdpa -j doctor"
    done = world.run("unshare", "-m", "sh", "-c", line)
    same("mended", {each["check"]: each["result"] for each in json.loads(done.stdout)}["bpffs"], "ok")


@case
def what_is_attached_is_out_of_sight() -> None:
    """As in a container: "ip netns exec" has a /sys of its own."""
    done = world.run("ip", "netns", "exec", "doc", "mpdpa", "-j", "doctor")
    found = {each["check"]: each for each in json.loads(done.stdout)}
    for check, result in ("bpffs", "note"), ("cgroup", "note"), ("sockopt", "ok"), ("deadlines", "ok"):
        same(check, (found[check]["result"], found[check]["mend"]), (result, None))
    same("exit status", done.returncode, 0)


def add_link(name: str, *addresses: str) -> None:
    world.sh(f"ip -n doc link add {name} type veth peer name {name}p")
    for end in (name, f"{name}p"):
        world.sh(f"ip -n doc link set {end} up")
    for address in addresses:
        world.sh(f"ip -n doc addr add {address} dev {name} nodad")


@case
def limits_endpoints_and_costs() -> None:
    add_link("d1", "10.9.1.1/24", "fd00:9:1::1/64")
    add_link("d2", "10.9.2.1/24", "fd00:9:2::1/64")
    world.sh("ip -n doc mptcp limits set subflows 0")
    for check in ("limits", "endpoints", "costs"):
        same(check, result_of(check), "note")
        mend(check)


@case
def a_cost_of_an_interface_that_is_gone() -> None:
    add_link("d3", "10.9.3.1/24")
    world.sh("mpdpa -n doc path set dev d3 cost 7 && ip -n doc link del d3")
    same("costs", result_of("costs"), "note")
    mend("costs")


@case
def routes_of_endpoints() -> None:
    check = "route-10.9.2.1"
    same("no way to other networks", result_of(check), "note")
    world.sh("ip -n doc route add default via 10.9.1.254 dev d1")
    same("by the other interface", result_of(check), "fail")
    mend(check, **{"{gateway}": "10.9.2.254"})


@case
def routes_of_ipv6_endpoints() -> None:
    check = "route-fd00:9:2::1"
    world.sh("ip -n doc mptcp endpoint add fd00:9:2::1 dev d2 subflow")
    same("no way to other networks", result_of(check), "note")
    world.sh("ip -n doc -6 route add default via fd00:9:1::fe dev d1")
    same("by the other interface", result_of(check), "fail")
    mend(check, **{"{gateway}": "fd00:9:2::fe"})


@case
def an_endpoint_that_is_on_no_interface() -> None:
    world.sh("ip -n doc mptcp endpoint add 10.9.9.9 id 77 subflow")
    found = findings()["route-10.9.9.9"]
    same("result", found["result"], "fail")
    world.sh(found["mend"])
    assert "route-10.9.9.9" not in findings()


@case
def fallbacks_are_counted() -> None:
    same("none yet", result_of("fallback"), "ok")
    with world.listener("doc", socket.IPPROTO_TCP) as waiting, world.client_socket("doc") as sock:
        sock.connect(("127.0.0.1", world.PORT))
        waiting.accept()[0].close()
    found = findings()["fallback"]
    same("result", found["result"], "note")
    assert "of 1 connections made here 1 fell back" in found["text"], found
    assert found["mend"], found


@case
def nothing_fails_at_the_end() -> None:
    same("failures", [check for check, found in findings().items() if found["result"] == "fail"], [])


if __name__ == "__main__":
    main()
