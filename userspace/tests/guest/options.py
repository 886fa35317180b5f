#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every socket option with every errno, of root and of a user without privileges."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
import time

import mpdpa
import world
from ktap import between, case, main, same
from mpdpa.constants import (
    CHUNKS_MAX,
    MPTCP_DPA_CHUNK,
    MPTCP_DPA_EVENTFD,
    MPTCP_DPA_INFO,
    MPTCP_DPA_PREF,
    MPTCP_DPA_STREAM,
    PREFS_MAX,
    SOL_MPTCP,
)
from world import Pair, as_nobody, errno_of

SET = {"chunk": MPTCP_DPA_CHUNK, "stream": MPTCP_DPA_STREAM, "pref": MPTCP_DPA_PREF, "eventfd": MPTCP_DPA_EVENTFD}
GET = {"info": MPTCP_DPA_INFO, "pref": MPTCP_DPA_PREF}
MS = 1_000_000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
HOUR = 3600 * mpdpa.SECOND
U64 = 2**64 - 1


def chunk(length: int = 1000, deadline: int = mpdpa.SECOND, cookie: int = 0, alpha: int = 0, flags: int = 0) -> bytes:
    return struct.pack("QQQII", length, deadline, cookie, alpha, flags)


def stream(interval: int = 10 * MS, deadline: int = mpdpa.SECOND, expected: int = 0, alpha: int = 0, flags: int = 0) -> bytes:
    return struct.pack("QQQII", interval, deadline, expected, alpha, flags)


def pref(kind: int = 2, cost: int = 5, ident: int = 1, reserved: int = 0, addr: bytes = b"") -> bytes:
    return struct.pack("IIII16s", kind, cost, ident, reserved, addr)


CHUNK_ERRORS = [
    (chunk()[:31], "EINVAL"),
    (b"", "EINVAL"),
    (chunk(flags=1 << 3), "EINVAL"),
    (chunk(flags=1 << 31), "EINVAL"),
    (chunk(alpha=99), "EINVAL"),
    (chunk(alpha=4001), "EINVAL"),
    (chunk() + b"\1", "E2BIG"),
    (chunk() + bytes(100) + b"\1", "E2BIG"),
    (chunk() + bytes(5000), "E2BIG"),
    (chunk(length=0), "ENODATA"),
    (chunk(length=2**62 + 1), "EFBIG"),
    (chunk(length=U64), "EFBIG"),
    (chunk(deadline=0), "ETIME"),
    (chunk(deadline=1, flags=1), "ETIME"),
    (chunk(deadline=2**63 - 1), "EOVERFLOW"),
    (chunk(deadline=2**63, flags=1), "EOVERFLOW"),
]

STREAM_ERRORS = [
    (stream()[:31], "EINVAL"),
    (stream(flags=1), "EINVAL"),
    (stream(flags=1 << 3), "EINVAL"),
    (stream(alpha=99), "EINVAL"),
    (stream(alpha=4001), "EINVAL"),
    (stream(interval=0), "EINVAL"),
    (stream(interval=0, deadline=0, expected=1), "EINVAL"),
    (stream() + b"\1", "E2BIG"),
    (stream(interval=MS - 1), "ERANGE"),
    (stream(interval=HOUR + 1), "ERANGE"),
    (stream(deadline=0), "ETIME"),
    (stream(deadline=2**62 + 1), "EOVERFLOW"),
    (stream(expected=2**62 + 1), "EFBIG"),
]

PREF_ERRORS = [
    (pref()[:31], "EINVAL"),
    (pref() + b"\1", "E2BIG"),
    (pref(kind=0), "EINVAL"),
    (pref(kind=5), "EINVAL"),
    (pref(reserved=1), "EINVAL"),
    (pref(cost=1_000_001), "EINVAL"),
    (pref(cost=2**32 - 2), "EINVAL"),
    (pref(kind=1, ident=0), "EINVAL"),
    (pref(kind=1, ident=256), "EINVAL"),
    (pref(kind=1, addr=b"\1"), "EINVAL"),
    (pref(kind=2, ident=0), "EINVAL"),
    (pref(kind=2, ident=2**31), "EINVAL"),
    (pref(kind=2, addr=b"\1"), "EINVAL"),
    (pref(kind=3, ident=0), "EINVAL"),
    (pref(kind=3, ident=1, addr=b"\x0a\0\0\1"), "EINVAL"),
    (pref(kind=3, ident=0, addr=b"\x0a\0\0\1\1"), "EINVAL"),
    (pref(kind=4, ident=0), "EINVAL"),
    (pref(kind=4, ident=1, addr=b"\xfd" + bytes(14) + b"\1"), "EINVAL"),
    (pref(cost=0), "ENOENT"),
]


def set_errno(sock: socket.socket, option: str, value: bytes) -> int:
    return errno_of(sock.setsockopt, SOL_MPTCP, SET[option], value)


def get_errno(sock: socket.socket, option: str, size: int) -> int:
    return errno_of(sock.getsockopt, SOL_MPTCP, GET[option], size)


def name(number: int) -> str:
    if number == errno.EOPNOTSUPP:
        return "EOPNOTSUPP"
    return errno.errorcode.get(number, str(number))


def refusals(sock: socket.socket) -> list[str]:
    """What does not come out as it should."""
    bad = []
    for option, rows in (("chunk", CHUNK_ERRORS), ("stream", STREAM_ERRORS), ("pref", PREF_ERRORS)):
        for value, expected in rows:
            got = name(set_errno(sock, option, value))
            if got != expected:
                bad.append(f"{option} {value.hex()}: {got}, expected {expected}")
    return bad


@case
def every_refusal_as_root() -> None:
    with Pair() as pair:
        same("refusals", refusals(pair.client), [])
        same("prefs", mpdpa.get_prefs(pair.client), [])
        same("chunks queued", mpdpa.get_info(pair.client).chunks_queued, 0)


@case
def every_refusal_without_privilege() -> None:
    with Pair() as pair:
        same("refusals", as_nobody(lambda: refusals(pair.client)), [])


@case
def refusals_before_connect_and_on_the_accepted_side() -> None:
    with world.client_socket() as fresh:
        same("refusals", refusals(fresh), [])
    with Pair() as pair:
        same("refusals", refusals(pair.server), [])


@case
def what_is_in_order_is_taken() -> None:
    with Pair() as pair:
        values = [
            ("chunk", chunk()),
            ("chunk", chunk(alpha=100, cookie=U64, flags=3 << 1)),
            ("chunk", chunk(length=2**62 - 10_000)),
            ("chunk", chunk() + bytes(100)),
            ("chunk", chunk(deadline=time.monotonic_ns() + mpdpa.SECOND, flags=1)),
            ("pref", pref()),
            ("pref", pref(kind=1, ident=255, cost=2**32 - 1)),
            ("pref", pref(kind=4, ident=0, addr=b"\xfd" + bytes(14) + b"\1") + bytes(32)),
            ("pref", pref(cost=0)),
        ]
        for option, value in values:
            same(f"{option} {value.hex()}", name(set_errno(pair.client, option, value)), "0")
        same("a chunk beyond the stream", name(set_errno(pair.client, "chunk", chunk(length=2**62))), "0")
        same("and one more", name(set_errno(pair.client, "chunk", chunk(length=2**62))), "EFBIG")


@case
def unknown_options_are_not_ours() -> None:
    with Pair() as pair:
        for option in (MPTCP_DPA_CHUNK - 1, MPTCP_DPA_EVENTFD + 1, MPTCP_DPA_INFO):
            assert errno_of(pair.client.setsockopt, SOL_MPTCP, option, chunk()) in (
                errno.ENOPROTOOPT,
                errno.EOPNOTSUPP,
            )
        for option in (MPTCP_DPA_CHUNK, MPTCP_DPA_STREAM, MPTCP_DPA_EVENTFD, MPTCP_DPA_EVENTFD + 1):
            assert errno_of(pair.client.getsockopt, SOL_MPTCP, option, 32) in (
                errno.ENOPROTOOPT,
                errno.EOPNOTSUPP,
            )


@case
def info_of_every_length() -> None:
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))
        for size in (1, 15):
            same(f"info of {size}", name(get_errno(pair.client, "info", size)), "EINVAL")
        whole = pair.client.getsockopt(SOL_MPTCP, MPTCP_DPA_INFO, 1024)
        header, path_size, paths, queued = struct.unpack_from("IIII", whole)
        same("rows", (header, path_size, paths, queued), (136, 48, 1, 1))
        for size in (16, 17, 100, len(whole)):
            part = pair.client.getsockopt(SOL_MPTCP, MPTCP_DPA_INFO, size)
            same(f"length for {size}", len(part), min(size, len(whole)))
            same("its beginning", part[:16], whole[:16])


@case
def info_tells_chunks_and_subflows() -> None:
    with Pair() as pair:
        before = mpdpa.get_info(pair.client)
        same("before", (before.conn_id, before.chunk, before.subflows), (0, None, ()))
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND, cookie=77, alpha_milli=500))
        info = mpdpa.get_info(pair.client)
        assert info.chunk
        assert info.conn_id
        same("chunk", (info.chunk.length, info.chunk.cookie, info.chunk.alpha_milli), (1000, 77, 500))
        same("left", info.chunk.deadline_ns - info.now_ns, info.chunk.left_ns)
        same("subflows", [(s.id, s.local_id, s.cost) for s in info.subflows], [(1, 0, 1)])
        assert info.subflows[0].flags & mpdpa.PathFlags.ACTIVE
        same("interface", info.subflows[0].ifindex, ifindex("cl", "c1"))
        pair.drain().client.sendall(bytes(1000))
        world.until("the verdict", lambda: mpdpa.get_info(pair.client).chunks_met == 1)
        same("none in force", mpdpa.get_info(pair.client).chunk, None)


@case
def queue_has_an_end() -> None:
    with Pair() as pair:
        for _ in range(CHUNKS_MAX):
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(1, mpdpa.SECOND))
        same("one more", name(set_errno(pair.client, "chunk", chunk())), "ENOBUFS")
    world.sysctl("cl", "mptcp_dpa/chunks_max", 2)
    try:
        with Pair() as pair:
            results = [name(set_errno(pair.client, "chunk", chunk())) for _ in range(3)]
            same("with chunks_max 2", results, ["0", "0", "ENOBUFS"])
    finally:
        world.sysctl("cl", "mptcp_dpa/chunks_max", CHUNKS_MAX)


@case
def streams_and_chunks_exclude_each_other() -> None:
    with Pair() as pair:
        same("a chunk", name(set_errno(pair.client, "chunk", chunk())), "0")
        same("a stream behind it", name(set_errno(pair.client, "stream", stream())), "EBUSY")
    with Pair() as pair:
        same("a stream", name(set_errno(pair.client, "stream", stream())), "0")
        same("another", name(set_errno(pair.client, "stream", stream(interval=MS))), "0")
        same("a chunk", name(set_errno(pair.client, "chunk", chunk())), "EBUSY")
        assert mpdpa.get_info(pair.client).flags & mpdpa.InfoFlags.STREAM
        mpdpa.stop_stream(pair.client)
        same("a chunk after it", name(set_errno(pair.client, "chunk", chunk())), "0")


@case
def intervals_make_chunks() -> None:
    with Pair() as pair:
        pair.drain()
        mpdpa.set_stream(pair.client, mpdpa.Stream(20 * MS, 200 * MS, expected_bytes=10_000))
        for _ in range(3):
            pair.client.sendall(bytes(5000))
            time.sleep(0.05)
        mpdpa.stop_stream(pair.client)
        world.until("three verdicts", lambda: mpdpa.get_info(pair.client).chunks_met == 3)


@case
def sockets_on_which_nothing_works() -> None:
    with Pair(protocol=socket.IPPROTO_TCP) as pair:
        same("fell back", name(set_errno(pair.client, "chunk", chunk())), "EPROTONOSUPPORT")
        same("fell back", name(set_errno(pair.client, "stream", stream())), "EPROTONOSUPPORT")
        for option, value in (("chunk", chunk()), ("stream", stream()), ("pref", pref()), ("eventfd", bytes(4))):
            same(f"plain, {option}", name(set_errno(pair.server, option, value)), "ENOPROTOOPT")
        for option in GET:
            same(f"plain, {option}", name(get_errno(pair.server, option, 400)), "ENOPROTOOPT")
    with world.listener() as waiting:
        same("listening", name(set_errno(waiting, "chunk", chunk())), "ENOTCONN")
        same("listening", name(set_errno(waiting, "stream", stream())), "ENOTCONN")
    with Pair() as pair:
        pair.client.shutdown(socket.SHUT_WR)
        same("shut down", name(set_errno(pair.client, "chunk", chunk())), "EPIPE")
        same("shut down", name(set_errno(pair.client, "stream", stream())), "EPIPE")
    with Pair() as pair:
        pair.server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        pair.server.close()
        world.until("the reset", lambda: name(set_errno(pair.client, "chunk", chunk())) in ("ENOTCONN", "EPIPE"))


@case
def another_scheduler() -> None:
    world.sysctl("cl", "mptcp/scheduler", "default")
    try:
        with world.client_socket() as other:
            for option, value in (("chunk", chunk()), ("stream", stream()), ("pref", pref()), ("eventfd", bytes(4))):
                same(option, name(set_errno(other, option, value)), "EOPNOTSUPP")
            for option in GET:
                same(option, name(get_errno(other, option, 400)), "EOPNOTSUPP")
    finally:
        world.sysctl("cl", "mptcp/scheduler", "mpdpa")


def ifindex(ns: str, name_: str) -> int:
    with world.netns(ns):
        return socket.if_nametoindex(name_)


@case
def preferences_change_costs() -> None:
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))
        c1 = ifindex("cl", "c1")
        by_dev = mpdpa.Path(ifindex=c1, cost=7)
        by_addr = mpdpa.Path.of_address("10.0.1.1", cost=9)
        mpdpa.set_pref(pair.client, by_dev)
        same("cost", mpdpa.get_info(pair.client).subflows[0].cost, 7)
        mpdpa.set_pref(pair.client, by_addr)
        same("an address is stronger", mpdpa.get_info(pair.client).subflows[0].cost, 9)
        same("prefs", mpdpa.get_prefs(pair.client), [by_dev, by_addr])
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("10.0.1.1"))
        same("taken away", mpdpa.get_info(pair.client).subflows[0].cost, 7)
        # as getsockname() says it on a socket for both families
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("::ffff:10.0.1.1", cost=9))
        same("IPv4 in IPv6", mpdpa.get_info(pair.client).subflows[0].cost, 9)
        same("the same name", mpdpa.get_prefs(pair.client), [by_dev, by_addr])
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("10.0.1.1"))
        same("no address", name(errno_of(mpdpa.set_pref, pair.client, mpdpa.Path.of_address("::ffff:0.0.0.0", 9))), "EINVAL")
        mpdpa.set_pref(pair.client, mpdpa.Path(ifindex=c1, cost=mpdpa.COST_FORBIDDEN))
        subflow = mpdpa.get_info(pair.client).subflows[0]
        same("forbidden", (subflow.cost, bool(subflow.flags & mpdpa.PathFlags.FORBIDDEN)), (mpdpa.COST_FORBIDDEN, True))


@case
def preferences_by_endpoint() -> None:
    world.second_path(True)
    try:
        with Pair() as pair:
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, 60 * mpdpa.SECOND))
            pair.drain().client.sendall(b"x")
            subflows = world.until("a second subflow", lambda: mpdpa.get_info(pair.client).subflows[1:])
            same("costs", (subflows[0].local_id, subflows[0].cost), (2, 1))
            mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=2, cost=11))
            same("costs", [s.cost for s in mpdpa.get_info(pair.client).subflows], [1, 11])
    finally:
        world.second_path(False)


@case
def in_a_container() -> None:
    """User and network namespaces of one's own: everything but loading works in them."""
    libc = ctypes.CDLL(None, use_errno=True)

    def contained() -> tuple[int, int, int, str]:
        if libc.unshare(0x10000000 | 0x40000000):
            return -1, 0, 0, os.strerror(ctypes.get_errno())
        # a program that is run has the privileges of a mapped user alone, and there is none
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
        for file, value in (("mptcp/scheduler", "mpdpa"), ("mptcp_dpa/alpha_milli", "600")):
            with open(f"/proc/sys/net/{file}", "w") as setting:
                setting.write(value)
        with mpdpa.Control() as control, mpdpa.Monitor(), mpdpa.open_socket() as waiting, mpdpa.open_socket() as sock:
            waiting.bind(("127.0.0.1", world.PORT))
            waiting.listen()
            sock.connect(("127.0.0.1", world.PORT))
            server, _ = waiting.accept()
            control.set_path(mpdpa.Path(ifindex=1, cost=20))
            mpdpa.set_pref(sock, mpdpa.Path(ifindex=1, cost=4))
            mpdpa.set_chunk(sock, mpdpa.Chunk(1000, 60 * mpdpa.SECOND))
            info = mpdpa.get_info(sock)
            sock.sendall(bytes(1000))
            server.recv(1000, socket.MSG_WAITALL)
            world.until("its verdict", lambda: mpdpa.get_info(sock).chunks_met == 1)
            listed = ",".join(str(c.id == info.conn_id) for c in control.connections())
            server.close()
            assert info.chunk
            return info.subflows[0].cost, info.chunk.alpha_milli, control.stats().chunks_met, listed

    same("cost, alpha, chunks met, connections", as_nobody(contained), (4, 600, 1, "True"))


@case
def preferences_have_an_end() -> None:
    with Pair() as pair:
        for i in range(PREFS_MAX):
            mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=i + 1, cost=3))
        last = mpdpa.Path(endpoint=100, cost=3)
        same("one more", name(errno_of(mpdpa.set_pref, pair.client, last)), "ENOSPC")
        mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=1, cost=4))
        mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=2))
        mpdpa.set_pref(pair.client, last)
        same("how many", len(mpdpa.get_prefs(pair.client)), PREFS_MAX)
        for size, rows in ((32, 1), (63, 1), (64, 2), (1024, PREFS_MAX)):
            got = pair.client.getsockopt(SOL_MPTCP, MPTCP_DPA_PREF, size)
            same(f"rows in {size}", len(got), 32 * rows)
        same("no room", name(get_errno(pair.client, "pref", 31)), "EINVAL")


@case
def cheaper_than_the_operator_says_needs_privilege() -> None:
    c1 = ifindex("cl", "c1")
    with Pair() as pair, world.control() as ctl:
        ctl.set_path(mpdpa.Path(ifindex=c1, cost=50))
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))

        def try_cost(cost: int) -> int:
            return errno_of(mpdpa.set_pref, pair.client, mpdpa.Path(ifindex=c1, cost=cost))

        def try_addr(addr: str, cost: int) -> int:
            return errno_of(mpdpa.set_pref, pair.client, mpdpa.Path.of_address(addr, cost))

        same("cheaper", name(as_nobody(lambda: try_cost(49))), "EPERM")
        same("the same", as_nobody(lambda: try_cost(50)), 0)
        same("dearer", as_nobody(lambda: try_cost(60)), 0)
        same("cost", mpdpa.get_info(pair.client).subflows[0].cost, 60)
        ctl.set_path(mpdpa.Path(ifindex=c1, cost=70))
        same("the operator's has risen since", mpdpa.get_info(pair.client).subflows[0].cost, 70)
        same("cheaper by another name", name(as_nobody(lambda: try_addr("10.0.1.1", 2))), "EPERM")
        same("of a path that is not there yet", as_nobody(lambda: try_addr("10.0.2.1", 2)), 0)
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("10.0.1.1", 3))
        same("with privilege", mpdpa.get_info(pair.client).subflows[0].cost, 3)
        ctl.del_path(mpdpa.Path(ifindex=c1))


@case
def late_policies() -> None:
    """What is late is seen in conn-get, not in the info."""
    for late in mpdpa.Late:
        with Pair() as pair, world.control() as ctl:
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND, late=late))
            conn = ctl.connection(id=mpdpa.get_info(pair.client).conn_id)
            assert conn.chunk
            same("late policy", conn.chunk.late, late)


@case
def eventfds() -> None:
    with Pair() as pair:
        plain = os.open("/dev/null", os.O_RDONLY)
        event = os.eventfd(0, os.EFD_NONBLOCK)
        same("no fd", name(errno_of(mpdpa.set_eventfd, pair.client, 9999)), "EBADF")
        same("no number of one", name(errno_of(mpdpa.set_eventfd, pair.client, -2)), "EBADF")
        same("another file", name(errno_of(mpdpa.set_eventfd, pair.client, plain)), "EINVAL")
        same("too short", name(set_errno(pair.client, "eventfd", b"\0")), "EINVAL")
        same("too long", name(set_errno(pair.client, "eventfd", bytes(8))), "EINVAL")
        mpdpa.set_eventfd(pair.client, event)
        mpdpa.set_eventfd(pair.client, event)
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))
        pair.drain().client.sendall(bytes(1000))
        world.until("the event", lambda: mpdpa.get_info(pair.client).chunks_met)
        # at-risk may come before it
        between("count", os.eventfd_read(event), 1, 2)
        mpdpa.set_eventfd(pair.client, None)
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))
        pair.client.sendall(bytes(1000))
        world.until("the event", lambda: mpdpa.get_info(pair.client).chunks_met == 2)
        same("none of it told", name(errno_of(os.eventfd_read, event)), "EAGAIN")
        os.close(event)
        os.close(plain)


@case
def sysctls_have_their_ranges() -> None:
    rows = {
        "alpha_milli": (0, 4000, 0),
        "policy": (0, 1, 0),
        "interval_us": (1000, 1_000_000, 25_000),
        "hysteresis_us": (0, 10_000_000, 100_000),
        "late_policy": (0, 2, 0),
        "chunks_max": (1, 64, 64),
        "signal_peer": (0, 1, 1),
        "overflow_ms": (0, 60_000, 0),
    }
    for file, (least, most, preset) in rows.items():
        path = f"mptcp_dpa/{file}"
        with world.netns("sv"), open(f"/proc/sys/net/{path}") as text:
            same(file, int(text.read()), preset)
        for value in (least, most):
            world.sysctl("sv", path, value)
        for value in (least - 1, most + 1, *((1, 99) if file == "alpha_milli" else ())):
            same(f"{file} {value}", name(errno_of(world.sysctl, "sv", path, value)), "EINVAL")
        # entering the namespace would need privilege as well
        with world.netns("sv"):
            error = as_nobody(lambda path=path: errno_of(open, f"/proc/sys/net/{path}", "w"))
        same(f"{file} without privilege", name(error), "EACCES")
        world.sysctl("sv", path, preset)
    with world.netns("cl"):
        same("files", sorted(os.listdir("/proc/sys/net/mptcp_dpa")), sorted(rows))


@case
def alpha_is_the_namespaces() -> None:
    world.sysctl("cl", "mptcp_dpa/alpha_milli", 700)
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, mpdpa.SECOND))
        mpdpa.set_chunk(pair.server, mpdpa.Chunk(1000, mpdpa.SECOND))
        alphas = [mpdpa.get_info(s).chunk.alpha_milli for s in (pair.client, pair.server)]  # type: ignore[union-attr]
        same("alpha at either end", alphas, [700, 0])
    world.sysctl("cl", "mptcp_dpa/alpha_milli", 0)


@case
def nothing_is_left() -> None:
    world.no_state_left("cl")
    world.no_state_left("sv")


if __name__ == "__main__":
    world.build()
    main()
