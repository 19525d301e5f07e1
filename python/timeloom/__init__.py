"""Bags of ROS 2 from Python, without a ROS installation.

The work is done by the binary ``timeloom`` that this package carries; this is a thin reader over it, shaped like
``rosbags.highlevel.AnyReader``::

    from pathlib import Path
    from timeloom import AnyReader

    with AnyReader([Path("my_bag")]) as reader:
        for connection, timestamp, rawdata in reader.messages():
            message = reader.deserialize(rawdata, connection.msgtype)
"""

from ._binary import binary
from ._cdr import CdrError, Message
from ._reader import AnyReader, Connection, DataLost, ReaderError

__all__ = ["AnyReader", "CdrError", "Connection", "DataLost", "Message", "ReaderError", "binary"]
