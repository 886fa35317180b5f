# SPDX-License-Identifier: GPL-2.0
"""The library's symbols, header and documentation go together."""

from __future__ import annotations

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
