"""Strict reading of tables: every key is known, typed and in range, or the error says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import Any

from .errors import UsageError

_MISSING = object()
# What taking a file apart ends with that is cut, damaged or another one.
_DAMAGED = (
    LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError,
)  # fmt: skip


@contextmanager
def reading(file: File, expected: str) -> Iterator[None]:
    """For what takes a file of ours apart: whatever is wrong with it is one line."""
    try:
        yield
    except OSError as error:
        why = error.strerror
    except KeyError as error:
        why = f"no key {error}"
    except _DAMAGED as error:
        why = " ".join(str(error).split())
    else:
        return
    raise UsageError(f"{file}: file: expected {expected} ({why})")


def read_json(file: File, expected: str) -> Any:
    with reading(file, expected):
        return json.loads(file.read_text())


class Fields:
    """One table of a file. Keys are taken one by one; ``finish`` refuses what is left.

    JSON's null is as good as no key.
    """

    def __init__(self, table: object, where: str, prefix: str = "") -> None:
        self._where = where
        self._prefix = prefix
        if not isinstance(table, dict):
            raise UsageError(f"{where}: {prefix or 'file'}: expected a table, got {_show(table)}")
        self._left = {key: value for key, value in table.items() if value is not None}

    @property
    def empty(self) -> bool:
        return not self._left

    def names(self) -> list[str]:
        """The keys that were not taken yet."""
        return list(self._left)

    def fail(self, key: str, expected: str, got: object = _MISSING) -> UsageError:
        found = "" if got is _MISSING else f", got {_show(got)}"
        return UsageError(f"{self._where}: {self._name(key)}: expected {expected}{found}")

    def _name(self, key: str) -> str:
        return f"{self._prefix}.{key}" if self._prefix else key

    def _take(self, key: str, default: object, expected: str, good: Callable[[Any], bool]) -> Any:
        value = self._left.pop(key, _MISSING)
        if value is _MISSING:
            if default is _MISSING:
                raise self.fail(key, f"{expected}, but the key is missing")
            return default
        if not good(value):
            raise self.fail(key, expected, value)
        return value

    def integer(self, key: str, low: int, high: int, default: Any = _MISSING) -> Any:
        expected = f"a whole number from {low} to {high}"
        return self._take(key, default, expected, lambda v: _is_integer(v) and low <= v <= high)

    def number(self, key: str, low: float, high: float, default: Any = _MISSING) -> Any:
        expected = f"a number from {low:g} to {high:g}"
        return self._take(key, default, expected, lambda v: _is_number(v) and low <= v <= high)

    def text(self, key: str, default: Any = _MISSING) -> Any:
        return self._take(key, default, "a text", lambda v: isinstance(v, str) and v != "")

    def flag(self, key: str, default: Any = _MISSING) -> Any:
        return self._take(key, default, "true or false", lambda v: isinstance(v, bool))

    def scalar(self, key: str) -> Any:
        return self._take(key, _MISSING, "a text or a whole number", _is_plain)

    def choice(self, key: str, among: tuple[object, ...], default: Any = _MISSING) -> Any:
        expected = "one of " + ", ".join(str(value) for value in among)
        return self._take(key, default, expected, lambda v: _is_plain(v) and v in among)

    def integers(self, key: str, low: int, high: int, default: Any = _MISSING) -> tuple[int, ...]:
        expected = f"a list of whole numbers from {low} to {high}"
        return self.items(key, expected, lambda v: _is_integer(v) and low <= v <= high, default)

    def items(
        self, key: str, expected: str, good: Callable[[Any], bool], default: Any = _MISSING
    ) -> tuple[Any, ...]:
        return tuple(self._take(key, default, expected, lambda v: _is_list(v, good)))

    def table(self, key: str) -> Fields:
        value = self._take(key, {}, "a table", lambda v: isinstance(v, dict))
        return Fields(value, self._where, self._name(key))

    def tables(self, key: str) -> list[Fields]:
        expected = f"at least one [[{key}]]"
        rows = self._take(key, _MISSING, expected, lambda v: isinstance(v, list) and len(v) > 0)
        return [Fields(row, self._where, f"{self._name(key)}[{i}]") for i, row in enumerate(rows)]

    def finish(self, known: str) -> None:
        for key in self._left:
            raise self.fail(key, f"a known key ({known})")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, float) or _is_integer(value)


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or _is_integer(value)


def _is_list(value: object, good: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(good(item) for item in value)


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
