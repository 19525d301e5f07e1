"""Bags that are written from Python."""

import numpy as np
import pytest

import timeloom


@pytest.mark.parametrize("options", [
    {}, {"storage": "sqlite3"}, {"preset": "zstd_fast"}, {"compression": "message"}, {"compression": "file"},
])
def test_what_is_written_is_read_back(tmp_path, options):
    path = tmp_path / "bag"
    ranges = np.linspace(0, 1, 100, dtype=np.float32)
    with timeloom.Writer(path, custom_data={"robot": "r2"}, **options) as writer:
        writer.add_topic("/scan", "sensor_msgs/msg/LaserScan", qos="sensor_data")
        writer.add_topic("/own", "demo/msg/Own", definition="int8 a\nstring[] names\nuint8[3] three\n")
        for index in range(10):
            message = {"header": {"frame_id": "laser"}, "ranges": ranges * index}
            writer.write("/scan", message, log_time=1000 + index, publish_time=900 + index)
        writer.write("/own", {"a": -3, "names": ["x", "y"], "three": b"abc"}, 2000)
    assert writer.summary == {"messages": 11, "files": 1}
    bag = timeloom.open(path)
    assert "best_effort" in bag["/scan"].offered_qos_profiles or "reliability: 2" in bag["/scan"].offered_qos_profiles
    messages = list(bag["/scan"])
    assert [message.log_time for message in messages] == list(range(1000, 1010))
    if options.get("storage") != "sqlite3":
        assert messages[0].publish_time == 900
    np.testing.assert_array_equal(messages[3].value.ranges, ranges * 3)
    own = next(iter(bag["/own"])).value
    assert (own.a, own.names, own.three.tolist()) == (-3, ["x", "y"], [97, 98, 99])


@pytest.mark.usefixtures("jazzy_types")
def test_rosbags_reads_what_is_written(tmp_path):
    # A release of rosbags that is older than Jazzy refuses bags of version 9.
    from rosbags.highlevel import AnyReader
    from pathlib import Path

    path = tmp_path / "bag"
    with timeloom.Writer(path) as writer:
        writer.add_topic("/imu", "sensor_msgs/msg/Imu")
        writer.write("/imu", {"linear_acceleration": {"z": 9.81}}, 5)
    with AnyReader([Path(path)]) as reader:
        ((connection, time, raw),) = reader.messages()
        assert (connection.topic, time) == ("/imu", 5)
        assert reader.deserialize(raw, connection.msgtype).linear_acceleration.z == 9.81


def test_messages_of_a_bag_are_written_as_they_are(bag, tmp_path):
    path = tmp_path / "copy"
    with timeloom.Writer(path) as writer:
        for topic in bag.topics:
            writer.add_topic(topic.name, topic.message_type)
        for message in bag.messages():
            writer.write(message.topic, message.value, message.log_time, message.publish_time)
    again = timeloom.open(path)
    assert again.message_count == bag.message_count
    for one, other in zip(bag.messages(), again.messages()):
        assert (one.topic, one.log_time) == (other.topic, other.log_time)
        assert repr(one.value) == repr(other.value), one.topic


def test_messages_of_rosbags_are_taken(tmp_path, jazzy_types):

    types = jazzy_types.types
    message = types["geometry_msgs/msg/Point"](x=1.0, y=2.0, z=3.0)
    kind = timeloom.MessageType("geometry_msgs/msg/Point")
    assert kind.decode(kind.encode(message)).z == 3.0


def test_wrong_values_name_their_field(tmp_path):
    kind = timeloom.MessageType("sensor_msgs/msg/Image")
    for message, error, text in [
        ({"height": -1}, (ValueError, OverflowError), "height"),
        ({"header": {"frame_id": 5}}, TypeError, "header.frame_id"),
        ({"heigth": 1}, ValueError, "no field `heigth`"),
        ({"data": np.array([300])}, ValueError, "data: values do not fit uint8"),
    ]:
        with pytest.raises(error, match=text):
            kind.encode(message)
    with pytest.raises(timeloom.CdrError, match="position_covariance|elements"):
        timeloom.MessageType("sensor_msgs/msg/NavSatFix").encode({"position_covariance": [1.0]})
    path = tmp_path / "bag"
    with timeloom.Writer(path) as writer:
        with pytest.raises(ValueError, match="not declared"):
            writer.write("/x", {}, 1)
        with pytest.raises(ValueError, match="unknown policies"):
            writer.add_topic("/x", "std_msgs/msg/String", qos={"speed": 1})
        with pytest.raises(timeloom.CdrError, match="no definition of a/msg/B"):
            writer.add_topic("/x", "a/msg/B")
    with pytest.raises(ValueError, match="closed"):
        writer.add_topic("/y", "std_msgs/msg/String")
    with pytest.raises(timeloom.ReaderError, match="never overwritten"):
        timeloom.Writer(path)


def test_wide_strings_are_texts(tmp_path):
    kind = timeloom.MessageType("demo/msg/Wide", "wstring w\nint8 a\n")
    message = kind.decode(kind.encode({"w": "wide ☃", "a": 3}))
    assert (message.w, message.a) == ("wide ☃", 3)


def test_nothing_is_overwritten(tmp_path):
    timeloom.Writer(tmp_path / "bag").close()
    with pytest.raises(FileExistsError, match="never overwritten"):
        timeloom.Writer(tmp_path / "bag")


def test_payloads_are_any_bytes(tmp_path):
    payload = timeloom.MessageType("geometry_msgs/msg/Point").encode({"x": 1.5})
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/p", "geometry_msgs/msg/Point")
        for number, form in enumerate((bytes, bytearray, memoryview)):
            writer.write("/p", form(payload), number)
    assert [message.value.x for message in timeloom.open(tmp_path / "bag")["/p"]] == [1.5] * 3
