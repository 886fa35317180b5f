#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The netlink family by the kernel's own YNL client: every attribute, every error."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "ynl"))

import mpdpa  # noqa: E402
import world  # noqa: E402
from ktap import between, case, main, same  # noqa: E402
from pyynl.lib import NlError, YnlFamily  # noqa: E402
from world import Pair, as_nobody  # noqa: E402

SPEC = HERE / "ynl" / "mptcp_dpa.yaml"
SECOND = mpdpa.SECOND
COST_MAX = 1_000_000

# attributes that some reply or event has shown, by set
seen: dict[str, set[str]] = {}


def note_seen(family: YnlFamily, attribute_set: str, values: dict[str, Any]) -> None:
    seen.setdefault(attribute_set, set()).update(values)
    for name, value in values.items():
        nested = family.attr_sets[attribute_set][name].yaml.get("nested-attributes")
        for each in value if isinstance(value, list) else [value]:
            if nested:
                note_seen(family, nested, each)


class Ynl:
    """The family in a namespace; what replies show is noted."""

    def __init__(self, ns: str | None = "cl") -> None:
        # the schema was checked where it was built
        if ns:
            with world.netns(ns):
                self.family = YnlFamily(str(SPEC), schema="")
        else:
            self.family = YnlFamily(str(SPEC), schema="")

    def note(self, operation: str, reply: Any) -> Any:
        attribute_set = self.family.msgs[operation].attr_set.name
        for each in reply if isinstance(reply, list) else [reply or {}]:
            note_seen(self.family, attribute_set, each)
        return reply

    def do(self, operation: str, **values: Any) -> Any:
        return self.note(operation, self.family.do(operation, {k.replace("_", "-"): v for k, v in values.items()}))

    def dump(self, operation: str) -> list[dict[str, Any]]:
        return self.note(operation, self.family.dump(operation, {}))

    def error(self, operation: str, **values: Any) -> str:
        """The name of the errno that it is refused with."""
        try:
            self.do(operation, **values)
        except NlError as refusal:
            return errno_name(-refusal.nl_msg.error)
        return "0"


def errno_name(number: int) -> str:
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode[number]


def nobody(function: Callable[[Ynl], Any], uid: int = world.NOBODY) -> Any:
    """Runs it in a process without privileges, with a socket of its own."""
    with world.netns("cl"):
        return as_nobody(lambda: function(Ynl(None)), uid)


def ifindex(name: str, ns: str = "cl") -> int:
    with world.netns(ns):
        return socket.if_nametoindex(name)


NAMES: list[dict[str, Any]] = [
    {"endpoint_id": 1},
    {"endpoint_id": 255},
    {"ifindex": 1},
    {"ifindex": 2**31 - 1},
    {"addr4": "10.0.1.1"},
    {"addr6": "fd00::1"},
]


def key(values: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in values.items()}


@case
def costs_by_every_name() -> None:
    ynl = Ynl()
    for cost, name in enumerate(NAMES, 1):
        same("no cost yet", ynl.error("path-get", **name), "ENOENT")
        same("nothing to take", ynl.error("path-del", **name), "ENOENT")
        ynl.do("path-set", **name, cost=COST_MAX)
        ynl.do("path-set", **name, cost=cost)
        same("cost", ynl.do("path-get", **name), key(name) | {"cost": cost})
    same("all of them", ynl.dump("path-get"), [key(name) | {"cost": c} for c, name in enumerate(NAMES, 1)])
    same("the library sees the same", [p.cost for p in world.control().paths()], list(range(1, len(NAMES) + 1)))
    same("the other namespace", Ynl("sv").dump("path-get"), [])
    for name in NAMES:
        ynl.do("path-del", **name)
    same("none left", ynl.dump("path-get"), [])


@case
def costs_refused() -> None:
    ynl = Ynl()
    rows: list[tuple[str, dict[str, Any]]] = [
        ("EINVAL", {}),
        ("EINVAL", {"cost": 1}),
        ("EINVAL", {"ifindex": 1}),
        ("EINVAL", {"ifindex": 1, "endpoint_id": 1, "cost": 1}),
        ("EINVAL", {"addr4": "10.0.0.1", "addr6": "::1", "cost": 1}),
        ("EINVAL", {"addr4": "0.0.0.0", "cost": 1}),
        ("EINVAL", {"addr6": "::", "cost": 1}),
        ("EINVAL", {"addr6": "::ffff:0.0.0.0", "cost": 1}),
        ("ERANGE", {"endpoint_id": 0, "cost": 1}),
        ("ERANGE", {"ifindex": 0, "cost": 1}),
        ("ERANGE", {"ifindex": 2**31, "cost": 1}),
        ("ERANGE", {"ifindex": 1, "cost": 0}),
        ("ERANGE", {"ifindex": 1, "cost": COST_MAX + 1}),
        ("ERANGE", {"ifindex": 1, "cost": 2**32 - 1}),
        ("EINVAL", {"ifindex": 1, "cost": 1, "quota_bytes": 1}),
        ("EINVAL", {"ifindex": 1, "cost": 1, "quota_period_ns": 10**9}),
        ("EINVAL", {"ifindex": 1, "cost": 1, "quota_soft": True}),
        ("ERANGE", {"ifindex": 1, "cost": 1, "quota_bytes": 1, "quota_period_ns": 10**9 - 1}),
        ("ERANGE", {"ifindex": 1, "cost": 1, "quota_bytes": 1, "quota_period_ns": 2**63}),
    ]
    for expected, values in rows:
        same(f"path-set {values}", ynl.error("path-set", **values), expected)
    for operation in ("path-get", "path-del"):
        same(f"{operation} of nothing", ynl.error(operation), "EINVAL")
        same(f"{operation} of two", ynl.error(operation, ifindex=1, addr4="10.0.0.1"), "EINVAL")
    same("nothing was set", ynl.dump("path-get"), [])


@case
def limits() -> None:
    """Set as a whole, changed and taken away one by one, the rest stays."""
    ynl = Ynl()
    quota = {"quota_bytes": 10**9, "quota_period_ns": 60 * 10**9}
    ynl.do("path-set", ifindex=1, cost=3, cheap_rate=5000, quota_soft=True, **quota)
    row = {"ifindex": 1, "cost": 3, "cheap-rate": 5000, "quota-bytes": 10**9, "quota-period-ns": 60 * 10**9}
    same("as set", ynl.do("path-get", ifindex=1), row | {"quota-spent": 0, "quota-soft": True})
    ynl.do("path-set", ifindex=1, cost=4, **quota)
    same("not soft any more", ynl.do("path-get", ifindex=1), row | {"cost": 4, "quota-spent": 0})
    ynl.do("path-set", ifindex=1, cost=4, cheap_rate=0)
    same("dumped", ynl.dump("path-get"), [{k: v for k, v in row.items() if k != "cheap-rate"} | {"cost": 4, "quota-spent": 0}])
    ynl.do("path-set", ifindex=1, cost=4, quota_bytes=0)
    same("none left", ynl.do("path-get", ifindex=1), {"ifindex": 1, "cost": 4})
    ynl.do("path-del", ifindex=1)
    path = mpdpa.Path(ifindex=1, cost=7)
    with world.control() as ctl:
        wanted = mpdpa.Limits(mpdpa.Quota(1000, 10**9, soft=True), 77)
        ctl.limit_path(path, wanted)
        same("by the library", ctl.limits(path), wanted)
        ctl.limit_path(path, mpdpa.Limits())
        same("and none", ctl.limits(path), mpdpa.Limits())
        ctl.del_path(path)


@case
def costs_have_an_end() -> None:
    with world.control() as ctl:
        for i in range(1024):
            ctl.set_path(mpdpa.Path(ifindex=i + 1, cost=1))
        same("one more", world.errno_of(ctl.set_path, mpdpa.Path(ifindex=5000, cost=1)), errno.ENOSPC)
        same("a long dump", [p.ifindex for p in ctl.paths()], list(range(1, 1025)))
        for i in range(1024):
            ctl.del_path(mpdpa.Path(ifindex=i + 1))


@case
def changing_needs_privilege() -> None:
    same("path-set", nobody(lambda ynl: ynl.error("path-set", ifindex=1, cost=1)), "EPERM")
    same("path-del", nobody(lambda ynl: ynl.error("path-del", ifindex=1)), "EPERM")
    same("conn-set", nobody(lambda ynl: ynl.error("conn-set", id=1, alpha_milli=500)), "EPERM")
    same("path-get", nobody(lambda ynl: ynl.error("path-get", ifindex=1)), "ENOENT")
    same("its dump", nobody(lambda ynl: ynl.dump("path-get")), [])
    same("stat-get", nobody(lambda ynl: "connections" in ynl.do("stat-get")), True)


@case
def connections_are_shown() -> None:
    ynl = Ynl()
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(5000, SECOND, cookie=9, alpha_milli=800, late=mpdpa.Late.CHEAP))
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("10.0.1.1", 4))
        mpdpa.set_pref(pair.client, mpdpa.Path(endpoint=3, cost=mpdpa.COST_FORBIDDEN))
        mpdpa.set_pref(pair.client, mpdpa.Path.of_address("fd00::1", 5))
        conn = ynl.do("conn-get", id=mpdpa.get_info(pair.client).conn_id)
        same("by token", ynl.do("conn-get", token=conn["token"])["id"], conn["id"])
        same("uid", conn["uid"], 0)
        same("cookie", conn["cookie"], int.from_bytes(pair.client.getsockopt(socket.SOL_SOCKET, 57, 8), "little"))
        chunk = conn["chunk"]
        same("chunk", (chunk["length"], chunk["cookie"], chunk["alpha-milli"]), (5000, 9, 800))
        same("late policy", chunk["late-policy"], "cheap")
        between("deadline", chunk["deadline-ns"] - time.monotonic_ns(), 1, SECOND)
        same("subflows", [(s["id"], s["local-id"], s["cost"]) for s in conn["subflow"]], [(1, 0, 4)])
        same("interface", conn["subflow"][0]["ifindex"], ifindex("c1"))
        same("prefs", conn["pref"], [
            {"addr4": "10.0.1.1", "cost": 4},
            {"endpoint-id": 3, "cost": mpdpa.COST_FORBIDDEN},
            {"addr6": "fd00::1", "cost": 5},
        ])  # fmt: skip
        same("dump", [c["id"] for c in ynl.dump("conn-get")], [conn["id"]])
        same("the other namespace", Ynl("sv").dump("conn-get"), [])
        same("id there", Ynl("sv").error("conn-get", token=conn["token"]), "ENOENT")


@case
def connections_refused() -> None:
    ynl = Ynl()
    with Pair() as pair:
        token = token_of(pair.client)
        for operation in ("conn-get", "conn-set"):
            same(f"{operation}: no name", ynl.error(operation), "EINVAL")
            same(f"{operation}: two names", ynl.error(operation, id=1, token=1), "EINVAL")
            same(f"{operation}: no such id", ynl.error(operation, id=2**63), "ENOENT")
            same(f"{operation}: no such token", ynl.error(operation, token=token ^ 1), "ENOENT")
        same("it never had deadlines", ynl.error("conn-get", token=token), "ENOENT")
        same("and is in no dump", ynl.dump("conn-get"), [])


def token_of(sock: socket.socket) -> int:
    """mptcpi_token of MPTCP_INFO."""
    raw = sock.getsockopt(284, 1, 64)
    return int.from_bytes(raw[12:16], "little")


@case
def others_connections_are_private() -> None:
    def two_users() -> list[socket.socket]:
        made = []
        for uid in (1000, 2000):
            with world.netns("cl"):
                sock = mpdpa.open_socket()
            os.fchown(sock.fileno(), uid, uid)
            mpdpa.set_chunk(sock, mpdpa.Chunk(1, SECOND))
            made.append(sock)
        return made

    socks = two_users()
    ids = [mpdpa.get_info(sock).conn_id for sock in socks]
    same("root sees both", [c["id"] for c in Ynl().dump("conn-get")], ids)
    same("uids", [c["uid"] for c in Ynl().dump("conn-get")], [1000, 2000])
    same("1000 sees its own", nobody(lambda ynl: [c["id"] for c in ynl.dump("conn-get")], 1000), ids[:1])
    same("and reads it", nobody(lambda ynl: ynl.do("conn-get", id=ids[0])["id"], 1000), ids[0])
    same("but not the other", nobody(lambda ynl: ynl.error("conn-get", id=ids[1]), 1000), "EPERM")
    same("3000 sees none", nobody(lambda ynl: ynl.dump("conn-get"), 3000), [])
    for sock in socks:
        sock.close()


@case
def connections_are_changed() -> None:
    ynl = Ynl()
    with Pair() as pair:
        token = token_of(pair.client)
        ynl.do("conn-set", token=token, alpha_milli=600, pref=[{"addr4": "10.0.1.1", "cost": 8}])
        conn = ynl.do("conn-get", token=token)
        same("alpha", conn["alpha-milli"], 600)
        same("cost", conn["subflow"][0]["cost"], 8)
        ynl.do(
            "conn-set",
            id=conn["id"],
            chunk={"length": 7, "deadline-ns": SECOND, "cookie": 3, "alpha-milli": 900, "late-policy": "tell"},
            pref=[{"addr4": "10.0.1.1", "cost": 0}, {"ifindex": ifindex("c1"), "cost": 2}],
        )
        conn = ynl.do("conn-get", id=conn["id"])
        same("alpha stays", conn["alpha-milli"], 600)
        same("prefs", conn["pref"], [{"ifindex": ifindex("c1"), "cost": 2}])
        chunk = conn["chunk"]
        same("chunk", (chunk["length"], chunk["cookie"], chunk["alpha-milli"], chunk["late-policy"]), (7, 3, 900, "tell"))
        ynl.do("conn-set", id=conn["id"], alpha_milli=0)
        same("alpha of the namespace again", ynl.do("conn-get", id=conn["id"])["alpha-milli"], 0)
        for overflow in (250, mpdpa.OVERFLOW_OFF, 0):
            ynl.do("conn-set", id=conn["id"], overflow_ms=overflow)
            same("overflow", ynl.do("conn-get", id=conn["id"])["overflow-ms"], overflow)
        ynl.do("conn-set", id=conn["id"], chunk={"length": 1, "deadline-ns": SECOND})
        same("a second chunk", mpdpa.get_info(pair.client).chunks_queued, 2)


CHUNK = {"length": 1, "deadline-ns": SECOND}

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("ERANGE", {"alpha_milli": 4001}),
    ("ERANGE", {"alpha_milli": 99}),
    ("ERANGE", {"overflow_ms": 60001}),
    ("ERANGE", {"alpha_milli": 1}),
    ("EINVAL", {"chunk": {}}),
    ("EINVAL", {"chunk": {"length": 1}}),
    ("EINVAL", {"chunk": {"deadline-ns": SECOND}}),
    ("ENODATA", {"chunk": CHUNK | {"length": 0}}),
    ("EFBIG", {"chunk": CHUNK | {"length": 2**62 + 1}}),
    ("ETIME", {"chunk": CHUNK | {"deadline-ns": 0}}),
    ("EOVERFLOW", {"chunk": CHUNK | {"deadline-ns": 2**63}}),
    ("EINVAL", {"chunk": CHUNK | {"alpha-milli": 99}}),
    ("ERANGE", {"chunk": CHUNK | {"alpha-milli": 4001}}),
    ("ERANGE", {"chunk": CHUNK | {"late-policy": 3}}),
    ("EINVAL", {"pref": [{}]}),
    ("EINVAL", {"pref": [{"cost": 1}]}),
    ("EINVAL", {"pref": [{"ifindex": 1, "endpoint-id": 1, "cost": 1}]}),
    ("EINVAL", {"pref": [{"ifindex": 1, "cost": COST_MAX + 1}]}),
    ("ERANGE", {"pref": [{"ifindex": 0, "cost": 1}]}),
    ("ERANGE", {"pref": [{"endpoint-id": 0, "cost": 1}]}),
    ("ENOENT", {"pref": [{"ifindex": 77, "cost": 0}]}),
    ("ENOENT", {"pref": [{"ifindex": 77}]}),
    ("ENOSPC", {"pref": [{"ifindex": i + 1, "cost": 1} for i in range(7)]}),
]

GOOD = {"alpha_milli": 700, "overflow_ms": 100, "chunk": CHUNK, "pref": [{"ifindex": 40, "cost": 3}]}


@case
def a_change_is_all_or_nothing() -> None:
    ynl = Ynl()
    with Pair() as pair:
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(1000, 60 * SECOND))
        number = mpdpa.get_info(pair.client).conn_id

        def state() -> dict[str, Any]:
            conn = ynl.do("conn-get", id=number)
            return {name: conn.get(name) for name in ("alpha-milli", "overflow-ms", "pref", "chunks-queued")}

        before = state()
        for expected, change in CHANGES:
            if "pref" in change:
                change = change | {"pref": GOOD["pref"] + change["pref"]}  # type: ignore[operator]
            same(f"{change}", ynl.error("conn-set", id=number, **(GOOD | change)), expected)
            same(f"state after {change}", state(), before)
        ynl.do("conn-set", id=number, **GOOD)
        assert state() != before


@case
def connections_that_cannot_be_changed() -> None:
    ynl = Ynl()
    world.sysctl("cl", "mptcp/scheduler", "default")
    with Pair() as pair:
        same("another scheduler", ynl.error("conn-set", token=token_of(pair.client), alpha_milli=500), "EOPNOTSUPP")
    world.sysctl("cl", "mptcp/scheduler", "mpdpa")
    with Pair() as pair:
        token = token_of(pair.client)
        mpdpa.set_stream(pair.client, mpdpa.Stream(SECOND, SECOND))
        same("a stream", ynl.error("conn-set", token=token, chunk=CHUNK), "EBUSY")
    with Pair() as pair:
        token = token_of(pair.client)
        for _ in range(64):
            mpdpa.set_chunk(pair.client, mpdpa.Chunk(1, 60 * SECOND))
        same("a full queue", ynl.error("conn-set", token=token, chunk=CHUNK), "ENOBUFS")
    with Pair() as pair:
        token = token_of(pair.client)
        pair.client.shutdown(socket.SHUT_WR)
        same("shut down", ynl.error("conn-set", token=token, chunk=CHUNK), "EPIPE")
    with Pair() as pair:
        token = token_of(pair.server)
        same("not in this namespace", ynl.error("conn-set", token=token, alpha_milli=500), "ENOENT")
        same("but in its own", Ynl("sv").error("conn-set", token=token, alpha_milli=500), "0")


@case
def unknown_attributes_are_refused() -> None:
    """By a message made by hand: the client knows no attribute but the spec's."""
    with world.netns("cl"):
        raw = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    family = Ynl().family.nlproto.family_id  # type: ignore[attr-defined]
    attribute = (8).to_bytes(2, "little") + (60).to_bytes(2, "little") + bytes(4)
    payload = bytes([1, 1, 0, 0]) + attribute
    header = (16 + len(payload)).to_bytes(4, "little") + family.to_bytes(2, "little")
    raw.send(header + (5).to_bytes(2, "little") + bytes(8) + payload)
    answer = raw.recv(4096)
    same("errno", -int.from_bytes(answer[16:20], "little", signed=True), errno.EINVAL)
    raw.close()


@case
def counters_count() -> None:
    ynl = Ynl()
    before = ynl.do("stat-get")
    with Pair() as pair:
        pair.drain()
        mpdpa.set_chunk(pair.client, mpdpa.Chunk(200_000, 5 * SECOND))
        pair.client.sendall(bytes(200_000))
        world.until("the verdict", lambda: mpdpa.get_info(pair.client).chunks_met)
        during = ynl.do("stat-get")
    grown = {name: during[name] - before[name] for name in before}
    same("connections", grown["connections"], 1)
    same("chunks", (grown["chunks-set"], grown["chunks-met"], grown["chunks-missed"]), (1, 1, 0))
    assert grown["decisions"] >= grown["chunk-decisions"] > 0
    assert grown["ticks"] > 0
    between("the other namespace's chunks", Ynl("sv").do("stat-get")["chunks-set"], 0, 0)
    world.until("no connection", lambda: ynl.do("stat-get")["connections"] == before["connections"])


def collect(ynl: Ynl, seconds: float, into: list[dict[str, Any]]) -> None:
    """Events for a time."""
    for event in ynl.family.poll_ntf(duration=seconds):
        ynl.note(event["name"], event["msg"])
        into.append(event)


@case
def events_are_told_to_operators() -> None:
    ynl = Ynl()
    with world.netns("cl"):
        ynl.family.ntf_subscribe("events")
    events: list[dict[str, Any]] = []
    ynl_of_conn = Ynl()
    listening = threading.Thread(target=collect, args=(ynl, 6, events))
    listening.start()
    world.second_path(True)
    # the second path is dear, and needed after a while
    world.shape(1, 8, 10)
    world.shape(2, 8, 10)
    try:
        with world.control() as ctl, Pair() as pair:
            ctl.set_path(mpdpa.Path(endpoint=2, cost=10))
            pair.drain().client.sendall(b"x")
            world.until("a second subflow", lambda: subflows(pair.client) == 2)
            met, missed = mpdpa.Chunk(100_000, 2 * SECOND, cookie=1), mpdpa.Chunk(3_000_000, SECOND, cookie=2)
            for chunk in (met, missed):
                mpdpa.set_chunk(pair.client, chunk)
                pair.client.sendall(bytes(chunk.length))
                ynl_of_conn.do("conn-get", token=token_of(pair.client))
            world.until("both over", lambda: not mpdpa.get_info(pair.client).chunks_queued, 20)
            ctl.del_path(mpdpa.Path(endpoint=2))
        listening.join()
    finally:
        world.unshape()
        world.second_path(False)
    names = [event["name"] for event in events]
    same("verdicts", [n for n in names if n in ("chunk-met", "chunk-missed")], ["chunk-met", "chunk-missed"])
    for name in ("chunk-at-risk", "path-activated", "path-released"):
        assert name in names, f"no {name} in {names}"
    told = {e["name"]: e["msg"] for e in events}
    same("met", (told["chunk-met"]["chunk"]["length"], told["chunk-met"]["chunk"]["cookie"]), (100_000, 1))
    same("missed", told["chunk-missed"]["chunk"]["cookie"], 2)
    same("path", told["path-activated"]["event-subflow"], 2)


def subflows(sock: socket.socket) -> int:
    """mptcpi_subflows of MPTCP_INFO, and the first."""
    return sock.getsockopt(284, 1, 64)[0] + 1


@case
def events_need_privilege() -> None:
    def subscribe(ynl: Ynl) -> None:
        ynl.family.ntf_subscribe("events")

    same("subscribe", nobody(subscribe), errno.EPERM)
    with world.netns("cl"):
        same("by the library", as_nobody(mpdpa.Monitor), errno.EPERM)


@case
def privilege_is_that_of_the_user_namespace() -> None:
    """Root of a user namespace of its own may set costs in its network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)

    def own_namespaces() -> str:
        if libc.unshare(0x10000000 | 0x40000000):
            return f"unshare: {os.strerror(ctypes.get_errno())}"
        ynl = Ynl(None)
        ynl.family.ntf_subscribe("events")
        ynl.do("path-set", ifindex=1, cost=3)
        return str(ynl.dump("path-get"))

    same("costs there", as_nobody(own_namespaces), str([{"ifindex": 1, "cost": 3}]))


@case
def every_attribute_was_seen() -> None:
    family = Ynl().family
    for name, attribute_set in family.attr_sets.items():
        wanted = {a for a in attribute_set if attribute_set[a].type not in ("pad", "unused")}
        same(f"of {name} never seen", wanted - seen.get(name, set()), set())


if __name__ == "__main__":
    world.build()
    main()
