"""report.html: one page that needs nothing else, for reading and for passing on."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path as File
from typing import Any

from . import curves, overview, plots
from .campaign import Experiment
from .errors import ENTER
from .guestrun import BUILD
from .reference import Reference
from .results import NATIVE_ACCEL, Finished
from .scenario import CROWD, Connection, Path
from .table import HEADINGS, REFERENCE_HEADING, Group, groups, percent

_MANY_CHUNKS = 20
# a report of more scenarios has its campaign's name
_NAMES_IN_TITLE = 3
_MISS_KEYS = """<span class="key"><i style="background:var(--bad)"></i>avoidable</span>
<span class="key"><i style="background:var(--faint)"></i>not even full speed meets them</span>"""
_STYLE_SHEET = File(__file__).resolve().parent / "report.css"


def write(experiment: Experiment, reference: Reference) -> File:
    page = experiment.folder / "report.html"
    page.write_text(_page(experiment, reference), encoding="utf-8")
    return page


def _page(experiment: Experiment, reference: Reference) -> str:
    parts = list(groups(experiment.finished, reference))
    names = list(dict.fromkeys(done.cell.scenario.name for done in experiment.finished))
    title = ", ".join(names) if len(names) <= _NAMES_IN_TITLE else experiment.folder.name
    sections = "".join(_section(group, experiment.folder, reference) for group in parts)
    firsts = [next(d for d in experiment.finished if d.cell.scenario.name == n) for n in names]
    leads = "".join(f'<p class="lead">{escape(_lead(done))}</p>' for done in firsts)
    contents = _contents(parts) if len(parts) > 1 else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}: deadlines and costs over Multipath TCP</title>
<style>
{_STYLE_SHEET.read_text()}</style></head><body><main>
<header><p class="kicker">Deadline- and price-aware Multipath TCP</p>
<h1>{escape(title)}</h1>
{leads}{contents}</header>
{_overview(parts, reference)}{sections}
{_method(experiment, reference)}
</main></body></html>
"""


def _lead(done: Finished) -> str:
    scenario = done.cell.scenario
    load = scenario.load
    size = f"{load.chunk_bytes / 1e6:g} MB"
    every = f"{load.period_ms / 1000:g} s"
    number = "one" if load.together == 1 else load.together
    chunks = f"one chunk of {size}" if load.chunks == 1 else (
        f"{load.chunks} chunks of {size}, {number} every {every}"
    )  # fmt: skip
    if load.kind == CROWD:
        chunks += ", each on a connection of its own"
    links = "; ".join(_link(path) for path in scenario.paths)
    return f"{scenario.title}: {chunks}. {links}."


def _link(path: Path) -> str:
    rate = f"{path.rates.peak_bps / 1e6:g} Mbit/s"
    if path.varies:
        low, high, mean = path.rates.least_bps, path.rates.peak_bps, path.rates.mean_bps
        rate = f"{low / 1e6:.3g} to {high / 1e6:.3g}, on average {mean / 1e6:.3g} Mbit/s"
    if path.trace:
        rate = f"{path.trace}, {rate}"
    return f"{path.name}: {rate}, {path.delay_ms:g} ms one way, cost {path.cost}"


def _contents(parts: list[Group]) -> str:
    links = (f'<a href="#{_anchor(group)}">{escape(group.title)}</a>' for group in parts)
    return f"<nav>{' '.join(links)}</nav>"


def _anchor(group: Group) -> str:
    cell = group.runs[0].cell
    return f"{cell.scenario.name}-{cell.deadline_ms}"


def _section(group: Group, folder: File, reference: Reference) -> str:
    first_seed = group.runs[0].cell.seed
    shown = [done for done in group.runs if done.cell.seed == first_seed]
    published = [reference.beside(done.cell) for done in shown]
    shares = [figure.costly_share if figure else None for figure in published]
    overheads = [figure.overhead if figure else None for figure in published]
    return f"""<section id="{_anchor(group)}"><h2>{escape(group.title)}</h2>
{_tiles(group)}
{_charted(group, first_seed)}{_utility(shown)}
<figure><figcaption><b>Payload acknowledged per subflow, over time</b>{_path_keys(shown[0])}
{_chunk_keys(shown[0])}</figcaption>
{plots.throughput(shown, folder)}</figure>
<div class="scroll">{_table(group, reference.short)}</div>
<figure><figcaption><b>How long chunks took</b></figcaption>
{_completion(shown)}</figure>
<figure><figcaption><b>Distribution of throughput</b></figcaption>
{curves.throughput(shown, folder)}</figure>
<figure><figcaption><b>Share of the payload on costly paths</b>
{_diamond_key(shares, reference)}</figcaption>
{plots.shares(shown, shares)}</figure>
<figure><figcaption><b>Missed chunks</b> {_MISS_KEYS}</figcaption>
{plots.misses(shown)}</figure>
<figure><figcaption><b>Overhead</b>{_diamond_key(overheads, reference)}</figcaption>
{plots.overhead(shown, overheads)}</figure></section>
"""


def _charted(group: Group, seed: int) -> str:
    if all(done.cell.seed == seed for done in group.runs):
        return ""
    return f'<p class="lead">The charts show seed {seed}, the table all seeds.</p>\n'


def _diamond_key(published: list[float | None], reference: Reference) -> str:
    if all(value is None for value in published):
        return ""
    return f' <span class="key"><i class="diamond"></i>{escape(reference.short)}</span>'


def _overview(parts: list[Group], reference: Reference) -> str:
    if len(parts) < 2:
        return ""
    whole = overview.of(parts, reference)
    kinds = [["", *line] for line in whole.kinds]
    rows = [f"<tr>{_row('td', *pair)}</tr>" for pair in zip(whole.rows, kinds[1:], strict=True)]
    head = _row("th", whole.headings, kinds[0])
    return f"""<section id="overview"><h2>All of it</h2>
<p>Share of the payload put on costly paths, and how many chunks came late if any did.</p>
<div class="scroll"><table class="wrap"><thead><tr>{head}</tr></thead>
<tbody>{"".join(rows)}</tbody></table></div></section>
"""


def _completion(shown: list[Finished]) -> str:
    """Each chunk, or the distribution where they are too many to tell apart."""
    many = len(shown[0].score.completion_ms) > _MANY_CHUNKS
    return curves.completion(shown) if many else plots.completion(shown)


def _utility(shown: list[Finished]) -> str:
    if not curves.has_alphas(shown):
        return ""
    return f"""<figure><figcaption><b>Utility against α</b></figcaption>
{curves.utility(shown)}</figure>
"""


def _tiles(group: Group) -> str:
    """What to remember: of every run how many chunks were late, and the costly share."""
    tiles = []
    for line in group.lines:
        score = line.done.score
        state = "good" if score.missed == 0 else "bad"
        met = len(score.completion_ms) - score.missed
        tiles.append(
            f'<div class="tile"><span>{escape(line.own[0])}</span>'
            f"<b>{percent(score.costly_share)}</b><small>costly</small>"
            f'<em class="{state}">{met} of {len(score.completion_ms)} in time</em></div>'
        )
    oracle = percent(group.runs[0].score.oracle_costly_share)
    tiles.append(
        f'<div class="tile oracle"><span>Oracle</span><b>{oracle}</b><small>costly</small>'
        "<em>perfect knowledge</em></div>"
    )
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _path_keys(done: Finished) -> str:
    names = plots.colours_of(done)
    keys = (
        f'<span class="key"><i style="background:var(--path-{i})"></i>{escape(name)}</span>'
        for i, name in enumerate(names)
    )
    return " ".join(["", *keys])


def _chunk_keys(done: Finished) -> str:
    if not plots.marks_each(done):
        return '<span class="key bad">| chunk complete, but late</span>'
    return """<span class="key"><i class="dash"></i>deadline</span>
<span class="key good">▼ chunk complete in time</span>
<span class="key bad">✖ late</span>"""


def _row(tag: str, texts: Iterable[str], classes: Iterable[str]) -> str:
    pairs = zip(texts, classes, strict=True)
    return "".join(f'<{tag} class="{kind}">{_cell(text)}</{tag}>' for text, kind in pairs)


def _cell(text: str) -> str:
    """A number stays with its unit."""
    return escape(text).replace(" %", "&nbsp;%")


def _table(group: Group, short: str) -> str:
    extra = [f"{short}: {REFERENCE_HEADING}"] if group.has_published else []
    kinds = ["", *["own"] * (len(HEADINGS) - 1), *["published"] * len(extra)]
    headings = [text.replace("-\n", "").replace("\n", " ") for text in HEADINGS]
    rows = []
    for line in group.lines:
        texts = [*line.own, *([line.published] if extra else [])]
        classes = list(kinds)
        classes[2] += " bad" if line.done.score.missed else ""
        rows.append(f"<tr>{_row('td', texts, classes)}</tr>")
    head = f"<tr>{_row('th', [*headings, *extra], kinds)}</tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _connection(connection: Connection) -> str:
    return (
        f"{connection.congestion}, IPv{connection.ip}, {connection.buffer_bytes / 1e6:g} MB "
        f"buffers, starts on {connection.start}"
    )


def _recipe(content: dict[str, Any]) -> str:
    """On the machine's own kernel everything is the machine's own."""
    command = f"env PYTHONPATH=tools python3 -m {content['command']}"
    if content["host"]["accel"] == NATIVE_ACCEL:
        return f"make\n{command}"
    return f"{BUILD}\n{ENTER} {command}"


def _method(experiment: Experiment, reference: Reference) -> str:
    content = experiment.content
    host = content["host"]
    seeds = sorted({done.cell.seed for done in experiment.finished})
    clock = {
        "virtual": "virtual: it counts the guest's instructions, so the same seed gives the same "
        "figures on any machine",
        "wall": "the machine's own, so that figures vary a little from run to run",
    }[host["clock"]]
    connections = (done.cell.scenario.connection for done in experiment.finished)
    facts = {
        "Kernel": f"{host['kernel']}, {host['cpus']} CPU, {host['accel']}",
        "Clock": clock,
        "Seed": ", ".join(map(str, seeds)),
        "Connection": "; ".join(dict.fromkeys(map(_connection, connections))),
        "Links": "rate and a drop-tail queue of 100 ms (at least 30 packets) unless the scenario "
        "says otherwise on one hop, delay on another, nothing on the hosts",
        "In time": "the receiver has read the chunk’s last byte by its deadline; both ends share "
        "one clock. Waiting in the sender’s buffer counts",
        "Costly share": "all payload put on costly paths, what was sent again included, per "
        "payload delivered; from the kernel’s counters of each subflow",
        "Oracle": "the least such bytes that perfect knowledge of the link rates allows if every "
        "chunk that full speed meets is met, in order",
        "Savings efficiency": "of the distance between stock MPTCP and the oracle, how much of "
        "it was saved",
        "Overhead": "bytes on the sending interfaces, headers included, over payload delivered",
        "Project": content["project_version"],
    }
    if any(reference.beside(done.cell) for done in experiment.finished):
        facts[reference.short] = f"{reference.origin}. There: {reference.setup}"
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"""<section id="method"><h2>How it was measured</h2><dl>{rows}</dl>
<p>To repeat it, in a checkout of the project:</p>
<pre>{escape(_recipe(content))}</pre>
<p>Beside this page: <a href="results.json">results.json</a> with every figure, and
<code>series/</code> with a line per 100 ms.</p></section>"""
