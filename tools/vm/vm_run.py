"""One run of a command in the guest: pack, boot, follow the console, collect the results."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import vm_cpio
import vm_cpu
import vm_protocol
import vm_qemu

# Exit statuses of a run whose command did not get to say its own. As with timeout(1), ssh(1)
# and the shell, a command may use the same numbers: vm.json tells them apart.
STATUS_TIMEOUT = 124
STATUS_QEMU = 125
STATUS_PANIC = 122
STATUS_LOST = 123

_POLL_SECONDS = 0.05
# A runner that is killed leaves no guest behind, which would run for ever.
_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
_PANIC = b"Kernel panic - not syncing"


@dataclass(frozen=True)
class Job:
    """What to run, and where its input comes from and its results go."""

    command: list[str]
    machine: vm_qemu.Machine = field(default_factory=vm_qemu.Machine)
    overlays: list[Path] = field(default_factory=list)
    input: Path | None = None
    results: Path | None = None
    log: Path | None = None
    timeout: float | None = None
    quiet: bool = False
    kernel_arguments: str = ""


@dataclass
class Outcome:
    """How a run ended: "exit", "timeout", "panic", "lost" or "qemu", and what is known of it."""

    kind: str
    status: int
    message: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    report: vm_protocol.Report | None = None

    @property
    def guest_seconds(self) -> float | None:
        return self.report.ended if self.report else None


class Console:
    """Follows the console's file and copies what is new to stdout and the log."""

    def __init__(self, path: Path, log: BinaryIO | None, quiet: bool) -> None:
        self._file = path.open("rb")
        self._sinks = [sink for sink in (log, None if quiet else sys.stdout.buffer) if sink]
        self._held = b""
        self.panicked = False

    def follow(self) -> None:
        data = self._held + self._file.read()
        # A CR at the end may be the first half of a line end, and a half line may be the
        # first half of a panic's message.
        keep = len(data) if data.endswith(b"\r") else 0
        data, self._held = (data[:-1], data[-1:]) if keep else (data, b"")
        if not data:
            return
        self.panicked = self.panicked or _PANIC in data
        for sink in self._sinks:
            sink.write(data.replace(b"\r\n", b"\n"))
            sink.flush()

    def close(self) -> None:
        self.follow()
        self._file.seek(0)
        self.panicked = _PANIC in self._file.read()
        self._file.close()


def overlay_entries(job: Job) -> Iterator[vm_cpio.Entry]:
    for overlay in job.overlays:
        yield from vm_cpio.tree(overlay, owner_modes=False)
    if job.input:
        yield vm_cpio.regular("input", job.input)
    script = "exec " + shlex.join(job.command) + "\n"
    yield vm_cpio.regular(".mpdpa/command", script.encode())


def pack(job: Job, image: vm_qemu.Image, target: Path, more: list[vm_cpio.Entry]) -> None:
    """The image's archive with the job's own behind it."""
    with target.open("wb") as out:
        with image.initrd.open("rb") as base:
            shutil.copyfileobj(base, out, 1 << 20)
        out.write(b"\0" * (-out.tell() % 512))
        vm_cpio.write_archive(out, [*overlay_entries(job), *more])


def _watch(process: subprocess.Popen[bytes], console: Console, timeout: float | None) -> bool:
    """Waits for the end; false if the time ran out."""
    deadline = time.monotonic() + timeout if timeout else None
    while process.poll() is None:
        if deadline and time.monotonic() > deadline:
            process.kill()
            process.wait()
            return False
        console.follow()
        try:
            process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return True


def _judge(in_time: bool, process: subprocess.Popen[bytes], panicked: bool, job: Job,
           stream: bytes) -> Outcome:  # fmt: skip
    """Which of the possible ends it was."""
    when = "while the command ran" if vm_protocol.started(stream) else "before the command"
    if not in_time:
        return Outcome("timeout", STATUS_TIMEOUT, f"stopped after {job.timeout:g} s, {when}")
    if process.returncode:
        return Outcome("qemu", STATUS_QEMU, f"{vm_qemu.QEMU} failed ({process.returncode})")
    if panicked:
        return Outcome("panic", STATUS_PANIC, f"kernel panic {when}")
    try:
        report = vm_protocol.parse(stream)
    except vm_protocol.ProtocolError as error:
        return Outcome("lost", STATUS_LOST, str(error))
    if report is None:
        return Outcome("lost", STATUS_LOST, f"the guest went away {when}")
    return Outcome("exit", report.status, report=report)


def _cpu_seconds() -> float:
    """Of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(job: Job, image: vm_qemu.Image) -> Outcome:
    """Boots the guest, runs the job's command there, and collects what it left."""
    with contextlib.ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guest-")))
        console, report, initrd = work / "console", work / "report", work / "initrd"
        console.touch()
        report.touch()
        pack(job, image, initrd, [])
        command = vm_qemu.command(
            job.machine, image, initrd, f"file:{console}", f"file:{report}", job.kernel_arguments
        )
        if job.machine.clock == "virtual":
            stack.enter_context(vm_cpu.own_cpu(vm_qemu.shared_folder()))
            command = [*vm_cpu.IN_TURN, *command]
        start, used = time.monotonic(), _cpu_seconds()
        log = job.log.open("wb") if job.log else None
        follower = Console(console, log, job.quiet)
        with subprocess.Popen([*_WITH_PARENT, *command], stdin=subprocess.DEVNULL) as process:
            try:
                in_time = _watch(process, follower, job.timeout)
            except BaseException:
                process.kill()
                raise
        follower.close()
        outcome = _judge(in_time, process, follower.panicked, job, report.read_bytes())
        outcome.wall_seconds = time.monotonic() - start
        outcome.cpu_seconds = _cpu_seconds() - used
        _keep(job, image, outcome, log)
    return outcome


def _keep(job: Job, image: vm_qemu.Image, outcome: Outcome, log: BinaryIO | None) -> None:
    """Results to their directory, the kernel's log behind the console's."""
    with tempfile.TemporaryDirectory(prefix="results-") as scratch:
        target = job.results or Path(scratch)
        vm_protocol.clear(target, ("dmesg.txt", "vm.json"))
        if outcome.report:
            vm_protocol.unpack(outcome.report, target)
        if log:
            dmesg = target / "dmesg.txt"
            if dmesg.exists():
                log.write(b"--- kernel log ---\n" + dmesg.read_bytes())
            log.close()
        if job.results:
            job.results.mkdir(parents=True, exist_ok=True)
            facts = describe(job, image, outcome)
            (target / "vm.json").write_text(json.dumps(facts, indent=1) + "\n")


def describe(job: Job, image: vm_qemu.Image, outcome: Outcome) -> dict[str, object]:
    """The facts that a result depends on."""
    guest = outcome.guest_seconds
    report = outcome.report
    return {
        "outcome": outcome.kind,
        "status": outcome.status,
        "message": outcome.message,
        "command": job.command,
        "guest_seconds": guest,
        "command_seconds": round(report.ended - report.began, 2) if report else None,
        "wall_seconds": round(outcome.wall_seconds, 2),
        "cpu_seconds": round(outcome.cpu_seconds, 2),
        "clock": job.machine.clock,
        "accel": vm_qemu.accelerator(job.machine, image),
        "seed": job.machine.seed,
        "smp": job.machine.smp,
        "memory_mb": job.machine.memory_mb,
        "kernel_deb": image.deb_version,
        "qemu": vm_qemu.version(),
        **json.loads(image.info.read_text()),
    }


def shell(options: argparse.Namespace, machine: vm_qemu.Machine, image: vm_qemu.Image) -> int:
    """An interactive shell on the guest's console; Ctrl-A X ends it."""
    job = Job(command=["true"], machine=machine, overlays=options.overlay, input=options.input)
    rows, columns = shutil.get_terminal_size((80, 24))[::-1]
    settings = f"stty -F /dev/ttyS0 rows {rows} cols {columns}\nTERM={os.environ.get('TERM')}\n"
    with tempfile.TemporaryDirectory(prefix="guest-") as scratch:
        initrd = Path(scratch) / "initrd"
        pack(job, image, initrd, [vm_cpio.regular(".mpdpa/shell", settings.encode())])
        command = vm_qemu.command(
            machine, image, initrd, "mon:stdio", "null", options.kernel_args
        )
        print("guest: booting; leave with exit or Ctrl-A X", file=sys.stderr)
        return subprocess.run([*_WITH_PARENT, *command], check=False).returncode
