"""What can be compared; data in protocols.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File

from .errors import UsageError
from .fields import Fields
from .scenario import ADAPTIVE, Alpha

FILE = File(__file__).resolve().parent / "protocols.toml"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,14}")
_KEYS = (
    "title, scheduler, object, deadlines, costs, rule, alpha, sysctl, sysctl_fixed, sysctl_adaptive"
)

Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Protocol:
    """How connections are made; see protocols.toml."""

    name: str
    title: str
    scheduler: str | None
    deadlines: bool = False
    costs: bool = False
    rule: bool = False
    object: str | None = None
    alpha: tuple[Alpha, ...] = ()
    sysctl: Settings = ()
    sysctl_fixed: Settings = ()
    sysctl_adaptive: Settings = ()

    def settings(self, alpha: Alpha) -> Settings:
        """The sysctls for a value of alpha."""
        if alpha is None:
            return self.sysctl
        if alpha == ADAPTIVE:
            return self.sysctl + self.sysctl_adaptive
        milli = str(round(float(alpha) * 1000))
        fixed = ((name, value.format(alpha_milli=milli)) for name, value in self.sysctl_fixed)
        return (*self.sysctl, *fixed)


def is_name(word: object) -> bool:
    return isinstance(word, str) and _NAME.fullmatch(word) is not None


def add(file: File) -> None:
    """Those of another file, too."""
    for name, protocol in _read(file).items():
        if name in known():
            raise UsageError(f"{file}: {name}: expected a name that {FILE.name} does not have")
        known()[name] = protocol


def find(name: str) -> Protocol:
    if not is_name(name):
        raise UsageError(f"{name}: protocol: expected {', '.join(known())} or a scheduler's name")
    return known().get(name) or Protocol(name, f"MPTCP, scheduler {name}", name)


@cache
def known() -> dict[str, Protocol]:
    """Those of the file. Not in the guest, which gets what it needs with the cell."""
    return _read(FILE)


def _read(file: File) -> dict[str, Protocol]:
    try:
        top = Fields(tomllib.loads(file.read_text()), str(file))
    except OSError as error:
        raise UsageError(f"{file}: file: expected protocols ({error.strerror})") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: file: expected TOML ({error})") from None
    return {name: _parse(name, top.table(name)) for name in top.names()}


def _parse(name: str, table: Fields) -> Protocol:
    protocol = Protocol(
        name=name,
        title=table.text("title"),
        scheduler=table.text("scheduler", None),
        deadlines=table.flag("deadlines", False),
        costs=table.flag("costs", False),
        rule=table.flag("rule", False),
        object=table.text("object", None),
        alpha=table.items("alpha", "a list of numbers or 'adaptive'", is_alpha, ()),
        sysctl=_settings(table, "sysctl"),
        sysctl_fixed=_settings(table, "sysctl_fixed"),
        sysctl_adaptive=_settings(table, "sysctl_adaptive"),
    )
    table.finish(_KEYS)
    return protocol


def is_alpha(value: object) -> bool:
    return isinstance(value, float) or value == ADAPTIVE


def _settings(table: Fields, key: str) -> Settings:
    rows = table.table(key)
    return tuple((name, str(rows.scalar(name))) for name in rows.names())
