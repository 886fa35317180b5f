"""Every figure of a run against a second account of it: the packets at both ends, one by one."""

from __future__ import annotations

import itertools
import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from testbed import cellspec, guestrun, scenariofile
from testbed.cellspec import Cell
from testbed.score import PathScore, Score, score

HERE = Path(__file__).resolve().parent
SECONDS = 400
CHUNKS, CHUNK_BYTES, PERIOD_MS, DEADLINE_MS = 4, 500_000, 3_000, 1_000
MPTCP_OPTION, DSS = 30, 2
SYN, FIN = 2, 1

# Both links carry a full packet every 3 ms, and half of that for 2 s after the third chunk's
# release: together they cannot carry it in time then.
SCENARIO = """
name = "known"
[load]
chunks = 4
chunk_bytes = 500_000
period_ms = 3_000
[plan]
deadline_ms = [1_000]
[[path]]
name = "P"
cost = 1
trace = "link.down"
delay_ms = 20
[[path]]
name = "C"
cost = 3
trace = "link.down"
delay_ms = 30
loss_percent = 1
"""
STEP_MS, SLOW_MS, END_MS = 3, (6_000, 8_000), 12_000
LATE = 2
# A packet of 1500 bytes less the headers of IP, TCP with its time stamps, and MPTCP.
PAYLOAD_BYTES = 1500 - 20 - 32 - 28


@dataclass(frozen=True)
class Packet:
    """``dsn`` is where in the connection's stream its payload begins."""

    at_ns: int
    path: str
    sent: bool
    frame_bytes: int
    payload_bytes: int
    dsn: int
    ends: bool

    @property
    def places(self) -> range:
        return range(self.dsn, self.dsn + self.payload_bytes)


def mapping(options: bytes) -> tuple[int, int, bool] | None:
    """Data and subflow sequence number and the DATA_FIN bit, as RFC 8684 section 3.3.1 has them."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        body = options[at + 2 : at + options[at + 1]]
        if options[at] == MPTCP_OPTION and body[0] >> 4 == DSS and body[1] & 4:
            assert body[1] & 8, "expected data sequence numbers of 64 bits"
            acknowledgement = (8 if body[1] & 2 else 4) if body[1] & 1 else 0
            dsn, subflow = struct.unpack_from("!QI", body, 2 + acknowledgement)
            return dsn, subflow, bool(body[1] & 16)
        at += options[at + 1]
    return None


def parse(lines: list[Any]) -> Iterator[Packet]:
    """Packets of TCP over IPv4 of one host, in order."""
    first_sequence: dict[bytes, int] = {}
    for at_ns, interface, sent, text in lines:
        ip = bytes.fromhex(text)[14:]
        if ip[0] >> 4 != 4 or ip[9] != 6:
            continue
        (ip_bytes,) = struct.unpack_from("!H", ip, 2)
        ip_header_bytes = (ip[0] & 15) * 4
        tcp = ip[ip_header_bytes:]
        (sequence,) = struct.unpack_from("!I", tcp, 4)
        header_bytes = (tcp[12] >> 4) * 4
        flow = ip[12:20] + tcp[:4]
        if tcp[13] & SYN:
            first_sequence[flow] = sequence
        dsn, subflow, fin = mapping(tcp[20:header_bytes]) or (0, 0, False)
        relative = (sequence - first_sequence[flow]) & 0xFFFFFFFF
        yield Packet(
            at_ns=at_ns,
            path=interface,
            sent=sent,
            frame_bytes=14 + ip_bytes,
            payload_bytes=ip_bytes - ip_header_bytes - header_bytes,
            dsn=dsn + relative - subflow,
            ends=fin or bool(tcp[13] & FIN),
        )


@dataclass(frozen=True)
class Account:
    """What the packets tell. Times are after t0."""

    sent: list[Packet]
    came: list[Packet]
    base: int
    t0_ns: int

    def first_sent(self) -> dict[str, int]:
        seen: set[int] = set()
        counts = dict.fromkeys(("P", "C"), 0)
        for packet in self.sent:
            fresh = set(packet.places) - seen
            counts[packet.path] += len(fresh)
            seen |= fresh
        return counts

    def complete_ns(self, chunk: int) -> int:
        """When its last byte came, after its release."""
        first = self.base + chunk * CHUNK_BYTES
        left = set(range(first, first + CHUNK_BYTES))
        for packet in self.came:
            if packet.payload_bytes:
                left -= set(packet.places)
                if not left:
                    return packet.at_ns - self.t0_ns - chunk * PERIOD_MS * 10**6
        raise AssertionError(f"chunk {chunk} was not complete")

    def pauses(self, path: str, longer_than_ms: float) -> int:
        """How often it sent nothing for so long a time between two packets."""
        times = [p.at_ns for p in self.sent if p.path == path and p.payload_bytes]
        return sum(after - at > longer_than_ms * 1e6 for at, after in itertools.pairwise(times))


def account(seen: dict[str, Any]) -> Account:
    sent = [packet for packet in parse(seen["client"]) if packet.sent]
    # the run's figures are taken before the connection is closed
    sent = sent[: next(i for i, packet in enumerate(sent) if packet.ends)]
    came = [packet for packet in parse(seen["server"]) if not packet.sent]
    base = min(packet.dsn for packet in sent if packet.payload_bytes)
    return Account(sent, came, base, seen["t0_ns"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Score, dict[str, Any], Account]:
    place = tmp_path_factory.mktemp("known")
    slots = [
        ms
        for ms in range(STEP_MS, END_MS + 1, STEP_MS)
        if not SLOW_MS[0] < ms <= SLOW_MS[1] or ms % (2 * STEP_MS) == 0
    ]
    (place / "link.down").write_text("".join(f"{ms}\n" for ms in slots))
    (place / "known.toml").write_text(SCENARIO)
    cell = Cell(
        scenariofile.find(str(place / "known.toml")),
        "mptcp",
        DEADLINE_MS,
        None,
        1,
    )
    overlay = guestrun.make_overlay(place / "overlay")
    (overlay / "spec.json").write_text(cellspec.to_json(cell))
    shutil.copy(HERE / "guest/known.py", overlay / "known.py")
    done = subprocess.run(
        [guestrun.GUEST_TOOL, "run", "--quiet", "--overlay", overlay,
         "--overlay", guestrun.make_links(place / "links"), "--log", place / "log",
         "--results", place / "results", "--timeout", str(SECONDS), "--",
         "env", "PYTHONPATH=/opt/mpdpa/tools", "python3", "/known.py", "/spec.json"],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, (place / "log").read_text() + done.stderr
    raw = json.loads((place / "results/raw.json").read_text())
    seen = json.loads((place / "results/packets.json").read_text())
    return score(cell, raw), raw, account(seen)


def path(of: Score, name: str) -> PathScore:
    return next(each for each in of.paths if each.name == name)


def test_bytes_of_each_path(run: tuple[Score, dict[str, Any], Account]) -> None:
    told, raw, seen = run
    assert told.delivered_bytes == CHUNKS * CHUNK_BYTES
    first = seen.first_sent()
    reinjected = sum(counts["reinjected_bytes"] for counts in raw["paths"].values())
    assert sum(path(told, name).first_sent_bytes for name in first) == sum(first.values())
    assert reinjected < CHUNK_BYTES / 4
    for name in ("P", "C"):
        own = [packet for packet in seen.sent if packet.path == name]
        payload = sum(packet.payload_bytes for packet in own)
        assert payload > 100_000, "both paths have to be used"
        figures = path(told, name)
        assert figures.payload_bytes == payload
        # of what one path sends for another only the sum is known
        assert abs(figures.first_sent_bytes - first[name]) <= reinjected
        assert figures.resent_bytes == payload - figures.first_sent_bytes
        assert figures.wire_bytes == sum(packet.frame_bytes for packet in own)
        assert raw["paths"][name]["segments"] == sum(packet.payload_bytes > 0 for packet in own)
    assert path(told, "C").resent_bytes > 0, "one in a hundred was lost there"
    assert (path(told, "P").cost, path(told, "C").cost) == (1, 3)


def test_shares(run: tuple[Score, dict[str, Any], Account]) -> None:
    told, _, seen = run
    total = CHUNKS * CHUNK_BYTES
    costly = sum(packet.payload_bytes for packet in seen.sent if packet.path == "C")
    assert told.costly_share == costly / total
    assert told.overhead == sum(packet.frame_bytes for packet in seen.sent) / total - 1


def test_drops_are_what_did_not_come(run: tuple[Score, dict[str, Any], Account]) -> None:
    """On the path without loss; the other one loses more than its queue drops."""
    told, _, seen = run
    lost = {}
    for name in ("P", "C"):
        sent, came = (
            sum(packet.path == name and packet.payload_bytes > 0 for packet in packets)
            for packets in (seen.sent, seen.came)
        )
        lost[name] = sent - came
    assert path(told, "P").queue_drops == lost["P"]
    assert path(told, "C").queue_drops < lost["C"]


def test_times(run: tuple[Score, dict[str, Any], Account]) -> None:
    """The last byte is read within a millisecond; what is late is counted."""
    told, _, seen = run
    complete_ms = [seen.complete_ns(chunk) / 1e6 for chunk in range(CHUNKS)]
    for ms, came_ms in zip(told.completion_ms, complete_ms, strict=True):
        assert ms is not None
        assert 0 <= ms - came_ms < 1
    late = sum(ms > DEADLINE_MS for ms in complete_ms)
    assert complete_ms[LATE] > DEADLINE_MS
    assert (told.missed, told.avoidable_missed) == (late, late - 1)


def test_activations(run: tuple[Score, dict[str, Any], Account]) -> None:
    """The costly path begins once, and again after each pause of more than a round trip, which is
    60 ms, or up to 260 when its queue is full and slow."""
    told, _, seen = run
    least, most = 1 + seen.pauses("C", 260), 1 + seen.pauses("C", 60)
    assert CHUNKS <= least <= told.costly_activations <= most


def test_oracle(run: tuple[Score, dict[str, Any], Account]) -> None:
    """By hand: of all chunks but the late one, what the cheap link cannot carry until 20 ms before
    their end. The late one has time until the next comes."""
    told, _, _ = run
    alone = CHUNK_BYTES - (DEADLINE_MS - 20) // STEP_MS * PAYLOAD_BYTES
    assert alone > 0
    costly_share = (CHUNKS - 1) * alone / (CHUNKS * CHUNK_BYTES)
    assert told.oracle_costly_share == pytest.approx(costly_share, abs=1e-5)
    assert told.excess == told.costly_share - told.oracle_costly_share
