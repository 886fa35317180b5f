#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""State goes with its socket, however that ends, and so does its memory."""

from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator

import mpdpa
import world
from ktap import Skip, case, main, note, same
from world import Pair

SECOND = mpdpa.SECOND
ROUNDS = 100
SLAB = "mptcp_dpa_conn"
# free objects that a CPU may keep for itself
SLACK = 24

libc = ctypes.CDLL(None, use_errno=True)


def live_objects() -> int:
    """Objects in the cache that connections' states come from."""
    with open(f"/sys/kernel/slab/{SLAB}/shrink", "w") as file:
        file.write("1")
    with open("/proc/slabinfo") as file:
        for line in file:
            name, active, *_ = line.split()
            if name == SLAB:
                return int(active)
    raise Skip(f"no cache {SLAB}")


def mark(sock: socket.socket) -> None:
    """Gives a socket state: chunks, a preference, an eventfd."""
    event = os.eventfd(0)
    mpdpa.set_eventfd(sock, event)
    os.close(event)
    mpdpa.set_pref(sock, mpdpa.Path(endpoint=9, cost=3))
    for _ in range(5):
        mpdpa.set_chunk(sock, mpdpa.Chunk(1000, 60 * SECOND))


def leaves_nothing(what: Callable[[], None]) -> None:
    """Runs it many times; then no connection has state and no memory is kept."""
    what()
    world.no_state_left("cl")
    before = live_objects()
    for _ in range(ROUNDS):
        what()
    world.no_state_left("cl")
    world.no_state_left("sv")
    world.until("its memory back", lambda: live_objects() <= before + SLACK)


@case
def memory_is_seen() -> None:
    """The measure measures: live connections show."""
    before = live_objects()
    socks = [world.client_socket() for _ in range(ROUNDS)]
    for sock in socks:
        mpdpa.set_chunk(sock, mpdpa.Chunk(1, SECOND))
    note(f"{live_objects() - before} objects for {ROUNDS} connections")
    assert live_objects() - before >= ROUNDS - SLACK
    same("connections", world.stats().connections, ROUNDS)
    for sock in socks:
        sock.close()


@case
def never_connected() -> None:
    def once() -> None:
        with world.client_socket() as sock:
            mark(sock)

    leaves_nothing(once)


@case
def refused() -> None:
    def once() -> None:
        with world.client_socket() as sock:
            mark(sock)
            same("connect", world.errno_of(sock.connect, ("10.0.1.2", 9)), errno.ECONNREFUSED)

    leaves_nothing(once)


BPF_PROG_LOAD, BPF_PROG_ATTACH, BPF_PROG_DETACH = 5, 8, 9
BPF_PROG_TYPE_CGROUP_SOCK = 9
BPF_CGROUP_INET_SOCK_CREATE = 2
SYS_BPF = 321


def bpf(command: int, attributes: bytes) -> int:
    result = libc.syscall(SYS_BPF, command, attributes, len(attributes))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}")
    return result


@contextlib.contextmanager
def every_socket_refused() -> Iterator[None]:
    """This process in a cgroup whose program says no to each new socket."""
    group = "/sys/fs/cgroup/refuse"
    code = ctypes.create_string_buffer(bytes([0xB7]) + bytes(7) + bytes([0x95]) + bytes(7))  # return 0
    text = ctypes.create_string_buffer(b"GPL")
    load = struct.pack("IIQQ48xI", BPF_PROG_TYPE_CGROUP_SOCK, 2, *map(ctypes.addressof, (code, text)), BPF_CGROUP_INET_SOCK_CREATE)
    program = bpf(BPF_PROG_LOAD, load)
    os.makedirs(group, exist_ok=True)
    directory = os.open(group, os.O_RDONLY)
    attach = struct.pack("IIII", directory, program, BPF_CGROUP_INET_SOCK_CREATE, 0)
    bpf(BPF_PROG_ATTACH, attach)
    world.sh(f"echo {os.getpid()} >{group}/cgroup.procs")
    try:
        yield
    finally:
        world.sh(f"echo {os.getpid()} >/sys/fs/cgroup/cgroup.procs")
        bpf(BPF_PROG_DETACH, attach)
        os.close(directory)
        os.close(program)
        os.rmdir(group)


@case
def refused_at_creation_by_a_cgroup_program() -> None:
    """The scheduler has seen them begin; that the module goes at the end shows that it saw them end."""

    def once() -> None:
        same("socket", world.errno_of(world.client_socket), errno.EPERM)
        with world.netns("cl"):
            same("IPv6", world.errno_of(mpdpa.open_socket, socket.AF_INET6), errno.EPERM)

    def many() -> None:
        with every_socket_refused():
            for _ in range(10):
                once()

    leaves_nothing(many)


@case
def closed_in_order() -> None:
    def once() -> None:
        with Pair() as pair:
            mark(pair.client)
            mark(pair.server)

    leaves_nothing(once)


@case
def fell_back() -> None:
    def once() -> None:
        with world.client_socket() as early, world.listener(protocol=socket.IPPROTO_TCP) as waiting:
            mark(early)
            early.connect(("10.0.1.2", world.PORT))
            waiting.accept()[0].close()

    leaves_nothing(once)


@case
def accepted_and_never_used() -> None:
    def once() -> None:
        with world.listener() as waiting, world.client_socket() as sock:
            mpdpa.set_pref(waiting, mpdpa.Path(endpoint=9, cost=3))
            sock.connect(("10.0.1.2", world.PORT))
            accepted, _ = waiting.accept()
            same("it has none of the listener's state", mpdpa.get_prefs(accepted), [])
            accepted.close()

    leaves_nothing(once)


@case
def in_the_backlog_and_never_accepted() -> None:
    def once() -> None:
        with world.listener() as waiting, world.client_socket() as sock:
            mark(sock)
            sock.connect(("10.0.1.2", world.PORT))
            waiting.close()

    leaves_nothing(once)


@case
def reset_by_the_peer() -> None:
    def once() -> None:
        with Pair() as pair:
            mark(pair.client)
            pair.server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            pair.server.close()

    leaves_nothing(once)


def disconnect(sock: socket.socket) -> None:
    """connect(AF_UNSPEC)"""
    address = struct.pack("=H14x", socket.AF_UNSPEC)
    if libc.connect(sock.fileno(), address, len(address)):
        raise OSError(ctypes.get_errno(), "connect")


@case
def disconnected_by_af_unspec() -> None:
    def once() -> None:
        with Pair() as pair:
            mark(pair.client)
            pair.client.sendall(bytes(1500))
            disconnect(pair.client)
            pair.client.connect(("10.0.1.2", world.PORT))
            same("chunks of the old stream", mpdpa.get_info(pair.client).chunks_queued, 0)
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(10, 60 * SECOND))
            same("one of the new", mpdpa.get_info(pair.client).chunks_queued, 1)
            disconnect(pair.client)

    leaves_nothing(once)


@case
def passed_to_another_process() -> None:
    """SCM_RIGHTS: the state lives as long as anybody has the socket."""
    with world.netns("cl"):
        here, there = socket.socketpair(socket.AF_UNIX)
        child = os.fork()
    if not child:
        here.close()
        _, ancillary, _, _ = there.recvmsg(1, socket.CMSG_SPACE(4))
        fds = array.array("i", ancillary[0][2])
        there.recv(1)
        mpdpa.set_chunk(fds[0], mpdpa.Chunk(7, 60 * SECOND))
        there.send(bytes([mpdpa.get_info(fds[0]).chunks_queued]))
        there.recv(1)
        os._exit(0)
    there.close()
    with Pair() as pair:
        mark(pair.client)
        here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pair.client.fileno()]))])
        os.close(pair.client.detach())
        time.sleep(0.1)
        same("connections", world.stats().connections, 1)
        here.send(b"x")
        same("chunks, with the one of the other process", here.recv(1), bytes([6]))
        here.send(b"x")
        os.waitpid(child, 0)
    world.no_state_left("cl")
    here.close()


@case
def killed_with_a_thousand() -> None:
    before = live_objects()
    child = os.fork()
    if not child:
        with world.netns("cl"):
            socks = [mpdpa.open_socket() for _ in range(1000)]
        for sock in socks:
            mark(sock)
        signal.pause()
    world.until("all of them", lambda: world.stats().connections == 1000, 60)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    world.no_state_left("cl")
    world.until("their memory back", lambda: live_objects() <= before + SLACK)


@case
def in_a_namespace_that_goes() -> None:
    world.add_namespace("gone")
    sock = world.client_socket("gone")
    mark(sock)
    same("connections", world.stats("gone").connections, 1)
    world.sh("ip netns del gone")
    mpdpa.set_chunk(sock, mpdpa.Chunk(1, SECOND))
    same("it works until it is closed", mpdpa.get_info(sock).chunks_queued, 6)
    sock.close()
    time.sleep(0.5)


@case
def two_namespaces_at_once() -> None:
    with world.netns("cl"):
        here = [mpdpa.open_socket() for _ in range(3)]
    with world.netns("sv"):
        there = [mpdpa.open_socket() for _ in range(2)]
    for sock in here + there:
        mark(sock)
    same("connections", (world.stats("cl").connections, world.stats("sv").connections), (3, 2))
    with world.control("cl") as a, world.control("sv") as b:
        cookies = [{c.cookie for c in ctl.connections()} for ctl in (a, b)]
        same("not the same", cookies[0] & cookies[1], set())
        a.set_path(mpdpa.Path(ifindex=1, cost=7))
        same("costs there", b.paths(), [])
        a.del_path(mpdpa.Path(ifindex=1))
    for sock in here + there:
        sock.close()


@case
def the_module_goes_when_all_is_done() -> None:
    world.no_state_left("cl")
    world.no_state_left("sv")
    world.sh("mpdpa unload")
    with contextlib.suppress(AssertionError):
        world.until("sockets gone", lambda: not world.run("rmmod", "mptcp_dpa").returncode, 20)
    same("the module is there", os.path.exists("/sys/module/mptcp_dpa"), False)


if __name__ == "__main__":
    world.build()
    main()
