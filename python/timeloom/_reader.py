"""A reader shaped like ``rosbags.highlevel.AnyReader``, over the stream of ``timeloom cat --format frames``."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Iterable, Iterator, Sequence

from ._binary import binary
from ._cdr import CdrError, Decoder, Message

_FRAME = struct.Struct("<IIqq")
_END = 0xFFFF_FFFF
_VERSION = 1


class ReaderError(Exception):
    """A bag that cannot be read."""


class DataLost(ReaderError):
    """The bag was read to its end, but a part of it is damaged: what is missing is in the text."""


@dataclass(frozen=True)
class Connection:
    """A topic of the bag."""

    id: int
    topic: str
    msgtype: str
    msgdef: str
    digest: str
    msgcount: int
    offered_qos_profiles: str = ""
    definition_format: str = "ros2msg"
    _description: Any = field(default=None, repr=False, compare=False, hash=False)
    _undecodable: str | None = field(default=None, repr=False, compare=False, hash=False)


class AnyReader:
    """Reads one or several bags as one, in the order of time.

    A damaged bag is read as far as it goes, and behind the damage; then :class:`DataLost` is raised, so that nothing
    is missing silently. ``strict=False`` puts what is missing into ``lost`` instead.
    """

    def __init__(self, paths: Sequence[os.PathLike[str] | str] | os.PathLike[str] | str, *, strict: bool = True) -> None:
        single = isinstance(paths, (str, os.PathLike))
        self.paths = [Path(path) for path in ([paths] if single else paths)]  # type: ignore[list-item, union-attr]
        if not self.paths:
            msg = "a reader needs one bag at least"
            raise ReaderError(msg)
        self.strict = strict
        self.lost: list[str] = []
        self.connections: list[Connection] = []
        self.ros_distro = ""
        self.start_time = 0
        self.end_time = 0
        self.is_open = False
        self._decoders: dict[str, Decoder] = {}

    def open(self) -> None:
        """Looks what the bags hold; reads no message."""
        with _Stream(self.paths, ["--limit", "0"]) as stream:
            header = stream.header()
        self.ros_distro = header["ros_distro"]
        self.start_time = header["start_time_ns"] or 0
        self.end_time = (header["end_time_ns"] or 0) + (1 if header["end_time_ns"] is not None else 0)
        self.connections = [_connection(topic) for topic in header["topics"]]
        self.is_open = True

    def close(self) -> None:
        """Forgets what it knows."""
        self.is_open = False

    def __enter__(self) -> AnyReader:
        self.open()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def duration(self) -> int:
        """From the first message to just behind the last one, in nanoseconds."""
        return max(self.end_time - self.start_time, 0)

    @property
    def message_count(self) -> int:
        """Messages of all topics."""
        return sum(connection.msgcount for connection in self.connections)

    @property
    def topics(self) -> dict[str, Connection]:
        """The connections by the name of their topic."""
        return {connection.topic: connection for connection in self.connections}

    def messages(
        self, connections: Iterable[Connection] = (), start: int | None = None, stop: int | None = None,
    ) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, log time in nanoseconds and payload of each message with ``start <= time < stop``."""
        if not self.is_open:
            msg = "the reader is not open: use it in a with statement"
            raise ReaderError(msg)
        wanted = list(connections)
        arguments = []
        if wanted:
            arguments += ["--topics", *(connection.topic for connection in wanted)]
        if start is not None:
            arguments += ["--start", str(start)]
        if stop is not None:
            arguments += ["--end", str(stop)]
        by_id = {connection.id: connection for connection in self.connections}
        with _Stream(self.paths, arguments) as stream:
            stream.header()
            for topic, time, payload in stream.frames():
                yield by_id[topic], time, payload
            self.lost = stream.lost
        if self.lost and self.strict:
            raise DataLost("; ".join(self.lost))

    def deserialize(self, rawdata: bytes, typename: str) -> Message:
        """The message in a payload."""
        decoder = self._decoders.get(typename)
        if decoder is None:
            decoder = self._decoders[typename] = self._decoder(typename)
        return decoder.decode(rawdata)

    def _decoder(self, typename: str) -> Decoder:
        found = [connection for connection in self.connections if connection.msgtype == typename]
        if not found:
            msg = f"no topic of the bag has the type {typename}"
            raise CdrError(msg)
        for connection in found:
            if connection._description is not None:  # noqa: SLF001
                return Decoder(connection._description)  # noqa: SLF001
        raise CdrError(found[0]._undecodable or f"no definition of {typename}")  # noqa: SLF001


def _connection(topic: dict[str, Any]) -> Connection:
    return Connection(
        id=topic["id"], topic=topic["name"], msgtype=topic["type"], msgdef=topic["definition"],
        digest=topic["type_hash"], msgcount=topic["message_count"] or 0,
        offered_qos_profiles=topic["offered_qos_profiles"], definition_format=topic["definition_format"],
        _description=topic["description"], _undecodable=topic["undecodable"],
    )


class _Stream:
    """The running binary and what it writes."""

    def __init__(self, paths: list[Path], arguments: list[str]) -> None:
        command = [binary(), "cat", "--format", "frames", *arguments, "--", *map(str, paths)]
        self.lost: list[str] = []
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_error: object) -> None:
        # A reader that stops early ends the binary too.
        self._process.kill()
        self._process.communicate()

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101
        return self._process.stdout

    def header(self) -> dict[str, Any]:
        line = self._out.readline()
        if not line.endswith(b"\n"):
            raise self._failure()
        header = json.loads(line)
        if header.get("timeloom_frames") != _VERSION:
            msg = f"the binary writes frames {header.get('timeloom_frames')}, this package reads {_VERSION}"
            raise ReaderError(msg)
        return header

    def frames(self) -> Iterator[tuple[int, int, bytes]]:
        while True:
            head = self._out.read(_FRAME.size)
            if len(head) < _FRAME.size:
                raise self._failure()
            topic, length, log_time, _publish_time = _FRAME.unpack(head)
            payload = self._out.read(length)
            if len(payload) < length:
                raise self._failure()
            if topic == _END:
                self.lost = json.loads(payload)["lost"]
                return
            yield topic, log_time, payload

    def _failure(self) -> ReaderError:
        _, words = self._process.communicate()
        text = words.decode("utf-8", "replace").strip()
        return ReaderError(text or f"timeloom ended with {self._process.returncode} and without a word")
