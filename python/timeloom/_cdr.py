"""Payloads to messages, from the type description that the binary gives."""

from __future__ import annotations

import struct
from typing import Any, Callable

_ARRAY, _BOUNDED, _UNBOUNDED = 48, 96, 144
_NESTED, _STRING, _WSTRING, _BOUNDED_STRING, _BOUNDED_WSTRING = 1, 17, 18, 21, 22
# The number of a primitive in a type description, and its letter for `struct`.
_PRIMITIVES = {
    2: "b", 3: "B", 4: "h", 5: "H", 6: "i", 7: "I", 8: "q", 9: "Q", 10: "f", 11: "d", 13: "B", 15: "?", 16: "B",
}
# Sequences of these are `bytes`.
_OCTETS = {3, 13, 16}


class CdrError(ValueError):
    """A payload that is not what its type says."""


class Message:
    """A decoded message: its fields are attributes, its type is ``__msgtype__``."""

    def __init__(self, msgtype: str, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        self.__dict__["__msgtype__"] = msgtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = (f"{name}={value!r}" for name, value in self.__dict__.items() if name != "__msgtype__")
        return f"{self.__msgtype__}({', '.join(fields)})"


class _Cursor:
    __slots__ = ("data", "end", "order", "position")

    def __init__(self, payload: bytes) -> None:
        if len(payload) < 4:
            msg = f"a payload has 4 bytes at least, this one has {len(payload)}"
            raise CdrError(msg)
        if payload[0] != 0 or payload[1] not in (0, 1):
            msg = f"encapsulation {payload[:2].hex()} is not CDR"
            raise CdrError(msg)
        self.order = "<" if payload[1] == 1 else ">"
        self.data = memoryview(payload)[4:]
        self.end = len(self.data)
        self.position = 0

    def take(self, size: int, count: int = 1) -> int:
        """Aligns to `size`, moves over `count` of them and says where they are."""
        start = -(-self.position // size) * size
        end = start + size * count
        if end > self.end:
            msg = f"{size * count} bytes are expected at byte {start}, {max(self.end - start, 0)} are there"
            raise CdrError(msg)
        self.position = end
        return start

    def length(self) -> int:
        (value,) = struct.unpack_from(self.order + "I", self.data, self.take(4))
        return value


_Read = Callable[[_Cursor], Any]


class Decoder:
    """Decodes the payloads of one type."""

    def __init__(self, description: dict[str, Any]) -> None:
        root = description["type_description"]
        types = [root, *description["referenced_type_descriptions"]]
        self._fields = {one["type_name"]: one["fields"] for one in types}
        self._readers: dict[str, list[tuple[str, _Read]]] = {}
        self._root = root["type_name"]

    def decode(self, payload: bytes) -> Message:
        """The message in a payload with its encapsulation header."""
        return self._struct(self._root)(_Cursor(payload))

    def _struct(self, name: str) -> _Read:
        readers = self._readers.get(name)
        if readers is None:
            readers = self._readers[name] = []
            for field in self._fields.get(name, []):
                readers.append((field["name"], self._field(field["type"])))
            if not readers:
                # An empty message has one byte on the wire.
                readers.append(("structure_needs_at_least_one_member", _primitive("B")))

        def read(cursor: _Cursor) -> Message:
            return Message(name, {field: read_field(cursor) for field, read_field in readers})

        return read

    def _field(self, kind: dict[str, Any]) -> _Read:
        number, capacity = kind["type_id"], kind["capacity"]
        base = (number - 1) % _ARRAY + 1
        if number <= _ARRAY:
            return self._base(base, kind)
        if number <= _BOUNDED:
            return self._many(base, kind, lambda _cursor: capacity)
        if number <= _UNBOUNDED + _ARRAY:
            return self._many(base, kind, _Cursor.length)
        msg = f"type number {number} is not known"
        raise CdrError(msg)

    def _base(self, base: int, kind: dict[str, Any]) -> _Read:
        if base == _NESTED:
            return self._struct(kind["nested_type_name"])
        if base in (_STRING, _BOUNDED_STRING):
            return _string
        if base in (_WSTRING, _BOUNDED_WSTRING):
            return _wide_string
        letter = _PRIMITIVES.get(base)
        if letter is None:
            msg = f"type number {base} is not known"
            raise CdrError(msg)
        return _primitive(letter)

    def _many(self, base: int, kind: dict[str, Any], count: Callable[[_Cursor], int]) -> _Read:
        letter = _PRIMITIVES.get(base)
        if letter is None:
            read_one = self._base(base, kind)
            return lambda cursor: [read_one(cursor) for _ in range(_possible(cursor, count(cursor)))]
        size = struct.calcsize("=" + letter)

        def read(cursor: _Cursor) -> bytes | list[Any]:
            number = count(cursor)
            # A sequence without elements is not aligned to them.
            start = cursor.take(size, number) if number else cursor.position
            if base in _OCTETS:
                return bytes(cursor.data[start : start + number])
            return list(struct.unpack_from(f"{cursor.order}{number}{letter}", cursor.data, start))

        return read


def _possible(cursor: _Cursor, number: int) -> int:
    left = cursor.end - cursor.position
    if number > left:
        msg = f"{number} elements are announced at byte {cursor.position}, {left} bytes are there"
        raise CdrError(msg)
    return number


def _primitive(letter: str) -> _Read:
    size = struct.calcsize("=" + letter)

    def read(cursor: _Cursor) -> Any:
        return struct.unpack_from(cursor.order + letter, cursor.data, cursor.take(size))[0]

    return read


def _string(cursor: _Cursor) -> str:
    length = cursor.length()
    start = cursor.take(1, length)
    # The end is marked by a zero, which is counted; some writers leave it out of an empty string.
    return bytes(cursor.data[start : start + max(length - 1, 0)]).decode("utf-8", "replace")


def _wide_string(cursor: _Cursor) -> str:
    length = cursor.length()
    start = cursor.take(2, length) if length else cursor.position
    order = "utf-16-le" if cursor.order == "<" else "utf-16-be"
    return bytes(cursor.data[start : start + 2 * length]).decode(order, "replace")
