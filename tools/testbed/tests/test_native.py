"""Runs on this kernel use what was built here, and leave no module behind."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

from testbed import native, scenariofile
from testbed.cellspec import Cell
from testbed.errors import MeasurementError, UsageError

OURS = Cell(scenariofile.find("bulk-sym"), "mpdpa", 10_000, "adaptive", 1)
STOCK = Cell(scenariofile.find("bulk-sym"), "mptcp", 10_000, None, 1)
COMMANDS = """#!/bin/sh
echo "${0##*/} $*" >>"$MPDPA_TEST/log"
case ${0##*/} in
rmmod)
	[ -e "$MPDPA_TEST/used" ] || exit 0
	rm "$MPDPA_TEST/used"
	echo "rmmod: ERROR: in use" >&2
	exit 1 ;;
esac
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands that note how they were called, and no module."""
    (tmp_path / "bin").mkdir()
    for name in ("insmod", "modprobe", "rmmod"):
        (tmp_path / "bin" / name).write_text(COMMANDS)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("MPDPA_TEST", str(tmp_path))
    monkeypatch.setattr(native, "BUILT", tmp_path / "out")
    monkeypatch.setattr(native, "LOADED", tmp_path / "loaded")
    return tmp_path


def built(machine: Path) -> Path:
    file = machine / "out/module" / platform.release() / "mptcp_dpa.ko"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


def said(machine: Path) -> list[str]:
    log = machine / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_what_was_built_here_comes_first_and_goes(machine: Path) -> None:
    file = built(machine)
    (machine / "used").touch()
    with native.module(OURS):
        assert said(machine) == [f"insmod {file}"]
    # its last user was not gone at once
    assert said(machine)[1:] == ["rmmod mptcp_dpa"] * 2


def test_it_goes_after_a_failure(machine: Path) -> None:
    with pytest.raises(MeasurementError, match="a run failed"), native.module(OURS):
        raise MeasurementError("a run failed")
    assert said(machine) == ["modprobe mptcp_dpa", "rmmod mptcp_dpa"]


def test_one_that_stays_is_told_of(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "_PATIENCE_SECONDS", -1)
    (machine / "used").touch()
    with native.module(OURS):
        pass
    assert capsys.readouterr().err == "testbed: rmmod: ERROR: in use\n"


def test_who_wants_no_module_gets_none(machine: Path) -> None:
    built(machine)
    with native.module(STOCK):
        pass
    assert said(machine) == []


def test_one_that_others_loaded_is_not_taken_for_ours(machine: Path) -> None:
    (machine / "loaded").touch()
    with native.module(OURS):
        pass
    assert said(machine) == []
    file = built(machine)
    with pytest.raises(UsageError, match=f"expected it not to be loaded, to load {file}"):
        native.module(OURS).__enter__()
    assert said(machine) == []


def test_the_command_that_was_built_here_comes_first(machine: Path) -> None:
    ours = machine / "out/bin/mpdpa"
    ours.parent.mkdir(parents=True)
    ours.write_text("#!/bin/sh\necho ours\n")
    ours.chmod(0o755)
    done = subprocess.run(
        ["env", f"PATH={native.path()}", "mpdpa"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "ours\n"
