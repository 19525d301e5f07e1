"""Large arrays of bytes: views of the file, or copied once."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import timeloom

SIZE = 300_000


def image(number):
    # Numbers that compress, so that a preset has something to do.
    return np.full(SIZE + number, number, dtype=np.uint8)


def write(path, **options):
    with timeloom.Writer(path, **options) as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        writer.add_topic("/small", "std_msgs/msg/String")
        for number in range(20):
            message = {"header": {"frame_id": f"camera{number}"}, "width": number, "data": image(number)}
            writer.write("/image", message, number * 10)
            writer.write("/small", {"data": "x"}, number * 10 + 1)
    return timeloom.open(path)


STORAGES = {
    "plain": {}, "chunks": {"preset": "zstd_fast"}, "messages": {"compression": "message"},
    "file": {"compression": "file"}, "sqlite3": {"storage": "sqlite3"}, "splits": {"max_file_size": 1_000_000},
}


@pytest.mark.parametrize("options", STORAGES.values(), ids=STORAGES)
def test_arrays_are_those_that_were_written(tmp_path, options):
    bag = write(tmp_path / "bag", **options)
    columns = bag["/image"].to_numpy()
    assert list(columns)[:3] == ["log_time", "publish_time", "header.stamp"]
    assert list(columns)[-1] == "data"
    assert list(columns["width"]) == list(range(20))
    assert columns["header.frame_id"][7] == "camera7"
    for number, data in enumerate(columns["data"]):
        assert np.array_equal(data, image(number))
    only = bag["/image"].to_numpy(["data"], start=50, end=100)
    assert [len(data) for data in only["data"]] == [SIZE + number for number in range(5, 10)]
    messages = [message.value.data for message in bag["/image"]]
    assert all(np.array_equal(*pair) for pair in zip(messages, columns["data"]))


def test_views_of_a_file_share_its_memory_and_cannot_be_changed(tmp_path):
    columns = write(tmp_path / "bag")["/image"].to_numpy(["data"])
    first, second = columns["data"][:2]
    assert first.base is not None
    assert not first.flags.writeable
    # One mapping of the file: the second image lies behind the first.
    distance = second.__array_interface__["data"][0] - first.__array_interface__["data"][0]
    assert SIZE < distance < 2 * SIZE
    # The views keep the mapping, also when the file is gone.
    for file in (tmp_path / "bag").iterdir():
        file.unlink()
    assert second.sum() == SIZE + 1


def test_damage_is_reported_for_large_messages(tmp_path):
    bag = write(tmp_path / "bag")
    (file,) = (tmp_path / "bag").glob("*.mcap")
    data = bytearray(file.read_bytes())
    # In the middle of an image: only its checksum shows it.
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(timeloom.DataLost, match="crc"):
        bag["/image"].to_numpy(["data"])
    left = bag["/image"].to_numpy(["data"], strict=False)["data"]
    assert 0 < len(left) < 20


def test_messages_that_cannot_be_decoded_are_left_out(tmp_path):
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        payload = timeloom.MessageType("sensor_msgs/msg/Image").encode({"data": image(3)})
        writer.write("/image", payload, 0)
        writer.write("/image", payload[:-1000], 1)
        writer.write("/image", payload, 2)
    topic = timeloom.open(tmp_path / "bag")["/image"]
    with pytest.raises(timeloom.DataLost, match="1 message of /image could not be decoded"):
        topic.to_numpy()
    columns = topic.to_numpy(strict=False)
    assert [len(column) for column in columns.values()] == [2] * len(columns)
    assert list(columns["log_time"].astype("i8")) == [0, 2]


def test_a_large_bag_is_read_in_slices_and_comes_back_in_order(tmp_path):
    # Larger than what one thread reads alone. Many messages have the same time, where slices begin as well.
    count, size = 50, 800_000
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        writer.add_topic("/number", "std_msgs/msg/Int64")
        for number in range(count):
            writer.write("/image", {"data": np.full(size, number, dtype=np.uint8)}, number // 3 * 1000)
            for part in range(20):
                writer.write("/number", {"data": number * 20 + part}, number // 3 * 1000)
    bag = timeloom.open(tmp_path / "bag")
    assert bag.size > 32 << 20
    columns = bag["/image"].to_numpy(["data", "width"])
    assert [int(data[0]) for data in columns["data"]] == list(range(count))
    assert all(len(data) == size for data in columns["data"])
    assert list(columns["log_time"].astype("i8")) == [number // 3 * 1000 for number in range(count)]
    assert list(bag["/number"].to_numpy()["data"]) == list(range(20 * count))
    part = bag["/number"].to_numpy(start=3000, end=9000)
    assert list(part["data"]) == list(range(20 * 9, 20 * 27))
    # Damage that two slices meet is reported once.
    (file,) = (tmp_path / "bag").glob("*.mcap")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(timeloom.DataLost) as error:
        bag["/image"].to_numpy(["data"])
    assert str(error.value).count("crc") == 1
    left = bag["/image"].to_numpy(["data"], strict=False)["data"]
    assert count - 4 < len(left) < count


@pytest.mark.parametrize("options", STORAGES.values(), ids=STORAGES)
def test_messages_one_by_one_are_those_that_were_written(tmp_path, options):
    fields = ("std_msgs/Header header", "uint8 a", "float64[3] three", "uint8[] data", "int16 b", "float32[] ranges",
              "string s", "bool[] flags", "float64 last")
    definition = "\n".join(fields)
    count, size = 4, 100_000
    with timeloom.Writer(tmp_path / "bag", **options) as writer:
        writer.add_topic("/t", "demo/msg/Large", definition=definition)
        for number in range(count):
            writer.write("/t", {
                "header": {"frame_id": "f" * number, "stamp": {"sec": number}}, "a": 7, "three": [1, 2, 3],
                "data": np.full(size + number, number, dtype=np.uint8), "b": -3,
                "ranges": np.arange(size, dtype=np.float32) + number, "s": "text", "flags": np.arange(size) % 2 == 0,
                "last": 2.5,
            }, number)
    values = [message.value for message in timeloom.open(tmp_path / "bag")["/t"]]
    assert len(values) == count
    for number, value in enumerate(values):
        assert (value.header.frame_id, value.header.stamp.sec) == ("f" * number, number)
        assert (value.a, value.b, value.s, value.last) == (7, -3, "text", 2.5)
        assert value.three.tolist() == [1, 2, 3]
        assert value.three.flags.aligned
        assert np.array_equal(value.data, np.full(size + number, number, dtype=np.uint8))
        assert np.array_equal(value.ranges, np.arange(size, dtype=np.float32) + number)
        assert (value.ranges.dtype, value.flags.dtype, value.data.dtype) == (np.float32, bool, np.uint8)
        assert value.flags[:4].tolist() == [True, False, True, False]
        assert value.data is value.data
        for array in (value.data, value.ranges, value.flags):
            assert array.flags.aligned
            assert not array.flags.writeable
        assert value == pickle.loads(pickle.dumps(value))
        value.data = b"x"
        assert value.data == b"x"


def test_large_messages_of_a_file_share_its_memory(tmp_path):
    path = tmp_path / "bag"
    messages = [message.value for message in write(path)["/image"]]
    distance = messages[1].data.__array_interface__["data"][0] - messages[0].data.__array_interface__["data"][0]
    assert SIZE < distance < 2 * SIZE
    (file,) = path.glob("*.mcap")
    file.unlink()
    assert messages[2].data.sum() == 2 * (SIZE + 2)
    assert messages[2].header.frame_id == "camera2"


def test_a_file_that_was_replaced_is_not_mixed_with_the_one_that_was_opened(tmp_path):
    bag = write(tmp_path / "bag")
    stream = bag.messages(start=1)
    # The file is open now, and not mapped: this message is small.
    assert next(stream).topic == "/small"
    (file,) = (tmp_path / "bag").glob("*.mcap")
    other = tmp_path / "other"
    other.write_bytes(bytes(file.stat().st_size))
    other.rename(file)
    images = [message.value.data for message in stream if message.topic == "/image"]
    assert len(images) == 19
    for number, data in enumerate(images, 1):
        assert np.array_equal(data, image(number))


def test_a_bag_of_more_files_than_a_process_may_open_is_read(tmp_path):
    import resource

    count, size = 150, 70_000
    with timeloom.Writer(tmp_path / "bag", max_file_size=size // 2) as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        for number in range(count):
            writer.write("/image", {"data": np.full(size, number, dtype=np.uint8)}, number)
    assert len(list((tmp_path / "bag").glob("*.mcap"))) == count
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Enough for the files that are mapped at a time, twice, and some more.
    opened = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 2 * 64 + 16, before[1]))
    try:
        topic = timeloom.open(tmp_path / "bag")["/image"]
        kept = [message.value.data for message in topic]
        columns = topic.to_numpy(["data"])["data"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    for number in range(count):
        expected = np.full(size, number, dtype=np.uint8)
        assert np.array_equal(kept[number], expected)
        assert np.array_equal(columns[number], expected)


def test_a_large_message_that_is_cut_off_is_an_error_of_its_fields(tmp_path):
    with timeloom.Writer(tmp_path / "bag") as writer:
        writer.add_topic("/image", "sensor_msgs/msg/Image")
        payload = timeloom.MessageType("sensor_msgs/msg/Image").encode({"width": 5, "data": image(3)})
        writer.write("/image", payload[:-1000], 1)
    (message,) = timeloom.open(tmp_path / "bag")["/image"]
    assert message.value.width == 5
    with pytest.raises(timeloom.CdrError, match="too short"):
        message.value.data  # noqa: B018
