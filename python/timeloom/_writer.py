"""Writes bags."""

from __future__ import annotations

import os
from typing import Any, Mapping, Union

from ._arguments import duration, folder, mapping
from ._native import MessageType, NativeWriter

_QOS: dict[str, Union[str, int]] = {"history": "keep_last", "depth": 10, "reliability": "reliable", "durability": "volatile"}
_PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "sensor_data": {"depth": 5, "reliability": "best_effort"},
    "latched": {"depth": 1, "durability": "transient_local"},
}


class Writer:
    """Writes a bag; nothing that exists is overwritten.

    >>> with timeloom.Writer(OUT) as writer:
    ...     writer.add_topic("/point", "geometry_msgs/msg/Point")
    ...     writer.write("/point", {"x": 1.0}, log_time=1_000_000_000)
    >>> next(timeloom.open(OUT).messages()).value.x
    1.0

    ``storage`` is ``"mcap"`` or ``"sqlite3"``, ``preset`` one of its presets (``zstd_fast``, ``zstd_small``,
    ``fastwrite``), ``compression`` ``"none"``, ``"message"`` or ``"file"``. Files are split at ``max_file_size`` bytes
    or ``max_file_duration`` seconds. ``custom_data`` are keys of your own in the metadata.
    """

    def __init__(
        self, path: os.PathLike[str] | str, *, storage: str = "mcap", preset: str = "", compression: str = "none",
        max_file_size: int = 0, max_file_duration: float = 0, ros_distro: str = "",
        custom_data: Mapping[str, str] | None = None,
    ) -> None:
        self.path = folder("path", path)
        self._native = NativeWriter(
            self.path, storage, preset, compression, max_file_size, duration("max_file_duration", max_file_duration),
            ros_distro, list(mapping("custom_data", custom_data).items()),
        )
        self._topics: dict[str, tuple[int, MessageType]] = {}
        self.summary: dict[str, int] | None = None
        """After :meth:`close`: the number of ``messages`` and ``files``."""

    def add_topic(
        self, name: str, message_type: MessageType | str, *, definition: str | None = None,
        qos: str | Mapping[str, Any] = "default",
    ) -> None:
        """Declare a topic, before its first message.

        ``message_type`` is the name of a built-in type or of an installed package, or of the type whose text
        ``definition`` is. ``qos`` is ``"default"``, ``"sensor_data"`` or ``"latched"``, or a dict with policies:
        ``{"reliability": "best_effort", "durability": "transient_local", "history": "keep_last", "depth": 1}``.
        """
        if name in self._topics:
            msg = f"topic {name} is there already"
            raise ValueError(msg)
        if not name:
            msg = "the name of a topic is empty"
            raise ValueError(msg)
        if isinstance(message_type, str):
            message_type = MessageType(message_type, definition)
        elif definition is not None:
            msg = "definition is the text of a type that is given by its name"
            raise TypeError(msg)
        number = self._native.add_topic(name, message_type, _qos_yaml(qos))
        self._topics[name] = (number, message_type)

    def write(
        self, topic: str, message: Any, log_time: int, publish_time: int | None = None, sequence: int = 0,
    ) -> None:
        """Write a message: a :class:`Message`, a message of ``rclpy`` or ``rosbags``, a dict, or a payload as bytes.

        Times are nanoseconds since the epoch; the time of publication is the log time unless given.
        """
        if topic not in self._topics:
            msg = f"topic {topic} is not declared: call add_topic first"
            raise ValueError(msg)
        number, message_type = self._topics[topic]
        is_payload = isinstance(message, (bytes, bytearray, memoryview))
        payload = bytes(message) if is_payload else message_type.encode(message)
        published = log_time if publish_time is None else publish_time
        self._native.write(number, payload, log_time, published, sequence)

    def close(self) -> None:
        """Finish the bag; a second call does nothing."""
        self.summary = self._native.close() or self.summary

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _qos_yaml(qos: str | Mapping[str, Any]) -> str:
    if isinstance(qos, str):
        if qos not in _PRESETS:
            msg = f"qos is one of {', '.join(_PRESETS)} or a dict, not {qos!r}"
            raise ValueError(msg)
        qos = _PRESETS[qos]
    qos = mapping("qos", qos)
    unknown = set(qos) - set(_QOS)
    if unknown:
        msg = f"unknown policies of qos: {', '.join(sorted(map(str, unknown)))} (known: {', '.join(_QOS)})"
        raise ValueError(msg)
    depth = qos.get("depth", 0)
    if not isinstance(depth, int) or not 0 <= depth < 2**64:
        msg = f"depth of qos is a number of messages from 0, not {depth!r}"
        raise ValueError(msg)
    policies: dict[str, Union[str, int]] = {**_QOS, **qos}
    return "- " + "\n  ".join(f"{name}: {value}" for name, value in policies.items())
