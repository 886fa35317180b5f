"""The few calls of libbpf that are needed; what was loaded is gone when its object is."""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from pathlib import Path as File

from .errors import MeasurementError

_POINTER, _INT, _U32 = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32
_CALLS: dict[str, tuple[type, tuple[type, ...]]] = {
    "bpf_object__open_file": (_POINTER, (ctypes.c_char_p, _POINTER)),
    "bpf_object__load": (_INT, (_POINTER,)),
    "bpf_object__close": (ctypes.c_int, (_POINTER,)),
    "bpf_object__find_map_by_name": (_POINTER, (_POINTER, ctypes.c_char_p)),
    "bpf_object__find_program_by_name": (_POINTER, (_POINTER, ctypes.c_char_p)),
    "bpf_map__set_max_entries": (_INT, (_POINTER, _U32)),
    "bpf_map__fd": (_INT, (_POINTER,)),
    "bpf_map_lookup_elem": (_INT, (_INT, _POINTER, _POINTER)),
    "bpf_map_update_elem": (_INT, (_INT, _POINTER, _POINTER, ctypes.c_uint64)),
    "bpf_program__attach": (_POINTER, (_POINTER,)),
    "bpf_program__attach_tcx": (_POINTER, (_POINTER, _INT, _POINTER)),
    "bpf_link__destroy": (_INT, (_POINTER,)),
}


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
        for name, (result, arguments) in _CALLS.items():
            call = getattr(library, name)
            call.restype, call.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise MeasurementError(f"libbpf 1.3 or newer is needed: {error}") from None
    return library


class Program:
    """An object file with one program, its maps, and what it is attached to."""

    def __init__(self, file: File, entries: dict[str, int]) -> None:
        """``entries`` gives maps a size that the file does not know."""
        self._file = file
        self._links: list[int] = []
        self._object = self._good(_library().bpf_object__open_file(os.fsencode(file), None))
        for name, count in entries.items():
            self._sound(_library().bpf_map__set_max_entries(self._map(name), count))
        self._sound(_library().bpf_object__load(self._object))

    def _fail(self) -> MeasurementError:
        return MeasurementError(f"{self._file.name}: {os.strerror(ctypes.get_errno())}")

    def _good(self, pointer: int | None) -> int:
        if not pointer:
            raise self._fail()
        return pointer

    def _sound(self, result: int) -> None:
        if result < 0:
            raise self._fail()

    def _map(self, name: str) -> int:
        return self._good(_library().bpf_object__find_map_by_name(self._object, name.encode()))

    def fill(self, name: str, content: bytes) -> None:
        """The whole content of an array that allows it."""
        size = -(-len(content) // mmap.PAGESIZE) * mmap.PAGESIZE
        with mmap.mmap(_library().bpf_map__fd(self._map(name)), size) as memory:
            memory[: len(content)] = content

    def read(self, name: str, into: ctypes.Structure, number: int = 0) -> None:
        key = _U32(number)
        descriptor = _library().bpf_map__fd(self._map(name))
        call = _library().bpf_map_lookup_elem
        self._sound(call(descriptor, ctypes.byref(key), ctypes.byref(into)))

    def write(self, name: str, value: ctypes.Structure) -> None:
        self.put(name, 0, value)

    def put(self, name: str, number: int, value: ctypes.Structure | ctypes.c_uint32) -> None:
        key = _U32(number)
        descriptor = _library().bpf_map__fd(self._map(name))
        call = _library().bpf_map_update_elem
        self._sound(call(descriptor, ctypes.byref(key), ctypes.byref(value), 0))

    def _program(self, name: str) -> int:
        find = _library().bpf_object__find_program_by_name
        return self._good(find(self._object, name.encode()))

    def attach(self, name: str) -> None:
        """Where its section says."""
        self._links.append(self._good(_library().bpf_program__attach(self._program(name))))

    def attach_egress(self, name: str, index: int) -> None:
        """To an interface of the namespace that the caller is in."""
        link = _library().bpf_program__attach_tcx(self._program(name), index, None)
        self._links.append(self._good(link))

    def close(self) -> None:
        for link in self._links:
            _library().bpf_link__destroy(link)
        _library().bpf_object__close(self._object)
