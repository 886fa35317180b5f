"""QEMU's command line: which machine, which clock, which image."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 20

# Without the two "rep movsb is fast" bits: the emulator copies byte by byte there, and the
# kernel would use it for every copy.
CPU = "max,-erms,-fsrm"
# Both clocks: results are read from ttyS1, so the kernel's console is the command's.
KERNEL_ARGUMENTS = ("console=ttyS0", "panic=-1", "quiet", "nokaslr", "norandmaps")
# The time-stamp counter is the clock and needs no calibration against another one. The rest is
# work that changes nothing measured but costs instructions, which are this clock's time: no
# processor to mitigate, self-tests of ciphers, zeroing of every allocation, a walk over all page
# tables, and statistics of which pages are used. The other clock has them.
VIRTUAL_ARGUMENTS = (
    "tsc_early_khz=1000000", "lpj=4000000", "tsc=reliable",
    "mitigations=off", "cryptomgr.notests", "init_on_alloc=0", "rodata=off",
    "damon_stat.enabled=N",
)  # fmt: skip


class ImageMissing(Exception):
    """No finished image for the wanted kernel series."""


@dataclass(frozen=True)
class Image:
    """What buildenv made for one kernel: see vm_image.py."""

    release: str
    deb_version: str
    kernel: Path
    initrd: Path
    info: Path


@dataclass(frozen=True)
class Machine:
    """The guest's hardware. The virtual clock counts instructions and skips idle time."""

    clock: str = "virtual"
    smp: int = 1
    seed: int = 1
    memory_mb: int = 1024


def find_image(series: str) -> Image:
    """The image of a kernel series; buildenv says where the caches are."""
    kernels = Path(os.environ["MPDPA_KERNELS"])
    images = Path(os.environ["MPDPA_IMAGES"])
    pointer = kernels / f"series-{series}"
    if not pointer.exists():
        raise ImageMissing(series)
    entry = pointer.read_text().strip()
    tree = images / entry / "tree"
    if not (tree.parent / "stamp").exists():
        raise ImageMissing(series)
    release, _, version = entry.partition("_")
    return Image(release, version, tree / "vmlinuz", tree / "initrd.cpio", tree / "info.json")


def version() -> str:
    text = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True).stdout
    return text.split("version ")[1].split()[0]


@functools.cache
def kvm_works() -> bool:
    """Whether a machine can be made with it. On some hosts there is a device, and QEMU gives up
    at the first register that it may not set."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    probe = [
        QEMU, "-accel", "kvm", "-cpu", CPU, "-S", "-nodefaults", "-display", "none",
        "-monitor", "stdio",
    ]  # fmt: skip
    try:
        done = subprocess.run(probe, input=b"quit\n", capture_output=True, timeout=PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def accelerator(machine: Machine) -> str:
    """Counting instructions takes emulation; otherwise KVM where there is one that works."""
    return "kvm" if machine.clock != "virtual" and kvm_works() else "tcg"


def _clock_arguments(machine: Machine) -> list[str]:
    if machine.clock == "virtual":
        # Recording makes QEMU's own threads take turns in a fixed order; without it long runs
        # slip by a nanosecond now and then, and everything after differs. Nobody replays it.
        return [
            "-accel", "tcg", "-rtc", "base=2026-01-01T00:00:00,clock=vm",
            "-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null",
        ]  # fmt: skip
    return ["-accel", "kvm" if accelerator(machine) == "kvm" else "tcg,thread=multi"]


def command(
    machine: Machine, image: Image, initrd: Path, console: str, report: str, extra: str = ""
) -> list[str]:
    """The whole command line; console and report are QEMU character devices."""
    arguments = list(KERNEL_ARGUMENTS)
    if machine.clock == "virtual":
        arguments += VIRTUAL_ARGUMENTS
    if extra:
        arguments.append(extra)
    return [
        QEMU, *_clock_arguments(machine), "-cpu", CPU, "-smp", str(machine.smp),
        "-seed", str(machine.seed), "-m", str(machine.memory_mb),
        "-nodefaults", "-display", "none", "-monitor", "none", "-net", "none", "-no-reboot",
        "-serial", console, "-serial", report,
        "-kernel", str(image.kernel), "-initrd", str(initrd), "-append", " ".join(arguments),
    ]  # fmt: skip
