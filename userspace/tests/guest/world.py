# SPDX-License-Identifier: GPL-2.0
"""What the tests work on: two namespaces joined by two links, and connections.

      cl                         sv
    10.0.1.1  c1 ------- s1  10.0.1.2
    10.0.2.1  c2 ------- s2  10.0.2.2
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import mpdpa

NOBODY = 65534
PORT = 5000


def sh(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@contextlib.contextmanager
def netns(name: str) -> Iterator[None]:
    """The calling thread in another namespace; sockets made there stay there."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.setns(there, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(here, os.CLONE_NEWNET)
        os.close(here)
        os.close(there)


def as_nobody(function: Callable[[], Any], uid: int = NOBODY) -> Any:
    """What a function returns, or the errno it fails with, in a process without privileges."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            result = function()
        except OSError as error:
            result = error.errno
        except BaseException as error:
            result = "".join(traceback.format_exception(error))
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def errno_of(function: Callable[..., Any], *arguments: Any, **named: Any) -> int:
    """0, or the errno that a function fails with."""
    try:
        function(*arguments, **named)
    except OSError as error:
        return error.errno or -1
    return 0


def sysctl(ns: str, name: str, value: object) -> None:
    with netns(ns), open(f"/proc/sys/net/{name}", "w") as file:
        file.write(str(value))


def add_namespace(name: str) -> None:
    sh(f"ip netns add {name} && ip -n {name} link set lo up")
    with netns(name):
        sysctl(name, "mptcp/scheduler", "mpdpa")


def build() -> None:
    """Loads everything and makes the namespaces."""
    if not os.path.exists("/sys/module/mptcp_dpa"):
        sh("insmod /usr/local/lib/mpdpa/mptcp_dpa.ko")
    if not os.path.exists("/sys/fs/bpf/mpdpa/mpdpa"):
        sh("mpdpa load")
    for name in ("cl", "sv"):
        add_namespace(name)
        sh(f"ip -n {name} mptcp limits set subflows 4 add_addr_accepted 4")
    for i in (1, 2):
        sh(f"ip link add c{i} netns cl type veth peer name s{i} netns sv")
        for ns, end, host in (("cl", f"c{i}", 1), ("sv", f"s{i}", 2)):
            sh(f"ip -n {ns} addr add 10.0.{i}.{host}/24 dev {end} && ip -n {ns} link set {end} up")
    # a subflow from 10.0.2.1 finds 10.0.1.2 over its own link
    sh("ip -n cl rule add from 10.0.2.1 table 2")
    sh("ip -n cl route add 10.0.1.0/24 via 10.0.2.2 dev c2 table 2")
    sysctl("sv", "ipv4/conf/all/rp_filter", 0)
    sysctl("cl", "ipv4/conf/all/rp_filter", 0)


def shape(i: int, mbit: int, delay_ms: int) -> None:
    """One link's rate towards the server, and its delay each way."""
    limit = 1000
    sh(f"ip netns exec cl tc qdisc replace dev c{i} root netem delay {delay_ms}ms rate {mbit}mbit limit {limit}")
    sh(f"ip netns exec sv tc qdisc replace dev s{i} root netem delay {delay_ms}ms limit {limit}")


def unshape() -> None:
    for ns, end in (("cl", "c1"), ("cl", "c2"), ("sv", "s1"), ("sv", "s2")):
        run("ip", "netns", "exec", ns, "tc", "qdisc", "del", "dev", end, "root")


def second_path(on: bool) -> None:
    if on:
        sh("ip -n cl mptcp endpoint add 10.0.2.1 dev c2 id 2 subflow")
    else:
        sh("ip -n cl mptcp endpoint flush")


def until(what: str, condition: Callable[[], Any], seconds: float = 10) -> Any:
    """Waits for a condition to be true, and returns what it was."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {seconds} s for: {what}"
        time.sleep(0.01)
    return value


def listener(ns: str = "sv", protocol: int = socket.IPPROTO_MPTCP, port: int = PORT) -> socket.socket:
    with netns(ns):
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", port))
        server.listen(16)
    return server


def client_socket(ns: str = "cl") -> socket.socket:
    with netns(ns):
        return mpdpa.open_socket()


class Pair:
    """A connection; the far end may be drained by a thread."""

    def __init__(
        self,
        *,
        protocol: int = socket.IPPROTO_MPTCP,
        client: str = "cl",
        server: str = "sv",
        address: str = "10.0.1.2",
    ) -> None:
        # further subflows find it as long as it is there
        self.listener = listener(server, protocol)
        self.client = client_socket(client)
        self.client.connect((address, PORT))
        self.server, _ = self.listener.accept()
        self.received = 0
        self.times: list[tuple[int, int]] = []
        self.thread: threading.Thread | None = None

    def drain(self) -> Pair:
        """Has everything that comes read; times are (bytes so far, ns)."""

        def loop() -> None:
            with contextlib.suppress(OSError):
                while data := self.server.recv(1 << 16):
                    self.received += len(data)
                    self.times.append((self.received, time.monotonic_ns()))

        self.thread = threading.Thread(target=loop, daemon=True)
        self.thread.start()
        return self

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)
        self.client.close()
        if self.thread:
            self.thread.join(timeout=30)
        self.server.close()
        self.listener.close()

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def control(ns: str = "cl") -> mpdpa.Control:
    with netns(ns):
        return mpdpa.Control()


def stats(ns: str = "cl") -> mpdpa.Stats:
    with control(ns) as ctl:
        return ctl.stats()


def no_state_left(ns: str = "cl") -> None:
    until(f"no connection has state in {ns}", lambda: not stats(ns).connections)
