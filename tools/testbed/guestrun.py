"""Starts cells: in a guest of tools/vm, or on this kernel. Both execute ``testbed execute``."""

from __future__ import annotations

import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from . import cellspec, native
from .cell import PROGRESS
from .cellspec import Cell
from .errors import ENTER, MeasurementError, UsageError
from .results import NATIVE_ACCEL, Host
from .scenario import COMMAND, CROWD

PACKAGE = File(__file__).resolve().parent
REPOSITORY = PACKAGE.parents[1]
GUEST_TOOL = REPOSITORY / "tools/vm/guest"
GUEST_MACHINE = GUEST_TOOL.with_name("vm_qemu.py")
# What a guest needs of this package. Nothing else goes in, because every change of the guest's
# content shifts its results a little.
GUEST_MODULES = (
    "__init__", "__main__", "busy", "cell", "cellspec", "checks", "child", "cli", "command",
    "course", "crowd", "dpa", "errors", "fields", "frames", "genetlink", "kernelinfo", "libbpf",
    "libc", "netns", "offload", "protocols", "rates", "receiver", "replay", "rule", "sampler",
    "scenario", "schedulers", "sender", "stream", "topology",
)  # fmt: skip
_GUEST_TOOLS = "opt/mpdpa/tools"
_COMPLAINTS = REPOSITORY / "selftests/complaints"
# What tools/vm/guest ends with, however it went.
_SUMMARY = re.compile(r"guest: (guest [\d.]+ s, )?wall [\d.]+ s")
_STOP_SECONDS = 10
# Who is killed cannot stop what it started, which is in a session of its own.
WITH_PARENT = ("setpriv", "--pdeathsig")
NOTHING, LINKS, MODULE = "nothing", "links", "module"
BUILT = REPOSITORY / "out/guest"
BUILD = f"{ENTER} make guest"
_PLACE = File("usr/local/lib/mpdpa")
OWN_PROGRAMS = ("busy.bpf.o", "link.bpf.o", "mptcpify.bpf.o")
_USUAL_MEMORY_MB = 1024
# What a job takes beside its guest's memory.
_BESIDE_MB = 476
_PAGE_BYTES = 4096
# Of a guest with that memory, less than the kernel's least limit, and how many full buffers of
# payload fit into what is asked for: two ends, and packets that are half empty.
_USUAL_TCP_BYTES, _BUFFERS = 40 << 20, 8
KINDS = VIRTUAL, FAST, NATIVE = "virtual", "fast", "no"
USUAL_SERIES = GUEST_TOOL.with_name("series").read_text().strip()


@dataclass(frozen=True)
class Machine:
    """Where cells run: in a guest by virtual or host time, or natively.

    Without overlays a guest gets what was built and its cell needs: the module, the program of
    links that vary, or nothing, so that a new scheduler does not change what stock MPTCP does.
    """

    kind: str = VIRTUAL
    kernel: str | None = None
    overlays: tuple[File, ...] = ()

    @property
    def series(self) -> str | None:
        """Of the guest's kernel, whoever named it; none natively."""
        if self.kind == NATIVE:
            return None
        return self.kernel or os.environ.get("KERNEL") or USUAL_SERIES


@dataclass(frozen=True)
class Measured:
    """What a cell left: figures, the place of its series, and on what it ran."""

    raw: dict[str, Any]
    series: File
    host: Host
    wall_seconds: float

    @property
    def speed(self) -> str:
        """How long it took, by its own clock and by the wall's."""
        seconds, wall = self.raw["seconds"], self.wall_seconds
        return f"{seconds:.0f} s in {wall:.0f} s of the wall clock, {seconds / wall:.1f} x"


def make_overlay(folder: File) -> File:
    """The guest's copy of this package, with byte code: compiling it there takes longer than
    many a transfer. The same bytes whatever ``folder`` is called."""
    package = File(_GUEST_TOOLS) / "testbed"
    target = folder / package
    target.mkdir(parents=True)
    for name in GUEST_MODULES:
        source = target / f"{name}.py"
        shutil.copyfile(PACKAGE / source.name, source)
        py_compile.compile(
            str(source), dfile=f"/{package / source.name}", doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )  # fmt: skip
    return folder


def needed(cell: Cell) -> str:
    """What of the built files a cell cannot do without."""
    if cell.scheduler not in (None, "default"):
        return MODULE
    own_programs = any(path.varies for path in cell.scenario.paths)
    own_programs = own_programs or cell.scenario.load.kind in (COMMAND, CROWD)
    return LINKS if own_programs else NOTHING


def demand_built(cells: Iterable[Cell]) -> None:
    for need in {needed(cell) for cell in cells} - {NOTHING}:
        names = ("mptcp_dpa.ko",) if need == MODULE else OWN_PROGRAMS
        for file in (_PLACE / name for name in names):
            if not (BUILT / file).exists():
                raise UsageError(f"{BUILT / file}: file: expected it built, by: {BUILD}")


def make_links(folder: File) -> File:
    """An overlay with the testbed's own programs alone."""
    (folder / _PLACE).mkdir(parents=True, exist_ok=True)
    for file in (_PLACE / name for name in OWN_PROGRAMS):
        shutil.copyfile(BUILT / file, folder / file)
    return folder


def memory_options(cell: Cell) -> list[str]:
    """Options of a guest in which TCP may have full buffers at both ends. What a kernel allows
    all of TCP follows from the machine's memory; beyond it a socket says that it can be written
    to and then takes nothing, and who waits for it never sleeps."""
    size = _unusual_tcp_bytes(cell)
    if not size:
        return []
    pages = size // _PAGE_BYTES
    limits = f'sysctl.net.ipv4.tcp_mem="{pages} {pages} {pages}"'
    return ["--memory", str(_memory_mb(cell)), "--kernel-args", limits]


def _unusual_tcp_bytes(cell: Cell) -> int:
    load = cell.scenario.load
    connections = load.chunks if load.kind == CROWD else 1
    size = _BUFFERS * cell.scenario.connection.buffer_bytes * connections
    return size if size > _USUAL_TCP_BYTES else 0


def _memory_mb(cell: Cell) -> int:
    return _USUAL_MEMORY_MB + (_unusual_tcp_bytes(cell) >> 20)


def job_memory_mb(cell: Cell) -> int:
    """What a job of a cluster has to ask for."""
    return _memory_mb(cell) + _BESIDE_MB


def _placed(cell: Cell, reason: str) -> str:
    """With the scenario's file ahead of a path's key."""
    key = re.search(r"path\[\d", reason)
    if key and cell.scenario.file:
        return f"{cell.scenario.file}: {reason[key.start() :]}"
    return reason.removeprefix("testbed: ")


def _reason(lines: list[str]) -> str:
    """The line that tells why a run failed: the first of ours, or else the last one."""
    words = [line.strip() for line in lines if not line.startswith(PROGRESS)]
    words = [line for line in words if line and not _SUMMARY.match(line)]
    ours = (line for line in words if line.startswith(("testbed:", "guest:")))
    return next(ours, words[-1] if words else "")


class Runner:
    """Runs cells, also several at once from several threads; ``stop`` ends them all."""

    def __init__(self, machine: Machine, work: File, logs: File, inside: str = "execute") -> None:
        """``inside`` is the command of this package that does it there."""
        self._machine = machine
        self._work = work
        self._logs = logs
        self._inside = inside
        self._lock = threading.Lock()  # protects _alive and _stopped
        self._alive: set[subprocess.Popen[str]] = set()
        self._stopped = False
        if machine.kind == NATIVE:
            if os.geteuid() != 0:
                raise UsageError("--vm no: user: expected root, which may make namespaces")
        elif "MPDPA_IMAGES" not in os.environ:
            raise UsageError(f"--vm: environment: expected the build environment ({ENTER} ...)")
        else:
            self._overlay = make_overlay(work / "overlay")

    def run(self, cell: Cell, progress: Callable[[float], None]) -> Measured:
        """Runs one cell to its end; calls ``progress`` with seconds of its traffic."""
        folder = self._work / cell.label
        results = folder / "results"
        results.mkdir(parents=True)
        spec = folder / "spec.json"
        spec.write_text(cellspec.to_json(cell))
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{cell.label}.log"
        began = time.monotonic()
        lines: list[str] = []
        command = self._command(cell, spec, results, log)
        with native.module(cell) if self._machine.kind == NATIVE else nullcontext():
            status = self._execute(command, log, lines, progress)
        wall_seconds = time.monotonic() - began
        if (results / "vm.json").exists():
            shutil.copyfile(results / "vm.json", log.with_suffix(".json"))
        self._complain(cell, status, lines, results, log)
        raw = json.loads((results / "raw.json").read_text())
        return Measured(raw, results / "series.csv", self._host(raw, results), wall_seconds)

    def _command(self, cell: Cell, spec: File, results: File, log: File) -> list[str]:
        if self._machine.kind == NATIVE:
            command = ["env", f"PYTHONPATH={PACKAGE.parent}", f"PATH={native.path()}"]
            command += [sys.executable, "-m", "testbed"]
            return [*command, self._inside, str(spec), "--out", str(results)]
        command = [str(GUEST_TOOL), "run", "--clock", self._machine.kind, "--seed", str(cell.seed)]
        if self._machine.kernel:
            command += ["--kernel", self._machine.kernel]
        for overlay in (self._overlay, *self._overlays(cell)):
            command += ["--overlay", str(overlay)]
        command += ["--input", str(spec), "--results", str(results), "--log", str(log)]
        command += memory_options(cell)
        command += ["--timeout", str(round(300 + 10 * cell.expected_seconds))]
        inside = ["python3", "-m", "testbed", self._inside, "/input", "--out", "/results"]
        return [*command, "--", "env", f"PYTHONPATH=/{_GUEST_TOOLS}", *inside]

    def _overlays(self, cell: Cell) -> tuple[File, ...]:
        if self._machine.overlays:
            return self._machine.overlays
        need = needed(cell)
        if need == MODULE:
            return (BUILT,)
        return (make_links(self._work / cell.label / "links"),) if need == LINKS else ()

    def _execute(
        self, command: list[str], log: File, lines: list[str], progress: Callable[[float], None]
    ) -> int:
        with self._lock:
            if self._stopped:
                raise MeasurementError("stopped")
            process = subprocess.Popen(
                [*WITH_PARENT, "TERM", "--", *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
            )  # fmt: skip
            self._alive.add(process)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if line.startswith(PROGRESS):
                    progress(float(line.removeprefix(PROGRESS)))
            status = process.wait()
        finally:
            with self._lock:
                self._alive.discard(process)
        if self._machine.kind == NATIVE:
            log.write_text("".join(lines))
        return status

    def _complain(
        self, cell: Cell, status: int, lines: list[str], results: File, log: File
    ) -> None:
        if self._stopped:
            raise MeasurementError(f"{cell.label}: stopped")
        if status:
            reason = _reason(lines) or f"exit status {status}"
            raise MeasurementError(f"{_placed(cell, reason)} (log: {log})")
        dmesg = results / "dmesg.txt"
        if dmesg.exists():
            complaint = re.compile("|".join(_COMPLAINTS.read_text().splitlines()))
            for line in dmesg.read_text(errors="replace").splitlines():
                if complaint.search(line):
                    raise MeasurementError(f"{cell.label}: kernel: {line.strip()} (log: {log})")

    def _host(self, raw: dict[str, Any], results: File) -> Host:
        release = re.split(r"[+-]", raw["kernel"])[0]
        if self._machine.kind == NATIVE:
            return Host(release, "wall", NATIVE_ACCEL, raw["cpus"])
        facts = json.loads((results / "vm.json").read_text())
        clock = "virtual" if facts["clock"] == VIRTUAL else "wall"
        return Host(release, clock, facts["accel"], facts["smp"])

    def stop(self) -> None:
        """Ends what was started: asks first, so that nobody leaves children behind."""
        with self._lock:
            self._stopped = True
            alive = list(self._alive)
        for process in alive:
            process.send_signal(signal.SIGINT)
        for process in alive:
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
