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
several topics into one table.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._bag import Bag, RecordedMessage, Topic, align, open  # noqa: A004
    from ._binary import binary
    from ._errors import CdrError, DataLost, ReaderError, UnknownField, UnknownTopic
    from ._native import Message, MessageType, __version__
    from ._reader import AnyReader, Connection
    from ._writer import Writer

_PLACES = {
    "_bag": ("Bag", "RecordedMessage", "Topic", "align", "open"),
    "_binary": ("binary",),
    "_errors": ("CdrError", "DataLost", "ReaderError", "UnknownField", "UnknownTopic"),
    "_native": ("Message", "MessageType", "__version__"),
    "_reader": ("AnyReader", "Connection"),
    "_writer": ("Writer",),
}

__all__ = [
    "AnyReader", "Bag", "CdrError", "Connection", "DataLost", "Message", "MessageType", "ReaderError",
    "RecordedMessage", "Topic", "UnknownField", "UnknownTopic", "Writer", "__version__", "align", "binary", "open",
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
