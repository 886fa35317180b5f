# SPDX-License-Identifier: GPL-2.0
"""Runs the tests that are written in C; each of their lines is a result."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROGRAMS = [
    "test_args", "test_connwords", "test_info", "test_pathname", "test_probe", "test_socket", "test_top",
]  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(out: Path, name: str) -> None:
    done = subprocess.run([out / "test" / name], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    failed = [line for line in lines if line.startswith("not ok")]
    assert not failed
    assert done.returncode == 0
    assert lines[-1] == f"1..{len(lines) - 1}"
    # of one part, too: a test that is not all there shall be seen
    for line in lines:
        if "# SKIP" in line:
            pytest.skip(line.partition("# SKIP ")[2])
