# SPDX-License-Identifier: GPL-2.0
"""The library's symbols, header and documentation go together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PUBLIC = re.compile(r"^(?:int|int64_t|void|const char \*)\s*\*?(mpdpa_\w+)\(", re.MULTILINE)


def declared(top: Path) -> set[str]:
    return set(PUBLIC.findall((top / "userspace/lib/mpdpa.h").read_text()))


def test_header_and_map_agree(top: Path) -> None:
    text = (top / "userspace/lib/libmpdpa.map").read_text()
    assert declared(top) == set(re.findall(r"^\t(mpdpa_\w+);", text, re.MULTILINE))


def test_exports_are_versioned(out: Path, top: Path) -> None:
    words = ["nm", "-D", "--defined-only", out / "lib/libmpdpa.so"]
    listing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    names = {name for name in names if not name.startswith("LIBMPDPA_")}
    assert {name.split("@@")[0] for name in names} == declared(top)
    assert all("@@LIBMPDPA_" in name for name in names)


def test_the_archive_has_no_names_of_others(out: Path) -> None:
    words = ["nm", "-g", "--defined-only", "--format=posix", out / "lib/libmpdpa.a"]
    listing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in listing.splitlines() if len(line.split()) > 2}
    assert "mpdpa_chunk_set" in names
    assert {name for name in names if not name.startswith("mpdpa_")} == set()


def test_every_function_has_its_comment_and_is_in_the_manual(top: Path) -> None:
    header = (top / "userspace/lib/mpdpa.h").read_text()
    manual = "".join(page.read_text() for page in (top / "Documentation/man").glob("*.3"))
    for name in declared(top):
        assert f" * {name}() - " in header
        assert name in manual


def test_header_stands_alone_in_c_and_cxx(top: Path) -> None:
    if not shutil.which("clang"):
        pytest.skip("no clang")
    for language in ("c", "c++"):
        words = ["clang", "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        words += [f"-I{top}/userspace/lib", f"-I{top}/kernel/uapi", "-include", "mpdpa.h"]
        subprocess.run([*words, "/dev/null"], check=True)


def test_nothing_is_shared_between_threads(out: Path) -> None:
    """No variable of the library outlives a call, but in what a caller owns."""
    words = ["objdump", "-t", out / "lib/libmpdpa.a"]
    listing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    objects = [line for line in listing.splitlines() if re.search(r" O \.|\*COM\*", line)]
    assert any(" O .rodata" in line for line in objects)
    # .data.rel.ro is written by the loader alone
    assert [line for line in objects if re.search(r" O \.(t?data(?!\.rel\.ro)|t?bss)|\*COM\*", line)] == []


@pytest.fixture(scope="module")
def installed(out: Path, top: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What "make install-userspace" puts below a directory."""
    if not shutil.which("make") or not shutil.which("pkg-config"):
        pytest.skip("no make or no pkg-config")
    root = tmp_path_factory.mktemp("root")
    words = ["make", "--no-print-directory", "install-userspace", f"DESTDIR={root}", "PREFIX=/usr"]
    subprocess.run(words, cwd=top, check=True, capture_output=True)
    return root


PROGRAM = """
#include <mpdpa.h>
#include <stdio.h>

int main(void)
{
	return puts(mpdpa_state_text(MPDPA_READY)) < 0;
}
"""


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_pkg_config_says_how_to_link(installed: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "it.c").write_text(PROGRAM)
    environment = os.environ | {
        "PKG_CONFIG_PATH": f"{installed}/usr/lib/pkgconfig",
        "PKG_CONFIG_SYSROOT_DIR": str(installed),
        "LD_LIBRARY_PATH": f"{installed}/usr/lib",
    }
    static = ["-static"] if kind == "static" else []
    words = ["pkg-config", *(["--static"] if static else []), "--cflags", "--libs", "libmpdpa"]
    flags = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout.split()
    # the system's own libraries are not below the directory
    subprocess.run(["gcc", *static, "-Wall", "-Werror", "-o", "it", "it.c", *flags], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "it"], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout != "") == (0, True)
    needed = subprocess.run(["readelf", "-d", tmp_path / "it"], capture_output=True, text=True, check=True).stdout
    assert ("libmpdpa.so.0" in needed) == (kind == "shared")


def test_install_and_uninstall_leave_nothing(installed: Path, top: Path, tmp_path: Path) -> None:
    copy = tmp_path / "root"
    shutil.copytree(installed, copy, symlinks=True)
    files = [path for path in copy.rglob("*") if not path.is_dir()]
    assert {"mpdpa", "mpdpa.h", "libmpdpa.pc", "mpdpa@.service", "mpdpa.8"} <= {path.name for path in files}
    words = ["make", "--no-print-directory", "uninstall-userspace", f"DESTDIR={copy}", "PREFIX=/usr"]
    subprocess.run(words, cwd=top, check=True, capture_output=True)
    assert [path for path in copy.rglob("*") if not path.is_dir()] == []
