"""Makes the guest's images; called by buildenv, inside the build environment.

``rootfs`` makes the user-land archive (Debian's packages, trimmed), ``image`` what one kernel
boots with: that archive with the kernel's modules behind it, and the kernel.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import vm_cpio

HERE = Path(__file__).resolve().parent
APT_SETTINGS = Path("/etc/apt/apt.conf.d")
APT_SOURCES = Path("/etc/apt/sources.list.d/mpdpa.sources")

# Not needed by anything that runs in the guest. Globs match across slashes.
TRIM = (
    "boot", "home", "media", "mnt", "opt", "srv", "var/cache/*", "var/lib/apt", "var/lib/dpkg",
    "var/log/*", "etc/apt", "etc/systemd", "etc/cron*", "etc/logrotate*", "etc/init.d",
    "etc/rc*.d", "etc/pam.d", "etc/security", "etc/resolv.conf", "etc/hostname",
    "usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/i18n",
    "usr/share/lintian", "usr/share/zoneinfo", "usr/share/bug", "usr/share/perl*",
    "usr/share/common-licenses", "usr/share/bash-completion", "usr/share/debconf",
    "usr/share/pixmaps", "usr/share/applications", "usr/share/keyrings", "usr/share/menu",
    "usr/share/polkit-1", "usr/share/python3", "usr/share/gcc", "usr/share/gdb",
    "usr/share/apparmor*", "usr/share/base-files", "usr/share/base-passwd",
    "usr/share/terminfo", "usr/share/tabset", "usr/share/util-linux", "usr/share/xml",
    "usr/lib/apt", "usr/lib/dpkg", "usr/lib/systemd", "usr/lib/udev", "usr/lib/init",
    "usr/lib/pcrlock.d", "usr/lib/sysusers.d", "usr/lib/tmpfiles.d", "usr/lib/mime",
    "usr/lib/valgrind", "usr/lib/locale/C.utf8/LC_CTYPE.bak",
    "usr/lib/*/gconv", "usr/lib/*/perl*", "usr/lib/*/security", "usr/lib/*/audit",
    "usr/lib/*/libapt-*", "usr/lib/*/libdb-5*", "usr/lib/*/libstdc++*", "usr/lib/*/libpam*",
    "usr/lib/*/libsystemd-shared*",
    "usr/lib/*/libsepol*", "usr/lib/*/libsemanage*",
    "usr/lib/*/libmvec*",
    *(f"usr/bin/{name}" for name in (
        "perl*", "apt*", "dpkg*", "deb*", "pdb3*", "pydoc3*", "py3*", "pygettext*", "localedef",
        "ch[afs]*n", "chage", "chfn", "chsh", "passwd", "su", "gpasswd", "lsblk", "lscpu",
        "update-alternatives", "top", "slabtop", "partx", "rdma", "tzselect", "zdump", "bashbug",
    )),
    *(f"usr/sbin/{name}" for name in (
        "sulogin", "agetty", "getty", "mkfs*", "fsck*", "arpd", "faillock", "newusers", "runuser",
        "pam*", "*passwd", "mkhomedir_helper", "user*", "group*", "zramctl", "losetup", "mkswap",
        "blkid", "blkdiscard", "blkzone", "wipefs", "ldconfig", "tipc", "dcb", "vdpa", "devlink",
        "cfdisk", "sfdisk", "fdisk", "zic", "iconvconfig", "swap*", "unix_*", "update-*", "grp*",
    )),
    "usr/lib/python3/dist-packages/*/tests", "*.pyc.*",
    *(f"usr/lib/python3*/{name}" for name in (
        "test", "idlelib", "tkinter", "turtle*", "ensurepip", "pydoc*", "lib2to3", "config-*",
        "_pyrepl", "curses", "venv", "wsgiref", "xmlrpc", "doctest.py", "mailbox.py",
        "_pydecimal.py", "encodings/mac_*", "encodings/iso*",
        "encodings/cp[1-9]*", "encodings/big5*", "encodings/gb*", "encodings/euc*",
        "encodings/shift*", "encodings/johab*", "encodings/koi8*", "encodings/hz*",
        "lib-dynload/_test*", "lib-dynload/_codecs_*",
        "lib-dynload/_curses*", "lib-dynload/_tkinter*", "lib-dynload/_ctypes_test*",
        "lib-dynload/xx*",
    )),
)  # fmt: skip

# Kernel modules the guest has, by path below kernel/; what they need comes along.
MODULES = (
    "net/*", "crypto/*", "arch/*/crypto/*", "drivers/firmware/qemu_fw_cfg.ko*",
    "drivers/net/veth.ko*", "drivers/net/dummy.ko*", "drivers/net/ifb.ko*",
    "drivers/net/tun.ko*", "drivers/net/tap.ko*", "drivers/net/nlmon.ko*",
    "drivers/net/vrf.ko*", "drivers/net/macvlan.ko*", "drivers/net/bonding/*",
    "drivers/net/netdevsim/*", "drivers/net/vxlan/*",
)  # fmt: skip
# Whole subsystems among them that an MPTCP experiment cannot use: each module is some
# 100 KB on kernels whose BTF is not de-duplicated.
NOT_MODULES = tuple(
    f"net/{name}/*"
    for name in (
        "6lowpan", "9p", "atm", "ax25", "batman-adv", "bluetooth", "can", "ceph", "hsr",
        "ieee802154", "ife", "kcm", "l2tp", "lapb", "llc", "mac80211", "mac802154", "mpls",
        "netfilter/ipset", "netfilter/ipvs", "nfc", "nsh", "openvswitch", "phonet", "qrtr",
        "rds", "rfkill", "rxrpc", "sctp", "sunrpc", "tipc", "vmw_vsock", "wireless",
    )
)  # fmt: skip


def say(text: str) -> None:
    print(text, flush=True)


def run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True)


def package_list(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


# --- the root file system -------------------------------------------------------------------


def bootstrap(root: Path) -> None:
    """Unpacks and configures the packages of guest.list, from the environment's own mirrors."""
    settings = [f"--aptopt={path}" for path in sorted(APT_SETTINGS.glob("*mpdpa*"))]
    excludes = [
        f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "info", "locale")
    ]
    packages = ",".join(package_list(HERE / "packages/guest.list"))
    run(
        "mmdebstrap", "--mode=root", "--variant=essential", "--format=directory", "--verbose",
        "--skip=check/empty,check/signed-by", *settings, *excludes,
        "--dpkgopt=force-unsafe-io", f"--include={packages}",
        os.environ.get("MPDPA_SUITE", "trixie"), root, APT_SOURCES,
    )  # fmt: skip


def precompile(root: Path) -> None:
    """Leaves byte code only: half the size, and nothing is looked up or compiled in the guest."""
    lib = root / "usr/lib"
    versioned = next(path.name for path in lib.glob("python3.*") if path.is_dir())
    command = ("python3", "-m", "compileall", "-b", "-q", "-j0")
    for cached in lib.glob("python3*/**/__pycache__"):
        shutil.rmtree(cached)
    for folder in (lib / versioned, lib / "python3/dist-packages"):
        run("chroot", root, *command, "--invalidation-mode", "unchecked-hash",
            "/" + str(folder.relative_to(root)))  # fmt: skip
        for source in folder.rglob("*.py"):
            source.unlink()


def check(root: Path) -> None:
    """What was trimmed must not be missed: libraries are found, Python imports."""
    modules = "asyncio, ctypes, dataclasses, json, logging, pyroute2, socket, ssl, subprocess"
    run("chroot", root, "python3", "-c", f"import {modules}")
    script = """
        for tool in /usr/bin/* /usr/sbin/*; do
            ldd "$tool" 2>/dev/null | grep -q "not found" && echo "$tool" && exit 1
        done
        ip -V && ip mptcp help 2>&1 | grep -q endpoint && iperf3 --version && bpftool version
    """
    run("chroot", root, "bash", "-c", script)


def trim(root: Path) -> None:
    """Removes what TRIM names; a directory goes with everything in it."""
    for folder, names, files in os.walk(root):
        base = Path(folder).relative_to(root)
        for name in [*names, *files]:
            path = root / base / name
            if not matches(str(base / name), TRIM):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
                names.remove(name)
            else:
                path.unlink()


def prepare(root: Path) -> None:
    """Files of our own, and the directories that init mounts on."""
    for name in ("proc", "sys", "dev", "tmp", "run", "results", "var/log", "var/tmp", "root"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "etc/hostname").write_text("mpdpa\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost mpdpa\n::1 localhost mpdpa\n")
    (root / "etc/mtab").unlink(missing_ok=True)
    (root / "etc/mtab").symlink_to("/proc/self/mounts")
    for name in ("shadow-", "passwd-", "group-", "gshadow-", "machine-id", ".pwd.lock"):
        (root / "etc" / name).unlink(missing_ok=True)
    shutil.copy(HERE / "init", root / "init")
    (root / "init").chmod(0o755)


def make_rootfs(output: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        root = Path(scratch) / "root"
        bootstrap(root)
        shutil.copy(root / "var/lib/dpkg/status", output / "packages")
        say("trim and precompile")
        trim(root)
        precompile(root)
        check(root)
        prepare(root)
        devices = [
            vm_cpio.character_device("dev/console", 5, 1),
            vm_cpio.character_device("dev/null", 1, 3),
        ]
        with (output / "rootfs.cpio").open("wb") as out:
            write = [entry for entry in vm_cpio.tree(root) if not entry.path.startswith("dev/")]
            vm_cpio.write_archive(out, [*write, *devices])
    say(f"rootfs.cpio: {(output / 'rootfs.cpio').stat().st_size / 1e6:.1f} MB")


# --- modules and kernel ---------------------------------------------------------------------


def dependencies(modules: Path) -> dict[str, list[str]]:
    """modules.dep: each module's path and those of what it needs."""
    found = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        name, _, needs = line.partition(":")
        found[name] = needs.split()
    return found


def selected(needs: dict[str, list[str]]) -> set[str]:
    chosen: set[str] = set()
    for name, others in needs.items():
        below = name.removeprefix("kernel/")
        if matches(below, MODULES) and not matches(below, NOT_MODULES):
            chosen.update((name, *others))
    return chosen


def unpacked(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def module_entries(kernel: Path, release: str, scratch: Path) -> Iterator[vm_cpio.Entry]:
    """The chosen modules, uncompressed, with their own modules.dep."""
    base = f"usr/lib/modules/{release}"
    source = kernel / base
    work = scratch / base
    work.mkdir(parents=True)
    # The tree of the packages may be read-only and has no modules.dep yet.
    full = scratch / "full"
    (full / "lib/modules").mkdir(parents=True)
    shutil.copytree(source, full / "lib/modules" / release, symlinks=True, copy_function=os.link)
    run("depmod", "-b", full, release)
    for name in sorted(selected(dependencies(full / "lib/modules" / release))):
        target = work / name.removesuffix(".xz")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(unpacked(source / name))
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy(source / name, work / name)
    (scratch / "lib").symlink_to("usr/lib")
    run("depmod", "-b", scratch, release)
    for entry in vm_cpio.tree(work):
        if "modules." in entry.path and not matches(entry.path, ("*.bin", "modules.order")):
            continue
        yield vm_cpio.Entry(f"{base}/{entry.path}", entry.mode, entry.data)


def file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def make_image(guest: Path, kernel: Path, release: str, output: Path) -> None:
    image = output / "initrd.cpio"
    with tempfile.TemporaryDirectory(dir=output) as scratch, image.open("wb") as out:
        with (guest / "rootfs.cpio").open("rb") as base:
            shutil.copyfileobj(base, out)
        vm_cpio.write_archive(out, module_entries(kernel, release, Path(scratch)))
    shutil.copy(kernel / "vmlinuz", output / "vmlinuz")
    info = {
        "release": release,
        "initrd_sha256": file_hash(image),
        "kernel_sha256": file_hash(output / "vmlinuz"),
    }
    (output / "info.json").write_text(json.dumps(info, indent=1) + "\n")
    say(f"initrd.cpio: {image.stat().st_size / 1e6:.1f} MB")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rootfs", "image"))
    parser.add_argument("--guest", type=Path, required=True, help="directory with rootfs.cpio")
    parser.add_argument("--kernel", type=Path, required=True, help="unpacked kernel packages")
    parser.add_argument("--release", required=True, help="the kernel's release string")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        if options.what == "rootfs":
            make_rootfs(options.output)
        else:
            make_image(options.guest, options.kernel, options.release, options.output)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"vm_image: exit status {error.returncode} from {error.cmd[0]}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
