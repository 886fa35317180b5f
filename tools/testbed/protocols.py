"""What can be compared; data in protocols.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Any

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

    def knows(self, alpha: Alpha) -> bool:
        """Whether it makes a difference, or is one of its own."""
        if alpha in self.alpha:
            return True
        return bool(self.sysctl_adaptive if alpha == ADAPTIVE else self.rule or self.sysctl_fixed)

    def alphas(self, chosen: tuple[Alpha, ...]) -> tuple[Alpha, ...]:
        """Which to run of those that were asked for; UsageError at one that would be ignored."""
        if not self.alpha:
            return (None,)
        for alpha in chosen:
            if not self.knows(alpha):
                expected = "numbers" if alpha == ADAPTIVE else f"{ADAPTIVE!r}"
                raise UsageError(f"{self.name}: alpha: expected {expected} alone, got {alpha!r}")
        return chosen or self.alpha


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
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: file: expected a readable text file ({error})") from None
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
        alpha=alphas_in(table),
        sysctl=_settings(table, "sysctl"),
        sysctl_fixed=_settings(table, "sysctl_fixed"),
        sysctl_adaptive=_settings(table, "sysctl_adaptive"),
    )
    table.finish(_KEYS)
    return protocol


def alphas_in(table: Fields) -> tuple[Alpha, ...]:
    """A table's key alpha."""
    return as_alphas(table.items("alpha", "a list of numbers or 'adaptive'", is_alpha, ()))


def is_alpha(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number or value == ADAPTIVE


def as_alphas(values: tuple[Any, ...]) -> tuple[Alpha, ...]:
    """A whole number is one like others."""
    return tuple(value if value == ADAPTIVE else float(value) for value in values)


def _settings(table: Fields, key: str) -> Settings:
    rows = table.table(key)
    return tuple((name, str(rows.scalar(name))) for name in rows.names())
