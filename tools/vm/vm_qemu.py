"""QEMU's command line: which machine, which clock, which image."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 20
BARE = ("-nodefaults", "-display", "none", "-monitor", "none", "-net", "none", "-no-reboot")

# Without the two "rep movsb is fast" bits: the emulator copies byte by byte there, and the
# kernel would use it for every copy.
CPU = "max,-erms,-fsrm"
# Both clocks: results are read from ttyS1, so the kernel's console is the command's.
KERNEL_ARGUMENTS = ("console=ttyS0", "panic=-1", "quiet", "nokaslr", "norandmaps")
# The time-stamp counter is the clock and needs no calibration against another one. The rest is
# work that changes nothing measured but costs instructions, which are this clock's time: no
# processor to mitigate, self-tests of ciphers, zeroing of every allocation, a walk over all page
# tables, statistics of which pages are used, and checks of each copy and each system call. The
# other clock has them.
VIRTUAL_ARGUMENTS = (
    "tsc_early_khz=1000000", "lpj=4000000", "tsc=reliable",
    "mitigations=off", "cryptomgr.notests", "init_on_alloc=0", "rodata=off",
    "damon_stat.enabled=N", "hardened_usercopy=off", "randomize_kstack_offset=off",
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


def shared_folder() -> Path:
    """Where runners of all clones meet."""
    return Path(os.environ["MPDPA_IMAGES"])


def version() -> str:
    text = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True).stdout
    return text.split("version ")[1].split()[0]


@functools.cache
def kvm_works(kernel: Path) -> bool:
    """Whether the kernel boots with it, as far as it gets without a root file system. Some hosts
    have a device that refuses a register, or one without the processor's help: that stops at the
    first instruction it does not know, and QEMU tells so and waits."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    probe = [
        QEMU, "-accel", "kvm", "-cpu", CPU, "-m", "1024", *BARE,
        "-kernel", str(kernel), "-append", "panic=-1 quiet",
    ]  # fmt: skip
    with subprocess.Popen(probe, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as machine:
        limit = threading.Timer(PROBE_SECONDS, machine.terminate)
        limit.start()
        assert machine.stderr is not None
        refused = any(b"KVM internal error" in line for line in machine.stderr)
        in_time = limit.is_alive()
        limit.cancel()
        if refused:
            machine.terminate()
    # QEMU that is told to end says 0, too
    return in_time and not refused and machine.returncode == 0


def accelerator(machine: Machine, image: Image) -> str:
    """Counting instructions takes emulation; otherwise KVM where there is one that works."""
    return "kvm" if machine.clock != "virtual" and kvm_works(image.kernel) else "tcg"


def _clock_arguments(machine: Machine, image: Image) -> list[str]:
    if machine.clock == "virtual":
        # Recording makes QEMU's own threads take turns in a fixed order; without it long runs
        # slip by a nanosecond now and then, and everything after differs. Nobody replays it.
        return [
            "-accel", "tcg", "-rtc", "base=2026-01-01T00:00:00,clock=vm",
            "-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null",
        ]  # fmt: skip
    return ["-accel", "kvm" if accelerator(machine, image) == "kvm" else "tcg,thread=multi"]


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
        QEMU, *_clock_arguments(machine, image), "-cpu", CPU, "-smp", str(machine.smp),
        "-seed", str(machine.seed), "-m", str(machine.memory_mb),
        *BARE, "-serial", console, "-serial", report,
        "-kernel", str(image.kernel), "-initrd", str(initrd), "-append", " ".join(arguments),
    ]  # fmt: skip
