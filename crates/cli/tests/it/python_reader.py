"""Reads bags with our Python reader, and with PyPI's rosbags where that can; prints what it saw."""

import struct
import sys
from pathlib import Path

from timeloom import AnyReader, CdrError, DataLost, ReaderError


def same(ours, theirs, path):
    if hasattr(ours, "__msgtype__"):
        assert ours.__msgtype__ == theirs.__msgtype__, path
        for name, value in vars(ours).items():
            if name != "__msgtype__":
                same(value, getattr(theirs, name), f"{path}.{name}")
    elif isinstance(ours, bytes):
        assert ours == bytes(theirs), path
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), path
        for index, (one, other) in enumerate(zip(ours, theirs)):
            same(one, other, f"{path}[{index}]")
    else:
        assert ours == theirs or ours != ours, (path, ours, theirs)


def against_rosbags(bag):
    from rosbags.highlevel import AnyReader as Foreign
    from rosbags.typesys import Stores, get_typestore

    compared = 0
    with AnyReader(bag) as ours, Foreign([Path(bag)], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as theirs:
        assert (ours.message_count, ours.start_time, ours.end_time) == (
            theirs.message_count, theirs.start_time, theirs.end_time)
        for (one, time, raw), (other, other_time, other_raw) in zip(ours.messages(), theirs.messages()):
            assert (one.topic, one.msgtype, time, raw) == (other.topic, other.msgtype, other_time, bytes(other_raw))
            message = ours.deserialize(raw, one.msgtype)
            # rosbags knows no service events.
            if not one.msgtype.endswith("_Event"):
                same(message, theirs.deserialize(other_raw, other.msgtype), one.topic)
                compared += 1
    print("compared", compared)


def alone(bag):
    with AnyReader([bag]) as reader:
        every = list(reader.messages())
        assert len(every) == reader.message_count > 0
        for connection, _time, raw in every:
            reader.deserialize(raw, connection.msgtype)
        # One topic, half of the time.
        chosen = reader.connections[0]
        middle = (reader.start_time + reader.end_time) // 2
        part = list(reader.messages([chosen], stop=middle))
        assert part == [one for one in every if one[0].topic == chosen.topic and one[1] < middle]
        late = list(reader.messages(start=middle))
        assert late == [one for one in every if one[1] >= middle]
    print("read", len(every))


def damaged(bag):
    count = 0
    try:
        with AnyReader(bag) as reader:
            for _ in reader.messages():
                count += 1
    except DataLost as error:
        print("lost", count > 0, len(str(error)) > 0)
    else:
        raise AssertionError("damage was silent")
    with AnyReader(bag, strict=False) as reader:
        assert sum(1 for _ in reader.messages()) == count
        assert reader.lost


def wrong(bag):
    try:
        AnyReader("/nowhere").open()
    except ReaderError as error:
        assert "/nowhere" in str(error), error
    else:
        raise AssertionError("no bag, no error")
    with AnyReader(bag) as reader:
        connection, _, raw = next(reader.messages())
        # Up to three bytes at the end are padding.
        for cut in range(len(raw) - 3):
            try:
                reader.deserialize(raw[:cut], connection.msgtype)
            except (CdrError, struct.error) as error:
                assert isinstance(error, CdrError), (cut, error)
            else:
                raise AssertionError(f"{cut} bytes of {len(raw)} were taken for a message")
        try:
            reader.deserialize(raw, "no/msg/Such")
        except CdrError as error:
            assert "no/msg/Such" in str(error)
    print("refused")


globals()[sys.argv[1]](sys.argv[2])
