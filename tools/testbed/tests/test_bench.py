"""Which cells a campaign has, and that the workflow runs again what changed and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from testbed import bench, campaign, cellspec, guestrun, realtraces
from testbed.cellspec import Cell
from testbed.errors import MeasurementError, UsageError
from testbed.guestrun import LINKS, MODULE, NOTHING, Machine

from .made_up import plan


def cells(name: str, size: str, traces: Path | None = None) -> list[Cell]:
    return bench.cells_of(bench.benches()[name], bench.Choice(size, traces))


def test_static() -> None:
    normal = cells("static", bench.NORMAL)
    of_sym = [cell for cell in normal if cell.scenario.name == "bulk-sym"]
    deadlines = {10_000, 9_000, 7_500, 7_000, 6_000, 5_000}
    assert {cell.deadline_ms for cell in of_sym if cell.protocol == "mptcp"} == deadlines
    # The published rule where there is a figure for it.
    ruled = [(c.deadline_ms, c.alpha) for c in of_sym if c.protocol == "mp-dpa"]
    assert ruled == [(10_000, 1.0), (10_000, 0.8), (7_500, 1.0), (7_500, 0.8)]
    # Where runs differ from seed to seed, several of them.
    seeds = {(c.scenario.name, c.seed) for c in normal if c.protocol == "threshold"}
    assert {seed for name, seed in seeds if name == "bulk-asym"} == {1, 2, 3}
    assert {seed for name, seed in seeds if name == "bulk-sym"} == {1}
    assert {c.seed for c in cells("static", bench.QUICK)} == {1}
    full = cells("static", bench.FULL)
    assert {c.label for c in normal} < {c.label for c in full}
    ruled_in_full = [c for c in full if (c.protocol, c.scenario.name) == ("mp-dpa", "bulk-sym")]
    assert {cell.deadline_ms for cell in ruled_in_full} == deadlines


def test_some_protocols() -> None:
    static = bench.benches()["static"]
    chosen = bench.cells_of(static, bench.Choice(bench.NORMAL, None, ("mpdpa", "mptcp")))
    whole = cells("static", bench.NORMAL)
    assert chosen == [cell for cell in whole if cell.protocol in ("mpdpa", "mptcp")]
    with pytest.raises(UsageError, match="redundant: --protocol: expected one of the bench's: tcp"):
        bench.cells_of(static, bench.Choice(bench.NORMAL, None, ("mpdpa", "redundant")))


def test_traces(tmp_path: Path) -> None:
    names = {cell.scenario.name for cell in cells("traces", bench.NORMAL)}
    places = ("highway", "rural", "city")
    assert names == {f"{kind}-drive-{place}" for kind in ("bulk", "stream") for place in places}
    (tmp_path / "slow.down").write_text("".join(f"{ms}\n" for ms in range(10, 120_001, 10)))
    (tmp_path / "fast.down").write_text("".join(f"{ms}\n" for ms in range(5, 180_001, 5)))
    more = {cell.scenario.name for cell in cells("traces", bench.NORMAL, tmp_path)} - names
    assert more == {"bulk-drive-real", "stream-drive-real"}
    bulk, stream = realtraces.scenarios(tmp_path)
    assert [path.trace for path in bulk.paths] == ["slow.down", "fast.down"]
    assert (bulk.load.chunks, bulk.load.chunk_bytes, stream.load.chunks) == (2, 50_000_000, 120)
    assert [path.queue_bytes for path in bulk.paths] == [30 * 1514, 30 * 1514]
    (tmp_path / "fast.down").unlink()
    with pytest.raises(UsageError, match="--traces: expected two files"):
        realtraces.scenarios(tmp_path)


@pytest.mark.parametrize(
    ("name", "size"),
    [("traces", bench.QUICK), ("static", bench.NORMAL), ("alpha", bench.FULL)],
)
def test_traces_are_not_ignored(name: str, size: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--traces: expected a campaign with recorded traces"):
        cells(name, size, tmp_path)


def test_alpha_is_swept() -> None:
    swept = [cell for cell in cells("alpha", bench.NORMAL) if cell.protocol == "threshold"]
    assert {cell.deadline_ms for cell in swept} == {10_000, 7_500}
    assert {cell.scenario.name for cell in swept} == {"bulk-sym", "bulk-asym"}
    assert (min(c.alpha for c in swept), max(c.alpha for c in swept)) == (0.4, 2.4)


def planned(out: Path) -> list[str]:
    """The jobs that the workflow would run, by their cell's name, or "collect"."""
    command, environment = bench.workflow(out, 1)
    quiet = command.index("--quiet")
    command = [*command[:quiet], *command[quiet + 2 :], "--dry-run", "--printshellcmds"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    return sorted(re.findall(r"-m testbed (?:measure \S+/cells/(\S+)/spec|(collect))", said))


def names(jobs: list[tuple[str, str]]) -> list[str]:
    return sorted(a or b for a, b in jobs)


def finish(out: Path) -> None:
    """As if every job had been run, some time ago, a moment after its inputs were written."""
    ago = time.time() - 100
    for file in out.rglob("*.json"):
        os.utime(file, (ago, ago))
    for folder in (out / "cells").iterdir():
        for name in ("raw.json", "series.csv", "host.json"):
            (folder / name).touch()
            os.utime(folder / name, (ago + 5, ago + 5))
    for name in ("results.json", "report.html"):
        (out / name).touch()
        os.utime(out / name, (ago + 10, ago + 10))


def test_collect_tells_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected the folder of a campaign, with plan\.json"):
        bench.collect(tmp_path)
    labels = {"a-s1": MODULE, "b-s1": MODULE}
    (tmp_path / "plan.json").write_text(plan(labels))
    causes = [tmp_path / "build/module.json"]
    causes += (tmp_path / f"cells/{label}/spec.json" for label in labels)
    for cause in causes:
        write(cause, "{}")
        os.utime(cause, (0, 0))
    (tmp_path / "cells/a-s1/raw.json").touch()
    with pytest.raises(MeasurementError, match=r"not measured yet.*: 1 of 2 cells, the first b-s1"):
        bench.collect(tmp_path)


@pytest.mark.parametrize(
    ("changed", "out_of_date"), [(f"build/{MODULE}.json", 2), ("cells/b-s1/spec.json", 1)]
)
def test_what_was_measured_before_a_change_is_not_collected(
    tmp_path: Path, changed: str, out_of_date: int
) -> None:
    labels = {"b-s1": MODULE, "a-s1": MODULE, "c-s1": LINKS}
    write(tmp_path / "plan.json", plan(labels))
    write(tmp_path / f"build/{LINKS}.json", "{}")
    write(tmp_path / f"build/{MODULE}.json", "{}")
    for label in labels:
        write(tmp_path / f"cells/{label}/spec.json", "{}")
        write(tmp_path / f"cells/{label}/raw.json", "{}")
    later = time.time() + 100
    os.utime(tmp_path / changed, (later, later))
    with pytest.raises(
        MeasurementError, match=f"before the last change: {out_of_date} of 3 cells, the first b-s1"
    ):
        bench.collect(tmp_path)
    assert not (tmp_path / "results.json").exists()


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_overlays_are_for_every_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, overlay = tmp_path / "bench", tmp_path / "overlay"
    (overlay / "opt").mkdir(parents=True)
    (overlay / "opt/file").write_text("old")
    machine = Machine(overlays=(overlay,))

    before = prepared(machine, out)
    (overlay / "opt/file").write_text("new")
    assert all(old != new for old, new in zip(before, prepared(machine, out), strict=True))
    used: list[Machine] = []

    def run(self: guestrun.Runner, _cell: Cell, _progress: object) -> None:
        used.append(self._machine)
        raise MeasurementError("not here")

    monkeypatch.setattr(guestrun.Runner, "run", run)
    monkeypatch.setenv("MPDPA_IMAGES", "none")
    with pytest.raises(MeasurementError, match="not here"):
        bench.measure(next((out / "cells").glob("*/spec.json")))
    assert [each.overlays for each in used] == [machine.overlays]


def test_builds_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is built before a cell runs, or while it does."""
    out, file = tmp_path / "bench", tmp_path / "overlay/opt/file"
    file.parent.mkdir(parents=True)
    ran = []

    def run(_runner: guestrun.Runner, cell: Cell, _progress: object) -> None:
        ran.append(cell)
        file.write_text("newer")

    monkeypatch.setattr(guestrun.Runner, "run", run)
    monkeypatch.setattr(campaign, "keep_series", lambda *_: None)
    monkeypatch.setenv("MPDPA_IMAGES", "none")
    file.write_text("old")
    prepared(Machine(overlays=(file.parent.parent,)), out)
    spec = next((out / "cells").glob("*/spec.json"))
    other = file.with_name("other")
    for change, undo in ((lambda: file.write_text("new"), lambda: file.write_text("old")),
                         (other.touch, other.unlink)):  # fmt: skip
        change()
        with pytest.raises(MeasurementError, match=r"expected it as it was when .* was planned"):
            bench.measure(spec)
        undo()
    assert not ran
    with pytest.raises(MeasurementError, match=f"{file}: file: expected it as it was"):
        bench.measure(spec)
    assert len(ran) == 1 and not spec.with_name("raw.json").exists()


def test_the_kernel_of_the_plan_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever shell a job has."""
    used: list[str | None] = []

    def run(self: guestrun.Runner, _cell: Cell, _progress: object) -> None:
        used.append(self._machine.kernel)
        raise MeasurementError("not here")

    monkeypatch.setattr(guestrun.Runner, "run", run)
    monkeypatch.setenv("MPDPA_IMAGES", "none")
    for named, environment in ((None, "7.3"), ("6.12", "7.3"), (None, "")):
        out = tmp_path / f"{named}-{environment}"
        monkeypatch.setenv("KERNEL", environment)
        prepared(Machine(kernel=named), out)
        monkeypatch.setenv("KERNEL", "5.10")
        with pytest.raises(MeasurementError, match="not here"):
            bench.measure(next((out / "cells").glob("*/spec.json")))
    assert used == ["7.3", "6.12", guestrun.USUAL_SERIES]


def test_a_cell_that_is_planned_anew_while_it_runs_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was built last is as planned then, and not what ran."""
    out, file = tmp_path / "bench", tmp_path / "overlay/opt/file"
    machine = Machine(overlays=(file.parent.parent,))
    write(file, "old")
    prepared(machine, out)
    spec = next((out / "cells").glob("*/spec.json"))
    needs = json.loads((out / "plan.json").read_text())["cells"]
    cause = out / f"build/{needs[spec.parent.name]}.json"

    def build() -> None:
        file.write_text("new")
        prepared(machine, out)

    monkeypatch.setattr(campaign, "keep_series", lambda *_: None)
    monkeypatch.setenv("MPDPA_IMAGES", "none")
    for change, changed in ((build, cause), (lambda: append(spec, "\n"), spec)):
        monkeypatch.setattr(guestrun.Runner, "run", lambda *_, then=change: then())
        with pytest.raises(MeasurementError, match=f"{changed}: file: expected it as it was when"):
            bench.measure(spec)
        assert not spec.with_name("raw.json").exists()


def test_results_do_not_outlive_their_plan(tmp_path: Path) -> None:
    """Whether what is planned is measured or not; those of the same plan stay."""
    overlay, out = tmp_path / "overlay", tmp_path / "bench"
    write(overlay / "file", "old")
    machine = Machine(overlays=(overlay,))
    there = [out / name for name in ("results.json", "report.html", "series/a.csv")]
    kept = out / "cells/a/raw.json"

    def changed() -> bool:
        for file in (*there, kept):
            write(file, "{}")
        prepared(machine, out)
        left = {file.exists() for file in there}
        assert len(left) == 1 and kept.exists()
        return left == {False}

    assert changed()
    assert not changed()
    for file in (out / "plan.json", out / "build/report.json", next(out.glob("cells/*/spec.json"))):
        append(file, "\n")
        assert changed(), file
        assert not changed()
    write(overlay / "file", "new")
    assert changed()


def prepared(machine: Machine, out: Path) -> list[str]:
    """What cells follow from, by what they need."""
    bench.prepare("static", bench.Choice(bench.QUICK), machine, out, "testbed bench static")
    return [(out / f"build/{need}.json").read_text() for need in (NOTHING, LINKS, MODULE)]


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_cells_follow_from_their_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its image, its emulator, and what memory it has."""
    emulator, info = tmp_path / "bin/qemu-system-x86_64", tmp_path / "images/7.2.1_1/tree/info.json"
    monkeypatch.setenv("PATH", f"{emulator.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("MPDPA_KERNELS", str(tmp_path / "kernels"))
    monkeypatch.setenv("MPDPA_IMAGES", str(tmp_path / "images"))
    out, machine = tmp_path / "bench", Machine(kernel="7.2")
    # without an image, and without an emulator that works
    write(emulator, "#!/bin/sh\nexit 1\n")
    emulator.chmod(0o755)
    seen = [prepared(machine, out)]
    write(info, '{"release": "7.2.1"}')
    write(tmp_path / "images/7.2.1_1/stamp", "")
    write(tmp_path / "kernels/series-7.2", "7.2.1_1\n")
    seen.append(prepared(machine, out))
    write(info, '{"release": "7.2.1", "initrd_sha256": "1"}')
    seen.append(prepared(machine, out))
    write(emulator, "#!/bin/sh\necho QEMU emulator version 10.0.1\n")
    seen.append(prepared(machine, out))
    monkeypatch.setattr(guestrun, "_USUAL_TCP_BYTES", 1 << 20)
    seen.append(prepared(machine, out))
    for before, after in pairwise(seen):
        assert all(old != new for old, new in zip(before, after, strict=True))
    assert prepared(machine, out) == seen[-1]


def test_only_what_changed_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, package = tmp_path / "bench", tmp_path / "testbed"
    shutil.copytree(bench.PACKAGE, package, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    monkeypatch.setattr(bench, "PACKAGE", package)

    def prepare() -> None:
        bench.prepare("static", bench.Choice(bench.QUICK), Machine(), out, "testbed bench static")

    prepare()
    needs = json.loads((out / "plan.json").read_text())["cells"]
    assert set(needs.values()) == {NOTHING, LINKS, MODULE}
    assert names(planned(out)) == sorted([*needs, "collect"])
    finish(out)
    prepare()
    assert planned(out) == []
    for name in ("score.py", "curves.py", "report.css", "reference.toml"):
        append(package / name, "\n")
        prepare()
        assert names(planned(out)) == ["collect"], name
        finish(out)
    # What a guest has of the package concerns every cell.
    append(package / "receiver.py", "\n")
    prepare()
    assert names(planned(out)) == sorted([*needs, "collect"])
    assert bench.done(out, needs) == 0
    finish(out)
    assert bench.done(out, needs) == len(needs)
    # One cell was another one before.
    changed = min(needs)
    append(out / "cells" / changed / "spec.json", "\n")
    prepare()
    assert names(planned(out)) == sorted([changed, "collect"])
    assert bench.done(out, needs) == len(needs) - 1
    finish(out)
    # The scheduler was built anew: its cells, and the report.
    os.utime(out / "build" / f"{MODULE}.json")
    ours = [name for name, need in needs.items() if need == MODULE]
    assert names(planned(out)) == sorted([*ours, "collect"])
    assert bench.done(out, needs) == len(needs) - len(ours)
    # Interrupted: what was done is kept.
    finish(out)
    (out / "cells" / ours[0] / "raw.json").unlink()
    (out / "results.json").unlink()
    assert names(planned(out)) == sorted([ours[0], "collect"])


# In place of the build environment: notes what it is asked for, and leaves what the job would.
ENTER = """
echo "$*" >>"$0.log"
for last do :; done
case "$*" in
*" measure "*) cd "${last%/*}" && touch raw.json series.csv host.json ;;
*" collect "*) cd "$last" && touch results.json report.html ;;
esac
"""


def test_jobs_of_a_cluster_enter_the_build_environment(tmp_path: Path) -> None:
    """Submitted one by one, as to Slurm; here to a shell."""
    (tmp_path / "tools").symlink_to(guestrun.PACKAGE.parent)
    (tmp_path / "enter").write_text(ENTER)
    out = tmp_path / "out/bench-traces"
    bench.prepare("traces", bench.Choice(bench.QUICK), Machine(), out, "testbed bench traces")
    done = subprocess.run(
        ["snakemake", "--snakefile", "tools/testbed/Snakefile", "--cluster",
         "echo {wildcards} {resources.mem_mb} >>memory; sh", "--jobs", "8",
         "--latency-wait", "5", "--max-jobs-per-second", "20", "--max-status-checks-per-second",
         "20", "--config", "folder=out/bench-traces", f"enter=sh {tmp_path}/enter"],
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said = (tmp_path / "enter.log").read_text().splitlines()
    command = "env PYTHONPATH=tools python3 -m testbed"
    labels = json.loads((out / "plan.json").read_text())["cells"]
    assert sorted(said[:-1]) == sorted(
        f"{command} measure out/bench-traces/cells/{label}/spec.json" for label in labels
    )
    assert said[-1] == f"{command} collect out/bench-traces"
    asked = dict(re.findall(r"label=(\S+) (\d+)", (tmp_path / "memory").read_text()))
    assert asked.keys() == labels.keys()
    for label, megabytes in asked.items():
        options = guestrun.memory_options(cellspec.read(out / f"cells/{label}/spec.json"))
        guest = int(options[options.index("--memory") + 1])
        assert guest + 400 < int(megabytes) < guest + 600
