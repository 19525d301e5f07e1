"""The reader with the interface of rosbags."""

import numpy as np
import pytest

from timeloom import AnyReader, CdrError, DataLost, Message, ReaderError


def same(ours, theirs, path):
    """Compare our message with one of rosbags."""
    if isinstance(ours, Message):
        assert ours.__msgtype__ == theirs.__msgtype__, path
        for name, value in vars(ours).items():
            same(value, getattr(theirs, name), f"{path}.{name}")
    elif isinstance(ours, np.ndarray):
        np.testing.assert_array_equal(ours, theirs, path)
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), path
        for index, (one, other) in enumerate(zip(ours, theirs)):
            same(one, other, f"{path}[{index}]")
    else:
        assert ours == theirs or ours != ours, (path, ours, theirs)


@pytest.mark.parametrize("name", ["sqlite3_plain", "sqlite3_file_zstd"])
def test_agrees_with_the_rosbags_of_pypi(bags, name, jazzy_types):
    from rosbags.highlevel import AnyReader as Foreign

    path, compared = bags / name, 0
    with AnyReader(path) as ours, Foreign([path], default_typestore=jazzy_types) as theirs:
        assert (ours.message_count, ours.start_time, ours.end_time) == (
            theirs.message_count, theirs.start_time, theirs.end_time)
        for (one, time, raw), (other, other_time, other_raw) in zip(ours.messages(), theirs.messages()):
            assert (one.topic, one.msgtype, time, raw) == (other.topic, other.msgtype, other_time, bytes(other_raw))
            message = ours.deserialize(raw, one.msgtype)
            # rosbags knows no service events.
            if not one.msgtype.endswith("_Event"):
                same(message, theirs.deserialize(other_raw, other.msgtype), one.topic)
                compared += 1
    assert compared > 100


@pytest.mark.parametrize("name", ["mcap_plain", "mcap_msg_zstd", "sqlite3_plain"])
def test_reads_whole_bags_topics_and_times(bags, name):
    with AnyReader([bags / name]) as reader:
        every = list(reader.messages())
        assert len(every) == reader.message_count > 0
        for connection, _time, raw in every:
            reader.deserialize(raw, connection.msgtype)
        chosen = reader.connections[0]
        middle = (reader.start_time + reader.end_time) // 2
        part = list(reader.messages([chosen], stop=middle))
        assert part == [one for one in every if one[0].topic == chosen.topic and one[1] < middle]
        late = list(reader.messages(start=middle))
        assert late == [one for one in every if one[1] >= middle]


def test_says_what_is_lost_in_a_damaged_bag(cut_bag):
    count = 0
    with pytest.raises(DataLost, match="cut off"), AnyReader(cut_bag) as reader:
        for _ in reader.messages():
            count += 1
    assert count > 0
    with AnyReader(cut_bag, strict=False) as reader:
        assert sum(1 for _ in reader.messages()) == count
        assert reader.lost


def test_wrong_input_is_an_error_that_says_so(bags):
    with pytest.raises(ReaderError, match="/nowhere"):
        AnyReader("/nowhere").open()
    with pytest.raises(ReaderError, match="not open"):
        next(AnyReader(bags / "mcap_plain").messages())
    with AnyReader(bags / "mcap_plain") as reader:
        connection, _, raw = next(reader.messages())
        # Up to three bytes at the end are padding.
        for cut in range(len(raw) - 3):
            with pytest.raises(CdrError):
                reader.deserialize(raw[:cut], connection.msgtype)
        with pytest.raises(CdrError, match="no/msg/Such"):
            reader.deserialize(raw, "no/msg/Such")
