# SPDX-License-Identifier: GPL-2.0
"""What make would run for a packager, and the units that it installs."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

# what the build environment sets, and what the make above hands on
OURS = {"KREL", "KDIR", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MPDPA_BUILT", "MPDPA_BUILDENV", "CFLAGS", "CPPFLAGS"}


def would_run(top: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    line = ["make", "--dry-run", "--always-make", *words]
    done = subprocess.run(line, cwd=top, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def headers(at: Path, release: str) -> Path:
    (at / "include/config").mkdir(parents=True)
    (at / "include/config/kernel.release").write_text(f"{release}\n")
    return at


def test_module_goes_where_its_headers_are_of(top: Path, tmp_path: Path) -> None:
    other = headers(tmp_path, "9.8.7-other")
    for words, release in (
        ([], platform.release()),
        ([f"KDIR={other}"], "9.8.7-other"),
        (["KREL=9.8.6"], "9.8.6"),
        ([f"KDIR={other}", "KREL=9.8.6"], "9.8.6"),
    ):
        text = would_run(top, "uninstall", *words)
        assert f"rm -f /lib/modules/{release}/updates/mptcp_dpa.ko\n" in text
        assert f"depmod -a {release}\n" in text


def test_help_names_the_release(top: Path) -> None:
    assert "KREL=RELEASE" in subprocess.run(["make", "help"], cwd=top, capture_output=True, text=True, check=True).stdout


def compile_line(top: Path, target: str, *words: str) -> list[str]:
    lines = [line for line in would_run(top, "O=out/none", target, *words).splitlines() if f" -o {target}" in line]
    assert len(lines) == 1
    return lines[0].split()


@pytest.mark.parametrize("target", ["out/none/lib/obj/attr.o", "out/none/lib/pic/attr.o", "out/none/bin/obj/args.o"])
def test_flags_of_the_packager_come_last(top: Path, target: str) -> None:
    words = compile_line(top, target, "CPPFLAGS=-DMINE", "CFLAGS=-O1 -fno-stack-protector")
    assert words.index("-O1") > words.index("-O2")
    assert words.index("-fno-stack-protector") > words.index("-fstack-protector-strong")
    assert "-DMINE" in words


def test_warnings_are_errors_here_alone(top: Path) -> None:
    target = "out/none/lib/obj/attr.o"
    assert "-Werror" not in compile_line(top, target)
    assert "-Werror" in compile_line(top, target, "MPDPA_BUILDENV=1")


def test_fortify_is_defined_once(top: Path) -> None:
    target = "out/none/lib/obj/attr.o"
    ours = [word for word in compile_line(top, target) if "_FORTIFY_SOURCE" in word]
    assert ours == ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
    theirs = [word for word in compile_line(top, target, "CPPFLAGS=-D_FORTIFY_SOURCE=3") if "_FORTIFY_SOURCE" in word]
    assert theirs == ["-D_FORTIFY_SOURCE=3"]


@pytest.mark.parametrize("target", ["bpf", "cmd"])
def test_a_missing_libbpf_is_told_first(top: Path, tmp_path: Path, target: str) -> None:
    """Before a compiler or bpftool says something of its own."""
    btf = tmp_path / "vmlinux"
    btf.touch()
    words = [target, f"O={tmp_path}/out", "PKG_CONFIG=false", f"BPF_BTF={btf}", "BPFTOOL=false", "BPF_CLANG=false"]
    done = subprocess.run(["make", *words], cwd=top, capture_output=True, text=True, timeout=60)
    assert done.returncode
    assert "missing: libbpf" in done.stderr
    assert "make libbpf" in done.stderr
    assert ".bpf.o" not in done.stdout


def test_a_missing_clang_is_told(top: Path, tmp_path: Path) -> None:
    btf = tmp_path / "vmlinux"
    btf.touch()
    words = ["bpf", f"O={tmp_path}/out", "PKG_CONFIG=true", f"BPF_BTF={btf}", "BPFTOOL=true", "BPF_CLANG="]
    done = subprocess.run(["make", *words], cwd=top, capture_output=True, text=True, timeout=60)
    assert done.returncode
    assert "missing: clang" in done.stderr


def unit(path: Path) -> dict[str, set[str]]:
    settings: dict[str, set[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", path.read_text(), re.M):
        settings.setdefault(key, set()).update(value.split())
    return settings


def test_namespaces_may_have_dashes_in_their_names(top: Path) -> None:
    """Of which "%I" and its kind would make slashes."""
    text = (top / "userspace/systemd/mpdpa@.service.in").read_text()
    specifiers = re.findall(r"^\w+=.*?(%[a-zA-Z])", text, re.M)
    assert specifiers
    assert set(specifiers) == {"%i"}


def test_no_unit_waits_for_what_waits_for_it(top: Path) -> None:
    """basic.target, which units wait for by default, comes after the network with cloud-init."""
    early = 0
    for path in (top / "userspace/systemd").glob("*.service.in"):
        settings = unit(path)
        if "network-pre.target" not in settings.get("Before", set()):
            continue
        early += 1
        assert settings["DefaultDependencies"] == {"no"}
        # which the default dependencies would see to
        assert "shutdown.target" in settings["Before"] & settings["Conflicts"]
        assert {"local-fs.target", "systemd-modules-load.service"} <= settings["After"]
    assert early
