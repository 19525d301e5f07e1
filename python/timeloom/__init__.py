"""Bags of ROS 2 from Python, without a ROS installation.

Tables of a topic, column by column::

    import timeloom

    bag = timeloom.open("my_bag")
    imu = bag["/imu/data"].to_numpy(fields=["linear_acceleration.x"])
    table = bag["/odom"].to_pandas()

Messages one by one, decoded when a field is used::

    for message in bag["/scan"]:
        print(message.log_time, message.value.ranges.max())

``AnyReader`` has the interface of ``rosbags.highlevel.AnyReader``. ``Writer`` writes bags. ``align`` puts the values of
several topics into one table. ``Recorder`` and ``Player`` record and replay a robot, ``Clock`` follows ``/clock``.
``SensorClock`` and ``sync_fit`` put times of sensors on the clock of the host; ``trace`` follows messages through nodes.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._account import Account
    from ._bag import Bag, RecordedMessage, Topic, align, open  # noqa: A004
    from ._binary import binary
    from ._clock import Clock, Jump
    from ._errors import (
        BagExists, BagNotFound, CdrError, DataLost, NodeError, ReaderError, SyncError, UnknownField, UnknownTopic,
    )
    from ._native import Message, MessageType, __version__
    from ._network import Selection
    from ._player import PlayedTopic, Player, PlayerStatus, SkippedTopic
    from ._reader import AnyReader, Connection
    from ._recorder import Recorder, RecorderReport, RecorderStatus, TopicRecording
    from ._sync import SensorClock, SensorReport, SensorTime, steady_now, sync_fit, system_from_steady
    from ._table import Table
    from ._trace import Trace, trace
    from ._writer import Writer

_PLACES = {
    "_account": ("Account",),
    "_bag": ("Bag", "RecordedMessage", "Topic", "align", "open"),
    "_binary": ("binary",),
    "_clock": ("Clock", "Jump"),
    "_errors": (
        "BagExists", "BagNotFound", "CdrError", "DataLost", "NodeError", "ReaderError", "SyncError", "UnknownField",
        "UnknownTopic",
    ),
    "_native": ("Message", "MessageType", "__version__"),
    "_network": ("Selection",),
    "_player": ("PlayedTopic", "Player", "PlayerStatus", "SkippedTopic"),
    "_reader": ("AnyReader", "Connection"),
    "_recorder": ("Recorder", "RecorderReport", "RecorderStatus", "TopicRecording"),
    "_sync": ("SensorClock", "SensorReport", "SensorTime", "steady_now", "sync_fit", "system_from_steady"),
    "_table": ("Table",),
    "_trace": ("Trace", "trace"),
    "_writer": ("Writer",),
}

__all__ = [
    "Account", "AnyReader", "Bag", "BagExists", "BagNotFound", "CdrError", "Clock", "Connection", "DataLost", "Jump", "Message", "MessageType",
    "NodeError", "PlayedTopic", "Player", "PlayerStatus", "ReaderError", "RecordedMessage", "Recorder",
    "RecorderReport", "RecorderStatus", "Selection", "SensorClock", "SensorReport", "SensorTime", "SkippedTopic",
    "SyncError", "Table", "Topic", "TopicRecording", "Trace", "UnknownField", "UnknownTopic", "Writer", "__version__",
    "align", "binary", "open", "steady_now", "sync_fit", "system_from_steady", "trace",
]


def __getattr__(name: str) -> object:
    # Imported when first used: `timeloom.tilde` and `ros2 timeloom` need neither the native module nor numpy.
    for place, names in _PLACES.items():
        if name in names:
            value = getattr(_import_module(f".{place}", __name__), name)
            globals()[name] = value
            return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> "list[str]":
    return list(__all__)
