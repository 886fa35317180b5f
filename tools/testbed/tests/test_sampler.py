"""Which starts of sending count as activations, sample by sample."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from testbed import dpa, kernelinfo
from testbed.kernelinfo import MptcpInfo, Snapshot, Subflow, TcpInfo
from testbed.sampler import SAMPLE_MS, Sampler

MS = 10**6
RTT_MS = 20


class Connection:
    """Stands in for a socket with two paths: B is the one that it starts on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, told: bool) -> None:
        """``told``: the scheduler says how often paths were taken off hold."""
        self._tcp = {name: TcpInfo(rtt=RTT_MS * 1000) for name in "AB"}
        self._released = dict.fromkeys("AB", 0)
        self._told = told
        self._samples = 0
        monkeypatch.setattr(kernelinfo, "look", lambda _sock: self._look())
        monkeypatch.setattr(dpa, "look", lambda _sock: self._view())
        sock = socket.socket()
        sock.close()
        self.sampler = Sampler(sock, {"a": "A", "b": "B"}, "B", costly={"B"})
        self.sampler.start(0)

    def _look(self) -> Snapshot:
        flows = [Subflow(name.lower(), tcp) for name, tcp in self._tcp.items()]
        return Snapshot(flows, MptcpInfo(bytes_sent=sum(t.bytes_sent for t in self._tcp.values())))

    def _view(self) -> dpa.View | None:
        rows = {
            number: dpa.PathView(number, 1, False, 0, 0, self._released[name])
            for name, number in (("A", 1), ("B", 0))
        }
        return dpa.View(0, 0, 0, rows) if self._told else None

    def sample(self, sent: str = "", released: str = "") -> None:
        """Another 100 ms, in which these paths sent, and these were taken off hold."""
        self._samples += 1
        for name in released:
            self._released[name] += 1
        for name in sent:
            self._tcp[name].bytes_sent += 1000
            self._tcp[name].data_segs_out += 1
        t_ms = self._samples * SAMPLE_MS
        self.sampler.sample(t_ms * MS, t_ms)

    @property
    def activations(self) -> dict[str, int]:
        return {name: count.activations for name, count in self.sampler.counts.items()}


def test_pauses_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Connection(monkeypatch, told=False)
    for sent in ("A", "A", "", "", "A", "AB"):
        seen.sample(sent)
    assert seen.activations == {"A": 2, "B": 1}


def test_a_release_and_what_is_sent_after_it_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Connection(monkeypatch, told=True)
    seen.sample("A")
    seen.sample(released="B")
    assert seen.activations == {"A": 1, "B": 1}
    seen.sample()
    seen.sample("B")
    assert seen.activations["B"] == 1
    # in one sample, too
    seen.sample("B", released="B")
    assert seen.activations["B"] == 2
    # what follows a pause without a release is another
    for sent in ("", "", "B"):
        seen.sample(sent)
    assert seen.activations["B"] == 3


def test_a_rule_outside_the_kernel_switches_costly_paths(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Though the connection started on one of them."""
    seen = Connection(monkeypatch, told=False)
    seen.sampler.switched(False, 0)
    seen.sample("A")
    seen.sampler.switched(True, 1)
    seen.sample("A")
    assert seen.activations == {"A": 1, "B": 1}
    seen.sampler.write_series(tmp_path / "series.csv")
    head, *rows = [line.split(",") for line in (tmp_path / "series.csv").read_text().splitlines()]
    held = [[row[head.index(f"{name}_backup")] for name in "AB"] for row in rows]
    assert held == [["0", "1"], ["0", "0"]]
