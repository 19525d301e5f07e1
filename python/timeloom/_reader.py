"""A reader shaped like ``rosbags.highlevel.AnyReader``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator, Sequence

from . import _native
from ._bag import paths_of
from ._errors import CdrError, DataLost, ReaderError


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


class AnyReader:
    """Reads one or several bags as one, in the order of time.

    A damaged bag is read as far as it goes, and behind the damage; then :class:`DataLost` is raised, so that nothing
    is missing silently. ``strict=False`` puts what is missing into ``lost`` instead.

    >>> with timeloom.AnyReader([BAG]) as reader:
    ...     connection, timestamp, rawdata = next(reader.messages())
    ...     message = reader.deserialize(rawdata, connection.msgtype)
    """

    def __init__(self, paths: Sequence[os.PathLike[str] | str] | os.PathLike[str] | str, *, strict: bool = True) -> None:
        given: list[Any] = list(paths_of(paths))
        if not given:
            msg = "a reader needs one bag at least"
            raise ReaderError(msg)
        self._names = [os.fspath(path) for path in given]
        self.paths = [Path(name) for name in self._names]
        self.strict = strict
        self.lost: list[str] = []
        self.connections: list[Connection] = []
        self.ros_distro = ""
        self.start_time = 0
        self.end_time = 0
        self.is_open = False
        self._native: _native.NativeBag | None = None
        self._types: dict[str, _native.MessageType] = {}

    def open(self) -> None:
        """Looks what the bags hold; reads no message."""
        self._native = _native.NativeBag(self._names)
        info = self._native.info()
        self.ros_distro = info["ros_distro"]
        self.start_time = info["start_time"] or 0
        self.end_time = (info["end_time"] or 0) + (1 if info["end_time"] is not None else 0)
        self.connections = [
            Connection(
                id=index, topic=topic["name"], msgtype=topic["type"], msgdef=topic["definition"],
                digest=topic["type_hash"], msgcount=topic["count"] or 0,
                offered_qos_profiles=topic["offered_qos_profiles"], definition_format=topic["definition_format"],
            )
            for index, topic in enumerate(info["topics"])
        ]
        self.is_open = True

    def close(self) -> None:
        """Forgets what it knows."""
        self.is_open = False
        self._native = None

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
        if self._native is None:
            msg = "the reader is not open: use it in a with statement"
            raise ReaderError(msg)
        wanted = [self._number(connection) for connection in connections] or None
        stream = self._native.messages(wanted, start, stop)
        every = self.connections
        for topic, log_time, _publish_time, payload in stream:
            yield every[topic], log_time, payload
        self.lost = stream.unread
        if self.lost and self.strict:
            raise DataLost("; ".join(self.lost), "strict=False puts it into the attribute lost")

    def _number(self, connection: Connection) -> int:
        if not isinstance(connection, Connection):
            msg = f"connections are those of the attribute connections, not {type(connection).__name__}"
            raise TypeError(msg)
        if connection not in self.connections:
            msg = f"the reader has no connection {connection.id} of topic {connection.topic}"
            raise ReaderError(msg)
        return connection.id

    def deserialize(self, rawdata: bytes, typename: str) -> _native.Message:
        """The message in a payload, all of it decoded."""
        message_type = self._types.get(typename)
        if message_type is None:
            message_type = self._types[typename] = self._type(typename)
        message = message_type.decode(rawdata)
        _decode_all(message)
        return message

    def _type(self, typename: str) -> _native.MessageType:
        if self._native is None:
            msg = "the reader is not open: use it in a with statement"
            raise ReaderError(msg)
        found = [connection for connection in self.connections if connection.msgtype == typename]
        if not found:
            msg = f"no topic of the bag has the type {typename}"
            raise CdrError(msg)
        return self._native.message_type(found[0].id)


def _decode_all(message: _native.Message) -> None:
    for value in message.to_dict().values():
        if isinstance(value, _native.Message):
            _decode_all(value)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, _native.Message):
                    _decode_all(item)
