"""A recorder and its status."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _native
from ._account import Account
from ._arguments import folder, mapping
from ._errors import NodeError
from ._network import Path, Selection, network, qos_text, selection


@dataclass(frozen=True)
class TopicRecording:
    """A topic of a recording."""

    name: str
    type: str
    account: Account
    """What was recorded and what was not."""
    repeated: int
    """Copies of latched messages at the begin of further files; they count as recorded, too."""
    in_flight: int
    """Messages that were received and are not written yet."""


@dataclass(frozen=True)
class RecorderStatus:
    """A recorder at one moment."""

    state: str
    """``"recording"``, ``"paused"`` or ``"stopped"``."""
    ended: str | None
    """Why the recording ended by itself: a limit, a full disk."""
    directory: str
    files: int
    elapsed: float
    """Seconds since the start, with pauses."""
    queue_bytes: int
    """Bytes that were received and are not written yet."""
    queue_limit: int
    discovery: bool
    """Whether new topics are recorded."""
    total: Account
    """All topics in one account."""
    topics: dict[str, TopicRecording]


@dataclass(frozen=True)
class RecorderReport:
    """The result of a recording."""

    directory: str
    reason: str
    """Why it ended."""
    elapsed: float
    files: list[str]
    deleted_files: int
    deleted_messages: int
    absent: list[str]
    """Names that were selected and never appeared."""
    error: str | None
    """The first error when the bag was closed."""
    total: Account
    topics: dict[str, TopicRecording]


def _topics(values: dict[str, Any]) -> dict[str, Any]:
    topics = {}
    for topic in values["topics"]:
        account = Account(**topic.pop("account"))
        topics[topic["name"]] = TopicRecording(account=account, **topic)
    directory = os.fspath(values["directory"])
    return {**values, "directory": directory, "topics": topics, "total": Account(**values["total"])}


class Recorder:
    """Records topics into a bag and accounts for every message, as ``timeloom record`` does.

    It speaks DDS, or Zenoh with ``RMW_IMPLEMENTATION=rmw_zenoh_cpp``, in the domain of ``ROS_DOMAIN_ID``, and needs no
    ROS installation. A ``with`` block starts it and closes the bag::

        with timeloom.Recorder("my_bag", ["/imu/data", "/tf"]) as recorder:
            recorder.wait(60)
        print(recorder.report.total.lost)

    ``topics`` is a list of names or a :class:`Selection`; without it, everything is recorded.

    >>> with timeloom.Recorder(OUT, ["/imu/data"], domain=DOMAIN, localhost=True) as recorder:
    ...     recorder.pause()
    ...     recorder.status().state
    'paused'
    >>> recorder.report.total.recorded, recorder.report.absent
    (0, ['/imu/data'])
    """

    def __init__(
        self, output: Path, topics: Sequence[str] | Selection | None = None, *, storage: str = "mcap",
        preset: str = "", compression: str = "none", max_file_size: int = 0, max_file_duration: float = 0.0,
        max_files: int = 0, max_duration: float = 0.0, max_size: int = 0, max_messages: int = 0,
        cache_size: int = 100 << 20, drop: str = "newest", throttle: Mapping[str, float] | None = None,
        snapshot_mode: bool = False, start_paused: bool = False, use_sim_time: bool = False,
        qos_overrides: Path | None = None, custom_data: Mapping[str, str] | None = None, services: bool = True,
        node_name: str = "rosbag2_recorder", namespace: str = "", remap: Mapping[str, str] | None = None,
        domain: int | None = None, localhost: bool = False,
    ) -> None:
        """Nothing happens before :meth:`start` or a ``with`` block.

        ``max_file_size`` (bytes), ``max_file_duration`` (seconds): when the next file begins; of these, at most
        ``max_files`` are kept. ``max_duration``, ``max_size``, ``max_messages``: when the recording ends.
        ``cache_size``: bytes that may wait to be written; then ``drop`` decides: ``"newest"``, ``"oldest"`` or
        ``"block"``. ``throttle``: Hz by topic. ``snapshot_mode``: keep messages in memory until :meth:`snapshot`.
        ``qos_overrides``: a file as for ``ros2 bag``. ``services``: those of rosbag2's recorder. ``domain``: instead of
        ``ROS_DOMAIN_ID``. ``localhost``: 127.0.0.1 only.
        """
        self._options = {
            "output": folder("output", output), "selection": selection(topics), "storage": storage, "preset": preset,
            "compression": compression, "max_file_size": max_file_size, "max_file_duration": max_file_duration,
            "max_files": max_files, "max_duration": max_duration, "max_size": max_size, "max_messages": max_messages,
            "cache_size": cache_size, "drop": drop, "throttle": mapping("throttle", throttle),
            "snapshot_mode": snapshot_mode, "start_paused": start_paused, "qos_overrides": qos_text(qos_overrides), "services": services,
            "custom_data": list(mapping("custom_data", custom_data).items()),
            "network": network(node_name, namespace, remap, domain, localhost, use_sim_time),
        }
        self._running: _native.NativeRecorder | None = None
        self._last: RecorderStatus | None = None
        self.reports: list[RecorderReport] = []
        """The reports of all bags that are closed."""

    @property
    def report(self) -> RecorderReport:
        """The report of the last bag; there is none before it is closed."""
        if not self.reports:
            msg = "no bag is closed yet"
            raise NodeError(msg, "stop() closes it")
        return self.reports[-1]

    def start(self) -> Recorder:
        """Join the domain and start to record."""
        if self._running is not None:
            msg = "the recorder is running"
            raise NodeError(msg, "stop() ends it")
        self._running = _native.NativeRecorder(self._options)
        return self

    def stop(self) -> RecorderReport:
        """Close the bag, leave the domain, and return the report. Does nothing the second time."""
        if self._running is None and not self.reports:
            self._native_recorder()
        if self._running is not None:
            running, self._running = self._running, None
            self.reports += [RecorderReport(**_topics(report)) for report in running.finish()]
            self._last = self._status(running)
        return self.report

    def __enter__(self) -> Recorder:
        return self if self._running is not None else self.start()

    def __exit__(self, *_error: object) -> None:
        if self._running is not None:
            self.stop()

    def _native_recorder(self) -> _native.NativeRecorder:
        if self._running is None:
            msg = "the recorder is not running"
            raise NodeError(msg, "start() or a with block starts it")
        return self._running

    def pause(self) -> None:
        """Leave out messages until :meth:`resume`; they are counted."""
        self._native_recorder().pause()

    def resume(self, at: int | None = None, *, by: str = "node", topic: str | None = None) -> None:
        """Record again; with ``at``, from that time in nanoseconds on.

        ``by`` says of what: ``"node"`` is the recorder's clock, ``"log_time"`` and ``"publish_time"`` are those of
        messages, of one ``topic`` or of all.
        """
        self._native_recorder().resume(None if at is None else (at, by, topic))

    def toggle_paused(self) -> None:
        """Pause or resume."""
        self._native_recorder().toggle_paused()

    def split(self, at: int | None = None, *, by: str = "node", topic: str | None = None) -> None:
        """Begin the next file, now or at a time; see :meth:`resume`."""
        self._native_recorder().split(None if at is None else (at, by, topic))

    def snapshot(self) -> None:
        """Write what is kept in memory; only with ``snapshot_mode``."""
        self._native_recorder().snapshot()

    def close_bag(self) -> None:
        """Close the bag and stay in the domain; :meth:`record` starts the next one."""
        self._native_recorder().stop()

    def record(self, output: Path | None = None) -> None:
        """Start a new bag after :meth:`close_bag`, in a directory that does not exist yet."""
        self._native_recorder().record(None if output is None else folder("output", output))

    def set_discovery(self, on: bool) -> None:
        """Record topics that appear from now on, or do not."""
        self._native_recorder().set_discovery(on)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until a limit ends the recording; false if that took longer than ``timeout`` seconds."""
        return self._native_recorder().wait(timeout)

    def status(self) -> RecorderStatus:
        """The state, and the account of every topic so far."""
        if self._running is None and self._last is not None:
            return self._last
        return self._status(self._native_recorder())

    @staticmethod
    def _status(running: _native.NativeRecorder) -> RecorderStatus:
        return RecorderStatus(**_topics(running.status()))

    def notes(self) -> list[str]:
        """What there is to know since the last call, such as a type without a definition."""
        return self._native_recorder().notes()
