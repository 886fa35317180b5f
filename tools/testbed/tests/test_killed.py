"""A testbed that is killed can stop nothing any more; what it started ends by itself."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed import bench, cellspec, guestrun, scenariofile
from testbed.cellspec import Cell

from .made_up import plan

PATIENCE_SECONDS = 30
GUEST = f"#!{sys.executable}\nimport time\ntime.sleep(600)\n"
CELL = Cell(scenariofile.find("bulk-sym"), "mptcp", None, None, 1)

ALONE = """
from pathlib import Path
from testbed import cellspec, guestrun
work = Path("cell")
cell = cellspec.from_json(Path("out/cells/one/spec.json").read_text())
guestrun.Runner(guestrun.Machine(), work, work).run(cell, print)
"""
CAMPAIGN = """
from pathlib import Path
from testbed import bench
bench.run_workflow(Path("out").resolve(), 1)
"""


def started(place: Path) -> list[str]:
    """Processes that have to do with a place, but for those that ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if str(place) in words or (process / "cwd").readlink().is_relative_to(place):
                found.append(words)
        except OSError:
            continue
    return found


def wait_for(place: Path, *, guest: bool) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        there = started(place)
        if any("tools/vm/guest run" in words for words in there) if guest else not there:
            return
        time.sleep(0.1)
    pytest.fail(f"{started(place)}")


@pytest.mark.parametrize("program", [ALONE, CAMPAIGN], ids=["alone", "campaign"])
def test_a_killed_testbed_leaves_no_guest(program: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    shutil.copytree(guestrun.PACKAGE, tools / "testbed", ignore=shutil.ignore_patterns("tests"))
    guest = tools / "vm/guest"
    guest.parent.mkdir()
    guest.write_text(GUEST)
    guest.chmod(guest.stat().st_mode | stat.S_IXUSR)
    shutil.copy(guestrun.GUEST_TOOL.with_name("series"), guest.parent)
    out = tmp_path / "out"
    modules = (tools / "testbed" / f"{name}.py" for name in guestrun.GUEST_MODULES)
    causes = json.dumps({"files": bench._digests(modules)})
    texts = {"plan": plan({"one": guestrun.NOTHING}), "cells/one/spec": cellspec.to_json(CELL)}
    texts |= {"build/nothing": causes, "build/report": causes}
    bench.write_new(out, {out / f"{name}.json": text for name, text in texts.items()})
    environment = {**os.environ, "PYTHONPATH": str(tools), "MPDPA_IMAGES": "none"}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as testbed:
        wait_for(tmp_path, guest=True)
        testbed.kill()
    wait_for(tmp_path, guest=False)
